/* copy.c - copies and sets of every kind: each call is converted to a box of bytes, rows and slices
 * with two sides, which are memory or parts of arrays. */
#include "cudart/blocked.h"
#include "cudart/graph.h"

/* ---------------------------------------------------------------- calls */

static bool in_device_memory(const cuda_side *side)
{
    const cuda_alloc *a = side->array ? NULL : cuda_alloc_find((uintptr_t)side->p);
    return side->array || (a && a->type == MEMORY_DEVICE);
}

void cuda_wait_for_copy(cuda_stream *s, const cuda_copy *c)
{
    if (in_device_memory(&c->to) && in_device_memory(&c->from))
        cuda_wait_unordered(s);
    else
        cuda_wait(s);
    cuda_flush();
}

static int submit_copy(const cuda_copy *c, void *stream, bool wait)
{
    cuda_stream *s = cuda_stream_of(stream);
    if (!s) return CU_INVALID_HANDLE;
    int error = cuda_check_copy(c);
    cuda_op op = {.kind = OP_COPY, .u.copy = *c};
    if (!error && wait && s->capture) return cuda_invalidate_capture(s);
    if (!error) error = cuda_submit(s, &op);
    if (wait) cuda_wait_for_copy(s, c);
    return error || !wait || cuda_is_empty(&op) ? error : cuda.sticky;
}

int pl_cudaMemcpy(void *to, const void *from, size_t bytes, int kind)
{
    if (!bytes) kind = COPY_DEFAULT; /* an empty copy has no direction (H100) */
    if (kind < 0 || kind > COPY_DEFAULT) return CU_INVALID_DIRECTION;
    if (bytes && cuda.sticky) return cuda.sticky;
    const cuda_copy c = cuda_linear_copy(to, from, bytes, kind);
    return submit_copy(&c, NULL, true);
}

int pl_cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream)
{
    const cuda_copy c = cuda_linear_copy(to, from, bytes, kind);
    return submit_copy(&c, stream, false);
}

/* True unless it is pageable memory of the host. */
static bool is_of_device(const cuda_side *s)
{
    bool device = true;
    return s->array || (cuda_bytes(s->p, 1, &device) && device) || cuda_in_window((uintptr_t)s->p);
}

/* Begins after all earlier operations of both devices have ended, and later operations of both
 * begin after its end. */
int pl_cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes)
{
    if (!bytes) return CU_OK; /* whatever the devices are (H100) */
    if (!cuda_is_device(to_device) || !cuda_is_device(from_device)) return CU_INVALID_DEVICE;
    cuda_stream *s = &cuda_current_device()->legacy, *const both[] = {
                                                         &cuda.device[to_device].legacy,
                                                         &cuda.device[from_device].legacy};
    cuda_drain_device(to_device);
    cuda_drain_device(from_device);
    for (int k = 0; k < 2; k++)
        if (cuda_end_of(both[k]) > s->ready) s->ready = cuda_end_of(both[k]);
    const cuda_copy c = cuda_linear_copy(to, from, bytes, COPY_DEFAULT);
    if (bytes && !(is_of_device(&c.to) && is_of_device(&c.from))) return CU_INVALID_VALUE;
    const int error = submit_copy(&c, cuda_legacy_handle, false);
    for (int k = 0; k < 2 && !error; k++) both[k]->ready = s->ready;
    return error;
}

int pl_cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
                           void *stream)
{
    cuda_stream *s = cuda_stream_of(stream);
    if (!cuda_is_device(to_device) || !cuda_is_device(from_device)) return CU_INVALID_DEVICE;
    if (s && s->capture) return cuda_invalidate_capture(s);
    return pl_cudaMemcpyAsync(to, from, bytes, COPY_DEFAULT, stream);
}

static int copy2d(const cuda_copy *c, void *stream, bool wait)
{
    const bool empty = !c->width || !c->height;
    if (!empty && (cuda_is_narrow(&c->to, c) || cuda_is_narrow(&c->from, c)))
        return c->height > 1 ? CU_INVALID_PITCH : CU_INVALID_VALUE; /* H100 */
    if (cuda.sticky) return cuda.sticky;
    return submit_copy(c, stream, wait);
}

static cuda_copy box_copy(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                          size_t width, size_t height, int kind)
{
    return (cuda_copy){.to = {.p = to, .pitch = to_pitch},
                       .from = {.p = (void *)(uintptr_t)from, .pitch = from_pitch},
                       .width = width,
                       .height = height,
                       .depth = 1,
                       .kind = kind};
}

