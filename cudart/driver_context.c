/* driver_context.c - devices and contexts of the driver API. The primary context of a device is
 * that of the runtime. */
#include "cudart/green_context.h"
#include <stdlib.h>
#include <string.h>

static cuda_context primary[CUDA_DEVICES];
static cuda_table contexts; /* contexts created by the program */
static cuda_table destroyed;

static cuda_context *primary_context(int device)
{
    primary[device].device = device;
    return &primary[device];
}

/* Returns the current context; NULL: none. */
static cuda_context *current_context(void)
{
    if (!cuda_self.has_context) return NULL;
    return cuda_self.context ? cuda_self.context : primary_context(cuda_self.device);
}

static unsigned *flags_of(cuda_context *c)
{
    return c->created ? &c->flags : &cuda.device[c->device].flags;
}

static void make_current(cuda_context *c)
{
    cuda_self.has_context = c != NULL;
    cuda_self.context = c && c->created ? c : NULL;
    if (c) cuda_self.device = c->device;
}

cuda_context *cuda_context_of(void *handle)
{
    for (int d = 0; d < cuda.devices; d++)
        if (handle == primary_context(d)) return handle;
    return handle ? cuda_table_get(&contexts, handle) : NULL;
}

void *cuda_context_handle(void *created, int device)
{
    return cuda_context_of(created) ? created : primary_context(device);
}

int pl_cuInit(unsigned flags)
{
    if (flags) return CU_INVALID_VALUE;
    cuda.initialised = true;
    return CU_OK;
}

int pl_cuDeviceGet(int *device, int ordinal)
{
    if (!device) return CU_INVALID_VALUE;
    *device = cuda_is_device(ordinal) ? ordinal : 0;
    return cuda_is_device(ordinal) ? CU_OK : CU_INVALID_DEVICE;
}

int pl_cuDeviceGetName(char *name, int room, int device)
{
    if (!name || room < 1) return CU_INVALID_VALUE;
    if (!cuda_is_device(device)) return CU_INVALID_DEVICE;
    snprintf(name, (size_t)room, "%s", cuda_device_name());
    return CU_OK;
}

int pl_cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    if (!bytes) return CU_INVALID_VALUE;
    *bytes = cuda_device_bytes();
    return cuda_is_device(device) ? CU_OK : CU_INVALID_DEVICE;
}

int pl_cuDeviceGetUuid_v2(void *uuid, int device)
{
    cuda_prop_13 p;
    if (!uuid) return CU_INVALID_VALUE;
    const int error = pl_cudaGetDeviceProperties(&p, device);
    if (!error) memcpy(uuid, p.uuid, sizeof p.uuid);
    return error;
}

int pl_cuDeviceComputeCapability(int *major, int *minor, int device)
{
    if (!major || !minor) return CU_INVALID_VALUE;
    *major = (int)cuda_capability() / 10;
    *minor = (int)cuda_capability() % 10;
    return cuda_is_device(device) ? CU_OK : CU_INVALID_DEVICE;
}

int pl_cuCtxPushCurrent_v2(void *handle)
{
    cuda_context *c = cuda_context_of(handle);
    if (!c) return handle ? CU_INVALID_CONTEXT : CU_INVALID_VALUE;
    if (cuda_self.context_depth == CUDA_CONTEXTS) return CU_MEMORY_ALLOCATION;
    cuda_self.context_stack[cuda_self.context_depth++] = current_context();
    make_current(c);
    return CU_OK;
}

int pl_cuCtxPopCurrent_v2(void **out)
{
    if (!current_context()) return CU_INVALID_CONTEXT;
    if (out) *out = current_context();
    make_current(cuda_self.context_depth ? cuda_self.context_stack[--cuda_self.context_depth]
                                         : NULL);
    return CU_OK;
}

int pl_cuCtxCreate_v2(void **out, unsigned flags, int device)
{
    if (!out || !cuda_valid_device_flags(flags)) return CU_INVALID_VALUE;
    if (!cuda_is_device(device)) return CU_INVALID_DEVICE;
    if (cuda.sticky) return cuda.sticky;
    cuda_context *c = calloc(1, sizeof *c);
    if (!c || !cuda_register_context(c)) {
        free(c);
        return CU_MEMORY_ALLOCATION;
    }
    *c = (cuda_context){.device = device, .created = true, .flags = flags};
    *out = c;
    return pl_cuCtxPushCurrent_v2(c);
}

int pl_cuCtxCreate_v3(void **out, void *affinity, int n, unsigned flags, int device)
{
    (void)affinity, (void)n;
    return pl_cuCtxCreate_v2(out, flags, device);
}

int pl_cuCtxCreate_v4(void **out, void *params, unsigned flags, int device)
{
    (void)params;
    return pl_cuCtxCreate_v2(out, flags, device);
}

bool cuda_register_context(cuda_context *c)
{
    return cuda_table_put(&contexts, c, c);
}

