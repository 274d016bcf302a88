/* trace.c - connects launches to the trace writer: describes a module, a launch and its result in
 * the writer's terms. */
#include "lib/check_list.h"
#include "lib/internal.h"
#include "ptx/ast.h"
#include "traces/db_open.h"
#include "traces/trace.h"
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pl_trace {
    pl_gpu *gpu;          /* not owned */
    pl_gpu *printing_gpu; /* gpu of the launch, whose printed text is recorded; not owned */
    pl_tracedb *db;
    const char *path; /* in the gpu's arena */
    uint64_t max_bytes;
    char *filter; /* the filter as options, if there are events to filter; owned, or NULL */
    bool begun, launched;
    uint64_t printed[2]; /* pl_print_buffer.ever of both buffers when the launch began */
    pl_metric *metric;   /* result of pl_trace_metrics; owned */
};

/* Reports a failure once; the writer itself records the first failure. */
static pl_status report_failure(pl_trace *t, pl_status st, const char *path)
{
    const char *why = t->db ? pl_tracedb_error(t->db) : NULL;
    if (st == PL_NOMEM) return pl_gpu_no_memory(t->gpu, "while writing a trace");
    PL_GUARD(return pl_gpu_no_memory(t->gpu, "while writing a trace"))
    pl_report(&t->gpu->diags, PL_E0002, (pl_loc){.file = UINT32_MAX}, path,
              why ? why : "unknown failure");
    return st;
}

/* Returns the lines of the machine's file, in the arena of messages; *n: their number. */
static const pl_tracedb_value *machine_values(pl_gpu *gpu, size_t *n)
{
    const pl_conf *c = gpu->machine ? gpu->machine->conf : NULL;
    pl_tracedb_value *v =
        c ? pl_arena_array(gpu->messages, pl_tracedb_value, c->entry.n + 1) : NULL;
    *n = v ? c->entry.n : 0;
    for (size_t i = 0; i < *n; i++) {
        const pl_conf_entry *e = &c->entry.at[i];
        v[i] = (pl_tracedb_value){.section = e->section,
                                  .key = e->key,
                                  .value = e->value,
                                  .unit = e->unit,
                                  .provenance = pl_provenance_word(e->provenance),
                                  .source = e->source};
    }
    return v;
}

/* *t is closed by the caller if this fails. */
static pl_status open_db(pl_trace *t, const char *path, const pl_trace_options *o)
{
    PL_GUARD(return pl_gpu_no_memory(t->gpu, "while opening a trace"))
    pl_gpu *gpu = t->gpu;
    static const char *const spaces[] = {
        [PL_SP_GENERIC] = "generic", [PL_SP_CONST] = "const", [PL_SP_GLOBAL] = "global",
        [PL_SP_LOCAL] = "local",     [PL_SP_PARAM] = "param", [PL_SP_SHARED] = "shared",
        [PL_SP_TEX] = "texture"};
    t->path = pl_arena_strdup(gpu->arena, path ? path : "(memory)");
    t->max_bytes = o->max_bytes;
    const pl_machine *m = gpu->machine;
    const pl_tracedb_filter filter = {.kernel = o->filter.kernel,
                                      .sm = o->filter.sm,
                                      .block = o->filter.block,
                                      .warp = o->filter.warp,
                                      .pc = o->filter.pc,
                                      .cycles = o->filter.cycles,
                                      .cls = o->filter.cls,
                                      .sample = o->filter.sample};
    pl_tracedb_filter_error bad;
    pl_status st = pl_tracedb_filter_check(&filter, &bad);
    if (st == PL_NOMEM) return pl_gpu_no_memory(gpu, "while opening a trace");
    if (st != PL_OK) {
        pl_report(&gpu->diags, PL_E0005, (pl_loc){.file = UINT32_MAX}, bad.value, bad.option,
                  bad.expected);
        return st;
    }
    const pl_output_how how = {.kind = PL_OUTPUT_TRACE, .force = o->force};
    if (path && (st = pl_output_check(gpu, path, &how)) != PL_OK) return st;
    size_t nvalues;
    const pl_tracedb_value *value = machine_values(gpu, &nvalues);
    const pl_tracedb_options d = {.level = (pl_tracedb_level)o->level,
                                  .max_bytes = o->max_bytes,
                                  .filter = filter,
                                  .source_dir = o->source_dir,
                                  .nsource_dirs = o->nsource_dirs,
                                  .no_source = o->no_source,
                                  .force = o->force,
                                  .packed = o->packed,
                                  .accesses = o->accesses,
                                  .version = PTXLOOM_VERSION,
                                  .command = o->command,
                                  .machine = m ? m->name : NULL,
                                  .sms = m ? m->sm.count : 0,
                                  .subcores = m ? m->sm.subcores : 0,
                                  .max_warps = m ? m->sm.warps : 0,
                                  .lanes = m ? m->sm.lanes : 0,
                                  .clock_mhz = m ? m->clock_mhz : 0,
                                  .value = value,
                                  .nvalues = nvalues,
                                  .space = spaces,
                                  .nspaces = sizeof spaces / sizeof *spaces};
    st = pl_tracedb_open(&t->db, path, &d);
    return st == PL_OK ? st : report_failure(t, st, path);
}

