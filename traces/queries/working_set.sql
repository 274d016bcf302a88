-- Distinct 128-byte lines accessed by each instruction (needs --trace-level mem; reads every lane)
WITH p AS ( -- distinct accesses by lanes and addresses
  SELECT DISTINCT kernel, pc, mask, first_lane, address, stride, offsets FROM mem WHERE :kernel IS NULL OR kernel = :kernel),
a AS (SELECT p.kernel, p.pc, (p.address + p.stride * (n.lane - p.first_lane)) / 128 AS line
      FROM p CROSS JOIN lane n ON p.mask >> n.lane & 1 WHERE p.stride IS NOT NULL
      UNION SELECT p.kernel, p.pc, (p.address + o.value) / 128
      FROM p CROSS JOIN json_each(p.offsets) o WHERE p.stride IS NULL AND o.value IS NOT NULL)
SELECT a.kernel, a.pc, i.text, count(*) AS "distinct lines", count(*) * 128 AS "distinct bytes", i.ptx_line, i.cuda
FROM a JOIN kernel k ON k.id = a.kernel JOIN instruction i ON i.module = k.module AND i.pc = a.pc
GROUP BY a.kernel, a.pc ORDER BY "distinct lines" DESC, a.kernel, a.pc LIMIT coalesce(:limit, 20);
