/* shared_layout.c - assigns offsets to shared variables in each kernel. See shared_layout.h.
 *
 * A kernel's shared memory holds exactly the variables that it and its callees use. ptxas 13.0
 * clones a function for every kernel that calls it, so that kernels need not agree on a layout.
 * Here a function is assembled once. The variables of a function that several kernels execute have
 * the same offset in all of them (such functions and variables are called common). The other
 * variables of each kernel are placed around them. */
#include "ptx/lower/shared_layout.h"

#include <stdlib.h>

#include "ptx/lower/constant_layout.h"

typedef struct numbers {
    uint32_t *at;
    size_t n, cap;
} numbers;

typedef struct interval {
    uint64_t start, end;
} interval;

typedef struct intervals {
    interval *at;
    size_t n, cap;
} intervals;

/* Shared variables and functions that each function uses, without duplicates. Marks record those
 * seen in the current iteration. */
typedef struct usage {
    const pl_ast *ast;
    pl_arena *scratch;
    numbers *vars, *callees; /* by function: shared variables of the module, functions */
    numbers address_taken;   /* functions whose address is taken: possible targets of an indirect
                        call */
    uint8_t *indirect;       /* by function: it has an indirect call */
    /* By kernel: including its callees, in declaration order. */
    numbers *all_vars, *all_funcs;
    uint32_t *var_mark, *func_mark, round; /* by variable, by function */
    uint32_t *sole_kernel, *kernels; /* by function: see shared_layout.h; kernels that execute it */
    uint8_t *common;                 /* by variable: functions of several kernels use it */
    intervals *fixed;                /* by kernel: locations of common variables */
} usage;

static void use_var(usage *u, numbers *list, uint32_t v)
{
    if (u->var_mark[v] == u->round) return;
    u->var_mark[v] = u->round;
    *pl_push(u->scratch, list) = v;
}

static void use_func(usage *u, numbers *list, uint32_t f)
{
    if (u->func_mark[f] == u->round) return;
    u->func_mark[f] = u->round;
    *pl_push(u->scratch, list) = f;
}

/* A kernel that is named is launched, not called, and does not count. */
static void use_callable(usage *u, numbers *list, const pl_func *f)
{
    if (!f->entry) use_func(u, list, f->index);
}

static void direct_uses(usage *u, const pl_func *f, uint32_t k)
{
    u->round++;
    for (size_t n = 0; n < f->uses.n; n++) {
        const pl_operand *o = f->uses.at[n].op;
        const pl_var *v = pl_operand_var(o);
        if (v && v->space == PL_SP_SHARED) use_var(u, &u->vars[k], v->index);
        if (o->kind == PL_O_FUNC) use_callable(u, &u->callees[k], o->func);
    }
}

static void take_addresses(usage *u)
{
    const pl_ast *ast = u->ast;
    u->round++;
    for (size_t k = 0; k < ast->funcs.n; k++)
        for (size_t n = 0; n < ast->funcs.at[k]->uses.n; n++) {
            const pl_use *x = &ast->funcs.at[k]->uses.at[n];
            if (x->op->kind == PL_O_FUNC && !x->called)
                use_callable(u, &u->address_taken, x->op->func);
        }
    for (size_t v = 0; v < ast->vars.n; v++)
        for (size_t r = 0; r < ast->vars.at[v]->reloc.n; r++)
            if (ast->vars.at[v]->reloc.at[r].func)
                use_callable(u, &u->address_taken, ast->vars.at[v]->reloc.at[r].func);
}

