/* sparse.cu - sparse matrices in many forms and algorithms on graphs; structures come from hashes of the row. */
#include <cstdint>

__device__ __forceinline__ uint32_t mix(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}
// Rows of 4 to 11 entries: where row i starts when four rows together have thirty.
__device__ __forceinline__ int row_start(int i)
{
    const int within[4] = {0, 4, 15, 21};
    return (i >> 2) * 30 + within[i & 3];
}

//! sliced_ellpack 32 64 | s32:22528:0:2048 | f32:22528:-1:1 | f32:2048:-1:1 | out f32:2048
// Slices of 32 rows with a width of their own, column by column.
extern "C" __global__ void sliced_ellpack(const int *col, const float *val, const float *x, float *y)
{
    int row = blockIdx.x * 64 + threadIdx.x, slice = row >> 5, lane = row & 31, width = 3 + (slice * 5 & 7), start = 0;
    for (int s = 0; s < slice; s++) start += 3 + (s * 5 & 7);
    float a = 0;
    for (int k = 0; k < width; k++) {
        int at = (start + k) * 32 + lane;
        a += val[at] * x[col[at]];
    }
    y[row] = a;
}

//! merged_rows_spmv 20 128 | s32:15360:0:2048 | f32:15360:-1:1 | f32:2048:-1:1 | zero f32:2048
// Work cut into equal pieces of rows and entries together: a search on the diagonal, then six steps a thread.
extern "C" __global__ void merged_rows_spmv(const int *col, const float *val, const float *x, float *y)
{
    const int rows = 2048, nnz = 15360, items = (rows + nnz + 2559) / 2560;
    int d0 = min((int)(blockIdx.x * blockDim.x + threadIdx.x) * items, rows + nnz), d1 = min(d0 + items, rows + nnz);
    int lo = max(d0 - nnz, 0), hi = min(d0, rows);
    while (lo < hi) {
        int m = (lo + hi) >> 1;
        if (row_start(m + 1) <= d0 - m - 1)
            lo = m + 1;
        else
            hi = m;
    }
    int r = lo, k = d0 - lo;
    float a = 0;
    bool first = true;
    for (int d = d0; d < d1; d++) {
        if (k < row_start(r + 1)) {
            a += floorf(val[k] * 8) * floorf(x[col[k]] * 8);
            k++;
        } else {
            if (first)
                atomicAdd(&y[r], a);
            else
                y[r] = a;
            first = false;
            a = 0;
            r++;
        }
    }
    if (a != 0) atomicAdd(&y[r], a);
}

//! columns_scattered 12 128 | s32:15360:0:512 | s32:15360:-9:9 | s32:2048:-9:9 | zero s32:512
// Compressed columns: a column a thread, atomics to the rows.
extern "C" __global__ void columns_scattered(const int *row, const int *val, const int *x, int *y)
{
    for (int c = blockIdx.x * blockDim.x + threadIdx.x; c < 2048; c += gridDim.x * blockDim.x)
        for (int k = row_start(c); k < row_start(c + 1); k++) atomicAdd(&y[row[k]], val[k] * x[c]);
}

//! row_products_hashed 64 32 | s32:15360:0:512 | s32:15360:-4:4 | out s32:64 | out s32:64
// A row of A times A: products gathered in a table of the warp by linear probing, then counted and hashed.
extern "C" __global__ void row_products_hashed(const int *col, const int *val, int *count, int *digest)
{
    __shared__ int key[256], sum[256];
    int lane = threadIdx.x, row = blockIdx.x * 8;
    for (int i = lane; i < 256; i += 32) key[i] = -1, sum[i] = 0;
    __syncwarp();
    for (int k = row_start(row); k < row_start(row + 1); k++) {
        int mid = col[k], v = val[k];
        for (int j = row_start(mid) + lane; j < row_start(mid + 1); j += 32) {
            int c = col[j];
            uint32_t h = mix(c) & 255;
            for (;;) {
                int old = atomicCAS(&key[h], -1, c);
                if (old == -1 || old == c) break;
                h = (h + 1) & 255;
            }
            atomicAdd(&sum[h], v * val[j]);
        }
    }
    __syncwarp();
    int n = 0, d = 0;
    for (int i = lane; i < 256; i += 32)
        if (key[i] >= 0) n++, d += mix(key[i] * 977 + sum[i]);
    n = __reduce_add_sync(~0u, n);
    d = __reduce_add_sync(~0u, d);
    if (lane == 0) count[blockIdx.x] = n, digest[blockIdx.x] = d;
}

