/* orders.cu - sorting, searching, hashing, sets, frontiers of graphs. */
#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>
#include <cstdint>
#define K extern "C" __global__ void
namespace cg = cooperative_groups;

//! tiles_merged_by_ranks_in_shared 24 128 | u32:12288 | out u32:12288
// 512 keys a block: runs of 1, 2, 4 ... are merged; the place of a key is its own plus its rank in the other run.
K tiles_merged_by_ranks_in_shared(const uint32_t *in, uint32_t *out)
{
    __shared__ uint32_t a[512];
    int t = threadIdx.x;
    for (int i = t; i < 512; i += 128) a[i] = in[blockIdx.x * 512 + i];
    for (int run = 1; run < 512; run *= 2) {
        uint32_t key[4];
        int to[4];
        __syncthreads();
#pragma unroll
        for (int q = 0; q < 4; q++) {
            int i = q * 128 + t, mine = i & (run - 1), left = !(i & run), other = (i & ~(2 * run - 1)) + (left ? run : 0), lo = 0, hi = run;
            key[q] = a[i];
            while (lo < hi) {
                int mid = (lo + hi) / 2;
                if (a[other + mid] < key[q] || (!left && a[other + mid] == key[q])) lo = mid + 1;
                else hi = mid;
            }
            to[q] = (i & ~(2 * run - 1)) + mine + lo;
        }
        __syncthreads();
#pragma unroll
        for (int q = 0; q < 4; q++) a[to[q]] = key[q];
    }
    __syncthreads();
    for (int i = t; i < 512; i += 128) out[blockIdx.x * 512 + i] = a[i];
}

//! keys_and_values_by_digits_of_four_bits 16 128 | u32:8192 | iota u32:8192 | out u32:8192 | out u32:8192
// 512 pairs a block, eight stable passes: every thread counts its four keys, the counters are scanned all together.
K keys_and_values_by_digits_of_four_bits(const uint32_t *kin, const uint32_t *vin, uint32_t *kout, uint32_t *vout)
{
    __shared__ uint32_t k[512], v[512];
    __shared__ uint16_t count[16 * 128];
    __shared__ int sums[128];
    int t = threadIdx.x;
    for (int i = t; i < 512; i += 128) k[i] = kin[blockIdx.x * 512 + i], v[i] = vin[blockIdx.x * 512 + i];
    for (int shift = 0; shift < 32; shift += 4) {
        for (int d = 0; d < 16; d++) count[d * 128 + t] = 0;
        __syncthreads();
        uint32_t mk[4], mv[4];
        int rank[4];
#pragma unroll
        for (int q = 0; q < 4; q++) {
            mk[q] = k[t * 4 + q], mv[q] = v[t * 4 + q];
            rank[q] = count[(mk[q] >> shift & 15) * 128 + t]++;
        }
        __syncthreads();
        int s = 0;
        for (int i = 0; i < 16; i++) {
            int c = count[t * 16 + i];
            count[t * 16 + i] = s;
            s += c;
        }
        sums[t] = s;
        __syncthreads();
        for (int d = 1; d < 128; d *= 2) {
            int o = t >= d ? sums[t - d] : 0;
            __syncthreads();
            sums[t] += o;
            __syncthreads();
        }
#pragma unroll
        for (int q = 0; q < 4; q++) {
            int at = (mk[q] >> shift & 15) * 128 + t, to = count[at] + rank[q] + (at >= 16 ? sums[at / 16 - 1] : 0);
            k[to] = mk[q], v[to] = mv[q];
        }
        __syncthreads();
    }
    for (int i = t; i < 512; i += 128) kout[blockIdx.x * 512 + i] = k[i], vout[blockIdx.x * 512 + i] = v[i];
}

//! greatest_sixty_four_by_digits 1 1024 | u32:16384 | out u32:64 | zero s32:2
// The radix select of one block: eight bits at a time, then those above the limit in the order of places.
K greatest_sixty_four_by_digits(const uint32_t *in, uint32_t *out, int *seen)
{
    __shared__ int bins[256], want, digit, warps[32];
    int t = threadIdx.x, lane = t % 32;
    uint32_t prefix = 0, mask = 0;
    if (t == 0) want = 64;
    for (int shift = 24; shift >= 0; shift -= 8) {
        if (t < 256) bins[t] = 0;
        __syncthreads();
        for (int i = t; i < 16384; i += 1024)
            if ((in[i] & mask) == prefix) atomicAdd(&bins[in[i] >> shift & 255], 1);
        __syncthreads();
        if (t == 0) {
            int d = 255, left = want;
            while (bins[d] < left) left -= bins[d--];
            want = left, digit = d;
        }
        __syncthreads();
        prefix |= (uint32_t)digit << shift, mask |= 255u << shift;
    }
    // thread t looks at 16 keys in a row; places by a scan of how many it keeps (all above; equal ones are few)
    int keep = 0;
    for (int i = 0; i < 16; i++) keep += in[t * 16 + i] >= prefix;
    int sum = keep;
    for (int d = 1; d < 32; d *= 2) {
        int o = __shfl_up_sync(~0u, sum, d);
        if (lane >= d) sum += o;
    }
    if (lane == 31) warps[t / 32] = sum;
    __syncthreads();
    int at = sum - keep;
    for (int w = 0; w < t / 32; w++) at += warps[w];
    for (int i = 0; i < 16; i++)
        if (in[t * 16 + i] >= prefix && at < 64) out[at++] = in[t * 16 + i];
    if (t == 0) seen[0] = want, seen[1] = (int)prefix;
}

