/* assemble.c - converts a module into a machine program: tables first, then its functions. Several
 * host threads lower and optimise the functions separately; the results are joined in order.
 *
 * Parsing takes one thread a sixth of the total time. Other threads start before it ends, with
 * functions that are completely parsed and do not depend on the rest of the module. These are
 * kernels that name no module variable and no function. Their results are held back until the whole
 * module is known.
 *
 * Read next: ptx/lower/lower.c (one function), compiler/compile_function.c (the following stages).
 */
#include "ptx/lower/assemble.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/guard.h"
#include "isa/program/operands.h"
#include "compiler/analysis/wgmma_hazards.h"
#include "compiler/compile_function.h"
#include "compiler/pass_manager.h"
#include "compiler/tuning.h"
#include "isa/program/resource_usage.h"
#include "ptx/lower/call_graph.h"
#include "ptx/lower/constant_layout.h"

enum { MAX_THREADS = 256 };

/* A function to be compiled. */
typedef struct job {
    const pl_func *f;
    const pl_program *before; /* the initial contents of its part */
    pl_prog_func out;         /* copied into the program's table with its code */
    uint32_t rank;            /* its index among the functions with code, once all are known */
    bool ready;
    pl_program part;   /* the compiled code, while it waits for earlier functions; */
    pl_arena *arena;   /* the arena that holds it, or NULL */
    struct job *spare; /* another job whose arena is free for reuse */
} job;

/* State of a host thread. */
typedef struct worker {
    pl_assembly *x;
    pthread_t thread;
    pl_arena *part;        /* until the function has been delivered */
    pl_arena *scratch;     /* until the function has been lowered */
    pl_arena *work, *pass; /* until the function, the pass has completed */
    pl_plan_cache *plans;
} worker;

struct pl_assembly {
    pl_assemble_options o;
    pl_arena *scratch; /* of the caller's thread */
    pl_program *p;
    /* The program without code: during parsing; with its tables. */
    pl_program early, before;
    pl_shared_plan shared;
    pl_lower_module m;
    worker *worker;            /* the first is the caller's thread */
    uint32_t workers, threads; /* existing threads, and their maximum */
    _Atomic pl_status failed;  /* PL_OK, or the reason for which no more functions are taken */
    _Atomic bool unsupported;  /* some function contains a form that cannot be executed */
    pthread_mutex_t lock;      /* protects all below, and the program once all jobs are known */
    pthread_cond_t more;       /* a job was added, or no more will be */
    struct {
        job **at;
        size_t n, cap;
    } jobs; /* in the order of processing */
    size_t next;
    uint32_t idle_workers; /* threads waiting for jobs */
    bool complete;         /* no more jobs will be added */
    job **ranked;          /* by rank, once all are known */
    uint32_t n, joined;    /* functions with code; those already in the program */
    job *spare;            /* jobs whose arenas are free for reuse */
};

/* ---- the tables of the program ---- */

/* Reports forms that cannot be executed. */
static void report_unsupported(const pl_ast *ast)
{
    for (size_t k = 0; k < ast->funcs.n; k++)
        for (size_t n = 0; n < ast->funcs.at[k]->body.n; n++) {
            const pl_stmt *s = &ast->funcs.at[k]->body.at[n];
            const pl_form *f = s->kind == PL_S_INSN ? &pl_forms[s->what->form] : NULL;
            if (f && f->unsupported)
                pl_report(ast->diags, PL_E0801, pl_stmt_place(ast->funcs.at[k], s),
                          pl_mnems[f->mnem].name, f->syntax, f->unsupported);
        }
}

/* A program with the header data of the module and the options. */
static pl_program empty_program(const pl_assemble_options *o, const pl_ast *ast, pl_arena *arena)
{
    const pl_tuning *tuning = o->passes ? o->passes->tuning : NULL;
    return (pl_program){.arena = arena,
                        .ptx = ast->ptx,
                        .sm = ast->sm,
                        .sm_suffix = ast->sm_suffix,
                        .target = ast->target,
                        .opt_level = o->opt_level,
                        .keeps_accesses = o->keep_loads,
                        .lanes = o->lanes,
                        .text = o->text,
                        .text_bytes = o->text_bytes,
                        .tuning = tuning ? tuning : &pl_target_tuning,
                        .passes = o->passes};
}

