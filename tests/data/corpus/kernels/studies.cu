/* studies.cu - what people write to see how the machine behaves: strides, offsets, conflicts, divergence, occupancy, atomics, latencies, rates; some run long. */
#include <cuda_fp16.h>
#include <cstdint>
#define K extern "C" __global__ void

//! triad_of_doubles_one_each 1024 256 | f64:262144:0:1 | f64:262144:0:1 | out f64:262144 | s f64 3
K triad_of_doubles_one_each(const double *__restrict__ a, const double *__restrict__ b, double *__restrict__ c, double s)
{
    const int i = threadIdx.x + blockIdx.x * blockDim.x;
    c[i] = a[i] + s * b[i];
}

//! copy_with_offset_of_eleven 512 256 | f32:131200:-1:1 | out f32:131200 | s s32 11
K copy_with_offset_of_eleven(float *in, float *out, int offset)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x + offset;
    out[i] = in[i] + 1;
}

//! reads_eight_words_apart 128 256 | f32:262144:-1:1 | out f32:32768 | s s32 8
K reads_eight_words_apart(const float *in, float *out, int stride)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    out[i] = in[i * stride] * 2;
}

//! structures_of_seven_floats_summed 64 256 | f32:114688:-1:1 | out f32:16384
struct Seven { float a, b, c, d, e, f, g; };
K structures_of_seven_floats_summed(const Seven *in, float *out)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    Seven v = in[i];
    out[i] = v.a + v.b + v.c + v.d + v.e + v.f + v.g;
}

//! banks_by_stride_in_a_loop 66 256 | f32:16896:-1:1 | out f32:16896 | s s32 8 | s s32 64
K banks_by_stride_in_a_loop(const float *in, float *out, int stride, int rounds)
{
    __shared__ float s[256 * 8];
    int t = threadIdx.x;
    for (int k = 0; k < 8; k++) s[t + 256 * k] = in[blockIdx.x * 256 + t] + k;
    __syncthreads();
    float v = 0;
    for (int r = 0; r < rounds; r++) v += s[(t * stride + r) & 2047];
    out[blockIdx.x * 256 + t] = v;
}

//! lanes_go_eight_ways 132 128 | f32:16896:0.5:1.5 | out f32:16896
K lanes_go_eight_ways(const float *in, float *out)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    float v = in[i];
    if (i % 8 == 0) v = sinf(v);
    else if (i % 8 == 1) v = cosf(v);
    else if (i % 8 == 2) v = expf(v);
    else if (i % 8 == 3) v = logf(v);
    else if (i % 8 == 4) v = sqrtf(v);
    else if (i % 8 == 5) v = 1 / v;
    else if (i % 8 == 6) v = powf(v, 1.7f);
    else v = atanf(v);
    out[i] = v;
}

//! independent_sums_of_four_long 132 256 | f32:33792:-1:1 | out f32:33792 | s s32 2000
K independent_sums_of_four_long(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i], a = x, b = x + 1, c = x + 2, d = x + 3;
    for (int k = 0; k < n; k++) {
        a = a * 0.999f + x;
        b = b * 0.998f + x;
        c = c * 0.997f + x;
        d = d * 0.996f + x;
    }
    out[i] = a + b + c + d;
}

//! doubles_in_a_chain_long 132 64 | f64:8448:-1:1 | out f64:8448 | s s32 3000
K doubles_in_a_chain_long(const double *in, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double x = in[i], a = x;
    for (int k = 0; k < n; k++) a = a * 0.999 + x;
    out[i] = a;
}

//! numbers_mixed_by_integers_long 66 128 | u32:8448 | out u32:8448 | s s32 1500
K numbers_mixed_by_integers_long(const unsigned *in, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned a = in[i], b = a ^ 0x9e3779b9;
    for (int k = 0; k < n; k++) {
        a += b << 7 | b >> 25;
        b ^= a * 5 + k;
        a ^= a >> 11;
        if (b % 3 == 0) b += a / 5;
    }
    out[i] = a ^ b;
}

//! one_counter_by_all_threads 264 256 | zero u32:1 | zero u64:1
K one_counter_by_all_threads(unsigned *count, unsigned long long *sum)
{
    atomicAdd(count, 1);
    atomicAdd(sum, (unsigned long long)threadIdx.x);
}

