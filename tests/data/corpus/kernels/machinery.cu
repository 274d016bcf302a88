/* machinery.cu - what C++ brings along: virtual functions, pointers to functions, recursion, structs, variants, arrays in local memory, switches. */
#include <cuda/std/array>
#include <cuda/std/complex>
#include <cuda/std/optional>
#include <cuda/std/tuple>
#include <cuda/std/variant>
#include <cstdint>
#include <new>

struct Shape {
    float x, y;
    __device__ Shape(float a, float b) : x(a), y(b) {}
    __device__ virtual float distance(float px, float py) const = 0;
    __device__ virtual float weight() const { return 1.0f; }
};
struct Disc : Shape {
    float r;
    __device__ Disc(float a, float b, float c) : Shape(a, b), r(c) {}
    __device__ float distance(float px, float py) const override { return sqrtf((px - x) * (px - x) + (py - y) * (py - y)) - r; }
};
struct Box : Shape {
    float w, h;
    __device__ Box(float a, float b, float c, float d) : Shape(a, b), w(c), h(d) {}
    __device__ float distance(float px, float py) const override
    {
        float dx = fabsf(px - x) - w, dy = fabsf(py - y) - h, ox = fmaxf(dx, 0.0f), oy = fmaxf(dy, 0.0f);
        return sqrtf(ox * ox + oy * oy) + fminf(fmaxf(dx, dy), 0.0f);
    }
    __device__ float weight() const override { return 0.5f + w * h; }
};
struct Ring final : Disc {
    float thick;
    __device__ Ring(float a, float b, float c, float t) : Disc(a, b, c), thick(t) {}
    __device__ float distance(float px, float py) const override { return fabsf(Disc::distance(px, py)) - thick; }
};

//! virtual_field 12,12 16,16 | f32:96:0:1 | out f32:36864
// A dozen shapes made in shared memory, asked through their tables of functions by every pixel.
extern "C" __global__ void virtual_field(const float *__restrict__ numbers, float *__restrict__ out)
{
    __shared__ alignas(16) char room[12][64];
    __shared__ Shape *shapes[12];
    int t = threadIdx.y * 16 + threadIdx.x;
    if (t < 12) {
        const float *n = numbers + t * 8;
        if (t % 3 == 0) shapes[t] = new (room[t]) Disc(n[0], n[1], n[2] * 0.2f);
        else if (t % 3 == 1) shapes[t] = new (room[t]) Box(n[0], n[1], n[2] * 0.2f, n[3] * 0.2f);
        else shapes[t] = new (room[t]) Ring(n[0], n[1], n[2] * 0.3f, n[3] * 0.05f);
    }
    __syncthreads();
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float px = x * (1.0f / 192), py = y * (1.0f / 192), best = 1e9f, w = 0;
    for (int k = 0; k < 12; k++) {
        float d = shapes[k]->distance(px, py);
        if (d < best) best = d, w = shapes[k]->weight();
    }
    out[y * 192 + x] = best * w;
}

typedef float (*Function)(float, float);
__device__ __noinline__ float f_mix(float a, float b) { return a * 0.75f + b * 0.25f; }
__device__ __noinline__ float f_wave(float a, float b) { return __sinf(a) * b; }
__device__ __noinline__ float f_root(float a, float b) { return sqrtf(fabsf(a * b) + 0.1f); }
__device__ __noinline__ float f_fold(float a, float b) { return a > b ? a - b : b - 0.5f * a; }
__device__ Function functions[4] = {f_mix, f_wave, f_root, f_fold};

//! function_chain 66 128 | f32:8448:-2:2 | u32:8448 | out f32:8448
// Sixteen calls through a table, which ones the bits of a word say: by warp first, then by lane.
extern "C" __global__ void function_chain(const float *__restrict__ in, const unsigned *__restrict__ codes, float *__restrict__ out)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    float a = in[i], b = a * 0.5f + 1.0f;
    unsigned mine = codes[i], warp = __shfl_sync(~0u, mine, 0);
    for (int k = 0; k < 8; k++) {
        float c = functions[warp >> 2 * k & 3](a, b);
        a = b, b = c;
    }
    for (int k = 0; k < 8; k++) {
        float c = functions[mine >> 2 * k & 3](a, b);
        a = b, b = c;
    }
    out[i] = a + b;
}

__device__ __noinline__ unsigned paths(unsigned right, unsigned down, unsigned walls, int depth)
{
    if (right == 0 || down == 0 || depth == 0) return 1;
    unsigned n = 0;
    if (walls >> ((right * 4 + down) & 31) & 1) n += paths(right - 1, down, walls, depth - 1);
    n += paths(right, down - 1, walls * 3 + 1, depth - 1);
    return n;
}

