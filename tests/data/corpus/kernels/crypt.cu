/* crypt.cu - ciphers, hashes, codes and random numbers. */
#include <cstdint>
#define K extern "C" __global__ void
__constant__ uint32_t round_words[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
static __device__ uint32_t ror(uint32_t x, int n) { return __funnelshift_r(x, x, n); }
//! sha256_nonces 20 96 | u32:16 | out u32:15360
// One block of SHA-256 for every nonce; the schedule is a ring of sixteen words.
K sha256_nonces(const uint32_t *message, uint32_t *digest)
{
    uint32_t t = blockIdx.x * 96 + threadIdx.x, w[16], h[8];
    const uint32_t first[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    for (int i = 0; i < 16; i++) w[i] = message[i];
    w[3] = t;
    for (int i = 0; i < 8; i++) h[i] = first[i];
#pragma unroll 16
    for (int i = 0; i < 64; i++) {
        uint32_t x = w[i & 15];
        if (i < 48) {
            uint32_t a = w[(i + 1) & 15], b = w[(i + 14) & 15];
            w[i & 15] += w[(i + 9) & 15] + (ror(a, 7) ^ ror(a, 18) ^ a >> 3) + (ror(b, 17) ^ ror(b, 19) ^ b >> 10);
        }
        uint32_t t1 = h[7] + (ror(h[4], 6) ^ ror(h[4], 11) ^ ror(h[4], 25)) + ((h[4] & h[5]) ^ (~h[4] & h[6])) + round_words[i] + x;
        uint32_t t2 = (ror(h[0], 2) ^ ror(h[0], 13) ^ ror(h[0], 22)) + ((h[0] & h[1]) ^ (h[0] & h[2]) ^ (h[1] & h[2]));
#pragma unroll
        for (int k = 7; k > 0; k--) h[k] = h[k - 1];
        h[4] += t1;
        h[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++) digest[i * gridDim.x * 96 + t] = h[i] + first[i];
}
//! keccak_lanes 16 64 | inout u64:25600
// The permutation of SHA-3: 25 words of 64 bits a thread.
K keccak_lanes(uint64_t *state)
{
    const int rho[24] = {1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44};
    const int pi[24] = {10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1};
    uint64_t a[25], c[5], lfsr = 1;
    int t = blockIdx.x * 64 + threadIdx.x, n = gridDim.x * 64;
#pragma unroll
    for (int i = 0; i < 25; i++) a[i] = state[i * n + t];
#pragma unroll 1
    for (int r = 0; r < 24; r++) {
#pragma unroll
        for (int i = 0; i < 5; i++) c[i] = a[i] ^ a[i + 5] ^ a[i + 10] ^ a[i + 15] ^ a[i + 20];
#pragma unroll
        for (int i = 0; i < 25; i++) {
            uint64_t o = c[(i + 1) % 5];
            a[i] ^= c[(i + 4) % 5] ^ (o << 1 | o >> 63);
        }
        uint64_t last = a[1];
#pragma unroll
        for (int i = 0; i < 24; i++) {
            uint64_t keep = a[pi[i]];
            a[pi[i]] = last << rho[i] | last >> (64 - rho[i]);
            last = keep;
        }
#pragma unroll
        for (int y = 0; y < 25; y += 5) {
#pragma unroll
            for (int x = 0; x < 5; x++) c[x] = a[y + x];
#pragma unroll
            for (int x = 0; x < 5; x++) a[y + x] = c[x] ^ (~c[(x + 1) % 5] & c[(x + 2) % 5]);
        }
        for (int j = 0; j < 7; j++) {
            if (lfsr & 1) a[0] ^= 1ull << ((1 << j) - 1);
            lfsr = lfsr << 1 ^ (lfsr >> 7) * 0x171;
        }
    }
#pragma unroll
    for (int i = 0; i < 25; i++) state[i * n + t] = a[i];
}
//! siphash_rows 48 128 | u64:49152 | u64:2 | out u64:6144
K siphash_rows(const uint64_t *in, const uint64_t *key, uint64_t *out)
{
    int t = blockIdx.x * 128 + threadIdx.x;
    uint64_t v0 = key[0] ^ 0x736f6d6570736575u, v1 = key[1] ^ 0x646f72616e646f6du, v2 = key[0] ^ 0x6c7967656e657261u, v3 = key[1] ^ 0x7465646279746573u;
    auto rol = [](uint64_t x, int n) { return x << n | x >> (64 - n); };
    auto step = [&] {
        v0 += v1; v1 = rol(v1, 13) ^ v0; v0 = rol(v0, 32);
        v2 += v3; v3 = rol(v3, 16) ^ v2;
        v0 += v3; v3 = rol(v3, 21) ^ v0;
        v2 += v1; v1 = rol(v1, 17) ^ v2; v2 = rol(v2, 32);
    };
    int words = 2 + t % 7;
    for (int i = 0; i < words; i++) {
        uint64_t m = in[t * 8 + i];
        v3 ^= m;
        step();
        step();
        v0 ^= m;
    }
    v2 ^= 0xff;
    for (int i = 0; i < 4; i++) step();
    out[t] = v0 ^ v1 ^ v2 ^ v3;
}
//! rc4_streams 10 32 | u8:5120 | out u8:10240
// A stream cipher with a table of 256 bytes a thread, in shared memory, lane by lane.
K rc4_streams(const uint8_t *key, uint8_t *out)
{
    __shared__ uint8_t s[256][32];
    const int l = threadIdx.x, t = blockIdx.x * 32 + l;
    for (int i = 0; i < 256; i++) s[i][l] = (uint8_t)i;
    uint8_t j = 0;
    for (int i = 0; i < 256; i++) {
        uint8_t x = s[i][l];
        j = (uint8_t)(j + x + key[t * 16 + (i & 15)]);
        s[i][l] = s[j][l];
        s[j][l] = x;
    }
    j = 0;
    for (int i = 1; i <= 32; i++) {
        uint8_t x = s[i][l];
        j = (uint8_t)(j + x);
        uint8_t y = s[j][l];
        s[i][l] = y;
        s[j][l] = x;
        out[t * 32 + i - 1] = s[(uint8_t)(x + y)][l];
    }
}
//! xtea_chain 60 192 | inout u32:92160 | u32:4
K xtea_chain(uint2 *data, const uint32_t *key)
{
    uint2 *p = data + (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    uint32_t k[4] = {key[0], key[1], key[2], key[3]};
    uint2 v = make_uint2(0, 0);
    for (int b = 0; b < 4; b++) {
        v.x ^= p[b].x;
        v.y ^= p[b].y;
        uint32_t sum = 0;
        for (int r = 0; r < 32; r++) {
            v.x += ((v.y << 4 ^ v.y >> 5) + v.y) ^ (sum + k[sum & 3]);
            sum += 0x9E3779B9u;
            v.y += ((v.x << 4 ^ v.x >> 5) + v.x) ^ (sum + k[sum >> 11 & 3]);
        }
        p[b] = v;
    }
}
//! reed_solomon 36 128 | u8:73728 | out u8:18432
// Four check bytes of sixteen data bytes; products of GF(256) by tables of logarithms that each block makes.
K reed_solomon(const uint8_t *data, uchar4 *check)
{
    __shared__ uint8_t log[256], power[512];
    if (threadIdx.x == 0)
        for (int i = 0, x = 1; i < 255; i++) {
            power[i] = power[i + 255] = (uint8_t)x;
            log[x] = (uint8_t)i;
            x = x << 1 ^ (x >> 7) * 0x11d;
        }
    __syncthreads();
    const int gen[4] = {75, 249, 78, 6};
    int t = blockIdx.x * 128 + threadIdx.x;
    uint8_t c[4] = {0, 0, 0, 0};
    for (int i = 0; i < 16; i++) {
        uint8_t f = data[t * 16 + i] ^ c[0];
        c[0] = c[1], c[1] = c[2], c[2] = c[3], c[3] = 0;
        if (f) {
#pragma unroll
            for (int k = 0; k < 4; k++) c[k] ^= power[log[f] + gen[k]];
        }
    }
    check[t] = make_uchar4(c[0], c[1], c[2], c[3]);
}
//! twister_block 16 128 | u32:16 | out u32:19968
// The state of a Mersenne twister in shared memory, two generations of 624 words.
K twister_block(const uint32_t *seed, uint32_t *out)
{
    __shared__ uint32_t s[624];
    if (threadIdx.x == 0) {
        uint32_t x = s[0] = seed[blockIdx.x];
        for (int i = 1; i < 624; i++) s[i] = x = 1812433253u * (x ^ x >> 30) + i;
    }
    for (int round = 0; round < 2; round++) {
        for (int start = 0; start < 624; start += 128) {
            __syncthreads();
            int i = start + threadIdx.x;
            uint32_t v = 0;
            if (i < 624) {
                uint32_t y = (s[i] & 0x80000000u) | (s[(i + 1) % 624] & 0x7fffffffu);
                v = s[(i + 397) % 624] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
            }
            __syncthreads();
            if (i < 624) s[i] = v;
        }
        __syncthreads();
        for (int i = threadIdx.x; i < 624; i += 128) {
            uint32_t y = s[i];
            y ^= y >> 11;
            y ^= y << 7 & 0x9d2c5680u;
            y ^= y << 15 & 0xefc60000u;
            out[(blockIdx.x * 2 + round) * 624 + i] = y ^ y >> 18;
        }
    }
}
//! sobol_points 32 256 | u32:256 | out f32:65536
// Eight dimensions of 8,192 points by Gray codes.
K sobol_points(const uint32_t *direction, float *out)
{
    __shared__ uint32_t v[256];
    v[threadIdx.x] = direction[threadIdx.x] | 0x80000000u >> (threadIdx.x & 31);
    __syncthreads();
    unsigned n = blockIdx.x * 256 + threadIdx.x, gray = n ^ n >> 1;
    for (int d = 0; d < 8; d++) {
        uint32_t x = 0;
        for (unsigned g = gray; g; g &= g - 1) x ^= v[d * 32 + __ffs(g) - 1];
        out[d * 8192 + n] = x * 2.3283064e-10f;
    }
}
//! field_inverse 12 64 | u64:3072 | out u64:3072
// Numbers modulo 2^127 - 1 to the power p - 2, two words each, products of 128 bits.
struct M127 {
    uint64_t lo, hi;
};
static __device__ __noinline__ M127 times(M127 a, M127 b)
{
    unsigned __int128 ll = (unsigned __int128)a.lo * b.lo, m1 = (unsigned __int128)a.lo * b.hi, m2 = (unsigned __int128)a.hi * b.lo;
    unsigned __int128 hh = (unsigned __int128)a.hi * b.hi, mid = m1 + m2, p = ((unsigned __int128)1 << 127) - 1;
    unsigned __int128 low = ll + (mid << 64), high = hh + (mid >> 64) + (low < ll);
    unsigned __int128 r = (low & p) + (high << 1 | low >> 127);
    r = (r & p) + (r >> 127);
    return {(uint64_t)r, (uint64_t)(r >> 64)};
}
K field_inverse(const uint64_t *in, uint64_t *out)
{
    for (int i = blockIdx.x * 64 + threadIdx.x; i < 1536; i += gridDim.x * 64) {
        M127 x = {in[2 * i], in[2 * i + 1] >> 1}, r = x;
        for (int k = 0; k < 124; k++) r = times(times(r, r), x);
        r = times(r, r);
        r = times(times(r, r), x);
        out[2 * i] = r.lo;
        out[2 * i + 1] = r.hi;
    }
}
