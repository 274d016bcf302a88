-- Blocks that are no whole number of warps
-- of: the lanes
-- check: a multiple of the lanes of a warp as threads per block; metric warp_execution_efficiency must rise
SELECT kernel, 1.0 * (lanes - block % lanes) / (block + lanes - block % lanes) AS share, NULL AS line,
       printf('%d threads per block are no whole number of warps', block) AS advice, printf('the last warp of each block has %d lanes', block % lanes) AS evidence
FROM o, (SELECT count(*) AS lanes FROM lane) WHERE block % lanes <> 0
