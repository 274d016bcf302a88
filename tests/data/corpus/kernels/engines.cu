/* engines.cu - products of matrices by FMA and by tensor cores, copies by the copy engine, clusters: grids of the size of the machine. */
#include <cooperative_groups.h>
#include <cstdint>
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#define K extern "C" __global__ void
namespace cg = cooperative_groups;

__device__ __forceinline__ uint32_t smem(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

__device__ __forceinline__ void copy16(void *to, const void *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem(to)), "l"(from) : "memory");
}

__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int N> __device__ __forceinline__ void wait_groups() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }

__device__ __forceinline__ void wait_phase(uint64_t *bar, uint32_t phase)
{
    asm volatile("{\n.reg .pred p;\nWAIT:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra WAIT;\n}" ::"r"(smem(bar)), "r"(phase) : "memory");
}

__device__ __forceinline__ void make_barrier(uint64_t *bar, uint32_t count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem(bar)), "r"(count) : "memory");
}

__device__ __forceinline__ void expect(uint64_t *bar, uint32_t bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem(bar)), "r"(bytes) : "memory");
}

__device__ __forceinline__ void arrive(uint64_t *bar) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(smem(bar)) : "memory"); }

__device__ __forceinline__ void bulk_in(void *to, const void *from, uint32_t bytes, uint64_t *bar)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(smem(to)), "l"(from), "r"(bytes), "r"(smem(bar)) : "memory");
}

__device__ __forceinline__ uint64_t descriptor(const void *p, int lead, int stride)
{
    uint64_t d = (smem(p) & 0x3FFFF) >> 4;
    return d | (uint64_t)(lead >> 4) << 16 | (uint64_t)(stride >> 4) << 32;
}

