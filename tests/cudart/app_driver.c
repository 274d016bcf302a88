/* app_driver.c - green contexts, device-updatable kernel nodes, recorded tables of errors and
 * occupancy, tensor maps, flags of contexts. */
#include "tests/cudart/app.h"
#include <signal.h>
#include <sys/resource.h>
#include <time.h>

int cudaStreamUpdateCaptureDependencies(void *stream, void **node, const void *data, size_t n,
                                        unsigned flags);
int cudaStreamBeginCaptureToGraph(void *stream, void *graph, void *const *before, const void *data,
                                  size_t n, int mode);
int cudaThreadExchangeStreamCaptureMode(int *mode);
int cuMemAddressReserve(uint64_t *out, size_t size, size_t alignment, uint64_t at,
                        unsigned long long flags);
int cuMemCreate(uint64_t *out, size_t size, const void *properties, unsigned long long flags);
int cuMemMap(uint64_t address, size_t size, size_t offset, uint64_t handle,
             unsigned long long flags);
int cuMemUnmap(uint64_t address, size_t size);
int cuMemSetAccess(uint64_t address, size_t size, const void *access, size_t n);
int cuMemAllocFromPoolAsync(uint64_t *out, size_t bytes, void *pool, void *stream);
int cuMemPoolCreate(void **out, const void *properties);
int cuMemPoolSetAccess(void *pool, const void *access, size_t n);
int cuPointerGetAttribute(void *out, int attribute, uint64_t address);
int cuStreamWriteValue32_v2(void *stream, uint64_t address, uint32_t value, unsigned flags);
int cudaStreamAttachMemAsync(void *stream, void *p, size_t bytes, unsigned flags);
int cudaDeviceFlushGPUDirectRDMAWrites(int target, int scope);
int cuCtxCreate_v4(void **out, void *params, unsigned flags, int device);
int cuCtxSetFlags(unsigned flags);
int cuCtxGetFlags(unsigned *flags);
int cuCtxAttach(void **out, unsigned flags);
int cuCtxDetach(void *context);
int cuCtxGetExecAffinity(void *out, int type);
int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags);
int cuDeviceGetProperties(void *out, int device);
int cuTensorMapEncodeIm2col(void *map, int type, unsigned rank, void *address, const uint64_t *dim,
                            const uint64_t *stride, const int *lower, const int *upper,
                            unsigned channels, unsigned pixels, const uint32_t *element_stride,
                            int interleave, int swizzle, int promotion, int fill);
int cuTensorMapEncodeIm2colWide(void *map, int type, unsigned rank, void *address,
                                const uint64_t *dim, const uint64_t *stride, int lower, int upper,
                                unsigned channels, unsigned pixels, const uint32_t *element_stride,
                                int interleave, int mode, int swizzle, int promotion, int fill);
int cuTensorMapReplaceAddress(void *map, void *address);
const char *cudaGetErrorString(int error);
int cuGetErrorName(int error, const char **name);
int cuGetErrorString(int error, const char **text);
int cudaOccupancyMaxPotentialClusterSize(int *size, const void *f, const cuda_launch_config *c);
int cudaOccupancyMaxActiveClusters(int *n, const void *f, const cuda_launch_config *c);
int cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *f, int blocks,
                                              int threads);
int cudaFuncSetAttribute(const void *f, int attribute, int value);
int cuOccupancyMaxPotentialBlockSize(int *grid, int *block, const void *f, void *shared_of,
                                     size_t shared, int most);
int cudaGetFuncBySymbol(void **f, const void *symbol);
int cuGraphCreate(void **out, unsigned flags);
int cuGraphAddKernelNode_v2(void **out, void *graph, void *const *before, size_t n,
                            const void *params);
int cuGraphKernelNodeSetAttribute(void *node, int attribute, const void *value);
int cuGraphKernelNodeGetAttribute(void *node, int attribute, void *value);
int cuGraphKernelNodeCopyAttributes(void *to, void *from);
int cuGraphDestroyNode(void *node);
int cuGraphInstantiateWithFlags(void **out, void *graph, unsigned long long flags);
int cuGraphExecUpdate_v2(void *exec, void *graph, void *info);
int cuGraphLaunch(void *exec, void *stream);
int cuGraphExecDestroy(void *exec);
int cudaLaunchKernelExC(const void *config, const void *function, void **args);
int cuModuleLoadData(void **out, const void *image);
int cuModuleGetFunction(void **out, void *m, const char *name);
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void *stream, void **params, void **extra);
int cuLaunchCooperativeKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                              unsigned by, unsigned bz, unsigned shared, void *stream,
                              void **params);
int cuCtxPushCurrent_v2(void *context);
int cuCtxPopCurrent_v2(void **out);
int cuCtxGetCurrent(void **out);
int cuCtxDestroy_v2(void *context);
int cuStreamGetCtx(void *stream, void **context);
int cuStreamGetCtx_v2(void *stream, void **context, void **green);
int cuEventRecord(void *event, void *stream);
int cuEventCreate(void **event, unsigned flags);
int cuDeviceGetDevResource(int device, void *out, int type);
int cuCtxGetDevResource(void *context, void *out, int type);
int cuGreenCtxGetDevResource(void *green, void *out, int type);
int cuDevSmResourceSplitByCount(void *result, unsigned *groups, const void *input, void *remaining,
                                unsigned flags, unsigned count);
int cuDevResourceGenerateDesc(void **out, void *resources, unsigned n);
int cuGreenCtxCreate(void **out, void *descriptor, int device, unsigned flags);
int cuGreenCtxDestroy(void *green);
int cuCtxFromGreenCtx(void **out, void *green);
int cuGreenCtxStreamCreate(void **stream, void *green, unsigned flags, int priority);
int cuGreenCtxRecordEvent(void *green, void *event);
int cuGreenCtxWaitEvent(void *green, void *event);
int cuGreenCtxGetId(void *green, uint64_t *id);
int cuStreamGetGreenCtx(void *stream, void **green);

/* CUdevResource */
typedef struct resource {
    int type, internal[23];
    unsigned sms, least, alignment, more[9];
} resource;

enum { SM = 1, GROUPS = 17, INVALID_TYPE = 914, INVALID_RESOURCES = 915 };

