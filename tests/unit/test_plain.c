/* test_plain.c - plain statements parsed by the fast path (ptx/parse/fast_path.c) give the same
 * result as the grammar.
 *
 * Every PTX text of the tests is parsed twice: unchanged, and with a comment before every
 * semicolon and after every label, which leaves all statements to the grammar. Trees and messages
 * must be equal, at the same source positions. */
#include "base/diag.h"
#include "ptx/ast.h"
#include "tests/unit/unit.h"
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct reading {
    pl_arena *arena;
    pl_diags diags;
    pl_ast *ast;
    pl_status status;
} reading;

static char plain[1 << 20], other[4 << 20];
static size_t line_at[1 << 17]; /* start of each line of the plain text */
static uint32_t lines;
static uint8_t
    inserted[1 << 20]; /* by byte of the plain text: true if a comment was inserted before it */
static const char *path;

static reading read_text(const char *text)
{
    reading r = {.arena = pl_arena_open()};
    ck_assert_ptr_nonnull(r.arena);
    pl_diags_init(&r.diags, r.arena);
    uint32_t file = pl_diags_add_file(&r.diags, path, text, strlen(text));
    r.status =
        pl_ptx_parse(r.arena, &r.diags, file, &(pl_parse_options){.lanes = PL_LANES}, &r.ast);
    pl_diags_sort(&r.diags);
    return r;
}

static bool in_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || c == '%';
}

/* True if the colon ends a label that is first on its line. */
static bool ends_label(const char *colon)
{
    const char *s = colon;
    while (s > plain && in_name(s[-1])) s--;
    if (s == colon) return false;
    while (s > plain && (s[-1] == ' ' || s[-1] == '\t')) s--;
    return s == plain || s[-1] == '\n';
}

/* Writes plain with inserted comments to other. Comments, strings and sections of the text are
 * unchanged. */
static void add_comments(void)
{
    char *to = other;
    const char *after = NULL;
    lines = 0;
    line_at[++lines] = 0;
    for (const char *s = plain; *s; s++) {
        size_t k = (size_t)(s - plain);
        inserted[k] = (*s == ';' || s == after) && s[0] != '.';
        if (inserted[k]) to = stpcpy(to, "/**/");
        if (*s == ':' && s[1] != ':' && s[-1] != ':' && ends_label(s)) after = s + 1;
        const char *end = !strncmp(s, ".section", 8)   ? strchr(s, '}')
                          : s[0] == '/' && s[1] == '/' ? strchr(s, '\n')
                          : s[0] == '/' && s[1] == '*' ? strstr(s + 2, "*/")
                          : *s == '"'                  ? strpbrk(s + 1, "\"\n")
                                                       : s;
        if (!end) end = s + strlen(s) - 1;
        for (;; s++) {
            if (s > plain + k) inserted[s - plain] = 0;
            *to++ = *s;
            if (*s == '\n') line_at[++lines] = (size_t)(s + 1 - plain);
            if (s == end) break;
        }
    }
    *to = 0;
}

/* The column in the text with comments. */
static uint32_t moved(uint32_t line, uint32_t column)
{
    uint32_t more = 0;
    for (uint32_t k = 0; line && column && line <= lines && k < column; k++)
        more += inserted[line_at[line] + k];
    return column + 4 * more;
}

