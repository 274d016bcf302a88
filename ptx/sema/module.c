/* module.c - the entry of the PTX front end, and the directives that hold for a whole module.
 *
 * pl_ptx_parse copies the text, unless it may work on it (flex ends every token with a NUL in
 * place), runs the grammar and reports what only the end of the file can show. PTX ISA 9.0,
 * sections 11.1 and 13 (release notes). */
#include "ptx/internal.h"
#include "base/guard.h"
#include "ptx/parse/parse.h"
#include "ptx/lower/constant_layout.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* from lex.l */
int pl_ptx_yylex_init_extra(pl_parse *p, yyscan_t *scanner);
pl_parse *pl_ptx_yyget_extra(yyscan_t scanner);
struct yy_buffer_state *pl_ptx_yy_scan_buffer(char *text, size_t size, yyscan_t scanner);
int pl_ptx_yylex_destroy(yyscan_t scanner);
void pl_ptx_lex_leave(yyscan_t scanner);

static const uint16_t versions[] = {10, 11, 12, 13, 14, 15, 20, 21, 22, 23, 30, 31, 32, 40, 41, 42,
                                    43, 50, 51, 60, 61, 62, 63, 64, 65, 70, 71, 72, 73, 74, 75, 76,
                                    77, 78, 80, 81, 82, 83, 84, 85, 86, 87, 88, 90, 91, 92, 93, 94};

/* Targets, and the first .version that knows each (PTX ISA 9.4, release notes). */
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

#define NEWEST versions[sizeof versions / sizeof *versions - 1]

/* 91 of "9.1"; 0 when the text is no version: one digit behind the dot, at most two in front of it.
 */
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

/* The first error of a module of a later version may be something that the version brought.
 * Messages from number `from` on are the module's. */
static void blame_version(pl_parse *p, size_t from)
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

