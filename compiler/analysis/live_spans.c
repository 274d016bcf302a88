/* live_spans.c - see live_spans.h. Values are solved 64 at a time, one word per block. Live-in
 * values of a block are propagated to the ends of its predecessors. Blocks are visited from last to
 * first, and again while back edges bring changes. Only blocks that these 64 values reach are
 * visited. */
#include "compiler/analysis/live_spans.h"

#include <stdbool.h>
#include <string.h>

enum { WORD = 64 };

typedef struct cell {
    /* Live-in; live-out; overwritten before any read. */
    uint64_t in, out, def;
} cell;

typedef struct solver {
    pl_live_spans *s;
    cell *cell;                  /* by block */
    uint64_t *changed, *reached; /* sets of blocks: live-out has grown since live-in was updated;
                                 the cell is not empty */
    uint32_t low, high;          /* range of non-empty words of `reached` */
    uint32_t last;               /* highest word of `changed` that may be non-empty */
    uint32_t *open;              /* by value of the word: first block of its open span */
} solver;

static void mark_reached(solver *v, uint32_t block)
{
    uint32_t w = block / WORD;
    v->reached[w] |= 1ull << block % WORD;
    v->low = w < v->low ? w : v->low;
    v->high = w > v->high ? w : v->high;
}

/* Adds to the live-in set of the block. */
static void add_live_in(solver *v, uint32_t block, uint64_t in)
{
    const pl_live_spans *s = v->s;
    const uint32_t *p = s->preds + s->pred[block];
    v->cell[block].in |= in;
    for (uint32_t k = 0; k < s->npred[block]; k++) {
        cell *c = &v->cell[p[k]];
        if (!(in & ~c->out)) continue;
        c->out |= in;
        mark_reached(v, p[k]);
        v->changed[p[k] / WORD] |= 1ull << p[k] % WORD;
        v->last = p[k] / WORD > v->last ? p[k] / WORD : v->last;
    }
}

static void propagate(solver *v)
{
    for (uint32_t w = v->last + 1; w-- > 0;)
        while (v->changed[w]) {
            uint32_t block = w * WORD + (WORD - 1) - (uint32_t)__builtin_clzll(v->changed[w]);
            v->changed[w] &= ~(1ull << block % WORD);
            const cell *c = &v->cell[block];
            uint64_t in = c->out & ~c->def & ~c->in;
            v->last = 0;
            if (in) add_live_in(v, block, in);
            if (v->last > w) /* back edge */
                w = v->last;
        }
}

/* Converts the words into spans and clears them. */
static void collect(solver *v, uint32_t first)
{
    pl_live_spans *s = v->s;
    uint64_t live = 0;
    uint32_t next = 0; /* block after the last one visited */
    for (uint32_t w = v->low; w <= v->high; w++)
        for (uint64_t remaining = v->reached[w]; remaining; remaining &= remaining - 1) {
            uint32_t block = w * WORD + (uint32_t)__builtin_ctzll(remaining);
            uint64_t gap = block == next ? 0 : live, out = v->cell[block].out;
            for (uint64_t ends = gap | (live & ~out); ends; ends &= ends - 1) {
                uint32_t t = (uint32_t)__builtin_ctzll(ends);
                *pl_push(s->a, &s->spans) = (pl_live_span){first + t, v->open[t], next};
            }
            for (uint64_t starts = out & ~(live & ~gap); starts; starts &= starts - 1)
                v->open[__builtin_ctzll(starts)] = block;
            live = out;
            next = block + 1;
            v->cell[block] = (cell){0};
        }
    for (; live; live &= live - 1) {
        uint32_t t = (uint32_t)__builtin_ctzll(live);
        *pl_push(s->a, &s->spans) = (pl_live_span){first + t, v->open[t], next};
    }
    if (v->low <= v->high)
        memset(v->reached + v->low, 0, (v->high - v->low + 1) * sizeof *v->reached);
}

