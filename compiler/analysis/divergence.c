/* divergence.c - divergence analysis: which registers may differ between the lanes of a warp. See
 * divergence.h.
 *
 * Divergence propagates from its sources (thread numbers, results of atomics) to everything that is
 * computed from them, to a fixed point. A register that is written on one side of a divergent
 * branch and read after the join is divergent too. So is one that changes in a loop whose lanes
 * exit in different iterations, even if only the loop reads it (ptxas 13.0: a branch on the counter
 * of such a loop is divergent). */
#include "compiler/analysis/divergence.h"

#include <string.h>

#include "compiler/analysis/post_dominance.h"
#include "isa/program/operand_plan.h"

/* The row is divergent; it was read before that was known, so its readers must be revisited. */
enum { DIVERGENT = 1, READ = 2 };

typedef struct divergence_finder {
    pl_divergence *v;
    bool is_divergent, again;
} divergence_finder;

static inline void read_operand(divergence_finder *f, uint32_t *row, unsigned rows, unsigned use)
{
    uint8_t *v = (use & PL_USE_PRED ? f->v->pred : f->v->row) + *row;
    for (unsigned k = 0; k < rows; k++) {
        f->is_divergent |= v[k] & DIVERGENT;
        v[k] |= READ;
    }
}

static bool differs_between_lanes(pl_word sreg)
{
    return sreg == W_tid || sreg == W_laneid || sreg == W_lanemask_eq || sreg == W_lanemask_le ||
           sreg == W_lanemask_lt || sreg == W_lanemask_ge || sreg == W_lanemask_gt;
}

/* True if the result is divergent regardless of the operands. */
static bool is_divergent_source(const pl_insn *i)
{
    uint32_t e = pl_insn_effects(i);
    uint16_t m = pl_insn_mnem(i);
    if (!e) return m == M_alloca;
    if (e & (PL_EF_ATOMIC | PL_EF_CALL)) return true;
    if (m == M_elect || m == M_ldmatrix || m == M_mma || m == M_wmma || m == M_movmatrix ||
        m == M_wgmma)
        return true;
    return (e & PL_EF_LOAD) && i->sel[PL_M_SPACE] != PL_SP_PARAM &&
           i->sel[PL_M_SPACE] != PL_SP_CONST && i->sel[PL_M_SPACE] != PL_SP_SHARED &&
           i->sel[PL_M_SPACE] != PL_SP_GLOBAL;
}

/* True if all participating lanes receive the same result: votes, reductions, a shuffle from one
 * lane. */
static bool is_warp_uniform_result(const pl_insn *i)
{
    return i->latency_class == C_vote || i->latency_class == C_redux ||
           (i->latency_class == C_match && pl_insn_has(i, W_all)) ||
           (i->latency_class == C_shfl && pl_insn_has(i, W_idx));
}

/* Reads all operands that can make the result diverge: those that select lanes or the operation.
 * The value that each lane contributes, operand a, does not matter. */
static void read_selectors(divergence_finder *f, pl_insn *i)
{
    const pl_form *form = &pl_forms[i->form];
    if (i->guard > PL_PF) read_operand(f, &i->guard, 1, PL_USE_PRED);
    for (unsigned k = 0; k < form->noperands && k < PL_INLINE_OPERANDS; k++)
        if (!form->operand[k].written && strcmp(form->operand[k].name, "a") != 0)
            read_operand(f, &i->op[k], 1, 0);
}

static bool init_divergence(pl_divergence *v, const pl_ir *x)
{
    v->row = pl_arena_array(x->tmp, uint8_t, x->f->rows + 4);
    v->pred = pl_arena_array(x->tmp, uint8_t, x->f->preds + 1);
    return v->row && v->pred;
}

/* Propagates divergence from the sources that `is_source` accepts and from rows marked already. An
 * instruction is finished once its results are marked. Returns false when out of memory. */
