-- One line per launch: IPC, occupancy and memory efficiency
SELECT k.id AS kernel, k.name, k.status, k.cycles, k.inst_executed,
       round((SELECT value FROM ipc WHERE kernel = k.id), 3) AS ipc,
       round((SELECT value FROM achieved_occupancy WHERE kernel = k.id), 3) AS achieved_occupancy,
       round((SELECT value FROM warp_execution_efficiency WHERE kernel = k.id), 1) AS "lanes %",
       round((SELECT value FROM branch_efficiency WHERE kernel = k.id), 1) AS "branch %",
       round((SELECT value FROM gld_efficiency WHERE kernel = k.id), 1) AS "gld %",
       round((SELECT value FROM gst_efficiency WHERE kernel = k.id), 1) AS "gst %",
       round((SELECT value FROM dram_read_throughput WHERE kernel = k.id), 1) AS "dram read GB/s"
FROM kernel k WHERE :kernel IS NULL OR k.id = :kernel ORDER BY k.id;
