/* softfloat.c - exact double precision arithmetic in integers.
 *
 * Every operation forms its result as sign, significand and exponent, ORs the shifted-out bits into
 * the lowest bit that is kept ("jamming"), and rounds once in round_pack(). Significands have at
 * least two bits more than the format when they are jammed, so the jammed bit can only break a tie,
 * never change a result.
 *
 *   wide     | hi 64 bits | lo 64 bits |      value = (hi * 2^64 + lo) * 2^exp
 *
 * IEEE 754-2019, sections 4.3 (rounding) and 5.4; the jamming technique is that of Hauser's
 * SoftFloat. */
#include "softfloat.h"

#define FRACTION_MASK 0x000fffffffffffffu
#define HIDDEN_BIT    0x0010000000000000u
#define TOP_BIT       126 /* where fma aligns leading ones: one bit is left for the carry */

typedef struct wide {
    uint64_t hi, lo;
} wide;

typedef struct number {
    bool negative;
    int exp;
    uint64_t sig;
} number;

/* A binary format: significand bits including the hidden one, weight of the last subnormal bit,
 * exponent field of Inf. */
typedef struct format {
    int bits, min_exp, inf_field;
} format;

static const format f64_format = {53, -1074, 2047};
static const format f32_format = {24, -149, 255};

