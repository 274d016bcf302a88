-- A last wave of blocks that fills only a part of the machine
-- of: the last wave
-- check: a grid of a whole number of waves, or blocks that loop; metric launch__waves_per_multiprocessor must come to a whole number
SELECT kernel, 1.0 - waves / (CAST(waves AS INTEGER) + 1) AS share, NULL AS line,
       printf('the last wave of blocks is mostly empty: %.3g waves', waves) AS advice,
       printf('%d blocks; while the last ones run, the other multiprocessors wait', blocks) AS evidence
FROM o WHERE waves > 1 AND waves < 4 AND waves - CAST(waves AS INTEGER) BETWEEN 0.01 AND 0.4
