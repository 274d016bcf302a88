/* op_load_store.c - ld, st, address conversion and stack memory: memory instructions for a whole
 * warp.
 *
 * The fast path handles a warp whose lanes all access one allocation or window with aligned
 * addresses: one check for all lanes (span.h), then a broadcast, a copy or a gather. All other
 * cases (other windows, restricted allocations, faults) are handled lane by lane. Read next:
 * span.h, address.h (resolving addresses), op_atom.c. */
#include <string.h>

#include "emu/exec/memory/span.h"
#include "isa/program/cache_policy.h"

static inline uint64_t sign_extend(uint64_t v, unsigned log2, bool sign)
{
    if (!sign || log2 == 3) return v;
    unsigned shift = 64u - (8u << log2);
    return (uint64_t)((int64_t)(v << shift) >> shift);
}

/* Writes the loaded elements of one register to its row. */
static inline void put(pl_warp *w, uint32_t row, const uint64_t *v, bool wide)
{
    if (row == PL_NO_OPERAND) return;
    if (wide) {
        pl_blend64(w, pl_row64(w, row), v);
    } else {
        uint32_t t[PL_LANES];
        for (unsigned l = 0; l < PL_LANES; l++) t[l] = (uint32_t)v[l];
        pl_blend32(w, pl_row32(w, row), t);
    }
}

static inline uint32_t data_row(const pl_warp *w, const pl_insn *i, unsigned operand,
                                unsigned count, unsigned k)
{
    return count > 1 ? pl_more(w, i, i->op[operand] + k) : i->op[operand];
}

static void load_slow(pl_warp *w, const pl_insn *i, pl_space space, uint64_t *addr, unsigned log2,
                      unsigned count)
{
    unsigned bytes = 1u << log2, flags = i->sel[PL_M_FLAGS];
    pl_space real = space;
    uint64_t v[8][PL_LANES];
    memset(v, 0, sizeof v);
    for (unsigned l = 0; l < PL_LANES; l++) {
        if (!((w->exec >> l) & 1u)) continue;
        uint64_t at;
        const uint8_t *p = pl_resolve(w, l, space, addr[l], (uint64_t)bytes * count, &real, &at);
        if (!p || addr[l] % ((uint64_t)bytes * count)) {
            pl_access_fault(w, l, space, addr[l], (uint64_t)bytes * count, "load");
            return;
        }
        addr[l] = at;
        for (unsigned k = 0; k < count; k++) {
            uint64_t x = 0;
            memcpy(&x, p + (size_t)k * bytes, bytes);
            v[k][l] = sign_extend(x, log2, flags & PL_MF_SIGNED);
        }
    }
    for (unsigned k = 0; k < count; k++)
        put(w, data_row(w, i, 0, count, k), v[k], flags & PL_MF_WIDE);
    pl_record_effect(w, real, PL_AC_LOAD, bytes * count, w->exec, addr, flags);
}

static void load128(pl_warp *w, const pl_insn *i, pl_space space, uint64_t *addr)
{
    uint64_t v[2 * PL_LANES] = {0};
    pl_space real = space;
    for (unsigned l = 0; l < PL_LANES; l++) {
        if (!((w->exec >> l) & 1u)) continue;
        uint64_t at;
        const uint8_t *p = pl_resolve(w, l, space, addr[l], 16, &real, &at);
        if (!p || addr[l] % 16) {
            pl_access_fault(w, l, space, addr[l], 16, "load");
            return;
        }
        addr[l] = at;
        memcpy(&v[l], p, 8);
        memcpy(&v[PL_LANES + l], p + 8, 8);
    }
    if (i->op[0] != PL_NO_OPERAND) pl_blend128(w, pl_row64(w, i->op[0]), v);
    pl_record_effect(w, real, PL_AC_LOAD, 16, w->exec, addr, i->sel[PL_M_FLAGS]);
}

/* True if the access is within the parameters. The assembler accepts `ld.param.u64` of a 32-bit
 * parameter, or `[n+400]`, as ptxas does. */
static inline bool within_params(const pl_warp *w, const pl_insn *i, uint64_t bytes)
{
    uint32_t n = w->grid->entry->param_bytes;
    return (uint64_t)i->imm <= n && bytes <= n - (uint64_t)i->imm;
}

