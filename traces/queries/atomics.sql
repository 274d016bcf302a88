-- Atomics and reductions: number of distinct addresses; lanes with the same address are serialized (needs --trace-level mem)
WITH a AS (SELECT kernel, pc, count(*) AS lanes, count(DISTINCT address) AS addresses FROM mem_lane
           WHERE kind IN ('atomic', 'reduction') AND (:kernel IS NULL OR kernel = :kernel) GROUP BY kernel, pc)
SELECT a.kernel, a.pc, i.text, a.lanes, a.addresses, round(1.0 * a.lanes / a.addresses, 1) AS "lanes/address", i.ptx_line, i.cuda
FROM a JOIN kernel k ON k.id = a.kernel JOIN instruction i ON i.module = k.module AND i.pc = a.pc ORDER BY a.lanes DESC;
