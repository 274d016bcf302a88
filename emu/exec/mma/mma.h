/* mma.h - bit-exact results of tensor-core instructions.
 *
 * A tensor core multiplies small matrices whose elements are distributed over the registers of a
 * warp. The implementation is divided as follows:
 *
 *   fragment_layout.c    the matrix element held by register r of lane l            (fragment maps)
 *   dot_product.c    the rounding of one sum of products                        (numerics)
 *   mma.c        mma and wmma: gather fragments, multiply, scatter
 *   wgmma.c  wgmma: the same, with operands described by shared-memory descriptors
 *
 * All functions are pure functions on rows of 32 lanes and use no emulator structures.
 * doc/numerics.md, "Tensor cores", describes the rules and how they were verified. */
#ifndef PL_EMU_EXEC_MMA_MMA_H
#define PL_EMU_EXEC_MMA_MMA_H

#include <stdbool.h>
#include <stdint.h>

enum {
    PL_TENSOR_LANES = 32,
    PL_TENSOR_MAX_M = 16,  /* rows of one tile */
    PL_TENSOR_MAX_K = 128, /* k of the widest form, sparse s4 m16n8k128; b1 counts words of 32
                              bits */
    PL_TENSOR_N = 8,       /* columns of one tile: every shape consists of tiles eight wide */
    PL_TENSOR_MAX_REGS = 16,
    PL_TENSOR_SCALES = 6 /* scales per line along k: mxf4nvf4 with k of 96 */
};

typedef enum pl_tensor_type {
    PL_TT_NONE,
    PL_TT_F16,
    PL_TT_BF16,
    PL_TT_TF32, /* a 32-bit register whose low 13 bits are ignored */
    PL_TT_F32,
    PL_TT_F64,
    PL_TT_E4M3,
    PL_TT_E5M2,
    PL_TT_E3M2, /* 6- and 4-bit floats are in byte containers (kind f8f6f4, sm_100 and later) */
    PL_TT_E2M3,
    PL_TT_E2M1,
    PL_TT_E2M1X2, /* two per byte, without padding (kinds mxf4, mxf4nvf4) */
    PL_TT_S8,
    PL_TT_U8,
    PL_TT_S4,
    PL_TT_U4,
    PL_TT_B1,
    PL_TT_S32,
    PL_TT_COUNT
} pl_tensor_type;

/* Generations, which differ in the rounding of their tensor cores. */
typedef enum pl_tensor_gen {
    PL_TG_V100,  /* sm_70, sm_72 */
    PL_TG_T4,    /* sm_75 */
    PL_TG_A100,  /* sm_80, sm_86, sm_87 */
    PL_TG_RTX40, /* sm_89 */
    PL_TG_H100,  /* sm_90 */
    PL_TG_B200,  /* sm_100, sm_101, sm_103 */
    PL_TG_RTX50  /* sm_120, sm_121 */
} pl_tensor_gen;

/* The generation of an architecture number such as 90 (sm_90). */
pl_tensor_gen pl_tensor_gen_of(int sm);

/* Bits of one element in a register. */
int pl_tensor_bits(pl_tensor_type t);

/* The rule that computes one output element. */
typedef enum pl_tensor_rule {
    PL_TR_FUSED, /* products aligned to the largest, truncated, added exactly (see dot_product.c) */
    PL_TR_FP8_F16, /* fp8 as f16: two fused sums, then IEEE addition of C (mma on sm_90, sm_100) */
    PL_TR_FMA4,    /* m8n8k4 on sm_80 and later: ordinary FFMA instructions */
    PL_TR_F64,     /* a chain of IEEE fused multiply-adds in k order */
    PL_TR_INT,     /* exact integers modulo 2^32, or saturated once at the end */
    PL_TR_BITS     /* population count of xor or and */
} pl_tensor_rule;

/* Final rounding of a fused sum. */
typedef enum pl_tensor_round {
    PL_TO_F32_RZ,   /* f32, truncated */
    PL_TO_E8M13_RZ, /* f32 with 13 fraction bits, truncated */
    PL_TO_F16_RN    /* f16, rounded to nearest even */
} pl_tensor_round;

/* Block scaling: every element of an operand is multiplied exactly by its block's scale. */
typedef struct pl_tensor_factors {
    int32_t sig[PL_TENSOR_MAX_K][PL_TENSOR_N], exp[PL_TENSOR_MAX_K][PL_TENSOR_N];
} pl_tensor_factors;

/* The arithmetic of one instruction: types, and the widths of its generation. */
typedef struct pl_tensor_num {
    pl_tensor_type a, b, c, d;
    pl_tensor_rule rule;
    pl_tensor_round round; /* PL_TR_FUSED, PL_TR_FP8_F16 */
    int frac;              /* PL_TR_FUSED: fraction bits kept below the largest exponent */
    int block;             /* PL_TR_FUSED: products of one fused sum; longer k is a chain of sums */
    bool saturate;         /* PL_TR_INT: clamp to the range of s32 */
    bool bits_and;         /* PL_TR_BITS: and instead of xor */
    int factor_frac;       /* fraction bits that the scales of both operands add to a product */
    const pl_tensor_factors *factors; /* B's scales, per element; NULL: none */
} pl_tensor_num;