//! lower_bounds_with_upper_levels_in_shared 66 128 | iota u64:4096 | u64:8448:0:5000 | out s32:8448
// Keys of 64 bits; 255 of them, the upper eight levels of the search, stand in shared memory.
K lower_bounds_with_upper_levels_in_shared(const uint64_t *sorted, const uint64_t *query, int *place)
{
    __shared__ uint64_t top[256];
    for (int i = threadIdx.x; i < 255; i += 128) {
        int level = 31 - __clz(i + 1), pos = i + 1 - (1 << level);
        top[i] = sorted[((2 * pos + 1) << (11 - level)) - 1];
    }
    __syncthreads();
    uint64_t q = query[blockIdx.x * 128 + threadIdx.x];
    int node = 0, lo = 0, len = 4096;
#pragma unroll
    for (int l = 0; l < 8; l++) {
        bool right = top[node] < q;
        len /= 2;
        lo += right ? len : 0;
        node = 2 * node + 1 + right;
    }
    int hi = lo + len;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (sorted[mid] < q) lo = mid + 1;
        else hi = mid;
    }
    place[blockIdx.x * 128 + threadIdx.x] = lo;
}

//! distinct_values_by_leading_zeros 32 256 | u32:65536 | zero u32:256
// Registers of a sketch: the greatest count of zeros a bucket sees, in shared memory first.
K distinct_values_by_leading_zeros(const uint32_t *x, uint32_t *reg)
{
    __shared__ uint32_t r[256];
    r[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < 65536; i += 8192) {
        uint32_t h = x[i] * 0xcc9e2d51u;
        h ^= h >> 16, h *= 0x85ebca6bu, h ^= h >> 13, h *= 0xc2b2ae35u, h ^= h >> 16;
        atomicMax(&r[h & 255], (uint32_t)__clz(h >> 8 | 0) - 7);
    }
    __syncthreads();
    if (r[threadIdx.x]) atomicMax(&reg[threadIdx.x], r[threadIdx.x]);
}

//! many_sources_searched_by_bits 40 128 | s32:40961:0:1 | s32:40960:0:5120 | u32:5120:0:1 | out u32:5120 | zero s32:1
// A level of a breadth first search from 32 sources at once: eight neighbours a vertex, a word of sources each.
K many_sources_searched_by_bits(const int *skip, const int *edges, const uint32_t *frontier, uint32_t *next, int *changed)
{
    int v = blockIdx.x * 128 + threadIdx.x;
    uint32_t was = 1u << (v * 7 % 32) & (v % 5 ? 0 : ~0u) | frontier[v], now = was;
#pragma unroll
    for (int e = 0; e < 8; e++)
        if (!skip[v * 8 + e]) {
            int u = edges[v * 8 + e];
            now |= 1u << (u * 7 % 32) & (u % 5 ? 0 : ~0u) | frontier[u];
        }
    next[v] = now;
    int n = __popc(now & ~was);
    n = __reduce_add_sync(~0u, n);
    if (threadIdx.x % 32 == 0 && n) atomicAdd(changed, n);
}

//! triangles_by_sets_in_shared 96 64 | s32:12288:0:4096 | out u32:96
// A block a vertex with 32 neighbours: they become a bitmap of 4,096 bits, then those of every neighbour are looked up.
K triangles_by_sets_in_shared(const int *adj, uint32_t *count)
{
    __shared__ uint32_t bits[128], total;
    int t = threadIdx.x, v = blockIdx.x;
    bits[t] = 0, bits[t + 64] = 0;
    if (t == 0) total = 0;
    __syncthreads();
    if (t < 32) atomicOr(&bits[adj[v * 32 + t] / 32], 1u << adj[v * 32 + t] % 32);
    __syncthreads();
    uint32_t n = 0;
    for (int i = t; i < 1024; i += 64) {
        int u = adj[v * 32 + i / 32] % 384, w = adj[u * 32 + i % 32];
        n += bits[w / 32] >> w % 32 & 1;
    }
    atomicAdd(&total, n);
    __syncthreads();
    if (t == 0) count[v] = total;
}

//! near_ones_relaxed_far_ones_kept 48 128 | s32:24577:0:1 | s32:24576:0:6144 | u32:24576:1:100 | u32:6144:0:1000 | inout u32:6144:500:900 | s u32 600
K near_ones_relaxed_far_ones_kept(const int *skip, const int *to, const uint32_t *weight, const uint32_t *dist, uint32_t *best, uint32_t limit)
{
    int v = blockIdx.x * 128 + threadIdx.x;
    uint32_t d = dist[v];
    if (d > limit) return;
    for (int e = v * 4; e < v * 4 + 4; e++)
        if (!skip[e]) atomicMin(&best[to[e]], d + weight[e]);
}

