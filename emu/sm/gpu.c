/* gpu.c - a launch in time: block scheduler, SMs and memory system, joined here and nowhere else.
 *
 *     launch -> block scheduler -> SM 0 .. n -> outboxes -> memory system -> replies -> SMs
 *
 * Time advances in windows as long as the crossbar's latency: within one window no SM can feel
 * what another does, so SMs are run one after the other or by several threads, and their requests
 * are handed over in the order of their numbers. What the memory system makes of the requests of
 * one window reaches no SM in the next, so that it works on them while the SMs go on (one job more
 * for the threads). Windows in which nothing can happen are skipped. When nothing can happen ever
 * again although blocks are left, the launch is deadlocked.
 *
 * Grids of a row share the SMs: a block takes the part of an SM that its kernel alone would leave
 * for it, and the next grid's blocks are handed out as soon as the one before lets them. */
#include "emu/exec/deadlock_report.h"
#include "base/guard.h"
#include "emu/sm/metrics.h"
#include "emu/sm/units.h"
#include "base/team.h"
#include "emu/sm/timing.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    SHOWN = 64,            /* blocks that an explanation may name */
    CHECK_EVERY = 1 << 16, /* cycles between two looks whether all warps spin for nothing */
    PROGRESS_WINDOWS = 256 /* windows between two reports of progress */
};

/* A grid of the row. */
typedef struct part {
    pl_grid *g;
    pl_occupancy occupancy;
    uint32_t cluster; /* blocks of a cluster, 1 without */
    uint64_t share;   /* of an SM that a block takes */
} part;

/* An SM: the least common multiple of 1 to 32, so that blocks of any kernel take an exact share of
 * it. */
#define WHOLE 144403552893600ull

typedef struct gpu {
    pl_grid *g; /* the first of the row */
    const pl_machine *m;
    pl_arena *arena, *large, *sparse; /* large, sparse: what need not be zero; sparse: what has room
                                         for the worst case */
    pl_decoded dec;
    pl_sm *sm;
    pl_sm_status *status;   /* by SM: how things stand between two windows */
    pl_mem_outbox *sending; /* by SM: requests of the window before, on their way */
    pl_memsys *mem;
    part *part; /* the row */
    uint32_t nparts;
    uint64_t *used;            /* shares, by SM */
    uint64_t *place_after;     /* by SM: earliest cycle for the next block */
    uint32_t *numbers, *round; /* SMs in the order of their numbers; in that in which blocks come to
                                  them, one each */
    uint32_t *sharers;         /* by group: SMs with blocks */
    pl_port *starting;         /* by launch.pair of SMs: the unit that starts the warps of blocks */
    pl_port retiring;          /* the unit that notes the ends of blocks */
    uint64_t last_retired;
    struct {
        uint64_t time, share;
        uint32_t sm;
    } * freed; /* places that become free, by time */
    uint32_t nfreed, cap_freed;
    uint64_t blocks, done;
    bool *chosen;  /* by SM: it is among the first of the round */
    bool clusters; /* a grid has some */
    /* one window's work: job 0 is the memory system, the others are `unit` */
    pl_team *team;     /* NULL: one thread */
    pl_pc_stat **stat; /* by worker */
    struct {
        uint32_t first, last; /* SMs of the job */
    } * unit;
    uint32_t nunit;
    uint16_t *home; /* of the jobs: an SM's state stays with one worker, the memory system's with
                       the one that hands over */
    /* ways to share a window (`spread`: see simulate) */
    bool spread, preferred;
    uint32_t window, look; /* windows since they were last measured, and the one from which they are
                              to be again */
    double cost[2];        /* of a job, by `spread`: nanoseconds, 0: not known */
    uint64_t now, until, before; /* before: the end of the last window that was simulated */
    bool unsent;                 /* the outboxes `sending` have requests */
    uint64_t from;               /* of a window that began here or later */
} gpu;

enum {
    WORTH = 8, /* resident warps for which it pays to wake other threads */
    NEIGHBOURS =
        4, /* SMs in a row with one home: turns pass from one to the next without another thread */
    LOOK_FOR = 4,    /* windows that are run the other way to measure how long they take */
    LOOK_FIRST = 32, /* windows until then, twice as many when it has changed nothing, */
    LOOK_LAST = 1024 /* up to this */
};