static void same_operand(const pl_operand *a, const pl_operand *b, uint32_t line)
{
    ck_assert_msg(a->kind == b->kind && a->neg == b->neg && a->is_float == b->is_float &&
                      a->on_var == b->on_var && a->sel == b->sel && a->nlanes == b->nlanes &&
                      a->lanes == b->lanes && a->n == b->n &&
                      (a->kind == PL_O_FUNC || a->imm == b->imm),
                  "%s:%u: an operand differs", path, line);
    const pl_var *v = pl_operand_var(a), *w = pl_operand_var(b);
    ck_assert_msg(!v == !w && (!v || !strcmp(v->name, w->name)), "%s:%u: a variable differs", path,
                  line);
    switch ((pl_operand_kind)a->kind) {
    case PL_O_REG:
        ck_assert_msg(a->reg->id == b->reg->id && !strcmp(a->reg->name, b->reg->name),
                      "%s:%u: a register differs", path, line);
        break;
    case PL_O_SREG: ck_assert_int_eq(a->sreg, b->sreg); break;
    case PL_O_LABEL:
        ck_assert_msg(a->label->stmt == b->label->stmt, "%s:%u: a label differs", path, line);
        break;
    case PL_O_TABLE: ck_assert_str_eq(a->table->name, b->table->name); break;
    case PL_O_FUNC:
        ck_assert_msg(a->func->index == b->func->index && a->line == b->line &&
                          moved(a->line, a->column) == b->column,
                      "%s:%u: a function differs", path, line);
        break;
    case PL_O_ADDR:
        if (!a->on_var)
            ck_assert_msg(!a->reg == !b->reg && (!a->reg || a->reg->id == b->reg->id),
                          "%s:%u: an address differs", path, line);
        break;
    case PL_O_VEC:
    case PL_O_ARGS:
        for (uint16_t e = 0; e < a->n; e++) same_operand(&a->elem[e], &b->elem[e], line);
        break;
    default: break;
    }
}

static size_t same_function(const pl_func *a, const pl_func *b)
{
    ck_assert_str_eq(a->name, b->name);
    ck_assert_msg(a->body.n == b->body.n && a->regs.n == b->regs.n && a->labels.n == b->labels.n,
                  "%s: %s differs", path, a->name);
    for (size_t k = 0; k < a->body.n; k++) {
        const pl_stmt *s = &a->body.at[k], *t = &b->body.at[k];
        ck_assert_msg(s->kind == t->kind && s->line == t->line &&
                          t->column == moved(s->line, s->column) && s->length == t->length,
                      "%s:%u:%u: a statement has another place: %u:%u, %u for %u bytes", path,
                      s->line, s->column, t->line, t->column, t->length, s->length);
        if (s->kind != PL_S_INSN) continue;
        ck_assert_msg(s->what->form == t->what->form &&
                          !memcmp(s->what->mods, t->what->mods, sizeof s->what->mods) &&
                          s->guard_neg == t->guard_neg && !s->guard == !t->guard &&
                          (!s->guard || s->guard->id == t->guard->id),
                      "%s:%u: an instruction differs", path, s->line);
        for (unsigned o = 0; o < pl_forms[s->what->form].noperands; o++)
            same_operand(&s->op[o], &t->op[o], s->line);
    }
    return a->body.n;
}

static size_t compare(void)
{
    reading a = read_text(plain), b = read_text(other);
    size_t statements = 0;
    ck_assert_msg(a.status == b.status && a.diags.list.n == b.diags.list.n &&
                      a.diags.errors == b.diags.errors,
                  "%s: %zu messages without comments, %zu with them: %s", path, a.diags.list.n,
                  b.diags.list.n,
                  a.diags.list.n > b.diags.list.n ? a.diags.list.at[0].text
                  : b.diags.list.n                ? b.diags.list.at[0].text
                                                  : "");
    for (size_t k = 0; k < a.diags.list.n; k++) {
        const pl_diag *x = &a.diags.list.at[k], *y = &b.diags.list.at[k];
        bool same = x->id == y->id && !strcmp(x->text, y->text) && !x->help == !y->help &&
                    (!x->help || !strcmp(x->help, y->help));
        ck_assert_msg(same && x->at.line == y->at.line &&
                          y->at.column == moved(x->at.line, x->at.column),
                      "%s:%u:%u: %s; with comments %u:%u: %s", path, x->at.line, x->at.column,
                      x->text, y->at.line, y->at.column, y->text);
    }
    if (a.status == PL_OK) {
        ck_assert_uint_eq(a.ast->funcs.n, b.ast->funcs.n);
        for (size_t k = 0; k < a.ast->funcs.n; k++)
            statements += same_function(a.ast->funcs.at[k], b.ast->funcs.at[k]);
    }
    pl_arena_close(a.arena);
    pl_arena_close(b.arena);
    return statements;
}

