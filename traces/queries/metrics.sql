-- All metrics of a launch (kernel=N; default: all launches)
SELECT m.kernel, m.name, m.value, i.unit, i.meaning
FROM metric m LEFT JOIN metric_info i ON i.name = m.name
WHERE :kernel IS NULL OR m.kernel = :kernel ORDER BY m.kernel, m.name;
