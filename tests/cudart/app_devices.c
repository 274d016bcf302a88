/* app_devices.c - tests of two devices: `ptxloom exec --devices 2`. */
#include "tests/cudart/app.h"
#include <math.h>

int cudaSetDevice(int device);
int cudaGetDevice(int *device);
int cudaMemGetInfo(size_t *unused, size_t *total);
int cudaDeviceCanAccessPeer(int *can, int device, int peer);
int cudaDeviceEnablePeerAccess(int peer, unsigned flags);
int cudaDeviceDisablePeerAccess(int peer);
int cudaDeviceGetP2PAttribute(int *value, int k, int from, int to);
int cudaFuncGetAttributes(cuda_func_attributes *out, const void *function);
int cudaFuncSetAttribute(const void *function, int attribute, int value);
int cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes);
int cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
                        void *stream);
int cudaDeviceSetMemPool(int device, void *pool);
int cudaMemPoolSetAccess(void *pool, const void *access, size_t n);
int cudaMemPoolGetAccess(int *flags, void *pool, void *location);
int cudaStreamGetDevice(void *stream, int *device);
int cuDeviceGet(int *device, int ordinal);
int cuCtxCreate_v2(void **out, unsigned flags, int device);
int cuCtxDestroy_v2(void *context);
int cuCtxSetCurrent(void *context);
int cuCtxGetCurrent(void **out);
int cuCtxGetDevice(int *device);
int cuCtxPushCurrent_v2(void *context);
int cuCtxPopCurrent_v2(void **out);
int cuCtxEnablePeerAccess(void *context, unsigned flags);
int cuDevicePrimaryCtxRetain(void **out, int device);
int cuMemAlloc_v2(uint64_t *out, size_t bytes);

static void store(void *to, unsigned value, void *stream)
{
    void *args[] = {&to, &value};
    EXPECT(cudaLaunchKernel(stub_store, shape(1), shape(1), args, 0, stream), 0);
}

static unsigned fetch(const void *from)
{
    unsigned value = 0;
    EXPECT(cudaMemcpy(&value, from, sizeof value, COPY_DEFAULT), 0);
    return value;
}

static void *memory_on(int device, size_t bytes)
{
    void *p;
    EXPECT(cudaSetDevice(device), 0);
    EXPECT(cudaMalloc(&p, bytes), 0);
    return p;
}

/* Each device has its own memory, streams and variables. */
void devices(void)
{
    int n = 0, total = -1;
    size_t before[2], after[2], all;
    cuda_pointer_attributes a;
    void *p[2], *s, *e, *f;
    float ms;
    EXPECT(cudaGetDeviceCount(&n), 0);
    EXPECT(n, 2);
    EXPECT(cudaSetDevice(2), CU_INVALID_DEVICE);
    EXPECT(cudaSetDevice(-1), CU_INVALID_DEVICE);
    for (int k = 0; k < 2; k++) {
        EXPECT(cudaSetDevice(k), 0);
        EXPECT(cudaMemGetInfo(&before[k], &all), 0);
    }
    for (int k = 0; k < 2; k++) {
        p[k] = memory_on(k, (size_t)(k + 1) << 20);
        EXPECT(cudaMemGetInfo(&after[k], &all), 0);
        EXPECT(before[k] - after[k], 2 << 20); /* the driver's unit */
        EXPECT(cudaPointerGetAttributes(&a, p[k]), 0);
        EXPECT(a.device, k);
        store(p[k], 40 + (unsigned)k, NULL);
        void *args[] = {&p[k]};
        EXPECT(cudaLaunchKernel(stub_count, shape((unsigned)k + 1), shape(32), args, 0, NULL), 0);
        EXPECT(cudaMemcpyFromSymbol(&total, shadow_total, 4, 0, COPY_D2H), 0);
        EXPECT(total, 32 * (k + 1));
    }
    EXPECT(*managed_number, 7 + 32 + 64); /* a single instance */
    EXPECT(cudaDeviceReset(), 0);
    EXPECT(cudaSetDevice(0), 0);
    EXPECT(cudaMemcpyFromSymbol(&total, shadow_total, 4, 0, COPY_D2H), 0);
    EXPECT(cudaFree(p[1]), CU_INVALID_VALUE);
    EXPECT(cudaFree(p[0]), 0);

    /* As on two H100s (tests/data/micro/peer.tsv): a kernel runs on the device of its stream;
     * events belong to devices. */
    p[0] = memory_on(0, 4);
    EXPECT(cudaStreamCreate(&s), 0);
    EXPECT(cudaEventCreate(&f), 0);
    EXPECT(cudaSetDevice(1), 0);
    store(p[0], 5, s);
    EXPECT(cudaStreamGetDevice(s, &n), 0);
    EXPECT(n, 0);
    EXPECT(cudaGetDevice(&n), 0);
    EXPECT(n, 1);
    EXPECT(fetch(p[0]), 5);
    EXPECT(cudaEventCreate(&e), 0);
    EXPECT(cudaEventRecord(e, s), CU_INVALID_HANDLE);
    EXPECT(cudaEventRecord(e, NULL), 0);
    EXPECT(cudaEventRecord(f, s), 0);
    EXPECT(cudaStreamWaitEvent(s, e, 0), 0);
    EXPECT(cudaEventElapsedTime(&ms, e, f), CU_INVALID_HANDLE);
    cudaGetLastError();
}

