/* forms.h - one-instruction kernels generated from a list: their PTX, their operands, and a
 * digest of their results.
 *
 * Shared by the test (forms.c) and by the program that recorded the digests on hardware
 * (record.c). Both run exactly the same kernels on exactly the same operands, so only digests need
 * to be stored. A row of the list is the text of an instruction in which %a0, %a1 ... are the
 * sources and %d0, %d1 ... the results, and the types of both. */
#ifndef PL_TESTS_FORMS_H
#define PL_TESTS_FORMS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORMS_TUPLES   1024 /* operand tuples per kernel */
#define FORMS_BLOCK    128
#define FORMS_OPERANDS 20

typedef struct forms_entry {
    const char *text;
    char in[FORMS_OPERANDS][8], out[FORMS_OPERANDS][8]; /* types */
    unsigned nin, nout;
    uint64_t seed;
} forms_entry;

static inline unsigned forms_split(char (*to)[8], const char *list)
{
    unsigned n = 0;
    while (*list && n < FORMS_OPERANDS) {
        size_t w = strcspn(list, ",");
        snprintf(to[n++], sizeof to[0], "%.*s", (int)w, list);
        list += w + (list[w] == ',');
    }
    return n;
}

static inline forms_entry forms_read(const char *text, const char *in, const char *out)
{
    forms_entry e = {.text = text, .seed = 0xcbf29ce484222325u};
    e.nin = forms_split(e.in, in);
    e.nout = forms_split(e.out, out);
    for (const char *s = text; *s; s++) e.seed = (e.seed ^ (unsigned char)*s) * 0x100000001b3u;
    return e;
}

/* Width of the register that holds a type: 8-bit values are in 32-bit registers, predicates are
 * passed as words. */
static inline unsigned forms_register(const char *type)
{
    if (strcmp(type, "pred") == 0 || strchr(type, 'x') || type[1] == '8' || type[0] == 'm')
        return 32;
    unsigned bits = (unsigned)atoi(type + strcspn(type, "0123456789"));
    return bits;
}

/* Writes the kernel of entry number n as one line of PTX. Returns its length. */
static inline size_t forms_kernel(char *to, size_t size, const forms_entry *e, size_t n)
{
    size_t at = (size_t)snprintf(
        to, size,
        ".visible .entry e%zu(.param .u64 pin, .param .u64 pout) { .reg .b64 %%in,%%out,%%w; "
        ".reg .b32 %%i,%%c; .reg .pred %%p<6>,%%q<6>; ",
        n);
#define FORMS_PUT(...) at += (size_t)snprintf(to + at, size - at, __VA_ARGS__)
    for (unsigned k = 0; k < e->nin; k++)
        FORMS_PUT(".reg .b%u %%a%u; ", forms_register(e->in[k]), k);
    for (unsigned k = 0; k < e->nout; k++)
        FORMS_PUT(".reg .b%u %%d%u; ", forms_register(e->out[k]), k);
    FORMS_PUT("mov.u32 %%i,%%tid.x; mov.u32 %%c,%%ctaid.x; mad.lo.u32 %%i,%%c,%d,%%i; ",
              FORMS_BLOCK);
    FORMS_PUT("ld.param.u64 %%in,[pin]; mad.wide.u32 %%in,%%i,%u,%%in; ", 8 * e->nin);
    FORMS_PUT("ld.param.u64 %%out,[pout]; mad.wide.u32 %%out,%%i,%u,%%out; ", 8 * e->nout);
    for (unsigned k = 0; k < e->nin; k++)
        FORMS_PUT("ld.global.b%u %%a%u,[%%in+%u]; ", forms_register(e->in[k]), k, 8 * k);
    FORMS_PUT("%s ", e->text);
    for (unsigned k = 0; k < e->nout; k++)
        FORMS_PUT("st.global.b%u [%%out+%u],%%d%u; ", forms_register(e->out[k]), 8 * k, k);
    FORMS_PUT("ret; }\n");
#undef FORMS_PUT
    return at;
}

/* ---- operands ---- */

