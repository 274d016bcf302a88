/* launch.c - runs a kernel launch, and those that follow it in its stream, in one of the two modes.
 *
 * Launches that may overlap (programmatic dependent launch) form a chain of grids, which run
 * concurrently. Chains run sequentially, each with the launches that its device code makes. */
#include "lib/launch/launch.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/plural.h"
#include "emu/exec/async/async.h"
#include "check/check.h"
#include "emu/exec/dispatch.h"
#include "emu/exec/consistency/weak_memory.h"
#include "isa/program/insn_query.h"
#include "emu/exec/deadlock_report.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEFAULT_STACK = 1024,
    LAUNCH_BUFFERS = 16 << 20, /* parameters of pending device-side launches */
    WORKSPACE = 4096,          /* per cooperative launch */
    SMALL_LAUNCH = 64 << 20    /* a launch that needs less host memory is not monitored */
};

/* ns per cycle, as %globaltimer counts without an application clock. */
#define HALF_CLOCK 0.5

/* Seconds for which blocks keep the timing model at least after the last has started with it. */
#define LEAST_END 0.5

/* ---------------------------------------------------------------- driver part of a launch */

typedef struct launcher {
    const pl_gpu *gpu;
    const pl_program *program;
} launcher;

static uint32_t launchable(void *ctx, const pl_child *c)
{
    const launcher *x = ctx;
    pl_occupancy o;
    return pl_launch_shape_fits(x->gpu, &x->program->funcs.at[c->func], c, &o) ? o.blocks : 0;
}

/* Allocates a region of device memory for a system service that the program uses. */
static pl_status allocate_region(pl_gpu *gpu, bool needed, uint64_t bytes, const char *name,
                                 uint64_t *base, uint64_t *size)
{
    if (!needed || *base) return PL_OK;
    *base = pl_memory_alloc(&gpu->memory, bytes, name);
    *size = bytes;
    return *base ? PL_OK : pl_gpu_no_memory(gpu, name);
}

static pl_status prepare_system(pl_gpu *gpu, const pl_program *p, bool cooperative)
{
    pl_system *s = &gpu->system;
    uint64_t unused;
    pl_status st =
        allocate_region(gpu, pl_system_uses_heap(p), s->heap.size ? s->heap.size : PL_HEAP_DEFAULT,
                        "device heap", &s->heap.base, &s->heap.size);
    if (st == PL_OK && s->heap.base && !s->heap.valid) {
        if (!pl_heap_track_valid(&s->heap)) return pl_gpu_no_memory(gpu, "device heap");
        pl_memory_restrict(&gpu->memory, s->heap.base, s->heap.valid);
    }
    if (st == PL_OK)
        st = allocate_region(gpu, pl_system_uses_launches(p), LAUNCH_BUFFERS,
                             "launches from the device", &s->launch_base, &s->launch_size);
    if (st == PL_OK && pl_system_uses_texts(p) && !s->texts) {
        st = allocate_region(gpu, true, pl_runtime_texts(NULL), "names of errors", &s->texts,
                             &s->texts_size);
        if (st == PL_OK) pl_runtime_texts(pl_memory_at(&gpu->memory, s->texts, s->texts_size));
    }
    if (st == PL_OK)
        st = allocate_region(gpu, cooperative, WORKSPACE, "grid barrier", &s->workspace, &unused);
    s->child.n = 0;
    return st;
}

/* Allocates the private global memory of the blocks of a grid, for the duration of its run. */
static pl_status allocate_block_memory(pl_gpu *gpu, pl_grid *g)
{
    uint64_t block_bytes = ((uint64_t)g->entry->minperctamemory + 1023) / 1024 * 1024,
             blocks = pl_grid_blocks(g);
    g->block_memory = 0;
    if (!block_bytes) return PL_OK;
    if (block_bytes <= UINT32_MAX && blocks <= UINT64_MAX / block_bytes)
        g->block_memory =
            pl_memory_alloc(&gpu->memory, blocks * block_bytes, "memory of the blocks");
    return g->block_memory ? PL_OK : pl_gpu_no_memory(gpu, "memory of the blocks");
}

static void release_block_memory(pl_gpu *gpu, pl_grid *g)
{
    if (g->block_memory) pl_memory_release(&gpu->memory, g->block_memory);
    g->block_memory = 0;
}

/* State shared by the grids of a launch. */
typedef struct launch_state {
    pl_module *m;
    const pl_launch *l;
    pl_launch_shape first; /* of the first grid */
    pl_grid *g;            /* one for each launch; owned */
    size_t n;
    pl_time_limit limit;
    pl_result *out;
    pl_totals *totals; /* timing mode */
    uint64_t cycles;   /* of the grids that have completed */
    uint64_t blocks;   /* of the grids that were created */
    pl_sink sink;      /* forwards events to l->sink, delayed by `cycles` */
} launch_state;

