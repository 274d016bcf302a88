/* clusters.cu - blocks of a cluster that work in each other's shared memory, and copies and barriers in the background. */
#include <cooperative_groups.h>
#include <cstdint>
namespace cg = cooperative_groups;

__device__ __forceinline__ uint32_t smem(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void bar_init(uint64_t *b, int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem(b)), "r"(n) : "memory"); }
__device__ __forceinline__ void bar_wait(uint64_t *b, int phase)
{
    asm volatile("{.reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra again;}" ::"r"(smem(b)), "r"(phase) : "memory");
}
__device__ __forceinline__ void bar_expect(uint64_t *b, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem(b)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void bar_arrive(uint64_t *b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(smem(b)) : "memory"); }
__device__ __forceinline__ uint32_t at_rank(const void *p, uint32_t rank)
{
    uint32_t r;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(smem(p)), "r"(rank));
    return r;
}

//! row_softmax_of_four 32 256 | f32:131072:-4:4 | out f32:131072
// A row of 16384 over a cluster of four: maximum and sum through distributed shared memory.
extern "C" __global__ void __cluster_dims__(4, 1, 1) row_softmax_of_four(const float *in, float *out)
{
    __shared__ float part[8], whole;
    cg::cluster_group cluster = cg::this_cluster();
    const float4 *p = (const float4 *)(in + blockIdx.x * 4096);
    float4 v[4];
    float m = -1e30f;
    for (int i = 0; i < 4; i++) {
        v[i] = p[i * 256 + threadIdx.x];
        m = fmaxf(m, fmaxf(fmaxf(v[i].x, v[i].y), fmaxf(v[i].z, v[i].w)));
    }
    for (int d = 16; d; d >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
    if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = m;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < 8; i++) m = fmaxf(m, part[i]);
        whole = m;
    }
    cluster.sync();
    for (int r = 0; r < 4; r++) m = fmaxf(m, *cluster.map_shared_rank(&whole, r));
    for (int r = 0; r < 4; r++) m = fmaxf(m, *cluster.map_shared_rank(&part[threadIdx.x & 7], r));
    for (int d = 4; d; d >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
    cluster.sync();
    float s = 0;
    for (int i = 0; i < 4; i++) {
        v[i].x = __expf(v[i].x - m), v[i].y = __expf(v[i].y - m), v[i].z = __expf(v[i].z - m), v[i].w = __expf(v[i].w - m);
        s += (v[i].x + v[i].y) + (v[i].z + v[i].w);
    }
    for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
    if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = s;
    cluster.sync();
    s = 0;
    for (int r = 0; r < 4; r++)
        for (int i = 0; i < 8; i++) s += cluster.map_shared_rank(part, r)[i];
    float inv = 1.0f / s;
    float4 *q = (float4 *)(out + blockIdx.x * 4096);
    for (int i = 0; i < 4; i++) q[i * 256 + threadIdx.x] = make_float4(v[i].x * inv, v[i].y * inv, v[i].z * inv, v[i].w * inv);
    cluster.sync();
}

//! bins_of_a_cluster 16 192 | u32:49152 | zero u32:2048
// 2048 bins over the eight blocks of a cluster: a thread adds to the shared memory of the block that owns the bin.
extern "C" __global__ void __cluster_dims__(8, 1, 1) bins_of_a_cluster(const uint32_t *in, uint32_t *out)
{
    __shared__ uint32_t bins[256];
    cg::cluster_group cluster = cg::this_cluster();
    for (int i = threadIdx.x; i < 256; i += blockDim.x) bins[i] = 0;
    cluster.sync();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 49152; i += gridDim.x * blockDim.x) {
        uint32_t b = in[i] >> 21;
        atomicAdd(cluster.map_shared_rank(&bins[b & 255], b >> 8), 1u);
    }
    cluster.sync();
    for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(out + cluster.block_rank() * 256 + i, bins[i]);
}

