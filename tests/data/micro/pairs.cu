// pairs.cu - what two kinds of instructions cost together that leave a sub-core by the same way (exchanges, special functions, shared memory,
// constants, comparisons of all lanes): cycles of the first warp for both, in a chain where each waits for the one before, by the number of warps that do the same.
//
//     nvcc -O3 -arch=sm_90 -ftemplate-depth=2000 -o pairs pairs.cu && ./pairs >pairs.tsv
#include <cstdio>
#include <cuda_runtime.h>
#define OPS(X) X(none) X(popc) X(brev) X(bfind) X(ex2) X(f2i) X(shfl) X(shfl_idx) X(shfl_up) X(shfl_lane) X(lds) X(sts) X(redux) X(match) X(match8) X(s2r) X(vote) X(ldc) X(add) X(fma32) X(f64)
#define ENUM(n) n,
#define NAME(n) #n,
enum op { OPS(ENUM) ops };
static const char *const name[] = {OPS(NAME)};
__constant__ unsigned table[32] = {0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 68, 72, 76, 80, 84, 88, 92, 96, 100, 104, 108, 112, 116, 120, 124};
__shared__ unsigned words[32 * 32];
template <int O> __device__ __forceinline__ unsigned step(unsigned v, unsigned at)
{
    unsigned r = 0;
    if (O == none) r = v;
    if (O == popc) asm volatile("popc.b32 %0,%1;" : "=r"(r) : "r"(v));
    if (O == brev) asm volatile("brev.b32 %0,%1;" : "=r"(r) : "r"(v));
    if (O == bfind) asm volatile("bfind.u32 %0,%1;" : "=r"(r) : "r"(v));
    if (O == ex2) { float f; asm volatile("ex2.approx.ftz.f32 %0,%1;" : "=f"(f) : "f"(__uint_as_float(v))); r = __float_as_uint(f); }
    if (O == f2i) asm volatile("cvt.rzi.s32.f32 %0,%1;" : "=r"(r) : "f"(__uint_as_float(v)));
    if (O == shfl) asm volatile("shfl.sync.bfly.b32 %0,%1,1,31,0xffffffff;" : "=r"(r) : "r"(v));
    if (O == shfl_idx) asm volatile("shfl.sync.idx.b32 %0,%1,%2,31,0xffffffff;" : "=r"(r) : "r"(v), "r"(at));
    if (O == shfl_up) asm volatile("shfl.sync.up.b32 %0,%1,%2,0,0xffffffff;" : "=r"(r) : "r"(v), "r"(at));
    if (O == shfl_lane) asm volatile("shfl.sync.idx.b32 %0,%1,5,31,0xffffffff;" : "=r"(r) : "r"(v));
    if (O == lds) asm volatile("ld.volatile.shared.u32 %0,[%1];" : "=r"(r) : "r"((unsigned)__cvta_generic_to_shared(words) + (v & 124)));
    if (O == sts) { asm volatile("st.volatile.shared.u32 [%1],%0;" : : "r"(v), "r"((unsigned)__cvta_generic_to_shared(words) + 4 * at)); r = v; }
    if (O == redux) asm volatile("redux.sync.add.u32 %0,%1,0xffffffff;" : "=r"(r) : "r"(v));
    if (O == match || O == match8) asm volatile("match.any.sync.b32 %0,%1,0xffffffff;" : "=r"(r) : "r"(O == match8 ? v & 7 : v & 1024));
    if (O == s2r) { asm volatile("mov.u32 %0,%%smid;" : "=r"(r)); r ^= v; }
    if (O == vote) asm volatile("{.reg .pred p; setp.lt.u32 p,%1,%2; vote.sync.ballot.b32 %0,p,0xffffffff;}" : "=r"(r) : "r"(v), "r"(at));
    if (O == ldc) asm volatile("ld.const.u32 %0,[%1];" : "=r"(r) : "l"((unsigned long long)__cvta_generic_to_constant(table) + (v & 124)));
    if (O == add) asm volatile("add.u32 %0,%1,%2;" : "=r"(r) : "r"(v), "r"(at));
    if (O == fma32) { float f; asm volatile("fma.rn.f32 %0,%1,%1,%2;" : "=f"(f) : "f"(__uint_as_float(v)), "f"(__uint_as_float(at))); r = __float_as_uint(f); }
    if (O == f64) { double d = __hiloint2double(v, at); asm volatile("fma.rn.f64 %0,%1,%1,%1;" : "=d"(d) : "d"(d)); r = __double2hiint(d) ^ __double2loint(d); }
    return r;
}
template <int A, int B> __global__ void run(unsigned *out, long long *when, unsigned zero)
{
    unsigned lane = threadIdx.x & 31, v = 4 * lane, at = lane ^ zero;
    words[threadIdx.x] = 4 * lane;
    for (int turn = 0; turn < 2; turn++) { // the second time from a warm instruction cache
        __syncthreads();
        long long t = clock64();
#pragma unroll 16
        for (int i = 0; i < 32; i++) { v = step<A>(v, at); v = step<B>(v, at); }
        long long m = clock64();
        out[threadIdx.x] = v;
        if (threadIdx.x == 0) when[0] = m - t;
    }
}
template <int A, int B> void one(unsigned *out, long long *when)
{
    long long h[1];
    for (int w : {1, 4, 8, 16, 32}) {
        for (int r = 0; r < 2; r++) { run<A, B><<<1, 32 * w>>>(out, when, 0); cudaMemcpy(h, when, sizeof h, cudaMemcpyDeviceToHost); }
        printf("%s\t%s\t%d\t%.2f\n", name[A], name[B], w, h[0] / 32.0);
    }
}
template <int A, int B> struct each { static void go(unsigned *o, long long *t) { if (A) one<A, B>(o, t); each<A, B - 1>::go(o, t); } };
template <int A> struct each<A, -1> { static void go(unsigned *o, long long *t) { each<A - 1, (A > 0 ? A - 1 : 0)>::go(o, t); } };
template <> struct each<0, 0> { static void go(unsigned *, long long *) {} };
int main()
{
    unsigned *out; long long *when;
    cudaMalloc(&out, 1 << 16); cudaMalloc(&when, 4096);
    printf("#first\tsecond\twarps\tcycles\n");
    each<f64, f64>::go(out, when);
    fprintf(stderr, "%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    return 0;
}
