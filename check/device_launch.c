/* device_launch.c - grids that device code launches: what happens before their threads.
 *
 * They run after their parent, whose accesses remain in the shadow memory. A grid begins with the
 * vector clock that its launching thread had. In the stream of a block, or in one stream of device
 * code, it also follows the grids before it, with all that these have launched. In the tail stream
 * it follows all of its parent (CUDA C++ Programming Guide, "Dynamic Parallelism"). */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "check/internal.h"
#include "emu/exec/runtime/syscall.h"

uint32_t pl_device_launch_add(pl_check *k, const pl_warp *w, uint64_t stream,
                              pl_vector_clock *clock)
{
    enum { PER_THREAD = 2 }; /* cudaStreamPerThread; 0 and cudaStreamLegacy (1) are the block's */
    struct device_launches *f = &k->launches;
    if (f->n == f->cap && !pl_array_grow(&f->at, &f->cap, sizeof *f->at)) {
        k->no_memory = true;
        pl_vector_clock_unref(clock);
        return 0;
    }
    f->at[f->n] = (device_launch){.clock = clock,
                                  .stream = stream <= PER_THREAD ? 0 : stream,
                                  .parent = w->grid->first_block,
                                  .block = block_of(w->cta)->number};
    return (uint32_t)++f->n;
}

static void add_completed(pl_check *k, uint64_t from, uint64_t to)
{
    struct device_launches *f = &k->launches;
    if (f->completed.n == f->completed.cap &&
        !pl_array_grow(&f->completed.at, &f->completed.cap, sizeof *f->completed.at)) {
        k->no_memory = true;
        return;
    }
    f->completed.at[f->completed.n++] = (struct block_range){from, to};
}

static bool same_stream(const device_launch *a, const device_launch *b)
{
    return a->parent == b->parent && a->stream == b->stream &&
           a->stream != PL_FIRE_AND_FORGET_LAUNCH && (a->stream || a->block == b->block);
}

/* The first block after the grid and all that it has launched: these run before its siblings. */
static uint64_t end_of(const pl_check *k, const device_launch *x, uint64_t now)
{
    uint64_t end = now;
    for (size_t n = 0; n < k->launches.n; n++) {
        const device_launch *y = &k->launches.at[n];
        if (y->has_run && y->parent == x->parent && y->first > x->first && y->first < end)
            end = y->first;
    }
    return end;
}

void pl_device_launch_begins(pl_check *k, const pl_grid *g)
{
    struct device_launches *f = &k->launches;
    device_launch *x = g->ticket && g->ticket <= f->n ? &f->at[g->ticket - 1] : NULL;
    f->completed.n = 0;
    f->clock = x ? x->clock : NULL;
    if (!x) return;
    x->first = g->first_block;
    if (x->stream == PL_TAIL_LAUNCH) add_completed(k, x->parent, x->first);
    for (size_t n = 0; n < f->n; n++) {
        const device_launch *y = &f->at[n];
        if (y->has_run && same_stream(x, y)) add_completed(k, y->first, end_of(k, y, x->first));
    }
    x->has_run = true;
}

bool pl_device_launch_completed(const pl_check *k, uint32_t block)
{
    for (size_t n = 0; n < k->launches.completed.n; n++) {
        const struct block_range *r = &k->launches.completed.at[n];
        if (block >= r->from && block < r->to) return true;
    }
    return false;
}

void pl_device_launches_end(pl_check *k)
{
    struct device_launches *f = &k->launches;
    for (size_t n = 0; n < f->n; n++) pl_vector_clock_unref(f->at[n].clock);
    free(f->at);
    free(f->completed.at);
    for (size_t n = 0; n < f->grids.n; n++) free(f->grids.at[n]);
    free(f->grids.at);
    *f = (struct device_launches){0};
}

void pl_device_launch_keep(pl_check *k, const pl_grid *g)
{
    struct device_launches *f = &k->launches;
    pl_grid *copy = malloc(sizeof *copy);
    const bool room = f->grids.n < f->grids.cap ||
                      pl_array_grow(&f->grids.at, &f->grids.cap, sizeof *f->grids.at);
    if (!copy || !room) {
        k->no_memory = true;
        free(copy);
        return;
    }
    *copy = *g;
    f->grids.at[f->grids.n++] = copy;
}

const pl_grid *pl_device_launch_grid(const pl_check *k, uint32_t block)
{
    const pl_grid *found = NULL;
    for (size_t n = 0; n < k->launches.grids.n; n++)
        if (block >= k->launches.grids.at[n]->first_block) found = k->launches.grids.at[n];
    return found;
}
