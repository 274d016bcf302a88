/* hashes.cu - hashes of strings and keys, checksums, sketches, generators of random numbers. */
#include <cstdint>

typedef unsigned long long u64;

//! fnv1a_strings 40 128 | u8:327680:97:123 | u32:5120:0:64 | out u64:5120 | s s32 5120
extern "C" __global__ void fnv1a_strings(const unsigned char *chars, const unsigned *length, u64 *hash, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    const unsigned char *p = chars + i * 64;
    const unsigned char *const end = p + length[i];
    u64 h = 14695981039346656037ull;
    while (p != end) {
        h ^= *p++;
        h *= 1099511628211ull;
    }
    hash[i] = h;
}

__device__ __forceinline__ uint32_t rotl32(uint32_t x, int r) { return (x << r) | (x >> (32 - r)); }
__device__ __forceinline__ u64 rotl64(u64 x, int r) { return (x << r) | (x >> (64 - r)); }

//! murmur3_keys 132 256 | u32:405504 | out u32:101376 | s u32 2538058380 | s s32 101376
extern "C" __global__ void murmur3_keys(const uint4 *__restrict__ key, uint32_t *__restrict__ out, uint32_t seed, int n)
{
    const uint32_t c1 = 0xcc9e2d51, c2 = 0x1b873593;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        uint4 q = key[i];
        uint32_t k[4] = {q.x, q.y, q.z, q.w};
        uint32_t h = seed;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            k[j] *= c1;
            k[j] = rotl32(k[j], 15);
            k[j] *= c2;
            h ^= k[j];
            h = rotl32(h, 13);
            h = h * 5 + 0xe6546b64;
        }
        h ^= 16;
        h ^= h >> 16;
        h *= 0x85ebca6b;
        h ^= h >> 13;
        h *= 0xc2b2ae35;
        h ^= h >> 16;
        out[i] = h;
    }
}

#define P1 0x9E3779B185EBCA87ull
#define P2 0xC2B2AE3D27D4EB4Full
#define P3 0x165667B19E3779F9ull
#define P4 0x85EBCA77C2B2AE63ull
#define P5 0x27D4EB2F165667C5ull

__device__ __noinline__ u64 xx_round(u64 acc, u64 in)
{
    acc += in * P2;
    acc = rotl64(acc, 31);
    return acc * P1;
}

//! xxh64_pages 30 64 | u64:122880 | out u64:1920 | s s32 64
extern "C" __global__ void xxh64_pages(const u64 *page, u64 *out, int words)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    const u64 *p = page + (size_t)t * words;
    u64 v1 = P1 + P2, v2 = P2, v3 = 0, v4 = 0 - P1;
    for (int i = 0; i < words; i += 4) {
        v1 = xx_round(v1, p[i]);
        v2 = xx_round(v2, p[i + 1]);
        v3 = xx_round(v3, p[i + 2]);
        v4 = xx_round(v4, p[i + 3]);
    }
    u64 h = rotl64(v1, 1) + rotl64(v2, 7) + rotl64(v3, 12) + rotl64(v4, 18);
    h = (h ^ xx_round(0, v1)) * P1 + P4;
    h = (h ^ xx_round(0, v2)) * P1 + P4;
    h = (h ^ xx_round(0, v3)) * P1 + P4;
    h = (h ^ xx_round(0, v4)) * P1 + P4;
    h += words * 8;
    h ^= h >> 33;
    h *= P2;
    h ^= h >> 29;
    h *= P3;
    h ^= h >> 32;
    out[t] = h;
}

//! adler_chunks 25 160 | u8:128000 | out u32:125 | s s32 1024
// one warp a chunk: lane l sums the bytes l, l + 32 ..., the second sum weighs them by what is left of the chunk
extern "C" __global__ void adler_chunks(const unsigned char *data, unsigned *sum, int chunk)
{
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    const unsigned char *p = data + warp * chunk;
    unsigned a = 0;
    u64 b = 0;
    for (int i = lane; i < chunk; i += 32) {
        unsigned v = p[i];
        a += v;
        b += (u64)v * (chunk - i);
    }
    for (int d = 16; d >= 1; d /= 2) {
        a += __shfl_down_sync(0xffffffff, a, d);
        b += __shfl_down_sync(0xffffffff, b, d);
    }
    if (lane == 0) {
        unsigned low = (a + 1) % 65521, high = (unsigned)((b + chunk) % 65521);
        sum[warp] = high << 16 | low;
    }
}

