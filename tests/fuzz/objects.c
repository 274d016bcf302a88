/* objects.c - corrupted objects and corrupted programs in text form are rejected or run, without
 * a crash, a hang or a leak.
 *
 * Modules of the suite and of tests/ptx are assembled in this process. Each run changes an object,
 * or its text form, in one to eight places: bytes, numbers (0, 1, the largest, one more or less),
 * swapped and repeated pieces, truncation. Half of the objects get a valid hash again, so that the
 * later checks are reached. If it still loads, the program is saved again in both forms and its
 * first kernel is launched for a fraction of a second. Runs execute in child processes, BATCH to
 * each; the runs of a crashed one are separated.
 *
 *     tests/fuzz/objects [RUNS [SEED]]     the same arguments give the same runs; failing inputs
 *       are kept in fuzz-failures/ */
#include "isa/object/elf_layout.h"
#include "ptxloom.h"
#include "tests/fuzz/input.h"
#include "tests/harness.h"
#include <glob.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_RUNS        600
#define BATCH               50
#define BATCH_SECONDS       240
#define LAUNCH_MICROSECONDS 20000
#define MAX_SEEDS           256

typedef struct bytes {
    char *at;
    size_t n;
} bytes;

static bytes seeds[MAX_SEEDS];
static size_t nseeds;
static uint64_t state;
static volatile int stop;

/* A random number below n (splitmix64). */
static size_t below(size_t n)
{
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    return n ? (size_t)(z % n) : 0;
}

static bool is_elf(const bytes *b)
{
    return b->n > SELFMAG && memcmp(b->at, ELFMAG, SELFMAG) == 0;
}

/* ---- inputs ---- */

static void add_seed(pl_module *m, pl_save_form form)
{
    const char *at;
    size_t n;
    if (nseeds == MAX_SEEDS || pl_module_save(m, form, &at, &n) != PL_OK || n > 200000) return;
    seeds[nseeds].at = malloc(n);
    if (!seeds[nseeds].at) exit(EXIT_FAILURE);
    memcpy(seeds[nseeds].at, at, n);
    seeds[nseeds++].n = n;
}

static void assemble(const char *path)
{
    pl_gpu *gpu;
    pl_module *m;
    const pl_load_options o = {.opt_level = nseeds & 2 ? 0 : 2};
    if (pl_gpu_open(&gpu, NULL) != PL_OK) exit(EXIT_FAILURE);
    if (pl_module_load_file(gpu, path, &o, &m) == PL_OK) {
        add_seed(m, PL_SAVE_OBJECT);
        if (nseeds % 3 == 0) add_seed(m, PL_SAVE_TEXT);
        pl_module_close(m);
    }
    pl_gpu_close(gpu);
}

static void make_seeds(void)
{
    static const char *const patterns[] = {"suite/kernels/*.ptx", "../ptx/exec/*/*.ptx",
                                           "../ptx/accept/*.ptx"};
    glob_t files = {0};
    for (size_t k = 0; k < sizeof patterns / sizeof *patterns; k++) {
        char *path = data_path(patterns[k]);
        glob(path, k ? GLOB_APPEND : 0, NULL, &files);
        free(path);
    }
    for (size_t k = 0; k < files.gl_pathc; k++) assemble(files.gl_pathv[k]);
    globfree(&files);
}

/* ---- corruption ---- */

/* A position in a nonempty section, or else anywhere. */
static size_t pick(const bytes *b)
{
    uint64_t headers, offset, size;
    if (!is_elf(b) || below(4) == 0 || b->n < sizeof(Elf64_Ehdr)) return below(b->n);
    memcpy(&headers, b->at + offsetof(Elf64_Ehdr, e_shoff), 8);
    size_t s = 1 + below(PL_S_COUNT - 1);
    if (headers > b->n || (s + 1) * sizeof(Elf64_Shdr) > b->n - headers) return below(b->n);
    if (below(16) == 0) return (size_t)headers + below(PL_S_COUNT * sizeof(Elf64_Shdr));
    memcpy(&offset, b->at + headers + s * sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, sh_offset), 8);
    memcpy(&size, b->at + headers + s * sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, sh_size), 8);
    return size && offset < b->n && size <= b->n - offset ? (size_t)offset + below((size_t)size)
                                                          : below(b->n);
}

