/* ciphers.cu - codes: ciphers, digests, compression, error correction, packed numbers. */
#include <cstdint>

//! sha512_blocks 12 32 | u64:6144 | out u64:3072
__constant__ uint64_t K512[80] = {
    0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc, 0x3956c25bf348b538, 0x59f111f1b605d019, 0x923f82a4af194f9b,
    0xab1c5ed5da6d8118, 0xd807aa98a3030242, 0x12835b0145706fbe, 0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2, 0x72be5d74f27b896f, 0x80deb1fe3b1696b1,
    0x9bdc06a725c71235, 0xc19bf174cf692694, 0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65, 0x2de92c6f592b0275,
    0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5, 0x983e5152ee66dfab, 0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4};
__device__ __forceinline__ uint64_t ror64(uint64_t x, int n) { return x >> n | x << (64 - n); }
extern "C" __global__ void sha512_blocks(const uint64_t *msg, uint64_t *digest)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    uint64_t w[16], h[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
                            0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
    for (int i = 0; i < 16; i++) w[i] = msg[t * 16 + i];
    uint64_t a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], f = h[5], g = h[6], k = h[7];
    for (int r = 0; r < 80; r += 16) {
#pragma unroll
        for (int j = 0; j < 16; j++) {
            if (r) {
                uint64_t s0 = w[(j + 1) & 15], s1 = w[(j + 14) & 15];
                s0 = ror64(s0, 1) ^ ror64(s0, 8) ^ s0 >> 7;
                s1 = ror64(s1, 19) ^ ror64(s1, 61) ^ s1 >> 6;
                w[j] += s0 + s1 + w[(j + 9) & 15];
            }
            uint64_t t1 = k + (ror64(e, 14) ^ ror64(e, 18) ^ ror64(e, 41)) + ((e & f) ^ (~e & g)) + K512[r + j] + w[j];
            uint64_t t2 = (ror64(a, 28) ^ ror64(a, 34) ^ ror64(a, 39)) + ((a & b) ^ (a & c) ^ (b & c));
            k = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
        }
    }
    h[0] += a, h[1] += b, h[2] += c, h[3] += d, h[4] += e, h[5] += f, h[6] += g, h[7] += k;
    for (int i = 0; i < 8; i++) digest[t * 8 + i] = h[i];
}

#define ROTL(a, b) (((a) << (b)) | ((a) >> (32 - (b))))
#define QR(a, b, c, d) (b ^= ROTL(a + d, 7), c ^= ROTL(b + a, 9), d ^= ROTL(c + b, 13), a ^= ROTL(d + c, 18))
//! salsa20_pages 22 128 | u32:16 | u32:45056 | out u32:45056
extern "C" __global__ void salsa20_pages(const uint32_t *key, const uint4 *plain, uint4 *cipher)
{
    uint32_t x[16], in[16];
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < 16; ++i) in[i] = key[i];
    in[8] += t;
    for (int i = 0; i < 16; ++i) x[i] = in[i];
    for (int i = 0; i < 20; i += 2) {
        QR(x[0], x[4], x[8], x[12]);
        QR(x[5], x[9], x[13], x[1]);
        QR(x[10], x[14], x[2], x[6]);
        QR(x[15], x[3], x[7], x[11]);
        QR(x[0], x[1], x[2], x[3]);
        QR(x[5], x[6], x[7], x[4]);
        QR(x[10], x[11], x[8], x[9]);
        QR(x[15], x[12], x[13], x[14]);
    }
    for (int i = 0; i < 4; ++i) {
        uint4 p = plain[t * 4 + i];
        p.x ^= x[4 * i] + in[4 * i];
        p.y ^= x[4 * i + 1] + in[4 * i + 1];
        p.z ^= x[4 * i + 2] + in[4 * i + 2];
        p.w ^= x[4 * i + 3] + in[4 * i + 3];
        cipher[t * 4 + i] = p;
    }
}

