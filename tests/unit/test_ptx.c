/* test_ptx.c - results of the PTX front end: registers, constants, labels, addresses, initial
 * values; and the formatter. */
#include "base/diag.h"
#include "isa/table/form_match.h"
#include "ptx/ast.h"
#include "ptx/format.h"
#include "tests/unit/unit.h"
#include <glob.h>
#include <stdio.h>
#include <string.h>

#define HEAD ".version 9.0\n.target sm_90a\n.address_size 64\n"
#define KERNEL                                                                                     \
    ".visible .entry k(.param .u64 p) {\n.reg .b16 %rs<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>; "    \
    ".reg .f32 %f<8>; "                                                                            \
    ".reg .f64 %fd<8>; .reg .pred %p<4>;\n"

static pl_arena *arena;
static pl_diags diags;

static pl_status parse(const char *text, pl_ast **ast)
{
    arena = pl_arena_open();
    ck_assert_ptr_nonnull(arena);
    pl_diags_init(&diags, arena);
    uint32_t file = pl_diags_add_file(&diags, "k.ptx", text, strlen(text));
    return pl_ptx_parse(arena, &diags, file, &(pl_parse_options){.lanes = PL_LANES}, ast);
}

static pl_ast *accept(const char *text)
{
    pl_ast *ast;
    pl_status st = parse(text, &ast);
    ck_assert_msg(st == PL_OK, "%s",
                  diags.list.n ? pl_diag_render(&diags, &diags.list.at[0], false) : "refused");
    return ast;
}

static const pl_stmt *only_statement(const pl_ast *ast)
{
    ck_assert_uint_eq(ast->funcs.n, 1);
    ck_assert_uint_eq(ast->funcs.at[0]->body.n, 1);
    return &ast->funcs.at[0]->body.at[0];
}

/* The bits of the last operand of one instruction. */
static uint64_t constant(const char *instruction)
{
    char text[1000];
    snprintf(text, sizeof text, "%s%s\n}\n", HEAD KERNEL, instruction);
    pl_ast *ast = accept(text);
    const pl_stmt *s = only_statement(ast);
    const pl_operand *o = &s->op[pl_forms[s->what->form].noperands - 1];
    ck_assert_int_eq(o->kind, PL_O_IMM);
    uint64_t bits = (uint64_t)o->imm;
    pl_arena_close(arena);
    return bits;
}

START_TEST(constants)
{
    static const struct {
        const char *insn;
        uint64_t bits;
    } t[] = {
        {"mov.u32 %r1, 1+2*3;", 7},
        {"mov.u64 %rd1, -1;", UINT64_MAX},
        {"mov.u32 %r1, -1;", UINT32_MAX},
        {"mov.u32 %r1, 017;", 15},
        {"mov.u32 %r1, 0b101;", 5},
        {"mov.u32 %r1, 0xFFU;", 255},
        {"mov.u32 %r1, (1<2)?3:4;", 3},
        {"mov.u32 %r1, 7 % 4;", 3},
        {"mov.u32 %r1, 7/2;", 3},
        {"mov.s32 %r1, -7/2;", (uint32_t)-3},
        {"mov.u64 %rd1, -7/2U;", (UINT64_MAX - 6) / 2}, /* one unsigned operand makes it unsigned */
        {"mov.u64 %rd1, (.u64)-8>>1;", (UINT64_MAX - 7) >> 1},
        {"mov.u64 %rd1, -8>>1;", (uint64_t)-4},
        {"mov.u64 %rd1, 1<<40;", UINT64_C(1) << 40},
        {"mov.u32 %r1, !5;", 0},
        {"mov.u32 %r1, ~5;", 0xFFFFFFFA},
        {"mov.u32 %r1, 5&3|8;", 9},
        {"mov.u32 %r1, 5^3;", 6},
        {"mov.u32 %r1, 1&&0||1;", 1},
        {"mov.u32 %r1, 1.0>0.5;", 1},
        {"mov.u32 %r1, WARP_SZ-1;", 31},
        {"mov.u16 %rs1, 70000;", 70000 - 65536},
        {"mov.f32 %f1, 1.5;", 0x3FC00000},
        {"mov.f32 %f1, .5;", 0x3F000000},
        {"mov.f32 %f1, 1.0+2.0;", 0x40400000},
        {"mov.f32 %f1, -(1.0);", 0xBF800000},
        {"mov.f32 %f1, 0fFF800001;", 0xFF800001}, /* a NaN preserves its bits */
        {"mov.f32 %f1, 0d3FF8000000000000;", 0x3FC00000},
        {"mov.f64 %fd1, 0f3FC00000;", UINT64_C(0x3FF8000000000000)},
        {"mov.f64 %fd1, 1e-3;", UINT64_C(0x3F50624DD2F1A9FC)},
        {"mov.f64 %fd1, 12.;", UINT64_C(0x4028000000000000)},
        {"mov.b32 %r1, 0f3F800000;", 0x3F800000},
        {"mov.b64 %rd1, 1.5;", UINT64_C(0x3FF8000000000000)},
        {"mov.pred %p1, 2;", 1},
    };
    for (size_t k = 0; k < sizeof t / sizeof *t; k++) {
        uint64_t bits = constant(t[k].insn);
        ck_assert_msg(bits == t[k].bits, "%s: %llx", t[k].insn, (unsigned long long)bits);
    }
}
END_TEST

