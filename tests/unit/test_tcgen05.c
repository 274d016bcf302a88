/* test_tcgen05.c - products of tcgen05.mma with matrices laid out according to the manual, in an
 * independent notation, compared with results computed in double precision.
 *
 * A layout is a list of sizes and strides for each of two coordinates, as in CuTe: the coordinate
 * is split into digits, the first the fastest, and each digit has its stride. The canonical
 * layouts of PTX ISA 9.1, section 9.7.16.3, and the data paths of section 9.7.16.10 are given
 * below in this form. All values are small, so that every sum is exact. */
#include "emu/exec/tcgen05/product.h"
#include "tests/harness.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHARED = 200 * 1024, MOST = 256 };

/* ---- layouts ---- */

typedef struct digit {
    int size, stride;
} digit;

typedef struct layout {
    digit row[4], col[4]; /* the last digit has size 0: unbounded */
} layout;

static int along(const digit *d, int x)
{
    int at = 0;
    for (; d->size; d++) {
        at += x % d->size * d->stride;
        x /= d->size;
    }
    return at + x * d->stride;
}

static int offset(const layout *l, int row, int col)
{
    return along(l->row, row) + along(l->col, col);
}

/* Swizzle<bits, base, shift> of CuTe. */
static uint32_t swizzled(uint32_t x, int bits, int base, int shift)
{
    const uint32_t mask = ((1u << bits) - 1) << base;
    return x ^ (x >> shift & mask);
}

/* ---- random numbers, and small values of each type ---- */

static uint64_t state;

static unsigned draw(unsigned n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % n;
}

typedef struct format {
    int bits, exponent, fraction, bias, up; /* up: bits below the element in its container */
} format;

static format format_of(pl_tensor_type t)
{
    switch (t) {
    case PL_TT_F16: return (format){16, 5, 10, 15, 0};
    case PL_TT_BF16: return (format){16, 8, 7, 127, 0};
    case PL_TT_TF32: return (format){32, 8, 10, 127, 13};
    case PL_TT_F32: return (format){32, 8, 23, 127, 0};
    case PL_TT_E4M3: return (format){8, 4, 3, 7, 0};
    case PL_TT_E5M2: return (format){8, 5, 2, 15, 0};
    case PL_TT_E3M2: return (format){8, 3, 2, 3, 0};
    case PL_TT_E2M3: return (format){8, 2, 3, 1, 0};
    case PL_TT_E2M1: return (format){8, 2, 1, 1, 2};
    case PL_TT_S8:
    case PL_TT_U8: return (format){8, 0, 0, 0, 0};
    default: return (format){4, 2, 1, 1, 0};
    }
}

static uint32_t encode(pl_tensor_type t, int value)
{
    const format f = format_of(t);
    if (t == PL_TT_S32) return (uint32_t)value;
    if (t == PL_TT_S8 || t == PL_TT_U8) return (uint32_t)value & 255;
    if (!value) return 0;
    const int magnitude = abs(value), e = ilogb(magnitude);
    const uint32_t fraction = (uint32_t)ldexp(ldexp(magnitude, -e) - 1, f.fraction),
                   sign = value < 0;
    return ((sign << (f.exponent + f.fraction)) | ((uint32_t)(e + f.bias) << f.fraction) | fraction)
           << f.up;
}

static int small_value(pl_tensor_type t)
{
    return t == PL_TT_U8 ? (int)draw(4) : (int)draw(7) - 3;
}

/* ---- one case ---- */

typedef struct test {
    pl_tcgen05_op op;
    int a[MOST][128], b[128][MOST], d[MOST][MOST]; /* A is dense here */
    double scale_a[MOST][PL_TENSOR_SCALES], scale_b[MOST][PL_TENSOR_SCALES];
    uint8_t *shared[2];
    pl_tmem *tmem[2];
    int swizzle_a, swizzle_b; /* 0, 32, 64, 128, -128: by 32 bytes */
    int split_a, split_b; /* byte where a line begins within its 128 bytes; the excess is elsewhere.
                             -1: the leading dimension is not an address */
} test;

