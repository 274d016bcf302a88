/* rendezvous.cu - threads that meet: groups, barriers, pipelines, clusters, votes, locks, tickets, rings, look-back, and data carried about inside the chip. */
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cstdint>
#define K extern "C" __global__ void
#pragma nv_diag_suppress static_var_with_dynamic_init
namespace cg = cooperative_groups;

static __device__ __forceinline__ uint32_t smem_addr(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

//! tiles_of_sixteen_fetch_reduce_and_rank 264 128 | u32:135168 | out u32:135168 | s s32 8
K tiles_of_sixteen_fetch_reduce_and_rank(const unsigned *in, unsigned *out, int rounds)
{
    __shared__ alignas(16) unsigned room[8][64];
    auto cta = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(cta);
    unsigned which = tile.meta_group_rank(), me = tile.thread_rank();
    size_t base = (size_t(blockIdx.x) * 8 + which) * 64;
    unsigned *mine = room[which];

    cg::memcpy_async(tile, mine, in + base, sizeof(unsigned) * 64);
    cg::wait(tile);

    for (int r = 0; r < rounds; ++r) {
        unsigned v = mine[(me * 4 + 4 + r) & 63];
        unsigned total = cg::reduce(tile, v, cg::plus<unsigned>());
        unsigned low = cg::reduce(tile, v, cg::less<unsigned>());
        unsigned odd = cg::reduce(tile, v, cg::bit_xor<unsigned>());
        unsigned before = cg::exclusive_scan(tile, v & 0xffffu);
        tile.sync();
        mine[(me * 4 + r) & 63] = (v ^ (total + before)) + (low ^ (odd >> 3));
        tile.sync();
    }
    for (unsigned j = me; j < tile.size() * 4; j += tile.size()) out[base + j] = mine[j];
}

//! labelled_groups_count_themselves_off 40 96 | u32:3840 | out u32:3840 | zero u32:8 | s s32 20
K labelled_groups_count_themselves_off(const unsigned *__restrict__ seeds, unsigned *__restrict__ result, unsigned *counters, int rounds)
{
    const unsigned id = cg::this_grid().thread_rank();
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    unsigned v = seeds[id], acc = 0;
    for (int r = 0; r < rounds; r++) {
        auto same = cg::labeled_partition(warp, v % 5u);
        unsigned top = cg::reduce(same, v, cg::greater<unsigned>());
        acc += same.thread_rank() * 7 + same.size();

        bool flag = (v >> 8) & 1;
        auto side = cg::binary_partition(warp, flag);
        if (flag)
            acc ^= cg::inclusive_scan(side, v >> 20);
        else
            acc += side.shfl(v, 0);
        warp.sync();

        if ((v & 3) == 2) {
            auto here = cg::coalesced_threads();
            if (here.thread_rank() == 0) atomicAdd(counters + (r & 7), here.size());
        }
        warp.sync();
        v = v * 1664525u + top + r;
    }
    result[id] = acc ^ v;
}

//! four_slots_kept_by_barrier_objects 132 160 | u32:811008 | out u32:16896 | s s32 24
using block_barrier = cuda::barrier<cuda::thread_scope_block>;
K four_slots_kept_by_barrier_objects(const unsigned *in, unsigned *out, int chunks)
{
    constexpr int slots = 4, chunk = 256;
    __shared__ unsigned slab[slots][chunk];
    __shared__ block_barrier full[slots], empty[slots];
    if (threadIdx.x < slots) {
        init(&full[threadIdx.x], blockDim.x);
        init(&empty[threadIdx.x], blockDim.x);
    }
    __syncthreads();

    const unsigned *src = in + (size_t)blockIdx.x * chunks * chunk;
    if (threadIdx.x < 32) {                               // the producing warp
        for (int c = 0; c < chunks; c++) {
            int s = c % slots;
            uint4 a = reinterpret_cast<const uint4 *>(src + c * chunk)[threadIdx.x];
            uint4 b = reinterpret_cast<const uint4 *>(src + c * chunk)[threadIdx.x + 32];
            empty[s].arrive_and_wait();
            reinterpret_cast<uint4 *>(slab[s])[threadIdx.x] = a;
            reinterpret_cast<uint4 *>(slab[s])[threadIdx.x + 32] = b;
            (void)full[s].arrive();
        }
    } else {                                              // four warps that consume
        int t = threadIdx.x - 32;
        unsigned h = 2166136261u;
        for (int s = 0; s < slots; s++) (void)empty[s].arrive();
        for (int c = 0; c < chunks; c++) {
            int s = c % slots;
            full[s].arrive_and_wait();
            h = (h ^ slab[s][t]) * 16777619u;
            h = (h ^ slab[s][chunk - 1 - t]) * 16777619u;
            (void)empty[s].arrive();
        }
        out[blockIdx.x * 128 + t] = h;
    }
}

//! seven_taps_over_five_stages_in_flight 264 64 | f32:540672:-1:1 | f32:7:-1:1 | out f32:540672
template <int N> static __device__ __forceinline__ void wait_for_copies() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
static __device__ __forceinline__ void copy8(void *to, const void *from)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(smem_addr(to)), "l"(from) : "memory");
}
K __launch_bounds__(64) seven_taps_over_five_stages_in_flight(const float *__restrict__ x, const float *__restrict__ taps, float *__restrict__ y)
{
    enum { Chunk = 128, Chunks = 16, Stages = 5, Ahead = 3 };
    __shared__ __align__(16) float ring[Stages][Chunk];
    const int t = threadIdx.x;
    const float *src = x + blockIdx.x * (Chunk * Chunks);
    float *dst = y + blockIdx.x * (Chunk * Chunks);
    float w[7];
#pragma unroll
    for (int k = 0; k < 7; k++) w[k] = __ldg(taps + k);

    ring[Stages - 1][t] = 0.f;
    ring[Stages - 1][t + 64] = 0.f;
    for (int c = 0; c < Ahead; c++) {
        copy8(&ring[c][2 * t], src + c * Chunk + 2 * t);
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    for (int c = 0; c < Chunks; c++) {
        wait_for_copies<Ahead - 1>();
        __syncthreads();
        if (c + Ahead < Chunks) copy8(&ring[(c + Ahead) % Stages][2 * t], src + (c + Ahead) * Chunk + 2 * t);
        asm volatile("cp.async.commit_group;" ::: "memory");
        const float *now = ring[c % Stages], *past = ring[(c + Stages - 1) % Stages];
#pragma unroll
        for (int h = 0; h < 2; h++) {
            int i = t + 64 * h;
            float s = 0.f;
#pragma unroll
            for (int k = 0; k < 7; k++) s = fmaf(w[k], i >= k ? now[i - k] : past[Chunk + i - k], s);
            dst[c * Chunk + i] = s;
        }
    }
    wait_for_copies<0>();
}

//! bulk_lines_checked_and_sent_home 66 128 10240 | u32:405504 | out u32:405504 | out u32:792 | s u32 12
static __device__ __forceinline__ void wait_parity(uint64_t *bar, uint32_t parity)
{
    asm volatile("{\n\t.reg .pred done;\n"
                 "AGAIN:\n\tmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t@done bra FINISHED;\n\tbra AGAIN;\n"
                 "FINISHED:\n\t}" ::"r"(smem_addr(bar)), "r"(parity) : "memory");
}
static __device__ __forceinline__ void fetch_line(void *to, const void *from, uint32_t bytes, uint64_t *bar)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem_addr(bar)), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(smem_addr(to)), "l"(from), "r"(bytes), "r"(smem_addr(bar)) : "memory");
}
K bulk_lines_checked_and_sent_home(const uint32_t *lines, uint32_t *home, uint32_t *checks, uint32_t count)
{
    constexpr uint32_t words = 512, bytes = words * 4;
    extern __shared__ __align__(128) unsigned char dyn[];      // three lines that come, two that go
    __shared__ uint64_t bars[3];
    __shared__ uint32_t sum[2];
    auto incoming = [&](uint32_t s) { return reinterpret_cast<uint4 *>(dyn + s * bytes); };
    auto outgoing = [&](uint32_t s) { return reinterpret_cast<uint4 *>(dyn + (3 + s) * bytes); };
    const uint32_t first = blockIdx.x * count;

    if (threadIdx.x == 0) {
        for (auto &b : bars) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(smem_addr(&b)) : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        sum[0] = sum[1] = 0;
    }
    __syncthreads();
    if (threadIdx.x == 0)
        for (uint32_t s = 0; s < 3 && s < count; s++) fetch_line(incoming(s), lines + (first + s) * words, bytes, &bars[s]);

    for (uint32_t n = 0; n < count; n++) {
        uint32_t s = n % 3, parity = (n / 3) & 1;
        wait_parity(&bars[s], parity);
        uint4 v = incoming(s)[threadIdx.x];
        if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
        __syncthreads();
        uint32_t local = v.x + 3 * v.y + 5 * v.z + 7 * v.w;
        v.x = __brev(v.x), v.y ^= v.x, v.z += n, v.w = __byte_perm(v.w, v.z, 0x5140);
        outgoing(n & 1)[threadIdx.x] = v;
        local = __reduce_add_sync(~0u, local);
        if (threadIdx.x % 32 == 0) atomicAdd(&sum[n & 1], local);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (threadIdx.x == 0) {
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                         ::"l"(home + (first + n) * words), "r"(smem_addr(outgoing(n & 1))), "r"(bytes) : "memory");
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
            if (n + 3 < count) fetch_line(incoming(s), lines + (first + n + 3) * words, bytes, &bars[s]);
            checks[first + n] = sum[n & 1];
            sum[n & 1] = 0;
        }
    }
    if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

