/* schedule.c - list scheduling: the order of the instructions of a block, critical path first,
 * within a limit of register pressure.
 *
 * Warps issue in order, so the assembler fills the time that a result takes with other work: of the
 * instructions whose operands are there, the one at the start of the longest chain of latencies
 * comes first, as long as there are registers (Gibbons and Muchnick, "Efficient Instruction
 * Scheduling for a Pipelined Architecture", 1986; Goodman and Hsu, "Code Scheduling and Register
 * Allocation in Large Basic Blocks", 1988). So loads are issued as soon as their addresses are
 * known, then whatever does not wait for them, as in the code of ptxas for sm_90 (2026-11). Where
 * registers run out, what was begun early holds them: then orders that look less far ahead are made
 * too, and some that look far but begin as if there were a few registers less.
 *
 * What stays in order: writes and reads of a register; stores, and the loads that may see them;
 * what other lanes or threads can observe; additions with carry. Arithmetic moves past barriers and
 * atomics, loads past reductions that they cannot see. */
#include <limits.h>
#include <string.h>

#include "compiler/analysis/constant_bank.h"
#include "compiler/analysis/liveness.h"
#include "compiler/codegen/register_allocation.h"
#include "compiler/analysis/memory_dependence.h"
#include "compiler/passes.h"
#include "compiler/tuning.h"
#include "isa/program/operand_plan.h"
#include "isa/program/resource_usage.h"

/* An atomic operation without .acquire or .release orders no other access: for those, a reduction
 * is a store. */
static bool plain_reduction(const pl_insn *i)
{
    return pl_insn_mnem(i) == M_red && pl_insn_effects(i) == PL_EF_ATOMIC &&
           !pl_insn_has(i, W_release);
}

static bool plain_store(const pl_insn *i)
{
    bool stores = pl_insn_effects(i) == PL_EF_STORE && !(i->flags & PL_IF_CONTROL);
    return (stores || plain_reduction(i)) && (i->flags & PL_IF_MEM) &&
           !(i->sel[PL_M_FLAGS] & PL_MF_POLL);
}

/* Cycles from an instruction to its reader, as the assembler expects them: fixed latencies of sm_80
 * to sm_100, and typical ones of what a scoreboard ends (h200/micro, 2026-11): the
 * column `latency` of isa/table/classes.isa; everything else takes schedule.fixed_latency. Beside a
 * chain of 50 to 400 FFMA, ptxas places a load from far away 303 cycles before its reader, whatever
 * the length (2026-11). */

/* Results that take so long are waited for (the others come in time); what else takes a register
 * stands no further before where it is needed than this: between loads and their readers ptxas
 * leaves time unused rather than compute an address or a constant for later. */

/* Registers that a region may take. full_regs make 32 with the stack pointer and what
 * register_allocation.c adds, the most with which an SM of sm_90 holds all its warps; ptxas keeps
 * to that where it can (of 780 functions compared, 80 take 32, and none 33 to 37). An order that
 * starts too much takes more than it may: then it is made with schedule.regs_step, down to
 * schedule.min_regs. Where that does not suffice for one region, all of the function take the
 * registers of the next of the `occupancy_steps`, with which an SM holds four warps fewer, that
 * this one needs in the order of the text and schedule.text_margin it (schedule.full_margin beside
 * it are enough for full_regs); one step less where it gets only a schedule.step_gain longer by
 * that. ptxas takes no more for the sake of loads that could run ahead than three or four of them
 * need (kernels of 1 to 96 loads, across which 0 to 80 values live, 2026-11): of loads of 16 bytes
 * that can be under way together they are given schedule.wide_load_regs more than the text needs,
 * up to a step of schedule.wide_load_limit, beyond which the text of three kernels recorded needs
 * more here than there. With less than schedule.tight_room left, what has begun goes before what
 * has not, and something that comes schedule.soon before something else. */

/* Of 32 registers ptxas leaves schedule.load_spare_regs when it asks for another load from far away
 * (loops of 8 to 32 loads of 4, 8 and 16 bytes beside 0 to 32 values: 26 of 29 live, ptxas 13.0 for
 * sm_90, 2026-11), unless fewer than 4 of them are under way. What else lives there differs from
 * ours by a few: here schedule.loads_in_flight must be, or schedule.wide_loads_in_flight of more
 * than 8 bytes. */
/* The same of loads from shared memory (28 loops of 8 to 24 loads of 4, 8 and 16 bytes beside 2 to
 * 14 values, 2026-11). */

/* Predicates of a thread besides the one that is always true. Where the order of the text does with
 * them, so does ptxas: of 4 to 24 guarded loads, the guards of whose sums wait for them, seven are
 * under way, of those that another compare follows six (2026-11). Where it does not, ptxas moves
 * predicates to registers or compares again, which is not done here. With schedule.predicate_margin
 * left, compares come when they are needed. */

typedef struct dep_edge {
    uint32_t to, cycles,
        next; /* next: index of a further edge from the same instruction, PL_IR_NONE */
} dep_edge;

typedef struct operand_use {
    uint32_t value; /* value of the flow */
    uint32_t range; /* what the register holds: index in list.held */
    bool guard;
    bool defines; /* a write that keeps nothing of what was there */
} operand_use;