/* Counts the blocks of each SM, and takes some time. */
static const char where[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry where(.param .u64 to, .param .u32 n)\n"
    "{ .reg .pred p; .reg .b32 r<5>; .reg .b64 d<3>;\n"
    "  ld.param.u64 d1, [to]; mov.u32 r1, %smid; mul.wide.u32 d2, r1, 4; add.u64 d1, d1, d2;\n"
    "  red.global.add.u32 [d1], 1; ld.param.u32 r2, [n]; mov.u32 r3, 0;\n"
    "  again: add.u32 r3, r3, 1; setp.lt.u32 p, r3, r2; @p bra again; ret; }\n";

/* Number of SMs with blocks; each must have `blocks`. */
static int sms_used(int *seen, int blocks)
{
    int n = 0;
    for (int k = 0; k < 256; k++) {
        blocks -= seen[k];
        n += seen[k] > 0;
        seen[k] = 0;
    }
    return blocks ? -1 : n;
}

/* The splits of 132 SMs, as on an H200. */
static void green_resources(resource group[GROUPS])
{
    resource all, rest;
    unsigned n = GROUPS;
    EXPECT(cuDeviceGetDevResource(1, &all, SM), CU_INVALID_DEVICE);
    EXPECT(cuDeviceGetDevResource(0, NULL, SM), CU_INVALID_VALUE);
    EXPECT(cuDeviceGetDevResource(0, &all, 0), INVALID_TYPE);
    EXPECT(cuDeviceGetDevResource(0, &all, SM), 0);
    EXPECT(all.type == SM && all.sms == 132 && all.least == 8 && all.alignment == 8, 1);
    EXPECT(cuDevSmResourceSplitByCount(NULL, &n, &all, NULL, 0, 9), 0);
    EXPECT(n, 8);
    EXPECT(cuDevSmResourceSplitByCount(NULL, &n, &all, NULL, 0, 133), INVALID_RESOURCES);
    EXPECT(cuDevSmResourceSplitByCount(NULL, &n, &all, NULL, 1, 5), 0);
    EXPECT(n, 22);
    EXPECT(cuDevSmResourceSplitByCount(NULL, &n, &all, NULL, 3, 1), CU_INVALID_VALUE);
    EXPECT(cuDevSmResourceSplitByCount(NULL, &n, &all, NULL, 0, 132), 0);
    EXPECT(n, 1);
    n = 0;
    EXPECT(cuDevSmResourceSplitByCount(group, &n, &all, NULL, 0, 8), CU_INVALID_VALUE);
    n = 2;
    EXPECT(cuDevSmResourceSplitByCount(group, &n, &all, &rest, 0, 17), 0);
    EXPECT(n == 2 && group[1].sms == 24 && !group[1].alignment && rest.sms == 84, 1);
    n = GROUPS;
    EXPECT(cuDevSmResourceSplitByCount(group, &n, &all, &rest, 0, 0), 0);
    EXPECT(n == 15 && group[14].sms == 8 && rest.sms == 12, 1);
    EXPECT(cuDevSmResourceSplitByCount(NULL, &n, group, NULL, 0, 0), INVALID_RESOURCES);
}

/* A green context of two groups, and one of a third. */
static void green_make(resource group[GROUPS], void *green[2], void *stream[2])
{
    void *descriptor[2];
    resource r;
    uint64_t id[2];
    resource wrong[2] = {group[0]};
    EXPECT(cuDeviceGetDevResource(0, &wrong[1], SM), 0);
    EXPECT(cuDevResourceGenerateDesc(&descriptor[0], wrong, 2), INVALID_RESOURCES);
    EXPECT(cuDevResourceGenerateDesc(&descriptor[0], group, 0), CU_INVALID_VALUE);
    EXPECT(cuDevResourceGenerateDesc(&descriptor[0], group, 2), 0);
    EXPECT(cuDevResourceGenerateDesc(&descriptor[1], group + 2, 1), 0);
    EXPECT(cuGreenCtxCreate(&green[0], descriptor[0], 0, 0), CU_INVALID_VALUE);
    for (int k = 0; k < 2; k++) {
        EXPECT(cuGreenCtxCreate(&green[k], descriptor[k], 0, 1), 0);
        EXPECT(cuGreenCtxStreamCreate(&stream[k], green[k], 0, 0), CU_INVALID_VALUE);
        EXPECT(cuGreenCtxStreamCreate(&stream[k], green[k], 1, 0), 0);
        EXPECT(cuGreenCtxGetId(green[k], &id[k]), 0);
        EXPECT(cuGreenCtxGetDevResource(green[k], &r, SM), 0);
        EXPECT(r.sms, k ? 8 : 16);
    }
    EXPECT(id[0] != id[1], 1);
}

/* The context of a stream, and the current context. */
static void green_current(void *const green[2], void *const stream[2], void *f, int *seen)
{
    void *context, *which, *other, *primary, *own;
    unsigned n = 20;
    resource r;
    EXPECT(cuCtxGetCurrent(&primary), 0);
    EXPECT(cuCtxFromGreenCtx(&context, green[0]), 0);
    EXPECT(cuStreamGetGreenCtx(stream[1], &which), 0);
    EXPECT(which == green[1], 1);
    EXPECT(cuStreamGetCtx_v2(stream[1], &other, &which), 0);
    EXPECT(which == green[1] && !other, 1);
    EXPECT(cuStreamGetCtx(stream[0], &other), 0);
    EXPECT(other == context, 1);
    EXPECT(cuCtxPushCurrent_v2(context), 0);
    EXPECT(cuStreamGetGreenCtx(NULL, &which), 0);
    EXPECT(which == green[0], 1);
    EXPECT(cuCtxGetDevResource(context, &r, SM), 0);
    EXPECT(r.sms, 16);
    EXPECT(cudaStreamCreate(&own), 0);
    EXPECT(cuStreamGetGreenCtx(own, &which), 0);
    EXPECT(which == green[0], 1);
    EXPECT(cuLaunchKernel(f, 400, 1, 1, 32, 1, 1, 0, NULL, (void *[]){&seen, &n}, NULL), 0);
    EXPECT(cudaDeviceSynchronize(), 0);
    EXPECT(sms_used(seen, 400 * 32), 16);
    EXPECT(cuCtxPopCurrent_v2(&other), 0);
    EXPECT(other == context, 1);
    EXPECT(cuStreamGetGreenCtx(NULL, &which), 0);
    EXPECT(which == NULL, 1);
    EXPECT(cuLaunchCooperativeKernel(f, 132, 1, 1, 1024, 1, 1, 0, stream[1], (void *[]){&seen, &n}),
           CU_COOPERATIVE_TOO_LARGE);
    EXPECT(cuCtxDestroy_v2(context), CU_INVALID_CONTEXT);
    EXPECT(cudaStreamDestroy(own), 0);
}

/* ms of a kernel of two blocks for each SM of a green context, and of both concurrently. */
static void green_times(void *const green[2], void *const stream[2], void *f, int *seen)
{
    unsigned n = 1000;
    void *from, *to, *end[2];
    float both, one[2];
    EXPECT(cuEventCreate(&from, 0), 0);
    EXPECT(cuEventCreate(&to, 0), 0);
    for (int k = 0; k < 2; k++) EXPECT(cuEventCreate(&end[k], 0), 0);
    EXPECT(cuEventRecord(from, stream[0]), 0);
    EXPECT(cuGreenCtxWaitEvent(green[1], from), 0);
    for (int k = 0; k < 2; k++) {
        const unsigned blocks = k ? 16 * 8 : 16 * 16;
        EXPECT(
            cuLaunchKernel(f, blocks, 1, 1, 1024, 1, 1, 0, stream[k], (void *[]){&seen, &n}, NULL),
            0);
        EXPECT(cuEventRecord(end[k], stream[k]), 0);
    }
    EXPECT(cuGreenCtxRecordEvent(green[1], to), 0);
    EXPECT(cudaDeviceSynchronize(), 0);
    for (int k = 0; k < 2; k++) EXPECT(cudaEventElapsedTime(&one[k], from, end[k]), 0);
    EXPECT(cudaEventElapsedTime(&both, from, to), 0);
    EXPECT(sms_used(seen, 24 * 16 * 1024), 24);
    /* Concurrently, and eight rounds for each of them. */
    EXPECT(one[0] > 0.01F && one[1] < 1.5F * one[0], 1);
    EXPECT(both >= one[1] && both < 1.01F * one[1], 1);
}

void green(void)
{
    resource group[GROUPS];
    void *green[2], *stream[2], *m, *f, *context, *memory;
    app_driver();
    EXPECT(cudaMallocManaged(&memory, 1024, 1), 0);
    int *seen = memory;
    memset(seen, 0, 1024);
    EXPECT(cuModuleLoadData(&m, where), 0);
    EXPECT(cuModuleGetFunction(&f, m, "where"), 0);
    green_resources(group);
    green_make(group, green, stream);
    green_current(green, stream, f, seen);
    green_times(green, stream, f, seen);
    for (int k = 0; k < 2; k++) {
        EXPECT(cudaStreamDestroy(stream[k]), 0);
        EXPECT(cuGreenCtxDestroy(green[k]), 0);
        EXPECT(cuGreenCtxDestroy(green[k]), CU_INVALID_CONTEXT);
        EXPECT(cuCtxFromGreenCtx(&context, green[k]), CU_INVALID_CONTEXT);
    }
}

/* ---------------------------------------------------------------- nodes updated by kernels */

/* put adds a value to as many words as it has blocks; change sets the value of a node, its grid,
 * whether it is enabled, and all of these by one call, and stores the errors. */
static const char updates[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".extern .func (.param .b32 e) cudaGraphKernelNodeSetParam(.param .b64 n, .param .b64 o, "
    ".param .b64 v, .param .b64 b);\n"
    ".extern .func (.param .b32 e) cudaGraphKernelNodeSetGridDim(.param .b64 n, "
    ".param .align 4 .b8 d[12]);\n"
    ".extern .func (.param .b32 e) cudaGraphKernelNodeSetEnabled(.param .b64 n, .param .b32 on);\n"
    ".extern .func (.param .b32 e) cudaGraphKernelNodeUpdatesApply(.param .b64 u, .param .b64 n);\n"
    ".visible .entry put(.param .u64 to, .param .u32 value)\n"
    "{ .reg .b32 r<3>; .reg .b64 d<3>; ld.param.u64 d1, [to]; ld.param.u32 r1, [value];\n"
    "  mov.u32 r2, %ctaid.x; mul.wide.u32 d2, r2, 4; add.u64 d1, d1, d2;\n"
    "  red.global.add.u32 [d1], r1; ret; }\n"
    ".visible .entry param(.param .u64 node, .param .u64 offset, .param .u64 value, "
    ".param .u64 error)\n"
    "{ .reg .b32 r<2>; .reg .b64 d<5>; ld.param.u64 d1, [node]; ld.param.u64 d2, [offset];\n"
    "  ld.param.u64 d3, [value]; { .param .b32 e; .param .b64 n; .param .b64 o; .param .b64 v;\n"
    "  .param .b64 b; st.param.b64 [n], d1; st.param.b64 [o], d2; st.param.b64 [v], d3;\n"
    "  st.param.b64 [b], 4; call.uni (e), cudaGraphKernelNodeSetParam, (n, o, v, b);\n"
    "  ld.param.b32 r1, [e]; } ld.param.u64 d4, [error]; st.u32 [d4], r1; ret; }\n"
    ".visible .entry grid(.param .u64 node, .param .u32 x, .param .u64 error)\n"
    "{ .reg .b32 r<3>; .reg .b64 d<3>; ld.param.u64 d1, [node]; ld.param.u32 r2, [x];\n"
    "  { .param .b32 e; .param .b64 n; .param .align 4 .b8 g[12]; st.param.b64 [n], d1;\n"
    "  st.param.b32 [g], r2; st.param.b32 [g+4], 1; st.param.b32 [g+8], 1;\n"
    "  call.uni (e), cudaGraphKernelNodeSetGridDim, (n, g); ld.param.b32 r1, [e]; }\n"
    "  ld.param.u64 d2, [error]; st.u32 [d2], r1; ret; }\n"
    ".visible .entry enable(.param .u64 node, .param .u32 on, .param .u64 error)\n"
    "{ .reg .b32 r<3>; .reg .b64 d<3>; ld.param.u64 d1, [node]; ld.param.u32 r2, [on];\n"
    "  { .param .b32 e; .param .b64 n; .param .b32 o; st.param.b64 [n], d1; st.param.b32 [o], r2;\n"
    "  call.uni (e), cudaGraphKernelNodeSetEnabled, (n, o); ld.param.b32 r1, [e]; }\n"
    "  ld.param.u64 d2, [error]; st.u32 [d2], r1; ret; }\n"
    ".visible .entry all(.param .u64 list, .param .u64 n, .param .u64 error)\n"
    "{ .reg .b32 r<2>; .reg .b64 d<4>; ld.param.u64 d1, [list]; ld.param.u64 d2, [n];\n"
    "  { .param .b32 e; .param .b64 l; .param .b64 k; st.param.b64 [l], d1; st.param.b64 [k], d2;\n"
    "  call.uni (e), cudaGraphKernelNodeUpdatesApply, (l, k); ld.param.b32 r1, [e]; }\n"
    "  ld.param.u64 d3, [error]; st.u32 [d3], r1; ret; }\n";

/* CUDA_KERNEL_NODE_PARAMS */
typedef struct node_params {
    void *function;
    unsigned grid[3], block[3], shared;
    void **params, **extra;
    void *kernel, *context;
} node_params;

/* CUlaunchAttributeValue.deviceUpdatableKernelNode */
typedef struct updatable {
    int on;
    uint64_t name;
    char rest[48];
} updatable;

enum { UPDATABLE = 13 };

static void *function_of(void *m, const char *name)
{
    void *f;
    EXPECT(cuModuleGetFunction(&f, m, name), 0);
    return f;
}

static void run(void *f, void **params)
{
    EXPECT(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL), 0);
    EXPECT(cudaDeviceSynchronize(), 0);
}

/* Launches the graph; returns what put has added to the first three words. */
static void expect_places(void *exec, int *at, int a, int b, int c)
{
    memset(at, 0, 16);
    EXPECT(cuGraphLaunch(exec, NULL), 0);
    EXPECT(cudaDeviceSynchronize(), 0);
    EXPECT(at[0], a);
    EXPECT(at[1], b);
    EXPECT(at[2], c);
}

/* Operations not allowed on a device-updatable node. */
static void updatable_refused(void *graph, void *node, void *plain, void *exec)
{
    updatable u = {.on = 0};
    void *other, *info[3];
    EXPECT(cuGraphKernelNodeSetAttribute(node, UPDATABLE, &u), CU_NOT_SUPPORTED);
    EXPECT(cuGraphKernelNodeSetAttribute(plain, UPDATABLE, &u), 0);
    u.on = 2;
    EXPECT(cuGraphKernelNodeSetAttribute(plain, UPDATABLE, &u), CU_INVALID_VALUE);
    EXPECT(cuGraphKernelNodeCopyAttributes(plain, node), CU_INVALID_VALUE);
    EXPECT(cuGraphDestroyNode(node), CU_NOT_SUPPORTED);
    EXPECT(cuGraphInstantiateWithFlags(&other, graph, 0), CU_NOT_SUPPORTED);
    EXPECT(cuGraphExecUpdate_v2(exec, graph, info), CU_NOT_SUPPORTED);
}

/* The destination is the first operand. */
static void attributes_copied(const node_params *p)
{
    enum { PRIORITY = 8, COOPERATIVE = 2 };
    void *to, *from, *copy;
    int value[16] = {-3};
    EXPECT(cuGraphCreate(&copy, 0), 0);
    EXPECT(cuGraphAddKernelNode_v2(&to, copy, NULL, 0, p), 0);
    EXPECT(cuGraphAddKernelNode_v2(&from, copy, NULL, 0, p), 0);
    EXPECT(cuGraphKernelNodeSetAttribute(from, PRIORITY, value), 0);
    value[0] = 1;
    EXPECT(cuGraphKernelNodeSetAttribute(from, COOPERATIVE, value), 0);
    EXPECT(cuGraphKernelNodeCopyAttributes(to, from), 0);
    EXPECT(cuGraphKernelNodeGetAttribute(to, COOPERATIVE, value), 0);
    EXPECT(value[0], 1);
    for (int k = 0; k < 2; k++) {
        EXPECT(cuGraphKernelNodeGetAttribute(k ? from : to, PRIORITY, value), 0);
        EXPECT(value[0], -3);
    }
}

/* By one call: grid, value, enabled; an unknown field. */
static void update_all(void *m, uint64_t name, char *memory, int *error)
{
    struct {
        uint64_t node;
        int field;
        union {
            unsigned grid[3];
            struct {
                void *value;
                size_t offset, bytes;
            } param;
            unsigned enabled;
        } u;
    } list[4] = {{.node = name, .field = 1, .u.grid = {3, 1, 1}},
                 {.node = name, .field = 2, .u.param = {memory + 512, 8, 4}},
                 {.node = name, .field = 3, .u.enabled = 1},
                 {.node = name, .field = 4}};
    size_t n = 4;
    void *at = memory + 1024;
    memcpy(at, list, sizeof list);
    memcpy(memory + 512, &(int){9}, sizeof(int));
    run(function_of(m, "all"), (void *[]){&at, &n, &error});
    EXPECT(*error, CU_INVALID_VALUE);
    n = 3;
    run(function_of(m, "all"), (void *[]){&at, &n, &error});
    EXPECT(*error, 0);
}

/* A captured launch returns the handle of its node. */
static void updatable_captured(void *m, int *at)
{
    void *s, *graph, *exec, *f = function_of(m, "put");
    unsigned value = 2;
    int *error = at + 8;
    cuda_launch_attribute a = {.id = UPDATABLE, .value.number = 1};
    const cuda_launch_config c = {
        .grid = {1, 1, 1}, .block = {1, 1, 1}, .attribute = &a, .attributes = 1};
    cuda_launch_config in = c;
    EXPECT(cudaStreamCreate(&s), 0);
    in.stream = s;
    EXPECT(cudaLaunchKernelExC(&in, f, (void *[]){&at, &value}), CU_NOT_SUPPORTED);
    EXPECT(cudaStreamBeginCapture(s, 0), 0);
    EXPECT(cudaLaunchKernelExC(&in, f, (void *[]){&at, &value}), 0);
    EXPECT(cudaStreamEndCapture(s, &graph), 0);
    uint64_t name;
    memcpy(&name, a.value.bytes + 8, sizeof name);
    EXPECT(cuGraphInstantiateWithFlags(&exec, graph, 0), 0);
    expect_places(exec, at, 2, 0, 0);
    run(function_of(m, "grid"), (void *[]){&name, &(unsigned){2}, &error});
    EXPECT(*error, 0);
    expect_places(exec, at, 2, 2, 0);
}

void node_updates(void)
{
    void *m, *graph, *node, *plain, *exec, *memory;
    app_driver();
    EXPECT(cuModuleLoadData(&m, updates), 0);
    EXPECT(cudaMallocManaged(&memory, 4096, 1), 0);
    int *at = memory, *error = at + 8;
    unsigned value = 1;
    updatable u = {.on = 1};
    node_params p = {.function = function_of(m, "put"),
                     .grid = {1, 1, 1},
                     .block = {1, 1, 1},
                     .params = (void *[]){&at, &value}};
    EXPECT(cuGraphCreate(&graph, 0), 0);
    EXPECT(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &p), 0);
    p.params = (void *[]){&(void *){at + 4}, &value};
    EXPECT(cuGraphAddKernelNode_v2(&plain, graph, &node, 1, &p), 0);
    EXPECT(cuGraphKernelNodeSetAttribute(node, UPDATABLE, &u), 0);
    uint64_t name = u.name;
    memset(&u, 0, sizeof u);
    EXPECT(cuGraphKernelNodeGetAttribute(node, UPDATABLE, &u), 0);
    EXPECT(u.on == 1 && u.name == name, 1);
    EXPECT(cuGraphInstantiateWithFlags(&exec, graph, 0), 0);
    updatable_refused(graph, node, plain, exec);
    attributes_copied(&p);
    expect_places(exec, at, 1, 0, 0);
    run(function_of(m, "grid"), (void *[]){&name, &(unsigned){2}, &error});
    EXPECT(*error, 0);
    expect_places(exec, at, 1, 1, 0);
    run(function_of(m, "grid"), (void *[]){&name, &(unsigned){0}, &error});
    EXPECT(*error, CU_INVALID_VALUE);
    at[16] = 70;
    run(function_of(m, "param"), (void *[]){&name, &(size_t){8}, &(void *){at + 16}, &error});
    EXPECT(*error, 0);
    expect_places(exec, at, 70, 70, 0);
    run(function_of(m, "param"), (void *[]){&name, &(size_t){12}, &(void *){at + 16}, &error});
    EXPECT(*error, CU_INVALID_VALUE);
    run(function_of(m, "enable"), (void *[]){&name, &(unsigned){0}, &error});
    EXPECT(*error, 0);
    expect_places(exec, at, 0, 0, 0);
    update_all(m, name, memory, error);
    expect_places(exec, at, 9, 9, 9);
    EXPECT(cuGraphExecDestroy(exec), 0);
    run(function_of(m, "enable"), (void *[]){&name, &(unsigned){0}, &error});
    EXPECT(*error, CU_INVALID_VALUE);
    updatable_captured(m, at);
}