//! product_64_by_32_of_floats 16,12 128 | f32:131072:-1:1 | f32:65536:-1:1 | out f32:393216
// C of 1024 by 384; a thread has 4 by 4, K of 128 in steps of 16.
K product_64_by_32_of_floats(const float *a, const float *b, float *c)
{
    __shared__ float ta[16][68], tb[16][36];
    int t = threadIdx.x, tx = t % 8, ty = t / 8;
    float acc[4][4] = {};
    for (int k0 = 0; k0 < 128; k0 += 16) {
#pragma unroll
        for (int q = 0; q < 2; q++) {
            int r = (t + q * 128) / 4, kk = (t + q * 128) % 4 * 4;
            float4 v = *(const float4 *)(a + (blockIdx.x * 64 + r) * 128 + k0 + kk);
            ta[kk][r] = v.x, ta[kk + 1][r] = v.y, ta[kk + 2][r] = v.z, ta[kk + 3][r] = v.w;
        }
        *(float4 *)&tb[t / 8][t % 8 * 4] = *(const float4 *)(b + (k0 + t / 8) * 384 + blockIdx.y * 32 + t % 8 * 4);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; k++) {
            float4 u = *(float4 *)&ta[k][ty * 4], v = *(float4 *)&tb[k][tx * 4];
            float x[4] = {u.x, u.y, u.z, u.w}, y[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) acc[i][j] = fmaf(x[i], y[j], acc[i][j]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; i++) *(float4 *)(c + (blockIdx.x * 64 + ty * 4 + i) * 384 + blockIdx.y * 32 + tx * 4) = make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
}

//! product_128_square_8_by_8 8,16 256 | f32:65536:-1:1 | f32:131072:-1:1 | out f32:2097152
// C of 1024 by 2048, K of 64 in steps of 8, the next step's words in registers meanwhile.
K __launch_bounds__(256) product_128_square_8_by_8(const float *a, const float *b, float *c)
{
    __shared__ float ta[2][8][128], tb[2][8][128];
    int t = threadIdx.x, tx = t % 16, ty = t / 16;
    const float *pa = a + (blockIdx.x * 128 + t / 2) * 64 + t % 2 * 4, *pb = b + (t / 32) * 2048 + blockIdx.y * 128 + t % 32 * 4;
    float4 na = *(const float4 *)pa, nb = *(const float4 *)pb;
    float acc[8][8] = {};
    int s = 0;
    for (int k0 = 0; k0 < 64; k0 += 8, s ^= 1) {
        int kk = t % 2 * 4, r = t / 2;
        ta[s][kk][r] = na.x, ta[s][kk + 1][r] = na.y, ta[s][kk + 2][r] = na.z, ta[s][kk + 3][r] = na.w;
        *(float4 *)&tb[s][t / 32][t % 32 * 4] = nb;
        __syncthreads();
        if (k0 + 8 < 64) {
            na = *(const float4 *)(pa + k0 + 8);
            nb = *(const float4 *)(pb + (k0 + 8) * 2048);
        }
#pragma unroll
        for (int k = 0; k < 8; k++) {
            float x[8], y[8];
            *(float4 *)x = *(float4 *)&ta[s][k][ty * 4], *(float4 *)(x + 4) = *(float4 *)&ta[s][k][64 + ty * 4];
            *(float4 *)y = *(float4 *)&tb[s][k][tx * 4], *(float4 *)(y + 4) = *(float4 *)&tb[s][k][64 + tx * 4];
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
                for (int j = 0; j < 8; j++) acc[i][j] += x[i] * y[j];
        }
    }
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
        for (int h = 0; h < 2; h++)
            *(float4 *)(c + (size_t)(blockIdx.x * 128 + i / 4 * 64 + ty * 4 + i % 4) * 2048 + blockIdx.y * 128 + h * 64 + tx * 4) =
                make_float4(acc[i][h * 4], acc[i][h * 4 + 1], acc[i][h * 4 + 2], acc[i][h * 4 + 3]);
}

//! doubles_32_square_2_by_4 12,11 16,8 | f64:36864:-1:1 | f64:33792:-1:1 | out f64:135168
// C of 384 by 352, K of 96.
K doubles_32_square_2_by_4(const double *a, const double *b, double *c)
{
    __shared__ double ta[32][17], tb[16][32];
    int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx;
    double acc[4][2] = {};
    for (int k0 = 0; k0 < 96; k0 += 16) {
        for (int i = t; i < 512; i += 128) {
            ta[i / 16][i % 16] = a[(blockIdx.x * 32 + i / 16) * 96 + k0 + i % 16];
            tb[i / 32][i % 32] = b[(k0 + i / 32) * 352 + blockIdx.y * 32 + i % 32];
        }
        __syncthreads();
        for (int k = 0; k < 16; k++) {
            double y0 = tb[k][tx], y1 = tb[k][tx + 16];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                double x = ta[ty * 4 + i][k];
                acc[i][0] += x * y0;
                acc[i][1] += x * y1;
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++) {
        double *p = c + (blockIdx.x * 32 + ty * 4 + i) * 352 + blockIdx.y * 32 + tx;
        p[0] = acc[i][0];
        p[16] = acc[i][1];
    }
}

//! halves_multiplied_without_cores 12,22 64 | f16:49152:-1:1 | f16:90112:-1:1 | out f16:270336
// C of 384 by 704 in half2 arithmetic, 32 by 32 a block, K of 128.
K halves_multiplied_without_cores(const __half *a, const __half2 *b, __half2 *c)
{
    __shared__ __half ta[32][34];
    __shared__ __half2 tb[32][17];
    int t = threadIdx.x, tx = t % 8, ty = t / 8;
    __half2 acc[4][2];
    for (int i = 0; i < 4; i++) acc[i][0] = acc[i][1] = __float2half2_rn(0.0f);
    for (int k0 = 0; k0 < 128; k0 += 32) {
        for (int i = t; i < 1024; i += 64) ta[i / 32][i % 32] = a[(blockIdx.x * 32 + i / 32) * 128 + k0 + i % 32];
        for (int i = t; i < 512; i += 64) tb[i / 16][i % 16] = b[(k0 + i / 16) * 352 + blockIdx.y * 16 + i % 16];
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < 32; k++)
#pragma unroll
            for (int i = 0; i < 4; i++) {
                __half2 x = __half2half2(ta[ty * 4 + i][k]);
                acc[i][0] = __hfma2(x, tb[k][tx], acc[i][0]);
                acc[i][1] = __hfma2(x, tb[k][tx + 8], acc[i][1]);
            }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++) {
        c[(blockIdx.x * 32 + ty * 4 + i) * 352 + blockIdx.y * 16 + tx] = acc[i][0];
        c[(blockIdx.x * 32 + ty * 4 + i) * 352 + blockIdx.y * 16 + tx + 8] = acc[i][1];
    }
}

//! bytes_by_dot_products_of_four 22,12 16,16 | u32:45056 | u32:24576 | out s32:270336
// C of 704 by 384; signed bytes in words, K of 256 as 64 words.
K bytes_by_dot_products_of_four(const int *a, const int *b, int *c)
{
    __shared__ int ta[32][17], tb[32][17];
    int tx = threadIdx.x, ty = threadIdx.y;
    int s00 = 0, s01 = 0, s10 = 0, s11 = 0;
    for (int k0 = 0; k0 < 64; k0 += 16) {
        ta[ty][tx] = a[(blockIdx.x * 32 + ty) * 64 + k0 + tx];
        ta[ty + 16][tx] = a[(blockIdx.x * 32 + ty + 16) * 64 + k0 + tx];
        tb[ty][tx] = b[(blockIdx.y * 32 + ty) * 64 + k0 + tx];
        tb[ty + 16][tx] = b[(blockIdx.y * 32 + ty + 16) * 64 + k0 + tx];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; k++) {
            int x0 = ta[ty][k], x1 = ta[ty + 16][k], y0 = tb[tx][k], y1 = tb[tx + 16][k];
            s00 = __dp4a(x0, y0, s00);
            s01 = __dp4a(x0, y1, s01);
            s10 = __dp4a(x1, y0, s10);
            s11 = __dp4a(x1, y1, s11);
        }
        __syncthreads();
    }
    int *p = c + (blockIdx.x * 32 + ty) * 384 + blockIdx.y * 32 + tx;
    p[0] = s00;
    p[16] = s01;
    p[16 * 384] = s10;
    p[16 * 384 + 16] = s11;
}

