/* worlds.cu - simulations, trees, graphs and queues: what grows, moves or waits for others. */
#include <cuda/atomic>
#include <cstdint>
#define K extern "C" __global__ void

//! queue_of_persistent_blocks 20 64 | s32:600:1:60 | zero s32:1 | out s32:600 | s s32 600
// As many blocks as there are, each taking the next job until none is left.
K queue_of_persistent_blocks(const int *work, int *next, int *result, int jobs)
{
    __shared__ int job;
    for (;;) {
        if (threadIdx.x == 0) job = atomicAdd(next, 1);
        __syncthreads();
        int j = job;
        __syncthreads();
        if (j >= jobs) return;
        int n = work[j], s = 0;
        for (int k = threadIdx.x; k < n * 8; k += 64) s += k * k % 7;
        s = __reduce_add_sync(~0u, s);
        if (threadIdx.x % 32 == 0) atomicAdd(result + j, s);
    }
}

//! producer_consumer_ring 1 128 | s32:2048:-50:50 | out s32:96
// One warp fills a ring in shared memory, three empty it; named barriers between them.
K producer_consumer_ring(const int *in, int *out)
{
    __shared__ int ring[2][96];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, sum = 0;
    for (int k = 0; k < 20; k++) {
        int s = k & 1;
        if (warp == 0) {
            if (k >= 2) asm volatile("bar.sync %0, 128;" ::"r"(3 + s) : "memory");
            for (int q = 0; q < 3; q++) ring[s][q * 32 + lane] = in[k * 96 + q * 32 + lane] * 3;
            asm volatile("bar.arrive %0, 128;" ::"r"(1 + s) : "memory");
        } else {
            asm volatile("bar.sync %0, 128;" ::"r"(1 + s) : "memory");
            sum += ring[s][(warp - 1) * 32 + (lane ^ k)  % 32];
            if (k < 18) asm volatile("bar.arrive %0, 128;" ::"r"(3 + s) : "memory");
        }
    }
    if (warp) out[threadIdx.x - 32] = sum;
}

//! quick_find_kth 16 64 | u32:8192:0:100000 | out u32:16 | s s32 200
// The k-th smallest of 512 by its bits from the top.
K quick_find_kth(const uint32_t *x, uint32_t *kth, int k)
{
    __shared__ int total;
    uint32_t v[8], value = 0;
    for (int q = 0; q < 8; q++) v[q] = x[blockIdx.x * 512 + q * 64 + threadIdx.x];
    for (int bit = 16; bit >= 0; bit--) {
        int n = 0;
        for (int q = 0; q < 8; q++) n += (v[q] >> (bit + 1)) == (value >> (bit + 1)) && !(v[q] >> bit & 1);
        n = __reduce_add_sync(~0u, n);
        if (threadIdx.x == 0) total = 0;
        __syncthreads();
        if (threadIdx.x % 32 == 0) atomicAdd(&total, n);
        __syncthreads();
        int below = total;
        __syncthreads();
        if (k >= below) {
            k -= below;
            value |= 1u << bit;
        }
    }
    if (threadIdx.x == 0) kth[blockIdx.x] = value;
}

//! tree_built_by_insertion 4 64 | u32:1024 | out s32:1024 | out s32:1024 | out u32:256
// Binary search trees in memory: a thread a tree of four, then searched.
K tree_built_by_insertion(const uint32_t *key, int *left, int *right, uint32_t *found)
{
    int t = blockIdx.x * 64 + threadIdx.x, base = t * 4;
    for (int k = 0; k < 4; k++) left[base + k] = right[base + k] = -1;
    for (int k = 1; k < 4; k++) {
        int at = 0;
        for (;;) {
            int *next = key[base + k] < key[base + at] ? left + base + at : right + base + at;
            if (*next < 0) {
                *next = k;
                break;
            }
            at = *next;
        }
    }
    uint32_t want = key[base + t % 4], steps = 0;
    for (int at = 0; at >= 0 && key[base + at] != want; steps++) at = want < key[base + at] ? left[base + at] : right[base + at];
    found[t] = steps;
}

