/* hopper.cu - matrix instructions, copies in the background and clusters, as libraries for recent GPUs use them. */
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cstdint>
#include <cub/cub.cuh>
#include <cuda/barrier>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
namespace cg = cooperative_groups;

__device__ __forceinline__ uint32_t smem(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void cp16(void *to, const void *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem(to)), "l"(from));
}
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;"); }
template <int N>
__device__ __forceinline__ void wait() { asm volatile("cp.async.wait_group %0;" ::"n"(N)); }
__device__ __forceinline__ void ldm4(uint32_t (&r)[4], const void *p)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(smem(p)));
}
__device__ __forceinline__ void ldm4t(uint32_t (&r)[4], const void *p)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(smem(p)));
}
__device__ __forceinline__ void mma_f16(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ void mma_bf16(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

//! hgemm_three_stages 4,3 128 | f16:49152:-1:1 | f16:65536:-1:1 | out f32:49152
// C = A B of 192 x 256 and 256 x 256, 64 x 64 a block, three stages of 32, two by two warps, rows padded by eight.
extern "C" __global__ void __launch_bounds__(128) hgemm_three_stages(const half *A, const half *B, float *C)
{
    const int K = 256, N = 256;
    __shared__ __align__(16) half sa[3][64][40], sb[3][32][72];
    const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5, wm = warp >> 1, wn = warp & 1;
    A += blockIdx.y * 64 * K;
    B += blockIdx.x * 64;
    auto load = [&](int stage, int k0) {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            int c = tid + i * 128;
            cp16(&sa[stage][c >> 2][(c & 3) * 8], A + (c >> 2) * K + k0 + (c & 3) * 8);
            cp16(&sb[stage][c >> 3][(c & 7) * 8], B + (k0 + (c >> 3)) * N + (c & 7) * 8);
        }
        commit();
    };
    load(0, 0);
    load(1, 32);
    float acc[2][4][4] = {};
    for (int kt = 0; kt < K / 32; kt++) {
        wait<1>();
        __syncthreads();
        if (kt + 2 < K / 32)
            load((kt + 2) % 3, (kt + 2) * 32);
        else
            commit();
        int st = kt % 3;
#pragma unroll
        for (int ks = 0; ks < 32; ks += 16) {
            uint32_t a[2][4], b[2][4];
#pragma unroll
            for (int i = 0; i < 2; i++) ldm4(a[i], &sa[st][wm * 32 + i * 16 + (lane & 15)][ks + (lane >> 4) * 8]);
#pragma unroll
            for (int j = 0; j < 2; j++) ldm4t(b[j], &sb[st][ks + (lane & 15)][wn * 32 + j * 16 + (lane >> 4) * 8]);
#pragma unroll
            for (int i = 0; i < 2; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) mma_f16(acc[i][j], a[i], b[j >> 1][(j & 1) * 2], b[j >> 1][(j & 1) * 2 + 1]);
        }
    }
    const int r = blockIdx.y * 64 + wm * 32 + (lane >> 2), c = blockIdx.x * 64 + wn * 32 + (lane & 3) * 2;
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            *(float2 *)(C + (r + i * 16) * N + c + j * 8) = make_float2(acc[i][j][0], acc[i][j][1]);
            *(float2 *)(C + (r + i * 16 + 8) * N + c + j * 8) = make_float2(acc[i][j][2], acc[i][j][3]);
        }
}

