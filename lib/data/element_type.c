/* element_type.c - element types: the table, reading numbers, rounding to each type, printing. */
#include "lib/data/element_type.h"
#include "base/nearest.h"
#include "base/real.h"
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const pl_element pl_elements[] = {
    {"u8", "|u1", 1, 'u', 0, 0, 0, 0},
    {"s8", "|i1", 1, 's', 0, 0, 0, 0},
    {"u16", "<u2", 2, 'u', 0, 0, 0, 0},
    {"s16", "<i2", 2, 's', 0, 0, 0, 0},
    {"u32", "<u4", 4, 'u', 0, 0, 0, 0},
    {"s32", "<i4", 4, 's', 0, 0, 0, 0},
    {"u64", "<u8", 8, 'u', 0, 0, 0, 0},
    {"s64", "<i8", 8, 's', 0, 0, 0, 0},
    {"f16", "<f2", 2, 'f', 10, 15, 0x7bff, 0x7fff},
    {"bf16", "<V2", 2, 'f', 7, 127, 0, 0x7fff},
    {"f32", "<f4", 4, 'f', 23, 127, 0, 0},
    {"f64", "<f8", 8, 'f', 52, 1023, 0, 0},
    {"e4m3", "|V1", 1, 'f', 3, 7, 0x7e, 0x7f},
    {"e5m2", "|V1", 1, 'f', 2, 15, 0x7b, 0x7f},
    {NULL, NULL, 0, 0, 0, 0, 0, 0},
};

/* Types of C, CUDA, NumPy and LLVM: the word without "_t", or its letters before the size. */
static const struct {
    const char *word, *meaning;
} other_names[] = {
    {"float", "f32"},          {"double", "f64"},    {"half", "f16"},    {"__half", "f16"},
    {"__nv_bfloat16", "bf16"}, {"bfloat16", "bf16"}, {"bfloat", "bf16"}, {"int", "s32"},
    {"signed", "s32"},         {"unsigned", "u32"},  {"uint", "u32"},    {"char", "s8"},
    {"uchar", "u8"},           {"byte", "u8"},       {"bool", "u8"},     {"short", "s16"},
    {"ushort", "u16"},         {"long", "s64"},      {"ulong", "u64"},   {"size", "u64"},
};
static const struct {
    const char *letters;
    char kind;
} sized_names[] = {{"int", 's'},   {"i", 's'},  {"uint", 'u'},
                   {"float", 'f'}, {"fp", 'f'}, {"b", 'u'}};

const char *pl_element_suggestion(const char *word)
{
    size_t n = strlen(word), letters = strcspn(word, "0123456789");
    if (n > 2 && strcmp(word + n - 2, "_t") == 0) n -= 2;
    for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++)
        if (strlen(other_names[i].word) == n && strncmp(other_names[i].word, word, n) == 0)
            return other_names[i].meaning;
    for (size_t i = 0; i < sizeof sized_names / sizeof *sized_names; i++) {
        if (strlen(sized_names[i].letters) != letters ||
            strncmp(sized_names[i].letters, word, letters) != 0)
            continue;
        for (const pl_element *e = pl_elements; e->name; e++)
            if (e->name[0] == sized_names[i].kind && strlen(e->name + 1) == n - letters &&
                strncmp(e->name + 1, word + letters, n - letters) == 0)
                return e->name;
    }
    const char *names[16];
    size_t known = 0;
    for (const pl_element *e = pl_elements; e->name && known < 16; e++) names[known++] = e->name;
    return pl_nearest(word, names, known);
}

const pl_element *pl_element_find(const char *name, size_t n)
{
    for (const pl_element *e = pl_elements; e->name; e++) {
        if (strlen(e->name) == n && memcmp(e->name, name, n) == 0) return e;
    }
    return NULL;
}

static bool parse_integer(const char *s, pl_number *out)
{
    bool negative = *s == '-';
    if (*s == '-' || *s == '+') s++;
    if (*s < '0' || *s > '9') return false;
    bool hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
    char *end;
    errno = 0;
    uint64_t u = strtoull(s, &end, hex ? 16 : 10);
    if (*end != '\0' || errno != 0) return false;
    *out = (pl_number){PL_NUM_INT, negative && u != 0, u, negative ? -(double)u : (double)u};
    return true;
}

