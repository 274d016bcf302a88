-- Spread of the end cycles of the warps of a block: uneven work (timing mode, needs --trace-level inst)
SELECT kernel, block, count(*) AS warps, min(last_cycle) AS first_end, max(last_cycle) AS last_end, max(last_cycle) - min(last_cycle) AS spread,
       min(inst_executed) AS min_inst_executed, max(inst_executed) AS max_inst_executed
FROM warp WHERE :kernel IS NULL OR kernel = :kernel GROUP BY kernel, block ORDER BY spread DESC LIMIT coalesce(:limit, 20);
