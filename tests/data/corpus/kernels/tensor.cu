/* tensor.cu - matrix units of several types, and copies that run beside them. */
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_pipeline.h>
#include <mma.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
using namespace nvcuda;
namespace cg = cooperative_groups;
#define K extern "C" __global__ void
K wmma_f64(const double *a, const double *b, double *c, int k)
{
    int w = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 8, 8, 4, double> fc;
    wmma::fill_fragment(fc, 0.0);
    for (int i = 0; i < k; i += 4) {
        wmma::load_matrix_sync(fa, a + (w % 16) * 8 * k + i, k);
        wmma::load_matrix_sync(fb, b + (w / 16 % 16) * 8 * k + i, k);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    wmma::store_matrix_sync(c + w * 64, fc, 8, wmma::mem_row_major);
}
K wmma_u8(const unsigned char *a, const unsigned char *b, int *c, int k)
{
    int w = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, unsigned char, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, unsigned char, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> fc;
    wmma::fill_fragment(fc, 0);
    for (int i = 0; i < k; i += 16) {
        wmma::load_matrix_sync(fa, a + (w % 16) * 16 * k + i, k);
        wmma::load_matrix_sync(fb, b + (w / 16 % 16) * 16 * k + i, k);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    wmma::store_matrix_sync(c + w * 256, fc, 16, wmma::mem_row_major);
}
K wmma_half_panel(const half *a, const half *b, float *c, int k) /* panels through shared memory */
{
    __shared__ half sa[64][40], sb[64][40];
    int w = threadIdx.x / 32, row = blockIdx.x % 4 * 64, col = blockIdx.x / 4 % 4 * 64;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc[4];
    for (int i = 0; i < 4; i++) wmma::fill_fragment(fc[i], 0.f);
    for (int i = 0; i < k; i += 32) {
        for (int e = threadIdx.x; e < 64 * 32; e += blockDim.x) {
            sa[e / 32][e % 32] = a[(row + e / 32) * k + i + e % 32];
            sb[e / 32][e % 32] = b[(col + e / 32) * k + i + e % 32];
        }
        __syncthreads();
        for (int s = 0; s < 32; s += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
            wmma::load_matrix_sync(fa, &sa[w * 16][s], 40);
            for (int j = 0; j < 4; j++) {
                wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
                wmma::load_matrix_sync(fb, &sb[j * 16][s], 40);
                wmma::mma_sync(fc[j], fa, fb, fc[j]);
            }
        }
        __syncthreads();
    }
    for (int j = 0; j < 4; j++) wmma::store_matrix_sync(c + blockIdx.x * 4096 + w * 1024 + j * 16, fc[j], 64, wmma::mem_row_major);
}
K stream_pipeline(const float4 *in, float4 *out, int n) /* two stages of cp.async */
{
    __shared__ float4 s[2][128];
    int t = threadIdx.x;
    const float4 *p = in + blockIdx.x * n * 128;
    __pipeline_memcpy_async(&s[0][t], p + t, 16);
    __pipeline_commit();
    for (int k = 0; k < n; k++) {
        if (k + 1 < n) __pipeline_memcpy_async(&s[(k + 1) & 1][t], p + (k + 1) * 128 + t, 16);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        float4 v = s[k & 1][t ^ 1];
        v.x = v.x * 2 + v.y;
        out[(blockIdx.x * n + k) * 128 + t] = v;
        __syncthreads();
    }
}
K tile_sums(const float *in, float *out, int n)
{
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < n; k++) {
        float v = cg::reduce(tile, in[k * gridDim.x * blockDim.x + t], cg::plus<float>());
        s += tile.thread_rank() == k % 16 ? v : 0;
    }
    out[t] = s;
}
K half2_dot(const half2 *a, const half2 *b, float *out, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    half2 s = __float2half2_rn(0.f);
    for (int k = 0; k < n; k++) s = __hfma2(a[k * all + t], b[k * all + t], s);
    float v = __low2float(s) + __high2float(s);
    for (int d = 16; d; d >>= 1) v += __shfl_down_sync(~0u, v, d);
    if (t % 32 == 0) out[t / 32] = v;
}
K bf16_layer(const __nv_bfloat16 *in, __nv_bfloat16 *out, int n)
{
    __shared__ float part[8];
    int row = blockIdx.x, t = threadIdx.x;
    float s = 0, q = 0;
    for (int k = t; k < n; k += blockDim.x) { float v = __bfloat162float(in[row * n + k]); s += v; q += v * v; }
    for (int d = 16; d; d >>= 1) { s += __shfl_xor_sync(~0u, s, d); q += __shfl_xor_sync(~0u, q, d); }
    if (t % 32 == 0) { part[t / 32] = s; part[4 + t / 32] = q; }
    __syncthreads();
    s = part[0] + part[1] + part[2] + part[3];
    q = part[4] + part[5] + part[6] + part[7];
    float m = s / n, r = rsqrtf(q / n - m * m + 1e-5f);
    for (int k = t; k < n; k += blockDim.x) out[row * n + k] = __float2bfloat16((__bfloat162float(in[row * n + k]) - m) * r);
}
