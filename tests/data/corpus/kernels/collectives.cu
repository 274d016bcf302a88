/* collectives.cu - sums, prefixes, bins and orders: each idiom of textbooks once more, as people write them. */
#include <cstdint>
#include <climits>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
#define K extern "C" __global__ void

//! sum_by_modulo 40 256 1024 | s32:10240:-1000:1000 | out s32:40 | s u32 10000
K sum_by_modulo(const int *in, int *out, unsigned n)
{
    extern __shared__ int sdata[];
    unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    sdata[tid] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        if (tid % (2 * s) == 0) sdata[tid] += sdata[tid + s];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = sdata[0];
}

//! sum_by_strided_index 40 256 1024 | f32:10240:-1:1 | out f32:40 | s u32 10000
K sum_by_strided_index(const float *in, float *out, unsigned n)
{
    extern __shared__ float fdata[];
    unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    fdata[tid] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        unsigned index = 2 * s * tid;
        if (index < blockDim.x) fdata[index] += fdata[index + s];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = fdata[0];
}

//! sum_first_add_then_halves 500 128 512 | u32:128000 | out u32:500 | s u32 127777
K sum_first_add_then_halves(const unsigned *in, unsigned *out, unsigned n)
{
    extern __shared__ unsigned udata[];
    unsigned tid = threadIdx.x, i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;
    unsigned mySum = i < n ? in[i] : 0;
    if (i + blockDim.x < n) mySum += in[i + blockDim.x];
    udata[tid] = mySum;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 32; s >>= 1) {
        if (tid < s) udata[tid] = mySum = mySum + udata[tid + s];
        __syncthreads();
    }
    if (tid < 32) {
        mySum += udata[tid + 32];
        for (int offset = 16; offset > 0; offset /= 2) mySum += __shfl_down_sync(0xffffffff, mySum, offset);
    }
    if (tid == 0) out[blockIdx.x] = mySum;
}

template <typename T, unsigned blockSize, bool pow2> __device__ void reduce_grid(const T *g_idata, T *g_odata, unsigned n)
{
    __shared__ T sdata[blockSize];
    unsigned tid = threadIdx.x, i = blockIdx.x * blockSize * 2 + threadIdx.x, gridSize = blockSize * 2 * gridDim.x;
    T mySum = 0;
    while (i < n) {
        mySum += g_idata[i];
        if (pow2 || i + blockSize < n) mySum += g_idata[i + blockSize];
        i += gridSize;
    }
    sdata[tid] = mySum;
    __syncthreads();
    if (blockSize >= 512 && tid < 256) sdata[tid] = mySum = mySum + sdata[tid + 256];
    __syncthreads();
    if (blockSize >= 256 && tid < 128) sdata[tid] = mySum = mySum + sdata[tid + 128];
    __syncthreads();
    if (blockSize >= 128 && tid < 64) sdata[tid] = mySum = mySum + sdata[tid + 64];
    __syncthreads();
    cg::thread_block_tile<32> tile32 = cg::tiled_partition<32>(cg::this_thread_block());
    if (tid < 32) {
        if (blockSize >= 64) mySum += sdata[tid + 32];
        for (int offset = tile32.size() / 2; offset > 0; offset /= 2) mySum += tile32.shfl_down(mySum, offset);
    }
    if (tid == 0) g_odata[blockIdx.x] = mySum;
}
//! sum_of_doubles_by_grid 64 256 | f64:100000:-1:1 | out f64:64 | s u32 100000
K sum_of_doubles_by_grid(const double *in, double *out, unsigned n) { reduce_grid<double, 256, false>(in, out, n); }
//! sum_of_words_by_grid 24 512 | s32:131072:-9:9 | out s32:24 | s u32 131072
K sum_of_words_by_grid(const int *in, int *out, unsigned n) { reduce_grid<int, 512, true>(in, out, n); }

