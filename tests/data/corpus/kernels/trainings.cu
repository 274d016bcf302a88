/* trainings.cu - layers of networks, forward and backward, and what serves language models: attention, caches, experts, packed weights. */
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#define K extern "C" __global__ void
typedef __nv_bfloat16 bf16;
typedef __nv_bfloat162 bf162;

__device__ __forceinline__ float warp_sum(float v)
{
#pragma unroll
    for (int d = 16; d; d /= 2) v += __shfl_xor_sync(~0u, v, d);
    return v;
}
__device__ __forceinline__ float warp_max(float v)
{
#pragma unroll
    for (int d = 16; d; d /= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, d));
    return v;
}
template <int W> __device__ float block_sum(float v, float *s)
{
    v = warp_sum(v);
    __syncthreads();
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
    __syncthreads();
    float r = 0;
#pragma unroll
    for (int i = 0; i < W; i++) r += s[i];
    return r;
}

//! halves_rotated_in_two_parts 40,8 64 | inout f16:40960:-1:1 | s32:40:0:512 | s f32 10000.0
// Rotary positions where a head's first half belongs to the second; a block a token and head of 128.
K halves_rotated_in_two_parts(__half *x, const int *position, float base)
{
    int t = threadIdx.x;
    __half *p = x + (blockIdx.x * 8 + blockIdx.y) * 128;
    float angle = position[blockIdx.x] * exp2f(-log2f(base) * (t / 64.0f)), s, c;
    sincosf(angle, &s, &c);
    float a = __half2float(p[t]), b = __half2float(p[t + 64]);
    p[t] = __float2half_rn(a * c - b * s);
    p[t + 64] = __float2half_rn(b * c + a * s);
}

//! decoding_with_keys_in_parts 8,16 128 | bf16:1024:-1:1 | bf16:131072:-1:1 | bf16:131072:-1:1 | out f32:8192 | out f32:256 | s s32 1024
// One query a head (blockIdx.x), a sixteenth of its keys (blockIdx.y): partial output, maximum and sum. Two heads share keys.
K decoding_with_keys_in_parts(const bf162 *q, const bf162 *k, const bf162 *v, float *part, float2 *stat, int keys)
{
    __shared__ float score[64], red[4];
    int t = threadIdx.x, lane = t % 32, w = t / 32, head = blockIdx.x, kv = head / 4, n = keys / 16, first = blockIdx.y * n;
    float2 q0 = __bfloat1622float2(q[head * 64 + lane]), q1 = __bfloat1622float2(q[head * 64 + 32 + lane]);
    for (int j = w; j < n; j += 4) {
        const bf162 *row = k + ((first + j) * 2 + kv) % 2048 * 32;
        float2 a = __bfloat1622float2(row[lane]);
        float s = warp_sum(q0.x * a.x + q0.y * a.y + 0.5f * (q1.x * a.y + q1.y * a.x));
        if (lane == 0) score[j] = s * 0.125f;
    }
    __syncthreads();
    float m = -1e30f, l = 0;
    for (int j = lane; j < n; j += 32) m = fmaxf(m, score[j]);
    m = warp_max(m);
    __syncthreads();
    if (t < n) score[t] = __expf(score[t] - m);
    __syncthreads();
    l = block_sum<4>(t < n ? score[t] : 0.0f, red);
    if (t < 32) {
        float2 o = make_float2(0, 0);
        for (int j = 0; j < n; j++) {
            float2 a = __bfloat1622float2(v[((first + j) * 2 + kv) % 2048 * 32 + t]);
            o.x = fmaf(score[j], a.x, o.x), o.y = fmaf(score[j], a.y, o.y);
        }
        ((float2 *)part)[(head * 16 + blockIdx.y) * 32 + t] = o;
    }
    if (t == 0) stat[head * 16 + blockIdx.y] = make_float2(m, l);
}

