/* wanderings.cu - graphs, sparse matrices, trees, tables and texts: the next address is known only when the last has been read. */
#include <cstdint>
#define K extern "C" __global__ void

//! bfs_a_level_by_all_vertices 16 256 | u16:16384:0:4096 | inout s32:4096:-1:2 | zero s32:1 | s s32 4096 | s s32 4 | s s32 1
// Four neighbours a vertex; a level is in the numbers that are there: -1 not seen, 0, 1.
K bfs_a_level_by_all_vertices(const uint16_t *edges, int *level, int *again, int n, int degree, int depth)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n && level[v] == depth) {
        for (int e = v * degree; e < (v + 1) * degree; e++) {
            int u = edges[e];
            if (level[u] == -1) {
                level[u] = depth + 1;
                *again = 1;
            }
        }
    }
}

//! rows_by_merged_offsets_csr 32 128 | s32:4097:0:1 | s32:65536:0:8192 | f32:65536:-1:1 | f32:8192:-1:1 | out f32:4096 | s s32 4096
// Row lengths from a hash of the row, so that they differ: 0 to 31 of the 16 words that each row could have.
K rows_by_merged_offsets_csr(const int *ptr, const int *col, const float *val, const float *x, float *y, int rows)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) {
        float dot = 0;
        int start = r * 16 + ptr[r], end = start + (int)((r * 2654435761u) >> 28);
        for (int j = start; j < end; j++) dot += val[j] * x[col[j]];
        y[r] = dot;
    }
}

//! blocks_of_four_by_four_sparse 64 64 | s32:8192:0:256 | f32:131072:-1:1 | f32:1024:-1:1 | out f32:4096 | s s32 8
// BSR: a row of blocks by four threads, eight blocks a row.
K blocks_of_four_by_four_sparse(const int *col, const float *val, const float *x, float *y, int per)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, row = t / 4, r = t % 4;
    float s = 0;
    for (int b = row * per; b < (row + 1) * per; b++) {
        float4 v = *(const float4 *)(val + b * 16 + r * 4), u = *(const float4 *)(x + col[b] * 4);
        s += v.x * u.x + v.y * u.y + v.z * u.z + v.w * u.w;
    }
    y[t] = s;
}

//! coordinates_summed_into_integers 128 256 | u16:32768:0:512 | u16:32768:0:1024 | s32:32768:-100:100 | s32:1024:-100:100 | zero s32:512
K coordinates_summed_into_integers(const uint16_t *row, const uint16_t *col, const int *val, const int *x, int *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&y[row[i]], val[i] * x[col[i]]);
}

//! distances_relaxed_over_edges 64 256 | u16:16384:0:2048 | u16:16384:0:2048 | u32:16384:1:100 | inout u32:2048:0:100000
// The least wins, whatever the order; new distances are made from a copy that nobody changes.
K distances_relaxed_over_edges(const uint16_t *from, const uint16_t *to, const unsigned *w, unsigned *dist)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    atomicMin(&dist[to[e]], from[e] * 37 % 1000 + w[e]);
}

//! rank_of_pages_pushed_in_fixed_point 32 128 | u16:32768:0:4096 | u32:4096:0:100000 | zero u64:4096 | s s32 8
K rank_of_pages_pushed_in_fixed_point(const uint16_t *links, const unsigned *rank, unsigned long long *next, int degree)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long share = ((unsigned long long)rank[v] << 16) / degree * 85 / 100;
    for (int k = 0; k < degree; k++) atomicAdd(&next[links[v * degree + k]], share);
}

//! components_by_hooking_and_jumping 16 256 | u16:4096:0:4096 | out s32:4096
// One block takes the part of 256 vertices of its own; rounds until nothing changes.
K components_by_hooking_and_jumping(const uint16_t *friend_, int *label)
{
    __shared__ int parent[256], changed;
    int t = threadIdx.x, other = friend_[blockIdx.x * 256 + t] & 255;
    parent[t] = t;
    do {
        __syncthreads();
        if (t == 0) changed = 0;
        __syncthreads();
        int a = parent[t], b = parent[other];
        if (a != b) {
            atomicMin(&parent[a > b ? a : b], a < b ? a : b);
            changed = 1;
        }
        __syncthreads();
        while (parent[t] != parent[parent[t]]) parent[t] = parent[parent[t]];
        __syncthreads();
    } while (changed);
    label[blockIdx.x * 256 + t] = parent[t];
}

//! binary_tree_in_an_array_searched 64 128 | u32:8192 | out s32:8192 | s s32 16
// The tree is implicit: a node holds a hash of its number, so that every search goes its own way.
K binary_tree_in_an_array_searched(const unsigned *keys, int *found, int depth)
{
    int i = blockIdx.x * 128 + threadIdx.x, node = 1;
    unsigned key = keys[i];
    for (int d = 0; d < depth; d++) {
        unsigned v = keys[(node * 40503u) & 8191];
        if (v == key) break;
        node = 2 * node + (key > v);
    }
    found[i] = node;
}

