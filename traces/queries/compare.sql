-- Metrics of two launches side by side (a=N b=N; default: the first two), largest relative change first
WITH pair AS (SELECT coalesce(:a, 1) AS a, coalesce(:b, 2) AS b),
     x AS (SELECT name, value FROM metric WHERE kernel = (SELECT a FROM pair)),
     y AS (SELECT name, value FROM metric WHERE kernel = (SELECT b FROM pair))
SELECT x.name, x.value AS a, y.value AS b, round(y.value / nullif(x.value, 0), 3) AS "b/a"
FROM x JOIN y ON y.name = x.name WHERE x.value <> y.value
ORDER BY abs(y.value - x.value) / max(abs(x.value), abs(y.value)) DESC, x.name;