START_TEST(lower_case_suffix)
{
    pl_ast *ast;
    ck_assert_int_eq(parse(HEAD KERNEL "mov.u32 %r1, 5u;\n}\n", &ast), PL_INVALID);
    ck_assert_str_eq(pl_diag_code(diags.list.at[0].id), "E0104");
    pl_arena_close(arena);
}
END_TEST

START_TEST(registers_in_order_of_mention)
{
    pl_ast *ast = accept(HEAD ".entry k() { .reg .b32 %r<100>, x; { .reg .b32 x; mov.b32 x, %r7; } "
                              "mov.b32 x, %r3; mov.b32 %r007, x; }\n");
    const pl_func *f = ast->funcs.at[0];
    const pl_stmt *s = f->body.at;
    ck_assert_uint_eq(f->regs.n, 4); /* x, inner x, %r7, %r3 */
    for (size_t k = 0; k < f->regs.n; k++) ck_assert_uint_eq(f->regs.at[k]->id, k);
    ck_assert_ptr_ne(s[0].op[0].reg, s[1].op[0].reg);
    ck_assert_ptr_eq(s[0].op[1].reg, s[2].op[0].reg); /* %r007 is %r7 */
    ck_assert_str_eq(s[1].op[1].reg->name, "%r3");
    pl_arena_close(arena);
}
END_TEST

START_TEST(label_scope)
{
    pl_ast *ast = accept(HEAD ".entry k() { bra L; { bra L; L: { bra L; } } L: ret; }\n");
    const pl_func *f = ast->funcs.at[0];
    ck_assert_uint_eq(f->labels.n, 2);
    const pl_label *outer = f->body.at[0].op[0].label, *inner = f->body.at[1].op[0].label;
    ck_assert_ptr_ne(outer, inner);
    ck_assert_ptr_eq(inner, f->body.at[2].op[0].label);
    ck_assert_uint_eq(inner->stmt, 2);
    ck_assert_uint_eq(outer->stmt, 3);
    pl_arena_close(arena);
}
END_TEST

START_TEST(branch_targets)
{
    pl_ast *ast = accept(
        HEAD
        ".entry k() { .reg .b32 r; t: .branchtargets B, A, B; brx.idx r, t; A: ret; B: ret; }\n");
    const pl_table *t = ast->funcs.at[0]->body.at[0].op[1].table;
    ck_assert_int_eq(t->kind, PL_TAB_BRANCH);
    ck_assert_uint_eq(t->labels.n, 3);
    ck_assert_str_eq(t->labels.at[0]->name, "B");
    ck_assert_str_eq(t->labels.at[1]->name, "A");
    ck_assert_ptr_eq(t->labels.at[0], t->labels.at[2]);
    pl_arena_close(arena);
}
END_TEST

START_TEST(modifiers_in_any_order)
{
    static const char *const same[] = {"add.rn.ftz.f32 %f1, %f2, %f3;",
                                       "add.ftz.f32.rn %f1, %f2, %f3;",
                                       "add .f32 .rn .ftz %f1, %f2, %f3;"};
    uint16_t form = 0, mods[PL_MAX_SLOTS];
    for (size_t k = 0; k < sizeof same / sizeof *same; k++) {
        char text[1000];
        snprintf(text, sizeof text, "%s%s\n}\n", HEAD KERNEL, same[k]);
        const pl_stmt *s = only_statement(accept(text));
        if (k == 0) {
            form = s->what->form;
            memcpy(mods, s->what->mods, sizeof mods);
        }
        ck_assert_uint_eq(s->what->form, form);
        ck_assert_mem_eq(s->what->mods, mods, sizeof mods);
        pl_arena_close(arena);
    }
}
END_TEST

