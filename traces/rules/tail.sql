-- Tail effect: a partial last wave of blocks
-- of: the last wave
-- check: use a grid of a whole number of waves, or a grid-stride loop; metric launch__waves_per_multiprocessor must be close to a whole number
SELECT kernel, 1.0 - waves / (CAST(waves AS INTEGER) + 1) AS share, NULL AS line,
       printf('tail effect: the last wave of blocks is mostly empty (%.3g waves)', waves) AS advice,
       printf('%d blocks; while the last ones execute, the other multiprocessors are idle', blocks) AS evidence
FROM o WHERE waves > 1 AND waves < 4 AND waves - CAST(waves AS INTEGER) BETWEEN 0.01 AND 0.4
