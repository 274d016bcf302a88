/* watch.c - accesses to watched ranges of global memory: records which of them a launch accesses,
 * and reports those that are errors although memory exists there. */
#include <stdlib.h>

#include "check/internal.h"
#include "emu/exec/memory/address.h"

void pl_check_watch(pl_check *k, const pl_watched *at, size_t n)
{
    k->watch.at = at;
    k->watch.n = n;
}

static const pl_watched *range_of(const pl_check *k, uint64_t address)
{
    size_t lo = 0, hi = k->watch.n;
    while (lo < hi) {
        const size_t mid = (lo + hi) / 2;
        if (k->watch.at[mid].address <= address)
            lo = mid + 1;
        else
            hi = mid;
    }
    const pl_watched *r = lo ? &k->watch.at[lo - 1] : NULL;
    return r && address - r->address < r->bytes ? r : NULL;
}

static void record_access(pl_warp *w, unsigned lane, uint64_t address)
{
    pl_check *k = check_of(w);
    const pl_watched *r = range_of(k, address);
    if (!r) return;
    *r->accessed = true;
    if (!r->wrong) return;
    pl_check_finding *f = pl_finding_at(k, w, PL_FK_MEM_STREAM, lane, r->wrong);
    if (f && f->count == 1) f->address = address;
}

static void execute_watched(pl_warp *w, const pl_insn *i)
{
    pl_check *k = check_of(w);
    const pl_mnem m = (pl_mnem)pl_forms[i->form].mnem;
    const unsigned operand = m != M_st && m != M_red, flags = i->sel[PL_M_FLAGS];
    uint64_t address[PL_LANES];
    if (m == M_cp)
        pl_addresses(w, i, 1, flags & PL_MF_ADDR32_2, (int32_t)i->target, address);
    else
        pl_addresses(w, i, operand, flags & PL_MF_ADDR32, i->imm, address);
    for (uint32_t lanes = w->exec; lanes; lanes &= lanes - 1) {
        const unsigned l = (unsigned)__builtin_ctz(lanes);
        record_access(w, l, address[l]);
    }
    k->watch.inner[i - w->code](w, i);
}

void pl_watch_copy(pl_warp *w, const pl_async_op *o)
{
    const pl_check *k = check_of(w);
    uint8_t *const end[] = {o->to, (uint8_t *)(uintptr_t)o->from};
    for (unsigned n = 0; n < 2; n++) {
        place p;
        if (end[n] && pl_place_at(w, end[n], &p) && !p.owner)
            record_access(w, w->exec ? (unsigned)__builtin_ctz(w->exec) : 0, p.address + k->base);
    }
}

static bool is_watched(const pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    const pl_space space = (pl_space)i->sel[PL_M_SPACE];
    if (pl_insn_has(i, W_bulk)) return false;
    switch ((int)f->mnem) {
    case M_ld:
    case M_ldu:
    case M_st:
    case M_atom:
    case M_red:
        return !(f->effects & PL_EF_ASYNC) && (space == PL_SP_GLOBAL || space == PL_SP_GENERIC);
    case M_cp: return f->noperands >= 3 && !pl_insn_has(i, W_mbarrier);
    default: return false;
    }
}

bool pl_watch_begin(pl_check *k)
{
    pl_program *p = k->program;
    if (!k->watch.n || !(k->tools & PL_CHECK_MEM)) return true;
    k->watch.inner = calloc(p->code.n ? p->code.n : 1, sizeof *k->watch.inner);
    if (!k->watch.inner) return false;
    for (size_t n = 0; n < p->code.n; n++) {
        pl_insn *i = &p->code.at[n];
        if (!i->exec || !is_watched(i)) continue;
        k->watch.inner[n] = i->exec;
        i->exec = execute_watched;
    }
    return true;
}

void pl_watch_end(pl_check *k)
{
    free(k->watch.inner);
    k->watch.inner = NULL;
    k->watch.n = 0;
}
