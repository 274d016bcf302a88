-- The last warps to arrive at the barriers of a block, with counts (needs --trace-level inst)
WITH ranked AS (SELECT kernel, block, warp, pc, arrived,
                       row_number() OVER (PARTITION BY kernel, block, pc, warp ORDER BY arrived) AS round FROM barrier),
     late AS (SELECT kernel, warp, arrived = max(arrived) OVER (PARTITION BY kernel, block, pc, round) AS is_last FROM ranked)
SELECT kernel, warp, sum(is_last) AS times_last, count(*) AS barriers FROM late
WHERE :kernel IS NULL OR kernel = :kernel GROUP BY kernel, warp ORDER BY kernel, times_last DESC LIMIT coalesce(:limit, 32);