//! linear_bias_gelu 8,4 64 | bf16:32768:-1:1 | bf16:32768:-1:1 | f32:256:-1:1 | out bf16:32768
// X (128 x 256) times the transpose of W (128... 256 x 128), 32 x 32 a block of two warps, swizzled rows of 64 bytes, bias and gelu at the end.
extern "C" __global__ void linear_bias_gelu(const __nv_bfloat16 *X, const __nv_bfloat16 *W, const float *bias, __nv_bfloat16 *Y)
{
    const int K = 128;
    __shared__ __align__(128) __nv_bfloat16 sx[32 * 64], sw[32 * 64];
    const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
    float acc[4][4] = {};
    auto at = [](int row, int chunk) { return row * 64 + ((chunk ^ (row & 7)) * 8); };
    for (int k0 = 0; k0 < K; k0 += 64) {
        for (int i = tid; i < 256; i += 64) {
            cp16(sx + at(i >> 3, i & 7), X + (blockIdx.y * 32 + (i >> 3)) * K + k0 + (i & 7) * 8);
            cp16(sw + at(i >> 3, i & 7), W + (blockIdx.x * 32 + (i >> 3)) * K + k0 + (i & 7) * 8);
        }
        commit();
        wait<0>();
        __syncthreads();
#pragma unroll
        for (int ks = 0; ks < 4; ks++) {
            uint32_t a[4], b[4];
            ldm4(a, sx + at(warp * 16 + (lane & 15), ks * 2 + (lane >> 4)));
#pragma unroll
            for (int j = 0; j < 2; j++) {
                ldm4(b, sw + at(j * 16 + (lane & 7) + ((lane >> 4) << 3), ks * 2 + ((lane >> 3) & 1)));
                mma_bf16(acc[2 * j], a, b[0], b[1]);
                mma_bf16(acc[2 * j + 1], a, b[2], b[3]);
            }
        }
        __syncthreads();
    }
    auto gelu = [](float x) { return 0.5f * x * (1.0f + erff(x * 0.70710678f)); };
    int row = blockIdx.y * 32 + warp * 16 + lane / 4, col = blockIdx.x * 32 + lane % 4 * 2;
    for (int j = 0; j < 4; j++) {
        float b0 = bias[col + j * 8], b1 = bias[col + j * 8 + 1];
        *(__nv_bfloat162 *)(Y + row * 256 + col + j * 8) = __floats2bfloat162_rn(gelu(acc[j][0] + b0), gelu(acc[j][1] + b1));
        *(__nv_bfloat162 *)(Y + (row + 8) * 256 + col + j * 8) = __floats2bfloat162_rn(gelu(acc[j][2] + b0), gelu(acc[j][3] + b1));
    }
}

//! igemm_requant 6,6 32,2 | s8:24576 | s8:24576 | f32:192:0.0001:0.001 | out s8:36864
// Bytes times bytes by m16n8k32, fragments straight from memory, scaled and clipped to bytes again.
extern "C" __global__ void igemm_requant(const int8_t *A, const int8_t *B, const float *scale, int8_t *C)
{
    const int K = 128, N = 192, lane = threadIdx.x, g = lane >> 2, q = lane & 3;
    int m0 = blockIdx.y * 32 + threadIdx.y * 16, n0 = blockIdx.x * 32, acc[4][4] = {};
    for (int k = 0; k < K; k += 32) {
        uint32_t a[4];
        const int8_t *pa = A + (m0 + g) * K + k + q * 4;
        a[0] = *(const uint32_t *)pa, a[1] = *(const uint32_t *)(pa + 8 * K);
        a[2] = *(const uint32_t *)(pa + 16), a[3] = *(const uint32_t *)(pa + 8 * K + 16);
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const int8_t *pb = B + (n0 + j * 8 + g) * K + k + q * 4;
            uint32_t b0 = *(const uint32_t *)pb, b1 = *(const uint32_t *)(pb + 16);
            asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                         : "+r"(acc[j][0]), "+r"(acc[j][1]), "+r"(acc[j][2]), "+r"(acc[j][3])
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
        }
    }
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
        for (int e = 0; e < 4; e++) {
            int col = n0 + j * 8 + q * 2 + (e & 1), row = m0 + g + (e >> 1) * 8;
            int v = __float2int_rn(acc[j][e] * scale[col]);
            C[row * N + col] = (int8_t)max(-128, min(127, v));
        }
}

