-- What to look at first: rules that fired, with the evidence, a way to check, and the share of the launch that they are about
WITH k AS (SELECT k.*, m.sms FROM kernel k JOIN machine m ON m.id = k.machine WHERE :kernel IS NULL OR k.id = :kernel),
i AS (SELECT s.*, i.text, i.ptx_line, i.space, i.access, i.bytes, 1.0 * s.lanes / s.issues AS active,
             max(1, CAST((1.0 * s.lanes / s.issues * i.bytes + 31) / 32 AS INTEGER)) AS least,
             (SELECT sum(a.sectors) FROM access a WHERE a.kernel = s.kernel) AS all_sectors,
             (SELECT sum(a.wavefronts) FROM access a WHERE a.kernel = s.kernel) AS all_passes,
             (SELECT sum(t.cycles) FROM stall_sum t WHERE t.kernel = s.kernel AND t.reason <> 'selected') AS all_stalls, k.inst_executed
      FROM k JOIN pc_stat s ON s.kernel = k.id JOIN instruction i ON i.module = s.module AND i.pc = s.pc WHERE s.issues > 0),
w AS (SELECT t.kernel, t.reason, t.cycles, 1.0 * t.cycles / sum(t.cycles) OVER (PARTITION BY t.kernel) AS share,
             (SELECT i.ptx_line FROM i JOIN stall x ON x.kernel = i.kernel AND x.pc = i.pc JOIN stall_reason r ON r.id = x.reason
              WHERE i.kernel = t.kernel AND r.name = t.reason ORDER BY x.cycles DESC LIMIT 1) AS line
      FROM stall_sum t JOIN k ON k.id = t.kernel WHERE t.reason <> 'selected'),
c AS (SELECT c.kernel, c.name, c.value FROM counter c JOIN k ON k.id = c.kernel),
o AS (SELECT k.id AS kernel, k.theoretical_occupancy AS possible, k.blocks, k.sms, k.registers, k.static_shared + k.dynamic_shared AS shared, k.block_x * k.block_y * k.block_z AS block,
             (SELECT value FROM achieved_occupancy WHERE kernel = k.id) AS achieved,
             (SELECT value FROM launch__waves_per_multiprocessor WHERE kernel = k.id) AS waves,
             (SELECT value FROM launch__occupancy_limit_registers WHERE kernel = k.id) AS by_registers,
             (SELECT value FROM launch__occupancy_limit_shared_mem WHERE kernel = k.id) AS by_shared,
             (SELECT value FROM launch__occupancy_limit_warps WHERE kernel = k.id) AS by_warps,
             (SELECT value FROM launch__occupancy_limit_blocks WHERE kernel = k.id) AS by_blocks FROM k),