/* Registers that a thread of the kernel has on this machine. */
static uint32_t registers_of(const pl_grid *g, const pl_machine *m)
{
    uint32_t r = g->entry->registers ? g->entry->registers : 32;
    return r > m->sm.registers_thread ? m->sm.registers_thread : r;
}

/* How many SMs of the group of SM k have blocks. */
static uint32_t *sharers_of(const gpu *x, uint32_t k)
{
    return &x->sharers[k * x->m->mem.groups / x->m->sm.count];
}

static pl_status build_gpu(gpu *x)
{
    const pl_machine *m = x->m;
    pl_grid *g = x->g;
    uint64_t carveout = 0;
    for (pl_grid *n = g; n; n = n->next) x->nparts++;
    x->part = pl_arena_array(x->arena, part, x->nparts);
    if (!x->part) return PL_NOMEM;
    for (part *p = x->part; g; g = g->next, p++) {
        uint32_t threads = g->block[0] * g->block[1] * g->block[2];
        p->g = g;
        g->modelled = true;
        p->occupancy =
            pl_occupy(m, threads, registers_of(g, m),
                      g->entry->static_shared + (uint64_t)g->dynamic_shared, g->entry->barriers);
        p->cluster = g->cluster[0] ? g->cluster[0] * g->cluster[1] * g->cluster[2] : 1;
        x->clusters |= p->cluster > 1;
        if (p->occupancy.blocks == 0) {
            x->g->fault.set = true;
            x->g->fault.error = "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES";
            snprintf(x->g->fault.text, sizeof x->g->fault.text,
                     "a block does not fit an SM of %s: %u threads, %u registers a thread, %u "
                     "bytes of shared memory",
                     m->name, threads, registers_of(g, m),
                     g->entry->static_shared + g->dynamic_shared);
            return PL_FAULT;
        }
        p->share = WHOLE / p->occupancy.blocks;
        if (p->occupancy.carveout > carveout) carveout = p->occupancy.carveout;
    }
    g = x->g;
    x->blocks = pl_grid_left(g);
    if (!pl_decode(&x->dec, x->arena, g->program, m)) return PL_NOMEM;
    x->sm = pl_arena_alloc_aligned(x->large, m->sm.count * sizeof *x->sm, _Alignof(max_align_t));
    x->status =
        pl_arena_alloc_aligned(x->arena, m->sm.count * sizeof *x->status, _Alignof(pl_sm_status));
    x->sending = pl_arena_array(x->arena, pl_mem_outbox, m->sm.count);
    x->used = pl_arena_array(x->arena, uint64_t, m->sm.count);
    x->place_after = pl_arena_array(x->arena, uint64_t, m->sm.count);
    x->chosen = pl_arena_array(x->arena, bool, m->sm.count);
    x->numbers = pl_arena_array(x->arena, uint32_t, m->sm.count);
    x->round = pl_arena_array(x->arena, uint32_t, m->sm.count);
    x->starting = pl_arena_array(x->arena, pl_port, m->sm.count);
    x->sharers = pl_arena_array(x->arena, uint32_t, m->mem.groups);
    x->cap_freed = m->sm.count * m->sm.blocks;
    x->freed = pl_arena_alloc(x->arena, x->cap_freed * sizeof *x->freed);
    x->unit = pl_arena_alloc(x->arena, m->sm.count * sizeof *x->unit);
    x->home = pl_arena_array(x->arena, uint16_t, m->sm.count + 1);
    x->mem = pl_memsys_open(x->arena, x->large, x->sparse, &m->mem);
    if (!x->sm || !x->status || !x->sending || !x->mem || !pl_arena_ok(x->arena) ||
        !pl_arena_ok(x->large))
        return PL_NOMEM;
    pl_memsys_watch(x->mem, g->sink);
    for (uint32_t k = 0; k < m->sm.count; k++) x->numbers[k] = x->round[k] = k;
    uint64_t l1 = m->l1.size - m->l1.kept - carveout;
    pl_const_l15 constants;
    if (!pl_const_l15_init(&constants, x->arena, x->large, m)) return PL_NOMEM;
    for (uint32_t k = 0; k < m->sm.count; k++) {
        if (!pl_sm_init(&x->sm[k], &x->status[k], x->arena, x->large, x->sparse, m, &x->dec, g, k,
                        l1, &constants))
            return PL_NOMEM;
        x->sm[k].sharers = sharers_of(x, k);
        x->sending[k].cap = x->sm[k].out.cap;
        x->sending[k].at = pl_arena_array(x->sparse, pl_mem_req, x->sending[k].cap);
    }
    if (!pl_arena_ok(x->sparse)) return PL_NOMEM;
    return PL_OK;
}

