-- Wait time at each barrier, from arrival to the next instruction of the warp (timing mode, needs --trace-level inst)
SELECT b.kernel, b.pc, i.text, count(*) AS arrivals, round(avg(b.resumed - b.arrived), 1) AS avg, max(b.resumed - b.arrived) AS max,
       sum(b.resumed IS NULL) AS never_left, i.ptx_line, i.cuda
FROM barrier b JOIN kernel k ON k.id = b.kernel JOIN instruction i ON i.module = k.module AND i.pc = b.pc
WHERE :kernel IS NULL OR b.kernel = :kernel GROUP BY b.kernel, b.pc ORDER BY b.kernel, avg DESC;