/* What a register holds from one write to the next. */
typedef struct live_range {
    uint32_t nreads;               /* in this region */
    uint32_t nreaders, reader_xor; /* instructions that read it, where that may be for the last
                              time; exclusive or of their positions: of one, it is its own */
    uint32_t nreaders_left, reader_xor_left; /* the same of those not placed yet */
    int width;
    uint32_t load; /* that it comes from, PL_IR_NONE */
    bool is_pred;  /* it is a predicate */
    bool live_out; /* it lives after the region */
} live_range;

typedef struct range_reader {
    uint32_t at, next;
} range_reader;

typedef struct sched_node {
    uint32_t edges,
        npreds; /* first of the edges to what must come after; how many must come before */
    uint32_t npreds_left; /* of these not placed yet; PL_IR_NONE: it is placed itself */
    uint32_t min_start;   /* least distance from the start of the region, for what is loaded before
                          it */
    uint32_t critical_path,
        earliest;      /* cycles to the end of the region; least distance from its start */
    uint32_t priority; /* the same, and schedule.load_lead more for loads: their addresses need not
                        all be there first */
    uint32_t asap;     /* distance from the start if nothing but operands is waited for */
    uint32_t alap_shared; /* of a load from shared memory, where it must stand so that no reader
                           waits longer; PL_IR_NONE: no reader, or something else */
    uint32_t uses, writes, end; /* in list.uses: where what it reads begins, what it writes, and
                                   what comes after that */
    uint32_t last_reads,
        nlast_reads; /* range in list.readings: what may cease to be needed after it */
    int reg_delta,
        reg_delta_now; /* registers more or less with it: if it came first; if it came now */
    int pred_delta, pred_delta_now; /* the same of predicates */
    uint32_t latency;               /* until its result */
    int temporaries;                /* registers that it needs while it runs */
    bool is_global_load, is_shared_load,
        consumed; /* a load from far away, from shared memory; something after it has read it */
    uint8_t unit, unit_cycles; /* unit that it holds for so many cycles; PL_SCHED_NONE: none */
} sched_node;

/* An instruction that can come next: everything before it is placed. */
typedef struct ready_insn {
    uint32_t at, earliest, priority;
    uint8_t unit;
} ready_insn;

typedef struct sched {
    pl_ir *x;
    const pl_tuning *t;
    int full_regs; /* of values, with which an SM holds all its warps */
    pl_insn *code;
    uint32_t n, at;
    sched_node *node;
    ready_insn *ready; /* those within the window, the most urgent last: mostly one of these is
                         taken, and the others need not be looked at */
    uint32_t nready, nwindowed; /* how many; instructions before this one have been within it */
    uint32_t *order, *best; /* instructions in the order that is being made; in the best so far */
    uint32_t window;        /* how far ahead of the first that is not placed */
    bool delay_loads;       /* what is near is not loaded before it is needed either */
    uint8_t
        max_temporaries; /* the most registers that any of its instructions needs while it runs */
    uint32_t end;        /* where the region can end: distance from its start */
    uint32_t shared_load_delay; /* cycles by which loads from shared memory came later than they
                      were needed, at most */
    uint32_t unit_free_at[PL_SCHED_NONE + 1]; /* distance from the start of the region at which the
                                 unit takes another instruction */
    struct {
        dep_edge *at;
        size_t n, cap;
    } edges;
    struct {
        operand_use *at;
        size_t n, cap;
    } uses;
    struct {
        range_reader *at;
        size_t n, cap;
    } readers;
    struct {
        live_range *at;
        size_t n, cap;
    } ranges;
    struct {
        uint32_t *at;
        size_t n, cap;
    } last_reads; /* index in `live_range` */
    pl_memory_dependence *memory;
    uint32_t *last_writer, *readers_of; /* by slot: last write in this region; first of the readers
                                since then; PL_IR_NONE */
    uint32_t *range_of;                 /* by slot: what it holds, index in `live_range` */
    bool *live_out;                     /* by value: live after the region */
    uint32_t *loading_region; /* by value: the region that begins while it is still loaded */
    uint32_t *seen_region,
        region; /* by value: number of the last region that touches it; of the one at work */
    pl_liveness f;
    uint32_t nvalues, block, start; /* block at work; position of the region in it */
    int live_in, limit;             /* registers live before the region; that a thread may have */
    int loads_in_flight;            /* loads placed, and no reader of theirs */
    int preds_live_in,
        preds_live;   /* predicates live before the region; after what has been placed */
    int max_pressure; /* at once in any region, in the order that it has now */
    int max_needed; /* what the regions need: more than one may take where another takes them anyway
                     */
    bool limit_preds;  /* no more than there are predicates */
    bool fits_preds;   /* they do in the order of the text */
    bool measure_only; /* find that out; the order stays */
} sched;

static inline const pl_class_info *class_of(sched *l, uint16_t cls)
{
    const pl_class_info *c = &pl_classes[cls];
    l->max_temporaries = c->temporaries > l->max_temporaries ? c->temporaries : l->max_temporaries;
    return c;
}

