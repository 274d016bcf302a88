// heap.cu - what malloc, free and printf of a kernel take. A row of heap.tsv is a launch: what each thread does (`pair`: malloc, a store, a
// load, free; `_first`: as nobody has asked for so much before), blocks, threads of a block, bytes that a thread asks for, how often; cycles of
// a warp for one time, mean of all and the most; cycles of the launch by the events around it, at 1.98 GHz. Recorded with
//
//     nvcc -O3 -arch=sm_90a -o heap heap.cu && ./heap heap.tsv >/dev/null
//
// (H200, driver 580.159.04, CUDA 13.0, 2026-11).
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
typedef unsigned u32; typedef unsigned long long u64;
extern "C" __global__ void pairs(u32 bytes, u32 rounds, u64 *out) // malloc, write, free
{
    u64 t = clock64(); u32 x = 0;
    for (u32 k = 0; k < rounds; k++) { char *p = (char *)malloc(bytes); if (p) { *(volatile char *)p = (char)k; x += *(volatile char *)p; free(p); } }
    u64 e = clock64();
    if (threadIdx.x % 32 == 0) { u32 w = (blockIdx.x * blockDim.x + threadIdx.x) / 32; out[2 * w] = t; out[2 * w + 1] = e; }
    if (x == 1234567) out[0] = x;
}
extern "C" __global__ void allocs(u32 bytes, u32 rounds, char **keep, u64 *out) // only malloc; kept
{
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    u64 t = clock64();
    for (u32 k = 0; k < rounds; k++) keep[i * rounds + k] = (char *)malloc(bytes);
    u64 e = clock64();
    if (threadIdx.x % 32 == 0) { out[2 * (i / 32)] = t; out[2 * (i / 32) + 1] = e; }
}
extern "C" __global__ void frees(u32 rounds, char **keep, u64 *out)
{
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    u64 t = clock64();
    for (u32 k = 0; k < rounds; k++) free(keep[i * rounds + k]);
    u64 e = clock64();
    if (threadIdx.x % 32 == 0) { out[2 * (i / 32)] = t; out[2 * (i / 32) + 1] = e; }
}
extern "C" __global__ void prints(u32 rounds, u64 *out)
{
    u64 t = clock64();
    for (u32 k = 0; k < rounds; k++) printf("%u %u %f\n", threadIdx.x, k, 1.5);
    u64 e = clock64();
    if (threadIdx.x % 32 == 0) { u32 w = (blockIdx.x * blockDim.x + threadIdx.x) / 32; out[2 * w] = t; out[2 * w + 1] = e; }
}
static u64 *dev, host[1 << 16]; static char **keep;
static void show(FILE *f, const char *n, u32 blocks, u32 threads, u32 bytes, u32 rounds, cudaEvent_t a, cudaEvent_t b)
{
    cudaDeviceSynchronize();
    u32 warps = blocks * ((threads + 31) / 32);
    cudaMemcpy(host, dev, warps * 16, cudaMemcpyDeviceToHost);
    double s = 0, m = 0; for (u32 w = 0; w < warps; w++) { double d = host[2 * w + 1] - host[2 * w]; s += d; if (d > m) m = d; }
    float ms; cudaEventElapsedTime(&ms, a, b);
    fprintf(f, "%s\t%u\t%u\t%u\t%u\t%.0f\t%.0f\t%.0f\n", n, blocks, threads, bytes, rounds, s / warps / rounds, m / rounds, ms * 1.98e6);
}
int main(int argc, char **argv)
{
    FILE *f = fopen(argv[1], "w");
    cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1u << 30);
    cudaMalloc(&dev, 1 << 20); cudaMalloc(&keep, 64 << 20);
    cudaEvent_t a, b; cudaEventCreate(&a); cudaEventCreate(&b);
    fprintf(f, "#what\tblocks\tthreads\tbytes\trounds\tmean_cycles\tmost_cycles\tall_cycles\n");
    static const u32 G[][2] = {{1, 1}, {1, 2}, {1, 8}, {1, 32}, {1, 64}, {1, 128}, {1, 256}, {1, 1024}, {2, 32}, {8, 32}, {32, 32}, {132, 1}, {132, 32}, {132, 128}, {264, 256}, {528, 256}};
    for (u32 rep = 0; rep < 2; rep++) for (u32 bytes : {16, 80, 256, 1024, 4000, 16384, 65536}) for (auto g : G) {
        if (bytes > 4096 && g[0] * g[1] > 5000) continue;
        for (u32 r : {1, 8}) {
            cudaEventRecord(a); pairs<<<g[0], g[1]>>>(bytes, r, dev); cudaEventRecord(b); show(f, rep ? "pair" : "pair_first", g[0], g[1], bytes, r, a, b);
        }
        if ((u64)bytes * g[0] * g[1] * 4 > (400u << 20)) continue;
        cudaEventRecord(a); allocs<<<g[0], g[1]>>>(bytes, 4, keep, dev); cudaEventRecord(b); show(f, rep ? "malloc" : "malloc_first", g[0], g[1], bytes, 4, a, b);
        cudaEventRecord(a); frees<<<g[0], g[1]>>>(4, keep, dev); cudaEventRecord(b); show(f, rep ? "free" : "free_first", g[0], g[1], bytes, 4, a, b);
        fflush(f);
    }
    for (auto g : G) { if (g[0] * g[1] > 20000) continue; cudaEventRecord(a); prints<<<g[0], g[1]>>>(4, dev); cudaEventRecord(b); show(f, "printf", g[0], g[1], 0, 4, a, b); }
    fprintf(f, "#%s\n", cudaGetErrorString(cudaGetLastError()));
    fclose(f);
}
