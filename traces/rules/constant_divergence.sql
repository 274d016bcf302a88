-- Constant loads with different addresses per lane
-- of: all wavefronts of constant loads
-- check: use one address per warp for .const, or a table in shared or global memory; wavefronts of the line must decrease to one per request
SELECT kernel, sum(more) / avg(passes) AS share, line,
       printf('lanes read different constants at %d %s, most at line %d: %.3g serialized accesses per request', count(*), iif(count(*) = 1, 'line', 'lines'), line, 1.0 * sum(wavefronts) / sum(requests)) AS advice,
       printf('%d requests took %d wavefronts: the constant cache serves one address at a time', sum(requests), sum(wavefronts)) AS evidence, max(more)
FROM (SELECT *, wavefronts - requests AS more, sum(wavefronts) OVER (PARTITION BY kernel) AS passes FROM l WHERE space = 'const')
WHERE wavefronts > 1.5 * requests GROUP BY kernel