static uint32_t latency_of(const sched *l, const pl_class_info *c, const pl_insn *i)
{
    if (pl_insn_effects(i) & PL_EF_LOAD) switch ((pl_space)i->sel[PL_M_SPACE]) {
        case PL_SP_SHARED: return l->t->schedule.shared_load_latency;
        case PL_SP_CONST:
        case PL_SP_PARAM: return l->t->schedule.constant_load_latency;
        default: return l->t->schedule.global_load_latency;
        }
    return c->latency ? c->latency : l->t->schedule.fixed_latency;
}

/* Units that take an instruction every second cycle or less, and the cycles between two
 * (h200/micro, 2026-11): the assembler puts other work in between. Additions, copies and shifts by
 * a constant go to whichever integer unit is free. The columns `unit` and `unit_cycles` of
 * isa/table/classes.isa. PL_SCHED_NONE: none. */
static uint8_t unit_of(const pl_class_info *c, const pl_insn *i)
{
    uint16_t m = pl_insn_mnem(i);
    return i->latency_class == C_alu && (m == M_add || m == M_sub || m == M_shl || m == M__mov)
               ? PL_SCHED_NONE
               : c->unit;
}

/* Distance from the start of the region at which it can stand. */
static uint32_t issue_cycle(const sched *l, const ready_insn *c)
{
    return l->unit_free_at[c->unit] > c->earliest ? l->unit_free_at[c->unit] : c->earliest;
}

/* Registers only: what lanes exchange, matrix instructions. */
static bool lane_exchange(const pl_insn *i)
{
    return pl_insn_effects(i) == PL_EF_CONVERGE && i->latency_class != C_warp_sync;
}

static bool is_load(const pl_insn *i)
{
    return (pl_insn_effects(i) & ~(uint32_t)PL_EF_CONVERGE) == PL_EF_LOAD &&
           !(i->sel[PL_M_FLAGS] & PL_MF_POLL);
}

/* Another block of the machine begins after it: lanes that are diverged have left, or go on by
 * groups, or meet (compiler/codegen/insert_reconvergence.c). */
static bool is_convergence_query(const pl_insn *i)
{
    const uint16_t m = pl_insn_mnem(i);
    return m == M__apart || m == M__agree || m == M__groups || m == M__bsync;
}

/* Ends a region: nothing moves past it. */
static bool ends_region(sched *l, const pl_insn *i)
{
    uint16_t m = pl_insn_mnem(i);
    return (pl_insn_effects(i) & (PL_EF_BRANCH | PL_EF_EXIT | PL_EF_CALL)) || m == M__slow ||
           m == M_activemask || m == M_griddepcontrol || is_convergence_query(i) ||
           class_of(l, i->latency_class)->region_end;
}

static void add_edge(sched *l, uint32_t from, uint32_t to, uint32_t cycles)
{
    if (from == PL_IR_NONE || from == to) return;
    dep_edge *e = pl_push(l->x->tmp, &l->edges);
    if (!e) return;
    *e = (dep_edge){to, cycles, l->node[from].edges};
    l->node[from].edges = (uint32_t)(l->edges.n - 1);
    l->node[to].npreds++;
}

static inline void note_read(void *ctx, uint32_t *row, unsigned count, unsigned how)
{
    sched *l = ctx;
    const uint32_t value = pl_liveness_value_of(&l->f, *row, how);
    (void)count;
    if (value)
        *pl_push(l->x->tmp, &l->uses) = (operand_use){
            value - 1, PL_IR_NONE, (how & PL_USE_PRED) && *row == l->code[l->at].guard, false};
}

static inline void note_write(void *ctx, uint32_t *row, unsigned count, unsigned how)
{
    sched *l = ctx;
    const uint32_t value = pl_liveness_value_of(&l->f, *row, how);
    if (value)
        *pl_push(l->x->tmp, &l->uses) =
            (operand_use){value - 1, PL_IR_NONE, false,
                          l->f.v[value - 1].alias_of == value - 1 &&
                              pl_liveness_defines(&l->f, value - 1, count, how)};
}

/* Edges by registers: a reader follows the write; a write follows the write before and its readers.
 */
static void add_register_edges(sched *l, uint32_t at)
{
    const sched_node *n = &l->node[at];
    for (uint32_t k = n->uses; k < n->writes; k++) {
        const operand_use *u = &l->uses.at[k];
        uint32_t from = l->last_writer[u->value];
        if (from == PL_IR_NONE && l->loading_region[u->value] == l->region)
            l->node[at].min_start = l->t->schedule.shared_load_latency;
        if (from != PL_IR_NONE)
            add_edge(l, from, at,
                     u->guard && l->node[from].latency < l->t->schedule.guard_latency
                         ? l->t->schedule.guard_latency
                         : l->node[from].latency);
        range_reader *r = pl_push(l->x->tmp, &l->readers);
        *r = (range_reader){at, l->readers_of[u->value]};
        l->readers_of[u->value] = (uint32_t)(l->readers.n - 1);
    }
    for (uint32_t k = n->writes; k < n->end; k++) {
        const operand_use *u = &l->uses.at[k];
        add_edge(l, l->last_writer[u->value], at, 1);
        for (uint32_t r = l->readers_of[u->value]; r != PL_IR_NONE; r = l->readers.at[r].next)
            add_edge(l, l->readers.at[r].at, at, 0);
        l->last_writer[u->value] = at;
        l->readers_of[u->value] = PL_IR_NONE;
    }
}