/* "sm_90a", "compute_90a", "sm_090a": the entry of the table. */
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
    if (p->begun) {
        pl_report(p->diags, PL_E0310, at, "what stands above", ".target");
        return;
    }
    p->target_at = at;
    const struct target *t = find_target(s->name);
    if (!a->target && !t && !strcmp(s->name, "debug"))
        pl_report(p->diags, PL_E0310, at, "an option", "the architecture");
    if (!p->seen_version) {
        if (!p->broken) pl_report(p->diags, PL_E0310, at, ".target", ".version");
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
    for (size_t k = 0; k < sizeof targets / sizeof *targets; k++) {
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
    /* A later .target replaces an earlier one for what follows it. */
    p->seen_target = true;
    if (!p->ast->target) {
        pl_report(p->diags, PL_E0313, at, "");
        p->ast->target = "sm_90a";
        p->ast->sm = 90;
        p->ast->sm_suffix = 'a';
    }
    if (p->ast->sm >= PL_FIRST_WITHOUT_32_BIT && !p->seen_address_size) p->ast->address_size = 64;
    pl_stmt_target(p);
}

/* Everything except .version and .target comes after both: the first other directive checks that,
 * once. */
bool pl_module_started(pl_parse *p, pl_loc at)
{
    p->begun = true;
    if (p->seen_target) return true;
    if (!p->broken)
        pl_report(p->diags, PL_E0310, at, "this", p->seen_version ? ".target" : ".version");
    p->seen_version = p->seen_target = true;
    if (!p->ast->ptx) p->ast->ptx = NEWEST;
    if (!p->ast->target) p->ast->target = "sm_90a";
    p->ast->sm = 90;
    p->ast->sm_suffix = 'a';
    pl_stmt_target(p);
    return false;
}

/* .nv_intermediate_source_section: the lexer has passed over what it holds. */
void pl_module_intermediate(pl_parse *p, pl_loc at)
{
    if (pl_module_started(p, at))
        pl_module_needs(p, at, ".nv_intermediate_source_section", 94, "sm_10");
}

void pl_module_address_size(pl_parse *p, const pl_number *n, pl_loc at)
{
    if (pl_module_started(p, at)) pl_module_needs(p, at, ".address_size", 23, "sm_10");
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
    pl_module_needs(p, a_at, ".alias", 63, "sm_30");
    if (!x || x->kind != PL_B_FUNC || x->func->entry) {
        if (x ? x->kind != PL_B_BAD : !p->broken) pl_report(p->diags, PL_E0330, a_at, a->name);
        return;
    }
    if (!y || y->kind != PL_B_FUNC || y->func->entry) {
        if (y ? y->kind != PL_B_BAD : !p->broken) pl_report(p->diags, PL_E0330, b_at, b->name);
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
        pl_report(p->diags, PL_E0384, p->lead_at, ".attribute",
                  "it comes behind .visible and the like");
    p->linkage = l;
    p->linkage_at = at;
    p->linkage_set = true;
}

/* PTX has no preprocessor of its own; the line markers of one are harmless, everything else is not.
 */
void pl_parse_hash_line(pl_parse *p, const char *text, size_t n, pl_loc at)
{
    size_t k = 0;
    while (k < n && (text[k] == ' ' || text[k] == '\t')) k++;
    at.column += (uint32_t)k++;
    at.length = (uint32_t)(n - k + 1);
    while (k < n && text[k] == ' ') k++;
    if (k < n &&
        ((text[k] >= '0' && text[k] <= '9') || (n - k > 4 && !memcmp(text + k, "line", 4))))
        return;
    pl_report(p->diags, PL_E0102, at);
}

const char *pl_parse_show_byte(pl_parse *p, unsigned char c)
{
    return c > 32 && c < 127 ? pl_arena_printf(p->arena, "'%c'", c)
                             : pl_arena_printf(p->arena, "byte 0x%02x", c);
}

void pl_module_end(pl_parse *p)
{
    pl_loc whole = {.file = p->ast->file};
    if (!p->broken && (!p->seen_version || !p->seen_target)) pl_report(p->diags, PL_E0318, whole);
    if (p->ast->debug && !p->debug_section) pl_report(p->diags, PL_E0388, p->target_at);
    for (const pl_loc_name *u = p->loc_names; u; u = u->next)
        if (!pl_map_get(&p->section_labels, u->name, u->n))
            pl_report(p->diags, PL_E0302, u->at, u->name);
    for (size_t k = 0; k < p->ast->funcs.n; k++) {
        const pl_func *f = p->ast->funcs.at[k];
        if (f->entry && f->prototype_only && f->linkage != PL_LINK_EXTERN)
            pl_report(p->diags, PL_E0332, f->at, f->name);
    }
    pl_place_constants(p->ast, p->names);
}

/* The scanner has its memory from the parse: what it takes ends with it. */
void *pl_ptx_yyalloc(size_t bytes, yyscan_t scanner)
{
    pl_parse *p = pl_ptx_yyget_extra(scanner);
    return pl_arena_alloc(p->names, bytes);
}

void *pl_ptx_yyrealloc(void *at, size_t bytes, yyscan_t scanner)
{
    (void)at, (void)bytes, (void)scanner;
    assert(false && "the scanner reads one buffer, which does not grow");
    return NULL;
}

void pl_ptx_yyfree(void *at, yyscan_t scanner)
{
    (void)at, (void)scanner;
}

/* PTX is ASCII, comments and strings as well: one message for each line that has more. */
static void require_ascii(pl_parse *p, const char *text, size_t n)
{
    uint32_t line = 1;
    const char *start = text, *end = text + n;
    bool seen = false;
    for (const char *s = text; s < end; s++) {
        if (*s == '\n') {
            line++;
            start = s + 1;
            seen = false;
        } else if ((unsigned char)*s >= 0x80 && !seen) {
            const pl_loc at = {p->ast->file, line, (uint32_t)(s - start) + 1, 1};
            pl_report(p->diags, PL_E0101, at, pl_parse_show_byte(p, (unsigned char)*s));
            seen = true;
        }
    }
}

static pl_status parse(pl_arena *arena, pl_arena *names, pl_diags *diags, uint32_t file,
                       const pl_parse_options *o, pl_ast **out)
{
    const struct pl_diag_file *source = &diags->file.at[file];
    PL_GUARD(return PL_NOMEM)
    size_t errors = diags->errors, said = diags->list.n;
    pl_parse *p = pl_arena_new(names, pl_parse);
    pl_ast *ast = pl_arena_new(arena, pl_ast);
    char *text = o->own ? o->own : pl_arena_alloc(names, source->size + 2);
    yyscan_t scanner;
    p->arena = ast->arena = arena;
    p->names = names;
    p->diags = ast->diags = diags;
    p->ast = ast;
    ast->file = file;
    ast->address_size = 32;
    p->lanes = o->lanes;
    p->ready = o->ready;
    p->ready_ctx = o->ctx;
    p->errors = errors;
    p->line = 1;
    p->line_start = text;
    p->scope = pl_arena_new(names, pl_scope);
    p->matcher = pl_matcher_new(arena);
    p->opcodes = pl_arena_array(names, pl_opcode, PL_OPCODES);
    pl_map_init(&p->section_labels, names);
    pl_map_init(&p->locs, names);
    pl_map_init(&p->inlines, names);
    pl_node_new(p, PL_N_WRONG, (pl_loc){0});
    pl_names_begin(p);
    if (!o->own) memcpy(text, source->text, source->size);
    text[source->size] = text[source->size + 1] = 0;
    *pl_push(arena, &ast->files) = NULL;
    if (pl_ptx_yylex_init_extra(p, &scanner)) return PL_NOMEM;
    require_ascii(p, text, source->size);
    struct yy_buffer_state *buffer = pl_ptx_yy_scan_buffer(text, source->size + 2, scanner);
    int rc = buffer ? pl_ptx_yyparse(scanner, p) : 2;
    if (buffer) pl_ptx_lex_leave(scanner);
    pl_ptx_yylex_destroy(scanner);
    if (rc == 2 && !p->max_depth_reported) return PL_NOMEM;
    if (rc == 0 || p->seen_version) pl_module_end(p);
    if (p->newer) blame_version(p, said);
    *out = ast;
    if (!pl_parse_ok(p)) return PL_NOMEM;
    return diags->errors > errors ? PL_INVALID : PL_OK;
}

pl_status pl_ptx_parse(pl_arena *arena, pl_diags *diags, uint32_t file, const pl_parse_options *o,
                       pl_ast **out)
{
    pl_arena *names = pl_arena_open();
    *out = NULL;
    pl_status st = names ? parse(arena, names, diags, file, o, out) : PL_NOMEM;
    pl_arena_close(names);
    return st;
}
