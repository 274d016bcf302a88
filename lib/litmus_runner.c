/* litmus_runner.c - litmus tests on the emulator: generates a kernel from a test, runs it under
 * many schedules, and compares the outcomes with those that the axioms allow.
 *
 * The kernel is the test's own text: statements keep their line and column, so that the assembler's
 * messages point into the test. All other text becomes blanks or the code around the statements. A
 * launch runs many instances of the test in parallel, each with its own blocks and variables, as is
 * usual for such tests on hardware. */
#include "lib/internal.h"
#include "base/array.h"
#include "litmus/litmus.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    INSTANCES = 256,   /* per launch */
    SLOT = 64,         /* bytes per variable, so that variables share nothing */
    TURN_LENGTHS = 4,  /* the maximum number of instructions in a row cycles through 2, 4, 8 and 16,
                       by launch */
    FIRST_BARRIER = 15 /* for shared variables: not used by the test */
};

struct pl_litmus {
    pl_gpu *gpu; /* not owned */
    pl_arena *arena;
    const char *name;
    pl_litmus_test test;
    pl_litmus_set allowed, sequential, seen; /* seen: all that are allowed or were observed */
    struct count {
        pl_litmus_outcome outcome;
        uint64_t n[2]; /* strong, weak */
    } * count;
    size_t counts, cap;
    uint64_t runs[2];
    const char *condition;
    pl_module *module;
    pl_ptr memory, results;
    uint32_t blocks, warps; /* blocks per instance; warps per block */
    uint32_t result_bytes;  /* per instance */
    pl_arena *report;
};

/* ---- the kernel ---- */

typedef struct writer {
    pl_arena *arena;
    struct {
        char *at;
        size_t n, cap;
    } out;
} writer;

