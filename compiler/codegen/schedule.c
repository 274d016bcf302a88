/* schedule.c - list scheduling: orders the instructions of a block, critical path first, within a
 * limit of register pressure.
 *
 * Warps issue in order, so the assembler fills the latency of a result with other instructions. Of
 * the ready instructions, the one at the start of the longest latency chain is issued first, as
 * long as registers are available. (Gibbons and Muchnick, "Efficient Instruction Scheduling for a
 * Pipelined Architecture", 1986. Goodman and Hsu, "Code Scheduling and Register Allocation in Large
 * Basic Blocks", 1988.) So loads are issued as soon as their addresses are known, then independent
 * instructions, as in the code of ptxas for sm_90 (2026-11). If registers run out, they are held by
 * work that was started early: then orders with a shorter window are tried too, and some with a
 * long one that start as if a few registers fewer were available.
 *
 * The following stay in order: writes and reads of a register; stores, and the loads that may read
 * from them; operations that other lanes or threads can observe; additions with carry. Arithmetic
 * moves across barriers and atomics, loads across reductions that do not alias them. */
#include "compiler/codegen/schedule.h"

#include <limits.h>
#include <string.h>

static int capped_pressure(const sched *l, int max)
{
    return max < l->limit ? max : l->limit;
}

/* The maximum registers of a thread for the k-th number of warps. */
static int step_regs(const sched *l, size_t k)
{
    return (int)l->t->registers.steps.at[k];
}

/* The occupancy step that a region may need which takes `source_pressure` registers in source
 * order. */
static size_t occupancy_step_above(const sched *l, int source_pressure)
{
    size_t k = 0;
    while (k + 1 < l->t->registers.steps.n && step_regs(l, k) - l->t->registers.reserved <
                                                  source_pressure + l->t->schedule.text_margin)
        k++;
    return k;
}

/* True if the region has several loads of 16 bytes. */
static bool has_wide_loads(const sched *l)
{
    enum { BYTES = 16, SEVERAL = 2 };
    unsigned n = 0;
    for (uint32_t at = 0; at < l->n && n < SEVERAL; at++)
        n += pl_sched_is_load(&l->code[at]) &&
             l->code[at].sel[PL_M_COUNT] << l->code[at].sel[PL_M_LOG2] == BYTES;
    return n == SEVERAL;
}

/* The register limit that lets 16-byte loads overlap. Measured with loops of 4 to 12 such loads
 * beside 4 to 110 sums (ptxas 13.0 for sm_90, 2026-11). A loop gets the next step if its source
 * order needs fewer registers than that step by less than 7 (shared memory) or 8 to 12 (global
 * memory). That holds at every step, unless all loads that can start early fit anyway. For loads of
 * 4 bytes the limit is 4, which is as much as the source order in ptxas differs from ours. */
static int step_for_wide_loads(sched *l, int source_pressure, int step)
{
    const int all = pl_sched_try_windows(l, capped_pressure(l, INT_MAX), INT_MAX).max_pressure,
              needed = all < source_pressure + l->t->schedule.wide_load_regs
                           ? all
                           : source_pressure + l->t->schedule.wide_load_regs;
    for (size_t k = 0;
         k < l->t->registers.steps.n && step_regs(l, k) <= l->t->schedule.wide_load_limit; k++)
        if (step_regs(l, k) - l->t->registers.reserved >= needed)
            return step_regs(l, k) - l->t->registers.reserved > step
                       ? step_regs(l, k) - l->t->registers.reserved
                       : step;
    return step;
}

