/* vaults.cu - ciphers, hashes, arithmetic of long numbers and fields; options, rates and risks. */
#include <cstdint>
#define K extern "C" __global__ void
typedef unsigned long long u64;

__device__ __forceinline__ uint32_t rl(uint32_t v, int n) { return __funnelshift_l(v, v, n); }

//! compressed_by_sm3 40 64 | u32:40960 | out u32:20480
K compressed_by_sm3(const uint32_t *msg, uint32_t *out)
{
    int i = blockIdx.x * 64 + threadIdx.x, n = gridDim.x * 64;
    uint32_t w[68], v[8] = {0x7380166f, 0x4914b2b9, 0x172442d7, 0xda8a0600, 0xa96f30bc, 0x163138aa, 0xe38dee4d, 0xb0fb0e4e};
#pragma unroll
    for (int k = 0; k < 16; k++) w[k] = msg[k * n + i];
#pragma unroll
    for (int k = 16; k < 68; k++) {
        uint32_t x = w[k - 16] ^ w[k - 9] ^ rl(w[k - 3], 15);
        w[k] = x ^ rl(x, 15) ^ rl(x, 23) ^ rl(w[k - 13], 7) ^ w[k - 6];
    }
    uint32_t a = v[0], b = v[1], c = v[2], d = v[3], e = v[4], f = v[5], g = v[6], h = v[7];
#pragma unroll
    for (int k = 0; k < 64; k++) {
        uint32_t t = k < 16 ? 0x79cc4519u : 0x7a879d8au, s1 = rl(rl(a, 12) + e + rl(t, k % 32), 7), s2 = s1 ^ rl(a, 12);
        uint32_t ff = k < 16 ? a ^ b ^ c : (a & b) | (a & c) | (b & c), gg = k < 16 ? e ^ f ^ g : (e & f) | (~e & g);
        uint32_t t1 = ff + d + s2 + (w[k] ^ w[k + 4]), t2 = gg + h + s1 + w[k];
        d = c, c = rl(b, 9), b = a, a = t1, h = g, g = rl(f, 19), f = e, e = t2 ^ rl(t2, 9) ^ rl(t2, 17);
    }
    uint32_t r[8] = {a, b, c, d, e, f, g, h};
#pragma unroll
    for (int k = 0; k < 8; k++) out[k * n + i] = v[k] ^ r[k];
}

//! stream_of_trivium_by_words 12 32 | u32:3072 | out u32:12288
// Registers of 93, 84 and 111 bits in words of 64, 32 bits of keystream a step.
K stream_of_trivium_by_words(const uint32_t *key, uint32_t *out)
{
    int i = blockIdx.x * 32 + threadIdx.x, n = gridDim.x * 32;
    u64 a0 = key[i] | (u64)key[n + i] << 32, a1 = key[2 * n + i] & 0x1fffffff, b0 = key[3 * n + i] | (u64)key[4 * n + i] << 32, b1 = key[5 * n + i] & 0xfffff, c0 = key[6 * n + i] | (u64)key[7 * n + i] << 32, c1 = 7ull << 44;
    // register x of two words; bits p-1 .. p+30 before the newest (bit 0)
#define TAP(x, p) (uint32_t)((p) >= 64 ? x##1 >> ((p) - 64) : (x##0 >> (p)) | ((p) > 32 ? x##1 << (64 - (p)) : 0))
    for (int k = 0; k < 32 + 36; k++) {
        uint32_t t1 = TAP(a, 34) ^ TAP(a, 61), t2 = TAP(b, 37) ^ TAP(b, 52), t3 = TAP(c, 34) ^ TAP(c, 79);
        uint32_t z = t1 ^ t2 ^ t3;
        t1 ^= (TAP(a, 59) & TAP(a, 60)) ^ TAP(b, 46);
        t2 ^= (TAP(b, 50) & TAP(b, 51)) ^ TAP(c, 55);
        t3 ^= (TAP(c, 77) & TAP(c, 78)) ^ TAP(a, 37);
        a1 = a1 << 32 | a0 >> 32, a0 = a0 << 32 | t3;
        b1 = b1 << 32 | b0 >> 32, b0 = b0 << 32 | t1;
        c1 = c1 << 32 | c0 >> 32, c0 = c0 << 32 | t2;
        if (k >= 36) out[(k - 36) * n + i] = z;
    }
}