/* ---------------------------------------------------------------- recorded tables */

/* Calls `row` for the lines of $APP_TABLE; returns the number of compared lines. */
static int each_row(bool (*row)(char *line))
{
    char line[1024];
    int n = 0;
    FILE *f = fopen(getenv("APP_TABLE"), "r");
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        n += *line != '#' && row(line);
    }
    if (f) fclose(f);
    return n;
}

static void expect_text(const char *is, const char *expected)
{
    const bool same = is && expected && strcmp(is, expected) == 0;
    if (!same) printf("%s, not %s\n", is ? is : "nothing", expected ? expected : "nothing");
    EXPECT(same, true);
}

/* Number, the runtime's name and text, the driver's result, name and text; without the latter
 * for a number unknown to the driver. */
static bool error_row(char *line)
{
    char *field[6] = {NULL}, *rest = line;
    const char *name, *text;
    for (int k = 0; k < 6 && rest; k++) {
        field[k] = rest;
        rest = strchr(rest, '\t');
        if (rest) *rest++ = '\0';
    }
    const int number = atoi(field[0]);
    expect_text(cudaGetErrorName(number), field[1]);
    expect_text(cudaGetErrorString(number), field[2]);
    const bool known = field[3] && atoi(field[3]) == 0 && field[4];
    EXPECT(cuGetErrorName(number, &name), known ? 0 : CU_INVALID_VALUE);
    EXPECT(cuGetErrorString(number, &text), known ? 0 : CU_INVALID_VALUE);
    if (known) expect_text(name, field[4]);
    if (known) expect_text(text, field[5]);
    return true;
}

/* $APP_TABLE is tests/data/probes/host.errnames. */
void error_names(void)
{
    EXPECT(each_row(error_row), 136);
}

/* Kernel 0 of the table is empty. */
static bool clusters_row(const char *line)
{
    cuda_launch_attribute a = {.id = ATTRIBUTE_CLUSTER, .value.cluster = {1, 1, 1}};
    cuda_launch_config c = {
        .grid = {1, 1, 1}, .block = {1, 1, 1}, .attribute = &a, .attributes = 1};
    unsigned size, threads, shared;
    int clusters, largest, n;
    if (sscanf(line, "clusters\t0\tcl=%u block=%u smem=%u\t%d\t0\tmaxpotential %d", &size, &threads,
               &shared, &clusters, &largest) != 5)
        return false;
    a.value.cluster[0] = c.grid.x = size;
    c.block.x = threads;
    c.shared = shared;
    /* More than 8 blocks: the kernel was told to allow them. */
    if (size > 8) EXPECT(cudaOccupancyMaxActiveClusters(&n, stub_nop, &c), CU_INVALID_CLUSTER);
    EXPECT(cudaFuncSetAttribute(stub_nop, 14, size > 8), 0);
    EXPECT(cudaOccupancyMaxActiveClusters(&n, stub_nop, &c), 0);
    EXPECT(n, clusters);
    EXPECT(cudaOccupancyMaxPotentialClusterSize(&n, stub_nop, &c), 0);
    EXPECT(n, largest);
    EXPECT(cudaFuncSetAttribute(stub_nop, 14, 0), 0);
    return true;
}

static bool occupancy_row(char *line)
{
    size_t bytes;
    int blocks, threads, grid, block, is[2];
    void *f;
    if (sscanf(line, "availdyn\t0\tblock %d x%d\t%zu\t0", &threads, &blocks, &bytes) == 3) {
        size_t n;
        EXPECT(cudaOccupancyAvailableDynamicSMemPerBlock(&n, stub_nop, blocks, threads), 0);
        EXPECT(n == bytes, true);
        return true;
    }
    if (sscanf(line, "potential\t0\t%d\t%d\t0", &grid, &block) == 2) {
        EXPECT(cudaGetFuncBySymbol(&f, stub_nop), 0);
        EXPECT(cuOccupancyMaxPotentialBlockSize(&is[0], &is[1], f, NULL, 0, 0), 0);
        EXPECT(is[0] == grid && is[1] == block, true);
        return true;
    }
    return clusters_row(line);
}

/* $APP_TABLE is tests/data/probes/host.occupancy: the rows about the runtime. */
void occupancy(void)
{
    app_driver();
    EXPECT(cudaFuncSetAttribute(stub_nop, 8, 200000), 0);
    EXPECT(each_row(occupancy_row), 30 + 4 + 1);
}

/* ---------------------------------------------------------------- tensor maps, contexts */

/* The words of descriptors equal those of an H200 (probes tma.desc). */
void tensor_maps(void)
{
    enum { F16 = 6, F32 = 7, WORDS = 16 };
    const uint64_t dim[4] = {256, 128, 64, 4}, stride[3] = {1024, 131072, 1048576};
    const uint32_t step[4] = {1, 1, 1, 1};
    const int lower[2] = {-1, -1}, upper[2] = {1, 1}, none[2] = {200, 0};
    void *const at = (void *)(uintptr_t)0x7000000000;
    uint64_t map[WORDS];
    app_driver();
    EXPECT(cuTensorMapEncodeIm2col(map, F16, 4, at, dim, stride, lower, upper, 32, 64, step, 0, 0,
                                   0, 0),
           0);
    EXPECT(map[0], 0x7000000000);
    EXPECT(map[1], 0x4000000331);
    EXPECT(map[4], 0x7f000000ff);
    EXPECT(map[7], 0x3f0101ffff);
    EXPECT(cuTensorMapEncodeIm2col(map, F16, 2, at, dim, stride, lower, upper, 32, 64, step, 0, 0,
                                   0, 0),
           CU_INVALID_VALUE);
    EXPECT(cuTensorMapEncodeIm2col(map, F16, 4, at, dim, stride, none, upper, 32, 64, step, 0, 0, 0,
                                   0),
           CU_INVALID_VALUE);
    EXPECT(cuTensorMapEncodeIm2colWide(map, F16, 4, at, dim, stride, -1, 1, 32, 64, step, 0, 2, 1,
                                       0, 0),
           CU_INVALID_VALUE);
    EXPECT(cuTensorMapReplaceAddress(map, (char *)at + 8), CU_INVALID_VALUE);
    EXPECT(map[0], 0x7000000000);
    EXPECT(cuTensorMapReplaceAddress(map, (char *)at + 4096), 0);
    EXPECT(map[0], 0x7000001000);
    EXPECT(map[1], 0x4000000331);
}

void context_flags(void)
{
    enum { SPIN = 1, YIELD = 2, BOTH = 3, UNKNOWN = 0x2000 };
    void *c, *same;
    unsigned flags;
    struct {
        int type;
        unsigned sms;
    } affinity;
    int p[14];
    EXPECT(cuCtxGetFlags(&flags), 3);
    app_driver();
    EXPECT(cuCtxCreate_v4(&c, NULL, BOTH, 0), CU_INVALID_VALUE);
    EXPECT(cuCtxCreate_v4(&c, NULL, UNKNOWN, 0), CU_INVALID_VALUE);
    EXPECT(cuDevicePrimaryCtxSetFlags_v2(0, BOTH), CU_INVALID_VALUE);
    EXPECT(cuCtxCreate_v4(&c, NULL, SPIN, 0), 0);
    EXPECT(cuCtxSetFlags(BOTH), CU_INVALID_VALUE);
    EXPECT(cuCtxSetFlags(YIELD), 0);
    EXPECT(cuCtxGetFlags(&flags), 0);
    EXPECT(flags, YIELD);
    EXPECT(cuCtxAttach(&same, 1), CU_INVALID_VALUE);
    EXPECT(cuCtxAttach(&same, 0), 0);
    EXPECT(same == c, true);
    EXPECT(cuCtxDetach(c), 0);
    EXPECT(cuCtxGetFlags(&flags), 0);
    EXPECT(cuCtxGetExecAffinity(&affinity, 0), 0);
    EXPECT(affinity.sms, 132);
    EXPECT(cuCtxDetach(c), 0);
    EXPECT(cuCtxDestroy_v2(c), CU_CONTEXT_DESTROYED);
    EXPECT(cuDeviceGetProperties(p, 0), 0);
    EXPECT(p[0] == 1024 && p[3] == 64 && p[7] == 48 << 10 && p[9] == 32, true);
    EXPECT(cuDeviceGetProperties(p, 9), CU_INVALID_DEVICE);
}

/* ---------------------------------------------------------------- answers of an H200 */

int cudaDeviceSetLimit(int limit, size_t value);
int cudaMemPrefetchAsync(const void *p, size_t bytes, uint64_t location, unsigned flags, void *s);

int cudaGraphDebugDotPrint(void *graph, const char *path, unsigned flags);

/* Names of the kinds of nodes; a kernel's kind only on request. */
static bool is_in_dot(void *graph, unsigned flags, const char *kind)
{
    char text[2000] = "";
    EXPECT(cudaGraphDebugDotPrint(graph, "graph.dot", flags), 0);
    FILE *f = fopen("graph.dot", "r");
    EXPECT(f && fread(text, 1, sizeof text - 1, f) > 0, true);
    fclose(f);
    return strstr(text, kind) != NULL;
}

int cuMemAlloc_v2(uint64_t *out, size_t bytes);

int cudaGraphAddChildGraphNode(void **out, void *graph, void *const *before, size_t n, void *child);
int cudaGraphAddEmptyNode(void **out, void *graph, void *const *before, size_t n);

