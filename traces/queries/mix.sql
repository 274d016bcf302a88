-- Instruction mix by latency class
SELECT s.kernel, f.class, sum(s.issues) AS issues,
       round(100.0 * sum(s.issues) / (SELECT sum(issues) FROM pc_stat WHERE kernel = s.kernel), 2) AS "%"
FROM pc_stat s JOIN instruction i ON i.module = s.module AND i.pc = s.pc JOIN isa_form f ON f.id = i.form
WHERE :kernel IS NULL OR s.kernel = :kernel GROUP BY s.kernel, f.class ORDER BY s.kernel, issues DESC;
