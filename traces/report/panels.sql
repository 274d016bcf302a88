-- panels.sql - the queries whose results a report shows, one for each part of a panel.
--
-- A section begins with "-- name | title"; the lines below it, up to the next section, are one SELECT about launch :kernel. The report
-- contains the rows and this text, so that a reader can run the same query on the trace. embed.awk turns the file into C strings.

-- facts | The launch, its configuration and its machine
SELECT k.id, k.name, k.entry, k.mode, k.status, k.error, k.error_text, k.grid_x, k.grid_y, k.grid_z, k.block_x, k.block_y, k.block_z,
       k.cluster_x, k.cluster_y, k.cluster_z, k.blocks, k.warps, k.threads, k.registers, k.static_shared, k.dynamic_shared, k.local_bytes,
       k.cycles, k.duration_us, k.inst_executed, k.thread_inst_executed, 1.0 * k.inst_executed / nullif(k.cycles, 0) AS ipc,
       max(coalesce(k.cycles, 0), coalesce((SELECT max(last_cycle) + 1 FROM warp WHERE kernel = k.id), 0)) AS span, -- a launch that failed has no cycles
       (SELECT count(*) FROM block WHERE kernel = k.id) AS blocks_ran,
       k.theoretical_occupancy, k.wall_seconds, k.filtered, k.dropped, k.first_inst IS NOT NULL AS has_inst,
       m.name AS machine, m.sms, m.subcores, m.max_warps, (SELECT count(*) FROM lane) AS lanes, m.clock_mhz, o.name AS module, o.target, o.opt_level,
       r.version, r.started, r.command, r.level, r.filter,
       (SELECT max(value) FROM machine_value v WHERE v.machine = m.id AND section = 'machine' AND key = 'title') AS title
FROM kernel k JOIN machine m ON m.id = k.machine JOIN module o ON o.id = k.module JOIN run r ON r.id = k.run WHERE k.id = :kernel

-- metrics | All metrics of the launch that have a value
SELECT m.name, m.value, i.family, i.unit, i.meaning
FROM metric m JOIN metric_info i ON i.name = m.name WHERE m.kernel = :kernel AND m.value IS NOT NULL ORDER BY i.family DESC, m.name

-- speed_of_light | Utilization of each unit, in percent of its peak over the elapsed cycles
WITH k AS (SELECT k.id, k.machine, k.cycles, m.sms, m.subcores FROM kernel k JOIN machine m ON m.id = k.machine WHERE k.id = :kernel),
v AS (SELECT section, key, value FROM machine_value WHERE machine = (SELECT machine FROM k)),
c AS (SELECT name, sum(value) AS value FROM counter WHERE kernel = :kernel GROUP BY name),
pipe(place, unit, counter, op, per_sm, about) AS (VALUES
    (2, 'single-precision pipe', 'smsp__inst_executed_pipe_fma.sum', 'op.fma', 0, 'f32 add, multiply, fused multiply-add'),
    (3, 'integer and logic pipe', 'smsp__inst_executed_pipe_alu.sum', 'op.alu', 0, 'integer add, logic, compare, select'),
    (4, 'heavy multiply pipe', 'smsp__inst_executed_pipe_fmaheavy.sum', 'op.imad', 0, 'integer multiply-add, and f32 instructions when the light half of the pipe is busy'),
    (5, 'double-precision pipe', 'smsp__inst_executed_pipe_fp64.sum', 'op.fp64', 0, 'f64 arithmetic'),
    (6, 'special functions', 'smsp__inst_executed_pipe_xu.sum', 'op.xu', 0, 'sine, square root, reciprocal, conversions'),
    (8, 'load and store pipe', 'smsp__inst_executed_pipe_lsu.sum', 'op.mem', 1, 'address computation of loads, stores, atomics')),
tensor AS (SELECT sum(s.executed * CAST(substr(v.value, instr(v.value, 'tensor:') + 7) AS INTEGER)) AS used
    FROM pc_stat s JOIN instruction i ON i.module = s.module AND i.pc = s.pc JOIN isa_form f ON f.id = i.form
    JOIN v ON v.section = 'price' AND v.key = f.class WHERE s.kernel = :kernel AND instr(v.value, 'tensor:') > 0),
l AS (SELECT sum(sectors) FILTER (WHERE space IN ('global', 'local')) AS sectors, sum(wavefronts) FILTER (WHERE space = 'shared') AS passes
    FROM access WHERE kernel = :kernel),
