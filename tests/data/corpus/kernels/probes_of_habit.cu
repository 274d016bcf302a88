/* probes_of_habit.cu - small studies of the machine: launch shapes, occupancy, memory patterns, hints, banks, atomics, groups, clusters, barriers, latencies. */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>
#include <cstdint>
namespace cg = cooperative_groups;
#define K extern "C" __global__ void
#define FULL 0xffffffffu

//! four_thousand_warps_of_one_line 4000 32 | u32:128000 | out u32:4000
K four_thousand_warps_of_one_line(const unsigned *__restrict__ words, unsigned *__restrict__ ones)
{
    unsigned bits = __popc(words[blockIdx.x * 32 + threadIdx.x]);
    bits = __reduce_add_sync(FULL, bits);
    if (threadIdx.x == 0) ones[blockIdx.x] = bits;
}

//! thirty_three_threads_gather_pairs 1000 33 | u16:33000:0:16384 | f64:32768:-1:1 | out f64:33000
K thirty_three_threads_gather_pairs(const uint16_t *index, const double2 *table, double *out)
{
    __shared__ double ring[33];
    const int t = threadIdx.x, i = blockIdx.x * 33 + t;
    const double2 p = table[index[i]];
    ring[t] = p.x - p.y;
    __syncthreads();
    double v = p.x * p.y;
    for (int turn = 1; turn <= 4; ++turn) {
        int from = t + turn * 7;
        if (from >= 33) from -= 33;
        v = v * 0.75 + ring[from];
    }
    out[i] = v;
}

