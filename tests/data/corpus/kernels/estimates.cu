/* estimates.cu - statistics, signals and the layers of small networks. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cstdint>
#define K extern "C" __global__ void

//! bootstrap_means 24 64 | f32:200:-1:3 | out f32:1536 | s s32 200 | s u32 99
K bootstrap_means(const float *x, float *mean, int n, uint32_t seed)
{
    __shared__ float s[256];
    for (int i = threadIdx.x; i < n; i += 64) s[i] = x[i];
    __syncthreads();
    uint64_t state = (uint64_t)(blockIdx.x * 64 + threadIdx.x) * 0x9E3779B97F4A7C15ull + seed;
    float sum = 0;
    for (int k = 0; k < 100; k++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        sum += s[__umulhi((uint32_t)(state >> 32), n)];
    }
    mean[blockIdx.x * 64 + threadIdx.x] = sum * 0.01f;
}

//! rank_correlations 10 64 | s32:5120:0:50 | s32:5120:0:50 | out s32:640
// Kendall's concordant less discordant pairs of eight values a thread.
K rank_correlations(const int *x, const int *y, int *tau)
{
    int t = blockIdx.x * 64 + threadIdx.x, a[8], b[8], s = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) {
        a[k] = x[k * 640 + t];
        b[k] = y[k * 640 + t];
    }
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = i + 1; j < 8; j++) {
            int p = (a[i] > a[j]) - (a[i] < a[j]), q = (b[i] > b[j]) - (b[i] < b[j]);
            s += p * q;
        }
    tau[t] = s;
}

//! moments_of_four_orders 12 128 | f64:12288:-1:2 | out f64:48
K moments_of_four_orders(const double *x, double *out)
{
    __shared__ double part[4][4];
    double m[4] = {0, 0, 0, 0};
    for (int i = threadIdx.x; i < 1024; i += 128) {
        double v = x[blockIdx.x * 1024 + i], p = v;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            m[k] += p;
            p *= v;
        }
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
        for (int d = 16; d > 0; d /= 2) m[k] += __shfl_down_sync(0xffffffffu, m[k], d);
        if (threadIdx.x % 32 == 0) part[threadIdx.x / 32][k] = m[k];
    }
    __syncthreads();
    if (threadIdx.x < 4) out[blockIdx.x * 4 + threadIdx.x] = (part[0][threadIdx.x] + part[1][threadIdx.x] + part[2][threadIdx.x] + part[3][threadIdx.x]) / 1024;
}

//! kalman_of_two_states 8 96 | f32:15360:-1:1 | out f32:15360
K kalman_of_two_states(const float *z, float *x)
{
    int t = blockIdx.x * 96 + threadIdx.x;
    float p = 0, v = 0, p00 = 1, p01 = 0, p11 = 1;
    for (int k = 0; k < 20; k++) {
        p += v;
        p00 += 2 * p01 + p11 + 0.01f;
        p01 += p11;
        p11 += 0.02f;
        float s = p00 + 0.5f, k0 = p00 / s, k1 = p01 / s, e = z[k * 768 + t] - p;
        p += k0 * e;
        v += k1 * e;
        p11 -= k1 * p01;
        p01 *= 1 - k0;
        p00 *= 1 - k0;
        x[k * 768 + t] = p;
    }
}

//! gibbs_of_a_mixture 6 128 | f32:768:-2:6 | out s32:768 | s u32 5
K gibbs_of_a_mixture(const float *x, int *label, uint32_t seed)
{
    __shared__ float sum[2];
    __shared__ int count[2];
    float v = x[blockIdx.x * 128 + threadIdx.x], mu0 = 0.0f, mu1 = 4.0f;
    uint32_t r = seed + blockIdx.x * 128 + threadIdx.x;
    int l = 0;
    for (int k = 0; k < 6; k++) {
        if (threadIdx.x < 2) {
            sum[threadIdx.x] = 0;
            count[threadIdx.x] = 0;
        }
        __syncthreads();
        r = r * 1664525u + 1013904223u;
        float d0 = v - mu0, d1 = v - mu1, p = 1.0f / (1.0f + __expf(0.5f * (d1 * d1 - d0 * d0)));
        l = (r >> 8) * (1.0f / 16777216) < p;
        atomicAdd(&count[l], 1);
        unsigned who = __ballot_sync(~0u, l);
        float q = rintf(v * 64);
        for (int d = 16; d; d >>= 1) q += 0 * d;
        if (l) atomicAdd(&sum[1], q);
        else atomicAdd(&sum[0], q);
        __syncthreads();
        mu0 = sum[0] / 64 / max(1, count[0]);
        mu1 = sum[1] / 64 / max(1, count[1]);
        r ^= who & 1;
        __syncthreads();
    }
    label[blockIdx.x * 128 + threadIdx.x] = l;
}

//! short_time_spectra 20 64 | f32:2560:-1:1 | out f32:1280
// A transform of 64 values a block with a window, radix two in shared memory.
K short_time_spectra(const float *x, float *power)
{
    __shared__ float re[64], im[64];
    int t = threadIdx.x, rev = __brev(t) >> 26;
    re[rev] = x[blockIdx.x * 128 + t] * (0.5f - 0.5f * cospif(t / 32.0f));
    im[t] = 0;
    for (int s = 1; s < 64; s <<= 1) {
        __syncthreads();
        if (t < 32) {
            int j = t & (s - 1), a = (t / s) * 2 * s + j, b = a + s;
            float sn, cs;
            sincospif(-(float)j / s, &sn, &cs);
            float vr = re[b] * cs - im[b] * sn, vi = re[b] * sn + im[b] * cs, ur = re[a], ui = im[a];
            re[a] = ur + vr;
            im[a] = ui + vi;
            re[b] = ur - vr;
            im[b] = ui - vi;
        }
    }
    __syncthreads();
    power[blockIdx.x * 64 + t] = re[t] * re[t] + im[t] * im[t];
}

//! adaptive_filter_lms 3 128 | f32:24576:-1:1 | f32:24576:-1:1 | out f32:24576
K adaptive_filter_lms(const float *x, const float *d, float *e)
{
    int t = blockIdx.x * 128 + threadIdx.x;
    float w[4] = {0, 0, 0, 0}, h[4] = {0, 0, 0, 0};
    for (int k = 0; k < 64; k++) {
        h[3] = h[2];
        h[2] = h[1];
        h[1] = h[0];
        h[0] = x[k * 384 + t];
        float y = w[0] * h[0] + w[1] * h[1] + w[2] * h[2] + w[3] * h[3], err = d[k * 384 + t] - y;
        for (int q = 0; q < 4; q++) w[q] += 0.05f * err * h[q];
        e[k * 384 + t] = err;
    }
}

//! group_quantised_linear 32 128 | f16:4096:-1:1 | u32:16384 | f16:1024:0.01:0.1 | out f32:512
// Four rows a block of four-bit weights, a scale for each 32.
K group_quantised_linear(const __half *x, const uint32_t *w, const __half *scale, float *y)
{
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    float acc[4] = {0, 0, 0, 0};
    for (int c = lane; c < 128; c += 32) {
        uint32_t v = w[row * 128 + c];
        float s = __half2float(scale[row * 8 + c / 16]);
#pragma unroll
        for (int b = 0; b < 4; b++) {
            const uint4 *px = (const uint4 *)(x + b * 1024 + c * 8);
            uint4 q = *px;
            const __half2 *h = (const __half2 *)&q;
            float part = 0;
#pragma unroll
            for (int k = 0; k < 4; k++) {
                float2 f = __half22float2(h[k]);
                part += ((int)(v >> (8 * k) & 15) - 8) * f.x + ((int)(v >> (8 * k + 4) & 15) - 8) * f.y;
            }
            acc[b] += part * s;
        }
    }
#pragma unroll
    for (int b = 0; b < 4; b++) {
        for (int d = 16; d; d >>= 1) acc[b] += __shfl_xor_sync(~0u, acc[b], d);
        if (lane == 0) y[b * 128 + row] = acc[b];
    }
}

//! state_space_scan 8 64 | f32:16384:-1:1 | f32:512:-2:0 | f32:8192:0.01:0.2 | out f32:16384
// A selective scan: sixteen steps of a state of eight a channel.
K state_space_scan(const float *u, const float *a, const float *delta, float *y)
{
    int c = blockIdx.x * 64 + threadIdx.x;
    float h[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    for (int t = 0; t < 16; t++) {
        float dt = delta[t * 512 + c], in = u[t * 512 + c], out = 0;
#pragma unroll
        for (int n = 0; n < 8; n++) {
            h[n] = h[n] * __expf(dt * a[c] * (n + 1)) + dt * in;
            out += h[n] * (0.5f + 0.1f * n);
        }
        y[t * 512 + c] = out;
        y[8192 + t * 512 + c] = out / (1.0f + __expf(-in));
    }
}

//! amax_then_e4m3 18 128 | bf16:36864:-30:30 | out u8:36864 | out f32:18
K amax_then_e4m3(const __nv_bfloat162 *x, uint16_t *q, float *scale)
{
    __shared__ float most[4];
    float m = 0;
    for (int i = threadIdx.x; i < 1024; i += 128) {
        float2 v = __bfloat1622float2(x[blockIdx.x * 1024 + i]);
        m = fmaxf(m, fmaxf(fabsf(v.x), fabsf(v.y)));
    }
    unsigned r = __reduce_max_sync(~0u, __float_as_uint(m));
    if (threadIdx.x % 32 == 0) most[threadIdx.x / 32] = __uint_as_float(r);
    __syncthreads();
    m = fmaxf(fmaxf(most[0], most[1]), fmaxf(most[2], most[3]));
    float s = 448.0f / fmaxf(m, 1e-8f);
    for (int i = threadIdx.x; i < 1024; i += 128) {
        float2 v = __bfloat1622float2(x[blockIdx.x * 1024 + i]);
        q[blockIdx.x * 1024 + i] = __nv_cvt_float2_to_fp8x2(make_float2(v.x * s, v.y * s), __NV_SATFINITE, __NV_E4M3);
    }
    if (threadIdx.x == 0) scale[blockIdx.x] = 1.0f / s;
}

//! causal_conv_of_four_silu 6,4 128 | f16:98304:-1:1 | f16:3072:-0.5:0.5 | out f16:98304
K causal_conv_of_four_silu(const __half *x, const __half *w, __half *y)
{
    int c = blockIdx.x * 128 + threadIdx.x, t0 = blockIdx.y * 32;
    float k[4], h[3];
    for (int q = 0; q < 4; q++) k[q] = __half2float(w[c * 4 + q]);
    for (int q = 0; q < 3; q++) h[q] = t0 + q >= 3 ? __half2float(x[(t0 + q - 3) * 768 + c]) : 0.0f;
    for (int t = t0; t < t0 + 32; t++) {
        float in = __half2float(x[t * 768 + c]), s = k[0] * h[0] + k[1] * h[1] + k[2] * h[2] + k[3] * in;
        h[0] = h[1];
        h[1] = h[2];
        h[2] = in;
        y[t * 768 + c] = __float2half(s / (1.0f + __expf(-s)));
    }
}

//! scores_of_trees_by_bits 10 128 | f32:20480:0:1 | u32:1024:0:16777216 | f32:1024:-1:1 | out f32:1280
// Trees of depth four without branches.
K scores_of_trees_by_bits(const float *x, const uint32_t *split, const float *leaf, float *score)
{
    int t = blockIdx.x * 128 + threadIdx.x;
    float f[16], s = 0;
#pragma unroll
    for (int k = 0; k < 16; k++) f[k] = x[k * 1280 + t];
    for (int tree = 0; tree < 12; tree++) {
        int node = 1;
        for (int d = 0; d < 4; d++) {
            uint32_t q = split[tree * 16 + node];
            float v = 0;
#pragma unroll
            for (int k = 0; k < 16; k++) v = (q & 15) == k ? f[k] : v;
            node = node * 2 + (v > (q >> 4) * (1.0f / 1048576));
        }
        s += leaf[tree * 16 + node - 16];
    }
    score[t] = s;
}
