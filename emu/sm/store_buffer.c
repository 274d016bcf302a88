/* store_buffer.c - the store buffer: outgoing stores of the SM, merged after the L1.
 *
 * A store stays in the L1 for a short time (l1.store_buffer_hold). A later store to the same line
 * whose tag lookup occurs within that time is merged with it, regardless of the warp, and extends
 * the time for both. (l1tex__m_l1tex2xbar_write_sectors of transpose_naive_row_b16, whose warps
 * fill each other's sectors: nine tenths of what it stores.) Four stores that fill a sector word by
 * word reach the L2 as one (sgemm_reg: a quarter).
 *
 * A store to local memory is in the L1 as well, and words of a partially written sector can be
 * loaded (paths.tsv spread: lanes two rows and more apart). But if merged stores write different
 * words of a sector and leave it incomplete, it is not in the L1 afterwards. As many sectors of
 * alloca_local are fetched from the L2 as its stores have in common. If lanes are one row apart
 * (spread 1), each load waits for the L2. Bytes of the same words have no such effect
 * (stack_of_fields_in_structures: 8,784 sectors joined, 203 fetched). */
#include "emu/sm/units.h"

static void drain_entry(pl_sm *s, pl_mem_req *r)
{
    s->stat.l1_write_sectors += pl_sector_count(r->sectors);
    pl_sm_request(s, *r);
    r->sectors = 0;
}

/* Sectors of a line of local memory that are not filled by the words of these lanes. */
static uint8_t incomplete(const pl_l1_config *m, uint32_t lanes)
{
    const unsigned words = (unsigned)m->sector / 4;
    uint8_t sectors = 0;
    for (unsigned first = 0; first < PL_LANES; first += words)
        for (unsigned l = first; l < first + words && l < PL_LANES; l++)
            if (!(lanes >> l & 1)) sectors |= (uint8_t)(1u << first / words);
    return sectors;
}

/* Sectors of a line of local memory that contain the words of these lanes. */
static uint8_t touched(const pl_l1_config *m, uint32_t lanes)
{
    const unsigned words = (unsigned)m->sector / 4;
    uint8_t sectors = 0;
    for (; lanes; lanes &= lanes - 1)
        sectors |= (uint8_t)(1u << (unsigned)__builtin_ctz(lanes) / words);
    return sectors;
}

/* Returns true if a store whose tags are looked up at `start` was merged with an existing one.
 * lanes: those whose words of local memory it writes, else none. */
bool pl_store_buffer_merge(pl_sm *s, const pl_mem_req *r, uint64_t start, uint32_t lanes)
{
    for (uint32_t k = 0; k < s->m->l1.store_buffer_lines; k++) {
        pl_mem_req *w = &s->store_buffer[k];
        if (!w->sectors || w->line != r->line || w->time <= start) continue;
        uint32_t max_words = (uint32_t)s->m->l1.line / 4, sum = (uint32_t)w->bytes + r->bytes;
        w->sectors |= r->sectors;
        w->bytes = (uint8_t)(sum > max_words ? max_words : sum);
        if (w->time < r->time) w->time = r->time;
        if (s->store_buffer_until < r->time) s->store_buffer_until = r->time;
        const uint32_t more = lanes & ~s->store_lanes[k];
        s->store_lanes[k] |= lanes;
        if (more)
            pl_l1_invalidate_sectors(&s->l1, r->line,
                                     touched(&s->m->l1, more) &
                                         incomplete(&s->m->l1, s->store_lanes[k]));
        return true;
    }
    return false;
}

/* Inserts a store that waits for others; if there are too many, the oldest leaves. (coalescing.tsv:
 * 28 lines of a warp's stores wait for the next ones, 29 do not. paths.tsv rows: four warps that
 * store to 16 lines each merge nothing. joins.tsv: for bytes and halves it is 12 to 14 lines.) */
void pl_store_buffer_insert(pl_sm *s, const pl_mem_req *r, uint32_t lanes, uint32_t entries)
{
    uint32_t at = 0;
    for (uint32_t k = 0; k < entries; k++) {
        at = s->store_buffer_at++ % s->m->l1.store_buffer_lines;
        if (s->store_buffer[at].sectors) drain_entry(s, &s->store_buffer[at]);
    }
    s->store_buffer[at] = *r;
    s->store_lanes[at] = lanes;
    s->store_buffer_until = r->time > s->store_buffer_until ? r->time : s->store_buffer_until;
}

void pl_store_buffer_drain(pl_sm *s, uint64_t until)
{
    if (s->store_buffer_until == 0) return;
    uint64_t latest = 0;
    for (uint32_t k = 0; k < s->m->l1.store_buffer_lines; k++) {
        pl_mem_req *w = &s->store_buffer[k];
        if (w->sectors && w->time < until) drain_entry(s, w);
        if (w->sectors && w->time > latest) latest = w->time;
    }
    s->store_buffer_until = latest;
}