//! three_teams_hand_on_by_named_barriers 99 192 | u32:12672 | out u32:6336 | s s32 40
#define BAR_SYNC(id) asm volatile("bar.sync %0, 128;" ::"r"(id) : "memory")
#define BAR_ARRIVE(id) asm volatile("bar.arrive %0, 128;" ::"r"(id) : "memory")
K three_teams_hand_on_by_named_barriers(const unsigned *in, unsigned *out, int steps)
{
    __shared__ unsigned first_belt[2][64], second_belt[2][64];
    const int team = threadIdx.x / 64, t = threadIdx.x & 63;
    const unsigned *src = in + blockIdx.x * 128;
    // ids 1,2: first belt filled; 3,4: first belt free; 5,6: second filled; 7,8: second free
    switch (team) {
    case 0: {
        unsigned x = src[t], y = src[t + 64] | 1;
        for (int n = 0; n < steps; n++) {
            int b = n & 1;
            x = x * y + 12345u;
            if (n >= 2) BAR_SYNC(3 + b);
            first_belt[b][t] = x;
            BAR_ARRIVE(1 + b);
        }
        break;
    }
    case 1:
        for (int n = 0; n < steps; n++) {
            int b = n & 1;
            BAR_SYNC(1 + b);
            unsigned l = first_belt[b][(t + 63) & 63], r = first_belt[b][(t + 1) & 63], c = first_belt[b][t];
            if (n + 2 < steps) BAR_ARRIVE(3 + b);
            if (n >= 2) BAR_SYNC(7 + b);
            second_belt[b][63 - t] = (l & r) | (c & ~r) | (l ^ c) >> 7;
            BAR_ARRIVE(5 + b);
        }
        break;
    default: {
        unsigned total = 0;
        for (int n = 0; n < steps; n++) {
            int b = n & 1;
            BAR_SYNC(5 + b);
            total = __funnelshift_l(total, total, 5) ^ second_belt[b][t];
            total += second_belt[b][t ^ 21];
            if (n + 2 < steps) BAR_ARRIVE(7 + b);
        }
        out[blockIdx.x * 64 + t] = total;
    }
    }
}

