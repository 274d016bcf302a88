/* searches.cu - graphs, sparse rows, orders, trees, hash tables and texts, where what a thread does next depends on what it has just read. */
#include <cstdint>
#define K extern "C" __global__ void

//! sparse_columns_by_atomics 33 64 | u16:33792:0:2048 | f32:33792:0:1 | f32:2112:0:1 | zero f32:2048 | unordered
K sparse_columns_by_atomics(const uint16_t *row, const float *val, const float *x, float *y)
{
    int c = blockIdx.x * 64 + threadIdx.x;
    float v = x[c];
    for (int k = 0; k < 16; k++) atomicAdd(y + row[c * 16 + k], val[c * 16 + k] * v);
}

//! sparse_rows_of_adaptive_blocks 32 128 | u32:32:0:2 | u32:65536:0:4096 | f32:65536:-1:1 | f32:4096:-1:1 | out f32:1024
// Rows of 64: a block streams its share through shared memory, or takes the rows one by one, as its number says.
K sparse_rows_of_adaptive_blocks(const uint32_t *kind, const uint32_t *col, const float *val, const float *x, float *y)
{
    __shared__ float s[2048];
    int t = threadIdx.x, base = blockIdx.x * 2048;
    if (kind[blockIdx.x]) {
        for (int i = t; i < 2048; i += 128) s[i] = val[base + i] * x[col[base + i]];
        __syncthreads();
        if (t < 32) {
            float a = 0;
            for (int k = 0; k < 64; k++) a += s[t * 64 + (k + t) % 64];
            y[blockIdx.x * 32 + t] = a;
        }
    } else {
        for (int r = t / 32; r < 32; r += 4) {
            float a = 0;
            for (int k = t % 32; k < 64; k += 32) a += val[base + r * 64 + k] * x[col[base + r * 64 + k]];
            for (int d = 16; d; d /= 2) a += __shfl_down_sync(~0u, a, d);
            if (t % 32 == 0) y[blockIdx.x * 32 + r] = a;
        }
    }
}

//! sparse_in_blocks_of_three_rows 66 96 | u32:33792:0:1000 | f32:304128:-1:1 | f32:3000:-1:1 | out f32:6336
K sparse_in_blocks_of_three_rows(const uint32_t *col, const float *val, const float *x, float *y)
{
    int row = blockIdx.x * 32 + threadIdx.x / 3, r = threadIdx.x % 3;
    float s = 0;
    for (int k = 0; k < 16; k++) {
        uint32_t c = col[row * 16 + k];
        const float *b = val + (row * 16 + k) * 9 + r * 3;
        s += b[0] * x[c * 3] + b[1] * x[c * 3 + 1] + b[2] * x[c * 3 + 2];
    }
    y[row * 3 + r] = s;
}

//! level_by_edges 66 256 | u16:16896:0:4096 | u16:16896:0:4096 | inout u32:4096:0:6 | zero u32:1 | s u32 2
// An edge a thread: who stands at this level marks its neighbour.
K level_by_edges(const uint16_t *from, const uint16_t *to, uint32_t *level, uint32_t *changed, uint32_t now)
{
    int e = blockIdx.x * 256 + threadIdx.x;
    if (level[from[e]] == now && level[to[e]] > now + 1) {
        level[to[e]] = now + 1;
        *changed = 1;
    }
}

