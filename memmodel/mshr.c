/* mshr.c - miss status holding registers; see mshr.h. */
#include "memmodel/mshr.h"
#include "memmodel/request.h"
#include <assert.h>

uint64_t pl_mshr_bytes(uint32_t n, uint32_t targets)
{
    return (uint64_t)(n + PL_L1_BURST) * sizeof(pl_mshr) +
           (uint64_t)(targets + PL_L1_BURST) * sizeof(pl_mshr_target);
}

void pl_mshr_init(pl_mshr_file *f, pl_arena *sparse, uint32_t n, uint32_t targets)
{
    *f = (pl_mshr_file){.burst = PL_L1_BURST,
                        .n = n + PL_L1_BURST,
                        .ntarget = targets + PL_L1_BURST,
                        .free = PL_NO_MSHR,
                        .free_target = PL_NO_MSHR};
    f->at = pl_arena_array(sparse, pl_mshr, f->n);
    f->target = pl_arena_array(sparse, pl_mshr_target, f->ntarget);
}

uint32_t pl_mshr_new(pl_mshr_file *f, uint64_t line, uint32_t slot, uint8_t sectors)
{
    const uint32_t k = f->free != PL_NO_MSHR ? f->free : f->first_unused++;
    assert(k < f->n && "pl_mshr_available was checked before the access");
    if (k == f->free) f->free = f->at[k].next;
    f->used++;
    f->sectors_pending += pl_sector_count(sectors);
    f->at[k] = (pl_mshr){
        .line = line, .targets = PL_NO_MSHR, .next = PL_NO_MSHR, .slot = slot, .sectors = sectors};
    return k;
}

void pl_mshr_add_target(pl_mshr_file *f, pl_mshr *m, uint32_t token)
{
    const uint32_t k = f->free_target != PL_NO_MSHR ? f->free_target : f->first_unused_target++;
    assert(k < f->ntarget && "pl_mshr_available was checked before the access");
    if (k == f->free_target) f->free_target = f->target[k].next;
    f->used_target++;
    f->target[k] = (pl_mshr_target){.token = token, .next = m->targets};
    m->targets = k;
}

void pl_mshr_complete(pl_mshr_file *f, uint32_t k, void (*done)(void *ctx, uint32_t token),
                      void *ctx)
{
    pl_mshr *m = &f->at[k];
    uint32_t t = m->targets;
    m->next = f->free;
    f->free = k;
    f->used--;
    f->sectors_pending -= pl_sector_count(m->sectors);
    while (t != PL_NO_MSHR) {
        const uint32_t next = f->target[t].next, token = f->target[t].token;
        f->target[t].next = f->free_target;
        f->free_target = t;
        f->used_target--;
        done(ctx, token);
        t = next;
    }
}