//! colours_given_to_local_maxima 32 128 | s32:24576:0:4096 | u32:4096 | inout s32:4096:0:3 | out u32:32
// Jones and Plassmann: a vertex without a colour (0) that outweighs its six neighbours takes the least free one.
K colours_given_to_local_maxima(const int *adj, const uint32_t *weight, int *colour, uint32_t *left)
{
    __shared__ uint32_t open;
    int v = blockIdx.x * 128 + threadIdx.x, mine = colour[v];
    if (threadIdx.x == 0) open = 0;
    __syncthreads();
    uint32_t used = 0;
    bool top = true;
    for (int e = 0; e < 6; e++) {
        int u = (adj[v * 6 + e] & ~127) % 4096;
        u = (u + v * 5 + e) % 4096;
        used |= 1u << (weight[u] & 7);
        if (weight[u] > weight[v] || (weight[u] == weight[v] && u > v)) top = false;
    }
    if (mine == 0) {
        if (top) colour[v] = __ffs(~used);
        else atomicInc(&open, 1000);
    }
    __syncthreads();
    if (threadIdx.x == 0) left[blockIdx.x] = open;
}

//! suffixes_ranked_by_doubling 1 256 | u8:256:97:101 | out u16:256
K suffixes_ranked_by_doubling(const uint8_t *text, uint16_t *suffix)
{
    __shared__ uint32_t rank[256], pair[256];
    int t = threadIdx.x;
    rank[t] = text[t];
    for (int len = 1; len < 256; len *= 2) {
        __syncthreads();
        pair[t] = rank[t] << 16 | (t + len < 256 ? rank[t + len] + 1 : 0);
        __syncthreads();
        uint32_t me = pair[t], less = 0;
        for (int j = 0; j < 256; j++) less += pair[j] < me;
        rank[t] = less;
    }
    __syncthreads();
    suffix[rank[t]] = t;
}

//! words_found_by_automaton_in_shared 22 64 | u8:45056:97:101 | u8:512:0:64 | out u32:1408
// 64 states of eight letters; 32 bytes a thread and eight before them.
K words_found_by_automaton_in_shared(const uint8_t *text, const uint8_t *next, uint32_t *found)
{
    __shared__ uint8_t go[512];
    for (int i = threadIdx.x; i < 512; i += 64) go[i] = next[i];
    __syncthreads();
    int i = blockIdx.x * 64 + threadIdx.x, s = 0, n = 0, from = i * 32;
    for (int k = from ? -8 : 0; k < 32; k++) {
        s = go[s * 8 + (text[from + k] & 7)];
        if (k >= 0 && s >= 60) n++;
    }
    found[i] = n << 8 | s;
}

//! ranks_in_bits_by_levels 44 128 | u32:4096 | s32:1040:0:64 | s32:5632:0:16384 | out s32:5632
// Eight levels of a wavelet tree: bits and counts before every fourth word.
K ranks_in_bits_by_levels(const uint32_t *bits, const int *before, const int *query, int *out)
{
    int i = blockIdx.x * 128 + threadIdx.x, p = query[i], symbol = i & 255;
    for (int level = 0; level < 8; level++) {
        const uint32_t *b = bits + level * 512;
        int w = p / 32 % 512, ones = before[level * 130 + w / 4] + w * 7;
        for (int k = w & ~3; k < w; k++) ones += __popc(b[k]);
        ones += __popc(b[w] & ((1u << (p & 31)) - 1));
        p = (symbol >> (7 - level) & 1) ? ones : p - ones;
        p &= 16383;
    }
    out[i] = p;
}

//! richest_guests_give_way 1 32 | u32:320:1:100000 | out u32:512 | out u32:1
// Robin Hood hashing by one thread, all the others look their ten keys up afterwards.
K richest_guests_give_way(const uint32_t *keys, uint32_t *table, uint32_t *longest)
{
    __shared__ uint32_t slot[512];
    int t = threadIdx.x;
    for (int i = t; i < 512; i += 32) slot[i] = 0;
    __syncwarp();
    if (t == 0)
        for (int i = 0; i < 320; i++) {
            uint32_t k = keys[i], d = 0, at = k * 2654435761u >> 23;
            while (slot[at] && slot[at] != k) {
                uint32_t o = slot[at], od = (at - (o * 2654435761u >> 23)) & 511;
                if (od < d) slot[at] = k, k = o, d = od;
                at = (at + 1) & 511, d++;
            }
            slot[at] = k;
        }
    __syncwarp();
    uint32_t most = 0;
    for (int i = t; i < 320; i += 32) {
        uint32_t k = keys[i], d = 0;
        while (slot[((k * 2654435761u >> 23) + d) & 511] != k) d++;
        most = max(most, d);
    }
    most = __reduce_max_sync(~0u, most);
    for (int i = t; i < 512; i += 32) table[i] = slot[i];
    if (t == 0) *longest = most;
}
