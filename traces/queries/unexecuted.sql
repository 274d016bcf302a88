-- Instructions of the kernel that were not executed: dead paths, or cases not covered by the input
SELECT kernel, pc, text, ptx_line, trim(ptx) AS ptx, cuda FROM listing
WHERE function = entry AND issues IS NULL AND (:kernel IS NULL OR kernel = :kernel) ORDER BY kernel, pc;