static pl_status open_gpu(gpu *x)
{
    PL_GUARD(return PL_NOMEM)
    return build_gpu(x);
}

/* The unit that starts the blocks of SM k. */
static pl_port *starter_of(const gpu *x, uint32_t k)
{
    return &x->starting[x->m->launch.pair ? k / x->m->launch.pair : 0];
}

/* When SM k could take a block as far as others go, at `now` or later. */
static uint64_t free_at(const gpu *x, uint32_t k, uint64_t now)
{
    const uint64_t at = now > x->m->launch.start ? now : x->m->launch.start;
    return x->place_after[k] > at ? x->place_after[k] : at;
}

/* When it could, and the unit that starts its blocks. */
static uint64_t ready_at(const gpu *x, uint32_t k, uint64_t now)
{
    const uint64_t at = free_at(x, k, now), free = starter_of(x, k)->free / PL_SUBCYCLES;
    return free > at ? free : at;
}

/* The first SM of a GPC from which blocks are spread: those in front of it in the first one go
 * ahead of all. */
static uint32_t first_of(const gpu *x, uint32_t g)
{
    const uint32_t groups = x->m->mem.groups;
    return g ? (g * x->m->sm.count + groups - 1) / groups : x->m->launch.ahead;
}

/* Marks the SMs that get one of `left` blocks each: those that go ahead; then the first of a TPC of
 * each GPC, the first of another, and so on; then the second ones. */
static void spread(gpu *x, uint64_t left)
{
    const uint32_t sms = x->m->sm.count, groups = x->m->mem.groups, pair = x->m->launch.pair;
    memset(x->chosen, 0, sms * sizeof *x->chosen);
    for (uint32_t k = 0; k < x->m->launch.ahead && left; k++, left--) x->chosen[k] = true;
    for (uint32_t of = 0; of < pair; of++)
        for (uint32_t at = of; at < sms && left; at += pair)
            for (uint32_t g = 0; g < groups && left; g++) {
                const uint32_t k = first_of(x, g) + at;
                if (k >= first_of(x, g + 1)) continue;
                x->chosen[k] = true;
                left--;
            }
}

/* The order in which SMs get a block each, of the `left` that there are: GPC by GPC, from the one
 * whose turn it is. On the H200 it is each one's turn now and then (place.tsv): here it is always
 * the middle one's. */
static void begin_round(gpu *x, uint64_t left)
{
    const uint32_t groups = x->m->mem.groups, ahead = x->m->launch.ahead;
    if (!x->m->launch.pair) return;
    spread(x, left);
    uint32_t n = 0;
    for (uint32_t k = 0; k < ahead; k++) x->round[n++] = k;
    for (uint32_t get = 2; get-- > 0;) /* those that get one, the others behind them */
        for (uint32_t q = 0; q < groups; q++) {
            const uint32_t g = (q + groups / 2) % groups;
            for (uint32_t k = first_of(x, g); k < first_of(x, g + 1); k++)
                if (x->chosen[k] == get) x->round[n++] = k;
        }
}

/* The SM for the next block, of `n` in an order: of those that can take it at cycle `now` the
 * emptiest, else the one that can take it first. UINT32_MAX: all are full. */
static uint32_t choose_sm(const gpu *x, const part *p, const uint32_t *order, uint32_t n,
                          uint64_t now)
{
    uint32_t best = UINT32_MAX;
    uint64_t soonest = PL_NEVER;
    for (uint32_t j = 0; j < n; j++) {
        const uint32_t k = order[j];
        if (x->used[k] + p->share > WHOLE) continue;
        const uint64_t at = free_at(x, k, now);
        if (best != UINT32_MAX && (at > soonest || (at == soonest && x->used[k] >= x->used[best])))
            continue;
        best = k;
        soonest = at;
    }
    return best;
}

