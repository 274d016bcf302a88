/* bits.h - bit counting, searching, moving and selection.
 *
 * PTX manual: popc clz bfind fns brev bfe bfi szext bmsk ("Integer Arithmetic Instructions"), lop3
 * shf shl shr cnot ("Logic and Shift Instructions") and prmt ("Data Movement and Conversion
 * Instructions"). */
#ifndef PL_EMU_EXEC_NUM_BITS_H
#define PL_EMU_EXEC_NUM_BITS_H

#include "num.h"

/* Parallel bit count: pairs, nibbles, bytes, then a multiplication adds the bytes. Vectorises on
 * every host. */
static inline uint32_t b32_popc(uint32_t a)
{
    a -= a >> 1 & 0x55555555u;
    a = (a & 0x33333333u) + (a >> 2 & 0x33333333u);
    a = (a + (a >> 4)) & 0x0f0f0f0fu;
    return a * 0x01010101u >> 24;
}

static inline uint32_t b64_popc(uint64_t a)
{
    return b32_popc((uint32_t)a) + b32_popc((uint32_t)(a >> 32));
}

/* Leading zeros: propagates the highest set bit to the right and counts the remaining zeros. */
static inline uint32_t b32_clz(uint32_t a)
{
    a |= a >> 1;
    a |= a >> 2;
    a |= a >> 4;
    a |= a >> 8;
    a |= a >> 16;
    return 32 - b32_popc(a);
}

static inline uint32_t b64_clz(uint64_t a)
{
    uint32_t high = (uint32_t)(a >> 32), low = (uint32_t)a;
    return high ? b32_clz(high) : 32 + b32_clz(low);
}

static inline uint32_t b32_brev(uint32_t a)
{
    a = (a >> 1 & 0x55555555u) | (a & 0x55555555u) << 1;
    a = (a >> 2 & 0x33333333u) | (a & 0x33333333u) << 2;
    a = (a >> 4 & 0x0f0f0f0fu) | (a & 0x0f0f0f0fu) << 4;
    a = (a >> 8 & 0x00ff00ffu) | (a & 0x00ff00ffu) << 8;
    return a >> 16 | a << 16;
}

static inline uint64_t b64_brev(uint64_t a)
{
    return (uint64_t)b32_brev((uint32_t)a) << 32 | b32_brev((uint32_t)(a >> 32));
}

/* bfind: position of the highest bit that differs from the sign, all ones if there is none;
 * .shiftamt returns the left shift that would move it to the top. */
static inline uint32_t u32_bfind(uint32_t a, bool shiftamt)
{
    uint32_t lead = b32_clz(a);
    return a == 0 ? UINT32_MAX : shiftamt ? lead : 31 - lead;
}

static inline uint32_t s32_bfind(int32_t a, bool shiftamt)
{
    return u32_bfind((uint32_t)(a ^ (a >> 31)), shiftamt);
}

static inline uint32_t u64_bfind(uint64_t a, bool shiftamt)
{
    uint32_t lead = b64_clz(a);
    return a == 0 ? UINT32_MAX : shiftamt ? lead : 63 - lead;
}

static inline uint32_t s64_bfind(int64_t a, bool shiftamt)
{
    return u64_bfind((uint64_t)(a ^ (a >> 63)), shiftamt);
}

/* fns: the n-th set bit counted from `base` (up if n > 0, down if n < 0); n = 0 selects the bit at
 * base itself. */
static inline uint32_t b32_fns(uint32_t mask, uint32_t base, int32_t n)
{
    if (n == INT32_MIN) return 0; /* measured: its negation overflows */
    if (base > 31) return UINT32_MAX;
    int step = n < 0 ? -1 : 1;
    uint32_t left = n == 0 ? 1 : n < 0 ? 0u - (uint32_t)n : (uint32_t)n;
    for (int i = (int)base; i >= 0 && i < 32; i += step) {
        if (mask >> i & 1 && --left == 0) return (uint32_t)i;
        if (n == 0) break;
    }
    return UINT32_MAX;
}

/* ---- shifts: amounts beyond the width give 0 or copies of the sign ---- */

static inline uint16_t b16_shl(uint16_t a, uint32_t n)
{
    return (uint16_t)(n > 15 ? 0 : (uint32_t)a << (n & 15));
}

