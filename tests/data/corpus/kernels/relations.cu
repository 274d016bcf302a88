/* relations.cu - tables, graphs and learning without networks. */
#include <cstdint>
#include <cuda_fp16.h>

//! join_probe 20 128 | u32:2560:0:3000 | u32:1024:0:3000 | zero u32:1 | zero u64:1
// The build side goes into a hash table in shared memory, first come by the smallest key at a place; the probe side counts its partners.
extern "C" __global__ void join_probe(const uint32_t *probe, const uint32_t *build, uint32_t *matches, unsigned long long *sum)
{
    __shared__ uint32_t table[2048];
    for (int i = threadIdx.x; i < 2048; i += blockDim.x) table[i] = 0xffffffffu;
    __syncthreads();
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) {
        uint32_t k = build[i], h = k * 2654435761u >> 21;
        while (atomicCAS(&table[h], 0xffffffffu, k) != 0xffffffffu) h = (h + 1) & 2047;
    }
    __syncthreads();
    uint32_t k = probe[blockIdx.x * blockDim.x + threadIdx.x], n = 0;
    for (uint32_t h = k * 2654435761u >> 21; table[h] != 0xffffffffu; h = (h + 1) & 2047) n += table[h] == k;
    uint32_t all = __reduce_add_sync(~0u, n);
    if (threadIdx.x % 32 == 0 && all) atomicAdd(matches, all);
    if (n) atomicAdd(sum, (unsigned long long)n * k);
}

//! group_by_four 40 192 | u8:30720:0:200 | s32:30720:-1000:1000 | zero s32:200 | zero s32:200 | zero u32:200
// Sum, largest and number of each group: in shared memory first.
extern "C" __global__ void group_by_four(const uchar4 *key, const int4 *value, int *sum, int *top, unsigned *count)
{
    __shared__ int s_sum[200], s_top[200];
    __shared__ unsigned s_n[200];
    for (int i = threadIdx.x; i < 200; i += blockDim.x) s_sum[i] = 0, s_top[i] = -2000, s_n[i] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uchar4 k = key[i];
    int4 v = value[i];
    auto add = [&](int g, int x) {
        atomicAdd(&s_sum[g], x);
        atomicMax(&s_top[g], x);
        atomicInc(&s_n[g], 0xffffffffu);
    };
    add(k.x, v.x), add(k.y, v.y), add(k.z, v.z), add(k.w, v.w);
    __syncthreads();
    for (int g = threadIdx.x; g < 200; g += blockDim.x)
        if (s_n[g]) {
            atomicAdd(&sum[g], s_sum[g]);
            atomicMax(&top[g], s_top[g]);
            atomicAdd(&count[g], s_n[g]);
        }
}

struct Row {
    int date;
    float price, discount, tax;
};
//! revenue_query 33 128 | s32:33792:0:2557 | f32:33792:900:100000 | u8:33792:0:11 | u8:33792:1:51 | zero s64:1 | zero u32:1
// Selection and a sum of products in hundredths, columns four at a time.
extern "C" __global__ void revenue_query(const int4 *ship, const float4 *price, const uchar4 *discount, const uchar4 *quantity, unsigned long long *revenue, unsigned *rows)
{
    unsigned long long cents = 0;
    unsigned n = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 33792 / 4; i += gridDim.x * blockDim.x) {
        int4 d = ship[i];
        float4 p = price[i];
        uchar4 c = discount[i], q = quantity[i];
#define TEST(a) \
    if (d.a >= 731 && d.a < 1096 && c.a >= 5 && c.a <= 7 && q.a < 24) cents += (unsigned long long)(p.a * 100) * c.a, n++;
        TEST(x) TEST(y) TEST(z) TEST(w)
    }
    for (int o = 16; o; o >>= 1) {
        cents += __shfl_down_sync(~0u, cents, o);
        n += __shfl_down_sync(~0u, n, o);
    }
    if (threadIdx.x % 32 == 0 && n) {
        atomicAdd(revenue, cents);
        atomicAdd(rows, n);
    }
}

