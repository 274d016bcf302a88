/* app_api.c - single calls, with the results of an H100: batches of copies, copies and nodes of
 * the driver API, attributes of pointers. */
#include "tests/cudart/app.h"
#include <pthread.h>

int cudaMemcpyBatchAsync(const void **to, const void **from, const size_t *bytes, size_t count,
                         const void *attributes, const size_t *index, size_t n, void *stream);
int cudaMemcpy3DBatchAsync(size_t count, const void *list, unsigned long long flags, void *stream);
int cudaMemPrefetchBatchAsync(void **p, const size_t *bytes, size_t count, const uint64_t *location,
                              const size_t *index, size_t n, unsigned long long flags,
                              void *stream);
int cudaMemDiscardBatchAsync(void **p, const size_t *bytes, size_t count, unsigned long long flags,
                             void *stream);

/* Two copies by one call, of linear rows and of boxes. */
void batched_calls(void)
{
    struct {
        int order, hint[4];
        unsigned flags;
    } how = {.order = 1};
    struct {
        struct {
            int kind;
            void *p;
            size_t row, layer;
            int hint[2];
        } from, to;
        cuda_extent extent;
        int order;
        unsigned flags;
    } box = {.from = {.kind = 1, .row = 8}, .to = {.kind = 1}, .extent = {4, 2, 1}, .order = 1};
    int h[4] = {1, 2, 3, 4}, seen[4] = {0};
    void *d[2], *s, *managed;
    const void *from[2] = {h, h + 2};
    size_t bytes[2] = {8, 8}, first = 0;
    EXPECT(cudaStreamCreate(&s), 0);
    for (int k = 0; k < 2; k++) EXPECT(cudaMalloc(&d[k], 16), 0);
    const void *to[2] = {d[0], d[1]};
    EXPECT(cudaMemcpyBatchAsync(to, from, bytes, 2, &how, &first, 1, NULL), CU_INVALID_VALUE);
    EXPECT(cudaMemcpyBatchAsync(to, from, bytes, 2, &how, &first, 3, s), CU_INVALID_VALUE);
    EXPECT(cudaMemcpyBatchAsync(to, from, bytes, 2, &how, &first, 1, s), 0);
    EXPECT(cudaStreamSynchronize(s), 0);
    for (int k = 0; k < 2; k++) EXPECT(cudaMemcpy(seen + 2 * k, d[k], 8, COPY_D2H), 0);
    EXPECT(memcmp(seen, h, sizeof h), 0);
    box.from.p = h; /* h[0] and h[2] */
    box.to.p = d[0];
    EXPECT(cudaMemcpy3DBatchAsync(1, &box, 0, s), 0);
    EXPECT(cudaMemcpy3DBatchAsync(1, &box, 1, s), CU_INVALID_VALUE);
    EXPECT(cudaMemcpy(seen, d[0], 8, COPY_D2H), 0);
    EXPECT(seen[0] == 1 && seen[1] == 3, 1);
    const uint64_t place = 1; /* device 0 */
    EXPECT(cudaMallocManaged(&managed, 4096, 1), 0);
    bytes[0] = 4096;
    EXPECT(cudaMemPrefetchBatchAsync(&managed, bytes, 1, &place, &first, 1, 0, s), 0);
    EXPECT(cudaMemDiscardBatchAsync(&managed, bytes, 1, 0, s), 0);
    EXPECT(cudaMemDiscardBatchAsync(d, bytes, 1, 0, s), CU_INVALID_VALUE);
}

int cuInit(unsigned flags);
int cuArray3DCreate_v2(void **out, const void *params);
int cuMemcpyHtoA_v2(void *to, size_t x, const void *from, size_t bytes);
int cuMemcpyAtoH_v2(void *to, void *from, size_t x, size_t bytes);
int cuMemcpyAtoA_v2(void *to, size_t to_x, void *from, size_t from_x, size_t bytes);
int cuMemcpy3D_v2(const void *params);
int cuMemsetD2D16_v2(uint64_t to, size_t pitch, unsigned short value, size_t width, size_t height);
int cuMemsetD32_v2(uint64_t to, unsigned value, size_t n);
int cuPointerGetAttributes(unsigned n, const int *attribute, void **out, uint64_t address);
int cuGraphAddMemcpyNode(void **out, void *graph, void *const *before, size_t nbefore,
                         const void *params, void *context);
int cuGraphMemcpyNodeGetParams(void *node, void *params);
int cuGraphAddMemsetNode(void **out, void *graph, void *const *before, size_t nbefore,
                         const void *params, void *context);

/* CUDA_MEMCPY3D */
typedef struct driver_side {
    size_t x, y, z, level;
    unsigned type;
    void *host;
    uint64_t device;
    void *array, *context;
    size_t pitch, height;
} driver_side;
typedef struct driver_copy {
    driver_side from, to;
    size_t width, height, depth;
} driver_copy;

int cuDevicePrimaryCtxRetain(void **out, int device);
int cuCtxSetCurrent(void *context);
int cuCtxGetCurrent(void **out);

void app_driver(void)
{
    void *context;
    EXPECT(cuInit(0), 0);
    EXPECT(cuDevicePrimaryCtxRetain(&context, 0), 0);
    EXPECT(cuCtxSetCurrent(context), 0);
}

int cuMemAlloc_v2(uint64_t *out, size_t bytes);
int cuGraphCreate(void **out, unsigned flags);
int cudaStreamGetId(void *stream, unsigned long long *id);
int cuPointerGetAttribute(void *out, int attribute, uint64_t address);
int cuStreamGetCtx(void *stream, void **context);
int cuMemAllocAsync(uint64_t *out, size_t bytes, void *stream);
int cuMemFree_v2(uint64_t address);
int cuLaunchHostFunc(void *stream, void (*f)(void *), void *arg);
int cuEventQuery(void *event);
int cuEventRecord(void *event, void *stream);
int cuEventElapsedTime(float *ms, void *from, void *to);
int cuStreamSynchronize(void *stream);
int cuStreamGetFlags(void *stream, unsigned *flags);
int cuStreamQuery(void *stream);
int cuStreamWaitEvent(void *stream, void *event, unsigned flags);
int cuStreamWriteValue32_v2(void *stream, uint64_t address, uint32_t value, unsigned flags);
int cuMemsetD8Async(uint64_t to, unsigned char value, size_t n, void *stream);
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream);
int cuMemCreate(uint64_t *out, size_t size, const void *properties, unsigned long long flags);
int cuCtxGetId(void *context, uint64_t *id);
int cuCtxGetApiVersion(void *context, unsigned *version);
int cuProfilerStart(void);
int cuArrayGetDescriptor_v2(void *out, void *array);
int cuModuleLoadData(void **out, const void *image);
int cuModuleGetFunction(void **out, void *m, const char *name);
int cuFuncSetBlockShape(void *f, int x, int y, int z);
int cuFuncSetSharedSize(void *f, unsigned bytes);
int cuParamSetSize(void *f, unsigned bytes);
int cuParamSeti(void *f, int offset, unsigned value);
int cuParamSetf(void *f, int offset, float value);
int cuParamSetv(void *f, int offset, const void *value, unsigned bytes);
int cuLaunch(void *f);
int cuLaunchGrid(void *f, int width, int height);
int cuLaunchGridAsync(void *f, int width, int height, void *stream);
int cuFuncGetModule(void **out, void *function);
int cuFuncGetName(const char **name, void *function);
int cuFuncSetAttribute(void *function, int attribute, int value);
int cuFuncSetCacheConfig(void *function, int config);
int cuLaunchKernelEx(const void *config, void *function, void **params, void **extra);
int cuGraphAddEmptyNode(void **out, void *graph, void *const *before, size_t n);
int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active);
int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuCtxPopCurrent_v2(void **out);
int cuCtxCreate_v4(void **out, void *params, unsigned flags, int device);
int cuCtxGetFlags(unsigned *flags);
int cuCtxDestroy_v2(void *context);

