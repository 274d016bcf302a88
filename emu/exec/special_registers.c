/* special_registers.c - the values of %tid, %ctaid, %clock and the other special registers. */
#include <string.h>

#include "emu/exec/exec.h"

static uint32_t dim(const uint32_t *d, unsigned k)
{
    return k < 3 ? d[k] : 0;
}

/* Registers of the block's cluster. False: the register is not one of these. */
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

/* Registers of the block's private global memory, of its shared memory, and of the system's part of
 * it. */
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
    switch ((int)sreg) {
    case W_ntid: return dim(g->block, k);
    case W_ctaid: return dim(c->id, k);
    case W_nctaid: return dim(g->grid, k);
    case W_warpid: return w->index;
    case W_nwarpid: return g->warp_slots;
    case W_smid: return c->sm;
    case W_nsmid: return g->nsm;
    case W_gridid: return g->launch_id;
    case W_current_graph_exec: return g->graph;
    case W_clock:
    case W_clock64: return w->clock;
    case W_clock_hi: return w->clock >> 32;
    case W_globaltimer:
    case W_globaltimer_lo: return global_time(w);
    case W_globaltimer_hi: return global_time(w) >> 32;
    case W_envreg1: return g->workspace >> 32; /* cooperative groups: address of the grid barrier */
    case W_envreg2: return g->workspace;
    default: break;
    }
    if (cluster_register(w, sreg, k, &v) || memory_register(c, sreg, &v)) return v;
    return 0; /* %pm */
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

/* %tid of the lanes: thread numbers counted along x, then y, then z. */
static void thread_ids(const pl_warp *w, unsigned component, uint64_t out[PL_LANES])
{
    const uint32_t first = pl_first_thread(w), x = w->grid->block[0], y = w->grid->block[1];
    uint32_t id[3] = {first % x, first / x % y, first / x / y};
    if (component > 2) {
        memset(out, 0, PL_LANES * sizeof *out);
        return;
    }
    if (component == 0 && id[0] + PL_LANES <= x) {
        for (uint32_t l = 0; l < PL_LANES; l++) out[l] = id[0] + l;
        return;
    }
    for (unsigned l = 0; l < PL_LANES; l++) {
        out[l] = id[component];
        if (++id[0] < x) continue;
        id[0] = 0;
        if (++id[1] < y) continue;
        id[1] = 0;
        id[2]++;
    }
}

bool pl_warp_sreg_uniform(const pl_warp *w, pl_word sreg, unsigned component, uint64_t *value)
{
    switch ((int)sreg) {
    case W_tid:
    case W_laneid:
    case W_lanemask_eq:
    case W_lanemask_le:
    case W_lanemask_lt:
    case W_lanemask_ge:
    case W_lanemask_gt: return false;
    default: *value = warp_register(w, sreg, component); return true;
    }
}

void pl_warp_sreg(const pl_warp *w, pl_word sreg, unsigned component, uint64_t out[PL_LANES])
{
    uint64_t v;
    if (pl_warp_sreg_uniform(w, sreg, component, &v)) {
        for (unsigned l = 0; l < PL_LANES; l++) out[l] = v;
    } else if ((int)sreg == W_tid) {
        thread_ids(w, component, out);
    } else if ((int)sreg == W_laneid) {
        for (unsigned l = 0; l < PL_LANES; l++) out[l] = pl_first_lane(w) + l;
    } else {
        for (unsigned l = 0; l < PL_LANES; l++) out[l] = lane_mask(sreg, l);
    }
}
