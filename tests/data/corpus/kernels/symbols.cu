/* symbols.cu - strings, compression, ciphers and checks: bytes and words that follow from one another. */
#include <cstdint>
#define K extern "C" __global__ void

//! differences_then_varints 8 64 | u32:8192:0:100000 | out u8:40960 | out u32:512
K differences_then_varints(const uint32_t *x, uint8_t *out, uint32_t *size)
{
    int t = blockIdx.x * 64 + threadIdx.x;
    uint32_t before = 0, n = 0;
    uint8_t *to = out + t * 80;
    for (int k = 0; k < 16; k++) {
        uint32_t v = x[t * 16 + k];
        int32_t d = (int32_t)(v - before);
        uint32_t z = (uint32_t)d << 1 ^ (uint32_t)(d >> 31);
        before = v;
        while (z >= 0x80) {
            to[n++] = (uint8_t)(z | 0x80);
            z >>= 7;
        }
        to[n++] = (uint8_t)z;
    }
    size[t] = n;
}

//! move_to_front 4 64 | u8:8192:97:113 | out u8:8192
K move_to_front(const uint8_t *text, uint8_t *code)
{
    uint8_t order[16];
    int t = blockIdx.x * 64 + threadIdx.x;
    for (int k = 0; k < 16; k++) order[k] = (uint8_t)(97 + k);
    for (int k = 0; k < 32; k++) {
        uint8_t c = text[t * 32 + k], moved = order[0];
        int at = 0;
        while (moved != c) {
            uint8_t next = order[at + 1];
            order[at + 1] = moved;
            moved = next;
            at++;
        }
        order[0] = c;
        code[t * 32 + k] = (uint8_t)at;
    }
}

//! runs_packed_by_scan 9 128 | u8:4608:0:3 | out u8:4608 | out u16:4608 | out s32:9
K runs_packed_by_scan(const uint8_t *in, uint8_t *value, uint16_t *length, int *count)
{
    __shared__ int place[512], start[513];
    const uint8_t *p = in + blockIdx.x * 512;
    for (int i = threadIdx.x; i < 512; i += 128) place[i] = i == 0 || p[i] != p[i - 1];
    __syncthreads();
    for (int s = 1; s < 512; s <<= 1) {
        int v[4];
        for (int k = 0; k < 4; k++) {
            int i = threadIdx.x + k * 128;
            v[k] = i >= s ? place[i - s] : 0;
        }
        __syncthreads();
        for (int k = 0; k < 4; k++) place[threadIdx.x + k * 128] += v[k];
        __syncthreads();
    }
    int runs = place[511];
    for (int i = threadIdx.x; i < 512; i += 128)
        if (i == 0 || p[i] != p[i - 1]) {
            start[place[i] - 1] = i;
            value[blockIdx.x * 512 + place[i] - 1] = p[i];
        }
    if (threadIdx.x == 0) {
        start[runs] = 512;
        count[blockIdx.x] = runs;
    }
    __syncthreads();
    for (int r = threadIdx.x; r < runs; r += 128) length[blockIdx.x * 512 + r] = (uint16_t)(start[r + 1] - start[r]);
}

__device__ __forceinline__ void g(uint32_t &a, uint32_t &b, uint32_t &c, uint32_t &d, uint32_t x, uint32_t y)
{
    a += b + x;
    d = __funnelshift_r(d ^ a, d ^ a, 16);
    c += d;
    b = __funnelshift_r(b ^ c, b ^ c, 12);
    a += b + y;
    d = __funnelshift_r(d ^ a, d ^ a, 8);
    c += d;
    b = __funnelshift_r(b ^ c, b ^ c, 7);
}

//! blake3_chunk_roots 5 96 | u32:7680 | out u32:3840
K blake3_chunk_roots(const uint32_t *message, uint32_t *hash)
{
    const uint32_t iv[8] = {0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19};
    int t = blockIdx.x * 96 + threadIdx.x;
    uint32_t m[16], v[16];
#pragma unroll
    for (int k = 0; k < 16; k++) m[k] = message[t * 16 + k];
#pragma unroll
    for (int k = 0; k < 8; k++) v[k] = iv[k];
    v[8] = iv[0], v[9] = iv[1], v[10] = iv[2], v[11] = iv[3], v[12] = t, v[13] = 0, v[14] = 64, v[15] = 11;
#pragma unroll
    for (int r = 0; r < 7; r++) {
        g(v[0], v[4], v[8], v[12], m[0], m[1]);
        g(v[1], v[5], v[9], v[13], m[2], m[3]);
        g(v[2], v[6], v[10], v[14], m[4], m[5]);
        g(v[3], v[7], v[11], v[15], m[6], m[7]);
        g(v[0], v[5], v[10], v[15], m[8], m[9]);
        g(v[1], v[6], v[11], v[12], m[10], m[11]);
        g(v[2], v[7], v[8], v[13], m[12], m[13]);
        g(v[3], v[4], v[9], v[14], m[14], m[15]);
        const int p[16] = {2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8};
        uint32_t o[16];
#pragma unroll
        for (int k = 0; k < 16; k++) o[k] = m[p[k]];
#pragma unroll
        for (int k = 0; k < 16; k++) m[k] = o[k];
    }
#pragma unroll
    for (int k = 0; k < 8; k++) hash[t * 8 + k] = v[k] ^ v[k + 8];
}

__constant__ uint8_t present_box[16] = {12, 5, 6, 11, 9, 0, 10, 13, 3, 14, 15, 8, 4, 7, 1, 2};