static bool calls_indirectly(const pl_func *f)
{
    for (size_t n = 0; n < f->body.n; n++) {
        const pl_stmt *s = &f->body.at[n];
        const pl_form *form = s->kind == PL_S_INSN ? &pl_forms[s->what->form] : NULL;
        for (unsigned k = 0; form && form->effects & PL_EF_CALL && k < form->noperands; k++)
            if (form->operand[k].kind == PL_K_FUNC && s->op[k].kind == PL_O_REG) return true;
    }
    return false;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static void sort_numbers(numbers *n)
{
    if (n->n) qsort(n->at, n->n, sizeof *n->at, by_number);
}

/* Collects the uses of a kernel and its callees. */
static void collect_reachable(usage *u, uint32_t kernel)
{
    numbers *vars = &u->all_vars[kernel], *funcs = &u->all_funcs[kernel];
    u->round++;
    use_func(u, funcs, kernel);
    for (size_t k = 0; k < funcs->n; k++) { /* a work list, to avoid recursion on input depth */
        uint32_t f = funcs->at[k];
        for (size_t v = 0; v < u->vars[f].n; v++) use_var(u, vars, u->vars[f].at[v]);
        for (size_t n = 0; n < u->callees[f].n; n++) use_func(u, funcs, u->callees[f].at[n]);
        for (size_t n = 0; u->indirect[f] && n < u->address_taken.n; n++)
            use_func(u, funcs, u->address_taken.at[n]);
        u->sole_kernel[f] = u->kernels[f]++ ? PL_NO_SOLE_KERNEL : kernel;
    }
    sort_numbers(vars);
    sort_numbers(funcs);
}

static bool open_usage(usage *u, const pl_ast *ast, pl_arena *scratch)
{
    size_t nv = ast->vars.n + 1, nf = ast->funcs.n + 1;
    *u = (usage){.ast = ast,
                 .scratch = scratch,
                 .vars = pl_arena_array(scratch, numbers, nf),
                 .callees = pl_arena_array(scratch, numbers, nf),
                 .indirect = pl_arena_array(scratch, uint8_t, nf),
                 .all_vars = pl_arena_array(scratch, numbers, nf),
                 .all_funcs = pl_arena_array(scratch, numbers, nf),
                 .var_mark = pl_arena_array(scratch, uint32_t, nv),
                 .func_mark = pl_arena_array(scratch, uint32_t, nf),
                 .sole_kernel = pl_arena_array(scratch, uint32_t, nf),
                 .kernels = pl_arena_array(scratch, uint32_t, nf),
                 .common = pl_arena_array(scratch, uint8_t, nv),
                 .fixed = pl_arena_array(scratch, intervals, nf)};
    if (!pl_arena_ok(scratch)) return false;
    for (uint32_t k = 0; k < ast->funcs.n; k++) {
        direct_uses(u, ast->funcs.at[k], k);
        u->sole_kernel[k] = PL_NO_SOLE_KERNEL;
    }
    take_addresses(u);
    for (size_t k = 0; u->address_taken.n && k < ast->funcs.n; k++)
        u->indirect[k] = calls_indirectly(ast->funcs.at[k]);
    for (uint32_t k = 0; k < ast->funcs.n && pl_arena_ok(scratch); k++)
        if (ast->funcs.at[k]->entry) collect_reachable(u, k);
    return pl_arena_ok(scratch);
}

/* ---- placement ---- */

/* The first offset from `at` on that does not overlap common variables; *moved: it differs from
 * `at`. */
static uint64_t find_free_offset(const intervals *fixed, const pl_var *x, uint64_t at, bool *moved)
{
    bool again = true;
    at = pl_align_up(at, x->align);
    while (again) {
        again = false;
        for (size_t k = 0; k < fixed->n; k++)
            if (at < fixed->at[k].end && fixed->at[k].start < at + x->size) {
                at = pl_align_up(fixed->at[k].end, x->align);
                *moved = again = true;
            }
    }
    return at;
}

/* Assigns a common variable an offset that is free in all these kernels. */
static void place_common_var(usage *u, pl_var *x, const numbers *kernels)
{
    bool moved = true;
    x->offset = 0;
    while (moved) {
        moved = false;
        for (size_t k = 0; k < kernels->n; k++)
            x->offset = find_free_offset(&u->fixed[kernels->at[k]], x, x->offset, &moved);
    }
    for (size_t k = 0; k < kernels->n; k++)
        *pl_push(u->scratch, &u->fixed[kernels->at[k]]) =
            (interval){x->offset, x->offset + x->size};
}

static bool placed(const pl_var *v)
{
    return v->space == PL_SP_SHARED && !v->unsized;
}

static void place_common_vars(usage *u)
{
    const pl_ast *ast = u->ast;
    size_t nv = ast->vars.n, nf = ast->funcs.n;
    numbers *of_var = pl_arena_array(u->scratch, numbers, nv + 1),
            *of_func = pl_arena_array(u->scratch, numbers, nf + 1);
    if (!of_var || !of_func) return;
    for (uint32_t k = 0; k < nf; k++) {
        if (u->sole_kernel[k] != PL_NO_SOLE_KERNEL) continue;
        for (size_t n = 0; n < u->vars[k].n; n++) u->common[u->vars[k].at[n]] = 1;
        if (!u->kernels[k]) /* nothing calls it yet: it counts as a separate kernel */
            for (size_t n = 0; n < u->vars[k].n; n++)
                *pl_push(u->scratch, &of_var[u->vars[k].at[n]]) = k;
        if (!u->kernels[k]) *pl_push(u->scratch, &of_func[k]) = k;
    }
    for (uint32_t k = 0; k < nf; k++) {
        for (size_t n = 0; n < u->all_vars[k].n; n++)
            if (u->common[u->all_vars[k].at[n]])
                *pl_push(u->scratch, &of_var[u->all_vars[k].at[n]]) = k;
        for (size_t n = 0; n < u->all_funcs[k].n; n++)
            if (u->sole_kernel[u->all_funcs[k].at[n]] == PL_NO_SOLE_KERNEL)
                *pl_push(u->scratch, &of_func[u->all_funcs[k].at[n]]) = k;
    }
    for (uint32_t v = 0; v < nv && pl_arena_ok(u->scratch); v++)
        if (u->common[v] && placed(ast->vars.at[v]))
            place_common_var(u, ast->vars.at[v], &of_var[v]);
    for (uint32_t k = 0; k < nf && pl_arena_ok(u->scratch); k++)
        for (size_t n = 0; u->sole_kernel[k] == PL_NO_SOLE_KERNEL && n < ast->funcs.at[k]->vars.n;
             n++)
            if (placed(ast->funcs.at[k]->vars.at[n]))
                place_common_var(u, ast->funcs.at[k]->vars.at[n], &of_func[k]);
}

/* Assigns a variable of one kernel the next free offset. */
static void place_var(const usage *u, uint32_t kernel, pl_var *x, uint64_t *at)
{
    bool moved = false;
    x->offset = find_free_offset(&u->fixed[kernel], x, *at, &moved);
    *at = x->offset + x->size;
}

void pl_layout_own_shared(pl_func *f)
{
    uint64_t at = 0;
    for (size_t k = 0; k < f->vars.n; k++)
        if (placed(f->vars.at[k])) {
            at = pl_align_up(at, f->vars.at[k]->align);
            f->vars.at[k]->offset = at;
            at += f->vars.at[k]->size;
        }
    f->placed = true;
}

static void place_module_vars(const usage *u, uint32_t kernel, bool visible,
                              struct pl_shared_locations *locations, uint64_t *at)
{
    for (size_t n = 0; n < u->all_vars[kernel].n; n++) {
        uint32_t v = u->all_vars[kernel].at[n];
        pl_var *x = u->ast->vars.at[v];
        if (!placed(x) || (x->linkage != PL_LINK_NONE) != visible) continue;
        if (!u->common[v]) place_var(u, kernel, x, at);
        *pl_push(u->scratch, locations) = (pl_shared_location){v, x->offset};
    }
}

static void place_own_vars(const usage *u, uint32_t kernel, uint32_t func, uint64_t *at)
{
    const pl_func *f = u->ast->funcs.at[func];
    for (size_t n = 0; n < f->vars.n; n++)
        if (placed(f->vars.at[n]) && f->placed) /* placed early; it may be read concurrently */
            *at = f->vars.at[n]->offset + f->vars.at[n]->size;
        else if (placed(f->vars.at[n]))
            place_var(u, kernel, f->vars.at[n], at);
}

static int by_var(const void *a, const void *b)
{
    const pl_shared_location *x = a, *y = b;
    return x->var < y->var ? -1 : x->var > y->var;
}

/* The order is that of ptxas 13.0: variables visible to other modules, the kernel's own variables,
 * the module's, those of callees. */
static uint64_t place_kernel(const usage *u, uint32_t kernel, struct pl_shared_locations *locations)
{
    uint64_t at = 0;
    place_module_vars(u, kernel, true, locations, &at);
    place_own_vars(u, kernel, kernel, &at);
    place_module_vars(u, kernel, false, locations, &at);
    for (size_t n = 0; n < u->all_funcs[kernel].n; n++) {
        uint32_t f = u->all_funcs[kernel].at[n];
        if (f != kernel && u->sole_kernel[f] != PL_NO_SOLE_KERNEL)
            place_own_vars(u, kernel, f, &at);
    }
    for (size_t n = 0; n < u->fixed[kernel].n; n++)
        at = u->fixed[kernel].at[n].end > at ? u->fixed[kernel].at[n].end : at;
    if (locations->n) qsort(locations->at, locations->n, sizeof *locations->at, by_var);
    return at;
}

/* ---- unsized arrays: the launch's dynamic memory, after everything else ---- */

static bool uses_dynamic(const usage *u, uint32_t func)
{
    const pl_func *f = u->ast->funcs.at[func];
    bool uses = false;
    for (size_t n = 0; n < u->vars[func].n; n++)
        uses |= u->ast->vars.at[u->vars[func].at[n]]->unsized;
    for (size_t n = 0; n < f->vars.n; n++)
        uses |= f->vars.at[n]->space == PL_SP_SHARED && f->vars.at[n]->unsized;
    return uses;
}

/* 0: the module has none. Such a declaration rounds the memory of all kernels of the module, as in
 * ptxas. */
static uint64_t dynamic_align(const pl_ast *ast)
{
    uint64_t align = 0;
    for (size_t v = 0; v < ast->vars.n; v++) {
        const pl_var *x = ast->vars.at[v];
        if (x->space == PL_SP_SHARED && x->unsized) align = x->align > align ? x->align : align;
    }
    return align && align < 16 ? 16 : align;
}

/* Kernels must agree on the start of the dynamic memory that a common function uses. */
static void place_dynamic(const usage *u, uint64_t *end, uint64_t *dynamic)
{
    size_t nf = u->ast->funcs.n;
    uint64_t align = dynamic_align(u->ast), common = 0;
    uint8_t *uses_common = pl_arena_array(u->scratch, uint8_t, nf + 1);
    if (!align || !uses_common) return;
    for (uint32_t k = 0; k < nf; k++) {
        end[k] = pl_align_up(end[k], align);
        for (size_t n = 0; n < u->all_funcs[k].n && !uses_common[k]; n++) {
            uint32_t f = u->all_funcs[k].at[n];
            uses_common[k] = u->sole_kernel[f] == PL_NO_SOLE_KERNEL && uses_dynamic(u, f);
        }
        if (uses_common[k] && end[k] > common) common = end[k];
    }
    for (uint32_t k = 0; k < nf; k++)
        if (uses_common[k]) end[k] = common;
    for (uint32_t k = 0; k < nf; k++)
        dynamic[k] = u->sole_kernel[k] == PL_NO_SOLE_KERNEL ? common : end[u->sole_kernel[k]];
}

/* ---- the module ---- */

/* As in ptxas 13.0: only code specific to one architecture may use more than every GPU provides. */
static uint64_t max_shared(const pl_ast *ast)
{
    if (ast->sm_suffix == 'a' || ast->large_shared)
        return ast->sm / 10 == 12 ? 99 << 10 : 227 << 10;
    return ast->sm < 20 ? 16 << 10 : 48 << 10;
}

/* Records the names of a kernel's own variables, for messages. */
static void name_variables(pl_program *p, const pl_func *f, pl_prog_func *out)
{
    for (size_t n = 0; f->entry && n < f->vars.n; n++) {
        const pl_var *v = f->vars.at[n];
        if (v->space != PL_SP_SHARED || v->unsized) continue;
        *pl_push(p->arena, &out->shared) = (pl_prog_shared){
            .name = pl_arena_strdup(p->arena, v->name), .offset = v->offset, .size = v->size};
    }
}

bool pl_layout_shared(const pl_ast *ast, pl_program *p, pl_arena *scratch, pl_shared_plan *out)
{
    usage u;
    size_t nf = ast->funcs.n;
    uint64_t *end = pl_arena_array(scratch, uint64_t, nf + 1), max = max_shared(ast);
    *out =
        (pl_shared_plan){.dynamic = pl_arena_array(scratch, uint64_t, nf + 1),
                         .locations = pl_arena_array(scratch, struct pl_shared_locations, nf + 1)};
    if (!pl_arena_ok(scratch) || !open_usage(&u, ast, scratch)) return false;
    out->sole_kernel = u.sole_kernel;
    place_common_vars(&u);
    for (uint32_t k = 0; k < nf && pl_arena_ok(scratch); k++)
        if (ast->funcs.at[k]->entry) end[k] = place_kernel(&u, k, &out->locations[k]);
    place_dynamic(&u, end, out->dynamic);
    for (uint32_t k = 0; k < nf; k++) {
        const pl_func *f = ast->funcs.at[k];
        p->funcs.at[k].static_shared = (uint32_t)end[k];
        name_variables(p, f, &p->funcs.at[k]);
        if (end[k] > max)
            pl_report(ast->diags, PL_E0391, f->at, f->name, (unsigned long long)end[k],
                      (unsigned long long)max, ast->target);
    }
    return pl_arena_ok(scratch);
}

uint64_t pl_shared_offset(const pl_shared_plan *s, const pl_func *f, const pl_var *v)
{
    if (v->owner && !v->unsized) return v->offset;
    if (v->unsized) return s->dynamic[f->index];
    if (s->sole_kernel[f->index] == PL_NO_SOLE_KERNEL) return v->offset;
    const struct pl_shared_locations *locations = &s->locations[s->sole_kernel[f->index]];
    const pl_shared_location key = {v->index, 0},
                             *found = locations->n ? bsearch(&key, locations->at, locations->n,
                                                             sizeof key, by_var)
                                                   : NULL;
    return found ? found->offset : v->offset;
}
