-- Global stores whose lanes lie in more sectors than their bytes need
-- of: all sectors
-- check: neighbouring lanes to neighbouring addresses, or a tile in shared memory; sectors of the line must fall (query uncoalesced)
SELECT kernel, 1.0 * (sectors - needed) / all_sectors AS share, line,
       printf('uncoalesced stores at line %d: %.3g sectors per request; %.3g would do', line, 1.0 * sectors / requests, 1.0 * needed / requests) AS advice,
       printf('%d requests moved %d sectors of 32 bytes; %.3g lanes of %d bytes each ask for %d', requests, sectors, lanes / requests, bytes, needed) AS evidence
FROM l WHERE space = 'global' AND access = 'store' AND sized AND sectors > 1.25 * needed