/* The text of a graph of two nodes, one of which is a graph, by flags (H100). */
static void dot_as_recorded(void)
{
    static const char *const form[] = {
        "digraph dot {\n"
        "subgraph cluster_%u {\n"
        "label=\"graph_%u\" graph[style=\"dashed\"];\n"
        "\"graph_%u_node_0\"[style=\"solid\" shape=\"rectangle\" label=\"0\n"
        "EMPTY\n\"];\n\n"
        "\"graph_%u_node_1\"[style=\"solid\" shape=\"rectangle\" label=\"1\n"
        "graph_%u\n\"];\n\n"
        "\"graph_%u_node_0\" -> \"graph_%u_node_1\";\n}\n",
        "EMPTY\n\"];\n\n}\n}\n"};
    char text[2000] = "", first[1000];
    void *graph, *child, *node[2];
    unsigned id, nested;
    EXPECT(cudaGraphCreate(&graph, 0), 0);
    EXPECT(cudaGraphCreate(&child, 0), 0);
    EXPECT(cudaGraphAddEmptyNode(&node[0], child, NULL, 0), 0);
    EXPECT(cudaGraphAddEmptyNode(&node[0], graph, NULL, 0), 0);
    EXPECT(cudaGraphAddChildGraphNode(&node[1], graph, node, 1, child), 0);
    EXPECT(cudaGraphDebugDotPrint(graph, "graph.dot", 0), 0);
    FILE *f = fopen("graph.dot", "r");
    EXPECT(f && fread(text, 1, sizeof text - 1, f) > 0, true);
    fclose(f);
    EXPECT(sscanf(text, "digraph dot { subgraph cluster_%u", &id), 1);
    nested = id + 2;
    snprintf(first, sizeof first, form[0], id, id, id, id, nested, id, id);
    EXPECT(strncmp(text, first, strlen(first)), 0);
    EXPECT(strcmp(text + strlen(text) - strlen(form[1]), form[1]), 0);
    EXPECT(is_in_dot(graph, 0, "headlabel"), false);
    EXPECT(is_in_dot(graph, 1, "[headlabel=0]"), true);
    EXPECT(is_in_dot(graph, 1, "label=\"1 (topoId: 0)\n"), true);
    EXPECT(is_in_dot(graph, 1 << 10, "node handle: 0x0000"), true);
}

static void captures_as_recorded(void)
{
    void *s, *t, *graph, *mine, *p;
    int relaxed = 2;
    EXPECT(cudaStreamCreateWithFlags(&s, 1), 0);
    EXPECT(cudaStreamCreate(&t), 0);
    /* The program says what the next node depends on: the first one may be left. */
    EXPECT(cudaStreamBeginCapture(s, 0), 0);
    EXPECT(cudaLaunchKernel(stub_nop, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, s), 0);
    EXPECT(cudaStreamUpdateCaptureDependencies(s, NULL, NULL, 0, 1), 0);
    EXPECT(cudaLaunchKernel(stub_nop, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, s), 0);
    EXPECT(cudaStreamEndCapture(s, &graph), 0);
    EXPECT(is_in_dot(graph, 0, "KERNEL"), false);
    EXPECT(is_in_dot(graph, 1, "KERNEL"), true);
    EXPECT(is_in_dot(graph, 4, "\n\\<\\<\\<1,1,0\\>\\>\\>\"];"), true);
    dot_as_recorded();
    EXPECT(cudaGraphCreate(&mine, 0), 0);
    EXPECT(cudaStreamBeginCaptureToGraph(s, mine, NULL, NULL, 0, 2), 0);
    EXPECT(cudaStreamBeginCaptureToGraph(t, mine, NULL, NULL, 0, 2), CU_ILLEGAL_STATE);
    EXPECT(cudaStreamEndCapture(s, &graph), 0);
    EXPECT(cudaStreamBeginCapture(s, 0), 0);
    EXPECT(cudaThreadExchangeStreamCaptureMode(&relaxed), 0);
    EXPECT(cudaMalloc(&p, 4), 0);
    EXPECT(cudaThreadExchangeStreamCaptureMode(&relaxed), 0);
    EXPECT(relaxed, 2);
    int unknown = 3;
    EXPECT(cudaThreadExchangeStreamCaptureMode(&unknown), 0); /* as on an H100 */
    EXPECT(cudaThreadExchangeStreamCaptureMode(&unknown), 0);
    EXPECT(unknown, 3);
    EXPECT(cudaMalloc(&p, 4), CU_CAPTURE_UNSUPPORTED);
    EXPECT(cudaStreamEndCapture(s, &graph), 901);
    uint64_t allocated;
    EXPECT(cudaStreamBeginCapture(s, 0), 0);
    EXPECT(cuMemAlloc_v2(&allocated, 4), CU_CAPTURE_UNSUPPORTED);
    EXPECT(cudaStreamEndCapture(s, &graph), 901);
    /* Calls that may wait for the capture invalidate it. */
    for (int k = 0; k < 5; k++) {
        EXPECT(cudaStreamBeginCapture(s, 0), 0);
        EXPECT(k == 0   ? cudaStreamSynchronize(t)
               : k == 1 ? cudaStreamQuery(t)
               : k == 2 ? cudaDeviceSetLimit(0, 1024)
               : k == 3 ? cudaMallocManaged(&p, 4, 1)
                        : cudaMemPrefetchAsync(p, 4, 1, 0, s),
               CU_CAPTURE_UNSUPPORTED);
        EXPECT(cudaStreamEndCapture(s, &graph), 901);
    }
    EXPECT(cudaStreamDestroy(s), 0);
}

int cuMemGetAccess(unsigned long long *flags, const void *location, uint64_t address);
int cuMemRelease(uint64_t handle);
int cuMemAddressFree(uint64_t address, size_t size);
int cuDeviceGetDefaultMemPool(void **out, int device);

static void mappings_as_recorded(void)
{
    enum { GRANULE = 2 << 20 };
    const struct {
        int type, handles, location_type, location;
        void *security;
        char rest[8];
    } properties = {.type = 1, .location_type = 1}, windows = {.type = 1, 2, 1};
    const struct {
        int location_type, location, flags;
    } access = {1, 0, 3}, reading = {1, 0, 1};
    enum { RANGE_SIZE = 12, MAPPING_SIZE = 18, BLOCK_ID = 20 };
    uint64_t at, memory;
    EXPECT(cuMemAddressReserve(&at, 4 * GRANULE, 0, 0, 0), 0);
    EXPECT(cuMemCreate(&memory, 2 * GRANULE, &windows, 0), CU_INVALID_VALUE);
    EXPECT(cuMemCreate(&memory, 2 * GRANULE, &properties, 0), 0);
    EXPECT(cuMemMap(at + 4096, 2 * GRANULE, 0, memory, 0), CU_INVALID_VALUE);
    EXPECT(cuMemMap(at, 2 * GRANULE, 0, memory, 0), 0);
    EXPECT(cuMemSetAccess(at, GRANULE, &access, 1), CU_INVALID_VALUE);
    EXPECT(cuMemSetAccess(at, 3 * GRANULE, &access, 1), CU_INVALID_VALUE); /* a part is mapped */
    unsigned long long flags = 1;
    EXPECT(cuMemGetAccess(&flags, &access, at), 0);
    EXPECT(flags, 0);
    EXPECT(cuMemSetAccess(at, 2 * GRANULE, &access, 1), 0);
    EXPECT(cuMemMap(at + 2 * GRANULE, GRANULE, 0, memory, 0), CU_NOT_SUPPORTED); /* a part */
    EXPECT(cudaFree((void *)(uintptr_t)at), CU_INVALID_VALUE);
    EXPECT(cuMemSetAccess(at, 2 * GRANULE, &reading, 1), 0);
    EXPECT(cuMemGetAccess(&flags, &reading, at), 0);
    EXPECT(flags, 1);
    EXPECT(cudaMemset((void *)(uintptr_t)at, 0, 4), CU_INVALID_VALUE);
    uint64_t size = 0;
    EXPECT(cuPointerGetAttribute(&size, RANGE_SIZE, at), 0);
    EXPECT(size, 4 * GRANULE);
    EXPECT(cuPointerGetAttribute(&size, MAPPING_SIZE, at), 0);
    EXPECT(size, 2 * GRANULE);
    void *small;
    EXPECT(cudaMalloc(&small, 100), 0);
    EXPECT(cuPointerGetAttribute(&size, MAPPING_SIZE, (uintptr_t)small), 0);
    EXPECT(size, GRANULE); /* H100 */
    EXPECT(cuPointerGetAttribute(&size, BLOCK_ID, (uintptr_t)small), 0);
    EXPECT(cudaFree(small), 0);
    EXPECT(cuMemUnmap(at, GRANULE), CU_INVALID_VALUE);
    EXPECT(cuMemMap(at + GRANULE, 2 * GRANULE, 0, memory, 0), CU_INVALID_VALUE); /* in use */
    EXPECT(cuMemUnmap(at, 2 * GRANULE), 0);
    /* A mapping may end after its reservation. */
    const uint64_t last = at + 3 * GRANULE;
    void *p;
    EXPECT(cuMemMap(last, 2 * GRANULE, 0, memory, 0), 0);
    EXPECT(cuMemMap(at + 2 * GRANULE, 2 * GRANULE, 0, memory, 0), CU_INVALID_VALUE);
    EXPECT(cuMemSetAccess(last, GRANULE, &access, 1), CU_INVALID_VALUE);
    EXPECT(cudaMalloc(&p, 2 * GRANULE), 0);
    EXPECT((uintptr_t)p - last >= 2 * GRANULE, true);
    EXPECT(cudaFree(p), 0);
    EXPECT(cuMemUnmap(at, 4 * GRANULE), CU_INVALID_VALUE);
    EXPECT(cuMemUnmap(last, GRANULE), CU_INVALID_VALUE);
    EXPECT(cuMemAddressFree(at, 4 * GRANULE), CU_INVALID_VALUE);
    EXPECT(cuMemUnmap(last, 2 * GRANULE), 0);
    EXPECT(cuMemAddressFree(at, 4 * GRANULE), 0);
}

/* Physical memory of the host has one address for kernels and the program. */
static void host_mappings(void)
{
    enum { GRANULE = 2 << 20, HOST_NUMA = 3 };
    const struct {
        int type, handles, location_type, location;
        void *security;
        char rest[8];
    } properties = {.type = 1, .location_type = HOST_NUMA};
    const struct {
        int location_type, location, flags;
    } access[2] = {{1, 0, 3}, {HOST_NUMA, 0, 3}};
    uint64_t at, memory;
    unsigned value = 42;
    EXPECT(cuMemAddressReserve(&at, GRANULE, 0, 0, 0), 0);
    EXPECT(cuMemCreate(&memory, GRANULE, &properties, 0), 0);
    EXPECT(cuMemMap(at, GRANULE, 0, memory, 0), 0);
    EXPECT(cuMemSetAccess(at, GRANULE, access, 2), 0);
    unsigned *p = (unsigned *)(uintptr_t)at;
    void *args[] = {&p, &value};
    p[0] = p[1] = 40;
    EXPECT(cudaLaunchKernel(stub_store, (dim3){1, 1, 1}, (dim3){1, 1, 1}, args, 0, NULL), 0);
    EXPECT(cudaDeviceSynchronize(), 0);
    EXPECT(p[0] == 42 && p[1] == 40, 1);
    EXPECT(cuMemRelease(memory), 0);
    EXPECT(cuMemUnmap(at, GRANULE), 0);
    EXPECT(cuMemRelease(memory), CU_INVALID_VALUE);
    EXPECT(cuMemAddressFree(at, GRANULE), 0);
}

int cudaMemPoolGetAccess(int *flags, void *pool, void *location);
int cudaMemGetDefaultMemPool(void **out, const void *location, int kind);
int cudaMallocFromPoolAsync(void **out, size_t bytes, void *pool, void *stream);
int cudaPointerGetAttributes(cuda_pointer_attributes *out, const void *p);

/* Pools of host and of managed memory (H100). */
static void host_pools(void)
{
    enum { HOST = 2, PINNED = 1, MANAGED = 2, PINNED_TYPE = 1, MANAGED_TYPE = 3 };
    const int host[2] = {HOST, 0};
    int device[2] = {1, 0}, flags = 9;
    const struct {
        int location_type, location, flags;
    } access = {1, 0, 3};
    unsigned value = 42, *p;
    cuda_pointer_attributes a;
    void *pool, *of_device, *args[] = {&p, &value};
    for (int kind = PINNED; kind <= MANAGED; kind++) {
        EXPECT(cudaMemGetDefaultMemPool(&pool, host, kind), 0);
        EXPECT(cudaMallocFromPoolAsync((void **)&p, 4096, pool, NULL), 0);
        EXPECT(cudaPointerGetAttributes(&a, p), 0);
        EXPECT(a.type, kind == PINNED ? PINNED_TYPE : MANAGED_TYPE);
        EXPECT(a.device_pointer == p, kind == MANAGED);
        EXPECT(cudaMemPoolGetAccess(&flags, pool, device), 0);
        EXPECT(flags, 0);
        EXPECT(cuMemPoolSetAccess(pool, &access, 1), 0);
        EXPECT(cudaMemPoolGetAccess(&flags, pool, device), 0);
        EXPECT(flags, 3);
        *p = 7;
        EXPECT(cudaLaunchKernel(stub_store, (dim3){1, 1, 1}, (dim3){1, 1, 1}, args, 0, NULL), 0);
        EXPECT(cudaDeviceSynchronize(), 0);
        EXPECT(*p, 42);
        EXPECT(cudaFreeAsync(p, NULL), 0);
    }
    EXPECT(cudaMemGetDefaultMemPool(&pool, device, PINNED), 0);
    EXPECT(cuDeviceGetDefaultMemPool(&of_device, 0), 0);
    EXPECT(pool == of_device, 1);
    device[0] = 4;
    EXPECT(cudaMemGetDefaultMemPool(&pool, device, PINNED), CU_NOT_SUPPORTED);
}

