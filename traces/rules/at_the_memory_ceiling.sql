-- Launches limited by the bandwidth of device memory
-- of: the DRAM bandwidth
-- check: transfer fewer bytes: smaller types, reuse in shared memory or registers, kernel fusion; metric dram__bytes_read.sum must decrease
SELECT c.kernel, c.value / 100 AS share, NULL AS line, printf('DRAM throughput is %.3g %% of its peak', c.value) AS advice,
       'metric dram__throughput.avg.pct_of_peak_sustained_elapsed' AS evidence
FROM c WHERE c.name = 'dram__throughput.avg.pct_of_peak_sustained_elapsed' AND c.value > 60
