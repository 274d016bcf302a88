-- Block sizes that are not a multiple of the warp size
-- of: the lanes
-- check: use a multiple of the warp size as threads per block; metric warp_execution_efficiency must increase
SELECT kernel, 1.0 * (lanes - block % lanes) / (block + lanes - block % lanes) AS share, NULL AS line,
       printf('%d threads per block are not a multiple of the warp size', block) AS advice, printf('the last warp of each block has only %d active lanes', block % lanes) AS evidence
FROM o, (SELECT count(*) AS lanes FROM lane) WHERE block % lanes <> 0
