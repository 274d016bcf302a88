/* synchronised.cu - barriers, pipelines, atomic references and semaphores of the C++ library, in kernels that need them. */
#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/semaphore>
#include <cuda/latch>
#include <cuda/std/array>
#include <cuda/std/complex>
#include <cuda/std/bit>
#include <cuda/std/tuple>
#include <cstdint>
#define K extern "C" __global__ void
namespace cg = cooperative_groups;

//! weights_of_letters 20 128 | u8:20480 | zero u32:256 | s s32 20480
K weights_of_letters(const uint8_t *text, unsigned *bins, int n)
{
    __shared__ unsigned local[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x) local[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        cuda::atomic_ref<unsigned, cuda::thread_scope_block> bin(local[text[i]]);
        bin.fetch_add(1, cuda::memory_order_relaxed);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x) {
        cuda::atomic_ref<unsigned, cuda::thread_scope_device> bin(bins[b]);
        if (local[b]) bin.fetch_add(local[b], cuda::memory_order_relaxed);
    }
}

//! extremes_by_references 18 96 | f32:6912:-1000:1000 | zero f32:1 | zero f32:1 | zero u64:1 | s s32 6912
K extremes_by_references(const float *x, float *lo, float *hi, unsigned long long *packed, int n)
{
    float a = 0.0f, b = 0.0f;
    unsigned long long at = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float v = x[i];
        a = fminf(a, v);
        b = fmaxf(b, v);
        unsigned long long key = (unsigned long long)__float_as_uint(fabsf(v)) << 32 | (unsigned)i;
        at = key > at ? key : at;
    }
    cuda::atomic_ref<float, cuda::thread_scope_device>(*lo).fetch_min(a);
    cuda::atomic_ref<float, cuda::thread_scope_device>(*hi).fetch_max(b);
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_device>(*packed).fetch_max(at, cuda::std::memory_order_relaxed);
}

//! loads_ahead_by_barrier 12 128 | f32:24576:-1:1 | out f32:1536
// memcpy_async of a barrier, two buffers.
K loads_ahead_by_barrier(const float *x, float *sums)
{
    __shared__ float buffer[2][256];
    __shared__ cuda::barrier<cuda::thread_scope_block> ready[2];
    auto block = cg::this_thread_block();
    if (block.thread_rank() == 0) {
        init(&ready[0], block.size());
        init(&ready[1], block.size());
    }
    block.sync();
    const float *row = x + blockIdx.x * 2048;
    cuda::memcpy_async(block, buffer[0], row, sizeof buffer[0], ready[0]);
    float s = 0.0f;
    for (int k = 0; k < 8; k++) {
        if (k + 1 < 8) cuda::memcpy_async(block, buffer[(k + 1) & 1], row + (k + 1) * 256, sizeof buffer[0], ready[(k + 1) & 1]);
        ready[k & 1].arrive_and_wait();
        s += buffer[k & 1][threadIdx.x] * buffer[k & 1][255 - threadIdx.x];
        block.sync();
    }
    sums[blockIdx.x * 128 + threadIdx.x] = s;
}

//! pipeline_of_a_thread 15 64 | f32:15360:0:1 | f32:15360:0:1 | out f32:960
// Each thread has a pipeline of its own, three steps deep.
K pipeline_of_a_thread(const float *a, const float *b, float *dot)
{
    __shared__ float4 stage[3][2][64];
    auto pipe = cuda::make_pipeline();
    const float4 *pa = (const float4 *)a + blockIdx.x * 256, *pb = (const float4 *)b + blockIdx.x * 256;
    int t = threadIdx.x, fetched = 0;
    float4 s = make_float4(0, 0, 0, 0);
    for (int k = 0; k < 4; k++) {
        for (; fetched < 4 && fetched < k + 3; fetched++) {
            pipe.producer_acquire();
            cuda::memcpy_async(&stage[fetched % 3][0][t], pa + fetched * 64 + t, cuda::aligned_size_t<16>(16), pipe);
            cuda::memcpy_async(&stage[fetched % 3][1][t], pb + fetched * 64 + t, cuda::aligned_size_t<16>(16), pipe);
            pipe.producer_commit();
        }
        cuda::pipeline_consumer_wait_prior<0>(pipe);
        float4 u = stage[k % 3][0][t], v = stage[k % 3][1][t];
        s.x += u.x * v.x;
        s.y += u.y * v.y;
        s.z += u.z * v.z;
        s.w += u.w * v.w;
        pipe.consumer_release();
    }
    dot[blockIdx.x * 64 + t] = s.x + s.y + s.z + s.w;
}

//! halves_of_block_as_pipeline 10 128 | s32:20480:-1000:1000 | out s32:1280
// One half of the block fetches, the other works on what has come.
K halves_of_block_as_pipeline(const int *in, int *out)
{
    constexpr int stages = 2;
    __shared__ int buffer[stages][256];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    auto block = cg::this_thread_block();
    auto role = threadIdx.x < 64 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipe = cuda::make_pipeline(block, &state, role);
    const int *mine = in + blockIdx.x * 2048;
    if (role == cuda::pipeline_role::producer) {
        for (int k = 0; k < 8; k++) {
            pipe.producer_acquire();
            for (int q = 0; q < 4; q++)
                cuda::memcpy_async(&buffer[k % stages][q * 64 + threadIdx.x], mine + k * 256 + q * 64 + threadIdx.x, sizeof(int), pipe);
            pipe.producer_commit();
        }
    } else {
        int t = threadIdx.x - 64, s0 = 0, s1 = 0;
        for (int k = 0; k < 8; k++) {
            pipe.consumer_wait();
            s0 += buffer[k % stages][t] ^ buffer[k % stages][255 - t];
            s1 = max(s1, buffer[k % stages][64 + t] + buffer[k % stages][128 + t]);
            pipe.consumer_release();
        }
        out[blockIdx.x * 128 + t] = s0;
        out[blockIdx.x * 128 + 64 + t] = s1;
    }
}

