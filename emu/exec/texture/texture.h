/* texture.h - the texture unit: from coordinates to texels to filtered values. It does not depend
 * on warps.
 *
 * Objects (textures, samplers, surfaces) are in a table; programs use their handles, 64-bit numbers
 * that are not addresses. Arrays are stored row by row in an allocation of device memory, which
 * programs cannot address. Read next: op_texture.c, the instructions. */
#ifndef PL_EMU_EXEC_TEXTURE_TEXTURE_H
#define PL_EMU_EXEC_TEXTURE_TEXTURE_H

#include "base/resource.h"
#include "emu/exec/memory/global_memory.h"

/* Texels of one mipmap level. */
typedef struct pl_image {
    uint64_t address;              /* in device memory */
    uint32_t width, height, depth; /* depth: slices, layers or faces */
    uint64_t pitch, slice;         /* bytes between rows, and between slices */
} pl_image;

/* An array, or linear memory that is read like one. */
typedef struct pl_image_set {
    pl_texel_format format;
    uint8_t dims; /* 1, 2 or 3 */
    bool layered, cubemap;
    uint32_t levels;
    pl_image level[PL_MIP_LEVELS];
} pl_image_set;

typedef enum pl_object_kind {
    PL_OBJECT_NONE,
    PL_OBJECT_ARRAY,
    PL_OBJECT_TEXTURE,
    PL_OBJECT_SURFACE
} pl_object_kind;

typedef struct pl_object {
    uint8_t kind;   /* pl_object_kind */
    uint8_t source; /* textures: pl_texture_source */
    pl_image_set images;
    pl_sampler_desc sampler; /* textures */
} pl_object;

typedef struct pl_objects {
    pl_object *at;
    size_t n, cap;
    uint64_t changes; /* number of objects added and removed */
} pl_objects;

/* Handles are indices of the table, from 1; the first objects of CUDA programs have the same
 * handles. */
const pl_object *pl_object_find(const pl_objects *t, uint64_t handle);
/* 0: out of memory. */
uint64_t pl_object_add(pl_objects *t, const pl_object *o);
void pl_objects_free(pl_objects *t);

/* Bytes of a texel. */
static inline uint32_t pl_texel_bytes(pl_texel_format f)
{
    return f.channels * f.bits / 8u;
}

/* One fetch of one lane. */
typedef enum pl_level_kind { PL_LEVEL_BASE, PL_LEVEL_GIVEN, PL_LEVEL_GRADIENT } pl_level_kind;

typedef struct pl_fetch {
    uint8_t dims; /* coordinates: 1, 2 or 3; a cube has 3 */
    bool integer; /* coordinates are integer texels, not normalised */
    bool cube, layered;
    uint8_t level;     /* pl_level_kind */
    int8_t gather;     /* component 0..3 of the four texels, or -1 */
    uint32_t coord[3]; /* bits of f32 or s32 */
    int32_t layer;
    float lod, ddx[3], ddy[3];
    int32_t offset[3];
    const struct pl_texel_watch *watch; /* is notified of each texel that is read, or NULL */
} pl_fetch;

typedef struct pl_texel_watch {
    void (*reads)(const struct pl_texel_watch *w, uint64_t address, unsigned bytes);
} pl_texel_watch;

/* Address of byte x of row y of a slice. */
static inline uint64_t pl_image_byte(const pl_image *m, uint64_t x, uint64_t y, uint64_t z)
{
    return m->address + z * m->slice + y * m->pitch + x;
}

/* The value as four 32-bit words: f32, or integers extended to 32 bits. */
void pl_texture_fetch(const pl_memory *m, const pl_image_set *s, const pl_sampler_desc *p,
                      const pl_fetch *f, uint32_t out[4]);

/* Address of the first texel that a fetch reads, for timing; tiled: as in pl_image_tiled_address.
 */
uint64_t pl_texture_address(const pl_image_set *s, const pl_sampler_desc *p, const pl_fetch *f,
                            bool tiled);

/* Location of byte x of row y of a slice in the memory of a GPU, which stores arrays in tiles of
 * four rows of 32 bytes. (tex.tsv: lanes that read a column of 32-bit texels are served as fast as
 * those of a row.) This is not visible to programs, so the emulator only uses it for timing. */
uint64_t pl_image_tiled_address(const pl_image *m, uint64_t x, uint64_t y, uint64_t z);

#endif