static void pools_as_recorded(void)
{
    struct {
        int type, handles, location_type, location;
        void *security;
        size_t most;
        char rest[56];
    } properties = {.type = 1, .handles = 64, .location_type = 1};
    struct {
        int location_type, location, flags;
    } access = {1, 0, 1};
    enum { POOL = 17 };
    void *pool, *of;
    uint64_t p;
    EXPECT(cuMemPoolCreate(&pool, &properties), CU_INVALID_VALUE);
    properties.handles = 0;
    properties.rest[10] = 1;
    EXPECT(cuMemPoolCreate(&pool, &properties), CU_INVALID_VALUE);
    properties.rest[10] = 0;
    EXPECT(cuMemPoolCreate(&pool, &properties), 0);
    EXPECT(cuMemPoolSetAccess(pool, &access, 1), CU_NOT_SUPPORTED);
    EXPECT(cuMemAllocFromPoolAsync(&p, 64, pool, NULL), 0);
    EXPECT(cuPointerGetAttribute(&of, POOL, p), 0);
    EXPECT(of == pool, true);
    EXPECT(cuStreamWriteValue32_v2(NULL, p, 1, 1), CU_INVALID_VALUE);
    EXPECT(cudaStreamAttachMemAsync(NULL, (void *)(uintptr_t)p, 0, 1), CU_INVALID_VALUE);
}

int cudaDeviceSetLimit(int limit, size_t value);
int cudaDeviceGetLimit(size_t *value, int limit);
int cudaHostRegister(void *p, size_t size, unsigned flags);
int cudaHostGetFlags(unsigned *flags, void *host);
int cudaMallocArray(void **out, const cuda_channel *channel, size_t width, size_t height,
                    unsigned flags);
int cudaMemcpy2DToArray(void *to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                        size_t height, int kind);
int cudaMemcpy2DArrayToArray(void *to, size_t tx, size_t ty, void *from, size_t fx, size_t fy,
                             size_t width, size_t height, int kind);
int cudaMemAdvise(const void *p, size_t bytes, int advice, uint64_t location);
int cudaIpcOpenEventHandle(void **out, cuda_ipc handle);
int cuLinkCreate_v2(unsigned n, int *option, void **value, void **out);
int cuLinkDestroy(void *link);
int cuLinkComplete(void *link, void **out, size_t *bytes);
int cuModuleLoadDataEx(void **out, const void *image, unsigned n, int *option, void **value);
int cuModuleGetFunction(void **out, void *module, const char *name);
int cuCtxCreate_v2(void **out, unsigned flags, int device);
int cuModuleGetGlobal_v2(uint64_t *out, size_t *bytes, void *module, const char *name);
int cuModuleUnload(void *module);

static void limits_as_recorded(void)
{
    enum { FIFO = 1, HEAP = 2, PENDING = 4, SHARED = 7, NOT_PERMITTED = 800 };
    static const struct {
        int limit;
        size_t set, used;
    } c[] = {{FIFO, 1, 512 << 10}, {FIFO, (size_t)1 << 40, (size_t)1 << 31},
             {HEAP, 1, 4 << 20},   {HEAP, (4 << 20) + 5, (4 << 20) + (64 << 10)},
             {PENDING, 1, 32},     {PENDING, 4 << 20, 599186}};
    size_t value;
    for (size_t k = 0; k < sizeof c / sizeof *c; k++) {
        EXPECT(cudaDeviceSetLimit(c[k].limit, c[k].set), 0);
        EXPECT(cudaDeviceGetLimit(&value, c[k].limit), 0);
        EXPECT(value, c[k].used);
    }
    EXPECT(cudaDeviceSetLimit(SHARED, 4096), NOT_PERMITTED);
    void *own; /* a context with limits of its own */
    EXPECT(cudaDeviceSetLimit(0, 2048), 0);
    EXPECT(cuCtxCreate_v2(&own, 0, 0), 0);
    EXPECT(cudaDeviceGetLimit(&value, 0), 0);
    EXPECT(value, 1024);
    EXPECT(cudaDeviceSetLimit(0, 4096), 0);
    EXPECT(cuCtxDestroy_v2(own), 0);
    EXPECT(cudaDeviceGetLimit(&value, 0), 0);
    EXPECT(value, 2048);
}

int cuMemGetAddressRange_v2(uint64_t *base, size_t *bytes, uint64_t address);

/* A kernel stores the address of memory of malloc, and of all memory there is, in a variable of its
 * module. */
/* Blocks that were freed at the end of the used space make room for a larger one. */
static void heap_is_reused(void)
{
    static const char text[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".extern .func (.param .b64 r) malloc(.param .b64 n);\n"
        ".extern .func free(.param .b64 p);\n.visible .global .align 8 .b64 at;\n"
        ".visible .entry k() { .reg .b64 %d<3>; .param .b64 n; .param .b64 r;\n"
        "st.param.b64 [n], 1000000; call (r), malloc, (n); ld.param.b64 %d1, [r];\n"
        "st.param.b64 [n], 1000000; call (r), malloc, (n); ld.param.b64 %d2, [r];\n"
        "st.param.b64 [n], %d1; call free, (n); st.param.b64 [n], %d2; call free, (n);\n"
        "st.param.b64 [n], 2600000; call (r), malloc, (n); ld.param.b64 %d1, [r];\n"
        "st.global.b64 [at], %d1; st.param.b64 [n], %d1; call free, (n); ret; }\n";
    uint64_t at, found = 0;
    size_t bytes = 0;
    void *m, *f;
    EXPECT(cuModuleLoadData(&m, text), 0);
    EXPECT(cuModuleGetFunction(&f, m, "k"), 0);
    EXPECT(cuModuleGetGlobal_v2(&at, &bytes, m, "at"), 0);
    EXPECT(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), 0);
    EXPECT(cudaMemcpy(&found, (void *)(uintptr_t)at, sizeof found, COPY_D2H), 0);
    EXPECT(found != 0, true);
    /* A heap that kernels have used keeps its size, and even the same size is refused (H100). */
    enum { HEAP = 2 };
    EXPECT(cudaDeviceGetLimit(&bytes, HEAP), 0);
    EXPECT(cudaDeviceSetLimit(HEAP, bytes), CU_INVALID_VALUE);
}

/* Calls of the device runtime that fail set the last error of the thread (H100). */
static void device_errors(void)
{
    static const char text[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".extern .func (.param .b32 r) cudaMalloc(.param .b64 p, .param .b64 n);\n"
        ".extern .func (.param .b32 r) cudaEventCreateWithFlags(.param .b64 p, .param .b32 f);\n"
        ".extern .func (.param .b32 r) cudaGetLastError();\n"
        ".visible .global .align 8 .b64 at; .visible .global .align 8 .b32 got[4];\n"
        ".visible .entry k() { .reg .b64 %d; .reg .b32 %r; .param .b64 p; .param .b64 n;\n"
        ".param .b32 f; .param .b32 r; mov.b64 %d, at; cvta.global.u64 %d, %d;\n"
        "st.param.b64 [p], %d; st.param.b64 [n], 1099511627776; call (r), cudaMalloc, (p, n);\n"
        "ld.param.b32 %r, [r]; st.global.b32 [got], %r;\n"
        "call (r), cudaGetLastError; ld.param.b32 %r, [r]; st.global.b32 [got+4], %r;\n"
        "st.param.b64 [p], %d; st.param.b32 [f], 0; call (r), cudaEventCreateWithFlags, (p, f);\n"
        "ld.param.b32 %r, [r]; st.global.b32 [got+8], %r;\n"
        "call (r), cudaGetLastError; ld.param.b32 %r, [r]; st.global.b32 [got+12], %r; ret; }\n";
    static const int expected[] = {2, 2, 1, 1};
    int seen[4] = {0};
    uint64_t at;
    size_t bytes;
    void *m, *f;
    EXPECT(cuModuleLoadData(&m, text), 0);
    EXPECT(cuModuleGetFunction(&f, m, "k"), 0);
    EXPECT(cuModuleGetGlobal_v2(&at, &bytes, m, "got"), 0);
    EXPECT(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), 0);
    EXPECT(cudaMemcpy(seen, (void *)(uintptr_t)at, sizeof seen, COPY_D2H), 0);
    EXPECT(memcmp(seen, expected, sizeof seen), 0);
}

static void heap_as_recorded(void)
{
    static const char text[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".extern .func (.param .b64 r) malloc(.param .b64 n);\n"
        ".visible .global .align 8 .b64 at[2];\n"
        ".visible .entry k() { .reg .b64 %d<3>; .param .b64 n; .param .b64 r;\n"
        "st.param.b64 [n], 256; call (r), malloc, (n); ld.param.b64 %d1, [r];\n"
        "st.global.b64 [at], %d1; st.b64 [%d1], 7;\n"
        "st.param.b64 [n], -1; call (r), malloc, (n); ld.param.b64 %d1, [r];\n"
        "st.global.b64 [at+8], %d1; ret; }\n";
    uint64_t at, base, found[2], value = 0;
    size_t bytes = 0;
    cuda_pointer_attributes a;
    void *m, *f;
    EXPECT(cuModuleLoadData(&m, text), 0);
    EXPECT(cuModuleGetFunction(&f, m, "k"), 0);
    EXPECT(cuModuleGetGlobal_v2(&at, &bytes, m, "at"), 0);
    EXPECT(cuMemGetAddressRange_v2(&base, &bytes, at + 8), 0);
    EXPECT(base == at && bytes == sizeof found, true);
    EXPECT(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), 0);
    EXPECT(cudaMemcpy(found, (void *)(uintptr_t)at, sizeof found, COPY_D2H), 0);
    EXPECT(found[0] && found[1], true);
    void *p = (void *)(uintptr_t)found[0];
    EXPECT(cudaMemcpy(&value, p, 8, COPY_D2H), CU_INVALID_VALUE);
    EXPECT(cudaMemcpy(p, &value, 8, COPY_DEFAULT), CU_INVALID_VALUE);
    EXPECT(cudaMemset(p, 0, 8), 0);
    EXPECT(cudaPointerGetAttributes(&a, p), 0);
    EXPECT(a.type, 0);
    EXPECT(cuModuleUnload(m), 0);
}

static void host_memory_as_recorded(void)
{
    enum { READ_ONLY = 8, READ_MOSTLY = 1, NOT_READ_MOSTLY = 2, MAPPED = 2 };
    static const char constant[8192] = {1};
    static char plain[8192];
    unsigned flags = 99;
    void *p, *event;
    EXPECT(cudaHostRegister((void *)0x10000, 4096, 0), CU_INVALID_VALUE); /* nothing is there */
    EXPECT(cudaHostRegister((void *)(uintptr_t)constant, 4096, 0), CU_INVALID_VALUE);
    EXPECT(cudaHostRegister((void *)(uintptr_t)constant, 4096, READ_ONLY), 0);
    EXPECT(cudaHostRegister(plain, 4096, READ_ONLY), 0);
    EXPECT(cudaHostGetFlags(&flags, plain), 0);
    EXPECT(flags, MAPPED);
    EXPECT(cudaMalloc(&p, 64), 0); /* a copy must not leave registered memory */
    EXPECT(cudaMemcpy(plain + 4080, p, 16, COPY_D2H), 0);
    EXPECT(cudaMemcpy(plain + 4090, p, 16, COPY_D2H), CU_INVALID_VALUE);
    EXPECT(cudaMemcpy(plain + 4096, p, 16, COPY_D2H), 0);
    EXPECT(cudaMallocManaged(&p, 4096, 1), 0);
    EXPECT(cudaMemAdvise(p, 4096, READ_MOSTLY, 1), 0);
    EXPECT(cudaMemAdvise(p, 4096, NOT_READ_MOSTLY, 0), CU_INVALID_VALUE); /* no location */
    EXPECT(cudaMemAdvise(plain, 4096, READ_MOSTLY, 1), CU_INVALID_VALUE);
    EXPECT(cudaIpcOpenEventHandle(&event, (cuda_ipc){{0}}), 205);
}

int cudaMemcpy3D(const cuda_copy3d *p);
int cudaMemset3D(cuda_pitched to, int value, cuda_extent extent);
int cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes);
int cudaGetDriverEntryPointByVersion(const char *name, void **out, unsigned version,
                                     unsigned long long flags, int *status);

