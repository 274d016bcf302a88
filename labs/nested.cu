// nested.cu - kernels that launch kernels: a greeting that halves, and two recursive sums. count[0] counts the launches made on the device.
#include <stdio.h>
extern "C" __global__ void nested_hello(int size, int depth)
{
    int tid = threadIdx.x;
    printf("Recursion=%d: Hello World from thread %d block %d\n", depth, tid, blockIdx.x);
    if (size == 1) return;
    if (tid == 0) nested_hello<<<1, size / 2>>>(size / 2, depth + 1);
}
// Every block launches a block of half its threads, until one thread is left.
extern "C" __global__ void recursive_sum(int *in, int *out, int *count, int size)
{
    int tid = threadIdx.x, *d = in + blockIdx.x * blockDim.x, *o = out + blockIdx.x;
    if (size == 2 && tid == 0) {
        *o = d[0] + d[1];
        return;
    }
    int half = size / 2;
    if (half > 1 && tid < half) d[tid] += d[tid + half];
    __syncthreads();
    if (tid == 0) {
        atomicAdd(count, 1);
        recursive_sum<<<1, half>>>(d, o, count, half);
    }
}
// The first block launches the grids of all blocks.
extern "C" __global__ void recursive_sum_together(int *in, int *out, int *count, int stride, int block)
{
    int tid = threadIdx.x, *d = in + blockIdx.x * block;
    if (stride == 1 && tid == 0) {
        out[blockIdx.x] = d[0] + d[1];
        return;
    }
    d[tid] += d[tid + stride];
    if (tid == 0 && blockIdx.x == 0) {
        atomicAdd(count, 1);
        recursive_sum_together<<<gridDim.x, stride / 2>>>(in, out, count, stride / 2, block);
    }
}