/* Access to the memory of the other device, and copies. */
void peers(void)
{
    int can = -1;
    void *p[2];
    for (int k = 0; k < 2; k++) p[k] = memory_on(k, 1 << 20);
    EXPECT(cudaDeviceCanAccessPeer(&can, 0, 1), 0);
    EXPECT(can, 1);
    EXPECT(cudaDeviceCanAccessPeer(&can, 1, 1), 0);
    EXPECT(can, 0);
    EXPECT(cudaDeviceCanAccessPeer(&can, 0, 2), CU_INVALID_DEVICE);
    for (int k = 1; k <= 4; k++) {
        EXPECT(cudaDeviceGetP2PAttribute(&can, k, 0, 1), 0);
        EXPECT(can, k > 1);
    }
    EXPECT(cudaDeviceDisablePeerAccess(0), CU_PEER_NOT_ENABLED);
    EXPECT(cudaDeviceEnablePeerAccess(1, 0), CU_PEER_UNSUPPORTED);
    EXPECT(cudaDeviceEnablePeerAccess(0, 1), CU_INVALID_VALUE);
    EXPECT(cudaMemset(p[0], 1, 4), CU_INVALID_VALUE); /* the device of the stream sets the memory */
    EXPECT(cudaMemset(p[1], 1, 4), 0);
    EXPECT(cudaDeviceEnablePeerAccess(0, 0), 0);
    EXPECT(cudaMemset(p[0], 1, 4), 0);
    EXPECT(fetch(p[0]), 0x01010101);
    EXPECT(cudaDeviceEnablePeerAccess(0, 0), CU_PEER_ENABLED);
    store(p[0], 7, NULL); /* by device 1 */
    EXPECT(fetch(p[0]), 7);
    void *later = memory_on(0, 4);
    EXPECT(cudaSetDevice(1), 0);
    store(later, 8, NULL);
    EXPECT(fetch(later), 8);
    EXPECT(cudaMemcpyPeer(p[1], 1, p[0], 0, 4), 0);
    EXPECT(fetch(p[1]), 7);
    EXPECT(cudaMemcpyPeer(p[1], 2, p[0], 0, 4), CU_INVALID_DEVICE);
    EXPECT(cudaMemcpyPeerAsync(p[1], 1, later, 0, 4, NULL), 0);
    EXPECT(fetch(p[1]), 8);
    EXPECT(cudaDeviceDisablePeerAccess(0), 0);
    store(p[0], 9, NULL);
    EXPECT(cudaDeviceSynchronize(), CU_ILLEGAL_ADDRESS);
    EXPECT(cudaSetDevice(0), 0);
    EXPECT(cudaDeviceSynchronize(), CU_ILLEGAL_ADDRESS);
    EXPECT(cudaDeviceReset(), 0);
    EXPECT(cudaDeviceSynchronize(), CU_UNAVAILABLE);
    EXPECT(cudaSetDevice(1), 0);
    EXPECT(cudaDeviceSynchronize(), CU_ILLEGAL_ADDRESS);
    EXPECT(cudaSetDevice(0), CU_UNAVAILABLE);
    EXPECT(cudaDeviceSynchronize(), CU_UNAVAILABLE);
}

