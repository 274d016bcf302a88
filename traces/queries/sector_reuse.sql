-- Loads per sector of global memory and the multiprocessors that access it: shared or streamed data (needs --trace-level mem)
WITH m AS (SELECT kernel, sm, mask, first_lane, stride, address, offsets FROM mem WHERE space = (SELECT id FROM space WHERE name = 'global')
           AND kind = (SELECT id FROM access_kind WHERE name = 'load') AND (:kernel IS NULL OR kernel = :kernel)),
r AS (SELECT address, sm, mask, stride, kernel, first_lane, count(*) AS n FROM m WHERE stride IS NOT NULL GROUP BY 1, 2, 3, 4, 5), -- distinct accesses
list AS MATERIALIZED ( -- distinct lists of irregular addresses, numbered: sorting by number is faster than by text
  SELECT row_number() OVER () AS list, offsets FROM (SELECT DISTINCT offsets FROM m WHERE offsets IS NOT NULL)),
p AS MATERIALIZED (SELECT m.address, l.list, m.sm, m.kernel, count(*) AS n FROM m CROSS JOIN list l ON l.offsets = m.offsets GROUP BY 1, 2, 3, 4),
shape AS (SELECT DISTINCT mask, first_lane, stride, address & 31 AS low FROM r),
near AS ( -- sector offsets of the lanes, for accesses that differ only by whole sectors
  SELECT DISTINCT mask, first_lane, stride, low, low + stride * (n.lane - first_lane) >> 5 AS away FROM shape CROSS JOIN lane n ON mask >> n.lane & 1),
far AS (SELECT DISTINCT list, low, low + o.value >> 5 AS away FROM (SELECT DISTINCT list, address & 31 AS low FROM p) JOIN list USING (list)
        CROSS JOIN json_each(offsets) o WHERE o.value IS NOT NULL),
s AS (SELECT r.kernel, r.sm, (r.address >> 5) + a.away AS sector, r.n FROM r JOIN near a
      ON a.mask = r.mask AND a.stride = r.stride AND a.low = r.address & 31 AND a.first_lane = r.first_lane
      UNION ALL SELECT p.kernel, p.sm, (p.address >> 5) + a.away, p.n FROM p JOIN far a ON a.list = p.list AND a.low = p.address & 31),
t AS (SELECT kernel, sector, sum(n) AS uses, count(DISTINCT sm) AS sms FROM s GROUP BY sector, kernel)
SELECT kernel, uses, count(*) AS sectors, count(*) * 32 AS bytes, round(avg(sms), 1) AS "multiprocessors each", round(100.0 * count(*) / sum(count(*)) OVER (PARTITION BY kernel), 1) AS "% of sectors"
FROM t GROUP BY kernel, uses ORDER BY kernel, uses;
