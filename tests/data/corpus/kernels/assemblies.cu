/* assemblies.cu - matrix units, copies in the background and clusters by instructions written in place (compute_90a). */
#include <cooperative_groups.h>
#include <cstdint>
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#define K extern "C" __global__ void
namespace cg = cooperative_groups;

__device__ __forceinline__ uint32_t smem(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void copy16(void *to, const void *from) { asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem(to)), "l"(from) : "memory"); }
__device__ __forceinline__ void copy4(void *to, const void *from, int bytes) { asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(smem(to)), "l"(from), "r"(bytes) : "memory"); }
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ __forceinline__ void wait_groups() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
__device__ __forceinline__ void make_barrier(uint64_t *bar, uint32_t count) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem(bar)), "r"(count) : "memory"); }
__device__ __forceinline__ void expect(uint64_t *bar, uint32_t bytes) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem(bar)), "r"(bytes) : "memory"); }
__device__ __forceinline__ void arrive(uint64_t *bar) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(smem(bar)) : "memory"); }
__device__ __forceinline__ void wait_phase(uint64_t *bar, uint32_t phase)
{
    asm volatile("{\n.reg .pred done;\nAGAIN:\nmbarrier.try_wait.parity.acquire.cta.shared::cta.b64 done, [%0], %1;\n@done bra OVER;\nbra AGAIN;\nOVER:\n}" ::"r"(smem(bar)), "r"(phase) : "memory");
}
__device__ __forceinline__ void ldm4(uint32_t *r, const void *p)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(smem(p)) : "memory");
}
__device__ __forceinline__ void ldm4t(uint32_t *r, const void *p)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(smem(p)) : "memory");
}
__device__ __forceinline__ void mma16(float *c, const uint32_t *a, uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ uint32_t pack(float a, float b)
{
    __half2 h = __floats2half2_rn(a, b);
    return *(uint32_t *)&h;
}

//! attention_of_four_warps_by_mma 4,6 128 | f16:98304:-1:1 | f16:98304:-1:1 | f16:98304:-1:1 | out f16:98304 | s s32 256
// Six heads of 256 tokens, 64 wide; 64 queries a block, 64 keys a step by cp.async, running maximum and sum.
K __launch_bounds__(128) attention_of_four_warps_by_mma(const __half *q, const __half *k, const __half *v, __half *o, int n)
{
    __shared__ __align__(16) __half sk[64][72], sv[64][72];
    const int t = threadIdx.x, lane = t % 32, w = t / 32, head = blockIdx.y * n * 64, row = blockIdx.x * 64 + w * 16 + lane / 4;
    uint32_t qa[4][4];
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
        for (int e = 0; e < 4; e++) qa[j][e] = *(const uint32_t *)(q + head + (row + (e & 1) * 8) * 64 + j * 16 + (e >> 1) * 8 + lane % 4 * 2);
    float acc[8][4] = {}, m[2] = {-1e30f, -1e30f}, l[2] = {};
    for (int base = 0; base < n; base += 64) {
        __syncthreads();
#pragma unroll
        for (int i = t; i < 512; i += 128) {
            copy16(&sk[i / 8][i % 8 * 8], k + head + (base + i / 8) * 64 + i % 8 * 8);
            copy16(&sv[i / 8][i % 8 * 8], v + head + (base + i / 8) * 64 + i % 8 * 8);
        }
        commit();
        wait_groups<0>();
        __syncthreads();
        float s[8][4] = {};
#pragma unroll
        for (int j = 0; j < 4; j++)
#pragma unroll
            for (int c = 0; c < 4; c++) {
                uint32_t b[4];
                ldm4(b, &sk[c * 16 + lane % 8 + (lane >> 4) * 8][j * 16 + (lane >> 3 & 1) * 8]);
                mma16(s[c * 2], qa[j], b[0], b[1]);
                mma16(s[c * 2 + 1], qa[j], b[2], b[3]);
            }
#pragma unroll
        for (int h = 0; h < 2; h++) {
            float x = m[h];
#pragma unroll
            for (int c = 0; c < 8; c++) x = fmaxf(x, fmaxf(s[c][h * 2], s[c][h * 2 + 1]));
            x = fmaxf(x, __shfl_xor_sync(~0u, x, 1));
            x = fmaxf(x, __shfl_xor_sync(~0u, x, 2));
            float f = exp2f((m[h] - x) * 0.18033688f);
            m[h] = x, l[h] *= f;
#pragma unroll
            for (int c = 0; c < 8; c++) {
                acc[c][h * 2] *= f, acc[c][h * 2 + 1] *= f;
                s[c][h * 2] = exp2f((s[c][h * 2] - x) * 0.18033688f), s[c][h * 2 + 1] = exp2f((s[c][h * 2 + 1] - x) * 0.18033688f);
                l[h] += s[c][h * 2] + s[c][h * 2 + 1];
            }
        }
#pragma unroll
        for (int c = 0; c < 4; c++) {
            uint32_t a[4] = {pack(s[2 * c][0], s[2 * c][1]), pack(s[2 * c][2], s[2 * c][3]), pack(s[2 * c + 1][0], s[2 * c + 1][1]), pack(s[2 * c + 1][2], s[2 * c + 1][3])};
#pragma unroll
            for (int d = 0; d < 4; d++) {
                uint32_t b[4];
                ldm4t(b, &sv[c * 16 + lane % 16][d * 16 + (lane >> 4) * 8]);
                mma16(acc[d * 2], a, b[0], b[1]);
                mma16(acc[d * 2 + 1], a, b[2], b[3]);
            }
        }
    }
#pragma unroll
    for (int h = 0; h < 2; h++) {
        l[h] += __shfl_xor_sync(~0u, l[h], 1);
        l[h] += __shfl_xor_sync(~0u, l[h], 2);
#pragma unroll
        for (int d = 0; d < 8; d++) *(uint32_t *)(o + head + (row + h * 8) * 64 + d * 8 + lane % 4 * 2) = pack(acc[d][h * 2] / l[h], acc[d][h * 2 + 1] / l[h]);
    }
}

//! half_floats_in_eight_bits_by_mma 11,12 64 | u32:45056 | u32:24576 | out f32:67584
// e4m3 by e5m2, 64 x 32 a block of two warps, K of 256 from memory without shared memory. NaNs are masked away.
K half_floats_in_eight_bits_by_mma(const uint32_t *a, const uint32_t *b, float *c)
{
    int lane = threadIdx.x % 32, w = threadIdx.x / 32, row = blockIdx.x * 64 + w * 32 + lane / 4, col = blockIdx.y * 8 + lane / 4;
    float d[2][4] = {};
    for (int k = 0; k < 64; k += 8) {
        uint32_t b0 = b[col * 64 + k + lane % 4] & 0xbbbbbbbbu, b1 = b[col * 64 + k + 4 + lane % 4] & 0xbbbbbbbbu;
#pragma unroll
        for (int h = 0; h < 2; h++) {
            uint32_t x[4];
#pragma unroll
            for (int e = 0; e < 4; e++) x[e] = a[(row + h * 16 + (e & 1) * 8) * 64 + k + (e >> 1) * 4 + lane % 4] & 0xbfbfbfbfu;
            asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                         : "+f"(d[h][0]), "+f"(d[h][1]), "+f"(d[h][2]), "+f"(d[h][3]) : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(b0), "r"(b1));
        }
    }
#pragma unroll
    for (int h = 0; h < 2; h++)
#pragma unroll
        for (int e = 0; e < 2; e++) *(float2 *)(c + (row + h * 16 + e * 8) * 96 + blockIdx.y * 8 + lane % 4 * 2) = make_float2(d[h][e * 2], d[h][e * 2 + 1]);
}

