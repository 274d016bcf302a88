/* function.c - functions, kernels, their directives, and the tables of branch and call targets (PTX
 * ISA 9.0, sections 7, 11.2 - 11.5).
 *
 * A function may be declared several times and defined once. Its pl_func is created by the first of
 * these and remains the same object, because calls already point at it. */
#include "ptx/internal.h"
#include "ptx/lower/constant_layout.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

void pl_func_begin(pl_parse *p, bool entry, pl_loc at)
{
    pl_module_started(p, at);
    if (p->lead_at.line)
        pl_report(p->diags, PL_E0345, p->lead_at, "an attribute in front", "variables");
    p->lead_managed = false;
    p->lead_at.line = 0;
    pl_func *f = pl_arena_new(p->arena, pl_func);
    f->prototype_only = true;
    f->entry = entry;
    f->at = at;
    f->name = "";
    f->linkage = p->linkage;
    if (p->linkage_set && (p->linkage == PL_LINK_COMMON))
        pl_report(p->diags, PL_E0340, p->linkage_at, ".common", "a .global variable");
    p->linkage = PL_LINK_NONE;
    p->linkage_set = false;
    p->func = f;
    p->decl = (pl_decl){0};
    p->func_has_syntax_error = p->module_has_syntax_error;
    p->in_rets = false;
    p->seen_perf = 0;
    pl_scope_open(p, at);
}

/* Names of functions belong to the module scope, which encloses that of the parameters already
 * read. */
void pl_func_name(pl_parse *p, pl_sym *s, pl_loc at)
{
    p->func->name = s->name;
    p->func->at = at;
    p->func_sym = s;
}

static pl_binding *module_binding(pl_sym *s)
{
    pl_binding *b = s->binding;
    while (b && b->depth) b = b->outer;
    return b;
}

/* The difference between two declarations, or NULL. */
const char *pl_func_difference(const pl_func *a, const pl_func *b)
{
    if (a->rets.n != b->rets.n) return "number of results";
    if (a->params.n != b->params.n) return "number of parameters";
    for (size_t k = 0; k < a->rets.n + a->params.n; k++) {
        bool ret = k < a->rets.n;
        const pl_var *x = ret ? a->rets.at[k] : a->params.at[k - a->rets.n],
                     *y = ret ? b->rets.at[k] : b->params.at[k - a->rets.n];
        if (x->space != y->space || x->size != y->size || x->unsized != y->unsized ||
            x->vec != y->vec || x->type != y->type)
            return ret ? "type of a result" : "type of a parameter";
        if (x->align != y->align) return ret ? "alignment of a result" : "alignment of a parameter";
    }
    return NULL;
}

static void merge_into_declaration(pl_parse *p, pl_func *into)
{
    pl_func *f = p->func;
    uint32_t index = into->index;
    f->linkage = into->linkage;
    *into = *f;
    into->index = index;
    for (size_t k = 0; k < into->params.n; k++) into->params.at[k]->owner = into;
    for (size_t k = 0; k < into->rets.n; k++) into->rets.at[k]->owner = into;
    p->func = into;
}

/* Adds the function to the module, or merges it with its earlier declaration. */
static void declare(pl_parse *p, bool defines)
{
    pl_func *f = p->func;
    if (f->rets.n > 1 && f->rets.at[0]->space == PL_SP_PARAM)
        pl_report(p->diags, PL_E0374, f->rets.at[1]->at);
    pl_binding *b = module_binding(p->func_sym);
    f->prototype_only = !defines;
    if (b && b->kind == PL_B_FUNC) {
        pl_func *old = b->func;
        const char *what = pl_func_difference(old, f);
        if (!what && old->noreturn != f->noreturn) what = ".noreturn";
        if (!what && old->linkage != f->linkage &&
            ((old->linkage != PL_LINK_VISIBLE && (old->linkage != PL_LINK_WEAK || f->entry)) ||
             f->linkage != PL_LINK_NONE))
            what = "linkage";
        if (old->entry != f->entry || !old->prototype_only) {
            pl_report(p->diags, PL_E0301, f->at, f->name)->help =
                pl_arena_printf(p->arena, "the %s '%s' of line %u has this name already",
                                pl_bind_noun(b), f->name, b->at.line);
        } else if (what) {
            pl_report(p->diags, PL_E0333, f->at, f->name, what)->help =
                pl_arena_printf(p->arena, "see its declaration in line %u", b->at.line);
        } else if (defines) {
            merge_into_declaration(p, old);
        } else {
            p->func = old;
        }
        return;
    }
    if (b && b->kind != PL_B_BAD) {
        pl_report(p->diags, PL_E0301, f->at, f->name)->help =
            pl_arena_printf(p->arena, "the %s '%s' of line %u has this name already",
                            pl_bind_noun(b), f->name, b->at.line);
        return;
    }
    f->index = (uint32_t)p->ast->funcs.n;
    *pl_push(p->arena, &p->ast->funcs) = f;
    pl_name_bind_module(p, p->func_sym, (pl_binding){.kind = PL_B_FUNC, .func = f, .at = f->at});
}

