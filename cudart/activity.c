/* activity.c - activities of the application: rows of the trace, and the tables of --summary. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "cudart/activity.h"
#include "cudart/state.h"
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- sums */

typedef struct cuda_row {
    const char *name;
    uint64_t calls, estimated, bytes, cycles, instructions;
    double ns, min, max, seconds;
    double spread; /* largest one of the estimates, in ns; < 0: unknown */
} cuda_row;

typedef struct cuda_rows {
    cuda_row *at;
    size_t n, cap;
} cuda_rows;

static cuda_rows activities, calls;

static cuda_row *row_of(cuda_rows *rows, const char *name)
{
    for (size_t k = 0; k < rows->n; k++)
        if (rows->at[k].name == name || strcmp(rows->at[k].name, name) == 0) return &rows->at[k];
    cuda_row *at = cuda_array_room(rows->at, rows->n, &rows->cap, sizeof *at);
    if (!at) return NULL;
    rows->at = at;
    char *copy = strdup(name);
    if (!copy) return NULL;
    rows->at[rows->n] = (cuda_row){.name = copy, .spread = -1};
    return &rows->at[rows->n++];
}

static cuda_row *add_time(cuda_rows *rows, const char *name, double ns)
{
    cuda_row *r = row_of(rows, name);
    if (!r) return NULL;
    if (!r->calls || ns < r->min) r->min = ns;
    if (!r->calls || ns > r->max) r->max = ns;
    r->calls++;
    r->ns += ns;
    return r;
}

void cuda_count(const char *name, const pl_result *r)
{
    cuda_row *row = cuda.paused ? NULL : row_of(&activities, name);
    if (!row) return;
    row->cycles += r->cycles;
    row->instructions += r->inst_executed;
    row->seconds += r->wall_seconds;
}

/* ---------------------------------------------------------------- rows of the trace */

static void check_trace(pl_status st)
{
    if (st == PL_OK) return;
    cuda_print_messages();
    pl_trace_close(cuda.trace, false);
    cuda.trace = NULL;
}

void cuda_record_activity(const cuda_activity *a)
{
    if (cuda.paused) return;
    if (cuda.options.summary && a->span.end > a->span.start && strcmp(a->kind, "event") != 0) {
        char name[64];
        snprintf(name, sizeof name, "[%s %s]", a->kind, a->name);
        const bool kernel = strcmp(a->kind, "kernel") == 0,
                   same_name = strcmp(a->kind, a->name) == 0;
        if (same_name) snprintf(name, sizeof name, "[%s]", a->kind);
        cuda_row *r = add_time(&activities, kernel ? a->name : name, a->span.end - a->span.start);
        if (r && a->bytes > 0) r->bytes += (uint64_t)a->bytes;
        if (r) r->estimated += a->estimated;
        if (r && a->estimated && a->spread > r->spread) r->spread = a->spread;
    }
    if (!cuda.trace) return;
    check_trace(pl_trace_add_activity(
        cuda.trace, &(pl_trace_activity){.kind = a->kind,
                                         .name = a->name,
                                         .device = cuda_self.device,
                                         .stream = (int64_t)a->stream,
                                         .call = cuda_self.call_id,
                                         .graph = cuda.graph_launch,
                                         .start = a->span.start * 1e-3,
                                         .end = a->span.end * 1e-3,
                                         .launch = a->launch,
                                         .bytes = a->bytes,
                                         .source = a->source,
                                         .destination = a->destination,
                                         .estimated = a->estimated,
                                         .spread = a->estimated ? a->spread * 1e-3 : -1}));
}

void cuda_delay_activities(int device, uint64_t stream, double from, double by)
{
    if (cuda.trace)
        check_trace(
            pl_trace_move_activities(cuda.trace, device, (int64_t)stream, from * 1e-3, by * 1e-3));
}

