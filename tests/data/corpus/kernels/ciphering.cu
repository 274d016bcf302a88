// ciphering.cu - crypto, 64-bit integers, random numbers, bits
#include <cstdint>
#define K extern "C" __global__ void

//! salsa20_rounds 40 64 | u32:40960 | out u32:40960
K salsa20_rounds(const uint32_t *in, uint32_t *out)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, x[16];
    const uint4 *p = (const uint4 *)(in + 16 * i);
#pragma unroll
    for (int k = 0; k < 4; k++) { uint4 v = p[k]; x[4 * k] = v.x; x[4 * k + 1] = v.y; x[4 * k + 2] = v.z; x[4 * k + 3] = v.w; }
    auto q = [&](int a, int b, int c, int d) {
        uint32_t s = x[a] + x[d]; x[b] ^= __funnelshift_l(s, s, 7);
        s = x[b] + x[a]; x[c] ^= __funnelshift_l(s, s, 9);
        s = x[c] + x[b]; x[d] ^= __funnelshift_l(s, s, 13);
        s = x[d] + x[c]; x[a] ^= __funnelshift_l(s, s, 18);
    };
    for (int r = 0; r < 10; r++) {
        q(0, 4, 8, 12); q(5, 9, 13, 1); q(10, 14, 2, 6); q(15, 3, 7, 11);
        q(0, 1, 2, 3); q(5, 6, 7, 4); q(10, 11, 8, 9); q(15, 12, 13, 14);
    }
#pragma unroll
    for (int k = 0; k < 16; k++) out[16 * i + k] = x[k] + in[16 * i + k];
}

//! blake2s_mix 40 64 | u32:40960 | out u32:20480
__constant__ uint8_t sigma[4][16] = {{0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15},{14,10,4,8,9,15,13,6,1,12,0,2,11,7,5,3},{11,8,12,0,5,2,15,13,10,14,3,6,7,1,9,4},{7,9,3,1,13,12,11,14,2,6,5,10,4,0,15,8}};
K blake2s_mix(const uint32_t *in, uint32_t *out)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, v[16];
    const uint32_t *m = in + 16 * i;
    for (int k = 0; k < 16; k++) v[k] = 0x6a09e667u * (k + 1);
#define G(a, b, c, d, x, y) v[a] += v[b] + x; v[d] = __funnelshift_r(v[d] ^ v[a], v[d] ^ v[a], 16); v[c] += v[d]; v[b] = __funnelshift_r(v[b] ^ v[c], v[b] ^ v[c], 12); \
    v[a] += v[b] + y; v[d] = __funnelshift_r(v[d] ^ v[a], v[d] ^ v[a], 8); v[c] += v[d]; v[b] = __funnelshift_r(v[b] ^ v[c], v[b] ^ v[c], 7);
#pragma unroll 1
    for (int r = 0; r < 10; r++) {
        const uint8_t *s = sigma[r & 3];
        G(0, 4, 8, 12, m[s[0]], m[s[1]]) G(1, 5, 9, 13, m[s[2]], m[s[3]]) G(2, 6, 10, 14, m[s[4]], m[s[5]]) G(3, 7, 11, 15, m[s[6]], m[s[7]])
        G(0, 5, 10, 15, m[s[8]], m[s[9]]) G(1, 6, 11, 12, m[s[10]], m[s[11]]) G(2, 7, 8, 13, m[s[12]], m[s[13]]) G(3, 4, 9, 14, m[s[14]], m[s[15]])
    }
#undef G
    for (int k = 0; k < 8; k++) out[8 * i + k] = v[k] ^ v[k + 8];
}

//! montgomery_power 30 64 | u64:1920 | out u64:1920 | s u64 18446744069414584321 | s u32 65537
K montgomery_power(const uint64_t *in, uint64_t *out, uint64_t p, uint32_t e)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    uint64_t b = in[i] % p, r = 1;
    while (e) {
        auto mulmod = [p](uint64_t x, uint64_t y) {
            uint64_t lo = x * y, hi = __umul64hi(x, y);
            uint64_t hh = hi >> 32, hl = hi & 0xffffffffu;
            uint64_t t = lo - hh;
            if (lo < hh) t -= 0xffffffffu;
            uint64_t u = hl * 0xffffffffull, s = t + u;
            if (s < t) s += 0xffffffffu;
            return s >= p ? s - p : s;
        };
        if (e & 1) r = mulmod(r, b);
        b = mulmod(b, b);
        e >>= 1;
    }
    out[i] = r;
}

