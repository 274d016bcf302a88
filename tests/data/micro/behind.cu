// behind.cu - gathers by cache policy, one SM's messages to another, operations on shared memory of other SMs, loads behind scattered stores and
// reductions, reads of one line by many SMs. One line a measurement: test, blocks, threads, a, b, cycles (mean over blocks), n; the comments say
// what a and b are. Recorded in behind.tsv.xz: NVIDIA H200, driver 580.159.04, SM 1980 MHz, 2026-11. nvcc -O3 -arch=sm_90a behind.cu
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>
typedef unsigned u32; typedef unsigned long long u64;
static __device__ __forceinline__ u64 clk() { u64 t; asm volatile("mov.u64 %0,%%clock64;" : "=l"(t) :: "memory"); return t; }
static __device__ __forceinline__ u32 smid() { u32 t; asm volatile("mov.u32 %0,%%smid;" : "=r"(t)); return t; }
static __device__ __forceinline__ u32 mix(u32 x) { x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; x ^= x >> 16; return x; }
template <int M> static __device__ __forceinline__ u32 ld(const char *a)
{
    u32 r;
    if (M == 0) asm volatile("ld.global.cg.u32 %0,[%1];" : "=r"(r) : "l"(a));
    else if (M == 1) asm volatile("ld.global.ca.u32 %0,[%1];" : "=r"(r) : "l"(a));
    else asm volatile("ld.global.nc.u32 %0,[%1];" : "=r"(r) : "l"(a));
    return r;
}
// A: `lines` different lines a request, one sector each; 4 loads under way; two rounds, the second is timed
template <int M> __global__ void gather(const char *buf, u32 mask, int lines, int n, u64 *t, u32 *sink)
{
    u32 lane = threadIdx.x & 31, g = blockIdx.x * blockDim.x + threadIdx.x, warp = g >> 5, per = 32 / lines, x = 0;
    u32 s = mix(warp * 977u + lane / per * 131u + 7u), in = lane % per * 4 % 32;
    for (int round = 0; round < 2; round++) {
        __syncthreads(); u64 t0 = clk();
        for (int i = 0; i < n; i += 4) {
            u32 r[4];
#pragma unroll
            for (int k = 0; k < 4; k++) { s = s * 1664525u + 1013904223u; r[k] = ld<M>(buf + ((u64)((s >> 8) & mask) * 32 + in)); }
#pragma unroll
            for (int k = 0; k < 4; k++) x += r[k];
        }
        __syncthreads(); u64 t1 = clk();
        if (threadIdx.x == 0) t[blockIdx.x] = t1 - t0;
    }
    if (x == 0x12345) *sink = x;
}
// B: ping-pong between the blocks on SMs a and b. how 0: st/ld volatile, 1: st.release/ld.acquire.gpu, 2: atom.exch / atom.add 0, 3: fence + st volatile / ld volatile + fence,
// 4: red.add / ld.acquire. Cycles of a round trip.
__global__ void pingpong(u32 *flag, u32 a, u32 b, int how, int n, u64 *t)
{
    u32 me = smid(); if (threadIdx.x || (me != a && me != b)) return;
    u32 *mine = flag + (me == b ? 64 : 0), *other = flag + (me == b ? 0 : 64);
    u64 t0 = clk();
    for (u32 i = 1; i <= (u32)n; i++) {
        for (int half = 0; half < 2; half++) {
            if ((half == 0) == (me == a)) {
                if (how == 0) asm volatile("st.volatile.global.u32 [%0],%1;" :: "l"(other), "r"(i) : "memory");
                else if (how == 1) asm volatile("st.release.gpu.global.u32 [%0],%1;" :: "l"(other), "r"(i) : "memory");
                else if (how == 2) atomicExch(other, i);
                else if (how == 3) { __threadfence(); *(volatile u32 *)other = i; }
                else asm volatile("red.relaxed.gpu.global.add.u32 [%0],1;" :: "l"(other) : "memory");
            } else {
                u32 v;
                do {
                    if (how == 0 || how == 3) v = *(volatile u32 *)mine;
                    else if (how == 2) v = atomicAdd(mine, 0);
                    else asm volatile("ld.acquire.gpu.global.u32 %0,[%1];" : "=r"(v) : "l"(mine) : "memory");
                } while (v < i);
                if (how == 3) __threadfence();
            }
        }
    }
    if (me == a) t[0] = (clk() - t0) / n;
}
// C: operations of each warp on shared memory of the next block of its cluster. what 0: ld, 1: st, 2: red.add, 3: atom.add; spread: words between lanes (0: one address)
__global__ void __cluster_dims__(4, 1, 1) remote(int what, u32 spread, int n, u64 *t, u32 *sink)
{
    __shared__ u32 s[8192]; u32 rank, x = 0;
    for (u32 i = threadIdx.x; i < 8192; i += blockDim.x) s[i] = 0;
    asm volatile("mov.u32 %0,%%cluster_ctarank;" : "=r"(rank));
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
    u32 at = (u32)__cvta_generic_to_shared(s) + ((threadIdx.x & 31) * spread + (threadIdx.x >> 5) * 32) % 8192 * 4, there;
    asm volatile("mapa.shared::cluster.u32 %0,%1,%2;" : "=r"(there) : "r"(at), "r"((rank + 1) & 3));
    u64 t0 = clk();
    for (int i = 0; i < n; i++) {
        if (what == 0) { u32 v; asm volatile("ld.shared::cluster.u32 %0,[%1];" : "=r"(v) : "r"(there) : "memory"); x += v; }
        else if (what == 1) asm volatile("st.shared::cluster.u32 [%0],%1;" :: "r"(there), "r"(i) : "memory");
        else if (what == 2) asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0],%1;" :: "r"(there), "r"(i) : "memory");
        else { u32 v; asm volatile("atom.relaxed.cluster.shared::cluster.add.u32 %0,[%1],%2;" : "=r"(v) : "r"(there), "r"(i) : "memory"); x += v; }
    }
    u64 t1 = clk();
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
    u64 t2 = clk();
    if (threadIdx.x == 0) { t[2 * blockIdx.x] = t1 - t0; t[2 * blockIdx.x + 1] = t2 - t0; }
    if (x == 0x12345) *sink = x;
}
// D: a load (of the L1: hot, or of the L2) behind n scattered stores (what 0) or reductions (1), or gathers (2) of every warp of the SM
__global__ void behind(char *buf, u32 mask, int what, int lines, int n, u64 *t, u32 *sink)
{
    u32 lane = threadIdx.x & 31, g = blockIdx.x * blockDim.x + threadIdx.x, per = 32 / lines, x = 0;
    u32 s = mix((g >> 5) * 977u + lane / per * 131u + 7u), in = lane % per * 4; u64 sum = 0;
    const u32 *probe = (const u32 *)(buf + (64u << 20)) + (g >> 5) * 1024 + lane;
    __syncthreads();
    for (int i = 0; i < n; i++) {
        s = s * 1664525u + 1013904223u;
        u32 *p = (u32 *)(buf + ((u64)((s >> 8) & mask) * 128 + in));
        if (what == 0) *(volatile u32 *)p = s;
        else if (what == 1) asm volatile("red.relaxed.gpu.global.add.u32 [%0],%1;" :: "l"(p), "r"(s) : "memory");
        else { u32 v; asm volatile("ld.global.cg.u32 %0,[%1];" : "=r"(v) : "l"(p)); x += v & 0x10000; }
    }
    u64 t0 = clk(); u32 v;
    asm volatile("ld.global.cg.u32 %0,[%1];" : "=r"(v) : "l"(probe) : "memory");
    x += v; asm volatile("" :: "r"(x) : "memory");
    if (x == 0x12345) *sink = x;
    sum = clk() - t0;
    if (threadIdx.x == 0) t[blockIdx.x] = sum;
}
// E: `sms` SMs read the same lines (apart 0) or their own (1), one warp each, a dependent load after the other, all lanes one line; `step` bytes apart
__global__ void same(const char *buf, int apart, u32 step, int n, u64 *t, u32 *sink)
{
    u64 at = apart ? (u64)blockIdx.x << 20 : 0; u32 x = 0, lane = threadIdx.x & 31;
    for (int round = 0; round < 2; round++) {
        u64 t0 = clk();
        for (int i = 0; i < n; i++) { u32 v; asm volatile("ld.global.cg.u32 %0,[%1];" : "=r"(v) : "l"(buf + at + (u64)i * step + lane * 4 + (x & 0x10000000))); x |= v; }
        u64 t1 = clk();
        if (threadIdx.x == 0) t[blockIdx.x] = (t1 - t0) / n;
    }
    if (x == 0x12345) *sink = x;
}
int main()
{
    char *buf; u64 *t; u32 *sink; std::vector<u64> h(4096);
    cudaMalloc(&buf, 256u << 20); cudaMemset(buf, 0, 256u << 20); cudaMalloc(&t, 32768); cudaMalloc(&sink, 64);
    auto out = [&](const char *name, int blocks, int threads, int a, int b, int n, int many, int step = 1, int from = 0) {
        cudaError_t e = cudaDeviceSynchronize(); if (e != cudaSuccess) { printf("error %s in %s\n", cudaGetErrorString(e), name); return; }
        cudaMemcpy(h.data(), t, 32768, cudaMemcpyDeviceToHost); double sum = 0; for (int i = 0; i < many; i++) sum += (double)h[i * step + from];
        printf("%s,%d,%d,%d,%d,%.1f,%d\n", name, blocks, threads, a, b, sum / many, n); };
    printf("#test,blocks,threads,a,b,cycles,n\n");
    for (int b : {1, 132}) for (int th : {256, 1024}) for (int lines : {1, 8, 32}) for (u32 kb : {512u, 4096u, 16384u}) {
        u32 mask = kb * 32 - 1; char name[64];
        gather<0><<<b, th>>>(buf, mask, lines, 64, t, sink); snprintf(name, 64, "gather_cg_%uk", kb); out(name, b, th, lines, 1, 64, b);
        gather<1><<<b, th>>>(buf, mask, lines, 64, t, sink); snprintf(name, 64, "gather_ca_%uk", kb); out(name, b, th, lines, 1, 64, b);
        gather<2><<<b, th>>>(buf, mask, lines, 64, t, sink); snprintf(name, 64, "gather_nc_%uk", kb); out(name, b, th, lines, 1, 64, b); }
    static const u32 P[][2] = {{0, 1}, {0, 16}, {0, 2}, {0, 4}, {0, 6}, {0, 131}, {5, 99}};
    for (auto p : P) for (int how = 0; how < 5; how++) for (u32 off : {0u, 1u << 20}) {
        cudaMemset(buf + off, 0, 4096); pingpong<<<132, 1024>>>((u32 *)(buf + off), p[0], p[1], how, 200, t); out("pingpong", p[0], p[1], how, (int)(off >> 20), 200, 1); }
    for (int what = 0; what < 4; what++) for (int th : {32, 256, 1024}) for (u32 spread : {0u, 1u, 2u, 8u, 33u}) for (int b : {4, 128}) {
        remote<<<b, th>>>(what, spread, 32, t, sink); out("remote_issue", b, th, what, spread, 32, b, 2, 0); out("remote_done", b, th, what, spread, 32, b, 2, 1); }
    for (int what = 0; what < 3; what++) for (int lines : {1, 8, 32}) for (int th : {32, 256, 1024}) for (int n : {1, 2, 4, 8, 16}) for (int b : {1, 132}) {
        behind<<<b, th>>>(buf, (1 << 17) - 1, what, lines, n, t, sink); char name[64]; snprintf(name, 64, "behind_%s", what == 0 ? "st" : what == 1 ? "red" : "ld"); out(name, b, th, lines, n, n, b); }
    for (int b : {1, 8, 16, 32, 66, 132}) for (int apart : {0, 1}) for (u32 step : {128u, 1024u, 4096u}) { same<<<b, 32>>>(buf, apart, step, 64, t, sink); out("same", b, 32, apart, step, 64, b); }
    cudaDeviceSynchronize(); printf("#%s\n", cudaGetErrorString(cudaGetLastError()));
}
