/* operand_plan.h - the register operands of an instruction, for passes that iterate over them
 * (PL_FOR_EACH_READ).
 *
 * A plan records which operands of an instruction are registers, how wide they are and how they are
 * used: everything that instructions of one form with equal modifiers have in common. */
#ifndef PL_ISA_PROGRAM_OPERAND_PLAN_H
#define PL_ISA_PROGRAM_OPERAND_PLAN_H

#include <assert.h>
#include <string.h>

#include "isa/program/operands.h"

/* The iterator's state stays in host registers only if its functions are inlined into the loop. */
#define PL_ALWAYS_INLINE static inline __attribute__((always_inline))

/* The guard, or one register operand. */
typedef struct pl_operand_slot {
    uint8_t at; /* location in the instruction, in units of four bytes */
    uint8_t use, rows;
    uint8_t count; /* of a vector, 0: a scalar */
} pl_operand_slot;

/* Operands of one kind of access, in the order of the instruction. */
typedef struct pl_operand_list {
    uint8_t n, scalars; /* scalars: those before the first vector */
    bool plain;         /* no vector, and the instruction calls nothing */
    pl_operand_slot slot[1 + PL_INLINE_OPERANDS];
} pl_operand_list;

typedef struct pl_operand_plan {
    uint64_t key;        /* form, flags and PL_IF_MEM, as returned by pl_plan_key */
    uint64_t mods[4];    /* of the instruction */
    bool calls, vectors; /* vectors: some operand is a vector */
    bool wide;           /* some operand occupies several rows */
    uint16_t traits;
    pl_operand_list use; /* the guard first, in `reads` too */
    /* Subsets by access; an operand that is both read and written is in both. */
    pl_operand_list reads, writes;
} pl_operand_plan;

enum { PL_PLAN_CACHE_SIZE = 2048 };
struct pl_plan_cache {
    uint16_t n; /* number of plans */
    /* By hash: number of a plan, from 1; 0: none. */
    uint16_t number[2 * PL_PLAN_CACHE_SIZE];
    pl_operand_plan at[PL_PLAN_CACHE_SIZE]; /* existing plans are not moved */
};

static_assert(sizeof(((pl_operand_plan *)0)->mods) == sizeof(((pl_insn *)0)->mods),
              "modifiers are compared as four numbers");

/* The properties of an instruction, apart from its modifiers, that determine its plan. */
static inline uint64_t pl_plan_key(const pl_insn *i)
{
    return (uint64_t)((i->flags & PL_IF_MEM) != 0) << 24 | (uint64_t)i->sel[PL_M_FLAGS] << 16 |
           i->form;
}

/* Looks up the plan of an instruction that does not record it yet. */
const pl_operand_plan *pl_plan_find(const pl_program *p, pl_insn *i, pl_operand_plan *own);

/* The plan of an instruction: one that the program caches, or one created in *own. An instruction
 * and its copies record the plan. Code that changes a property on which the plan depends must set
 * `plan` to 0, as pl_insn_make does. A sanitizer build checks this. */
PL_ALWAYS_INLINE const pl_operand_plan *pl_plan_of(const pl_program *p, pl_insn *i,
                                                   pl_operand_plan *own)
{
    if (!i->plan) return pl_plan_find(p, i, own);
    const pl_operand_plan *t = &p->plans->at[i->plan - 1u];
#ifdef __SANITIZE_ADDRESS__
    assert(t->key == pl_plan_key(i) && memcmp(t->mods, i->mods, sizeof t->mods) == 0 &&
           t->traits == i->traits);
#endif
    return t;
}

/* ---- the loop over operands ---- */

/* State that few instructions need, kept apart from the iterator, which stays in host registers:
 * the operands from the first vector on, and those of a call. */
typedef struct pl_operand_iter_state {
    pl_operand_plan own; /* for an instruction whose plan the program does not cache */
    const pl_operand_slot *slot, *end; /* remaining operands */
    unsigned left;                     /* remaining elements of the current vector */
    uint32_t move, nmoves;             /* of a call: registers that it passes and receives */
    uint32_t *row;                     /* the current operand */
    unsigned rows, use;
} pl_operand_iter_state;