static inline uint32_t b32_shl(uint32_t a, uint32_t n)
{
    return n > 31 ? 0 : a << (n & 31);
}

static inline uint64_t b64_shl(uint64_t a, uint32_t n)
{
    return n > 63 ? 0 : a << (n & 63);
}

static inline uint16_t u16_shr(uint16_t a, uint32_t n)
{
    return (uint16_t)(n > 15 ? 0 : a >> (n & 15));
}

static inline uint32_t u32_shr(uint32_t a, uint32_t n)
{
    return n > 31 ? 0 : a >> (n & 31);
}

static inline uint64_t u64_shr(uint64_t a, uint32_t n)
{
    return n > 63 ? 0 : a >> (n & 63);
}

static inline int16_t s16_shr(int16_t a, uint32_t n)
{
    return (int16_t)(a >> (n > 15 ? 15 : n));
}

static inline int32_t s32_shr(int32_t a, uint32_t n)
{
    return a >> (n > 31 ? 31 : n);
}

static inline int64_t s64_shr(int64_t a, uint32_t n)
{
    return a >> (n > 63 ? 63 : n);
}

/* Funnel shifts of the pair b:a. .clamp limits the amount to 32, .wrap takes it modulo 32. */
static inline uint32_t b32_shf_l(uint32_t a, uint32_t b, uint32_t n, bool wrap)
{
    n = wrap ? n & 31 : n > 32 ? 32 : n;
    return (uint32_t)((((uint64_t)b << 32 | a) << n) >> 32);
}

static inline uint32_t b32_shf_r(uint32_t a, uint32_t b, uint32_t n, bool wrap)
{
    n = wrap ? n & 31 : n > 32 ? 32 : n;
    return (uint32_t)(((uint64_t)b << 32 | a) >> n);
}

/* ---- bit fields ----
 * Position and length are the low bytes of their operands in the 32-bit forms, and the whole words
 * in the 64-bit forms, which the hardware executes as shifts (measured). */

static inline uint32_t low_ones(uint32_t n)
{
    return n > 31 ? UINT32_MAX : (1u << (n & 31)) - 1;
}

static inline uint64_t low_ones64(uint32_t n)
{
    return n > 63 ? UINT64_MAX : ((uint64_t)1 << (n & 63)) - 1;
}

static inline uint32_t u32_bfe(uint32_t a, uint32_t pos, uint32_t len)
{
    return u32_shr(a, pos & 0xff) & low_ones(len & 0xff);
}

static inline uint64_t u64_bfe(uint64_t a, uint32_t pos, uint32_t len)
{
    return u64_shr(a, pos) & low_ones64(len);
}

/* The top bit of the field is sign-extended; a field that extends past the operand uses the
 * operand's sign. */
static inline int32_t s32_bfe(int32_t a, uint32_t pos, uint32_t len)
{
    pos &= 0xff;
    len &= 0xff;
    uint32_t top = pos + len - 1, mask = low_ones(len), field = (uint32_t)s32_shr(a, pos);
    uint32_t sign = len == 0 ? 0 : (uint32_t)(a >> (top > 31 ? 31 : top)) & 1;
    return (int32_t)((field & mask) | (sign ? ~mask : 0));
}

static inline int64_t s64_bfe(int64_t a, uint32_t pos, uint32_t len)
{
    pos = pos > 64 ? 64 : pos;
    len = len > 64 ? 64 : len;
    uint32_t top = pos + len - 1;
    uint64_t mask = low_ones64(len), field = (uint64_t)s64_shr(a, pos);
    uint64_t sign = len == 0 ? 0 : (uint64_t)(a >> (top > 63 ? 63 : top)) & 1;
    return (int64_t)((field & mask) | (sign ? ~mask : 0));
}

/* bfi: inserts the low `len` bits of a into b at `pos`. */
static inline uint32_t b32_bfi(uint32_t a, uint32_t b, uint32_t pos, uint32_t len)
{
    uint32_t mask = b32_shl(low_ones(len & 0xff), pos & 0xff);
    return (b32_shl(a, pos & 0xff) & mask) | (b & ~mask);
}

