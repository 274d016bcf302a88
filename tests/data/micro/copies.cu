/* copies.cu - what cp.async brings by where it writes in shared memory: sectors of the tags, sectors through the crossbar, requests (tests/data/micro/copies.tsv).
 * Lane l of a row of LPR copies SIZE bytes from row * ROW_FROM + l * SIZE to row * ROW_TO + l * LANE_TO + SKEW. A warp makes sixteen copies from other
 * lines to the same place: of those past the L1 (cg) only the last one is fetched, unless the one before is already on its way. */
#include <cstdio>
#include <cstdint>
#include <cuda_runtime.h>
template <int SZ, bool CG> __global__ void copies(const char *x, int lpr, int rs, int ds, int cs, int skew, int its, int *out)
{
    extern __shared__ __align__(128) char s[];
    uint32_t base = (uint32_t)__cvta_generic_to_shared(s) + threadIdx.x / 32 * 8192;
    int lane = threadIdx.x % 32, r = lane / lpr, c = lane % lpr;
    const char *p = x + (size_t)(blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32) * its * 16384 + r * rs + c * SZ;
    uint32_t to = base + r * ds + c * cs + skew;
    for (int k = 0; k < its; k++) {
        if (CG) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(p + (size_t)k * 16384) : "memory");
        else asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(p + (size_t)k * 16384), "n"(SZ) : "memory");
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    if (s[threadIdx.x] == 77) out[0] = 1;
}
int main()
{
    char *x; int *o;
    const int its = 16, warps = 4, blocks = 132;
    cudaMalloc(&x, (size_t)blocks * warps * its * 16384 + 65536);
    cudaMalloc(&o, 4);
    cudaFuncSetAttribute(copies<16, true>, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
    cudaFuncSetAttribute(copies<16, false>, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
    cudaFuncSetAttribute(copies<8, false>, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
    cudaFuncSetAttribute(copies<4, false>, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
    struct { int lpr, rs, ds, cs, skew; } c[] = {
        {8, 512, 128, 16, 0}, {8, 512, 128, 16, 16}, {8, 512, 144, 16, 0}, {8, 512, 160, 16, 0}, {8, 512, 192, 16, 0}, {8, 512, 128, 16, 32}, {8, 512, 128, 16, 64},
        {4, 512, 64, 16, 0}, {4, 512, 80, 16, 0}, {4, 512, 96, 16, 0}, {4, 512, 128, 16, 0}, {4, 512, 64, 16, 16}, {4, 512, 64, 16, 32}, {4, 64, 64, 16, 0}, {4, 64, 80, 16, 0}, {4, 64, 96, 16, 0}, {4, 128, 80, 16, 0},
        {2, 512, 32, 16, 0}, {2, 512, 48, 16, 0}, {2, 512, 64, 16, 0}, {2, 512, 32, 16, 16}, {2, 32, 48, 16, 0}, {2, 32, 64, 16, 0},
        {1, 512, 16, 16, 0}, {1, 512, 32, 16, 0}, {1, 512, 128, 16, 0}, {1, 32, 16, 16, 0}, {1, 16, 32, 16, 0}, {1, 16, 128, 16, 0},
        {8, 512, 16, 128, 0}, {4, 512, 16, 128, 0}, {32, 0, 0, 16, 0}, {32, 0, 0, 16, 16}, {32, 0, 0, 32, 0}, {32, 0, 0, 48, 0}};
    const int n = sizeof c / sizeof *c;
    for (int v = 0; v < 2; v++)
        for (int k = 0; k < n; k++) {
            if (v == 0) copies<16, true><<<blocks, warps * 32, 40960>>>(x, c[k].lpr, c[k].rs, c[k].ds, c[k].cs, c[k].skew, its, o);
            else copies<16, false><<<blocks, warps * 32, 40960>>>(x, c[k].lpr, c[k].rs, c[k].ds, c[k].cs, c[k].skew, its, o);
            fprintf(stderr, "%s 16 lpr %d rs %d ds %d cs %d skew %d\n", v ? "ca" : "cg", c[k].lpr, c[k].rs, c[k].ds, c[k].cs, c[k].skew);
        }
    struct { int lpr, rs, ds, cs, skew; } d[] = {{32, 0, 0, 1, 0}, {32, 0, 0, 1, 1}, {8, 512, 9, 1, 0}, {16, 512, 17, 1, 0}, {1, 512, 1, 1, 0}, {8, 512, 1, 32, 0}, {8, 512, 16, 1, 0}, {4, 512, 5, 1, 0}, {32, 0, 0, 2, 0}, {32, 0, 0, 4, 0}, {32, 0, 0, 32, 0}};
    for (int v = 0; v < 2; v++)
        for (unsigned k = 0; k < sizeof d / sizeof *d; k++) {
            int z = v ? 4 : 8;
            if (v) copies<4, false><<<blocks, warps * 32, 40960>>>(x, d[k].lpr, d[k].rs, d[k].ds * z, d[k].cs * z, d[k].skew * z, its, o);
            else copies<8, false><<<blocks, warps * 32, 40960>>>(x, d[k].lpr, d[k].rs, d[k].ds * z, d[k].cs * z, d[k].skew * z, its, o);
            fprintf(stderr, "ca %d lpr %d rs %d ds %d cs %d skew %d\n", z, d[k].lpr, d[k].rs, d[k].ds * z, d[k].cs * z, d[k].skew * z);
        }
    fprintf(stderr, "%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
