-- Instructions that hardware runs as long sequences
-- of: all instructions
-- check: division, remainder, roots and f64 functions run as sequences: use approximate forms or shifts; issues of the line must fall (query expensive_sequences)
SELECT kernel, 1.0 * sum(issues) / max(inst_executed) AS share, ptx_line AS line,
       printf('line %d runs as %.3g hardware instructions each time', ptx_line, 1.0 * sum(issues) / sum(executed)) AS advice,
       printf('%d of %d instructions', sum(issues), max(inst_executed)) AS evidence
FROM i -- not what a warp does to add for all its lanes at once
WHERE access IS NULL AND text NOT GLOB '~leader*' AND text NOT GLOB '~gather*' AND issues > 3 * executed AND executed > 0 GROUP BY kernel, ptx_line HAVING sum(issues) > 0.1 * max(inst_executed)
