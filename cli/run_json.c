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
static void add_member(run_report *r, json_t *object, const char *key, json_t *value)
{
    if (!value || json_object_set_new(object, key, value) != 0) r->ok = false;
}

/* Text that may come from the user's file. */
static json_t *json_text(const char *s)
{
    return cli_json_text(s);
}

static json_t *integer(uint64_t n)
{
    return json_integer((json_int_t)n);
}

/* Counters are sums: whole numbers are printed as integers. */
static json_t *counter_value(double v)
{
    if (v == floor(v) && fabs(v) < 0x1p53) return json_integer((json_int_t)v);
    return json_real(v);
}

/* Returns a number as JSON, or as text where JSON has none: nan, inf, and integers above 2^63. */
static json_t *json_element(const run_case *c, size_t k, uint64_t i)
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
        if (i % 4096 == 4095 && cli_stop != CLI_CONTINUE) { /* hashing it reports the stop */
            json_decref(list);
            return json_null();
        }
        if (json_array_append_new(list, json_element(c, k, i)) != 0) r->ok = false;
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
        add_member(r, o, "arg", integer(k));
        if (a->variable) add_member(r, o, "variable", json_text(a->variable));
        add_member(r, o, "type", json_text(a->type));
        add_member(r, o, "count", integer(a->count));
        if (r->elements || a->whole) add_member(r, o, "values", values(r, c, k));
        add_member(r, o, "sha256", run_hash(c, k, hex) ? json_text(hex) : json_null());
        if (json_array_append_new(list, o) != 0) r->ok = false;
    }
    return list;
}

static json_t *metrics(run_report *r, const run_case *c)
{
    json_t *object = json_object();
    for (size_t i = 0; object && i < c->result.ncounters; i++) {
        const pl_counter *m = &c->result.counter[i];
        if (isfinite(m->value)) add_member(r, object, m->name, counter_value(m->value));
    }
    for (size_t i = 0; object && i < c->nmetrics; i++) {
        const pl_metric *m = &c->metric[i];
        bool known = m->known && isfinite(m->value);
        add_member(r, object, m->name, known ? counter_value(m->value) : json_null());
    }
    return object;
}

static json_t *diagnostics(run_report *r, const run_case *c)
{
    json_t *list = json_array();
    for (size_t i = c->first_message; list && i < pl_gpu_diag_count(c->gpu); i++) {
        pl_message m = pl_gpu_diag(c->gpu, i, false);
        json_t *o = json_object();
        add_member(r, o, "severity", json_text(m.severity));
        add_member(r, o, "code", json_text(m.code));
        add_member(r, o, "file", json_text(m.file));
        add_member(r, o, "line", integer(m.line));
        add_member(r, o, "column", integer(m.column));
        add_member(r, o, "source", json_text(m.source));
        add_member(r, o, "text", json_text(m.text));
        add_member(r, o, "help", json_text(m.help));
        if (json_array_append_new(list, o) != 0) r->ok = false;
    }
    return list;
}

static json_t *position(run_report *r, const uint32_t block[3], const uint32_t thread[3])
{
    json_t *o = json_object();
    add_member(r, o, "block", json_pack("[iii]", (int)block[0], (int)block[1], (int)block[2]));
    add_member(r, o, "thread", json_pack("[iii]", (int)thread[0], (int)thread[1], (int)thread[2]));
    return o;
}

static json_t *findings(run_report *r, const run_case *c)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < pl_checks_count(c->checks); i++) {
        const pl_finding *f = pl_checks_finding(c->checks, i);
        const bool has_other = f->other_pc != UINT32_MAX;
        json_t *o = json_object(), *threads = json_array();
        add_member(r, o, "tool", json_text(f->tool));
        add_member(r, o, "kind", json_text(f->kind));
        add_member(r, o, "severity", json_text(f->severity));
        add_member(r, o, "space", json_text(f->space));
        add_member(r, o, "kernel", json_text(f->kernel));
        add_member(r, o, "file", json_text(f->file));
        add_member(r, o, "line", integer(f->line));
        add_member(r, o, "other_file", json_text(f->other_file));
        add_member(r, o, "other_line", has_other ? integer(f->other_line) : json_null());
        if (json_array_append_new(threads, position(r, f->block, f->thread)) != 0) r->ok = false;
        if (has_other &&
            json_array_append_new(threads, position(r, f->other_block, f->other_thread)) != 0)
            r->ok = false;
        add_member(r, o, "threads", threads);
        add_member(r, o, "address", integer(f->address));
        add_member(r, o, "bytes", integer(f->bytes));
        add_member(r, o, "count", integer(f->count));
        add_member(r, o, "seed", f->seed ? integer(f->seed) : json_null());
        add_member(r, o, "text", json_text(f->text));
        add_member(r, o, "help", json_text(f->help));
        if (json_array_append_new(list, o) != 0) r->ok = false;
    }
    return list;
}

void run_json_add(run_report *r, const run_case *c)
{
    json_t *o = json_object();
    const pl_result *f = &c->result;
    bool launched = c->launched, complete = launched && c->status == PL_OK,
         has_cycles = complete && c->mode == PL_MODE_TIMING;
    add_member(r, o, "name", json_text(c->name));
    add_member(r, o, "entry", json_text(c->entry));
    add_member(r, o, "arch", json_text(c->arch));
    add_member(r, o, "mode", json_text(c->mode == PL_MODE_TIMING ? "timing" : "functional"));
    add_member(r, o, "status", json_text(run_status_word(c)));
    /* Counts of an incomplete launch cover the time until it stopped, and it has no metrics. */
    add_member(r, o, "complete", json_boolean(complete));
    add_member(r, o, "cycles", has_cycles ? integer(f->cycles) : json_null());
    add_member(r, o, "inst_executed", launched ? integer(f->inst_executed) : json_null());
    add_member(r, o, "thread_inst_executed",
               launched ? integer(f->thread_inst_executed) : json_null());
    add_member(r, o, "registers", launched ? integer(f->registers) : json_null());
    add_member(r, o, "shared",
               launched ? integer((uint64_t)f->static_shared + f->dynamic_shared) : json_null());
    add_member(r, o, "local", launched ? integer(f->local_bytes) : json_null());
    add_member(r, o, "wall_seconds", launched ? json_real(f->wall_seconds) : json_null());
    add_member(r, o, "outputs", launched && c->status == PL_OK ? outputs(r, c) : json_array());
    add_member(r, o, "metrics", complete ? metrics(r, c) : json_object());
    add_member(r, o, "diagnostics", diagnostics(r, c));
    if (c->checks) add_member(r, o, "findings", findings(r, c));
    if (c->printed) add_member(r, o, "printed", json_text(c->printed));
    if (json_array_append_new(r->cases, o) != 0) r->ok = false;
}

bool run_json_close(run_report *r)
{
    json_t *root = json_object();
    add_member(r, root, "version", json_string(PTXLOOM_VERSION));
    add_member(r, root, "cases", r->cases);
    bool ok = cli_print_json(r->ok ? root : NULL);
    json_decref(root);
    free(r);
    return ok;
}
