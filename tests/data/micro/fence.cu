// fence.cu - what a fence costs behind what is in flight. A line a measurement: scope, what, n, warps, blocks, mean cycles of the fence, the same of the first warp of
// each block, least, mean cycles of a round with what is in front of the fence; twelve rounds, of which the last eight count. scope 0: fence.acq_rel.cta, 1: .gpu, 2: .sys,
// 3: .cluster, 4: fence.sc.gpu, 5: membar.gl, 6: fence.sc.cta. Recorded in fence.tsv.xz: NVIDIA H200, driver 580.159.04, SM 1980 MHz, 2026-11. nvcc -O3 -arch=sm_90a fence.cu
#include <cstdio>
#include <cstdint>
#include <vector>
__device__ __forceinline__ uint32_t clk() { uint32_t t; asm volatile("mov.u32 %0,%%clock;" : "=r"(t) :: "memory"); return t; }
enum { ROUNDS = 12 };
// what 0: nothing, 1: stores of n lines, 2: loads of n lines not waited for, 3: reductions of n lines, 4: stores by the other warps only, 5: stores, then 2000 cycles, 6: shared stores, 7: a load that is waited for (consumed)
template<int S> __global__ void k(char *buf, int what, int n, uint32_t *out, uint32_t *sink) {
    __shared__ volatile uint32_t sh[1024];
    uint32_t warp = threadIdx.x >> 5, lane = threadIdx.x & 31, sum = 0, least = ~0u, all = 0, x = 0;
    char *mine = buf + (uint64_t)(blockIdx.x * 32 + warp) * 65536 + lane * 4;
    for (int r = 0; r < ROUNDS; r++) {
        __syncthreads();
        uint32_t t0 = clk();
        uint32_t v[8] = {};
        if (what == 1 || what == 5 || (what == 4 && warp)) for (int i = 0; i < n; i++) *(volatile uint32_t *)(mine + ((r * 37 + i) & 511) * 128) = r;
        if (what == 2 || what == 7) {
#pragma unroll
            for (int i = 0; i < 8; i++) if (i < n) asm volatile("ld.global.cg.u32 %0,[%1];" : "=r"(v[i]) : "l"(mine + ((r * 37 + i) & 511) * 128));
        }
        if (what == 7) { for (int i = 0; i < 8; i++) x += v[i]; asm volatile("" :: "r"(x) : "memory"); if (x == 0x1234567) *sink = x; }
        if (what == 3) for (int i = 0; i < n; i++) asm volatile("red.relaxed.gpu.global.add.u32 [%0],%1;" :: "l"(mine + ((r * 37 + i) & 511) * 128), "r"(1) : "memory");
        if (what == 6) for (int i = 0; i < n; i++) sh[(threadIdx.x + i) & 1023] = r;
        if (what == 5) { uint32_t w = clk(); while (clk() - w < 2000); }
        uint32_t t1 = clk();
        if (S == 0) asm volatile("fence.acq_rel.cta;" ::: "memory");
        if (S == 1) asm volatile("fence.acq_rel.gpu;" ::: "memory");
        if (S == 2) asm volatile("fence.acq_rel.sys;" ::: "memory");
        if (S == 3) asm volatile("fence.acq_rel.cluster;" ::: "memory");
        if (S == 4) asm volatile("fence.sc.gpu;" ::: "memory");
        if (S == 5) asm volatile("membar.gl;" ::: "memory");
        if (S == 6) asm volatile("fence.sc.cta;" ::: "memory");
        uint32_t t2 = clk();
        if (what == 2) { for (int i = 0; i < 8; i++) x += v[i]; }
        if (r >= 4) { sum += t2 - t1; least = t2 - t1 < least ? t2 - t1 : least; all += t2 - t0; }
    }
    if (lane == 0) { uint32_t *o = out + (blockIdx.x * 32 + warp) * 3; o[0] = sum; o[1] = least; o[2] = all; }
    if (x == 0x12345) *sink = x;
}
static char *buf; static uint32_t *out, *sink;
template<int S> void one(int what, int n, int warps, int blocks) {
    std::vector<uint32_t> h(blocks * 96);
    cudaMemset(out, 0, 132 * 96 * 4);
    k<S><<<blocks, warps * 32>>>(buf, what, n, out, sink); cudaError_t e = cudaMemcpy(h.data(), out, h.size() * 4, cudaMemcpyDeviceToHost);
    double m = 0, a = 0, w0 = 0; uint32_t l = ~0u; int c = 0;
    for (int b = 0; b < blocks; b++) for (int w = 0; w < warps; w++) { uint32_t *o = &h[(b * 32 + w) * 3]; m += o[0]; a += o[2]; if (o[1] < l) l = o[1]; if (!w) w0 += o[0]; c++; }
    printf("%d\t%d\t%d\t%d\t%d\t%.1f\t%.1f\t%u\t%.1f\t%s\n", S, what, n, warps, blocks, m / c / (ROUNDS - 4), w0 / blocks / (ROUNDS - 4), l, a / c / (ROUNDS - 4), cudaGetErrorName(e));
}
template<int S> void all() {
    const int ws[] = {1, 4, 8, 32}, bs[] = {1, 132};
    for (int b : bs) for (int w : ws) {
        one<S>(0, 0, w, b); one<S>(6, 1, w, b);
        for (int n : {1, 2, 4, 8, 16, 32, 64}) one<S>(1, n, w, b);
        for (int n : {1, 4, 8}) { one<S>(2, n, w, b); one<S>(7, n, w, b); }
        for (int n : {1, 4, 16}) one<S>(3, n, w, b);
        if (w > 1) for (int n : {1, 4, 16}) one<S>(4, n, w, b);
        for (int n : {1, 16}) one<S>(5, n, w, b);
    }
}
int main() {
    cudaMalloc(&buf, 132ull * 32 * 65536); cudaMemset(buf, 0, 132ull * 32 * 65536); cudaMalloc(&out, 132 * 96 * 4); cudaMalloc(&sink, 4);
    printf("scope\twhat\tn\twarps\tblocks\tmean\tfirst_warp\tleast\tround\tstatus\n");
    all<0>(); all<1>(); all<2>(); all<3>(); all<4>(); all<5>(); all<6>();
}