//! ascon_sponge 7 96 | u64:3360 | u64:2688 | out u64:1344
// The permutation of twelve rounds and four of six, eight bytes absorbed each time.
__device__ void ascon_rounds(uint64_t (&s)[5], int rounds)
{
    for (int r = 12 - rounds; r < 12; r++) {
        s[2] ^= (uint64_t)(((0xf - r) << 4) | r);
        s[0] ^= s[4], s[4] ^= s[3], s[2] ^= s[1];
        uint64_t t[5];
        for (int i = 0; i < 5; i++) t[i] = ~s[i] & s[(i + 1) % 5];
        for (int i = 0; i < 5; i++) s[i] ^= t[(i + 1) % 5];
        s[1] ^= s[0], s[0] ^= s[4], s[3] ^= s[2], s[2] = ~s[2];
        auto ror = [](uint64_t x, int n) { return (x >> n) | (x << (64 - n)); };
        s[0] ^= ror(s[0], 19) ^ ror(s[0], 28);
        s[1] ^= ror(s[1], 61) ^ ror(s[1], 39);
        s[2] ^= ror(s[2], 1) ^ ror(s[2], 6);
        s[3] ^= ror(s[3], 10) ^ ror(s[3], 17);
        s[4] ^= ror(s[4], 7) ^ ror(s[4], 41);
    }
}
extern "C" __global__ void ascon_sponge(const uint64_t *state, const uint64_t *msg, uint64_t *tag)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    uint64_t s[5];
    for (int i = 0; i < 5; i++) s[i] = state[t * 5 + i];
    ascon_rounds(s, 12);
    for (int k = 0; k < 4; k++) {
        s[0] ^= msg[t * 4 + k];
        ascon_rounds(s, 6);
    }
    tag[2 * t] = s[3];
    tag[2 * t + 1] = s[4];
}

//! ghash_shifts 5 128 | u64:10240 | u64:2 | out u64:1280
// Products in GF(2^128) bit by bit, four blocks a thread.
extern "C" __global__ void ghash_shifts(const ulonglong2 *data, const uint64_t *H, ulonglong2 *out)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    uint64_t yh = 0, yl = 0;
    for (int b = 0; b < 4; b++) {
        ulonglong2 d = data[t * 8 + b];
        yh ^= d.x, yl ^= d.y;
        uint64_t vh = H[0], vl = H[1], zh = 0, zl = 0;
        for (int i = 0; i < 128; i++) {
            uint64_t bit = i < 64 ? yh >> (63 - i) & 1 : yl >> (127 - i) & 1;
            if (bit) zh ^= vh, zl ^= vl;
            uint64_t lsb = vl & 1;
            vl = vl >> 1 | vh << 63;
            vh = vh >> 1 ^ (lsb ? 0xe100000000000000ull : 0);
        }
        yh = zh, yl = zl;
    }
    out[t] = make_ulonglong2(yh, yl);
}

//! limbs_by_carry 6 64 | u32:3072 | u32:3072 | out u32:6144 | out u32:3072
// 256 x 256 bits with chains of carries written in assembler, and a sum folded with 977 + 2^32.
__device__ __forceinline__ void mul_row(uint32_t *acc, const uint32_t *a, uint32_t b)
{
    asm("mad.lo.cc.u32 %0, %8, %12, %0;\n\tmadc.lo.cc.u32 %1, %9, %12, %1;\n\tmadc.lo.cc.u32 %2, %10, %12, %2;\n\tmadc.lo.cc.u32 %3, %11, %12, %3;\n\t"
        "addc.u32 %4, %4, 0;\n\tmad.hi.cc.u32 %1, %8, %12, %1;\n\tmadc.hi.cc.u32 %2, %9, %12, %2;\n\tmadc.hi.cc.u32 %3, %10, %12, %3;\n\t"
        "madc.hi.cc.u32 %4, %11, %12, %4;\n\taddc.cc.u32 %5, %5, 0;\n\taddc.cc.u32 %6, %6, 0;\n\taddc.u32 %7, %7, 0;"
        : "+r"(acc[0]), "+r"(acc[1]), "+r"(acc[2]), "+r"(acc[3]), "+r"(acc[4]), "+r"(acc[5]), "+r"(acc[6]), "+r"(acc[7])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b));
}
extern "C" __global__ void limbs_by_carry(const uint32_t *a, const uint32_t *b, uint32_t *product, uint32_t *folded)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t x[8], y[8], p[20] = {}, s[9];
    for (int i = 0; i < 8; i++) x[i] = a[t * 8 + i], y[i] = b[t * 8 + i];
#pragma unroll
    for (int i = 0; i < 8; i++) {
        mul_row(p + i, x, y[i]);
        mul_row(p + i + 4, x + 4, y[i]);
    }
    for (int i = 0; i < 16; i++) product[t * 16 + i] = p[i];
    asm("add.cc.u32 %0, %1, %2;" : "=r"(s[0]) : "r"(x[0]), "r"(y[0]));
