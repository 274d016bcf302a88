/* occupancy.c - number of resident blocks per multiprocessor, and the limiting resource. */
#include "arch/machine.h"
#include "lib/internal.h"

pl_status pl_gpu_occupancy(const pl_gpu *gpu, uint32_t threads, uint32_t registers, uint64_t shared,
                           uint32_t barriers, pl_occupancy_info *out)
{
    const pl_machine *m = gpu->machine;
    *out = (pl_occupancy_info){0};
    if (!m || threads == 0) return PL_INVALID;
    pl_occupancy o = pl_occupy(m, threads, registers, shared, barriers);
    *out = (pl_occupancy_info){.blocks = o.blocks,
                               .by_warps = o.by_warps,
                               .by_blocks = o.by_blocks,
                               .by_registers = o.by_registers,
                               .by_shared = o.by_shared,
                               .by_barriers = o.by_barriers,
                               .warps = o.warps,
                               .most_warps = m->sm.warps,
                               .registers_per_warp = o.registers_per_warp,
                               .shared_per_block = o.shared_per_block,
                               .shared_setting = o.carveout};
    return PL_OK;
}

uint64_t pl_gpu_carveout(const pl_gpu *gpu, uint64_t bytes)
{
    return gpu->machine ? pl_smallest_carveout(gpu->machine, bytes) : 0;
}

uint32_t pl_gpu_clusters(const pl_gpu *gpu, uint32_t blocks, uint32_t size)
{
    return gpu->machine ? pl_clusters(gpu->machine, blocks, size) : 0;
}
