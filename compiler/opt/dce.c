/* dce.c - dead code elimination (DCE): removes instructions whose results are unused. */
#include "compiler/opt/gvn.h"

#include <string.h>

typedef struct dce {
    pl_ir *x;
    uint32_t block, at;
    bool is_used, has_results; /* some result of the instruction is used */
    bool changed;              /* a result at a later position has become unused */
    bool partly_dead;          /* part of a result is now discarded */
    bool def_removed;          /* one of several writes of a row was removed */
    struct {
        pl_ir_reg **at;
        size_t n, cap;
    } dead_regs; /* registers that are no longer written */
} dce;

static void release_operand(dce *c, uint32_t *row, unsigned rows, unsigned use)
{
    for (unsigned k = 0; k < rows; k++) {
        pl_ir_reg *r = &(use & PL_USE_PRED ? c->x->preds : c->x->regs)[*row + k];
        r->nuses -= r->nuses != 0;
        if (!r->nuses && r->def_block != PL_IR_NONE)
            c->changed |= r->ndefs > 1 || r->def_block > c->block ||
                          (r->def_block == c->block && r->def_index >= c->at);
    }
}

static void drop_result(dce *c, uint32_t *row, unsigned rows, unsigned use)
{
    pl_ir_reg *r = (use & PL_USE_PRED ? c->x->preds : c->x->regs) + *row;
    for (unsigned k = 0; k < rows; k++) {
        c->def_removed |= r[k].ndefs != 1;
        *pl_push(c->x->tmp, &c->dead_regs) = &r[k];
    }
}

/* Discards an unused component of a texel, so that it takes no register: the machine instruction
 * has a write mask. */
static void discard_component(dce *c, uint32_t *row, unsigned rows, unsigned use)
{
    if (use & PL_USE_PRED || rows != 1) return;
    pl_ir_reg *r = c->x->regs + *row;
    if (r->nuses || c->x->kind.at[*row] != PL_REG_VIRTUAL) return;
    c->def_removed |= r->ndefs != 1;
    *pl_push(c->x->tmp, &c->dead_regs) = r;
    *row = c->x->discard_reg;
    c->partly_dead = true;
}

static bool is_texture_access(const pl_insn *i)
{
    return i->latency_class == C_tex || i->latency_class == C_surf;
}

/* True for a load that a checker observes. */
static bool is_checked(const pl_program *p, const pl_insn *i)
{
    const pl_space space = (pl_space)i->sel[PL_M_SPACE];
    const uint16_t m = pl_insn_mnem(i);
    return p->keeps_accesses && (m == M_ld || m == M_ldu) &&
           (space == PL_SP_GLOBAL || space == PL_SP_SHARED || space == PL_SP_GENERIC);
}

static bool is_removable(const pl_program *p, const pl_insn *i)
{
    return !is_checked(p, i) && (pl_insn_traits(i) & PL_TRAIT_REMOVABLE) &&
           !(i->flags & PL_IF_CONTROL) &&
           !((i->sel[PL_M_FLAGS] & PL_MF_POLL) && pl_insn_effects(i));
}

/* True for a cross-lane exchange. */
static bool is_exchange(const pl_insn *i)
{
    const uint16_t m = pl_insn_mnem(i);
    return (m == M_shfl || m == M_vote || m == M_match || m == M_redux || m == M_elect) &&
           (pl_insn_effects(i) & PL_EF_CONVERGE);
}

/* Replaces an exchange whose results are unused by its synchronisation, as ptxas 13.0 does. The
 * latter is removed too where the warp is converged (compiler/codegen/insert_reconvergence.c; 30
 * kernels made for it, sm_90, 2026-11). */
static void reduce_to_sync(dce *c, pl_insn *i)
{
    const uint32_t mask = i->op[pl_forms[i->form].noperands - 1];
    pl_insn sync = *i;
    if (!pl_insn_make(&sync, M_bar, 1, (pl_word[]){W_warp, W_sync}, 2)) return;
    sync.op[0] = mask;
    sync.latency_class = C_free;
    c->x->regs[mask].nuses++;
    PL_FOR_EACH_READ(c->x->p, i, o) release_operand(c, o.row, o.rows, o.use);
    PL_FOR_EACH_WRITE(c->x->p, i, op) drop_result(c, op.row, op.rows, op.use);
    *i = sync;
}

/* Visits instructions backwards, so that one walk removes a chain; cycles through variables may
 * need another. */
bool pl_pass_dce(pl_ir *x)
{
    dce c = {.x = x};
    bool unchanged = true;
    pl_ir_sweep(x);
    if (!pl_ir_graph(x) || !pl_ir_count(x)) return false;
    do {
        c.changed = false;
        for (c.block = (uint32_t)x->blocks.n; c.block-- > 0;) {
            pl_ir_block *b = &x->blocks.at[c.block];
            for (c.at = (uint32_t)b->code.n; c.at-- > 0;) {
                pl_insn *i = &b->code.at[c.at];
                const bool exchange = i->form != PL_IR_DEAD && is_exchange(i);
                if (i->form == PL_IR_DEAD || (!exchange && !is_removable(x->p, i))) continue;
                c.has_results = c.is_used = false;
                PL_FOR_EACH_WRITE(x->p, i, o) {
                    const pl_ir_reg *r = (o.use & PL_USE_PRED ? c.x->preds : c.x->regs) + *o.row;
                    c.has_results = true;
                    for (unsigned k = 0; k < o.rows; k++) c.is_used |= r[k].nuses != 0;
                }
                if (c.is_used && is_texture_access(i) && x->discard_reg != PL_IR_NONE)
                    PL_FOR_EACH_WRITE(x->p, i, o) discard_component(&c, o.row, o.rows, o.use);
                if (!c.has_results || c.is_used) continue;
                if (exchange) {
                    reduce_to_sync(&c, i);
                    unchanged = false;
                    continue;
                }
                PL_FOR_EACH_READ(x->p, i, o) release_operand(&c, o.row, o.rows, o.use);
                PL_FOR_EACH_WRITE(x->p, i, op) drop_result(&c, op.row, op.rows, op.use);
                pl_ir_remove(x, i);
                unchanged = false;
            }
        }
    } while (c.changed);
    pl_ir_sweep(x);
    for (size_t k = 0; k < c.dead_regs.n; k++) {
        c.dead_regs.at[k]->ndefs = c.dead_regs.at[k]->width = 0;
        c.dead_regs.at[k]->def_block = PL_IR_NONE;
    }
    if (unchanged && !c.partly_dead)
        pl_ir_preserve_all(x);
    else if (!c.def_removed) /* counts are valid, positions are not */
        pl_ir_preserve_counts(x);
    return pl_ir_ok(x);
}
