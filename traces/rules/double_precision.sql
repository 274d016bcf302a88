-- Double-precision arithmetic, required or caused by a constant
-- of: all instructions
-- check: use f32 where its 24 bits of precision suffice, and f32 literals (0f...); instructions of the fp64 pipe must decrease (metric smsp__inst_executed_pipe_fp64.sum)
SELECT kernel, 1.0 * sum(issues) / max(inst_executed) AS share, max(ptx_line) AS line,
       printf('%d of %d instructions are double-precision arithmetic', sum(issues), max(inst_executed)) AS advice,
       printf('%d machine instructions with .f64, the last at line %d', count(*), max(ptx_line)) AS evidence
FROM i WHERE access IS NULL AND text GLOB '*.f64*' AND text NOT GLOB '*mma*' GROUP BY kernel HAVING sum(issues) > 0.1 * max(inst_executed)
