/* lanes.cu - arithmetic inside a word, carries, saturation and the instructions that only inline PTX reaches. */
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

//! four_bytes_simd 20 128 | u32:2560 | u32:2560 | out u32:2560
extern "C" __global__ void four_bytes_simd(const unsigned *a, const unsigned *b, unsigned *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = a[i], y = b[i], r = 0;
    for (int k = 0; k < 12; k++) {
        r += __vaddus4(x, y) ^ __vsubss4(x, y);
        r ^= __vavgu4(x, y) + __vcmpgtu4(x, y);
        x = __vmaxs4(x, r) ^ __vmins4(y, r);
        y = __vabsdiffu4(x, y) + __vsetleu4(r, x);
        r += __vsads4(x, y);
    }
    out[i] = r ^ x ^ y;
}

//! two_halves_simd 20 128 | u32:2560 | u32:2560 | out u32:2560
extern "C" __global__ void two_halves_simd(const unsigned *a, const unsigned *b, unsigned *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = a[i], y = b[i], r = 0;
    for (int k = 0; k < 12; k++) {
        r += __vaddss2(x, y) ^ __vsubus2(x, y);
        r ^= __vhaddu2(x, y) + __vcmpeq2(x & 0x00030003, y & 0x00030003);
        x = __vmaxu2(x, r) + __vnegss2(y);
        y = __vabsss2(x ^ r) + __vimax_s16x2_relu(x, y) + __vminu2(x, r);
    }
    out[i] = r ^ x ^ y;
}

//! video_scalars 16 96 | u32:1536 | u32:1536 | out u32:1536
// Bytes and halves picked from words, added with saturation and accumulated: vadd, vsub, vabsdiff, vmin, vshl, vmad, vset.
extern "C" __global__ void video_scalars(const unsigned *a, const unsigned *b, unsigned *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = a[i], y = b[i], r = x ^ y, t;
    for (int k = 0; k < 6; k++) {
        asm("vadd.s32.u32.s32.sat %0, %1.b1, %2.h0;" : "=r"(t) : "r"(x), "r"(y));
        r += t;
        asm("vsub.u32.u32.u32.add %0, %1.h1, %2.b0, %3;" : "=r"(t) : "r"(x), "r"(y), "r"(r));
        r ^= t;
        asm("vabsdiff.u32.s32.s32 %0, %1.b3, %2.b2;" : "=r"(t) : "r"(x), "r"(y));
        r += t;
        asm("vmin.s32.s32.s32.max %0, %1.h0, %2.h1, %3;" : "=r"(t) : "r"(x), "r"(y), "r"(r));
        x += t;
        asm("vshl.u32.u32.u32.clamp %0, %1.h0, %2.b0;" : "=r"(t) : "r"(x), "r"(y & 0x1f));
        r ^= t;
        asm("vmad.s32.s32.u32.shr7 %0, %1.h1, %2.b2, %3;" : "=r"(t) : "r"(x), "r"(y), "r"(r));
        y += t;
        asm("vset.s32.u32.lt %0, %1.b0, %2.b1;" : "=r"(t) : "r"(x), "r"(y));
        r = r * 5 + t;
    }
    out[i] = r ^ x ^ y;
}

