/* descriptor.c - the descriptors of tcgen05: instruction descriptors and matrix descriptors (PTX
 * ISA 9.1, section 9.7.16.4). */
#include "emu/exec/tcgen05/product.h"

#include <stddef.h>

static uint32_t field(uint32_t x, int first, int bits)
{
    return x >> first & ((1u << bits) - 1);
}

const char *pl_tcgen05_matrix(uint64_t descriptor, pl_wgmma_desc *out)
{
    static const int8_t swizzles[8] = {PL_WS_NONE, PL_WS_128_BY_32, PL_WS_128, -1, PL_WS_64,
                                       -1,         PL_WS_32,        -1};
    const int swizzle = swizzles[descriptor >> 61];
    if (swizzle < 0) return "a matrix descriptor with swizzling mode 3, 5 or 7 (bits 61 to 63)";
    if ((descriptor >> 46 & 7) != 1) return "a matrix descriptor whose bits 46 to 48 are not 0b001";
    *out = pl_wgmma_decode(descriptor);
    out->swizzle = (pl_wgmma_swizzle)swizzle;
    out->absolute = descriptor >> 52 & 1;
    if (out->absolute && (swizzle != PL_WS_128 || out->base))
        return "a matrix descriptor with an absolute leading dimension (bit 52) without swizzling "
               "by 128 bytes in pieces of 16, or with a base offset";
    return NULL;
}

static const char *decode_types(pl_tcgen05_op *op)
{
    static const uint8_t small[8] = {PL_TT_E4M3, PL_TT_E5M2, PL_TT_NONE, PL_TT_E2M3,
                                     PL_TT_E3M2, PL_TT_E2M1, PL_TT_NONE, PL_TT_NONE};
    static const uint8_t half[8] = {PL_TT_F16, PL_TT_BF16}, integer[8] = {PL_TT_U8, PL_TT_S8},
                         single[8] = {PL_TT_NONE, PL_TT_NONE, PL_TT_TF32},
                         packed[8] = {PL_TT_NONE, PL_TT_E2M1X2};
    static const uint8_t *const lists[] = {
        [PL_TK_F16] = half,       [PL_TK_TF32] = single,    [PL_TK_F8F6F4] = small,
        [PL_TK_I8] = integer,     [PL_TK_MXF8F6F4] = small, [PL_TK_MXF4] = packed,
        [PL_TK_MXF4NVF4] = packed};
    const uint8_t *list = lists[op->kind];
    const bool scaled = op->kind >= PL_TK_MXF8F6F4;
    const uint32_t x = op->idesc, d = field(x, 4, 2);
    op->ta = (pl_tensor_type)list[field(x, 7, 3)];
    op->tb = (pl_tensor_type)list[field(x, 10, op->kind >= PL_TK_MXF4 ? 2 : 3)];
    if (!op->ta || !op->tb) return "an instruction descriptor with a type that the kind lacks";
    if (scaled || d == 1)
        op->td = PL_TT_F32;
    else
        op->td = d == 0 ? PL_TT_F16 : d == 2 ? PL_TT_S32 : PL_TT_NONE;
    if (op->td == PL_TT_NONE || (op->td == PL_TT_S32) != (op->kind == PL_TK_I8) ||
        (op->td == PL_TT_F16 &&
         (op->kind == PL_TK_TF32 || op->ta == PL_TT_BF16 || op->tb == PL_TT_BF16)))
        return "an instruction descriptor with a type of D that the kind lacks";
    return NULL;
}

static const char *decode_shape(pl_tcgen05_op *op)
{
    static const int dense_k[] = {
        [PL_TK_F16] = 16,      [PL_TK_TF32] = 8,  [PL_TK_F8F6F4] = 32,  [PL_TK_I8] = 32,
        [PL_TK_MXF8F6F4] = 32, [PL_TK_MXF4] = 64, [PL_TK_MXF4NVF4] = 64};
    const bool scaled = op->kind >= PL_TK_MXF8F6F4;
    op->n = (int)field(op->idesc, 17, 6) * 8;
    op->m = scaled ? (int)field(op->idesc, 27, 2) * 128 : (int)field(op->idesc, 24, 5) * 16;
    op->k = dense_k[op->kind] * (op->sparse ? 2 : 1);
    if (op->kind >= PL_TK_MXF4 && op->idesc >> 31) {
        if (op->sparse) return "an instruction descriptor with a sparse A and K = 192 (bit 31)";
        op->k = 96;
        op->scales += op->scales / 2;
    }
    const int step = op->blocks == 2                      ? op->kind == PL_TK_I8 ? 32 : 16
                     : op->kind == PL_TK_I8 && op->n > 32 ? 16
                                                          : 8;
    bool valid = op->n >= step && op->n <= PL_TCGEN05_MAX_N && op->n % step == 0;
    if (op->ws)
        valid = (op->m == 32 || op->m == 64 || op->m == 128) &&
                (op->n == 64 || op->n == 128 || (op->n == 256 && !op->sparse));
    else if (op->blocks == 2)
        valid &= op->m == 256 || (op->m == 128 && !(scaled && op->sparse));
    else
        valid &= op->m == 128 || (op->m == 64 && !scaled);
    return valid ? NULL : "an instruction descriptor with a shape that the instruction lacks";
}

const char *pl_tcgen05_decode(pl_tcgen05_op *op)
{
    const uint32_t x = op->idesc;
    const bool scaled = op->kind >= PL_TK_MXF8F6F4;
    const char *wrong = decode_types(op);
    if (!wrong) wrong = decode_shape(op);
    if (wrong) return wrong;
    if (field(x, 2, 1) != op->sparse)
        return op->sparse ? "an instruction descriptor that says that A is dense (bit 2)"
                          : "an instruction descriptor that says that A is sparse (bit 2)";
    op->negate_a = field(x, 13, 1);
    op->negate_b = field(x, 14, 1);
    op->trans_a = field(x, 15, 1);
    op->trans_b = field(x, 16, 1);
    if (op->kind == PL_TK_I8 && (op->negate_a || op->negate_b))
        return "an instruction descriptor that negates integers (bits 13 and 14)";
    if (op->kind >= PL_TK_MXF4 && (op->trans_a || op->trans_b))
        return "an instruction descriptor that transposes 4-bit elements (bits 15 and 16)";
    if (scaled) {
        op->id_b = (int)field(x, 4, 2);
        op->id_a = (int)field(x, 29, 2);
        op->ue4m3 = op->kind == PL_TK_MXF4NVF4 && !field(x, 23, 1);
    } else {
        op->selector = (int)field(x, 0, 2);
        op->saturate = field(x, 3, 1);
    }
    return NULL;
}
