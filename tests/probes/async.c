/* async.c - recorded mbarriers, asynchronous copies, barriers and elections
 * (tests/data/probes/async.*).
 *
 * Words of mbarrier objects are not compared: the H200 keeps them in a separate unit, and the
 * loads of the probes saw the words of earlier launches. Results of the instructions (tokens,
 * waits) are always compared. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/probes/probe.h"

static void outcome(const probe *p, bool ok, char *got, size_t size, int label, const char *row)
{
    if (ok)
        snprintf(got, size, "%.*s\tOK", label, row);
    else if (p->result.error && strcmp(p->result.error, "CUDA_ERROR_LAUNCH_TIMEOUT") == 0)
        snprintf(got, size, "%.*s\tERROR\tTIMEOUT", label, row);
    else
        snprintf(got, size, "%.*s\tERROR\tsync\tlaunch=0(cudaSuccess)\tsync=%s\tsticky=1", label,
                 row, probe_error(p->result.error));
}

/* ---- mbarrier scripts: rows of one label are the steps of one launch ---- */

typedef struct step {
    int32_t op;
    uint32_t n;
    uint64_t x;
} step;

typedef struct record {
    uint64_t state, token;
    uint32_t result, parity;
} record;

static const char *const step_names[] = {"init",
                                         "arrive",
                                         "arrive.n",
                                         "arrive.noComplete",
                                         "arrive_drop",
                                         "arrive_drop.n",
                                         "arrive_drop.noComplete",
                                         "expect_tx",
                                         "complete_tx",
                                         "arrive.expect_tx",
                                         "arrive_drop.expect_tx",
                                         "inval",
                                         "test_wait(last token)",
                                         "try_wait(last token,hint)",
                                         "pending_count(last token)",
                                         "raw store",
                                         "test_wait(token=arg)"};

static int step_of(const char *name, size_t n)
{
    for (int k = 0; k < 17; k++)
        if (strlen(step_names[k]) == n && strncmp(step_names[k], name, n) == 0) return k;
    return -1;
}

/* "SCRIPT op(n,x) op(n,x)": the launch failed, so the steps are in one row. */
static size_t read_script(const char *at, step *s)
{
    size_t n = 0;
    while (*at == ' ' && n < 256) {
        at++;
        int op = -1;
        size_t length = 0;
        for (size_t k = 0; k < 17; k++) {
            size_t l = strlen(step_names[k]);
            if (strncmp(at, step_names[k], l) == 0 && at[l] == '(' && l > length) {
                op = (int)k;
                length = l;
            }
        }
        s[n].op = op;
        sscanf(at + length, "(%u,%" SCNx64 ")", &s[n].n, &s[n].x);
        n++;
        at = strchr(at + length, ')');
        at = at ? at + 1 : "";
    }
    return n;
}

static bool run_script(probe *p, const step *s, size_t n, record *r)
{
    probe_kernel(p, "4k_mb");
    probe_buffer(p, 0, s, n * sizeof *s + 16);
    probe_arg32(p, 1, (uint32_t)n);
    pl_ptr out = probe_buffer(p, 2, NULL, n * sizeof *r + 16);
    bool ok = probe_run(p);
    probe_read(p, out, r, n * sizeof *r);
    return ok;
}

static void scripts(const char *name)
{
    probe p;
    probe_open(&p, name, "async");
    for (size_t row = 0; row < p.lines;) {
        const char *s = p.line[row], *tab = strchr(s, '\t');
        size_t label = (size_t)(tab - s), n = 0;
        step steps[257] = {{0}};
        record r[257];
        if (strncmp(tab, "\tSCRIPT", 7) == 0) {
            n = read_script(tab + 7, steps);
            bool ok = run_script(&p, steps, n, r);
            const char *error = probe_error(p.result.error);
            char got[512];
            snprintf(got, sizeof got, "%.*s\tERROR\tsync\tlaunch=%s\tsync=%s\tsticky=1", (int)label,
                     s, error, error);
            probe_verdict(&p, s, !ok, "it ran");
            if (row + 1 < p.lines) probe_row(&p, p.line[row + 1], ok ? "it ran" : got);
            probe_done(&p);
            row += 2;
            continue;
        }
        while (row + n < p.lines && n < 256 && strncmp(p.line[row + n], s, label + 1) == 0) {
            const char *word = strchr(p.line[row + n] + label + 1, '\t') + 1,
                       *end = strchr(word, '\t');
            steps[n].op = step_of(word, (size_t)(end - word));
            sscanf(end, "\t%u\t%" SCNx64, &steps[n].n, &steps[n].x);
            n++;
        }
        if (strncmp(s, "raw bit", 7) ==
            0) { /* a plain store to an object in use: unspecified behaviour, and whether the unit
                    of the H200 sees it depends on its state */
            p.excepted += n;
            row += n;
            continue;
        }
        bool ok = run_script(&p, steps, n, r);
        for (size_t k = 0; k < n; k++) {
            const char *line = p.line[row + k], *at = strstr(line, "\ttoken=") + 1;
            uint64_t token;
            int result;
            unsigned par0, par1;
            char got[512];
            sscanf(at, "token=%" SCNx64 "\tres=%d\tpar0=%u\tpar1=%u", &token, &result, &par0,
                   &par1);
            bool same =
                ok && token >> 32 == r[k].token >> 32 && result == (int)r[k].result &&
                par0 == (r[k].parity & 15u) &&
                par1 == r[k].parity >> 4; /* the low half of the token's register is not written */
            snprintf(got, sizeof got, "token=%016" PRIx64 " res=%d par0=%u par1=%u (%s)",
                     r[k].token, (int)r[k].result, r[k].parity & 15u, r[k].parity >> 4,
                     p.result.error_text ? p.result.error_text : "ran");
            probe_verdict(&p, line, same, got);
        }
        probe_done(&p);
        row += n ? n : 1;
    }
    probe_close(&p);
}

