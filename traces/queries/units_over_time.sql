-- Sectors at each L2 slice and DRAM channel, summed over the launch, with the busiest window (timing mode, needs --trace-level inst)
SELECT kernel, component, unit, sum(value) AS sectors, round(sum(value) * 1.0 / avg(sum(value)) OVER (PARTITION BY kernel, component), 3) AS of_average,
       max(value) AS most_in_a_window, max(cycles) AS window_cycles
FROM unit_time WHERE (:kernel IS NULL OR kernel = :kernel) GROUP BY kernel, component, unit ORDER BY kernel, component, sectors DESC;