static inline bool propagate(pl_divergence *v, pl_ir *x, bool (*is_source)(const pl_insn *i))
{
    divergence_finder f = {.v = v};
    size_t n = 0;
    for (uint32_t j = 0; j < x->nrpo; j++) n += x->blocks.at[x->rpo[j]].code.n;
    bool *is_done = pl_arena_array(x->tmp, bool, n + 1);
    if (!is_done) return false;
    do {
        f.again = false;
        bool *done = is_done;
        for (uint32_t j = 0; j < x->nrpo; j++)
            for (size_t k = 0; k < x->blocks.at[x->rpo[j]].code.n; k++, done++) {
                pl_insn *i = &x->blocks.at[x->rpo[j]].code.at[k];
                if (*done) continue;
                f.is_divergent = is_source(i);
                if (!f.is_divergent && is_warp_uniform_result(i))
                    read_selectors(&f, i);
                else if (!f.is_divergent)
                    PL_FOR_EACH_READ(x->p, i, o) read_operand(&f, o.row, o.rows, o.use);
                if (f.is_divergent)
                    PL_FOR_EACH_WRITE(x->p, i, op) {
                        uint8_t *w = (op.use & PL_USE_PRED ? f.v->pred : f.v->row) + *op.row;
                        for (unsigned r = 0; r < op.rows; r++) {
                            f.again |= w[r] == READ;
                            w[r] |= DIVERGENT;
                        }
                    }
                *done = f.is_divergent;
            }
    } while (f.again);
    for (uint32_t r = 0; r < x->f->rows; r++) v->row[r] &= DIVERGENT;
    for (uint32_t r = 0; r < x->f->preds; r++) v->pred[r] &= DIVERGENT;
    return true;
}

/* Reads and writes between a branch and its reconvergence point. Predicates are numbered after the
 * rows. */
typedef struct region_defs {
    pl_divergence *v;
    const pl_ir *x;
    uint32_t *reads, *writes;               /* counts in the whole function */
    uint32_t *reads_inside, *writes_inside; /* counts in the region */
    struct {
        uint32_t *at;
        size_t n, cap;
    } seen;     /* in the region, with several writes in the function */
    bool whole; /* the whole function is being counted */
} region_defs;

static void count_access(region_defs *s, uint32_t *row, unsigned rows, unsigned use)
{
    for (unsigned k = 0; k < rows; k++) {
        uint32_t r = *row + k + (use & PL_USE_PRED ? s->x->f->rows : 0);
        if (s->whole) {
            s->reads[r] += (use & PL_USE_READ) != 0;
            s->writes[r] += (use & PL_USE_WRITE) != 0;
            continue;
        }
        if (s->writes[r] < 2) continue;
        if (!s->reads_inside[r] && !s->writes_inside[r]) *pl_push(s->x->tmp, &s->seen) = r;
        s->reads_inside[r] += (use & PL_USE_READ) != 0;
        s->writes_inside[r] += (use & PL_USE_WRITE) != 0;
    }
}

static uint8_t *flag_of(const region_defs *s, uint32_t r)
{
    return r < s->x->f->rows ? &s->v->row[r] : &s->v->pred[r - s->x->f->rows];
}

/* Visits the blocks between the branch that ends block b and its reconvergence point `join`, and
 * marks registers that diverge because of it. Returns the number of instructions visited. */
static size_t mark_divergent_region(region_defs *s, pl_ir *x, uint32_t b, uint32_t join,
                                    uint32_t *stamp, uint32_t *stack, bool *changed)
{
    uint32_t depth = 0;
    size_t seen = 0;
    stack[depth++] = b;
    s->seen.n = 0;
    while (depth) {
        uint32_t from = stack[--depth];
        for (uint32_t k = 0; k < pl_ir_successors(x, from); k++) {
            uint32_t to = pl_ir_successor(x, from, k);
            if (to == join || stamp[to] == b + 1) continue;
            stamp[to] = b + 1;
            stack[depth++] = to;
            for (size_t j = 0; j < x->blocks.at[to].code.n; j++)
                PL_FOR_EACH_USE(x->p, &x->blocks.at[to].code.at[j], o)
                    count_access(s, o.row, o.rows, o.use);
            seen += x->blocks.at[to].code.n;
        }
    }
    const bool leaves_loop = pl_ir_leaves_loop(x, b);
    for (size_t k = 0; k < s->seen.n; k++) {
        uint32_t r = s->seen.at[k];
        uint8_t *flag = flag_of(s, r);
        if (!*flag && s->writes_inside[r] &&
            (s->reads_inside[r] < s->reads[r] ||
             (leaves_loop && s->writes_inside[r] < s->writes[r]))) {
            *flag = DIVERGENT;
            *changed = true;
        }
        s->reads_inside[r] = s->writes_inside[r] = 0;
    }
    return seen;
}

