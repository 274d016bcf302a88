-- Words that lanes ask of each of 32 banks of shared memory (needs --trace-level mem): an even spread has no conflicts
WITH p AS ( -- accesses of the same lanes to the same places, once
  SELECT kernel, mask, first_lane, address, stride, offsets, count(*) AS n FROM mem WHERE space = (SELECT id FROM space WHERE name = 'shared')
  AND (:kernel IS NULL OR kernel = :kernel) GROUP BY 1, 2, 3, 4, 5, 6),
l AS (SELECT p.kernel, (p.address + p.stride * (n.lane - p.first_lane)) / 4 AS word, p.n FROM p CROSS JOIN lane n ON p.mask >> n.lane & 1
      WHERE p.stride IS NOT NULL
      UNION ALL SELECT p.kernel, (p.address + o.value) / 4, p.n FROM p CROSS JOIN json_each(p.offsets) o
      WHERE p.stride IS NULL AND o.value IS NOT NULL)
SELECT kernel, word % 32 AS bank, sum(n) AS lanes, count(DISTINCT word) AS words FROM l GROUP BY kernel, bank ORDER BY kernel, bank;
