-- Warps stalled on data from L1, L2 or DRAM
-- of: the stall cycles
-- check: issue loads earlier or several at once (unrolling, cp.async), reuse data, or increase occupancy; the share must decrease (query stalls)
SELECT kernel, share, line, printf('%.3g %% of the stall cycles are waits for data from L1, L2 or DRAM, most at line %d', 100 * share, line) AS advice,
       printf('%d stall cycles with reason %s', cycles, reason) AS evidence
FROM w WHERE reason IN ('long_scoreboard') AND share > 0.4
