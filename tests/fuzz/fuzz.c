/* fuzz.c - corrupted modules, launch files and machine files are rejected or run, without a
 * crash, a hang or a leak.
 *
 * Takes the recorded launch files and kernels, the .ptx tests and the machine files, corrupts one
 * or both files of a launch in one to eight places and passes them to the ptxloom command. It must
 * end with 0 (ran), 1 (the kernel failed) or 2 (rejected), and with --json print JSON. A corrupted
 * kernel may loop forever: after RUN_SECONDS it is interrupted and must stop with 3 (retried once
 * with a longer limit, for busy machines). In a build with --enable-sanitizers every report of a
 * sanitizer is a failure too.
 *
 *     tests/fuzz/fuzz [RUNS [SEED]]     the same arguments give the same runs; failing inputs are
 *       kept in fuzz-failures/ */
#include "tests/harness.h"
#include <glob.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DEFAULT_RUNS 150
#define RUN_SECONDS  3
#define MAX_FILE     ((size_t)200000)

typedef struct text {
    char *at;
    size_t n;
} text;

typedef struct corpus {
    glob_t cases, modules, machines;
} corpus;

static uint64_t state;

/* A random number below n (splitmix64). */
static size_t below(size_t n)
{
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    return n ? (size_t)(z % n) : 0;
}

/* ---- corruption ---- */

/* Replaces `remove` bytes at `at` by n bytes of s. */
static void splice(text *t, size_t at, size_t remove, const char *s, size_t n)
{
    if (at > t->n) at = t->n;
    if (remove > t->n - at) remove = t->n - at;
    if (t->n - remove + n > MAX_FILE) return;
    char *copy = malloc(n + 1), *bigger = malloc(t->n - remove + n + 1);
    if (!copy || !bigger) exit(EXIT_FAILURE);
    memcpy(copy, s, n);
    memcpy(bigger, t->at, at);
    memcpy(bigger + at, copy, n);
    memcpy(bigger + at + n, t->at + at + remove, t->n - at - remove);
    free(copy);
    free(t->at);
    t->at = bigger;
    t->n = t->n - remove + n;
    t->at[t->n] = '\0';
}

static bool in_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '%';
}

/* Start and length of a word at or after a random position. */
static size_t pick_word(const text *t, size_t *n)
{
    size_t i = below(t->n);
    while (i < t->n && !in_word(t->at[i])) i++;
    while (i > 0 && in_word(t->at[i - 1])) i--;
    *n = 0;
    while (i + *n < t->n && in_word(t->at[i + *n])) ++*n;
    return i;
}

static size_t pick_number(const text *t, size_t *n)
{
    size_t i = below(t->n);
    while (i < t->n && !(t->at[i] >= '0' && t->at[i] <= '9')) i++;
    *n = 0;
    while (i + *n < t->n && t->at[i + *n] >= '0' && t->at[i + *n] <= '9') ++*n;
    return i;
}

static size_t pick_line(const text *t, size_t *n)
{
    size_t i = below(t->n);
    while (i > 0 && t->at[i - 1] != '\n') i--;
    *n = 0;
    while (i + *n < t->n && t->at[i + (*n)++] != '\n') continue;
    return i;
}

static void damage_once(text *t, const text *other)
{
    static const char *const number[] = {"0",
                                         "-1",
                                         "1",
                                         "2147483648",
                                         "4294967295",
                                         "4294967296",
                                         "18446744073709551616",
                                         "0x7fffffffffffffff",
                                         "1e308",
                                         "0f7FC00000",
                                         "99999999999999999999",
                                         "1025",
                                         "3"};
    static const char mark[] = "{}[]();,.:@!%+-<>\"'\\=#/*|0\n \t";
    size_t n, m, i, k;
    char c;
    switch (below(11)) {
    case 0:
        c = (char)below(256);
        splice(t, below(t->n), 1, &c, 1);
        break;
    case 1: splice(t, below(t->n), below(2), &mark[below(sizeof mark - 1)], 1); break;
    case 2: splice(t, below(t->n), 1 + below(40), "", 0); break;
    case 3:
        i = below(t->n);
        n = 1 + below(200);
        splice(t, below(t->n), 0, t->at + i, n < t->n - i ? n : t->n - i);
        break;
    case 4:
    case 5:
        i = pick_number(t, &n);
        k = below(sizeof number / sizeof *number);
        splice(t, i, n, number[k], strlen(number[k]));
        break;
    case 6:
        i = pick_word(t, &n);
        k = pick_word(other, &m);
        splice(t, i, n, other->at + k, m);
        break;
    case 7:
        i = pick_word(t, &n);
        k = pick_word(t, &m);
        splice(t, i, n, t->at + k, m);
        break;
    case 8:
        i = pick_line(t, &n);
        splice(t, i, n, "", 0);
        break;
    case 9:
        i = pick_line(t, &n);
        splice(t, pick_line(t, &m), 0, t->at + i, n);
        break;
    default:
        if (below(8) == 0)
            splice(t, below(t->n), t->n, "", 0);
        else
            splice(t, pick_word(t, &n), 0, ".", 1);
        break;
    }
}

