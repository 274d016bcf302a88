/* objects.cu - what C++ programs bring along: classes with operators, virtual calls, containers of the library, recursion, wide types. */
#include <cstdint>
#include <cuda/std/array>
#include <cuda/std/bitset>
#include <cuda/std/complex>
#include <cuda/std/limits>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/utility>
#include <cuda/std/variant>
#include <new>

struct dual {
    float v, d;
};
__device__ dual operator+(dual a, dual b) { return {a.v + b.v, a.d + b.d}; }
__device__ dual operator-(dual a, dual b) { return {a.v - b.v, a.d - b.d}; }
__device__ dual operator*(dual a, dual b) { return {a.v * b.v, a.v * b.d + a.d * b.v}; }
__device__ dual operator/(dual a, dual b) { return {a.v / b.v, (a.d * b.v - a.v * b.d) / (b.v * b.v)}; }
__device__ dual sine(dual a) { return {sinf(a.v), a.d * cosf(a.v)}; }
__device__ dual expo(dual a)
{
    float e = expf(a.v);
    return {e, a.d * e};
}
//! newton_with_duals 12 128 | f32:1536:-3:3 | out f32:1536
// Roots by Newton's method whose derivatives come from dual numbers.
extern "C" __global__ void newton_with_duals(const float *start, float *root)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = start[i];
    for (int k = 0; k < 12; k++) {
        dual t = {x, 1}, f = sine(t) * t + expo(dual{0, 0} - t * t) / (t * t + dual{1, 0}) - dual{0.5f, 0};
        if (fabsf(f.d) < 1e-4f || fabsf(f.v) < 1e-6f) break;
        x -= fminf(fmaxf(f.v / f.d, -1.0f), 1.0f);
    }
    root[i] = x;
}

class Node {
  public:
    __device__ virtual int eval(int x) const = 0;
    __device__ virtual int depth() const { return 1; }
};
class Leaf : public Node {
    int k;

  public:
    __device__ Leaf(int k) : k(k) {}
    __device__ int eval(int x) const override { return x * k + 1; }
};
class Sum : public Node {
    const Node *a, *b;

  public:
    __device__ Sum(const Node *a, const Node *b) : a(a), b(b) {}
    __device__ int eval(int x) const override { return a->eval(x) + b->eval(x ^ 1); }
    __device__ int depth() const override { return 1 + max(a->depth(), b->depth()); }
};
class Product : public Node {
    const Node *a, *b;

  public:
    __device__ Product(const Node *a, const Node *b) : a(a), b(b) {}
    __device__ int eval(int x) const override { return a->eval(x) * (b->eval(x) | 1); }
    __device__ int depth() const override { return 1 + max(a->depth(), b->depth()); }
};
//! trees_of_objects 8 64 | s32:512:-50:50 | out s32:512 | out s32:512
// An expression of objects made by placement in shared memory, evaluated by virtual calls that call virtual calls.
extern "C" __global__ void trees_of_objects(const int *x, int *value, int *deep)
{
    __shared__ __align__(16) char place[16][24];
    __shared__ const Node *node[16];
    if (threadIdx.x == 0) {
        for (int i = 0; i < 8; i++) node[i] = new (place[i]) Leaf(i * 3 + blockIdx.x);
        for (int i = 8; i < 15; i++) {
            const Node *a = node[(i - 8) * 2], *b = node[(i - 8) * 2 + 1];
            node[i] = (i + blockIdx.x) & 1 ? (const Node *)new (place[i]) Sum(a, b) : new (place[i]) Product(a, b);
        }
    }
    __syncthreads();
    int i = blockIdx.x * 64 + threadIdx.x;
    const Node *top = node[12 + (x[i] & 1) + (x[i] & 2) / 2];
    value[i] = top->eval(x[i]);
    deep[i] = top->depth();
}

