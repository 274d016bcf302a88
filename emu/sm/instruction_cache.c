/* instruction_cache.c - the instruction caches: an L0 in each sub-core, and one in the SM.
 *
 * Each stores, in addition to its tags, the cycle at which a line is available. A miss in the cache
 * of the SM goes to the L2; the line's cycle is PL_NEVER until the reply arrives. A miss also
 * requests the following lines. */
#include "emu/sm/units.h"

/* Initialises an instruction cache for a program of `bytes` bytes. */
void pl_icache_init(pl_icache *c, pl_arena *a, const pl_machine *m, uint64_t size, uint32_t ways,
                    uint64_t bytes)
{
    const uint64_t line = m->fetch.line, lines = (bytes + line - 1) / line;
    uint64_t all = size / line ? size / line : 1, each = ways == 0 || ways > all ? all : ways,
             sets = all / each;
    *c = (pl_icache){.shift = (uint32_t)__builtin_ctzll(line)};
    /* The lines are consecutive, and so fill all sets equally. */
    if (lines <= sets * each)
        c->lines = (uint32_t)lines;
    else
        pl_cache_init(&c->tags, a, a, size, (uint32_t)line, ways, false);
    c->available_at = pl_arena_array(a, uint64_t, c->lines ? c->lines : pl_cache_indices(&c->tags));
}

/* The entry that holds the cycle at which a line is available; *missed: it was not present, and is
 * claimed. NULL: no line is available. */
static uint64_t *code_line(pl_icache *c, uint64_t address, bool *missed, uint32_t *entry)
{
    if (c->lines) {
        uint64_t *available_at = &c->available_at[(address - PL_FETCH_BASE) >> c->shift];
        *missed = *available_at == 0;
        return available_at;
    }
    *entry = pl_cache_find_or_claim(&c->tags, address, missed);
    return *entry == PL_NO_LINE ? NULL : &c->available_at[*entry];
}

/* The cycle at which the SM's instruction cache has a line; requests it from the L2 on a miss. */
static uint64_t icache_read(pl_sm *s, uint64_t address, uint64_t now)
{
    bool missed;
    uint32_t k = 0;
    uint64_t *available_at = code_line(&s->icache, address, &missed, &k);
    if (!available_at) return PL_NEVER;
    if (missed) {
        s->stat.code_misses++;
        if (address - PL_FETCH_BASE - s->dec->at[s->g->entry->first].address < s->m->fetch.launch)
            return *available_at =
                       pl_sm_shared_port(s, &s->code_port, s->m->fetch.l2_near_interval, now) +
                       s->m->fetch.l2_near;
        if (!s->icache.lines) s->icache.tags.line[k].pending = 1;
        *available_at = PL_NEVER;
        pl_sm_request_read_only(s, address, s->m->fetch.line, PL_CL_CODE,
                                now + s->m->fetch.l0_latency / 2);
    }
    return *available_at;
}

/* The line's cycle in the L0; requests it on a miss. The L0 accepts lines sequentially. */
static uint64_t fill_l0(pl_sm *s, pl_subcore *c, uint64_t line, uint64_t now)
{
    bool missed;
    uint32_t k;
    uint64_t *available_at = code_line(&c->l0, line, &missed, &k);
    if (!available_at) return now;
    if (missed) {
        *available_at = PL_NEVER;
        s->stat.code_requests++; /* counted once, regardless of the number of lookups until it
                                    arrives */
    }
    if (*available_at == PL_NEVER) {
        uint64_t arrival = icache_read(s, line, now);
        if (arrival == PL_NEVER) return PL_NEVER;
        uint64_t start = arrival > now ? arrival : now;
        *available_at =
            pl_port_enter(&c->fill, start, (uint64_t)s->m->fetch.l0_fill * PL_SUBCYCLES) +
            s->m->fetch.l0_latency;
    }
    return *available_at;
}

uint64_t pl_icache_fetch(pl_sm *s, pl_subcore *c, uint64_t address, uint64_t now)
{
    uint64_t line = address & ~(s->m->fetch.line - 1), end = PL_FETCH_BASE + s->dec->bytes,
             size = s->m->fetch.line;
    uint64_t result = fill_l0(s, c, line, now);
    /* the prefetcher runs ahead: a few lines into the L0, more lines into the cache of the SM */
    for (uint32_t ahead = 1; ahead <= s->m->fetch.l0_prefetch && line + ahead * size < end; ahead++)
        fill_l0(s, c, line + ahead * size, now);
    uint64_t far = line + s->m->fetch.prefetch * size;
    bool waits = result == PL_NEVER || result > now;
    for (uint64_t a = waits ? line + size : far; a <= far && a < end; a += size)
        icache_read(s, a, now);
    return result > now ? result : now;
}

void pl_icache_reply(pl_sm *s, uint64_t line, uint64_t now)
{
    for (uint64_t a = line; a < line + s->m->l1.line; a += s->m->fetch.line) {
        pl_icache *c = &s->icache;
        const uint64_t number = (a - PL_FETCH_BASE) >> c->shift;
        const uint32_t k = !c->lines           ? pl_cache_find(&c->tags, a)
                           : number < c->lines ? (uint32_t)number
                                               : PL_NO_LINE;
        if (k == PL_NO_LINE || c->available_at[k] != PL_NEVER) continue;
        if (!c->lines) c->tags.line[k].pending = 0;
        c->available_at[k] = now;
    }
}