/* Calls that the driver requires before others, and its information on contexts. */
void driver_contexts(void)
{
    enum { NOT_INITIALISED = 3, YIELD = 2, SPIN = 1 };
    void *c, *made;
    uint64_t d;
    unsigned flags;
    int active;
    EXPECT(cuCtxGetCurrent(&c), NOT_INITIALISED);
    EXPECT(cuInit(0), 0);
    EXPECT(cuCtxGetCurrent(&c), 0);
    EXPECT(c == NULL, 1);
    EXPECT(cuMemAlloc_v2(&d, 4), CU_INVALID_CONTEXT);
    EXPECT(cuCtxPopCurrent_v2(&c), CU_INVALID_CONTEXT);
    EXPECT(cuDevicePrimaryCtxSetFlags_v2(0, YIELD), 0);
    EXPECT(cuDevicePrimaryCtxRetain(&c, 0), 0);
    EXPECT(cuDevicePrimaryCtxGetState(0, &flags, &active), 0);
    EXPECT(flags == YIELD && active, 1);
    EXPECT(cuCtxSetCurrent(c), 0);
    EXPECT(cuDevicePrimaryCtxRelease_v2(0), 0);
    EXPECT(cuDevicePrimaryCtxRelease_v2(0), CU_INVALID_CONTEXT);
    EXPECT(cuDevicePrimaryCtxGetState(0, &flags, &active), 0);
    EXPECT(flags || active, 0);
    EXPECT(cuMemAlloc_v2(&d, 4), CU_CONTEXT_DESTROYED);
    EXPECT(cudaFree(NULL), 0); /* the runtime retains it; releases drop that too */
    EXPECT(cuMemAlloc_v2(&d, 4), 0);
    EXPECT(cuDevicePrimaryCtxRelease_v2(0), 0);
    EXPECT(cudaFree((void *)(uintptr_t)d), CU_INVALID_VALUE);
    EXPECT(cuCtxSetCurrent(NULL), 0);
    EXPECT(cuCtxCreate_v4(&made, NULL, SPIN, 0), 0);
    EXPECT(cuCtxGetFlags(&flags), 0);
    EXPECT(flags, SPIN);
    EXPECT(cuMemAlloc_v2(&d, 4), 0);
    EXPECT(cuCtxDestroy_v2(made), 0);
    EXPECT(cuCtxDestroy_v2(made), CU_CONTEXT_DESTROYED);
    EXPECT(cuMemAlloc_v2(&d, 4), CU_INVALID_CONTEXT);
}

typedef struct handles {
    void *context, *stream, *event, *before, *array, *module, *function;
    uint64_t d, pooled;
} handles;

int cudaProfilerStop(void);
int cuDeviceGet(int *device, int ordinal);
int cuDeviceGetCount(int *count);
int cuDeviceGetAttribute(int *value, int attribute, int device);

/* Operations permitted in a function that a stream calls: few, and on a stream of the program. */
static void in_host_function(void *arg)
{
    const handles *h = arg;
    uint64_t word;
    unsigned flags, value[6];
    void *out;
    float ms;
    int devices;
    cuda_prop_13 properties;
    EXPECT(cudaGetDeviceCount(&devices), 0); /* as on an H100 */
    EXPECT(devices, 1);
    EXPECT(cudaGetDeviceProperties(&properties, 0), 0);
    EXPECT(cudaEventQuery(h->event), 0);
    EXPECT(cudaEventSynchronize(h->event), 0);
    EXPECT(cudaProfilerStop(), 0);
    EXPECT(cudaMalloc(&out, 4), CU_NOT_PERMITTED);
    EXPECT(cuDeviceGet(&devices, 0), CU_NOT_PERMITTED);
    EXPECT(cuDeviceGetCount(&devices), CU_NOT_PERMITTED);
    EXPECT(cuDeviceGetAttribute(&devices, 10, 0), CU_NOT_PERMITTED);
    EXPECT(cuCtxGetCurrent(&out), CU_NOT_PERMITTED);
    EXPECT(cuEventRecord(h->event, h->stream), 0);
    EXPECT(cuEventRecord(h->event, NULL), CU_NOT_PERMITTED);
    EXPECT(cuEventQuery(h->event), 0);
    EXPECT(cuEventElapsedTime(&ms, h->before, h->before), 0);
    EXPECT(cuStreamQuery(h->stream), 0);
    EXPECT(cuStreamWaitEvent(h->stream, h->event, 0), 0);
    EXPECT(cuMemsetD8Async(h->d, 1, 16, h->stream), 0);
    EXPECT(cuMemsetD8Async(h->d, 1, 16, NULL), CU_NOT_PERMITTED);
    EXPECT(cuMemcpyHtoDAsync_v2(h->d, value, 16, h->stream), CU_NOT_PERMITTED);
    EXPECT(cuStreamWriteValue32_v2(h->stream, h->d, 1, 0), 0);
    EXPECT(cuStreamGetFlags(h->stream, &flags), 0);
    EXPECT(cuStreamGetCtx(h->stream, &out), 0);
    EXPECT(out == h->context, 1);
    EXPECT(cuStreamGetCtx(NULL, &out), CU_NOT_PERMITTED);
    EXPECT(cuArrayGetDescriptor_v2(value, h->array), 0);
    EXPECT(cuCtxGetId(h->context, &word), CU_NOT_PERMITTED);
    EXPECT(cuCtxGetApiVersion(h->context, &flags), CU_NOT_PERMITTED);
    EXPECT(cuPointerGetAttribute(&out, 1, h->d), CU_NOT_PERMITTED);
    EXPECT(cuFuncGetModule(&out, h->function), CU_NOT_PERMITTED);
    EXPECT(cuGraphCreate(&out, 0), CU_NOT_PERMITTED);
    EXPECT(cuMemCreate(&word, 2 << 20, value, 0), CU_NOT_PERMITTED);
    EXPECT(cuProfilerStart(), CU_NOT_PERMITTED);
    EXPECT(cuMemAlloc_v2(&word, 4), CU_NOT_PERMITTED);
}

/* No context is current. */
static void by_handle(handles *h)
{
    enum { CONTEXT = 1, TYPE = 2, MAX_DYNAMIC_SHARED = 8 };
    struct {
        unsigned grid[3], block[3], shared;
        void *stream, *attribute;
        unsigned attributes;
    } config = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .stream = h->stream};
    uint64_t id;
    unsigned value[6];
    void *out, *graph;
    const char *name;
    EXPECT(cuMemAllocAsync(&h->pooled, 64, h->stream), 0);
    EXPECT(cuMemAllocAsync(&id, 64, NULL), CU_INVALID_CONTEXT);
    EXPECT(cuPointerGetAttribute(&out, CONTEXT, h->pooled), 0);
    EXPECT(out == NULL, 1);
    EXPECT(cuPointerGetAttribute(&out, CONTEXT, h->d), 0);
    EXPECT(out == h->context, 1);
    EXPECT(cuPointerGetAttribute(value, TYPE, h->d), 0);
    EXPECT(cuLaunchKernelEx(&config, h->function, NULL, NULL), 0);
    config.stream = NULL;
    EXPECT(cuLaunchKernelEx(&config, h->function, NULL, NULL), CU_INVALID_CONTEXT);
    EXPECT(cuCtxGetId(h->context, &id), 0);
    EXPECT(cuCtxGetId(NULL, &id), CU_INVALID_CONTEXT);
    EXPECT(cuGraphCreate(&graph, 0), 0);
    EXPECT(cuGraphAddEmptyNode(&out, graph, NULL, 0), 0);
    EXPECT(cuFuncSetAttribute(h->function, MAX_DYNAMIC_SHARED, 1024), 0);
    EXPECT(cuFuncSetCacheConfig(h->function, 2), 0);
    EXPECT(cuFuncGetModule(&out, h->function), 0);
    EXPECT(out == h->module, 1);
    EXPECT(cuFuncGetName(&name, h->function), 0);
    EXPECT(strcmp(name, "nop"), 0);
    EXPECT(cuArrayGetDescriptor_v2(value, h->array), 0);
    EXPECT(cuProfilerStart(), CU_INVALID_CONTEXT);
}

/* A stream of the program, memory and functions have the context in which they were created, and
 * need no other; a host function may use some of them. */
