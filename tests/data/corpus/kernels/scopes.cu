/* scopes.cu - atomics by scope and order, locks and queues between threads, blocks and clusters, and hints to the caches. */
#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cstdint>
namespace cg = cooperative_groups;

//! ticket_lock_blocks 40 64 | scratch u32:2 | zero u32:4 | s u32 3
// The first thread of a block draws a ticket, waits for its turn, changes plain memory and passes the turn on.
extern "C" __global__ void ticket_lock_blocks(unsigned *lock, unsigned *data, unsigned rounds)
{
    for (unsigned r = 0; r < rounds; r++) {
        if (threadIdx.x == 0) {
            unsigned mine = cuda::atomic_ref<unsigned, cuda::thread_scope_device>(lock[0]).fetch_add(1, cuda::memory_order_relaxed);
            cuda::atomic_ref<unsigned, cuda::thread_scope_device> turn(lock[1]);
            while (turn.load(cuda::memory_order_acquire) != mine) __nanosleep(40);
            data[0] += 1;
            data[1] += data[0] & 7;
            data[2] ^= data[0] * 2654435761u;
            turn.store(mine + 1, cuda::memory_order_release);
        }
        __syncthreads();
    }
}

//! orders_of_addition 24 128 | u32:3072:0:64 | zero u32:64 | zero u32:64
// One histogram by relaxed additions of the device, one by additions of the block's scope in shared memory, then added with release.
extern "C" __global__ void orders_of_addition(const unsigned *in, unsigned *a, unsigned *b)
{
    __shared__ unsigned s[64];
    if (threadIdx.x < 64) s[threadIdx.x] = 0;
    __syncthreads();
    unsigned v = in[blockIdx.x * blockDim.x + threadIdx.x], old = 0;
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(a + v), "r"(1) : "memory");
    asm volatile("atom.relaxed.cta.shared.add.u32 %0, [%1], %2;" : "=r"(old) : "r"((unsigned)__cvta_generic_to_shared(s + v)), "r"(v + 1) : "memory");
    __syncthreads();
    if (old > 100000) a[0] = old;
    if (threadIdx.x < 64) asm volatile("red.release.sys.global.add.u32 [%0], %1;" ::"l"(b + threadIdx.x), "r"(s[threadIdx.x]) : "memory");
}

//! sequence_lock 9 64 | scratch u32:8 | out u32:512
// Block 0 writes pairs under a sequence number; the others read until both values belong together.
extern "C" __global__ void sequence_lock(unsigned *cell, unsigned *out)
{
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> seq(cell[0]), lo(cell[1]), hi(cell[2]);
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0)
            for (unsigned k = 1; k <= 20; k++) {
                unsigned s = seq.load(cuda::memory_order_relaxed);
                seq.store(s + 1, cuda::memory_order_relaxed);
                cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
                lo.store(k * 3, cuda::memory_order_relaxed);
                hi.store(k * 5, cuda::memory_order_relaxed);
                seq.store(s + 2, cuda::memory_order_release);
            }
        return;
    }
    unsigned x, y, s0, s1, torn = 0;
    do {
        s0 = seq.load(cuda::memory_order_acquire);
        x = lo.load(cuda::memory_order_relaxed);
        y = hi.load(cuda::memory_order_relaxed);
        cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
        s1 = seq.load(cuda::memory_order_relaxed);
        if (s0 == s1 && !(s0 & 1) && x * 5 != y * 3) torn++;
    } while (s1 < 40);
    out[(blockIdx.x - 1) * 64 + threadIdx.x] = torn + 7;
}

