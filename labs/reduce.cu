// reduce.cu - sums of a block's integers, from a tree in global memory to shuffles. Every block writes its sum.
#define K extern "C" __global__ void
#define TAIL(v) do { volatile int *w = v; w[tid] += w[tid + 32]; w[tid] += w[tid + 16]; w[tid] += w[tid + 8]; \
                     w[tid] += w[tid + 4]; w[tid] += w[tid + 2]; w[tid] += w[tid + 1]; } while (0)
K neighbored(int *in, int *out, unsigned n)
{
    unsigned tid = threadIdx.x;
    int *d = in + blockIdx.x * blockDim.x;
    if (blockIdx.x * blockDim.x + tid >= n) return;
    for (int s = 1; s < blockDim.x; s *= 2) {
        if (tid % (2 * s) == 0) d[tid] += d[tid + s];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = d[0];
}
K neighbored_less(int *in, int *out, unsigned n)
{
    unsigned tid = threadIdx.x;
    int *d = in + blockIdx.x * blockDim.x;
    if (blockIdx.x * blockDim.x + tid >= n) return;
    for (int s = 1; s < blockDim.x; s *= 2) {
        int index = 2 * s * tid;
        if (index < blockDim.x) d[index] += d[index + s];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = d[0];
}
K interleaved(int *in, int *out, unsigned n)
{
    unsigned tid = threadIdx.x;
    int *d = in + blockIdx.x * blockDim.x;
    if (blockIdx.x * blockDim.x + tid >= n) return;
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) d[tid] += d[tid + s];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = d[0];
}
template <int U> __device__ void add_blocks(int *in, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x * U + threadIdx.x;
    if (i + (U - 1) * blockDim.x < n) {
        int sum = 0;
        for (int k = 0; k < U; k++) sum += in[i + k * blockDim.x];
        in[i] = sum;
    }
    __syncthreads();
}
template <int U> __device__ void unrolling(int *in, int *out, unsigned n)
{
    unsigned tid = threadIdx.x;
    int *d = in + blockIdx.x * blockDim.x * U;
    add_blocks<U>(in, n);
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) d[tid] += d[tid + s];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = d[0];
}
K unrolling2(int *in, int *out, unsigned n) { unrolling<2>(in, out, n); }
K unrolling4(int *in, int *out, unsigned n) { unrolling<4>(in, out, n); }
K unrolling8(int *in, int *out, unsigned n) { unrolling<8>(in, out, n); }
K unroll_warps8(int *in, int *out, unsigned n)
{
    unsigned tid = threadIdx.x;
    int *d = in + blockIdx.x * blockDim.x * 8;
    add_blocks<8>(in, n);
    for (int s = blockDim.x / 2; s > 32; s >>= 1) {
        if (tid < s) d[tid] += d[tid + s];
        __syncthreads();
    }
    if (tid < 32) TAIL(d);
    if (tid == 0) out[blockIdx.x] = d[0];
}
__device__ __forceinline__ void rounds(int *d, unsigned tid, unsigned block)
{
    if (block >= 1024 && tid < 512) d[tid] += d[tid + 512];
    __syncthreads();
    if (block >= 512 && tid < 256) d[tid] += d[tid + 256];
    __syncthreads();
    if (block >= 256 && tid < 128) d[tid] += d[tid + 128];
    __syncthreads();
    if (block >= 128 && tid < 64) d[tid] += d[tid + 64];
    __syncthreads();
    if (tid < 32) TAIL(d);
}
K complete_unroll_warps8(int *in, int *out, unsigned n)
{
    add_blocks<8>(in, n);
    rounds(in + blockIdx.x * blockDim.x * 8, threadIdx.x, blockDim.x);
    if (threadIdx.x == 0) out[blockIdx.x] = in[blockIdx.x * blockDim.x * 8];
}
K complete_unroll_512(int *in, int *out, unsigned n)
{
    add_blocks<8>(in, n);
    rounds(in + blockIdx.x * blockDim.x * 8, threadIdx.x, 512);
    if (threadIdx.x == 0) out[blockIdx.x] = in[blockIdx.x * blockDim.x * 8];
}
K in_global(int *in, int *out, unsigned n)
{
    int *d = in + blockIdx.x * blockDim.x;
    if (blockIdx.x * blockDim.x + threadIdx.x >= n) return;
    rounds(d, threadIdx.x, blockDim.x);
    if (threadIdx.x == 0) out[blockIdx.x] = d[0];
}
K in_shared(const int *in, int *out, unsigned n)
{
    __shared__ int d[128];
    unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid;
    if (i >= n) return;
    d[tid] = in[i];
    __syncthreads();
    rounds(d, tid, blockDim.x);
    if (tid == 0) out[blockIdx.x] = d[0];
}
K in_shared_unroll4(const int *in, int *out, unsigned n)
{
    __shared__ int d[128];
    unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x * 4 + tid;
    int sum = 0;
    if (i + 3 * blockDim.x < n) sum = in[i] + in[i + blockDim.x] + in[i + 2 * blockDim.x] + in[i + 3 * blockDim.x];
    d[tid] = sum;
    __syncthreads();
    rounds(d, tid, blockDim.x);
    if (tid == 0) out[blockIdx.x] = d[0];
}
extern __shared__ int space[];
K in_dynamic_unroll4(const int *in, int *out, unsigned n)
{
    unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x * 4 + tid;
    int sum = 0;
    if (i + 3 * blockDim.x < n) sum = in[i] + in[i + blockDim.x] + in[i + 2 * blockDim.x] + in[i + 3 * blockDim.x];
    space[tid] = sum;
    __syncthreads();
    rounds(space, tid, blockDim.x);
    if (tid == 0) out[blockIdx.x] = space[0];
}
__device__ int warp_sum(int v)
{
    for (int k = 16; k > 0; k >>= 1) v += __shfl_xor_sync(~0u, v, k);
    return v;
}
K by_shuffles(const int *in, int *out, unsigned n)
{
    __shared__ int sums[32];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = warp_sum(in[i]);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    v = threadIdx.x < blockDim.x / 32 ? sums[threadIdx.x] : 0;
    v = warp_sum(v);
    if (threadIdx.x == 0) out[blockIdx.x] = v;
}
