/* fetch.c - instruction caches (one in each sub-core, one in the SM) and the constant caches of an
 * SM: one for operands of instructions, one for indexed constants, and a larger one behind them.
 *
 * Each keeps, beside its tags, the cycle at which a line is there. A miss in the larger cache goes
 * to the L2; the line's cycle is PL_NEVER until the reply comes. A miss also asks for the lines
 * that follow. */
#include "emu/sm/sm.h"

/* The line of a cache that holds an address, claimed when absent: *fresh tells. PL_NO_LINE when
 * there is no room. */
static uint32_t line_of(pl_cache *c, uint64_t address, bool *fresh)
{
    uint32_t k = pl_cache_find(c, address);
    *fresh = k == PL_NO_LINE;
    if (*fresh) {
        pl_cache_line old;
        k = pl_cache_claim(c, address, PL_RANK_NORMAL, &old);
    }
    return k;
}

static void ask(pl_sm *s, uint64_t address, uint64_t bytes, pl_mem_client client, uint64_t now)
{
    uint64_t line = address & ~(s->m->l1.line - 1);
    uint32_t first = (uint32_t)((address - line) / s->m->l1.sector),
             n = (uint32_t)((bytes + s->m->l1.sector - 1) / s->m->l1.sector);
    /* the driver has copied code and constants to the device just before: first reads take what an
     * L2 hit takes (metrics.tsv no_instruction, imc_miss) */
    pl_mem_req r = {.time = now,
                    .line = line,
                    .token = first,
                    .op = PL_MEM_READ,
                    .client = (uint8_t)client,
                    .held = true};
    r.sectors = (uint8_t)(((1u << n) - 1) << first);
    pl_sm_request(s, r);
}

/* Where a cache of instructions says when a line is there; *fresh: it was not, and is claimed.
 * NULL: there is no room. */
static uint64_t *code_line(pl_icache *c, uint64_t address, bool *fresh, uint32_t *entry)
{
    if (c->lines) {
        uint64_t *when = &c->when[(address - PL_FETCH_BASE) >> c->shift];
        *fresh = *when == 0;
        return when;
    }
    *entry = line_of(&c->tags, address, fresh);
    return *entry == PL_NO_LINE ? NULL : &c->when[*entry];
}

/* When the SM's instruction cache has a line; asks the L2 when it has not. */
static uint64_t from_icache(pl_sm *s, uint64_t address, uint64_t now)
{
    bool fresh;
    uint32_t k = 0;
    uint64_t *when = code_line(&s->icache, address, &fresh, &k);
    if (!when) return PL_NEVER;
    if (fresh) {
        s->stat.code_misses++;
        if (address - PL_FETCH_BASE - s->dec->at[s->g->entry->first].address < s->m->fetch.launch)
            return *when = pl_sm_shared_port(s, &s->code_port, s->m->fetch.near_turn, now) +
                           s->m->fetch.near;
        if (!s->icache.lines) s->icache.tags.line[k].pending = 1;
        *when = PL_NEVER;
        ask(s, address, s->m->fetch.line, PL_CL_CODE, now + s->m->fetch.l0_latency / 2);
    }
    return *when;
}

/* The line's cycle in the L0, asked for when it is not there. The L0 takes one line after the
 * other. */
static uint64_t into_l0(pl_sm *s, pl_subcore *c, uint64_t line, uint64_t now)
{
    bool fresh;
    uint32_t k;
    uint64_t *when = code_line(&c->l0, line, &fresh, &k);
    if (!when) return now;
    if (fresh) {
        *when = PL_NEVER;
        s->stat.code_requests++; /* once, however often it is looked for until it is there */
    }
    if (*when == PL_NEVER) {
        uint64_t there = from_icache(s, line, now);
        if (there == PL_NEVER) return PL_NEVER;
        uint64_t start = there > now ? there : now;
        *when = pl_port_enter(&c->fill, start, (uint64_t)s->m->fetch.l0_fill * PL_SUBCYCLES) +
                s->m->fetch.l0_latency;
    }
    return *when;
}

uint64_t pl_fetch(pl_sm *s, pl_subcore *c, uint64_t address, uint64_t now)
{
    uint64_t line = address & ~(s->m->fetch.line - 1), end = PL_FETCH_BASE + s->dec->bytes,
             size = s->m->fetch.line;
    uint64_t result = into_l0(s, c, line, now);
    /* the prefetcher runs ahead: a few lines into the L0, more of them into the cache of the SM */
    for (uint32_t ahead = 1; ahead <= s->m->fetch.l0_prefetch && line + ahead * size < end; ahead++)
        into_l0(s, c, line + ahead * size, now);
    uint64_t far = line + s->m->fetch.prefetch * size;
    bool waits = result == PL_NEVER || result > now;
    for (uint64_t a = waits ? line + size : far; a <= far && a < end; a += size)
        from_icache(s, a, now);
    return result > now ? result : now;
}

