// yield.cu - what YIELD costs: loops that look at memory until it says stop, with and without it (volatile makes ptxas put YIELD there).
#include <cstdio>
#include <cuda_runtime.h>
#define K extern "C" __global__ void
// a chain through shared memory: each word says where the next one is, 0 ends it
template <bool V> __device__ __forceinline__ unsigned walk(unsigned *s, unsigned at) {
    if (V) { volatile unsigned *v = s; unsigned n = 0; while (at) { at = v[at]; n++; } return n; }
    unsigned n = 0; while (at) { at = s[at]; n++; } return n;
}
__device__ __forceinline__ void fill(unsigned *s) { for (unsigned k = threadIdx.x; k < 1024; k += blockDim.x) s[k] = k ? k - 1 : 0; __syncthreads(); }
#define BODY(start, V, cond) __shared__ unsigned s[1024]; fill(s); long long t = clock64(); unsigned n = 0; if (cond) n = walk<V>(s, start); __syncwarp(); t = clock64() - t; \
    out[threadIdx.x] = n; if (threadIdx.x % 32 == 0) when[threadIdx.x / 32] = t;
K all_volatile(unsigned *out, long long *when, unsigned len) { BODY(len, true, true) }
K all_plain(unsigned *out, long long *when, unsigned len) { BODY(len, false, true) }
K parts_volatile(unsigned *out, long long *when, unsigned len) { BODY(len - threadIdx.x % 32, true, true) }
K parts_plain(unsigned *out, long long *when, unsigned len) { BODY(len - threadIdx.x % 32, false, true) }
K one_volatile(unsigned *out, long long *when, unsigned len) { BODY(len, true, threadIdx.x % 32 == 0) }
K one_plain(unsigned *out, long long *when, unsigned len) { BODY(len, false, threadIdx.x % 32 == 0) }
K two_volatile(unsigned *out, long long *when, unsigned len) {
    __shared__ unsigned s[1024]; fill(s); long long t = clock64(); unsigned n = 0; volatile unsigned *v = s; unsigned at = len;
    if (threadIdx.x % 2) { while (at) { at = v[at]; n++; } } else { while (at) { at = v[at]; n += 3; } out[1024 + threadIdx.x] = n; }
    __syncwarp(); t = clock64() - t; out[threadIdx.x] = n; if (threadIdx.x % 32 == 0) when[threadIdx.x / 32] = t;
}
// exchanges that always succeed the second time
K exchanges(unsigned *out, long long *when, unsigned len) {
    __shared__ unsigned s[1024]; s[threadIdx.x] = 0; __syncthreads(); long long t = clock64();
    for (unsigned k = 0; k < len; k++) { unsigned old = ~0u, was; do { was = old; old = atomicCAS(&s[threadIdx.x], was, was + 1); } while (old != was); }
    t = clock64() - t; out[threadIdx.x] = s[threadIdx.x]; if (threadIdx.x % 32 == 0) when[threadIdx.x / 32] = t;
}
int main() {
    unsigned *out; long long *when, h[32]; cudaMalloc(&out, 1 << 20); cudaMalloc(&when, 4096);
    struct { const char *n; void (*f)(unsigned *, long long *, unsigned); } k[] = {{"all_volatile", all_volatile}, {"all_plain", all_plain}, {"parts_volatile", parts_volatile}, {"parts_plain", parts_plain},
        {"one_volatile", one_volatile}, {"one_plain", one_plain}, {"two_volatile", two_volatile}, {"exchanges", exchanges}};
    printf("#kernel\twarps\tlen\tcycles_first_warp\tcycles_last_warp\n");
    for (auto &x : k) for (int w = 1; w <= 32; w *= 2) for (unsigned len : {100u, 200u}) {
        for (int r = 0; r < 3; r++) { x.f<<<1, 32 * w>>>(out, when, len); cudaMemcpy(h, when, sizeof h, cudaMemcpyDeviceToHost); }
        printf("%s\t%d\t%u\t%lld\t%lld\n", x.n, w, len, h[0], h[w - 1]);
    }
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