/* The previous context of the thread becomes current. The memory of the context is not reused:
 * programs may still pass its handle. */
void cuda_end_context(cuda_context *c)
{
    if (c == cuda_self.context) pl_cuCtxPopCurrent_v2(NULL);
    if (!c->green) cuda_release_of_context(c);
    cuda_table_remove(&contexts, c);
    cuda_table_put(&destroyed, c, c);
}

int pl_cuCtxDestroy_v2(void *handle)
{
    cuda_context *c = cuda_context_of(handle);
    if (!handle) return CU_INVALID_VALUE;
    if (cuda_table_get(&destroyed, handle)) return CU_CONTEXT_DESTROYED;
    if (!c || !c->created || c->green) return CU_INVALID_CONTEXT;
    cuda_end_context(c);
    return CU_OK;
}

int pl_cuCtxSetCurrent(void *handle)
{
    cuda_context *c = cuda_context_of(handle);
    if (handle && !c) return CU_INVALID_CONTEXT;
    if (c)
        make_current(c);
    else if (current_context())
        pl_cuCtxPopCurrent_v2(NULL);
    return CU_OK;
}

int pl_cuCtxGetCurrent(void **out)
{
    if (!out) return CU_INVALID_VALUE;
    *out = current_context();
    return CU_OK;
}

int pl_cuCtxGetDevice(int *device)
{
    if (!device) return CU_INVALID_VALUE;
    *device = cuda_self.device;
    return CU_OK;
}

/* NULL: the current context. */
int pl_cuCtxGetDevice_v2(int *device, void *handle)
{
    const cuda_context *c = handle ? cuda_context_of(handle) : current_context();
    if (!device) return CU_INVALID_VALUE;
    if (!c) return CU_INVALID_CONTEXT;
    *device = c->device;
    return CU_OK;
}

int pl_cuCtxSynchronize_v2(void *handle)
{
    if (!handle) return pl_cudaDeviceSynchronize();
    int error = pl_cuCtxPushCurrent_v2(handle);
    if (error) return error;
    error = pl_cudaDeviceSynchronize();
    pl_cuCtxPopCurrent_v2(NULL);
    return error;
}

int pl_cuCtxGetFlags(unsigned *flags)
{
    if (!flags) return CU_INVALID_VALUE;
    enum { MAPS_HOST = 8 }; /* set for the primary context */
    const cuda_context *c = current_context();
    *flags = *flags_of(current_context()) | (c && !c->created ? MAPS_HOST : 0);
    return CU_OK;
}

int pl_cuCtxSetFlags(unsigned flags)
{
    if (!cuda_valid_device_flags(flags)) return CU_INVALID_VALUE;
    unsigned *of = flags_of(current_context());
    *of = (*of & ~(unsigned)SCHEDULE_MASK) | flags;
    return CU_OK;
}

int pl_cuCtxAttach(void **out, unsigned flags)
{
    cuda_context *c = current_context();
    if (!out || flags) return CU_INVALID_VALUE;
    if (!c) return CU_INVALID_CONTEXT;
    c->retained++;
    *out = c;
    return CU_OK;
}

/* The last call destroys the context. */
int pl_cuCtxDetach(void *handle)
{
    cuda_context *c = cuda_context_of(handle);
    if (!c || c != current_context()) return CU_INVALID_CONTEXT;
    if (!c->retained) return pl_cuCtxDestroy_v2(c);
    c->retained--;
    return CU_OK;
}

/* CUexecAffinityParam: the SMs of the current context. */
int pl_cuCtxGetExecAffinity(void *out, int type)
{
    struct {
        int type;
        unsigned sms;
    } *p = out;
    if (!p || type) return CU_INVALID_VALUE;
    p->type = type;
    p->sms = cuda_green_sms(cuda_current_green());
    return CU_OK;
}

/* Execution affinity is supported only under MPS. */
int pl_cuDeviceGetExecAffinitySupport(int *can, int type, int device)
{
    (void)type; /* no type is supported, nor is any refused (H100) */
    if (!can) return CU_INVALID_VALUE;
    *can = 0;
    return cuda_is_device(device) ? CU_OK : CU_INVALID_DEVICE;
}

/* CUdevprop: the first attributes. */
int pl_cuDeviceGetProperties(void *out, int device)
{
    enum { VALUES = 14 };
    int error = out ? CU_OK : CU_INVALID_VALUE;
    for (int k = 0; k < VALUES && !error; k++)
        error = pl_cudaDeviceGetAttribute((int *)out + k, k + 1, device);
    return error;
}

int pl_cuCtxGetApiVersion(void *c, unsigned *version)
{
    if (!version) return CU_INVALID_VALUE;
    if (!c && !current_context()) return CU_INVALID_CONTEXT;
    *version = 3020;
    return CU_OK;
}

static bool is_active(int device)
{
    const unsigned bit = 1u << device;
    return !(cuda.was_reset & bit) && (primary[device].retained || cuda.runtime_used & bit);
}