enum { LARGE_BODY = 1 << 14 };

/* Copies the statements into an array of their exact size, so that the next function can reuse the
 * buffer. A large body keeps the buffer. */
static void shrink_body(pl_parse *p)
{
    pl_func *f = p->func;
    if (f->body.n >= LARGE_BODY) {
        p->body.at = NULL;
        p->body.cap = 0;
        return;
    }
    if (!f->body.n || f->body.at == NULL) return;
    pl_stmt *own = pl_arena_array(p->arena, pl_stmt, f->body.n);
    if (!own || !pl_parse_ok(p)) return;
    p->body.at = f->body.at;
    p->body.cap = f->body.cap;
    memcpy(own, f->body.at, f->body.n * sizeof *own);
    f->body.at = own;
    f->body.cap = f->body.n;
}

static void close_function(pl_parse *p)
{
    shrink_body(p);
    pl_scope_close(p);
    p->func = NULL;
    p->func_has_syntax_error = p->module_has_syntax_error;
}

void pl_func_prototype(pl_parse *p, pl_loc at)
{
    (void)at;
    declare(p, false);
    close_function(p);
}

/* Checks the size of a kernel's parameters, which are contiguous in a constant bank. */
static void check_param_space(pl_parse *p)
{
    const pl_func *f = p->func;
    uint64_t size = 0;
    unsigned max = p->ast->ptx >= 81 && p->ast->sm >= 70 ? 32764 : 4352;
    for (size_t k = 0; k < f->params.n; k++) {
        const pl_var *v = f->params.at[k];
        size = (size + v->align - 1) / v->align * v->align + v->size;
    }
    if (f->entry && size > max)
        pl_report(p->diags, PL_E0382, f->at, f->name, (unsigned long long)size, max);
}

/* Local variables have addresses below PL_LOCAL_SIZE (emu/exec/memory/global_memory.h), which
 * exceeds the limit of a thread on a GPU. Objects have frames of up to 2^28 bytes
 * (isa/program/verify.c). */
enum { MAX_LOCAL = 1 << 24, MAX_ARGUMENTS = 1 << 27 };

static uint64_t end_after(uint64_t at, const pl_var *v)
{
    return pl_align_up(at, v->align) + v->size;
}

static void check_frame(pl_parse *p)
{
    const pl_func *f = p->func;
    uint64_t local = 0, arguments = 0;
    for (size_t k = 0; k < f->vars.n && local <= MAX_LOCAL && arguments <= MAX_ARGUMENTS; k++) {
        const pl_var *v = f->vars.at[k];
        if (v->space == PL_SP_LOCAL)
            local = end_after(local, v);
        else if (v->space == PL_SP_PARAM)
            arguments = end_after(arguments, v);
    }
    for (size_t k = 0; k < f->params.n && !f->entry && arguments <= MAX_ARGUMENTS; k++)
        arguments = end_after(arguments, f->params.at[k]);
    for (size_t k = 0; k < f->rets.n && arguments <= MAX_ARGUMENTS; k++)
        arguments = end_after(arguments, f->rets.at[k]);
    if (local > MAX_LOCAL)
        pl_report(p->diags, PL_E0392, f->at, f->name, (unsigned long long)local, "local variables",
                  MAX_LOCAL);
    if (arguments > MAX_ARGUMENTS)
        pl_report(p->diags, PL_E0392, f->at, f->name, (unsigned long long)arguments, "parameters",
                  MAX_ARGUMENTS);
}

void pl_func_body(pl_parse *p, pl_loc at)
{
    (void)at;
    if (p->func->linkage == PL_LINK_EXTERN)
        pl_report(p->diags, PL_E0334, p->func->at, p->func->name);
    for (size_t k = 0; k < p->func->params.n; k++) {
        const pl_var *v = p->func->params.at[k];
        if (p->func->entry && (v->unsized || !v->size))
            pl_report(p->diags, PL_E0359, v->at, v->name);
    }
    check_param_space(p);
    if (!p->func->body.n) {
        p->func->body.at = p->body.at;
        p->func->body.cap = p->body.cap;
    }
    if (p->func->blocksareclusters && (!p->func->reqntid[0] || !p->func->reqnctapercluster[0]))
        pl_report(p->diags, PL_E0376, p->func->at);
    declare(p, true);
}

