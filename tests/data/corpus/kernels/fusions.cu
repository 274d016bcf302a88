/* fusions.cu - what a network's layers become when they are fused: normalisation, softmax, attention, optimisers, quantisation, in floats, halves and bf16. */
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define K extern "C" __global__ void

__device__ __forceinline__ float warp_sum(float v)
{
    for (int d = 16; d; d /= 2) v += __shfl_xor_sync(~0u, v, d);
    return v;
}
__device__ __forceinline__ float warp_max(float v)
{
    for (int d = 16; d; d /= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, d));
    return v;
}
template <int W> __device__ float block_sum(float v)
{
    __shared__ float s[W];
    v = warp_sum(v);
    __syncthreads();
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
    __syncthreads();
    v = 0;
    for (int i = 0; i < W; i++) v += s[i];
    return v;
}

//! bias_gelu_residual_fused 66 256 | f32:67584:-2:2 | f32:512:-1:1 | f32:67584:-2:2 | out f32:67584
K bias_gelu_residual_fused(const float4 *x, const float4 *bias, const float4 *res, float4 *y)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float4 v = x[i], b = bias[i % 128], r = res[i], o;
    auto g = [](float u) { return 0.5f * u * (1 + erff(u * 0.70710678f)); };
    o.x = g(v.x + b.x) + r.x;
    o.y = g(v.y + b.y) + r.y;
    o.z = g(v.z + b.z) + r.z;
    o.w = g(v.w + b.w) + r.w;
    y[i] = o;
}

//! layernorm_two_passes_block 132 128 | f32:67584:-3:3 | f32:512 | f32:512 | out f32:67584
K layernorm_two_passes_block(const float *x, const float *g, const float *b, float *y)
{
    const float *row = x + blockIdx.x * 512;
    float v[4], s = 0, q = 0;
    for (int i = 0; i < 4; i++) s += v[i] = row[threadIdx.x + i * 128];
    float mean = block_sum<4>(s) / 512;
    for (int i = 0; i < 4; i++) q += (v[i] - mean) * (v[i] - mean);
    float r = rsqrtf(block_sum<4>(q) / 512 + 1e-5f);
    for (int i = 0; i < 4; i++) {
        int c = threadIdx.x + i * 128;
        y[blockIdx.x * 512 + c] = (v[i] - mean) * r * g[c] + b[c];
    }
}

//! layernorm_input_gradient 132 64 | f32:33792:-2:2 | f32:33792:-1:1 | f32:256 | out f32:33792
K layernorm_input_gradient(const float *x, const float *dy, const float *g, float *dx)
{
    int r = blockIdx.x;
    float v[4], w[4], s = 0, q = 0, a = 0, c = 0;
    for (int i = 0; i < 4; i++) {
        int j = threadIdx.x + i * 64;
        v[i] = x[r * 256 + j];
        w[i] = dy[r * 256 + j] * g[j];
        s += v[i];
        q += v[i] * v[i];
    }
    float mean = block_sum<2>(s) / 256, var = block_sum<2>(q) / 256 - mean * mean, rs = rsqrtf(var + 1e-5f);
    for (int i = 0; i < 4; i++) {
        v[i] = (v[i] - mean) * rs;
        a += w[i];
        c += w[i] * v[i];
    }
    a = block_sum<2>(a) / 256;
    c = block_sum<2>(c) / 256;
    for (int i = 0; i < 4; i++) dx[r * 256 + threadIdx.x + i * 64] = rs * (w[i] - a - v[i] * c);
}

//! layernorm_then_linear_row 66 128 | f32:8448:-1:1 | f32:16384:-1:1 | f32:128 | out f32:8448
// A row is normalised in shared memory and multiplied by a small matrix at once.
K layernorm_then_linear_row(const float *x, const float *W, const float *bias, float *y)
{
    __shared__ float n[128];
    int t = threadIdx.x;
    float v = x[blockIdx.x * 128 + t], mean = block_sum<4>(v) * (1.0f / 128), d = v - mean, var = block_sum<4>(d * d) * (1.0f / 128);
    n[t] = d * rsqrtf(var + 1e-6f);
    __syncthreads();
    float acc = bias[t];
    for (int k = 0; k < 128; k++) acc += n[k] * W[k * 128 + t];
    y[blockIdx.x * 128 + t] = acc > 0 ? acc : 0;
}

