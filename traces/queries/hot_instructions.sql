-- Machine instructions with the most issues (limit=20)
SELECT l.kernel, l.pc, l.text, l.issues, round(100.0 * l.issues / k.inst_executed, 2) AS "%",
       round(1.0 * l.lanes / l.issues, 1) AS "lanes/issue", l.stall_cycles, l.ptx_line, l.cuda
FROM listing l JOIN kernel k ON k.id = l.kernel
WHERE l.issues > 0 AND (:kernel IS NULL OR l.kernel = :kernel)
ORDER BY l.issues DESC, l.kernel, l.pc LIMIT coalesce(:limit, 20);