void contexts_of_handles(void)
{
    enum { CONTEXT = 1, MEMPOOL = 17, BYTES = 64 << 20 }; /* the GPU lags behind the host */
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry nop() { ret; }\n";
    const struct {
        size_t width, height, depth;
        int format;
        unsigned channels, flags;
    } desc = {4, 1, 0, 1, 1, 0};
    handles h;
    void *c, *other;
    uint64_t d, pool = 1;
    EXPECT(cuInit(0), 0);
    EXPECT(cuCtxCreate_v4(&h.context, NULL, 0, 0), 0);
    EXPECT(cuMemAlloc_v2(&h.d, BYTES), 0);
    EXPECT(cudaStreamCreate(&h.stream), 0);
    EXPECT(cudaStreamCreate(&other), 0);
    EXPECT(cudaEventCreate(&h.event), 0);
    EXPECT(cudaEventCreate(&h.before), 0);
    EXPECT(cuArray3DCreate_v2(&h.array, &desc), 0);
    EXPECT(cuModuleLoadData(&h.module, text), 0);
    EXPECT(cuModuleGetFunction(&h.function, h.module, "nop"), 0);
    app_driver();
    EXPECT(cuPointerGetAttribute(&c, CONTEXT, h.d), 0);
    EXPECT(c == h.context, 1);
    EXPECT(cuStreamGetCtx(h.stream, &c), 0);
    EXPECT(c == h.context, 1);
    EXPECT(cuPointerGetAttribute(&pool, MEMPOOL, h.d), 0);
    EXPECT(pool == 0, 1);
    EXPECT(cuCtxSetCurrent(NULL), 0);
    while (!cuCtxGetCurrent(&c) && c) cuCtxSetCurrent(NULL);
    by_handle(&h);
    EXPECT(cuStreamSynchronize(h.stream), 0);
    EXPECT(cuMemsetD8Async(h.d, 1, BYTES, other), 0);
    EXPECT(cuEventRecord(h.before, other), 0);
    EXPECT(cuLaunchHostFunc(other, in_host_function, &h), 0);
    EXPECT(cuStreamSynchronize(other), 0);
    EXPECT(cuMemFree_v2(h.d), 0);
    EXPECT(cuMemAlloc_v2(&d, 64), CU_INVALID_CONTEXT);
}

/* The calls before CUDA 4: shape and parameters are set one by one, and kept. */
void set_launches(void)
{
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n"
        ".visible .entry put(.param .u64 to, .param .u32 i, .param .f32 f)\n"
        "{ .reg .b32 r<4>; .reg .f32 f<2>; .reg .b64 d<4>;\n"
        "  ld.param.u64 d1, [to]; ld.param.u32 r1, [i]; ld.param.f32 f1, [f];\n"
        "  mov.u32 r2, %tid.x; mov.u32 r3, %ctaid.y; mad.lo.u32 r2, r3, 8, r2;\n"
        "  mul.wide.u32 d2, r2, 8; add.u64 d3, d1, d2;\n"
        "  st.global.u32 [d3], r1; st.global.f32 [d3+4], f1; ret; }\n";
    void *module, *f, *d, *s;
    struct {
        unsigned i;
        float f;
    } back[16];
    app_driver();
    EXPECT(cuModuleLoadData(&module, text), 0);
    EXPECT(cuModuleGetFunction(&f, module, "put"), 0);
    EXPECT(cudaMalloc(&d, sizeof back), 0);
    EXPECT(cudaMemset(d, 0, sizeof back), 0);
    EXPECT(cudaStreamCreate(&s), 0);
    EXPECT(cuLaunch(f), CU_INVALID_VALUE); /* no shape */
    EXPECT(cuFuncSetBlockShape(f, 0, 1, 1), CU_INVALID_VALUE);
    EXPECT(cuFuncSetBlockShape(f, 2, 1, 1), 0);
    EXPECT(cuFuncSetSharedSize(f, 64), 0);
    EXPECT(cuParamSetv(f, 0, &d, sizeof d), 0);
    EXPECT(cuParamSeti(f, 8, 7), 0);
    EXPECT(cuParamSetf(f, 12, 1.5f), 0);
    EXPECT(cuParamSetv(f, 4092, &d, sizeof d), CU_INVALID_VALUE);
    EXPECT(cuParamSetSize(f, 5000), CU_INVALID_VALUE);
    EXPECT(cuParamSetSize(f, 16), 0);
    EXPECT(cuLaunchGrid(f, 1, 2), 0);
    EXPECT(cuParamSeti(f, 8, 9), 0);
    EXPECT(cuFuncSetBlockShape(f, 1, 1, 1), 0);
    EXPECT(cuLaunchGridAsync(f, 1, 1, s), 0);
    EXPECT(cudaDeviceSynchronize(), 0);
    EXPECT(cudaMemcpy(back, d, sizeof back, COPY_D2H), 0);
    EXPECT(back[0].i == 9 && back[1].i == 7 && back[8].i == 7 && back[9].i == 7, 1);
    EXPECT(back[2].i == 0 && back[9].f > 1.4f && back[9].f < 1.6f, 1);
}

int cuStreamGetCaptureInfo(void *stream, int *status, unsigned long long *id);

/* Rows of arrays, boxes, sets of rows, and a graph that sets and copies. */
void driver_copies(void)
{
    const struct {
        size_t width, height, depth;
        int format;
        unsigned channels, flags;
    } desc = {4, 1, 0, 1, 1, 0};
    const unsigned char h[4] = {1, 2, 3, 4};
    unsigned char row[4] = {0}, back[8] = {0};
    void *array, *d, *graph, *node[2], *exec;
    app_driver();
    EXPECT(cuArray3DCreate_v2(&array, &desc), 0);
    EXPECT(cuMemcpyHtoA_v2(array, 0, h, 4), 0);
    EXPECT(cuMemcpyAtoA_v2(array, 2, array, 0, 2), 0);
    EXPECT(cuMemcpyAtoH_v2(row, array, 1, 3), 0);
    EXPECT(memcmp(row, "\2\1\2", 3), 0);
    EXPECT(cuMemcpyAtoH_v2(row, array, 2, 3), CU_INVALID_VALUE);
    EXPECT(cudaMalloc(&d, 64), 0);
    EXPECT(cudaMemset(d, 0, 64), 0);
    const uint64_t at = (uintptr_t)d;
    EXPECT(cuMemsetD32_v2(at + 2, 0, 1), CU_INVALID_VALUE);
    EXPECT(cuMemsetD2D16_v2(at, 4, 0x0201, 1, 2), 0);
    EXPECT(cuMemsetD2D16_v2(at, 3, 0x0201, 1, 2), CU_INVALID_VALUE);
    driver_copy c = {.from = {.type = 2, .device = at, .pitch = 4, .height = 1},
                     .to = {.type = 1, .host = back, .pitch = 2, .height = 1, .x = 1},
                     .width = 1,
                     .height = 1,
                     .depth = 2};
    EXPECT(cuMemcpy3D_v2(&c), 0);
    EXPECT(memcmp(back, "\0\1\0\1", 4), 0);
    driver_copy one = c;
    one.from = (driver_side){.type = 3, .array = array};
    one.depth = 1;
    EXPECT(cuMemcpy3D_v2(&one), 0);
    one.from.level = 1; /* must be 0 */
    EXPECT(cuMemcpy3D_v2(&one), CU_INVALID_VALUE);
    const struct {
        uint64_t to;
        size_t pitch;
        unsigned value, element;
        size_t width, height;
    } set = {at, 0, 7, 1, 8, 1};
    driver_copy seen;
    EXPECT(cudaGraphCreate(&graph, 0), 0);
    EXPECT(cuGraphAddMemsetNode(&node[0], graph, NULL, 0, &set, NULL), 0);
    EXPECT(cuGraphAddMemcpyNode(&node[1], graph, node, 1, &c, NULL), 0);
    EXPECT(cuGraphMemcpyNodeGetParams(node[1], &seen), 0);
    EXPECT(seen.from.type == 2 && seen.from.device == at && seen.to.type == 1 && seen.depth == 2,
           1);
    EXPECT(cudaGraphInstantiate(&exec, graph, 0), 0);
    EXPECT(cudaGraphLaunch(exec, NULL), 0);
    EXPECT(cudaDeviceSynchronize(), 0);
    EXPECT(memcmp(back, "\0\7\0\7", 4), 0);
    const int attribute[] = {2, 12, 8};
    unsigned type = 9, managed = 9;
    size_t size = 9;
    void *out[] = {&type, &size, &managed};
    EXPECT(cuPointerGetAttributes(3, attribute, out, at + 8), 0);
    EXPECT(type == 2 && size == 64 && managed == 0, 1);
    EXPECT(cuPointerGetAttributes(3, attribute, out, (uintptr_t)back), 0);
    EXPECT(type == 0 && size == 64 && managed == 0, 1);
}

/* ---------------------------------------------------------------- wrong arguments */

int cudaMallocArray(void **out, const cuda_channel *channel, size_t width, size_t height,
                    unsigned flags);
int cudaMemcpy2DToArray(void *to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                        size_t height, int kind);
int cudaArrayGetPlane(void **out, void *a, unsigned plane);
int cudaCreateTextureObject(unsigned long long *out, const void *resource, const void *texture,
                            const void *view);