//! breadth_first_in_one_block 1 256 | u16:4096:0:512 | zero u32:512 | s s32 8
// Queues in shared memory, eight neighbours a vertex, until nobody is new.
K breadth_first_in_one_block(const uint16_t *next, uint32_t *dist, int degree)
{
    __shared__ uint16_t q[2][512];
    __shared__ uint32_t seen[16], n[2];
    int t = threadIdx.x, p = 0;
    for (int i = t; i < 512; i += 256) dist[i] = ~0u;
    if (t < 16) seen[t] = t == 0;
    if (t == 0) n[0] = 1, n[1] = 0, q[0][0] = 0;
    __syncthreads();
    for (uint32_t depth = 0; n[p]; depth++) {
        for (int i = t; i < n[p] * 8; i += 256) {
            int v = q[p][i / 8];
            if (i % 8 == 0) dist[v] = depth;
            int u = next[v * degree + i % 8];
            uint32_t bit = 1u << (u & 31);
            if (!(atomicOr(&seen[u >> 5], bit) & bit)) q[1 - p][atomicAdd(&n[1 - p], 1)] = u;
        }
        __syncthreads();
        p = 1 - p;
        if (t == 0) n[1 - p] = 0;
        __syncthreads();
    }
}

//! warps_expand_their_vertices 33 128 | u32:133:0:64 | u16:8448:0:8192 | inout u32:8192:0:2 | zero u32:1
K warps_expand_their_vertices(const uint32_t *degree, const uint16_t *next, uint32_t *seen, uint32_t *found)
{
    int v = (blockIdx.x * 128 + threadIdx.x) / 32, l = threadIdx.x % 32, n = degree[v], mine = 0;
    for (int k = l; k < n; k += 32) {
        int u = next[v * 64 + k];
        if ((atomicOr(seen + u, 2u + 4) & 2) == 0) mine++;
    }
    mine = __reduce_add_sync(~0u, mine);
    if (l == 0) atomicAdd(found, mine);
}

//! down_a_tree_and_back_by_parents 17 64 | s32:1088:0:100000 | s32:1023:0:100000 | out s32:1088 | out s32:1088
// No stack: left, right and up again in an implicit tree, whose keys bound what is visited.
K down_a_tree_and_back_by_parents(const int *query, const int *key, int *count, int *visits)
{
    int i = blockIdx.x * 64 + threadIdx.x, q = query[i], n = 0, steps = 0;
    int node = 0, from = -1;
    while (steps < 300) {
        int left = 2 * node + 1, right = left + 1, parent = (node - 1) >> 1;
        steps++;
        int go;
        if (from == parent || node == 0 && from < 0) {
            n += key[node] < q;
            go = left < 1023 && (key[node] & 3) != 0 ? left : -2;
            if (go == -2) go = right < 1023 && (key[node] & 4) ? right : parent;
        } else if (from == left) {
            go = right < 1023 && (key[node] & 4) ? right : parent;
        } else
            go = parent;
        if (node == 0 && go == parent) break;
        from = node;
        node = go;
    }
    count[i] = n;
    visits[i] = steps;
}

//! skip_links_of_boxes 33 64 | f32:8192:0:10 | u16:1024:1:20 | f32:6336:0:10 | out s32:2112
// Boxes in depth-first order: miss one and skip its subtree.
K skip_links_of_boxes(const float4 *box, const uint16_t *skip, const float *p, int *hits)
{
    int i = blockIdx.x * 64 + threadIdx.x, n = 0, at = 0;
    float x = p[i * 3], y = p[i * 3 + 1], z = p[i * 3 + 2];
    while (at < 1024) {
        float4 a = box[at * 2], b = box[at * 2 + 1];
        bool in = fabsf(x - a.x) < a.w * 0.5f && fabsf(y - a.y) < b.x * 0.5f + 1 && fabsf(z - a.z) < b.y * 0.5f + 1;
        if (in) {
            n++;
            at++;
        } else
            at += skip[at];
    }
    hits[i] = n;
}

//! longest_prefix_of_addresses 66 128 | u32:8448 | u32:2048 | out u32:8448
// A binary trie in an array: bit 31 says leaf, two children side by side.
K longest_prefix_of_addresses(const uint32_t *ip, const uint32_t *node, uint32_t *route)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    uint32_t a = ip[i], at = 0, best = ~0u;
    for (int b = 0; b < 32; b++) {
        uint32_t w = node[at * 2 + (a >> 31)];
        a <<= 1;
        if (w >> 30 == 3) break;
        if (w & 0x100) best = w & 255;
        at = (w >> 10) & 1023;
    }
    route[i] = best;
}

