/* hardware.cu - what the machine of this generation has: copies that run by themselves, barriers in memory, clusters, groups, atomics of all kinds. */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define K extern "C" __global__ void
namespace cg = cooperative_groups;

__device__ __forceinline__ uint32_t at_shared(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void copy16(void *s, const void *g) { asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at_shared(s)), "l"(g)); }
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;"); }
template <int N> __device__ __forceinline__ void wait_group() { asm volatile("cp.async.wait_group %0;" ::"n"(N)); }
__device__ __forceinline__ void bar_init(uint64_t *b, int n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at_shared(b)), "r"(n)); }
__device__ __forceinline__ void bar_arrive(uint64_t *b) { asm volatile("{.reg .b64 s; mbarrier.arrive.shared.b64 s, [%0];}" ::"r"(at_shared(b)) : "memory"); }
__device__ __forceinline__ void bar_wait(uint64_t *b, int phase)
{
    asm volatile("{.reg .pred p;\nAGAIN: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n@p bra DONE;\nbra AGAIN;\nDONE:}" ::"r"(at_shared(b)), "r"(phase) : "memory");
}

//! four_stages_of_copied_rows 66 128 | f32:540672:-1:1 | out f32:8448
K four_stages_of_copied_rows(const float *x, float *out)
{
    __shared__ __align__(16) float s[4][512];
    int t = threadIdx.x;
    const float *p = x + blockIdx.x * 8192;
    float a = 0;
    for (int k = 0; k < 3; k++) {
        copy16(&s[k][t * 4], p + k * 512 + t * 4);
        commit();
    }
    for (int k = 0; k < 16; k++) {
        if (k + 3 < 16) copy16(&s[(k + 3) & 3][t * 4], p + (k + 3) * 512 + t * 4);
        commit();
        wait_group<3>();
        __syncthreads();
        for (int j = 0; j < 4; j++) a = a * 0.5f + s[k & 3][(t + j * 128) ^ 1];
        __syncthreads();
    }
    out[blockIdx.x * 128 + t] = a;
}

//! copied_by_fours_with_edges 33 64 | f32:33000 | out f32:33792 | s s32 33000
// Copies of four bytes, whose source size is nought beyond the end.
K copied_by_fours_with_edges(const float *x, float *out, int n)
{
    __shared__ float s[1024 + 2];
    int t = threadIdx.x, base = blockIdx.x * 1024;
    for (int i = t; i < 1026; i += 64) {
        int g = base + i - 1, size = g >= 0 && g < n ? 4 : 0;
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at_shared(&s[i])), "l"(x + (size ? g : 0)), "r"(size));
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    for (int i = t; i < 1024; i += 64) out[base + i] = 0.25f * s[i] + 0.5f * s[i + 1] + 0.25f * s[i + 2];
}

//! copies_that_knock_on_a_barrier 33 96 | u32:135168 | out u32:2112
// One warp copies, two compute: full and empty barriers, two stages.
K copies_that_knock_on_a_barrier(const uint32_t *x, uint32_t *out)
{
    __shared__ __align__(16) uint32_t s[2][512];
    __shared__ uint64_t full[2], empty[2];
    int t = threadIdx.x, w = t / 32, l = t % 32;
    if (t < 2) {
        bar_init(&full[t], 32);
        bar_init(&empty[t], 64);
    }
    __syncthreads();
    const uint32_t *p = x + blockIdx.x * 4096;
    if (w == 0) {
        for (int k = 0; k < 8; k++) {
            int b = k & 1;
            if (k >= 2) bar_wait(&empty[b], (k / 2 - 1) & 1);
            for (int j = 0; j < 4; j++) copy16(&s[b][(j * 32 + l) * 4], p + k * 512 + (j * 32 + l) * 4);
            asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(at_shared(&full[b])) : "memory");
        }
    } else {
        uint32_t a = 0;
        for (int k = 0; k < 8; k++) {
            int b = k & 1;
            bar_wait(&full[b], k / 2 & 1);
            for (int j = 0; j < 8; j++) a = (a ^ s[b][j * 64 + t - 32]) * 0x01000193u;
            bar_arrive(&empty[b]);
        }
        out[blockIdx.x * 64 + t - 32] = a;
    }
}

