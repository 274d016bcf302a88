/* op_async.c - cp.async, bulk copies and mbarrier objects.
 *
 * A cp.async or bulk copy is a pending effect: --async eager applies it when it is issued, --async late when somebody waits for it.
 * Loads and stores of other instructions between see the difference; a program without races against its own copies does not.
 *
 * An mbarrier object is one 64-bit word in shared memory. The layout is that of sm_90 (H200, driver 580.159.04, 2026-11,
 * h200/probes async.*), since programs may copy the word and the tokens that arrive returns:
 *     bit 63      phase, flips at completion
 *     bits 62..43 pending arrivals, counted up from -count (20 bits)
 *     bit 42      the pending count has been reached and only transactions are missing
 *     bits 41..21 transaction count (21 bits, two's complement)
 *     bits 20..1  expected arrivals of a phase, as -count (20 bits)
 * The fields below are read and written through the helpers only. */
#include "emu/exec/async.h"

#include <stdlib.h>
#include <string.h>

#include "emu/exec/access.h"

/* ---- pending copies of a warp ---- */

typedef pl_async_copy copy;

static void apply(const copy *c)
{
    memmove(c->to, c->from, c->bytes);
    memset(c->to + c->bytes, 0, c->fill);
}

/* Queues a copy, or applies it at once. */
static void start(pl_warp *w, copy c)
{
    if (!w->grid->async_mode) {
        apply(&c);
        return;
    }
    if (!w->async)
        w->async = calloc(1, sizeof *w->async);
    struct pl_async *a = w->async;
    if (a && a->n == a->cap) {
        size_t cap = a->cap ? a->cap * 2 : 64;
        copy *p = realloc(a->at, cap * sizeof *p);
        if (p) {
            a->at = p;
            a->cap = cap;
        }
    }
    if (!a || a->n == a->cap) { /* without memory to wait in, the copy happens now */
        apply(&c);
        return;
    }
    c.group = a->group;
    a->at[a->n++] = c;
}

/* Applies all copies of groups before `group`. */
static void complete(pl_warp *w, uint32_t group)
{
    struct pl_async *a = w->async;
    size_t keep = 0;
    for (size_t k = 0; a && k < a->n; k++) {
        if ((int32_t)(a->at[k].group - group) < 0)
            apply(&a->at[k]);
        else
            a->at[keep++] = a->at[k];
    }
    if (a)
        a->n = keep;
}

static uint8_t *at(pl_warp *w, unsigned lane, pl_space space, uint64_t address, uint64_t bytes, uint64_t align, const char *what)
{
    pl_space real;
    uint64_t in;
    uint8_t *p = pl_resolve(w, lane, space, address, bytes ? bytes : 1, &real, &in);
    if (!p || address % align) {
        pl_access_fault(w, lane, space, address, !p && bytes ? bytes : align, what);
        return NULL;
    }
    return p;
}

static uint32_t lane_u32(const pl_warp *w, uint32_t row, unsigned l)
{
    return pl_row32(w, row)[l];
}

void exec_cp_async(pl_warp *w, const pl_insn *i)
{
    unsigned flags = i->sel[PL_M_FLAGS];
    uint64_t to[PL_LANES], from[PL_LANES];
    pl_addresses(w, i, 0, flags & PL_MF_ADDR32, i->imm, to);
    pl_addresses(w, i, 1, flags & PL_MF_ADDR32_2, (int32_t)i->target, from);
    uint32_t size = i->op[2];
    for (uint32_t m = w->exec; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint32_t n = i->op[3] == PL_NO_OPERAND ? size : lane_u32(w, i->op[3], l);
        n = n > size ? size : n;
        uint8_t *d = at(w, l, PL_SP_SHARED, to[l], size, size, "asynchronous copy");
        const uint8_t *s = d && n ? at(w, l, PL_SP_GLOBAL, from[l], n, size, "asynchronous copy") : d;
        if (!s)
            return;
        start(w, (copy){.to = d, .from = s, .bytes = n, .fill = size - n});
    }
    pl_record(w, PL_SP_GLOBAL, PL_AC_ASYNC, size, w->exec, from, flags);
}

void exec_cp_commit(pl_warp *w, const pl_insn *i)
{
    (void)i;
    if (w->async)
        w->async->group++;
}

void exec_cp_wait_group(pl_warp *w, const pl_insn *i)
{
    if (w->async)
        complete(w, w->async->group - (uint32_t)i->imm);
}

void exec_cp_wait_all(pl_warp *w, const pl_insn *i)
{
    (void)i;
    if (w->async)
        complete(w, ++w->async->group);
}

/* ---- mbarrier ---- */

enum { COUNT_BITS = 20, TX_BITS = 21 };

