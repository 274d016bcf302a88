/* product.c - the products of tcgen05.mma. See product.h. */
#include "emu/exec/tcgen05/product.h"

#include <math.h>
#include <string.h>

#include "emu/exec/num/softfloat.h"

enum { N = PL_TENSOR_N, ROWS = 16 }; /* of one tile */

/* All columns of B. A transposed matrix is fetched in pieces of up to 32 columns. */
typedef struct right_factor {
    uint32_t at[PL_TENSOR_MAX_K][PL_TCGEN05_MAX_N + 32];
} right_factor;

typedef struct product {
    const pl_tcgen05_op *op;
    const pl_tcgen05_block *block;
    pl_tensor_num num;
    int rows;                               /* rows of A in one block */
    int parts, width;                       /* parts of the columns of D: their number and width */
    bool narrow;                            /* 16 of 32 lanes are used */
    uint64_t masked[PL_TCGEN05_MAX_N / 64]; /* columns of B that are zero */
    uint32_t *at;                           /* address of a fault */
} product;

static uint32_t lane_of(const product *p, int row, int part)
{
    const uint32_t first = pl_tmem_lane(p->op->d);
    if (p->narrow) return first + (uint32_t)(row % 16 + 32 * (row / 16));
    return first + (uint32_t)(row + PL_TMEM_LANES / p->parts * part);
}

/* The row of tensor memory from which A's row is read: its own, or with .ashift the next one of the
 * same 32 lanes. */
static uint32_t lane_of_a(const product *p, int row, int part)
{
    const uint32_t lane = lane_of(p, row, part) - pl_tmem_lane(p->op->d) + pl_tmem_lane(p->op->a);
    return p->op->shift_a && lane % 32 != 31 ? lane + 1 : lane;
}

static bool packed_in_byte(pl_tensor_type t, int *bits)
{
    *bits = t == PL_TT_E2M1 ? 4 : t == PL_TT_E2M3 || t == PL_TT_E3M2 ? 6 : 0;
    return *bits != 0;
}

static uint32_t sign_of(pl_tensor_type t)
{
    return t == PL_TT_E2M1                      ? 1u << 5
           : t == PL_TT_E2M3 || t == PL_TT_E3M2 ? 1u << 5
                                                : 1u << (pl_tensor_bits(t) - 1);
}

static const char *describe_source(const product *p, uint64_t descriptor, pl_tensor_type t,
                                   bool trans, bool negate, const pl_tcgen05_block *b,
                                   pl_matrix_source *s)
{
    *s = (pl_matrix_source){.bits = pl_tensor_bits(t),
                            .trans = trans,
                            .negate = negate ? sign_of(t) : 0,
                            .shared = b->shared,
                            .size = b->shared_size};
    packed_in_byte(t, &s->in_byte);
    const char *wrong = pl_tcgen05_matrix(descriptor, &s->desc);
    if (!wrong && s->desc.swizzle == PL_WS_128_BY_32 && !(trans && t == PL_TT_TF32))
        wrong = "swizzling by 32 bytes of a matrix that is not a transposed one of tf32";
    *p->at = s->desc.start;
    return wrong;
}

/* ---- B ---- */

/* The columns of B that a descriptor masks: alternating runs of zero and used columns, for each
 * part of the columns. The interpretation of the text's skip and use span follows the manual's
 * examples. */
static void mask_columns(product *p)
{
    const uint64_t x = p->op->zero_columns;
    const unsigned zeros = (unsigned)(x >> 40 & 255) + 1, used = (unsigned)(x >> 48 & 255) + 1;
    if (!(x >> 39 & 1)) return;
    for (int part = 0; part < p->parts; part++) {
        unsigned start = (unsigned)(x >> 8 * part & 255);
        const bool first = x >> (32 + part) & 1;
        for (int n = 0; n < p->width; n++) {
            unsigned position = (start + (unsigned)n) % (zeros + used);
            const bool zero = first ? position < zeros : position >= used;
            const int column = part * p->width + n;
            if (zero) p->masked[column / 64] |= 1ull << column % 64;
        }
    }
}