//! sampled_products 96 64 | s32:3072:0:256 | s32:3072:0:256 | f32:16384:-1:1 | f32:16384:-1:1 | out f32:3072
// Entries of a dense product only where the sparse pattern has some: half a warp an entry.
extern "C" __global__ void sampled_products(const int *row, const int *col, const float *A, const float *B, float *out)
{
    int lane = threadIdx.x & 15, group = threadIdx.x >> 4;
    for (int e = blockIdx.x * 32 + group; e < (blockIdx.x + 1) * 32; e += 4) {
        const float4 *a = (const float4 *)(A + row[e] * 64), *b = (const float4 *)(B + col[e] * 64);
        float4 p = a[lane], q = b[lane];
        float s = p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
        for (int d = 8; d; d >>= 1) s += __shfl_xor_sync(~0u, s, d, 16);
        if (lane == 0) out[e] = s;
    }
}

//! independent_by_luby 1 512 | out u32:512 | out u32:1
// A largest independent set by random priorities, rounds in one block, eight neighbours both ways on a ring of strides.
extern "C" __global__ void independent_by_luby(uint32_t *set, uint32_t *rounds)
{
    __shared__ uint32_t prio[512];
    __shared__ unsigned char state[512];
    const int stride[4] = {1, 7, 31, 100};
    int t = threadIdx.x, n = 0;
    state[t] = 0;
    for (;;) {
        prio[t] = mix(t * 64 + n) | 1;
        __syncthreads();
        bool best = state[t] == 0;
        for (int k = 0; k < 8 && best; k++) {
            int v = (t + (k & 1 ? stride[k >> 1] : 512 - stride[k >> 1])) & 511;
            if (state[v] == 0 && (prio[v] > prio[t] || (prio[v] == prio[t] && v > t))) best = false;
        }
        __syncthreads();
        if (best) {
            state[t] = 1;
            for (int k = 0; k < 8; k++) {
                int v = (t + (k & 1 ? stride[k >> 1] : 512 - stride[k >> 1])) & 511;
                state[v] = 2;
            }
        }
        n++;
        __syncthreads();
        if (!__syncthreads_or(state[t] == 0)) break;
    }
    set[t] = state[t];
    if (t == 0) *rounds = n;
}

//! bottom_up_bitmap 16 128 | s32:16384:0:2048 | u32:64 | out u32:64
// A level of a search from below: whoever is not reached yet looks for a parent in the bitmap and stops at the first.
extern "C" __global__ void bottom_up_bitmap(const int *neighbour, const uint32_t *frontier, uint32_t *next)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    bool found = false, reached = frontier[v >> 5] >> (v & 31) & 1;
    if (!reached)
        for (int k = 0; k < 8; k++) {
            int u = neighbour[v * 8 + k];
            if ((frontier[u >> 5] & frontier[(u >> 5) ^ 1]) >> (u & 31) & 1) {
                found = true;
                break;
            }
        }
    uint32_t word = __ballot_sync(~0u, found);
    if ((threadIdx.x & 31) == 0) next[v >> 5] = word;
}

//! betweenness_back 8 128 | s32:8192:0:1024 | u8:1024:0:4 | s32:1024:1:9 | zero f32:1024
// Dependencies pulled from the next level, in one pass over all levels from the deepest.
extern "C" __global__ void betweenness_back(const int *neighbour, const unsigned char *level, const int *sigma, float *delta)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    float d = 0;
    for (int k = 0; k < 8; k++) {
        int w = neighbour[v * 8 + k];
        if (level[w] == level[v] + 1) d += (float)sigma[v] / sigma[w] * (1 + (level[w] == 3 ? 0.0f : 0.25f * level[w]));
    }
    delta[v] = d;
}

