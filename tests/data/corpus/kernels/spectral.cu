/* spectral.cu - transforms, filters and long numbers. */
#include <cstdint>
#define K extern "C" __global__ void
static __device__ uint32_t mulmod(uint32_t a, uint32_t b) { return (uint32_t)((uint64_t)a * b % 998244353u); }
//! ntt_block 40 128 | inout u32:10240:0:998244353 | s u32 476477967
// 256 points modulo 998244353 a block; the argument is a root of unity of order 256.
K ntt_block(uint32_t *data, uint32_t root)
{
    __shared__ uint32_t a[256], w[128];
    int t = threadIdx.x;
    uint32_t *p = data + blockIdx.x * 256, r = 1, b = root;
    for (int e = t; e; e >>= 1, b = mulmod(b, b))
        if (e & 1) r = mulmod(r, b);
    w[t] = r;
    a[__brev(t) >> 24] = p[t];
    a[__brev(t + 128) >> 24] = p[t + 128];
    __syncthreads();
    for (int h = 1; h < 256; h *= 2) {
        int j = t % h, i = t / h * 2 * h + j;
        uint32_t u = a[i], v = mulmod(a[i + h], w[j * (128 / h)]), s = u + v;
        a[i] = s >= 998244353u ? s - 998244353u : s;
        a[i + h] = u >= v ? u - v : u + 998244353u - v;
        __syncthreads();
    }
    p[t] = a[t];
    p[t + 128] = a[t + 128];
}
//! dct16_rows 30 128 | f32:61440:-1:1 | out f32:61440
// A cosine transform of sixteen numbers in registers, recursion by templates.
template <int N> struct Dct {
    static __device__ void run(float *v)
    {
        float a[N / 2], b[N / 2];
#pragma unroll
        for (int i = 0; i < N / 2; i++) {
            a[i] = v[i] + v[N - 1 - i];
            b[i] = (v[i] - v[N - 1 - i]) * (0.5f / cosf((i + 0.5f) * 3.14159265f / N));
        }
        Dct<N / 2>::run(a);
        Dct<N / 2>::run(b);
#pragma unroll
        for (int i = 0; i < N / 2; i++) {
            v[2 * i] = a[i];
            v[2 * i + 1] = i + 1 < N / 2 ? b[i] + b[i + 1] : b[i];
        }
    }
};
template <> struct Dct<1> {
    static __device__ void run(float *) {}
};
K dct16_rows(const float4 *in, float4 *out)
{
    int t = blockIdx.x * 128 + threadIdx.x;
    float v[16];
#pragma unroll
    for (int k = 0; k < 4; k++) {
        float4 q = in[t * 4 + k];
        v[4 * k] = q.x, v[4 * k + 1] = q.y, v[4 * k + 2] = q.z, v[4 * k + 3] = q.w;
    }
    Dct<16>::run(v);
#pragma unroll
    for (int k = 0; k < 4; k++) out[t * 4 + k] = make_float4(v[4 * k], v[4 * k + 1], v[4 * k + 2], v[4 * k + 3]);
}
//! wavelet_97 50 64 | inout f32:25600:-128:128 | s s32 3
// Cohen-Daubechies-Feauveau 9/7 by lifting, 512 samples a block, several levels.
K wavelet_97(float *signal, int levels)
{
    __shared__ float s[512], o[512];
    float *g = signal + blockIdx.x * 512;
    for (int i = threadIdx.x; i < 512; i += 64) s[i] = g[i];
    const float lift[4] = {-1.586134342f, -0.05298011854f, 0.8829110762f, 0.4435068522f};
    for (int l = 0, n = 512; l < levels; l++, n /= 2) {
        for (int q = 0; q < 4; q++) {
            __syncthreads();
            for (int i = 2 * threadIdx.x + 1 - (q & 1); i < n; i += 128) {
                int left = i > 0 ? i - 1 : 1, right = i + 1 < n ? i + 1 : n - 2;
                s[i] += lift[q] * (s[left] + s[right]);
            }
        }
        __syncthreads();
        for (int i = threadIdx.x; i < n; i += 64) o[i / 2 + (i & 1) * n / 2] = s[i] * (i & 1 ? 0.8128930661f : 1.230174105f);
        __syncthreads();
        for (int i = threadIdx.x; i < n; i += 64) s[i] = o[i];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 512; i += 64) g[i] = s[i];
}
//! hadamard_warp 60 160 | s32:76800:-100:100 | out s32:76800
// 256 numbers a warp: five steps across lanes, three within one.
K hadamard_warp(const int4 *in, int4 *out)
{
    int i = (blockIdx.x * 160 + threadIdx.x) * 2, lane = threadIdx.x & 31;
    int4 a = in[i], b = in[i + 1];
    int v[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
#pragma unroll
    for (int h = 1; h < 8; h *= 2)
#pragma unroll
        for (int k = 0; k < 8; k++)
            if (!(k & h)) {
                int x = v[k], y = v[k | h];
                v[k] = x + y;
                v[k | h] = x - y;
            }
    for (int h = 1; h < 32; h *= 2)
#pragma unroll
        for (int k = 0; k < 8; k++) {
            int o = __shfl_xor_sync(~0u, v[k], h);
            v[k] = lane & h ? o - v[k] : v[k] + o;
        }
    out[i] = make_int4(v[0], v[1], v[2], v[3]);
    out[i + 1] = make_int4(v[4], v[5], v[6], v[7]);
}
//! goertzel_tones 16 64 | s16:16384 | out f32:1024 | s s32 205
// Eight tones of a telephone on 128 lines: a thread a tone and line.
__constant__ float tones[8] = {697, 770, 852, 941, 1209, 1336, 1477, 1633};
K goertzel_tones(const int16_t *in, float *power, int n)
{
    int t = blockIdx.x * 64 + threadIdx.x, line = t / 8;
    float c = 2 * cosf(6.2831853f * tones[t % 8] / 8000), a = 0, b = 0;
    for (int i = 0; i < n; i++) {
        float s = in[(line * 128 + i) & 16383] / 32768.0f + c * a - b;
        b = a;
        a = s;
    }
    power[t] = a * a + b * b - c * a * b;
}
//! fft_512_radix8 32 64 | f32:32768:-1:1 | out f32:32768
// 512 complex points a block, eight in a thread's registers, two turns through shared memory.
static __device__ float2 cmul(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
static __device__ void bfly(float2 &a, float2 &b)
{
    float2 t = a;
    a = make_float2(t.x + b.x, t.y + b.y);
    b = make_float2(t.x - b.x, t.y - b.y);
}
static __device__ void fft8(float2 *v)
{
    const float h = 0.70710678f;
#pragma unroll
    for (int k = 0; k < 4; k++) bfly(v[k], v[k + 4]);
    v[5] = cmul(v[5], make_float2(h, -h));
    v[6] = make_float2(v[6].y, -v[6].x);
    v[7] = cmul(v[7], make_float2(-h, -h));
#pragma unroll
    for (int b = 0; b < 8; b += 4) {
        bfly(v[b], v[b + 2]);
        bfly(v[b + 1], v[b + 3]);
        v[b + 3] = make_float2(v[b + 3].y, -v[b + 3].x);
        bfly(v[b], v[b + 1]);
        bfly(v[b + 2], v[b + 3]);
    }
}
static __device__ void turn(float2 *v, float angle)
{
    const int order[8] = {0, 4, 2, 6, 1, 5, 3, 7};
#pragma unroll
    for (int k = 1; k < 8; k++) {
        float s, c;
        sincosf(angle * order[k], &s, &c);
        v[k] = cmul(v[k], make_float2(c, s));
    }
}
K __launch_bounds__(64) fft_512_radix8(const float2 *in, float2 *out)
{
    __shared__ float s[8 * 66];
    const int order[8] = {0, 4, 2, 6, 1, 5, 3, 7};
    int t = threadIdx.x, hi = t / 8, lo = t % 8;
    float2 v[8];
#pragma unroll
    for (int k = 0; k < 8; k++) v[k] = in[blockIdx.x * 512 + t + 64 * k];
    fft8(v);
    turn(v, -6.2831853f / 512 * t);
    for (int part = 0; part < 2; part++) {
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 8; k++) s[order[k] * 66 + t] = part ? v[k].y : v[k].x;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 8; k++) (part ? v[k].y : v[k].x) = s[hi * 66 + lo + 8 * k];
    }
    fft8(v);
    turn(v, -6.2831853f / 64 * lo);
    for (int part = 0; part < 2; part++) {
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 8; k++) s[hi * 66 + order[k] * 8 + lo] = part ? v[k].y : v[k].x;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 8; k++) (part ? v[k].y : v[k].x) = s[hi * 66 + lo * 8 + k];
    }
    fft8(v);
