/* constant_fold.c - constant folding: evaluates instructions with constant operands. */
#include "compiler/opt/gvn.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- integer instructions ---- */

uint64_t pl_gvn_truncate(uint64_t v, unsigned bits)
{
    return bits == 32 ? (uint32_t)v : v;
}

static int64_t extend(uint64_t v, unsigned bits)
{
    return bits == 32 ? (int64_t)(int32_t)(uint32_t)v : (int64_t)v;
}

/* Evaluates an integer instruction with constant operands. */
bool pl_gvn_evaluate(const pl_insn *i, operation o, const uint64_t v[3], uint64_t *out,
                     unsigned *width)
{
    *width = o.bits;
    switch ((int)o.mnem) {
    case M_add: *out = v[0] + v[1]; break;
    case M_sub: *out = v[0] - v[1]; break;
    case M_and: *out = v[0] & v[1]; break;
    case M_or: *out = v[0] | v[1]; break;
    case M_xor: *out = v[0] ^ v[1]; break;
    case M_not: *out = ~v[0]; break;
    case M_neg: *out = 0 - v[0]; break;
    case M_shl: *out = (uint32_t)v[1] >= o.bits ? 0 : v[0] << (uint32_t)v[1]; break;
    case M_shr: {
        uint32_t n = (uint32_t)v[1];
        if (o.is_signed)
            *out = (uint64_t)(extend(v[0], o.bits) >> (n >= o.bits ? o.bits - 1 : n));
        else
            *out = n >= o.bits ? 0 : pl_gvn_truncate(v[0], o.bits) >> n;
        break;
    }
    case M_mul:
    case M_mad:
        if (pl_insn_has(i, W_lo))
            *out = v[0] * v[1];
        else if (pl_insn_has(i, W_wide) && o.bits == 32) {
            *out = o.is_signed ? (uint64_t)(extend(v[0], 32) * extend(v[1], 32))
                               : (uint64_t)(uint32_t)v[0] * (uint32_t)v[1];
            *width = 64;
        } else
            return false;
        if (o.mnem == M_mad) *out += v[2];
        break;
    case M_min:
    case M_max: {
        bool is_less = o.is_signed ? extend(v[0], o.bits) < extend(v[1], o.bits)
                                   : pl_gvn_truncate(v[0], o.bits) < pl_gvn_truncate(v[1], o.bits);
        *out = is_less == (o.mnem == M_min) ? v[0] : v[1];
        break;
    }
    default: return false;
    }
    *out = pl_gvn_truncate(*out, *width);
    return true;
}

static uint64_t extend_from(uint64_t v, pl_word type)
{
    const unsigned bits = (unsigned)pl_type_bits(type), unused_bits = 64 - bits;
    return pl_type_kind(type) == 's' ? (uint64_t)((int64_t)(v << unused_bits) >> unused_bits)
                                     : v << unused_bits >> unused_bits;
}

/* The same for 16-bit integers, conversions between integers, and upper halves of 32-bit
 * products. */
bool pl_gvn_evaluate_rare(const pl_insn *i, const uint64_t v[3], uint64_t *out, unsigned *width)
{
    const pl_form *f = &pl_forms[i->form];
    const pl_word to = pl_operand_type(f, 0, i->mods), from = pl_operand_type(f, 1, i->mods);
    const char a = pl_type_kind(to), b = pl_type_kind(from);
    const int bits = pl_type_bits(to), in = pl_type_bits(from);
    if (bits > 64 || in > 64 || (a != 'u' && a != 's' && a != 'b') ||
        (b != 'u' && b != 's' && b != 'b') || pl_insn_has(i, W_sat) || bits < 16)
        return false;
    const uint64_t x = extend_from(v[0], from), y = extend_from(v[1], from);
    const uint32_t n = (uint32_t)v[1];
    *width = bits == 64 ? 64 : 32;
    if (f->mnem == M_cvt && f->noperands == 2) {
        /* a register of 32 bits gets the sign of a narrower result, one of 16 bits does not */
        if (to == W_s16 && (int16_t)x < 0) return false;
        *out = x;
    } else if (f->mnem == M_mul && f->noperands == 3 && in == 32 && pl_insn_has(i, W_hi))
        *out = x * y >> 32;
    else if (in != 16 || f->noperands != 3)
        return false;
    else
        switch ((int)f->mnem) {
        case M_add: *out = x + y; break;
        case M_sub: *out = x - y; break;
        case M_and: *out = x & y; break;
        case M_or: *out = x | y; break;
        case M_xor: *out = x ^ y; break;
        case M_shl: *out = n >= 16 ? 0 : x << n; break;
        case M_shr:
            *out = b == 's' ? (uint64_t)((int64_t)x >> (n >= 16 ? 15 : n)) : n >= 16 ? 0 : x >> n;
            break;
        case M_mul:
            if (!pl_insn_has(i, W_lo) && !pl_insn_has(i, W_wide)) return false;
            *out = x * y;
            break;
        default: return false;
        }
    *out &= UINT64_MAX >> (64 - bits);
    return true;
}

