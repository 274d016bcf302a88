/* lessons.cu - textbook programs once more, in other sizes, with templates, function pointers, recursion and large shared memory. */
#include <cstdint>
#define K extern "C" __global__ void

template <int TX, int TY, typename T> __device__ void multiply_tile(const T *a, const T *b, T *c, int n)
{
    __shared__ T sa[TY][TX + 1], sb[TX][TX];
    int x = blockIdx.x * TX + threadIdx.x, y = blockIdx.y * TY + threadIdx.y;
    T s = 0;
    for (int k0 = 0; k0 < n; k0 += TX) {
        sa[threadIdx.y][threadIdx.x] = a[y * n + k0 + threadIdx.x];
        for (int r = threadIdx.y; r < TX; r += TY) sb[r][threadIdx.x] = b[(k0 + r) * n + x];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TX; k++) s += sa[threadIdx.y][k] * sb[k][threadIdx.x];
        __syncthreads();
    }
    c[y * n + x] = s;
}

//! product_tiles_24_by_4_long 4,24 24,4 | s64:9216:-1000:1000 | s64:9216:-1000:1000 | out s64:9216 | s s32 96
K product_tiles_24_by_4_long(const long long *a, const long long *b, long long *c, int n) { multiply_tile<24, 4>(a, b, c, n); }

//! product_tiles_12_by_12_float 8,8 12,12 | f32:9216:-1:1 | f32:9216:-1:1 | out f32:9216 | s s32 96
K product_tiles_12_by_12_float(const float *a, const float *b, float *c, int n) { multiply_tile<12, 12>(a, b, c, n); }

template <typename T, int BLOCK, typename Op> __device__ T reduce_block(T v, Op op)
{
    __shared__ T room[BLOCK];
    room[threadIdx.x] = v;
    __syncthreads();
#pragma unroll
    for (int s = BLOCK / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) room[threadIdx.x] = op(room[threadIdx.x], room[threadIdx.x + s]);
        __syncthreads();
    }
    return room[0];
}

struct Times { __device__ double operator()(double a, double b) const { return a * b; } };
struct Furthest { __device__ int operator()(int a, int b) const { return abs(a) > abs(b) || (abs(a) == abs(b) && a > b) ? a : b; } };

//! product_of_all_doubles 14 512 | f64:7168:0.9:1.1 | out f64:14
K product_of_all_doubles(const double *x, double *out)
{
    double r = reduce_block<double, 512>(x[blockIdx.x * 512 + threadIdx.x], Times());
    if (threadIdx.x == 0) out[blockIdx.x] = r;
}

//! furthest_from_zero 11 64 | s32:7040:-99999:99999 | out s32:11 | s s32 640
K furthest_from_zero(const int *x, int *out, int n)
{
    int best = 0;
    for (int i = threadIdx.x; i < n; i += 64) best = Furthest()(best, x[blockIdx.x * n + i]);
    best = reduce_block<int, 64>(best, Furthest());
    if (threadIdx.x == 0) out[blockIdx.x] = best;
}

//! transposed_rectangles 6,10 40,5 | f64:48000:0:1 | out f64:48000 | s s32 240 | s s32 200
K transposed_rectangles(const double *in, double *out, int w, int h)
{
    __shared__ double tile[20][41];
    for (int r = threadIdx.y; r < 20; r += 5) tile[r][threadIdx.x] = in[(blockIdx.y * 20 + r) * w + blockIdx.x * 40 + threadIdx.x];
    __syncthreads();
    int t = threadIdx.y * 40 + threadIdx.x;
    for (int e = t; e < 800; e += 200) out[(blockIdx.x * 40 + e / 20) * h + blockIdx.y * 20 + e % 20] = tile[e % 20][e / 20];
}

//! pairs_in_96_kilobytes 4 512 98304 | f32:98304:-1:1 | out f32:8192
// All of a row of 24,576 in shared memory, read at distances of a prime.
K pairs_in_96_kilobytes(const float *x, float *out)
{
    extern __shared__ float whole[];
    for (int i = threadIdx.x; i < 24576; i += 512) whole[i] = x[blockIdx.x * 24576 + i];
    __syncthreads();
    for (int q = 0; q < 4; q++) {
        float s = 0;
        int at = threadIdx.x * 4 + q;
        for (int k = 0; k < 12; k++) {
            at = (at + 7919) % 24576;
            s += whole[at] * (k + 1);
        }
        out[blockIdx.x * 2048 + q * 512 + threadIdx.x] = s;
    }
}