/* Places a block on an SM. The cycle is not before `now`, the start of the window. */
static pl_status place(gpu *x, const part *p, uint32_t sm, uint64_t now)
{
    const pl_launch_config *l = &x->m->launch;
    uint64_t at = ready_at(x, sm, now);
    pl_cta *c = pl_cta_take(p->g, (uint32_t)p->g->next_block, sm);
    if (!c) return PL_NOMEM;
    c->place = &x->sm[sm];
    c->advances = &x->sm[sm].advances;
    p->g->next_block++;
    const double warps = c->nwarps * l->warp_interval;
    pl_port_enter(
        starter_of(x, sm), at,
        (uint64_t)((warps > l->block_interval ? warps : l->block_interval) * PL_SUBCYCLES));
    if (x->used[sm] == 0) ++*sharers_of(x, sm);
    x->used[sm] += p->share;
    return pl_sm_place(&x->sm[sm], c, at + l->block_start) ? PL_OK : PL_NOMEM;
}

/* Free places of SMs of one group, or of the whole GPU without clusters. */
static uint64_t room(const gpu *x, const part *p, uint32_t first, uint32_t last)
{
    uint64_t n = 0;
    for (uint32_t k = first; k < last; k++) n += (WHOLE - x->used[k]) / p->share;
    return n;
}

/* Whose blocks are to be handed out; NULL: none for now. */
static const part *startable(const gpu *x)
{
    const pl_grid *g = pl_grid_startable(x->g);
    const part *p = x->part;
    while (g && p->g != g) p++;
    return g ? p : NULL;
}

/* Hands out blocks whose time comes before `until`. The blocks of a cluster start together, on SMs
 * of one group. */
static pl_status schedule(gpu *x, uint64_t now, uint64_t until)
{
    const pl_machine *m = x->m;
    /* places that have become free by now */
    for (uint32_t k = 0; k < x->nfreed;) {
        if (x->freed[k].time >= until) {
            k++;
            continue;
        }
        uint32_t sm = x->freed[k].sm;
        x->used[sm] -= x->freed[k].share;
        if (x->used[sm] == 0) --*sharers_of(x, sm);
        if (x->freed[k].time > x->place_after[sm]) x->place_after[sm] = x->freed[k].time;
        x->freed[k] = x->freed[--x->nfreed];
    }
    for (const part *p; (p = startable(x)) != NULL;) {
        uint32_t first = 0, last = m->sm.count, groups = m->mem.groups;
        uint64_t best = 0;
        if (p->cluster > 1) {
            for (uint32_t q = 0; q < groups; q++) {
                uint32_t a = q * m->sm.count / groups, b = (q + 1) * m->sm.count / groups;
                uint64_t n = room(x, p, a, b);
                if (n <= best) continue;
                best = n;
                first = a;
                last = b;
            }
            if (best < p->cluster) break;
        }
        const bool alone = p->cluster == 1;
        if (alone && p->g->next_block % m->sm.count == 0)
            begin_round(x, pl_grid_blocks(p->g) - p->g->next_block);
        bool full = false;
        for (uint32_t k = 0; k < p->cluster && !full; k++) {
            uint32_t sm = choose_sm(x, p, alone ? x->round : x->numbers + first, last - first, now);
            full = sm == UINT32_MAX || (k == 0 && free_at(x, sm, now) >= until);
            pl_status st = full ? PL_OK : place(x, p, sm, now);
            if (st != PL_OK) return st;
        }
        if (full) break;
    }
    return PL_OK;
}

/* Earliest cycle at which an SM can do something, with what it knows now. */
static uint64_t sm_event(const gpu *x, uint32_t k)
{
    uint64_t at = pl_memsys_reply_time(x->mem, k);
    return x->status[k].next < at ? x->status[k].next : at;
}

/* Earliest cycle at which an SM can do something or has room again. */
static uint64_t next_event(const gpu *x)
{
    uint64_t next = PL_NEVER;
    for (uint32_t k = 0; k < x->m->sm.count; k++) {
        uint64_t at = sm_event(x, k);
        if (at < next) next = at;
    }
    for (uint32_t k = 0; k < x->nfreed; k++) {
        if (x->freed[k].time < next) next = x->freed[k].time;
    }
    return next;
}

