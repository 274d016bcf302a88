/* words_and_graphs.cu - hashes, checks, strings, sparse rows, and steps over graphs. */
#include <cstdint>
#define K extern "C" __global__ void

__constant__ uint32_t crc_nibbles[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
                                         0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
//! crc_by_nibbles 20 64 | u8:163840 | out u32:1280 | s s32 128
K crc_by_nibbles(const uint8_t *data, uint32_t *crcs, int len)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t crc = ~0u;
    const uint8_t *p = data + i * len;
    for (int k = 0; k < len; k++) {
        crc = crc_nibbles[(crc ^ p[k]) & 15] ^ (crc >> 4);
        crc = crc_nibbles[(crc ^ (p[k] >> 4)) & 15] ^ (crc >> 4);
    }
    crcs[i] = ~crc;
}

//! sixteen_bits_of_modbus 40 64 | u8:81920 | out u16:2560 | s s32 32
K sixteen_bits_of_modbus(const unsigned char *data, unsigned short *out, int len)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned short crc = 0xFFFF;
    for (int pos = 0; pos < len; pos++) {
        crc ^= (unsigned short)data[id * len + pos];
        for (int i = 8; i != 0; i--) {
            if ((crc & 0x0001) != 0) {
                crc >>= 1;
                crc ^= 0xA001;
            } else
                crc >>= 1;
        }
    }
    out[id] = crc;
}

__device__ inline uint32_t rotr(uint32_t x, int n) { return (x >> n) | (x << (32 - n)); }
__constant__ uint32_t k256[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74,
    0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d,
    0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e,
    0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5,
    0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
//! digest_of_a_message_a_thread 12 128 | u8:98304 | out u32:12288
// The schedule in a local array of 64 words, the rounds in a loop.
K digest_of_a_message_a_thread(const uint8_t *data, uint32_t *out)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t m[64], h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    int i, j;
    for (i = 0, j = 0; i < 16; ++i, j += 4)
        m[i] = (data[t * 64 + j] << 24) | (data[t * 64 + j + 1] << 16) | (data[t * 64 + j + 2] << 8) | (data[t * 64 + j + 3]);
#pragma unroll 1
    for (; i < 64; ++i)
        m[i] = (rotr(m[i - 2], 17) ^ rotr(m[i - 2], 19) ^ (m[i - 2] >> 10)) + m[i - 7] + (rotr(m[i - 15], 7) ^ rotr(m[i - 15], 18) ^ (m[i - 15] >> 3)) + m[i - 16];
    uint32_t a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], f = h[5], g = h[6], hh = h[7];
#pragma unroll 1
    for (i = 0; i < 64; ++i) {
        uint32_t t1 = hh + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + ((e & f) ^ (~e & g)) + k256[i] + m[i];
        uint32_t t2 = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        hh = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    uint32_t r[8] = {a, b, c, d, e, f, g, hh};
    for (i = 0; i < 8; i++) out[t * 8 + i] = h[i] + r[i];
}

//! cipher_tables_in_shared 20 256 | u32:20480 | u32:1024 | u32:44 | out u32:20480
// Ten rounds of four lookups a word, four tables of 256 words copied to shared memory first.
K cipher_tables_in_shared(const uint4 *in, const uint32_t *tables, const uint32_t *key, uint4 *out)
{
    __shared__ uint32_t t0[256], t1[256], t2[256], t3[256];
    t0[threadIdx.x] = tables[threadIdx.x];
    t1[threadIdx.x] = tables[threadIdx.x + 256];
    t2[threadIdx.x] = tables[threadIdx.x + 512];
    t3[threadIdx.x] = tables[threadIdx.x + 768];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint4 s = in[i];
    s.x ^= key[0], s.y ^= key[1], s.z ^= key[2], s.w ^= key[3];
    for (int r = 1; r <= 10; r++) {
        uint4 n;
        n.x = t0[s.x >> 24] ^ t1[s.y >> 16 & 255] ^ t2[s.z >> 8 & 255] ^ t3[s.w & 255] ^ key[r * 4];
        n.y = t0[s.y >> 24] ^ t1[s.z >> 16 & 255] ^ t2[s.w >> 8 & 255] ^ t3[s.x & 255] ^ key[r * 4 + 1];
        n.z = t0[s.z >> 24] ^ t1[s.w >> 16 & 255] ^ t2[s.x >> 8 & 255] ^ t3[s.y & 255] ^ key[r * 4 + 2];
        n.w = t0[s.w >> 24] ^ t1[s.x >> 16 & 255] ^ t2[s.y >> 8 & 255] ^ t3[s.z & 255] ^ key[r * 4 + 3];
        s = n;
    }
    out[i] = s;
}