static const struct {
    pl_tcgen05_kind kind;
    int k;
    const char *name;
} kinds[] = {{PL_TK_F16, 16, "f16"},           {PL_TK_TF32, 8, "tf32"},
             {PL_TK_F8F6F4, 32, "f8f6f4"},     {PL_TK_I8, 32, "i8"},
             {PL_TK_MXF8F6F4, 32, "mxf8f6f4"}, {PL_TK_MXF4, 64, "mxf4"},
             {PL_TK_MXF4NVF4, 64, "mxf4nvf4"}};

/* The type and its code in the instruction descriptor. */
static pl_tensor_type some_type(pl_tcgen05_kind kind, uint32_t *code)
{
    static const pl_tensor_type small[] = {PL_TT_E4M3, PL_TT_E5M2, PL_TT_NONE,
                                           PL_TT_E2M3, PL_TT_E3M2, PL_TT_E2M1};
    switch (kind) {
    case PL_TK_F16: *code = draw(2); return *code ? PL_TT_BF16 : PL_TT_F16;
    case PL_TK_TF32: *code = 2; return PL_TT_TF32;
    case PL_TK_I8: *code = draw(2); return *code ? PL_TT_S8 : PL_TT_U8;
    case PL_TK_MXF4:
    case PL_TK_MXF4NVF4: *code = 1; return PL_TT_E2M1X2;
    default:
        do *code = draw(6);
        while (small[*code] == PL_TT_NONE);
        return small[*code];
    }
}

/* Writes an element into shared memory: BITS is the width of its container. */
static void put_shared(uint8_t *shared, uint32_t start, int index, pl_tensor_type t, int swizzle,
                       uint32_t x)
{
    const int bits = format_of(t).bits, packed = t == PL_TT_E2M1                      ? 4
                                                 : t == PL_TT_E2M3 || t == PL_TT_E3M2 ? 6
                                                                                      : 0;
    uint32_t at = start + (uint32_t)(packed ? index / 16 * 16 : index * bits / 8);
    at = swizzle == 128    ? swizzled(at, 3, 4, 3)
         : swizzle == 64   ? swizzled(at, 2, 4, 3)
         : swizzle == 32   ? swizzled(at, 1, 4, 3)
         : swizzle == -128 ? swizzled(at, 2, 5, 2)
                           : at;
    if (!packed && bits == 4) {
        shared[at] |= (uint8_t)(x << 4 * (index & 1));
    } else if (!packed) {
        memcpy(shared + at, &x, (size_t)bits / 8); /* little-endian hosts */
    } else {
        const uint32_t value = t == PL_TT_E2M1 ? x >> 2 : x;
        for (int b = 0; b < packed; b++) {
            const int bit = index % 16 * packed + b;
            shared[at + (uint32_t)bit / 8] |= (uint8_t)((value >> b & 1) << bit % 8);
        }
    }
}

/* A canonical layout for LINES lines of K elements, its strides in elements, and its descriptor. */
static layout canonical(bool transposed, int swizzle, int bits, int lines, int k, uint32_t start,
                        uint64_t *descriptor)
{
    const int t = 128 / bits, w = abs(swizzle) / 16, row = swizzle == -128 ? 4 : 8;
    int lead, stride;
    layout l;
    if (!transposed && !swizzle) {
        lead = 8 * t;
        stride = lead * ((k + t - 1) / t);
        l = (layout){{{8, t}, {0, stride}}, {{t, 1}, {0, lead}}};
    } else if (!transposed) {
        lead = 0;
        stride = 8 * w * t;
        l = (layout){{{8, w * t}, {0, stride}}, {{t, 1}, {0, t}}};
    } else if (!swizzle) {
        stride = 8 * t;
        lead = stride * ((lines + t - 1) / t);
        l = (layout){{{t, 1}, {0, stride}}, {{8, t}, {0, lead}}};
    } else {
        stride = row * w * t;
        lead = stride * ((k + row - 1) / row);
        l = (layout){{{t, 1}, {w, t}, {0, lead}}, {{row, w * t}, {0, stride}}};
    }
    const uint64_t mode = swizzle == -128  ? 1
                          : swizzle == 128 ? 2
                          : swizzle == 64  ? 4
                          : swizzle == 32  ? 6
                                           : 0;
    *descriptor = start >> 4 | (uint64_t)(lead * bits / 128) << 16 |
                  (uint64_t)(stride * bits / 128) << 32 | 1ull << 46 | mode << 61;
    return l;
}

