/* run_json.c - the results of `ptxloom run --json`: one object for all cases. */
#include "cli/run.h"
#include "cli/stop.h"
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

struct run_report {
    json_t *cases;
    uint64_t elements; /* per output */
    bool ok;
};

run_report *run_json_open(uint64_t elements)
{
    run_report *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->ok = true;
    r->elements = elements;
    r->cases = json_array();
    if (r->cases) return r;
    free(r);
    return NULL;
}

/* Adds a member; NULL values mean that memory was exhausted. */
static void put(run_report *r, json_t *object, const char *key, json_t *value)
{
    if (!value || json_object_set_new(object, key, value) != 0) r->ok = false;
}

/* Text that may come from the user's file. */
static json_t *text(const char *s)
{
    return cli_json_text(s);
}

static json_t *whole(uint64_t n)
{
    return json_integer((json_int_t)n);
}

/* Counters are sums: whole numbers are printed as integers. */
static json_t *figure(double v)
{
    if (v == floor(v) && fabs(v) < 0x1p53) return json_integer((json_int_t)v);
    return json_real(v);
}

/* Returns a number as JSON, or as text where JSON has none: nan, inf, and integers above 2^63. */
static json_t *element(const run_case *c, size_t k, uint64_t i)
{
    char value[64], *end;
    pl_case_element(c->launch, k, i, value, sizeof value);
    errno = 0;
    if (c->launch->arg[k].type[0] != 'u' && c->launch->arg[k].type[0] != 's') {
        const double v = strtod(value, &end);
        return isfinite(v) ? json_real(v) : json_string(value);
    }
    const long long v = strtoll(value, &end, 10);
    return errno ? json_string(value) : json_integer(v);
}

static json_t *values(run_report *r, const run_case *c, size_t k)
{
    const pl_case_arg *a = &c->launch->arg[k];
    const uint64_t n = a->whole || r->elements > a->count ? a->count : r->elements;
    json_t *list = json_array();
    for (uint64_t i = 0; list && i < n; i++) {
        if (i % 4096 == 4095 && cli_stop != CLI_GO_ON) break;
        if (json_array_append_new(list, element(c, k, i)) != 0) r->ok = false;
    }
    return list;
}

static json_t *outputs(run_report *r, const run_case *c)
{
    json_t *list = json_array();
    for (size_t k = 0; list && k < c->launch->nargs; k++) {
        const pl_case_arg *a = &c->launch->arg[k];
        char hex[65];
        if (!a->output || a->address == 0) continue;
        json_t *o = json_object();
        put(r, o, "arg", whole(k));
        if (a->variable) put(r, o, "variable", text(a->variable));
        put(r, o, "type", text(a->type));
        put(r, o, "count", whole(a->count));
        if (r->elements || a->whole) put(r, o, "values", values(r, c, k));
        put(r, o, "sha256", run_hash(c, k, hex) ? text(hex) : json_null());
        if (json_array_append_new(list, o) != 0) r->ok = false;
    }
    return list;
}

static json_t *metrics(run_report *r, const run_case *c)
{
    json_t *object = json_object();
    for (size_t i = 0; object && i < c->result.ncounters; i++) {
        const pl_counter *m = &c->result.counter[i];
        if (isfinite(m->value)) put(r, object, m->name, figure(m->value));
    }
    for (size_t i = 0; object && i < c->nmetrics; i++) {
        const pl_metric *m = &c->metric[i];
        bool shown = m->known && isfinite(m->value);
        put(r, object, m->name, shown ? figure(m->value) : json_null());
    }
    return object;
}

static json_t *diagnostics(run_report *r, const run_case *c)
{
    json_t *list = json_array();
    for (size_t i = c->first_message; list && i < pl_gpu_diag_count(c->gpu); i++) {
        pl_message m = pl_gpu_diag(c->gpu, i, false);
        json_t *o = json_object();
        put(r, o, "severity", text(m.severity));
        put(r, o, "code", text(m.code));
        put(r, o, "file", text(m.file));
        put(r, o, "line", whole(m.line));
        put(r, o, "column", whole(m.column));
        put(r, o, "source", text(m.source));
        put(r, o, "text", text(m.text));
        put(r, o, "help", text(m.help));
        if (json_array_append_new(list, o) != 0) r->ok = false;
    }
    return list;
}

