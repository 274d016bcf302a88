-- Memory allocations of a CUDA program, largest first
SELECT memory, bytes, start_us, end_us, printf('0x%x', address) AS address FROM allocation ORDER BY bytes DESC, id