static bool parse_bits(const char *s, pl_number *out)
{
    if (s[0] != '0') return false;
    bool wide = s[1] == 'd' || s[1] == 'D';
    if (!wide && s[1] != 'f' && s[1] != 'F') return false;
    if (strspn(s + 2, "0123456789abcdefABCDEF") != strlen(s + 2) ||
        strlen(s + 2) != (wide ? 16 : 8))
        return false;
    *out =
        (pl_number){wide ? PL_NUM_F64_BITS : PL_NUM_F32_BITS, false, strtoull(s + 2, NULL, 16), 0};
    return true;
}

bool pl_number_parse(const char *text, size_t n, pl_number *out)
{
    char s[128];
    if (n == 0 || n >= sizeof s || memchr(text, '\0', n) || strchr(" \t\r\n\v\f", text[0]))
        return false;
    memcpy(s, text, n);
    s[n] = '\0';
    if (parse_bits(s, out) || parse_integer(s, out)) return true;
    bool hex = strpbrk(s, "xX") != NULL;
    if (hex) return false;
    char *end;
    double d = strtod(s, &end);
    if (*end != '\0') return false;
    /* An integer or exponent too large for any type. */
    if (isinf(d) && !strpbrk(s, "iI")) return false;
    *out = (pl_number){PL_NUM_REAL, false, 0, d};
    if (d == floor(d) && fabs(d) < 0x1p64)
        *out = (pl_number){PL_NUM_INT, d < 0, (uint64_t)fabs(d), d};
    return true;
}

