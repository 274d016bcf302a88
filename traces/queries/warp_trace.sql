-- Execution of one warp, instruction by instruction (kernel=1 block=0 warp=0 limit=100; needs --trace-level inst)
SELECT n.cycle, n.pc, i.text, n.lanes, printf('%08x', n.mask) AS mask, r.name AS waited_for, n.stall_cycles, n.latency, i.ptx_line, i.cuda
FROM warp w JOIN inst n ON n.id BETWEEN w.first_inst AND w.last_inst AND n.kernel = w.kernel AND n.block = w.block AND n.warp = w.warp
JOIN kernel k ON k.id = w.kernel JOIN instruction i ON i.module = k.module AND i.pc = n.pc JOIN stall_reason r ON r.id = n.stall
WHERE w.kernel = coalesce(:kernel, 1) AND w.block = coalesce(:block, 0) AND w.warp = coalesce(:warp, 0)
ORDER BY n.id LIMIT coalesce(:limit, 100);
