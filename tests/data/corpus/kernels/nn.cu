// Layers of neural networks.
#include <cuda_fp16.h>
#include <stdint.h>

//! conv1d_same 32 256 | f32:8192:-1:1 | f32:9:-1:1 | out f32:8192 | s s32 8192 | s s32 9
extern "C" __global__ void conv1d_same(const float *x, const float *w, float *y, int n, int k)
{
    __shared__ float s[256 + 32];
    int i = blockIdx.x * blockDim.x + threadIdx.x, r = k / 2;
    s[threadIdx.x + r] = x[i];
    if (threadIdx.x < r) {
        s[threadIdx.x] = i >= r ? x[i - r] : 0.0f;
        s[threadIdx.x + r + blockDim.x] = i + (int)blockDim.x < n ? x[i + blockDim.x] : 0.0f;
    }
    __syncthreads();
    float a = 0;
    for (int j = 0; j < k; j++) a += w[j] * s[threadIdx.x + j];
    y[i] = a;
}

//! depthwise3x3 2,16,8 32,4 | f32:32768:-1:1 | f32:72:-1:1 | out f32:32768
extern "C" __global__ void depthwise3x3(const float *in, const float *weight, float *out)
{
    const int w = 64, h = 64, c = blockIdx.z, x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
    const float *p = in + c * w * h, *k = weight + c * 9;
    float s = 0;
#pragma unroll
    for (int dy = -1; dy <= 1; dy++)
#pragma unroll
        for (int dx = -1; dx <= 1; dx++) {
            int xx = x + dx, yy = y + dy;
            if (xx >= 0 && xx < w && yy >= 0 && yy < h) s += p[yy * w + xx] * k[(dy + 1) * 3 + dx + 1];
        }
    out[(c * h + y) * w + x] = fminf(fmaxf(s, 0.0f), 6.0f);
}

//! maxpool_index 4,4,8 16,16 | f32:131072:-1:1 | out f32:32768 | out s32:32768 | s s32 128
extern "C" __global__ void maxpool_index(const float *in, float *out, int *index, int w)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y, o = w / 2;
    const float *p = in + blockIdx.z * w * w;
    int best = 2 * y * w + 2 * x;
    float m = p[best];
    for (int k = 1; k < 4; k++) {
        int at = (2 * y + k / 2) * w + 2 * x + k % 2;
        if (p[at] > m) m = p[at], best = at;
    }
    out[blockIdx.z * o * o + y * o + x] = m;
    index[blockIdx.z * o * o + y * o + x] = best;
}

//! batchnorm_train 32 256 | f32:131072:-2:2 | f32:32:0.5:1.5 | f32:32:-1:1 | out f32:131072 | out f32:64
extern "C" __global__ void batchnorm_train(const float *x, const float *gamma, const float *beta, float *y, float *stat)
{
    __shared__ float2 red[256];
    int c = blockIdx.x;
    float2 s = make_float2(0, 0);
    for (int n = 0; n < 4; n++)
        for (int i = threadIdx.x; i < 1024; i += 256) {
            float v = x[(n * 32 + c) * 1024 + i];
            s.x += v;
            s.y += v * v;
        }
    red[threadIdx.x] = s;
    __syncthreads();
    for (int d = 128; d > 0; d >>= 1) {
        if (threadIdx.x < d) {
            red[threadIdx.x].x += red[threadIdx.x + d].x;
            red[threadIdx.x].y += red[threadIdx.x + d].y;
        }
        __syncthreads();
    }
    float mean = red[0].x / 4096, var = red[0].y / 4096 - mean * mean, inv = rsqrtf(var + 1e-5f), g = gamma[c] * inv, b = beta[c] - mean * g;
    for (int n = 0; n < 4; n++)
        for (int i = threadIdx.x; i < 1024; i += 256) y[(n * 32 + c) * 1024 + i] = x[(n * 32 + c) * 1024 + i] * g + b;
    if (threadIdx.x == 0) stat[c] = mean, stat[c + 32] = var;
}

//! rmsnorm_half 96 128 | f16:98304:-2:2 | f16:1024:0.5:1.5 | out f16:98304 | s f32 0.00001
extern "C" __global__ void rmsnorm_half(const half *x, const half *w, half *y, float eps)
{
    __shared__ float part[4];
    const uint4 v = reinterpret_cast<const uint4 *>(x + blockIdx.x * 1024)[threadIdx.x];
    const half2 *h = reinterpret_cast<const half2 *>(&v);
    float s = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        float2 f = __half22float2(h[k]);
        s += f.x * f.x + f.y * f.y;
    }
    for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(0xffffffff, s, d);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
    __syncthreads();
    float r = rsqrtf((part[0] + part[1] + part[2] + part[3]) / 1024 + eps);
    const uint4 wv = reinterpret_cast<const uint4 *>(w)[threadIdx.x];
    const half2 *g = reinterpret_cast<const half2 *>(&wv);
    uint4 o;
    half2 *ho = reinterpret_cast<half2 *>(&o);
