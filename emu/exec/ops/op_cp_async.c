/* op_cp_async.c - cp.async and mbarrier instructions. Pending operations are in pending.c, the
 * objects themselves in mbarrier.c.
 *
 * Read next: op_bulk.c (bulk copies, stores and reductions that complete at an mbarrier). */
#include "emu/exec/async/async.h"

#include <string.h>

#include "emu/exec/memory/address.h"

static uint32_t lane_u32(const pl_warp *w, uint32_t row, unsigned l)
{
    return pl_row32(w, row)[l];
}

/* An invalid count of an mbarrier object: the H200 reports a launch failure. */
static void mbarrier_fault(pl_warp *w, unsigned lane, uint64_t address, const char *wrong)
{
    pl_fault(w, 1u << lane, address, "CUDA_ERROR_LAUNCH_FAILED",
             "%s (object at shared address 0x%llx)", wrong,
             (unsigned long long)(address % PL_SHARED_SLICE));
}

/* ---- cp.async ---- */

/* Bytes that are read: a source size above the copy's is taken modulo the copy's (H200, driver
 * 580.159.04, 2026-11). */
static uint32_t source_bytes(uint32_t size, uint32_t n)
{
    return n > size ? n % size : n;
}

/* The traffic of a copy that bypasses the L1 (copies.tsv: H200, driver 580.159.04, 2026-11):
 * sectors into 32-byte slots of shared memory. A sector whose halves go to two slots is transferred
 * twice. The tags count the slots, once per source line. */
static void count_slots(pl_memory_effect *fx, uint32_t lanes, const uint64_t *from,
                        const uint64_t *to)
{
    enum { SLOT = 32, LINE = 128 };
    fx->slots = fx->moved_sectors = 0;
    for (uint32_t m = lanes; m; m &= m - 1) {
        const unsigned l = (unsigned)__builtin_ctz(m);
        bool slot = true, move = true;
        /* Nearest lanes first. */
        for (uint32_t k = lanes & ((1u << l) - 1); k && move;
             k &= ~(1u << (31 - __builtin_clz(k)))) {
            const unsigned before = 31u - (unsigned)__builtin_clz(k);
            const bool same = to[before] / SLOT == to[l] / SLOT;
            slot &= !(same && from[before] / LINE == from[l] / LINE);
            move = !(same && from[before] / SLOT == from[l] / SLOT);
        }
        fx->slots = (uint8_t)(fx->slots + slot);
        fx->moved_sectors = (uint8_t)(fx->moved_sectors + move);
    }
}

static void start_copies(pl_warp *w, const pl_insn *i, uint32_t ignored)
{
    unsigned flags = i->sel[PL_M_FLAGS];
    uint64_t to[PL_LANES], from[PL_LANES];
    pl_addresses(w, i, 0, flags & PL_MF_ADDR32, i->imm, to);
    pl_addresses(w, i, 1, flags & PL_MF_ADDR32_2, (int32_t)i->target, from);
    uint32_t size = i->op[2];
    bool sized = pl_forms[i->form].operand[3].type != W_pred && i->op[3] != PL_NO_OPERAND;
    for (uint32_t m = w->exec; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint32_t n = sized ? source_bytes(size, lane_u32(w, i->op[3], l)) : size;
        n = (ignored >> l) & 1u ? 0 : n;
        uint8_t *d = pl_access(w, l, PL_SP_SHARED, to[l], size, size, "asynchronous copy");
        const uint8_t *s =
            d && n ? pl_access(w, l, PL_SP_GLOBAL, from[l], n, size, "asynchronous copy") : d;
        if (!s) return;
        pl_async_start(w, (pl_async_op){.kind = PL_ASYNC_COPY,
                                        .family = PL_ASYNC_GROUP,
                                        .to = d,
                                        .from = s,
                                        .bytes = n,
                                        .fill = size - n});
    }
    pl_record_effect(w, PL_SP_GLOBAL, PL_AC_ASYNC, size, w->exec, from, flags);
    if (w->fx) count_slots(w->fx, w->exec, from, to);
}