bool pl_gvn_compare(const pl_insn *i, operation o, uint64_t a, uint64_t b, bool *out)
{
    bool is_less = o.is_signed ? extend(a, o.bits) < extend(b, o.bits)
                               : pl_gvn_truncate(a, o.bits) < pl_gvn_truncate(b, o.bits);
    bool equal = pl_gvn_truncate(a, o.bits) == pl_gvn_truncate(b, o.bits);
    if (pl_insn_has(i, W_eq))
        *out = equal;
    else if (pl_insn_has(i, W_ne))
        *out = !equal;
    else if (pl_insn_has(i, W_lt) || pl_insn_has(i, W_lo))
        *out = is_less;
    else if (pl_insn_has(i, W_le) || pl_insn_has(i, W_ls))
        *out = is_less || equal;
    else if (pl_insn_has(i, W_gt) || pl_insn_has(i, W_hi))
        *out = !is_less && !equal;
    else if (pl_insn_has(i, W_ge) || pl_insn_has(i, W_hs))
        *out = !is_less;
    else
        return false;
    return true;
}

/* ---- floating-point instructions ---- */

double pl_gvn_constant_of(uint64_t bits, pl_word type)
{
    double d;
    float s;
    if (type == W_f64) {
        memcpy(&d, &bits, sizeof d);
        return d;
    }
    memcpy(&s, &(uint32_t){(uint32_t)bits}, sizeof s);
    return (double)s;
}

/* True for finite numbers that are not subnormal. Zero is included: where its sign matters, the
 * instruction is not folded. */
static bool is_plain(double v, pl_word type)
{
    return isfinite(v) && (v == 0 || fabs(v) >= (type == W_f64 ? DBL_MIN : (double)FLT_MIN));
}

/* The encoding of a number that is exact, or the sum or product of two. A double holds the exact
 * product of floats; rounding a sum to double and then to float is innocuous (Figueroa, When is
 * double rounding innocuous?, 1995). */
static uint64_t bits_of(double v, pl_word type)
{
    uint64_t d;
    uint32_t s;
    if (type == W_f64) {
        memcpy(&d, &v, sizeof d);
        return d;
    }
    memcpy(&s, &(float){(float)v}, sizeof s);
    return s;
}

/* Rounds a number to an integer in the rounding mode of the instruction. */
static bool round_number(const pl_insn *i, pl_word to, double v, uint64_t *out)
{
    const double r = pl_insn_has(i, W_rni)   ? rint(v)
                     : pl_insn_has(i, W_rzi) ? trunc(v)
                     : pl_insn_has(i, W_rmi) ? floor(v)
                     : pl_insn_has(i, W_rpi) ? ceil(v)
                                             : NAN;
    if (!(to == W_s32 ? r >= INT32_MIN && r <= INT32_MAX
                      : to == W_u32 && r >= 0 && r <= UINT32_MAX))
        return false;
    *out = (uint32_t)(int64_t)r;
    return true;
}

/* Evaluates a floating-point instruction with constant operands. ptxas 13.0 does not fold fma (70
 * kernels made for it, sm_90, 2026-11). */
bool pl_gvn_evaluate_real(const pl_ir *x, const pl_insn *i, uint64_t *out, unsigned *width)
{
    const pl_form *m = &pl_forms[i->form];
    const uint16_t op = m->mnem;
    uint64_t bits[2] = {0, 0};
    if (i->guard != PL_PT || i->neg || !pl_insn_pure(i) || x->regs[i->op[0]].ndefs != 1 ||
        pl_insn_has(i, W_sat) || pl_insn_has(i, W_rz) || pl_insn_has(i, W_rm) ||
        pl_insn_has(i, W_rp) || m->noperands < 2 || m->noperands > 3)
        return false;
    for (unsigned k = 1; k < m->noperands; k++)
        if (!pl_ir_constant_value(x, i->op[k], &bits[k - 1])) return false;
    const pl_word to = pl_operand_type(m, 0, i->mods), from = pl_operand_type(m, 1, i->mods);
    *width = to == W_f64 ? 64 : 32;
    if (op == M_cvt && to == W_f32 && (from == W_s32 || from == W_u32)) {
        *out = bits_of(
            from == W_s32 ? (double)(int32_t)(uint32_t)bits[0] : (double)(uint32_t)bits[0], W_f32);
        return true;
    }
    const double a = pl_gvn_constant_of(bits[0], from), b = pl_gvn_constant_of(bits[1], from);
    if ((from != W_f32 && from != W_f64) || !is_plain(a, from) ||
        (m->noperands == 3 && !is_plain(b, from)))
        return false;
    if (op == M_cvt) return from == W_f32 && round_number(i, to, a, out);
    double r;
    switch ((int)op) {
    case M_add: r = a + b; break;
    case M_sub: r = a - b; break;
    case M_mul: r = a * b; break;
    default: return false;
    }
    if (to != from || m->noperands != 3 || !is_plain(pl_gvn_constant_of(bits_of(r, to), to), to))
        return false;
    *out = bits_of(r, to);
    return true;
}

bool pl_gvn_compare_real(const pl_insn *i, pl_word type, uint64_t x, uint64_t y, bool *out)
{
    const double a = pl_gvn_constant_of(x, type), b = pl_gvn_constant_of(y, type);
    if (!is_plain(a, type) || !is_plain(b, type)) return false;
    if (pl_insn_has(i, W_eq))
        *out = !(a < b) && !(a > b);
    else if (pl_insn_has(i, W_ne))
        *out = a < b || a > b;
    else if (pl_insn_has(i, W_lt))
        *out = a < b;
    else if (pl_insn_has(i, W_le))
        *out = a <= b;
    else if (pl_insn_has(i, W_gt))
        *out = a > b;
    else if (pl_insn_has(i, W_ge))
        *out = a >= b;
    else
        return false;
    return true;
}
