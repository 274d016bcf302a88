-- Load balance of L2 slices and DRAM channels: the busiest one against the average (timing mode, needs --trace-level inst)
WITH u AS (SELECT kernel, component, unit, sum(value) AS sectors FROM unit_time WHERE (:kernel IS NULL OR kernel = :kernel) GROUP BY kernel, component, unit)
SELECT kernel, component, count(*) AS units_used, sum(sectors) AS sectors, round(avg(sectors), 1) AS average, max(sectors) AS busiest,
       round(max(sectors) / avg(sectors), 3) AS busiest_of_average
FROM u GROUP BY kernel, component ORDER BY kernel, component;
