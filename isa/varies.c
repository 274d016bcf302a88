/* varies.c - what may differ between the lanes of a warp. See varies.h.
 *
 * What differs spreads from where it comes in (the number of a thread, results of atomic operations) to everything that is computed of it, until
 * nothing changes any more. */
#include "isa/varies.h"

#include <string.h>

#include "isa/plan.h"

/* A row varies; it was read before that was known, so that its readers have to be looked at again. */
enum { VARIES = 1, READ_BEFORE = 2 };

typedef struct finder {
    pl_varies *v;
    bool any, again;
} finder;

static inline void sees(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    finder *f = ctx;
    uint8_t *v = (use & PL_USE_PRED ? f->v->pred : f->v->row) + *row;
    for (unsigned k = 0; k < rows; k++) {
        f->any |= v[k] & VARIES;
        v[k] |= READ_BEFORE;
    }
}

static inline void spreads(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    finder *f = ctx;
    uint8_t *v = (use & PL_USE_PRED ? f->v->pred : f->v->row) + *row;
    for (unsigned k = 0; k < rows; k++) {
        f->again |= v[k] == READ_BEFORE;
        v[k] |= VARIES;
    }
}

static bool differs_between_lanes(pl_word sreg)
{
    return sreg == W_tid || sreg == W_laneid || sreg == W_lanemask_eq || sreg == W_lanemask_le || sreg == W_lanemask_lt ||
           sreg == W_lanemask_ge || sreg == W_lanemask_gt;
}

/* What an instruction brings in that differs between lanes, whatever it reads. */
static bool own_difference(const pl_insn *i)
{
    uint32_t e = pl_insn_effects(i);
    uint16_t m = pl_insn_mnem(i);
    if (!e)
        return m == M_alloca;
    if (e & (PL_EF_ATOMIC | PL_EF_CALL))
        return true;
    if (m == M_elect || m == M_ldmatrix || m == M_mma || m == M_wmma || m == M_movmatrix || m == M_wgmma)
        return true;
    return (e & PL_EF_LOAD) && i->sel[PL_M_SPACE] != PL_SP_PARAM && i->sel[PL_M_SPACE] != PL_SP_CONST && i->sel[PL_M_SPACE] != PL_SP_SHARED &&
           i->sel[PL_M_SPACE] != PL_SP_GLOBAL;
}

/* What all lanes that take part in it get the same answer of: votes, reductions, a shuffle from one lane. */
static bool one_answer(const pl_insn *i)
{
    return i->cls == C_vote || i->cls == C_redux || (i->cls == C_match && pl_insn_has(i, W_all)) || (i->cls == C_shfl && pl_insn_has(i, W_idx));
}

/* Does its answer differ because lanes ask others, or ask them for something else? What each lane says itself, operand a, does not matter. */
static void reads_but_own(finder *f, pl_insn *i)
{
    const pl_form *form = &pl_forms[i->form];
    if (i->guard > PL_PF)
        sees(f, &i->guard, 1, PL_USE_PRED);
    for (unsigned k = 0; k < form->noperands && k < PL_INLINE_OPERANDS; k++)
        if (!form->operand[k].written && strcmp(form->operand[k].name, "a") != 0)
            sees(f, &i->op[k], 1, 0);
}

static bool begin(pl_varies *v, const pl_ir *x)
{
    v->row = pl_arena_array(x->tmp, uint8_t, x->f->rows + 4);
    v->pred = pl_arena_array(x->tmp, uint8_t, x->f->preds + 1);
    return v->row && v->pred;
}

/* Follows what `brings` brings in, and what is marked already. An instruction is done with when what it writes has been marked. False: out of memory. */
static inline bool spread(pl_varies *v, pl_ir *x, bool (*brings)(const pl_insn *i))
{
    finder f = {.v = v};
    size_t n = 0;
    for (uint32_t j = 0; j < x->nrpo; j++)
        n += x->b.at[x->rpo[j]].code.n;
    bool *is_done = pl_arena_array(x->tmp, bool, n + 1);
    if (!is_done)
        return false;
    do {
        f.again = false;
        bool *done = is_done;
        for (uint32_t j = 0; j < x->nrpo; j++)
            for (size_t k = 0; k < x->b.at[x->rpo[j]].code.n; k++, done++) {
                pl_insn *i = &x->b.at[x->rpo[j]].code.at[k];
                if (*done)
                    continue;
                f.any = brings(i);
                if (!f.any && one_answer(i))
                    reads_but_own(&f, i);
                else if (!f.any)
                    pl_insn_reads_here(x->p, i, sees, &f);
                if (f.any)
                    pl_insn_writes_here(x->p, i, spreads, &f);
                *done = f.any;
            }
    } while (f.again);
    for (uint32_t r = 0; r < x->f->rows; r++)
        v->row[r] &= VARIES;
    for (uint32_t r = 0; r < x->f->preds; r++)
        v->pred[r] &= VARIES;
    return true;
}

bool pl_varies_find(pl_varies *v, pl_ir *x)
{
    if (!begin(v, x))
        return false;
    for (uint32_t r = 0; r < x->f->rows; r++)
        v->row[r] = (uint8_t)(x->row[r].pinned || differs_between_lanes(pl_ir_special(x, r)));
    for (uint32_t r = 0; r < x->f->preds; r++)
        v->pred[r] = x->pred_row[r].pinned;
    return spread(v, x, own_difference);
}

bool pl_varies_polled(const pl_insn *i)
{
    uint32_t e = pl_insn_effects(i);
    return i->cls != C_mbarrier && i->cls != C_mbarrier_wait && ((e & PL_EF_ATOMIC) || (e & (PL_EF_LOAD | PL_EF_VOLATILE)) == (PL_EF_LOAD | PL_EF_VOLATILE));
}

bool pl_varies_find_polled(pl_varies *v, pl_ir *x)
{
    if (!begin(v, x))
        return false;
    return spread(v, x, pl_varies_polled);
}
