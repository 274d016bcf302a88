-- Latency of memory accesses in bins of 50 cycles, by the level that served them (timing mode, needs --trace-level mem)
SELECT m.kernel, l.name AS level, m.latency / 50 * 50 AS "from", m.latency / 50 * 50 + 49 AS "to", count(*) AS accesses
FROM mem m JOIN mem_level l ON l.id = m.level
WHERE :kernel IS NULL OR m.kernel = :kernel GROUP BY m.kernel, l.id, 3 ORDER BY m.kernel, l.id, 3;
