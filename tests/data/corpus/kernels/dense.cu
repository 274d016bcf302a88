// Dense linear algebra.
#include <cuda_fp16.h>
#include <mma.h>
#include <stdint.h>
using namespace nvcuda;

//! gemv_warp 64 256 | f32:262144:-1:1 | f32:512:-1:1 | out f32:512 | s s32 512
extern "C" __global__ void gemv_warp(const float *__restrict__ a, const float *__restrict__ x, float *__restrict__ y, int n)
{
    int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    float s = 0;
    for (int c = lane * 4; c < n; c += 128) {
        float4 m = *(const float4 *)(a + (size_t)row * n + c), v = *(const float4 *)(x + c);
        s += m.x * v.x + m.y * v.y + m.z * v.z + m.w * v.w;
    }
    for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(0xffffffff, s, d);
    if (lane == 0) y[row] = s;
}

//! gemv_columns 16 64 | f32:262144:-1:1 | f32:256:-1:1 | out f32:1024 | s s32 256 | s s32 1024
extern "C" __global__ void gemv_columns(const float *a, const float *x, float *y, int k, int n)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0.f;
    for (int i = 0; i < k; ++i) s += a[i * n + c] * x[i];
    y[c] = s;
}

//! gemm_rect 8,12 16,16 | f32:18432:-1:1 | f32:12288:-1:1 | inout f32:24576:0:1 | s s32 192 | s s32 128 | s s32 96 | s f32 0.75 | s f32 -0.5
template <int T> __device__ void gemm_block(const float *a, const float *b, float *c, int m, int n, int k, float alpha, float beta)
{
    __shared__ float as[T][T + 1], bs[T][T + 1];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float sum = 0;
    for (int t = 0; t < (k + T - 1) / T; t++) {
        as[ty][tx] = row < m && t * T + tx < k ? a[row * k + t * T + tx] : 0.f;
        bs[ty][tx] = col < n && t * T + ty < k ? b[(t * T + ty) * n + col] : 0.f;
        __syncthreads();
        for (int i = 0; i < T; i++) sum += as[ty][i] * bs[i][tx];
        __syncthreads();
    }
    if (row < m && col < n) c[row * n + col] = alpha * sum + beta * c[row * n + col];
}
extern "C" __global__ void gemm_rect(const float *a, const float *b, float *c, int m, int n, int k, float alpha, float beta)
{
    gemm_block<16>(a, b, c, m, n, k, alpha, beta);
}

//! gemm_8x8 4,4 256 | f32:65536:-1:1 | f32:65536:-1:1 | out f32:65536 | s s32 256
// 64 x 64 a block, 4 x 4 a thread, float4 through shared memory.
extern "C" __global__ void __launch_bounds__(256) gemm_8x8(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int n)
{
    __shared__ __align__(16) float sa[16][64], sb[16][64];
    const int t = threadIdx.x, tx = t % 16, ty = t / 16;
    const float *a = A + blockIdx.y * 64 * n, *b = B + blockIdx.x * 64;
    float acc[4][4] = {};
    for (int k0 = 0; k0 < n; k0 += 16) {
        int r = t / 4, q = t % 4 * 4;
        float4 v = *(const float4 *)(a + r * n + k0 + q);
        sa[q][r] = v.x;
        sa[q + 1][r] = v.y;
        sa[q + 2][r] = v.z;
        sa[q + 3][r] = v.w;
        *(float4 *)&sb[t / 16][t % 16 * 4] = *(const float4 *)(b + (k0 + t / 16) * n + t % 16 * 4);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; k++) {
            float4 x = *(float4 *)&sa[k][ty * 4], y = *(float4 *)&sb[k][tx * 4];
            const float xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) acc[i][j] += xs[i] * ys[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
        *(float4 *)(C + (blockIdx.y * 64 + ty * 4 + i) * n + blockIdx.x * 64 + tx * 4) = make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
}

//! wmma_shared 4,4 128 | f16:65536:-1:1 | f16:65536:-1:1 | out f32:65536 | s s32 256
extern "C" __global__ void wmma_shared(const half *a, const half *b, float *c, int n)
{
    __shared__ __align__(32) half sa[64][16 + 8], sb[16][64 + 8];
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[2][2];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) wmma::fill_fragment(acc[i][j], 0.0f);
    int warp = threadIdx.x / 32, wr = warp / 2 * 32, wc = warp % 2 * 32;
    for (int k = 0; k < n; k += 16) {
        int t = threadIdx.x;
        *(uint4 *)&sa[t / 2][t % 2 * 8] = *(const uint4 *)(a + (blockIdx.y * 64 + t / 2) * n + k + t % 2 * 8);
        *(uint4 *)&sb[t / 8][t % 8 * 8] = *(const uint4 *)(b + (k + t / 8) * n + blockIdx.x * 64 + t % 8 * 8);
        __syncthreads();
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa[2];
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb[2];
        for (int i = 0; i < 2; i++) wmma::load_matrix_sync(fa[i], &sa[wr + i * 16][0], 24);
        for (int j = 0; j < 2; j++) wmma::load_matrix_sync(fb[j], &sb[0][wc + j * 16], 72);
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++) wmma::mma_sync(acc[i][j], fa[i], fb[j], acc[i][j]);
        __syncthreads();
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            wmma::store_matrix_sync(c + (blockIdx.y * 64 + wr + i * 16) * n + blockIdx.x * 64 + wc + j * 16, acc[i][j], n, wmma::mem_row_major);
}