static void damage_once(bytes *b)
{
    static const uint64_t number[] = {
        0,   1,     2,          3,           7,           8,          15,
        31,  32,    63,         64,          127,         128,        255,
        256, 65535, 0x7fffffff, 0x80000000u, 0xffffffffu, UINT64_MAX, (uint64_t)INT64_MAX};
    static const size_t widths[] = {1, 2, 4, 8};
    size_t at = pick(b), width = widths[below(4)], other = pick(b);
    uint64_t v = number[below(sizeof number / sizeof *number)];
    if (at + 64 > b->n || other + 64 > b->n) at = other = 0;
    switch (below(8)) {
    case 0: b->at[at] = (char)(b->at[at] ^ (char)(1 << below(8))); break;
    case 1: b->at[at] = (char)below(256); break;
    case 2: memcpy(b->at + at, &v, width); break;
    case 3: b->at[at] = (char)(b->at[at] + 1); break;
    case 4: b->at[at] = (char)(b->at[at] - 1); break;
    case 5: memmove(b->at + at, b->at + other, width); break;
    case 6: memmove(b->at + at, b->at + other, 1 + below(60)); break;
    default:
        if (below(6) == 0)
            b->n = below(b->n) + 1;
        else
            b->at[at] = (char)(b->at[at] ^ 0x80);
        break;
    }
}

static bytes damaged(void)
{
    const bytes *seed = &seeds[below(nseeds)];
    bytes b = {malloc(seed->n + 1), seed->n};
    if (!b.at) exit(EXIT_FAILURE);
    memcpy(b.at, seed->at, seed->n);
    size_t times = 1;
    while (times < 8 && below(2)) times++;
    for (; times > 0 && b.n > 128; times--) damage_once(&b);
    if (is_elf(&b) && below(8)) input_seal(b.at, b.n);
    return b;
}

/* ---- one run ---- */

static void on_alarm(int sig)
{
    (void)sig;
    stop = 1;
}

static void launch(pl_gpu *gpu, pl_module *m)
{
    pl_kernel_info k;
    const char *name = pl_module_kernel_name(m, 0);
    pl_ptr buffer;
    if (!name || pl_module_kernel(m, name, &k) != PL_OK || k.param_bytes > 4096 ||
        k.local_bytes > 1 << 20)
        return;
    if (pl_alloc_device(gpu, 1 << 16, "buffer", &buffer) != PL_OK) return;
    uint64_t params[4096 / 8 + 1] = {0};
    for (size_t i = 0; i < sizeof params / sizeof *params; i++) params[i] = i % 2 ? 16 : buffer;
    pl_launch l = {.kernel = name,
                   .grid = {2, 1, 1},
                   .block = {64, 1, 1},
                   .params = params,
                   .param_bytes = k.param_bytes,
                   .mode = PL_MODE_FUNCTIONAL,
                   .cancel = &stop};
    if (k.reqntid[0]) memcpy(l.block, k.reqntid, sizeof l.block);
    const struct itimerval t = {.it_value = {.tv_usec = LAUNCH_MICROSECONDS}},
                           off = {{0, 0}, {0, 0}};
    stop = 0;
    pl_result r;
    setitimer(ITIMER_REAL, &t, NULL);
    pl_launch_kernel(gpu, m, &l, &r);
    setitimer(ITIMER_REAL, &off, NULL);
}

enum { REFUSED = 'r', LOADED = 'l', SILENT = 's', UNSTABLE = 'u' };

/* A program that loads must be saved to one that loads. */
static bool saves(pl_gpu *gpu, pl_module *m)
{
    const char *at;
    size_t n;
    pl_module *again;
    for (int form = PL_SAVE_OBJECT; form <= PL_SAVE_TEXT; form++) {
        if (pl_module_save(m, (pl_save_form)form, &at, &n) != PL_OK) return false;
        pl_status st = pl_module_load(gpu, "again", at, n, NULL, &again);
        pl_module_close(again);
        if (st != PL_OK && form == PL_SAVE_OBJECT) return false;
    }
    return true;
}