//! treiber_stack 8 24 | u32:192:1:1000000 | scratch u32:192 | scratch u64:1 | zero u32:4
// A stack without locks whose head holds index and count in 64 bits; what is popped is only summed up.
extern "C" __global__ void treiber_stack(const unsigned *value, unsigned *next, unsigned long long *head, unsigned *sum)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long h = *(volatile unsigned long long *)head, seen;
    for (;;) {
        *(volatile unsigned *)(next + i) = (unsigned)h;
        __threadfence();
        seen = atomicCAS(head, h, (h & 0xffffffff00000000ull) + 0x100000000ull + i + 1);
        if (seen == h) break;
        h = seen;
    }
    __syncthreads();
    h = *(volatile unsigned long long *)head;
    while ((unsigned)h) {
        unsigned node = (unsigned)h - 1;
        unsigned n = *(volatile unsigned *)(next + node);
        seen = atomicCAS(head, h, (h & 0xffffffff00000000ull) + 0x100000000ull + n);
        if (seen == h) {
            atomicAdd(sum, value[node]);
            atomicXor(sum + 1, value[node]);
            atomicAdd(sum + 2, 1);
            break;
        }
        h = seen;
    }
}

//! vectors_added 20 128 | f32:10240:0:8 | zero s32:256 | zero f32:64
// Reductions of two and four floats at once; the floats are small whole numbers, so that the order does not matter.
extern "C" __global__ void vectors_added(const float4 *in, int *count, float *sums)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 v = in[i];
    v = make_float4(floorf(v.x), floorf(v.y), floorf(v.z), floorf(v.w));
    float *to = sums + (i * 7 & 15) * 4;
    asm volatile("red.global.v4.f32.add [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w) : "memory");
    float x, y;
    asm volatile("atom.global.v2.f32.add {%0, %1}, [%2], {%3, %4};" : "=f"(x), "=f"(y) : "l"(to), "f"(v.y), "f"(v.x) : "memory");
    atomicAdd(count + ((int)v.x * 8 + (int)v.y) % 256, x >= 0 && y >= 0);
}

//! halves_added 20 128 | f16:5120:0:4 | zero f16:32 | zero bf16:32
extern "C" __global__ void halves_added(const unsigned *in, unsigned *h, unsigned *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = in[i] & 0x40004000, one = (i & 63) < 16 ? 0x3f803f80 : 0x3f800000;
    asm volatile("red.global.add.noftz.f16x2 [%0], %1;" ::"l"(h + (i >> 3 & 15)), "r"(v) : "memory");
    if ((i & 15) < 8) asm volatile("red.global.add.noftz.bf16x2 [%0], %1;" ::"l"(b + (i >> 4 & 15)), "r"(one) : "memory");
}

//! hundred_twenty_eight_bits 6 32 | u64:384 | scratch u64:2 | zero u64:4
// Exchange of 128 bits: values travel through one cell; what was taken out and what is left is summed up, in any order.
extern "C" __global__ void hundred_twenty_eight_bits(const ulonglong2 *in, ulonglong2 *cell, unsigned long long *sum)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    ulonglong2 v = in[i], old;
    asm volatile("{.reg .b128 n, o; mov.b128 n, {%3, %4}; atom.global.exch.b128 o, [%2], n; mov.b128 {%0, %1}, o;}"
                 : "=l"(old.x), "=l"(old.y) : "l"(cell), "l"(v.x), "l"(v.y) : "memory");
    atomicAdd(sum, v.x - old.x);
    atomicAdd(sum + 1, v.y - old.y);
    atomicAdd(sum + 2, (old.x != 0) + 1);
    __threadfence();
    __shared__ bool last;
    if (threadIdx.x == 0) last = atomicAdd(sum + 3, 1) == gridDim.x - 1;
    __syncthreads();
    if (last && threadIdx.x == 0) {
        __threadfence();
        ulonglong2 left = *cell;
        sum[0] -= left.x;
        sum[1] -= left.y;
        sum[2] -= 1;
    }
}

