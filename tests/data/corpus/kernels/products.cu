/* products.cu - matrix products from the first attempt to the tuned one. */
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <mma.h>
#include <cuda_pipeline.h>
using namespace nvcuda;
#define K extern "C" __global__ void
#define UP(a, b) (((a) + (b)-1) / (b))

//! product_strided_threads 5,5 32,32 | s s32 150 | s s32 150 | s s32 70 | s f32 1.0 | f32:10500:-1:1 | f32:10500:-1:1 | s f32 0.5 | inout f32:22500:-1:1
// Neighbouring threads take neighbouring rows: the slow one.
K product_strided_threads(int M, int N, int Kd, float alpha, const float *A, const float *B, float beta, float *C)
{
    uint x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < M && y < N) {
        float tmp = 0.0;
        for (int i = 0; i < Kd; ++i) tmp += A[x * Kd + i] * B[i * N + y];
        C[x * N + y] = alpha * tmp + beta * C[x * N + y];
    }
}

//! product_flat_coalesced 5,5 1024 | s s32 150 | s s32 150 | s s32 90 | s f32 1.0 | f32:13500:-1:1 | f32:13500:-1:1 | s f32 0.5 | inout f32:22500:-1:1
K product_flat_coalesced(int M, int N, int Kd, float alpha, const float *A, const float *B, float beta, float *C)
{
    const int cRow = blockIdx.x * 32 + (threadIdx.x / 32), cCol = blockIdx.y * 32 + (threadIdx.x % 32);
    if (cRow < M && cCol < N) {
        float tmp = 0.0;
        for (int i = 0; i < Kd; ++i) tmp += A[cRow * Kd + i] * B[i * N + cCol];
        C[cRow * N + cCol] = alpha * tmp + beta * C[cRow * N + cCol];
    }
}

template <int T> __device__ __forceinline__ void tiled(const float *A, const float *B, float *C, int wA, int wB)
{
    int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int aBegin = wA * T * by, aEnd = aBegin + wA - 1, bBegin = T * bx;
    float Csub = 0;
    for (int a = aBegin, b = bBegin; a <= aEnd; a += T, b += T * wB) {
        __shared__ float As[T][T];
        __shared__ float Bs[T][T];
        As[ty][tx] = A[a + wA * ty + tx];
        Bs[ty][tx] = B[b + wB * ty + tx];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < T; ++k) Csub += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    C[wB * T * by + T * bx + wB * ty + tx] = Csub;
}
//! product_tiles_of_8 16,16 8,8 | f32:16384:-1:1 | f32:16384:-1:1 | out f32:16384 | s s32 128 | s s32 128
K product_tiles_of_8(const float *A, const float *B, float *C, int wA, int wB) { tiled<8>(A, B, C, wA, wB); }
//! product_tiles_of_32 5,4 32,32 | f32:16384:-1:1 | f32:20480:-1:1 | out f32:20480 | s s32 128 | s s32 160
K product_tiles_of_32(const float *A, const float *B, float *C, int wA, int wB) { tiled<32>(A, B, C, wA, wB); }

//! product_ragged_tiles 7,7 16,16 | f32:10000:-1:1 | f32:10000:-1:1 | out f32:10000 | s s32 100
K product_ragged_tiles(const float *a, const float *b, float *c, int n)
{
    __shared__ float s_a[16][16], s_b[16][16 + 1];
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < (n + 15) / 16; t++) {
        s_a[threadIdx.y][threadIdx.x] = row < n && t * 16 + threadIdx.x < n ? a[row * n + t * 16 + threadIdx.x] : 0;
        s_b[threadIdx.y][threadIdx.x] = col < n && t * 16 + threadIdx.y < n ? b[(t * 16 + threadIdx.y) * n + col] : 0;
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += s_a[threadIdx.y][k] * s_b[k][threadIdx.x];
        __syncthreads();
    }
    if (row < n && col < n) c[row * n + col] = sum;
}