void exec_cp_async(pl_warp *w, const pl_insn *i)
{
    start_copies(w, i, 0);
}

/* The form with a predicate: a lane whose predicate is true reads nothing and writes zeros. */
void exec_cp_async_ignore(pl_warp *w, const pl_insn *i)
{
    start_copies(w, i, pl_pred_read(w, i, 3));
}

void exec_cp_commit(pl_warp *w, const pl_insn *i)
{
    (void)i;
    pl_async_commit(w, PL_ASYNC_GROUP);
}

void exec_cp_wait_group(pl_warp *w, const pl_insn *i)
{
    pl_async_wait(w, PL_ASYNC_GROUP, (uint32_t)i->imm, false);
}

void exec_cp_wait_all(pl_warp *w, const pl_insn *i)
{
    (void)i;
    pl_async_commit(w, PL_ASYNC_GROUP);
    pl_async_wait(w, PL_ASYNC_GROUP, 0, false);
}

/* ---- mbarrier ---- */

static uint8_t *mbarrier_at(pl_warp *w, unsigned lane, const pl_insn *i, const uint64_t *addr)
{
    return pl_access(w, lane, i->sel[PL_M_SPACE] ? (pl_space)i->sel[PL_M_SPACE] : PL_SP_GENERIC,
                     addr[lane], 8, 8, "mbarrier operation");
}

static void mbarrier_addresses(pl_warp *w, const pl_insn *i, unsigned a, uint64_t *addr)
{
    pl_addresses(w, i, a, i->sel[PL_M_FLAGS] & PL_MF_ADDR32, i->imm, addr);
    pl_record_effect(w, PL_SP_SHARED, PL_AC_ATOMIC, 8, w->exec, addr, 0);
}

void exec_mbarrier_init(pl_warp *w, const pl_insn *i, int layout)
{
    const uint32_t most = layout == W_layout__v1 ? 511 : (1u << PL_MBAR_COUNT_BITS) - 1;
    uint64_t addr[PL_LANES];
    mbarrier_addresses(w, i, 0, addr);
    for (uint32_t m = w->exec; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint8_t *p = mbarrier_at(w, l, i, addr);
        uint32_t n = lane_u32(w, i->op[1], l);
        if (!p) return;
        if (!n || n > most) { /* the H200 fails at the first arrival */
            pl_fault(w, 1u << l, addr[l], "CUDA_ERROR_LAUNCH_FAILED",
                     "mbarrier.init with a count of %u; 1 to %u are allowed", n, most);
            return;
        }
        uint64_t v =
            pl_mbar_pack((pl_mbar){.expected = n, .pending = n, .v1 = layout == W_layout__v1});
        memcpy(p, &v, 8);
    }
}

void exec_mbarrier_inval(pl_warp *w, const pl_insn *i)
{
    uint64_t addr[PL_LANES];
    mbarrier_addresses(w, i, 0, addr);
    for (uint32_t m = w->exec; m; m &= m - 1)
        if (!mbarrier_at(w, (unsigned)__builtin_ctz(m), i, addr)) return;
}

/* The token is the upper half of the object before the arrival. The H200 does not change the lower
 * half of the register; here it is 0. */
static uint64_t arrival_token(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
    return v & 0xffffffff00000000ull;
}

void exec_mbarrier_arrive(pl_warp *w, const pl_insn *i, int expect, int drop)
{
    uint64_t addr[PL_LANES], old[PL_LANES] = {0};
    w->wrote = true;
    mbarrier_addresses(w, i, 1, addr);
    for (uint32_t m = w->exec; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint8_t *p = mbarrier_at(w, l, i, addr);
        if (!p) return;
        uint32_t n = i->op[2] == PL_NO_OPERAND ? 1 : lane_u32(w, i->op[2], l);
        old[l] = arrival_token(p);
        const char *wrong = expect ? pl_mbar_transact(p, n) : NULL;
        if (!wrong) wrong = pl_mbar_arrive(p, expect ? 1 : n, drop);
        if (wrong) {
            mbarrier_fault(w, l, addr[l], wrong);
            return;
        }
    }
    if (i->op[0] != PL_NO_OPERAND) pl_blend64(w, pl_row64(w, i->op[0]), old);
}

