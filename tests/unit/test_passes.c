/* test_passes.c - the pass list, and the verifier: each kind of malformed program is detected and
 * named. */
#include <string.h>

#include "compiler/ir/ir_print.h"
#include "compiler/ir/ir_verify.h"
#include "compiler/pass_manager.h"
#include "compiler/tuning.h"
#include "isa/program/canonicalize.h"
#include "lib/internal.h"
#include "tests/unit/unit.h"

/* v = a + b; the store of v; ret. Registers 0 and 1 hold constants, 2 is v, predicates 2 and 3
 * exist. */
typedef struct sample {
    pl_program p;
    pl_prog_func f;
    pl_ir x;
    pl_ir_verifier v;
    char why[160];
} sample;

static pl_insn insn(uint16_t mnem, unsigned noperands, pl_word word)
{
    pl_insn i = {.guard = PL_PT};
    ck_assert(pl_insn_make(&i, mnem, noperands, &word, word != W_none));
    for (unsigned k = 0; k < noperands; k++) i.op[k] = k;
    return i;
}

static void open_sample(sample *s)
{
    memset(s, 0, sizeof *s);
    s->p.arena = pl_arena_open();
    s->f = (pl_prog_func){.name = "f", .entry = true, .rows = 8, .preds = 4, .count = 3};
    *pl_push(s->p.arena, &s->f.init) = (pl_frame_init){.row = 0, .width = 32, .bits = 5};
    *pl_push(s->p.arena, &s->f.init) = (pl_frame_init){.row = 1, .width = 32, .bits = 6};
    pl_insn add = insn(M_add, 3, W_u32), twice = add;
    add.op[0] = 2, add.op[1] = 0, add.op[2] = 1;
    twice.op[0] = 3, twice.op[1] = 2, twice.op[2] = 2;
    *pl_push(s->p.arena, &s->p.code) = add;
    *pl_push(s->p.arena, &s->p.code) = twice;
    *pl_push(s->p.arena, &s->p.code) = insn(M_ret, 0, W_none);
    ck_assert_int_eq(pl_ir_open(&s->x, &s->p, &s->f, s->f.rows, pl_arena_open(), pl_arena_open()),
                     PL_OK);
    ck_assert_int_eq(pl_ir_verify_open(&s->v, &s->x), PL_OK);
    ck_assert(!s->v.undefined_reads);
    ck_assert_int_eq(pl_ir_verify(&s->v, &s->x, false, s->why, sizeof s->why), PL_OK);
}

static void close_sample(sample *s)
{
    pl_arena_close(s->x.a);
    pl_arena_close(s->x.tmp);
    pl_arena_close(s->p.arena);
}

static void expect_finding(sample *s, const char *words)
{
    ck_assert_int_eq(pl_ir_verify(&s->v, &s->x, false, s->why, sizeof s->why), PL_INVALID);
    ck_assert_msg(strstr(s->why, words), "'%s' instead of '%s'", s->why, words);
    close_sample(s);
}

static pl_insn *at(sample *s, size_t k)
{
    return &s->x.blocks.at[0].code.at[k];
}

START_TEST(verifier_finds_registers_out_of_range)
{
    sample s;
    open_sample(&s);
    at(&s, 1)->op[1] = 8;
    expect_finding(&s, "bb0, instruction 1: register 8 of width 1, of 8");
}
END_TEST

START_TEST(verifier_finds_writes_of_constants)
{
    sample s;
    open_sample(&s);
    at(&s, 1)->op[0] = 1;
    expect_finding(&s, "writes register 1, which holds a constant");
}
END_TEST

START_TEST(verifier_finds_predicates_out_of_range)
{
    sample s;
    open_sample(&s);
    at(&s, 1)->guard = 4;
    expect_finding(&s, "predicate 4, of 4");
}
END_TEST

START_TEST(verifier_finds_modifiers_of_other_forms)
{
    sample s;
    open_sample(&s);
    at(&s, 0)->mods[0] = W_global;
    expect_finding(&s, "add has a modifier that its form does not take");
}
END_TEST

