-- 128-byte lines of memory that lanes touch most (needs --trace-level mem; looks at every lane)
WITH top AS (SELECT kernel, space, address / 128 AS line, count(*) AS lanes FROM mem_lane
             WHERE :kernel IS NULL OR kernel = :kernel GROUP BY 1, 2, 3 ORDER BY lanes DESC, line LIMIT coalesce(:limit, 20))
SELECT kernel, space, printf('0x%x', line * 128) AS line, lanes FROM top;
