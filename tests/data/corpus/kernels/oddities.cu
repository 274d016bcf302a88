/* oddities.cu - calls, recursion, switches, arrays of a thread, constants, textures, special functions and parting lanes, in larger grids. */
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define K extern "C" __global__ void

__device__ __noinline__ float spring(float x, float k) { return -k * x / (1.0f + x * x); }

__device__ __noinline__ float damp(float v, float c) { return v > 0.0f ? -c * v * v : c * v * v; }

//! steps_of_motion_by_calls 264 128 | f32:67584:-1:1 | out f32:67584
K steps_of_motion_by_calls(const float *in, float *out)
{
    int t = blockIdx.x * 128 + threadIdx.x;
    float x = in[t], v = in[33792 + t];
    for (int k = 0; k < 20; k++) {
        float a = spring(x, 2.0f) + damp(v, 0.1f);
        v += 0.05f * a;
        x += 0.05f * v;
    }
    out[t] = x;
    out[33792 + t] = v;
}

struct Pair64 {
    uint64_t a, b;
};

__device__ __noinline__ Pair64 turned(Pair64 p, int k)
{
    uint64_t t = p.a + (p.b << 3);
    return {p.b ^ (t >> (k & 31)), t * 0x9e3779b97f4a7c15ull};
}

//! pairs_returned_by_value 132 192 | u64:50688 | out u64:50688
K pairs_returned_by_value(const uint64_t *in, uint64_t *out)
{
    int t = blockIdx.x * 192 + threadIdx.x;
    Pair64 p = {in[t * 2], in[t * 2 + 1]};
    for (int k = 0; k < 9; k++) p = turned(p, (int)p.a + k);
    out[t * 2] = p.a;
    out[t * 2 + 1] = p.b;
}

typedef uint32_t (*Step)(uint32_t, uint32_t);
__device__ uint32_t step_add(uint32_t a, uint32_t b) { return a + b * 3; }
__device__ uint32_t step_xor(uint32_t a, uint32_t b) { return a ^ (b >> 3); }
__device__ uint32_t step_mul(uint32_t a, uint32_t b) { return a * (b | 1); }
__device__ uint32_t step_rot(uint32_t a, uint32_t b) { return __funnelshift_l(a, a, b & 31); }
__device__ uint32_t step_sub(uint32_t a, uint32_t b) { return b - a; }
__device__ Step steps_of_words[5] = {step_add, step_xor, step_mul, step_rot, step_sub};

//! steps_through_five_pointers 132 128 | u32:16896 | out u32:16896 | s s32 12
// All lanes of a warp go the same way.
K steps_through_five_pointers(const uint32_t *x, uint32_t *y, int n)
{
    int t = blockIdx.x * 128 + threadIdx.x;
    uint32_t v = x[t], w = threadIdx.x / 32 + blockIdx.x;
    for (int k = 0; k < n; k++) v = steps_of_words[(w + k * k) % 5](v, k + w);
    y[t] = v;
}

__device__ int ackermann_like(int m, int n)
{
    if (m == 0) return n + 1;
    if (n == 0) return ackermann_like(m - 1, 1);
    return ackermann_like(m - 1, ackermann_like(m, n - 1)) % 7;
}

//! doubly_nested_recursion 132 64 | s32:8448:0:4 | out s32:8448
K doubly_nested_recursion(const int *x, int *y)
{
    int t = blockIdx.x * 64 + threadIdx.x;
    y[t] = ackermann_like(2, x[t]);
}

__device__ int split_count(const int *cut, int lo, int hi)
{
    if (hi - lo < 2) return 1;
    int m = lo + 1 + cut[lo * 3 % 16] % (hi - lo - 1);
    return split_count(cut, lo, m) + 2 * split_count(cut, m, hi);
}

//! intervals_split_by_recursion 66 96 | s32:101376:0:100 | out s32:6336
K intervals_split_by_recursion(const int *cut, int *out)
{
    int t = blockIdx.x * 96 + threadIdx.x;
    out[t] = split_count(cut + t * 16, 0, 10);
}