//! tf32_gram 5,5 32 | f32:15360:-1:1 | out f32:25600
// The Gram matrix of 160 rows of 96, 32 x 32 a warp, fragments of m16n8k8 rounded to tf32 on the way.
extern "C" __global__ void tf32_gram(const float *X, float *G)
{
    const int K = 96, lane = threadIdx.x, g = lane / 4, q = lane % 4, m0 = blockIdx.y * 32, n0 = blockIdx.x * 32;
    float acc[2][4][4] = {};
    auto tf = [](float f) {
        uint32_t r;
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(f));
        return r;
    };
    for (int k = 0; k < K; k += 8) {
        uint32_t a[2][4], b[4][2];
        for (int i = 0; i < 2; i++)
            for (int e = 0; e < 4; e++) a[i][e] = tf(X[(m0 + i * 16 + g + (e & 1) * 8) * K + k + q + (e >> 1) * 4]);
        for (int j = 0; j < 4; j++)
            for (int e = 0; e < 2; e++) b[j][e] = tf(X[(n0 + j * 8 + g) * K + k + q + e * 4]);
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 4; j++)
                asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                    : "+f"(acc[i][j][0]), "+f"(acc[i][j][1]), "+f"(acc[i][j][2]), "+f"(acc[i][j][3])
                    : "r"(a[i][0]), "r"(a[i][1]), "r"(a[i][2]), "r"(a[i][3]), "r"(b[j][0]), "r"(b[j][1]));
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++)
            for (int e = 0; e < 4; e++) G[(m0 + i * 16 + g + (e >> 1) * 8) * 160 + n0 + j * 8 + q * 2 + (e & 1)] = acc[i][j][e];
}

//! fp8_scaled_tiles 4,4 64 | f32:8192:-2:2 | f32:8192:-2:2 | f32:128:0.5:2 | out f16:16384
// Numbers are turned into e4m3 on the way to shared memory, multiplied by m16n8k32, scaled by rows and columns.
extern "C" __global__ void fp8_scaled_tiles(const float4 *A, const float4 *B, const float *scale, half *C)
{
    __shared__ uint32_t sa[32][18], sb[32][18];
    const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5, g = lane >> 2, q = lane & 3;
    for (int i = tid; i < 512; i += 64) {
        sa[i / 16][i % 16] = __nv_fp8x4_e4m3(A[(blockIdx.y * 32 + i / 16) * 16 + i % 16]).__x;
        sb[i / 16][i % 16] = __nv_fp8x4_e4m3(B[(blockIdx.x * 32 + i / 16) * 16 + i % 16]).__x;
    }
    __syncthreads();
    float c[4][4] = {};
#pragma unroll
    for (int k = 0; k < 16; k += 8) {
        uint32_t a[4] = {sa[warp * 16 + g][k + q], sa[warp * 16 + g + 8][k + q], sa[warp * 16 + g][k + q + 4], sa[warp * 16 + g + 8][k + q + 4]};
#pragma unroll
        for (int j = 0; j < 4; j++)
            asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                         : "+f"(c[j][0]), "+f"(c[j][1]), "+f"(c[j][2]), "+f"(c[j][3])
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(sb[j * 8 + g][k + q]), "r"(sb[j * 8 + g][k + q + 4]));
    }
    int row = blockIdx.y * 32 + warp * 16 + g;
    float s0 = scale[row % 128], s1 = scale[(row + 8) % 128];
    for (int j = 0; j < 4; j++) {
        int col = blockIdx.x * 32 + j * 8 + q * 2;
        *(half2 *)(C + row * 128 + col) = __floats2half2_rn(c[j][0] * s0, c[j][1] * s0);
        *(half2 *)(C + (row + 8) * 128 + col) = __floats2half2_rn(c[j][2] * s1, c[j][3] * s1);
    }
}