/* Computes the registers needed by a region that does not fit in full_regs. */
static void choose_register_step(sched *l, int source_pressure)
{
    size_t k = source_pressure + l->t->schedule.full_margin <= l->full_regs
                   ? 0
                   : occupancy_step_above(l, source_pressure);
    int step = step_regs(l, k) - l->t->registers.reserved,
        lower = k ? step_regs(l, k - 1) - l->t->registers.reserved : 0;
    if (step > l->full_regs && k > 0) {
        schedule_result at_lower = pl_sched_try_windows(l, capped_pressure(l, lower), lower);
        if (at_lower.max_pressure <= lower) {
            schedule_result at_step = pl_sched_try_windows(l, capped_pressure(l, step), INT_MAX);
            step = at_lower.cycles <= at_step.cycles + at_step.cycles / l->t->schedule.step_gain
                       ? lower
                       : step;
        }
    }
    if (has_wide_loads(l)) step = step_for_wide_loads(l, source_pressure, step);
    l->max_needed = step > l->max_needed ? step : l->max_needed;
}

/* Computes the earliest cycle of all instructions, and from it the latest cycle of loads from
 * shared memory. Edges lead forwards. */
static void find_asap_alap(sched *l)
{
    for (uint32_t at = 0; at < l->n; at++) l->node[at].asap = l->node[at].min_start;
    for (uint32_t at = 0; at < l->n; at++)
        for (uint32_t e = l->node[at].edges; e != PL_IR_NONE; e = l->edges.at[e].next) {
            sched_node *to = &l->node[l->edges.at[e].to];
            const uint32_t when = l->node[at].asap + l->edges.at[e].cycles;
            to->asap = when > to->asap ? when : to->asap;
        }
    for (uint32_t at = 0; at < l->n; at++) {
        sched_node *n = &l->node[at];
        n->alap_shared = PL_IR_NONE;
        for (uint32_t e = n->is_shared_load ? n->edges : PL_IR_NONE; e != PL_IR_NONE;
             e = l->edges.at[e].next) {
            const uint32_t cycles = l->edges.at[e].cycles,
                           when = l->node[l->edges.at[e].to].asap - cycles;
            if (cycles == n->latency && when < n->alap_shared) n->alap_shared = when;
        }
    }
}

static void find_priorities(sched *l)
{
    for (uint32_t at = l->n; at-- > 0;) {
        sched_node *n = &l->node[at];
        bool is_late = n->latency >= l->t->schedule.long_latency &&
                       /* Values that the next block reads remain in flight until then. */
                       !pl_sched_plain_store(&l->code[at]);
        for (uint32_t e = n->edges; e != PL_IR_NONE; e = l->edges.at[e].next) {
            uint32_t h = l->node[l->edges.at[e].to].critical_path + l->edges.at[e].cycles;
            n->critical_path = h > n->critical_path ? h : n->critical_path;
            is_late &= l->edges.at[e].cycles < l->t->schedule.long_latency;
        }
        n->critical_path = is_late && n->critical_path < n->latency ? n->latency : n->critical_path;
        n->priority = n->critical_path +
                      (n->latency >= l->t->schedule.long_latency ? l->t->schedule.load_lead : 0);
    }
}

/* Builds edges and live ranges. */
static bool build_dependence_graph(sched *l)
{
    uint32_t last = PL_IR_NONE, flags = PL_IR_NONE;
    l->edges.n = l->uses.n = l->readers.n = 0;
    for (l->at = 0; l->at < l->n; l->at++) {
        const pl_insn *i = &l->code[l->at];
        const pl_class_info *c = pl_sched_class_of(l, i->latency_class);
        const uint32_t cycles = pl_sched_latency_of(l, c, i);
        l->node[l->at] = (sched_node){
            .edges = PL_IR_NONE,
            .uses = (uint32_t)l->uses.n,
            .latency = cycles,
            .temporaries = c->temporaries,
            .is_global_load = pl_sched_is_load(i) && cycles >= l->t->schedule.long_latency,
            .is_shared_load = pl_sched_is_load(i) && cycles == l->t->schedule.shared_load_latency,
            .unit = pl_sched_unit_of(c, i),
            .unit_cycles = c->unit_cycles};
        pl_liveness_visit(&l->f, l->block, l->start + l->at);
        PL_FOR_EACH_READ(l->x->p, &l->code[l->at], o) pl_sched_note_read(l, o.row, o.use);
        l->node[l->at].writes = (uint32_t)l->uses.n;
        PL_FOR_EACH_WRITE(l->x->p, &l->code[l->at], o) pl_sched_note_write(l, o.row, o.rows, o.use);
        l->node[l->at].end = (uint32_t)l->uses.n;
    }
    /* the lists are traversed while they grow, so an allocation must not fail in between */
    if (l->readers.cap < l->uses.n) pl_reserve(l->x->tmp, &l->readers, 2 * l->uses.n);
    if (!pl_arena_ok(l->x->tmp)) return false;
    for (size_t k = 0; k < l->uses.n; k++) {
        uint32_t slot = l->uses.at[k].value;
        l->last_writer[slot] = l->readers_of[slot] = PL_IR_NONE;
    }
    pl_memory_dependence_start(l->memory);
    for (uint32_t at = 0; at < l->n; at++) {
        pl_sched_add_register_edges(l, at);
        pl_sched_add_memory_edges(l, at, &last, &flags);
    }
    if (!pl_arena_ok(l->x->tmp) || !pl_sched_find_live_ranges(l) || !pl_sched_find_last_reads(l))
        return false;
    find_asap_alap(l);
    find_priorities(l);
    return true;
}