/* ---- cp.async ---- */

static void copies(void)
{
    probe p;
    uint8_t source[256], out[32];
    for (unsigned k = 0; k < 256; k++) source[k] = (uint8_t)(k + 1);
    probe_open(&p, "async.cpasync", "async");
    for (size_t row = 0; row < p.lines; row++) {
        const char *s = p.line[row], *tab = strchr(s, '\t');
        char how[8] = "cg", what[32] = "src-size", kernel[32], got[256];
        unsigned size = 16, n = 0, off = 0, mode;
        bool null = strstr(s, "null src") != NULL;
        if (!null)
            sscanf(s, "cp.async.%2s size=%u %31[^=]=%u srcmisaligned=%u", how, &size, what, &n,
                   &off);
        else
            n = strstr(s, "ignore") != NULL;
        mode = null ? n : strcmp(what, "ignore-src") == 0;
        snprintf(kernel, sizeof kernel, "k_cpaILi%uELi%d", size, strcmp(how, "cg") == 0);
        probe_kernel(&p, kernel);
        pl_ptr from = probe_buffer(&p, 0, source, sizeof source) + off, zero = 0;
        probe_arg(&p, 0, null ? &zero : &from);
        pl_ptr to = probe_buffer(&p, 1, NULL, 64);
        probe_arg32(&p, 2, n);
        probe_arg32(&p, 3, mode);
        probe_buffer(&p, 4, NULL, 32);
        bool ok = probe_run(&p);
        probe_read(&p, to, out, sizeof out);
        size_t length = (size_t)snprintf(got, sizeof got, "%.*s\t%s", (int)(tab - s), s,
                                         probe_hex(out, sizeof out));
        probe_verdict(&p, s, ok && strncmp(s, got, length) == 0, ok ? got : p.result.error_text);
        probe_done(&p);
    }
    probe_close(&p);
}

/* ---- bulk copies ---- */

enum { BULK_SOURCE = 1 << 18, BULK_SHARED = 65536 + 1024 };

static uint32_t fnv(const uint8_t *p, size_t n)
{
    uint32_t h = 2166136261u;
    for (size_t k = 0; k < n; k++) h = (h ^ p[k]) * 16777619u;
    return h;
}

