// Reductions, scans, histograms and compaction.
#include <cooperative_groups.h>
#include <cub/cub.cuh>
#include <stdint.h>
namespace cg = cooperative_groups;

//! sum_cg_tiles 96 256 | s32:98304:-1000:1000 | inout s32:4:0:1
extern "C" __global__ void sum_cg_tiles(const int *in, int *out)
{
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<32>(block);
    int s = 0;
    for (int k = 0; k < 4; k++) s += in[(blockIdx.x * 4 + k) * 256 + block.thread_rank()];
    for (int d = tile.size() / 2; d > 0; d /= 2) s += tile.shfl_down(s, d);
    if (tile.thread_rank() == 0) atomicAdd(out + (tile.meta_group_rank() & 3), s);
}

//! cub_block_reduce 64 128 | f32:65536:0:1 | out f32:64
extern "C" __global__ void cub_block_reduce(const float *in, float *out)
{
    using Reduce = cub::BlockReduce<float, 128>;
    __shared__ typename Reduce::TempStorage tmp;
    float item[8];
    const float4 *p = reinterpret_cast<const float4 *>(in + blockIdx.x * 1024);
    for (int k = 0; k < 2; k++) {
        float4 v = p[k * 128 + threadIdx.x];
        item[4 * k] = v.x;
        item[4 * k + 1] = v.y;
        item[4 * k + 2] = v.z;
        item[4 * k + 3] = v.w;
    }
    float s = Reduce(tmp).Sum(item);
    if (threadIdx.x == 0) out[blockIdx.x] = s;
}

//! cub_block_scan 48 256 | u32:49152:0:100 | out u32:49152
extern "C" __global__ void cub_block_scan(const uint32_t *in, uint32_t *out)
{
    using Load = cub::BlockLoad<uint32_t, 256, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using Store = cub::BlockStore<uint32_t, 256, 4, cub::BLOCK_STORE_WARP_TRANSPOSE>;
    using Scan = cub::BlockScan<uint32_t, 256>;
    __shared__ union { typename Load::TempStorage l; typename Store::TempStorage st; typename Scan::TempStorage s; } tmp;
    uint32_t item[4];
    Load(tmp.l).Load(in + blockIdx.x * 1024, item);
    __syncthreads();
    Scan(tmp.s).ExclusiveSum(item, item);
    __syncthreads();
    Store(tmp.st).Store(out + blockIdx.x * 1024, item);
}

//! argmax_two_level 80 512 | f32:163840:-1000:1000 | out u64:80
extern "C" __global__ void argmax_two_level(const float *v, unsigned long long *best)
{
    __shared__ unsigned long long part[16];
    float top = -INFINITY;
    int at = 0;
    for (int k = threadIdx.x; k < 2048; k += blockDim.x) {
        float x = v[blockIdx.x * 2048 + k];
        if (x > top) {
            top = x;
            at = k;
        }
    }
    unsigned key = __float_as_uint(top);
    key ^= (unsigned)((int)key >> 31) | 0x80000000u;
    unsigned long long w = (unsigned long long)key << 32 | (unsigned)(2048 - at);
    for (int d = 1; d < 32; d <<= 1) {
        unsigned long long o = __shfl_xor_sync(0xffffffffu, w, d);
        if (o > w) w = o;
    }
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = w;
    __syncthreads();
    if (threadIdx.x < 16) {
        w = part[threadIdx.x];
        for (int d = 8; d; d >>= 1) {
            unsigned long long o = __shfl_down_sync(0xffffu, w, d, 16);
            w = o > w ? o : w;
        }
        if (threadIdx.x == 0) best[blockIdx.x] = w;
    }
}

//! blelloch_scan 64 256 2048 | s32:32768:-9:9 | out s32:32768
extern "C" __global__ void blelloch_scan(const int *g_in, int *g_out)
{
    extern __shared__ int t[];
    int k = threadIdx.x, offset = 1, n = 2 * blockDim.x, base = blockIdx.x * n;
    t[2 * k] = g_in[base + 2 * k];
    t[2 * k + 1] = g_in[base + 2 * k + 1];
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (k < d) t[offset * (2 * k + 2) - 1] += t[offset * (2 * k + 1) - 1];
        offset *= 2;
    }
    if (k == 0) t[n - 1] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (k < d) {
            int a = offset * (2 * k + 1) - 1, b = offset * (2 * k + 2) - 1, x = t[a];
            t[a] = t[b];
            t[b] += x;
        }
    }
    __syncthreads();
    g_out[base + 2 * k] = t[2 * k];
    g_out[base + 2 * k + 1] = t[2 * k + 1];
}

