/* habits.cu - how people write kernels: recursion, pointers to functions, local arrays, atomics, lanes, long loops, full grids, one block. */
#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>
#include <cstdint>
#include <cuda/atomic>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define K extern "C" __global__ void
namespace cg = cooperative_groups;

//! polygons_filled_by_recursion 6 32 | u32:192 | out u32:192
// Depth by the value of a lane: each call adds what both halves give.
__device__ __noinline__ uint32_t halves_of(uint32_t v, int depth)
{
    if (depth == 0 || v < 3) return v + 1;
    uint32_t m = v / 2 + (v & depth);
    return halves_of(m, depth - 1) * 3 + halves_of(v - v / 2, depth - 2 < 0 ? 0 : depth - 2);
}
K polygons_filled_by_recursion(const uint32_t *in, uint32_t *out)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    out[i] = halves_of(in[i] % 5000, 4 + in[i] % 4);
}

//! filters_chained_through_pointers 33 64 | f32:2112:-2:2 | u32:2112 | out f32:2112
__device__ __noinline__ float f_soft(float x, float k) { return x / (1 + fabsf(x * k)); }
__device__ __noinline__ float f_fold(float x, float k) { return x - k * floorf(x / k); }
__device__ __noinline__ float f_wave(float x, float k) { return __sinf(x * k); }
__device__ __noinline__ float f_root(float x, float k) { return copysignf(sqrtf(fabsf(x)) + k * 0.1f, x); }
typedef float (*Filter)(float, float);
__device__ const Filter filters[4] = {f_soft, f_fold, f_wave, f_root};
K filters_chained_through_pointers(const float *x, const uint32_t *which, float *y)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    float v = x[i];
    uint32_t w = which[i / 32];
    for (int k = 0; k < 12; k++) {
        v = filters[w & 3](v, 0.5f + k);
        w = w >> 2 | w << 30;
    }
    y[i] = v;
}

//! all_atomics_of_words 20 128 | u32:2560 | zero u32:160 | s s32 16
// Results that do not hang on the order: sums, bounds, masks, counters.
K all_atomics_of_words(const uint32_t *x, uint32_t *r, int spread)
{
    int i = blockIdx.x * 128 + threadIdx.x, k = i % spread;
    uint32_t v = x[i];
    atomicAdd(&r[k], v);
    atomicSub(&r[16 + k], v >> 3);
    atomicMin((int *)&r[32 + k], (int)v);
    atomicMax(&r[48 + k], v);
    atomicAnd(&r[64 + k], v | 0xff);
    atomicOr(&r[80 + k], v & 0x00ffff00);
    atomicXor(&r[96 + k], v);
    atomicInc(&r[112 + k], 1000000);
    atomicDec(&r[128 + k], 5000);
    uint32_t old = r[144 + k], seen;
    do {
        seen = old;
        old = atomicCAS(&r[144 + k], seen, seen + (v & 7));
    } while (old != seen);
}

//! wide_atomics_and_doubles_in_shared 10 96 | u64:960 | f64:960:0:100 | out u64:320
K wide_atomics_and_doubles_in_shared(const unsigned long long *x, const double *d, unsigned long long *out)
{
    __shared__ unsigned long long s[32];
    int t = threadIdx.x, i = blockIdx.x * 96 + t;
    if (t < 32) s[t] = t % 4 == 1 ? ~0ull : 0;
    __syncthreads();
    atomicAdd(&s[t % 8 * 4], x[i]);
    atomicMin(&s[t % 8 * 4 + 1], x[i]);
    atomicMax(&s[t % 8 * 4 + 2], x[i]);
    // whole numbers in doubles: the order is of no account
    unsigned long long *p = &s[t % 8 * 4 + 3], old = *p, seen;
    do {
        seen = old;
        old = atomicCAS(p, seen, (unsigned long long)__double_as_longlong(__longlong_as_double((long long)seen) + floor(d[i])));
    } while (old != seen);
    __syncthreads();
    if (t < 32) out[blockIdx.x * 32 + t] = s[t];
}

//! sixteen_bits_exchanged_and_halves_added 24 64 | u16:1536:0:60000 | zero u16:64 | zero f16:64
K sixteen_bits_exchanged_and_halves_added(const unsigned short *x, unsigned short *most, __half2 *sum)
{
    int i = blockIdx.x * 64 + threadIdx.x, k = i * 7 % 64;
    unsigned short v = x[i], old = most[k], seen;
    while (old < v) {
        seen = old;
        old = atomicCAS(&most[k], seen, v);
        if (old == seen) break;
    }
    atomicAdd(&sum[k % 32], __floats2half2_rn((float)(v & 3), (float)(v >> 2 & 3)));
}

