/* primitives.cu - sums, prefixes, orders and bins of a block: by the library for blocks and warps, by groups, and by hand. */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/functional>
#include <cuda/std/functional>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <cstdint>
#define K extern "C" __global__ void
namespace cg = cooperative_groups;

//! library_block_sum_of_floats 132 256 | f32:135168:-1:1 | out f32:132
K library_block_sum_of_floats(const float4 *in, float *out)
{
    typedef cub::BlockReduce<float, 256> Reduce;
    __shared__ typename Reduce::TempStorage temp;
    float4 v = in[blockIdx.x * 256 + threadIdx.x];
    float x[4] = {v.x, v.y, v.z, v.w};
    float s = Reduce(temp).Sum(x);
    if (threadIdx.x == 0) out[blockIdx.x] = s;
}

struct Pair { int key; float value; };
struct Smaller {
    __device__ Pair operator()(const Pair &a, const Pair &b) const { return b.value < a.value || (b.value == a.value && b.key < a.key) ? b : a; }
};
//! library_least_pair_of_block 40 128 | f32:20480:-1:1 | out s32:80 | s s32 20480
K library_least_pair_of_block(const float *in, Pair *out, int n)
{
    typedef cub::BlockReduce<Pair, 128, cub::BLOCK_REDUCE_RAKING> Reduce;
    __shared__ typename Reduce::TempStorage temp;
    Pair best{-1, 1e30f};
    for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) best = Smaller()(best, Pair{i, in[i]});
    best = Reduce(temp).Reduce(best, Smaller());
    if (threadIdx.x == 0) out[blockIdx.x] = best;
}

//! library_load_scan_store 48 128 | s32:49152:0:100 | out s32:49152 | out s32:48
K library_load_scan_store(const int *in, int *out, int *totals)
{
    typedef cub::BlockLoad<int, 128, 8, cub::BLOCK_LOAD_WARP_TRANSPOSE> Load;
    typedef cub::BlockStore<int, 128, 8, cub::BLOCK_STORE_WARP_TRANSPOSE> Store;
    typedef cub::BlockScan<int, 128> Scan;
    __shared__ union { typename Load::TempStorage load; typename Store::TempStorage store; typename Scan::TempStorage scan; } temp;
    int v[8], all;
    Load(temp.load).Load(in + blockIdx.x * 1024, v);
    __syncthreads();
    Scan(temp.scan).ExclusiveSum(v, v, all);
    __syncthreads();
    Store(temp.store).Store(out + blockIdx.x * 1024, v);
    if (threadIdx.x == 0) totals[blockIdx.x] = all;
}

//! library_radix_sort_of_pairs 24 128 | u32:24576 | iota u32:24576 | out u32:24576 | out u32:24576
K library_radix_sort_of_pairs(const unsigned *keys, const unsigned *values, unsigned *ok, unsigned *ov)
{
    typedef cub::BlockRadixSort<unsigned, 128, 8, unsigned> Sort;
    __shared__ typename Sort::TempStorage temp;
    unsigned k[8], v[8];
    int base = blockIdx.x * 1024 + threadIdx.x * 8;
    for (int i = 0; i < 8; i++) k[i] = keys[base + i], v[i] = values[base + i];
    Sort(temp).Sort(k, v, 8, 24);
    for (int i = 0; i < 8; i++) ok[base + i] = k[i], ov[base + i] = v[i];
}

struct Greater { __device__ bool operator()(double a, double b) const { return a > b; } };
//! library_merge_sort_of_doubles 20 64 | f64:5120:-1:1 | out f64:5120
K library_merge_sort_of_doubles(const double *in, double *out)
{
    typedef cub::BlockMergeSort<double, 64, 4> Sort;
    __shared__ typename Sort::TempStorage temp;
    double v[4];
    for (int i = 0; i < 4; i++) v[i] = in[blockIdx.x * 256 + threadIdx.x * 4 + i];
    Sort(temp).Sort(v, Greater());
    for (int i = 0; i < 4; i++) out[blockIdx.x * 256 + threadIdx.x * 4 + i] = v[i];
}