//! softmax_of_half_pairs_a_warp 66 128 | f16:67584:-8:8 | out f16:67584
K softmax_of_half_pairs_a_warp(const __half2 *x, __half2 *y)
{
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    __half2 v[4], m = __float2half2_rn(-60000.0f);
    for (int i = 0; i < 4; i++) m = __hmax2(m, v[i] = x[row * 128 + lane + i * 32]);
    float top = warp_max(fmaxf(__low2float(m), __high2float(m))), s = 0;
    float2 e[4];
    for (int i = 0; i < 4; i++) {
        float2 f = __half22float2(v[i]);
        e[i] = make_float2(__expf(f.x - top), __expf(f.y - top));
        s += e[i].x + e[i].y;
    }
    s = 1 / warp_sum(s);
    for (int i = 0; i < 4; i++) y[row * 128 + lane + i * 32] = __floats2half2_rn(e[i].x * s, e[i].y * s);
}

//! softmax_masked_by_lengths 44 96 | f32:25344:-4:4 | s32:132:1:193 | out f32:25344
K softmax_masked_by_lengths(const float *x, const int *len, float *y)
{
    int row = blockIdx.x * 3 + threadIdx.x / 32, lane = threadIdx.x % 32, n = len[row];
    const float *p = x + row * 192;
    float m = -INFINITY, s = 0;
    for (int i = lane; i < n; i += 32) m = fmaxf(m, p[i]);
    m = warp_max(m);
    for (int i = lane; i < n; i += 32) s += expf(p[i] - m);
    s = warp_sum(s);
    for (int i = lane; i < 192; i += 32) y[row * 192 + i] = i < n ? expf(p[i] - m) / s : 0;
}

//! entropy_of_rows_and_gradient 66 64 | f32:67584:-5:5 | u32:66:0:1024 | out f32:66 | out f32:67584
K entropy_of_rows_and_gradient(const float *logits, const uint32_t *target, float *loss, float *grad)
{
    __shared__ float s[2];
    const float *p = logits + blockIdx.x * 1024;
    float m = -1e30f, z = 0;
    for (int i = threadIdx.x; i < 1024; i += 64) m = fmaxf(m, p[i]);
    m = warp_max(m);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = m;
    __syncthreads();
    m = fmaxf(s[0], s[1]);
    for (int i = threadIdx.x; i < 1024; i += 64) z += __expf(p[i] - m);
    z = block_sum<2>(z);
    uint32_t t = target[blockIdx.x];
    for (int i = threadIdx.x; i < 1024; i += 64) grad[blockIdx.x * 1024 + i] = __expf(p[i] - m) / z - (i == t);
    if (threadIdx.x == 0) loss[blockIdx.x] = m + __logf(z) - p[t];
}

//! attention_one_query_a_thread 16 64 | f32:16384:-1:1 | f32:4096:-1:1 | f32:4096:-1:1 | out f32:16384
// Sixteen dimensions in registers; keys and values of a head in shared memory, sums kept online.
K attention_one_query_a_thread(const float *q, const float *k, const float *v, float *o)
{
    __shared__ float ks[64][16], vs[64][16];
    int i = blockIdx.x * 64 + threadIdx.x;
    float a[16], acc[16] = {}, m = -1e30f, l = 0;
    for (int d = 0; d < 16; d++) a[d] = q[i * 16 + d] * 0.25f;
    for (int b = 0; b < 256; b += 64) {
        for (int j = threadIdx.x; j < 1024; j += 64) {
            ks[j / 16][j % 16] = k[b * 16 + j];
            vs[j / 16][j % 16] = v[b * 16 + j];
        }
        __syncthreads();
        for (int j = 0; j < 64; j++) {
            float s = 0;
            for (int d = 0; d < 16; d++) s += a[d] * ks[j][d];
            float n = fmaxf(m, s), c = __expf(m - n), p = __expf(s - n);
            l = l * c + p;
            for (int d = 0; d < 16; d++) acc[d] = acc[d] * c + p * vs[j][d];
            m = n;
        }
        __syncthreads();
    }
    for (int d = 0; d < 16; d++) o[i * 16 + d] = acc[d] / l;
}

