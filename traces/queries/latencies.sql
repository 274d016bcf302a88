-- Mean latency of each instruction, slowest first (timing mode)
SELECT s.kernel, s.pc, i.text, s.executed, round(1.0 * s.latency / s.executed, 1) AS "mean latency", i.ptx_line, i.cuda
FROM pc_stat s JOIN instruction i ON i.module = s.module AND i.pc = s.pc
WHERE s.latency > 0 AND s.executed > 0 AND (:kernel IS NULL OR s.kernel = :kernel) ORDER BY 5 DESC LIMIT coalesce(:limit, 20);
