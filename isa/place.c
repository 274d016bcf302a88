/* place.c - parameters and special registers are fetched where they are needed first; what every kernel does before its own work.
 *
 * Machine code of ptxas 13.0 for sm_90 (2026-11): a parameter is read from the constant bank (LDC, ULDC) in the first block that needs
 * it, inside a loop only under the guard of what needs it; %tid and %ctaid take S2R or S2UR, %ntid and its like are words of the constant bank. A kernel begins
 * with the stack pointer; global accesses need a descriptor (ULDC.64), shared ones the base of the window (S2UR, UMOV, ULEA). */
#include <string.h>

#include "isa/passes.h"
#include "isa/plan.h"

typedef struct fetch {
    pl_insn i;
    uint32_t block;  /* where it goes; PL_IR_NONE: nobody reads it */
    uint32_t next;   /* in the same block, plus one */
    bool placed;
} fetch;

typedef struct place {
    pl_ir *x;
    uint32_t *of;      /* by row: fetch that writes it, plus one */
    struct { fetch *at; size_t n, cap; } fetches;
    uint32_t block;
} place;

static uint32_t out_of_loops(const pl_ir *x, uint32_t b)
{
    while (b != PL_IR_NONE && x->b.at[b].loop != PL_IR_NONE)
        b = x->b.at[x->b.at[b].loop].idom;
    return b;
}

/* Registers that the hardware keeps in the constant bank: sizes, which do not differ between blocks. */
static bool in_constant_bank(pl_word sreg)
{
    const char *s = pl_word_text[sreg];
    return *s == 'n' || sreg == W_dynamic_smem_size || sreg == W_total_smem_size;
}

static bool is_fetch(const pl_ir *x, const pl_insn *i)
{
    if (i->guard != PL_PT)
        return false;
    uint16_t m = pl_insn_mnem(i);
    if (m == M_ld)
        return x->f->entry && i->sel[PL_M_SPACE] == PL_SP_PARAM && i->op[1] == UINT32_MAX && i->sel[PL_M_COUNT] == 1 && x->row[i->op[0]].defs == 1;
    return m == M_mov && pl_forms[i->form].noperands == 2 && pl_ir_special(x, i->op[1]) && x->row[i->op[0]].defs == 1;
}

static void reach(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    place *p = ctx;
    if (use & PL_USE_PRED)
        return;
    for (unsigned k = 0; k < rows; k++)
        if (p->of[*row + k]) {
            fetch *f = &p->fetches.at[p->of[*row + k] - 1];
            f->block = pl_ir_common_dominator(p->x, f->block, p->block);
        }
}

typedef struct own_fetch {
    place *p;
    uint32_t row, to; /* what it reads, and the register that the new fetch fills */
} own_fetch;

static void reads_fetch(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    own_fetch *o = ctx;
    if ((use & PL_USE_PRED) || !o->p->of[*row])
        return;
    const fetch *f = &o->p->fetches.at[o->p->of[*row] - 1];
    if (pl_insn_mnem(&f->i) != M_ld || f->i.op[0] != *row || o->p->x->row[*row].rows != rows)
        return;
    if (o->to == PL_IR_NONE) {
        o->row = *row;
        o->to = pl_ir_new(o->p->x, rows);
    }
    if (*row == o->row)
        *row = o->to;
}

/* What a guarded instruction in a loop reads is fetched under its guard, in front of it: it came from a block of its own. */
static void fetch_under_guards(place *p)
{
    pl_ir *x = p->x;
    for (uint32_t b = 0; b < x->b.n; b++) {
        if (x->b.at[b].order == PL_IR_NONE || x->b.at[b].loop == PL_IR_NONE)
            continue;
        for (size_t k = 0; k < x->b.at[b].code.n && pl_ir_ok(x); k++) {
            pl_insn *i = &x->b.at[b].code.at[k];
            if (i->form == PL_IR_DEAD || i->guard == PL_PT || !(i->flags & PL_IF_MEM))
                continue;
            own_fetch o = {.p = p, .to = PL_IR_NONE};
            pl_insn_reads_here(x->p, i, reads_fetch, &o);
            if (o.to == PL_IR_NONE)
                continue;
            pl_insn f = p->fetches.at[p->of[o.row] - 1].i;
            f.op[0] = o.to;
            f.guard = i->guard;
            f.flags |= i->flags & PL_IF_GUARD_NEG;
            f.line = i->line;
            pl_insn *at = pl_ir_later(x, b, k);
            if (!at)
                return;
            *at = f;
        }
    }
    pl_ir_settle(x);
}