//! wmma_int8 8,8 32 | s8:16384:-128:128 | s8:16384:-128:128 | out s32:16384 | s s32 128
extern "C" __global__ void wmma_int8(const signed char *a, const signed char *b, int *c, int n)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> acc;
    wmma::fill_fragment(acc, 0);
    for (int k = 0; k < n; k += 16) {
        wmma::load_matrix_sync(fa, a + blockIdx.y * 16 * n + k, n);
        wmma::load_matrix_sync(fb, b + blockIdx.x * 16 * n + k, n);
        wmma::mma_sync(acc, fa, fb, acc);
    }
    wmma::store_matrix_sync(c + blockIdx.y * 16 * n + blockIdx.x * 16, acc, n, wmma::mem_row_major);
}

//! dmma_double 8,8 32 | f64:16384:-1:1 | f64:16384:-1:1 | out f64:4096 | s s32 64 | s s32 256
extern "C" __global__ void dmma_double(const double *a, const double *b, double *c, int n, int k)
{
    wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 8, 8, 4, double> acc;
    wmma::fill_fragment(acc, 0.0);
    for (int i = 0; i < k; i += 4) {
        wmma::load_matrix_sync(fa, a + blockIdx.y * 8 * k + i, k);
        wmma::load_matrix_sync(fb, b + blockIdx.x * 8 * k + i, k);
        wmma::mma_sync(acc, fa, fb, acc);
    }
    wmma::store_matrix_sync(c + blockIdx.y * 8 * n + blockIdx.x * 8, acc, n, wmma::mem_row_major);
}