/* Moves the instruction at from[k] to position k, one cycle of the permutation at a time. `from` is
 * overwritten. */
static void permute(pl_insn *code, uint32_t *from, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++) {
        if (from[k] == k) continue;
        const pl_insn first = code[k];
        uint32_t at = k;
        for (uint32_t next; (next = from[at]) != k; at = next) {
            code[at] = code[next];
            from[at] = at;
        }
        code[at] = first;
        from[at] = at;
    }
}

static void note_pressure(sched *l, int max)
{
    if (!l->measure_only && max > l->max_pressure) l->max_pressure = max;
}

/* True if the region needs no more registers than are taken anyway. */
static bool fits_without_reordering(const sched *l, int source_pressure)
{
    const int have = l->max_needed > l->full_regs ? l->max_needed : l->full_regs;
    return (source_pressure + l->t->schedule.full_margin <= l->full_regs ||
            step_regs(l, occupancy_step_above(l, source_pressure)) - l->t->registers.reserved <=
                l->max_needed) &&
           (source_pressure + l->t->schedule.wide_load_regs <= have || !has_wide_loads(l));
}

/* o was made for `max` registers and has a short window, since no order with a long one took at
 * most `target`. One with a long window that starts as if a few registers fewer were available may
 * be much shorter, as its loads overlap; it may take `target` in the end. Only these are tried, and
 * abandoned when they become too long. */
static schedule_result retry_with_fewer_regs(sched *l, int max, int target, schedule_result o)
{
    uint32_t enough = o.cycles - o.cycles / l->t->schedule.retry_gain;
    l->window = (uint32_t)l->t->schedule.windows.at[0];
    for (unsigned k = 0; k < 2 * l->t->schedule.retry_fewer; k++) {
        bool fails;
        const int fewer = capped_pressure(l, max) - l->t->schedule.regs_step * (int)(k / 2 + 1);
        const schedule_bound b = {.excess = capped_pressure(l, target) - fewer,
                                  .max_pressure = capped_pressure(l, target),
                                  .cycles = enough};
        l->delay_loads = k % 2;
        const schedule_result other = pl_sched_list_schedule(l, fewer, &b, &fails);
        if (fails || other.cycles >= enough) continue;
        o = other;
        enough = o.cycles;
        pl_sched_keep_order(l);
    }
    return o;
}

/* The best order of the region within the registers of its function, in l->best. */
static schedule_result find_best_order(sched *l)
{
    const int target = l->max_needed > l->full_regs ? l->max_needed : l->full_regs;
    for (int max = target; max >= target - (l->full_regs - l->t->schedule.min_regs);
         max -= l->t->schedule.regs_step) {
        const schedule_result o = pl_sched_try_windows(l, capped_pressure(l, max), target);
        if (o.max_pressure <= target)
            return o.partial_window ? retry_with_fewer_regs(l, max, target, o) : o;
    }
    return pl_sched_try_windows(l, capped_pressure(l, target), INT_MAX);
}

