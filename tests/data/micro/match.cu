// match.cu - what MATCH and REDUX cost by how many different values the lanes bring, how they lie in the warp, and how many warps ask.
//
//     nvcc -O3 -arch=sm_90 -o match match.cu && ./match >match.tsv
//
// A chain of 64 operations, each waiting for the one before and followed by a LOP3: cycles of the first warp for each, by the number of warps that do the same.
#include <cstdio>
#include <cuda_runtime.h>
enum kind { ANY, ANY64, ALL, ALL64, ADD, MIN, MINS, AND, ANY_ADD, ANY_SHFL, ADD_SHFL, HALF_ANY, kinds };
static const char *const name[] = {"match.any", "match.any.b64", "match.all", "match.all.b64", "redux.add.u32", "redux.min.u32", "redux.min.s32", "redux.and",
    "match.any+redux.add", "match.any+shfl", "redux.add+shfl", "match.any of lanes 0-15"};
template <int K> __device__ __forceinline__ unsigned step(unsigned v)
{
    unsigned r = 0, q = 0; unsigned long long w = v * 0x100000001ull;
    if (K == ANY || K == ANY_ADD || K == ANY_SHFL) asm volatile("match.any.sync.b32 %0,%1,0xffffffff;" : "=r"(r) : "r"(v));
    if (K == HALF_ANY) asm volatile("match.any.sync.b32 %0,%1,0x0000ffff;" : "=r"(r) : "r"(v));
    if (K == ANY64) asm volatile("match.any.sync.b64 %0,%1,0xffffffff;" : "=r"(r) : "l"(w));
    if (K == ALL) asm volatile("{.reg .pred p; match.all.sync.b32 %0|p,%1,0xffffffff;}" : "=r"(r) : "r"(v));
    if (K == ALL64) asm volatile("{.reg .pred p; match.all.sync.b64 %0|p,%1,0xffffffff;}" : "=r"(r) : "l"(w));
    if (K == ADD || K == ANY_ADD || K == ADD_SHFL) asm volatile("redux.sync.add.u32 %0,%1,0xffffffff;" : "=r"(q) : "r"(v));
    if (K == MIN) asm volatile("redux.sync.min.u32 %0,%1,0xffffffff;" : "=r"(q) : "r"(v));
    if (K == MINS) asm volatile("redux.sync.min.s32 %0,%1,0xffffffff;" : "=r"(q) : "r"(v));
    if (K == AND) asm volatile("redux.sync.and.b32 %0,%1,0xffffffff;" : "=r"(q) : "r"(v));
    if (K == ANY_SHFL || K == ADD_SHFL) { unsigned s; asm volatile("shfl.sync.bfly.b32 %0,%1,1,31,0xffffffff;" : "=r"(s) : "r"(v)); r ^= s; }
    return r ^ q;
}
template <int K> __global__ void run(const unsigned *in, unsigned *out, long long *when, unsigned zero)
{
    unsigned v = in[threadIdx.x % 32];
    if (K == HALF_ANY && threadIdx.x % 32 > 15) return;
    for (int w = 0; w < 2; w++) { // the second time from a warm instruction cache
        __syncthreads();
        long long t = clock64();
#pragma unroll
        for (int i = 0; i < 64; i++) v ^= step<K>(v) & zero;
        long long m = clock64();
        out[threadIdx.x] = v;
        if (threadIdx.x == 0) when[0] = m - t;
    }
}
template <int K> void all(const unsigned *groups, unsigned *in, unsigned *out, long long *when)
{
    long long h[1]; unsigned v[32];
    for (int layout = 0; layout < 2; layout++)
        for (const unsigned *g = groups; *g; g++) {
            if (layout && (*g == 1 || *g == 32)) continue;
            for (unsigned i = 0; i < 32; i++) v[i] = layout ? i * *g / 32 : i % *g;
            cudaMemcpy(in, v, sizeof v, cudaMemcpyHostToDevice);
            for (int w = 1; w <= 32; w *= 2) {
                for (int r = 0; r < 2; r++) { run<K><<<1, 32 * w>>>(in, out, when, 0); cudaMemcpy(h, when, sizeof h, cudaMemcpyDeviceToHost); }
                printf("%s\t%u\t%s\t%d\t%.2f\n", name[K], *g, layout ? "side by side" : "in turn", w, h[0] / 64.0);
            }
        }
}
int main()
{
    unsigned *in, *out; long long *when;
    cudaMalloc(&in, 4096); cudaMalloc(&out, 1 << 16); cudaMalloc(&when, 4096);
    static const unsigned any[] = {1, 2, 3, 4, 5, 8, 16, 31, 32, 0}, few[] = {1, 2, 32, 0};
    printf("#operation\tvalues\tlayout\twarps\tcycles\n");
    all<ANY>(any, in, out, when); all<ANY64>(few, in, out, when); all<ALL>(few, in, out, when); all<ALL64>(few, in, out, when);
    all<ADD>(few, in, out, when); all<MIN>(few, in, out, when); all<MINS>(few, in, out, when); all<AND>(few, in, out, when);
    all<ANY_ADD>(any, in, out, when); all<ANY_SHFL>(few, in, out, when); all<ADD_SHFL>(few, in, out, when); all<HALF_ANY>(any, in, out, when);
    fprintf(stderr, "%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    return 0;
}
