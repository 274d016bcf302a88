/* layers.cu - what runs between the matrix products of language and image models. */
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cfloat>

template <typename T, int WARPS>
__device__ __forceinline__ T block_sum(T v)
{
    __shared__ T part[WARPS];
#pragma unroll
    for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffffu, v, o);
    if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = v;
    __syncthreads();
    v = threadIdx.x < WARPS ? part[threadIdx.x] : T(0);
    if (threadIdx.x < 32) {
#pragma unroll
        for (int o = WARPS / 2; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffffu, v, o);
        if (threadIdx.x == 0) part[0] = v;
    }
    __syncthreads();
    v = part[0];
    __syncthreads();
    return v;
}

//! groupnorm_silu 64 256 | f16:131072:-2:2 | f16:256:0.5:1.5 | f16:256:-0.5:0.5 | out f16:131072
// Eight channels of 16 x 16 a group, half precision in and out.
extern "C" __global__ void groupnorm_silu(const __half *__restrict__ x, const __half *__restrict__ w, const __half *__restrict__ b, __half *__restrict__ y)
{
    const int hw = 256, cg = 8, n = cg * hw;
    const __half *xg = x + blockIdx.x * n;
    float s = 0, q = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float v = __half2float(xg[i]);
        s += v;
        q += v * v;
    }
    s = block_sum<float, 8>(s);
    q = block_sum<float, 8>(q);
    float mean = s / n, rstd = rsqrtf(q / n - mean * mean + 1e-6f);
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int c = (blockIdx.x % 32) * cg + i / hw;
        float v = (__half2float(xg[i]) - mean) * rstd * __half2float(w[c]) + __half2float(b[c]);
        y[blockIdx.x * n + i] = __float2half(v / (1.0f + __expf(-v)));
    }
}

//! residual_rmsnorm 132 128 | bf16:135168:-2:2 | inout bf16:135168:-2:2 | bf16:1024:0.5:1.5 | out bf16:135168 | s f32 0.00001
// residual += x, then its rows of 1,024 are scaled; eight values at a time.
extern "C" __global__ void __launch_bounds__(128) residual_rmsnorm(const uint4 *x, uint4 *residual, const uint4 *weight, uint4 *out, float eps)
{
    union Pack {
        uint4 u;
        __nv_bfloat162 h[4];
    } a, r, w;
    const int i = blockIdx.x * 128 + threadIdx.x;
    a.u = x[i];
    r.u = residual[i];
    float f[8], sq = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        float2 p = __bfloat1622float2(a.h[k]), q = __bfloat1622float2(r.h[k]);
        f[2 * k] = p.x + q.x;
        f[2 * k + 1] = p.y + q.y;
        sq += f[2 * k] * f[2 * k] + f[2 * k + 1] * f[2 * k + 1];
        r.h[k] = __floats2bfloat162_rn(f[2 * k], f[2 * k + 1]);
    }
    residual[i] = r.u;
    float scale = rsqrtf(block_sum<float, 4>(sq) / 1024.0f + eps);
    w.u = weight[threadIdx.x];
#pragma unroll
    for (int k = 0; k < 4; k++) {
        float2 g = __bfloat1622float2(w.h[k]);
        a.h[k] = __floats2bfloat162_rn(f[2 * k] * scale * g.x, f[2 * k + 1] * scale * g.y);
    }
    out[i] = a.u;
}

//! online_softmax_odd 70 128 | f32:70070:-6:6 | out f32:70070
// Rows of 1,001 in one reading: maximum and sum go together.
struct __align__(8) MD {
    float m, d;
};
__device__ __forceinline__ MD merge(MD a, MD b)
{
    bool bigger = a.m > b.m;
    MD hi = bigger ? a : b, lo = bigger ? b : a, r;
    r.d = hi.d + lo.d * __expf(lo.m - hi.m);
    r.m = hi.m;
    return r;
}
extern "C" __global__ void online_softmax_odd(const float *__restrict__ x, float *__restrict__ y)
{
    __shared__ MD part[4];
    const float *row = x + blockIdx.x * 1001;
    MD p = {-FLT_MAX, 0.0f};
    for (int i = threadIdx.x; i < 1001; i += 128) p = merge(p, MD{row[i], 1.0f});
    for (int o = 16; o; o /= 2) {
        MD q = {__shfl_down_sync(~0u, p.m, o), __shfl_down_sync(~0u, p.d, o)};
        p = merge(p, q);
    }
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = p;
    __syncthreads();
    p = merge(merge(part[0], part[1]), merge(part[2], part[3]));
    float inv = __fdividef(1.0f, p.d);
    for (int i = threadIdx.x; i < 1001; i += 128) y[blockIdx.x * 1001 + i] = __expf(row[i] - p.m) * inv;
}