//! bulk_rows_normalised_and_sent_back 33 128 | f32:33792:-2:2 | out f32:33792
K bulk_rows_normalised_and_sent_back(const float *x, float *y)
{
    __shared__ __align__(128) float s[1024];
    __shared__ uint64_t bar;
    int t = threadIdx.x;
    if (t == 0) {
        bar_init(&bar, 1);
        asm volatile("fence.mbarrier_init.release.cluster;");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 4096;" ::"r"(at_shared(&bar)) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 4096, [%2];" ::"r"(at_shared(s)),
                     "l"(x + blockIdx.x * 1024), "r"(at_shared(&bar))
                     : "memory");
    }
    __syncthreads();
    bar_wait(&bar, 0);
    int w = t / 32, l = t % 32;
    for (int r = 0; r < 2; r++) {
        float *p = s + (w * 2 + r) * 128, q = 0;
        for (int k = 0; k < 4; k++) q += p[k * 32 + l] * p[k * 32 + l];
        for (int d = 16; d; d /= 2) q += __shfl_xor_sync(~0u, q, d);
        q = rsqrtf(q);
        for (int k = 0; k < 4; k++) p[k * 32 + l] *= q;
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 4096;" ::"l"(y + blockIdx.x * 1024), "r"(at_shared(s)) : "memory");
        asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
    }
}

//! bins_spread_over_four_blocks 64 128 | u16:65536 | zero u32:4096
// A cluster of four keeps a quarter of the bins in each block's shared memory.
K __cluster_dims__(4, 1, 1) bins_spread_over_four_blocks(const uint16_t *x, uint32_t *bins)
{
    __shared__ uint32_t s[1024];
    cg::cluster_group c = cg::this_cluster();
    int t = threadIdx.x, r = c.block_rank();
    for (int i = t; i < 1024; i += 128) s[i] = 0;
    c.sync();
    for (int k = 0; k < 8; k++) {
        uint32_t v = x[(blockIdx.x * 8 + k) * 128 + t] >> 4;
        atomicAdd(c.map_shared_rank(s, v >> 10) + (v & 1023), 1);
    }
    c.sync();
    for (int i = t; i < 1024; i += 128)
        if (s[i]) atomicAdd(bins + r * 1024 + i, s[i]);
}

//! halo_from_blocks_of_the_cluster 32 64 | f32:16384 | out f32:16384
K __cluster_dims__(8, 1, 1) halo_from_blocks_of_the_cluster(const float *x, float *y)
{
    __shared__ float s[2][512 + 2];
    cg::cluster_group c = cg::this_cluster();
    int t = threadIdx.x, r = c.block_rank(), base = blockIdx.x * 512;
    for (int i = t; i < 512; i += 64) s[0][i + 1] = x[base + i];
    int p = 0;
    for (int step = 0; step < 6; step++) {
        c.sync();
        if (t == 0) s[p][0] = r ? c.map_shared_rank(&s[p][512], r - 1)[0] : 0;
        if (t == 1) s[p][513] = r < 7 ? c.map_shared_rank(&s[p][1], r + 1)[0] : 0;
        __syncthreads();
        for (int i = t; i < 512; i += 64) s[1 - p][i + 1] = 0.5f * s[p][i + 1] + 0.25f * (s[p][i] + s[p][i + 2]);
        p = 1 - p;
    }
    c.sync();
    for (int i = t; i < 512; i += 64) y[base + i] = s[p][i + 1];
}

//! tiles_turned_between_four_blocks 16 32,8 | f32:65536 | out f32:65536
// Every block of a cluster reads its tile of a row of tiles; what it writes comes from the others.
K __cluster_dims__(4, 1, 1) tiles_turned_between_four_blocks(const float *in, float *out)
{
    __shared__ float s[64][33];
    cg::cluster_group c = cg::this_cluster();
    int r = c.block_rank(), g = blockIdx.x / 4, tx = threadIdx.x;
    for (int part = 0; part < 2; part++) {
        for (int y = threadIdx.y; y < 64; y += 8) s[y][tx] = in[(g * 64 + y) * 256 + r * 64 + part * 32 + tx];
        c.sync();
        int t = threadIdx.y * 32 + tx;
        // 32 columns of four blocks: this one writes eight columns of each
        for (int i = t; i < 2048; i += 256) {
            int from = i >> 9, col = r * 8 + (i >> 6 & 7), y = i & 63;
            out[(from * 64 + part * 32 + col) * 256 + g * 64 + y] = c.map_shared_rank(&s[0][0], from)[y * 33 + col];
        }
        c.sync();
    }
}