int cudaMalloc3D(cuda_pitched *out, cuda_extent extent);

/* Copies without bytes, positions in elements, and boxes that exceed their memory. */
static void boxes_as_recorded(void)
{
    enum { INVALID_PITCH = 12, PORTABLE = 1, MAPPED = 2 };
    static float from[3][4][16], to[3][4][16];
    const cuda_channel of_floats = {.x = 32, .kind = 2};
    char h[1024], *d;
    void *array, *p;
    size_t pitch = 7;
    unsigned flags;
    cuda_pitched pitched;
    cuda_copy3d none = {.kind = 9}, c = {.kind = COPY_DEFAULT, .extent = {4, 2, 1}};
    EXPECT(cudaMalloc((void **)&d, 1024), 0);
    EXPECT(cudaMallocPitch(&p, &pitch, 16, 0), 0);
    EXPECT(pitch, 0);
    EXPECT(cudaMalloc3D(&pitched, (cuda_extent){16, 4, 0}), 0);
    EXPECT(pitched.pitch, 0);
    EXPECT(cudaMemcpy3D(&none), 0);
    EXPECT(cudaMemcpy2D(d, 10, h, 100, 100, 0, 1), 0);
    EXPECT(cudaMemcpy2D(d, 100, h, 99, 100, 8, 1), INVALID_PITCH);
    EXPECT(cudaMemcpy2D(d, 100, h, 99, 100, 1, 1), CU_INVALID_VALUE);
    EXPECT(cudaMemset3D((cuda_pitched){NULL, 64, 64, 4}, 1, (cuda_extent){0, 4, 1}), 0);
    EXPECT(cudaMemcpyPeer(d, 9, d, 0, 0), 0);
    EXPECT(cudaMallocArray(&array, &of_floats, 16, 4, 0), 0);
    for (unsigned k = 0; k < 64; k++) from[0][k / 16][k % 16] = (float)k;
    EXPECT(cudaMemcpy2DToArray(array, 0, 0, from, 64, 64, 4, 1), 0);
    c.from_array = array;
    c.from_pos = (cuda_pos){2, 1, 0};
    c.to = (cuda_pitched){to, 64, 16, 4};
    c.to_pos = (cuda_pos){4, 1, 0}; /* elements of the array */
    EXPECT(cudaMemcpy3D(&c), 0);
    EXPECT(to[0][1][4] == 18 && to[0][1][1] == 0, 1);
    for (c.kind = COPY_H2H; c.kind <= COPY_H2D; c.kind++) /* an array is memory of the device */
        EXPECT(cudaMemcpy3D(&c), CU_INVALID_VALUE);
    c.to = (cuda_pitched){d, 64, 16, 4};
    c.kind = COPY_H2D;
    EXPECT(cudaMemcpy3D(&c), CU_INVALID_VALUE);
    c = (cuda_copy3d){.from_array = array, .to_array = array, .extent = {4, 1, 1}};
    EXPECT(cudaMemcpy3D(&c), CU_INVALID_VALUE);
    c.kind = COPY_H2D;
    EXPECT(cudaMemcpy3D(&c), CU_INVALID_VALUE);
    c.kind = COPY_D2D;
    EXPECT(cudaMemcpy3D(&c), 0);
    c = (cuda_copy3d){.from = {from, 64, 64, 4}, .to = {to, 64, 64, 4}, .extent = {8, 1, 1}};
    c.from_pos = (cuda_pos){60, 1, 1};
    EXPECT(cudaMemcpy3D(&c), CU_INVALID_VALUE);
    c.from_pos = (cuda_pos){0, 4, 1};
    EXPECT(cudaMemcpy3D(&c), CU_INVALID_VALUE);
    EXPECT(cudaMemcpy2DArrayToArray(array, 0, 0, array, 0, 1, 4, 1, 1), 21);
    EXPECT(cudaHostAlloc(&p, 4096, PORTABLE), 0);
    EXPECT(cudaHostGetFlags(&flags, p), 0);
    EXPECT(flags, PORTABLE | MAPPED);
    EXPECT(cudaHostAlloc(&p, 64, PORTABLE), 0);
    EXPECT(cudaHostGetFlags(&flags, p), 0);
    EXPECT(flags, MAPPED);
}

static void copies_as_recorded(void)
{
    enum { INVALID_PITCH = 12, NO_SUCH_NAME = 1 };
    char h[1024], *d;
    void *p;
    int status;
    EXPECT(cudaMalloc((void **)&d, 1024), 0);
    cuda_copy3d c = {.from = {h, 16, 8, 2}, .to = {d, 16, 8, 4}, .extent = {8, 4, 2}, .kind = 1};
    EXPECT(cudaMemcpy3D(&c), INVALID_PITCH); /* slices of two rows */
    c.extent.width = 17;
    EXPECT(cudaMemcpy3D(&c), INVALID_PITCH);
    c = (cuda_copy3d){.from = {h, 64, 64, 4}, .to = {d, 16, 64, 4}, .extent = {32, 4, 1}};
    c.kind = 1;
    EXPECT(cudaMemcpy3D(&c), INVALID_PITCH); /* the width exceeds the pitch of the destination */
    c.to.pitch = 0;
    EXPECT(cudaMemcpy3D(&c), INVALID_PITCH);
    c.to.pitch = 16;
    c.extent.height = 1;
    EXPECT(cudaMemcpy3D(&c), CU_INVALID_VALUE);
    c.extent.height = 4;
    c.to = (cuda_pitched){d, 64, 64, 2};
    EXPECT(cudaMemcpy3D(&c), CU_INVALID_VALUE); /* one slice with more rows than there are */
    EXPECT(cudaMemset3D((cuda_pitched){d, 64, 64, 8}, 0, (cuda_extent){8, 9, 1}), CU_INVALID_VALUE);
    EXPECT(cudaMemcpy(d, h, 0, 9), 0);
    EXPECT(cudaMemcpyPeer(d, 0, h, 0, 4), CU_INVALID_VALUE); /* memory of the host */
    EXPECT(cudaGetDriverEntryPointByVersion("cuMemAlloc_v2", &p, 13000, 0, &status), 0);
    EXPECT(status, NO_SUCH_NAME);
    EXPECT(cudaGetDriverEntryPointByVersion("cuMemAlloc", &p, 14000, 0, &status), CU_INVALID_VALUE);
}

int cuLinkAddData_v2(void *link, int type, const void *data, size_t bytes, const char *name,
                     unsigned n, int *option, void **value);

/* A variable that is only declared, in a module that is loaded alone, is defined by it. */
static void declared_variables(void)
{
    static const char sized[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n.extern .global .align 4 .u32 g;\n"
        ".extern .const .align 4 .u32 c;\n"
        ".visible .entry k() { .reg .u32 r; ld.const.u32 r, [c]; add.u32 r, r, 7;\n"
        "st.global.u32 [g], r; ret; }\n";
    static const char unsized[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n.extern .global .align 4 .b8 g[];\n"
        ".visible .entry k() { st.global.u32 [g], 1; ret; }\n";
    char error[200] = "", info[200] = "";
    int option[] = {3, 4, 5, 6}; /* logs and their sizes */
    void *values[] = {info, (void *)sizeof info, error, (void *)sizeof error}, *m, *f;
    uint64_t at;
    size_t bytes;
    int value = 0;
    EXPECT(cuModuleLoadDataEx(&m, unsized, 4, option, values), 218);
    EXPECT(*error != '\0' && *info == '\0', 1);
    values[1] = (void *)sizeof info, values[3] = (void *)sizeof error;
    EXPECT(cuModuleLoadDataEx(&m, sized, 4, option, values), 0);
    EXPECT(*error == '\0' && strstr(info, "warning") != NULL, 1);
    EXPECT(cuModuleGetFunction(&f, m, "k"), 0);
    EXPECT(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), 0);
    EXPECT(cuModuleGetGlobal_v2(&at, &bytes, m, "g"), 0);
    EXPECT(cudaMemcpy(&value, (void *)at, 4, 2), 0);
    EXPECT(value == 7 && bytes == 4, 1);
}

static void modules_as_recorded(void)
{
    enum { INFO_BUFFER = 3, INFO_SIZE, LOG_BUFFER, LOG_SIZE, TARGET = 9, VERBOSE = 12 };
    enum { UNKNOWN = 77 };
    static const char newer[] =
        ".version 8.7\n.target sm_100\n.address_size 64\n.visible .entry k() { ret; }\n";
    static const char good[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n";
    static const char faulty[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { add.u32 ; }\n";
    static const char narrow[] =
        ".version 8.0\n.target sm_90\n.address_size 32\n.visible .entry k() { ret; }\n";
    char log[200] = "";
    int option[] = {LOG_BUFFER, LOG_SIZE}, verbose[] = {INFO_BUFFER, INFO_SIZE, VERBOSE}, other;
    void *values[] = {log, (void *)sizeof log, (void *)1};
    void *value[] = {log, (void *)sizeof log}, *m, *f, *link, *out, *number = (void *)80;
    size_t size;
    declared_variables();
    EXPECT(cuModuleLoadDataEx(&m, newer, 2, option, value), 218);
    EXPECT(strstr(log, "ptxas fatal") != NULL, 1);
    value[1] = (void *)sizeof log;
    EXPECT(cuModuleLoadDataEx(&m, faulty, 2, option, value), 218);
    EXPECT(strstr(log, "ptxas application ptx input, line 4; error   : ") == log, 1);
    EXPECT((uintptr_t)value[1], strlen(log));
    value[1] = (void *)9; /* a full buffer: its size counts */
    EXPECT(cuModuleLoadDataEx(&m, faulty, 2, option, value), 218);
    EXPECT((uintptr_t)value[1] == 9 && strlen(log) == 8, 1);
    value[1] = (void *)sizeof log;
    EXPECT(cuModuleLoadDataEx(&m, narrow, 2, option, value), 218);
    EXPECT(strstr(log, "ptxas fatal") == log, 1);
    EXPECT(cuModuleLoadDataEx(&m, good, 3, verbose, values), 0);
    EXPECT(strstr(log, "Function properties for 'k'") != NULL, 1);
    EXPECT((uintptr_t)values[1] == strlen(log), 1);
    other = TARGET;
    EXPECT(cuModuleLoadDataEx(&m, good, 1, &other, &number), 218);
    other = UNKNOWN;
    EXPECT(cuModuleLoadDataEx(&m, good, 1, &other, &number), CU_INVALID_VALUE);
    EXPECT(cuModuleLoadDataEx(&m, good, 0, NULL, NULL), 0);
    EXPECT(cuModuleGetFunction(&f, m, ""), CU_INVALID_VALUE);
    EXPECT(cuModuleGetFunction(&f, m, "k"), 0);
    EXPECT(cuLinkCreate_v2(0, NULL, NULL, &link), 0);
    EXPECT(cuLinkComplete(link, &out, &size), 0);
    EXPECT(memcmp(out, "\177ELF", 4), 0);
    EXPECT(cuLinkComplete(link, &out, &size), CU_INVALID_HANDLE);
    EXPECT(cuModuleLoadData(&m, out), 0); /* nothing was linked: an empty module */
    EXPECT(cuModuleGetFunction(&f, m, "k"), 500);
    EXPECT(cuLinkDestroy(link), 0);
    value[1] = (void *)sizeof log;
    EXPECT(cuLinkCreate_v2(2, option, value, &link), 0);
    EXPECT(cuLinkAddData_v2(link, 1, good, 0, "g", 0, NULL, NULL), CU_INVALID_VALUE);
    EXPECT(cuLinkAddData_v2(link, 1, good, sizeof good, "g", 0, NULL, NULL), 0);
    EXPECT(cuLinkAddData_v2(link, 1, faulty, sizeof faulty, "f", 0, NULL, NULL), 218);
    EXPECT((uintptr_t)value[1], strlen(log));
    EXPECT(cuLinkAddData_v2(NULL, 1, good, sizeof good, "g", 0, NULL, NULL), CU_INVALID_HANDLE);
    EXPECT(cuLinkComplete(NULL, &out, &size), CU_INVALID_HANDLE);
    EXPECT(cuLinkComplete(link, &out, &size), 999);
    EXPECT(cuLinkDestroy(link), 0);
    EXPECT(cuLinkDestroy(NULL), CU_INVALID_HANDLE);
    EXPECT(cuModuleLoadDataEx(&m, good, 0, NULL, NULL), 0);
    EXPECT(cuModuleGetFunction(&f, m, "k"), 0);
    EXPECT(cuModuleLoadData(NULL, good), CU_INVALID_VALUE);
    /* A parameter block may be too short, but not too long. */
    uint64_t bytes = 0;
    void *extra[] = {(void *)1, log, (void *)2, &bytes, NULL};
    EXPECT(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra), 0);
    bytes = 4;
    EXPECT(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra), CU_OUT_OF_RESOURCES);
}

int cuArrayDestroy(void *a);
int cudaCreateSurfaceObject(unsigned long long *out, const void *resource);
int cudaDeviceGetP2PAttribute(int *value, int k, int from, int to);
int cudaSetDeviceFlags(unsigned flags);
int cudaGetDeviceFlags(unsigned *flags);
int cudaDeviceReset(void);
int cudaDeviceCanAccessPeer(int *can, int device, int peer);
int cudaSetValidDevices(const int *device, int n);
int cuMemExportToShareableHandle(void *out, uint64_t handle, int type, unsigned long long flags);
int cuMemAlloc_v2(uint64_t *p, size_t bytes);
int cuMemFree_v2(uint64_t p);

static void arguments_as_recorded(void)
{
    enum { LINEAR_MEMORY = 2, YIELD = 2, MAPS_HOST = 8, NONPORTABLE = 14, NO_ATTRIBUTE = 50 };
    const cuda_resource linear = {.type = LINEAR_MEMORY};
    cuda_launch_attribute a = {.id = ATTRIBUTE_CLUSTER, .value.cluster = {64, 1, 1}};
    const cuda_launch_config c = {
        .grid = {64, 1, 1}, .block = {1, 1, 1}, .attribute = &a, .attributes = 1};
    unsigned long long surface;
    unsigned flags;
    int n;
    EXPECT(cuArrayDestroy(NULL), CU_INVALID_HANDLE);
    EXPECT(cudaCreateSurfaceObject(&surface, &linear), CU_INVALID_CHANNEL);
    EXPECT(cudaDeviceGetP2PAttribute(&n, NO_ATTRIBUTE, 0, 12), CU_INVALID_DEVICE);
    EXPECT(cudaOccupancyMaxPotentialClusterSize(&n, stub_nop, &c), CU_INVALID_CLUSTER);
    cuda_launch_config changed = c;
    EXPECT(cudaFuncSetAttribute(stub_nop, NONPORTABLE, 1), 0);
    EXPECT(cudaOccupancyMaxActiveClusters(&n, stub_nop, &c), 0);
    EXPECT(n, 0); /* 64 blocks: permitted, but none fits */
    EXPECT(cudaOccupancyMaxPotentialClusterSize(&n, stub_nop, &c), 0);
    EXPECT(n, 16);
    EXPECT(cudaFuncSetAttribute(stub_nop, NONPORTABLE, 0), 0);
    changed.attributes = 0;
    EXPECT(cudaOccupancyMaxActiveClusters(&n, stub_nop, &changed), 0);
    EXPECT(n, 0); /* the launch has no clusters */
    changed.grid.x = 0;
    EXPECT(cudaOccupancyMaxActiveClusters(&n, stub_nop, &changed), CU_INVALID_VALUE);
    /* The size of shared memory has 32 bits. */
    EXPECT(cudaLaunchKernel(stub_nop, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, (size_t)1 << 40, 0),
           0);
    /* Memory is exported as the type of handle for which it was created. */
    const struct {
        int type, handle_types, location_type, location;
        char rest[16];
    } not_shared = {1, 0, 1, 0, {0}};
    uint64_t handle;
    EXPECT(cuMemCreate(&handle, 2 << 20, &not_shared, 0), 0);
    EXPECT(cuMemExportToShareableHandle(&n, handle, 1, 0), CU_INVALID_VALUE);
    EXPECT(cuMemRelease(handle), 0);
    EXPECT(cudaSetDeviceFlags(YIELD), 0);
    /* The context that was reset is still current; a new one starts with the next call. */
    EXPECT(cudaDeviceReset(), 0);
    EXPECT(cudaGetDeviceFlags(&flags), 0);
    EXPECT(flags, 0);
    EXPECT(cudaFree(NULL), 0);
    EXPECT(cudaGetDeviceFlags(&flags), 0);
    EXPECT(flags, MAPS_HOST);
    n = 7;
    EXPECT(cudaDeviceCanAccessPeer(&n, 0, 99), CU_INVALID_DEVICE);
    EXPECT(n, 7);
    EXPECT(cudaSetValidDevices((int[]){0, 99}, 2), CU_INVALID_VALUE);
}

int cuFuncGetAttribute(int *value, int attribute, void *f);
int cuFuncSetCacheConfig(void *f, int config);
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, void *f, int threads, size_t shared);

