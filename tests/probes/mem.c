/* mem.c - recorded atomics, faults, special registers, address windows and prmt
 * (tests/data/probes/mem.*). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/probes/probe.h"

/* ---- atomics: 64 threads, each with its own 8 words ---- */

static const char *const operations[] = {"add.u32",
                                         "add.s32",
                                         "add.f32",
                                         "add.noftz.f16x2",
                                         "add.noftz.bf16x2",
                                         "min.u32",
                                         "max.u32",
                                         "min.s32",
                                         "max.s32",
                                         "inc.u32",
                                         "dec.u32",
                                         "and.b32",
                                         "or.b32",
                                         "xor.b32",
                                         "exch.b32",
                                         "add.u64",
                                         "add.f64",
                                         "min.u64",
                                         "max.u64",
                                         "min.s64",
                                         "max.s64",
                                         "and.b64",
                                         "or.b64",
                                         "xor.b64",
                                         "exch.b64",
                                         "add.noftz.f16",
                                         "add.noftz.bf16",
                                         "cas.b16",
                                         "cas.b32",
                                         "cas.b64",
                                         "cas.b128",
                                         "exch.b128",
                                         "add.v2.f32",
                                         "add.v4.f32",
                                         "add.noftz.v2.f16",
                                         "add.noftz.v4.f16",
                                         "add.noftz.v8.f16",
                                         "add.noftz.v2.bf16",
                                         "add.noftz.v8.bf16",
                                         "add.noftz.v2.f16x2",
                                         "add.noftz.v4.f16x2",
                                         "add.noftz.v4.bf16x2",
                                         "min.noftz.v2.f16",
                                         "max.noftz.v4.f16x2",
                                         "min.noftz.v8.bf16",
                                         "max.noftz.v2.bf16x2"};
static const char *const reductions[] = {
    "add.u32", "add.s32", "add.f32", "add.noftz.f16x2", "add.noftz.bf16x2",
    "min.u32", "max.u32", "min.s32", "max.s32",         "inc.u32",
    "dec.u32", "and.b32", "or.b32",  "xor.b32",         "add.u64",
    "add.f64", "min.u64", "max.u64", "min.s64",         "max.s64",
    "and.b64", "or.b64",  "xor.b64", "add.noftz.f16",   "add.noftz.bf16"};

static int find(const char *const *list, size_t n, const char *name)
{
    for (size_t k = 0; k < n; k++)
        if (strcmp(list[k], name) == 0) return (int)k;
    return -1;
}

/* Parses words of 8 digits at *s; returns their number. */
static unsigned read_words(const char **s, uint32_t *w)
{
    unsigned n = 0;
    for (char digits[9] = {0};
         n < 8 && sscanf(*s, "%8[0-9a-f]", digits) == 1 && strlen(digits) == 8; *s += 8)
        w[n++] = (uint32_t)strtoul(digits, NULL, 16);
    return n;
}

static size_t put_words(char *to, const uint32_t *w, unsigned n)
{
    for (unsigned k = 0; k < n; k++) sprintf(to + 8 * k, "%08x", w[k]);
    return 8 * n;
}

/* The probe stores the low half of the f64 that atom.add.f64 returns with st.u32 of the 64-bit
 * register. ptxas knows that the register holds an f64 and converts it to an integer instead of
 * taking its low half; the recorded words are such numbers. */
static uint32_t converted(const uint32_t *w)
{
    uint64_t bits = (uint64_t)w[1] << 32 | w[0];
    double d;
    memcpy(&d, &bits, sizeof d);
    if (d != d) return 0x80000000u;
    return d <= 0 ? 0 : d >= 4294967295.0 ? UINT32_MAX : (uint32_t)d;
}