#pragma unroll
    for (int i = 1; i < 8; i++) asm("addc.cc.u32 %0, %1, %2;" : "=r"(s[i]) : "r"(x[i]), "r"(y[i]));
    asm("addc.u32 %0, 0, 0;" : "=r"(s[8]));
    uint64_t c = (uint64_t)s[8] * 977 + s[0];
    s[0] = (uint32_t)c;
    c = (c >> 32) + s[1] + s[8];
    s[1] = (uint32_t)c;
#pragma unroll
    for (int i = 2; i < 8; i++) {
        c = (c >> 32) + s[i];
        s[i] = (uint32_t)c;
    }
    for (int i = 0; i < 8; i++) folded[t * 8 + i] = s[i];
}

//! crc64_slices 10 128 | u32:20480 | out u64:1280
// Eight tables made in shared memory by the block first.
extern "C" __global__ void crc64_slices(const uint2 *data, uint64_t *crc)
{
    __shared__ uint64_t table[8][256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) {
        uint64_t c = i;
        for (int k = 0; k < 8; k++) c = c & 1 ? c >> 1 ^ 0xC96C5795D7870F42ull : c >> 1;
        table[0][i] = c;
        for (int k = 1; k < 8; k++) {
            uint64_t d = c;
            for (int j = 0; j < 8; j++) d = d & 1 ? d >> 1 ^ 0xC96C5795D7870F42ull : d >> 1;
            table[k][i] = c = d;
        }
    }
    __syncthreads();
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    uint64_t c = ~0ull;
    for (int k = 0; k < 8; k++) {
        uint2 d = data[t * 8 + k];
        uint64_t x = c ^ ((uint64_t)d.y << 32 | d.x);
        c = table[7][x & 255] ^ table[6][x >> 8 & 255] ^ table[5][x >> 16 & 255] ^ table[4][x >> 24 & 255] ^ table[3][x >> 32 & 255] ^
            table[2][x >> 40 & 255] ^ table[1][x >> 48 & 255] ^ table[0][x >> 56];
    }
    crc[t] = ~c;
}

//! canonical_huffman 6 64 | u32:12288 | out u8:24576 | out u32:384
// Symbols of lengths 2 to 9 by first codes of each length, up to 64 a thread.
extern "C" __global__ void canonical_huffman(const uint32_t *bits, uint8_t *symbols, uint32_t *used)
{
    __shared__ uint16_t first[12], offset[12], count[12];
    if (threadIdx.x == 0) {
        int n[12] = {0, 0, 2, 1, 1, 2, 1, 1, 1, 2, 0, 0}, code = 0, o = 0;
        for (int l = 1; l < 12; l++) {
            code = (code + n[l - 1]) << 1;
            first[l] = code, offset[l] = o, count[l] = n[l];
            o += n[l];
        }
    }
    __syncthreads();
    int t = blockIdx.x * blockDim.x + threadIdx.x, n = 0, pos = 0;
    const uint32_t *p = bits + t * 32;
    while (n < 64 && pos < 1000) {
        uint32_t code = 0;
        int len = 1;
        for (; len < 10; len++) {
            code = code << 1 | (p[pos >> 5] >> (31 - (pos & 31)) & 1);
            pos++;
            if (code - first[len] < count[len]) break;
        }
        symbols[t * 64 + n++] = len < 10 ? offset[len] + code - first[len] : 255;
    }
    used[t] = pos;
}

//! varints_of_rows 8 96 | u8:24576 | out u64:6144 | out u8:768
// Seven bits a byte, as messages are packed; a zigzag at the end.
extern "C" __global__ void varints_of_rows(const uint8_t *in, uint64_t *out, uint8_t *count)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, n = 0;
    const uint8_t *p = in + t * 32, *end = p + 32;
    while (p < end && n < 8) {
        uint64_t v = 0;
        int shift = 0;
        uint8_t b;
        do {
            b = *p++;
            v |= (uint64_t)(b & 127) << shift;
            shift += 7;
        } while ((b & 128) && p < end && shift < 64);
        out[t * 8 + n++] = (v >> 1) ^ -(v & 1);
    }
    count[t] = n;
}