static const char *fetch_right(product *p, right_factor *right)
{
    const pl_tcgen05_op *op = p->op;
    const int columns = op->n / op->blocks, shift = (int)(op->zero_columns >> 56 & 63);
    for (int b = 0; b < op->blocks; b++) {
        pl_matrix_source s;
        const char *wrong =
            describe_source(p, op->b_desc, op->tb, op->trans_b, op->negate_b, &p->block[b], &s);
        if (wrong) return wrong;
        if (!pl_matrix_fetch(&s, shift, columns, op->k, &right->at[0][b * columns], 1,
                             PL_TCGEN05_MAX_N + 32, p->at))
            return "B reaches beyond the shared memory";
    }
    for (int k = 0; k < op->k; k++)
        for (int n = 0; n < op->n; n++)
            if (p->masked[n / 64] >> n % 64 & 1) right->at[k][n] = 0;
    return NULL;
}

/* ---- A ---- */

/* A row of A in tensor memory: its elements are consecutive in its lane. */
static void left_from_tmem(const product *p, const pl_tmem *t, int first, int part, int k,
                           uint32_t *out)
{
    const int bits = pl_tensor_bits(p->op->ta), per = 32 / bits;
    const uint32_t mask = bits == 32 ? UINT32_MAX : (1u << bits) - 1,
                   negate = p->op->negate_a ? sign_of(p->op->ta) : 0;
    for (int r = 0; r < ROWS; r++) {
        const uint32_t *cell = t->cell[lane_of_a(p, first + r, part) % PL_TMEM_LANES];
        const uint32_t column = pl_tmem_column(p->op->a);
        for (int j = 0; j < k; j++)
            out[r * k + j] =
                (cell[column + (uint32_t)(j / per)] >> bits * (j % per) & mask) ^ negate;
    }
}

/* The location of the metadata of element k of a row: the lane, and the bit of the first column.
 *   8- and 4-bit elements: the row's lane; K/8 bytes, or K/16 for 4-bit ones, from bit 0
 *   16-bit and tf32: rows m and m + 8 share a column, and the two halves of k are 8 lanes apart */
static unsigned metadata(const product *p, const pl_tmem *t, int row, int part, int chunk)
{
    const pl_tcgen05_op *op = p->op;
    const uint32_t column = pl_tmem_column(op->meta) + (uint32_t)op->selector;
    const int bits = pl_tensor_bits(op->ta);
    if (bits <= 8) {
        const uint32_t *cell = t->cell[lane_of(p, row, part) % PL_TMEM_LANES];
        return cell[column + (uint32_t)(chunk / 8)] >> 4 * (chunk % 8) & 15;
    }
    const int half = chunk / 4, group = row / 8 % 2;
    const uint32_t lane = lane_of(p, row - 8 * group, part) + 8u * (uint32_t)half;
    return t->cell[lane % PL_TMEM_LANES][column] >> (16 * group + 4 * (chunk % 4)) & 15;
}

/* Expands the stored elements of A to their positions; the others are zero. A chunk has four units,
 * of which two are stored: elements, pairs of 4-bit elements, or halves of a tf32 element. */
static void expand_sparse(const product *p, const pl_tmem *t, int first, int part,
                          const uint32_t *stored, uint32_t *out)
{
    const int k = p->op->k, bits = pl_tensor_bits(p->op->ta);
    const int per_chunk = bits == 32 ? 2 : bits == 4 ? 8 : 4;
    memset(out, 0, sizeof *out * (size_t)(ROWS * k));
    for (int r = 0; r < ROWS; r++) {
        const uint32_t *from = stored + r * k / 2;
        for (int c = 0; c < k / per_chunk; c++) {
            const unsigned x = metadata(p, t, first + r, part, c);
            uint32_t *to = out + r * k + c * per_chunk;
            if (bits == 32) {
                to[(x & 3) >= 2] = from[c];
                continue;
            }
            for (unsigned u = 0; u < 2; u++) {
                const unsigned unit = x >> 2 * u & 3;
                if (bits == 4) {
                    to[2 * unit] = from[4 * c + 2 * (int)u];
                    to[2 * unit + 1] = from[4 * c + 2 * (int)u + 1];
                } else
                    to[unit] = from[2 * c + (int)u];
            }
        }
    }
}

static const char *fetch_left(const product *p, int b, int first, int part,
                              pl_mma_left_factor *left)
{
    const pl_tcgen05_op *op = p->op;
    const int k = op->sparse ? op->k / 2 : op->k;
    uint32_t stored[ROWS * PL_TENSOR_MAX_K], *out = op->sparse ? stored : left->raw;
    left->m = ROWS;
    left->k = op->k;
    if (op->a_in_tmem)
        left_from_tmem(p, p->block[b].tmem, first, part, k, out);
    else {
        pl_matrix_source s;
        const char *wrong =
            describe_source(p, op->a_desc, op->ta, op->trans_a, op->negate_a, &p->block[b], &s);
        if (wrong) return wrong;
        if (!pl_matrix_fetch(&s, first, ROWS, k, out, k, 1, p->at))
            return "A reaches beyond the shared memory";
    }
    if (op->sparse) expand_sparse(p, p->block[b].tmem, first, part, stored, left->raw);
    pl_tensor_prepare(&p->num, left);
    return NULL;
}