//! four_blocks_sort_their_keys_as_one 32 512 | inout u32:32768
K __cluster_dims__(4, 1, 1) four_blocks_sort_their_keys_as_one(unsigned *keys)
{
    __shared__ unsigned s[1024];
    cg::cluster_group cl = cg::this_cluster();
    const unsigned rank = cl.block_rank(), t = threadIdx.x;
    s[t] = keys[blockIdx.x * 1024 + t];
    s[t + 512] = keys[blockIdx.x * 1024 + t + 512];
    for (unsigned k = 2; k <= 4096; k <<= 1)
        for (unsigned j = k >> 1; j > 0; j >>= 1) {
            if (j >= 1024) {
                unsigned partner = rank ^ (j >> 10);
                const unsigned *far = cl.map_shared_rank(s, partner);
                bool up = ((rank << 10) & k) == 0, keep_small = (rank < partner) == up;
                cl.sync();
                unsigned a0 = s[t], a1 = s[t + 512], b0 = far[t], b1 = far[t + 512];
                cl.sync();
                s[t] = keep_small ? min(a0, b0) : max(a0, b0);
                s[t + 512] = keep_small ? min(a1, b1) : max(a1, b1);
            } else {
                __syncthreads();
                unsigned i = 2 * t - (t & (j - 1));
                bool up = (((rank << 10) | i) & k) == 0;
                unsigned a = s[i], b = s[i + j];
                if ((a > b) == up) s[i] = b, s[i + j] = a;
            }
        }
    __syncthreads();
    keys[blockIdx.x * 1024 + t] = s[t];
    keys[blockIdx.x * 1024 + t + 512] = s[t + 512];
    cl.sync();
}

//! letters_posted_to_eight_blocks 128 128 | u32:16384 | out u32:16384 | s s32 10
K __cluster_dims__(8, 1, 1) letters_posted_to_eight_blocks(const unsigned *__restrict__ in, unsigned *__restrict__ out, const int rounds)
{
    __shared__ unsigned inbox[2][8][128];
    __shared__ alignas(8) uint64_t bells[2];                   // one for even rounds and one for odd: a fast block may be a round ahead
    auto cluster = cg::this_cluster();
    const unsigned me = cluster.block_rank(), t = threadIdx.x;
    if (t < 2) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem_addr(&bells[t])), "r"(8 * 4) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    cluster.sync();

    unsigned v = in[blockIdx.x * 128 + t];
    for (int n = 0; n < rounds; n++) {
        for (unsigned step = 0; step < 8; step++) {
            unsigned to = (me + step) & 7;
            unsigned *box = cluster.map_shared_rank(&inbox[n & 1][me][0], to);
            box[t] = v * (2 * to + 1) + n;
            __syncwarp();
            if ((t & 31) == 0)
                asm volatile("{\n\t.reg .b32 remote;\n\tmapa.shared::cluster.u32 remote, %0, %1;\n\t"
                             "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote];\n\t}" ::"r"(smem_addr(&bells[n & 1])), "r"(to) : "memory");
        }
        unsigned done = 0;
        while (!done)
            asm volatile("{\n\t.reg .pred p;\n\tmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}"
                         : "=r"(done) : "r"(smem_addr(&bells[n & 1])), "r"(n >> 1 & 1) : "memory");
        v = 0;
#pragma unroll
        for (unsigned from = 0; from < 8; from++) v = (v << 3 | v >> 29) ^ inbox[n & 1][from][(t + 16 * from) & 127];
    }
    out[blockIdx.x * 128 + t] = v;
    cluster.sync();
}