//! hash_table_linear_probing_counts 64 128 | u32:8192:1:3000 | scratch u32:16384 | zero u32:1
__device__ __forceinline__ unsigned mix(unsigned k)
{
    k ^= k >> 16;
    k *= 0x85ebca6b;
    k ^= k >> 13;
    k *= 0xc2b2ae35;
    return k ^ k >> 16;
}
K hash_table_linear_probing_counts(const unsigned *keys, unsigned *table, unsigned *distinct)
{
    unsigned key = keys[blockIdx.x * blockDim.x + threadIdx.x], slot = mix(key) & 16383;
    // a key's place is the same whoever comes first as long as nobody else wants it: only the number of different keys is told
    while (true) {
        unsigned prev = atomicCAS(&table[slot], 0, key);
        if (prev == 0) {
            atomicAdd(distinct, 1);
            break;
        }
        if (prev == key) break;
        slot = (slot + 1) & 16383;
    }
}

//! naive_search_for_a_word 128 256 | u8:32776:97:100 | u8:6:97:100 | zero s32:1 | out u8:32768 | s s32 6
K naive_search_for_a_word(const char *text, const char *pattern, int *count, unsigned char *at, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = 0;
    for (; j < m; j++)
        if (text[i + j] != pattern[j]) break;
    at[i] = j == m;
    if (j == m) atomicAdd(count, 1);
}

//! edit_distance_row_in_a_thread 16 64 | u8:16384:97:101 | u8:16:97:101 | out s32:1024
K edit_distance_row_in_a_thread(const uint8_t *words, const uint8_t *target, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, d[17];
    for (int j = 0; j <= 16; j++) d[j] = j;
    for (int r = 0; r < 16; r++) {
        int diag = d[0], c = words[i * 16 + r];
        d[0] = r + 1;
        for (int j = 1; j <= 16; j++) {
            int t = min(min(d[j] + 1, d[j - 1] + 1), diag + (c != target[j - 1]));
            diag = d[j];
            d[j] = t;
        }
    }
    out[i] = d[16];
}

//! common_subsequence_by_diagonals 12 128 | u8:1536:97:101 | u8:1536:97:101 | out s32:12
// Two texts of 128 letters a block; three diagonals in shared memory.
K common_subsequence_by_diagonals(const char *a, const char *b, int *out)
{
    __shared__ int diag[3][130];
    __shared__ char x[128], y[128];
    int t = threadIdx.x;
    x[t] = a[blockIdx.x * 128 + t], y[t] = b[blockIdx.x * 128 + t];
    for (int k = 0; k < 3; k++) diag[k][t] = 0;
    if (t < 2)
        for (int k = 0; k < 3; k++) diag[k][128 + t] = 0;
    __syncthreads();
    for (int d = 0; d < 255; d++) {
        int i = t, j = d - t;
        if (j >= 0 && j < 128) {
            int *now = diag[d % 3], *one = diag[(d + 2) % 3], *two = diag[(d + 1) % 3];
            now[i + 1] = x[i] == y[j] ? (j ? two[i] : 0) + 1 : max(one[i], j ? one[i + 1] : 0);
        }
        __syncthreads();
    }
    if (t == 127) out[blockIdx.x] = diag[254 % 3][128];
}

//! triangles_by_two_sorted_lists 32 128 | u32:65536:0:9 | u16:4096:0:4096 | out u32:4096
// Gaps make lists of sixteen sorted; each thread counts what its list and another have in common.
K triangles_by_two_sorted_lists(const unsigned *gap, const uint16_t *other, unsigned *out)
{
    int i = blockIdx.x * 128 + threadIdx.x, o = other[i];
    const unsigned *p = gap + i * 16, *q = gap + o * 16;
    unsigned a = p[0], b = q[0], n = 0;
    for (int x = 0, y = 0; x < 16 && y < 16;) {
        if (a == b) {
            n++;
            x++, y++;
            if (x < 16) a += p[x] + 1;
            if (y < 16) b += q[y] + 1;
        } else if (a < b) {
            if (++x < 16) a += p[x] + 1;
        } else {
            if (++y < 16) b += q[y] + 1;
        }
    }
    out[i] = n;
}

//! list_walked_by_one_lane_each 66 32 | u32:65536:0:65536 | out u32:2112 | s s32 60
K list_walked_by_one_lane_each(const unsigned *next, unsigned *out, int steps)
{
    unsigned at = blockIdx.x * 32 + threadIdx.x;
    for (int i = 0; i < steps; i++) at = next[at];
    out[blockIdx.x * 32 + threadIdx.x] = at;
}
