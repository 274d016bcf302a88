-- Warps whose lanes diverge at branches
-- of: the lanes
-- check: sort the work so that a warp takes one path, or replace the branch by a select; metric warp_execution_efficiency must increase (query divergence)
SELECT kernel, 1.0 - 1.0 * thread / nullif(inst * 1.0 * lanes, 0) AS share, line,
       printf('warps diverge, most at line %d: %.3g of %d lanes are active on average', line, 1.0 * thread / inst, lanes) AS advice,
       printf('%d branches, %d of them diverged', branches, divergent) AS evidence
FROM (SELECT k.id AS kernel, (SELECT count(*) FROM lane) AS lanes, k.thread_inst_executed AS thread, k.inst_executed AS inst, sum(i.branches) AS branches, sum(i.divergent) AS divergent,
             (SELECT j.ptx_line FROM i j WHERE j.kernel = k.id ORDER BY j.divergent DESC LIMIT 1) AS line
      FROM k JOIN i ON i.kernel = k.id GROUP BY k.id)
WHERE divergent > 0.05 * branches AND thread < 0.75 * lanes * inst
