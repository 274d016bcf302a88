-- Contended atomics on shared memory
-- of: all memory requests
-- check: privatise the words per warp, or aggregate within the warp first (redux, match); the cycles of the line must decrease (query atomics)
SELECT kernel, 1.0 * requests / all_requests AS share, line,
       printf('shared atomics at line %d take %.3g cycles each', line, latency / operations) AS advice,
       printf('%d requests for %d operations; one whose lanes access different words takes about 130 cycles (H200): lanes that access one word are serialized',
              requests, operations) AS evidence
FROM (SELECT kernel, ptx_line AS line, 1.0 * sum(latency) AS latency, sum(requests) AS requests,
             -- a floating-point sum is a compare-and-swap loop; the lanes of each operation enter it after its own ~bssy, possibly diverged
             sum(iif(text LIKE '%~cast%', (SELECT (b.lanes + 31) / 32 FROM i b WHERE b.kernel = i.kernel AND b.pc < i.pc AND b.text = '~bssy' ORDER BY b.pc DESC LIMIT 1),
                     requests)) AS operations,
             (SELECT sum(a.requests) FROM access a WHERE a.kernel = i.kernel) AS all_requests
      FROM i WHERE access IN ('atomic', 'reduction') AND space = 'shared' AND requests > 0 GROUP BY kernel, ptx_line) WHERE latency > 200 * operations
