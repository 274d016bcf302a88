-- Theoretical occupancy limited by registers, shared memory or block size
-- of: the warp slots
-- check: reduce the limiting resource and compare cycles: more warps help only if warps wait for memory or results (query occupancy)
SELECT kernel, 1.0 - possible AS share, NULL AS line,
       printf('%s limit theoretical occupancy to %.3g %%', CASE WHEN by_registers <= by_shared AND by_registers <= by_warps AND by_registers <= by_blocks THEN printf('%d registers per thread', registers)
              WHEN by_shared <= by_warps AND by_shared <= by_blocks THEN printf('%d bytes of shared memory per block', shared)
              ELSE printf('blocks of %d threads', block) END, 100 * possible) AS advice,
       printf('blocks per multiprocessor: %g by registers, %g by shared memory, %g by warps, %g by block slots', by_registers, by_shared, by_warps, by_blocks) AS evidence
FROM o WHERE possible < 0.5