/* source_pressure: registers that the region needs in source order. */
static bool schedule_region(sched *l, int source_pressure)
{
    if (l->measure_only ? fits_without_reordering(l, source_pressure) : l->n < 2) {
        note_pressure(l, source_pressure);
        return true;
    }
    if (!build_dependence_graph(l)) return false;
    if (l->measure_only) {
        choose_register_step(l, source_pressure);
        return true;
    }
    l->limit_preds = false;
    schedule_result o = find_best_order(l);
    if (o.max_preds > l->t->registers.predicates && l->fits_preds) {
        l->limit_preds = true;
        o = find_best_order(l);
    }
    note_pressure(l, o.max_pressure);
    permute(l->code, l->best, l->n);
    return true;
}

/* ---- the pass ---- */

/* Registers that a kernel may take without need: its whole limit if it specifies one, in registers
 * or in blocks per SM (.minnctapersm); registers.one_warp if its blocks are no larger than one
 * warp. Kernels of 100 loads with all such limits, ptxas 13.0 for sm_90, 2026-11. */
static int free_register_limit(const sched *l, const pl_prog_func *f, int limit)
{
    const uint32_t *n = f->reqntid[0] ? f->reqntid : f->maxntid;
    const uint32_t threads = n[0] * (n[1] ? n[1] : 1) * (n[2] ? n[2] : 1);
    const int value_regs = f->maxnreg || (f->minnctapersm && threads) ? limit
                           : threads && threads <= PL_LANES
                               ? l->t->registers.one_warp - l->t->registers.reserved
                               : 0;
    return value_regs < limit ? value_regs : limit;
}

static inline void note_live_out(sched *l, const pl_operand_iter *o)
{
    const uint32_t value = pl_liveness_value_of(&l->f, *o->row, o->use);
    if (!value) return;
    const uint32_t where = l->f.v[value - 1].alias_of;
    if (l->seen_region[where] == l->region) return;
    l->seen_region[where] = l->region;
    l->live_out[where] = l->f.v[where].live_refs > 0;
}

/* Steps backwards over one instruction. */
static void step_back(sched *l, pl_ir_block *k, size_t at)
{
    pl_insn *i = &k->code.at[at];
    pl_liveness_visit(&l->f, l->block, (uint32_t)at);
    PL_FOR_EACH_USE(l->x->p, i, o) note_live_out(l, &o);
    pl_liveness_step_defs(&l->f, i);
    pl_liveness_step_uses(&l->f, i);
}

/* At a convergence query, values loaded before it are still in flight. */
static void note_loads_in_flight(sched *l, pl_ir_block *k, size_t wall_at)
{
    if (!pl_sched_is_convergence_query(&k->code.at[wall_at])) return;
    for (size_t at = wall_at; at > 0 && !pl_sched_ends_region(l, &k->code.at[at - 1]); at--)
        if (pl_sched_is_load(&k->code.at[at - 1]))
            PL_FOR_EACH_WRITE(l->x->p, &k->code.at[at - 1], o) {
                const uint32_t value = pl_liveness_value_of(&l->f, *o.row, o.use);
                if (value) l->loading_region[value - 1] = l->region;
            }
}

/* Schedules a block backwards, region by region. */
static bool schedule_block(sched *l, uint32_t b)
{
    pl_ir_block *k = &l->x->blocks.at[b];
    l->block = b;
    pl_liveness_go_to_end(&l->f, b);
    for (size_t end = k->code.n; end > 0;) {
        int source_pressure = (int)l->f.reg_pressure, preds = (int)l->f.pred_pressure;
        note_pressure(l, source_pressure);
        size_t at = end;
        l->region++;
        for (; at > 0 && !pl_sched_ends_region(l, &k->code.at[at - 1]); at--) {
            step_back(l, k, at - 1);
            source_pressure =
                (int)l->f.reg_pressure > source_pressure ? (int)l->f.reg_pressure : source_pressure;
            preds = (int)l->f.pred_pressure > preds ? (int)l->f.pred_pressure : preds;
        }
        l->live_in = (int)l->f.reg_pressure;
        l->preds_live_in = (int)l->f.pred_pressure;
        l->fits_preds = preds <= l->t->registers.predicates;
        l->code = k->code.at + at;
        l->start = (uint32_t)at;
        l->n = (uint32_t)(end - at);
        if (at > 0) note_loads_in_flight(l, k, at - 1);
        if (l->n > 0 && !schedule_region(l, source_pressure)) return false;
        if (at > 0) step_back(l, k, --at);
        end = at;
    }
    note_pressure(l, (int)l->f.reg_pressure);
    return true;
}