//! least_and_most_at_once 33 256 | f32:66000:-5:5 | out f32:33 | out f32:33 | s s32 66000
K least_and_most_at_once(const float *x, float *lo, float *hi, int n)
{
    __shared__ float smin[8], smax[8];
    float a = INFINITY, b = -INFINITY;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        a = fminf(a, x[i]);
        b = fmaxf(b, x[i]);
    }
    for (int o = 16; o; o >>= 1) {
        a = fminf(a, __shfl_down_sync(~0u, a, o));
        b = fmaxf(b, __shfl_down_sync(~0u, b, o));
    }
    int w = threadIdx.x >> 5, l = threadIdx.x & 31;
    if (l == 0) smin[w] = a, smax[w] = b;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < blockDim.x / 32; i++) {
            a = fminf(a, smin[i]);
            b = fmaxf(b, smax[i]);
        }
        lo[blockIdx.x] = a;
        hi[blockIdx.x] = b;
    }
}

//! average_by_two_atomics 200 192 | s32:38400:0:1000 | zero s32:1 | zero s32:1 | s s32 38000 | s s32 500
K average_by_two_atomics(const int *x, int *sum, int *count, int n, int limit)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > limit) {
        atomicAdd(sum, x[i]);
        atomicAdd(count, 1);
    }
}

//! sum_of_groups_of_eight 20 256 | s32:20480:-50:50 | zero s32:1 | s s32 20480
K sum_of_groups_of_eight(const int *x, int *out, int n)
{
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += gridDim.x * blockDim.x) {
        int4 v = reinterpret_cast<const int4 *>(x)[i];
        sum += v.x + v.y + v.z + v.w;
    }
    sum = cg::reduce(tile, sum, cg::plus<int>());
    if (tile.thread_rank() == 0) atomicAdd(out, sum);
}

//! places_without_conflicts 40 256 2176 | s32:20480:0:100 | out s32:20480 | out s32:40 | s s32 512
// Up and down a tree, one word left out for every 32.
#define SKIP(n) ((n) >> 5)
K places_without_conflicts(const int *in, int *out, int *sums, int n)
{
    extern __shared__ int temp[];
    int t = threadIdx.x, base = blockIdx.x * n, ai = t, bi = t + n / 2;
    temp[ai + SKIP(ai)] = in[base + ai];
    temp[bi + SKIP(bi)] = in[base + bi];
    int offset = 1;
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
            temp[b + SKIP(b)] += temp[a + SKIP(a)];
        }
        offset *= 2;
    }
    if (t == 0) {
        sums[blockIdx.x] = temp[n - 1 + SKIP(n - 1)];
        temp[n - 1 + SKIP(n - 1)] = 0;
    }
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
            a += SKIP(a);
            b += SKIP(b);
            int s = temp[a];
            temp[a] = temp[b];
            temp[b] += s;
        }
    }
    __syncthreads();
    out[base + ai] = temp[ai + SKIP(ai)];
    out[base + bi] = temp[bi + SKIP(bi)];
}

//! prefix_of_four_a_thread 64 256 | u32:65536:0:1000 | out u32:65536
__device__ unsigned scan1_inclusive(unsigned v, volatile unsigned *s, unsigned size)
{
    unsigned pos = 2 * threadIdx.x - (threadIdx.x & (size - 1));
    s[pos] = 0;
    pos += size;
    s[pos] = v;
    for (unsigned offset = 1; offset < size; offset <<= 1) {
        __syncthreads();
        unsigned t = s[pos] + s[pos - offset];
        __syncthreads();
        s[pos] = t;
    }
    return s[pos];
}
K prefix_of_four_a_thread(const uint4 *src, uint4 *dst)
{
    __shared__ unsigned s[512];
    unsigned pos = blockIdx.x * blockDim.x + threadIdx.x;
    uint4 v = src[pos];
    v.y += v.x;
    v.z += v.y;
    v.w += v.z;
    unsigned before = scan1_inclusive(v.w, s, 256) - v.w;
    v.x += before;
    v.y += before;
    v.z += before;
    v.w += before;
    dst[pos] = v;
}

//! offsets_added_to_blocks 1000 128 | inout u32:128000:0:100 | u32:1000:0:100000
K offsets_added_to_blocks(unsigned *data, const unsigned *buffer)
{
    __shared__ unsigned buf;
    if (threadIdx.x == 0) buf = buffer[blockIdx.x];
    __syncthreads();
    data[blockIdx.x * blockDim.x + threadIdx.x] += buf;
}

