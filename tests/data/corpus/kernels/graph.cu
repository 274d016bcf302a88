// Sparse matrices, graphs and hash tables. Row lengths and columns follow from random words.
#include <stdint.h>

//! spmv_scalar 32 128 | u32:4096:0:24 | s32:98304:0:4096 | f32:98304:-1:1 | f32:4096:-1:1 | out f32:4096
extern "C" __global__ void spmv_scalar(const uint32_t *len, const int *col, const float *val, const float *x, float *y)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x, p = r * 24, e = p + len[r];
    float s = 0;
    for (; p < e; p++) s += val[p] * x[col[p]];
    y[r] = s;
}

//! spmv_vector 64 128 | u32:1024:16:96 | s32:98304:0:4096 | f64:98304:-1:1 | f64:4096:-1:1 | out f64:1024
extern "C" __global__ void spmv_vector(const uint32_t *len, const int *col, const double *val, const double *x, double *y)
{
    const int lane = threadIdx.x & 7, r = (blockIdx.x * blockDim.x + threadIdx.x) >> 3, base = r * 96;
    double s = 0;
    for (int p = base + lane, e = base + len[r]; p < e; p += 8) s = fma(val[p], __ldg(&x[col[p]]), s);
    s += __shfl_xor_sync(~0u, s, 4);
    s += __shfl_xor_sync(~0u, s, 2);
    s += __shfl_xor_sync(~0u, s, 1);
    if (lane == 0) y[r] = s;
}

//! spmv_ell 40 256 | s32:163840:-1:10240 | f32:163840:-1:1 | f32:10240:-1:1 | out f32:10240 | s s32 10240 | s s32 16
extern "C" __global__ void spmv_ell(const int *col, const float *val, const float *x, float *y, int rows, int width)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float s = 0;
    for (int k = 0; k < width; k++) {
        int c = col[k * rows + r];
        if (c >= 0) s += val[k * rows + r] * x[c];
    }
    y[r] = s;
}

//! pagerank_step 32 256 | u32:8192:1:12 | u32:98304:0:8192 | f32:8192:0:1 | out f32:8192 | s f32 0.85
extern "C" __global__ void pagerank_step(const uint32_t *degree, const uint32_t *from, const float *rank, float *next, float damping)
{
    const uint32_t v = blockIdx.x * blockDim.x + threadIdx.x, d = degree[v];
    float s = 0;
    for (uint32_t k = 0; k < d; k++) {
        uint32_t u = from[v * 12 + k];
        s += rank[u] / degree[u];
    }
    next[v] = (1 - damping) / 8192 + damping * s;
}

//! sssp_relax 64 128 | u32:8192:0:8 | u32:65536:0:8192 | u32:65536:1:100 | u32:8192:0:500 | inout u32:8192:1000:2000
extern "C" __global__ void sssp_relax(const uint32_t *degree, const uint32_t *to, const uint32_t *weight, const uint32_t *dist, uint32_t *out)
{
    uint32_t v = blockIdx.x * blockDim.x + threadIdx.x, d = dist[v];
    if (d > 400) return;
    for (uint32_t e = v * 8, n = e + degree[v]; e < n; e++) {
        uint32_t nd = d + weight[e];
        if (nd < out[to[e]]) atomicMin(&out[to[e]], nd);
    }
}

//! floyd_warshall_tile 1,12 16,16 | inout s32:36864:1:1000 | s s32 192 | s s32 3
// The diagonal tile closes itself, then each block its tile of the column.
extern "C" __global__ void floyd_warshall_tile(int *d, int n, int t)
{
    __shared__ int pivot[16][16], mine[16][17];
    int x = threadIdx.x, y = threadIdx.y, b = t * 16, row = blockIdx.y * 16;
    pivot[y][x] = d[(b + y) * n + b + x];
    mine[y][x] = d[(row + y) * n + b + x];
    __syncthreads();
    for (int k = 0; k < 16; k++) {
        int v = min(pivot[y][x], pivot[y][k] + pivot[k][x]);
        __syncthreads();
        pivot[y][x] = v;
        __syncthreads();
    }
    if (blockIdx.y == t) return;
    int best = mine[y][x];
    for (int k = 0; k < 16; k++) best = min(best, mine[y][k] + pivot[k][x]);
    d[(row + y) * n + b + x] = best;
}

//! triangles_bitmap 64 64 | u64:16384 | out u32:64 | s s32 64
extern "C" __global__ void triangles_bitmap(const uint64_t *adj, unsigned *count, int words)
{
    // Rows of 256 vertices, 4 words used of a row of 64; vertex = block, pairs over its neighbours.
    __shared__ unsigned total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    const uint64_t *row = adj + blockIdx.x * words;
    unsigned mine = 0;
    for (int u = threadIdx.x; u < 256; u += blockDim.x) {
        if (!(row[u >> 6] >> (u & 63) & 1)) continue;
        const uint64_t *other = adj + u * words;
        for (int w = 0; w < 4; w++) mine += __popcll(row[w] & other[w]);
    }
    atomicAdd(&total, mine);
    __syncthreads();
    if (threadIdx.x == 0) count[blockIdx.x] = total;
}

__device__ __forceinline__ uint32_t mix(uint32_t h)
{
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    h *= 0xc2b2ae35u;
    return h ^ h >> 16;
}
//! hash_insert 24 256 | u32:6144:1:1000000 | out u32:32 | scratch u32:8192
// Where a key ends up depends on order; the sums of the keys that were new do not.
extern "C" __global__ void hash_insert(const uint32_t *key, uint32_t *sums, uint32_t *table)
{
    uint32_t k = key[blockIdx.x * blockDim.x + threadIdx.x], slot = mix(k) & 8191, probes = 0;
    for (;;) {
        uint32_t old = atomicCAS(&table[slot], 0u, k);
        if (old == 0) {
            atomicAdd(&sums[k & 31], k);
            break;
        }
        if (old == k) break;
        slot = (slot + 1) & 8191;
        if (++probes > 8192) break;
    }
}

//! hash_lookup 64 128 | u32:8192 | u32:8192 | out u32:8192
extern "C" __global__ void hash_lookup(const uint32_t *table, const uint32_t *query, uint32_t *result)
{
    const uint32_t t = blockIdx.x * blockDim.x + threadIdx.x, q = query[t];
    uint32_t slot = mix(q) % 8191, n = 0;
    while (n < 40 && (table[slot] & 15) != (q & 15)) {
        slot += 1 + (q >> 20);
        if (slot >= 8192) slot %= 8192;
        n++;
    }
    result[t] = n < 40 ? slot : 0xffffffffu;
}

//! bloom_filter 48 192 | u32:9216 | u32:9216 | out u32:4096 | out u8:9216
extern "C" __global__ void bloom_filter(const uint32_t *add, const uint32_t *ask, uint32_t *bits, uint8_t *seen)
{
    int t = blockIdx.x * 192 + threadIdx.x;
    uint32_t h = mix(add[t]), g = mix(h ^ 0x9e3779b9u) | 1;
    for (int k = 0; k < 5; k++, h += g) atomicOr(&bits[h >> 5 & 4095], 1u << (h & 31));
    // Answers come from a filter made of the question itself, so that they do not depend on order.
    uint32_t a = mix(ask[t]);
    uint32_t w = __brev(a) & mix(a) & mix(a + 1);
    seen[t] = (uint8_t)(__clz(w) + __ffs(w));
}
