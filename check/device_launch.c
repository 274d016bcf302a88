/* device_launch.c - grids that device code launches: what happens before their threads.
 *
 * They run after their parent, whose accesses remain in the shadow memory. A grid begins with the
 * knowledge that its launching thread had. In the stream of a block, or in one stream of device
 * code, it also follows the grids before it, with all that these have launched. In the tail stream
 * it follows all of its parent (CUDA C++ Programming Guide, "Dynamic Parallelism"). */
#include <stdlib.h>
#include <string.h>

#include "check/internal.h"
#include "emu/exec/runtime/syscall.h"

uint32_t pl_device_launch_add(pl_check *k, const pl_warp *w, uint64_t stream, pl_knowledge *known)
{
    enum { PER_THREAD = 2 }; /* cudaStreamPerThread; 0 and cudaStreamLegacy (1) are the block's */
    struct device_launches *f = &k->launches;
    if (f->n == f->cap) {
        const uint32_t cap = f->cap ? 2 * f->cap : 16;
        device_launch *grown = realloc(f->at, cap * sizeof *grown);
        k->no_memory |= !grown;
        if (!grown) {
            pl_knowledge_drop(known);
            return 0;
        }
        f->at = grown;
        f->cap = cap;
    }
    f->at[f->n] = (device_launch){.known = known,
                                  .stream = stream <= PER_THREAD ? 0 : stream,
                                  .parent = w->grid->first_block,
                                  .block = block_of(w->cta)->number};
    return ++f->n;
}

static void add_completed(pl_check *k, uint64_t from, uint64_t to)
{
    struct device_launches *f = &k->launches;
    struct block_range *grown = realloc(f->completed, (f->ncompleted + 1) * sizeof *grown);
    k->no_memory |= !grown;
    if (!grown) return;
    f->completed = grown;
    f->completed[f->ncompleted++] = (struct block_range){from, to};
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
    for (uint32_t n = 0; n < k->launches.n; n++) {
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
    f->ncompleted = 0;
    f->known = x ? x->known : NULL;
    if (!x) return;
    x->first = g->first_block;
    if (x->stream == PL_TAIL_LAUNCH) add_completed(k, x->parent, x->first);
    for (uint32_t n = 0; n < f->n; n++) {
        const device_launch *y = &f->at[n];
        if (y->has_run && same_stream(x, y)) add_completed(k, y->first, end_of(k, y, x->first));
    }
    x->has_run = true;
}

bool pl_device_launch_completed(const pl_check *k, uint32_t block)
{
    for (uint32_t n = 0; n < k->launches.ncompleted; n++)
        if (block >= k->launches.completed[n].from && block < k->launches.completed[n].to)
            return true;
    return false;
}

void pl_device_launches_end(pl_check *k)
{
    struct device_launches *f = &k->launches;
    for (uint32_t n = 0; n < f->n; n++) pl_knowledge_drop(f->at[n].known);
    free(f->at);
    free(f->completed);
    for (uint32_t n = 0; n < f->ngrids; n++) free(f->grid[n]);
    free(f->grid);
    *f = (struct device_launches){0};
}

void pl_device_launch_keep(pl_check *k, const pl_grid *g)
{
    struct device_launches *f = &k->launches;
    pl_grid *copy = malloc(sizeof *copy),
            **grown = realloc(f->grid, (f->ngrids + 1) * sizeof *grown);
    if (grown) f->grid = grown;
    k->no_memory |= !copy || !grown;
    if (!copy || !grown) {
        free(copy);
        return;
    }
    *copy = *g;
    f->grid[f->ngrids++] = copy;
}

const pl_grid *pl_device_launch_grid(const pl_check *k, uint32_t block)
{
    const pl_grid *found = NULL;
    for (uint32_t n = 0; n < k->launches.ngrids; n++)
        if (block >= k->launches.grid[n]->first_block) found = k->launches.grid[n];
    return found;
}