//! flash_forward_64 4,6 128 | f16:98304:-1:1 | f16:98304:-1:1 | f16:98304:-1:1 | out f16:98304 | s f32 0.18033688
// Attention of 256 x 64 in six heads: 64 queries a block, 16 a warp, keys and values by tiles of 64, exponentials of base two.
extern "C" __global__ void __launch_bounds__(128) flash_forward_64(const half *Q, const half *Kp, const half *V, half *O, float scale)
{
    __shared__ __align__(128) half sk[64 * 64], sv[64 * 64];
    const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
    const size_t base = (size_t)blockIdx.y * 256 * 64;
    auto at = [](int row, int chunk) { return row * 64 + ((chunk ^ (row & 7)) * 8); };
    for (int i = tid; i < 512; i += 128) cp16(sk + at(i >> 3, i & 7), Q + base + (blockIdx.x * 64 + (i >> 3)) * 64 + (i & 7) * 8);
    commit();
    wait<0>();
    __syncthreads();
    uint32_t q[4][4];
#pragma unroll
    for (int k = 0; k < 4; k++) ldm4(q[k], sk + at(warp * 16 + (lane & 15), k * 2 + (lane >> 4)));
    float o[8][4] = {}, m[2] = {-INFINITY, -INFINITY}, l[2] = {0, 0};
    for (int t = 0; t < 4; t++) {
        __syncthreads();
        for (int i = tid; i < 512; i += 128) {
            cp16(sk + at(i >> 3, i & 7), Kp + base + (t * 64 + (i >> 3)) * 64 + (i & 7) * 8);
            cp16(sv + at(i >> 3, i & 7), V + base + (t * 64 + (i >> 3)) * 64 + (i & 7) * 8);
        }
        commit();
        wait<0>();
        __syncthreads();
        float s[8][4] = {};
#pragma unroll
        for (int k = 0; k < 4; k++)
#pragma unroll
            for (int j = 0; j < 4; j++) {
                uint32_t b[4];
                ldm4(b, sk + at(j * 16 + (lane & 7) + ((lane >> 4) << 3), k * 2 + ((lane >> 3) & 1)));
                mma_f16(s[2 * j], q[k], b[0], b[1]);
                mma_f16(s[2 * j + 1], q[k], b[2], b[3]);
            }
        uint32_t p[4][4];
#pragma unroll
        for (int h = 0; h < 2; h++) {
            float mx = m[h];
#pragma unroll
            for (int j = 0; j < 8; j++) mx = fmaxf(mx, fmaxf(s[j][2 * h], s[j][2 * h + 1]));
            mx = fmaxf(mx, __shfl_xor_sync(~0u, mx, 1));
            mx = fmaxf(mx, __shfl_xor_sync(~0u, mx, 2));
            float f = exp2f((m[h] - mx) * scale), sum = 0;
#pragma unroll
            for (int j = 0; j < 8; j++) {
                float e0 = exp2f((s[j][2 * h] - mx) * scale), e1 = exp2f((s[j][2 * h + 1] - mx) * scale);
                sum += e0 + e1;
                half2 e = __floats2half2_rn(e0, e1);
                p[j >> 1][(j & 1) * 2 + h] = *(uint32_t *)&e;
                o[j][2 * h] *= f;
                o[j][2 * h + 1] *= f;
            }
            sum += __shfl_xor_sync(~0u, sum, 1);
            sum += __shfl_xor_sync(~0u, sum, 2);
            l[h] = l[h] * f + sum;
            m[h] = mx;
        }
#pragma unroll
        for (int k = 0; k < 4; k++)
#pragma unroll
            for (int j = 0; j < 4; j++) {
                uint32_t b[4];
                ldm4t(b, sv + at(k * 16 + (lane & 15), j * 2 + (lane >> 4)));
                mma_f16(o[2 * j], p[k], b[0], b[1]);
                mma_f16(o[2 * j + 1], p[k], b[2], b[3]);
            }
    }
    int row = blockIdx.x * 64 + warp * 16 + (lane >> 2);
#pragma unroll
    for (int j = 0; j < 8; j++) {
        *(half2 *)(O + base + row * 64 + j * 8 + (lane & 3) * 2) = __floats2half2_rn(o[j][0] / l[0], o[j][1] / l[0]);
        *(half2 *)(O + base + (row + 8) * 64 + j * 8 + (lane & 3) * 2) = __floats2half2_rn(o[j][2] / l[1], o[j][3] / l[1]);
    }
}

