// start.cu - launches of straight code: grids x lengths. Profiled with ncu; itself prints clocks of every warp inside its SM:
// test, length, blocks, threads: mean over SMs of (last warp's first clock - first warp's first clock), mean cycles a warp runs (first wave), mean of the later ones
#include <cstdio>
#include <vector>
#include <map>
#include <cstdlib>
#include <cuda_runtime.h>
typedef unsigned u32; typedef unsigned long long u64;
struct rec { u64 t0, t1; u32 sm, pad; };
template <int N> __global__ void line(u32 *out, u32 a, rec *r)
{
    u64 t0, t1; u32 sm, x = a + threadIdx.x;
    asm volatile("mov.u64 %0,%%clock64;" : "=l"(t0)::"memory");
#pragma unroll
    for (int i = 0; i < N; i++) asm volatile("mad.lo.u32 %0,%0,%0,%1;" : "+r"(x) : "r"(i * 77 + 1));
    asm volatile("mov.u32 %0,%%smid;" : "=r"(sm));
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
    asm volatile("mov.u64 %0,%%clock64;" : "=l"(t1)::"memory");
    if (threadIdx.x % 32 == 0) { rec v = {t0, t1, sm, 0}; r[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = v; }
}
template <int N> static void go(int blocks, int threads, u32 *o, rec *r)
{
    line<N><<<blocks, threads>>>(o, 5, r);
    if (cudaDeviceSynchronize() != cudaSuccess) { printf("error\n"); exit(1); }
    int w = blocks * threads / 32; std::vector<rec> h(w);
    cudaMemcpy(h.data(), r, w * sizeof(rec), cudaMemcpyDeviceToHost);
    std::map<u32, std::vector<rec>> sm; for (auto &v : h) sm[v.sm].push_back(v);
    double spread = 0, run = 0; for (auto &p : sm) { u64 lo = ~0ull, hi = 0; for (auto &v : p.second) { if (v.t0 < lo) lo = v.t0; if (v.t0 > hi) hi = v.t0; run += v.t1 - v.t0; } spread += hi - lo; }
    printf("start\t%d\t%d\t%d\t%.1f\t%.1f\n", N, blocks, threads, spread / sm.size(), run / w);
}
int main()
{
    u32 *o; rec *r; cudaMalloc(&o, 16 << 20); cudaMalloc(&r, 8 << 20);
    printf("#test\tlength\tblocks\tthreads\tspread\trun\n");
    for (int t : {32, 256, 1024}) for (int b : {1, 8, 16, 32, 64, 128, 132, 264, 528, 1056}) { if (t != 256 && b > 132) continue; go<4>(b, t, o, r); go<100>(b, t, o, r); go<400>(b, t, o, r); go<2000>(b, t, o, r); }
    return 0;
}
