// flow.cu - what control flow costs: loops, calls, jumps through tables, lanes that part, frames in local memory, first reads of constants.
// One line a measurement: test, blocks, threads, a, cycles (of warp 0 of block 0, best of three rounds; of constant_cold: of reads 0 to 7 after each other, with cold caches), operations in that time
// Recorded in flow.tsv: NVIDIA H200, driver 580.159.04, SM 1980 MHz, 2026-11. nvcc -std=c++17 -O3 -arch=sm_90a flow.cu
#include <cstdint>
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>
#define CK(x) do { cudaError_t e = (x); if (e != cudaSuccess) { printf("error %s line %d\n", cudaGetErrorString(e), __LINE__); return 1; } } while (0)
typedef unsigned u32; typedef unsigned long long u64;
static __device__ __forceinline__ u64 clk() { u64 t; asm volatile("mov.u64 %0,%%clock64;" : "=l"(t) :: "memory"); return t; }
#define OP(x) asm volatile("add.u32 %0,%0,%1;" : "+r"(x) : "r"(k))
extern __shared__ u32 shared_words[];
#define BEGIN u32 sh = (u32)__cvta_generic_to_shared(shared_words); (void)sh; u64 best = ~0ull; u32 x = threadIdx.x, k = one; _Pragma("unroll 1") for (int round = 0; round < 3; round++) { __syncthreads(); u64 t0 = clk();
#define END u64 t1 = clk(); if (t1 - t0 < best) best = t1 - t0; } if (threadIdx.x == 0) t[blockIdx.x] = best; if (x == 0x12345) *sink = x;
#define ARGS int n, int a, u32 one, u64 *t, u32 *sink

__global__ void loop(ARGS) { BEGIN
#pragma unroll 1
    for (int i = 0; i < n; i++) OP(x);
    END }
__global__ void loop8(ARGS) { BEGIN
#pragma unroll 1
    for (int i = 0; i < n; i++) { OP(x); OP(x); OP(x); OP(x); OP(x); OP(x); OP(x); OP(x); }
    END }
// eight branches an iteration that are not taken
__global__ void untaken(ARGS) { BEGIN
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        asm volatile("{.reg .pred p; setp.eq.u32 p,%1,77;\n@p bra L1; add.u32 %0,%0,%1;\n@p bra L1; add.u32 %0,%0,%1;\n@p bra L1; add.u32 %0,%0,%1;\n@p bra L1; add.u32 %0,%0,%1;\n"
                     "@p bra L1; add.u32 %0,%0,%1;\n@p bra L1; add.u32 %0,%0,%1;\n@p bra L1; add.u32 %0,%0,%1;\n@p bra L1; add.u32 %0,%0,%1;\nL1: }" : "+r"(x) : "r"(k));
    }
    END }
// if/else, of which both sides do something; a: lanes that take the first
__global__ void ifelse(ARGS) { bool p = (int)(threadIdx.x & 31) < a; BEGIN
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        if (p) { asm volatile("add.u32 %0,%0,%1; st.volatile.shared.u32 [%2+0],%0;" : "+r"(x) : "r"(k), "r"(sh)); asm volatile("bar.warp.sync %0;" :: "r"(__activemask())); }
        else { asm volatile("xor.b32 %0,%0,%1; st.volatile.shared.u32 [%2+4],%0;" : "+r"(x) : "r"(k), "r"(sh)); asm volatile("bar.warp.sync %0;" :: "r"(__activemask())); }
        __syncwarp();
    }
    END }
// the same without anything but arithmetic in it, by hand: eight instructions a side
__global__ void parting(ARGS) { u32 p = (int)(threadIdx.x & 31) < a; BEGIN
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        asm volatile("{.reg .pred p; setp.ne.u32 p,%2,0;\n@p bra L1;\nadd.u32 %0,%0,%1; xor.b32 %0,%0,%1; add.u32 %0,%0,%1; xor.b32 %0,%0,%1; add.u32 %0,%0,%1; xor.b32 %0,%0,%1; add.u32 %0,%0,%1; xor.b32 %0,%0,%1; st.volatile.shared.u32 [%3+0],%0; bra L2;\n"
                     "L1: xor.b32 %0,%0,%1; add.u32 %0,%0,%1; xor.b32 %0,%0,%1; add.u32 %0,%0,%1; xor.b32 %0,%0,%1; add.u32 %0,%0,%1; xor.b32 %0,%0,%1; add.u32 %0,%0,%1; st.volatile.shared.u32 [%3+4],%0;\nL2: }" : "+r"(x) : "r"(k), "r"(p), "r"(sh));
    }
    END }
