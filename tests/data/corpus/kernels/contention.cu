/* contention.cu - many threads at the same words: atomic operations of all types and scopes, votes, matches, random numbers, bits. */
#include <cuda/atomic>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cstdint>

//! atomic_kinds 132 256 | u32:33792 | zero u32:2048 | zero u64:1024
// Each of the operations of 32 and 64 bits that commute, on words a hash picks.
extern "C" __global__ void atomic_kinds(const unsigned *__restrict__ in, unsigned *__restrict__ w, unsigned long long *__restrict__ d)
{
    unsigned v = in[blockIdx.x * blockDim.x + threadIdx.x], h = v * 2654435761u >> 24;
    atomicAdd(&w[h], v & 15);
    atomicMax(&w[256 + h], v);
    atomicMin((int *)&w[512 + h], (int)v);
    atomicOr(&w[768 + h], 1u << (v & 31));
    atomicXor(&w[1024 + h], v);
    atomicAnd(&w[1280 + h], ~v);
    atomicSub(&w[1536 + h], 3u);
    atomicInc(&w[1792 + h], 0xffffffffu);
    atomicAdd(&d[h], (unsigned long long)v << 16);
    atomicMax((long long *)&d[256 + h], (long long)v - 0x80000000ll);
    atomicXor(&d[512 + h], (unsigned long long)v * v);
    atomicMin(&d[768 + h], (unsigned long long)v);
}

//! half_atomics 132 128 | u32:16896 | zero f16:512 | zero bf16:512 | zero f32:256 | zero f64:256
// Small whole numbers as halves, so that the order does not matter.
extern "C" __global__ void half_atomics(const unsigned *__restrict__ in, half2 *__restrict__ h, __nv_bfloat162 *__restrict__ b, float *__restrict__ f, double *__restrict__ d)
{
    unsigned v = in[blockIdx.x * blockDim.x + threadIdx.x], at = v >> 24;
    atomicAdd(&h[at], __floats2half2_rn(1.0f, 2.0f));
    atomicAdd(&b[at], __floats2bfloat162_rn(1.0f, 0.0f));
    atomicAdd(&f[at], (float)(v & 7));
    atomicAdd(&d[at], (double)(v & 1023));
}

//! shared_kinds 264 256 | u32:67584 | out u32:33792
// Maxima, exchanges and compare-and-swap in shared memory, a return value used.
extern "C" __global__ void shared_kinds(const unsigned *__restrict__ in, unsigned *__restrict__ out)
{
    __shared__ unsigned top[32], low[32], count[32], slots[32];
    unsigned v = in[blockIdx.x * 256 + threadIdx.x];
    if (threadIdx.x < 32) top[threadIdx.x] = 0, low[threadIdx.x] = ~0u, count[threadIdx.x] = 0, slots[threadIdx.x] = ~0u;
    __syncthreads();
    unsigned g = v & 31;
    atomicMax(&top[g], v);
    atomicMin(&low[g], v);
    unsigned place = atomicAdd(&count[g], 1u);
    unsigned old = slots[g];
    while (old > v) {
        unsigned seen = atomicCAS(&slots[g], old, v);
        if (seen == old) break;
        old = seen;
    }
    __syncthreads();
    if (place == 0) atomicXor(&top[g], count[g]);
    __syncthreads();
    if (threadIdx.x < 128) {
        unsigned l = threadIdx.x & 31, *which = threadIdx.x < 32 ? top : threadIdx.x < 64 ? low : threadIdx.x < 96 ? count : slots;
        out[blockIdx.x * 128 + threadIdx.x] = which[l];
    }
}

//! scoped_counter 264 128 | zero u32:8 | zero u32:264
// cuda::atomic_ref of three scopes, relaxed and acquire-release, a thread of each warp.
extern "C" __global__ void scoped_counter(unsigned *__restrict__ g, unsigned *__restrict__ blocks)
{
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> dev(g[0]);
    cuda::atomic_ref<unsigned, cuda::thread_scope_system> sys(g[1]);
    cuda::atomic_ref<unsigned, cuda::thread_scope_block> blk(blocks[blockIdx.x]);
    for (int k = 0; k < 4; k++) {
        if ((threadIdx.x & 31) == 0) {
            dev.fetch_add(1, cuda::std::memory_order_relaxed);
            sys.fetch_max(blockIdx.x + k, cuda::std::memory_order_acq_rel);
        }
        blk.fetch_add(k, cuda::std::memory_order_relaxed);
    }
    __syncthreads();
    if (threadIdx.x == 0 && blk.load(cuda::std::memory_order_acquire) == 6 * 128) dev.fetch_or(0x40000000u, cuda::std::memory_order_release);
}