int pl_cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                    size_t height, int kind)
{
    const cuda_copy c = box_copy(to, to_pitch, from, from_pitch, width, height, kind);
    return copy2d(&c, NULL, true);
}

int pl_cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, int kind, void *stream)
{
    const cuda_copy c = box_copy(to, to_pitch, from, from_pitch, width, height, kind);
    return copy2d(&c, stream, false);
}

int pl_cudaMemcpy2DToArrayAsync(cuda_array *to, size_t x, size_t y, const void *from, size_t pitch,
                                size_t width, size_t height, int kind, void *stream)
{
    cuda_copy c = box_copy(NULL, 0, from, pitch, width, height, kind);
    if (kind == COPY_D2H || kind == COPY_H2H) return CU_INVALID_DIRECTION;
    c.to = (cuda_side){.array = to, .x = x, .y = y};
    return to ? copy2d(&c, stream, false) : CU_INVALID_HANDLE;
}

int pl_cudaMemcpy2DToArray(cuda_array *to, size_t x, size_t y, const void *from, size_t pitch,
                           size_t width, size_t height, int kind)
{
    return pl_cudaMemcpy2DToArrayAsync(to, x, y, from, pitch, width, height, kind, NULL);
}

int pl_cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cuda_array *from, size_t x, size_t y,
                                  size_t width, size_t height, int kind, void *stream)
{
    cuda_copy c = box_copy(to, pitch, NULL, 0, width, height, kind);
    if (kind == COPY_H2D || kind == COPY_H2H) return CU_INVALID_DIRECTION;
    c.from = (cuda_side){.array = from, .x = x, .y = y};
    return from ? copy2d(&c, stream, false) : CU_INVALID_HANDLE;
}

int pl_cudaMemcpy2DFromArray(void *to, size_t pitch, cuda_array *from, size_t x, size_t y,
                             size_t width, size_t height, int kind)
{
    cuda_wait(NULL);
    cuda_flush();
    return pl_cudaMemcpy2DFromArrayAsync(to, pitch, from, x, y, width, height, kind, NULL);
}

int pl_cudaMemcpy2DArrayToArray(cuda_array *to, size_t tx, size_t ty, cuda_array *from, size_t fx,
                                size_t fy, size_t width, size_t height, int kind)
{
    if (kind != COPY_D2D && kind != COPY_DEFAULT) return CU_INVALID_DIRECTION;
    const cuda_copy c = {.to = {.array = to, .x = tx, .y = ty},
                         .from = {.array = from, .x = fx, .y = fy},
                         .width = width,
                         .height = height,
                         .depth = 1,
                         .kind = kind};
    return to && from ? submit_copy(&c, NULL, true) : CU_INVALID_HANDLE;
}

/* Copies a range of bytes that continues across rows of an array: a head, whole rows, a tail. */
static int copy_array_range(cuda_array *a, size_t x, size_t y, void *memory, size_t bytes, int kind,
                            bool to_array, void *stream)
{
    size_t pitch, slice;
    if (!a) return CU_INVALID_HANDLE;
    if (kind == (to_array ? COPY_D2H : COPY_H2D)) return CU_INVALID_DIRECTION;
    if (!cuda_array_bytes(a, &pitch, &slice)) return CU_INVALID_VALUE;
    y += pitch ? x / pitch : 0;
    x = pitch ? x % pitch : x;
    uint8_t *p = memory;
    while (bytes) {
        size_t width = x < pitch ? pitch - x : 0, height = 1;
        if (bytes < width) width = bytes;
        if (x == 0 && width == pitch) height = bytes / pitch;
        if (!width) return CU_INVALID_VALUE;
        const cuda_side in_array = {.array = a, .x = x, .y = y},
                        in_memory = {.p = p, .pitch = width};
        const cuda_copy c = {.to = to_array ? in_array : in_memory,
                             .from = to_array ? in_memory : in_array,
                             .width = width,
                             .height = height,
                             .depth = 1,
                             .kind = kind};
        const int error = submit_copy(&c, stream, false);
        if (error) return error;
        bytes -= width * height;
        p += width * height;
        x = 0;
        y += height;
    }
    return CU_OK;
}

int pl_cudaMemcpyToArrayAsync(cuda_array *to, size_t x, size_t y, const void *from, size_t bytes,
                              int kind, void *stream)
{
    return copy_array_range(to, x, y, (void *)(uintptr_t)from, bytes, kind, true, stream);
}