template <int K> __device__ __noinline__ u32 leaf(u32 x, u32 k) { asm volatile("xor.b32 %0,%0,%1; add.u32 %0,%0,%2;" : "+r"(x) : "r"(k), "n"(K)); return x; }
__global__ void call(ARGS) { BEGIN
#pragma unroll 1
    for (int i = 0; i < n; i++) x = leaf<0>(x, k);
    END }
typedef u32 (*fn)(u32, u32);
__device__ fn table[16] = {leaf<0>, leaf<1>, leaf<2>, leaf<3>, leaf<4>, leaf<5>, leaf<6>, leaf<7>, leaf<8>, leaf<9>, leaf<10>, leaf<11>, leaf<12>, leaf<13>, leaf<14>, leaf<15>};
// through a pointer; a: different targets in a warp
__global__ void indirect(ARGS) { fn f = table[(threadIdx.x & 31) % a]; BEGIN
#pragma unroll 1
    for (int i = 0; i < n; i++) x = f(x, k);
    END }
// a jump through a table
__global__ void jump(ARGS) { u32 which = (threadIdx.x & 31) % a; BEGIN
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        asm volatile("ts%=: .branchtargets A0_%=,A1_%=,A2_%=,A3_%=,A4_%=,A5_%=,A6_%=,A7_%=; brx.idx %2, ts%=;\n"
                     "A0_%=: add.u32 %0,%0,%1; st.volatile.shared.u32 [%3+0],%0; bra E%=;\nA1_%=: add.u32 %0,%0,3; st.volatile.shared.u32 [%3+4],%0; bra E%=;\nA2_%=: xor.b32 %0,%0,%1; st.volatile.shared.u32 [%3+8],%0; bra E%=;\nA3_%=: xor.b32 %0,%0,9; st.volatile.shared.u32 [%3+12],%0; bra E%=;\n"
                     "A4_%=: sub.u32 %0,%0,%1; st.volatile.shared.u32 [%3+16],%0; bra E%=;\nA5_%=: sub.u32 %0,%0,5; st.volatile.shared.u32 [%3+20],%0; bra E%=;\nA6_%=: mul.lo.u32 %0,%0,%1; st.volatile.shared.u32 [%3+24],%0; bra E%=;\nA7_%=: mul.lo.u32 %0,%0,3; st.volatile.shared.u32 [%3+28],%0;\nE%=:"
                     : "+r"(x) : "r"(k), "r"(which), "r"(sh));
    }
    END }
__device__ __noinline__ u32 deep(u32 x, u32 d, u32 k) { if (d == 0) return x ^ k; u32 y = deep(x + 1, d - 1, k); return y * 3 + x + d; }
__global__ void recurse(ARGS) { BEGIN x = deep(x, (u32)n, k); END }
// local memory: a store and a load of the same word behind it; a loads each behind the one before
__global__ void frame(ARGS) { volatile u32 room[32]; for (int i = 0; i < 32; i++) room[i] = (u32)(i + 1) & 31; BEGIN
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        if (a == 0) { room[x & 31] = x + 1; x = room[x & 31]; }
        else if (a == 1) x = room[x & 31];
        else { room[0 + (k & 1)] = x; room[2 + (k & 1)] = x; room[4 + (k & 1)] = x; room[6 + (k & 1)] = x; x += room[0 + (k & 1)] + room[2 + (k & 1)] + room[4 + (k & 1)] + room[6 + (k & 1)]; }
    }
    END }