//! match_sum 198 256 | u32:50688:0:12 | s32:50688:-100:100 | zero s32:16
// Lanes with the same key found by match_any; the sums of each key by reduce_add, one addition a key and warp.
extern "C" __global__ void match_sum(const unsigned *__restrict__ key, const int *__restrict__ value, int *__restrict__ sums)
{
    int i = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x & 31;
    unsigned k = key[i], peers = __match_any_sync(~0u, k);
    int s = __reduce_add_sync(peers, value[i]);
    if (lane == __ffs(peers) - 1) atomicAdd(&sums[k], s);
    int all;
    __match_all_sync(~0u, value[i] > -100 ? 1 : 0, &all);
    if (all && lane == 0) atomicAdd(&sums[15], 1);
}

//! vote_walk 132 128 | u32:16896 | out u32:16896
// Votes in a loop whose lanes leave at different rounds.
extern "C" __global__ void vote_walk(const unsigned *__restrict__ in, unsigned *__restrict__ out)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    unsigned v = in[i], r = 0, mask = __ballot_sync(~0u, true);
    for (int k = 0; k < 24; k++) {
        bool go = (v * (k + 1) >> 7 & 15) != 3;
        mask = __ballot_sync(mask, go);
        if (!go) break;
        if (__any_sync(mask, (v >> k & 1) && k > 20)) r++;
        if (__all_sync(mask, v & 0xffff)) r += 16;
        r += __popc(mask) << 8;
        v = v * 1664525u + __shfl_sync(mask, v, __fns(mask, 0, 1)) + k;
    }
    out[i] = r ^ v;
}

//! spin_order 66 64 | zero u32:1 | zero u32:4224 | s s32 2
// Blocks take turns by a ticket in memory, in the order of their numbers (one wave).
extern "C" __global__ void spin_order(unsigned *turn, unsigned *__restrict__ log, int rounds)
{
    for (int r = 0; r < rounds; r++) {
        unsigned mine = r * gridDim.x + blockIdx.x;
        if (threadIdx.x == 0) {
            while (*(volatile unsigned *)turn != mine) __nanosleep(20);
            __threadfence();
        }
        __syncthreads();
        log[blockIdx.x * 64 + threadIdx.x] += mine * 3 + threadIdx.x;
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) atomicExch(turn, mine + 1);
    }
}

struct Xoshiro {
    unsigned long long s[4];
    __device__ unsigned long long next()
    {
        unsigned long long r = s[1] * 5;
        r = (r << 7 | r >> 57) * 9;
        unsigned long long t = s[1] << 17;
        s[2] ^= s[0], s[3] ^= s[1], s[1] ^= s[2], s[0] ^= s[3], s[2] ^= t;
        s[3] = s[3] << 45 | s[3] >> 19;
        return r;
    }
};

//! xoshiro_normal 132 128 | u64:16896 | out f64:16896 | s s32 16
// xoshiro256**; pairs by Marsaglia's polar method, summed.
extern "C" __global__ void xoshiro_normal(const unsigned long long *__restrict__ seed, double *__restrict__ out, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    Xoshiro g = {{seed[i], seed[i] ^ 0x9e3779b97f4a7c15ull, ~seed[i], (unsigned long long)i + 1}};
    double s = 0;
    for (int k = 0; k < n; k++) {
        double u, v, r;
        do {
            u = (double)(long long)g.next() * 1.0842021724855044e-19;
            v = (double)(long long)g.next() * 1.0842021724855044e-19;
            r = u * u + v * v;
        } while (r >= 1.0 || r == 0.0);
        s += (u + v) * sqrt(-2.0 * log(r) / r);
    }
    out[i] = s;
}

//! squares_philox 264 128 | zero u32:64 | s u32 1234567 | s s32 12
// Philox of ten rounds and Widynski's squares beside each other; hits in 64 bins, by warp if all agree.
extern "C" __global__ void squares_philox(unsigned *__restrict__ bins, unsigned key, int n)
{
    unsigned i = blockIdx.x * 128 + threadIdx.x;
    for (int k = 0; k < n; k++) {
        unsigned c0 = i, c1 = k, c2 = 7, c3 = 9, k0 = key, k1 = key * 3;
#pragma unroll
        for (int r = 0; r < 10; r++) {
            unsigned h0 = __umulhi(0xD2511F53u, c0), l0 = 0xD2511F53u * c0, h1 = __umulhi(0xCD9E8D57u, c2), l1 = 0xCD9E8D57u * c2;
            c0 = h1 ^ c1 ^ k0, c1 = l1, c2 = h0 ^ c3 ^ k1, c3 = l0;
            k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
        }
        unsigned long long x = (i * 64ull + k) * 0xc58efd154ce32f6dull, y = x, z = y + 0xc58efd154ce32f6dull;
        x = x * x + y, x = x >> 32 | x << 32, x = x * x + z, x = x >> 32 | x << 32, x = x * x + y, x = x >> 32 | x << 32;
        unsigned q = (unsigned)((x * x + z) >> 32);
        atomicAdd(&bins[(c0 ^ q) >> 26], 1);
    }
}