static uint32_t address_row(const pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    for (unsigned k = 0; k < f->noperands && k < PL_INLINE_OPERANDS; k++)
        if (f->operand[k].kind == PL_K_ADDR) return i->op[k];
    return PL_IR_NONE;
}

static pl_access access_of(const sched *l, uint32_t at)
{
    const pl_insn *i = &l->code[at];
    uint32_t row = address_row(i);
    bool known = row != PL_IR_NONE && row < l->x->f->rows && l->x->regs[row].ndefs == 1;
    return (pl_access){.at = at,
                       .space = i->sel[PL_M_SPACE],
                       .base = known ? row : PL_UNKNOWN_BASE,
                       .from = i->imm,
                       .to = i->imm + ((int64_t)i->sel[PL_M_COUNT] << i->sel[PL_M_LOG2])};
}

/* Edges by memory and by the carry flag. *last: the one before that orders all memory, *flags: that
 * touched the flag, or PL_IR_NONE. */
static void add_memory_edges(sched *l, uint32_t at, uint32_t *last, uint32_t *flags)
{
    const pl_insn *i = &l->code[at];
    bool load = is_load(i), store = plain_store(i);
    if (pl_insn_pure(i) || lane_exchange(i) || (load && pl_insn_has(i, W_nc)) ||
        pl_insn_reads_cbank(l->x, i))
        return; /* nobody writes what .nc reads (PTX manual, ld.global.nc), or the constant bank:
                   ptxas moves it past barriers, fences, atomics */
    if (!pl_insn_effects(i) && !(i->flags & (PL_IF_CONTROL | PL_IF_MEM))) {
        add_edge(l, *flags, at, l->t->schedule.fixed_latency);
        *flags = at;
        return;
    }
    const pl_access a = access_of(l, at);
    const uint32_t *loads = NULL;
    uint32_t n = 0;
    add_edge(l, *last, at, 1);
    add_edge(l,
             load    ? pl_memory_dependence_of_load(l->memory, &a)
             : store ? pl_memory_dependence_of_store(l->memory, &a, &loads, &n)
                     : pl_memory_dependence_of_all(l->memory, &loads, &n),
             at, 1);
    for (uint32_t k = 0; k < n; k++) add_edge(l, loads[k], at, 0);
    if (!load && !store) {
        *last = at;
        pl_memory_dependence_start(l->memory);
    }
}

/* Finds what each register holds between writes, and who reads it. */
static bool find_live_ranges(sched *l)
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

/* What every instruction does to the number of registers: who reads what last is known only when it
 * is placed. */
static bool find_last_reads(sched *l)
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

/* Instruction `at` is placed: what only one reader is left of ceases to be needed with that one.
 * Here, because candidates are compared far more often than placed. Returns the registers more or
 * less. */
static int place_insn(sched *l, uint32_t at)
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

/* Does it take one of the last predicates? */
static inline bool takes_predicate(const sched *l, const sched_node *n)
{
    return l->limit_preds && n->pred_delta_now > 0 &&
           l->preds_live >= l->t->registers.predicates - l->t->schedule.predicate_margin;
}

/* When a load from shared memory should come whose first reader could be placed early: of a chain
 * that needs one after the other, ptxas begins with those that it comes to while the first is on
 * its way (of 24 words ten where each needs one FFMA, four where each needs three;
 * schedule.shared_load_latency is what that tells), whether or not the chain is what the region
 * waits for (8 and 16 words, floats and doubles, alone and beside loads from far away; ptxas 13.0
 * for sm_90, 2026-11: 12 of 16 equal, the others differ by one. Beside a long chain of sums it
 * begins with fewer, which is not done here). */
static inline uint32_t shared_load_due(const sched *l, const sched_node *n)
{
    const uint32_t at = n->alap_shared + l->shared_load_delay;
    return at > l->t->schedule.load_lead ? at - l->t->schedule.load_lead : 0;
}

/* When it should come: what takes a register is done when it is needed, not when there is time for
 * it. Other results that are waited for than those of loads are asked for as soon as possible,
 * unless that is found to leave too few registers for loads from far away. when: it cannot come
 * earlier. */
static inline uint32_t preferred_cycle(const sched *l, const ready_insn *c, uint32_t when,
                                       uint32_t cycle)
{
    uint32_t latest = l->end - c->priority;
    const sched_node *n = &l->node[c->at];
    if (n->alap_shared != PL_IR_NONE && n->reg_delta_now > 0) {
        const uint32_t at = shared_load_due(l, n);
        if (at <= latest) return at > when ? at : when;
    }
    if (latest <= cycle + l->t->schedule.lead || latest <= when + l->t->schedule.lead ||
        (n->latency >= l->t->schedule.waited_latency && n->latency < l->t->schedule.long_latency &&
         !n->is_shared_load && !l->delay_loads) ||
        (n->reg_delta_now <= 0 && !takes_predicate(l, n)))
        return when;
    if (l->limit_preds && n->pred_delta_now < 0 && l->preds_live >= l->t->registers.predicates)
        return when;
    return latest - l->t->schedule.lead;
}

