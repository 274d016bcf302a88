// lanes.cu - shuffles within groups of 16 lanes, atomics and lost updates, and the indices of every thread.
#include <stdio.h>
#define K extern "C" __global__ void
#define ALL 0xffffffffu
K broadcast(const int *in, int *out, int lane) { out[threadIdx.x] = __shfl_sync(0xffffu, in[threadIdx.x], lane, 16); }
K up(const int *in, int *out, int by) { out[threadIdx.x] = __shfl_up_sync(0xffffu, in[threadIdx.x], by, 16); }
K down(const int *in, int *out, int by) { out[threadIdx.x] = __shfl_down_sync(0xffffu, in[threadIdx.x], by, 16); }
K wrap(const int *in, int *out, int by) { out[threadIdx.x] = __shfl_sync(0xffffu, in[threadIdx.x], threadIdx.x + by, 16); }
K exchange(const int *in, int *out, int mask) { out[threadIdx.x] = __shfl_xor_sync(0xffffu, in[threadIdx.x], mask, 16); }
K add_wrap(const int *in, int *out, int by) { int v = in[threadIdx.x]; out[threadIdx.x] = v + __shfl_sync(0xffffu, v, threadIdx.x + by, 16); }
K add_exchange(const int *in, int *out, int mask) { int v = in[threadIdx.x]; out[threadIdx.x] = v + __shfl_xor_sync(0xffffu, v, mask, 16); }
K exchange_arrays(const int *in, int *out, int mask)
{
    int v[4];
    for (int k = 0; k < 4; k++) v[k] = in[threadIdx.x * 4 + k];
    for (int k = 0; k < 4; k++) v[k] = __shfl_xor_sync(0xfu, v[k], mask, 16);
    for (int k = 0; k < 4; k++) out[threadIdx.x * 4 + k] = v[k];
}
K last_from_first(const int *in, int *out, int mask)
{
    int v[4];
    for (int k = 0; k < 4; k++) v[k] = in[threadIdx.x * 4 + k];
    v[3] = __shfl_xor_sync(0xfu, v[0], mask, 16);
    for (int k = 0; k < 4; k++) out[threadIdx.x * 4 + k] = v[k];
}
// Lane pairs swap element `first` of the lower lane with element `second` of the upper one.
K swap_elements(const int *in, int *out, int mask, int first, int second)
{
    int v[4];
    for (int k = 0; k < 4; k++) v[k] = in[threadIdx.x * 4 + k];
    bool low = threadIdx.x / mask % 2 == 0;
    int mine = low ? first : second, give = 0;
    for (int k = 0; k < 4; k++) give = k == mine ? v[k] : give;
    give = __shfl_xor_sync(0xfu, give, mask, 16);
    for (int k = 0; k < 4; k++) v[k] = k == mine ? give : v[k];
    for (int k = 0; k < 4; k++) out[threadIdx.x * 4 + k] = v[k];
}
K third_of_half(int *out) { out[threadIdx.x] = __shfl_sync(ALL, threadIdx.x, 3, 16); }
K count_atomic(int *sum, int n) { for (int k = 0; k < n; k++) atomicAdd(sum, 1); }
K count_unsafe(int *sum, int n) { int v = *sum; for (int k = 0; k < n; k++) v += 1; *sum = v; }
K count_once(int *sum) { *sum = *sum + 1; }
K count_once_atomic(int *sum) { atomicAdd(sum, 1); }
// Addition by compare-and-swap; tries counts the attempts.
K count_by_cas(int *sum, int *tries)
{
    int expected = *(volatile int *)sum, old;
    do {
        atomicAdd(tries, 1);
        old = atomicCAS(sum, expected, expected + 1);
        if (old == expected) break;
        expected = old;
    } while (true);
}
// Adds 0.5 to 0.25 by compare-and-swap on the bits; with conversions instead of bits the result differs.
K add_float_by_cas(float *sum, float v)
{
    unsigned *p = (unsigned *)sum, expected = *(volatile unsigned *)p, old;
    while ((old = atomicCAS(p, expected, __float_as_uint(__uint_as_float(expected) + v))) != expected) expected = old;
}
__device__ float variable = 3.14f;
K global_variable(float *out) { variable += 2.f; *out = variable; }
K hello(void) { printf("Hello World from GPU!\n"); }
K check_index(void) { printf("threadIdx:(%d) blockIdx:(%d) blockDim:(%d) gridDim:(%d)\n", threadIdx.x, blockIdx.x, blockDim.x, gridDim.x); }
K print_index(const int *a, int nx)
{
    int ix = blockIdx.x * blockDim.x + threadIdx.x, iy = blockIdx.y * blockDim.y + threadIdx.y, i = iy * nx + ix;
    printf("thread_id (%d,%d) block_id (%d,%d) coordinate (%d,%d) global index %d ival %d\n", threadIdx.x, threadIdx.y, blockIdx.x, blockIdx.y, ix, iy, i, a[i]);
}
K sum_arrays(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
__constant__ float coef[32] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
// 512 sequential loads; in each, the lanes of a warp read `distinct` different words.
K constants(float *out, int distinct)
{
    int lane = threadIdx.x % distinct;
    float sum = 0;
    for (int k = 0; k < 512; k++) sum += coef[(lane + k) % 32];
    out[threadIdx.x] = sum;
}
// Nine points in one dimension; in begins four elements before the first block's.
K stencil_constant(const float *in, float *out)
{
    __shared__ float s[32 + 8];
    unsigned i = blockIdx.x * 32 + threadIdx.x, at = threadIdx.x + 4;
    s[at] = in[i + 4];
    if (threadIdx.x < 4) { s[at - 4] = in[i]; s[at + 32] = in[i + 36]; }
    __syncthreads();
    float sum = 0;
    for (int k = 1; k <= 4; k++) sum += coef[k] * (s[at + k] - s[at - k]);
    out[i] = sum;
}
K stencil_read_only(const float *in, float *out, const float *__restrict__ c)
{
    __shared__ float s[32 + 8];
    unsigned i = blockIdx.x * 32 + threadIdx.x, at = threadIdx.x + 4;
    s[at] = in[i + 4];
    if (threadIdx.x < 4) { s[at - 4] = in[i]; s[at + 32] = in[i + 36]; }
    __syncthreads();
    float sum = 0;
    for (int k = 1; k <= 4; k++) sum += c[k] * (s[at + k] - s[at - k]);
    out[i] = sum;
}
K fused(const double *x, const double *y, const double *z, double *out) { out[0] = fma(x[0], y[0], z[0]); }
K parted(const double *x, const double *y, const double *z, double *out) { out[0] = __dadd_rn(__dmul_rn(x[0], y[0]), z[0]); }
K next_after(const float *x, float *out) { out[threadIdx.x] = nextafterf(x[threadIdx.x], 1e30f) - x[threadIdx.x]; }
K to_double(float *f, double *d) { *f = 12.1f; *d = 12.1; }
K roundings(float x, float y, float *out) { out[0] = __fmul_rn(x, y); out[1] = __fmul_rz(x, y); out[2] = __fmul_ru(x, y); out[3] = __fmul_rd(x, y); }
K power(float *p) { p[threadIdx.x] = powf(p[threadIdx.x], 2.0f); }
K power_fast(float *p) { p[threadIdx.x] = __powf(p[threadIdx.x], 2.0f); }
