-- Hit rates of each instruction that moved sectors
SELECT s.kernel, s.pc, i.text, s.sectors, round(100.0 * s.l1_hits / s.sectors, 1) AS "L1 %",
       round(100.0 * s.l2_hits / nullif(s.sectors - s.l1_hits, 0), 1) AS "L2 %", s.dram, i.ptx_line
FROM pc_stat s JOIN instruction i ON i.module = s.module AND i.pc = s.pc
WHERE s.sectors > 0 AND (:kernel IS NULL OR s.kernel = :kernel) ORDER BY s.dram DESC, s.sectors DESC LIMIT coalesce(:limit, 20);
