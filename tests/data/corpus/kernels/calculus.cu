/* calculus.cu - functions of CUDA's mathematical library in programs that need them: doubles, floats, halves; also whole numbers of 64 and 128 bits. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cmath>
#include <cstdint>

//! pendulum_double 66 128 | f64:8448:0.1:3 | out f64:8448 | s f64 0.01 | s s32 40
// Symplectic steps of a pendulum; sine in double every step.
extern "C" __global__ void pendulum_double(const double *__restrict__ start, double *__restrict__ out, double dt, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double q = start[i], p = 0;
    for (int k = 0; k < steps; k++) {
        p -= dt * sin(q);
        q += dt * p;
    }
    out[i] = 0.5 * p * p - cos(q);
}

//! gamma_ratio 96 128 | f64:12288:0.5:20 | f64:12288:0.5:8 | out f64:12288
extern "C" __global__ void gamma_ratio(const double *__restrict__ a, const double *__restrict__ b, double *__restrict__ out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double x = a[i], y = b[i];
    out[i] = exp(lgamma(x + y) - lgamma(x) - lgamma(y)) * tgamma(fmod(x, 3.0) + 1.0);
}

//! error_double 132 128 | f64:16896:-3:3 | out f64:16896 | out f64:16896
extern "C" __global__ void error_double(const double *__restrict__ in, double *__restrict__ e, double *__restrict__ inv)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double v = erf(in[i]);
    e[i] = v * erfc(in[i]);
    inv[i] = normcdfinv(0.5 + 0.4999 * v);
}

//! roots_cube 128 256 | f64:32768:-100:100 | out f64:32768
extern "C" __global__ void roots_cube(const double *__restrict__ in, double *__restrict__ out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double x = in[i];
    out[i] = cbrt(x) * rsqrt(fabs(x) + 1.0) + rcbrt(x * x + 2.0) + hypot(x, 3.0) / sqrt(x * x + 0.5);
}

//! angle_double 100 128 | f64:25600:-10:10 | out f64:12800 | out f64:12800
extern "C" __global__ void angle_double(const double2 *__restrict__ in, double *__restrict__ polar, double *__restrict__ other)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double2 v = in[i];
    double r = norm3d(v.x, v.y, 1.0);
    polar[i] = atan2(v.y, v.x) + asin(v.x / r) * acos(v.y / r);
    other[i] = sinh(v.x * 0.25) - tanh(v.y) + log1p(fabs(v.x)) * expm1(v.y * 0.1);
}

//! power_double 64 128 | f64:8192:0.1:9 | f64:8192:-4:4 | out f64:8192 | s s32 3
extern "C" __global__ void power_double(const double *__restrict__ base, const double *__restrict__ exponent, double *__restrict__ out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double x = base[i], y = exponent[i], s = 0;
    for (int k = 0; k < n; k++) s += pow(x, y + k) * log2(x + k) - exp2(y) / log10(x + 10.0 + k);
    out[i] = s;
}

//! bessel_float 132 128 | f32:16896:0:12 | out f32:16896
extern "C" __global__ void bessel_float(const float *__restrict__ in, float *__restrict__ out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i];
    out[i] = j0f(x) * j1f(x) + y0f(x + 1.0f) - cyl_bessel_i0f(x * 0.3f) + jnf(3, x);
}

//! float_library 264 128 | f32:33792:-8:8 | out f32:33792
extern "C" __global__ void float_library(const float *__restrict__ in, float *__restrict__ out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i], s, c;
    sincospif(x, &s, &c);
    float v = s * tgammaf(fabsf(x) * 0.5f + 0.5f) + c * lgammaf(fabsf(x) + 0.25f);
    v += remainderf(x, 1.7f) + fmodf(x, 0.3f) + ldexpf(x, i % 9 - 4) + logbf(x) + nextafterf(x, 3.0f);
    v += erfcxf(x * 0.2f) + erfinvf(x * 0.12f) + rhypotf(x, 2.0f) + atanhf(x * 0.12f) + asinhf(x) + acoshf(fabsf(x) + 1.0f);
    int e;
    v += frexpf(x, &e) * e + powf(fabsf(x), 1.3f) + cbrtf(x) + tanf(x) + exp10f(x * 0.1f);
    out[i] = v;
}

//! half_library 132 128 | f16:33792:0.1:4 | out f16:33792
extern "C" __global__ void half_library(const half2 *__restrict__ in, half2 *__restrict__ out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    half2 x = in[i];
    half2 a = h2sin(x), b = h2cos(x), c = h2exp(__hneg2(x)), d = h2log2(x);
    half2 e = __hfma2(a, b, __hmul2_sat(c, d)), f = __h2div(e, __hadd2(x, __float2half2_rn(0.5f)));
    half2 g = __hmax2(__hmin2(f, h2rsqrt(x)), h2trunc(x)), h = __hadd2(h2sqrt(x), h2rcp(x));
    __half lo = hexp10(__hmul(__low2half(x), __float2half(0.2f))), hi = htanh(__high2half(x));
    out[i] = __hfma2_relu(g, h, __halves2half2(lo, hi));
}

//! brain_library 132 128 | bf16:33792:0.2:3 | out bf16:33792 | out u32:16896
extern "C" __global__ void brain_library(const __nv_bfloat162 *__restrict__ in, __nv_bfloat162 *__restrict__ out, unsigned *__restrict__ flags)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __nv_bfloat162 x = in[i], one = __float2bfloat162_rn(1.0f);
    __nv_bfloat162 s = __h2div(one, __hadd2(one, h2exp(__hneg2(x))));
    __nv_bfloat162 t = __hfma2(s, x, __hmul2(h2log(x), h2rsqrt(x)));
    flags[i] = __hgt2_mask(t, s) ^ __hle2_mask(x, one) ^ (__hbeq2(s, t) ? 1u : 0u);
    out[i] = __hmin2_nan(__habs2(t), __hmax2(s, h2ceil(x)));
}

//! fractions_wide 66 128 | u64:16896:1:1000000000000 | u64:8448:1:100000 | out u64:8448 | s s32 6
// Products of 128 bits divided by 64, and remainders: the parts of a modular power.
extern "C" __global__ void fractions_wide(const unsigned long long *__restrict__ a, const unsigned long long *__restrict__ e, unsigned long long *__restrict__ out, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long m = a[8448 + i] | 1, b = a[i] % m, x = e[i], r = 1;
    for (int k = 0; k < rounds && x; k++, x >>= 1) {
        if (x & 1) r = (unsigned long long)((unsigned __int128)r * b % m);
        b = (unsigned long long)((unsigned __int128)b * b % m);
    }
    out[i] = r ^ (unsigned long long)((__int128)((long long)b - (long long)r) * (long long)m >> 20);
}

//! root_integer 264 128 | u64:33792 | out u32:33792 | out u32:33792
// The whole root of 64 bits by Newton in integers, and the greatest power of three below.
extern "C" __global__ void root_integer(const unsigned long long *__restrict__ in, unsigned *__restrict__ root, unsigned *__restrict__ threes)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long v = in[i] >> 3, x = 1ull << ((65 - __clzll(v)) / 2);
    for (;;) {
        unsigned long long y = (x + v / x) >> 1;
        if (y >= x) break;
        x = y;
    }
    unsigned long long p = 1;
    int k = 0;
    while (p <= v / 3) p *= 3, k++;
    root[i] = (unsigned)x;
    threes[i] = k;
}

//! option_greeks 132 64 | f64:8448:50:150 | f64:8448:60:140 | f64:8448:0.1:2 | out f64:25344
// Price, delta and vega of a European option in double, with the normal distribution from erfc.
extern "C" __global__ void option_greeks(const double *__restrict__ spot, const double *__restrict__ strike, const double *__restrict__ years, double *__restrict__ out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    double s = spot[i], k = strike[i], t = years[i], r = 0.03, v = 0.2, root = sqrt(t);
    double d1 = (log(s / k) + (r + 0.5 * v * v) * t) / (v * root), d2 = d1 - v * root;
    double n1 = 0.5 * erfc(-d1 * 0.7071067811865476), n2 = normcdf(d2);
    out[i] = s * n1 - k * exp(-r * t) * n2;
    out[n + i] = n1;
    out[2 * n + i] = s * root * exp(-0.5 * d1 * d1) * 0.3989422804014327;
}
