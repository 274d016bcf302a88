/* text.cu - letters, words, encodings and compressed streams. */
#include <cstdint>
#define K extern "C" __global__ void
//! kmp_count 32 64 | u8:65536:97:99 | out u32:2048
// Knuth, Morris and Pratt: how often a word of eight letters occurs in 64, of which 32 belong to the thread.
K kmp_count(const char *text, unsigned *count)
{
    __shared__ char word[9];
    __shared__ int fail[9];
    if (threadIdx.x == 0) {
        const char w[9] = "abaababb";
        for (int i = 0; i < 9; i++) word[i] = w[i];
        fail[0] = -1;
        for (int i = 0, j = -1; i < 8;) {
            while (j >= 0 && w[i] != w[j]) j = fail[j];
            fail[++i] = ++j;
        }
    }
    __syncthreads();
    int t = blockIdx.x * 64 + threadIdx.x, j = 0, end = min(t * 32 + 39, 65536);
    unsigned n = 0;
    for (int i = t * 32; i < end; i++) {
        char c = text[i];
        while (j >= 0 && (j == 8 || c != word[j])) j = fail[j];
        if (++j == 8) n++;
    }
    count[t] = n;
}
//! myers_bits 40 96 | u8:61440:97:101 | u8:64:97:101 | out s32:3840
// Edit distance by bit vectors: a pattern of 64 letters against sixteen of a thread's text.
K myers_bits(const uint8_t *text, const uint8_t *pattern, int *distance)
{
    __shared__ unsigned long long eq[4];
    if (threadIdx.x < 4) eq[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x < 64) atomicOr(&eq[pattern[threadIdx.x] - 97], 1ull << threadIdx.x);
    __syncthreads();
    const int t = blockIdx.x * 96 + threadIdx.x;
    uint64_t pv = ~0ull, mv = 0;
    int score = 64;
    const uint4 q = ((const uint4 *)text)[t];
    const unsigned w[4] = {q.x, q.y, q.z, q.w};
#pragma unroll
    for (int i = 0; i < 16; i++) {
        uint64_t e = eq[(w[i / 4] >> 8 * (i % 4) & 255) - 97], xv = e | mv, xh = (((e & pv) + pv) ^ pv) | e;
        uint64_t ph = mv | ~(xh | pv), mh = pv & xh;
        score += (int)(ph >> 63) - (int)(mh >> 63);
        ph = ph << 1 | 1;
        mh <<= 1;
        pv = mh | ~(xv | ph);
        mv = ph & xv;
    }
    distance[t] = score;
}
//! utf8_points 24 128 | u8:49152 | out u32:3072 | out u32:3072
// Counts the code points and the faults of sixteen bytes; sequences go on into the next bytes.
K utf8_points(const uint8_t *in, unsigned *points, unsigned *faults)
{
    int t = blockIdx.x * 128 + threadIdx.x, i = t * 16, end = i + 16;
    unsigned n = 0, bad = 0, sum = 0;
    while (i < end) {
        unsigned c = in[i++];
        if (c < 0x80) {
            n++;
            sum += c;
            continue;
        }
        int more = c >= 0xf0 && c < 0xf5 ? 3 : c >= 0xe0 && c < 0xf0 ? 2 : c >= 0xc2 && c < 0xe0 ? 1 : 0;
        if (!more) {
            bad++;
            continue;
        }
        c &= 0x3f >> more;
        for (; more && i < 49152 && (in[i] & 0xc0) == 0x80; more--) c = c << 6 | (in[i++] & 63);
        if (more || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff) bad++;
        else n++, sum += c;
    }
    points[t] = n | sum << 8;
    faults[t] = bad;
}
//! run_lengths 40 256 | u8:40960:0:3 | out u8:40960 | out u16:40960 | out u32:40
// Runs of equal bytes in 1,024 a block: where they begin comes from ballots and a scan over warps.
K run_lengths(const uint8_t *in, uint8_t *value, uint16_t *length, unsigned *runs)
{
    __shared__ uint8_t s[1024];
    __shared__ unsigned heads[32], before[33];
    __shared__ uint16_t start[1025];
    const int t = threadIdx.x, lane = t & 31, base = blockIdx.x * 1024;
    ((uchar4 *)s)[t] = ((const uchar4 *)(in + base))[t];
    __syncthreads();
    for (int k = 0; k < 4; k++) {
        int i = k * 256 + t;
        unsigned b = __ballot_sync(~0u, i == 0 || s[i] != s[i - 1]);
        if (lane == 0) heads[i / 32] = b;
    }
    __syncthreads();
    if (t < 32) {
        unsigned c = __popc(heads[t]), sum = c;
        for (int d = 1; d < 32; d *= 2) {
            unsigned o = __shfl_up_sync(~0u, sum, d);
            if (lane >= d) sum += o;
        }
        before[t] = sum - c;
        if (t == 31) {
            before[32] = sum;
            start[sum] = 1024;
            runs[blockIdx.x] = sum;
        }
    }
    __syncthreads();
    for (int k = 0; k < 4; k++) {
        int i = k * 256 + t;
        if (heads[i / 32] >> lane & 1) start[before[i / 32] + __popc(heads[i / 32] & ((1u << lane) - 1))] = (uint16_t)i;
    }
    __syncthreads();
    for (unsigned r = t; r < before[32]; r += 256) {
        value[base + r] = s[start[r]];
        length[base + r] = (uint16_t)(start[r + 1] - start[r]);
    }
}
//! base64_lines 32 192 | u8:18432 | out u8:24576
__constant__ char letters[65] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
K base64_lines(const uint8_t *in, char4 *out)
{
    const int t = blockIdx.x * 192 + threadIdx.x;
    const unsigned v = in[3 * t] << 16 | in[3 * t + 1] << 8 | in[3 * t + 2];
    out[t] = make_char4(letters[v >> 18], letters[v >> 12 & 63], letters[v >> 6 & 63], letters[v & 63]);
}
//! number_fields 36 64 | u8:55296:46:58 | out u64:2304
// Reads decimal numbers with a point (a byte 46; 47 is a comma) and adds up their thousandths.
K number_fields(const uint8_t *in, unsigned long long *out)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long total = 0, whole = 0;
    int digits = -1;
    for (int i = 0; i < 24; i++) {
        uint8_t c = in[t * 24 + i];
        if (c == 47) {
            for (; digits < 3; digits++)
                if (digits >= 0) whole *= 10;
            total += whole;
            whole = 0;
            digits = -1;
        } else if (c == 46) digits = 0;
        else if (digits < 0) whole = whole * 10 + (c - 48);
        else if (digits < 3) whole = whole * 10 + (c - 48), digits++;
    }
    out[t] = total;
}
//! suffix_ranks 4 512 | u8:2048:97:99 | out u16:2048
// Sorts the suffixes of 512 letters a block by doubling the length that is compared, ranks by counting.
K suffix_ranks(const uint8_t *text, uint16_t *rank)
{
    __shared__ unsigned key[512];
    __shared__ uint16_t r[512];
    int t = threadIdx.x;
    r[t] = text[blockIdx.x * 512 + t];
    for (int len = 1; len < 32; len *= 2) {
        __syncthreads();
        unsigned mine = key[t] = (unsigned)r[t] << 16 | (t + len < 512 ? r[t + len] + 1u : 0u);
        __syncthreads();
        unsigned less = 0;
        for (int i = 0; i < 512; i += 4) {
            uint4 k = *(const uint4 *)&key[i];
            less += (k.x < mine) + (k.y < mine) + (k.z < mine) + (k.w < mine);
        }
        r[t] = (uint16_t)less;
    }
    rank[blockIdx.x * 512 + t] = r[t];
}
//! huffman_bits 20 128 | u32:40964 | out u8:40960 | out u16:2560
// Decodes sixteen symbols a thread of a code whose lengths are 1 to 8: a table of 256 entries, a window of 64 bits.
K huffman_bits(const unsigned *bits, uint8_t *symbol, uint16_t *used)
{
    __shared__ uint16_t table[256];
    for (int i = threadIdx.x; i < 256; i += 128) {
        int zeros = i ? __clz(i) - 24 : 8, length = min(zeros + 2, 8);
        table[i] = (uint16_t)(length << 8 | (zeros * 16 + (i >> (8 - length) & 15)));
    }
    __syncthreads();
    int t = blockIdx.x * 128 + threadIdx.x, have = 64, at = t * 16 + 2, total = 0;
    uint64_t window = (uint64_t)bits[t * 16] << 32 | bits[t * 16 + 1];
    for (int k = 0; k < 16; k++) {
        unsigned e = table[window >> 56], n = e >> 8;
        symbol[t * 16 + k] = (uint8_t)e;
        window <<= n;
        have -= n;
        total += n;
        if (have <= 32) {
            window |= (uint64_t)bits[at++] << (32 - have);
            have += 32;
        }
    }
    used[t] = (uint16_t)total;
}
//! lz_matches 16 128 | u8:8192:97:100 | out u16:2048
// The longest earlier occurrence of what follows, among the 64 places before, up to 31 letters.
K lz_matches(const uint8_t *text, uint16_t *best)
{
    __shared__ uint8_t s[64 + 128 + 32];
    const int base = blockIdx.x * 128;
    for (int i = threadIdx.x; i < 224; i += 128) s[i] = base + i >= 64 ? text[base + i - 64] : 0;
    __syncthreads();
    int me = threadIdx.x + 64, length = 0, from = 0;
    for (int d = 1; d <= 64; d++) {
        int n = 0;
        while (n < 31 && s[me + n] == s[me - d + n]) n++;
        if (n > length) length = n, from = d;
    }
    best[base + threadIdx.x] = (uint16_t)(length << 8 | from);
}
//! shift_and_words 24 160 | u8:61440:97:103 | u32:32 | out u32:3840
// A machine of 32 states as bits runs over sixteen letters; which letters are allowed where comes from random words.
K shift_and_words(const uint8_t *text, const unsigned *mask, unsigned *state)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned d = 0, seen = 0;
    for (int i = 0; i < 16; i++) {
        d = (d << 1 | 1) & (__ldg(mask + text[t * 16 + i] - 97) | mask[text[t * 16 + i] - 90]);
        seen |= d;
        if (!(d & ~1u) && i > 8) break;
    }
    state[t] = __brev(seen) ^ d;
}