/* The virtual address 128 * column + lane of element (row, column) of D or A. */
static layout path_of_data(const pl_tcgen05_op *op, int columns)
{
    const int rows = op->m / op->blocks;
    if (rows == 128) return (layout){{{0, 1}}, {{0, 128}}};
    if (rows == 32) return (layout){{{0, 1}}, {{columns / 4, 128}, {0, 32}}};
    if (op->ws || (op->blocks == 2 && !op->sparse))
        return (layout){{{0, 1}}, {{columns / 2, 128}, {0, 64}}};
    return (layout){{{16, 1}, {0, 32}}, {{0, 128}}};
}

static void put_bits(pl_tmem *t, int lane, uint32_t column, int bit, int bits, uint32_t x)
{
    t->cell[lane][column + (uint32_t)bit / 32] |= x << bit % 32;
    ck_assert_int_le(bit % 32 + bits, 32);
}

/* Makes A sparse: two units of each chunk of four are kept. Metadata is written to tensor memory,
 * the kept units to STORED. */
static void make_sparse(test *t, int rows, int b, int (*stored)[128])
{
    const int bits = format_of(t->op.ta).bits, k = t->op.k,
              chunk = bits == 32  ? 2
                      : bits == 4 ? 8
                                  : 4,
              unit = bits == 4 ? 2 : 1;
    /* CuTe: tf32 ((8,2,8),(8,2)):((1,1024,16),(128,8)) in units of 2 bits; 16 bits
     * ((8,2,8),(16,2)):((1,2048,16),(128,8)); else (128,64):(1,128) in bits */
    const layout wide = {{{8, 1}, {2, 2048}, {0, 16}}, {{16, 128}, {0, 8}}},
                 narrow = {{{0, 1}}, {{0, 128}}};
    const layout path = path_of_data(&t->op, 8);
    const bool half = offset(&path, 16, 0) == 32; /* 16 of 32 lanes are used */
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < k / chunk; c++) {
            int *from = &t->a[b * rows + r][c * chunk];
            unsigned first = draw(4), second = draw(4), code;
            if (bits == 32) {
                code = draw(2) ? 14 : 4;
                stored[r][c] = from[code == 14];
                from[code == 4] = 0;
            } else {
                while (first == second) second = draw(4);
                if (first > second) {
                    const unsigned x = first;
                    first = second;
                    second = x;
                }
                code = first | second << 2;
                for (unsigned u = 0; u < 4; u++)
                    for (int e = 0; e < unit; e++) {
                        int *x = &from[(int)u * unit + e];
                        if (u == first) stored[r][c * 2 * unit + e] = *x;
                        if (u == second) stored[r][(c * 2 + 1) * unit + e] = *x;
                        if (u != first && u != second) *x = 0;
                    }
            }
            const int at = bits >= 16 ? offset(&wide, r, 4 * c) : offset(&narrow, r, 4 * c);
            int lane = at % 128;
            if (half) lane = lane % 16 + 32 * (lane / 16);
            for (int copy = 0; copy < (rows == 128 || half ? 1 : 128 / rows); copy++)
                put_bits(t->tmem[b], lane + copy * rows, t->op.meta & 0xffff, at / 128, 4, code);
        }
}

