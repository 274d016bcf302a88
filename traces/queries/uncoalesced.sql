-- Uncoalesced global accesses: more than 1.25 times the sectors that the lanes of a request need
SELECT s.kernel, s.pc, i.text, s.requests, round(1.0 * s.sectors / s.requests, 2) AS "sectors/request", s.least AS minimum,
       round(100.0 * s.lanes * s.executed / s.issues * i.bytes / (s.sectors * 32.0), 1) AS "efficiency %", i.ptx_line, i.cuda
FROM (SELECT s.*, max(1, CAST((1.0 * s.lanes / s.issues * i.bytes + 31) / 32 AS INTEGER)) AS least
      FROM pc_stat s JOIN instruction i ON i.module = s.module AND i.pc = s.pc
      WHERE i.space IN ('global', 'generic') AND s.sectors > 0 AND s.requests > 0 AND s.issues > 0 AND i.bytes > 0) s
JOIN instruction i ON i.module = s.module AND i.pc = s.pc
WHERE s.sectors > 1.25 * s.least * s.requests AND (:kernel IS NULL OR s.kernel = :kernel)
ORDER BY s.sectors DESC LIMIT coalesce(:limit, 20);
