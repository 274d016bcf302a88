// ports.cu - which SMs share a way to the L2: random sets of SMs send reductions, stores and loads, and each takes its own time (first of two
// rounds). A row of ports.tsv.xz is a launch: what, words of the footprint, threads, SMs that send, and SM:cycles of each. Recorded with
//
//     nvcc -O3 -arch=sm_90a -o ports ports.cu && ./ports > ports.tsv
//
// (H200, driver 580.159.04, CUDA 13.0, 2026-11), all rows up to those of 132 SMs and 1, 2, 4 ... 100 that follow on one GPU, the others on a second one:
// SMs 0, 1, 32, 33, 124 and 125 slow each other on the first, 16, 17, 124, 125, 130 and 131 on the second, and so do 22 or 23 more groups of six or four.
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>
typedef unsigned u32; typedef unsigned long long u64;
template <int KIND> __global__ void k(u32 *p, u32 mask, const unsigned char *on, u64 *t, u32 *sink)
{
    u32 sm, s = 0; asm volatile("mov.u32 %0,%%smid;" : "=r"(sm));
    if (!on[sm]) return;
    u32 g = sm * blockDim.x + threadIdx.x, x = g * 2654435761u + 12345, lane = threadIdx.x & 31;
    u64 t0 = 0, t1;
    for (int r = 0; r < 2; r++) {
    __syncthreads(); t0 = clock64();
#pragma unroll 4
    for (int i = 0; i < 32; i++) {
        x ^= x << 13; x ^= x >> 17; x ^= x << 5;
        u32 line = __shfl_sync(~0u, x, 0) & mask & ~31u;
        if (KIND == 0) asm volatile("red.global.add.u32 [%0],%1;" ::"l"(p + (x & mask)), "r"(1) : "memory");
        if (KIND == 1) asm volatile("st.global.u32 [%0],%1;" ::"l"(p + (x & mask)), "r"(1) : "memory");
        if (KIND == 2) { u32 v; asm volatile("ld.global.cg.u32 %0,[%1];" : "=r"(v) : "l"(p + (x & mask)) : "memory"); s += v; }
        if (KIND == 3) { u32 v; asm volatile("ld.global.cg.u32 %0,[%1];" : "=r"(v) : "l"(p + line + lane) : "memory"); s += v; }
        if (KIND == 5) { u32 v; asm volatile("atom.global.add.u32 %0,[%1],%2;" : "=r"(v) : "l"(p + (x & mask)), "r"(1) : "memory"); s += v; }
        if (KIND == 6) asm volatile("red.global.add.u32 [%0],%1;" ::"l"(p + line + lane), "r"(1) : "memory");
        if (KIND == 7) asm volatile("st.global.v4.u32 [%0],{%1,%1,%1,%1};" ::"l"(p + (line & ~127u) + 4 * lane), "r"(1) : "memory");
        if (KIND == 4) asm volatile("st.global.u32 [%0],%1;" ::"l"(p + line + lane), "r"(1) : "memory");
    }
    __threadfence(); __syncthreads(); t1 = clock64();
    if (r == 0) t[sm] = t1 - t0;
    }
    if (s == 0x12345) *sink = s;
}
static u32 *p, *sink; static u64 *t; static unsigned char *on; static unsigned rnd = 7;
template <int K> static void go(const char *name, u32 words, int th, int sets, int active)
{
    for (int n = 0; n < sets; n++) {
        std::vector<unsigned char> h(132, 0); int c = 0;
        while (c < active) { rnd = rnd * 1664525u + 1013904223u; unsigned s = (rnd >> 10) % 132; if (!h[s]) h[s] = 1, c++; }
        cudaMemcpy(on, h.data(), 132, cudaMemcpyHostToDevice); cudaMemset(t, 0, 132 * 8);
        k<K><<<132, th, 120 << 10>>>(p, words - 1, on, t, sink);
        if (cudaDeviceSynchronize() != cudaSuccess) { printf("error %s\n", cudaGetErrorString(cudaGetLastError())); return; }
        std::vector<u64> v(132); cudaMemcpy(v.data(), t, 132 * 8, cudaMemcpyDeviceToHost);
        printf("%s\t%u\t%d\t%d", name, words, th, active);
        for (int i = 0; i < 132; i++) if (v[i]) printf("\t%d:%d", i, (int)v[i]);
        printf("\n");
    }
}
template <int K> static void all(const char *name, u32 words, int th) { go<K>(name, words, th, 60, 40); for (int a : {1, 2, 4, 132}) go<K>(name, words, th, 2, a); }
template <int K> static void big() { cudaFuncSetAttribute(k<K>, cudaFuncAttributeMaxDynamicSharedMemorySize, 120 << 10); }
int main()
{
    cudaMalloc(&p, 64 << 20); cudaMemset(p, 0, 64 << 20); cudaMalloc(&t, 1 << 16); cudaMalloc(&sink, 64); cudaMalloc(&on, 256);
    big<0>(); big<1>(); big<2>(); big<3>(); big<4>(); big<5>(); big<6>(); big<7>();
    go<0>("red", 4096, 128, 400, 40); go<0>("red", 1 << 20, 256, 200, 60); go<1>("store", 1 << 20, 128, 400, 60); go<2>("load", 1 << 20, 1024, 200, 60); go<3>("line", 1 << 20, 1024, 200, 60); go<4>("stline", 1 << 20, 512, 200, 60);
    go<0>("red", 1 << 20, 256, 3, 132); go<1>("store", 1 << 20, 128, 3, 132); go<2>("load", 1 << 20, 1024, 3, 132); go<3>("line", 1 << 20, 1024, 3, 132); go<4>("stline", 1 << 20, 512, 3, 132);
    for (int a : {1, 2, 4, 8, 16, 32, 66, 100}) { go<0>("red", 1 << 20, 256, 2, a); go<1>("store", 1 << 20, 128, 2, a); go<2>("load", 1 << 20, 1024, 2, a); go<3>("line", 1 << 20, 1024, 2, a); go<4>("stline", 1 << 20, 512, 2, a); go<0>("red", 4096, 128, 2, a); }
    go<0>("red", 4096, 128, 400, 40);
    all<0>("red", 1 << 20, 256); all<0>("red", 1 << 20, 1024); all<1>("store", 1 << 20, 256); all<1>("store", 1 << 20, 1024); all<2>("load", 1 << 20, 1024); all<2>("load", 4096, 1024);
    all<3>("line", 1 << 20, 1024); all<4>("stline", 1 << 20, 1024); all<5>("atom", 1 << 20, 256); all<5>("atom", 1 << 20, 1024); all<6>("redline", 1 << 20, 1024);
    all<7>("st16", 1 << 20, 1024); all<1>("store", 4096, 256); all<4>("stline", 16384, 1024); all<3>("line", 16384, 1024); all<5>("atom", 4096, 256);
    return 0;
}