//! strides_from_two_up_to_thirty_three 132 256 | f32:1048576:-1:1 | out f32:33792 | s s32 12
K strides_from_two_up_to_thirty_three(const float *__restrict__ in, float *__restrict__ out, const int reps)
{
    const unsigned stride = 2 + blockIdx.x % 32;
    unsigned at = blockIdx.x * 7919u + threadIdx.x * stride;
    float sum = 0.f;
    for (int r = 0; r < reps; r++) {
        sum += in[at & 0xfffff];
        at += stride * blockDim.x;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

//! ninety_six_accumulators_in_registers 132 256 | f32:202752:-1:1 | f32:2304:-1:1 | out f32:67584 | s s32 12
// a[block][step][128], b[step][192]; a thread makes 8 by 12 outer products and keeps only their squares and the greatest.
K __launch_bounds__(256, 1) ninety_six_accumulators_in_registers(const float *__restrict__ a, const float *__restrict__ b, float2 *__restrict__ out, int steps)
{
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    float acc[8][12] = {};
    const float4 *pa = reinterpret_cast<const float4 *>(a + (size_t)blockIdx.x * steps * 128) + ty * 2;
    const float4 *pb = reinterpret_cast<const float4 *>(b) + tx * 3;
#pragma unroll 1
    for (int k = 0; k < steps; k++, pa += 32, pb += 48) {
        float ra[8], rb[12];
        *(float4 *)&ra[0] = pa[0];
        *(float4 *)&ra[4] = pa[1];
        *(float4 *)&rb[0] = pb[0];
        *(float4 *)&rb[4] = pb[1];
        *(float4 *)&rb[8] = pb[2];
#pragma unroll
        for (int i = 0; i < 8; i++)
#pragma unroll
            for (int j = 0; j < 12; j++) acc[i][j] = fmaf(ra[i], rb[j], acc[i][j]);
    }
    float squares = 0, most = acc[0][0];
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 12; j++) {
            squares += acc[i][j] * acc[i][j];
            most = fmaxf(most, acc[i][j]);
        }
    out[blockIdx.x * 256 + threadIdx.x] = make_float2(squares, most);
}

//! squeezed_until_registers_spill_with_a_tail 265 1024 | u32:271360 | out u32:271360
K __launch_bounds__(1024, 2) squeezed_until_registers_spill_with_a_tail(const unsigned *in, unsigned *out)
{
    constexpr int N = 44;
    unsigned gid = blockIdx.x * 1024 + threadIdx.x, v[N];
    v[0] = in[gid];
#pragma unroll
    for (int i = 1; i < N; i++) v[i] = v[i - 1] * 747796405u + 2891336453u;
#pragma unroll
    for (int i = 0; i < N / 2; i++) {
        unsigned lo = min(v[i], v[N - 1 - i]), hi = max(v[i], v[N - 1 - i]);
        v[i] = lo;
        v[N - 1 - i] = hi;
    }
    unsigned h = 0;
#pragma unroll
    for (int i = 0; i < N; i++) h = h * 31 + v[(i * 17) % N];
    out[gid] = h;
}

//! wandering_in_two_hundred_kilobytes 132 512 204800 | u32:67584 | out u32:67584 | s s32 24
K wandering_in_two_hundred_kilobytes(const uint32_t *__restrict__ seeds, uint32_t *__restrict__ ends, int hops)
{
    extern __shared__ uint4 quarters[];
    constexpr unsigned WORDS = 204800 / 4;
    const unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t;
    for (unsigned q = t; q < WORDS / 4; q += blockDim.x) {
        uint4 w;
        w.x = (q * 4 + 1) * 2654435761u;
        w.y = w.x ^ 0x5bd1e995u;
        w.z = w.x + 0x27d4eb2fu;
        w.w = ~w.x;
        quarters[q] = w;
    }
    __syncthreads();
    const uint32_t *words = reinterpret_cast<const uint32_t *>(quarters);
    uint32_t at = seeds[g];
    for (int h = 0; h < hops; h++) at = words[__umulhi(at, WORDS)] + at * 3;
    ends[g] = at;
}

//! four_chains_followed_at_once 8 32 | u32:1048576:0:1048576 | u32:1024:0:1048576 | out u32:1024 | s s32 120
K four_chains_followed_at_once(const unsigned *next, const uint4 *start, uint4 *stop, int steps)
{
    unsigned me = blockIdx.x * blockDim.x + threadIdx.x;
    uint4 p = start[me];
    while (steps-- > 0) {
        p.x = next[p.x];
        p.y = next[p.y];
        p.z = next[p.z];
        p.w = next[p.w];
    }
    stop[me] = p;
}

#pragma pack(push, 1)
struct Parcel {
    uint8_t kind;
    uint32_t key;
    uint16_t weight;
    int16_t dx, dy;
    int8_t level;
    uint8_t mark;
};
#pragma pack(pop)
static_assert(sizeof(Parcel) == 13, "thirteen bytes");

//! parcels_of_thirteen_bytes_read 264 128 | u8:439296 | out s32:33792 | zero u32:4
K parcels_of_thirteen_bytes_read(const Parcel *parcels, int *score, unsigned *kinds)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    Parcel p = parcels[i];
    int s = p.dx * p.dx - p.dy * p.dy + p.level * (int)p.weight;
    if (p.mark & 1)
        s ^= (int)p.key;
    else
        s += (int)(p.key >> 5);
    score[i] = s;
    atomicAdd(&kinds[p.kind & 3], p.weight);
}

__device__ __forceinline__ float4 streamed(const float4 *p)
{
    float4 v;
    asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(p));
    return v;
}

//! loads_and_stores_under_many_hints 64 256 | f32:262144:-1:1 | f32:262144:-1:1 | f32:262144:-1:1 | f32:262144:-1:1 | out f32:262144 | out f32:262144 | out f32:65536 | s s32 65536
K loads_and_stores_under_many_hints(const float4 *a, const float4 *b, const float4 *c, const float4 *d, float4 *x, float4 *y, float *z, int n)
{
    const int hop = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += hop) {
        if (i + hop < n) {
            asm volatile("prefetch.global.L2 [%0];" ::"l"(a + i + hop));
            asm volatile("prefetch.global.L1 [%0];" ::"l"(b + i + hop));
        }
        float4 p = __ldcg(a + i), q = __ldca(b + i), r = __ldcs(c + i), s = streamed(d + i);
        float again = __ldg(&c[i].w) + *(volatile const float *)&b[i].x;
        float4 u, w;
        u.x = p.x + q.x; u.y = p.y - q.y; u.z = p.z * q.z; u.w = fminf(p.w, q.w);
        w.x = r.x * s.x; w.y = fmaxf(r.y, s.y); w.z = r.z - s.z; w.w = r.w + again;
        __stcs(x + i, u);
        __stcg(y + i, w);
        __stwt(z + i, u.x * w.y + u.z);
    }
}

