/* gpu.c - the timing of a launch: connects block scheduler, SMs and memory system.
 *
 *     launch -> block scheduler -> SM 0 .. n -> outboxes -> memory system -> replies -> SMs
 *
 * Time advances in windows of the crossbar's latency: within one window SMs cannot affect
 * each other. So SMs are simulated sequentially or by several threads, and their requests are
 * handed over in the order of SM numbers. The memory system's replies to the requests of one window
 * reach no SM in the next one, so it processes them while the SMs continue (an additional job for
 * the threads). Windows without events are skipped. If no further event is possible although blocks
 * remain, the launch is deadlocked.
 *
 * Grids of a chain share the SMs. A block takes the share of an SM that its kernel would give it if
 * it ran alone. The next grid's blocks are distributed as soon as the preceding grid permits it. */
#include "emu/exec/async/async.h"
#include "base/plural.h"
#include "emu/exec/deadlock_report.h"
#include "base/clock.h"
#include "base/guard.h"
#include "emu/sm/gpu_parts.h"
#include "emu/sm/metrics.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_REPORTED = 64,           /* maximum number of blocks in a report */
    SPIN_CHECK_CYCLES = 1 << 16, /* between checks whether all warps spin without progress */
    LONG_RUN_CYCLES = 1 << 25,   /* cycles that correspond to PL_LONG_RUN, */
    LONG_RUN_FACTOR = 4,         /* and instructions: the model takes longer for them */
    PROGRESS_WINDOWS = 8,        /* windows between two progress reports */
    LIMIT_WINDOWS = 16           /* windows between two reads of the host's clock */
};

/* Registers per thread of the kernel on this machine. */
static uint32_t registers_of(const pl_grid *g, const pl_machine *m)
{
    uint32_t r = g->entry->registers ? g->entry->registers : 32;
    return r > m->sm.registers_thread ? m->sm.registers_thread : r;
}

/* Fails the launch: a block does not fit an SM. */
static pl_status fail_oversized_block(pl_gpu_model *x, const pl_grid *g, uint32_t threads)
{
    pl_fault_info *f = &x->g->fault;
    const uint32_t registers = registers_of(g, x->m),
                   shared = g->entry->static_shared + g->dynamic_shared;
    f->set = true;
    f->error = "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES";
    snprintf(
        f->text, sizeof f->text,
        "a block does not fit an SM of %s: %u thread%s, %u register%s per thread, %u byte%s of "
        "shared memory",
        x->m->name, threads, pl_plural(threads), registers, pl_plural(registers), shared,
        pl_plural(shared));
    return PL_FAULT;
}

/* Sets up the partitions of the grids of the chain. *carveout: shared memory that they require. */
static pl_status open_partitions(pl_gpu_model *x, uint64_t *carveout)
{
    const pl_machine *m = x->m;
    pl_grid *g = x->g;
    for (pl_grid *n = g; n; n = n->next) x->nparts++;
    x->part = pl_arena_array(x->arena, pl_sm_partition, x->nparts);
    if (!x->part) return PL_NOMEM;
    for (pl_sm_partition *p = x->part; g; g = g->next, p++) {
        uint32_t threads = g->block[0] * g->block[1] * g->block[2];
        p->g = g;
        g->has_timing_model = true;
        p->occupancy =
            pl_occupy(m, threads, registers_of(g, m),
                      g->entry->static_shared + (uint64_t)g->dynamic_shared, g->entry->barriers);
        p->cluster = g->cluster[0] ? g->cluster[0] * g->cluster[1] * g->cluster[2] : 1;
        x->clusters |= g->cluster[0] != 0; /* one of a single block is one, too */
        if (p->occupancy.blocks == 0) return fail_oversized_block(x, g, threads);
        p->share = PL_WHOLE_SM / p->occupancy.blocks;
        if (p->occupancy.carveout > *carveout) *carveout = p->occupancy.carveout;
    }
    return PL_OK;
}

