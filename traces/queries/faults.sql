-- Faults of launches: block, thread, PTX and CUDA lines
SELECT f.kernel, k.name, f.error, f.block_x || ',' || f.block_y || ',' || f.block_z AS block,
       f.thread_x || ',' || f.thread_y || ',' || f.thread_z AS thread, f.pc, f.ptx_line, f.cuda, f.text
FROM fault f JOIN kernel k ON k.id = f.kernel WHERE :kernel IS NULL OR f.kernel = :kernel ORDER BY f.id;
