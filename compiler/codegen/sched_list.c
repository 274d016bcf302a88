/* sched_list.c - the list scheduler: selects the next ready instruction, and builds the resulting
 * order. */
#include "compiler/codegen/schedule.h"

#include <limits.h>
#include <string.h>

static uint64_t rank_of(const ready_insn *c, uint32_t when, uint32_t cycle)
{
    return (uint64_t)(when <= cycle ? 0 : when) << 32 | (UINT32_MAX - c->priority);
}

/* True for a load that ptxas would not issue yet with `free_regs` registers left. */
static inline bool exceeds_loads_in_flight(const sched *l, const sched_node *n, int free_regs)
{
    if (!(n->is_global_load || n->is_shared_load) || n->reg_delta_now <= 0 ||
        l->max_needed > l->full_regs ||
        free_regs - n->reg_delta_now >=
            (n->is_global_load ? l->t->schedule.load_spare_regs : l->t->schedule.shared_spare_regs))
        return false;
    return l->loads_in_flight >= (n->reg_delta_now > 2 ? n->is_global_load
                                                             ? l->t->schedule.wide_loads_in_flight
                                                             : l->t->schedule.shared_wide_in_flight
                                  : n->is_global_load  ? l->t->schedule.loads_in_flight
                                                       : l->t->schedule.shared_loads_in_flight);
}

/* True if a predicate is available for its result. */
static inline bool has_predicate(const sched *l, const ready_insn *c)
{
    return !l->limit_preds || l->node[c->at].pred_delta_now <= 0 ||
           l->preds_live + l->node[c->at].pred_delta_now <= l->t->registers.predicates;
}

/* The next instruction by critical path, as an index in `ready`; PL_IR_NONE: none of them has a
 * predicate available, or a register among the `free_regs`. */
static uint32_t pick_critical_path(const sched *l, uint32_t cycle, int free_regs)
{
    uint32_t best = PL_IR_NONE, best_at = UINT32_MAX;
    uint64_t min = UINT64_MAX;
    for (uint32_t k = l->nready; k-- > 0;) {
        const ready_insn *c = &l->ready[k];
        uint32_t when = pl_sched_issue_cycle(l, c);
        uint64_t rank = rank_of(c, when, cycle);
        if (rank > min || (rank == min && c->at > best_at) || !has_predicate(l, c) ||
            exceeds_loads_in_flight(l, &l->node[c->at], free_regs))
            continue;
        when = pl_sched_preferred_cycle(l, c, when, cycle);
        if (when <= cycle) /* later entries are less urgent */
            return k;
        rank = rank_of(c, when, cycle);
        if (rank < min || (rank == min && c->at < best_at)) {
            best = k;
            best_at = c->at;
            min = rank;
        }
    }
    return best;
}

/* The next instruction when few registers are left (`free_regs`): completing started work that is
 * ready soon is preferred to starting other work. */
static uint32_t pick_min_pressure(const sched *l, uint32_t cycle, int free_regs)
{
    uint32_t best = PL_IR_NONE, best_when = 0;
    int best_d = 0;
    bool best_fits = true;
    for (uint32_t k = l->nready; k-- > 0;) {
        const ready_insn *c = &l->ready[k], *o = &l->ready[best];
        int d = l->node[c->at].reg_delta_now, spare = l->node[c->at].temporaries;
        bool fits = ((d <= 0 && !spare) || d + spare <= free_regs) && has_predicate(l, c) &&
                    !exceeds_loads_in_flight(l, &l->node[c->at], free_regs),
             better = best == PL_IR_NONE;
        uint32_t when = pl_sched_preferred_cycle(l, c, pl_sched_issue_cycle(l, c), cycle);
        when = when <= cycle + l->t->schedule.soon ? 0 : when;
        if (free_regs > 0 && fits && !when && d <= 0) /* later entries are less urgent */
            return k;
        if (!better) {
            if (fits != best_fits)
                better = fits;
            else if (!fits)
                better = c->at < o->at;
            else if (when != best_when)
                better = when < best_when;
            else if ((d > 0) != (best_d > 0))
                better = d <= 0;
            else if (d > 0)
                better = c->at < o->at;
            else if (free_regs <= 0 && d != best_d)
                better = d < best_d;
            else
                better = c->priority > o->priority || (c->priority == o->priority && c->at < o->at);
        }
        if (better) {
            best = k;
            best_when = when;
            best_d = d;
            best_fits = fits;
        }
    }
    return best;
}

static void make_ready(sched *l, uint32_t at)
{
    const sched_node *n = &l->node[at];
    uint32_t k = l->nready++;
    for (const ready_insn *c = l->ready;
         k && (c[k - 1].priority > n->priority ||
               (c[k - 1].priority == n->priority && c[k - 1].at < at));
         k--)
        l->ready[k] = l->ready[k - 1];
    l->ready[k] = (ready_insn){at, n->earliest, n->priority, n->unit};
    l->end = n->earliest + n->priority > l->end ? n->earliest + n->priority : l->end;
}

/* The window starts at the oldest unplaced instruction; instructions that enter it may be ready. */
static void extend_window(sched *l, uint32_t oldest)
{
    uint32_t end = l->n - oldest <= l->window ? l->n : oldest + l->window + 1;
    for (; l->nwindowed < end; l->nwindowed++)
        if (!l->node[l->nwindowed].npreds_left) make_ready(l, l->nwindowed);
}

void pl_sched_keep_order(sched *l)
{
    uint32_t *order = l->order;
    l->order = l->best;
    l->best = order;
}

