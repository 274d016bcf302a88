/* figures.cu - arithmetic: chains and independent streams of each kind of number, and functions that take many instructions. */
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#define K extern "C" __global__ void
//! imad_streams 132 256 | u32:1024 | out u32:33792 | s s32 64
K imad_streams(const unsigned *in, unsigned *out, int rounds)
{
    unsigned t = blockIdx.x * 256 + threadIdx.x, a = in[t & 1023], b = a ^ 77, c = a + 5, d = ~a;
    for (int i = 0; i < rounds; i++) { a = a * b + c; b = b * c + d; c = c * d + a; d = d * a + b; }
    out[t] = a ^ b ^ c ^ d;
}
//! half2_chains 132 128 | u32:1024:0:15360 | out u32:16896 | s s32 96
K half2_chains(const unsigned *in, unsigned *out, int rounds)
{
    int t = blockIdx.x * 128 + threadIdx.x;
    half2 x = *(const half2 *)&in[t & 1023], y = __float2half2_rn(0.5f), z = x;
    for (int i = 0; i < rounds; i++) { y = __hfma2(y, x, z); z = __hmul2(z, x); y = __hmax2(y, z); }
    out[t] = *(unsigned *)&y;
}
//! newton_double 24 128 | f64:3072:1:1000 | out f64:3072
K newton_double(const double *in, double *out)
{
    int t = blockIdx.x * 128 + threadIdx.x;
    double a = in[t], x = a;
    for (int i = 0; i < 6; i++) x = 0.5 * (x + a / x);
    out[t] = x + sqrt(a) + rsqrt(a) + cbrt(a);
}
//! big_angles 32 128 | f32:4096:-1000000:1000000 | out f32:4096
K big_angles(const float *in, float *out) /* sin of arguments that need the long reduction */
{
    int t = blockIdx.x * 128 + threadIdx.x;
    float s, c;
    sincosf(in[t], &s, &c);
    out[t] = s * 0.75f + c;
}
//! montgomery 64 128 | u64:8192 | u64:8192 | out u64:8192
K montgomery(const uint64_t *a, const uint64_t *b, uint64_t *out)
{
    int t = blockIdx.x * 128 + threadIdx.x;
    const uint64_t m = 0xffffffff00000001ull;
    uint64_t x = a[t] % m, y = b[t] | 1;
    for (int i = 0; i < 12; i++) {
        uint64_t lo = x * y, hi = __umul64hi(x, y), q = lo * 0xfffffffeffffffffull, h = __umul64hi(q, m);
        x = hi >= h ? hi - h : hi - h + m;
        y += lo | 1;
    }
    out[t] = x;
}
//! bit_tricks 66 256 | u32:16896 | out u32:16896
K bit_tricks(const unsigned *in, unsigned *out)
{
    int t = blockIdx.x * 256 + threadIdx.x;
    unsigned x = in[t], s = 0;
    for (int i = 0; i < 16; i++) {
        s += __popc(x) * __clz(x | 1) + __ffs(x);
        x = __brev(x) ^ __funnelshift_l(x, s, 7);
        x = __byte_perm(x, s, 0x2143) + (x << 3 | x >> 13);
    }
    out[t] = x + s;
}
//! dp_filter 64 256 | u32:16640 | out s32:16384
K dp_filter(const unsigned *in, int *out) /* four bytes at a time against sixteen weights */
{
    int t = blockIdx.x * 256 + threadIdx.x, s = 0;
    for (int k = 0; k < 16; k++) {
        s = __dp4a((int)in[t + k], (int)(0x01fe02fd + k * 0x01010101), s);
        s = __dp2a_lo((int)in[t + k], (int)(0x7f80 - k), s);
    }
    out[t] = s;
}
//! rotations 48 128 | f32:24576:-1:1 | f32:18432:-1:1 | out f32:18432
K rotations(const float4 *q, const float *v, float *out)
{
    int t = blockIdx.x * 128 + threadIdx.x;
    float4 r = q[t];
    float n = rsqrtf(r.x * r.x + r.y * r.y + r.z * r.z + r.w * r.w);
    r.x *= n; r.y *= n; r.z *= n; r.w *= n;
    float x = v[3 * t], y = v[3 * t + 1], z = v[3 * t + 2];
    float cx = 2 * (r.y * z - r.z * y), cy = 2 * (r.z * x - r.x * z), cz = 2 * (r.x * y - r.y * x);
    out[3 * t] = x + r.w * cx + r.y * cz - r.z * cy;
    out[3 * t + 1] = y + r.w * cy + r.z * cx - r.x * cz;
    out[3 * t + 2] = z + r.w * cz + r.x * cy - r.y * cx;
}
//! power_law 40 256 | f32:10240:0.1:10 | out f32:10240 | s f32 2.4
K power_law(const float *in, float *out, float e)
{
    int t = blockIdx.x * 256 + threadIdx.x;
    float x = in[t];
    out[t] = powf(x, e) + expf(-x) * logf(x + 1) + tanhf(x) - atan2f(x, e);
}
//! mod_tables 48 192 | u32:9216 | out u32:9216 | s u32 1009 | s u32 24
K mod_tables(const unsigned *in, unsigned *out, unsigned m, unsigned n)
{
    int t = blockIdx.x * 192 + threadIdx.x;
    unsigned x = in[t] % m, s = 0;
    for (unsigned i = 1; i <= n; i++) { s += x / i; x = (x * x + i) % m; }
    out[t] = s * m + x;
}
//! bf16_mix 66 256 | bf16:33792:-2:2 | bf16:33792:-2:2 | out bf16:33792
K bf16_mix(const __nv_bfloat162 *a, const __nv_bfloat162 *b, __nv_bfloat162 *out)
{
    int t = blockIdx.x * 256 + threadIdx.x;
    __nv_bfloat162 x = a[t], y = b[t];
    for (int i = 0; i < 8; i++) { x = __hfma2(x, y, x); y = __hmin2(x, __hadd2(y, y)); }
    out[t] = __hsub2(x, y);
}
//! fma_streams 132 512 | f32:1024:-1:1 | out f32:67584 | s s32 100
K fma_streams(const float *in, float *out, int rounds)
{
    int t = blockIdx.x * 512 + threadIdx.x;
    float a = in[t & 1023], b = a * 0.5f, c = a * 0.25f, d = a * 0.125f, e = 1 - a;
    for (int i = 0; i < rounds; i++) { a = a * e + b; b = b * e + c; c = c * e + d; d = d * e + a; }
    out[t] = a + b + c + d;
}
//! decimal_digits 32 128 | u32:4096 | out u8:49152
K decimal_digits(const unsigned *in, uint8_t *out)
{
    int t = blockIdx.x * 128 + threadIdx.x;
    unsigned x = in[t];
    for (int i = 0; i < 12; i++) { out[t * 12 + 11 - i] = '0' + x % 10; x /= 10; }
}