//! differing_bits_of_pairs 16,16 16,16 | u64:2048 | u64:2048 | out s32:65536 | s s32 256 | s s32 8
K differing_bits_of_pairs(const unsigned long long *a, const unsigned long long *b, int *d, int n, int words)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x, s = 0;
    if (i >= n || j >= n) return;
    for (int w = 0; w < words; w++) s += __popcll(a[i * words + w] ^ b[j * words + w]);
    d[i * n + j] = s;
}

//! finds_of_a_pattern 132 128 | u8:17000:97:100 | u8:5:97:100 | zero s32:1 | out u8:16896 | s s32 16890 | s s32 5
K finds_of_a_pattern(const char *text, const char *pattern, int *count, char *match, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > n - m) return;
    int k = 0;
    while (k < m && text[i + k] == pattern[k]) k++;
    match[i] = k == m;
    if (k == m) atomicAdd(count, 1);
}

__device__ uint32_t mixed(uint32_t k, uint32_t mask)
{
    k ^= k >> 16;
    k *= 0x85ebca6b;
    k ^= k >> 13;
    k *= 0xc2b2ae35;
    k ^= k >> 16;
    return k & mask;
}
//! keys_looked_up_linearly 32 128 | u32:16384:0:20000 | inout u32:8192:0:20000 | s u32 8191 | s u32 4096
struct KeyValue {
    uint32_t key, value;
};
K keys_looked_up_linearly(const KeyValue *table, KeyValue *kvs, uint32_t mask, uint32_t n)
{
    uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= n) return;
    uint32_t key = kvs[id].key, slot = mixed(key, mask);
    for (int probe = 0; probe < 64; probe++) {
        if (table[slot].key == key) {
            kvs[id].value = table[slot].value;
            return;
        }
        if (table[slot].key % 16 == 15) {
            kvs[id].value = 0xffffffff;
            return;
        }
        slot = (slot + 1) & mask;
    }
}

//! words_inserted_by_cas 24 128 | s32:3072:1:100000 | zero s32:8192 | s s32 8191 | unordered
K words_inserted_by_cas(const int *keys, int *table, int mask)
{
    int key = keys[blockIdx.x * blockDim.x + threadIdx.x], slot = mixed(key, mask);
    while (true) {
        int prev = atomicCAS(&table[slot], 0, key);
        if (prev == 0 || prev == key) return;
        slot = (slot + 1) & mask;
    }
}

//! life_by_whole_words 8 128 | u32:16384 | out u32:16384 | s s32 16 | s s32 1024
// 32 cells a word, eight neighbours added by logic.
K life_by_whole_words(const uint32_t *in, uint32_t *out, int w, int h)
{
    for (int g = blockIdx.x * blockDim.x + threadIdx.x; g < w * h; g += gridDim.x * blockDim.x) {
        int x = g % w, y = g / w, l = (x + w - 1) % w, r = (x + 1) % w, u = (y + h - 1) % h * w, d = (y + 1) % h * w;
        uint32_t sum0 = 0, sum1 = 0, sum2 = 0, self = in[y * w + x];
        auto add = [&](uint32_t v) {
            uint32_t c = sum0 & v;
            sum0 ^= v;
            uint32_t c2 = sum1 & c;
            sum1 ^= c;
            sum2 |= c2;
        };
        auto row = [&](int b, bool middle) {
            uint32_t a = in[b + l], m = in[b + x], c = in[b + r];
            add(m << 1 | a >> 31);
            add(m >> 1 | c << 31);
            if (!middle) add(m);
        };
        row(u, false);
        row(y * w, true);
        row(d, false);
        out[y * w + x] = sum1 & ~sum2 & (sum0 | self);
    }
}

