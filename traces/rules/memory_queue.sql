-- Full queues for memory instructions
-- of: the waiting
-- check: fewer and wider accesses (v2, v4), or fewer sectors an access; the share must fall (query stalls)
SELECT kernel, share, line, printf('%.3g %% of the waiting is for a place in a memory queue, most at line %d', 100 * share, line) AS advice,
       printf('%d cycles of %s before the instructions of the launch', cycles, reason) AS evidence
FROM w WHERE reason IN ('lg_throttle', 'mio_throttle', 'tex_throttle') AND share > 0.2
