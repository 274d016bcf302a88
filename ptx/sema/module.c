/* module.c - module-level directives: .version, .target, .address_size, .file, .alias (PTX ISA 9.0,
 * sections 11.1 and 13, release notes). */
#include "ptx/internal.h"
#include "ptx/lower/constant_layout.h"

#include <stdlib.h>
#include <string.h>

static const uint16_t versions[] = {10, 11, 12, 13, 14, 15, 20, 21, 22, 23, 30, 31, 32, 40, 41, 42,
                                    43, 50, 51, 60, 61, 62, 63, 64, 65, 70, 71, 72, 73, 74, 75, 76,
                                    77, 78, 80, 81, 82, 83, 84, 85, 86, 87, 88, 90, 91, 92, 93, 94};

/* Targets, and the first .version that supports each (PTX ISA 9.4, release notes). */
static const struct target {
    const char *name;
    uint16_t ptx;
} targets[] = {
    {"sm_10", 10},   {"sm_11", 10},   {"sm_12", 12},   {"sm_13", 12},   {"sm_20", 20},
    {"sm_21", 20},   {"sm_30", 30},   {"sm_32", 40},   {"sm_35", 31},   {"sm_37", 41},
    {"sm_50", 40},   {"sm_52", 41},   {"sm_53", 42},   {"sm_60", 50},   {"sm_61", 50},
    {"sm_62", 50},   {"sm_70", 60},   {"sm_72", 61},   {"sm_75", 63},   {"sm_80", 70},
    {"sm_86", 71},   {"sm_87", 74},   {"sm_88", 90},   {"sm_89", 78},   {"sm_90", 78},
    {"sm_90a", 80},  {"sm_100", 86},  {"sm_100a", 86}, {"sm_100f", 88}, {"sm_101", 86},
    {"sm_101a", 86}, {"sm_101f", 88}, {"sm_103", 88},  {"sm_103a", 88}, {"sm_103f", 88},
    {"sm_110", 90},  {"sm_110a", 90}, {"sm_110f", 90}, {"sm_120", 87},  {"sm_120a", 87},
    {"sm_120f", 88}, {"sm_107", 94},  {"sm_107a", 94}, {"sm_107f", 94}, {"sm_121", 88},
    {"sm_121a", 88}, {"sm_121f", 88},
};

#define NEWEST_TARGET 121
#define NEWEST        versions[sizeof versions / sizeof *versions - 1]

/* From here on forms are matched against the new .version or .target. */
static void use_target(pl_parse *p)
{
    pl_matcher_target(p->matcher, p->ast->ptx, p->ast->sm, p->ast->sm_suffix);
    if (p->opcodes) memset(p->opcodes, 0, PL_OPCODES * sizeof *p->opcodes);
}

/* Returns 91 for "9.1", or 0 if the text is not a version: one digit after the dot, at most two
 * before it. */
static unsigned version_number(const char *text, size_t n)
{
    const char *digits = "0123456789";
    size_t before = strspn(text, digits);
    if (n < 3 || *text == '0' || before > 2 || before + 2 != n || text[before] != '.' ||
        !memchr(digits, text[n - 1], 10))
        return 0;
    return (unsigned)strtoul(text, NULL, 10) * 10 + (unsigned)(text[n - 1] - '0');
}

void pl_module_version(pl_parse *p, const pl_number *n, pl_loc at)
{
    const unsigned version = version_number(n->text, n->len);
    if (p->version_at.line) {
        pl_report(p->diags, PL_E0311, at, ".version");
    } else if (version > NEWEST) {
        p->newer = pl_arena_strndup(p->arena, n->text, n->len);
        pl_report(p->diags, PL_W0319, at, p->newer, NEWEST / 10u, NEWEST % 10u);
    }
    p->seen_version = true;
    p->version_at = at;
    p->ast->ptx = NEWEST;
    for (size_t k = 0; k < sizeof versions / sizeof *versions; k++)
        if (versions[k] == version) p->ast->ptx = versions[k];
    if (p->ast->ptx != version && version < NEWEST)
        pl_report(p->diags, PL_E0312, at, (int)n->len, n->text);
}

void pl_module_suggest_version(pl_parse *p, size_t from)
{
    pl_diag *first = NULL;
    for (size_t k = from; k < p->diags->list.n; k++) {
        pl_diag *d = &p->diags->list.at[k];
        if (d->severity == PL_ERROR &&
            (!first || d->at.line < first->at.line ||
             (d->at.line == first->at.line && d->at.column < first->at.column)))
            first = d;
    }
    if (!first) return;
    first->help = pl_arena_printf(
        p->arena, "%s%sthe module has .version %s, which is newer than ptxloom knows (%u.%u)",
        first->help ? first->help : "", first->help ? "; " : "", p->newer, NEWEST / 10u,
        NEWEST % 10u);
}

