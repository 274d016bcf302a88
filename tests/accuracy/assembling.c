/* assembling.c - part of `make bench`: time and memory for parsing, checking and assembling PTX.
 *
 * The modules are generated: kernels of the suite, repeated under different names until the text
 * is 1 MB and 50 MB long; and one kernel of 100,000 lines. Times are processor time of the whole
 * command, over all threads, and wall-clock time, each the minimum of several runs; memory is the
 * maximum resident size. If ptxas is found, it assembles the same files at -O0 (except the 50 MB),
 * for the ratio of processor times. */
#define _DEFAULT_SOURCE /* wait4 */
#include "tests/harness.h"
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MB 1e6

typedef struct text {
    char *at;
    size_t n, cap;
} text;

static void add(text *t, const char *s, size_t n)
{
    if (t->n + n > t->cap) {
        t->cap = 2 * (t->n + n);
        t->at = realloc(t->at, t->cap);
        if (!t->at) exit(EXIT_FAILURE);
    }
    memcpy(t->at + t->n, s, n);
    t->n += n;
}

static const char head[] = ".version 9.0\n.target sm_90a\n.address_size 64\n";

/* ---- modules ---- */

/* A self-contained kernel: its text from the first line on, and the name used by it and its
 * parameters. */
typedef struct kernel {
    char *text;
    char name[128];
} kernel;

static bool stands_alone(char *ptx, kernel *k)
{
    char *start = strstr(ptx, ".visible .entry ");
    if (!start || strstr(start + 15, ".entry ") || strstr(ptx, ".func ") ||
        strstr(ptx, "\n.global") || strstr(ptx, "\n.const") || strstr(ptx, "\n.extern") ||
        sscanf(start, ".visible .entry %127[A-Za-z0-9_$](", k->name) != 1)
        return false;
    k->text = start;
    return true;
}

/* Renames the kernel: every occurrence of the old name gets a number. */
static void add_kernel(text *t, const kernel *k, unsigned number)
{
    size_t n = strlen(k->name);
    char mark[16];
    int m = snprintf(mark, sizeof mark, "_%u", number);
    const char *from = k->text;
    for (const char *p; (p = strstr(from, k->name)) != NULL; from = p + n) {
        add(t, from, (size_t)(p - from) + n);
        add(t, mark, (size_t)m);
    }
    add(t, from, strlen(from));
}

static void many_kernels(text *t, double bytes)
{
    char *pattern = data_path("suite/kernels/*.ptx");
    glob_t g;
    if (glob(pattern, 0, NULL, &g) != 0) exit(EXIT_FAILURE);
    kernel *k = calloc(g.gl_pathc, sizeof *k);
    char **ptx = calloc(g.gl_pathc, sizeof *ptx);
    size_t n = 0;
    if (!k || !ptx) exit(EXIT_FAILURE);
    for (size_t i = 0; i < g.gl_pathc; i++) {
        ptx[i] = read_whole(g.gl_pathv[i], NULL);
        n += stands_alone(ptx[i], &k[n]);
    }
    add(t, head, sizeof head - 1);
    for (unsigned i = 0; n > 0 && (double)t->n < bytes; i++) add_kernel(t, &k[i % n], i);
    for (size_t i = 0; i < g.gl_pathc; i++) free(ptx[i]);
    free(ptx);
    free(k);
    globfree(&g);
    free(pattern);
}

/* Short blocks that branch around arithmetic, and variables live throughout. */
static void one_kernel(text *t, unsigned lines)
{
    char line[256];
    unsigned blocks = lines / 10;
#define LINE(...) add(t, line, (size_t)snprintf(line, sizeof line, __VA_ARGS__))
    LINE("%s.visible .entry large(.param .u64 p, .param .u32 n)\n{\n.reg .b32 %%r<4>; .reg .b64 "
         "%%d<4>; .reg .pred %%p<%u>; .reg .f32 %%f<%u>;\n",
         head, blocks + 1, 6 * blocks + 60);
    LINE("ld.param.u64 %%d1, [p];\nld.param.u32 %%r1, [n];\n");
    for (unsigned k = 0; k < 40; k++) LINE("ld.global.f32 %%f%u, [%%d1+%u];\n", k, 4 * k);
    for (unsigned b = 0, f = 40; b < blocks; b++) {
        LINE("setp.gt.s32 %%p%u, %%r1, %u;\n@%%p%u bra L%u;\n", b, b, b, b);
        for (unsigned k = 0; k < 6; k++, f++)
            LINE("fma.rn.f32 %%f%u, %%f%u, %%f%u, %%f%u;\n", f, (b * 7 + k) % 40,
                 k ? f - 1 : (b * 11) % 40, (b * 3 + k * 5) % 40);
        LINE("st.global.f32 [%%d1+%u], %%f%u;\n", 4 * b, f - 1);
        if (b % 7 == 0) LINE("mov.f32 %%f%u, %%f%u;\n", b % 40, f - 1);
        LINE("L%u:\n", b);
    }
    LINE("ret;\n}\n");
#undef LINE
}