//! gelu_backward 150 256 | f32:76800:-4:4 | f32:76800:-1:1 | out f32:76800
extern "C" __global__ void gelu_backward(const float2 *x, const float2 *dy, float2 *dx)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float2 v = x[i], g = dy[i], r;
    auto one = [](float u, float up) {
        const float kBeta = 0.79788456f, kKappa = 0.044715f;
        float inner = kBeta * (u + kKappa * u * u * u), t = tanhf(inner);
        float left = 0.5f * u, right = 1 + t, dinner = kBeta * (1 + 3 * kKappa * u * u);
        return up * (0.5f * right + left * (1 - t * t) * dinner);
    };
    r.x = one(v.x, g.x);
    r.y = one(v.y, g.y);
    dx[i] = r;
}

//! rope_cache_gqa 40 64 | inout bf16:20480:-1:1 | inout bf16:5120:-1:1 | s32:40:0:64 | f32:4096:-1:1
// Rotates eight heads of queries and two of keys of a token; cosines and sines come from a table by place.
extern "C" __global__ void rope_cache_gqa(__nv_bfloat16 *q, __nv_bfloat16 *k, const int *positions, const float *cache)
{
    const int dim = 64, half = 32;
    int token = blockIdx.x;
    const float *cs = cache + positions[token] * dim;
    for (int i = threadIdx.x; i < 8 * half; i += blockDim.x) {
        int head = i / half, d = i % half;
        __nv_bfloat16 *p = q + (token * 8 + head) * dim;
        float c = cs[d], s = cs[half + d], x = __bfloat162float(p[d]), y = __bfloat162float(p[d + half]);
        p[d] = __float2bfloat16(x * c - y * s);
        p[d + half] = __float2bfloat16(y * c + x * s);
    }
    for (int i = threadIdx.x; i < 2 * half; i += blockDim.x) {
        int head = i / half, d = i % half;
        __nv_bfloat16 *p = k + (token * 2 + head) * dim;
        float c = cs[d], s = cs[half + d], x = __bfloat162float(p[d]), y = __bfloat162float(p[d + half]);
        p[d] = __float2bfloat16(x * c - y * s);
        p[d + half] = __float2bfloat16(y * c + x * s);
    }
}