//! transpose_tile_rows 8,8 32,8 | f64:65536:-1:1 | out f64:65536 | s s32 256
extern "C" __global__ void transpose_tile_rows(const double *in, double *out, int n)
{
    __shared__ double tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

//! lu_block 66 32 | inout f32:67584:1:2
// A warp factors one 32 x 32 matrix in shared memory, without pivots.
extern "C" __global__ void lu_block(float *m)
{
    __shared__ float a[32][33];
    int c = threadIdx.x;
    float *g = m + blockIdx.x * 1024;
    for (int r = 0; r < 32; r++) a[r][c] = g[r * 32 + c] + (r == c ? 40.0f : 0.0f);
    __syncwarp();
    for (int k = 0; k < 31; k++) {
        if (c > k) a[c][k] /= a[k][k];
        __syncwarp();
        if (c > k)
            for (int r = k + 1; r < 32; r++) a[r][c] -= a[r][k] * a[k][c];
        __syncwarp();
    }
    for (int r = 0; r < 32; r++) g[r * 32 + c] = a[r][c];
}

//! cholesky_thread 20 64 | inout f32:46080:0:1
// One thread, one symmetric 6 x 6 matrix, in local arrays that unroll into registers.
template <typename T, int N> struct Square {
    T e[N][N];
    __device__ T &operator()(int r, int c) { return e[r][c]; }
};
extern "C" __global__ void cholesky_thread(float *m)
{
    Square<float, 6> s;
    float *g = m + (blockIdx.x * blockDim.x + threadIdx.x) * 36;
#pragma unroll
    for (int i = 0; i < 6; i++)
#pragma unroll
        for (int j = 0; j <= i; j++) s(i, j) = g[i * 6 + j] + (i == j) * 8.0f;
#pragma unroll
    for (int i = 0; i < 6; i++)
#pragma unroll
        for (int j = 0; j <= i; j++) {
            float v = s(i, j);
#pragma unroll
            for (int k = 0; k < j; k++) v -= s(i, k) * s(j, k);
            s(i, j) = i == j ? sqrtf(v) : v / s(j, j);
        }
#pragma unroll
    for (int i = 0; i < 6; i++)
#pragma unroll
        for (int j = 0; j <= i; j++) g[i * 6 + j] = s(i, j);
}

//! inverse4x4 32 128 | f32:65536:-1:1 | out f32:65536
extern "C" __global__ void inverse4x4(const float *in, float *out)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    float m[16], r[16];
#pragma unroll
    for (int k = 0; k < 16; k++) m[k] = in[t * 16 + k];
    float s0 = m[0] * m[5] - m[4] * m[1], s1 = m[0] * m[6] - m[4] * m[2], s2 = m[0] * m[7] - m[4] * m[3];
    float s3 = m[1] * m[6] - m[5] * m[2], s4 = m[1] * m[7] - m[5] * m[3], s5 = m[2] * m[7] - m[6] * m[3];
    float c5 = m[10] * m[15] - m[14] * m[11], c4 = m[9] * m[15] - m[13] * m[11], c3 = m[9] * m[14] - m[13] * m[10];
    float c2 = m[8] * m[15] - m[12] * m[11], c1 = m[8] * m[14] - m[12] * m[10], c0 = m[8] * m[13] - m[12] * m[9];
    float det = s0 * c5 - s1 * c4 + s2 * c3 + s3 * c2 - s4 * c1 + s5 * c0, d = fabsf(det) > 1e-8f ? 1.0f / det : 0.0f;
    r[0] = (m[5] * c5 - m[6] * c4 + m[7] * c3) * d;
    r[1] = (-m[1] * c5 + m[2] * c4 - m[3] * c3) * d;
    r[2] = (m[13] * s5 - m[14] * s4 + m[15] * s3) * d;
    r[3] = (-m[9] * s5 + m[10] * s4 - m[11] * s3) * d;
    r[4] = (-m[4] * c5 + m[6] * c2 - m[7] * c1) * d;
    r[5] = (m[0] * c5 - m[2] * c2 + m[3] * c1) * d;
    r[6] = (-m[12] * s5 + m[14] * s2 - m[15] * s1) * d;
    r[7] = (m[8] * s5 - m[10] * s2 + m[11] * s1) * d;
    r[8] = (m[4] * c4 - m[5] * c2 + m[7] * c0) * d;
    r[9] = (-m[0] * c4 + m[1] * c2 - m[3] * c0) * d;
    r[10] = (m[12] * s4 - m[13] * s2 + m[15] * s0) * d;
    r[11] = (-m[8] * s4 + m[9] * s2 - m[11] * s0) * d;
    r[12] = (-m[4] * c3 + m[5] * c1 - m[6] * c0) * d;
    r[13] = (m[0] * c3 - m[1] * c1 + m[2] * c0) * d;
    r[14] = (-m[12] * s3 + m[13] * s1 - m[14] * s0) * d;
    r[15] = (m[8] * s3 - m[9] * s1 + m[10] * s0) * d;
#pragma unroll
    for (int k = 0; k < 16; k++) out[t * 16 + k] = r[k];
}