//! rows_of_memory_mixed_by_wide_products 16 32 | inout u64:65536
// The mixing of Argon: 128 words of 64 bits a half warp, columns and rows of 16, four of them a thread.
__device__ __forceinline__ u64 fm(u64 a, u64 b) { return a + b + 2 * (u64)(uint32_t)a * (uint32_t)b; }
__device__ __forceinline__ u64 rr(u64 v, int n) { return v >> n | v << (64 - n); }
__device__ __forceinline__ void quarter(u64 &a, u64 &b, u64 &c, u64 &d)
{
    a = fm(a, b), d = rr(d ^ a, 32), c = fm(c, d), b = rr(b ^ c, 24);
    a = fm(a, b), d = rr(d ^ a, 16), c = fm(c, d), b = rr(b ^ c, 63);
}
K rows_of_memory_mixed_by_wide_products(u64 *mem)
{
    int lane = threadIdx.x, g = lane / 4, q = lane % 4;
    u64 *m = mem + blockIdx.x * 4096;
    for (int blk = 0; blk < 32; blk++) {
        u64 *p = m + blk * 128 + g * 16, v[4];
#pragma unroll
        for (int k = 0; k < 4; k++) v[k] = p[k * 4 + q] ^ (blk ? p[k * 4 + q - 128] : 0);
        quarter(v[0], v[1], v[2], v[3]);
#pragma unroll
        for (int k = 1; k < 4; k++) v[k] = __shfl_sync(~0u, v[k], q + k, 4);
        quarter(v[0], v[1], v[2], v[3]);
#pragma unroll
        for (int k = 1; k < 4; k++) v[k] = __shfl_sync(~0u, v[k], q - k, 4);
#pragma unroll
        for (int k = 0; k < 4; k++) v[k] ^= __shfl_xor_sync(~0u, v[k], 16);
        quarter(v[0], v[1], v[2], v[3]);
#pragma unroll
        for (int k = 0; k < 4; k++) p[k * 4 + q] = v[k];
        __syncwarp();
    }
}

//! products_by_limbs_of_fifty_one_bits 30 64 | u64:9600 | u64:9600 | out u64:9600
// The field of Curve25519: a product, then 20 squares.
__device__ __forceinline__ void mac(u64 &lo, u64 &hi, u64 a, u64 b)
{
    u64 l = a * b, h = __umul64hi(a, b);
    lo += l;
    hi += h + (lo < l);
}
__device__ void mul51(u64 *r, const u64 *a, const u64 *b)
{
    u64 lo[5] = {}, hi[5] = {};
#pragma unroll
    for (int i = 0; i < 5; i++)
#pragma unroll
        for (int j = 0; j < 5; j++) mac(lo[(i + j) % 5], hi[(i + j) % 5], a[i], i + j >= 5 ? 19 * b[j] : b[j]);
    u64 c = 0;
#pragma unroll
    for (int k = 0; k < 5; k++) {
        u64 l = lo[k] + c, h = hi[k] + (l < c);
        r[k] = l & 0x7ffffffffffff;
        c = h << 13 | l >> 51;
    }
    r[0] += 19 * c;
    r[1] += r[0] >> 51;
    r[0] &= 0x7ffffffffffff;
}
K products_by_limbs_of_fifty_one_bits(const u64 *x, const u64 *y, u64 *out)
{
    int i = blockIdx.x * 64 + threadIdx.x, n = gridDim.x * 64;
    u64 a[5], b[5];
#pragma unroll
    for (int k = 0; k < 5; k++) a[k] = x[k * n + i] >> 13, b[k] = y[k * n + i] >> 13;
    mul51(a, a, b);
    for (int s = 0; s < 20; s++) mul51(a, a, a);
#pragma unroll
    for (int k = 0; k < 5; k++) out[k * n + i] = a[k];
}