/* ---- runs ---- */

typedef struct cost {
    double seconds, clock, bytes; /* processor time; wall-clock time; resident memory */
    bool good;
} cost;

static cost run(const char *const argv[])
{
    struct rusage u;
    struct timespec start, end;
    int status = 0;
    clock_gettime(CLOCK_MONOTONIC, &start);
    pid_t child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_WRONLY);
        if (null >= 0) {
            dup2(null, 1);
            dup2(null, 2);
        }
        execvp(argv[0], (char *const *)(const void *)argv);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &u) != child) exit(EXIT_FAILURE);
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (cost){(double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
                      1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec),
                  (double)(end.tv_sec - start.tv_sec) +
                      1e-9 * (double)(end.tv_nsec - start.tv_nsec),
                  1024.0 * (double)u.ru_maxrss, status == 0};
}

static cost best(const char *const argv[], unsigned times)
{
    cost b = run(argv);
    while (b.good && --times > 0) {
        cost c = run(argv);
        if (c.seconds < b.seconds) b.seconds = c.seconds;
        if (c.clock < b.clock) b.clock = c.clock;
    }
    return b;
}

static void measure(const char *folder, const char *what, const text *t, unsigned times,
                    bool compare)
{
    char in[512], out[512];
    double size = (double)t->n;
    snprintf(in, sizeof in, "%s/m.ptx", folder);
    snprintf(out, sizeof out, "%s/m.plo", folder);
    FILE *f = fopen(in, "wb");
    if (!f || fwrite(t->at, 1, t->n, f) != t->n || fclose(f) != 0) exit(EXIT_FAILURE);
    printf("%s, %.1f MB\n", what, size / MB);
    const char *const plain[] = {loom_path(), "as", "-O0", in, NULL}, *const full[] = {loom_path(),
                                                                                       "as", "-O2",
                                                                                       in, NULL};
    const char *const object[] = {loom_path(), "as", "-O2", in, "-o", out, NULL};
    const char *const *const ours[] = {plain, full, object};
    const char *const ptxas[] = {"ptxas", "-O0", "-arch=sm_90a", "-o", out, in, NULL};
    static const char *const name[] = {"-O0", "-O2", "-O2 -o"};
    cost theirs = compare ? best(ptxas, times) : (cost){0, 0, 0, false};
    for (unsigned k = 0; k < 3; k++) {
        cost c = best(ours[k], times);
        printf(
            "  %-8s %7.3f s  %5.1f MB/s  (by the clock %5.1f MB/s)  %5.1f bytes of memory a byte",
            name[k], c.seconds, size / MB / c.seconds, size / MB / c.clock, c.bytes / size);
        if (!c.good) printf("  FAILED");
        if (theirs.good)
            printf("  %5.1f times as fast as ptxas -O0 (%.2f s)", theirs.seconds / c.seconds,
                   theirs.seconds);
        putchar('\n');
        fflush(stdout);
    }
}

int main(void)
{
    char *folder = scratch_make();
    text small = {0}, large = {0}, one = {0};
    many_kernels(&small, 1 * MB);
    measure(folder, "kernels of the suite", &small, 5, true);
    many_kernels(&large, 50 * MB);
    measure(folder, "kernels of the suite", &large, 1, false);
    one_kernel(&one, 100000);
    measure(folder, "one kernel of 100,000 lines", &one, 2, true);
    free(small.at);
    free(large.at);
    free(one.at);
    scratch_remove(folder);
    return EXIT_SUCCESS;
}