/* Finds the table entry for "sm_90a", "compute_90a" or "sm_090a". */
static const struct target *find_target(const char *name)
{
    size_t prefix = !strncmp(name, "sm_", 3) ? 3 : !strncmp(name, "compute_", 8) ? 8 : 0;
    if (!prefix) return NULL;
    const char *number = name + prefix;
    while (*number == '0') number++;
    for (size_t k = 0; k < sizeof targets / sizeof *targets; k++)
        if (!strcmp(targets[k].name + 3, number)) return &targets[k];
    return NULL;
}

void pl_module_target(pl_parse *p, pl_sym *s, pl_loc at)
{
    pl_ast *a = p->ast;
    if (p->has_directives) {
        pl_report(p->diags, PL_E0310, at, "the text above", ".target");
        return;
    }
    p->target_at = at;
    const struct target *t = find_target(s->name);
    if (!a->target && !t && !strcmp(s->name, "debug"))
        pl_report(p->diags, PL_E0310, at, "an option", "the architecture");
    if (!p->seen_version) {
        if (!p->module_has_syntax_error) pl_report(p->diags, PL_E0310, at, ".target", ".version");
        p->seen_version = true;
        a->ptx = NEWEST;
    }
    if (!strcmp(s->name, "texmode_independent") || !strcmp(s->name, "texmode_unified")) {
        if (p->seen_texmode && a->texmode_independent != (s->name[8] == 'i'))
            pl_report(p->diags, PL_E0337, at, "texmode_unified", "texmode_independent");
        p->seen_texmode = true;
        a->texmode_independent = s->name[8] == 'i';
        return;
    }
    if (!strcmp(s->name, "debug")) {
        a->debug = true;
        return;
    }
    if (!strcmp(s->name, "map_f64_to_f32")) {
        a->map_f64_to_f32 = true;
        if (a->sm >= 13) pl_report(p->diags, PL_E0337, at, s->name, a->target);
        return;
    }
    if (t) {
        char *end;
        a->target = t->name;
        a->sm = (uint16_t)strtoul(t->name + 3, &end, 10);
        a->sm_suffix = *end;
        if (a->ptx < t->ptx) pl_report(p->diags, PL_E0314, at, s->name, t->ptx / 10, t->ptx % 10);
        return;
    }
    pl_diag *d = pl_report(p->diags, PL_E0313, at, s->name);
    unsigned best = 2;
    bool later = !strncmp(s->name, "sm_", 3) && strtoul(s->name + 3, NULL, 10) > NEWEST_TARGET;
    if (later)
        d->help = pl_arena_printf(p->arena, "the newest target that ptxloom knows is sm_%d",
                                  NEWEST_TARGET);
    for (size_t k = 0; !later && k < sizeof targets / sizeof *targets; k++) {
        unsigned e =
            pl_edit_distance(s->name, s->len, targets[k].name, strlen(targets[k].name), best);
        if (e < best) {
            best = e;
            d->help = pl_arena_printf(p->arena, "did you mean '%s'?", targets[k].name);
        }
    }
    a->target = "sm_90a";
    a->sm = 90;
    a->sm_suffix = 'a';
}

void pl_module_target_done(pl_parse *p, pl_loc at)
{
    /* A later .target replaces an earlier one for the following text. */
    p->seen_target = true;
    if (!p->ast->target) {
        pl_report(p->diags, PL_E0313, at, "");
        p->ast->target = "sm_90a";
        p->ast->sm = 90;
        p->ast->sm_suffix = 'a';
    }
    if (p->ast->sm >= PL_FIRST_WITHOUT_32_BIT && !p->seen_address_size) p->ast->address_size = 64;
    use_target(p);
}

/* All other directives follow .version and .target: the first one checks that, once. */
bool pl_module_started(pl_parse *p, pl_loc at)
{
    p->has_directives = true;
    if (p->seen_target) return true;
    if (!p->module_has_syntax_error)
        pl_report(p->diags, PL_E0310, at, "this", p->seen_version ? ".target" : ".version");
    p->seen_version = p->seen_target = true;
    if (!p->ast->ptx) p->ast->ptx = NEWEST;
    if (!p->ast->target) p->ast->target = "sm_90a";
    p->ast->sm = 90;
    p->ast->sm_suffix = 'a';
    use_target(p);
    return false;
}

/* .nv_intermediate_source_section: the lexer has skipped its contents. */
void pl_module_intermediate(pl_parse *p, pl_loc at)
{
    if (pl_module_started(p, at)) pl_directive_needs(p, at, ".nv_intermediate_source_section");
}