__device__ __forceinline__ void mma_bf16(float *d, const uint32_t *a, const uint32_t *b)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

//! bf16_tiles_three_stages 12,11 128 49152 | bf16:98304:-1:1 | bf16:90112:-1:1 | out f32:540672
// C of 768 by 704, 64 by 64 a block, K of 128 in steps of 32; operands arrive two steps ahead, ldmatrix, xor swizzle.
K __launch_bounds__(128) bf16_tiles_three_stages(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c)
{
    extern __shared__ __align__(128) uint8_t room[];
    int t = threadIdx.x, lane = t % 32, w = t / 32, wm = w / 2 * 32, wn = w % 2 * 32;
    auto fetch = [&](int k0, int s) {
        uint8_t *sa = room + s * 8192, *sb = sa + 4096;
#pragma unroll
        for (int q = 0; q < 2; q++) {
            int i = t + q * 128, r = i / 4, ch = i % 4, to = r * 64 + ((ch ^ (r >> 1 & 3)) * 16);
            copy16(sa + to, a + (blockIdx.x * 64 + r) * 128 + k0 + ch * 8);
            copy16(sb + to, b + (blockIdx.y * 64 + r) * 128 + k0 + ch * 8);
        }
    };
    fetch(0, 0), commit();
    fetch(32, 1), commit();
    float d[2][4][4] = {};
    for (int k = 0; k < 4; k++) {
        wait_groups<1>();
        __syncthreads();
        if (k + 2 < 4) fetch((k + 2) * 32, (k + 2) % 3);
        commit();
        const uint8_t *sa = room + k % 3 * 8192, *sb = sa + 4096;
#pragma unroll
        for (int h = 0; h < 2; h++) {
            uint32_t fa[2][4], fb[4][2];
#pragma unroll
            for (int m = 0; m < 2; m++) {
                int r = wm + m * 16 + lane % 16, ch = h * 2 + lane / 16;
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(fa[m][0]), "=r"(fa[m][1]), "=r"(fa[m][2]), "=r"(fa[m][3])
                             : "r"(smem(sa + r * 64 + ((ch ^ (r >> 1 & 3)) * 16))));
            }
#pragma unroll
            for (int n = 0; n < 4; n += 2) {
                int r = wn + n * 8 + lane % 8 + lane / 16 * 8, ch = h * 2 + lane / 8 % 2;
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(fb[n][0]), "=r"(fb[n][1]), "=r"(fb[n + 1][0]), "=r"(fb[n + 1][1])
                             : "r"(smem(sb + r * 64 + ((ch ^ (r >> 1 & 3)) * 16))));
            }
#pragma unroll
            for (int m = 0; m < 2; m++)
#pragma unroll
                for (int n = 0; n < 4; n++) mma_bf16(d[m][n], fa[m], fb[n]);
        }
    }
#pragma unroll
    for (int m = 0; m < 2; m++)
#pragma unroll
        for (int n = 0; n < 4; n++) {
            float *p = c + (blockIdx.x * 64 + wm + m * 16 + lane / 4) * 704 + blockIdx.y * 64 + wn + n * 8 + lane % 4 * 2;
            *(float2 *)p = make_float2(d[m][n][0], d[m][n][1]);
            *(float2 *)(p + 8 * 704) = make_float2(d[m][n][2], d[m][n][3]);
        }
}

