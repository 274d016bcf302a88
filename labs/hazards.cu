// hazards.cu - mistakes that a right result can hide, and their repair: NAME is wrong, NAME_ok is mended. Run with --check all.
#define K extern "C" __global__ void

// Thread 0 adds up what all threads of its block have put into shared memory, round after round.
template <bool behind_write, bool behind_read> __device__ void sums(const int *in, int *out, int rounds)
{
    __shared__ int value[128];
    int sum = 0;
    for (int r = 0; r < rounds; r++) {
        value[threadIdx.x] = in[(blockIdx.x * rounds + r) * blockDim.x + threadIdx.x];
        if (behind_write) __syncthreads();
        if (threadIdx.x == 0)
            for (int k = 0; k < blockDim.x; k++) sum += value[k];
        if (behind_read) __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
K sums_without(const int *in, int *out, int rounds) { sums<false, false>(in, out, rounds); }
K sums_one(const int *in, int *out, int rounds) { sums<true, false>(in, out, rounds); }
K sums_ok(const int *in, int *out, int rounds) { sums<true, true>(in, out, rounds); }

// The last block reaches behind the end.
K add_one(int *x, int n) { x[blockIdx.x * blockDim.x + threadIdx.x] += 1; }
K add_one_ok(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += 1;
}

// Blocks add to a counter that is for one block.
K in_block(int *count) { atomicAdd_block(count, 1); }
K in_block_ok(int *count) { atomicAdd(count, 1); }

// The largest element: nobody has said what it is compared with at first.
K largest(const int *in, int *out)
{
    __shared__ int most;
    __syncthreads();
    atomicMax(&most, in[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) *out = most;
}
K largest_ok(const int *in, int *out)
{
    __shared__ int most;
    if (threadIdx.x == 0) most = in[0];
    __syncthreads();
    atomicMax(&most, in[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) *out = most;
}

// A sum of 16 lanes, of which the mask names eight.
K sum_of_lanes(int *x)
{
    int v = x[threadIdx.x];
    for (int d = 8; d; d /= 2) v += __shfl_down_sync(0x00ff, v, d, 16);
    if (threadIdx.x == 0) x[0] = v;
}
K sum_of_lanes_ok(int *x)
{
    int v = x[threadIdx.x];
    for (int d = 8; d; d /= 2) v += __shfl_down_sync(0xffff, v, d, 16);
    if (threadIdx.x == 0) x[0] = v;
}

