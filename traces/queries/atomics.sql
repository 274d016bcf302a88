-- Atomics and reductions: lanes per distinct address of a request; lanes with the same address are serialized (needs --trace-level mem)
WITH m AS (SELECT kernel, pc, mem, count(*) AS lanes, count(DISTINCT address) AS distinct_addresses FROM mem_lane
           WHERE kind IN ('atomic', 'reduction') AND (:kernel IS NULL OR kernel = :kernel) GROUP BY mem)
SELECT m.kernel, m.pc, i.text, count(*) AS requests, sum(m.lanes) AS "lane accesses", round(1.0 * sum(m.lanes) / sum(m.distinct_addresses), 1) AS "lanes/address",
       (SELECT count(DISTINCT x.address) FROM mem_lane x WHERE x.kernel = m.kernel AND x.pc = m.pc) AS addresses, i.ptx_line, i.cuda
FROM m JOIN kernel k ON k.id = m.kernel JOIN instruction i ON i.module = k.module AND i.pc = m.pc GROUP BY m.kernel, m.pc ORDER BY "lane accesses" DESC;