//! cases_of_twenty_in_a_loop 264 128 | u8:540672 | u32:33792 | out u32:33792
// Sixteen bytes of code a thread, twenty cases, lanes go their own ways.
K cases_of_twenty_in_a_loop(const uint8_t *code, const uint32_t *x, uint32_t *y)
{
    int t = blockIdx.x * 128 + threadIdx.x;
    uint32_t a = x[t], b = t, c = 7;
    for (int k = 0; k < 16; k++)
        switch (code[t * 16 + k] % 20) {
        case 0: a += b; break;
        case 1: b ^= a >> 3; break;
        case 2: c = a * b; break;
        case 3: a -= c; break;
        case 4: b = __popc(a) + b; break;
        case 5: c = __brev(c); break;
        case 6: a = min(a, c); break;
        case 7: b = max(b, c) - 1; break;
        case 8: c += a / 7; break;
        case 9: a = a % (b | 1); break;
        case 10: b = b << (c & 7); break;
        case 11: c = __clz(a) * 17; break;
        case 12: a = __byte_perm(a, b, 0x3715); break;
        case 13: b += __umulhi(a, c); break;
        case 14: c ^= 0xdeadbeef; break;
        case 15: a = ~a; break;
        case 16: b = a & c; break;
        case 17: c = a | b; break;
        case 18: a = __float_as_uint((float)b); break;
        default: b = c - b; break;
        }
    y[t] = a ^ b ^ c;
}

//! counted_in_local_by_index 132 128 | u8:540672 | out u32:16896
// Thirty-two counters of a thread in local memory, then the largest.
K counted_in_local_by_index(const uint8_t *x, uint32_t *y)
{
    uint16_t n[32];
    int t = blockIdx.x * 128 + threadIdx.x;
    for (int k = 0; k < 32; k++) n[k] = 0;
    for (int k = 0; k < 32; k++) n[x[k * 16896 + t] & 31]++;
    uint32_t best = 0, at = 0;
    for (int k = 0; k < 32; k++)
        if (n[k] > best) best = n[k], at = k;
    y[t] = best << 8 | at;
}

//! window_of_sums_in_local 66 128 | f32:540672:-1:1 | out f32:540672
// A ring of eleven values with an index that turns.
K window_of_sums_in_local(const float *x, float *y)
{
    float ring[11], s = 0.0f;
    int t = blockIdx.x * 128 + threadIdx.x, at = 0;
    for (int k = 0; k < 11; k++) ring[k] = 0.0f;
    for (int k = 0; k < 64; k++) {
        float v = x[k * 8448 + t];
        s += v - ring[at];
        ring[at] = v;
        if (++at == 11) at = 0;
        y[k * 8448 + t] = s;
    }
}

//! room_taken_by_alloca 132 64 | s32:8448:3:12 | out s32:8448
K room_taken_by_alloca(const int *x, int *y)
{
    int t = blockIdx.x * 64 + threadIdx.x, n = x[t];
    int *p = (int *)__builtin_alloca(n * sizeof(int)), s = 0;
    for (int k = 0; k < n; k++) p[k] = k * t;
    for (int k = 1; k < n; k++) p[k] ^= p[k - 1] + k;
    for (int k = n - 1; k >= 0; k -= 2) s += p[k];
    y[t] = s;
}

__constant__ float spectrum_weights[512] = {1.0f, 0.5f, 0.25f, 2.0f};
__constant__ uint8_t code_of_letter[64] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4, 6, 2, 6, 4, 3, 3, 8, 3, 2, 7, 9, 5,
                                           0, 2, 8, 8, 4, 1, 9, 7, 1, 6, 9, 3, 9, 9, 3, 7, 5, 1, 0, 5, 8, 2, 0, 9, 7, 4, 9, 4, 4, 5, 9, 2};

//! constants_by_loop_and_by_lane 264 128 | f32:33792:-1:1 | out f32:33792
K constants_by_loop_and_by_lane(const float *x, float *y)
{
    int t = blockIdx.x * 128 + threadIdx.x;
    float v = x[t], s = 0.0f;
    for (int k = 0; k < 48; k++) s = fmaf(v, spectrum_weights[k * 5 % 256 + blockIdx.x % 8], s + 0.25f);
    for (int k = 0; k < 6; k++) s += (float)code_of_letter[(threadIdx.x * 3 + k * 11) % 64];
    y[t] = s;
}

