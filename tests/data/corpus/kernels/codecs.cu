/* codecs.cu - packing and unpacking of data, formats of text, and patterns in strings. */
#include <cstdint>

//! rice_codes 4 32 | u32:8192 | out u32:4096 | out u32:128
// Rice codes with k = 4 from a stream of bits a thread, 32 values each, the position of the end afterwards.
extern "C" __global__ void rice_codes(const uint32_t *bits, uint32_t *out, uint32_t *ends)
{
    int id = blockIdx.x * 32 + threadIdx.x;
    const uint32_t *w = bits + id * 64;
    uint32_t pos = 0;
    for (int n = 0; n < 32; n++) {
        uint32_t q = 0;
        while (pos < 1900 && (w[pos >> 5] >> (pos & 31) & 1)) q++, pos++;
        pos++;
        uint32_t v = __funnelshift_r(w[pos >> 5 & 63], w[(pos >> 5) + 1 & 63], pos & 31) & 15;
        pos += 4;
        out[n * 128 + id] = q << 4 | v;
    }
    ends[id] = pos;
}

//! arithmetic_bits 3 64 | u8:19200 | out u32:192 | out u32:192
// An adaptive binary coder: probabilities of eleven bits by context in local memory, carries swallowed, a checksum of the code.
extern "C" __global__ void arithmetic_bits(const unsigned char *data, uint32_t *sum, uint32_t *length)
{
    int id = blockIdx.x * 64 + threadIdx.x;
    unsigned short prob[64];
    for (int i = 0; i < 64; i++) prob[i] = 1024;
    uint64_t low = 0;
    uint32_t range = 0xffffffffu, h = 1, n = 0;
    for (int i = 0; i < 100; i++) {
        uint32_t byte = data[i * 192 + id] & (i & 1 ? 0x11 : 0x77), ctx = 1;
        for (int b = 7; b >= 0; b--) {
            uint32_t bit = byte >> b & 1, c = (ctx ^ ctx >> 3) & 63, bound = (range >> 11) * prob[c];
            if (bit) {
                low += bound;
                range -= bound;
                prob[c] -= prob[c] >> 5;
            } else {
                range = bound;
                prob[c] += (2048 - prob[c]) >> 5;
            }
            ctx = ctx << 1 | bit;
            while (range < 1u << 24) {
                range <<= 8;
                h = h * 16777619 ^ (uint32_t)(low >> 24);
                low = (low & 0x00ffffff) << 8;
                n++;
            }
        }
    }
    sum[id] = h ^ (uint32_t)low;
    length[id] = n;
}

//! front_moves 8 32 | u8:16384:0:64 | out u8:16384
// Move to front with the alphabet of 64 in shared memory, bank by bank.
extern "C" __global__ void front_moves(const unsigned char *in, unsigned char *out)
{
    __shared__ unsigned char list[64][32];
    int t = threadIdx.x, id = blockIdx.x * 32 + t;
    for (int i = 0; i < 64; i++) list[i][t] = i;
    for (int k = 0; k < 64; k++) {
        unsigned char c = in[k * 256 + id], prev = list[0][t];
        int pos = 0;
        while (prev != c && pos < 63) {
            pos++;
            unsigned char next = list[pos][t];
            list[pos][t] = prev;
            prev = next;
        }
        list[0][t] = c;
        out[k * 256 + id] = pos;
    }
}

//! inverse_burrows 6 128 | u8:1536:97:101 | out u8:1536
// The inverse of a block sort: counts, ranks by scans of the block, then one thread follows the chain.
extern "C" __global__ void inverse_burrows(const unsigned char *in, unsigned char *out)
{
    __shared__ unsigned char text[256];
    __shared__ unsigned short next[256];
    __shared__ int start[5];
    int t = threadIdx.x;
    for (int i = t; i < 256; i += 128) text[i] = in[blockIdx.x * 256 + i] & 3;
    __syncthreads();
    if (t < 4) {
        int n = 0;
        for (int i = 0; i < 256; i++) n += text[i] < t;
        start[t] = n;
    }
    __syncthreads();
    for (int i = t; i < 256; i += 128) {
        int rank = 0;
        for (int j = 0; j < i; j++) rank += text[j] == text[i];
        next[start[text[i]] + rank] = i;
    }
    __syncthreads();
    if (t == 0) {
        int p = next[0];
        for (int i = 0; i < 256; i++) {
            out[blockIdx.x * 256 + i] = 'a' + text[p];
            p = next[p];
        }
    }
}

