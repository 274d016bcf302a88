-- Single instructions whose result took longest (needs --trace-level inst)
SELECT n.kernel, n.cycle, n.sm, n.block, n.warp, n.pc, i.text, n.latency, i.ptx_line
FROM inst n JOIN kernel k ON k.id = n.kernel JOIN instruction i ON i.module = k.module AND i.pc = n.pc
WHERE :kernel IS NULL OR n.kernel = :kernel ORDER BY n.latency DESC, n.id LIMIT coalesce(:limit, 20);
