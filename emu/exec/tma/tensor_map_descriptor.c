/* tensor_map_descriptor.c - descriptors of tensors: encoding, decoding, and tensormap.replace. See
 * tensor_map_descriptor.h.
 *
 * Layout in 32-bit words, derived from 1,493 descriptors encoded by cuTensorMapEncode... and from
 * tensormap.replace of every field on maps of zeros and ones (H200, driver 580.159.04, 2026-11;
 * tests/data/probes tma.desc, tma.replace):
 *     0, 1   address
 *     2      bit 0 im2col; 4..6 rank - 1; 7..10 type; 11..12 interleave; 13..14 swizzle; 15 fill;
 *            16 tf32; 17..18 L2 promotion;
 *            22 a third bit of the swizzle
 *     3..6   strides of dimensions 1 to 4, in units of 16 bytes, low 32 bits;   7   their bits
 *            32..35, four bits each
 *     8..12  dimensions - 1
 *     13     element strides - 1, three bits each; 24..31 first box dimension - 1, or channels - 1
 *     14     tiled: the other box dimensions - 1, eight bits each; im2col: the corners, lower half
 *            and upper half,
 *            16, 8 or 5 bits each for one, two or three dimensions
 *     15     im2col: pixels - 1
 *     16     bytes of a box;   18   bytes after which the swizzle repeats: for the driver, the
 *            engine ignores both
 * The type codes differ from the API's numbers: f32 with flush to zero precedes f64, and tf32 is a
 * flag on f32. The packed types have the codes of tensormap.replace (the manual specifies 15; not
 * recorded). The driver encodes the wide im2col modes like plain im2col with corners of 0 in all
 * dimensions but the width. Not recorded, and so our choice: bits 20..21 of word 2 for the
 * swizzle's atomicity. */
#include "emu/exec/tma/tensor_map_descriptor.h"

#include <stddef.h>
#include <string.h>

enum { MAX_BOX_BYTES = 232448 }; /* 227 KiB, the shared memory of a block */
enum { NO_TYPE = 0xff };

static const struct {
    uint8_t code, tf32, log2, floating;
} types[] = {[PL_TENSOR_U8] = {0, 0, 0, 0},         [PL_TENSOR_U16] = {1, 0, 1, 0},
             [PL_TENSOR_U32] = {2, 0, 2, 0},        [PL_TENSOR_S32] = {3, 0, 2, 0},
             [PL_TENSOR_U64] = {4, 0, 3, 0},        [PL_TENSOR_S64] = {5, 0, 3, 0},
             [PL_TENSOR_F16] = {6, 0, 1, 1},        [PL_TENSOR_F32] = {7, 0, 2, 1},
             [PL_TENSOR_F64] = {9, 0, 3, 1},        [PL_TENSOR_BF16] = {10, 0, 1, 1},
             [PL_TENSOR_F32_FTZ] = {8, 0, 2, 1},    [PL_TENSOR_TF32] = {7, 1, 2, 1},
             [PL_TENSOR_TF32_FTZ] = {8, 1, 2, 1},   [PL_TENSOR_B4X16] = {13, 0, 0, 0},
             [PL_TENSOR_B4X16_P64] = {14, 0, 0, 0}, [PL_TENSOR_B6X16_P32] = {15, 0, 0, 0}};
enum { NTYPES = sizeof types / sizeof *types };

static uint32_t bits_of(int type)
{
    return type == PL_TENSOR_B4X16 || type == PL_TENSOR_B4X16_P64 ? 4
           : type == PL_TENSOR_B6X16_P32                          ? 6
                                                                  : 8u << types[type].log2;
}

/* Bits of an element in shared memory, including padding. */
static uint32_t padded_bits_of(int type)
{
    return type == PL_TENSOR_B4X16 ? 4 : 8u << types[type].log2;
}

static bool is_padded(int type)
{
    return type == PL_TENSOR_B4X16_P64 || type == PL_TENSOR_B6X16_P32;
}

static void put_bits(uint32_t *w, unsigned at, unsigned bits, uint32_t value)
{
    uint32_t mask = (uint32_t)((1ull << bits) - 1);
    *w = (*w & ~(mask << at)) | (value & mask) << at;
}

static uint32_t get_bits(uint32_t w, unsigned at, unsigned bits)
{
    return (uint32_t)(w >> at & ((1ull << bits) - 1));
}

static int32_t get_signed(uint32_t w, unsigned at, unsigned bits)
{
    return (int32_t)(w << (32 - at - bits)) >> (32 - bits);
}

/* ---- validation as in the driver ---- */

