// place.cu - which SM each block of a grid runs on. A row of place.tsv.xz is a launch: blocks of a cluster, blocks, threads of a block, which of them
// end at once (0 none, 1 those above the diagonal of a grid of 6 x 24, 2 every second one; the others stay until all have begun where there is room
// for them), the SMs of the blocks in the order of their numbers. Recorded with
//
//     nvcc -O3 -arch=sm_90a -o place place.cu && ./place > place.tsv
//
// (H200, driver 580.159.04, CUDA 13.0, 2026-11). SMs 2n and 2n + 1 are a TPC; GPCs are the SMs 0, 1, 16, 17, 32, 33, 48, 49 and 124 to 131, and in
// the same way 2, 3, 18, 19, ... 106, 107 to 14, 15, ... 122, 123. Atomics on one and the same 4 KiB take 327 to 359 cycles from the GPCs of SMs
// 0, 2, 10 and 14, 526 to 559 from the others, or the other way round. With which GPC a round begins changes from launch to launch.
#include <cstdio>
#include <cuda_runtime.h>
typedef unsigned u32;
static __device__ __forceinline__ u32 clk() { u32 t; asm volatile("mov.u32 %0,%%clock;" : "=r"(t) :: "memory"); return t; }
static __device__ __forceinline__ u32 smid() { u32 t; asm volatile("mov.u32 %0,%%smid;" : "=r"(t)); return t; }
__global__ void place(u32 *out, int ends)
{
    u32 b = blockIdx.y * gridDim.x + blockIdx.x;
    if (threadIdx.x == 0 && threadIdx.y == 0) out[b] = smid();
    if (ends == 1 && blockIdx.x * 32 > blockIdx.y * 8 + 7) return;
    if (ends == 2 && (b & 1)) return;
    u32 t = clk(); while (clk() - t < 30000) {}
}
static u32 *out, h[4096];
static void go(int cluster, dim3 grid, dim3 block, int ends)
{
    const int n = grid.x * grid.y;
    cudaLaunchConfig_t f = {}; f.gridDim = grid; f.blockDim = block;
    cudaLaunchAttribute at[1]; at[0].id = cudaLaunchAttributeClusterDimension; at[0].val.clusterDim.x = cluster; at[0].val.clusterDim.y = at[0].val.clusterDim.z = 1;
    if (cluster > 1) f.attrs = at, f.numAttrs = 1;
    if (cluster > 8) cudaFuncSetAttribute(place, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    cudaLaunchKernelEx(&f, place, out, ends);
    cudaMemcpy(h, out, n * 4, cudaMemcpyDeviceToHost);
    printf("%d\t%d\t%d\t%d\t", cluster, n, block.x * block.y, ends);
    for (int i = 0; i < n; i++) printf(i ? " %u" : "%u", h[i]);
    printf("\n");
}
int main()
{
    cudaMalloc(&out, sizeof h);
    printf("#cluster\tblocks\tthreads\tends\tsms\n");
    static const int C[][3] = {{2, 40, 128}, {2, 200, 128}, {2, 264, 128}, {4, 40, 128}, {4, 132, 256}, {4, 264, 128}, {8, 16, 128}, {8, 64, 128}, {8, 128, 128}, {8, 264, 128}, {8, 264, 1024}, {16, 64, 128}, {2, 144, 1024}};
    for (auto &c : C) go(c[0], c[1], c[2], 0);
    for (int b : {1, 2, 4, 8, 12, 16, 20, 24, 32, 48, 64, 66, 80, 96, 110, 131, 132, 133, 140, 176, 220, 265, 500}) for (int t : {64, 1024}) go(1, b, t, 0);
    for (int ends : {0, 1}) go(1, dim3(6, 24), dim3(32, 8), ends);
    static const int P[][3] = {{144, 32, 0}, {144, 1024, 0}, {200, 64, 0}, {200, 64, 2}, {264, 128, 0}, {300, 256, 0}, {300, 1024, 0}, {160, 512, 0}, {396, 512, 0}, {40, 128, 0}, {600, 768, 2}};
    for (auto &p : P) go(1, p[0], p[1], p[2]);
    return 0;
}
