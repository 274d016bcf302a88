/* solve.c - finds the rows of the special function unit from hashes of its results.
 *
 *     cc -O2 -ftree-vectorize -mavx2 -ffp-contract=off -I. -o solve tools/mufu/solve.c -lm
 *     ./solve tests/data/mufu/hashes.bin > emu/exec/num/mufu_tables.def
 *
 * A recorded hash is the multiple of sum(result(x) ^ mixed(x)) over a block of 2^15 inputs, so
 * it accepts one function only. The designers computed each row from the function it
 * approximates, so the true row lies close to a parabola that anyone would fit; its last bits do
 * not, and there are few choices for them. For every row this program fits a parabola through the
 * three Chebyshev nodes of the interval, and walks outwards from it over C2, C1 and C0. The
 * emulated unit (emu/exec/num/mufu_unit.h, with this program's rows) computes the last block of the
 * interval. A row that gives the recorded hash must then give all others of its interval too.
 *
 * The shape of the unit (widths, square, constants K) must be known before; doc/numerics.md
 * tells how that was found. It takes three minutes. */
#define MUFU_OWN_ROWS
#include <stdint.h>
static int32_t pl_mufu_c0[627], pl_mufu_c12[627];
#include "emu/exec/num/mufu_sequences.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCK  0x8000u
#define TWO_PI 6.28318530717958647692

typedef uint32_t unit_fn(uint32_t);

static uint32_t sine(uint32_t a)
{
    return f32_sin_approx(a, true);
}

/* What is searched: C2 in steps of u, C1 in steps of 2u, C0 in steps of u >> c0_bits, each so
 * many steps to both sides of the fit. `half` is half a unit of the result's last place in u:
 * the unit adds it, in C0 and K, to round to nearest. */
typedef struct function {
    const char *macro, *recorded;
    unit_fn *unit;
    int first_row, rows, c0_bits, reach[3]; /* of C0, C1, C2 */
    double half;
} function;

static const function functions[] = {
    {"RCP", "rcp_approx_ftz_f32", mufu_rcp, MUFU_ROW_RCP, 128, 2, {16, 6, 6}, 0.5},
    {"RSQ", "rsqrt_approx_ftz_f32", mufu_rsq, MUFU_ROW_RSQ, 128, 2, {16, 6, 6}, 0.5},
    {"SQRT", "sqrt_approx_ftz_f32", mufu_sqrt, MUFU_ROW_SQRT, 128, 1, {16, 6, 6}, 1.0},
    {"EX2", "ex2_approx_ftz_f32", mufu_ex2, MUFU_ROW_EX2, 64, 2, {16, 6, 6}, 0.5},
    {"LG2", "lg2_approx_ftz_f32", mufu_lg2, MUFU_ROW_LG2, 64, 4, {24, 6, 6}, 0.25},
    {"SIN", "sin_approx_ftz_f32", sine, MUFU_ROW_SIN, 64, 3, {16, 6, 6}, 0.0},
    {"TANH", "tanh_approx_f32", mufu_tanh, MUFU_ROW_TANH, 51, 1, {12, 8, 26}, 0.0},
};

/* Puts a row into the emulated unit. */
static void set_row(const function *f, int row, const int c[3])
{
    int bits = f->unit == mufu_tanh ? MUFU_C2_BITS_TANH : MUFU_C2_BITS;
    pl_mufu_c0[f->first_row + row] = (int32_t)((uint32_t)c[0] << (6 - f->c0_bits));
    pl_mufu_c12[f->first_row + row] = c[1] * (1 << bits) + (c[2] & ((1 << bits) - 1));
}

/* The interval of a row: its argument's start and width, and the inputs [from, to) that fall
 * into it. */
typedef struct interval {
    double start, width;
    int log2_unit; /* of tanh */
    uint32_t from, to;
} interval;

static interval interval_of(const function *f, int row)
{
    interval v = {0};
    if (f->unit == mufu_rcp) {
        v.from = 0x3f800000u + ((uint32_t)row << 16);
        v.to = v.from + 0x10000;
    } else if (f->unit == mufu_lg2) {
        v.from = 0x40000000u + ((uint32_t)row << 17);
        v.to = v.from + 0x20000;
    } else if (f->unit == sine) {
        v.start = row * TWO_PI / 256;
        v.width = TWO_PI / 256;
        float from = (float)v.start * 1.00001f, to = (float)(v.start + v.width) * 0.99999f;
        v.from = f32_bits(from > 0x1p-7f ? from : 0x1p-7f);
        v.to = f32_bits(to);
        return v;
    } else if (f->unit == mufu_tanh) {
        uint32_t b = 10;
        while ((mufu_tanh_binade[b] & 255) > (uint32_t)row) b--;
        uint32_t log2_rows = mufu_tanh_binade[b] >> 8 & 255, size = 0x800000u >> log2_rows;
        v.log2_unit = (int)(mufu_tanh_binade[b] >> 16);
        v.from = ((b + 119) << 23) + ((uint32_t)row - (mufu_tanh_binade[b] & 255)) * size;
        v.to = v.from + size;
    } else {
        v.from = 0x3f800000u + ((uint32_t)row << 17);
        v.to = v.from + 0x20000;
    }
    v.start = f32_value(v.from);
    v.width = ldexp(v.to - v.from, (int)(v.from >> 23) - 150);
    return v;
}