void pl_fetch_reply(pl_sm *s, uint64_t line, uint64_t now)
{
    for (uint64_t a = line; a < line + s->m->l1.line; a += s->m->fetch.line) {
        pl_icache *c = &s->icache;
        const uint64_t number = (a - PL_FETCH_BASE) >> c->shift;
        const uint32_t k = !c->lines           ? pl_cache_find(&c->tags, a)
                           : number < c->lines ? (uint32_t)number
                                               : PL_NO_LINE;
        if (k == PL_NO_LINE || c->when[k] != PL_NEVER) continue;
        if (!c->lines) c->tags.line[k].pending = 0;
        c->when[k] = now;
    }
    for (uint32_t i = 0; i < s->m->sm.warps; i++) {
        if (s->warp[i].w && s->warp[i].wait == PL_WAIT_FETCH) pl_sm_wake(s, i, now);
    }
}

/* Line `mid` of the cache behind the two of the first level is asked for. */
static void fetch_constants(pl_sm *s, uint32_t mid, uint64_t line, uint64_t now)
{
    s->const_l15.line[mid].pending = 1;
    s->const_l15_when[mid] = PL_NEVER;
    ask(s, line, s->m->constant.line, PL_CL_CONST, now + s->m->constant.mid_latency / 2);
}

/* When a line is in a first-level cache of constants; PL_NEVER while it comes from the L2. *fresh:
 * it was not there before. */
static uint64_t constant_line(pl_sm *s, pl_cache *first, uint64_t *when, uint64_t line,
                              uint64_t now, bool *fresh)
{
    const pl_const_config *c = &s->m->constant;
    bool fresh_mid;
    uint32_t k = line_of(first, line, fresh);
    if (!*fresh && k != PL_NO_LINE && when[k] != PL_NEVER) return when[k];
    uint32_t mid = line_of(&s->const_l15, line, &fresh_mid);
    if (mid != PL_NO_LINE && !fresh_mid && s->const_l15_when[mid] != PL_NEVER) {
        uint64_t at = (s->const_l15_when[mid] > now ? s->const_l15_when[mid] : now) +
                      c->mid_latency - c->latency;
        if (k != PL_NO_LINE) {
            when[k] = at;
            first->line[k].pending = 0;
        }
        return at;
    }
    if (k != PL_NO_LINE) {
        when[k] = PL_NEVER;
        first->line[k].pending = 1;
    }
    if (mid == PL_NO_LINE) return now + c->mid_latency;
    if (fresh_mid) fetch_constants(s, mid, line, now);
    return PL_NEVER;
}

uint64_t pl_const_load(pl_sm *s, uint64_t address, uint32_t token, uint64_t now)
{
    uint64_t line = address & ~(s->m->constant.line - 1);
    bool fresh;
    uint64_t at = constant_line(s, &s->const_indexed, s->const_when, line, now, &fresh);
    if (fresh) s->stat.const_misses++;
    if (at != PL_NEVER) return at > now ? at : now;
    if (s->nconst_wait == PL_CONST_WAITS) return now + s->m->constant.mid_latency;
    s->const_wait[s->nconst_wait].line = line;
    s->const_wait[s->nconst_wait].token = token;
    s->nconst_wait++;
    return PL_NEVER;
}

uint64_t pl_const_operand_ready(pl_sm *s, uint64_t address, uint64_t now)
{
    const uint64_t size = s->m->constant.line, line = address & ~(size - 1),
                   first = address & ~(s->m->constant.mid_line - 1);
    bool fresh;
    uint64_t at = constant_line(s, &s->const_operand, s->operand_when, line, now, &fresh);
    /* what comes from the L2 brings its neighbours with it */
    for (uint64_t a = first; fresh && at == PL_NEVER && a < first + s->m->constant.mid_line;
         a += size) {
        uint32_t mid = line_of(&s->const_l15, a, &fresh);
        if (fresh && mid != PL_NO_LINE) fetch_constants(s, mid, a, now);
        fresh = true;
    }
    return at;
}

/* A line that a first-level cache waits for is there from cycle `at`. */
static void arrive(pl_cache *first, uint64_t *when, uint64_t line, uint64_t at)
{
    uint32_t k = pl_cache_find(first, line);
    if (k == PL_NO_LINE || when[k] != PL_NEVER) return;
    when[k] = at;
    first->line[k].pending = 0;
}

void pl_const_reply(pl_sm *s, uint64_t first, uint64_t now)
{
    const pl_const_config *c = &s->m->constant;
    for (uint64_t line = first; line < first + s->m->l1.line; line += c->line) {
        uint32_t mid = pl_cache_find(&s->const_l15, line);
        if (mid == PL_NO_LINE || s->const_l15_when[mid] != PL_NEVER) continue;
        uint64_t at = now + c->mid_latency / 2;
        s->const_l15_when[mid] = at;
        s->const_l15.line[mid].pending = 0;
        arrive(&s->const_indexed, s->const_when, line, at);
        arrive(&s->const_operand, s->operand_when, line, at);
        for (uint32_t i = 0; i < s->nconst_wait;) {
            if (s->const_wait[i].line != line) {
                i++;
                continue;
            }
            uint32_t token = s->const_wait[i].token;
            s->const_wait[i] = s->const_wait[--s->nconst_wait];
            pl_inflight_done(s, token, at);
        }
    }
    for (uint32_t i = 0; i < s->m->sm.warps; i++) {
        if (s->warp[i].w && s->warp[i].wait == PL_WAIT_CONSTANT) pl_sm_wake(s, i, now);
    }
}
