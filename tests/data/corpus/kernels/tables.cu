/* tables.cu - sorting, selection, searching, hash tables and tries. */
#include <cstdint>
#define K extern "C" __global__ void
//! cuckoo_sets 24 256 | u32:6144:1:4000000000 | u32:6144:1:4000000000 | out u8:12288
// Two tables of 512 in shared memory; keys push each other out; then every key and a stranger are looked up.
static __device__ unsigned place(unsigned k, int which)
{
    k *= which ? 0x9E3779B1u : 0x85EBCA77u;
    return (k ^ k >> 15) >> 8 & 511;
}
K cuckoo_sets(const unsigned *key, const unsigned *other, uint8_t *found)
{
    __shared__ unsigned table[2][512];
    const int t = threadIdx.x, at = blockIdx.x * 256 + t;
    for (int i = t; i < 1024; i += 256) table[i / 512][i % 512] = 0;
    __syncthreads();
    unsigned mine = key[at], k = mine, strange = other[at];
    for (int n = 0; n < 100 && k; n++) k = atomicExch(&table[n & 1][place(k, n & 1)], k);
    __syncthreads();
    found[at] = table[0][place(mine, 0)] == mine || table[1][place(mine, 1)] == mine;
    found[6144 + at] = table[0][place(strange, 0)] == strange || table[1][place(strange, 1)] == strange;
}
//! word_counts 18 384 | u32:20736:1:150 | out u16:20736
// Counts of keys by open addressing in shared memory; then each key asks for its own.
K word_counts(const unsigned *word, uint16_t *count)
{
    __shared__ unsigned keys[512], counts[512];
    for (int i = threadIdx.x; i < 512; i += 384) keys[i] = counts[i] = 0;
    __syncthreads();
    const unsigned *w = word + blockIdx.x * 1152;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = threadIdx.x; i < 1152; i += 384) {
            unsigned k = w[i], h = k * 2654435761u >> 23;
            if (pass == 0) {
                for (;; h = (h + 1) & 511) {
                    unsigned old = keys[h];
                    if (old == 0) old = atomicCAS(&keys[h], 0u, k);
                    if (old == 0 || old == k) break;
                }
                atomicAdd(&counts[h], 1u);
            } else {
                while (keys[h] != k) h = (h + 1) & 511;
                count[blockIdx.x * 1152 + i] = (uint16_t)counts[h];
            }
        }
        __syncthreads();
    }
}
//! batcher_merge 12 512 | inout s32:12288
// Batcher's odd-even merge sort of 1,024 numbers a block.
K batcher_merge(int *v)
{
    __shared__ int s[1024];
    int t = threadIdx.x, *p = v + blockIdx.x * 1024;
    s[t] = p[t];
    s[t + 512] = p[t + 512];
    for (int size = 2; size <= 1024; size *= 2)
        for (int d = size / 2; d > 0; d /= 2) {
            __syncthreads();
            int i = 2 * t - (t & (d - 1));
            if (d < size / 2) { /* the first half of the places was compared already: pairs begin d later */
                i += d;
                if ((i & (size - 1)) >= size - d) continue;
            }
            int a = s[i], b = s[i + d];
            if (a > b) s[i] = b, s[i + d] = a;
        }
    __syncthreads();
    p[t] = s[t];
    p[t + 512] = s[t + 512];
}
//! splitter_buckets 40 256 | f32:40960:-1:1 | f32:31:-0.01:0.01 | out u8:40960 | zero u32:32
// The bucket of each number among 31 splitters, four numbers a thread, and the sizes of the buckets.
K splitter_buckets(const float4 *in, const float *jitter, uchar4 *bucket, unsigned *size)
{
    __shared__ float split[32];
    __shared__ unsigned n[32];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    if (t < 32) n[t] = 0, split[t] = t < 31 ? (t - 15) / 16.0f + jitter[t] : 9;
    __syncthreads();
    float4 v = in[i];
    auto find = [&](float x) {
        int b = 0;
#pragma unroll
        for (int d = 16; d; d /= 2) b += x > split[b + d - 1] ? d : 0;
        atomicAdd(&n[b], 1u);
        return (unsigned char)b;
    };
    unsigned char a = find(v.x), b = find(v.y), c = find(v.z), d = find(v.w);
    bucket[i] = make_uchar4(a, b, c, d);
    __syncthreads();
    if (t < 32) atomicAdd(&size[t], n[t]);
}
//! median_select 20 256 | u32:40960 | out u32:20
// The 1,024th of 2,048 words: four passes over eight bits, a histogram and one warp's search in each.
K median_select(const unsigned *in, unsigned *median)
{
    __shared__ unsigned h[256], prefix, rank;
    unsigned v[8], t = threadIdx.x;
#pragma unroll
    for (int k = 0; k < 8; k++) v[k] = in[blockIdx.x * 2048 + k * 256 + t];
    if (t == 0) prefix = 0, rank = 1023;
    for (int shift = 24; shift >= 0; shift -= 8) {
        h[t] = 0;
        __syncthreads();
        unsigned p = prefix;
#pragma unroll
        for (int k = 0; k < 8; k++)
            if (shift == 24 || v[k] >> (shift + 8) == p) atomicAdd(&h[v[k] >> shift & 255], 1u);
        __syncthreads();
        if (t < 32) {
            unsigned c[8], sum = 0, r = rank;
#pragma unroll
            for (int k = 0; k < 8; k++) sum += c[k] = h[t * 8 + k];
            unsigned up = sum;
            for (int d = 1; d < 32; d *= 2) {
                unsigned o = __shfl_up_sync(~0u, up, d);
                if (t >= d) up += o;
            }
            unsigned before = up - sum;
            if (before <= r && r < up) {
                int k = 0;
                while (r >= before + c[k]) before += c[k++];
                prefix = p << 8 | (t * 8 + k);
                rank = r - before;
            }
        }
        __syncthreads();
    }
    if (t == 0) median[blockIdx.x] = prefix;
}
//! merge_eight 10 64 | u16:81920:1:1000 | out u16:81920
// A thread merges eight lists of sixteen that rise by random steps: a tournament tree in a local array.
K merge_eight(const uint16_t *step, unsigned short *out)
{
    int t = blockIdx.x * 64 + threadIdx.x, all = gridDim.x * 64, head[8], pos[8], tree[8];
    for (int l = 0; l < 8; l++) head[l] = step[l * 16 * all + t], pos[l] = 0;
    for (int n = 7; n > 0; n--) {
        int a = n >= 4 ? 2 * n - 8 : tree[2 * n], b = n >= 4 ? 2 * n - 7 : tree[2 * n + 1];
        tree[n] = head[a] <= head[b] ? a : b;
    }
    for (int k = 0; k < 128; k++) {
        int w = tree[1];
        out[k * all + t] = (unsigned short)head[w];
        head[w] = ++pos[w] < 16 ? head[w] + step[(w * 16 + pos[w]) * all + t] : 1 << 20;
        for (int n = (w + 8) / 2; n > 0; n /= 2) {
            int a = n >= 4 ? 2 * n - 8 : tree[2 * n], b = n >= 4 ? 2 * n - 7 : tree[2 * n + 1];
            tree[n] = head[a] <= head[b] ? a : b;
        }
    }
}
//! eytzinger_bounds 48 128 | u32:16384 | u32:6144:0:131072 | out u32:6144
// Lower bounds in a tree laid out level by level; values are eight times a node's rank and a little.
K eytzinger_bounds(const unsigned *noise, const unsigned *query, unsigned *bound)
{
    unsigned q = query[blockIdx.x * blockDim.x + threadIdx.x], node = 1;
    for (int level = 0; level < 14; level++) {
        unsigned rank = ((node - (1u << level)) * 2 + 1) << (13 - level);
        node = 2 * node + (rank * 8 + (__ldg(noise + node) & 7) < q);
    }
    bound[blockIdx.x * blockDim.x + threadIdx.x] = node >> __ffs(~node);
}
//! interpolation_search 24 192 | u32:32768:0:50 | u32:4608:0:1638400 | out s32:4608
// Guesses by proportion in 32,768 values that are fifty times their place and a little.
K interpolation_search(const unsigned *little, const unsigned *query, int *found)
{
    int t = blockIdx.x * 192 + threadIdx.x, lo = 0, hi = 32767, n = 0;
    unsigned q = query[t];
    auto at = [&](int i) { return i * 50u + little[i]; };
    unsigned a = at(lo), b = at(hi);
    while (a < q && q < b && hi - lo > 1 && n++ < 20) {
        int m = lo + 1 + (int)((uint64_t)(q - a) * (hi - lo - 1) / (b - a));
        m = min(m, hi - 1);
        unsigned v = at(m);
        if (v < q) lo = m, a = v;
        else hi = m, b = v;
    }
    found[t] = (q <= a ? lo : hi) | n << 20;
}
//! byte_count_sort 16 256 | u8:32768 | out u8:32768
// Sorts 2,048 bytes a block by counting: each thread writes the run of its value.
K byte_count_sort(const uint8_t *in, uint8_t *out)
{
    __shared__ unsigned n[256], warp[8];
    const int t = threadIdx.x, lane = t & 31;
    n[t] = 0;
    __syncthreads();
    uint2 v = ((const uint2 *)in)[blockIdx.x * 256 + t];
    for (int k = 0; k < 4; k++) {
        atomicAdd(&n[v.x >> 8 * k & 255], 1u);
        atomicAdd(&n[v.y >> 8 * k & 255], 1u);
    }
    __syncthreads();
    unsigned c = n[t], s = c;
    for (int d = 1; d < 32; d *= 2) {
        unsigned o = __shfl_up_sync(~0u, s, d);
        if (lane >= d) s += o;
    }
    if (lane == 31) warp[t / 32] = s;
    __syncthreads();
    for (int w = 0; w < t / 32; w++) s += warp[w];
    for (unsigned i = s - c; i < s; i++) out[blockIdx.x * 2048 + i] = (uint8_t)t;
}
//! list_ranks 4 1024 | u32:4 | out u16:4096
// Pointer jumping along a list of 1,024 that goes through shared memory in odd steps.
K list_ranks(const unsigned *random, uint16_t *rank)
{
    __shared__ uint16_t next[1024], dist[1024];
    unsigned t = threadIdx.x, step = (random[blockIdx.x] & 511) * 4 + 1;
    next[t] = (uint16_t)((t * step + 37) & 1023);
    dist[t] = 1;
    __syncthreads();
    if (t == 0) next[(random[blockIdx.x] >> 12) & 1023] = 0xffff;
    for (int k = 0; k < 10; k++) {
        __syncthreads();
        unsigned n = next[t], d = dist[t];
        unsigned nn = n == 0xffff ? n : next[n], nd = n == 0xffff ? 0 : dist[n];
        __syncthreads();
        next[t] = (uint16_t)nn;
        dist[t] = (uint16_t)(d + nd);
    }
    rank[blockIdx.x * 1024 + t] = dist[t];
}
//! route_tries 33 256 | u32:65536 | u32:8448 | out u16:8448
// Longest prefixes of addresses: nodes of sixteen words, four bits a step, a low bit says that there is more.
K route_tries(const unsigned *node, const unsigned *address, uint16_t *hop)
{
    unsigned a = address[blockIdx.x * 256 + threadIdx.x], n = 0, best = 0;
    for (int shift = 28; shift >= 0; shift -= 4) {
        unsigned e = node[n * 16 + (a >> shift & 15)];
        if (e & 2) best = e >> 16;
        if (!(e & 0xc)) break;
        n = e >> 4 & 4095;
    }
    hop[blockIdx.x * 256 + threadIdx.x] = (uint16_t)best;
}
