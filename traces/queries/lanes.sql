-- Instructions with the most inactive lanes
SELECT s.kernel, s.pc, i.text, s.issues, round(1.0 * s.lanes / s.issues, 2) AS "lanes/issue",
       s.issues * (SELECT count(*) FROM lane) - s.lanes AS idle_lanes, i.ptx_line, i.cuda
FROM pc_stat s JOIN instruction i ON i.module = s.module AND i.pc = s.pc
WHERE s.issues > 0 AND (:kernel IS NULL OR s.kernel = :kernel) ORDER BY idle_lanes DESC LIMIT coalesce(:limit, 20);
