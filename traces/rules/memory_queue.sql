-- Warps stalled on full memory instruction queues
-- of: the stall cycles
-- check: use fewer and wider accesses (v2, v4), or fewer sectors per access; the share must decrease (query stalls)
SELECT kernel, share, line, printf('%.3g %% of the stall cycles are on a full memory instruction queue, most at line %d', 100 * share, line) AS advice,
       printf('%d stall cycles with reason %s', cycles, reason) AS evidence
FROM w WHERE reason IN ('lg_throttle', 'mio_throttle', 'tex_throttle') AND share > 0.2
