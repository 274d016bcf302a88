/* batch.c - calls with several copies, prefetches or discards: each is executed like the
 * corresponding single call, in list order. */
#include "cudart/blocked.h"
#include "cudart/graph.h"
#include <string.h>

/* cudaMemcpyAttributes */
typedef struct copy_attributes {
    int order; /* cudaMemcpySrcAccessOrder */
    int hint[4];
    unsigned flags;
} copy_attributes;
enum { ORDER_STREAM = 1, ORDER_ANY = 3 };

/* cudaMemcpy3DOperand, cudaMemcpy3DBatchOp */
typedef struct operand {
    int kind; /* 1: memory, 2: array */
    union {
        struct {
            void *p;
            size_t row, layer; /* elements per row, rows per layer; 0: as many as are copied */
            int hint[2];
        } memory;
        struct {
            cuda_array *array;
            size_t x, y, z;
        } array;
    } u;
} operand;
typedef struct copy_3d {
    operand from, to;
    cuda_extent extent;
    int order;
    unsigned flags;
} copy_3d;
_Static_assert(sizeof(copy_attributes) == 24, "layout of CUDA 13");
_Static_assert(sizeof(copy_3d) == 112, "layout of CUDA 13");

/* Batches do not accept the legacy stream. */
static int stream_for_batch(void *stream, cuda_stream **out)
{
    *out = cuda_stream_of(stream);
    if (!*out) return CU_INVALID_HANDLE;
    return *out == &cuda.device[(*out)->device].legacy ? CU_INVALID_VALUE : CU_OK;
}

/* The k-th list applies to entries from index[k] on, of `count` entries. */
static bool are_valid_ranges(const size_t *index, size_t n, size_t count)
{
    if (!index || !n || n > count || index[0]) return false;
    for (size_t k = 1; k < n; k++)
        if (index[k] <= index[k - 1] || index[k] >= count) return false;
    return true;
}

static bool is_valid_hint(const int *location)
{
    return location[0] != CUDA_LOCATION_DEVICE || cuda_is_device(location[1]);
}

int pl_cudaMemcpyBatchAsync(const void **to, const void **from, const size_t *bytes, size_t count,
                            const void *attributes, const size_t *index, size_t n, void *stream)
{
    const copy_attributes *a = attributes;
    cuda_stream *s;
    int error = stream_for_batch(stream, &s);
    if (error) return error;
    if (!to || !from || !bytes || !count || !a || !are_valid_ranges(index, n, count))
        return CU_INVALID_VALUE;
    for (size_t k = 0; k < n; k++)
        if (a[k].order < ORDER_STREAM || a[k].order > ORDER_ANY || a[k].flags > 1 ||
            !is_valid_hint(a[k].hint) || !is_valid_hint(a[k].hint + 2))
            return CU_INVALID_VALUE;
    if (s->capture) return CU_CAPTURE_UNSUPPORTED; /* the capture remains valid (H100) */
    for (size_t k = 0; k < count && !error; k++) {
        if (!bytes[k]) return CU_INVALID_VALUE;
        cuda_op op = {
            .kind = OP_COPY,
            .u.copy = cuda_linear_copy((void *)(uintptr_t)to[k], from[k], bytes[k], COPY_DEFAULT)};
        error = cuda_check_copy(&op.u.copy);
        if (!error) error = cuda_submit(s, &op);
    }
    return error;
}

int pl_cudaMemcpyBatchAsync_12(const void **to, const void **from, const size_t *bytes,
                               size_t count, const void *attributes, const size_t *index, size_t n,
                               size_t *failed, void *stream)
{
    if (failed) *failed = SIZE_MAX;
    return pl_cudaMemcpyBatchAsync(to, from, bytes, count, attributes, index, n, stream);
}

static size_t texel_of(const operand *o)
{
    const cuda_channel *c = &o->u.array.array->channel;
    return o->kind == 2 ? (size_t)(c->x + c->y + c->z + c->w) / 8 : 1;
}

