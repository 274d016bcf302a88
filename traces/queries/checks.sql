-- Consistency checks of this trace: every value must be 1
SELECT k.id AS kernel, k.name, (SELECT coalesce(sum(issues), 0) FROM pc_stat WHERE kernel = k.id) = k.inst_executed AS "issues = inst_executed",
       (SELECT coalesce(sum(lanes), 0) FROM pc_stat WHERE kernel = k.id) =
           coalesce((SELECT value FROM counter WHERE kernel = k.id AND name = 'smsp__thread_inst_executed_pred_on.sum'), k.thread_inst_executed)
           AS "lanes = thread instructions",
       CASE WHEN k.first_inst IS NULL OR k.dropped OR k.filtered THEN 1
            ELSE (SELECT sum(executed) FROM pc_stat WHERE kernel = k.id AND (issues > 0 OR k.mode = 'functional')) = (SELECT count(*) FROM inst WHERE kernel = k.id) END
           AS "executed = rows of inst",
       CASE WHEN k.first_inst IS NULL OR k.dropped OR k.filtered THEN 1
            ELSE (SELECT sum(executed) FROM warp WHERE kernel = k.id) = (SELECT count(*) FROM inst WHERE kernel = k.id) END
           AS "warps = rows of inst",
       CASE WHEN k.first_inst IS NULL OR k.dropped OR k.filtered THEN 1
            ELSE (SELECT sum(weight) FROM inst WHERE kernel = k.id) = k.inst_executed END AS "weight of inst = inst_executed",
       CASE WHEN k.first_inst IS NULL THEN 1
            ELSE (SELECT sum(inst_executed) FROM warp WHERE kernel = k.id) = k.inst_executed END AS "warps = inst_executed"
FROM kernel k WHERE :kernel IS NULL OR k.id = :kernel ORDER BY k.id;
