// turn.cu - rows of W words a thread: loads of all of them, some arithmetic, stores of all of them; when each warp gets how far. The columns are means
// over the blocks, of the first and of the last warp of each, from the start of its first warp: all is loaded, the first store issues, the last one has
// issued, the fence behind them has ended. Recorded in turn.tsv.xz: NVIDIA H200, driver 580.159.04, SM 1980 MHz, 2026-11. nvcc -O3 -arch=sm_90a turn.cu
#include "common.h"
static u64 *t; static char *buf, *cold;
static void flush() { static int k; cudaMemset(cold, ++k, 256u << 20); cudaDeviceSynchronize(); }

// stagger: so many cycles later begins each further warp of a block that loads nothing
template <int W, int LOAD, int STORE> __global__ void turn(const float *in, float *out, u64 *t, int stagger)
{
    u64 t0 = clk(); int i = blockIdx.x * blockDim.x + threadIdx.x; float m[W];
    if (LOAD) {
#pragma unroll
        for (int k = 0; k < W; k++) m[k] = in[i * W + k];
    } else {
        for (int k = 0; k < W; k++) m[k] = i * 0.5f + k;
        if (stagger) { u64 w = clk(), n = (u64)(threadIdx.x >> 5) * stagger; while (clk() - w < n) {} }
    }
    float s = 0;
#pragma unroll
    for (int k = 0; k < W; k++) s += m[k];
    u64 t1 = clk();
    for (int r = 0; r < 4; r++) {
#pragma unroll
        for (int k = 0; k < W; k++) m[k] = m[k] * s + m[(k + 1) % W];
    }
    u64 t2 = clk();
    if (STORE) {
#pragma unroll
        for (int k = 0; k < W; k++) out[i * W + k] = m[k];
    }
    u64 t3 = clk();
    if (!STORE) { float q = 0; for (int k = 0; k < W; k++) q += m[k]; if (q == 1.25f) out[0] = q; }
    __threadfence();
    u64 t4 = clk();
    if ((threadIdx.x & 31) == 0) { u64 *p = t + (i >> 5) * 8; p[0] = t0; p[1] = t1; p[2] = t2; p[3] = t3; p[4] = t4; p[5] = smid(); }
}
template <int W, int L, int S> static void turns(FILE *f, const char *name)
{
    for (int b : {1, 36, 132}) for (int th : {32, 64, 128, 256, 512}) for (int stagger : {0, 100, 200, 400, 800}) {
        if (L && stagger) continue;
        for (int warm = 0; warm < 2; warm++) {
            if (!warm) flush();
            turn<W, L, S><<<b, th>>>((float *)buf, (float *)(buf + (64 << 20)), t, stagger);
            CK(cudaDeviceSynchronize()); int n = b * th / 32; std::vector<u64> h(n * 8); CK(cudaMemcpy(h.data(), t, h.size() * 8, cudaMemcpyDeviceToHost));
            // means over blocks of: end of loads (first, last warp), start of stores (first, last), stores issued (first, last), fence (first, last)
            double r[8] = {0}; int per = th / 32;
            for (int k = 0; k < b; k++) {
                u64 lo = ~0ull; for (int w = 0; w < per; w++) lo = std::min(lo, h[(k * per + w) * 8]);
                for (int c = 0; c < 4; c++) { u64 a = ~0ull, z = 0; for (int w = 0; w < per; w++) { u64 v = h[(k * per + w) * 8 + 1 + c] - lo; a = std::min(a, v); z = std::max(z, v); } r[2 * c] += a; r[2 * c + 1] += z; }
            }
            fprintf(f, "%s\t%d\t%d\t%d\t%d", name, b, th, stagger, warm); for (int c = 0; c < 8; c++) fprintf(f, "\t%.0f", r[c] / b); fprintf(f, "\n");
        }
    }
}
int main()
{
    CK(cudaMalloc(&buf, 256u << 20)); CK(cudaMemset(buf, 1, 256u << 20)); CK(cudaMalloc(&t, 4 << 20)); CK(cudaMalloc(&cold, 256u << 20));
    FILE *f = stdout; fprintf(f, "#test\tblocks\tthreads\tstagger\twarm\tloaded_first\tloaded_last\tstore_first\tstore_last\tstored_first\tstored_last\tfenced_first\tfenced_last\n");
    turns<16, 1, 1>(f, "load16store16"); turns<13, 1, 1>(f, "load13store13"); turns<16, 0, 1>(f, "store16"); turns<13, 0, 1>(f, "store13"); turns<8, 0, 1>(f, "store8"); turns<16, 1, 0>(f, "load16"); turns<13, 1, 0>(f, "load13");
    return 0;
}
