/* tensor_map.c - descriptors for the tensor copy engine: cuTensorMapEncode... */
#include "cudart/state.h"
#include <string.h>

/* Fills in the members common to all three modes. False: an argument is missing. */
static bool fill_common(pl_tensor_desc *d, unsigned rank, void *address, const uint64_t *dim,
                        const uint64_t *stride, const uint32_t *element_stride)
{
    if (!dim || !element_stride || rank < 1 || rank > PL_TENSOR_DIMS || (rank > 1 && !stride))
        return false;
    d->rank = rank;
    d->address = (uintptr_t)address;
    d->capability = (int)cuda_capability();
    memcpy(d->dim, dim, rank * sizeof *dim);
    if (rank > 1) memcpy(d->stride, stride, (rank - 1) * sizeof *stride);
    memcpy(d->element_stride, element_stride, rank * sizeof *element_stride);
    return true;
}

static int encode(const pl_tensor_desc *d, void *map)
{
    return map && pl_tensor_map(d, map, NULL) == PL_OK ? CU_OK : CU_INVALID_VALUE;
}

int pl_cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *address,
                              const uint64_t *dim, const uint64_t *stride, const uint32_t *box,
                              const uint32_t *element_stride, int interleave, int swizzle,
                              int promotion, int fill)
{
    pl_tensor_desc d = {.mode = PL_TENSOR_TILED,
                        .type = type,
                        .interleave = interleave,
                        .swizzle = swizzle,
                        .l2_promotion = promotion,
                        .fill = fill};
    if (!box || !fill_common(&d, rank, address, dim, stride, element_stride))
        return CU_INVALID_VALUE;
    memcpy(d.box, box, rank * sizeof *box);
    return encode(&d, map);
}

int pl_cuTensorMapEncodeIm2col(void *map, int type, unsigned rank, void *address,
                               const uint64_t *dim, const uint64_t *stride, const int *lower,
                               const int *upper, unsigned channels, unsigned pixels,
                               const uint32_t *element_stride, int interleave, int swizzle,
                               int promotion, int fill)
{
    pl_tensor_desc d = {.mode = PL_TENSOR_IM2COL,
                        .type = type,
                        .channels = channels,
                        .pixels = pixels,
                        .interleave = interleave,
                        .swizzle = swizzle,
                        .l2_promotion = promotion,
                        .fill = fill};
    if (!lower || !upper || rank < 3 ||
        !fill_common(&d, rank, address, dim, stride, element_stride))
        return CU_INVALID_VALUE;
    memcpy(d.lower, lower, (rank - 2) * sizeof *lower);
    memcpy(d.upper, upper, (rank - 2) * sizeof *upper);
    return encode(&d, map);
}

int pl_cuTensorMapEncodeIm2colWide(void *map, int type, unsigned rank, void *address,
                                   const uint64_t *dim, const uint64_t *stride, int lower,
                                   int upper, unsigned channels, unsigned pixels,
                                   const uint32_t *element_stride, int interleave, int mode,
                                   int swizzle, int promotion, int fill)
{
    pl_tensor_desc d = {.mode = mode ? PL_TENSOR_IM2COL_W128 : PL_TENSOR_IM2COL_W,
                        .type = type,
                        .lower = {lower},
                        .upper = {upper},
                        .channels = channels,
                        .pixels = pixels,
                        .interleave = interleave,
                        .swizzle = swizzle,
                        .l2_promotion = promotion,
                        .fill = fill};
    if (mode < 0 || mode > 1 || rank < 3 ||
        !fill_common(&d, rank, address, dim, stride, element_stride))
        return CU_INVALID_VALUE;
    return encode(&d, map);
}

/* The address is the first eight bytes. */
int pl_cuTensorMapReplaceAddress(void *map, void *address)
{
    enum { ALIGNMENT = 16, ADDRESS_BITS = 57 };
    const uint64_t to = (uintptr_t)address;
    if (!map || to % ALIGNMENT || to >> ADDRESS_BITS) return CU_INVALID_VALUE;
    memcpy(map, &to, sizeof to);
    return CU_OK;
}