/* Blocks that run: at most max of them go to live; the number of all of them. */
static size_t running(const gpu *x, pl_cta **live, size_t max)
{
    size_t n = 0;
    for (uint32_t k = 0; k < x->m->sm.count; k++) {
        for (uint32_t b = 0; b < x->sm[k].ncta; b++) {
            if (x->sm[k].cta[b].cta && n++ < max) live[n - 1] = x->sm[k].cta[b].cta;
        }
    }
    return n;
}

/* The user, or a limit, stops the launch. */
static bool must_stop(const gpu *x)
{
    pl_grid *g = x->g;
    pl_cta *live[SHOWN];
    uint64_t instructions = 0;
    for (uint32_t k = 0; g->most.instructions && k < x->m->sm.count; k++)
        instructions += x->sm[k].stat.inst;
    if (!pl_grid_stop(g, x->now, instructions, NULL, 0)) return false;
    size_t n = running(x, live, SHOWN);
    return pl_grid_stop(g, x->now, instructions, live, n < SHOWN ? n : SHOWN);
}

static void report_deadlock(gpu *x, bool spinning)
{
    pl_cta *live[SHOWN];
    size_t n = running(x, live, SHOWN);
    pl_hang_report(x->g, live, n < SHOWN ? n : SHOWN, spinning);
    if (!n) {
        snprintf(x->g->fault.text, sizeof x->g->fault.text,
                 "deadlock: %llu of %llu blocks have ended, and no other can start",
                 (unsigned long long)x->done, (unsigned long long)x->blocks);
    }
}

/* Does every warp that is not waiting do nothing but look at memory, for so long that nothing else
 * will happen? */
static bool spins_for_nothing(const gpu *x)
{
    bool any = false;
    for (uint32_t k = 0; k < x->m->sm.count; k++) {
        for (uint32_t b = 0; b < x->sm[k].ncta; b++) {
            const pl_cta *c = x->sm[k].cta[b].cta;
            for (uint32_t n = 0; c && n < c->nwarps; n++) {
                const pl_warp *w = &c->warp[n];
                if (w->state == PL_WARP_DONE || w->state == PL_WARP_BARRIER) continue;
                if (w->idle < PL_IDLE_HANG || w->wrote || w->advances != x->g->advances)
                    return false;
                any = true;
            }
        }
    }
    return any;
}

/* Blocks that ended in the window just simulated. False: there was no memory for one that began. */
static bool retire(gpu *x)
{
    bool ok = true;
    for (uint32_t k = 0; k < x->m->sm.count; k++) {
        pl_sm *s = &x->sm[k];
        if (!x->status[k].ended) continue;
        x->status[k].ended = false;
        ok &= !s->no_memory;
        for (uint32_t e = 0; e < s->nended; e++) {
            const part *p = x->part;
            while (p->g != s->ended[e].cta->grid) p++;
            pl_cta_end(s->ended[e].cta);
            x->freed[x->nfreed].share = p->share;
            x->last_retired =
                pl_port_enter(&x->retiring, s->ended[e].time,
                              (uint64_t)(x->m->launch.retire_interval * PL_SUBCYCLES));
            x->freed[x->nfreed].time = x->last_retired + x->m->launch.block_end;
            x->freed[x->nfreed++].sm = k;
            x->done++;
        }
        s->nended = 0;
        x->g->advances += s->advances;
        s->advances = 0;
    }
    return ok;
}

/* --- one window --- */

/* The memory system: takes the requests of the window before, and plays the events before the end
 * of this one. */
static void memory(gpu *x)
{
    if (x->unsent) {
        pl_memsys_set_horizon(x->mem, x->from);
        for (uint32_t k = 0; k < x->m->sm.count; k++) pl_memsys_send(x->mem, &x->sending[k]);
        x->unsent = false;
    }
    pl_memsys_run_events(x->mem, x->until);
}