//! letters_to_the_next 24 128 | u32:3072 | out u32:3072 | s s32 6
// st.async: every thread sends its word to the next block of the ring, whose barrier counts the bytes.
extern "C" __global__ void __cluster_dims__(6, 1, 1) letters_to_the_next(const uint32_t *in, uint32_t *out, int rounds)
{
    __shared__ __align__(16) uint32_t box[2][128];
    __shared__ __align__(8) uint64_t full[2];
    cg::cluster_group cluster = cg::this_cluster();
    uint32_t rank = cluster.block_rank(), next = (rank + 1) % 6;
    if (threadIdx.x == 0) {
        bar_init(&full[0], 1), bar_init(&full[1], 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        bar_expect(&full[0], 512);
    }
    cluster.sync();
    uint32_t v = in[blockIdx.x * 128 + threadIdx.x];
    for (int r = 0; r < rounds; r++) {
        int s = r & 1;
        if (threadIdx.x == 0 && r + 1 < rounds) bar_expect(&full[s ^ 1], 512);
        cluster.sync();
        asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(at_rank(&box[s][threadIdx.x], next)),
                     "r"(v), "r"(at_rank(&full[s], next))
                     : "memory");
        bar_wait(&full[s], r >> 1 & 1);
        v = box[s][threadIdx.x ^ 1] * 5 + rank;
    }
    out[blockIdx.x * 128 + threadIdx.x] = v;
    cluster.sync();
}

//! columns_multicast 16 160 | f32:16384:-1:1 | f32:8192:-1:1 | out f32:16384
// A cluster of two shares a panel: each block loads half of it and sends it to both; the products follow when all bytes are there.
extern "C" __global__ void __cluster_dims__(2, 1, 1) columns_multicast(const float *A, const float *B, float *C)
{
    __shared__ __align__(128) float panel[2][16][64];
    __shared__ __align__(8) uint64_t full[2];
    cg::cluster_group cluster = cg::this_cluster();
    uint32_t rank = cluster.block_rank();
    if (threadIdx.x == 0) {
        bar_init(&full[0], 1), bar_init(&full[1], 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        bar_expect(&full[0], 4096);
        bar_expect(&full[1], 4096);
    }
    cluster.sync();
    float sum[13] = {};
    for (int k = 0; k < 8; k++) {
        int s = k & 1;
        if (threadIdx.x == 0)
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(smem(&panel[s][rank * 8][0])),
                         "l"(B + (k * 16 + rank * 8) * 64), "r"(2048), "r"(smem(&full[s])), "h"((short)3)
                         : "memory");
        bar_wait(&full[s], k >> 1 & 1);
        for (int e = threadIdx.x, n = 0; e < 16 * 64; e += 160, n++) {
            int row = blockIdx.x * 16 + e / 64, col = e % 64;
            float a = 0;
            if (row < 128)
                for (int j = 0; j < 16; j++) a += A[row * 128 + k * 16 + j] * panel[s][j][col];
            if (n < 13) sum[n] += a;
        }
        cluster.sync();
        if (threadIdx.x == 0 && k + 2 < 8) bar_expect(&full[s], 4096);
        cluster.sync();
    }
    for (int e = threadIdx.x, n = 0; e < 16 * 64; e += 160, n++) C[blockIdx.x * 1024 + e] = sum[n];
}

//! copy_between_blocks 12 96 | u32:12288 | out u32:12288
// cp.async.bulk from a block's shared memory to its partner's, after both have changed their part.
extern "C" __global__ void __cluster_dims__(2, 1, 1) copy_between_blocks(const uint32_t *in, uint32_t *out)
{
    __shared__ __align__(128) uint32_t mine[1024], got[1024];
    __shared__ __align__(8) uint64_t full;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) {
        bar_init(&full, 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        bar_expect(&full, 4096);
    }
    for (int i = threadIdx.x; i < 1024; i += 96) mine[i] = in[blockIdx.x * 1024 + i] * 2654435761u;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    cluster.sync();
    uint32_t other = cluster.block_rank() ^ 1;
    if (threadIdx.x < 4)
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(at_rank(&got[threadIdx.x * 256], other)),
                     "r"(smem(&mine[threadIdx.x * 256])), "r"(1024), "r"(at_rank(&full, other))
                     : "memory");
    bar_wait(&full, 0);
    for (int i = threadIdx.x; i < 1024; i += 96) out[blockIdx.x * 1024 + i] = got[i] ^ mine[1023 - i];
    cluster.sync();
}