static inline uint64_t b64_bfi(uint64_t a, uint64_t b, uint32_t pos, uint32_t len)
{
    uint64_t mask = b64_shl(low_ones64(len), pos);
    return (b64_shl(a, pos) & mask) | (b & ~mask);
}

/* szext: extends the low n bits of a. n = 0 gives 0. */
static inline uint32_t u32_szext(uint32_t a, uint32_t n, bool wrap)
{
    n = wrap ? n & 31 : n;
    return a & low_ones(n);
}

static inline int32_t s32_szext(int32_t a, uint32_t n, bool wrap)
{
    n = wrap ? n & 31 : n > 32 ? 32 : n;
    uint32_t sign = n == 0 ? 0 : (uint32_t)a >> ((n - 1) & 31) & 1, mask = low_ones(n);
    return (int32_t)(((uint32_t)a & mask) | (sign ? ~mask : 0));
}

/* bmsk: n ones starting at bit pos. */
static inline uint32_t b32_bmsk(uint32_t pos, uint32_t n, bool wrap)
{
    pos = wrap ? pos & 31 : pos;
    n = wrap ? n & 31 : n;
    return b32_shl(low_ones(n), pos);
}

/* lop3: bit i of the result is bit (4a + 2b + c) of the table, for the three bits at i. Each step
 * halves the table with one operand (Shannon expansion); a constant table folds to a few
 * operations. */
static inline uint32_t lop3_choose(uint32_t x, uint32_t one, uint32_t zero)
{
    return (x & one) | (~x & zero);
}

static inline uint32_t table_word(uint32_t table, int i)
{
    return 0u - (table >> i & 1);
}

static inline uint32_t b32_lop3(uint32_t a, uint32_t b, uint32_t c, uint32_t table)
{
    uint32_t c0 = lop3_choose(c, table_word(table, 1), table_word(table, 0));
    uint32_t c1 = lop3_choose(c, table_word(table, 3), table_word(table, 2));
    uint32_t c2 = lop3_choose(c, table_word(table, 5), table_word(table, 4));
    uint32_t c3 = lop3_choose(c, table_word(table, 7), table_word(table, 6));
    return lop3_choose(a, lop3_choose(b, c3, c2), lop3_choose(b, c1, c0));
}

static inline uint64_t b64_lop3(uint64_t a, uint64_t b, uint64_t c, uint32_t table)
{
    return (uint64_t)b32_lop3((uint32_t)(a >> 32), (uint32_t)(b >> 32), (uint32_t)(c >> 32), table)
               << 32 |
           b32_lop3((uint32_t)a, (uint32_t)b, (uint32_t)c, table);
}

/* ---- prmt: builds a word from the bytes of b:a ---- */

enum {
    PL_PRMT_INDEX,
    PL_PRMT_F4E,
    PL_PRMT_B4E,
    PL_PRMT_RC8,
    PL_PRMT_ECL,
    PL_PRMT_ECR,
    PL_PRMT_RC16
};

/* The special modes are index mode with a selector derived from the low two bits of c (PTX manual,
 * table of the prmt modes). */
static inline uint32_t prmt_selector(uint32_t c, int mode)
{
    uint32_t n = c & 3;
    switch (mode) {
    case PL_PRMT_F4E: return 0x3210u + 0x1111u * n;
    case PL_PRMT_B4E: return (0x5670u + 0x1111u * n) & 0x7777u;
    case PL_PRMT_RC8: return 0x1111u * n;
    case PL_PRMT_ECL: return n == 0 ? 0x3210u : n == 1 ? 0x3211u : n == 2 ? 0x3222u : 0x3333u;
    case PL_PRMT_ECR: return n == 0 ? 0x0000u : n == 1 ? 0x1110u : n == 2 ? 0x2210u : 0x3210u;
    case PL_PRMT_RC16: return n & 1 ? 0x3232u : 0x1010u;
    default: return c;
    }
}

static inline uint32_t b32_prmt(uint32_t a, uint32_t b, uint32_t c, int mode)
{
    uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t select = prmt_selector(c, mode), r = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t s = select >> (4 * i);
        uint32_t byte = (uint32_t)(bytes >> (8 * (s & 7))) & 0xff;
        uint32_t sign = byte & 0x80 ? 0xff : 0;
        r |= (s & 8 ? sign : byte) << (8 * i);
    }
    return r;
}

#endif