static int side_of(const operand *o, cuda_extent e, size_t texel, cuda_side *out)
{
    if (o->kind == 2) {
        if (!o->u.array.array) return CU_INVALID_VALUE;
        *out = (cuda_side){.array = o->u.array.array,
                           .x = o->u.array.x * texel,
                           .y = o->u.array.y,
                           .z = o->u.array.z};
        return CU_OK;
    }
    const size_t row = o->u.memory.row ? o->u.memory.row : e.width,
                 layer = o->u.memory.layer ? o->u.memory.layer : e.height;
    if (o->kind != 1 || !o->u.memory.p || row < e.width || layer < e.height)
        return CU_INVALID_VALUE;
    *out = (cuda_side){.p = o->u.memory.p, .pitch = row * texel, .slice = row * texel * layer};
    return CU_OK;
}

static int copy_of(const copy_3d *p, cuda_copy *c)
{
    if (p->order < ORDER_STREAM || p->order > ORDER_ANY) return CU_INVALID_VALUE;
    if (!p->extent.width || !p->extent.height || !p->extent.depth) return CU_INVALID_VALUE;
    if ((p->from.kind == 2 && !p->from.u.array.array) || (p->to.kind == 2 && !p->to.u.array.array))
        return CU_INVALID_VALUE;
    const size_t texel = p->from.kind == 2 ? texel_of(&p->from)
                         : p->to.kind == 2 ? texel_of(&p->to)
                                           : 1;
    *c = (cuda_copy){.width = p->extent.width * texel,
                     .height = p->extent.height,
                     .depth = p->extent.depth,
                     .kind = COPY_DEFAULT};
    int error = side_of(&p->from, p->extent, texel, &c->from);
    if (!error) error = side_of(&p->to, p->extent, texel, &c->to);
    return error ? error : cuda_check_copy(c);
}

int pl_cudaMemcpy3DBatchAsync(size_t count, const void *list, unsigned long long flags,
                              void *stream)
{
    const copy_3d *p = list;
    cuda_stream *s;
    int error = stream_for_batch(stream, &s);
    if (error) return error;
    if (!p || !count || flags) return CU_INVALID_VALUE;
    for (size_t k = 0; k < count && !error; k++) {
        cuda_op op = {.kind = OP_COPY};
        error = copy_of(&p[k], &op.u.copy);
        if (!error) error = cuda_submit(s, &op);
    }
    return error;
}

int pl_cudaMemcpy3DBatchAsync_12(size_t count, const void *list, size_t *failed,
                                 unsigned long long flags, void *stream)
{
    if (failed) *failed = SIZE_MAX;
    return pl_cudaMemcpy3DBatchAsync(count, list, flags, stream);
}

int pl_cudaMemPrefetchBatchAsync(void **p, const size_t *bytes, size_t count,
                                 const uint64_t *location, const size_t *index, size_t n,
                                 unsigned long long flags, void *stream)
{
    cuda_stream *s;
    int error = stream_for_batch(stream, &s);
    if (error) return error;
    if (!p || !bytes || !count || !location || flags || !are_valid_ranges(index, n, count))
        return CU_INVALID_VALUE;
    for (size_t k = 0, at = 0; k < count && !error; k++) {
        if (at + 1 < n && index[at + 1] == k) at++;
        error = pl_cudaMemPrefetchAsync(p[k], bytes[k], location[at], 0, stream);
        if (error == CU_INVALID_DEVICE) error = CU_INVALID_VALUE;
    }
    return error;
}

/* Discarded memory has undefined contents; here it keeps its contents. */
int pl_cudaMemDiscardBatchAsync(void **p, const size_t *bytes, size_t count,
                                unsigned long long flags, void *stream)
{
    cuda_stream *s;
    const int error = stream_for_batch(stream, &s);
    if (error) return error;
    if (!p || !bytes || !count || flags) return CU_INVALID_VALUE;
    for (size_t k = 0; k < count; k++)
        if (!cuda_is_managed(p[k], bytes[k])) return CU_INVALID_VALUE;
    return CU_OK;
}

int pl_cudaMemDiscardAndPrefetchBatchAsync(void **p, const size_t *bytes, size_t count,
                                           const uint64_t *location, const size_t *index, size_t n,
                                           unsigned long long flags, void *stream)
{
    const int error = pl_cudaMemDiscardBatchAsync(p, bytes, count, flags, stream);
    return error ? error
                 : pl_cudaMemPrefetchBatchAsync(p, bytes, count, location, index, n, flags, stream);
}