/* Returns the filter as command-line options. */
static char *filter_options(const pl_trace_filter *f)
{
    const char *const part[][2] = {
        {"--trace-kernel", f->kernel}, {"--trace-sm", f->sm},         {"--trace-block", f->block},
        {"--trace-warp", f->warp},     {"--trace-pc", f->pc},         {"--trace-cycles", f->cycles},
        {"--trace-class", f->cls},     {"--trace-sample", f->sample},
    };
    enum { PARTS = sizeof part / sizeof *part };
    size_t n = 1;
    for (size_t k = 0; k < PARTS; k++)
        if (part[k][1]) n += strlen(part[k][0]) + strlen(part[k][1]) + 2;
    char *words = malloc(n), *to = words;
    for (size_t k = 0; words && k < PARTS; k++)
        if (part[k][1]) to += sprintf(to, "%s%s %s", to > words ? " " : "", part[k][0], part[k][1]);
    return words;
}

pl_status pl_trace_open(pl_gpu *gpu, const char *path, const pl_trace_options *o, pl_trace **out)
{
    *out = NULL;
    pl_trace *t = calloc(1, sizeof *t);
    if (!t) return pl_gpu_no_memory(gpu, "while opening a trace");
    t->gpu = gpu;
    pl_status st = open_db(t, path, o);
    const pl_trace_filter *f = &o->filter;
    const bool filtered =
        f->kernel || f->sm || f->block || f->warp || f->pc || f->cycles || f->cls || f->sample;
    if (st == PL_OK && filtered && o->level != PL_TRACE_SUMMARY && !(t->filter = filter_options(f)))
        st = pl_gpu_no_memory(gpu, "while opening a trace");
    if (st == PL_OK) {
        *out = t;
        return st;
    }
    pl_tracedb_close(t->db, false);
    free(t);
    return st;
}

static void describe_insn(void *ctx, uint32_t pc, pl_tracedb_insn *out)
{
    pl_module *m = ctx;
    m->listing = pl_module_listing(m, pc);
    const pl_listing *l = &m->listing;
    *out = (pl_tracedb_insn){.function = l->kernel,
                             .text = l->text,
                             .ptx_line = l->text_line,
                             .src_file = l->src_file,
                             .src_line = l->src_line,
                             .cuda = l->cuda[0] ? l->cuda : NULL,
                             .form = l->form,
                             .mnemonic = l->mnemonic,
                             .syntax = l->syntax,
                             .cls = l->cls,
                             .effects = pl_forms[l->form].effects};
}

const pl_sink *pl_trace_begin(pl_trace *t, pl_module *m, const pl_launch *l, const char *case_name)
{
    const pl_prog_func *f = pl_module_entry(m, l->kernel);
    if (!f) return NULL;
    PL_GUARD(return NULL)
    const char **path = pl_arena_array(t->gpu->messages, const char *, m->source.n + 1);
    for (size_t i = 0; i < m->source.n; i++) path[i] = m->source.at[i].name;
    path[m->source.n] = m->name; /* for an object */
    pl_tracedb_kernel k = {.path = path,
                           .npaths = m->source.n + 1,
                           .name = case_name,
                           .entry = f->name,
                           .timing = l->mode == PL_MODE_TIMING,
                           .static_shared = f->static_shared,
                           .dynamic_shared = l->dynamic_shared,
                           .registers = f->registers,
                           .local_bytes = f->local_bytes,
                           .module = m->name,
                           .text = m->program->text,
                           .text_bytes = m->program->text_bytes,
                           .target = m->program->target,
                           .opt_level = m->program->opt_level,
                           .ninsns = (uint32_t)m->program->code.n,
                           .insn = describe_insn,
                           .ctx = m};
    memcpy(k.grid, l->grid, sizeof k.grid);
    memcpy(k.block, l->block, sizeof k.block);
    const uint32_t *cluster = l->cluster[0] ? l->cluster : f->reqnctapercluster;
    memcpy(k.cluster, cluster, sizeof k.cluster);
    t->printing_gpu = m->gpu;
    t->printed[0] = m->gpu->system.out.total_chars;
    t->printed[1] = m->gpu->system.err.total_chars;
    /* Memory may have run out for its listing. */
    t->begun = pl_tracedb_begin(t->db, &k) == PL_OK && !t->gpu->no_memory[0];
    return t->begun ? pl_tracedb_sink(t->db) : NULL;
}

