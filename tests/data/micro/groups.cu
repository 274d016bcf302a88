// groups.cu - which lanes go on together behind a loop that looks at memory (ptxas puts YIELD there) and which wait for the others: each lane walks a chain of its own length,
// four times, in code of their own or in a loop; behind each walk it notes the lanes with it and the clock. Lengths are in rounds; groups are printed as lanes@cycles, in the order of the clock.
#include <algorithm>
#include <cstdio>
#include <cuda_runtime.h>
#include <map>
enum { ROUNDS = 4, WORDS = 512 };
// a chain through memory: each word says where the next one is, 0 ends it
enum Way { PLAIN, VOLATILE, SWAP, ADD, FAR_SWAP };
template <int W> __device__ __forceinline__ unsigned step(unsigned *s, unsigned at)
{
    if (W == PLAIN) return s[at];
    if (W == VOLATILE) return *(volatile unsigned *)&s[at];
    if (W == ADD) { atomicAdd(&s[at], 0); return s[at]; }
    return atomicCAS(&s[at], 99999u, 1u);
}
template <int W, int UNROLLED> __global__ void walk(const unsigned *length, unsigned *far, unsigned *mask, unsigned *when, unsigned *sum)
{
    __shared__ unsigned near[WORDS];
    unsigned *s = W == FAR_SWAP ? far : near;
    for (unsigned k = threadIdx.x; k < WORDS; k += blockDim.x) s[k] = k ? k - 1 : 0;
    __syncthreads();
    unsigned begin = clock(), n = 0;
#pragma unroll UNROLLED
    for (unsigned r = 0; r < ROUNDS; r++) {
        unsigned at = length[r * 32 + threadIdx.x % 32];
        while (at) { at = step<W>(s, at); n++; }
        unsigned m;
        asm volatile("activemask.b32 %0;" : "=r"(m));
        mask[r * blockDim.x + threadIdx.x] = m;
        when[r * blockDim.x + threadIdx.x] = clock() - begin;
    }
    sum[threadIdx.x] = n;
}
static unsigned random_of(unsigned x) { x ^= x >> 16; x *= 0x7feb352d; x ^= x >> 15; x *= 0x846ca68b; return x ^ x >> 16; }
int main()
{
    const char *names[] = {"plain", "volatile", "swap", "add", "far_swap", "plain_looped", "volatile_looped", "swap_looped", "add_looped", "far_swap_looped"};
    void (*kernels[])(const unsigned *, unsigned *, unsigned *, unsigned *, unsigned *) = {walk<PLAIN, 4>, walk<VOLATILE, 4>, walk<SWAP, 4>, walk<ADD, 4>, walk<FAR_SWAP, 4>,
        walk<PLAIN, 1>, walk<VOLATILE, 1>, walk<SWAP, 1>, walk<ADD, 1>, walk<FAR_SWAP, 1>};
    const char *patterns[] = {"halves_10_100", "ladder", "one_200", "all_but_one_200", "random_64", "same"};
    unsigned *length, *far, *mask, *when, *sum;
    cudaMallocManaged(&length, 4 * 32 * ROUNDS);
    cudaMallocManaged(&mask, 4 * 1024 * ROUNDS);
    cudaMallocManaged(&when, 4 * 1024 * ROUNDS);
    cudaMalloc(&far, 4 * WORDS);
    cudaMalloc(&sum, 4 * 1024);
    printf("#way\tlengths\twarps\tround\tgroups\n");
    for (int w = 0; w < 10; w++)
        for (int p = 0; p < 6; p++)
            for (int warps = 1; warps <= 8; warps *= 8) {
                for (unsigned r = 0; r < ROUNDS; r++)
                    for (unsigned l = 0; l < 32; l++)
                        length[r * 32 + l] = p == 0 ? (l & 1 ? 100 : 10) : p == 1 ? 10 + 4 * l : p == 2 ? (l == r ? 200 : 10) : p == 3 ? (l == r ? 10 : 200) : p == 4 ? random_of(r * 32 + l) % 64 : 50;
                for (int again = 0; again < 2; again++) {
                    kernels[w]<<<1, 32 * warps>>>(length, far, mask, when, sum);
                    cudaDeviceSynchronize();
                }
                for (unsigned r = 0; r < ROUNDS; r++) {
                    std::map<unsigned, unsigned> group; // of the first warp: by clock
                    for (unsigned l = 0; l < 32; l++) group[when[r * 32 * warps + l]] = mask[r * 32 * warps + l];
                    printf("%s\t%s\t%d\t%u\t", names[w], patterns[p], warps, r);
                    const char *gap = "";
                    for (auto &g : group) printf("%s%d@%u", gap, __builtin_popcount(g.second), g.first), gap = " ";
                    printf("\n");
                }
            }
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