static inline uint64_t forms_random(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* The layout of a floating-point type; exponent 0: an integer type. */
typedef struct forms_float {
    int bits, exponent, fraction;
} forms_float;

static inline forms_float forms_layout(const char *t)
{
    if (strncmp(t, "bf16", 4) == 0) return (forms_float){16, 8, 7};
    if (strncmp(t, "f16", 3) == 0) return (forms_float){16, 5, 10};
    if (strcmp(t, "f32") == 0 || strcmp(t, "tf32") == 0) return (forms_float){32, 8, 23};
    if (strcmp(t, "f64") == 0) return (forms_float){64, 11, 52};
    return (forms_float){0};
}

/* A floating-point value: any bits; edge cases of the format; a short fraction, so that results
 * tie; a moderate magnitude. */
static inline uint64_t forms_float_value(forms_float f, uint64_t *s)
{
    const uint64_t r = forms_random(s), one = 1, fraction = (one << f.fraction) - 1;
    const uint64_t exponents = (one << f.exponent) - 1, bias = exponents >> 1,
                   sign = (r >> 63) << (f.bits - 1);
    uint64_t x = forms_random(s) & fraction, e;
    switch (r % 8) {
    case 0: { /* edge cases: zero, subnormals, smallest normal, one, largest, infinity, NaN */
        static const uint8_t edge[][2] = {{0, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 0}, {1, 1},
                                          {2, 0}, {3, 3}, {4, 0}, {4, 1}, {5, 0}, {5, 1},
                                          {5, 2}, {6, 0}, {6, 3}, {7, 0}};
        const uint8_t *p = edge[r >> 8 & 15];
        const uint64_t place[] = {0,        1,        bias, bias - 1, exponents, exponents - 1,
                                  bias + 1, exponents};
        const uint64_t part[] = {0, 1, fraction, x};
        return sign | place[p[0]] << f.fraction | part[p[1]];
    }
    case 1: return forms_random(s) >> (64 - f.bits);
    case 2: e = bias + (r >> 8) % 8 - 4, x &= ~(fraction >> (1 + (r >> 16) % 8)); break; /* short */
    case 3:
        e = (r >> 8) % 4, x = r >> 16 & 1 ? x : x >> (r >> 20) % 24;
        break;                                       /* near the smallest */
    case 4: e = exponents - 1 - (r >> 8) % 3; break; /* near the largest */
    case 5:
        e = bias + (r >> 8) % 40 - 8, x &= ~(fraction >> (r >> 16) % 30);
        break; /* integers and halves */
    default: e = bias + (r >> 8) % 9 - 4; break;
    }
    if (e > exponents) e = exponents - 1;
    return sign | e << f.fraction | (x & fraction);
}

static inline uint64_t forms_int_value(unsigned bits, uint64_t *s)
{
    const uint64_t r = forms_random(s),
                   mask = bits == 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1;
    switch (r % 6) {
    case 0:
        /* 2^n and the adjacent numbers. */
        return (((uint64_t)1 << (r >> 8) % bits) + (r >> 16) % 3 - 1) & mask;
    case 1: return ((r >> 8) % 67 - 2) & mask;
    case 2: return (mask >> 1) + (r >> 8) % 3;
    case 3: return (forms_random(s) & mask) >> (r >> 8) % bits;
    default: return forms_random(s) & mask;
    }
}

static inline double forms_f32(uint64_t bits)
{
    uint32_t u = (uint32_t)bits;
    float f;
    memcpy(&f, &u, sizeof f);
    return (double)f;
}

static inline uint64_t forms_from_f32(double d)
{
    float f = (float)d;
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

/* Related f32 operands: products near the smallest normal and the largest number, sums that
 * cancel. */
static inline void forms_related(const forms_entry *e, uint64_t *v, uint64_t *s)
{
    const uint64_t r = forms_random(s);
    if (e->nin < 2 || strcmp(e->in[0], "f32") != 0 || strcmp(e->in[1], "f32") != 0 || r % 4) return;
    const double a = forms_f32(v[0]);
    if (!(fabs(a) > 0x1p-100 && fabs(a) < 0x1p100)) return;
    const uint64_t near = (r >> 8) % 5 - 2;
    switch (r >> 16 & 3) {
    case 0: v[1] = forms_from_f32(0x1p-126 / a) + near; break;
    case 1: v[1] = forms_from_f32(0x1.fffffep127 / a) + near; break;
    case 2: v[1] = (v[0] ^ 0x80000000u) + near; break;
    default: v[1] = v[0] + near; break;
    }
    if (e->nin > 2 && strcmp(e->in[2], "f32") == 0 && r >> 20 & 1)
        v[2] = forms_from_f32(-a * forms_f32(v[1])) + ((r >> 24) % 5 - 2);
}

/* Indices of the elements kept by a sparse matrix: two of four, or one pair of two, in ascending
 * order. */
static inline uint64_t forms_metadata(const char *t, uint64_t *s)
{
    static const uint8_t two_of_four[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe}, one_of_two[] = {0x4, 0xe};
    uint64_t r = 0;
    for (int i = 0; i < 8; i++) {
        const uint64_t pick = forms_random(s) >> 32;
        r = r << 4 | (t[4] == '4' ? two_of_four[pick % 6] : one_of_two[pick % 2]);
    }
    return r;
}

/* Fills FORMS_TUPLES tuples of nin 8-byte operands. */
static inline void forms_inputs(uint64_t *to, const forms_entry *e)
{
    uint64_t s = e->seed;
    for (size_t i = 0; i < FORMS_TUPLES; i++, to += e->nin) {
        for (unsigned k = 0; k < e->nin; k++) {
            const char *t = e->in[k];
            const forms_float f = forms_layout(t);
            const unsigned bits = forms_register(t);
            if (strcmp(t, "pred") == 0)
                to[k] = forms_random(&s) & 0xffffffffu;
            else if (t[0] == 'm')
                to[k] = forms_metadata(t, &s);
            else if (f.bits == 16 && bits == 32)
                to[k] = forms_float_value(f, &s) | forms_float_value(f, &s) << 16;
            else if (f.bits)
                to[k] = forms_float_value(f, &s);
            else if (bits == 32 && strchr(t, 'x'))
                to[k] = forms_int_value(16, &s) | forms_int_value(16, &s) << 16;
            else
                to[k] = forms_int_value(bits, &s);
        }
        forms_related(e, to, &s);
    }
}

/* ---- results ---- */

static inline uint64_t forms_digest(const uint64_t *words, size_t n)
{
    uint64_t h = 0x9E3779B97F4A7C15u;
    for (size_t i = 0; i < n; i++) {
        h = (h ^ words[i]) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    return h;
}

#endif