//! equal_digits_found_and_reduced_in_hardware 200 256 | s32:51200 | out s32:51200 | zero u64:4 | zero u32:3 | s s32 6
K equal_digits_found_and_reduced_in_hardware(const int *in, int *out, unsigned long long *wide, unsigned *bits, int rounds)
{
    __shared__ unsigned s_and, s_or, s_xor;
    if (threadIdx.x == 0) s_and = ~0u, s_or = 0, s_xor = 0;
    __syncthreads();
    const int gid = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    int v = in[gid], acc = 0;
    for (int r = 0; r < rounds; ++r) {
        unsigned peers = __match_any_sync(0xffffffffu, (v >> (r * 3)) & 7);
        int rank = __popc(peers & ((1u << lane) - 1));
        int most = __reduce_max_sync(peers, v), least = __reduce_min_sync(peers, v);
        unsigned sum = __reduce_add_sync(peers, (unsigned)v & 0xffff);
        int agreed;
        __match_all_sync(0xffffffffu, v >> 31, &agreed);
        unsigned big = __ballot_sync(0xffffffffu, v > 1 << 30);
        if (__any_sync(0xffffffffu, rank > 8)) acc += 1000;
        acc += rank + (most ^ least) + (int)sum + agreed + __ffs(big);
        v = __shfl_sync(0xffffffffu, v, (lane * 5 + r) & 31) + rank;
    }
    out[gid] = acc;
    unsigned a = __reduce_and_sync(~0u, (unsigned)acc | 0x0f0fu), o = __reduce_or_sync(~0u, (unsigned)acc & 0x11111111u), x = __reduce_xor_sync(~0u, (unsigned)acc);
    if (lane == 0) {
        atomicAnd(&s_and, a);
        atomicOr(&s_or, o);
        atomicXor(&s_xor, x);
        atomicMax(&wide[0], (unsigned long long)(unsigned)acc << 32 | gid);
        atomicMin((long long *)&wide[1], -(long long)x * gid);
        atomicXor(&wide[2], (unsigned long long)x * o);
        atomicAdd(&wide[3], (unsigned long long)a);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(&bits[0], s_and);
        atomicOr(&bits[1], s_or);
        atomicXor(&bits[2], s_xor);
    }
}

//! matrix_of_shorts_turned_by_ldmatrix 16,16 128 | u16:1048576 | out u16:1048576 | s s32 1024
K __launch_bounds__(128, 8) matrix_of_shorts_turned_by_ldmatrix(const uint16_t *__restrict__ src, uint16_t *__restrict__ dst, int pitch)
{
    __shared__ __align__(128) uint4 tile[64][8];
    const int row0 = blockIdx.y * 64, col0 = blockIdx.x * 64;
    for (int i = threadIdx.x; i < 512; i += 128) {
        int r = i >> 3, c = i & 7;
        tile[r][c ^ (r & 7)] = *reinterpret_cast<const uint4 *>(src + (size_t)(row0 + r) * pitch + col0 + c * 8);
    }
    __syncthreads();
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int j = 0; j < 4; j++) {
        int task = warp * 4 + j, chunk = task & 7, rows = (task >> 3) * 32;
        int r = rows + lane;
        uint32_t m[4];
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3]) : "r"(smem_addr(&tile[r][chunk ^ (r & 7)])) : "memory");
        uint16_t *to = dst + (size_t)(col0 + chunk * 8 + lane / 4) * pitch + row0 + rows + 2 * (lane & 3);
#pragma unroll
        for (int q = 0; q < 4; q++) *reinterpret_cast<uint32_t *>(to + 8 * q) = m[q];
    }
}

//! totals_kept_by_compare_and_swap 132 256 | f32:33792:-1000:1000 | u32:33792:0:1024 | inout f32:1024:-10:10 | zero u32:1024 | zero u64:1024
template <class T, class F> static __device__ __noinline__ T swap_loop(T *where, F change)
{
    T old = *(volatile T *)where, seen;
    do {
        seen = old;
        T next = change(seen);
        if (next == seen) break;
        old = atomicCAS(where, seen, next);
    } while (old != seen);
    return seen;
}
K totals_kept_by_compare_and_swap(const float *x, const unsigned *slot, float *largest, unsigned *limited, unsigned long long *products)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float f = x[i];
    unsigned s = slot[i];
    swap_loop((unsigned *)&largest[s], [f](unsigned w) { return __uint_as_float(w) < f ? __float_as_uint(f) : w; });
    unsigned add = (unsigned)(fabsf(f) * 4.f) & 1023;
    swap_loop(&limited[s], [add](unsigned w) { return min(w + add, 15000u); });
    unsigned long long factor = 2ull * s + 2ull * (unsigned)i + 3;
    swap_loop(&products[s], [factor](unsigned long long w) { return (w + 1) * factor - 1; });
}

//! halves_and_brains_counted_in_pairs 48 256 | u32:12288 | zero f16:1024 | zero bf16:1024 | zero f16:64 | zero f16:64 | zero u32:1
K halves_and_brains_counted_in_pairs(const unsigned *in, __half2 *h, __nv_bfloat162 *b, __half2 *few, __half2 *turns, unsigned *sum_of_turns)
{
    __shared__ __half2 local[32];
    const unsigned t = threadIdx.x;
    if (t < 32) local[t] = __floats2half2_rn(0.f, 0.f);
    __syncthreads();
    unsigned v = in[blockIdx.x * blockDim.x + t];
    atomicAdd(&local[v >> 27], __floats2half2_rn(float(v & 1), float(v >> 1 & 1)));
    atomicAdd(&h[v >> 2 & 511], __floats2half2_rn(float(v >> 11 & 3), -float(v >> 13 & 3)));
    atomicAdd(&b[v >> 15 & 511], __floats2bfloat162_rn(1.f, float(v & 1)));
    __syncthreads();
    if (t < 32) atomicAdd(&few[t], local[t]);
    // every slot gives out 0, 1, 2 ... so that the sum of all turns is the same in any order
    __half2 turn = atomicAdd(&turns[v >> 24 & 31], __floats2half2_rn(1.f, 0.f));
    atomicAdd(sum_of_turns, (unsigned)__low2float(turn));
}

