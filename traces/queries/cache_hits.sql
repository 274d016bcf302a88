-- Hit rates of each memory instruction
SELECT s.kernel, s.pc, i.text, s.sectors, round(100.0 * s.l1_hits / s.sectors, 1) AS "L1 %",
       s.from_l2, s.from_dram, i.ptx_line, i.cuda
FROM pc_stat s JOIN instruction i ON i.module = s.module AND i.pc = s.pc
WHERE s.sectors > 0 AND (:kernel IS NULL OR s.kernel = :kernel) ORDER BY s.from_dram DESC, s.sectors DESC LIMIT coalesce(:limit, 20);