/* False: the unit's SM has stopped until its turn comes. alone: nobody else works on SMs. */
static bool run_unit(gpu *x, uint32_t job, uint32_t worker, bool alone)
{
    bool waits = !alone;
    const uint32_t first = x->unit[job - 1].first, last = x->unit[job - 1].last;
    if (!x->sm[first].stopped) {
        for (uint32_t k = first; k < last; k++) { /* all of them before one runs: blocks of a
                                                     cluster look at each other's shared memory */
            pl_sm *s = &x->sm[k];
            s->team = x->team;
            s->job = job;
            s->worker = worker;
            s->may_stop = last - first == 1;
            s->in_turn = !waits;
            s->pc_stat = x->stat[worker];
            if (x->status[k].starts) pl_sm_begin(s);
            waits = !s->in_turn;
        }
    } else { /* it goes on */
        waits = false;
        x->sm[first].worker = worker;
        x->sm[first].pc_stat = x->stat[worker];
    }
    for (uint32_t k = first; k < last && !pl_failed(x->g); k++) {
        pl_sm *s = &x->sm[k];
        s->in_turn = !waits;
        if (x->clusters) pl_sm_poll(s, x->now);
        if (!pl_sm_run(s, x->mem, x->until)) return false;
        waits = !s->in_turn;
        s->in_turn = true;
    }
    for (uint32_t k = first; k < last; k++) pl_sm_report(&x->sm[k]);
    return true;
}

static bool work(void *ctx, uint32_t job, uint32_t worker)
{
    gpu *x = ctx;
    if (job == 0) {
        memory(x);
        return true;
    }
    if (x->spread) return run_unit(x, job, worker, false);
    for (uint32_t k = 1; k <= x->nunit; k++) run_unit(x, k, worker, true);
    return true;
}

/* SMs with something to do. The blocks of a cluster touch each other's shared memory: with clusters
 * the SMs of a group are one job. */
static void gather(gpu *x)
{
    uint32_t sms = x->m->sm.count, groups = x->clusters ? x->m->mem.groups : sms;
    x->nunit = 0;
    for (uint32_t q = 0; q < groups; q++) {
        uint32_t first = q * sms / groups, last = (q + 1) * sms / groups;
        if (!x->clusters && sm_event(x, q) >= x->until && !x->status[q].starts) continue;
        x->unit[x->nunit].first = first;
        x->unit[x->nunit++].last = last;
        x->home[x->nunit] = (uint16_t)(q / NEIGHBOURS +
                                       1); /* the memory system's own worker gets the second ones */
    }
}

static double nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* How much less time the other way has to take. */
#define CLEARLY 0.85

/* Several threads work on the window. Mostly the SMs are spread over all of them. Where SMs have
 * little to do but wait for each other's turns, that costs more than it saves: then one thread has
 * all SMs, and another the memory system. The clock decides, from time to time. */
static void share_window(gpu *x)
{
    if (!x->dec.ordered) {
        pl_team_run(x->team, x->nunit + 1, 1, x->home);
        return;
    }
    const bool better = x->cost[0] == 0 || x->cost[1] * CLEARLY <= x->cost[0], before = x->spread;
    if (++x->window > x->look + LOOK_FOR) {
        if (better != x->preferred)
            x->look = LOOK_FIRST;
        else if (x->look < LOOK_LAST)
            x->look *= 2;
        x->preferred = better;
        x->window = 0;
    }
    x->spread = x->window <= x->look ? x->preferred : !x->preferred;
    const double start = nanoseconds();
    static const uint16_t together[] = {1, 0}; /* the SMs stay with the thread that hands over */
    pl_team_run(x->team, x->spread ? x->nunit + 1 : 2, 1, x->spread ? x->home : together);
    if (before != x->spread) return; /* what it works on had to move to another core */
    const double took = (nanoseconds() - start) / x->nunit;
    double *cost = &x->cost[x->spread];
    *cost = *cost > 0 ? (7 * *cost + took) / 8 : took;
}

/* Simulates cycles x->now .. x->until. */
static void simulate(gpu *x)
{
    gather(x);
    uint32_t warps = 0;
    for (uint32_t k = 0; k < x->nunit && warps < WORTH; k++) {
        for (uint32_t s = x->unit[k].first; s < x->unit[k].last; s++)
            warps += x->sm[s].live_warps + x->sm[s].nplaced * WORTH;
    }
    if (x->team && x->nunit > 1 && warps >= WORTH) {
        share_window(x);
    } else {
        memory(x);
        for (uint32_t k = 1; k <= x->nunit; k++) run_unit(x, k, 0, true);
    }
}

/* Between two windows: replies and requests change hands. An SM that has something to do in the
 * next window keeps stores that others may still join. */