//! orders_of_three_axes 100 128 | u32:38400 | out u32:12800 | s s32 12700
__device__ uint32_t expand_bits(uint32_t v)
{
    v = (v * 0x00010001u) & 0xFF0000FFu;
    v = (v * 0x00000101u) & 0x0F00F00Fu;
    v = (v * 0x00000011u) & 0xC30C30C3u;
    v = (v * 0x00000005u) & 0x49249249u;
    return v;
}
K orders_of_three_axes(const uint32_t *p, uint32_t *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = expand_bits(p[3 * i] & 1023) * 4 + expand_bits(p[3 * i + 1] & 1023) * 2 + expand_bits(p[3 * i + 2] & 1023);
}

//! rows_between_two_marks 16 128 | s32:2048:0:30000 | s32:2048:0:24 | s32:32768:0:4096 | f32:32768:-1:1 | f32:4096:-1:1 | out f32:2048 | s s32 2000
// Rows of their own begin and length, a thread each.
K rows_between_two_marks(const int *begin, const int *length, const int *cols, const float *vals, const float *x, float *y, int rows)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) {
        float dot = 0;
        int start = begin[r], end = start + length[r];
        for (int e = start; e < end; e++) dot += vals[e] * x[cols[e]];
        y[r] += dot;
    }
}

//! rows_by_eight_lanes 64 128 | s32:1024:0:30000 | s32:1024:0:100 | s32:32768:0:4096 | f64:32768:-1:1 | f64:4096:-1:1 | out f64:1024
K rows_by_eight_lanes(const int *begin, const int *length, const int *cols, const double *vals, const double *x, double *y)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x & 7;
    double s = 0;
    for (int e = begin[row] + lane; e < begin[row] + length[row]; e += 8) s = fma(vals[e], x[cols[e]], s);
    s += __shfl_down_sync(~0u, s, 4, 8);
    s += __shfl_down_sync(~0u, s, 2, 8);
    s += __shfl_down_sync(~0u, s, 1, 8);
    if (lane == 0) y[row] = s;
}

//! frontier_of_masks_one 20 256 | s32:5120:0:15000 | s32:5120:0:8 | s32:16384:0:5000 | inout u8:5120:0:2 | zero u8:5120 | u8:5120:0:2 | inout s32:5120:0:4 | s s32 5000 | unordered
K frontier_of_masks_one(const int *starting, const int *edges, const int *g_edges, bool *mask, bool *updating, const bool *visited,
                        int *cost, int n)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid < n && mask[tid]) {
        mask[tid] = false;
        for (int i = starting[tid]; i < edges[tid] + starting[tid]; i++) {
            int id = g_edges[i];
            if (!visited[id]) {
                cost[id] = cost[tid] + 1;
                updating[id] = true;
            }
        }
    }
}

//! frontier_of_masks_two 20 256 | inout u8:5120:0:2 | inout u8:5120:0:2 | inout u8:5120:0:2 | zero u8:1 | s s32 5000
K frontier_of_masks_two(bool *mask, bool *updating, bool *visited, bool *over, int n)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid < n && updating[tid]) {
        mask[tid] = true;
        visited[tid] = true;
        *over = true;
        updating[tid] = false;
    }
}

//! ranks_pushed_to_neighbours 40 128 | f32:5120 | s32:5120:0:20000 | s32:5120:1:10 | s32:20480:0:5120 | zero f32:5120 | s s32 5000 | unordered
K ranks_pushed_to_neighbours(const float *rank, const int *begin, const int *degree, const int *dest, float *next, int n)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    float share = rank[v] / degree[v];
    for (int e = 0; e < degree[v]; e++) atomicAdd(&next[dest[begin[v] + e]], 0.85f * share);
}

//! distances_of_all_pairs_step 8,128 16,1 | inout s32:16384:1:100 | s s32 128 | s s32 60
K distances_of_all_pairs_step(int *dist, int n, int k)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
    if (j >= n) return;
    __shared__ int best;
    if (threadIdx.x == 0) best = dist[n * i + k];
    __syncthreads();
    if (best == 1000000) return;
    int other = dist[k * n + j];
    if (other == 1000000) return;
    int cur = best + other;
    if (cur < dist[n * i + j]) dist[n * i + j] = cur;
}
