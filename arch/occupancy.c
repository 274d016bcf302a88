/* occupancy.c - the number of blocks that an SM can hold.
 *
 * Limits: warps and block slots of the SM, registers, shared memory and barriers. Registers are
 * allocated to warps in units, from the sub-core on which a warp runs. Shared memory is allocated
 * to blocks in units, including the system's share. Source: CUDA C Programming Guide, "Hardware
 * Multithreading" and the technical specifications by compute capability; agrees with
 * launch__occupancy_limit_* recorded on an H200. */
#include "arch/machine.h"

static uint64_t round_up(uint64_t n, uint64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

static uint32_t min_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

uint64_t pl_smallest_carveout(const pl_machine *m, uint64_t bytes)
{
    uint64_t best = m->shared.carveouts.at[m->shared.carveouts.n - 1];
    for (uint32_t i = m->shared.carveouts.n; i-- > 0;) {
        if (m->shared.carveouts.at[i] >= bytes && m->shared.carveouts.at[i] < best)
            best = m->shared.carveouts.at[i];
    }
    return best;
}

/* The carve-out of an SM for such blocks: the smallest that holds the blocks resident at once. The
 * driver leaves some headroom: it selects a carve-out for carveout_room times as many blocks (none
 * for a single block). These blocks must leave a slot of the SM for each warp of another one, have
 * barriers, and take up to carveout_half of the storage. For blocks without shared memory the count
 * doubles once more, registers are ignored, and the limit is carveout_idle.
 * (launch__shared_mem_config_size of 585 launches, and of 1,114 with other sizes, registers and
 * barriers: H200, driver 580.159.04, 2026-11.) */
static uint64_t carveout(const pl_machine *m, const pl_occupancy *o, uint64_t own)
{
    const uint64_t resident_bytes = (uint64_t)o->blocks * o->shared_per_block,
                   limit = own ? m->shared.carveout_half : m->shared.carveout_idle;
    uint32_t blocks = min_u32(min_u32(o->by_blocks, o->by_warps),
                              min_u32(o->by_registers, o->by_barriers)),
             headroom_blocks = blocks * m->shared.carveout_room;
    if (!own)
        headroom_blocks = min_u32(o->by_warps * m->shared.carveout_room * 2, o->by_blocks);
    else if (blocks < 2)
        headroom_blocks = blocks;
    else
        headroom_blocks =
            min_u32(headroom_blocks,
                    min_u32(o->by_barriers, o->by_blocks > o->warps ? o->by_blocks - o->warps : 0));
    uint64_t target = (uint64_t)headroom_blocks * o->shared_per_block;
    if (target > limit) target = limit;
    if (target < resident_bytes) target = resident_bytes;
    return pl_smallest_carveout(m, target);
}

pl_occupancy pl_occupy(const pl_machine *m, uint32_t threads, uint32_t registers, uint64_t shared,
                       uint32_t barriers)
{
    pl_occupancy o = {0};
    const uint32_t lanes = m->sm.lanes;
    o.warps = (threads + lanes - 1) / lanes;
    if (o.warps == 0) return o;
    if (registers == 0) registers = 1;
    uint32_t allocated = (uint32_t)round_up(o.warps, m->sm.warp_unit);
    uint32_t max_warps = min_u32(m->sm.warps, m->sm.threads / lanes);
    o.by_blocks = m->sm.blocks;
    o.by_warps = max_warps / o.warps;
    o.registers_per_warp = (uint32_t)round_up((uint64_t)registers * lanes, m->sm.register_unit);
    uint32_t warps_by_registers =
        m->sm.registers / m->sm.subcores / o.registers_per_warp * m->sm.subcores;
    o.by_registers = registers > m->sm.registers_thread ? 0 : warps_by_registers / allocated;
    o.shared_per_block = (uint32_t)round_up(shared + m->shared.reserved, m->shared.unit);
    o.by_shared = shared > m->shared.per_block ? 0
                  : o.shared_per_block         ? (uint32_t)((m->shared.per_sm) / o.shared_per_block)
                                               : m->sm.blocks;
    o.by_barriers = barriers ? min_u32(m->sm.barriers / barriers, m->sm.blocks) : m->sm.blocks;
    o.blocks =
        min_u32(min_u32(min_u32(o.by_blocks, o.by_warps), min_u32(o.by_registers, o.by_shared)),
                o.by_barriers);
    o.carveout = carveout(m, &o, shared);
    return o;
}

/* SMs of part k of the GPU; 0: there are no more. */
static uint32_t sms_of_part(const pl_machine *m, uint32_t k)
{
    const pl_conf_list *l = &m->launch.cluster_sms;
    const uint32_t sms = m->sm.count, groups = m->mem.groups;
    uint64_t all = 0;
    for (uint32_t i = 0; i < l->n; i++) all += l->at[i];
    if (all == sms) return k < l->n ? (uint32_t)l->at[k] : 0;
    return k < groups ? (k + 1) * sms / groups - k * sms / groups : 0;
}

uint32_t pl_clusters(const pl_machine *m, uint32_t blocks, uint32_t size)
{
    enum {
        MAX_BLOCKS_IN_CLUSTERS = 8
    }; /* of the blocks of an SM are in clusters (H200, host.occupancy.tsv) */
    const uint32_t per_sm = min_u32(blocks, MAX_BLOCKS_IN_CLUSTERS);
    uint32_t n = 0, part;
    for (uint32_t k = 0; size && (part = sms_of_part(m, k)) > 0; k++)
        if (part >= size) n += per_sm * part / size;
    return n;
}