//! filters_as_products_of_tensor_floats 14,4 128 | f32:57600:-1:1 | f32:4608:-1:1 | out f32:28672
// 3 x 3 x 16 inputs, 32 outputs: rows of 16 pixels are gathered by cp.async with zeros at the edge, m16n8k8.
K filters_as_products_of_tensor_floats(const float *x, const float *wt, float *y)
{
    __shared__ float tile[16][3][20], sw[144][33];
    int t = threadIdx.x, lane = t % 32, w = t / 32, row = blockIdx.x * 4, c0 = blockIdx.y * 16;
    for (int i = t; i < 4608; i += 128) copy4(&sw[i / 32][i % 32], wt + i, 4);
    float d[4] = {};
    for (int r = 0; r < 4; r++) {
        for (int i = t; i < 16 * 54; i += 128) {
            int ch = i / 54, j = i % 54 / 18, k = i % 18, py = row + r + j - 1, px = c0 + k - 1;
            bool in = py >= 0 && py < 56 && px >= 0 && px < 64;
            copy4(&tile[ch][j][k], in ? x + (ch * 56 + py) * 64 + px : x, in ? 4 : 0);
        }
        commit();
        wait_groups<0>();
        __syncthreads();
        d[0] = d[1] = d[2] = d[3] = 0;
#pragma unroll 3
        for (int k = 0; k < 144; k += 8) {
            uint32_t a[4], b[2];
#pragma unroll
            for (int e = 0; e < 4; e++) {
                int kk = k + lane % 4 + (e >> 1) * 4, p = lane / 4 + (e & 1) * 8;
                asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(a[e]) : "f"(tile[kk / 9][kk % 9 / 3][p + kk % 3]));
            }
#pragma unroll
            for (int e = 0; e < 2; e++) asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(b[e]) : "f"(sw[k + lane % 4 + e * 4][w * 8 + lane / 4]));
            asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                         : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
        }
        __syncthreads();
        if (r == (int)blockIdx.y)