static const char *status_word(pl_status st)
{
    switch (st) {
    case PL_OK: return "ok";
    case PL_FAULT: return "fault";
    case PL_INTERRUPTED: return "interrupted";
    case PL_WAITING: return "waiting";
    case PL_INVALID:
    case PL_UNSUPPORTED: return "invalid";
    case PL_NOMEM:
    case PL_IO: break;
    }
    return "system";
}

/* Returns the launch's output that is still in the buffers; owned by the caller. NULL: no memory.
 */
static char *printed(const pl_trace *t)
{
    const pl_print_buffer *const buffer[] = {&t->printing_gpu->system.out,
                                             &t->printing_gpu->system.err};
    char *text = malloc(buffer[0]->n + buffer[1]->n + 1);
    size_t n = 0;
    for (int i = 0; text && i < 2; i++) {
        const pl_print_buffer *b = buffer[i];
        size_t length = b->n - b->start;
        if (b->total_chars - t->printed[i] < length)
            length = (size_t)(b->total_chars - t->printed[i]);
        for (size_t k = b->n - length; k < b->n; k++)
            if (b->text[k]) text[n++] = b->text[k];
    }
    if (text) text[n] = '\0';
    return text;
}

pl_status pl_trace_end(pl_trace *t, const pl_result *r)
{
    const char *error = pl_tracedb_error(t->db);
    if (error || !t->begun) return report_failure(t, PL_IO, t->path);
    char *text = printed(t);
    if (!text) return report_failure(t, PL_NOMEM, t->path);
    const pl_fault_place *p = r->fault;
    pl_tracedb_fault fault = {.pc = UINT32_MAX};
    if (p) {
        fault.pc = p->pc;
        fault.address = p->address;
        memcpy(fault.block, p->block, sizeof fault.block);
        memcpy(fault.thread, p->thread, sizeof fault.thread);
    }
    const pl_tracedb_result d = {.status = status_word(r->status),
                                 .complete = r->status == PL_OK,
                                 .fault = p ? &fault : NULL,
                                 .error = r->error,
                                 .error_text = r->error_text,
                                 .cycles = r->cycles,
                                 .inst_executed = r->inst_executed,
                                 .thread_inst_executed = r->thread_inst_executed,
                                 .wall_seconds = r->wall_seconds,
                                 .theoretical_occupancy = r->theoretical_occupancy,
                                 .registers = r->registers,
                                 .static_shared = r->static_shared,
                                 .dynamic_shared = r->dynamic_shared,
                                 .local_bytes = r->local_bytes,
                                 .pc_stat = r->pc_stat,
                                 .npc = r->npc,
                                 .counter = r->counter,
                                 .ncounters = r->ncounters,
                                 .printed = text};
    t->begun = false;
    t->launched = true;
    pl_status st = pl_tracedb_end(t->db, &d);
    free(text);
    return st == PL_OK ? st : report_failure(t, st, t->path);
}

pl_status pl_trace_add_call(pl_trace *t, const pl_trace_call *c)
{
    const pl_tracedb_call d = {.id = c->id,
                               .name = c->name,
                               .thread = c->thread,
                               .start = c->start,
                               .end = c->end,
                               .result = c->result,
                               .error = c->error};
    const pl_status st = pl_tracedb_add_call(t->db, &d);
    return st == PL_OK ? st : report_failure(t, st, t->path);
}