int cudaEventCreateWithFlags(void **event, unsigned flags);
int cudaEventRecordWithFlags(void *event, void *stream, unsigned flags);
int cudaIpcGetEventHandle(cuda_ipc *out, void *event);
int cudaIpcGetMemHandle(cuda_ipc *out, void *p);
int cudaIpcOpenMemHandle(void **out, cuda_ipc handle, unsigned flags);
int cudaIpcCloseMemHandle(void *p);
int cudaHostRegister(void *p, size_t size, unsigned flags);
int cudaHostUnregister(void *p);
int cudaDeviceGetPCIBusId(char *text, int size, int device);
int cudaDeviceGetByPCIBusId(int *device, const char *text);
int cudaSetDeviceFlags(unsigned flags);
int cudaDeviceSetLimit(int limit, size_t value);
int cudaDeviceGetLimit(size_t *value, int limit);
int cudaFuncSetAttribute(const void *function, int attribute, int value);
int cudaFuncGetAttributes(cuda_func_attributes *out, const void *function);
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int threads,
                                                  size_t shared);
int cudaOccupancyAvailableDynamicSMemPerBlock(size_t *shared, const void *function, int blocks,
                                              int threads);
int cudaLaunchKernelExC(const cuda_launch_config *c, const void *function, void **args);
int cudaStreamAttachMemAsync(void *stream, void *p, size_t bytes, unsigned flags);

static void launches_refused(void *d)
{
    unsigned value = 1;
    void *args[] = {&d, &value};
    cuda_launch_attribute a = {.id = ATTRIBUTE_CLUSTER};
    const cuda_launch_config c = {
        .grid = {16, 1, 1}, .block = {1, 1, 1}, .attribute = &a, .attributes = 1};
    const unsigned size[3] = {16, 1, 1};
    memcpy(a.value.cluster, size, sizeof size);
    EXPECT(cudaLaunchKernelExC(&c, stub_store, args), CU_INVALID_CLUSTER); /* over the limit */
    EXPECT(cudaFuncSetAttribute(stub_store, 14, 1), 0);
    EXPECT(cudaLaunchKernelExC(&c, stub_store, args), 0);
    memset(a.value.cluster, 0, sizeof size);
    EXPECT(cudaLaunchKernelExC(&c, stub_store, args), 0); /* the attribute is ignored (H200) */
    a.value.cluster[1] = 1;
    EXPECT(cudaLaunchKernelExC(&c, stub_store, args), CU_INVALID_CLUSTER);
    a = (cuda_launch_attribute){.id = ATTRIBUTE_PREFERRED_CLUSTER, .value.cluster = {4, 1, 1}};
    EXPECT(cudaLaunchKernelExC(&c, stub_store, args), CU_INVALID_CLUSTER); /* of no cluster */
    static const int wrong[][2] = {
        {9, 77}, {10, 4}, {14, 101}, {14, -2}, {14, -1}}; /* domains, carveout */
    for (int k = 0; k < 5; k++) {
        a = (cuda_launch_attribute){.id = wrong[k][0], .value.number = wrong[k][1]};
        EXPECT(cudaLaunchKernelExC(&c, stub_store, args), CU_INVALID_VALUE);
    }
    a.id = 99;
    EXPECT(cudaLaunchKernelExC(&c, stub_store, args), CU_INVALID_VALUE);
    a = (cuda_launch_attribute){.id = ATTRIBUTE_COMPLETION_EVENT};
    EXPECT(cudaEventCreateWithFlags(&a.value.event.event, 2), 0);
    a.value.event.flags = 1; /* cudaEventRecordExternal, outside of a capture */
    EXPECT(cudaLaunchKernelExC(&c, stub_store, args), CU_ILLEGAL_STATE);
    const struct {
        void *base;
        size_t bytes;
        float ratio;
        int hit, miss;
    } window = {d, 64, 1.5f, 2, 1};
    a.id = ATTRIBUTE_ACCESS_POLICY;
    memcpy(a.value.bytes, &window, sizeof window);
    EXPECT(cudaLaunchKernelExC(&c, stub_store, args), CU_INVALID_VALUE);
    EXPECT(cudaDeviceSynchronize(), 0);
}

int cudaOccupancyMaxActiveClusters(int *n, const void *function, const cuda_launch_config *c);

static void kernels_asked(void)
{
    enum { MAX_DYNAMIC = 8, CARVEOUT = 9 };
    cuda_func_attributes f;
    size_t shared = 0;
    int blocks = -1;
    EXPECT(cudaFuncSetAttribute(stub_store, 11, 2), 0); /* width of the cluster */
    EXPECT(cudaFuncGetAttributes(&f, stub_store), 0);
    EXPECT(f.cluster_width == 2 && f.nonportable_cluster == 1, 1);
    EXPECT(cudaFuncSetAttribute(stub_store, 11, 0), 0);
    EXPECT(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, stub_store, 32, 100000), 0);
    EXPECT(blocks, 0); /* the attribute does not allow this many */
    EXPECT(cudaOccupancyAvailableDynamicSMemPerBlock(&shared, stub_store, 2, 64), 0);
    EXPECT(shared, 49152);
    EXPECT(cudaOccupancyAvailableDynamicSMemPerBlock(&shared, stub_store, 32, 64), 0);
    EXPECT(shared, 7296);
    EXPECT(cudaOccupancyAvailableDynamicSMemPerBlock(&shared, stub_store, 33, 64),
           CU_INVALID_VALUE);
    /* The carve-out that the kernel prefers does not limit a single block (H100). */
    EXPECT(cudaFuncSetAttribute(stub_store, MAX_DYNAMIC, 200000), 0);
    EXPECT(cudaFuncSetAttribute(stub_store, CARVEOUT, 25), 0);
    EXPECT(cudaOccupancyAvailableDynamicSMemPerBlock(&shared, stub_store, 1, 64), 0);
    EXPECT(shared, 200000);
    EXPECT(cudaOccupancyAvailableDynamicSMemPerBlock(&shared, stub_store, 2, 64), 0);
    EXPECT(shared, 32768);
    EXPECT(cudaFuncSetAttribute(stub_store, MAX_DYNAMIC, 49152), 0);
    EXPECT(cudaFuncSetAttribute(stub_store, CARVEOUT, -1), 0);
    cuda_launch_attribute none = {.id = ATTRIBUTE_CLUSTER};
    const cuda_launch_config c = {
        .grid = {8, 1, 1}, .block = {32, 1, 1}, .attribute = &none, .attributes = 1};
    EXPECT(cudaOccupancyMaxActiveClusters(&blocks, stub_store, &c), 0);
}

static void devices_asked(void)
{
    char bus[16];
    int device;
    size_t bytes;
    EXPECT(cudaDeviceGetPCIBusId(bus, 5, 0), CU_INVALID_VALUE);
    EXPECT(cudaDeviceGetByPCIBusId(&device, "nonsense"), CU_INVALID_VALUE);
    EXPECT(cudaDeviceGetPCIBusId(bus, sizeof bus, 0), 0);
    unsigned number;
    EXPECT(sscanf(bus, "%*x:%x", &number), 1);
    EXPECT(cudaDeviceGetByPCIBusId(&device, bus), 0);
    snprintf(bus, sizeof bus, "0:%x:0", number);
    EXPECT(cudaDeviceGetByPCIBusId(&device, bus), 0);
    snprintf(bus, sizeof bus, "%02x:00.0", number);
    EXPECT(cudaDeviceGetByPCIBusId(&device, bus), 0);
    EXPECT(cudaDeviceGetByPCIBusId(&device, "0:0:1.1"), 101);
    EXPECT(cudaSetDeviceFlags(3), CU_INVALID_VALUE); /* two wait policies */
    EXPECT(cudaDeviceSetLimit(5, 300), CU_INVALID_VALUE);
    EXPECT(cudaDeviceSetLimit(6, 0), 0);
    EXPECT(cudaDeviceGetLimit(&bytes, 6), 0);
    EXPECT(bytes, 0);
    EXPECT(cudaDeviceSetLimit(6, (size_t)1 << 30), CU_INVALID_VALUE);
    EXPECT(cudaDeviceSetLimit(-1, 0), CU_INVALID_VALUE);
    EXPECT(cudaDeviceGetLimit(&bytes, -1), CU_INVALID_VALUE);
    EXPECT(cudaDeviceGetLimit(&bytes, 99), CU_INVALID_VALUE);
}