//! product_eight_rows_a_thread 4,4 512 | s s32 256 | s s32 256 | s s32 64 | s f32 1.0 | f32:16384:-1:1 | f32:16384:-1:1 | s f32 0.5 | inout f32:65536:-1:1
K product_eight_rows_a_thread(int M, int N, int Kd, float alpha, const float *A, const float *B, float beta, float *C)
{
    const int BM = 64, BN = 64, BK = 8, TM = 8;
    const uint cRow = blockIdx.y, cCol = blockIdx.x;
    const int threadCol = threadIdx.x % BN, threadRow = threadIdx.x / BN;
    __shared__ float As[BM * BK];
    __shared__ float Bs[BK * BN];
    A += cRow * BM * Kd;
    B += cCol * BN;
    C += cRow * BM * N + cCol * BN;
    const uint innerColA = threadIdx.x % BK, innerRowA = threadIdx.x / BK, innerColB = threadIdx.x % BN, innerRowB = threadIdx.x / BN;
    float threadResults[TM] = {0.0};
    for (uint bkIdx = 0; bkIdx < Kd; bkIdx += BK) {
        As[innerRowA * BK + innerColA] = A[innerRowA * Kd + innerColA];
        Bs[innerRowB * BN + innerColB] = B[innerRowB * N + innerColB];
        __syncthreads();
        A += BK;
        B += BK * N;
        for (uint dotIdx = 0; dotIdx < BK; ++dotIdx) {
            float tmpB = Bs[dotIdx * BN + threadCol];
            for (uint resIdx = 0; resIdx < TM; ++resIdx) threadResults[resIdx] += As[(threadRow * TM + resIdx) * BK + dotIdx] * tmpB;
        }
        __syncthreads();
    }
    for (uint resIdx = 0; resIdx < TM; ++resIdx)
        C[(threadRow * TM + resIdx) * N + threadCol] = alpha * threadResults[resIdx] + beta * C[(threadRow * TM + resIdx) * N + threadCol];
}

//! product_eight_by_eight_vectors 2,2 256 | s s32 256 | s s32 256 | s s32 64 | s f32 1.0 | f32:16384:-1:1 | f32:16384:-1:1 | s f32 0.5 | inout f32:65536:-1:1
// 128 x 128 a block, A turned round on its way to shared memory.
K product_eight_by_eight_vectors(int M, int N, int Kd, float alpha, float *A, float *B, float beta, float *C)
{
    const int BM = 128, BN = 128, BK = 8, TM = 8, TN = 8;
    const uint cRow = blockIdx.y, cCol = blockIdx.x;
    const int threadCol = threadIdx.x % (BN / TN), threadRow = threadIdx.x / (BN / TN);
    __shared__ float As[BM * BK];
    __shared__ float Bs[BK * BN];
    A += cRow * BM * Kd;
    B += cCol * BN;
    C += cRow * BM * N + cCol * BN;
    const uint innerRowA = threadIdx.x / (BK / 4), innerColA = threadIdx.x % (BK / 4);
    const uint innerRowB = threadIdx.x / (BN / 4), innerColB = threadIdx.x % (BN / 4);
    float threadResults[TM * TN] = {0.0}, regM[TM] = {0.0}, regN[TN] = {0.0};
    for (uint bkIdx = 0; bkIdx < Kd; bkIdx += BK) {
        float4 tmp = reinterpret_cast<float4 *>(&A[innerRowA * Kd + innerColA * 4])[0];
        As[(innerColA * 4 + 0) * BM + innerRowA] = tmp.x;
        As[(innerColA * 4 + 1) * BM + innerRowA] = tmp.y;
        As[(innerColA * 4 + 2) * BM + innerRowA] = tmp.z;
        As[(innerColA * 4 + 3) * BM + innerRowA] = tmp.w;
        reinterpret_cast<float4 *>(&Bs[innerRowB * BN + innerColB * 4])[0] = reinterpret_cast<float4 *>(&B[innerRowB * N + innerColB * 4])[0];
        __syncthreads();
        A += BK;
        B += BK * N;
        for (uint dotIdx = 0; dotIdx < BK; ++dotIdx) {
            for (uint i = 0; i < TM; ++i) regM[i] = As[dotIdx * BM + threadRow * TM + i];
            for (uint i = 0; i < TN; ++i) regN[i] = Bs[dotIdx * BN + threadCol * TN + i];
            for (uint m = 0; m < TM; ++m)
                for (uint n = 0; n < TN; ++n) threadResults[m * TN + n] += regM[m] * regN[n];
        }
        __syncthreads();
    }
    for (uint m = 0; m < TM; m += 1)
        for (uint n = 0; n < TN; n += 4) {
            float4 tmp = reinterpret_cast<float4 *>(&C[(threadRow * TM + m) * N + threadCol * TN + n])[0];
            tmp.x = alpha * threadResults[m * TN + n] + beta * tmp.x;
            tmp.y = alpha * threadResults[m * TN + n + 1] + beta * tmp.y;
            tmp.z = alpha * threadResults[m * TN + n + 2] + beta * tmp.z;
            tmp.w = alpha * threadResults[m * TN + n + 3] + beta * tmp.w;
            reinterpret_cast<float4 *>(&C[(threadRow * TM + m) * N + threadCol * TN + n])[0] = tmp;
        }
}

