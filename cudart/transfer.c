/* transfer.c - copies and sets: the memory that a box of bytes, rows and slices covers on its two
 * sides, and its execution. */
#include "cudart/checking.h"
#include "cudart/graph.h"
#include <string.h>

/* Returns the extent of a side in memory, from its first byte to its last. */
static size_t extent_of(const cuda_side *s, const cuda_copy *c)
{
    return (c->depth - 1) * s->slice + (c->height - 1) * s->pitch + c->width;
}

/* Returns the first byte on the host, pitch and slice of a side; NULL: not all of it exists. */
static uint8_t *side_bytes(const cuda_side *s, const cuda_copy *c, size_t *pitch, size_t *slice,
                           bool *device)
{
    *pitch = s->pitch;
    *slice = s->slice;
    if (!s->array) return cuda_bytes(s->p, extent_of(s, c), device);
    size_t width, height, depth;
    uint8_t *bytes = cuda_array_bytes(s->array, pitch, slice);
    cuda_array_size(s->array, &width, &height, &depth);
    *device = true;
    if (!bytes || s->x > *pitch || c->width > *pitch - s->x || s->y > height ||
        c->height > height - s->y || s->z > depth || c->depth > depth - s->z)
        return NULL;
    return bytes + s->z * *slice + s->y * *pitch + s->x;
}

static bool is_empty(const cuda_copy *c)
{
    return !c->width || !c->height || !c->depth;
}

bool cuda_is_empty(const cuda_op *op)
{
    const cuda_set *s = &op->u.set;
    if (op->kind == OP_SET) return !s->width || !s->height || !s->depth;
    return op->kind == OP_COPY && is_empty(&op->u.copy);
}

size_t cuda_texel_bytes(const cuda_array *a)
{
    return (size_t)(a->channel.x + a->channel.y + a->channel.z + a->channel.w) / 8;
}

/* The pitch of a single row does not matter. */
bool cuda_is_narrow(const cuda_side *s, const cuda_copy *c)
{
    return !s->array && c->width > s->pitch && (s->pitch || c->height > 1 || c->depth > 1);
}

/* True if the bytes of a side exist, or will exist when a graph executes. */
static bool is_accessible(const cuda_side *s, const cuda_copy *c, bool *device)
{
    size_t pitch, slice;
    if (side_bytes(s, c, &pitch, &slice, device)) return true;
    *device = true;
    return !s->array && cuda_graph_memory_covers((uintptr_t)s->p, extent_of(s, c));
}

/* True if the current device may only read the memory. */
static bool is_read_only(const void *p)
{
    const cuda_alloc *a = cuda_alloc_find((uintptr_t)p);
    return a && a->read_only >> cuda_self.device & 1;
}

/* Copies do not reach the memory that kernels allocate, but sets do (H100). */
static bool is_in_heap(const cuda_side *s)
{
    return !s->array && cuda_in_heap(s->p);
}

/* True if a copy begins in registered memory and ends in memory that is not (H200). */
static bool leaves_registered(const cuda_side *s, const cuda_copy *c)
{
    const uint64_t at = (uintptr_t)s->p, bytes = extent_of(s, c);
    const cuda_alloc *a = s->array ? NULL : cuda_alloc_find(at);
    return a && a->registered && bytes > a->size - (at - a->address) &&
           !cuda_alloc_find(at + bytes - 1);
}

/* is_accessible that reports bytes that do not exist to the checkers. */
static bool is_in_bounds(const cuda_side *s, const cuda_copy *c, const char *verb, bool *device)
{
    const bool accessible = is_accessible(s, c, device);
    if (!accessible && !s->array) cuda_checked_beyond(s->p, extent_of(s, c), verb);
    return accessible;
}

