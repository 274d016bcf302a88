-- Warps that wait for memory fences
-- of: the waiting
-- check: a smaller scope (.cta, .gpu), or one fence for several stores; the share must fall (query stalls)
SELECT kernel, share, line, printf('%.3g %% of the waiting is for memory fences, most at line %d', 100 * share, line) AS advice,
       printf('%d cycles of %s before the instructions of the launch', cycles, reason) AS evidence
FROM w WHERE reason IN ('membar') AND share > 0.15