//! parts_of_attention_joined 32 64 | f32:32768:-1:1 | f32:1024:0.5:4 | out bf16:2048
K parts_of_attention_joined(const float *part, const float2 *stat, bf16 *out)
{
    __shared__ float weight[16];
    int t = threadIdx.x;
    float m = t < 16 ? stat[blockIdx.x * 16 + t].x : -1e30f, all = m;
    if (t < 32) {
        all = warp_max(m);
        float e = t < 16 ? __expf(m - all) : 0.0f, sum = warp_sum(t < 16 ? e * stat[blockIdx.x * 16 + t].y : 0.0f);
        if (t < 16) weight[t] = e / sum;
    }
    __syncthreads();
    float o = 0;
#pragma unroll
    for (int j = 0; j < 16; j++) o += weight[j] * part[(blockIdx.x * 16 + j) * 64 + t];
    out[blockIdx.x * 64 + t] = __float2bfloat16_rn(o);
}

//! attention_backwards_for_queries 8,6 64 | f32:24576:-1:1 | f32:24576:-1:1 | f32:24576:-1:1 | f32:24576:-1:1 | f32:768:1:3 | f32:768:-1:1 | out f32:24576
// Six heads, 128 tokens, 32 wide: a block sixteen queries, four threads a query, the scores made again.
K attention_backwards_for_queries(const float *q, const float *k, const float *v, const float *dout, const float *lse, const float *delta, float *dq)
{
    __shared__ float sk[32][33], sv[32][33];
    int t = threadIdx.x, row = blockIdx.x * 16 + t / 4, part = t % 4, head = blockIdx.y * 128 * 32;
    float qr[32], go[32], acc[8] = {};
#pragma unroll
    for (int i = 0; i < 32; i++) qr[i] = q[head + row * 32 + i], go[i] = dout[head + row * 32 + i];
    float l = lse[blockIdx.y * 128 + row] + 3.0f, d = delta[blockIdx.y * 128 + row];
    for (int j0 = 0; j0 <= blockIdx.x * 16 + 15; j0 += 32) {
        __syncthreads();
        for (int i = t; i < 1024; i += 64) sk[i / 32][i % 32] = k[head + j0 * 32 + i], sv[i / 32][i % 32] = v[head + j0 * 32 + i];
        __syncthreads();
        for (int j = 0; j < 8; j++) {
            int c = j * 4 + part;
            float s = 0, p = 0;
#pragma unroll
            for (int i = 0; i < 32; i++) s = fmaf(qr[i], sk[c][i], s), p = fmaf(go[i], sv[c][i], p);
            float ds = j0 + c <= row ? __expf(s * 0.17677669f - l) * (p - d) : 0.0f;
#pragma unroll
            for (int o = 0; o < 4; o++) {
                float g = __shfl_sync(~0u, ds, o, 4);
#pragma unroll
                for (int i = 0; i < 8; i++) acc[i] = fmaf(g, sk[j * 4 + o][part * 8 + i], acc[i]);
            }
        }
    }
#pragma unroll
    for (int i = 0; i < 8; i++) dq[head + row * 32 + part * 8 + i] = acc[i] * 0.17677669f;
}

//! linear_attention_as_a_state 16 64 | f32:65536:-1:1 | f32:65536:-1:1 | f32:65536:-1:1 | f32:1024:0.8:1 | out f32:65536
// State of 32 x 64 a head in registers: a thread a column; 64 tokens one after the other.
K linear_attention_as_a_state(const float *q, const float *k, const float *v, const float *decay, float *out)
{
    __shared__ float sq[32], sk[32];
    float s[32] = {};
    int t = threadIdx.x;
    for (int n = 0; n < 64; n++) {
        int row = (blockIdx.x * 64 + n) * 64;
        if (t < 32) sq[t] = q[row + t];
        else sk[t - 32] = k[row + t - 32];
        __syncthreads();
        float x = v[row + t], g = decay[blockIdx.x * 64 + n], o = 0;
#pragma unroll
        for (int i = 0; i < 32; i++) {
            s[i] = fmaf(sk[i], x, s[i] * g);
            o = fmaf(sq[i], s[i], o);
        }
        out[row + t] = o;
        __syncthreads();
    }
}