#pragma unroll
            for (int e = 0; e < 4; e++) y[((w * 8 + lane % 4 * 2 + (e & 1)) * 14 + blockIdx.x) * 64 + c0 + lane / 4 + (e >> 1) * 8] = fmaxf(d[e], 0.0f);
    }
}

__device__ __forceinline__ uint64_t swizzled(const void *p, int stride)
{
    return (uint64_t)((smem(p) & 0x3FFFF) >> 4) | 1ull << 16 | (uint64_t)(stride >> 4) << 32 | 1ull << 62;
}
#define REGS32(d) "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])

//! tensor_tiles_into_warp_groups 6,8 160 | {"tensormap": "f16", "dims": [512, 384], "box": [64, 64], "swizzle": "128B", "init": {"hash": 43003, "lo": -1, "hi": 1}} | {"tensormap": "f16", "dims": [512, 512], "box": [64, 64], "swizzle": "128B", "init": {"hash": 43004, "lo": -1, "hi": 1}} | out f32:196608
// A warp of five orders boxes of 64 x 64 with swizzled rows, a group of four multiplies: two stages, K of 512.
K __launch_bounds__(160) tensor_tiles_into_warp_groups(const __grid_constant__ CUtensorMap ma, const __grid_constant__ CUtensorMap mb, float *c)
{
    __shared__ __align__(1024) __half sa[2][4096], sb[2][4096];
    __shared__ uint64_t full[2], empty[2];
    const int t = threadIdx.x, lane = t % 32, w = t / 32;
    if (t == 0) {
        for (int s = 0; s < 2; s++) make_barrier(&full[s], 1), make_barrier(&empty[s], 128);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    if (w == 4) {
        if (lane == 0)
            for (int k = 0; k < 8; k++) {
                int s = k & 1;
                if (k > 1) wait_phase(&empty[s], (k / 2 - 1) & 1);
                expect(&full[s], 16384);
                asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(smem(sa[s])), "l"(&ma), "r"(k * 64), "r"(blockIdx.x * 64), "r"(smem(&full[s])) : "memory");
                asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(smem(sb[s])), "l"(&mb), "r"(k * 64), "r"(blockIdx.y * 64), "r"(smem(&full[s])) : "memory");
            }
        return;
    }
    float d[32];
#pragma unroll
    for (int i = 0; i < 32; i++) d[i] = 0;
    for (int k = 0; k < 8; k++) {
        int s = k & 1;
        wait_phase(&full[s], k / 2 & 1);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int j = 0; j < 4; j++)
            asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
                         "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, %32, %33, 1, 1, 1, 0, 0;"
                         : REGS32(d) : "l"(swizzled(sa[s], 1024) + j * 2), "l"(swizzled(sb[s], 1024) + j * 2));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        arrive(&empty[s]);
    }
    float *p = c + (blockIdx.x * 64 + w * 16 + lane / 4) * 512 + blockIdx.y * 64 + lane % 4 * 2;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        *(float2 *)(p + j * 8) = make_float2(d[j * 4], d[j * 4 + 1]);
        *(float2 *)(p + 8 * 512 + j * 8) = make_float2(d[j * 4 + 2], d[j * 4 + 3]);
    }
}

