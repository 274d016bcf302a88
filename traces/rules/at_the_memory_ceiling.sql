-- Device memory that is busy most of the time
-- of: DRAM’s bandwidth
-- check: move fewer bytes: smaller types, reuse in shared memory or registers, fusing kernels; metric dram__bytes_read.sum must fall
SELECT c.kernel, c.value / 100 AS share, NULL AS line, printf('DRAM is busy %.3g %% of what it can do', c.value) AS advice,
       'metric dram__throughput.avg.pct_of_peak_sustained_elapsed' AS evidence
FROM c WHERE c.name = 'dram__throughput.avg.pct_of_peak_sustained_elapsed' AND c.value > 60
