/* pending.c - asynchronous operations of a warp that have been issued and not applied yet; see
 * async.h. */
#include "emu/exec/async/async.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

#include "emu/exec/memory/atomic_ops.h"
#include "emu/exec/tma/tma_copy.h"
#include "emu/exec/consistency/weak_memory.h"
#include "emu/exec/hooks.h"

enum {
    TIMED_DELAY = 600, /* timed mode: cycles (functional mode: instructions) from issue to effect,
                          about a DRAM latency */
    /* Polls by other warps after which it is applied, since their clocks may lag in functional
     * mode. */
    TIMED_POLLS = 8
};

/* ---- one operation ---- */

static void reduce(const pl_async_op *o)
{
    const uint8_t *from = o->from ? o->from : (const uint8_t *)o->value;
    size_t n = (size_t)1 << o->log2;
    for (size_t k = 0; k + n <= o->bytes; k += n) {
        uint64_t have = 0, b = 0;
        memcpy(&have, o->to + k, n);
        memcpy(&b, from + k, n);
        have = pl_atomic_step(o->op, o->type, o->global ? PL_ATOMIC_BULK : PL_ATOMIC_SHARED, have,
                              b, 0);
        memcpy(o->to + k, &have, n);
    }
}

static bool contains_value(const pl_async_op *o, const uint8_t *from)
{
    for (uint32_t k = 0; k < o->bytes; k += 16)
        if (pl_inspect_matches((pl_inspect)o->inspect, from + k, 16)) return true;
    return false;
}

static const char *apply(pl_async_op *o)
{
    const uint8_t *from = o->from ? o->from : (const uint8_t *)o->value;
    bool matched = false;
    switch ((pl_async_kind)o->kind) {
    case PL_ASYNC_COPY:
        if (o->inspect) matched = contains_value(o, from);
        if (o->mask == 0xffff) memmove(o->to, from, o->bytes);
        for (uint32_t k = 0; o->mask != 0xffff && k < o->bytes; k++)
            if (o->mask >> (k & 15u) & 1u) o->to[k] = from[k];
        memset(o->to + o->bytes, 0, o->fill);
        break;
    case PL_ASYNC_REDUCE: reduce(o); break;
    case PL_ASYNC_TENSOR: matched = pl_tma_apply(o->tensor); break;
    case PL_ASYNC_ARRIVE: return pl_mbar_arrive(o->bar, 1, false);
    }
    if (o->weak)
        pl_weak_note_write(o->weak, o->to,
                           o->kind == PL_ASYNC_TENSOR ? 0 : (size_t)o->bytes + o->fill);
    if (matched) pl_mbar_report(o->bar);
    return o->bar ? pl_mbar_transact(o->bar, -(int64_t)o->bytes) : NULL;
}

/* ---- the pending list of a warp ---- */

static void free_owned(pl_async_op *o)
{
    free(o->owned_source);
    free(o->tensor);
    o->owned_source = NULL;
    o->tensor = NULL;
}

void pl_async_reset(struct pl_async *a)
{
    if (!a) return;
    for (size_t k = 0; k < a->n; k++) free_owned(&a->at[k]);
    a->n = a->group[0] = a->group[1] = 0;
}

void pl_async_free(struct pl_async *a)
{
    pl_async_reset(a);
    if (a) free(a->at);
    free(a);
}

const char *pl_async_start(pl_warp *w, pl_async_op o)
{
    w->wrote = w->async_started = true;
    if (o.inspect && !pl_mbar_read(o.bar).v1)
        return "a copy reports at an mbarrier object without .layout::v1";
    if (!o.mask) o.mask = 0xffff;
    if (w->grid->weak) pl_weak_read_source(w, &o);
    if (w->grid->hooks) w->grid->hooks->async_starts(w->grid->hooks, w, &o);
    if (w->grid->async_mode == PL_ASYNC_EAGER) {
        const char *wrong = apply(&o);
        free(o.owned_source);
        return wrong;
    }
    if (!w->async) w->async = calloc(1, sizeof *w->async);
    struct pl_async *a = w->async;
    const bool room = a && (a->n < a->cap || pl_array_grow(&a->at, &a->cap, sizeof *a->at));
    pl_tma_copy *tensor = o.tensor ? malloc(sizeof *tensor) : NULL;
    if (!room || (o.tensor && !tensor)) {
        pl_grid_set_no_memory(w->grid);
        const char *wrong = apply(&o);
        free(tensor);
        free(o.owned_source);
        return wrong;
    }
    if (tensor) {
        *tensor = *o.tensor;
        o.tensor = tensor;
    }
    o.group = o.family == PL_ASYNC_MBAR ? 0 : a->group[o.family];
    o.due = w->grid->has_timing_model ? PL_ASYNC_UNKNOWN : w->clock + TIMED_DELAY;
    a->at[a->n++] = o;
    return NULL;
}

void pl_async_commit(pl_warp *w, pl_async_family family)
{
    if (w->async) w->async->group[family]++;
}

/* Removes the operations marked with kind UINT8_MAX from the list. */
static void compact(struct pl_async *a)
{
    size_t keep = 0;
    for (size_t k = 0; k < a->n; k++)
        if (a->at[k].kind != UINT8_MAX) a->at[keep++] = a->at[k];
    a->n = keep;
}

/* Applies an operation, and marks it for removal by the next call of compact. */
static const char *apply_and_mark(pl_async_op *o)
{
    const char *wrong = apply(o);
    free_owned(o);
    o->kind = UINT8_MAX;
    return wrong;
}