/* Attributes of kernels, and the shared memory that remains for blocks when the program prefers a
 * large L1. */
static void kernels_as_recorded(void)
{
    enum { MOST_THREADS = 0, CARVEOUT = 9, WIDTH = 11, PREFER_L1 = 2, KIB = 1024 };
    static const char text[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry shaped() .reqntid 32, 2, 1 { ret; }\n"
        ".visible .entry pair() .explicitcluster .reqnctapercluster 2, 1, 1 { ret; }\n"
        ".visible .entry upto() .maxntid 128 .maxclusterrank 2 { ret; }\n"
        ".visible .entry shares() { .shared .align 4 .b8 s[100]; .reg .b32 r;\n"
        "mov.u32 r, s; st.shared.u32 [r], r; ret; }\n";
    cuda_launch_attribute a = {.id = ATTRIBUTE_CLUSTER, .value.cluster = {4, 1, 1}};
    const cuda_launch_config fours = {
        .grid = {4, 1, 1}, .block = {1, 1, 1}, .attribute = &a, .attributes = 1};
    void *m, *f;
    int n, grid;
    EXPECT(cuModuleLoadData(&m, text), 0);
    EXPECT(cuModuleGetFunction(&f, m, "shaped"), 0);
    EXPECT(cuFuncGetAttribute(&n, MOST_THREADS, f), 0);
    EXPECT(n, 1024);
    EXPECT(cuModuleGetFunction(&f, m, "pair"), 0);
    EXPECT(cudaFuncSetAttribute(f, WIDTH, 4), CU_INVALID_VALUE);
    EXPECT(cudaOccupancyMaxActiveClusters(&n, f, &fours), CU_INVALID_CLUSTER);
    EXPECT(cudaOccupancyMaxPotentialClusterSize(&n, f, &fours), CU_INVALID_CLUSTER);
    EXPECT(cuModuleGetFunction(&f, m, "upto"), 0);
    EXPECT(cudaLaunchKernelExC(&fours, f, NULL), CU_INVALID_CLUSTER);
    a.value.cluster[0] = 2;
    EXPECT(cudaLaunchKernelExC(&fours, f, NULL), 0);
    EXPECT(cudaFuncSetAttribute(stub_nop, CARVEOUT, -1), 0); /* clears the last error */
    EXPECT(cudaGetLastError(), 0);
    EXPECT(cuModuleGetFunction(&f, m, "shares"), 0);
    EXPECT(cuFuncSetCacheConfig(f, PREFER_L1), 0); /* 8 KiB, 1152 bytes a block */
    EXPECT(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, 128, 0), 0);
    EXPECT(n, 7);
    EXPECT(cuOccupancyMaxPotentialBlockSize(&grid, &n, f, NULL, 0, 100), 0);
    EXPECT(n, 100);
    EXPECT(cudaFuncSetAttribute(f, CARVEOUT, 100), 0);
    EXPECT(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, 128, 16 * KIB), 0);
    EXPECT(n, 13);
    EXPECT(cudaFuncSetAttribute(f, CARVEOUT, 0), 0);
    EXPECT(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, 128, 16 * KIB), 0);
    EXPECT(n, 1);
}

int cudaLibraryLoadData(void **out, const void *code, int *option, void **value, unsigned n,
                        void *library_option, void **library_value, unsigned library_n);
int cuLibraryGetModule(void **out, void *library);
int cudaLibraryUnload(void *library);
int cuEventCreate(void **out, unsigned flags);
int cuModuleGetGlobal_v2(uint64_t *address, size_t *bytes, void *m, const char *name);
int cuModuleUnload(void *m);
int cuEventRecord(void *event, void *stream);

/* The memory of a context ends with it. Its kernels and events are not those of another one, except
 * for kernels of libraries. */
static void contexts_as_recorded(void)
{
    static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                               ".visible .entry k() { ret; }\n";
    void *c, *of, *m, *f, *library, *event;
    uint64_t p;
    size_t bytes;
    EXPECT(cuModuleLoadData(&m, text), 0);
    EXPECT(cuModuleGetFunction(&f, m, "k"), 0);
    EXPECT(cuModuleGetGlobal_v2(&p, &bytes, m, "k"), CU_INVALID_VALUE);
    EXPECT(cuModuleGetGlobal_v2(NULL, NULL, m, "k"), CU_INVALID_VALUE);
    EXPECT(cudaLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0), 0);
    EXPECT(cuEventCreate(&event, 0), 0);
    EXPECT(cuCtxDestroy_v2(NULL), CU_INVALID_VALUE);
    EXPECT(cuCtxCreate_v4(&c, NULL, 0, 0), 0);
    EXPECT(cuStreamGetCtx(NULL, &of), 0);
    EXPECT(of == c, 1);
    EXPECT(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CU_INVALID_HANDLE);
    EXPECT(cuEventRecord(event, NULL), CU_INVALID_HANDLE);
    EXPECT(cuLibraryGetModule(&m, library), 0);
    EXPECT(cuModuleGetFunction(&f, m, "k"), 0);
    EXPECT(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), 0);
    EXPECT(cuModuleUnload(m), CU_NOT_PERMITTED);
    EXPECT(cudaLibraryUnload(library), 0);
    EXPECT(cuMemAlloc_v2(&p, 64), 0);
    EXPECT(cuCtxDestroy_v2(c), 0);
    EXPECT(cuMemFree_v2(p), CU_INVALID_VALUE);
}

int cudaLogsRegisterCallback(void *fn, void *arg, void **handle);
int cudaLogsUnregisterCallback(void *handle);
int cudaLogsCurrent(unsigned *iterator, unsigned flags);
int cudaLogsDumpToMemory(unsigned *iterator, char *buffer, size_t *size, unsigned flags);

static void see_log(void *seen, int level, char *message, size_t length)
{
    *(int *)seen +=
        level == 0 && strlen(message) == length && strstr(message, "cudaMalloc") != NULL;
}

int cudaDeviceGetHostAtomicCapabilities(unsigned *out, const int *operation, unsigned n,
                                        int device);

static void logs_as_recorded(void)
{
    unsigned capability = 9;
    EXPECT(cudaDeviceGetHostAtomicCapabilities(&capability, (int[]){0}, 1, 0), 0);
    EXPECT(capability, 0);
    EXPECT(cudaDeviceGetHostAtomicCapabilities(&capability, (int[]){0}, 0, 0), CU_INVALID_VALUE);
    int seen = 0;
    unsigned at = 99;
    char text[400];
    size_t size = sizeof text;
    void *handle, *fn;
    void (*const watcher)(void *, int, char *, size_t) = see_log;
    memcpy(&fn, &watcher, sizeof fn);
    EXPECT(cudaLogsCurrent(&at, 0), 0);
    EXPECT(cudaLogsRegisterCallback(fn, &seen, &handle), 0);
    EXPECT(cudaMalloc(NULL, 4), CU_INVALID_VALUE);
    EXPECT(seen, 1);
    EXPECT(cudaLogsUnregisterCallback(handle), 0);
    EXPECT(cudaMalloc(NULL, 4), CU_INVALID_VALUE);
    EXPECT(seen, 1);
    EXPECT(cudaLogsDumpToMemory(&at, text, &size, 0), 0);
    EXPECT(size == strlen(text) && strstr(text, "cudaErrorInvalidValue") != NULL, 1);
    EXPECT(cudaLogsDumpToMemory(&at, text, &size, 0), 0);
    EXPECT(size, 0);
    size = 20;
    EXPECT(cudaLogsDumpToMemory(NULL, text, &size, 0), CU_INVALID_VALUE); /* no line fits */
    EXPECT(size, 0);
    EXPECT(cudaLogsUnregisterCallback(handle), CU_INVALID_VALUE);
}

/* The message is on standard error, from the first call that waits. An empty copy does not wait. */
void asserts(void)
{
    enum { FAILED = 710 };
    static const char text[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n,"
        " .param .b64 s);\n.global .align 1 .b8 text[2] = {120, 0};\n"
        ".visible .entry k() { .reg .b64 %d; mov.u64 %d, text; cvta.global.u64 %d, %d;\n"
        "{ .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 n; .param .b64 s;\n"
        "st.param.b64 [m], %d; st.param.b64 [f], %d; st.param.b32 [l], 1;\n"
        "st.param.b64 [n], %d; st.param.b64 [s], 1;\n"
        "call __assertfail, (m, f, l, n, s); } ret; }\n";
    void *m, *f;
    app_driver();
    EXPECT(cuModuleLoadData(&m, text), 0);
    EXPECT(cuModuleGetFunction(&f, m, "k"), 0);
    EXPECT(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), 0);
    EXPECT(cudaPeekAtLastError(), 0);
    fputs("launched\n", stderr);
    EXPECT(cudaDeviceSynchronize(), FAILED);
    EXPECT(cudaMemcpy(&m, f, 0, COPY_D2H), 0);
    EXPECT(cudaMemcpy(&m, f, 8, COPY_D2H), FAILED);
}

