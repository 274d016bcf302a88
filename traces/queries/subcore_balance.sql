-- Work of each warp scheduler of each multiprocessor (needs --trace-level inst)
SELECT w.kernel, b.sm, w.subcore, count(*) AS warps, sum(w.inst_executed) AS inst_executed, sum(w.stall_cycles) AS stall_cycles
FROM warp w JOIN block b ON b.kernel = w.kernel AND b.block = w.block
WHERE :kernel IS NULL OR w.kernel = :kernel GROUP BY w.kernel, b.sm, w.subcore ORDER BY w.kernel, b.sm, w.subcore;
