/* waiting.cu - atomics, histograms, locks, barriers over the grid, votes and shuffles: threads that meet each other in places. */
#include <cooperative_groups.h>
#include <cstdint>
#define K extern "C" __global__ void
namespace cg = cooperative_groups;

//! bins_in_memory_of_few_values 264 256 | u8:270336:0:20 | zero u32:20
K bins_in_memory_of_few_values(const uint8_t *x, uint32_t *bins)
{
    for (int k = 0; k < 4; k++) atomicAdd(bins + x[(blockIdx.x * 4 + k) * 256 + threadIdx.x], 1u);
}

//! bins_in_memory_of_many_values 264 128 | u32:270336 | zero u32:65536
K bins_in_memory_of_many_values(const uint32_t *x, uint32_t *bins)
{
    for (int k = 0; k < 8; k++) atomicAdd(bins + (x[(blockIdx.x * 8 + k) * 128 + threadIdx.x] >> 16), 1u);
}

//! bins_of_a_warp_each_1024 132 256 | u32:540672 | zero u32:1024
// Eight copies of the bins in 32 KB, joined at the end.
K bins_of_a_warp_each_1024(const uint32_t *x, uint32_t *bins)
{
    __shared__ uint32_t s[8][1024];
    int t = threadIdx.x, w = t / 32;
    for (int i = t; i < 8192; i += 256) (&s[0][0])[i] = 0;
    __syncthreads();
    for (int k = 0; k < 16; k++) atomicAdd(&s[w][x[(blockIdx.x * 16 + k) * 256 + t] >> 22], 1u);
    __syncthreads();
    for (int i = t; i < 1024; i += 256) {
        uint32_t n = 0;
        for (int k = 0; k < 8; k++) n += s[k][i];
        if (n) atomicAdd(bins + i, n);
    }
}

//! nibbles_counted_in_packed_registers 264 128 | u32:135168 | zero u32:16
// Sixteen counters of a byte in four registers a thread, then shared memory.
K nibbles_counted_in_packed_registers(const uint32_t *x, uint32_t *bins)
{
    __shared__ uint32_t s[16];
    uint32_t c[4] = {0, 0, 0, 0};
    if (threadIdx.x < 16) s[threadIdx.x] = 0;
    __syncthreads();
    for (int k = 0; k < 4; k++) {
        uint32_t v = x[(blockIdx.x * 4 + k) * 128 + threadIdx.x];
        for (int j = 0; j < 8; j++, v >>= 4) {
            uint32_t one = 1u << (v & 3) * 8, q = v >> 2 & 3;
            c[0] += q == 0 ? one : 0;
            c[1] += q == 1 ? one : 0;
            c[2] += q == 2 ? one : 0;
            c[3] += q == 3 ? one : 0;
        }
    }
    for (int k = 0; k < 16; k++) {
        uint32_t n = __reduce_add_sync(~0u, c[k / 4] >> (k % 4 * 8) & 255);
        if (threadIdx.x % 32 == k) atomicAdd(s + k, n);
    }
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(bins + threadIdx.x, s[threadIdx.x]);
}

//! extremes_of_blocks_by_atomics 528 256 | s32:540672 | zero s32:64 | zero u64:64
K extremes_of_blocks_by_atomics(const int *x, int *hi, unsigned long long *sums)
{
    int i = blockIdx.x * 1024 + threadIdx.x, m = x[i];
    long long s = m;
    for (int k = 1; k < 4; k++) {
        int v = x[i + k * 256];
        m = max(m, v);
        s += v;
    }
    m = __reduce_max_sync(~0u, m);
    if (threadIdx.x % 32 == 0) atomicMax(hi + blockIdx.x % 64, m);
    atomicAdd(sums + threadIdx.x % 64, (unsigned long long)s);
}

//! neighbours_marked_by_or 264 256 | u32:67584:0:1048576 | zero u32:32768 | out u32:67584
// A bit set in a bitmap; who set it first is not told, only that it is set.
K neighbours_marked_by_or(const uint32_t *x, uint32_t *map, uint32_t *seen)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    uint32_t b = x[i];
    atomicOr(map + b / 32, 1u << b % 32);
    __threadfence();
    seen[i] = *(volatile uint32_t *)(map + b / 32) >> b % 32 & 1;
}

