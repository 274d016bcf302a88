-- Distinct 128-byte lines that each instruction touches (needs --trace-level mem; looks at every lane)
WITH a AS (SELECT DISTINCT kernel, pc, address / 128 AS line FROM mem_lane WHERE :kernel IS NULL OR kernel = :kernel)
SELECT a.kernel, a.pc, i.text, count(*) AS lines, count(*) * 128 AS bytes, i.ptx_line
FROM a JOIN kernel k ON k.id = a.kernel JOIN instruction i ON i.module = k.module AND i.pc = a.pc
GROUP BY a.kernel, a.pc ORDER BY lines DESC, a.kernel, a.pc LIMIT coalesce(:limit, 20);
