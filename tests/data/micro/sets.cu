// sets.cu - what accesses that find 2 to 32 lines in the L1 cost, by where those lines lie. One line a measurement, of cycles times 100:
//   bit   b  line 1 cycles         chain of loads of two lines, this one and number 2^b
//   chain kind lines step cycles   one warp, each load waits for the one before
//   rate  kind lines step cycles   8 warps, eight accesses of each under way: cycles an access of the SM
// kind 0: load of 4 bytes, 1: store, 2: load of 8 bytes, 3: of 16, 4: store of 16, 5: reduction, 6: ld.cg; step: lines from one to the next, 0 and less: random
// lines of 1,024. The lanes of a line access words side by side, in different banks.
// Recorded in sets.tsv.xz: NVIDIA H200, driver 580.159.04, SM 1980 MHz, 2026-11. nvcc -O3 -arch=sm_90a sets.cu
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#define CK(x) do { cudaError_t e = (x); if (e != cudaSuccess) { printf("error %s line %d\n", cudaGetErrorString(e), __LINE__); return 1; } } while (0)
typedef unsigned u32; typedef unsigned long long u64;
static __device__ __forceinline__ u64 clk() { u64 t; asm volatile("mov.u64 %0,%%clock64;" : "=l"(t) :: "memory"); return t; }

template <int KIND> __global__ void chain(const char *buf, const u32 *line, int n, u64 *t, u32 *sink)
{
    const u32 lane = threadIdx.x & 31;
    const char *a = buf + (u64)line[lane] * 128 + (KIND == 3 ? lane % 8 * 16 : KIND == 2 ? lane % 16 * 8 : lane * 4);
    u32 x = 0;
    for (int round = 0; round < 2; round++) {
        __syncthreads();
        u64 t0 = clk();
        for (int i = 0; i < n; i++) {
            u32 r, s, u, v;
            if (KIND == 3) asm volatile("ld.global.ca.v4.u32 {%0,%1,%2,%3},[%4];" : "=r"(r), "=r"(s), "=r"(u), "=r"(v) : "l"(a));
            else if (KIND == 2) asm volatile("ld.global.ca.v2.u32 {%0,%1},[%2];" : "=r"(r), "=r"(s) : "l"(a));
            else asm volatile("ld.global.ca.u32 %0,[%1];" : "=r"(r) : "l"(a));
            a += r;
            x += r;
        }
        if (round && lane == 0) t[threadIdx.x >> 5] = clk() - t0;
        if (x == 77) *sink = x;
    }
}

template <int KIND> __global__ void rate(char *buf, const u32 *line, int n, u64 *t, u32 *sink)
{
    const u32 lane = threadIdx.x & 31;
    char *a[8];
    u32 x = 0;
    for (int k = 0; k < 8; k++) a[k] = buf + (u64)line[lane] * 128 + (KIND == 3 || KIND == 4 ? (lane + k) % 8 * 16 : KIND == 2 ? (lane + k) % 16 * 8 : (lane + k) % 32 * 4);
    for (int round = 0; round < 2; round++) {
        __syncthreads();
        u64 t0 = clk();
        for (int i = 0; i < n; i += 8) {
            u32 r[8], s, u, v;
#pragma unroll
            for (int k = 0; k < 8; k++) {
                r[k] = 0;
                if (KIND == 0) asm volatile("ld.global.ca.u32 %0,[%1];" : "=r"(r[k]) : "l"(a[k]) : "memory");
                if (KIND == 6) asm volatile("ld.global.cg.u32 %0,[%1];" : "=r"(r[k]) : "l"(a[k]) : "memory");
                if (KIND == 1) asm volatile("st.global.u32 [%0],%1;" :: "l"(a[k]), "r"(0) : "memory");
                if (KIND == 2) asm volatile("ld.global.ca.v2.u32 {%0,%1},[%2];" : "=r"(r[k]), "=r"(s) : "l"(a[k]) : "memory");
                if (KIND == 3) asm volatile("ld.global.ca.v4.u32 {%0,%1,%2,%3},[%4];" : "=r"(r[k]), "=r"(s), "=r"(u), "=r"(v) : "l"(a[k]) : "memory");
                if (KIND == 4) asm volatile("st.global.v4.u32 [%0],{%1,%1,%1,%1};" :: "l"(a[k]), "r"(0) : "memory");
                if (KIND == 5) asm volatile("red.global.add.u32 [%0],%1;" :: "l"(a[k]), "r"(0) : "memory");
            }
#pragma unroll
            for (int k = 0; k < 8; k++) x += r[k], a[k] += r[k];
        }
        if (x == 77) *sink = x;
        if (round && lane == 0) t[threadIdx.x >> 5] = clk() - t0 + (x == 77);
    }
}

