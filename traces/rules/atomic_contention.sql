-- Atomics of many lanes on few addresses
-- of: all requests to memory
-- check: add within the warp or block first (redux, shared memory), then one atomic, or spread the addresses; requests of the line must fall (query atomics)
SELECT kernel, (lanes - sectors) / lanes * requests / all_requests AS share, line,
       printf('atomics at line %d get in each other''s way: %.3g lanes for each sector', line, lanes / sectors) AS advice,
       printf('%d requests of %.3g lanes each touch %.3g sectors each', requests, lanes / requests, 1.0 * sectors / requests) AS evidence
FROM l WHERE access IN ('atomic', 'reduction') AND space = 'global' AND sectors > 0 AND lanes > 12.0 * sectors