//! softmax_backwards_in_vectors 132 128 | f16:135168:0:1 | f16:135168:-1:1 | out f16:135168
// Rows of 1,024 halves, eight a thread.
K softmax_backwards_in_vectors(const uint4 *p, const uint4 *dp, uint4 *out)
{
    __shared__ float red[4];
    uint4 a = p[blockIdx.x * 128 + threadIdx.x], b = dp[blockIdx.x * 128 + threadIdx.x], r;
    __half2 *ha = (__half2 *)&a, *hb = (__half2 *)&b, *hr = (__half2 *)&r;
    float s = 0;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        float2 x = __half22float2(ha[i]), y = __half22float2(hb[i]);
        s = fmaf(x.x, y.x, s), s = fmaf(x.y, y.y, s);
    }
    s = block_sum<4>(s, red);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        float2 x = __half22float2(ha[i]), y = __half22float2(hb[i]);
        hr[i] = __floats2half2_rn(x.x * (y.x - s), x.y * (y.y - s));
    }
    out[blockIdx.x * 128 + threadIdx.x] = r;
}

//! cross_entropy_backwards_online 66 256 | bf16:270336:-4:4 | s32:66:0:4096 | out bf16:270336 | out f32:66 | s s32 4096
K cross_entropy_backwards_online(const bf16 *logits, const int *target, bf16 *grad, float *loss, int n)
{
    __shared__ float sm[8], ss[8];
    const bf16 *row = logits + (size_t)blockIdx.x * n;
    float m = -INFINITY, s = 0;
    for (int i = threadIdx.x; i < n; i += 256) {
        float x = __bfloat162float(row[i]), nm = fmaxf(m, x);
        s = s * __expf(m - nm) + __expf(x - nm);
        m = nm;
    }
#pragma unroll
    for (int d = 16; d; d /= 2) {
        float om = __shfl_xor_sync(~0u, m, d), os = __shfl_xor_sync(~0u, s, d), nm = fmaxf(m, om);
        s = s * __expf(m - nm) + os * __expf(om - nm);
        m = nm;
    }
    if (threadIdx.x % 32 == 0) sm[threadIdx.x / 32] = m, ss[threadIdx.x / 32] = s;
    __syncthreads();
    m = sm[0], s = ss[0];
    for (int w = 1; w < 8; w++) {
        float nm = fmaxf(m, sm[w]);
        s = s * __expf(m - nm) + ss[w] * __expf(sm[w] - nm);
        m = nm;
    }
    int y = target[blockIdx.x];
    float inv = 1.0f / s;
    for (int i = threadIdx.x; i < n; i += 256) grad[(size_t)blockIdx.x * n + i] = __float2bfloat16_rn(__expf(__bfloat162float(row[i]) - m) * inv - (i == y ? 1.0f : 0.0f));
    if (threadIdx.x == 0) loss[blockIdx.x] = __logf(s) + m - __bfloat162float(row[y]);
}

//! tokens_put_beside_their_experts 1 256 | s32:2048:0:16 | out s32:2048 | out s32:17
// Counting sort of 2,048 choices among sixteen experts by one block, stable.
K tokens_put_beside_their_experts(const int *expert, int *order, int *starts)
{
    __shared__ uint16_t count[16][257];
    __shared__ int start[17];
    int t = threadIdx.x, e[8];
    for (int i = t; i < 16 * 257; i += 256) count[i / 257][i % 257] = 0;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 8; i++) {
        e[i] = expert[t * 8 + i];
        count[e[i]][t + 1]++;
    }
    __syncthreads();
    if (t < 16)
        for (int i = 1; i <= 256; i++) count[t][i] += count[t][i - 1];
    __syncthreads();
    if (t == 0) {
        start[0] = 0;
        for (int i = 0; i < 16; i++) start[i + 1] = start[i] + count[i][256];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 8; i++) order[start[e[i]] + count[e[i]][t]++] = t * 8 + i;
    if (t < 17) starts[t] = start[t];
}

//! answers_of_two_experts_weighted 256 64 | bf16:131072:-1:1 | s32:512:0:256 | f32:512:0:1 | f32:65536:-1:1 | out bf16:65536
K answers_of_two_experts_weighted(const uint2 *y, const int *place, const float *weight, const float4 *residual, uint2 *out)
{
    int n = blockIdx.x, t = threadIdx.x;
    float4 r = residual[n * 64 + t];
#pragma unroll
    for (int k = 0; k < 2; k++) {
        uint2 q = y[(place[n * 2 + k] * 2 + k) * 64 + t];
        float w = weight[n * 2 + k];
        float2 a = __bfloat1622float2(*(bf162 *)&q.x), b = __bfloat1622float2(*(bf162 *)&q.y);
        r.x = fmaf(w, a.x, r.x), r.y = fmaf(w, a.y, r.y), r.z = fmaf(w, b.x, r.z), r.w = fmaf(w, b.y, r.w);
    }
    bf162 lo = __floats2bfloat162_rn(r.x, r.y), hi = __floats2bfloat162_rn(r.z, r.w);
    out[n * 64 + t] = make_uint2(*(uint32_t *)&lo, *(uint32_t *)&hi);
}