/* Puts the fetch in front of position `at` of the block at work. */
static void emit(place *p, size_t at, fetch *f)
{
    pl_insn *i = f->placed ? NULL : pl_ir_later(p->x, p->block, at);
    if (i)
        *i = f->i;
    f->placed = true;
}

/* All of the block at work that have no place yet. */
static void emit_rest(place *p, size_t at, uint32_t first)
{
    for (uint32_t k = first; k; k = p->fetches.at[k - 1].next)
        emit(p, at, &p->fetches.at[k - 1]);
}

typedef struct needs {
    place *p;
    size_t at;
} needs;

static void emit_needed(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    needs *n = ctx;
    if (use & PL_USE_PRED)
        return;
    for (unsigned k = 0; k < rows; k++) {
        uint32_t f = n->p->of[*row + k];
        if (f && n->p->fetches.at[f - 1].block == n->p->block)
            emit(n->p, n->at, &n->p->fetches.at[f - 1]);
    }
}

static bool collect(place *p)
{
    pl_ir *x = p->x;
    size_t guarded = 0; /* they may get fetches of their own */
    for (uint32_t b = 0; b < x->b.n; b++)
        for (size_t k = 0; k < x->b.at[b].code.n; k++)
            guarded += x->b.at[b].code.at[k].guard != PL_PT;
    p->of = pl_arena_array(x->tmp, uint32_t, x->f->rows + 2 * guarded + 4);
    if (!p->of)
        return false;
    for (uint32_t b = 0; b < x->b.n; b++)
        for (size_t k = 0; k < x->b.at[b].code.n; k++) {
            pl_insn *i = &x->b.at[b].code.at[k];
            if (i->form == PL_IR_DEAD || x->b.at[b].order == PL_IR_NONE || !is_fetch(x, i))
                continue;
            *pl_push(x->tmp, &p->fetches) = (fetch){.i = *i, .block = PL_IR_NONE};
            if (pl_insn_mnem(i) == M_mov) {
                pl_word type = x->row[i->op[0]].rows == 2 ? W_u64 : W_u32;
                pl_insn_make(&p->fetches.at[p->fetches.n - 1].i, in_constant_bank(pl_ir_special(x, i->op[1])) ? M__ldc : M__s2r, 2, &type, 1);
            }
            for (unsigned r = 0; r < x->row[i->op[0]].rows; r++)
                p->of[i->op[0] + r] = (uint32_t)p->fetches.n;
            pl_ir_remove(x, i);
        }
    return pl_ir_ok(x);
}

/* The block before all accesses to global memory, which need its descriptor. */
static uint32_t before_global(const pl_ir *x)
{
    uint32_t at = PL_IR_NONE;
    for (uint32_t j = 0; j < x->nrpo; j++) {
        const pl_irb *b = &x->b.at[x->rpo[j]];
        bool any = false;
        for (size_t k = 0; k < b->code.n && !any; k++) {
            const pl_insn *i = &b->code.at[k];
            if (!(pl_insn_effects(i) & (PL_EF_LOAD | PL_EF_STORE | PL_EF_ATOMIC)) || !(i->flags & PL_IF_MEM))
                continue;
            pl_space s = (pl_space)i->sel[PL_M_SPACE];
            any = s == PL_SP_GLOBAL || s == PL_SP_GENERIC;
        }
        if (any)
            at = pl_ir_common_dominator(x, at, x->rpo[j]);
    }
    return at == PL_IR_NONE ? at : out_of_loops(x, at);
}

/* An instruction of the machine's own in front of a block. */
static bool setup(pl_ir *x, uint32_t block, uint16_t mnem)
{
    pl_irb *b = &x->b.at[block];
    uint32_t line = b->code.n ? b->code.at[0].line : 0;
    pl_insn *i = pl_ir_insert(x, block, 0);
    if (!i)
        return false;
    i->line = line;
    return pl_insn_make(i, mnem, 0, NULL, 0);
}

typedef struct window_use {
    const pl_ir *x;
    bool any;
} window_use;

