-- Distance between the addresses of neighbouring lanes, by instruction (needs --trace-level mem); NULL: irregular
SELECT m.kernel, m.pc, i.text, m.stride, m.size, count(*) AS accesses, round(avg(m.sectors), 2) AS sectors, i.ptx_line
FROM mem m JOIN kernel k ON k.id = m.kernel JOIN instruction i ON i.module = k.module AND i.pc = m.pc
WHERE :kernel IS NULL OR m.kernel = :kernel GROUP BY m.kernel, m.pc, m.stride ORDER BY m.kernel, m.pc, accesses DESC;
