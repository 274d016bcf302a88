/* wgmma_registers.c - registers that wgmma accesses asynchronously: the accumulators, and matrix A
 * if it is in registers. They must not be accessed before wgmma.wait_group has waited for the group
 * of the product. wgmma.fence must separate a write to them from the product. The first product of
 * a warp requires wgmma.fence in any case.
 *
 * The accesses that may violate these rules are known at assembly time: the list of each function
 * (compiler/analysis/wgmma_hazards.h). Here each entry is tracked during the launch: the access is
 * an error if the product of its entry is in flight. The code of the access may have been removed
 * or moved, so a nearby instruction marks its time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "check/internal.h"

/* Data of a program: entries of the lists, and the events that its instructions cause for them. */
typedef struct event {
    uint32_t pc, hazard;
    enum { STARTS, ACCESS, ACCESSED } what; /* the product; before the access; after it */
} event;

struct check_products_of_program {
    const pl_wgmma_hazard **hazard;
    uint32_t n;
    uint32_t *at; /* by hazard: pc that represents the access */
    event *event; /* by pc */
    size_t events, cap;
    pl_exec_fn *inner[]; /* by pc; NULL: not bound */
};

/* State of a group of lanes. */
struct check_products {
    uint32_t open; /* number of the open group, from 1 */
    uint32_t done; /* all groups up to this number have been waited for */
    bool fenced;   /* wgmma.fence has been executed */
    struct {
        uint32_t group; /* group of the product's latest execution; 0: none */
        uint32_t pc;
        bool written; /* the access has executed since the latest wgmma.fence */
    } hazard[];
};

void pl_products_free(check_products *p)
{
    free(p);
}

static check_products *products_of(pl_warp *w)
{
    check_unit *u = unit_of(w);
    if (u->products) return u->products;
    const uint32_t n = check_of(w)->accumulators->n;
    check_products *p = calloc(1, sizeof *p + n * sizeof *p->hazard);
    if (!p) {
        check_of(w)->no_memory = true;
        return NULL;
    }
    p->open = 1;
    return u->products = p;
}

/* ---- findings ---- */

static unsigned first_lane(const pl_warp *w)
{
    return (unsigned)__builtin_ctz(w->exec | 1u << 31);
}

static const char *const text_of[] = {
    [PL_HAZARD_ACCUMULATOR_READ] =
        "the accumulator of a wgmma is used before wgmma.wait_group has waited for it",
    [PL_HAZARD_ACCUMULATOR_WRITTEN] =
        "the accumulator of a wgmma is overwritten before wgmma.wait_group has waited for it",
    [PL_HAZARD_MATRIX_READ] = "a register with matrix A of a wgmma is read before "
                              "wgmma.wait_group has waited for the product",
    [PL_HAZARD_MATRIX_WRITTEN] = "a register with matrix A of a wgmma is overwritten before "
                                 "wgmma.wait_group has waited for the product",
    [PL_HAZARD_UNFENCED] = "a register of a wgmma is written, without a wgmma.fence between the "
                           "write and the product"};

static const pl_finding_kind kind_of[] = {
    [PL_HAZARD_ACCUMULATOR_READ] = PL_FK_SYNC_WGMMA,
    [PL_HAZARD_ACCUMULATOR_WRITTEN] = PL_FK_SYNC_WGMMA,
    [PL_HAZARD_MATRIX_READ] = PL_FK_SYNC_WGMMA_OPERAND,
    [PL_HAZARD_MATRIX_WRITTEN] = PL_FK_SYNC_WGMMA_OPERAND,
    [PL_HAZARD_UNFENCED] = PL_FK_SYNC_WGMMA_FENCE,
};

static void report(pl_warp *w, uint32_t hazard, uint32_t by, uint32_t other)
{
    const pl_hazard_kind kind = check_of(w)->accumulators->hazard[hazard]->kind;
    const uint32_t pc = w->pc;
    bool fresh;
    w->pc = by;
    pl_check_finding *f =
        pl_finding_between(check_of(w), w, kind_of[kind], first_lane(w), other, &fresh);
    w->pc = pc;
    if (!fresh) return;
    f->other = f->by;
    f->other.pc = other;
    f->space = PL_SP_REG;
    snprintf(f->text, sizeof f->text, "%s", text_of[kind]);
}

