-- Shared-memory instructions with bank conflicts: wavefronts beyond the minimum
SELECT s.kernel, s.pc, i.text, s.requests, s.wavefronts, s.conflicts, round(1.0 * s.wavefronts / nullif(s.requests, 0), 2) AS "passes/request",
       i.ptx_line, i.cuda
FROM pc_stat s JOIN instruction i ON i.module = s.module AND i.pc = s.pc
WHERE s.conflicts > 0 AND (:kernel IS NULL OR s.kernel = :kernel) ORDER BY s.conflicts DESC LIMIT coalesce(:limit, 20);
