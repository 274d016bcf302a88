// Clusters, distributed shared memory, bulk copies, inline assembly, launch bounds.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/ptx>
namespace cg = cooperative_groups;
__global__ void __launch_bounds__(256, 2) bounded(float *x) { x[threadIdx.x] *= 2; }
__global__ void __maxnreg__(64) few(float *x) { x[threadIdx.x] += 2; }
__global__ void inline_asm(unsigned *x, unsigned long long *y)
{
    unsigned lane, r; asm("mov.u32 %0, %%laneid;" : "=r"(lane)); asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %1, 0;\n\tselp.u32 %0, 1, 2, p;\n\t}" : "=r"(r) : "r"(lane));
    asm volatile("st.global.cg.v2.u32 [%0], {%1, %2};" :: "l"(x), "r"(lane), "r"(r) : "memory"); unsigned long long t; asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)); y[0] = t;
    float f; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(f) : "f"(1.5f)); x[3] = (unsigned)f; unsigned short h; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(f)); x[4] = h;
    asm volatile("bar.sync %0, %1;" :: "r"(1), "r"(64)); asm volatile("prefetch.global.L2 [%0];" :: "l"(x)); asm volatile("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(x[5]) : "r"(lane), "r"(r), "r"(7));
}
#if __CUDA_ARCH__ >= 900 || !defined __CUDA_ARCH__
__global__ void __cluster_dims__(2, 1, 1) cluster(int *x)
{
    __shared__ int s[32]; __shared__ alignas(16) char buf[256]; __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    auto c = cg::this_cluster(); s[threadIdx.x & 31] = threadIdx.x; if (!threadIdx.x) { init(&bar, 1); cuda::device::experimental::fence_proxy_async_shared_cta(); } c.sync();
    int *peer = c.map_shared_rank(s, c.block_rank() ^ 1); x[threadIdx.x] = peer[threadIdx.x & 31] + c.num_blocks();
    if (!threadIdx.x) { cuda::device::memcpy_async_tx((int *)buf, x, cuda::aligned_size_t<16>(256), bar); auto t = cuda::device::barrier_arrive_tx(bar, 1, 256); bar.wait(std::move(t)); }
    cuda::ptx::fence_proxy_async(); if (!threadIdx.x) { cuda::ptx::cp_async_bulk(cuda::ptx::space_global, cuda::ptx::space_shared, x, buf, 256); cuda::ptx::cp_async_bulk_commit_group(); cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<0>()); }
    c.barrier_arrive(); c.barrier_wait(); asm volatile("griddepcontrol.wait;" ::: "memory");
}
#endif