//! delta_bit_unpack 16 128 | u32:26624 | u32:16:0:100000 | out u32:65536
// Blocks of 4,096 numbers of 13 bits, differences to the one before: unpacking and a scan.
extern "C" __global__ void delta_bit_unpack(const uint32_t *packed, const uint32_t *base, uint32_t *out)
{
    __shared__ uint32_t sums[4];
    const uint32_t *p = packed + blockIdx.x * 1664;
    int t = threadIdx.x, lane = t & 31;
    uint32_t carry = base[blockIdx.x];
    for (int chunk = 0; chunk < 8; chunk++) {
        uint32_t v[4], s = 0;
        for (int k = 0; k < 4; k++) {
            uint32_t bit = (chunk * 512 + t * 4 + k) * 13, w = bit >> 5, sh = bit & 31;
            uint64_t two = p[w] | (uint64_t)(w + 1 < 1664 ? p[w + 1] : 0) << 32;
            s += (uint32_t)(two >> sh) & 0x1fff;
            v[k] = s;
        }
        uint32_t x = s;
        for (int d = 1; d < 32; d <<= 1) {
            uint32_t y = __shfl_up_sync(~0u, x, d);
            if (lane >= d) x += y;
        }
        if (lane == 31) sums[t / 32] = x;
        __syncthreads();
        uint32_t before = carry + x - s, all = 0;
        for (int w = 0; w < 4; w++) {
            if (w < t / 32) before += sums[w];
            all += sums[w];
        }
        carry += all;
        *(uint4 *)(out + blockIdx.x * 4096 + chunk * 512 + t * 4) = make_uint4(before + v[0], before + v[1], before + v[2], before + v[3]);
        __syncthreads();
    }
}

//! lz_sequences 20 32 | u8:10240 | u8:5120 | out u8:20480 | out u32:20
// A warp unpacks literals and copies of what it has written, like LZ4's.
extern "C" __global__ void lz_sequences(const uint8_t *literals, const uint8_t *tokens, uint8_t *out, uint32_t *length)
{
    __shared__ uint8_t win[1024];
    int lane = threadIdx.x;
    const uint8_t *lit = literals + blockIdx.x * 512, *tok = tokens + blockIdx.x * 256;
    unsigned n = 0, l = 0, k = 0;
    while (n < 1024 && k < 254) {
        unsigned token = tok[k], nl = token >> 5, off = tok[k + 1] + 1;
        unsigned nm = 4 + (token & 15);
        k += 2;
        nl = min(nl, min(512 - l, 1024 - n));
        for (unsigned i = lane; i < nl; i += 32) win[n + i] = lit[l + i];
        __syncwarp();
        n += nl, l += nl;
        off = min(off, n);
        if (off == 0) continue;
        nm = min(nm, 1024 - n);
        uint8_t c = 0;
        if (lane < nm) c = win[n - off + lane % off];
        __syncwarp();
        if (lane < nm) win[n + lane] = c;
        __syncwarp();
        n += nm;
    }
    for (unsigned i = lane; i < n; i += 32) out[blockIdx.x * 1024 + i] = win[i];
    if (lane == 0) length[blockIdx.x] = n;
}

//! ldpc_min_sum 12 96 | f32:4608:-4:6 | out u8:1152 | out s32:12
// 96 bits, 48 checks of six: five rounds of the smallest and its sign, and the checks that still fail.
extern "C" __global__ void ldpc_min_sum(const float *llr, uint8_t *bits, int *unsatisfied)
{
    __shared__ float q[96], msg[48][6];
    __shared__ int bad;
    int t = threadIdx.x;
    float prior = llr[blockIdx.x * 96 + t];
    q[t] = prior;
    if (t == 0) bad = 0;
    for (int i = t; i < 288; i += 96) msg[i / 6][i % 6] = 0;
    __syncthreads();
    auto var = [](int c, int k) { return (c * 2 + k * k * 7 + k * 13) % 96; };
    for (int it = 0; it < 5; it++) {
        if (t < 48) {
            float v[6], m1 = 1e30f, m2 = 1e30f;
            int arg = 0, sign = 0;
#pragma unroll
            for (int k = 0; k < 6; k++) {
                v[k] = q[var(t, k)] - msg[t][k];
                float a = fabsf(v[k]);
                sign ^= v[k] < 0;
                if (a < m1)
                    m2 = m1, m1 = a, arg = k;
                else if (a < m2)
                    m2 = a;
            }
#pragma unroll
            for (int k = 0; k < 6; k++) {
                float m = 0.75f * (k == arg ? m2 : m1);
                msg[t][k] = (sign ^ (v[k] < 0)) ? -m : m;
            }
        }
        __syncthreads();
        float s = prior;
        for (int c = 0; c < 48; c++)
            for (int k = 0; k < 6; k++)
                if (var(c, k) == t) s += msg[c][k];
        __syncthreads();
        q[t] = s;
        __syncthreads();
    }
    bits[blockIdx.x * 96 + t] = q[t] < 0;
    if (t < 48) {
        int p = 0;
        for (int k = 0; k < 6; k++) p ^= q[var(t, k)] < 0;
        if (p) atomicAdd(&bad, 1);
    }
    __syncthreads();
    if (t == 0) unsatisfied[blockIdx.x] = bad;
}