//! partition_offsets 24 256 | u32:24576 | out u32:24576 | out u16:6144
// Radix partition of a block's 1,024 keys into 256: counts, an exclusive scan, and each key to a place by its rank among equals.
extern "C" __global__ void partition_offsets(const uint32_t *in, uint32_t *out, uint16_t *offsets)
{
    __shared__ uint32_t counts[8][256], warp_sum[8];
    int t = threadIdx.x, w = t / 32, lane = t % 32;
    for (int i = t; i < 2048; i += 256) counts[i / 256][i % 256] = 0;
    __syncthreads();
    uint32_t k[4], rank[4];
    for (int j = 0; j < 4; j++) {
        k[j] = in[blockIdx.x * 1024 + w * 128 + j * 32 + lane];
        uint32_t d = k[j] >> 12 & 255, same = __match_any_sync(~0u, d), before = __popc(same & ((1u << lane) - 1));
        rank[j] = counts[w][d] + before;
        __syncwarp();
        if (before == 0) counts[w][d] += __popc(same);
        __syncwarp();
    }
    __syncthreads();
    uint32_t n = 0;
    for (int j = 0; j < 8; j++) {
        uint32_t c = counts[j][t];
        counts[j][t] = n;
        n += c;
    }
    uint32_t x = n;
    for (int o = 1; o < 32; o *= 2) {
        uint32_t y = __shfl_up_sync(~0u, x, o);
        if (lane >= o) x += y;
    }
    if (lane == 31) warp_sum[w] = x;
    __syncthreads();
    uint32_t base = x - n;
    for (int j = 0; j < w; j++) base += warp_sum[j];
    offsets[blockIdx.x * 256 + t] = base;
    for (int j = 0; j < 8; j++) counts[j][t] += base;
    __syncthreads();
    for (int j = 0; j < 4; j++) out[blockIdx.x * 1024 + counts[w][k[j] >> 12 & 255] + rank[j]] = k[j];
}

//! propagate_labels 12 128 | u8:1536:1:9 | u16:12288:0:1536 | iota u32:1536 | out u32:1536
// Each vertex takes the commonest label of its neighbours, the least of equals.
extern "C" __global__ void propagate_labels(const uint8_t *degree, const uint16_t *adj, const uint32_t *label, uint32_t *next)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x, d = degree[v], best = 0;
    uint32_t mine[8], pick = label[v] / 8;
    for (int e = 0; e < d; e++) mine[e] = label[adj[v * 8 + e]] / 8;
    for (int i = 0; i < d; i++) {
        int n = 0;
        for (int j = 0; j < d; j++) n += mine[j] == mine[i];
        if (n > best || (n == best && mine[i] < pick)) best = n, pick = mine[i];
    }
    next[v] = pick;
}

//! boruvka_lightest 16 96 | u16:6144:0:1536 | u32:6144:1:100000 | iota u32:1536 | zero u64:1536
// Of every component the lightest edge that leaves it, by the largest of inverted pairs.
extern "C" __global__ void boruvka_lightest(const uint16_t *dst, const uint32_t *weight, const uint32_t *vertex, unsigned long long *best)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t c = vertex[v] % 96;
    for (int e = v * 4; e < v * 4 + 4; e++) {
        uint32_t o = dst[e] % 96;
        if (o != c) atomicMax(&best[c], ~((unsigned long long)weight[e] << 32 | e));
    }
}

//! peel_cores 1 256 | u8:256:2:13 | u8:4096 | out u32:256
// One block takes off vertices of small degree until no more fall, core by core.
extern "C" __global__ void peel_cores(const uint8_t *degree, const uint8_t *adj, uint32_t *core)
{
    __shared__ int deg[256];
    __shared__ bool gone[256];
    int v = threadIdx.x, d = degree[v], mine = 0;
    deg[v] = d;
    gone[v] = false;
    __syncthreads();
    for (int k = 1; k < 16; k++) {
        for (;;) {
            bool fall = !gone[v] && deg[v] < k;
            __syncthreads();
            if (fall) {
                gone[v] = true;
                mine = k - 1;
                for (int e = 0; e < d; e++) atomicSub(&deg[adj[v * 16 + e]], 1);
            }
            if (!__syncthreads_or(fall)) break;
        }
    }
    core[v] = mine * 100 + deg[v];
}

//! jaccard_edges 18 32,4 | u16:18432:0:3 | u16:72:0:576 | u16:72:0:576 | out f32:72
// Neighbours grow by small steps, so that lists are sorted; a warp an edge looks each of one list up in the other.
extern "C" __global__ void jaccard_edges(const uint16_t *steps, const uint16_t *a, const uint16_t *b, float *out)
{
    __shared__ unsigned list[4][64];
    int lane = threadIdx.x, w = threadIdx.y, e = blockIdx.x * 4 + w, u = a[e], v = b[e];
    auto load = [&](int x, unsigned *to) {
        unsigned s = steps[x * 32 + lane] + 1;
        for (int o = 1; o < 32; o *= 2) {
            unsigned y = __shfl_up_sync(~0u, s, o);
            if (lane >= o) s += y;
        }
        to[lane] = s;
    };
    load(u, list[w]);
    load(v, list[w] + 32);
    __syncwarp();
    unsigned want = list[w][lane];
    int lo = 0, hi = 32;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (list[w][32 + mid] < want)
            lo = mid + 1;
        else
            hi = mid;
    }
    int found = __popc(__ballot_sync(~0u, lo < 32 && list[w][32 + (lo & 31)] == want));
    if (lane == 0) out[e] = found / (64.0f - found);
}