//! product_two_buffers 4,4 16,16 | f32:65536:-1:1 | f32:65536:-1:1 | out f32:65536 | s s32 256
// 64 x 64 a block, four by four a thread, the next tiles are loaded while these are used.
K product_two_buffers(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int n)
{
    __shared__ float sa[2][16][64 + 4], sb[2][16][64];
    int tx = threadIdx.x, ty = threadIdx.y, tid = ty * 16 + tx;
    int ar = tid / 4, ac = tid % 4 * 4, br = tid / 16, bc = tid % 16 * 4;
    const float *pa = A + (blockIdx.y * 64 + ar) * n + ac, *pb = B + br * n + blockIdx.x * 64 + bc;
    float acc[4][4] = {};
    float4 la = *(const float4 *)pa, lb = *(const float4 *)pb;
    sa[0][ac][ar] = la.x, sa[0][ac + 1][ar] = la.y, sa[0][ac + 2][ar] = la.z, sa[0][ac + 3][ar] = la.w;
    *(float4 *)&sb[0][br][bc] = lb;
    __syncthreads();
    int cur = 0;
    for (int k = 16; k <= n; k += 16) {
        if (k < n) {
            la = *(const float4 *)(pa + k);
            lb = *(const float4 *)(pb + k * n);
        }
#pragma unroll
        for (int i = 0; i < 16; i++) {
            float4 a = *(const float4 *)&sa[cur][i][ty * 4], b = *(const float4 *)&sb[cur][i][tx * 4];
            const float x[4] = {a.x, a.y, a.z, a.w}, y[4] = {b.x, b.y, b.z, b.w};
#pragma unroll
            for (int r = 0; r < 4; r++)
#pragma unroll
                for (int c = 0; c < 4; c++) acc[r][c] += x[r] * y[c];
        }
        if (k < n) {
            cur ^= 1;
            sa[cur][ac][ar] = la.x, sa[cur][ac + 1][ar] = la.y, sa[cur][ac + 2][ar] = la.z, sa[cur][ac + 3][ar] = la.w;
            *(float4 *)&sb[cur][br][bc] = lb;
            __syncthreads();
        }
    }
    for (int r = 0; r < 4; r++)
        *(float4 *)&C[(blockIdx.y * 64 + ty * 4 + r) * n + blockIdx.x * 64 + tx * 4] = make_float4(acc[r][0], acc[r][1], acc[r][2], acc[r][3]);
}

//! product_in_double_tiles 6,6 16,16 | s s32 96 | s s32 96 | s s32 96 | f64:9216:-1:1 | f64:9216:-1:1 | out f64:9216
K product_in_double_tiles(int m, int n, int k, const double *A, const double *B, double *C)
{
    __shared__ double a[16][17], b[16][17];
    double s = 0;
    int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    for (int t = 0; t < k; t += 16) {
        a[threadIdx.y][threadIdx.x] = A[i * k + t + threadIdx.x];
        b[threadIdx.y][threadIdx.x] = B[(t + threadIdx.y) * n + j];
        __syncthreads();
#pragma unroll 4
        for (int l = 0; l < 16; l++) s += a[threadIdx.y][l] * b[l][threadIdx.x];
        __syncthreads();
    }
    if (i < m && j < n) C[i * n + j] = s;
}

//! product_of_integers 8,8 16,16 | s32:16384:-100:100 | s32:16384:-100:100 | out s32:16384 | s s32 128
K product_of_integers(const int *A, const int *B, int *C, int n)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = 0;
    for (int k = 0; k < n; k++) sum += A[row * n + k] * B[k * n + col];
    C[row * n + col] = sum;
}

