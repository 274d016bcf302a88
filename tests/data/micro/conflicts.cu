// conflicts.cu - conflicts in shared memory between instructions: the warps of mask A run role A, those of mask B role B, 16 instructions a round.
// Lines "A MASK B MASK ROUNDS BLOCKS" on standard input are launches; the rows of conflicts.tsv.xz are in their order, recorded with
//
//     nvcc -O3 -arch=sm_90 -o conflicts conflicts.cu && ncu --clock-control none --csv --page raw --metrics (those of its first line) ./conflicts <lines
//
// (H200, driver 580.159.04, CUDA 13.0, 2026-11). The compiler joins shuffles, matches and reductions of a round that are the same.
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#define R16(x) x x x x x x x x x x x x x x x x
extern __shared__ __align__(1024) unsigned char sm[];
__device__ void role(int r, unsigned s, unsigned *g, int rounds, unsigned *out, int k)
{
    unsigned a = 0, b = 0, c = 0, d = 0;
    switch (r) {
    case 1: for (int i = 0; i < rounds; i++) { R16(asm volatile("ld.volatile.shared.u32 %0,[%1];" : "=r"(a) : "r"(s + 4 * (threadIdx.x & 31)));) } break;
    case 2: for (int i = 0; i < rounds; i++) { R16(asm volatile("ld.volatile.shared.v4.u32 {%0,%1,%2,%3},[%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(s + 16 * (threadIdx.x & 31)));) } break;
    case 3: for (int i = 0; i < rounds; i++) { R16(asm volatile("st.volatile.shared.u32 [%0],%1;" ::"r"(s + 4 * (threadIdx.x & 31)), "r"(a));) } break;
    case 4: for (int i = 0; i < rounds; i++) { R16(asm volatile("st.volatile.shared.v4.u32 [%0],{%1,%1,%1,%1};" ::"r"(s + 16 * (threadIdx.x & 31)), "r"(a));) } break;
    case 5: for (int i = 0; i < rounds; i++) { R16(asm volatile("ld.global.ca.u32 %0,[%1];" : "=r"(d) : "l"(g + (threadIdx.x & 31))); a ^= d; g += 32 * k; ) } break;
    case 6: for (int i = 0; i < rounds; i++) { R16(asm volatile("ld.global.cg.u32 %0,[%1];" : "=r"(d) : "l"(g + (threadIdx.x & 31) )); a ^= d; g += 32;) } break;
    case 7: for (int i = 0; i < rounds; i++) { R16(asm volatile("st.volatile.global.u32 [%0],%1;" ::"l"(g + (threadIdx.x & 31)), "r"(a));) } break;
    case 8: for (int i = 0; i < rounds; i++) { R16(asm volatile("shfl.sync.bfly.b32 %0,%1,1,31,-1;" : "=r"(b) : "r"(d)); c ^= b;) } break;
    case 9: for (int i = 0; i < rounds; i++) { R16(asm volatile("red.shared.add.u32 [%0],%1;" ::"r"(s + 4 * (threadIdx.x & 31)), "r"(i));) } break;
    case 10: for (int i = 0; i < rounds; i++) { R16(asm volatile("match.any.sync.b32 %0,%1,-1;" : "=r"(b) : "r"(d)); c ^= b;) } break;
    case 11: for (int i = 0; i < rounds; i++) { R16(asm volatile("cp.async.ca.shared.global [%0],[%1],4;" ::"r"(s + 4 * (threadIdx.x & 31)), "l"(g + (threadIdx.x & 31)));) } break;
    case 12: for (int i = 0; i < rounds; i++) { R16(asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3},[%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(s + 16 * (threadIdx.x & 31))); a ^= b ^ c ^ d; s += k;) } break;
    case 13: for (int i = 0; i < rounds; i++) { R16(asm volatile("redux.sync.add.u32 %0,%1,-1;" : "=r"(b) : "r"(d)); c ^= b;) } break;
    case 14: for (int i = 0; i < rounds; i++) { R16(asm volatile("bar.arrive %0,96;" ::"r"(1 + (threadIdx.x >> 5)));  asm volatile("bar.arrive %0,96;" ::"r"(1 + (threadIdx.x >> 5)));  asm volatile("bar.arrive %0,96;" ::"r"(1 + (threadIdx.x >> 5))); ) } break;
    case 15: for (int i = 0; i < rounds; i++) { R16(asm volatile("ld.global.ca.v4.u32 {%0,%1,%2,%3},[%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(g + 4 * (threadIdx.x & 31))); a ^= b ^ c ^ d; g += 32 * k;) } break;
    case 16: for (int i = 0; i < rounds; i++) { R16(asm volatile("cp.async.cg.shared.global [%0],[%1],16;" ::"r"(s + 16 * (threadIdx.x & 31)), "l"(g + 4 * (threadIdx.x & 31)));) } break;
    case 17: for (int i = 0; i < rounds; i++) { R16(asm volatile("atom.shared.add.u32 %0,[%1],%2;" : "=r"(a) : "r"(s + 4 * (threadIdx.x & 31)), "r"(i));) } break;
    case 18: for (int i = 0; i < rounds; i++) { R16(asm volatile("match.any.sync.b32 %0,%1,-1;" : "=r"(b) : "r"(threadIdx.x & 3)); c ^= b;) } break;
    case 19: for (int i = 0; i < rounds; i++) { R16(asm volatile("match.all.sync.b32 %0,%1,-1;" : "=r"(b) : "r"(d)); c ^= b;) } break;
    case 20: for (int i = 0; i < rounds; i++) { R16(asm volatile("mbarrier.arrive.shared.b64 _,[%0];" ::"r"(s + 8 * (threadIdx.x & 31)));) } break;
    case 21: for (int i = 0; i < rounds; i++) { R16(asm volatile("ld.global.ca.u32 %0,[%1];" : "=r"(d) : "l"(g + (threadIdx.x & 31) )); a ^= d; g += 32;) } break;
    case 22: for (int i = 0; i < rounds; i++) { R16(asm volatile("st.volatile.shared.u8 [%0],%1;" ::"r"(s + (threadIdx.x & 31)), "r"(a));) } break;
    case 23: d = threadIdx.x * 77; for (int i = 0; i < rounds; i++) { R16(asm volatile("shfl.sync.idx.b32 %0,%1,%2,31,-1;" : "=r"(b) : "r"(d), "r"((threadIdx.x * 7) & 31)); c ^= b;) } break;
    case 24: d = threadIdx.x * 77; for (int i = 0; i < rounds; i++) { R16(asm volatile("shfl.sync.up.b32 %0,%1,3,0x1000,-1;" : "=r"(b) : "r"(d)); c ^= b;) } break;
    case 25: d = threadIdx.x * 77; for (int i = 0; i < rounds; i++) { R16(asm volatile("shfl.sync.down.b32 %0,%1,5,0x181f,-1;" : "=r"(b) : "r"(d)); c ^= b;) } break;
    case 26: for (int i = 0; i < rounds; i++) { R16(asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3},[%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(g + 4 * (threadIdx.x & 31))); a ^= b ^ c ^ d; g += 128;) } break;
    case 27: for (int i = 0; i < rounds; i++) { R16(asm volatile("ld.global.ca.u32 %0,[%1];" : "=r"(d) : "l"(g + (threadIdx.x & 31))); a ^= d; g += k ? k : (i & 15) * 32; ) } break;
    case 28: for (int i = 0; i < rounds; i++) { R16(asm volatile("st.volatile.global.v4.u32 [%0],{%1,%1,%1,%1};" ::"l"(g + 4 * (threadIdx.x & 31)), "r"(a));) } break;
    case 29: for (int i = 0; i < rounds; i++) { R16(asm volatile("st.shared::cluster.u32 [%0],%1;" ::"r"(s + 4 * (threadIdx.x & 31)), "r"(a)); s += k;) } break;
    case 30: for (int i = 0; i < rounds; i++) { R16(asm volatile("ld.volatile.shared.u32 %0,[%1];" : "=r"(b) : "r"(s + 4 * (threadIdx.x & 31))); c ^= b; if (c == 77) a++;) } break;
    }
    if (a + b + c + d == 0x12345) *out = 1;
}
__global__ void __launch_bounds__(1024) pair(int ra, unsigned ma, int rb, unsigned mb, int rounds, unsigned *g, unsigned *out, int k)
{
    int w = threadIdx.x >> 5;
    for (unsigned i = threadIdx.x; i < 8192; i += blockDim.x) ((unsigned *)sm)[i] = 0;
    __syncthreads();
    unsigned s = (unsigned)__cvta_generic_to_shared(sm) + w * 1024;
    if (ma >> w & 1) role(ra, s, g + (w + 32 * blockIdx.x) * 131072, rounds, out, k);
    else if (mb >> w & 1) role(rb, s, g + (w + 32 * blockIdx.x) * 131072, rounds, out, k);
    asm volatile("cp.async.wait_all;");
}
int main()
{
    unsigned *g, *out;
    size_t n = 32ul * 131072 * 4 * 4;
    cudaMalloc(&g, n); cudaMalloc(&out, 4); cudaMemset(g, 0, n);
    int ra, rb, rounds, blocks; unsigned ma, mb;
    while (scanf("%d %x %d %x %d %d", &ra, &ma, &rb, &mb, &rounds, &blocks) == 6) {
        pair<<<blocks, 1024, 32768>>>(ra, ma, rb, mb, rounds, g, out, 0);
        cudaError_t e = cudaGetLastError(); if (!e) e = cudaDeviceSynchronize();
        if (e) { printf("%d %d %s\n", ra, rb, cudaGetErrorString(e)); return 1; }
    }
}