//! largest_of_a_cluster_told_to_all 32 128 | f32:32768:-10:10 | out f32:32768
K __cluster_dims__(2, 1, 1) largest_of_a_cluster_told_to_all(const float *x, float *y)
{
    __shared__ unsigned top;
    cg::cluster_group c = cg::this_cluster();
    int base = blockIdx.x * 1024 + threadIdx.x;
    if (threadIdx.x == 0) top = 0;
    c.sync();
    float v[8], m = 0;
    for (int k = 0; k < 8; k++) {
        v[k] = x[base + k * 128];
        m = fmaxf(m, fabsf(v[k]));
    }
    unsigned u = __reduce_max_sync(~0u, __float_as_uint(m));
    if (threadIdx.x % 32 == 0)
        for (int r = 0; r < 2; r++) atomicMax(c.map_shared_rank(&top, r), u);
    c.sync();
    m = 1 / __uint_as_float(top);
    for (int k = 0; k < 8; k++) y[base + k * 128] = v[k] * m;
}

//! groups_of_four_and_of_sixteen 66 128 | s32:8448:-100:100 | out s32:8448
K groups_of_four_and_of_sixteen(const int *x, int *out)
{
    auto block = cg::this_thread_block();
    auto four = cg::tiled_partition<4>(block);
    auto sixteen = cg::tiled_partition<16>(block);
    int i = blockIdx.x * 128 + threadIdx.x, v = x[i];
    int a = cg::reduce(four, v, cg::plus<int>()), b = cg::reduce(sixteen, a, cg::greater<int>()), c = cg::exclusive_scan(sixteen, v);
    out[i] = a * 3 + b * 5 + c + four.shfl(v, 2) + (sixteen.any(v > 90) ? 1000 : 0);
}

//! groups_by_what_lanes_hold 66 64 | u32:4224:0:5 | out u32:4224
K groups_by_what_lanes_hold(const uint32_t *x, uint32_t *out)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    uint32_t v = x[i];
    auto g = cg::labeled_partition(cg::coalesced_threads(), v);
    out[i] = g.size() * 256 + g.thread_rank() * 8 + v;
}

//! odd_values_stand_together 66 64 | u32:4224 | out u32:4224
K odd_values_stand_together(const uint32_t *x, uint32_t *out)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int i = blockIdx.x * 64 + threadIdx.x;
    uint32_t v = x[i];
    auto g = cg::binary_partition(warp, v & 1);
    uint32_t s = cg::reduce(g, v >> 8, cg::plus<uint32_t>());
    out[i] = (s ^ g.size()) + g.thread_rank();
}

//! grid_waits_between_two_halves 64 128 | f32:32768 | out f32:32768 | scratch f32:64 | cooperative
K grid_waits_between_two_halves(const float *x, float *y, float *part)
{
    __shared__ float s[4];
    cg::grid_group grid = cg::this_grid();
    int t = threadIdx.x, i = blockIdx.x * 512 + t;
    float v[4], a = 0;
    for (int k = 0; k < 4; k++) a += v[k] = x[i + k * 128];
    for (int d = 16; d; d /= 2) a += __shfl_down_sync(~0u, a, d);
    if (t % 32 == 0) s[t / 32] = a;
    __syncthreads();
    if (t == 0) part[blockIdx.x] = s[0] + s[1] + s[2] + s[3];
    grid.sync();
    a = part[t % 32] + part[t % 32 + 32];
    for (int d = 16; d; d /= 2) a += __shfl_xor_sync(~0u, a, d);
    a /= 32768;
    for (int k = 0; k < 4; k++) y[i + k * 128] = v[k] - a;
}

