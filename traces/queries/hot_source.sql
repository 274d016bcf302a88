-- CUDA source lines by cost; needs .loc lines in the PTX (nvcc -lineinfo)
SELECT kernel, src_file, src_line, sum(issues) AS issues, sum(stall_cycles) AS stall_cycles, trim(src) AS src
FROM listing WHERE issues > 0 AND src_line IS NOT NULL AND (:kernel IS NULL OR kernel = :kernel)
GROUP BY kernel, src_file, src_line ORDER BY stall_cycles DESC, issues DESC LIMIT coalesce(:limit, 20);
