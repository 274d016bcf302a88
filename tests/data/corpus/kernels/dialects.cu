/* dialects.cu - the language in kernels: templates, virtual functions, functions kept apart, switches, local arrays, structures, early ends, wide integers, doubles. */
#include <cuda/std/array>
#include <cuda/std/limits>
#include <cuda/std/span>
#include <cuda_fp16.h>
#include <cstdint>
#define K extern "C" __global__ void

struct Layer {
    __device__ virtual float apply(float x) const = 0;
    __device__ virtual float slope(float x) const { return (apply(x + 1e-3f) - apply(x - 1e-3f)) * 500.f; }
};
struct Relu : Layer {
    __device__ float apply(float x) const override { return x > 0 ? x : 0; }
    __device__ float slope(float x) const override { return x > 0; }
};
struct Tanh : Layer {
    __device__ float apply(float x) const override { return tanhf(x); }
};
struct Soft : Layer {
    float k;
    __device__ Soft(float k) : k(k) {}
    __device__ float apply(float x) const override { return __logf(1 + __expf(k * x)) / k; }
};
//! virtual_layers_by_number 33 128 | f32:4224:-3:3 | u8:4224:0:3 | out f32:8448
K virtual_layers_by_number(const float *in, const uint8_t *kind, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Relu r;
    Tanh t;
    Soft s(2.f);
    const Layer *all[3] = {&r, &t, &s};
    const Layer *l = all[kind[i]];
    out[2 * i] = l->apply(in[i]);
    out[2 * i + 1] = l->slope(in[i]);
}

template <typename T> struct Accumulate { static __device__ T start() { return T(0); } static __device__ T step(T a, T b) { return a + b; } };
template <typename T> struct Largest { static __device__ T start() { return cuda::std::numeric_limits<T>::lowest(); } static __device__ T step(T a, T b) { return a < b ? b : a; } };
template <template <typename> class Op, typename T, int N> __device__ T fold(const T *p)
{
    T a = Op<T>::start();
#pragma unroll
    for (int i = 0; i < N; i++) a = Op<T>::step(a, p[i]);
    return a;
}
//! folded_by_templates_of_types 20 96 | s16:15360 | f64:15360:-1:1 | u64:15360 | out s16:1920 | out f64:1920 | out u64:1920
K folded_by_templates_of_types(const short *a, const double *b, const unsigned long long *c, short *ra, double *rb, unsigned long long *rc)
{
    int i = blockIdx.x * 96 + threadIdx.x;
    ra[i] = fold<Largest, short, 8>(a + i * 8);
    rb[i] = fold<Accumulate, double, 8>(b + i * 8);
    rc[i] = fold<Largest, unsigned long long, 8>(c + i * 8);
}

__noinline__ __device__ double horner(const double *c, int n, double x)
{
    double y = c[n - 1];
    for (int i = n - 2; i >= 0; i--) y = y * x + c[i];
    return y;
}
__noinline__ __device__ double derivative(const double *c, int n, double x)
{
    double y = (n - 1) * c[n - 1];
    for (int i = n - 2; i > 0; i--) y = y * x + i * c[i];
    return y;
}
//! newton_by_functions_kept_apart 17 64 | f64:8704:-2:2 | out f64:1088 | s s32 8 | s s32 12
K newton_by_functions_kept_apart(const double *coefficients, double *roots, int n, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const double *c = coefficients + i * n;
    double x = 0.5;
    for (int k = 0; k < rounds; k++) {
        double f = horner(c, n, x), d = derivative(c, n, x);
        if (fabs(d) < 1e-9) break;
        double step = f / d;
        x -= fmin(fmax(step, -0.5), 0.5);
        if (fabs(step) < 1e-12) break;
    }
    roots[i] = x;
}

