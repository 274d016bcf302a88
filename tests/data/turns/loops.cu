// loops.cu - whose turn it is in loops that look at memory, where ptxas writes YIELD: each lane walks chains of its own length, four in a row or in a
// loop, and keeps a log of the clock, the active lanes and the place. Printed are the groups in the order of the clock, of the second launch.
//
//     nvcc -std=c++17 -O3 -arch=sm_90a -o loops loops.cu && ./loops >loops.tsv
#include <map>
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <cuda_runtime.h>
struct Entry { uint32_t clock, mask, place, extra; };
enum { ROUNDS = 4, WORDS = 128, ROOM = 512 };
__device__ __forceinline__ void note(Entry *&log, int place, int extra)
{
    uint32_t c, m; asm volatile("mov.u32 %0, %%clock;" : "=r"(c));
    asm volatile("activemask.b32 %0;" : "=r"(m));
    *log++ = Entry{c, m, (uint32_t)place, (uint32_t)extra};
}
template <int UNROLLED> __global__ void walk(const unsigned *length, Entry *logs)
{
    __shared__ unsigned near[WORDS];
    for (unsigned k = threadIdx.x; k < WORDS; k += blockDim.x) near[k] = k ? k - 1 : 0;
    __syncthreads();
    Entry *log = logs + threadIdx.x * ROOM;
#pragma unroll UNROLLED
    for (unsigned r = 0; r < ROUNDS; r++) {
        unsigned at = length[r * 32 + threadIdx.x % 32];
        while (at) { at = atomicCAS(&near[at], 99999u, 1u); note(log, 2 * r, at); }
        note(log, 2 * r + 1, 0);
    }
}
// leaves by a condition in the middle, as a compare-and-swap that has nothing to do
template <int UNROLLED> __global__ void middle(const unsigned *length, Entry *logs)
{
    __shared__ unsigned near[WORDS];
    for (unsigned k = threadIdx.x; k < WORDS; k += blockDim.x) near[k] = k ? k - 1 : 0;
    __syncthreads();
    Entry *log = logs + threadIdx.x * ROOM;
#pragma unroll UNROLLED
    for (unsigned r = 0; r < ROUNDS; r++) {
        unsigned at = length[r * 32 + threadIdx.x % 32], seen;
        do {
            seen = at;
            if (at % 5 == 3) break;
            at = atomicCAS(&near[at], 99999u, 1u);
            note(log, 2 * r, at);
        } while (at != 0 && at % 7 != 1);
        note(log, 2 * r + 1, seen);
    }
}
// a branch in the loop, both of whose sides do work
template <int UNROLLED> __global__ void forked(const unsigned *length, Entry *logs, float *sink)
{
    __shared__ unsigned near[WORDS];
    for (unsigned k = threadIdx.x; k < WORDS; k += blockDim.x) near[k] = k ? k - 1 : 0;
    __syncthreads();
    Entry *log = logs + threadIdx.x * ROOM;
    float f = threadIdx.x;
#pragma unroll UNROLLED
    for (unsigned r = 0; r < ROUNDS; r++) {
        unsigned at = length[r * 32 + threadIdx.x % 32];
        while (at) {
            at = atomicCAS(&near[at], 99999u, 1u); note(log, 2 * r, at);
            if (at & 2) { f = sinf(f); sink[threadIdx.x] = f; note(log, 20 + r, at); }
            else if (at & 4) { sink[threadIdx.x + 32] = f; note(log, 30 + r, at); }
        }
        note(log, 2 * r + 1, 0);
    }
}
static unsigned random_of(unsigned x) { x ^= x >> 16; x *= 0x7feb352d; x ^= x >> 15; x *= 0x846ca68b; return x ^ x >> 16; }
int main()
{
    unsigned *length; Entry *logs; float *sink;
    cudaMallocManaged(&length, 4 * 32 * ROUNDS); cudaMallocManaged(&logs, sizeof(Entry) * 32 * ROOM); cudaMalloc(&sink, 1024);
    const char *ways[] = {"walk", "walk_looped", "middle", "middle_looped", "forked", "forked_looped"}, *lengths[] = {"random_24", "ladder", "three"};
    printf("#way\tlengths\tcycle\tplace\tlanes\n");
    for (int p = 0; p < 3; p++) {
        for (unsigned r = 0; r < ROUNDS; r++) for (unsigned l = 0; l < 32; l++) length[r * 32 + l] = p == 0 ? 1 + random_of(r * 32 + l) % 24 : p == 1 ? 1 + l : random_of(r * 32 + l + 777) % 3 * 7 + 2;
        for (int w = 0; w < 6; w++) {
            for (int again = 0; again < 2; again++) {
                cudaMemset(logs, 0, sizeof(Entry) * 32 * ROOM);
                if (w == 0) walk<4><<<1, 32>>>(length, logs);
                if (w == 1) walk<1><<<1, 32>>>(length, logs);
                if (w == 2) middle<4><<<1, 32>>>(length, logs);
                if (w == 3) middle<1><<<1, 32>>>(length, logs);
                if (w == 4) forked<4><<<1, 32>>>(length, logs, sink);
                if (w == 5) forked<1><<<1, 32>>>(length, logs, sink);
                fprintf(stderr, "%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
            }
            std::map<unsigned, Entry> at; // by the clock since the first
            for (int l = 0; l < 32; l++)
                for (int k = 0; k < ROOM && logs[l * ROOM + k].mask; k++) at[logs[l * ROOM + k].clock - logs[0].clock] = logs[l * ROOM + k];
            for (auto &a : at) {
                const unsigned place = a.second.place;
                printf("%s\t%s\t%d\t", ways[w], lengths[p], (int)a.first);
                if (place < 20) printf("%s_%u", place % 2 ? "behind" : "in", place / 2);
                else printf("%s_%u", place < 30 ? "first" : "second", place % 10);
                printf("\t%08x\n", a.second.mask);
            }
        }
    }
}
