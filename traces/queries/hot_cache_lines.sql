-- Most accessed 128-byte lines of memory (needs --trace-level mem; reads every lane)
WITH list AS MATERIALIZED ( -- distinct lists of irregular addresses, numbered: sorting by number is faster than by text
  SELECT row_number() OVER () AS list, offsets FROM (SELECT DISTINCT offsets FROM mem WHERE offsets IS NOT NULL AND (:kernel IS NULL OR kernel = :kernel))),
away AS MATERIALIZED (SELECT list, o.value AS away FROM list CROSS JOIN json_each(offsets) o WHERE o.value IS NOT NULL),
p AS ( -- distinct access patterns
  SELECT m.address, l.list, m.kernel, m.space, count(*) AS n FROM mem m CROSS JOIN list l ON l.offsets = m.offsets
  WHERE :kernel IS NULL OR kernel = :kernel GROUP BY 1, 2, 3, 4),
r AS (SELECT address, mask, stride, kernel, space, first_lane, count(*) AS n FROM mem
      WHERE stride IS NOT NULL AND (:kernel IS NULL OR kernel = :kernel) GROUP BY 1, 2, 3, 4, 5),
l AS (SELECT r.kernel, r.space, (r.address + r.stride * (n.lane - r.first_lane)) / 128 AS line, sum(r.n) AS lanes
      FROM r CROSS JOIN lane n ON r.mask >> n.lane & 1 GROUP BY 1, 2, 3
      UNION ALL SELECT p.kernel, p.space, (p.address + a.away) / 128, sum(p.n) FROM p CROSS JOIN away a ON a.list = p.list GROUP BY 1, 2, 3),
top AS (SELECT kernel, space, line, sum(lanes) AS lanes FROM l GROUP BY 1, 2, 3)
SELECT t.kernel, s.name AS space, printf('0x%x', t.line * 128) AS line, t.lanes FROM top t JOIN space s ON s.id = t.space
ORDER BY t.lanes DESC, t.line LIMIT coalesce(:limit, 20);