//! paged_decode 8,2 128 | f16:1024:-1:1 | f16:65536:-1:1 | f16:65536:-1:1 | s32:128:0:64 | s32:2:100:256 | out f16:1024 | s f32 0.125
// One new token of two sequences: keys and values lie in pages of 16 tokens; a warp takes every fourth token, then the warps merge.
extern "C" __global__ void paged_decode(const __half *q, const __half2 *kc, const __half2 *vc, const int *tables, const int *lens, __half *out, float scale)
{
    __shared__ float sm[4], sl[4], so[4][64];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, head = blockIdx.x, seq = blockIdx.y, len = lens[seq];
    float2 qv = __half22float2(((const __half2 *)q)[(seq * 8 + head) * 32 + lane]);
    float m = -INFINITY, l = 0;
    float2 acc = {0, 0};
    for (int t = warp; t < len; t += 4) {
        int page = tables[seq * 16 % 128 + t / 16], slot = (page * 16 + t % 16) * 32 + lane;
        float2 kv = __half22float2(kc[slot]);
        float s = qv.x * kv.x + qv.y * kv.y;
        for (int o = 16; o > 0; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
        s *= scale;
        float mn = fmaxf(m, s), f = __expf(m - mn), p = __expf(s - mn);
        float2 vv = __half22float2(vc[slot]);
        acc.x = acc.x * f + p * vv.x;
        acc.y = acc.y * f + p * vv.y;
        l = l * f + p;
        m = mn;
    }
    if (lane == 0) sm[warp] = m, sl[warp] = l;
    so[warp][2 * lane] = acc.x;
    so[warp][2 * lane + 1] = acc.y;
    __syncthreads();
    if (threadIdx.x < 64) {
        float mm = fmaxf(fmaxf(sm[0], sm[1]), fmaxf(sm[2], sm[3])), num = 0, den = 0;
        for (int w = 0; w < 4; w++) {
            float f = __expf(sm[w] - mm);
            num += so[w][threadIdx.x] * f;
            den += sl[w] * f;
        }
        out[(seq * 8 + head) * 64 + threadIdx.x] = __float2half(num / den);
    }
}

//! gemv_int4_zeros 64 32,4 | u32:65536 | f16:4096:0.01:0.02 | u32:512 | f16:2048:-1:1 | out f16:256
// 256 rows of 2,048 weights of four bits, groups of 128 with a scale and a zero each; a warp a row.
extern "C" __global__ void gemv_int4_zeros(const uint4 *__restrict__ w, const __half *__restrict__ scales, const uint32_t *__restrict__ zeros,
                                           const uint4 *__restrict__ x, __half *__restrict__ y)
{
    int row = blockIdx.x * 4 + threadIdx.y, lane = threadIdx.x;
    float sum = 0;
#pragma unroll
    for (int it = 0; it < 2; it++) {
        int idx = it * 32 + lane, g = idx / 4;
        uint4 q = w[row * 64 + idx];
        float sc = __half2float(scales[row * 16 + g]), z = (float)(zeros[row * 2 + g / 8] >> (g % 8 * 4) & 15), part = 0;
        const uint32_t *qs = &q.x;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            uint4 xv = x[idx * 4 + k];
            const __half2 *xh = (const __half2 *)&xv;
#pragma unroll
            for (int j = 0; j < 4; j++) {
                float2 f = __half22float2(xh[j]);
                part += ((float)(qs[k] >> (8 * j) & 15) - z) * f.x;
                part += ((float)(qs[k] >> (8 * j + 4) & 15) - z) * f.y;
            }
        }
        sum += part * sc;
    }
#pragma unroll
    for (int o = 16; o; o >>= 1) sum += __shfl_down_sync(~0u, sum, o);
    if (lane == 0) y[row] = __float2half_rn(sum);
}

//! gemv_int8_rows 48 128 | f32:1024:-3:3 | s8:196608 | f32:192:0.001:0.01 | out f32:192
// The activations are quantised by each block for itself, then four rows of weights are multiplied, four bytes at a time.
extern "C" __global__ void gemv_int8_rows(const float4 *x, const int *w, const float *ws, float *y)
{
    __shared__ int xq[256];
    __shared__ float amax[4];
    int t = threadIdx.x;
    float4 v[2] = {x[t], x[t + 128]};
    float m = 0;
    for (int k = 0; k < 2; k++) m = fmaxf(m, fmaxf(fmaxf(fabsf(v[k].x), fabsf(v[k].y)), fmaxf(fabsf(v[k].z), fabsf(v[k].w))));
    for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
    if (t % 32 == 0) amax[t / 32] = m;
    __syncthreads();
    m = fmaxf(fmaxf(amax[0], amax[1]), fmaxf(amax[2], amax[3]));
    float inv = 127.0f / m;
    for (int k = 0; k < 2; k++) {
        char4 c = make_char4(__float2int_rn(v[k].x * inv), __float2int_rn(v[k].y * inv), __float2int_rn(v[k].z * inv), __float2int_rn(v[k].w * inv));
        xq[t + 128 * k] = *(int *)&c;
    }
    __syncthreads();
    int row = blockIdx.x * 4 + t / 32, acc = 0;
    for (int k = t % 32; k < 256; k += 32) acc = __dp4a(w[row * 256 + k], xq[k], acc);
    acc = __reduce_add_sync(~0u, acc);
    if (t % 32 == 0) y[row] = acc * ws[row] * (m / 127.0f);
}