__device__ __forceinline__ void mbar_init(uint64_t *b, int n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(smem(b)), "r"(n)); }
__device__ __forceinline__ void mbar_expect(uint64_t *b, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem(b)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void mbar_arrive(uint64_t *b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(smem(b)) : "memory"); }
__device__ __forceinline__ void mbar_wait(uint64_t *b, int parity)
{
    asm volatile("{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra DONE;\nbra AGAIN;\nDONE:\n}" ::"r"(smem(b)),
                 "r"(parity)
                 : "memory");
}
__device__ __forceinline__ void bulk(void *to, const void *from, int bytes, uint64_t *b)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(smem(to)), "l"(from), "r"(bytes),
                 "r"(smem(b))
                 : "memory");
}
//! ring_of_stages 66 160 | f32:270336:-1:1 | out f32:132
// A warp fills a ring of four stages by bulk copies, four warps take the squares of what comes; full and empty barriers for each stage.
extern "C" __global__ void ring_of_stages(const float *in, float *out)
{
    __shared__ __align__(128) float stage[4][512];
    __shared__ uint64_t full[4], empty[4];
    __shared__ float part[4];
    if (threadIdx.x == 0) {
        for (int i = 0; i < 4; i++) mbar_init(&full[i], 1), mbar_init(&empty[i], 128);
        asm volatile("fence.mbarrier_init.release.cluster;");
    }
    __syncthreads();
    const float *src = in + blockIdx.x * 4096;
    float a = 0;
    if (threadIdx.x >= 128) {
        if (threadIdx.x == 128)
            for (int t = 0; t < 8; t++) {
                int s = t & 3;
                if (t >= 4) mbar_wait(&empty[s], (t / 4 - 1) & 1);
                mbar_expect(&full[s], 2048);
                bulk(stage[s], src + t * 512, 2048, &full[s]);
            }
    } else {
        for (int t = 0; t < 8; t++) {
            int s = t & 3;
            mbar_wait(&full[s], t / 4 & 1);
            float4 v = *(const float4 *)&stage[s][threadIdx.x * 4];
            mbar_arrive(&empty[s]);
            a += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
        }
        for (int o = 16; o; o >>= 1) a += __shfl_xor_sync(~0u, a, o);
        if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = a;
    }
    __syncthreads();
    if (threadIdx.x < 2) out[blockIdx.x * 2 + threadIdx.x] = part[2 * threadIdx.x] + part[2 * threadIdx.x + 1];
}

//! spread_bins 16 256 | u32:65536:0:2048 | zero u32:2048
// A histogram whose bins lie in the shared memory of the four blocks of a cluster.
extern "C" __global__ void __cluster_dims__(4, 1, 1) spread_bins(const unsigned *in, unsigned *bins)
{
    __shared__ int smem_bins[512];
    cg::cluster_group cluster = cg::this_cluster();
    for (int i = threadIdx.x; i < 512; i += blockDim.x) smem_bins[i] = 0;
    cluster.sync();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 65536; i += blockDim.x * gridDim.x) {
        unsigned id = in[i];
        int *dst = cluster.map_shared_rank(smem_bins, id / 512);
        atomicAdd(dst + id % 512, 1);
    }
    cluster.sync();
    for (int i = threadIdx.x; i < 512; i += blockDim.x) atomicAdd(&bins[cluster.block_rank() * 512 + i], smem_bins[i]);
}

