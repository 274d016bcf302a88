-- Warps that end at once because their threads have nothing to do
-- of: the warps
-- check: a grid that fits the data; the instructions of each warp must come nearer to the average (query warp_spread)
SELECT kernel, 1.0 - 1.0 * beyond / first AS share, NULL AS line,
       printf('%.3g %% of the warps end after a few instructions', 100.0 - 100.0 * beyond / first) AS advice,
       printf('%d warps execute the first instruction, %d get beyond the first branches', first, beyond) AS evidence
FROM (SELECT i.kernel, max(executed) AS first, (SELECT max(j.executed) FROM i j WHERE j.kernel = i.kernel AND j.access IS NOT NULL AND j.space <> 'param') AS beyond
      FROM i GROUP BY i.kernel)
WHERE beyond < 0.5 * first
