-- Warps with the longest execution times (timing mode, needs --trace-level inst)
SELECT kernel, block, warp, last_cycle - first_cycle AS cycles, inst_executed, stall_cycles, round(1.0 * lanes / executed, 1) AS "lanes/instruction"
FROM warp WHERE :kernel IS NULL OR kernel = :kernel ORDER BY cycles DESC LIMIT coalesce(:limit, 20);
