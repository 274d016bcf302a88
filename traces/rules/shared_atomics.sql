-- Atomics of many lanes on few words of shared memory
-- of: all passes
-- check: let each warp have words of its own, or add within the warp first (redux, match); passes of the line must fall (query atomics)
SELECT kernel, 1.0 * (wavefronts - requests) / all_passes AS share, line,
       printf('shared atomics at line %d take %.3g passes a request', line, 1.0 * wavefronts / requests) AS advice,
       printf('%d requests, %d passes: lanes that want one word take turns', requests, wavefronts) AS evidence
FROM l WHERE access IN ('atomic', 'reduction') AND space = 'shared' AND wavefronts > 8 * requests