bool pl_live_spans_of_cfg(pl_live_spans *s, pl_arena *a, const pl_cfg *g)
{
    uint32_t *npred = pl_arena_array(a, uint32_t, g->n + 1);
    for (uint32_t b = 0; b < g->n && npred; b++) npred[b] = g->pred_start[b + 1] - g->pred_start[b];
    *s = (pl_live_spans){
        .a = a, .blocks = g->n, .preds = g->pred, .pred = g->pred_start, .npred = npred};
    return npred != NULL;
}

bool pl_live_spans_solve(pl_live_spans *s)
{
    uint32_t words = s->values / WORD + 1, sets = s->blocks / WORD + 1, open[WORD];
    solver v = {.s = s, .open = open};
    v.cell = pl_arena_array(s->a, cell, s->blocks + 1);
    v.changed = pl_arena_array(s->a, uint64_t, sets);
    v.reached = pl_arena_array(s->a, uint64_t, sets);
    uint32_t *start = pl_arena_array(s->a, uint32_t, words + 1),
             *order = pl_arena_array(s->a, uint32_t, s->accesses.n + 1);
    if (!v.cell || !v.changed || !v.reached || !start || !order || !pl_arena_ok(s->a)) return false;
    for (size_t k = 0; k < s->accesses.n; k++) start[s->accesses.at[k].value / WORD + 1]++;
    for (uint32_t w = 0; w < words; w++) start[w + 1] += start[w];
    for (size_t k = s->accesses.n; k-- > 0;)
        order[--start[s->accesses.at[k].value / WORD + 1]] = (uint32_t)k;
    for (uint32_t w = 0; w < words; w++) {
        const uint32_t *at = order + start[w + 1],
                       *end = w + 2 <= words ? order + start[w + 2] : order + s->accesses.n;
        bool any = false;
        for (const uint32_t *k = at; k < end && !any; k++) any = s->accesses.at[*k].reads;
        if (!any) continue;
        v.low = UINT32_MAX;
        v.high = v.last = 0;
        for (const uint32_t *k = at; k < end; k++) {
            const pl_access_point *t = &s->accesses.at[*k];
            if (!t->reads) {
                v.cell[t->block].def |= 1ull << t->value % WORD;
                mark_reached(&v, t->block);
            }
        }
        for (const uint32_t *k = at; k < end; k++) {
            const pl_access_point *t = &s->accesses.at[*k];
            if (t->reads) {
                mark_reached(&v, t->block);
                add_live_in(&v, t->block, 1ull << t->value % WORD);
            }
        }
        propagate(&v);
        collect(&v, w * WORD);
    }
    return pl_arena_ok(s->a);
}

bool pl_live_spans_index(pl_live_spans *s)
{
    s->first = pl_arena_array(s->a, uint32_t, s->blocks + 2);
    s->flip = pl_arena_array(s->a, uint32_t, 2 * s->spans.n + 1);
    s->at = UINT32_MAX;
    if (!s->first || !s->flip) return false;
    for (size_t k = 0; k < s->spans.n; k++) {
        s->first[s->spans.at[k].first]++;
        s->first[s->spans.at[k].end]++;
    }
    for (uint32_t b = 0; b < s->blocks; b++) s->first[b + 1] += s->first[b];
    s->first[s->blocks + 1] = s->first[s->blocks];
    for (size_t k = s->spans.n; k-- > 0;) {
        const pl_live_span *p = &s->spans.at[k];
        s->flip[--s->first[p->first]] = p->value;
        s->flip[--s->first[p->end]] = p->value;
    }
    return true;
}

void pl_live_spans_go_to(pl_live_spans *s, uint32_t block,
                         void (*toggle)(void *ctx, uint32_t value), void *ctx)
{
    while (s->at != block) {
        bool on = s->at == UINT32_MAX || s->at < block;
        uint32_t b = on ? ++s->at : s->at--;
        for (uint32_t k = s->first[b]; k < s->first[b + 1]; k++) toggle(ctx, s->flip[k]);
    }
}
