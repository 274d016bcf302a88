-- Instructions that expand to several hardware instructions: division, square root, wide multiplication
SELECT s.kernel, s.pc, i.text, s.executed, s.issues, round(1.0 * s.issues / s.executed, 1) AS "length", i.ptx_line, i.cuda
FROM pc_stat s JOIN instruction i ON i.module = s.module AND i.pc = s.pc
WHERE s.issues > s.executed AND s.executed > 0 AND (:kernel IS NULL OR s.kernel = :kernel)
ORDER BY s.issues - s.executed DESC LIMIT coalesce(:limit, 20);
