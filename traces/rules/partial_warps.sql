-- Blocks that are no whole number of warps
-- of: the lanes
-- check: a multiple of 32 threads a block; metric warp_execution_efficiency must rise
SELECT kernel, 1.0 * (32 - block % 32) / (block + 32 - block % 32) AS share, NULL AS line,
       printf('%d threads a block are no whole number of warps', block) AS advice, printf('the last warp of each block has %d lanes', block % 32) AS evidence
FROM o WHERE block % 32 <> 0