//! kept_in_order_of_group 32 128 | s32:4096:-100:100 | zero s32:1 | zero s32:4096 | unordered
K kept_in_order_of_group(const int *in, int *count, int *out)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int v = in[blockIdx.x * blockDim.x + threadIdx.x];
    int keep = v > 0, at = cg::exclusive_scan(warp, keep), base = 0;
    if (warp.thread_rank() == 31) base = atomicAdd(count, at + keep);
    base = warp.shfl(base, 31);
    if (keep) out[base + at] = v;
}

//! bins_in_shared_then_out 16 256 | u8:65536 | zero u32:256 | s s64 65536
K bins_in_shared_then_out(const unsigned char *buffer, unsigned *histo, long size)
{
    __shared__ unsigned temp[256];
    temp[threadIdx.x] = 0;
    __syncthreads();
    int i = threadIdx.x + blockIdx.x * blockDim.x, offset = blockDim.x * gridDim.x;
    while (i < size) {
        atomicAdd(&temp[buffer[i]], 1);
        i += offset;
    }
    __syncthreads();
    atomicAdd(&histo[threadIdx.x], temp[threadIdx.x]);
}

//! bins_of_warps_four_bytes 20 192 | u32:30720 | out u32:5120 | s u32 30720
// Six histograms of 256 a block, a warp each, bytes taken out of words, merged at the end.
K bins_of_warps_four_bytes(const unsigned *data, unsigned *partial, unsigned n)
{
    __shared__ unsigned s_hist[6 * 256];
    unsigned *mine = s_hist + (threadIdx.x >> 5) * 256;
#pragma unroll
    for (unsigned i = 0; i < 8; i++) s_hist[threadIdx.x + i * 192] = 0;
    __syncthreads();
    for (unsigned pos = blockIdx.x * blockDim.x + threadIdx.x; pos < n; pos += blockDim.x * gridDim.x) {
        unsigned d = data[pos];
        atomicAdd(mine + (d >> 0 & 0xff), 1);
        atomicAdd(mine + (d >> 8 & 0xff), 1);
        atomicAdd(mine + (d >> 16 & 0xff), 1);
        atomicAdd(mine + (d >> 24 & 0xff), 1);
    }
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < 256; bin += blockDim.x) {
        unsigned sum = 0;
        for (unsigned i = 0; i < 6; i++) sum += s_hist[bin + i * 256] & 0xffffffff;
        partial[blockIdx.x * 256 + bin] = sum;
    }
}

//! partial_bins_merged 64 64 | u32:16384:0:500 | out u32:64 | s u32 256
K partial_bins_merged(const unsigned *partial, unsigned *hist, unsigned count)
{
    unsigned sum = 0;
    for (unsigned i = threadIdx.x; i < count; i += 64) sum += partial[blockIdx.x + i * 64];
    __shared__ unsigned data[64];
    data[threadIdx.x] = sum;
    for (unsigned stride = 32; stride > 0; stride >>= 1) {
        __syncthreads();
        if (threadIdx.x < stride) data[threadIdx.x] += data[threadIdx.x + stride];
    }
    if (threadIdx.x == 0) hist[blockIdx.x] = data[0];
}

//! bitonic_pairs_in_shared 16 256 | u32:8192 | iota u32:8192 | out u32:8192 | out u32:8192 | s u32 512 | s u32 1
__device__ inline void comparator(unsigned &ka, unsigned &va, unsigned &kb, unsigned &vb, unsigned dir)
{
    unsigned t;
    if ((ka > kb) == dir) {
        t = ka, ka = kb, kb = t;
        t = va, va = vb, vb = t;
    }
}
K bitonic_pairs_in_shared(const unsigned *sk, const unsigned *sv, unsigned *dk, unsigned *dv, unsigned length, unsigned dir)
{
    __shared__ unsigned k[512], v[512];
    sk += blockIdx.x * 512 + threadIdx.x, sv += blockIdx.x * 512 + threadIdx.x;
    dk += blockIdx.x * 512 + threadIdx.x, dv += blockIdx.x * 512 + threadIdx.x;
    k[threadIdx.x] = sk[0], v[threadIdx.x] = sv[0];
    k[threadIdx.x + 256] = sk[256], v[threadIdx.x + 256] = sv[256];
    for (unsigned size = 2; size < length; size <<= 1) {
        unsigned ddd = dir ^ ((threadIdx.x & (size / 2)) != 0);
        for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            unsigned pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
            comparator(k[pos], v[pos], k[pos + stride], v[pos + stride], ddd);
        }
    }
    for (unsigned stride = length / 2; stride > 0; stride >>= 1) {
        __syncthreads();
        unsigned pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
        comparator(k[pos], v[pos], k[pos + stride], v[pos + stride], dir);
    }
    __syncthreads();
    dk[0] = k[threadIdx.x], dv[0] = v[threadIdx.x];
    dk[256] = k[threadIdx.x + 256], dv[256] = v[threadIdx.x + 256];
}