//! halves_from_memory_into_cores 24,11 64 | f16:98304:-1:1 | f16:90112:-1:1 | out f16:540672
// No shared memory: every fragment comes from global memory, half sums; C of 768 by 704, a warp 16 by 64.
K halves_from_memory_into_cores(const uint32_t *a, const uint32_t *b, uint32_t *c)
{
    int lane = threadIdx.x % 32, w = threadIdx.x / 32, row = blockIdx.x * 32 + w * 16 + lane / 4, q = lane % 4;
    uint32_t d[8][2] = {};
#pragma unroll 2
    for (int k = 0; k < 8; k++) {
        uint32_t a0 = a[row * 64 + k * 8 + q], a1 = a[(row + 8) * 64 + k * 8 + q], a2 = a[row * 64 + k * 8 + 4 + q], a3 = a[(row + 8) * 64 + k * 8 + 4 + q];
#pragma unroll
        for (int n = 0; n < 8; n++) {
            int col = blockIdx.y * 64 + n * 8 + lane / 4;
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
                         : "+r"(d[n][0]), "+r"(d[n][1]) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b[col * 64 + k * 8 + q]), "r"(b[col * 64 + k * 8 + 4 + q]));
        }
    }
#pragma unroll
    for (int n = 0; n < 8; n++) {
        c[row * 352 + blockIdx.y * 32 + n * 4 + q] = d[n][0];
        c[(row + 8) * 352 + blockIdx.y * 32 + n * 4 + q] = d[n][1];
    }
}

//! doubles_by_cores_in_a_loop 16,9 64 | f64:32768:-1:1 | f64:18432:-1:1 | out f64:147456
// mma m8n8k4 of doubles; C of 512 by 288, a warp 16 by 32, K of 64.
K doubles_by_cores_in_a_loop(const double *a, const double *b, double *c)
{
    int lane = threadIdx.x % 32, w = threadIdx.x / 32, row = blockIdx.x * 32 + w * 16 + lane / 4;
    double d[2][4][2] = {};
    for (int k = 0; k < 64; k += 4) {
        double x[2] = {a[row * 64 + k + lane % 4], a[(row + 8) * 64 + k + lane % 4]}, y[4];
#pragma unroll
        for (int n = 0; n < 4; n++) y[n] = b[(blockIdx.y * 32 + n * 8 + lane / 4) * 64 + k + lane % 4];
#pragma unroll
        for (int m = 0; m < 2; m++)
#pragma unroll
            for (int n = 0; n < 4; n++)
                asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};" : "+d"(d[m][n][0]), "+d"(d[m][n][1]) : "d"(x[m]), "d"(y[n]));
    }
#pragma unroll
    for (int m = 0; m < 2; m++)
#pragma unroll
        for (int n = 0; n < 4; n++) *(double2 *)(c + (row + m * 8) * 288 + blockIdx.y * 32 + n * 8 + lane % 4 * 2) = make_double2(d[m][n][0], d[m][n][1]);
}

//! tensor_floats_by_wmma_in_shared 12,12 128 | f32:49152:-1:1 | f32:49152:-1:1 | out f32:147456
// C of 384 by 384, 32 by 32 a block, a warp one 16 by 16; K of 128 in steps of 32.
K tensor_floats_by_wmma_in_shared(const float *a, const float *b, float *c)
{
    using namespace nvcuda::wmma;
    __shared__ __align__(32) float ta[32][36], tb[32][36];
    int t = threadIdx.x, w = t / 32;
    fragment<matrix_a, 16, 16, 8, precision::tf32, row_major> fa;
    fragment<matrix_b, 16, 16, 8, precision::tf32, row_major> fb;
    fragment<accumulator, 16, 16, 8, float> acc;
    fill_fragment(acc, 0.0f);
    for (int k0 = 0; k0 < 128; k0 += 32) {
        for (int i = t; i < 256; i += 128) {
            *(float4 *)&ta[i / 8][i % 8 * 4] = *(const float4 *)(a + (blockIdx.x * 32 + i / 8) * 128 + k0 + i % 8 * 4);
            *(float4 *)&tb[i / 8][i % 8 * 4] = *(const float4 *)(b + (k0 + i / 8) * 384 + blockIdx.y * 32 + i % 8 * 4);
        }
        __syncthreads();
        for (int k = 0; k < 32; k += 8) {
            load_matrix_sync(fa, &ta[w / 2 * 16][k], 36);
            load_matrix_sync(fb, &tb[k][w % 2 * 16], 36);
            for (int e = 0; e < fa.num_elements; e++) fa.x[e] = __float_to_tf32(fa.x[e]);
            for (int e = 0; e < fb.num_elements; e++) fb.x[e] = __float_to_tf32(fb.x[e]);
            mma_sync(acc, fa, fb, acc);
        }
        __syncthreads();
    }
    store_matrix_sync(c + (blockIdx.x * 32 + w / 2 * 16) * 384 + blockIdx.y * 32 + w % 2 * 16, acc, 384, mem_row_major);
}