//! tickets_for_three_sums_closed_by_the_last 150 192 | s32:259200:-100000:100000 | scratch s64:450 | scratch u64:450 | zero u32:3 | out s64:6
struct Best { long long sum; unsigned long long top; };
static __device__ Best block_best(Best b, Best *room)
{
    for (int d = 16; d; d >>= 1) {
        b.sum += __shfl_down_sync(~0u, b.sum, d);
        unsigned long long o = __shfl_down_sync(~0u, b.top, d);
        b.top = o > b.top ? o : b.top;
    }
    if (threadIdx.x % 32 == 0) room[threadIdx.x / 32] = b;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int w = 1; w < (int)blockDim.x / 32; w++) {
            b.sum += room[w].sum;
            if (room[w].top > b.top) b.top = room[w].top;
        }
    __syncthreads();
    return b;
}
K tickets_for_three_sums_closed_by_the_last(const int *data, long long *sums, unsigned long long *tops, unsigned *tickets, long long *result)
{
    __shared__ Best room[6];
    __shared__ unsigned ticket;
    const int third = 86400;
    for (int part = 0; part < 3; part++) {
        Best b = {0, 0};
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < third; i += gridDim.x * blockDim.x) {
            int v = data[part * third + i];
            unsigned long long key = (unsigned long long)(unsigned)(v + 100000) << 32 | (unsigned)i;
            b.sum += v;
            b.top = max(b.top, key);
        }
        b = block_best(b, room);
        if (threadIdx.x == 0) {
            sums[part * gridDim.x + blockIdx.x] = b.sum;
            tops[part * gridDim.x + blockIdx.x] = b.top;
            __threadfence();
            ticket = atomicInc(&tickets[part], gridDim.x - 1);
        }
        __syncthreads();
        bool last = ticket == gridDim.x - 1;
        if (last) {
            __threadfence();
            Best all = {0, 0};
            for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x) {
                all.sum += __ldcg(sums + part * gridDim.x + i);
                all.top = max(all.top, __ldcg(tops + part * gridDim.x + i));
            }
            all = block_best(all, room);
            if (threadIdx.x == 0) {
                result[part * 2] = all.sum;
                result[part * 2 + 1] = (long long)all.top;
            }
        }
        __syncthreads();
    }
}

//! sums_that_look_back_through_windows 264 256 | u32:270336:0:1000 | out u32:270336 | scratch u64:264 | scratch u32:1 | cooperative
K sums_that_look_back_through_windows(const uint4 *__restrict__ in, uint4 *__restrict__ out, unsigned long long *state, unsigned *next_tile)
{
    __shared__ unsigned s_tile, s_before, s_warp[8];
    if (threadIdx.x == 0) s_tile = atomicAdd(next_tile, 1u);
    __syncthreads();
    const unsigned tile = s_tile, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    uint4 q = in[tile * 256 + threadIdx.x];
    q.y += q.x, q.z += q.y, q.w += q.z;
    unsigned scan = q.w;
    for (unsigned d = 1; d < 32; d *= 2) {
        unsigned o = __shfl_up_sync(~0u, scan, d);
        if (lane >= d) scan += o;
    }
    if (lane == 31) s_warp[warp] = scan;
    __syncthreads();
    if (warp == 0) {
        unsigned w = lane < 8 ? s_warp[lane] : 0;
        for (unsigned d = 1; d < 8; d *= 2) {
            unsigned o = __shfl_up_sync(~0u, w, d);
            if (lane >= d) w += o;
        }
        if (lane < 8) s_warp[lane] = w;
        const unsigned total = __shfl_sync(~0u, w, 7);
        volatile unsigned long long *st = state;
        const unsigned long long partial = 1ull << 32, complete = 2ull << 32;
        if (lane == 0) st[tile] = (tile == 0 ? complete : partial) | total;
        unsigned before = 0;
        int end = (int)tile - 1;                          // lane 0 looks at the nearest
        while (end >= 0) {
            int mine = end - (int)lane;
            unsigned long long got = mine >= 0 ? 0 : complete;
            while (__any_sync(~0u, (got >> 32) == 0))
                if ((got >> 32) == 0) got = st[mine];
            unsigned finished = __ballot_sync(~0u, (got >> 32) == 2);
            unsigned stop = finished ? __ffs(finished) - 1 : 31;
            before += __reduce_add_sync(~0u, lane <= stop ? (unsigned)got : 0u);
            if (finished) break;
            end -= 32;
        }
        if (lane == 0) {
            if (tile) st[tile] = complete | (unsigned)(before + total);
            s_before = before;
        }
    }
    __syncthreads();
    unsigned base = s_before + (warp ? s_warp[warp - 1] : 0) + scan - q.w;
    q.x += base, q.y += base, q.z += base, q.w += base;
    out[tile * 256 + threadIdx.x] = q;
}

