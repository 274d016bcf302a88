/* memory_clobbers.h - which loads may be hoisted above a region of code, by its effects on
 * memory. */
#ifndef PL_COMPILER_ANALYSIS_MEMORY_CLOBBERS_H
#define PL_COMPILER_ANALYSIS_MEMORY_CLOBBERS_H

#include "compiler/ir/ir.h"

typedef struct pl_memory_clobbers {
    bool everything;              /* an effect that no load except .nc may be moved across */
    bool by_space[PL_SP_TEX + 1]; /* stores, by state space */
} pl_memory_clobbers;

/* Adds an instruction to the effects that a hoisted load cannot be moved across. */
static inline void pl_clobbers_add(pl_memory_clobbers *s, const pl_insn *i)
{
    const uint32_t e = pl_insn_effects(i);
    const bool poll = (i->flags & PL_IF_MEM) && (i->sel[PL_M_FLAGS] & PL_MF_POLL);
    const bool is_ordered =
        pl_insn_has(i, W_acquire) || pl_insn_has(i, W_release) || pl_insn_has(i, W_acq_rel);
    /* Loads from other spaces may be moved across these as across stores. */
    const bool shared_atomic =
        e == PL_EF_ATOMIC && i->sel[PL_M_SPACE] == PL_SP_SHARED && !is_ordered;
    if (((e == PL_EF_STORE && !(i->flags & PL_IF_CONTROL)) || shared_atomic) && !poll)
        s->by_space[i->sel[PL_M_SPACE]] = true;
    else
        s->everything |= poll || (e & ~(uint32_t)(PL_EF_LOAD | PL_EF_CONVERGE | PL_EF_BRANCH));
}

/* True for a load from global or shared memory that may be hoisted. */
static inline bool pl_insn_is_hoistable_load(const pl_insn *i)
{
    return pl_insn_mnem(i) == M_ld && pl_insn_effects(i) == PL_EF_LOAD &&
           !(i->sel[PL_M_FLAGS] & PL_MF_POLL) &&
           pl_insn_loads(i, PL_SPACES_GLOBAL | 1 << PL_SP_SHARED);
}

/* The same for hoisting out of a loop, where loads cannot be moved across a warp synchronisation
 * either. */
static inline void pl_clobbers_add_in_loop(pl_memory_clobbers *s, const pl_insn *i)
{
    pl_clobbers_add(s, i);
    s->everything |= i->latency_class == C_warp_sync;
}

/* True if the load may read memory that the region writes. .nc loads read memory that is constant
 * during the launch. */
static inline bool pl_clobbers_load(const pl_memory_clobbers *s, const pl_insn *i)
{
    bool stored = s->everything || s->by_space[PL_SP_GENERIC];
    for (unsigned k = 0; k <= PL_SP_TEX; k++)
        stored |=
            s->by_space[k] && (k == i->sel[PL_M_SPACE] || i->sel[PL_M_SPACE] == PL_SP_GENERIC);
    return stored && !pl_insn_has(i, W_nc);
}

#endif
