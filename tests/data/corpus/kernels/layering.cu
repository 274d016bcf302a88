// layering.cu - linear algebra, sparse, layers
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#define K extern "C" __global__ void

//! ldl_small_batch 20 64 | f64:46080:0:1 | out f64:46080
K ldl_small_batch(const double *in, double *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    double a[6][6];
#pragma unroll
    for (int r = 0; r < 6; r++)
#pragma unroll
        for (int c = 0; c < 6; c++) a[r][c] = in[i * 36 + (r > c ? r * 6 + c : c * 6 + r)] + (r == c ? 6.0 : 0.0);
#pragma unroll
    for (int k = 0; k < 6; k++) {
        double d = 1.0 / a[k][k];
#pragma unroll
        for (int r = k + 1; r < 6; r++) {
            double l = a[r][k] * d;
#pragma unroll
            for (int c = k + 1; c <= r; c++) a[r][c] -= l * a[c][k];
            a[r][k] = l;
        }
    }
#pragma unroll
    for (int r = 0; r < 6; r++)
#pragma unroll
        for (int c = 0; c < 6; c++) out[i * 36 + r * 6 + c] = a[r][c];
}

//! jacobi_eigen_3x3 20 64 | f32:7680:-1:1 | out f32:3840
K jacobi_eigen_3x3(const float *in, float *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float a[3][3];
    a[0][0] = in[6 * i]; a[1][1] = in[6 * i + 1]; a[2][2] = in[6 * i + 2];
    a[0][1] = in[6 * i + 3]; a[0][2] = in[6 * i + 4]; a[1][2] = in[6 * i + 5];
    for (int sweep = 0; sweep < 4; sweep++)
#pragma unroll
        for (int p = 0; p < 2; p++)
#pragma unroll
            for (int q = p + 1; q < 3; q++) {
                float apq = a[p][q];
                if (fabsf(apq) < 1e-9f) continue;
                float th = (a[q][q] - a[p][p]) / (2 * apq), t = (th >= 0 ? 1.0f : -1.0f) / (fabsf(th) + sqrtf(th * th + 1)), c = rsqrtf(t * t + 1), s = t * c;
                int r = 3 - p - q;
                float arp = r < p ? a[r][p] : a[p][r], arq = r < q ? a[r][q] : a[q][r];
                a[p][p] -= t * apq;
                a[q][q] += t * apq;
                a[p][q] = 0;
                float np = c * arp - s * arq, nq = s * arp + c * arq;
                if (r < p) a[r][p] = np; else a[p][r] = np;
                if (r < q) a[r][q] = nq; else a[q][r] = nq;
            }
    out[3 * i] = a[0][0]; out[3 * i + 1] = a[1][1]; out[3 * i + 2] = a[2][2];
}

//! gemm_tile_templated 4,4 16,16 | f32:16384:-1:1 | f32:16384:-1:1 | out f32:16384 | s s32 128
template <int T, int R> __device__ void gemm_tile(const float *A, const float *B, float *C, int n)
{
    __shared__ float sa[T * R][T + 1], sb[T][T * R];
    float acc[R][R] = {};
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * T * R, col = blockIdx.x * T * R;
    for (int k = 0; k < n; k += T) {
#pragma unroll
        for (int r = 0; r < R; r++) {
            sa[ty + r * T][tx] = A[(row + ty + r * T) * n + k + tx];
            sb[ty][tx + r * T] = B[(k + ty) * n + col + tx + r * T];
        }
        __syncthreads();
#pragma unroll
        for (int q = 0; q < T; q++)
#pragma unroll
            for (int r = 0; r < R; r++)
#pragma unroll
                for (int c = 0; c < R; c++) acc[r][c] += sa[ty + r * T][q] * sb[q][tx + c * T];
        __syncthreads();
    }
    for (int r = 0; r < R; r++)
        for (int c = 0; c < R; c++) C[(row + ty + r * T) * n + col + tx + c * T] = acc[r][c];
}
K gemm_tile_templated(const float *A, const float *B, float *C, int n) { gemm_tile<16, 2>(A, B, C, n); }

//! triangular_solve_warp 24 32 | f32:24576:-0.1:0.1 | inout f32:768:-1:1
K triangular_solve_warp(const float *L, float *x)
{
    const float *m = L + blockIdx.x * 1024;
    int t = threadIdx.x;
    float v = x[blockIdx.x * 32 + t];
    for (int k = 0; k < 32; k++) {
        float d = __shfl_sync(~0u, v, k) / (1.0f + m[k * 33]);
        if (t == k) v = d;
        else if (t > k) v -= m[t * 32 + k] * d;
    }
    x[blockIdx.x * 32 + t] = v;
}

//! spmv_ell_double 30 128 | f64:38400:-1:1 | s32:38400:0:3840 | f64:3840:-1:1 | out f64:3840 | s s32 3840 | s s32 10
K spmv_ell_double(const double *val, const int *col, const double *x, double *y, int rows, int width)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    double s = 0;
    for (int k = 0; k < width; k++) {
        int c = col[k * rows + r];
        if (c >= 0) s += val[k * rows + r] * x[c];
    }
    y[r] = s;
}