static pl_status allocate(pl_gpu_model *x)
{
    const pl_machine *m = x->m;
    x->sm = pl_arena_alloc_aligned(x->large, m->sm.count * sizeof *x->sm, _Alignof(max_align_t));
    x->status =
        pl_arena_alloc_aligned(x->arena, m->sm.count * sizeof *x->status, _Alignof(pl_sm_status));
    x->sending = pl_arena_array(x->arena, pl_mem_outbox, m->sm.count);
    x->used_shares = pl_arena_array(x->arena, uint64_t, m->sm.count);
    x->place_after = pl_arena_array(x->arena, uint64_t, m->sm.count);
    x->chosen = pl_arena_array(x->arena, bool, m->sm.count);
    x->numbers = pl_arena_array(x->arena, uint32_t, m->sm.count);
    x->round = pl_arena_array(x->arena, uint32_t, m->sm.count);
    x->starting = pl_arena_array(x->arena, pl_port, m->sm.count);
    x->sharers = pl_arena_array(x->arena, uint32_t, m->mem.groups);
    x->cap_freed = m->sm.count * m->sm.blocks;
    x->freed = pl_arena_alloc(x->arena, x->cap_freed * sizeof *x->freed);
    x->sm_range = pl_arena_alloc(x->arena, m->sm.count * sizeof *x->sm_range);
    x->home_worker = pl_arena_array(x->arena, uint16_t, m->sm.count + 1);
    x->mem = pl_memsys_open(x->arena, x->large, x->sparse, &m->mem);
    if (!x->sm || !x->status || !x->sending || !x->mem || !pl_arena_ok(x->arena) ||
        !pl_arena_ok(x->large))
        return PL_NOMEM;
    return PL_OK;
}

/* Passes the ranges of host memory to the memory system. */
static bool set_host_ranges(pl_gpu_model *x, const pl_memory *memory)
{
    size_t n = 0;
    for (size_t k = 0; k < memory->n; k++)
        n += (memory->alloc[k].flags & PL_ALLOC_HOST_MEMORY) != 0;
    if (!n) return true;
    pl_mem_range *range = pl_arena_array(x->arena, pl_mem_range, n);
    if (!range) return false;
    n = 0;
    for (size_t k = 0; k < memory->n; k++) {
        const pl_alloc *a = &memory->alloc[k];
        if (a->flags & PL_ALLOC_HOST_MEMORY) range[n++] = (pl_mem_range){a->address, a->size};
    }
    pl_memsys_set_host(x->mem, range, n);
    return true;
}

static pl_status build_gpu(pl_gpu_model *x)
{
    const pl_machine *m = x->m;
    pl_grid *g = x->g;
    uint64_t carveout = 0;
    pl_status st = open_partitions(x, &carveout);
    if (st != PL_OK) return st;
    x->blocks = pl_grid_blocks_remaining(g);
    x->dec = g->decoded;
    if (!x->dec) {
        pl_decoded *own = pl_arena_new(x->arena, pl_decoded);
        if (!pl_decode(own, x->arena, g->program, m)) return PL_NOMEM;
        x->dec = own;
    }
    st = allocate(x);
    if (st != PL_OK) return st;
    pl_memsys_set_tlb(x->mem, g->tlb);
    pl_memsys_set_page_faults(x->mem, g->page_faults);
    if (!set_host_ranges(x, g->memory)) return PL_NOMEM;
    pl_memsys_watch(x->mem, g->sink);
    for (uint32_t k = 0; k < m->sm.count; k++) x->numbers[k] = x->round[k] = k;
    for (uint32_t k = 0; k < m->sm.count; k++) /* others are full from the start */
        if (!pl_grid_uses_sm(g, k)) x->used_shares[k] = PL_WHOLE_SM;
    for (uint32_t k = 0; k < m->sm.count; k++) x->status[k].next = PL_NEVER;
    x->setup = (pl_sm_setup){.arena = x->arena,
                             .large = x->large,
                             .sparse = x->sparse,
                             .m = m,
                             .dec = x->dec,
                             .g = g,
                             .l1_bytes = m->l1.size - m->l1.reserved - carveout,
                             .up_costs = pl_up_costs_of(&m->mem)};
    return pl_const_l15_init(&x->setup.constants, x->large, m) ? PL_OK : PL_NOMEM;
}

bool pl_gpu_open_sm(pl_gpu_model *x, uint32_t k)
{
    PL_GUARD(return false)
    if (!pl_sm_init(&x->sm[k], &x->status[k], k, &x->setup)) return false;
    x->sm[k].sharers = pl_gpu_sharers_of(x, k);
    x->sending[k].cap = x->sm[k].out.cap;
    x->sending[k].at = pl_arena_array(x->sparse, pl_mem_req, x->sending[k].cap);
    return pl_arena_ok(x->sparse);
}

static pl_status open_gpu(pl_gpu_model *x)
{
    PL_GUARD(return PL_NOMEM)
    return build_gpu(x);
}

/* Earliest cycle at which an SM can make progress or has free slots again. */
static uint64_t next_event(const pl_gpu_model *x)
{
    uint64_t next = PL_NEVER;
    for (uint32_t k = 0; k < x->m->sm.count; k++) {
        uint64_t at = pl_gpu_sm_event(x, k);
        if (at < next) next = at;
    }
    for (uint32_t k = 0; k < x->nfreed; k++) {
        if (x->freed[k].time < next) next = x->freed[k].time;
    }
    return next;
}