static void atomics(void)
{
    static const char *const mode[] = {"atom.global.",   "unused.global.",  "atom.shared.",
                                       "unused.shared.", "generic.global.", "generic.shared.",
                                       "red.global.",    "red.shared."};
    probe p;
    probe_open(&p, "mem.atomics", "mem");
    for (size_t row = 0; row < p.lines; row++) {
        const char *s = p.line[row], *tab = strchr(s, '\t');
        char name[40] = "", got[16384];
        uint32_t before[64][8] = {{0}}, value[64][8] = {{0}}, compare[64][8] = {{0}}, after[64][8],
                 old[64][8];
        unsigned m = 0, n = 0;
        while (m < 7 && strncmp(s, mode[m], strlen(mode[m])) != 0) m++;
        sscanf(s + strlen(mode[m]), "%39[^ ]", name);
        bool cas = strstr(name, "cas") != NULL;
        int id = m >= 6 ? find(reductions, sizeof reductions / sizeof *reductions, name)
                        : find(operations, sizeof operations / sizeof *operations, name);
        const char *at = tab;
        for (unsigned t = 0; t < 64 && at; t++) {
            at++;
            n = read_words(&at, before[t]);
            at++;
            read_words(&at, value[t]);
            at += cas;
            if (cas) read_words(&at, compare[t]);
            at = strchr(at, '\t');
        }
        char entry[16];
        sprintf(entry, m >= 6 ? "k_redILi%u" : "k_atILi%u", m >= 6 ? m - 6 : m);
        memset(old, 0x5a, sizeof old);
        probe_kernel(&p, entry);
        probe_shape(&p, 1, 64);
        probe_arg32(&p, 0, (uint32_t)id);
        pl_ptr mem = probe_buffer(&p, 1, before, sizeof before), ret = 0;
        probe_buffer(&p, 2, value, sizeof value);
        if (m < 6) {
            probe_buffer(&p, 3, compare, sizeof compare);
            ret = probe_buffer(&p, 4, old, sizeof old);
        }
        bool ok = id >= 0 && probe_run(&p);
        probe_read(&p, mem, after, sizeof after);
        if (ret) probe_read(&p, ret, old, sizeof old);
        if (ret && m != 1 && m != 3 && strcmp(name, "add.f64") == 0)
            for (unsigned t = 0; t < 64; t++) old[t][0] = converted(old[t]);
        size_t k = (size_t)(tab - s);
        memcpy(got, s, k);
        for (unsigned t = 0; t < 64; t++) {
            got[k++] = '\t';
            k += put_words(got + k, before[t], n);
            got[k++] = ' ';
            k += put_words(got + k, value[t], n);
            if (cas) {
                got[k++] = ' ';
                k += put_words(got + k, compare[t], n);
            }
            got[k++] = '|';
            k += put_words(got + k, after[t], n);
            if (m < 6) {
                got[k++] = ' ';
                k += put_words(got + k, old[t], n);
            }
        }
        got[k] = '\0';
        probe_row(&p, s, ok ? got : "the launch failed");
        probe_done(&p);
    }
    probe_close(&p);
}

/* ---- faults: the kernel's cases by the names of their rows ---- */

static const struct {
    const char *name;
    int k;
} fault_cases[] = {{"ld.global.u32", 0},
                   {"ld.global.u16", 1},
                   {"ld.global.u64", 2},
                   {"ld.global.v4.u32", 3},
                   {"ld.global.v2.u32", 4},
                   {"ld.global.b128", 5},
                   {"st.global.u32", 6},
                   {"st.global.v4", 7},
                   {"ld.shared.u32", 8},
                   {"ld.shared.v4", 9},
                   {"st.shared.u32", 10},
                   {"atom.global.add.u32", 11},
                   {"atom.shared.add.u32", 12},
                   {"atom.global.add.u64", 13},
                   {"atom.global.cas.b16", 14},
                   {"atom.global.cas.b128", 15},
                   {"ld.local(generic) misaligned", 16},
                   {"ld null", 17},
                   {"st null", 18},
                   {"ld.const misaligned", 19},
                   {"ld.const far", 19},
                   {"st to const address", 20},
                   {"trap", 21},
                   {"brkpt", 22},
                   {"assert", 23},
                   {"stack overflow", 24},
                   {"atomic on local generic", 25},
                   {"st to param (grid constant)", 26},
                   {"ldmatrix misaligned", 27},
                   {"ld.shared::cluster bad rank", 28},
                   {"integer divide by zero", 29},
                   {"call null function pointer", 30},
                   {"cp.async misaligned smem", 31},
                   {"infinite malloc", 32},
                   {"atom.global on null", 33},
                   {"red.global on null", 34},
                   {"prefetch null", 35},
                   {"vector ld crossing allocation end (ok case)", 36},
                   {"exit in half warp then sync", 37},
                   {"mapa out of range then ld", 38},
                   {"generic shared ld via pointer +4 misaligned u64", 39},
                   {"ld.global from shared address", 40},
                   {"ld.shared from 64-bit global address low bits", 41}};

