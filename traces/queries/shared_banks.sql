-- Words that lanes ask of each of 32 banks of shared memory (needs --trace-level mem): an even spread has no conflicts
SELECT kernel, address / 4 % 32 AS bank, count(*) AS lanes, count(DISTINCT address / 4) AS words
FROM mem_lane WHERE space = 'shared' AND (:kernel IS NULL OR kernel = :kernel) GROUP BY kernel, bank ORDER BY kernel, bank;
