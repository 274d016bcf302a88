-- Reuse distance of each load: accesses of the same multiprocessor since the previous access to the line (needs --trace-level mem)
WITH m AS (SELECT kernel, sm, inst, pc, kind, cycle, mask, first_lane, stride, address, offsets FROM mem
           WHERE space = (SELECT id FROM space WHERE name = 'global') AND (:kernel IS NULL OR kernel = :kernel)),
shape AS (SELECT DISTINCT mask, first_lane, stride, address & 127 AS low FROM m WHERE stride IS NOT NULL),
near AS ( -- line offsets of the lanes, for accesses that differ only by whole lines
  SELECT DISTINCT mask, first_lane, stride, low, low + stride * (n.lane - first_lane) >> 7 AS away FROM shape CROSS JOIN lane n ON mask >> n.lane & 1),
list AS MATERIALIZED ( -- lines of the distinct lists of irregular addresses, numbered: comparing texts is slow
  SELECT row_number() OVER () AS list, offsets, low FROM (SELECT DISTINCT offsets, address & 127 AS low FROM m WHERE offsets IS NOT NULL)),
far AS MATERIALIZED (SELECT DISTINCT list, low + o.value >> 7 AS away FROM list CROSS JOIN json_each(offsets) o WHERE o.value IS NOT NULL),
line AS (SELECT m.kernel, m.sm, m.inst, m.pc, m.kind, m.cycle, (m.address >> 7) + a.away AS line FROM m JOIN near a
         ON a.mask = m.mask AND a.stride = m.stride AND a.low = m.address & 127 AND a.first_lane = m.first_lane
         UNION ALL SELECT m.kernel, m.sm, m.inst, m.pc, m.kind, m.cycle, (m.address >> 7) + a.away FROM m
         CROSS JOIN list l ON l.offsets = m.offsets AND l.low = m.address & 127 CROSS JOIN far a ON a.list = l.list),
place AS (SELECT kernel, pc, sm, line, kind, dense_rank() OVER (PARTITION BY kernel, sm ORDER BY cycle, inst) AS n FROM line),
use AS MATERIALIZED (SELECT kernel, pc, kind, n - lag(n) OVER (PARTITION BY kernel, sm, line ORDER BY n) AS distance FROM place),
ranked AS MATERIALIZED (SELECT kernel, pc, distance, row_number() OVER (PARTITION BY kernel, pc ORDER BY distance) AS r, count(distance) OVER (PARTITION BY kernel, pc) AS reused
           FROM use WHERE kind = (SELECT id FROM access_kind WHERE name = 'load') AND distance IS NOT NULL)
SELECT u.kernel, u.pc, i.text, count(*) AS "line accesses", count(u.distance) AS "used before", round(avg(u.distance), 1) AS avg, min(u.distance) AS min,
       (SELECT r.distance FROM ranked r WHERE r.kernel = u.kernel AND r.pc = u.pc AND r.r = (r.reused + 1) / 2) AS median, max(u.distance) AS max, i.ptx_line, i.cuda
FROM use u JOIN kernel k ON k.id = u.kernel JOIN instruction i ON i.module = k.module AND i.pc = u.pc
WHERE u.kind = (SELECT id FROM access_kind WHERE name = 'load') GROUP BY u.kernel, u.pc ORDER BY u.kernel, u.pc;