//! batchnorm_relu6 196 192 | f32:150528:-4:4 | f32:48:-1:1 | f32:48:0.1:2 | f32:48:0.5:1.5 | f32:48:-1:1 | out f32:150528 | s s32 150528
// Inference, channels outside pixels: 48 x 56 x 56.
extern "C" __global__ void batchnorm_relu6(const float *x, const float *mean, const float *var, const float *gamma, const float *beta, float *y, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int c = i / (56 * 56) % 48;
        float v = (x[i] - mean[c]) / sqrtf(var[c] + 1e-5f) * gamma[c] + beta[c];
        y[i] = fminf(fmaxf(v, 0.f), 6.f);
    }
}

//! nucleus_sample 12 256 | f32:12288:-3:6 | f32:12:0:1 | out s32:12 | out f32:12 | s f32 0.9
// Twenty halvings find the least probability that still counts; the token is where the kept probabilities reach a random share.
extern "C" __global__ void nucleus_sample(const float *logits, const float *uniform, int *token, float *kept, float top_p)
{
    __shared__ float s_red[8], s_pref[256];
    __shared__ int s_tok;
    int t = threadIdx.x;
    float p[4], m = -1e30f, s = 0;
    for (int k = 0; k < 4; k++) {
        p[k] = logits[blockIdx.x * 1024 + t * 4 + k];
        m = fmaxf(m, p[k]);
    }
    for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
    if (t % 32 == 0) s_red[t / 32] = m;
    __syncthreads();
    m = s_red[0];
    for (int i = 1; i < 8; i++) m = fmaxf(m, s_red[i]);
    for (int k = 0; k < 4; k++) {
        p[k] = __expf(p[k] - m);
        s += p[k];
    }
    __syncthreads();
    s = block_sum<float, 8>(s);
    for (int k = 0; k < 4; k++) p[k] /= s;
    float lo = 0, hi = 1;
    for (int it = 0; it < 20; it++) {
        float mid = 0.5f * (lo + hi), part = 0;
        for (int k = 0; k < 4; k++) part += p[k] >= mid ? p[k] : 0;
        part = block_sum<float, 8>(part);
        if (part >= top_p)
            lo = mid;
        else
            hi = mid;
    }
    float mine = 0;
    for (int k = 0; k < 4; k++) mine += p[k] >= lo ? p[k] : 0;
    s_pref[t] = mine;
    if (t == 0) s_tok = 1024;
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        float v = t >= d ? s_pref[t - d] : 0;
        __syncthreads();
        s_pref[t] += v;
        __syncthreads();
    }
    float total = s_pref[255], want = uniform[blockIdx.x] * total, run = t ? s_pref[t - 1] : 0;
    for (int k = 0; k < 4; k++)
        if (p[k] >= lo) {
            run += p[k];
            if (run > want) {
                atomicMin(&s_tok, t * 4 + k);
                break;
            }
        }
    __syncthreads();
    if (t == 0) {
        token[blockIdx.x] = s_tok;
        kept[blockIdx.x] = total;
    }
}

#define CUDA_KERNEL_LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)
//! im2col_classic 6 512 | s s32 3136 | f32:12544:-1:1 | s s32 28 | s s32 28 | s s32 3 | s s32 1 | s s32 1 | s s32 14 | s s32 14 | out f32:28224
extern "C" __global__ void im2col_classic(int n, const float *data_im, int height, int width, int ksize, int pad, int stride_less, int height_col,
                                          int width_col, float *data_col)
{
    int stride = stride_less + 1;
    CUDA_KERNEL_LOOP(index, n)
    {
        int w_out = index % width_col;
        int h_index = index / width_col;
        int h_out = h_index % height_col;
        int channel_in = h_index / height_col;
        int channel_out = channel_in * ksize * ksize;
        int h_in = h_out * stride - pad;
        int w_in = w_out * stride - pad;
        float *col = data_col + (channel_out * height_col + h_out) * width_col + w_out;
        const float *im = data_im + (channel_in * height + h_in) * width + w_in;
        for (int i = 0; i < ksize; ++i)
            for (int j = 0; j < ksize; ++j) {
                int h = h_in + i, w = w_in + j;
                *col = (h >= 0 && w >= 0 && h < height && w < width) ? im[i * width + j] : 0;
                col += height_col * width_col;
            }
    }
}