START_TEST(fast_path_matches_grammar)
{
    static const char *const patterns[] = {"/tests/ptx/*/*.ptx", "/tests/data/suite/kernels/*.ptx",
                                           "/examples/*.ptx"};
    size_t statements = 0;
    for (size_t k = 0; k < sizeof patterns / sizeof *patterns; k++) {
        char pattern[4096];
        glob_t g;
        snprintf(pattern, sizeof pattern, "%s%s", getenv("srcdir") ? getenv("srcdir") : ".",
                 patterns[k]);
        if (glob(pattern, 0, NULL, &g)) continue;
        for (size_t f = 0; f < g.gl_pathc; f++) {
            FILE *in = fopen(path = g.gl_pathv[f], "rb");
            ck_assert_ptr_nonnull(in);
            size_t size = fread(plain, 1, sizeof plain - 1, in);
            fclose(in);
            plain[size] = 0;
            if (size == sizeof plain - 1 || strlen(plain) != size) continue;
            add_comments();
            statements += compare();
        }
        globfree(&g);
    }
    ck_assert_uint_gt(statements, 10000);
}
END_TEST

/* Constructs that are rare in the tests above. */
START_TEST(odd_statements)
{
    static const char *const body[] = {
        "mov.u32 %r1, %tid.x; mov.u32 %r2, -5; mov.u64 %rd1, 0xffffffffffffffff; mov.f32 %f1, "
        "0f3F800000;",
        "ld.global.u32 %r1, [%rd1 + -4]; ld.global.u32 %r1, [%rd1+0x10]; ld.shared.u32 %r1, [64];",
        "@!%p1 add.s32 %r1, %r2, 18446744073709551616;",
        "add.s32 %r1, %r2, 099;",
        "add.s32 %r1,\n  %r2,\n  -\n3;",
        "setp.eq.and.s32 %p1|%p2, %r1, %r2, !%p3; setp.eq.s32 %p1 | _ , %r1, 1; setp.eq.s32 _|_, "
        "%r1, 1;",
        "{ ret; } L: M: bra L; bra M; bra N;",
        "add.s32 %r1, %r2, 1 + 2; add.s32 %r1, %r2, (3);",
        "mov.b64 {%r1, %r2}, %rd1; mov.b64 {%r1, _}, %rd1;",
        "foo.u32 %r1; add.u32.foo %r1, %r2, %r3; add.u32 %r1, %r2; add . u32 %r1, %r2, %r3; "
        "add.u32 %r9, %nobody, 1;",
        "add.u32 %r1, %r2, 3",
        "a: .branchtargets b; b:",
        "ret; \n  ",
        "ret; bra L; L: ",
        "{ ret;\n\n",
        "mov.u32 %r1, 1;  // end\n ",
        "tex.1d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [t, {%r1}]; mov.u32 %r1, WARP_SZ; mov.u32 %r1, "
        "%r2.x; mov.f32 %f1, 1.5; mov.f32 %f1, -0f3F800000;",
        "$a: %b: _c: bra $a; bra %b; bra _c; $: ; _ ;",
    };
    path = "odd";
    for (size_t k = 0; k < sizeof body / sizeof *body; k++) {
        snprintf(
            plain, sizeof plain,
            ".version 9.0\n.target sm_90a\n.address_size 64\n.global .texref t;\n.entry k() {\n"
            ".reg .b32 %%r<8>; .reg .b64 %%rd<8>; .reg .f32 %%f<8>; .reg .pred %%p<8>;\n%s\n}\n",
            body[k]);
        add_comments();
        compare();
        plain[strlen(plain) - 3] = 0; /* the file ends prematurely */
        add_comments();
        compare();
    }
}
END_TEST

UNIT_MAIN("plain", fast_path_matches_grammar, odd_statements)