/* Bits per corner of the bounding box, indexed by the number of dimensions that have one. */
static const uint8_t corner_bits[] = {0, 16, 8, 5};

static const char *check_im2col(const pl_tensor_desc *d)
{
    if (d->rank < 3) return "im2col needs three to five dimensions";
    if (d->channels < 1 || d->channels > 256) return "1 to 256 channels are allowed in a column";
    if (d->pixels < 1 || d->pixels > 1024) return "1 to 1024 pixels are allowed in a column";
    int limit = 1 << (corner_bits[d->rank - 2] - 1);
    for (uint32_t k = 0; k < (d->mode == PL_TENSOR_IM2COL ? d->rank - 2 : 1); k++) {
        if (d->lower[k] < -limit || d->lower[k] >= limit || d->upper[k] < -limit ||
            d->upper[k] >= limit)
            return "a corner of the bounding box is out of range: 16 bits for rank 3, 8 for rank "
                   "4, 5 for rank 5";
        /* the driver computes in 32 bits: a dimension of 2^31 and more is negative */
        if ((int64_t)(int32_t)(uint32_t)d->dim[1 + k] + d->upper[k] - d->lower[k] < 1)
            return "the bounding box is empty";
    }
    return NULL;
}

static uint64_t box_bytes(const pl_tensor_desc *d)
{
    uint64_t n = padded_bits_of(d->type);
    if (d->mode != PL_TENSOR_TILED) return n * d->channels * d->pixels / 8;
    for (uint32_t k = 0; k < d->rank; k++) n *= d->box[k] / d->element_stride[k];
    return n / 8;
}

/* The checks of cuTensorMapEncodeTiled for the packed types. */
static const char *check_packed(const pl_tensor_desc *d)
{
    const bool six = d->type == PL_TENSOR_B6X16_P32;
    if (d->type == PL_TENSOR_B4X16)
        return d->dim[0] % 2 ? "the first dimension must be a multiple of 2" : NULL;
    if (!is_padded(d->type)) return NULL;
    if (d->address % 32) return "the address must be a multiple of 32";
    if (d->dim[0] % 128) return "the first dimension must be a multiple of 128";
    for (uint32_t k = 1; k < d->rank; k++)
        if (d->stride[k - 1] % 32) return "strides must be multiples of 32";
    if ((d->mode == PL_TENSOR_TILED ? d->box[0] : d->channels) != 128)
        return "a row of the box must have 128 elements";
    if (six && d->interleave) return "the element type cannot be interleaved";
    if (d->swizzle && d->swizzle != 3 && d->swizzle != 4 && !(six && d->swizzle == 6))
        return "the element type does not have this swizzle";
    return NULL;
}

static const char *check_choices(const pl_tensor_desc *d)
{
    const bool packed = d->capability >= 100;
    if (d->type < 0 || d->type >= (packed ? NTYPES : PL_TENSOR_B4X16))
        return "no such element type on this machine";
    if (d->rank < 1 || d->rank > PL_TENSOR_DIMS) return "the rank must be 1 to 5";
    if (d->interleave < 0 || d->interleave > 2) return "no such interleaving";
    if (d->swizzle < 0 || d->swizzle > (packed ? 6 : 3)) return "no such swizzle";
    if (d->l2_promotion < 0 || d->l2_promotion > 3) return "no such promotion";
    if (d->fill < 0 || d->fill > 1) return "no such fill";
    if (d->interleave && d->rank < 3) return "interleaved tensors have three to five dimensions";
    return d->fill && !types[d->type].floating
               ? "only floating-point tensors can be filled with NaN"
               : NULL;
}

static const char *check_tensor(const pl_tensor_desc *d)
{
    const uint64_t align = d->interleave == 2 ? 32 : 16;
    if (d->address % align || d->address >> 57)
        return "the address must be a multiple of 16, of 32 with interleaving by 32 bytes, and "
               "below 2^57";
    for (uint32_t k = 0; k < d->rank; k++) {
        if (d->dim[k] < 1 || d->dim[k] > 1ull << 32) return "dimensions must be 1 to 2^32";
        if (d->element_stride[k] < 1 || d->element_stride[k] > 8)
            return "element strides must be 1 to 8";
        if (k && (d->stride[k - 1] % align || d->stride[k - 1] >> 40))
            return "strides must be multiples of 16, of 32 with interleaving by 32 bytes, and "
                   "below 2^40";
        if (d->mode == PL_TENSOR_TILED && (d->box[k] < 1 || d->box[k] > 256))
            return "box dimensions must be 1 to 256";
    }
    return NULL;
}