static void forward_inst(void *ctx, const pl_inst_event *e)
{
    const launch_state *x = ctx;
    pl_inst_event later = *e;
    later.cycle += x->cycles;
    x->l->sink->inst(x->l->sink->ctx, &later);
}

static void forward_done(void *ctx, uint64_t seq, uint32_t latency)
{
    const launch_state *x = ctx;
    x->l->sink->done(x->l->sink->ctx, seq, latency);
}

static void forward_mem(void *ctx, const pl_mem_event *e)
{
    const launch_state *x = ctx;
    pl_mem_event later = *e;
    later.cycle += x->cycles;
    x->l->sink->mem(x->l->sink->ctx, &later);
}

static void forward_unit(void *ctx, pl_unit_sum sum, uint32_t unit, uint64_t cycle, uint32_t n)
{
    const launch_state *x = ctx;
    x->l->sink->unit(x->l->sink->ctx, sum, unit, cycle + x->cycles, n);
}

static void init_sink(launch_state *x)
{
    const pl_sink *to = x->l->sink;
    x->sink = (pl_sink){.ctx = x};
    if (!to) return;
    x->sink.inst = to->inst ? forward_inst : NULL;
    x->sink.mem = to->mem ? forward_mem : NULL;
    x->sink.done = to->done ? forward_done : NULL;
    x->sink.unit = to->unit ? forward_unit : NULL;
}

/* Returns the remainder of a limit; 0: no limit. */
static uint64_t remaining(uint64_t limit, uint64_t used)
{
    return !limit ? 0 : limit > used ? limit - used : 1;
}

/* True if a launch that repeats an earlier one may be skipped. */
static bool may_replay(const pl_launch *l)
{
    return l->memoize && l->mode == PL_MODE_FUNCTIONAL && !l->then && !l->sink && !l->checks &&
           !l->weak && !l->random && !l->max_instructions && !l->sms;
}

/* Executes a chain of grids, or replays an earlier execution. */
static pl_status execute(launch_state *x, pl_grid *head)
{
    pl_gpu *gpu = x->m->gpu;
    if (x->l->mode == PL_MODE_TIMING) return pl_timing(x->m, head, x->totals, x->out);
    if (!may_replay(x->l)) return pl_grid_run(head);
    if (pl_memo_replay(gpu, x->m, head)) return PL_OK;
    const pl_status st = pl_grid_run(head);
    pl_memo_record(gpu, x->m, head, st == PL_OK && !head->assertion.set);
    return st;
}

static struct pl_check *checker_of(const pl_launch *l)
{
    return l->checks ? pl_checks_checker(l->checks) : NULL;
}

/* Called when the grids have ended. */
static pl_status end_chain(launch_state *x, pl_grid *head, struct pl_weak *weak, pl_status st)
{
    const pl_launch *l = x->l;
    struct pl_check *check = checker_of(l);
    const bool launched = head->ticket || x->m->gpu->system.child.n > 0;
    if (check && !pl_check_end(check, launched) && st == PL_OK) st = PL_NOMEM;
    pl_weak_close(weak);
    if (head->assertion.set && !head->fault.set) { /* a failed assertion */
        head->fault = head->assertion;
        st = PL_FAULT;
    }
    for (const pl_grid *g = head; g && l->mode == PL_MODE_FUNCTIONAL; g = g->next) {
        x->out->inst_executed += g->executed;
        x->out->thread_inst_executed += g->lane_executed;
        if (g->longest_warp > x->out->longest_warp) x->out->longest_warp = g->longest_warp;
    }
    x->cycles = x->out->cycles;
    return st;
}

/* Runs a chain of grids. */
static pl_status run_chain(launch_state *x, pl_grid *head)
{
    const pl_launch *l = x->l;
    head->limits.cycles = remaining(l->max_cycles, x->cycles);
    head->limits.instructions = remaining(l->max_instructions, x->out->inst_executed);
    struct pl_weak *weak = l->weak ? pl_weak_open(x->m->program, l->seed) : NULL;
    if (l->weak && !weak) return PL_NOMEM;
    head->assertion.set = false;
    for (pl_grid *g = head; g; g = g->next) {
        g->weak = weak;
        g->first_block = x->blocks;
        x->blocks += pl_grid_blocks(g);
        if (!g->first_block || !l->sink || !l->sink->grid) continue;
        pl_grid_event e = {.first_block = (uint32_t)g->first_block};
        memcpy(e.grid, g->grid, sizeof e.grid);
        memcpy(e.block, g->block, sizeof e.block);
        l->sink->grid(l->sink->ctx, &e);
    }
    struct pl_check *check = checker_of(l);
    if (check && !pl_check_begin(check, x->m->program, head, l->random ? l->seed : 0)) {
        pl_weak_close(weak);
        return PL_NOMEM;
    }
    const pl_status st = execute(x, head);
    return st == PL_WAITING ? st : end_chain(x, head, weak, st);
}