//! library_bins_of_bytes 64 256 | u8:65536 | out u32:16384
K library_bins_of_bytes(const unsigned char *in, unsigned *out)
{
    typedef cub::BlockHistogram<unsigned char, 256, 4, 256, cub::BLOCK_HISTO_ATOMIC> Bins;
    __shared__ typename Bins::TempStorage temp;
    __shared__ unsigned bins[256];
    unsigned char v[4];
    for (int i = 0; i < 4; i++) v[i] = in[blockIdx.x * 1024 + i * 256 + threadIdx.x];
    Bins(temp).Histogram(v, bins);
    __syncthreads();
    out[blockIdx.x * 256 + threadIdx.x] = bins[threadIdx.x];
}

//! library_warp_sums_and_prefixes 50 128 | f32:6400:-1:1 | out f32:6400 | out f32:200
K library_warp_sums_and_prefixes(const float *in, float *prefix, float *sum)
{
    __shared__ typename cub::WarpScan<float>::TempStorage ts[4];
    __shared__ typename cub::WarpReduce<float>::TempStorage tr[4];
    int i = blockIdx.x * 128 + threadIdx.x, w = threadIdx.x / 32;
    float v = in[i], p;
    cub::WarpScan<float>(ts[w]).InclusiveScan(v, p, cuda::maximum<>{});
    float s = cub::WarpReduce<float>(tr[w]).Reduce(v, cuda::std::plus<>{});
    prefix[i] = p;
    if (threadIdx.x % 32 == 0) sum[i / 32] = s;
}

//! group_block_and_tile_reduce 66 512 | s32:270336:-9:9 | zero s32:1 | s s32 270336
K group_block_and_tile_reduce(const int *in, int *sum, int n)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    __shared__ int part[16];
    int v = 0;
    for (int i = block.group_index().x * block.size() + block.thread_rank(); i < n; i += gridDim.x * block.size()) v += in[i];
    v = cg::reduce(tile, v, cg::plus<int>());
    if (tile.thread_rank() == 0) part[tile.meta_group_rank()] = v;
    block.sync();
    if (tile.meta_group_rank() == 0) {
        v = tile.thread_rank() < tile.meta_group_size() ? part[tile.thread_rank()] : 0;
        v = cg::reduce(tile, v, cg::plus<int>());
        if (tile.thread_rank() == 0) atomicAdd(sum, v);
    }
}

//! blelloch_scan_of_a_block 32 256 2112 | f32:16384:0:1 | out f32:16384
#define SHIFTED(n) ((n) + ((n) >> 5))
K blelloch_scan_of_a_block(const float *idata, float *odata)
{
    extern __shared__ float temp[];
    int n = 512, thid = threadIdx.x, offset = 1, ai = thid, bi = thid + n / 2;
    idata += blockIdx.x * n, odata += blockIdx.x * n;
    temp[SHIFTED(ai)] = idata[ai];
    temp[SHIFTED(bi)] = idata[bi];
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (thid < d) {
            int a = offset * (2 * thid + 1) - 1, b = offset * (2 * thid + 2) - 1;
            temp[SHIFTED(b)] += temp[SHIFTED(a)];
        }
        offset *= 2;
    }
    if (thid == 0) temp[SHIFTED(n - 1)] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (thid < d) {
            int a = offset * (2 * thid + 1) - 1, b = offset * (2 * thid + 2) - 1;
            float t = temp[SHIFTED(a)];
            temp[SHIFTED(a)] = temp[SHIFTED(b)];
            temp[SHIFTED(b)] += t;
        }
    }
    __syncthreads();
    odata[ai] = temp[SHIFTED(ai)];
    odata[bi] = temp[SHIFTED(bi)];
}

