-- Busy time of each stream, and how much of it overlaps with other streams
WITH a AS (SELECT stream, start_us AS s, end_us AS e FROM activity WHERE end_us > start_us),
p AS (SELECT s AS t FROM a UNION SELECT e FROM a),
w AS (SELECT t AS s, lead(t) OVER (ORDER BY t) AS e FROM p),
c AS (SELECT w.s, w.e, a.stream, count(*) OVER (PARTITION BY w.s) AS streams
      FROM w JOIN a ON a.s < w.e AND a.e > w.s GROUP BY w.s, w.e, a.stream)
SELECT stream, round(sum(e - s), 3) AS us, round(sum(iif(streams > 1, e - s, 0)), 3) AS overlapped_us,
       round(100.0 * sum(iif(streams > 1, e - s, 0)) / nullif(sum(e - s), 0), 1) AS "overlapped %"
FROM c GROUP BY stream ORDER BY stream