/* Runs a copy by device code. It takes no modelled time: no measurement exists. */
static pl_status run_copy(pl_module *m, pl_grid *parent, const pl_child *c)
{
    const pl_child_copy *x = &c->copy;
    const uint64_t bad_address = pl_child_copy_run(&m->gpu->memory, x);
    if (bad_address == UINT64_MAX) return PL_OK;
    pl_fault_info *f = &parent->fault;
    *f = (pl_fault_info){.kernel = m->program->funcs.at[c->func].name,
                         .error = "CUDA_ERROR_ILLEGAL_ADDRESS",
                         .pc = x->pc,
                         .address = bad_address,
                         .set = true};
    memcpy(f->block, x->block, sizeof f->block);
    memcpy(f->thread, x->thread, sizeof f->thread);
    snprintf(f->text, sizeof f->text,
             "%s of %" PRIu64 " byte%s at 0x%" PRIx64 " reaches beyond what is allocated there",
             x->is_set ? "cudaMemsetAsync" : "cudaMemcpyAsync", x->width, pl_plural(x->width),
             bad_address);
    return PL_FAULT;
}

/* Device-side launches that have not run. The first one to run is the last. */
typedef struct child_stack {
    pl_child *at;
    size_t n, cap;
} child_stack;

static bool push_child(child_stack *todo, const pl_child *c)
{
    if (todo->n == todo->cap && !pl_array_grow(&todo->at, &todo->cap, sizeof *todo->at))
        return false;
    todo->at[todo->n++] = *c;
    return true;
}

static void clear_children(pl_system *s)
{
    for (size_t k = 0; k < s->child.n; k++) free(s->child.at[k].params);
    s->child.n = 0;
}

/* Moves the launches of a grid to the stack, those of the tail stream last in launch order. */
static pl_status take_children(pl_system *s, child_stack *todo)
{
    pl_status st = PL_OK;
    for (int tail = 1; tail >= 0; tail--)
        for (size_t k = s->child.n; k-- > 0 && st == PL_OK;) {
            if (s->child.at[k].tail != (tail == 1)) continue;
            if (push_child(todo, &s->child.at[k]))
                s->child.at[k].params = NULL;
            else
                st = PL_NOMEM;
        }
    clear_children(s);
    return st;
}

/* The grid of a device-side launch, which starts as a copy of its parent. */
static void init_child_grid(pl_grid *g, const pl_grid *parent, const pl_prog_func *f,
                            const pl_child *c)
{
    *g = *parent;
    g->entry = f;
    memcpy(g->grid, c->grid, sizeof g->grid);
    memcpy(g->block, c->block, sizeof g->block);
    memset(g->cluster, 0, sizeof g->cluster);
    g->dynamic_shared = c->shared;
    g->params = c->params;
    g->cooperative = false;
    g->workspace = 0;
    g->ticket = c->ticket;
    g->pool = NULL;
    g->head = g;
    g->previous = g->next = NULL;
    g->resumed = g->may_wait = g->waiting = false;
    g->next_block = g->cancelled = g->blocks_done = 0;
    g->executed = g->lane_executed = g->cycles = g->advances = 0;
}

static pl_status run_child(launch_state *x, pl_grid *parent, const pl_child *c)
{
    pl_module *m = x->m;
    const pl_prog_func *f = &m->program->funcs.at[c->func];
    pl_occupancy o = {0};
    if (!pl_launch_shape_fits(m->gpu, f, c, &o)) return PL_INVALID;
    pl_grid *g = malloc(sizeof *g);
    if (!g) return PL_NOMEM;
    init_child_grid(g, parent, f, c);
    g->max_resident = o.blocks * pl_launch_sms(m->gpu, x->l);
    g->launch_id = ++m->gpu->launches;
    pl_status st = allocate_block_memory(m->gpu, g);
    if (st == PL_OK) st = run_chain(x, g);
    release_block_memory(m->gpu, g);
    parent->seq = g->seq; /* event numbers continue */
    if (g->fault.set) parent->fault = g->fault;
    if (g->undefined.set) parent->undefined = g->undefined;
    free(g);
    return st;
}

/* Runs device-side launches after their parent, in launch order, with those of the tail stream
 * last. A grid has completed when its children have. Their cost is added to the parent's. */
static pl_status run_children(launch_state *x, pl_grid *parent)
{
    child_stack todo = {0};
    pl_status st;
    while ((st = take_children(parent->system, &todo)) == PL_OK && todo.n > 0) {
        const pl_child c = todo.at[--todo.n];
        st = c.is_copy ? run_copy(x->m, parent, &c) : run_child(x, parent, &c);
        free(c.params);
        if (st != PL_OK) break;
    }
    clear_children(parent->system);
    if (checker_of(x->l)) pl_check_launches_end(checker_of(x->l));
    for (size_t k = 0; k < todo.n; k++) free(todo.at[k].params);
    free(todo.at);
    return st;
}

