/* span.h - finds the host bytes for all lanes of a warp at once.
 *
 * Most loads and stores have aligned addresses in one allocation, in shared memory, in the constant
 * bank or in local memory. For these one pass over the lanes checks the bounds and computes offsets
 * from one host pointer. It also detects the two patterns that need no gather: all lanes at one
 * address, and lanes at consecutive addresses. All other accesses are resolved by address.h, lane
 * by lane. */
#ifndef PL_EMU_EXEC_MEMORY_SPAN_H
#define PL_EMU_EXEC_MEMORY_SPAN_H

#include "emu/exec/memory/address.h"

#ifdef __AVX512F__
#include <immintrin.h>
#endif

typedef struct pl_span {
    /* Inactive lanes have the offset of the first active lane. */
    _Alignas(64) uint32_t off[PL_LANES];
    uint8_t *base;
    uint32_t size;    /* bytes at base that the lanes may access */
    uint32_t row;     /* consecutive: offset of lane 0, even if lane 0 is inactive */
    bool uniform;     /* all active lanes have the same offset */
    bool consecutive; /* lane l has the offset row + l * bytes, modulo 2^32 */
} pl_span;

/* The window that contains `first`, the address of the first lane; *start is the address of
 * s->base. False: no window serves all lanes. */
static inline bool pl_span_window(pl_warp *w, pl_space space, uint64_t first, bool write,
                                  uint64_t *start, pl_span *s)
{
    const pl_cta *c = w->cta;
    const uint64_t shared = c->shared_base + c->shared_first;
    const uint64_t shared_size = c->shared_end - c->shared_first;
    switch (space) {
    case PL_SP_SHARED:
        *start = shared;
        s->base = c->shared + c->shared_first;
        s->size = (uint32_t)shared_size;
        return true;
    case PL_SP_CONST:
        *start = 0;
        s->base = w->program->bank.bytes;
        s->size = (uint32_t)w->program->bank.size;
        return !write;
    case PL_SP_LOCAL: /* each lane has its own section */
        *start = 0;
        s->base = w->local + (size_t)pl_first_lane(w) * w->local_bytes;
        s->size = pl_local_top(w);
        return w->local_bytes <= UINT32_MAX / PL_LANES;
    case PL_SP_GENERIC:
        if (first - PL_SHARED_WINDOW - shared < shared_size && !w->fx) {
            *start = PL_SHARED_WINDOW + shared;
            s->base = c->shared + c->shared_first;
            s->size = (uint32_t)shared_size;
            return true;
        }
        break;
    case PL_SP_GLOBAL: break;
    default: return false;
    }
    const pl_alloc *a = w->last_alloc;
    if (!a || first - a->address >= a->size) {
        a = w->previous_alloc;
        if (!a || first - a->address >= a->size) a = pl_memory_find(w->grid->memory, first);
        if (!a || a->valid) return false;
        w->previous_alloc = w->last_alloc;
        w->last_alloc = a;
    }
    if (write && pl_alloc_read_only(a)) return false;
    /* for an allocation of 4 GiB and more: the part around the first lane */
    const uint64_t at = first - a->address, reach = UINT32_MAX / 2;
    const uint64_t skip = a->size > UINT32_MAX && at > reach ? (at - reach) & ~UINT64_C(255) : 0;
    *start = a->address + skip;
    s->base = a->bytes + skip;
    s->size = a->size - skip > UINT32_MAX ? UINT32_MAX : (uint32_t)(a->size - skip);
    return true;
}

enum { PL_SPAN_INVALID = 1, PL_SPAN_DIFFER = 2, PL_SPAN_NOT_CONSECUTIVE = 4 };

#ifdef __AVX512F__
/* The properties (PL_SPAN_*) of the active lanes with offsets o. */
PL_LANE_INLINE unsigned pl_span_half(__m512i o, __mmask16 exec, __m512i last, __m512i misaligned,
                                     __m512i first, __m512i expected)
{
    const __mmask16 bad = _mm512_mask_cmpgt_epu32_mask(exec, o, last);
    const __mmask16 odd = _mm512_mask_test_epi32_mask(exec, o, misaligned);
    const __mmask16 differ = _mm512_mask_cmpneq_epi32_mask(exec, o, first);
    const __mmask16 leap = _mm512_mask_cmpneq_epi32_mask(exec, o, expected);
    return (bad | odd ? PL_SPAN_INVALID : 0u) | (differ ? PL_SPAN_DIFFER : 0u) |
           (leap ? PL_SPAN_NOT_CONSECUTIVE : 0u);
}
#endif

/* The properties (PL_SPAN_*) that hold for any active lane. Offsets of inactive lanes become
 * `first`. */
