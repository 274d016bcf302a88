-- Warps stalled at block barriers
-- of: the stall cycles
-- check: balance the work of the warps of a block, or use smaller blocks or barriers of fewer threads; the share must decrease (query barrier_waits)
SELECT kernel, share, line, printf('%.3g %% of the stall cycles are at barriers, most before line %d', 100 * share, line) AS advice,
       printf('%d stall cycles with reason %s', cycles, reason) AS evidence
FROM w WHERE reason IN ('barrier') AND share > 0.2
