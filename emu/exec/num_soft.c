/* num_soft.c - exact double precision arithmetic in integers.
 *
 * Every operation forms its result as sign, 128-bit significand and exponent, with the bits that fell off the end
 * or-ed into the lowest one ("jamming"), and rounds once in pack(). The 128-bit significand always carries at least
 * two bits more than the format, so a jammed lowest bit can only break ties, never move a result.
 *
 *   wide     | hi 64 bits | lo 64 bits |      value = (hi * 2^64 + lo) * 2^exp
 *
 * IEEE 754-2019, sections 4.3 (rounding) and 5.4; Hauser's SoftFloat describes the same jamming technique.
 */
#include "num_soft.h"

#define FRACTION_BITS 52
#define FRACTION_MASK 0x000fffffffffffffu
#define HIDDEN_BIT 0x0010000000000000u
#define QUIET_NAN 0x7ff8000000000000u
#define MIN_EXP (-1074) /* exponent of the last bit of a subnormal double */

typedef struct wide {
    uint64_t hi, lo;
} wide;

typedef struct number {
    bool negative;
    int exp;
    uint64_t sig;
} number;

static int leading_zeros(uint64_t x)
{
    int n = 0;
    for (int step = 32; step; step >>= 1) {
        if (x >> (64 - step) == 0) {
            n += step;
            x <<= step;
        }
    }
    return x == 0 ? 64 : n;
}

static wide wide_mul(uint64_t a, uint64_t b)
{
    uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    uint64_t mid = ah * bl + (al * bl >> 32);
    uint64_t low = al * bh + (uint32_t)mid;
    return (wide){ah * bh + (mid >> 32) + (low >> 32), a * b};
}

static wide wide_add(wide a, wide b)
{
    uint64_t lo = a.lo + b.lo;
    return (wide){a.hi + b.hi + (lo < a.lo), lo};
}

static wide wide_sub(wide a, wide b)
{
    return (wide){a.hi - b.hi - (a.lo < b.lo), a.lo - b.lo};
}

static bool wide_less(wide a, wide b)
{
    return a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo);
}

static wide wide_left(wide a, int n)
{
    if (n == 0) return a;
    if (n >= 64) return (wide){a.lo << (n - 64), 0};
    return (wide){a.hi << n | a.lo >> (64 - n), a.lo << n};
}

/* Shift right; whatever leaves sets the lowest bit. */
static wide wide_jam(wide a, int n)
{
    if (n == 0) return a;
    if (n >= 128) return (wide){0, (a.hi | a.lo) != 0};
    if (n >= 64) {
        uint64_t lost = a.lo | (n > 64 ? a.hi << (128 - n) : 0);
        return (wide){0, a.hi >> (n - 64) | (lost != 0)};
    }
    uint64_t lost = a.lo << (64 - n);
    return (wide){a.hi >> n, a.hi << (64 - n) | a.lo >> n | (lost != 0)};
}

/* A finite operand as significand and exponent, subnormals included (their significand has leading zeros). */
static number unpack(uint64_t a)
{
    int e = (int)(a >> FRACTION_BITS & 0x7ff);
    uint64_t sig = (a & FRACTION_MASK) | (e ? HIDDEN_BIT : 0);
    return (number){(a & PL_F64_SIGN) != 0, (e ? e : 1) + MIN_EXP - 1, sig};
}

static bool round_up(bool negative, bool odd, bool half, bool rest, int rnd)
{
    switch (rnd) {
    case PL_RN: return half && (rest || odd);
    case PL_RNA: return half;
    case PL_RM: return negative && (half || rest);
    case PL_RP: return !negative && (half || rest);
    default: return false;
    }
}

/* Round w * 2^exp to a format with `bits` significand bits whose last subnormal bit weighs 2^min_exp and whose largest
 * exponent field is max_field. Returns sign-less exponent and fraction fields as one integer: carries out of the
 * fraction run into the exponent field as they should. */
static uint64_t pack(bool negative, wide w, int exp, int rnd, int bits, int min_exp, int max_field)
{
    if ((w.hi | w.lo) == 0) return 0;
    int lead = w.hi ? leading_zeros(w.hi) : 64 + leading_zeros(w.lo);
    w = wide_left(w, lead);
    exp -= lead;
    int drop = 128 - bits; /* bits below the format's last one when the number is normal */
    if (exp + drop < min_exp) drop = min_exp - exp;
    if (drop > 130) drop = 130;
    int field = exp + drop - min_exp; /* 0 for the subnormal range and the first normal binade */
    wide q = drop >= 128 ? (wide){0, 0} : drop >= 64 ? (wide){0, drop == 64 ? w.hi : w.hi >> (drop - 64)} : w;
    uint64_t lost = drop >= 130 ? 0 : 1;
    bool half, rest;
    if (drop >= 129) {
        half = false;
        rest = true;
    } else {
        wide top = wide_jam(w, drop - 1); /* one more bit than the result, and jam */
        half = drop == 128 ? (w.hi >> 63) != 0 : (wide_left(w, 128 - drop).hi >> 63) != 0;
        wide below = drop == 128 ? wide_left(w, 1) : wide_left(wide_left(w, 128 - drop), 1);
        rest = (below.hi | below.lo) != 0;
        (void)top;
    }
    (void)lost;
    uint64_t r = q.lo;
    bool up = round_up(negative, r & 1, half, rest, rnd);
    if (rnd == PL_RO && (half || rest)) r |= 1;
    uint64_t out = field > max_field ? UINT64_MAX : ((uint64_t)field << (bits - 1)) + r + up;
    uint64_t infinity = (uint64_t)max_field << (bits - 1);
    if (out >= infinity) {
        bool to_max = rnd == PL_RZ || rnd == PL_RO || (rnd == PL_RM && !negative) || (rnd == PL_RP && negative);
        out = infinity - to_max;
    }
    return out;
}