/* Reports the results of the grids g[0 .. n - 1]; `head` begins the chain that ran last. */
static pl_status report_results(launch_state *x, const pl_grid *g, size_t n, const pl_grid *head,
                                pl_status st)
{
    pl_module *m = x->m;
    if (st == PL_NOMEM) return pl_launch_no_memory(m->gpu, head);
    PL_GUARD(return pl_gpu_no_memory(m->gpu, "while running the kernel"))
    for (const pl_grid *k = g; k < g + n; k++)
        if (k->undefined.set) pl_launch_report_warning(m, &k->undefined);
    if (head->fault.set) {
        pl_launch_report_fault(m, head);
        x->out->error = pl_arena_strdup(m->results, head->fault.error ? head->fault.error : "");
        x->out->error_text = pl_arena_strdup(m->results, head->fault.text);
        x->out->fault = pl_launch_fault_place(m, &head->fault);
    } else if (st == PL_INTERRUPTED) {
        pl_launch_report_stop(m, x->l, head);
    } else if (st == PL_OK && g->system->out.out_of_memory) {
        return pl_gpu_no_memory(m->gpu, "for the output of printf");
    }
    return head->fault.set ? PL_FAULT : st;
}

/* Runs what follows the last chain, or the children of the only one, and reports the results. */
static pl_status end_run(launch_state *x, pl_grid *head, pl_status st)
{
    if (st == PL_OK && x->m->gpu->system.child.n > 0) st = run_children(x, head);
    if (st != PL_OK || head->fault.set) x->out->ncounters = 0;
    return report_results(x, x->g, x->n, head, st);
}

/* Runs the grids, launched in this order in a stream. */
static pl_status run_rows(launch_state *x)
{
    pl_module *m = x->m;
    pl_system *system = &m->gpu->system;
    pl_grid *head = x->g;
    for (;;) {
        pl_grid *last = head;
        while (last->next) last = last->next;
        if (system->workspace)
            memset(pl_memory_at(&m->gpu->memory, system->workspace, WORKSPACE), 0, WORKSPACE);
        system->launch_top = system->handles = 0;
        pl_status st = run_chain(x, head);
        if (st == PL_WAITING) return st;
        if (st != PL_OK || last == x->g + x->n - 1) return end_run(x, head, st);
        if (system->child.n > 0) st = run_children(x, head);
        if (st != PL_OK) return end_run(x, head, st);
        last[1].seq = head->seq;
        head = last + 1;
    }
}

/* Continues a suspended launch, of a single grid. */
static pl_status continue_row(launch_state *x)
{
    const pl_status st = pl_grid_run(x->g);
    if (st == PL_WAITING) return st;
    if (x->l->mode == PL_MODE_TIMING) pl_timing_add_untimed(x->g, x->out);
    return end_run(x, x->g, end_chain(x, x->g, NULL, st));
}

/* Executes a part of a launch, with what its device-side launches need. */
static pl_status run(launch_state *x, pl_status (*part)(launch_state *x))
{
    pl_module *m = x->m;
    const double start = pl_clock_seconds();
    launcher ctx = {m->gpu, m->program};
    pl_system *system = &m->gpu->system;
    system->launchable = launchable;
    system->ctx = &ctx;
    const pl_status st = part(x);
    system->launchable = NULL;
    system->ctx = NULL;
    x->out->wall_seconds += pl_clock_seconds() - start;
    x->out->progressed = x->g->progressed;
    x->out->waited = x->g->waited;
    x->out->running = x->g->running;
    return st;
}

/* The limit applies to calls whose depth is unknown at assembly time. A thread always has the stack
 * that the known calls require. */
static uint32_t stack_limit(const pl_launch *l, const pl_prog_func *f)
{
    uint32_t limit = l->stack ? l->stack : DEFAULT_STACK;
    return f->stack_bytes > limit ? f->stack_bytes : limit;
}

static int async_mode_of(const pl_launch *l)
{
    if (l->async_timed) return PL_ASYNC_TIMED;
    if (l->async_late) return PL_ASYNC_LATE;
    return l->mode == PL_MODE_TIMING && !l->async_eager ? PL_ASYNC_TIMED : PL_ASYNC_EAGER;
}

/* True if the executions of each instruction are counted. In large modules, clearing the counters
 * takes longer than a short launch. */
static bool is_counted(const pl_launch *l)
{
    return !l->uncounted || l->mode == PL_MODE_TIMING;
}

static pl_page_faults *open_page_faults(pl_arena *a, const pl_launch *l)
{
    pl_page_faults *f = pl_page_faults_new(a, l->nmanaged);
    for (size_t k = 0; f && k < l->nmanaged; k++) {
        const pl_managed_block *b = &l->managed[k];
        f->block[k] = (pl_fault_block){.address = b->address,
                                       .managed = b->managed,
                                       .absent = b->absent & b->managed,
                                       .on_host = b->on_host};
    }
    return f;
}

/* f: NULL is allowed. */
static void take_migrated(const pl_launch *l, const pl_page_faults *f)
{
    for (size_t k = 0; f && k < f->n; k++) l->managed[k].absent = f->block[k].absent;
}

