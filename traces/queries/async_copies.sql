-- Asynchronous copies: cycles of issue and of completion (needs --trace-level mem)
SELECT a.kernel, a.block, a.warp, a.pc, i.text, a.issued, a.completed, a.completed - a.issued AS cycles, a.space, a.sectors
FROM async a JOIN kernel k ON k.id = a.kernel JOIN instruction i ON i.module = k.module AND i.pc = a.pc
WHERE :kernel IS NULL OR a.kernel = :kernel ORDER BY a.kernel, a.inst LIMIT coalesce(:limit, 100);
