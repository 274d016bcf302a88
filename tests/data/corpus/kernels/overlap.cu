/* overlap.cu - copies that run beside the arithmetic: pipelines, barriers in shared memory, bulk copies, clusters and their shared memory. */
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>
#include <cstdint>

namespace cg = cooperative_groups;
using barrier_t = cuda::barrier<cuda::thread_scope_block>;

//! pipe_stages 132 128 8192 | f32:270336:-1:1 | f32:270336:-1:1 | out f32:132 | s s32 16
// A block-wide cuda::pipeline of four stages of 128 floats of two vectors; their product is summed.
extern "C" __global__ void pipe_stages(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ out, int batches)
{
    constexpr int stages = 4;
    extern __shared__ float ring[];
    auto block = cg::this_thread_block();
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    auto pipe = cuda::make_pipeline(block, &state);
    const int n = 128;
    size_t base = (size_t)blockIdx.x * batches * n;
    float s = 0;
    for (int fetch = 0, compute = 0; compute < batches; compute++) {
        for (; fetch < batches && fetch < compute + stages; fetch++) {
            pipe.producer_acquire();
            float *to = ring + fetch % stages * 2 * n;
            cuda::memcpy_async(block, to, a + base + fetch * n, cuda::aligned_size_t<16>(n * sizeof(float)), pipe);
            cuda::memcpy_async(block, to + n, b + base + fetch * n, cuda::aligned_size_t<16>(n * sizeof(float)), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        const float *from = ring + compute % stages * 2 * n;
        s += from[threadIdx.x] * from[n + (threadIdx.x ^ 1)];
        pipe.consumer_release();
    }
    auto warp = cg::tiled_partition<32>(block);
    __shared__ float part[4];
    s = cg::reduce(warp, s, cg::plus<float>());
    if (warp.thread_rank() == 0) part[warp.meta_group_rank()] = s;
    block.sync();
    if (threadIdx.x == 0) out[blockIdx.x] = part[0] + part[1] + part[2] + part[3];
}

//! warp_roles 132 160 | f32:540672:-1:1 | out f32:540672 | s s32 8
// Warp 0 copies with cp.async and arrives on barriers, four warps compute: full and empty barriers for two buffers of 512.
extern "C" __global__ void warp_roles(const float *__restrict__ in, float *__restrict__ out, int rounds)
{
    __shared__ alignas(16) float buffer[2][512];
    __shared__ barrier_t full[2], empty[2];
    if (threadIdx.x == 0)
        for (int i = 0; i < 2; i++) init(&full[i], 160), init(&empty[i], 160);
    __syncthreads();
    const float *src = in + (size_t)blockIdx.x * rounds * 512;
    if (threadIdx.x < 32) {
        for (int r = 0; r < rounds; r++) {
            empty[r & 1].arrive_and_wait();
            for (int k = threadIdx.x; k < 128; k += 32)
                cuda::memcpy_async(&buffer[r & 1][k * 4], src + r * 512 + k * 4, cuda::aligned_size_t<16>(16), full[r & 1]);
            (void)full[r & 1].arrive();
        }
    } else {
        int t = threadIdx.x - 32;
        (void)empty[0].arrive();
        (void)empty[1].arrive();
        for (int r = 0; r < rounds; r++) {
            full[r & 1].arrive_and_wait();
            for (int k = t; k < 512; k += 128) {
                float v = buffer[r & 1][k];
                for (int j = 0; j < 8; j++) v = v * 0.9f + buffer[r & 1][(k + j * 32) & 511] * 0.1f;
                out[((size_t)blockIdx.x * rounds + r) * 512 + k] = v;
            }
            if (r + 2 < rounds + 2) (void)empty[r & 1].arrive();
        }
    }
}

//! bulk_double 264 256 | f32:1081344:-1:1 | out f32:1081344 | s s32 4
// Two buffers of 1024 floats filled by cp.async.bulk, results sent back by bulk copies too.
extern "C" __global__ void bulk_double(const float *__restrict__ in, float *__restrict__ out, int tiles)
{
    __shared__ alignas(128) float from[2][1024];
    __shared__ alignas(128) float to[2][1024];
    __shared__ alignas(8) uint64_t bar[2];
    namespace ptx = cuda::ptx;
    size_t base = (size_t)blockIdx.x * tiles * 1024;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar[0], 1);
        ptx::mbarrier_init(&bar[1], 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        for (int i = 0; i < 2 && i < tiles; i++) {
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar[i], 4096);
            ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, from[i], in + base + i * 1024, 4096, &bar[i]);
        }
    }
    __syncthreads();
    for (int i = 0; i < tiles; i++) {
        int b = i & 1;
        while (!ptx::mbarrier_try_wait_parity(&bar[b], (i >> 1) & 1)) {}
        if (threadIdx.x == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<1>());
        __syncthreads();
        for (int k = threadIdx.x; k < 1024; k += 256) {
            float v = from[b][k];
            to[b][k] = v * v * v - 0.5f * v;
        }
        ptx::fence_proxy_async(ptx::space_shared);
        __syncthreads();
        if (threadIdx.x == 0) {
            ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + base + i * 1024, to[b], 4096);
            ptx::cp_async_bulk_commit_group();
            if (i + 2 < tiles) {
                ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar[b], 4096);
                ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, from[b], in + base + (i + 2) * 1024, 4096, &bar[b]);
            }
        }
    }
    if (threadIdx.x == 0) ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
}

