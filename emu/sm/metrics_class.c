/* metrics_class.c - Nsight Compute's counts for instructions without an arithmetic unit. */
#include "emu/sm/decode.h"

/* Control flow. False: another kind of instruction. */
static bool count_branch(pl_metric_class *out, const pl_insn *i, const pl_decoded_insn *d,
                         bool ends)
{
    const uint16_t mnem = pl_forms[i->form].mnem;
    if (d->kind == PL_KIND_EXIT || (ends && mnem == M_ret) || mnem == M__bssy || mnem == M__break ||
        pl_classes[i->latency_class].counts_cbu)
        *out = (pl_metric_class){.cbu = 1};
    else if (d->kind == PL_KIND_BRANCH)
        *out = (pl_metric_class){.targets = 1,
                                 .cbu = mnem != M_bra && mnem != M__apart && mnem != M__agree,
                                 .adu = mnem == M_ret || mnem == M__ret};
    else if (d->division_path) /* called, and returns */
        *out = (pl_metric_class){.targets = (uint8_t)d->price->branches, .cbu = 2, .adu = 1};
    else
        return false;
    return true;
}

/* A class that consists of several machine instructions, including branches. */
static pl_metric_class count_sequence(const pl_insn *i, uint8_t branches)
{
    if (pl_classes[i->latency_class].calls_routine) /* CALL and RET */
        return (pl_metric_class){.targets = branches, .cbu = branches, .adu = branches / 2};
    if (branches == 1) return (pl_metric_class){.targets = 1}; /* the branch around the rare case */
    return (pl_metric_class){.targets = branches / 2, .cbu = branches}; /* BSSY, branch, BSYNC */
}

/* Descriptors and 32-bit parameters are used directly from a uniform register. */
static bool is_uniform_parameter(const pl_insn *i)
{
    const uint16_t mnem = pl_forms[i->form].mnem;
    return mnem == M__desc ||
           (mnem == M_ld && (i->sel[PL_M_SPACE] == PL_SP_CONST ||
                             (i->sel[PL_M_LOG2] <= 2 && i->sel[PL_M_COUNT] == 1)));
}

pl_metric_class pl_metric_class_of(const pl_insn *i, const pl_decoded_insn *d, bool ends)
{
    const uint8_t branches = (uint8_t)d->price->branches;
    pl_metric_class out;
    if (count_branch(&out, i, d, ends)) return out;
    /* One iteration per lane; the copy engine has its own queue. */
    if (d->kind == PL_KIND_BULK) return (pl_metric_class){.targets = branches, .lsu = -1};
    if (d->kind == PL_KIND_MBARRIER || d->kind == PL_KIND_MBARRIER_WAIT)
        return (pl_metric_class){.adu = 1, .lsu = -1};
    if (branches) return count_sequence(i, branches);
    if (d->kind == PL_KIND_BARRIER) return (pl_metric_class){.adu = 1};
    if (d->kind == PL_KIND_PARAM) {
        const bool uniform = is_uniform_parameter(i);
        return (pl_metric_class){.ldc = !uniform, .adu = !uniform};
    }
    if (d->texture) return (pl_metric_class){.lsu = -1};
    if (d->kind == PL_KIND_MEMORY && i->sel[PL_M_SPACE] == PL_SP_CONST)
        return (pl_metric_class){.adu = 1, .lsu = -1};
    if (d->kind == PL_KIND_FENCE_GPU || d->kind == PL_KIND_FENCE_SYS)
        return (pl_metric_class){.lsu = 2, .adu = 1}; /* MEMBAR and CCTL; ERRBAR */
    if (d->kind == PL_KIND_FENCE_CTA || d->kind == PL_KIND_COMMIT)
        return (pl_metric_class){.lsu = 1};
    if (d->exchange) return (pl_metric_class){.lsu = (int8_t)d->exchange};
    return (pl_metric_class){.adu = pl_classes[i->latency_class].counts_adu};
}
