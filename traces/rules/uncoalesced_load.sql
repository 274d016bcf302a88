-- Uncoalesced global loads
-- of: all sectors
-- check: map consecutive lanes to consecutive addresses, or stage a tile in shared memory; sectors of the line must decrease (query uncoalesced)
SELECT kernel, 1.0 * (sectors - needed) / all_sectors AS share, line,
       printf('uncoalesced loads at line %d: %.3g sectors per request, the minimum is %.3g', line, 1.0 * sectors / requests, 1.0 * needed / requests) AS advice,
       printf('%d requests transferred %d sectors of 32 bytes; %.3g active lanes of %d bytes need %d', requests, sectors, lanes / requests, bytes, needed) AS evidence
FROM l WHERE space = 'global' AND access = 'load' AND sized AND sectors > 1.25 * needed
