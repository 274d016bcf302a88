-- An arithmetic pipe that cannot keep up
-- of: the waiting
-- check: cheaper instructions or another pipe: f32 for f64, shifts for products, fewer conversions; the share must fall (query expensive_sequences)
SELECT kernel, share, line, printf('%.3g %% of the waiting is for a busy arithmetic pipe, most at line %d', 100 * share, line) AS advice,
       printf('%d cycles of %s before the instructions of the launch', cycles, reason) AS evidence
FROM w WHERE reason IN ('math_pipe_throttle') AND share > 0.2
