-- Stall cycles of each instruction, the common reasons as columns (timing mode)
SELECT s.kernel, s.pc, i.text, sum(s.cycles) FILTER (WHERE r.name = 'long_scoreboard') AS long_scoreboard,
       sum(s.cycles) FILTER (WHERE r.name = 'short_scoreboard') AS short_scoreboard, sum(s.cycles) FILTER (WHERE r.name = 'wait') AS wait,
       sum(s.cycles) FILTER (WHERE r.name = 'barrier') AS barrier,
       sum(s.cycles) FILTER (WHERE r.name = 'math_pipe_throttle') AS math_pipe,
       sum(s.cycles) FILTER (WHERE r.name IN ('lg_throttle', 'mio_throttle', 'tex_throttle')) AS queues,
       sum(s.cycles) FILTER (WHERE r.name = 'not_selected') AS not_selected
FROM stall s JOIN kernel k ON k.id = s.kernel JOIN instruction i ON i.module = k.module AND i.pc = s.pc
JOIN stall_reason r ON r.id = s.reason
WHERE :kernel IS NULL OR s.kernel = :kernel GROUP BY s.kernel, s.pc ORDER BY s.kernel, s.pc;