//! ants_on_a_torus 2 64 | s32:8192:0:4 | out u8:8192 | out s32:128
// Langton's ants, each on a board of its own in local memory.
K ants_on_a_torus(const int *start, uint8_t *board, int *black)
{
    uint64_t rows[8];
    int t = blockIdx.x * 64 + threadIdx.x, x = start[t] + 3, y = start[t + 128] + 2, d = start[t + 256], n = 0;
    for (int k = 0; k < 8; k++) rows[k] = 0;
    for (int s = 0; s < 120; s++) {
        uint64_t bit = 1ull << x;
        d = rows[y] & bit ? d + 3 : d + 1;
        rows[y] ^= bit;
        d &= 3;
        x = (x + (d == 1) - (d == 3)) & 7;
        y = (y + (d == 2) - (d == 0)) & 7;
    }
    for (int k = 0; k < 8; k++) {
        n += __popcll(rows[k]);
        board[t * 64 + k] = (uint8_t)rows[k];
    }
    black[t] = n;
}

//! sandpile_topples 3 256 | s32:768:0:12 | out s32:768 | out s32:3
K sandpile_topples(const int *in, int *out, int *rounds)
{
    __shared__ int a[256];
    int t = threadIdx.x, x = t % 16, y = t / 16, n = 0, v = in[blockIdx.x * 256 + t];
    a[t] = v;
    __syncthreads();
    for (;;) {
        int s = a[t] & 3;
        s += x > 0 ? a[t - 1] >> 2 : 0;
        s += x < 15 ? a[t + 1] >> 2 : 0;
        s += y > 0 ? a[t - 16] >> 2 : 0;
        s += y < 15 ? a[t + 16] >> 2 : 0;
        int again = __syncthreads_or(a[t] > 3);
        a[t] = s;
        __syncthreads();
        if (!again) break;
        n++;
    }
    out[blockIdx.x * 256 + t] = a[t];
    if (t == 0) rounds[blockIdx.x] = n;
}

//! rigid_chain_solved 7 96 | f32:13440:-1:1 | out f32:13440
// Position-based rods: twelve passes over five points a thread.
K rigid_chain_solved(const float *in, float *out)
{
    int t = blockIdx.x * 96 + threadIdx.x;
    float px[5], py[5], pz[5];
#pragma unroll
    for (int k = 0; k < 5; k++) {
        px[k] = in[(k * 4) * 672 + t] + k;
        py[k] = in[(k * 4 + 1) * 672 + t];
        pz[k] = in[(k * 4 + 2) * 672 + t] - 0.01f * k;
    }
#pragma unroll 1
    for (int r = 0; r < 12; r++)
#pragma unroll
        for (int k = 0; k < 4; k++) {
            float dx = px[k + 1] - px[k], dy = py[k + 1] - py[k], dz = pz[k + 1] - pz[k];
            float l = sqrtf(dx * dx + dy * dy + dz * dz), c = (l - 1.0f) / l * (k ? 0.5f : 1.0f);
            if (k) {
                px[k] += c * dx;
                py[k] += c * dy;
                pz[k] += c * dz;
            }
            px[k + 1] -= c * dx;
            py[k + 1] -= c * dy;
            pz[k + 1] -= c * dz;
        }
#pragma unroll
    for (int k = 0; k < 5; k++) {
        out[(k * 4) * 672 + t] = px[k];
        out[(k * 4 + 1) * 672 + t] = py[k];
        out[(k * 4 + 2) * 672 + t] = pz[k];
    }
}

//! components_by_min_label 1 256 | s32:600:0:256 | s32:600:0:256 | out s32:256 | out s32:1
K components_by_min_label(const int *from, const int *to, int *label, int *rounds)
{
    __shared__ int l[256];
    __shared__ int changed;
    int n = 0;
    l[threadIdx.x] = threadIdx.x;
    do {
        __syncthreads();
        changed = 0;
        __syncthreads();
        for (int e = threadIdx.x; e < 600; e += 256) {
            int a = l[from[e]], b = l[to[e]];
            if (a != b) {
                atomicMin(&l[max(a, b)], min(a, b));
                atomicMin(&l[a > b ? from[e] : to[e]], min(a, b));
                changed = 1;
            }
        }
        __syncthreads();
        n++;
    } while (changed && n < 64);
    __syncthreads();
    label[threadIdx.x] = l[threadIdx.x];
    if (threadIdx.x == 0) rounds[0] = n < 64;
}

//! triads_by_sorted_lists 12 64 | s32:6144:0:16 | out s32:768
K triads_by_sorted_lists(const int *gap, int *common)
{
    int t = blockIdx.x * 64 + threadIdx.x, a = 0, b = 0, i = 0, j = 0, n = 0;
    const int *p = gap + t * 8, *q = gap + (t * 5 + 8) % 760 * 8;
    a = p[0];
    b = q[0];
    while (i < 8 && j < 8) {
        if (a == b) {
            n++;
            if (++i < 8) a += p[i] + 1;
            if (++j < 8) b += q[j] + 1;
        } else if (a < b) {
            if (++i < 8) a += p[i] + 1;
        } else if (++j < 8) b += q[j] + 1;
    }
    common[t] = n;
}