//! ranges_counted_in_wide_nodes 33 64 | u32:2112:0:65536 | u32:4096:0:65536 | out u32:2112
// Sixteen keys a node, three levels, the keys of a node compared by a loop without an early end.
K ranges_counted_in_wide_nodes(const uint32_t *q, const uint32_t *key, uint32_t *out)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    uint32_t v = q[i], at = 0, rank = 0;
    for (int level = 0; level < 3; level++) {
        const uint4 *k = (const uint4 *)(key + at * 16);
        uint32_t less = 0;
        for (int j = 0; j < 4; j++) {
            uint4 w = k[j];
            less += (w.x < v) + (w.y < v) + (w.z < v) + (w.w < v);
        }
        rank = rank * 17 + less;
        at = (at * 16 + 1 + less) & 255;
    }
    out[i] = rank;
}

//! unions_by_hooking_and_halving 1 512 | u16:1024:0:700 | u16:1024:0:700 | zero u32:700
// Two edges a thread; the label of a set is its least member, so the order does not matter.
K unions_by_hooking_and_halving(const uint16_t *a, const uint16_t *b, uint32_t *label)
{
    __shared__ uint32_t parent[700];
    int t = threadIdx.x;
    for (int i = t; i < 700; i += 512) parent[i] = i;
    __syncthreads();
    for (int e = t; e < 1024; e += 512) {
        uint32_t u = a[e], v = b[e];
        for (;;) {
            while (u != parent[u]) u = parent[u];
            while (v != parent[v]) v = parent[v];
            if (u == v) break;
            if (u < v) {
                uint32_t w = u;
                u = v;
                v = w;
            }
            if (atomicCAS(&parent[u], u, v) == u) break;
        }
    }
    __syncthreads();
    for (int i = t; i < 700; i += 512) {
        uint32_t r = i;
        while (r != parent[r]) r = parent[r];
        label[i] = r;
    }
}

//! sixteen_sorted_by_odd_even_merge 66 64 | s32:67584 | out s32:67584
// The network written out by a template over registers.
__device__ __forceinline__ void order(int &a, int &b)
{
    int lo = min(a, b), hi = max(a, b);
    a = lo;
    b = hi;
}
K sixteen_sorted_by_odd_even_merge(const int *in, int *out)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    int v[16];
    for (int k = 0; k < 16; k++) v[k] = in[k * 4224 + i];
#pragma unroll
    for (int p = 1; p < 16; p *= 2)
#pragma unroll
        for (int k = p; k >= 1; k /= 2)
#pragma unroll
            for (int j = k % p; j <= 15 - k; j += 2 * k)
#pragma unroll
                for (int n = 0; n < k; n++)
                    if ((n + j) / (p * 2) == (n + j + k) / (p * 2) && n + j + k < 16) order(v[n + j], v[n + j + k]);
    for (int k = 0; k < 16; k++) out[k * 4224 + i] = v[k];
}

//! long_words_sorted_across_a_warp 66 128 | u64:8448 | out u64:8448
K long_words_sorted_across_a_warp(const unsigned long long *in, unsigned long long *out)
{
    int i = blockIdx.x * 128 + threadIdx.x, l = threadIdx.x % 32;
    unsigned long long v = in[i];
    for (int k = 2; k <= 32; k *= 2)
        for (int d = k / 2; d; d /= 2) {
            unsigned long long o = __shfl_xor_sync(~0u, v, d);
            bool less = ((l & d) == 0) == ((l & k) == 0);
            v = (o < v) == less ? o : v;
        }
    out[i] = v;
}

