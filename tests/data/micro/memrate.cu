// memrate.cu - what gathers, scattered stores, indexed constants and bulk copies cost. One line a measurement:
//   test, blocks, threads, a, b, cycles (mean over blocks), operations of a warp in that time
// Recorded in memrate.tsv.xz: NVIDIA H200, driver 580.159.04, SM 1980 MHz, 2026-11. nvcc -O3 -arch=sm_90a memrate.cu
#include <cstdint>
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>
#define CK(x) do { cudaError_t e = (x); if (e != cudaSuccess) { printf("error %s line %d\n", cudaGetErrorString(e), __LINE__); return 1; } } while (0)
typedef unsigned u32; typedef unsigned long long u64;
static __device__ __forceinline__ u64 clk() { u64 t; asm volatile("mov.u64 %0,%%clock64;" : "=l"(t) :: "memory"); return t; }
static __device__ __forceinline__ u32 mix(u32 x) { x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; x ^= x >> 16; return x; }

// A: `lines` different lines a request, `sectors` sectors of each; 8 loads under way
template <int CG> __global__ void gather(const char *buf, u32 mask, int lines, int sectors, int n, u64 *t, u32 *sink)
{
    u32 lane = threadIdx.x & 31, g = blockIdx.x * blockDim.x + threadIdx.x, warp = g >> 5, per = 32 / lines, x = 0;
    u32 s = mix(warp * 977u + lane / per * 131u + 7u), in = lane % per * 4 % (sectors * 32);
    if (sectors == 1 && per > 8) in = lane % 8 * 4;
    for (int round = 0; round < 2; round++) {
        __syncthreads(); u64 t0 = clk();
        for (int i = 0; i < n; i += 8) {
            u32 r[8];
#pragma unroll
            for (int k = 0; k < 8; k++) {
                s = s * 1664525u + 1013904223u;
                const char *a = buf + ((u64)((s >> 8) & mask) * 128 + in);
                if (CG) asm volatile("ld.global.cg.u32 %0,[%1];" : "=r"(r[k]) : "l"(a)); else asm volatile("ld.global.ca.u32 %0,[%1];" : "=r"(r[k]) : "l"(a));
            }
#pragma unroll
            for (int k = 0; k < 8; k++) x += r[k];
        }
        __syncthreads(); u64 t1 = clk();
        if (threadIdx.x == 0) t[blockIdx.x] = t1 - t0;
    }
    if (x == 0x12345) *sink = x;
}
// F: scattered stores
__global__ void scatter(char *buf, u32 mask, int lines, int n, u64 *t)
{
    u32 lane = threadIdx.x & 31, g = blockIdx.x * blockDim.x + threadIdx.x, warp = g >> 5, per = 32 / lines;
    u32 s = mix(warp * 977u + lane / per * 131u + 7u), in = lane % per * 4;
    __syncthreads(); u64 t0 = clk();
    for (int i = 0; i < n; i++) {
        s = s * 1664525u + 1013904223u;
        *(volatile u32 *)(buf + ((u64)((s >> 8) & mask) * 128 + in)) = s;
    }
    __threadfence(); __syncthreads(); u64 t1 = clk();
    if (threadIdx.x == 0) t[blockIdx.x] = t1 - t0;
}
// B: indexed constants
__constant__ u32 table[16384];
__global__ void constants(int words, int step, int n, int chain, u64 *t, u32 *sink)
{
    u32 lane = threadIdx.x & 31, at = lane % words * step, x = 0;
    for (int round = 0; round < 2; round++) {
        __syncthreads(); u64 t0 = clk();
        u32 p = at;
        if (chain) { for (int i = 0; i < n; i += 8) {
#pragma unroll
            for (int k = 0; k < 8; k++) p = at + table[p]; } }
        else { for (int i = 0; i < n; i += 8) {
#pragma unroll
            for (int k = 0; k < 8; k++) x += table[p + (i & 0x4000) + k * 0] , p ^= x & 0x40000000; } }
        x += p;
        __syncthreads(); u64 t1 = clk();
        if (threadIdx.x == 0) t[blockIdx.x] = t1 - t0;
    }
    if (x == 0x12345) *sink = x;
}
// C: bulk copies
extern __shared__ __align__(128) char sh[];
__global__ void bulk(char *buf, u32 bytes, int copies, int what, u64 *t)
{
    __shared__ __align__(8) u64 bar;
    u32 s = (u32)__cvta_generic_to_shared(sh), b = (u32)__cvta_generic_to_shared(&bar);
    char *g = buf + (u64)blockIdx.x * bytes * copies;
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0],1;" :: "r"(b) : "memory");
    u32 phase = 0; u64 best = ~0ull;
    for (int rep = 0; rep < 4; rep++) {
        __syncthreads();
        if (threadIdx.x == 0) {
            asm volatile("fence.proxy.async;" ::: "memory");
            u64 t0 = clk();
            if (what == 0) {
                asm volatile("{.reg .b64 x; mbarrier.arrive.expect_tx.shared.b64 x,[%0],%1;}" :: "r"(b), "r"(bytes * copies) : "memory");
                for (int c = 0; c < copies; c++) asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0],[%1],%2,[%3];" :: "r"(s + c * bytes), "l"(g + (u64)c * bytes), "r"(bytes), "r"(b) : "memory");
                asm volatile("{.reg .pred p; w: mbarrier.try_wait.parity.shared.b64 p,[%0],%1; @!p bra w;}" :: "r"(b), "r"(phase) : "memory");
                phase ^= 1;
            } else {
                for (int c = 0; c < copies; c++) asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0],[%1],%2;" :: "l"(g + (u64)c * bytes), "r"(s + c * bytes), "r"(bytes) : "memory");
                asm volatile("cp.async.bulk.commit_group;" ::: "memory");
                if (what == 1) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); else asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
            }
            u64 t1 = clk(); if (t1 - t0 < best) best = t1 - t0;
        }
    }
    if (threadIdx.x == 0) t[blockIdx.x] = best;
}
int main()
{
    char *buf; u64 *t; u32 *sink; std::vector<u64> h(1024);
    CK(cudaMalloc(&buf, 1 << 28)); CK(cudaMemset(buf, 0, 1 << 28)); CK(cudaMalloc(&t, 8192)); CK(cudaMalloc(&sink, 64));
    u32 zero[16384] = {0}; CK(cudaMemcpyToSymbol(table, zero, sizeof zero));
    CK(cudaFuncSetAttribute(bulk, cudaFuncAttributeMaxDynamicSharedMemorySize, 131072));
    auto out = [&](const char *name, int blocks, int threads, int a, int b, int n) -> int {
        cudaError_t e = cudaDeviceSynchronize(); if (e != cudaSuccess) { printf("error %s in %s\n", cudaGetErrorString(e), name); return 1; }
        cudaMemcpy(h.data(), t, 8 * blocks, cudaMemcpyDeviceToHost); double sum = 0; for (int i = 0; i < blocks; i++) sum += (double)h[i];
        printf("%s,%d,%d,%d,%d,%.1f,%d\n", name, blocks, threads, a, b, sum / blocks, n); return 0; };
    printf("#test,blocks,threads,a,b,cycles,n\n");
    int bl[] = {1, 4, 33, 132};
    for (int b : bl) for (int th : {32, 256, 1024}) for (int lines : {1, 2, 4, 8, 16, 32}) for (int sec : {1, 4}) {
        if (sec == 4 && lines > 1) continue;
        gather<1><<<b, th>>>(buf, (1 << 17) - 1, lines, sec, 64, t, sink); if (out("gather_l2_16m", b, th, lines, sec, 64)) return 1; }
    for (int lines : {1, 2, 4, 8, 16, 32}) for (int th : {32, 256, 1024}) { gather<1><<<132, th>>>(buf, (1 << 13) - 1, lines, 1, 64, t, sink); if (out("gather_l2_1m", 132, th, lines, 1, 64)) return 1; }
    for (int lines : {1, 2, 4, 8, 16, 32}) for (int th : {32, 256, 1024}) { gather<0><<<1, th>>>(buf, 511, lines, 1, 256, t, sink); if (out("gather_l1", 1, th, lines, 1, 256)) return 1; }
    for (int b : {1, 132}) for (int th : {32, 256, 1024}) for (int lines : {1, 2, 4, 8, 16, 32}) { scatter<<<b, th>>>(buf, (1 << 17) - 1, lines, 32, t); if (out("scatter", b, th, lines, 1, 32)) return 1; }
    for (int ch : {0, 1}) for (int th : {32, 128, 1024}) for (int words : {1, 2, 4, 8, 16, 32}) for (int step : {1, 2, 4, 16, 64}) {
        if (th > 32 && ch) continue;
        constants<<<1, th>>>(words, step, 256, ch, t, sink); if (out(ch ? "const_chain" : "const_rate", 1, th, words, step, 256)) return 1; }
    for (int b : {1, 132}) for (int what : {0, 1, 2}) for (u32 bytes : {128u, 1024u, 4096u, 8192u, 16384u, 32768u}) for (int copies : {1, 2, 4}) {
        if (bytes * copies > 65536u) continue;
        bulk<<<b, 32, 65536>>>(buf, bytes, copies, what, t); if (out(what == 0 ? "bulk_load" : what == 1 ? "bulk_store_read" : "bulk_store", b, 32, (int)bytes, copies, 1)) return 1; }
    return 0;
}
