-- Shared-memory carve-out that leaves too little L1 cache
-- of: all sectors
-- check: use less shared memory per block, or larger blocks that share it; metric global_hit_rate must increase
SELECT o.kernel, 1.0 * (a.sectors - a.l1_hits) / a.sectors AS share, NULL AS line,
       printf('shared memory occupies %.3g KiB of L1, and %.3g %% of the load sectors miss in the remainder', s.value / 1024, 100.0 * (a.sectors - a.l1_hits) / a.sectors) AS advice,
       printf('%d bytes of shared memory per block; %d of %d sectors of global loads hit in L1, although the launch read only %d bytes from DRAM', o.shared, a.l1_hits, a.sectors, d.value) AS evidence
FROM o JOIN c s ON s.kernel = o.kernel AND s.name = 'launch__shared_mem_config_size'
JOIN access a ON a.kernel = o.kernel AND a.space = 'global' AND a.kind = 'load' JOIN c d ON d.kernel = o.kernel AND d.name = 'dram__bytes_read.sum'
JOIN k ON k.id = o.kernel JOIN machine_value z ON z.machine = k.machine AND z.section = 'l1' AND z.key = 'size'
WHERE 32.0 * a.sectors / k.sms > z.value * 1024 - s.value -- the bytes that a multiprocessor loads exceed the remaining L1
AND 32.0 * a.sectors / k.sms > d.value -- it loads more bytes than DRAM delivers: some repeatedly
AND s.value > 131072 AND a.sectors > 0 AND a.l1_hits < 0.5 * a.sectors AND d.value < 16.0 * a.sectors