__constant__ uint16_t kPrimes[64] = {
    2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109, 113, 127, 131,
    137, 139, 149, 151, 157, 163, 167, 173, 179, 181, 191, 193, 197, 199, 211, 223, 227, 229, 233, 239, 241, 251, 257, 263, 269, 271, 277, 281, 283, 293, 307, 311};

//! primes_from_constants_uniform_and_scattered 133 128 | u32:17024 | out u32:17024 | out u32:17024
K primes_from_constants_uniform_and_scattered(const unsigned *in, unsigned *factors, unsigned *mixed)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = in[i], found = 0;
#pragma unroll 1
    for (int k = 0; k < 16; k++)
        if (v % kPrimes[k] == 0) found |= 1u << k;
    factors[i] = found;
    unsigned h = v;
#pragma unroll 2
    for (int k = 0; k < 20; k++) h = (h ^ (h >> 15)) * 2u * kPrimes[h & 63] + kPrimes[(threadIdx.x + k) & 63] + (h >> 7);
    mixed[i] = h;
}

template <int PITCH>
__device__ float columns_of_quads(float4 *tile, const float4 *in, int rounds)
{
    const int t = threadIdx.x, lane = t & 31, warp = t >> 5;
    tile[(t >> 3) * PITCH + (t & 7)] = in[blockIdx.x * 256 + t];
    __syncthreads();
    float sum = 0;
    for (int r = 0; r < rounds; r++) {
        float4 v = tile[lane * PITCH + ((warp + r) & 7)];
        float2 h = reinterpret_cast<float2 *>(tile)[lane * PITCH * 2 + (r & 15)];
        sum = sum * 0.5f + (v.x + v.y) * (v.z - v.w) + h.x * h.y;
    }
    return sum;
}

//! quads_by_column_padded_or_not 132 256 | f32:135168:-1:1 | out f32:33792 | s s32 24
K quads_by_column_padded_or_not(const float4 *__restrict__ in, float *__restrict__ out, int rounds)
{
    __shared__ float4 tile[32 * 10];
    float v;
    switch (blockIdx.x % 3) {
    case 0: v = columns_of_quads<8>(tile, in, rounds); break;
    case 1: v = columns_of_quads<9>(tile, in, rounds); break;
    default: v = columns_of_quads<10>(tile, in, rounds); break;
    }
    out[blockIdx.x * 256 + threadIdx.x] = v;
}

//! pairs_of_halves_added_to_few_words 32 256 | u8:8192:0:64 | u8:8192:0:8 | zero f16:128 | zero f32:8
// Whole numbers below 2048, so that the order of the sums does not matter.
K pairs_of_halves_added_to_few_words(const unsigned char *bin, const unsigned char *value, __half2 *sums, float *wide)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = value[i];
    atomicAdd(sums + bin[i], __floats2half2_rn((float)v, (float)(7 - v)));
    atomicAdd(wide + (bin[i] >> 3), (float)v);
}

__device__ float greatest_kept(float *where, float mine)
{
    int *word = (int *)where, old = *(volatile int *)word;
    while (__int_as_float(old) < mine) {
        int seen = atomicCAS(word, old, __float_as_int(mine));
        if (seen == old) break;
        old = seen;
    }
    return __int_as_float(old);
}

