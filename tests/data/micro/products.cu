// products.cu - when the result of a wide product (IMAD.WIDE, IMAD.HI) can be used: chains of a product and another instruction that needs it, with
// 0 to 8 additions in between that need neither; cycles of the first warp for each.
//
//     nvcc -O3 -arch=sm_90 -std=c++17 -o products products.cu && ./products >products.tsv
#include <cstdio>
#include <cuda_runtime.h>
enum product { low, high, sum, half, plain, products };
enum reader { none, add, lop, shift, mad, fma32, again, readers };
static const char *const product_name[] = {"wide, low half", "wide, high half", "wide and sum, low half", "hi", "lo (IMAD)"}, *const reader_name[] = {"-", "add", "xor", "shift", "mad.lo", "fma.f32", "mul.hi"};
template <int P> __device__ __forceinline__ unsigned product(unsigned v, unsigned c)
{
    unsigned r = 0;
    if (P == low) asm volatile("{.reg .b64 d; .reg .b32 h; mul.wide.u32 d,%1,%2; mov.b64 {%0,h},d;}" : "=r"(r) : "r"(v), "r"(c));
    if (P == high) asm volatile("{.reg .b64 d; .reg .b32 l; mul.wide.u32 d,%1,%2; mov.b64 {l,%0},d;}" : "=r"(r) : "r"(v), "r"(c));
    if (P == sum) asm volatile("{.reg .b64 d; .reg .b32 h; mov.b64 d,{%1,%2}; mad.wide.u32 d,%1,%2,d; mov.b64 {%0,h},d;}" : "=r"(r) : "r"(v), "r"(c));
    if (P == half) asm volatile("mul.hi.u32 %0,%1,%2;" : "=r"(r) : "r"(v), "r"(c));
    if (P == plain) asm volatile("mul.lo.u32 %0,%1,%2;" : "=r"(r) : "r"(v), "r"(c));
    return r;
}
template <int R> __device__ __forceinline__ unsigned reader(unsigned v, unsigned c)
{
    if (R == add) asm volatile("add.u32 %0,%0,%1;" : "+r"(v) : "r"(c));
    if (R == lop) asm volatile("xor.b32 %0,%0,%1;" : "+r"(v) : "r"(c));
    if (R == shift) asm volatile("shf.l.wrap.b32 %0,%0,%1,7;" : "+r"(v) : "r"(c));
    if (R == mad) asm volatile("mad.lo.u32 %0,%0,%1,%1;" : "+r"(v) : "r"(c));
    if (R == fma32) { float f = __uint_as_float(v), g = __uint_as_float(c); asm volatile("fma.rn.f32 %0,%0,%1,%1;" : "+f"(f) : "f"(g)); v = __float_as_uint(f); }
    if (R == again) asm volatile("mul.hi.u32 %0,%0,%1;" : "+r"(v) : "r"(c));
    return v;
}
template <int P, int R, int N> __global__ void run(unsigned *out, long long *when, unsigned c)
{
    unsigned v = threadIdx.x + c, x = v;
    for (int turn = 0; turn < 2; turn++) { // the second time from a warm instruction cache
        __syncthreads();
        long long t = clock64();
#pragma unroll
        for (int i = 0; i < 64; i++) {
            v = product<P>(v, c);
#pragma unroll
            for (int k = 0; k < N; k++) asm volatile("xor.b32 %0,%0,%1;" : "+r"(x) : "r"(c + k));
            v = reader<R>(v, c);
        }
        long long m = clock64();
        out[threadIdx.x] = v + x;
        if (threadIdx.x == 0) when[0] = m - t;
    }
}
template <int P, int R, int N> void one(unsigned *out, long long *when)
{
    for (int w : {1, 4, 8, 16}) {
        long long h;
        for (int r = 0; r < 2; r++) { run<P, R, N><<<1, 32 * w>>>(out, when, 77777); cudaMemcpy(&h, when, sizeof h, cudaMemcpyDeviceToHost); }
        printf("%s\t%s\t%d\t%d\t%.2f\n", product_name[P], reader_name[R], N, w, h / 64.0);
    }
}
template <int P, int R> struct each { static void go(unsigned *o, long long *t) { one<P, R, 0>(o, t); if (R == add || R == fma32) one<P, R, 1>(o, t), one<P, R, 2>(o, t), one<P, R, 4>(o, t); each<P, R + 1>::go(o, t); } };
template <int P> struct each<P, readers> { static void go(unsigned *o, long long *t) { each<P + 1, 0>::go(o, t); } };
template <> struct each<products, 0> { static void go(unsigned *, long long *) {} };
int main()
{
    unsigned *out; long long *when;
    cudaMalloc(&out, 1 << 16); cudaMalloc(&when, 4096);
    printf("#product\treader\tbetween\twarps\tcycles\n");
    each<0, 0>::go(out, when);
    fprintf(stderr, "%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    return 0;
}
