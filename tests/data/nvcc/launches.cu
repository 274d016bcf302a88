// Separate compilation and launches from the device (for -rdc=true).
#include <cstdio>
extern __device__ int shared_value; extern __device__ int helper(int); extern __constant__ float coefficients[8];
__device__ __attribute__((weak)) int fallback(int x) { return x + 1; }
static __device__ int local_static; 
__global__ void child(int *x, int depth) { x[threadIdx.x] += helper(depth) + shared_value + (int)coefficients[depth & 7] + fallback(depth); }
__global__ void parent(int *x, int depth) { local_static++; if (depth) child<<<depth, 32>>>(x, depth - 1); if (!threadIdx.x) printf("%d\n", depth + local_static); }
struct big { int a[20]; double d; }; __device__ __noinline__ big make(big b, int k) { b.a[k & 15]++; b.d *= 2; return b; }
__global__ void structs(big *p, int k) { *p = make(*p, k); int dynamic[64]; for (int i = 0; i < 64; i++) dynamic[i] = p->a[i % 20]; p->a[0] = dynamic[k]; switch (k) { case 0: p->d = 1; break; case 1: p->d = 2.5; break; case 2: p->d += 7; break; case 3: p->d = -p->d; break; case 4: p->a[3] = 5; break; case 5: p->a[6] = 1; break; case 9: p->a[7] = p->a[8]; } }
