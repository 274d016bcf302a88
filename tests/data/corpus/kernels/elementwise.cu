// Kernels that treat one element, or a few, a thread.
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <stdint.h>

//! axpy_vec4 132 256 | s f32 1.5 | s s32 100000 | f32:100000:-1:1 | inout f32:100000:-2:2
extern "C" __global__ void axpy_vec4(float a, int n, const float4 *__restrict__ x, float4 *__restrict__ y)
{
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += stride) {
        float4 u = x[i], v = y[i];
        v.x = fmaf(a, u.x, v.x);
        v.y = fmaf(a, u.y, v.y);
        v.z = fmaf(a, u.z, v.z);
        v.w = fmaf(a, u.w, v.w);
        y[i] = v;
    }
}

//! half2_lerp 196 128 | f16:50000:-4:4 | f16:50000:-4:4 | f16:50000:0:1 | out f16:50000 | s s32 25000
extern "C" __global__ void half2_lerp(const half2 *a, const half2 *b, const half2 *t, half2 *o, int n)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i >= n) return;
    half2 d = __hsub2(b[i], a[i]);
    half2 r = __hfma2(t[i], d, a[i]);
    r = __hmax2(r, __float2half2_rn(-3.5f));
    o[i] = __hmin2(r, __float2half2_rn(3.5f));
}

//! bf16_gelu 100 256 | bf16:60000:-5:5 | out bf16:60000 | s s32 60000
extern "C" __global__ void bf16_gelu(const __nv_bfloat16 *in, __nv_bfloat16 *out, int n)
{
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        float x = __bfloat162float(in[i]);
        float u = 0.7978845608f * (x + 0.044715f * x * x * x);
        out[i] = __float2bfloat16(0.5f * x * (1.0f + tanhf(u)));
    }
}

//! erf_gelu_vec 60 192 | f32:40000:-4:4 | out f32:40000 | s u32 10000
extern "C" __global__ void erf_gelu_vec(const float *__restrict__ in, float *__restrict__ out, unsigned quads)
{
    const unsigned i = blockIdx.x * 192u + threadIdx.x;
    if (i < quads) {
        float4 v = reinterpret_cast<const float4 *>(in)[i];
        float *p = &v.x;
#pragma unroll
        for (int k = 0; k < 4; k++) p[k] = p[k] * normcdff(p[k]);
        reinterpret_cast<float4 *>(out)[i] = v;
    }
}

//! poly_double 80 128 | f64:10000:-2:2 | out f64:10000 | s s32 10000
extern "C" __global__ void poly_double(const double *x, double *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double v = x[i], acc = 0.0, p = 1.0;
    for (int k = 1; k <= 24; k++) {
        acc += p / (double)(k * k + 1);
        p *= v;
    }
    y[i] = acc;
}

__constant__ double chebyshev[12] = {0.5, -0.25, 0.125, 1.5, -0.75, 0.3125, 0.1, -0.0625, 0.03, 0.015625, -0.007, 0.0039};
//! clenshaw 64 256 | f64:16384:-1:1 | out f64:16384
extern "C" __global__ void clenshaw(const double *x, double *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double b1 = 0, b2 = 0, t = x[i];
#pragma unroll
    for (int k = 11; k > 0; k--) {
        double b = 2 * t * b1 - b2 + chebyshev[k];
        b2 = b1;
        b1 = b;
    }
    y[i] = t * b1 - b2 + chebyshev[0];
}

//! libm_single 48 256 | f32:12000:0.1:30 | out f32:12000 | s s32 12000
extern "C" __global__ void libm_single(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = x[i];
        y[i] = sinf(v) * expf(-0.1f * v) + powf(v, 0.37f) + log1pf(v) - cbrtf(v) + atan2f(v, 2.0f);
    }
}

//! libm_double 24 128 | f64:3000:-20:20 | out f64:3000 | s s32 3000
extern "C" __global__ void libm_double(const double *x, double *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        double v = x[i], s, c;
        sincos(v, &s, &c);
        y[i] = s * exp(c) + pow(fabs(v) + 0.5, 1.7) - sqrt(v * v + 1.0) / log(2.0 + fabs(v));
    }
}

//! quantise_rows 128 128 | f32:65536:-3:3 | out s8:65536 | out f32:128 | s s32 512
extern "C" __global__ void quantise_rows(const float *in, int8_t *q, float *scale, int cols)
{
    __shared__ float top[4];
    const float *row = in + (size_t)blockIdx.x * cols;
    float m = 0;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) m = fmaxf(m, fabsf(row[c]));
    for (int d = 16; d; d >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
    if ((threadIdx.x & 31) == 0) top[threadIdx.x >> 5] = m;
    __syncthreads();
    m = fmaxf(fmaxf(top[0], top[1]), fmaxf(top[2], top[3]));
    float s = m / 127.0f, inv = s > 0 ? 1.0f / s : 0.0f;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        int v = __float2int_rn(row[c] * inv);
        q[(size_t)blockIdx.x * cols + c] = (int8_t)max(-127, min(127, v));
    }
    if (threadIdx.x == 0) scale[blockIdx.x] = s;
}

//! dequant_int4 64 256 | u32:16384 | f16:1024:0.01:0.1 | out f16:131072
extern "C" __global__ void dequant_int4(const uint32_t *packed, const half *scale, half *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t w = packed[i];
    half s = scale[i >> 4];
    half r[8];
#pragma unroll
    for (int k = 0; k < 8; k++) r[k] = __hmul(__int2half_rn((int)((w >> (4 * k)) & 15) - 8), s);
    *reinterpret_cast<uint4 *>(out + 8 * i) = *reinterpret_cast<uint4 *>(r);
}

//! div64_mix 64 128 | u64:8192:1:1000000007 | s64:8192 | out s64:8192
extern "C" __global__ void div64_mix(const uint64_t *a, const int64_t *b, int64_t *o)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint64_t d = a[i];
    int64_t x = b[i], q = x / (int64_t)d, r = x % (int64_t)(d >> 7 | 1);
    uint64_t y = (uint64_t)x;
    for (int k = 0; k < 4; k++) y = y / (d >> k | 3) + (uint64_t)r * 31;
    o[i] = q ^ r ^ (int64_t)y;
}

//! date_split 64 256 | s32:16384:0:4000000 | out s32:16384 | s s32 97 | s s32 1461
extern "C" __global__ void date_split(const int *days, int *packed, int p, int q)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int z = days[i] + 719468, era = z / 146097, doe = z - era * 146097;
    int yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
    int d = doy - (153 * mp + 2) / 5 + 1, m = mp < 10 ? mp + 3 : mp - 9;
    packed[i] = ((yoe + era * 400 + (m <= 2)) * 16 + m) * 32 + d + z % p + z / q;
}