static json_t *place(run_report *r, const uint32_t block[3], const uint32_t thread[3])
{
    json_t *o = json_object();
    put(r, o, "block", json_pack("[iii]", (int)block[0], (int)block[1], (int)block[2]));
    put(r, o, "thread", json_pack("[iii]", (int)thread[0], (int)thread[1], (int)thread[2]));
    return o;
}

static json_t *findings(run_report *r, const run_case *c)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < pl_checks_count(c->checks); i++) {
        const pl_finding *f = pl_checks_finding(c->checks, i);
        const bool two = f->other_pc != UINT32_MAX;
        json_t *o = json_object(), *threads = json_array();
        put(r, o, "tool", text(f->tool));
        put(r, o, "kind", text(f->kind));
        put(r, o, "severity", text(f->severity));
        put(r, o, "space", text(f->space));
        put(r, o, "kernel", text(f->kernel));
        put(r, o, "file", text(f->file));
        put(r, o, "line", whole(f->line));
        put(r, o, "other_file", text(f->other_file));
        put(r, o, "other_line", two ? whole(f->other_line) : json_null());
        if (json_array_append_new(threads, place(r, f->block, f->thread)) != 0) r->ok = false;
        if (two && json_array_append_new(threads, place(r, f->other_block, f->other_thread)) != 0)
            r->ok = false;
        put(r, o, "threads", threads);
        put(r, o, "address", whole(f->address));
        put(r, o, "bytes", whole(f->bytes));
        put(r, o, "count", whole(f->count));
        put(r, o, "seed", f->seed ? whole(f->seed) : json_null());
        put(r, o, "text", text(f->text));
        put(r, o, "help", text(f->help));
        if (json_array_append_new(list, o) != 0) r->ok = false;
    }
    return list;
}

void run_json_add(run_report *r, const run_case *c)
{
    json_t *o = json_object();
    const pl_result *f = &c->result;
    bool known = c->launched, complete = known && c->status == PL_OK,
         timed = complete && c->mode == PL_MODE_TIMING;
    put(r, o, "name", text(c->name));
    put(r, o, "entry", text(c->entry));
    put(r, o, "arch", text(c->arch));
    put(r, o, "mode", text(c->mode == PL_MODE_TIMING ? "timing" : "functional"));
    put(r, o, "status", text(run_status_word(c)));
    /* Counts of an incomplete launch cover the time until it stopped, and it has no metrics. */
    put(r, o, "complete", json_boolean(complete));
    put(r, o, "cycles", timed ? whole(f->cycles) : json_null());
    put(r, o, "inst_executed", known ? whole(f->inst_executed) : json_null());
    put(r, o, "thread_inst_executed", known ? whole(f->thread_inst_executed) : json_null());
    put(r, o, "registers", known ? whole(f->registers) : json_null());
    put(r, o, "shared",
        known ? whole((uint64_t)f->static_shared + f->dynamic_shared) : json_null());
    put(r, o, "local", known ? whole(f->local_bytes) : json_null());
    put(r, o, "wall_seconds", known ? json_real(f->wall_seconds) : json_null());
    put(r, o, "outputs", known && c->status == PL_OK ? outputs(r, c) : json_array());
    put(r, o, "metrics", complete ? metrics(r, c) : json_object());
    put(r, o, "diagnostics", diagnostics(r, c));
    if (c->checks) put(r, o, "findings", findings(r, c));
    if (c->printed) put(r, o, "printed", text(c->printed));
    if (json_array_append_new(r->cases, o) != 0) r->ok = false;
}

bool run_json_close(run_report *r)
{
    json_t *root = json_object();
    put(r, root, "version", json_string(PTXLOOM_VERSION));
    put(r, root, "cases", r->cases);
    bool ok = cli_print_json(r->ok ? root : NULL);
    json_decref(root);
    free(r);
    return ok;
}
