-- Programs that exceed the instruction caches
-- of: instruction fetches
-- check: reduce the size of loops: less unrolling, fewer inlined calls; metric sm__icc_requests_lookup_miss.sum must decrease
SELECT r.kernel, m.value / r.value AS share, NULL AS line,
       printf('%.3g %% of the instruction fetches miss in the cache of the multiprocessor', 100 * m.value / r.value) AS advice,
       printf('%d of %d fetches, %d instructions in the program', m.value, r.value, (SELECT count(*) FROM i WHERE i.kernel = r.kernel)) AS evidence
FROM c r JOIN c m ON m.kernel = r.kernel AND m.name = 'sm__icc_requests_lookup_miss.sum'
WHERE r.name = 'sm__icc_requests.sum' AND m.value > 0.05 * r.value AND (SELECT count(*) FROM i WHERE i.kernel = r.kernel) > 1500