//! winograd_output_f43 18 128 | f32:82944:-1:1 | f32:32:-1:1 | out f32:36864
// Transforms 6 x 6 products back into 4 x 4 outputs with bias and a leaky step.
extern "C" __global__ void winograd_output_f43(const float *__restrict__ m, const float *__restrict__ bias, float *__restrict__ y)
{
    const int n = 2304;
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    float a[6][6], r[4][6];
#pragma unroll
    for (int i = 0; i < 6; i++)
#pragma unroll
        for (int j = 0; j < 6; j++) a[i][j] = m[(i * 6 + j) * n + t];
#pragma unroll
    for (int j = 0; j < 6; j++) {
        float s1 = a[1][j] + a[2][j], d1 = a[1][j] - a[2][j], s2 = a[3][j] + a[4][j], d2 = a[3][j] - a[4][j];
        r[0][j] = a[0][j] + s1 + s2;
        r[1][j] = d1 + 2 * d2;
        r[2][j] = s1 + 4 * s2;
        r[3][j] = d1 + 8 * d2 + a[5][j];
    }
    float b = bias[t % 32];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        float s1 = r[i][1] + r[i][2], d1 = r[i][1] - r[i][2], s2 = r[i][3] + r[i][4], d2 = r[i][3] - r[i][4];
        float o[4] = {r[i][0] + s1 + s2 + b, d1 + 2 * d2 + b, s1 + 4 * s2 + b, d1 + 8 * d2 + r[i][5] + b};
#pragma unroll
        for (int j = 0; j < 4; j++) o[j] = o[j] > 0 ? o[j] : 0.1f * o[j];
        *(float4 *)(y + t * 16 + i * 4) = make_float4(o[0], o[1], o[2], o[3]);
    }
}

//! depthwise_nhwc_5x5 7,7,2 32,8 | f16:200704:-1:1 | f16:1600:-1:1 | out f16:200704
// 28 x 28 pixels of 64 channels, two a thread, border zero, four pixels a block each way.
extern "C" __global__ void depthwise_nhwc_5x5(const __half2 *in, const __half2 *w, __half2 *out)
{
    const int c = threadIdx.x, img = blockIdx.z * 2;
    for (int p = threadIdx.y; p < 16; p += 8) {
        int x = blockIdx.x * 4 + p % 4, y = blockIdx.y * 4 + p / 4;
        for (int b = img; b < img + 2; b++) {
            __half2 acc = __float2half2_rn(0.f);
            for (int ky = 0; ky < 5; ky++) {
                int yy = y + ky - 2;
                if (yy < 0 || yy >= 28) continue;
#pragma unroll
                for (int kx = 0; kx < 5; kx++) {
                    int xx = x + kx - 2;
                    if (xx >= 0 && xx < 28) acc = __hfma2(in[((b * 28 + yy) * 28 + xx) * 32 + c], w[(ky * 5 + kx) * 32 + c], acc);
                }
            }
            out[((b * 28 + y) * 28 + x) * 32 + c] = acc;
        }
    }
}

