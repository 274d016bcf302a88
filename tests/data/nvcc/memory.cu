// Textures, surfaces, atomics of every width and scope, cache operators, shared memory, fences.
#include <cuda/atomic>
__global__ void texels(cudaTextureObject_t t, cudaTextureObject_t l, cudaTextureObject_t c, cudaSurfaceObject_t s, float4 *out, int x, float u)
{
    float4 a = tex2D<float4>(t, u, u), b = tex1Dfetch<float4>(t, x), d = tex3D<float4>(t, u, u, u), e = tex2DLod<float4>(t, u, u, 2.f);
    float4 f = tex2DLayered<float4>(l, u, u, x), g = texCubemap<float4>(c, u, u, u), h = tex2DGrad<float4>(t, u, u, make_float2(u, u), make_float2(u, u));
    float4 k = tex2Dgather<float4>(t, u, u, 1), m = texCubemapLayered<float4>(c, u, u, u, x), n = tex1DLayered<float4>(l, u, x);
    int p; surf2Dread(&p, s, x, x); surf2Dwrite(p + 1, s, x, x); float2 q; surf3Dread(&q, s, x, x, x, cudaBoundaryModeClamp); surf1Dwrite(q, s, x, cudaBoundaryModeZero);
    uchar4 r = surf2DLayeredread<uchar4>(s, x, x, 2); surf2DLayeredwrite(r, s, x, x, 3);
    out[0] = make_float4(a.x + b.y + d.z + e.w, f.x + g.y, h.x + k.z + m.w, n.x + p);
}
__global__ void atoms(int *i, unsigned long long *u, float *f, double *d, unsigned short *h, int *o)
{
    __shared__ int sh[64]; extern __shared__ double dyn[];
    int t = threadIdx.x; sh[t] = t; dyn[t] = t; __syncthreads();
    o[0] = atomicAdd(i, 1) + atomicCAS(i, 2, 3) + atomicExch(i, 4) + atomicMin(i, 5) + atomicInc((unsigned *)i, 7) + atomicXor(&sh[t], 9);
    atomicAdd_system(u, 1ull); atomicMax(u, 5ull); atomicAdd(f, 1.f); atomicAdd_block(d, 2.0); atomicCAS(h, 1, 2);
    cuda::atomic_ref<int, cuda::thread_scope_device> r(*i); r.fetch_add(1, cuda::memory_order_release); o[1] = r.load(cuda::memory_order_acquire); r.store(3, cuda::memory_order_relaxed);
    cuda::atomic_ref<long long, cuda::thread_scope_block> q(*(long long *)u); long long e = 3; q.compare_exchange_strong(e, 4); q.fetch_and(7);
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_system); __threadfence(); __threadfence_block(); __threadfence_system();
    o[2] = __ldg(i) + __ldcg(i) + __ldcs(i) + __ldlu(i) + __ldcv(i); __stwt(o + 3, 4); __stcs(o + 4, 5); __stcg((float4 *)o, make_float4(1, 2, 3, 4));
    o[5] = (int)dyn[63 - t] + __isShared(i) + __isGlobal(o) + (int)__cvta_generic_to_shared(sh);
    volatile int *v = sh; o[6] = v[t]; memcpy(o + 8, sh, 32); __nanosleep(10); o[7] = clock() + (int)clock64();
}