/* A matrix with an absolute leading dimension: lines of 4-bit elements starting at byte SPLIT of
 * their 128; the excess is at the same lines of a second piece 40 KiB further. */
static void put_split(uint8_t *shared, uint32_t start, const layout *l, int split, int line, int j,
                      uint32_t x)
{
    const int byte = split + j / 2;
    put_shared(shared, byte < 128 ? start : start + 40 * 1024,
               offset(l, line, 0) + 2 * (byte % 128) + j % 2, PL_TT_E2M1X2, 128, x);
}

static void say_split(uint64_t *descriptor, uint32_t start, int split)
{
    *descriptor &= ~0x3fff3fffull;
    *descriptor |=
        (start + (uint32_t)split) >> 4 | (uint64_t)(start + 40 * 1024) >> 4 << 16 | 1ull << 52;
}

static void put_left(test *t, int b)
{
    const pl_tcgen05_op *op = &t->op;
    const int rows = op->m / op->blocks, k = op->sparse ? op->k / 2 : op->k,
              bits = format_of(op->ta).bits;
    static int stored[MOST][128];
    if (op->sparse)
        make_sparse(t, rows, b, stored);
    else
        for (int r = 0; r < rows; r++) memcpy(stored[r], t->a[b * rows + r], sizeof stored[r]);
    if (op->a_in_tmem) {
        const layout l = path_of_data(op, op->n);
        const int parts = offset(&l, 0, op->n - 1) % 128 / rows + 1;
        for (int part = 0; part < parts; part++)
            for (int r = 0; r < rows; r++)
                for (int j = 0; j < k; j++)
                    put_bits(t->tmem[b], offset(&l, r, part * op->n / parts) % 128, op->a & 0xffff,
                             j * bits, bits, encode(op->ta, stored[r][j]));
        return;
    }
    const layout l = canonical(op->trans_a, t->swizzle_a, bits, rows, k, 1024, &t->op.a_desc);
    for (int r = 0; r < rows; r++)
        for (int j = 0; j < k; j++) {
            const uint32_t x = encode(op->ta, stored[r][j]);
            if (t->split_a < 0)
                put_shared(t->shared[b], 1024, offset(&l, r, j), op->ta, t->swizzle_a, x);
            else
                put_split(t->shared[b], 1024, &l, t->split_a, r, j, x);
        }
    if (t->split_a >= 0) say_split(&t->op.a_desc, 1024, t->split_a);
}

static void put_right(test *t, int b)
{
    const pl_tcgen05_op *op = &t->op;
    const int columns = op->n / op->blocks, bits = format_of(op->tb).bits;
    const layout l =
        canonical(op->trans_b, t->swizzle_b, bits, columns, op->k, 100 * 1024, &t->op.b_desc);
    for (int n = 0; n < columns; n++)
        for (int j = 0; j < op->k; j++) {
            const uint32_t x = encode(op->tb, t->b[j][b * columns + n]);
            if (t->split_b < 0)
                put_shared(t->shared[b], 100 * 1024, offset(&l, n, j), op->tb, t->swizzle_b, x);
            else
                put_split(t->shared[b], 100 * 1024, &l, t->split_b, n, j, x);
        }
    if (t->split_b >= 0) say_split(&t->op.b_desc, 100 * 1024, t->split_b);
}

/* The bit in the columns of scale C of a line: a word holds four, and further ones are after the
 * words of 128 lines, or of 256. */
static int scale_bit(int line, int c, int lines)
{
    return 32 * (line / 32 + c / 4 * (lines > 128 ? 8 : 4)) + 8 * (c % 4);
}