//! present_light_blocks 3 64 | u64:192 | u64:192 | out u64:192
K present_light_blocks(const uint64_t *plain, const uint64_t *keys, uint64_t *cipher)
{
    int t = blockIdx.x * 64 + threadIdx.x;
    uint64_t s = plain[t], k = keys[t];
    uint32_t low = (uint32_t)t & 0xffff;
    for (int r = 1; r < 12; r++) {
        s ^= k;
        uint64_t n = 0;
        for (int i = 0; i < 16; i++) {
            uint64_t nibble = present_box[s >> (4 * i) & 15];
            for (int b = 0; b < 4; b++) n |= (nibble >> b & 1) << (i + 16 * b);
        }
        s = n;
        uint64_t high = k << 61 | (uint64_t)low << 45 | k >> 19;
        low = (uint32_t)(k >> 3) & 0xffff;
        k = (high & 0x0fffffffffffffffull) | (uint64_t)present_box[high >> 60] << 60;
        k ^= r >> 1;
    }
    cipher[t] = s ^ k;
}

//! words_upper_and_counted 12 96 | u8:36864:32:123 | out u8:36864 | out s32:1152
K words_upper_and_counted(const uint8_t *in, uint8_t *out, int *words)
{
    int t = blockIdx.x * 96 + threadIdx.x, n = 0;
    bool inside = false;
    const uint4 *p = (const uint4 *)(in + t * 32);
    for (int h = 0; h < 2; h++) {
        uint4 v = p[h];
        uint32_t w[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int q = 0; q < 4; q++) {
            uint32_t lower = __vcmpgeu4(w[q], 0x61616161u) & __vcmpleu4(w[q], 0x7a7a7a7au);
            uint32_t letter = lower | (__vcmpgeu4(w[q], 0x41414141u) & __vcmpleu4(w[q], 0x5a5a5a5au));
#pragma unroll
            for (int b = 0; b < 4; b++) {
                bool l = letter >> (8 * b) & 1;
                n += l && !inside;
                inside = l;
            }
            w[q] -= lower & 0x20202020u;
        }
        ((uint4 *)(out + t * 32))[h] = make_uint4(w[0], w[1], w[2], w[3]);
    }
    words[t] = n;
}

//! longest_palindromes 4 128 | u8:16384:97:100 | out s32:512
K longest_palindromes(const uint8_t *text, int *best)
{
    __shared__ uint8_t s[4096];
    for (int k = threadIdx.x; k < 1024; k += 128) ((uint32_t *)s)[k] = ((const uint32_t *)text)[blockIdx.x * 1024 + k];
    __syncthreads();
    int most = 0;
    for (int c = threadIdx.x * 32; c < threadIdx.x * 32 + 32; c++)
        for (int odd = 0; odd < 2; odd++) {
            int l = c - odd, r = c + 1 - odd + odd;
            if (odd) l = c - 1;
            int n = odd ? 1 : 0;
            while (l >= 0 && r < 4096 && s[l] == s[r]) {
                n += 2;
                l--;
                r++;
            }
            most = max(most, n);
        }
    best[blockIdx.x * 128 + threadIdx.x] = most;
}

//! trie_of_bytes_walked 10 128 | u8:10240:0:4 | s32:4096:0:1024 | out s32:1280
K trie_of_bytes_walked(const uint8_t *keys, const int *child, int *depth)
{
    int t = blockIdx.x * 128 + threadIdx.x, node = t & 7, d = 0;
    uint2 key = ((const uint2 *)keys)[t];
    for (; d < 8; d++) {
        uint32_t c = (d < 4 ? key.x >> (8 * d) : key.y >> (8 * (d - 4))) & 3;
        int next = child[node * 4 + c];
        if (next % 11 == 0) break;
        node = next;
    }
    depth[t] = node * 16 + d;
}

//! hamming_codes_corrected 14 128 | u32:1792 | out u32:1792 | zero u32:1
K hamming_codes_corrected(const uint32_t *words, uint32_t *data, uint32_t *errors)
{
    int t = blockIdx.x * 128 + threadIdx.x;
    uint32_t w = words[t], s = 0;
    const uint32_t mask[5] = {0x55555555u, 0x66666666u, 0x78787878u, 0x7f807f80u, 0x7fff8000u};
#pragma unroll
    for (int k = 0; k < 5; k++) s |= (__popc(w & mask[k]) & 1) << k;
    if (s) w ^= 1u << (s - 1 < 31 ? s - 1 : 0);
    uint32_t d = (w >> 2 & 1) | (w >> 4 & 7) << 1 | (w >> 8 & 0x7f) << 4 | (w >> 16 & 0x7fff) << 11;
    data[t] = d;
    unsigned bad = __ballot_sync(~0u, s != 0);
    if ((t & 31) == 0) atomicAdd(errors, __popc(bad));
}

//! base_ten_to_binary 6 64 | u8:7680:48:58 | out u32:1536
K base_ten_to_binary(const uint8_t *digits, uint32_t *out)
{
    int t = blockIdx.x * 64 + threadIdx.x;
    uint32_t limb[4] = {0, 0, 0, 0};
    for (int k = 0; k < 20; k++) {
        uint32_t carry = digits[t * 20 + k] - 48;
#pragma unroll
        for (int q = 0; q < 4; q++) {
            uint64_t v = (uint64_t)limb[q] * 10 + carry;
            limb[q] = (uint32_t)v;
            carry = (uint32_t)(v >> 32);
        }
    }
    ((uint4 *)out)[t] = make_uint4(limb[0], limb[1], limb[2], limb[3]);
}
