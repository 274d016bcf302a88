-- Uncoalesced global accesses: more sectors than the lanes need (efficiency below 80 %)
SELECT s.kernel, s.pc, i.text, s.requests, round(1.0 * s.sectors / s.requests, 2) AS "sectors/request",
       round(100.0 * s.lanes * s.executed / s.issues * i.bytes / (s.sectors * 32.0), 1) AS "efficiency %", i.ptx_line, i.cuda
FROM pc_stat s JOIN instruction i ON i.module = s.module AND i.pc = s.pc
WHERE i.space IN ('global', 'generic') AND s.sectors > 0 AND s.requests > 0
  AND 1.0 * s.lanes * s.executed / s.issues * i.bytes < 0.8 * s.sectors * 32 AND (:kernel IS NULL OR s.kernel = :kernel)
ORDER BY s.sectors DESC LIMIT coalesce(:limit, 20);
