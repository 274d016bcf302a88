// recursion.cu - the groups of lanes that a warp runs in while a function calls itself twice and lanes leave it at different depths: each lane keeps
// a log of the clock, the active lanes, the place and the depth. Printed are the groups in the order of the clock; `depths` says which lanes are how deep.
//
//     nvcc -std=c++17 -O3 -arch=sm_90a -o recursion recursion.cu && ./recursion >recursion.tsv
#include <map>
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <cuda_runtime.h>
struct Entry { uint32_t clock, mask, place, extra; };
__device__ Entry *logs;
__device__ int room;
__shared__ int used[32];
__device__ __forceinline__ void note(int place, int depth)
{
    uint32_t c; asm volatile("mov.u32 %0, %%clock;" : "=r"(c));
    uint32_t m = __activemask();
    int k = used[threadIdx.x];
    if (k < room) logs[threadIdx.x * room + k] = Entry{c, m, (uint32_t)place, (uint32_t)depth};
    used[threadIdx.x] = k + 1;
}
__device__ __noinline__ int purses(const short *coins, int left, int from)
{
    note(0, from);
    int r;
    if (left == 0) r = 1;
    else if (left < 0 || from == 8) r = 0;
    else {
        const int taken = purses(coins, left - coins[from], from + 1);
        note(1, from);
        r = taken + purses(coins, left, from + 1);
        note(2, from);
    }
    note(3, from);
    return r;
}
extern "C" __global__ void logged(const short *coins, const int *sums, int *ways)
{
    used[threadIdx.x] = 0;
    ways[threadIdx.x] = purses(coins + 8 * threadIdx.x, sums[threadIdx.x], 0);
    ways[32 + threadIdx.x] = used[threadIdx.x];
}
static uint64_t hash(uint64_t seed, uint64_t i) { uint64_t z = seed * 0x9E3779B97F4A7C15u + i + 1; z ^= z >> 30; z *= 0xBF58476D1CE4E5B9u; z ^= z >> 27; z *= 0x94D049BB133111EBu; z ^= z >> 31; return z; }
int main()
{
    const int R = 4096;
    short c[256]; int s[32];
    for (int k = 0; k < 256; k++) c[k] = 1 + (hash(23222, k) >> 32) % 19;
    for (int k = 0; k < 32; k++) s[k] = 20 + (hash(23223, k) >> 32) % 30;
    short *dc; int *ds, *dw; Entry *dl;
    cudaMalloc(&dc, sizeof c); cudaMalloc(&ds, sizeof s); cudaMalloc(&dw, 256); cudaMalloc(&dl, sizeof(Entry) * 32 * R);
    cudaMemset(dl, 0, sizeof(Entry) * 32 * R);
    cudaMemcpy(dc, c, sizeof c, cudaMemcpyHostToDevice); cudaMemcpy(ds, s, sizeof s, cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(logs, &dl, sizeof dl); cudaMemcpyToSymbol(room, &R, sizeof R);
    logged<<<1, 32>>>(dc, ds, dw);
    Entry *h = (Entry *)malloc(sizeof(Entry) * 32 * R);
    cudaMemcpy(h, dl, sizeof(Entry) * 32 * R, cudaMemcpyDeviceToHost);
    fprintf(stderr, "%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    std::map<uint32_t, std::map<uint32_t, uint32_t>> depths; // by the clock since the first entry
    std::map<uint32_t, Entry> at;
    for (int l = 0; l < 32; l++)
        for (int k = 0; k < R && h[l * R + k].mask; k++) {
            const Entry &e = h[l * R + k];
            at[e.clock - h[0].clock] = e;
            depths[e.clock - h[0].clock][e.extra] |= 1u << l;
        }
    const char *places[] = {"entry", "second", "behind_second", "leaving"};
    printf("#cycle\tplace\tlanes\tdepths\n");
    for (auto &a : at) {
        printf("%u\t%s\t%08x\t", a.first, places[a.second.place], a.second.mask);
        bool more = false;
        for (auto &d : depths[a.first]) { printf("%s%u:%08x", more ? " " : "", d.first, d.second); more = true; }
        printf("\n");
    }
}
