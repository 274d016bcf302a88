-- Accesses to shared memory that take more passes than they need
-- of: all passes
-- check: pad rows by one word, or let lanes walk rows; conflicts of the line must fall to 0 (query shared_banks shows the banks)
SELECT kernel, 1.0 * conflicts / all_passes AS share, line, printf('bank conflicts at line %d: %.3g passes per request', line, 1.0 * wavefronts / requests) AS advice,
       printf('%d of %d passes through shared memory were conflicts', conflicts, wavefronts) AS evidence
FROM l WHERE space = 'shared' AND access IN ('load', 'store') AND conflicts > 0.2 * wavefronts