//! hooks_and_jumps 1 256 | s32:512:0:256 | out s32:256 | out s32:1
// Connected components: edges hook the larger root to the smaller with atomicMin, then pointers jump, until nothing changes.
extern "C" __global__ void hooks_and_jumps(const int *edges, int *component, int *rounds)
{
    __shared__ int parent[256];
    int t = threadIdx.x, u = edges[t], v = edges[t + 256], n = 0;
    if (t % 3 == 0) v = u;
    parent[t] = t;
    __syncthreads();
    for (;;) {
        int a = parent[u], b = parent[v];
        bool change = a != b;
        __syncthreads();
        if (a < b) atomicMin(&parent[b], a);
        if (b < a) atomicMin(&parent[a], b);
        __syncthreads();
        int p = parent[t];
        for (int q; (q = ((volatile int *)parent)[p]) != p;) p = q;
        __syncthreads();
        parent[t] = p;
        n++;
        if (!__syncthreads_or(change)) break;
    }
    component[t] = parent[t];
    if (t == 0) *rounds = n;
}

//! alias_walks 10 64 | s32:8192:0:1024 | f32:8192:0:1 | u8:8192:0:8 | out u32:640
// Random walks of forty steps by the alias method: one draw picks a slot, the next the slot or its alias.
extern "C" __global__ void alias_walks(const int *neighbour, const float *keep, const unsigned char *alias, uint32_t *out)
{
    int id = blockIdx.x * 64 + threadIdx.x, v = id & 1023;
    uint32_t s = mix(id + 1), h = 0;
    for (int k = 0; k < 40; k++) {
        s = s * 747796405u + 2891336453u;
        uint32_t r = mix(s);
        int slot = r & 7;
        if ((r >> 8) * (1.0f / 16777216) >= keep[v * 8 + slot]) slot = alias[v * 8 + slot];
        v = neighbour[v * 8 + slot];
        h = h * 31 + v;
    }
    out[id] = h;
}

//! aggregated_neighbours 64 128 | s32:8192:0:1024 | f16:65536:-1:1 | out f32:65536
// Mean and maximum over eight neighbours of 64 features, one warp a vertex by two, halves in pairs.
extern "C" __global__ void aggregated_neighbours(const int *neighbour, const uint32_t *x, float2 *out)
{
    int lane = threadIdx.x & 31;
    for (int v = blockIdx.x * 4 + (threadIdx.x >> 5); v < 1024; v += gridDim.x * 4) {
        int mine = lane < 8 ? neighbour[v * 8 + lane] : 0;
        float2 s = make_float2(0, 0), m = make_float2(-9, -9);
        for (int k = 0; k < 8; k++) {
            uint32_t raw = x[__shfl_sync(~0u, mine, k) * 32 + lane];
            float lo, hi;
            asm("{.reg .f16 a, b; mov.b32 {a, b}, %2; cvt.f32.f16 %0, a; cvt.f32.f16 %1, b;}" : "=f"(lo), "=f"(hi) : "r"(raw));
            s.x += lo, s.y += hi;
            m.x = fmaxf(m.x, lo), m.y = fmaxf(m.y, hi);
        }
        out[v * 32 + lane] = make_float2(0.125f * s.x + m.x, 0.125f * s.y + m.y);
    }
}

//! modularity_moves 4 128 | s32:4096:0:512 | u8:512:0:16 | out s32:512 | zero s32:16
// A step of community search: the best of the sixteen labels for a vertex by counts in a local array.
extern "C" __global__ void modularity_moves(const int *neighbour, const unsigned char *label, int *best, int *sizes)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    int count[16] = {};
    for (int k = 0; k < 8; k++) count[label[neighbour[v * 8 + k]]] += 1 + (k & 1);
    int l = label[v];
    for (int c = 0; c < 16; c++)
        if (count[c] > count[l]) l = c;
    best[v] = l;
    atomicAdd(&sizes[l], 1);
}