/* ---- scales ---- */

static uint32_t scale_step(int lines)
{
    return lines > 128 ? 8 : 4;
}

/* Byte BYTE of line LINE: lines are in the 32 lanes of the quarter that holds the row of D, further
 * lines in the next columns. A column has four bytes. Further bytes, which K = 96 needs, follow the
 * columns of all lines, as placed by copies of 128 lines and four scales. */
static uint32_t scale_at(const pl_tmem *t, uint32_t address, uint32_t quarter, int line, int byte,
                         int lines)
{
    const uint32_t lane = quarter * 32 + (uint32_t)line % 32,
                   column = pl_tmem_column(address) + (uint32_t)line / 32 +
                            scale_step(lines) * ((uint32_t)byte / 4);
    return t->cell[lane % PL_TMEM_LANES][column % PL_TMEM_COLUMNS] >> 8 * (byte & 3) & 255;
}

static void read_scales(const product *p, const pl_tmem *t, int row, int part, int column,
                        pl_tensor_scales *a, pl_tensor_scales *b)
{
    const pl_tcgen05_op *op = p->op;
    const uint32_t quarter = lane_of(p, row, part) / 32 % 4;
    a->count = b->count = op->scales;
    for (int c = 0; c < op->scales; c++) {
        for (int r = 0; r < ROWS; r++)
            pl_tensor_scale_set(a, r, c,
                                scale_at(t, op->scale_a, quarter, row + r, op->id_a + c, p->rows),
                                op->ue4m3);
        for (int j = 0; j < N; j++)
            pl_tensor_scale_set(
                b, j, c, scale_at(t, op->scale_b, quarter, column + j, op->id_b + c, p->width),
                op->ue4m3);
    }
}

/* ---- D ---- */

static uint32_t divide_by_power(pl_tensor_type t, uint32_t x, int by)
{
    if (t == PL_TT_F32) return f32_bits(ldexpf(f32_value(x), -by));
    /* f16: through single precision, rounded to nearest even */
    const uint32_t sign = x & 0x8000, magnitude = x & 0x7fff;
    if (magnitude >= 0x7c00) return x;
    const float value = magnitude >> 10 ? ldexpf((float)(1024 + (magnitude & 1023)),
                                                 (int)(magnitude >> 10) - 25 - by)
                                        : ldexpf((float)magnitude, -24 - by);
    const float grid = value >= 0x1p-14f ? ldexpf(1, ilogbf(value) - 10) : 0x1p-24f;
    const float rounded = rintf(value / grid) * grid;
    return sign |
           (rounded >= 0x1p-14f ? (uint32_t)((ilogbf(rounded) + 15) << 10) |
                                      ((uint32_t)(rounded / ldexpf(1, ilogbf(rounded) - 10)) & 1023)
                                : (uint32_t)(rounded * 0x1p24f));
}

static void multiply_tile(const product *p, const right_factor *right, int b, int row, int part,
                          int column, pl_mma_left_factor *left)
{
    const pl_tcgen05_op *op = p->op;
    pl_tmem *t = p->block[b].tmem;
    const int first = part * p->width + column;
    const uint32_t at = pl_tmem_column(op->d) + (uint32_t)column;
    uint32_t factor[PL_TENSOR_MAX_K][N], sum[ROWS][N];
    for (int k = 0; k < op->k; k++) memcpy(factor[k], &right->at[k][first], sizeof factor[k]);
    for (int r = 0; r < ROWS; r++) {
        const uint32_t *cell = &t->cell[lane_of(p, row + r, part) % PL_TMEM_LANES][at];
        for (int j = 0; j < N; j++) {
            uint32_t x = op->accumulate ? op->td == PL_TT_F16 ? cell[j] & 0xffff : cell[j] : 0;
            sum[r][j] = op->scale_d ? divide_by_power(op->td, x, op->scale_d) : x;
        }
    }
    if (op->scales) {
        pl_tensor_scales sa, sb;
        pl_mma_left_factor scaled = *left;
        read_scales(p, t, row, part, column, &sa, &sb);
        pl_tensor_scaled_tile(&p->num, &scaled, &sa, &sb, (const uint32_t(*)[N])factor, sum);
    } else
        pl_tensor_tile(&p->num, left, (const uint32_t(*)[N])factor, (const uint32_t(*)[N])sum, sum);
    for (int r = 0; r < ROWS; r++) {
        const uint32_t lane = lane_of(p, row + r, part) % PL_TMEM_LANES;
        if (op->off[(uint32_t)b * 4 + lane / 32] >> lane % 32 & 1) continue;
        memcpy(&t->cell[lane][at], sum[r], sizeof sum[r]);
    }
}