//! hist_private 66 128 | u8:270336 | out u32:256
extern "C" __global__ void hist_private(const uint8_t *data, unsigned *bins)
{
    __shared__ unsigned h[4][257];
    for (int i = threadIdx.x; i < 4 * 257; i += 128) (&h[0][0])[i] = 0;
    __syncthreads();
    unsigned *mine = h[threadIdx.x >> 5];
    const uchar4 *p = reinterpret_cast<const uchar4 *>(data) + blockIdx.x * 1024;
    for (int i = threadIdx.x; i < 1024; i += 128) {
        uchar4 c = p[i];
        atomicAdd(&mine[c.x], 1u);
        atomicAdd(&mine[c.y], 1u);
        atomicAdd(&mine[c.z], 1u);
        atomicAdd(&mine[c.w], 1u);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += 128) atomicAdd(&bins[b], h[0][b] + h[1][b] + h[2][b] + h[3][b]);
}

//! compact_ballot 40 256 | s32:40960:-50:50 | out s32:40960 | out s32:40
extern "C" __global__ void compact_ballot(const int *in, int *out, int *count)
{
    __shared__ int warp_base[8], total;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    for (int r = 0; r < 4; r++) {
        int v = in[blockIdx.x * 1024 + r * 256 + threadIdx.x];
        bool keep = v > 10 || v % 7 == 0;
        unsigned m = __ballot_sync(~0u, keep);
        if (lane == 0) warp_base[warp] = __popc(m);
        __syncthreads();
        int base = total, all = 0;
        for (int w = 0; w < 8; w++) {
            if (w == warp) base += all;
            all += warp_base[w];
        }
        if (keep) out[blockIdx.x * 1024 + base + __popc(m & ((1u << lane) - 1))] = v;
        __syncthreads();
        if (threadIdx.x == 0) total += all;
        __syncthreads();
    }
    if (threadIdx.x == 0) count[blockIdx.x] = total;
}

//! warp_aggregated 64 256 | u32:65536:0:16 | out u32:16 | s u32 65536
extern "C" __global__ void warp_aggregated(const uint32_t *key, uint32_t *counter, uint32_t n)
{
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        uint32_t k = key[i];
        auto same = cg::labeled_partition(cg::coalesced_threads(), k);
        if (same.thread_rank() == 0) atomicAdd(&counter[k], same.size());
    }
}

//! float_min_cas 32 128 | f32:16384:-100:100 | inout f32:8:50:60
__device__ void atomic_min_float(float *p, float v)
{
    int *q = (int *)p, old = *q, seen;
    while (v < __int_as_float(old)) {
        seen = old;
        old = atomicCAS(q, seen, __float_as_int(v));
        if (old == seen) break;
    }
}
extern "C" __global__ void float_min_cas(const float *x, float *least)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    float m = x[t];
    for (int k = 1; k < 4; k++) m = fminf(m, x[t + k * 4096]);
    atomic_min_float(&least[t & 7], m);
}

//! variance_welford 60 256 | f64:61440:-5:5 | out f64:120
struct Moments {
    double mean, m2;
    int n;
};
__device__ __forceinline__ Moments join(const Moments &a, const Moments &b)
{
    Moments r;
    r.n = a.n + b.n;
    double d = b.mean - a.mean, f = r.n ? (double)b.n / r.n : 0;
    r.mean = a.mean + d * f;
    r.m2 = a.m2 + b.m2 + d * d * a.n * f;
    return r;
}
extern "C" __global__ void variance_welford(const double *x, double *out)
{
    __shared__ Moments part[8];
    Moments m = {0, 0, 0};
    for (int k = threadIdx.x; k < 1024; k += blockDim.x) {
        double v = x[blockIdx.x * 1024 + k];
        m.n++;
        double d = v - m.mean;
        m.mean += d / m.n;
        m.m2 += d * (v - m.mean);
    }
    for (int d = 16; d > 0; d >>= 1) {
        Moments o;
        o.mean = __shfl_down_sync(~0u, m.mean, d);
        o.m2 = __shfl_down_sync(~0u, m.m2, d);
        o.n = __shfl_down_sync(~0u, m.n, d);
        m = join(m, o);
    }
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = m;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; w++) m = join(m, part[w]);
        out[2 * blockIdx.x] = m.mean;
        out[2 * blockIdx.x + 1] = m.m2 / (m.n - 1);
    }
}