int cuda_check_copy(const cuda_copy *c)
{
    bool to, from;
    if (c->kind < COPY_H2H || c->kind > COPY_DEFAULT) return CU_INVALID_DIRECTION;
    if (is_empty(c)) return CU_OK;
    if ((!c->to.array && !c->to.p) || (!c->from.array && !c->from.p)) return CU_INVALID_VALUE;
    if (!is_in_bounds(&c->to, c, "writes", &to) || !is_in_bounds(&c->from, c, "reads", &from))
        return CU_INVALID_VALUE;
    if (leaves_registered(&c->to, c) || leaves_registered(&c->from, c)) return CU_INVALID_VALUE;
    if (!c->to.array && is_read_only(c->to.p)) return CU_INVALID_VALUE;
    if (is_in_heap(&c->to) || is_in_heap(&c->from)) return CU_INVALID_VALUE;
    if ((c->kind == COPY_H2D || c->kind == COPY_D2D) && !to) return CU_INVALID_VALUE;
    if ((c->kind == COPY_D2H || c->kind == COPY_D2D) && !from) return CU_INVALID_VALUE;
    return CU_OK;
}

int cuda_copy_now(const cuda_copy *c)
{
    size_t to_pitch, to_slice, from_pitch, from_slice;
    bool device;
    if (is_empty(c)) return CU_OK;
    uint8_t *to = side_bytes(&c->to, c, &to_pitch, &to_slice, &device);
    const uint8_t *from = side_bytes(&c->from, c, &from_pitch, &from_slice, &device);
    if (!to || !from) return CU_INVALID_VALUE;
    for (size_t z = 0; z < c->depth; z++)
        for (size_t y = 0; y < c->height; y++)
            memmove(to + z * to_slice + y * to_pitch, from + z * from_slice + y * from_pitch,
                    c->width);
    if (c->to.array && c->to.array->tiles) cuda_clear_unmapped(c->to.array->tiles);
    cuda_checked_copy(c);
    return CU_OK;
}

/* Returns the bytes from the first one set to the end of the last one. */
static size_t set_extent(const cuda_set *s)
{
    return (s->depth - 1) * s->slice + (s->height - 1) * s->pitch + s->width * s->element;
}

static uint8_t *set_bytes(const cuda_set *s)
{
    bool device;
    uint8_t *p = cuda_bytes(s->p, set_extent(s), &device);
    return device ? p : NULL;
}

int cuda_check_set(const cuda_set *s)
{
    if (!s->width || !s->height || !s->depth) return CU_OK;
    if (is_read_only(s->p)) return CU_INVALID_VALUE;
    if (s->p && (set_bytes(s) || cuda_graph_memory_covers((uintptr_t)s->p, set_extent(s))))
        return CU_OK;
    cuda_checked_beyond(s->p, set_extent(s), "writes");
    return CU_INVALID_VALUE;
}

int cuda_set_now(const cuda_set *s)
{
    if (!s->width || !s->height || !s->depth) return CU_OK;
    uint8_t *p = set_bytes(s);
    if (!p) return CU_INVALID_VALUE;
    for (size_t z = 0; z < s->depth; z++)
        for (size_t y = 0; y < s->height; y++) {
            uint8_t *row = p + z * s->slice + y * s->pitch;
            if (s->element == 1)
                memset(row, (int)(s->value & 0xff), s->width);
            else
                for (size_t x = 0; x < s->width; x++)
                    memcpy(row + x * s->element, &s->value, s->element);
        }
    cuda_checked_set(s);
    return CU_OK;
}

cuda_copy cuda_linear_copy(void *to, const void *from, size_t bytes, int kind)
{
    return (cuda_copy){.to = {.p = to},
                       .from = {.p = (void *)(uintptr_t)from},
                       .width = bytes,
                       .height = 1,
                       .depth = 1,
                       .kind = kind};
}

static bool is_outside(const cuda_pitched *p, const cuda_pos *at, const cuda_copy *c)
{
    const bool low = (c->depth > 1 || at->z) && p->ysize && at->y + c->height > p->ysize;
    return low || (p->pitch && at->x + c->width > p->pitch);
}

