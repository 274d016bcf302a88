/* fragment_layout.c - the mapping of matrix elements to the registers of a warp.
 *
 * Nearly all fragments follow one scheme, here called the quad layout. The 32 lanes form eight
 * groups of four; lane = 4 * group + place. A 32-bit register holds `per` consecutive elements
 * along k (two f16, four s8, ...), and the four lanes of a group hold one row piece of 4 * per
 * elements:
 *
 *      k  0 ...            4*per ...
 *   A  [ group 0: place 0 1 2 3 ][ next piece ]      registers of A, m = 16:
 *      [ group 1: place 0 1 2 3 ][            ]        a0 rows 0-7   a2 rows 0-7, second piece
 *        ...                                           a1 rows 8-15  a3 rows 8-15
 *
 * B follows the same scheme with columns for rows. C and D hold the pair of columns 2 * place + {0,
 * 1} of row `group`, then of row group + 8. (PTX manual 9.7.14.5, "Matrix fragments for mma".)
 *
 * m8n8k4 of f16 dates from Volta and is laid out by quad pairs. The manual does not specify wmma's
 * layouts; these are the ones that ptxas 13.0 uses for sm_80 to sm_90a. They are two adjacent quad
 * layouts; m8n32 is computed as the transpose of 32x8. f16 fragments of fewer than eight registers
 * are duplicated in the remaining registers. */
#include <string.h>

#include "emu/exec/mma/mma.h"

static bool volta_layout(const pl_tensor_op *op)
{
    return op->family == PL_TF_MMA && op->k == 4 && op->m == 8 && op->a == PL_TT_F16;
}

/* m8n32k16 is computed as the transpose of m32n8k16. */
static bool flipped(const pl_tensor_op *op)
{
    return op->family == PL_TF_WMMA && op->m == 8 && op->n == 32;
}

static int per_register(pl_tensor_type t)
{
    const int bits = pl_tensor_bits(t);
    return bits >= 32 ? 1 : 32 / bits;
}

/* Number of registers of a quad-layout matrix with LINES rows (columns for B) and K elements along
 * k. */
static int quad_regs(int lines, int k, pl_tensor_type t)
{
    return lines * k / (PL_TENSOR_LANES * per_register(t));
}

int pl_tensor_regs(const pl_tensor_op *op, pl_tensor_operand which)
{
    const int k = op->sparse && which == PL_TM_A ? op->k / 2 : op->k;
    const pl_tensor_type t = which == PL_TM_A   ? op->a
                             : which == PL_TM_B ? op->b
                             : which == PL_TM_C ? op->c
                                                : op->d;
    if (volta_layout(op)) return which == PL_TM_A || which == PL_TM_B ? 2 : t == PL_TT_F16 ? 4 : 8;
    if (which == PL_TM_C || which == PL_TM_D)
        return op->m * op->n / (PL_TENSOR_LANES * per_register(t));
    if (op->family == PL_TF_WMMA && t == PL_TT_F16) return 8;
    return quad_regs(which == PL_TM_A ? op->m : op->n, k, t);
}

static pl_fragment_coord volta_where(const pl_tensor_op *op, pl_tensor_operand which, int lane,
                                     int reg, int j)
{
    const int upper = lane >= 16 ? 4 : 0, low = lane % 4, i = reg * 2 + j;
    pl_fragment_coord at;
    switch (which) {
    case PL_TM_A:
        at.row = op->a_col ? i + upper : low + upper;
        at.col = op->a_col ? low : i;
        break;
    case PL_TM_B:
        at.row = op->b_row ? low : i;
        at.col = op->b_row ? i + upper : low + upper;
        break;
    default:
        if ((which == PL_TM_C ? op->c : op->d) == PL_TT_F16) {
            at.row = low + upper;
            at.col = i;
        } else {
            at.row = (lane & 1) + (reg & 2) + upper;
            at.col = (reg & 4) + (lane & 2) + (reg & 1);
        }
    }
    return at;
}

