/* special_registers.c - what %tid, %ctaid, %clock and their like hold. */
#include "emu/exec/exec.h"

static uint32_t dim(const uint32_t *d, unsigned k)
{
    return k < 3 ? d[k] : 0;
}

/* Registers of the block's cluster. False: it is another register. */
static bool cluster_register(const pl_warp *w, pl_word sreg, unsigned k, uint64_t *v)
{
    const pl_grid *g = w->grid;
    const pl_cta *c = w->cta;
    uint32_t cl[3], rank[3];
    for (unsigned d = 0; d < 3; d++) {
        cl[d] = g->cluster[d] ? g->cluster[d] : 1;
        rank[d] = c->id[d] % cl[d];
    }
    switch ((int)sreg) {
    case W_is_explicit_cluster: *v = g->cluster[0] != 0; return true;
    case W_clusterid: *v = k < 3 ? c->id[k] / cl[k] : 0; return true;
    case W_nclusterid: *v = k < 3 ? g->grid[k] / cl[k] : 0; return true;
    case W_cluster_ctaid: *v = dim(rank, k); return true;
    case W_cluster_nctaid: *v = dim(cl, k); return true;
    case W_cluster_ctarank: *v = rank[0] + cl[0] * (rank[1] + cl[1] * rank[2]); return true;
    case W_cluster_nctarank: *v = cl[0] * cl[1] * cl[2]; return true;
    default: return false;
    }
}

/* Registers of the block's own global memory, of its shared memory, and of the system's part of it.
 */
static bool memory_register(const pl_cta *c, pl_word sreg, uint64_t *v)
{
    switch ((int)sreg) {
    case W_perctamemorysize: *v = pl_grid_block_memory(c->grid); return true;
    case W_perctamemoryoffset:
        *v = c->grid->block_memory + (uint64_t)c->linear * pl_grid_block_memory(c->grid);
        return true;
    case W_dynamic_smem_size: *v = c->grid->dynamic_shared; return true;
    case W_total_smem_size: *v = (c->shared_end - c->shared_start + 127u) & ~127u; return true;
    case W_aggr_smem_size: *v = c->shared_end; return true;
    case W_reserved_smem_offset_cap: *v = c->shared_start; return true;
    case W_reserved_smem_offset_end: /* H200, driver 580.159.04, 2026-11 */
        *v = c->shared_start ? 0x120 : 0;
        return true;
    default: return false;
    }
}

static uint64_t global_time(const pl_warp *w)
{
    const pl_grid *g = w->grid;
    return (uint64_t)(g->global_time + (double)w->clock * g->cycle_time);
}

/* Registers that are the same for all lanes of a warp. */
static uint64_t warp_register(const pl_warp *w, pl_word sreg, unsigned k)
{
    const pl_grid *g = w->grid;
    const pl_cta *c = w->cta;
    uint64_t v = 0;
    if (cluster_register(w, sreg, k, &v) || memory_register(c, sreg, &v)) return v;
    switch ((int)sreg) {
    case W_ntid: return dim(g->block, k);
    case W_ctaid: return dim(c->id, k);
    case W_nctaid: return dim(g->grid, k);
    case W_warpid: return w->index;
    case W_nwarpid: return g->warp_slots;
    case W_smid: return c->sm;
    case W_nsmid: return g->nsm;
    case W_gridid: return g->launch_id;
    case W_clock:
    case W_clock64: return w->clock;
    case W_clock_hi: return w->clock >> 32;
    case W_globaltimer:
    case W_globaltimer_lo: return global_time(w);
    case W_globaltimer_hi: return global_time(w) >> 32;
    case W_envreg1: return g->workspace >> 32; /* cooperative groups: where the grid's barrier is */
    case W_envreg2: return g->workspace;
    default: return 0; /* %pm, %current_graph_exec */
    }
}

static uint32_t lane_mask(pl_word sreg, unsigned lane)
{
    const uint32_t eq = 1u << lane, lt = eq - 1u;
    switch ((int)sreg) {
    case W_lanemask_eq: return eq;
    case W_lanemask_lt: return lt;
    case W_lanemask_le: return lt | eq;
    case W_lanemask_ge: return ~lt;
    default: return ~(lt | eq);
    }
}

void pl_warp_sreg(const pl_warp *w, pl_word sreg, unsigned component, uint64_t out[PL_LANES])
{
    const uint32_t first = pl_first_thread(w), x = w->grid->block[0], y = w->grid->block[1];
    uint64_t v;
    switch ((int)sreg) {
    case W_tid:
        for (unsigned l = 0; l < PL_LANES; l++) {
            const uint32_t t = first + l;
            out[l] = component == 0   ? t % x
                     : component == 1 ? t / x % y
                     : component == 2 ? t / x / y
                                      : 0;
        }
        break;
    case W_laneid:
        for (unsigned l = 0; l < PL_LANES; l++) out[l] = pl_first_lane(w) + l;
        break;
    case W_lanemask_eq:
    case W_lanemask_le:
    case W_lanemask_lt:
    case W_lanemask_ge:
    case W_lanemask_gt:
        for (unsigned l = 0; l < PL_LANES; l++) out[l] = lane_mask(sreg, l);
        break;
    default:
        v = warp_register(w, sreg, component);
        for (unsigned l = 0; l < PL_LANES; l++) out[l] = v;
        break;
    }
}
