-- Spilled registers and arrays of a thread in local memory
-- of: all sectors
-- check: arrays with constant indices, fewer live values, or a larger register limit; query spills must be empty
SELECT kernel, 1.0 * sum(sectors) / max(all_sectors) AS share, max(ptx_line) AS line,
       printf('local memory takes part in the traffic: %d sectors', sum(sectors)) AS advice,
       printf('%d instructions read or write it', count(*)) AS evidence
FROM i WHERE space = 'local' AND sectors > 0 GROUP BY kernel