u(place, side, unit, used, peak, measure, about) AS (
    SELECT 1, 'compute', 'issue slots, elapsed', (SELECT value FROM c WHERE name = 'smsp__issue_active.sum'), k.cycles * k.sms * k.subcores,
           'instructions', 'one instruction per cycle and scheduler, idle schedulers included' FROM k
    UNION ALL SELECT p.place, 'compute', p.unit, (SELECT value FROM c WHERE name = p.counter),
           k.cycles * k.sms * iif(p.per_sm, 1, k.subcores) / (SELECT value FROM v WHERE section = p.op AND key = 'interval'),
           'instructions', p.about FROM pipe p, k
    UNION ALL SELECT 7, 'compute', 'tensor pipe', (SELECT used FROM tensor), k.cycles * k.sms * k.subcores, 'cycles busy',
           'matrix instructions' FROM k
    UNION ALL SELECT 10, 'memory', 'shared memory', (SELECT passes FROM l), k.cycles * k.sms, 'wavefronts',
           'one wavefront per cycle and multiprocessor' FROM k
    UNION ALL SELECT 11, 'memory', 'L1', (SELECT sectors FROM l) * 32.0,
           k.cycles * k.sms * (SELECT value FROM v WHERE section = 'l1' AND key = 'width'), 'bytes', 'global and local sectors' FROM k
    UNION ALL SELECT 12, 'memory', 'L2', (SELECT value FROM c WHERE name = 'lts__t_sectors.sum') * 32.0, k.cycles
           * (SELECT value FROM v WHERE section = 'l2' AND key = 'slices') * (SELECT value FROM v WHERE section = 'l2' AND key = 'slice'),
           'bytes', 'sectors processed by all slices' FROM k
    UNION ALL SELECT 13, 'memory', 'DRAM', (SELECT sum(value) FROM c WHERE name IN ('dram__bytes_read.sum', 'dram__bytes_write.sum')),
           k.cycles * (SELECT value FROM v WHERE section = 'dram' AND key = 'width'), 'bytes', 'bytes read and written' FROM k)
SELECT side, unit, used, peak, round(100.0 * used / nullif(peak, 0), 3) AS percent, measure, about
FROM u WHERE peak > 0 AND used IS NOT NULL ORDER BY place

-- flops | Floating-point operations by precision, with the machine's peak per cycle
WITH k AS (SELECT k.id, k.machine, m.sms, m.subcores FROM kernel k JOIN machine m ON m.id = k.machine WHERE k.id = :kernel),
v AS (SELECT section, key, value FROM machine_value WHERE machine = (SELECT machine FROM k)),
p AS (SELECT i.text, f.mnemonic, f.class, s.executed, 1.0 * s.lanes * s.executed / nullif(s.issues, 0) AS lanes,
             coalesce(nullif(instr(i.text, '.m16n'), 0), nullif(instr(i.text, '.m8n'), 0), nullif(instr(i.text, '.m32n'), 0),
                      nullif(instr(i.text, '.m64n'), 0)) AS shape
      FROM pc_stat s JOIN instruction i ON i.module = s.module AND i.pc = s.pc JOIN isa_form f ON f.id = i.form WHERE s.kernel = :kernel),
mm AS (SELECT *, CAST(substr(text, shape + 2) AS INTEGER) AS m,
              CAST(substr(substr(text, shape + 2), instr(substr(text, shape + 2), 'n') + 1) AS INTEGER) AS n,
              CAST(substr(substr(text, shape + 2), instr(substr(text, shape + 2), 'k') + 1) AS INTEGER) AS k,
              (SELECT CAST(substr(v.value, instr(v.value, 'tensor:') + 7) AS INTEGER) FROM v
               WHERE v.section = 'price' AND v.key = p.class AND instr(v.value, 'tensor:') > 0) AS held
       FROM p WHERE shape AND mnemonic IN ('mma', 'wmma', 'wgmma') AND (text LIKE '%mma%')),
o(kind, operations, peak) AS (
    SELECT CASE WHEN text LIKE '%.f64%' THEN 'f64' WHEN text LIKE '%.f16%' OR text LIKE '%.bf16%' THEN 'f16' ELSE 'f32' END,
           lanes * iif(mnemonic IN ('fma', 'mad'), 2, 1) * iif(text LIKE '%f16x2%' OR text LIKE '%.f32x2%', 2, 1), NULL
    FROM p WHERE mnemonic IN ('add', 'sub', 'mul', 'fma', 'mad') AND (text LIKE '%.f32%' OR text LIKE '%.f64%' OR text LIKE '%f16%')
    UNION ALL SELECT 'tensor', executed * 2.0 * m * n * k / iif(mnemonic = 'wgmma', 4, 1),
           2.0 * m * n * k / iif(mnemonic = 'wgmma', 4, 1) / nullif(held * iif(mnemonic = 'wgmma', n / 8, 1), 0)
           * (SELECT sms * subcores FROM k) FROM mm WHERE k > 0)