/* CuTe: ((32,MN/32),4),(VS,NSF):(((1,512),32),(0,128)) in bytes. */
static void put_scales(test *t, int b)
{
    const pl_tcgen05_op *op = &t->op;
    const int rows = op->m / op->blocks, parts = rows == 128 ? 1 : 2;
    for (int which = 0; which < 2; which++)
        for (int i = 0; i < (which ? op->n : rows); i++)
            for (int c = 0; c < op->scales; c++) {
                const unsigned x = draw(3); /* 1, 2, 4 */
                const uint32_t code = op->ue4m3 ? (x + 7) << 3 : x + 127;
                double *to = which ? &t->scale_b[i][c] : &t->scale_a[b * rows + i][c];
                if (which && b) { /* both blocks have the scales of all columns of B */
                    const unsigned y = (unsigned)ilogb(*to);
                    const uint32_t again = op->ue4m3 ? (y + 7) << 3 : y + 127;
                    const int line = parts == 2 ? i % (op->n / 2) : i,
                              half = parts == 2 && i >= op->n / 2;
                    for (int q = half ? 2 : 0; q < (parts == 2 && !half ? 2 : 4); q++)
                        put_bits(t->tmem[b], line % 32 + 32 * q, op->scale_b & 0xffff,
                                 scale_bit(line, op->id_b + c, op->n / parts), 8, again);
                    continue;
                }
                *to = ldexp(1, (int)x);
                const int line = which && parts == 2 ? i % (op->n / 2) : i,
                          half = which && parts == 2 && i >= op->n / 2;
                for (int q = half ? 2 : 0; q < (which && parts == 2 && !half ? 2 : 4); q++)
                    put_bits(t->tmem[b], line % 32 + 32 * q,
                             (which ? op->scale_b : op->scale_a) & 0xffff,
                             scale_bit(line, (which ? op->id_b : op->id_a) + c,
                                       which ? op->n / parts : rows),
                             8, code);
            }
}

static bool read_back(const test *t, const double (*want)[MOST], char *where, size_t size)
{
    const pl_tcgen05_op *op = &t->op;
    const int rows = op->m / op->blocks;
    const layout l = path_of_data(op, op->n);
    for (int b = 0; b < op->blocks; b++)
        for (int r = 0; r < rows; r++)
            for (int n = 0; n < op->n; n++) {
                const int at = offset(&l, r, n), lane = at % 128 + (int)(op->d >> 16);
                const uint32_t x = t->tmem[b]->cell[lane][(op->d & 0xffff) + (uint32_t)at / 128];
                const bool off = op->off[4 * b + lane / 32] >> lane % 32 & 1;
                const double sum = off ? t->d[b * rows + r][n] : want[b * rows + r][n];
                const uint32_t y = encode(op->td, (int)sum);
                if (x == y) continue;
                snprintf(where, size, "row %d, column %d: 0x%x, should be 0x%x (%g)", b * rows + r,
                         n, x, y, sum);
                return false;
            }
    return true;
}

static void multiply(const test *t, double (*want)[MOST])
{
    const pl_tcgen05_op *op = &t->op;
    for (int m = 0; m < op->m; m++)
        for (int n = 0; n < op->n; n++) {
            double sum = op->accumulate ? t->d[m][n] : 0;
            for (int k = 0; k < op->k; k++) {
                double product = t->a[m][k] * t->b[k][n];
                if (op->scales)
                    product *= t->scale_a[m][k * op->scales / op->k] *
                               t->scale_b[n][k * op->scales / op->k];
                sum += op->negate_a != op->negate_b ? -product : product;
            }
            want[m][n] = sum;
        }
}

/* Table 39 of the manual. */
static bool shape_exists(const pl_tcgen05_op *op)
{
    const bool scaled = op->kind >= PL_TK_MXF8F6F4, i8 = op->kind == PL_TK_I8;
    if (op->ws)
        return !scaled && op->blocks == 1 && (op->m == 32 || op->m == 64 || op->m == 128) &&
               (op->n == 64 || op->n == 128 || (op->n == 256 && !op->sparse));
    if (op->blocks == 1)
        return (op->m == 128 || (op->m == 64 && !scaled)) &&
               (!i8 || op->n <= 32 || op->n % 16 == 0);
    return (op->m == 256 || (op->m == 128 && !(scaled && op->sparse))) &&
           op->n % (i8 ? 32 : 16) == 0;
}

