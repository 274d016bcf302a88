/* accumulators.c - registers that wgmma writes: nobody may look at them before wgmma.wait_group has
 * waited for the group of the product. Another wgmma may add to them. The first product of a warp
 * needs wgmma.fence in front of it.
 *
 * What else writes to such a register is not looked at: the assembler may have given it to another
 * value once nobody uses the sum any more. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/internal.h"
#include "isa/program/operands.h"

/* Of a group of lanes. */
struct check_products {
    uint32_t rows,
        pending;   /* of the register file; of them, those that a product may still write */
    uint32_t open; /* number of the group that is open, from 1 on */
    bool fenced;   /* wgmma.fence has been executed */
    struct {
        uint32_t group, pc; /* of the product that writes it; 0: none does */
    } row[];
};

void pl_products_free(check_products *p)
{
    free(p);
}

static check_products *products_of(pl_warp *w)
{
    check_unit *u = unit_of(w);
    if (u->products && u->products->rows >= w->file_rows) return u->products;
    check_products *p = realloc(u->products, sizeof *p + w->file_rows * sizeof *p->row);
    if (!p) {
        check_of(w)->no_memory = true;
        return NULL;
    }
    if (!u->products) *p = (check_products){.open = 1};
    for (; p->rows < w->file_rows; p->rows++) p->row[p->rows].group = 0;
    return u->products = p;
}

/* ---- registers of an instruction ---- */

typedef enum visit_kind { MARK, LOOK, CLEAR } visit_kind;

typedef struct visit {
    pl_warp *w;
    check_products *p;
    visit_kind what;
    uint32_t pc; /* LOOK: of a product whose sum is read, or UINT32_MAX */
} visit;

static void visit_row(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    visit *v = ctx;
    const uint32_t first = pl_traced_row(v->w) + *row;
    const bool fits = v->what == LOOK ? use & PL_USE_READ : use & PL_USE_WRITE;
    if (!fits || use & PL_USE_PRED) return;
    for (uint32_t r = first; r < first + rows && r < v->p->rows; r++) {
        const bool was = v->p->row[r].group != 0;
        if (v->what == LOOK) {
            if (was && v->pc == UINT32_MAX) v->pc = v->p->row[r].pc;
            continue;
        }
        v->p->row[r].group = v->what == MARK ? v->p->open : 0;
        v->p->row[r].pc = v->w->pc;
        v->p->pending += (uint32_t)(v->what == MARK) - (uint32_t)was;
    }
}

static uint32_t visit_rows(pl_warp *w, const pl_insn *i, check_products *p, visit_kind what)
{
    pl_insn copy = *i; /* its plan went with the assembler */
    visit v = {.w = w, .p = p, .pc = UINT32_MAX};
    copy.plan = 0;
    v.what = what;
    pl_insn_uses(check_of(w)->program, &copy, visit_row, &v);
    return v.pc;
}

/* ---- what wgmma does ---- */

static unsigned first_lane(const pl_warp *w)
{
    return (unsigned)__builtin_ctz(w->exec | 1u << 31);
}

static void inner(pl_warp *w, const pl_insn *i)
{
    check_of(w)->accumulators[i - w->code](w, i);
}

static void fences(pl_warp *w, const pl_insn *i)
{
    check_products *p = products_of(w);
    if (p) p->fenced = true;
    inner(w, i);
}

static void starts(pl_warp *w, const pl_insn *i)
{
    check_products *p = products_of(w);
    if (p && !p->fenced) {
        pl_finding_at(check_of(w), w, PL_FK_SYNC_WGMMA_FENCE, first_lane(w),
                      "the first wgmma of this warp has no wgmma.fence in front of it");
        p->fenced = true;
    }
    inner(w, i);
    if (p) visit_rows(w, i, p, MARK);
}

static void commits(pl_warp *w, const pl_insn *i)
{
    check_products *p = products_of(w);
    if (p) p->open++;
    inner(w, i);
}

