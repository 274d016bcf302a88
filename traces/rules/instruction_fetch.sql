-- Warps stalled on instruction fetches
-- of: the stall cycles
-- check: a short launch waits only for its first instructions; in a long launch reduce the size of loops: less unrolling, fewer inlined calls (query stalls)
SELECT kernel, share, line, printf('%.3g %% of the stall cycles are on instruction fetches, most at line %d', 100 * share, line) AS advice,
       printf('%d stall cycles with reason %s', cycles, reason) AS evidence
FROM w WHERE reason IN ('no_instruction') AND share > 0.2
