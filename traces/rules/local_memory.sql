-- Local memory: register spills and per-thread arrays
-- of: all sectors
-- check: use arrays with constant indices, fewer live values, or a higher register limit; query spills must be empty
SELECT kernel, 1.0 * sum(sectors) / max(all_sectors) AS share, max(ptx_line) AS line,
       printf('local memory causes traffic: %d sectors', sum(sectors)) AS advice,
       printf('%d instructions access local memory', count(*)) AS evidence
FROM i WHERE space = 'local' AND sectors > 0 GROUP BY kernel