/* The left matrix, decoded once and used for many tiles: element = sig * 2^(exp - fraction bits).
 * Integers only use sig; b1 counts k in words of 32 bits. */
typedef struct pl_mma_left_factor {
    int m, k;
    uint32_t raw[PL_TENSOR_MAX_M * PL_TENSOR_MAX_K]; /* row r starts at r * k */
    int32_t sig[PL_TENSOR_MAX_M * PL_TENSOR_MAX_K], exp[PL_TENSOR_MAX_M * PL_TENSOR_MAX_K];
    bool special[PL_TENSOR_MAX_M]; /* the row contains an infinity or a NaN */
} pl_mma_left_factor;

/* Decodes LEFT->raw (m and k set) into the other fields. */
void pl_tensor_prepare(const pl_tensor_num *num, pl_mma_left_factor *left);

/* One tile of eight columns: d = left * b + c. Elements are bit patterns, zero-extended. */
void pl_tensor_tile(const pl_tensor_num *num, const pl_mma_left_factor *left,
                    const uint32_t (*b)[PL_TENSOR_N], const uint32_t (*c)[PL_TENSOR_N],
                    uint32_t (*d)[PL_TENSOR_N]);

/* The same with a sparse left matrix: LEFT->raw holds the k/2 stored elements of every row, B all k
 * rows. META is the metadata register of the warp. C and D must not overlap. */
void pl_tensor_sparse_tile(const pl_tensor_num *num, int selector, const uint32_t *meta,
                           const pl_mma_left_factor *left, const uint32_t (*b)[PL_TENSOR_N],
                           const uint32_t (*c)[PL_TENSOR_N], uint32_t (*d)[PL_TENSOR_N]);

/* The same for f64; A is packed. Each product is added with one rounding: PL_RN, PL_RZ ... */
void pl_tensor_tile_f64(int rounding, int m, int k, const uint64_t *a,
                        const uint64_t (*b)[PL_TENSOR_N], const uint64_t (*c)[PL_TENSOR_N],
                        uint64_t (*d)[PL_TENSOR_N]);

/* ------------------------------------------------------------------ mma and wmma */

typedef enum pl_tensor_family { PL_TF_MMA, PL_TF_WMMA, PL_TF_WGMMA } pl_tensor_family;

/* The scales of one operand of a block-scaled mma: COUNT bytes for every row of A or column of B,
 * adjacent in one register from byte BYTE on, in the lane of every quad selected by LANE. */
typedef struct pl_tensor_scale {
    const uint32_t *row; /* the register, 32 lanes */
    int byte, lane, count;
    bool ue4m3; /* false: ue8m0 */
} pl_tensor_scale;

/* Decoded scales: line i (a row of A, a column of B) has COUNT of them along k. */
typedef struct pl_tensor_scales {
    int count;
    int32_t sig[PL_TENSOR_MAX_M][PL_TENSOR_SCALES], exp[PL_TENSOR_MAX_M][PL_TENSOR_SCALES];
    bool nan[PL_TENSOR_MAX_M];
} pl_tensor_scales;

/* Decodes scale AT of a line; scales are set in order. */
void pl_tensor_scale_set(pl_tensor_scales *s, int line, int at, uint32_t code, bool ue4m3);
/* pl_tensor_tile with block scales: SUM is C on entry and D on return; LEFT is prepared and is
 * multiplied by A's scales. */
void pl_tensor_scaled_tile(const pl_tensor_num *num, pl_mma_left_factor *left,
                           const pl_tensor_scales *a, const pl_tensor_scales *b,
                           const uint32_t (*right)[PL_TENSOR_N], uint32_t (*sum)[PL_TENSOR_N]);

typedef struct pl_tensor_op {
    pl_tensor_family family;
    pl_tensor_gen gen;
    int m, n, k; /* as in the name: m16n8k16 (for mma.sp, k counts the zeros too) */
    pl_tensor_type a, b, c, d;
    bool a_col, b_row; /* only used by m8n8k4 f16: false is .row.col */
    bool saturate;     /* .satfinite on integers */
    bool bits_and;     /* .and.popc instead of .xor.popc */
    int rounding;      /* of f64, PL_RN ...: applied after the addition of every product */
    bool sparse;       /* mma.sp */
    int selector;      /* mma.sp: selects the lanes of a quad that hold metadata */
    const pl_tensor_scale *scale_a, *scale_b; /* mma.block_scale, else NULL */
} pl_tensor_op;

/* Returns the arithmetic of OP on its generation. */
pl_tensor_num pl_tensor_number(const pl_tensor_op *op);

typedef enum pl_tensor_operand { PL_TM_A, PL_TM_B, PL_TM_C, PL_TM_D } pl_tensor_operand;

/* Number of registers of an operand's fragment: 32-bit, or 64-bit for f64. */
int pl_tensor_regs(const pl_tensor_op *op, pl_tensor_operand which);

typedef struct pl_fragment_coord {
    int row, col; /* of the operand's own matrix: A is m by k, B is k by n, C and D are m by n */
} pl_fragment_coord;

