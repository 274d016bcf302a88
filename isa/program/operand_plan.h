/* operand_plan.h - the register operands of an instruction, for passes that walk over them: a loop
 * (PL_FOR_EACH_READ) and visitors that are written out in line around a function.
 *
 * A plan says which operands of an instruction name registers, how wide they are and how they are
 * used: all that does not differ between instructions of one form with the same modifiers. */
#ifndef PL_ISA_PROGRAM_OPERAND_PLAN_H
#define PL_ISA_PROGRAM_OPERAND_PLAN_H

#include <assert.h>
#include <string.h>

#include "isa/program/operands.h"

/* The visiting function is known where these are called: it is to be written out there, not called
 * through a pointer for each operand. */
#define PL_IN_LINE static inline __attribute__((always_inline))

/* The guard, or one operand that names registers. */
typedef struct pl_operand_slot {
    uint8_t at; /* where the instruction holds it, in units of four bytes */
    uint8_t use, rows;
    uint8_t count; /* of a vector, 0: a scalar */
} pl_operand_slot;

typedef struct pl_operand_plan {
    uint64_t key;        /* form, flags and whether it touches memory, as pl_plan_key gives them */
    uint64_t mods[4];    /* of the instruction */
    bool calls, vectors; /* vectors: some operand is one */
    bool plain;          /* neither */
    bool wide;           /* some operand takes several rows */
    uint16_t traits;
    uint8_t n, nreads, nwrites;
    pl_operand_slot use[1 + PL_INLINE_OPERANDS]; /* the guard first */
    /* Those among them; an operand that is both is in both. */
    pl_operand_slot reads[1 + PL_INLINE_OPERANDS], writes[PL_INLINE_OPERANDS];
} pl_operand_plan;

enum { PL_PLAN_CACHE_SIZE = 2048 };
struct pl_plan_cache {
    uint16_t n; /* plans made */
    /* By hash: number of a plan, counted from 1; 0: none. */
    uint16_t number[2 * PL_PLAN_CACHE_SIZE];
    pl_operand_plan at[PL_PLAN_CACHE_SIZE]; /* what stands here stays */
};

static_assert(sizeof(((pl_operand_plan *)0)->mods) == sizeof(((pl_insn *)0)->mods),
              "modifiers are compared as four numbers");

/* What of an instruction, besides its modifiers, decides on its plan. */
static inline uint64_t pl_plan_key(const pl_insn *i)
{
    return (uint64_t)((i->flags & PL_IF_MEM) != 0) << 24 | (uint64_t)i->sel[PL_M_FLAGS] << 16 |
           i->form;
}

/* Makes the plan for an instruction. */
void pl_plan_make(pl_operand_plan *p, const pl_insn *i);
/* Finds the plan for an instruction that does not know it yet. */
const pl_operand_plan *pl_plan_find(const pl_program *p, pl_insn *i, pl_operand_plan *own);

/* The plan for an instruction: one that the program keeps, or one that is made in *own. An
 * instruction remembers its plan, as do its copies: who changes what the plan depends on sets
 * `plan` to 0, as pl_insn_make does. A sanitizer build looks whether that was done. */
PL_IN_LINE const pl_operand_plan *pl_plan_of(const pl_program *p, pl_insn *i, pl_operand_plan *own)
{
    if (!i->plan) return pl_plan_find(p, i, own);
    const pl_operand_plan *t = &p->plans->at[i->plan - 1u];
#ifdef __SANITIZE_ADDRESS__
    assert(t->key == pl_plan_key(i) && memcmp(t->mods, i->mods, sizeof t->mods) == 0 &&
           t->traits == i->traits);
#endif
    return t;
}

/* What a call passes (read) and receives (written) in registers. */
void pl_call_uses(pl_program *p, const pl_insn *i, unsigned which, pl_use_fn *fn, void *ctx);

/* The operands from u on, and those of the call that are read, written or both. */
PL_IN_LINE void pl_plan_visit(pl_program *p, pl_insn *i, const pl_operand_plan *t,
                              const pl_operand_slot *u, const pl_operand_slot *end, unsigned which,
                              pl_use_fn *fn, void *ctx)
{
    if (t->plain) { /* nearly all */
        for (; u < end; u++) {
            uint32_t *op = (uint32_t *)(void *)i + u->at;
            if (*op != UINT32_MAX) fn(ctx, op, u->rows, u->use);
        }
        return;
    }
    for (; u < end; u++) {
        uint32_t *op = (uint32_t *)(void *)i + u->at, n = 1;
        if (*op == UINT32_MAX) continue;
        if (u->count) {
            op = &p->pool.at[i->extra_ops + *op];
            n = u->count;
        }
        do fn(ctx, op++, u->rows, u->use);
        while (--n);
    }
    if (t->calls) pl_call_uses(p, i, which, fn, ctx);
}

PL_IN_LINE void pl_plan_reads(pl_program *p, pl_insn *i, const pl_operand_plan *t, pl_use_fn *fn,
                              void *ctx)
{
    pl_plan_visit(p, i, t, t->reads + (i->guard == PL_PT), t->reads + t->nreads, PL_USE_READ, fn,
                  ctx);
}

PL_IN_LINE void pl_plan_writes(pl_program *p, pl_insn *i, const pl_operand_plan *t, pl_use_fn *fn,
                               void *ctx)
{
    pl_plan_visit(p, i, t, t->writes, t->writes + t->nwrites, PL_USE_WRITE, fn, ctx);
}