int pl_cudaMemcpyToArray(cuda_array *to, size_t x, size_t y, const void *from, size_t bytes,
                         int kind)
{
    return pl_cudaMemcpyToArrayAsync(to, x, y, from, bytes, kind, NULL);
}

int pl_cudaMemcpyFromArrayAsync(void *to, cuda_array *from, size_t x, size_t y, size_t bytes,
                                int kind, void *stream)
{
    return copy_array_range(from, x, y, to, bytes, kind, false, stream);
}

int pl_cudaMemcpyFromArray(void *to, cuda_array *from, size_t x, size_t y, size_t bytes, int kind)
{
    return pl_cudaMemcpyFromArrayAsync(to, from, x, y, bytes, kind, NULL);
}

/* Both sides continue across rows: pieces end where a row of either side ends. */
int pl_cudaMemcpyArrayToArray(cuda_array *to, size_t tx, size_t ty, cuda_array *from, size_t fx,
                              size_t fy, size_t bytes, int kind)
{
    size_t to_pitch, from_pitch, slice;
    if (!to || !from) return CU_INVALID_HANDLE;
    if (!cuda_array_bytes(to, &to_pitch, &slice) || !cuda_array_bytes(from, &from_pitch, &slice) ||
        tx >= to_pitch || fx >= from_pitch)
        return CU_INVALID_VALUE;
    while (bytes) {
        size_t width = bytes;
        if (to_pitch - tx < width) width = to_pitch - tx;
        if (from_pitch - fx < width) width = from_pitch - fx;
        const int error = pl_cudaMemcpy2DArrayToArray(to, tx, ty, from, fx, fy, width, 1, kind);
        if (error) return error;
        bytes -= width;
        ty += (tx += width) == to_pitch;
        fy += (fx += width) == from_pitch;
        tx %= to_pitch;
        fx %= from_pitch;
    }
    return CU_OK;
}

/* ---- 3D ---- */

int pl_cudaMemcpy3D(const cuda_copy3d *p)
{
    cuda_copy c;
    const int error = p ? cuda_convert3d(p, &c) : CU_INVALID_VALUE;
    return error ? error : submit_copy(&c, NULL, true);
}

int pl_cudaMemcpy3DAsync(const cuda_copy3d *p, void *stream)
{
    cuda_copy c;
    const int error = p ? cuda_convert3d(p, &c) : CU_INVALID_VALUE;
    return error ? error : submit_copy(&c, stream, false);
}

/* cudaMemcpy3DPeerParms: the devices affect only the time. */
static int convert_peer(const void *params, cuda_copy *c)
{
    const struct {
        struct cuda_array *from_array;
        cuda_pos from_pos;
        cuda_pitched from;
        int from_device;
        struct cuda_array *to_array;
        cuda_pos to_pos;
        cuda_pitched to;
        int to_device;
        cuda_extent extent;
    } *p = params;
    if (!p) return CU_INVALID_VALUE;
    if (!cuda_is_device(p->from_device) || !cuda_is_device(p->to_device)) return CU_INVALID_DEVICE;
    const cuda_copy3d same = {.from_array = p->from_array,
                              .from_pos = p->from_pos,
                              .from = p->from,
                              .to_array = p->to_array,
                              .to_pos = p->to_pos,
                              .to = p->to,
                              .extent = p->extent,
                              .kind = COPY_DEFAULT};
    const int error = cuda_convert3d(&same, c);
    if (error && (cuda_is_narrow(&c->from, c) || cuda_is_narrow(&c->to, c)))
        return CU_INVALID_PITCH;
    if (error) return error;
    return is_of_device(&c->from) && is_of_device(&c->to) ? CU_OK : CU_INVALID_VALUE;
}

int pl_cudaMemcpy3DPeer(const void *p)
{
    cuda_copy c;
    const int error = convert_peer(p, &c);
    return error ? error : submit_copy(&c, NULL, true);
}

int pl_cudaMemcpy3DPeerAsync(const void *p, void *stream)
{
    cuda_copy c;
    const int error = convert_peer(p, &c);
    return error ? error : submit_copy(&c, stream, false);
}

/* ---- symbols ---- */

static int symbol_copy(const void *symbol, void *memory, size_t bytes, size_t offset, int kind,
                       bool to_symbol, void *stream, bool wait)
{
    uint64_t address, size;
    const int error = cuda_variable_of(symbol, &address, &size);
    if (error) return error;
    if (bytes && (offset > size || bytes > size - offset)) return CU_INVALID_VALUE;
    if (kind == (to_symbol ? COPY_D2H : COPY_H2D) || kind == COPY_H2H) return CU_INVALID_DIRECTION;
    void *at = (void *)(uintptr_t)(address + offset);
    const cuda_copy c = to_symbol ? cuda_linear_copy(at, memory, bytes, kind)
                                  : cuda_linear_copy(memory, at, bytes, kind);
    return submit_copy(&c, stream, wait);
}