void exec_mbarrier_tx(pl_warp *w, const pl_insn *i, int which)
{
    uint64_t addr[PL_LANES];
    mbarrier_addresses(w, i, 0, addr);
    for (uint32_t m = w->exec; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint8_t *p = mbarrier_at(w, l, i, addr);
        if (!p) return;
        int64_t n = lane_u32(w, i->op[1], l);
        const char *wrong = pl_mbar_transact(p, which == W_expect_tx ? n : -n);
        if (wrong) {
            mbarrier_fault(w, l, addr[l], wrong);
            return;
        }
    }
}

/* The object of each block named by the last operand; other blocks return no token. */
static void apply_to_blocks(pl_warp *w, const pl_insn *i, unsigned a, int arrive, int tx, int drop)
{
    const pl_form *f = &pl_forms[i->form];
    const unsigned last = f->noperands - 1u;
    const uint32_t size = w->cta->cluster ? w->cta->cluster->size : 1;
    uint64_t addr[PL_LANES], at[PL_LANES];
    mbarrier_addresses(w, i, a, addr);
    for (uint32_t m = w->exec; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint32_t n = last > a + 1 ? lane_u32(w, i->op[a + 1], l) : 1;
        for (uint32_t ranks = lane_u32(w, i->op[last], l); ranks; ranks &= ranks - 1) {
            uint32_t r = (uint32_t)__builtin_ctz(ranks);
            if (r >= size) {
                pl_fault(w, 1u << l, addr[l], "CUDA_ERROR_LAUNCH_FAILED",
                         "multicast to block %u of a cluster of %u", r, size);
                return;
            }
            at[l] = addr[l] % PL_SHARED_SLICE + (uint64_t)r * PL_SHARED_SLICE;
            uint8_t *p = pl_access(w, l, PL_SP_SHARED, at[l], 8, 8, "mbarrier operation");
            if (!p) return;
            const char *wrong =
                tx != W_none ? pl_mbar_transact(p, tx == W_expect_tx ? (int64_t)n : -(int64_t)n)
                             : NULL;
            if (!wrong && arrive) wrong = pl_mbar_arrive(p, tx != W_none ? 1 : n, drop);
            if (wrong) {
                mbarrier_fault(w, l, at[l], wrong);
                return;
            }
        }
    }
}

void exec_mbarrier_arrive_all(pl_warp *w, const pl_insn *i, int expect, int drop)
{
    w->wrote = true;
    apply_to_blocks(w, i, 1, 1, expect, drop);
}

void exec_mbarrier_tx_all(pl_warp *w, const pl_insn *i, int which)
{
    apply_to_blocks(w, i, 0, 0, which, W_none);
}

/* Operand `at` is the address, the next one the state or parity. A failed try_wait lets other warps
 * run; test_wait only returns the result. A wait after an asynchronous operation started by the
 * same warp lets others run, too. On a GPU the operation takes long enough for them to reach their
 * waits, and functional mode must not end a second phase before they have observed the end of the
 * first. Returns the lanes for whose phase a copy reported. */
