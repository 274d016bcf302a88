// print.cu - cycles of each call of printf of a kernel, by launch and call.
//
// A row of print.tsv is a call: text printed, blocks, threads of a block, number of the launch, 1 if the L2 was overwritten before it, call of the
// launch; cycles between the clocks around it, mean over the warps and the most. Recorded with
//
//     nvcc -O3 -arch=sm_90a -o print print.cu && ./print print.tsv >/dev/null
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
typedef unsigned u32; typedef unsigned long long u64;
#define CALLS 6
template <int KIND> __global__ void prints(u64 *out)
{
    u64 t[CALLS + 1];
    t[0] = clock64();
#pragma unroll
    for (u32 k = 0; k < CALLS; k++) {
        if (KIND == 0) printf("hello\n");
        if (KIND == 1) printf("%u\n", threadIdx.x);
        if (KIND == 2) printf("%u %u %f\n", threadIdx.x, k, 1.5);
        if (KIND == 3) printf("%u %u %u %u %u %u %u %u %f %f\n", threadIdx.x, k, k, k, k, k, k, k, 1.5, 2.5);
        if (KIND == 4) printf("%s %u\n", "a string of thirty characters.", threadIdx.x);
        t[k + 1] = clock64();
    }
    if (threadIdx.x % 32 == 0) {
        u32 w = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
        for (u32 k = 0; k <= CALLS; k++) out[w * (CALLS + 1) + k] = t[k];
    }
}
static u64 *dev, host[1 << 16];
static char *flush;
int main(int argc, char **argv)
{
    FILE *f = fopen(argv[1], "w");
    cudaMalloc(&dev, 1 << 20);
    cudaMalloc(&flush, 256 << 20);
    fprintf(f, "#text\tblocks\tthreads\tlaunch\tflushed\tcall\tmean_cycles\tmost_cycles\n");
    static const u32 G[][2] = {{1, 1}, {1, 32}, {1, 64}, {1, 256}, {2, 32}, {8, 32}, {32, 1}, {132, 1}};
    void (*k[])(u64 *) = {prints<0>, prints<1>, prints<2>, prints<3>, prints<4>};
    for (u32 kind = 0; kind < 5; kind++)
        for (u32 g = 0; g < (kind == 2 ? 8 : 2); g++)
            for (u32 flushed = 0; flushed < 2; flushed++)
                for (u32 l = 0; l < 3; l++) {
                    u32 blocks = G[g][0], threads = G[g][1], warps = blocks * ((threads + 31) / 32);
                    if (flushed) cudaMemset(flush, l, 256 << 20);
                    k[kind]<<<blocks, threads>>>(dev);
                    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
                    cudaMemcpy(host, dev, warps * (CALLS + 1) * 8, cudaMemcpyDeviceToHost);
                    for (u32 c = 0; c < CALLS; c++) {
                        double s = 0, m = 0;
                        for (u32 w = 0; w < warps; w++) {
                            double d = host[w * (CALLS + 1) + c + 1] - host[w * (CALLS + 1) + c];
                            s += d;
                            if (d > m) m = d;
                        }
                        fprintf(f, "%u\t%u\t%u\t%u\t%u\t%u\t%.0f\t%.0f\n", kind, blocks, threads, l, flushed, c, s / warps, m);
                    }
                }
    fclose(f);
    return 0;
}
