/* op_bulk.c - bulk copies, bulk reductions, and stores and reductions that complete at an mbarrier:
 * one for each executing lane.
 *
 * Sizes and faults are the H200's (driver 580.159.04, 2026-11, probes async.bulk,
 * async.bulk_faults, async.st_async). A size is rounded down to a multiple of 16. Misaligned
 * addresses and objects fault as such. A size beyond the transaction count is a launch failure.
 * Read next: pending.c (when these operations take effect). */
#include "emu/exec/async/async.h"

#include <string.h>

#include "emu/exec/memory/address.h"
#include "isa/program/insn_query.h"

/* The first, second or third address operand of the lanes. */
static void operand_addresses(const pl_warp *w, const pl_insn *i, unsigned which, unsigned k,
                              uint64_t *out)
{
    pl_addresses(w, i, k, pl_insn_has_narrow_address(i, which), pl_insn_offset(i, which), out);
}

static void launch_failed(pl_warp *w, unsigned lane, uint64_t address, const char *wrong)
{
    pl_fault(w, 1u << lane, address, "CUDA_ERROR_LAUNCH_FAILED", "%s", wrong);
}

/* ---- bulk operations ---- */

/* The properties of a bulk instruction: its spaces, and the operands that follow the size. */
typedef struct bulk {
    pl_async_kind kind;
    bool to_global, from_global;
    unsigned mbar;      /* operand of the object, 0: the copy belongs to a bulk group */
    unsigned multicast; /* operand of the cluster mask, 0: none */
    unsigned bytes;     /* operand of the byte mask, 0: none */
    int op, type;       /* reductions */
    uint8_t inspect;    /* pl_inspect */
} bulk;

/* One destination of one lane: in its own block, or with multicast at the same offset in another
 * block of the cluster. */
static bool start_one(pl_warp *w, const bulk *b, unsigned l, uint64_t to, const uint8_t *from,
                      uint32_t n, uint32_t mask, uint64_t bar)
{
    pl_async_op o = {.kind = (uint8_t)b->kind,
                     .from = from,
                     .bytes = n,
                     .mask = mask,
                     .inspect = b->inspect,
                     .op = (int16_t)b->op,
                     .type = (int16_t)b->type,
                     .global = b->to_global,
                     .family = b->mbar ? PL_ASYNC_MBAR : PL_ASYNC_BULK_GROUP};
    if (b->kind == PL_ASYNC_REDUCE)
        o.log2 = (uint8_t)__builtin_ctz((unsigned)pl_type_bits((pl_word)b->type) / 8u);
    if (b->mbar &&
        !(o.bar = pl_access(w, l, PL_SP_SHARED, bar, 8, 8, "mbarrier object of a bulk operation")))
        return false;
    pl_space space;
    uint64_t in;
    if (!b->to_global && to / PL_SHARED_SLICE != w->cta->cluster_rank && to % 16 == 0 &&
        !pl_resolve(w, l, PL_SP_SHARED, to, n, &space, &in)) {
        launch_failed(w, l, to,
                      "a bulk operation reaches beyond the shared memory of another block");
        return false;
    }
    if (!(o.to = pl_access_write(w, l, b->to_global ? PL_SP_GLOBAL : PL_SP_SHARED, to, n, 16,
                                 "destination of a bulk operation")))
        return false;
    const char *wrong = pl_async_start(w, o);
    if (wrong) launch_failed(w, l, to, wrong);
    return !wrong;
}

/* The blocks that a mask of its type can address. */
static uint32_t ranks_of(const pl_insn *i, unsigned mask)
{
    return pl_forms[i->form].operand[mask].type == W_u32 ? UINT32_MAX : 0xffffu;
}