template <unsigned blockSize> __device__ void warpReduce(volatile float *sdata, unsigned tid)
{
    if (blockSize >= 64) sdata[tid] += sdata[tid + 32];
    if (blockSize >= 32) sdata[tid] += sdata[tid + 16];
    if (blockSize >= 16) sdata[tid] += sdata[tid + 8];
    if (blockSize >= 8) sdata[tid] += sdata[tid + 4];
    if (blockSize >= 4) sdata[tid] += sdata[tid + 2];
    if (blockSize >= 2) sdata[tid] += sdata[tid + 1];
}
//! reduce_all_tricks_long 64 256 1024 | f32:1048576:-1:1 | out f32:64 | s u32 1048576
K reduce_all_tricks_long(float *g_idata, float *g_odata, unsigned n)
{
    extern __shared__ float sdata[];
    const unsigned blockSize = 256;
    unsigned tid = threadIdx.x, i = blockIdx.x * (blockSize * 2) + tid, gridSize = blockSize * 2 * gridDim.x;
    sdata[tid] = 0;
    while (i < n) {
        sdata[tid] += g_idata[i] + g_idata[i + blockSize];
        i += gridSize;
    }
    __syncthreads();
    if (blockSize >= 512) { if (tid < 256) sdata[tid] += sdata[tid + 256]; __syncthreads(); }
    if (blockSize >= 256) { if (tid < 128) sdata[tid] += sdata[tid + 128]; __syncthreads(); }
    if (blockSize >= 128) { if (tid < 64) sdata[tid] += sdata[tid + 64]; __syncthreads(); }
    if (tid < 32) warpReduce<blockSize>(sdata, tid);
    if (tid == 0) g_odata[blockIdx.x] = sdata[0];
}

//! radix_bit_split_by_scan 16 256 | u32:4096 | out u32:4096 | s s32 8
K radix_bit_split_by_scan(const unsigned *in, unsigned *out, int bits)
{
    __shared__ unsigned keys[256], before[256];
    int t = threadIdx.x;
    keys[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (int b = 0; b < bits; b++) {
        unsigned k = keys[t], zero = !(k >> b & 1);
        before[t] = zero;
        __syncthreads();
        for (int d = 1; d < 256; d <<= 1) {
            unsigned v = t >= d ? before[t - d] : 0;
            __syncthreads();
            before[t] += v;
            __syncthreads();
        }
        unsigned zeros = before[255], place = zero ? before[t] - 1 : zeros + t - before[t];
        __syncthreads();
        keys[place] = k;
        __syncthreads();
    }
    out[blockIdx.x * 256 + t] = keys[t];
}

//! bubble_of_even_and_odd_rows 32 128 | inout s32:8192
K bubble_of_even_and_odd_rows(int *a)
{
    __shared__ int s[256];
    int t = threadIdx.x;
    a += blockIdx.x * 256;
    s[t] = a[t], s[t + 128] = a[t + 128];
    for (int round = 0; round < 256; round++) {
        __syncthreads();
        int i = 2 * t + (round & 1);
        if (i + 1 < 256 && s[i] > s[i + 1]) {
            int x = s[i];
            s[i] = s[i + 1];
            s[i + 1] = x;
        }
    }
    __syncthreads();
    a[t] = s[t], a[t + 128] = s[t + 128];
}

//! quicksort_of_a_thread_with_stack 10 64 | inout s32:20480
K quicksort_of_a_thread_with_stack(int *data)
{
    int *a = data + (blockIdx.x * blockDim.x + threadIdx.x) * 32, stack[32], top = -1;
    stack[++top] = 0, stack[++top] = 31;
    while (top >= 0) {
        int h = stack[top--], l = stack[top--], x = a[h], i = l - 1;
        for (int j = l; j < h; j++)
            if (a[j] <= x) {
                i++;
                int t = a[i]; a[i] = a[j]; a[j] = t;
            }
        int t = a[i + 1]; a[i + 1] = a[h]; a[h] = t;
        int p = i + 1;
        if (p - 1 > l) stack[++top] = l, stack[++top] = p - 1;
        if (p + 1 < h) stack[++top] = p + 1, stack[++top] = h;
    }
}
