/* link.c - links modules before lowering: resolves names that occur in several modules.
 *
 * The rules are those of PTX ISA 9.0, section 11.6 (linking directives) as applied by nvlink 13.0.
 * A name has one strong definition: .visible, or a kernel. A strong definition overrides a .weak
 * one; of several weak ones the first is kept. Of .common ones the largest is kept, unless there is
 * a definition. Names without a directive are private to their module. Linking trees rather than
 * machine programs lets one lowering place the shared memory of all kernels and optimise across
 * files. */
#include "ptx/lower/link.h"

#include "base/map.h"
#include "isa/table/form_match.h"
#include "ptx/internal.h"
#include "ptx/lower/constant_layout.h"

#include <string.h>

/* The declaration that is kept for a name. */
typedef struct symbol {
    pl_func *func; /* or */
    pl_var *var;
    int strength;
} symbol;

enum { REFERENCE, COMMON, WEAK, STRONG };

typedef struct linker {
    pl_arena *arena;
    pl_diags *diags;
    pl_map names; /* symbol */
    pl_ast *out;
    pl_provided_fn *provided;
    bool define;
    bool rewrite; /* some use must be redirected to another definition */
} linker;

static int strength(pl_linkage l, bool defined)
{
    if (!defined || l == PL_LINK_EXTERN) return REFERENCE;
    return l == PL_LINK_COMMON ? COMMON : l == PL_LINK_WEAK ? WEAK : STRONG;
}

static const char *file_name(const linker *l, pl_loc at)
{
    const char *name = at.file < l->diags->file.n ? l->diags->file.at[at.file].name : NULL;
    return name ? name : "?";
}

/* Adds a note at the other position, with its source line; the error message refers to it. */
static void add_note_at(linker *l, pl_diag *d, pl_loc other, const char *name)
{
    d->help =
        pl_arena_printf(l->diags->arena, "see %s, line %u; rename one of the two, or leave one out",
                        file_name(l, other), other.line);
    pl_report(l->diags, PL_N0602, other, name);
}

static bool is_opaque(pl_word type)
{
    return type == W_texref || type == W_samplerref || type == W_surfref;
}

/* Only sizes are compared: .extern .b8 t[24] matches .u64 t[3], as in nvlink. */
static const char *var_difference(const pl_var *a, const pl_var *b)
{
    if (a->space != b->space) return "state space";
    if (a->type != b->type && (is_opaque(a->type) || is_opaque(b->type))) return "type";
    if (!a->unsized && !b->unsized && a->size != b->size &&
        !(a->linkage == PL_LINK_COMMON && b->linkage == PL_LINK_COMMON))
        return "size";
    return NULL;
}

/* Suppresses further errors: neither declaration is reported as missing as well. */
static void suppress_errors(const symbol *s)
{
    if (s->func) s->func->error_reported = true;
    if (s->var) s->var->error_reported = true;
}

static void report_difference(linker *l, pl_loc at, pl_loc other, const char *name,
                              const char *what)
{
    pl_diag *d = pl_report(l->diags, PL_E0603, at, name, what);
    d->help =
        pl_arena_printf(l->diags->arena, "make it agree with %s, line %u, or rename one of the two",
                        file_name(l, other), other.line);
    pl_report(l->diags, PL_N0602, other, name);
}

static symbol *find_or_add(linker *l, const char *name, symbol new)
{
    symbol *s = pl_map_get(&l->names, name, strlen(name));
    if (s) return s;
    s = pl_arena_new(l->arena, symbol);
    *s = new;
    pl_map_put(&l->names, name, strlen(name), s);
    return NULL;
}

static pl_loc loc_of(const symbol *s)
{
    return s->func ? s->func->at : s->var->at;
}

/* Reports a second strong definition and returns true. */
static bool is_redefinition(linker *l, const symbol *s, int later, pl_loc at, const char *name)
{
    if (s->strength != STRONG || later != STRONG) return false;
    add_note_at(l, pl_report(l->diags, PL_E0601, at, name), loc_of(s), name);
    return true;
}

static void add_func(linker *l, pl_func *f)
{
    bool reference = f->prototype_only && !f->alias_of;
    if (!f->entry && !reference && f->linkage == PL_LINK_NONE) return; /* private */
    int new_strength = strength(f->linkage, !reference);
    symbol *s = find_or_add(l, f->name, (symbol){.func = f, .strength = new_strength});
    if (!s) return;
    const char *what = !s->func                     ? "kind"
                       : s->func->entry != f->entry ? "kind"
                                                    : pl_func_difference(s->func, f);
    if (what) {
        report_difference(l, f->at, loc_of(s), f->name, what);
        f->error_reported = true;
        suppress_errors(s);
        return;
    }
    if (is_redefinition(l, s, new_strength, f->at, f->name)) return;
    l->rewrite = true;
    if (new_strength <= s->strength) {
        f->link = s->func;
        return;
    }
    s->func->link = f;
    s->func = f;
    s->strength = new_strength;
}