static void run_bulk(pl_warp *w, const pl_insn *i, bulk b)
{
    uint64_t to[PL_LANES], from[PL_LANES], bar[PL_LANES] = {0};
    operand_addresses(w, i, 0, 0, to);
    operand_addresses(w, i, 1, 1, from);
    if (b.mbar) operand_addresses(w, i, 2, b.mbar, bar);
    for (uint32_t m = w->exec; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint32_t n = pl_row32(w, i->op[2])[l] & ~15u;
        if (n > PL_MBAR_TX_MAX && n < 1u << 28) {
            launch_failed(w, l, to[l], "a bulk operation of more than 1048575 bytes");
            return;
        }
        const uint8_t *s = pl_access(w, l, b.from_global ? PL_SP_GLOBAL : PL_SP_SHARED, from[l], n,
                                     16, "source of a bulk operation");
        if (!s) return;
        uint32_t mask = b.bytes ? pl_row32(w, i->op[b.bytes])[l] & 0xffffu : 0xffffu;
        if (!mask) continue;
        if (!b.multicast) {
            if (!start_one(w, &b, l, to[l], s, n, mask, bar[l])) return;
            continue;
        }
        uint32_t size = w->cta->cluster ? w->cta->cluster->size : 1;
        for (uint32_t ranks = pl_row32(w, i->op[b.multicast])[l] & ranks_of(i, b.multicast); ranks;
             ranks &= ranks - 1) {
            uint64_t r = (uint64_t)__builtin_ctz(ranks);
            if (r >= size) {
                pl_fault(w, 1u << l, to[l], "CUDA_ERROR_LAUNCH_FAILED",
                         "multicast to block %u of a cluster of %u", (unsigned)r, size);
                return;
            }
            uint64_t slice = r * PL_SHARED_SLICE;
            if (!start_one(w, &b, l, to[l] % PL_SHARED_SLICE + slice, s, n, mask,
                           bar[l] % PL_SHARED_SLICE + slice))
                return;
        }
    }
    pl_record_effect(w, PL_SP_GLOBAL, PL_AC_ASYNC, 16, w->exec, b.to_global ? to : from,
                     i->sel[PL_M_FLAGS]);
}

void exec_cp_bulk(pl_warp *w, const pl_insn *i, int dst, int src)
{
    bool out = dst == W_global;
    run_bulk(w, i,
             (bulk){.kind = PL_ASYNC_COPY,
                    .to_global = out,
                    .from_global = src == W_global,
                    .mbar = out ? 0 : 3,
                    .inspect = (uint8_t)pl_inspect_of(i)});
}

void exec_cp_bulk_multicast(pl_warp *w, const pl_insn *i)
{
    run_bulk(w, i,
             (bulk){.kind = PL_ASYNC_COPY,
                    .from_global = true,
                    .mbar = 3,
                    .multicast = 4,
                    .inspect = (uint8_t)pl_inspect_of(i)});
}

/* Up to 15 bytes at both ends need not exist: their destination is unchanged, and they count as
 * copied. */
void exec_cp_bulk_ignore(pl_warp *w, const pl_insn *i)
{
    uint64_t to[PL_LANES], from[PL_LANES], bar[PL_LANES];
    operand_addresses(w, i, 0, 0, to);
    operand_addresses(w, i, 1, 1, from);
    operand_addresses(w, i, 2, 5, bar);
    for (uint32_t m = w->exec; m; m &= m - 1) {
        const unsigned l = (unsigned)__builtin_ctz(m);
        const uint32_t n = pl_row32(w, i->op[2])[l] & ~15u, left = pl_row32(w, i->op[3])[l],
                       right = pl_row32(w, i->op[4])[l];
        if (left > 15 || right > 15 || left + right > n) {
            launch_failed(w, l, to[l], "a bulk copy that ignores more than 15 bytes at one end");
            return;
        }
        uint8_t *d = pl_access_write(w, l, PL_SP_SHARED, to[l], n, 16,
                                     "destination of a bulk operation"),
                *o = pl_access(w, l, PL_SP_SHARED, bar[l], 8, 8,
                               "mbarrier object of a bulk operation");
        const uint8_t *s = pl_access(w, l, PL_SP_GLOBAL, from[l] + left, n - left - right, 1,
                                     "source of a bulk operation");
        if (!d || !o || !s) return;
        if (from[l] % 16) {
            pl_fault(w, 1u << l, from[l], "CUDA_ERROR_MISALIGNED_ADDRESS",
                     "source of a bulk operation at address 0x%llx, which is not a multiple of 16",
                     (unsigned long long)from[l]);
            return;
        }
        const pl_async_op op = {.kind = PL_ASYNC_COPY,
                                .from = s,
                                .to = d + left,
                                .bytes = n - left - right,
                                .mask = 0xffff,
                                .bar = o,
                                .family = PL_ASYNC_MBAR};
        const char *wrong = pl_mbar_transact(o, -(int64_t)(left + right));
        if (!wrong) wrong = pl_async_start(w, op);
        if (wrong) {
            launch_failed(w, l, to[l], wrong);
            return;
        }
    }
    pl_record_effect(w, PL_SP_GLOBAL, PL_AC_ASYNC, 16, w->exec, from, i->sel[PL_M_FLAGS]);
}