static void bulk(const char *name)
{
    probe p;
    uint8_t *source = malloc(BULK_SOURCE), *after = malloc(BULK_SOURCE);
    if (!source || !after) exit(EXIT_FAILURE);
    for (unsigned k = 0; k < BULK_SOURCE; k++) source[k] = (uint8_t)(k * 7 + (k >> 8));
    probe_open(&p, name, "async");
    for (size_t row = 0; row < p.lines; row++) {
        const char *s = p.line[row], *tab = strchr(s, '\t');
        int dir;
        uint32_t n, so, to, bo;
        if (sscanf(s, "bulk dir=%d bytes=%u srcoff=%u dstoff=%u baroff=%u", &dir, &n, &so, &to,
                   &bo) != 5)
            continue;
        memset(after, 0xee, BULK_SOURCE);
        probe_kernel(&p, "6k_bulk");
        probe_shape(&p, dir == 3 ? 2 : 1, 256);
        p.launch.cluster[0] = dir == 3 ? 2 : 1;
        p.launch.cluster[1] = p.launch.cluster[2] = 1;
        p.launch.dynamic_shared = 72 * 1024;
        probe_buffer(&p, 0, source, BULK_SOURCE);
        pl_ptr dst = probe_buffer(&p, 1, after, BULK_SOURCE),
               out = probe_buffer(&p, 2, NULL, BULK_SOURCE), st = probe_buffer(&p, 3, NULL, 64);
        const uint32_t more[] = {(uint32_t)dir, n, so, to, bo};
        for (unsigned k = 0; k < 5; k++) probe_arg32(&p, 4 + k, more[k]);
        bool ok = probe_run(&p);
        char got[1024];
        if (!ok) {
            outcome(&p, ok, got, sizeof got, (int)(tab - s), s);
            probe_row(&p, s, got);
            probe_done(&p);
            continue;
        }
        uint64_t words[3];
        size_t width = dir == 2 ? BULK_SOURCE : BULK_SHARED, first = width, last = 0;
        probe_read(&p, st, words, sizeof words);
        probe_read(&p, dir == 2 ? dst : out, after, width);
        for (size_t k = 0; k < width; k++)
            if (after[k] != 0xee) {
                first = first == width ? k : first;
                last = k;
            }
        bool exact = n && memcmp(after + to, source + so, n) == 0;
        snprintf(got, sizeof got, "\tphase=%d\tfirst=%zu last=%zu exact=%d hash=%08x head=%s",
                 (int)words[2], first, last, exact, fnv(after, width),
                 probe_hex(after + (to & ~63u), 64));
        const char *recorded = strstr(s, "\tphase=");
        probe_verdict(&p, s, recorded && strcmp(recorded, got) == 0, got);
        probe_done(&p);
    }
    free(source);
    free(after);
    probe_close(&p);
}

/* ---- bulk reductions ---- */

static void bulk_reduce(void)
{
    static const char *const ops[] = {
        "g.add.u32",  "g.add.s32", "g.add.u64", "g.add.noftz.f16", "g.add.noftz.bf16", "g.add.f32",
        "g.add.f64",  "g.min.u32", "g.max.u32", "g.min.s32",       "g.max.s32",        "g.min.u64",
        "g.max.u64",  "g.min.s64", "g.max.s64", "g.min.f16",       "g.max.f16",        "g.min.bf16",
        "g.max.bf16", "g.inc.u32", "g.dec.u32", "g.and.b32",       "g.or.b32",         "g.xor.b32",
        "g.and.b64",  "g.or.b64",  "g.xor.b64", "s.add.u32",       "s.add.s32",        "s.add.u64",
        "s.min.u32",  "s.max.u32", "s.min.s32", "s.max.s32",       "s.inc.u32",        "s.dec.u32",
        "s.and.b32",  "s.or.b32",  "s.xor.b32"};
    probe p;
    probe_open(&p, "async.bulk_reduce", "async");
    for (size_t row = 0; row < p.lines; row++) {
        const char *s = p.line[row], *tab = strchr(s, '\t');
        char name[32] = "", kernel[32], got[4096];
        uint32_t w[3][64];
        int k = 0;
        sscanf(s, "bulkred %31s", name);
        while (k < 39 && strcmp(ops[k], name) != 0) k++;
        const char *at = tab;
        for (unsigned v = 0; v < 3; v++)
            for (unsigned n = 0; n < 64; n++)
                w[v][n] = (uint32_t)strtoul(at, (char **)(uintptr_t)&at, 16);
        snprintf(kernel, sizeof kernel, "k_bredILi%dE", k);
        probe_kernel(&p, kernel);
        probe_shape(&p, 1, 64);
        pl_ptr dst = probe_buffer(&p, 0, w[0], sizeof w[0]);
        probe_buffer(&p, 1, w[1], sizeof w[1]);
        probe_buffer(&p, 2, NULL, 8);
        uint32_t before[64];
        memcpy(before, w[0], sizeof before);
        bool ok = probe_run(&p);
        if (!ok) {
            outcome(&p, ok, got, sizeof got, (int)(tab - s), s);
            probe_row(&p, s, got);
            probe_done(&p);
            continue;
        }
        probe_read(&p, dst, w[0], sizeof w[0]);
        snprintf(got, sizeof got, "%.*s\t%s\t%s\t%s", (int)(tab - s), s, probe_words(before, 64),
                 probe_words(w[1], 64), probe_words(w[0], 64));
        probe_verdict(&p, s, memcmp(w[0], w[2], sizeof w[0]) == 0, got);
        probe_done(&p);
    }
    probe_close(&p);
}

