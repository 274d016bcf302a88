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

/* How the only block that accesses a value begins with it. Blocks are visited one after the other,
 * an instruction's reads before its writes. */
enum { PL_NO_BLOCK = UINT32_MAX, PL_SEVERAL_BLOCKS = UINT32_MAX - 1 };
typedef struct pl_first_access {
    uint32_t block;   /* that block; PL_NO_BLOCK, PL_SEVERAL_BLOCKS */
    uint32_t def_pos; /* where the write is that starts the value; UINT32_MAX: a read is first */
    pl_partial_def write; /* while the block is visited: that write */
} pl_first_access;

/* Whether the block of the first access has another one here. */
static inline bool pl_accessed_again(pl_first_access *a, uint32_t block, uint32_t def_pos)
{
    if (a->block == block) return true;
    a->def_pos = a->block == PL_NO_BLOCK ? def_pos : UINT32_MAX;
    a->block = a->block == PL_NO_BLOCK ? block : PL_SEVERAL_BLOCKS;
    return false;
}

/* `set`: by predicate, position of its last write; in_cycle: the block may be executed again. */
static inline void pl_note_read(pl_first_access *a, uint32_t block, const pl_insn *i,
                                const uint32_t *set, bool in_cycle)
{
    if (pl_accessed_again(a, block, UINT32_MAX) && a->def_pos != UINT32_MAX &&
        a->write.guard != PL_PT && in_cycle &&
        !pl_partial_def_same_lanes(&a->write, i, set[a->write.guard]))
        a->def_pos = UINT32_MAX; /* written in an earlier iteration */
}

/* `at`: what def_pos says of the instruction; whole: it writes the whole value. */
static inline void pl_note_write(pl_first_access *a, uint32_t block, uint32_t at, const pl_insn *i,
                                 const uint32_t *set, uint32_t position, bool whole)
{
    if (!pl_accessed_again(a, block, whole ? at : UINT32_MAX))
        a->write = pl_partial_def_of(i, position);
    else if (whole &&
             (i->guard == PL_PT || pl_partial_def_other_lanes(&a->write, i, set[a->write.guard])))
        a->write.guard = PL_PT; /* of all lanes now */
}

/* True if a write of the whole value starts it anew. Under a guard it does if nothing in the only
 * block that accesses the value comes before it, and no other lanes read what they hold. */
static inline bool pl_starts_value(const pl_first_access *a, uint32_t block, uint32_t at,
                                   bool guarded)
{
    return !guarded || (a->block == block && a->def_pos == at);
}

#endif