r(kernel, share, rule, line, advice, evidence, "check") AS (
    SELECT kernel, 1.0 * (sectors - least * requests) / all_sectors, 'uncoalesced ' || access, ptx_line,
           printf('uncoalesced %s at line %d: %.3g sectors a request; %d would do', access, ptx_line, 1.0 * sectors / requests, least),
           printf('%d requests moved %d sectors of 32 bytes; %.3g lanes of %d bytes each ask for %d', requests, sectors, active, bytes, least * requests),
           'neighbouring lanes to neighbouring addresses, or a tile in shared memory; sectors of the line must fall'
    FROM i WHERE space IN ('global', 'generic') AND access IN ('load', 'store') AND bytes > 0 AND requests > 0 AND sectors > 1.25 * least * requests
    UNION ALL
    SELECT kernel, 1.0 * conflicts / all_passes, 'bank conflicts', ptx_line,
           printf('bank conflicts at line %d: %.3g passes a request', ptx_line, 1.0 * wavefronts / nullif(requests, 0)),
           printf('%d of %d passes through shared memory were conflicts', conflicts, wavefronts),
           'pad rows by one word, or let lanes walk rows; conflicts of the line must fall to 0 (query shared_banks shows the banks)'
    FROM i WHERE space = 'shared' AND conflicts > 0.2 * wavefronts
    UNION ALL
    SELECT kernel, 1.0 - 1.0 * thread / nullif(inst * 32.0, 0), 'divergence', line,
           printf('the lanes of a warp part, most at line %d: %.3g of 32 lanes work on average', line, 1.0 * thread / inst),
           printf('%d branches, after %d of them a warp went on in parts', branches, divergent),
           'sort work so that a warp takes one way, or replace the branch by a selection; lanes in use must rise (query divergence)'
    FROM (SELECT k.id AS kernel, k.thread_inst_executed AS thread, k.inst_executed AS inst, sum(i.branches) AS branches, sum(i.divergent) AS divergent,
                 (SELECT j.ptx_line FROM i j WHERE j.kernel = k.id ORDER BY j.divergent DESC LIMIT 1) AS line
          FROM k JOIN i ON i.kernel = k.id GROUP BY k.id)
    WHERE divergent > 0.05 * branches AND thread < 24.0 * inst
    UNION ALL
    SELECT kernel, 1.0 - waves, 'small grid', NULL,
           printf('%d blocks leave most of %d multiprocessors without enough work', blocks, sms),
           printf('the grid is %.3g of a wave: occupancy %.3g %% possible, %.3g %% achieved', waves, 100 * possible, 100 * achieved),
           'more or smaller blocks, or several launches at once; waves must come to 1 or more (metric launch__waves_per_multiprocessor)'
    FROM o WHERE waves < 0.75 AND blocks < 4 * sms
    UNION ALL
    SELECT kernel, 1.0 - waves / (CAST(waves AS INTEGER) + 1), 'tail', NULL,
           printf('the last wave of blocks is mostly empty: %.3g waves', waves),
           printf('%d blocks; while the last ones run, the other multiprocessors wait', blocks),
           'a grid of a whole number of waves, or blocks that loop; metric launch__waves_per_multiprocessor must come to a whole number'
    FROM o WHERE waves > 1 AND waves < 4 AND waves - CAST(waves AS INTEGER) BETWEEN 0.01 AND 0.4
    UNION ALL
    SELECT kernel, 1.0 - possible, 'occupancy', NULL,
           printf('%s allow %.3g %% of the warps', CASE WHEN by_registers <= by_shared AND by_registers <= by_warps THEN printf('%d registers a thread', registers)
                  WHEN by_shared <= by_warps THEN printf('%d bytes of shared memory a block', shared) ELSE printf('%d threads a block', block) END, 100 * possible),
           printf('blocks on a multiprocessor: %g by registers, %g by shared memory, %g by warps, %g by block slots', by_registers, by_shared, by_warps, by_blocks),
           'change what limits and compare cycles: more warps help only when warps wait for memory or results (query occupancy)'
    FROM o WHERE possible < 0.5 AND min(by_registers, by_shared, by_warps, by_blocks) < by_blocks + 1
    UNION ALL
    SELECT kernel, share, 'waiting for memory', line, printf('%.3g %% of the waiting is for data from L1, L2 or DRAM, most at line %d', 100 * share, line),
           printf('%d cycles of long_scoreboard', cycles),
           'start loads earlier or several at once (unrolling, cp.async), reuse data, or have more warps; the share must fall (query stalls)'
    FROM w WHERE reason = 'long_scoreboard' AND share > 0.4
    UNION ALL
    SELECT kernel, share, 'barriers', line, printf('%.3g %% of the waiting is at barriers, most at line %d', 100 * share, line), printf('%d cycles of barrier', cycles),
           'even work between the warps of a block, smaller blocks, or barriers of fewer threads (query barrier_waits)'
    FROM w WHERE reason = 'barrier' AND share > 0.2
    UNION ALL
    SELECT kernel, share, 'instruction fetch', line, printf('%.3g %% of the waiting is for instructions, most at line %d', 100 * share, line), printf('%d cycles of no_instruction', cycles),
           'a short launch waits for its first instructions only; a long one should have a smaller body: less unrolling, fewer inlined calls'
    FROM w WHERE reason = 'no_instruction' AND share > 0.2
    UNION ALL
    SELECT kernel, share, 'memory queue', line, printf('%.3g %% of the waiting is for a place in a memory queue, most at line %d', 100 * share, line), printf('%d cycles of %s', cycles, reason),
           'fewer and wider accesses (v2, v4), or fewer sectors an access; the share must fall (query stalls)'
    FROM w WHERE reason IN ('lg_throttle', 'mio_throttle', 'tex_throttle') AND share > 0.2
    UNION ALL
    SELECT kernel, share, 'arithmetic pipe', line, printf('%.3g %% of the waiting is for a busy arithmetic pipe, most at line %d', 100 * share, line), printf('%d cycles of math_pipe_throttle', cycles),
           'cheaper instructions or another pipe: f32 for f64, shifts for products, fewer conversions (query expensive_sequences)'
    FROM w WHERE reason = 'math_pipe_throttle' AND share > 0.2
    UNION ALL
    SELECT kernel, 1.0 * sum(sectors) / max(all_sectors), 'local memory', max(ptx_line), printf('local memory takes part in the traffic: %d sectors', sum(sectors)),
           printf('%d instructions read or write it', count(*)), 'arrays with constant indices, fewer live values, or a larger register limit; query spills must be empty'
    FROM i WHERE space = 'local' AND sectors > 0 GROUP BY kernel
    UNION ALL
    SELECT kernel, 1.0 * sum(issues) / max(inst_executed), 'expensive instructions', ptx_line,
           printf('line %d runs as %.3g hardware instructions each time', ptx_line, 1.0 * sum(issues) / sum(executed)),
           printf('%d of %d instructions', sum(issues), max(inst_executed)), 'division, remainder, roots and f64 functions run as sequences: use approximate forms or shifts (query expensive_sequences)'
    FROM i WHERE issues > 3 * executed AND executed > 0 GROUP BY kernel, ptx_line HAVING sum(issues) > 0.1 * max(inst_executed)
    UNION ALL
    SELECT kernel, 1.0 * (32 - block % 32) / (block + 32 - block % 32), 'partial warps', NULL, printf('%d threads a block are no whole number of warps', block),
           printf('the last warp of each block has %d lanes', block % 32), 'a multiple of 32 threads a block'
    FROM o WHERE block % 32 <> 0
    UNION ALL
    SELECT c.kernel, c.value / 100, 'at the memory ceiling', NULL, printf('DRAM is busy %.3g %% of what it can do', c.value), 'metric dram__throughput.avg.pct_of_peak_sustained_elapsed',
           'move fewer bytes: smaller types, reuse in shared memory or registers, fusing kernels'
    FROM c WHERE c.name = 'dram__throughput.avg.pct_of_peak_sustained_elapsed' AND c.value > 60)
SELECT kernel, round(100 * share, 1) AS "share %", rule, line, advice, evidence, "check" FROM r WHERE share > 0.02
ORDER BY kernel, share DESC, line LIMIT coalesce(:limit, 20);