static uint32_t float_bits(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

uint32_t pl_element_narrow(const pl_element *e, float f)
{
    uint32_t u = float_bits(f), sign = (u >> 31) << (8 * e->bytes - 1), magnitude = u & 0x7fffffff;
    if (magnitude > 0x7f800000) return sign | e->nan;
    int exponent = (int)(magnitude >> 23) - 127, shift = 23 - e->mantissa;
    uint32_t significand = (magnitude & 0x7fffff) | (magnitude >> 23 ? 0x800000u : 0);
    if (magnitude >> 23 == 0) exponent = -126;
    if (exponent < 1 - e->bias) {
        shift += 1 - e->bias - exponent;
        exponent = 1 - e->bias;
    }
    uint32_t code = 0;
    if (shift <= 24) {
        uint32_t remainder = significand & ((1u << shift) - 1), half = 1u << (shift - 1);
        code = significand >> shift;
        if (remainder > half || (remainder == half && (code & 1))) code++;
    }
    /* The implicit bit, still part of the code, carries into the exponent; a subnormal has neither.
     */
    uint32_t base = (uint32_t)(exponent + e->bias);
    if (base > 1) code += (base - 1) << e->mantissa;
    if (e->largest && code > e->largest) code = e->largest;
    return sign | code;
}

/* The code of infinity in an 8- or 16-bit format; 0: it has none. */
static uint32_t infinity_code(const pl_element *e)
{
    return e->nan == e->largest + 1 ? 0 : ((2u * (uint32_t)e->bias + 1) << e->mantissa);
}

/* Rounds a number to a floating-point type, once. A finite number must not become infinity. */
static pl_fit encode_real(const pl_element *e, double d, uint64_t *bits)
{
    if (e->bytes == 8) {
        memcpy(bits, &d, sizeof d);
        return PL_FIT_OK;
    }
    /* The conversion is undefined in C beyond the largest float's rounding interval. */
    if (isfinite(d) && fabs(d) >= 0x1.ffffffp127) return PL_FIT_RANGE;
    float f = (float)d;
    uint32_t u = float_bits(f);
    if (e->bytes == 4) {
        *bits = u;
        return PL_FIT_OK;
    }
    if (isinf(d)) {
        *bits = (u >> 31) << (8 * e->bytes - 1) | infinity_code(e);
        return infinity_code(e) ? PL_FIT_OK : PL_FIT_RANGE;
    }
    /* Rounding to odd first makes the second rounding that of the number. */
    if (isfinite(d) && (double)f != d && !(u & 1)) u = fabs((double)f) < fabs(d) ? u + 1 : u - 1;
    memcpy(&f, &u, sizeof f);
    *bits = pl_element_narrow(e, f);
    if (isnan(d)) return PL_FIT_OK;
    /* Beyond half a step behind the largest value; a tie goes to the even code. */
    const uint32_t top = e->largest ? e->largest : infinity_code(e) - 1;
    const double most = pl_element_value(e, top), step = most - pl_element_value(e, top - 1),
                 limit = most + step / 2;
    return fabs(d) > limit || (fabs(d) >= limit && top & 1) ? PL_FIT_RANGE : PL_FIT_OK;
}

pl_fit pl_element_encode(const pl_element *e, const pl_number *v, uint64_t *bits)
{
    if (v->kind == PL_NUM_F32_BITS || v->kind == PL_NUM_F64_BITS) {
        if (e->kind != 'f' || e->bytes != (v->kind == PL_NUM_F32_BITS ? 4 : 8)) return PL_FIT_KIND;
        *bits = v->magnitude;
        return PL_FIT_OK;
    }
    if (e->kind == 'f') return encode_real(e, v->real, bits);
    if (v->kind == PL_NUM_REAL)
        return isfinite(v->real) && v->real != floor(v->real) ? PL_FIT_FRACTION : PL_FIT_RANGE;
    unsigned width = 8u * e->bytes;
    uint64_t top = UINT64_MAX >> (64 - width), limit = top;
    if (e->kind == 's')
        limit = v->negative ? (top >> 1) + 1 : top >> 1;
    else if (v->negative)
        limit = 0;
    if (v->magnitude > limit) return PL_FIT_RANGE;
    *bits = (v->negative ? 0 - v->magnitude : v->magnitude) & top;
    return PL_FIT_OK;
}

const char *pl_element_range(const pl_element *e)
{
    if (e->kind == 'f') {
        switch (e->bytes) {
        case 1: return e->bias == 7 ? "-448 to 448" : "-57344 to 57344";
        case 2: return e->bias == 15 ? "-65504 to 65504" : "-3.3895314e38 to 3.3895314e38";
        default: return "-3.4028235e38 to 3.4028235e38";
        }
    }
    switch (e->bytes) {
    case 1: return e->kind == 's' ? "-128 to 127" : "0 to 255";
    case 2: return e->kind == 's' ? "-32768 to 32767" : "0 to 65535";
    case 4: return e->kind == 's' ? "-2147483648 to 2147483647" : "0 to 4294967295";
    default:
        return e->kind == 's' ? "-9223372036854775808 to 9223372036854775807"
                              : "0 to 18446744073709551615";
    }
}

double pl_element_value(const pl_element *e, uint64_t bits)
{
    if (e->bytes == 8) {
        double d;
        memcpy(&d, &bits, sizeof d);
        return d;
    }
    if (e->bytes == 4) {
        uint32_t u = (uint32_t)bits;
        float f;
        memcpy(&f, &u, sizeof f);
        return (double)f;
    }
    uint32_t width = 8u * e->bytes, u = (uint32_t)bits & (0xffffffffu >> (32 - width));
    bool negative = u >> (width - 1);
    u &= (1u << (width - 1)) - 1;
    uint32_t exponent = u >> e->mantissa, mantissa = u & ((1u << e->mantissa) - 1);
    uint32_t all_ones = (1u << (width - 1 - e->mantissa)) - 1;
    double d;
    if (e->largest == 0x7e) { /* e4m3 has one NaN code and no infinity */
        if (u == 0x7f) return (double)NAN;
    } else if (exponent == all_ones) {
        d = mantissa ? (double)NAN : (double)INFINITY;
        return negative ? -d : d;
    }
    if (exponent == 0)
        d = ldexp(mantissa, 1 - e->bias - e->mantissa);
    else
        d = ldexp(mantissa + (1u << e->mantissa), (int)exponent - e->bias - e->mantissa);
    return negative ? -d : d;
}

int pl_element_print(const pl_element *e, const void *p, char *buf, size_t size)
{
    uint64_t u = 0;
    memcpy(&u, p, e->bytes);
    if (e->kind == 'u') return snprintf(buf, size, "%" PRIu64, u);
    if (e->kind == 's') {
        unsigned unused = 64 - 8u * e->bytes;
        int64_t s = (int64_t)(u << unused) >> unused;
        return snprintf(buf, size, "%" PRId64, s);
    }
    static const int digits[] = {0, 4, 5, 0, FLT_DECIMAL_DIG, 0, 0, 0, DBL_DECIMAL_DIG};
    double d = pl_element_value(e, u);
    /* Small formats are often used for exact whole numbers: 448, not 450 which rounds to it. */
    if (e->bytes < 4 && fabs(d) < 0x1p17 && d == floor(d) && d != 0)
        return snprintf(buf, size, "%.0f", d);
    /* The shortest text that reads back as the same value: 0.1, not 0.100000001. */
    for (int n = 1; n < digits[e->bytes]; n++) {
        int len = pl_print_digits(d, n, buf, size);
        double back = strtod(buf, NULL);
        bool same = e->bytes == 8   ? back == d
                    : e->bytes == 4 ? (double)(float)back == d
                                    : pl_element_narrow(e, (float)back) == (uint32_t)u;
        if (same) return len;
    }
    return pl_print_digits(d, digits[e->bytes], buf, size);
}
