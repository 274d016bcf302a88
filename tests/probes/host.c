/* host.c - recorded device printf, assertions, device heap, launch limits and launches from the
 * device (tests/data/probes/host*). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/probes/probe.h"

/* ---- printf: three rows per format, "bytes", "text" and "RET" ---- */

static uint32_t fnv(const char *s, size_t n)
{
    uint32_t h = 2166136261u;
    for (size_t k = 0; k < n; k++) h = (h ^ (uint8_t)s[k]) * 16777619u;
    return h;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines of a text in alphabetical order: warps print in any order. */
static void sort_lines(char *s, size_t n)
{
    char *copy = malloc(n + 1), **line = calloc(n + 1, sizeof *line);
    size_t lines = 0, at = 0;
    if (!copy || !line) exit(EXIT_FAILURE);
    memcpy(copy, s, n);
    copy[n] = '\0';
    for (char *p = strtok(copy, "\n"); p; p = strtok(NULL, "\n")) line[lines++] = p;
    qsort(line, lines, sizeof *line, by_text);
    for (size_t k = 0; k < lines; k++) at += (size_t)sprintf(s + at, "%s\n", line[k]);
    free(copy);
    free(line);
}

/* The recorded bytes, decoded from hexadecimal. */
static size_t unhex(const char *hex, char *to)
{
    size_t n = 0;
    for (unsigned v; sscanf(hex, "%2x", &v) == 1 && hex[0] && hex[1]; hex += 2) to[n++] = (char)v;
    return n;
}

static void prints(void)
{
    static const char *const special[] = {
        "32 args", "33 args", "NULL format", "order 2x33", "overflow 40000 lines", "no newline"};
    probe p;
    probe_open(&p, "host.printf", "host");
    char last[256] = "";
    int k = -1, returned = 0;
    char *text = NULL;
    size_t bytes = 0;
    pl_ptr results;
    uint64_t size;
    for (size_t row = 0; row < p.lines; row++) {
        const char *s = p.line[row], *tab = strchr(s, '\t');
        size_t label = (size_t)(tab - s);
        int which = -1;
        for (int n = 0; n < 6; n++)
            which = strncmp(s, special[n], label) == 0 && strlen(special[n]) == label ? n : which;
        if (strncmp(tab, "\tERROR", 6) == 0) { /* the preceding launch failed */
            char got[512];
            const char *error = probe_error(p.result.error);
            snprintf(got, sizeof got, "%s\tERROR\tsync\tlaunch=%s\tsync=%s\tsticky=1", last, error,
                     error);
            probe_row(&p, s, got);
        } else if (strncmp(tab, "\ttext", 5) != 0 &&
                   strncmp(tab, "\tRET", 4) != 0) { /* the first row of a format: run it */
            snprintf(last, sizeof last, "%.*s", (int)label, s);
            k += which < 0;
            probe_kernel(&p, which < 0 ? "2pfi" : "3pfxi");
            if (which == 3) probe_shape(&p, 2, 33);
            probe_arg32(&p, 0, (uint32_t)(which < 0 ? k : which));
            bool ok = probe_run(&p);
            const char *printed = pl_gpu_printed_bytes(p.gpu, &bytes);
            free(text);
            text = malloc(bytes + 1);
            if (!text) exit(EXIT_FAILURE);
            memcpy(text, printed ? printed : "", bytes);
            pl_module_symbol(p.module, "pr_ret", &results, &size);
            uint32_t r = 0;
            pl_copy_from_device(p.gpu, &r, results + 4 * (uint64_t)(which < 0 ? k : 600 + which),
                                4);
            returned = (int)r;
            char got[512];
            size_t lines = 0;
            for (size_t n = 0; n < bytes; n++) lines += text[n] == '\n';
            if (which == 3) { /* compares regardless of the order */
                const char *hex = strrchr(s, '\t') + 1;
                char *want = malloc(strlen(hex) + 1);
                size_t n = want ? unhex(hex, want) : 0;
                sort_lines(text, bytes);
                if (want) sort_lines(want, n);
                probe_verdict(&p, s, ok && want && n == bytes && memcmp(want, text, n) == 0,
                              "other lines");
                free(want);
                continue;
            }
            int n = snprintf(got, sizeof got, "%s\t%zu bytes %zu newlines fnv=%08x\t", last, bytes,
                             lines, fnv(text, bytes));
            probe_verdict(&p, s, (ok || bytes == 0) && strncmp(got, s, (size_t)n) == 0, got);
            probe_done(&p);
        } else if (strncmp(tab, "\tRET", 4) == 0) {
            char got[320];
            snprintf(got, sizeof got, "%s\tRET\t%d", last, returned);
            probe_row(&p, s, got);
        } else { /* the text row repeats the bytes */
            probe_verdict(&p, s, strncmp(last, s, label) == 0, last);
        }
    }
    free(text);
    probe_close(&p);
}

/* ---- assertions ---- */

static void asserts(void)
{
    static const uint32_t shape[9][2] = {{2, 2}, {2, 3}, {1, 3}, {1, 32}, {1, 3},
                                         {1, 3}, {1, 3}, {1, 1}, {1, 1}};
    probe p;
    probe_open(&p, "host.asserts", "host");
    char *path = data_path("probes/host.asserts.txt"), *log = read_whole(path, NULL), *at = log;
    free(path);
    for (size_t row = 0; row < p.lines; row++) {
        const char *s = p.line[row];
        char mark[32], got[256];
        snprintf(mark, sizeof mark, "-- variant %zu\n", row);
        at = strstr(at, mark);
        at = at ? at + strlen(mark) : log;
        const char *end = strstr(at, "== variant");
        size_t n = end ? (size_t)(end - at) : strlen(at);
        probe_kernel(&p, row < 7 ? "4asrti" : row == 7 ? "4tmplIiE" : "3nsk");
        probe_shape(&p, shape[row][0], shape[row][1]);
        probe_arg32(&p, 0, row < 7 ? (uint32_t)row : row == 7 ? 3 : 1);
        probe_run(&p);
        const char *printed = pl_gpu_printed(p.gpu);
        int code = atoi(probe_error(p.result.error));
        /* after a fault every API call fails with it until the device is reset; that is left to the
         * API */
        snprintf(got, sizeof got,
                 "variant %zu\tlaunch=0 sync=%d get=%d sync2=%d malloc=%d reset=0 malloc2=46", row,
                 code, code, code, code);
        probe_row(&p, s, got);
        bool same =
            strlen(printed ? printed : "") == n && memcmp(printed ? printed : "", at, n) == 0;
        tap(same, "assertion text of variant %zu", row);
        if (!same) tap_note("printed: %s", printed ? printed : "(nothing)");
        probe_done(&p);
    }
    free(log);
    probe_close(&p);
}

/* ---- the device heap: which allocations succeed; their addresses are unspecified ---- */

static void heap(void)
{
    probe p;
    probe_open(&p, "host.heap", "host");
    for (size_t row = 0; row < p.lines; row++) {
        const char *s = p.line[row];
        uint64_t bytes, out[16];
        int release;
        if (sscanf(s, "malloc %" SCNu64 " free=%d", &bytes, &release) != 2) {
            probe_row(&p, s, "default heap\t8388608");
            continue;
        }
        probe q; /* a new heap for each row */
        probe_open(&q, "host.heap", "host");
        probe_kernel(&q, "2hpP");
        pl_ptr list = probe_buffer(&q, 0, NULL, sizeof out);
        probe_arg(&q, 1, &bytes);
        probe_arg32(&q, 2, 16);
        probe_arg32(&q, 3, (uint32_t)release);
        bool same = probe_run(&q);
        probe_read(&q, list, out, sizeof out);
        char got[512];
        size_t n = 0;
        const char *at = strrchr(s, '\t') + 1;
        for (int k = 0; k < 16; k++) {
            char word[32] = "";
            int used = 0;
            sscanf(at, "%31s%n", word, &used);
            at += used;
            same &= (strcmp(word, "NULL") == 0) == (out[k] == 0) && out[k] % 16 == 0;
            for (int j = 0; j < k && out[k] && !release; j++) /* blocks do not overlap */
                same &= out[j] + bytes <= out[k] || out[k] + bytes <= out[j];
            same &= !release || !out[k] || out[k] == out[0];
            n += (size_t)sprintf(got + n, "%" PRId64 " ", out[k] ? (int64_t)(out[k] - out[0]) : -1);
        }
        probe_verdict(&p, s, same, got);
        probe_done(&q);
        pl_module_close(q.module);
        pl_gpu_close(q.gpu);
        free(q.line);
        free(q.text);
    }
    probe_close(&p);
}

/* ---- launches that the driver accepts or rejects ---- */

/* The code of a rejection belongs to the API; here only whether the launch runs. */
static void launches(void)
{
    probe p;
    probe_open(&p, "host.launch", "host");
    for (size_t row = 0; row < p.lines; row++) {
        const char *s = p.line[row], *grid = strstr(s, " grid=");
        uint32_t g[3], b[3];
        uint64_t shared;
        int cluster, optin, coop, launch = -1, setattr = -1, sync = -1;
        if (grid && strstr(s, "\tERROR\t")) { /* the preceding launch failed */
            probe_verdict(&p, s, strstr(s, probe_error(p.result.error)) != NULL,
                          probe_error(p.result.error));
            continue;
        }
        if (!grid ||
            sscanf(grid,
                   " grid=%u,%u,%u block=%u,%u,%u smem=%" SCNu64
                   " cluster=%d optin=%d coop=%d\tsetattr=%d\tlaunch=%d",
                   &g[0], &g[1], &g[2], &b[0], &b[1], &b[2], &shared, &cluster, &optin, &coop,
                   &setattr, &launch) != 12 ||
            sscanf(strstr(s, "sync="), "sync=%d", &sync) != 1) {
            probe_verdict(&p, s, false, "no launch");
            continue;
        }
        size_t n = (size_t)(grid - s);
        const char *kernel = strncmp(s, "smem_user", n) == 0                           ? "smem_user"
                             : strncmp(s, "cl2", 3) == 0                               ? "3cl2"
                             : strncmp(s, "lb128", n) == 0                             ? "5lb128"
                             : strncmp(s, "p4k", n) == 0                               ? "3p4k"
                             : strncmp(s, "p32k", n) == 0                              ? "4p32k"
                             : strncmp(s, "coop", n) == 0 || strncmp(s, "nop", 3) == 0 ? "3nopv"
                                                                                       : NULL;
        if (!kernel) {
            probe_verdict(&p, s, false, "no kernel");
            continue;
        }
        probe_kernel(&p, kernel);
        memcpy(p.launch.grid, g, sizeof g);
        memcpy(p.launch.block, b, sizeof b);
        p.launch.dynamic_shared =
            (uint32_t)shared; /* the API truncates the size to its low half, too */
        p.launch.cooperative = coop != 0;
        if (cluster) {
            p.launch.cluster[0] = (uint32_t)cluster & 31;
            p.launch.cluster[1] = cluster >> 5 ? (uint32_t)cluster >> 5 : 1;
            p.launch.cluster[2] = 1;
        }
        pl_kernel_info info;
        pl_module_kernel(p.module, p.kernel, &info);
        if (info.nparams) probe_buffer(&p, info.nparams - 1, NULL, 4096 + 256);
        bool ok = probe_run(&p);
        /* more than 48 KiB requires a function attribute in the API; pl_launch_kernel does not */
        if (info.static_shared + p.launch.dynamic_shared > 48 * 1024 && (optin < 0 || setattr != 0))
            ok = false;
        char got[256];
        snprintf(got, sizeof got, "ran: %d (%s)", ok,
                 pl_gpu_diag_count(p.gpu) ? pl_gpu_diag(p.gpu, 0, false).text : "");
        probe_verdict(&p, s, ok == (launch == 0 && sync == 0), got);
        probe_done(&p);
    }
    probe_close(&p);
}

/* ---- launches from the device ---- */

static void children(void)
{
    probe p;
    probe_open(&p, "hostcdp.cdp", "hostcdp");
    for (size_t row = 0; row < p.lines; row++) {
        const char *s = p.line[row];
        uint32_t mode, r[4], zero = 0, log[64];
        if (sscanf(s, "cdp mode=%u", &mode) != 1) continue;
        memset(log, 0xff, sizeof log);
        probe_kernel(&p, "6parent");
        probe_shape(&p, 1, 32);
        pl_ptr seq, logv;
        uint64_t size;
        pl_module_symbol(p.module, "seq", &seq, &size);
        pl_module_symbol(p.module, "logv", &logv, &size);
        pl_copy_to_device(p.gpu, seq, &zero, 4);
        pl_copy_to_device(p.gpu, logv, log, sizeof log);
        probe_arg32(&p, 0, mode);
        uint32_t ones[8];
        memset(ones, 0xff, sizeof ones);
        pl_ptr err = probe_buffer(&p, 1, ones, sizeof ones);
        bool ok = probe_run(&p);
        probe_read(&p, err, r, sizeof r);
        pl_copy_from_device(p.gpu, log, logv, sizeof log);
        char got[512];
        int n = snprintf(got, sizeof got, "cdp mode=%u\t%d %d %d %d\t", mode, (int)r[0], (int)r[1],
                         (int)r[2], (int)r[3]);
        for (int k = 0; k < 12; k++)
            n += snprintf(got + n, sizeof got - (size_t)n, "%d ", (int)log[k]);
        probe_row(&p, s,
                  ok                    ? got
                  : p.result.error_text ? p.result.error_text
                                        : "the launch failed");
        probe_done(&p);
    }
    probe_close(&p);
}

/* ---- occupancy ---- */

/* Registers and shared memory of the kernel in the rows. */
typedef struct asked_kernel {
    uint32_t registers, shared;
} asked_kernel;

static uint32_t blocks_of(const probe *p, const asked_kernel *k, uint32_t threads, uint32_t dynamic)
{
    pl_occupancy_info o;
    return pl_gpu_occupancy(p->gpu, threads, k->registers, k->shared + dynamic, 0, &o) == PL_OK
               ? o.blocks
               : 0;
}

/* Uses the registers of the recorded kernels; the other values of the rows belong to the runtime
 * (tests/cudart/programs.sh). */
static void occupancy(void)
{
    probe p;
    asked_kernel k = {0, 0};
    enum { ALL = 232448 }; /* no recorded kernel was allowed this much shared memory */
    probe_open(&p, "host.occupancy", "host");
    for (size_t row = 0; row < p.lines; row++) {
        const char *s = p.line[row];
        uint32_t threads, shared, want, got, size, kernel;
        if (sscanf(s, "attr\t%*u\tregs=%u shared=%u", &k.registers, &k.shared) == 2) continue;
        if (sscanf(s, "clusters\t%*u\tcl=%u block=%u smem=%u\t%u", &size, &threads, &shared,
                   &want) == 4)
            got = pl_gpu_clusters(p.gpu, blocks_of(&p, &k, threads, shared), size);
        else if (sscanf(s, "%u\t%*u\t%*u\t%u\t%u\t%u", &kernel, &threads, &shared, &want) == 4 &&
                 shared < ALL)
            got = blocks_of(&p, &k, threads, shared);
        else
            continue;
        char text[32];
        snprintf(text, sizeof text, "%u", got);
        probe_verdict(&p, s, got == want, text);
    }
    probe_close(&p);
}

int main(void)
{
    prints();
    occupancy();
    asserts();
    heap();
    launches();
    children();
    return tap_done();
}
