/* resource.h - descriptions of objects that a kernel accesses through a handle or a descriptor
 * rather than an address: tensor maps (TMA), arrays, textures, samplers and surfaces.
 *
 * Numbers are those of the CUDA driver interface (CUtensorMap..., cudaTextureDesc), so that a
 * program can pass them on unchanged. */
#ifndef PL_BASE_RESOURCE_H
#define PL_BASE_RESOURCE_H

#include <stdbool.h>
#include <stdint.h>

/* ---- tensor maps ---- */

enum { PL_TENSOR_DIMS = 5, PL_TENSORMAP_BYTES = 128 };

typedef enum pl_tensor_type {
    PL_TENSOR_U8,
    PL_TENSOR_U16,
    PL_TENSOR_U32,
    PL_TENSOR_S32,
    PL_TENSOR_U64,
    PL_TENSOR_S64,
    PL_TENSOR_F16,
    PL_TENSOR_F32,
    PL_TENSOR_F64,
    PL_TENSOR_BF16,
    PL_TENSOR_F32_FTZ,
    PL_TENSOR_TF32,
    PL_TENSOR_TF32_FTZ,
    PL_TENSOR_B4X16,     /* sixteen 4-bit elements, in shared memory as in global memory; */
    PL_TENSOR_B4X16_P64, /* followed by 8 bytes of padding in shared memory; */
    PL_TENSOR_B6X16_P32  /* of 6 bits, with 4 bytes of padding (stores: each in a byte) */
} pl_tensor_type;

typedef enum pl_tensor_mode {
    PL_TENSOR_TILED,
    PL_TENSOR_IM2COL,
    PL_TENSOR_IM2COL_W,
    PL_TENSOR_IM2COL_W128
} pl_tensor_mode;

/* The arguments of cuTensorMapEncodeTiled, ...Im2col and ...Im2colWide. */
typedef struct pl_tensor_desc {
    int mode;      /* pl_tensor_mode */
    int type;      /* pl_tensor_type */
    uint32_t rank; /* 1 to 5 */
    uint64_t address;
    uint64_t dim[PL_TENSOR_DIMS];            /* elements; the first varies fastest */
    uint64_t stride[PL_TENSOR_DIMS - 1];     /* bytes, of all dimensions but the first */
    uint32_t box[PL_TENSOR_DIMS];            /* tiled: elements of a tile */
    uint32_t element_stride[PL_TENSOR_DIMS]; /* distance between accessed elements */
    /* im2col: corners of the bounding box, starting with the width; the wide modes use [0]. */
    int lower[PL_TENSOR_DIMS - 2];
    int upper[PL_TENSOR_DIMS - 2];
    uint32_t channels, pixels; /* im2col: of a column */
    int interleave;            /* 0 none, 1 slices of 16 bytes, 2 of 32 */
    int swizzle;               /* 0 none, 1 32 bytes, 2 64 bytes, 3 128 bytes, 4 to 6 128 bytes in
                                  atoms of 32, of 32 with exchanged halves, of 64 */
    int l2_promotion;          /* 0 none, 1 64 bytes, 2 128, 3 256 */
    int fill;                  /* 0 zeros, 1 NaN */
    int capability;            /* of the machine, e.g. 90; packed types and atoms require 100 */
} pl_tensor_desc;

/* ---- arrays, textures, surfaces ---- */

typedef enum pl_channel_kind {
    PL_CHANNEL_SIGNED,
    PL_CHANNEL_UNSIGNED,
    PL_CHANNEL_FLOAT
} pl_channel_kind;

typedef struct pl_texel_format {
    uint8_t channels; /* 1, 2 or 4 */
    uint8_t bits;     /* of a channel: 8, 16 or 32 */
    uint8_t kind;     /* pl_channel_kind */
} pl_texel_format;

enum { PL_MIP_LEVELS = 17 };

/* A CUDA array or mipmapped array: texels in an opaque layout of the GPU. */
typedef struct pl_array_desc {
    pl_texel_format format;
    /* Texels; height 0: one-dimensional. depth counts layers and cube faces. */
    uint32_t width, height, depth;
    uint32_t levels; /* mipmap levels; 0 and 1: one */
    bool layered, cubemap;
} pl_array_desc;

typedef enum pl_texture_source {
    PL_TEXTURE_ARRAY,
    PL_TEXTURE_LINEAR,
    PL_TEXTURE_PITCH
} pl_texture_source;
typedef enum pl_address_mode {
    PL_ADDRESS_WRAP,
    PL_ADDRESS_CLAMP,
    PL_ADDRESS_MIRROR,
    PL_ADDRESS_BORDER
} pl_address_mode;

typedef struct pl_sampler_desc {
    uint8_t address[3]; /* pl_address_mode, by dimension */
    bool linear;        /* filter between texels; false: the nearest */
    bool mip_linear;    /* filter between mipmap levels */
    bool normalized;    /* coordinates are fractions of the size */
    bool to_float;      /* integers are read as fractions: cudaReadModeNormalizedFloat */
    bool srgb;          /* with to_float: 8-bit channels are sRGB */
    bool seamless;      /* cube maps: filter across edges */
    bool whole_numbers; /* linear filters may interpolate unnormalised integers (the driver API) */
    uint32_t anisotropy;
    float border[4];
    float lod_bias, lod_min, lod_max;
} pl_sampler_desc;

typedef struct pl_texture_desc {
    int source;              /* pl_texture_source */
    uint64_t array;          /* array: the result of pl_array_create */
    uint64_t address, bytes; /* linear and pitch memory */
    pl_texel_format format;
    uint32_t width, height, pitch; /* pitch memory; pitch in bytes */
    bool view; /* array: its texels are read in this format, which must have their size; */
    uint32_t first_layer, layers; /* only these layers, 0: all; */
    uint32_t first_level, levels; /* only these mipmap levels, 0: all */
    pl_sampler_desc sampler;
} pl_texture_desc;

#endif