/* Stores at most max running blocks to live; returns the number of all of them. */
static size_t running_blocks(const pl_gpu_model *x, pl_cta **live, size_t max)
{
    size_t n = 0;
    for (uint32_t k = 0; k < x->m->sm.count; k++) {
        for (uint32_t b = 0; x->status[k].open && b < x->sm[k].ncta; b++) {
            if (x->sm[k].cta[b].cta && n++ < max) live[n - 1] = x->sm[k].cta[b].cta;
        }
    }
    return n;
}

/* Returns the number of instructions issued so far. */
static uint64_t issued_instructions(const pl_gpu_model *x)
{
    uint64_t n = 0;
    for (uint32_t k = 0; k < x->m->sm.count; k++)
        if (x->status[k].open) n += x->sm[k].stat.inst;
    return n;
}

/* True if the user, or a limit, stops the launch. */
static bool must_stop(const pl_gpu_model *x)
{
    pl_grid *g = x->g;
    pl_cta *live[MAX_REPORTED];
    const uint64_t instructions = g->limits.instructions ? issued_instructions(x) : 0;
    if (!pl_grid_stop(g, x->now, instructions, NULL, 0)) return false;
    size_t n = running_blocks(x, live, MAX_REPORTED);
    return pl_grid_stop(g, x->now, instructions, live, n < MAX_REPORTED ? n : MAX_REPORTED);
}

static void report_deadlock(pl_gpu_model *x, bool spinning)
{
    pl_cta *live[MAX_REPORTED];
    size_t n = running_blocks(x, live, MAX_REPORTED);
    pl_hang_report(x->g, live, n < MAX_REPORTED ? n : MAX_REPORTED, spinning);
    if (!n) {
        snprintf(x->g->fault.text, sizeof x->g->fault.text,
                 "deadlock: %llu of %llu block%s ended, and no other can start",
                 (unsigned long long)x->done, (unsigned long long)x->blocks,
                 x->blocks == 1 ? " has" : "s have");
    }
}

/* True if all warps that are not waiting have only polled memory for so long that no other event
 * can follow. */
static bool spins_without_progress(const pl_gpu_model *x)
{
    bool any = false;
    for (uint32_t k = 0; k < x->m->sm.count; k++) {
        for (uint32_t b = 0; x->status[k].open && b < x->sm[k].ncta; b++) {
            const pl_cta *c = x->sm[k].cta[b].cta;
            for (uint32_t n = 0; c && n < c->nwarps; n++) {
                const pl_warp *w = &c->warp[n];
                if (w->state == PL_WARP_DONE || w->state == PL_WARP_BARRIER) continue;
                if (w->spin_pauses < PL_IDLE_HANG || w->wrote || w->advances != x->g->advances)
                    return false;
                any = true;
            }
        }
    }
    return any;
}

/* Polls the warps that wait for events on other SMs. */
static void poll_warps(pl_gpu_model *x, uint64_t now)
{
    for (uint32_t k = 0; k < x->m->sm.count; k++) {
        if (!x->status[k].open) continue;
        pl_sm_poll(&x->sm[k], now);
        pl_sm_update_status(&x->sm[k]);
    }
}

static uint32_t ended_grids(const pl_gpu_model *x)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < x->nparts; k++) n += x->part[k].g->complete;
    return n;
}

static void expire(const pl_gpu_model *x, pl_time_limit *limit)
{
    limit->expired = true;
    limit->cycles = x->now;
    limit->instructions = issued_instructions(x);
}

/* True if the time limit after which no blocks start has expired. Blocks of a chain of grids, and
 * cooperative blocks, all start here. Called when the GPU is full or a block has ended: running
 * blocks then do not depend on blocks that have not started. */
static bool time_limit_expired(const pl_gpu_model *x)
{
    const pl_grid *g = x->g;
    pl_time_limit *limit = g->time_limit;
    if (!limit || g->next || g->cooperative || g->next_block == pl_grid_blocks(g)) return false;
    if (pl_clock_seconds() < limit->deadline) return false;
    expire(x, limit);
    return true;
}

static int by_number(const void *a, const void *b)
{
    const pl_cta *const *p = a, *const *q = b;
    return (*p)->number < (*q)->number ? -1 : (*p)->number > (*q)->number;
}

/* Hands the running blocks to functional mode, between two instructions of each warp; their pending
 * asynchronous copies complete. Blocks of a chain of grids continue here. True: the model ends,
 * with *st. */