//! pointers_jump_between_barriers_of_the_grid 132 256 | u32:33792:0:33792 | u32:33792 | scratch u32:67584 | scratch u32:67584 | scratch u32:16 | out u32:33792 | out u32:33792 | s s32 12 | cooperative
static __device__ void everybody_meets(unsigned *counts, unsigned turn)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        unsigned team = blockIdx.x / 12;                  // eleven teams of twelve blocks
        if (atomicAdd(&counts[1 + team], 1) == turn * 12 - 1) {
            __threadfence();
            atomicAdd(&counts[0], 1);
        }
        while (*(volatile unsigned *)counts < turn * 11) __nanosleep(40);
        __threadfence();
    }
    __syncthreads();
}
K pointers_jump_between_barriers_of_the_grid(const unsigned *start, const unsigned *weight, unsigned *next, unsigned *best, unsigned *counts,
                                             unsigned *final_next, unsigned *final_best, int rounds)
{
    const unsigned n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned p = start[i], m = weight[i];
    int now = 0;
    for (int r = 0; r < rounds; r++) {
        next[now * n + i] = p;
        best[now * n + i] = m;
        everybody_meets(counts, r + 1);
        m = min(m, __ldcg(best + now * n + p));
        p = __ldcg(next + now * n + p);
        now ^= 1;
    }
    final_next[i] = p;
    final_best[i] = m;
}

//! rows_locked_by_the_first_lane_of_warps 80 128 | u32:10240 | zero s32:32 | inout u32:1024 | s s32 6
K rows_locked_by_the_first_lane_of_warps(const unsigned *words, int *locks, unsigned *table, int turns)
{
    const int lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    unsigned w = words[warp * 32 + lane];
    unsigned choice = __shfl_sync(~0u, w, 0);
    for (int n = 0; n < turns; n++) {
        int row = choice >> 27;
        if (lane == 0) {
            unsigned pause = 32;
            while (atomicCAS(&locks[row], 0, 1)) {
                __nanosleep(pause);
                if (pause < 512) pause *= 2;
            }
            __threadfence();
        }
        __syncwarp();
        volatile unsigned *cell = table + row * 32 + lane;
        if (lane & 1) *cell = *cell + (w >> n);
        else *cell = max(*cell, w ^ choice);
        __threadfence_system();
        __syncwarp();
        if (lane == 0) atomicExch(&locks[row], 0);
        choice = choice * 69069u + 1;
    }
}