//! recursive_paths 40 64 | u32:2560 | out u32:2560
extern "C" __global__ void recursive_paths(const unsigned *__restrict__ walls, unsigned *__restrict__ out)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    out[i] = paths(4, 4 + i % 3, walls[i], 9);
}

//! simpson_recursive 33 64 | f64:2112:0.5:3 | out f64:2112 | s f64 0.0001
// Adaptive Simpson by recursion with a function object.
struct Peak {
    double c;
    __device__ double operator()(double x) const { return 1.0 / (0.02 + (x - c) * (x - c)); }
};
template <typename F> __device__ __noinline__ double adaptive(const F &f, double a, double fa, double b, double fb, double m, double fm, double whole, double eps, int depth)
{
    double l = 0.5 * (a + m), r = 0.5 * (m + b), fl = f(l), fr = f(r), h = (b - a) / 12;
    double left = h * (fa + 4 * fl + fm), right = h * (fm + 4 * fr + fb), d = left + right - whole;
    if (depth <= 0 || fabs(d) <= 15 * eps) return left + right + d / 15;
    return adaptive(f, a, fa, m, fm, l, fl, left, eps / 2, depth - 1) + adaptive(f, m, fm, b, fb, r, fr, right, eps / 2, depth - 1);
}
extern "C" __global__ void simpson_recursive(const double *__restrict__ in, double *__restrict__ out, double eps)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    double b = in[i];
    Peak f{b * 0.4};
    double f0 = f(0), f1 = f(b), fm = f(0.5 * b);
    out[i] = adaptive(f, 0.0, f0, b, f1, 0.5 * b, fm, b / 6 * (f0 + 4 * fm + f1), eps, 4);
}

//! local_bins 88 128 | u8:360448 | out u32:11264
// Every thread its own bins in local memory, 32 values each of a strided column; the fullest is told.
extern "C" __global__ void local_bins(const uint8_t *__restrict__ in, unsigned *__restrict__ out)
{
    unsigned short bins[64];
    int i = blockIdx.x * 128 + threadIdx.x;
    for (int k = 0; k < 64; k++) bins[k] = 0;
    for (int k = 0; k < 32; k++) bins[in[k * 11264 + i] & 63]++;
    unsigned best = 0;
    for (int k = 0; k < 64; k++)
        if (bins[k] > best >> 16) best = (unsigned)bins[k] << 16 | k;
    out[i] = best;
}

//! queue_local 44 96 | u32:4224 | out u32:4224
// Breadth-first walks over the cube's 32 corners with a ring of bytes and a mask.
extern "C" __global__ void queue_local(const unsigned *__restrict__ blocked, unsigned *__restrict__ out)
{
    int i = blockIdx.x * 96 + threadIdx.x;
    unsigned char ring[32], depth[32];
    unsigned seen = blocked[i] & blocked[(i + 1) % 4224], sum = 0;
    int head = 0, tail = 0;
    seen |= 1;
    ring[tail++] = 0, depth[0] = 0;
    while (head < tail) {
        int v = ring[head++];
        sum = sum * 5 + depth[v];
        for (int b = 0; b < 5; b++) {
            int u = v ^ 1 << b;
            if (seen >> u & 1) continue;
            seen |= 1u << u;
            depth[u] = depth[v] + 1;
            ring[tail++] = u;
        }
    }
    out[i] = sum ^ seen;
}

using Value = cuda::std::variant<int, float, cuda::std::array<short, 4>>;
//! variant_sum 66 128 | u32:8448 | out f32:8448
extern "C" __global__ void variant_sum(const unsigned *__restrict__ in, float *__restrict__ out)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    float s = 0;
    for (int k = 0; k < 6; k++) {
        unsigned v = in[(i + k * 131) % 8448];
        Value x;
        if (v % 3 == 0) x = (int)(v >> 20);
        else if (v % 3 == 1) x = (float)v * 2.3283064e-10f;
        else x = cuda::std::array<short, 4>{(short)v, (short)(v >> 3), (short)(v >> 7), 1};
        s += cuda::std::visit([](auto &&a) -> float {
            using T = cuda::std::decay_t<decltype(a)>;
            if constexpr (cuda::std::is_same_v<T, int>) return a * 0.5f;
            else if constexpr (cuda::std::is_same_v<T, float>) return a * a;
            else return (float)(a[0] + a[1] - a[2] * a[3]);
        }, x);
    }
    out[i] = s;
}