/* first: the first launch of its stream. */
static pl_grid make_grid(pl_gpu *gpu, pl_module *m, const pl_launch *first, const pl_launch *l,
                         const pl_launch_shape *s, pl_page_faults *faults)
{
    pl_grid g = {.program = m->program,
                 .entry = s->f,
                 .memory = &gpu->memory,
                 .objects = &gpu->objects,
                 .tlb = gpu->unified ? &gpu->tlb : NULL,
                 .decoded = first->mode == PL_MODE_TIMING ? m->decoded : NULL,
                 .dynamic_shared = l->dynamic_shared,
                 .params = l->params,
                 .stack_limit = stack_limit(l, s->f),
                 .max_resident = s->occupancy.blocks * pl_launch_sms(gpu, first),
                 .pc_stat = is_counted(first) ? m->pc_stat : NULL,
                 .counted = m->counted,
                 .cancel = first->cancel ? first->cancel : gpu->stop,
                 .progress = first->progress,
                 .progress_ctx = first->progress_ctx,
                 .threads = first->threads > 1 ? (uint32_t)first->threads : 1,
                 .nsm = gpu->machine->sm.count,
                 .sm_mask = first->sms,
                 .width = gpu->machine->sm.lanes,
                 .warp_slots = gpu->machine->sm.warps,
                 .capability = gpu->machine->capability,
                 .shared_reserved = (uint32_t)gpu->machine->shared.reserved,
                 .launch_id = ++gpu->launches,
                 .graph = first->graph,
                 .launch_graph = first->launch_graph,
                 .update_node = first->update_node,
                 .graph_ctx = first->graph_ctx,
                 .page_fault_cycles = first->page_fault_cycles,
                 .page_faults = faults,
                 .global_time = first->global_time,
                 .cycle_time = first->global_time > 0 ? 1e3 / gpu->machine->clock_mhz : HALF_CLOCK,
                 .async_mode = async_mode_of(first),
                 .simt_stack = first->simt_stack,
                 .random = first->random,
                 .rng = first->seed,
                 .max_slice = first->turn,
                 .launch_cache = &gpu->stock,
                 .system = &gpu->system,
                 .cooperative = l->cooperative,
                 .workspace = l->cooperative || m->grid_barrier ? gpu->system.workspace : 0};
    memcpy(g.grid, l->grid, sizeof g.grid);
    memcpy(g.block, l->block, sizeof g.block);
    /* All zero without a cluster, which %is_explicit_cluster distinguishes. */
    if (pl_is_shape_given(l->cluster) || pl_is_shape_given(s->f->reqnctapercluster))
        memcpy(g.cluster, s->cluster, sizeof g.cluster);
    return g;
}

/* Links launches that may overlap into chains. */
static void link_chains(pl_grid *g, const pl_launch *l)
{
    pl_grid *head = g->head = g;
    while ((l = l->then) != NULL) {
        g++;
        head = g->head = l->dependent ? head : g;
        if (!l->dependent) continue;
        g->previous = g - 1;
        g[-1].next = g;
    }
}

static uint64_t max_concurrent_blocks(const pl_grid *g)
{
    const uint64_t blocks = pl_grid_blocks(g);
    return blocks < g->max_resident ? blocks : g->max_resident;
}

