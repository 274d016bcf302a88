-- Atomics of many lanes on few words of shared memory
-- of: all requests to memory
-- check: let each warp have words of its own, or add within the warp first (redux, match); the cycles of the line must fall (query atomics)
SELECT kernel, 1.0 * requests / all_requests AS share, line,
       printf('shared atomics at line %d take %.3g cycles each', line, latency / requests) AS advice,
       printf('%d requests; one whose lanes want different words takes about 130 cycles (H200): lanes that want one word take turns', requests) AS evidence
FROM (SELECT kernel, ptx_line AS line, 1.0 * sum(latency) AS latency, sum(requests) AS requests,
             (SELECT sum(a.requests) FROM access a WHERE a.kernel = i.kernel) AS all_requests
      FROM i WHERE access IN ('atomic', 'reduction') AND space = 'shared' AND requests > 0 GROUP BY kernel, ptx_line) WHERE latency > 500 * requests
