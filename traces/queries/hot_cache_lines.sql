-- 128-byte lines of memory that lanes touch most (needs --trace-level mem; looks at every lane)
WITH p AS ( -- accesses of the same lanes to the same places, once
  SELECT kernel, space, mask, first_lane, address, stride, offsets, count(*) AS n FROM mem
  WHERE :kernel IS NULL OR kernel = :kernel GROUP BY 1, 2, 3, 4, 5, 6, 7),
l AS (SELECT p.kernel, p.space, (p.address + p.stride * (n.lane - p.first_lane)) / 128 AS line, sum(p.n) AS lanes
      FROM p CROSS JOIN lane n ON p.mask >> n.lane & 1 WHERE p.stride IS NOT NULL GROUP BY 1, 2, 3
      UNION ALL SELECT p.kernel, p.space, (p.address + o.value) / 128, sum(p.n)
      FROM p CROSS JOIN json_each(p.offsets) o WHERE p.stride IS NULL AND o.value IS NOT NULL GROUP BY 1, 2, 3),
top AS (SELECT kernel, space, line, sum(lanes) AS lanes FROM l GROUP BY 1, 2, 3)
SELECT t.kernel, s.name AS space, printf('0x%x', t.line * 128) AS line, t.lanes FROM top t JOIN space s ON s.id = t.space
ORDER BY t.lanes DESC, t.line LIMIT coalesce(:limit, 20);
