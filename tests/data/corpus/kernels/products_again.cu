/* products_again.cu - matrices multiplied in blocks, from square tiles to two levels of registers; several types, sizes and orders of the axes. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <cstdint>
#define K extern "C" __global__ void

template <typename T, int W> __device__ __forceinline__ void tiled(const T *__restrict__ M, const T *__restrict__ N, T *__restrict__ P, int width)
{
    __shared__ T Mds[W][W], Nds[W][W];
    int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int row = by * W + ty, col = bx * W + tx;
    T v = 0;
    for (int ph = 0; ph < (width + W - 1) / W; ++ph) {
        Mds[ty][tx] = row < width && ph * W + tx < width ? M[row * width + ph * W + tx] : T(0);
        Nds[ty][tx] = ph * W + ty < width && col < width ? N[(ph * W + ty) * width + col] : T(0);
        __syncthreads();
        for (int k = 0; k < W; ++k) v += Mds[ty][k] * Nds[k][tx];
        __syncthreads();
    }
    if (row < width && col < width) P[row * width + col] = v;
}
//! tiles_of_sixteen_bounded 19,19 16,16 | f32:90000:-1:1 | f32:90000:-1:1 | out f32:90000 | s s32 300
K tiles_of_sixteen_bounded(const float *a, const float *b, float *c, int n) { tiled<float, 16>(a, b, c, n); }
//! tiles_of_thirty_two_bounded 12,12 32,32 | f32:147456:-1:1 | f32:147456:-1:1 | out f32:147456 | s s32 384
K tiles_of_thirty_two_bounded(const float *a, const float *b, float *c, int n) { tiled<float, 32>(a, b, c, n); }
//! tiles_of_eight_of_doubles 16,16 8,8 | f64:16384:-1:1 | f64:16384:-1:1 | out f64:16384 | s s32 128
K tiles_of_eight_of_doubles(const double *a, const double *b, double *c, int n) { tiled<double, 8>(a, b, c, n); }
//! tiles_of_sixteen_of_longs 6,6 16,16 | s64:9216:-99:99 | s64:9216:-99:99 | out s64:9216 | s s32 96
K tiles_of_sixteen_of_longs(const long long *a, const long long *b, long long *c, int n) { tiled<long long, 16>(a, b, c, n); }

//! tile_from_dynamic_memory 16,8 32,8 8192 | f32:131072:-1:1 | f32:131072:-1:1 | out f32:131072 | s s32 256 | s s32 512 | s s32 256
// C of 256 x 512: each thread has four rows.
K tile_from_dynamic_memory(const float *A, const float *B, float *C, int m, int n, int k)
{
    extern __shared__ float smem[];
    float *As = smem, *Bs = smem + 32 * 32;
    int tx = threadIdx.x, ty = threadIdx.y, col = blockIdx.x * 32 + tx, row0 = blockIdx.y * 32;
    float c[4] = {0, 0, 0, 0};
    for (int t = 0; t < k; t += 32) {
        for (int r = ty; r < 32; r += 8) {
            As[r * 32 + tx] = A[(row0 + r) * k + t + tx];
            Bs[r * 32 + tx] = B[(t + r) * n + col];
        }
        __syncthreads();
        for (int kk = 0; kk < 32; kk++) {
            float b = Bs[kk * 32 + tx];
            for (int i = 0; i < 4; i++) c[i] += As[(ty + 8 * i) * 32 + kk] * b;
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++) C[(row0 + ty + 8 * i) * n + col] = c[i];
}

//! block_tile_64_thread_tile_4 8,8 16,16 | f32:262144:-1:1 | f32:262144:-1:1 | inout f32:262144:-1:1 | s s32 512 | s s32 512 | s s32 512 | s f32 1.5 | s f32 0.5
K block_tile_64_thread_tile_4(const float *A, const float *B, float *C, int M, int N, int Kk, float alpha, float beta)
{
    __shared__ float As[16][64], Bs[16][64];
    const int tid = threadIdx.y * 16 + threadIdx.x;
    const int rowA = tid / 4, colA = (tid % 4) * 4, rowB = tid / 16, colB = (tid % 16) * 4;
    float acc[4][4] = {};
    A += blockIdx.y * 64 * Kk;
    B += blockIdx.x * 64;
    for (int k0 = 0; k0 < Kk; k0 += 16) {
        float4 a = *(const float4 *)&A[rowA * Kk + colA];
        As[colA][rowA] = a.x, As[colA + 1][rowA] = a.y, As[colA + 2][rowA] = a.z, As[colA + 3][rowA] = a.w;
        *(float4 *)&Bs[rowB][colB] = *(const float4 *)&B[rowB * N + colB];
        __syncthreads();
        A += 16;
        B += 16 * N;
        for (int k = 0; k < 16; ++k) {
            float ra[4], rb[4];
            for (int i = 0; i < 4; ++i) ra[i] = As[k][threadIdx.y * 4 + i];
            for (int i = 0; i < 4; ++i) rb[i] = Bs[k][threadIdx.x * 4 + i];
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < 4; ++j) acc[i][j] += ra[i] * rb[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
            float *c = &C[(blockIdx.y * 64 + threadIdx.y * 4 + i) * N + blockIdx.x * 64 + threadIdx.x * 4 + j];
            *c = alpha * acc[i][j] + beta * *c;
        }
}

//! block_tile_128_thread_tile_8 4,4 256 | f32:131072:-1:1 | f32:131072:-1:1 | inout f32:262144:-1:1 | s s32 512 | s s32 512 | s s32 256 | s f32 1 | s f32 0
K __launch_bounds__(256, 1) block_tile_128_thread_tile_8(float *A, float *B, float *C, int M, int N, int Kd, float alpha, float beta)
{
    const int BM = 128, BN = 128, BK = 8, TM = 8, TN = 8;
    __shared__ float As[BM * BK], Bs[BK * BN];
    const unsigned cRow = blockIdx.y, cCol = blockIdx.x;
    const int threadCol = threadIdx.x % (BN / TN), threadRow = threadIdx.x / (BN / TN);
    A += cRow * BM * Kd;
    B += cCol * BN;
    C += cRow * BM * N + cCol * BN;
    const unsigned innerRowA = threadIdx.x / (BK / 4), innerColA = threadIdx.x % (BK / 4), innerRowB = threadIdx.x / (BN / 4), innerColB = threadIdx.x % (BN / 4);
    float threadResults[TM * TN] = {0.0};
    float regM[TM] = {0.0}, regN[TN] = {0.0};
    for (unsigned bkIdx = 0; bkIdx < Kd; bkIdx += BK) {
        float4 tmp = reinterpret_cast<float4 *>(&A[innerRowA * Kd + innerColA * 4])[0];
        As[(innerColA * 4 + 0) * BM + innerRowA] = tmp.x;
        As[(innerColA * 4 + 1) * BM + innerRowA] = tmp.y;
        As[(innerColA * 4 + 2) * BM + innerRowA] = tmp.z;
        As[(innerColA * 4 + 3) * BM + innerRowA] = tmp.w;
        reinterpret_cast<float4 *>(&Bs[innerRowB * BN + innerColB * 4])[0] = reinterpret_cast<float4 *>(&B[innerRowB * N + innerColB * 4])[0];
        __syncthreads();
        A += BK;
        B += BK * N;
        for (unsigned dotIdx = 0; dotIdx < BK; ++dotIdx) {
            for (unsigned i = 0; i < TM; ++i) regM[i] = As[dotIdx * BM + threadRow * TM + i];
            for (unsigned i = 0; i < TN; ++i) regN[i] = Bs[dotIdx * BN + threadCol * TN + i];
            for (unsigned m = 0; m < TM; ++m)
                for (unsigned n = 0; n < TN; ++n) threadResults[m * TN + n] += regM[m] * regN[n];
        }
        __syncthreads();
    }
    for (unsigned m = 0; m < TM; m += 1)
        for (unsigned n = 0; n < TN; n += 4) {
            float4 tmp = reinterpret_cast<float4 *>(&C[(threadRow * TM + m) * N + threadCol * TN + n])[0];
            tmp.x = alpha * threadResults[m * TN + n] + beta * tmp.x;
            tmp.y = alpha * threadResults[m * TN + n + 1] + beta * tmp.y;
            tmp.z = alpha * threadResults[m * TN + n + 2] + beta * tmp.z;
            tmp.w = alpha * threadResults[m * TN + n + 3] + beta * tmp.w;
            reinterpret_cast<float4 *>(&C[(threadRow * TM + m) * N + threadCol * TN + n])[0] = tmp;
        }
}

//! halves_summed_as_floats_16 10,10 16,16 | f16:25600:-1:1 | f16:25600:-1:1 | out f16:25600 | s s32 160
K halves_summed_as_floats_16(const __half *A, const __half *B, __half *C, int n)
{
    __shared__ __half a[16][16], b[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, r = blockIdx.y * 16 + ty, c = blockIdx.x * 16 + tx;
    float s = 0.0f;
    for (int t = 0; t < n / 16; t++) {
        a[ty][tx] = A[r * n + t * 16 + tx];
        b[ty][tx] = B[(t * 16 + ty) * n + c];
        __syncthreads();
        for (int k = 0; k < 16; k++) s += __half2float(a[ty][k]) * __half2float(b[k][tx]);
        __syncthreads();
    }
    C[r * n + c] = __float2half(s);
}

//! doubles_by_rows_of_a_warp 32 128 | f64:16384:-1:1 | f64:16384:-1:1 | out f64:16384 | s s32 128
// A warp makes a row of C; lanes take every 32nd column.
K doubles_by_rows_of_a_warp(const double *A, const double *B, double *C, int n)
{
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int j = lane; j < n; j += 32) {
        double s = 0;
        for (int k = 0; k < n; k++) s = fma(A[row * n + k], B[k * n + j], s);
        C[row * n + j] = s;
    }
}

using namespace nvcuda;
//! wmma_one_warp_one_tile_halves 16,16 32 | f16:65536:-1:1 | f16:65536:-1:1 | out f32:65536 | s s32 256
K wmma_one_warp_one_tile_halves(const half *a, const half *b, float *c, int n)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    for (int k = 0; k < n; k += 16) {
        wmma::load_matrix_sync(fa, a + blockIdx.y * 16 * n + k, n);
        wmma::load_matrix_sync(fb, b + blockIdx.x * 16 * n + k, n);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    wmma::store_matrix_sync(c + blockIdx.y * 16 * n + blockIdx.x * 16, fc, n, wmma::mem_row_major);
}

//! wmma_warps_of_a_block_by_two 8,4 64,4 | f16:65536:-1:1 | f16:65536:-1:1 | f32:65536:-1:1 | out f32:65536 | s s32 256 | s s32 256 | s s32 256 | s f32 2 | s f32 0.5
// As the guides have it: warps in both axes, alpha and beta at the end. 16 x 16 tiles of 16 x 16.
K wmma_warps_of_a_block_by_two(const half *a, const half *b, const float *c, float *d, int M, int N, int Kk, float alpha, float beta)
{
    int warpM = (blockIdx.x * blockDim.x + threadIdx.x) / 32, warpN = blockIdx.y * blockDim.y + threadIdx.y;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc, fc;
    wmma::fill_fragment(acc, 0.0f);
    for (int i = 0; i < Kk; i += 16) {
        int aRow = warpM * 16, bCol = warpN * 16;
        if (aRow < M && i < Kk && bCol < N) {
            wmma::load_matrix_sync(fa, a + aRow * Kk + i, Kk);
            wmma::load_matrix_sync(fb, b + i * N + bCol, N);
            wmma::mma_sync(acc, fa, fb, acc);
        }
    }
    int cRow = warpM * 16, cCol = warpN * 16;
    if (cRow < M && cCol < N) {
        wmma::load_matrix_sync(fc, c + cRow * N + cCol, N, wmma::mem_row_major);
        for (int i = 0; i < fc.num_elements; i++) fc.x[i] = alpha * acc.x[i] + beta * fc.x[i];
        wmma::store_matrix_sync(d + cRow * N + cCol, fc, N, wmma::mem_row_major);
    }
}

//! rank_one_updates_of_a_square 32 256 | f32:4096:-1:1 | f32:4096:-1:1 | inout f32:65536:-1:1 | s s32 256 | s s32 16
K rank_one_updates_of_a_square(const float *u, const float *v, float *A, int n, int times)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n * n; i += gridDim.x * blockDim.x) {
        int r = i / n, c = i % n;
        float s = A[i];
        for (int t = 0; t < times; t++) s += u[t * n + r] * v[t * n + c];
        A[i] = s;
    }
}

//! batch_of_small_squares 200 8,8 | f32:12800:-1:1 | f32:12800:-1:1 | out f32:12800
// 8 x 8 matrices, one a block of two warps.
K batch_of_small_squares(const float *A, const float *B, float *C)
{
    __shared__ float a[8][8], b[8][9];
    int i = threadIdx.y, j = threadIdx.x, at = blockIdx.x * 64 + i * 8 + j;
    a[i][j] = A[at], b[i][j] = B[at];
    __syncthreads();
    float s = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) s += a[i][k] * b[k][j];
    C[at] = s;
}

//! matrix_times_vector_by_columns 8 128 | f32:524288:-1:1 | f32:512:-1:1 | out f32:1024 | s s32 1024 | s s32 512
// Column-major: lanes read next to each other, everyone has a row.
K matrix_times_vector_by_columns(const float *A, const float *x, float *y, int m, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0.f;
    for (int j = 0; j < n; j++) s += A[j * m + row] * x[j];
    y[row] = s;
}

//! matrix_times_vector_row_a_thread 8 128 | f32:524288:-1:1 | f32:512:-1:1 | out f32:1024 | s s32 512
K matrix_times_vector_row_a_thread(const float *A, const float *x, float *y, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0.f;
    for (int j = 0; j < n; j++) s += A[row * n + j] * x[j];
    y[row] = s;
}