//! shared_counters_with_collisions 132 256 | u32:33792 | out u32:2112 | s s32 32
K shared_counters_with_collisions(const unsigned *in, unsigned *out, int rounds)
{
    __shared__ unsigned c[16];
    if (threadIdx.x < 16) c[threadIdx.x] = 0;
    __syncthreads();
    unsigned v = in[blockIdx.x * 256 + threadIdx.x];
    for (int r = 0; r < rounds; r++) {
        atomicAdd(&c[v & 15], r);
        v = v * 1664525 + 1013904223;
        v ^= v >> 16;
    }
    __syncthreads();
    if (threadIdx.x < 16) out[blockIdx.x * 16 + threadIdx.x] = c[threadIdx.x];
}

//! lock_taken_by_one_of_each_block 40 64 | zero s32:1 | zero s32:4
K lock_taken_by_one_of_each_block(int *lock, int *shared_state)
{
    __shared__ int part;
    if (threadIdx.x == 0) part = 0;
    __syncthreads();
    atomicAdd(&part, threadIdx.x * (blockIdx.x + 1));
    __syncthreads();
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {}
        __threadfence();
        volatile int *s = shared_state;
        s[0] = s[0] + part;
        s[1] = s[1] + 1;
        __threadfence();
        atomicExch(lock, 0);
    }
}

//! last_block_sums_all_threadfence 64 256 | f32:65536:-1:1 | scratch f32:64 | scratch u32:1 | out f32:1 | s s32 65536
K last_block_sums_all_threadfence(const float *in, volatile float *part, unsigned *count, float *out, int n)
{
    __shared__ float s[256];
    __shared__ bool last;
    float v = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) v += in[i];
    s[threadIdx.x] = v;
    __syncthreads();
    for (int d = 128; d; d /= 2) {
        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        part[blockIdx.x] = s[0];
        __threadfence();
        last = atomicInc(count, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float sum = 0;
        for (int i = 0; i < gridDim.x; i++) sum += part[i];
        *out = sum;
    }
}

//! rows_streamed_through_registers_long 132 256 | f32:2162688:-1:1 | out f32:33792 | s s32 64
K rows_streamed_through_registers_long(const float *__restrict__ in, float *__restrict__ out, int rows)
{
    int c = blockIdx.x * 256 + threadIdx.x, pitch = gridDim.x * 256;
    float m = -1e30f, s = 0;
    for (int r = 0; r < rows; r++) {
        float v = in[r * pitch + c];
        float n = fmaxf(m, v);
        s = s * expf(m - n) + expf(v - n);
        m = n;
    }
    out[c] = m + logf(s);
}

//! unrolled_by_four_with_prefetch 66 128 | f32:270336:-1:1 | out f32:8448 | s s32 32
K unrolled_by_four_with_prefetch(const float *in, float *out, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x, step = gridDim.x * 128;
    float next = in[i], s = 0;
#pragma unroll 4
    for (int k = 0; k < n; k++) {
        float now = next;
        if (k + 1 < n) next = in[i + (k + 1) * step];
        s = s * 0.9f + now * now;
    }
    out[i] = s;
}

//! warps_that_wait_for_the_slowest 33 256 | out u32:8448
K warps_that_wait_for_the_slowest(unsigned *out)
{
    __shared__ unsigned s[8];
    unsigned w = threadIdx.x / 32, v = threadIdx.x + blockIdx.x;
    for (int round = 0; round < 6; round++) {
        int turns = ((w * 5 + round * 3) & 7) * 20 + 1;
        for (int k = 0; k < turns; k++) v = v * 69069 + 1;
        if (threadIdx.x % 32 == 0) s[w] = v;
        __syncthreads();
        v ^= s[(w + 1) & 7];
        __syncthreads();
    }
    out[blockIdx.x * 256 + threadIdx.x] = v;
}

//! occupancy_held_low_by_shared 264 128 65536 | f32:33792:-1:1 | out f32:33792 | s s32 50
K occupancy_held_low_by_shared(const float *in, float *out, int rounds)
{
    extern __shared__ float pool[];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    for (int k = 0; k < 128; k++) pool[k * 128 + t] = in[i] * k;
    __syncthreads();
    float v = in[i];
    for (int r = 0; r < rounds; r++) v = v * 0.5f + pool[((r * 37 + t * 129) & 127) * 128 + ((t + r) & 127)];
    out[i] = v;
}

//! half_pairs_multiplied_long 132 128 | f16:67584:-1:1 | out f16:33792 | s s32 800
K half_pairs_multiplied_long(const half2 *in, half2 *out, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    half2 a = in[i], b = in[i + gridDim.x * 128], c = a, d = b, k = __float2half2_rn(0.5f);
    for (int r = 0; r < n; r++) {
        c = __hfma2(c, k, a);
        d = __hfma2(d, k, b);
    }
    out[i] = __hadd2(c, d);
}
