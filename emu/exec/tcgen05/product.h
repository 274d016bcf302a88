/* product.h - the result of tcgen05.mma, as a function of tensor memory, shared memory and the
 * descriptors.
 *
 * The rows of D occupy the lanes of tensor memory in one of these layouts (data paths; PTX ISA
 * 9.1, section 9.7.16.10.5, and the layouts of CUTLASS 4):
 *
 *   M rows in a block       lane of row m                 columns of D
 *   128                     m                             all
 *   64                      m % 16 + 32 * (m / 16)        all; or 16 lanes further
 *   64 with .ws; 64 of 128  m, and 64 + m                 the first half, the second half
 *     of a pair, dense A
 *   32 with .ws             m + 32 * q                    quarter q
 *
 * A in tensor memory is in the lanes of D, once for each part of the columns. In a pair of
 * blocks (.cta_group::2) each holds half of the rows of A and D and half of the columns of B.
 * Sums are rounded as those of wgmma with the widths of the B200 (emu/exec/mma). Not recorded on
 * hardware. */
#ifndef PL_EMU_EXEC_TCGEN05_PRODUCT_H
#define PL_EMU_EXEC_TCGEN05_PRODUCT_H

#include "emu/exec/mma/mma.h"
#include "emu/exec/tcgen05/tensor_memory.h"

enum { PL_TCGEN05_MAX_N = 256 };

typedef enum pl_tcgen05_kind {
    PL_TK_F16,
    PL_TK_TF32,
    PL_TK_F8F6F4,
    PL_TK_I8,
    PL_TK_MXF8F6F4,
    PL_TK_MXF4,
    PL_TK_MXF4NVF4
} pl_tcgen05_kind;

typedef struct pl_tcgen05_op {
    pl_tcgen05_kind kind;
    int blocks; /* 1, 2: .cta_group */
    bool ws, sparse, shift_a;
    bool a_in_tmem;
    bool accumulate; /* false: D = A * B */
    int scale_d;     /* the accumulator is divided by 2^scale_d */
    int scales;      /* block scales per row of A */
    uint32_t idesc;
    uint32_t d, a, meta, scale_a, scale_b; /* addresses in tensor memory */
    uint64_t a_desc, b_desc;               /* matrix descriptors */
    uint64_t zero_columns;                 /* .ws: descriptor of the zero columns, or 0 */
    uint32_t off[8];                       /* lanes of D that are not written */

    /* from idesc, by pl_tcgen05_decode */
    int m, n, k;
    pl_tensor_type ta, tb, td;
    bool trans_a, trans_b, negate_a, negate_b, saturate, ue4m3;
    int selector, id_a, id_b;
} pl_tcgen05_op;

/* One of the one or two participating blocks. */
typedef struct pl_tcgen05_block {
    pl_tmem *tmem;
    const uint8_t *shared;
    uint32_t shared_size;
} pl_tcgen05_block;

/* Decodes the instruction descriptor into the other fields. Returns NULL, or a description of its
 * error. */
const char *pl_tcgen05_decode(pl_tcgen05_op *op);
/* Multiplies. Returns NULL, or a description of the error; *at is then the address, if any. */
const char *pl_tcgen05_product(const pl_tcgen05_op *op, const pl_tcgen05_block *block,
                               uint32_t *at);

/* Decodes a descriptor of a matrix in shared memory. Returns NULL, or a description of its
 * error. */
const char *pl_tcgen05_matrix(uint64_t descriptor, pl_wgmma_desc *out);

#endif