//! csr_warp_per_row 32 128 | f32:8192:-1:1 | s32:8192:0:2000 | f32:2000:-1:1 | out f32:512 | s s32 512
K csr_warp_per_row(const float *__restrict__ val, const int *__restrict__ col, const float *__restrict__ x, float *y, int rows)
{
    for (int row = (blockIdx.x * blockDim.x + threadIdx.x) / 64; row < rows; row += gridDim.x * blockDim.x / 64) {
        int lane = threadIdx.x & 31, b = row * 16 + (row * 7 & 3), e = row * 16 + 16 - (row & 3);
        float s = 0;
        for (int k = b + lane; k < e; k += 32) s += val[k] * __ldg(x + col[k]);
        for (int d = 16; d; d >>= 1) s += __shfl_down_sync(~0u, s, d);
        if (lane == 0) y[row] = s;
    }
}

//! layernorm_bf16 40 128 | bf16:20480:-1:1 | bf16:512:-1:1 | bf16:512:-1:1 | out bf16:20480
K layernorm_bf16(const __nv_bfloat16 *x, const __nv_bfloat16 *g, const __nv_bfloat16 *b, __nv_bfloat16 *y)
{
    __shared__ float sm[4], sq[4];
    int t = threadIdx.x;
    const uint2 raw = ((const uint2 *)(x + blockIdx.x * 512))[t];
    float2 u = __bfloat1622float2(*(const __nv_bfloat162 *)&raw.x), v = __bfloat1622float2(*(const __nv_bfloat162 *)&raw.y);
    float s = u.x + u.y + v.x + v.y, q = u.x * u.x + u.y * u.y + v.x * v.x + v.y * v.y;
#pragma unroll
    for (int d = 16; d; d /= 2) { s += __shfl_xor_sync(~0u, s, d); q += __shfl_xor_sync(~0u, q, d); }
    if ((t & 31) == 0) { sm[t >> 5] = s; sq[t >> 5] = q; }
    __syncthreads();
    s = sm[0] + sm[1] + sm[2] + sm[3];
    q = sq[0] + sq[1] + sq[2] + sq[3];
    float mean = s / 512, inv = rsqrtf(q / 512 - mean * mean + 1e-5f);
    float w[4] = {u.x, u.y, v.x, v.y};
#pragma unroll
    for (int k = 0; k < 4; k++)
        y[blockIdx.x * 512 + 4 * t + k] = __float2bfloat16((w[k] - mean) * inv * __bfloat162float(g[4 * t + k]) + __bfloat162float(b[4 * t + k]));
}

//! int8_dot_gemv 32 128 | s8:65536 | s8:512 | f32:128:0:1 | out f32:128
K int8_dot_gemv(const int8_t *w, const int8_t *x, const float *scale, float *y)
{
    int row = blockIdx.x * 4 + (threadIdx.x >> 5), lane = threadIdx.x & 31;
    const int4 *p = (const int4 *)(w + row * 512), *q = (const int4 *)x;
    int4 a = p[lane], b = q[lane];
    int s = __dp4a(a.x, b.x, __dp4a(a.y, b.y, __dp4a(a.z, b.z, __dp4a(a.w, b.w, 0))));
    s = __reduce_add_sync(~0u, s);
    if (lane == 0) y[row] = tanhf(s * scale[row] * 1e-3f);
}

//! fp8_dequant_scale 40 128 | u8:20480 | f32:160:0.5:2 | out f16:20480
K fp8_dequant_scale(const uint8_t *in, const float *scale, __half *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t v = ((const uint32_t *)in)[i];
    float s = scale[i / 32];
#pragma unroll
    for (int k = 0; k < 2; k++) {
        __half2_raw r = __nv_cvt_fp8x2_to_halfraw2((__nv_fp8x2_storage_t)(v >> 16 * k), __NV_E4M3);
        __half2 h = *(__half2 *)&r;
        ((__half2 *)out)[2 * i + k] = __hmul2(h, __float2half2_rn(s));
    }
}

//! gelu_dropout_half 40 128 | f16:20480:-3:3 | out f16:20480 | s u32 12345
K gelu_dropout_half(const __half2 *x, __half2 *y, uint32_t seed)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < 10240; i += gridDim.x * blockDim.x) {
        float2 v = __half22float2(x[i]);
        uint32_t h = (i ^ seed) * 0x9e3779b1u;
        h ^= h >> 16;
        auto gelu = [](float a) { return 0.5f * a * (1.0f + erff(a * 0.70710678f)); };
        float a = h & 1 ? gelu(v.x) * 1.25f : 0.0f, b = h & 2 ? gelu(v.y) * 1.25f : 0.0f;
        y[i] = __floats2half2_rn(a, b);
    }
}