/* Two words of the file that begin with the same character, such as two registers: the second
 * replaces the first. */
static void exchange_alike(text *t)
{
    size_t n, m, i = pick_word(t, &n), k = i;
    for (int tries = 0; tries < 50 && n > 0; tries++) {
        k = pick_word(t, &m);
        if (m == 0 || t->at[k] != t->at[i]) continue;
        splice(t, i, n, t->at + k, m);
        return;
    }
}

/* Half of the corruptions leave most files well-formed, to reach the later stages. */
static void damage(text *t, const text *other)
{
    size_t times = 1;
    while (times < 8 && below(2)) times++;
    bool gentle = below(2) == 0;
    for (; times > 0; times--) {
        if (gentle)
            exchange_alike(t);
        else
            damage_once(t, other);
    }
}

/* ---- files ---- */

static text load(const char *path)
{
    text t;
    t.at = read_whole(path, &t.n);
    return t;
}

static void store(const char *path, const text *t)
{
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(t->at, 1, t->n, f) != t->n || fclose(f) != 0) {
        printf("Bail out! cannot write %s\n", path);
        exit(EXIT_FAILURE);
    }
}

static const char *pick(const glob_t *g)
{
    return g->gl_pathv[below(g->gl_pathc)];
}

/* Replaces the text between the quotes, or brackets, after "KEY": of a launch file. */
static void set_value(text *t, const char *key, char open, char close, const char *value)
{
    char *at = strstr(t->at, key);
    char *from = at ? strchr(at + strlen(key), open) : NULL;
    char *to = from ? strchr(from + 1, close) : NULL;
    if (to) splice(t, (size_t)(from + 1 - t->at), (size_t)(to - from - 1), value, strlen(value));
}

/* The path of the module that a launch file names, relative to the recorded cases. */
static text load_module_of(const text *launch)
{
    char relative[512] = "";
    const char *at = strstr(launch->at, "\"ptx\":");
    if (at) sscanf(at, "\"ptx\": \"%400[^\"]\"", relative);
    char name[600];
    snprintf(name, sizeof name, "suite/cases/%s", relative);
    char *path = data_path(name);
    text t = load(path);
    free(path);
    return t;
}

/* ---- checks ---- */

typedef struct tally {
    int runs, ended[4], interrupted, bad;
} tally;

/* "" or the error in how the command ended. */
static const char *judge(const run_result *r, bool json, tally *t)
{
    t->runs++;
    if (r->status == RUN_TIMEOUT) return "it hangs";
    if (strstr(r->err, "Sanitizer") || strstr(r->err, "runtime error:"))
        return "a sanitizer reported an error";
    if (r->status > 3 || (r->status == 3 && !r->interrupted))
        return "it ended with a status other than 0, 1 and 2";
    t->ended[r->status]++;
    t->interrupted += r->interrupted;
    if (r->status == 2 && r->nerr == 0 && !(json && strstr(r->out, "diagnostics")))
        return "it was rejected without a message";
    if (json && r->status < 2 && !r->interrupted) {
        json_t *document = json_loadb(r->out, r->nout, 0, NULL);
        if (!document) return "it printed no JSON";
        json_decref(document);
    }
    return "";
}

static void keep(const char *scratch, int run)
{
    char target[64];
    snprintf(target, sizeof target, "fuzz-failures/%d", run);
    mkdir("fuzz-failures", 0777);
    const char *const argv[] = {"cp", "-r", scratch, target, NULL};
    run_result r = run_command(argv, 60);
    run_free(&r);
}

