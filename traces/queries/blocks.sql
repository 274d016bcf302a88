-- Multiprocessor and start and end cycles of each block (needs --trace-level inst)
SELECT kernel, block, x, y, z, sm, first_cycle, last_cycle, last_cycle - first_cycle AS cycles, warps, inst_executed
FROM block WHERE :kernel IS NULL OR kernel = :kernel ORDER BY kernel, first_cycle, block LIMIT coalesce(:limit, 100);