void cuda_record_call(int result, const char *error)
{
    if (cuda.paused) return;
    if (!cuda_self.number) cuda_self.number = ++cuda.threads;
    const char *name = cuda_call_name();
    if (cuda.options.summary) add_time(&calls, name, cuda.now - cuda_self.call_start);
    if (!cuda.trace) return;
    check_trace(pl_trace_add_call(cuda.trace, &(pl_trace_call){.id = cuda_self.call_id,
                                                               .name = name,
                                                               .thread = cuda_self.number,
                                                               .start = cuda_self.call_start * 1e-3,
                                                               .end = cuda.now * 1e-3,
                                                               .result = result,
                                                               .error = error}));
}

void cuda_record_allocation(const cuda_alloc *a, double end)
{
    static const char *const name[] = {
        [MEMORY_HOST] = "pinned", [MEMORY_DEVICE] = "device", [MEMORY_MANAGED] = "managed"};
    if (!cuda.trace) return;
    check_trace(pl_trace_add_allocation(
        cuda.trace, &(pl_trace_allocation){.address = a->address,
                                           .bytes = a->size,
                                           .memory = a->registered ? "registered" : name[a->type],
                                           .start = a->start * 1e-3,
                                           .end = end * 1e-3}));
}

/* ---------------------------------------------------------------- --metrics */

/* A metric of a kernel over its launches. */
typedef struct cuda_metric {
    const char *kernel;
    const char *name, *unit; /* owned by the library */
    uint64_t launches;
    double sum, min, max;
} cuda_metric;

static struct {
    cuda_metric *at;
    size_t n, cap;
} metrics;

static cuda_metric *metric_of(const char *kernel, const pl_metric *m)
{
    for (size_t k = 0; k < metrics.n; k++)
        if (strcmp(metrics.at[k].name, m->name) == 0 && strcmp(metrics.at[k].kernel, kernel) == 0)
            return &metrics.at[k];
    cuda_metric *at = cuda_array_room(metrics.at, metrics.n, &metrics.cap, sizeof *at);
    if (!at) return NULL;
    metrics.at = at;
    char *copy = strdup(kernel);
    if (!copy) return NULL;
    metrics.at[metrics.n] = (cuda_metric){
        .kernel = copy, .name = m->name, .unit = m->unit, .min = m->value, .max = m->value};
    return &metrics.at[metrics.n++];
}

void cuda_count_metrics(const char *kernel)
{
    const pl_metric *m;
    size_t n;
    if (pl_trace_metrics(cuda.trace, cuda.options.metrics, &m, &n) != PL_OK) return;
    for (size_t k = 0; k < n; k++) {
        cuda_metric *sum = m[k].known ? metric_of(kernel, &m[k]) : NULL;
        if (!sum) continue;
        sum->launches++;
        sum->sum += m[k].value;
        if (m[k].value < sum->min) sum->min = m[k].value;
        if (m[k].value > sum->max) sum->max = m[k].value;
    }
}

void cuda_print_metrics(void)
{
    fflush(stdout);
    if (!metrics.n) {
        cuda_report("no metrics: no launch ran to its end in timing mode");
        return;
    }
    for (size_t k = 0; k < metrics.n; k++) {
        const cuda_metric *m = &metrics.at[k];
        if (!k || strcmp(m->kernel, m[-1].kernel) != 0)
            fprintf(stderr, "\n%s\n%8s %14s %14s %14s  %s\n", m->kernel, "launches", "least",
                    "average", "most", "metric");
        fprintf(stderr, "%8" PRIu64 " %14.6g %14.6g %14.6g  %s%s%s\n", m->launches, m->min,
                m->sum / (double)m->launches, m->max, m->name, *m->unit ? ", " : "", m->unit);
    }
}

/* ---------------------------------------------------------------- names */

/* Programs built by nvcc link the C++ library, which provides a demangler. */
char *cuda_demangle(const char *name)
{
    union {
        void *address;
        char *(*call)(const char *, char *, size_t *, int *);
    } demangle = {.address = dlsym(RTLD_DEFAULT, "__cxa_demangle")};
    int status;
    return demangle.address ? demangle.call(name, NULL, NULL, &status) : NULL;
}

/* Returns the end of a list in parentheses or angle brackets that begins at `from`; NULL: it has no
 * end. */