/* Positions and widths count texels if an array is involved. */
int cuda_convert3d(const cuda_copy3d *p, cuda_copy *c)
{
    const cuda_array *a = p->from_array ? p->from_array : p->to_array;
    const size_t texel = a ? cuda_texel_bytes(a) : 1;
    if (!p->extent.width || !p->extent.height || !p->extent.depth) {
        *c = (cuda_copy){.kind = COPY_DEFAULT}; /* empty: nothing else is checked (H100) */
        return CU_OK;
    }
    if ((p->from_array && p->from.ptr) || (p->to_array && p->to.ptr) ||
        (!p->from_array && !p->from.ptr) || (!p->to_array && !p->to.ptr) ||
        (p->from_array && (p->kind == COPY_H2H || p->kind == COPY_H2D))) /* not of the host */
        return CU_INVALID_VALUE;
    *c = (cuda_copy){.width = p->extent.width * texel,
                     .height = p->extent.height,
                     .depth = p->extent.depth,
                     .kind = p->kind};
    if (p->from_array)
        c->from = (cuda_side){.array = p->from_array,
                              .x = p->from_pos.x * texel,
                              .y = p->from_pos.y,
                              .z = p->from_pos.z};
    else
        c->from = (cuda_side){.p = (uint8_t *)p->from.ptr + p->from_pos.x * texel +
                                   p->from.pitch * (p->from_pos.y + p->from.ysize * p->from_pos.z),
                              .pitch = p->from.pitch,
                              .slice = p->from.pitch * p->from.ysize};
    if (p->to_array)
        c->to = (cuda_side){
            .array = p->to_array, .x = p->to_pos.x * texel, .y = p->to_pos.y, .z = p->to_pos.z};
    else
        c->to = (cuda_side){.p = (uint8_t *)p->to.ptr + p->to_pos.x * texel +
                                 p->to.pitch * (p->to_pos.y + p->to.ysize * p->to_pos.z),
                            .pitch = p->to.pitch,
                            .slice = p->to.pitch * p->to.ysize};
    if (p->from_array && p->to_array &&
        cuda_texel_bytes(p->from_array) != cuda_texel_bytes(p->to_array))
        return CU_INVALID_VALUE;
    if (p->from_array && p->to_array && p->kind <= COPY_H2D)
        return CU_INVALID_VALUE;   /* from the host (H100) */
    if (cuda_is_narrow(&c->to, c)) /* as on the H100 */
        return p->from_array || (c->height == 1 && c->depth == 1) ? CU_INVALID_VALUE
                                                                  : CU_INVALID_PITCH;
    if (cuda_is_narrow(&c->from, c)) return p->to_array ? CU_INVALID_VALUE : CU_INVALID_PITCH;
    const bool low = c->depth > 1 && ((!p->from_array && p->from.ysize < c->height) ||
                                      (!p->to_array && p->to.ysize < c->height));
    if (low) return CU_INVALID_PITCH;
    if (!p->to_array && p->to.ysize && p->to_pos.y + c->height > p->to.ysize)
        return CU_INVALID_VALUE; /* also of one slice (H100) */
    cuda_pos from = p->from_pos, to = p->to_pos;
    from.x *= texel;
    to.x *= texel;
    return (!p->from_array && is_outside(&p->from, &from, c)) ||
                   (!p->to_array && is_outside(&p->to, &to, c))
               ? CU_INVALID_VALUE
               : CU_OK;
}

int cuda_convert_node3d(const cuda_copy3d *p, cuda_copy *c)
{
    enum { HOST_TO_DEVICE = 1, DEVICE_TO_HOST = 2 };
    if (!p || !p->extent.width || !p->extent.height || !p->extent.depth) return CU_INVALID_VALUE;
    if ((p->from_array && p->kind == HOST_TO_DEVICE) || (p->to_array && p->kind == DEVICE_TO_HOST))
        return CU_INVALID_VALUE;
    return cuda_convert3d(p, c);
}