static bool is_divergent_branch(const pl_divergence *v, const pl_insn *i)
{
    return i && ((i->guard > PL_PF && v->pred[i->guard]) ||
                 (pl_forms[i->form].noperands == 2 && v->row[i->op[0]]));
}

/* Marks registers written in divergent regions. The total work is limited to a fixed number of
 * walks over the function. */
static bool mark_divergent_regions(pl_divergence *v, pl_ir *x)
{
    enum { WALKS = 64 };
    const uint32_t n = (uint32_t)x->blocks.n;
    const size_t names = (size_t)x->f->rows + x->f->preds + 8;
    region_defs s = {.v = v,
                     .x = x,
                     .reads = pl_arena_array(x->tmp, uint32_t, names),
                     .writes = pl_arena_array(x->tmp, uint32_t, names),
                     .reads_inside = pl_arena_array(x->tmp, uint32_t, names),
                     .writes_inside = pl_arena_array(x->tmp, uint32_t, names),
                     .whole = true};
    uint32_t *stamp = pl_arena_array(x->tmp, uint32_t, n + 1),
             *stack = pl_arena_array(x->tmp, uint32_t, n + 1);
    uint8_t *done = pl_arena_array(x->tmp, uint8_t, n + 1);
    pl_post_dominance e;
    if (!s.reads || !s.writes || !s.reads_inside || !s.writes_inside || !stamp || !stack || !done ||
        !pl_post_dominance_find(&e, x))
        return false;
    size_t budget = 0;
    for (uint32_t j = 0; j < x->nrpo; j++)
        for (size_t k = 0; k < x->blocks.at[x->rpo[j]].code.n; k++, budget += WALKS)
            PL_FOR_EACH_USE(x->p, &x->blocks.at[x->rpo[j]].code.at[k], o)
                count_access(&s, o.row, o.rows, o.use);
    for (uint32_t r = 0; r < x->f->rows; r++) /* their initial contents */
        s.writes[r] += x->regs[r].loop_carried;
    for (uint32_t r = 0; r < x->f->preds; r++) s.writes[x->f->rows + r] += x->preds[r].loop_carried;
    s.whole = false;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t j = 0; j < x->nrpo && budget; j++) {
            uint32_t b = x->rpo[j];
            if (done[b] || !is_divergent_branch(v, pl_ir_branch(x, b)) || e.ipdom[b] == PL_IR_NONE)
                continue;
            done[b] = 1;
            size_t seen = mark_divergent_region(&s, x, b, e.ipdom[b], stamp, stack, &changed);
            budget -= seen < budget ? seen : budget;
        }
        if (changed && !propagate(v, x, is_divergent_source)) return false;
    }
    return true;
}

bool pl_divergence_find(pl_divergence *v, pl_ir *x)
{
    if (!init_divergence(v, x)) return false;
    for (uint32_t r = 0; r < x->f->rows; r++)
        v->row[r] =
            (uint8_t)(x->regs[r].precolored || differs_between_lanes(pl_ir_special_register(x, r)));
    for (uint32_t r = 0; r < x->f->preds; r++) v->pred[r] = x->preds[r].precolored;
    return propagate(v, x, is_divergent_source) && mark_divergent_regions(v, x);
}

bool pl_divergence_is_polled(const pl_insn *i)
{
    uint32_t e = pl_insn_effects(i);
    return i->latency_class != C_mbarrier && i->latency_class != C_mbarrier_wait &&
           ((e & PL_EF_ATOMIC) ||
            (e & (PL_EF_LOAD | PL_EF_VOLATILE)) == (PL_EF_LOAD | PL_EF_VOLATILE));
}

bool pl_divergence_find_polled(pl_divergence *v, pl_ir *x)
{
    if (!init_divergence(v, x)) return false;
    return propagate(v, x, pl_divergence_is_polled);
}