//! range_decoder 4 64 | u32:8192 | u8:16:1:15 | out u8:8192
// An arithmetic decoder of sixteen symbols with fixed frequencies, 32 symbols a thread.
extern "C" __global__ void range_decoder(const uint32_t *code, const uint8_t *freq, uint8_t *out)
{
    __shared__ uint32_t cum[17];
    if (threadIdx.x == 0) {
        uint32_t c = 0;
        for (int i = 0; i < 16; i++) cum[i] = c, c += freq[i];
        cum[16] = c;
    }
    __syncthreads();
    int t = blockIdx.x * blockDim.x + threadIdx.x, byte = 4;
    const uint8_t *p = (const uint8_t *)(code + t * 32);
    uint32_t low = 0, range = 0xffffffffu, value = (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
    for (int n = 0; n < 32; n++) {
        range /= cum[16];
        uint32_t f = min((value - low) / range, cum[16] - 1);
        int s = 0;
        while (cum[s + 1] <= f) s++;
        out[t * 32 + n] = s;
        low += cum[s] * range;
        range *= cum[s + 1] - cum[s];
        while ((low ^ (low + range)) < 0x1000000u || (range < 0x10000u && ((range = -low & 0xffffu), true))) {
            value = value << 8 | (byte < 128 ? p[byte] : 0);
            byte++;
            low <<= 8;
            range <<= 8;
            if (range == 0) range = 0xffffffffu;
        }
    }
}

//! horspool_words 12 128 | u8:49152:97:101 | u8:6:97:101 | out s32:1536
extern "C" __global__ void horspool_words(const uint8_t *text, const uint8_t *word, int *found)
{
    __shared__ uint8_t skip[256], w[6];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) skip[i] = 6;
    if (threadIdx.x < 6) w[threadIdx.x] = word[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0)
        for (int i = 0; i < 5; i++) skip[w[i]] = 5 - i;
    __syncthreads();
    int t = blockIdx.x * blockDim.x + threadIdx.x, begin = t * 32, end = min(begin + 32, 49152 - 5), n = 0, last = -1;
    for (int i = begin; i < end;) {
        int k = 5;
        while (k >= 0 && text[i + k] == w[k]) k--;
        if (k < 0) n++, last = i;
        i += skip[text[i + 5]];
    }
    found[t] = n * 65536 + (last & 65535);
}

//! dfa_of_words 9 160 | u8:92160 | u8:2048:0:32 | zero u32:32
// An automaton of 32 states and 64 kinds of bytes in shared memory; every thread starts in state 0 over its 64 bytes.
extern "C" __global__ void dfa_of_words(const uint4 *text, const uint8_t *delta, unsigned *ends)
{
    __shared__ uint8_t d[2048];
    __shared__ unsigned hist[32];
    for (int i = threadIdx.x; i < 2048; i += blockDim.x) d[i] = delta[i];
    if (threadIdx.x < 32) hist[threadIdx.x] = 0;
    __syncthreads();
    unsigned s = 0;
    for (int k = 0; k < 4; k++) {
        uint4 v = text[(blockIdx.x * blockDim.x + threadIdx.x) * 4 + k];
        unsigned w[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int j = 0; j < 4; j++)
#pragma unroll
            for (int b = 0; b < 32; b += 8) s = d[s * 64 + (w[j] >> b & 63)];
    }
    atomicAdd(&hist[s], 1u);
    __syncthreads();
    if (threadIdx.x < 32 && hist[threadIdx.x]) atomicAdd(&ends[threadIdx.x], hist[threadIdx.x]);
}
