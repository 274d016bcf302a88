/* variables.c - where shared variables lie in each kernel and constants in their bank, and the variables of the machine program. See
 * variables.h. */
#include "ptx/variables.h"

#include <stdlib.h>

typedef struct numbers { uint32_t *at; size_t n, cap; } numbers;

/* What the functions of the module use, each named once. Marks tell what was seen already: that of the current round. */
typedef struct usage {
    pl_arena *scratch;
    numbers *vars, *callees;               /* by function: module-scope shared variables, functions */
    uint32_t *var_mark, *func_mark, round; /* by variable, by function */
} usage;

static void use_var(usage *u, numbers *list, uint32_t v)
{
    if (u->var_mark[v] == u->round)
        return;
    u->var_mark[v] = u->round;
    *pl_push(u->scratch, list) = v;
}

static void use_func(usage *u, numbers *list, uint32_t f)
{
    if (u->func_mark[f] == u->round)
        return;
    u->func_mark[f] = u->round;
    *pl_push(u->scratch, list) = f;
}

static void direct_use(usage *u, uint32_t k, const pl_operand *o)
{
    const pl_var *v = pl_operand_var(o);
    if (v && v->space == PL_SP_SHARED)
        use_var(u, &u->vars[k], v->index);
    if (o->kind == PL_O_FUNC)
        use_func(u, &u->callees[k], o->func->index);
}

