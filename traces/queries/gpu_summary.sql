-- Kernels, memory copies and memory sets of a CUDA program by time
WITH a AS (SELECT kind, CASE kind WHEN 'kernel' THEN name WHEN 'copy' THEN '[copy ' || name || ']' ELSE '[' || kind || ']' END AS name,
                  end_us - start_us AS us, bytes, estimated, spread_us FROM activity WHERE kind IN ('kernel', 'copy', 'set'))
SELECT round(100.0 * sum(us) / nullif((SELECT sum(us) FROM a), 0), 2) AS "time %", round(sum(us), 3) AS us, count(*) AS calls, round(avg(us), 3) AS average,
       round(min(us), 3) AS least, round(max(us), 3) AS most, sum(bytes) AS bytes, round(sum(bytes) / nullif(sum(us) * 1e3, 0), 3) AS "GB/s",
       sum(estimated) AS estimated, round(max(spread_us), 3) AS spread_us, name
FROM a GROUP BY name ORDER BY sum(us) DESC, name
