-- Active warps per time window: ramp-up and tail of the grid (timing mode, needs --trace-level inst)
WITH w AS (SELECT DISTINCT kernel, cycle, cycles FROM counter_time WHERE component = 'sm' AND (:kernel IS NULL OR kernel = :kernel))
SELECT w.kernel, w.cycle, count(p.warp) AS warps, count(DISTINCT p.block) AS blocks
FROM w LEFT JOIN warp p ON p.kernel = w.kernel AND p.first_cycle < w.cycle + w.cycles AND p.last_cycle >= w.cycle
GROUP BY w.kernel, w.cycle ORDER BY w.kernel, w.cycle;
