/* grammar.cu - what the language allows: functions kept apart, recursion, switches, arrays of a thread, many arguments, copies that run beside. */
#include <cstdint>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;
#define K extern "C" __global__ void

struct Pair {
    float a, b;
};
__device__ __noinline__ Pair quotient_and_rest(float x, float y)
{
    float q = truncf(x / y);
    return {q, x - q * y};
}
__device__ __noinline__ float area_of(const float *p, int n)
{
    float s = 0;
    for (int i = 0; i < n; i++) s += p[2 * i] * p[2 * ((i + 1) % n) + 1] - p[2 * i + 1] * p[2 * ((i + 1) % n)];
    return 0.5f * s;
}
//! functions_kept_apart 20 64 | f32:20480:1:100 | out f32:1280 | s s32 8
K functions_kept_apart(const float *p, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float a = area_of(p + i * n * 2, n);
    Pair q = quotient_and_rest(a, 7.5f);
    if (q.b < 0) q = quotient_and_rest(-a, 3.25f);
    out[i] = q.a + 0.001f * q.b;
}

__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
//! numbers_by_recursion 6 32 | s32:192:3:12 | out s32:192
K numbers_by_recursion(const int *n, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = fibonacci(n[i]);
}

__device__ void sort_range(int *a, int lo, int hi)
{
    if (lo >= hi) return;
    int p = a[hi], i = lo;
    for (int j = lo; j < hi; j++)
        if (a[j] < p) {
            int t = a[i];
            a[i] = a[j];
            a[j] = t;
            i++;
        }
    a[hi] = a[i];
    a[i] = p;
    sort_range(a, lo, i - 1);
    sort_range(a, i + 1, hi);
}
//! rows_sorted_by_recursion 4 32 | inout s32:3072:0:1000 | s s32 24
K rows_sorted_by_recursion(int *data, int n) { sort_range(data + (blockIdx.x * blockDim.x + threadIdx.x) * n, 0, n - 1); }

//! operations_by_number 132 128 | u8:16896:0:12 | f32:16896:0.5:2 | f32:16896:0.5:2 | out f32:16896
K operations_by_number(const uint8_t *op, const float *x, const float *y, float *z)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float a = x[i], b = y[i], r;
    switch (op[i]) {
    case 0: r = a + b; break;
    case 1: r = a - b; break;
    case 2: r = a * b; break;
    case 3: r = a / b; break;
    case 4: r = sqrtf(a * b); break;
    case 5: r = __sinf(a) * b; break;
    case 6: r = fminf(a, b); break;
    case 7: r = a > b ? a * a : b * b; break;
    case 8: r = __expf(a - b); break;
    case 9: r = floorf(a * 10) + b; break;
    case 10: r = fabsf(a - b); break;
    default: r = 0;
    }
    z[i] = r;
}

//! calculator_of_a_thread 20 96 | u8:61440:0:256 | out s32:1920 | s s32 32
// A stack of eight numbers in local memory, a byte an order.
K calculator_of_a_thread(const uint8_t *code, int *out, int len)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, sp = 0, stack[8];
    for (int k = 0; k < 8; k++) stack[k] = k + 1;
    for (int pc = 0; pc < len; pc++) {
        int c = code[i * len + pc];
        if (c < 128) {
            stack[sp] = c;
            sp = (sp + 1) & 7;
            continue;
        }
        int b = stack[(sp - 1) & 7], a = stack[(sp - 2) & 7];
        switch (c & 7) {
        case 0: a += b; break;
        case 1: a -= b; break;
        case 2: a *= b; break;
        case 3: a = b ? a % b : 0; break;
        case 4: a ^= b; break;
        case 5: a = a < b; break;
        case 6: a <<= b & 15; break;
        case 7: a = -a; break;
        }
        sp = (sp - 1) & 7;
        stack[(sp - 1) & 7] = a;
    }
    out[i] = stack[(sp - 1) & 7];
}

