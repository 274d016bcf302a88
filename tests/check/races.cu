// Races and their repaired twins: NAME is wrong, NAME_ok is the same kernel mended. cases.tsv says what is found.
#include <cuda_pipeline.h>

extern "C" __global__ void reverse(int *out, const int *in)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    tile[t] = in[t];
    out[t] = tile[63 - t];
}

extern "C" __global__ void reverse_ok(int *out, const int *in)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    tile[t] = in[t];
    __syncthreads();
    out[t] = tile[63 - t];
}

// The barrier at the end of the loop is missing.
extern "C" __global__ void rounds(int *out, const int *in)
{
    __shared__ int tile[64];
    int t = threadIdx.x, sum = 0;
    for (int k = 0; k < 4; k++) {
        tile[t] = in[k * 64 + t];
        __syncthreads();
        sum += tile[63 - t];
    }
    out[t] = sum;
}

extern "C" __global__ void rounds_ok(int *out, const int *in)
{
    __shared__ int tile[64];
    int t = threadIdx.x, sum = 0;
    for (int k = 0; k < 4; k++) {
        tile[t] = in[k * 64 + t];
        __syncthreads();
        sum += tile[63 - t];
        __syncthreads();
    }
    out[t] = sum;
}

extern "C" __global__ void histogram(int *h, const int *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    h[in[i] & 7] += 1;
}

extern "C" __global__ void histogram_ok(int *h, const int *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&h[in[i] & 7], 1);
}

extern "C" __global__ void flag(int *h, const int *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (in[i] & 1) h[0] = 1;
}

extern "C" __global__ void flag_ok(int *h, const int *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (in[i] & 1) atomicExch(h, 1);
}

extern "C" __global__ void counter_of_block(int *h)
{
    atomicAdd_block(h, 1);
}

extern "C" __global__ void counter_of_block_ok(int *h)
{
    atomicAdd_block(&h[blockIdx.x], 1);
}

extern "C" __global__ void looked_at(int *h, int *out)
{
    atomicAdd(h, 1);
    out[blockIdx.x * blockDim.x + threadIdx.x] = *h;
}

extern "C" __global__ void looked_at_ok(int *h, int *out)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = atomicAdd(h, 1);
}

// The last block adds up what the others left: without fences nothing says that it is there.
extern "C" __global__ void last_block(int *part, int *count, int *out)
{
    if (threadIdx.x) return;
    part[blockIdx.x] = blockIdx.x;
    if (atomicAdd(count, 1) + 1 != gridDim.x) return;
    int sum = 0;
    for (int i = 0; i < gridDim.x; i++) sum += part[i];
    *out = sum;
}

extern "C" __global__ void last_block_ok(int *part, int *count, int *out)
{
    if (threadIdx.x) return;
    part[blockIdx.x] = blockIdx.x;
    __threadfence();
    if (atomicAdd(count, 1) + 1 != gridDim.x) return;
    __threadfence();
    int sum = 0;
    for (int i = 0; i < gridDim.x; i++) sum += part[i];
    *out = sum;
}

// The fence reaches the own block only.
extern "C" __global__ void last_block_narrow(int *part, int *count, int *out)
{
    if (threadIdx.x) return;
    part[blockIdx.x] = blockIdx.x;
    __threadfence_block();
    if (atomicAdd(count, 1) + 1 != gridDim.x) return;
    __threadfence();
    int sum = 0;
    for (int i = 0; i < gridDim.x; i++) sum += part[i];
    *out = sum;
}

extern "C" __global__ void lanes(int *out)
{
    __shared__ int v[32];
    int t = threadIdx.x;
    v[t] = t;
    out[t] = v[t ^ 1];
}

extern "C" __global__ void lanes_ok(int *out)
{
    __shared__ int v[32];
    int t = threadIdx.x;
    v[t] = t;
    __syncwarp();
    out[t] = v[t ^ 1];
}

// Pairs of lanes wait for each other, but the partner is in another pair.
extern "C" __global__ void pairs(int *out)
{
    __shared__ int v[32];
    int t = threadIdx.x;
    v[t] = t;
    __syncwarp(t < 16 ? 0x0000ffff : 0xffff0000);
    out[t] = v[t ^ 16];
}

extern "C" __global__ void pairs_ok(int *out)
{
    __shared__ int v[32];
    int t = threadIdx.x;
    v[t] = t;
    __syncwarp(t < 16 ? 0x0000ffff : 0xffff0000);
    out[t] = v[t ^ 8];
}

// A barrier orders threads, but does not wait for copies.
extern "C" __global__ void copied(int *out, const int *in)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &in[t], 4);
    __pipeline_commit();
    __syncthreads();
    out[t] = tile[63 - t];
    __pipeline_wait_prior(0);
}

extern "C" __global__ void copied_ok(int *out, const int *in)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &in[t], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = tile[63 - t];
}

// Two halves of a block pass a value on through named barriers.
extern "C" __global__ void roles(int *out)
{
    __shared__ int v[32];
    int t = threadIdx.x;
    if (t < 32) {
        v[t] = t;
        asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else {
        out[t] = v[t - 32];
        asm volatile("bar.sync 1, 64;" ::: "memory");
    }
}

extern "C" __global__ void roles_ok(int *out)
{
    __shared__ int v[32];
    int t = threadIdx.x;
    if (t < 32) {
        v[t] = t;
        asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[t] = v[t - 32];
    }
}

// A lock without fences, and with them.
extern "C" __global__ void locked(int *lock, int *sum)
{
    if (threadIdx.x) return;
    while (atomicCAS(lock, 0, 1)) {}
    *sum += 1;
    atomicExch(lock, 0);
}

extern "C" __global__ void locked_ok(int *lock, int *sum)
{
    if (threadIdx.x) return;
    while (atomicCAS(lock, 0, 1)) {}
    __threadfence();
    *sum += 1;
    __threadfence();
    atomicExch(lock, 0);
}

// Bytes side by side in one word.
extern "C" __global__ void bytes(unsigned char *out)
{
    out[(threadIdx.x + 1) / 2] = threadIdx.x;
}

extern "C" __global__ void bytes_ok(unsigned char *out)
{
    out[threadIdx.x] = threadIdx.x;
}