//! attention_sixteen_rows_in_shared 32 256 12800 | f32:32768:-1:1 | f32:8192:-1:1 | f32:8192:-1:1 | out f32:32768
// Scores of sixteen queries and 128 keys in shared memory, softmax by half warps, then the second product.
K attention_sixteen_rows_in_shared(const float *q, const float *k, const float *v, float *o)
{
    extern __shared__ float sh[];
    float *qs = sh, *sc = sh + 1024;
    int t = threadIdx.x;
    for (int i = t; i < 1024; i += 256) qs[i] = q[blockIdx.x * 1024 + i];
    __syncthreads();
    for (int i = t; i < 2048; i += 256) {
        int r = i / 128, c = i % 128;
        float s = 0;
        for (int d = 0; d < 64; d += 4) {
            float4 a = *(float4 *)&qs[r * 64 + d], b = *(const float4 *)&k[c * 64 + d];
            s += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
        }
        sc[r * 132 + c] = s * 0.125f;
    }
    __syncthreads();
    int r = t / 16, l = t % 16;
    float m = -1e30f, z = 0;
    for (int c = l; c < 128; c += 16) m = fmaxf(m, sc[r * 132 + c]);
    for (int d = 8; d; d /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
    for (int c = l; c < 128; c += 16) z += sc[r * 132 + c] = __expf(sc[r * 132 + c] - m);
    for (int d = 8; d; d /= 2) z += __shfl_xor_sync(~0u, z, d);
    __syncwarp();
    float4 acc = {0, 0, 0, 0};
    for (int c = 0; c < 128; c++) {
        float4 w = *(const float4 *)&v[c * 64 + l * 4];
        float p = sc[r * 132 + c];
        acc.x += p * w.x, acc.y += p * w.y, acc.z += p * w.z, acc.w += p * w.w;
    }
    *(float4 *)&o[(blockIdx.x * 16 + r) * 64 + l * 4] = make_float4(acc.x / z, acc.y / z, acc.z / z, acc.w / z);
}

//! decoding_over_bf16_cache 33 128 | bf16:2112:-1:1 | bf16:540672:-1:1 | bf16:540672:-1:1 | out f32:2112 | s s32 256
// One new token a head: warps take every fourth key, then join what they have.
K decoding_over_bf16_cache(const __nv_bfloat162 *q, const __nv_bfloat162 *k, const __nv_bfloat162 *v, float2 *o, int n)
{
    __shared__ float ms[4], ls[4];
    __shared__ float2 os[4][32];
    int h = blockIdx.x, w = threadIdx.x / 32, lane = threadIdx.x % 32;
    float2 a = __bfloat1622float2(q[h * 32 + lane]), acc = {0, 0};
    float m = -1e30f, l = 0;
    for (int j = w; j < n; j += 4) {
        float2 b = __bfloat1622float2(k[(h * n + j) * 32 + lane]), c = __bfloat1622float2(v[(h * n + j) * 32 + lane]);
        float s = warp_sum(a.x * b.x + a.y * b.y) * 0.125f, top = fmaxf(m, s), f = __expf(m - top), p = __expf(s - top);
        l = l * f + p;
        acc.x = acc.x * f + p * c.x;
        acc.y = acc.y * f + p * c.y;
        m = top;
    }
    if (lane == 0) ms[w] = m, ls[w] = l;
    os[w][lane] = acc;
    __syncthreads();
    if (w == 0) {
        float top = fmaxf(fmaxf(ms[0], ms[1]), fmaxf(ms[2], ms[3])), z = 0;
        float2 r = {0, 0};
        for (int i = 0; i < 4; i++) {
            float f = __expf(ms[i] - top);
            z += ls[i] * f;
            r.x += os[i][lane].x * f;
            r.y += os[i][lane].y * f;
        }
        o[h * 32 + lane] = make_float2(r.x / z, r.y / z);
    }
}

//! swish_product_of_bf16_eights 66 128 | bf16:67584:-4:4 | bf16:67584:-4:4 | out bf16:67584
K swish_product_of_bf16_eights(const uint4 *a, const uint4 *b, uint4 *y)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    uint4 u = a[i], w = b[i], r;
    uint32_t *pu = &u.x, *pw = &w.x, *pr = &r.x;
    for (int k = 0; k < 4; k++) {
        float2 f = __bfloat1622float2(*(__nv_bfloat162 *)&pu[k]), g = __bfloat1622float2(*(__nv_bfloat162 *)&pw[k]);
        __nv_bfloat162 h = __floats2bfloat162_rn(f.x / (1 + __expf(-f.x)) * g.x, f.y / (1 + __expf(-f.y)) * g.y);
        pr[k] = *(uint32_t *)&h;
    }
    y[i] = r;
}

