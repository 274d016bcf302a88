-- CUDA API calls by time
SELECT round(100.0 * sum(end_us - start_us) / nullif((SELECT sum(end_us - start_us) FROM api_call), 0), 2) AS "time %", round(sum(end_us - start_us), 3) AS us,
       count(*) AS calls, round(avg(end_us - start_us), 3) AS average, round(min(end_us - start_us), 3) AS least, round(max(end_us - start_us), 3) AS most,
       count(error) AS errors, name
FROM api_call GROUP BY name ORDER BY sum(end_us - start_us) DESC, name