static bool hand_over(const pl_gpu_model *x, pl_status *st)
{
    pl_grid *g = x->g;
    pl_time_limit *limit = g->time_limit;
    if (!limit || g->next || g->weak) return false;
    const size_t n = running_blocks(x, NULL, 0);
    if (!n) return false;
    g->begun = malloc(n * sizeof *g->begun);
    *st = g->begun ? PL_OK : PL_NOMEM;
    if (!g->begun) return true;
    g->nbegun = running_blocks(x, g->begun, n);
    qsort(g->begun, n, sizeof(pl_cta *), by_number);
    for (size_t k = 0; k < n; k++) {
        pl_cta *c = g->begun[k];
        pl_async_finish(c);
        c->turn = NULL;
        c->advances = &g->head->advances;
        c->pc_stat = NULL;
        c->warps_done = 0;
        for (uint32_t w = 0; w < c->nwarps; w++) c->warps_done += c->warp[w].state == PL_WARP_DONE;
    }
    if (!limit->expired) expire(x, limit);
    return true;
}

/* The same when the time limit of running blocks has expired. */
static bool hand_over_late(const pl_gpu_model *x, pl_status *st)
{
    const pl_time_limit *limit = x->g->time_limit;
    return limit && pl_clock_seconds() >= limit->end && hand_over(x, st);
}

/* The same if the launch may wait for memory that others change, and does: its threads only poll,
 * or it has polled memory of the host and run for long. */
static bool hand_over_waiting(const pl_gpu_model *x, bool spins, pl_status *st)
{
    pl_cta *live[MAX_REPORTED];
    if (!x->g->may_wait) return false;
    if (!spins && x->now < LONG_RUN_CYCLES &&
        issued_instructions(x) < PL_LONG_RUN / LONG_RUN_FACTOR)
        return false;
    const size_t n = running_blocks(x, live, MAX_REPORTED);
    if (!pl_polls_memory(live, n < MAX_REPORTED ? n : MAX_REPORTED, !spins) || !hand_over(x, st))
        return false;
    if (spins) x->g->time_limit->idle_cycles = x->now - x->advanced;
    return true;
}

/* True if all distributed blocks have ended. */
static bool all_started_ended(const pl_grid *g)
{
    return g->blocks_done + g->cancelled == g->next_block;
}

static pl_status run(pl_gpu_model *x)
{
    pl_grid *g = x->g;
    const uint64_t window = x->m->mem.xbar_latency;
    uint64_t reported = 0, until = 0, check = SPIN_CHECK_CYCLES, windows = 0, limit_checks = 0;
    x->now = (x->m->launch.start + g->page_fault_cycles) / window * window;
    for (;;) {
        x->before = until;
        x->until = until = x->now + window;
        pl_status st = pl_block_scheduler_run(x, x->now, until);
        if (st != PL_OK) return st;
        pl_window_simulate(x);
        if (g->fault.set) return PL_FAULT;
        pl_window_exchange(x);
        if (x->advances != g->advances) {
            x->advances = g->advances;
            x->advanced = x->now;
        }
        uint32_t ended = ended_grids(x);
        if (!pl_block_scheduler_retire(x)) return PL_NOMEM;
        if (ended_grids(x) > ended && x->nparts > 1)
            poll_warps(x, until); /* other grids waited for it */
        if (must_stop(x)) return PL_INTERRUPTED;
        if (g->progress && (x->done > reported || ++windows % PROGRESS_WINDOWS == 0)) {
            reported = x->done;
            g->progress(g->progress_ctx, x->blocks - pl_grid_blocks_remaining(g), x->blocks,
                        issued_instructions(x));
        }
        if (pl_grid_blocks_remaining(g) == 0) return PL_OK;
        if (x->distribution_ended && all_started_ended(g)) return PL_OK;
        uint64_t next = next_event(x);
        const pl_sm_partition *p = pl_block_scheduler_next_grid(x);
        bool block_waits =
            p && pl_block_scheduler_free_slots(x, p, 0, x->m->sm.count) >= p->cluster;
        if (++limit_checks % LIMIT_WINDOWS == 0) {
            if (!x->distribution_ended && (!block_waits || x->done))
                x->distribution_ended = time_limit_expired(x);
            if (hand_over_late(x, &st)) return st;
        }
        if (next == PL_NEVER && x->clusters) { /* the last arrival may have occurred in this
                                                  window */
            poll_warps(x, until);
            next = next_event(x);
        }
        /* No SM has an event in the next window: let the memory system catch up. */
        if (next > until + window) {
            x->until = until + window;
            pl_window_memory(x);
            pl_memsys_publish_replies(x->mem);
            uint64_t event = pl_memsys_next(x->mem);
            next = next_event(x);
            if (event < next) next = event;
        }
        if (pl_memsys_overflowed(x->mem)) return PL_NOMEM;
        if (next == PL_NEVER && !block_waits) {
            report_deadlock(x, false);
            return PL_FAULT;
        }
        if (x->now >= check) {
            check = x->now + SPIN_CHECK_CYCLES;
            const bool spins = !block_waits && spins_without_progress(x);
            if (hand_over_waiting(x, spins, &st)) return st;
            if (spins) {
                report_deadlock(x, true);
                return PL_FAULT;
            }
        }
        x->now = until;
        if (!block_waits && !x->clusters && next > until + window) x->now = next / window * window;
    }
}