//! bins_of_a_thread 16 64 | u8:65536 | out u32:16384
// Sixteen counters of every thread in an array that is indexed by data.
K bins_of_a_thread(const uint8_t *data, uint32_t *out)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t bins[16] = {0};
    for (int k = 0; k < 64; k++) bins[data[k * 1024 + t] & 15]++;
    for (int k = 0; k < 16; k++) out[k * 1024 + t] = bins[k];
}

//! leaves_as_soon_as_known 500 64 | s32:32000:2:20000 | out s32:32000 | s s32 32000
K leaves_as_soon_as_known(const int *x, int *prime, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = x[i];
    if (v < 4) {
        prime[i] = 1;
        return;
    }
    if (v % 2 == 0 || v % 3 == 0) return;
    for (int d = 5; d * d <= v; d += 6)
        if (v % d == 0 || v % (d + 2) == 0) return;
    prime[i] = 1;
}

//! arguments_without_end 24 128 | f32:3072 | f32:3072 | f32:3072 | f32:3072 | f32:3072 | f32:3072 | f32:3072 | f32:3072 | out f32:3072 | out f32:3072 | out f32:3072 | s f32 0.5 | s f32 1.5 | s f32 2.5 | s f32 3.5 | s f64 0.25 | s s32 3000 | s s32 3 | s s64 77 | s u32 5
K arguments_without_end(const float *a, const float *b, const float *c, const float *d, const float *e, const float *f, const float *g, const float *h, float *x,
                        float *y, float *z, float p, float q, float r, float s, double t, int n, int shift, long long key, unsigned mask)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] = p * a[i] + q * b[i] + r * c[i] + s * d[i];
        y[i] = e[i] * f[i] - g[i] * h[i] * (float)t;
        z[i] = (i & mask) ? x[i] - y[i] : (float)((key * i) >> shift);
    }
}

//! loop_unrolled_by_three 20 128 | f32:102400:-1:1 | out f32:2560 | s s32 40
K loop_unrolled_by_three(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float a = 1, s = 0;
#pragma unroll 3
    for (int k = 0; k < n; k++) {
        a = a * 0.75f + x[k * 2560 + i];
        s += a * a;
    }
    y[i] = s;
}

//! loop_never_unrolled 20 128 | f32:2560:0:1 | out f32:2560
K loop_never_unrolled(const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i], s = v;
#pragma unroll 1
    for (int k = 1; k <= 24; k++) {
        v = v * s / k;
        s = s + (k & 1 ? v : -v);
    }
    y[i] = s;
}

template <int N> struct Poly {
    static __device__ float at(const float *c, float x) { return c[N] + x * Poly<N - 1>::at(c, x); }
};
template <> struct Poly<0> {
    static __device__ float at(const float *c, float) { return c[0]; }
};
template <typename T, int PER, class F> __device__ void each(const T *in, T *out, int n, F f)
{
#pragma unroll
    for (int k = 0; k < PER; k++) {
        int i = blockIdx.x * blockDim.x * PER + k * blockDim.x + threadIdx.x;
        if (i < n) out[i] = f(in[i]);
    }
}
//! function_to_each_of_four 100 128 | f32:51200:-1:1 | f32:10:-1:1 | out f32:51200 | s s32 51111
K function_to_each_of_four(const float *in, const float *c, float *out, int n)
{
    each<float, 4>(in, out, n, [=](float x) { return Poly<9>::at(c, x); });
}

//! copies_one_ahead 66 128 | f32:135168:-1:1 | f32:135168:-1:1 | out f32:135168 | s s32 16
// The next tile comes while this one is used, by copies that need no registers.
K copies_one_ahead(const float *a, const float *b, float *c, int tiles)
{
    __shared__ __align__(16) float sa[2][512], sb[2][512];
    int t = threadIdx.x, step = 0;
    auto fetch = [&](int tile, int s) {
        __pipeline_memcpy_async(&sa[s][t * 4], &a[tile * 512 + t * 4], 16);
        __pipeline_memcpy_async(&sb[s][t * 4], &b[tile * 512 + t * 4], 16);
        __pipeline_commit();
    };
    int per = 264 / gridDim.x, first = blockIdx.x * per;
    fetch(first, 0);
    for (int i = 0; i < per; i++, step ^= 1) {
        if (i + 1 < per) {
            fetch(first + i + 1, step ^ 1);
            __pipeline_wait_prior(1);
        } else
            __pipeline_wait_prior(0);
        __syncthreads();
        for (int k = t; k < 512; k += 128) c[(first + i) * 512 + k] = sa[step][k] * sb[step][511 - k] + tiles;
        __syncthreads();
    }
}

