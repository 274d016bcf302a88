// begin.cu - the beginnings of warps, instruction by instruction: when each line of straight code is reached the first time (lines), each part of the
// parameters read (params), and how long loads take of which many leave at once (loads), with what code they need already there.
// Recorded into begin.tsv (H200, driver 580.159.04, CUDA 13.0, 2026-11) by
//
//     nvcc -O3 -std=c++17 -gencode arch=compute_90,code=sm_90 -o begin begin.cu
//     ncu --cache-control all --clock-control none --metrics sm__cycles_active.max ./begin cold.txt 1
//     ncu --cache-control none --clock-control none --metrics sm__cycles_active.max ./begin warm.txt 2
//
// whose rows were averaged over the warps of a launch (of warm.txt: the second launch of each shape).
// Each warp keeps its clocks; a row of the raw output: kernel, grid, block, repetition, warp, SM, place on it, clocks.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
typedef unsigned u32; typedef unsigned long long u64;
#define CLK(x) asm volatile("mov.u64 %0, %%clock64;" : "=l"(x)::"memory")
#define F(x) asm volatile("fma.rn.f32 %0, %0, 0f3FC00000, 0f3FC00000;" : "+f"(x)::"memory")
enum { MARKS = 20 };
template <int N> static __device__ __forceinline__ void leave(u32 *out, const u64 (&c)[N], float s)
{
    u32 sm, place, tid, cta, ntid;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm)); asm volatile("mov.u32 %0, %%warpid;" : "=r"(place));
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(tid)); asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(cta)); asm volatile("mov.u32 %0, %%ntid.x;" : "=r"(ntid));
    u32 *o = out + (cta * ntid + tid) / 32 * 64;
    u32 high = 0;
#pragma unroll
    for (int i = 0; i < N; i++) high += (u32)(c[i] >> 32) ^ tid; /* so that all clocks are read as 64 bits, which is one instruction */
    if (tid % 32 == 0) {
        o[0] = sm; o[1] = place; o[2] = high; o[3] = s == 0.f;
#pragma unroll
        for (int i = 0; i < N; i++) o[4 + i] = (u32)c[i] + tid % 32;
    }
}
// a line of code for each of the first nine clocks, then four
extern "C" __global__ void lines(u32 *out, const u32 *in)
{
    u64 c[MARKS]; float a = 1, b = 2, d = 3, e = 4, f = 5, g = 6, h = 7;
#pragma unroll
    for (int i = 0; i < MARKS; i++) {
        CLK(c[i]); F(a); F(b); F(d); F(e); F(f); F(g); F(h);
#pragma unroll
        for (int k = 0; k < (i < 8 ? 0 : 3); k++) { F(a); F(b); F(d); F(e); F(f); F(g); F(h); F(a); }
    }
    leave(out, c, a + b + d + e + f + g + h);
}
// words of the parameters, near and far, in an addition each
struct words { u32 w[512]; };
extern "C" __global__ void params(u32 *out, const __grid_constant__ words p)
{
    u64 c[8]; u32 s = 0;
#define P(n) asm volatile("add.u32 %0, %0, %1;" : "+r"(s) : "r"(p.w[n]) : "memory")
    CLK(c[0]); P(0); CLK(c[1]); P(1); CLK(c[2]); P(20); CLK(c[3]); P(60); CLK(c[4]); P(100); CLK(c[5]); P(200); CLK(c[6]); P(400); CLK(c[7]);
    leave(out, c, (float)s);
}
// eight loads of a line, each behind the one before; in the first round of the same line
extern "C" __global__ void loads(u32 *out, const u32 *in)
{
    u64 c[9]; u32 v = 0; const u32 *p = in + threadIdx.x % 32; size_t step = 0;
#pragma unroll 1
    for (int r = 0; r < 2; r++) {
        __syncthreads();
        CLK(c[0]);
#pragma unroll
        for (int i = 0; i < 8; i++) {
            asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
            asm volatile("{.reg .pred p; setp.eq.u32 p, %0, 77; @p exit;}" :: "r"(v) : "memory");
            CLK(c[i + 1]);
            p += step;
        }
        p = in + 1024 + blockIdx.x * blockDim.x + threadIdx.x; step = 4 << 20;
    }
    leave(out, c, (float)v);
}
int main(int argc, char **argv)
{
    const int conf[][2] = {{1, 32}, {1, 64}, {1, 128}, {1, 256}, {1, 1024}, {8, 256}, {132, 32}, {132, 128}, {132, 256}, {132, 1024}, {264, 256}, {528, 128}, {1056, 256}, {2112, 64}, {4224, 32}};
    u32 *out, *in, *big; const size_t warps = 1056 * 8;
    cudaMalloc(&out, warps * 256); cudaMalloc(&in, (8 << 24) + (warps * 32 + 4096) * 4); if (argc > 3) cudaMalloc(&big, 256 << 20);
    cudaMemset(in, 0, (8 << 24) + (warps * 32 + 4096) * 4);
    u32 *h = (u32 *)malloc(warps * 256); static words w;
    FILE *f = fopen(argv[1], "w"); const int reps = atoi(argv[2]);
    for (int k = 0; k < 3; k++) for (auto &c : conf) for (int rep = 0; rep < reps; rep++) {
        if (argc > 3) cudaMemset(big, rep, 256 << 20);
        if (k == 0) lines<<<c[0], c[1]>>>(out, in);
        if (k == 1) params<<<c[0], c[1]>>>(out, w);
        if (k == 2) loads<<<c[0], c[1]>>>(out, in);
        cudaError_t e = cudaDeviceSynchronize();
        if (e) { printf("%s\n", cudaGetErrorString(e)); return 1; }
        const int n = c[0] * c[1] / 32, m = k == 0 ? MARKS : k == 1 ? 8 : 9;
        cudaMemcpy(h, out, n * 256, cudaMemcpyDeviceToHost);
        for (int i = 0; i < n; i++) {
            const u32 *o = h + i * 64;
            fprintf(f, "%d\t%d\t%d\t%d\t%d\t%u\t%u\t%u", k, c[0], c[1], rep, i, o[0], o[1], o[2]);
            fprintf(f, "\t%u", o[4]);
            for (int j = 1; j < m; j++) fprintf(f, "\t%u", o[4 + j] - o[3 + j]);
            fprintf(f, "\n");
        }
    }
}