//! shell_sorted_rows_of_40 8 64 | inout s16:20480
K shell_sorted_rows_of_40(short *a)
{
    short *r = a + (blockIdx.x * 64 + threadIdx.x) * 40;
    const int gaps[4] = {13, 7, 4, 1};
    for (int g = 0; g < 4; g++) {
        int gap = gaps[g];
        for (int i = gap; i < 40; i++) {
            short v = r[i];
            int j = i;
            for (; j >= gap && r[j - gap] > v; j -= gap) r[j] = r[j - gap];
            r[j] = v;
        }
    }
}

//! combed_in_shared_columns 8 32 | s32:8192 | out s32:8192
K combed_in_shared_columns(const int *in, int *out)
{
    __shared__ int s[32][32];
    int l = threadIdx.x;
    for (int i = 0; i < 32; i++) s[i][l] = in[(blockIdx.x * 32 + i) * 32 + l];
    int gap = 32;
    bool swapped = true;
    while (gap > 1 || swapped) {
        gap = max(1, gap * 10 / 13);
        swapped = false;
        for (int i = 0; i + gap < 32; i++) {
            int a = s[i][l], b = s[i + gap][l];
            if (a > b) {
                s[i][l] = b;
                s[i + gap][l] = a;
                swapped = true;
            }
        }
    }
    for (int i = 0; i < 32; i++) out[(blockIdx.x * 32 + i) * 32 + l] = s[i][l];
}

//! diagonals_of_two_lists_in_shared 33 128 | u32:16896 | out u32:16896
// Two lists of 256 are sorted by counting ranks, then merged along diagonals, four outputs a thread.
K diagonals_of_two_lists_in_shared(const uint32_t *in, uint32_t *out)
{
    __shared__ uint32_t raw[512], s[512];
    int t = threadIdx.x, base = blockIdx.x * 512;
    for (int i = t; i < 512; i += 128) raw[i] = in[base + i] & ~511u | i;
    __syncthreads();
    for (int i = t; i < 512; i += 128) {
        uint32_t v = raw[i], r = 0;
        int h = i & 256;
        for (int j = 0; j < 256; j += 4) {
            uint4 w = *(uint4 *)&raw[h + j];
            r += (w.x < v) + (w.y < v) + (w.z < v) + (w.w < v);
        }
        s[h + r] = v;
    }
    __syncthreads();
    int d = t * 4, lo = max(0, d - 256), hi = min(d, 256);
    while (lo < hi) {
        int m = (lo + hi) / 2;
        if (s[m] < s[256 + d - 1 - m]) lo = m + 1;
        else hi = m;
    }
    int a = lo, b = d - lo;
    for (int k = 0; k < 4; k++) {
        bool left = b >= 256 || a < 256 && s[a] < s[256 + b];
        out[base + d + k] = left ? s[a++] : s[256 + b++];
    }
}

//! one_bit_at_a_time_in_a_block 33 256 | u32:8448:0:65536 | out u32:8448
K one_bit_at_a_time_in_a_block(const uint32_t *in, uint32_t *out)
{
    __shared__ uint32_t s[256], sums[8];
    int t = threadIdx.x, l = t & 31, w = t >> 5;
    uint32_t v = in[blockIdx.x * 256 + t];
    for (int b = 0; b < 16; b++) {
        uint32_t ones = __ballot_sync(~0u, v >> b & 1);
        if (l == 0) sums[w] = 32 - __popc(ones);
        __syncthreads();
        int before = 0, zeros = 0;
        for (int k = 0; k < 8; k++) {
            if (k < w) before += sums[k];
            zeros += sums[k];
        }
        int low = before + __popc(~ones & ((1u << l) - 1));
        s[v >> b & 1 ? zeros + t - low : low] = v;
        __syncthreads();
        v = s[t];
    }
    out[blockIdx.x * 256 + t] = v;
}