//! locks_of_sixty_four_accounts 66 64 | u32:4224:0:64 | zero s32:128 | scratch s32:64
// A lock of each account by compare-and-exchange; the lane that holds it changes two words.
K locks_of_sixty_four_accounts(const uint32_t *which, int *account, int *lock)
{
    int i = blockIdx.x * 64 + threadIdx.x, a = which[i];
    bool done = false;
    while (!done) {
        if (atomicCAS(lock + a, 0, 1) == 0) {
            __threadfence();
            volatile int *p = account + a * 2;
            p[0] += i % 7 + 1;
            p[1] += 1;
            __threadfence();
            atomicExch(lock + a, 0);
            done = true;
        }
    }
}

//! one_lock_a_block_in_shared 132 128 | s32:16896:-9:9 | out s32:264
K one_lock_a_block_in_shared(const int *x, int *out)
{
    __shared__ int lock, total, times;
    if (threadIdx.x == 0) lock = total = times = 0;
    __syncthreads();
    int v = x[blockIdx.x * 128 + threadIdx.x];
    for (int d = 16; d; d >>= 1) v += __shfl_xor_sync(~0u, v, d);
    if (threadIdx.x % 8 == 0) {
        bool mine = false;
        while (!mine)
            if (atomicExch(&lock, 1) == 0) {
                *(volatile int *)&total += v;
                *(volatile int *)&times += 1;
                __threadfence_block();
                atomicExch(&lock, 0);
                mine = true;
            }
    }
    __syncthreads();
    if (threadIdx.x < 2) out[blockIdx.x * 2 + threadIdx.x] = threadIdx.x ? times : total;
}

//! grid_sweeps_with_own_barrier 120 256 | f32:30720:-1:1 | zero f32:30720 | scratch u32:1 | cooperative
// Six sweeps of smoothing; a counter in memory is the barrier.
K grid_sweeps_with_own_barrier(float *a, float *b, unsigned *count)
{
    int i = blockIdx.x * 256 + threadIdx.x, n = 30720;
    float *from = a, *to = b;
    for (int s = 1; s <= 5; s++) {
        float l = __ldcg(from + (i + n - 1) % n), m = __ldcg(from + i), r = __ldcg(from + (i + 1) % n);
        __stcg(to + i, 0.3f * l + 0.4f * m + 0.3f * r);
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) {
            atomicAdd(count, 1u);
            while (*(volatile unsigned *)count < s * gridDim.x) {}
        }
        __syncthreads();
        float *o = from;
        from = to;
        to = o;
    }
}

