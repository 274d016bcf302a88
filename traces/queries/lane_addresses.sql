-- Addresses of one memory access by lane (mem=1; needs --trace-level mem)
SELECT lane, printf('0x%x', address) AS address, address % 128 / 32 AS sector, address / 4 % 32 AS bank
FROM mem_lane WHERE mem = coalesce(:mem, 1) ORDER BY lane;