//! adam_blockwise8 24 256 | inout f32:24576:-1:1 | f32:24576:-0.1:0.1 | inout u8:24576 | inout f32:96:0.001:0.01 | f32:256:0:1 | s f32 0.001 | s f32 0.9
// The moment is kept in bytes: a table of values and a scale a block of 256.
extern "C" __global__ void adam_blockwise8(float *p, const float *g, unsigned char *state, float *absmax, const float *map0, float lr, float beta)
{
    __shared__ float map[256], wmax[8];
    int t = threadIdx.x;
    map[t] = (t - 127.5f + map0[t]) / 129.0f;
    __syncthreads();
    for (int b = blockIdx.x; b < 96; b += gridDim.x) {
        int i = b * 256 + t;
        float s = map[state[i]] * absmax[b], grad = g[i];
        s = beta * s + (1 - beta) * grad;
        p[i] -= lr * (s > 0 ? 1.0f : s < 0 ? -1.0f : 0.0f) + lr * 0.01f * p[i];
        float m = fabsf(s);
        for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
        if (t % 32 == 0) wmax[t / 32] = m;
        __syncthreads();
        m = wmax[t % 8];
        for (int o = 4; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
        float want = s / m;
        int at = 0;
        for (int step = 128; step; step >>= 1)
            if (at + step < 256 && map[at + step] <= want) at += step;
        if (at < 255 && map[at + 1] - want < want - map[at]) at++;
        state[i] = (unsigned char)at;
        if (t == 0) absmax[b] = m;
        __syncthreads();
    }
}

//! fp8_rows_cast 90 96 | bf16:69120:-9:9 | out u8:69120 | out f32:90
// Each row of 768 is scaled so that its largest becomes 448, then stored as e4m3.
extern "C" __global__ void fp8_rows_cast(const __nv_bfloat162 *x, uint32_t *q, float *scale)
{
    __shared__ float warpmax[3];
    float2 v[4];
    float m = 0;
    int t = threadIdx.x;
    for (int k = 0; k < 2; k++) {
        v[2 * k] = __bfloat1622float2(x[blockIdx.x * 384 + 2 * (t + 96 * k)]);
        v[2 * k + 1] = __bfloat1622float2(x[blockIdx.x * 384 + 2 * (t + 96 * k) + 1]);
    }
    for (int k = 0; k < 4; k++) m = fmaxf(m, fmaxf(fabsf(v[k].x), fabsf(v[k].y)));
    m = __uint_as_float(__reduce_max_sync(~0u, __float_as_uint(m)));
    if (t % 32 == 0) warpmax[t / 32] = m;
    __syncthreads();
    m = fmaxf(fmaxf(warpmax[0], warpmax[1]), warpmax[2]);
    float s = fmaxf(m, 1e-12f) / 448.0f, inv = 1.0f / s;
    if (t == 0) scale[blockIdx.x] = s;
    for (int k = 0; k < 2; k++) {
        __nv_fp8x4_e4m3 o(make_float4(v[2 * k].x * inv, v[2 * k].y * inv, v[2 * k + 1].x * inv, v[2 * k + 1].y * inv));
        q[blockIdx.x * 192 + t + 96 * k] = o.__x;
    }
}

//! smooth_cross_entropy 100 128 | f16:100000:-4:4 | s32:100:0:1000 | out f32:100 | out f16:100000 | s f32 0.1
// Loss and gradient of rows of 1,000 logits with label smoothing; row read twice more from the cache.
extern "C" __global__ void smooth_cross_entropy(const __half *logits, const int *label, float *loss, __half *grad, float smooth)
{
    __shared__ float red[4];
    const __half *x = logits + blockIdx.x * 1000;
    float m = -INFINITY, s = 0, all = 0;
    for (int i = threadIdx.x; i < 1000; i += 128) m = fmaxf(m, __half2float(x[i]));
    for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
    if (threadIdx.x % 32 == 0) red[threadIdx.x / 32] = m;
    __syncthreads();
    m = fmaxf(fmaxf(red[0], red[1]), fmaxf(red[2], red[3]));
    for (int i = threadIdx.x; i < 1000; i += 128) {
        float v = __half2float(x[i]);
        s += expf(v - m);
        all += v;
    }
    s = block_sum<float, 4>(s);
    all = block_sum<float, 4>(all);
    float lse = m + logf(s);
    int y = label[blockIdx.x];
    if (threadIdx.x == 0) loss[blockIdx.x] = (1 - smooth) * (lse - __half2float(x[y])) + smooth * (lse - all / 1000);
    for (int i = threadIdx.x; i < 1000; i += 128) {
        float p = expf(__half2float(x[i]) - lse) - smooth / 1000 - (i == y ? 1 - smooth : 0.0f);
        grad[blockIdx.x * 1000 + i] = __float2half(p);
    }
}

//! gate_two_experts 20 128 | f32:40960:-2:2 | out s32:5120 | out f32:5120 | zero s32:16
// A thread a token: the best two of sixteen, their weights, and how many tokens each expert got.
extern "C" __global__ void gate_two_experts(const float *logits, int *expert, float *weight, int *count)
{
    __shared__ int mine[16];
    if (threadIdx.x < 16) mine[threadIdx.x] = 0;
    __syncthreads();
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    float best = -INFINITY, next = -INFINITY, v[16];
    int bi = 0, ni = 0;
#pragma unroll
    for (int e = 0; e < 16; e++) {
        v[e] = logits[t * 16 + e];
        if (v[e] > best)
            next = best, ni = bi, best = v[e], bi = e;
        else if (v[e] > next)
            next = v[e], ni = e;
    }
    float w = 1.0f / (1.0f + __expf(next - best));
    expert[2 * t] = bi;
    expert[2 * t + 1] = ni;
    weight[2 * t] = w;
    weight[2 * t + 1] = 1.0f - w;
    atomicAdd(&mine[bi], 1);
    atomicAdd(&mine[ni], 1);
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(&count[threadIdx.x], mine[threadIdx.x]);
}

//! lstm_pointwise 33 192 | f32:50688:-3:3 | inout f32:12672:-1:1 | out f32:12672 | s s32 6336 | s s32 2
__device__ __forceinline__ float sigmoidf(float x) { return 1.0f / (1.0f + expf(-x)); }
extern "C" __global__ void lstm_pointwise(const float *gates, float *c, float *h, int hidden, int batch)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= hidden) return;
    for (int b = 0; b < batch; ++b) {
        const float *g = gates + (size_t)b * 4 * hidden;
        float i = sigmoidf(g[j]), f = sigmoidf(g[hidden + j]), o = sigmoidf(g[3 * hidden + j]);
        float a = tanhf(g[2 * hidden + j]);
        float cn = f * c[b * hidden + j] + i * a;
        c[b * hidden + j] = cn;
        h[b * hidden + j] = o * tanhf(cn);
    }
}