static uint64_t rank_of(const ready_insn *c, uint32_t when, uint32_t cycle)
{
    return (uint64_t)(when <= cycle ? 0 : when) << 32 | (UINT32_MAX - c->priority);
}

/* Is it a load that ptxas would not ask for yet, with `room` registers left? */
static inline bool exceeds_loads_in_flight(const sched *l, const sched_node *n, int room)
{
    if (!(n->is_global_load || n->is_shared_load) || n->reg_delta_now <= 0 ||
        l->max_needed > l->full_regs ||
        room - n->reg_delta_now >=
            (n->is_global_load ? l->t->schedule.load_spare_regs : l->t->schedule.shared_spare_regs))
        return false;
    return l->loads_in_flight >= (n->reg_delta_now > 2 ? n->is_global_load
                                                             ? l->t->schedule.wide_loads_in_flight
                                                             : l->t->schedule.shared_wide_in_flight
                                  : n->is_global_load  ? l->t->schedule.loads_in_flight
                                                       : l->t->schedule.shared_loads_in_flight);
}

/* Is there a predicate for what it finds? */
static inline bool has_predicate(const sched *l, const ready_insn *c)
{
    return !l->limit_preds || l->node[c->at].pred_delta_now <= 0 ||
           l->preds_live + l->node[c->at].pred_delta_now <= l->t->registers.predicates;
}

/* Which of the ready instructions comes next: index in `ready`; PL_IR_NONE: for none of them is
 * there a predicate, or a register among the `room`. */