PL_IN_LINE void pl_insn_uses_here(pl_program *p, pl_insn *i, pl_use_fn *fn, void *ctx)
{
    pl_operand_plan own;
    const pl_operand_plan *t = pl_plan_of(p, i, &own);
    pl_plan_visit(p, i, t, t->use + (i->guard == PL_PT), t->use + t->n, PL_USE_READ | PL_USE_WRITE,
                  fn, ctx);
}

/* Only what it reads, or only what it writes; an operand that is both comes with both flags. A
 * predicate takes one row, as `rows` says. */
PL_IN_LINE void pl_insn_reads_here(pl_program *p, pl_insn *i, pl_use_fn *fn, void *ctx)
{
    pl_operand_plan own;
    pl_plan_reads(p, i, pl_plan_of(p, i, &own), fn, ctx);
}

PL_IN_LINE void pl_insn_writes_here(pl_program *p, pl_insn *i, pl_use_fn *fn, void *ctx)
{
    pl_operand_plan own;
    pl_plan_writes(p, i, pl_plan_of(p, i, &own), fn, ctx);
}

/* First what it reads, then what it writes: an operand that is both comes twice. */
PL_IN_LINE void pl_insn_reads_writes(pl_program *p, pl_insn *i, pl_use_fn *read, pl_use_fn *written,
                                     void *ctx)
{
    pl_operand_plan own;
    const pl_operand_plan *t = pl_plan_of(p, i, &own);
    pl_plan_reads(p, i, t, read, ctx);
    pl_plan_writes(p, i, t, written, ctx);
}

/* ---- the loop over operands ---- */

/* What few instructions need, apart from the iterator, which stays in registers of the host. */
typedef struct pl_operand_rest {
    pl_operand_plan own;   /* of an instruction whose plan the program does not keep */
    uint32_t move, nmoves; /* of a call: registers that it passes and receives */
    uint32_t *row;         /* of them the one at hand */
    unsigned rows, use;
} pl_operand_rest;

/* Says which registers a call passes and receives: `which` are PL_USE_READ and PL_USE_WRITE. */
void pl_call_operands_begin(pl_operand_rest *r, pl_program *p, const pl_insn *i, unsigned which);
/* The next of them. False: there are no more. */
bool pl_call_operands_next(pl_operand_rest *r, pl_program *p, const pl_insn *i);

/* The register operand at which a loop over the operands of an instruction is. */
typedef struct pl_operand_iter {
    uint32_t *row; /* its first row, or predicate; may be changed */
    unsigned rows, use;
    const pl_operand_slot *slot, *end; /* operands to come */
    unsigned left;                     /* elements of a vector to come */
    bool plain, calls;
} pl_operand_iter;

PL_IN_LINE bool pl_operands_next(pl_operand_iter *o, pl_operand_rest *r, pl_program *p, pl_insn *i)
{
    if (o->left) {
        o->left--;
        o->row++;
        return true;
    }
    while (o->slot < o->end) {
        const pl_operand_slot *u = o->slot++;
        uint32_t *op = (uint32_t *)(void *)i + u->at;
        if (*op == UINT32_MAX) continue;
        if (!o->plain && u->count) {
            op = &p->pool.at[i->extra_ops + *op];
            o->left = u->count - 1u;
        }
        o->row = op;
        o->rows = u->rows;
        o->use = u->use;
        return true;
    }
    if (!o->calls || !pl_call_operands_next(r, p, i)) return false;
    o->row = r->row;
    o->rows = r->rows;
    o->use = r->use;
    return true;
}

/* The first of the operands that are read, written or both, as `which` says. */
PL_IN_LINE bool pl_operands_begin(pl_operand_iter *o, pl_operand_rest *r, pl_program *p, pl_insn *i,
                                  unsigned which)
{
    const pl_operand_plan *t = pl_plan_of(p, i, &r->own);
    const unsigned guard = i->guard == PL_PT; /* always true: no operand */
    o->slot = which == PL_USE_WRITE  ? t->writes
              : which == PL_USE_READ ? t->reads + guard
                                     : t->use + guard;
    o->end = which == PL_USE_WRITE  ? t->writes + t->nwrites
             : which == PL_USE_READ ? t->reads + t->nreads
                                    : t->use + t->n;
    o->left = 0;
    o->plain = t->plain;
    o->calls = t->calls;
    if (t->calls) pl_call_operands_begin(r, p, i, which);
    return pl_operands_next(o, r, p, i);
}

/* For each register operand `o` (a pl_operand_iter) that the instruction reads, writes, or both:
 *
 *     PL_FOR_EACH_READ(x->p, i, o)
 *         for (unsigned k = 0; k < o.rows; k++) n[*o.row + k]++;
 *
 * An operand that is both comes once, with both flags in o.use. The outer loop only declares. */
#define PL_FOR_EACH_OPERAND(program, insn, which, o)                                               \
    for (pl_operand_rest o##_rest, *o##_once = &o##_rest; o##_once; o##_once = NULL)               \
        for (pl_operand_iter o,                                                                    \
             *o##_more = pl_operands_begin(&o, &o##_rest, program, insn, which) ? &o : NULL;       \
             o##_more; o##_more = pl_operands_next(&o, &o##_rest, program, insn) ? &o : NULL)
#define PL_FOR_EACH_READ(program, insn, o)  PL_FOR_EACH_OPERAND(program, insn, PL_USE_READ, o)
#define PL_FOR_EACH_WRITE(program, insn, o) PL_FOR_EACH_OPERAND(program, insn, PL_USE_WRITE, o)
#define PL_FOR_EACH_USE(program, insn, o)                                                          \
    PL_FOR_EACH_OPERAND(program, insn, PL_USE_READ | PL_USE_WRITE, o)

#endif