/* ---- events ---- */

static void on_access(pl_warp *w, check_products *p, uint32_t hazard)
{
    const check_products_of_program *a = check_of(w)->accumulators;
    if (a->hazard[hazard]->kind == PL_HAZARD_UNFENCED)
        p->hazard[hazard].written = true;
    else if (p->hazard[hazard].group > p->done)
        report(w, hazard, a->at[hazard], p->hazard[hazard].pc);
}

static void on_product(pl_warp *w, check_products *p, uint32_t hazard)
{
    const check_products_of_program *a = check_of(w)->accumulators;
    if (p->fenced && p->hazard[hazard].written && a->hazard[hazard]->kind == PL_HAZARD_UNFENCED)
        report(w, hazard, w->pc, a->at[hazard]);
    p->hazard[hazard].group = p->open;
    p->hazard[hazard].pc = w->pc;
}

static void handle_events(pl_warp *w, check_products *p, uint32_t pc, bool after)
{
    const check_products_of_program *a = check_of(w)->accumulators;
    size_t from = 0, to = a->events;
    while (from < to) {
        const size_t middle = (from + to) / 2;
        if (a->event[middle].pc < pc)
            from = middle + 1;
        else
            to = middle;
    }
    for (; from < a->events && a->event[from].pc == pc; from++) {
        const event *e = &a->event[from];
        if (after && e->what == ACCESSED) on_access(w, p, e->hazard);
        if (!after && e->what == ACCESS) on_access(w, p, e->hazard);
        if (!after && e->what == STARTS) on_product(w, p, e->hazard);
    }
}

static void track_wgmma(pl_warp *w, const pl_insn *i, check_products *p)
{
    if (pl_forms[i->form].mnem != M_wgmma) return;
    if (pl_insn_has(i, W_mma_async)) {
        if (!p->fenced)
            pl_finding_at(check_of(w), w, PL_FK_SYNC_WGMMA_FENCE, first_lane(w),
                          "the first wgmma of this warp has no wgmma.fence before it");
        p->fenced = true;
    } else if (pl_insn_has(i, W_commit_group)) {
        p->open++;
    } else if (pl_insn_has(i, W_wait_group)) {
        const uint64_t max_pending = (uint64_t)i->imm;
        if (p->open > max_pending + 1 && p->open - 1 - max_pending > p->done)
            p->done = (uint32_t)(p->open - 1 - max_pending);
    } else if (pl_insn_has(i, W_fence)) {
        p->fenced = true;
        for (uint32_t h = 0; h < check_of(w)->accumulators->n; h++) p->hazard[h].written = false;
    }
}

static void execute_tracked(pl_warp *w, const pl_insn *i)
{
    const uint32_t pc = (uint32_t)(i - w->code);
    check_products *p = products_of(w);
    if (p) {
        handle_events(w, p, pc, false);
        track_wgmma(w, i, p);
    }
    check_of(w)->accumulators->inner[pc](w, i);
    if (p) handle_events(w, p, pc, true);
}

/* ---- binding ---- */

static bool is_product(const pl_insn *i)
{
    return pl_forms[i->form].mnem == M_wgmma && pl_insn_has(i, W_mma_async);
}

static bool is_at_position(const pl_program *p, uint32_t pc, const pl_prog_line *line)
{
    const pl_prog_line *l = &p->lines.at[p->code.at[pc].line];
    return l->ptx_line == line->ptx_line && l->ptx_column == line->ptx_column;
}

static void add_event(check_products_of_program *a, uint32_t pc, uint32_t hazard, unsigned what)
{
    if (a->events == a->cap && !pl_array_grow(&a->event, &a->cap, sizeof *a->event)) return;
    a->event[a->events++] = (event){.pc = pc, .hazard = hazard, .what = what};
}

/* Returns the instruction that marks the access: the access itself, or the remaining instruction of
 * its block that is nearest in the text, preferably of the same CUDA line. */