//! binary_gcd_64 30 64 | u64:1920 | u64:1920 | out u64:1920
K binary_gcd_64(const uint64_t *a, const uint64_t *b, uint64_t *out)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    uint64_t u = a[i] | 1, v = b[i];
    if (v == 0) { out[i] = u; return; }
    while (v) {
        v >>= __ffsll((long long)v) - 1;
        if (u > v) { uint64_t t = u; u = v; v = t; }
        v -= u;
    }
    out[i] = u;
}

//! bignum_256_add_mul 30 64 | u32:15360 | u32:15360 | out u32:30720
K bignum_256_add_mul(const uint32_t *a, const uint32_t *b, uint32_t *out)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, r[16];
    const uint32_t *x = a + 8 * i, *y = b + 8 * i;
#pragma unroll
    for (int k = 0; k < 16; k++) r[k] = 0;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        uint32_t c = 0;
#pragma unroll
        for (int k = 0; k < 8; k++) {
            uint64_t t = (uint64_t)x[k] * y[j] + r[j + k] + c;
            r[j + k] = (uint32_t)t;
            c = t >> 32;
        }
        r[j + 8] = c;
    }
#pragma unroll
    for (int k = 0; k < 16; k++) out[16 * i + k] = r[k];
}

//! pcg_pi 40 128 | u64:5120 | out u32:5120 | s s32 60
K pcg_pi(const uint64_t *seed, uint32_t *out, int n)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, in = 0;
    uint64_t s = seed[i];
    for (int k = 0; k < n; k++) {
        float c[2];
#pragma unroll
        for (int d = 0; d < 2; d++) {
            uint64_t o = s;
            s = o * 6364136223846793005ull + (i * 2 + 1);
            uint32_t x = (uint32_t)(((o >> 18) ^ o) >> 27), r = (uint32_t)(o >> 59);
            x = x >> r | x << (-r & 31);
            c[d] = x * 2.3283064e-10f;
        }
        in += c[0] * c[0] + c[1] * c[1] < 1.0f;
    }
    out[i] = in;
}

//! philox_normals_anew 40 128 | out f32:20480 | s u32 77 | s u32 5
K philox_normals_anew(float *out, uint32_t key0, uint32_t key1)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, c0 = i, c1 = 0, c2 = 3, c3 = 4;
    for (int r = 0; r < 10; r++) {
        uint64_t p = (uint64_t)c0 * 0xD2511F53u, q = (uint64_t)c2 * 0xCD9E8D57u;
        c0 = (uint32_t)(q >> 32) ^ c1 ^ key0;
        c1 = (uint32_t)q;
        c2 = (uint32_t)(p >> 32) ^ c3 ^ key1;
        c3 = (uint32_t)p;
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    float u = (c0 >> 8) * 5.9604645e-8f + 2.9802322e-8f, v = c1 * 1.4629181e-9f;
    float rad = sqrtf(-2.0f * logf(u)), sn, cs;
    sincosf(v, &sn, &cs);
    ((float4 *)out)[i] = make_float4(rad * cs, rad * sn, __uint2float_rn(c2) * 0x1p-32f, __uint2float_rn(c3) * 0x1p-32f);
}

//! mersenne_step 6 227 | zero u32:3744 | u32:6
K mersenne_step(uint32_t *out, const uint32_t *seed)
{
    __shared__ uint32_t s[624];
    int t = threadIdx.x;
    if (t == 0) {
        s[0] = seed[blockIdx.x];
        for (int k = 1; k < 624; k++) s[k] = 1812433253u * (s[k - 1] ^ s[k - 1] >> 30) + k;
    }
    __syncthreads();
    for (int base = 0; base < 624; base += 227) {
        int k = base + t;
        uint32_t v = 0;
        if (k < 624) {
            uint32_t y = (s[k] & 0x80000000u) | (s[(k + 1) % 624] & 0x7fffffffu);
            v = s[(k + 397) % 624] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0u);
        }
        __syncthreads();
        if (k < 624) s[k] = v;
        __syncthreads();
    }
    for (int k = t; k < 624; k += 227) {
        uint32_t y = s[k];
        y ^= y >> 11; y ^= y << 7 & 0x9d2c5680u; y ^= y << 15 & 0xefc60000u; y ^= y >> 18;
        out[blockIdx.x * 624 + k] = y;
    }
}