//! bytes_by_cores_two_warps_deep 11,24 64 | u32:45056 | u32:49152 | out s32:135168
// Two warps halve K (512 bytes) and add up in shared memory; C of 176 by 768.
K bytes_by_cores_two_warps_deep(const uint32_t *a, const uint32_t *b, int *c)
{
    __shared__ int part[16][32];
    int lane = threadIdx.x % 32, w = threadIdx.x / 32, g = lane / 4, q = lane % 4;
    int d[4][4] = {};
#pragma unroll 2
    for (int k = w * 8; k < w * 8 + 8; k++) {
        const uint32_t *pa = a + (blockIdx.x * 16 + g) * 128 % 22528 + k * 8 + q;
        uint32_t a0 = pa[0], a1 = pa[8 * 128], a2 = pa[4], a3 = pa[8 * 128 + 4];
#pragma unroll
        for (int n = 0; n < 4; n++) {
            const uint32_t *pb = b + ((blockIdx.y * 32 + n * 8 + g) * 64 + k * 4 + q) % 49152;
            asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                         : "+r"(d[n][0]), "+r"(d[n][1]), "+r"(d[n][2]), "+r"(d[n][3]) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(pb[0]), "r"(pb[0] ^ k));
        }
    }
    if (w)
#pragma unroll
        for (int n = 0; n < 16; n++) part[n][lane] = d[n / 4][n % 4];
    __syncthreads();
    if (!w)
#pragma unroll
        for (int n = 0; n < 4; n++) {
            int *p = c + (blockIdx.x * 16 + g) * 768 + blockIdx.y * 32 + n * 8 + q * 2;
            *(int2 *)p = make_int2(d[n][0] + part[n * 4][lane], d[n][1] + part[n * 4 + 1][lane]);
            *(int2 *)(p + 8 * 768) = make_int2(d[n][2] + part[n * 4 + 2][lane], d[n][3] + part[n * 4 + 3][lane]);
        }
}

__device__ __forceinline__ void group_step(float *d, uint64_t da, uint64_t db)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}, %16, %17, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]),
                   "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15])
                 : "l"(da), "l"(db));
}

//! group_tiles_in_a_long_loop 11,12 128 | f16:360448:-1:1 | f16:196608:-1:1 | out f32:270336
// C of 704 by 384, K of 512: two buffers by cp.async, wgmma m64n32k16.
K __launch_bounds__(128) group_tiles_in_a_long_loop(const __half *a, const __half *b, float *c)
{
    __shared__ __align__(128) __half sa[2][64 * 64], sb[2][32 * 64];
    int t = threadIdx.x, lane = t % 32, w = t / 32;
    auto fetch = [&](int k0, int s) {
#pragma unroll
        for (int i = t; i < 512; i += 128) copy16(sa[s] + (i / 64 * 8 + i % 8) * 64 + (i / 8 % 8) * 8, a + (blockIdx.x * 64 + i / 64 * 8 + i / 8 % 8) * 512 + k0 + i % 8 * 8);
#pragma unroll
        for (int i = t; i < 256; i += 128) copy16(sb[s] + (i / 64 * 8 + i % 8) * 64 + (i / 8 % 8) * 8, b + (blockIdx.y * 32 + i / 64 * 8 + i / 8 % 8) * 512 + k0 + i % 8 * 8);
        commit();
    };
    float d[16] = {};
    fetch(0, 0);
    for (int k = 0; k < 8; k++) {
        if (k < 7) {
            fetch((k + 1) * 64, (k + 1) & 1);
            wait_groups<1>();
        } else
            wait_groups<0>();
        asm volatile("fence.proxy.async;" ::: "memory");
        __syncthreads();
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int j = 0; j < 4; j++) group_step(d, descriptor(sa[k & 1] + j * 128, 128, 1024), descriptor(sb[k & 1] + j * 128, 128, 1024));
        asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
        __syncthreads();
    }
    float *p = c + (blockIdx.x * 64 + w * 16 + lane / 4) * 384 + blockIdx.y * 32 + lane % 4 * 2;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        *(float2 *)(p + j * 8) = make_float2(d[j * 4], d[j * 4 + 1]);
        *(float2 *)(p + 8 * 384 + j * 8) = make_float2(d[j * 4 + 2], d[j * 4 + 3]);
    }
}