int pl_cuDevicePrimaryCtxRetain(void **out, int device)
{
    if (!out) return CU_INVALID_VALUE;
    if (!cuda_is_device(device)) return CU_INVALID_DEVICE;
    if (cuda.sticky && !is_active(device)) return cuda.sticky; /* it would have to be created */
    *out = primary_context(device);
    primary[device].retained++;
    cuda.was_reset &= ~(1u << device);
    return CU_OK;
}

/* The reference of the runtime is the last one. The context ends with its last reference. */
int pl_cuDevicePrimaryCtxRelease_v2(int device)
{
    if (!cuda_is_device(device)) return CU_INVALID_DEVICE;
    if (!is_active(device)) return CU_INVALID_CONTEXT;
    if (primary[device].retained)
        primary[device].retained--;
    else
        cuda.runtime_used &= ~(1u << device);
    return is_active(device) ? CU_OK : pl_cuDevicePrimaryCtxReset(device);
}

int pl_cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags)
{
    if (!cuda_is_device(device)) return CU_INVALID_DEVICE;
    if (!cuda_valid_device_flags(flags)) return CU_INVALID_VALUE;
    cuda.device[device].flags = flags;
    return CU_OK;
}

int pl_cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active)
{
    if (!flags || !active) return CU_INVALID_VALUE;
    if (!cuda_is_device(device)) return CU_INVALID_DEVICE;
    *flags = cuda.device[device].flags;
    *active = is_active(device);
    return CU_OK;
}

int pl_cuDevicePrimaryCtxReset(int device)
{
    if (!cuda_is_device(device)) return CU_INVALID_DEVICE;
    const int previous = cuda_use_device(device);
    const int error = pl_cudaDeviceReset();
    cuda_use_device(previous);
    return error;
}

int pl_cuCtxGetId(void *context, uint64_t *id)
{
    const cuda_context *c = context ? cuda_context_of(context) : current_context();
    if (!c) return CU_INVALID_CONTEXT;
    if (!id) return CU_INVALID_VALUE;
    if (!c->created && cuda.was_reset >> c->device & 1) return CU_CONTEXT_DESTROYED;
    *id = c->created ? (uintptr_t)c : (uint64_t)c->device + 1;
    return CU_OK;
}

/* ---------------------------------------------------------------- peers */

int pl_cuCtxEnablePeerAccess(void *handle, unsigned flags)
{
    const cuda_context *c = cuda_context_of(handle);
    return c ? pl_cudaDeviceEnablePeerAccess(c->device, flags) : CU_INVALID_CONTEXT;
}

int pl_cuCtxDisablePeerAccess(void *handle)
{
    const cuda_context *c = cuda_context_of(handle);
    return c ? pl_cudaDeviceDisablePeerAccess(c->device) : CU_INVALID_CONTEXT;
}

static const cuda_context *context_or_current(void *handle)
{
    return handle ? cuda_context_of(handle) : current_context();
}

int pl_cuMemcpyPeer(uint64_t to, void *to_context, uint64_t from, void *from_context, size_t bytes)
{
    const cuda_context *a = context_or_current(to_context), *b = context_or_current(from_context);
    if (!a || !b) return CU_INVALID_CONTEXT;
    return pl_cudaMemcpyPeer((void *)(uintptr_t)to, a->device, (const void *)(uintptr_t)from,
                             b->device, bytes);
}

int pl_cuMemcpyPeerAsync(uint64_t to, void *to_context, uint64_t from, void *from_context,
                         size_t bytes, void *stream)
{
    const cuda_context *a = context_or_current(to_context), *b = context_or_current(from_context);
    if (!a || !b) return CU_INVALID_CONTEXT;
    return pl_cudaMemcpyPeerAsync((void *)(uintptr_t)to, a->device, (const void *)(uintptr_t)from,
                                  b->device, bytes, stream);
}

int pl_cuStreamGetCtx(void *stream, void **out)
{
    const cuda_stream *s = cuda_stream_of(stream);
    if (!s) return CU_INVALID_HANDLE;
    if (!out) return CU_INVALID_VALUE;
    *out = (uintptr_t)stream > CUDA_STREAM_PER_THREAD ? cuda_context_handle(s->context, s->device)
                                                      : current_context();
    return CU_OK;
}

/* Returns the context or the green context of the stream; the other one is NULL. */
int pl_cuStreamGetCtx_v2(void *stream, void **out, void **green)
{
    const cuda_stream *s = cuda_stream_of(stream);
    cuda_green *g = s ? cuda_stream_green(s) : NULL;
    if (green) *green = g;
    if (!g) return pl_cuStreamGetCtx(stream, out);
    if (out) *out = NULL;
    return CU_OK;
}

int pl_cuStreamBeginCapture(void *stream)
{
    return pl_cudaStreamBeginCapture(stream, 0);
}