int pl_cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                          int kind)
{
    return symbol_copy(symbol, (void *)(uintptr_t)from, bytes, offset, kind, true, NULL, true);
}

int pl_cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes, size_t offset,
                               int kind, void *stream)
{
    return symbol_copy(symbol, (void *)(uintptr_t)from, bytes, offset, kind, true, stream, false);
}

int pl_cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset, int kind)
{
    return symbol_copy(symbol, to, bytes, offset, kind, false, NULL, true);
}

int pl_cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset,
                                 int kind, void *stream)
{
    return symbol_copy(symbol, to, bytes, offset, kind, false, stream, false);
}

/* ---- sets ---- */

/* Without peer access, a device cannot set memory of another one (H200). */
static bool is_out_of_reach(const cuda_stream *s, const cuda_set *c)
{
    if (s->capture || cuda.sticky) return false;
    const cuda_alloc *a = cuda_alloc_find((uintptr_t)c->p);
    return a && a->type == MEMORY_DEVICE && !(a->access >> s->device & 1);
}

int cuda_submit_set(const cuda_set *c, void *stream, bool async)
{
    cuda_stream *s = cuda_stream_of(stream);
    if (!s) return CU_INVALID_HANDLE;
    int error = is_out_of_reach(s, c) ? CU_INVALID_VALUE : cuda_check_set(c);
    cuda_op op = {.kind = OP_SET, .u.set = *c};
    if (!error) error = cuda_submit(s, &op);
    const cuda_alloc *a = async || s->capture ? NULL : cuda_alloc_find((uintptr_t)c->p);
    if (error || !a || a->type == MEMORY_DEVICE) return error;
    cuda_wait(s);
    cuda_flush();
    return cuda.sticky;
}

static int set(void *p, int value, size_t bytes, void *stream, bool async)
{
    if (bytes && cuda.sticky) return cuda.sticky;
    const cuda_set s = {
        .p = p, .width = bytes, .height = 1, .depth = 1, .value = (uint8_t)value, .element = 1};
    return cuda_submit_set(&s, stream, async);
}

int pl_cudaMemsetAsync(void *p, int value, size_t bytes, void *stream)
{
    return set(p, value, bytes, stream, true);
}

int pl_cudaMemset(void *p, int value, size_t bytes)
{
    return set(p, value, bytes, NULL, false);
}

static int set2d(void *p, size_t pitch, int value, size_t width, size_t height, void *stream,
                 bool async)
{
    const cuda_set s = {.p = p,
                        .pitch = pitch,
                        .width = width,
                        .height = height,
                        .depth = 1,
                        .value = (uint8_t)value,
                        .element = 1};
    return width > pitch && height > 1 ? CU_INVALID_VALUE : cuda_submit_set(&s, stream, async);
}

int pl_cudaMemset2DAsync(void *p, size_t pitch, int value, size_t width, size_t height,
                         void *stream)
{
    return set2d(p, pitch, value, width, height, stream, true);
}

int pl_cudaMemset2D(void *p, size_t pitch, int value, size_t width, size_t height)
{
    return set2d(p, pitch, value, width, height, NULL, false);
}

static int set3d(cuda_pitched to, int value, cuda_extent extent, void *stream, bool async)
{
    if (!extent.width || !extent.height || !extent.depth) return CU_OK;
    const bool too_high = extent.height > to.ysize;
    const bool adjacent = extent.height == to.ysize; /* slices: they are one range of rows */
    if (adjacent) extent = (cuda_extent){extent.width, extent.height * extent.depth, 1};
    const cuda_set s = {.p = to.ptr,
                        .pitch = to.pitch,
                        .slice = to.pitch * to.ysize,
                        .width = extent.width,
                        .height = extent.height,
                        .depth = extent.depth,
                        .value = (uint8_t)value,
                        .element = 1};
    return extent.width > to.pitch || too_high ? CU_INVALID_VALUE
                                               : cuda_submit_set(&s, stream, async);
}

int pl_cudaMemset3DAsync(cuda_pitched to, int value, cuda_extent extent, void *stream)
{
    return set3d(to, value, extent, stream, true);
}

int pl_cudaMemset3D(cuda_pitched to, int value, cuda_extent extent)
{
    return set3d(to, value, extent, NULL, false);
}