//! transformed_in_the_goldilocks_field 8 128 | u64:4096 | out u64:4096
// 512 numbers modulo 2^64 - 2^32 + 1 a block, radix two in shared memory; roots are powers of 7^((p-1)/512).
__device__ __forceinline__ u64 gadd(u64 a, u64 b)
{
    const u64 p = 0xffffffff00000001ull;
    u64 s = a + b;
    if (s < a || s >= p) s -= p;
    return s;
}
__device__ __forceinline__ u64 gsub(u64 a, u64 b) { return a >= b ? a - b : a - b + 0xffffffff00000001ull; }
__device__ __forceinline__ u64 gmul(u64 a, u64 b)
{
    u64 lo = a * b, hi = __umul64hi(a, b), h = hi >> 32, l = (uint32_t)hi, t = lo - h;
    if (lo < h) t -= 0xffffffffull;
    u64 m = (l << 32) - l, r = t + m;
    if (r < m) r += 0xffffffffull;
    return r >= 0xffffffff00000001ull ? r - 0xffffffff00000001ull : r;
}
K transformed_in_the_goldilocks_field(const u64 *in, u64 *out)
{
    __shared__ u64 s[512], root[256];
    int t = threadIdx.x;
    if (t == 0) {
        u64 g = 7, r = 1, e = 0xffffffff00000000ull / 512;
        while (e) {
            if (e & 1) r = gmul(r, g);
            g = gmul(g, g), e >>= 1;
        }
        root[0] = 1;
        for (int k = 1; k < 256; k++) root[k] = gmul(root[k - 1], r);
    }
    for (int i = t; i < 512; i += 128) s[__brev(i) >> 23] = in[blockIdx.x * 512 + i] % 0xffffffff00000001ull;
    __syncthreads();
    for (int half = 1; half < 512; half *= 2) {
#pragma unroll
        for (int q = 0; q < 2; q++) {
            int i = q * 128 + t, j = (i & ~(half - 1)) * 2 + (i & (half - 1));
            u64 a = s[j], b = gmul(s[j + half], root[(i & (half - 1)) * (256 / half)]);
            s[j] = gadd(a, b);
            s[j + half] = gsub(a, b);
        }
        __syncthreads();
    }
    for (int i = t; i < 512; i += 128) out[blockIdx.x * 512 + i] = s[i];
}

//! polynomials_of_kyber_multiplied 44 64 | s16:11264:0:3329 | s16:11264:0:3329 | out s16:11264
// 256 coefficients modulo 3329 a block, pairs in the transformed domain, Montgomery in 16 bits.
__device__ __forceinline__ int mont(int a)
{
    int16_t t = (int16_t)((int16_t)a * (int16_t)-3327);
    return (a - t * 3329) >> 16;
}
K polynomials_of_kyber_multiplied(const short2 *a, const short2 *b, short2 *c)
{
    __shared__ short2 s[128];
    for (int i = threadIdx.x; i < 128; i += 64) {
        short2 x = a[blockIdx.x * 128 + i], y = b[blockIdx.x * 128 + i];
        int z = 1, e = i;
        for (int p = 17; e; e >>= 1) {
            if (e & 1) z = z * p % 3329;
            p = p * p % 3329;
        }
        s[i].x = (short)(mont(mont(x.y * y.y) * z) + mont(x.x * y.x));
        s[i].y = (short)(mont(x.x * y.y) + mont(x.y * y.x));
    }
    __syncthreads();
    for (int len = 64; len >= 8; len /= 2) {
        int i = threadIdx.x, j = (i / len) * 2 * len + i % len;
        short2 u = s[j], v = s[j + len];
        __syncthreads();
        s[j].x = (short)((u.x + v.x) % 3329), s[j].y = (short)((u.y + v.y) % 3329);
        s[j + len].x = (short)mont((u.x - v.x) * (17 * len + 1)), s[j + len].y = (short)mont((u.y - v.y) * (17 * len + 1));
        __syncthreads();
    }
    for (int i = threadIdx.x; i < 128; i += 64) c[blockIdx.x * 128 + i] = s[i];
}