/* Processes the last stores, which waited for coalescing, and the events that waited for replies.
 * Returns the cycle at which the launch ends. */
static uint64_t finish(pl_gpu_model *x, bool complete)
{
    uint64_t end = 0;
    uint32_t busy = 0;
    pl_window_memory(x);
    /* The last stores, which waited for coalescing. */
    for (uint32_t k = 0; k < x->m->sm.count; k++) {
        if (!x->status[k].open) continue;
        pl_store_buffer_drain(&x->sm[k], PL_NEVER);
        pl_memsys_send(x->mem, &x->sm[k].out);
    }
    x->until = UINT64_MAX / 4;
    pl_window_memory(x);
    for (uint32_t k = 0; k < x->m->sm.count; k++) {
        if (!x->status[k].open) continue;
        if (x->sm[k].last_exit > end) end = x->sm[k].last_exit;
        busy += x->sm[k].stat.blocks > 0;
        pl_inflight_emit_rest(&x->sm[k].inflight);
    }
    if (x->last_retired > end) end = x->last_retired;
    /* The end of a launch waits for the writes of its blocks, even if there are none. */
    end += x->m->launch.end + (uint64_t)(x->m->launch.end_each * busy);
    uint64_t effect = pl_memsys_stats(x->mem)->last_effect;
    return !complete ? x->now : effect > end ? effect : end;
}

/* What remains of a requirement if `held` bytes are there. Arenas lose some memory at the ends of
 * their blocks. */
static uint64_t beyond(uint64_t need, uint64_t held)
{
    need += need / 8;
    return need > held ? need - held : 0;
}

uint64_t pl_timing_bytes(const pl_machine *m, uint64_t blocks, bool events,
                         const pl_launch_cache *cache)
{
    const pl_model_bytes mem = pl_memsys_bytes(&m->mem), sm = pl_sm_bytes(m, events);
    const uint64_t sms = blocks < m->sm.count ? blocks : m->sm.count;
    return beyond(mem.sparse + sms * sm.sparse, pl_arena_held(cache->sparse)) +
           beyond(mem.dense + m->sm.count * sm.dense,
                  pl_arena_held(cache->small) + pl_arena_held(cache->large));
}

pl_status pl_timing_run(pl_grid *g, pl_totals *totals, pl_timing_result *out)
{
    const pl_machine *m = totals->m;
    memset(out, 0, sizeof *out);
    pl_launch_cache *cache = g->launch_cache, none = {0};
    if (!cache) cache = &none;
    pl_gpu_model x = {.g = g,
                      .m = m,
                      .arena = pl_launch_cache_take(&cache->small, PL_LAUNCH_CACHE_ZEROED),
                      .large = pl_launch_cache_take(&cache->large, PL_LAUNCH_CACHE_ANY),
                      .sparse = pl_launch_cache_take(&cache->sparse, PL_LAUNCH_CACHE_SPARSE)};
    pl_status st = x.arena && x.large && x.sparse ? open_gpu(&x) : PL_NOMEM;
    const bool opened = st == PL_OK;
    if (st == PL_OK) st = pl_window_open_team(&x);
    if (st == PL_OK) {
        st = run(&x);
        pl_window_add_up(&x);
    }
    if (st == PL_OK && g->no_memory) st = PL_NOMEM;
    pl_window_put_team(&x);
    if (opened) {
        g->cycles = finish(&x, st == PL_OK && !g->begun);
        if (!pl_totals_add(totals, &x, g->cycles)) st = PL_NOMEM;
        pl_metrics_of(out, totals);
    }
    pl_launch_cache_put(&cache->small, x.arena);
    pl_launch_cache_put(&cache->large, x.large);
    pl_launch_cache_put(&cache->sparse, x.sparse);
    pl_launch_cache_close(&none);
    return st;
}