static const char *check_row(const pl_tensor_desc *d)
{
    const uint64_t inner =
        (uint64_t)(d->mode == PL_TENSOR_TILED ? d->box[0] : d->channels) * padded_bits_of(d->type);
    if (inner % 128) return "a row of the box must be a multiple of 16 bytes";
    if (!d->interleave && d->swizzle && inner / 8 > 16u << (d->swizzle > 3 ? 3 : d->swizzle))
        return "a row of the box is longer than the swizzle";
    return NULL;
}

static const char *check_desc(const pl_tensor_desc *d)
{
    const char *why = check_choices(d);
    if (!why) why = check_tensor(d);
    if (!why && d->mode != PL_TENSOR_TILED) why = check_im2col(d);
    if (!why) why = check_packed(d);
    if (!why) why = check_row(d);
    if (!why && box_bytes(d) > MAX_BOX_BYTES) why = "the box is larger than shared memory";
    return why;
}

/* ---- encoding ---- */

pl_status pl_tensormap_encode(const pl_tensor_desc *d, uint8_t out[PL_TENSORMAP_BYTES],
                              const char **why)
{
    static const uint16_t repeats[] = {16, 256, 512, 1024};
    uint32_t w[PL_TENSORMAP_BYTES / 4] = {0};
    const char *reason = check_desc(d);
    if (why) *why = reason;
    if (reason) return PL_INVALID;
    w[0] = (uint32_t)d->address;
    w[1] = (uint32_t)(d->address >> 32);
    put_bits(&w[2], 0, 1, d->mode != PL_TENSOR_TILED);
    put_bits(&w[2], 4, 3, d->rank - 1);
    put_bits(&w[2], 7, 4, types[d->type].code);
    put_bits(&w[2], 11, 2, (uint32_t)d->interleave);
    put_bits(&w[2], 13, 2, d->swizzle > 3 ? 3 : (uint32_t)d->swizzle);
    put_bits(&w[2], 20, 2, d->swizzle > 3 ? (uint32_t)d->swizzle - 3 : 0);
    put_bits(&w[2], 15, 1, (uint32_t)d->fill);
    put_bits(&w[2], 16, 1, types[d->type].tf32);
    put_bits(&w[2], 17, 2, (uint32_t)d->l2_promotion);
    for (uint32_t k = 0; k < d->rank; k++) {
        if (k) {
            w[2 + k] = (uint32_t)(d->stride[k - 1] >> 4);
            put_bits(&w[7], 4 * (k - 1), 4, (uint32_t)(d->stride[k - 1] >> 36));
        }
        w[8 + k] = (uint32_t)(d->dim[k] - 1);
        put_bits(&w[13], 3 * k, 3, d->element_stride[k] - 1);
        if (k && d->mode == PL_TENSOR_TILED) put_bits(&w[14], 8 * (k - 1), 8, d->box[k] - 1);
    }
    if (d->mode == PL_TENSOR_TILED) {
        put_bits(&w[13], 24, 8, d->box[0] - 1);
    } else {
        unsigned bits = corner_bits[d->rank - 2];
        put_bits(&w[13], 24, 8, d->channels - 1);
        for (uint32_t k = 0; k < (d->mode == PL_TENSOR_IM2COL ? d->rank - 2 : 1); k++) {
            put_bits(&w[14], bits * k, bits, (uint32_t)d->lower[k]);
            put_bits(&w[14], 16 + bits * k, bits, (uint32_t)d->upper[k]);
        }
        w[15] = d->pixels - 1;
    }
    w[16] = (uint32_t)box_bytes(d);
    w[18] = repeats[d->swizzle > 3 ? 3 : d->swizzle];
    memcpy(out, w, sizeof w);
    return PL_OK;
}

/* ---- decoding ---- */

