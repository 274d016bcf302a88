/* test_litmus.c - the axioms of the PTX memory model compared with published verdicts, and with
 * properties that every model must have.
 *
 * Sources of verdicts:
 *   [PTX] PTX ISA 9.0, chapter "Memory Consistency Model", section "Axioms": its examples
 *   [LSG] Lustig, Sahasrabuddhe, Giroux, "A Formal Analysis of the NVIDIA PTX Memory Consistency
 *         Model", ASPLOS 2019
 *   [C11] outcomes of ISO C11 atomics (as in Batty et al., POPL 2011); [LSG] proves the mapping,
 *     so PTX must forbid whatever C11 forbids */
#include "litmus/litmus.h"
#include "tests/unit/unit.h"
#include <glob.h>
#include <stdio.h>
#include <string.h>

/* Threads are statements; W(x,1,how) and R(r0,x,how) abbreviate them. */
#define W(v, x, how) "st." how ".u32 [" #v "], " #x ";"
#define R(r, v, how) "ld." how ".u32 " #r ", [" #v "];"
#define RELAXED      "relaxed.gpu"
#define SC           "fence.sc.gpu;"
#define AR           "fence.acq_rel.gpu;"
#define NARROW       "fence.sc.cta;"

static const struct {
    const char *source, *name, *threads[4], *condition;
    bool allowed;
} verdict[] = {
    {"PTX",
     "atomicity, first example",
     {"atom.sys.inc.u32 r0, [x], 9;", "atom.sys.inc.u32 r0, [x], 9;"},
     "x != 2",
     false},
    {"PTX",
     "atomicity, second example",
     {"atom.cta.inc.u32 r0, [x], 9;", "atom.gpu.inc.u32 r0, [x], 9;"},
     "x == 1",
     true},
    {"PTX",
     "load buffering with true dependencies",
     {R(r0, x, RELAXED) W(y, r0, RELAXED), R(r0, y, RELAXED) W(x, r0, RELAXED)},
     "x != 0 || y != 0",
     false},
    {"PTX",
     "coherent reads",
     {W(x, 1, RELAXED), R(r0, x, RELAXED) R(r1, x, RELAXED)},
     "1:r0 == 1 && 1:r1 == 0",
     false},
    {"PTX",
     "message passing with fences",
     {W(x, 1, "weak") AR W(y, 1, RELAXED), R(r0, y, RELAXED) AR R(r1, x, "weak")},
     "1:r0 == 1 && 1:r1 == 0",
     false},
    {"PTX",
     "store buffering with fence.sc",
     {W(x, 1, RELAXED) SC R(r0, y, RELAXED), W(y, 1, RELAXED) SC R(r0, x, RELAXED)},
     "0:r0 == 0 && 1:r0 == 0",
     false},
    {"LSG",
     "store buffering with fence.acq_rel",
     {W(x, 1, RELAXED) AR R(r0, y, RELAXED), W(y, 1, RELAXED) AR R(r0, x, RELAXED)},
     "0:r0 == 0 && 1:r0 == 0",
     true},
    {"LSG",
     "fence.sc with scopes too narrow",
     {W(x, 1, RELAXED) NARROW R(r0, y, RELAXED), W(y, 1, RELAXED) NARROW R(r0, x, RELAXED)},
     "0:r0 == 0 && 1:r0 == 0",
     true},
    {"LSG",
     "races are not undefined behaviour, but unordered",
     {W(x, 1, "weak"), R(r0, x, "weak") R(r1, x, "weak")},
     "1:r0 == 1 && 1:r1 == 0",
     true},
    {"LSG",
     "independent reads with acquire are not ordered",
     {W(x, 1, "release.gpu"), W(y, 1, "release.gpu"),
      R(r0, x, "acquire.gpu") R(r1, y, "acquire.gpu"),
      R(r0, y, "acquire.gpu") R(r1, x, "acquire.gpu")},
     "2:r0 == 1 && 2:r1 == 0 && 3:r0 == 1 && 3:r1 == 0",
     true},
    {"LSG",
     "independent reads with fence.sc are",
     {W(x, 1, RELAXED), W(y, 1, RELAXED), R(r0, x, RELAXED) SC R(r1, y, RELAXED),
      R(r0, y, RELAXED) SC R(r1, x, RELAXED)},
     "2:r0 == 1 && 2:r1 == 0 && 3:r0 == 1 && 3:r1 == 0",
     false},
    {"LSG",
     "release and acquire whose scopes do not include each other",
     {W(x, 1, "weak") W(y, 1, "release.cta"), R(r0, y, "acquire.gpu") R(r1, x, "weak")},
     "1:r0 == 1 && 1:r1 == 0",
     true},
    {"C11",
     "message passing, relaxed",
     {W(x, 1, RELAXED) W(y, 1, RELAXED), R(r0, y, RELAXED) R(r1, x, RELAXED)},
     "1:r0 == 1 && 1:r1 == 0",
     true},
    {"C11",
     "message passing, release and acquire",
     {W(x, 1, RELAXED) W(y, 1, "release.gpu"), R(r0, y, "acquire.gpu") R(r1, x, RELAXED)},
     "1:r0 == 1 && 1:r1 == 0",
     false},
    {"C11",
     "write-to-read causality, release and acquire",
     {W(x, 1, RELAXED), R(r0, x, RELAXED) W(y, 1, "release.gpu"),
      R(r0, y, "acquire.gpu") R(r1, x, RELAXED)},
     "1:r0 == 1 && 2:r0 == 1 && 2:r1 == 0",
     false},
    {"C11",
     "release sequence through a read-modify-write",
     {W(x, 1, RELAXED) W(y, 1, "release.gpu"), "atom.relaxed.gpu.add.u32 r0, [y], 1;",
      R(r0, y, "acquire.gpu") R(r1, x, RELAXED)},
     "2:r0 == 2 && 1:r0 == 1 && 2:r1 == 0",
     false},
    {"C11",
     "two plus two writes, relaxed",
     {W(x, 1, RELAXED) W(y, 2, RELAXED), W(y, 1, RELAXED) W(x, 2, RELAXED)},
     "x == 1 && y == 1",
     true},
    {"C11",
     "two plus two writes, sequentially consistent fences",
     {W(x, 1, RELAXED) SC W(y, 2, RELAXED), W(y, 1, RELAXED) SC W(x, 2, RELAXED)},
     "x == 1 && y == 1",
     false},
    {"C11",
     "load buffering, relaxed",
     {R(r0, x, RELAXED) W(y, 1, RELAXED), R(r0, y, RELAXED) W(x, 1, RELAXED)},
     "0:r0 == 1 && 1:r0 == 1",
     true},
    {"C11",
     "load buffering, release and acquire",
     {R(r0, x, "acquire.gpu") W(y, 1, "release.gpu"),
      R(r0, y, "acquire.gpu") W(x, 1, "release.gpu")},
     "0:r0 == 1 && 1:r0 == 1",
     false},
    {"C11",
     "read-to-write causality, sequentially consistent fences",
     {W(x, 1, RELAXED), R(r0, x, RELAXED) SC R(r1, y, RELAXED),
      W(y, 1, RELAXED) SC R(r0, x, RELAXED)},
     "1:r0 == 1 && 1:r1 == 0 && 2:r0 == 0",
     false},
    {"C11",
     "coherence of writes that are read in two orders",
     {W(x, 1, RELAXED), W(x, 2, RELAXED), R(r0, x, RELAXED) R(r1, x, RELAXED),
      R(r0, x, RELAXED) R(r1, x, RELAXED)},
     "2:r0 == 1 && 2:r1 == 2 && 3:r0 == 2 && 3:r1 == 1",
     false},
};

