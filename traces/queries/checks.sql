-- Consistency checks of this trace: every value must be 1
WITH rows_of AS MATERIALIZED (SELECT kernel, count(*) AS n, sum(weight) AS weight FROM inst WHERE :kernel IS NULL OR kernel = :kernel GROUP BY kernel),
warps_of AS MATERIALIZED (SELECT kernel, sum(executed) AS executed, sum(inst_executed) AS inst_executed FROM warp GROUP BY kernel),
complete AS (SELECT *, first_inst IS NOT NULL AND NOT dropped AND NOT filtered AS whole FROM kernel)
SELECT k.id AS kernel, k.name, (SELECT coalesce(sum(issues), 0) FROM pc_stat WHERE kernel = k.id) = k.inst_executed AS "issues = inst_executed",
       (SELECT coalesce(sum(lanes), 0) FROM pc_stat WHERE kernel = k.id) =
           coalesce((SELECT value FROM counter WHERE kernel = k.id AND name = 'smsp__thread_inst_executed_pred_on.sum'), k.thread_inst_executed)
           AS "lanes = thread instructions",
       CASE WHEN NOT k.whole THEN 1
            ELSE (SELECT sum(executed) FROM pc_stat WHERE kernel = k.id AND (issues > 0 OR k.mode = 'functional')) = coalesce(r.n, 0) END AS "executed = rows of inst",
       CASE WHEN NOT k.whole THEN 1 ELSE w.executed = coalesce(r.n, 0) END AS "warps = rows of inst",
       CASE WHEN NOT k.whole THEN 1 ELSE r.weight = k.inst_executed END AS "weight of inst = inst_executed",
       CASE WHEN k.first_inst IS NULL THEN 1 ELSE w.inst_executed = k.inst_executed END AS "warps = inst_executed"
FROM complete k LEFT JOIN rows_of r ON r.kernel = k.id LEFT JOIN warps_of w ON w.kernel = k.id WHERE :kernel IS NULL OR k.id = :kernel ORDER BY k.id;
