-- Stall cycles of warps by reason, over the whole launch (timing mode)
SELECT s.kernel, s.reason, s.cycles,
       round(100.0 * s.cycles / (SELECT sum(cycles) FROM stall_sum WHERE kernel = s.kernel AND reason <> 'selected'), 2) AS "%", r.meaning
FROM stall_sum s JOIN stall_reason r ON r.name = s.reason
WHERE s.reason <> 'selected' AND (:kernel IS NULL OR s.kernel = :kernel) ORDER BY s.kernel, s.cycles DESC;
