-- Waves of blocks on each multiprocessor, with the idle time of slots between blocks (needs --trace-level inst)
WITH b AS (SELECT *, row_number() OVER (PARTITION BY kernel, sm ORDER BY first_cycle, block) AS nth FROM block WHERE :kernel IS NULL OR kernel = :kernel)
SELECT kernel, nth, count(*) AS multiprocessors, min(first_cycle) AS "first start", max(first_cycle) AS "last start", min(last_cycle) AS "first end",
       max(last_cycle) AS "last end", round(avg(last_cycle - first_cycle), 1) AS "mean cycles"
FROM b GROUP BY kernel, nth ORDER BY kernel, nth;
