// inc.cu - integer atomic operations of all kinds, with and without result, on one address for all lanes, 32 or 1024 of them: cycles of 16 operations
// of a thread (mean over blocks, second of two rounds) and operations a cycle. Recorded in inc.tsv with
//
//     nvcc -O3 -arch=sm_90a -o inc inc.cu && ./inc > inc.tsv
//
// (H200, driver 580.159.04, CUDA 13.0, 2026-11).
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>
typedef unsigned u32; typedef unsigned long long u64;
template <int OP> __device__ void op(u32 *a, u32 v, u32 &s)
{
    u32 r = 0;
#define A(n, text) if (OP == n) asm volatile("atom.global." text " %0,[%1],%2;" : "=r"(r) : "l"(a), "r"(v) : "memory");
#define R(n, text) if (OP == n) asm volatile("red.global." text " [%0],%1;" ::"l"(a), "r"(v) : "memory");
    A(0, "add.u32") A(1, "inc.u32") A(2, "dec.u32") A(3, "min.u32") A(4, "and.b32") A(5, "exch.b32") A(6, "min.s32")
    R(10, "add.u32") R(11, "inc.u32") R(12, "dec.u32") R(13, "min.u32") R(14, "and.b32")
    if (OP == 7) asm volatile("atom.global.cas.b32 %0,[%1],%2,%2;" : "=r"(r) : "l"(a), "r"(v) : "memory");
    s += r;
}
template <int OP> __global__ void k(u32 *p, u32 mask, int n, u64 *t, u32 *sink)
{
    u32 s = 0, g = blockIdx.x * blockDim.x + threadIdx.x, zero = threadIdx.x >> 12;
    for (int round = 0; round < 2; round++) {
        __syncthreads(); u64 t0 = clock64();
#pragma unroll 1
        for (int i = 0; i < n; i++) op<OP>(p + ((g + zero) & mask), 0x7fffffff - (zero + (s & 1)), s);
        __threadfence(); __syncthreads(); u64 t1 = clock64();
        if (threadIdx.x == 0) t[blockIdx.x] = t1 - t0;
    }
    if (s == 0x12345) *sink = s;
}
static u32 *p, *sink; static u64 *t;
static double mean(int b) { std::vector<u64> h(b); cudaMemcpy(h.data(), t, b * 8, cudaMemcpyDeviceToHost); double s = 0; for (u64 v : h) s += v; return s / b; }
template <int OP> static void go(const char *name, int b, int th, u32 mask)
{
    k<OP><<<b, th>>>(p, mask, 16, t, sink);
    if (cudaDeviceSynchronize() != cudaSuccess) { printf("error\n"); return; }
    double c = mean(b);
    printf("%s\t%d\t%d\t%u\t16\t%.1f\t%.3f\n", name, b, th, mask, c, (double)b * th * 16 / c);
}
template <int OP> static void all(const char *name)
{
    for (u32 mask : {0u, 31u, 1023u}) for (int b : {1, 33, 132}) for (int th : {32, 128, 1024}) go<OP>(name, b, th, mask);
}
int main()
{
    cudaMalloc(&p, 64 << 20); cudaMemset(p, 0, 64 << 20); cudaMalloc(&t, 1 << 16); cudaMalloc(&sink, 64);
    printf("#op\tblocks\tthreads\tmask\tn\tcycles\toperations_a_cycle\n");
    all<0>("atom.add.u32"); all<1>("atom.inc.u32"); all<2>("atom.dec.u32"); all<3>("atom.min.u32"); all<6>("atom.min.s32"); all<4>("atom.and.b32"); all<5>("atom.exch.b32"); all<7>("atom.cas.b32");
    all<10>("red.add.u32"); all<11>("red.inc.u32"); all<12>("red.dec.u32"); all<13>("red.min.u32"); all<14>("red.and.b32");
    return 0;
}
