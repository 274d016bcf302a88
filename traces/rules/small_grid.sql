-- Grids that leave multiprocessors without enough blocks
-- of: the machine
-- check: more or smaller blocks, or several launches at once; waves must come to 1 or more (metric launch__waves_per_multiprocessor)
SELECT kernel, 1.0 - waves AS share, NULL AS line,
       printf('%d %s most of %d multiprocessors without enough work', blocks, iif(blocks = 1, 'block leaves', 'blocks leave'), sms) AS advice,
       printf('the grid is %s of a wave: occupancy %.3g %% possible, %.3g %% achieved', iif(waves < 0.01, 'less than 0.01', printf('%.3g', waves)), 100 * possible, 100 * achieved) AS evidence
FROM o WHERE waves < 0.75 AND blocks < 4 * sms
