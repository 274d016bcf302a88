-- Instructions that warps issue back to back: the length of runs without waiting, by multiprocessor scheduler (needs --trace-level inst)
WITH r AS (SELECT kernel, block, warp, id, sum(stall_cycles > 0) OVER (PARTITION BY kernel, block, warp ORDER BY id) AS run FROM inst
           WHERE :kernel IS NULL OR kernel = :kernel),
l AS (SELECT kernel, block, warp, run, count(*) AS length FROM r GROUP BY kernel, block, warp, run)
SELECT kernel, length, count(*) AS runs, round(100.0 * sum(length) / sum(sum(length)) OVER (PARTITION BY kernel), 2) AS "% of instructions"
FROM l GROUP BY kernel, length ORDER BY kernel, length;
