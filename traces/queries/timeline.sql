-- Beginnings and ends of blocks, arrivals at barriers, in the order of time (needs --trace-level inst)
SELECT kernel, cycle, what, sm, block, warp, pc FROM timeline
WHERE :kernel IS NULL OR kernel = :kernel ORDER BY kernel, cycle, block, warp LIMIT coalesce(:limit, 100);