//! rmsnorm_rows_of_bf16_eights 132 64 | bf16:67584:-2:2 | bf16:512:-1:1 | out bf16:67584
K rmsnorm_rows_of_bf16_eights(const uint4 *x, const uint4 *g, uint4 *y)
{
    int t = threadIdx.x;
    uint4 u = x[blockIdx.x * 64 + t], w = g[t], r;
    const __nv_bfloat162 *pu = (const __nv_bfloat162 *)&u, *pw = (const __nv_bfloat162 *)&w;
    __nv_bfloat162 *pr = (__nv_bfloat162 *)&r;
    float s = 0;
    for (int k = 0; k < 4; k++) {
        float2 f = __bfloat1622float2(pu[k]);
        s += f.x * f.x + f.y * f.y;
    }
    s = rsqrtf(block_sum<2>(s) / 512 + 1e-6f);
    for (int k = 0; k < 4; k++) {
        float2 f = __bfloat1622float2(pu[k]);
        pr[k] = __hmul2(__floats2bfloat162_rn(f.x * s, f.y * s), pw[k]);
    }
    y[blockIdx.x * 64 + t] = r;
}

//! adam_with_half_copy 66 256 | inout f32:33792:-1:1 | inout f32:33792:-1:1 | inout f32:33792:0:1 | f16:33792:-1:1 | out f16:33792 | s f32 0.001 | s f32 0.9 | s f32 0.99
K adam_with_half_copy(float2 *w, float2 *m, float2 *v, const __half2 *g, __half2 *copy, float lr, float b1, float b2)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float2 d = __half22float2(g[i]), p = w[i], a = m[i], b = v[i];
    a.x = b1 * a.x + (1 - b1) * d.x;
    a.y = b1 * a.y + (1 - b1) * d.y;
    b.x = b2 * b.x + (1 - b2) * d.x * d.x;
    b.y = b2 * b.y + (1 - b2) * d.y * d.y;
    p.x -= lr * a.x / (sqrtf(b.x) + 1e-8f);
    p.y -= lr * a.y / (sqrtf(b.y) + 1e-8f);
    w[i] = p;
    m[i] = a;
    v[i] = b;
    copy[i] = __float22half2_rn(p);
}

//! lion_signs_of_momentum 132 128 | inout f32:67584:-1:1 | inout f32:67584:-1:1 | f32:67584:-1:1 | s f32 0.0003 | s f32 0.01
K lion_signs_of_momentum(float *w, float *m, const float *g, float lr, float decay)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 67584; i += gridDim.x * blockDim.x) {
        float d = g[i], c = 0.9f * m[i] + 0.1f * d;
        w[i] = w[i] * (1 - lr * decay) - lr * ((c > 0) - (c < 0));
        m[i] = 0.99f * m[i] + 0.01f * d;
    }
}

//! row_maxima_then_int8 66 128 | f32:67584:-6:6 | out s8:67584 | out f32:132
K row_maxima_then_int8(const float4 *x, char4 *y, float *scale)
{
    __shared__ float s[4];
    int row = blockIdx.x * 2 + threadIdx.x / 64, t = threadIdx.x % 64, w = threadIdx.x / 32;
    float4 a = x[row * 128 + t], b = x[row * 128 + t + 64];
    float m = fmaxf(fmaxf(fmaxf(fabsf(a.x), fabsf(a.y)), fmaxf(fabsf(a.z), fabsf(a.w))),
                    fmaxf(fmaxf(fabsf(b.x), fabsf(b.y)), fmaxf(fabsf(b.z), fabsf(b.w))));
    m = warp_max(m);
    if (threadIdx.x % 32 == 0) s[w] = m;
    __syncthreads();
    m = fmaxf(s[w & 2], s[w | 1]);
    float inv = 127.0f / m;
    y[row * 128 + t] = make_char4(__float2int_rn(a.x * inv), __float2int_rn(a.y * inv), __float2int_rn(a.z * inv), __float2int_rn(a.w * inv));
    y[row * 128 + t + 64] = make_char4(__float2int_rn(b.x * inv), __float2int_rn(b.y * inv), __float2int_rn(b.z * inv), __float2int_rn(b.w * inv));
    if (t == 0) scale[row] = m / 127.0f;
}