#pragma unroll
    for (int k = 0; k < 4; k++) {
        float2 f = __half22float2(h[k]), q = __half22float2(g[k]);
        ho[k] = __floats2half2_rn(f.x * r * q.x, f.y * r * q.y);
    }
    reinterpret_cast<uint4 *>(y + blockIdx.x * 1024)[threadIdx.x] = o;
}

//! attention_row 4,32 64 | f32:16384:-1:1 | f32:32768:-1:1 | f32:32768:-1:1 | out f32:16384 | s s32 128
// One query a block: scores of n keys, softmax, weighted sum of values; 64 channels a head.
extern "C" __global__ void attention_row(const float *q, const float *k, const float *v, float *out, int n)
{
    __shared__ float score[128], query[64], m, total;
    int head = blockIdx.x, row = blockIdx.y, t = threadIdx.x;
    query[t] = q[(row * 4 + head) * 64 + t];
    __syncthreads();
    for (int j = t; j < n; j += 64) {
        const float *key = k + (j * 4 + head) * 64;
        float s = 0;
        for (int c = 0; c < 64; c++) s += query[c] * key[c];
        score[j] = s * 0.125f;
    }
    __syncthreads();
    if (t == 0) {
        float x = score[0];
        for (int j = 1; j < n; j++) x = fmaxf(x, score[j]);
        m = x;
    }
    __syncthreads();
    for (int j = t; j < n; j += 64) score[j] = __expf(score[j] - m);
    __syncthreads();
    if (t < 32) {
        float s = 0;
        for (int j = t; j < n; j += 32) s += score[j];
        for (int d = 16; d; d >>= 1) s += __shfl_down_sync(~0u, s, d);
        if (t == 0) total = s;
    }
    __syncthreads();
    float acc = 0;
    for (int j = 0; j < n; j++) acc += score[j] * v[(j * 4 + head) * 64 + t];
    out[(row * 4 + head) * 64 + t] = acc / total;
}

//! embedding_sum 64 128 | s32:2048:0:5000 | f32:640000:-1:1 | out f32:8192 | s s32 32
extern "C" __global__ void embedding_sum(const int *token, const float *table, float *out, int bag)
{
    float s = 0;
    for (int k = 0; k < bag; k++) s += table[token[blockIdx.x * bag + k] * 128 + threadIdx.x];
    out[blockIdx.x * 128 + threadIdx.x] = s / bag;
}

//! rope_rotate 64 64,4 | f32:65536:-1:1 | out f32:65536 | s s32 100 | s f32 10000
extern "C" __global__ void rope_rotate(const float *x, float *y, int start, float base)
{
    int token = blockIdx.x, head = threadIdx.y, d = threadIdx.x;
    float freq = powf(base, -2.0f * d / 128.0f), angle = (start + token) * freq, s, c;
    sincosf(angle, &s, &c);
    const float *p = x + (token * 4 + head) * 256;
    float *o = y + (token * 4 + head) * 256;
    for (int half_no = 0; half_no < 2; half_no++) {
        float a = p[half_no * 128 + d], b = p[half_no * 128 + d + 64];
        o[half_no * 128 + d] = a * c - b * s;
        o[half_no * 128 + d + 64] = a * s + b * c;
    }
}

//! log_softmax_online 128 32 | f32:32768:-6:6 | s32:128:0:256 | out f32:128 | s s32 256
extern "C" __global__ void log_softmax_online(const float *logit, const int *label, float *loss, int n)
{
    const float *row = logit + blockIdx.x * n;
    float m = -INFINITY, s = 0;
    for (int i = threadIdx.x; i < n; i += 32) {
        float x = row[i], nm = fmaxf(m, x);
        s = s * expf(m - nm) + expf(x - nm);
        m = nm;
    }
    for (int d = 16; d > 0; d /= 2) {
        float om = __shfl_xor_sync(~0u, m, d), os = __shfl_xor_sync(~0u, s, d), nm = fmaxf(m, om);
        s = s * expf(m - nm) + os * expf(om - nm);
        m = nm;
    }
    if (threadIdx.x == 0) loss[blockIdx.x] = m + logf(s) - row[label[blockIdx.x]];
}
