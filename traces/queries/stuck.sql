-- Warps that arrived at a barrier and were not released, for deadlock analysis (needs --trace-level inst)
SELECT b.kernel, b.block, b.warp, b.pc, i.text, b.arrived, i.ptx_line, i.cuda
FROM barrier b JOIN kernel k ON k.id = b.kernel JOIN instruction i ON i.module = k.module AND i.pc = b.pc
WHERE b.resumed IS NULL AND (:kernel IS NULL OR b.kernel = :kernel) ORDER BY b.kernel, b.block, b.warp;