//! best_pairs_by_wide_compare_and_swap 66 128 | f32:8448:0:1 | u8:8448:0:8 | zero u64:8 | out f32:66
K best_pairs_by_wide_compare_and_swap(const float *score, const uint8_t *group, unsigned long long *best, float *of_block)
{
    __shared__ float top;
    if (threadIdx.x == 0) top = -1.0f;
    __syncthreads();
    const unsigned i = blockIdx.x * 128 + threadIdx.x;
    const float s = score[i];
    greatest_kept(&top, s);
    unsigned long long mine = ((unsigned long long)__float_as_uint(s) << 32) | i;
    unsigned long long *slot = best + group[i], now = *(volatile unsigned long long *)slot, was;
    while (mine > now) {
        was = now;
        now = atomicCAS(slot, was, mine);
        if (now == was) break;
    }
    __syncthreads();
    if (threadIdx.x == 0) of_block[blockIdx.x] = top;
}

//! matches_votes_and_reductions_of_warps 100 96 | u32:9600 | out u32:9600 | out u64:300
K matches_votes_and_reductions_of_warps(const uint32_t *in, uint32_t *out, unsigned long long *votes)
{
    const int lane = threadIdx.x & 31, i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t v = in[i];
    uint32_t peers = __match_any_sync(FULL, v & 7);
    int all;
    __match_all_sync(FULL, v >> 31, &all);
    int first = __ffs(peers) - 1;
    uint32_t head = __shfl_sync(FULL, v, first);
    uint32_t rank = __popc(peers & ((1u << lane) - 1));
    uint32_t sum = __reduce_add_sync(peers, v >> 8);
    uint32_t low = __reduce_min_sync(FULL, v), high = __reduce_max_sync(FULL, v ^ head);
    uint32_t flips = __reduce_xor_sync(FULL, v * 2654435761u);
    uint32_t up = __shfl_up_sync(FULL, v, 3, 16), down = __shfl_down_sync(FULL, v, 5, 8), cross = __shfl_xor_sync(FULL, v, 21);
    uint32_t odd = __ballot_sync(FULL, v & 1);
    if (__any_sync(FULL, (v & 0xff) == 0)) sum += 17;
    out[i] = (head ^ sum) + rank * 0x01000193u + (low ^ high) + (flips & up) + (down | cross) + all;
    if (lane == 0) votes[i >> 5] = (unsigned long long)odd << 32 | __brev(odd);
}

//! tiles_and_coalesced_groups_count 64 160 | s32:10240:-1000:1000 | out s32:10240 | zero s32:4
K tiles_and_coalesced_groups_count(const int *in, int *out, int *counts)
{
    auto block = cg::this_thread_block();
    auto eight = cg::tiled_partition<8>(block);
    auto pair = cg::tiled_partition<2>(eight);
    int i = block.group_index().x * block.size() + block.thread_rank();
    int v = in[i];
    int most = cg::reduce(eight, v, cg::greater<int>());
    int both = cg::reduce(pair, v, cg::plus<int>());
    int mine = eight.shfl(v, (eight.thread_rank() + eight.meta_group_rank()) & 7);
    out[i] = most * 3 + both - mine;
    if (v % 3 == 0) {
        cg::coalesced_group some = cg::coalesced_threads();
        if (some.thread_rank() == 0) atomicAdd(&counts[0], (int)some.size());
    } else {
        auto rest = cg::coalesced_threads();
        auto sort = cg::labeled_partition(rest, v & 1);
        int total = cg::reduce(sort, v, cg::plus<int>());
        if (sort.thread_rank() == 0) {
            atomicAdd(&counts[1 + (v & 1)], total);
            atomicAdd(&counts[3], (int)sort.num_threads());
        }
    }
}

//! warmth_round_a_ring_by_grid_sync 132 128 | inout f32:16896:0:1 | zero f32:16896 | s s32 6 | cooperative
K warmth_round_a_ring_by_grid_sync(float *here, float *there, int steps)
{
    cg::grid_group grid = cg::this_grid();
    const int n = (int)grid.size(), i = (int)grid.thread_rank();
    const int left = i == 0 ? n - 1 : i - 1, right = i == n - 1 ? 0 : i + 1;
    for (int s = 0; s < steps; ++s) {
        there[i] = 0.5f * here[i] + 0.25f * (here[left] + here[right]);
        grid.sync();
        float *swap = here;
        here = there;
        there = swap;
    }
}