/* Variables of the other device: kernels access them like its memory, whether the module is
 * loaded before access is enabled or after it, and also after it is reloaded. */
void peer_variables(void)
{
    void *total[2];
    int seen = 0;
    EXPECT(cudaSetDevice(0), 0);
    EXPECT(cudaGetSymbolAddress(&total[0], shadow_total), 0);
    EXPECT(cudaDeviceEnablePeerAccess(1, 0), 0);
    EXPECT(cudaSetDevice(1), 0);
    EXPECT(cudaDeviceEnablePeerAccess(0, 0), 0);
    EXPECT(cudaGetSymbolAddress(&total[1], shadow_total), 0);
    for (int k = 0; k < 2; k++) {
        EXPECT(cudaSetDevice(!k), 0);
        store(total[k], 50 + (unsigned)k, NULL);
        EXPECT(cudaDeviceSynchronize(), 0);
        EXPECT(fetch(total[k]), 50 + k);
        EXPECT(cudaSetDevice(k), 0);
        EXPECT(cudaMemcpyFromSymbol(&seen, shadow_total, 4, 0, COPY_D2H), 0);
        EXPECT(seen, 50 + k);
    }
    EXPECT(cudaDeviceReset(), 0); /* of device 1: its access ends, that of device 0 does not */
    EXPECT(cudaGetSymbolAddress(&total[1], shadow_total), 0);
    EXPECT(fetch(total[1]), 0);
    EXPECT(fetch(total[0]), 50);
    EXPECT(cudaSetDevice(0), 0);
    store(total[1], 60, NULL);
    EXPECT(cudaDeviceSynchronize(), 0);
    EXPECT(fetch(total[1]), 60);
    EXPECT(cudaDeviceDisablePeerAccess(1), 0);
    store(total[1], 61, NULL);
    EXPECT(cudaDeviceSynchronize(), CU_ILLEGAL_ADDRESS);
}

/* Attributes of kernels belong to devices, and stay when the device is reset. */
void device_attributes(void)
{
    enum { MAX_DYNAMIC_SHARED = 8, CARVEOUT = 9 };
    static const int bytes[2] = {70000, 49152}, carveout[2] = {-1, 50};
    cuda_func_attributes a;
    EXPECT(cudaSetDevice(1), 0);
    EXPECT(cudaFuncSetAttribute(stub_store, CARVEOUT, 50), 0);
    EXPECT(cudaSetDevice(0), 0);
    EXPECT(cudaFuncSetAttribute(stub_store, MAX_DYNAMIC_SHARED, 70000), 0);
    EXPECT(cudaDeviceReset(), 0);
    for (int k = 0; k < 2; k++) {
        unsigned value = 1, *p = memory_on(k, 4);
        void *args[] = {&p, &value};
        EXPECT(cudaFuncGetAttributes(&a, stub_store), 0);
        EXPECT(a.max_dynamic_shared, bytes[k]);
        EXPECT(a.carveout, carveout[k]);
        EXPECT(cudaLaunchKernel(stub_store, shape(1), shape(1), args, 60000, NULL),
               k ? CU_INVALID_VALUE : 0);
        EXPECT(cudaDeviceSynchronize(), 0);
    }
}