//! cluster_matvec 64 256 | f32:1048576:-1:1 | f32:1024:-1:1 | out f32:1024
// Clusters of four: each block has a quarter of the vector, the blocks read each other's partial sums.
extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_matvec(const float *__restrict__ A, const float *__restrict__ x, float *__restrict__ y)
{
    auto cluster = cg::this_cluster();
    __shared__ float xs[256], part[64];
    int rank = cluster.block_rank(), group = blockIdx.x / 4, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    xs[threadIdx.x] = x[rank * 256 + threadIdx.x];
    __syncthreads();
    for (int r = warp; r < 64; r += 8) {
        const float *row = A + (size_t)(group * 64 + r) * 1024 + rank * 256;
        float s = 0;
        for (int k = lane; k < 256; k += 32) s += row[k] * xs[k];
        for (int o = 16; o; o /= 2) s += __shfl_xor_sync(~0u, s, o);
        if (lane == 0) part[r] = s;
    }
    cluster.sync();
    if (threadIdx.x < 16) {
        int r = rank * 16 + threadIdx.x;
        float s = 0;
        for (int b = 0; b < 4; b++) s += cluster.map_shared_rank(part, b)[r];
        y[group * 64 + r] = s;
    }
    cluster.sync();
}

//! cluster_scan 128 512 | s32:262144:0:100 | out s32:262144
// Eight blocks of 2048 make sums of 16384: block sums written to every later block by remote atomics.
extern "C" __global__ void __cluster_dims__(8, 1, 1) cluster_scan(const int4 *__restrict__ in, int4 *__restrict__ out)
{
    auto cluster = cg::this_cluster();
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    __shared__ int before, warps[16];
    if (threadIdx.x == 0) before = 0;
    int4 v = in[blockIdx.x * 512 + threadIdx.x];
    v.y += v.x, v.z += v.y, v.w += v.z;
    int up = cg::exclusive_scan(warp, v.w);
    if (warp.thread_rank() == 31) warps[warp.meta_group_rank()] = up + v.w;
    cluster.sync();
    int base = up, total = 0;
    for (int k = 0; k < 16; k++) {
        if (k < (int)warp.meta_group_rank()) base += warps[k];
        total += warps[k];
    }
    if (threadIdx.x > cluster.block_rank() && threadIdx.x < 8) atomicAdd(cluster.map_shared_rank(&before, threadIdx.x), total);
    cluster.sync();
    base += before;
    out[blockIdx.x * 512 + threadIdx.x] = make_int4(base + v.x, base + v.y, base + v.z, base + v.w);
}