//! blocks_of_thirty_two_nibbles_dotted 128 32,4 | u32:81920 | f32:1024:-1:1 | out f32:512
// A warp a row: per 32 weights a half as scale, one as minimum, sixteen bytes of nibbles (5 words); inputs as floats.
K blocks_of_thirty_two_nibbles_dotted(const uint32_t *w, const float4 *x, float *y)
{
    int row = blockIdx.x * 4 + threadIdx.y, lane = threadIdx.x;
    const uint32_t *p = w + (row * 32 + lane) * 5;
    uint32_t head = p[0];
    float scale = (float)(head & 1023) * (1.0f / 8192), least = (float)(head >> 16 & 1023) * (-1.0f / 1024), dot = 0, sum = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        uint32_t v = p[1 + k];
        float4 a = x[lane * 8 + k], b = x[lane * 8 + 4 + k];
        dot += a.x * (v & 15) + a.y * (v >> 8 & 15) + a.z * (v >> 16 & 15) + a.w * (v >> 24 & 15);
        dot += b.x * (v >> 4 & 15) + b.y * (v >> 12 & 15) + b.z * (v >> 20 & 15) + b.w * (v >> 28);
        sum += a.x + a.y + a.z + a.w + b.x + b.y + b.z + b.w;
    }
    float r = warp_sum(scale * dot + least * sum);
    if (lane == 0) y[row] = r;
}

//! activations_to_fp8_by_groups 96 256 | bf16:196608:-3:3 | out u8:196608 | out f32:1536
// Groups of 128 values: sixteen lanes of eight values each, a scale for each group.
K activations_to_fp8_by_groups(const uint4 *x, uint2 *y, float *scales)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    uint4 v = x[i];
    bf162 *h = (bf162 *)&v;
    float2 f[4];
    float m = 1e-6f;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        f[k] = __bfloat1622float2(h[k]);
        m = fmaxf(m, fmaxf(fabsf(f[k].x), fabsf(f[k].y)));
    }
#pragma unroll
    for (int d = 8; d; d /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
    float s = m / 448.0f, inv = 1.0f / s;
    uint32_t q[4];
#pragma unroll
    for (int k = 0; k < 4; k++) q[k] = __nv_cvt_float2_to_fp8x2(make_float2(f[k].x * inv, f[k].y * inv), __NV_SATFINITE, __NV_E4M3);
    y[i] = make_uint2(q[0] | q[1] << 16, q[2] | q[3] << 16);
    if (threadIdx.x % 16 == 0) scales[i / 16] = s;
}

//! weights_of_convolution_backwards 32,3 96 | f32:24576:-1:1 | f32:24576:-1:1 | out f32:864
// Three channels in, 32 out, 3 x 3, one picture: a block an output and an input channel.
K weights_of_convolution_backwards(const float *x, const float *dy, float *dw)
{
    __shared__ float red[3];
    float s[9] = {};
    const float *a = x + blockIdx.y * 8192, *g = dy + blockIdx.x * 704;
    for (int i = threadIdx.x; i < 22 * 30; i += 96) {
        int r = i / 30, c = i % 30;
        float d = g[r * 32 + c];
#pragma unroll
        for (int u = 0; u < 3; u++)
#pragma unroll
            for (int v = 0; v < 3; v++) s[u * 3 + v] = fmaf(d, a[(r + u) * 32 + c + v], s[u * 3 + v]);
    }
#pragma unroll
    for (int k = 0; k < 9; k++) {
        float t = block_sum<3>(s[k], red);
        if (threadIdx.x == 0) dw[(blockIdx.x * 3 + blockIdx.y) * 9 + k] = t;
    }
}