//! mixed_sign_dots 18 128 | u32:2304 | u32:2304 | out s32:2304
extern "C" __global__ void mixed_sign_dots(const unsigned *a, const unsigned *b, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = a[i], y = b[i];
    int s = 0;
    for (int k = 0; k < 16; k++) {
        asm("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(s) : "r"(x), "r"(y));
        asm("dp4a.s32.u32 %0, %1, %2, %0;" : "+r"(s) : "r"(x), "r"(y ^ k));
        asm("dp2a.lo.s32.u32 %0, %1, %2, %0;" : "+r"(s) : "r"(x), "r"(y));
        asm("dp2a.hi.u32.s32 %0, %1, %2, %0;" : "+r"(s) : "r"(y), "r"(x));
        x = __byte_perm(x, s, 0x5106);
        y = __funnelshift_l(y, x, k);
    }
    out[i] = s;
}

//! saturated_sums 12 128 | s32:1536 | s32:1536 | out s32:1536
extern "C" __global__ void saturated_sums(const int *a, const int *b, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = a[i], y = b[i], s = 0, t;
    for (int k = 0; k < 20; k++) {
        asm("add.sat.s32 %0, %1, %2;" : "=r"(t) : "r"(x), "r"(y));
        s ^= t;
        asm("sub.sat.s32 %0, %1, %2;" : "=r"(t) : "r"(s), "r"(x));
        y += t >> 3;
        asm("mad.hi.sat.s32 %0, %1, %2, %3;" : "=r"(t) : "r"(x), "r"(y), "r"(s));
        s += t;
        asm("mul24.lo.s32 %0, %1, %2;" : "=r"(t) : "r"(x), "r"(y));
        s ^= t;
        asm("mul24.hi.u32 %0, %1, %2;" : "=r"(t) : "r"(x), "r"(y));
        x += t;
        asm("mad24.lo.s32 %0, %1, %2, %3;" : "=r"(x) : "r"(x), "r"(t), "r"(s));
        asm("slct.s32.s32 %0, %1, %2, %3;" : "=r"(t) : "r"(x), "r"(y), "r"(s));
        asm("cnot.b32 %0, %1;" : "=r"(y) : "r"(t & 3));
        y += t;
    }
    out[i] = s;
}

//! bytes_clamped 30 128 | s32:3840:-400:700 | f32:3840:-300:600 | out u32:3840
// Conversions with saturation to bytes and short integers and the packing ones.
extern "C" __global__ void bytes_clamped(const int *a, const float *f, unsigned *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = a[i];
    float y = f[i];
    unsigned r, t;
    asm("{.reg .u8 q; cvt.sat.u8.s32 q, %1; cvt.u32.u8 %0, q;}" : "=r"(r) : "r"(x));
    asm("{.reg .s8 q; cvt.sat.s8.s32 q, %1; cvt.s32.s8 %0, q;}" : "=r"(t) : "r"(x));
    r = r * 257 + t;
    asm("{.reg .u8 q; cvt.rni.sat.u8.f32 q, %1; cvt.u32.u8 %0, q;}" : "=r"(t) : "f"(y));
    r = r * 257 + t;
    asm("{.reg .s8 q; cvt.rzi.sat.s8.f32 q, %1; cvt.s32.s8 %0, q;}" : "=r"(t) : "f"(y));
    r = r * 257 + t;
    asm("{.reg .s16 q; cvt.rmi.sat.s16.f32 q, %1; cvt.s32.s16 %0, q;}" : "=r"(t) : "f"(y * 100));
    r = r * 257 + t;
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(t) : "r"(x), "r"(x * 3), "r"(r));
    r ^= t;
    asm("cvt.pack.sat.s16.s32 %0, %1, %2;" : "=r"(t) : "r"(x * 99), "r"(x * -77));
    out[i] = r + t;
}

