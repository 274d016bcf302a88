-- Warps that exit early because their threads have no work
-- of: the warps
-- check: size the grid to the data; the instructions per warp must become more uniform (query warp_spread)
SELECT kernel, 1.0 - 1.0 * beyond / first AS share, NULL AS line,
       printf('%.3g %% of the warps exit after a few instructions', 100.0 - 100.0 * beyond / first) AS advice,
       printf('%d warps execute the first instruction, %d proceed past the first branches', first, beyond) AS evidence
FROM (SELECT i.kernel, max(executed) AS first, (SELECT max(j.executed) FROM i j WHERE j.kernel = i.kernel AND j.access IS NOT NULL AND j.space <> 'param') AS beyond
      FROM i GROUP BY i.kernel)
WHERE beyond < 0.5 * first
