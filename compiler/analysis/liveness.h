/* liveness.h - which values of a function are live where: for passes, over a block graph, and for
 * the register allocator, over linear code.
 *
 * A value is a group of consecutive rows that instructions use together (a 64-bit register is two).
 * A guarded write leaves the lanes that the guard excludes unchanged. It redefines the value
 * only if no other block accesses the value, and no earlier instruction of the block does. In a
 * loop, the excluded lanes must not read the value either: they would read the result of an earlier
 * iteration.
 *
 * A pass moves to the end of a block (pl_liveness_go_to_end) and walks backwards from there,
 * recording which values become live and dead; the next pl_liveness_go_to_end undoes that. Moving
 * between blocks processes only the differences, so that no complete live set is ever stored. */
#ifndef PL_COMPILER_ANALYSIS_LIVENESS_H
#define PL_COMPILER_ANALYSIS_LIVENESS_H

#include "compiler/analysis/loop_carried.h"
#include "compiler/ir/ir.h"
#include "compiler/analysis/live_spans.h"

typedef struct pl_live_value {
    uint32_t row, rows;
    pl_first_access first;
    uint32_t writes;
    uint32_t regs;         /* registers of a thread that it occupies: its rows, or none */
    uint32_t global_index; /* number among the values that may be live across blocks; UINT32_MAX:
                              block-local */
    uint32_t live_since;   /* `nmarks` when it became live */
    uint32_t alias_of;     /* value whose registers this one shares; itself if none */
    uint32_t live_refs;    /* number of live values in its registers */
    uint8_t state;         /* PL_LIVENESS_* */
    bool precolored;       /* parameter or result of the function */
    bool is_pred; /* a predicate: it counts towards predicate pressure, not register pressure */
    bool was_live_at_mark; /* it was live when pl_liveness_mark was called, and is dead now */
} pl_live_value;

enum {
    PL_LIVENESS_LIVE = 1,
    PL_LIVENESS_AT_END = 2 /* live at the end of the block */,
    PL_LIVENESS_LISTED = 4 /* in `changed` */
};

typedef struct pl_liveness {
    pl_program *p;
    pl_arena *a;
    pl_ir *x;          /* the block graph; NULL: linear code */
    uint32_t rows;     /* rows of the function */
    uint32_t n;        /* number of values */
    uint32_t *of;      /* by row: value, plus one; 0: not a register */
    uint32_t *of_pred; /* the same by predicate; NULL: predicates are not tracked */
    pl_live_value *v;
    uint32_t block, at; /* the instruction being visited */
    bool guarded;
    uint32_t *pred_def; /* by predicate: position of its last write, from 1 on */
    uint32_t position;  /* of the instruction that pl_liveness_locate visited last */
    /* Registers and predicates occupied by the values that are live here. */
    uint32_t reg_pressure, pred_pressure;
    uint32_t nmarks; /* calls of pl_liveness_mark */
    /* Of the values that may be live across blocks, by `global_index`. */
    pl_live_spans sets;   /* found by pl_liveness_solve */
    uint32_t *value;      /* value by global_index */
    uint32_t *seen_block; /* the last block in which an access was noted, plus one */
    struct {
        uint32_t *at;
        size_t n, cap;
    } changed; /* values whose state differs from that at the end of the block */
} pl_liveness;

/* ---- steps of the analysis, one instruction at a time ----
 *
 * In this order; `block` and `at` are set to the instruction. For a block graph the functions below
 * take them. Instructions of a block are visited in order. */

/* Starts without values. with_preds: predicates are values too. Returns false when out of memory.
 */
bool pl_liveness_begin(pl_liveness *f, pl_program *p, pl_arena *a, const pl_prog_func *func,
                       bool with_preds);
/* The row is not a register: no value contains it. */
void pl_liveness_exclude(pl_liveness *f, uint32_t row);
/* These adjacent rows belong to one value. */
void pl_liveness_join(pl_liveness *f, uint32_t row, unsigned rows);
/* Rows that an operand of the instruction comprises belong to one value. */
void pl_liveness_join_operands(pl_liveness *f, pl_insn *i);
/* Numbers the values of registers. */
void pl_liveness_number(pl_liveness *f);
/* Notes the first accesses and the writes of values. in_cycle: the block may execute again. */
void pl_liveness_locate(pl_liveness *f, pl_insn *i, bool in_cycle);
/* After all instructions: values that nothing writes occupy no registers, as with ptxas. */
void pl_liveness_free_undefined(pl_liveness *f);
/* Numbers the values that may be live across blocks. Requires `sets`. Returns false when out of
 * memory. */
bool pl_liveness_number_global(pl_liveness *f);
/* Notes which values the block reads or overwrites first, in `sets`. */
void pl_liveness_note_accesses(pl_liveness *f, pl_insn *i);
/* A free copy: aliases its result to its source. */
void pl_liveness_alias_result(pl_liveness *f, pl_insn *i);

/* ---- over a block graph ---- */

/* Initialises empty spans over the blocks of this graph. Returns false when out of memory. */
bool pl_liveness_spans(pl_live_spans *s, pl_ir *x);
/* Finds the values: registers, and predicates if `with_preds`. Allocates from the pass's arena.
 * Requires pl_ir_graph and pl_ir_count. Returns false when out of memory. */
bool pl_liveness_values(pl_liveness *f, pl_ir *x, bool with_preds);
/* Aliases results of free copies to their source, so that they have no registers of their own: the
 * halves of a 64-bit value, its extension, a sign that the reader applies. */
void pl_liveness_alias(pl_liveness *f);
/* Computes the blocks at whose end each value is live. */
bool pl_liveness_solve(pl_liveness *f);
/* Moves to the end of a block. */
void pl_liveness_go_to_end(pl_liveness *f, uint32_t block);
/* Sets the current instruction, which pl_liveness_defines examines. */
static inline const pl_insn *pl_liveness_visit(pl_liveness *f, uint32_t block, uint32_t at)
{
    const pl_insn *i = &f->x->blocks.at[block].code.at[at];
    f->block = block;
    f->at = at;
    f->guarded = i->guard != PL_PT;
    return i;
}

/* True if this access redefines value k, regardless of the previous content of its register. */
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

/* Makes the value live or dead from here on. */
static inline void pl_liveness_set(pl_liveness *f, uint32_t k, bool live)
{
    pl_live_value *v = &f->v[k];
    if ((v->state & PL_LIVENESS_LIVE) == live) return;
    pl_liveness_toggle(f, v);
    if (!(v->state & PL_LIVENESS_LISTED)) {
        v->state |= PL_LIVENESS_LISTED;
        *pl_push(f->a, &f->changed) = k;
    }
}

/* Steps backwards over an instruction set by pl_liveness_visit: first, the values that it defines
 * become dead. */
void pl_liveness_step_defs(pl_liveness *f, pl_insn *i);
/* Second, the values that it reads, or writes in part, become live. */
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