//! bytecode_of_a_small_machine 16 64 | u8:48:0:9 | s32:4096:-50:50 | out s32:1024 | s s32 48
// All threads run the same program on their own stack.
K bytecode_of_a_small_machine(const uint8_t *code, const int *data, int *out, int length)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, stack[8], sp = 0, acc = i;
    for (int k = 0; k < 8; k++) stack[k] = k;
    for (int pc = 0; pc < length; pc++) {
        switch (code[pc]) {
        case 0: stack[sp] = acc; sp = (sp + 1) & 7; break;
        case 1: sp = (sp + 7) & 7; acc += stack[sp]; break;
        case 2: acc -= data[i * 4 + (pc & 3)]; break;
        case 3: acc *= 3; break;
        case 4: acc ^= stack[(sp + 3) & 7]; break;
        case 5: if (acc & 1) pc++; break;
        case 6: acc = acc / 7; break;
        case 7: acc = (acc << 3) | ((unsigned)acc >> 29); break;
        default: stack[sp] += acc; break;
        }
    }
    out[i] = acc;
}

struct Particle { float3 pos, vel; float mass; int kind; };
//! particles_as_an_array_of_structures 40 128 | inout f32:40960:0:1 | s f32 0.01 | s s32 4
K particles_as_an_array_of_structures(Particle *p, float dt, int steps)
{
    Particle me = p[blockIdx.x * blockDim.x + threadIdx.x];
    for (int s = 0; s < steps; s++) {
        me.vel.y -= 9.81f * dt;
        float drag = 1 - 0.1f * dt / me.mass;
        me.vel.x *= drag, me.vel.y *= drag, me.vel.z *= drag;
        me.pos.x += me.vel.x * dt, me.pos.y += me.vel.y * dt, me.pos.z += me.vel.z * dt;
        if (me.pos.y < 0) {
            me.pos.y = -me.pos.y;
            me.vel.y *= -0.8f;
            me.kind++;
        }
    }
    p[blockIdx.x * blockDim.x + threadIdx.x] = me;
}

//! counts_of_digits_in_local_array 24 64 | u64:1536 | out u32:15360
K counts_of_digits_in_local_array(const unsigned long long *in, unsigned *out)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    unsigned count[10] = {0};
    for (unsigned long long v = in[i]; v; v /= 10) count[v % 10]++;
    for (int d = 0; d < 10; d++) out[i * 10 + d] = count[d];
}

//! power_modulo_of_64_bits_by_wide_products 12 64 | u64:768 | u64:768 | u64:768 | out u64:768
K power_modulo_of_64_bits_by_wide_products(const uint64_t *base, const uint64_t *e, const uint64_t *mod, uint64_t *out)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    uint64_t m = (mod[i] >> 33) | 1, b = base[i] % m, x = e[i] >> 40, r = 1;
    while (x) {
        if (x & 1) r = r * b % m;
        b = b * b % m;
        x >>= 1;
    }
    out[i] = r;
}

//! permutations_in_lexical_order 20 64 | u32:1280:0:40320 | out u8:10240
K permutations_in_lexical_order(const unsigned *number, unsigned char *out)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    unsigned n = number[i], f = 5040, list = 0x76543210;
    for (int k = 0; k < 8; k++) {
        unsigned d = n / f;
        n -= d * f;
        if (k < 7) f /= 7 - k;
        out[i * 8 + k] = list >> (4 * d) & 15;
        unsigned low = list & ((1u << (4 * d)) - 1);
        list = d == 7 ? low : low | (list >> (4 * d + 4) << (4 * d));
    }
}