//! lanes_ask_each_other 60 64 | u32:3840 | out u32:15360
K lanes_ask_each_other(const uint32_t *x, uint4 *out)
{
    int i = blockIdx.x * 64 + threadIdx.x, lane = threadIdx.x & 31;
    uint32_t v = x[i], a, b, c = 0, d;
    unsigned peers = __match_any_sync(~0u, v & 7);
    a = __popc(peers & ((1u << lane) - 1)) << 8 | __popc(peers);
    int same;
    __match_all_sync(~0u, v >> 31, &same);
    b = __shfl_sync(peers, v, __ffs(peers) - 1) + same;
    for (unsigned m = __ballot_sync(~0u, v & 16); m; m &= m - 1) c = c * 5 + __shfl_sync(~0u, v >> 8, __ffs(m) - 1);
    if (lane < 20) {
        d = __reduce_xor_sync(0xfffff, v);
        d += __any_sync(0xfffff, v == 0) + 2 * __all_sync(0xfffff, v != 0);
    } else
        d = __reduce_or_sync(0xfff00000, v & 0x1111) + __shfl_down_sync(0xfff00000, v, 3, 4);
    out[i] = make_uint4(a, b, c, d);
}

//! one_thread_works_long 1 1 | f64:64:0:1 | out f64:4 | s s32 600
K one_thread_works_long(const double *x, double *out, int n)
{
    double a = x[0], b = x[1] + 1, s = 0, p = 1;
    for (int i = 0; i < n; i++) {
        a = a * 0.999 + x[i & 63];
        if (i & 1) b = sqrt(b + a);
        else s += a / b;
        p = fma(p, 0.5, s);
    }
    out[0] = a, out[1] = b, out[2] = s, out[3] = p;
}

//! one_warp_walks_a_list_of_lines 1 32 | u32:65536 | out u32:32 | s s32 120
K one_warp_walks_a_list_of_lines(const uint32_t *mem, uint32_t *out, int n)
{
    uint32_t at = threadIdx.x * 2048, s = 0;
    for (int i = 0; i < n; i++) {
        uint32_t v = mem[at];
        s ^= v;
        at = (v + i) & 65535;
    }
    out[threadIdx.x] = s;
}

//! a_thousand_blocks_of_a_line 1056 32 | f32:33792:-1:1 | out f32:33792
K a_thousand_blocks_of_a_line(const float *x, float *y)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    y[i] = x[i] * x[i] - 0.25f;
}

//! every_place_of_the_machine_taken 264 1024 | f32:1081344:-1:1 | out f32:270336 | s s32 24
K __launch_bounds__(1024, 2) every_place_of_the_machine_taken(const float4 *x, float *y, int n)
{
    int i = blockIdx.x * 1024 + threadIdx.x;
    float4 v = x[i];
    float a = v.x, b = v.y;
    for (int k = 0; k < n; k++) {
        a = fmaf(a, v.z, b);
        b = fmaf(b, v.w, a * 0.25f);
        if (fabsf(a) > 4.0f) a *= 0.125f;
    }
    y[i] = a + b;
}

//! hundred_kilobytes_for_each_block 66 512 102400 | f32:1689600:0:1 | out f32:33792
K hundred_kilobytes_for_each_block(const float4 *x, float *y)
{
    extern __shared__ float4 big[];
    int t = threadIdx.x;
    for (int i = t; i < 6400; i += 512) big[i] = x[blockIdx.x * 6400 + i];
    __syncthreads();
    const float *f = (const float *)big;
    float s = 0;
    for (int i = 0; i < 50; i++) s += f[(t * 50 + i * 511) % 25600] * f[i * 512 + t];
    y[blockIdx.x * 512 + t] = s;
}