//! min_hashes 50 96 | u32:153600 | u32:16 | out u32:76800 | s s32 32
extern "C" __global__ void min_hashes(const unsigned *item, const unsigned *salt, unsigned *sig, int items)
{
    unsigned best[16];
    int set = blockIdx.x * blockDim.x + threadIdx.x, sets = gridDim.x * blockDim.x;
#pragma unroll
    for (int k = 0; k < 16; k++)
        best[k] = 0xffffffffu;
    for (int i = 0; i < items; i++) {
        unsigned x = item[i * sets + set];
#pragma unroll
        for (int k = 0; k < 16; k++) {
            unsigned h = (x ^ salt[k]) * 2654435769u;
            h ^= h >> 15;
            best[k] = min(best[k], h);
        }
    }
#pragma unroll
    for (int k = 0; k < 16; k++)
        sig[set * 16 + k] = best[k];
}

//! pcg128_streams 36 224 | u64:16128 | out u64:64512 | s s32 8
struct U128 {
    u64 lo, hi;
};
__device__ U128 pcg_next(U128 s, U128 inc)
{
    const u64 ml = 4865540595714422341ull, mh = 2549297995355413924ull;
    U128 r;
    r.lo = s.lo * ml;
    r.hi = __umul64hi(s.lo, ml) + s.lo * mh + s.hi * ml;
    r.lo += inc.lo;
    r.hi += inc.hi + (r.lo < inc.lo ? 1 : 0);
    return r;
}
extern "C" __global__ void pcg128_streams(const u64 *seed, u64 *out, int draws)
{
    const int id = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    U128 state = {seed[2 * id], seed[2 * id + 1]}, inc = {2ull * id + 1, 0x14057b7eull};
    for (int i = 0; i < draws; i++) {
        state = pcg_next(state, inc);
        u64 x = state.hi ^ state.lo;
        int rot = (int)(state.hi >> 58);
        out[i * n + id] = rot ? (x >> rot) | (x << (64 - rot)) : x;
    }
}

//! xoroshiro_doubles 17 768 | u64:26112 | out f64:78336
extern "C" __global__ void xoroshiro_doubles(const ulonglong2 *seed, double *out)
{
    int t = threadIdx.x + blockDim.x * blockIdx.x;
    u64 s0 = seed[t].x, s1 = seed[t].y;
    for (int k = 0; k < 6; k++) {
        u64 r = s0 + s1;
        s1 ^= s0;
        s0 = rotl64(s0, 24) ^ s1 ^ (s1 << 16);
        s1 = rotl64(s1, 37);
        out[t * 6 + k] = (r >> 11) * (1.0 / 9007199254740992.0);
    }
}

__constant__ unsigned char sigma[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

#define MIX(a, b, c, d, x, y)                  \
    a = a + b + (x); d = rotl32(d ^ a, 16);    \
    c = c + d;       b = rotl32(b ^ c, 20);    \
    a = a + b + (y); d = rotl32(d ^ a, 24);    \
    c = c + d;       b = rotl32(b ^ c, 25)

//! blake2s_blocks 20 128 | u32:40960 | out u32:20480
// the rounds stay a loop, so that the message is found through a table
extern "C" __global__ void blake2s_blocks(const uint32_t *in, uint32_t *out)
{
    const uint32_t iv[8] = {0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19};
    uint32_t m[16], v[16];
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < 16; i++)
        m[i] = in[t * 16 + i];
    for (int i = 0; i < 8; i++) {
        v[i] = iv[i] ^ (i ? 0 : 0x01010020);
        v[i + 8] = iv[i];
    }
    v[12] ^= 64;
    v[14] = ~v[14];
#pragma unroll 1
    for (int r = 0; r < 10; r++) {
        const unsigned char *s = sigma[r];
        MIX(v[0], v[4], v[8], v[12], m[s[0]], m[s[1]]);
        MIX(v[1], v[5], v[9], v[13], m[s[2]], m[s[3]]);
        MIX(v[2], v[6], v[10], v[14], m[s[4]], m[s[5]]);
        MIX(v[3], v[7], v[11], v[15], m[s[6]], m[s[7]]);
        MIX(v[0], v[5], v[10], v[15], m[s[8]], m[s[9]]);
        MIX(v[1], v[6], v[11], v[12], m[s[10]], m[s[11]]);
        MIX(v[2], v[7], v[8], v[13], m[s[12]], m[s[13]]);
        MIX(v[3], v[4], v[9], v[14], m[s[14]], m[s[15]]);
    }
    for (int i = 0; i < 8; i++)
        out[t * 8 + i] = v[i] ^ v[i + 8] ^ iv[i];
}