//! complex_std 66 128 | f32:16896:-1:1 | out f32:16896 | s s32 12
// cuda::std::complex: a quadratic map, its multiplier, a division with the care that the standard asks for.
extern "C" __global__ void complex_std(const cuda::std::complex<float> *__restrict__ in, cuda::std::complex<float> *__restrict__ out, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    cuda::std::complex<float> c = in[i], z = c * 0.5f, d(1.0f, 0.0f);
    for (int k = 0; k < n; k++) {
        d = d * z * 2.0f + cuda::std::complex<float>(1.0f);
        z = z * z + c * 0.25f;
    }
    out[i] = d / (z + cuda::std::complex<float>(2.0f, 0.1f)) + cuda::std::conj(z) * cuda::std::abs(d);
}

//! switch_dense 132 128 | u32:16896 | u32:16896 | out u32:16896
// Twelve cases with bodies of different lengths, some fall through; the code changes each round.
extern "C" __global__ void switch_dense(const unsigned *__restrict__ ops, const unsigned *__restrict__ in, unsigned *__restrict__ out)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    unsigned op = ops[i], a = in[i], b = a * 7 + 1;
    for (int k = 0; k < 10; k++) {
        switch ((op >> 3 * k % 24) % 12) {
        case 0: a += b; break;
        case 1: a ^= b >> 3;
        case 2: b = b * 5 + a; break;
        case 3: a = a / (b | 1) + b; break;
        case 4: a = __popc(a) * 0x01010101u; break;
        case 5: b -= a << 5;
        case 6: a = ~a;
        case 7: a = __brev(a) + b; break;
        case 8: b = b % ((a & 0xffff) + 3); break;
        case 9: for (unsigned q = a & 7; q; q--) b = b * 3 + q; break;
        case 10: { unsigned t = a; a = b, b = t; break; }
        default: a = __umulhi(a, 0x9e3779b9u) ^ b; break;
        }
    }
    out[i] = a ^ b;
}

struct alignas(16) Particle {
    float3 p, v;
    int kind;
    float mass;
};
//! particle_struct 80 128 | f32:81920:-1:1 | out f32:81920 | s f32 0.05
// An array of structs, 32 bytes each, read and written whole, passed by value through a helper that is not inlined.
__device__ __noinline__ Particle moved(Particle q, float dt)
{
    q.v.x -= dt * q.p.x * q.mass, q.v.y -= dt * q.p.y * q.mass, q.v.z -= dt * q.p.z * q.mass;
    q.p.x += dt * q.v.x, q.p.y += dt * q.v.y, q.p.z += dt * q.v.z;
    q.kind ^= __float_as_int(q.p.x) & 1;
    return q;
}
extern "C" __global__ void particle_struct(const Particle *__restrict__ in, Particle *__restrict__ out, float dt)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    Particle q = in[i];
    for (int k = 0; k < 6; k++) q = moved(q, dt);
    out[i] = q;
}

//! tuple_extremes 132 128 | f32:67584:-10:10 | out f32:50688
// A function returns a tuple of three, an optional tells whether there was one above the limit.
__device__ cuda::std::tuple<float, float, cuda::std::optional<float>> extremes(const float *p, int n, int stride)
{
    float lo = p[0], hi = p[0];
    cuda::std::optional<float> last;
    for (int k = 1; k < n; k++) {
        float v = p[k * stride];
        lo = fminf(lo, v), hi = fmaxf(hi, v);
        if (v > 8.0f) last = v;
    }
    return {lo, hi, last};
}
extern "C" __global__ void tuple_extremes(const float *__restrict__ in, float *__restrict__ out)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    auto [lo, hi, last] = extremes(in + i, 4, 16896);
    out[i] = lo, out[16896 + i] = hi, out[33792 + i] = last.value_or(-1.0f);
}

//! spilled_state 66 256 | f64:16896:-1:1 | out f64:16896
// Too few registers for a state of 24 doubles under these launch bounds: some of it goes to local memory.
extern "C" __global__ void __launch_bounds__(256, 5) spilled_state(const double *__restrict__ in, double *__restrict__ out)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    double s[24];
#pragma unroll
    for (int k = 0; k < 24; k++) s[k] = in[(i + k * 97) % 16896];
    for (int r = 0; r < 6; r++) {
#pragma unroll
        for (int k = 0; k < 24; k++) s[k] = s[k] * 0.5 + s[(k + 7) % 24] * s[(k + 13) % 24];
    }
    double sum = 0;
#pragma unroll
    for (int k = 0; k < 24; k++) sum += s[k];
    out[i] = sum;
}
