/* rows.h - what mapped.cu and managed.cu share: rows of times, and kernels that go through memory.
 */
#pragma once
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define OK(call)                                                                                   \
    do {                                                                                           \
        auto e_ = (call);                                                                          \
        if ((int)e_) {                                                                             \
            printf("# %s: error %d at line %d\n", #call, (int)e_, __LINE__);                       \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* What, bytes or count, then the median, the least and the largest of the repetitions. */
static void row(const char *name, double parameter, std::vector<double> v)
{
    if (v.empty()) return;
    std::sort(v.begin(), v.end());
    printf("%s\t%.0f\t%.3f\t%.3f\t%.3f\n", name, parameter, v[v.size() / 2], v.front(), v.back());
    fflush(stdout);
}

// Each thread takes 16 bytes at a time; the blocks cover the whole memory.
__global__ void read16(const uint4 *p, size_t n, unsigned *sink)
{
    unsigned sum = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x) {
        uint4 v = p[i];
        sum += v.x ^ v.y ^ v.z ^ v.w;
    }
    if (sum == 0x12345) *sink = sum;
}
__global__ void write16(uint4 *p, size_t n)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x)
        p[i] = make_uint4(i, 1, 2, 3);
}
// One access of 4 bytes every `stride` bytes.
__global__ void strided(const char *p, size_t bytes, size_t stride, unsigned *sink)
{
    unsigned sum = 0;
    for (size_t i = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) * stride; i < bytes;
         i += (size_t)gridDim.x * blockDim.x * stride)
        sum += *(const unsigned *)(p + i);
    if (sum == 0x12345) *sink = sum;
}
__global__ void nop() {}

static const int GRID = 132 * 8, BLOCK = 256;
static unsigned *sink;
static cudaEvent_t a, b;
/* Microseconds between two events around what f puts into the stream. */
template <class F> static double events(F f)
{
    float ms;
    OK(cudaDeviceSynchronize());
    OK(cudaEventRecord(a));
    f();
    OK(cudaEventRecord(b));
    OK(cudaEventSynchronize(b));
    OK(cudaEventElapsedTime(&ms, a, b));
    return ms * 1e3;
}
