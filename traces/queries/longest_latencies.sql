-- Executed instructions with the longest latencies (timing mode, needs --trace-level inst)
WITH top AS (SELECT id, latency FROM inst WHERE :kernel IS NULL OR kernel = :kernel ORDER BY latency DESC, id LIMIT coalesce(:limit, 20))
SELECT n.kernel, n.cycle, n.sm, n.block, n.warp, n.pc, i.text, n.latency, i.ptx_line, i.cuda
FROM top JOIN inst n ON n.id = top.id JOIN kernel k ON k.id = n.kernel JOIN instruction i ON i.module = k.module AND i.pc = n.pc
ORDER BY n.latency DESC, n.id;