/* Line (row of A, column of B) and k of a slot in the quad layout; TALL: lines are two halves of
 * eight. */
static pl_fragment_coord quad_piece(int lane, int reg, int j, int per, bool tall)
{
    const int half = tall ? reg & 1 : 0, piece = tall ? reg >> 1 : reg;
    return (pl_fragment_coord){lane / 4 + 8 * half, lane % 4 * per + j + 4 * per * piece};
}

static pl_fragment_coord quad_sum(int lane, int reg, int j, int per)
{
    const int i = reg * per + j;
    return (pl_fragment_coord){lane / 4 + 8 * (i >> 1), lane % 4 * 2 + (i & 1)};
}

pl_fragment_coord pl_fragment_coord_of(const pl_tensor_op *op, pl_tensor_operand which, int lane,
                                       int reg, int j)
{
    const pl_tensor_type t = which == PL_TM_A   ? op->a
                             : which == PL_TM_B ? op->b
                             : which == PL_TM_C ? op->c
                                                : op->d;
    const int per = per_register(t), k = op->sparse && which == PL_TM_A ? op->k / 2 : op->k;
    pl_fragment_coord at;
    if (volta_layout(op)) return volta_where(op, which, lane, reg, j);
    if (which == PL_TM_C || which == PL_TM_D) {
        const int tile_regs = op->m == 8 && op->n == 8 ? 2 / (per > 1 ? 2 : 1) : 4 / per;
        const int tile = reg / tile_regs;
        at = quad_sum(lane, reg % tile_regs, j, per);
        if (flipped(op)) return (pl_fragment_coord){at.col, at.row + 16 * tile};
        if (op->m == 32)
            at.row += 16 * tile;
        else
            at.col += 8 * tile;
        return at;
    }
    const int lines = which == PL_TM_A ? op->m : op->n;
    const bool tall = which == PL_TM_A ? !flipped(op) && op->m >= 16 : flipped(op);
    const int tile_lines = tall ? 16 : 8, tile_regs = quad_regs(tile_lines, k, t);
    reg %= tile_regs * (lines / tile_lines); /* duplicated registers */
    at = quad_piece(lane, reg % tile_regs, j, per, tall);
    at.row += tile_lines * (reg / tile_regs);
    if (which == PL_TM_A) return at;
    return (pl_fragment_coord){at.col, at.row};
}

/* ------------------------------------------------------------------ 8x8 matrix moves */

void pl_movmatrix(uint32_t d[PL_TENSOR_LANES], const uint32_t a[PL_TENSOR_LANES])
{
    uint8_t rows[8][16];
    pl_stmatrix_8x8(rows, a, false);
    pl_ldmatrix_8x8(d, (const uint8_t(*)[16])rows, true);
}

/* Lane l holds elements 2 * (l % 4) and the next of row l / 4; if transposed, of column l / 4. */
void pl_ldmatrix_8x8(uint32_t d[PL_TENSOR_LANES], const uint8_t rows[8][16], bool transposed)
{
    uint16_t e[8][8];
    if (!transposed) { /* little-endian: a plain copy */
        memcpy(d, rows, sizeof e);
        return;
    }
    memcpy(e, rows, sizeof e);
    for (unsigned l = 0; l < PL_TENSOR_LANES; l++)
        d[l] = (uint32_t)e[l % 4 * 2][l / 4] | (uint32_t)e[l % 4 * 2 + 1][l / 4] << 16;
}

void pl_stmatrix_8x8(uint8_t rows[8][16], const uint32_t a[PL_TENSOR_LANES], bool transposed)
{
    for (int l = 0; l < PL_TENSOR_LANES; l++) {
        for (int j = 0; j < 2; j++) {
            const int line = l / 4, i = l % 4 * 2 + j;
            const uint32_t x = a[l] >> (16 * j);
            uint8_t *at = transposed ? &rows[i][2 * line] : &rows[line][2 * i];
            at[0] = (uint8_t)x;
            at[1] = (uint8_t)(x >> 8);
        }
    }
}