static pl_prog_func func_declaration(const pl_func *f)
{
    pl_prog_func out = {.name = f->name};
    if (!f->prototype_only) {
        out.linkage = (uint8_t)f->linkage;
        out.entry = f->entry;
    }
    return out;
}

/* Numbers the functions and variables of the module, and lists the functions. */
static void assign_indices(const pl_ast *ast, pl_program *p)
{
    for (size_t k = 0; k < ast->funcs.n; k++) {
        ast->funcs.at[k]->index = (uint32_t)k;
        *pl_push(p->arena, &p->funcs) = func_declaration(ast->funcs.at[k]);
    }
    for (size_t k = 0; k < ast->funcs.n; k++)
        if (ast->funcs.at[k]->alias_of) ast->funcs.at[k]->index = ast->funcs.at[k]->alias_of->index;
    for (size_t k = 0; k < ast->vars.n; k++) ast->vars.at[k]->index = (uint32_t)k;
}

static bool check_tables(const pl_ast *ast, pl_program *p)
{
    PL_GUARD(return false)
    pl_shared_plan shared;
    assign_indices(ast, p);
    return pl_layout_shared(ast, p, p->arena, &shared);
}

pl_status pl_assembly_check(const pl_ast *ast)
{
    const size_t errors = ast->diags->errors;
    pl_program p = {.arena = pl_arena_open()};
    const bool good = p.arena && check_tables(ast, &p);
    pl_arena_close(p.arena);
    return !good ? PL_NOMEM : ast->diags->errors > errors ? PL_INVALID : PL_OK;
}

/* Creates everything but the code. */
static bool make_tables(pl_assembly *x, const pl_ast *ast)
{
    pl_program *p = x->p;
    assign_indices(ast, p);
    for (size_t k = 0; k < x->o.sources; k++)
        *pl_push(p->arena, &p->sources) =
            (pl_prog_source){x->o.source[k].name, x->o.source[k].lines_before};
    for (size_t k = 0; k < ast->files.n; k++) *pl_push(p->arena, &p->files) = ast->files.at[k];
    for (size_t k = 0; k < ast->inlines.n; k++)
        *pl_push(p->arena, &p->inlines) = ast->inlines.at[k];
    uint8_t *linked = pl_arena_array(x->scratch, uint8_t, ast->funcs.n + 1);
    if (!linked || !pl_layout_shared(ast, p, x->scratch, &x->shared)) return false;
    pl_find_linked(ast, x->scratch, linked);
    for (size_t k = 0; k < ast->funcs.n; k++) p->funcs.at[k].abi_calls = linked[k];
    p->linked_parts = pl_linked_part(ast, linked);
    for (size_t k = 0; k < ast->vars.n; k++) pl_lower_variable(ast->vars.at[k], p);
    for (size_t k = 0; k < ast->funcs.n;
         k++) /* .global and .const variables declared in functions */
        for (size_t v = 0; v < ast->funcs.at[k]->vars.n; v++) {
            pl_space s = ast->funcs.at[k]->vars.at[v]->space;
            if (s == PL_SP_GLOBAL || s == PL_SP_CONST) {
                ast->funcs.at[k]->vars.at[v]->index = (uint32_t)p->vars.n;
                pl_lower_variable(ast->funcs.at[k]->vars.at[v], p);
            }
        }
    return pl_arena_ok(p->arena) && pl_arena_ok(x->scratch);
}

/* ---- functions ---- */

/* Appends the completed functions that are next in order to the program. Returns false when out of
 * memory; the program is then incomplete. */
static bool join_ready(pl_assembly *x)
{
    PL_GUARD(x->failed = PL_NOMEM; return false)
    for (; !x->failed && x->joined < x->n && x->ranked[x->joined]->ready; x->joined++) {
        job *j = x->ranked[x->joined];
        pl_prog_func *f = &x->p->funcs.at[j->f->index];
        j->out.static_shared = f->static_shared; /* not known to a kernel that was started early */
        j->out.shared = f->shared;
        *f = j->out;
        pl_compile_unit_join(x->p, f, &j->part);
        if (j->arena) {
            pl_arena_reset(j->arena);
            j->spare = x->spare;
            x->spare = j;
        }
    }
    return !x->failed;
}

