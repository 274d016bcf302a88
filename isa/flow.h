/* flow.h - which values of a block graph are live where: bit sets for each block. For passes; memory comes from the pass's arena.
 *
 * A value is a group of consecutive rows that instructions use together (a 64-bit register is two). A guarded write keeps the lanes that
 * the guard excludes, so it starts the value anew only where nothing has touched it before. */
#ifndef PL_ISA_FLOW_H
#define PL_ISA_FLOW_H

#include "isa/ir.h"

typedef struct pl_flow_value {
    uint32_t row, rows;
    uint32_t block;  /* the only block that touches it; else none that exists */
    uint32_t born;   /* position of the write that starts it there; UINT32_MAX: it starts with a read */
    uint32_t writes;
    uint32_t weight; /* registers of a thread that it takes: its rows, or none */
    bool pinned;     /* parameter or result of the function */
} pl_flow_value;

typedef struct pl_flow {
    pl_ir *x;
    uint32_t n, words;  /* values; words of a set */
    uint32_t *of;       /* by row: value, plus one; 0: no register */
    pl_flow_value *v;
    uint64_t *in, *out; /* by block: `words` each */
    uint64_t *use, *def;
    uint32_t block, at; /* instruction that is being visited */
    bool guarded;
} pl_flow;

/* Finds the values. Needs pl_ir_graph and pl_ir_count. False: out of memory. */
bool pl_flow_values(pl_flow *f, pl_ir *x);
/* Numbers the values anew, so that those which live in one block only come last and need no bits in the sets: `words` counts the others. */
bool pl_flow_narrow(pl_flow *f);
/* Finds where they are live. */
bool pl_flow_live(pl_flow *f);
/* Says which instruction comes next; pl_flow_starts asks about it. */
const pl_insn *pl_flow_visit(pl_flow *f, uint32_t block, uint32_t at);
/* Does this access start value k anew, whatever its register held? */
bool pl_flow_starts(const pl_flow *f, uint32_t k, unsigned rows, unsigned use);

/* The value of an operand, plus one; 0: none. */
static inline uint32_t pl_flow_of(const pl_flow *f, uint32_t row, unsigned use)
{
    return use & PL_USE_PRED ? 0 : f->of[row];
}

static inline bool pl_flow_has(const pl_flow *f, const uint64_t *sets, uint32_t block, uint32_t k)
{
    return sets[(size_t)block * f->words + k / 64] >> (k % 64) & 1;
}

static inline void pl_flow_put(const pl_flow *f, uint64_t *sets, uint32_t block, uint32_t k)
{
    sets[(size_t)block * f->words + k / 64] |= 1ull << (k % 64);
}

#endif
