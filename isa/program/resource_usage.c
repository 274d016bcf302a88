/* resource_usage.c - barriers, stack and registers of functions, over the call graph. See
 * resource_usage.h.
 *
 * Functions are visited after all their callees. A call back to a function that is still open
 * (recursion) counts once, as in ptxas. An indirect call may reach every function whose address is
 * in a variable or in a register of some function. */
#include "isa/program/resource_usage.h"

#include <string.h>

#include "base/guard.h"
#include "isa/program/insn_query.h"

/* Registers per thread that code can address; rows of a register file; the allocation granularity;
 * the minimum imposed by launch bounds. (CUDA C++ Programming Guide, "Compute Capabilities". Before
 * sm_32 an instruction has 6 bits for a register.) */
enum {
    MAX_REGISTERS = 255,
    MAX_REGISTERS_6BIT = 63,
    FILE_WARPS = 65536 / PL_LANES,
    REGISTER_UNIT = 8,
    MIN_REGISTERS = 16
};

static uint32_t product(const uint32_t *size)
{
    return size[0] * (size[1] ? size[1] : 1) * (size[2] ? size[2] : 1);
}

/* Warps of its largest block; 0: unknown. */
static uint32_t warps_of(const pl_prog_func *f)
{
    return ((f->reqntid[0] ? product(f->reqntid) : product(f->maxntid)) + PL_LANES - 1) / PL_LANES;
}

uint32_t pl_register_limit(const pl_program *p, const pl_prog_func *f)
{
    uint32_t limit = p->sm >= 32 || p->sm < 10 ? MAX_REGISTERS : MAX_REGISTERS_6BIT;
    if (f->maxnreg) return f->maxnreg < limit ? f->maxnreg : limit;
    uint32_t warps = warps_of(f) * (f->minnctapersm ? f->minnctapersm : 1);
    if (!warps) return limit;
    uint32_t share =
        (p->sm >= 30 ? FILE_WARPS : FILE_WARPS / 2) / warps / REGISTER_UNIT * REGISTER_UNIT;
    return share < MIN_REGISTERS ? MIN_REGISTERS : share < limit ? share : limit;
}

uint32_t pl_registers_at_entry(const pl_program *p, const pl_prog_func *f)
{
    enum { GROUP = 4 };
    uint32_t largest = 0;
    bool changes = false;
    for (uint32_t k = f->first; k < f->first + f->count; k++) {
        const pl_insn *i = &p->code.at[k];
        if (pl_insn_mnem(i) != M_setmaxnreg) continue;
        changes = true;
        if (pl_insn_has(i, W_inc) && (uint32_t)i->imm > largest) largest = (uint32_t)i->imm;
    }
    if (!changes || !(f->maxnreg || f->minnctapersm)) return 0;
    uint32_t limit = pl_register_limit(p, f),
             warps = (warps_of(f) + GROUP - 1) / GROUP * GROUP * f->minnctapersm;
    const uint32_t share = warps ? FILE_WARPS / warps / REGISTER_UNIT * REGISTER_UNIT : limit;
    if (!f->maxnreg && share < limit) limit = share;
    return largest && largest < limit ? largest : limit;
}

enum { ALL_BARRIERS = 16 };

typedef struct visit {
    uint32_t func, pc;  /* next instruction to examine */
    uint32_t candidate; /* next possible target of an indirect call */
} visit;

typedef struct graph {
    pl_program *p;
    uint8_t *state;         /* by function: 0 new, 1 open, 2 done */
    bool *address_taken;    /* by function: its address is taken */
    uint32_t *callee_stack; /* stack of its deepest callee chain */
    struct {
        visit *at;
        size_t n, cap;
    } open;
} graph;

static bool constant_of(const pl_prog_func *f, uint32_t row, uint64_t *bits)
{
    for (size_t k = 0; k < f->init.n; k++) {
        const pl_frame_init *r = &f->init.at[k];
        if (r->row == row && !r->sreg && r->reloc == PL_RELOC_NONE) {
            *bits = r->bits;
            return true;
        }
    }
    return false;
}

/* Number of barriers that an instruction requires of its block: the highest number + 1. */
static uint32_t barriers_of(const pl_prog_func *f, const pl_insn *i)
{
    const pl_form *form = &pl_forms[i->form];
    if ((form->mnem != M_bar && form->mnem != M_barrier) || i->latency_class != C_barrier) return 0;
    for (unsigned k = 0; k < form->noperands; k++) {
        const pl_ospec *s = &form->operand[k];
        uint64_t number;
        if (s->kind != PL_K_VALUE || s->written) continue;
        bool known = constant_of(f, i->op[k], &number);
        return known && number < ALL_BARRIERS ? (uint32_t)number + 1 : ALL_BARRIERS;
    }
    return 0;
}

