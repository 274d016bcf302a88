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

/* Types of elements, with the numbers of CUtensorMapDataType. */
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

/* How a copy selects elements. */
typedef enum pl_tensor_mode {
    PL_TENSOR_TILED,      /* a box */
    PL_TENSOR_IM2COL,     /* columns of pixels of a bounding box, for convolutions */
    PL_TENSOR_IM2COL_W,   /* along the width only: im2col::w of PTX */
    PL_TENSOR_IM2COL_W128 /* im2col::w::128 */
} pl_tensor_mode;

/* The arguments of cuTensorMapEncodeTiled, ...Im2col and ...Im2colWide. */
typedef struct pl_tensor_desc {
    int mode;                                /* pl_tensor_mode */
    int type;                                /* pl_tensor_type */
    uint32_t rank;                           /* dimensions: 1 to 5 */
    uint64_t address;                        /* of the first element in global memory */
    uint64_t dim[PL_TENSOR_DIMS];            /* elements; the first varies fastest */
    uint64_t stride[PL_TENSOR_DIMS - 1];     /* bytes, of all dimensions but the first */
    uint32_t box[PL_TENSOR_DIMS];            /* tiled: elements of a tile */
    uint32_t element_stride[PL_TENSOR_DIMS]; /* in elements: distance between accessed ones */
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

/* The type of a channel: cudaChannelFormatKind. */
typedef enum pl_channel_kind {
    PL_CHANNEL_SIGNED,
    PL_CHANNEL_UNSIGNED,
    PL_CHANNEL_FLOAT
} pl_channel_kind;

/* Channels of a texel, all of one type. */
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
    uint32_t levels;       /* mipmap levels; 0 and 1: one */
    bool layered, cubemap; /* both: an array of cube maps, with six faces each */
} pl_array_desc;

/* What a module-scope variable refers to: .texref, .samplerref, .surfref, or none of them. */
typedef enum pl_reference {
    PL_REFERENCE_NONE,
    PL_REFERENCE_TEXTURE,
    PL_REFERENCE_SAMPLER,
    PL_REFERENCE_SURFACE
} pl_reference;

/* Where a texture has its texels. */
typedef enum pl_texture_source {
    PL_TEXTURE_ARRAY,
    PL_TEXTURE_LINEAR, /* one row in global memory */
    PL_TEXTURE_PITCH   /* rows in global memory */
} pl_texture_source;
/* What a read outside of the texture returns. */
typedef enum pl_address_mode {
    PL_ADDRESS_WRAP,   /* the texture repeats */
    PL_ADDRESS_CLAMP,  /* the nearest texel of the edge */
    PL_ADDRESS_MIRROR, /* the texture repeats, every other time mirrored */
    PL_ADDRESS_BORDER  /* the border colour */
} pl_address_mode;

/* How a texture is read. */
typedef struct pl_sampler_desc {
    uint8_t address[3];  /* pl_address_mode, by dimension */
    bool linear;         /* filter between texels; false: the nearest */
    bool mip_linear;     /* filter between mipmap levels */
    bool normalized;     /* coordinates are fractions of the size */
    bool to_float;       /* integers are read as fractions: cudaReadModeNormalizedFloat */
    bool srgb;           /* with to_float: 8-bit channels are sRGB */
    bool seamless;       /* cube maps: filter across edges */
    bool whole_numbers;  /* linear filters may interpolate unnormalised integers (the driver API) */
    uint32_t anisotropy; /* maximum ratio of anisotropic filters; 0 and 1: none */
    float border[4];     /* border colour, by channel */
    float lod_bias, lod_min, lod_max; /* in mipmap levels: added to the level; its range */
} pl_sampler_desc;

/* A texture. */
typedef struct pl_texture_desc {
    int source;                    /* pl_texture_source */
    uint64_t array;                /* array: the result of pl_array_create */
    uint64_t address, bytes;       /* linear and pitch memory; bytes: of linear memory */
    pl_texel_format format;        /* linear and pitch memory, and with `view` */
    uint32_t width, height, pitch; /* pitch memory: texels; pitch: bytes from row to row */
    bool view; /* array: its texels are read in this format, which must have their size; */
    uint32_t first_layer, layers; /* only these layers, 0: all; */
    uint32_t first_level, levels; /* only these mipmap levels, 0: all */
    pl_sampler_desc sampler;
} pl_texture_desc;

#endif