static uint64_t saturating_product(uint64_t a, uint64_t b)
{
    return b && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

/* The parts of the requirement of a grid. */
typedef struct launch_bytes {
    uint64_t blocks, threads; /* that run at once; threads of all of them */
    uint64_t local, rest;     /* of these blocks */
    uint64_t model;           /* of the timing model */
} launch_bytes;

static pl_status check_grid_memory(pl_gpu *gpu, const pl_grid *g, const launch_bytes *x)
{
    const uint64_t sums[] = {x->local, x->rest, x->model};
    bool large = false;
    uint64_t all = 0;
    for (size_t k = 0; k < sizeof sums / sizeof *sums; k++) {
        large |= pl_budget_must_check(sums[k]);
        all += sums[k];
    }
    if (!large && !pl_budget_must_check(all)) return PL_OK;
    const char *model = pl_arena_printf(gpu->messages, "the timing model of %u SM%s",
                                        gpu->machine->sm.count, pl_plural(gpu->machine->sm.count));
    const pl_need need[] = {
        {pl_arena_printf(gpu->messages, "local memory of %" PRIu64 " thread%s", x->threads,
                         pl_plural(x->threads)),
         x->local, "fewer or smaller .local variables, smaller blocks, or --mode functional",
         PL_NEED_MEMORY},
        {pl_arena_printf(gpu->messages, "registers and shared memory of %" PRIu64 " block%s",
                         x->blocks, pl_plural(x->blocks)),
         x->rest, "smaller blocks, or --mode functional", PL_NEED_MEMORY},
        {model, x->model, "a higher limit, --mode functional, or a smaller machine",
         PL_NEED_ADDRESS_SPACE}};
    return pl_budget_check(
        gpu, (pl_loc){.file = UINT32_MAX},
        pl_arena_printf(gpu->messages, "a launch of kernel '%s'", g->entry->name), need,
        sizeof need / sizeof *need);
}

/* Blocks in timing mode start as soon as the machine has space. In functional mode, further blocks
 * start only when earlier ones wait. Their total memory is limited by a limit of the grids. */
static pl_status check_host_memory(pl_gpu *gpu, const pl_launch *l, pl_grid *g, size_t n)
{
    PL_GUARD(return pl_gpu_no_memory(gpu, "while preparing the launch"))
    uint64_t bound = 0, blocks_of_all = 0;
    pl_status st = PL_OK;
    launch_bytes x = {0};
    for (size_t k = 0; k < n; k++) blocks_of_all += max_concurrent_blocks(&g[k]);
    if (l->mode == PL_MODE_TIMING)
        x.model =
            pl_timing_bytes(gpu->machine, blocks_of_all, l->sink && l->sink->mem, &gpu->stock);
    for (size_t k = 0; k < n && st == PL_OK; k++) {
        const uint64_t block_bytes = pl_grid_block_bytes(&g[k]),
                       threads = (uint64_t)g[k].block[0] * g[k].block[1] * g[k].block[2],
                       local = threads * g[k].entry->frame_bytes,
                       cluster = g[k].cluster[0]
                                     ? g[k].cluster[0] * g[k].cluster[1] * g[k].cluster[2]
                                     : 1,
                       blocks = l->mode == PL_MODE_TIMING ? max_concurrent_blocks(&g[k]) : cluster;
        x.blocks = blocks;
        x.threads = blocks * threads;
        x.local = saturating_product(local, blocks);
        x.rest = saturating_product(block_bytes - local, blocks);
        st = check_grid_memory(gpu, &g[k], &x);
        const uint64_t stack_bytes = saturating_product(
            saturating_product(threads, g[k].stack_limit), max_concurrent_blocks(&g[k]));
        bound |=
            stack_bytes |
            saturating_product(block_bytes,
                               max_concurrent_blocks(&g[k])); /* at least the maximum of the two */
    }
    if (st == PL_OK && bound > SMALL_LAUNCH)
        for (size_t k = 0; k < n; k++) g[k].limits.memory = pl_budget_left(gpu);
    return st;
}

/* Checks the launches and prepares the GPU for them; *shapes: one per launch. */
static pl_status prepare(pl_gpu *gpu, pl_module *m, const pl_launch *l, size_t n,
                         pl_launch_shape **shapes)
{
    PL_GUARD(return pl_gpu_no_memory(gpu, "while preparing the launch"))
    bool cooperative = m->grid_barrier;
    size_t k = 0;
    pl_status st = PL_OK;
    if (!gpu->machine) return pl_launch_refuse(gpu, "the launch", "no machine was opened");
    pl_launch_shape *s = *shapes = pl_arena_array(gpu->messages, pl_launch_shape, n);
    for (const pl_launch *x = l; x && st == PL_OK; x = x->then) {
        cooperative |= x->cooperative;
        st = pl_launch_check(gpu, m, x, &s[k++]);
    }
    if (st == PL_OK && l->mode == PL_MODE_TIMING) pl_module_decoded(m);
    return st == PL_OK ? prepare_system(gpu, m->program, cooperative) : st;
}

static bool is_grid_barrier(uint32_t sreg)
{
    return sreg == W_envreg1 || sreg == W_envreg2;
}

/* True if the program uses the address of a grid barrier, which the driver passes to each launch.
 */
static bool reads_grid_barrier(const pl_program *p)
{
    bool reads = false;
    for (size_t k = 0; k < p->code.n && !reads; k++)
        reads = pl_insn_names_sreg(&p->code.at[k]) && is_grid_barrier(p->code.at[k].op[1]);
    for (size_t k = 0; k < p->funcs.n; k++)
        for (size_t i = 0; i < p->funcs.at[k].init.n; i++)
            reads |= is_grid_barrier(p->funcs.at[k].init.at[i].sreg);
    return reads;
}

/* Clears only the counters that the previous launch can have changed: a module may be large and its
 * launches short. */
static void reset_counters(pl_module *m, const pl_prog_func *entry, bool single)
{
    memset(m->pc_stat + m->counted.first, 0, m->counted.count * sizeof *m->pc_stat);
    m->counted =
        single ? pl_func_reach(m->program, entry) : (pl_code_range){.count = m->program->code.n};
}

/* Returns the bytes that lanes have requested from global memory. */
static uint64_t requested_bytes(const pl_module *m)
{
    const uint32_t spaces = 1u << PL_SP_GLOBAL | 1u << PL_SP_GENERIC;
    uint64_t bytes = 0;
    for (size_t k = m->counted.first; k < m->counted.first + m->counted.count; k++) {
        const pl_insn *i = &m->program->code.at[k];
        if (!m->pc_stat[k].lanes || !(i->flags & PL_IF_MEM)) continue;
        if (pl_insn_effects(i) & (PL_EF_LOAD | PL_EF_STORE | PL_EF_ATOMIC) &&
            spaces >> i->sel[PL_M_SPACE] & 1)
            bytes += m->pc_stat[k].lanes * ((uint64_t)i->sel[PL_M_COUNT] << i->sel[PL_M_LOG2]);
    }
    return bytes;
}

/* Called when the launch has ended or is suspended. */
static void describe(launch_state *x)
{
    pl_result *out = x->out;
    pl_module *m = x->m;
    const bool counted = is_counted(x->l);
    const pl_launch_shape *s = &x->first;
    out->theoretical_occupancy =
        (double)(s->occupancy.blocks * s->occupancy.warps) / m->gpu->machine->sm.warps;
    out->pc_stat = counted ? m->pc_stat : NULL;
    out->npc = counted ? m->program->code.n : 0;
    out->global_bytes = counted ? requested_bytes(m) : 0;
    out->registers = s->f->registers;
    out->static_shared = s->f->static_shared;
    out->dynamic_shared = x->l->dynamic_shared;
    out->local_bytes = s->f->local_bytes;
}

static void close_launch(launch_state *x)
{
    take_migrated(x->l, x->g->page_faults);
    for (size_t k = 0; k < x->n; k++) release_block_memory(x->m->gpu, &x->g[k]);
    pl_totals_close(x->totals);
    free(x->g);
}

/* Prepares the grids. */
static pl_status open_launch(launch_state *x, const pl_launch_shape *s)
{
    pl_module *m = x->m;
    pl_gpu *gpu = m->gpu;
    const pl_launch *l = x->l;
    size_t k = 0;
    pl_page_faults *faults = NULL;
    if (l->mode == PL_MODE_TIMING && l->nmanaged) {
        faults = open_page_faults(m->results, l);
        if (!faults) return pl_gpu_no_memory(gpu, "while preparing the launch");
    }
    init_sink(x);
    for (const pl_launch *y = l; y; y = y->then, k++) {
        x->g[k] = make_grid(gpu, m, l, y, &s[k], faults);
        x->g[k].sink = l->sink ? &x->sink : NULL;
        x->g[k].time_limit = l->timed_seconds > 0 || l->waiting ? &x->limit : NULL;
        x->g[k].may_wait = l->waiting && x->n == 1;
    }
    link_chains(x->g, l);
    pl_status st = check_host_memory(gpu, l, x->g, x->n);
    gpu->system.out.max_chars = l->max_output;
    for (k = 0; k < x->n && st == PL_OK; k++) st = allocate_block_memory(gpu, &x->g[k]);
    return st;
}

static pl_time_limit time_limit_of(const pl_launch *l)
{
    pl_time_limit limit = {.deadline = INFINITY, .end = INFINITY};
    if (l->timed_seconds <= 0) return limit;
    limit.deadline = pl_clock_seconds() + l->timed_seconds;
    limit.end = limit.deadline + (l->timed_seconds > LEAST_END ? l->timed_seconds : LEAST_END);
    return limit;
}

static pl_status suspend(launch_state *x, pl_waiting **out);

static pl_status launch(pl_gpu *gpu, pl_module *m, const pl_launch *l, pl_result *out)
{
    PL_UNGUARDED;
    size_t n = 0, code = m->program->code.n;
    pl_launch_shape *s;
    for (const pl_launch *x = l; x; x = x->then) n++;
    if (!m->bound) m->grid_barrier = reads_grid_barrier(m->program);
    if (!m->bound) pl_bind(m->program, (int)m->host - 1);
    m->bound = true;
    pl_status st = prepare(gpu, m, l, n, &s);
    if (st != PL_OK) return st;
    pl_arena_close(m->results);
    m->results = pl_arena_open();
    if (!m->pc_stat) m->pc_stat = calloc(code ? code : 1, sizeof *m->pc_stat);
    launch_state x = {.m = m,
                      .l = l,
                      .out = out,
                      .first = *s,
                      .g = calloc(n, sizeof *x.g),
                      .n = n,
                      .limit = time_limit_of(l)};
    if (l->mode == PL_MODE_TIMING) {
        x.totals = pl_totals_open(gpu->machine);
        pl_tlb_begin(&gpu->tlb);
    }
    if (!m->results || !m->pc_stat || !x.g || (l->mode == PL_MODE_TIMING && !x.totals)) {
        free(x.g);
        pl_totals_close(x.totals);
        return pl_gpu_no_memory(gpu, "while preparing the launch");
    }
    if (is_counted(l)) reset_counters(m, s->f, n == 1);
    st = open_launch(&x, s);
    if (st == PL_OK) st = run(&x, run_rows);
    if (st == PL_WAITING) return suspend(&x, l->waiting);
    close_launch(&x);
    describe(&x);
    return st;
}

pl_status pl_launch_kernel(pl_gpu *gpu, pl_module *m, const pl_launch *l, pl_result *out)
{
    *out = (pl_result){.status = PL_OK};
    out->status = launch(gpu, m, l, out);
    if (l->checks && out->status != PL_WAITING && pl_checks_collect(l->checks, m) != PL_OK &&
        out->status == PL_OK)
        out->status = PL_NOMEM;
    return out->status;
}

/* ---------------------------------------------------------------- suspended launches */

struct pl_waiting {
    launch_state x;
    pl_launch l;
    pl_result out;
    /* Parts of the module and the GPU that belong to this launch while others may run. */
    pl_pc_stat *pc_stat;
    pl_code_range counted;
    pl_arena *results;
    uint64_t workspace;
    pl_child *child;
    size_t nchild, cap_child;
};

/* Takes its parts from the module and the GPU. */
static void detach(pl_waiting *w)
{
    pl_module *m = w->x.m;
    pl_system *s = &m->gpu->system;
    w->pc_stat = m->pc_stat;
    w->counted = m->counted;
    w->results = m->results;
    m->pc_stat = NULL;
    m->results = NULL;
    m->counted = (pl_code_range){0};
    w->child = s->child.at;
    w->nchild = s->child.n;
    w->cap_child = s->child.cap;
    s->child.at = NULL;
    s->child.n = s->child.cap = 0;
    w->workspace = w->x.g->workspace;
    if (w->workspace) s->workspace = 0;
}

/* Returns its parts, in place of those of later launches. */
static void attach(pl_waiting *w)
{
    pl_module *m = w->x.m;
    pl_system *s = &m->gpu->system;
    free(m->pc_stat);
    m->pc_stat = w->pc_stat;
    m->counted = w->counted;
    pl_arena_close(m->results);
    m->results = w->results;
    free(s->child.at);
    s->child.at = w->child;
    s->child.n = w->nchild;
    s->child.cap = w->cap_child;
    if (!w->workspace) return;
    if (s->workspace) pl_memory_release(&m->gpu->memory, s->workspace);
    s->workspace = w->workspace;
}

/* Adds the instructions of running blocks. */
static void count_running(const pl_grid *g, pl_result *out)
{
    out->inst_executed += g->executed;
    out->thread_inst_executed += g->lane_executed;
    for (size_t k = 0; k < g->nbegun; k++)
        for (uint32_t j = 0; j < g->begun[k]->nwarps; j++) {
            out->inst_executed += g->begun[k]->warp[j].executed;
            out->thread_inst_executed += g->begun[k]->warp[j].lane_executed;
        }
}

/* *x is moved to the heap. Its results cover the part that has run, and so do its events. */
static pl_status suspend(launch_state *x, pl_waiting **out)
{
    pl_waiting *w = *out = malloc(sizeof *w);
    if (!w) {
        pl_grid_close(x->g);
        close_launch(x);
        return pl_gpu_no_memory(x->m->gpu, "while suspending the launch");
    }
    describe(x);
    *w = (pl_waiting){.x = *x, .l = *x->l, .out = *x->out};
    w->x.l = &w->l;
    w->x.out = &w->out;
    w->x.g->time_limit = &w->x.limit;
    w->x.g->sink = NULL;
    if (w->l.mode == PL_MODE_FUNCTIONAL) count_running(w->x.g, x->out);
    detach(w);
    return PL_WAITING;
}

/* Ends the launch. */
static pl_status finish(pl_waiting *w, pl_result *out, pl_status st)
{
    close_launch(&w->x);
    describe(&w->x);
    *out = w->out;
    out->status = st;
    if (w->l.checks && pl_checks_collect(w->l.checks, w->x.m) != PL_OK && st == PL_OK)
        out->status = PL_NOMEM;
    free(w);
    return out->status;
}

pl_status pl_launch_continue(pl_waiting *w, bool patient, pl_result *out)
{
    PL_UNGUARDED;
    attach(w);
    w->x.g->patient = patient;
    const pl_status st = run(&w->x, continue_row);
    if (st != PL_WAITING) return finish(w, out, st);
    detach(w);
    *out = w->out;
    return out->status = st;
}

static pl_status end_hanging(launch_state *x)
{
    pl_hang_report(x->g, x->g->begun, x->g->nbegun, true);
    pl_grid_close(x->g);
    return end_run(x, x->g, end_chain(x, x->g, NULL, PL_FAULT));
}

pl_status pl_launch_fail(pl_waiting *w, pl_result *out)
{
    PL_UNGUARDED;
    attach(w);
    return finish(w, out, run(&w->x, end_hanging));
}

void pl_launch_drop(pl_waiting *w)
{
    if (!w) return;
    attach(w);
    pl_grid_close(w->x.g);
    struct pl_check *check = checker_of(&w->l);
    if (check) pl_check_end(check, false);
    close_launch(&w->x);
    for (size_t k = 0; k < w->nchild; k++) free(w->child[k].params);
    w->x.m->gpu->system.child.n = 0;
    free(w);
}