static void count_own_barriers(pl_program *p, pl_prog_func *f)
{
    f->barriers = 0;
    for (uint32_t pc = f->first; pc < f->first + f->count; pc++) {
        uint32_t n = barriers_of(f, &p->code.at[pc]);
        f->barriers = n > f->barriers ? n : f->barriers;
    }
}

static void open_function(graph *g, uint32_t func)
{
    g->state[func] = 1;
    count_own_barriers(g->p, &g->p->funcs.at[func]);
    *pl_push(g->p->arena, &g->open) = (visit){.func = func, .pc = g->p->funcs.at[func].first};
}

/* The next callee of the open function; UINT32_MAX after the last. */
static uint32_t next_callee(graph *g, visit *v)
{
    const pl_program *p = g->p;
    const pl_prog_func *f = &p->funcs.at[v->func];
    for (; v->pc < f->first + f->count; v->pc++) {
        const pl_insn *i = &p->code.at[v->pc];
        if (!(pl_forms[i->form].effects & PL_EF_CALL)) continue;
        uint32_t callee = p->calls.at[i->target].callee;
        if (callee != UINT32_MAX) {
            v->pc++;
            return callee;
        }
        while (v->candidate < p->funcs.n) {
            callee = v->candidate++;
            if (g->address_taken[callee] && !p->funcs.at[callee].entry) return callee;
        }
    }
    return UINT32_MAX;
}

static void add_callee(graph *g, uint32_t caller, uint32_t callee)
{
    pl_prog_func *f = &g->p->funcs.at[caller];
    const pl_prog_func *c = &g->p->funcs.at[callee];
    if (c->barriers > f->barriers) f->barriers = c->barriers;
    uint32_t limit = pl_register_limit(g->p, f),
             registers = c->registers < limit ? c->registers : limit;
    if (registers > f->registers) f->registers = registers;
    if (c->stack_bytes > g->callee_stack[caller]) g->callee_stack[caller] = c->stack_bytes;
}

static void visit_from(graph *g, uint32_t func)
{
    open_function(g, func);
    while (g->open.n && pl_arena_ok(g->p->arena)) {
        visit *v = &g->open.at[g->open.n - 1];
        uint32_t caller = v->func, callee = next_callee(g, v);
        if (callee == UINT32_MAX) {
            pl_prog_func *f = &g->p->funcs.at[caller];
            f->stack_bytes = f->local_bytes + g->callee_stack[caller];
            g->state[caller] = 2;
            g->open.n--;
            if (g->open.n) add_callee(g, g->open.at[g->open.n - 1].func, caller);
        } else if (g->state[callee] == 0)
            open_function(g, callee);
        else if (g->state[callee] == 2)
            add_callee(g, caller, callee);
    }
}

static void find_address_taken(graph *g)
{
    const pl_program *p = g->p;
    for (size_t v = 0; v < p->vars.n; v++)
        for (size_t k = 0; k < p->vars.at[v].reloc.n; k++)
            if (p->vars.at[v].reloc.at[k].kind == PL_RELOC_FUNC)
                g->address_taken[p->vars.at[v].reloc.at[k].symbol] = true;
    for (size_t f = 0; f < p->funcs.n; f++)
        for (size_t k = 0; k < p->funcs.at[f].init.n; k++) {
            const pl_frame_init *r = &p->funcs.at[f].init.at[k];
            const uint32_t func = r->width == 64 && !r->sreg && r->reloc == PL_RELOC_NONE
                                      ? pl_program_func_at(p, r->bits)
                                      : UINT32_MAX;
            if (func != UINT32_MAX) g->address_taken[func] = true;
        }
}

static bool find_resources(pl_program *p, pl_arena *scratch)
{
    PL_GUARD(return false)
    graph g = {.p = p,
               .state = pl_arena_array(scratch, uint8_t, p->funcs.n + 1),
               .callee_stack = pl_arena_array(scratch, uint32_t, p->funcs.n + 1),
               .address_taken = pl_arena_array(scratch, bool, p->funcs.n + 1)};
    find_address_taken(&g);
    for (uint32_t k = 0; k < p->funcs.n; k++)
        if (g.state[k] == 0) visit_from(&g, k);
    return true;
}

pl_status pl_program_resources(pl_program *p)
{
    pl_arena *scratch = pl_arena_open();
    const bool good = scratch && find_resources(p, scratch);
    pl_arena_close(scratch);
    return good ? PL_OK : PL_NOMEM;
}

uint32_t pl_constant_base(unsigned sm)
{
    return sm >= 100 ? 0x380 : sm >= 90 ? 0x210 : sm >= 70 ? 0x160 : sm >= 30 ? 0x140 : 0x20;
}
