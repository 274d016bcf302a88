-- Sectors of which the loads leave bytes unused
-- of: all sectors
-- check: use all bytes of a sector in the same access or in close iterations; metric global_hit_rate or gld_efficiency must increase
SELECT kernel, 1.0 * (beyond_l1 - needed) / all_sectors AS share, line,
       printf('line %d uses %.3g %% of the bytes that it fetches from L2 or DRAM', line, 100.0 * needed / beyond_l1) AS advice,
       printf('%d sectors were fetched from L2 or DRAM; the bytes requested by the lanes need %d', beyond_l1, needed) AS evidence
FROM (SELECT *, sum(needed * (1 - 1.0 * beyond_l1 / sectors)) OVER (PARTITION BY kernel) - needed * (1 - 1.0 * beyond_l1 / sectors) AS found
      FROM l WHERE space = 'global' AND access = 'load' AND sized AND sectors > 0)
WHERE beyond_l1 > 1.5 * needed AND beyond_l1 - needed > found -- the bytes that other lines find in L1 may be those that this line leaves unused
