/* schedule.h - list scheduling: what its parts share. Private to compiler/codegen/sched*.c. */
#ifndef PL_COMPILER_CODEGEN_SCHEDULE_H
#define PL_COMPILER_CODEGEN_SCHEDULE_H

#include "compiler/analysis/constant_bank.h"
#include "compiler/analysis/liveness.h"
#include "compiler/codegen/register_allocation.h"
#include "compiler/analysis/memory_dependence.h"
#include "compiler/passes.h"
#include "compiler/tuning.h"
#include "isa/program/operand_plan.h"
#include "isa/program/resource_usage.h"

typedef struct dep_edge {
    /* next: index of a further edge from the same instruction, PL_IR_NONE. */
    uint32_t to, cycles, next;
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
    uint32_t nreaders_left, reader_xor_left; /* the same for those not scheduled yet */
    int width;
    uint32_t load; /* that it comes from, PL_IR_NONE */
    bool is_pred;  /* it is a predicate */
    bool live_out; /* it lives after the region */
} live_range;

typedef struct range_reader {
    uint32_t at, next;
} range_reader;

typedef struct sched_node {
    /* First of the edges to what must come after; how many must come before. */
    uint32_t edges, npreds;
    uint32_t npreds_left; /* of these not placed yet; PL_IR_NONE: it is placed itself */
    uint32_t min_start;   /* least distance from the start of the region, for what is loaded before
                          it */
    /* Cycles to the end of the region; least distance from its start. */
    uint32_t critical_path, earliest;
    uint32_t priority; /* the same, and schedule.load_lead more for loads: their addresses need not
                        all be there first */
    uint32_t asap;     /* distance from the start if nothing but operands is waited for */
    uint32_t alap_shared; /* of a load from shared memory, where it must stand so that no reader
                           waits longer; PL_IR_NONE: no reader, or something else */
    uint32_t uses, writes, end; /* in list.uses: where what it reads begins, what it writes, and
                                   what comes after that */
    /* Range in list.readings: what may cease to be needed after it. */
    uint32_t last_reads, nlast_reads;
    /* Registers more or less with it: if it came first; if it came now. */
    int reg_delta, reg_delta_now;
    int pred_delta, pred_delta_now; /* the same for predicates */
    uint32_t latency;               /* until its result */
    int temporaries;                /* registers that it needs while it runs */
    /* A load from far away, from shared memory; something after it has read it. */
    bool is_global_load, is_shared_load, consumed;
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
    /* The most registers that any of its instructions needs while it runs. */
    uint8_t max_temporaries;
    uint32_t end;               /* where the region can end: distance from its start */
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
    /* By value: number of the last region that touches it; of the one at work. */
    uint32_t *seen_region, region;
    pl_liveness f;
    uint32_t nvalues, block, start; /* block at work; position of the region in it */
    int live_in, limit;             /* registers live before the region; that a thread may have */
    int loads_in_flight;            /* loads placed, and no reader of theirs */
    /* Predicates live before the region; after what has been placed. */
    int preds_live_in, preds_live;
    int max_pressure; /* at once in any region, in the order that it has now */
    int max_needed; /* what the regions need: more than one may take where another takes them anyway
                     */
    bool limit_preds;  /* no more than there are predicates */
    bool fits_preds;   /* they do in the order of the text */
    bool measure_only; /* find that out; the order stays */
} sched;

static inline const pl_class_info *pl_sched_class_of(sched *l, uint16_t cls)
{
    const pl_class_info *c = &pl_classes[cls];
    l->max_temporaries = c->temporaries > l->max_temporaries ? c->temporaries : l->max_temporaries;
    return c;
}

static inline void pl_sched_note_read(void *ctx, uint32_t *row, unsigned count, unsigned how)
{
    sched *l = ctx;
    const uint32_t value = pl_liveness_value_of(&l->f, *row, how);
    (void)count;
    if (value)
        *pl_push(l->x->tmp, &l->uses) = (operand_use){
            value - 1, PL_IR_NONE, (how & PL_USE_PRED) && *row == l->code[l->at].guard, false};
}

static inline void pl_sched_note_write(void *ctx, uint32_t *row, unsigned count, unsigned how)
{
    sched *l = ctx;
    const uint32_t value = pl_liveness_value_of(&l->f, *row, how);
    if (value)
        *pl_push(l->x->tmp, &l->uses) =
            (operand_use){value - 1, PL_IR_NONE, false,
                          l->f.v[value - 1].alias_of == value - 1 &&
                              pl_liveness_defines(&l->f, value - 1, count, how)};
}

/* True if it takes one of the last predicates. */
static inline bool pl_sched_takes_predicate(const sched *l, const sched_node *n)
{
    return l->limit_preds && n->pred_delta_now > 0 &&
           l->preds_live >= l->t->registers.predicates - l->t->schedule.predicate_margin;
}