SELECT kind, CAST(round(sum(operations)) AS INTEGER) AS operations, coalesce(max(peak), (SELECT sms * subcores FROM k) * (SELECT count(*) FROM lane)
       * CASE kind WHEN 'f16' THEN 4.0 ELSE 2.0 END / (SELECT value FROM v WHERE key = 'interval'
       AND section = CASE kind WHEN 'f64' THEN 'op.fp64' WHEN 'f16' THEN 'op.half' ELSE 'op.fma' END)) AS per_cycle
FROM o GROUP BY kind ORDER BY operations DESC

-- roofs | Bytes transferred by each memory level, with its peak per cycle
WITH k AS (SELECT k.machine, m.sms FROM kernel k JOIN machine m ON m.id = k.machine WHERE k.id = :kernel),
v AS (SELECT section, key, value FROM machine_value WHERE machine = (SELECT machine FROM k)),
c AS (SELECT name, sum(value) AS value FROM counter WHERE kernel = :kernel GROUP BY name)
SELECT 'DRAM' AS level, (SELECT sum(value) FROM c WHERE name IN ('dram__bytes_read.sum', 'dram__bytes_write.sum')) AS bytes,
       (SELECT value FROM v WHERE section = 'dram' AND key = 'width') AS per_cycle
UNION ALL SELECT 'L2', (SELECT value FROM c WHERE name = 'lts__t_sectors.sum') * 32.0,
       (SELECT value FROM v WHERE section = 'l2' AND key = 'slices') * (SELECT value FROM v WHERE section = 'l2' AND key = 'slice')
UNION ALL SELECT 'L1', (SELECT sum(sectors) FROM access WHERE kernel = :kernel AND space IN ('global', 'local')) * 32.0,
       (SELECT sms FROM k) * (SELECT value FROM v WHERE section = 'l1' AND key = 'width')

-- occupancy | Blocks of this kernel per multiprocessor by each limit, and the limits
WITH k AS (SELECT * FROM kernel WHERE id = :kernel),
v AS (SELECT section, key, value FROM machine_value WHERE machine = (SELECT machine FROM k))
SELECT k.theoretical_occupancy AS theoretical, (SELECT value FROM achieved_occupancy WHERE kernel = k.id) AS achieved,
       (SELECT value FROM launch__occupancy_limit_blocks WHERE kernel = k.id) AS by_blocks,
       (SELECT value FROM launch__occupancy_limit_warps WHERE kernel = k.id) AS by_warps,
       (SELECT value FROM launch__occupancy_limit_registers WHERE kernel = k.id) AS by_registers,
       (SELECT value FROM launch__occupancy_limit_shared_mem WHERE kernel = k.id) AS by_shared,
       (SELECT value FROM launch__occupancy_limit_barriers WHERE kernel = k.id) AS by_barriers,
       (SELECT value FROM launch__waves_per_multiprocessor WHERE kernel = k.id) AS waves,
       (SELECT value FROM v WHERE section = 'sm' AND key = 'blocks') AS max_blocks,
       (SELECT value FROM v WHERE section = 'sm' AND key = 'warps') AS max_warps,
       coalesce((SELECT value FROM v WHERE section = 'sm' AND key = 'threads'), (SELECT max_warps * (SELECT count(*) FROM lane) FROM machine WHERE id = k.machine)) AS max_threads,
       (SELECT count(*) FROM lane) AS lanes,
       (SELECT subcores FROM machine WHERE id = k.machine) AS subcores,
       coalesce((SELECT value FROM v WHERE section = 'sm' AND key = 'warp_unit'), 1) AS warp_unit,
       (SELECT value FROM v WHERE section = 'sm' AND key = 'registers') AS registers_sm,
       (SELECT value FROM v WHERE section = 'sm' AND key = 'register_unit') AS register_unit,
       (SELECT value FROM v WHERE section = 'sm' AND key = 'registers_thread') AS registers_thread,
       (SELECT value FROM v WHERE section = 'shared' AND key = 'per_sm') * 1024 AS shared,
       (SELECT value FROM v WHERE section = 'shared' AND key = 'per_block') * 1024 AS shared_block,
       (SELECT value FROM v WHERE section = 'shared' AND key = 'reserved') * 1024 AS shared_reserved,
       (SELECT value FROM v WHERE section = 'shared' AND key = 'unit') AS shared_unit
