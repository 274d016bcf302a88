-- schema.sql - the tables of a ptxloom trace, schema version 4. ptxloom-trace(5) shows and explains them.
--
-- Read in this order: run and machine describe the run and its machine; module, source_line and instruction are the program;
-- kernel is one launch of it; everything else belongs to a launch. Statistics (pc_stat, stall, counter) are always present.
-- inst and the tables derived from it (warp, block, barrier, counter_time, unit_time) need --trace-level inst, mem needs --trace-level mem.
-- After any change: increment PL_TRACEDB_SCHEMA in trace.h, add a step to migrate.sql, and update ptxloom-trace(5).

CREATE TABLE run (
    id          INTEGER PRIMARY KEY,
    schema      INTEGER NOT NULL, -- version of these tables, also PRAGMA user_version
    version     TEXT NOT NULL,    -- of ptxloom
    started     TEXT NOT NULL,    -- UTC, ISO 8601
    command     TEXT,
    level       TEXT NOT NULL CHECK (level IN ('summary', 'inst', 'mem')),
    filter      TEXT              -- which inst and mem rows were asked for; NULL: all
);

CREATE TABLE machine (
    id          INTEGER PRIMARY KEY,
    name        TEXT NOT NULL,
    sms         INTEGER, -- multiprocessors
    subcores    INTEGER, -- warp schedulers of one multiprocessor
    max_warps   INTEGER, -- warp slots of one multiprocessor
    clock_mhz   REAL
);

CREATE TABLE machine_value (
    machine     INTEGER NOT NULL REFERENCES machine (id),
    section     TEXT NOT NULL,
    key         TEXT NOT NULL,
    value       NUMERIC,
    unit        TEXT,
    provenance  TEXT, -- documented, measured, inferred, fitted, guessed, chosen
    source      TEXT, -- document or measurement the value comes from
    PRIMARY KEY (machine, section, key)
) WITHOUT ROWID;

CREATE TABLE module (
    id          INTEGER PRIMARY KEY,
    name        TEXT NOT NULL,
    digest      TEXT NOT NULL UNIQUE, -- SHA-256 of name, text and optimisation level: names a module by content
    target      TEXT,
    opt_level   INTEGER NOT NULL,
    source      INTEGER NOT NULL REFERENCES source (id)
);

CREATE TABLE source (
    id          INTEGER PRIMARY KEY,
    name        TEXT NOT NULL,
    language    TEXT NOT NULL CHECK (language IN ('ptx', 'cuda'))
);

CREATE TABLE source_line (
    source      INTEGER NOT NULL REFERENCES source (id),
    line        INTEGER NOT NULL,
    text        TEXT, -- NULL: the file could not be read
    PRIMARY KEY (source, line)
) WITHOUT ROWID;

CREATE TABLE isa_form ( -- one row per form and latency class in use: the modifiers of an instruction decide its class
    id          INTEGER PRIMARY KEY,
    row         INTEGER NOT NULL, -- of the instruction table
    mnemonic    TEXT NOT NULL,
    syntax      TEXT NOT NULL, -- line of the PTX manual
    class       TEXT NOT NULL, -- latency class
    effects     TEXT NOT NULL  -- words: load store atomic barrier branch exit call async fence volatile converge
);

CREATE TABLE instruction (
    module      INTEGER NOT NULL REFERENCES module (id),
    pc          INTEGER NOT NULL, -- number of the machine instruction in the module, from 0
    function    TEXT NOT NULL,
    text        TEXT NOT NULL,    -- disassembly
    form        INTEGER NOT NULL REFERENCES isa_form (id),
    ptx_source  INTEGER REFERENCES source (id),
    ptx_line    INTEGER,
    src_source  INTEGER REFERENCES source (id), -- CUDA file and line, through .loc
    src_line    INTEGER,
    cuda        TEXT,    -- that position in words: k.cu:12, or k.cu:12 (inlined at k.cu:30)
    access      TEXT,    -- load, store, atomic, reduction, prefetch, async; NULL: does not touch memory
    space       TEXT,    -- as written: global, shared, local, const, param, generic
    bytes       INTEGER, -- a lane moves; NULL: not fixed by the instruction
    PRIMARY KEY (module, pc),
    FOREIGN KEY (ptx_source, ptx_line) REFERENCES source_line (source, line),
    FOREIGN KEY (src_source, src_line) REFERENCES source_line (source, line)
) WITHOUT ROWID;

