/* shared_use.cu - many threads write to the same places: atomic operations of all kinds, on global and shared memory. */
#include <cstdint>
#include <cuda_fp16.h>
#define K extern "C" __global__ void
//! bins_f32 66 256 | u32:16896:0:1024 | f32:16896:0:1 | zero f32:1024 | unordered
K bins_f32(const unsigned *bin, const float *v, float *sum)
{
    int t = blockIdx.x * 256 + threadIdx.x;
    atomicAdd(&sum[bin[t]], v[t]);
}
//! extremes 66 128 | s32:33792 | zero s32:2
K extremes(const int *in, int *out)
{
    int t = blockIdx.x * 128 + threadIdx.x, lo = in[t], hi = lo;
    for (int k = 1; k < 4; k++) { int v = in[t + k * 8448]; lo = min(lo, v); hi = max(hi, v); }
    atomicMin(&out[0], lo);
    atomicMax(&out[1], hi);
}
//! list_push 33 64 | u64:2112:1:1000000000 | zero u64:2112 | zero u64:64 | unordered
K list_push(const unsigned long long *key, unsigned long long *next, unsigned long long *head)
{
    int t = blockIdx.x * 64 + threadIdx.x;
    unsigned long long *h = &head[key[t] & 63], old = *(volatile unsigned long long *)h, seen;
    for (;;) {
        next[t] = old;
        seen = atomicCAS(h, old, (unsigned long long)t + 1);
        if (seen == old) break;
        old = seen;
    }
}
//! half2_adds 33 128 | u32:4224:0:512 | u32:4224:0:15360 | zero u32:512 | unordered
K half2_adds(const unsigned *at, const unsigned *v, half2 *sum)
{
    int t = blockIdx.x * 128 + threadIdx.x;
    atomicAdd(&sum[at[t]], *(const half2 *)&v[t]);
}
//! shared_bins_f32 66 256 | u32:67584:0:64 | f32:67584:0:1 | zero f32:64 | unordered
K shared_bins_f32(const unsigned *bin, const float *v, float *sum)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    if (t < 64) s[t] = 0;
    __syncthreads();
    for (int k = 0; k < 4; k++) {
        int i = (blockIdx.x * 4 + k) * 256 + t;
        atomicAdd(&s[bin[i]], v[i]);
    }
    __syncthreads();
    if (t < 64) atomicAdd(&sum[t], s[t]);
}
//! shared_bins_u64 33 128 | u32:16896:0:256 | zero u64:256
K shared_bins_u64(const unsigned *bin, unsigned long long *sum)
{
    __shared__ unsigned long long s[256];
    int t = threadIdx.x;
    s[t] = s[t + 128] = 0;
    __syncthreads();
    for (int k = 0; k < 4; k++) atomicAdd(&s[bin[(blockIdx.x * 4 + k) * 128 + t]], (unsigned long long)t << 20);
    __syncthreads();
    atomicAdd(&sum[t], s[t]);
    atomicAdd(&sum[t + 128], s[t + 128]);
}
//! exchange_slots 66 128 | u32:8448 | inout u32:256:0:9 | out u32:8448 | unordered
K exchange_slots(const unsigned *in, unsigned *slot, unsigned *out)
{
    int t = blockIdx.x * 128 + threadIdx.x;
    out[t] = atomicExch(&slot[in[t] >> 24], in[t]);
}
//! double_sum 132 128 | f64:67584:-1:1 | zero f64:4 | unordered
K double_sum(const double *in, double *out)
{
    int t = blockIdx.x * 128 + threadIdx.x;
    double s = 0;
    for (int k = 0; k < 4; k++) s += in[t + k * 16896];
    atomicAdd(&out[t & 3], s);
}
//! tickets 48 96 | zero u32:1 | zero u32:4608 | unordered
K tickets(unsigned *next, unsigned *out)
{
    unsigned mine = atomicAdd(next, 1u);
    out[mine] = blockIdx.x;
}
//! set_bits 66 256 | u32:16896 | zero u32:1024
K set_bits(const unsigned *in, unsigned *set)
{
    unsigned x = in[blockIdx.x * 256 + threadIdx.x];
    atomicOr(&set[x >> 22], 1u << (x & 31));
}
//! small_shared_counts 132 256 | u8:270336 | zero u32:16
K small_shared_counts(const uint8_t *in, unsigned *out)
{
    __shared__ unsigned c[16];
    int t = threadIdx.x;
    if (t < 16) c[t] = 0;
    __syncthreads();
    for (int k = 0; k < 8; k++) atomicAdd(&c[in[(blockIdx.x * 8 + k) * 256 + t] >> 4], 1u);
    __syncthreads();
    if (t < 16) atomicAdd(&out[t], c[t]);
}
