/* matrix.cu - products of matrices: tensor cores by mma and wmma from registers, shared and global memory, and FMA by tiles. */
#include <cstdint>
#include <cuda_fp16.h>
#include <mma.h>
#define K extern "C" __global__ void
static __device__ uint32_t at(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
//! mma_f16_chain 132 128 | u32:2048:0:16384 | out u32:33792 | s s32 64
K mma_f16_chain(const unsigned *in, unsigned *out, int rounds) /* products that depend on each other, sums in half precision */
{
    unsigned a[4], b[2], c[2] = {0, 0}, d[2] = {0, 0};
    for (int i = 0; i < 4; i++) a[i] = in[threadIdx.x * 4 + i];
    for (int i = 0; i < 2; i++) b[i] = in[1024 + threadIdx.x * 2 + i];
    for (int k = 0; k < rounds; k++) {
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};" : "+r"(c[0]), "+r"(c[1]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};" : "+r"(d[0]), "+r"(d[1]) : "r"(a[1]), "r"(a[0]), "r"(a[3]), "r"(a[2]), "r"(b[1]), "r"(b[0]));
    }
    out[(blockIdx.x * 128 + threadIdx.x) * 2] = c[0] ^ d[0];
    out[(blockIdx.x * 128 + threadIdx.x) * 2 + 1] = c[1] ^ d[1];
}
//! mma_ldmatrix 8,8 128 | f16:65536:-1:1 | f16:65536:-1:1 | out f32:65536 | s s32 256
K mma_ldmatrix(const half *a, const half *b, float *c, int n) /* tiles of 32 by 32; a by rows, b by columns, through shared memory */
{
    __shared__ __align__(16) half A[32][40], B[32][40];
    int t = threadIdx.x, lane = t & 31, w = t >> 5, wr = w >> 1, wc = w & 1, row = blockIdx.y * 32, col = blockIdx.x * 32;
    float s[2][4] = {};
    for (int k = 0; k < n; k += 32) {
        int r = t >> 2, q = (t & 3) * 8;
        uint4 va = *(const uint4 *)&a[(row + r) * n + k + q], vb = *(const uint4 *)&b[(col + r) * n + k + q];
        __syncthreads();
        *(uint4 *)&A[r][q] = va;
        *(uint4 *)&B[r][q] = vb;
        __syncthreads();
        for (int h = 0; h < 32; h += 16) {
            unsigned x[4], y[4];
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(at(&A[wr * 16 + (lane & 15)][h + (lane >> 4) * 8])));
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(y[0]), "=r"(y[1]), "=r"(y[2]), "=r"(y[3]) : "r"(at(&B[wc * 16 + (lane & 7) + (lane >> 4) * 8][h + (lane >> 3 & 1) * 8])));
            for (int j = 0; j < 2; j++)
                asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" : "+f"(s[j][0]), "+f"(s[j][1]), "+f"(s[j][2]), "+f"(s[j][3]) : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[2 * j]), "r"(y[2 * j + 1]));
        }
    }
    int r = row + wr * 16 + (lane >> 2), q = col + wc * 16 + (lane & 3) * 2;
    for (int j = 0; j < 2; j++) {
        *(float2 *)&c[r * n + q + 8 * j] = make_float2(s[j][0], s[j][1]);
        *(float2 *)&c[(r + 8) * n + q + 8 * j] = make_float2(s[j][2], s[j][3]);
    }
}
//! mma_s8_direct 16,16 32 | s8:32768:-8:8 | s8:32768:-8:8 | out s32:32768 | s s32 128
K mma_s8_direct(const int8_t *a, const int8_t *b, int *c, int k) /* a warp a tile of 16 by 8, operands straight from global memory */
{
    int lane = threadIdx.x, g = lane >> 2, q = lane & 3, row = blockIdx.y * 16, col = blockIdx.x * 8, s[4] = {};
    for (int i = 0; i < k; i += 32) {
        const int8_t *pa = a + (row + g) * k + i + q * 4, *pb = b + (col + g) * k + i + q * 4;
        int x0 = *(const int *)pa, x1 = *(const int *)(pa + 8 * k), x2 = *(const int *)(pa + 16), x3 = *(const int *)(pa + 8 * k + 16);
        int y0 = *(const int *)pb, y1 = *(const int *)(pb + 16);
        asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" : "+r"(s[0]), "+r"(s[1]), "+r"(s[2]), "+r"(s[3]) : "r"(x0), "r"(x1), "r"(x2), "r"(x3), "r"(y0), "r"(y1));
    }
    int n = gridDim.x * 8;
    c[(row + g) * n + col + q * 2] = s[0];
    c[(row + g) * n + col + q * 2 + 1] = s[1];
    c[(row + g + 8) * n + col + q * 2] = s[2];
    c[(row + g + 8) * n + col + q * 2 + 1] = s[3];
}
//! dmma_chain 66 64 | f64:128:-1:1 | out f64:8448 | s s32 48
K dmma_chain(const double *in, double *out, int rounds)
{
    double a = in[threadIdx.x], b = in[64 + threadIdx.x], c0 = 0, c1 = 0;
    for (int i = 0; i < rounds; i++)
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};" : "+d"(c0), "+d"(c1) : "d"(a), "d"(b));
    out[(blockIdx.x * 64 + threadIdx.x) * 2] = c0;
    out[(blockIdx.x * 64 + threadIdx.x) * 2 + 1] = c1;
}
//! wmma_global 8,8 32 | f16:32768:-1:1 | f16:32768:-1:1 | out f32:16384 | s s32 256
K wmma_global(const half *a, const half *b, float *c, int k)
{
    using namespace nvcuda::wmma;
    fragment<matrix_a, 16, 16, 16, half, row_major> x;
    fragment<matrix_b, 16, 16, 16, half, col_major> y;
    fragment<accumulator, 16, 16, 16, float> s;
    fill_fragment(s, 0.f);
    for (int i = 0; i < k; i += 16) {
        load_matrix_sync(x, a + blockIdx.y * 16 * k + i, k);
        load_matrix_sync(y, b + blockIdx.x * 16 * k + i, k);
        mma_sync(s, x, y, s);
    }
    store_matrix_sync(c + blockIdx.y * 16 * 128 + blockIdx.x * 16, s, 128, mem_row_major);
}
//! sgemm_64x64 8,8 256 | f32:131072:-1:1 | f32:131072:-1:1 | out f32:262144 | s s32 512 | s s32 256
K sgemm_64x64(const float *a, const float *b, float *c, int n, int k) /* 4 by 4 results a thread, next tile loaded while this one is used */
{
    __shared__ float A[2][16][64], B[2][16][64];
    int t = threadIdx.x, tx = t & 15, ty = t >> 4, row = blockIdx.y * 64, col = blockIdx.x * 64;
    int ar = t >> 2, ac = (t & 3) * 4, br = t >> 4, bc = (t & 15) * 4;
    float s[4][4] = {};
    float4 va = *(const float4 *)&a[(row + ar) * k + ac], vb = *(const float4 *)&b[br * n + col + bc];
    for (int i = 0, p = 0; i < k; i += 16, p ^= 1) {
        A[p][ac][ar] = va.x; A[p][ac + 1][ar] = va.y; A[p][ac + 2][ar] = va.z; A[p][ac + 3][ar] = va.w;
        *(float4 *)&B[p][br][bc] = vb;
        __syncthreads();
        if (i + 16 < k) {
            va = *(const float4 *)&a[(row + ar) * k + i + 16 + ac];
            vb = *(const float4 *)&b[(i + 16 + br) * n + col + bc];
        }
        for (int h = 0; h < 16; h++) {
            float4 x = *(const float4 *)&A[p][h][ty * 4], y = *(const float4 *)&B[p][h][tx * 4];
            s[0][0] += x.x * y.x; s[0][1] += x.x * y.y; s[0][2] += x.x * y.z; s[0][3] += x.x * y.w;
            s[1][0] += x.y * y.x; s[1][1] += x.y * y.y; s[1][2] += x.y * y.z; s[1][3] += x.y * y.w;
            s[2][0] += x.z * y.x; s[2][1] += x.z * y.y; s[2][2] += x.z * y.z; s[2][3] += x.z * y.w;
            s[3][0] += x.w * y.x; s[3][1] += x.w * y.y; s[3][2] += x.w * y.z; s[3][3] += x.w * y.w;
        }
    }
    for (int i = 0; i < 4; i++) *(float4 *)&c[(row + ty * 4 + i) * n + col + tx * 4] = make_float4(s[i][0], s[i][1], s[i][2], s[i][3]);
}
//! gemm_split_k 4,4,8 16,16 | f32:65536:-1:1 | f32:65536:-1:1 | zero f32:4096 | s s32 1024 | unordered
K gemm_split_k(const float *a, const float *b, float *c, int k) /* 64 by 64 results; eight blocks add to each tile */
{
    __shared__ float A[16][17], B[16][17];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx, from = blockIdx.z * (k / 8);
    float s = 0;
    for (int i = from; i < from + k / 8; i += 16) {
        A[ty][tx] = a[row * k + i + tx];
        B[ty][tx] = b[(i + ty) * 64 + col];
        __syncthreads();
        for (int h = 0; h < 16; h++) s += A[ty][h] * B[h][tx];
        __syncthreads();
    }
    atomicAdd(&c[row * 64 + col], s);
}
//! batched_4x4 64 128 | f32:131072:-1:1 | f32:131072:-1:1 | out f32:131072
K batched_4x4(const float4 *a, const float4 *b, float4 *c) /* a thread a product of two matrices of 4 by 4 */
{
    int t = (blockIdx.x * 128 + threadIdx.x) * 4;
    float4 y[4];
    for (int i = 0; i < 4; i++) y[i] = b[t + i];
    for (int i = 0; i < 4; i++) {
        float4 x = a[t + i];
        c[t + i] = make_float4(x.x * y[0].x + x.y * y[1].x + x.z * y[2].x + x.w * y[3].x, x.x * y[0].y + x.y * y[1].y + x.z * y[2].y + x.w * y[3].y,
                               x.x * y[0].z + x.y * y[1].z + x.z * y[2].z + x.w * y[3].z, x.x * y[0].w + x.y * y[1].w + x.z * y[2].w + x.w * y[3].w);
    }
}
//! outer_products 16,16 16,16 | f32:256:-1:1 | f32:256:-1:1 | inout f32:65536:-1:1
K outer_products(const float *x, const float *y, float *m)
{
    int r = blockIdx.y * 16 + threadIdx.y, c = blockIdx.x * 16 + threadIdx.x;
    m[r * 256 + c] += x[r] * y[c];
}
