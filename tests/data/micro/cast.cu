/* cast.cu - how often the loop goes round that an atomic addition of floats in shared memory is.
 *
 * ptxas makes LDS, FADD, ATOMS.CAST.SPIN, ISETP and BRA of it: lanes that the compare-and-swap refuses try again. One warp does two
 * such additions, lane k to the word that the pattern says; the cycles of the second are printed, the rounds of both are counted by
 * the profiler (smsp__sass_inst_executed_op_shared_ld.sum).
 *
 *     nvcc -arch=sm_90a -o cast cast.cu && ncu --metrics smsp__sass_inst_executed_op_shared_ld.sum --csv ./cast
 *
 * A line a pattern: type, name, cycles; the profiler's launches come in the same order. */
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

template <class T> __global__ void add(const int *at, T *out, int *cycles)
{
    __shared__ T v[2048];
    int lane = threadIdx.x;
    for (int k = lane; k < 2048; k += 32) v[k] = 0;
    __syncthreads();
    int a = at[lane];
    if (a >= 0) atomicAdd(&v[a], (T)(lane + 1));
    __syncwarp();
    int start = clock();
    if (a >= 0) atomicAdd(&v[a], (T)(lane + 1));
    __syncwarp();
    int end = clock();
    if (lane == 0) *cycles = end - start;
    out[lane] = a >= 0 ? v[a] : 0; /* one load more in each launch */
}

static int pattern[32], *at, *cycles;
static void *out;

template <class T> static void run(const char *type, const char *name)
{
    int c;
    cudaMemcpy(at, pattern, sizeof pattern, cudaMemcpyHostToDevice);
    add<T><<<1, 32>>>(at, (T *)out, cycles);
    cudaMemcpy(&c, cycles, sizeof c, cudaMemcpyDeviceToHost);
    printf("%s\t%s\t", type, name);
    for (int k = 0; k < 32; k++) printf("%d%c", pattern[k], k < 31 ? ',' : '\t');
    printf("%d\n", c);
}

static void all(const char *name)
{
    run<float>("f32", name);
    run<double>("f64", name);
    run<unsigned long long>("u64", name);
}

int main()
{
    char name[64];
    unsigned x = 12345;
    cudaMalloc(&at, sizeof pattern);
    cudaMalloc(&cycles, 4);
    cudaMalloc(&out, 32 * 8);
    all("warm"); /* all -> word 0 */
    static const int some[] = {1, 2, 3, 4, 8, 15, 16, 17, 24, 31, 32};
    for (int n : some) {
        for (int k = 0; k < 32; k++) pattern[k] = k < n ? k : -1;
        sprintf(name, "neighbours %d", n), all(name);
        for (int k = 0; k < 32; k++) pattern[k] = k < n ? 0 : -1;
        sprintf(name, "same %d", n), all(name);
        for (int k = 0; k < 32; k++) pattern[k] = k < n ? 32 * k : -1;
        sprintf(name, "bank %d", n), all(name);
    }
    for (int s = 2; s <= 16; s *= 2) {
        for (int k = 0; k < 32; k++) pattern[k] = k * s;
        sprintf(name, "stride %d", s), all(name);
        for (int k = 0; k < 32; k++) pattern[k] = k / s;
        sprintf(name, "each %d", s), all(name);
        for (int k = 0; k < 32; k++) pattern[k] = k % s;
        sprintf(name, "turn %d", s), all(name);
    }
    for (int words = 8; words <= 1024; words *= 2)
        for (int r = 0; r < 6; r++) {
            for (int k = 0; k < 32; k++) pattern[k] = (int)((x = x * 1664525u + 1013904223u) >> 12) % words;
            sprintf(name, "random %d", words), all(name);
        }
    return 0;
}