//! ring_of_sixteen_with_head_and_tail 64 256 | u32:8192 | out u32:16384 | s s32 48
struct Ring { unsigned slot[16][32]; int head, tail; };
static __device__ __forceinline__ void wait_until(volatile int *counter, int least)
{
    if ((threadIdx.x & 31) == 0)
        while (*counter < least) {}
    __syncwarp();
    __threadfence_block();
}
K ring_of_sixteen_with_head_and_tail(const unsigned *in, unsigned *out, int items)
{
    __shared__ Ring rings[4];
    const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    Ring &ring = rings[warp & 3];
    if (threadIdx.x < 4) rings[threadIdx.x].head = rings[threadIdx.x].tail = 0;
    __syncthreads();
    unsigned x = in[blockIdx.x * 128 + (warp & 3) * 32 + lane];
    if (warp < 4) {
        for (int n = 0; n < items; n++) {
            x ^= x << 13, x ^= x >> 17, x ^= x << 5;
            wait_until(&ring.tail, n - 15);
            ring.slot[n & 15][lane] = x;
            __threadfence_block();
            __syncwarp();
            if (lane == 0) *(volatile int *)&ring.head = n + 1;
        }
    } else {
        unsigned s = x;
        for (int n = 0; n < items; n++) {
            wait_until(&ring.head, n + 1);
            s = s * 31 + ring.slot[n & 15][(lane + n) & 31];
            __threadfence_block();
            __syncwarp();
            if (lane == 0) *(volatile int *)&ring.tail = n + 1;
        }
        x = s;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

//! middle_value_found_by_counts_of_the_block 60 320 | s32:76800:-5000000:5000000 | out s32:120
K middle_value_found_by_counts_of_the_block(const int *values, int *out)
{
    int v[4];
    const int *mine = values + blockIdx.x * 1280 + threadIdx.x;
#pragma unroll
    for (int j = 0; j < 4; j++) v[j] = mine[j * 320];
    int lo = -4000000, hi = 3999999, steps = 0;
    if (!__syncthreads_and(min(min(v[0], v[1]), min(v[2], v[3])) >= lo && max(max(v[0], v[1]), max(v[2], v[3])) <= hi)) lo = -0x40000000, hi = 0x3fffffff;
    while (lo < hi) {                                       // the least x with at least 640 values not above it
        int mid = lo + (hi - lo) / 2, c = 0;
#pragma unroll
        for (int j = 0; j < 4; j++) c += __syncthreads_count(v[j] <= mid);
        if (c >= 640) hi = mid;
        else lo = mid + 1;
        steps++;
        bool between = false;
        for (int x : v) between |= x > lo && x <= hi;
        if (!__syncthreads_or(between)) hi = lo;
    }
    if (threadIdx.x == 0) {
        out[blockIdx.x * 2] = hi;
        out[blockIdx.x * 2 + 1] = steps;
    }
}

//! cells_that_wait_for_their_neighbours_only 100 128 | u32:12800 | scratch u32:400 | scratch u32:100 | out u32:12800 | s u32 40 | cooperative
K cells_that_wait_for_their_neighbours_only(const unsigned *cells, unsigned *post, unsigned *flags, unsigned *out, unsigned steps)
{
    using flag_ref = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
    __shared__ unsigned line[130];
    const unsigned t = threadIdx.x, b = blockIdx.x, left = (b + gridDim.x - 1) % gridDim.x, right = (b + 1) % gridDim.x;
    unsigned c = cells[b * 128 + t];
    for (unsigned n = 0; n < steps; n++) {
        unsigned *box = post + (n & 1) * gridDim.x * 2;
        line[t + 1] = c;
        if (t == 0) box[2 * b] = c;
        if (t == 127) box[2 * b + 1] = c;
        __syncthreads();
        if (t == 0) flag_ref(flags[b]).store(n + 1, cuda::memory_order_release);
        if (t == 32) {
            while (flag_ref(flags[left]).load(cuda::memory_order_acquire) <= n) {}
            line[0] = *(volatile unsigned *)&box[2 * left + 1];
        } else if (t == 64) {
            while (flag_ref(flags[right]).load(cuda::memory_order_acquire) <= n) {}
            line[129] = *(volatile unsigned *)&box[2 * right];
        }
        __syncthreads();
        unsigned l = line[t], r = line[t + 2];
        c = (l << 1 | r >> 31) ^ (r | c) + (l & 0x55555555u);
        __syncthreads();
    }
    out[b * 128 + t] = c;
}

//! shortest_sums_with_everything_doubled 8,8 256 | s32:32768:0:1000000 | s32:32768:0:1000000 | out s32:262144 | s s32 512 | s s32 64
K __launch_bounds__(256) shortest_sums_with_everything_doubled(const int *__restrict__ A, const int *__restrict__ B, int *__restrict__ C, int n, int depth)
{
    __shared__ __align__(16) int as[2][8][68];
    __shared__ __align__(16) int bs[2][8][64];
    const int t = threadIdx.x, tx = t % 16, ty = t / 16;
    const int ar = t / 4, ac = (t % 4) * 2, br = t / 32, bc = (t % 32) * 2;
    const int *pa = A + (blockIdx.y * 64 + ar) * depth + ac, *pb = B + br * n + blockIdx.x * 64 + bc;
    int best[4][4];
    for (auto &row : best)
        for (int &e : row) e = 0x7fffffff;

    int2 ra = *(const int2 *)pa, rb = *(const int2 *)pb;
    as[0][ac][ar] = ra.x, as[0][ac + 1][ar] = ra.y;
    *(int2 *)&bs[0][br][bc] = rb;
    __syncthreads();

    int cur = 0;
    for (int k0 = 8; k0 <= depth; k0 += 8) {
        const bool more = k0 < depth;
        if (more) {
            ra = *(const int2 *)(pa + k0);
            rb = *(const int2 *)(pb + k0 * n);
        }
        int4 fa[2], fb[2];
        fa[0] = *(const int4 *)&as[cur][0][ty * 4];
        fb[0] = *(const int4 *)&bs[cur][0][tx * 4];
#pragma unroll
        for (int k = 0; k < 8; k++) {
            if (k < 7) {
                fa[(k + 1) & 1] = *(const int4 *)&as[cur][k + 1][ty * 4];
                fb[(k + 1) & 1] = *(const int4 *)&bs[cur][k + 1][tx * 4];
            }
            const int a[4] = {fa[k & 1].x, fa[k & 1].y, fa[k & 1].z, fa[k & 1].w};
            const int b[4] = {fb[k & 1].x, fb[k & 1].y, fb[k & 1].z, fb[k & 1].w};
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) best[i][j] = min(best[i][j], a[i] + b[j]);
        }
        if (more) {
            cur ^= 1;
            as[cur][ac][ar] = ra.x, as[cur][ac + 1][ar] = ra.y;
            *(int2 *)&bs[cur][br][bc] = rb;
            __syncthreads();
        }
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
        *(int4 *)&C[(blockIdx.y * 64 + ty * 4 + i) * n + blockIdx.x * 64 + tx * 4] = make_int4(best[i][0], best[i][1], best[i][2], best[i][3]);
}

//! byte_counters_of_every_thread_alone 132 64 | u32:506880 | zero u32:64 | out u16:8448
K byte_counters_of_every_thread_alone(const uint4 *data, unsigned *bins, unsigned short *per_block)
{
    __shared__ __align__(4) unsigned char count[64 * 68];       // a row for a bin, rows of 64 with four to spare
    __shared__ unsigned short halves[2][64];
    const unsigned t = threadIdx.x;
    for (unsigned i = t; i < 64 * 17; i += 64) ((unsigned *)count)[i] = 0;
    __syncthreads();

    // neighbouring threads keep their bytes in different words
    unsigned char *mine = count + ((t & 15) * 4 + (t >> 4));
    for (unsigned k = 0; k < 15; k++) {
        uint4 q = data[(k * gridDim.x + blockIdx.x) * 64 + t];
        const unsigned w[4] = {q.x, q.y, q.z, q.w};
#pragma unroll
        for (int j = 0; j < 4; j++)
#pragma unroll
            for (int sh = 2; sh < 32; sh += 8) mine[(w[j] >> sh & 63) * 68]++;
    }
    __syncthreads();

    unsigned lo = 0, hi = 0;
    const unsigned *row = (const unsigned *)(count + t * 68);
#pragma unroll 4
    for (int i = 0; i < 16; i++) {
        unsigned w = row[i];
        lo += w & 0x00ff00ffu;
        hi += w >> 8 & 0x00ff00ffu;
    }
    halves[0][t] = (unsigned short)((lo & 0xffff) + (lo >> 16));
    halves[1][63 - t] = (unsigned short)((hi & 0xffff) + (hi >> 16));
    __syncthreads();
    const unsigned bin = t ^ 1;
    unsigned short sum = halves[0][bin] + halves[1][63 - bin];
    per_block[blockIdx.x * 64 + bin] = sum;
    atomicAdd(&bins[bin], (unsigned)sum);
}

//! machine_driven_by_tables_of_constants 160 128 | u8:655360 | out u32:20480 | out u32:20480 | s s32 32
struct Moves { unsigned char to[12][16]; };
static constexpr Moves make_moves()
{
    Moves m{};
    for (int s = 0; s < 12; s++)
        for (int c = 0; c < 16; c++) m.to[s][c] = (unsigned char)((s * 7 + c * c + (s & c)) % 12);
    return m;
}
__constant__ Moves moves = make_moves();
__constant__ unsigned short worth[12] = {3, 141, 59, 26, 535, 897, 93, 238, 46, 264, 338, 3279};
__constant__ int4 by_turn[4] = {{1, 2, 3, 5}, {8, 13, 21, 34}, {55, 89, 144, 233}, {377, 610, 987, 1597}};
K machine_driven_by_tables_of_constants(const unsigned char *text, unsigned *ends, unsigned *scores, int length)
{
    const unsigned id = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    unsigned state = id % 12, score = 0;
    for (int n = 0; n < length; n++) {
        unsigned c = text[n * all + id];
        state = moves.to[state][c & 15];
        score += worth[state] * by_turn[n & 3].x;
        state = moves.to[state][c >> 4];
        if (state == 0) score ^= by_turn[n & 3].z;
        else if (state > 8) score += by_turn[state & 3].w - by_turn[n & 3].y;
    }
    ends[id] = state;
    scores[id] = score;
}

//! tiles_turned_in_three_kinds_of_rooms 132 256 | f32:135168:-1:1 | out f32:135168 | s s32 3
K tiles_turned_in_three_kinds_of_rooms(const float4 *in, float *out, int rounds)
{
    __shared__ float plain[32][32], padded[32][33];
    __shared__ float4 swizzled[32][8];
    const int x = threadIdx.x & 31, y = threadIdx.x >> 5;
    const int r = threadIdx.x >> 3, q = threadIdx.x & 7;
    float4 v = in[blockIdx.x * 256 + threadIdx.x];
    for (int n = 0; n < rounds; n++) {
        swizzled[r][q ^ (r >> 2)] = v;
        __syncthreads();
        for (int j = y; j < 32; j += 8) plain[x][j] = reinterpret_cast<const float *>(&swizzled[j][(x >> 2) ^ (j >> 2)])[x & 3];
        __syncthreads();
        for (int j = y; j < 32; j += 8) padded[j][x] = plain[31 - j][x] * 0.5f;
        __syncthreads();
        v.x += padded[4 * q][r];
        v.y += padded[4 * q + 1][r];
        v.z -= padded[4 * q + 2][r];
        v.w -= padded[4 * q + 3][r];
    }
    __syncthreads();
    float *to = &plain[0][0];
    to[threadIdx.x] = v.x, to[threadIdx.x + 256] = v.y, to[threadIdx.x + 512] = v.z, to[threadIdx.x + 768] = v.w;
    __syncthreads();
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) out[blockIdx.x * 1024 + i] = to[(i * 5) & 1023];
}

//! pipeline_with_threads_of_two_roles 100 256 | f32:1536000:0:1 | out f32:19200 | s u32 20
K pipeline_with_threads_of_two_roles(const float *in, float *out, unsigned batches)
{
    constexpr unsigned stages = 3, batch = 768;
    __shared__ __align__(16) float room[stages][batch];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> shared_state;
    auto block = cg::this_thread_block();
    const bool producer = block.thread_rank() < 64;
    auto pipe = cuda::make_pipeline(block, &shared_state, producer ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    const float *src = in + (size_t)blockIdx.x * batches * batch;
    if (producer) {
        for (unsigned n = 0; n < batches; n++) {
            pipe.producer_acquire();
            for (unsigned i = threadIdx.x * 4; i < batch; i += 256)
                cuda::memcpy_async(&room[n % stages][i], src + n * batch + i, cuda::aligned_size_t<16>(16), pipe);
            pipe.producer_commit();
        }
        return;
    }
    const unsigned t = threadIdx.x - 64;
    float x = 0.f, y = 1.f;
    for (unsigned n = 0; n < batches; n++) {
        pipe.consumer_wait();
        const float4 a = *(const float4 *)&room[n % stages][4 * t];
        const float b = room[n % stages][batch - 1 - t * 3];
        pipe.consumer_release();
        x = x * 0.75f + a.x - a.y * b;
        y = fmaxf(y, a.z + a.w) - b * 0.125f;
    }
    out[blockIdx.x * 192 + t] = x + y;
}