/* Kernel parameters at a fixed offset: uniform over all lanes. */
static inline void load_param(pl_warp *w, const pl_insn *i, unsigned log2, unsigned count)
{
    unsigned flags = i->sel[PL_M_FLAGS];
    for (unsigned k = 0; k < count; k++) {
        uint64_t x = 0, v[PL_LANES];
        memcpy(&x, w->grid->params + i->imm + ((size_t)k << log2), (size_t)1 << log2);
        x = sign_extend(x, log2, flags & PL_MF_SIGNED);
        for (unsigned l = 0; l < PL_LANES; l++) v[l] = x;
        put(w, data_row(w, i, 0, count, k), v, flags & PL_MF_WIDE);
    }
}

/* Loads an element of 1 << log2 bytes, as wide as its register, for every active lane from base +
 * off[l]. */
PL_LANE_INLINE void gather(const pl_warp *w, uint32_t row, const uint8_t *base, const uint32_t *off,
                           unsigned log2)
{
    uint8_t *restrict d = (uint8_t *)pl_row32(w, row);
    if (w->exec == UINT32_MAX) {
        for (unsigned l = 0; l < PL_LANES; l++)
            memcpy(d + ((size_t)l << log2), base + off[l], (size_t)1 << log2);
    } else {
        for (uint32_t m = w->exec; m; m &= m - 1) {
            const unsigned l = (unsigned)__builtin_ctz(m);
            memcpy(d + ((size_t)l << log2), base + off[l], (size_t)1 << log2);
        }
    }
}

#ifdef __AVX512F__
typedef uint32_t words16 __attribute__((vector_size(64)));