static void events_refused(void)
{
    void *e, *s;
    cuda_ipc h;
    float ms;
    EXPECT(cudaStreamCreate(&s), 0);
    EXPECT(cudaEventCreateWithFlags(&e, 4), CU_INVALID_VALUE); /* interprocess, with timing */
    EXPECT(cudaEventCreate(&e), 0);
    EXPECT(cudaIpcGetEventHandle(&h, e), CU_INVALID_HANDLE);
    EXPECT(cudaEventRecordWithFlags(e, s, 1), CU_ILLEGAL_STATE); /* external, without a capture */
    EXPECT(cudaStreamWaitEvent(s, e, 1), CU_ILLEGAL_STATE);
    void *graph;
    EXPECT(cudaStreamBeginCapture(s, 2), 0);
    EXPECT(cudaEventRecord(e, s), 0);
    EXPECT(cudaEventElapsedTime(&ms, e, e), CU_CAPTURED_EVENT);
    EXPECT(cudaStreamEndCapture(s, &graph), 0);
    EXPECT(cudaEventQuery(e), CU_INVALID_VALUE); /* the capture that recorded it has ended */
    EXPECT(cudaEventRecord(e, s), 0);
    EXPECT(cudaEventSynchronize(e), 0);
    EXPECT(cudaStreamBeginCapture(s, 0), 0);
    EXPECT(cudaStreamAttachMemAsync(s, e, 0, 1), CU_CAPTURE_UNSUPPORTED);
    int status;
    unsigned long long id = 7;
    EXPECT(cuStreamGetCaptureInfo(s, &status, &id), 0);
    EXPECT(status == 2 && id == 7, 1);
    EXPECT(cudaMallocAsync(&graph, 64, s), 901);
    EXPECT(cudaStreamEndCapture(s, &graph), 901);
}

int cuStreamWriteValue32_v2(void *stream, uint64_t address, uint32_t value, unsigned flags);
int cuStreamWriteValue64_v2(void *stream, uint64_t address, uint64_t value, unsigned flags);
int cuStreamWaitValue32_v2(void *stream, uint64_t address, uint32_t value, unsigned flags);
int cuGetProcAddress_v2(const char *name, void **out, int version, uint64_t flags, int *status);

/* Values that streams write and wait for; addresses of calls by version. */
void stream_values(void)
{
    enum { GREATER_OR_EQUAL, EQUAL, AND, NOR };
    uint64_t at;
    unsigned seen[4];
    int status;
    void *p, *older;
    app_driver();
    EXPECT(cuMemAlloc_v2(&at, 64), 0);
    EXPECT(cudaMemset((void *)(uintptr_t)at, 0, 64), 0);
    EXPECT(cuStreamWriteValue32_v2(NULL, at, 7, 0), 0);
    EXPECT(cuStreamWriteValue64_v2(NULL, at + 8, UINT64_C(0x1122334455667788), 0), 0);
    EXPECT(cuStreamWriteValue32_v2(NULL, at + 1, 7, 0), CU_INVALID_VALUE);
    EXPECT(cudaMemcpy(seen, (void *)(uintptr_t)at, sizeof seen, COPY_D2H), 0);
    EXPECT(seen[0] == 7 && seen[2] == 0x55667788 && seen[3] == 0x11223344, 1);
    EXPECT(cuStreamWaitValue32_v2(NULL, at, 7, EQUAL), 0);
    EXPECT(cuStreamWaitValue32_v2(NULL, at, 0xfffffff0, GREATER_OR_EQUAL), 0);
    EXPECT(cuStreamWaitValue32_v2(NULL, at, 3, AND), 0);
    EXPECT(cuStreamWaitValue32_v2(NULL, at, 7, 9), CU_INVALID_VALUE);
    EXPECT(cuGetProcAddress_v2("cuMemcpyBatchAsync", &p, 12000, 0, &status), 0);
    EXPECT(p == NULL && status == 2, 1); /* introduced in 12.8 */
    EXPECT(cuGetProcAddress_v2("cuMemcpyBatchAsync", &older, 12080, 0, &status), 0);
    EXPECT(cuGetProcAddress_v2("cuMemcpyBatchAsync", &p, 13000, 0, &status), 0);
    EXPECT(p && older && p != older, 1);
    EXPECT(cuGetProcAddress_v2("cuMemAlloc", &p, 13000, 99, &status), CU_INVALID_VALUE);
    EXPECT(cuGetProcAddress_v2("cudaMalloc", &p, 13000, 0, &status), 0);
    EXPECT(p == NULL && status == 1, true); /* not a driver function */
    EXPECT(cuGetProcAddress_v2("cuMemAlloc", &p, 2000, 0, &status), 0);
    EXPECT(p != NULL && p != (void *)cuMemAlloc_v2 && status == 0, true); /* addresses of 32 bits */
}

int cuGetExportTable(const void **table, const void *id);

/* Undocumented tables, none of which exist. */
void export_tables(void)
{
    static const unsigned char id[16] = {1};
    const void *table = id;
    for (int k = 0; k < 2; k++) EXPECT(cuGetExportTable(&table, id), 500);
    EXPECT(table == NULL, 1);
}

int cuDevicePrimaryCtxSetFlags(int device, unsigned flags);
int cuGLGetDevices_v2(unsigned *count, int *devices, unsigned n, int list);
int cuCtxGetDevice_v2(int *device, void *context);
int cuCtxSynchronize_v2(void *context);
int cuMemAdvise(const void *p, size_t bytes, int advice, int device);
int cuStreamBeginCapture(void *stream);
int cuStreamGetCtx_v2(void *stream, void **context, void **green);
int cuGraphAddEmptyNode(void **out, void *graph, void *const *before, size_t n);
int cuGraphAddDependencies(void *graph, void *const *from, void *const *to, size_t n);
int cuGraphRemoveDependencies(void *graph, void *const *from, void *const *to, size_t n);
int cuGraphGetEdges(void *graph, void **from, void **to, size_t *n);
int cuGraphNodeGetDependencies(void *node, void **out, size_t *n);
int cuGraphNodeGetDependentNodes(void *node, void **out, size_t *n);
int cuGraphExecUpdate(void *exec, void *graph, void **node, int *result);

/* Names without a version suffix, as looked up by programs themselves. */
void first_versions(void)
{
    enum { YIELD = 2 };
    int device = 7, status, result;
    unsigned long long id;
    void *c, *stream, *green = &c, *graph, *node[2], *exec, *p, *from[2], *to[2];
    size_t n = 2;
    EXPECT(cuInit(0), 0);
    EXPECT(cuDevicePrimaryCtxSetFlags(0, YIELD), 0);
    app_driver();
    EXPECT(cuGLGetDevices_v2(NULL, NULL, 0, 1), 801);
    EXPECT(cuCtxGetCurrent(&c), 0);
    EXPECT(cuCtxGetDevice_v2(&device, c), 0);
    EXPECT(cuCtxGetDevice_v2(&device, &n), CU_INVALID_CONTEXT);
    EXPECT(cuCtxSynchronize_v2(c), 0);
    EXPECT(cuCtxSynchronize_v2(&n), CU_INVALID_CONTEXT);
    EXPECT(cudaMallocManaged(&p, 4096, 1), 0);
    EXPECT(cuMemAdvise(p, 4096, 1, 0), 0);
    EXPECT(cudaStreamCreate(&stream), 0);
    EXPECT(cuStreamGetCtx_v2(stream, &p, &green), 0);
    EXPECT(p == c && !green && device == 0, 1);
    EXPECT(cuStreamBeginCapture(stream), 0);
    EXPECT(cuStreamGetCaptureInfo(stream, &status, &id), 0);
    EXPECT(status, 1);
    EXPECT(cudaStreamEndCapture(stream, &graph), 0);
    EXPECT(cuGraphCreate(&graph, 0), 0);
    for (int k = 0; k < 2; k++) EXPECT(cuGraphAddEmptyNode(&node[k], graph, NULL, 0), 0);
    EXPECT(cuGraphAddDependencies(graph, &node[0], &node[1], 1), 0);
    EXPECT(cuGraphGetEdges(graph, from, to, &n), 0);
    EXPECT(n == 1 && from[0] == node[0] && to[0] == node[1], 1);
    EXPECT(cuGraphNodeGetDependencies(node[1], from, &n), 0);
    EXPECT(n == 1 && from[0] == node[0], 1);
    EXPECT(cuGraphNodeGetDependentNodes(node[0], to, &n), 0);
    EXPECT(n == 1 && to[0] == node[1], 1);
    EXPECT(cudaGraphInstantiate(&exec, graph, 0), 0);
    EXPECT(cuGraphExecUpdate(exec, graph, &p, &result), 0);
    EXPECT(cuGraphRemoveDependencies(graph, &node[0], &node[1], 1), 0);
    EXPECT(cuGraphGetEdges(graph, NULL, NULL, &n), 0);
    EXPECT(n == 0, 1);
    EXPECT(cuGetProcAddress_v2("cuGraphGetEdges", &p, 12000, 0, &status), 0);
    EXPECT(p == (void *)cuGraphGetEdges, 1);
}

