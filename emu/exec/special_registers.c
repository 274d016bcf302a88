/* special_registers.c - what %tid, %ctaid, %clock and their like hold. */
#include "emu/exec/exec.h"

static uint32_t dim(const uint32_t *d, unsigned k)
{
    return k < 3 ? d[k] : 0;
}

void pl_warp_sreg(const pl_warp *w, pl_word sreg, unsigned k, uint64_t out[PL_LANES])
{
    const pl_grid *g = w->grid;
    const pl_cta *c = w->cta;
    uint64_t v = 0;
    uint32_t cl[3], rank[3];
    for (unsigned d = 0; d < 3; d++) {
        cl[d] = g->cluster[d] ? g->cluster[d] : 1;
        rank[d] = c->id[d] % cl[d];
    }
    switch ((int)sreg) {
    case W_tid: {
        uint32_t first = pl_first_thread(w), x = g->block[0], y = g->block[1];
        for (unsigned l = 0; l < PL_LANES; l++) {
            uint32_t t = first + l;
            out[l] = k == 0 ? t % x : k == 1 ? t / x % y : k == 2 ? t / x / y : 0;
        }
        return;
    }
    case W_laneid:
        for (unsigned l = 0; l < PL_LANES; l++) out[l] = pl_first_lane(w) + l;
        return;
    case W_lanemask_eq:
    case W_lanemask_le:
    case W_lanemask_lt:
    case W_lanemask_ge:
    case W_lanemask_gt:
        for (unsigned l = 0; l < PL_LANES; l++) {
            uint32_t eq = 1u << l, lt = eq - 1u;
            out[l] = sreg == W_lanemask_eq   ? eq
                     : sreg == W_lanemask_lt ? lt
                     : sreg == W_lanemask_le ? lt | eq
                     : sreg == W_lanemask_ge ? ~lt
                                             : ~(lt | eq);
        }
        return;
    case W_ntid: v = k < 3 ? g->block[k] : 0; break;
    case W_ctaid: v = dim(c->id, k); break;
    case W_nctaid: v = dim(g->grid, k); break;
    case W_warpid: v = w->index; break;
    case W_nwarpid: v = g->warp_slots; break;
    case W_smid: v = c->sm; break;
    case W_nsmid: v = g->nsm; break;
    case W_gridid: v = g->launch_id; break;
    case W_is_explicit_cluster: v = g->cluster[0] != 0; break;
    case W_clusterid: v = k < 3 ? c->id[k] / cl[k] : 0; break;
    case W_nclusterid: v = k < 3 ? g->grid[k] / cl[k] : 0; break;
    case W_cluster_ctaid: v = dim(rank, k); break;
    case W_cluster_nctaid: v = dim(cl, k); break;
    case W_cluster_ctarank: v = rank[0] + cl[0] * (rank[1] + cl[1] * rank[2]); break;
    case W_cluster_nctarank: v = cl[0] * cl[1] * cl[2]; break;
    case W_clock:
    case W_clock64: v = w->clock; break;
    case W_clock_hi: v = w->clock >> 32; break;
    case W_globaltimer:
    case W_globaltimer_lo: v = w->clock / 2; break;
    case W_globaltimer_hi: v = w->clock / 2 >> 32; break;
    case W_dynamic_smem_size: v = g->dynamic_shared; break;
    case W_total_smem_size: v = (c->shared_end - c->shared_start + 127u) & ~127u; break;
    case W_aggr_smem_size: v = c->shared_end; break;
    case W_reserved_smem_offset_cap: v = c->shared_start; break;
    case W_reserved_smem_offset_end:
        v = c->shared_start ? 0x120 : 0;
        break; /* H200, driver 580.159.04, 2026-11 */
    case W_envreg1:
        v = g->workspace >> 32;
        break; /* cooperative groups: where the grid's barrier is */
    case W_envreg2: v = g->workspace; break;
    default: break; /* %pm, %current_graph_exec: zero */
    }
    for (unsigned l = 0; l < PL_LANES; l++) out[l] = v;
}