//! product_second_transposed 8,16 16,8 | bf16:16384:-1:1 | bf16:16384:-1:1 | out bf16:16384 | s s32 128 | s s32 128 | s s32 128
K product_second_transposed(const __nv_bfloat16 *A, const __nv_bfloat16 *B, __nv_bfloat16 *C, int m, int n, int k)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m || j >= n) return;
    float s = 0;
    for (int l = 0; l < k; l++) s += __bfloat162float(A[i * k + l]) * __bfloat162float(B[j * k + l]);
    C[i * n + j] = __float2bfloat16(s);
}

//! product_of_many_small 500 8,8 | f32:32000:-1:1 | f32:32000:-1:1 | out f32:32000 | s s32 500
K product_of_many_small(const float *A, const float *B, float *C, int batch)
{
    __shared__ float a[8][8], b[8][8];
    int z = blockIdx.x;
    if (z >= batch) return;
    a[threadIdx.y][threadIdx.x] = A[z * 64 + threadIdx.y * 8 + threadIdx.x];
    b[threadIdx.y][threadIdx.x] = B[z * 64 + threadIdx.y * 8 + threadIdx.x];
    __syncthreads();
    float s = 0;
    for (int k = 0; k < 8; k++) s = fmaf(a[threadIdx.y][k], b[k][threadIdx.x], s);
    C[z * 64 + threadIdx.y * 8 + threadIdx.x] = s;
}

//! wmma_one_warp_a_tile 4,2 128,4 | f16:32768:-1:1 | f16:32768:-1:1 | inout f32:65536:-1:1 | s s32 256 | s s32 256 | s s32 128 | s f32 2.0 | s f32 0.5
K wmma_one_warp_a_tile(const half *a, const half *b, float *c, int M, int N, int Kd, float alpha, float beta)
{
    int warpM = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize, warpN = blockIdx.y * blockDim.y + threadIdx.y;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::col_major> a_frag;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b_frag;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc_frag, c_frag;
    wmma::fill_fragment(acc_frag, 0.0f);
    for (int i = 0; i < Kd; i += 16) {
        int aRow = warpM * 16, aCol = i, bRow = i, bCol = warpN * 16;
        if (aRow < M && aCol < Kd && bRow < Kd && bCol < N) {
            wmma::load_matrix_sync(a_frag, a + aRow + aCol * M, M);
            wmma::load_matrix_sync(b_frag, b + bRow + bCol * Kd, Kd);
            wmma::mma_sync(acc_frag, a_frag, b_frag, acc_frag);
        }
    }
    int cRow = warpM * 16, cCol = warpN * 16;
    if (cRow < M && cCol < N) {
        wmma::load_matrix_sync(c_frag, c + cRow + cCol * M, M, wmma::mem_col_major);
        for (int i = 0; i < c_frag.num_elements; i++) c_frag.x[i] = alpha * acc_frag.x[i] + beta * c_frag.x[i];
        wmma::store_matrix_sync(c + cRow + cCol * M, c_frag, M, wmma::mem_col_major);
    }
}