//! long_row_softmax 64 256 | f32:131072:-5:5 | out f32:131072
// A row of 16,384 for a cluster of eight blocks: maxima and sums go through all blocks' shared memory.
extern "C" __global__ void __cluster_dims__(8, 1, 1) long_row_softmax(const float4 *x, float4 *y)
{
    __shared__ float red[8], maxima[8], sums[8];
    auto cluster = cg::this_cluster();
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    int rank = cluster.block_rank(), t = threadIdx.x, i0 = blockIdx.x * 512 + t;
    float4 v[2] = {x[i0], x[i0 + 256]};
    float m = fmaxf(fmaxf(fmaxf(v[0].x, v[0].y), fmaxf(v[0].z, v[0].w)), fmaxf(fmaxf(v[1].x, v[1].y), fmaxf(v[1].z, v[1].w)));
    m = cg::reduce(warp, m, cg::greater<float>());
    if (warp.thread_rank() == 0) red[t / 32] = m;
    block.sync();
    if (t < 8) {
        float b = red[0];
        for (int k = 1; k < 8; k++) b = fmaxf(b, red[k]);
        *cluster.map_shared_rank(&maxima[rank], t) = b;
    }
    cluster.sync();
    m = maxima[0];
    for (int k = 1; k < 8; k++) m = fmaxf(m, maxima[k]);
    float s = 0;
    for (int k = 0; k < 2; k++) {
        v[k].x = __expf(v[k].x - m), v[k].y = __expf(v[k].y - m), v[k].z = __expf(v[k].z - m), v[k].w = __expf(v[k].w - m);
        s += v[k].x + v[k].y + v[k].z + v[k].w;
    }
    s = cg::reduce(warp, s, cg::plus<float>());
    if (warp.thread_rank() == 0) red[t / 32] = s;
    block.sync();
    if (t < 8) {
        float b = 0;
        for (int k = 0; k < 8; k++) b += red[k];
        *cluster.map_shared_rank(&sums[rank], t) = b;
    }
    cluster.sync();
    s = 0;
    for (int k = 0; k < 8; k++) s += sums[k];
    s = 1 / s;
    for (int k = 0; k < 2; k++) y[i0 + k * 256] = make_float4(v[k].x * s, v[k].y * s, v[k].z * s, v[k].w * s);
}

//! bulk_sums_out 30 128 | u32:122880:0:1000 | zero u32:2048
// Blocks make partial sums in shared memory; a bulk reduction adds them to memory.
extern "C" __global__ void bulk_sums_out(const uint4 *in, unsigned *out)
{
    __shared__ __align__(128) unsigned part[2048];
    int t = threadIdx.x, half = blockIdx.x % 2;
    for (int k = t; k < 512; k += 128) {
        uint4 v = in[blockIdx.x * 1024 + k], w = in[blockIdx.x * 1024 + k + 512];
        *(uint4 *)&part[k * 4] = make_uint4(v.x + w.x, v.y * 3 + w.y, v.z ^ w.z, max(v.w, w.w));
    }
    asm volatile("fence.proxy.async.shared::cta;");
    __syncthreads();
    if (t == 0) {
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;" ::"l"(out + half * 1024), "r"(smem(part + half * 1024)), "r"(4096)
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

//! tile_to_all 16 96 | f32:49152:-1:1 | f32:12288:-1:1 | out f32:1536
// One block of a cluster of four fetches a tile for all of them, each a quarter; every block multiplies it with rows of its own.
extern "C" __global__ void __cluster_dims__(4, 1, 1) tile_to_all(const float *rows, const float *tile, float *out)
{
    __shared__ __align__(128) float s[1024];
    __shared__ uint64_t bar;
    auto cluster = cg::this_cluster();
    int rank = cluster.block_rank(), group = blockIdx.x / 4;
    if (threadIdx.x == 0) {
        mbar_init(&bar, 1);
        asm volatile("fence.mbarrier_init.release.cluster;");
        mbar_expect(&bar, 4096);
    }
    cluster.sync();
    if (threadIdx.x == 0)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(smem(s + rank * 256)),
                     "l"(tile + group * 1024 + rank * 256), "r"(1024), "r"(smem(&bar)), "h"((uint16_t)15)
                     : "memory");
    mbar_wait(&bar, 0);
    float a = 0;
    for (int k = 0; k < 32; k++) a += rows[(blockIdx.x * 96 + threadIdx.x) * 32 + k] * s[(threadIdx.x % 32) * 32 + (k + threadIdx.x) % 32];
    out[blockIdx.x * 96 + threadIdx.x] = a;
    cluster.sync();
}

//! barrier_object_copy 44 128 | s32:90112:-100:100 | out s32:5632
// The library's barrier and memcpy_async, two stages.
extern "C" __global__ void barrier_object_copy(const int *in, int *out)
{
    __shared__ alignas(16) int buf[2][512];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::barrier<cuda::thread_scope_block> bar[2];
    auto block = cg::this_thread_block();
    if (block.thread_rank() == 0) init(&bar[0], block.size()), init(&bar[1], block.size());
    block.sync();
    const int *src = in + blockIdx.x * 2048;
    cuda::memcpy_async(block, buf[0], src, cuda::aligned_size_t<16>(2048), bar[0]);
    int sum = 0;
    for (int k = 0; k < 4; k++) {
        if (k < 3) cuda::memcpy_async(block, buf[(k + 1) & 1], src + (k + 1) * 512, cuda::aligned_size_t<16>(2048), bar[(k + 1) & 1]);
        bar[k & 1].arrive_and_wait();
        for (int j = 0; j < 4; j++) sum = sum * 3 + buf[k & 1][(threadIdx.x * 5 + j * 128) % 512];
        block.sync();
    }
    out[blockIdx.x * 128 + threadIdx.x] = sum;
}

//! labelled_groups 22 128 | u32:2816:0:5 | s32:2816:-20:20 | out s32:2816 | out s32:2816
// Groups of the lanes with equal labels, and of those that reach a branch.
extern "C" __global__ void labelled_groups(const unsigned *label, const int *value, int *sum, int *place)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = value[i];
    auto same = cg::labeled_partition(warp, label[i]);
    sum[i] = cg::reduce(same, v, cg::plus<int>()) * 100 + same.size();
    int r = -1;
    if (v > 3) {
        auto active = cg::coalesced_threads();
        r = active.thread_rank() + 64 * active.shfl(v, 0);
    }
    place[i] = r;
}