/* Resets the state of a schedule: nothing is placed. */
static void reset_schedule(sched *l)
{
    l->nready = l->nwindowed = l->end = l->shared_load_delay = 0;
    memset(l->unit_free_at, 0, sizeof l->unit_free_at);
    for (uint32_t at = 0; at < l->n; at++) {
        sched_node *n = &l->node[at];
        n->npreds_left = n->npreds;
        n->earliest = n->min_start;
        n->reg_delta_now = n->reg_delta;
        n->pred_delta_now = n->pred_delta;
        n->consumed = false;
    }
    l->loads_in_flight = 0;
    l->preds_live = l->preds_live_in;
    for (size_t k = 0; k < l->ranges.n; k++) {
        l->ranges.at[k].nreaders_left = l->ranges.at[k].nreaders;
        l->ranges.at[k].reader_xor_left = l->ranges.at[k].reader_xor;
    }
}

/* Picks the next instruction, as an index in l->ready. */
static uint32_t pick(const sched *l, uint32_t cycle, int free_regs)
{
    const uint32_t k = free_regs < l->t->schedule.tight_room
                           ? PL_IR_NONE
                           : pick_critical_path(l, cycle, free_regs);
    return k == PL_IR_NONE ? pick_min_pressure(l, cycle, free_regs) : k;
}

/* Removes entry k from the ready list and issues it in `cycle` or as soon as it can. Returns its
 * cycle. */
static uint32_t issue_ready(sched *l, uint32_t k, uint32_t cycle)
{
    const uint32_t at = l->ready[k].at, min = pl_sched_issue_cycle(l, &l->ready[k]);
    sched_node *n = &l->node[at];
    l->nready--;
    memmove(l->ready + k, l->ready + k + 1, (l->nready - k) * sizeof *l->ready);
    cycle = min > cycle ? min : cycle;
    l->end = cycle + n->priority > l->end ? cycle + n->priority : l->end;
    if (n->unit != PL_SCHED_NONE) l->unit_free_at[n->unit] = cycle + n->unit_cycles;
    if (n->alap_shared != PL_IR_NONE && cycle > n->alap_shared + l->shared_load_delay)
        l->shared_load_delay = cycle - n->alap_shared;
    n->npreds_left = PL_IR_NONE;
    return cycle;
}

/* Updates the successors of an instruction that was issued in `cycle`. */
static void release_successors(sched *l, uint32_t at, uint32_t cycle)
{
    for (uint32_t e = l->node[at].edges; e != PL_IR_NONE; e = l->edges.at[e].next) {
        const uint32_t to = l->edges.at[e].to, earliest = cycle + l->edges.at[e].cycles;
        sched_node *m = &l->node[to];
        if (m->earliest < earliest) m->earliest = earliest;
        if (--m->npreds_left == 0 && to < l->nwindowed) make_ready(l, to);
    }
}

/* True if the schedule that has reached `cycle` is not better than the bound. */
static bool exceeds_bound(const schedule_result *o, const schedule_bound *b, int max,
                          uint32_t cycle)
{
    const int excess = o->max_pressure > max ? o->max_pressure - max : 0;
    return excess > b->excess || (excess == b->excess && cycle >= b->cycles) ||
           (o->limited && o->max_pressure > b->max_pressure);
}

/* Schedules the region into l->order. *fails: it is not better than the bound, and the order is
 * incomplete. */
schedule_result pl_sched_list_schedule(sched *l, int max, const schedule_bound *b, bool *fails)
{
    uint32_t cycle = 0, oldest = 0;
    int live = l->live_in;
    schedule_result o = {.max_pressure = live,
                         .partial_window =
                             l->window < l->t->schedule.windows.at[0] && l->window < l->n};
    reset_schedule(l);
    extend_window(l, 0);
    *fails = false;
    for (uint32_t placed = 0; placed < l->n; placed++) {
        const uint32_t k = pick(l, cycle, max - live), at = l->ready[k].at;
        cycle = issue_ready(l, k, cycle);
        l->order[placed] = at;
        live += pl_sched_place_insn(l, at);
        const int needed = live + l->node[at].temporaries;
        o.limited |= max - live < l->t->schedule.tight_room;
        o.max_pressure = needed > o.max_pressure ? needed : o.max_pressure;
        o.max_preds = l->preds_live > o.max_preds ? l->preds_live : o.max_preds;
        release_successors(l, at, cycle);
        cycle++;
        while (oldest < l->n && l->node[oldest].npreds_left == PL_IR_NONE) oldest++;
        extend_window(l, oldest);
        if (exceeds_bound(&o, b, max, cycle)) {
            *fails = true;
            return o;
        }
    }
    o.cycles = cycle;
    return o;
}

/* The best order within the register limit, in l->best. If every order takes more than `useful`,
 * the result may be any of them. */
schedule_result pl_sched_try_windows(sched *l, int max, int useful)
{
    schedule_result best = {0};
    bool none = true; /* all orders so far were abandoned because of `useful` */
    for (unsigned k = 0;
         k < 2 * l->t->schedule.windows.n &&
         (!k || (best.limited && (k % 2 || l->n > l->t->schedule.windows.at[k / 2])));
         k++) {
        bool fails;
        const schedule_bound b = {.excess = none                      ? INT_MAX
                                            : best.max_pressure > max ? best.max_pressure - max
                                                                      : 0,
                                  .max_pressure = useful,
                                  .cycles = none ? UINT32_MAX : best.cycles};
        l->window = (uint32_t)l->t->schedule.windows.at[k / 2];
        l->delay_loads = k % 2;
        schedule_result o = pl_sched_list_schedule(l, max, &b, &fails);
        if (none && fails) {
            best = o;
            continue;
        }
        if (fails) continue;
        /* Which of two useless orders is the better one decides whether a third is tried. */
        if (k && none && o.max_pressure > useful) return pl_sched_try_windows(l, max, INT_MAX);
        none = false;
        best = o;
        pl_sched_keep_order(l);
    }
    return best;
}
