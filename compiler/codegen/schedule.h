/* schedule.h - list scheduling: declarations shared by its parts. Private to
 * compiler/codegen/sched*.c. */
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
    /* next: index of another edge from the same instruction, PL_IR_NONE. */
    uint32_t to, cycles, next;
} dep_edge;

typedef struct operand_use {
    uint32_t value; /* liveness value */
    uint32_t range; /* live range of the register: index in sched.ranges */
    bool guard;
    bool defines; /* a write that overwrites the whole previous value */
} operand_use;

/* The live range of a register from one write to the next. If there is one possible last reader,
 * reader_xor is its position. */
typedef struct live_range {
    uint32_t nreads;                         /* reads in this region */
    uint32_t nreaders, reader_xor;           /* possible last readers: count, xor of positions */
    uint32_t nreaders_left, reader_xor_left; /* likewise for those not scheduled yet */
    int width;
    uint32_t load; /* load that writes it, PL_IR_NONE */
    bool is_pred;  /* it is a predicate */
    bool live_out; /* it is live after the region */
} live_range;

typedef struct range_reader {
    uint32_t at, next;
} range_reader;

typedef struct sched_node {
    /* First of the edges to successors; number of predecessors. */
    uint32_t edges, npreds;
    uint32_t npreds_left; /* predecessors not placed yet; PL_IR_NONE: it is placed itself */
    uint32_t min_start;   /* earliest start because of loads before the region */
    /* Cycles to the end of the region; earliest cycle relative to its start. */
    uint32_t critical_path, earliest;
    uint32_t priority;    /* critical_path, plus schedule.load_lead for loads: not all of their
                             addresses need be computed first */
    uint32_t asap;        /* earliest cycle if only operands are waited for */
    uint32_t alap_shared; /* of a load from shared memory, latest cycle that delays no reader;
                             PL_IR_NONE: no reader, or not such a load */
    uint32_t uses, writes, end; /* in sched.uses: start of its reads, of its writes; their end */
    /* Range in sched.last_reads: live ranges that may end with it. */
    uint32_t last_reads, nlast_reads;
    /* Change in registers: if it were first; if it were placed now. */
    int reg_delta, reg_delta_now;
    int pred_delta, pred_delta_now; /* likewise for predicates */
    uint32_t latency;               /* cycles to its result */
    int temporaries;                /* temporary registers during execution */
    /* A global load, a shared memory load; a placed instruction has read its result. */
    bool is_global_load, is_shared_load, consumed;
    uint8_t unit, unit_cycles; /* unit that it occupies, and the cycles; PL_SCHED_NONE: none */
} sched_node;

/* A ready instruction: all its predecessors are placed. */
typedef struct ready_insn {
    uint32_t at, earliest, priority;
    uint8_t unit;
} ready_insn;

typedef struct sched {
    pl_ir *x;
    const pl_tuning *t;
    int full_regs; /* registers for values with which an SM holds all its warps */
    pl_insn *code;
    uint32_t n, at;
    sched_node *node;
    ready_insn *ready; /* ready instructions within the window, the most urgent last: usually one of
                          these is taken, and the others need not be examined */
    uint32_t nready, nwindowed; /* their number; end of those that have entered the window */
    uint32_t *order, *best;     /* the order being built; the best order so far */
    uint32_t window;            /* its length, from the first unplaced instruction */
    bool delay_loads;           /* shared memory loads are not issued early either */
    /* Maximum temporary registers of any of its instructions. */
    uint8_t max_temporaries;
    uint32_t end;               /* estimated end of the region, relative to its start */
    uint32_t shared_load_delay; /* maximum cycles by which shared memory loads were late */
    uint32_t unit_free_at[PL_SCHED_NONE + 1]; /* cycle, relative to the start of the region, at
                                                 which the unit accepts another instruction */
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
    } last_reads; /* indices in `ranges` */
    pl_memory_dependence *memory;
    uint32_t *last_writer, *readers_of; /* by value: last write in this region; first of its readers
                                           since; PL_IR_NONE */
    uint32_t *range_of;                 /* by value: its current range, index in `ranges` */
    bool *live_out;                     /* by value: live after the region */
    uint32_t *loading_region; /* by value: the region that starts while it is still being loaded */
    /* By value: number of the last region that accesses it; number of the current region. */
    uint32_t *seen_region, region;
    pl_liveness f;
    uint32_t nvalues, block, start; /* current block; position of the region in it */
    int live_in, limit;  /* registers live before the region; register limit of a thread */
    int loads_in_flight; /* loads placed without a placed reader */
    /* Predicates live before the region; after the instructions placed so far. */
    int preds_live_in, preds_live;
    int max_pressure;  /* maximum in any region, in its current order */
    int max_needed;    /* registers that the regions need: one region may use as many as another one
                          takes anyway */
    bool limit_preds;  /* the available predicates are a limit */
    bool fits_preds;   /* source order fits in them */
    bool measure_only; /* only computes max_needed; the order is unchanged */
} sched;