static void waits(pl_warp *w, const pl_insn *i)
{
    check_products *p = products_of(w);
    const uint64_t keep = (uint64_t)i->imm;
    for (uint32_t r = 0; p && p->pending && r < p->rows; r++) {
        const uint32_t group = p->row[r].group;
        if (!group || group + keep >= p->open) continue;
        p->row[r].group = 0;
        p->pending--;
    }
    inner(w, i);
}

static void report(pl_warp *w, uint32_t product)
{
    bool fresh;
    pl_check_finding *f =
        pl_finding_between(check_of(w), w, PL_FK_SYNC_WGMMA, first_lane(w), product, &fresh);
    if (!fresh) return;
    f->other = f->by;
    f->other.pc = product;
    f->space = PL_SP_REG;
    snprintf(f->text, sizeof f->text,
             "the sum of a wgmma is used before wgmma.wait_group has waited for it");
}

static void others(pl_warp *w, const pl_insn *i)
{
    check_products *p = unit_of(w)->products;
    if (p && p->pending) {
        const uint32_t product = visit_rows(w, i, p, LOOK);
        if (product != UINT32_MAX) report(w, product);
        visit_rows(w, i, p, CLEAR);
    }
    inner(w, i);
}

/* ---- binding ---- */

typedef struct registers {
    uint8_t *sum; /* by row: some wgmma writes it */
    uint32_t rows;
    bool found; /* the instruction uses one of them */
    bool mark;
} registers;

static void note_row(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    registers *r = ctx;
    if (use & PL_USE_PRED) return;
    for (uint32_t n = *row; n < *row + rows && n < r->rows; n++) {
        if (!r->mark)
            r->found |= r->sum[n];
        else if (use & PL_USE_WRITE)
            r->sum[n] = 1;
    }
}

static bool is_product(const pl_insn *i)
{
    return pl_forms[i->form].mnem == M_wgmma && pl_insn_has(i, W_mma_async);
}

static pl_exec_fn *wrapper_of(pl_program *p, const pl_insn *i, registers *r)
{
    if (is_product(i)) return starts;
    if (pl_forms[i->form].mnem == M_wgmma)
        return pl_insn_has(i, W_commit_group) ? commits
               : pl_insn_has(i, W_wait_group) ? waits
               : pl_insn_has(i, W_fence)      ? fences
                                              : NULL;
    if (pl_forms[i->form].mnem == M__save || pl_forms[i->form].mnem == M__restore) return NULL;
    pl_insn copy = *i;
    copy.plan = 0;
    r->found = false;
    pl_insn_uses(p, &copy, note_row, r);
    return r->found ? others : NULL;
}

static void bind(pl_check *k, registers *r)
{
    pl_program *p = k->program;
    for (size_t n = 0; n < p->code.n; n++) {
        pl_insn copy = p->code.at[n];
        copy.plan = 0;
        if (is_product(&copy)) pl_insn_uses(p, &copy, note_row, r);
    }
    r->mark = false;
    for (size_t n = 0; n < p->code.n; n++) {
        pl_insn *i = &p->code.at[n];
        pl_exec_fn *x = i->exec ? wrapper_of(p, i, r) : NULL;
        if (!x) continue;
        k->accumulators[n] = i->exec;
        i->exec = x;
    }
}

bool pl_accumulators_begin(pl_check *k)
{
    const pl_program *p = k->program;
    size_t n = 0;
    while (n < p->code.n && !is_product(&p->code.at[n])) n++;
    if (!(k->tools & PL_CHECK_SYNC) || n == p->code.n) return true;
    registers r = {.mark = true};
    for (size_t f = 0; f < p->funcs.n; f++)
        if (p->funcs.at[f].rows > r.rows) r.rows = p->funcs.at[f].rows;
    r.sum = calloc(r.rows ? r.rows : 1, 1);
    k->accumulators = calloc(p->code.n, sizeof *k->accumulators);
    if (r.sum && k->accumulators) bind(k, &r);
    const bool good = r.sum && k->accumulators;
    free(r.sum);
    return good;
}

void pl_accumulators_end(pl_check *k)
{
    free(k->accumulators);
    k->accumulators = NULL;
}
