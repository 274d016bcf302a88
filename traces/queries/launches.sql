-- Launches in execution order
SELECT id AS kernel, name, entry, mode, grid_x || 'x' || grid_y || 'x' || grid_z AS grid,
       block_x || 'x' || block_y || 'x' || block_z AS block, cycles, round(duration_us, 3) AS us, inst_executed, status
FROM kernel ORDER BY id;