static void faults(void)
{
    probe p;
    probe_open(&p, "mem.faults", "mem");
    for (size_t row = 0; row < p.lines; row++) {
        const char *s = p.line[row], *tab = strchr(s, '\t'), *name = s + strlen("FAULT ");
        char got[512];
        int k = -1;
        uint64_t off = 0;
        for (size_t c = 0; c < sizeof fault_cases / sizeof *fault_cases; c++) {
            size_t n = strlen(fault_cases[c].name);
            if (strncmp(name, fault_cases[c].name, n) == 0 && strncmp(name + n, " off=", 5) == 0) {
                k = fault_cases[c].k;
                off = strtoull(name + n + 5, NULL, 16);
            }
        }
        const int four[4] = {1, 2, 3, 4};
        probe_kernel(&p, "k_mf");
        probe_shape(&p, 1, 32);
        probe_arg32(&p, 0, (uint32_t)k);
        probe_arg(&p, 1, &off);
        probe_buffer(&p, 2, NULL, 4096 + 256);
        pl_ptr out = probe_buffer(&p, 3, NULL, 32 + 256);
        probe_arg(&p, 4, four);
        bool ok = probe_run(&p);
        uint32_t r[5];
        probe_read(&p, out, r, sizeof r);
        int n = (int)(tab - s);
        if (ok)
            snprintf(got, sizeof got, "%.*s\tOK\t%08x %08x %08x", n, s, r[0], r[2], r[4]);
        else if (p.result.error && strcmp(p.result.error, "CUDA_ERROR_LAUNCH_TIMEOUT") == 0)
            snprintf(got, sizeof got, "%.*s\tERROR\tTIMEOUT", n, s);
        else
            snprintf(got, sizeof got, "%.*s\tERROR\tsync\tlaunch=0(cudaSuccess)\tsync=%s\tsticky=1",
                     n, s, probe_error(p.result.error));
        probe_row(&p, s, got);
        probe_done(&p);
    }
    probe_close(&p);
}

/* ---- special registers ---- */

enum { WARPID = 13, SMID = 15, SREG_ENVREG = 39, SREG_GRIDID = 46, SREGS = 50 };

static void sregs(void)
{
    probe p;
    probe_open(&p, "mem.sregs", "mem");
    char last[128] = "";
    uint32_t *w = NULL, n = 0;
    for (size_t row = 0; row < p.lines; row++) {
        const char *s = p.line[row];
        uint32_t g[3], b[3], c[3], dyn, thread;
        if (sscanf(s, "grid=%u,%u,%u block=%u,%u,%u cluster=%u,%u,%u dyn=%u\t%u", &g[0], &g[1],
                   &g[2], &b[0], &b[1], &b[2], &c[0], &c[1], &c[2], &dyn,
                   &thread) != 11) { /* the last row: offsets of the reserved shared memory */
            probe_kernel(&p, "k_rs");
            pl_ptr out = probe_buffer(&p, 0, NULL, 64);
            uint32_t r[5] = {0};
            bool ok = probe_run(&p);
            probe_read(&p, out, r, sizeof r);
            char got[128];
            snprintf(got, sizeof got, "%.*s\t%s", (int)(strchr(s, '\t') - s), s, probe_words(r, 5));
            probe_row(&p, s, ok ? got : "the launch failed");
            probe_done(&p);
            continue;
        }
        size_t label = (size_t)(strchr(s, '\t') - s);
        if (strncmp(last, s, label) != 0 || last[label]) {
            snprintf(last, sizeof last, "%.*s", (int)label, s);
            n = g[0] * g[1] * g[2] * b[0] * b[1] * b[2];
            w = realloc(w, (size_t)n * 64 * sizeof *w);
            probe_kernel(&p, "k_sr");
            memcpy(p.launch.grid, g, sizeof g);
            memcpy(p.launch.block, b, sizeof b);
            memcpy(p.launch.cluster, c, sizeof c);
            p.launch.dynamic_shared = dyn;
            pl_ptr out = probe_buffer(&p, 0, NULL, (uint64_t)n * 64 * sizeof *w);
            if (!w || !probe_run(&p)) {
                probe_verdict(&p, s, false, "the launch failed");
                continue;
            }
            probe_read(&p, out, w, (uint64_t)n * 64 * sizeof *w);
            probe_done(&p);
        }
        /* the SM number, the launch number and the driver's words are specific to the machine */
        uint32_t recorded[SREGS], *mine = w + (size_t)thread * 64;
        const char *at = strchr(s + label + 1, '\t');
        for (unsigned k = 0; k < SREGS; k++)
            recorded[k] = (uint32_t)strtoul(at, (char **)(uintptr_t)&at, 16);
        mine[SMID] = recorded[SMID];
        mine[WARPID] = recorded[WARPID]; /* the slot of the warp, which may be any */
        mine[SREG_GRIDID] = recorded[SREG_GRIDID];
        mine[SREG_GRIDID + 1] = recorded[SREG_GRIDID + 1];
        for (unsigned k = SREG_ENVREG; k < SREG_ENVREG + 6; k++) mine[k] = recorded[k];
        probe_verdict(&p, s, memcmp(recorded, mine, sizeof recorded) == 0,
                      probe_words(mine, SREGS));
    }
    free(w);
    probe_close(&p);
}

/* ---- address windows ---- */

/* Addresses depend on the driver, so differences from the start of each window and the results of
 * isspacep are compared. */