struct Base {
    int id;
};
template <typename D>
struct Counter : Base {
    __device__ int run(int n)
    {
        int s = 0;
        for (int i = 0; i < n; i++) s += static_cast<D *>(this)->step(i);
        return s;
    }
};
struct Squares : Counter<Squares> {
    __device__ int step(int i) { return i * i + id; }
};
struct Bits : Counter<Bits> {
    __device__ int step(int i) { return __popc(i * id); }
};
//! curious_templates 10 128 | s32:1280:1:40 | out s32:1280
extern "C" __global__ void curious_templates(const int *n, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Squares a;
    Bits b;
    a.id = i;
    b.id = 2 * i + 1;
    out[i] = n[i] & 1 ? a.run(n[i]) : b.run(n[i]);
}

//! options_and_spans 12 96 | s32:4608:-100:100 | out s32:1152
extern "C" __global__ void options_and_spans(const int *in, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    cuda::std::span<const int> window(in + i * 4, 4);
    auto first_positive = [](cuda::std::span<const int> s) -> cuda::std::optional<int> {
        for (int v : s)
            if (v > 60) return v;
        return cuda::std::nullopt;
    };
    auto found = first_positive(window), later = first_positive(window.subspan(2));
    cuda::std::pair<int, int> p{found.value_or(-1), later.has_value() ? *later : window.back()};
    if (p.first < p.second) cuda::std::swap(p.first, p.second);
    out[i] = p.first * 256 + p.second;
}

struct sphere {
    float r;
};
struct cube {
    float a;
};
struct pole {
    float r, h;
};
//! variants_visited 10 96 | s32:960 | f32:1920:0:2 | out f32:960
extern "C" __global__ void variants_visited(const int *kind, const float *size, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    cuda::std::variant<sphere, cube, pole> v;
    switch ((unsigned)kind[i] % 3) {
    case 0: v = sphere{size[2 * i]}; break;
    case 1: v = cube{size[2 * i]}; break;
    default: v = pole{size[2 * i], size[2 * i + 1]};
    }
    float s = 0;
    if (auto *p = cuda::std::get_if<sphere>(&v)) s = 4.18879f * p->r * p->r * p->r;
    if (auto *p = cuda::std::get_if<cube>(&v)) s = p->a * p->a * p->a;
    if (auto *p = cuda::std::get_if<pole>(&v)) s = 3.14159f * p->r * p->r * p->h;
    out[i] = s + v.index();
}

__device__ __noinline__ int partition_count(int n, int most)
{
    if (n == 0) return 1;
    if (n < 0 || most == 0) return 0;
    return partition_count(n - most, most) + partition_count(n, most - 1);
}
//! partitions_recursive 2 64 | s32:128:3:12 | out s32:128
extern "C" __global__ void partitions_recursive(const int *n, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = partition_count(n[i], n[i]);
}

__device__ __noinline__ void hanoi(int n, int from, int to, int via, uint32_t &hash)
{
    if (n == 0) return;
    hanoi(n - 1, from, via, to, hash);
    hash = hash * 31 + from * 3 + to;
    hanoi(n - 1, via, to, from, hash);
}
//! towers_of_discs 1 96 | out u32:96
extern "C" __global__ void towers_of_discs(uint32_t *out)
{
    uint32_t h = threadIdx.x;
    hanoi(3 + threadIdx.x % 4, 0, 2, 1, h);
    out[threadIdx.x] = h;
}

//! wide_integers 8 128 | u64:2048 | u64:2048 | out u64:2048
// 128 bits: products, shifts, comparisons and division by 64 bits.
extern "C" __global__ void wide_integers(const uint64_t *a, const uint64_t *b, uint64_t *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned __int128 x = (unsigned __int128)a[i] << 64 | a[i + 1024], y = b[i] | 1;
    unsigned __int128 p = (unsigned __int128)a[i] * b[i + 1024];
    __int128 s = (__int128)x >> (b[i] & 63);
    unsigned __int128 q = x / y, r = x % y;
    if (p > x) p -= x;
    p ^= q + r + (unsigned __int128)s;
    p = p << (a[i] & 31) | p >> 97;
    out[i] = (uint64_t)p;
    out[i + 1024] = (uint64_t)(p >> 64) + (s < 0);
}