/* The mask is the last operand, after an optional policy. */
void exec_cp_bulk_masked(pl_warp *w, const pl_insn *i)
{
    run_bulk(w, i,
             (bulk){.kind = PL_ASYNC_COPY,
                    .to_global = true,
                    .bytes = pl_forms[i->form].noperands - 1u});
}

void exec_cp_reduce_bulk(pl_warp *w, const pl_insn *i, int dst, int op, int type)
{
    bool out = dst == W_global;
    if (!out && !w->cta->cluster) {
        pl_fault(w, w->exec, 0, "CUDA_ERROR_ILLEGAL_INSTRUCTION",
                 "a bulk reduction to another block's memory in a launch without clusters");
        return;
    }
    run_bulk(w, i,
             (bulk){.kind = PL_ASYNC_REDUCE,
                    .to_global = out,
                    .mbar = out ? 0 : 3,
                    .op = op,
                    .type = type});
}

/* A hint about lines of the L2; an unmapped address is not a fault. */
static void hint(pl_warp *w, const pl_insn *i, const char *what, unsigned align)
{
    uint64_t addr[PL_LANES];
    operand_addresses(w, i, 0, 0, addr);
    for (uint32_t m = w->exec; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        if (addr[l] % align) {
            pl_fault(w, 1u << l, addr[l], "CUDA_ERROR_MISALIGNED_ADDRESS",
                     "%s at address 0x%llx, which is not a multiple of %u", what,
                     (unsigned long long)addr[l], align);
            return;
        }
    }
    pl_record_effect(w, PL_SP_GLOBAL, PL_AC_PREFETCH, 1, w->exec, addr, 0);
}

void exec_cp_bulk_prefetch(pl_warp *w, const pl_insn *i)
{
    hint(w, i, "bulk prefetch", 16);
}

void exec_cp_bulk_priority(pl_warp *w, const pl_insn *i)
{
    hint(w, i, "applypriority.async.bulk", 128);
}

void exec_bulk_commit(pl_warp *w, const pl_insn *i)
{
    (void)i;
    pl_async_commit(w, PL_ASYNC_BULK_GROUP);
}

void exec_bulk_wait(pl_warp *w, const pl_insn *i)
{
    bool read = pl_mod(&pl_forms[i->form], i->mods, G_read) != W_none;
    const char *wrong = pl_async_wait(w, PL_ASYNC_BULK_GROUP, (uint32_t)i->imm, read);
    if (wrong) launch_failed(w, (unsigned)__builtin_ctz(w->exec), 0, wrong);
}

/* ---- st.async, red.async: the value is in registers ---- */

static void run_store(pl_warp *w, const pl_insn *i, pl_async_kind kind, int op, int type)
{
    unsigned log2 = i->sel[PL_M_LOG2], count = i->sel[PL_M_COUNT], bytes = count << log2;
    uint64_t to[PL_LANES], bar[PL_LANES];
    operand_addresses(w, i, 0, 0, to);
    operand_addresses(w, i, 1, 2, bar);
    pl_space space = (pl_space)i->sel[PL_M_SPACE];
    for (uint32_t m = w->exec; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        pl_async_op o = {.kind = (uint8_t)kind,
                         .family = PL_ASYNC_MBAR,
                         .bytes = bytes,
                         .log2 = (uint8_t)log2,
                         .op = (int16_t)op,
                         .type = (int16_t)type};
        if (log2 == 4) {
            o.value[0] = pl_row64(w, i->op[1])[l];
            o.value[1] = pl_row64(w, i->op[1])[PL_LANES + l];
        }
        for (unsigned k = 0; log2 < 4 && k < count; k++) {
            uint32_t row = count > 1 ? pl_more(w, i, i->op[1] + k) : i->op[1];
            uint64_t v = log2 == 3 ? pl_row64(w, row)[l] : pl_row32(w, row)[l];
            memcpy((uint8_t *)o.value + ((size_t)k << log2), &v, (size_t)1 << log2);
        }
        if (!(o.to = pl_access(w, l, space, to[l], bytes, bytes, "asynchronous store")) ||
            !(o.bar =
                  pl_access(w, l, space, bar[l], 8, 8, "mbarrier object of an asynchronous store")))
            return;
        const char *wrong = pl_async_start(w, o);
        if (wrong) {
            launch_failed(w, l, to[l], wrong);
            return;
        }
    }
    for (unsigned l = 0; space == PL_SP_GENERIC && l < PL_LANES; l++) to[l] -= PL_SHARED_WINDOW;
    pl_record_effect(w, PL_SP_SHARED, kind == PL_ASYNC_COPY ? PL_AC_STORE : PL_AC_REDUCTION, bytes,
                     w->exec, to, i->sel[PL_M_FLAGS]);
}