static char run_once(const bytes *b)
{
    pl_gpu *gpu;
    pl_module *m;
    if (pl_gpu_open(&gpu, "h200") != PL_OK) exit(EXIT_FAILURE);
    pl_status st = pl_module_load(gpu, "damaged", b->at, b->n, NULL, &m);
    char verdict = st == PL_OK ? LOADED : pl_gpu_diag_count(gpu) > 0 ? REFUSED : SILENT;
    if (m) {
        if (!saves(gpu, m)) verdict = UNSTABLE;
        launch(gpu, m);
        pl_module_close(m);
    }
    pl_gpu_close(gpu);
    return verdict;
}

/* ---- batches ---- */

/* Runs first .. first + n in a child; returns its wait status and the result of each run in
 * verdict. */
static int run_batch(uint64_t seed, int first, int n, char *verdict)
{
    int pipes[2], status = 0;
    const struct timespec pause_time = {.tv_nsec = 10000000};
    memset(verdict, 0, (size_t)n);
    if (pipe(pipes) != 0) exit(EXIT_FAILURE);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        close(pipes[0]);
        struct sigaction a = {.sa_handler = on_alarm};
        sigaction(SIGALRM, &a, NULL);
        for (int i = 0; i < n; i++) {
            state = seed * 1000003u + (uint64_t)(first + i);
            bytes b = damaged();
            char v = run_once(&b);
            free(b.at);
            if (write(pipes[1], &v, 1) != 1) _exit(98);
        }
        for (size_t k = 0; k < nseeds; k++) free(seeds[k].at);
        exit(0);
    }
    close(pipes[1]);
    for (int i = 0; i < n && read(pipes[0], &verdict[i], 1) == 1; i++) continue;
    close(pipes[0]);
    for (int waits = 0; waitpid(child, &status, WNOHANG) == 0; waits++) {
        if (waits > 100 * BATCH_SECONDS) kill(child, SIGKILL);
        nanosleep(&pause_time, NULL);
    }
    return status;
}

static void keep(uint64_t seed, int run)
{
    char path[64];
    mkdir("fuzz-failures", 0777);
    snprintf(path, sizeof path, "fuzz-failures/object-%d", run);
    state = seed * 1000003u + (uint64_t)run;
    bytes b = damaged();
    FILE *f = fopen(path, "wb");
    if (f) {
        fwrite(b.at, 1, b.n, f);
        fclose(f);
    }
    free(b.at);
}

int main(int argc, char **argv)
{
    int runs = argc > 1 ? atoi(argv[1]) : DEFAULT_RUNS, bad = 0, refused = 0, loaded = 0;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
    char verdict[BATCH];
    make_seeds();
    if (nseeds < 50) {
        printf("Bail out! no objects to damage\n");
        return EXIT_FAILURE;
    }
    for (int first = 0; first < runs; first += BATCH) {
        int n = runs - first < BATCH ? runs - first : BATCH,
            status = run_batch(seed, first, n, verdict);
        for (int i = 0; i < n; i++) {
            refused += verdict[i] == REFUSED;
            loaded += verdict[i] == LOADED;
            bool failed =
                verdict[i] == SILENT || verdict[i] == UNSTABLE || (status != 0 && verdict[i] == 0);
            if (!failed) continue;
            bad++;
            tap_note("run %d: %s; kept as fuzz-failures/object-%d", first + i,
                     verdict[i] == SILENT     ? "rejected without a message"
                     : verdict[i] == UNSTABLE ? "it does not load again"
                                              : "it died",
                     first + i);
            keep(seed, first + i);
            if (verdict[i] == 0 && i + 1 < n) { /* continue after the crashed run */
                status = run_batch(seed, first + i + 1, n - i - 1, verdict + i + 1);
            }
        }
    }
    tap(bad == 0, "%d corrupted objects: %d rejected, %d loaded and run", runs, refused, loaded);
    for (size_t k = 0; k < nseeds; k++) free(seeds[k].at);
    return tap_done();
}
