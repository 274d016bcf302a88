// Templates, lambdas, virtual functions, recursion, printf, malloc and assert in device code.
#include <cstdio>
#include <cassert>
template <typename T, int N> struct vec { T v[N]; __device__ T sum() const { T s = 0; for (int i = 0; i < N; i++) s += v[i]; return s; } };
struct shape { __device__ virtual ~shape() {} __device__ virtual float area() const = 0; };
struct circle : shape { float r; __device__ circle(float x) : r(x) {} __device__ float area() const override { return 3.14159f * r * r; } };
struct square : shape { float a; __device__ square(float x) : a(x) {} __device__ float area() const override { return a * a; } };
__device__ __noinline__ unsigned fib(unsigned n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__device__ int table[] = {1, 2, 3, 5, 8};
__constant__ double weights[4] = {0.5, 0.25, 0.125, 1e-300};
__managed__ int counter;
__device__ const char *names[] = {"one", "two", "three"};
typedef float (*op)(float, float);
__device__ float plus(float a, float b) { return a + b; }
__device__ float times(float a, float b) { return a * b; }
__device__ op ops[2] = {plus, times};
template <typename F> __global__ void apply(F f, float *out, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = f(out[i], i); }
template <typename T> __global__ void sums(const vec<T, 8> *in, T *out) { out[threadIdx.x] = in[threadIdx.x].sum(); }
template __global__ void sums<float>(const vec<float, 8> *, float *);
template __global__ void sums<double>(const vec<double, 8> *, double *);
template __global__ void sums<short>(const vec<short, 8> *, short *);
template __global__ void sums<unsigned long long>(const vec<unsigned long long, 8> *, unsigned long long *);
__global__ void objects(float *out, int kind)
{
    shape *s = kind & 1 ? (shape *)new circle(2.0f) : (shape *)new square(3.0f);
    out[threadIdx.x] = s->area() + (float)weights[threadIdx.x & 3];
    printf("%s %d %f %u\n", names[kind % 3], table[threadIdx.x % 5], out[0], fib(kind));
    assert(out[0] > 0);
    delete s;
    void *p = malloc(64); if (p) { memset(p, kind, 64); out[1] = ((float *)p)[3]; free(p); }
    out[2] = ops[kind & 1](out[0], out[1]);
    atomicAdd(&counter, 1);
}
void host(float *p) { float k = 3; apply<<<1, 32>>>([=] __device__(float x, int i) { return x * k + i; }, p, 32); }