void exec_st_async(pl_warp *w, const pl_insn *i)
{
    run_store(w, i, PL_ASYNC_COPY, 0, 0);
}

void exec_red_async(pl_warp *w, const pl_insn *i, int op, int type)
{
    run_store(w, i, PL_ASYNC_REDUCE, op, type);
}

/* The sm_100 forms on global memory have no completion mechanism: they execute at once, as plain
 * operations. */
void exec_st_async_global(pl_warp *w, const pl_insn *i)
{
    exec_st(w, i);
}

void exec_red_async_global(pl_warp *w, const pl_insn *i, int type)
{
    exec_red(w, i, W_add, type);
}

/* ---- clusterlaunchcontrol: a running block takes over the work of one that has not started
 * ---- */

/* The response has 16 bytes in our own format (PTX manual: opaque): the coordinates of the
 * cancelled cluster's first block, and 1 for success. With multicast every block of the cluster
 * receives it at the same offset, and an arrival at its own mbarrier. */
void exec_cancel_launch(pl_warp *w, const pl_insn *i, int multicast)
{
    uint64_t to[PL_LANES], bar[PL_LANES];
    operand_addresses(w, i, 0, 0, to);
    operand_addresses(w, i, 1, 1, bar);
    for (uint32_t m = w->exec; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint32_t response[4] = {0};
        response[3] = pl_block_cancel(w->grid, response);
        *w->cta->advances += response[3];
        uint32_t copies = multicast != W_none && w->cta->cluster ? w->cta->cluster->size : 1;
        for (uint32_t r = 0; r < copies; r++) {
            uint64_t slice = (copies > 1 ? r : w->cta->cluster_rank) * (uint64_t)PL_SHARED_SLICE;
            pl_async_op o = {.kind = PL_ASYNC_COPY,
                             .family = PL_ASYNC_MBAR,
                             .bytes = sizeof response,
                             .mask = 0xffff};
            memcpy(o.value, response, sizeof response);
            if (!(o.to = pl_access(w, l, PL_SP_SHARED, to[l] % PL_SHARED_SLICE + slice,
                                   sizeof response, 16, "answer to a cancellation")) ||
                !(o.bar = pl_access(w, l, PL_SP_SHARED, bar[l] % PL_SHARED_SLICE + slice, 8, 8,
                                    "mbarrier object of a cancellation")))
                return;
            const char *wrong = pl_async_start(w, o);
            if (wrong) {
                launch_failed(w, l, to[l], wrong);
                return;
            }
        }
    }
    pl_record_effect(w, PL_SP_SHARED, PL_AC_STORE, 16, w->exec, to, i->sel[PL_M_FLAGS]);
}

/* st.bulk: zeroes a range of shared memory. */
void exec_st_bulk(pl_warp *w, const pl_insn *i)
{
    uint64_t to[PL_LANES];
    operand_addresses(w, i, 0, 0, to);
    for (uint32_t m = w->exec; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t n = pl_row64(w, i->op[1])[l];
        uint8_t *p = pl_access(w, l, (pl_space)i->sel[PL_M_SPACE], to[l], n, 8, "bulk store");
        if (!p) return;
        if (n % 8) {
            launch_failed(w, l, to[l], "a bulk store of a size that is not a multiple of 8");
            return;
        }
        memset(p, 0, n);
    }
    pl_record_effect(w, PL_SP_SHARED, PL_AC_STORE, 8, w->exec, to, i->sel[PL_M_FLAGS]);
}
