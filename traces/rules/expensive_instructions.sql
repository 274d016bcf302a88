-- Instructions that expand to long sequences
-- of: all instructions
-- check: division, remainder, roots and f64 functions expand to sequences: use approximate forms or shifts; issues of the line must decrease (query expensive_sequences)
SELECT kernel, 1.0 * sum(issues) / max(inst_executed) AS share, ptx_line AS line,
       printf('line %d expands to %.3g hardware instructions per execution', ptx_line, 1.0 * sum(issues) / sum(times)) AS advice,
       printf('%d of %d instructions', sum(issues), max(inst_executed)) AS evidence
FROM (SELECT i.*, l.text GLOB '*div.[us]32*' OR l.text GLOB '*rem.[us]32*' AS divides, -- counted by one instruction of the expansion
             CASE WHEN l.text GLOB '*div.[us]32*' OR l.text GLOB '*rem.[us]32*' THEN executed * (i.text GLOB '*mul.hi.u32*') ELSE executed END AS times
      FROM i LEFT JOIN source_line l ON l.source = i.ptx_source AND l.line = i.ptx_line)
WHERE access IS NULL AND text NOT GLOB '~leader*' AND text NOT GLOB '~gather*' AND text NOT GLOB '~count*' -- excludes the warp-aggregated atomics
  AND (issues > 3 * executed OR divides) AND executed > 0
GROUP BY kernel, ptx_line HAVING sum(issues) > 0.1 * max(inst_executed) AND sum(times) > 0 AND sum(issues) > 3 * sum(times)
