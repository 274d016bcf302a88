-- Sectors that are fetched from L2 more often than L1 keeps them
-- of: all sectors
-- check: lanes or iterations that use the other bytes of a sector soon after it came; metric global_hit_rate or gld_efficiency must rise
SELECT kernel, 1.0 * (beyond_l1 - needed) / all_sectors AS share, line,
       printf('line %d uses %.3g %% of the bytes that it fetches from beyond L1', line, 100.0 * needed / beyond_l1) AS advice,
       printf('%d sectors came from L2 or DRAM, and the lanes asked for the bytes of %d', beyond_l1, needed) AS evidence
FROM l WHERE space = 'global' AND access = 'load' AND sized AND beyond_l1 > 1.5 * needed
