// join.cu - which SMs' equal reads reach the L2 as one. A row of join.tsv is a launch, in order: the SMs that read the same 512 lines at the
// same time, their threads, by how many cycles the second is later than the first (each later than the one before), lanes that read words
// of one line, the first of these words; sectors that the L1s received, requests and sectors that the L2 was asked for. Recorded with
//
//     nvcc -O3 -arch=sm_90a -o join join.cu
//     ncu --clock-control none --csv --page raw --metrics lts__t_sectors_srcunit_tex.sum,lts__t_requests_srcunit_tex.sum,l1tex__m_xbar2l1tex_read_sectors.sum ./join
//
// (H200, driver 580.159.04, CUDA 13.0, 2026-11). Blocks fill one GPC after the other: the first 16 run on SMs 124 to 131, 0, 1, 16, 17, 32,
// 33, 48 and 49, and it is those whose reads SM 0 shares.
#include <cstdio>
#include <cuda_runtime.h>
typedef unsigned u32; typedef unsigned long long u64;
static __device__ __forceinline__ u64 gt() { u64 t; asm volatile("mov.u64 %0,%%globaltimer;" : "=l"(t) :: "memory"); return t; }
static __device__ __forceinline__ u64 clk() { u64 t; asm volatile("mov.u64 %0,%%clock64;" : "=l"(t) :: "memory"); return t; }
static __device__ __forceinline__ u32 smid() { u32 t; asm volatile("mov.u32 %0,%%smid;" : "=r"(t)); return t; }
// SMs a and b (b = 999: all) read `lines` lines each; b waits `delay` cycles, or each SM its number times that. per: lanes to a line, from
// word `skip` of it.
extern "C" __global__ void join(const u32 *buf, u32 *sink, u32 a, u32 b, u32 delay, u32 lines, u32 per, u32 skip)
{
    extern __shared__ u32 hold[];
    u32 s = smid(), x = 0;
    if (b != 999 && s != a && s != b) return;
    u64 target = ((gt() >> 13) + 2) << 13;
    while (gt() < target) {}
    u64 t = clk(); u32 wait = b == 999 ? s * delay : s == b ? delay : 0;
    while (clk() - t < wait) {}
    u32 w = threadIdx.x >> 5, n = blockDim.x >> 5, lane = threadIdx.x & 31, each = 32 / per; lane = lane / per * 32 + lane % per + skip;
    for (u32 l = w * 8 * each; l < lines; l += n * 8 * each) {
        u32 r[8];
#pragma unroll
        for (int k = 0; k < 8; k++) asm volatile("ld.global.ca.u32 %0,[%1];" : "=r"(r[k]) : "l"(buf + (l + k * each) * 32 + lane));
#pragma unroll
        for (int k = 0; k < 8; k++) x += r[k];
    }
    if (x == 12345) sink[0] = x + hold[0];
}
int main()
{
    u32 *buf, *sink;
    const u32 shared = 200 << 10; /* one block an SM */
    static const u32 D[] = {0, 10, 20, 40, 60, 80, 120, 160, 240, 400, 600, 1000}, P[][2] = {{32, 0}, {16, 0}, {16, 16}, {8, 0}, {8, 8}, {8, 24}, {1, 0}, {16, 8}};
    cudaMalloc(&buf, 256u << 20);
    cudaMemset(buf, 0, 256u << 20);
    cudaMalloc(&sink, 4);
    cudaFuncSetAttribute(join, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    for (u32 b = 1; b < 132; b++) join<<<132, 256, shared>>>(buf, sink, 0, b, 0, 512, 32, 0);
    for (u32 d : D) join<<<132, 256, shared>>>(buf, sink, 0, 1, d, 512, 32, 0);
    for (u32 d : {0, 1, 2, 4, 8, 16, 32, 64}) join<<<132, 256, shared>>>(buf, sink, 0, 999, d, 512, 32, 0);
    for (u32 b : {999, 1, 16})
        for (auto p : P) join<<<132, 256, shared>>>(buf, sink, 0, b, 0, 512, p[0], p[1]);
    for (auto p : P) join<<<132, 32, shared>>>(buf, sink, 0, 999, 0, 512, p[0], p[1]);
    cudaDeviceSynchronize();
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