typedef struct mbar {
    uint32_t expected; /* arrivals that a phase needs */
    uint32_t pending;  /* arrivals still missing */
    int32_t tx;        /* bytes still missing; may be negative for a while */
    bool phase;
} mbar;

static mbar unpack(uint64_t v)
{
    mbar b;
    b.expected = (0u - (uint32_t)(v >> 1)) & ((1u << COUNT_BITS) - 1);
    b.pending = (0u - (uint32_t)(v >> 43)) & ((1u << COUNT_BITS) - 1);
    b.tx = (int32_t)((uint32_t)(v >> 21) << (32 - TX_BITS)) >> (32 - TX_BITS);
    b.phase = v >> 63;
    return b;
}

static uint64_t pack(mbar b)
{
    uint64_t count = (1u << COUNT_BITS) - 1;
    return ((uint64_t)b.phase << 63) | (((0ull - b.pending) & count) << 43) | ((uint64_t)(b.pending == 0) << 42) |
           (((uint64_t)(uint32_t)b.tx & ((1u << TX_BITS) - 1)) << 21) | (((0ull - b.expected) & count) << 1);
}

static void settle(mbar *b)
{
    if (b->pending || b->tx)
        return;
    b->pending = b->expected;
    b->phase = !b->phase;
}

static mbar read_mbar(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
    return unpack(v);
}

/* Writes a changed object back; a phase that has become complete ends. */
static void write_mbar(uint8_t *p, mbar b)
{
    settle(&b);
    uint64_t v = pack(b);
    memcpy(p, &v, 8);
}

static uint8_t *mbar_at(pl_warp *w, unsigned lane, const pl_insn *i, const uint64_t *addr)
{
    return at(w, lane, i->sel[PL_M_SPACE] ? (pl_space)i->sel[PL_M_SPACE] : PL_SP_GENERIC, addr[lane], 8, 8, "mbarrier operation");
}

static void each_mbarrier(pl_warp *w, const pl_insn *i, unsigned a, uint64_t *addr)
{
    pl_addresses(w, i, a, i->sel[PL_M_FLAGS] & PL_MF_ADDR32, i->imm, addr);
    pl_record(w, PL_SP_SHARED, PL_AC_ATOMIC, 8, w->exec, addr, 0);
}

void exec_mbarrier_init(pl_warp *w, const pl_insn *i)
{
    uint64_t addr[PL_LANES];
    each_mbarrier(w, i, 0, addr);
    for (uint32_t m = w->exec; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint8_t *p = mbar_at(w, l, i, addr);
        uint32_t n = lane_u32(w, i->op[1], l);
        if (!p)
            return;
        if (!n || n >= 1u << COUNT_BITS) {
            pl_fault(w, 1u << l, addr[l], "CUDA_ERROR_ILLEGAL_INSTRUCTION", "mbarrier.init with a count of %u; 1 to %u are allowed", n,
                     (1u << COUNT_BITS) - 1);
            return;
        }
        uint64_t v = pack((mbar){.expected = n, .pending = n});
        memcpy(p, &v, 8);
    }
}

void exec_mbarrier_inval(pl_warp *w, const pl_insn *i)
{
    uint64_t addr[PL_LANES];
    each_mbarrier(w, i, 0, addr);
    for (uint32_t m = w->exec; m; m &= m - 1)
        if (!mbar_at(w, (unsigned)__builtin_ctz(m), i, addr))
            return;
}

void exec_mbarrier_arrive(pl_warp *w, const pl_insn *i, int expect, int drop)
{
    uint64_t addr[PL_LANES], old[PL_LANES] = {0};
    each_mbarrier(w, i, 1, addr);
    for (uint32_t m = w->exec; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint8_t *p = mbar_at(w, l, i, addr);
        if (!p)
            return;
        uint32_t n = i->op[2] == PL_NO_OPERAND ? 1 : lane_u32(w, i->op[2], l), count = expect ? 1 : n;
        memcpy(&old[l], p, 8);
        mbar b = unpack(old[l]);
        if (expect)
            b.tx += (int32_t)n;
        if (drop)
            b.expected -= count;
        if (count > b.pending) {
            pl_fault(w, 1u << l, addr[l], "CUDA_ERROR_ILLEGAL_INSTRUCTION", "mbarrier.arrive of %u; only %u arrivals are missing", count, b.pending);
            return;
        }
        b.pending -= count;
        write_mbar(p, b);
    }
    if (i->op[0] != PL_NO_OPERAND)
        pl_blend64(w, pl_row64(w, i->op[0]), old);
}

void exec_mbarrier_tx(pl_warp *w, const pl_insn *i, int which)
{
    uint64_t addr[PL_LANES];
    each_mbarrier(w, i, 0, addr);
    for (uint32_t m = w->exec; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint8_t *p = mbar_at(w, l, i, addr);
        if (!p)
            return;
        mbar b = read_mbar(p);
        int32_t n = (int32_t)lane_u32(w, i->op[1], l);
        b.tx += which == W_expect_tx ? n : -n;
        write_mbar(p, b);
    }
}

