/* pipes.cu - tiles that come while others are multiplied: copies of both generations, warp groups, clusters, fragments (compute_90a). */
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <cstdint>
#define K extern "C" __global__ void
namespace cg = cooperative_groups;
using namespace nvcuda;

__device__ __forceinline__ uint32_t sa(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
#define CP_ASYNC16(dst, src) asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;\n" ::"r"(dst), "l"(src))
#define CP_COMMIT() asm volatile("cp.async.commit_group;\n" ::)
#define CP_WAIT(n) asm volatile("cp.async.wait_group %0;\n" ::"n"(n))
#define LDM4(r0, r1, r2, r3, a) asm volatile("ldmatrix.sync.aligned.x4.m8n8.shared.b16 {%0,%1,%2,%3}, [%4];\n" : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "r"(a))
#define LDM2T(r0, r1, a) asm volatile("ldmatrix.sync.aligned.x2.trans.m8n8.shared.b16 {%0,%1}, [%2];\n" : "=r"(r0), "=r"(r1) : "r"(a))

__device__ __forceinline__ void mbar_wait(uint64_t *bar, int phase)
{
    asm volatile("{\n.reg .pred P1;\nLAB_WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n@P1 bra DONE;\nbra LAB_WAIT;\nDONE:\n}\n" ::"r"(sa(bar)), "r"(phase));
}
__device__ __forceinline__ void tma_2d(void *dst, const CUtensorMap *map, uint64_t *bar, int x, int y)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(sa(dst)), "l"(map), "r"(sa(bar)), "r"(x), "r"(y)
                 : "memory");
}
__device__ __forceinline__ uint64_t desc128(const void *p)
{
    uint64_t a = (sa(p) & 0x3FFFF) >> 4;
    return a | (uint64_t)1 << 16 | (uint64_t)(1024 >> 4) << 32 | (uint64_t)1 << 62;
}
__device__ __forceinline__ void wgmma64(float (&d)[32], uint64_t a, uint64_t b)
{
    asm volatile("{\nwgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
                 "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, %32, %33, 1, 1, 1, 0, 0;\n}\n"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]),
                   "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
                   "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
                 : "l"(a), "l"(b));
}

//! copy_engine_feeds_a_warp_group 8,8 128 | {"tensormap": "f16", "dims": [512, 512], "box": [64, 64], "swizzle": "128B", "init": {"hash": 51001, "lo": -1, "hi": 1}} | {"tensormap": "f16", "dims": [512, 512], "box": [64, 64], "swizzle": "128B", "init": {"hash": 51002, "lo": -1, "hi": 1}} | out f32:262144 | s s32 512
// Both operands have K in rows; two stages, one thread starts the copies, all wait.
K __launch_bounds__(128) copy_engine_feeds_a_warp_group(const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B, float *C, int n)
{
    __shared__ __align__(1024) __half a[2][64 * 64], b[2][64 * 64];
    __shared__ __align__(8) uint64_t bar[2];
    int tid = threadIdx.x, row = blockIdx.y * 64, col = blockIdx.x * 64;
    if (tid == 0)
        for (int i = 0; i < 2; i++) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(sa(&bar[i])));
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    auto fetch = [&](int s, int k) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(sa(&bar[s])), "r"(2 * 64 * 64 * 2) : "memory");
        tma_2d(a[s], &A, &bar[s], k, row);
        tma_2d(b[s], &B, &bar[s], k, col);
    };
    if (tid == 0) fetch(0, 0);
    float d[32] = {};
    for (int k = 0, it = 0; k < n; k += 64, it++) {
        if (tid == 0 && k + 64 < n) fetch((it + 1) & 1, k + 64);
        mbar_wait(&bar[it & 1], (it >> 1) & 1);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int q = 0; q < 4; q++) wgmma64(d, desc128(&a[it & 1][q * 16]), desc128(&b[it & 1][q * 16]));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        __syncthreads();
    }
    int w = tid / 32, lane = tid % 32, r = row + w * 16 + lane / 4;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        int c = col + j * 8 + lane % 4 * 2;
        C[r * n + c] = d[j * 4], C[r * n + c + 1] = d[j * 4 + 1];
        C[(r + 8) * n + c] = d[j * 4 + 2], C[(r + 8) * n + c + 1] = d[j * 4 + 3];
    }
}