static void direct_uses(usage *u, const pl_func *f, uint32_t k)
{
    u->round++;
    for (size_t n = 0; n < f->uses.n; n++)
        direct_use(u, k, f->uses.at[n].op);
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* The shared variables that a kernel uses, its callees included, in the order of their declarations. */
static numbers reachable(usage *u, uint32_t kernel)
{
    numbers vars = {0}, todo = {0};
    u->round++;
    use_func(u, &todo, kernel);
    for (size_t k = 0; k < todo.n; k++) { /* a work list: recursion on input depth is not wanted */
        uint32_t f = todo.at[k];
        for (size_t v = 0; v < u->vars[f].n; v++)
            use_var(u, &vars, u->vars[f].at[v]);
        for (size_t n = 0; n < u->callees[f].n; n++)
            use_func(u, &todo, u->callees[f].at[n]);
    }
    if (vars.n)
        qsort(vars.at, vars.n, sizeof *vars.at, by_number);
    return vars;
}

static void put_shared(pl_var *x, uint64_t *at)
{
    *at = pl_align_up(*at, x->align);
    x->offset = *at;
    *at += x->size;
}

/* Places shared variables: those of one kernel start at 0 for that kernel; those that several kernels use come first in all. */
bool pl_place_shared(const pl_ast *ast, pl_program *p, pl_arena *scratch, uint64_t *dynamic)
{
    size_t nv = ast->vars.n, nf = ast->funcs.n;
    usage u = {.scratch = scratch,
               .vars = pl_arena_array(scratch, numbers, nf + 1),
               .callees = pl_arena_array(scratch, numbers, nf + 1),
               .var_mark = pl_arena_array(scratch, uint32_t, nv + 1),
               .func_mark = pl_arena_array(scratch, uint32_t, nf + 1)};
    numbers *used = pl_arena_array(scratch, numbers, nf + 1);
    uint8_t *users = pl_arena_array(scratch, uint8_t, nv + 1);
    if (!pl_arena_ok(scratch))
        return false;
    for (size_t k = 0; k < nf; k++)
        direct_uses(&u, ast->funcs.at[k], (uint32_t)k);
    for (size_t k = 0; k < nf; k++) {
        if (!ast->funcs.at[k]->entry)
            continue;
        used[k] = reachable(&u, (uint32_t)k);
        for (size_t n = 0; n < used[k].n; n++)
            users[used[k].at[n]] = users[used[k].at[n]] ? 2 : 1;
    }
    uint64_t common = 0;
    for (size_t v = 0; v < nv; v++)
        if (users[v] > 1 && !ast->vars.at[v]->unsized)
            put_shared(ast->vars.at[v], &common);
    uint64_t behind = 0, align = 16; /* behind the largest static part */
    bool by_function = false; /* a function that several kernels may call uses dynamic memory: they must agree where it starts */
    for (size_t k = 0; k < nf; k++) {
        const pl_func *f = ast->funcs.at[k];
        uint64_t at = common;
        bool uses_dynamic = false;
        for (size_t n = 0; n < used[k].n; n++) {
            pl_var *x = ast->vars.at[used[k].at[n]];
            uses_dynamic |= x->unsized;
            if (users[used[k].at[n]] == 1 && !x->unsized)
                put_shared(x, &at);
        }
        for (size_t v = 0; v < f->vars.n; v++) /* declared in the function's body */
            if (f->vars.at[v]->space == PL_SP_SHARED)
                put_shared(f->vars.at[v], &at);
        if (!f->entry && at > common)
            common = at;
        p->funcs.at[k].static_shared = (uint32_t)at;
        for (size_t n = 0; n < u.vars[k].n && !f->entry; n++)
            by_function |= ast->vars.at[u.vars[k].at[n]]->unsized;
        if (uses_dynamic && at > behind)
            behind = at;
    }
    for (uint32_t v = 0; v < nv; v++)
        if (ast->vars.at[v]->space == PL_SP_SHARED && ast->vars.at[v]->unsized)
            align = ast->vars.at[v]->align > align ? ast->vars.at[v]->align : align;
    for (size_t k = 0; k < nf; k++) {
        const pl_func *f = ast->funcs.at[k];
        uint64_t at = by_function || !f->entry ? behind : p->funcs.at[k].static_shared;
        bool uses = false;
        for (size_t n = 0; n < used[k].n; n++)
            uses |= ast->vars.at[used[k].at[n]]->unsized;
        dynamic[k] = pl_align_up(at, align);
        if (uses && f->entry && at)
            p->funcs.at[k].static_shared = (uint32_t)dynamic[k];
    }
    return pl_arena_ok(scratch);
}

/* ---- constants ---- */

typedef struct constants { pl_var **at; size_t n, cap; } constants;

static void add_constants(pl_arena *arena, constants *list, pl_var *const *var, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (var[k]->space == PL_SP_CONST && var[k]->linkage != PL_LINK_EXTERN)
            *pl_push(arena, list) = var[k];
}

/* ptxas 13.0 begins with the names that other modules may use; for the rest the order is that of the text. */
static int in_bank_order(const void *a, const void *b)
{
    const pl_var *x = *(pl_var *const *)a, *y = *(pl_var *const *)b;
    bool own_x = x->linkage == PL_LINK_NONE, own_y = y->linkage == PL_LINK_NONE;
    if (own_x != own_y)
        return own_x ? 1 : -1;
    if (x->at.file != y->at.file)
        return x->at.file < y->at.file ? -1 : 1;
    if (x->at.line != y->at.line)
        return x->at.line < y->at.line ? -1 : 1;
    return x->at.column < y->at.column ? -1 : x->at.column > y->at.column;
}

void pl_place_constants(const pl_ast *ast, pl_arena *arena)
{
    constants list = {0};
    add_constants(arena, &list, ast->vars.at, ast->vars.n);
    for (size_t k = 0; k < ast->funcs.n; k++)
        add_constants(arena, &list, ast->funcs.at[k]->vars.at, ast->funcs.at[k]->vars.n);
    if (!list.n || !pl_arena_ok(arena))
        return;
    qsort(list.at, list.n, sizeof *list.at, in_bank_order);
    uint64_t end = 0;
    for (size_t k = 0; k < list.n; k++) {
        pl_var *v = list.at[k];
        v->offset = pl_align_up(end, v->align);
        bool beyond = end <= PL_BANK_BYTES;
        end = v->offset + v->size;
        if (beyond && end > PL_BANK_BYTES)
            pl_report(ast->diags, PL_E0390, v->at, v->name, (unsigned long long)end, PL_BANK_BYTES);
    }
}

void pl_lower_variable(const pl_var *v, pl_program *p)
{
    pl_prog_var *o = pl_push(p->arena, &p->vars);
    *o = (pl_prog_var){.name = v->name, .space = (uint8_t)v->space, .linkage = (uint8_t)v->linkage, .managed = v->managed,
                       .unsized = v->unsized, .align = v->align, .size = v->size, .init = v->init};
    if (v->space == PL_SP_SHARED || v->space == PL_SP_CONST)
        o->address = v->offset;
    for (size_t k = 0; k < v->reloc.n; k++) {
        const pl_ast_reloc *r = &v->reloc.at[k];
        pl_prog_reloc x = {.offset = r->offset, .bytes = r->bytes, .shift = r->shift, .addend = r->addend};
        if (r->func) {
            x.kind = PL_RELOC_FUNC;
            x.symbol = r->func->index;
        } else {
            x.kind = r->generic && r->var->space == PL_SP_CONST ? PL_RELOC_GENERIC : PL_RELOC_VAR;
            x.symbol = r->var->index;
        }
        *pl_push(p->arena, &o->reloc) = x;
    }
}