FROM k

-- stalls | Stall cycles by reason, over the whole launch
SELECT r.id, r.name, s.cycles, round(100.0 * s.cycles / sum(s.cycles) OVER (), 3) AS percent, r.meaning
FROM stall_sum s JOIN stall_reason r ON r.name = s.reason WHERE s.kernel = :kernel AND r.name <> 'selected' ORDER BY s.cycles DESC

-- reasons | Stall reasons and their meanings
SELECT id, name, meaning FROM stall_reason ORDER BY id

-- program | The machine program of the executed functions, with the cost of each instruction
SELECT i.pc, i.function, i.text, i.ptx_line, i.src_source, i.src_line, f.mnemonic, f.syntax, i.access, i.space, i.bytes,
       coalesce(s.issues, 0) AS issues, coalesce(s.executed, 0) AS executed, coalesce(s.lanes, 0) AS lanes,
       iif(s.pc IS NULL, 0, s.stall_cycles) AS stall_cycles, iif(s.pc IS NULL, 0, s.requests) AS requests, -- NULL: not counted in this mode
       iif(s.pc IS NULL, 0, s.sectors) AS sectors, iif(s.pc IS NULL, 0, s.wavefronts) AS wavefronts,
       iif(s.pc IS NULL, 0, s.conflicts) AS conflicts, iif(s.pc IS NULL, 0, s.l1_hits) AS l1_hits,
       iif(s.pc IS NULL, 0, s.from_l2) AS from_l2, iif(s.pc IS NULL, 0, s.from_dram) AS from_dram, coalesce(s.branches, 0) AS branches,
       coalesce(s.divergent, 0) AS divergent, iif(s.pc IS NULL, 0, s.latency) AS latency
FROM kernel k JOIN instruction i ON i.module = k.module JOIN isa_form f ON f.id = i.form
LEFT JOIN pc_stat s ON s.kernel = k.id AND s.pc = i.pc
WHERE k.id = :kernel AND i.function IN (SELECT j.function FROM pc_stat t JOIN instruction j ON j.module = t.module AND j.pc = t.pc
                                        WHERE t.kernel = :kernel) ORDER BY i.pc

-- program_stalls | Stall cycles of each instruction, by reason
SELECT s.pc, s.reason, s.cycles FROM stall s WHERE s.kernel = :kernel AND s.reason <> 0 ORDER BY s.pc, s.cycles DESC

-- sources | The source files of the module
SELECT DISTINCT f.id, f.name, f.language FROM source f JOIN kernel k ON k.id = :kernel JOIN module m ON m.id = k.module
WHERE f.id = m.source OR f.id IN (SELECT src_source FROM instruction i WHERE i.module = m.id) ORDER BY f.id

-- lines | The lines of these files; of the PTX, those around the executed functions
WITH m AS (SELECT k.module, o.source FROM kernel k JOIN module o ON o.id = k.module WHERE k.id = :kernel),
i AS (SELECT i.* FROM instruction i, m WHERE i.module = m.module AND i.function IN (SELECT j.function FROM pc_stat t
      JOIN instruction j ON j.module = t.module AND j.pc = t.pc WHERE t.kernel = :kernel)),
n AS (SELECT min(ptx_line) AS first, max(ptx_line) AS last FROM i)
SELECT l.source, l.line, l.text FROM source_line l, m, n WHERE l.source = m.source AND l.line BETWEEN n.first - 60 AND n.last + 5
UNION ALL SELECT l.source, l.line, l.text FROM source_line l
WHERE l.source IN (SELECT src_source FROM i WHERE src_source IS NOT NULL) ORDER BY 1, 2

-- traffic | Memory instructions by state space and kind: requests, sectors, wavefronts and the level that served the sectors
SELECT space, kind, executed, requests, sectors, wavefronts, conflicts, bytes, l1_hits, from_l2, from_dram,
       round(1.0 * sectors / nullif(requests, 0), 2) AS sectors_per_request, round(100.0 * bytes / nullif(sectors * 32.0, 0), 1) AS efficiency
FROM access WHERE kernel = :kernel ORDER BY space, kind

