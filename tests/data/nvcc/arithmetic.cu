// Double, half, bfloat16, 8-bit floats, integer intrinsics and mathematical functions.
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cstdint>
__global__ void doubles(double *x, int n) { int i = threadIdx.x; double a = x[i]; x[i] = fma(a, sqrt(a), sin(a)) / pow(a, 1.5) + exp(-a) * log(a) + fmod(a, 3.0) + erf(a) + lgamma(a) + rint(a) + cbrt(a) + j0(a); }
__global__ void floats(float *x) { int i = threadIdx.x; float a = x[i]; x[i] = __fdividef(sinf(a), __expf(a)) + tanhf(a) + powf(a, 2.5f) + rsqrtf(a) + __frcp_rz(a) + fmaf(a, a, a) + truncf(a) + remainderf(a, 2.0f) + ldexpf(a, 3) + __saturatef(a) + atan2f(a, 2) + erfcinvf(a); }
__global__ void halves(__half *x, __half2 *y, __nv_bfloat16 *z, __nv_bfloat162 *w)
{
    int i = threadIdx.x;
    x[i] = __hfma(x[i], x[i], hsqrt(x[i])) + hexp(x[i]);
    y[i] = __hmin2(__hfma2_relu(y[i], y[i], y[i]), __floats2half2_rn(1.f, 2.f));
    z[i] = __hadd_sat(z[i], __float2bfloat16(0.5f)) * z[i + 1];
    w[i] = __hmax2_nan(__hmul2(w[i], w[i]), h2log(w[i]));
    atomicAdd(&y[0], y[i]); atomicAdd(&w[0], w[i]);
    if (__hltu(x[i], x[i + 1]) || __hisnan(z[i])) x[i] = hsin(x[i]);
}
__global__ void small(__nv_fp8_e4m3 *a, __nv_fp8_e5m2 *b, __nv_fp8x4_e4m3 *c, float4 *f) { int i = threadIdx.x; a[i] = __nv_fp8_e4m3((float)b[i] * 2); c[i] = __nv_fp8x4_e4m3(f[i]); f[i] = (float4)c[i]; }
__global__ void integers(int *x, long long *y, unsigned *z, uint8_t *b)
{
    int i = threadIdx.x;
    x[i] = __mulhi(x[i], x[i + 1]) + __popc(x[i]) + __clz(x[i]) + __ffs(x[i]) + __brev(x[i]) + __byte_perm(x[i], 3, 0x1234) + __dp4a(x[i], 7, 9) + __sad(x[i], 4, 5u);
    y[i] = __mul64hi(y[i], 12345678901ll) / (y[i] | 1) % 77 + __clzll(y[i]);
    z[i] = __vadd4(z[i], 0x01020304) ^ __vabsdiffu2(z[i], 5) ^ __funnelshift_l(z[i], 3, 7) ^ __vmaxs4(z[i], 1) ^ __vcmpgtu2(z[i], 9);
    b[i] = (uint8_t)(b[i] * 3 >> 1);
    __int128 q = (__int128)y[i] * y[i + 1]; y[i] ^= (long long)(q >> 64) / 3;
}
