/* loop_carried.h - finds registers that have one write and may be read before it, or in a later
 * iteration of a loop. Private to compiler/. */
#ifndef PL_COMPILER_ANALYSIS_LOOP_CARRIED_H
#define PL_COMPILER_ANALYSIS_LOOP_CARRIED_H

#include "compiler/ir/ir.h"

/* A row or predicate with a read that is not dominated by its write. */
typedef struct pl_exposed_reg {
    uint32_t row;
    bool pred;
} pl_exposed_reg;

typedef struct pl_exposed_regs {
    pl_exposed_reg *at;
    size_t n, cap;
} pl_exposed_regs;

/* Sets `loop_carried` of such registers, and counts their initial content as a write; `exposed` of
 * a row is its index in the list, plus one. Requires the graph, and reads and writes of every row.
 * Returns false when out of memory. */
bool pl_find_carried(pl_ir *x, const pl_exposed_regs *exposed_regs);

/* The same without a block graph, by row of the function. A row in an irregular cycle may be marked
 * although it is not carried. Returns false when out of memory. */
bool pl_carried_rows(pl_program *p, pl_prog_func *f, pl_arena *a, bool **by_row);

/* A write of a register that is not written earlier in its block: for all lanes, or under a guard.
 * Positions increase along the block and are unique. */
typedef struct pl_partial_def {
    uint32_t guard; /* PL_PT: for all lanes */
    uint32_t since; /* position */
    bool negated;
} pl_partial_def;

static inline pl_partial_def pl_partial_def_of(const pl_insn *i, uint32_t at)
{
    return (pl_partial_def){i->guard, at, (i->flags & PL_IF_GUARD_NEG) != 0};
}

/* True if the instruction executes in the same lanes as the write. `pred_def` is the position of
 * the last write of the guard. */
static inline bool pl_partial_def_same_lanes(const pl_partial_def *w, const pl_insn *i,
                                             uint32_t pred_def)
{
    return i->guard == w->guard && ((i->flags & PL_IF_GUARD_NEG) != 0) == w->negated &&
           pred_def < w->since;
}

/* True if it executes in exactly the other lanes. */
static inline bool pl_partial_def_other_lanes(const pl_partial_def *w, const pl_insn *i,
                                              uint32_t pred_def)
{
    return i->guard == w->guard && ((i->flags & PL_IF_GUARD_NEG) != 0) != w->negated &&
           pred_def < w->since;
}

/* The first access to a value in the only block that accesses it. Blocks are visited in order, the
 * reads of an instruction before its writes. */
enum { PL_NO_BLOCK = UINT32_MAX, PL_SEVERAL_BLOCKS = UINT32_MAX - 1 };
typedef struct pl_first_access {
    uint32_t block;   /* the only block; PL_NO_BLOCK, PL_SEVERAL_BLOCKS */
    uint32_t def_pos; /* position of the write that starts the value; UINT32_MAX: a read is first */
    pl_partial_def write; /* while its block is visited: that write */
} pl_first_access;

/* True if the block of the first access accesses the value again. */
static inline bool pl_accessed_again(pl_first_access *a, uint32_t block, uint32_t def_pos)
{
    if (a->block == block) return true;
    a->def_pos = a->block == PL_NO_BLOCK ? def_pos : UINT32_MAX;
    a->block = a->block == PL_NO_BLOCK ? block : PL_SEVERAL_BLOCKS;
    return false;
}

/* `pred_def`: by predicate, position of its last write; in_cycle: the block may execute again. */
static inline void pl_note_read(pl_first_access *a, uint32_t block, const pl_insn *i,
                                const uint32_t *pred_def, bool in_cycle)
{
    if (pl_accessed_again(a, block, UINT32_MAX) && a->def_pos != UINT32_MAX &&
        a->write.guard != PL_PT && in_cycle &&
        !pl_partial_def_same_lanes(&a->write, i, pred_def[a->write.guard]))
        a->def_pos = UINT32_MAX; /* it may read the result of an earlier iteration */
}

/* `at`: the position to record in def_pos; whole: all of the value is written. */
static inline void pl_note_write(pl_first_access *a, uint32_t block, uint32_t at, const pl_insn *i,
                                 const uint32_t *pred_def, uint32_t position, bool whole)
{
    if (!pl_accessed_again(a, block, whole ? at : UINT32_MAX))
        a->write = pl_partial_def_of(i, position);
    else if (whole && (i->guard == PL_PT ||
                       pl_partial_def_other_lanes(&a->write, i, pred_def[a->write.guard])))
        a->write.guard = PL_PT; /* now written in all lanes */
}

/* True if a write of the whole value redefines it. A guarded write does if it is the first access
 * in the only block that accesses the value, and no excluded lane reads the value. */
static inline bool pl_starts_value(const pl_first_access *a, uint32_t block, uint32_t at,
                                   bool guarded)
{
    return !guarded || (a->block == block && a->def_pos == at);
}

#endif