static void emit(writer *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void emit(writer *w, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    for (const char *s = pl_arena_vprintf(w->arena, fmt, ap); s && *s; s++)
        *pl_push(w->arena, &w->out) = *s;
    va_end(ap);
}

static uint32_t register_offset(uint32_t thread, uint32_t reg)
{
    return 4 * (PL_LITMUS_REGS * thread + reg);
}

static uint32_t shared_offset(const pl_litmus_test *t, uint32_t var)
{
    return register_offset(t->nthreads, 0) + 4 * var;
}

static bool any_shared(const pl_litmus_test *t)
{
    for (unsigned k = 0; k < t->nvars; k++)
        if (t->var[k].shared) return true;
    return false;
}

/* Emits a barrier for all threads of the test. */
static void emit_barrier(writer *w, const pl_litmus_test *t)
{
    if (t->cluster > 1)
        emit(w, "barrier.cluster.arrive; barrier.cluster.wait; ");
    else
        emit(w, "bar.sync %d; ", FIRST_BARRIER);
}

/* Emits addresses of the variables into registers of their names, and initial values of shared
 * variables. */
static void emit_variables(writer *w, const pl_litmus_test *t)
{
    for (unsigned k = 0; k < t->nvars; k++) {
        const pl_litmus_var *v = &t->var[k];
        if (!v->shared) {
            emit(w, "add.u64 %s, %%m, %u; ", v->name, SLOT * k);
            continue;
        }
        emit(w, "mov.u32 %%w4, _shared; add.u32 %%w4, %%w4, %u; ", SLOT * k);
        if (t->cluster > 1)
            emit(w, "mapa.shared::cluster.u32 %s, %%w4, %u; ", v->name,
                 (unsigned)v->cta % t->cluster);
        else
            emit(w, "mov.u32 %s, %%w4; ", v->name);
        emit(w,
             "setp.eq.u32 %%p, %%w2, %d; setp.eq.and.u32 %%p, %%w3, 0, %%p; @%%p st.shared.u32 "
             "[%%w4], %u; ",
             v->cta, v->init);
    }
    if (any_shared(t)) emit_barrier(w, t);
}

static void emit_prologue(writer *w, const pl_litmus *l)
{
    const pl_litmus_test *t = &l->test;
    emit(w,
         ".version 9.0 .target sm_90a .address_size 64 .visible .entry litmus(.param .u64 _memory, "
         ".param .u64 _results) { "
         ".reg .pred %%p; .reg .b32 %%w<5>, r<%d>; .reg .b64 %%m, %%o; ",
         PL_LITMUS_REGS);
    for (unsigned k = 0; k < t->nvars; k++)
        emit(w, ".reg .%s %s; ", t->var[k].shared ? "b32" : "b64", t->var[k].name);
    if (any_shared(t)) emit(w, ".shared .align %d .b8 _shared[%u]; ", SLOT, SLOT * t->nvars);
    emit(
        w,
        "mov.u32 %%w0, %%ctaid.x; div.u32 %%w1, %%w0, %u; mul.lo.u32 %%w2, %%w1, %u; sub.u32 %%w2, "
        "%%w0, %%w2; mov.u32 %%w3, %%tid.x; "
        "ld.param.u64 %%m, [_memory]; mad.wide.u32 %%m, %%w1, %u, %%m; ld.param.u64 %%o, "
        "[_results]; mad.wide.u32 %%o, %%w1, %u, %%o; ",
        l->blocks, l->blocks, SLOT * t->nvars, l->result_bytes);
    /* Blocks start in index order, so each instance begins with another part of the test. */
    emit(w, "mad.lo.u32 %%w2, %%w1, %u, %%w2; rem.u32 %%w2, %%w2, %u; ", t->cluster, l->blocks);
    emit_variables(w, t);
    for (unsigned k = 0; k < PL_LITMUS_REGS; k++) emit(w, "mov.b32 r%u, 0; ", k);
    for (unsigned k = 0; k < t->nthreads; k++) {
        const pl_litmus_thread *th = &t->thread[k];
        emit(w, "setp.eq.u32 %%p, %%w2, %u; setp.eq.and.u32 %%p, %%w3, %u, %%p; @%%p bra $T%u; ",
             th->cta, 32 * th->warp + th->lane, k);
    }
    emit(w, "ret; ");
}

/* Ends a thread: its registers, and the shared variables that no earlier thread has saved, are
 * written to the results. */
static void emit_epilogue(writer *w, const pl_litmus_test *t, unsigned k)
{
    for (unsigned n = 0; n < t->nobserved; n++)
        if (t->observed[n].thread == (int)k)
            emit(w, "st.global.u32 [%%o+%u], r%d; ",
                 register_offset(k, (uint32_t)t->observed[n].reg), t->observed[n].reg);
    if (any_shared(t)) emit_barrier(w, t);
    for (unsigned n = 0; n < t->nvars; n++) {
        unsigned first = 0; /* first thread that can access the variable */
        while (first < t->nthreads &&
               t->thread[first].cta / t->cluster != (unsigned)t->var[n].cta / t->cluster)
            first++;
        if (t->var[n].shared && first == k)
            emit(w, "ld.shared::cluster.u32 %%w4, [%s]; st.global.u32 [%%o+%u], %%w4; ",
                 t->var[n].name, shared_offset(t, n));
    }
    if (any_shared(t)) emit_barrier(w, t); /* no block may exit before its memory has been read */
    emit(w, "ret; ");
}

static const char *make_kernel(const pl_litmus *l, const char *text, size_t bytes,
                               size_t *out_bytes)
{
    const pl_litmus_test *t = &l->test;
    writer w = {.arena = l->arena};
    emit_prologue(&w, l);
    for (size_t at = 0, thread = 0, op = 0; at < bytes; at++) {
        const pl_litmus_thread *th = thread < t->nthreads ? &t->thread[thread] : NULL;
        const char *label =
            th && at >= th->header ? pl_arena_printf(l->arena, "$T%zu: ", thread) : NULL;
        bool code = th && op < th->nops && at >= th->op[op].from && at < th->op[op].to;
        if (th && at == th->close) {
            emit_epilogue(&w, t, (unsigned)thread);
            thread++;
            op = 0;
        } else if (label && at - th->header < strlen(label)) /* the label replaces "thread" */
            emit(&w, "%c", label[at - th->header]);
        else
            emit(&w, "%c", code || text[at] == '\n' ? text[at] : ' ');
        if (th && op < th->nops && at + 1 == th->op[op].to) op++;
    }
    emit(&w, "\n}\n");
    *out_bytes = w.out.n;
    return w.out.at;
}

/* ---- loading ---- */

static const char *base_name(pl_arena *a, const char *path)
{
    const char *slash = strrchr(path, '/'), *from = slash ? slash + 1 : path,
               *dot = strrchr(from, '.');
    return dot && dot > from ? pl_arena_strndup(a, from, (size_t)(dot - from))
                             : pl_arena_strdup(a, from);
}

static void compute_layout(pl_litmus *l)
{
    const pl_litmus_test *t = &l->test;
    uint32_t last = 0;
    for (unsigned k = 0; k < t->nthreads; k++) {
        last = t->thread[k].cta > last ? t->thread[k].cta : last;
        l->warps = t->thread[k].warp + 1 > l->warps ? t->thread[k].warp + 1 : l->warps;
    }
    for (unsigned k = 0; k < t->nvars; k++)
        if (t->var[k].shared && (uint32_t)t->var[k].cta > last) last = (uint32_t)t->var[k].cta;
    l->blocks = (last + t->cluster) / t->cluster * t->cluster;
    l->result_bytes = (shared_offset(t, t->nvars) + 15u) & ~15u;
}

static pl_status load(pl_litmus *l, const char *path, int opt_level, const char *text, size_t bytes)
{
    PL_GUARD(return pl_gpu_no_memory(l->gpu, "while reading a litmus test"))
    l->name = base_name(l->arena, path);
    pl_gpu *gpu = l->gpu;
    const pl_load_options options = {.opt_level = opt_level};
    size_t kernel_bytes;
    uint32_t file = pl_diags_add_file(&gpu->diags, pl_arena_strdup(gpu->messages, path),
                                      pl_arena_strndup(gpu->messages, text, bytes), bytes);
    pl_status st = pl_litmus_parse(&gpu->diags, file, text, bytes, &l->test);
    if (st != PL_OK) return st;
    compute_layout(l);
    l->condition = pl_arena_strndup(l->arena, text + l->test.condition,
                                    l->test.condition_end - l->test.condition);
    for (char *p = (char *)(uintptr_t)l->condition + strlen(l->condition);
         p > l->condition && strchr(" \n\t\r", p[-1]);)
        *--p = '\0';
    if (pl_litmus_allowed(&l->test, &l->allowed) != PL_OK ||
        pl_litmus_sequential(&l->test, &l->sequential) != PL_OK)
        return pl_gpu_no_memory(gpu, "while reading a litmus test");
    const char *kernel = make_kernel(l, text, bytes, &kernel_bytes);
    st = pl_module_load(gpu, path, kernel, kernel_bytes, &options, &l->module);
    uint64_t memory = (uint64_t)INSTANCES * SLOT * (l->test.nvars ? l->test.nvars : 1);
    if (st == PL_OK) st = pl_alloc_device(gpu, memory, "variables", &l->memory);
    if (st == PL_OK)
        st = pl_alloc_device(gpu, (uint64_t)INSTANCES * l->result_bytes, "results", &l->results);
    return st;
}

pl_status pl_litmus_load(pl_gpu *gpu, const char *path, int opt_level, pl_litmus **out)
{
    char *text = NULL;
    size_t bytes = 0;
    *out = NULL;
    pl_status st = pl_file_read(gpu, path, &text, &bytes);
    if (st != PL_OK) return st;
    pl_litmus *l = calloc(1, sizeof *l);
    if (l) l->arena = pl_arena_open();
    if (!l || !l->arena) {
        free(l);
        free(text);
        return pl_gpu_no_memory(gpu, "while reading a litmus test");
    }
    l->gpu = gpu;
    st = load(l, path, opt_level, text, bytes);
    free(text);
    if (st == PL_OK)
        *out = l;
    else
        pl_litmus_close(l);
    return st;
}

void pl_litmus_close(pl_litmus *l)
{
    if (!l) return;
    if (l->memory) pl_free_device(l->gpu, l->memory);
    if (l->results) pl_free_device(l->gpu, l->results);
    if (l->module) pl_module_close(l->module);
    pl_litmus_set_free(&l->allowed);
    pl_litmus_set_free(&l->sequential);
    free(l->count);
    if (l->report) pl_arena_close(l->report);
    pl_arena_close(l->arena);
    free(l);
}

/* ---- running ---- */

static bool same_outcome(const pl_litmus_test *t, const pl_litmus_outcome *a,
                         const pl_litmus_outcome *b)
{
    return memcmp(a->value, b->value, t->nobserved * sizeof *a->value) == 0;
}

static pl_status count(pl_litmus *l, const pl_litmus_outcome *o, int weak)
{
    size_t k = 0;
    while (k < l->counts && !same_outcome(&l->test, &l->count[k].outcome, o)) k++;
    if (k == l->cap && !pl_array_grow(&l->count, &l->cap, sizeof *l->count))
        return pl_gpu_no_memory(l->gpu, "while running a litmus test");
    if (k == l->counts) l->count[l->counts++] = (struct count){.outcome = *o};
    l->count[k].n[weak]++;
    return PL_OK;
}

static uint32_t word_at(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static pl_status launch(pl_litmus *l, bool weak, uint32_t instances, uint64_t seed)
{
    const pl_litmus_test *t = &l->test;
    const pl_ptr params[2] = {l->memory, l->results};
    uint8_t *memory = pl_device_view(l->gpu, l->memory, (uint64_t)instances * SLOT * t->nvars);
    uint8_t *results = pl_device_view(l->gpu, l->results, (uint64_t)instances * l->result_bytes);
    for (uint32_t i = 0; i < instances; i++)
        for (unsigned k = 0; k < t->nvars; k++)
            memcpy(memory + SLOT * ((size_t)i * t->nvars + k), &t->var[k].init, 4);
    memset(results, 0, (size_t)instances * l->result_bytes);
    pl_launch x = {.kernel = "litmus",
                   .grid = {instances * l->blocks, 1, 1},
                   .block = {32 * l->warps, 1, 1},
                   .cluster = {t->cluster, 1, 1},
                   .params = params,
                   .param_bytes = sizeof params,
                   .random = true,
                   .seed = seed,
                   .turn = 2u << l->runs[weak] / INSTANCES % TURN_LENGTHS,
                   .weak = weak};
    if (t->cluster == 1) x.cluster[0] = x.cluster[1] = x.cluster[2] = 0;
    pl_result r;
    pl_status st = pl_launch_kernel(l->gpu, l->module, &x, &r);
    for (uint32_t i = 0; st == PL_OK && i < instances; i++) {
        const uint8_t *result = results + (size_t)i * l->result_bytes;
        pl_litmus_outcome o = {{0}};
        for (unsigned k = 0; k < t->nobserved; k++) {
            const pl_litmus_observed *p = &t->observed[k];
            o.value[k] =
                p->thread >= 0
                    ? word_at(result + register_offset((uint32_t)p->thread, (uint32_t)p->reg))
                : t->var[p->var].shared
                    ? word_at(result + shared_offset(t, (uint32_t)p->var))
                    : word_at(memory + SLOT * ((size_t)i * t->nvars + (size_t)p->var));
        }
        st = count(l, &o, weak);
    }
    return st;
}

pl_status pl_litmus_run(pl_litmus *l, bool weak, uint64_t runs, uint64_t seed)
{
    pl_status st = PL_OK;
    for (uint64_t done = 0; st == PL_OK && done < runs; done += INSTANCES) {
        uint32_t n = runs - done < INSTANCES ? (uint32_t)(runs - done) : INSTANCES;
        st = launch(l, weak, n, seed * 1000003u + 2 * l->runs[weak] + weak);
        if (st == PL_OK) l->runs[weak] += n;
    }
    return st;
}

/* ---- the report ---- */

static const char *describe(const pl_litmus *l, const pl_litmus_outcome *o)
{
    const char *s = "";
    for (unsigned k = 0; k < l->test.nobserved; k++) {
        const pl_litmus_observed *p = &l->test.observed[k];
        s = p->thread >= 0 ? pl_arena_printf(l->report, "%s%s%d:r%d=%" PRIu32, s, k ? " " : "",
                                             p->thread, p->reg, o->value[k])
                           : pl_arena_printf(l->report, "%s%s%s=%" PRIu32, s, k ? " " : "",
                                             l->test.var[p->var].name, o->value[k]);
    }
    return s;
}

static bool describe_all(pl_litmus *l, const pl_litmus_set *all, pl_litmus_report *out)
{
    PL_GUARD(return false)
    const pl_litmus_test *t = &l->test;
    bool all_hold = true;
    pl_litmus_row *row = pl_arena_array(l->report, pl_litmus_row, all->n);
    *out = (pl_litmus_report){.name = l->name,
                              .title = t->title,
                              .condition = l->condition,
                              .unseen = t->unseen,
                              .row = row,
                              .n = all->n,
                              .runs_strong = l->runs[0],
                              .runs_weak = l->runs[1]};
    for (size_t k = 0; k < all->n; k++) {
        const pl_litmus_outcome *o = &all->at[k];
        row[k] = (pl_litmus_row){.text = describe(l, o),
                                 .holds = pl_litmus_holds(t, o),
                                 .allowed = pl_litmus_set_has(&l->allowed, t, o),
                                 .sequential = pl_litmus_set_has(&l->sequential, t, o)};
        for (size_t n = 0; n < l->counts; n++)
            if (same_outcome(t, &l->count[n].outcome, o)) {
                row[k].strong = l->count[n].n[0];
                row[k].weak = l->count[n].n[1];
            }
        out->possible |= row[k].allowed && row[k].holds;
        all_hold &= !row[k].allowed || row[k].holds;
        out->seen += row[k].holds ? row[k].weak : 0;
        out->forbidden += !row[k].allowed;
        out->never += row[k].allowed && !row[k].weak;
    }
    out->agrees = t->quantifier == PL_LITMUS_EXISTS  ? out->possible
                  : t->quantifier == PL_LITMUS_NEVER ? !out->possible
                                                     : all_hold;
    return true;
}

pl_status pl_litmus_result(pl_litmus *l, pl_litmus_report *out)
{
    const pl_litmus_test *t = &l->test;
    pl_litmus_set all = {0};
    pl_arena_close(l->report);
    l->report = pl_arena_open();
    bool ok = l->report != NULL;
    for (size_t k = 0; k < l->allowed.n; k++)
        ok = ok && pl_litmus_set_add(&all, t, &l->allowed.at[k]);
    for (size_t k = 0; k < l->counts; k++)
        ok = ok && pl_litmus_set_add(&all, t, &l->count[k].outcome);
    ok = ok && describe_all(l, &all, out);
    pl_litmus_set_free(&all);
    return ok ? PL_OK : pl_gpu_no_memory(l->gpu, "while running a litmus test");
}