/* Starts iterating over the operands of a list from its first vector on, and over the registers
 * that a call passes and receives: `which` is a set of PL_USE_READ and PL_USE_WRITE. */
void pl_operand_rest_begin(pl_operand_iter_state *r, const pl_operand_list *l, bool calls,
                           const pl_program *p, const pl_insn *i, unsigned which);
/* Advances to the next one. False at the end. */
bool pl_operand_rest_next(pl_operand_iter_state *r, pl_program *p, pl_insn *i);

/* Iterator over the registers and predicates in which a function receives its parameters (use:
 * written) and returns its results (read). Starts zeroed. */
typedef struct pl_interface_iter {
    uint32_t *row; /* first row, or predicate; may be changed */
    unsigned rows, use;
    size_t next;
} pl_interface_iter;
/* Advances to the next one. False at the end. */
bool pl_interface_next(pl_prog_func *f, pl_interface_iter *o);

/* Iterator over the register operands of an instruction. */
typedef struct pl_operand_iter {
    uint32_t *row; /* first row of the current operand, or predicate, which may be changed */
    unsigned rows, use;
    const pl_operand_slot *slot, *end; /* remaining scalars before the first vector */
    bool plain;                        /* nothing follows them */
} pl_operand_iter;

/* Advances to the next operand. At the end, `row` is NULL. */
PL_ALWAYS_INLINE void pl_operands_next(pl_operand_iter *o, pl_operand_iter_state *r, pl_program *p,
                                       pl_insn *i)
{
    while (o->slot < o->end) {
        const pl_operand_slot *u = o->slot++;
        o->row = (uint32_t *)(void *)i + u->at;
        if (*o->row == UINT32_MAX) continue;
        o->rows = u->rows;
        o->use = u->use;
        return;
    }
    o->row = NULL;
    if (o->plain) return;
    if (r->left) {
        r->left--;
        r->row++;
    } else if (!pl_operand_rest_next(r, p, i)) {
        return;
    }
    o->row = r->row;
    o->rows = r->rows;
    o->use = r->use;
}

/* Starts at the first operand that is read, written or both, as `which` specifies. */
PL_ALWAYS_INLINE pl_operand_iter pl_operands_begin(pl_operand_iter_state *r, pl_program *p,
                                                   pl_insn *i, unsigned which)
{
    const pl_operand_plan *t = pl_plan_of(p, i, &r->own);
    const pl_operand_list *l = which == PL_USE_WRITE  ? &t->writes
                               : which == PL_USE_READ ? &t->reads
                                                      : &t->use;
    pl_operand_iter o = {.slot = l->slot, .end = l->slot + l->scalars, .plain = l->plain};
    if (which != PL_USE_WRITE) o.slot += i->guard == PL_PT; /* always true: not an operand */
    if (!l->plain) pl_operand_rest_begin(r, l, t->calls, p, i, which);
    pl_operands_next(&o, r, p, i);
    return o;
}

/* For each register operand `o` (a pl_operand_iter) that the instruction reads, writes, or both:
 *
 *     PL_FOR_EACH_READ(x->p, i, o)
 *         for (unsigned k = 0; k < o.rows; k++) n[*o.row + k]++;
 *
 * An operand that is both is visited once, with both flags in o.use. The outer loop only declares.
 */
#define PL_FOR_EACH_OPERAND(program, insn, which, o)                                               \
    for (pl_operand_iter_state o##_state, *o##_once = &o##_state; o##_once; o##_once = NULL)       \
        for (pl_operand_iter o = pl_operands_begin(&o##_state, program, insn, which); o.row;       \
             pl_operands_next(&o, &o##_state, program, insn))
#define PL_FOR_EACH_READ(program, insn, o)  PL_FOR_EACH_OPERAND(program, insn, PL_USE_READ, o)
#define PL_FOR_EACH_WRITE(program, insn, o) PL_FOR_EACH_OPERAND(program, insn, PL_USE_WRITE, o)
#define PL_FOR_EACH_USE(program, insn, o)                                                          \
    PL_FOR_EACH_OPERAND(program, insn, PL_USE_READ | PL_USE_WRITE, o)

#endif
