-- CUDA API calls in order
SELECT start_us, round(end_us - start_us, 3) AS us, thread, name, result, error FROM api_call ORDER BY id