//! counters_of_neighbours 20 64 | u32:5120 | out u32:1280
// red.async into the next block's counters: 16 bytes a thread, then the barrier says that all have come.
extern "C" __global__ void __cluster_dims__(4, 1, 1) counters_of_neighbours(const uint32_t *in, uint32_t *out)
{
    __shared__ __align__(16) uint32_t count[64];
    __shared__ __align__(8) uint64_t full;
    cg::cluster_group cluster = cg::this_cluster();
    count[threadIdx.x] = threadIdx.x;
    if (threadIdx.x == 0) {
        bar_init(&full, 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        bar_expect(&full, 4 * 64 * 4);
    }
    cluster.sync();
    uint32_t to = (cluster.block_rank() + 3) & 3;
    for (int k = 0; k < 4; k++) {
        uint32_t v = in[(blockIdx.x * 4 + k) * 64 + threadIdx.x];
        asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];" ::"r"(at_rank(&count[v & 63], to)),
                     "r"(v >> 8), "r"(at_rank(&full, to))
                     : "memory");
    }
    bar_wait(&full, 0);
    out[blockIdx.x * 64 + threadIdx.x] = count[threadIdx.x];
    cluster.sync();
}

//! halo_from_neighbours 12 256 | f32:12288:0:1 | out f32:12288 | s s32 8
// A rod in the shared memory of six blocks; each step reads its ends from the neighbours' memory.
extern "C" __global__ void __cluster_dims__(6, 1, 1) halo_from_neighbours(const float *in, float *out, int steps)
{
    __shared__ float rod[2][1024];
    cg::cluster_group cluster = cg::this_cluster();
    int rank = cluster.block_rank();
    for (int i = threadIdx.x; i < 1024; i += 256) rod[0][i] = in[blockIdx.x * 1024 + i];
    const float *left[2], *right[2];
    for (int s = 0; s < 2; s++) {
        left[s] = cluster.map_shared_rank(&rod[s][1023], (rank + 5) % 6);
        right[s] = cluster.map_shared_rank(&rod[s][0], (rank + 1) % 6);
    }
    cluster.sync();
    for (int s = 0; s < steps; s++) {
        const float *from = rod[s & 1];
        for (int i = threadIdx.x; i < 1024; i += 256) {
            float l = i == 0 ? *left[s & 1] : from[i - 1], r = i == 1023 ? *right[s & 1] : from[i + 1];
            rod[~s & 1][i] = 0.25f * l + 0.5f * from[i] + 0.25f * r;
        }
        cluster.sync();
    }
    for (int i = threadIdx.x; i < 1024; i += 256) out[blockIdx.x * 1024 + i] = rod[steps & 1][i];
}

//! sorted_by_cluster 8 128 | u32:1024 | out u32:1024
// Odd and even merges of the four blocks' sorted pieces; a piece is sorted by counting ranks.
extern "C" __global__ void __cluster_dims__(4, 1, 1) sorted_by_cluster(const uint32_t *in, uint32_t *out)
{
    __shared__ uint32_t mine[128];
    cg::cluster_group cluster = cg::this_cluster();
    int rank = cluster.block_rank(), t = threadIdx.x;
    uint32_t v = in[blockIdx.x * 128 + t];
    mine[t] = v;
    __syncthreads();
    int pos = 0;
    for (int i = 0; i < 128; i++) pos += mine[i] < v || (mine[i] == v && i < t);
    __syncthreads();
    mine[pos] = v;
    cluster.sync();
    for (int phase = 0; phase < 4; phase++) {
        int other = phase & 1 ? (rank & 1 ? rank + 1 : rank - 1) : rank ^ 1;
        uint32_t keep = mine[t];
        if (other >= 0 && other < 4) {
            const uint32_t *theirs = cluster.map_shared_rank(mine, other);
            // The low (or high) half of the two pieces together, by the bitonic property.
            uint32_t x = mine[t], y = theirs[127 - t];
            keep = rank < other ? min(x, y) : max(x, y);
        }
        cluster.sync();
        mine[t] = keep;
        __syncthreads();
        // What is kept is bitonic; sort it again.
        for (int d = 64; d; d >>= 1) {
            uint32_t a = mine[t], b = mine[t ^ d];
            __syncthreads();
            mine[t] = (t & d) == 0 ? min(a, b) : max(a, b);
            __syncthreads();
        }
        cluster.sync();
    }
    out[blockIdx.x * 128 + t] = mine[t];
}

//! copied_with_zeros 26 96 | f32:10000:-1:1 | out f32:2496 | s s32 9990
// cp.async of four bytes with a source size: what lies beyond the end becomes zero; a 25-point window.
extern "C" __global__ void copied_with_zeros(const float *in, float *out, int n)
{
    __shared__ float w[96 * 4 + 24];
    int base = blockIdx.x * 384;
    for (int i = threadIdx.x; i < 96 * 4 + 24; i += 96) {
        int size = base + i < n ? 4 : 0;
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(smem(&w[i])), "l"(in + (size ? base + i : 0)), "r"(size) : "memory");
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    float s = 0;
    for (int k = 0; k < 25; k++) s += w[threadIdx.x * 4 + k] * (13 - abs(k - 12));
    out[blockIdx.x * 96 + threadIdx.x] = s;
}

