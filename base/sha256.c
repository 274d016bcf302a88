/* sha256.c - the hash of FIPS 180-4, section 6.2, over 64-byte blocks, using the processor's SHA
 * instructions where available. */
#include "base/sha256.h"
#include <stdbool.h>
#include <string.h>
#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <immintrin.h>
#include <stdatomic.h>
#endif

/* FIPS 180-4, 4.2.2: fractions of the cube roots of the first 64 primes. */
static const uint32_t round_constant[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static inline uint32_t rotate_right(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

/* Round t of eight consecutive ones: the working variables are renamed instead of moved; v[(k - t)
 * mod 8] holds variable k. */
static inline void step(uint32_t v[8], int t, uint32_t addend)
{
    uint32_t a = v[-t & 7], b = v[(1 - t) & 7], c = v[(2 - t) & 7], e = v[(4 - t) & 7];
    uint32_t s1 = rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25);
    uint32_t choose = ((v[(5 - t) & 7] ^ v[(6 - t) & 7]) & e) ^ v[(6 - t) & 7];
    uint32_t t1 = v[(7 - t) & 7] + s1 + choose + addend;
    uint32_t s0 = rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22);
    v[(3 - t) & 7] += t1;
    v[(7 - t) & 7] = t1 + s0 + ((a & b) | ((a | b) & c));
}

static void add_block(uint32_t h[8], const unsigned char *p)
{
    uint32_t w[64], v[8];
    for (int t = 0; t < 16; t++, p += 4)
        w[t] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    for (int t = 16; t < 64; t++) {
        uint32_t s0 = rotate_right(w[t - 15], 7) ^ rotate_right(w[t - 15], 18) ^ w[t - 15] >> 3;
        uint32_t s1 = rotate_right(w[t - 2], 17) ^ rotate_right(w[t - 2], 19) ^ w[t - 2] >> 10;
        w[t] = w[t - 16] + s0 + w[t - 7] + s1;
    }
    memcpy(v, h, sizeof v);
    for (int t = 0; t < 64; t += 8) {
        step(v, 0, round_constant[t] + w[t]);
        step(v, 1, round_constant[t + 1] + w[t + 1]);
        step(v, 2, round_constant[t + 2] + w[t + 2]);
        step(v, 3, round_constant[t + 3] + w[t + 3]);
        step(v, 4, round_constant[t + 4] + w[t + 4]);
        step(v, 5, round_constant[t + 5] + w[t + 5]);
        step(v, 6, round_constant[t + 6] + w[t + 6]);
        step(v, 7, round_constant[t + 7] + w[t + 7]);
    }
    for (int i = 0; i < 8; i++) h[i] += v[i];
}

static void add_plain(uint32_t h[8], const unsigned char *p, size_t blocks)
{
    for (; blocks > 0; blocks--, p += 64) add_block(h, p);
}

#if defined(__x86_64__) && defined(__GNUC__)
/* Detects the SHA extensions: leaf 7 of cpuid, EBX bit 29; the shuffles below are SSSE3 and SSE4.1
 * (leaf 1, ECX bits 9 and 19). */
static bool detect_sha_extensions(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 9 & 1) || !(c >> 19 & 1)) return false;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b >> 29 & 1);
}

/* Detected once: on a virtual machine cpuid takes as long as hashing 10,000 bytes. */
static bool has_sha_extensions(void)
{
    enum { UNKNOWN, NO, YES };
    static _Atomic unsigned char cached;
    unsigned char has = atomic_load_explicit(&cached, memory_order_relaxed);
    if (has == UNKNOWN) {
        has = detect_sha_extensions() ? YES : NO;
        atomic_store_explicit(&cached, has, memory_order_relaxed);
    }
    return has == YES;
}

/* Two rounds per instruction, with the working variables grouped as a, b, e, f and c, d, g, h
 * (Intel, "Intel SHA Extensions", 2013). */
__attribute__((target("sha,ssse3,sse4.1"))) static void
add_fast(uint32_t h[8], const unsigned char *p, size_t blocks)
{
    const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i dcba = _mm_loadu_si128((const __m128i *)(const void *)h),
            hgfe = _mm_loadu_si128((const __m128i *)(const void *)(h + 4));
    __m128i cdab = _mm_shuffle_epi32(dcba, 0xb1), efgh = _mm_shuffle_epi32(hgfe, 0x1b);
    __m128i abef = _mm_alignr_epi8(cdab, efgh, 8), cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
    for (; blocks > 0; blocks--, p += 64) {
        __m128i w[4], abef_before = abef, cdgh_before = cdgh;
        for (int k = 0; k < 4; k++)
            w[k] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)(p + 16 * k)),
                                    big_endian);
        for (int t = 0; t < 64; t += 4) {
            __m128i sum = _mm_add_epi32(
                w[0], _mm_loadu_si128((const __m128i *)(const void *)(round_constant + t)));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
            __m128i next =
                _mm_add_epi32(_mm_sha256msg1_epu32(w[0], w[1]), _mm_alignr_epi8(w[3], w[2], 4));
            next = _mm_sha256msg2_epu32(next, w[3]);
            w[0] = w[1];
            w[1] = w[2];
            w[2] = w[3];
            w[3] = next;
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)(void *)h, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i *)(void *)(h + 4), _mm_alignr_epi8(dchg, feba, 8));
}

static void add_blocks(uint32_t h[8], const unsigned char *p, size_t blocks)
{
    if (has_sha_extensions())
        add_fast(h, p, blocks);
    else
        add_plain(h, p, blocks);
}
#else
static void add_blocks(uint32_t h[8], const unsigned char *p, size_t blocks)
{
    add_plain(h, p, blocks);
}
#endif

void pl_sha256_init(pl_sha256 *s)
{
    *s = (pl_sha256){.h = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
                           0x1f83d9ab, 0x5be0cd19}};
}

void pl_sha256_add(pl_sha256 *s, const void *data, size_t bytes)
{
    const unsigned char *p = data;
    size_t filled = (size_t)(s->bytes % 64);
    s->bytes += bytes;
    if (filled > 0) {
        size_t n = bytes < 64 - filled ? bytes : 64 - filled;
        memcpy(s->pending + filled, p, n);
        if (filled + n < 64) return;
        add_blocks(s->h, s->pending, 1);
        p += n;
        bytes -= n;
    }
    add_blocks(s->h, p, bytes / 64);
    if (bytes % 64 > 0) memcpy(s->pending, p + bytes / 64 * 64, bytes % 64);
}

void pl_sha256_end(pl_sha256 *s, unsigned char digest[32])
{
    unsigned char tail[72] = {0x80};
    uint64_t bits = s->bytes * 8;
    size_t padding = 64 - (size_t)((s->bytes + 8) % 64); /* 0x80, zeros: 1 to 64 bytes */
    for (size_t i = 0; i < 8; i++) tail[padding + i] = (unsigned char)(bits >> (56 - 8 * i));
    pl_sha256_add(s, tail, padding + 8);
    for (size_t i = 0; i < 32; i++) digest[i] = (unsigned char)(s->h[i / 4] >> (24 - 8 * (i % 4)));
}

void pl_sha256_hex(pl_sha256 *s, char hex[65])
{
    static const char digit[] = "0123456789abcdef";
    unsigned char digest[32];
    pl_sha256_end(s, digest);
    for (size_t i = 0; i < 64; i++) hex[i] = digit[digest[i / 2] >> (4 - 4 * (i % 2)) & 15];
    hex[64] = '\0';
}