static const char *end_of_list(const char *from)
{
    int depth = 0;
    for (const char *p = from; *p; p++) {
        depth += *p == '<' || *p == '(';
        depth -= (*p == '>' && p[-1] != '-') || *p == ')';
        if (!depth) return p + 1;
    }
    return NULL;
}

char *cuda_demangle_short(const char *name)
{
    enum { LONG = 120 };
    static const char unnamed[] = "(anonymous namespace)";
    char *shown = cuda_demangle(name), *to = shown;
    if (!shown || strlen(shown) <= LONG || strstr(shown, "operator")) return shown;
    for (const char *p = shown; *p;) {
        const bool open = *p == '<' || *p == '(';
        const char *end = open ? end_of_list(p) : NULL;
        if (end && end - p > 5 && strncmp(p, unnamed, strlen(unnamed)) != 0) {
            memcpy(to, *p == '<' ? "<...>" : "(...)", 5);
            to += 5;
            p = end;
        } else {
            *to++ = *p++;
        }
    }
    *to = '\0';
    return shown;
}

const char *cuda_shown_name(cuda_function *f)
{
    if (f->shown) return f->shown;
    f->shown = cuda_demangle(f->name);
    if (!f->shown) f->shown = strdup(f->name);
    return f->shown ? f->shown : f->name;
}

/* ---------------------------------------------------------------- --summary */

static int by_time_descending(const void *a, const void *b)
{
    const cuda_row *x = a, *y = b;
    if (x->ns != y->ns) return x->ns < y->ns ? 1 : -1;
    return strcmp(x->name, y->name);
}

/* Formats a time with a suitable unit, in at least eight characters. */
static const char *format_time(double ns, char text[32])
{
    static const char *const unit[] = {"ns", "us", "ms", "s"};
    int k = 0;
    while (k < 3 && ns >= 1000) ns /= 1000, k++;
    snprintf(text, 32, "%.*f %2s", ns >= 100 ? 1 : ns >= 10 ? 2 : 3, ns, unit[k]);
    return text;
}

static void print_rows(cuda_rows *rows, const char *title)
{
    char total[32], mean[32], min[32], max[32];
    double sum = 0;
    if (!rows->n) return;
    qsort(rows->at, rows->n, sizeof *rows->at, by_time_descending);
    for (size_t k = 0; k < rows->n; k++) sum += rows->at[k].ns;
    fprintf(stderr, "\n%8s %11s %8s %11s %11s %11s  %s\n", "time", "", "calls", "average", "least",
            "most", title);
    for (size_t k = 0; k < rows->n; k++) {
        const cuda_row *r = &rows->at[k];
        const double n = r->calls ? (double)r->calls : 1;
        fprintf(stderr, "%6.2f %% %11s %8" PRIu64 " %11s %11s %11s  %s",
                sum > 0 ? 100 * r->ns / sum : 0, format_time(r->ns, total), r->calls,
                format_time(r->ns / n, mean), format_time(r->min, min), format_time(r->max, max),
                r->name);
        if (r->estimated) fprintf(stderr, " (%" PRIu64 " estimated", r->estimated);
        if (r->spread >= 0) fprintf(stderr, ", +- %s", format_time(r->spread, mean));
        if (r->estimated) fputc(')', stderr);
        fputc('\n', stderr);
    }
}

void cuda_summary(void)
{
    fflush(stdout);
    print_rows(&activities, "kernels and copies");
    print_rows(&calls, "calls of the API, on the host");
    bool any = false;
    for (size_t k = 0; k < activities.n; k++) {
        const cuda_row *r = &activities.at[k];
        if (*r->name == '[') continue;
        if (!any)
            fprintf(stderr, "\n%8s %16s %16s %10s  kernel\n", "launches", "cycles", "instructions",
                    "emulated");
        any = true;
        fprintf(stderr, "%8" PRIu64 " %16" PRIu64 " %16" PRIu64 " %8.2f s  %s\n", r->calls,
                r->cycles, r->instructions, r->seconds, r->name);
    }
}