//! hints_of_caches 64 128 | u32:32768 | u32:32768 | out u32:8192
// Loads with eviction priorities, prefetch sizes and a policy, stores that stream, a discard of nothing that is read again.
extern "C" __global__ void hints_of_caches(const unsigned *a, const unsigned *b, unsigned *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long policy;
    asm("createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %0, 0.5;" : "=l"(policy));
    unsigned x, y, z, w;
    asm volatile("ld.global.nc.L1::no_allocate.L2::128B.u32 %0, [%1];" : "=r"(x) : "l"(a + i));
    asm volatile("ld.global.L1::evict_last.u32 %0, [%1];" : "=r"(y) : "l"(b + i));
    asm volatile("ld.global.nc.L2::cache_hint.u32 %0, [%1], %2;" : "=r"(z) : "l"(a + 8192 + i), "l"(policy));
    asm volatile("prefetch.global.L2 [%0];" ::"l"(b + 16384 + i));
    asm volatile("prefetch.global.L2::evict_last [%0];" ::"l"(a + 24576 + (i & ~31)));
    asm volatile("ld.global.L2::256B.u32 %0, [%1];" : "=r"(w) : "l"(b + 16384 + i));
    unsigned r = x * 3 + y * 5 + z * 7 + w;
    asm volatile("ld.global.cv.u32 %0, [%1];" : "=r"(x) : "l"(a + 24576 + i));
    asm volatile("ld.global.lu.u32 %0, [%1];" : "=r"(y) : "l"(b + 8192 + i));
    asm volatile("st.global.L1::no_allocate.L2::cache_hint.u32 [%0], %1, %2;" ::"l"(out + i), "r"(r + x * y), "l"(policy) : "memory");
}

//! which_space 12 96 | u32:1152 | out u32:1152
// Generic addresses asked where they lead, turned back and read by the right instruction.
extern "C" __global__ void which_space(const unsigned *in, unsigned *out)
{
    __shared__ unsigned s[96];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned local[4] = {in[i], in[i] >> 8, in[i] >> 16, (unsigned)i};
    s[threadIdx.x] = in[i] * 3;
    __syncthreads();
    const unsigned *p = in[i] % 3 == 0 ? in + (i ^ 1) : in[i] % 3 == 1 ? s + (threadIdx.x ^ 2) : local + (in[i] >> 5 & 3);
    unsigned r;
    if (__isGlobal(p))
        r = __ldg(p) + 1;
    else if (__isShared(p))
        asm volatile("ld.shared.u32 %0, [%1];" : "=r"(r) : "r"((unsigned)__cvta_generic_to_shared(p)));
    else if (__isLocal(p))
        r = *p + 2;
    else
        r = 99;
    out[i] = r;
}

//! dekker_flags 1 64 | scratch u32:4 | zero u32:2 | s u32 25
// Two warps shut each other out with two flags, a turn and fences that order everything.
extern "C" __global__ void dekker_flags(unsigned *state, unsigned *count, unsigned rounds)
{
    unsigned me = threadIdx.x >> 5, other = 1 - me;
    if (threadIdx.x & 31) return;
    cuda::atomic_ref<unsigned, cuda::thread_scope_block> mine(state[me]), theirs(state[other]), turn(state[2]);
    for (unsigned r = 0; r < rounds; r++) {
        mine.store(1, cuda::memory_order_relaxed);
        turn.store(other, cuda::memory_order_relaxed);
        cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_block);
        while (theirs.load(cuda::memory_order_acquire) && turn.load(cuda::memory_order_acquire) == other) {
        }
        count[0] = count[0] * 1 + 1;
        count[1] += count[0] & 3;
        mine.store(0, cuda::memory_order_release);
    }
}

//! grid_of_generations 16 128 | inout u32:2048 | scratch u32:2 | s s32 12
// A barrier of all blocks with a sense that changes, between steps of an automaton on a ring.
extern "C" __global__ void grid_of_generations(unsigned *cells, unsigned *bar, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    unsigned v = cells[i];
    for (int s = 0; s < steps; s++) {
        unsigned l = __ldcg(cells + (i + n - 1) % n), r = __ldcg(cells + (i + 1) % n);
        v = (l ^ (v | r)) + s;
        for (int half = 0; half < 2; half++) {
            __syncthreads();
            if (threadIdx.x == 0) {
                unsigned sense = 2 * s + half;
                unsigned old;
                asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(old) : "l"(bar), "r"(gridDim.x - 1) : "memory");
                if (old == gridDim.x - 1)
                    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(bar + 1), "r"(sense + 1) : "memory");
                else {
                    unsigned now;
                    do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(bar + 1) : "memory");
                    while (now <= sense);
                }
            }
            __syncthreads();
            if (half == 0) __stcg(cells + i, v);
        }
    }
}