//! experts_two_best_of_eight 33 128 | f32:33792:-3:3 | out s32:8448 | out f32:8448
K experts_two_best_of_eight(const float *logit, int2 *which, float2 *weight)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    float best = -1e30f, next = -1e30f;
    int b = 0, n = 0;
    for (int e = 0; e < 8; e++) {
        float v = logit[i * 8 + e];
        if (v > best) {
            next = best, n = b;
            best = v, b = e;
        } else if (v > next) {
            next = v, n = e;
        }
    }
    float r = expf(next - best), z = 1 / (1 + r);
    which[i] = make_int2(b, n);
    weight[i] = make_float2(z, r * z);
}

//! focal_loss_summed 66 128 | f32:67584:-4:4 | u8:67584:0:2 | out f32:66
K focal_loss_summed(const float *logit, const uint8_t *label, float *loss)
{
    float s = 0;
    for (int k = 0; k < 8; k++) {
        int i = (blockIdx.x * 8 + k) * 128 + threadIdx.x;
        float x = logit[i], p = 1 / (1 + expf(-x)), t = label[i] ? p : 1 - p, a = label[i] ? 0.25f : 0.75f;
        s -= a * (1 - t) * (1 - t) * logf(fmaxf(t, 1e-7f));
    }
    s = block_sum<4>(s);
    if (threadIdx.x == 0) loss[blockIdx.x] = s;
}

//! divergence_of_two_softmaxes 33 128 | f32:33792:-2:2 | f32:33792:-2:2 | out f32:132
K divergence_of_two_softmaxes(const float *a, const float *b, float *out)
{
    int row = blockIdx.x * 4 + threadIdx.x / 32, l = threadIdx.x % 32;
    float u[8], v[8], mu = -1e30f, mv = -1e30f, su = 0, sv = 0, d = 0;
    for (int i = 0; i < 8; i++) {
        mu = fmaxf(mu, u[i] = a[row * 256 + i * 32 + l]);
        mv = fmaxf(mv, v[i] = b[row * 256 + i * 32 + l]);
    }
    mu = warp_max(mu), mv = warp_max(mv);
    for (int i = 0; i < 8; i++) su += expf(u[i] - mu), sv += expf(v[i] - mv);
    su = logf(warp_sum(su)) + mu;
    sv = logf(warp_sum(sv)) + mv;
    for (int i = 0; i < 8; i++) d += expf(u[i] - su) * (u[i] - su - v[i] + sv);
    d = warp_sum(d);
    if (l == 0) out[row] = d;
}

//! cosines_of_pairs_of_rows 33 256 | f16:67584:-1:1 | f16:67584:-1:1 | out f32:264
K cosines_of_pairs_of_rows(const __half2 *a, const __half2 *b, float *out)
{
    int row = blockIdx.x * 8 + threadIdx.x / 32, l = threadIdx.x % 32;
    float ab = 0, aa = 0, bb = 0;
    for (int i = l; i < 128; i += 32) {
        float2 x = __half22float2(a[row * 128 + i]), y = __half22float2(b[row * 128 + i]);
        ab += x.x * y.x + x.y * y.y;
        aa += x.x * x.x + x.y * x.y;
        bb += y.x * y.x + y.y * y.y;
    }
    ab = warp_sum(ab), aa = warp_sum(aa), bb = warp_sum(bb);
    if (l == 0) out[row] = ab * rsqrtf(aa * bb + 1e-12f);
}

//! channels_means_of_planes 64 256 | f16:131072:-1:1 | out f32:64 | out f16:131072
// Instance normalisation: a plane of 2,048 halves a block, read once and kept.
K channels_means_of_planes(const __half2 *x, float *mean_out, __half2 *y)
{
    __half2 v[4];
    float s = 0, q = 0;
    for (int i = 0; i < 4; i++) {
        v[i] = x[blockIdx.x * 1024 + i * 256 + threadIdx.x];
        float2 f = __half22float2(v[i]);
        s += f.x + f.y;
        q += f.x * f.x + f.y * f.y;
    }
    s = block_sum<8>(s) / 2048;
    q = block_sum<8>(q) / 2048 - s * s;
    __half2 m = __float2half2_rn(s), r = __float2half2_rn(rsqrtf(q + 1e-3f));
    for (int i = 0; i < 4; i++) y[blockIdx.x * 1024 + i * 256 + threadIdx.x] = __hmul2(__hsub2(v[i], m), r);
    if (threadIdx.x == 0) mean_out[blockIdx.x] = s;
}

