/* insn_build.c - see insn_build.h. */
#include "isa/program/insn_build.h"

#include <string.h>

#include "isa/program/canonicalize.h"

bool pl_insn_make(pl_insn *i, uint16_t mnem, unsigned noperands, const pl_word *words, unsigned n)
{
    for (unsigned v = 0; v < pl_mnems[mnem].count; v++) {
        uint16_t form = (uint16_t)(pl_mnems[mnem].first + v), mods[PL_MAX_MODS] = {0};
        const pl_form *f = &pl_forms[form];
        unsigned left = n;
        bool taken[PL_MAX_MODS] = {false}, ok = f->noperands == noperands && !f->unsupported;
        for (unsigned k = 0; k < f->nslots && ok; k++) {
            for (unsigned w = 0; w < n && !mods[k]; w++)
                for (unsigned c = 0; c < f->slot[k].n && !taken[w] && !mods[k]; c++)
                    if (f->slot[k].word[c] == words[w]) {
                        mods[k] = (uint16_t)words[w];
                        taken[w] = true;
                        left--;
                    }
            ok = mods[k] || f->slot[k].optional;
        }
        for (unsigned k = 0; k < f->nwhere && ok && !left; k++)
            ok = !f->where[k].holds || f->where[k].holds(mods);
        if (!ok || left) continue;
        i->form = form;
        memcpy(i->mods, mods, sizeof i->mods);
        pl_insn_finish(i);
        if (mnem == M_bra) {
            i->guard = PL_PT;
            i->reconv = UINT32_MAX;
            for (int k = 0; k < PL_INLINE_OPERANDS; k++) i->op[k] = UINT32_MAX;
        }
        return true;
    }
    return false;
}