int cudaMemAdvise(const void *p, size_t bytes, int advice, uint64_t location);
int cudaMemPrefetchAsync(const void *p, size_t bytes, uint64_t location, unsigned flags,
                         void *stream);
int cudaMemRangeGetAttribute(void *value, size_t bytes, int attribute, const void *p, size_t n);

/* Advice for managed memory, page by page. */
void advice(void)
{
    enum { READ_MOSTLY = 1, PREFER = 3, ACCESSED_BY = 5, BYTES = 1 << 18 };
    const uint64_t device = 1, host = 2, none = 1 | UINT64_C(9) << 32;
    int value = 0, by[3];
    char *p;
    EXPECT(cudaMallocManaged((void **)&p, BYTES, 1), 0);
    EXPECT(cudaMemAdvise(p, BYTES, ACCESSED_BY, host), 0);
    EXPECT(cudaMemAdvise(p, BYTES, ACCESSED_BY, device), 0);
    EXPECT(cudaMemRangeGetAttribute(by, sizeof by, 3, p, BYTES), 0);
    EXPECT(by[0] == 0 && by[1] == -1 && by[2] == -2, 1);
    EXPECT(cudaMemAdvise(p, BYTES / 2, READ_MOSTLY, device), 0);
    EXPECT(cudaMemRangeGetAttribute(&value, 4, 1, p, BYTES / 2), 0);
    EXPECT(value, 1);
    EXPECT(cudaMemRangeGetAttribute(&value, 4, 1, p, BYTES), 0);
    EXPECT(value, 0);
    EXPECT(cudaMemPrefetchAsync(p, BYTES, host, 0, NULL), 0);
    EXPECT(cudaMemRangeGetAttribute(&value, 4, 4, p, BYTES), 0);
    EXPECT(value, -1);
    EXPECT(cudaMemAdvise(p, BYTES, PREFER, none), CU_INVALID_VALUE);
    EXPECT(cudaMemPrefetchAsync(p, BYTES, none, 0, NULL), CU_INVALID_DEVICE);
    EXPECT(cudaMemPrefetchAsync(p, 0, device, 0, NULL), CU_INVALID_VALUE);
    EXPECT(cudaMemRangeGetAttribute(&value, 8, 1, p, BYTES), CU_INVALID_VALUE);
}

int cudaStreamGetAttribute(void *stream, int attribute, void *value);
int cudaStreamSetAttribute(void *stream, int attribute, const void *value);
int cudaStreamGetPriority(void *stream, int *priority);

/* Attributes of streams: valid values, and rejected ones. */
void stream_attributes(void)
{
    enum { POLICY = 3, DOMAIN_MAP = 9 };
    union {
        char bytes[64];
        int number;
        unsigned char domain[2];
    } v = {{0}};
    int priority = 0;
    unsigned long long id = 0, legacy = 0;
    void *s;
    EXPECT(cudaStreamCreate(&s), 0);
    EXPECT(cudaStreamGetId(NULL, &legacy), 0);
    EXPECT(cudaStreamGetId(s, &id), 0);
    EXPECT(legacy == 7 && id != legacy, 1);
    EXPECT(cudaStreamGetAttribute(s, POLICY, &v), 0);
    EXPECT(v.number, -1);
    v.number = 9;
    EXPECT(cudaStreamSetAttribute(s, POLICY, &v), CU_INVALID_VALUE);
    v.number = -2;
    EXPECT(cudaStreamSetAttribute(s, ATTRIBUTE_PRIORITY, &v), 0);
    EXPECT(cudaStreamGetPriority(s, &priority), 0);
    EXPECT(priority, -2);
    EXPECT(cudaStreamGetAttribute(s, DOMAIN_MAP, &v), 0);
    EXPECT(v.domain[0] == 0 && v.domain[1] == 1, 1);
    EXPECT(cudaStreamGetAttribute(s, ATTRIBUTE_CLUSTER, &v), CU_INVALID_VALUE);
    EXPECT(cudaStreamDestroy(s), 0);
}

int cudaLibraryLoadData(void **out, const void *code, int *option, void **value, unsigned n,
                        void *library_option, void **library_value, unsigned library_n);
int cudaLibraryGetKernel(void **out, void *library, const char *name);
int cudaLibraryUnload(void *library);
int cudaMemPoolSetAttribute(void *pool, int attribute, void *value);
int cudaGetDevice(int *device);

static int seen_in_host_function;
static unsigned long thread_of_host_function;

static void look(void *unused)
{
    int device;
    seen_in_host_function = cudaGetDevice(&device);
    thread_of_host_function = (unsigned long)pthread_self();
    (void)unused;
}

/* A library with an error loads; the first use of a kernel reports it. */
static void library_with_error(void)
{
    void *library, *kernel;
    EXPECT(cudaLibraryLoadData(&library, "nonsense", NULL, NULL, 0, NULL, NULL, 0), 0);
    EXPECT(cudaLibraryGetKernel(&kernel, library, "k"), CU_INVALID_IMAGE);
    EXPECT(cudaLibraryUnload(library), 0);
}

/* A pool reserves pieces of 32 MiB, and keeps them up to its threshold. */
static void pool_reserve(void)
{
    enum { THRESHOLD = 4, RESERVED = 5, PIECE = 32 << 20 };
    void *pool, *d;
    uint64_t reserved = 0, all = UINT64_MAX;
    EXPECT(cudaDeviceGetDefaultMemPool(&pool, 0), 0);
    EXPECT(cudaMallocAsync(&d, 40 << 20, NULL), 0);
    EXPECT(cudaMemPoolGetAttribute(pool, RESERVED, &reserved), 0);
    EXPECT(reserved, 2 * PIECE);
    EXPECT(cudaMemPoolSetAttribute(pool, THRESHOLD, &all), 0); /* nothing is released */
    EXPECT(cudaFreeAsync(d, NULL), 0);
    EXPECT(cudaDeviceSynchronize(), 0);
    EXPECT(cudaMemPoolTrimTo(pool, 10 << 20), 0);
    EXPECT(cudaMemPoolGetAttribute(pool, RESERVED, &reserved), 0);
    EXPECT(reserved, PIECE);
}

/* Host functions run on a thread of their own. */
static void host_function_thread(void)
{
    void *s;
    EXPECT(cudaStreamCreate(&s), 0);
    EXPECT(cudaLaunchHostFunc(s, look, NULL), 0);
    EXPECT(cudaStreamSynchronize(s), 0);
    EXPECT(seen_in_host_function, CU_NOT_PERMITTED);
    EXPECT(thread_of_host_function != (unsigned long)pthread_self(), 1);
}

/* Work that is done later than the call that requests it. */
void deferred_work(void)
{
    library_with_error();
    pool_reserve();
    host_function_thread();
}

int cudaMalloc3DArray(void **out, const cuda_channel *channel, cuda_extent e, unsigned flags);
int cudaMallocMipmappedArray(void **out, const cuda_channel *channel, cuda_extent e,
                             unsigned levels, unsigned flags);
int cudaMipmappedArrayGetSparseProperties(void *out, void *array);
int cudaGetChannelDesc(cuda_channel *channel, const void *array);

int cudaArrayGetMemoryRequirements(void *out, void *array, int device);
int cudaMipmappedArrayGetMemoryRequirements(void *out, void *array, int device);

/* Bytes of arrays with deferred mapping (H100). */
static void deferred_arrays(void)
{
    enum { DEFERRED = 0x80 };
    const cuda_channel one = {32, 0, 0, 0, 2}, four = {32, 32, 32, 32, 2};
    struct {
        size_t bytes, alignment;
        unsigned reserved[4];
    } m;
    void *array;
    EXPECT(cudaMalloc3DArray(&array, &one, (cuda_extent){1000, 700, 0}, DEFERRED), 0);
    EXPECT(cudaArrayGetMemoryRequirements(&m, array, 0), 0);
    EXPECT(m.bytes, 3145728);
    EXPECT(cudaMalloc3DArray(&array, &four, (cuda_extent){33, 17, 9}, DEFERRED), 0);
    EXPECT(cudaArrayGetMemoryRequirements(&m, array, 0), 0);
    EXPECT(m.bytes, 262144);
    EXPECT(cudaMallocMipmappedArray(&array, &one, (cuda_extent){256, 256, 0}, 9, DEFERRED), 0);
    EXPECT(cudaMipmappedArrayGetMemoryRequirements(&m, array, 0), 0);
    EXPECT(m.bytes, 393216);
    EXPECT(m.alignment, 65536);
}