void pl_func_end(pl_parse *p, pl_loc at)
{
    pl_func *f = p->func;
    (void)at;
    if (f) {
        check_frame(p);
        if (p->ast->ptx < 14) check_param_space(p); /* they are declared in the body */
    }
    close_function(p);
    if (p->ready && f && p->diags->errors == p->errors && pl_parse_ok(p))
        p->ready(p->ready_ctx, p->ast, f);
}

void pl_func_broken(pl_parse *p)
{
    p->func_has_syntax_error = true;
    p->in_rets = false;
    p->func->prototype_only = true;
    p->module_has_syntax_error |= !*p->func->name; /* the error hides a name */
    pl_nodes_reset(p);
    if (*p->func->name && !module_binding(p->func_sym))
        pl_name_bind_bad(p, p->func_sym, 0, p->func->at);
}

/* After a syntax error outside every statement: returns to module scope. */
void pl_func_abandon(pl_parse *p)
{
    if (p->func && *p->func->name && p->func_sym && !module_binding(p->func_sym))
        pl_name_bind_bad(p, p->func_sym, 0, p->func->at);
    while (p->depth > 0) {
        p->func_has_syntax_error = true;
        pl_scope_close(p);
    }
    if (p->func) shrink_body(p);
    p->func = p->proto = NULL;
    p->linkage = PL_LINK_NONE;
    p->linkage_set = p->in_rets = false;
    p->func_has_syntax_error = true;
    pl_nodes_reset(p);
}

/* The name that the erroneous text would have declared is unknown. */
void pl_module_abandon(pl_parse *p)
{
    pl_func_abandon(p);
    p->module_has_syntax_error = true;
}

/* True for a valid number after the name of a pragma: one word of decimal or hexadecimal digits. */
static bool pragma_number(const char *s, size_t n, uint64_t min)
{
    char text[24], *end;
    while (n && *s == ' ') s++, n--;
    if (!n || n >= sizeof text || *s < '0' || *s > '9') return false;
    memcpy(text, s, n);
    text[n] = 0;
    return strtoull(text, &end, 0) >= min && end == text + n && (n < 2 || end[-1] != 'x');
}

/* Checks the pragmas that ptxas 13.0 knows; it ignores unknown ones in a function. */
static void check_pragma(pl_parse *p, const char *text, size_t n, pl_loc at)
{
    static const struct {
        const char *name;
        bool number;
        uint64_t min;
    } inside[] = {
        {"used_bytes_mask", true, 0}, {"enable_smem_spilling", false, 0}, {"frequency", true, 1}};
    static const char throughput[] = "mma_throughput";
    const char *shown = pl_arena_strndup(p->arena, text, n);
    size_t word = 0;
    while (word < n && text[word] != ' ') word++;
    if (!p->func && (n != 8 || memcmp(text, "nounroll", n))) {
        pl_report(p->diags, PL_E0379, at, shown, "is not for a module");
        return;
    }
    if (word == 13 && !memcmp(text, "abi_param_reg", word))
        pl_report(p->diags, PL_E0379, at, shown, "is only for compilers");
    if (word == strlen(throughput) && !memcmp(text, throughput, word) && p->func) {
        pl_module_needs(p, at, ".pragma \"mma_throughput\"", 93, "sm_10");
        if (!p->func->entry) pl_report(p->diags, PL_E0379, at, shown, "is only for kernels");
    }
    for (size_t k = 0; k < sizeof inside / sizeof *inside; k++) {
        if (word != strlen(inside[k].name) || memcmp(text, inside[k].name, word)) continue;
        if (p->in_directives)
            pl_report(p->diags, PL_E0379, at, shown, "must be inside the function");
        else if (inside[k].number && !pragma_number(text + word, n - word, inside[k].min))
            pl_report(p->diags, PL_E0379, at, shown, "needs a number");
    }
}

void pl_func_pragma(pl_parse *p, const char *text, uint32_t n, pl_loc at)
{
    pl_module_started(p, at);
    pl_directive_needs(p, at, ".pragma");
    check_pragma(p, text, n, at);
    if (!p->func) return;
    if (p->in_directives && !p->func->entry)
        pl_report(p->diags, PL_E0345, at, "a pragma before the body", "kernels");
    pl_stmt *s = pl_push(p->arena, &p->func->body);
    *s = (pl_stmt){.kind = PL_S_PRAGMA,
                   .line = at.line,
                   .column = at.column,
                   .pragma = pl_arena_strndup(p->arena, text, n)};
}