static void uses_window(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    window_use *w = ctx;
    (void)rows;
    w->any |= !(use & PL_USE_PRED) && w->x->kind.at[*row] == PL_ROW_INIT && w->x->f->init.at[w->x->init.at[*row]].reloc == PL_RELOC_SHARED;
}

/* The block before all that name a variable in shared memory. */
static uint32_t before_shared(const pl_ir *x)
{
    uint32_t at = PL_IR_NONE;
    for (uint32_t j = 0; j < x->nrpo; j++) {
        window_use w = {x, false};
        const pl_irb *b = &x->b.at[x->rpo[j]];
        for (size_t k = 0; k < b->code.n && !w.any; k++) {
            pl_insn *i = &b->code.at[k];
            pl_insn_uses_here(x->p, i, uses_window, &w);
            w.any |= (i->flags & PL_IF_MEM) && i->sel[PL_M_SPACE] == PL_SP_SHARED;
        }
        if (w.any)
            at = pl_ir_common_dominator(x, at, x->rpo[j]);
    }
    return at == PL_IR_NONE ? at : out_of_loops(x, at);
}

bool pl_pass_place(pl_ir *x)
{
    place p = {.x = x};
    pl_ir_sweep(x);
    if (!pl_ir_graph(x) || !pl_ir_uses(x) || !collect(&p))
        return false;
    uint32_t rows = x->f->rows;
    fetch_under_guards(&p);
    for (uint32_t j = 0; j < x->nrpo; j++) {
        p.block = x->rpo[j];
        for (size_t k = 0; k < x->b.at[p.block].code.n; k++)
            if (x->b.at[p.block].code.at[k].form != PL_IR_DEAD)
                pl_insn_reads_here(x->p, &x->b.at[p.block].code.at[k], reach, &p);
    }
    uint32_t *wanted = pl_arena_array(x->tmp, uint32_t, x->b.n + 1); /* by block: the first fetch there, plus one */
    if (!wanted)
        return false;
    for (size_t k = p.fetches.n; k-- > 0;) {
        fetch *f = &p.fetches.at[k];
        f->block = f->block == PL_IR_NONE ? PL_IR_NONE : out_of_loops(x, f->block);
        if (f->block == PL_IR_NONE)
            continue;
        f->next = wanted[f->block];
        wanted[f->block] = (uint32_t)k + 1;
    }
    for (uint32_t b = 0; b < x->b.n; b++) {
        if (!wanted[b])
            continue;
        const pl_irb *k = &x->b.at[b];
        p.block = b;
        needs n = {.p = &p};
        for (; n.at < k->code.n; n.at++)
            if (k->code.at[n.at].form != PL_IR_DEAD)
                pl_insn_reads_here(x->p, &k->code.at[n.at], emit_needed, &n);
        emit_rest(&p, k->code.n - (pl_ir_branch(x, b) ? 1 : 0), wanted[b]);
    }
    if (!pl_ir_settle(x))
        return false;
    pl_ir_sweep(x);
    for (size_t b = 0; b < x->b.n; b++) /* arguments and results of calls travel in registers */
        for (size_t k = 0; k < x->b.at[b].code.n; k++) {
            pl_insn *i = &x->b.at[b].code.at[k];
            if (i->cls == C_param && (pl_insn_mnem(i) == M_ld || pl_insn_mnem(i) == M_st) && i->sel[PL_M_SPACE] == PL_SP_LOCAL)
                i->cls = C_free;
            if (pl_insn_mnem(i) == M_ld && i->sel[PL_M_SPACE] == PL_SP_CONST && i->guard == PL_PT && i->op[1] != UINT32_MAX &&
                x->row[i->op[1]].kind == PL_ROW_INIT) /* a constant at a known place is an operand of its reader; one of 64 bits needs ULDC */
                i->cls = pl_type_bits(pl_insn_type(i)) == 64 ? C_param : C_free;
        }
    if (x->f->entry) {
        uint32_t global = before_global(x), shared = before_shared(x);
        if (global != PL_IR_NONE && !setup(x, global, M__desc))
            return false;
        if (shared != PL_IR_NONE && !setup(x, shared, M__window))
            return false;
        if (!setup(x, 0, M__stack))
            return false;
    }
    pl_ir_sweep(x);
    if (x->f->rows == rows) /* no fetch has a register of its own; those that nobody reads are gone, and nobody asks about them */
        pl_ir_moved(x);
    return pl_ir_ok(x);
}
