-- Starts and ends of blocks and arrivals at barriers, ordered by time (needs --trace-level inst)
SELECT kernel, cycle, what, sm, block, warp, pc FROM timeline
WHERE :kernel IS NULL OR kernel = :kernel ORDER BY kernel, cycle, block, warp LIMIT coalesce(:limit, 100);