//! half_activations 24 128 | f16:6144:-4:4 | f16:6144:-2:2 | out f16:6144
// tanh and ex2 of two halves, fused multiplication with relu and saturation, minimum with NaN, sign and magnitude.
extern "C" __global__ void half_activations(const half2 *a, const half2 *b, half2 *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = *(const unsigned *)(a + i), y = *(const unsigned *)(b + i), r, t;
    asm("tanh.approx.f16x2 %0, %1;" : "=r"(r) : "r"(x));
    asm("ex2.approx.f16x2 %0, %1;" : "=r"(t) : "r"(y));
    asm("fma.rn.relu.f16x2 %0, %1, %2, %3;" : "=r"(x) : "r"(x), "r"(y), "r"(r));
    asm("fma.rn.sat.f16x2 %0, %1, %2, %3;" : "=r"(y) : "r"(x), "r"(t), "r"(y));
    asm("min.NaN.f16x2 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(t));
    asm("max.xorsign.abs.f16x2 %0, %1, %2;" : "=r"(t) : "r"(y), "r"(r));
    asm("sub.rn.sat.f16x2 %0, %1, %2;" : "=r"(r) : "r"(t), "r"(x));
    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(r), "r"(y));
    asm("neg.f16x2 %0, %1;" : "=r"(t) : "r"(t));
    asm("add.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(r), "r"(t));
    *(unsigned *)(out + i) = r;
}

//! brain_pairs 24 128 | f32:6144:-3:3 | f32:6144:-2:2 | out bf16:6144
extern "C" __global__ void brain_pairs(const float2 *a, const float2 *b, unsigned *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float2 p = a[i], q = b[i];
    unsigned x, y, r, t;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(x) : "f"(p.x), "f"(p.y));
    asm("cvt.rz.relu.bf16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(q.x), "f"(q.y));
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(x));
    asm("fma.rn.relu.bf16x2 %0, %1, %2, %3;" : "=r"(t) : "r"(x), "r"(r), "r"(y));
    asm("max.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(r), "r"(t));
    asm("min.xorsign.abs.bf16x2 %0, %1, %2;" : "=r"(t) : "r"(r), "r"(x));
    asm("abs.bf16x2 %0, %1;" : "=r"(r) : "r"(r));
    asm("ex2.approx.ftz.bf16x2 %0, %1;" : "=r"(y) : "r"(t));
    asm("tanh.approx.bf16x2 %0, %1;" : "=r"(t) : "r"(r));
    asm("{.reg .b32 one; mov.b32 one, 0x3f803f80; fma.rn.bf16x2 %0, %1, one, %2;}" : "=r"(r) : "r"(t), "r"(y));
    out[i] = r;
}

//! eight_bit_floats 24 128 | f32:12288:-500:500 | out u32:3072 | out f16:6144
extern "C" __global__ void eight_bit_floats(const float4 *a, unsigned *bytes, unsigned *halves)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 v = a[i];
    unsigned short e4, e5, s4;
    unsigned h, g;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(e4) : "f"(v.x), "f"(v.y));
    asm("cvt.rn.satfinite.relu.e5m2x2.f32 %0, %1, %2;" : "=h"(e5) : "f"(v.z), "f"(v.w));
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(h) : "h"(e4));
    asm("cvt.rn.relu.f16x2.e5m2x2 %0, %1;" : "=r"(g) : "h"(e5));
    asm("mul.rn.f16x2 %0, %0, %1;" : "+r"(h) : "r"(0x38003800));
    asm("cvt.rn.satfinite.e4m3x2.f16x2 %0, %1;" : "=h"(s4) : "r"(h));
    bytes[i] = (e4 | (unsigned)e5 << 16) ^ s4 * 3u;
    halves[i] = h ^ g;
}

//! sign_tricks_f32 16 128 | f32:2048:-9:9 | f32:2048:-2:2 | out f32:2048
extern "C" __global__ void sign_tricks_f32(const float *a, const float *b, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = a[i], y = b[i], r = 0, t;
    for (int k = 0; k < 8; k++) {
        asm("max.xorsign.abs.f32 %0, %1, %2;" : "=f"(t) : "f"(x), "f"(y));
        r += t;
        asm("min.NaN.f32 %0, %1, %2;" : "=f"(t) : "f"(r), "f"(x));
        x = t * 0.5f;
        asm("tanh.approx.f32 %0, %1;" : "=f"(t) : "f"(x));
        y += t;
        asm("copysign.f32 %0, %1, %2;" : "=f"(t) : "f"(y), "f"(x));
        asm("fma.rn.sat.f32 %0, %1, %2, %3;" : "=f"(x) : "f"(t), "f"(x), "f"(r));
        asm("slct.f32.f32 %0, %1, %2, %3;" : "=f"(t) : "f"(x), "f"(y), "f"(r));
        r -= t;
        asm("{.reg .pred p; testp.finite.f32 p, %1; selp.f32 %0, %1, 0f00000000, p;}" : "=f"(r) : "f"(r));
        asm("add.rz.ftz.f32 %0, %1, %2;" : "=f"(x) : "f"(x), "f"(y));
        asm("mul.rp.f32 %0, %1, %2;" : "=f"(y) : "f"(y), "f"(0.9f));
    }
    out[i] = r + x + y;
}

//! fields_of_64 16 128 | u64:2048 | u32:2048 | out u64:2048
// Fields of 64 bits taken and put, reversed, counted and searched; shifts by more than the width.
extern "C" __global__ void fields_of_64(const unsigned long long *a, const unsigned *b, unsigned long long *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long x = a[i], r = 0, t;
    unsigned n = b[i], m;
    for (int k = 0; k < 10; k++) {
        asm("bfe.u64 %0, %1, %2, %3;" : "=l"(t) : "l"(x), "r"(n & 63), "r"(n >> 8 & 31));
        r += t;
        asm("bfe.s64 %0, %1, %2, %3;" : "=l"(t) : "l"(x), "r"(n >> 3 & 63), "r"(n >> 13 & 63));
        r ^= t;
        asm("bfi.b64 %0, %1, %0, %2, %3;" : "+l"(x) : "l"(r), "r"(n >> 5 & 63), "r"(n >> 17 & 31));
        asm("bfind.u64 %0, %1;" : "=r"(m) : "l"(t));
        n = n * 1664525 + m;
        asm("bfind.shiftamt.s64 %0, %1;" : "=r"(m) : "l"(x));
        r += __brevll(x) + m + __clzll(r) + __popcll(x);
        asm("shr.s64 %0, %1, %2;" : "=l"(t) : "l"(x), "r"(n >> 25));
        x ^= t;
        asm("shl.b64 %0, %1, %2;" : "=l"(t) : "l"(r), "r"(n >> 26 & 15));
        x += t;
    }
    out[i] = r ^ x;
}