static void windows(void)
{
    enum { VALUES = 45 };
    probe p;
    probe_open(&p, "mem.windows", "mem");
    char last[64] = "";
    uint64_t w[12 * 64] = {0};
    for (size_t row = 0; row < p.lines; row++) {
        const char *s = p.line[row];
        uint32_t cluster, dyn, block, thread;
        sscanf(s, "cluster=%u dyn=%u grid=4 block=3\t%u\t%u", &cluster, &dyn, &block, &thread);
        size_t label = (size_t)(strchr(s, '\t') - s);
        if (strncmp(last, s, label) != 0) {
            snprintf(last, sizeof last, "%.*s", (int)label, s);
            const int four[4] = {1, 2, 3, 4};
            probe_kernel(&p, "k_win");
            probe_shape(&p, 4, 3);
            p.launch.cluster[0] = cluster;
            p.launch.cluster[1] = p.launch.cluster[2] = 1;
            p.launch.dynamic_shared = dyn;
            pl_ptr out = probe_buffer(&p, 0, NULL, sizeof w);
            probe_arg(&p, 1, four);
            probe_buffer(&p, 2, NULL, 64 + 256);
            if (!probe_run(&p)) {
                probe_verdict(&p, s, false,
                              p.result.error_text ? p.result.error_text : "the launch failed");
                probe_done(&p);
                continue;
            }
            probe_read(&p, out, w, sizeof w);
            probe_done(&p);
        }
        uint64_t r[VALUES], *m = w + (size_t)(block * 3 + thread) * 64;
        const char *at = strchr(strchr(s + label + 1, '\t') + 1, '\t');
        for (unsigned k = 0; k < VALUES; k++) r[k] = strtoull(at, (char **)(uintptr_t)&at, 16);
        enum {
            SHARED = 0,
            DYNAMIC = 2,
            LOCAL = 4,
            TO_SHARED = 24,
            TO_LOCAL = 25,
            TO_CONST = 26,
            TO_PARAM = 27,
            SHARED0 = 28,
            LOCAL0 = 29,
            CONST0 = 30,
            CLUSTER0 = 32,
            MAPA = 33,
            RANK = 41
        };
        bool same = true;
        for (unsigned k = 1; k < 24; k += 2) /* isspacep */
            same &= r[k] == m[k];
        same &= r[SHARED] - r[SHARED0] == m[SHARED] - m[SHARED0] &&
                r[DYNAMIC] - r[SHARED0] == m[DYNAMIC] - m[SHARED0];
        same &= r[TO_SHARED] == m[TO_SHARED] && m[TO_LOCAL] == m[LOCAL] - m[LOCAL0];
        same &= r[CLUSTER0] - r[SHARED0] == m[CLUSTER0] - m[SHARED0] && m[31] == 0x1234;
        for (unsigned k = MAPA; k < RANK; k += 2)
            same &= r[k] == m[k] && r[k + 1] - r[SHARED0] == m[k + 1] - m[SHARED0];
        for (unsigned k = RANK; k < VALUES; k++) same &= r[k] == m[k];
        char got[2048];
        size_t n = 0;
        for (unsigned k = 0; k < VALUES; k++) n += (size_t)sprintf(got + n, "%" PRIx64 " ", m[k]);
        probe_verdict(&p, s, same, got);
    }
    probe_close(&p);
}

/* ---- prmt ---- */

static void prmt(void)
{
    probe p;
    probe_open(&p, "mem.prmt", "mem");
    uint32_t *a = calloc(p.lines, 12), *r = calloc(p.lines, 28);
    for (size_t row = 0; a && row < p.lines; row++)
        sscanf(p.line[row], "%x %x %x", &a[3 * row], &a[3 * row + 1], &a[3 * row + 2]);
    probe_kernel(&p, "k_prmt");
    probe_shape(&p, (uint32_t)(p.lines + 63) / 64, 64);
    probe_buffer(&p, 0, a, p.lines * 12);
    pl_ptr out = probe_buffer(&p, 1, NULL, p.lines * 28);
    probe_arg32(&p, 2, (uint32_t)p.lines);
    bool ok = probe_run(&p);
    probe_read(&p, out, r, p.lines * 28);
    for (size_t row = 0; row < p.lines; row++) {
        char got[128];
        snprintf(got, sizeof got, "%s : %s", probe_words(&a[3 * row], 3),
                 probe_words(&r[7 * row], 7));
        probe_row(&p, p.line[row], ok ? got : "the launch failed");
    }
    probe_done(&p);
    free(a);
    free(r);
    probe_close(&p);
}

int main(void)
{
    atomics();
    faults();
    sregs();
    windows();
    prmt();
    return tap_done();
}
