-- PTX lines by cost: instructions issued and stall cycles (limit=20)
SELECT kernel, ptx_line, sum(issues) AS issues, sum(stall_cycles) AS stall_cycles, count(*) AS instructions, trim(ptx) AS ptx, cuda
FROM listing WHERE issues > 0 AND (:kernel IS NULL OR kernel = :kernel)
GROUP BY kernel, ptx_line ORDER BY stall_cycles DESC, issues DESC LIMIT coalesce(:limit, 20);
