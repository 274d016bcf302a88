-- Words accessed in each of the 32 shared-memory banks (needs --trace-level mem); an even distribution has no conflicts
WITH m AS (SELECT kernel, address, mask, first_lane, stride, offsets FROM mem WHERE space = (SELECT id FROM space WHERE name = 'shared')
           AND (:kernel IS NULL OR kernel = :kernel)),
list AS MATERIALIZED ( -- distinct lists of irregular addresses, numbered: sorting by number is faster than by text
  SELECT row_number() OVER () AS list, offsets FROM (SELECT DISTINCT offsets FROM m WHERE offsets IS NOT NULL)),
away AS MATERIALIZED (SELECT list, o.value AS away FROM list CROSS JOIN json_each(offsets) o WHERE o.value IS NOT NULL),
p AS ( -- distinct access patterns
  SELECT m.address, l.list, m.kernel, count(*) AS n FROM m CROSS JOIN list l ON l.offsets = m.offsets GROUP BY 1, 2, 3),
r AS (SELECT address, mask, stride, kernel, first_lane, count(*) AS n FROM m WHERE stride IS NOT NULL GROUP BY 1, 2, 3, 4),
l AS (SELECT r.kernel, (r.address + r.stride * (n.lane - r.first_lane)) / 4 AS word, r.n FROM r CROSS JOIN lane n ON r.mask >> n.lane & 1
      UNION ALL SELECT p.kernel, (p.address + a.away) / 4, p.n FROM p CROSS JOIN away a ON a.list = p.list)
SELECT kernel, word % 32 AS bank, sum(n) AS lanes, count(DISTINCT word) AS words FROM l GROUP BY kernel, bank ORDER BY kernel, bank;