//! bit_board 132 128 | u64:16896 | out u64:16896 | out u32:16896
// Squares that sliding pieces attack, by shifts in all eight directions, then counts of bits.
extern "C" __global__ void bit_board(const unsigned long long *__restrict__ boards, unsigned long long *__restrict__ attacks, unsigned *__restrict__ counts)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    unsigned long long own = boards[i] & boards[(i + 77) % 16896], free = ~own & ~(boards[(i + 1) % 16896] & boards[(i + 2) % 16896]), a = 0;
    const unsigned long long na = 0xfefefefefefefefeull, nh = 0x7f7f7f7f7f7f7f7full;
    const int by[8] = {8, -8, 1, -1, 9, 7, -7, -9};
#pragma unroll
    for (int d = 0; d < 8; d++) {
        unsigned long long g = own, p = free, m = d == 2 || d == 4 || d == 6 ? na : d == 3 || d == 5 || d == 7 ? nh : ~0ull;
        for (int k = 0; k < 6; k++) {
            unsigned long long s = by[d] > 0 ? g << by[d] : g >> -by[d];
            g |= p & m & s;
        }
        a |= (by[d] > 0 ? g << by[d] : g >> -by[d]) & m;
    }
    attacks[i] = a;
    counts[i] = __popcll(a & ~own) | __ffsll(a) << 8 | __clzll(a) << 16 | (unsigned)(__brevll(a) >> 56) << 24;
}

//! funnel_crypt 264 128 | u32:33792 | out u32:33792 | s u32 77
// Rotations by data, byte permutations, bit fields and dp4a in one chain.
extern "C" __global__ void funnel_crypt(const unsigned *__restrict__ in, unsigned *__restrict__ out, unsigned key)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    unsigned a = in[i], b = a ^ key, c = i;
    for (int k = 0; k < 16; k++) {
        a = __funnelshift_l(a, b, c) + __byte_perm(a, b, c & 0x7777);
        b = __funnelshift_rc(b, c, a & 63) ^ __vabsdiffu4(a, c);
        c = __dp4a(a, b, c) + __brev(a) + __usad(a, b, k);
        a ^= (31 - __clz(c)) * 0x01010101u + __vmaxs2(a, b) + __vcmpgtu4(b, c);
    }
    out[i] = a + b * 3 + c;
}

//! warp_hash 132 256 | u32:33792:0:60000 | scratch u32:131072 | zero u32:4
// Keys go into a table of open addressing by compare-and-swap; only how many were new and their sums are kept.
extern "C" __global__ void warp_hash(const unsigned *__restrict__ keys, unsigned *__restrict__ table, unsigned *__restrict__ result)
{
    unsigned key = keys[blockIdx.x * 256 + threadIdx.x] + 1, at = key * 2654435761u >> 15;
    bool fresh = false;
    for (;;) {
        unsigned old = atomicCAS(&table[at], 0u, key);
        if (old == 0) {
            fresh = true;
            break;
        }
        if (old == key) break;
        at = (at + 1) & 131071;
    }
    unsigned votes = __ballot_sync(~0u, fresh), sum = __reduce_add_sync(~0u, fresh ? key : 0u);
    if ((threadIdx.x & 31) == 0) {
        atomicAdd(&result[0], (unsigned)__popc(votes));
        atomicAdd(&result[1], sum);
    }
}

//! release_chain 120 96 | zero u32:120 | zero u32:11520
// Each block waits for the flag of the one before with acquire loads in assembler, adds, releases its own.
extern "C" __global__ void release_chain(unsigned *__restrict__ flags, unsigned *__restrict__ data)
{
    if (blockIdx.x > 0) {
        unsigned f;
        do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(f) : "l"(flags + blockIdx.x - 1) : "memory");
        while (f == 0);
    }
    unsigned before = blockIdx.x ? __ldcg(&data[(blockIdx.x - 1) * 96 + (threadIdx.x + 1) % 96]) : 1u;
    data[blockIdx.x * 96 + threadIdx.x] = before * 3 + threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(flags + blockIdx.x), "r"(1u) : "memory");
}