//! kth_smallest_by_partitions 4 128 | s32:2048:0:1000000 | out s32:4 | s s32 200
// A block keeps half of its 512 values after half until the k-th is alone.
K kth_smallest_by_partitions(const int *in, int *out, int k)
{
    __shared__ int s[512], less;
    int t = threadIdx.x, lo = 0, hi = 1000000;
    for (int i = t; i < 512; i += 128) s[i] = in[blockIdx.x * 512 + i];
    while (lo < hi) {
        int m = lo + (hi - lo) / 2, c = 0;
        if (t == 0) less = 0;
        __syncthreads();
        for (int i = t; i < 512; i += 128) c += s[i] <= m;
        c = __reduce_add_sync(~0u, c);
        if (t % 32 == 0) atomicAdd(&less, c);
        __syncthreads();
        if (less > k) hi = m;
        else lo = m + 1;
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = lo;
}

//! keys_hashed_twice_when_full 4 128 | u32:512:1:1000000 | zero u32:1024 | unordered
K keys_hashed_twice_when_full(const uint32_t *key, uint32_t *table)
{
    uint32_t k = key[blockIdx.x * 128 + threadIdx.x], h = k * 2654435761u >> 22, step = (k * 40503u >> 8 & 1023) | 1;
    for (int n = 0; n < 1024; n++) {
        uint32_t old = atomicCAS(table + h, 0, k);
        if (old == 0 || old == k) break;
        h = (h + step) & 1023;
    }
}

//! two_buckets_of_four_looked_at 66 128 | u32:8448:0:5000 | u32:4096:0:5000 | out u32:8448
K two_buckets_of_four_looked_at(const uint32_t *key, const uint4 *bucket, uint32_t *where)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    uint32_t k = key[i], a = (k * 0x9E3779B1u) >> 22, b = (k * 0x85EBCA77u) >> 22, r = ~0u;
    uint4 v = bucket[a];
    if (v.x == k) r = a * 4;
    else if (v.y == k) r = a * 4 + 1;
    else if (v.z == k) r = a * 4 + 2;
    else if (v.w == k) r = a * 4 + 3;
    if (r == ~0u) {
        v = bucket[b];
        r = v.x == k ? b * 4 : v.y == k ? b * 4 + 1 : v.z == k ? b * 4 + 2 : v.w == k ? b * 4 + 3 : ~0u;
    }
    where[i] = r;
}

//! jenkins_one_at_a_time_of_words 33 64 | u8:33792 | u32:2112:1:17 | out u32:2112
K jenkins_one_at_a_time_of_words(const uint8_t *text, const uint32_t *len, uint32_t *out)
{
    int i = blockIdx.x * 64 + threadIdx.x, n = len[i];
    const uint8_t *p = text + i * 16;
    uint32_t h = 0;
    for (int k = 0; k < n; k++) {
        h += p[k];
        h += h << 10;
        h ^= h >> 6;
    }
    h += h << 3;
    h ^= h >> 11;
    out[i] = h + (h << 15);
}

//! rolling_search_by_rabin_and_karp 33 64 | u8:33856:97:100 | zero u32:4
K rolling_search_by_rabin_and_karp(const uint8_t *text, uint32_t *found)
{
    const uint8_t pat[8] = {97, 98, 97, 99, 98, 97, 98, 97};
    int at = (blockIdx.x * 64 + threadIdx.x) * 16;
    uint32_t want = 0, h = 0, n = 0, top = 1;
    for (int k = 0; k < 8; k++) {
        want = want * 257 + pat[k];
        h = h * 257 + text[at + k];
        if (k) top *= 257;
    }
    for (int k = 0; k < 16; k++) {
        n += (h & 0xFFFF) == (want & 0xFFFF);
        h = (h - text[at + k] * top) * 257 + text[at + k + 8];
    }
    if (n) atomicAdd(found, n);
}