//! hamming_neighbours 30 128 | u64:3840 | u64:200 | out u32:3840 | s s32 200
K hamming_neighbours(const uint64_t *q, const uint64_t *db, uint32_t *out, int n)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, best = 65, at = 0;
    uint64_t v = q[i];
    for (int k = 0; k < n; k++) {
        uint32_t d = __popcll(v ^ db[k]);
        if (d < best) { best = d; at = k; }
    }
    out[i] = best << 16 | at;
}

//! gray_morton_hilbert 40 128 | u32:5120 | out u32:5120 | out u32:5120
K gray_morton_hilbert(const uint32_t *in, uint32_t *morton, uint32_t *hilbert)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i], x = v & 0xffff, y = v >> 16;
    auto spread = [](uint32_t a) {
        a = (a | a << 8) & 0x00ff00ffu; a = (a | a << 4) & 0x0f0f0f0fu; a = (a | a << 2) & 0x33333333u; return (a | a << 1) & 0x55555555u;
    };
    morton[i] = spread(x) | spread(y) << 1;
    uint32_t d = 0;
    for (uint32_t s = 32768; s > 0; s >>= 1) {
        uint32_t rx = (x & s) > 0, ry = (y & s) > 0;
        d += s * s * ((3 * rx) ^ ry);
        if (ry == 0) {
            if (rx == 1) { x = 65535 - x; y = 65535 - y; }
            uint32_t t = x; x = y; y = t;
        }
    }
    hilbert[i] = d;
}

//! sha1_block_anew 20 64 | u32:20480 | out u32:6400
K sha1_block_anew(const uint32_t *in, uint32_t *out)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, w[16];
#pragma unroll
    for (int k = 0; k < 16; k++) w[k] = __byte_perm(in[16 * i + k], 0, 0x0123);
    uint32_t a = 0x67452301u, b = 0xefcdab89u, c = 0x98badcfeu, d = 0x10325476u, e = 0xc3d2e1f0u;
#pragma unroll
    for (int t = 0; t < 80; t++) {
        if (t >= 16) { uint32_t x = w[(t + 13) & 15] ^ w[(t + 8) & 15] ^ w[(t + 2) & 15] ^ w[t & 15]; w[t & 15] = __funnelshift_l(x, x, 1); }
        uint32_t f, k;
        if (t < 20) { f = (b & c) | (~b & d); k = 0x5a827999u; }
        else if (t < 40) { f = b ^ c ^ d; k = 0x6ed9eba1u; }
        else if (t < 60) { f = (b & c) | (b & d) | (c & d); k = 0x8f1bbcdcu; }
        else { f = b ^ c ^ d; k = 0xca62c1d6u; }
        uint32_t n = __funnelshift_l(a, a, 5) + f + e + k + w[t & 15];
        e = d; d = c; c = __funnelshift_l(b, b, 30); b = a; a = n;
    }
    out[5 * i] = a; out[5 * i + 1] = b; out[5 * i + 2] = c; out[5 * i + 3] = d; out[5 * i + 4] = e;
}

//! sieve_of_segment 12 128 | out u32:12 | s u32 1000000
K sieve_of_segment(uint32_t *out, uint32_t from)
{
    __shared__ uint32_t bits[128];
    __shared__ uint32_t n;
    uint32_t t = threadIdx.x, lo = from + blockIdx.x * 4096;
    bits[t] = 0xffffffffu;
    if (t == 0) n = 0;
    __syncthreads();
    for (uint32_t d = 2 + t; d * d < lo + 4096; d += 128) {
        if (d > 2 && (d & 1) == 0) continue;
        for (uint32_t m = (lo + d - 1) / d * d - lo; m < 4096; m += d) atomicAnd(&bits[m >> 5], ~(1u << (m & 31)));
    }
    __syncthreads();
    atomicAdd(&n, __popc(bits[t]));
    __syncthreads();
    if (t == 0) out[blockIdx.x] = n;
}

//! digits_of_numbers 40 128 | u64:5120 | out u8:102400
K digits_of_numbers(const uint64_t *in, uint8_t *out)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    uint64_t v = in[i];
    uint8_t *p = out + 20 * i + 19;
    do { *p-- = (uint8_t)('0' + v % 10); v /= 10; } while (v);
}
