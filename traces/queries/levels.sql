-- Accesses of each state space by the memory level that served them (needs --trace-level mem)
SELECT m.kernel, s.name AS space, l.name AS level, count(*) AS accesses, sum(m.sectors) AS sectors, round(avg(m.latency), 1) AS latency
FROM mem m JOIN space s ON s.id = m.space JOIN mem_level l ON l.id = m.level
WHERE :kernel IS NULL OR m.kernel = :kernel GROUP BY m.kernel, s.id, l.id ORDER BY m.kernel, s.id, l.id;
