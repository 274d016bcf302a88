-- Stores and atomics that end long after the last warp
-- of: the cycles
-- check: send fewer of them: aggregate within the warp or block first (redux, shared memory), or distribute the addresses; the share must decrease
SELECT kernel, 1.0 * late / cycles AS share, line,
       printf('%.3g %% of the cycles follow the exit of the last warp: %s are still executed, most of line %d', 100.0 * late / cycles, kind, line) AS advice,
       printf('the last warp exits after about %d of %d cycles', cycles - late, cycles) AS evidence
FROM (SELECT k.id AS kernel, k.cycles, k.cycles - c.value - coalesce((SELECT f.value FROM c f WHERE f.kernel = k.id AND f.name = 'ptxloom__page_fault_cycles.sum'), 0) AS late, iif(l.access = 'store', 'stores', 'atomics') AS kind, l.line, max((l.access <> 'store') * 1e15 + l.sectors)
      FROM k JOIN c ON c.kernel = k.id AND c.name = 'sm__cycles_active.max' JOIN l ON l.kernel = k.id AND l.space = 'global' AND l.access IN ('store', 'atomic', 'reduction')
      GROUP BY k.id)
WHERE late > 2500 AND late > 0.25 * cycles