/* ---- st.async and red.async ---- */

static void stores(const char *name)
{
    static const char *const ops[] = {
        "st.b32",      "st.b64",      "st.v2.b32",   "st.v4.b32",   "st.v2.b64",   "red.add.u32",
        "red.add.s32", "red.min.u32", "red.max.u32", "red.min.s32", "red.max.s32", "red.inc.u32",
        "red.dec.u32", "red.and.b32", "red.or.b32",  "red.xor.b32", "red.add.u64"};
    probe p;
    probe_open(&p, name, "async");
    for (size_t row = 0; row < p.lines; row++) {
        const char *s = p.line[row], *tab = strchr(s, '\t');
        char op[32] = "", got[512];
        uint32_t initial, value, dst, bar, r[16];
        if (sscanf(s, "%31s initial=%x value=%x dst+%u bar+%u", op, &initial, &value, &dst, &bar) !=
            5)
            continue;
        uint32_t k = 0;
        while (k < 17 && strcmp(ops[k], op) != 0) k++;
        probe_kernel(&p, "5k_sta");
        probe_shape(&p, 2, 1);
        p.launch.cluster[0] = 2;
        p.launch.cluster[1] = p.launch.cluster[2] = 1;
        pl_ptr out = probe_buffer(&p, 0, NULL, 64);
        probe_buffer(&p, 1, NULL, 8);
        const uint32_t more[] = {k, initial, value, dst, bar};
        for (unsigned n = 0; n < 5; n++) probe_arg32(&p, 2 + n, more[n]);
        bool ok = probe_run(&p);
        if (ok) {
            probe_read(&p, out, r, sizeof r);
            size_t n = (size_t)snprintf(got, sizeof got, "%.*s\t%s\t", (int)(tab - s), s,
                                        probe_words(r, 16));
            probe_verdict(&p, s, strncmp(s, got, n) == 0, got);
        } else {
            outcome(&p, ok, got, sizeof got, (int)(tab - s), s);
            probe_row(&p, s, got);
        }
        probe_done(&p);
    }
    probe_close(&p);
}

/* ---- named barriers ---- */

static void barriers(void)
{
    probe p;
    probe_open(&p, "async.barriers", "async");
    for (size_t row = 0; row < p.lines; row++) {
        const char *s = p.line[row], *tab = strchr(s, '\t');
        uint32_t v, count, mask, r[128];
        char got[2048];
        if (sscanf(s, "bar v=%u cnt=%u predmask=%x", &v, &count, &mask) != 3) continue;
        memset(r, 0xee, sizeof r);
        probe_kernel(&p, "4k_nb");
        probe_shape(&p, 1, 128);
        pl_ptr out = probe_buffer(&p, 0, r, sizeof r);
        probe_arg32(&p, 1, v);
        probe_arg32(&p, 2, count);
        probe_arg32(&p, 3, mask);
        bool ok = probe_run(&p);
        probe_read(&p, out, r, sizeof r);
        if (ok)
            snprintf(got, sizeof got, "%.*s\t%s", (int)(tab - s), s, probe_words(r, 128));
        else
            outcome(&p, ok, got, sizeof got, (int)(tab - s), s);
        probe_row(&p, s, got);
        probe_done(&p);
    }
    probe_close(&p);
}

static void barrier_faults(void)
{
    probe p;
    probe_open(&p, "async.barrier_faults", "async");
    for (size_t row = 0; row < p.lines; row++) {
        const char *s = p.line[row], *tab = strchr(s, '\t');
        uint32_t v, count;
        char got[512];
        if (sscanf(s, "badbar v=%u c=%u", &v, &count) != 2) continue;
        probe_kernel(&p, "8k_barbad");
        probe_shape(&p, 1, 64);
        probe_arg32(&p, 0, v);
        probe_arg32(&p, 1, count);
        bool ok = probe_run(&p);
        outcome(&p, ok, got, sizeof got, (int)(tab - s), s);
        probe_row(&p, s, got);
        probe_done(&p);
    }
    probe_close(&p);
}

/* ---- elect: one launch for the whole table ---- */

