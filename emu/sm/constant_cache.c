/* constant_cache.c - the constant caches of an SM: one for instruction operands, one for indexed
 * constants, a larger second level (L1.5), and the lines of the driver's constant bank.
 *
 * Each stores, in addition to its tags, the cycle at which a line is available: PL_NEVER until the
 * L2 replies. */
#include "emu/sm/units.h"

bool pl_const_l15_init(pl_const_l15 *c, pl_arena *large, const pl_machine *m)
{
    pl_cache_init_group(&c->tags, m->sm.count, large, m->constant.l15_size,
                        (uint32_t)m->constant.line, m->constant.l15_ways, false);
    c->available_at = pl_arena_array(large, uint64_t, pl_cache_indices(&c->tags));
    return pl_arena_ok(large);
}

void pl_const_init(pl_sm *s, pl_arena *a, const pl_const_l15 *shared)
{
    const pl_const_config *c = &s->m->constant;
    pl_cache_init(&s->const_indexed, a, a, c->size, (uint32_t)c->line, c->ways, false);
    pl_cache_init(&s->const_operand, a, a, c->size, (uint32_t)c->line, c->ways, false);
    s->const_l15 =
        pl_cache_member(&shared->tags, s->id, pl_arena_array(a, bool, shared->tags.sets));
    s->const_l15_available_at = shared->available_at + (s->const_l15.line - shared->tags.line);
    s->const_available_at = pl_arena_array(a, uint64_t, pl_cache_indices(&s->const_indexed));
    s->operand_available_at = pl_arena_array(a, uint64_t, pl_cache_indices(&s->const_operand));
}

/* Requests line `l15` of the second level. */
static void fetch_constants(pl_sm *s, uint32_t l15, uint64_t line, uint64_t now)
{
    s->const_l15.line[l15].pending = 1;
    s->const_l15_available_at[l15] = PL_NEVER;
    pl_sm_request_read_only(s, line, s->m->constant.line, PL_CL_CONST,
                            now + s->m->constant.l15_latency / 2);
}

/* The cycle at which a line is available in a first-level constant cache; PL_NEVER while it is
 * fetched from the L2. *missed: it was not present. */
static uint64_t constant_line(pl_sm *s, pl_cache *first, uint64_t *available_at, uint64_t line,
                              uint64_t now, bool *missed)
{
    const pl_const_config *c = &s->m->constant;
    bool missed_l15;
    uint32_t k = pl_cache_find_or_claim(first, line, missed);
    if (!*missed && k != PL_NO_LINE && available_at[k] != PL_NEVER) return available_at[k];
    uint32_t l15 = pl_cache_find_or_claim(&s->const_l15, line, &missed_l15);
    if (l15 != PL_NO_LINE && !missed_l15 && s->const_l15_available_at[l15] != PL_NEVER) {
        uint64_t at =
            (s->const_l15_available_at[l15] > now ? s->const_l15_available_at[l15] : now) +
            c->l15_latency - c->latency;
        if (k != PL_NO_LINE) {
            available_at[k] = at;
            first->line[k].pending = 0;
        }
        return at;
    }
    if (k != PL_NO_LINE) {
        available_at[k] = PL_NEVER;
        first->line[k].pending = 1;
    }
    if (l15 == PL_NO_LINE) return now + c->l15_latency;
    if (missed_l15) fetch_constants(s, l15, line, now);
    return PL_NEVER;
}

uint64_t pl_const_load(pl_sm *s, uint64_t address, uint32_t token, uint64_t now)
{
    uint64_t line = address & ~(s->m->constant.line - 1);
    bool missed;
    uint64_t at = constant_line(s, &s->const_indexed, s->const_available_at, line, now, &missed);
    if (missed) s->stat.const_misses++;
    if (at != PL_NEVER) return at > now ? at : now;
    if (s->nconst_wait == PL_CONST_WAITS) return now + s->m->constant.l15_latency;
    s->const_wait[s->nconst_wait].line = line;
    s->const_wait[s->nconst_wait].token = token;
    s->nconst_wait++;
    return PL_NEVER;
}

uint64_t pl_const_operand_ready(pl_sm *s, uint64_t address, uint64_t now)
{
    const uint64_t size = s->m->constant.line, line = address & ~(size - 1),
                   first = address & ~(s->m->constant.l15_line - 1);
    bool missed;
    uint64_t at = constant_line(s, &s->const_operand, s->operand_available_at, line, now, &missed);
    /* a fetch from the L2 also fetches the neighbouring lines */
    for (uint64_t a = first; missed && at == PL_NEVER && a < first + s->m->constant.l15_line;
         a += size) {
        uint32_t l15 = pl_cache_find_or_claim(&s->const_l15, a, &missed);
        if (missed && l15 != PL_NO_LINE) fetch_constants(s, l15, a, now);
        missed = true;
    }
    return at;
}