static bool copy_part(pl_program *part, pl_prog_func *out, pl_arena *keep)
{
    PL_GUARD(return false)
    pl_compile_unit_keep(part, out, keep);
    return true;
}

/* Appends a function, and those that waited for it, to the program if all earlier ones are present;
 * otherwise stores it. */
static bool deliver(pl_assembly *x, job *j, pl_program *part)
{
    pl_arena *keep = NULL;
    pthread_mutex_lock(&x->lock);
    bool is_next = x->ranked && j->rank == x->joined; /* and remains true */
    if (!is_next && x->spare) {
        keep = x->spare->arena;
        x->spare->arena = NULL;
        x->spare = x->spare->spare;
    }
    pthread_mutex_unlock(&x->lock);
    if (!is_next) {
        keep = keep ? keep : pl_arena_open();
        if (!keep || !copy_part(part, &j->out, keep)) {
            pl_arena_close(keep);
            return false;
        }
    }
    pthread_mutex_lock(&x->lock);
    j->part = *part;
    j->arena = keep;
    j->ready = true;
    bool good = join_ready(x);
    pthread_mutex_unlock(&x->lock);
    return good;
}

static pl_status assemble(pl_assembly *x, worker *w, job *j)
{
    PL_GUARD(return PL_NOMEM)
    pl_program part;
    uint32_t fixed;
    pl_arena_reset(w->part);
    pl_arena_reset(w->scratch);
    pl_compile_unit_start(&part, j->before, w->part, w->plans);
    bool supported = pl_lower_function(&x->m, j->f, w->scratch, &part, &j->out, &fixed);
    if (supported) pl_find_wgmma_hazards(&part, &j->out, w->scratch);
    if (j->out.count > PL_COMPILE_UNIT_LARGE) pl_arena_release(w->scratch);
    if (!pl_arena_ok(w->part) || !pl_arena_ok(w->scratch)) return PL_NOMEM;
    if (!supported) x->unsupported = true;
    if (x->unsupported) return PL_OK;
    const pl_status st = pl_run_passes(&part, &j->out, fixed, w->work, w->pass);
    return st != PL_OK ? st : deliver(x, j, &part) ? PL_OK : PL_NOMEM;
}

/* ---- threads ---- */

static job *take_job(pl_assembly *x)
{
    job *j = NULL;
    pthread_mutex_lock(&x->lock);
    while (!x->failed && !x->complete && x->next == x->jobs.n) {
        x->idle_workers++;
        pthread_cond_wait(&x->more, &x->lock);
        x->idle_workers--;
    }
    if (!x->failed && x->next < x->jobs.n) j = x->jobs.at[x->next++];
    pthread_mutex_unlock(&x->lock);
    return j;
}

static void *worker_main(void *ctx)
{
    worker *w = ctx;
    for (job *j; (j = take_job(w->x)) != NULL;) {
        const pl_status st = assemble(w->x, w, j);
        if (st != PL_OK) w->x->failed = st;
    }
    return NULL;
}

static void close_worker(worker *w)
{
    pl_arena_close(w->part);
    pl_arena_close(w->scratch);
    pl_arena_close(w->work);
    pl_arena_close(w->pass);
}

static bool open_worker(pl_assembly *x, worker *w)
{
    PL_UNGUARDED;
    *w = (worker){.x = x,
                  .part = pl_arena_open(),
                  .scratch = pl_arena_open(),
                  .work = pl_arena_open(),
                  .pass = pl_arena_open()};
    w->plans = w->part && w->scratch && w->work && w->pass ? pl_plan_cache_new(x->scratch) : NULL;
    if (w->plans) return true;
    close_worker(w);
    return false;
}

/* Starts another thread. Returns false if the system refuses; the existing threads then do all the
 * work. */
static bool start_worker(pl_assembly *x)
{
    worker *w = &x->worker[x->workers];
    if (!open_worker(x, w)) return false;
    if (pthread_create(&w->thread, NULL, worker_main, w) != 0) {
        close_worker(w);
        return false;
    }
    x->workers++;
    return true;
}

static void join_workers(pl_assembly *x)
{
    for (; x->workers > 1; x->workers--) {
        pthread_join(x->worker[x->workers - 1].thread, NULL);
        close_worker(&x->worker[x->workers - 1]);
    }
}