//! semaphore_of_two 8 128 | zero s32:8 | out s32:8
K semaphore_of_two(int *crowded, int *done)
{
    __shared__ cuda::counting_semaphore<cuda::thread_scope_block, 2> gate;
    __shared__ int inside, visits;
    if (threadIdx.x == 0) {
        new (&gate) cuda::counting_semaphore<cuda::thread_scope_block, 2>(2);
        inside = visits = 0;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        for (int k = 0; k < 4; k++) {
            gate.acquire();
            int now = atomicAdd(&inside, 1);
            if (now >= 2) atomicMax(crowded + blockIdx.x, now);
            atomicAdd(&visits, 1);
            __nanosleep(20);
            atomicSub(&inside, 1);
            gate.release();
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) done[blockIdx.x] = inside * 1000 + visits;
}

//! latch_before_the_sum 9 160 | f32:1440:0:1 | out f32:1440
K latch_before_the_sum(const float *x, float *out)
{
    __shared__ float v[160];
    using latch = cuda::latch<cuda::thread_scope_block>;
    __shared__ alignas(latch) char place[sizeof(latch)];
    latch &filled = *reinterpret_cast<latch *>(place);
    if (threadIdx.x == 0) new (place) latch(160);
    __syncthreads();
    int i = blockIdx.x * 160 + threadIdx.x;
    v[threadIdx.x] = x[i] * x[i];
    filled.arrive_and_wait();
    out[i] = v[threadIdx.x] + v[(threadIdx.x + 1) % 160] + v[(threadIdx.x + 79) % 160];
}

//! token_passed_on 6 32 | zero u32:6 | out u32:6
// Blocks in order: each waits until the one before has released its number.
K token_passed_on(unsigned *flag, unsigned *order)
{
    if (threadIdx.x == 0) {
        cuda::atomic_ref<unsigned, cuda::thread_scope_device> mine(flag[blockIdx.x]);
        unsigned v = 1;
        if (blockIdx.x > 0) {
            cuda::atomic_ref<unsigned, cuda::thread_scope_device> before(flag[blockIdx.x - 1]);
            while ((v = before.load(cuda::memory_order_acquire)) == 0) __nanosleep(40);
        }
        order[blockIdx.x] = v * 3 + blockIdx.x;
        mine.store(v * 3 + blockIdx.x, cuda::memory_order_release);
    }
}

//! stack_of_free_slots 5 96 | iota s32:480 | out s32:480 | zero u64:1
// Slots taken by compare-and-exchange of head and counter; every thread takes one and pays its number into a sum.
K stack_of_free_slots(int *next, int *got, unsigned long long *sum)
{
    __shared__ unsigned long long head;
    if (threadIdx.x == 0) head = blockIdx.x * 96 + 95;
    __syncthreads();
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_block> h(head);
    unsigned long long old = h.load(cuda::memory_order_acquire), take;
    do {
        take = (old & ~0xffffffffull) + (1ull << 32) | ((unsigned)old == blockIdx.x * 96 ? 0xffffffffu : (unsigned)next[(unsigned)old] - 1);
    } while (!h.compare_exchange_weak(old, take, cuda::memory_order_acq_rel, cuda::memory_order_acquire));
    got[(unsigned)old] = (int)((unsigned)old * 5 + 1);
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_device>(*sum).fetch_add((unsigned)old, cuda::memory_order_relaxed);
}

//! roots_of_unity_std 11 128 | f32:2816:-1:1 | out f32:2816
K roots_of_unity_std(const float2 *z, float2 *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    cuda::std::complex<float> c(z[i].x, z[i].y), p(1.0f, 0.0f);
    for (int k = 0; k < 3; k++) p = p * c + cuda::std::complex<float>(0.25f, -0.5f);
    p = p / (c + 2.0f);
    out[i] = make_float2(p.real() + cuda::std::abs(c), p.imag() - cuda::std::norm(p));
}

//! bits_by_the_standard 13 96 | u32:1248 | out u32:1248
K bits_by_the_standard(const unsigned *in, unsigned *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = in[i] >> (i & 15);
    cuda::std::array<unsigned, 5> r = {(unsigned)cuda::std::popcount(v), (unsigned)cuda::std::countl_zero(v), (unsigned)cuda::std::countr_one(v),
                                       cuda::std::rotl(v, i & 31), cuda::std::bit_floor(v)};
    auto [a, b] = cuda::std::make_tuple(r[i % 5], r[(i + 2) % 5]);
    out[i] = a * 31u + b + cuda::std::bit_cast<unsigned>(1.0f + (float)(v & 255));
}

//! arrivals_without_waiting 8 256 | f32:8192:-1:1 | out f32:2048
// arrive(), work that needs nobody else, wait().
K arrivals_without_waiting(const float *x, float *out)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ float tile[256];
    if (threadIdx.x == 0) init(&bar, 256);
    __syncthreads();
    float acc = 0.0f;
    for (int k = 0; k < 4; k++) {
        float v = x[(blockIdx.x * 4 + k) * 256 + threadIdx.x];
        tile[threadIdx.x] = v;
        auto token = bar.arrive();
        float own = v * v * v - v;
        bar.wait(cuda::std::move(token));
        acc += own + tile[threadIdx.x ^ 37];
        bar.arrive_and_wait();
    }
    out[blockIdx.x * 256 + threadIdx.x] = acc;
}