//! remote_transpose 256 32,8 | f32:262144:-1:1 | out f32:262144
// 2 x 2 blocks a cluster swap the off-diagonal tiles through each other's shared memory (512 x 512).
extern "C" __global__ void __cluster_dims__(4, 1, 1) remote_transpose(const float *__restrict__ in, float *__restrict__ out)
{
    __shared__ float tile[32][33];
    auto cluster = cg::this_cluster();
    int rank = cluster.block_rank(), group = blockIdx.x / 4, bx = group % 8 * 2 + (rank & 1), by = group / 8 * 2 + (rank >> 1);
    int peer = (rank & 1) << 1 | rank >> 1;
    float(*there)[33] = cluster.map_shared_rank(tile, peer);
    for (int r = threadIdx.y; r < 32; r += 8) there[threadIdx.x][r] = in[(by * 32 + r) * 512 + bx * 32 + threadIdx.x];
    cluster.sync();
    int ox = group / 8 * 2 + (rank & 1), oy = group % 8 * 2 + (rank >> 1);
    for (int r = threadIdx.y; r < 32; r += 8) out[(oy * 32 + r) * 512 + ox * 32 + threadIdx.x] = tile[r][threadIdx.x];
}

//! remote_queue 132 128 | f32:135168:-1:1 | out f32:135168
// Blocks in pairs: each stores to the other with st.async, whose bytes complete the other's barrier.
extern "C" __global__ void __cluster_dims__(2, 1, 1) remote_queue(const float *__restrict__ in, float *__restrict__ out)
{
    __shared__ alignas(16) float inbox[8][128];
    __shared__ alignas(8) uint64_t bar[8];
    namespace ptx = cuda::ptx;
    auto cluster = cg::this_cluster();
    unsigned other = cluster.block_rank() ^ 1;
    if (threadIdx.x < 8) {
        ptx::mbarrier_init(&bar[threadIdx.x], 1);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar[threadIdx.x], 512);
    }
    cluster.sync();
    for (int k = 0; k < 8; k++) {
        float v = in[(blockIdx.x * 8 + k) * 128 + threadIdx.x];
        ptx::st_async(cluster.map_shared_rank(&inbox[k][threadIdx.x], other), v * (k + 1), cluster.map_shared_rank(&bar[k], other));
    }
    float s = 0;
    for (int k = 0; k < 8; k++) {
        while (!ptx::mbarrier_try_wait_parity(&bar[k], 0)) {}
        s = s * 0.5f + inbox[k][127 - threadIdx.x];
        out[(blockIdx.x * 8 + k) * 128 + threadIdx.x] = s;
    }
    cluster.sync();
}

//! tile_partition 96 192 | s32:18432:-50:50 | out s32:18432 | out s32:1152
// Tiles of 16 and 4 threads: inclusive sums, votes and shuffles inside each.
extern "C" __global__ void tile_partition(const int *__restrict__ in, int *__restrict__ out, int *__restrict__ groups)
{
    auto block = cg::this_thread_block();
    auto t16 = cg::tiled_partition<16>(block);
    auto t4 = cg::tiled_partition<4>(t16);
    int v = in[blockIdx.x * 192 + threadIdx.x];
    int sum = cg::inclusive_scan(t16, v, cg::plus<int>());
    int high = cg::reduce(t4, v, cg::greater<int>());
    unsigned votes = t16.ballot(v > high / 2);
    int next = t4.shfl(v, (t4.thread_rank() + 1) & 3), match = t16.match_any(v & 7);
    out[blockIdx.x * 192 + threadIdx.x] = sum * 3 + high - next + __popc(votes) * 1000 + __popc(match);
    if (t16.thread_rank() == 15) groups[blockIdx.x * 12 + t16.meta_group_rank()] = sum;
}

//! coalesced_split 80 256 | u32:20480 | out u32:20480 | zero u32:16
// Lanes with the same low bits meet in a labelled partition; its first lane takes room for all of them.
extern "C" __global__ void coalesced_split(const unsigned *__restrict__ in, unsigned *__restrict__ out, unsigned *__restrict__ counts)
{
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    unsigned v = in[blockIdx.x * 256 + threadIdx.x], r = v;
    auto mine = cg::labeled_partition(warp, (int)(v & 3));
    unsigned sum = cg::reduce(mine, v >> 8, cg::bit_xor<unsigned>());
    if (mine.thread_rank() == 0) atomicAdd(&counts[v & 3], mine.num_threads());
    if (v & 16) {
        auto some = cg::coalesced_threads();
        r = some.shfl(v, some.num_threads() - 1 - some.thread_rank()) + some.size();
        if (some.thread_rank() == 0) atomicAdd(&counts[4 + (threadIdx.x >> 5)], some.size());
    }
    auto odd = cg::binary_partition(warp, (v >> 5 & 1) != 0);
    out[blockIdx.x * 256 + threadIdx.x] = r ^ sum ^ odd.thread_rank() << 16 ^ odd.size();
}