static inline const pl_class_info *pl_sched_class_of(sched *l, uint16_t cls)
{
    const pl_class_info *c = &pl_classes[cls];
    l->max_temporaries = c->temporaries > l->max_temporaries ? c->temporaries : l->max_temporaries;
    return c;
}

static inline void pl_sched_note_read(sched *l, const uint32_t *row, unsigned how)
{
    const uint32_t value = pl_liveness_value_of(&l->f, *row, how);
    if (value)
        *pl_push(l->x->tmp, &l->uses) = (operand_use){
            value - 1, PL_IR_NONE, (how & PL_USE_PRED) && *row == l->code[l->at].guard, false};
}

static inline void pl_sched_note_write(sched *l, const uint32_t *row, unsigned count, unsigned how)
{
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

/* The cycle at which a load from shared memory should issue so that its first reader is not
 * delayed. In a chain that needs one load after the other, ptxas starts the loads that it reaches
 * while the first is in flight. Of 24 words these are ten if each needs one FFMA, four if each
 * needs three, in agreement with schedule.shared_load_latency. It does so whether or not the chain
 * is the critical path of the region. (8 and 16 words, floats and doubles, alone and beside global
 * loads; ptxas 13.0 for sm_90, 2026-11: 12 of 16 equal, the others differ by one.) Beside a long
 * chain of sums it starts with fewer, which is not modelled. */
static inline uint32_t pl_sched_shared_load_due(const sched *l, const sched_node *n)
{
    const uint32_t at = n->alap_shared + l->shared_load_delay;
    return at > l->t->schedule.load_lead ? at - l->t->schedule.load_lead : 0;
}

/* The preferred cycle: an instruction that takes a register is placed when it is needed, not as
 * soon as possible. Other results than those of loads that are waited for are started as soon as
 * possible, unless that is found to leave too few registers for global loads. when: its earliest
 * cycle. */
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

/* Properties of an order: cycles until its last instruction; maximum register pressure; true if the
 * limit affected it. */
typedef struct schedule_result {
    uint32_t cycles;
    int max_pressure;
    bool limited;
    int max_preds;       /* maximum predicates live at once */
    bool partial_window; /* its window is not the longest */
} schedule_result;

/* An order that another one must improve on, first in registers beyond the limit, then in cycles;
 * and the maximum register pressure in any case. */
typedef struct schedule_bound {
    int excess, max_pressure;
    uint32_t cycles;
} schedule_bound;

/* sched_dag.c */
bool pl_sched_plain_store(const pl_insn *i);
uint32_t pl_sched_latency_of(const sched *l, const pl_class_info *c, const pl_insn *i);
/* Units that accept an instruction every second cycle or less often, and the cycles between two
 * (tests/data/micro, 2026-11): the assembler places other instructions in between. Additions,
 * copies and shifts by a constant use whichever integer unit is free. See the columns `unit` and
 * `unit_cycles` of isa/table/classes.isa. PL_SCHED_NONE: none. */
uint8_t pl_sched_unit_of(const pl_class_info *c, const pl_insn *i);
/* The earliest cycle, relative to the start of the region, at which it can issue. */
uint32_t pl_sched_issue_cycle(const sched *l, const ready_insn *c);
bool pl_sched_is_load(const pl_insn *i);
/* True if a machine basic block begins after it: divergent lanes have left, continue in groups, or
 * reconverge (compiler/codegen/insert_reconvergence.c). */
bool pl_sched_is_convergence_query(const pl_insn *i);
/* True if the instruction ends a region: nothing moves across it. */
bool pl_sched_ends_region(sched *l, const pl_insn *i);
/* Adds register edges: a reader follows the write; a write follows the previous write and its
 * readers. */
void pl_sched_add_register_edges(sched *l, uint32_t at);
/* Adds edges for memory and the carry flag. *last: the last instruction that orders all memory,
 * *flags: the last one that accesses the flag, or PL_IR_NONE. */
void pl_sched_add_memory_edges(sched *l, uint32_t at, uint32_t *last, uint32_t *flags);

/* sched_pressure.c */
/* Finds the live range of each register between writes, and its readers. */
bool pl_sched_find_live_ranges(sched *l);
/* Computes the effect of every instruction on register pressure: the last reader of a range is
 * known only once others are placed. */
bool pl_sched_find_last_reads(sched *l);
/* Places instruction `at`: a range with one remaining reader ends with that one. This is updated
 * here because candidates are compared far more often than placed. Returns the change in
 * registers. */
int pl_sched_place_insn(sched *l, uint32_t at);

/* sched_list.c */
void pl_sched_keep_order(sched *l);
/* Schedules the region into l->order. *fails: it is not better than the bound, and the order is
 * incomplete. */
schedule_result pl_sched_list_schedule(sched *l, int max, const schedule_bound *b, bool *fails);
/* The best order within the register limit, in l->best. If every order takes more than `useful`,
 * the result may be any of them. */
schedule_result pl_sched_try_windows(sched *l, int max, int useful);

#endif
