/* learn.cu - layers, optimisers and decoders of neural networks. */
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>
#define K extern "C" __global__ void
using namespace nvcuda;
//! softmax_vec4 96 32,4 | f32:196608:-8:8 | out f32:196608
// Rows of 512, a warp a row, everything in registers.
K softmax_vec4(const float4 *in, float4 *out)
{
    int row = blockIdx.x * 4 + threadIdx.y;
    float4 v[4];
    float m = -1e30f, s = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        v[k] = in[row * 128 + k * 32 + threadIdx.x];
        m = fmaxf(m, fmaxf(fmaxf(v[k].x, v[k].y), fmaxf(v[k].z, v[k].w)));
    }
    for (int d = 16; d; d /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
#pragma unroll
    for (int k = 0; k < 4; k++) {
        v[k] = make_float4(__expf(v[k].x - m), __expf(v[k].y - m), __expf(v[k].z - m), __expf(v[k].w - m));
        s += v[k].x + v[k].y + v[k].z + v[k].w;
    }
    for (int d = 16; d; d /= 2) s += __shfl_xor_sync(~0u, s, d);
    s = 1 / s;
#pragma unroll
    for (int k = 0; k < 4; k++) out[row * 128 + k * 32 + threadIdx.x] = make_float4(v[k].x * s, v[k].y * s, v[k].z * s, v[k].w * s);
}
//! layernorm_grad 80 128 | f32:30720:-1:1 | f32:30720:-2:2 | f32:384:0.5:1.5 | out f32:30720
// Gradient with respect to the input, rows of 384.
K layernorm_grad(const float *dy, const float *x, const float *gamma, float *dx)
{
    __shared__ float red[4][4];
    int t = threadIdx.x, base = blockIdx.x * 384;
    float v[3], g[3], q[4] = {};
#pragma unroll
    for (int k = 0; k < 3; k++) {
        v[k] = x[base + k * 128 + t];
        g[k] = dy[base + k * 128 + t] * gamma[k * 128 + t];
        q[0] += v[k], q[1] += v[k] * v[k], q[2] += g[k], q[3] += g[k] * v[k];
    }
#pragma unroll
    for (int j = 0; j < 4; j++) {
        for (int d = 16; d; d /= 2) q[j] += __shfl_down_sync(~0u, q[j], d);
        if (t % 32 == 0) red[j][t / 32] = q[j];
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 4; j++) q[j] = (red[j][0] + red[j][1] + red[j][2] + red[j][3]) / 384;
    float r = rsqrtf(q[1] - q[0] * q[0] + 1e-5f), proj = (q[3] - q[2] * q[0]) * r;
#pragma unroll
    for (int k = 0; k < 3; k++) dx[base + k * 128 + t] = r * (g[k] - q[2] - (v[k] - q[0]) * r * proj);
}
//! scores_half 4,4,2 16,16 | f16:32768:-1:1 | f16:32768:-1:1 | out f32:32768 | s f32 0.125
// Q K^T of two heads of 128 x 64, a 32 x 32 tile a block, pairs of half precision, later places masked.
K scores_half(const half2 *q, const half2 *k, float *out, float scale)
{
    __shared__ half2 sq[32][33], sk[32][33];
    int tx = threadIdx.x, ty = threadIdx.y, r0 = blockIdx.y * 32, c0 = blockIdx.x * 32, head = blockIdx.z;
    if (c0 > r0 + 31) return;
    for (int i = ty * 16 + tx; i < 1024; i += 256) {
        sq[i / 32][i % 32] = q[(head * 128 + r0 + i / 32) * 32 + i % 32];
        sk[i / 32][i % 32] = k[(head * 128 + c0 + i / 32) * 32 + i % 32];
    }
    __syncthreads();
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++) {
            int r = ty + 16 * a, c = tx + 16 * b;
            half2 s = __floats2half2_rn(0, 0);
#pragma unroll 8
            for (int j = 0; j < 32; j++) s = __hfma2(sq[r][j], sk[c][j], s);
            float v = __low2float(s) + __high2float(s);
            out[(head * 128 + r0 + r) * 128 + c0 + c] = c0 + c <= r0 + r ? v * scale : -1e9f;
        }
}
//! conv_im2col 8,2 32,8 | f32:8192:-1:1 | f32:2304:-1:1 | out f32:7200
// 3 x 3 over eight channels of 32 x 32, stride 2 without a border, 32 outputs: the matrix of patches only exists tile by tile.
K conv_im2col(const float *in, const float *weight, float *out)
{
    __shared__ float patch[24][33], w[16][25];
    int tx = threadIdx.x, ty = threadIdx.y, pixel = blockIdx.x * 32 + tx, o0 = blockIdx.y * 16, px = pixel % 15, py = pixel / 15;
    float acc[2] = {};
    for (int k0 = 0; k0 < 72; k0 += 24) {
        for (int k = ty; k < 24; k += 8) {
            int c = (k0 + k) / 9, r = (k0 + k) % 9;
            patch[k][tx] = py < 15 ? in[(c * 32 + 2 * py + r / 3) * 32 + 2 * px + r % 3] : 0;
        }
        for (int i = ty * 32 + tx; i < 384; i += 256) w[i / 24][i % 24] = weight[(o0 + i / 24) * 72 + k0 + i % 24];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 24; k++) {
            acc[0] += w[ty][k] * patch[k][tx];
            acc[1] += w[ty + 8][k] * patch[k][tx];
        }
        __syncthreads();
    }
    if (pixel < 225) {
        out[(o0 + ty) * 225 + pixel] = fmaxf(acc[0], 0);
        out[(o0 + ty + 8) * 225 + pixel] = fmaxf(acc[1], 0);
    }
}
//! avgpool_nhwc 28 64 | f16:100352:-2:2 | out f16:25088
// Means over 2 x 2 of 28 x 56 pixels with 64 channels in the last dimension, half2 each.
K avgpool_nhwc(const half2 *in, half2 *out)
{
    const int c = threadIdx.x % 32;
    for (int p = threadIdx.x / 32 + blockIdx.x * 14; p < blockIdx.x * 14 + 14; p += 2) {
        int x = p % 28, y = p / 28;
        const half2 *q = in + (2 * y * 56 + 2 * x) * 32 + c;
        half2 s = __hadd2(__hadd2(q[0], q[32]), __hadd2(q[56 * 32], q[57 * 32]));
        out[p * 32 + c] = __hmul2(s, __floats2half2_rn(0.25f, 0.25f));
    }
}
//! topk_rounds 64 128 | f32:65536:-4:4 | out f32:512 | out s32:512
// The eight best of 1,024 logits of a row: eight rounds of a block's maximum.
K topk_rounds(const float *logits, float *value, int *index)
{
    __shared__ float best[4];
    __shared__ int where[4];
    float v[8];
    int t = threadIdx.x;
#pragma unroll
    for (int k = 0; k < 8; k++) v[k] = logits[blockIdx.x * 1024 + k * 128 + t];
    for (int round = 0; round < 8; round++) {
        float m = v[0];
        int at = t;
#pragma unroll
        for (int k = 1; k < 8; k++)
            if (v[k] > m) m = v[k], at = k * 128 + t;
        for (int d = 16; d; d >>= 1) {
            float om = __shfl_xor_sync(~0u, m, d);
            int oa = __shfl_xor_sync(~0u, at, d);
            if (om > m || (om == m && oa < at)) m = om, at = oa;
        }
        if (t % 32 == 0) best[t / 32] = m, where[t / 32] = at;
        __syncthreads();
        m = best[0], at = where[0];
        for (int w = 1; w < 4; w++)
            if (best[w] > m || (best[w] == m && where[w] < at)) m = best[w], at = where[w];
        if (t == 0) value[blockIdx.x * 8 + round] = m, index[blockIdx.x * 8 + round] = at;
#pragma unroll
        for (int k = 0; k < 8; k++)
            if (at == k * 128 + t) v[k] = -1e30f;
        __syncthreads();
    }
}
//! dropout_add 50 256 | f32:51200:-1:1 | f32:51200:-1:1 | out f32:51200 | out u8:12800 | s u64 987654321 | s f32 0.2
// Four numbers of Philox for four elements; the mask is kept as bits.
K dropout_add(const float4 *x, const float4 *rest, float4 *y, uint8_t *mask, uint64_t seed, float p)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, c[4] = {i, 0, 0, 0}, k0 = (unsigned)seed, k1 = (unsigned)(seed >> 32);
#pragma unroll
    for (int r = 0; r < 10; r++, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
        unsigned h0 = __umulhi(0xD2511F53u, c[0]), l0 = 0xD2511F53u * c[0], h1 = __umulhi(0xCD9E8D57u, c[2]), l1 = 0xCD9E8D57u * c[2];
        c[0] = h1 ^ c[1] ^ k0, c[1] = l1, c[2] = h0 ^ c[3] ^ k1, c[3] = l0;
    }
    float4 a = x[i], b = rest[i];
    float scale = 1 / (1 - p), limit = p * 4294967296.0f, f[4];
    unsigned bits = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        bool keep = c[k] >= limit;
        f[k] = keep ? scale : 0;
        bits |= keep << k;
    }
    y[i] = make_float4(a.x * f[0] + b.x, a.y * f[1] + b.y, a.z * f[2] + b.z, a.w * f[3] + b.w);
    mask[i] = (uint8_t)bits;
}
//! dp4a_linear 16,8 64 | s8:16384 | s8:65536 | f32:256:0.001:0.01 | s32:256:-99:100 | out s8:16384
// 64 x 256 by 256 rows of weights; 32 bits of sums become 8 again.
K dp4a_linear(const int4 *x, const int4 *w, const float *scale, const int *bias, signed char *out)
{
    __shared__ int4 row[4][16];
    int t = threadIdx.x, r0 = blockIdx.x * 4, c = blockIdx.y * 32 + t % 32, half = t / 32;
    row[t / 16][t % 16] = x[(r0 + t / 16) * 16 + t % 16];
    __syncthreads();
    int acc[2] = {bias[c], bias[c]};
    for (int k = 0; k < 16; k++) {
        int4 b = w[c * 16 + k];
#pragma unroll
        for (int q = 0; q < 2; q++) {
            int4 a = row[half * 2 + q][k];
            acc[q] = __dp4a(a.x, b.x, acc[q]);
            acc[q] = __dp4a(a.y, b.y, acc[q]);
            acc[q] = __dp4a(a.z, b.z, acc[q]);
            acc[q] = __dp4a(a.w, b.w, acc[q]);
        }
    }
    for (int q = 0; q < 2; q++) out[(r0 + half * 2 + q) * 256 + c] = (signed char)min(max(__float2int_rn(acc[q] * scale[c] * 0.05f), -128), 127);
}
//! gru_cell 32 64 | f32:98304:-2:2 | f32:98304:-2:2 | inout f32:32768:-1:1
// The pointwise part of a gated recurrent unit: 128 rows of 256.
K gru_cell(const float *__restrict__ gi, const float *__restrict__ gh, float *__restrict__ h)
{
    for (int i = blockIdx.x * 64 + threadIdx.x; i < 32768; i += gridDim.x * 64) {
        int row = i / 256, c = i % 256, b = row * 768 + c;
        float r = 1 / (1 + __expf(-gi[b] - gh[b])), z = 1 / (1 + __expf(-gi[b + 256] - gh[b + 256])), n = tanhf(gi[b + 512] + r * gh[b + 512]);
        h[i] = (1 - z) * n + z * h[i];
    }
}
//! adam_bf16 60 256 | inout f32:60000:-1:1 | bf16:60000:-1:1 | inout f32:60000:-0.1:0.1 | inout f32:60000:0:0.1 | out bf16:60000 | s f32 0.001 | s s32 30000
// An optimiser's step: two weights a thread, gradients in bfloat16, weights in both precisions.
K adam_bf16(float2 *w, const __nv_bfloat162 *g, float2 *m, float2 *v, __nv_bfloat162 *lowp, float rate, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float2 gr = __bfloat1622float2(g[i]), a = m[i], b = v[i], p = w[i];
        a.x = 0.9f * a.x + 0.1f * gr.x, a.y = 0.9f * a.y + 0.1f * gr.y;
        b.x = 0.999f * b.x + 0.001f * gr.x * gr.x, b.y = 0.999f * b.y + 0.001f * gr.y * gr.y;
        p.x -= rate * (a.x / (sqrtf(b.x) + 1e-8f) + 0.01f * p.x), p.y -= rate * (a.y / (sqrtf(b.y) + 1e-8f) + 0.01f * p.y);
        m[i] = a, v[i] = b, w[i] = p;
        lowp[i] = __floats2bfloat162_rn(p.x, p.y);
    }
}
//! wmma_bf16_panel 6,4 64 | bf16:49152:-1:1 | bf16:98304:-1:1 | out f32:24576 | s s32 192 | s s32 384
// A block of two warps: 32 x 32 of C = A B^T; B is read as columns.
K wmma_bf16_panel(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c, int n, int k)
{
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[2];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> fb;
    int row = blockIdx.y * 32 + threadIdx.x / 32 * 16, col = blockIdx.x * 32;
    wmma::fill_fragment(acc[0], 0.0f);
    wmma::fill_fragment(acc[1], 0.0f);
    for (int i = 0; i < k; i += 16) {
        wmma::load_matrix_sync(fa, a + row * k + i, k);
        for (int j = 0; j < 2; j++) {
            wmma::load_matrix_sync(fb, b + (col + 16 * j) * k + i, k);
            wmma::mma_sync(acc[j], fa, fb, acc[j]);
        }
    }
    for (int j = 0; j < 2; j++) {
        for (int e = 0; e < acc[j].num_elements; e++) acc[j].x[e] = fmaxf(acc[j].x[e], 0.1f * acc[j].x[e]);
        wmma::store_matrix_sync(c + row * n + col + 16 * j, acc[j], n, wmma::mem_row_major);
    }
}
//! wmma_tf32_async 4,4 128 | f32:16384:-1:1 | f32:16384:-1:1 | out f32:16384 | s s32 128
// 32 x 32 a block, one 16 x 16 a warp, slices of 16 by cp.async, two deep; words become tf32 on the way to the fragments.
K wmma_tf32_async(const float *a, const float *b, float *c, int n)
{
    __shared__ __align__(32) float sa[2][32][20], sb[2][16][36];
    int t = threadIdx.x, w = t / 32, wr = w / 2 * 16, wc = w % 2 * 16;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> acc;
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fb;
    wmma::fill_fragment(acc, 0.0f);
    auto load = [&](int k, int s) {
        __pipeline_memcpy_async(&sa[s][t / 4][t % 4 * 4], a + (blockIdx.y * 32 + t / 4) * n + k + t % 4 * 4, 16);
        __pipeline_memcpy_async(&sb[s][t / 8][t % 8 * 4], b + (k + t / 8) * n + blockIdx.x * 32 + t % 8 * 4, 16);
        __pipeline_commit();
    };
    load(0, 0);
    for (int k = 0, s = 0; k < n; k += 16, s ^= 1) {
        if (k + 16 < n) load(k + 16, s ^ 1);
        __pipeline_wait_prior(k + 16 < n ? 1 : 0);
        __syncthreads();
        for (int j = 0; j < 16; j += 8) {
            wmma::load_matrix_sync(fa, &sa[s][wr][j], 20);
            wmma::load_matrix_sync(fb, &sb[s][j][wc], 36);
            for (int e = 0; e < fa.num_elements; e++) fa.x[e] = wmma::__float_to_tf32(fa.x[e]);
            for (int e = 0; e < fb.num_elements; e++) fb.x[e] = wmma::__float_to_tf32(fb.x[e]);
            wmma::mma_sync(acc, fa, fb, acc);
        }
        __syncthreads();
    }
    wmma::store_matrix_sync(c + (blockIdx.y * 32 + wr) * n + blockIdx.x * 32 + wc, acc, n, wmma::mem_row_major);
}
//! winograd_input 16 64 | f32:18496:-1:1 | out f32:65536
// F(2 x 2, 3 x 3): 4 x 4 patches of sixteen channels of 34 x 34 become sixteen planes.
K winograd_input(const float *in, float *out)
{
    const int c = blockIdx.x;
    for (int p = threadIdx.x; p < 256; p += 64) {
        float d[4][4], m[4][4];
        const float *q = in + c * 1156 + (p / 16 * 2) * 34 + p % 16 * 2;
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < 4; j++) d[i][j] = q[i * 34 + j];
#pragma unroll
        for (int j = 0; j < 4; j++) {
            m[0][j] = d[0][j] - d[2][j];
            m[1][j] = d[1][j] + d[2][j];
            m[2][j] = d[2][j] - d[1][j];
            m[3][j] = d[1][j] - d[3][j];
        }
#pragma unroll
        for (int i = 0; i < 4; i++) {
            out[((i * 4 + 0) * 16 + c) * 256 + p] = m[i][0] - m[i][2];
            out[((i * 4 + 1) * 16 + c) * 256 + p] = m[i][1] + m[i][2];
            out[((i * 4 + 2) * 16 + c) * 256 + p] = m[i][2] - m[i][1];
            out[((i * 4 + 3) * 16 + c) * 256 + p] = m[i][1] - m[i][3];
        }
    }
}
//! swiglu_half 22 320 | f16:45056:-4:4 | out f16:22528 | s s32 704
K swiglu_half(const half2 *in, half2 *out, int width)
{
    int n = width / 2, all = 32 * n;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < all; i += gridDim.x * blockDim.x) {
        int row = i / n, c = i % n;
        half2 gate = in[row * 2 * n + c], up = in[row * 2 * n + n + c];
        half2 one = __floats2half2_rn(1, 1), sig = h2rcp(__hadd2(one, h2exp(__hneg2(gate))));
        out[i] = __hmul2(__hmul2(gate, sig), up);
    }
}
//! route_tokens 4 256 | f32:8192:-2:2 | out s32:1024 | out f32:2048 | zero u32:8
// A mixture of eight experts: the two best of a token, their weights, and each expert's load by ballots.
K route_tokens(const float4 *logit, int *pick, float2 *weight, unsigned *load)
{
    int t = blockIdx.x * 256 + threadIdx.x, a = 0, b = -1;
    float4 u = logit[2 * t], v = logit[2 * t + 1];
    float e[8] = {u.x, u.y, u.z, u.w, v.x, v.y, v.z, v.w}, x = e[0], y = -1e30f;
#pragma unroll
    for (int k = 1; k < 8; k++) {
        if (e[k] > x) y = x, b = a, x = e[k], a = k;
        else if (e[k] > y) y = e[k], b = k;
    }
    float p = 1 / (1 + expf(y - x));
    pick[t] = a | b << 8;
    weight[t] = make_float2(p, 1 - p);
    for (int k = 0; k < 8; k++) {
        unsigned n = __popc(__ballot_sync(~0u, a == k)) + __popc(__ballot_sync(~0u, b == k));
        if (threadIdx.x % 32 == 0) atomicAdd(&load[k], n);
    }
}