//! escaped_json 16 128 | u8:65536 | out u32:2048 | out u32:2048
// Structural characters of a text by words of bits: quotes, backslashes in runs, prefix xor by shifts.
extern "C" __global__ void escaped_json(const uint4 *text, uint32_t *structure, uint32_t *inside)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    const char kinds[16] = {'"', '\\', '{', '}', '[', ']', ':', ',', 'a', 'b', ' ', '1', '2', '"', 'x', '\n'};
    uint32_t quote = 0, slash = 0, op = 0;
    for (int h = 0; h < 2; h++) {
        uint4 v = text[i * 2 + h];
        uint32_t w[4] = {v.x, v.y, v.z, v.w};
        for (int b = 0; b < 16; b++) {
            char c = kinds[w[b >> 2] >> (8 * (b & 3)) & 15];
            int at = h * 16 + b;
            quote |= (uint32_t)(c == '"') << at;
            slash |= (uint32_t)(c == '\\') << at;
            op |= (uint32_t)(c == '{' || c == '}' || c == '[' || c == ']' || c == ':' || c == ',') << at;
        }
    }
    uint32_t starts = slash & ~(slash << 1), even = starts & 0x55555555, odd = starts & 0xaaaaaaaa;
    uint32_t ec = (slash + even) & ~slash, oc = (slash + odd) & ~slash;
    quote &= ~((ec & 0xaaaaaaaa) | (oc & 0x55555555));
    uint32_t in = quote;
    for (int s = 1; s < 32; s <<= 1) in ^= in << s;
    uint32_t carry = __popc(quote) & 1, before = carry;
    for (int d = 1; d < 32; d <<= 1) {
        uint32_t up = __shfl_up_sync(~0u, before, d);
        if ((threadIdx.x & 31) >= d) before ^= up;
    }
    if (before ^ carry) in = ~in;
    structure[i] = op & ~in;
    inside[i] = in;
}

//! fields_of_csv 12 64 | u8:24576:0:40 | out s32:3072 | out u32:768
// Lines of 32 characters: signed numbers between commas, four fields and a bit mask of the broken ones.
extern "C" __global__ void fields_of_csv(const unsigned char *text, int *value, uint32_t *broken)
{
    int id = blockIdx.x * 64 + threadIdx.x;
    const unsigned char *line = text + id * 32;
    int field = 0, v = 0, sign = 1, state = 0;
    uint32_t bad = 0;
    for (int k = 0; k < 32 && field < 4; k++) {
        int c = line[k];
        switch (c < 24 ? 0 : c < 32 ? 1 : c < 34 ? 2 : c < 37 ? 3 : 4) {
        case 0:
            v = v * 10 + c % 10;
            state = 2;
            break;
        case 1:
            value[field * 768 + id] = v * sign;
            field++;
            v = state = 0;
            sign = 1;
            break;
        case 2:
            if (state == 0)
                sign = -1, state = 1;
            else
                bad |= 1u << field;
            break;
        case 3:
            if (state == 2) state = 3;
            break;
        default: bad |= 16u << field;
        }
    }
    broken[id] = bad | field << 16;
}

//! automaton_of_patterns 16 64 | u8:65536:0:4 | out u32:1024 | s u32 64
// All patterns at once by an automaton in shared memory, built by one warp; every thread walks its piece and the piece's overlap.
extern "C" __global__ void automaton_of_patterns(const unsigned char *text, uint32_t *hits, uint32_t piece)
{
    __shared__ unsigned char go[64][4], out[64], fail[64];
    int t = threadIdx.x;
    if (t < 64) {
        // A trie of all words of three letters over an alphabet of four has 1 + 4 + 16 nodes inside; leaves are told by the way.
        for (int c = 0; c < 4; c++) {
            int to = t == 0 ? 1 + c : t < 5 ? 5 + (t - 1) * 4 + c : t < 21 ? 5 + (t - 5) % 4 * 4 + c : 0;
            go[t][c] = to;
        }
        out[t] = t >= 5 && t < 21 ? (t * 0x9e37u >> 7) & 3 : 0;
        fail[t] = t >= 5 ? 1 + (t - 5) % 4 : 0;
    }
    __syncthreads();
    uint32_t state = 0, n = 0, at = (blockIdx.x * 64 + t) * piece;
    for (uint32_t k = 0; k < piece + 2 && at + k < 65536; k++) {
        state = go[state][text[at + k]];
        n += out[state];
        if (k & 32) n ^= fail[state] << 8;
    }
    hits[blockIdx.x * 64 + t] = n;
}

//! rolling_fingerprints 24 64 | u8:99000 | out u32:1536 | zero u32:4
// Cuts of a stream by its content: Rabin fingerprints over windows of 16, a mask of six bits.
extern "C" __global__ void rolling_fingerprints(const unsigned char *data, uint32_t *cuts, uint32_t *stats)
{
    int id = blockIdx.x * 64 + threadIdx.x;
    const unsigned char *p = data + id * 64;
    uint32_t h = 0, n = 0, last = 0;
    const uint32_t out_power = 0x1b6d2c11u;
    for (int k = 0; k < 80; k++) {
        h = h * 0x01000193u + p[k] + 1;
        if (k >= 16) {
            h -= p[k - 16] * out_power;
            if ((h >> 13 & 63) == 21) {
                n++;
                last = k;
            }
        }
    }
    cuts[id] = n << 16 | last;
    unsigned m = __reduce_max_sync(~0u, n), s = __reduce_add_sync(~0u, n);
    if ((threadIdx.x & 31) == 0) {
        atomicMax(stats, m);
        atomicAdd(stats + 1, s);
    }
}

