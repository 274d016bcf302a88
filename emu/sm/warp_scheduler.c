/* warp_scheduler.c - selects the warp of a sub-core that issues in a cycle.
 *
 * Each sub-core issues in order within a warp, one instruction per cycle. A warp's next issue cycle
 * is known as soon as it has issued (scoreboard.c); otherwise it is unknown, and the awaited event
 * wakes the warp. */
#include "emu/sm/math_pipes.h"

/* The first cycle from `now` on at which pipes and queues can accept instruction d. */
static uint64_t structural_hazard(const pl_sm *s, const pl_subcore *c, const pl_decoded_insn *d,
                                  uint32_t warp, uint64_t now, uint8_t *reason)
{
    uint64_t at = pl_math_pipes_free(s, c, d, warp, now, reason);
    if (!d->price->variable && !d->metric.ldc) return at;
    const uint64_t accepted = pl_lsu_accepts(s, c, d, now);
    if (accepted > at) {
        at = accepted;
        *reason = pl_decoded_is_lg(d) ? PL_STALL_LG_THROTTLE : PL_STALL_MIO_THROTTLE;
    }
    return at;
}

/* The cycle at which the constant operand of the warp's next instruction is available; PL_NEVER:
 * the reply wakes the warp. */
static uint64_t constant_operand_ready(pl_sm *s, pl_sm_warp *t, uint64_t now)
{
    uint64_t at = pl_const_operand_ready(s, PL_CONST_BASE + t->next->constant - 1, now);
    if (at > now) t->structural_reason = PL_STALL_IMC_MISS;
    if (at == PL_NEVER) t->wait = PL_WAIT_CONSTANT;
    return at;
}

/* True if the selected warp is about to execute an instruction for which the SM has to wait, and
 * the SM stops instead. */
static bool must_stop(pl_sm *s, const pl_sm_warp *t)
{
    if (s->turn.reached || !s->may_stop || !t->next->ordered ||
        (t->next->releases && !t->release_fence_done))
        return false;
    return !pl_team_turn_reached(&s->turn);
}

/* The remainder of a sub-core's cycle after the selection of a warp; `picked`: a warp was
 * selected. */
void pl_warp_scheduler_end(pl_sm *s, pl_subcore *c, bool picked, uint64_t now)
{
    if (picked) {
        c->active++;
        pl_issue(s, c, c->last * s->nsub + (uint32_t)(c - s->sub), now);
    }
    const uint64_t soonest = c->issue_free > now ? c->issue_free : now + 1;
    uint64_t next = PL_NEVER;
    for (uint32_t p = 0; p < c->n && next > soonest; p++) {
        if (c->ready[p] < next) next = c->ready[p];
    }
    c->next = next > soonest ? next : soonest;
}

/* Priority of a ready warp at position `p` of its sub-core. The warps of a block advance together:
 * 32 warps of one block each take as long as all of them together, those of four blocks two thirds
 * of that (start.tsv). */
static inline uint64_t priority(const pl_sm *s, const pl_subcore *c, const pl_sm_warp *t,
                                uint32_t p)
{
    switch (s->m->issue.policy) {
    case PL_POLICY_YOUNGEST: return t->age;
    case PL_POLICY_OLDEST: return UINT32_MAX - t->age;
    case PL_POLICY_ROUND_ROBIN: return (c->last + c->n - p - 1) % c->n;
    default: return (uint64_t)t->cta->age << 32 | (UINT32_MAX - (uint32_t)t->issued);
    }
}

/* The arbiter: the ready position with the highest priority; UINT32_MAX: none is ready. */
static inline uint32_t arbitrate(const pl_sm *s, const pl_subcore *c, uint32_t sub, uint64_t now)
{
    uint32_t best = UINT32_MAX;
    uint64_t highest = 0;
    for (uint32_t p = 0; p < c->n; p++) {
        if (c->ready[p] > now) continue;
        const uint64_t rank = priority(s, c, &s->warp[p * s->nsub + sub], p);
        if (best == UINT32_MAX || rank > highest) {
            best = p;
            highest = rank;
        }
    }
    return best;
}

/* One sub-core, one cycle: selects a warp and issues its instruction, or records the next cycle
 * with an event. False: it has selected one, and stops. */
bool pl_warp_scheduler_cycle(pl_sm *s, pl_subcore *c, uint64_t now)
{
    if (now < c->issue_free) {
        c->next = c->issue_free;
        return true;
    }
    bool picked = false;
    uint32_t sub = (uint32_t)(c - s->sub), tries = 0;
    for (;;) {
        const uint32_t best =
            c->ready[c->last] <= now && tries == 0 ? c->last : arbitrate(s, c, sub, now);
        if (best == UINT32_MAX) break;
        tries++;
        pl_sm_warp *t = &s->warp[best * s->nsub + sub];
        if (!t->next) { /* asleep: check whether its time has come */
            pl_warp_advance(s, t, now);
            if (c->ready[best] <= now && !t->next) c->ready[best] = now + 1;
            continue;
        }
        uint64_t at =
            structural_hazard(s, c, t->next, best * s->nsub + sub, now, &t->structural_reason);
        if (at <= now && t->next->constant) at = constant_operand_ready(s, t, now);
        if (at > now) {
            c->ready[best] = at;
            continue;
        }
        c->last = best;
        if (must_stop(s, t)) return false;
        picked = true;
        break;
    }
    pl_warp_scheduler_end(s, c, picked, now);
    return true;
}
