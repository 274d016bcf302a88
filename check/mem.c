/* mem.c - accesses that are out of bounds, misaligned or to freed memory.
 *
 * The plain functions check every access and describe the error (memory/address.c). Without a
 * checker, an error ends the launch. Here the lane is skipped and the other lanes continue, so that
 * one launch reports all such accesses. Other faults end the launch as usual, and are also
 * findings. */
#include <string.h>

#include "check/internal.h"
#include "emu/exec/memory/address.h"

static pl_finding_kind kind_of(const pl_fault_info *f)
{
    const char *e = f->error ? f->error : "";
    if (strcmp(e, "CUDA_ERROR_LAUNCH_TIMEOUT") == 0) return PL_FK_HANG;
    if (strstr(f->text, "of the cluster, which has ended")) return PL_FK_RACE_CLUSTER;
    if (strcmp(e, "CUDA_ERROR_MISALIGNED_ADDRESS") == 0) return PL_FK_MEM_MISALIGNED;
    if (strstr(f->text, "been freed") || strncmp(f->text, "free of", 7) == 0)
        return PL_FK_MEM_FREED;
    if (strcmp(e, "CUDA_ERROR_ILLEGAL_ADDRESS") == 0 ||
        strcmp(e, "CUDA_ERROR_INVALID_ADDRESS_SPACE") == 0)
        return PL_FK_MEM_BOUNDS;
    if (strstr(f->text, "mbarrier")) return PL_FK_SYNC_MBARRIER;
    return strstr(f->text, "barrier") ? PL_FK_SYNC_BARRIER : PL_FK_COUNT;
}

static unsigned tool_of(pl_finding_kind kind)
{
    static const unsigned tool[] = {
#define X(name, tool, word, severity, text) [PL_FK_##name] = PL_CHECK_##tool,
        PL_FINDING_KINDS(X)
#undef X
    };
    return tool[kind];
}

bool pl_mem_fault(const pl_hooks *h, pl_warp *w, const pl_fault_info *f)
{
    pl_check *k = (pl_check *)(uintptr_t)h;
    const pl_finding_kind kind = kind_of(f);
    if (kind == PL_FK_COUNT || !(tool_of(kind) & (k->tools | PL_CHECK_DEADLOCK))) return false;
    const uint32_t first = pl_first_thread(w),
                   threads[3] = {f->thread[0], f->thread[1], f->thread[2]},
                   lane = threads[0] +
                          w->grid->block[0] * (threads[1] + w->grid->block[1] * threads[2]) - first;
    pl_check_finding *found = pl_finding_at(k, w, kind, lane, f->text);
    if (found) found->ended |= !k->can_skip;
    if (found && found->count == 1) {
        found->address = f->address;
        found->space = strstr(f->text, "shared")  ? PL_SP_SHARED
                       : strstr(f->text, "local") ? PL_SP_LOCAL
                                                  : PL_SP_GLOBAL;
    }
    k->bad_lane = lane % PL_LANES;
    return k->can_skip && found;
}

uint32_t pl_mem_execute(pl_warp *w, const pl_insn *i, const check_insn *x)
{
    pl_check *k = check_of(w);
    const uint32_t all = w->exec;
    const bool sequential =
        x->flags & PL_ACCESS_WRITES; /* lanes before an invalid one have executed */
    uint32_t remaining = all, executed = 0;
    if (!(k->tools & PL_CHECK_MEM)) {
        x->plain(w, i);
        return pl_failed(w->grid) ? 0 : all;
    }
    k->can_skip = true;
    while (remaining) {
        k->bad_lane = PL_LANES;
        x->plain(w, i);
        if (k->bad_lane == PL_LANES) {
            executed |= remaining;
            break;
        }
        const uint32_t before = remaining & ((1u << k->bad_lane) - 1);
        if (sequential) executed |= before;
        remaining &= ~(1u << k->bad_lane) & ~(sequential ? before : 0);
        pl_warp_set_exec_mask(w, remaining);
    }
    k->can_skip = false;
    pl_warp_set_exec_mask(w, all);
    return pl_failed(w->grid) ? 0 : executed;
}

static void skip_invalid_lanes(pl_warp *w, const pl_insn *i)
{
    pl_mem_execute(w, i, check_insn_of(check_of(w), w, i));
}

/* Returns the constant that contains the address, or NULL. */
static const pl_prog_var *constant_at(const pl_program *p, uint64_t address)
{
    for (size_t n = 0; n < p->vars.n; n++) {
        const pl_prog_var *v = &p->vars.at[n];
        if (v->space == PL_SP_CONST && address - v->address < v->size) return v;
    }
    return NULL;
}

/* The plain function accepts all addresses in the constant bank, also those between constants. */
void pl_mem_load_constant(pl_warp *w, const pl_insn *i)
{
    pl_check *k = check_of(w);
    const uint32_t all = w->exec;
    const unsigned count = i->sel[PL_M_COUNT] ? i->sel[PL_M_COUNT] : 1,
                   bytes = count << i->sel[PL_M_LOG2];
    const pl_prog_var *v = NULL;
    uint32_t valid = all;
    uint64_t at[PL_LANES];
    pl_addresses(w, i, 1, i->sel[PL_M_FLAGS] & PL_MF_ADDR32, i->imm, at);
    k->can_skip = true;
    for (uint32_t m = all; m && !pl_failed(w->grid); m &= m - 1) {
        const unsigned l = (unsigned)__builtin_ctz(m);
        if (!v || at[l] - v->address >= v->size) v = constant_at(w->program, at[l]);
        if (v && bytes <= v->size - (at[l] - v->address)) continue;
        pl_bounds_fault(w, l, PL_SP_CONST, at[l], bytes, "load");
        valid &= ~(1u << l);
    }
    k->can_skip = false;
    if (!valid || pl_failed(w->grid)) return;
    pl_warp_set_exec_mask(w, valid);
    check_insn_of(k, w, i)->plain(w, i);
    pl_warp_set_exec_mask(w, all);
}

pl_exec_fn *pl_mem_wrapper(const pl_insn *i, check_insn *x)
{
    const pl_form *f = &pl_forms[i->form];
    if (f->effects & PL_EF_ASYNC || pl_insn_has(i, W_bulk)) return NULL;
    switch ((int)f->mnem) {
    case M_st:
    case M_red:
    case M_atom: x->flags |= PL_ACCESS_WRITES; return skip_invalid_lanes;
    case M_ld:
        if (i->sel[PL_M_SPACE] == PL_SP_CONST) return pl_mem_load_constant;
        return skip_invalid_lanes;
    case M_ldu: return skip_invalid_lanes;
    default: return NULL;
    }
}