static int some_swizzle(int bytes, bool transposed, pl_tensor_type t, int lines)
{
    static const int widths[] = {0, 32, 64, 128};
    if (transposed && t == PL_TT_TF32) return -128;
    for (;;) {
        const int w = widths[draw(4)];
        if (!w || (!transposed && w >= bytes)) return w;
        if (transposed && lines * format_of(t).bits / 8 % w == 0) return w;
    }
}

static bool is_scaled(const pl_tcgen05_op *op)
{
    return op->kind >= PL_TK_MXF8F6F4;
}

/* Dense four-bit kinds may have 96 elements per step. */
static bool has_k96(const pl_tcgen05_op *op)
{
    return op->kind >= PL_TK_MXF4 && op->k == 96;
}

/* The first scales of a matrix. Three scales start anywhere, six at a half word. */
static int some_scale(const pl_tcgen05_op *op)
{
    if (has_k96(op)) return op->scales == 2 ? (int)draw(4) : 2 * (int)draw(2);
    if (op->scales == 1) return (int)draw(4);
    return op->scales == 2 ? 2 * (int)draw(2) : 0;
}

static void choose_scales(pl_tcgen05_op *op)
{
    if (op->kind == PL_TK_MXF8F6F4) op->scales = 1;
    if (op->kind == PL_TK_MXF4) op->scales = 2;
    if (op->kind == PL_TK_MXF4NVF4) op->scales = draw(2) ? 4 : 2;
    op->ue4m3 = op->scales == 4 && draw(2);
    op->id_a = some_scale(op);
    op->id_b = some_scale(op);
}

/* Type of the result; *code: how the descriptor names it. */
static void choose_result(pl_tcgen05_op *op, uint32_t *code)
{
    const bool to_half = !is_scaled(op) && op->kind != PL_TK_TF32 && op->kind != PL_TK_I8 &&
                         op->ta != PL_TT_BF16 && op->tb != PL_TT_BF16 && draw(2);
    op->td = op->kind == PL_TK_I8 ? PL_TT_S32 : to_half ? PL_TT_F16 : PL_TT_F32;
    *code = op->kind == PL_TK_I8 ? 2 : to_half ? 0 : 1;
}

static uint32_t descriptor_of(const pl_tcgen05_op *op, uint32_t ca, uint32_t cb, uint32_t cd)
{
    const uint32_t common = (uint32_t)op->sparse << 2 | ca << 7 | cb << 10 |
                            (uint32_t)op->negate_a << 13 | (uint32_t)op->negate_b << 14 |
                            (uint32_t)op->trans_a << 15 | (uint32_t)op->trans_b << 16 |
                            (uint32_t)op->n / 8 << 17;
    if (!is_scaled(op)) return common | cd << 4 | (uint32_t)op->m / 16 << 24;
    return common | (uint32_t)op->id_b << 4 | (op->ue4m3 ? 0u : 1u << 23) |
           (uint32_t)op->m / 128 << 27 | (uint32_t)op->id_a << 29 | (uint32_t)has_k96(op) << 31;
}

