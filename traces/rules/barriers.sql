-- Warps that wait for each other
-- of: the waiting
-- check: even work between the warps of a block, smaller blocks, or barriers of fewer threads; the share must fall (query barrier_waits)
SELECT kernel, share, line, printf('%.3g %% of the waiting is at barriers, most at line %d', 100 * share, line) AS advice,
       printf('%d cycles of %s before the instructions of the launch', cycles, reason) AS evidence
FROM w WHERE reason IN ('barrier') AND share > 0.2