CREATE TABLE kernel ( -- one launch
    id          INTEGER PRIMARY KEY,
    run         INTEGER NOT NULL REFERENCES run (id),
    machine     INTEGER NOT NULL REFERENCES machine (id),
    module      INTEGER NOT NULL REFERENCES module (id),
    name        TEXT NOT NULL, -- of the launch file, else the entry
    entry       TEXT NOT NULL,
    mode        TEXT NOT NULL CHECK (mode IN ('timing', 'functional')),
    grid_x      INTEGER NOT NULL, grid_y    INTEGER NOT NULL, grid_z    INTEGER NOT NULL,
    block_x     INTEGER NOT NULL, block_y   INTEGER NOT NULL, block_z   INTEGER NOT NULL,
    cluster_x   INTEGER NOT NULL, cluster_y INTEGER NOT NULL, cluster_z INTEGER NOT NULL, -- 0: no clusters
    blocks      INTEGER NOT NULL,
    warps       INTEGER NOT NULL, -- of the whole grid (of a launch of several: of the first)
    threads     INTEGER NOT NULL,
    registers   INTEGER NOT NULL, -- a thread
    static_shared INTEGER NOT NULL, dynamic_shared INTEGER NOT NULL, -- bytes a block
    local_bytes INTEGER NOT NULL, -- a thread
    status      TEXT,             -- ok; fault, interrupted, ...: did not complete, has no metrics, and counts go until it stopped
    error       TEXT, error_text TEXT,
    cycles      INTEGER,          -- launch to last effect; NULL in functional mode, and when the launch did not complete
    duration_us REAL,             -- cycles at the machine's clock
    inst_executed INTEGER,        -- warp instructions = sum(issues) of pc_stat = sum(weight) of inst; until it stopped
    thread_inst_executed INTEGER, -- the same counted by active lanes, also those whose guard is false
    theoretical_occupancy REAL,   -- 0..1
    wall_seconds REAL,            -- of the emulation
    first_inst  INTEGER,          -- inst.id of the launch's issue 0; NULL: no inst rows
    filtered    INTEGER NOT NULL DEFAULT 0, -- events left out because run.filter does not ask for them
    dropped     INTEGER NOT NULL DEFAULT 0  -- events left out because the file reached its size limit
);
CREATE INDEX kernel_entry ON kernel (entry);

CREATE TABLE pc_stat ( -- one row per machine instruction that ran
    kernel      INTEGER NOT NULL REFERENCES kernel (id),
    pc          INTEGER NOT NULL,
    module      INTEGER NOT NULL,
    issues      INTEGER NOT NULL, -- as hardware would issue: a priced sequence counts its length
    executed    INTEGER NOT NULL, -- times a warp executed this row
    lanes       INTEGER NOT NULL, -- active lanes (timing mode: without those whose guard is false), summed over issues
    stall_cycles INTEGER NOT NULL, -- of all reasons but "selected" (table stall has them apart)
    requests    INTEGER, -- memory instructions from here on; NULL: accesses were not counted (functional mode)
    sectors     INTEGER, -- of 32 bytes
    wavefronts  INTEGER, -- passes through L1 or shared memory; NULL in functional mode, as are the next four
    conflicts   INTEGER, -- passes beyond the unavoidable ones
    l1_hits     INTEGER, -- sectors of loads that L1 had, or had asked for
    from_l2     INTEGER, -- sectors that came from L2 ...
    from_dram   INTEGER, -- ... from DRAM, one that waits for another's fill included (to L2 that is a hit)
    branches    INTEGER NOT NULL, divergent INTEGER NOT NULL,
    latency     INTEGER NOT NULL, -- sum
    PRIMARY KEY (kernel, pc),
    FOREIGN KEY (module, pc) REFERENCES instruction (module, pc)
) WITHOUT ROWID;

