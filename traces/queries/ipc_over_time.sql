-- Instructions, active lanes and stall cycles per time window (timing mode, needs --trace-level inst)
SELECT kernel, cycle, max(cycles) AS cycles, sum(value) FILTER (WHERE name = 'inst_executed') AS inst_executed,
       round(1.0 * sum(value) FILTER (WHERE name = 'inst_executed') / max(cycles), 3) AS "inst/cycle",
       round(1.0 * sum(value) FILTER (WHERE name = 'thread_inst_executed') / sum(value) FILTER (WHERE name = 'inst_executed'), 1) AS lanes,
       sum(value) FILTER (WHERE name = 'stall_cycles') AS stall_cycles
FROM counter_time WHERE component = 'sm' AND (:kernel IS NULL OR kernel = :kernel) GROUP BY kernel, cycle ORDER BY kernel, cycle;
