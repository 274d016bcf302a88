-- Memory traffic by state space and kind: requests, sectors, wavefronts and the level that served the sectors
SELECT kernel, space, kind, requests, sectors, round(1.0 * sectors / nullif(requests, 0), 2) AS "sectors/request", wavefronts, conflicts,
       bytes, round(100.0 * bytes / nullif(sectors * 32.0, 0), 1) AS "efficiency %", l1_hits, from_l2, from_dram
FROM access WHERE :kernel IS NULL OR kernel = :kernel ORDER BY kernel, sectors DESC;