/* Transposes the vectors of four of 16 consecutive lanes, in a[0..3], to v[k] of element k. */
PL_LANE_INLINE void deinterleave4(const words16 a[4], words16 v[4])
{
    const words16 low0 = __builtin_shufflevector(a[0], a[1], 0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9,
                                                 13, 17, 21, 25, 29);
    const words16 low1 = __builtin_shufflevector(a[2], a[3], 0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9,
                                                 13, 17, 21, 25, 29);
    const words16 high0 = __builtin_shufflevector(a[0], a[1], 2, 6, 10, 14, 18, 22, 26, 30, 3, 7,
                                                  11, 15, 19, 23, 27, 31);
    const words16 high1 = __builtin_shufflevector(a[2], a[3], 2, 6, 10, 14, 18, 22, 26, 30, 3, 7,
                                                  11, 15, 19, 23, 27, 31);
    v[0] =
        __builtin_shufflevector(low0, low1, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
    v[1] = __builtin_shufflevector(low0, low1, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29,
                                   30, 31);
    v[2] = __builtin_shufflevector(high0, high1, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22,
                                   23);
    v[3] = __builtin_shufflevector(high0, high1, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28,
                                   29, 30, 31);
}

/* The inverse. */
PL_LANE_INLINE void interleave4(const words16 v[4], words16 a[4])
{
    const words16 low0 =
        __builtin_shufflevector(v[0], v[1], 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
    const words16 high0 = __builtin_shufflevector(v[0], v[1], 8, 9, 10, 11, 12, 13, 14, 15, 24, 25,
                                                  26, 27, 28, 29, 30, 31);
    const words16 low1 =
        __builtin_shufflevector(v[2], v[3], 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
    const words16 high1 = __builtin_shufflevector(v[2], v[3], 8, 9, 10, 11, 12, 13, 14, 15, 24, 25,
                                                  26, 27, 28, 29, 30, 31);
    a[0] = __builtin_shufflevector(low0, low1, 0, 8, 16, 24, 1, 9, 17, 25, 2, 10, 18, 26, 3, 11, 19,
                                   27);
    a[1] = __builtin_shufflevector(low0, low1, 4, 12, 20, 28, 5, 13, 21, 29, 6, 14, 22, 30, 7, 15,
                                   23, 31);
    a[2] = __builtin_shufflevector(high0, high1, 0, 8, 16, 24, 1, 9, 17, 25, 2, 10, 18, 26, 3, 11,
                                   19, 27);
    a[3] = __builtin_shufflevector(high0, high1, 4, 12, 20, 28, 5, 13, 21, 29, 6, 14, 22, 30, 7, 15,
                                   23, 31);
}

PL_LANE_INLINE void deinterleave2(const words16 a[2], words16 v[2])
{
    v[0] = __builtin_shufflevector(a[0], a[1], 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26,
                                   28, 30);
    v[1] = __builtin_shufflevector(a[0], a[1], 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27,
                                   29, 31);
}

PL_LANE_INLINE void interleave2(const words16 v[2], words16 a[2])
{
    a[0] =
        __builtin_shufflevector(v[0], v[1], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    a[1] = __builtin_shufflevector(v[0], v[1], 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30,
                                   15, 31);
}
#endif

/* Transposes element k of lane l's vector at p[l * count + k] to v[k][l]. count: 2 or 4. */
static inline void deinterleave(uint32_t v[4][PL_LANES], const uint8_t *p, unsigned count)
{
#ifdef __AVX512F__
    for (unsigned half = 0; half < 2; half++) {
        words16 a[4], d[4];
        memcpy(a, p + 64 * half * count, 64 * count);
        if (count == 4)
            deinterleave4(a, d);
        else
            deinterleave2(a, d);
        for (unsigned k = 0; k < count; k++) memcpy(&v[k][16 * half], &d[k], 64);
    }
#else
    for (unsigned l = 0; l < PL_LANES; l++)
        for (unsigned k = 0; k < count; k++) memcpy(&v[k][l], p + 4 * ((size_t)l * count + k), 4);
#endif
}

/* The inverse: v[k] are rows of registers. */
static inline void interleave(uint8_t *p, const uint32_t *const v[4], unsigned count)
{
#ifdef __AVX512F__
    for (unsigned half = 0; half < 2; half++) {
        words16 a[4], d[4];
        for (unsigned k = 0; k < count; k++) memcpy(&d[k], v[k] + 16 * half, 64);
        if (count == 4)
            interleave4(d, a);
        else
            interleave2(d, a);
        memcpy(p + 64 * half * count, a, 64 * count);
    }
#else
    for (unsigned l = 0; l < PL_LANES; l++)
        for (unsigned k = 0; k < count; k++) memcpy(p + 4 * ((size_t)l * count + k), &v[k][l], 4);
#endif
}

/* Vectors of 2 or 4 registers at consecutive addresses. */
static inline void load_vectors32(pl_warp *w, const pl_insn *i, const uint8_t *p, unsigned count)
{
    uint32_t v[4][PL_LANES];
    if (count == 4)
        deinterleave(v, p, 4);
    else
        deinterleave(v, p, 2);
    for (unsigned k = 0; k < count; k++) {
        const uint32_t row = data_row(w, i, 0, count, k);
        if (row != PL_NO_OPERAND) pl_blend32(w, pl_row32(w, row), v[k]);
    }
}

static void load32(pl_warp *w, const pl_insn *i, const pl_span *s, unsigned count)
{
    const uint8_t *all = s->uniform ? NULL : pl_span_row(s, 4 * count);
    if (all && (count == 2 || count == 4)) {
        load_vectors32(w, i, all, count);
        return;
    }
    const uint32_t first = s->off[__builtin_ctz(w->exec)];
    for (unsigned k = 0; k < count; k++) {
        const uint32_t row = data_row(w, i, 0, count, k);
        if (row == PL_NO_OPERAND) continue;
        const uint8_t *at = s->base + 4 * k;
        if (s->uniform) {
            uint32_t x, v[PL_LANES];
            memcpy(&x, at + first, 4);
            for (unsigned l = 0; l < PL_LANES; l++) v[l] = x;
            pl_blend32(w, pl_row32(w, row), v);
        } else if (all && count == 1) {
            uint32_t v[PL_LANES];
            memcpy(v, all, sizeof v);
            pl_blend32(w, pl_row32(w, row), v);
        } else {
            gather(w, row, at, s->off, 2);
        }
    }
}

static void load64(pl_warp *w, const pl_insn *i, const pl_span *s, unsigned count)
{
    const uint8_t *all = s->uniform || count > 1 ? NULL : pl_span_row(s, 8);
    const uint32_t first = s->off[__builtin_ctz(w->exec)];
    for (unsigned k = 0; k < count; k++) {
        const uint32_t row = data_row(w, i, 0, count, k);
        if (row == PL_NO_OPERAND) continue;
        const uint8_t *at = s->base + 8 * k;
        uint64_t v[PL_LANES];
        if (s->uniform) {
            uint64_t x;
            memcpy(&x, at + first, 8);
            for (unsigned l = 0; l < PL_LANES; l++) v[l] = x;
        } else if (all) {
            memcpy(v, all, sizeof v);
        } else {
            gather(w, row, at, s->off, 3);
            continue;
        }
        pl_blend64(w, pl_row64(w, row), v);
    }
}

/* Elements of 8, 16 or 32 bits, extended to v. */
PL_LANE_INLINE void load_extended_lanes(const uint8_t *base, const uint32_t *off, unsigned log2,
                                        bool sign, uint64_t *restrict v)
{
    for (unsigned l = 0; l < PL_LANES; l++) {
        uint64_t x = 0;
        memcpy(&x, base + off[l], (size_t)1 << log2);
        v[l] = sign_extend(x, log2, sign);
    }
}

/* Elements whose size differs from that of their registers. */
static void load_extended(pl_warp *w, const pl_insn *i, const pl_span *s, unsigned log2,
                          unsigned count)
{
    const unsigned flags = i->sel[PL_M_FLAGS];
    const bool sign = flags & PL_MF_SIGNED;
    for (unsigned k = 0; k < count; k++) {
        const uint8_t *at = s->base + ((size_t)k << log2);
        uint64_t v[PL_LANES];
        switch (log2) { /* sizes known at compile time */
        case 0: load_extended_lanes(at, s->off, 0, sign, v); break;
        case 1: load_extended_lanes(at, s->off, 1, sign, v); break;
        default: load_extended_lanes(at, s->off, 2, sign, v); break;
        }
        put(w, data_row(w, i, 0, count, k), v, flags & PL_MF_WIDE);
    }
}

void exec_ld(pl_warp *w, const pl_insn *i)
{
    const unsigned log2 = i->sel[PL_M_LOG2], count = i->sel[PL_M_COUNT], flags = i->sel[PL_M_FLAGS];
    const pl_space space = (pl_space)i->sel[PL_M_SPACE];
    if (space == PL_SP_PARAM && i->op[1] == PL_NO_OPERAND && log2 < 4 &&
        within_params(w, i, (uint64_t)count << log2)) {
        load_param(w, i, log2, count);
        return;
    }
    const uint32_t bytes = count << log2;
    uint64_t own[PL_LANES], *addr = w->fx ? w->fx->addr : own;
    pl_span s;
    if (w->fx || flags & PL_MF_POLL) {
        pl_addresses(w, i, 1, flags & PL_MF_ADDR32, i->imm, addr);
        if (flags & PL_MF_POLL) pl_warp_note_poll(w, addr[__builtin_ctz(w->exec)]);
    }
    if (log2 == 4 || !pl_span_find(w, i, 1, space, bytes, false, &s)) {
        pl_addresses(w, i, 1, flags & PL_MF_ADDR32, i->imm, addr);
        if (log2 == 4)
            load128(w, i, space, addr);
        else
            load_slow(w, i, space, addr, log2, count);
        return;
    }
    if (log2 == 2 && !(flags & PL_MF_WIDE))
        load32(w, i, &s, count);
    else if (log2 == 3)
        load64(w, i, &s, count);
    else
        load_extended(w, i, &s, log2, count);
    if (w->fx)
        pl_record_effect(w, space == PL_SP_GENERIC ? PL_SP_GLOBAL : space, PL_AC_LOAD, bytes,
                         w->exec, addr, flags);
}

/* Stores the low 1 << log2 bytes of each lane's element of a row, whose lanes are `stride` bytes
 * apart. */
PL_LANE_INLINE void scatter(const pl_warp *w, uint8_t *base, const uint32_t *off,
                            const uint8_t *row, unsigned log2, unsigned stride)
{
    if (w->exec == UINT32_MAX) {
        for (unsigned l = 0; l < PL_LANES; l++)
            memcpy(base + off[l], row + (size_t)l * stride, (size_t)1 << log2);
    } else {
        for (uint32_t m = w->exec; m; m &= m - 1) {
            const unsigned l = (unsigned)__builtin_ctz(m);
            memcpy(base + off[l], row + (size_t)l * stride, (size_t)1 << log2);
        }
    }
}

/* Stores if all lanes have consecutive addresses and elements as wide as their registers. False:
 * nothing was stored. */
static bool store_row(pl_warp *w, const pl_insn *i, const pl_span *s, unsigned log2, unsigned count)
{
    uint8_t *all = w->exec == UINT32_MAX ? pl_span_row(s, count << log2) : NULL;
    if (!all) return false;
    if (count == 1) {
        const uint32_t *row = pl_row32(w, i->op[1]);
        if (log2 == 2)
            memcpy(all, row, PL_LANES * 4);
        else
            memcpy(all, row, PL_LANES * 8);
        return true;
    }
    if (log2 != 2 || (count != 2 && count != 4)) return false;
    const uint32_t *v[4];
    for (unsigned k = 0; k < count; k++) v[k] = pl_row32(w, data_row(w, i, 1, count, k));
    if (count == 4)
        interleave(all, v, 4);
    else
        interleave(all, v, 2);
    return true;
}

static void store_span(pl_warp *w, const pl_insn *i, const pl_span *s, unsigned log2,
                       unsigned count)
{
    const bool wide = log2 == 3 || i->sel[PL_M_FLAGS] & PL_MF_WIDE;
    if (log2 == (wide ? 3 : 2) && store_row(w, i, s, log2, count)) return;
    for (unsigned k = 0; k < count; k++) {
        /* The host is little-endian. */
        const uint8_t *v = (const uint8_t *)pl_row32(w, data_row(w, i, 1, count, k));
        uint8_t *at = s->base + ((size_t)k << log2);
        switch (log2 | (wide ? 4u : 0u)) { /* sizes known at compile time */
        case 0: scatter(w, at, s->off, v, 0, 4); break;
        case 1: scatter(w, at, s->off, v, 1, 4); break;
        case 2: scatter(w, at, s->off, v, 2, 4); break;
        case 4: scatter(w, at, s->off, v, 0, 8); break;
        case 5: scatter(w, at, s->off, v, 1, 8); break;
        case 6: scatter(w, at, s->off, v, 2, 8); break;
        default: scatter(w, at, s->off, v, 3, 8); break;
        }
    }
}

/* Lane by lane. */
static void store_slow(pl_warp *w, const pl_insn *i, pl_space space, uint64_t *addr, unsigned log2,
                       unsigned count)
{
    const unsigned flags = i->sel[PL_M_FLAGS], bytes = 1u << log2;
    const uint64_t size = (uint64_t)bytes * count;
    pl_space real = space;
    for (unsigned l = 0; l < PL_LANES; l++) {
        if (!((w->exec >> l) & 1u)) continue;
        uint64_t at;
        uint8_t *p = pl_resolve_write(w, l, space, addr[l], size, &real, &at);
        if (!p || addr[l] % size) {
            pl_access_fault(w, l, space, addr[l], size, "store");
            return;
        }
        addr[l] = at;
        for (unsigned k = 0; k < count; k++) {
            uint32_t row = data_row(w, i, 1, count, k);
            if (log2 == 4) {
                memcpy(p, &pl_row64(w, row)[l], 8);
                memcpy(p + 8, &pl_row64(w, row)[PL_LANES + l], 8);
            } else if (flags & PL_MF_WIDE)
                memcpy(p + (size_t)k * bytes, &pl_row64(w, row)[l], bytes);
            else
                memcpy(p + (size_t)k * bytes, &pl_row32(w, row)[l], bytes);
        }
    }
    pl_record_effect(w, real, PL_AC_STORE, (unsigned)size, w->exec, addr, flags);
}

void exec_st(pl_warp *w, const pl_insn *i)
{
    const unsigned log2 = i->sel[PL_M_LOG2], count = i->sel[PL_M_COUNT], flags = i->sel[PL_M_FLAGS];
    const pl_space space = (pl_space)i->sel[PL_M_SPACE];
    const uint32_t bytes = count << log2;
    uint64_t own[PL_LANES], *addr = w->fx ? w->fx->addr : own;
    pl_span s;
    w->wrote |= space != PL_SP_LOCAL;
    if (log2 == 4 || !pl_span_find(w, i, 0, space, bytes, true, &s)) {
        pl_addresses(w, i, 0, flags & PL_MF_ADDR32, i->imm, addr);
        store_slow(w, i, space, addr, log2, count);
        return;
    }
    store_span(w, i, &s, log2, count);
    if (w->fx) {
        pl_addresses(w, i, 0, flags & PL_MF_ADDR32, i->imm, addr);
        pl_record_effect(w, space == PL_SP_GENERIC ? PL_SP_GLOBAL : space, PL_AC_STORE, bytes,
                         w->exec, addr, flags);
    }
}

/* ---- address conversion ---- */

static inline void put_address(pl_warp *w, uint32_t row, const uint64_t *v, int size)
{
    put(w, row, v, size == W_u64);
}

static inline void get_address(const pl_warp *w, uint32_t row, uint64_t *v, int size)
{
    for (unsigned l = 0; l < PL_LANES; l++)
        v[l] = size == W_u64 ? pl_row64(w, row)[l] : pl_row32(w, row)[l];
}

static uint64_t window_of(const pl_warp *w, int ss, int size)
{
    const bool wide = size == W_u64;
    switch (ss) {
    case W_shared:
    case W_shared__cta:
    case W_shared__cluster: return wide ? PL_SHARED_WINDOW : PL_NARROW_SHARED;
    case W_local: return wide ? PL_LOCAL_WINDOW : PL_NARROW_LOCAL;
    case W_param:
    case W_param__entry: return wide ? PL_PARAM_WINDOW : PL_NARROW_PARAM;
    case W_const: return w->program->bank.address;
    default: return 0;
    }
}

void exec_cvta(pl_warp *w, const pl_insn *i, int ss, int size)
{
    uint64_t v[PL_LANES], base = window_of(w, ss, size);
    get_address(w, i->op[1], v, size);
    for (unsigned l = 0; l < PL_LANES; l++) v[l] += base;
    put_address(w, i->op[0], v, size);
}

void exec_cvta_to(pl_warp *w, const pl_insn *i, int ss, int size)
{
    uint64_t v[PL_LANES], base = window_of(w, ss, size);
    get_address(w, i->op[1], v, size);
    for (unsigned l = 0; l < PL_LANES; l++) v[l] -= base;
    put_address(w, i->op[0], v, size);
}

static void is_in_space(pl_warp *w, const pl_insn *i, int ss, int size)
{
    uint64_t at[PL_LANES];
    uint32_t r = 0;
    get_address(w, i->op[1], at, size);
    for (unsigned l = 0; l < PL_LANES; l++) {
        uint64_t a = at[l];
        const pl_space space = pl_generic_space(&a);
        const bool shared = space == PL_SP_SHARED, local = space == PL_SP_LOCAL,
                   param = space == PL_SP_PARAM;
        const bool own = shared && a / PL_SHARED_SLICE == w->cta->cluster_rank;
        const pl_alloc *x = space == PL_SP_GLOBAL ? pl_memory_find(w->grid->memory, a) : NULL;
        const bool constant = x && (x->flags & PL_ALLOC_CONSTANT);
        bool in;
        switch (ss) {
        case W_shared:
        case W_shared__cta: in = own; break;
        case W_shared__cluster: in = shared; break;
        case W_local: in = local; break;
        case W_param:
        case W_param__entry: in = param; break;
        case W_const: in = constant; break;
        default:
            /* Kernel parameters count as global. */
            in = !shared && !local && !constant;
            break;
        }
        r |= (uint32_t)in << l;
    }
    pl_pred_write(w, i->op[0], r);
}

void exec_isspacep(pl_warp *w, const pl_insn *i, int ss)
{
    is_in_space(w, i, ss, W_u64);
}

void exec_isspacep_narrow(pl_warp *w, const pl_insn *i, int ss)
{
    is_in_space(w, i, ss, W_u32);
}

void exec_mapa(pl_warp *w, const pl_insn *i, int ss, int type)
{
    uint64_t v[PL_LANES];
    const uint32_t *rank = pl_row32(w, i->op[2]);
    get_address(w, i->op[1], v, type);
    for (unsigned l = 0; l < PL_LANES; l++) {
        /* Without .shared::cluster the address is generic. */
        uint64_t base = ss ? 0 : PL_SHARED_WINDOW;
        v[l] = base + (v[l] - base) % PL_SHARED_SLICE + (uint64_t)rank[l] * PL_SHARED_SLICE;
    }
    put_address(w, i->op[0], v, type);
}

void exec_getctarank(pl_warp *w, const pl_insn *i, int ss, int type)
{
    uint64_t v[PL_LANES];
    get_address(w, i->op[1], v, type);
    for (unsigned l = 0; l < PL_LANES; l++) {
        v[l] = (v[l] - (ss ? 0 : PL_SHARED_WINDOW)) / PL_SHARED_SLICE;
    }
    put(w, i->op[0], v, false);
}

/* createpolicy.range: a policy for a range of addresses. */
void exec_policy_range(pl_warp *w, const pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    const int primary = (int)pl_mod(f, i->mods, G_primary),
              secondary = (int)pl_mod(f, i->mods, G_secondary);
    const uint32_t *some = w->regs + (size_t)i->op[2] * PL_LANES,
                   *all = w->regs + (size_t)i->op[3] * PL_LANES;
    uint64_t addr[PL_LANES], v[PL_LANES];
    pl_addresses(w, i, 1, i->sel[PL_M_FLAGS] & PL_MF_ADDR32, i->imm, addr);
    for (unsigned l = 0; l < PL_LANES; l++)
        v[l] = policy_of_range(primary, secondary, addr[l], some[l], all[l]);
    put(w, i->op[0], v, true);
}

void exec_prefetch(pl_warp *w, const pl_insn *i)
{
    uint64_t addr[PL_LANES];
    pl_addresses(w, i, 0, i->sel[PL_M_FLAGS] & PL_MF_ADDR32, i->imm, addr);
    if (i->sel[PL_M_SPACE] == PL_SP_GLOBAL || i->sel[PL_M_SPACE] == PL_SP_GENERIC)
        pl_record_effect(w, PL_SP_GLOBAL, PL_AC_PREFETCH, 1, w->exec, addr, 0);
}

/* ---- local memory allocated at run time ---- */

void exec_alloca(pl_warp *w, const pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    bool wide = pl_mod(f, i->mods, G_type) == W_u64;
    uint32_t align = i->op[2] == PL_NO_OPERAND ? 8 : i->op[2];
    uint32_t top = pl_warp_current_call(w)->local_top, most = 0;
    if (!align || align & (align - 1)) align = 8;
    uint64_t v[PL_LANES], n[PL_LANES], start = (top + (uint64_t)align - 1) & ~(uint64_t)(align - 1);
    for (unsigned l = 0; l < PL_LANES; l++) {
        n[l] = wide ? pl_row64(w, i->op[1])[l] : pl_row32(w, i->op[1])[l];
        if (n[l] > 1u << 30) n[l] = 1u << 30;
        if ((w->exec >> l) & 1u && n[l] > most) most = (uint32_t)n[l];
    }
    const uint64_t end = start + ((most + (uint64_t)align - 1) & ~(uint64_t)(align - 1));
    /* The stack grows down: lanes that request less begin later, at the aligned address below the
     * common end. */
    for (unsigned l = 0; l < PL_LANES; l++)
        v[l] = start + (((w->exec >> l) & 1u ? end - start - n[l] : 0) & ~(uint64_t)(align - 1));
    if (!pl_warp_reserve_local(w, end < UINT32_MAX ? (uint32_t)end : UINT32_MAX,
                               pl_warp_current_call(w)->uncounted))
        return;
    pl_warp_current_call(w)->local_top = (uint32_t)end;
    put(w, i->op[0], v, wide);
}

void exec_stacksave(pl_warp *w, const pl_insn *i)
{
    uint64_t v[PL_LANES];
    for (unsigned l = 0; l < PL_LANES; l++) v[l] = pl_warp_current_call(w)->local_top;
    put(w, i->op[0], v, pl_mod(&pl_forms[i->form], i->mods, G_type) == W_u64);
}

void exec_stackrestore(pl_warp *w, const pl_insn *i)
{
    unsigned l = (unsigned)__builtin_ctz(w->exec);
    bool wide = pl_mod(&pl_forms[i->form], i->mods, G_type) == W_u64;
    uint64_t v = wide ? pl_row64(w, i->op[0])[l] : pl_row32(w, i->op[0])[l];
    pl_call_frame *n = pl_warp_current_call(w);
    if (v >= n->local && v <= n->local_top) n->local_top = (uint32_t)v;
}
