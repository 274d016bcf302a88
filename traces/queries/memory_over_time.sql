-- Memory requests and the level that served them, per time window (timing mode, needs --trace-level mem)
SELECT kernel, cycle, max(cycles) AS cycles, sum(value) FILTER (WHERE name = 'requests') AS requests,
       sum(value) FILTER (WHERE name = 'sectors') AS sectors, sum(value) FILTER (WHERE name = 'from_l1') AS from_l1,
       sum(value) FILTER (WHERE name = 'from_l2') AS from_l2, sum(value) FILTER (WHERE name = 'from_dram') AS from_dram
FROM counter_time WHERE component = 'memory' AND (:kernel IS NULL OR kernel = :kernel) GROUP BY kernel, cycle ORDER BY kernel, cycle;