int cudaMalloc3DArray(void **out, const cuda_channel *channel, cuda_extent e, unsigned flags);
int cudaGraphAddMemcpyNode(void **out, void *graph, void *const *before, size_t n,
                           const cuda_copy3d *p);
int cudaArrayGetSparseProperties(void *out, void *array);

/* Recorded on an H200: limits of arrays, nodes that copy nothing, and calls during a capture. */
static void limits_of_nodes_and_arrays(void)
{
    enum { LAYERED = 1, SURFACE = 2, CUBEMAP = 4, SPARSE = 0x40 };
    const cuda_channel channel = {32, 0, 0, 0, 2};
    void *a, *graph, *node, *exec, *s, *d, *m, *pool;
    char h[64] = "";
    EXPECT(cudaMalloc3DArray(&a, &channel, (cuda_extent){2, 2, 16385}, 0), 0);
    EXPECT(cudaMalloc3DArray(&a, &channel, (cuda_extent){16384, 2, 16385}, 0), CU_INVALID_VALUE);
    EXPECT(cudaMalloc3DArray(&a, &channel, (cuda_extent){32769, 2, 2}, LAYERED), CU_INVALID_VALUE);
    EXPECT(cudaMalloc3DArray(&a, &channel, (cuda_extent){256, 256, 0}, SPARSE | SURFACE),
           CU_INVALID_VALUE);
    struct {
        unsigned tile[3], tail_level;
        unsigned long long tail_bytes;
        unsigned flags, reserved[4];
    } p;
    EXPECT(cudaMalloc3DArray(&a, &channel, (cuda_extent){100, 100, 0}, SPARSE), 0);
    EXPECT(cudaArrayGetSparseProperties(&p, a), 0);
    EXPECT(p.tail_bytes == 65536 && p.flags == 1, 1); /* smaller than a tile */
    EXPECT(cudaMalloc3DArray(&a, &channel, (cuda_extent){64, 64, 64}, SPARSE), 0);
    EXPECT(cudaArrayGetSparseProperties(&p, a), 0);
    EXPECT(p.tile[0] == 32 && p.tile[1] == 32 && p.tile[2] == 16, 1);
    EXPECT(cudaMalloc(&d, 64), 0);
    EXPECT(cudaGraphCreate(&graph, 0), 0);
    cuda_copy3d c = {.from = {h, 8, 8, 2}, .to = {d, 8, 8, 2}, .extent = {8, 0, 1}, .kind = 1};
    EXPECT(cudaMemcpy3D(&c), 0);
    EXPECT(cudaGraphAddMemcpyNode(&node, graph, NULL, 0, &c), CU_INVALID_VALUE);
    c.extent.height = 2;
    EXPECT(cudaGraphAddMemcpyNode(&node, graph, NULL, 0, &c), 0);
    EXPECT(cudaDeviceGetDefaultMemPool(&pool, 0), 0);
    EXPECT(cudaMallocManaged(&m, 4096, 1), 0);
    EXPECT(cudaStreamCreate(&s), 0);
    for (int k = 0; k < 4; k++) {
        EXPECT(cudaStreamBeginCapture(s, 0), 0);
        EXPECT(k == 0   ? cudaGraphInstantiate(&exec, graph, 0)
               : k == 1 ? cudaMemPoolTrimTo(pool, 0)
               : k == 2 ? cudaMemAdvise(m, 4096, 1, 1)
                        : cudaMallocAsync(&a, 64, (void *)2),
               CU_CAPTURE_UNSUPPORTED);
        EXPECT(cudaStreamEndCapture(s, &node), 901);
    }
    EXPECT(cudaStreamBeginCapture(s, 0), 0);
    EXPECT(cudaStreamBeginCapture(NULL, 2), 906);
    EXPECT(cudaStreamEndCapture(s, &node), 901);
}

int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int threads,
                                                  size_t shared);
int cudaMemRangeGetAttribute(void *value, size_t bytes, int attribute, const void *p, size_t n);
int cudaDeviceSetCacheConfig(int config);

int cuMemMapArrayAsync(const void *list, unsigned n, void *stream);
int cudaMemcpy2DToArray(void *to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                        size_t height, int kind);
int cudaMemcpy2DFromArray(void *to, size_t pitch, const void *from, size_t x, size_t y,
                          size_t width, size_t height, int kind);

/* Texels of a sparse array without memory are zero, whatever is copied there. A tile keeps its
 * contents in the pool. */
static void sparse_tiles(void)
{
    enum { SPARSE = 0x40, MAP = 1, UNMAP = 2, H2D = 1, D2H = 2, TILE = 512 };
    const cuda_channel channel = {32, 0, 0, 0, 2};
    struct {
        int type, handles, location_type, location;
        void *meta;
        unsigned char compression, direct;
        unsigned short usage;
        unsigned char reserved[4];
    } pool_properties = {1, 0, 1, 0, NULL, 0, 0, 1, {0}};
    struct {
        int resource;
        void *array;
        int part, unused;
        unsigned level[2], offset[3], extent[3];
        int operation, handle_type;
        uint64_t pool, at;
        unsigned devices, flags, reserved[2];
    } m = {.extent = {128, 128, 1}, .operation = MAP, .devices = 1};
    void *a;
    float in[2] = {5, 6}, out[2] = {9, 9};
    uint64_t pool;
    EXPECT(cudaMalloc3DArray(&a, &channel, (cuda_extent){512, 512, 0}, SPARSE), 0);
    EXPECT(cuMemCreate(&pool, 2 << 20, &pool_properties, 0), 0);
    EXPECT(cudaMemcpy2DToArray(a, TILE, 0, in, 8, 8, 1, H2D), 0);
    EXPECT(cudaMemcpy2DFromArray(out, 8, a, TILE, 0, 8, 1, D2H), 0);
    EXPECT(out[0] + out[1] == 0, 1);
    m.array = a;
    m.offset[0] = 128;
    m.pool = pool;
    m.at = 65536;
    EXPECT(cuMemMapArrayAsync(&m, 1, NULL), 0);
    EXPECT(cudaMemcpy2DToArray(a, TILE, 0, in, 8, 8, 1, H2D), 0);
    EXPECT(cudaMemcpy2DFromArray(out, 8, a, TILE, 0, 8, 1, D2H), 0);
    EXPECT(out[0] == 5 && out[1] == 6, 1);
    m.operation = UNMAP;
    m.pool = 0;
    EXPECT(cuMemMapArrayAsync(&m, 1, NULL), 0);
    EXPECT(cudaMemcpy2DFromArray(out, 8, a, TILE, 0, 8, 1, D2H), 0);
    EXPECT(out[0] + out[1] == 0, 1);
    m.operation = MAP;
    m.pool = pool;
    m.offset[0] = 5;
    EXPECT(cuMemMapArrayAsync(&m, 1, NULL), CU_INVALID_VALUE);
    m.offset[0] = 0;
    EXPECT(cuMemMapArrayAsync(&m, 1, NULL), 0);
    EXPECT(cudaMemcpy2DFromArray(out, 8, a, 0, 0, 8, 1, D2H), 0);
    EXPECT(out[0] == 5 && out[1] == 6, 1);
    EXPECT(cuMemMapArrayAsync(&m, 0, NULL), CU_INVALID_VALUE);
    /* Without file descriptors the tile cannot be mapped again. */
    struct rlimit all;
    EXPECT(getrlimit(RLIMIT_NOFILE, &all), 0);
    EXPECT(setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, all.rlim_max}), 0);
    EXPECT(cuMemMapArrayAsync(&m, 1, NULL), CU_OPERATING_SYSTEM);
    EXPECT(setrlimit(RLIMIT_NOFILE, &all), 0);
    /* If the pool cannot be written, the tile stays mapped and keeps its contents. */
    m.operation = UNMAP;
    m.pool = 0;
    signal(SIGXFSZ, SIG_IGN);
    EXPECT(getrlimit(RLIMIT_FSIZE, &all), 0);
    EXPECT(setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, all.rlim_max}), 0);
    EXPECT(cuMemMapArrayAsync(&m, 1, NULL), CU_OPERATING_SYSTEM);
    EXPECT(setrlimit(RLIMIT_FSIZE, &all), 0);
    EXPECT(cudaMemcpy2DFromArray(out, 8, a, 0, 0, 8, 1, D2H), 0);
    EXPECT(out[0] == 5 && out[1] == 6, 1);
    EXPECT(cuMemMapArrayAsync(&m, 1, NULL), 0);
    EXPECT(cudaMemcpy2DFromArray(out, 8, a, 0, 0, 8, 1, D2H), 0);
    EXPECT(out[0] + out[1] == 0, 1);
}

/* Recorded on an H200. */
static void events_and_hints(void)
{
    enum { NODE = 3, PREFERRED_TYPE = 5, LAST_TYPE = 7, PREFER = 3, EQUAL = 3 };
    void *s, *t, *e, *never, *graph, *m;
    float ms;
    int value = 9, blocks = 0;
    EXPECT(cudaStreamCreateWithFlags(&s, 1), 0);
    EXPECT(cudaStreamCreateWithFlags(&t, 1), 0);
    EXPECT(cudaEventCreate(&e), 0);
    EXPECT(cudaEventCreate(&never), 0);
    /* Recorded outside of the capture again, an event does not belong to it. */
    EXPECT(cudaStreamBeginCapture(s, 2), 0);
    EXPECT(cudaEventRecord(e, s), 0);
    EXPECT(cudaEventRecord(e, t), 0);
    EXPECT(cudaStreamWaitEvent(s, e, 0), 905);
    EXPECT(cudaStreamEndCapture(s, &graph), 901);
    EXPECT(cudaStreamBeginCapture(s, 2), 0);
    EXPECT(cudaEventRecord(e, s), 0);
    EXPECT(cudaEventQuery(e), CU_CAPTURED_EVENT);
    EXPECT(cudaEventQuery(e), CU_INVALID_VALUE); /* the capture is invalid */
    EXPECT(cudaStreamEndCapture(s, &graph), 901);
    EXPECT(cudaEventRecord(e, s), 0);
    EXPECT(cudaEventElapsedTime(&ms, e, never), CU_INVALID_HANDLE);
    /* Work that the program has left alone for longer than it takes has ended. */
    EXPECT(cudaLaunchKernel(stub_nop, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, s), 0);
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    EXPECT(cudaStreamQuery(s), 0);
    EXPECT(cudaMallocManaged(&m, 4096, 1), 0);
    EXPECT(cudaMemAdvise(m, 4096, PREFER, NODE), 0);
    EXPECT(cudaMemRangeGetAttribute(&value, 4, PREFERRED_TYPE, m, 4096), 0);
    EXPECT(value, 0);
    EXPECT(cudaMemPrefetchAsync(m, 4096, NODE, 0, s), 0);
    EXPECT(cudaMemRangeGetAttribute(&value, 4, LAST_TYPE, m, 4096), 0);
    EXPECT(value, NODE);
    EXPECT(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, stub_nop, 32, 20000), 0);
    EXPECT(blocks, 11);
    EXPECT(cudaDeviceSetCacheConfig(EQUAL), 0);
    EXPECT(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, stub_nop, 32, 20000), 0);
    EXPECT(blocks, 6);
    EXPECT(cudaDeviceSetCacheConfig(0), 0);
}

void as_recorded(void)
{
    app_driver();
    limits_as_recorded();
    limits_of_nodes_and_arrays();
    sparse_tiles();
    events_and_hints();
    heap_is_reused();
    heap_as_recorded();
    device_errors();
    host_memory_as_recorded();
    modules_as_recorded();
    copies_as_recorded();
    boxes_as_recorded();
    logs_as_recorded();
    captures_as_recorded();
    mappings_as_recorded();
    host_mappings();
    host_pools();
    pools_as_recorded();
    arguments_as_recorded();
    kernels_as_recorded();
    contexts_as_recorded();
    EXPECT(cudaDeviceFlushGPUDirectRDMAWrites(0, 100), 0);
    EXPECT(cudaDeviceFlushGPUDirectRDMAWrites(0, 50), CU_INVALID_VALUE);
}