pl_status pl_trace_add_activity(pl_trace *t, const pl_trace_activity *a)
{
    const pl_tracedb_activity d = {.kind = a->kind,
                                   .name = a->name,
                                   .device = a->device,
                                   .stream = a->stream,
                                   .call = a->call,
                                   .graph = a->graph,
                                   .start = a->start,
                                   .end = a->end,
                                   .launch = a->launch,
                                   .bytes = a->bytes,
                                   .source = a->source,
                                   .destination = a->destination,
                                   .estimated = a->estimated,
                                   .spread = a->spread};
    const pl_status st = pl_tracedb_add_activity(t->db, &d);
    return st == PL_OK ? st : report_failure(t, st, t->path);
}

pl_status pl_trace_move_activities(pl_trace *t, int device, int64_t stream, double from, double by)
{
    const pl_status st = pl_tracedb_move_activities(t->db, device, stream, from, by);
    return st == PL_OK ? st : report_failure(t, st, t->path);
}

pl_status pl_trace_add_allocation(pl_trace *t, const pl_trace_allocation *a)
{
    const pl_tracedb_allocation d = {.address = a->address,
                                     .bytes = a->bytes,
                                     .memory = a->memory,
                                     .device = a->device,
                                     .start = a->start,
                                     .end = a->end};
    const pl_status st = pl_tracedb_add_allocation(t->db, &d);
    return st == PL_OK ? st : report_failure(t, st, t->path);
}

static pl_tracedb_finding finding_row(const pl_finding *f)
{
    pl_tracedb_finding d = {.tool = f->tool,
                            .kind = f->kind,
                            .severity = f->severity,
                            .space = f->space,
                            .pc = f->pc,
                            .other_pc = f->other_pc,
                            .file = f->file,
                            .other_file = f->other_file,
                            .line = f->line,
                            .other_line = f->other_line,
                            .address = f->address,
                            .bytes = f->bytes,
                            .count = f->count,
                            .seed = f->seed,
                            .text = f->text,
                            .help = f->help};
    memcpy(d.block, f->block, sizeof d.block);
    memcpy(d.thread, f->thread, sizeof d.thread);
    memcpy(d.other_block, f->other_block, sizeof d.other_block);
    memcpy(d.other_thread, f->other_thread, sizeof d.other_thread);
    return d;
}

pl_status pl_trace_add_findings(pl_trace *t, const pl_checks *c)
{
    pl_status st = PL_OK;
    for (size_t n = 0; st == PL_OK && n < pl_checks_count(c); n++) {
        const pl_finding *f = pl_checks_finding(c, n);
        pl_tracedb_finding d = finding_row(f);
        const int64_t launch = f->launch ? f->launch : c->last_launch;
        if (launch == PL_LAUNCH_UNTRACED) continue;
        d.kernel = launch > 0 ? launch : launch ? 0 : pl_tracedb_last_kernel(t->db);
        st = pl_tracedb_add_finding(t->db, &d);
    }
    return st == PL_OK ? st : report_failure(t, st, t->path);
}

void pl_trace_note_findings(const pl_trace *t, pl_checks *c)
{
    const int64_t launch = t ? pl_tracedb_last_kernel(t->db) : PL_LAUNCH_UNTRACED;
    c->last_launch = launch;
    for (size_t n = 0; n < c->list.n; n++)
        if (!c->list.at[n].launch) c->list.at[n].launch = launch;
}

pl_status pl_trace_add_nvtx(pl_trace *t, const pl_trace_nvtx *r)
{
    const pl_tracedb_nvtx d = {
        .name = r->name, .thread = r->thread, .depth = r->depth, .start = r->start, .end = r->end};
    const pl_status st = pl_tracedb_add_nvtx(t->db, &d);
    return st == PL_OK ? st : report_failure(t, st, t->path);
}

static void warn_of_limit(pl_trace *t, uint64_t dropped)
{
    PL_GUARD(return )
    char limit[32], events[32];
    const bool kib = t->max_bytes < 1 << 20;
    snprintf(limit, sizeof limit, "%.3g %s", (double)t->max_bytes / (kib ? 1 << 10 : 1 << 20),
             kib ? "KiB" : "MiB");
    snprintf(events, sizeof events, "%llu", (unsigned long long)dropped);
    pl_report(&t->gpu->diags, PL_W0708, (pl_loc){.file = UINT32_MAX}, t->path, limit, events,
              dropped == 1 ? " was" : "s were");
}

