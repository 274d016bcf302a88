-- Reuse distance of each load: accesses of the same multiprocessor since one of them touched the line before (needs --trace-level mem)
WITH line AS (SELECT DISTINCT l.kernel, m.sm, l.inst, l.pc, l.kind, m.cycle, l.address / 128 AS line
              FROM mem_lane l JOIN mem m ON m.id = l.mem WHERE l.space = 'global' AND (:kernel IS NULL OR l.kernel = :kernel)),
place AS (SELECT *, dense_rank() OVER (PARTITION BY kernel, sm ORDER BY cycle, inst) AS n FROM line),
use AS (SELECT *, n - lag(n) OVER (PARTITION BY kernel, sm, line ORDER BY n) AS distance FROM place),
ranked AS (SELECT *, row_number() OVER (PARTITION BY kernel, pc ORDER BY distance) AS r, count(distance) OVER (PARTITION BY kernel, pc) AS reused
           FROM use WHERE kind = 'load' AND distance IS NOT NULL)
SELECT u.kernel, u.pc, i.text, count(*) AS lines, count(u.distance) AS "used before", round(avg(u.distance), 1) AS avg, min(u.distance) AS min,
       (SELECT r.distance FROM ranked r WHERE r.kernel = u.kernel AND r.pc = u.pc AND r.r = (r.reused + 1) / 2) AS median, max(u.distance) AS max, i.ptx_line
FROM use u JOIN kernel k ON k.id = u.kernel JOIN instruction i ON i.module = k.module AND i.pc = u.pc
WHERE u.kind = 'load' GROUP BY u.kernel, u.pc ORDER BY u.kernel, u.pc;