//! split_arrive 264 256 | f32:270336:-1:1 | out f32:67584
// arrive, independent work, wait: a token between the phases of one cuda::barrier.
extern "C" __global__ void split_arrive(const float *__restrict__ in, float *__restrict__ out)
{
    __shared__ barrier_t bar;
    __shared__ float s[256];
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    __syncthreads();
    float acc = 0;
    for (int k = 0; k < 4; k++) {
        s[threadIdx.x] = in[(blockIdx.x * 4 + k) * 256 + threadIdx.x];
        auto token = bar.arrive();
        float w = acc;
        for (int j = 0; j < 12; j++) w = w * w * 0.25f + 0.125f;
        bar.wait(std::move(token));
        acc = w + s[(threadIdx.x * 5 + k) & 255] - s[255 - threadIdx.x];
        bar.arrive_and_wait();
    }
    out[blockIdx.x * 256 + threadIdx.x] = acc;
}

//! async_window 16,16 16,16 | f32:278784:0:1 | out f32:262144
// cooperative_groups::memcpy_async of rows of 24 floats, then a window of 9 x 9 in two passes (528 a row).
extern "C" __global__ void async_window(const float *__restrict__ in, float *__restrict__ out)
{
    __shared__ alignas(16) float rows[40][40];
    __shared__ float sums[40][33];
    auto block = cg::this_thread_block();
    int x0 = blockIdx.x * 32, y0 = blockIdx.y * 32, t = threadIdx.y * 16 + threadIdx.x;
    for (int r = 0; r < 40; r++) {
        int y = min(y0 + r, 527);
        cg::memcpy_async(block, rows[r], in + y * 528 + x0, cuda::aligned_size_t<16>(40 * 4));
    }
    cg::wait(block);
    for (int i = t; i < 40 * 32; i += 256) {
        int r = i / 32, c = i % 32;
        float s = 0;
        for (int k = 0; k < 9; k++) s += rows[r][c + k];
        sums[r][c] = s;
    }
    block.sync();
    for (int i = t; i < 32 * 32; i += 256) {
        int r = i / 32, c = i % 32;
        float s = 0;
        for (int k = 0; k < 9; k++) s += sums[r + k][c];
        out[(y0 + r) * 512 + x0 + c] = s * (1.0f / 81);
    }
}

//! grid_jacobi 66 256 | f32:16896:0:1 | zero f32:16896 | out f32:16896 | s s32 12 | cooperative
// A grid synchronises between the sweeps of a line with periodic ends; two arrays in turn.
extern "C" __global__ void grid_jacobi(const float *__restrict__ start, volatile float *a, volatile float *b, int sweeps)
{
    auto grid = cg::this_grid();
    int n = 66 * 256, i = grid.thread_rank(), l = (i + n - 1) % n, r = (i + 1) % n;
    a[i] = start[i];
    grid.sync();
    for (int k = 0; k < sweeps; k++) {
        volatile float *from = k & 1 ? b : a, *to = k & 1 ? a : b;
        to[i] = 0.25f * from[l] + 0.5f * from[i] + 0.25f * from[r];
        grid.sync();
    }
}

//! bulk_reduce 132 128 | s32:270336:-9:9 | zero s32:2048
// Blocks add their 2048 values to one array by bulk reductions of 8 KiB.
extern "C" __global__ void bulk_reduce(const int *__restrict__ in, int *__restrict__ out)
{
    __shared__ alignas(128) int s[2048];
    namespace ptx = cuda::ptx;
    for (int i = threadIdx.x; i < 2048; i += 128) s[i] = in[blockIdx.x * 2048 + i] * (i % 3 + 1);
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, out, s, 8192);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
    }
}