static uint32_t anchor_of(const pl_program *p, const pl_prog_func *f, const pl_wgmma_hazard *h)
{
    uint32_t best = UINT32_MAX;
    uint64_t min_distance = UINT64_MAX;
    for (uint32_t pc = f->first; pc < f->first + f->count; pc++) {
        const pl_prog_line *l = &p->lines.at[p->code.at[pc].line];
        if (is_at_position(p, pc, &h->access)) return pc;
        if (!p->code.at[pc].exec || l->ptx_line < h->first_line || l->ptx_line > h->last_line)
            continue;
        const bool same = l->src_line == h->access.src_line && l->src_file == h->access.src_file;
        const uint32_t line_distance = l->ptx_line > h->access.ptx_line
                                           ? l->ptx_line - h->access.ptx_line
                                           : h->access.ptx_line - l->ptx_line;
        const uint64_t distance = (uint64_t)!same << 32 | line_distance;
        if (distance >= min_distance) continue;
        min_distance = distance;
        best = pc;
    }
    return best;
}

static void track_hazard(pl_check *k, const pl_prog_func *f, uint32_t n)
{
    check_products_of_program *a = k->accumulators;
    const pl_program *p = k->program;
    const pl_wgmma_hazard *h = a->hazard[n];
    const uint32_t at = a->at[n] = anchor_of(p, f, h);
    if (at == UINT32_MAX) return;
    const bool removed = h->when == PL_ANCHOR_SELF && !is_at_position(p, at, &h->access);
    const unsigned what = h->when == PL_ANCHOR_BEFORE ? ACCESSED : ACCESS;
    for (uint32_t pc = f->first; pc < f->first + f->count; pc++) {
        if (is_at_position(p, pc, &h->product) && is_product(&p->code.at[pc]))
            add_event(a, pc, n, STARTS);
        if (removed ? pc == at : is_at_position(p, pc, &h->anchor)) add_event(a, pc, n, what);
    }
}

/* At one pc, accesses precede products; otherwise the order of the list applies. */
static int by_pc(const void *a, const void *b)
{
    const event *x = a, *y = b;
    if (x->pc != y->pc) return x->pc < y->pc ? -1 : 1;
    if ((x->what == STARTS) != (y->what == STARTS)) return x->what == STARTS ? 1 : -1;
    return x->hazard < y->hazard ? -1 : x->hazard > y->hazard;
}

static void bind(pl_check *k)
{
    check_products_of_program *a = k->accumulators;
    pl_program *p = k->program;
    for (uint32_t pc = 0, e = 0; pc < p->code.n; pc++) {
        pl_insn *i = &p->code.at[pc];
        while (e < a->events && a->event[e].pc < pc) e++;
        if (!i->exec ||
            (pl_forms[i->form].mnem != M_wgmma && (e == a->events || a->event[e].pc != pc)))
            continue;
        a->inner[pc] = i->exec;
        i->exec = execute_tracked;
    }
}

bool pl_accumulators_begin(pl_check *k)
{
    const pl_program *p = k->program;
    size_t n = 0, hazards = 0;
    while (n < p->code.n && !is_product(&p->code.at[n])) n++;
    if (!(k->tools & PL_CHECK_SYNC) || n == p->code.n) return true;
    for (size_t f = 0; f < p->funcs.n; f++) hazards += p->funcs.at[f].hazards.n;
    check_products_of_program *a = k->accumulators =
        calloc(1, sizeof *a + p->code.n * sizeof *a->inner);
    if (!a) return false;
    a->hazard = calloc(hazards + 1, sizeof *a->hazard);
    a->at = calloc(hazards + 1, sizeof *a->at);
    if (!a->hazard || !a->at) return false;
    for (size_t f = 0; f < p->funcs.n; f++)
        for (size_t h = 0; h < p->funcs.at[f].hazards.n; h++) {
            a->hazard[a->n] = &p->funcs.at[f].hazards.at[h];
            track_hazard(k, &p->funcs.at[f], a->n++);
        }
    if (a->events) qsort(a->event, a->events, sizeof *a->event, by_pc);
    bind(k);
    return true;
}

void pl_accumulators_end(pl_check *k)
{
    check_products_of_program *a = k->accumulators;
    if (!a) return;
    free(a->hazard);
    free(a->at);
    free(a->event);
    free(a);
    k->accumulators = NULL;
}