//! depths_moved_into_space 64 128 | f32:65536 | out f32:65536
// [64 channels of 32 by 32] becomes [16 of 64 by 64].
K depths_moved_into_space(const float *x, float *y)
{
    for (int i = blockIdx.x * 128 + threadIdx.x; i < 65536; i += 8192) {
        int c = i / 4096, r = i / 64 % 64, w = i % 64;
        y[i] = x[((c * 4 + (r & 1) * 2 + (w & 1)) * 32 + r / 2) * 32 + w / 2];
    }
}

//! bilinear_enlarging_align_corners 16,16 16,16 | f32:7056 | out f32:65536 | s f32 0.325490
K bilinear_enlarging_align_corners(const float *x, float *y, float ratio)
{
    int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
    float fr = r * ratio, fc = c * ratio;
    int r0 = min((int)fr, 83), c0 = min((int)fc, 83), r1 = min(r0 + 1, 83), c1 = min(c0 + 1, 83);
    float a = fr - r0, b = fc - c0;
    y[r * 256 + c] = (1 - a) * ((1 - b) * x[r0 * 84 + c0] + b * x[r0 * 84 + c1]) + a * ((1 - b) * x[r1 * 84 + c0] + b * x[r1 * 84 + c1]);
}

//! pooled_gradient_given_back 32 128 | f32:16384 | u8:16384:0:4 | out f32:65536
K pooled_gradient_given_back(const float *dy, const uint8_t *which, float *dx)
{
    for (int i = blockIdx.x * 128 + threadIdx.x; i < 16384; i += 4096) {
        int r = i / 128, c = i % 128, k = which[i];
        float g = dy[i];
        *(float2 *)&dx[r * 2 * 256 + c * 2] = make_float2(k == 0 ? g : 0, k == 1 ? g : 0);
        *(float2 *)&dx[(r * 2 + 1) * 256 + c * 2] = make_float2(k == 2 ? g : 0, k == 3 ? g : 0);
    }
}

//! linear_of_int8_by_dp4a_a_warp 66 128 | s8:512 | s8:135168 | f32:264 | out f32:264
K linear_of_int8_by_dp4a_a_warp(const int4 *x, const int4 *W, const float *scale, float *y)
{
    int row = blockIdx.x * 4 + threadIdx.x / 32, l = threadIdx.x % 32;
    int4 a = x[l], b = W[row * 32 + l];
    int s = __dp4a(a.x, b.x, __dp4a(a.y, b.y, __dp4a(a.z, b.z, __dp4a(a.w, b.w, 0))));
    s = __reduce_add_sync(~0u, s);
    if (l == 0) y[row] = s * scale[row];
}

//! leaky_relu_of_half2_and_gradient 66 128 | f16:67584:-2:2 | f16:67584:-1:1 | out f16:67584 | out f16:67584
K leaky_relu_of_half2_and_gradient(const __half2 *x, const __half2 *dy, __half2 *y, __half2 *dx)
{
    __half2 zero = __float2half2_rn(0), slope = __float2half2_rn(0.125f), one = __float2half2_rn(1);
    for (int i = blockIdx.x * 128 + threadIdx.x; i < 33792; i += 8448) {
        __half2 v = x[i], pos = __hgt2(v, zero), k = __hfma2(pos, __hsub2(one, slope), slope);
        y[i] = __hmul2(v, k);
        dx[i] = __hmul2(dy[i], k);
    }
}

//! two_layers_in_one_block 33 64 | f32:4224:-1:1 | f32:4096:-1:1 | f32:2048:-1:1 | out f32:2112
// Two rows a block through 32-64-32 with the weights from the caches.
K two_layers_in_one_block(const float *x, const float *w1, const float *w2, float *y)
{
    __shared__ float in[128], hid[128];
    int t = threadIdx.x, b = blockIdx.x;
    in[t] = x[b * 128 + t];
    in[t + 64] = x[b * 128 + t + 64];
    __syncthreads();
    float h0 = 0, h1 = 0;
#pragma unroll 8
    for (int k = 0; k < 64; k++) {
        float w = w1[k * 64 + t];
        h0 += in[k] * w;
        h1 += in[64 + k] * w;
    }
    hid[t] = tanhf(h0);
    hid[64 + t] = tanhf(h1);
    __syncthreads();
    int r = t / 32, c = t % 32;
    float s = 0;
    for (int k = 0; k < 64; k++) s += hid[r * 64 + k] * w2[k * 32 + c];
    y[b * 64 + t] = s;
}