//! float_products_by_exchange 4 64 | f32:256:0.99:1.01 | zero f32:8 | unordered
K float_products_by_exchange(const float *x, float *out)
{
    unsigned *p = (unsigned *)(out + threadIdx.x % 8), old = *p, seen;
    float f = x[blockIdx.x * 64 + threadIdx.x];
    do {
        seen = old;
        float v = __uint_as_float(seen);
        old = atomicCAS(p, seen, __float_as_uint(v == 0 ? f : v * f));
    } while (old != seen);
}

//! halves_added_in_pairs_at_once 33 128 | u32:4224:0:256 | zero f16:512
K halves_added_in_pairs_at_once(const uint32_t *x, __half2 *out)
{
    uint32_t v = x[blockIdx.x * 128 + threadIdx.x];
    atomicAdd(out + v, __floats2half2_rn(1, 0.5f));
}

//! tickets_modulo_by_atomic_inc 33 128 | zero u32:1 | zero u32:96
// A counter that wraps by itself hands out places.
K tickets_modulo_by_atomic_inc(unsigned *counter, uint32_t *count)
{
    unsigned place = atomicInc(counter, 95);
    atomicAdd(count + place, 1);
}

//! lowered_and_raised_bounds 66 128 | s32:33792 | zero s64:32 | zero u32:32
K lowered_and_raised_bounds(const int *x, long long *lo, unsigned *bits)
{
    for (int k = 0; k < 4; k++) {
        int v = x[(blockIdx.x * 4 + k) * 128 + threadIdx.x];
        int b = v & 31;
        atomicMin(lo + b, (long long)v * 3);
        if ((v >> 8 & 15) == 0) atomicXor(bits + b, (unsigned)v);
    }
}

//! list_built_by_exchanges 8 64 | u32:512:0:16 | zero u32:16 | zero u32:512 | out u32:16 | unordered
K list_built_by_exchanges(const uint32_t *bucket, uint32_t *head, uint32_t *next, uint32_t *)
{
    uint32_t i = blockIdx.x * 64 + threadIdx.x;
    next[i] = atomicExch(head + bucket[i], i + 1);
}

//! warps_reserve_places_for_lanes 66 128 | s32:33792 | zero u32:1 | zero s32:33792 | unordered
K warps_reserve_places_for_lanes(const int *x, uint32_t *n, int *out)
{
    int l = threadIdx.x % 32;
    for (int k = 0; k < 4; k++) {
        int v = x[(blockIdx.x * 4 + k) * 128 + threadIdx.x];
        unsigned keep = __ballot_sync(~0u, v > 0), base = 0;
        if (l == 0) base = atomicAdd(n, __popc(keep));
        base = __shfl_sync(~0u, base, 0);
        if (v > 0) out[base + __popc(keep & ((1u << l) - 1))] = v;
    }
}

//! message_by_release_and_acquire 2 32 | u32:32 | out u32:32 | scratch u32:33 | cooperative
K message_by_release_and_acquire(const uint32_t *x, uint32_t *out, uint32_t *box)
{
    int l = threadIdx.x;
    if (blockIdx.x == 0) {
        box[1 + l] = x[l] * 3;
        __syncwarp();
        if (l == 0) asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(box) : "memory");
    } else {
        uint32_t f;
        do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(f) : "l"(box) : "memory");
        while (!f);
        __syncwarp();
        out[l] = box[1 + (l ^ 5)];
    }
}

//! named_barriers_of_two_teams 33 128 | f32:8448 | out f32:8448
K named_barriers_of_two_teams(const float *x, float *y)
{
    __shared__ float s[2][128];
    int team = threadIdx.x / 64, t = threadIdx.x % 64, base = blockIdx.x * 256 + team * 128;
    s[team][t] = x[base + t];
    s[team][t + 64] = x[base + t + 64];
    for (int d = 1; d < 16; d *= 2) {
        asm volatile("bar.sync %0, 64;" ::"r"(team + 1) : "memory");
        float a = s[team][(t + d) & 127], b = s[team][(t + 64 + d) & 127];
        asm volatile("bar.sync %0, 64;" ::"r"(team + 1) : "memory");
        s[team][t] += a * 0.5f;
        s[team][t + 64] += b * 0.5f;
    }
    y[base + t] = s[team][t];
    y[base + t + 64] = s[team][t + 64];
}