//! copies_that_arrive 15 192 | u32:46080 | out u32:960
// Two of six warps copy with cp.async whose end arrives at a barrier; four add up; an empty barrier lets the copiers go on.
extern "C" __global__ void copies_that_arrive(const uint32_t *in, uint32_t *out)
{
    __shared__ __align__(16) uint32_t stage[3][512];
    __shared__ __align__(8) uint64_t full[3], empty[3];
    __shared__ uint32_t sum[64];
    if (threadIdx.x == 0)
        for (int i = 0; i < 3; i++) bar_init(&full[i], 64), bar_init(&empty[i], 128);
    if (threadIdx.x < 64) sum[threadIdx.x] = 0;
    __syncthreads();
    const uint32_t *p = in + blockIdx.x * 3072;
    if (threadIdx.x < 64) {
        for (int k = 0; k < 6; k++) {
            int s = k % 3;
            if (k >= 3) bar_wait(&empty[s], (k / 3 - 1) & 1);
            for (int c = threadIdx.x; c < 128; c += 64)
                asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem(&stage[s][c * 4])), "l"(p + k * 512 + c * 4) : "memory");
            asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(smem(&full[s])) : "memory");
        }
    } else {
        int t = threadIdx.x - 64;
        uint32_t a = 0;
        for (int k = 0; k < 6; k++) {
            int s = k % 3;
            bar_wait(&full[s], k / 3 & 1);
            for (int i = t; i < 512; i += 128) a = a * 31 + stage[s][i];
            bar_arrive(&empty[s]);
        }
        atomicAdd(&sum[t & 63], a);
    }
    __syncthreads();
    if (threadIdx.x < 64) out[blockIdx.x * 64 + threadIdx.x] = sum[threadIdx.x];
}

//! reduced_in_memory 18 128 | s32:18432 | zero s32:1024 | zero u32:1024 | zero u64:512
// cp.reduce.async.bulk: minimum, xor and 64-bit sums of whole tiles straight into global memory.
extern "C" __global__ void reduced_in_memory(const int *in, int *least, uint32_t *x, unsigned long long *total)
{
    __shared__ __align__(128) int tile[1024];
    __shared__ __align__(128) unsigned long long wide[512];
    for (int i = threadIdx.x; i < 1024; i += 128) tile[i] = in[blockIdx.x * 1024 + i];
    for (int i = threadIdx.x; i < 512; i += 128) wide[i] = (unsigned)in[blockIdx.x * 1024 + i] * 3ull;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.min.s32 [%0], [%1], 4096;" ::"l"(least), "r"(smem(tile)) : "memory");
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.xor.b32 [%0], [%1], 4096;" ::"l"(x), "r"(smem(tile)) : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u64 [%0], [%1], 4096;" ::"l"(total), "r"(smem(wide)) : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

//! prefetched_bulk 10 96 | u32:40960 | out u32:960
// A bulk prefetch to L2 runs ahead of bulk loads of 4 KiB; the barrier is polled with test_wait.
extern "C" __global__ void prefetched_bulk(const uint32_t *in, uint32_t *out)
{
    __shared__ __align__(128) uint32_t tile[1024];
    __shared__ __align__(8) uint64_t full;
    const uint32_t *p = in + blockIdx.x * 4096;
    if (threadIdx.x == 0) {
        bar_init(&full, 1);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(p), "r"(16384) : "memory");
    }
    __syncthreads();
    uint32_t a = threadIdx.x;
    for (int k = 0; k < 4; k++) {
        if (threadIdx.x == 0) {
            bar_expect(&full, 4096);
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(smem(tile)), "l"(p + k * 1024), "r"(4096),
                         "r"(smem(&full))
                         : "memory");
        }
        uint32_t ok;
        do
            asm volatile("{.reg .pred p; mbarrier.test_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" : "=r"(ok) : "r"(smem(&full)), "r"(k & 1) : "memory");
        while (!ok);
        for (int i = threadIdx.x; i < 1024; i += 96) a = a * 33 ^ tile[i];
        __syncthreads();
    }
    out[blockIdx.x * 96 + threadIdx.x] = a;
}
