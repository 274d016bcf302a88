-- Time by kernel function, as in a profiler summary
SELECT round(100.0 * sum(cycles) / nullif((SELECT sum(cycles) FROM kernel), 0), 2) AS "time %", sum(cycles) AS cycles,
       count(*) AS calls, round(avg(cycles), 1) AS avg, min(cycles) AS min, max(cycles) AS max, entry
FROM kernel GROUP BY entry ORDER BY 2 DESC;
