/* loop_carried.h - registers that are written once and may be read before that, or in a later
 * iteration of a loop. Private to compiler/. */
#ifndef PL_COMPILER_ANALYSIS_LOOP_CARRIED_H
#define PL_COMPILER_ANALYSIS_LOOP_CARRIED_H

#include "compiler/ir/ir.h"

/* A row or predicate that some instruction may read although its write is not on every path there.
 */
typedef struct pl_exposed_reg {
    uint32_t row;
    bool pred;
} pl_exposed_reg;

typedef struct pl_exposed_regs {
    pl_exposed_reg *at;
    size_t n, cap;
} pl_exposed_regs;

/* Sets `carried` of those that are, and counts their first content as a write; `early` of a row is
 * its number in the list, plus one. Needs the graph, and reads and writes of every row. False: out
 * of memory. */
bool pl_find_carried(pl_ir *x, const pl_exposed_regs *early);

/* The same before there is a block graph, by row of the function; a row in an unusual cycle may be
 * marked although it is not carried. False: out of memory. */
bool pl_carried_rows(pl_program *p, pl_prog_func *f, pl_arena *a, bool **by_row);

/* A write of a register that is not written before in its block: for all lanes, or for those of a
 * guard. Positions grow along the block; at most one instruction has each. */
typedef struct pl_partial_def {
    uint32_t guard; /* PL_PT: for all lanes */
    uint32_t since; /* position */
    bool negated;
} pl_partial_def;

static inline pl_partial_def pl_partial_def_of(const pl_insn *i, uint32_t at)
{
    return (pl_partial_def){i->guard, at, (i->flags & PL_IF_GUARD_NEG) != 0};
}

/* Are the lanes of the instruction those that have executed the write? `set` is the position of the
 * last write of the guard. */
static inline bool pl_partial_def_same_lanes(const pl_partial_def *w, const pl_insn *i,
                                             uint32_t set)
{
    return i->guard == w->guard && ((i->flags & PL_IF_GUARD_NEG) != 0) == w->negated &&
           set < w->since;
}

/* True if they are the others. */
static inline bool pl_partial_def_other_lanes(const pl_partial_def *w, const pl_insn *i,
                                              uint32_t set)
{
    return i->guard == w->guard && ((i->flags & PL_IF_GUARD_NEG) != 0) != w->negated &&
           set < w->since;
}

#endif