static uint32_t pick_critical_path(const sched *l, uint32_t cycle, int room)
{
    uint32_t best = PL_IR_NONE, best_at = UINT32_MAX;
    uint64_t min = UINT64_MAX;
    for (uint32_t k = l->nready; k-- > 0;) {
        const ready_insn *c = &l->ready[k];
        uint32_t when = issue_cycle(l, c);
        uint64_t rank = rank_of(c, when, cycle);
        if (rank > min || (rank == min && c->at > best_at) || !has_predicate(l, c) ||
            exceeds_loads_in_flight(l, &l->node[c->at], room))
            continue;
        when = preferred_cycle(l, c, when, cycle);
        if (when <= cycle) /* those that follow are less urgent */
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

/* The same where few registers are left, `room`: what has begun is waited for, if it comes soon,
 * rather than begin something else. */
static uint32_t pick_min_pressure(const sched *l, uint32_t cycle, int room)
{
    uint32_t best = PL_IR_NONE, best_when = 0;
    int best_d = 0;
    bool best_fits = true;
    for (uint32_t k = l->nready; k-- > 0;) {
        const ready_insn *c = &l->ready[k], *o = &l->ready[best];
        int d = l->node[c->at].reg_delta_now, spare = l->node[c->at].temporaries;
        bool fits = ((d <= 0 && !spare) || d + spare <= room) && has_predicate(l, c) &&
                    !exceeds_loads_in_flight(l, &l->node[c->at], room),
             better = best == PL_IR_NONE;
        uint32_t when = preferred_cycle(l, c, issue_cycle(l, c), cycle);
        when = when <= cycle + l->t->schedule.soon ? 0 : when;
        if (room > 0 && fits && !when && d <= 0) /* those that follow are less urgent */
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
            else if (room <= 0 && d != best_d)
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

/* What an order is like: cycles until its last instruction; most registers at once; did the limit
 * decide? */
typedef struct schedule_result {
    uint32_t cycles;
    int max_pressure;
    bool limited;
    int max_preds;       /* most predicates at once */
    bool partial_window; /* it does not look as far ahead as any */
} schedule_result;

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

/* The window begins at the oldest instruction that is not placed: what comes into it may be ready.
 */
static void extend_window(sched *l, uint32_t oldest)
{
    uint32_t end = l->n - oldest <= l->window ? l->n : oldest + l->window + 1;
    for (; l->nwindowed < end; l->nwindowed++)
        if (!l->node[l->nwindowed].npreds_left) make_ready(l, l->nwindowed);
}

/* An order that another one has to be better than, in registers beyond the limit, then in cycles;
 * and how many registers are too many, whatever else. */
typedef struct schedule_bound {
    int excess, max_pressure;
    uint32_t cycles;
} schedule_bound;

static void keep_order(sched *l)
{
    uint32_t *order = l->order;
    l->order = l->best;
    l->best = order;
}

/* Puts the region in order, in l->order. *fails: it is not better, and the order is not finished.
 */
static schedule_result list_schedule(sched *l, int max, const schedule_bound *b, bool *fails)
{
    uint32_t cycle = 0, oldest = 0;
    int live = l->live_in;
    schedule_result o = {.max_pressure = live,
                         .partial_window =
                             l->window < l->t->schedule.windows.at[0] && l->window < l->n};
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
    extend_window(l, 0);
    *fails = false;
    for (uint32_t placed = 0; placed < l->n; placed++) {
        uint32_t k = max - live < l->t->schedule.tight_room
                         ? PL_IR_NONE
                         : pick_critical_path(l, cycle, max - live);
        k = k == PL_IR_NONE ? pick_min_pressure(l, cycle, max - live) : k;
        const uint32_t at = l->ready[k].at;
        uint32_t min = issue_cycle(l, &l->ready[k]);
        sched_node *n = &l->node[at];
        l->nready--;
        memmove(l->ready + k, l->ready + k + 1, (l->nready - k) * sizeof *l->ready);
        cycle = min > cycle ? min : cycle;
        l->end = cycle + n->priority > l->end ? cycle + n->priority : l->end;
        if (n->unit != PL_SCHED_NONE) l->unit_free_at[n->unit] = cycle + n->unit_cycles;
        l->order[placed] = at;
        if (n->alap_shared != PL_IR_NONE && cycle > n->alap_shared + l->shared_load_delay)
            l->shared_load_delay = cycle - n->alap_shared;
        n->npreds_left = PL_IR_NONE;
        live += place_insn(l, at);
        o.limited |= max - live < l->t->schedule.tight_room;
        o.max_pressure =
            live + n->temporaries > o.max_pressure ? live + n->temporaries : o.max_pressure;
        o.max_preds = l->preds_live > o.max_preds ? l->preds_live : o.max_preds;
        for (uint32_t e = n->edges; e != PL_IR_NONE; e = l->edges.at[e].next) {
            uint32_t to = l->edges.at[e].to;
            sched_node *m = &l->node[to];
            if (m->earliest < cycle + l->edges.at[e].cycles)
                m->earliest = cycle + l->edges.at[e].cycles;
            if (--m->npreds_left == 0 && to < l->nwindowed) make_ready(l, to);
        }
        cycle++;
        while (oldest < l->n && l->node[oldest].npreds_left == PL_IR_NONE) oldest++;
        extend_window(l, oldest);
        int over = o.max_pressure > max ? o.max_pressure - max : 0;
        if (over > b->excess || (over == b->excess && cycle >= b->cycles) ||
            (o.limited && o.max_pressure > b->max_pressure)) {
            *fails = true;
            return o;
        }
    }
    o.cycles = cycle;
    return o;
}

/* The best order within so many registers, in l->best. Where every order takes more than `useful`,
 * any of them may be told. */
static schedule_result try_windows(sched *l, int max, int useful)
{
    schedule_result best = {0};
    bool none = true; /* so far all were given up because of `useful` */
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
        schedule_result o = list_schedule(l, max, &b, &fails);
        if (none && fails) {
            best = o;
            continue;
        }
        if (fails) continue;
        if (k && none && o.max_pressure > useful) /* which of two useless ones is the better one
                                             decides whether a third is tried */
            return try_windows(l, max, INT_MAX);
        none = false;
        best = o;
        keep_order(l);
    }
    return best;
}

static int capped_pressure(const sched *l, int max)
{
    return max < l->limit ? max : l->limit;
}

/* The most registers of a thread for the k-th number of warps. */
static int step_regs(const sched *l, size_t k)
{
    return (int)l->t->registers.steps.at[k];
}

/* What a region needs at most that takes so many registers in the order of the text. */
static size_t occupancy_step_above(const sched *l, int text)
{
    size_t k = 0;
    while (k + 1 < l->t->registers.steps.n &&
           step_regs(l, k) - l->t->registers.reserved < text + l->t->schedule.text_margin)
        k++;
    return k;
}

/* Are there several loads of 16 bytes in the region? */
static bool has_wide_loads(const sched *l)
{
    enum { BYTES = 16, SEVERAL = 2 };
    unsigned n = 0;
    for (uint32_t at = 0; at < l->n && n < SEVERAL; at++)
        n += is_load(&l->code[at]) &&
             l->code[at].sel[PL_M_COUNT] << l->code[at].sel[PL_M_LOG2] == BYTES;
    return n == SEVERAL;
}

/* Registers with which loads of 16 bytes run ahead. Of loops of 4 to 12 such loads beside 4 to 110
 * sums, ptxas 13.0 for sm_90 (2026-11) gives those the next step whose text needs fewer than 7
 * (from near) or 8 to 12 (from far) less than there are, at every step, unless all that can begin
 * early fits too. Of loads of 4 bytes it is 4; the text that ptxas sees differs by as much from
 * ours. */
static int step_for_wide_loads(sched *l, int text, int step)
{
    const int all = try_windows(l, capped_pressure(l, INT_MAX), INT_MAX).max_pressure,
              preferred_cycle = all < text + l->t->schedule.wide_load_regs
                                    ? all
                                    : text + l->t->schedule.wide_load_regs;
    for (size_t k = 0;
         k < l->t->registers.steps.n && step_regs(l, k) <= l->t->schedule.wide_load_limit; k++)
        if (step_regs(l, k) - l->t->registers.reserved >= preferred_cycle)
            return step_regs(l, k) - l->t->registers.reserved > step
                       ? step_regs(l, k) - l->t->registers.reserved
                       : step;
    return step;
}

/* What a region needs that does not do with full_regs. */
static void measure_pressure(sched *l, int text)
{
    size_t k =
        text + l->t->schedule.full_margin <= l->full_regs ? 0 : occupancy_step_above(l, text);
    int step = step_regs(l, k) - l->t->registers.reserved,
        lower = k ? step_regs(l, k - 1) - l->t->registers.reserved : 0;
    if (step > l->full_regs && k > 0) {
        schedule_result less = try_windows(l, capped_pressure(l, lower), lower);
        if (less.max_pressure <= lower) {
            schedule_result here = try_windows(l, capped_pressure(l, step), INT_MAX);
            step =
                less.cycles <= here.cycles + here.cycles / l->t->schedule.step_gain ? lower : step;
        }
    }
    if (has_wide_loads(l)) step = step_for_wide_loads(l, text, step);
    l->max_needed = step > l->max_needed ? step : l->max_needed;
}

/* Where everything could stand, and from that where loads from shared memory must. Edges lead
 * forwards. */
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
        bool later =
            n->latency >= l->t->schedule.long_latency &&
            !plain_store(&l->code[at]); /* what the next block reads is on its way until then */
        for (uint32_t e = n->edges; e != PL_IR_NONE; e = l->edges.at[e].next) {
            uint32_t h = l->node[l->edges.at[e].to].critical_path + l->edges.at[e].cycles;
            n->critical_path = h > n->critical_path ? h : n->critical_path;
            later &= l->edges.at[e].cycles < l->t->schedule.long_latency;
        }
        n->critical_path = later && n->critical_path < n->latency ? n->latency : n->critical_path;
        n->priority = n->critical_path +
                      (n->latency >= l->t->schedule.long_latency ? l->t->schedule.load_lead : 0);
    }
}

/* What must stay in order, and what registers hold. */
static bool build_dependence_graph(sched *l)
{
    uint32_t last = PL_IR_NONE, flags = PL_IR_NONE;
    l->edges.n = l->uses.n = l->readers.n = 0;
    for (l->at = 0; l->at < l->n; l->at++) {
        const pl_insn *i = &l->code[l->at];
        const pl_class_info *c = class_of(l, i->latency_class);
        const uint32_t cycles = latency_of(l, c, i);
        l->node[l->at] = (sched_node){
            .edges = PL_IR_NONE,
            .uses = (uint32_t)l->uses.n,
            .latency = cycles,
            .temporaries = c->temporaries,
            .is_global_load = is_load(i) && cycles >= l->t->schedule.long_latency,
            .is_shared_load = is_load(i) && cycles == l->t->schedule.shared_load_latency,
            .unit = unit_of(c, i),
            .unit_cycles = c->unit_cycles};
        pl_liveness_visit(&l->f, l->block, l->start + l->at);
        pl_insn_reads_here(l->x->p, &l->code[l->at], note_read, l);
        l->node[l->at].writes = (uint32_t)l->uses.n;
        pl_insn_writes_here(l->x->p, &l->code[l->at], note_write, l);
        l->node[l->at].end = (uint32_t)l->uses.n;
    }
    if (l->readers.cap <
        l->uses.n) /* their lists are followed while they grow, which must not fail in between */
        pl_reserve(l->x->tmp, &l->readers, 2 * l->uses.n);
    if (!pl_arena_ok(l->x->tmp)) return false;
    for (size_t k = 0; k < l->uses.n; k++) {
        uint32_t slot = l->uses.at[k].value;
        l->last_writer[slot] = l->readers_of[slot] = PL_IR_NONE;
    }
    pl_memory_dependence_start(l->memory);
    for (uint32_t at = 0; at < l->n; at++) {
        add_register_edges(l, at);
        add_memory_edges(l, at, &last, &flags);
    }
    if (!pl_arena_ok(l->x->tmp) || !find_live_ranges(l) || !find_last_reads(l)) return false;
    find_asap_alap(l);
    find_priorities(l);
    return true;
}

/* Place k gets what stands at from[k]: one round of places after the other moves on. `from` is used
 * up. */
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

/* Is what the region needs no more than is taken anyway? */
static bool fits_without_reordering(const sched *l, int text)
{
    const int have = l->max_needed > l->full_regs ? l->max_needed : l->full_regs;
    return (text + l->t->schedule.full_margin <= l->full_regs ||
            step_regs(l, occupancy_step_above(l, text)) - l->t->registers.reserved <=
                l->max_needed) &&
           (text + l->t->schedule.wide_load_regs <= have || !has_wide_loads(l));
}

/* o was made for `max` registers and looks a short way ahead, as no order that looks far took no
 * more than `target`. One that looks far but begins as if there were a few registers less may be
 * much shorter, as its loads start together; in the end it may take `target`. Only these are tried,
 * and given up when too long. */
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
        const schedule_result other = list_schedule(l, fewer, &b, &fails);
        if (fails || other.cycles >= enough) continue;
        o = other;
        enough = o.cycles;
        keep_order(l);
    }
    return o;
}

