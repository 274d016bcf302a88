/* app_driver.c - what only the driver API has: green contexts. */
#include "tests/cudart/app.h"

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

/* Counts the blocks that an SM has, and takes some time. */
static const char where[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry where(.param .u64 to, .param .u32 n)\n"
    "{ .reg .pred p; .reg .b32 r<5>; .reg .b64 d<3>;\n"
    "  ld.param.u64 d1, [to]; mov.u32 r1, %smid; mul.wide.u32 d2, r1, 4; add.u64 d1, d1, d2;\n"
    "  red.global.add.u32 [d1], 1; ld.param.u32 r2, [n]; mov.u32 r3, 0;\n"
    "  again: add.u32 r3, r3, 1; setp.lt.u32 p, r3, r2; @p bra again; ret; }\n";

/* How many SMs have blocks; their number is `blocks`. */
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

/* The splits of the H100's 132 SMs. */
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
    EXPECT(cuDevSmResourceSplitByCount(NULL, &n, &all, NULL, 0, 133), CU_INVALID_VALUE);
    EXPECT(cuDevSmResourceSplitByCount(NULL, &n, &all, NULL, 1, 5), 0);
    EXPECT(n, 22);
    EXPECT(cuDevSmResourceSplitByCount(NULL, &n, &all, NULL, 2, 1), 0);
    EXPECT(n, 8);
    n = GROUPS;
    EXPECT(cuDevSmResourceSplitByCount(group, &n, &all, &rest, 0, 0), 0);
    EXPECT(n == 16 && group[15].sms == 8 && rest.sms == 4, 1);
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

/* Which context a stream has, and what is current. */
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

/* ms of a kernel of two blocks for each SM of a green context, and of both side by side. */
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
    /* Side by side, and eight rounds for each of them. */
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