//! four_blocks_of_a_cluster_pass_and_vote 132 128 | u32:16896 | out u32:16896 | out u32:1056
K __cluster_dims__(4) four_blocks_of_a_cluster_pass_and_vote(const unsigned *in, unsigned *out, unsigned *votes)
{
    __shared__ unsigned tile[128], bins[8];
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank(), t = threadIdx.x, i = blockIdx.x * 128 + t;
    unsigned v = in[i];
    tile[t] = v;
    if (t < 8) bins[t] = 0;
    cluster.sync();
    for (unsigned hop = 1; hop < 4; hop++) {
        const unsigned *theirs = cluster.map_shared_rank(tile, (rank + hop) & 3);
        v = v * 9 + theirs[(t + hop * 5) & 127];
    }
    unsigned *ballot_box = cluster.map_shared_rank(bins, v & 3);
    atomicAdd(&ballot_box[(v >> 2) & 7], 1u);
    cluster.sync();
    out[i] = v;
    if (t < 8) votes[blockIdx.x * 8 + t] = bins[t];
}

static __device__ __forceinline__ void wait_at(int door, int crew) { asm volatile("bar.sync %0, %1;" ::"r"(door), "r"(crew) : "memory"); }
static __device__ __forceinline__ void sign_at(int door, int crew) { asm volatile("bar.arrive %0, %1;" ::"r"(door), "r"(crew) : "memory"); }

//! bakers_and_waiters_meet_at_numbered_doors 40 128 | u32:2560 | out u32:2560 | s s32 30
K bakers_and_waiters_meet_at_numbered_doors(const unsigned *in, unsigned *out, int rounds)
{
    __shared__ unsigned tray[2][64];
    const int t = threadIdx.x & 63;
    if (threadIdx.x < 64) {
        unsigned dough = in[blockIdx.x * 64 + t];
        for (int k = 0; k < rounds; k++) {
            int b = k & 1;
            if (k >= 2) wait_at(3 + b, 128);
            dough = dough * 1103515245u + 12345u;
            tray[b][t] = dough >> 3;
            __threadfence_block();
            sign_at(1 + b, 128);
        }
    } else {
        unsigned eaten = 0;
        for (int k = 0; k < rounds; k++) {
            int b = k & 1;
            wait_at(1 + b, 128);
            eaten = eaten * 7 + (tray[b][(t * 3 + k) & 63] ^ tray[b][63 - t]);
            if (k + 2 < rounds) sign_at(3 + b, 128);
        }
        out[blockIdx.x * 64 + t] = eaten;
    }
}