/* Normalised formats, views of other formats, and sparse arrays (H100). */
/* Limits of textures in pitched memory, and sizes of 0. */
static void pitch_limits(cuda_resource r)
{
    static const struct {
        size_t width, height, pitch;
        int error;
    } row[] = {{0, 3, 64, 0},
               {5, 0, 64, 0},
               {131072, 1, 524288, 0},
               {131073, 1, 524320, CU_INVALID_VALUE},
               {128, 65000, 512, 0},
               {128, 65001, 512, CU_INVALID_VALUE},
               {128, 2, 2097120, 0},
               {128, 2, 2097152, CU_INVALID_VALUE},
               {((size_t)1 << 32) + 5, 1, 64, CU_INVALID_VALUE}};
    const cuda_texture points = {.filter = 0};
    unsigned long long x;
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        r.u.pitch.width = row[k].width;
        r.u.pitch.height = row[k].height;
        r.u.pitch.pitch = row[k].pitch;
        EXPECT(cudaCreateTextureObject(&x, &r, &points, NULL), row[k].error);
    }
}

static void formats_and_views(void)
{
    enum { UNORM8X4 = 7, NORM_SETTING = 27, SHORT4 = 9, HALF2 = 20, FLOAT1 = 22 };
    enum { SPARSE = 0x40, GATHER = 8 };
    const cuda_channel c = {8, 8, 8, 8, UNORM8X4}, wrong = {16, 0, 0, 0, UNORM8X4},
                       pair = {32, 32, 0, 0, 2};
    struct {
        int format;
        size_t width, height, depth;
        unsigned levels[2], layers[2], reserved[16];
    } view = {.format = HALF2, .width = 4, .height = 4};
    struct {
        unsigned tile[3], tail_level;
        unsigned long long tail_bytes;
        unsigned flags, reserved[4];
    } p;
    cuda_texture t = {.filter = 0};
    cuda_resource r = {.type = RESOURCE_ARRAY};
    cuda_channel seen;
    unsigned long long x;
    void *array;
    EXPECT(cudaMallocArray(&array, &wrong, 4, 4, 0), 20);
    EXPECT(cudaMallocArray(&array, &c, 4, 4, 0), 0);
    EXPECT(cudaGetChannelDesc(&seen, array), 0);
    EXPECT(memcmp(&seen, &c, sizeof c), 0);
    r.u.array = array;
    EXPECT(cudaCreateTextureObject(&x, &r, &t, NULL), NORM_SETTING);
    t.read = 1;
    EXPECT(cudaCreateTextureObject(&x, &r, &t, NULL), 0);
    EXPECT(cudaMallocArray(&array, &pair, 4, 4, 0), 0);
    r.u.array = array;
    t.read = 0;
    EXPECT(cudaCreateTextureObject(&x, &r, &t, &view), CU_INVALID_VALUE); /* half the size */
    view.format = FLOAT1 + 1;
    EXPECT(cudaCreateTextureObject(&x, &r, &t, &view), 0);
    view.format = SHORT4; /* of floats: their fractions are given by the view, not by the mode */
    EXPECT(cudaCreateTextureObject(&x, &r, &t, &view), 0);
    t.read = 1;
    EXPECT(cudaCreateTextureObject(&x, &r, &t, &view), NORM_SETTING);
    EXPECT(cudaMallocArray(&array, &c, 40000, 8, GATHER), CU_INVALID_VALUE);
    EXPECT(cudaMallocMipmappedArray(&array, &pair, (cuda_extent){1024, 1024, 0}, 11, SPARSE), 0);
    EXPECT(cudaMipmappedArrayGetSparseProperties(&p, array), 0);
    EXPECT(p.tile[0] == 128 && p.tile[1] == 64 && p.tail_level == 4 && p.tail_bytes == 65536, 1);
    EXPECT(cudaGetChannelDesc(&seen, &p), CU_INVALID_HANDLE);
    deferred_arrays();
}

int cudaMalloc3D(cuda_pitched *out, cuda_extent extent);
int cudaImportExternalMemory(void **out, const void *description);
int cudaImportExternalSemaphore(void **out, const void *description);
int cuDeviceGetExecAffinitySupport(int *can, int type, int device);
int cudaRuntimeGetVersion(int *version);
int cudaDriverGetVersion(int *version);
int cuDriverGetVersion(int *version);
int cudaUserObjectCreate(void **out, void *p, void (*destroy)(void *), unsigned refs,
                         unsigned flags);
int cudaGraphReleaseUserObject(void *graph, void *object, unsigned count);
int cudaGraphAddNode(void **out, void *graph, void *const *before, const void *data, size_t nbefore,
                     void *params);
int cuCtxRecordEvent(void *context, void *event);
int cuEventCreate(void **out, unsigned flags);
int cuCtxPopCurrent_v2(void **out);

/* Errors of calls that take these arguments on an H100, too. */
static void refused_sizes(void)
{
    const cuda_channel c = {32, 0, 0, 0, 2};
    cuda_pitched p;
    void *array = &p;
    int can = 1;
    struct {
        int type, unused, fd[3];
        unsigned rest[20];
    } handle = {.fd = {-1}};
    EXPECT(cudaHostAlloc(&array, 64, 99), CU_INVALID_VALUE);
    EXPECT(array == NULL, 1);
    EXPECT(cuDeviceGetExecAffinitySupport(&can, 8, 0), 0);
    EXPECT(can, 0);
    EXPECT(cudaImportExternalMemory(&array, &handle), CU_INVALID_VALUE);
    EXPECT(cudaImportExternalSemaphore(&array, &handle), CU_INVALID_VALUE);
    handle.type = 1;
    EXPECT(cudaImportExternalMemory(&array, &handle), 999);
    EXPECT(cudaImportExternalSemaphore(&array, &handle), 999);
    EXPECT(cudaMalloc3D(&p, (cuda_extent){SIZE_MAX, 5, 1}), CU_INVALID_VALUE);
    EXPECT(cudaMalloc3DArray(&array, &c, (cuda_extent){16384, 16384, 16384}, 0), 2);
    EXPECT(cudaGetLastError(), 2);
    EXPECT(cuDriverGetVersion(NULL), CU_INVALID_VALUE);
    EXPECT(cudaGetLastError(), 0);
    EXPECT(cudaDriverGetVersion(NULL), CU_INVALID_VALUE);
    EXPECT(cudaGetLastError(), CU_INVALID_VALUE);
    EXPECT(cudaRuntimeGetVersion(NULL), CU_INVALID_VALUE);
    EXPECT(cudaGetLastError(), CU_INVALID_VALUE);
}

static void keep(void *p)
{
    (void)p;
}

/* A graph without references to the object, a reserved member, memory for others (H100). */
static void refused_nodes(void)
{
    enum { ALLOC = 10 };
    struct {
        int kind, reserved[3];
        union {
            long long room[29];
            struct {
                int type, handles, location[2];
                char rest[72];
                const void *access;
                size_t naccess, bytes;
                void *p;
            } alloc;
        } u;
        long long reserved2;
    } n = {.kind = 5, .reserved2 = 1};
    int access[] = {1, 9, 3};
    void *graph, *node, *object;
    EXPECT(cudaGraphCreate(&graph, 0), 0);
    EXPECT(cudaUserObjectCreate(&object, &n, keep, 1, 1), 0);
    EXPECT(cudaGraphReleaseUserObject(graph, object, 1), 0);
    EXPECT(cudaGraphAddNode(&node, graph, NULL, NULL, 0, &n), CU_INVALID_VALUE);
    n.reserved2 = 0;
    EXPECT(cudaGraphAddNode(&node, graph, NULL, NULL, 0, &n), 0);
    n.kind = ALLOC;
    n.u.alloc.type = n.u.alloc.location[0] = 1;
    n.u.alloc.bytes = 64;
    n.u.alloc.access = access;
    n.u.alloc.naccess = 1;
    EXPECT(cudaGraphAddNode(&node, graph, NULL, NULL, 0, &n), CU_INVALID_DEVICE);
    access[1] = 0;
    access[2] = 1;
    EXPECT(cudaGraphAddNode(&node, graph, NULL, NULL, 0, &n), CU_NOT_SUPPORTED);
    access[2] = 3;
    EXPECT(cudaGraphAddNode(&node, graph, NULL, NULL, 0, &n), 0);
}

/* cuCtxRecordEvent takes an event of the context only. */
static void refused_events(void)
{
    void *mine, *e;
    EXPECT(cuCtxCreate_v4(&mine, NULL, 0, 0), 0);
    EXPECT(cuEventCreate(&e, 0), 0);
    EXPECT(cuCtxRecordEvent(mine, e), 0);
    EXPECT(cuCtxPopCurrent_v2(&mine), 0);
    EXPECT(cudaEventCreate(&e), 0);
    EXPECT(cuCtxRecordEvent(mine, e), CU_INVALID_HANDLE);
}

