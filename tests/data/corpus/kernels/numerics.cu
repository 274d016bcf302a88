/* numerics.cu - what the mathematics library and the narrow floating-point types are used for, row by row. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cstdint>
#define K extern "C" __global__ void

//! tails_of_gauss 24 192 | f64:4608:-3:3 | out f64:4608 | out f64:4608 | s s32 4608
K tails_of_gauss(const double *x, double *p, double *back, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double v = x[i];
    p[i] = v < 0 ? erfc(-v) * exp(v * v) : erfcx(v);
    back[i] = erfinv(erf(v * 0.5)) * 2.0 - v;
}

//! factorials_between 33 96 | f32:3100:0.1:9.5 | f64:3100:0.1:9.5 | out f32:3100 | out f64:3100 | s s32 3100
K factorials_between(const float *a, const double *b, float *r, double *s, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        r[i] = lgammaf(a[i]) - logf(tgammaf(a[i]));
        s[i] = lgamma(b[i]) + tgamma(-b[i] + 0.5);
    }
}

//! drum_modes 16,3 64 | f32:1024:0:25 | out f32:3072
K drum_modes(const float *radius, float *out)
{
    int i = blockIdx.x * 64 + threadIdx.x, order = blockIdx.y;
    float x = radius[i], v;
    if (order == 0) v = j0f(x) + y0f(x + 0.25f);
    else if (order == 1) v = j1f(x) * y1f(x + 0.25f);
    else v = jnf(4, x);
    out[order * 1024 + i] = v;
}

//! lengths_and_roots 20 256 | f32:5120:-50:50 | f32:5120:-50:50 | f32:5120:-50:50 | out f32:5120 | out f32:5120 | s s32 5000
K lengths_and_roots(const float *x, const float *y, const float *z, float *norm, float *root, int n)
{
    int i = threadIdx.x + blockDim.x * blockIdx.x;
    if (i < n) {
        float h = hypotf(x[i], y[i]), r = rnorm3df(x[i], y[i], z[i]);
        norm[i] = h * r + norm4df(x[i], y[i], z[i], 1.0f);
        root[i] = cbrtf(x[i]) + rcbrtf(y[i]) * rhypotf(y[i], z[i]);
    }
}

//! remainders_of_all_kinds 15 128 | f64:1920:-1000:1000 | f64:1920:0.5:7 | out f64:1920 | out s32:1920
K remainders_of_all_kinds(const double *a, const double *b, double *out, int *quotients)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, q, e;
    double whole;
    double r = fmod(a[i], b[i]);
    r += remainder(a[i], b[i]);
    r += remquo(a[i], b[i] * 1.5, &q);
    r *= frexp(b[i], &e);
    r += modf(a[i], &whole);
    out[i] = ldexp(r, q & 7) + nextafter(whole, a[i]);
    quotients[i] = q * 64 + e + ilogb(a[i]);
}

//! angles_between_stars 12 160 | f64:1920:-1:1 | f64:1920:-1:1 | out f64:1920 | out f64:1920
K angles_between_stars(const double *ra, const double *dec, double *sep, double *pa)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = (i * 7 + 3) % 1920;
    double s1, c1, s2, c2, sd, cd;
    sincospi(dec[i] * 0.5, &s1, &c1);
    sincospi(dec[j] * 0.5, &s2, &c2);
    sincos((ra[i] - ra[j]) * 3.141592653589793, &sd, &cd);
    sep[i] = atan2(sqrt(c2 * sd * c2 * sd + (c1 * s2 - s1 * c2 * cd) * (c1 * s2 - s1 * c2 * cd)), s1 * s2 + c1 * c2 * cd);
    pa[i] = acos(fmin(1.0, fabs(s1 * s2 + cd * c1 * c2))) - asinh(sd);
}

//! fans_of_options 30 128 | f32:3840:80:120 | f32:3840:0.1:2 | out f32:3840 | out f32:3840 | s f32 100.0 | s f32 0.03 | s f32 0.25
K fans_of_options(const float *spot, const float *years, float *price, float *delta, float strike, float rate, float sigma)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = spot[i], t = years[i], q = sigma * sqrtf(t);
    float d1 = (logf(s / strike) + (rate + 0.5f * sigma * sigma) * t) / q;
    delta[i] = normcdff(d1);
    price[i] = s * delta[i] - strike * expf(-rate * t) * normcdff(d1 - q) + normcdfinvf(0.5f * delta[i] + 0.1f);
}

//! growth_of_squares 17 96 | f64:1632:0.1:4 | f64:1632:-3:3 | f32:1632:0.1:4 | out f64:1632 | out f32:1632
K growth_of_squares(const double *base, const double *e, const float *f, double *out, float *outf)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double b = base[i], x = e[i];
    out[i] = pow(b, x) + exp2(x) - expm1(x * 0.01) * log1p(b) + log10(b) * cosh(x) + tanh(x) * exp10(x * 0.1);
    outf[i] = powf(f[i], (float)x) + sinhf((float)x) * log2f(f[i]) - acoshf(1.0f + f[i]) + tanf((float)x);
}

//! bf16_horner_relu 40 128 | bf16:10240:-1:1 | bf16:8:-1:1 | out bf16:10240
K bf16_horner_relu(const __nv_bfloat162 *x, const __nv_bfloat16 *coef, __nv_bfloat162 *y)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    __nv_bfloat162 v = x[i], acc = __bfloat162bfloat162(coef[7]);
#pragma unroll
    for (int k = 6; k >= 1; k--) acc = __hfma2(acc, v, __bfloat162bfloat162(coef[k]));
    acc = __hfma2_relu(acc, v, __bfloat162bfloat162(coef[0]));
    y[i] = __hmin2(acc, __floats2bfloat162_rn(2.0f, 3.0f));
}

//! half_transcendentals 24 128 | f16:6144:0.1:3 | f16:6144:-3:3 | out f16:6144 | out f16:6144
K half_transcendentals(const __half2 *a, const __half2 *b, __half2 *r, __half2 *s)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __half2 x = a[i], y = b[i];
    r[i] = __hadd2(h2exp(y), __hmul2(h2log2(x), h2rsqrt(x)));
    s[i] = __hsub2(h2sin(y), h2rint(__hmul2(y, h2sqrt(x))));
}

//! greater_halves_win 18 224 | f16:8064:-9:9 | f16:8064:-9:9 | out f16:8064 | out u32:4032 | s s32 4000
K greater_halves_win(const __half2 *a, const __half2 *b, __half2 *best, unsigned *mask, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __half2 x = a[i], y = b[i];
    unsigned gt = __hgt2_mask(x, y), eq = __heq2_mask(h2floor(x), h2floor(y));
    best[i] = __hmax2(__habs2(x), __hneg2(y));
    mask[i] = (gt & 0x00ff00ffu) | (eq & 0xff00ff00u) | (__hbgeu2(x, y) ? 1u : 0u);
}

//! eighths_of_words_multiplied 24 128 | u32:3072 | u32:3072 | out f32:3072 | out u32:3072
K eighths_of_words_multiplied(const uint32_t *a, const uint32_t *b, float *dot, uint32_t *product)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __nv_fp8x4_e4m3 p, q, r;
    p.__x = a[i] & 0x77777777u;
    q.__x = b[i] & 0x77777777u;
    float4 x = float4(p), y = float4(q);
    dot[i] = x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
    r = __nv_fp8x4_e4m3(make_float4(x.x * y.x, x.y * y.y, x.z * y.z, x.w * y.w));
    product[i] = r.__x;
}

//! stochastic_bytes 26 96 | f32:9984:-400:400 | out u8:9984 | s u32 77
// Rounded to e5m2 up or down by chance, the chance being how near it is.
K stochastic_bytes(const float4 *x, uint32_t *out, uint32_t seed)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 v = x[i];
    float in[4] = {v.x, v.y, v.z, v.w};
    uint32_t word = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        uint32_t h = (i * 4 + k) * 0x9E3779B9u ^ seed;
        h ^= h >> 15;
        h *= 0x2C1B3C6Du;
        h ^= h >> 13;
        uint32_t bits = __half_as_ushort(__float2half_rn(in[k]));
        bits += h & 0xff;
        word |= ((bits >> 8) & 0xff) << (8 * k);
    }
    out[i] = word;
}

template <typename T> struct Cx {
    T re, im;
    __device__ Cx operator*(Cx o) const { return {re * o.re - im * o.im, re * o.im + im * o.re}; }
    __device__ Cx operator+(Cx o) const { return {re + o.re, im + o.im}; }
    __device__ Cx operator/(Cx o) const
    {
        if (fabs(o.re) >= fabs(o.im)) {
            T r = o.im / o.re, d = o.re + o.im * r;
            return {(re + im * r) / d, (im - re * r) / d};
        }
        T r = o.re / o.im, d = o.im + o.re * r;
        return {(re * r + im) / d, (im * r - re) / d};
    }
};

template <typename T> __device__ void ladder(const T *z, T *out, int i, int steps)
{
    Cx<T> w = {z[2 * i], z[2 * i + 1]}, c = {(T)1, (T)0}, f = {(T)0, (T)0};
    for (int k = steps; k > 0; k--) f = Cx<T>{(T)k, (T)0.5} / (w + f) * c;
    out[2 * i] = f.re;
    out[2 * i + 1] = f.im;
}

//! complex_fractions_float 10 128 | f32:2560:-2:2 | out f32:2560 | s s32 9
K complex_fractions_float(const float *z, float *out, int steps) { ladder<float>(z, out, blockIdx.x * blockDim.x + threadIdx.x, steps); }

//! complex_fractions_double 9 96 | f64:1728:-2:2 | out f64:1728 | s s32 6
K complex_fractions_double(const double *z, double *out, int steps) { ladder<double>(z, out, blockIdx.x * blockDim.x + threadIdx.x, steps); }

//! halves_to_whole_numbers 14 256 | f32:3584:-70000:70000 | out s32:3584 | out s16:3584 | out f32:3584
K halves_to_whole_numbers(const float *x, int *i32, short *i16, float *back)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    __half h = __float2half_rz(v * 0.5f);
    i32[i] = __float2int_rd(v) ^ __float2int_ru(v * 1.5f) ^ (int)__float2ll_rz(v * 1e6f);
    i16[i] = __half2short_rn(h);
    back[i] = __short2half_rd((short)(v * 0.3f)) == h ? 1.0f : __half2float(__hfma_sat(h, __float2half(1e-5f), __float2half(0.5f)));
}