/* The function at `t` of 0..1 in the interval, in units of u. */
static double value(const function *f, const interval *v, double t)
{
    double x = v->start + t * v->width;
    if (f->unit == mufu_rcp) return ldexp(1 / x, 24);
    if (f->unit == mufu_rsq) return ldexp(1 / sqrt(x), 24);
    if (f->unit == mufu_sqrt) return ldexp(sqrt(x), 24);
    if (f->unit == mufu_ex2) return ldexp(exp2(x - 1), 23);
    if (f->unit == mufu_lg2) return ldexp(log2(x) - 1, 22);
    if (f->unit == sine) return ldexp(sin(x), 22);
    return ldexp(tanh(x), 23 - v->log2_unit);
}

/* c[0] + c[1] t + c[2] t^2 through three points near the ends and in the middle, where
 * Chebyshev's polynomial vanishes. */
static void fit(const function *f, const interval *v, double c[3])
{
    double t[3], y[3];
    for (int k = 0; k < 3; k++) {
        t[k] = 0.5 - 0.5 * cos(TWO_PI / 2 * (k + 0.5) / 3);
        y[k] = value(f, v, t[k]) + f->half;
    }
    double d1 = (y[1] - y[0]) / (t[1] - t[0]), d2 = (y[2] - y[1]) / (t[2] - t[1]);
    c[2] = (d2 - d1) / (t[2] - t[0]);
    c[1] = d1 - c[2] * (t[0] + t[1]);
    c[0] = y[0] - t[0] * (c[1] + t[0] * c[2]);
}

/* ---- recorded hashes ---- */

typedef struct recording {
    uint32_t first, count;
    uint64_t hash[4096];
} recording;

/* The record of `name` in blocks of 2^15 inputs. */
static bool load(const char *path, const char *name, recording *r)
{
    struct {
        char name[32];
        uint32_t first, log2_block, count, zero;
    } head;
    FILE *in = fopen(path, "rb");
    if (!in) return false;
    bool found = false;
    while (!found && fread(&head, sizeof head, 1, in) == 1 && head.count <= 4096 &&
           fread(r->hash, 8, head.count, in) == head.count) {
        r->first = head.first;
        r->count = head.count;
        found = head.log2_block == 15 && strncmp(head.name, name, sizeof head.name) == 0;
    }
    fclose(in);
    return found;
}

static bool block_matches(const function *f, const recording *r, uint32_t first)
{
    uint64_t sum = 0;
    for (uint32_t x = first; x < first + BLOCK; x++) {
        uint32_t p = x * 0x9e3779b1u;
        sum += f->unit(x) ^ (p << 16 | p >> 16);
    }
    return sum * 0xd6e8feb86659fd93u == r->hash[(first - r->first) / BLOCK];
}

static bool row_matches(const function *f, const recording *r, const interval *v)
{
    uint32_t from = (v->from + BLOCK - 1) / BLOCK * BLOCK, last = v->to / BLOCK * BLOCK - BLOCK;
    for (uint32_t first = last; first >= from; first -= BLOCK) {
        if (!block_matches(f, r, first)) return false;
    }
    return true;
}

/* ---- the search ---- */

/* 0, -1, 1, -2, 2, ... */
static int outwards(int k)
{
    return k & 1 ? -(k + 1) / 2 : k / 2;
}

static bool solve_row(const function *f, const recording *r, int row, int c[3])
{
    interval v = interval_of(f, row);
    double ideal[3];
    fit(f, &v, ideal);
    for (int i = 0; i <= 2 * f->reach[2]; i++) {
        c[2] = (int)lrint(ideal[2]) + outwards(i);
        double more2 = c[2] - ideal[2]; /* made good by a lower slope, and an offset of 1/8 */
        for (int j = 0; j <= 2 * f->reach[1]; j++) {
            c[1] = (int)lrint((ideal[1] - more2) / 2) + outwards(j);
            double more1 = 2 * c[1] - (ideal[1] - more2); /* made good by an offset of 1/2 */
            for (int k = 0; k <= 2 * f->reach[0]; k++) {
                double ideal0 = ideal[0] + more2 / 8 - more1 / 2;
                c[0] = (int)lrint(ldexp(ideal0, f->c0_bits)) + outwards(k);
                set_row(f, row, c);
                if (row_matches(f, r, &v)) return true;
            }
        }
    }
    return false;
}

static const char head[] =
    "/* mufu_tables.def - the parabolas of the special function unit, one row per interval:\n"
    " *\n"
    " *     FUNCTION(C0, C1, C2)\n"
    " *\n"
    " * C2 counts u and C1 2u; u is 2^-24 for RCP, RSQ and SQRT, 2^-23 for EX2, 2^-22 for LG2 and\n"
    " * SIN, and depends on the binade for TANH. C0 counts u/4, but u/2 for SQRT and TANH,\n"
    " * u/8 for SIN, u/16 for LG2. All are for a position x of 0..1 in the interval.\n"
    " *\n"
    " * Written by tools/mufu/solve (H200, driver 580.159.04, 2026-11). */\n";

int main(int argc, char **argv)
{
    static recording r;
    int missing = 0;
    if (argc != 2) {
        fprintf(stderr, "usage: solve hashes.bin > mufu_tables.def\n");
        return 2;
    }
    fputs(head, stdout);
    for (size_t n = 0; n < sizeof functions / sizeof *functions; n++) {
        const function *f = &functions[n];
        if (!load(argv[1], f->recorded, &r)) {
            fprintf(stderr, "no record of %s in %s\n", f->recorded, argv[1]);
            return 3;
        }
        for (int row = 0; row < f->rows; row++) {
            int c[3];
            if (solve_row(f, &r, row, c)) {
                printf("%s(%d, %d, %d)\n", f->macro, c[0], c[1], c[2]);
            } else {
                fprintf(stderr, "%s: no parabola within reach fits row %d\n", f->macro, row);
                missing++;
            }
        }
        fprintf(stderr, "%-4s %d rows\n", f->macro, f->rows);
    }
    return missing ? 1 : 0;
}