START_TEST(initial_values)
{
    pl_ast *ast = accept(HEAD ".global .b32 g; .func f() { ret; }\n"
                              ".global .u16 a[2][3] = {{1, 2}, {3}};\n"
                              ".global .u64 b[] = {g+8, generic(g), f, 7};\n"
                              ".global .v2 .f32 c[2] = {{1.0, 2.0}, {0f40400000, 4.0}};\n"
                              ".global .u8 d[] = {0xff(g), 0xff00(g)};\n"
                              ".const .s8 e[4] = {-1, 300, 2};\n");
    const pl_var *a = ast->vars.at[1], *b = ast->vars.at[2], *c = ast->vars.at[3],
                 *d = ast->vars.at[4], *e = ast->vars.at[5];
    static const uint16_t want_a[6] = {1, 2, 0, 3, 0, 0};
    static const float want_c[4] = {1, 2, 3, 4};
    static const uint8_t want_e[4] = {255, 44, 2, 0};
    ck_assert_uint_eq(a->size, 12);
    ck_assert_mem_eq(a->init, want_a, 12);
    ck_assert_uint_eq(b->size, 32);
    ck_assert_uint_eq(b->reloc.n, 3);
    ck_assert_ptr_eq(b->reloc.at[0].var, ast->vars.at[0]);
    ck_assert_int_eq(b->reloc.at[0].addend, 8);
    ck_assert(!b->reloc.at[0].generic && b->reloc.at[1].generic);
    ck_assert_uint_eq(b->reloc.at[1].offset, 8);
    ck_assert_ptr_eq(b->reloc.at[2].func, ast->funcs.at[0]);
    ck_assert_uint_eq(b->init[24], 7);
    ck_assert_uint_eq(c->size, 16);
    ck_assert_mem_eq(c->init, want_c, 16);
    ck_assert_uint_eq(d->reloc.at[1].shift, 8);
    ck_assert_uint_eq(d->reloc.at[1].bytes, 1);
    ck_assert_mem_eq(e->init, want_e, 4);
    pl_arena_close(arena);
}
END_TEST

START_TEST(mnemonic_as_kernel_name)
{
    pl_ast *ast =
        accept(HEAD ".entry add() { .reg .b32 sub; sub.u32 sub, sub, sub; mov: bra mov; }\n");
    ck_assert_str_eq(ast->funcs.at[0]->name, "add");
    pl_arena_close(arena);
}
END_TEST

START_TEST(one_message_per_error)
{
    pl_ast *ast;
    char text[20000] = HEAD KERNEL;
    for (int k = 0; k < 150; k++)
        snprintf(text + strlen(text), 100, "add.u32 %%r1, x%d, %%r2;\n", k % 50);
    strcat(text, "ret;\n}\n");
    ck_assert_int_eq(parse(text, &ast), PL_INVALID);
    ck_assert_uint_eq(diags.errors, 50);
    pl_arena_close(arena);
}
END_TEST

START_TEST(deep_nesting_is_rejected)
{
    enum { DEPTH = 100000 };
    pl_ast *ast;
    char *text = malloc(2 * DEPTH + 1000);
    strcpy(text, HEAD KERNEL "mov.u32 %r1, ");
    size_t n = strlen(text);
    memset(text + n, '(', DEPTH);
    strcpy(text + n + DEPTH, "1;\n}\n");
    ck_assert_int_eq(parse(text, &ast), PL_INVALID);
    pl_arena_close(arena);
    strcpy(text, HEAD KERNEL);
    n = strlen(text);
    memset(text + n, '{', DEPTH);
    text[n + DEPTH] = 0;
    ck_assert_int_eq(parse(text, &ast), PL_INVALID);
    ck_assert_str_eq(pl_diag_code(diags.list.at[0].id), "E0108");
    pl_arena_close(arena);
    free(text);
}
END_TEST

START_TEST(edit_distance)
{
    ck_assert_uint_eq(pl_edit_distance("global", 6, "globl", 5, 3), 1);
    ck_assert_uint_eq(pl_edit_distance("abc", 3, "abc", 3, 3), 0);
    ck_assert_uint_eq(pl_edit_distance("kitten", 6, "sitting", 7, 5), 3);
    ck_assert_uint_gt(pl_edit_distance("abcdef", 6, "uvwxyz", 6, 2), 2);
}
END_TEST

START_TEST(targets)
{
    ck_assert(pl_target_has(90, 'a', "sm_90"));
    ck_assert(pl_target_has(90, 'a', "sm_90a"));
    ck_assert(!pl_target_has(90, 0, "sm_90a"));
    ck_assert(!pl_target_has(100, 'a', "sm_90a"));
    ck_assert(pl_target_has(103, 'f', "sm_100f"));
    ck_assert(pl_target_has(103, 'a', "sm_100f"));
    ck_assert(!pl_target_has(103, 0, "sm_100f"));
    ck_assert(!pl_target_has(120, 'a', "sm_100f"));
    ck_assert(pl_target_has(120, 'a', "sm_100a|sm_120a"));
}
END_TEST