//! powers_of_five_hundred_twelve_bits 4 32 | u32:2048 | u32:2048 | out u32:2048 | s s32 12
// Montgomery products by rows, 16 words of 32 bits in local arrays with loops that stay loops.
K powers_of_five_hundred_twelve_bits(const uint32_t *base, const uint32_t *mod, uint32_t *out, int squares)
{
    int i = blockIdx.x * 32 + threadIdx.x, n = gridDim.x * 32;
    uint32_t a[16], m[16], t[18];
    for (int k = 0; k < 16; k++) a[k] = base[k * n + i] >> (k == 15), m[k] = mod[k * n + i] | (k == 0) | (k == 15 ? 0x80000000u : 0);
    uint32_t inv = 1;
    for (int k = 0; k < 5; k++) inv *= 2 - m[0] * inv;
    inv = -inv;
#pragma unroll 1
    for (int s = 0; s < squares; s++) {
        for (int k = 0; k < 18; k++) t[k] = 0;
#pragma unroll 1
        for (int j = 0; j < 16; j++) {
            u64 c = 0;
            for (int k = 0; k < 16; k++) {
                c += (u64)a[k] * a[j] + t[k];
                t[k] = (uint32_t)c, c >>= 32;
            }
            c += t[16];
            t[16] = (uint32_t)c, t[17] = (uint32_t)(c >> 32);
            uint32_t q = t[0] * inv;
            c = ((u64)q * m[0] + t[0]) >> 32;
            for (int k = 1; k < 16; k++) {
                c += (u64)q * m[k] + t[k];
                t[k - 1] = (uint32_t)c, c >>= 32;
            }
            c += t[16];
            t[15] = (uint32_t)c, t[16] = t[17] + (uint32_t)(c >> 32);
        }
        uint32_t borrow = 0, d[16];
        for (int k = 0; k < 16; k++) {
            u64 v = (u64)t[k] - m[k] - borrow;
            d[k] = (uint32_t)v, borrow = (uint32_t)(v >> 63);
        }
        bool keep = borrow && !t[16];
        for (int k = 0; k < 16; k++) a[k] = keep ? t[k] : d[k];
    }
    for (int k = 0; k < 16; k++) out[k * n + i] = a[k];
}

//! bytes_hashed_by_wide_folding 33 64 | u64:33792 | out u64:2112
K bytes_hashed_by_wide_folding(const ulonglong2 *in, u64 *out)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    u64 s = 0x2d358dccaa6c78a5ull + i;
    for (int k = 0; k < 8; k++) {
        ulonglong2 v = in[i * 8 + k];
        u64 a = v.x ^ 0x8bb84b93962eacc9ull, b = v.y ^ s;
        s = (a * b) ^ __umul64hi(a, b);
    }
    out[i] = s * 0x4b33a62ed433d4a3ull ^ __umul64hi(s, 0x4b33a62ed433d4a3ull);
}

//! rates_of_markets_with_forty_maturities 15 32 | u32:480 | out f32:480
// Forward rates in a local array, 20 steps; swaptions' value at the end.
K rates_of_markets_with_forty_maturities(const uint32_t *seed, float *out)
{
    float L[40], vol[4] = {0.2f, 0.22f, 0.18f, 0.15f};
    int i = blockIdx.x * 32 + threadIdx.x;
    uint32_t r = seed[i] | 1;
    for (int k = 0; k < 40; k++) L[k] = 0.05f;
    for (int n = 0; n < 20; n++) {
        r = r * 747796405u + 2891336453u;
        uint32_t w = ((r >> ((r >> 28) + 4)) ^ r) * 277803737u;
        float z = ((w >> 22 ^ w) * 2.3283064e-10f - 0.5f) * 3.4641f, v = 0;
        for (int k = n + 1; k < 40; k++) {
            float lam = vol[(k - n - 1) & 3], c = 0.25f * lam, s = c * L[k] / (1 + 0.25f * L[k]);
            v += s;
            L[k] *= __expf(c * v + lam * (0.5f * z - 0.5f * c));
        }
    }
    float b = 1, s = 0, pay = 0;
    for (int k = 20; k < 40; k++) {
        b /= 1 + 0.25f * L[k];
        s += 0.25f * b;
        if (k % 4 == 3) {
            float p = b + 0.045f * s - 1;
            if (p < 0) pay -= 100 * p;
        }
    }
    out[i] = pay;
}