//! random_walks 20 64 | u8:4096:1:9 | u16:32768:0:4096 | iota u32:1280 | out u16:20480 | s u64 42
// Sixteen steps of a walk, each by a generator of 64 bits.
extern "C" __global__ void random_walks(const uint8_t *degree, const uint16_t *adj, const uint32_t *start, uint16_t *path, uint64_t seed)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint64_t x = seed + i * 0x9E3779B97F4A7C15ull;
    uint32_t v = start[i] * 3 % 4096;
    for (int s = 0; s < 16; s++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        v = adj[v * 8 + (uint32_t)(x >> 33) % degree[v]];
        path[i * 16 + s] = v;
    }
}

//! depth_of_tasks 4 64 | u8:256:0:5 | u8:1024 | zero s32:256 | s s32 12
// Longest paths in a graph whose edges only go to smaller numbers, four blocks of it, by rounds.
extern "C" __global__ void depth_of_tasks(const uint8_t *n, const uint8_t *before, int *depth, int rounds)
{
    __shared__ int d[64];
    int t = threadIdx.x, v = blockIdx.x * 64 + t, k = n[v];
    d[t] = 0;
    for (int r = 0; r < rounds; r++) {
        __syncthreads();
        int m = 0;
        if (t > 0)
            for (int e = 0; e < k; e++) m = max(m, d[before[v * 4 + e % 4] % t] + 1);
        __syncthreads();
        d[t] = m;
    }
    depth[v] = d[t];
}

//! kd_nearest 12 64 | f32:768:0:1 | f32:1536:0:1 | out s32:768 | out f32:768
// The nearest of 255 points in an implicit tree, with a stack of what is still open.
extern "C" __global__ void kd_nearest(const float *values, const float2 *query, int *who, float *dist)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, top = 0, best = -1;
    float2 q = query[i];
    float bd = 1e30f, bound[10];
    unsigned char open[10];
    open[top] = 1;
    bound[top++] = 0;
    while (top) {
        int n = open[--top];
        if (bound[top] >= bd) continue;
        while (n < 256) {
            int level = 31 - __clz(n), axis = level & 1;
            float px = values[n * 3], py = values[n * 3 + 1], dx = px - q.x, dy = py - q.y, d = dx * dx + dy * dy;
            if (d < bd) bd = d, best = n;
            float diff = axis ? q.y - py : q.x - px;
            int nearer = 2 * n + (diff > 0);
            open[top] = nearer ^ 1;
            bound[top] = diff * diff;
            if ((nearer ^ 1) < 256) top++;
            n = nearer;
        }
    }
    who[i] = best;
    dist[i] = bd;
}

//! forest_votes 15 128 | f32:30720:0:1 | u8:2032:0:16 | f32:2032:0:1 | out u8:1920
// Sixteen trees of depth seven in arrays, features by index; the trees of a leaf vote by its parity.
extern "C" __global__ void forest_votes(const float *x, const uint8_t *feature, const float *threshold, uint8_t *out)
{
    __shared__ uint8_t f[2032];
    __shared__ float th[2032];
    for (int i = threadIdx.x; i < 2032; i += blockDim.x) f[i] = feature[i], th[i] = threshold[i];
    __syncthreads();
    int r = blockIdx.x * blockDim.x + threadIdx.x, votes = 0;
    for (int t = 0; t < 16; t++) {
        int n = 0;
        for (int d = 0; d < 6; d++) n = 2 * n + 1 + (x[f[t * 127 + n] * 1920 + r] > th[t * 127 + n]);
        votes += __popc(n * 2654435761u) & 1;
    }
    out[r] = votes;
}