//! suppress_boxes 6,6 64 | f32:1536:0:100 | out u64:2304 | s f32 0.3
// The bits of boxes that overlap one too much, sixty-four by sixty-four; the boxes are in order of score.
extern "C" __global__ void suppress_boxes(const float4 *raw, unsigned long long *mask, float threshold)
{
    __shared__ float4 col[64];
    int cb = blockIdx.x, rb = blockIdx.y, t = threadIdx.x;
    float4 b = raw[cb * 64 + t];
    col[t] = make_float4(b.x, b.y, b.x + b.z * 0.3f + 5, b.y + b.w * 0.3f + 5);
    __syncthreads();
    b = raw[rb * 64 + t];
    float4 a = make_float4(b.x, b.y, b.x + b.z * 0.3f + 5, b.y + b.w * 0.3f + 5);
    float sa = (a.z - a.x) * (a.w - a.y);
    unsigned long long bits = 0;
    for (int i = rb == cb ? t + 1 : 0; i < 64; i++) {
        float4 c = col[i];
        float w = fmaxf(fminf(a.z, c.z) - fmaxf(a.x, c.x), 0.f), h = fmaxf(fminf(a.w, c.w) - fmaxf(a.y, c.y), 0.f);
        float inter = w * h, sc = (c.z - c.x) * (c.w - c.y);
        if (inter / (sa + sc - inter) > threshold) bits |= 1ULL << i;
    }
    mask[(rb * 64 + t) * 6 + cb] = rb <= cb ? bits : 0;
}

//! upsample_transpose_conv 10,10,4 12,12 | f32:28800:-1:1 | f32:2048:-1:1 | out f32:57600
// A transposed convolution: kernel of 4 x 4, stride two, eight channels of 60 x 60 in, four out.
extern "C" __global__ void upsample_transpose_conv(const float *in, const float *w, float *out)
{
    int ox = blockIdx.x * 12 + threadIdx.x, oy = blockIdx.y * 12 + threadIdx.y, oc = blockIdx.z;
    float acc = 0;
    for (int ic = 0; ic < 8; ic++)
        for (int ky = (oy + 1) & 1; ky < 4; ky += 2) {
            int iy = (oy + 1 - ky) / 2;
            if (iy < 0 || iy >= 60) continue;
            for (int kx = (ox + 1) & 1; kx < 4; kx += 2) {
                int ix = (ox + 1 - kx) / 2;
                if (ix < 0 || ix >= 60) continue;
                acc += in[(ic * 60 + iy) * 60 + ix] * w[((ic * 4 + oc) * 4 + ky) * 4 + kx];
            }
        }
    out[(oc * 120 + oy) * 120 + ox] = acc;
}