// first reads of a table of constants, `a` bytes apart, each behind the one before; the eighth is what the rest cost together
__constant__ u32 words[12288];
__global__ void constant_cold(ARGS) {
    u32 x = threadIdx.x & 0, k = one, at = k - 1; u64 d[9]; d[0] = clk();
#pragma unroll
    for (int i = 0; i < 8; i++) { at = words[at] + (u32)(a / 4) * (i + 1) ; asm volatile("" :: "r"(at)); u32 s = at & 0x80000000u; d[i + 1] = clk() + s; at = s ? at : at; }
    if (threadIdx.x == 0) for (int i = 0; i < 8; i++) t[blockIdx.x * 8 + i] = d[i + 1] - d[i];
    if (at + x == 0x1234567) *sink = at; (void)n; }
__global__ void flush(u32 *p, size_t n) { for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) p[i] = p[i] * 3 + 1; }
int main()
{
    u64 *t; u32 *sink, *big; std::vector<u64> h(1 << 16);
    CK(cudaMalloc(&t, h.size() * 8)); CK(cudaMalloc(&sink, 64)); CK(cudaMalloc(&big, 1 << 28)); CK(cudaMemset(big, 0, 1 << 28));
    u32 zero[12288] = {0}; CK(cudaMemcpyToSymbol(words, zero, sizeof zero)); CK(cudaDeviceSetLimit(cudaLimitStackSize, 8192));
    auto get = [&](size_t n) -> int { cudaError_t e = cudaDeviceSynchronize(); if (e != cudaSuccess) { printf("error %s\n", cudaGetErrorString(e)); return 1; } cudaMemcpy(h.data(), t, n * 8, cudaMemcpyDeviceToHost); return 0; };
    auto out = [&](const char *name, int blocks, int threads, int a, int n) -> int { if (get((size_t)blocks)) return 1; double s = 0; for (int i = 0; i < blocks; i++) s += (double)h[i]; printf("%s\t%d\t%d\t%d\t%.1f\t%d\n", name, blocks, threads, a, s / blocks, n); return 0; };
    printf("#test\tblocks\tthreads\ta\tcycles\tn\n");
    for (int th : {32, 128, 256, 512, 1024}) {
        loop<<<1, th>>>(64, 0, 1, t, sink); if (out("loop", 1, th, 0, 64)) return 1;
        loop8<<<1, th>>>(64, 0, 1, t, sink); if (out("loop8", 1, th, 0, 64)) return 1;
        untaken<<<1, th>>>(64, 0, 1, t, sink); if (out("untaken", 1, th, 0, 64)) return 1;
        for (int a : {0, 1, 16, 32}) { ifelse<<<1, th, 64>>>(64, a, 1, t, sink); if (out("ifelse", 1, th, a, 64)) return 1; parting<<<1, th, 64>>>(64, a, 1, t, sink); if (out("parting", 1, th, a, 64)) return 1; }
        call<<<1, th>>>(64, 0, 1, t, sink); if (out("call", 1, th, 0, 64)) return 1;
        for (int a : {1, 2, 4, 8, 16}) { indirect<<<1, th>>>(64, a, 1, t, sink); if (out("indirect", 1, th, a, 64)) return 1; }
        for (int a : {1, 2, 4, 8}) { jump<<<1, th, 64>>>(64, a, 1, t, sink); if (out("jump", 1, th, a, 64)) return 1; }
        for (int d : {1, 2, 4, 8, 16}) { recurse<<<1, th>>>(d, 0, 1, t, sink); if (out("recurse", 1, th, d, 1)) return 1; }
        for (int a : {0, 1, 2}) { frame<<<1, th>>>(64, a, 1, t, sink); if (out("frame", 1, th, a, 64)) return 1; }
    }
    for (int rep = 0; rep < 3; rep++) for (int blocks : {1, 132}) for (int a : {4, 16, 64, 128, 256, 1024, 4096}) {
        flush<<<1024, 256>>>(big, (1 << 28) / 4); constant_cold<<<blocks, 32>>>(0, a, 1, t, sink); if (get((size_t)blocks * 8)) return 1;
        for (int i = 0; i < 8; i++) { double s = 0; for (int b = 0; b < blocks; b++) s += (double)h[b * 8 + i]; printf("constant_cold_%d\t%d\t32\t%d\t%.1f\t1\n", i, blocks, a, s / blocks); } }
    return 0;
}