static int leading_zeros(uint64_t x)
{
    int n = 0;
    for (int step = 32; step; step >>= 1) {
        if (x >> (64 - step) == 0) {
            n += step;
            x <<= step;
        }
    }
    return x ? n : 64;
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

static wide wide_right_jam(wide a, int n)
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

static int wide_leading_zeros(wide a)
{
    return a.hi ? leading_zeros(a.hi) : 64 + leading_zeros(a.lo);
}

static bool is_finite(uint64_t a)
{
    return (a & PL_F64_MAG) < PL_F64_INF;
}

static number unpack(uint64_t a)
{
    int field = (int)(a >> 52 & 0x7ff);
    uint64_t sig = (a & FRACTION_MASK) | (field ? HIDDEN_BIT : 0);
    return (number){(a & PL_F64_SIGN) != 0, (field ? field : 1) + f64_format.min_exp - 1, sig};
}

/* A non-zero operand, with its leading one shifted to bit 52. */
static number unpack_normal(uint64_t a)
{
    number x = unpack(a);
    int lead = leading_zeros(x.sig) - 11;
    return (number){x.negative, x.exp - lead, x.sig << lead};
}

/* Rounds sig * 2^exp to a format; the result has no sign. A carry out of the fraction correctly
 * propagates into the exponent field. */
static uint64_t round_pack(bool negative, uint64_t sig, int exp, int rnd, const format *f)
{
    if (sig == 0) return 0;
    int lead = leading_zeros(sig);
    sig <<= lead;
    exp -= lead;
    int drop = 64 - f->bits;
    if (drop < f->min_exp - exp) drop = f->min_exp - exp;
    int field = exp + drop - f->min_exp; /* 0 for subnormals and for the first normal binade */
    uint64_t kept = drop < 64 ? sig >> drop : 0;
    bool half = drop <= 64 && (sig >> (drop - 1) & 1);
    bool rest = drop > 64 || sig << (65 - drop) != 0;
    bool away = rnd == PL_RM ? negative : rnd == PL_RP ? !negative : false;
    bool up = rnd == PL_RN ? half && (rest || (kept & 1)) : away && (half || rest);
    uint64_t infinity = (uint64_t)f->inf_field << (f->bits - 1);
    uint64_t r = field > f->inf_field ? infinity : ((uint64_t)field << (f->bits - 1)) + kept + up;
    if (rnd == PL_RO) r |= half || rest;
    return r < infinity ? r : infinity - (rnd != PL_RN && !away);
}

static uint64_t finish(bool negative, wide w, int exp, int rnd)
{
    int lead = wide_leading_zeros(w);
    if (lead >= 128) return negative ? PL_F64_SIGN : 0;
    w = wide_left(w, lead);
    uint64_t sig = w.hi | (w.lo != 0);
    return round_pack(negative, sig, exp - lead + 64, rnd, &f64_format) |
           (negative ? PL_F64_SIGN : 0);
}

static uint64_t zero_sum(bool a_negative, bool b_negative, int rnd)
{
    bool negative = rnd == PL_RM ? a_negative || b_negative : a_negative && b_negative;
    return negative ? PL_F64_SIGN : 0;
}

uint64_t pl_soft_mul(uint64_t a, uint64_t b, int rnd)
{
    if (!is_finite(a) || !is_finite(b)) return f64_bits(f64_value(a) * f64_value(b));
    number x = unpack(a), y = unpack(b);
    return finish(x.negative != y.negative, wide_mul(x.sig, y.sig), x.exp + y.exp, rnd);
}

uint64_t pl_soft_fma(uint64_t a, uint64_t b, uint64_t c, int rnd)
{
    if (!is_finite(a) || !is_finite(b)) return f64_bits(f64_value(a) * f64_value(b) + f64_value(c));
    if (!is_finite(c)) return c;
    number x = unpack(a), y = unpack(b), z = unpack(c);
    bool negative = x.negative != y.negative;
    wide p = wide_mul(x.sig, y.sig), q = {0, z.sig};
    if ((p.hi | p.lo) == 0) return z.sig ? c : zero_sum(negative, z.negative, rnd);
    int exp_p = x.exp + y.exp, exp_q = z.exp;
    int move_p = wide_leading_zeros(p) - (127 - TOP_BIT);
    p = wide_left(p, move_p);
    exp_p -= move_p;
    if (z.sig == 0) return finish(negative, p, exp_p, rnd);
    int move_q = wide_leading_zeros(q) - (127 - TOP_BIT);
    q = wide_left(q, move_q);
    exp_q -= move_q;
    int exp = exp_p > exp_q ? exp_p : exp_q;
    p = wide_right_jam(p, exp - exp_p);
    q = wide_right_jam(q, exp - exp_q);
    if (negative == z.negative) return finish(negative, wide_add(p, q), exp, rnd);
    if (wide_less(p, q)) return finish(z.negative, wide_sub(q, p), exp, rnd);
    wide d = wide_sub(p, q);
    if ((d.hi | d.lo) == 0) return zero_sum(negative, z.negative, rnd);
    return finish(negative, d, exp, rnd);
}

uint64_t pl_soft_add(uint64_t a, uint64_t b, int rnd)
{
    return pl_soft_fma(a, PL_F64_ONE, b, rnd);
}

/* Restoring division, one quotient bit per step: 56 bits and a jammed remainder are sufficient for
 * any rounding. */
uint64_t pl_soft_div(uint64_t a, uint64_t b, int rnd)
{
    bool trivial = !is_finite(a) || !is_finite(b) || (a & PL_F64_MAG) == 0 || (b & PL_F64_MAG) == 0;
    if (trivial) return f64_bits(f64_value(a) / f64_value(b));
    number x = unpack_normal(a), y = unpack_normal(b);
    uint64_t quotient = 0, left = x.sig;
    for (int i = 0; i < 57; i++) {
        bool one = left >= y.sig;
        left = (one ? left - y.sig : left) << 1;
        quotient = quotient << 1 | one;
    }
    return finish(x.negative != y.negative, (wide){0, quotient << 1 | (left != 0)},
                  x.exp - y.exp - 57, rnd);
}

/* Digit-by-digit square root: each step consumes two operand bits and produces one bit of the
 * root. */
uint64_t pl_soft_sqrt(uint64_t a, int rnd)
{
    if ((a & PL_F64_MAG) == 0 || a == PL_F64_INF) return a;
    if (a & PL_F64_SIGN) return 0x7ff8000000000000u;
    number x = unpack_normal(a);
    uint64_t operand = x.sig << 10; /* leading one at bit 62 */
    int exp = x.exp - 10;
    if (exp & 1) {
        operand <<= 1;
        exp--;
    }
    uint64_t root = 0, left = 0;
    for (int i = 0; i < 56; i++) {
        left = left << 2 | operand >> 62;
        operand <<= 2;
        uint64_t trial = root << 2 | 1;
        bool one = left >= trial;
        left = one ? left - trial : left;
        root = root << 1 | one;
    }
    return finish(false, (wide){0, root << 1 | (left != 0)}, exp / 2 - 25, rnd);
}

uint64_t pl_soft_f64_from_int(bool negative, uint64_t magnitude, int rnd)
{
    return round_pack(negative, magnitude, 0, rnd, &f64_format) | (negative ? PL_F64_SIGN : 0);
}

uint32_t pl_soft_f32_from_int(bool negative, uint64_t magnitude, int rnd)
{
    return (uint32_t)round_pack(negative, magnitude, 0, rnd, &f32_format) |
           (negative ? PL_F32_SIGN : 0);
}
