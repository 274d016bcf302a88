/* liveness.h - which values of a block graph are live where. For passes; memory comes from the
 * pass's arena.
 *
 * A value is a group of consecutive rows that instructions use together (a 64-bit register is two).
 * A guarded write keeps the lanes that the guard excludes. It starts the value anew only if no
 * other block touches the value, and no instruction before it. In a loop the lanes that the guard
 * excludes must not read it either: they would read what an earlier iteration wrote.
 *
 * A pass goes to the end of a block (pl_liveness_go_to_end) and walks backwards from there, saying
 * which values begin and cease to be live; the next pl_liveness_go_to_end takes that back. From
 * block to block only the differences are worked through, so that no set of values is ever written
 * down. */
#ifndef PL_COMPILER_ANALYSIS_LIVENESS_H
#define PL_COMPILER_ANALYSIS_LIVENESS_H

#include "compiler/analysis/loop_carried.h"
#include "compiler/ir/ir.h"
#include "compiler/analysis/live_spans.h"

typedef struct pl_live_value {
    uint32_t row, rows;
    pl_first_access first;
    uint32_t writes;
    uint32_t regs;         /* registers of a thread that it takes: its rows, or none */
    uint32_t global_index; /* number among those that may live from block to block; UINT32_MAX: it
                        lives in one */
    uint32_t live_since;   /* `marks` when it became live */
    uint32_t alias_of;     /* value whose registers this one shares; itself if none */
    uint32_t live_refs;    /* values that are live in its registers */
    uint8_t state;         /* PL_LIVENESS_* */
    bool precolored;       /* parameter or result of the function */
    bool is_pred;          /* a predicate: its weight is one of those, no register */
    bool was_live_at_mark; /* it was live when pl_liveness_mark was called, and has ceased to be */
} pl_live_value;

enum {
    PL_LIVENESS_LIVE = 1,
    PL_LIVENESS_AT_END = 2 /* at the end of the block */,
    PL_LIVENESS_LISTED = 4 /* in `changed` */
};

typedef struct pl_liveness {
    pl_ir *x;
    uint32_t n;        /* values */
    uint32_t *of;      /* by row: value, plus one; 0: no register */
    uint32_t *of_pred; /* the same by predicate; NULL: predicates are no values */
    pl_live_value *v;
    uint32_t block, at; /* instruction that is being visited */
    bool guarded;
    uint32_t *set;     /* by predicate: position of its last write, from 1 on */
    uint32_t position; /* of the instruction */
    /* Registers, and predicates, that the values live here take. */
    uint32_t reg_pressure, pred_pressure;
    uint32_t nmarks; /* calls of pl_liveness_mark */
    /* pl_liveness_solve */
    /* Of the values that may live from block to block, by their numbers `across`. */
    pl_live_spans sets;
    uint32_t *value; /* by such a constant */
    struct {
        uint32_t *at;
        size_t n, cap;
    } changed; /* values whose state is not that at the end of the block any more */
} pl_liveness;

/* Sets over the blocks of this graph, of nothing so far. False: out of memory. */
bool pl_liveness_spans(pl_live_spans *s, pl_ir *x);
/* Finds the values, of registers and, if so wished, of predicates. Needs pl_ir_graph and
 * pl_ir_count. False: out of memory. */
bool pl_liveness_values(pl_liveness *f, pl_ir *x, bool truths);
/* What costs no instruction has no registers of its own: the halves of a 64-bit value, its
 * extension, a sign that the reader takes along. */
void pl_liveness_alias(pl_liveness *f);
/* Finds where they are live. */
bool pl_liveness_solve(pl_liveness *f);
/* Goes to the end of a block. */
void pl_liveness_go_to_end(pl_liveness *f, uint32_t block);
/* Says which instruction comes next; pl_liveness_defines asks about it. */
static inline const pl_insn *pl_liveness_visit(pl_liveness *f, uint32_t block, uint32_t at)
{
    const pl_insn *i = &f->x->blocks.at[block].code.at[at];
    f->block = block;
    f->at = at;
    f->guarded = i->guard != PL_PT;
    return i;
}

/* True if this access defines value k anew, whatever its register held. */
static inline bool pl_liveness_defines(const pl_liveness *f, uint32_t k, unsigned rows,
                                       unsigned use)
{
    const pl_live_value *v = &f->v[k];
    if (!(use & PL_USE_WRITE) || (use & PL_USE_READ) || rows != v->rows) return false;
    return pl_starts_value(&v->first, f->block, f->at, f->guarded);
}

/* The value of an operand, plus one; 0: none. */
static inline uint32_t pl_liveness_value_of(const pl_liveness *f, uint32_t row, unsigned use)
{
    return !(use & PL_USE_PRED) ? f->of[row] : f->of_pred ? f->of_pred[row] : 0;
}

static inline bool pl_liveness_is_live(const pl_liveness *f, uint32_t k)
{
    return f->v[k].state & PL_LIVENESS_LIVE;
}

static inline void pl_liveness_toggle(pl_liveness *f, pl_live_value *v)
{
    pl_live_value *r = &f->v[v->alias_of];
    uint32_t *weight = r->is_pred ? &f->pred_pressure : &f->reg_pressure;
    v->state ^= PL_LIVENESS_LIVE;
    if (v->state & PL_LIVENESS_LIVE) {
        *weight += r->live_refs++ ? 0 : r->regs;
        v->live_since = f->nmarks;
    } else {
        *weight -= --r->live_refs ? 0 : r->regs;
        v->was_live_at_mark |= f->nmarks > v->live_since;
    }
}

/* From here on the value is live, or is not. */
static inline void pl_liveness_set(pl_liveness *f, uint32_t k, bool live)
{
    pl_live_value *v = &f->v[k];
    if ((v->state & PL_LIVENESS_LIVE) == live) return;
    pl_liveness_toggle(f, v);
    if (!(v->state & PL_LIVENESS_LISTED)) {
        v->state |= PL_LIVENESS_LISTED;
        *pl_push(f->x->tmp, &f->changed) = k;
    }
}

/* A step backwards over an instruction that pl_liveness_visit has named: what it defines is not
 * live before it; */
void pl_liveness_step_defs(pl_liveness *f, pl_insn *i);
/* then what it reads, or writes in part, is. */
void pl_liveness_step_uses(pl_liveness *f, pl_insn *i);

/* Marks every value that is live here. */
static inline void pl_liveness_mark(pl_liveness *f)
{
    f->nmarks++;
}

static inline bool pl_liveness_was_live_at_mark(const pl_liveness *f, uint32_t k)
{
    return f->v[k].was_live_at_mark ||
           ((f->v[k].state & PL_LIVENESS_LIVE) && f->nmarks > f->v[k].live_since);
}

#endif