/* ---- formatter ---- */

static char *format(pl_arena *a, const char *text, size_t size, size_t *n)
{
    char *out;
    ck_assert_int_eq(pl_ptx_format(a, text, size, &out, n), PL_OK);
    return out;
}

START_TEST(layout)
{
    static const char good[] =
        ".version 9.0 .target sm_90a\n.address_size 64\n"
        "// before\n.visible .entry k(.param .u64 p,.param .u32 n)// kernel\n"
        ".maxntid 128,1,1 .minnctapersm 2{.reg .b32 %r<5>;   .reg .pred %p;\n\n\n"
        "  mov .u32 %r1,%tid.x; /* x */ setp.eq.u32 %p ,%r1 , 5 % 3;\n"
        "  @!%p bra  DONE;// skip\n ld.global.v2 .u32 {%r1,%r2},[%r3 + -4];"
        "{ call (%r1) ,f,( %r2 ); }\nDONE:ret;}\n";
    static const char want[] =
        ".version 9.0\n.target sm_90a\n.address_size 64\n"
        "// before\n.visible .entry k(\n    .param .u64 p,\n    .param .u32 n\n)  // kernel\n"
        ".maxntid 128, 1, 1\n.minnctapersm 2\n{\n    .reg .b32 %r<5>;\n    .reg .pred %p;\n\n"
        "    mov.u32 %r1, %tid.x;  /* x */\n    setp.eq.u32 %p, %r1, 5 % 3;\n"
        "    @!%p bra DONE;  // skip\n    ld.global.v2.u32 {%r1, %r2}, [%r3+-4];\n"
        "    {\n        call (%r1), f, (%r2);\n    }\nDONE:\n    ret;\n}\n";
    pl_arena *a = pl_arena_open();
    size_t n;
    ck_assert_str_eq(format(a, good, sizeof good - 1, &n), want);
    pl_arena_close(a);
}
END_TEST

static void without_blanks(char *s)
{
    char *to = s;
    for (; *s; s++)
        if (!strchr(" \t\r\n", *s)) *to++ = *s;
    *to = 0;
}

/* Formatting is idempotent, changes only white space, and accepted files are still accepted. */
START_TEST(formatting_all_tests)
{
    static const char *const patterns[] = {"/tests/ptx/accept/*.ptx", "/tests/ptx/exec/*/*.ptx",
                                           "/tests/ptx/*/*.ptx", "/examples/*.ptx"};
    unsigned files = 0;
    for (size_t k = 0; k < sizeof patterns / sizeof *patterns; k++) {
        char path[4096];
        glob_t g;
        snprintf(path, sizeof path, "%s%s", getenv("srcdir") ? getenv("srcdir") : ".", patterns[k]);
        if (glob(path, 0, NULL, &g)) continue;
        for (size_t f = 0; f < g.gl_pathc; f++) {
            FILE *in = fopen(g.gl_pathv[f], "rb");
            static char text[1 << 20];
            ck_assert_ptr_nonnull(in);
            size_t size = fread(text, 1, sizeof text - 1, in), n, n2;
            text[size] = 0;
            fclose(in);
            pl_ast *ast;
            if (size == sizeof text - 1) continue;
            if (parse(text, &ast) != PL_OK) {
                pl_arena_close(arena);
                continue;
            }
            char *once = format(arena, text, size, &n), *twice = format(arena, once, n, &n2);
            ck_assert_msg(n == n2 && !memcmp(once, twice, n), "%s: formatting twice differs",
                          g.gl_pathv[f]);
            pl_arena *kept = arena;
            ck_assert_msg(parse(once, &ast) == PL_OK, "%s is rejected after formatting",
                          g.gl_pathv[f]);
            pl_arena_close(arena);
            without_blanks(text);
            without_blanks(once);
            ck_assert_msg(!strcmp(text, once), "%s: formatting changed a token", g.gl_pathv[f]);
            pl_arena_close(kept);
            files++;
        }
        globfree(&g);
    }
    ck_assert_uint_gt(files, 0);
}
END_TEST

UNIT_MAIN("ptx", constants, lower_case_suffix, registers_in_order_of_mention, label_scope,
          branch_targets, modifiers_in_any_order, initial_values, mnemonic_as_kernel_name,
          one_message_per_error, deep_nesting_is_rejected, edit_distance, targets, layout,
          formatting_all_tests)