//! functions_of_double_in_turn 132 128 | f64:16896:0.1:3 | out f64:16896
K functions_of_double_in_turn(const double *x, double *y)
{
    int t = blockIdx.x * 128 + threadIdx.x;
    double v = x[t];
    double r = exp(-v) * cos(v * 3.0) + log(v + 1.0) + atan(v) - cbrt(v);
    r += v > 1.5 ? tanh(v) : erfc(v);
    y[t] = r + pow(v, 1.7);
}

//! functions_of_float_in_turn 264 128 | f32:33792:0.01:40 | out f32:33792
K functions_of_float_in_turn(const float *x, float *y)
{
    int t = blockIdx.x * 128 + threadIdx.x;
    float v = x[t], r = sinf(v) + tanf(v * 0.3f) + expm1f(-v) + log1pf(v) + asinhf(v);
    r += powf(v, 0.3f) * cbrtf(v) + fmodf(v, 0.7f) + lgammaf(v + 1.0f);
    y[t] = r + rintf(v) * hypotf(v, r);
}

//! quotients_and_remainders_of_64_bits 132 96 | u64:25344 | out u64:25344
K quotients_and_remainders_of_64_bits(const uint64_t *x, uint64_t *y)
{
    int t = blockIdx.x * 96 + threadIdx.x;
    uint64_t a = x[t], b = x[12672 + t] >> (t % 40) | 1;
    int64_t q = (int64_t)a / (int64_t)(b >> 3 | 1);
    y[t] = a / b + q;
    y[12672 + t] = a % b ^ (uint64_t)(q % 1000003);
}

//! lanes_in_eight_parties 264 96 | s32:25344:0:1000 | out s32:25344
// Nested conditions by bits of the lane and of the data, loops of different length inside.
K lanes_in_eight_parties(const int *x, int *y)
{
    int t = blockIdx.x * 96 + threadIdx.x, v = x[t], s = 0;
    if (v & 1) {
        if (threadIdx.x & 4)
            for (int k = 0; k < (v & 15); k++) s += (v ^ k) % 11;
        else
            while (v > 3) v = v / 2 + (v & 1), s++;
    } else if (v % 3 == 0) {
        int a = v, b = threadIdx.x + 1;
        while (b) {
            int r = a % b;
            a = b;
            b = r;
        }
        s = a;
    } else {
        for (int k = 1; k < 20; k++) {
            if (v % k == 0) continue;
            s += k;
            if (s > 60) break;
        }
    }
    y[t] = s * 8 + (v & 7);
}

//! picture_resampled_from_texture 20,20 16,16 | {"texture": "f32", "width": 256, "height": 256, "filter": "linear", "address": "clamp", "init": {"hash": 42001}} | out f32:102400 | s f32 0.8
K picture_resampled_from_texture(cudaTextureObject_t tex, float *out, float scale)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float u = (x + 0.5f) * scale, v = (y + 0.5f) * scale, s = 0.0f;
    for (int k = 0; k < 4; k++) s += tex2D<float>(tex, u + (k & 1) * 0.5f, v + (k >> 1) * 0.5f);
    out[y * 320 + x] = s * 0.25f;
}

//! records_fetched_through_texture 264 128 | {"texture": "u32", "channels": 4, "source": "linear", "width": 65536, "init": {"hash": 42002}} | u32:33792:0:65536 | out u32:33792
K records_fetched_through_texture(cudaTextureObject_t tex, const uint32_t *at, uint32_t *out)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    uint32_t p = at[i], s = 0;
    for (int k = 0; k < 4; k++) {
        uint4 v = tex1Dfetch<uint4>(tex, p & 65535);
        s += v.y ^ v.w;
        p = v.x;
    }
    out[i] = s;
}

