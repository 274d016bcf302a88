-- Local memory: register spills and per-thread arrays
SELECT s.kernel, s.pc, i.text, i.access, s.requests, s.sectors, s.l1_hits, i.ptx_line, i.cuda
FROM pc_stat s JOIN instruction i ON i.module = s.module AND i.pc = s.pc
WHERE i.space = 'local' AND (:kernel IS NULL OR s.kernel = :kernel) ORDER BY s.sectors DESC;