pl_assembly *pl_assembly_open(const pl_assemble_options *o)
{
    PL_UNGUARDED;
    pl_arena *scratch = pl_arena_open(), *arena = pl_arena_open();
    const uint32_t threads = o->threads < 1             ? 1
                             : o->threads < MAX_THREADS ? o->threads
                                                        : MAX_THREADS;
    pl_assembly *x = scratch && arena ? pl_arena_new(scratch, pl_assembly) : NULL;
    if (x) {
        *x = (pl_assembly){.o = *o,
                           .scratch = scratch,
                           .p = pl_arena_new(arena, pl_program),
                           .threads = threads,
                           .worker = pl_arena_array(scratch, worker, threads),
                           .m = {.source = o->source, .sources = o->sources}};
        x->m.shared = &x->shared;
        if (x->p) x->p->arena = arena;
    }
    if (!x || !x->worker || !x->p || !open_worker(x, &x->worker[0])) {
        pl_arena_close(scratch);
        pl_arena_close(arena);
        return NULL;
    }
    x->workers = 1;
    pthread_mutex_init(&x->lock, NULL);
    pthread_cond_init(&x->more, NULL);
    return x;
}

void pl_assembly_close(pl_assembly *x)
{
    if (!x) return;
    pthread_mutex_lock(&x->lock);
    x->failed = PL_INTERRUPTED;
    pthread_cond_broadcast(&x->more);
    pthread_mutex_unlock(&x->lock);
    join_workers(x);
    close_worker(&x->worker[0]);
    for (size_t k = 0; k < x->jobs.n; k++) pl_arena_close(x->jobs.at[k]->arena);
    pthread_cond_destroy(&x->more);
    pthread_mutex_destroy(&x->lock);
    if (x->p) pl_arena_close(x->p->arena);
    pl_arena_close(x->scratch);
}

/* ---- during parsing ---- */

/* True for a kernel whose code does not depend on the rest of the module: shared memory of others,
 * numbers of variables, the convention of callees. */
static bool is_self_contained(const pl_func *f)
{
    for (size_t k = 0; k < f->vars.n; k++) {
        const pl_var *v = f->vars.at[k];
        if (v->unsized ||
            (v->space != PL_SP_LOCAL && v->space != PL_SP_SHARED && v->space != PL_SP_PARAM))
            return false;
    }
    return f->entry && !f->uses.n;
}

static job *new_job(pl_assembly *x, const pl_func *f, const pl_program *before)
{
    job *j = pl_arena_new(x->scratch, job);
    *j = (job){.f = f, .before = before};
    return j;
}

static bool add_job(pl_assembly *x, job *j)
{
    PL_GUARD(return false)
    *pl_push(x->scratch, &x->jobs) = j;
    return true;
}

void pl_assembly_begin(pl_assembly *x, const pl_ast *ast, pl_func *f)
{
    if (x->threads == 1 || !is_self_contained(f)) return;
    if (!x->jobs.n) x->early = empty_program(&x->o, ast, NULL);
    job *j = new_job(x, f, &x->early);
    j->out = func_declaration(f);
    pl_layout_own_shared(f);
    pthread_mutex_lock(&x->lock);
    const bool good = add_job(x, j), idle = x->idle_workers > 0;
    if (!good) x->failed = PL_NOMEM;
    if (idle) pthread_cond_signal(&x->more);
    pthread_mutex_unlock(&x->lock);
    if (good && !idle && x->workers < x->threads) start_worker(x);
}

/* ---- the whole module ---- */

static int by_descending_size(const void *a, const void *b)
{
    const job *x = *(job *const *)a, *y = *(job *const *)b;
    return x->f->body.n > y->f->body.n ? -1 : x->f->body.n < y->f->body.n;
}

