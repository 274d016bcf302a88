-- Bottleneck analysis: shares of stall cycles by cause, and the traffic of each memory level (timing mode)
SELECT k.id AS kernel, k.name,
       round((SELECT value FROM stall_memory_dependency WHERE kernel = k.id), 1) AS "memory %",
       round((SELECT value FROM stall_exec_dependency WHERE kernel = k.id), 1) AS "results %",
       round((SELECT value FROM stall_sync WHERE kernel = k.id), 1) AS "barriers %",
       round((SELECT value FROM stall_pipe_busy WHERE kernel = k.id), 1) AS "pipes %",
       round((SELECT value FROM stall_memory_throttle WHERE kernel = k.id), 1) AS "queues %",
       round((SELECT value FROM stall_inst_fetch WHERE kernel = k.id), 1) AS "fetch %",
       round((SELECT value FROM stall_not_selected WHERE kernel = k.id), 1) AS "others ran %"
FROM kernel k WHERE :kernel IS NULL OR k.id = :kernel ORDER BY k.id;
