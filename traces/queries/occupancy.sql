-- Theoretical and achieved occupancy, and the limiting resource
SELECT k.id AS kernel, k.name, round(k.theoretical_occupancy, 3) AS theoretical,
       round((SELECT value FROM achieved_occupancy WHERE kernel = k.id), 3) AS achieved,
       k.registers, k.static_shared + k.dynamic_shared AS shared,
       (SELECT value FROM "launch__occupancy_limit_blocks" WHERE kernel = k.id) AS "limit: blocks",
       (SELECT value FROM launch__occupancy_limit_warps WHERE kernel = k.id) AS warps,
       (SELECT value FROM launch__occupancy_limit_registers WHERE kernel = k.id) AS regs,
       (SELECT value FROM launch__occupancy_limit_shared_mem WHERE kernel = k.id) AS smem
FROM kernel k WHERE :kernel IS NULL OR k.id = :kernel;