/* Cycle at which a load from shared memory should issue whose first reader could be scheduled
 * early. In a chain that needs one load after the other, ptxas starts the loads that it reaches
 * while the first is in flight. Of 24 words these are ten if each needs one FFMA, four if each
 * needs three, as schedule.shared_load_latency says. It does so whether or not the chain is the
 * critical path of the region. (8 and 16 words, floats and doubles, alone and beside global loads;
 * ptxas 13.0 for sm_90, 2026-11: 12 of 16 equal, the others differ by one.) Beside a long chain of
 * sums it starts with fewer, which is not modelled. */
static inline uint32_t pl_sched_shared_load_due(const sched *l, const sched_node *n)
{
    const uint32_t at = n->alap_shared + l->shared_load_delay;
    return at > l->t->schedule.load_lead ? at - l->t->schedule.load_lead : 0;
}

/* When it should come: what takes a register is done when it is needed, not when there is time for
 * it. Other results that are waited for than those of loads are asked for as soon as possible,
 * unless that is found to leave too few registers for loads from far away. when: it cannot come
 * earlier. */
static inline uint32_t pl_sched_preferred_cycle(const sched *l, const ready_insn *c, uint32_t when,
                                                uint32_t cycle)
{
    uint32_t latest = l->end - c->priority;
    const sched_node *n = &l->node[c->at];
    if (n->alap_shared != PL_IR_NONE && n->reg_delta_now > 0) {
        const uint32_t at = pl_sched_shared_load_due(l, n);
        if (at <= latest) return at > when ? at : when;
    }
    if (latest <= cycle + l->t->schedule.lead || latest <= when + l->t->schedule.lead ||
        (n->latency >= l->t->schedule.waited_latency && n->latency < l->t->schedule.long_latency &&
         !n->is_shared_load && !l->delay_loads) ||
        (n->reg_delta_now <= 0 && !pl_sched_takes_predicate(l, n)))
        return when;
    if (l->limit_preds && n->pred_delta_now < 0 && l->preds_live >= l->t->registers.predicates)
        return when;
    return latest - l->t->schedule.lead;
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

/* An order that another one has to be better than, in registers beyond the limit, then in cycles;
 * and how many registers are too many, whatever else. */
typedef struct schedule_bound {
    int excess, max_pressure;
    uint32_t cycles;
} schedule_bound;

/* sched_dag.c */
bool pl_sched_plain_store(const pl_insn *i);
uint32_t pl_sched_latency_of(const sched *l, const pl_class_info *c, const pl_insn *i);
/* Units that take an instruction every second cycle or less, and the cycles between two
 * (tests/data/micro, 2026-11): the assembler puts other work in between. Additions, copies and
 * shifts by a constant go to whichever integer unit is free. The columns `unit` and `unit_cycles`
 * of isa/table/classes.isa. PL_SCHED_NONE: none. */
uint8_t pl_sched_unit_of(const pl_class_info *c, const pl_insn *i);
/* Distance from the start of the region at which it can stand. */
uint32_t pl_sched_issue_cycle(const sched *l, const ready_insn *c);
bool pl_sched_is_load(const pl_insn *i);
/* A block of the machine begins after it: divergent lanes have left, continue in groups, or
 * reconverge (compiler/codegen/insert_reconvergence.c). */
bool pl_sched_is_convergence_query(const pl_insn *i);
/* Ends a region: nothing moves past it. */
bool pl_sched_ends_region(sched *l, const pl_insn *i);
/* Edges by registers: a reader follows the write; a write follows the write before and its readers.
 */
void pl_sched_add_register_edges(sched *l, uint32_t at);
/* Edges by memory and by the carry flag. *last: the one before that orders all memory, *flags: that
 * touched the flag, or PL_IR_NONE. */
void pl_sched_add_memory_edges(sched *l, uint32_t at, uint32_t *last, uint32_t *flags);

/* sched_pressure.c */
/* Finds what each register holds between writes, and who reads it. */
bool pl_sched_find_live_ranges(sched *l);
/* What every instruction does to the number of registers: who reads what last is known only when it
 * is placed. */
bool pl_sched_find_last_reads(sched *l);
/* Instruction `at` is placed: what only one reader is left of ceases to be needed with that one.
 * Here, because candidates are compared far more often than placed. Returns the registers more or
 * less. */
int pl_sched_place_insn(sched *l, uint32_t at);

/* sched_list.c */
void pl_sched_keep_order(sched *l);
/* Puts the region in order, in l->order. *fails: it is not better, and the order is not finished.
 */
schedule_result pl_sched_list_schedule(sched *l, int max, const schedule_bound *b, bool *fails);
/* The best order within so many registers, in l->best. Where every order takes more than `useful`,
 * any of them may be told. */
schedule_result pl_sched_try_windows(sched *l, int max, int useful);

#endif
