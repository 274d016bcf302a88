/* litmus.c - random litmus tests: memory shows only outcomes permitted by the model.
 *
 * Each test has one to three variables and two to four threads of loads, stores, atomic
 * operations, fences and barriers, of all orders and scopes, in the same or different blocks and
 * clusters. With strong consistency only outcomes of interleavings are permitted, with weak
 * consistency those that the axioms allow; the test also checks that the latter exceed the former.
 *
 *     tests/fuzz/litmus [TESTS [SEED]]     the same arguments give the same tests; failing ones
 *       are kept in fuzz-failures/ */
#include "ptxloom.h"
#include "tests/harness.h"
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DEFAULT_TESTS 50
#define RUNS          512

static uint64_t state;

/* A random number below n (splitmix64). */
static unsigned below(unsigned n)
{
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (unsigned)((z ^ z >> 31) % n);
}

#define PICK(...)                                                                                  \
    pick(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *), (const char *[]){__VA_ARGS__})
static const char *pick(size_t n, const char *const *from)
{
    return from[below((unsigned)n)];
}

/* A test under construction. */
typedef struct test {
    char text[4096];
    size_t n;
    unsigned vars, threads, reads;
    bool narrow;       /* scopes of all kinds; otherwise wide ones */
    const char *space; /* of the variables */
} test;

static void put(test *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put(test *t, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    t->n += (size_t)vsnprintf(t->text + t->n, sizeof t->text - t->n, fmt, ap);
    va_end(ap);
}

static const char *scope(const test *t)
{
    return t->narrow ? PICK("cta", "cluster", "gpu", "sys") : PICK("gpu", "gpu", "sys");
}

/* ".relaxed.gpu" and similar; the plain orders have no scope. */
static void order(test *t, const char *word)
{
    if (strcmp(word, "weak") == 0 || strcmp(word, "volatile") == 0)
        put(t, ".%s", word);
    else
        put(t, ".%s.%s", word, scope(t));
}

/* One statement of a thread whose next free register is *reg. */
static void statement(test *t, unsigned *reg)
{
    unsigned kind = below(20), var = below(t->vars);
    char value[16];
    if (*reg && below(4) == 0)
        snprintf(value, sizeof value, "r%u", below(*reg));
    else
        snprintf(value, sizeof value, "%u", 1 + below(3));
    bool reads = kind < 7 || (kind >= 13 && kind < 17);
    /* The number of executions grows with every read. */
    if (reads && t->reads == 7)
        kind = 7;
    else
        t->reads += reads;
    if (kind < 7) {
        put(t, "    ld");
        order(t, PICK("weak", "volatile", "relaxed", "relaxed", "acquire", "acquire"));
        put(t, ".%s.u32 r%u, [v%u];\n", t->space, (*reg)++, var);
    } else if (kind < 13) {
        put(t, "    st");
        order(t, PICK("weak", "volatile", "relaxed", "relaxed", "release", "release"));
        put(t, ".%s.u32 [v%u], %s;\n", t->space, var, value);
    } else if (kind < 16) {
        const char *op = PICK("exch.b32", "add.u32", "inc.u32", "cas.b32");
        put(t, "    atom");
        order(t, PICK("relaxed", "acquire", "release", "acq_rel"));
        put(t, ".%s.%s r%u, [v%u], %s%s;\n", t->space, op, *reg, var, op[0] == 'c' ? "0, " : "",
            op[0] == 'i' ? "9" : value);
        ++*reg;
    } else if (kind < 17) {
        put(t, "    red");
        order(t, PICK("relaxed", "release"));
        put(t, ".%s.add.u32 [v%u], %s;\n", t->space, var, value);
    } else if (kind < 19 || t->space[0] == 's')
        put(t, "    fence.%s.%s;\n", PICK("sc", "sc", "acq_rel", "acquire", "release"), scope(t));
    else
        put(t, "    bar.sync 0;\n");
}

static void make(test *t)
{
    static const unsigned longest[] = {0, 0, 5, 4, 3};
    unsigned cluster = 1 + (below(3) == 0), blocks;
    *t = (test){.vars = 1 + below(3),
                .threads = 2 + below(3),
                .narrow = below(2),
                .space = PICK("global", "global", "global", "shared::cluster")};
    bool shared = t->space[0] == 's';
    blocks = shared ? cluster : t->narrow ? 3 : 4;
    put(t, "litmus \"made at random\";\ncluster %u;\n%s ", cluster, shared ? "shared" : "global");
    for (unsigned k = 0; k < t->vars; k++) {
        put(t, "%sv%u", k ? ", " : "", k);
        if (shared) put(t, " @ cta %u", below(blocks));
    }
    put(t, ";\n");
    for (unsigned k = 0; k < t->threads; k++) {
        unsigned reg = 0;
        /* Every block has a thread. */
        put(t, "thread %u @ cta %u {\n", k, shared && k < blocks ? k : below(blocks));
        for (unsigned n = 1 + below(longest[t->threads]); n > 0; n--) statement(t, &reg);
        put(t, "}\n");
    }
    put(t, "exists");
    /* All variables are part of an outcome. */
    for (unsigned k = 0; k < t->vars; k++) put(t, "%s v%u != 77", k ? " &&" : "", k);
    put(t, ";\n");
}

/* True if the test passes. *beyond: counts tests with outcomes that no interleaving produces. */
static bool check(pl_gpu *gpu, const char *path, unsigned *beyond)
{
    pl_litmus *l;
    pl_litmus_report r;
    bool more = false, ok = pl_litmus_load(gpu, path, 0, &l) == PL_OK;
    ok = ok && pl_litmus_run(l, false, RUNS, 1) == PL_OK &&
         pl_litmus_run(l, true, RUNS, 1) == PL_OK && pl_litmus_result(l, &r) == PL_OK;
    for (size_t k = 0; k < pl_gpu_diag_count(gpu); k++)
        tap_note("%s", pl_gpu_diag(gpu, k, false).rendered);
    for (size_t k = 0; ok && k < r.n; k++) {
        const pl_litmus_row *x = &r.row[k];
        more |= x->weak && !x->sequential;
        if ((!x->strong || x->sequential) && x->allowed) continue;
        tap_note("%s: seen %s: %s", path,
                 x->allowed ? "with strong consistency, but no interleaving" : "though forbidden",
                 x->text);
        ok = false;
        break;
    }
    *beyond += more;
    if (l) pl_litmus_close(l);
    pl_gpu_diag_clear(gpu);
    return ok;
}

int main(int argc, char **argv)
{
    unsigned tests = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : DEFAULT_TESTS, bad = 0,
             beyond = 0;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    pl_gpu *gpu;
    if (pl_gpu_open(&gpu, "h200") != PL_OK) return EXIT_FAILURE;
    mkdir("fuzz-failures", 0777);
    for (unsigned k = 0; k < tests; k++) {
        char path[64];
        test t;
        state = seed * 1000003u + k;
        make(&t);
        snprintf(path, sizeof path, "fuzz-failures/litmus-%u.litmus", k);
        FILE *f = fopen(path, "w");
        if (!f || fwrite(t.text, 1, t.n, f) != t.n || fclose(f) != 0) return EXIT_FAILURE;
        if (check(gpu, path, &beyond))
            remove(path);
        else
            bad++;
    }
    remove("fuzz-failures"); /* only if it is empty */
    pl_gpu_close(gpu);
    tap(bad == 0 && beyond > tests / 4,
        "%u random litmus tests, %u of which show more than interleavings, and none more than the "
        "axioms allow",
        tests, beyond);
    return tap_done();
}