//! fetchers_give_their_registers 132 256 | f16:135168:-1:1 | f16:32768:-1:1 | out f32:67584
// One warp group fetches by bulk copies through four stages, the other multiplies; setmaxnreg moves registers between them.
K __launch_bounds__(256, 1) fetchers_give_their_registers(const __half *a, const __half *b, float *c)
{
    __shared__ __align__(128) __half sa[4][64 * 16], sb[4][32 * 16];
    __shared__ uint64_t full[4], empty[4];
    int t = threadIdx.x;
    if (t == 0)
        for (int s = 0; s < 4; s++) {
            make_barrier(&full[s], 1);
            make_barrier(&empty[s], 128);
        }
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    if (t >= 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (t == 128)
            for (int k = 0; k < 16; k++) {
                int s = k & 3;
                if (k >= 4) wait_phase(&empty[s], (k / 4 - 1) & 1);
                expect(&full[s], 2048 + 1024);
                bulk_in(sa[s], a + blockIdx.x * 1024 % 131072 + (k & 3) * 1024, 2048, &full[s]);
                bulk_in(sb[s], b + k * 512, 1024, &full[s]);
            }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        float d[16] = {};
        for (int k = 0; k < 16; k++) {
            int s = k & 3;
            wait_phase(&full[s], k / 4 & 1);
            asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
            group_step(d, descriptor(sa[s], 128, 256), descriptor(sb[s], 128, 256));
            asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
            arrive(&empty[s]);
        }
        float s = 0.0f;
#pragma unroll
        for (int j = 0; j < 16; j++) s += d[j] * (float)(j + 1);
        for (int j = 0; j < 4; j++) c[(blockIdx.x * 4 + j) * 128 + t] = j ? d[j * 4 - 1] : s;
    }
}

//! three_stages_of_bulk_rows 264 160 | f32:1081344:-1:1 | out f32:33792
// A warp of five fetches rows of 512 floats, the others add them up.
K three_stages_of_bulk_rows(const float *x, float *out)
{
    __shared__ __align__(128) float stage[3][512];
    __shared__ uint64_t full[3], empty[3];
    int t = threadIdx.x;
    if (t == 0)
        for (int s = 0; s < 3; s++) {
            make_barrier(&full[s], 1);
            make_barrier(&empty[s], 128);
        }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    __syncthreads();
    const float *row = x + blockIdx.x * 4096;
    if (t >= 128) {
        if (t == 128)
            for (int k = 0; k < 8; k++) {
                if (k >= 3) wait_phase(&empty[k % 3], (k / 3 - 1) & 1);
                expect(&full[k % 3], 2048);
                bulk_in(stage[k % 3], row + k * 512, 2048, &full[k % 3]);
            }
        return;
    }
    float s = 0.0f;
    for (int k = 0; k < 8; k++) {
        wait_phase(&full[k % 3], k / 3 & 1);
        float4 v = *(float4 *)&stage[k % 3][t * 4];
        s += v.x * v.y + v.z * v.w;
        arrive(&empty[k % 3]);
    }
    out[blockIdx.x * 128 + t] = s;
}

//! boxes_smoothed_in_three_dimensions 8,8,8 128 | {"tensormap": "f32", "dims": [72, 72, 72], "box": [12, 10, 10], "init": {"hash": 41001, "lo": -1, "hi": 1}} | out f32:262144
// A box with its border by the copy engine, seven points of it in shared memory.
K boxes_smoothed_in_three_dimensions(const __grid_constant__ CUtensorMap map, float *out)
{
    __shared__ __align__(128) float b[10][10][12];
    __shared__ uint64_t bar;
    int t = threadIdx.x, x0 = blockIdx.x * 8, y0 = blockIdx.y * 8, z0 = blockIdx.z * 8;
    if (t == 0) {
        make_barrier(&bar, 1);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        expect(&bar, sizeof b);
        asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(smem(b)), "l"(&map), "r"(x0), "r"(y0), "r"(z0), "r"(smem(&bar))
                     : "memory");
    }
    __syncthreads();
    wait_phase(&bar, 0);
    for (int i = t; i < 512; i += 128) {
        int x = i % 8 + 1, y = i / 8 % 8 + 1, z = i / 64 + 1;
        float v = b[z][y][x] * 0.4f + 0.1f * (b[z][y][x - 1] + b[z][y][x + 1] + b[z][y - 1][x] + b[z][y + 1][x] + b[z - 1][y][x] + b[z + 1][y][x]);
        out[((z0 + z - 1) * 64 + y0 + y - 1) * 64 + x0 + x - 1] = v;
    }
}