static inline unsigned pl_span_state(const pl_warp *w, uint32_t last, uint32_t misaligned,
                                     uint32_t first, uint32_t row, unsigned log2, uint32_t *off)
{
#ifdef __AVX512F__
    const __m512i lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i f = _mm512_set1_epi32((int)first), n = _mm512_set1_epi32((int)last);
    const __m512i low = _mm512_set1_epi32((int)misaligned);
    const __m512i expected =
        _mm512_add_epi32(_mm512_slli_epi32(lanes, log2), _mm512_set1_epi32((int)row));
    const __m512i next = _mm512_add_epi32(expected, _mm512_set1_epi32(16 << log2));
    const __mmask16 e0 = (__mmask16)w->exec, e1 = (__mmask16)(w->exec >> 16);
    const __m512i o0 = _mm512_load_si512(off), o1 = _mm512_load_si512(off + 16);
    _mm512_store_si512(off, _mm512_mask_mov_epi32(f, e0, o0));
    _mm512_store_si512(off + 16, _mm512_mask_mov_epi32(f, e1, o1));
    return pl_span_half(o0, e0, n, low, f, expected) | pl_span_half(o1, e1, n, low, f, next);
#else
    unsigned state = 0;
    for (uint32_t l = 0; l < PL_LANES; l++) {
        const uint32_t m = w->mask[l], o = (off[l] & m) | (first & ~m);
        off[l] = o;
        state |= o > last ? PL_SPAN_INVALID : 0u;
        state |= o & misaligned ? PL_SPAN_INVALID : 0u;
        state |= o != first ? PL_SPAN_DIFFER : 0u;
        state |= (o ^ (row + (l << log2))) & m ? PL_SPAN_NOT_CONSECUTIVE : 0u;
    }
    return state;
#endif
}

/* Checks s->off and detects patterns. low: the low bits of the address of s->base; first: the
 * offset of the first active lane. */
static inline bool pl_span_check(const pl_warp *w, uint32_t low, uint32_t bytes, uint32_t first,
                                 pl_span *s)
{
    const unsigned lane = (unsigned)__builtin_ctz(w->exec), log2 = (unsigned)__builtin_ctz(bytes);
    const uint32_t row = first - (lane << log2);
    if (s->size < bytes || low & (bytes - 1)) return false;
    const unsigned state = pl_span_state(w, s->size - bytes, bytes - 1, first, row, log2, s->off);
    s->row = row;
    s->uniform = !(state & PL_SPAN_DIFFER);
    s->consecutive = !(state & PL_SPAN_NOT_CONSECUTIVE);
    return !(state & PL_SPAN_INVALID);
}

/* The bytes addressed by operand k of the instruction: `bytes` for each lane, a power of two,
 * aligned to `bytes`. False: not in one window, out of bounds or misaligned. */
static inline bool pl_span_find(pl_warp *w, const pl_insn *i, unsigned k, pl_space space,
                                uint32_t bytes, bool write, pl_span *s)
{
    const unsigned lane = (unsigned)__builtin_ctz(w->exec);
    uint64_t start, first = (uint64_t)i->imm;
    uint32_t high = 0;
    if (i->op[k] == PL_NO_OPERAND) {
        if (space == PL_SP_SHARED) first += w->cta->shared_base + w->cta->shared_start;
        if (!pl_span_window(w, space, first, write, &start, s)) return false;
        for (unsigned l = 0; l < PL_LANES; l++) s->off[l] = (uint32_t)(first - start);
    } else if (i->sel[PL_M_FLAGS] & PL_MF_ADDR32) {
        const uint32_t *a = pl_row32(w, i->op[k]);
        first = (uint32_t)(a[lane] + (uint32_t)i->imm);
        if (!pl_span_window(w, space, first, write, &start, s)) return false;
        const uint32_t add = (uint32_t)i->imm - (uint32_t)start;
        for (unsigned l = 0; l < PL_LANES; l++) s->off[l] = a[l] + add;
    } else {
        const uint64_t *a = pl_row64(w, i->op[k]);
        first += a[lane];
        if (!pl_span_window(w, space, first, write, &start, s)) return false;
        const uint64_t add = (uint64_t)i->imm - start;
        for (unsigned l = 0; l < PL_LANES; l++) {
            const uint64_t d = a[l] + add;
            high |= (uint32_t)(d >> 32) & w->mask[l];
            s->off[l] = (uint32_t)d;
        }
    }
    if (high || (first - start) >> 32 ||
        !pl_span_check(w, (uint32_t)start, bytes, (uint32_t)(first - start), s))
        return false;
    if (space == PL_SP_LOCAL) {
        for (uint32_t l = 0; l < PL_LANES; l++) s->off[l] += l * w->local_bytes;
        s->uniform = s->consecutive = false;
    }
    return true;
}

/* All elements of a warp whose lanes are consecutive, including those of inactive lanes, or NULL.
 * bytes: per lane. */
static inline uint8_t *pl_span_row(const pl_span *s, uint32_t bytes)
{
    const uint32_t all = bytes * PL_LANES;
    const bool fits = s->consecutive && s->size >= all && s->row <= s->size - all;
    return fits ? s->base + s->row : NULL;
}

#endif
