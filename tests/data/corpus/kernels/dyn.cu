/* dyn.cu - dynamic programming, graphs and backtracking. */
#include <cstdint>
#define K extern "C" __global__ void
//! knapsack_blocks 8 1024 | u32:192:20:400 | u32:192:1:1000 | out u32:16384
// 24 things, 2,048 weights a block, two rows in turn.
K knapsack_blocks(const unsigned *weight, const unsigned *value, unsigned *best)
{
    __shared__ unsigned row[2][2048];
    const unsigned t = threadIdx.x;
    row[0][t] = row[0][t + 1024] = 0;
    for (int i = 0; i < 24; i++) {
        unsigned w = weight[blockIdx.x * 24 + i], v = value[blockIdx.x * 24 + i], *from = row[i & 1], *to = row[~i & 1];
        __syncthreads();
        for (unsigned c = t; c < 2048; c += 1024) to[c] = c >= w ? max(from[c], from[c - w] + v) : from[c];
    }
    __syncthreads();
    best[blockIdx.x * 2048 + t] = row[0][t];
    best[blockIdx.x * 2048 + t + 1024] = row[0][t + 1024];
}
//! gotoh_warps 32 128 | u8:4096:0:4 | u8:12288:0:4 | out s32:128
// Alignment with affine gaps: a lane owns a row, what is above comes from the lane before.
K gotoh_warps(const uint8_t *a, const uint8_t *b, int *score)
{
    int lane = threadIdx.x & 31, w = (blockIdx.x * 128 + threadIdx.x) / 32, mine = a[w * 32 + lane];
    int h = -8 - lane, e = -1000, f = -1000, diag = lane ? -7 - lane : 0;
    for (int s = 0; s < 96 + 31; s++) {
        int uh = __shfl_up_sync(~0u, h, 1), uf = __shfl_up_sync(~0u, f, 1), j = s - lane;
        if (lane == 0) uh = -8 - j, uf = -1000;
        if (j >= 0 && j < 96) {
            e = max(e - 1, h - 8);
            f = max(uf - 1, uh - 8);
            h = max(diag + (b[w * 96 + j] == mine ? 5 : -4), max(e, f));
            diag = uh;
        }
    }
    if (lane == 31) score[w] = h;
}
//! viterbi_decode 48 32 | f32:1024:-4:0 | f32:98304:-3:0 | out u8:3072 | out f32:48
// 32 states, 64 moments: the best way to each state, then back along the choices.
K viterbi_decode(const float *step, const float *seen, uint8_t *path, float *like)
{
    __shared__ float p[2][32];
    __shared__ uint8_t from[64][32];
    int s = threadIdx.x;
    const float *emit = seen + blockIdx.x * 2048;
    p[0][s] = emit[s];
    for (int t = 1; t < 64; t++) {
        __syncwarp();
        float best = -1e30f;
        int at = 0;
#pragma unroll 4
        for (int k = 0; k < 32; k++) {
            float v = p[~t & 1][k] + __ldg(&step[k * 32 + s]);
            if (v > best) best = v, at = k;
        }
        p[t & 1][s] = best + emit[t * 32 + s];
        from[t][s] = (uint8_t)at;
    }
    __syncwarp();
    if (s == 0) {
        int at = 0;
        for (int k = 1; k < 32; k++)
            if (p[1][k] > p[1][at]) at = k;
        like[blockIdx.x] = p[1][at];
        for (int t = 63; t >= 0; t--) {
            path[blockIdx.x * 64 + t] = (uint8_t)at;
            if (t) at = from[t][at];
        }
    }
}
//! matrix_chain 12 64 | u32:588:4:100 | out u64:12
// The cheapest order of 48 products, interval by interval.
K matrix_chain(const unsigned *dim, unsigned long long *cost)
{
    __shared__ unsigned long long m[48][48];
    __shared__ unsigned d[49];
    int t = threadIdx.x;
    if (t < 49) d[t] = dim[blockIdx.x * 49 + t];
    if (t < 48) m[t][t] = 0;
    __syncthreads();
    for (int len = 1; len < 48; len++) {
        int i = t, j = t + len;
        if (j < 48) {
            unsigned long long best = ~0ull;
            for (int k = i; k < j; k++) best = min(best, m[i][k] + m[k + 1][j] + (unsigned long long)d[i] * d[k + 1] * d[j + 1]);
            m[i][j] = best;
        }
        __syncthreads();
    }
    if (t == 0) cost[blockIdx.x] = m[0][47];
}
//! lcs_bits 30 64 | u64:1920 | u64:7680 | out u8:7680
// The longest common subsequences of 64 bits and four texts of 64 bits, by addition of words.
K lcs_bits(const uint64_t *a, const uint64_t *b, uchar4 *length)
{
    int t = blockIdx.x * 64 + threadIdx.x;
    uint64_t one = a[t];
    uint8_t n[4];
#pragma unroll
    for (int w = 0; w < 4; w++) {
        uint64_t text = b[w * gridDim.x * 64 + t], v = ~0ull;
#pragma unroll 8
        for (int i = 0; i < 64; i++, text >>= 1) {
            uint64_t u = v & (text & 1 ? one : ~one);
            v = (v + u) | (v - u);
        }
        n[w] = (uint8_t)(64 - __popcll(v));
    }
    length[t] = make_uchar4(n[0], n[1], n[2], n[3]);
}
//! bfs_levels 24 128 | u16:49152:0:512 | out u8:12288
// Breadth first from vertex 0 over graphs of 512 vertices with four edges out, a queue in shared memory, a block a graph.
K bfs_levels(const uint16_t *edge, uint8_t *level)
{
    __shared__ int dist[512];
    __shared__ uint16_t queue[512];
    __shared__ int tail;
    const uint16_t *e = edge + blockIdx.x * 2048;
    for (int i = threadIdx.x; i < 512; i += 128) dist[i] = i ? 255 : 0;
    if (threadIdx.x == 0) queue[0] = 0, tail = 1;
    __syncthreads();
    for (int begin = 0, end = 1, d = 1; begin < end; d++) {
        for (int i = begin * 4 + threadIdx.x; i < end * 4; i += 128) {
            int v = e[queue[i / 4] * 4 + i % 4];
            if (atomicCAS(&dist[v], 255, d) == 255) queue[atomicAdd(&tail, 1)] = (uint16_t)v;
        }
        __syncthreads();
        begin = end;
        end = tail;
        __syncthreads();
    }
    for (int i = threadIdx.x; i < 512; i += 128) level[blockIdx.x * 512 + i] = (uint8_t)dist[i];
}
//! union_block 16 256 | u16:16384:0:768 | out u16:12288
// Parts of a graph of 768 vertices and 512 edges: roots hang on lesser roots until every edge has one.
K union_block(const ushort2 *edge, uint16_t *root)
{
    __shared__ int parent[768];
    for (int i = threadIdx.x; i < 768; i += 256) parent[i] = i;
    auto find = [&](int v) {
        volatile int *p = parent;
        while (p[v] != v) v = p[v];
        return v;
    };
    int again;
    do {
        __syncthreads();
        again = 0;
        for (int k = 0; k < 2; k++) {
            ushort2 e = edge[(blockIdx.x * 2 + k) * 256 + threadIdx.x];
            int a = find(e.x), b = find(e.y);
            if (a != b) {
                atomicMin(&parent[max(a, b)], min(a, b));
                again = 1;
            }
        }
        again = __syncthreads_or(again);
    } while (again);
    for (int i = threadIdx.x; i < 768; i += 256) root[blockIdx.x * 768 + i] = (uint16_t)find(i);
}
//! colour_rounds 20 256 | u32:5120 | u16:30720:0:256 | out u8:5120
// Jones and Plassmann: who has the highest number among uncoloured neighbours takes the least free colour.
K colour_rounds(const unsigned *priority, const uint16_t *neighbour, uint8_t *colour)
{
    __shared__ unsigned pri[256];
    __shared__ int col[256];
    int t = threadIdx.x, mine = -1;
    pri[t] = priority[blockIdx.x * 256 + t];
    col[t] = -1;
    for (;;) {
        if (!__syncthreads_or(mine < 0)) break;
        int take = -1;
        if (mine < 0) {
            unsigned used = 0;
            bool top = true;
            for (int k = 0; k < 6; k++) {
                int v = neighbour[(blockIdx.x * 256 + t) * 6 + k], c = col[v];
                if (v == t) continue;
                if (c >= 0) used |= 1u << c;
                else if (pri[v] > pri[t] || (pri[v] == pri[t] && v > t)) top = false;
            }
            if (top) take = __ffs(~used) - 1;
        }
        __syncthreads();
        if (take >= 0) mine = col[t] = take;
    }
    colour[blockIdx.x * 256 + t] = (uint8_t)mine;
}
//! triangles_merge 16 64 | u32:24576:1:9 | out u32:1024
// Neighbours rise along a list of 24 (steps of 1 to 8, modulo 1,024 vertices' lists); common ones by merging.
K triangles_merge(const unsigned *step, unsigned *count)
{
    __shared__ uint16_t mine[64][25];
    int t = threadIdx.x, v = blockIdx.x * 64 + t;
    unsigned sum = 0, n = 0;
    for (int k = 0; k < 24; k++) mine[t][k] = (uint16_t)(sum += step[v * 24 + k]);
    for (int k = 0; k < 8; k++) {
        unsigned u = (v + mine[t][k]) & 1023, x = mine[t][k], j = 0, i = k + 1;
        unsigned y = x + step[u * 24];
        while (i < 24 && j < 24) {
            if (mine[t][i] == y) n++, i++, y += step[u * 24 + min(++j, 23u)];
            else if (mine[t][i] < y) i++;
            else y += step[u * 24 + min(++j, 23u)];
        }
    }
    count[v] = n;
}
//! queens_masks 3 32 | out u32:96 | s s32 9
// Places the queens of all rows but the first two, which the thread's number gives; a stack of masks.
K queens_masks(unsigned *ways, int n)
{
    int t = blockIdx.x * 32 + threadIdx.x, a = t / n, b = t % n, full = (1 << n) - 1, depth = 0;
    unsigned count = 0;
    int cols[12], left[12], right[12], open[12];
    if (a < n && abs(a - b) > 1) {
        cols[0] = 1 << a | 1 << b;
        left[0] = (1 << a << 2 | 1 << b << 1) & full;
        right[0] = 1 << a >> 2 | 1 << b >> 1;
        open[0] = full & ~(cols[0] | left[0] | right[0]);
        while (depth >= 0) {
            if (!open[depth]) {
                depth--;
                continue;
            }
            int q = open[depth] & -open[depth];
            open[depth] ^= q;
            if (cols[depth] + q == full) {
                count++;
                continue;
            }
            cols[depth + 1] = cols[depth] | q;
            left[depth + 1] = (left[depth] | q) << 1 & full;
            right[depth + 1] = (right[depth] | q) >> 1;
            depth++;
            open[depth] = full & ~(cols[depth] | left[depth] | right[depth]);
        }
    }
    ways[t] = count;
}
//! noughts_crosses 12 64 | u32:768 | out s32:768
// Recursion with alternating signs over the boards that four random moves leave.
static __device__ __noinline__ int outcome(int mine, int other, int depth)
{
    const int lines[8] = {7, 56, 448, 73, 146, 292, 273, 84};
    for (int k = 0; k < 8; k++)
        if ((other & lines[k]) == lines[k]) return -10 + depth;
    int open = 511 & ~(mine | other), best = -100;
    if (!open) return 0;
    for (; open; open &= open - 1) best = max(best, -outcome(other, mine | (open & -open), depth + 1));
    return best;
}
K noughts_crosses(const unsigned *random, int *value)
{
    int t = blockIdx.x * 64 + threadIdx.x, board[2] = {0, 0};
    unsigned r = random[t];
    for (int k = 0; k < 4; k++) {
        int n = r % (9 - k), b = 0;
        r /= 9 - k;
        for (int taken = board[0] | board[1];; b++)
            if (!(taken >> b & 1) && n-- == 0) break;
        board[k & 1] |= 1 << b;
    }
    value[t] = outcome(board[0], board[1], 0);
}
