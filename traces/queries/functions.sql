-- Cost by function
SELECT kernel, function, count(*) AS instructions, sum(issues > 0) AS ran, sum(issues) AS issues, sum(stall_cycles) AS stall_cycles
FROM listing WHERE :kernel IS NULL OR kernel = :kernel
GROUP BY kernel, function HAVING sum(issues) > 0 ORDER BY issues DESC;