//! stack_of_fields_in_structures 20 64 | u32:7680 | out u32:2560
// A parser of bytes with a stack of small structures in local memory.
struct Frame { uint8_t kind, count; uint16_t sum; };
K stack_of_fields_in_structures(const uint32_t *in, uint2 *out)
{
    Frame stack[12];
    int i = blockIdx.x * 64 + threadIdx.x, top = 0, most = 0;
    uint32_t result = 0;
    stack[0] = {0, 0, 0};
    for (int w = 0; w < 6; w++) {
        uint32_t v = in[w * 1280 + i];
        for (int k = 0; k < 4; k++, v >>= 8) {
            switch (v & 7) {
            case 0:
            case 1:
                if (top < 11) stack[++top] = {(uint8_t)(v >> 3 & 3), 0, (uint16_t)top};
                break;
            case 2:
                if (top > 0) {
                    Frame f = stack[top--];
                    stack[top].sum += f.sum * (f.kind + 1);
                    stack[top].count += f.count;
                }
                break;
            case 3: stack[top].kind ^= 1; break;
            case 4: stack[top].sum ^= (uint16_t)(v & 0xff) << top; break;
            case 5:
                for (int j = 0; j <= top; j++) result = result * 7 + stack[j].sum;
                break;
            default: stack[top].count++, stack[top].sum += (uint16_t)(v & 0xff);
            }
            most = max(most, top);
        }
    }
    while (top >= 0) result = result * 33 + stack[top].sum + stack[top].count, top--;
    out[i] = make_uint2(result, most);
}

//! halves_stand_in_their_lines 16 256 | bf16:65536:-2:2 | f16:65536:-2:2 | out f16:65536
K halves_stand_in_their_lines(const __nv_bfloat162 *a, const __half2 *b, __half2 *c)
{
    for (int i = blockIdx.x * 256 + threadIdx.x; i < 32768; i += gridDim.x * 256) {
        __nv_bfloat162 x = __hmul2(a[i], a[i]);
        __half2 h = b[i], g = __floats2half2_rn(__low2float(x), __high2float(x));
        h = __hfma2(h, __hmin2(g, __float2half2_rn(1.5f)), h2rcp(__hadd2(g, __float2half2_rn(1.0f))));
        c[i] = __hgt2(h, __float2half2_rn(0.0f)).x == __float2half(1.0f) ? h : __hneg2(h);
    }
}

//! packets_passed_with_scoped_flags 2 64 | u32:2048 | scratch u32:64 | scratch u32:4 | out u32:2048 | cooperative
// The first block makes batches of 64 words, the second takes them: flags with release and acquire.
K packets_passed_with_scoped_flags(const uint32_t *in, uint32_t *slot, uint32_t *flags, uint32_t *out)
{
    cuda::atomic_ref<uint32_t, cuda::thread_scope_device> full(flags[0]), empty(flags[1]);
    for (uint32_t k = 0; k < 32; k++) {
        if (blockIdx.x == 0) {
            if (threadIdx.x == 0)
                while (empty.load(cuda::memory_order_acquire) < k) {}
            __syncthreads();
            slot[threadIdx.x] = in[k * 64 + threadIdx.x] * 3 + k;
            __syncthreads();
            if (threadIdx.x == 0) full.store(k + 1, cuda::memory_order_release);
        } else {
            if (threadIdx.x == 0)
                while (full.load(cuda::memory_order_acquire) < k + 1) {}
            __syncthreads();
            out[k * 64 + threadIdx.x] = ((volatile uint32_t *)slot)[63 - threadIdx.x];
            __syncthreads();
            if (threadIdx.x == 0) empty.store(k + 1, cuda::memory_order_release);
        }
    }
}

//! long_division_by_every_width 40 64 | s64:2560 | u64:2560:1:1000000 | out s64:2560
K long_division_by_every_width(const long long *a, const unsigned long long *b, long long *out)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    long long x = a[i], y = (long long)b[i];
    long long r = x / y + x % (y + 7);
    r ^= (long long)((unsigned)x / (unsigned)(y | 1)) << 8;
    r += (int)x % (int)(y + 3) + (short)x / (short)((y & 127) + 1);
    r += (long long)((unsigned long long)x % 1000003ull) * (x % 37);
    out[i] = r;
}

//! generic_pointers_to_three_spaces 30 64 | f32:1920:-1:1 | f32:64:-1:1 | out f32:1920
__device__ __noinline__ float sum_of(const float *p, int n, int step)
{
    float s = 0;
    for (int i = 0; i < n; i++) s = s * 0.9f + p[i * step];
    return s;
}
K generic_pointers_to_three_spaces(const float *x, const float *w, float *out)
{
    __shared__ float s[64];
    float own[8];
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * 64 + t];
    for (int k = 0; k < 8; k++) own[(k + t) & 7] = w[k * 8 + t % 8] + k;
    __syncthreads();
    const float *p = t % 3 == 0 ? s : t % 3 == 1 ? w : own;
    out[blockIdx.x * 64 + t] = sum_of(p, 8, t % 3 == 2 ? 1 : 8) + sum_of(s, 4, 2);
}
