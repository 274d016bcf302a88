// loops.cu - what branches cost, by stall reason: profiled with ncu. Loops of `n` turns whose bodies are so long, with branches that are taken and not.
// Recorded into loops.tsv.xz (H200, driver 580.159.04, CUDA 13.0, 2026-11) with smsp__average_warps_issue_stalled_*_per_issue_active.ratio times
// smsp__issue_active.sum by smsp__warps_launched.sum; the ratios have two digits behind the point.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
typedef unsigned u32;
#define F1 "fma.rn.f32 %0,%0,%1,%1;"
#define G4 "fma.rn.f32 %0,%0,%1,%1; fma.rn.f32 %2,%2,%1,%1; fma.rn.f32 %3,%3,%1,%1; fma.rn.f32 %4,%4,%1,%1;"
#define R2(x) x x
#define R4(x) R2(R2(x))
#define R16(x) R4(R4(x))
#define R64(x) R16(R4(x))
#define LOOP(name, body) extern "C" __global__ void name(float *out, int n, float k, int m) { float x = threadIdx.x, y = x + 1, z = x + 2, u = x + 3; \
    asm volatile("{.reg .pred p, q, r; .reg .u32 i; setp.eq.s32 q,%6,77; setp.ne.s32 r,%6,77; mov.u32 i,0;\n .pragma \"nounroll\";\nL%=: " body " add.u32 i,i,1; setp.lt.s32 p,i,%5; @p bra L%=;}" \
    : "+f"(x) : "f"(k), "f"(y), "f"(z), "f"(u), "r"(n), "r"(m)); out[blockIdx.x * blockDim.x + threadIdx.x] = x; }
#define LOOPG(name, body) extern "C" __global__ void name(float *out, int n, float k, int m) { float x = threadIdx.x, y = x + 1, z = x + 2, u = x + 3; \
    asm volatile("{.reg .pred p, q, r; .reg .u32 i; mov.u32 i,0;\n .pragma \"nounroll\";\nL%=: " body " add.u32 i,i,1; setp.lt.s32 p,i,%5; @p bra L%=;}" \
    : "+f"(x), "+f"(k), "+f"(y), "+f"(z), "+f"(u) : "r"(n), "r"(m)); out[blockIdx.x * blockDim.x + threadIdx.x] = x + y + z + u; }
LOOP(chain1, F1) LOOP(chain4, R4(F1)) LOOP(chain16, R16(F1)) LOOP(chain64, R64(F1)) LOOP(chain256, R4(R64(F1))) LOOP(chain1024, R16(R64(F1)))
LOOPG(wide4, G4) LOOPG(wide16, R4(G4)) LOOPG(wide64, R16(G4)) LOOPG(wide256, R64(G4)) LOOPG(wide1024, R4(R64(G4))) LOOPG(wide2048, R2(R4(R64(G4))))
// four branches that are not taken, so many instructions apart; four that are taken, over 24 instructions, with one and with eight between them
#define NOT(n, body) "add.u32 w,%6," #n "; setp.eq.s32 q,i,w; @q bra E%=; " body
#define OVER(n, body) "add.u32 w,%6," #n "; setp.ne.s32 q,i,w; @q bra T" #n "%=; " R16(F1) R2(R4(F1)) "T" #n "%=: " body
#define LOOPB(name, body) extern "C" __global__ void name(float *out, int n, float k, int m) { float x = threadIdx.x, y = x + 1, z = x + 2, u = x + 3; \
    asm volatile("{.reg .pred p, q, r; .reg .u32 i, w; mov.u32 i,0;\n .pragma \"nounroll\";\nL%=: " body " add.u32 i,i,1; setp.lt.s32 p,i,%5; @p bra L%=;}" \
    : "+f"(x) : "f"(k), "f"(y), "f"(z), "f"(u), "r"(n), "r"(m)); out[blockIdx.x * blockDim.x + threadIdx.x] = x; }
LOOPB(not1, NOT(1, F1) NOT(2, F1) NOT(3, F1) NOT(4, F1) "E%=:")
LOOPB(not8, NOT(1, R2(R4(F1))) NOT(2, R2(R4(F1))) NOT(3, R2(R4(F1))) NOT(4, R2(R4(F1))) "E%=:")
LOOPB(taken1, OVER(1, F1) OVER(2, F1) OVER(3, F1) OVER(4, F1))
LOOPB(taken8, OVER(1, R2(R4(F1))) OVER(2, R2(R4(F1))) OVER(3, R2(R4(F1))) OVER(4, R2(R4(F1))))
int main()
{
    float *out; cudaMalloc(&out, 1 << 20);
    const int threads[] = {32, 128, 256, 512, 1024};
#define GO(name) for (int t : threads) { name<<<1, t>>>(out, 256, 1.5f, -100); }
    GO(chain1) GO(chain4) GO(chain16) GO(chain64) GO(chain256) GO(chain1024) GO(wide4) GO(wide16) GO(wide64) GO(wide256) GO(wide1024) GO(wide2048)
    GO(not1) GO(not8) GO(taken1) GO(taken8)
    cudaError_t e = cudaDeviceSynchronize(); if (e) { printf("%s\n", cudaGetErrorString(e)); return 1; }
}