/* The element in slot J (from the low bits) of register REG of lane LANE. Registers that wmma fills
 * with a duplicate map to the same element as the original. */
pl_fragment_coord pl_fragment_coord_of(const pl_tensor_op *op, pl_tensor_operand which, int lane,
                                       int reg, int j);

/* D = A * B + C. Every argument is an array of register rows; a row is uint32_t[32], or
 * uint64_t[32] for f64. META (mma.sp) is the metadata register. D may overlap C, A or B. */
void pl_tensor_mma(const pl_tensor_op *op, void *const *d, const void *const *a,
                   const void *const *b, const void *const *c, const uint32_t *meta);

/* ------------------------------------------------------------------ wgmma */

/* The last is of tcgen05 only: rows of 128 bytes in which pieces of 32 bytes are permuted. */
typedef enum pl_wgmma_swizzle {
    PL_WS_NONE,
    PL_WS_128,
    PL_WS_64,
    PL_WS_32,
    PL_WS_128_BY_32
} pl_wgmma_swizzle;

/* A decoded matrix descriptor; all in bytes. */
typedef struct pl_wgmma_desc {
    uint32_t start, lead, stride; /* start address, leading and stride byte offsets */
    uint32_t base;                /* base offset: 0..7, in 128-byte rows */
    pl_wgmma_swizzle swizzle;
    bool absolute; /* lead is the address of the data beyond the 128 bytes of the first line */
} pl_wgmma_desc;

pl_wgmma_desc pl_wgmma_decode(uint64_t descriptor);

/* Shared-memory byte address of element (MN, K), MN counting along M for A and along N for B.
 * BITS is the element's size; TRANSPOSED means MN-major storage (16-bit elements only). For 1-bit
 * elements K counts words and BITS is 32. */
uint32_t pl_wgmma_address(const pl_wgmma_desc *desc, int bits, bool transposed, int mn, int k);

/* An operand in shared memory. */
typedef struct pl_matrix_source {
    pl_wgmma_desc desc;
    int bits;    /* bits of an element as fetched: 1-bit elements are fetched in words */
    int in_byte; /* 4, 6: 16 elements of this many bits are packed into the first bytes of each 16;
                    they are fetched as bytes. 0: not packed */
    bool trans;
    uint32_t negate; /* the sign bit to flip, or 0 */
    const uint8_t *shared;
    uint32_t size;
} pl_matrix_source;

/* Fetches LINES lines (rows of A, columns of B; a multiple of 8) from FIRST on, K elements each.
 * Element (line, k) goes to out[line * line_step + k * k_step]; without OUT only the addresses are
 * checked. False: *FAULT is outside of the shared memory. */
bool pl_matrix_fetch(const pl_matrix_source *s, int first, int lines, int k, uint32_t *out,
                     int line_step, int k_step, uint32_t *fault);

typedef struct pl_wgmma_op {
    pl_tensor_gen gen;
    int n, k;
    pl_tensor_type a, b, d;
    bool a_trans, b_trans;   /* imm-trans-a, imm-trans-b */
    bool negate_a, negate_b; /* imm-scale of -1 */
    bool scale_d;            /* false: D = A * B */
    bool saturate;
    bool sparse; /* wgmma.mma_async.sp */
    int selector;
} pl_wgmma_op;

/* Describes the operands in shared memory. Returns the number of elements along k in B (A has half
 * of that if it is sparse). */
int pl_wgmma_sources(const pl_wgmma_op *op, uint64_t a_desc, uint64_t b_desc, const uint8_t *shared,
                     uint32_t shared_size, pl_matrix_source *a, pl_matrix_source *b);

/* Number of 32-bit D registers. */
int pl_wgmma_d_regs(const pl_wgmma_op *op);

/* One warp's share: rows 16*WARP .. 16*WARP+15 of the 64-row product, where WARP is the warp's
 * index in its warpgroup. A is read from registers if A_REGS is not null, otherwise through A_DESC.
 * SHARED is the block's shared memory, addressed by bits 0..17 of the descriptors' addresses.
 * Returns false, D unchanged, if an operand is outside it; *FAULT is then the address. */
bool pl_wgmma_warp(const pl_wgmma_op *op, int warp, uint32_t *const *d,
                   const uint32_t *const *a_regs, uint64_t a_desc, uint64_t b_desc,
                   const uint32_t *meta, const uint8_t *shared, uint32_t shared_size,
                   uint32_t *fault);

/* ------------------------------------------------------------------ matrix moves */

/* movmatrix.m8n8.trans.b16: the transpose of an 8x8 matrix of 16-bit elements. */
void pl_movmatrix(uint32_t d[PL_TENSOR_LANES], const uint32_t a[PL_TENSOR_LANES]);

/* Distribute 8x8 16-bit matrices between memory rows and lanes. ROWS are the 8 rows of 16 bytes. */
void pl_ldmatrix_8x8(uint32_t d[PL_TENSOR_LANES], const uint8_t rows[8][16], bool transposed);
void pl_stmatrix_8x8(uint8_t rows[8][16], const uint32_t a[PL_TENSOR_LANES], bool transposed);

#endif
