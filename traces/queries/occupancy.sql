-- Theoretical and achieved occupancy, and the blocks of a multiprocessor by each limit
SELECT k.id AS kernel, k.name, round(k.theoretical_occupancy, 3) AS theoretical,
       round((SELECT value FROM achieved_occupancy WHERE kernel = k.id), 3) AS achieved,
       k.registers, k.static_shared + k.dynamic_shared AS shared,
       (SELECT value FROM launch__occupancy_limit_blocks WHERE kernel = k.id) AS by_blocks,
       (SELECT value FROM launch__occupancy_limit_warps WHERE kernel = k.id) AS by_warps,
       (SELECT value FROM launch__occupancy_limit_registers WHERE kernel = k.id) AS by_registers,
       (SELECT value FROM launch__occupancy_limit_shared_mem WHERE kernel = k.id) AS by_shared,
       (SELECT value FROM launch__occupancy_limit_barriers WHERE kernel = k.id) AS by_barriers
FROM kernel k WHERE :kernel IS NULL OR k.id = :kernel;