static void elections(void)
{
    probe p;
    probe_open(&p, "async.elect", "async");
    uint32_t *mask = calloc(p.lines, 4), *r = calloc(p.lines, 32 * 4);
    for (size_t k = 0; mask && k < p.lines; k++) mask[k] = (uint32_t)strtoul(p.line[k], NULL, 16);
    probe_kernel(&p, "7k_elect");
    probe_shape(&p, 1, 32);
    probe_buffer(&p, 0, mask, p.lines * 4);
    probe_buffer(&p, 1, mask, p.lines * 4);
    pl_ptr out = probe_buffer(&p, 2, NULL, p.lines * 32 * 4);
    probe_arg32(&p, 3, (uint32_t)p.lines);
    bool ok = probe_run(&p);
    probe_read(&p, out, r, p.lines * 32 * 4);
    for (size_t k = 0; k < p.lines; k++) {
        char got[512];
        snprintf(got, sizeof got, "%08x\t%s", mask[k], probe_words(r + 32 * k, 32));
        probe_row(&p, p.line[k], ok ? got : p.result.error_text);
    }
    probe_done(&p);
    free(mask);
    free(r);
    probe_close(&p);
}

/* ---- masks that differ by lane, exited blocks, computed branches, nested calls ---- */

static void groups(void)
{
    probe p;
    static const char *const kernel[] = {"masks", "ended", "table", "recurse"};
    static const uint32_t index[] = {3, 6, 7, 1000, UINT32_MAX};
    probe_open(&p, "exec.groups", "exec");
    for (size_t k = 0; k < p.lines; k++) {
        uint32_t c = (uint32_t)strtoul(p.line[k] + strlen("case "), NULL, 10),
                 kind = c < 4    ? 0
                        : c < 7  ? 1
                        : c < 12 ? 2
                                 : 3,
                 words[512] = {0};
        char got[8192];
        pl_ptr out;
        uint64_t size;
        probe_kernel(&p, kernel[kind]);
        probe_shape(&p, kind == 1 ? 2 : 1, kind == 3 ? 1 : 32);
        probe_arg32(&p, 0,
                    kind == 0   ? c
                    : kind == 1 ? c - 4
                    : kind == 2 ? index[c - 7]
                                : 1u << (c - 12));
        if (pl_module_reset(p.module) != PL_OK ||
            pl_module_symbol(p.module, "out", &out, &size) != PL_OK)
            break;
        bool ok = probe_run(&p);
        int n = snprintf(got, sizeof got, "case %u\tsync=%s", c,
                         ok ? "0(cudaSuccess)" : probe_error(p.result.error));
        probe_read(&p, out, words, sizeof words);
        for (size_t i = 0; ok && i < (kind ? 32 : 512); i++)
            n += snprintf(got + n, sizeof got - (size_t)n, "%c%x", i ? ' ' : '\t', words[i]);
        probe_row(&p, p.line[k], got);
        probe_done(&p);
    }
    probe_close(&p);
}

/* ---- two grids in a stream, where the second may start before the first has ended ---- */

static void dependent(pl_mode mode)
{
    probe p;
    probe_open(&p, "async.pdl", "async");
    for (size_t k = 0; k < p.lines; k++) {
        static const char *const triggers[] = {"never", "first", "last"};
        unsigned attr, wait, seen[2];
        char trigger[8], got[64];
        if (sscanf(p.line[k], "pdl attr=%u trigger=%7s wait=%u", &attr, trigger, &wait) != 3) break;
        uint32_t when = 0;
        while (strcmp(triggers[when], trigger) != 0) when++;
        probe_kernel(&p, "4k_p2");
        pl_ptr flags = probe_buffer(&p, 0, NULL, 8 * sizeof(uint32_t)),
               out = probe_buffer(&p, 1, NULL, sizeof seen);
        probe_arg32(&p, 2, wait);
        pl_launch second = p.launch;
        uint8_t params[sizeof p.params];
        memcpy(params, p.params, sizeof params);
        second.params = params;
        second.dependent = attr != 0;
        probe_kernel(&p, "4k_p1");
        probe_shape(&p, 8, 1);
        probe_arg(&p, 0, &flags);
        probe_arg32(&p, 1, when);
        p.launch.then = &second;
        p.launch.mode = mode;
        bool ok = probe_run(&p);
        probe_read(&p, out, seen, sizeof seen);
        snprintf(got, sizeof got, "pdl attr=%u trigger=%s wait=%u\tbefore=%u after=%u", attr,
                 trigger, wait, seen[0], seen[1]);
        probe_row(&p, p.line[k], ok ? got : p.result.error_text);
        probe_done(&p);
    }
    probe_close(&p);
}

int main(void)
{
    scripts("async.mbar");
    scripts("async.mbar_raw");
    copies();
    bulk("async.bulk");
    bulk("async.bulk_faults");
    bulk_reduce();
    stores("async.st_async");
    stores("async.st_async_faults");
    barriers();
    barrier_faults();
    elections();
    groups();
    dependent(PL_MODE_FUNCTIONAL);
    dependent(PL_MODE_TIMING);
    return tap_done();
}