//! bf16_panels_by_ldmatrix 4,4 128 | bf16:32768:-1:1 | bf16:32768:-1:1 | out f32:65536 | s s32 256 | s s32 128
// 64 x 64 a block by m16n8k16; copies of 16 bytes run two panels ahead.
K bf16_panels_by_ldmatrix(const __nv_bfloat16 *A, const __nv_bfloat16 *B, float *C, int n, int k)
{
    __shared__ __align__(16) __nv_bfloat16 sa[3][64][32 + 8], sb[3][64][32 + 8];
    int t = threadIdx.x, w = t / 32, lane = t % 32, wm = w / 2 * 32, wn = w % 2 * 32;
    float acc[2][4][4] = {};
    auto load = [&](int s, int k0) {
        for (int i = t; i < 256; i += 128) {
            int r = i / 4, c = i % 4 * 8;
            __pipeline_memcpy_async(&sa[s][r][c], A + (blockIdx.y * 64 + r) * k + k0 + c, 16);
            __pipeline_memcpy_async(&sb[s][r][c], B + (blockIdx.x * 64 + r) * k + k0 + c, 16);
        }
        __pipeline_commit();
    };
    load(0, 0);
    load(1, 32);
    int panels = k / 32;
    for (int p = 0; p < panels; p++) {
        __pipeline_wait_prior(1);
        __syncthreads();
        if (p + 2 < panels)
            load((p + 2) % 3, (p + 2) * 32);
        else
            __pipeline_commit();
        int s = p % 3;
#pragma unroll
        for (int kk = 0; kk < 32; kk += 16) {
            uint32_t a[2][4], b[4][2];
#pragma unroll
            for (int i = 0; i < 2; i++) {
                uint32_t at = (uint32_t)__cvta_generic_to_shared(&sa[s][wm + i * 16 + lane % 16][kk + lane / 16 * 8]);
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(a[i][0]), "=r"(a[i][1]), "=r"(a[i][2]), "=r"(a[i][3]) : "r"(at));
            }
#pragma unroll
            for (int j = 0; j < 4; j++) {
                uint32_t at = (uint32_t)__cvta_generic_to_shared(&sb[s][wn + j * 8 + lane % 8][kk + lane / 8 % 2 * 8]);
                asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];" : "=r"(b[j][0]), "=r"(b[j][1]) : "r"(at));
            }
#pragma unroll
            for (int i = 0; i < 2; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                                 : "+f"(acc[i][j][0]), "+f"(acc[i][j][1]), "+f"(acc[i][j][2]), "+f"(acc[i][j][3])
                                 : "r"(a[i][0]), "r"(a[i][1]), "r"(a[i][2]), "r"(a[i][3]), "r"(b[j][0]), "r"(b[j][1]));
        }
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++) {
            int r = blockIdx.y * 64 + wm + i * 16 + lane / 4, c = blockIdx.x * 64 + wn + j * 8 + lane % 4 * 2;
            *(float2 *)&C[r * n + c] = make_float2(acc[i][j][0], acc[i][j][1]);
            *(float2 *)&C[(r + 8) * n + c] = make_float2(acc[i][j][2], acc[i][j][3]);
        }
}

//! half_tiles_by_wmma 4,4 64 | f16:16384:-1:1 | f16:16384:-1:1 | out f16:16384 | s s32 128
// Two warps a block of 32 x 32, half sums.
K half_tiles_by_wmma(const half *A, const half *B, half *C, int n)
{
    __shared__ half sa[32][16 + 8], sb[16][32 + 8];
    int w = threadIdx.x / 32, t = threadIdx.x;
    wmma::fragment<wmma::accumulator, 16, 16, 16, half> acc[2];
    wmma::fill_fragment(acc[0], __float2half(0.f));
    wmma::fill_fragment(acc[1], __float2half(0.f));
    for (int k = 0; k < n; k += 16) {
        *(uint4 *)&sa[t / 2][t % 2 * 8] = *(const uint4 *)&A[(blockIdx.y * 32 + t / 2) * n + k + t % 2 * 8];
        *(uint4 *)&sb[t / 4][t % 4 * 8] = *(const uint4 *)&B[(k + t / 4) * n + blockIdx.x * 32 + t % 4 * 8];
        __syncthreads();
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
        wmma::load_matrix_sync(fa, &sa[w * 16][0], 24);
        for (int j = 0; j < 2; j++) {
            wmma::load_matrix_sync(fb, &sb[0][j * 16], 40);
            wmma::mma_sync(acc[j], fa, fb, acc[j]);
        }
        __syncthreads();
    }
    for (int j = 0; j < 2; j++)
        wmma::store_matrix_sync(C + (blockIdx.y * 32 + w * 16) * n + blockIdx.x * 32 + j * 16, acc[j], n, wmma::mem_row_major);
}

//! vector_product_block_a_row 132 128 | f32:264000:-1:1 | f32:2000:-1:1 | out f32:132 | s s32 132 | s s32 2000
K vector_product_block_a_row(const float *A, const float *x, float *y, int rows, int cols)
{
    __shared__ float sdata[128];
    float s = 0;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) s += A[(size_t)blockIdx.x * cols + c] * x[c];
    sdata[threadIdx.x] = s;
    __syncthreads();
    for (unsigned int h = blockDim.x / 2; h > 0; h >>= 1) {
        if (threadIdx.x < h) sdata[threadIdx.x] += sdata[threadIdx.x + h];
        __syncthreads();
    }
    if (threadIdx.x == 0) y[blockIdx.x] = sdata[0];
}
