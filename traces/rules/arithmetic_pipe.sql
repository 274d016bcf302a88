-- Warps stalled on a busy arithmetic pipe
-- of: the stall cycles
-- check: use cheaper instructions or another pipe: f32 instead of f64, shifts instead of multiplications, fewer conversions; the share must decrease (query expensive_sequences)
SELECT kernel, share, line, printf('%.3g %% of the stall cycles are on a busy arithmetic pipe, most at line %d', 100 * share, line) AS advice,
       printf('%d stall cycles with reason %s', cycles, reason) AS evidence
FROM w WHERE reason IN ('math_pipe_throttle') AND share > 0.2
