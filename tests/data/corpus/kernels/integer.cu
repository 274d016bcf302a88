// Hashes, ciphers, random numbers and number theory.
#include <stdint.h>

__device__ __forceinline__ uint32_t rotl(uint32_t x, int r) { return x << r | x >> (32 - r); }

//! crc32_table 32 128 | u8:65536 | out u32:4096
extern "C" __global__ void crc32_table(const uint8_t *data, uint32_t *crc)
{
    __shared__ uint32_t table[256];
    for (uint32_t i = threadIdx.x; i < 256; i += blockDim.x) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++) c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
        table[i] = c;
    }
    __syncthreads();
    const uint8_t *p = data + (blockIdx.x * blockDim.x + threadIdx.x) * 16;
    uint32_t c = ~0u;
    for (int i = 0; i < 16; i++) c = table[(c ^ p[i]) & 255] ^ c >> 8;
    crc[blockIdx.x * blockDim.x + threadIdx.x] = ~c;
}

//! sha1_block 24 128 | u32:49152 | out u32:15360
extern "C" __global__ void sha1_block(const uint32_t *msg, uint32_t *digest)
{
    uint32_t w[16], t = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll
    for (int i = 0; i < 16; i++) w[i] = __byte_perm(msg[t * 16 + i], 0, 0x0123);
    uint32_t a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476, e = 0xc3d2e1f0;
#pragma unroll
    for (int i = 0; i < 80; i++) {
        uint32_t f, k;
        if (i < 20) f = (b & c) | (~b & d), k = 0x5a827999;
        else if (i < 40) f = b ^ c ^ d, k = 0x6ed9eba1;
        else if (i < 60) f = (b & c) | (b & d) | (c & d), k = 0x8f1bbcdc;
        else f = b ^ c ^ d, k = 0xca62c1d6;
        if (i >= 16) w[i & 15] = rotl(w[(i + 13) & 15] ^ w[(i + 8) & 15] ^ w[(i + 2) & 15] ^ w[i & 15], 1);
        uint32_t x = rotl(a, 5) + f + e + k + w[i & 15];
        e = d;
        d = c;
        c = rotl(b, 30);
        b = a;
        a = x;
    }
    uint32_t *o = digest + t * 5;
    o[0] = a + 0x67452301;
    o[1] = b + 0xefcdab89;
    o[2] = c + 0x98badcfe;
    o[3] = d + 0x10325476;
    o[4] = e + 0xc3d2e1f0;
}

__constant__ uint32_t md5_k[16] = {0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
                                   0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821};
//! md5_rounds 40 96 | u32:61440 | out u32:15360
extern "C" __global__ void md5_rounds(const uint4 *in, uint4 *out)
{
    const int shift[4] = {7, 12, 17, 22};
    uint32_t m[16];
    int t = blockIdx.x * 96 + threadIdx.x;
    for (int i = 0; i < 4; i++) *(uint4 *)&m[i * 4] = in[t * 4 + i];
    uint32_t a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476;
    for (int r = 0; r < 3; r++)
#pragma unroll
        for (int i = 0; i < 16; i++) {
            uint32_t f = r == 0 ? (b & c) | (~b & d) : r == 1 ? (d & b) | (~d & c) : b ^ c ^ d;
            uint32_t x = b + rotl(a + f + md5_k[i] + m[i], shift[i & 3]);
            a = d;
            d = c;
            c = b;
            b = x;
        }
    out[t] = make_uint4(a, b, c, d);
}

//! chacha20 20 128 | u32:20480 | u32:8 | out u32:40960
#define QR(a, b, c, d) a += b; d = rotl(d ^ a, 16); c += d; b = rotl(b ^ c, 12); a += b; d = rotl(d ^ a, 8); c += d; b = rotl(b ^ c, 7);
extern "C" __global__ void chacha20(const uint32_t *nonce, const uint32_t *key, uint32_t *stream)
{
    uint32_t t = blockIdx.x * blockDim.x + threadIdx.x, s[16], x[16];
    s[0] = 0x61707865, s[1] = 0x3320646e, s[2] = 0x79622d32, s[3] = 0x6b206574;
    for (int i = 0; i < 8; i++) s[4 + i] = key[i];
    s[12] = t;
    for (int i = 0; i < 3; i++) s[13 + i] = nonce[t * 8 + i];
    for (int i = 0; i < 16; i++) x[i] = s[i];
    for (int r = 0; r < 10; r++) {
        QR(x[0], x[4], x[8], x[12]) QR(x[1], x[5], x[9], x[13]) QR(x[2], x[6], x[10], x[14]) QR(x[3], x[7], x[11], x[15])
        QR(x[0], x[5], x[10], x[15]) QR(x[1], x[6], x[11], x[12]) QR(x[2], x[7], x[8], x[13]) QR(x[3], x[4], x[9], x[14])
    }
    for (int i = 0; i < 16; i++) stream[t * 16 + i] = x[i] + s[i];
}

