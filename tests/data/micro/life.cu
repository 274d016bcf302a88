// life.cu - the first cycles of a kernel's warps: when each begins, and how long it waits for its special registers, its parameters and
// two loads from memory. Recorded into life.tsv as
//
//     nvcc -O3 -gencode arch=compute_90,code=sm_90 -o life life.cu
//     ncu --cache-control all --clock-control none --metrics gpc__cycles_elapsed.max,sm__cycles_active.max ./life warps.tsv
//
// which leaves in warps.tsv what the last, cold pass of each launch wrote: grid, block, repetition, warp, the seven clocks, and the SM.
// (H200, driver 580.159.04, CUDA 13.0, 2026-11; the third repetition of each shape was summed up.)
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#define CLK(x) asm volatile("mov.u32 %0, %%clock;" : "=r"(x)::"memory")
#define USE(x, v) asm volatile("xor.b32 %0, %0, %1;" : "+r"(x) : "r"(v))
extern "C" __global__ void life(unsigned *out, const unsigned *in)
{
    unsigned c0, c1, c2, c3, c4, c5, c6, t, b, n, s = 0, sm;
    CLK(c0);
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(t));
    USE(s, t);
    CLK(c1);
    asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(b));
    USE(s, b);
    CLK(c2);
    asm volatile("mov.u32 %0, %%ntid.x;" : "=r"(n));
    unsigned i = b * n + t;
    unsigned v;
    const unsigned *p = in + i;
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    CLK(c3);
    USE(s, v);
    CLK(c4);
    asm volatile("ld.global.u32 %0, [%1+4194304];" : "=r"(v) : "l"(p) : "memory");
    USE(s, v);
    CLK(c5);
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    unsigned *o = out + (i >> 5) * 32;
    CLK(c6);
    unsigned l = t & 31;
    unsigned w = l == 0 ? c0 : l == 1 ? c1 : l == 2 ? c2 : l == 3 ? c3 : l == 4 ? c4 : l == 5 ? c5 : l == 6 ? c6 : l == 7 ? sm : s;
    o[l] = w;
}
int main(int argc, char **argv)
{
    const int conf[][2] = {{1, 32}, {1, 128}, {1, 1024}, {132, 32}, {132, 128}, {132, 256}, {132, 1024}, {264, 256}, {528, 128}, {1056, 256}, {2112, 64}, {2112, 128}, {4224, 256}};
    unsigned *out, *in;
    size_t most = 4224 * 256;
    cudaMalloc(&out, most * 4);
    cudaMalloc(&in, most * 4 + (16 << 20));
    cudaMemset(in, 0, most * 4 + (16 << 20));
    unsigned *h = (unsigned *)malloc(most * 4);
    FILE *f = fopen(argv[1], "w");
    for (auto &c : conf)
        for (int rep = 0; rep < 3; rep++) {
            life<<<c[0], c[1]>>>(out, in);
            cudaError_t e = cudaDeviceSynchronize();
            if (e) { printf("%s\n", cudaGetErrorString(e)); return 1; }
            cudaMemcpy(h, out, (size_t)c[0] * c[1] * 4, cudaMemcpyDeviceToHost);
            for (int w = 0; w < c[0] * c[1] / 32; w++) {
                fprintf(f, "%d\t%d\t%d\t%d", c[0], c[1], rep, w);
                for (int k = 0; k < 8; k++) fprintf(f, "\t%u", h[w * 32 + k]);
                fprintf(f, "\n");
            }
        }
}
