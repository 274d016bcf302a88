-- Warps that wait for their instructions
-- of: the waiting
-- check: a short launch waits for its first instructions only; a long one should have a smaller body: less unrolling, fewer inlined calls (query stalls)
SELECT kernel, share, line, printf('%.3g %% of the waiting is for instructions, most at line %d', 100 * share, line) AS advice,
       printf('%d cycles of %s before the instructions of the launch', cycles, reason) AS evidence
FROM w WHERE reason IN ('no_instruction') AND share > 0.2
