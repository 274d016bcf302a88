-- CUDA lines and reasons with the most stall cycles; needs .loc lines in the PTX, nvcc -lineinfo (timing mode; limit=20)
SELECT s.kernel, f.name AS src_file, i.src_line, r.name AS reason, sum(s.cycles) AS cycles, trim(t.text) AS src
FROM stall s JOIN kernel k ON k.id = s.kernel JOIN instruction i ON i.module = k.module AND i.pc = s.pc
JOIN stall_reason r ON r.id = s.reason JOIN source f ON f.id = i.src_source
LEFT JOIN source_line t ON t.source = i.src_source AND t.line = i.src_line
WHERE r.name <> 'selected' AND (:kernel IS NULL OR s.kernel = :kernel)
GROUP BY s.kernel, i.src_source, i.src_line, r.id ORDER BY cycles DESC LIMIT coalesce(:limit, 20);
