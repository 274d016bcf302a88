/* sched_pressure.c - the live ranges of a scheduling region: the effect of each instruction on
 * register pressure. */
#include "compiler/codegen/schedule.h"

#include <limits.h>
#include <string.h>

/* Finds the live range of each register between writes, and its readers. */
bool pl_sched_find_live_ranges(sched *l)
{
    for (size_t k = 0; k < l->uses.n; k++)
        l->range_of[l->f.v[l->uses.at[k].value].alias_of] = PL_IR_NONE;
    l->ranges.n = 0;
    for (uint32_t at = 0; at < l->n; at++) {
        for (uint32_t k = l->node[at].uses; k < l->node[at].end; k++) {
            operand_use *u = &l->uses.at[k];
            const uint32_t where = l->f.v[u->value].alias_of;
            if (l->range_of[where] == PL_IR_NONE || u->defines) {
                *pl_push(l->x->tmp, &l->ranges) = (live_range){.load = PL_IR_NONE,
                                                               .width = (int)l->f.v[where].regs,
                                                               .is_pred = l->f.v[where].is_pred};
                l->range_of[where] = (uint32_t)(l->ranges.n - 1);
            }
            u->range = l->range_of[where];
            if (k >= l->node[at].writes &&
                (l->node[at].is_global_load || l->node[at].is_shared_load))
                l->ranges.at[u->range].load = at;
            l->ranges.at[u->range].nreads += !u->defines;
        }
    }
    for (size_t k = 0; k < l->uses.n; k++) {
        const operand_use *u = &l->uses.at[k];
        const uint32_t where = l->f.v[u->value].alias_of;
        if (u->range == l->range_of[where]) l->ranges.at[u->range].live_out = l->live_out[where];
    }
    return pl_arena_ok(l->x->tmp);
}

/* Computes the effect of every instruction on register pressure: the last reader of a range is
 * known only once others are placed. */
bool pl_sched_find_last_reads(sched *l)
{
    l->last_reads.n = 0;
    for (uint32_t at = 0; at < l->n; at++) {
        sched_node *n = &l->node[at];
        n->last_reads = (uint32_t)l->last_reads.n;
        for (uint32_t k = n->uses; k < n->end; k++) {
            const operand_use *u = &l->uses.at[k];
            live_range *h = &l->ranges.at[u->range];
            if (!h->width) continue;
            if (u->defines) {
                *(h->is_pred ? &n->pred_delta : &n->reg_delta) +=
                    h->nreads || h->live_out ? h->width : 0;
                continue;
            }
            size_t r = n->last_reads;
            while (r < l->last_reads.n && l->last_reads.at[r] != u->range) r++;
            if (r < l->last_reads.n || h->live_out) continue;
            *pl_push(l->x->tmp, &l->last_reads) = u->range;
            h->nreaders++;
            h->reader_xor ^= at;
        }
        n->nlast_reads = (uint32_t)l->last_reads.n - n->last_reads;
    }
    for (size_t k = 0; k < l->ranges.n; k++) {
        const live_range *h = &l->ranges.at[k];
        if (h->nreaders == 1)
            *(h->is_pred ? &l->node[h->reader_xor].pred_delta
                         : &l->node[h->reader_xor].reg_delta) -= h->width;
    }
    return pl_arena_ok(l->x->tmp);
}

/* Places instruction `at`: a range with one remaining reader ends with that one. This is updated
 * here because candidates are compared far more often than placed. Returns the change in
 * registers. */
int pl_sched_place_insn(sched *l, uint32_t at)
{
    const sched_node *n = &l->node[at];
    for (uint32_t k = n->last_reads; k < n->last_reads + n->nlast_reads; k++) {
        live_range *h = &l->ranges.at[l->last_reads.at[k]];
        h->reader_xor_left ^= at;
        if (--h->nreaders_left == 1)
            *(h->is_pred ? &l->node[h->reader_xor_left].pred_delta_now
                         : &l->node[h->reader_xor_left].reg_delta_now) -= h->width;
    }
    for (uint32_t k = n->uses; k < n->writes; k++) {
        const uint32_t load = l->ranges.at[l->uses.at[k].range].load;
        if (load == PL_IR_NONE || load == at || l->node[load].consumed ||
            l->node[load].npreds_left != PL_IR_NONE)
            continue;
        l->node[load].consumed = true;
        l->loads_in_flight--;
    }
    l->loads_in_flight += n->is_global_load || n->is_shared_load;
    l->preds_live += n->pred_delta_now;
    return n->reg_delta_now;
}