//! rounds_until_no_thread_objects 64 192 | u32:12288:1:4000 | out u32:12288 | out s32:128
K rounds_until_no_thread_objects(const unsigned *in, unsigned *out, int *report)
{
    unsigned x = in[blockIdx.x * blockDim.x + threadIdx.x], most = x;
    int rounds = 0, busy = 0;
    while (__syncthreads_or(x != 1)) {
#pragma unroll
        for (int k = 0; k < 4; k++)
            if (x != 1) {
                x = (x & 1) ? 3 * x + 1 : x >> 1;
                most = max(most, x);
            }
        rounds++;
        busy += __syncthreads_count(x > 100);
        if (__syncthreads_and(x < 5)) busy += 1000;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = most;
    if (threadIdx.x == 0) {
        report[blockIdx.x * 2] = rounds;
        report[blockIdx.x * 2 + 1] = busy;
    }
}

//! baton_carried_through_forty_blocks 40 64 | inout u32:64 | scratch u32:40 | out u32:40 | cooperative
K baton_carried_through_forty_blocks(unsigned *state, unsigned *flag, unsigned *seen)
{
    const int t = threadIdx.x, b = blockIdx.x;
    if (t == 0) {
        if (b > 0) {
            volatile unsigned *before = flag + b - 1;
            unsigned ns = 20;
            while (*before == 0) {
                __nanosleep(ns);
                if (ns < 160) ns *= 2;
            }
        }
        __threadfence();
    }
    __syncthreads();
    unsigned v = __ldcg(&state[(t + 1) & 63]);
    __syncthreads();
    __stcg(&state[t], v * 5 + b);
    if (t == 0) seen[b] = v;
    __threadfence();
    __syncthreads();
    if (t == 0) atomicExch(&flag[b], 1u);
}

template <int N, class T, class F>
__device__ T side_by_side(T x, int n, F step)
{
    T v[N];
#pragma unroll
    for (int j = 0; j < N; j++) v[j] = x + T(j);
#pragma unroll 4
    for (int i = 0; i < n; i++)
#pragma unroll
        for (int j = 0; j < N; j++) v[j] = step(v[j]);
    T sum = v[0];
#pragma unroll
    for (int j = 1; j < N; j++) sum += v[j];
    return sum;
}

//! latency_of_a_dozen_kinds_in_chains 13 32 | u32:1024:0:1024 | f32:416:0.25:0.75 | out f32:416 | s s32 240 | s f32 0.5
K latency_of_a_dozen_kinds_in_chains(const unsigned *links, const float *in, float *out, int n, float c)
{
    __shared__ unsigned jumps[1024];
    for (int k = threadIdx.x; k < 1024; k += 32) jumps[k] = links[k];
    __syncwarp();
    const int i = blockIdx.x * 32 + threadIdx.x;
    const float x = in[i];
    const unsigned u = __float_as_uint(x);
    float r = 0;
    auto fused = [=](float a) { return a * c + x; };
    auto whole = [=](unsigned a) { return a * u + 1; };
    auto root = [=](float a) { return rsqrtf(a + x); };
    auto wide = [=](double a) { return a * c + x; };
    switch (blockIdx.x) {
    case 0: r = side_by_side<1>(x, n, fused); break;
    case 1: r = side_by_side<2>(x, n, fused); break;
    case 2: r = side_by_side<5>(x, n, fused); break;
    case 3: r = side_by_side<8>(x, n, fused); break;
    case 4: r = side_by_side<1>(u, n, whole); break;
    case 5: r = side_by_side<4>(u, n, whole); break;
    case 6: r = side_by_side<1>(x, n, root); break;
    case 7: r = side_by_side<4>(x, n, root); break;
    case 8: r = (float)side_by_side<1>((double)x, n, wide); break;
    case 9: r = (float)side_by_side<3>((double)x, n, wide); break;
    case 10: r = side_by_side<1>(u & 1023, n, [&](unsigned a) { return jumps[a]; }); break;
    case 11: r = side_by_side<1>(u & 1023, n, [=](unsigned a) { return links[a]; }); break;
    default: r = side_by_side<1>(u, n, [](unsigned a) { return __shfl_xor_sync(FULL, a, 9) + __popc(a); }); break;
    }
    out[i] = r;
}

#define ROAD(k) case (k): for (int s = 0; s < 1 + (k) % 3; s++) x = (x * (2 * (k) + 3)) ^ (x >> ((k) % 13 + 1)); break;
#define ROADS4(k) ROAD(k) ROAD((k) + 1) ROAD((k) + 2) ROAD((k) + 3)
//! roads_parting_at_every_degree 132 64 | u32:8448 | out u32:8448 | s s32 3
K roads_parting_at_every_degree(const unsigned *in, unsigned *out, int rounds)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = in[i], lane = threadIdx.x % 32;
    for (int r = 0; r < rounds; r++)
        for (unsigned ways = 1; ways <= 32; ways *= 2) {
            switch ((lane * 5 + r) & (ways - 1)) {
                ROADS4(0) ROADS4(4) ROADS4(8) ROADS4(12) ROADS4(16) ROADS4(20) ROADS4(24) ROADS4(28)
            }
            __syncwarp();
        }
    out[i] = x;
}