template <int F>
struct fixed {
    int raw;
    __device__ static fixed of(float x) { return {(int)rintf(x * (1 << F))}; }
    __device__ fixed operator*(fixed o) const { return {(int)(((long long)raw * o.raw) >> F)}; }
    __device__ fixed operator/(fixed o) const { return {(int)(((long long)raw << F) / o.raw)}; }
    __device__ fixed operator+(fixed o) const { return {raw + o.raw}; }
    __device__ fixed operator-(fixed o) const { return {raw - o.raw}; }
    __device__ bool operator<(fixed o) const { return raw < o.raw; }
};
//! fixed_point_roots 10 96 | f32:960:1:100 | out s32:960
extern "C" __global__ void fixed_point_roots(const float *in, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    using fx = fixed<16>;
    fx v = fx::of(in[i]), x = v, two = fx::of(2), eps = fx::of(0.001f);
    for (int k = 0; k < 20; k++) {
        fx n = (x + v / x) / two, d = n - x;
        x = n;
        if (fx{abs(d.raw)} < eps) break;
    }
    out[i] = (x * x - v).raw ^ x.raw;
}

struct bit_fields {
    uint32_t kind : 3, left : 9, right : 9, mark : 1, rest : 10;
};
union word_view {
    uint32_t w;
    bit_fields f;
    uint8_t b[4];
    int16_t h[2];
};
//! fields_of_bits 16 128 | u32:2048 | out u32:2048
extern "C" __global__ void fields_of_bits(const uint32_t *in, uint32_t *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    word_view v;
    v.w = in[i];
    for (int k = 0; k < 8; k++) {
        v.f.left += v.f.kind * 5;
        v.f.right -= v.f.left >> 2;
        v.f.mark ^= v.f.right > 300;
        v.b[1] += v.b[3];
        v.h[1] = v.h[0] * 3 - v.h[1];
        v.f.rest = v.f.rest * 3 + v.f.mark;
        v.f.kind++;
    }
    out[i] = v.w;
}

template <typename T>
__device__ T total(T v)
{
    return v;
}
template <typename T, typename... R>
__device__ auto total(T v, R... r)
{
    return v + total(r...) * 2;
}
//! packs_of_parameters 9 128 | f32:3456:-1:1 | s32:3456:-9:9 | out f32:1152
extern "C" __global__ void packs_of_parameters(const float *f, const int *n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    cuda::std::array<double, 3> a{f[i], f[i + 1152], f[i + 2304]};
    cuda::std::complex<float> z(f[i], f[i + 1152]);
    cuda::std::bitset<40> bits(n[i] * 77777ull);
    bits.flip(n[i + 1152] + 9);
    bits <<= 3;
    z = z * z / cuda::std::complex<float>(1.5f, f[i + 2304]);
    out[i] = total(f[i], n[i], a[0], (short)n[i + 2304], 3u, a[2]) + z.real() - z.imag() + bits.count();
}

//! stepping_generators 6 64 | u32:384 | out u32:384
// Machines that go on where they stopped: a switch jumps into loops, Duff's way.
extern "C" __global__ void stepping_generators(const uint32_t *seed, uint32_t *out)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    struct {
        int at, i, j;
        uint32_t v;
    } m[2] = {{0, 0, 0, seed[id]}, {0, 0, 0, ~seed[id]}};
    uint32_t sum = 0;
    for (int k = 0; k < 60; k++) {
        auto &g = m[seed[id] >> (k & 31) & 1];
        uint32_t value = 0;
        switch (g.at) {
        case 0:
            for (g.i = 0; g.i < 4; g.i++) {
                for (g.j = 0; g.j < 3 + (int)(g.v & 1); g.j++) {
                    g.v = g.v * 1664525 + 1013904223;
                    value = g.v >> 16;
                    g.at = 1;
                    goto yielded;
                case 1:;
                }
                value = g.i * 1000;
                g.at = 2;
                goto yielded;
            case 2:;
            }
            g.at = 0;
            g.v ^= g.v >> 7;
        }
    yielded:
        sum = sum * 33 + value;
    }
    out[id] = sum;
}