static void warn_of_filter(pl_trace *t)
{
    PL_GUARD(return )
    pl_report(&t->gpu->diags, PL_W0713, (pl_loc){.file = UINT32_MAX}, t->path,
              pl_arena_strdup(t->gpu->messages, t->filter));
}

pl_status pl_trace_close(pl_trace *t, bool keep)
{
    free(t->metric);
    t->metric = NULL;
    uint64_t dropped = pl_tracedb_dropped(t->db);
    const bool no_match = t->filter && t->launched && !pl_tracedb_any_selected(t->db);
    pl_status st = pl_tracedb_close(t->db, keep);
    if (st != PL_OK) {
        report_failure(t, st, t->path);
        pl_tracedb_close(t->db, false);
    } else if (keep && dropped) {
        warn_of_limit(t, dropped);
    } else if (keep && no_match) {
        warn_of_filter(t);
    }
    free(t->filter);
    free(t);
    return st;
}

static pl_status unknown_metric(pl_gpu *gpu, const char *name)
{
    size_t n = 0;
    while (pl_tracedb_metrics[n].name) n++;
    const char **known = pl_arena_array(gpu->messages, const char *, n + 1);
    for (size_t i = 0; known && i < n; i++) known[i] = pl_tracedb_metrics[i].name;
    const char *nearest = known ? pl_nearest(name, known, n) : NULL;
    pl_diag *d = pl_report(&gpu->diags, PL_E0709, (pl_loc){.file = UINT32_MAX}, name);
    d->help = nearest ? pl_arena_printf(gpu->messages, "did you mean '%s'?", nearest)
                      : pl_diag_explanation(PL_E0709);
    return PL_INVALID;
}

pl_status pl_trace_metrics(pl_trace *t, const char *names, const pl_metric **out, size_t *n)
{
    PL_GUARD(return pl_gpu_no_memory(t->gpu, "while computing metrics"))
    const bool all = strcmp(names, "all") == 0;
    size_t capacity = 1;
    for (const pl_tracedb_metric *m = pl_tracedb_metrics; m->name; m++) capacity++;
    pl_metric *v = realloc(t->metric, capacity * sizeof *v);
    if (!v) return pl_gpu_no_memory(t->gpu, "while computing metrics");
    *out = t->metric = v;
    *n = 0;
    for (const char *p = names;; p++) {
        const size_t length = strcspn(p, ",");
        const char *name = all ? "*" : pl_arena_strndup(t->gpu->messages, p, length);
        bool found = false;
        for (const pl_tracedb_metric *m = pl_tracedb_metrics; name && m->name; m++) {
            if (fnmatch(name, m->name, 0) != 0) continue;
            found = true;
            bool listed = false; /* already added by an earlier name */
            for (size_t i = 0; i < *n && !listed; i++) listed = strcmp(v[i].name, m->name) == 0;
            if (!listed)
                v[(*n)++] = (pl_metric){.name = m->name, .unit = m->unit, .meaning = m->meaning};
        }
        if (!found) return unknown_metric(t->gpu, name ? name : "");
        p += length;
        if (!*p) break;
    }
    size_t kept = 0;
    for (size_t i = 0; i < *n; i++) {
        pl_status st = pl_tracedb_metric_value(t->db, pl_tracedb_metric_find(v[i].name),
                                               &v[i].known, &v[i].value);
        if (st != PL_OK) return report_failure(t, st, t->path);
        if (v[i].known || !all) v[kept++] = v[i];
    }
    *n = kept;
    return PL_OK;
}

const char *pl_trace_error(const pl_trace *t)
{
    return pl_tracedb_error(t->db);
}

const char *pl_trace_query(const char *name)
{
    for (const pl_tracedb_query *q = pl_tracedb_queries; q->name; q++)
        if (strcmp(q->name, name) == 0) return q->sql;
    return NULL;
}

pl_status pl_trace_connect(pl_gpu *gpu, const char *path, struct sqlite3 **out)
{
    PL_GUARD(return pl_gpu_no_memory(gpu, "while opening a trace"))
    pl_status st = pl_tracedb_connect(&gpu->diags, path, out);
    return st == PL_NOMEM ? pl_gpu_no_memory(gpu, "while opening a trace") : st;
}

int pl_trace_errno(struct sqlite3 *db)
{
    int why;
    return pl_tracedb_failure(db, &why) == PL_IO ? why : 0;
}
