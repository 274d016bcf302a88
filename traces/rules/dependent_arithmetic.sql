-- Chains of instructions that each need the result before
-- of: the waiting
-- check: independent work between an instruction and the use of its result: two or more elements per thread, several sums; the share must fall (query stalls_by_line)
SELECT kernel, share, line, printf('%.3g %% of the waiting is for a result of arithmetic or shared memory, most at line %d', 100 * share, line) AS advice,
       printf('%d cycles of %s before the instructions of the launch', cycles, reason) AS evidence
FROM w WHERE reason IN ('wait', 'short_scoreboard') AND share > 0.4
-- the same word stands for constants that come one after the other (constant_divergence.sql)
AND (reason = 'wait' OR coalesce((SELECT sum(l.wavefronts - l.requests) FROM l WHERE l.kernel = w.kernel AND l.space = 'const'), 0) < 0.1 * (SELECT inst_executed FROM k WHERE k.id = w.kernel))
