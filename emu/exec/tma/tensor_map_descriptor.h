/* tensor_map_descriptor.h - the 128-byte tensor descriptor used by the copy engine (TMA).
 *
 * Programs create descriptors on the host and modify fields of raw ones with tensormap.replace, so
 * the bits must be the hardware's. tensor_map_descriptor.c has the layout. Read next: tma_copy.h,
 * the copy that uses one. */
#ifndef PL_EMU_EXEC_TMA_TENSOR_MAP_DESCRIPTOR_H
#define PL_EMU_EXEC_TMA_TENSOR_MAP_DESCRIPTOR_H

#include "base/resource.h"
#include "base/status.h"

/* The fields of a descriptor. Those of raw descriptors may hold any value that their bits can;
 * pl_tensormap_error reports unusable ones. */
typedef struct pl_tensormap {
    uint64_t address;
    uint64_t dim[PL_TENSOR_DIMS];
    /* Bytes; [0]: of the first dimension, 0 unless it is interleaved. */
    uint64_t stride[PL_TENSOR_DIMS];
    uint32_t box[PL_TENSOR_DIMS], step[PL_TENSOR_DIMS];
    int32_t lower[3], upper[3];
    uint32_t channels, pixels;
    uint32_t rank;
    uint8_t type;              /* pl_tensor_type, 0xff: none */
    uint8_t log2;              /* log2 of the bytes of an element */
    uint8_t bits, padded_bits; /* bits of an element: in global memory, and in shared memory
                           including padding */
    uint8_t interleave, swizzle, atomicity, fill;
    uint8_t mode; /* pl_tensor_mode */
} pl_tensormap;

/* Encodes as the driver does. PL_INVALID: the driver returns CUDA_ERROR_INVALID_VALUE; *why is one
 * sentence. */
pl_status pl_tensormap_encode(const pl_tensor_desc *d, uint8_t out[PL_TENSORMAP_BYTES],
                              const char **why);
void pl_tensormap_decode(const uint8_t from[PL_TENSORMAP_BYTES], pl_tensormap *m);
/* Describes why the map is unusable, or NULL. */
const char *pl_tensormap_error(const pl_tensormap *m);

/* Fields of tensormap.replace. */
typedef enum pl_tensor_field {
    PL_TF_ADDRESS,
    PL_TF_RANK,
    PL_TF_BOX_DIM,
    PL_TF_GLOBAL_DIM,
    PL_TF_GLOBAL_STRIDE,
    PL_TF_ELEMENT_STRIDE,
    PL_TF_TYPE,
    PL_TF_INTERLEAVE,
    PL_TF_SWIZZLE,
    PL_TF_FILL,
    PL_TF_ATOMICITY
} pl_tensor_field;

/* Writes one field (`which`: the dimension) as tensormap.replace does, regardless of the value. */
void pl_tensormap_replace(uint8_t map[PL_TENSORMAP_BYTES], pl_tensor_field field, unsigned which,
                          uint64_t value);

#endif
