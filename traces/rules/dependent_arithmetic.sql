-- Chains of dependent instructions
-- of: the stall cycles
-- check: increase instruction-level parallelism: two or more elements per thread, several accumulators; the share must decrease (query stalls_by_line)
SELECT kernel, share, line, printf('%.3g %% of the stall cycles are waits for results of arithmetic or shared-memory instructions, most at line %d', 100 * share, line) AS advice,
       printf('%d stall cycles with reason %s', cycles, reason) AS evidence
FROM w WHERE reason IN ('wait', 'short_scoreboard') AND share > 0.4
-- serialized constant loads have the same stall reason (constant_divergence.sql)
AND (reason = 'wait' OR coalesce((SELECT sum(l.wavefronts - l.requests) FROM l WHERE l.kernel = w.kernel AND l.space = 'const'), 0) < 0.1 * (SELECT inst_executed FROM k WHERE k.id = w.kernel))