/* Creates the files of run number `run` in the scratch folder and runs them. */
static void run_once(const corpus *c, const char *scratch, int run, tally *t)
{
    char launch_path[600], module_path[600], machine_path[600];
    snprintf(launch_path, sizeof launch_path, "%s/launch.json", scratch);
    snprintf(module_path, sizeof module_path, "%s/module.ptx", scratch);
    snprintf(machine_path, sizeof machine_path, "%s/machine.conf", scratch);
    text other = load(pick(&c->modules));
    const char *argv[10] = {loom_path()};
    bool json = false;
    size_t what = below(8);
    if (what == 0 && c->machines.gl_pathc > 0) {
        text machine = load(pick(&c->machines));
        damage(&machine, &other);
        store(machine_path, &machine);
        free(machine.at);
        char *example = data_path("../../examples/saxpy.ptx");
        text module = load(example);
        store(module_path, &module);
        free(module.at);
        free(example);
        const char *const rest[] = {"check", module_path, "--arch", machine_path, NULL};
        memcpy(argv + 1, rest, sizeof rest);
    } else if (what == 1) {
        text module = load(pick(&c->modules));
        damage(&module, &other);
        store(module_path, &module);
        free(module.at);
        const char *const rest[] = {"check", module_path, NULL};
        memcpy(argv + 1, rest, sizeof rest);
    } else {
        text launch = load(pick(&c->cases)), module = load_module_of(&launch);
        set_value(&launch, "\"ptx\":", '"', '"', "module.ptx");
        set_value(&launch, "\"grid\":", '[', ']', "2, 1, 1");
        if (what != 2) damage(&module, &other);
        if (what == 2 || what == 3) damage(&launch, &launch);
        store(launch_path, &launch);
        store(module_path, &module);
        free(launch.at);
        free(module.at);
        json = true;
        const char *const rest[] = {
            "run", launch_path, "--mode", what == 4 ? "timing" : "functional", "--json", NULL};
        memcpy(argv + 1, rest, sizeof rest);
    }
    free(other.at);
    run_result r = run_command(argv, RUN_SECONDS);
    if (r.status == RUN_TIMEOUT) { /* a second try, in case the machine was busy */
        run_free(&r);
        r = run_command(argv, 20 * RUN_SECONDS);
    }
    const char *wrong = judge(&r, json, t);
    if (*wrong) {
        t->bad++;
        tap_note("run %d: %s (status %d): %s %s; files in fuzz-failures/%d", run, wrong, r.status,
                 argv[1], argv[2], run);
        tap_note("%.1500s", r.err);
        keep(scratch, run);
    }
    run_free(&r);
}

int main(int argc, char **argv)
{
    int runs = argc > 1 ? atoi(argv[1]) : DEFAULT_RUNS;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
    setenv("ASAN_OPTIONS", "exitcode=99:allocator_may_return_null=1", 1);
    setenv("LSAN_OPTIONS", "exitcode=99", 1);
    setenv("UBSAN_OPTIONS", "exitcode=99:print_stacktrace=1", 1);
    corpus c = {0};
    char *path = data_path("suite/cases/*.json");
    glob(path, 0, NULL, &c.cases);
    free(path);
    static const char *const modules[] = {"suite/kernels/*.ptx", "../ptx/*/*.ptx",
                                          "../ptx/*/*/*.ptx", "../../examples/*.ptx"};
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
        path = data_path(modules[i]);
        glob(path, i ? GLOB_APPEND : 0, NULL, &c.modules);
        free(path);
    }
    path = data_path("../../arch/*.conf");
    glob(path, 0, NULL, &c.machines);
    free(path);
    if (c.cases.gl_pathc < 10 || c.modules.gl_pathc < 10) {
        printf("Bail out! no launch files or modules to damage\n");
        return EXIT_FAILURE;
    }
    char *scratch = scratch_make();
    tally t = {0};
    for (int i = 0; i < runs; i++) {
        state = seed * 1000003u + (uint64_t)i;
        run_once(&c, scratch, i, &t);
    }
    tap(t.bad == 0,
        "%d corrupted inputs: %d ran, %d failed while running, %d rejected, %d interrupted", t.runs,
        t.ended[0], t.ended[1], t.ended[2], t.interrupted);
    scratch_remove(scratch);
    globfree(&c.cases);
    globfree(&c.modules);
    globfree(&c.machines);
    return tap_done();
}