/* ---- .maxntid and similar directives ---- */

/* Registers and predicates that a callee can preserve: the limits of ptxas 13.0 for sm_90. */
enum { MAX_PRESERVED = 239, MAX_PRESERVED_CONTROL = 8 };

enum perf {
#define DIRECTIVE(...)
#define PERF_DIRECTIVE(id, ...) id,
#include "ptx/directives.def"
#undef PERF_DIRECTIVE
};

static const struct {
    const char *name;
    uint8_t min, max; /* values */
    bool entry, func;
} perfs[] = {
#define PERF_DIRECTIVE(id, name, min, max, entry, func, ...) {name, min, max, entry, func},
#include "ptx/directives.def"
#undef PERF_DIRECTIVE
#undef DIRECTIVE
};

static void report_conflict(pl_parse *p, pl_loc at, enum perf a, enum perf b)
{
    if (p->seen_perf & (1u << a) && p->seen_perf & (1u << b))
        pl_report(p->diags, PL_E0337, at, perfs[a].name, perfs[b].name);
}

/* Reads the values of a performance directive; omitted ones are 1 if at least one is given. */
static bool read_perf_values(pl_parse *p, const pl_sym *s, unsigned which, uint32_t list,
                             uint32_t value[3])
{
    const uint32_t n = list ? p->nodes.at[list].n : 0;
    const int64_t max = which == MAXCLUSTERRANK         ? UINT32_MAX
                        : which == ABI_PRESERVE         ? MAX_PRESERVED
                        : which == ABI_PRESERVE_CONTROL ? MAX_PRESERVED_CONTROL
                        : which == MINPERCTAMEMORY      ? UINT32_MAX
                                                        : INT32_MAX;
    const bool zero = which == ABI_PRESERVE || which == ABI_PRESERVE_CONTROL ||
                      which == MINPERCTAMEMORY || which == MAXCLUSTERRANK ||
                      which == REQNCTAPERCLUSTER;
    for (uint32_t k = 0, e = list ? p->nodes.at[list].first : 0; k < n;
         k++, e = p->nodes.at[e].next) {
        const int64_t v = p->nodes.at[e].value;
        if (v < 0 || v > max || (v == 0 && !zero)) {
            pl_report(p->diags, PL_E0338, p->nodes.at[e].at, s->name);
            return false;
        }
        value[k] = (uint32_t)v;
    }
    for (uint32_t k = n; k < 3; k++) value[k] = n ? 1 : 0;
    return true;
}

static void set_perf(pl_parse *p, pl_func *f, enum perf which, const uint32_t value[3], pl_loc at)
{
    switch (which) {
    case MAXNTID: memcpy(f->maxntid, value, sizeof f->maxntid); break;
    case REQNTID: memcpy(f->reqntid, value, sizeof f->reqntid); break;
    case MINNCTAPERSM: f->minnctapersm = value[0]; break;
    case MAXNCTAPERSM:
        f->minnctapersm = value[0];
        if (p->ast->ptx >= 21)
            pl_report(p->diags, PL_E0375, at, ".maxnctapersm", "2.1", ".minnctapersm");
        break;
    case MAXNREG: f->maxnreg = value[0]; break;
    case NORETURN: f->noreturn = true; break;
    case EXPLICITCLUSTER: f->explicitcluster = true; break;
    case REQNCTAPERCLUSTER: memcpy(f->reqnctapercluster, value, sizeof f->reqnctapercluster); break;
    case MAXCLUSTERRANK: f->maxclusterrank = value[0]; break;
    case BLOCKSARECLUSTERS: f->blocksareclusters = true; break;
    case ABI_PRESERVE: f->abi_preserve = value[0]; break;
    case ABI_PRESERVE_CONTROL: f->abi_preserve_control = value[0]; break;
    case MINPERCTAMEMORY: f->minperctamemory = value[0]; break;
    }
}

/* ---- .language ---- */

enum { MAX_LANGUAGE = 10 };

void pl_func_language(pl_parse *p, pl_loc at)
{
    pl_directive_needs(p, at, ".language");
}

void pl_func_language_name(pl_parse *p, const char *text, size_t n, pl_loc at)
{
    static const char *const known[] = {"unknown",       "ptx",     "nvvm",
                                        "cuda c++",      "tile ir", "cuda c++ tile",
                                        "python-cutile", "fortran", "optix"};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (n == strlen(known[k]) && strncasecmp(text, known[k], n) == 0) return;
    pl_report(p->diags, PL_E0394, at, (int)n, text);
}