#pragma unroll
    for (int k = 0; k < 8; k++) out[blockIdx.x * 512 + hi + 8 * lo + 64 * order[k]] = v[k];
}
//! dft_direct 6 64 | f64:384:-1:1 | out f64:768
// The sum as the book has it, in double precision, 64 points a block.
K dft_direct(const double *in, double2 *out)
{
    __shared__ double x[64];
    x[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
    __syncthreads();
    double2 s = make_double2(0, 0);
    for (int k = 0; k < 64; k++) {
        double c, d;
        sincospi(-2.0 * k * threadIdx.x / 64, &d, &c);
        s.x += x[k] * c;
        s.y += x[k] * d;
    }
    out[blockIdx.x * 64 + threadIdx.x] = s;
}
//! fir_decimate 40 128 | f32:20512:-1:1 | f32:32:-1:1 | out f32:5120
// A filter of 32 taps that keeps every fourth sample; the block's samples in shared memory, a branch of the filter a bank.
K fir_decimate(const float *x, const float *h, float *y)
{
    __shared__ float s[4][137], taps[32];
    for (int i = threadIdx.x; i < 544; i += 128) s[i & 3][i >> 2] = x[blockIdx.x * 512 + i];
    if (threadIdx.x < 32) taps[threadIdx.x] = h[31 - threadIdx.x];
    __syncthreads();
    float a = 0;
#pragma unroll 4
    for (int j = 0; j < 32; j++) a += taps[j] * s[j & 3][threadIdx.x + (j >> 2)];
    y[blockIdx.x * 128 + threadIdx.x] = a;
}
//! biquad_cascade 8 32 | f32:49152:-1:1 | out f32:49152 | s s32 192
// Four sections of recursive filters on 256 channels, the samples of a moment side by side.
K biquad_cascade(const float *in, float *out, int n)
{
    int ch = blockIdx.x * 32 + threadIdx.x;
    float z1[4] = {}, z2[4] = {}, w = 0.05f + 0.0005f * ch;
    for (int i = 0; i < n; i++) {
        float v = in[i * 256 + ch];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            float b = w * (k + 1), y = b * v + z1[k];
            z1[k] = 2 * b * v + 0.4f * y + z2[k];
            z2[k] = b * v - 0.3f * y;
            v = y;
        }
        out[i * 256 + ch] = v;
    }
}
//! limb_squares 24 32 | u32:24576 | out u32:49152
// Squares of numbers of 32 words: a warp a number, lanes are words, products and carries go round by shuffles.
K limb_squares(const uint32_t *in, uint32_t *out)
{
    int lane = threadIdx.x, n = blockIdx.x * 32;
    for (int k = 0; k < 32; k++) {
        uint32_t a = in[(n + k) * 32 + lane];
        uint64_t low = 0, high = 0;
        uint32_t carry = 0;
        for (int j = 0; j < 32; j++) {
            uint64_t p = (uint64_t)a * __shfl_sync(~0u, a, j) + low + carry;
            uint32_t word = __shfl_sync(~0u, (uint32_t)p, 0);
            if (lane == j) high = word;
            carry = (uint32_t)(p >> 32);
            low = __shfl_down_sync(~0u, (uint32_t)p, 1);
            if (lane == 31) low = 0;
        }
        out[(n + k) * 64 + lane] = (uint32_t)high;
        uint64_t v = low + carry;
        while (__any_sync(~0u, (v >> 32) != 0)) {
            uint32_t c = __shfl_up_sync(~0u, (uint32_t)(v >> 32), 1);
            v = (uint32_t)v + (uint64_t)(lane ? c : 0);
        }
        out[(n + k) * 64 + 32 + lane] = (uint32_t)v;
    }
}
