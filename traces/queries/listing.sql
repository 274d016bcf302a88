-- The machine program next to its PTX lines, with the cost of every instruction
SELECT kernel, function, pc, text, ptx_line, issues, lanes, stall_cycles, sectors, conflicts, trim(ptx) AS ptx, cuda
FROM listing WHERE :kernel IS NULL OR kernel = :kernel ORDER BY kernel, pc;