static pl_tcgen05_op choose_op(unsigned which)
{
    pl_tcgen05_op op = {.kind = kinds[which].kind,
                        .blocks = (int)draw(2) + 1,
                        .ws = draw(3) == 0,
                        .sparse = draw(2),
                        .a_in_tmem = draw(2),
                        .accumulate = draw(2)};
    const bool four = op.kind >= PL_TK_MXF4;
    uint32_t ca, cb, cd;
    op.m = 32 << draw(4);
    op.n = 8 * (int)(draw(2) || op.ws ? 1u << draw(6) : draw(32) + 1);
    op.k = kinds[which].k << op.sparse;
    if (four && !op.sparse && draw(3) == 0) op.k = 96;
    op.ta = some_type(op.kind, &ca);
    op.tb = some_type(op.kind, &cb);
    choose_result(&op, &cd);
    const bool swap_a = !op.a_in_tmem && !four && draw(2), swap_b = !four && draw(2);
    op.negate_a = op.kind != PL_TK_I8 && draw(2);
    op.negate_b = op.kind != PL_TK_I8 && draw(2);
    op.trans_a = swap_a && !op.sparse;
    op.trans_b = swap_b;
    choose_scales(&op);
    op.idesc = descriptor_of(&op, ca, cb, cd);
    return op;
}

/* The descriptor decodes to the encoded values. */
static void compare_decoded(const pl_tcgen05_op *op, const pl_tcgen05_op *decoded)
{
    ck_assert(decoded->m == op->m && decoded->n == op->n && decoded->k == op->k);
    ck_assert(decoded->ta == op->ta && decoded->tb == op->tb && decoded->td == op->td);
    ck_assert(decoded->trans_a == op->trans_a && decoded->trans_b == op->trans_b);
    ck_assert(decoded->id_a == op->id_a && decoded->id_b == op->id_b &&
              decoded->ue4m3 == op->ue4m3);
}

static void choose_swizzles(test *t)
{
    const pl_tcgen05_op *op = &t->op;
    const int ka = op->sparse ? op->k / 2 : op->k;
    const bool k96 = has_k96(op);
    t->swizzle_a =
        some_swizzle(ka * format_of(op->ta).bits / 8, op->trans_a, op->ta, op->m / op->blocks);
    t->swizzle_b =
        some_swizzle(op->k * format_of(op->tb).bits / 8, op->trans_b, op->tb, op->n / op->blocks);
    t->split_a = k96 && !op->a_in_tmem && t->swizzle_a == 128 && draw(4) ? 16 * (int)draw(8) : -1;
    t->split_b = k96 && t->swizzle_b == 128 && draw(4) ? 16 * (int)draw(8) : -1;
}

/* Chooses the case; returns false if there is no such shape. */
static bool choose(test *t)
{
    pl_tcgen05_op *op = &t->op;
    const unsigned which = draw(sizeof kinds / sizeof *kinds);
    *op = choose_op(which);
    /* 8-bit transposed B: N is a multiple of 16 in each block */
    const bool good = shape_exists(op) && !(op->ws && op->blocks == 2);
    if (is_scaled(op) && op->m % 128) return false;
    if (op->ws && (is_scaled(op) || op->blocks == 2)) return false;
    pl_tcgen05_op decoded = *op;
    const char *wrong = pl_tcgen05_decode(&decoded);
    ck_assert_msg(!wrong == good, "%s m%d n%d k%d blocks %d ws %d sparse %d: %s", kinds[which].name,
                  op->m, op->n, op->k, op->blocks, op->ws, op->sparse, wrong ? wrong : "taken");
    if (!good) return false;
    compare_decoded(op, &decoded);
    op->scales = decoded.scales;
    ck_assert_int_eq(op->scales, !is_scaled(op) ? 0
                                 : has_k96(op)  ? op->k / (op->scales == 6 ? 16 : 32)
                                                : op->scales);
    if (op->trans_b && op->n / op->blocks * format_of(op->tb).bits % 128) return false;
    choose_swizzles(t);
    return true;
}