/* ---- the product ---- */

static uint32_t scale_columns(int lines, int bytes)
{
    return (uint32_t)(lines + 31) / 32 + (bytes > 4 ? scale_step(lines) : 0);
}

static const char *check_columns(const product *p, const pl_tmem *t)
{
    const pl_tcgen05_op *op = p->op;
    const int k = op->sparse ? op->k / 2 : op->k;
    const struct {
        bool used;
        uint32_t address, columns;
        const char *wrong;
    } operands[] = {
        {true, op->d, (uint32_t)p->width, "D reaches columns that are not allocated"},
        {op->a_in_tmem, op->a, (uint32_t)(k * pl_tensor_bits(op->ta) / 32),
         "A reaches columns that are not allocated"},
        {op->sparse, op->meta + (uint32_t)op->selector, pl_tensor_bits(op->ta) <= 8 ? 2 : 1,
         "the metadata reaches columns that are not allocated"},
        {op->scales > 0, op->scale_a, scale_columns(p->rows, op->id_a + op->scales),
         "the scales of A reach columns that are not allocated"},
        {op->scales > 0, op->scale_b, scale_columns(p->width, op->id_b + op->scales),
         "the scales of B reach columns that are not allocated"},
    };
    for (unsigned n = 0; n < sizeof operands / sizeof *operands; n++) {
        *p->at = operands[n].address;
        if (operands[n].used &&
            !pl_tmem_holds(t, pl_tmem_column(operands[n].address), operands[n].columns))
            return operands[n].wrong;
    }
    return NULL;
}

static const char *check_lanes(const product *p)
{
    const uint32_t d = pl_tmem_lane(p->op->d);
    *p->at = p->op->d;
    if (p->narrow ? d != 0 && d != 16 : d != 0)
        return p->narrow ? "D of 64 rows begins in lane 0 or 16" : "D begins in lane 0";
    if (p->op->a_in_tmem && pl_tmem_lane(p->op->a) != d) {
        *p->at = p->op->a;
        return "A in tensor memory begins in the lane of D";
    }
    return NULL;
}

const char *pl_tcgen05_product(const pl_tcgen05_op *op, const pl_tcgen05_block *block, uint32_t *at)
{
    static const pl_tensor_scale with_ue4m3 = {.ue4m3 = true};
    const pl_tensor_op as_mma = {.family = PL_TF_WGMMA,
                                 .gen = PL_TG_B200,
                                 .m = 64,
                                 .n = N,
                                 .k = op->k,
                                 .a = op->ta,
                                 .b = op->tb,
                                 .c = op->td,
                                 .d = op->td,
                                 .saturate = op->saturate,
                                 .scale_a = op->ue4m3 ? &with_ue4m3 : NULL};
    product p = {.op = op,
                 .block = block,
                 .num = pl_tensor_number(&as_mma),
                 .rows = op->m / op->blocks,
                 .at = at};
    if (op->sparse) p.num.block *= 2;     /* zero elements are not products */
    if (op->k == 96) p.num.block = op->k; /* not recorded: assumed to be one sum */
    p.narrow = p.rows == 64 && !op->ws && (op->blocks == 1 || op->sparse);
    p.parts = p.rows == 128 || p.narrow ? 1 : PL_TMEM_LANES / p.rows;
    p.width = op->n / p.parts;
    mask_columns(&p);
    right_factor right;
    const char *wrong = check_lanes(&p);
    for (int b = 0; !wrong && b < op->blocks; b++) wrong = check_columns(&p, block[b].tmem);
    if (!wrong) wrong = fetch_right(&p, &right);
    for (int b = 0; b < op->blocks; b++)
        for (int part = 0; part < p.parts; part++)
            for (int row = 0; !wrong && row < p.rows; row += ROWS) {
                pl_mma_left_factor left;
                wrong = fetch_left(&p, b, row, part, &left);
                for (int n = 0; !wrong && n < p.width; n += N)
                    multiply_tile(&p, &right, b, row, part, n, &left);
            }
    return wrong;
}