class Shape2 {
public:
    float a;
    __device__ Shape2(float x) : a(x) {}
    __device__ virtual float area() const = 0;
    __device__ virtual float rim() const { return 4.0f * a; }
};
class Square2 : public Shape2 {
public:
    using Shape2::Shape2;
    __device__ float area() const override { return a * a; }
};
class Round2 : public Shape2 {
public:
    using Shape2::Shape2;
    __device__ float area() const override { return 3.14159f * a * a; }
    __device__ float rim() const override { return 6.28318f * a; }
};

//! areas_by_virtual_calls 132 96 | f32:12672:0:2 | s32:12672:0:2 | out f32:12672
K areas_by_virtual_calls(const float *x, const int *kind, float *out)
{
    int t = blockIdx.x * 96 + threadIdx.x;
    Square2 q(x[t]);
    Round2 r(x[t] * 0.5f);
    const Shape2 *s = kind[t] ? (const Shape2 *)&q : &r;
    float v = 0.0f;
    for (int k = 0; k < 4; k++) {
        v += s->area() - 0.1f * s->rim();
        if (v > 3.0f) s = &r;
    }
    out[t] = v;
}

__device__ __noinline__ __nv_bfloat16 gated(__nv_bfloat16 h, __nv_bfloat16 x)
{
    float g = 1.0f / (1.0f + __expf(-__bfloat162float(x)));
    return __hfma(__float2bfloat16(g), __hsub(x, h), h);
}

//! bf16_recurrence_by_calls 264 64 | bf16:270336:-1:1 | out bf16:270336
K bf16_recurrence_by_calls(const __nv_bfloat16 *x, __nv_bfloat16 *y)
{
    int t = blockIdx.x * 64 + threadIdx.x;
    __nv_bfloat16 h = __float2bfloat16(0.0f);
    for (int k = 0; k < 16; k++) {
        h = gated(h, x[k * 16896 + t]);
        y[k * 16896 + t] = h;
    }
}

//! halves_with_long_dependent_chain 132 32 | f16:8448:0:1 | out f16:8448
// One warp a block, a chain of 200 steps on half2.
K halves_with_long_dependent_chain(const __half2 *x, __half2 *y)
{
    int t = blockIdx.x * 32 + threadIdx.x;
    __half2 v = x[t], c = __float2half2_rn(0.9375f), one = __float2half2_rn(1.0f);
#pragma unroll 4
    for (int k = 0; k < 200; k++) v = __hmul2(__hmul2(v, __hsub2(one, v)), __hadd2(c, __hadd2(one, one)));
    y[t] = v;
}

//! conflicts_of_every_width 132 128 | s32:16896 | out s32:16896
// The same sums with strides 1, 2, 3, 4, 8, 16, 32 words in shared memory.
K conflicts_of_every_width(const int *x, int *y)
{
    __shared__ int s[4096];
    int t = threadIdx.x, i = blockIdx.x * 128 + t, r = x[i];
    for (int k = t; k < 4096; k += 128) s[k] = k * 3 + r;
    __syncthreads();
    const int stride[7] = {1, 2, 3, 4, 8, 16, 32};
#pragma unroll
    for (int q = 0; q < 7; q++) {
        r += s[t * stride[q] & 4095];
        __syncthreads();
        s[(t * stride[q] + q) & 4095 & ~3 | (t & 3)] = 5;
        __syncthreads();
    }
    y[i] = r;
}

//! sixty_four_bit_words_and_quads_in_shared 132 64 | f64:33792:-1:1 | out f64:33792
K sixty_four_bit_words_and_quads_in_shared(const double2 *x, double2 *y)
{
    __shared__ __align__(16) double s[4][66];
    int t = threadIdx.x, b = blockIdx.x * 128;
    for (int k = 0; k < 2; k++) {
        double2 v = x[b + k * 64 + t];
        s[k * 2][t] = v.x;
        s[k * 2 + 1][(t * 7) & 63] = v.y;
    }
    __syncthreads();
    for (int k = 0; k < 2; k++) {
        double2 v = *(double2 *)&s[t & 3][(t >> 2 << 1) + k * 32];
        y[b + k * 64 + t] = make_double2(v.x + s[3 - (t & 3)][t], v.y);
    }
}