/* A line awaited by a first-level cache is available from cycle `at` on. */
static void arrive(pl_cache *first, uint64_t *available_at, uint64_t line, uint64_t at)
{
    uint32_t k = pl_cache_find(first, line);
    if (k == PL_NO_LINE || available_at[k] != PL_NEVER) return;
    available_at[k] = at;
    first->line[k].pending = 0;
}

void pl_const_reply(pl_sm *s, uint64_t first, uint64_t now)
{
    const pl_const_config *c = &s->m->constant;
    for (uint64_t line = first; line < first + s->m->l1.line; line += c->line) {
        uint32_t l15 = pl_cache_find(&s->const_l15, line);
        if (l15 == PL_NO_LINE || s->const_l15_available_at[l15] != PL_NEVER) continue;
        uint64_t at = now + c->l15_latency / 2;
        s->const_l15_available_at[l15] = at;
        s->const_l15.line[l15].pending = 0;
        arrive(&s->const_indexed, s->const_available_at, line, at);
        arrive(&s->const_operand, s->operand_available_at, line, at);
        for (uint32_t i = 0; i < s->nconst_wait;) {
            if (s->const_wait[i].line != line) {
                i++;
                continue;
            }
            uint32_t token = s->const_wait[i].token;
            s->const_wait[i] = s->const_wait[--s->nconst_wait];
            if (pl_inflight_arrive(&s->inflight.at[token], at))
                pl_inflight_complete(&s->inflight, token, s->inflight.at[token].earliest_ready);
        }
    }
}

/* The entry that holds the cycle at which a line of the constant bank is available. */
static uint64_t *bank_line(uint64_t *available_at, const pl_sm *s, const pl_decoded_insn *d)
{
    return &available_at[d->bank_at / s->m->constant.line % PL_BANK_LINES];
}

/* An instruction reads a word of the constant bank directly, or loads it into a register. A
 * sub-core fetches each line once, sequentially for a warp. The line comes from a cache near the SM
 * that is filled at launch, unless LDC has loaded it into the SM by then. Returns the cycle at
 * which the word is available. */
uint64_t pl_const_bank_ready(pl_sm *s, pl_sm_warp *t, const pl_decoded_insn *d, uint64_t now)
{
    uint64_t *available_at =
        bank_line(pl_subcore_of(s, pl_warp_index(s, t))->bank_available_at, s, d);
    pl_scoreboard *sb = &t->sb[PL_SB_BANK_WAIT];
    const uint64_t from = now > sb->ready ? now : sb->ready,
                   loaded = *bank_line(s->loaded_available_at, s, d);
    if (!*available_at && ((loaded && loaded <= now) || !s->m->constant.first_use))
        *available_at = now;
    if (!*available_at)
        *available_at = pl_sm_shared_port(s, &s->unit[PL_UNIT_CONSTANT].port,
                                          s->m->constant.first_use_interval, from) +
                        s->m->constant.first_use;
    if (*available_at > sb->ready) sb->ready = *available_at;
    sb->kind = PL_SB_BANK;
    return *available_at;
}

/* The cycle at which LDC has written such a value to a register: the first one of each line fetches
 * it. */
static uint64_t loaded_constant(pl_sm *s, const pl_decoded_insn *d, uint64_t now)
{
    uint64_t *available_at = bank_line(s->loaded_available_at, s, d);
    const uint64_t ready =
        now + (d->guarded ? s->m->constant.predicated_latency : s->m->constant.latency);
    if (!*available_at)
        *available_at = pl_sm_shared_port(s, &s->unit[PL_UNIT_CONSTANT].port,
                                          s->m->constant.first_use_interval, now) +
                        s->m->constant.l15_latency;
    s->stat.const_misses += *available_at > now;
    return *available_at > ready ? *available_at : ready;
}

void pl_constant_issue(pl_issue_slot *x)
{
    pl_sm *s = x->s;
    if (x->d->metric.ldc) {
        x->c->mio[x->c->mio_at++ % s->m->issue.mio_queue] = x->start;
        pl_scoreboard_result(x->t, x->d, loaded_constant(s, x->d, x->start), PL_SB_SHORT);
    } else if (x->d->bank) {
        /* It has the line before it issues: here the warp continues when that is available. */
        x->t->not_before = pl_const_bank_ready(s, x->t, x->d, x->now);
        x->t->not_before_reason = PL_STALL_IMC_MISS;
    }
}
