-- Atomics of many lanes on few addresses
-- of: all requests to memory
-- check: add within the warp or block first (redux, shared memory), then one atomic, or spread the addresses; requests of the line must fall (query atomics)
SELECT kernel, (1 - 1 / contention) * requests / all_requests AS share, line,
       printf('atomics at line %d contend: %.3g lanes access one address', line, contention) AS advice,
       printf('%d requests of %.3g lanes each: %.3g sectors in %.3g lines', requests, lanes / requests, 1.0 * sectors / requests, 1.0 * wavefronts / requests) AS evidence
-- Lanes on one address either join (then a sector serves many) or take turns (then a line of four sectors counts more than four).
FROM (SELECT *, max(lanes / sectors, 1.0 * sectors / max(wavefronts, 1)) AS contention FROM l
      WHERE access IN ('atomic', 'reduction') AND space = 'global' AND sectors > 0) WHERE contention > 12
