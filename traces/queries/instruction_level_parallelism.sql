-- Instructions that warps issue back to back: run lengths without stalls, by warp scheduler (timing mode, needs --trace-level inst)
WITH i AS ( -- one number per warp: sorting by one column is a third faster than by three
  SELECT (kernel << 40) + (block << 8) + warp AS w, id, stall_cycles > 0 AS waited FROM inst WHERE :kernel IS NULL OR kernel = :kernel),
r AS (SELECT w, sum(waited) OVER (PARTITION BY w ORDER BY id ROWS UNBOUNDED PRECEDING) AS run FROM i),
l AS (SELECT w >> 40 AS kernel, count(*) AS length FROM r GROUP BY w, run)
SELECT kernel, length, count(*) AS runs, round(100.0 * sum(length) / sum(sum(length)) OVER (PARTITION BY kernel), 2) AS "% of instructions"
FROM l GROUP BY kernel, length ORDER BY kernel, length;