CREATE TABLE stall_reason (
    id          INTEGER PRIMARY KEY,
    name        TEXT NOT NULL UNIQUE, -- Nsight Compute's word
    meaning     TEXT NOT NULL
);

CREATE TABLE stall ( -- cycles that warps waited before an instruction, by reason; only where not 0
    kernel      INTEGER NOT NULL,
    pc          INTEGER NOT NULL,
    reason      INTEGER NOT NULL REFERENCES stall_reason (id),
    cycles      INTEGER NOT NULL,
    PRIMARY KEY (kernel, pc, reason),
    FOREIGN KEY (kernel, pc) REFERENCES pc_stat (kernel, pc)
) WITHOUT ROWID;

CREATE TABLE stall_sum ( -- stall over the whole launch
    kernel      INTEGER NOT NULL REFERENCES kernel (id),
    reason      TEXT NOT NULL REFERENCES stall_reason (name),
    cycles      INTEGER NOT NULL,
    PRIMARY KEY (kernel, reason)
) WITHOUT ROWID;

CREATE TABLE access ( -- pc_stat over the memory instructions of a launch, by state space and kind
    kernel      INTEGER NOT NULL REFERENCES kernel (id),
    space       TEXT NOT NULL, -- generic addresses count as global
    kind        TEXT NOT NULL,
    executed    INTEGER NOT NULL, requests INTEGER, sectors INTEGER, wavefronts INTEGER, conflicts INTEGER, l1_hits INTEGER, from_l2 INTEGER,
    from_dram   INTEGER, -- NULL as in pc_stat
    bytes       INTEGER, -- asked for by lanes; NULL: some instruction does not fix its size
    PRIMARY KEY (kernel, space, kind)
) WITHOUT ROWID;

CREATE TABLE counter ( -- sums over the launch, by component
    kernel      INTEGER NOT NULL REFERENCES kernel (id),
    name        TEXT NOT NULL, -- Nsight Compute's metric name where one exists
    component   TEXT NOT NULL,
    unit        TEXT,
    value       REAL,
    PRIMARY KEY (kernel, name, component)
) WITHOUT ROWID;

CREATE TABLE counter_time ( -- counters over time: sums over windows of equal length, at most 256 a launch
    kernel      INTEGER NOT NULL REFERENCES kernel (id),
    component   TEXT NOT NULL,
    name        TEXT NOT NULL,
    cycle       INTEGER NOT NULL, -- first of the window
    cycles      INTEGER NOT NULL, -- length of the window
    value       INTEGER NOT NULL,
    PRIMARY KEY (kernel, component, name, cycle)
) WITHOUT ROWID;

CREATE TABLE unit_time ( -- single units of the memory system over time: at most 64 windows a launch; only where not 0
    kernel      INTEGER NOT NULL REFERENCES kernel (id),
    component   TEXT NOT NULL,    -- l2 slice, dram channel
    unit        INTEGER NOT NULL, -- its number
    name        TEXT NOT NULL,    -- hit_sectors, miss_sectors; read_sectors, write_sectors
    cycle       INTEGER NOT NULL, -- first of the window
    cycles      INTEGER NOT NULL, -- length of the window
    value       INTEGER NOT NULL,
    PRIMARY KEY (kernel, component, name, unit, cycle)
) WITHOUT ROWID;

-- inst and mem: rows.sql, or packed.sql for packed traces.