//! aes_rounds 32 64 | u8:32768 | u8:256 | u8:160 | out u8:32768
extern "C" __global__ void aes_rounds(const uint8_t *in, const uint8_t *box, const uint8_t *key, uint8_t *out)
{
    __shared__ uint8_t sbox[256];
    for (int i = threadIdx.x; i < 256; i += 64) sbox[i] = box[i];
    __syncthreads();
    uint8_t s[16], r[16];
    const uint8_t *p = in + (blockIdx.x * 64 + threadIdx.x) * 16;
    for (int i = 0; i < 16; i++) s[i] = p[i];
    for (int round = 0; round < 4; round++) {
#pragma unroll
        for (int c = 0; c < 4; c++) {
            uint8_t a[4];
#pragma unroll
            for (int j = 0; j < 4; j++) a[j] = sbox[s[(c * 4 + j * 5) & 15]];
            uint8_t all = a[0] ^ a[1] ^ a[2] ^ a[3];
#pragma unroll
            for (int j = 0; j < 4; j++) {
                uint8_t v = a[j] ^ a[(j + 1) & 3], x2 = (uint8_t)(v << 1) ^ (v & 0x80 ? 0x1b : 0);
                r[c * 4 + j] = a[j] ^ all ^ x2 ^ key[round * 16 + c * 4 + j];
            }
        }
        for (int i = 0; i < 16; i++) s[i] = r[i];
    }
    for (int i = 0; i < 16; i++) out[(blockIdx.x * 64 + threadIdx.x) * 16 + i] = s[i];
}

//! philox_normals 48 128 | out f32:24576 | s u64 1234567890123
extern "C" __global__ void philox_normals(float *out, uint64_t seed)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, c0 = i, c1 = 0, c2 = 7, c3 = 0, k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
#pragma unroll
    for (int r = 0; r < 10; r++) {
        uint32_t h0 = __umulhi(0xd2511f53u, c0), l0 = 0xd2511f53u * c0, h1 = __umulhi(0xcd9e8d57u, c2), l1 = 0xcd9e8d57u * c2;
        c0 = h1 ^ c1 ^ k0;
        c1 = l1;
        c2 = h0 ^ c3 ^ k1;
        c3 = l0;
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
    float u = (c0 + 0.5f) * 2.3283064e-10f, v = (c1 + 0.5f) * 2.3283064e-10f, r = sqrtf(-2.0f * logf(u)), s, c;
    sincospif(2.0f * v, &s, &c);
    float u2 = (c2 + 0.5f) * 2.3283064e-10f, v2 = (c3 + 0.5f) * 2.3283064e-10f, r2 = sqrtf(-2.0f * __logf(u2));
    reinterpret_cast<float4 *>(out)[i] = make_float4(r * s, r * c, r2 * __cosf(6.2831853f * v2), r2 * __sinf(6.2831853f * v2));
}

//! monte_carlo_pi 66 256 | out u64:1 | s s32 64
extern "C" __global__ void monte_carlo_pi(unsigned long long *hits, int n)
{
    uint64_t state = (blockIdx.x * blockDim.x + threadIdx.x) * 0x9e3779b97f4a7c15ull + 0x1234567;
    unsigned in = 0;
    for (int i = 0; i < n; i++) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        float x = (uint32_t)(state >> 40) * 5.9604645e-8f, y = (uint32_t)(state >> 16 & 0xffffff) * 5.9604645e-8f;
        if (x * x + y * y < 1.0f) in++;
    }
    in = __reduce_add_sync(0xffffffff, in);
    if (threadIdx.x % 32 == 0) atomicAdd(hits, (unsigned long long)in);
}

//! collatz_steps 40 128 | out u32:5120 | s u64 837799
extern "C" __global__ void collatz_steps(uint32_t *steps, uint64_t start)
{
    uint64_t n = start + blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t k = 0;
    while (n != 1 && k < 300) {
        n = n & 1 ? 3 * n + 1 : n >> 1;
        k++;
    }
    steps[blockIdx.x * blockDim.x + threadIdx.x] = k;
}

//! gcd_pairs 48 128 | u32:6144:1:1000000 | u32:6144:1:1000000 | out u32:6144
extern "C" __global__ void gcd_pairs(const uint32_t *a, const uint32_t *b, uint32_t *g)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t x = a[i], y = b[i];
    while (y) {
        uint32_t t = x % y;
        x = y;
        y = t;
    }
    g[i] = x;
}

//! modexp 24 128 | u64:3072:2:4294967291 | out u64:3072 | s u64 4294967291
extern "C" __global__ void modexp(const uint64_t *base, uint64_t *out, uint64_t p)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint64_t b = base[i] % p, r = 1;
    for (uint32_t e = 65537; e; e >>= 1) {
        if (e & 1) r = r * b % p;
        b = b * b % p;
    }
    out[i] = r;
}

//! prime_sieve 33 128 | out u32:33 | s u32 4096
extern "C" __global__ void prime_sieve(uint32_t *count, uint32_t span)
{
    __shared__ uint32_t composite[128];
    uint32_t lo = blockIdx.x * span, n = 0;
    composite[threadIdx.x] = 0;
    __syncthreads();
    for (uint32_t p = 2 + threadIdx.x; p * p < lo + span; p += blockDim.x) {
        uint32_t m = max(p * p, (lo + p - 1) / p * p);
        for (; m < lo + span; m += p) atomicOr(&composite[(m - lo) >> 5], 1u << ((m - lo) & 31));
    }
    __syncthreads();
    n = __popc(~composite[threadIdx.x]);
    n = __syncthreads_count(n > 8) * 1000 + n;
    if (threadIdx.x == 0) count[blockIdx.x] = n;
}

//! hilbert_order 64 256 | u32:16384 | out u32:16384
extern "C" __global__ void hilbert_order(const uint32_t *xy, uint32_t *key)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t x = xy[i] & 0xffff, y = xy[i] >> 16, d = 0;
    for (uint32_t s = 32768; s > 0; s >>= 1) {
        uint32_t rx = (x & s) > 0, ry = (y & s) > 0;
        d += s * s * ((3 * rx) ^ ry);
        if (ry == 0) {
            if (rx == 1) {
                x = 65535 - x;
                y = 65535 - y;
            }
            uint32_t t = x;
            x = y;
            y = t;
        }
    }
    key[i] = d;
}