//! brain_floats_three_stages_two_by_two_warps 4,4 128 | bf16:65536:-1:1 | bf16:65536:-1:1 | out bf16:65536 | s s32 256 | s s32 256
// 64 x 64 a block, 32 x 32 a warp, K in steps of 32.
K __launch_bounds__(128) brain_floats_three_stages_two_by_two_warps(const __nv_bfloat16 *A, const __nv_bfloat16 *B, __nv_bfloat16 *C, int n, int kd)
{
    __shared__ __align__(16) __nv_bfloat16 As[3][64][40], Bs[3][32][72];
    int tid = threadIdx.x, warp = tid / 32, lane = tid % 32, wm = warp / 2 * 32, wn = warp % 2 * 32, row = blockIdx.y * 64, col = blockIdx.x * 64;
    float acc[2][4][4] = {};
    auto load = [&](int s, int k) {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            int c = tid + i * 128;
            CP_ASYNC16(sa(&As[s][c / 4][c % 4 * 8]), A + (row + c / 4) * kd + k + c % 4 * 8);
            CP_ASYNC16(sa(&Bs[s][c / 8][c % 8 * 8]), B + (k + c / 8) * n + col + c % 8 * 8);
        }
        CP_COMMIT();
    };
    load(0, 0);
    load(1, 32);
    int tiles = kd / 32;
    for (int t = 0; t < tiles; t++) {
        CP_WAIT(1);
        __syncthreads();
        if (t + 2 < tiles)
            load((t + 2) % 3, (t + 2) * 32);
        else
            CP_COMMIT();
        int s = t % 3;
#pragma unroll
        for (int kk = 0; kk < 32; kk += 16) {
            uint32_t a[2][4], b[4][2];
#pragma unroll
            for (int i = 0; i < 2; i++) LDM4(a[i][0], a[i][1], a[i][2], a[i][3], sa(&As[s][wm + i * 16 + lane % 16][kk + lane / 16 * 8]));
#pragma unroll
            for (int j = 0; j < 4; j++) LDM2T(b[j][0], b[j][1], sa(&Bs[s][kk + lane % 16][wn + j * 8]));
#pragma unroll
            for (int i = 0; i < 2; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
                                 : "+f"(acc[i][j][0]), "+f"(acc[i][j][1]), "+f"(acc[i][j][2]), "+f"(acc[i][j][3])
                                 : "r"(a[i][0]), "r"(a[i][1]), "r"(a[i][2]), "r"(a[i][3]), "r"(b[j][0]), "r"(b[j][1]));
        }
    }
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            int r = row + wm + i * 16 + lane / 4, c = col + wn + j * 8 + lane % 4 * 2;
            *(__nv_bfloat162 *)&C[r * n + c] = __floats2bfloat162_rn(acc[i][j][0], acc[i][j][1]);
            *(__nv_bfloat162 *)&C[(r + 8) * n + c] = __floats2bfloat162_rn(acc[i][j][2], acc[i][j][3]);
        }
}

