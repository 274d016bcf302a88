/* meeting.cu - threads that wait for each other: named barriers, mbarriers, clusters, flags, queues, copies in the background. */
#include <cstdint>
#define K extern "C" __global__ void
static __device__ uint32_t at(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
//! named_pairs 66 128 | u32:8448 | out u32:8448 | s s32 24
K named_pairs(const unsigned *in, unsigned *out, int rounds) /* each pair of warps has a barrier of its own */
{
    __shared__ unsigned v[128];
    int t = threadIdx.x, pair = t >> 6;
    unsigned x = in[blockIdx.x * 128 + t];
    for (int i = 0; i < rounds; i++) {
        v[t] = x;
        asm volatile("bar.sync %0, 64;" ::"r"(pair + 1) : "memory");
        x = x * 5 + v[t ^ 32];
        asm volatile("bar.sync %0, 64;" ::"r"(pair + 1) : "memory");
    }
    out[blockIdx.x * 128 + t] = x;
}
//! producer_warp 33 96 | u32:33792 | out u32:2112 | s s32 16
K producer_warp(const unsigned *in, unsigned *out, int steps) /* one warp loads, two consume, by bar.arrive and bar.sync */
{
    __shared__ unsigned v[64];
    int t = threadIdx.x;
    if (t < 32) {
        for (int i = 0; i < steps; i++) {
            const unsigned *p = in + (blockIdx.x * steps + i) * 64;
            unsigned a = p[t], b = p[t + 32];
            asm volatile("bar.sync 2, 96;" ::: "memory");
            v[t] = a;
            v[t + 32] = b;
            asm volatile("bar.arrive 1, 96;" ::: "memory");
        }
    } else {
        unsigned s = 0;
        asm volatile("bar.arrive 2, 96;" ::: "memory");
        for (int i = 0; i < steps; i++) {
            asm volatile("bar.sync 1, 96;" ::: "memory");
            s = s * 3 + v[95 - t];
            if (i + 1 < steps) asm volatile("bar.arrive 2, 96;" ::: "memory");
        }
        out[blockIdx.x * 64 + t - 32] = s;
    }
}
//! mbarrier_turns 66 64 | u32:4224 | out u32:4224 | s s32 20
K mbarrier_turns(const unsigned *in, unsigned *out, int rounds)
{
    __shared__ uint64_t bar;
    __shared__ unsigned v[2][64];
    int t = threadIdx.x;
    if (!t) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(at(&bar)) : "memory");
    __syncthreads();
    unsigned x = in[blockIdx.x * 64 + t];
    for (int i = 0; i < rounds; i++) {
        v[i & 1][t] = x;
        asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(at(&bar)) : "memory");
        unsigned done;
        do asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(at(&bar)), "r"(i & 1) : "memory");
        while (!done);
        x = x * 7 + v[i & 1][63 - t];
    }
    out[blockIdx.x * 64 + t] = x;
}
//! cluster_ring 64 128 | u32:8192 | out u32:8192 | s s32 6
K __cluster_dims__(4, 1, 1) cluster_ring(const unsigned *in, unsigned *out, int rounds)
{
    __shared__ unsigned v[2][128];
    int t = threadIdx.x;
    unsigned rank, x = in[blockIdx.x * 128 + t];
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    for (int i = 0; i < rounds; i++) {
        unsigned to, from = at(&v[i & 1][t]);
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(from), "r"((rank + 1) & 3));
        asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(to), "r"(x) : "memory");
        asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
        x = x * 3 + v[i & 1][t ^ 1];
    }
    out[blockIdx.x * 128 + t] = x;
}
//! flag_chain 48 64 | u32:3072 | zero u32:3072 | zero u32:64
K flag_chain(const unsigned *in, unsigned *out, unsigned *flag) /* each block adds to what the one before it wrote */
{
    int t = threadIdx.x, b = blockIdx.x;
    unsigned x = in[b * 64 + t];
    if (b) {
        if (!t) {
            unsigned f;
            do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(f) : "l"(flag + b - 1) : "memory");
            while (!f);
        }
        __syncthreads();
        x += __ldcg(out + (b - 1) * 64 + t);
    }
    out[b * 64 + t] = x;
    __syncthreads();
    if (!t) asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flag + b) : "memory");
}
//! async_tiles 132 128 | f32:270336:-1:1 | out f32:16896
K async_tiles(const float *in, float *out) /* three tiles on their way by cp.async */
{
    __shared__ __align__(16) float v[4][128];
    int t = threadIdx.x;
    const float *p = in + blockIdx.x * 2048;
    auto fetch = [&](int k) {
        if (t < 32) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at(&v[k & 3][t * 4])), "l"(p + k * 128 + t * 4) : "memory");
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    for (int k = 0; k < 3; k++) fetch(k);
    float s = 0;
    for (int k = 0; k < 16; k++) {
        asm volatile("cp.async.wait_group 2;" ::: "memory");
        __syncthreads();
        if (k + 3 < 16) fetch(k + 3); else asm volatile("cp.async.commit_group;" ::: "memory");
        s = s * 0.5f + v[k & 3][127 - t] * v[k & 3][t];
    }
    out[blockIdx.x * 128 + t] = s;
}
//! bulk_stages 66 128 | u32:135168 | out u32:8448
K bulk_stages(const unsigned *in, unsigned *out) /* two stages of 1 KB by bulk copies and mbarriers */
{
    __shared__ __align__(128) unsigned v[2][256];
    __shared__ uint64_t bar[2];
    int t = threadIdx.x;
    const unsigned *p = in + blockIdx.x * 2048;
    if (!t) {
        for (int k = 0; k < 2; k++) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at(&bar[k])) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    auto fetch = [&](int k) {
        if (t) return;
        asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared.b64 s, [%0], 1024; }" ::"r"(at(&bar[k & 1])) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];" ::"r"(at(v[k & 1])), "l"(p + k * 256), "r"(at(&bar[k & 1])) : "memory");
    };
    fetch(0);
    unsigned s = 0;
    for (int k = 0; k < 8; k++) {
        if (k < 7) fetch(k + 1);
        unsigned done;
        do asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(at(&bar[k & 1])), "r"(k >> 1 & 1) : "memory");
        while (!done);
        s = s * 31 + v[k & 1][t] + v[k & 1][255 - t];
        __syncthreads();
    }
    out[blockIdx.x * 128 + t] = s;
}
//! work_queue 132 64 | u32:2048:1:200 | zero u32:2048 | zero u32:1
K work_queue(const unsigned *length, unsigned *out, unsigned *next) /* warps fetch their work; its length differs */
{
    int lane = threadIdx.x & 31;
    for (;;) {
        unsigned job = 0;
        if (!lane) job = atomicAdd(next, 1u);
        job = __shfl_sync(~0u, job, 0);
        if (job >= 2048) return;
        unsigned x = job + lane;
        for (unsigned i = 0; i < length[job]; i++) x = x * 1664525u + 1013904223u;
        x = __reduce_add_sync(~0u, x >> 5);
        if (!lane) out[job] = x;
    }
}
//! last_block_sum 64 256 | f32:65536:0:1 | zero f32:64 | zero f32:1 | zero u32:1 | unordered
K last_block_sum(const float *in, float *part, float *out, unsigned *count) /* the block that comes last adds up the others' sums */
{
    __shared__ float v[8];
    __shared__ bool last;
    int t = threadIdx.x;
    auto block_sum = [&](float s) {
        for (int d = 16; d; d /= 2) s += __shfl_down_sync(~0u, s, d);
        if (!(t & 31)) v[t >> 5] = s;
        __syncthreads();
        float r = 0;
        for (int k = 0; k < 8; k++) r += v[k];
        __syncthreads();
        return r;
    };
    float s = 0;
    for (int k = 0; k < 4; k++) s += in[blockIdx.x * 1024 + k * 256 + t];
    s = block_sum(s);
    if (!t) {
        part[blockIdx.x] = s;
        __threadfence();
        last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    s = block_sum(t < 64 ? __ldcg(part + t) : 0);
    if (!t) *out = s;
}
