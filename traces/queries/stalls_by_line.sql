-- PTX lines and reasons with the most stall cycles (timing mode; limit=20)
SELECT s.kernel, i.ptx_line, r.name AS reason, sum(s.cycles) AS cycles, trim(t.text) AS ptx, i.cuda
FROM stall s JOIN kernel k ON k.id = s.kernel JOIN instruction i ON i.module = k.module AND i.pc = s.pc
JOIN stall_reason r ON r.id = s.reason LEFT JOIN source_line t ON t.source = i.ptx_source AND t.line = i.ptx_line
WHERE r.name <> 'selected' AND (:kernel IS NULL OR s.kernel = :kernel)
GROUP BY s.kernel, i.ptx_line, r.id ORDER BY cycles DESC LIMIT coalesce(:limit, 20);
