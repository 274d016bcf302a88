-- Warps stalled on memory fences
-- of: the stall cycles
-- check: use a narrower scope (.cta, .gpu), or one fence for several stores; the share must decrease (query stalls)
SELECT kernel, share, line, printf('%.3g %% of the stall cycles are on memory fences, most at line %d', 100 * share, line) AS advice,
       printf('%d stall cycles with reason %s', cycles, reason) AS evidence
FROM w WHERE reason IN ('membar') AND share > 0.15