static int by_rank(const void *a, const void *b)
{
    const job *x = *(job *const *)a, *y = *(job *const *)b;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* With several threads the largest functions are taken first, so that no thread ends long after the
 * others. The others are taken in the order in which they are joined, so that few are held back. A
 * function is large if it takes at least 1/SHARE of the remaining work. */
enum { SHARE = 16 };

static void order_jobs(pl_assembly *x)
{
    size_t n = x->jobs.n - x->next, all = 0, large = 0;
    if (!n) return; /* the list may be absent */
    job **at = x->jobs.at + x->next;
    for (size_t k = 0; k < n; k++) all += at[k]->f->body.n;
    if (x->threads > 1) qsort(at, n, sizeof *at, by_descending_size);
    while (x->threads > 1 && large < n && at[large]->f->body.n * SHARE >= all) large++;
    if (n > large) qsort(at + large, n - large, sizeof *at, by_rank);
}

/* Ranks all functions with code. Those started early keep their results, unless they must follow
 * the calling convention. */
static bool rank_functions(pl_assembly *x, const pl_ast *ast, job **started, job **ranked)
{
    PL_GUARD(return false)
    size_t statements = 0, largest = 0;
    for (uint32_t k = 0; k < ast->funcs.n; k++) {
        job *j = started[k];
        const size_t n = ast->funcs.at[k]->body.n;
        if (ast->funcs.at[k]->prototype_only) continue;
        statements += n;
        largest = n > largest ? n : largest;
        if (!j || x->p->funcs.at[k].abi_calls) {
            j = new_job(x, ast->funcs.at[k], &x->before);
            j->out = x->p->funcs.at[k];
            *pl_push(x->scratch, &x->jobs) = j;
        }
        ranked[x->n] = j;
        j->rank = x->n++;
    }
    if (largest <= PL_COMPILE_UNIT_LARGE) /* usually one instruction per statement; the code of a
                                          very large function may be used directly as the program's
                                          code (compiler/compile_function.c) */
        pl_reserve(x->p->arena, &x->p->code, statements + statements / 4);
    return true;
}

/* *remaining: number of jobs not taken yet. */
static bool list_functions(pl_assembly *x, const pl_ast *ast, size_t *remaining)
{
    job **started = pl_arena_array(x->scratch, job *, ast->funcs.n + 1),
        **ranked = pl_arena_array(x->scratch, job *, ast->funcs.n + 1);
    for (size_t k = 0; k < x->jobs.n; k++) started[x->jobs.at[k]->f->index] = x->jobs.at[k];
    pthread_mutex_lock(&x->lock);
    bool good = rank_functions(x, ast, started, ranked);
    if (good) {
        x->ranked = ranked;
        good = join_ready(x);
    }
    if (good)
        order_jobs(x);
    else
        x->failed = PL_NOMEM;
    *remaining = x->jobs.n - x->next;
    x->complete = true;
    pthread_cond_broadcast(&x->more);
    pthread_mutex_unlock(&x->lock);
    return good;
}

static pl_status assemble_functions(pl_assembly *x, const pl_ast *ast)
{
    const size_t n = x->p->funcs.n;
    size_t remaining;
    x->before = *x->p;
    x->m.open_bytes = ast->open_bytes;
    x->before.funcs.at = n ? pl_arena_copy(x->scratch, x->p->funcs.at, n * sizeof *x->p->funcs.at)
                           : NULL; /* other threads read this while functions are joined */
    if (!pl_arena_ok(x->scratch) || !list_functions(x, ast, &remaining)) return PL_NOMEM;
    while (remaining > x->workers && x->workers < x->threads && start_worker(x))
        ;
    worker_main(&x->worker[0]);
    join_workers(x);
    if (x->failed != PL_OK) return x->failed;
    if (x->unsupported) report_unsupported(ast);
    return x->unsupported ? PL_UNSUPPORTED : pl_program_resources(x->p);
}

pl_status pl_assembly_finish(pl_assembly *x, const pl_ast *ast, pl_program **out)
{
    const size_t errors = ast->diags->errors;
    pl_arena *arena = x->p->arena;
    if (x->o.keep_loads) pl_separate_constants(ast, arena);
    *x->p = empty_program(&x->o, ast, arena);
    pl_status st = !make_tables(x, ast)          ? PL_NOMEM
                   : ast->diags->errors > errors ? PL_INVALID
                                                 : assemble_functions(x, ast);
    if (!pl_arena_ok(arena) || !pl_arena_ok(x->scratch)) st = PL_NOMEM;
    *out = NULL;
    if (st == PL_OK) {
        *out = x->p;
        x->p = NULL;
    }
    return st;
}
