-- Lanes that read different constants
-- of: all passes of constants
-- check: one address a warp for .const, or a table in shared or global memory; passes of the line must fall to one a request
SELECT kernel, 1.0 * (wavefronts - requests) / sum(wavefronts) OVER (PARTITION BY kernel) AS share, line,
       printf('lanes read different constants at line %d: %.3g accesses one after the other', line, 1.0 * wavefronts / requests) AS advice,
       printf('%d requests became %d passes: the constant cache serves one address at a time', requests, wavefronts) AS evidence
FROM l WHERE space = 'const' AND wavefronts > 1.5 * requests