//! ranks_by_counting_over_the_grid 132 128 | u32:16896:0:4096 | out u32:16896 | zero u32:4096 | cooperative
// Counts, prefix by the first block, then how many are smaller.
K ranks_by_counting_over_the_grid(const uint32_t *x, uint32_t *smaller, uint32_t *count)
{
    cg::grid_group g = cg::this_grid();
    __shared__ uint32_t s[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    uint32_t v = x[i];
    atomicAdd(count + v, 1u);
    g.sync();
    if (blockIdx.x == 0) {
        uint32_t sum = 0;
        for (int k = 0; k < 32; k++) sum += __ldcg(count + t * 32 + k);
        s[t] = sum;
        __syncthreads();
        for (int d = 1; d < 128; d *= 2) {
            uint32_t o = t >= d ? s[t - d] : 0;
            __syncthreads();
            s[t] += o;
            __syncthreads();
        }
        sum = s[t] - sum;
        for (int k = 0; k < 32; k++) {
            uint32_t c = __ldcg(count + t * 32 + k);
            __stcg(count + t * 32 + k, sum);
            sum += c;
        }
    }
    g.sync();
    smaller[i] = __ldcg(count + v);
}

//! last_block_adds_all 264 128 | u32:270336 | zero u32:1 | scratch u32:264 | scratch u32:1
K last_block_adds_all(const uint32_t *x, uint32_t *total, uint32_t *part, unsigned *done)
{
    __shared__ uint32_t s[4];
    __shared__ bool last;
    uint32_t v = 0;
    for (int k = 0; k < 8; k++) v += x[(blockIdx.x * 8 + k) * 128 + threadIdx.x] * 2654435761u;
    v = __reduce_add_sync(~0u, v);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x == 0) {
        __stcg(part + blockIdx.x, s[0] + s[1] + s[2] + s[3]);
        __threadfence();
        last = atomicAdd(done, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        v = 0;
        for (int i = threadIdx.x; i < 264; i += 128) v += __ldcg(part + i);
        v = __reduce_add_sync(~0u, v);
        if (threadIdx.x % 32 == 0) atomicAdd(total, v);
    }
}

//! prefix_waits_for_the_one_before 198 128 | s32:101376:-100:100 | out s32:101376 | scratch u64:198
// The sum of all blocks before comes with a flag in one word of 64 bits.
K prefix_waits_for_the_one_before(const int *x, int *y, unsigned long long *state)
{
    __shared__ int warp[4];
    __shared__ int before;
    int t = threadIdx.x, lane = t % 32, w = t / 32, base = blockIdx.x * 512 + t * 4;
    int4 v = *(const int4 *)(x + base);
    int sum = v.x + v.y + v.z + v.w, inc = sum;
    for (int d = 1; d < 32; d <<= 1) {
        int o = __shfl_up_sync(~0u, inc, d);
        if (lane >= d) inc += o;
    }
    if (lane == 31) warp[w] = inc;
    __syncthreads();
    if (t == 0) {
        int all = warp[0] + warp[1] + warp[2] + warp[3], p = 0;
        if (blockIdx.x) {
            unsigned long long s;
            do s = atomicAdd(state + blockIdx.x - 1, 0ull);
            while (!(s >> 32));
            p = (int)s;
        }
        atomicExch(state + blockIdx.x, 1ull << 32 | (unsigned)(p + all));
        before = p;
    }
    __syncthreads();
    int p = before + inc - sum;
    for (int k = 0; k < w; k++) p += warp[k];
    int4 r;
    r.x = p + v.x;
    r.y = r.x + v.y;
    r.z = r.y + v.z;
    r.w = r.z + v.w;
    *(int4 *)(y + base) = r;
}

//! ping_pong_between_neighbours 64 32 | zero u32:64 | out u32:64
// Even and odd blocks hand a counter to and fro twenty times.
K ping_pong_between_neighbours(unsigned *ball, unsigned *out)
{
    if (threadIdx.x == 0) {
        volatile unsigned *p = ball + (blockIdx.x & ~1u);
        unsigned me = blockIdx.x & 1, n = 0;
        while (n < 20) {
            unsigned v = *p;
            if ((v & 1) == me && v < 40) {
                __threadfence();
                *p = v + 1;
                n++;
            }
        }
        out[blockIdx.x] = n;
    }
}

//! votes_on_every_bit 264 256 | u32:67584 | out u32:67584
K votes_on_every_bit(const uint32_t *x, uint32_t *out)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    uint32_t v = x[i], r = 0;
#pragma unroll 4
    for (int b = 0; b < 32; b++) {
        uint32_t m = __ballot_sync(~0u, v >> b & 1);
        if (__popc(m) > 16) r |= 1u << b;
        else if (__all_sync(~0u, (v & 1u << b) == 0)) r ^= 0x55555555u;
    }
    out[i] = r ^ __brev(v);
}

//! matched_keys_add_once 264 128 | u32:135168:0:12 | zero u32:3168
// match_any, one lane of every group adds for all.
K matched_keys_add_once(const uint32_t *key, uint32_t *count)
{
    int lane = threadIdx.x % 32;
    for (int k = 0; k < 4; k++) {
        uint32_t v = key[(blockIdx.x * 4 + k) * 128 + threadIdx.x], m = __match_any_sync(~0u, v);
        if (__ffs(m) - 1 == lane) atomicAdd(count + blockIdx.x * 12 + v, (uint32_t)__popc(m));
    }
}

