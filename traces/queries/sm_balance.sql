-- Work and busy time of each multiprocessor: a few that end late are a tail effect (needs --trace-level inst)
SELECT kernel, sm, count(*) AS blocks, sum(inst_executed) AS inst_executed, min(first_cycle) AS first_cycle, max(last_cycle) AS last_cycle
FROM block WHERE :kernel IS NULL OR kernel = :kernel GROUP BY kernel, sm ORDER BY kernel, sm;