//! floats_double_buffered_by_copies 8,4 16,16 | f32:131072:-1:1 | f32:262144:-1:1 | out f32:131072 | s s32 512 | s s32 512
// C of 256 x 512; 64 x 64 a block, 4 x 4 a thread.
K __launch_bounds__(256) floats_double_buffered_by_copies(const float *A, const float *B, float *C, int n, int kd)
{
    __shared__ __align__(16) float As[2][64][20], Bs[2][16][64];
    int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx, row = blockIdx.y * 64, col = blockIdx.x * 64;
    const float *a = A + (row + t / 4) * kd + t % 4 * 4, *b = B + t / 16 * n + col + t % 16 * 4;
    float acc[4][4] = {};
    CP_ASYNC16(sa(&As[0][t / 4][t % 4 * 4]), a);
    CP_ASYNC16(sa(&Bs[0][t / 16][t % 16 * 4]), b);
    CP_COMMIT();
    for (int k = 0; k < kd; k += 16) {
        int s = k / 16 & 1;
        if (k + 16 < kd) {
            CP_ASYNC16(sa(&As[s ^ 1][t / 4][t % 4 * 4]), a + k + 16);
            CP_ASYNC16(sa(&Bs[s ^ 1][t / 16][t % 16 * 4]), b + (k + 16) * n);
        }
        CP_COMMIT();
        CP_WAIT(1);
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < 16; kk++) {
            float4 v = *(float4 *)&Bs[s][kk][tx * 4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                float u = As[s][ty * 4 + i][kk];
                acc[i][0] += u * v.x, acc[i][1] += u * v.y, acc[i][2] += u * v.z, acc[i][3] += u * v.w;
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; i++) *(float4 *)&C[(row + ty * 4 + i) * n + col + tx * 4] = make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
}

//! bytes_multiplied_by_wmma_with_skew 4,4 128 | s8:65536:-8:8 | s8:65536:-8:8 | out s32:65536 | s s32 256
K bytes_multiplied_by_wmma_with_skew(const signed char *A, const signed char *B, int *C, int n)
{
    __shared__ __align__(32) signed char as[64][64 + 16], bs[64][64 + 16];
    int tid = threadIdx.x, w = tid / 32, row = blockIdx.y * 64, col = blockIdx.x * 64;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> c[4];
    for (int j = 0; j < 4; j++) wmma::fill_fragment(c[j], 0);
    for (int k = 0; k < n; k += 64) {
        for (int i = tid; i < 64 * 4; i += 128) {
            *(int4 *)&as[i / 4][i % 4 * 16] = *(const int4 *)(A + (row + i / 4) * n + k + i % 4 * 16);
            *(int4 *)&bs[i / 4][i % 4 * 16] = *(const int4 *)(B + (col + i / 4) * n + k + i % 4 * 16);
        }
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < 4; kk++) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> a;
            wmma::load_matrix_sync(a, &as[w * 16][kk * 16], 80);
#pragma unroll
            for (int j = 0; j < 4; j++) {
                wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> b;
                wmma::load_matrix_sync(b, &bs[j * 16][kk * 16], 80);
                wmma::mma_sync(c[j], a, b, c[j]);
            }
        }
        __syncthreads();
    }
    for (int j = 0; j < 4; j++) wmma::store_matrix_sync(C + (row + w * 16) * n + col + j * 16, c[j], n, wmma::mem_row_major);
}

//! tile_in_and_turned_out_by_engine 8,8 256 | {"tensormap": "f32", "dims": [256, 256], "box": [32, 32], "init": {"hash": 51003, "lo": -1, "hi": 1}} | {"tensormap": "f32", "dims": [256, 256], "box": [32, 32], "init": {"const": 0}, "output": true}
K tile_in_and_turned_out_by_engine(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out)
{
    __shared__ __align__(128) float a[32][32];
    __shared__ __align__(128) float b[32][32];
    __shared__ __align__(8) uint64_t bar;
    int t = threadIdx.x;
    if (t == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(sa(&bar)));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 4096;" ::"r"(sa(&bar)) : "memory");
        tma_2d(a, &in, &bar, blockIdx.x * 32, blockIdx.y * 32);
    }
    __syncthreads();
    mbar_wait(&bar, 0);
    for (int r = t / 32; r < 32; r += 8) b[r][(t % 32 + r) % 32] = a[(t % 32 + r) % 32][r];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&out), "r"(blockIdx.y * 32), "r"(blockIdx.x * 32), "r"(sa(b)) : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

//! cluster_shares_its_row_sums 32 256 | f32:32768:0:1 | out f32:32768
// Softmax over 4096 values by four blocks of a cluster; sums are read from the other blocks' shared memory.
K __cluster_dims__(4, 1, 1) cluster_shares_its_row_sums(const float *in, float *out)
{
    cg::cluster_group cluster = cg::this_cluster();
    cg::thread_block block = cg::this_thread_block();
    __shared__ float part[8], mine;
    float4 v = ((const float4 *)in)[blockIdx.x * 256 + threadIdx.x];
    float4 e = make_float4(__expf(v.x), __expf(v.y), __expf(v.z), __expf(v.w));
    float s = e.x + e.y + e.z + e.w;
    for (int o = 16; o; o /= 2) s += __shfl_xor_sync(~0u, s, o);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
    block.sync();
    if (threadIdx.x == 0) {
        float a = 0;
        for (int i = 0; i < 8; i++) a += part[i];
        mine = a;
    }
    cluster.sync();
    float all = 0;
    for (unsigned r = 0; r < cluster.num_blocks(); r++) all += *cluster.map_shared_rank(&mine, r);
    cluster.sync();
    float inv = 1 / all;
    ((float4 *)out)[blockIdx.x * 256 + threadIdx.x] = make_float4(e.x * inv, e.y * inv, e.z * inv, e.w * inv);
}