struct Shape {
    int kind;
    float a, b, c;
};

//! distances_to_a_scene 16,8 16,8 | s32:64:0:3 | f32:256:-1:1 | out f32:16384 | s s32 16
// Sphere tracing of a scene of tagged shapes held in shared memory.
K distances_to_a_scene(const int *kind, const float *p, float *depth, int n)
{
    __shared__ Shape scene[16];
    int t = threadIdx.y * 16 + threadIdx.x;
    if (t < n) scene[t] = {kind[t], p[t * 3], p[t * 3 + 1], p[t * 3 + 2]};
    __syncthreads();
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    float u = (x - 128) / 128.0f, v = (y - 32) / 32.0f, z = -2.0f;
    for (int s = 0; s < 12; s++) {
        float d = 10.0f;
        for (int k = 0; k < n; k++) {
            Shape q = scene[k];
            float dx = u - q.a, dy = v - q.b, dz = z - q.c, e;
            switch (q.kind) {
            case 0: e = sqrtf(dx * dx + dy * dy + dz * dz) - 0.3f; break;
            case 1: e = fmaxf(fmaxf(fabsf(dx), fabsf(dy)), fabsf(dz)) - 0.2f; break;
            default: e = fabsf(dz) + 0.5f * fabsf(dx); break;
            }
            d = fminf(d, e);
        }
        if (d < 0.01f) break;
        z += d;
    }
    depth[y * 256 + x] = z;
}

//! events_in_a_heap 3 32 | f32:2304:0.1:2 | out f32:96 | out s32:96
// A simulation of eight servers a thread driven by the earliest event.
K events_in_a_heap(const float *service, float *clock, int *served)
{
    int t = blockIdx.x * 32 + threadIdx.x, n = 0, id[8];
    float due[8], now = 0;
    for (int k = 0; k < 8; k++) {
        due[k] = service[k * 96 + t];
        id[k] = k;
    }
    for (int k = 3; k >= 0; k--)
        for (int at = k; 2 * at + 1 < 8;) {
            int c = 2 * at + 1;
            if (c + 1 < 8 && due[c + 1] < due[c]) c++;
            if (due[at] <= due[c]) break;
            float d = due[at];
            int i = id[at];
            due[at] = due[c];
            id[at] = id[c];
            due[c] = d;
            id[c] = i;
            at = c;
        }
    for (int e = 0; e < 24; e++) {
        now = due[0];
        n += id[0] + 1;
        float d = now + service[e % 24 * 96 + (t + id[0]) % 96];
        int i = id[0], at = 0;
        while (2 * at + 1 < 8) {
            int c = 2 * at + 1;
            if (c + 1 < 8 && due[c + 1] < due[c]) c++;
            if (d <= due[c]) break;
            due[at] = due[c];
            id[at] = id[c];
            at = c;
        }
        due[at] = d;
        id[at] = i;
    }
    clock[t] = now;
    served[t] = n;
}

//! reservoir_of_lattice_gas 6,6 8,8 | u8:2304 | out u8:2304
K reservoir_of_lattice_gas(const uint8_t *in, uint8_t *out)
{
    __shared__ uint8_t cell[10][10];
    int x0 = blockIdx.x * 8, y0 = blockIdx.y * 8, t = threadIdx.y * 8 + threadIdx.x;
    for (int k = t; k < 100; k += 64) cell[k / 10][k % 10] = in[(y0 + k / 10 + 47) % 48 * 48 + (x0 + k % 10 + 47) % 48];
    __syncthreads();
    int x = threadIdx.x + 1, y = threadIdx.y + 1;
    unsigned v = (cell[y][x - 1] & 1) | (cell[y][x + 1] & 2) | (cell[y - 1][x] & 4) | (cell[y + 1][x] & 8) | (cell[y][x] & 0x30);
    if ((v & 15) == 3) v ^= 15;
    else if ((v & 15) == 12) v ^= 15;
    if (v & 0x10) v = (v & 0x30) | (v >> 1 & 5) | (v << 1 & 10);
    out[(y0 + threadIdx.y) * 48 + x0 + threadIdx.x] = (uint8_t)v;
}