//! counts_added_by_the_copy_engine 264 64 | u32:135168:0:100 | zero u32:512
// Each block's 512 sums go into the totals by one reducing bulk copy.
K counts_added_by_the_copy_engine(const uint32_t *x, uint32_t *total)
{
    __shared__ __align__(128) uint32_t s[512];
    for (int i = threadIdx.x; i < 512; i += 64) s[i] = x[blockIdx.x * 512 + i] * (i + 1);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0)
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], 2048;\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::"l"(total), "r"(smem(s)) : "memory");
}

//! edges_read_from_the_next_block 264 256 | f32:270336:-1:1 | out f32:270336
// Clusters of four; a block's neighbours' first and last values come from their shared memory.
K __cluster_dims__(4, 1, 1) edges_read_from_the_next_block(const float *x, float *y)
{
    __shared__ float s[1024];
    cg::cluster_group cl = cg::this_cluster();
    int t = threadIdx.x, rank = cl.block_rank();
    for (int k = 0; k < 4; k++) s[k * 256 + t] = x[blockIdx.x * 1024 + k * 256 + t];
    cl.sync();
    const float *left = cl.map_shared_rank(s, (rank + 3) % 4), *right = cl.map_shared_rank(s, (rank + 1) % 4);
    for (int k = 0; k < 4; k++) {
        int i = k * 256 + t;
        float l = i ? s[i - 1] : left[1023], r = i < 1023 ? s[i + 1] : right[0];
        y[blockIdx.x * 1024 + i] = 0.25f * l + 0.5f * s[i] + 0.25f * r;
    }
    cl.sync();
}

//! squares_turned_between_blocks 16,16 32,8 | f32:262144:-1:1 | out f32:262144
// Clusters of two by two turn a square of 64 by 64 through each other's shared memory.
K __cluster_dims__(2, 2, 1) squares_turned_between_blocks(const float *x, float *y)
{
    __shared__ float s[32][33];
    cg::cluster_group cl = cg::this_cluster();
    int cx = blockIdx.x & 1, cy = blockIdx.y & 1;
    for (int k = threadIdx.y; k < 32; k += 8) s[k][threadIdx.x] = x[(blockIdx.y * 32 + k) * 512 + blockIdx.x * 32 + threadIdx.x];
    cl.sync();
    const float *o = cl.map_shared_rank(&s[0][0], cx * 2 + cy);
    for (int k = threadIdx.y; k < 32; k += 8) y[(blockIdx.y * 32 + k) * 512 + blockIdx.x * 32 + threadIdx.x] = o[threadIdx.x * 33 + k];
    cl.sync();
}

//! bins_kept_by_eight_blocks 264 128 | u32:540672 | zero u32:2048
// 2,048 bins spread over the shared memory of eight blocks, then added to memory.
K __cluster_dims__(8, 1, 1) bins_kept_by_eight_blocks(const uint32_t *x, uint32_t *bins)
{
    __shared__ uint32_t s[256];
    cg::cluster_group cl = cg::this_cluster();
    int t = threadIdx.x;
    s[t] = s[t + 128] = 0;
    cl.sync();
    for (int k = 0; k < 16; k++) {
        uint32_t b = x[(blockIdx.x * 16 + k) * 128 + t] >> 21;
        atomicAdd(cl.map_shared_rank(s, b >> 8) + (b & 255), 1u);
    }
    cl.sync();
    for (int k = 0; k < 2; k++)
        if (s[t + k * 128]) atomicAdd(bins + cl.block_rank() * 256 + k * 128 + t, s[t + k * 128]);
}

