-- Divergence of each branch, most divergent first
SELECT s.kernel, s.pc, i.text, s.branches, s.divergent, round(100.0 * (s.branches - s.divergent) / s.branches, 1) AS "efficiency %", i.ptx_line, i.cuda
FROM pc_stat s JOIN instruction i ON i.module = s.module AND i.pc = s.pc
WHERE s.branches > 0 AND (:kernel IS NULL OR s.kernel = :kernel) ORDER BY s.divergent DESC, s.branches DESC, s.kernel, s.pc LIMIT coalesce(:limit, 20);