//! block_radix_library 12 128 | u32:12288:0:65536 | out u32:12288 | out u32:12288
// Keys with their places through the library's loads, radix sort and stores.
extern "C" __global__ void block_radix_library(const unsigned *in, unsigned *keys, unsigned *places)
{
    using Load = cub::BlockLoad<unsigned, 128, 8, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using Sort = cub::BlockRadixSort<unsigned, 128, 8, unsigned>;
    using Store = cub::BlockStore<unsigned, 128, 8, cub::BLOCK_STORE_TRANSPOSE>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Sort::TempStorage sort;
        typename Store::TempStorage store;
    } temp;
    unsigned k[8], v[8];
    Load(temp.load).Load(in + blockIdx.x * 1024, k);
    for (int j = 0; j < 8; j++) v[j] = threadIdx.x * 8 + j;
    __syncthreads();
    Sort(temp.sort).Sort(k, v, 4, 16);
    __syncthreads();
    Store(temp.store).Store(keys + blockIdx.x * 1024, k);
    __syncthreads();
    Store(temp.store).Store(places + blockIdx.x * 1024, v);
}

//! warp_merge_library 20 64 | f32:10240:-9:9 | out f32:10240 | out f32:1280
// Merge sort of 256 in a warp, then a reduction by keys' sign with the library.
struct Less {
    __device__ bool operator()(float a, float b) const { return a < b; }
};
extern "C" __global__ void warp_merge_library(const float *in, float *out, float *heads)
{
    using Merge = cub::WarpMergeSort<float, 8, 32>;
    using Reduce = cub::WarpReduce<float>;
    __shared__ typename Merge::TempStorage merge[2];
    __shared__ typename Reduce::TempStorage reduce[2];
    int w = threadIdx.x / 32, lane = threadIdx.x % 32, base = (blockIdx.x * 2 + w) * 256;
    float v[8];
    for (int j = 0; j < 8; j++) v[j] = in[base + j * 32 + lane];
    Merge(merge[w]).Sort(v, Less());
    for (int j = 0; j < 8; j++) out[base + lane * 8 + j] = v[j];
    float s = Reduce(reduce[w]).HeadSegmentedReduce(v[0] + v[7], lane % 5 == 0, [](float a, float b) { return fmaxf(a, b); });
    heads[blockIdx.x * 64 + threadIdx.x] = lane % 5 == 0 ? s : 0;
}
