/* stall_accounting.h - stall reasons: attributes the cycles between two issues of a warp to
 * reasons, named as in Nsight Compute. */
#ifndef PL_EMU_SM_STALL_ACCOUNTING_H
#define PL_EMU_SM_STALL_ACCOUNTING_H

#include "emu/sm/units.h"

/* Adds cycles to a stall reason. */
static inline void pl_stall_add(const pl_issue_slot *x, unsigned reason, uint64_t cycles)
{
    x->s->stat.stall[reason] += cycles;
    if (x->st) x->st->stall[reason] += cycles;
}

/* Cycles until dependences and control flow let the warp issue, at `known`: first those of the
 * stall count, then the later ones. */
static inline void pl_stall_account_dependences(pl_issue_slot *x, uint64_t from, uint64_t known)
{
    const pl_sm_warp *t = x->t;
    const uint8_t reason = t->deps_ready >= t->not_before ? t->dep_reason : t->not_before_reason;
    uint64_t fixed = t->stall < known ? t->stall : known;
    fixed = fixed > from ? fixed - from : 0;
    const uint64_t rest = known - from - fixed;
    const uint64_t fetch = reason != PL_STALL_BRANCH  ? 0
                           : t->refetch_cycles < rest ? t->refetch_cycles
                                                      : rest;
    pl_stall_add(x, PL_STALL_WAIT, fixed);
    pl_stall_add(x, PL_STALL_NO_INSTRUCTION, fetch);
    pl_stall_add(x, reason, rest - fetch);
    x->reason = 2 * fixed > known - from ? PL_STALL_WAIT : reason;
}

/* Adds the stall cycles of the warp since its last issue to the counters of the SM and of the
 * instruction. `structural`: pl_stall of the last unit that was busy. */
static inline void pl_stall_account(pl_issue_slot *x, uint8_t structural)
{
    const pl_sm_warp *t = x->t;
    const uint64_t from = t->issued + 1, now = x->now;
    uint64_t known = t->deps_ready > t->not_before ? t->deps_ready : t->not_before;
    if (known > now) known = now;
    x->reason = PL_STALL_NONE;
    if (known > from)
        pl_stall_account_dependences(x, from, known);
    else
        known = from;
    if (now > known) { /* first units, then other warps */
        pl_stall_add(x, structural, now - known);
        if (structural == PL_STALL_NOT_SELECTED) x->c->not_selected_cycles += now - known;
        if (x->reason == PL_STALL_NONE || now - known > known - from) x->reason = structural;
    }
    x->waited = now > from ? now - from : 0;
}

/* The same for the fence before a releasing access. */
static inline void pl_stall_account_fence(pl_sm *s, const pl_sm_warp *t, uint64_t now)
{
    const uint64_t from = t->issued + 1,
                   known = t->deps_ready > t->not_before ? t->deps_ready : t->not_before;
    const uint8_t reason = t->deps_ready >= t->not_before ? t->dep_reason : t->not_before_reason;
    s->stat.stall[reason] += known > from && now > from ? (known < now ? known : now) - from : 0;
}

/* Cycles from the exit of the warp until it has left the SM. */
static inline void pl_stall_account_exit(const pl_issue_slot *x)
{
    const pl_sm *s = x->s;
    const uint64_t resolved = pl_warp_exit_resolved(s),
                   wait = s->m->issue.branch <= resolved ? s->m->issue.branch - 1 : resolved;
    pl_stall_add(x, PL_STALL_WAIT, wait);
    pl_stall_add(x, PL_STALL_BRANCH, resolved - wait);
    pl_stall_add(x, PL_STALL_DRAIN, pl_warp_exit_drain(s, x->t, x->now) - resolved);
}

#endif
