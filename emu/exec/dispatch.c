/* dispatch.c - selects the compiled lane loop of every instruction. See dispatch.h and
 * isa/table/isagen/write_exec.c. */
#include "emu/exec/dispatch.h"

#include "config.h"
#include "emu/exec/lane_loops.h"
#include "emu/exec/runtime/cuda_builtins.h"

static const pl_exec_form *best_forms(int level)
{
#if defined(__x86_64__)
#ifdef PL_HAVE_EXEC_AVX512
    if ((level < 0 || level >= 2) && __builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd"))
        return pl_exec_forms_avx512;
#endif
#ifdef PL_HAVE_EXEC_AVX2
    if ((level < 0 || level >= 1) && __builtin_cpu_supports("avx2") &&
        __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
        return pl_exec_forms_avx2;
#endif
#endif
    (void)level;
    return pl_exec_forms_base;
}

/* Index of the chosen word among a slot's choices; 0 means absent if the slot is optional. */
static unsigned choice_index(const pl_slot *s, uint16_t word)
{
    for (unsigned k = 0; k < s->n; k++)
        if (s->word[k] == word) return k + s->optional;
    return 0;
}

void pl_bind_system(pl_program *p)
{
    for (size_t n = 0; n < p->funcs.n; n++)
        if (!p->funcs.at[n].count) p->funcs.at[n].system = pl_system_find(p->funcs.at[n].name);
}

void pl_bind(pl_program *p, int level)
{
    const pl_exec_form *forms = best_forms(level);
    const bool late = p->bulk_reductions = pl_has_bulk_reductions(p);
    for (size_t n = 0; n < p->code.n; n++) {
        pl_insn *i = &p->code.at[n];
        const pl_form *f = &pl_forms[i->form];
        if (pl_insn_is_ordered(p, i, late))
            i->flags |= PL_IF_ORDERED;
        else if (f->mnem == M_st && i->sel[PL_M_SPACE] != PL_SP_LOCAL)
            i->flags |= PL_IF_STORE;
        else if (i->latency_class == C_wgmma_wait)
            i->flags |= PL_IF_GROUP_WAIT;
        p->launch_control |= f->mnem == M_clusterlaunchcontrol;
        const pl_exec_form *x = &forms[i->form];
        unsigned index = 0, stride = 1;
        for (unsigned k = 0; k < x->nspec; k++) {
            const pl_slot *s = &f->slot[x->slot[k]];
            index += choice_index(s, i->mods[x->slot[k]]) * stride;
            stride *= s->n + s->optional;
        }
        i->exec = x->fn ? x->fn[index] : NULL;
    }
}
