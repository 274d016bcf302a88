-- migrate.sql - tables and views that an older trace lacks, created when it is opened; the file
-- itself is only read.
--
-- A step begins with "-- from N" and upgrades schema N to N + 1. Its tables and views are
-- temporary: they belong to the reading connection and take precedence over those of the file.
-- Metrics, rules and named queries are replaced after the last step, so that an old trace supports
-- the current queries.

-- from 1
CREATE TEMP TABLE unit_time (
    kernel INTEGER NOT NULL, component TEXT NOT NULL, unit INTEGER NOT NULL, name TEXT NOT NULL, cycle INTEGER NOT NULL,
    cycles INTEGER NOT NULL, value INTEGER NOT NULL, PRIMARY KEY (kernel, component, name, unit, cycle)
) WITHOUT ROWID;

-- from 2
CREATE TEMP VIEW instruction AS SELECT module, pc, function, text, form, ptx_source, ptx_line, src_source, src_line,
    (SELECT replace(f.name, rtrim(f.name, replace(f.name, '/', '')), '') || ':' || src_line FROM main.source f WHERE f.id = src_source) AS cuda,
    access, space, bytes FROM main.instruction;
CREATE TEMP VIEW inst AS SELECT id, kernel, cycle, sm, subcore, block, warp, pc, mask, lanes, NULL AS weight, stall, stall_cycles, latency FROM main.inst;
CREATE TEMP VIEW pc_stat AS SELECT kernel, pc, module, issues, executed, lanes, stall_cycles, requests, sectors, wavefronts, conflicts, l1_hits,
    l2_hits AS from_l2, dram AS from_dram, branches, divergent, latency FROM main.pc_stat;
CREATE TEMP VIEW access AS SELECT kernel, space, kind, executed, requests, sectors, wavefronts, conflicts, l1_hits, l2_hits AS from_l2,
    dram AS from_dram, bytes FROM main.access;
CREATE TEMP VIEW block AS SELECT kernel, block, x, y, z, sm, first_cycle, last_cycle, warps, executed AS inst_executed FROM main.block;
CREATE TEMP VIEW warp AS SELECT kernel, block, warp, subcore, first_cycle, last_cycle, first_inst, last_inst, executed AS inst_executed, executed, lanes,
    stall_cycles FROM main.warp;
CREATE TEMP TABLE fault (
    id INTEGER PRIMARY KEY, kernel INTEGER NOT NULL, error TEXT NOT NULL, text TEXT NOT NULL, block_x INTEGER NOT NULL, block_y INTEGER NOT NULL,
    block_z INTEGER NOT NULL, thread_x INTEGER NOT NULL, thread_y INTEGER NOT NULL, thread_z INTEGER NOT NULL, pc INTEGER, ptx_line INTEGER,
    src_file TEXT, src_line INTEGER, cuda TEXT, address INTEGER);

-- from 3
CREATE TEMP TABLE api_call (id INTEGER PRIMARY KEY, name TEXT, thread INTEGER, start_us REAL, end_us REAL, result INTEGER, error TEXT);
CREATE TEMP TABLE activity (
    id INTEGER PRIMARY KEY, kind TEXT, name TEXT, device INTEGER, stream INTEGER, start_us REAL, end_us REAL, call INTEGER, kernel INTEGER,
    graph INTEGER, bytes INTEGER, source TEXT, destination TEXT, estimated INTEGER, spread_us REAL);
CREATE TEMP TABLE allocation (id INTEGER PRIMARY KEY, address INTEGER, bytes INTEGER, memory TEXT, device INTEGER, start_us REAL, end_us REAL);
CREATE TEMP TABLE nvtx_range (id INTEGER PRIMARY KEY, name TEXT, thread INTEGER, depth INTEGER, start_us REAL, end_us REAL);
CREATE TEMP TABLE finding (
    id INTEGER PRIMARY KEY, kernel INTEGER, tool TEXT, kind TEXT, severity TEXT, space TEXT, pc INTEGER, other_pc INTEGER, file TEXT, line INTEGER,
    other_file TEXT, other_line INTEGER, block_x INTEGER, block_y INTEGER, block_z INTEGER, thread_x INTEGER, thread_y INTEGER, thread_z INTEGER,
    other_block_x INTEGER, other_block_y INTEGER, other_block_z INTEGER, other_thread_x INTEGER, other_thread_y INTEGER, other_thread_z INTEGER,
    address INTEGER, bytes INTEGER, count INTEGER, seed INTEGER, text TEXT, help TEXT);

-- from 4
-- Columns of pc_stat and access that functional mode does not count are 0 there, and NULL since.
