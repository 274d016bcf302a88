// red.cu - reductions (no result) of 32-bit words at random and neighbouring addresses: additions a cycle. A row of red.tsv is a launch:
// red0 random words, red1 four neighbours in a row of a random place, red2 coalesced, red3 as red0 with results that are used. Recorded with
//
//     nvcc -O3 -arch=sm_90a -o red red.cu && ./red > red.tsv
//
// (H200, driver 580.159.04, CUDA 13.0, 2026-11).
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>
typedef unsigned u32; typedef unsigned long long u64;
template <int KIND> __global__ void k(u32 *p, u32 words, int n, u64 *t, u32 *sink)
{
    u32 x = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u + 12345, s = 0;
    for (int round = 0; round < 2; round++) {
        __syncthreads(); u64 t0 = clock64();
#pragma unroll 1
        for (int i = 0; i < n; i++) {
            x ^= x << 13; x ^= x >> 17; x ^= x << 5;
            u32 a = KIND == 2 ? ((blockIdx.x * n + i) * blockDim.x + threadIdx.x) & (words - 1) : KIND == 1 ? x & (words - 4) : x & (words - 1);
            if (KIND == 3) s += atomicAdd(p + a, 1u);
            else if (KIND == 1) { asm volatile("red.global.add.u32 [%0],%1;" ::"l"(p + a), "r"(1) : "memory"); asm volatile("red.global.add.u32 [%0+4],%1;" ::"l"(p + a), "r"(1) : "memory");
                asm volatile("red.global.add.u32 [%0+8],%1;" ::"l"(p + a), "r"(1) : "memory"); asm volatile("red.global.add.u32 [%0+12],%1;" ::"l"(p + a), "r"(1) : "memory"); }
            else asm volatile("red.global.add.u32 [%0],%1;" ::"l"(p + a), "r"(1) : "memory");
        }
        __threadfence(); __syncthreads(); u64 t1 = clock64();
        if (threadIdx.x == 0) t[blockIdx.x] = t1 - t0;
    }
    if (s == 0x12345) *sink = s;
}
static u32 *p, *sink; static u64 *t;
template <int K> static void go(int b, int th, u32 words, int n)
{
    k<K><<<b, th>>>(p, words, n, t, sink);
    if (cudaDeviceSynchronize() != cudaSuccess) { printf("error\n"); return; }
    std::vector<u64> h(b); cudaMemcpy(h.data(), t, b * 8, cudaMemcpyDeviceToHost); double s = 0; for (u64 v : h) s += v;
    printf("red%d\t%d\t%d\t%u\t%d\t%.1f\t%.3f\n", K, b, th, words, n, s / b, (double)b * th * n * (K == 1 ? 4 : 1) / (s / b));
}
int main()
{
    cudaMalloc(&p, 64 << 20); cudaMemset(p, 0, 64 << 20); cudaMalloc(&t, 1 << 16); cudaMalloc(&sink, 64);
    printf("#test\tblocks\tthreads\twords\tn\tcycles\tadditions_a_cycle\n");
    for (u32 w : {64u, 1024u, 4096u, 65536u, 1u << 20}) for (int b : {1, 4, 20, 64, 132}) for (int th : {32, 256, 1024}) { go<0>(b, th, w, 32); go<1>(b, th, w, 16); go<2>(b, th, w, 32); go<3>(b, th, w, 32); }
    return 0;
}
