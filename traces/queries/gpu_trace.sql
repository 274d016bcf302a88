-- Operations of the streams of a CUDA program, ordered by time
SELECT a.start_us, round(a.end_us - a.start_us, 3) AS us, a.device, a.stream, a.kind, a.name, k.grid_x || ',' || k.grid_y || ',' || k.grid_z AS grid,
       k.block_x || ',' || k.block_y || ',' || k.block_z AS block, a.bytes, round(a.bytes / nullif((a.end_us - a.start_us) * 1e3, 0), 3) AS "GB/s",
       a.source, a.destination, a.graph, a.estimated, round(a.spread_us, 3) AS spread_us, a.kernel, c.name AS call
FROM activity a LEFT JOIN kernel k ON k.id = a.kernel LEFT JOIN api_call c ON c.id = a.call WHERE a.kind <> 'event' ORDER BY a.start_us, a.id
