// Cooperative groups, warp functions, wmma, pipelines, barriers.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <mma.h>
namespace cg = cooperative_groups;
__global__ void warps(int *x, float *f)
{
    auto b = cg::this_thread_block(); auto w = cg::tiled_partition<32>(b); auto q = cg::tiled_partition<4>(w); auto l = cg::coalesced_threads();
    int v = x[b.thread_rank()];
    v = cg::reduce(w, v, cg::plus<int>()) + q.shfl_xor(v, 1) + w.ballot(v > 3) + l.size() + w.shfl_up(v, 2) + __shfl_down_sync(~0u, v, 3);
    if (w.any(v) && __all_sync(~0u, v)) v += w.match_any(v) + __activemask();
    int p; v += __match_all_sync(~0u, v, &p) + p; f[threadIdx.x] = cg::reduce(q, f[threadIdx.x], cg::greater<float>());
    b.sync(); v += __syncthreads_count(v) + __syncthreads_or(v); __syncwarp(); x[b.thread_rank()] = v;
#if __CUDA_ARCH__ >= 800
    x[1] = __reduce_add_sync(~0u, (unsigned)v);
#endif
}
__global__ void grids(int *x) { cg::grid_group g = cg::this_grid(); x[g.thread_rank()]++; g.sync(); x[0] += g.num_blocks(); }
__global__ void matrices(const half *a, const half *b, float *c, const signed char *i8, int *o)
{
    using namespace nvcuda::wmma;
    fragment<matrix_a, 16, 16, 16, half, row_major> A; fragment<matrix_b, 16, 16, 16, half, col_major> B; fragment<accumulator, 16, 16, 16, float> C;
    fill_fragment(C, 0.f); load_matrix_sync(A, a, 16); load_matrix_sync(B, b, 16); mma_sync(C, A, B, C); store_matrix_sync(c, C, 16, mem_row_major);
    fragment<matrix_a, 16, 16, 16, signed char, row_major> D; fragment<matrix_b, 16, 16, 16, signed char, col_major> E; fragment<accumulator, 16, 16, 16, int> F;
    fill_fragment(F, 0); load_matrix_sync(D, i8, 16); load_matrix_sync(E, i8, 16); mma_sync(F, D, E, F); store_matrix_sync(o, F, 16, mem_col_major);
}
#if __CUDA_ARCH__ >= 800 || !defined __CUDA_ARCH__
__global__ void stages(const float4 *in, float4 *out, int n)
{
    __shared__ float4 s[2][64]; __shared__ cuda::barrier<cuda::thread_scope_block> bar; __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> st;
    auto b = cg::this_thread_block(); if (!threadIdx.x) init(&bar, 64); b.sync();
    cuda::memcpy_async(b, s[0], in, sizeof(float4) * 64, bar); bar.arrive_and_wait();
    auto p = cuda::make_pipeline(b, &st);
    for (int i = 0; i < n; i++) { p.producer_acquire(); cuda::memcpy_async(b, s[i & 1], in + i * 64, cuda::aligned_size_t<16>(1024), p); p.producer_commit(); p.consumer_wait(); out[i] = s[i & 1][threadIdx.x]; p.consumer_release(); }
    cg::memcpy_async(b, s[1], in, 1024); cg::wait(b); out[threadIdx.x] = s[1][threadIdx.x];
}
#endif
