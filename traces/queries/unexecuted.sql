-- Instructions of the launched function that never ran: dead paths, or cases the input does not reach
SELECT kernel, pc, text, ptx_line, trim(ptx) AS ptx, cuda FROM listing
WHERE function = entry AND issues IS NULL AND (:kernel IS NULL OR kernel = :kernel) ORDER BY kernel, pc;
