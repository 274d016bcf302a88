/* deadlock_report.c - see deadlock_report.h. */
#include "emu/exec/deadlock_report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "emu/exec/memory/address.h"
#include "emu/exec/async/async.h"
#include "isa/program/source_position.h"

enum { BLOCKS_SHOWN = 2, GROUPS_SHOWN = 6, MISSING_SHOWN = 3 };

typedef struct text {
    char *at;
    size_t n, cap;
} text;

static void put(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(text *t, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    int n = t->n < t->cap ? vsnprintf(t->at + t->n, t->cap - t->n, format, ap) : 0;
    va_end(ap);
    t->n = n > 0 && t->n + (size_t)n < t->cap ? t->n + (size_t)n : n > 0 ? t->cap - 1 : t->n;
}

/* The launch: all running blocks. */
typedef struct hang {
    text t;
    pl_cta **live;
    size_t n;
} hang;

/* ---- locations ---- */

/* The instruction at which lanes are. Lanes at a barrier wait after the barrier instruction; lanes
 * that poll are at the polling instruction. */
static uint32_t location_of(const pl_warp *w, const pl_simt_split *s)
{
    if ((s->wait == PL_SPLIT_READY || s->wait == PL_SPLIT_SLEEP) && s->poll_pc)
        return s->poll_pc - 1;
    if (s->wait == PL_SPLIT_READY && s == &w->split[w->current]) return w->pc;
    return s->wait == PL_SPLIT_BARRIER || s->wait == PL_SPLIT_SLEEP ||
                   s->wait == PL_SPLIT_CLUSTER || s->wait == PL_SPLIT_GRID ||
                   s->wait == PL_SPLIT_REGISTERS
               ? s->pc - (s->pc > 0)
               : s->pc;
}

/* "line 22", with the file if the program has several, and the line in the user's source that the
 * compiler recorded: "line 22 (kernel.cu:7)". */
static void put_line(text *t, const pl_grid *g, uint32_t pc)
{
    const pl_program *p = g->program;
    const uint32_t k = pc < p->code.n ? p->code.at[pc].line : UINT32_MAX;
    const pl_prog_line none = {0}, *line = k < p->lines.n ? &p->lines.at[k] : &none;
    size_t source = 0;
    while (source + 1 < p->sources.n && p->sources.at[source + 1].lines_before < line->ptx_line)
        source++;
    if (p->sources.n > 1) put(t, "%s ", p->sources.at[source].name);
    put(t, "line %u", line->ptx_line - (p->sources.n ? p->sources.at[source].lines_before : 0));
    const char *file;
    uint32_t src_line;
    if (!pl_cuda_user_line(p, k, &file, &src_line)) return;
    const char *slash = strrchr(file, '/');
    put(t, " (%s:%u)", slash ? slash + 1 : file, src_line);
}

static const char *mnemonic_at(const pl_grid *g, uint32_t pc)
{
    return pc < g->program->code.n ? pl_mnems[pl_forms[g->program->code.at[pc].form].mnem].name
                                   : "the end";
}

static void put_lanes(text *t, const pl_warp *w, pl_lanes lanes)
{
    put(t, " lanes 0x%0*" PRIx64, w->halves * 8, lanes);
}

static void put_block(text *t, const pl_cta *c)
{
    put(t, "block %u,%u,%u", c->id[0], c->id[1], c->id[2]);
}

/* ---- what lanes wait for ---- */

static pl_lanes alive_lanes(const pl_warp *w)
{
    return w->lanes & ~w->exited;
}

/* The first lane of a split; makes its half current. */
static unsigned first_lane(pl_warp *w, const pl_simt_split *s)
{
    pl_warp_set_half(w, (uint32_t)s->mask == 0);
    return (unsigned)__builtin_ctz(pl_of_half(w, s->mask) | 1u << (PL_LANES - 1));
}

/* The value of operand k of the instruction at pc in the first lane of the split. */
static uint32_t operand_of(pl_warp *w, const pl_simt_split *s, uint32_t pc, unsigned k)
{
    const unsigned lane = first_lane(w, s);
    const uint32_t row = w->code[pc].op[k];
    return row == PL_NO_OPERAND ? 0 : pl_warp_frame(w, s)[(size_t)row * PL_LANES + lane];
}

/* The barrier at which a split waits, or, before an aligned instruction, the barrier that it is
 * about to wait at. */
static uint32_t barrier_of(pl_warp *w, const pl_simt_split *s)
{
    return s->wait == PL_SPLIT_BARRIER
               ? s->barrier
               : operand_of(w, s, s->pc, pl_forms[w->code[s->pc].form].operand[0].written) %
                     PL_NAMED_BARRIERS;
}

/* True if the split polls the grid barrier of cooperative groups. */
static bool polls_grid_barrier(const pl_grid *g, const pl_simt_split *s)
{
    const pl_alloc *a =
        g->workspace && s->poll_pc ? pl_memory_find(g->memory, s->poll_address) : NULL;
    return a && a->address == g->workspace;
}

/* Blocks that do not poll the grid barrier. */
static void put_missing_blocks(hang *h, const pl_grid *g)
{
    size_t shown = 0, absent = 0;
    for (size_t k = 0; k < h->n; k++) {
        const pl_cta *c = h->live[k];
        bool polls = false;
        for (uint32_t n = 0; n < c->nwarps; n++)
            for (unsigned m = 0; m < c->warp[n].nsplits; m++)
                polls |= polls_grid_barrier(g, &c->warp[n].split[m]);
        absent += !polls;
        if (polls || shown++ >= MISSING_SHOWN) continue;
        put(&h->t, shown == 1 ? ", missing " : ", ");
        put_block(&h->t, c);
    }
    if (absent > MISSING_SHOWN)
        put(&h->t, " and %zu other block%s", absent - MISSING_SHOWN,
            pl_plural(absent - MISSING_SHOWN));
    if (pl_grid_blocks(g) > h->n)
        put(&h->t, ", and %llu block%s not run", (unsigned long long)(pl_grid_blocks(g) - h->n),
            pl_grid_blocks(g) - h->n == 1 ? " does" : "s do");
}

static void put_mbarrier_state(text *t, pl_warp *w, const pl_simt_split *s, const pl_insn *i)
{
    pl_space real;
    uint64_t in;
    const unsigned lane = first_lane(w, s);
    const uint8_t *p =
        pl_resolve(w, lane, i->sel[PL_M_SPACE] ? (pl_space)i->sel[PL_M_SPACE] : PL_SP_GENERIC,
                   s->poll_address, 8, &real, &in);
    put(t, "wait for the mbarrier at shared address 0x%" PRIx64, s->poll_address);
    if (!p) return;
    const pl_mbar b = pl_mbar_read(p);
    if (!b.expected) {
        put(t, ", which no mbarrier.init has initialised");
        return;
    }
    put(t, ", whose phase %d lacks", b.phase);
    if (b.pending || !b.tx)
        put(t, " %u of %u arrival%s%s", b.pending, b.expected, pl_plural(b.expected),
            b.tx ? " and" : "");
    if (b.tx) put(t, " %d byte%s", b.tx, b.tx == 1 ? "" : "s");
}

/* Describes the memory that polling lanes wait for. */
static void put_polled_memory(hang *h, pl_warp *w, const pl_simt_split *s)
{
    const pl_insn *i = &w->code[s->poll_pc - 1];
    const pl_grid *g = w->grid;
    if (pl_forms[i->form].mnem == M_mbarrier) {
        put_mbarrier_state(&h->t, w, s, i);
        return;
    }
    if (polls_grid_barrier(g, s)) {
        put(&h->t, "wait at the barrier of the grid");
        put_missing_blocks(h, g);
        return;
    }
    pl_space real = (pl_space)i->sel[PL_M_SPACE];
    uint64_t in = s->poll_address;
    pl_resolve(w, first_lane(w, s), real, s->poll_address, 1, &real, &in);
    const pl_alloc *a = real == PL_SP_GLOBAL ? pl_memory_find(g->memory, in) : NULL;
    put(&h->t, "poll %s address 0x%" PRIx64, real == PL_SP_SHARED ? "shared" : "global", in);
    if (a && a->name) put(&h->t, " (%s + %" PRIu64 ")", a->name, in - a->address);
    put(&h->t, ", which no thread writes");
}

/* The ending of a noun after the number n, and its verb. */
static const char *have(uint64_t n)
{
    return n == 1 ? " has" : "s have";
}

static void put_barrier_arrivals(text *t, pl_warp *w, const pl_simt_split *s)
{
    const pl_cta *c = w->cta;
    const pl_barrier *b = &c->barrier[s->barrier];
    uint32_t arrived = b->arrived;
    for (uint32_t k = 0; k < c->nwarps; k++)
        arrived += (uint32_t)__builtin_popcountll(c->warp[k].reached[s->barrier]);
    const uint32_t expected = b->expected ? b->expected : c->live;
    put(t, "wait at barrier %u, where %u of %u thread%s arrived", s->barrier, arrived, expected,
        have(expected));
}

static void put_cluster_arrivals(text *t, const pl_cta *c)
{
    const uint32_t expected = c->cluster ? c->cluster->live : c->live;
    put(t, "wait at the cluster barrier, where %u of %u thread%s arrived",
        c->cluster ? c->cluster->arrived : c->local_cluster_arrived, expected, have(expected));
}

static void put_ended_blocks(text *t, const pl_grid *g)
{
    const unsigned long long blocks = pl_grid_blocks(g);
    put(t, "wait for the preceding grid, of which %llu of %llu block%s ended",
        (unsigned long long)g->blocks_done, blocks, have(blocks));
}

/* Describes what a group of lanes waits for. */
static void put_wait_reason(hang *h, pl_warp *w, const pl_simt_split *s)
{
    text *t = &h->t;
    const pl_cta *c = w->cta;
    switch (s->wait) {
    case PL_SPLIT_BARRIER: put_barrier_arrivals(t, w, s); return;
    case PL_SPLIT_ALIGNED:
        put(t,
            "wait at barrier %u, which is aligned, for the other lanes of their warp to reach the "
            "same instruction",
            barrier_of(w, s));
        return;
    case PL_SPLIT_CLUSTER: put_cluster_arrivals(t, c); return;
    case PL_SPLIT_WARP_SYNC: {
        const uint32_t k = pl_member_mask_operand(&w->code[s->pc]);
        put(t, "wait for other lanes of their _sync mask");
        if (k != UINT32_MAX) {
            const uint32_t mask = operand_of(w, s, s->pc, k);
            put(t, " 0x%08x, missing lanes 0x%08x", mask,
                mask & pl_alive(w) & ~pl_of_half(w, s->mask));
        }
        return;
    }
    case PL_SPLIT_GRID: put_ended_blocks(t, w->grid->previous); return;
    case PL_SPLIT_REGISTERS:
        put(t,
            "wait for %u registers per thread (setmaxnreg): they have %u, and the block has %u "
            "free for one warp",
            w->wanted_registers, w->registers, c->free_registers);
        return;
    case PL_SPLIT_CONVERGE:
        put(t, "wait for the other lanes of their warp to reconverge%s",
            w->grid->simt_stack ? " (with --simt its they would be released)" : "");
        return;
    default:
        if (w->grid->simt_stack && s != &w->split[w->current])
            put(t, "wait until the lanes that diverged last have reconverged (with --simt its they "
                   "would continue)");
        else if (s->poll_pc)
            put_polled_memory(h, w, s);
        else
            put(t, s->wait == PL_SPLIT_SLEEP ? "sleep" : "run");
        return;
    }
}

/* ---- missing threads ---- */

/* Briefly describes what the missing lanes do. */
static void put_activity(hang *h, pl_warp *w, const pl_simt_split *s)
{
    text *t = &h->t;
    put(t, " (");
    put_line(t, w->grid, location_of(w, s));
    put(t, ", %s", mnemonic_at(w->grid, location_of(w, s)));
    if (s->wait == PL_SPLIT_BARRIER || s->wait == PL_SPLIT_ALIGNED)
        put(t, ": waits at barrier %u", barrier_of(w, s));
    else if (s->wait == PL_SPLIT_CLUSTER)
        put(t, ": waits at the cluster barrier");
    else if (s->wait == PL_SPLIT_REGISTERS)
        put(t, ": waits for registers");
    else if (s->wait == PL_SPLIT_WARP_SYNC || s->wait == PL_SPLIT_CONVERGE)
        put(t, ": waits for lanes of its warp");
    else if (s->poll_pc)
        put(t, pl_forms[w->code[s->poll_pc - 1].form].mnem == M_mbarrier ? ": waits for an mbarrier"
                                                                         : ": polls memory");
    put(t, ")");
}

/* Names the missing lanes of a warp, and what each group of them does. */
static void put_missing_lanes(hang *h, pl_warp *w, pl_lanes missing)
{
    put(&h->t, " warp %u", w->index);
    for (unsigned m = 0; m < w->nsplits; m++) {
        const pl_lanes lanes = w->split[m].mask & missing;
        if (!lanes) continue;
        if (lanes != alive_lanes(w)) put_lanes(&h->t, w, lanes);
        put_activity(h, w, &w->split[m]);
    }
}

/* Warps whose lanes have exited without reaching a barrier that counts threads. */
static void put_exited_threads(hang *h, pl_cta *c, uint32_t threads)
{
    put(&h->t, ", and %u expected thread%s exited or %s not exist", threads, have(threads),
        threads == 1 ? "does" : "do");
    for (uint32_t k = 0; k < c->nwarps; k++) {
        const pl_warp *w = &c->warp[k];
        if (alive_lanes(w)) continue;
        put(&h->t, " (warp %u ended at ", k);
        put_line(&h->t, c->grid, w->exit_pc);
        put(&h->t, ")");
        return;
    }
}

/* Threads that have not arrived at the barrier at which split s waits. */
static void put_missing_warps(hang *h, pl_cta *c, const pl_simt_split *s)
{
    const pl_barrier *b = &c->barrier[s->barrier];
    uint32_t shown = 0, absent = 0, arrived = b->arrived;
    for (uint32_t k = 0; k < c->nwarps; k++) {
        pl_warp *w = &c->warp[k];
        pl_lanes arrived_lanes =
            w->arrived >> s->barrier & 1u ? alive_lanes(w) : w->reached[s->barrier];
        arrived += (uint32_t)__builtin_popcountll(w->reached[s->barrier]);
        const pl_lanes missing = alive_lanes(w) & ~arrived_lanes;
        absent += (uint32_t)__builtin_popcountll(missing);
        if (!missing || shown++ >= MISSING_SHOWN) continue;
        put(&h->t, shown == 1 ? ", missing" : ",");
        put_missing_lanes(h, w, missing);
    }
    if (shown > MISSING_SHOWN)
        put(&h->t, " and %u other warp%s", shown - MISSING_SHOWN, pl_plural(shown - MISSING_SHOWN));
    const uint32_t expected = b->expected ? b->expected : c->live;
    if (expected > arrived + absent) put_exited_threads(h, c, expected - arrived - absent);
}

/* Threads that have not arrived at the cluster barrier. */
static void put_missing_in_cluster(hang *h, pl_cta *c)
{
    uint32_t shown = 0;
    const pl_cluster *x = c->cluster;
    for (uint32_t r = 0; r < (x ? x->size : 1); r++) {
        pl_cta *o = x ? x->cta[r] : c;
        if (!o) {
            put(&h->t,
                shown++ ? ", block %u of the cluster (it has not started)"
                        : ", missing block %u of the cluster (it has not started)",
                r);
            continue;
        }
        for (uint32_t k = 0; k < o->nwarps && shown < MISSING_SHOWN; k++) {
            pl_lanes missing = 0;
            for (unsigned m = 0; m < o->warp[k].nsplits; m++)
                missing |= o->warp[k].split[m].cluster_arrived ? 0 : o->warp[k].split[m].mask;
            if (!missing) continue;
            put(&h->t, shown++ ? ", " : ", missing ");
            put_block(&h->t, o);
            put_missing_lanes(h, &o->warp[k], missing);
        }
    }
}

/* ---- the report ---- */

/* True if all remaining lanes of warp w wait in the same way as split s of warp v. */
static bool is_same_wait(const pl_warp *w, const pl_warp *v, const pl_simt_split *s)
{
    return w->nsplits == 1 && w->split[0].wait == s->wait && w->split[0].pc == s->pc &&
           w->split[0].barrier == s->barrier && w->split[0].poll_pc == s->poll_pc &&
           w->split[0].poll_address == s->poll_address && v->nsplits == 1;
}

static void put_block_groups(hang *h, pl_cta *c, pl_warp **first, const pl_simt_split **at)
{
    uint32_t groups = 0;
    text *t = &h->t;
    for (uint32_t k = 0; k < c->nwarps; k++) {
        pl_warp *w = &c->warp[k];
        if (w->state == PL_WARP_DONE) continue;
        uint32_t last = k;
        for (unsigned m = 0; m < w->nsplits; m++) {
            const pl_simt_split *s = &w->split[m];
            if (!*first) {
                *first = w;
                *at = s;
            }
            while (last + 1 < c->nwarps && c->warp[last + 1].state != PL_WARP_DONE &&
                   is_same_wait(&c->warp[last + 1], w, s))
                last++;
            if (groups++ >= GROUPS_SHOWN) continue;
            put(t, "; ");
            put_block(t, c);
            if (last > k)
                put(t, " warps %u to %u", k, last);
            else
                put(t, " warp %u", k);
            if (s->mask != alive_lanes(w)) put_lanes(t, w, s->mask);
            put(t, " at ");
            put_line(t, w->grid, location_of(w, s));
            put(t, ", %s: ", mnemonic_at(w->grid, location_of(w, s)));
            put_wait_reason(h, w, s);
            if (s->wait == PL_SPLIT_BARRIER) put_missing_warps(h, c, s);
            if (s->wait == PL_SPLIT_CLUSTER) put_missing_in_cluster(h, c);
        }
        k = last;
    }
    if (groups > GROUPS_SHOWN)
        put(t, "; and %u other group%s of this block", groups - GROUPS_SHOWN,
            pl_plural(groups - GROUPS_SHOWN));
}

static int by_number(const void *a, const void *b)
{
    const pl_cta *x = *(pl_cta *const *)a, *y = *(pl_cta *const *)b;
    return (x->number > y->number) - (x->number < y->number);
}

/* Sorts the splits of a warp by lane number; their order depends on the order in which they ran. */
static void sort_splits(pl_warp *w)
{
    const pl_lanes running = w->split[w->current].mask;
    w->split[w->current].pc =
        w->split[w->current].wait == PL_SPLIT_READY ? w->pc : w->split[w->current].pc;
    for (unsigned k = 1; k < w->nsplits; k++)
        for (unsigned m = k; m > 0 && (w->split[m].mask & (0ull - w->split[m].mask)) <
                                          (w->split[m - 1].mask & (0ull - w->split[m - 1].mask));
             m--) {
            const pl_simt_split s = w->split[m];
            w->split[m] = w->split[m - 1];
            w->split[m - 1] = s;
        }
    for (unsigned k = 0; k < w->nsplits; k++)
        if (w->split[k].mask == running) w->current = (uint8_t)k;
}

void pl_hang_report(pl_grid *g, pl_cta **live, size_t n, bool spinning)
{
    static const char *const head[] = {
        "deadlock: nothing can run any more",
        "hang: threads only poll memory, which none of them changes"};
    pl_warp *first = NULL;
    const pl_simt_split *at = NULL;
    char space[sizeof g->fault.text];
    hang h = {.t = {.at = space, .cap = sizeof space}, .live = live, .n = n};
    if (n) qsort(live, n, sizeof *live, by_number);
    for (size_t k = 0; k < n; k++)
        for (uint32_t m = 0; m < live[k]->nwarps; m++) sort_splits(&live[k]->warp[m]);
    put(&h.t, "%s", head[spinning]);
    for (size_t k = 0; k < n && k < BLOCKS_SHOWN; k++) put_block_groups(&h, live[k], &first, &at);
    if (n > BLOCKS_SHOWN)
        put(&h.t, "; and %zu other block%s", n - BLOCKS_SHOWN, pl_plural(n - BLOCKS_SHOWN));
    if (!first) {
        g->fault = (pl_fault_info){.error = "CUDA_ERROR_LAUNCH_TIMEOUT", .set = true};
        return;
    }
    first->pc = location_of(first, at);
    pl_warp_set_half(first, (uint32_t)at->mask == 0);
    pl_fault(first, pl_of_half(first, at->mask), 0, "CUDA_ERROR_LAUNCH_TIMEOUT", "%s", space);
}