static void parse(const char *text, size_t bytes, pl_litmus_test *t)
{
    pl_arena *a = pl_arena_open();
    pl_diags d;
    pl_diags_init(&d, a);
    pl_status st = pl_litmus_parse(&d, pl_diags_add_file(&d, "test", text, bytes), text, bytes, t);
    if (st != PL_OK && d.list.n) fprintf(stderr, "%s", pl_diag_render(&d, &d.list.at[0], false));
    ck_assert_int_eq(st, PL_OK);
    pl_arena_close(a);
}

/* True if the condition holds in an outcome of the set. */
static bool some(const pl_litmus_test *t, const pl_litmus_set *s)
{
    for (size_t k = 0; k < s->n; k++)
        if (pl_litmus_holds(t, &s->at[k])) return true;
    return false;
}

START_TEST(published_verdicts)
{
    int wrong = 0;
    for (size_t k = 0; k < sizeof verdict / sizeof *verdict; k++) {
        char text[2048];
        int n = snprintf(text, sizeof text, "litmus \"%s\"; global x, y;", verdict[k].name);
        for (int i = 0; i < 4 && verdict[k].threads[i]; i++) /* every thread in its own block */
            n += snprintf(text + n, sizeof text - (size_t)n, "thread %d @ cta %d { %s }\n", i, i,
                          verdict[k].threads[i]);
        n += snprintf(text + n, sizeof text - (size_t)n, "exists %s;", verdict[k].condition);
        pl_litmus_test t;
        pl_litmus_set s = {0};
        parse(text, (size_t)n, &t);
        ck_assert_int_eq(pl_litmus_allowed(&t, &s), PL_OK);
        if (some(&t, &s) != verdict[k].allowed) {
            fprintf(stderr, "[%s] %s: should be %s\n", verdict[k].source, verdict[k].name,
                    verdict[k].allowed ? "allowed" : "forbidden");
            wrong++;
        }
        pl_litmus_set_free(&s);
    }
    ck_assert_int_eq(wrong, 0);
}
END_TEST

