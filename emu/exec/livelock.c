/* livelock.c - detects that a block that only polls returns to an earlier state.
 *
 * Then it returns to this state repeatedly unless another block changes memory: the further
 * execution of its threads depends only on their registers and on memory. A loop that counts its
 * iterations is in another state each time. States are compared by a 64-bit hash. The reference
 * state is replaced after 1, 2, 4 ... rounds (Brent's cycle detection), so that cycles of any
 * length are detected. */
#include "emu/exec/exec.h"
#include "emu/exec/functional.h"

enum { MAX_LOCAL_BYTES = 1 << 16 }; /* maximum bytes of a warp's local memory that are compared */

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

static uint64_t mix_words(uint64_t h, const uint32_t *word, size_t n)
{
    for (size_t k = 0; k < n; k++) h = mix(h, word[k]);
    return h;
}

static uint64_t mix_split(uint64_t h, const pl_simt_split *s)
{
    h = mix(h, s->mask);
    h = mix(h, (uint64_t)s->pc << 32 | (uint32_t)s->frame << 16 | s->call);
    return mix(h, (uint64_t)s->wait << 16 | (uint64_t)s->barrier << 8 | (uint64_t)s->synced << 1 |
                      (uint64_t)s->cluster_arrived);
}

/* False: the further execution of the warp depends on other state, such as the time. */
static bool mix_warp(const pl_warp *w, uint64_t *h)
{
    const uint64_t local = (uint64_t)w->local_bytes * PL_LANES * w->halves;
    if (w->state == PL_WARP_DONE) return true;
    if (w->state == PL_WARP_SLEEP || w->async || w->uses_clock || w->used_clock ||
        local > MAX_LOCAL_BYTES)
        return false;
    *h = mix(*h, (uint64_t)w->index << 32 | (uint64_t)w->nsplits << 16 | w->current);
    *h = mix(*h, w->exited);
    *h = mix(*h, (uint64_t)w->pc << 32 | w->carry);
    for (unsigned k = 0; k < w->nsplits; k++) *h = mix_split(*h, &w->split[k]);
    *h = mix_words(*h, w->other_carry, PL_MAX_HALVES);
    *h = mix_words(*h, w->register_file, (size_t)w->file_rows * PL_LANES * w->halves);
    *h = mix_words(*h, w->predicate_file, (size_t)w->pred_rows * w->halves);
    for (uint64_t k = 0; k < local; k++) *h = mix(*h, w->local[k]);
    return true;
}

bool pl_cta_recurs(pl_cta *c)
{
    const uint64_t advances = c->grid->head->advances;
    uint64_t state = 1;
    for (uint32_t k = 0; k < c->nwarps; k++)
        if (!mix_warp(&c->warp[k], &state)) {
            c->recurrence.limit = 0;
            return false;
        }
    if (!c->recurrence.limit || c->recurrence.advances != advances) {
        c->recurrence.recurs = false;
        c->recurrence.limit = 1;
    } else {
        c->recurrence.recurs |= state == c->recurrence.state;
        if (++c->recurrence.rounds < c->recurrence.limit) return c->recurrence.recurs;
        c->recurrence.limit *= 2;
    }
    c->recurrence.state = state;
    c->recurrence.advances = advances;
    c->recurrence.rounds = 0;
    return c->recurrence.recurs;
}