START_TEST(verifier_finds_missing_blocks)
{
    sample s;
    open_sample(&s);
    s.x.blocks.at[0].fallthrough = 7;
    expect_finding(&s, "continues with bb7, of 1 blocks");
}
END_TEST

START_TEST(verifier_finds_code_after_the_end)
{
    sample s;
    open_sample(&s);
    const pl_insn last = *at(&s, 2);
    *at(&s, 2) = *at(&s, 0);
    *at(&s, 0) = last;
    expect_finding(&s, "code after the end of a thread");
}
END_TEST

START_TEST(verifier_finds_new_undefined_reads)
{
    sample s;
    open_sample(&s);
    pl_ir_remove(&s.x, at(&s, 0));
    expect_finding(&s, "register 2 is read where nothing wrote it");
}
END_TEST

START_TEST(undefined_source_reads)
{
    sample s;
    open_sample(&s);
    pl_ir_remove(&s.x, at(&s, 0));
    ck_assert_int_eq(pl_ir_verify_open(&s.v, &s.x), PL_OK);
    ck_assert(s.v.undefined_reads);
    ck_assert_int_eq(pl_ir_verify(&s.v, &s.x, false, s.why, sizeof s.why), PL_OK);
    close_sample(&s);
}
END_TEST

START_TEST(printer_shows_blocks_and_constants)
{
    sample s;
    open_sample(&s);
    const pl_ir_text t = pl_ir_print(&s.x, "gvn");
    ck_assert_str_eq(t.at, "; f after gvn\n"
                           "bb0:\n"
                           "    add.u32 R2, #5, #6\n"
                           "    add.u32 R3, R2, R2\n"
                           "    ret\n");
    close_sample(&s);
}
END_TEST

START_TEST(pass_name_lookup)
{
    for (int k = 0; k < PL_PASS_COUNT; k++) {
        ck_assert_int_eq(pl_pass_find(pl_passes[k].name, strlen(pl_passes[k].name)), k);
        ck_assert(strchr(pl_passes[k].summary, '.'));
    }
    ck_assert_int_eq(pl_pass_find("lic", 3), PL_PASS_COUNT);
}
END_TEST

START_TEST(finding_message)
{
    pl_gpu *gpu;
    pl_pass_options o;
    ck_assert_int_eq(pl_gpu_open(&gpu, NULL), PL_OK);
    ck_assert_int_eq(pl_passes_begin(gpu, NULL, &o), PL_OK);
    strcpy(o.finding, "after gvn, in f: register 2 is read where nothing wrote it");
    ck_assert_int_eq(pl_passes_end(gpu, NULL, &o, PL_INVALID), PL_INVALID);
    static const struct {
        const char *id;
        int column;
    } expected = {"E0014", 0};
    ck_assert_uint_eq(gpu->diags.list.n, 1);
    ck_assert_str_eq(pl_diag_code(gpu->diags.list.at[0].id), expected.id);
    pl_gpu_close(gpu);
}
END_TEST

START_TEST(built_in_tuning)
{
    pl_arena *a = pl_arena_open();
    pl_diags d;
    const pl_tuning *read;
    pl_diags_init(&d, a);
    ck_assert_int_eq(pl_tuning_read(a, &d, NULL, &read), PL_OK);
    ck_assert_int_eq(memcmp(read, &pl_target_tuning, sizeof *read), 0);
    ck_assert_int_eq(pl_tuning_read(a, &d, "if_convert.max_insns=11", &read), PL_OK);
    ck_assert_int_ne(memcmp(read, &pl_target_tuning, sizeof *read), 0);
    pl_arena_close(a);
}
END_TEST

UNIT_MAIN("passes", built_in_tuning, verifier_finds_registers_out_of_range,
          verifier_finds_writes_of_constants, verifier_finds_predicates_out_of_range,
          verifier_finds_modifiers_of_other_forms, verifier_finds_missing_blocks,
          verifier_finds_code_after_the_end, verifier_finds_new_undefined_reads,
          undefined_source_reads, printer_shows_blocks_and_constants, pass_name_lookup,
          finding_message)
