-- How often the sectors of global memory are fetched and by how many multiprocessors: data that all share, or stream through (needs --trace-level mem)
WITH s AS (SELECT DISTINCT l.kernel, m.sm, l.inst, l.address / 32 AS sector FROM mem_lane l JOIN mem m ON m.id = l.mem
           WHERE l.space = 'global' AND l.kind = 'load' AND (:kernel IS NULL OR l.kernel = :kernel)),
t AS (SELECT kernel, sector, count(*) AS uses, count(DISTINCT sm) AS sms FROM s GROUP BY kernel, sector)
SELECT kernel, uses, count(*) AS sectors, count(*) * 32 AS bytes, round(avg(sms), 1) AS "multiprocessors each", round(100.0 * count(*) / sum(count(*)) OVER (PARTITION BY kernel), 1) AS "% of sectors"
FROM t GROUP BY kernel, uses ORDER BY kernel, uses;