//! body_of_a_thousand_steps_written_out 32 64 | u32:4096 | out u32:2048 | s s32 3
K body_of_a_thousand_steps_written_out(const uint2 *in, unsigned *out, int laps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned a = in[i].x, b = in[i].y;
#pragma unroll 1
    for (int lap = 0; lap < laps; lap++) {
#pragma unroll
        for (int k = 0; k < 1000; k++) {
            a = (a ^ (k * 40503u + 77u)) * 5u + __funnelshift_l(b, b, k % 31 + 1);
            b += a ^ (unsigned)(k * k);
        }
    }
    out[i] = a - b;
}

struct Lagged {
    unsigned state[55];
    int at;
};
__device__ __noinline__ unsigned draw(Lagged *g)
{
    int j = g->at - 24;
    if (j < 0) j += 55;
    unsigned v = g->state[g->at] += g->state[j];
    if (++g->at == 55) g->at = 0;
    return v;
}

//! lagged_numbers_from_local_memory 66 64 | u32:4224 | out u32:4224 | out s32:4224 | s s32 120
K lagged_numbers_from_local_memory(const unsigned *seed, unsigned *last, int *tally, int draws)
{
    Lagged g;
    unsigned i = threadIdx.x + blockIdx.x * blockDim.x, s = seed[i];
    for (int k = 0; k < 55; k++) {
        s = s * 1664525u + 1013904223u;
        g.state[k] = s ^ (s >> 13);
    }
    g.at = i % 55;
    int count[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    unsigned v = 0;
    for (int d = 0; d < draws; d++) {
        v = draw(&g);
        count[v >> 29]++;
    }
    last[i] = v;
    int t = 0;
    for (int k = 0; k < 8; k++) t = t * 5 + count[k];
    tally[i] = t;
}

//! workers_draw_jobs_of_unequal_length 132 128 | u8:700:1:40 | u32:89600 | scratch s32:1 | out u32:700 | s s32 700
K workers_draw_jobs_of_unequal_length(const uint8_t *length, const unsigned *grain, int *ticket, unsigned *done, int jobs)
{
    __shared__ int job;
    __shared__ unsigned heap;
    for (;;) {
        if (threadIdx.x == 0) {
            job = atomicAdd(ticket, 1);
            heap = 0;
        }
        __syncthreads();
        const int j = job;
        if (j >= jobs) return;
        unsigned v = grain[j * 128 + threadIdx.x];
        for (int k = length[j]; k > 0; k--) v = (v << 5 | v >> 27) * 0xcc9e2d51u + k;
        v = __reduce_xor_sync(FULL, v);
        if (threadIdx.x % 32 == 0) atomicXor(&heap, v + threadIdx.x);
        __syncthreads();
        if (threadIdx.x == 0) done[j] = heap;
    }
}

//! bytes_moved_between_odd_addresses 64 256 | u8:1048640 | out u8:1048640 | s u32 3 | s u32 1 | s u32 1048600
K bytes_moved_between_odd_addresses(const unsigned char *source, unsigned char *target, unsigned skip_in, unsigned skip_out, unsigned n)
{
    const unsigned char *from = source + skip_in;
    unsigned char *to = target + skip_out;
    const unsigned id = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    const unsigned head = (16 - (unsigned)((uintptr_t)to & 15)) & 15, quads = (n - head) / 16, tail = head + quads * 16;
    if (id < head) to[id] = from[id];
    const uintptr_t begin = (uintptr_t)(from + head);
    const unsigned turn = (unsigned)(begin & 3) * 8;
    const unsigned *words = (const unsigned *)(begin & ~(uintptr_t)3);
    uint4 *wide = (uint4 *)(to + head);
    for (unsigned q = id; q < quads; q += threads) {
        const unsigned *w = words + 4 * q;
        unsigned w0 = w[0], w1 = w[1], w2 = w[2], w3 = w[3], w4 = w[4];
        wide[q] = make_uint4(__funnelshift_r(w0, w1, turn), __funnelshift_r(w1, w2, turn), __funnelshift_r(w2, w3, turn), __funnelshift_r(w3, w4, turn));
    }
    for (unsigned k = tail + id; k < n; k += threads) to[k] = from[k];
}