/* Errors of an H100 for invalid calls. */
void refused(void)
{
    refused_sizes();
    refused_nodes();
    refused_events();

    const cuda_channel c = {32, 0, 0, 0, 2};
    const cuda_resource none = {.type = RESOURCE_ARRAY};
    const cuda_texture t = {.filter = 5};
    float row[4] = {0};
    unsigned long long x;
    cuda_resource r = none;
    void *array, *d, *pinned, *managed;
    cuda_ipc h;
    EXPECT(cudaMallocArray(&array, &c, 4, 1, 0), 0);
    EXPECT(cudaMemcpy2DToArray(array, 0, 0, row, 16, 16, 1, COPY_D2H), CU_INVALID_DIRECTION);
    EXPECT(cudaMallocArray(&d, &c, 4, 0, 8), CU_INVALID_VALUE); /* gather requires two dimensions */
    EXPECT(cudaArrayGetPlane(&d, array, 0), CU_INVALID_VALUE);
    EXPECT(cudaCreateTextureObject(&x, &none, &t, NULL), CU_INVALID_HANDLE);
    r.u.array = array;
    EXPECT(cudaCreateTextureObject(&x, &r, &t, NULL), CU_INVALID_VALUE);
    EXPECT(cudaMalloc(&d, 4096), 0);
    const cuda_texture points = {.filter = 0};
    r = (cuda_resource){.type = RESOURCE_LINEAR};
    r.u.linear.p = d;
    r.u.linear.channel = c;
    r.u.linear.bytes = 3;
    EXPECT(cudaCreateTextureObject(&x, &r, &points, NULL), 0); /* less than a texel is allowed, */
    r.u.linear.bytes = (size_t)1 << 29;
    EXPECT(cudaCreateTextureObject(&x, &r, &points, NULL), 0); /* and more than the memory has */
    r.u.linear.bytes = (size_t)1 << 40;
    EXPECT(cudaCreateTextureObject(&x, &r, &points, NULL), CU_INVALID_VALUE);
    r = (cuda_resource){.type = RESOURCE_PITCH};
    r.u.pitch.p = d;
    r.u.pitch.channel = c;
    r.u.pitch.width = 16;
    r.u.pitch.height = 8;
    r.u.pitch.pitch = 32;
    EXPECT(cudaCreateTextureObject(&x, &r, &points, NULL), 0); /* and so are rows that overlap */
    r.u.pitch.pitch = 0;
    EXPECT(cudaCreateTextureObject(&x, &r, &points, NULL), 0);
    r.u.pitch.pitch = 100;
    EXPECT(cudaCreateTextureObject(&x, &r, &points, NULL), CU_INVALID_VALUE);
    pitch_limits(r);
    formats_and_views();
    EXPECT(cudaIpcCloseMemHandle(d), CU_INVALID_VALUE); /* it belongs to no other process */
    EXPECT(cudaIpcGetMemHandle(&h, d), 0);
    EXPECT(cudaIpcOpenMemHandle(&pinned, h, 0), CU_INVALID_VALUE);
    EXPECT(cudaMallocManaged(&managed, 0, 1), 0);
    EXPECT(managed == NULL, 1);
    EXPECT(cudaHostAlloc(&pinned, 4096, 0), 0);
    EXPECT(cudaHostRegister(pinned, 4096, 0), CU_INVALID_VALUE);
    EXPECT(cudaHostUnregister(pinned), CU_INVALID_VALUE);
    launches_refused(d);
    kernels_asked();
    devices_asked();
    events_refused();
}

int cudaGraphAddMemsetNode(void **out, void *graph, void *const *before, size_t nbefore,
                           const void *params);
int cudaGraphAddEmptyNode(void **out, void *graph, void *const *before, size_t nbefore);
int cudaGraphAddChildGraphNode(void **out, void *graph, void *const *before, size_t nbefore,
                               void *child);
int cudaGraphChildGraphNodeGetGraph(void *node, void **out);
int cudaGraphKernelNodeSetParams(void *node, const void *params);
int cudaGraphExecMemsetNodeSetParams(void *exec, void *node, const void *params);
int cudaGraphExecMemcpyNodeSetParams1D(void *exec, void *node, void *to, const void *from,
                                       size_t bytes, int kind);
int cudaGraphExecChildGraphNodeSetParams(void *exec, void *node, void *child);
int cudaGraphNodeSetEnabled(void *exec, void *node, unsigned enabled);
int cudaGraphRemoveDependencies(void *graph, void *const *from, void *const *to, const void *data,
                                size_t n);
int cudaGraphKernelNodeGetAttribute(void *node, int attribute, void *value);
int cudaGraphExecUpdate(void *exec, void *graph, void *info);
int cudaGraphInstantiateWithParams(void **out, void *graph, void *params);

typedef struct set_params {
    void *p;
    size_t pitch;
    unsigned value, element;
    size_t width, height;
} set_params;

/* Changes of graphs that an H100 rejects, and its errors. */
void graphs_refused(void)
{
    kernel_params kernel = {stub_nop, {1, 1, 1}, {1, 1, 1}, 0, NULL, NULL};
    set_params set = {.element = 4, .width = 1, .height = 1};
    struct {
        int result;
        void *node, *from;
    } update;
    struct {
        unsigned long long flags;
        void *upload, *node;
        int result;
    } how = {0x100, NULL, NULL, 0};
    void *d, *g, *child, *inside, *node[5], *exec, *some[2], *other;
    int h = 0;
    char value[64];
    EXPECT(cudaMalloc(&d, 64), 0);
    EXPECT(cudaGraphCreate(&g, 0), 0);
    EXPECT(cudaGraphCreate(&child, 0), 0);
    EXPECT(cudaGraphAddEmptyNode(&node[0], child, NULL, 0), 0);
    set.p = d;
    EXPECT(cudaGraphAddKernelNode(&node[0], g, NULL, 0, &kernel), 0);
    EXPECT(cudaGraphAddMemsetNode(&node[1], g, node, 1, &set), 0);
    EXPECT(cudaGraphAddMemcpyNode1D(&node[2], g, &node[1], 1, &h, d, 4, COPY_D2H), 0);
    EXPECT(cudaGraphAddChildGraphNode(&node[3], g, &node[2], 1, child), 0);
    EXPECT(cudaGraphAddEmptyNode(&node[4], g, &node[3], 1), 0);
    size_t n = 2;
    EXPECT(cudaGraphGetNodes(g, some, &n), 0);
    EXPECT(n, 2);
    EXPECT(cudaGraphRemoveDependencies(g, &node[0], &node[2], NULL, 1), CU_INVALID_VALUE);
    EXPECT(cudaGraphChildGraphNodeGetGraph(node[3], &inside), 0);
    EXPECT(cudaGraphDestroy(inside), CU_INVALID_VALUE);
    EXPECT(cudaGraphKernelNodeGetAttribute(node[1], 8, value), CU_INVALID_VALUE);
    kernel.block.x = 5000;
    EXPECT(cudaGraphKernelNodeSetParams(node[0], &kernel), CU_INVALID_VALUE);
    EXPECT(cudaGraphInstantiateWithParams(&exec, g, &how), CU_INVALID_VALUE);
    EXPECT(cudaGraphInstantiate(&exec, g, 0), 0);
    set.height = 2; /* two rows */
    EXPECT(cudaGraphExecMemsetNodeSetParams(exec, node[1], &set), CU_INVALID_VALUE);
    EXPECT(cudaGraphExecMemcpyNodeSetParams1D(exec, node[2], (char *)d + 8, d, 4, COPY_D2D),
           CU_INVALID_VALUE);
    EXPECT(cudaGraphAddEmptyNode(&inside, child, NULL, 0), 0);
    EXPECT(cudaGraphExecChildGraphNodeSetParams(exec, node[3], child), 910);
    EXPECT(cudaGraphNodeSetEnabled(exec, node[4], 0), CU_INVALID_VALUE);
    EXPECT(cudaGraphCreate(&other, 0), 0);
    for (int k = 0; k < 5; k++)
        EXPECT(cudaGraphAddEmptyNode(&node[k], other, k ? &node[k - 1] : NULL, k > 0), 0);
    EXPECT(cudaGraphExecUpdate(exec, other, &update), 910);
    EXPECT(update.result == 3 && update.node == node[3], 1); /* the last one of another type */
    EXPECT(cudaGraphLaunch(exec, NULL), 0);
    EXPECT(cudaDeviceSynchronize(), 0);
}
