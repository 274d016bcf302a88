/* fragments.cu - matrix units by fragments: wmma, mma.sync of several types, dense and sparse, ldmatrix, epilogues. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_pipeline.h>
#include <mma.h>
#include <cstdint>

using namespace nvcuda;

//! wmma_epilogue 4,8 128 | f16:65536:-1:1 | f16:65536:-1:1 | f32:256:-1:1 | out f16:65536 | s s32 256
// Four warps a tile of 32 x 64; bias and ReLU through shared memory, halves out.
extern "C" __global__ void wmma_epilogue(const half *A, const half *B, const float *bias, half *C, int n)
{
    __shared__ float tile[32][68];
    int warp = threadIdx.x / 32, row = blockIdx.y * 32, col = blockIdx.x * 64, wr = warp / 2 * 16, wc = warp % 2 * 32;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b[2];
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c[2];
    for (int j = 0; j < 2; j++) wmma::fill_fragment(c[j], 0.0f);
    for (int k = 0; k < n; k += 16) {
        wmma::load_matrix_sync(a, A + (row + wr) * n + k, n);
        for (int j = 0; j < 2; j++) {
            wmma::load_matrix_sync(b[j], B + k * n + col + wc + j * 16, n);
            wmma::mma_sync(c[j], a, b[j], c[j]);
        }
    }
    for (int j = 0; j < 2; j++) wmma::store_matrix_sync(&tile[wr][wc + j * 16], c[j], 68, wmma::mem_row_major);
    __syncthreads();
    for (int i = threadIdx.x; i < 32 * 32; i += 128) {
        int r = i / 32, q = i % 32 * 2;
        float u = tile[r][q] + bias[col + q], v = tile[r][q + 1] + bias[col + q + 1];
        *reinterpret_cast<half2 *>(&C[(row + r) * n + col + q]) = __floats2half2_rn(fmaxf(u, 0.0f), fmaxf(v, 0.0f));
    }
}

//! wmma_brain 64 64 | bf16:65536:-1:1 | bf16:16384:-1:1 | out f32:131072
// 32 x 8 x 16 of bf16: a warp two tiles, the second matrix as columns.
extern "C" __global__ void wmma_brain(const __nv_bfloat16 *A, const __nv_bfloat16 *B, float *C)
{
    int warp = (blockIdx.x * 64 + threadIdx.x) / 32, row = warp % 32 * 32, col = warp / 32 * 16;
    wmma::fragment<wmma::matrix_a, 32, 8, 16, __nv_bfloat16, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 32, 8, 16, __nv_bfloat16, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 32, 8, 16, float> c, d;
    wmma::fill_fragment(c, 0.5f);
    wmma::fill_fragment(d, -0.5f);
#pragma unroll 2
    for (int k = 0; k < 64; k += 16) {
        wmma::load_matrix_sync(a, A + row * 64 + k, 64);
        wmma::load_matrix_sync(b, B + col * 64 + k, 64);
        wmma::mma_sync(c, a, b, c);
        wmma::load_matrix_sync(b, B + (col + 8) * 64 + k, 64);
        wmma::mma_sync(d, a, b, d);
    }
    for (int i = 0; i < c.num_elements; i++) c.x[i] = c.x[i] * 2.0f, d.x[i] = d.x[i] * d.x[i];
    wmma::store_matrix_sync(C + row * 64 + col, c, 64, wmma::mem_row_major);
    wmma::store_matrix_sync(C + row * 64 + col + 8, d, 64, wmma::mem_row_major);
    if (warp >= 64) wmma::store_matrix_sync(C + 65536 + row * 64 + col % 64, c, 64, wmma::mem_row_major);
}

//! wmma_bytes 8,4 256 | s8:65536 | s8:131072 | out s32:131072
// 8 warps of 16 x 32 in tiles of 64 x 64, staged in shared memory, K of 256.
extern "C" __global__ void wmma_bytes(const int8_t *__restrict__ A, const int8_t *__restrict__ B, int *__restrict__ C)
{
    __shared__ alignas(32) int8_t as[64][64 + 16], bs[64][64 + 16];
    int warp = threadIdx.x / 32, wr = warp / 2 * 16, wc = warp % 2 * 32, row = blockIdx.y * 64, col = blockIdx.x * 64;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> c[2];
    wmma::fill_fragment(c[0], 0);
    wmma::fill_fragment(c[1], 0);
    for (int k0 = 0; k0 < 256; k0 += 64) {
        __syncthreads();
        int r = threadIdx.x / 4, q = threadIdx.x % 4 * 16;
        *(int4 *)&as[r][q] = *(const int4 *)&A[(row + r) * 256 + k0 + q];
        *(int4 *)&bs[r][q] = *(const int4 *)&B[(k0 + r) * 512 + col + q];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 64; k += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> a;
            wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::row_major> b;
            wmma::load_matrix_sync(a, (signed char *)&as[wr][k], 80);
            for (int j = 0; j < 2; j++) {
                wmma::load_matrix_sync(b, (signed char *)&bs[k][wc + j * 16], 80);
                wmma::mma_sync(c[j], a, b, c[j]);
            }
        }
    }
    for (int j = 0; j < 2; j++) wmma::store_matrix_sync(&C[(row + wr) * 512 + col + wc + j * 16], c[j], 512, wmma::mem_row_major);
}

__device__ __forceinline__ void mma_f16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ __forceinline__ uint32_t shared_at(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

//! hgemm_async3 4,4 128 49152 | f16:65536:-1:1 | f16:65536:-1:1 | out f16:65536
// Tiles of 64 x 64 x 32, three stages of cp.async, chunks exchanged against bank conflicts, ldmatrix for both sides.
extern "C" __global__ void __launch_bounds__(128) hgemm_async3(const half *__restrict__ A, const half *__restrict__ B, half *__restrict__ C)
{
    extern __shared__ uint4 smem[];
    const int N = 256, K = 256;
    half *as = (half *)smem, *bs = as + 3 * 64 * 32;
    int t = threadIdx.x, lane = t & 31, warp = t >> 5, row = blockIdx.y * 64, col = blockIdx.x * 64, wm = warp >> 1, wn = warp & 1;
    auto stage = [&](int s, int k0) {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            int c = t + i * 128, r = c >> 2, q = c & 3;
            __pipeline_memcpy_async(as + s * 2048 + r * 32 + (q ^ (r >> 1 & 3)) * 8, A + (row + r) * K + k0 + q * 8, 16);
            int br = c >> 3, bq = c & 7;
            __pipeline_memcpy_async(bs + s * 2048 + br * 64 + (bq ^ (br & 7)) * 8, B + (k0 + br) * N + col + bq * 8, 16);
        }
        __pipeline_commit();
    };
    float d[2][4][4] = {};
    stage(0, 0);
    stage(1, 32);
    for (int it = 0; it < K / 32; it++) {
        if (it + 1 < K / 32) __pipeline_wait_prior(1);
        else __pipeline_wait_prior(0);
        __syncthreads();
        if (it + 2 < K / 32) stage((it + 2) % 3, (it + 2) * 32);
        half *at = as + it % 3 * 2048, *bt = bs + it % 3 * 2048;
#pragma unroll
        for (int kk = 0; kk < 32; kk += 16) {
            uint32_t a[2][4], b[4][2];
#pragma unroll
            for (int m = 0; m < 2; m++) {
                int r = wm * 32 + m * 16 + (lane & 15), q = kk / 8 + (lane >> 4);
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                             : "=r"(a[m][0]), "=r"(a[m][1]), "=r"(a[m][2]), "=r"(a[m][3]) : "r"(shared_at(at + r * 32 + (q ^ (r >> 1 & 3)) * 8)));
            }
#pragma unroll
            for (int j = 0; j < 4; j += 2) {
                int r = kk + (lane & 15), q = wn * 4 + j + (lane >> 4);
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                             : "=r"(b[j][0]), "=r"(b[j][1]), "=r"(b[j + 1][0]), "=r"(b[j + 1][1]) : "r"(shared_at(bt + r * 64 + (q ^ (r & 7)) * 8)));
            }
#pragma unroll
            for (int m = 0; m < 2; m++)
#pragma unroll
                for (int j = 0; j < 4; j++) mma_f16(d[m][j], a[m], b[j]);
        }
    }
#pragma unroll
    for (int m = 0; m < 2; m++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            int r = row + wm * 32 + m * 16 + (lane >> 2), c = col + wn * 32 + j * 8 + (lane & 3) * 2;
            *(half2 *)&C[r * N + c] = __floats2half2_rn(d[m][j][0], d[m][j][1]);
            *(half2 *)&C[(r + 8) * N + c] = __floats2half2_rn(d[m][j][2], d[m][j][3]);
        }
}

__constant__ uint8_t pairs_kept[8] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe, 0x4, 0xe};

//! sparse_halves 132 128 | u32:270336 | f16:540672:-1:1 | f16:540672:-1:1 | out f32:67584 | s s32 4
// mma.sp of 16 x 8 x 32: two of every four are kept, which ones the metadata says.
extern "C" __global__ void sparse_halves(const uint32_t *__restrict__ meta, const uint32_t *__restrict__ A, const uint32_t *__restrict__ B, float *__restrict__ D, int steps)
{
    int t = blockIdx.x * 128 + threadIdx.x, total = gridDim.x * 128;
    float d0 = 0, d1 = 0, d2 = 0, d3 = 0;
    for (int k = 0; k < steps; k++) {
        uint32_t m = meta[k * total + t], e = 0;
        for (int i = 0; i < 8; i++) e |= (uint32_t)pairs_kept[m >> 4 * i & 7] << 4 * i;
        const uint32_t *a = A + (k * total + t) * 4 % 270336, *b = B + (k * total + t) * 4 % 270336;
        asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9,%10,%11}, {%0,%1,%2,%3}, %12, 0x0;"
                     : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(e));
    }
    D[t] = d0, D[total + t] = d1, D[2 * total + t] = d2, D[3 * total + t] = d3;
}

//! sparse_bytes 66 256 | u32:16896 | s8:270336 | s8:270336 | out s32:67584
extern "C" __global__ void sparse_bytes(const uint32_t *__restrict__ meta, const int4 *__restrict__ A, const int4 *__restrict__ B, int4 *__restrict__ D)
{
    int t = blockIdx.x * 256 + threadIdx.x;
    uint32_t m = meta[t], e = 0;
#pragma unroll
    for (int i = 0; i < 8; i++) e |= (uint32_t)pairs_kept[m >> 4 * i & 7] << 4 * i;
    int4 a = A[t], b = B[t], d = make_int4(t, 1, 2, 3);
    for (int k = 0; k < 16; k++) {
        asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9,%10,%11}, {%0,%1,%2,%3}, %12, 0x0;"
                     : "+r"(d.x), "+r"(d.y), "+r"(d.z), "+r"(d.w)
                     : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y), "r"(b.z), "r"(b.w), "r"(e));
        a.x ^= d.x & 0x01010101, b.w ^= d.w & 0x01010101;
    }
    D[t] = d;
}

//! fp8_mixed 132 256 | f32:540672:-2:2 | out f32:135168
// e4m3 times e5m2 with sums in float, the operands converted on the way.
extern "C" __global__ void fp8_mixed(const float4 *__restrict__ in, float4 *__restrict__ out)
{
    int t = blockIdx.x * 256 + threadIdx.x, n = gridDim.x * 256;
    uint32_t a[4], b[2];
#pragma unroll
    for (int k = 0; k < 4; k++) {
        float4 v = in[k * n + t];
        a[k] = __nv_cvt_float2_to_fp8x2(make_float2(v.x, v.y), __NV_SATFINITE, __NV_E4M3) | (uint32_t)__nv_cvt_float2_to_fp8x2(make_float2(v.z, v.w), __NV_SATFINITE, __NV_E4M3) << 16;
        if (k < 2) b[k] = __nv_cvt_float2_to_fp8x2(make_float2(v.w, v.x), __NV_SATFINITE, __NV_E5M2) | (uint32_t)__nv_cvt_float2_to_fp8x2(make_float2(v.y, v.z), __NV_SATFINITE, __NV_E5M2) << 16;
    }
    float d[4] = {};
#pragma unroll 4
    for (int k = 0; k < 12; k++) {
        asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
        uint32_t h = a[0];
        a[0] = a[1], a[1] = a[2], a[2] = a[3], a[3] = h;
    }
    out[t] = make_float4(d[0], d[1], d[2], d[3]);
}

//! tf32_registers 8,8 32 | f32:32768:-1:1 | f32:32768:-1:1 | out f32:65536
// A warp a tile of 32 x 32 straight from global memory: cvt.rna.tf32, m16n8k8, next operands loaded ahead.
extern "C" __global__ void tf32_registers(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C)
{
    const int K = 128, N = 256;
    int lane = threadIdx.x, g = lane >> 2, q = lane & 3, row = blockIdx.y * 32, col = blockIdx.x * 32;
    float d[2][4][4] = {}, na[2][4], nb[4][2];
    auto fetch = [&](int k) {
#pragma unroll
        for (int m = 0; m < 2; m++)
#pragma unroll
            for (int i = 0; i < 4; i++) na[m][i] = A[(row + m * 16 + g + (i & 1) * 8) * K + k + q + (i >> 1) * 4];
#pragma unroll
        for (int j = 0; j < 4; j++)
#pragma unroll
            for (int i = 0; i < 2; i++) nb[j][i] = B[(k + q + i * 4) * N + col + j * 8 + g];
    };
    fetch(0);
    for (int k = 0; k < K; k += 8) {
        uint32_t a[2][4], b[4][2];
#pragma unroll
        for (int m = 0; m < 2; m++)
#pragma unroll
            for (int i = 0; i < 4; i++) asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(a[m][i]) : "f"(na[m][i]));
#pragma unroll
        for (int j = 0; j < 4; j++)
#pragma unroll
            for (int i = 0; i < 2; i++) asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(b[j][i]) : "f"(nb[j][i]));
        if (k + 8 < K) fetch(k + 8);
#pragma unroll
        for (int m = 0; m < 2; m++)
#pragma unroll
            for (int j = 0; j < 4; j++)
                asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                             : "+f"(d[m][j][0]), "+f"(d[m][j][1]), "+f"(d[m][j][2]), "+f"(d[m][j][3])
                             : "r"(a[m][0]), "r"(a[m][1]), "r"(a[m][2]), "r"(a[m][3]), "r"(b[j][0]), "r"(b[j][1]));
    }
#pragma unroll
    for (int m = 0; m < 2; m++)
#pragma unroll
        for (int j = 0; j < 4; j++)
#pragma unroll
            for (int i = 0; i < 4; i++) C[(row + m * 16 + g + (i >> 1) * 8) * N + col + j * 8 + q * 2 + (i & 1)] = d[m][j][i];
}

//! flash_warp 4,16 128 | f16:262144:-1:1 | f16:262144:-1:1 | f16:262144:-1:1 | out f16:262144 | s f32 0.18
// Attention of 64 queries a block, 16 a warp, head of 64: scores stay in registers between the two products.
extern "C" __global__ void __launch_bounds__(128) flash_warp(const half *__restrict__ Q, const half *__restrict__ Kx, const half *__restrict__ V, half *__restrict__ O, float scale)
{
    __shared__ alignas(16) half ks[32][72], vs[32][72];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, head = blockIdx.y, q0 = blockIdx.x * 64 + warp * 16, g = lane >> 2, c = lane & 3;
    const half *q = Q + head * 256 * 64, *k = Kx + head * 256 * 64, *v = V + head * 256 * 64;
    uint32_t a[4][4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        a[i][0] = *(const uint32_t *)&q[(q0 + g) * 64 + i * 16 + c * 2];
        a[i][1] = *(const uint32_t *)&q[(q0 + g + 8) * 64 + i * 16 + c * 2];
        a[i][2] = *(const uint32_t *)&q[(q0 + g) * 64 + i * 16 + c * 2 + 8];
        a[i][3] = *(const uint32_t *)&q[(q0 + g + 8) * 64 + i * 16 + c * 2 + 8];
    }
    float o[8][4] = {}, top[2] = {-1e30f, -1e30f}, sum[2] = {};
    for (int j0 = 0; j0 < 256; j0 += 32) {
        __syncthreads();
        for (int i = threadIdx.x; i < 32 * 8; i += 128) {
            *(uint4 *)&ks[i / 8][i % 8 * 8] = *(const uint4 *)&k[(j0 + i / 8) * 64 + i % 8 * 8];
            *(uint4 *)&vs[i / 8][i % 8 * 8] = *(const uint4 *)&v[(j0 + i / 8) * 64 + i % 8 * 8];
        }
        __syncthreads();
        float s[4][4] = {};
#pragma unroll
        for (int n = 0; n < 4; n++)
#pragma unroll
            for (int i = 0; i < 4; i++) {
                uint32_t b[2] = {*(uint32_t *)&ks[n * 8 + g][i * 16 + c * 2], *(uint32_t *)&ks[n * 8 + g][i * 16 + c * 2 + 8]};
                mma_f16(s[n], a[i], b);
            }
        float m[2] = {top[0], top[1]};
#pragma unroll
        for (int n = 0; n < 4; n++)
#pragma unroll
            for (int i = 0; i < 4; i++) s[n][i] *= scale, m[i >> 1] = fmaxf(m[i >> 1], s[n][i]);
#pragma unroll
        for (int h = 0; h < 2; h++) {
            m[h] = fmaxf(m[h], __shfl_xor_sync(~0u, m[h], 1));
            m[h] = fmaxf(m[h], __shfl_xor_sync(~0u, m[h], 2));
            float f = exp2f(top[h] - m[h]);
            top[h] = m[h], sum[h] *= f;
#pragma unroll
            for (int n = 0; n < 8; n++) o[n][h * 2] *= f, o[n][h * 2 + 1] *= f;
        }
        uint32_t p[2][4];
#pragma unroll
        for (int n = 0; n < 4; n++) {
#pragma unroll
            for (int i = 0; i < 4; i++) s[n][i] = exp2f(s[n][i] - top[i >> 1]), sum[i >> 1] += s[n][i];
            half2 lo = __floats2half2_rn(s[n][0], s[n][1]), hi = __floats2half2_rn(s[n][2], s[n][3]);
            p[n / 2][n % 2 * 2] = *(uint32_t *)&lo, p[n / 2][n % 2 * 2 + 1] = *(uint32_t *)&hi;
        }
#pragma unroll
        for (int i = 0; i < 2; i++)
#pragma unroll
            for (int n = 0; n < 8; n++) {
                uint32_t b[2];
                asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(b[0]), "=r"(b[1]) : "r"(shared_at(&vs[i * 16 + (lane & 15)][n * 8])));
                mma_f16(o[n], p[i], b);
            }
    }
#pragma unroll
    for (int h = 0; h < 2; h++) {
        sum[h] += __shfl_xor_sync(~0u, sum[h], 1);
        sum[h] += __shfl_xor_sync(~0u, sum[h], 2);
        float inv = 1.0f / sum[h];
#pragma unroll
        for (int n = 0; n < 8; n++)
            *(half2 *)&O[(head * 256 + q0 + g + h * 8) * 64 + n * 8 + c * 2] = __floats2half2_rn(o[n][h * 2] * inv, o[n][h * 2 + 1] * inv);
    }
}

//! dmma_tiles 4,4 128 | f64:16384:-1:1 | f64:16384:-1:1 | out f64:16384
// Doubles by m8n8k4: a warp 16 x 16 of a tile of 32 x 32, staged with a pad.
extern "C" __global__ void dmma_tiles(const double *__restrict__ A, const double *__restrict__ B, double *__restrict__ C)
{
    __shared__ double as[32][17], bs[16][33];
    int t = threadIdx.x, lane = t & 31, warp = t >> 5, wr = warp / 2 * 16, wc = warp % 2 * 16, row = blockIdx.y * 32, col = blockIdx.x * 32;
    double d[2][2][2] = {};
    for (int k0 = 0; k0 < 128; k0 += 16) {
        __syncthreads();
#pragma unroll
        for (int i = t; i < 512; i += 128) as[i / 16][i % 16] = A[(row + i / 16) * 128 + k0 + i % 16], bs[i / 32][i % 32] = B[(k0 + i / 32) * 128 + col + i % 32];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; k += 4)
#pragma unroll
            for (int m = 0; m < 2; m++)
#pragma unroll
                for (int n = 0; n < 2; n++)
                    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                                 : "+d"(d[m][n][0]), "+d"(d[m][n][1]) : "d"(as[wr + m * 8 + lane / 4][k + lane % 4]), "d"(bs[k + lane % 4][wc + n * 8 + lane / 4]));
    }
#pragma unroll
    for (int m = 0; m < 2; m++)
#pragma unroll
        for (int n = 0; n < 2; n++)
            *(double2 *)&C[(row + wr + m * 8 + lane / 4) * 128 + col + wc + n * 8 + lane % 4 * 2] = make_double2(d[m][n][0], d[m][n][1]);
}

//! gram_brain 128 64 | bf16:131072:-1:1 | out bf16:32768
// X^T X of 64 x 16 blocks by m16n8k16 of bf16 with ldmatrix.trans, then symmetrised by movmatrix.
extern "C" __global__ void gram_brain(const __nv_bfloat16 *__restrict__ X, __nv_bfloat16 *__restrict__ G)
{
    __shared__ alignas(16) __nv_bfloat16 s[64][24];
    int t = threadIdx.x, lane = t & 31, warp = t >> 5;
    const uint4 *src = (const uint4 *)(X + blockIdx.x * 1024);
    for (int i = t; i < 128; i += 64) *(uint4 *)&s[i / 2][i % 2 * 8] = src[i];
    __syncthreads();
    float d[2][4] = {};
#pragma unroll
    for (int k = 0; k < 2; k++) {
        uint32_t a[4], b[4];
        int r = warp * 32 + k * 16 + (lane & 7) + (lane >> 4 & 1) * 8, c = (lane >> 3 & 1) * 8;
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(shared_at(&s[r][c])));
        int br = warp * 32 + k * 16 + (lane & 15), bc = (lane >> 4) * 8;
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3]) : "r"(shared_at(&s[br][bc])));
#pragma unroll
        for (int n = 0; n < 2; n++)
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                         : "+f"(d[n][0]), "+f"(d[n][1]), "+f"(d[n][2]), "+f"(d[n][3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[n * 2]), "r"(b[n * 2 + 1]));
    }
    __nv_bfloat162 p = __floats2bfloat162_rn(d[0][0], d[0][1]), q = __floats2bfloat162_rn(d[1][2], d[1][3]);
    uint32_t u = *(uint32_t *)&p, w = *(uint32_t *)&q, x;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(x) : "r"(u));
    __nv_bfloat162 y = __hadd2(p, *(__nv_bfloat162 *)&x);
    uint32_t *o = (uint32_t *)(G + blockIdx.x * 256 + warp * 128);
    o[lane] = *(uint32_t *)&y;
    o[32 + lane] = w;
}

//! int4_weights 32 128 | u32:131072 | f16:8192:-1:1 | f16:8192:0.01:0.02 | out f32:2048
// Weights of four bits made halves by the 1024 trick in registers, then m16n8k16; eight tokens.
extern "C" __global__ void int4_weights(const uint32_t *__restrict__ W, const half *__restrict__ X, const half *__restrict__ S, float *__restrict__ Y)
{
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, tile = (blockIdx.x * 4 + warp) % 16, part = (blockIdx.x * 4 + warp) / 16, g = lane >> 2, c = lane & 3;
    float d[4] = {};
    const half2 off = __float2half2_rn(1032.0f);
    for (int k = 0; k < 8; k++) {
        uint32_t w = W[((tile * 8 + part) * 8 + k) * 32 + lane], a[4], b[2];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            uint32_t u = (w >> 4 * i & 0x000f000fu) | 0x64006400u;
            half2 h = __hmul2(__hsub2(*(half2 *)&u, off), __half2half2(S[tile * 512 + part * 64 + k * 8 + g]));
            a[i] = *(uint32_t *)&h;
        }
        b[0] = *(const uint32_t *)&X[g * 1024 + part * 128 + k * 16 + c * 2];
        b[1] = *(const uint32_t *)&X[g * 1024 + part * 128 + k * 16 + c * 2 + 8];
        mma_f16(d, a, b);
    }
    __shared__ float s[4][128];
    for (int i = 0; i < 4; i++) s[warp][i * 32 + lane] = d[i];
    __syncthreads();
    if (warp == 0 && blockIdx.x < 16)
        for (int i = 0; i < 4; i++) Y[blockIdx.x * 128 + i * 32 + lane] = s[0][i * 32 + lane] + s[1][i * 32 + lane] + s[2][i * 32 + lane] + s[3][i * 32 + lane];
}