//! butterflies_of_doubles 264 64 | f64:67584:-1:1 | out f64:67584
// The transform of Walsh of 128 by shuffles, two registers of doubles each.
K butterflies_of_doubles(const double *x, double *y)
{
    int w = (blockIdx.x * 64 + threadIdx.x) / 32, lane = threadIdx.x % 32;
    double v[4];
    for (int k = 0; k < 4; k++) v[k] = x[w * 128 + k * 32 + lane];
    double a = v[0] + v[1], b = v[0] - v[1], c = v[2] + v[3], d = v[2] - v[3];
    v[0] = a + c, v[1] = b + d, v[2] = a - c, v[3] = b - d;
    for (int s = 1; s < 32; s <<= 1)
        for (int k = 0; k < 4; k++) {
            double o = __shfl_xor_sync(~0u, v[k], s);
            v[k] = lane & s ? o - v[k] : o + v[k];
        }
    for (int k = 0; k < 4; k++) y[w * 128 + k * 32 + lane] = v[k];
}

//! indices_from_other_lanes 396 128 | u32:50688 | out u32:50688
K indices_from_other_lanes(const uint32_t *x, uint32_t *y)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    uint32_t v = x[i], s = v;
    for (int k = 0; k < 10; k++) {
        s = __shfl_sync(~0u, s, v >> k & 31) * 5 + k;
        v ^= s;
    }
    y[i] = v;
}

//! odd_warps_wait_at_named_barriers 132 192 | f32:25344:-1:1 | out f32:25344
// Three pairs of warps, each pair with a barrier of its own, four exchanges.
K odd_warps_wait_at_named_barriers(const float *x, float *y)
{
    __shared__ float s[192];
    int t = threadIdx.x, pair = t / 64, i = blockIdx.x * 192 + t;
    float v = x[i];
    for (int k = 1; k <= 4; k++) {
        s[t] = v;
        asm volatile("bar.sync %0, 64;" ::"r"(pair + 1) : "memory");
        v = 0.5f * v + s[pair * 64 + (t * 5 + k) % 64];
        asm volatile("bar.sync %0, 64;" ::"r"(pair + 1) : "memory");
    }
    y[i] = v;
}

//! table_filled_by_linear_probing 132 128 | u32:16896:1:2000000000 | scratch u32:65536 | out u32:16896
// Open addressing; what is told is only that the key is found.
K table_filled_by_linear_probing(const uint32_t *key, uint32_t *slot, uint32_t *found)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    uint32_t k = key[i], h = k * 2654435761u >> 16;
    for (;;) {
        uint32_t old = atomicCAS(slot + h, 0u, k);
        if (old == 0 || old == k) break;
        h = h + 1 & 65535;
    }
    found[i] = *(volatile uint32_t *)(slot + h) == k;
}

//! float_sums_fixed_point_blocks 264 256 | f32:270336:-1:1 | s32:270336:0:256 | zero s64:256
// Sums in fixed point, so that the order does not matter: shared 32-bit words, then 64 bits in memory.
K float_sums_fixed_point_blocks(const float *x, const int *bin, unsigned long long *sum)
{
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 4; k++) {
        int i = (blockIdx.x * 4 + k) * 256 + t;
        atomicAdd(&s[bin[i]], __float2int_rn(x[i] * 65536.0f));
    }
    __syncthreads();
    if (s[t]) atomicAdd(sum + t, (unsigned long long)(long long)s[t]);
}

//! tickets_of_one_queue_a_warp 264 64 | scratch u32:1 | s32:528:1:40 | zero u32:528
// Warps take tasks of different length; the result belongs to the task.
K tickets_of_one_queue_a_warp(unsigned *next, const int *length, unsigned *out)
{
    int lane = threadIdx.x % 32;
    for (;;) {
        unsigned j = 0;
        if (lane == 0) j = atomicAdd(next, 1u);
        j = __shfl_sync(~0u, j, 0);
        if (j >= 528) break;
        unsigned v = j * 32 + lane;
        for (int n = length[j]; n > 0; n--) v = v * 1664525u + 1013904223u;
        v = __reduce_xor_sync(~0u, v);
        if (lane == 0) out[j] = v;
    }
}
