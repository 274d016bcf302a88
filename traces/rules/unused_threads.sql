-- Warps that exit early because their threads have no work
-- of: the warps
-- check: size the grid to the data; the instructions per warp must become more uniform (query warp_spread)
SELECT kernel, 1.0 - 1.0 * beyond / first AS share, NULL AS line,
       printf('%.3g %% of the warps exit after a few instructions', 100.0 - 100.0 * beyond / first) AS advice,
       printf('of %d warps, %d %s memory', first, beyond, iif(beyond = 1, 'accesses', 'access')) AS evidence
-- a warp may execute an access several times: then the warps are fewer than beyond, and the share is larger
FROM (SELECT c.kernel, c.value AS first, (SELECT max(i.executed) FROM i WHERE i.kernel = c.kernel AND i.access IS NOT NULL AND i.space <> 'param') AS beyond
      FROM c JOIN k ON k.id = c.kernel WHERE c.name = 'smsp__warps_launched.sum' AND k.status = 'ok')
WHERE beyond < 0.5 * first