typedef float (*Function)(float);
__device__ float square_less(float x) { return x * x - 0.3f; }
__device__ float cosine_like(float x) { return 1.0f - x * x * (0.5f - x * x * 0.0416f); }
__device__ float sharp(float x) { return x > 0.2f ? x - 0.9f : 3.0f * x - 1.3f; }
__device__ Function functions[3] = {square_less, cosine_like, sharp};

//! roots_by_bisection_of_pointers 9 96 | f32:864:0:0.2 | out f32:864 | s s32 18
K roots_by_bisection_of_pointers(const float *lo, float *root, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Function f = functions[(threadIdx.x / 32 + blockIdx.x) % 3];
    float a = lo[i], b = 2.0f, fa = f(a);
    for (int k = 0; k < steps; k++) {
        float m = 0.5f * (a + b), fm = f(m);
        if ((fm < 0) == (fa < 0)) a = m;
        else b = m;
    }
    root[i] = 0.5f * (a + b);
}

__device__ __noinline__ unsigned ways(int coins, int amount)
{
    const int value[5] = {1, 2, 5, 10, 20};
    if (amount == 0) return 1;
    if (amount < 0 || coins < 0) return 0;
    return ways(coins - 1, amount) + ways(coins, amount - value[coins]);
}

//! ways_to_pay_recursive 2 32 | iota s32:64 | out u32:64
K ways_to_pay_recursive(const int *amount, unsigned *out)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    out[i] = ways(3, amount[i] % 14);
}

template <int N> struct Vec {
    float v[N];
    __device__ Vec operator+(const Vec &o) const { Vec r; for (int k = 0; k < N; k++) r.v[k] = v[k] + o.v[k]; return r; }
    __device__ Vec operator*(float f) const { Vec r; for (int k = 0; k < N; k++) r.v[k] = v[k] * f; return r; }
    __device__ float dot(const Vec &o) const { float s = 0; for (int k = 0; k < N; k++) s += v[k] * o.v[k]; return s; }
};

//! directions_of_most_variance 12 64 | f32:3840:-1:1 | out f32:3840
K directions_of_most_variance(const Vec<5> *x, Vec<5> *out)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    Vec<5> p = x[i], q = x[(i + 17) % 768], d = {{1, 0.5f, 0.25f, 0.125f, 0.0625f}};
#pragma unroll 1
    for (int k = 0; k < 6; k++) {
        d = p * p.dot(d) + q * q.dot(d);
        d = d * rsqrtf(d.dot(d) + 1e-6f);
    }
    out[i] = d;
}

//! histogram_by_local_arrays 5 128 | u8:20480 | out u32:640
K histogram_by_local_arrays(const uint8_t *x, unsigned *out)
{
    uint8_t mine[16] = {0};
    const uint8_t *row = x + (blockIdx.x * 128 + threadIdx.x) * 32;
    for (int k = 0; k < 32; k++) mine[row[k] >> 4]++;
    unsigned most = 0, which = 0;
    for (int b = 0; b < 16; b++)
        if (mine[b] > most) {
            most = mine[b];
            which = b;
        }
    out[blockIdx.x * 128 + threadIdx.x] = which << 8 | most;
}

//! stencil_in_blocks_of_three 5,3,4 8,5,4 | f32:10560:0:1 | out f32:10560 | s s32 40 | s s32 15 | s s32 16
K stencil_in_blocks_of_three(const float *in, float *out, int nx, int ny, int nz)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= nx || y >= ny || z >= nz) return;
    int i = (z * ny + y) * nx + x;
    float c = in[i], s = 0;
    s += x > 0 ? in[i - 1] : c;
    s += x < nx - 1 ? in[i + 1] : c;
    s += y > 0 ? in[i - nx] : c;
    s += y < ny - 1 ? in[i + nx] : c;
    s += z > 0 ? in[i - nx * ny] : c;
    s += z < nz - 1 ? in[i + nx * ny] : c;
    out[i] = c + 0.1f * (s - 6.0f * c);
}

//! few_threads_many_registers 12 96 | f32:11520:-1:1 | f32:256:-1:1 | out f32:11520
extern "C" __global__ void __launch_bounds__(96, 4) few_threads_many_registers(const float *x, const float *w, float *y)
{
    float v[10], acc[10];
    int i = blockIdx.x * 96 + threadIdx.x;
#pragma unroll
    for (int k = 0; k < 10; k++) {
        v[k] = x[k * 1152 + i];
        acc[k] = 0.1f * k;
    }
#pragma unroll
    for (int r = 0; r < 10; r++)
#pragma unroll
        for (int k = 0; k < 10; k++) acc[r] = fmaf(w[r * 16 + k], v[k], acc[r]);
#pragma unroll
    for (int k = 0; k < 10; k++) y[k * 1152 + i] = acc[k] > 0 ? acc[k] : 0.01f * acc[k];
}