//! rows_made_likelihoods_by_four_blocks 96 256 | f32:98304:-5:5 | out f32:98304
// A cluster of four blocks a row of 4,096: maxima and sums are written into the shared memory of all four.
K __cluster_dims__(4, 1, 1) rows_made_likelihoods_by_four_blocks(const float4 *x, float4 *y)
{
    __shared__ float part[8], all[2][4];
    cg::cluster_group cl = cg::this_cluster();
    int t = threadIdx.x, lane = t % 32, i = blockIdx.x * 256 + t;
    float4 v = x[i];
    float m = fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w));
    for (int d = 16; d; d /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
    if (lane == 0) part[t / 32] = m;
    __syncthreads();
    if (t < 4) {
        for (int k = 0; k < 8; k++) m = fmaxf(m, part[k]);
        *cl.map_shared_rank(&all[0][cl.block_rank()], t) = m;
    }
    cl.sync();
    m = fmaxf(fmaxf(all[0][0], all[0][1]), fmaxf(all[0][2], all[0][3]));
    v = make_float4(__expf(v.x - m), __expf(v.y - m), __expf(v.z - m), __expf(v.w - m));
    float s = v.x + v.y + v.z + v.w;
    for (int d = 16; d; d /= 2) s += __shfl_xor_sync(~0u, s, d);
    if (lane == 0) part[t / 32] = s;
    __syncthreads();
    if (t < 4) {
        s = 0;
        for (int k = 0; k < 8; k++) s += part[k];
        *cl.map_shared_rank(&all[1][cl.block_rank()], t) = s;
    }
    cl.sync();
    s = 1.0f / (all[1][0] + all[1][1] + all[1][2] + all[1][3]);
    y[i] = make_float4(v.x * s, v.y * s, v.z * s, v.w * s);
}

//! values_sent_with_their_arrival 66 128 | u32:8448 | out u32:8448
// st.async: every block sends its words to the next one of three, whose barrier counts the bytes; six rounds.
K __cluster_dims__(3, 1, 1) values_sent_with_their_arrival(const uint32_t *x, uint32_t *out)
{
    __shared__ uint32_t box[2][128];
    __shared__ uint64_t bar[2];
    cg::cluster_group cl = cg::this_cluster();
    int t = threadIdx.x, next = (cl.block_rank() + 1) % 3;
    if (t == 0) {
        make_barrier(&bar[0], 1), make_barrier(&bar[1], 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    cl.sync();
    uint32_t v = x[blockIdx.x * 128 + t], to[2], tb[2];
    for (int s = 0; s < 2; s++) {
        asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to[s]) : "r"(smem(&box[s][t])), "r"(next));
        asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(tb[s]) : "r"(smem(&bar[s])), "r"(next));
    }
    for (int r = 0; r < 6; r++) {
        int s = r & 1;
        if (t == 0) expect(&bar[s], 512);
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(to[s]), "r"(v), "r"(tb[s]) : "memory");
        wait_phase(&bar[s], r / 2 & 1);
        v = box[s][(t * 5 + r) % 128] * 2654435761u + r;
        cl.sync();
    }
    out[blockIdx.x * 128 + t] = v;
}