/* Every interleaving satisfies the axioms, for any instructions: true of all shipped tests. */
START_TEST(interleavings_are_allowed)
{
    char pattern[4096], text[8192];
    const char *root = getenv("abs_srcdir");
    glob_t files = {0};
    snprintf(pattern, sizeof pattern, "%s/tests/litmus/*.litmus", root ? root : ".");
    glob(pattern, 0, NULL, &files);
    ck_assert_uint_ge(files.gl_pathc, 40);
    for (size_t k = 0; k < files.gl_pathc; k++) {
        FILE *f = fopen(files.gl_pathv[k], "r");
        ck_assert_ptr_nonnull(f);
        size_t n = fread(text, 1, sizeof text, f);
        fclose(f);
        pl_litmus_test t;
        pl_litmus_set allowed = {0}, interleaved = {0};
        parse(text, n, &t);
        ck_assert_int_eq(pl_litmus_allowed(&t, &allowed), PL_OK);
        ck_assert_int_eq(pl_litmus_sequential(&t, &interleaved), PL_OK);
        ck_assert_uint_gt(interleaved.n, 0);
        for (size_t i = 0; i < interleaved.n; i++)
            ck_assert_msg(pl_litmus_set_has(&allowed, &t, &interleaved.at[i]),
                          "%s: an interleaving is forbidden", files.gl_pathv[k]);
        pl_litmus_set_free(&allowed);
        pl_litmus_set_free(&interleaved);
    }
    globfree(&files);
}
END_TEST

START_TEST(conditions)
{
    static const char text[] =
        "litmus \"\"; global x = 0x10; thread 0 @ cta 0 { add.u32 r0, r1, -1; st.weak.u32 [x], r0; "
        "} // comment\n"
        "forall !(x == 1 && 0:r0 == 4294967295) && (x != 1 || 0:r0 == 7) /* and */ unseen \"why\";";
    pl_litmus_test t;
    pl_litmus_set s = {0};
    parse(text, sizeof text - 1, &t);
    ck_assert_int_eq(pl_litmus_allowed(&t, &s), PL_OK);
    ck_assert_uint_eq(s.n, 1);
    ck_assert(pl_litmus_holds(&t, &s.at[0]));
    ck_assert_str_eq(t.unseen, "why");
    ck_assert_uint_eq(t.var[0].init, 16);
    pl_litmus_outcome o = {{0}};
    o.value[0] = 1; /* x: the first location in the condition */
    o.value[1] = 5;
    ck_assert(!pl_litmus_holds(&t, &o));
    o.value[1] = 7;
    ck_assert(pl_litmus_holds(&t, &o));
    pl_litmus_set_free(&s);
}
END_TEST

UNIT_MAIN("litmus", published_verdicts, interleavings_are_allowed, conditions)
