-- Histogram of active lanes over all executed warp instructions (needs --trace-level inst)
SELECT kernel, lanes, count(*) AS instructions, round(100.0 * count(*) / sum(count(*)) OVER (PARTITION BY kernel), 2) AS "%"
FROM inst WHERE :kernel IS NULL OR kernel = :kernel GROUP BY kernel, lanes ORDER BY kernel, lanes DESC;