//! blocks_added_by_bulk_reductions 132 128 | f32:135168:0:8 | zero s32:4096 | s s32 8
// Rows become whole numbers in shared memory; the copy engine adds them in memory.
K blocks_added_by_bulk_reductions(const float *x, int *sum, int rounds)
{
    __shared__ __align__(128) int row[2][128];
    int t = threadIdx.x;
    for (int r = 0; r < rounds; r++) {
        if (r > 1) {
            if (t == 0) asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
            __syncthreads();
        }
        row[r & 1][t] = (int)(x[(blockIdx.x * rounds + r) * 128 + t] * 16.0f);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (t == 0) {
            asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], 512;" ::"l"(sum + (blockIdx.x % 4 * 8 + r) * 128), "r"(smem(row[r & 1])) : "memory");
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        }
    }
    if (t == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

//! halves_summed_from_a_ring_of_copies 48 96 | f16:1179648:-1:1 | out f32:9216
// Four stages of cp.async.bulk without a warp of its own: thread 0 orders, everybody works, one barrier a stage.
K halves_summed_from_a_ring_of_copies(const __half *x, float2 *out)
{
    __shared__ __align__(128) __half2 ring[4][192];
    __shared__ uint64_t bar[4];
    int t = threadIdx.x;
    if (t == 0) {
        for (int s = 0; s < 4; s++) make_barrier(&bar[s], 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    const __half *p = x + blockIdx.x * 24576;
    auto order = [&](int k) {
        expect(&bar[k % 4], 768);
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 768, [%2];" ::"r"(smem(ring[k % 4])), "l"(p + k * 384), "r"(smem(&bar[k % 4])) : "memory");
    };
    if (t == 0)
        for (int k = 0; k < 3; k++) order(k);
    float2 a = make_float2(0, 0), b = a;
    for (int k = 0; k < 64; k++) {
        wait_phase(&bar[k % 4], k / 4 & 1);
        float2 u = __half22float2(ring[k % 4][t]), v = __half22float2(ring[k % 4][t + 96]);
        a.x += u.x, a.y += u.y, b.x += v.x, b.y += v.y;
        __syncthreads();
        if (t == 0 && k + 3 < 64) order(k + 3);
    }
    out[blockIdx.x * 96 + t] = make_float2(a.x * 0.5f + b.x, a.y * 0.5f + b.y);
}

//! signed_bytes_with_running_scales 16,8 128 | u32:32768 | u32:16384 | f32:2048:0.01:0.1 | out f32:131072
// m16n8k32 of bytes; after every 64 of K the whole sums are scaled and added as floats (256 x 64 x 512 shape folded by warps).
K signed_bytes_with_running_scales(const uint32_t *a, const uint32_t *b, const float *scale, float *c)
{
    int lane = threadIdx.x % 32, w = threadIdx.x / 32, row = blockIdx.x * 16 + lane / 4, col = blockIdx.y * 64 + w * 16 + lane / 4;
    float f[2][4] = {};
    for (int g = 0; g < 8; g++) {
        int d[2][4] = {};
#pragma unroll
        for (int k = g * 16; k < g * 16 + 16; k += 8) {
            uint32_t x[4];
#pragma unroll
            for (int e = 0; e < 4; e++) x[e] = a[(row + (e & 1) * 8) * 128 + k + (e >> 1) * 4 + lane % 4];
#pragma unroll
            for (int h = 0; h < 2; h++) {
                uint32_t b0 = b[(col + h * 8) % 128 * 128 + k + lane % 4], b1 = b[(col + h * 8) % 128 * 128 + k + 4 + lane % 4];
                asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                             : "+r"(d[h][0]), "+r"(d[h][1]), "+r"(d[h][2]), "+r"(d[h][3]) : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(b0), "r"(b1));
            }
        }
#pragma unroll
        for (int h = 0; h < 2; h++)
#pragma unroll
            for (int e = 0; e < 4; e++) f[h][e] = fmaf((float)d[h][e], scale[(row + (e >> 1) * 8) * 8 + g], f[h][e]);
    }
#pragma unroll
    for (int h = 0; h < 2; h++)
#pragma unroll
        for (int e = 0; e < 2; e++) *(float2 *)(c + (row + e * 8) * 512 + blockIdx.y * 64 + w * 16 + h * 8 + lane % 4 * 2) = make_float2(f[h][e * 2], f[h][e * 2 + 1]);
}

//! sums_along_rows_by_units_of_ones 33 128 | f16:135168:-1:1 | out f32:8448
// wmma with a matrix of ones: prefix sums inside rows of 16, a lower triangle made in shared memory.
K sums_along_rows_by_units_of_ones(const __half *x, float *y)
{
    using namespace nvcuda;
    __shared__ __align__(32) __half tri[256];
    __shared__ __align__(32) float res[4][256];
    int t = threadIdx.x, w = t / 32;
    for (int i = t; i < 256; i += 128) tri[i] = __float2half(i / 16 <= i % 16 ? 1.0f : 0.0f);
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::load_matrix_sync(b, tri, 16);
    float best = -1e30f;
    for (int k = 0; k < 4; k++) {
        wmma::fill_fragment(c, 0.0f);
        wmma::load_matrix_sync(a, x + (blockIdx.x * 16 + w * 4 + k) * 256, 16);
        wmma::mma_sync(c, a, b, c);
        wmma::store_matrix_sync(res[w], c, 16, wmma::mem_row_major);
        __syncwarp();
        for (int i = t % 32; i < 256; i += 32) best = fmaxf(best, res[w][i]);
        __syncwarp();
        y[((blockIdx.x * 4 + w) * 4 + k) * 16 + t % 16] = res[w][t % 16 * 16 + 15];
        __syncwarp();
    }
    if (best > 1e20f) y[0] = best;
}

//! eight_blocks_look_things_up_together 64 256 | u32:65536 | s32:16384:0:8192 | out u32:16384
// A table of 8,192 words over the shared memory of eight blocks, 32 steps of a chain through it.
K __cluster_dims__(8, 1, 1) eight_blocks_look_things_up_together(const uint32_t *table, const int *start, uint32_t *out)
{
    __shared__ uint32_t mine[1024];
    cg::cluster_group cl = cg::this_cluster();
    int t = threadIdx.x, r = cl.block_rank(), base = blockIdx.x / 8 * 8192;
    for (int i = t; i < 1024; i += 256) mine[i] = table[base + r * 1024 + i];
    cl.sync();
    uint32_t at = start[blockIdx.x * 256 + t], s = 0;
    for (int k = 0; k < 32; k++) {
        uint32_t v = *cl.map_shared_rank(&mine[at % 1024], at / 1024);
        s = s * 31 + v;
        at = (v ^ k * 77) & 8191;
    }
    out[blockIdx.x * 256 + t] = s;
    cl.sync();
}
