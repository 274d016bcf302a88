-- Warps that wait for data from L1, L2 or DRAM
-- of: the waiting
-- check: start loads earlier or several at once (unrolling, cp.async), reuse data, or have more warps; the share must fall (query stalls)
SELECT kernel, share, line, printf('%.3g %% of the waiting is for data from L1, L2 or DRAM, most at line %d', 100 * share, line) AS advice,
       printf('%d cycles of %s before the instructions of the launch', cycles, reason) AS evidence
FROM w WHERE reason IN ('long_scoreboard') AND share > 0.4