//! dates_from_days_and_back 32 128 | s32:4096:-200000:200000 | out s32:4096
__device__ void civil(int z, int *y, unsigned *m, unsigned *d)
{
    z += 719468;
    int era = (z >= 0 ? z : z - 146096) / 146097;
    unsigned doe = z - era * 146097, yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365, doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
    *d = doy - (153 * mp + 2) / 5 + 1;
    *m = mp < 10 ? mp + 3 : mp - 9;
    *y = (int)yoe + era * 400 + (*m <= 2);
}
K dates_from_days_and_back(const int *days, int *out)
{
    int i = blockIdx.x * 128 + threadIdx.x, y;
    unsigned m, d;
    civil(days[i], &y, &m, &d);
    static const unsigned char length[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = y % 4 == 0 && (y % 100 != 0 || y % 400 == 0);
    unsigned last = m == 2 && leap ? 29 : length[m - 1];
    out[i] = (y * 100 + m) * 100 + d + (d == last ? 100000000 : 0);
}

__device__ __noinline__ int gcd(int a, int b) { return b ? gcd(b, a % b) : a; }
__device__ __noinline__ unsigned ackermann(unsigned m, unsigned n) { return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }
//! recursion_gcd_and_ackermann 4 64 | s32:512:1:100000 | out s32:512
K recursion_gcd_and_ackermann(const int *in, int *out)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    out[2 * i] = gcd(in[2 * i], in[2 * i + 1]);
    out[2 * i + 1] = ackermann(2, in[2 * i] & 7);
}

//! strings_compared_and_hashed 16 64 | u8:32768:97:101 | u8:32 | out s32:1024 | out u64:1024
K strings_compared_and_hashed(const char *text, const char *word, int *order, unsigned long long *hash)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    const char *s = text + i * 32;
    unsigned long long h = 5381;
    int j = 0;
    for (; j < 32 && s[j]; j++) h = h * 33 + s[j];
    hash[i] = h;
    int k = 0;
    while (k < 31 && s[k] == s[(k * 5 + 1) & 31]) k++;
    order[i] = s[k] - (97 + (word[k & 31] & 3)) + (k << 16);
}

//! complex_roots_by_durand_and_kerner 10 64 | f64:3840:-1:1 | out f64:7680 | s s32 10
K complex_roots_by_durand_and_kerner(const double *poly, double *out, int rounds)
{
    const int n = 6;
    int i = blockIdx.x * 64 + threadIdx.x;
    double re[n], im[n], c[n];
    double pr = 1, pi = 0;
    for (int k = 0; k < n; k++) {
        c[k] = poly[i * n + k];
        re[k] = pr, im[k] = pi;
        double t = pr * 0.4 - pi * 0.9;
        pi = pr * 0.9 + pi * 0.4, pr = t;
    }
    for (int r = 0; r < rounds; r++)
        for (int k = 0; k < n; k++) {
            double vr = 1, vi = 0;
            for (int j = n - 1; j >= 0; j--) {
                double t = vr * re[k] - vi * im[k] + c[j];
                vi = vr * im[k] + vi * re[k], vr = t;
            }
            double dr = 1, di = 0;
            for (int j = 0; j < n; j++) {
                if (j == k) continue;
                double a = re[k] - re[j], b = im[k] - im[j], t = dr * a - di * b;
                di = dr * b + di * a, dr = t;
            }
            double q = dr * dr + di * di + 1e-300;
            re[k] -= (vr * dr + vi * di) / q;
            im[k] -= (vi * dr - vr * di) / q;
        }
    for (int k = 0; k < n; k++) out[(i * n + k) * 2] = re[k], out[(i * n + k) * 2 + 1] = im[k];
}

//! fixed_point_filters_of_sixteen_bits 20 64 | s16:20480 | out s16:20480 | s s32 16
K fixed_point_filters_of_sixteen_bits(const short *in, short *out, int n)
{
    int i = (blockIdx.x * 64 + threadIdx.x) * n;
    int a = 0, b = 0;
    for (int k = 0; k < n; k++) {
        int x = in[i + k], y = (x * 9000 + a * 14000 - b * 5000) >> 14;
        y = y > 32767 ? 32767 : y < -32768 ? -32768 : y;
        b = a, a = y;
        out[i + k] = (short)y;
    }
}
