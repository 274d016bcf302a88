-- Grids too small to fill the GPU
-- of: the GPU
-- check: use more or smaller blocks, or concurrent launches; waves must be at least 1 (metric launch__waves_per_multiprocessor)
SELECT kernel, 1.0 - waves AS share, NULL AS line,
       printf('the grid is too small: %d %s for %d multiprocessors', blocks, iif(blocks = 1, 'block', 'blocks'), sms) AS advice,
       printf('the grid is %s of a wave: theoretical occupancy %.3g %%, achieved %.3g %%', iif(waves < 0.01, 'less than 0.01', printf('%.3g', waves)), 100 * possible, 100 * achieved) AS evidence
FROM o WHERE waves < 0.75 AND blocks < 4 * sms
