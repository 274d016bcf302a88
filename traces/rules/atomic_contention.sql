-- Atomics of many lanes on few addresses
-- of: all memory requests
-- check: aggregate within the warp or block first (redux, shared memory) and issue one atomic, or distribute the addresses; requests of the line must decrease (query atomics)
SELECT kernel, (1 - 1 / contention) * requests / all_requests AS share, line,
       printf('contended atomics at line %d: %.3g lanes access the same address', line, contention) AS advice,
       printf('%d requests of %.3g lanes each: %.3g sectors in %.3g lines', requests, lanes / requests, 1.0 * sectors / requests, 1.0 * wavefronts / requests) AS evidence
-- Lanes with the same address are either combined (a sector then serves several) or serialized (a line of four sectors then counts more than four).
FROM (SELECT *, max(lanes / sectors, 1.0 * sectors / max(wavefronts, 1)) AS contention FROM l
      WHERE access IN ('atomic', 'reduction') AND space = 'global' AND sectors > 0) WHERE contention > 12 OR sectors > 4 * wavefronts
