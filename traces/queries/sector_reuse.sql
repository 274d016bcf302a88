-- How often the sectors of global memory are fetched and by how many multiprocessors: data that all share, or stream through (needs --trace-level mem)
WITH m AS (SELECT kernel, sm, inst, mask, first_lane, stride, address, offsets FROM mem WHERE space = (SELECT id FROM space WHERE name = 'global')
           AND kind = (SELECT id FROM access_kind WHERE name = 'load') AND (:kernel IS NULL OR kernel = :kernel)),
shape AS (SELECT DISTINCT mask, first_lane, stride, address & 31 AS low FROM m WHERE stride IS NOT NULL),
near AS ( -- how many sectors away the lanes lie, for accesses that differ by whole sectors only
  SELECT DISTINCT mask, first_lane, stride, low, low + stride * (n.lane - first_lane) >> 5 AS away FROM shape CROSS JOIN lane n ON mask >> n.lane & 1),
s AS (SELECT m.kernel, m.sm, (m.address >> 5) + a.away AS sector FROM m JOIN near a
      ON a.mask = m.mask AND a.stride = m.stride AND a.low = m.address & 31 AND a.first_lane = m.first_lane
      UNION ALL SELECT kernel, sm, sector FROM (SELECT DISTINCT kernel, sm, inst, address + o.value >> 5 AS sector
      FROM m CROSS JOIN json_each(m.offsets) o WHERE stride IS NULL AND o.value IS NOT NULL)),
p AS (SELECT kernel, sector, sm, count(*) AS uses FROM s GROUP BY kernel, sector, sm),
t AS (SELECT kernel, sector, sum(uses) AS uses, count(*) AS sms FROM p GROUP BY kernel, sector)
SELECT kernel, uses, count(*) AS sectors, count(*) * 32 AS bytes, round(avg(sms), 1) AS "multiprocessors each", round(100.0 * count(*) / sum(count(*)) OVER (PARTITION BY kernel), 1) AS "% of sectors"
FROM t GROUP BY kernel, uses ORDER BY kernel, uses;