int main()
{
    char *buf; u32 *dline, *sink, line[32]; u64 *t, h[32];
    const size_t size = (size_t)1 << 31;
    CK(cudaMalloc(&buf, size)); CK(cudaMemset(buf, 0, size)); CK(cudaMalloc(&dline, sizeof line)); CK(cudaMalloc(&t, 256)); CK(cudaMalloc(&sink, 4));
    const void *all[] = {(void *)chain<0>, (void *)chain<2>, (void *)chain<3>, (void *)rate<0>, (void *)rate<1>, (void *)rate<2>, (void *)rate<3>, (void *)rate<4>, (void *)rate<5>, (void *)rate<6>};
    for (auto f : all) cudaFuncSetAttribute(f, cudaFuncAttributePreferredSharedMemoryCarveout, 0);
    const int n = 256;
    for (int b = 0; b < 24; b++)
        for (int x = 0; x < 4; x++) {
            for (int l = 0; l < 32; l++) line[l] = l < 16 ? (u32)x : 1u << b;
            CK(cudaMemcpy(dline, line, sizeof line, cudaMemcpyHostToDevice));
            for (int again = 0; again < 2; again++) chain<0><<<1, 32>>>(buf, dline, n, t, sink);
            CK(cudaDeviceSynchronize()); CK(cudaMemcpy(h, t, 8, cudaMemcpyDeviceToHost));
            printf("bit\t%d\t%d\t1\t%.0f\n", b, x, 100.0 * h[0] / n);
        }
    for (int lines = 4; lines <= 32; lines *= 2)
        for (int step = -3; step <= 40; step++) {
            srand(77 + step);
            u32 start[32];
            for (int l = 0; l < lines; l++) start[l] = step > 0 ? (u32)(l * step) : (u32)(rand() % 1024);
            for (int l = 0; l < 32; l++) line[l] = start[l * lines / 32];
            CK(cudaMemcpy(dline, line, sizeof line, cudaMemcpyHostToDevice));
            for (int kind = 0; kind < (lines < 32 && step > 7 ? 1 : 7); kind++) {
                for (int again = 0; again < 2; again++)
                    switch (kind) {
                    case 0: rate<0><<<1, 256>>>(buf, dline, n, t, sink); break;
                    case 1: rate<1><<<1, 256>>>(buf, dline, n, t, sink); break;
                    case 2: rate<2><<<1, 256>>>(buf, dline, n, t, sink); break;
                    case 3: rate<3><<<1, 256>>>(buf, dline, n, t, sink); break;
                    case 4: rate<4><<<1, 256>>>(buf, dline, n, t, sink); break;
                    case 5: rate<5><<<1, 256>>>(buf, dline, n, t, sink); break;
                    default: rate<6><<<1, 256>>>(buf, dline, n, t, sink); break;
                    }
                CK(cudaDeviceSynchronize()); CK(cudaMemcpy(h, t, 64, cudaMemcpyDeviceToHost));
                double sum = 0;
                for (int w = 0; w < 8; w++) sum += (double)h[w];
                printf("rate\t%d\t%d\t%d\t%.0f\n", kind, lines, step, 100 * sum / 8 / 8 / n);
            }
            for (int kind = 0; kind < 4; kind++) {
                if (kind == 1) continue;
                if (kind == 0) chain<0><<<1, 32>>>(buf, dline, n, t, sink);
                else if (kind == 2) chain<2><<<1, 32>>>(buf, dline, n, t, sink); else chain<3><<<1, 32>>>(buf, dline, n, t, sink);
                CK(cudaDeviceSynchronize()); CK(cudaMemcpy(h, t, 8, cudaMemcpyDeviceToHost));
                printf("chain\t%d\t%d\t%d\t%.0f\n", kind, lines, step, 100.0 * h[0] / n);
            }
        }
    return 0;
}