//! bitonic_step_in_memory 256 128 | inout f32:32768 | s s32 512 | s s32 2048
K bitonic_step_in_memory(float *values, int j, int k)
{
    unsigned i = threadIdx.x + blockDim.x * blockIdx.x, ixj = i ^ j;
    if (ixj > i) {
        if ((i & k) == 0) {
            if (values[i] > values[ixj]) {
                float t = values[i];
                values[i] = values[ixj];
                values[ixj] = t;
            }
        }
        if ((i & k) != 0) {
            if (values[i] < values[ixj]) {
                float t = values[i];
                values[i] = values[ixj];
                values[ixj] = t;
            }
        }
    }
}

//! odd_and_even_in_one_block 1 512 | inout s32:1000:0:100000 | s s32 1000 | s s32 200
K odd_and_even_in_one_block(int *a, int n, int rounds)
{
    __shared__ int s[1024];
    for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = a[i];
    __syncthreads();
    for (int r = 0; r < rounds; r++) {
        int i = 2 * threadIdx.x + (r & 1);
        if (i + 1 < n && s[i] > s[i + 1]) {
            int t = s[i];
            s[i] = s[i + 1];
            s[i + 1] = t;
        }
        __syncthreads();
    }
    for (int i = threadIdx.x; i < n; i += blockDim.x) a[i] = s[i];
}

//! rank_in_both_halves 64 256 | u32:32768:0:64000 | out u32:32768 | s u32 512
// Merging two sorted halves by binary search of each key in the other half (here the keys are as they come).
K rank_in_both_halves(const unsigned *src, unsigned *dst, unsigned len)
{
    __shared__ unsigned s[512];
    const unsigned *p = src + blockIdx.x * len;
    unsigned t = threadIdx.x;
    s[t] = p[t];
    s[t + 256] = p[t + 256];
    __syncthreads();
    unsigned keyA = s[t], keyB = s[t + 256], lo = 0;
    for (unsigned stride = 256; stride > 0; stride >>= 1) {
        unsigned at = min(lo + stride, 256u);
        if (s[256 + at - 1] < keyA) lo = at;
    }
    unsigned a = lo + t;
    lo = 0;
    for (unsigned stride = 256; stride > 0; stride >>= 1) {
        unsigned at = min(lo + stride, 256u);
        if (s[at - 1] <= keyB) lo = at;
    }
    unsigned b = lo + t;
    atomicMax(&dst[blockIdx.x * len + min(a, len - 1)], keyA);
    atomicMax(&dst[blockIdx.x * len + min(b, len - 1)], keyB);
}

//! four_bits_counted_by_ballot 32 128 | u32:16384 | out u32:512 | s s32 8
K four_bits_counted_by_ballot(const unsigned *keys, unsigned *counts, int shift)
{
    __shared__ unsigned c[16];
    if (threadIdx.x < 16) c[threadIdx.x] = 0;
    __syncthreads();
    for (int r = 0; r < 4; r++) {
        unsigned d = keys[(blockIdx.x * 4 + r) * blockDim.x + threadIdx.x] >> shift & 15, peers = ~0u;
#pragma unroll
        for (int b = 0; b < 4; b++) {
            unsigned vote = __ballot_sync(~0u, d >> b & 1);
            peers &= d >> b & 1 ? vote : ~vote;
        }
        if (__ffs(peers) - 1 == threadIdx.x % 32) atomicAdd(&c[d], __popc(peers));
    }
    __syncthreads();
    if (threadIdx.x < 16) counts[threadIdx.x * gridDim.x + blockIdx.x] = c[threadIdx.x];
}