//! counted_and_agreed_at_barriers 33 128 | s32:8448:0:100 | out s32:66
K counted_and_agreed_at_barriers(const int *x, int *out)
{
    int i = blockIdx.x * 256 + threadIdx.x, a = x[i], b = x[i + 128];
    int n = __syncthreads_count(a > 50), all = __syncthreads_and(b < 99), any = __syncthreads_or(a == 7);
    if (threadIdx.x == 0) {
        out[blockIdx.x * 2] = n;
        out[blockIdx.x * 2 + 1] = (all != 0) * 2 + (any != 0);
    }
}

//! fetched_ahead_into_the_second_cache 33 128 | f32:270336 | u32:4224:0:8448 | out f32:4224
K fetched_ahead_into_the_second_cache(const float *x, const uint32_t *at, float *y)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    const float *p = x + at[i] * 32;
    asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
    float a = i;
    for (int k = 0; k < 20; k++) a = a * 0.99f + 0.5f;
    for (int k = 0; k < 8; k++) a += __ldcs(p + k * 4);
    __stcs(y + i, a);
}

//! pairs_of_bf16_through_a_pipeline 33 128 | bf16:67584:-1:1 | bf16:67584:-1:1 | out bf16:67584
K pairs_of_bf16_through_a_pipeline(const __nv_bfloat162 *a, const __nv_bfloat162 *b, __nv_bfloat162 *c)
{
    __nv_bfloat162 k = __floats2bfloat162_rn(0.5f, -0.25f), lo = __floats2bfloat162_rn(-1, -1), hi = __floats2bfloat162_rn(1, 1);
    for (int i = blockIdx.x * 128 + threadIdx.x; i < 33792; i += 4224) {
        __nv_bfloat162 v = __hfma2(a[i], b[i], k);
        v = __hmax2(lo, __hmin2(hi, v));
        c[i] = __hsub2(__hmul2(v, v), __habs2(k));
    }
}

//! halves_compared_by_masks 33 128 | f16:33792:-1:1 | f16:33792:-1:1 | out f16:33792 | out u32:132
K halves_compared_by_masks(const __half2 *a, const __half2 *b, __half2 *least, uint32_t *count)
{
    uint32_t n = 0;
    for (int k = 0; k < 4; k++) {
        int i = (blockIdx.x * 4 + k) * 128 + threadIdx.x;
        __half2 x = a[i], y = b[i];
        unsigned m = __hlt2_mask(x, y);
        n += __popc(m) / 16;
        unsigned r = *(unsigned *)&x & m | *(unsigned *)&y & ~m;
        least[i] = *(__half2 *)&r;
    }
    n = __reduce_add_sync(~0u, n);
    if (threadIdx.x % 32 == 0) count[blockIdx.x * 4 + threadIdx.x / 32] = n;
}

//! matrix_cores_fed_by_ldmatrix_loop 16 32 | f16:32768:-1:1 | f16:1024:-1:1 | out f32:2048
// m16n8k16 over eight steps, A by ldmatrix from swizzled shared memory, B from registers.
K matrix_cores_fed_by_ldmatrix_loop(const uint4 *A, const uint32_t *B, float *C)
{
    __shared__ __align__(16) uint4 s[256];
    int l = threadIdx.x;
    for (int i = l; i < 256; i += 32) s[i / 16 * 16 + (i % 16 ^ i / 16 % 8)] = A[blockIdx.x * 256 + i];
    __syncwarp();
    float c[4] = {};
    for (int k = 0; k < 8; k++) {
        uint32_t a[4], row = l % 16, q = k * 2 + l / 16;
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                     : "r"(at_shared(&s[row * 16 + (q ^ row % 8)])));
        uint32_t b0 = B[(k * 32 + l) * 2], b1 = B[(k * 32 + l) * 2 + 1];
        asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    }
    for (int i = 0; i < 4; i++) C[blockIdx.x * 128 + i * 32 + l] = c[i];
}