//! one_fetch_for_two_blocks 264 128 | f32:270336:-1:1 | out f32:33792
// The first of two blocks fetches each row for both by multicast.
K __cluster_dims__(2, 1, 1) one_fetch_for_two_blocks(const float *x, float *out)
{
    __shared__ __align__(128) float row[2048];
    __shared__ uint64_t bar;
    cg::cluster_group cl = cg::this_cluster();
    int t = threadIdx.x;
    if (t == 0) {
        make_barrier(&bar, 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        expect(&bar, 8192);
    }
    cl.sync();
    if (t == 0 && cl.block_rank() == 0)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], 8192, [%2], 3;" ::"r"(smem(row)), "l"(x + blockIdx.x / 2 * 2048), "r"(smem(&bar)) : "memory");
    wait_phase(&bar, 0);
    float s = 0.0f;
    for (int k = 0; k < 16; k++) s = fmaf(row[(k * 128 + t * 3 + cl.block_rank()) % 2048], (float)(k + 1), s);
    out[blockIdx.x * 128 + t] = s;
    cl.sync();
}

//! square_turned_big 64,64 32,8 | f32:4194304:-1:1 | out f32:4194304
K square_turned_big(const float *x, float *y)
{
    __shared__ float s[32][33];
    int bx = blockIdx.x * 32, by = blockIdx.y * 32;
#pragma unroll
    for (int k = 0; k < 32; k += 8) s[threadIdx.y + k][threadIdx.x] = x[(by + threadIdx.y + k) * 2048 + bx + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 32; k += 8) y[(bx + threadIdx.y + k) * 2048 + by + threadIdx.x] = s[threadIdx.x][threadIdx.y + k];
}

//! halves_turned_in_pairs 22,12 32,4 | f16:1081344 | out f16:1081344
// 64 by 64 halves a block, two at a time; conflicts of banks as they come. Rows of 1408.
K halves_turned_in_pairs(const uint32_t *x, uint32_t *y)
{
    __shared__ uint16_t s[64][66];
    for (int r = threadIdx.y; r < 64; r += 4) *(uint32_t *)&s[r][threadIdx.x * 2] = x[(blockIdx.y * 64 + r) * 704 + blockIdx.x * 32 + threadIdx.x];
    __syncthreads();
    for (int r = threadIdx.y; r < 64; r += 4)
        y[(blockIdx.x * 64 + r) * 384 + blockIdx.y * 32 + threadIdx.x] = s[threadIdx.x * 2][r] | (uint32_t)s[threadIdx.x * 2 + 1][r] << 16;
}

//! doubles_turned_without_padding 16,16 16,16 | f64:65536:-1:1 | out f64:65536
K doubles_turned_without_padding(const double *x, double *y)
{
    __shared__ double s[16][16];
    s[threadIdx.y][threadIdx.x] = x[(blockIdx.y * 16 + threadIdx.y) * 256 + blockIdx.x * 16 + threadIdx.x];
    __syncthreads();
    y[(blockIdx.x * 16 + threadIdx.y) * 256 + blockIdx.y * 16 + threadIdx.x] = s[threadIdx.x][threadIdx.y];
}

//! tile_with_ninety_kilobytes 132 256 92160 | f32:3041280:-1:1 | out f32:33792
// One block an SM by shared memory; sums along both ways of a tile of 144 by 160.
K tile_with_ninety_kilobytes(const float *x, float *out)
{
    extern __shared__ float tile[];
    for (int i = threadIdx.x; i < 23040; i += 256) tile[i] = x[blockIdx.x * 23040 + i];
    __syncthreads();
    float s = 0.0f;
    if (threadIdx.x < 144)
        for (int k = 0; k < 160; k++) s += tile[threadIdx.x * 160 + k];
    else
        for (int j = threadIdx.x - 144; j < 160; j += 112)
            for (int k = 0; k < 144; k++) s -= tile[k * 160 + j];
    out[blockIdx.x * 256 + threadIdx.x] = s;
}

//! ninety_six_sums_a_thread 132 128 | f32:16896:-1:1 | f32:96:-1:1 | out f32:16896
// So many sums at once that registers limit the warps of an SM.
K ninety_six_sums_a_thread(const float *x, const float *w, float *out)
{
    float acc[96], v = x[blockIdx.x * 128 + threadIdx.x];
#pragma unroll
    for (int k = 0; k < 96; k++) acc[k] = (float)k * v;
#pragma unroll 1
    for (int r = 0; r < 24; r++) {
        float f = w[r];
#pragma unroll
        for (int k = 0; k < 96; k++) acc[k] = fmaf(acc[k], f, acc[(k + 7) % 96]);
    }
    float s = 0.0f;
#pragma unroll
    for (int k = 0; k < 96; k++) s += acc[k] * w[k];
    out[blockIdx.x * 128 + threadIdx.x] = s;
}