/* The best order of the region within what its function takes, in l->best. */
static schedule_result find_best_order(sched *l)
{
    const int target = l->max_needed > l->full_regs ? l->max_needed : l->full_regs;
    for (int max = target; max >= target - (l->full_regs - l->t->schedule.min_regs);
         max -= l->t->schedule.regs_step) {
        const schedule_result o = try_windows(l, capped_pressure(l, max), target);
        if (o.max_pressure <= target)
            return o.partial_window ? retry_with_fewer_regs(l, max, target, o) : o;
    }
    return try_windows(l, capped_pressure(l, target), INT_MAX);
}

/* text: registers that the region needs in the order of the text. */
static bool schedule_region(sched *l, int text)
{
    if (l->measure_only ? fits_without_reordering(l, text) : l->n < 2) {
        note_pressure(l, text);
        return true;
    }
    if (!build_dependence_graph(l)) return false;
    if (l->measure_only) {
        measure_pressure(l, text);
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

/* Registers that a kernel may take without need: all of its limit where it names one, in registers
 * or in blocks an SM (.minnctapersm); as many as BLOCKS of one warp have where its blocks are no
 * larger. Kernels of 100 loads with all such limits, ptxas 13.0 for sm_90, 2026-11. */
static int free_register_limit(const sched *l, const pl_prog_func *f, int limit)
{
    const uint32_t *n = f->reqntid[0] ? f->reqntid : f->maxntid;
    const uint32_t threads = n[0] * (n[1] ? n[1] : 1) * (n[2] ? n[2] : 1);
    const int room = f->maxnreg || (f->minnctapersm && threads) ? limit
                     : threads && threads <= PL_LANES
                         ? l->t->registers.one_warp - l->t->registers.reserved
                         : 0;
    return room < limit ? room : limit;
}

static inline void note_live_out(sched *l, uint32_t value)
{
    const uint32_t where = l->f.v[value].alias_of;
    if (l->seen_region[where] == l->region) return;
    l->seen_region[where] = l->region;
    l->live_out[where] = l->f.v[where].live_refs > 0;
}

/* Back over one instruction: what it starts anew is not live before it, what it reads or
 * writes in part is. */
static inline void step_back_write(void *ctx, uint32_t *row, unsigned count, unsigned how)
{
    sched *l = ctx;
    uint32_t value = pl_liveness_value_of(&l->f, *row, how);
    if (!value--) return;
    note_live_out(l, value);
    pl_liveness_set(&l->f, value, !pl_liveness_defines(&l->f, value, count, how));
}

static inline void step_back_read(void *ctx, uint32_t *row, unsigned count, unsigned how)
{
    sched *l = ctx;
    uint32_t value = pl_liveness_value_of(&l->f, *row, how);
    (void)count;
    if (!value--) return;
    note_live_out(l, value);
    pl_liveness_set(&l->f, value, true);
}

static void step_back(sched *l, pl_ir_block *k, size_t at)
{
    pl_liveness_visit(&l->f, l->block, (uint32_t)at);
    pl_insn_writes_here(l->x->p, &k->code.at[at], step_back_write, l);
    pl_insn_reads_here(l->x->p, &k->code.at[at], step_back_read, l);
}

static inline void note_loading(void *ctx, uint32_t *row, unsigned count, unsigned how)
{
    sched *l = ctx;
    uint32_t value = pl_liveness_value_of(&l->f, *row, how);
    (void)count;
    if (value--) l->loading_region[value] = l->region;
}

/* Where lanes are asked for, what was loaded before it is still under way. */
static void note_loads_in_flight(sched *l, pl_ir_block *k, size_t wall_at)
{
    if (!is_convergence_query(&k->code.at[wall_at])) return;
    for (size_t at = wall_at; at > 0 && !ends_region(l, &k->code.at[at - 1]); at--)
        if (is_load(&k->code.at[at - 1]))
            pl_insn_writes_here(l->x->p, &k->code.at[at - 1], note_loading, l);
}

/* Walks back over a block, region by region. */
static bool schedule_block(sched *l, uint32_t b)
{
    pl_ir_block *k = &l->x->blocks.at[b];
    l->block = b;
    pl_liveness_go_to_end(&l->f, b);
    for (size_t end = k->code.n; end > 0;) {
        int text = (int)l->f.reg_pressure, truths = (int)l->f.pred_pressure;
        note_pressure(l, text);
        size_t at = end;
        l->region++;
        for (; at > 0 && !ends_region(l, &k->code.at[at - 1]); at--) {
            step_back(l, k, at - 1);
            text = (int)l->f.reg_pressure > text ? (int)l->f.reg_pressure : text;
            truths = (int)l->f.pred_pressure > truths ? (int)l->f.pred_pressure : truths;
        }
        l->live_in = (int)l->f.reg_pressure;
        l->preds_live_in = (int)l->f.pred_pressure;
        l->fits_preds = truths <= l->t->registers.predicates;
        l->code = k->code.at + at;
        l->start = (uint32_t)at;
        l->n = (uint32_t)(end - at);
        if (at > 0) note_loads_in_flight(l, k, at - 1);
        if (l->n > 0 && !schedule_region(l, text)) return false;
        if (at > 0) step_back(l, k, --at);
        end = at;
    }
    note_pressure(l, (int)l->f.reg_pressure);
    return true;
}

/* A predicate of which only parts are ever written is needed where the function begins, and is
 * nothing there: it holds none until then. */
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