//! zeta_of_each_short_string 17 64 | u8:34816:97:99 | out u8:34816
K zeta_of_each_short_string(const uint8_t *text, uint8_t *z)
{
    const uint8_t *s = text + (blockIdx.x * 64 + threadIdx.x) * 32;
    uint8_t *o = z + (blockIdx.x * 64 + threadIdx.x) * 32;
    int l = 0, r = 0;
    o[0] = 32;
    for (int i = 1; i < 32; i++) {
        int k = i < r ? min(r - i, (int)o[i - l]) : 0;
        while (i + k < 32 && s[k] == s[i + k]) k++;
        o[i] = k;
        if (i + k > r) l = i, r = i + k;
    }
}

//! least_differing_window_of_bits 33 128 | u64:4224 | u64:16 | out u32:4224
K least_differing_window_of_bits(const unsigned long long *x, const unsigned long long *pat, uint32_t *best)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    unsigned long long a = x[i], b = x[(i + 1) % 4224];
    uint32_t least = 1u << 20;
    for (int p = 0; p < 16; p++) {
        unsigned long long w = pat[p];
        for (int s = 0; s < 64; s += 8) {
            unsigned long long v = s ? a >> s | b << (64 - s) : a;
            uint32_t d = __popcll(v ^ w) << 10 | p << 6 | s;
            least = min(least, d);
        }
    }
    best[i] = least;
}

//! base64_read_back 33 128 | u8:16896:0:64 | out u8:12672
K base64_read_back(const uchar4 *in, uint8_t *out)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    uchar4 c = in[i];
    auto value = [](int v) {
        int ch = v < 26 ? 'A' + v : v < 52 ? 'a' + v - 26 : v < 62 ? '0' + v - 52 : v == 62 ? '+' : '/';
        if (ch >= 'A' && ch <= 'Z') return ch - 'A';
        if (ch >= 'a' && ch <= 'z') return ch - 'a' + 26;
        if (ch >= '0' && ch <= '9') return ch - '0' + 52;
        return ch == '+' ? 62 : 63;
    };
    uint32_t w = value(c.x) << 18 | value(c.y) << 12 | value(c.z) << 6 | value(c.w);
    out[i * 3] = w >> 16;
    out[i * 3 + 1] = w >> 8;
    out[i * 3 + 2] = w;
}

//! depths_of_brackets_by_scan 33 256 | u8:8448:0:3 | out s8:8448 | out s32:33
K depths_of_brackets_by_scan(const uint8_t *in, int8_t *depth, int *lowest)
{
    __shared__ int s[8], m[8];
    int t = threadIdx.x, l = t & 31, c = in[blockIdx.x * 256 + t], v = c == 0 ? 1 : c == 1 ? -1 : 0;
    for (int d = 1; d < 32; d *= 2) {
        int o = __shfl_up_sync(~0u, v, d);
        if (l >= d) v += o;
    }
    if (l == 31) s[t / 32] = v;
    __syncthreads();
    for (int w = 0; w < t / 32; w++) v += s[w];
    int least = __reduce_min_sync(~0u, v);
    if (l == 0) m[t / 32] = least;
    depth[blockIdx.x * 256 + t] = v;
    __syncthreads();
    if (t == 0) {
        for (int w = 1; w < 8; w++) least = min(least, m[w]);
        lowest[blockIdx.x] = least;
    }
}

//! states_of_many_patterns 33 64 | u8:33792:0:4 | u8:256:0:64 | out u32:2112
// An automaton of 64 states and four letters in shared memory.
K states_of_many_patterns(const uint32_t *text, const uint32_t *delta, uint32_t *hits)
{
    __shared__ uint8_t go[256];
    int t = threadIdx.x, i = blockIdx.x * 64 + t, s = 0, n = 0;
    ((uint32_t *)go)[t] = delta[t];
    __syncthreads();
    for (int k = 0; k < 4; k++) {
        uint32_t w = text[i * 4 + k];
        for (int j = 0; j < 4; j++, w >>= 8) {
            s = go[s * 4 + (w & 3)];
            n += s >= 60;
        }
    }
    hits[i] = n << 8 | s;
}