//! bulk_copy_by_one_thread 132 128 | f32:135168:-1:1 | out f32:132
// 4 KB a block through the copy unit, a barrier object tells when they have come.
K bulk_copy_by_one_thread(const float *in, float *sums)
{
    __shared__ __align__(128) float tile[1024];
    __shared__ float part[4];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    if (threadIdx.x == 0) {
        init(&bar, blockDim.x);
        cuda::device::experimental::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    cuda::barrier<cuda::thread_scope_block>::arrival_token token;
    if (threadIdx.x == 0) {
        cuda::device::experimental::cp_async_bulk_global_to_shared(tile, in + blockIdx.x * 1024, sizeof tile, bar);
        token = cuda::device::barrier_arrive_tx(bar, 1, sizeof tile);
    } else
        token = bar.arrive();
    bar.wait(std::move(token));
    float s = 0;
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) s += tile[i] * tile[i];
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
    __syncthreads();
    if (threadIdx.x == 0) sums[blockIdx.x] = part[0] + part[1] + part[2] + part[3];
}

//! sums_of_a_cluster_of_two 40 128 | f32:40960:-1:1 | out f32:20
extern "C" __global__ void __cluster_dims__(2, 1, 1) sums_of_a_cluster_of_two(const float *in, float *out)
{
    __shared__ float total;
    __shared__ float s[128];
    cg::cluster_group cluster = cg::this_cluster();
    float v = 0;
    for (int k = 0; k < 8; k++) v += in[(blockIdx.x * 8 + k) * 128 + threadIdx.x];
    s[threadIdx.x] = v;
    __syncthreads();
    for (int h = 64; h; h >>= 1) {
        if (threadIdx.x < h) s[threadIdx.x] += s[threadIdx.x + h];
        __syncthreads();
    }
    if (threadIdx.x == 0) total = s[0];
    cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x == 0) out[blockIdx.x / 2] = total + *cluster.map_shared_rank(&total, 1);
    cluster.sync();
}

//! whole_grid_meets_twice 100 128 | inout f32:12800:0:1 | scratch u32:1 | s s32 3
// All blocks fit at once; a counter in memory holds them together between steps.
K whole_grid_meets_twice(float *x, volatile unsigned *arrived, int steps)
{
    int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int s = 0; s < steps; s++) {
        float l = __ldcg(x + (i + n - 1) % n), r = __ldcg(x + (i + 1) % n), m = __ldcg(x + i);
        __syncthreads();
        for (int half = 0; half < 2; half++) {
            if (half) x[i] = 0.25f * l + 0.5f * m + 0.25f * r;
            __threadfence();
            __syncthreads();
            if (threadIdx.x == 0) {
                atomicAdd((unsigned *)arrived, 1u);
                while (*arrived < gridDim.x * (2 * s + half + 1)) {}
                __threadfence();
            }
            __syncthreads();
        }
    }
}

//! group_copies_tile 50 128 2048 | s32:25600:-100:100 | out s32:50
K group_copies_tile(const int *in, int *out)
{
    extern __shared__ int shared[];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, shared, in + blockIdx.x * 512, sizeof(int) * 512);
    cg::wait(block);
    int v = 0;
    for (int i = block.thread_rank(); i < 512; i += block.size()) v = max(v, shared[i] * shared[511 - i]);
    v = __reduce_max_sync(~0u, v);
    if (threadIdx.x % 32 == 0) atomicMax(&out[blockIdx.x], v);
}
