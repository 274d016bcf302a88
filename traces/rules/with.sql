-- with.sql - the common table expressions that the rules of this folder use: the first part of the query advice, which the build generates from all of them.
--
-- k: launches; i: executed instructions, with totals of the launch; l: memory instructions by line; w: stall reasons, with their share and worst line; c: counters;
-- o: occupancy and its limits; a: traffic by state space. A rule is a file NAME.sql: its title, then "of: " the total to which its share refers,
-- "check: " the suggested remedy and how to verify it, and a SELECT of kernel, share (0..1), line, advice and evidence.
WITH k AS (SELECT k.*, m.sms FROM kernel k JOIN machine m ON m.id = k.machine WHERE :kernel IS NULL OR k.id = :kernel),
i AS (SELECT s.*, i.text, i.ptx_source, i.ptx_line, i.space, i.access, i.bytes, 1.0 * s.lanes / s.issues AS active,
             max(1, CAST((1.0 * s.lanes / s.issues * i.bytes + 31) / 32 AS INTEGER)) AS least,
             (SELECT sum(a.sectors) FROM access a WHERE a.kernel = s.kernel) AS all_sectors,
             (SELECT sum(a.wavefronts) FROM access a WHERE a.kernel = s.kernel) AS all_passes,
             (SELECT sum(t.cycles) FROM stall_sum t WHERE t.kernel = s.kernel AND t.reason <> 'selected') AS all_stalls, k.inst_executed
      FROM k JOIN pc_stat s ON s.kernel = k.id JOIN instruction i ON i.module = s.module AND i.pc = s.pc WHERE s.issues > 0),
l AS (SELECT kernel, ptx_line AS line, iif(space = 'generic', 'global', space) AS space, access, max(bytes) AS bytes, sum(requests) AS requests, sum(sectors) AS sectors,
             sum(wavefronts) AS wavefronts, sum(conflicts) AS conflicts, sum(from_l2 + from_dram) AS beyond_l1, sum(active * requests) AS lanes,
             sum(least * requests) AS needed, min(bytes) > 0 AS sized, max(all_sectors) AS all_sectors, max(all_passes) AS all_passes,
             (SELECT sum(a.requests) FROM access a WHERE a.kernel = i.kernel) AS all_requests
      FROM i WHERE access IS NOT NULL AND requests > 0 GROUP BY kernel, ptx_line, space, access),
worst AS MATERIALIZED (SELECT kernel, reason, line FROM
      (SELECT i.kernel, r.name AS reason, i.ptx_line AS line, row_number() OVER (PARTITION BY x.kernel, x.reason ORDER BY x.cycles DESC, x.pc) AS place
       FROM i JOIN stall x ON x.kernel = i.kernel AND x.pc = i.pc JOIN stall_reason r ON r.id = x.reason) WHERE place = 1),
w AS (SELECT t.kernel, t.reason, t.cycles, 1.0 * t.cycles / sum(t.cycles) OVER (PARTITION BY t.kernel) AS share, worst.line
      FROM stall_sum t JOIN k ON k.id = t.kernel LEFT JOIN worst ON worst.kernel = t.kernel AND worst.reason = t.reason WHERE t.reason <> 'selected'),
c AS (SELECT c.kernel, c.name, c.value FROM counter c JOIN k ON k.id = c.kernel),
o AS (SELECT k.id AS kernel, k.theoretical_occupancy AS possible, k.blocks, k.sms, k.registers, k.static_shared + k.dynamic_shared AS shared, k.block_x * k.block_y * k.block_z AS block,
             (SELECT value FROM achieved_occupancy WHERE kernel = k.id) AS achieved,
             (SELECT value FROM launch__waves_per_multiprocessor WHERE kernel = k.id) AS waves,
             (SELECT value FROM launch__occupancy_limit_registers WHERE kernel = k.id) AS by_registers,
             (SELECT value FROM launch__occupancy_limit_shared_mem WHERE kernel = k.id) AS by_shared,
             (SELECT value FROM launch__occupancy_limit_warps WHERE kernel = k.id) AS by_warps,
             (SELECT value FROM launch__occupancy_limit_blocks WHERE kernel = k.id) AS by_blocks FROM k),