//! pipeline_object_of_four_stages 24 128 | f32:98304:-1:1 | out f32:3072 | s s32 32
K pipeline_object_of_four_stages(const float *in, float *out, int rounds)
{
    __shared__ __align__(16) float buf[4][128];
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    const float *p = in + blockIdx.x * rounds * 128;
    float s = 0;
    int next = 0;
    for (; next < 3; next++) {
        pipe.producer_acquire();
        cuda::memcpy_async(&buf[next][threadIdx.x], p + next * 128 + threadIdx.x, sizeof(float), pipe);
        pipe.producer_commit();
    }
    for (int i = 0; i < rounds; i++, next++) {
        pipe.producer_acquire();
        if (next < rounds) cuda::memcpy_async(&buf[next % 4][threadIdx.x], p + next * 128 + threadIdx.x, sizeof(float), pipe);
        pipe.producer_commit();
        cuda::pipeline_consumer_wait_prior<3>(pipe);
        s = s * 0.5f + buf[i % 4][threadIdx.x];
        pipe.consumer_release();
    }
    out[blockIdx.x * 128 + threadIdx.x] = s;
}

//! group_copies_then_stencil 40 256 | f32:41984:-1:1 | out f32:40960
K group_copies_then_stencil(const float *in, float *out)
{
    __shared__ __align__(16) float s[1024 + 8];
    cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, s, in + blockIdx.x * 1024, cuda::aligned_size_t<16>(1032 * sizeof(float)));
    cg::wait(block);
    for (int i = threadIdx.x; i < 1024; i += 256) {
        float a = 0;
#pragma unroll
        for (int k = 0; k < 9; k++) a += s[i + k] * (k == 4 ? 2.f : -0.25f);
        out[blockIdx.x * 1024 + i] = a;
    }
}

//! attention_tile_by_wmma_in_shared 4,6 128 | f16:98304:-1:1 | f16:98304:-1:1 | f16:98304:-1:1 | out f16:98304 | s s32 256
// Six heads of 64 columns, 64 queries a block, keys in steps of 64; scores and sums stay in shared memory as floats.
K __launch_bounds__(128) attention_tile_by_wmma_in_shared(const half *Q, const half *Kk, const half *V, half *O, int n)
{
    __shared__ __align__(32) float S[64][72];
    __shared__ __align__(32) half P[64][72];
    int t = threadIdx.x, w = t / 32, head = blockIdx.y * 64 * n, row = blockIdx.x * 64;
    const half *q = Q + head, *k = Kk + head, *v = V + head;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> o[4];
    for (int j = 0; j < 4; j++) wmma::fill_fragment(o[j], 0.f);
    float l = 0;
    for (int base = 0; base < n; base += 64) {
        for (int j = 0; j < 4; j++) {
            wmma::fragment<wmma::accumulator, 16, 16, 16, float> s;
            wmma::fill_fragment(s, 0.f);
            for (int c = 0; c < 4; c++) {
                wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
                wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
                wmma::load_matrix_sync(a, q + (row + w * 16) * 64 + c * 16, 64);
                wmma::load_matrix_sync(b, k + (base + j * 16) * 64 + c * 16, 64);
                wmma::mma_sync(s, a, b, s);
            }
            wmma::store_matrix_sync(&S[w * 16][j * 16], s, 72, wmma::mem_row_major);
        }
        __syncwarp();
        for (int r = 0; r < 16; r++) {
            float a = __expf(S[w * 16 + r][t % 32] * 0.125f), b = __expf(S[w * 16 + r][t % 32 + 32] * 0.125f), sum = a + b;
            P[w * 16 + r][t % 32] = __float2half(a), P[w * 16 + r][t % 32 + 32] = __float2half(b);
            for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
            if (t % 32 == r) l += sum;
        }
        __syncwarp();
        for (int j = 0; j < 4; j++)
            for (int c = 0; c < 4; c++) {
                wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
                wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
                wmma::load_matrix_sync(a, &P[w * 16][c * 16], 72);
                wmma::load_matrix_sync(b, v + (base + c * 16) * 64 + j * 16, 64);
                wmma::mma_sync(o[j], a, b, o[j]);
            }
        __syncwarp();
    }
    for (int j = 0; j < 4; j++) wmma::store_matrix_sync(&S[w * 16][j * 16], o[j], 72, wmma::mem_row_major);
    __syncwarp();
    for (int r = 0; r < 16; r++) {
        float d = 1 / __shfl_sync(~0u, l, r);
        *(half2 *)&O[head + (row + w * 16 + r) * 64 + t % 32 * 2] = __floats2half2_rn(S[w * 16 + r][t % 32 * 2] * d, S[w * 16 + r][t % 32 * 2 + 1] * d);
    }
}