static uint32_t test_phase(pl_warp *w, const pl_insn *i, int how, int parity, unsigned at)
{
    uint64_t addr[PL_LANES];
    uint32_t done = 0, reported = 0;
    const bool conditional =
        pl_mod(&pl_forms[i->form], i->mods, G_phase) == W_phase_type__conditional;
    pl_addresses(w, i, at, i->sel[PL_M_FLAGS] & PL_MF_ADDR32, i->imm, addr);
    pl_record_effect(w, PL_SP_SHARED, PL_AC_LOAD, 8, w->exec, addr, 0);
    for (uint32_t m = w->exec; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint8_t *p = mbarrier_at(w, l, i, addr);
        if (!p) return 0;
        const char *wrong = pl_async_poll(w, p);
        if (wrong) {
            mbarrier_fault(w, l, addr[l], wrong);
            return 0;
        }
        const pl_mbar b = pl_mbar_read(p);
        bool waited =
            parity ? lane_u32(w, i->op[at + 1], l) & 1u : pl_row64(w, i->op[at + 1])[l] >> 63;
        done |= (uint32_t)((conditional ? b.conditional : b.phase) != waited) << l;
        reported |= (uint32_t)b.reported << l;
    }
    pl_pred_write(w, i->op[0], done);
    if ((done & w->exec) != w->exec) {
        pl_warp_note_poll(w, addr[__builtin_ctz(w->exec)]);
        w->yield |= how == W_try_wait;
    } else {
        ++*w->cta->advances;
        w->spins = w->idle_pauses = 0;
        w->yield |= w->async_started && !w->grid->has_timing_model;
        w->async_started = false;
    }
    return reported & done;
}

void exec_mbarrier_wait(pl_warp *w, const pl_insn *i, int how, int parity)
{
    test_phase(w, i, how, parity, 1);
}

/* Copies report with a value of 0 (PTX manual). */
void exec_mbarrier_report(pl_warp *w, const pl_insn *i, int how, int parity)
{
    const uint32_t none[PL_LANES] = {0};
    pl_pred_write(w, i->op[1], test_phase(w, i, how, parity, 3));
    if (i->op[2] != PL_NO_OPERAND) pl_blend32(w, pl_row32(w, i->op[2]), none);
}

void exec_mbarrier_check_layout(pl_warp *w, const pl_insn *i, int layout)
{
    uint64_t addr[PL_LANES];
    uint32_t same = 0;
    mbarrier_addresses(w, i, 1, addr);
    for (uint32_t m = w->exec; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        const uint8_t *p = mbarrier_at(w, l, i, addr);
        if (!p) return;
        same |= (uint32_t)(pl_mbar_read(p).v1 == (layout == W_layout__v1)) << l;
    }
    pl_pred_write(w, i->op[0], same);
}

void exec_mbarrier_pending(pl_warp *w, const pl_insn *i)
{
    const uint64_t *a = pl_row64(w, i->op[1]);
    uint32_t v[PL_LANES];
    for (unsigned l = 0; l < PL_LANES; l++) {
        uint32_t n = pl_mbar_unpack(a[l]).pending;
        v[l] = n ? n : 1u << PL_MBAR_COUNT_BITS; /* the H200 subtracts the field from 2^20 */
    }
    pl_blend32(w, pl_row32(w, i->op[0]), v);
}

/* An arrival that takes effect when the preceding cp.async operations of the thread have completed;
 * without .noinc it is added to the expected arrivals of the phase. */
void exec_cp_mbarrier_arrive(pl_warp *w, const pl_insn *i)
{
    uint64_t addr[PL_LANES];
    bool noinc = pl_mod(&pl_forms[i->form], i->mods, G_noinc) != W_none;
    mbarrier_addresses(w, i, 0, addr);
    for (uint32_t m = w->exec; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint8_t *p = mbarrier_at(w, l, i, addr);
        if (!p) return;
        if (!noinc) {
            pl_mbar b = pl_mbar_read(p);
            b.pending++;
            pl_mbar_write(p, b);
        }
        const char *wrong = pl_async_start(
            w, (pl_async_op){.kind = PL_ASYNC_ARRIVE, .family = PL_ASYNC_GROUP, .bar = p});
        if (wrong) {
            mbarrier_fault(w, l, addr[l], wrong);
            return;
        }
    }
}