void pl_module_address_size(pl_parse *p, const pl_number *n, pl_loc at)
{
    if (pl_module_started(p, at)) pl_directive_needs(p, at, ".address_size");
    if (p->seen_address_size) pl_report(p->diags, PL_E0311, at, ".address_size");
    p->seen_address_size = true;
    if (n->bits != 32 && n->bits != 64)
        pl_report(p->diags, PL_E0315, at, (int)n->len, n->text);
    else
        p->ast->address_size = (uint16_t)n->bits;
    if (n->bits == 32 && p->ast->sm >= PL_FIRST_WITHOUT_32_BIT)
        pl_report(p->diags, PL_E0381, at, p->ast->target);
    if (p->ast->funcs.n || p->ast->vars.n)
        pl_report(p->diags, PL_E0310, at, "a function or variable", ".address_size");
}

void pl_module_file(pl_parse *p, const pl_number *index, const char *path, uint32_t n, pl_loc at)
{
    if (index->bits > 1u << 20) {
        pl_report(p->diags, PL_E0316, at, (int)index->len, index->text, "the number of a file");
        return;
    }
    if (index->bits < p->ast->files.n && p->ast->files.at[index->bits]) {
        pl_report(p->diags, PL_E0311, at,
                  pl_arena_printf(p->arena, ".file %u", (unsigned)index->bits));
        return;
    }
    while (p->ast->files.n <= index->bits) *pl_push(p->arena, &p->ast->files) = NULL;
    p->ast->files.at[index->bits] = pl_arena_strndup(p->arena, path, n);
}

void pl_module_alias(pl_parse *p, pl_sym *a, pl_loc a_at, pl_sym *b, pl_loc b_at)
{
    pl_binding *x = pl_name_lookup(p, a), *y = pl_name_lookup(p, b);
    pl_directive_needs(p, a_at, ".alias");
    if (!x || x->kind != PL_B_FUNC || x->func->entry) {
        if (x ? x->kind != PL_B_BAD : !p->module_has_syntax_error)
            pl_report(p->diags, PL_E0330, a_at, a->name);
        return;
    }
    if (!y || y->kind != PL_B_FUNC || y->func->entry) {
        if (y ? y->kind != PL_B_BAD : !p->module_has_syntax_error)
            pl_report(p->diags, PL_E0330, b_at, b->name);
        return;
    }
    pl_func *second = y->func->alias_of ? y->func->alias_of : y->func;
    if (!x->func->prototype_only || second->prototype_only) {
        pl_report(p->diags, PL_E0331, a_at, a->name, b->name);
        return;
    }
    if (x->func->alias_of || second->linkage == PL_LINK_WEAK) {
        pl_report(p->diags, PL_E0387, x->func->alias_of ? a_at : b_at,
                  x->func->alias_of ? a->name : b->name,
                  x->func->alias_of ? "an alias already"
                                    : ".weak, and another module may replace it");
        return;
    }
    const char *what = pl_func_difference(x->func, second);
    if (what) {
        pl_report(p->diags, PL_E0333, a_at, b->name, what);
        return;
    }
    x->func->alias_of = second;
}

void pl_linkage_add(pl_parse *p, pl_linkage l, pl_loc at)
{
    pl_module_started(p, at);
    if (p->linkage_set) pl_report(p->diags, PL_E0317, at);
    if (p->lead_at.line)
        pl_report(p->diags, PL_E0384, p->lead_at, ".attribute", "it follows .visible and the like");
    if (l == PL_LINK_WEAK) pl_directive_needs(p, at, ".weak");
    if (l == PL_LINK_COMMON) pl_directive_needs(p, at, ".common");
    p->linkage = l;
    p->linkage_at = at;
    p->linkage_set = true;
}

void pl_module_end(pl_parse *p)
{
    pl_loc whole = {.file = p->ast->file};
    if (!p->module_has_syntax_error && (!p->seen_version || !p->seen_target))
        pl_report(p->diags, PL_E0318, whole);
    if (p->ast->debug && !p->debug_section) pl_report(p->diags, PL_E0388, p->target_at);
    for (const pl_loc_name *u = p->loc_names; u; u = u->next)
        if (!pl_map_get(&p->section_labels, u->name, u->n))
            pl_report(p->diags, PL_E0302, u->at, u->name);
    for (size_t k = 0; k < p->ast->funcs.n; k++) {
        const pl_func *f = p->ast->funcs.at[k];
        if (f->entry && f->prototype_only && f->linkage != PL_LINK_EXTERN)
            pl_report(p->diags, PL_E0332, f->at, f->name);
    }
    pl_layout_constants(p->ast, p->names);
}