static void exchange(gpu *x)
{
    pl_memsys_publish_replies(x->mem);
    for (uint32_t k = 0; k < x->m->sm.count; k++) {
        pl_sm *s = &x->sm[k];
        if (!x->status[k].sends) continue;
        pl_store_buffer_drain(s, sm_event(x, k) < x->until + x->m->mem.xbar_latency ? x->until
                                                                                    : PL_NEVER);
        x->status[k].sends = s->store_buffer_until;
        if (s->out.n == 0) continue;
        pl_mem_outbox empty = x->sending[k];
        x->sending[k] = s->out;
        s->out = empty;
        x->unsent = true;
        x->from = x->before;
    }
}

/* Warps that wait for something on another SM look whether it has happened. */
static void poll(gpu *x, uint64_t now)
{
    for (uint32_t k = 0; k < x->m->sm.count; k++) {
        pl_sm_poll(&x->sm[k], now);
        pl_sm_report(&x->sm[k]);
    }
}

static uint32_t ended_grids(const gpu *x)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < x->nparts; k++) n += x->part[k].g->complete;
    return n;
}

/* Instructions so far. */
static uint64_t issued(const gpu *x)
{
    uint64_t n = 0;
    for (uint32_t k = 0; k < x->m->sm.count; k++) n += x->sm[k].stat.inst;
    return n;
}

static pl_status run(gpu *x)
{
    pl_grid *g = x->g;
    const uint64_t window = x->m->mem.xbar_latency;
    uint64_t reported = 0, until = 0, check = CHECK_EVERY, windows = 0;
    x->now = x->m->launch.start / window * window;
    for (;;) {
        x->before = until;
        x->until = until = x->now + window;
        pl_status st = schedule(x, x->now, until);
        if (st != PL_OK) return st;
        simulate(x);
        if (g->fault.set) return PL_FAULT;
        exchange(x);
        uint32_t ended = ended_grids(x);
        if (!retire(x)) return PL_NOMEM;
        if (ended_grids(x) > ended && x->nparts > 1) poll(x, until); /* others waited for it */
        if (must_stop(x)) return PL_INTERRUPTED;
        if (g->progress && (x->done > reported || ++windows % PROGRESS_WINDOWS == 0)) {
            reported = x->done;
            g->progress(g->progress_ctx, x->blocks - pl_grid_left(g), x->blocks, issued(x));
        }
        if (pl_grid_left(g) == 0) return PL_OK;
        uint64_t next = next_event(x);
        const part *p = startable(x);
        bool waiting = p && room(x, p, 0, x->m->sm.count) >= p->cluster;
        if (next == PL_NEVER && x->clusters) { /* the last arrival may have been this window's */
            poll(x, until);
            next = next_event(x);
        }
        if (next > until + window) { /* nothing for the SMs in the next window: let the memory
                                        system catch up */
            x->until = until + window;
            memory(x);
            pl_memsys_publish_replies(x->mem);
            uint64_t event = pl_memsys_next(x->mem);
            next = next_event(x);
            if (event < next) next = event;
        }
        if (pl_memsys_overflowed(x->mem)) return PL_NOMEM;
        if (next == PL_NEVER && !waiting) {
            report_deadlock(x, false);
            return PL_FAULT;
        }
        if (x->now >= check) {
            check = x->now + CHECK_EVERY;
            if (!waiting && spins_for_nothing(x)) {
                report_deadlock(x, true);
                return PL_FAULT;
            }
        }
        x->now = until;
        if (!waiting && !x->clusters && next > until + window) x->now = next / window * window;
    }
}

/* What the workers have counted comes together. */
static void add_up(const gpu *x)
{
    uint64_t *to = (uint64_t *)(void *)x->g->pc_stat;
    size_t n = x->g->program->code.n * (sizeof(pl_pc_stat) / sizeof *to);
    for (uint32_t w = 1; to && x->team && w < pl_team_size(x->team); w++) {
        const uint64_t *from = (const uint64_t *)(const void *)x->stat[w];
        for (size_t k = 0; k < n; k++) to[k] += from[k];
    }
}
_Static_assert(sizeof(pl_pc_stat) % sizeof(uint64_t) == 0, "pl_pc_stat holds 64-bit sums only");