-- levels | Traffic of each memory level, from the counters of the model
WITH c AS (SELECT name, sum(value) AS value FROM counter WHERE kernel = :kernel GROUP BY name)
SELECT (SELECT value FROM c WHERE name = 'l1tex__m_xbar2l1tex_read_sectors.sum') AS l1_from_l2,
       (SELECT value FROM c WHERE name = 'l1tex__m_l1tex2xbar_write_sectors.sum') AS l1_to_l2,
       (SELECT value FROM c WHERE name = 'l1tex__t_sector_hit_rate.pct') AS l1_hit_rate,
       (SELECT value FROM "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum" WHERE kernel = :kernel) AS l1_load_sectors,
       (SELECT value FROM c WHERE name = 'l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum') AS l1_load_hits,
       (SELECT value FROM c WHERE name = 'lts__t_sectors_srcunit_tex.sum') AS l2_sectors, -- for L1
       (SELECT value FROM c WHERE name = 'lts__t_sectors_srcunit_tex_lookup_hit.sum') AS l2_hits,
       (SELECT value FROM c WHERE name = 'ptxloom__l2_sectors_other.sum') AS l2_other,
       (SELECT value FROM c WHERE name = 'lts__t_sectors_op_read.sum') AS l2_read,
       (SELECT value FROM c WHERE name = 'lts__t_sectors_op_write.sum') AS l2_write,
       (SELECT value FROM c WHERE name = 'lts__t_sectors_op_atom.sum') AS l2_atom,
       (SELECT value FROM c WHERE name = 'lts__t_sectors_op_red.sum') AS l2_red,
       (SELECT value FROM c WHERE name = 'dram__bytes_read.sum') AS dram_read,
       (SELECT value FROM c WHERE name = 'dram__bytes_write.sum') AS dram_write,
       (SELECT value FROM c WHERE name = 'l1tex__data_pipe_lsu_wavefronts_mem_shared.sum') AS shared_wavefronts,
       (SELECT value FROM c WHERE name = 'l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum') AS shared_conflicts

-- branches | Branches and how often they diverged
SELECT s.pc, i.text, i.ptx_line, s.branches, s.divergent, round(100.0 * s.divergent / s.branches, 2) AS percent
FROM pc_stat s JOIN instruction i ON i.module = s.module AND i.pc = s.pc
WHERE s.kernel = :kernel AND s.branches > 0 ORDER BY s.divergent DESC, s.branches DESC

-- windows | Counters over time, in windows of equal length
SELECT component, name, cycle, cycles, value FROM counter_time WHERE kernel = :kernel ORDER BY component, name, cycle

-- units | Sectors of each L2 slice and DRAM channel; by time window, as window:sectors
SELECT component, name, unit, max(cycles) AS cycles, sum(value) AS sectors, group_concat((cycle / cycles) || ':' || value, ' ') AS windows
FROM unit_time WHERE kernel = :kernel GROUP BY component, name, unit ORDER BY component DESC, name, unit

-- barriers | Barriers and the wait times of warps
SELECT b.pc, i.text, i.ptx_line, count(*) AS arrivals, round(avg(b.resumed - b.arrived), 1) AS mean, max(b.resumed - b.arrived) AS longest
FROM barrier b JOIN kernel k ON k.id = b.kernel JOIN instruction i ON i.module = k.module AND i.pc = b.pc
WHERE b.kernel = :kernel GROUP BY b.pc ORDER BY sum(b.resumed - b.arrived) DESC

-- events | Faults, printed lines, and events dropped at the size limit
SELECT kind, text FROM event WHERE kernel = :kernel ORDER BY id LIMIT 200

-- findings | Findings of the checkers: the two accesses and their threads
SELECT f.tool || '-' || f.kind AS finding, f.severity, f.text, f.help, f.count, f.seed,
    i.ptx_line, o.ptx_line AS other_ptx_line, i.cuda, o.cuda AS other_cuda,
    printf('block %d,%d,%d thread %d,%d,%d', f.block_x, f.block_y, f.block_z, f.thread_x, f.thread_y, f.thread_z) AS thread,
    iif(f.other_pc IS NULL, NULL, printf('block %d,%d,%d thread %d,%d,%d', f.other_block_x, f.other_block_y, f.other_block_z,
        f.other_thread_x, f.other_thread_y, f.other_thread_z)) AS other_thread
FROM finding f JOIN kernel k ON k.id = f.kernel LEFT JOIN instruction i ON i.module = k.module AND i.pc = f.pc
LEFT JOIN instruction o ON o.module = k.module AND o.pc = f.other_pc WHERE f.kernel = :kernel ORDER BY f.id LIMIT 100

-- machine_values | The machine parameters with the provenance of each value
SELECT v.section, v.key, v.value, v.unit, v.provenance, v.source FROM machine_value v JOIN kernel k ON k.machine = v.machine
WHERE k.id = :kernel ORDER BY v.section, v.key