static void add_var(linker *l, pl_var *v)
{
    if (v->linkage == PL_LINK_NONE) return;
    bool dynamic = v->space == PL_SP_SHARED && v->unsized; /* all of them are the dynamic memory */
    if (dynamic) return;
    int new_strength = strength(v->linkage, true);
    symbol *s = find_or_add(l, v->name, (symbol){.var = v, .strength = new_strength});
    if (!s) return;
    const char *what = s->var ? var_difference(s->var, v) : "kind";
    if (what) {
        report_difference(l, v->at, loc_of(s), v->name, what);
        v->error_reported = true;
        suppress_errors(s);
        return;
    }
    if (is_redefinition(l, s, new_strength, v->at, v->name)) return;
    l->rewrite = true;
    pl_var *kept = s->var, *replaced = v;
    if (new_strength > s->strength ||
        (new_strength == s->strength && (v->size > kept->size || (kept->unsized && !v->unsized)))) {
        kept = v;
        replaced = s->var;
        s->strength = new_strength;
    }
    replaced->link = kept;
    s->var = kept;
    if (replaced->align > kept->align) kept->align = replaced->align;
}

/* ---- uses ---- */

static pl_func *final_func(pl_func *f)
{
    while (f->link) f = f->link;
    return f;
}

static pl_var *final_var(pl_var *v)
{
    while (v && v->link) v = v->link;
    return v;
}

static void redirect(pl_operand *o)
{
    if (o->kind == PL_O_FUNC)
        o->func = final_func(o->func);
    else
        o->var = final_var(o->var);
}

/* Reports each function that has no body in any module once. */
static void report_missing(linker *l, pl_loc at, pl_func *f)
{
    if (!f->prototype_only || f->alias_of || f->error_reported || l->provided(f->name)) return;
    f->error_reported = true;
    pl_report(l->diags, PL_E0421, at, f->name)->help =
        "name the file that defines it as well, and give it .visible there";
}

static void redirect_uses(pl_ast *a)
{
    for (size_t k = 0; k < a->funcs.n; k++)
        for (size_t n = 0; n < a->funcs.at[k]->uses.n; n++) redirect(a->funcs.at[k]->uses.at[n].op);
}

static void report_missing_functions(linker *l, const pl_ast *a)
{
    for (size_t k = 0; k < a->funcs.n; k++)
        for (size_t n = 0; n < a->funcs.at[k]->uses.n; n++) {
            const pl_operand *o = a->funcs.at[k]->uses.at[n].op;
            if (o->kind == PL_O_FUNC)
                report_missing(
                    l, (pl_loc){a->file, o->line, o->column, (uint32_t)strlen(o->func->name)},
                    o->func);
        }
}

static void redirect_relocations(pl_ast *a)
{
    for (size_t k = 0; k < a->vars.n; k++)
        for (size_t r = 0; r < a->vars.at[k]->reloc.n; r++) {
            pl_ast_reloc *x = &a->vars.at[k]->reloc.at[r];
            x->var = final_var(x->var);
            if (x->func) x->func = final_func(x->func);
        }
}

static void report_missing_variables(linker *l, const pl_ast *a)
{
    for (size_t k = 0; k < a->vars.n; k++) {
        pl_var *v = a->vars.at[k];
        for (size_t r = 0; r < v->reloc.n; r++)
            if (v->reloc.at[r].func) report_missing(l, v->at, v->reloc.at[r].func);
        if (v->linkage != PL_LINK_EXTERN || v->link || v->error_reported ||
            v->space == PL_SP_SHARED)
            continue;
        if (l->define && v->size && !v->unsized) {
            v->linkage = PL_LINK_VISIBLE;
            pl_report(l->diags, PL_W0437, v->at, v->name);
            continue;
        }
        pl_report(l->diags, PL_E0421, v->at, v->name)->help =
            "name the file that defines it as well, and give it .visible there";
    }
}

/* ---- the linked module ---- */

/* The linked module has the newest target; every module must be able to run on it. */
static void merge_targets(linker *l, pl_ast *const *module, size_t n)
{
    const pl_ast *best = module[0];
    for (size_t k = 1; k < n; k++)
        if (!pl_target_has(best->sm, best->sm_suffix, module[k]->target)) best = module[k];
    for (size_t k = 0; k < n; k++) {
        const pl_ast *a = module[k];
        if (!pl_target_has(best->sm, best->sm_suffix, a->target))
            pl_report(l->diags, PL_E0604, (pl_loc){.file = a->file}, "targets", a->target,
                      best->target)
                ->help = "compile all modules for the same .target";
        if (a->address_size != module[0]->address_size)
            pl_report(l->diags, PL_E0604, (pl_loc){.file = a->file}, "address sizes",
                      a->address_size == 64 ? "64" : "32", a->address_size == 64 ? "32" : "64")
                ->help = "compile all modules with the same .address_size";
        if (a->ptx > l->out->ptx) l->out->ptx = a->ptx;
    }
    l->out->sm = best->sm;
    l->out->sm_suffix = best->sm_suffix;
    l->out->target = best->target;
}