//! rbf_margins 16 64 | f32:16384:-1:1 | f32:4096:-1:1 | f32:256:-1:1 | out f32:1024 | s f32 0.3
// A support vector machine of 256 vectors of 16 numbers.
extern "C" __global__ void rbf_margins(const float4 *x, const float4 *sv, const float *alpha, float *margin, float gamma)
{
    __shared__ float4 s[64][4];
    __shared__ float a[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    float4 v[4];
#pragma unroll
    for (int k = 0; k < 4; k++) v[k] = x[i * 4 + k];
    float sum = 0;
    for (int tile = 0; tile < 4; tile++) {
        __syncthreads();
        for (int k = t; k < 256; k += 64) s[k / 4][k % 4] = sv[tile * 256 + k];
        a[t] = alpha[tile * 64 + t];
        __syncthreads();
        for (int j = 0; j < 64; j++) {
            float d = 0;
#pragma unroll
            for (int k = 0; k < 4; k++) {
                float4 u = s[j][k];
                float e0 = v[k].x - u.x, e1 = v[k].y - u.y, e2 = v[k].z - u.z, e3 = v[k].w - u.w;
                d += e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3;
            }
            sum += a[j] * __expf(-gamma * d);
        }
    }
    margin[i] = sum;
}

//! centroid_sums 20 128 | s16:20480:-100:100 | u8:2560:0:10 | zero s32:80 | zero s32:10
// The other half of k-means: coordinates of a cluster added up, eight a point, whole numbers.
extern "C" __global__ void centroid_sums(const short *x, const uint8_t *cluster, int *sums, int *count)
{
    __shared__ int s[80], n[10];
    for (int i = threadIdx.x; i < 90; i += blockDim.x) (i < 80 ? s[i] : n[i - 80]) = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x, c = cluster[i];
    int4 raw = reinterpret_cast<const int4 *>(x)[i];
    const short *v = reinterpret_cast<const short *>(&raw);
#pragma unroll
    for (int k = 0; k < 8; k++) atomicAdd(&s[c * 8 + k], v[k]);
    atomicAdd(&n[c], 1);
    __syncthreads();
    if (threadIdx.x < 80) atomicAdd(&sums[threadIdx.x], s[threadIdx.x]);
    if (threadIdx.x < 10) atomicAdd(&count[threadIdx.x], n[threadIdx.x]);
}

//! dictionary_gather 25 128 | u8:25600:0:64 | u64:64 | u32:800 | out u64:25600
// Codes of bytes to words of eight, where a bit says that there is one; the places come from counts of bits.
extern "C" __global__ void dictionary_gather(const uint8_t *codes, const uint64_t *dictionary, const uint32_t *valid, uint64_t *out)
{
    __shared__ uint64_t dict[64];
    __shared__ uint32_t before[33];
    int t = threadIdx.x;
    if (t < 64) dict[t] = dictionary[t];
    if (t < 32) {
        uint32_t c = __popc(valid[blockIdx.x * 32 + t]), x = c;
        for (int o = 1; o < 32; o *= 2) {
            uint32_t y = __shfl_up_sync(~0u, x, o);
            if (t >= o) x += y;
        }
        before[t] = x - c;
    }
    __syncthreads();
    for (int i = t; i < 1024; i += 128) {
        uint32_t word = valid[blockIdx.x * 32 + i / 32], b = i % 32;
        uint64_t v = 0;
        if (word >> b & 1) v = dict[codes[blockIdx.x * 1024 + before[i / 32] + __popc(word & ((1u << b) - 1))]];
        out[blockIdx.x * 1024 + i] = v;
    }
}

//! many_small_blocks 3000 32 | u16:96000 | out u16:96000
// More blocks than fit at once, a warp each.
extern "C" __global__ void many_small_blocks(const uint16_t *in, uint16_t *out)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    unsigned v = in[i], n = 0;
    while (v > 1 && n < 40) {
        v = v & 1 ? 3 * v + 1 : v / 2;
        n++;
    }
    out[i] = n;
}

//! whole_blocks_of_1024 150 1024 | f32:153600:-1:1 | out f32:153600
// The median of each warp's 32 numbers by ranks, in the largest blocks there are.
extern "C" __global__ void whole_blocks_of_1024(const float *in, float *out)
{
    int i = blockIdx.x * 1024 + threadIdx.x, lane = threadIdx.x % 32, rank = 0;
    float v = in[i];
    for (int k = 1; k < 32; k++) {
        float o = __shfl_sync(~0u, v, (lane + k) & 31);
        rank += o < v || (o == v && ((lane + k) & 31) < lane);
    }
    unsigned who = __ballot_sync(~0u, rank == 16);
    out[i] = v - __shfl_sync(~0u, v, __ffs(who) - 1);
}
