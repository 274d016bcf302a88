-- Single instructions whose result took longest; loads that miss only with --trace-level mem (needs --trace-level inst)
WITH t AS (SELECT kernel, id AS inst, latency FROM inst WHERE :kernel IS NULL OR kernel = :kernel
           UNION ALL SELECT kernel, inst, latency FROM mem WHERE :kernel IS NULL OR kernel = :kernel),
top AS (SELECT inst, max(latency) AS latency FROM t GROUP BY inst ORDER BY max(latency) DESC, inst LIMIT coalesce(:limit, 20))
SELECT n.kernel, n.cycle, n.sm, n.block, n.warp, n.pc, i.text, top.latency, i.ptx_line
FROM top JOIN inst n ON n.id = top.inst JOIN kernel k ON k.id = n.kernel JOIN instruction i ON i.module = k.module AND i.pc = n.pc
ORDER BY top.latency DESC, n.id;