static bool run_case(test *t, char *where, size_t size)
{
    pl_tcgen05_op *op = &t->op;
    static double want[MOST][MOST];
    const int rows = op->m / op->blocks;
    op->d = 16;
    op->a = 288;
    op->meta = 320;
    op->scale_a = 352;
    op->scale_b = 384;
    for (int m = 0; m < op->m; m++) {
        for (int k = 0; k < op->k; k++) t->a[m][k] = small_value(op->ta);
        for (int n = 0; n < op->n; n++) t->d[m][n] = (int)draw(9) - 4;
    }
    for (int k = 0; k < op->k; k++)
        for (int n = 0; n < op->n; n++) t->b[k][n] = small_value(op->tb);
    for (int k = 0; k < 4 * op->blocks && !op->scales && !op->ws && draw(2); k++)
        op->off[k] = (draw(65536) << 16) | draw(65536);
    const layout l = path_of_data(op, op->n);
    pl_tcgen05_block block[2];
    for (int b = 0; b < op->blocks; b++) {
        memset(t->shared[b], 0, SHARED);
        memset(t->tmem[b], 0, sizeof *t->tmem[b]);
        pl_tmem_take(t->tmem[b], 0, PL_TMEM_COLUMNS);
        put_left(t, b);
        put_right(t, b);
        if (op->scales) put_scales(t, b);
        for (int r = 0; r < rows; r++)
            for (int n = 0; n < op->n; n++) {
                const int at = offset(&l, r, n);
                t->tmem[b]->cell[at % 128][16 + at / 128] = encode(op->td, t->d[b * rows + r][n]);
            }
        block[b] = (pl_tcgen05_block){t->tmem[b], t->shared[b], SHARED};
    }
    multiply(t, want);
    uint32_t fault = 0;
    const char *wrong = pl_tcgen05_product(op, block, &fault);
    if (wrong) {
        snprintf(where, size, "%s at 0x%x", wrong, fault);
        return false;
    }
    return read_back(t, (const double(*)[MOST])want, where, size);
}

START_TEST(products_match_reference)
{
    static test t;
    int seen[7][2][2][2] = {{{{0}}}}, n = 0; /* kind, blocks, ws, sparse */
    int wide[2] = {0}, splits = 0;           /* K = 96 in one block and in two */
    for (int b = 0; b < 2; b++) {
        t.shared[b] = malloc(SHARED);
        t.tmem[b] = malloc(sizeof *t.tmem[b]);
    }
    state = 1;
    while (n < 400) {
        const uint64_t seed = state;
        char where[160] = "";
        if (!choose(&t)) continue;
        n++;
        seen[t.op.kind][t.op.blocks - 1][t.op.ws][t.op.sparse]++;
        wide[t.op.blocks - 1] += t.op.k == 96;
        splits += t.split_a >= 0 || t.split_b >= 0;
        const bool good = run_case(&t, where, sizeof where);
        ck_assert_msg(
            good,
            "case %d (state %llu): %s m%d n%d k%d, types %d %d %d, blocks %d, ws %d, sparse "
            "%d, A in tmem %d, transposed %d %d, swizzle %d %d, scales %d: %s",
            n, (unsigned long long)seed, kinds[t.op.kind].name, t.op.m, t.op.n, t.op.k, t.op.ta,
            t.op.tb, t.op.td, t.op.blocks, t.op.ws, t.op.sparse, t.op.a_in_tmem, t.op.trans_a,
            t.op.trans_b, t.swizzle_a, t.swizzle_b, t.op.scales, where);
    }
    ck_assert_int_gt(wide[0], 0);
    ck_assert_int_gt(wide[1], 0);
    ck_assert_int_gt(splits, 4);
    for (int kind = 0; kind < 7; kind++)
        for (int sparse = 0; sparse < 2; sparse++) {
            ck_assert_int_gt(seen[kind][0][0][sparse], 0);
            ck_assert_int_gt(seen[kind][1][0][sparse], 0);
            if (kind < PL_TK_MXF8F6F4) ck_assert_int_gt(seen[kind][0][1][sparse], 0);
        }
    for (int b = 0; b < 2; b++) {
        free(t.shared[b]);
        free(t.tmem[b]);
    }
}
END_TEST

UNIT_MAIN("tcgen05", products_match_reference)
