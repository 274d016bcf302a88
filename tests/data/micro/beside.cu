// beside.cu - loads that hit the L1 beside stores: rounds of two loads of one word, two loads of `lines` lines of a word each, two products, and, where `store`
// is 1, a store of a line to the same place each time. A row of beside.tsv: warps of the SM's only block, lines, store, cycles of a round.
// Recorded with
//
//     nvcc -O3 -arch=sm_90a -o beside beside.cu && ./beside > beside.tsv
//
// (H200, driver 580.159.04, CUDA 13.0, 2026-11).
#include <cstdio>
#include <cuda_runtime.h>
typedef unsigned u32;
static __device__ __forceinline__ u32 clk() { u32 t; asm volatile("mov.u32 %0,%%clock;" : "=r"(t) :: "memory"); return t; }
__global__ void beside(u32 *out, const float *A, const float *B, volatile float *C, int n, int stores, int lines)
{
    int lane = threadIdx.x & 31, w = threadIdx.x >> 5;
    float s = 0;
    const float *a = A + w * 64, *b = B + w * 64, *aj = A + lane % lines * 64, *bj = B + lane % lines * 64;
    for (int k = 0; k < n; k++) s += a[k] + b[k] + aj[k] + bj[k];
    volatile float *o = C + (w + blockIdx.x * 32) * 32 + lane;
    __syncthreads();
    u32 t = clk();
#pragma unroll 4
    for (int k = 0; k < n; k++) { s += a[k] * bj[k] + b[k] * aj[k]; if (stores) *o = s; }
    t = clk() - t;
    if (s == 12345) out[99999] = 1;
    if (lane == 0) out[blockIdx.x * (blockDim.x >> 5) + w] = t;
}
int main()
{
    u32 *out, h[64]; float *a, *b, *c;
    cudaMalloc(&out, 400000); cudaMalloc(&a, 1 << 20); cudaMalloc(&b, 1 << 20); cudaMalloc(&c, 1 << 20);
    cudaMemset(a, 0, 1 << 20); cudaMemset(b, 0, 1 << 20);
    printf("#warps\tlines\tstore\tcycles\n");
    for (int w : {1, 2, 4, 8, 16, 32}) for (int l : {1, 4, 16, 32}) for (int on : {0, 1}) {
        for (int r = 0; r < 2; r++) beside<<<2, 32 * w>>>(out, a, b, c, 64, on, l);
        cudaMemcpy(h, out, 2 * w * 4, cudaMemcpyDeviceToHost);
        double s = 0; for (int i = 0; i < 2 * w; i++) s += h[i];
        printf("%d\t%d\t%d\t%.1f\n", w, l, on, s / (2 * w) / 64);
    }
    return 0;
}