void pl_func_language_number(pl_parse *p, const pl_number *n, pl_loc at)
{
    if (n->bits > MAX_LANGUAGE) pl_report(p->diags, PL_E0394, at, (int)n->len, n->text);
}

void pl_func_perf(pl_parse *p, pl_sym *s, uint32_t list, pl_loc at)
{
    pl_func *f = p->proto ? p->proto : p->func;
    unsigned which = 0;
    uint32_t value[3] = {0}, n = list ? p->nodes.at[list].n : 0;
    while (strcmp(perfs[which].name, s->name)) which++;
    pl_directive_needs(p, at, s->name);
    if (f->entry ? !perfs[which].entry : !perfs[which].func) {
        pl_report(p->diags, PL_E0335, at, s->name,
                  f->entry ? "a kernel (.entry)" : "a function (.func)");
        return;
    }
    if (n < perfs[which].min || n > perfs[which].max) {
        pl_report(p->diags, PL_E0336, at, s->name,
                  perfs[which].min == perfs[which].max ? "" : "1 to ", perfs[which].max);
        return;
    }
    if (!read_perf_values(p, s, which, list, value)) return;
    bool abi = which == ABI_PRESERVE || which == ABI_PRESERVE_CONTROL;
    if ((abi || which == NORETURN) && (p->seen_perf & (1u << which)))
        pl_report(p->diags, PL_E0311, at, s->name);
    else if (which == NORETURN &&
             (p->seen_perf & (1u << ABI_PRESERVE | 1u << ABI_PRESERVE_CONTROL)))
        pl_report(p->diags, PL_E0310, at, "an ABI directive", ".noreturn");
    p->seen_perf |= 1u << which;
    set_perf(p, f, (enum perf)which, value, at);
    report_conflict(p, at, MAXNTID, REQNTID);
    report_conflict(p, at, REQNCTAPERCLUSTER, MAXCLUSTERRANK);
    if (which == NORETURN && f->rets.n) pl_report(p->diags, PL_E0339, at);
}

/* ---- tables of targets, prototypes ---- */

void pl_table_begin(pl_parse *p, pl_sym *label, int kind, pl_loc at)
{
    static const char *const directive[] = {".branchtargets", ".calltargets", ".callprototype"};
    pl_table *t = pl_arena_new(p->arena, pl_table);
    pl_directive_needs(p, at, directive[kind]);
    t->name = label->name;
    t->at = at;
    t->kind = kind == 0 ? PL_TAB_BRANCH : kind == 1 ? PL_TAB_CALL : PL_TAB_PROTO;
    pl_name_bind(p, label, (pl_binding){.kind = PL_B_TABLE, .table = t, .at = at});
    p->table = t;
    p->table_uses = NULL; /* after a syntax error a table leaves its entries here */
    if (t->kind == PL_TAB_PROTO) {
        p->proto = t->proto = pl_arena_new(p->arena, pl_func);
        t->proto->name = label->name;
        t->proto->prototype_only = true;
        t->proto->at = at;
    }
}

void pl_table_add(pl_parse *p, pl_sym *s, pl_loc at)
{
    pl_table *t = p->table;
    if (t->kind == PL_TAB_BRANCH) {
        t->labels.n++; /* the entries are filled in at the end of the block, so the array must not
                          be reallocated: see pl_table_end */
        pl_table_use *u = pl_arena_new(p->names, pl_table_use);
        *u = (pl_table_use){.sym = s, .at = at, .next = p->table_uses};
        p->table_uses = u;
        return;
    }
    pl_binding *b = pl_name_lookup(p, s);
    if (!b)
        pl_name_undefined(p, s, at);
    else if (b->kind != PL_B_FUNC && b->kind != PL_B_BAD)
        pl_report(p->diags, PL_E0206, at, s->name, pl_bind_noun(b), "a function");
    else if (b->kind == PL_B_FUNC)
        *pl_push(p->arena, &t->funcs) = b->func;
}

void pl_table_end(pl_parse *p)
{
    pl_table *t = p->table;
    if (t->kind == PL_TAB_BRANCH) {
        size_t k = t->labels.n;
        t->labels.at = pl_arena_array(p->arena, pl_label *, k);
        t->labels.cap = k;
        for (pl_table_use *u = p->table_uses; u; u = u->next)
            pl_label_refer(p, u->sym, u->at, &t->labels.at[--k]);
        p->table_uses = NULL;
    }
    p->proto = NULL;
    p->table = NULL;
}