CREATE TABLE lane        (lane INTEGER PRIMARY KEY); -- the numbers of a warp's lanes
CREATE TABLE space       (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE access_kind (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE mem_level   (id INTEGER PRIMARY KEY, name TEXT NOT NULL);

CREATE TABLE block ( -- a thread block that ran
    kernel      INTEGER NOT NULL REFERENCES kernel (id),
    block       INTEGER NOT NULL,
    x           INTEGER NOT NULL, y INTEGER NOT NULL, z INTEGER NOT NULL, -- %ctaid
    sm          INTEGER NOT NULL,
    first_cycle INTEGER NOT NULL, -- first issue of any of its warps
    last_cycle  INTEGER NOT NULL, -- last issue
    warps       INTEGER NOT NULL,
    inst_executed INTEGER NOT NULL, -- warp instructions; their sum is that of the launch
    PRIMARY KEY (kernel, block)
) WITHOUT ROWID;

CREATE TABLE warp ( -- a warp that ran
    kernel      INTEGER NOT NULL,
    block       INTEGER NOT NULL,
    warp        INTEGER NOT NULL,
    subcore     INTEGER NOT NULL,
    first_cycle INTEGER NOT NULL,
    last_cycle  INTEGER NOT NULL,
    first_inst  INTEGER NOT NULL, last_inst INTEGER NOT NULL, -- its rows in inst lie between these
    inst_executed INTEGER NOT NULL, -- warp instructions; their sum is that of the launch
    executed    INTEGER NOT NULL, -- rows of inst
    lanes       INTEGER NOT NULL, -- lanes that executed, summed over those rows
    stall_cycles INTEGER NOT NULL,
    PRIMARY KEY (kernel, block, warp),
    FOREIGN KEY (kernel, block) REFERENCES block (kernel, block)
) WITHOUT ROWID;

CREATE TABLE barrier ( -- one arrival of one warp at a barrier instruction
    id          INTEGER PRIMARY KEY,
    kernel      INTEGER NOT NULL,
    block       INTEGER NOT NULL,
    warp        INTEGER NOT NULL,
    pc          INTEGER NOT NULL,
    arrived     INTEGER NOT NULL, -- cycle in which the barrier instruction issued
    resumed     INTEGER,          -- cycle of the warp's next instruction; NULL: it never ran on
    FOREIGN KEY (kernel, block, warp) REFERENCES warp (kernel, block, warp),
    FOREIGN KEY (kernel, pc) REFERENCES pc_stat (kernel, pc)
);

CREATE TABLE event ( -- what happened once: faults, printed lines, the size limit
    id          INTEGER PRIMARY KEY,
    kernel      INTEGER NOT NULL REFERENCES kernel (id),
    kind        TEXT NOT NULL, -- fault, print, dropped
    text        TEXT
);

CREATE TABLE fault ( -- where a launch failed
    id          INTEGER PRIMARY KEY,
    kernel      INTEGER NOT NULL REFERENCES kernel (id),
    error       TEXT NOT NULL,    -- CUDA's error name
    text        TEXT NOT NULL,
    block_x     INTEGER NOT NULL, block_y  INTEGER NOT NULL, block_z  INTEGER NOT NULL, -- %ctaid
    thread_x    INTEGER NOT NULL, thread_y INTEGER NOT NULL, thread_z INTEGER NOT NULL, -- %tid
    pc          INTEGER,          -- machine instruction; NULL: none
    ptx_line    INTEGER,
    src_file    TEXT, src_line INTEGER, -- CUDA file and line, through .loc
    cuda        TEXT,             -- that position in words, with the calls that were inlined
    address     INTEGER           -- that it asked for; NULL: the fault is about none
);

-- Activities of a CUDA program other than its launches (ptxloom exec). Times are microseconds on the application's clock, which
-- starts at the program's first call.

CREATE TABLE api_call ( -- a call of the CUDA API
    id          INTEGER PRIMARY KEY,
    name        TEXT NOT NULL,
    thread      INTEGER NOT NULL, -- of the host, from 1 in the order of their first calls
    start_us    REAL NOT NULL,
    end_us      REAL NOT NULL,
    result      INTEGER NOT NULL, -- cudaError_t or CUresult; 0: success
    error       TEXT              -- its name; NULL: success
);

CREATE TABLE activity ( -- what a stream did: kernels, copies, sets, host functions, events
    id          INTEGER PRIMARY KEY,
    kind        TEXT NOT NULL CHECK (kind IN ('kernel', 'copy', 'set', 'host function', 'event')),
    name        TEXT NOT NULL,    -- of the kernel; of a copy from where to where: HtoD, DtoH, DtoD, HtoH
    device      INTEGER NOT NULL,
    stream      INTEGER NOT NULL, -- 0: the legacy default stream
    start_us    REAL NOT NULL,
    end_us      REAL NOT NULL,
    call        INTEGER REFERENCES api_call (id), -- that put it into the stream
    kernel      INTEGER REFERENCES kernel (id),   -- the launch; NULL: it is none
    graph       INTEGER,          -- launch of a graph that it is part of, from 1; NULL: none
    bytes       INTEGER,          -- copied or set
    source      TEXT,             -- memory that a copy reads: pageable, pinned, managed, device, array
    destination TEXT,             -- memory that a copy or set writes
    estimated   INTEGER NOT NULL, -- 1: a kernel that ran without the timing model; its duration is the mean of timed launches like it, or a guess
    spread_us   REAL              -- standard deviation of those; NULL: there are fewer than two
);

CREATE TABLE allocation ( -- memory that the program allocated
    id          INTEGER PRIMARY KEY,
    address     INTEGER NOT NULL,
    bytes       INTEGER NOT NULL,
    memory      TEXT NOT NULL,    -- device, pinned, registered, managed
    device      INTEGER NOT NULL,
    start_us    REAL NOT NULL,
    end_us      REAL              -- when it was freed; NULL: never
);

CREATE TABLE nvtx_range ( -- ranges and marks that the program announced through NVTX
    id          INTEGER PRIMARY KEY,
    name        TEXT NOT NULL,
    thread      INTEGER NOT NULL,
    depth       INTEGER NOT NULL, -- of nesting, from 0
    start_us    REAL NOT NULL,
    end_us      REAL NOT NULL     -- of a mark: start_us
);

CREATE TABLE finding ( -- what the checkers found (--check), each pair of places once
    id          INTEGER PRIMARY KEY,
    kernel      INTEGER NOT NULL REFERENCES kernel (id), -- 0: a program's own mistake, outside of kernels
    tool        TEXT NOT NULL,    -- mem, race, init, sync, deadlock
    kind        TEXT NOT NULL,    -- `ptxloom explain TOOL-KIND` says what it means
    severity    TEXT NOT NULL,    -- error, warning
    space       TEXT,             -- global, shared, local, register; NULL: no memory is meant
    pc          INTEGER NOT NULL,
    other_pc    INTEGER,          -- of the other access; NULL: there is none, as for all columns with other_
    file        TEXT,             -- CUDA source where the PTX has .loc, else PTX
    line        INTEGER,
    other_file  TEXT,
    other_line  INTEGER,
    block_x     INTEGER NOT NULL, block_y INTEGER NOT NULL, block_z INTEGER NOT NULL, -- %ctaid
    thread_x    INTEGER NOT NULL, thread_y INTEGER NOT NULL, thread_z INTEGER NOT NULL, -- %tid
    other_block_x  INTEGER, other_block_y INTEGER, other_block_z INTEGER,
    other_thread_x INTEGER, other_thread_y INTEGER, other_thread_z INTEGER,
    address     INTEGER,
    bytes       INTEGER,
    count       INTEGER NOT NULL, -- how often it was seen
    seed        INTEGER,          -- of the schedule that showed it first; NULL: the plain one
    text        TEXT NOT NULL,
    help        TEXT
);

CREATE TABLE metric_info ( -- the metrics that have a view of their own
    name        TEXT PRIMARY KEY,
    family      TEXT NOT NULL CHECK (family IN ('nvprof', 'ncu')),
    unit        TEXT NOT NULL,
    meaning     TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE rule ( -- what the query advice is made of: each rule looks for one thing that costs time
    name        TEXT PRIMARY KEY,
    title       TEXT NOT NULL,
    of          TEXT NOT NULL, -- what its share is a share of
    "check"     TEXT NOT NULL, -- what to try, and how to see that it helped
    sql         TEXT NOT NULL  -- over the common part that the query advice begins with
) WITHOUT ROWID;

CREATE TABLE query ( -- for `ptxloom query FILE NAME`, or by hand: SELECT sql FROM query WHERE name = '...'
    name        TEXT PRIMARY KEY,
    title       TEXT NOT NULL,
    sql         TEXT NOT NULL
) WITHOUT ROWID;

-- Views for frequent joins.

CREATE VIEW listing AS -- the program of each launch with what every instruction cost
SELECT k.id AS kernel, k.entry, i.pc, i.function, i.text, i.ptx_line, p.text AS ptx, f.name AS src_file, i.src_line,
       c.text AS src, i.cuda, s.issues, s.executed, s.lanes, s.stall_cycles, s.requests, s.sectors, s.wavefronts, s.conflicts
FROM kernel k
JOIN instruction i ON i.module = k.module
LEFT JOIN pc_stat s ON s.kernel = k.id AND s.pc = i.pc
LEFT JOIN source_line p ON p.source = i.ptx_source AND p.line = i.ptx_line
LEFT JOIN source f ON f.id = i.src_source
LEFT JOIN source_line c ON c.source = i.src_source AND c.line = i.src_line;

CREATE VIEW async AS -- asynchronous copies: from the instruction to the arrival of the data (--trace-level mem)
SELECT m.kernel, m.inst, m.block, m.warp, m.pc, m.cycle AS issued, m.cycle + m.latency AS completed, s.name AS space,
       m.address, m.size, m.sectors
FROM mem m JOIN access_kind a ON a.id = m.kind JOIN space s ON s.id = m.space
WHERE a.name = 'async';

CREATE VIEW mem_lane AS -- one row per active lane of each memory access
SELECT m.id AS mem, m.inst, m.kernel, m.pc, m.block, m.warp, s.name AS space, a.name AS kind, n.lane,
       m.address + m.stride * (n.lane - m.first_lane) AS address
FROM mem m CROSS JOIN space s ON s.id = m.space CROSS JOIN access_kind a ON a.id = m.kind CROSS JOIN lane n ON m.mask >> n.lane & 1
WHERE m.stride IS NOT NULL
UNION ALL
SELECT m.id, m.inst, m.kernel, m.pc, m.block, m.warp, s.name, a.name, o.key, m.address + o.value
FROM mem m CROSS JOIN space s ON s.id = m.space CROSS JOIN access_kind a ON a.id = m.kind CROSS JOIN json_each(m.offsets) o
WHERE m.stride IS NULL AND o.value IS NOT NULL;

CREATE VIEW timeline AS -- beginnings and ends in the order of time
SELECT kernel, first_cycle AS cycle, 'block starts' AS what, sm, block, NULL AS warp, NULL AS pc FROM block
UNION ALL SELECT kernel, last_cycle, 'block ends', sm, block, NULL, NULL FROM block
UNION ALL SELECT kernel, arrived, 'warp at barrier', NULL, block, warp, pc FROM barrier
UNION ALL SELECT kernel, resumed, 'warp leaves barrier', NULL, block, warp, pc FROM barrier WHERE resumed IS NOT NULL;