void pl_tensormap_decode(const uint8_t from[PL_TENSORMAP_BYTES], pl_tensormap *m)
{
    uint32_t w[PL_TENSORMAP_BYTES / 4];
    memcpy(w, from, sizeof w);
    memset(m, 0, sizeof *m);
    m->address = (uint64_t)w[1] << 32 | w[0];
    m->rank = get_bits(w[2], 4, 3) + 1;
    m->mode = get_bits(w[2], 0, 1) ? PL_TENSOR_IM2COL : PL_TENSOR_TILED;
    m->interleave = (uint8_t)get_bits(w[2], 11, 2);
    m->swizzle = (uint8_t)(get_bits(w[2], 13, 2) | get_bits(w[2], 22, 1) << 2);
    m->atomicity = (uint8_t)get_bits(w[2], 20, 2);
    m->fill = (uint8_t)get_bits(w[2], 15, 1);
    m->type = NO_TYPE;
    uint32_t code = get_bits(w[2], 7, 4);
    bool tf32 = get_bits(w[2], 16, 1) && (code == 7 || code == 8);
    for (unsigned k = 0; k < NTYPES; k++) {
        if (types[k].code == code && types[k].tf32 == tf32) {
            m->type = (uint8_t)k;
            m->log2 = types[k].log2;
            m->bits = (uint8_t)bits_of((int)k);
            m->padded_bits = (uint8_t)padded_bits_of((int)k);
        }
    }
    m->stride[0] = m->interleave ? 16u * m->interleave : 0;
    m->box[0] = m->channels = get_bits(w[13], 24, 8) + 1;
    for (unsigned k = 0; k < PL_TENSOR_DIMS; k++) {
        m->dim[k] = (uint64_t)w[8 + k] + 1;
        m->step[k] = get_bits(w[13], 3 * k, 3) + 1;
        if (k) {
            m->stride[k] = ((uint64_t)get_bits(w[7], 4 * (k - 1), 4) << 32 | w[2 + k]) << 4;
            m->box[k] = get_bits(w[14], 8 * (k - 1), 8) + 1;
        }
    }
    uint32_t n = m->rank < 3 || m->rank > PL_TENSOR_DIMS ? 1 : m->rank - 2;
    for (uint32_t k = 0; k < n; k++) {
        m->lower[k] = get_signed(w[14], corner_bits[n] * k, corner_bits[n]);
        m->upper[k] = get_signed(w[14], 16 + corner_bits[n] * k, corner_bits[n]);
    }
    m->pixels = get_bits(w[15], 0, 10) + 1;
}

const char *pl_tensormap_error(const pl_tensormap *m)
{
    const uint32_t inner = m->box[0] * m->padded_bits / 8;
    if (m->rank > PL_TENSOR_DIMS) return "has no valid rank";
    if (m->type == NO_TYPE) return "has no valid element type";
    if (m->interleave > 2 || (m->interleave && m->rank < 3)) return "has no valid interleaving";
    if (m->swizzle > 3) return "has no valid swizzle";
    if (m->mode != PL_TENSOR_TILED && m->rank < 3)
        return "is for im2col but has fewer than three dimensions";
    if (is_padded(m->type) && (m->mode == PL_TENSOR_TILED ? m->box[0] : m->channels) != 128)
        return "has rows that are not of 128 elements";
    if (!m->interleave && inner % 16) return "has rows that are not multiples of 16 bytes";
    if (!m->interleave && m->swizzle && inner > 16u << m->swizzle)
        return "has rows that are longer than its swizzle";
    return NULL;
}

/* ---- tensormap.replace ---- */

void pl_tensormap_replace(uint8_t map[PL_TENSORMAP_BYTES], pl_tensor_field field, unsigned which,
                          uint64_t value)
{
    uint32_t w[PL_TENSORMAP_BYTES / 4], v = (uint32_t)value;
    memcpy(w, map, sizeof w);
    switch (field) {
    case PL_TF_ADDRESS:
        w[0] = v;
        w[1] = (uint32_t)(value >> 32);
        break;
    case PL_TF_RANK: put_bits(&w[2], 4, 3, v); break;
    case PL_TF_BOX_DIM:
        if (which)
            put_bits(&w[14], 8 * (which - 1), 8, v - 1);
        else
            put_bits(&w[13], 24, 8, v - 1);
        break;
    case PL_TF_GLOBAL_DIM: w[8 + which] = v - 1; break;
    /* A fifth stride is written to word 7. */
    case PL_TF_GLOBAL_STRIDE:
        w[3 + which] = (uint32_t)(value >> 4);
        put_bits(&w[7], 4 * which, 4, (uint32_t)(value >> 36));
        break;
    case PL_TF_ELEMENT_STRIDE: put_bits(&w[13], 3 * which, 3, v - 1); break;
    /* Plain types do not change the tf32 flag; their order is that of the descriptor. */
    case PL_TF_TYPE:
        if (v == 11 || v == 12) put_bits(&w[2], 16, 1, 1);
        put_bits(&w[2], 7, 4, v == 11 || v == 12 ? v - 4 : v);
        break;
    case PL_TF_INTERLEAVE: put_bits(&w[2], 11, 2, v); break;
    case PL_TF_SWIZZLE:
        put_bits(&w[2], 13, 2, v);
        put_bits(&w[2], 22, 1, v >> 2);
        break;
    case PL_TF_FILL: put_bits(&w[2], 15, 1, v); break;
    case PL_TF_ATOMICITY: put_bits(&w[2], 20, 2, v); break;
    }
    memcpy(map, w, sizeof w);
}