//! memory_cell_backwards 32 128 | f32:16384:-2:2 | f32:4096:-1:1 | f32:4096:-1:1 | f32:4096:-1:1 | f32:4096:-1:1 | out f32:16384 | out f32:4096
K memory_cell_backwards(const float *gates, const float *c0, const float *c1, const float *dh, const float *dc1, float *dgates, float *dc0)
{
    int i = blockIdx.x * 128 + threadIdx.x, h = i % 256, n = i / 256;
    const float *g = gates + n * 1024;
    float in = 1 / (1 + __expf(-g[h])), fo = 1 / (1 + __expf(-g[256 + h])), ce = tanhf(g[512 + h]), ou = 1 / (1 + __expf(-g[768 + h]));
    float tc = tanhf(c1[i]), d = dc1[i] + dh[i] * ou * (1 - tc * tc);
    float *o = dgates + n * 1024;
    o[h] = d * ce * in * (1 - in);
    o[256 + h] = d * c0[i] * fo * (1 - fo);
    o[512 + h] = d * in * (1 - ce * ce);
    o[768 + h] = dh[i] * tc * ou * (1 - ou);
    dc0[i] = d * fo;
}

//! dropped_added_and_normalised_rows 264 96 | bf16:202752:-1:1 | bf16:202752:-1:1 | f32:768:0.5:1.5 | f32:768:-1:1 | out bf16:202752 | out bf16:202752 | s u32 77
K dropped_added_and_normalised_rows(const uint4 *x, const uint4 *res, const float *gamma, const float *beta, uint4 *sum, uint4 *out, uint32_t seed)
{
    __shared__ float red[3];
    int i = blockIdx.x * 96 + threadIdx.x;
    uint4 a = x[i], b = res[i];
    bf162 *ha = (bf162 *)&a, *hb = (bf162 *)&b;
    uint32_t r = seed + i * 2654435761u;
    r ^= r >> 16, r *= 0x7feb352du, r ^= r >> 15, r *= 0x846ca68bu, r ^= r >> 16;
    float v[8], s = 0, q = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        float2 p = __bfloat1622float2(ha[k]), o = __bfloat1622float2(hb[k]);
        v[2 * k] = o.x + ((r >> 4 * k & 3) ? p.x * 1.3333334f : 0.0f);
        v[2 * k + 1] = o.y + ((r >> (4 * k + 2) & 3) ? p.y * 1.3333334f : 0.0f);
        s += v[2 * k] + v[2 * k + 1];
        ha[k] = __floats2bfloat162_rn(v[2 * k], v[2 * k + 1]);
    }
    sum[i] = a;
    float mean = block_sum<3>(s, red) * (1.0f / 768);
#pragma unroll
    for (int k = 0; k < 8; k++) q += (v[k] - mean) * (v[k] - mean);
    float inv = rsqrtf(block_sum<3>(q, red) * (1.0f / 768) + 1e-5f);
#pragma unroll
    for (int k = 0; k < 4; k++) {
        int c = threadIdx.x * 8 + 2 * k;
        hb[k] = __floats2bfloat162_rn((v[2 * k] - mean) * inv * gamma[c] + beta[c], (v[2 * k + 1] - mean) * inv * gamma[c + 1] + beta[c + 1]);
    }
    out[i] = b;
}

//! receptance_with_channels_over_time 12 32 | f32:384:0.1:1 | f32:384:-1:1 | f32:24576:-2:2 | f32:24576:-1:1 | out f32:24576 | s s32 64
K receptance_with_channels_over_time(const float *w, const float *u, const float *k, const float *v, float *y, int steps)
{
    int c = blockIdx.x * 32 + threadIdx.x, n = gridDim.x * 32;
    float a = 0, b = 0, m = -1e38f, decay = -w[c], bonus = u[c];
    for (int t = 0; t < steps; t++) {
        float kt = k[t * n + c], vt = v[t * n + c], x = fmaxf(m, bonus + kt), e1 = __expf(m - x), e2 = __expf(bonus + kt - x);
        y[t * n + c] = (e1 * a + e2 * vt) / (e1 * b + e2);
        x = fmaxf(m + decay, kt);
        e1 = __expf(m + decay - x), e2 = __expf(kt - x);
        a = e1 * a + e2 * vt, b = e1 * b + e2, m = x;
    }
}