/* Offsets the module's indices of files and inlined calls by those of earlier modules. */
static void renumber_positions(pl_ast *a, uint32_t files, uint32_t inlines)
{
    for (size_t k = 0; files && k < a->funcs.n; k++)
        for (size_t s = 0; s < a->funcs.at[k]->body.n; s++) {
            pl_stmt *t = &a->funcs.at[k]->body.at[s];
            if (t->kind != PL_S_LOC) continue;
            if (t->src_file) t->src_file += files;
            if (t->inlined) t->inlined += inlines;
        }
    for (size_t k = 0; k < a->inlines.n; k++) {
        pl_prog_inline *i = &a->inlines.at[k];
        if (i->src_file) i->src_file += files;
        if (i->inlined) i->inlined += inlines;
    }
}

static void append_module(linker *l, pl_ast *a)
{
    pl_ast *out = l->out;
    renumber_positions(a, (uint32_t)out->files.n, (uint32_t)out->inlines.n);
    for (size_t k = 0; k < a->inlines.n; k++) *pl_push(l->arena, &out->inlines) = a->inlines.at[k];
    if (a->open_bytes > out->open_bytes) out->open_bytes = a->open_bytes;
    for (size_t k = 0; k < a->files.n; k++) *pl_push(l->arena, &out->files) = a->files.at[k];
    for (size_t k = 0; k < a->funcs.n; k++) {
        pl_func *f = a->funcs.at[k];
        if (f->alias_of) f->alias_of = final_func(f->alias_of);
        if (!f->link) *pl_push(l->arena, &out->funcs) = f;
    }
    for (size_t k = 0; k < a->vars.n; k++)
        if (!a->vars.at[k]->link) *pl_push(l->arena, &out->vars) = a->vars.at[k];
}

static void add_names(linker *l, const pl_ast *a)
{
    for (size_t f = 0; f < a->funcs.n; f++) add_func(l, a->funcs.at[f]);
    for (size_t v = 0; v < a->vars.n; v++) add_var(l, a->vars.at[v]);
}

pl_status pl_ptx_check_linkable(pl_arena *arena, pl_diags *diags, pl_ast *const *module, size_t n)
{
    const size_t errors = diags->errors;
    linker l = {.arena = arena, .diags = diags, .out = pl_arena_new(arena, pl_ast)};
    pl_map_init(&l.names, arena);
    merge_targets(&l, module, n);
    for (size_t k = 0; k < n && pl_arena_ok(arena); k++) add_names(&l, module[k]);
    if (!pl_arena_ok(arena)) return PL_NOMEM;
    return diags->errors > errors ? PL_INVALID : PL_OK;
}

pl_status pl_ptx_link(pl_arena *arena, pl_diags *diags, pl_ast *const *module, size_t n,
                      pl_provided_fn *provided, bool define, pl_ast **out)
{
    size_t errors = diags->errors;
    linker l = {.arena = arena,
                .diags = diags,
                .provided = provided,
                .define = define,
                .out = pl_arena_new(arena, pl_ast)};
    *out = l.out;
    *l.out = *module[0];
    l.out->large_shared = define;
    l.out->files.at = NULL;
    l.out->inlines.at = NULL;
    l.out->inlines.n = l.out->inlines.cap = 0;
    l.out->funcs.at = NULL;
    l.out->vars.at = NULL;
    l.out->files.n = l.out->funcs.n = l.out->vars.n = l.out->files.cap = l.out->funcs.cap =
        l.out->vars.cap = 0;
    pl_map_init(&l.names, arena);
    merge_targets(&l, module, n);
    for (size_t k = 0; k < n && pl_arena_ok(arena); k++) add_names(&l, module[k]);
    for (size_t k = 0; k < n && pl_arena_ok(arena); k++) {
        if (l.rewrite) {
            redirect_uses(module[k]);
            redirect_relocations(module[k]);
        }
        report_missing_functions(&l, module[k]);
        report_missing_variables(&l, module[k]);
        append_module(&l, module[k]);
    }
    if (diags->errors == errors) pl_layout_constants(l.out, arena);
    if (!pl_arena_ok(arena)) return PL_NOMEM;
    return diags->errors > errors ? PL_INVALID : PL_OK;
}