/* A predicate with only partial writes is live-in at the function entry, but undefined there: it
 * takes no predicate until its first write. */
static void drop_undefined_preds(sched *l)
{
    const pl_ir_block *entry = &l->x->blocks.at[l->x->rpo[0]];
    l->block = l->x->rpo[0];
    l->region++;
    pl_liveness_go_to_end(&l->f, l->block);
    for (size_t at = entry->code.n; at > 0; at--) step_back(l, &l->x->blocks.at[l->block], at - 1);
    for (uint32_t k = 0; k < l->f.n; k++)
        if (l->f.v[k].is_pred && pl_liveness_is_live(&l->f, k)) {
            l->f.pred_pressure -= l->f.v[k].regs;
            l->f.v[k].regs = 0;
        }
}

bool pl_pass_schedule(pl_ir *x)
{
    size_t max = 0, widest = 0;
    sched l = {.x = x,
               .t = x->p->tuning,
               .full_regs =
                   x->p->tuning->registers.full_occupancy - x->p->tuning->registers.reserved};
    pl_ir_sweep(x);
    if (!pl_ir_graph(x) || !pl_ir_uses(x) || !pl_liveness_values(&l.f, x, true)) return false;
    pl_liveness_alias(&l.f);
    if (!pl_liveness_solve(&l.f)) return false;
    for (size_t b = 0; b < x->blocks.n; b++)
        max = x->blocks.at[b].code.n > max ? x->blocks.at[b].code.n : max;
    for (size_t k = 0; k < l.t->schedule.windows.n; k++)
        widest = l.t->schedule.windows.at[k] > widest ? l.t->schedule.windows.at[k] : widest;
    l.nvalues = l.f.n + 1;
    l.limit = (int)pl_register_limit(x->p, x->f) - l.t->registers.reserved;
    l.max_needed = free_register_limit(&l, x->f, l.limit);
    l.node = pl_arena_array(x->tmp, sched_node, max + 1);
    l.order = pl_arena_array(x->tmp, uint32_t, max + 1);
    l.best = pl_arena_array(x->tmp, uint32_t, max + 1);
    l.ready = pl_arena_array(x->tmp, ready_insn, (max < widest ? max : widest) + 1);
    l.last_writer = pl_arena_array(x->tmp, uint32_t, l.nvalues);
    l.readers_of = pl_arena_array(x->tmp, uint32_t, l.nvalues);
    l.range_of = pl_arena_array(x->tmp, uint32_t, l.nvalues);
    l.live_out = pl_arena_array(x->tmp, bool, l.nvalues);
    l.seen_region = pl_arena_array(x->tmp, uint32_t, l.nvalues);
    l.loading_region = pl_arena_array(x->tmp, uint32_t, l.nvalues);
    l.memory = pl_memory_dependence_new(x->tmp);
    if (!pl_arena_ok(x->tmp) || !l.memory) return false;
    drop_undefined_preds(&l);
    for (unsigned iteration = 0; iteration < 2; iteration++) {
        l.measure_only = iteration == 0;
        for (uint32_t b = 0; b < x->blocks.n; b++)
            if (x->blocks.at[b].rpo_index != PL_IR_NONE && !schedule_block(&l, b)) return false;
    }
    x->max_pressure = (uint32_t)l.max_pressure + l.max_temporaries;
    pl_ir_preserve_counts(x);
    return true;
}