//! characteristic_of_stochastic_volatility 11 128 | f64:1408:80:120 | out f64:11
// A block an option: 128 nodes of an integral in complex doubles, summed in shared memory.
__device__ void cexpd(double re, double im, double &x, double &y)
{
    double e = exp(re);
    sincos(im, &y, &x);
    x *= e, y *= e;
}
K characteristic_of_stochastic_volatility(const double *strike, double *out)
{
    __shared__ double s[128];
    double u = (threadIdx.x + 0.5) * 0.25, k = strike[blockIdx.x * 128];
    double dr = 1.5, di = -0.3 * -0.7 * u, qr = dr * dr - di * di + 0.09 * u * u, qi = 2 * dr * di + 0.09 * u, m = hypot(qr, qi);
    double gr = sqrt(0.5 * (m + qr)), gi = copysign(sqrt(0.5 * fmax(m - qr, 0.0)), qi), ar = dr - gr, ai = di - gi, br = dr + gr, bi = di + gi, den = br * br + bi * bi;
    double rr_ = (ar * br + ai * bi) / den, ri = (ai * br - ar * bi) / den, er, ei;
    cexpd(-gr, -gi, er, ei);
    double nr = 1 - (rr_ * er - ri * ei), ni = -(rr_ * ei + ri * er), x, y;
    double cr = 0.04 / 0.09 * (ar * (1 - er) + ai * ei) / (nr * nr + ni * ni), pr = log(nr * nr + ni * ni);
    cexpd(cr - 0.66 * pr, u * log(100.0 / k) + 0.1 * atan2(ni, nr), x, y);
    s[threadIdx.x] = 0.25 * (x + y * u) / (u * u + 0.25);
    __syncthreads();
    for (int d = 64; d; d /= 2) {
        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = 100 - sqrt(100 * k) / 3.14159265358979 * s[0];
}

//! barrier_options_by_implicit_steps 22 128 | f64:22:0.1:0.5 | out f64:2816 | s s32 10
// Crank and Nicolson with 128 prices: tridiagonal systems by cyclic reduction in parallel, in shared memory.
K barrier_options_by_implicit_steps(const double *vol, double *out, int steps)
{
    __shared__ double a[128], b[128], c[128], d[128], v[128];
    int t = threadIdx.x;
    double s2 = vol[blockIdx.x] * vol[blockIdx.x], x = t + 1, lo = 0.25 * 0.01 * (s2 * x * x - 0.03 * x), up = 0.25 * 0.01 * (s2 * x * x + 0.03 * x), mi = lo + up + 0.00015;
    v[t] = t < 110 ? fmax(x - 60.0, 0.0) : 0.0;
    for (int n = 0; n < steps; n++) {
        __syncthreads();
        d[t] = (t ? lo * v[t - 1] : 0) + (1 - mi) * v[t] + (t < 127 ? up * v[t + 1] : 0);
        a[t] = t ? -lo : 0, b[t] = 1 + mi, c[t] = t < 127 ? -up : 0;
        __syncthreads();
        for (int h = 1; h < 128; h *= 2) {
            double k1 = 0, k2 = 0, na = 0, nc = 0, nb = b[t], nd = d[t];
            if (t >= h) k1 = a[t] / b[t - h], na = -k1 * a[t - h], nb -= k1 * c[t - h], nd -= k1 * d[t - h];
            if (t + h < 128) k2 = c[t] / b[t + h], nc = -k2 * c[t + h], nb -= k2 * a[t + h], nd -= k2 * d[t + h];
            __syncthreads();
            a[t] = na, b[t] = nb, c[t] = nc, d[t] = nd;
            __syncthreads();
        }
        v[t] = t < 110 ? d[t] / b[t] : 0;
    }
    out[blockIdx.x * 128 + t] = v[t];
}

//! likelihoods_of_changing_variance 10 64 | f64:256:-0.03:0.03 | f64:1280:0.01:0.2 | out f64:640 | s s32 256
K likelihoods_of_changing_variance(const double *returns, const double *param, double *out, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    double alpha = param[i * 2], beta = 0.99 - alpha - param[i * 2 + 1], h = 0.0003, s = 0;
    for (int t = 0; t < n; t++) {
        double r = returns[t];
        s += log(h) + r * r / h;
        h = 0.000003 + alpha * r * r + beta * h;
    }
    out[i] = -0.5 * s;
}