//! carries_of_256 14 96 | u32:10752 | u32:10752 | out u32:10752
// 256-bit addition and subtraction by chains of carries and a conditional correction.
extern "C" __global__ void carries_of_256(const uint4 *a, const uint4 *b, uint4 *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint4 x0 = a[2 * i], x1 = a[2 * i + 1], y0 = b[2 * i], y1 = b[2 * i + 1];
    unsigned x[8] = {x0.x, x0.y, x0.z, x0.w, x1.x, x1.y, x1.z, x1.w}, y[8] = {y0.x, y0.y, y0.z, y0.w, y1.x, y1.y, y1.z, y1.w};
    for (int round = 0; round < 9; round++) {
        unsigned c;
        asm("add.cc.u32 %0, %0, %8; addc.cc.u32 %1, %1, %9; addc.cc.u32 %2, %2, %10; addc.cc.u32 %3, %3, %11;"
            : "+r"(x[0]), "+r"(x[1]), "+r"(x[2]), "+r"(x[3]), "+r"(x[4]), "+r"(x[5]), "+r"(x[6]), "+r"(x[7])
            : "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]), "r"(y[4]), "r"(y[5]), "r"(y[6]), "r"(y[7]));
        asm("add.cc.u32 %0, %0, %5; addc.cc.u32 %1, %1, %6; addc.cc.u32 %2, %2, %7; addc.cc.u32 %3, %3, %8; addc.u32 %4, 0, 0;"
            : "+r"(x[4]), "+r"(x[5]), "+r"(x[6]), "+r"(x[7]), "=r"(c)
            : "r"(y[4]), "r"(y[5]), "r"(y[6]), "r"(y[7]));
        if (c)
            asm("sub.cc.u32 %0, %0, 977; subc.cc.u32 %1, %1, 1; subc.cc.u32 %2, %2, 0; subc.cc.u32 %3, %3, 0; subc.u32 %4, %4, 0;"
                : "+r"(x[0]), "+r"(x[1]), "+r"(x[2]), "+r"(x[3]), "+r"(x[4]));
        for (int k = 0; k < 8; k++) y[k] ^= x[(k + 3) & 7] >> round;
    }
    out[2 * i] = make_uint4(x[0], x[1], x[2], x[3]);
    out[2 * i + 1] = make_uint4(x[4], x[5], x[6], x[7]);
}

//! small_divisions 20 128 | s16:2560 | u8:2560:1:256 | u16:2560:1:65535 | out s32:2560
// Quotients and remainders of bytes and short words, shifts of 16 bits, products that widen.
extern "C" __global__ void small_divisions(const short *a, const unsigned char *b, const unsigned short *c, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    short x = a[i], q;
    unsigned char d = b[i] ? b[i] : 1;
    unsigned short u = c[i], v;
    int s = x / d + (unsigned char)(u / d) * 3 + (signed char)(x % d);
    asm("div.s16 %0, %1, %2;" : "=h"(q) : "h"(x), "h"((short)d));
    asm("rem.u16 %0, %1, %2;" : "=h"(v) : "h"((unsigned short)x), "h"(u));
    s = s * 3 + q - v;
    asm("mul.wide.s16 %0, %1, %2;" : "=r"(i) : "h"(x), "h"(q));
    s ^= i;
    asm("mad.wide.u16 %0, %1, %2, %3;" : "=r"(i) : "h"(u), "h"(v), "r"(s));
    asm("mul.hi.s16 %0, %1, %2;" : "=h"(q) : "h"(x), "h"((short)u));
    asm("shr.s16 %0, %1, %2;" : "=h"(x) : "h"(q), "r"(d & 7));
    asm("shl.b16 %0, %1, %2;" : "=h"(u) : "h"(u), "r"(d >> 5));
    out[blockIdx.x * blockDim.x + threadIdx.x] = s + i + q + x * u;
}