/* Copies the source of a tile store, so that the tile may be overwritten. */
static void copy_tile_source(pl_async_op *o)
{
    uint32_t bytes = pl_tma_extent(o->tensor);
    if (o->owned_source || (o->owned_source = malloc(bytes)) == NULL) return;
    memcpy(o->owned_source, o->tensor->tile, bytes);
    o->tensor->tile = o->owned_source;
}

const char *pl_async_wait(pl_warp *w, pl_async_family family, uint32_t keep, bool reads_only)
{
    struct pl_async *a = w->async;
    const char *wrong = NULL;
    for (size_t k = 0; a && k < a->n; k++) {
        pl_async_op *o = &a->at[k];
        if (o->family != family || o->kind == PL_ASYNC_ARRIVE ||
            a->group[family] - o->group <= keep)
            continue;
        if (!reads_only)
            wrong = wrong ? wrong : apply_and_mark(o);
        else if (o->kind == PL_ASYNC_TENSOR)
            copy_tile_source(o);
        else if (!o->owned_source && o->from &&
                 (o->owned_source = malloc(o->bytes ? o->bytes : 1)) != NULL) {
            memcpy(o->owned_source, o->from, o->bytes);
            o->from = o->owned_source;
        }
    }
    if (a) compact(a);
    return wrong;
}

static const char *apply_on_poll(const pl_warp *poller, pl_warp *w, const uint8_t *bar)
{
    struct pl_async *a = w->async;
    const char *wrong = NULL;
    bool timed = w->grid->async_mode == PL_ASYNC_TIMED;
    for (size_t k = 0; a && k < a->n && !wrong; k++) {
        pl_async_op *o = &a->at[k];
        if (o->kind == UINT8_MAX || o->bar != bar) continue;
        if (timed && o->due > poller->clock && ++o->polls < TIMED_POLLS) continue;
        /* It waits for the preceding cp.async operations. */
        for (size_t j = 0; o->kind == PL_ASYNC_ARRIVE && j < k; j++)
            if (a->at[j].family == PL_ASYNC_GROUP && a->at[j].kind == PL_ASYNC_COPY)
                apply_and_mark(&a->at[j]);
        wrong = apply_and_mark(o);
    }
    if (a) compact(a);
    return wrong;
}

const char *pl_async_poll(pl_warp *w, const uint8_t *bar)
{
    if (w->grid->async_mode == PL_ASYNC_EAGER ||
        (w->grid->async_mode == PL_ASYNC_TIMED && w->grid->has_timing_model))
        return NULL;
    const char *wrong = NULL;
    pl_cluster *x = w->cta->cluster;
    for (uint32_t r = 0; r < (x ? x->size : 1) && !wrong; r++) {
        pl_cta *c = x ? x->cta[r] : w->cta;
        for (uint32_t k = 0; c && k < c->nwarps && !wrong; k++)
            wrong = apply_on_poll(w, &c->warp[k], bar);
    }
    return wrong;
}

void pl_async_tick(pl_warp *w)
{
    struct pl_async *a = w->async;
    if (!a || !a->n || w->grid->async_mode != PL_ASYNC_TIMED || w->grid->has_timing_model ||
        a->at[0].due > w->clock)
        return;
    const char *wrong = NULL;
    for (size_t k = 0; k < a->n && a->at[k].due <= w->clock; k++)
        wrong = wrong ? wrong : apply_and_mark(&a->at[k]);
    compact(a);
    if (wrong) pl_fault(w, pl_of_half(w, w->all), 0, "CUDA_ERROR_LAUNCH_FAILED", "%s", wrong);
}

bool pl_async_set_token(pl_warp *w, uint64_t token, uint64_t due)
{
    struct pl_async *a = w->async;
    bool any = false;
    for (size_t k = a ? a->n : 0;
         k > 0 && !a->at[k - 1].token && a->at[k - 1].due == PL_ASYNC_UNKNOWN; k--) {
        any = true;
        if (a->at[k - 1].kind == PL_ASYNC_ARRIVE) /* takes effect when the preceding copies have
                                                     completed */
            a->at[k - 1].due = 0;
        else if (token)
            a->at[k - 1].token = token;
        else
            a->at[k - 1].due = due;
    }
    return any;
}

void pl_async_done(pl_warp *w, uint64_t token, uint64_t due)
{
    struct pl_async *a = w->async;
    for (size_t k = 0; a && k < a->n; k++)
        if (a->at[k].token == token) a->at[k].due = due;
}

uint64_t pl_async_apply_due(pl_warp *w, uint64_t clock)
{
    struct pl_async *a = w->async;
    const char *wrong = NULL;
    uint64_t next = PL_ASYNC_UNKNOWN;
    bool copies = false; /* cp.async operations that are still pending */
    for (size_t k = 0; a && k < a->n && !wrong; k++) {
        pl_async_op *o = &a->at[k];
        bool arrival = o->kind == PL_ASYNC_ARRIVE;
        if (o->due <= clock && !(arrival && copies)) {
            wrong = apply_and_mark(o);
            continue;
        }
        copies |= o->family == PL_ASYNC_GROUP && !arrival;
        if (!arrival && o->due < next) next = o->due;
    }
    if (a) compact(a);
    if (wrong) pl_fault(w, pl_alive(w), 0, "CUDA_ERROR_LAUNCH_FAILED", "%s", wrong);
    return next;
}

void pl_async_finish(pl_cta *c)
{
    for (uint32_t k = 0; k < c->nwarps; k++) {
        struct pl_async *a = c->warp[k].async;
        for (size_t n = 0; a && n < a->n; n++)
            if (a->at[n].kind != UINT8_MAX) apply_and_mark(&a->at[n]);
        if (a) a->n = 0;
    }
}