//! sixteens_to_eights 12 96 | u16:18432 | out u8:55296 | out u32:1152
// UTF-16 with surrogate pairs to UTF-8: lengths first, a scan of the warp for the place, then the bytes.
extern "C" __global__ void sixteens_to_eights(const uint16_t *in, unsigned char *out, uint32_t *lengths)
{
    int id = blockIdx.x * 96 + threadIdx.x, lane = threadIdx.x & 31;
    const uint16_t *p = in + id * 16;
    auto walk = [&](auto emit) {
        for (int k = 0; k < 16; k++) {
            uint32_t c = p[k] & (k & 1 ? 0xffff : 0x07ff);
            if (c >= 0xd800 && c < 0xdc00 && k < 15) {
                uint32_t d = p[++k];
                c = 0x10000 + ((c & 0x3ff) << 10) + (d & 0x3ff);
            }
            if (c < 0x80)
                emit(c, 1);
            else if (c < 0x800)
                emit(0x80c0u | c >> 6 | (c & 63) << 8, 2);
            else if (c < 0x10000)
                emit(0x8080e0u | c >> 12 | (c >> 6 & 63) << 8 | (c & 63) << 16, 3);
            else
                emit(0x808080f0u | c >> 18 | (c >> 12 & 63) << 8 | (c >> 6 & 63) << 16 | (c & 63) << 24, 4);
        }
    };
    uint32_t n = 0;
    walk([&](uint32_t, int l) { n += l; });
    lengths[id] = n;
    uint32_t at = n;
    for (int d = 1; d < 32; d <<= 1) {
        uint32_t up = __shfl_up_sync(~0u, at, d);
        if (lane >= d) at += up;
    }
    unsigned char *q = out + (id - lane) * 48 + at - n;
    walk([&](uint32_t bytes, int l) {
        for (int i = 0; i < l; i++) *q++ = bytes >> (8 * i);
    });
}

//! packed_seconds 20 128 | u64:1280 | out u32:10240
// Simple-8b: the selector in four bits says how many values of what width a word holds; a warp shares the places.
extern "C" __global__ void packed_seconds(const unsigned long long *in, uint32_t *out)
{
    const unsigned char widths[16] = {60, 30, 20, 15, 12, 10, 8, 7, 60, 30, 20, 15, 12, 10, 8, 30};
    int group = (blockIdx.x * 128 + threadIdx.x) >> 1, half = threadIdx.x & 1;
    unsigned long long w = in[group];
    int width = widths[w >> 60], count = min(8, 60 / width);
    unsigned long long mask = (1ull << width) - 1;
    for (int k = half; k < 8; k += 2) out[group * 8 + k] = k < count ? (uint32_t)(w >> (k * width) & mask) ^ (uint32_t)(w >> 31 & mask) : 0xdeadu;
}

//! wildcards_matched 10 96 | u8:15360:0:3 | u8:120:0:5 | out u32:960
// Star and question mark, with going back: patterns of twelve against strings of sixteen.
extern "C" __global__ void wildcards_matched(const unsigned char *strings, const unsigned char *patterns, uint32_t *out)
{
    int id = blockIdx.x * 96 + threadIdx.x;
    const unsigned char *s = strings + id * 16;
    uint32_t found = 0, steps = 0;
    for (int p = 0; p < 10; p++) {
        const unsigned char *pat = patterns + p * 12;
        int i = 0, j = 0, star = -1, mark = 0;
        bool ok = true;
        while (i < 16) {
            steps++;
            if (j < 12 && (pat[j] == 3 || pat[j] == s[i])) {
                i++, j++;
            } else if (j < 12 && pat[j] == 4) {
                star = j++;
                mark = i;
            } else if (star >= 0) {
                j = star + 1;
                i = ++mark;
            } else {
                ok = false;
                break;
            }
        }
        while (ok && j < 12 && pat[j] == 4) j++;
        found |= (uint32_t)(ok && j == 12) << p;
    }
    out[id] = found | steps << 10;
}

//! checked_castagnoli 15 128 | u32:30720 | out u32:1920
// CRC-32C of 64 bytes by four tables of sixteen entries in shared memory, made on the spot.
extern "C" __global__ void checked_castagnoli(const uint32_t *data, uint32_t *out)
{
    __shared__ uint32_t table[8][16];
    int t = threadIdx.x;
    {
        uint32_t c = (t & 15) << 0;
        for (int k = 0; k < 4 * (1 + (t >> 4)); k++) c = c >> 1 ^ (c & 1 ? 0x82f63b78u : 0);
        table[t >> 4][t & 15] = c;
    }
    __syncthreads();
    uint32_t crc = ~0u;
    for (int k = 0; k < 16; k++) {
        crc ^= data[k * 1920 + blockIdx.x * 128 + t];
        uint32_t n = 0;
#pragma unroll
        for (int j = 0; j < 8; j++) n ^= table[7 - j][crc >> (4 * j) & 15];
        crc = n;
    }
    out[blockIdx.x * 128 + t] = ~crc;
}