//! attention_row_online 24 64 | f32:12288:-1:1 | f32:12288:-1:1 | f32:12288:-1:1 | out f32:12288
K attention_row_online(const float *Q, const float *Kk, const float *V, float *O)
{
    __shared__ float sk[16][8], sv[16][8];
    int t = threadIdx.x;
    float q[8], o[8] = {}, m = -1e30f, l = 0;
    const float *base = Q + (blockIdx.x * 64 + t) * 8;
    for (int d = 0; d < 8; d++) q[d] = base[d] * 0.35355339f;
    for (int blk = 0; blk < 4; blk++) {
        __syncthreads();
        for (int k = t; k < 128; k += 64) {
            sk[k / 8][k % 8] = Kk[blockIdx.x * 512 + blk * 128 + k];
            sv[k / 8][k % 8] = V[blockIdx.x * 512 + blk * 128 + k];
        }
        __syncthreads();
        for (int j = 0; j < 16; j++) {
            float s = 0;
            for (int d = 0; d < 8; d++) s += q[d] * sk[j][d];
            float nm = fmaxf(m, s), c = __expf(m - nm), p = __expf(s - nm);
            l = l * c + p;
            for (int d = 0; d < 8; d++) o[d] = o[d] * c + p * sv[j][d];
            m = nm;
        }
    }
    float inv = 1.0f / l;
    for (int d = 0; d < 8; d++) O[(blockIdx.x * 64 + t) * 8 + d] = o[d] * inv;
}

//! maxpool_argmax 4,4,6 8,8 | f32:24576:-1:1 | out f32:6144 | out u8:6144 | s s32 64 | s s32 64
K maxpool_argmax(const float *in, float *out, uint8_t *arg, int w, int h)
{
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, c = blockIdx.z;
    const float *p = in + c * w * h;
    float best = -INFINITY;
    int at = 0;
    for (int ky = 0; ky < 3; ky++)
        for (int kx = 0; kx < 3; kx++) {
            int yy = 2 * y - 1 + ky, xx = 2 * x - 1 + kx;
            if (yy < 0 || xx < 0 || yy >= h || xx >= w) continue;
            float v = p[yy * w + xx];
            if (v > best) { best = v; at = ky * 3 + kx; }
        }
    int i = (c * (h / 2) + y) * (w / 2) + x;
    out[i] = best;
    arg[i] = (uint8_t)at;
}

//! conv1d_dilated 8,16 128 | f32:16896:-1:1 | f32:160:-1:1 | f32:16:-1:1 | out f32:16384 | s s32 1056 | s s32 4
K conv1d_dilated(const float *in, const float *wt, const float *bias, float *out, int len, int dil)
{
    int x = blockIdx.x * 128 + threadIdx.x, o = blockIdx.y;
    float acc = bias[o];
#pragma unroll 2
    for (int c = 0; c < 2; c++)
        for (int k = 0; k < 5; k++) acc = fmaf(wt[(o * 2 + c) * 5 + k], in[((o + c * 3) & 15) * len + x + k * dil], acc);
    out[o * 1024 + x] = acc > 0 ? acc : 0.1f * acc;
}

//! adam_master_weights 40 128 | inout f32:5120:-1:1 | inout f32:5120:0:1 | inout f32:5120:0:1 | f16:5120:-1:1 | out f16:5120 | s f32 0.001 | s s32 3
struct adam { float lr, b1, b2, eps; };
K adam_master_weights(float *w, float *m, float *v, const __half *g, __half *w16, float lr, int step)
{
    adam a = {lr, 0.9f, 0.999f, 1e-8f};
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float gr = __half2float(g[i]), mm = a.b1 * m[i] + (1 - a.b1) * gr, vv = a.b2 * v[i] + (1 - a.b2) * gr * gr;
    float c1 = 1 - powf(a.b1, step), c2 = 1 - powf(a.b2, step);
    float nw = w[i] - a.lr * (mm / c1) / (sqrtf(vv / c2) + a.eps);
    m[i] = mm; v[i] = vv; w[i] = nw; w16[i] = __float2half(nw);
}

//! topk_heap_anew 20 64 | f32:81920:0:1 | out f32:10240
K topk_heap_anew(const float *in, float *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float h[8];
    const float *p = in + i;
#pragma unroll
    for (int k = 0; k < 8; k++) h[k] = -1;
    for (int k = 0; k < 64; k++) {
        float v = p[k * 1280];
        if (v <= h[7]) continue;
        h[7] = v;
#pragma unroll
        for (int j = 7; j > 0; j--)
            if (h[j] > h[j - 1]) { float s = h[j]; h[j] = h[j - 1]; h[j - 1] = s; }
    }
#pragma unroll
    for (int k = 0; k < 8; k++) out[i * 8 + k] = h[k];
}

//! embedding_bag 30 64 | f32:32000:-1:1 | s32:1920:0:500 | s32:31:0:64 | out f32:1920 | s s32 64
K embedding_bag(const float *table, const int *idx, const int *len, float *out, int dim)
{
    int bag = blockIdx.x, d = threadIdx.x, n = len[bag];
    const int *p = idx + bag * 64;
    float s = 0, mx = -INFINITY;
    for (int k = 0; k < n; k++) { float v = table[p[k] * dim + d]; s += v; mx = fmaxf(mx, v); }
    out[bag * dim + d] = n ? s / n + mx : 0.0f;
}
