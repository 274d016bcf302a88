-- Shared-memory accesses with bank conflicts
-- of: all wavefronts
-- check: pad rows by one word, or map consecutive lanes to consecutive words; conflicts of the line must decrease to 0 (query shared_banks shows the banks)
SELECT kernel, 1.0 * conflicts / all_passes AS share, line, printf('bank conflicts at line %d: %.3g wavefronts per request', line, 1.0 * wavefronts / requests) AS advice,
       printf('%d of %d shared-memory wavefronts are bank conflicts', conflicts, wavefronts) AS evidence
FROM l WHERE space = 'shared' AND access IN ('load', 'store') AND conflicts > 0.2 * wavefronts