/* A failed try_wait lets other warps run; test_wait just answers. */
void exec_mbarrier_wait(pl_warp *w, const pl_insn *i, int how, int parity)
{
    uint64_t addr[PL_LANES];
    uint32_t done = 0;
    pl_addresses(w, i, 1, i->sel[PL_M_FLAGS] & PL_MF_ADDR32, i->imm, addr);
    pl_record(w, PL_SP_SHARED, PL_AC_LOAD, 8, w->exec, addr, 0);
    if (w->async) { /* late copies of this warp land when it looks */
        complete(w, w->async->group + 1);
    }
    for (uint32_t m = w->exec; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint8_t *p = mbar_at(w, l, i, addr);
        uint64_t v;
        if (!p)
            return;
        memcpy(&v, p, 8);
        bool phase = v >> 63;
        bool waited = parity ? lane_u32(w, i->op[2], l) & 1u : pl_row64(w, i->op[2])[l] >> 63;
        done |= (uint32_t)(phase != waited) << l;
    }
    pl_pred_write(w, i->op[0], done);
    if ((done & w->exec) != w->exec) {
        w->polls++;
        w->yield |= how == W_try_wait;
    }
}

void exec_mbarrier_pending(pl_warp *w, const pl_insn *i)
{
    const uint64_t *a = pl_row64(w, i->op[1]);
    uint32_t v[PL_LANES];
    for (unsigned l = 0; l < PL_LANES; l++)
        v[l] = unpack(a[l]).pending;
    pl_blend32(w, pl_row32(w, i->op[0]), v);
}

void exec_cp_mbarrier_arrive(pl_warp *w, const pl_insn *i)
{
    uint64_t addr[PL_LANES];
    bool noinc = pl_mod(&pl_forms[i->form], i->mods, G_noinc) != W_none;
    each_mbarrier(w, i, 0, addr);
    if (w->async)
        complete(w, w->async->group + 1);
    for (uint32_t m = w->exec; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint8_t *p = mbar_at(w, l, i, addr);
        if (!p)
            return;
        if (!noinc) /* it adds one to the pending count and takes it away on arrival: no change */
            continue;
        mbar b = read_mbar(p);
        b.pending -= b.pending > 0;
        write_mbar(p, b);
    }
}

/* ---- bulk copies: one per executing lane ---- */

void exec_cp_bulk(pl_warp *w, const pl_insn *i, int dst, int src)
{
    unsigned flags = i->sel[PL_M_FLAGS];
    uint64_t to[PL_LANES], from[PL_LANES], bar[PL_LANES] = {0};
    pl_space ds = dst == W_global ? PL_SP_GLOBAL : PL_SP_SHARED, ss = src == W_global ? PL_SP_GLOBAL : PL_SP_SHARED;
    pl_addresses(w, i, 0, flags & PL_MF_ADDR32, i->imm, to);
    pl_addresses(w, i, 1, flags & PL_MF_ADDR32_2, (int32_t)i->target, from);
    if (dst != W_global)
        pl_addresses(w, i, 3, flags & PL_MF_ADDR32_3, i->op[PL_INLINE_OPERANDS - 1] == PL_NO_OPERAND ? 0 : (int32_t)i->op[PL_INLINE_OPERANDS - 1],
                     bar);
    for (uint32_t m = w->exec; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint32_t n = lane_u32(w, i->op[2], l);
        if (n % 16) {
            pl_fault(w, 1u << l, to[l], "CUDA_ERROR_ILLEGAL_INSTRUCTION", "bulk copy of %u bytes, which is not a multiple of 16", n);
            return;
        }
        uint8_t *d = at(w, l, ds, to[l], n, 16, "bulk copy");
        const uint8_t *s = d ? at(w, l, ss, from[l], n, 16, "bulk copy") : NULL;
        if (!s)
            return;
        memmove(d, s, n);
        if (dst == W_global)
            continue;
        uint8_t *p = at(w, l, PL_SP_SHARED, bar[l], 8, 8, "bulk copy's mbarrier");
        if (!p)
            return;
        mbar b = read_mbar(p);
        b.tx -= (int32_t)n;
        write_mbar(p, b);
    }
    pl_record(w, PL_SP_GLOBAL, PL_AC_ASYNC, 16, w->exec, dst == W_global ? to : from, flags);
}

void exec_bulk_commit(pl_warp *w, const pl_insn *i)
{
    (void)w;
    (void)i;
}

void exec_bulk_wait(pl_warp *w, const pl_insn *i)
{
    (void)w;
    (void)i;
}
