/* hang.c - see hang.h. */
#include "emu/exec/hang.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { BLOCKS_SHOWN = 2, GROUPS_SHOWN = 6 };

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

/* The instruction that lanes stand at: behind a barrier instruction they wait for it; those who look at memory stand where they look. */
static uint32_t place(const pl_warp *w, const pl_split *s)
{
    if ((s->wait == PL_SPLIT_READY || s->wait == PL_SPLIT_SLEEP) && s->look)
        return s->look - 1;
    if (s->wait == PL_SPLIT_READY && s == &w->split[w->current])
        return w->pc;
    return s->wait == PL_SPLIT_BARRIER || s->wait == PL_SPLIT_SLEEP || s->wait == PL_SPLIT_CLUSTER || s->wait == PL_SPLIT_GRID
               ? s->pc - (s->pc > 0) : s->pc;
}

static uint32_t line_of(const pl_grid *g, uint32_t pc)
{
    uint32_t k = pc < g->program->code.n ? g->program->code.at[pc].line : UINT32_MAX;
    return k < g->program->lines.n ? g->program->lines.at[k].ptx_line : 0;
}

static const char *word_of(const pl_grid *g, uint32_t pc)
{
    return pc < g->program->code.n ? pl_mnems[pl_forms[g->program->code.at[pc].form].mnem].name : "the end";
}

static pl_lanes lanes_left(const pl_warp *w)
{
    return w->lanes & ~w->exited;
}

static void put_lanes(text *t, const pl_warp *w, pl_lanes lanes)
{
    put(t, " lanes 0x%0*" PRIx64, w->halves * 8, lanes);
}

/* What a group of lanes waits for, in a few words. */
static void reason(text *t, const pl_warp *w, const pl_split *s)
{
    const pl_cta *c = w->cta;
    switch (s->wait) {
    case PL_SPLIT_BARRIER: {
        const pl_barrier *b = &c->barrier[s->barrier];
        put(t, "wait at barrier %u, where %u of %u threads have arrived", s->barrier, b->arrived, b->expected ? b->expected : c->live);
        return;
    }
    case PL_SPLIT_CLUSTER:
        put(t, "wait at the cluster barrier, where %u of %u threads have arrived", c->cluster ? c->cluster->arrived : c->alone_arrived,
            c->cluster ? c->cluster->live : c->live);
        return;
    case PL_SPLIT_WARP_SYNC:
        put(t, "wait for other lanes of their _sync mask");
        return;
    case PL_SPLIT_GRID:
        put(t, "wait for the grid before theirs, of which %llu of %llu blocks have ended", (unsigned long long)w->grid->before->blocks_done,
            (unsigned long long)pl_grid_blocks(w->grid->before));
        return;
    case PL_SPLIT_CONVERGE:
        put(t, "wait where the lanes of their warp meet again%s", w->grid->simt_stack ? " (with --simt its they would be let go)" : "");
        return;
    case PL_SPLIT_SLEEP:
        put(t, s->look ? "spin: they look at memory again and again" : "sleep");
        return;
    default:
        if (w->grid->simt_stack && s != &w->split[w->current]) {
            put(t, "wait until the lanes that parted last have come to where they meet (with --simt its they would go on)");
            return;
        }
        put(t, "spin: they look at memory again and again");
        return;
    }
}

/* Do the lanes of warp w that are left all stand as split s of warp v does? */
static bool same(const pl_warp *w, const pl_warp *v, const pl_split *s)
{
    return w->nsplits == 1 && w->split[0].wait == s->wait && w->split[0].pc == s->pc && w->split[0].barrier == s->barrier && v->nsplits == 1;
}

/* Who has not come to the barrier that split s waits at. */
static void missing(text *t, const pl_cta *c, const pl_split *s)
{
    const pl_barrier *b = &c->barrier[s->barrier];
    uint32_t shown = 0, absent = 0;
    for (uint32_t k = 0; k < c->nwarps; k++) {
        const pl_warp *w = &c->warp[k];
        pl_lanes there = 0;
        for (unsigned m = 0; m < w->nsplits; m++)
            there |= w->split[m].wait == PL_SPLIT_BARRIER && w->split[m].barrier == s->barrier ? w->split[m].mask : 0;
        const pl_lanes away = w->state == PL_WARP_DONE ? 0 : lanes_left(w) & ~there;
        absent += (uint32_t)__builtin_popcountll(away);
        if (!away || shown++ >= 3)
            continue;
        put(t, "%s warp %u", shown == 1 ? ", missing" : ",", k);
        if (away != lanes_left(w))
            put_lanes(t, w, away);
    }
    if (shown > 3)
        put(t, " and %u other warps", shown - 3);
    uint32_t wanted = b->expected ? b->expected : c->live;
    if (wanted > b->arrived + absent)
        put(t, ", and %u threads that should come have ended or do not exist", wanted - b->arrived - absent);
}

static void block(text *t, pl_cta *c, pl_warp **first, const pl_split **at)
{
    uint32_t groups = 0;
    for (uint32_t k = 0; k < c->nwarps; k++) {
        pl_warp *w = &c->warp[k];
        if (w->state == PL_WARP_DONE)
            continue;
        for (unsigned m = 0; m < w->nsplits; m++) {
            const pl_split *s = &w->split[m];
            if (!*first) {
                *first = w;
                *at = s;
            }
            uint32_t last = k;
            while (last + 1 < c->nwarps && c->warp[last + 1].state != PL_WARP_DONE && same(&c->warp[last + 1], w, s))
                last++;
            if (groups++ < GROUPS_SHOWN) {
                put(t, "; block %u,%u,%u ", c->id[0], c->id[1], c->id[2]);
                if (last > k)
                    put(t, "warps %u to %u", k, last);
                else
                    put(t, "warp %u", k);
                if (s->mask != lanes_left(w))
                    put_lanes(t, w, s->mask);
                put(t, " at line %u, %s: ", line_of(w->grid, place(w, s)), word_of(w->grid, place(w, s)));
                reason(t, w, s);
                if (s->wait == PL_SPLIT_BARRIER)
                    missing(t, c, s);
            }
            k = last;
        }
    }
    if (groups > GROUPS_SHOWN)
        put(t, "; and %u other groups of this block", groups - GROUPS_SHOWN);
}

void pl_hang_report(pl_grid *g, pl_cta **live, size_t n, bool spinning)
{
    static const char *const head[] = {"deadlock: nothing can run any more", "hang: nothing happens but looking at memory that nobody changes"};
    pl_warp *first = NULL;
    const pl_split *at = NULL;
    char space[sizeof g->fault.text];
    text t = {.at = space, .cap = sizeof space};
    put(&t, "%s", head[spinning]);
    for (size_t k = 0; k < n && k < BLOCKS_SHOWN; k++)
        block(&t, live[k], &first, &at);
    if (n > BLOCKS_SHOWN)
        put(&t, "; and %zu other blocks", n - BLOCKS_SHOWN);
    if (!first) {
        g->fault = (pl_fault_info){.error = "CUDA_ERROR_LAUNCH_TIMEOUT", .set = true};
        return;
    }
    first->pc = place(first, at);
    pl_warp_half(first, (uint32_t)at->mask == 0);
    pl_fault(first, pl_of_half(first, at->mask), 0, "CUDA_ERROR_LAUNCH_TIMEOUT", "%s", space);
}