static void in_order(pl_cta *c)
{
    pl_sm_turn(c->place);
}

/* So many threads: those of the stock, or others. */
static bool take_team(gpu *x, uint32_t n)
{
    pl_stock *s = x->g->stock;
    if (s && s->team && s->threads == n) {
        x->team = s->team;
        s->team = NULL;
        pl_team_serve(x->team, x);
    } else {
        x->team = pl_team_open(n, work, x);
    }
    return x->team != NULL;
}

static void put_team(gpu *x)
{
    pl_stock *s = x->g->stock;
    if (!s || !x->team) {
        pl_team_close(x->team);
        return;
    }
    pl_team_close(s->team);
    s->team = x->team;
    s->threads = x->g->threads;
}

/* Several threads, when asked for. Listeners hear of the instructions in their order, and weak
 * consistency and checkers keep the history of memory in their order, so that with either there is
 * one thread.
 */
static pl_status open_team(gpu *x)
{
    pl_grid *g = x->g;
    uint32_t n = g->sink || g->weak || g->hooks ? 1 : g->threads;
    if (n > 1) {
        x->spread = x->preferred = true;
        x->look = LOOK_FIRST;
        if (!take_team(x, n)) return PL_NOMEM;
        n = pl_team_size(x->team);
    }
    x->stat = pl_arena_array(x->arena, pl_pc_stat *, n);
    if (!x->stat) return PL_NOMEM;
    x->stat[0] = g->pc_stat;
    for (uint32_t w = 1; w < n && g->pc_stat; w++) {
        x->stat[w] = pl_arena_array(x->arena, pl_pc_stat, g->program->code.n);
        if (!x->stat[w]) return PL_NOMEM;
    }
    g->in_order = n > 1 ? in_order : NULL;
    return PL_OK;
}

pl_status pl_timing_run(pl_grid *g, pl_totals *totals, pl_timing_result *out)
{
    const pl_machine *m = totals->m;
    memset(out, 0, sizeof *out);
    pl_stock *stock = g->stock, none = {0};
    if (!stock) stock = &none;
    gpu x = {.g = g,
             .m = m,
             .arena = pl_stock_take(&stock->small, PL_STOCK_ZEROED),
             .large = pl_stock_take(&stock->large, PL_STOCK_ANY),
             .sparse = pl_stock_take(&stock->sparse, PL_STOCK_SPARSE)};
    pl_status st = x.arena && x.large && x.sparse ? open_gpu(&x) : PL_NOMEM;
    const bool opened = st == PL_OK;
    if (st == PL_OK) st = open_team(&x);
    if (st == PL_OK) {
        st = run(&x);
        add_up(&x);
    }
    if (st == PL_OK && g->no_memory) st = PL_NOMEM;
    put_team(&x);
    g->in_order = NULL;
    if (opened) {
        uint64_t end = 0;
        uint32_t busy = 0;
        memory(&x);
        for (uint32_t k = 0; k < m->sm.count;
             k++) { /* the last stores, which waited for others to join them */
            pl_store_buffer_drain(&x.sm[k], PL_NEVER);
            pl_memsys_send(x.mem, &x.sm[k].out);
        }
        x.until = UINT64_MAX / 4;
        memory(&x);
        for (uint32_t k = 0; k < m->sm.count; k++) {
            if (x.sm[k].last_exit > end) end = x.sm[k].last_exit;
            busy += x.sm[k].stat.blocks > 0;
            pl_inflight_tell_rest(&x.sm[k].inflight);
        }
        if (x.last_retired > end) end = x.last_retired;
        end += m->launch.end +
               (uint64_t)(m->launch.end_each * busy); /* what its blocks have written is waited for,
                                                         if there is anything or not */
        uint64_t effect = pl_memsys_stats(x.mem)->last_effect;
        g->cycles = st != PL_OK ? x.now : effect > end ? effect : end;
        if (!pl_totals_add(totals, g, &x.part[0].occupancy, x.sm, x.mem, g->cycles)) st = PL_NOMEM;
        pl_counters(out, totals);
    }
    pl_stock_put(&stock->small, x.arena);
    pl_stock_put(&stock->large, x.large);
    pl_stock_put(&stock->sparse, x.sparse);
    pl_stock_close(&none);
    return st;
}