//! speck_counter 45 192 | u64:2 | u64:34560 | out u64:34560
extern "C" __global__ void __launch_bounds__(192, 4) speck_counter(const u64 *key, const u64 *plain, u64 *cipher)
{
    __shared__ u64 round_key[32];
    if (threadIdx.x == 0) {
        u64 a = key[0], b = key[1];
        for (int i = 0; i < 32; i++) {
            round_key[i] = a;
            b = (rotl64(b, 56) + a) ^ i;
            a = rotl64(a, 3) ^ b;
        }
    }
    __syncthreads();
    unsigned pairs = gridDim.x * blockDim.x * 2;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < pairs; i += gridDim.x * blockDim.x) {
        u64 x = i, y = 0x0123456789abcdefull;
#pragma unroll 8
        for (int r = 0; r < 32; r++) {
            x = (rotl64(x, 56) + y) ^ round_key[r];
            y = rotl64(y, 3) ^ x;
        }
        cipher[2 * i] = plain[2 * i] ^ x;
        cipher[2 * i + 1] = plain[2 * i + 1] ^ y;
    }
}

//! poly1305_limbs 24 96 | u32:147456 | u32:4 | out u32:11520
// sixteen blocks of 16 bytes a message, 2304 messages, five limbs of 26 bits
extern "C" __global__ void poly1305_limbs(const uint32_t *msg, const uint32_t *key, uint32_t *tag)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t r0 = key[0] & 0x3ffffff, r1 = (key[1] << 6 | key[0] >> 26) & 0x3ffff03, r2 = (key[2] << 12 | key[1] >> 20) & 0x3ffc0ff;
    uint32_t r3 = (key[3] << 18 | key[2] >> 14) & 0x3f03fff, r4 = (key[3] >> 8) & 0x00fffff;
    uint32_t s1 = r1 * 5, s2 = r2 * 5, s3 = r3 * 5, s4 = r4 * 5;
    uint32_t h0 = 0, h1 = 0, h2 = 0, h3 = 0, h4 = 0;
    for (int b = 0; b < 16; b++) {
        const uint4 w = *(const uint4 *)(msg + id * 64 + b * 4);
        h0 += w.x & 0x3ffffff;
        h1 += (w.y << 6 | w.x >> 26) & 0x3ffffff;
        h2 += (w.z << 12 | w.y >> 20) & 0x3ffffff;
        h3 += (w.w << 18 | w.z >> 14) & 0x3ffffff;
        h4 += w.w >> 8 | 1u << 24;
        u64 d0 = (u64)h0 * r0 + (u64)h1 * s4 + (u64)h2 * s3 + (u64)h3 * s2 + (u64)h4 * s1;
        u64 d1 = (u64)h0 * r1 + (u64)h1 * r0 + (u64)h2 * s4 + (u64)h3 * s3 + (u64)h4 * s2;
        u64 d2 = (u64)h0 * r2 + (u64)h1 * r1 + (u64)h2 * r0 + (u64)h3 * s4 + (u64)h4 * s3;
        u64 d3 = (u64)h0 * r3 + (u64)h1 * r2 + (u64)h2 * r1 + (u64)h3 * r0 + (u64)h4 * s4;
        u64 d4 = (u64)h0 * r4 + (u64)h1 * r3 + (u64)h2 * r2 + (u64)h3 * r1 + (u64)h4 * r0;
        d1 += d0 >> 26; h0 = (uint32_t)d0 & 0x3ffffff;
        d2 += d1 >> 26; h1 = (uint32_t)d1 & 0x3ffffff;
        d3 += d2 >> 26; h2 = (uint32_t)d2 & 0x3ffffff;
        d4 += d3 >> 26; h3 = (uint32_t)d3 & 0x3ffffff;
        h0 += (uint32_t)(d4 >> 26) * 5; h4 = (uint32_t)d4 & 0x3ffffff;
        h1 += h0 >> 26; h0 &= 0x3ffffff;
    }
    uint32_t *o = tag + id * 5;
    o[0] = h0; o[1] = h1; o[2] = h2; o[3] = h3; o[4] = h4;
}

//! count_min_rows 80 256 | u32:40960:0:3000 | zero u32:4096 | s s32 40960
extern "C" __global__ void count_min_rows(const unsigned *key, unsigned *sketch, int n)
{
    int stride = blockDim.x * gridDim.x;
    for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < n; i += stride) {
        unsigned x = key[i];
        for (int row = 0; row < 4; row++) {
            x = x * 1664525u + 1013904223u;
            atomicAdd(sketch + row * 1024 + (x >> 22), 1u);
        }
    }
}

//! crc16_bitwise 15 256 | u8:122880 | out u16:3840
extern "C" __global__ void crc16_bitwise(const unsigned char *frame, unsigned short *crc)
{
    int f = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned short c = 0xffff;
    for (int i = 0; i < 32; i++) {
        c ^= frame[f * 32 + i] << 8;
        for (int bit = 0; bit < 8; bit++) {
            if (c & 0x8000)
                c = (c << 1) ^ 0x1021;
            else
                c <<= 1;
        }
    }
    crc[f] = c;
}
