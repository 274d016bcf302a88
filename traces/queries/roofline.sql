-- Arithmetic intensity: thread instructions without memory access per byte of device memory
SELECT k.id AS kernel, k.name,
       coalesce((SELECT sum(s.lanes) FROM pc_stat s JOIN instruction i ON i.module = s.module AND i.pc = s.pc
                 WHERE s.kernel = k.id AND i.access IS NULL), 0) AS operations,
       (SELECT value FROM "dram__bytes_read.sum" WHERE kernel = k.id) + (SELECT value FROM "dram__bytes_write.sum" WHERE kernel = k.id)
           AS "dram bytes",
       k.duration_us, (SELECT value FROM dram_read_throughput WHERE kernel = k.id) AS "read GB/s",
       (SELECT value FROM dram_write_throughput WHERE kernel = k.id) AS "write GB/s"
FROM kernel k WHERE :kernel IS NULL OR k.id = :kernel ORDER BY k.id;
