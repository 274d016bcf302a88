-- Distance between the addresses of consecutive lanes, by instruction (needs --trace-level mem); NULL: irregular
WITH m AS (SELECT kernel, pc, stride, size, count(*) AS accesses, round(avg(sectors), 2) AS "sectors/access" FROM mem
           WHERE :kernel IS NULL OR kernel = :kernel GROUP BY kernel, pc, stride)
SELECT m.kernel, m.pc, i.text, m.stride, m.size, m.accesses, m."sectors/access", i.ptx_line, i.cuda
FROM m JOIN kernel k ON k.id = m.kernel JOIN instruction i ON i.module = k.module AND i.pc = m.pc ORDER BY m.kernel, m.pc, m.accesses DESC;
