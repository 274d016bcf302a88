-- Instructions with the most stall cycles, with the most frequent reason (timing mode; limit=20)
SELECT s.kernel, s.pc, i.text, sum(s.cycles) AS cycles, round(1.0 * sum(s.cycles) / p.executed, 1) AS "per warp",
       (SELECT r.name FROM stall x JOIN stall_reason r ON r.id = x.reason
        WHERE x.kernel = s.kernel AND x.pc = s.pc AND r.name <> 'selected' ORDER BY x.cycles DESC LIMIT 1) AS reason, i.ptx_line, i.cuda
FROM stall s JOIN pc_stat p ON p.kernel = s.kernel AND p.pc = s.pc JOIN instruction i ON i.module = p.module AND i.pc = p.pc
WHERE s.reason <> 0 AND (:kernel IS NULL OR s.kernel = :kernel)
GROUP BY s.kernel, s.pc ORDER BY cycles DESC LIMIT coalesce(:limit, 20);