/* Pools belong to devices; access is granted for each pool. */
void device_pools(void)
{
    struct {
        int type, device, flags;
    } access = {1, 1, 3};
    int flags = -1, where[2] = {1, 1};
    void *pool[2], *p;
    for (int k = 0; k < 2; k++) EXPECT(cudaDeviceGetDefaultMemPool(&pool[k], k), 0);
    EXPECT(pool[0] != pool[1], 1);
    EXPECT(cudaDeviceSetMemPool(1, pool[0]), CU_INVALID_VALUE);
    EXPECT(cudaMallocAsync(&p, 4, NULL), 0);
    EXPECT(cudaMemPoolGetAccess(&flags, pool[0], where), 0);
    EXPECT(flags, 0);
    EXPECT(cudaMemPoolSetAccess(pool[0], &access, 1), 0);
    EXPECT(cudaMemPoolGetAccess(&flags, pool[0], where), 0);
    EXPECT(flags, 3);
    EXPECT(cudaSetDevice(1), 0);
    store(p, 11, NULL);
    EXPECT(fetch(p), 11);
    EXPECT(cudaFreeAsync(p, NULL), 0);
}

/* Contexts of the driver API refer to devices, and each thread has a stack of them. */
void device_contexts(void)
{
    int device = -1;
    void *made, *primary, *now;
    uint64_t p;
    cuda_pointer_attributes a;
    app_driver();
    EXPECT(cuDeviceGet(&device, 1), 0);
    EXPECT(cuDeviceGet(&device, 2), CU_INVALID_DEVICE);
    EXPECT(cuDevicePrimaryCtxRetain(&primary, 0), 0);
    EXPECT(cuCtxSetCurrent(primary), 0);
    EXPECT(cuCtxCreate_v2(&made, 0, 1), 0);
    EXPECT(cuCtxGetDevice(&device), 0);
    EXPECT(device, 1);
    EXPECT(cuMemAlloc_v2(&p, 4), 0);
    EXPECT(cudaPointerGetAttributes(&a, (void *)(uintptr_t)p), 0);
    EXPECT(a.device, 1);
    EXPECT(cuCtxEnablePeerAccess(primary, 0), 0);
    EXPECT(cuCtxEnablePeerAccess(primary, 0), CU_PEER_ENABLED);
    EXPECT(cuCtxPushCurrent_v2(primary), 0);
    EXPECT(cuCtxGetDevice(&device), 0);
    EXPECT(device, 0);
    EXPECT(cuCtxPopCurrent_v2(&now), 0);
    EXPECT(now == primary, 1);
    EXPECT(cuCtxGetCurrent(&now), 0);
    EXPECT(now == made, 1);
    EXPECT(cuCtxDestroy_v2(made), 0);
    EXPECT(cuCtxGetCurrent(&now), 0);
    EXPECT(now == primary, 1);
    EXPECT(cuCtxDestroy_v2(made), CU_CONTEXT_DESTROYED);
    EXPECT(cuCtxPushCurrent_v2(&p), CU_INVALID_CONTEXT);
}

/* ---------------------------------------------------------------- the clock */

typedef struct transfer {
    char *p[2];
    size_t n;
    void *stream;
    int enabled; /* peer access: rows with it enabled */
} transfer;

static void copy(void *ctx, void *stream)
{
    const transfer *t = ctx;
    EXPECT(cudaMemcpyPeerAsync(t->p[1], 1, t->p[0], 0, t->n, stream), 0);
}

static double peer_time(void *ctx, const char *name, size_t n)
{
    static const char *const recorded[] = {"events peer copy disabled", "events peer copy enabled"};
    transfer *t = ctx;
    t->n = n;
    for (int k = 0; k < 2; k++) {
        if (strcmp(name, recorded[k]) != 0) continue;
        if (k && !t->enabled++) EXPECT(cudaDeviceEnablePeerAccess(1, 0), 0);
        return app_between(t->stream, copy, t);
    }
    return -1;
}

/* $APP_TRANSFERS is tests/data/micro/peer.tsv, the machine is the H100: within 10 % on average,
 * and none off by more than 30 %. */
void peer_transfers(void)
{
    enum { MOST = 64 << 20 };
    transfer t = {.enabled = 0};
    for (int k = 1; k >= 0; k--) t.p[k] = memory_on(k, MOST);
    EXPECT(cudaStreamCreateWithFlags(&t.stream, 1), 0);
    const row_errors e = app_compare_rows(MOST, peer_time, &t);
    EXPECT(e.rows, 18);
    EXPECT(e.worst < 0.3, 1);
    EXPECT(e.mean < 0.1, 1);
}
