/* matrix_units.cu - products, attention, convolution and scans on tensor cores, fed by asynchronous copies in stages. */
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_pipeline.h>
#include <mma.h>
#include <cstdint>
#define K extern "C" __global__ void

using namespace nvcuda;
namespace cg = cooperative_groups;

// ---------------------------------------------------------------- small helpers

static __device__ __forceinline__ uint32_t smem(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

static __device__ __forceinline__ void cp16(uint32_t dst, const void *src)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(dst), "l"(src) : "memory");
}
static __device__ __forceinline__ void cp_commit() { asm volatile("cp.async.commit_group;\n" ::: "memory"); }
template <int N> static __device__ __forceinline__ void cp_wait() { asm volatile("cp.async.wait_group %0;\n" ::"n"(N) : "memory"); }

static __device__ __forceinline__ void ldsm4(uint32_t (&r)[4], uint32_t addr)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];\n" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(addr) : "memory");
}
static __device__ __forceinline__ void ldsm4_trans(uint32_t (&r)[4], uint32_t addr)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];\n" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(addr) : "memory");
}
static __device__ __forceinline__ void mma_f16(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
static __device__ __forceinline__ void mma_bf16(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

static __device__ __forceinline__ void mbar_init(uint64_t *bar, int count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n" ::"r"(smem(bar)), "r"(count) : "memory");
}
static __device__ __forceinline__ void mbar_expect(uint64_t *bar, uint32_t bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n" ::"r"(smem(bar)), "r"(bytes) : "memory");
}
static __device__ __forceinline__ void mbar_arrive(uint64_t *bar)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];\n" ::"r"(smem(bar)) : "memory");
}
static __device__ __forceinline__ void mbar_wait(uint64_t *bar, uint32_t parity)
{
    uint32_t ok;
    do {
        asm volatile("{\n .reg .pred p;\n mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n selp.u32 %0, 1, 0, p;\n}\n"
                     : "=r"(ok) : "r"(smem(bar)), "r"(parity) : "memory");
    } while (!ok);
}
static __device__ __forceinline__ void bulk_in(void *dst, const void *src, uint32_t bytes, uint64_t *bar)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];\n" ::"r"(smem(dst)), "l"(src), "r"(bytes), "r"(smem(bar))
                 : "memory");
}
static __device__ __forceinline__ void bulk_out(void *dst, const void *src, uint32_t bytes)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n" ::"l"(dst), "r"(smem(src)), "r"(bytes) : "memory");
}
static __device__ __forceinline__ void fence_async() { asm volatile("fence.proxy.async.shared::cta;\n" ::: "memory"); }

// ---------------------------------------------------------------- wmma

//! halves_through_wmma_bias_and_relu 8,8 128 | f16:131072:-1:1 | f16:131072:-1:1 | f16:512:-2:2 | out f16:262144 | s s32 512 | s s32 512 | s s32 256
K halves_through_wmma_bias_and_relu(const half *__restrict__ A, const half *__restrict__ B, const half *__restrict__ bias, half *__restrict__ C, int M, int N, int Kd)
{
    constexpr int BM = 64, BN = 64, BK = 32, LA = BK + 8, LB = BN + 8, LC = BN + 4;
    __shared__ __align__(128) unsigned char raw[BM * LC * 4];
    half *As = reinterpret_cast<half *>(raw), *Bs = As + BM * LA;
    float *Cs = reinterpret_cast<float *>(raw);

    const int tid = threadIdx.x, warp = tid >> 5, wm = warp >> 1, wn = warp & 1;
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;

    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[2][2];
    for (auto &r : acc)
        for (auto &f : r) wmma::fill_fragment(f, 0.0f);

    for (int k0 = 0; k0 < Kd; k0 += BK) {
#pragma unroll
        for (int i = tid; i < BM * BK / 8; i += 128) {
            int r = i >> 2, c = (i & 3) * 8;
            *reinterpret_cast<uint4 *>(As + r * LA + c) = *reinterpret_cast<const uint4 *>(A + (size_t)(row0 + r) * Kd + k0 + c);
        }
#pragma unroll
        for (int i = tid; i < BK * BN / 8; i += 128) {
            int r = i >> 3, c = (i & 7) * 8;
            *reinterpret_cast<uint4 *>(Bs + r * LB + c) = *reinterpret_cast<const uint4 *>(B + (size_t)(k0 + r) * N + col0 + c);
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BK; k += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb[2];
            for (int i = 0; i < 2; i++) wmma::load_matrix_sync(fa[i], As + (wm * 32 + i * 16) * LA + k, LA);
            for (int j = 0; j < 2; j++) wmma::load_matrix_sync(fb[j], Bs + k * LB + wn * 32 + j * 16, LB);
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 2; j++) wmma::mma_sync(acc[i][j], fa[i], fb[j], acc[i][j]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) wmma::store_matrix_sync(Cs + (wm * 32 + i * 16) * LC + wn * 32 + j * 16, acc[i][j], LC, wmma::mem_row_major);
    __syncthreads();
    for (int i = tid; i < BM * BN / 2; i += 128) {
        int r = i >> 5, c = (i & 31) * 2;
        half2 b = *reinterpret_cast<const half2 *>(bias + col0 + c);
        float x = Cs[r * LC + c] + __low2float(b), y = Cs[r * LC + c + 1] + __high2float(b);
        *reinterpret_cast<half2 *>(C + (size_t)(row0 + r) * N + col0 + c) = __floats2half2_rn(fmaxf(x, 0.f), fmaxf(y, 0.f));
    }
}

//! tall_brain_tiles_taken_in_turn 132 96 | bf16:131072:-1:1 | bf16:32768:-1:1 | out f32:262144 | s s32 1024 | s s32 256 | s s32 128 | s f32 0.125
// every warp takes the next tile of 32 by 8 that falls to it, with nothing in shared memory
K __launch_bounds__(96) tall_brain_tiles_taken_in_turn(const __nv_bfloat16 *A, const __nv_bfloat16 *Bt, float *C, int M, int N, int Kd, float alpha)
{
    const int warps = gridDim.x * (blockDim.x / warpSize);
    const int tilesN = N / 8, tiles = (M / 32) * tilesN;
    int tile = blockIdx.x * (blockDim.x / warpSize) + threadIdx.x / warpSize;
    while (tile < tiles) {
        const int tm = tile / tilesN, tn = tile % tilesN;
        wmma::fragment<wmma::accumulator, 32, 8, 16, float> acc;
        wmma::fill_fragment(acc, 0.f);
        const __nv_bfloat16 *pa = A + tm * 32 * Kd, *pb = Bt + tn * 8 * Kd;
        for (int k = 0; k < Kd; k += 16) {
            wmma::fragment<wmma::matrix_a, 32, 8, 16, __nv_bfloat16, wmma::row_major> a;
            wmma::fragment<wmma::matrix_b, 32, 8, 16, __nv_bfloat16, wmma::col_major> b;
            wmma::load_matrix_sync(a, pa + k, Kd);
            wmma::load_matrix_sync(b, pb + k, Kd);
            wmma::mma_sync(acc, a, b, acc);
        }
        for (int e = 0; e < acc.num_elements; ++e) acc.x[e] *= alpha;
        wmma::store_matrix_sync(C + tm * 32 * N + tn * 8, acc, N, wmma::mem_row_major);
        tile += warps;
    }
}

//! tensor_floats_split_k_last_block_adds 3,4,8 128 | f32:262144:-1:1 | f32:196608:-1:1 | scratch f32:393216 | scratch u32:12 | out f32:49152 | s s32 256 | s s32 192 | s s32 1024
// slices of k leave their part in memory, and the last of a tile to come adds all of them in order
K tensor_floats_split_k_last_block_adds(const float *A, const float *B, float *parts, unsigned *tickets, float *C, int M, int N, int Kd)
{
    __shared__ unsigned arrived;
    const int w = threadIdx.x / 32, slice = Kd / gridDim.z, kBegin = blockIdx.z * slice;
    const int r0 = blockIdx.y * 64 + (w / 2) * 32, c0 = blockIdx.x * 64 + (w % 2) * 32;
    using FA = wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major>;
    using FB = wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major>;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> acc[4];
#pragma unroll
    for (int i = 0; i < 4; i++) wmma::fill_fragment(acc[i], 0.0f);
    auto rounded = [](auto &f) {
        for (int t = 0; t < f.num_elements; t++) f.x[t] = wmma::__float_to_tf32(f.x[t]);
    };
#pragma unroll 2
    for (int k = kBegin; k < kBegin + slice; k += 8) {
        FA a0, a1;
        FB b0, b1;
        wmma::load_matrix_sync(a0, A + r0 * Kd + k, Kd);
        wmma::load_matrix_sync(a1, A + (r0 + 16) * Kd + k, Kd);
        wmma::load_matrix_sync(b0, B + k * N + c0, N);
        wmma::load_matrix_sync(b1, B + k * N + c0 + 16, N);
        rounded(a0), rounded(a1), rounded(b0), rounded(b1);
        wmma::mma_sync(acc[0], a0, b0, acc[0]);
        wmma::mma_sync(acc[1], a0, b1, acc[1]);
        wmma::mma_sync(acc[2], a1, b0, acc[2]);
        wmma::mma_sync(acc[3], a1, b1, acc[3]);
    }
    float *mine = parts + (size_t)blockIdx.z * M * N;
    for (int i = 0; i < 4; i++) wmma::store_matrix_sync(mine + (r0 + (i / 2) * 16) * N + c0 + (i % 2) * 16, acc[i], N, wmma::mem_row_major);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) arrived = atomicAdd(&tickets[blockIdx.y * gridDim.x + blockIdx.x], 1u);
    __syncthreads();
    if (arrived != gridDim.z - 1) return;
    __threadfence();
    for (int i = threadIdx.x; i < 64 * 16; i += blockDim.x) {
        int at = (blockIdx.y * 64 + i / 16) * N + blockIdx.x * 64 + (i % 16) * 4;
        float4 s = make_float4(0, 0, 0, 0);
        for (unsigned z = 0; z < gridDim.z; z++) {
            float4 v = __ldcg(reinterpret_cast<const float4 *>(parts + (size_t)z * M * N + at));
            s.x += v.x, s.y += v.y, s.z += v.z, s.w += v.w;
        }
        *reinterpret_cast<float4 *>(C + at) = s;
    }
}

//! bytes_requantised_per_channel_pipeline_header 4,4 128 | s8:131072:-100:100 | s8:131072:-100:100 | f32:256:0.0001:0.001 | out s8:65536 | s s32 256 | s s32 512
// <cuda_pipeline.h>, two stages, k in chunks of 16 bytes that lie one behind the other
struct ByteStage {
    signed char a[4][64 * 16], b[4][64 * 16];
};
K bytes_requantised_per_channel_pipeline_header(const signed char *__restrict__ A, const signed char *__restrict__ Bt, const float *__restrict__ scale, signed char *__restrict__ out,
                                                int N, int Kd)
{
    __shared__ __align__(128) ByteStage stage[2];
    __shared__ __align__(128) int result[64 * 68];
    const int tid = threadIdx.x, warp = tid / 32;
    const signed char *a = A + blockIdx.y * 64 * Kd, *b = Bt + blockIdx.x * 64 * Kd;
    auto fetch = [&](int s, int k0) {
        for (int i = tid; i < 256; i += 128) {
            int row = i / 4, chunk = i % 4;
            __pipeline_memcpy_async(&stage[s].a[chunk][row * 16], a + row * Kd + k0 + chunk * 16, 16);
            __pipeline_memcpy_async(&stage[s].b[chunk][row * 16], b + row * Kd + k0 + chunk * 16, 16);
        }
        __pipeline_commit();
    };
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> acc[2][2];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) wmma::fill_fragment(acc[i][j], 0);
    fetch(0, 0);
    int s = 0;
    for (int k0 = 0; k0 < Kd; k0 += 64, s ^= 1) {
        if (k0 + 64 < Kd) {
            fetch(s ^ 1, k0 + 64);
            __pipeline_wait_prior(1);
        } else
            __pipeline_wait_prior(0);
        __syncthreads();
        for (int c = 0; c < 4; c++) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> fa[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> fb[2];
            for (int i = 0; i < 2; i++) {
                wmma::load_matrix_sync(fa[i], &stage[s].a[c][((warp / 2) * 32 + i * 16) * 16], 16);
                wmma::load_matrix_sync(fb[i], &stage[s].b[c][((warp % 2) * 32 + i * 16) * 16], 16);
            }
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 2; j++) wmma::mma_sync(acc[i][j], fa[i], fb[j], acc[i][j]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            wmma::store_matrix_sync(&result[((warp / 2) * 32 + i * 16) * 68 + (warp % 2) * 32 + j * 16], acc[i][j], 68, wmma::mem_row_major);
    __syncthreads();
    for (int i = tid; i < 64 * 16; i += 128) {
        int r = i / 16, c = (i % 16) * 4;
        char4 q;
        auto squeeze = [&](int d) { return (signed char)max(-128, min(127, __float2int_rn(result[r * 68 + c + d] * __ldg(scale + blockIdx.x * 64 + c + d)))); };
        q.x = squeeze(0), q.y = squeeze(1), q.z = squeeze(2), q.w = squeeze(3);
        *reinterpret_cast<char4 *>(out + (blockIdx.y * 64 + r) * N + blockIdx.x * 64 + c) = q;
    }
}

//! complex_doubles_by_eight_by_eight_wmma 16 256 | f64:65536:-1:1 | f64:65536:-1:1 | out f64:131072 | s s32 32
// sixteen products of complex 64 x 32 by 32 x 64, the numbers as pairs in memory and as planes in shared memory
K complex_doubles_by_eight_by_eight_wmma(const double2 *A, const double2 *B, double2 *C, int inner)
{
    constexpr int LA = 18, LB = 66;
    __shared__ __align__(128) double ar[64 * LA], ai[64 * LA], br[16 * LB], bi[16 * LB];
    typedef wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> Left;
    typedef wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::row_major> Right;
    typedef wmma::fragment<wmma::accumulator, 8, 8, 4, double> Sum;
    const int w = threadIdx.x >> 5;
    A += blockIdx.x * 64 * inner;
    B += blockIdx.x * inner * 64;
    C += blockIdx.x * 64 * 64;
    Sum re[8], im[8];
#pragma unroll
    for (int j = 0; j < 8; j++) wmma::fill_fragment(re[j], 0.0), wmma::fill_fragment(im[j], 0.0);
    for (int k0 = 0; k0 < inner; k0 += 16) {
        __syncthreads();
        for (int i = threadIdx.x; i < 1024; i += 256) {
            double2 x = A[(i / 16) * inner + k0 + i % 16], y = B[(k0 + i / 64) * 64 + i % 64];
            ar[(i / 16) * LA + i % 16] = x.x;
            ai[(i / 16) * LA + i % 16] = x.y;
            br[(i / 64) * LB + i % 64] = y.x;
            bi[(i / 64) * LB + i % 64] = y.y;
        }
        __syncthreads();
        for (int k = 0; k < 16; k += 4) {
            Left xr, xi, minus;
            wmma::load_matrix_sync(xr, ar + w * 8 * LA + k, LA);
            wmma::load_matrix_sync(xi, ai + w * 8 * LA + k, LA);
            for (int e = 0; e < xi.num_elements; e++) minus.x[e] = -xi.x[e];
#pragma unroll
            for (int j = 0; j < 8; j++) {
                Right yr, yi;
                wmma::load_matrix_sync(yr, br + k * LB + j * 8, LB);
                wmma::load_matrix_sync(yi, bi + k * LB + j * 8, LB);
                wmma::mma_sync(re[j], xr, yr, re[j]);
                wmma::mma_sync(re[j], minus, yi, re[j]);
                wmma::mma_sync(im[j], xr, yi, im[j]);
                wmma::mma_sync(im[j], xi, yr, im[j]);
            }
        }
    }
    // both accumulators share one layout: row lane/4, columns 2*(lane%4) and the next
    const int lane = threadIdx.x & 31;
#pragma unroll
    for (int j = 0; j < 8; j++)
        for (int e = 0; e < 2; e++) C[(w * 8 + lane / 4) * 64 + j * 8 + (lane % 4) * 2 + e] = make_double2(re[j].x[e], im[j].x[e]);
}

// ---------------------------------------------------------------- mma.sync, ldmatrix and cp.async

//! swizzled_half_tiles_128_three_in_flight 8,8 256 49152 | f16:524288:-1:1 | f16:524288:-1:1 | out f16:1048576 | s s32 1024 | s s32 512
K __launch_bounds__(256, 2) swizzled_half_tiles_128_three_in_flight(const half *__restrict__ A, const half *__restrict__ B, half *__restrict__ C, int N, int Kd)
{
    extern __shared__ __align__(1024) unsigned char pool[];
    const uint32_t base = smem(pool);
    constexpr int STAGES = 3, STAGE_BYTES = 16384, B_AT = 8192;
    const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
    const int wm = (warp >> 2) * 64, wn = (warp & 3) * 32;
    const half *gA = A + (size_t)blockIdx.y * 128 * Kd;
    const half *gB = B + blockIdx.x * 128;

    auto load = [&](int slot, int kt) {
        const uint32_t s = base + slot * STAGE_BYTES;
#pragma unroll
        for (int i = 0; i < 2; i++) {
            int c = tid + i * 256;
            int r = c >> 2, q = c & 3;
            cp16(s + r * 64 + ((q ^ ((r >> 1) & 3)) << 4), gA + (size_t)r * Kd + kt * 32 + q * 8);
            r = c >> 4, q = c & 15;
            cp16(s + B_AT + r * 256 + ((q ^ (r & 7)) << 4), gB + (size_t)(kt * 32 + r) * N + q * 8);
        }
    };

    float acc[4][4][4] = {};
    const int steps = Kd / 32;
    for (int s = 0; s < STAGES - 1; s++) {
        load(s, s);
        cp_commit();
    }
    for (int kt = 0; kt < steps; kt++) {
        cp_wait<STAGES - 2>();
        __syncthreads();
        if (kt + STAGES - 1 < steps) load((kt + STAGES - 1) % STAGES, kt + STAGES - 1);
        cp_commit();
        const uint32_t s = base + (kt % STAGES) * STAGE_BYTES;
#pragma unroll
        for (int kk = 0; kk < 2; kk++) {
            uint32_t fa[4][4], fb[2][4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                int r = wm + i * 16 + (lane & 15), q = kk * 2 + (lane >> 4);
                ldsm4(fa[i], s + r * 64 + ((q ^ ((r >> 1) & 3)) << 4));
            }
#pragma unroll
            for (int j = 0; j < 2; j++) {
                int r = kk * 16 + (lane & 15), q = (wn >> 3) + j * 2 + (lane >> 4);
                ldsm4_trans(fb[j], s + B_AT + r * 256 + ((q ^ (r & 7)) << 4));
            }
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) mma_f16(acc[i][j], fa[i], fb[j >> 1][(j & 1) * 2], fb[j >> 1][(j & 1) * 2 + 1]);
        }
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            int r = blockIdx.y * 128 + wm + i * 16 + (lane >> 2), c = blockIdx.x * 128 + wn + j * 8 + (lane & 3) * 2;
            *reinterpret_cast<half2 *>(C + (size_t)r * N + c) = __floats2half2_rn(acc[i][j][0], acc[i][j][1]);
            *reinterpret_cast<half2 *>(C + (size_t)(r + 8) * N + c) = __floats2half2_rn(acc[i][j][2], acc[i][j][3]);
        }
}

static __device__ __forceinline__ float gelu_tanh(float x) { return 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x))); }

template <int BM, int BN, int STAGES> struct BrainTile {
    static constexpr int A_BYTES = BM * 128, B_BYTES = BN * 128, BYTES = A_BYTES + B_BYTES;
    static __device__ __forceinline__ uint32_t at(uint32_t base, int row, int chunk) { return base + row * 128 + ((chunk ^ (row & 7)) * 16); }
    template <int ROWS> static __device__ __forceinline__ void rows(uint32_t dst, const __nv_bfloat16 *src, int pitch)
    {
#pragma unroll
        for (int i = threadIdx.x; i < ROWS * 8; i += 128) cp16(at(dst, i / 8, i % 8), src + (i / 8) * pitch + (i % 8) * 8);
    }
};

//! brain_layer_gelu_four_stages_templated 12,8 128 65536 | bf16:262144:-1:1 | bf16:393216:-0.1:0.1 | f32:768:-1:1 | out bf16:393216 | s s32 768 | s s32 512
K brain_layer_gelu_four_stages_templated(const __nv_bfloat16 *__restrict__ X, const __nv_bfloat16 *__restrict__ W, const float *__restrict__ bias, __nv_bfloat16 *__restrict__ Y, int N,
                                         int Kd)
{
    using T = BrainTile<64, 64, 4>;
    extern __shared__ __align__(1024) unsigned char pool[];
    const uint32_t base = smem(pool);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, wm = (warp % 2) * 32, wn = (warp / 2) * 32;
    const __nv_bfloat16 *x = X + blockIdx.y * 64 * Kd, *w = W + blockIdx.x * 64 * Kd;
    const int steps = Kd / 64;
    auto fetch = [&](int t) {
        if (t < steps) {
            T::rows<64>(base + (t & 3) * T::BYTES, x + t * 64, Kd);
            T::rows<64>(base + (t & 3) * T::BYTES + T::A_BYTES, w + t * 64, Kd);
        }
        cp_commit();
    };
    fetch(0), fetch(1), fetch(2);
    float acc[2][4][4];
#pragma unroll
    for (int i = 0; i < 32; i++) (&acc[0][0][0])[i] = 0.f;
    for (int t = 0; t < steps; t++) {
        cp_wait<2>();
        __syncthreads();
        fetch(t + 3);
        const uint32_t sa = base + (t & 3) * T::BYTES, sb = sa + T::A_BYTES;
#pragma unroll
        for (int kk = 0; kk < 4; kk++) {
            uint32_t a[2][4], b[2][4];
            ldsm4(a[0], T::at(sa, wm + (lane & 15), kk * 2 + (lane >> 4)));
            ldsm4(a[1], T::at(sa, wm + 16 + (lane & 15), kk * 2 + (lane >> 4)));
            ldsm4(b[0], T::at(sb, wn + (lane & 7) + ((lane >> 4) << 3), kk * 2 + ((lane >> 3) & 1)));
            ldsm4(b[1], T::at(sb, wn + 16 + (lane & 7) + ((lane >> 4) << 3), kk * 2 + ((lane >> 3) & 1)));
#pragma unroll
            for (int j = 0; j < 4; j++) {
                mma_bf16(acc[0][j], a[0], b[j / 2][(j % 2) * 2], b[j / 2][(j % 2) * 2 + 1]);
                mma_bf16(acc[1][j], a[1], b[j / 2][(j % 2) * 2], b[j / 2][(j % 2) * 2 + 1]);
            }
        }
    }
    for (int j = 0; j < 4; j++) {
        const int c = blockIdx.x * 64 + wn + j * 8 + (lane % 4) * 2;
        const float2 b = *reinterpret_cast<const float2 *>(bias + c);
        for (int i = 0; i < 2; i++)
            for (int h = 0; h < 2; h++) {
                int r = blockIdx.y * 64 + wm + i * 16 + h * 8 + lane / 4;
                *reinterpret_cast<__nv_bfloat162 *>(Y + r * N + c) = __floats2bfloat162_rn(gelu_tanh(acc[i][j][h * 2] + b.x), gelu_tanh(acc[i][j][h * 2 + 1] + b.y));
            }
    }
}

static __device__ uint32_t to_tf32(float x)
{
    uint32_t r;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
    return r;
}
static __device__ void mma_tf32(float *c, const uint32_t *a, const uint32_t *b)
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

//! complex_product_of_three_tf32_products 4,4 128 | f32:24576:-1:1 | f32:24576:-1:1 | out f32:32768 | s s32 128 | s s32 96
// three real products in place of four; each warp 16 by 16
K complex_product_of_three_tf32_products(const float2 *A, const float2 *B, float2 *C, int N, int Kd)
{
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, g = lane >> 2, t = lane & 3;
    const int row = blockIdx.y * 32 + (warp >> 1) * 16, col = blockIdx.x * 32 + (warp & 1) * 16;
    float p[2][4] = {}, q[2][4] = {}, s[2][4] = {};
    for (int k = 0; k < Kd; k += 8) {
        uint32_t ar[4], ai[4], as[4];
#pragma unroll
        for (int e = 0; e < 4; e++) {
            float2 v = __ldg(A + (row + g + (e & 1) * 8) * Kd + k + t + (e >> 1) * 4);
            ar[e] = to_tf32(v.x), ai[e] = to_tf32(v.y), as[e] = to_tf32(v.x + v.y);
        }
#pragma unroll
        for (int j = 0; j < 2; j++) {
            uint32_t br[2], bi[2], bs[2];
            for (int e = 0; e < 2; e++) {
                float2 v = __ldg(B + (k + t + e * 4) * N + col + j * 8 + g);
                br[e] = to_tf32(v.x), bi[e] = to_tf32(v.y), bs[e] = to_tf32(v.x + v.y);
            }
            mma_tf32(p[j], ar, br);
            mma_tf32(q[j], ai, bi);
            mma_tf32(s[j], as, bs);
        }
    }
    for (int j = 0; j < 2; j++)
        for (int e = 0; e < 4; e++) C[(row + g + (e >> 1) * 8) * N + col + j * 8 + t * 2 + (e & 1)] = make_float2(p[j][e] - q[j][e], s[j][e] - p[j][e] - q[j][e]);
}

static __device__ __forceinline__ void mma_s8(int (&c)[4], const int (&a)[4], int b0, int b1)
{
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

//! implicit_product_of_pictures_in_bytes 144 64 | s8:147456:-64:64 | s8:18432:-64:64 | s32:64:-4000:4000 | s32:64:100:400 | out s8:294912 | s s32 24 | s s32 24 | s s32 17
// NHWC of 32 channels, 64 filters of 3 x 3 with a border of zeros: every place of the filter is one step of k 32
K implicit_product_of_pictures_in_bytes(const signed char *__restrict__ x, const signed char *__restrict__ w, const int *__restrict__ bias, const int *__restrict__ mult,
                                        signed char *__restrict__ y, int H, int W, int shift)
{
    __shared__ __align__(16) signed char filter[64 * 288];
    for (int i = threadIdx.x; i < 64 * 288 / 16; i += blockDim.x) reinterpret_cast<int4 *>(filter)[i] = reinterpret_cast<const int4 *>(w)[i];
    __syncthreads();
    const int lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
    const int pix = blockIdx.x * 32 + (threadIdx.x >> 5) * 16 + g;
    int py[2], px[2], img[2];
    for (int h = 0; h < 2; h++) {
        int p = pix + 8 * h;
        img[h] = p / (H * W);
        py[h] = p / W % H;
        px[h] = p % W;
    }
    int acc[8][4] = {};
    for (int rs = 0; rs < 9; rs++) {
        int a[4] = {0, 0, 0, 0};
#pragma unroll
        for (int h = 0; h < 2; h++) {
            int iy = py[h] + rs / 3 - 1, ix = px[h] + rs % 3 - 1;
            if (iy >= 0 && iy < H && ix >= 0 && ix < W) {
                const int *src = reinterpret_cast<const int *>(x + ((img[h] * H + iy) * W + ix) * 32);
                a[h] = __ldg(src + t);
                a[h + 2] = __ldg(src + 4 + t);
            }
        }
#pragma unroll
        for (int j = 0; j < 8; j++) {
            const int *f = reinterpret_cast<const int *>(filter + (j * 8 + g) * 288 + rs * 32);
            mma_s8(acc[j], a, f[t], f[4 + t]);
        }
    }
#pragma unroll
    for (int j = 0; j < 8; j++) {
        int c = j * 8 + t * 2;
        for (int h = 0; h < 2; h++) {
            char2 v;
            int lo = ((acc[j][h * 2] + bias[c]) * mult[c] + (1 << (shift - 1))) >> shift;
            int hi = ((acc[j][h * 2 + 1] + bias[c + 1]) * mult[c + 1] + (1 << (shift - 1))) >> shift;
            v.x = min(max(lo, 0), 127), v.y = min(max(hi, 0), 127);
            *reinterpret_cast<char2 *>(y + (pix + 8 * h) * 64 + c) = v;
        }
    }
}

//! trailing_square_less_its_panel_in_double_units 36 128 | inout f64:65536:-1:1 | f64:8192:-1:1 | s s32 256
// C -= L times L turned, in tiles of 32 on and under the diagonal, as a step of blocked Cholesky does
K trailing_square_less_its_panel_in_double_units(double *C, const double *__restrict__ L, int n)
{
    int ti = 0, left = blockIdx.x;
    while (left > ti) left -= ++ti;
    const int tj = left;
    __shared__ double a[32][36], b[32][36];
    for (int i = threadIdx.x; i < 512; i += 128) {
        int r = i >> 4, c = (i & 15) * 2;
        double2 u = *(const double2 *)(L + (ti * 32 + r) * 32 + c), v = *(const double2 *)(L + (tj * 32 + r) * 32 + c);
        a[r][c] = -u.x, a[r][c + 1] = -u.y;
        b[r][c] = v.x, b[r][c + 1] = v.y;
    }
    __syncthreads();
    const int lane = threadIdx.x & 31, w = threadIdx.x >> 5, g = lane >> 2, t = lane & 3, r0 = (w & 1) * 16, c0 = (w >> 1) * 16;
    double acc[2][2][2];
    double *out[2][2];
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 2; j++) {
            out[i][j] = C + (ti * 32 + r0 + i * 8 + g) * n + tj * 32 + c0 + j * 8 + t * 2;
            acc[i][j][0] = out[i][j][0];
            acc[i][j][1] = out[i][j][1];
        }
#pragma unroll
    for (int k = 0; k < 32; k += 4) {
        double x[2] = {a[r0 + g][k + t], a[r0 + 8 + g][k + t]}, y[2] = {b[c0 + g][k + t], b[c0 + 8 + g][k + t]};
#pragma unroll
        for (int i = 0; i < 2; i++)
#pragma unroll
            for (int j = 0; j < 2; j++)
                asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};" : "+d"(acc[i][j][0]), "+d"(acc[i][j][1]) : "d"(x[i]), "d"(y[j]));
    }
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 2; j++) out[i][j][0] = acc[i][j][0], out[i][j][1] = acc[i][j][1];
}

static __device__ __noinline__ uint32_t four_e4m3(float4 v, float inv)
{
    uint32_t lo = __nv_cvt_float2_to_fp8x2(make_float2(v.x * inv, v.y * inv), __NV_SATFINITE, __NV_E4M3);
    uint32_t hi = __nv_cvt_float2_to_fp8x2(make_float2(v.z * inv, v.w * inv), __NV_SATFINITE, __NV_E4M3);
    return lo | hi << 16;
}

// one warp turns a row of 256 floats into e4m3 and answers its scale
static __device__ float quantise_row(const float *row, uint32_t *dst, int lane)
{
    float4 v[2];
    float m = 0;
    for (int i = 0; i < 2; i++) {
        v[i] = reinterpret_cast<const float4 *>(row)[lane + 32 * i];
        m = fmaxf(m, fmaxf(fmaxf(fabsf(v[i].x), fabsf(v[i].y)), fmaxf(fabsf(v[i].z), fabsf(v[i].w))));
    }
    for (int d = 16; d; d >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
    m = fmaxf(m, 1e-12f);
    float inv = 448.0f / m;
    for (int i = 0; i < 2; i++) dst[lane + 32 * i] = four_e4m3(v[i], inv);
    return m / 448.0f;
}

//! rows_made_e4m3_then_multiplied_with_scales 2,8 128 | f32:65536:-3:3 | f32:32768:-1:1 | out f32:32768 | s s32 128
K rows_made_e4m3_then_multiplied_with_scales(const float *X, const float *W, float *Y, int N)
{
    constexpr int KD = 256, LD = KD / 4 + 4;
    __shared__ uint32_t xs[32 * LD], ws[64 * LD];
    __shared__ float sx[32], sw[64];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    for (int r = warp; r < 32; r += 4) {
        float s = quantise_row(X + (blockIdx.y * 32 + r) * KD, xs + r * LD, lane);
        if (lane == 0) sx[r] = s;
    }
    for (int r = warp; r < 64; r += 4) {
        float s = quantise_row(W + (blockIdx.x * 64 + r) * KD, ws + r * LD, lane);
        if (lane == 0) sw[r] = s;
    }
    __syncthreads();
    const int g = lane >> 2, t = lane & 3, m0 = (warp & 1) * 16, n0 = (warp >> 1) * 32;
    float acc[4][4] = {};
    for (int k = 0; k < KD / 4; k += 8) {
        const uint32_t *p = xs + (m0 + g) * LD + k + t;
        uint32_t a0 = p[0], a1 = p[8 * LD], a2 = p[4], a3 = p[8 * LD + 4];
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const uint32_t *q = ws + (n0 + j * 8 + g) * LD + k + t;
            asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                         : "+f"(acc[j][0]), "+f"(acc[j][1]), "+f"(acc[j][2]), "+f"(acc[j][3])
                         : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(q[0]), "r"(q[4]));
        }
    }
    for (int j = 0; j < 4; j++)
        for (int e = 0; e < 4; e++) {
            int r = m0 + g + (e >> 1) * 8, c = n0 + j * 8 + t * 2 + (e & 1);
            Y[(blockIdx.y * 32 + r) * N + blockIdx.x * 64 + c] = acc[j][e] * sx[r] * sw[c];
        }
}

//! unsigned_times_signed_split_in_eight_by_atomics 8,4,8 64 | u8:262144 | s8:262144 | zero s32:65536 | s s32 256 | s s32 1024
// u8 by s8, whole numbers, so that the order of the atomics does not matter
K unsigned_times_signed_split_in_eight_by_atomics(const uint8_t *__restrict__ A, const int8_t *__restrict__ Bt, int *C, int N, int Kd)
{
    const int lane = threadIdx.x % 32, w = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    const int row = blockIdx.y * 64 + w * 32, col = blockIdx.x * 32;
    const int per = Kd / gridDim.z;
    int acc[2][4][4];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++)
            for (int e = 0; e < 4; e++) acc[i][j][e] = 0;
    for (int k = blockIdx.z * per, end = k + per; k < end; k += 32) {
        uint32_t a[2][4], b[4][2];
#pragma unroll
        for (int i = 0; i < 2; i++)
#pragma unroll
            for (int e = 0; e < 4; e++) a[i][e] = *reinterpret_cast<const uint32_t *>(A + (row + i * 16 + g + (e & 1) * 8) * Kd + k + t * 4 + (e >> 1) * 16);
#pragma unroll
        for (int j = 0; j < 4; j++)
#pragma unroll
            for (int e = 0; e < 2; e++) b[j][e] = *reinterpret_cast<const uint32_t *>(Bt + (col + j * 8 + g) * Kd + k + t * 4 + e * 16);
#pragma unroll
        for (int i = 0; i < 2; i++)
#pragma unroll
            for (int j = 0; j < 4; j++)
                asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                             : "+r"(acc[i][j][0]), "+r"(acc[i][j][1]), "+r"(acc[i][j][2]), "+r"(acc[i][j][3])
                             : "r"(a[i][0]), "r"(a[i][1]), "r"(a[i][2]), "r"(a[i][3]), "r"(b[j][0]), "r"(b[j][1]));
    }
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
#pragma unroll
            for (int e = 0; e < 4; e++) atomicAdd(C + (row + i * 16 + g + (e >> 1) * 8) * N + col + j * 8 + t * 2 + (e & 1), acc[i][j][e]);
}

// ---------------------------------------------------------------- barriers of the library, bulk copies

//! packed_half_tiles_by_library_barriers 6,5 128 | f16:163840:-1:1 | f16:196608:-1:1 | out f32:122880 | s s32 16 | s s32 384
// A and B lie packed in tiles of 64 x 32 and 32 x 64, so that a tile is one copy of the whole block
#pragma nv_diag_suppress static_var_with_dynamic_init
K packed_half_tiles_by_library_barriers(const half *A, const half *B, float *C, int tilesK, int N)
{
    __shared__ __align__(128) half as[2][64 * 32];
    __shared__ __align__(128) half bs[2][32 * 64];
    __shared__ cuda::barrier<cuda::thread_scope_block> bar[2];
    auto block = cg::this_thread_block();
    if (block.thread_rank() < 2) init(&bar[block.thread_rank()], block.size());
    block.sync();
    const half *a = A + (size_t)blockIdx.y * tilesK * 2048, *b = B + (size_t)blockIdx.x * tilesK * 2048;
    auto bring = [&](int s, int t) {
        cuda::memcpy_async(block, as[s], a + t * 2048, cuda::aligned_size_t<16>(4096), bar[s]);
        cuda::memcpy_async(block, bs[s], b + t * 2048, cuda::aligned_size_t<16>(4096), bar[s]);
    };
    const int w = block.thread_rank() / 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[4];
    for (auto &f : acc) wmma::fill_fragment(f, 0.f);
    bring(0, 0);
    for (int t = 0; t < tilesK; t++) {
        const int s = t & 1;
        if (t + 1 < tilesK) bring(s ^ 1, t + 1);
        bar[s].arrive_and_wait();
        for (int k = 0; k < 32; k += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
            wmma::load_matrix_sync(fa, as[s] + w * 16 * 32 + k, 32);
            for (int j = 0; j < 4; j++) {
                wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
                wmma::load_matrix_sync(fb, bs[s] + k * 64 + j * 16, 64);
                wmma::mma_sync(acc[j], fa, fb, acc[j]);
            }
        }
        block.sync();
    }
    for (int j = 0; j < 4; j++) wmma::store_matrix_sync(C + (size_t)(blockIdx.y * 64 + w * 16) * N + blockIdx.x * 64 + j * 16, acc[j], N, wmma::mem_row_major);
}

//! panels_come_in_bulk_and_leave_in_bulk 66 128 | f16:1081344:-1:1 | f16:4096:-0.5:0.5 | out f16:1081344 | s s32 264
// rows of 128 bytes to a pitch of 144, sums kept in halves
K panels_come_in_bulk_and_leave_in_bulk(const half *__restrict__ X, const half *__restrict__ W, half *Y, int panels)
{
    constexpr int P = 72;
    __shared__ __align__(128) half xs[2][64 * P];
    __shared__ __align__(128) half ws[64 * P];
    __shared__ __align__(128) half ys[64 * P];
    __shared__ __align__(8) uint64_t full[2];
    const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
    if (tid == 0) {
        mbar_init(&full[0], 1);
        mbar_init(&full[1], 1);
        asm volatile("fence.mbarrier_init.release.cluster;\n" ::: "memory");
    }
    for (int i = tid; i < 512; i += 128) *(uint4 *)(ws + (i >> 3) * P + (i & 7) * 8) = *(const uint4 *)(W + i * 8);
    __syncthreads();
    auto ask = [&](int buf, int p) {      // by the first warp
        if (lane == 0) mbar_expect(&full[buf], 64 * 128);
        __syncwarp();
        for (int r = lane; r < 64; r += 32) bulk_in(xs[buf] + r * P, X + ((size_t)p * 64 + r) * 64, 128, &full[buf]);
    };
    if (warp == 0) {
        if (blockIdx.x < panels) ask(0, blockIdx.x);
        if (blockIdx.x + gridDim.x < panels) ask(1, blockIdx.x + gridDim.x);
    }
    int turn = 0;
    for (int p = blockIdx.x; p < panels; p += gridDim.x, turn++) {
        const int buf = turn & 1;
        mbar_wait(&full[buf], (turn >> 1) & 1);
        uint32_t acc[8][2] = {};
#pragma unroll
        for (int kk = 0; kk < 4; kk++) {
            uint32_t a[4];
            ldsm4(a, smem(xs[buf] + (warp * 16 + (lane & 15)) * P + kk * 16 + (lane >> 4) * 8));
#pragma unroll
            for (int j = 0; j < 4; j++) {
                uint32_t b[4];
                ldsm4_trans(b, smem(ws + (kk * 16 + (lane & 15)) * P + j * 16 + (lane >> 4) * 8));
#pragma unroll
                for (int h = 0; h < 2; h++)
                    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};\n"
                                 : "+r"(acc[j * 2 + h][0]), "+r"(acc[j * 2 + h][1])
                                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[h * 2]), "r"(b[h * 2 + 1]));
            }
        }
        if (tid < 64) asm volatile("cp.async.bulk.wait_group.read 0;\n" ::: "memory");
        __syncthreads();
        if (warp == 0 && p + 2 * gridDim.x < panels) ask(buf, p + 2 * gridDim.x);
#pragma unroll
        for (int j = 0; j < 8; j++) {
            *(uint32_t *)(ys + (warp * 16 + (lane >> 2)) * P + j * 8 + (lane & 3) * 2) = acc[j][0];
            *(uint32_t *)(ys + (warp * 16 + 8 + (lane >> 2)) * P + j * 8 + (lane & 3) * 2) = acc[j][1];
        }
        fence_async();
        __syncthreads();
        if (tid < 64) {
            bulk_out(Y + ((size_t)p * 64 + tid) * 64, ys + tid * P, 128);
            asm volatile("cp.async.bulk.commit_group;\n" ::: "memory");
        }
    }
    if (tid < 64) asm volatile("cp.async.bulk.wait_group 0;\n" ::: "memory");
}

// ---------------------------------------------------------------- warpgroups

enum : uint64_t { NO_SWIZZLE = 0, SWIZZLE_128B = 1 };
static __device__ __forceinline__ uint64_t descriptor(uint32_t addr, uint32_t lead, uint32_t stride, uint64_t mode)
{
    return (uint64_t)((addr & 0x3FFFF) >> 4) | (uint64_t)(lead >> 4) << 16 | (uint64_t)(stride >> 4) << 32 | mode << 62;
}
static __device__ __forceinline__ void wg_fence() { asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory"); }
static __device__ __forceinline__ void wg_commit() { asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory"); }
template <int N> static __device__ __forceinline__ void wg_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;\n" ::"n"(N) : "memory"); }

#define R8(c, v, i) c(v[i]), c(v[i + 1]), c(v[i + 2]), c(v[i + 3]), c(v[i + 4]), c(v[i + 5]), c(v[i + 6]), c(v[i + 7])
#define R32(c, v) R8(c, v, 0), R8(c, v, 8), R8(c, v, 16), R8(c, v, 24)
#define R64(c, v) R32(c, v), R8(c, v, 32), R8(c, v, 40), R8(c, v, 48), R8(c, v, 56)
#define NUM32 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define NUM64 NUM32 ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"

static __device__ __forceinline__ void wgmma_64_bf16(float (&d)[32], uint64_t a, uint64_t b, int keep)
{
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\nwgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {" NUM32 "}, %32, %33, p, 1, 1, 0, 0;\n}\n"
                 : R32("+f", d) : "l"(a), "l"(b), "r"(keep));
}
static __device__ __forceinline__ void wgmma_64_bf16_regs(float (&d)[32], const uint32_t (&a)[4], uint64_t b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {" NUM32 "}, {%32,%33,%34,%35}, %36, 1, 1, 1, 1;\n"
                 : R32("+f", d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
static __device__ __forceinline__ void wgmma_128_f16(float (&d)[64], uint64_t a, uint64_t b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {" NUM64 "}, %64, %65, 1, 1, 1, 0, 0;\n" : R64("+f", d) : "l"(a), "l"(b));
}
static __device__ __forceinline__ void wgmma_128_e4m3(float (&d)[64], uint64_t a, uint64_t b, int keep)
{
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\nwgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 {" NUM64 "}, %64, %65, p, 1, 1;\n}\n"
                 : R64("+f", d) : "l"(a), "l"(b), "r"(keep));
}
static __device__ __forceinline__ void wgmma_64_s8(int (&d)[32], uint64_t a, uint64_t b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.s8 {" NUM32 "}, %32, %33, 1;\n" : R32("+r", d) : "l"(a), "l"(b));
}

//! warpgroup_of_brain_floats_next_tile_in_registers 8,8 128 | bf16:131072:-1:1 | bf16:131072:-1:1 | f32:512:-1:1 | out f32:262144 | s s32 512 | s s32 256
// no swizzle: chunks of 16 bytes of a column of rows lie one behind the other
K __launch_bounds__(128) warpgroup_of_brain_floats_next_tile_in_registers(const __nv_bfloat16 *__restrict__ A, const __nv_bfloat16 *__restrict__ Bt, const float *__restrict__ rowScale,
                                                                        float *__restrict__ C, int N, int Kd)
{
    __shared__ __align__(128) uint4 sa[8][64], sb[8][64];
    const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
    const int c = tid & 7, r = tid >> 3;                 // 16 rows at a time
    const __nv_bfloat16 *pa = A + (size_t)(blockIdx.y * 64 + r) * Kd + c * 8, *pb = Bt + (size_t)(blockIdx.x * 64 + r) * Kd + c * 8;
    uint4 na[4], nb[4];
    auto peek = [&](int k0) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            na[i] = *reinterpret_cast<const uint4 *>(pa + i * 16 * Kd + k0);
            nb[i] = *reinterpret_cast<const uint4 *>(pb + i * 16 * Kd + k0);
        }
    };
    float d[32];
    for (int i = 0; i < 32; i++) d[i] = 0;
    peek(0);
    for (int k0 = 0; k0 < Kd; k0 += 64) {
#pragma unroll
        for (int i = 0; i < 4; i++) sa[c][r + i * 16] = na[i], sb[c][r + i * 16] = nb[i];
        fence_async();
        __syncthreads();
        wg_fence();
#pragma unroll
        for (int kk = 0; kk < 4; kk++) wgmma_64_bf16(d, descriptor(smem(&sa[kk * 2][0]), 1024, 128, NO_SWIZZLE), descriptor(smem(&sb[kk * 2][0]), 1024, 128, NO_SWIZZLE), 1);
        wg_commit();
        if (k0 + 64 < Kd) peek(k0 + 64);
        wg_wait<0>();
        __syncthreads();
    }
    const int row = blockIdx.y * 64 + warp * 16 + (lane >> 2);
    const float s0 = rowScale[row], s1 = rowScale[row + 8];
#pragma unroll
    for (int j = 0; j < 8; j++) {
        float *o = C + (size_t)row * N + blockIdx.x * 64 + j * 8 + (lane & 3) * 2;
        *reinterpret_cast<float2 *>(o) = make_float2(d[j * 4] * s0, d[j * 4 + 1] * s0);
        *reinterpret_cast<float2 *>(o + 8 * N) = make_float2(d[j * 4 + 2] * s1, d[j * 4 + 3] * s1);
    }
}

//! two_warpgroups_swizzled_rows_three_deep 8,8 256 99328 | f16:524288:-1:1 | f16:524288:-1:1 | f16:1024:-1:1 | out f16:1048576 | s s32 1024 | s s32 512
K __launch_bounds__(256, 1) two_warpgroups_swizzled_rows_three_deep(const half *__restrict__ A, const half *__restrict__ Bt, const half *__restrict__ bias, half *__restrict__ C, int N, int Kd)
{
    extern __shared__ unsigned char pool[];
    const uint32_t base = (smem(pool) + 1023) & ~1023u;
    const int tid = threadIdx.x, group = tid >> 7, lane = tid & 31, warp = (tid >> 5) & 3;
    constexpr int STAGE = 32768;
    auto load = [&](int t) {
        uint32_t s = base + t % 3 * STAGE;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int id = tid + i * 256, r = id >> 3, q = id & 7;
            uint32_t off = r * 128 + ((q ^ (r & 7)) << 4);
            cp16(s + off, A + (size_t)(blockIdx.y * 128 + r) * Kd + t * 64 + q * 8);
            cp16(s + 16384 + off, Bt + (size_t)(blockIdx.x * 128 + r) * Kd + t * 64 + q * 8);
        }
    };
    float d[64];
#pragma unroll
    for (int i = 0; i < 64; i++) d[i] = 0.f;
    const int steps = Kd / 64;
    load(0);
    cp_commit();
    load(1);
    cp_commit();
    for (int t = 0; t < steps; t++) {
        cp_wait<1>();
        fence_async();
        __syncthreads();
        const uint32_t s = base + t % 3 * STAGE;
        wg_fence();
#pragma unroll
        for (int kk = 0; kk < 4; kk++)
            wgmma_128_f16(d, descriptor(s + group * 8192 + kk * 32, 16, 1024, SWIZZLE_128B), descriptor(s + 16384 + kk * 32, 16, 1024, SWIZZLE_128B));
        wg_commit();
        if (t + 2 < steps) load(t + 2);
        cp_commit();
        wg_wait<0>();
    }
    const int row = blockIdx.y * 128 + group * 64 + warp * 16 + (lane >> 2);
#pragma unroll
    for (int j = 0; j < 16; j++) {
        const int c = blockIdx.x * 128 + j * 8 + (lane & 3) * 2;
        float2 b = __half22float2(*reinterpret_cast<const half2 *>(bias + c));
        *reinterpret_cast<half2 *>(C + (size_t)row * N + c) = __floats2half2_rn(fmaxf(d[j * 4] + b.x, 0.f), fmaxf(d[j * 4 + 1] + b.y, 0.f));
        *reinterpret_cast<half2 *>(C + (size_t)(row + 8) * N + c) = __floats2half2_rn(fmaxf(d[j * 4 + 2] + b.x, 0.f), fmaxf(d[j * 4 + 3] + b.y, 0.f));
    }
}

//! packed_bytes_fed_to_a_warpgroup_by_one_thread 11,12 160 | s8:393216 | s8:360448 | out s32:540672 | s s32 704 | s s32 4
// tiles of 64 rows by 128 bytes lie in memory as the units want them; the fifth warp asks for them
struct __align__(128) Fed {
    unsigned char a[2][8192], b[2][8192];
    uint64_t full[2], empty[2];
};
K __launch_bounds__(160) packed_bytes_fed_to_a_warpgroup_by_one_thread(const int8_t *__restrict__ A, const int8_t *__restrict__ B, int *__restrict__ C, int N, int tilesK)
{
    __shared__ Fed s;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0) {
        for (int i = 0; i < 2; i++) mbar_init(&s.full[i], 1), mbar_init(&s.empty[i], 4);
        asm volatile("fence.mbarrier_init.release.cluster;\n" ::: "memory");
    }
    __syncthreads();
    if (warp == 4) {
        if (lane == 0)
            for (int t = 0; t < tilesK; t++) {
                const int b = t % 2;
                mbar_wait(&s.empty[b], ((t / 2) & 1) ^ 1);
                mbar_expect(&s.full[b], 16384);
                bulk_in(s.a[b], A + ((size_t)blockIdx.y * tilesK + t) * 8192, 8192, &s.full[b]);
                bulk_in(s.b[b], B + ((size_t)blockIdx.x * tilesK + t) * 8192, 8192, &s.full[b]);
            }
        return;
    }
    int d[32];
#pragma unroll
    for (int i = 0; i < 32; i++) d[i] = 0;
    for (int t = 0; t < tilesK; t++) {
        const int b = t % 2;
        mbar_wait(&s.full[b], (t / 2) & 1);
        wg_fence();
#pragma unroll
        for (int kk = 0; kk < 4; kk++)
            wgmma_64_s8(d, descriptor(smem(s.a[b]) + kk * 2048, 1024, 128, NO_SWIZZLE), descriptor(smem(s.b[b]) + kk * 2048, 1024, 128, NO_SWIZZLE));
        wg_commit();
        wg_wait<0>();
        if (lane == 0) mbar_arrive(&s.empty[b]);
    }
    int *o = C + (size_t)(blockIdx.y * 64 + warp * 16 + lane / 4) * N + blockIdx.x * 64 + lane % 4 * 2;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        *reinterpret_cast<int2 *>(o + j * 8) = make_int2(d[j * 4], d[j * 4 + 1]);
        *reinterpret_cast<int2 *>(o + 8 * N + j * 8) = make_int2(d[j * 4 + 2], d[j * 4 + 3]);
    }
}

//! blockwise_scaled_e4m3_promoted_outside_the_units 4,8 128 25600 | f32:262144:-2:2 | u8:262144:0:240 | f32:16:0.01:0.05 | out f32:262144 | s s32 512 | s s32 512
// activations become e4m3 by row and by 128 of k, weights come as codes with their sign in the lowest bit; sums of 128 are scaled and added in registers
K __launch_bounds__(128) blockwise_scaled_e4m3_promoted_outside_the_units(const float *__restrict__ X, const uint8_t *__restrict__ codes, const float *__restrict__ ws, float *__restrict__ Y, int N,
                                                                        int Kd)
{
    extern __shared__ unsigned char pool[];
    __shared__ float sx[64];
    unsigned char *tile = pool + ((1024 - (smem(pool) & 1023)) & 1023);
    unsigned char *xa = tile, *wb = tile + 8192;
    const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
    float total[64], d[64];
#pragma unroll
    for (int i = 0; i < 64; i++) total[i] = 0.f, d[i] = 0.f;
    const int blocksK = Kd / 128;
    for (int kb = 0; kb < blocksK; kb++) {
        for (int r = warp; r < 64; r += 4) {
            float4 v = *reinterpret_cast<const float4 *>(X + (size_t)(blockIdx.y * 64 + r) * Kd + kb * 128 + lane * 4);
            float m = fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w)));
#pragma unroll
            for (int o = 16; o > 0; o >>= 1) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, o));
            m = fmaxf(m, 1e-4f);
            float inv = __fdividef(448.f, m);
            uint32_t lo = __nv_cvt_float2_to_fp8x2(make_float2(v.x * inv, v.y * inv), __NV_SATFINITE, __NV_E4M3);
            uint32_t hi = __nv_cvt_float2_to_fp8x2(make_float2(v.z * inv, v.w * inv), __NV_SATFINITE, __NV_E4M3);
            *reinterpret_cast<uint32_t *>(xa + r * 128 + (((lane >> 2) ^ (r & 7)) << 4) + (lane & 3) * 4) = lo | hi << 16;
            if (lane == 0) sx[r] = m * (1.f / 448.f);
        }
        for (int i = tid; i < 1024; i += 128) {
            int r = i >> 3, q = i & 7;
            uint4 v = __ldg(reinterpret_cast<const uint4 *>(codes + (size_t)(blockIdx.x * 128 + r) * Kd + kb * 128 + q * 16));
            auto turn = [](uint32_t x) { return (x & 0x01010101u) << 7 | ((x >> 1) & 0x7f7f7f7fu); };
            *reinterpret_cast<uint4 *>(wb + r * 128 + ((q ^ (r & 7)) << 4)) = make_uint4(turn(v.x), turn(v.y), turn(v.z), turn(v.w));
        }
        fence_async();
        __syncthreads();
        wg_fence();
#pragma unroll
        for (int kk = 0; kk < 4; kk++)
            wgmma_128_e4m3(d, descriptor(smem(xa) + kk * 32, 16, 1024, SWIZZLE_128B), descriptor(smem(wb) + kk * 32, 16, 1024, SWIZZLE_128B), kk > 0);
        wg_commit();
        const float w = ws[blockIdx.x * blocksK + kb], s0 = sx[warp * 16 + (lane >> 2)] * w, s1 = sx[warp * 16 + 8 + (lane >> 2)] * w;
        wg_wait<0>();
#pragma unroll
        for (int j = 0; j < 16; j++) {
            total[j * 4] += d[j * 4] * s0;
            total[j * 4 + 1] += d[j * 4 + 1] * s0;
            total[j * 4 + 2] += d[j * 4 + 2] * s1;
            total[j * 4 + 3] += d[j * 4 + 3] * s1;
        }
        __syncthreads();
    }
    float *o = Y + (size_t)(blockIdx.y * 64 + warp * 16 + (lane >> 2)) * N + blockIdx.x * 128 + (lane & 3) * 2;
#pragma unroll
    for (int j = 0; j < 16; j++) {
        *reinterpret_cast<float2 *>(o + j * 8) = make_float2(total[j * 4], total[j * 4 + 1]);
        *reinterpret_cast<float2 *>(o + 8 * N + j * 8) = make_float2(total[j * 4 + 2], total[j * 4 + 3]);
    }
}

// ---------------------------------------------------------------- attention

//! causal_heads_by_ldmatrix_keys_one_tile_ahead 4,24 128 40960 | f16:393216:-1:1 | f16:393216:-1:1 | f16:393216:-1:1 | out f16:393216 | s s32 256 | s f32 0.125
K __launch_bounds__(128) causal_heads_by_ldmatrix_keys_one_tile_ahead(const half *__restrict__ Q, const half *__restrict__ Kt, const half *__restrict__ V, half *__restrict__ O, int T, float scale)
{
    extern __shared__ __align__(1024) unsigned char pool[];
    const uint32_t sq = smem(pool), sk = sq + 8192, sv = sk + 16384;
    const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5, qt = blockIdx.x;
    const size_t head = (size_t)blockIdx.y * T * 64;
    auto at = [](uint32_t base, int row, int chunk) { return base + row * 128 + ((chunk ^ (row & 7)) << 4); };
    auto tile = [&](uint32_t dst, const half *src) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int id = tid + i * 128;
            cp16(at(dst, id >> 3, id & 7), src + id * 8);
        }
    };
    tile(sq, Q + head + qt * 4096);
    tile(sk, Kt + head);
    tile(sv, V + head);
    cp_commit();
    float o[8][4] = {}, m[2] = {-INFINITY, -INFINITY}, l[2] = {0.f, 0.f};
    uint32_t q[4][4];
    const float c = scale * 1.44269504f;
    for (int j = 0; j <= qt; j++) {
        const int b = j & 1;
        if (j < qt) {
            tile(sk + (b ^ 1) * 8192, Kt + head + (j + 1) * 4096);
            tile(sv + (b ^ 1) * 8192, V + head + (j + 1) * 4096);
        }
        cp_commit();
        cp_wait<1>();
        __syncthreads();
        if (j == 0)
#pragma unroll
            for (int kk = 0; kk < 4; kk++) ldsm4(q[kk], at(sq, warp * 16 + (lane & 15), kk * 2 + (lane >> 4)));
        float s[8][4] = {};
#pragma unroll
        for (int kk = 0; kk < 4; kk++)
#pragma unroll
            for (int n = 0; n < 4; n++) {
                uint32_t k[4];
                ldsm4(k, at(sk + b * 8192, n * 16 + (lane & 7) + ((lane >> 4) << 3), kk * 2 + ((lane >> 3) & 1)));
                mma_f16(s[n * 2], q[kk], k[0], k[1]);
                mma_f16(s[n * 2 + 1], q[kk], k[2], k[3]);
            }
        if (j == qt) {
            const int row = warp * 16 + (lane >> 2);
#pragma unroll
            for (int n = 0; n < 8; n++)
#pragma unroll
                for (int e = 0; e < 4; e++)
                    if (n * 8 + (lane & 3) * 2 + (e & 1) > row + (e >> 1) * 8) s[n][e] = -INFINITY;
        }
#pragma unroll
        for (int h = 0; h < 2; h++) {
            float top = m[h];
#pragma unroll
            for (int n = 0; n < 8; n++) top = fmaxf(top, fmaxf(s[n][h * 2], s[n][h * 2 + 1]));
            top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, 1));
            top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, 2));
            const float shrink = exp2f((m[h] - top) * c);
            m[h] = top;
            l[h] *= shrink;
#pragma unroll
            for (int n = 0; n < 8; n++) {
                s[n][h * 2] = exp2f((s[n][h * 2] - top) * c);
                s[n][h * 2 + 1] = exp2f((s[n][h * 2 + 1] - top) * c);
                l[h] += s[n][h * 2] + s[n][h * 2 + 1];
                o[n][h * 2] *= shrink;
                o[n][h * 2 + 1] *= shrink;
            }
        }
#pragma unroll
        for (int kk = 0; kk < 4; kk++) {
            uint32_t p[4];
#pragma unroll
            for (int e = 0; e < 4; e++) {
                half2 x = __floats2half2_rn(s[kk * 2 + (e >> 1)][(e & 1) * 2], s[kk * 2 + (e >> 1)][(e & 1) * 2 + 1]);
                p[e] = *reinterpret_cast<uint32_t *>(&x);
            }
#pragma unroll
            for (int n = 0; n < 4; n++) {
                uint32_t v[4];
                ldsm4_trans(v, at(sv + b * 8192, kk * 16 + (lane & 15), n * 2 + (lane >> 4)));
                mma_f16(o[n * 2], p, v[0], v[1]);
                mma_f16(o[n * 2 + 1], p, v[2], v[3]);
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int h = 0; h < 2; h++) {
        l[h] += __shfl_xor_sync(0xffffffff, l[h], 1);
        l[h] += __shfl_xor_sync(0xffffffff, l[h], 2);
        const float inv = 1.f / l[h];
        half *dst = O + head + (size_t)(qt * 64 + warp * 16 + h * 8 + (lane >> 2)) * 64 + (lane & 3) * 2;
#pragma unroll
        for (int n = 0; n < 8; n++) *reinterpret_cast<half2 *>(dst + n * 8) = __floats2half2_rn(o[n][h * 2] * inv, o[n][h * 2 + 1] * inv);
    }
}

//! warpgroup_attention_of_unequal_lengths 5,27 128 25600 | bf16:552960:-1:1 | bf16:552960:-1:1 | bf16:552960:-1:1 | s32:27:1:321 | out f32:552960 | s s32 320 | s f32 0.125
// scores from shared memory, chances stay in registers as the left operand, values are read across
K __launch_bounds__(128) warpgroup_attention_of_unequal_lengths(const __nv_bfloat16 *__restrict__ Q, const __nv_bfloat16 *__restrict__ Kt, const __nv_bfloat16 *__restrict__ V,
                                                               const int *__restrict__ lengths, float *__restrict__ O, int T, float scale)
{
    extern __shared__ unsigned char pool[];
    const uint32_t sq = (smem(pool) + 1023) & ~1023u, sk = sq + 8192, sv = sk + 8192;
    const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5, len = lengths[blockIdx.y];
    const size_t head = (size_t)blockIdx.y * T * 64;
    auto tile = [&](uint32_t dst, const __nv_bfloat16 *src) {
        for (int id = tid; id < 512; id += 128) cp16(dst + (id >> 3) * 128 + (((id & 7) ^ ((id >> 3) & 7)) << 4), src + id * 8);
    };
    tile(sq, Q + head + blockIdx.x * 4096);
    float o[32], s[32], m0 = -INFINITY, m1 = -INFINITY, l0 = 0.f, l1 = 0.f;
#pragma unroll
    for (int i = 0; i < 32; i++) o[i] = 0.f, s[i] = 0.f;
    for (int k0 = 0; k0 < len; k0 += 64) {
        tile(sk, Kt + head + k0 * 64);
        tile(sv, V + head + k0 * 64);
        cp_commit();
        cp_wait<0>();
        fence_async();
        __syncthreads();
        wg_fence();
#pragma unroll
        for (int kk = 0; kk < 4; kk++) wgmma_64_bf16(s, descriptor(sq + kk * 32, 16, 1024, SWIZZLE_128B), descriptor(sk + kk * 32, 16, 1024, SWIZZLE_128B), kk != 0);
        wg_commit();
        wg_wait<0>();
        float t0 = m0, t1 = m1;
#pragma unroll
        for (int i = 0; i < 32; i++) {
            int key = k0 + (i >> 2) * 8 + (lane & 3) * 2 + (i & 1);
            s[i] = key < len ? s[i] * scale : -INFINITY;
            if (i & 2) t1 = fmaxf(t1, s[i]);
            else t0 = fmaxf(t0, s[i]);
        }
        t0 = fmaxf(t0, __shfl_xor_sync(~0u, t0, 1)), t1 = fmaxf(t1, __shfl_xor_sync(~0u, t1, 1));
        t0 = fmaxf(t0, __shfl_xor_sync(~0u, t0, 2)), t1 = fmaxf(t1, __shfl_xor_sync(~0u, t1, 2));
        const float f0 = __expf(m0 - t0), f1 = __expf(m1 - t1);
        m0 = t0, m1 = t1;
        float a0 = 0, a1 = 0;
#pragma unroll
        for (int i = 0; i < 32; i++) {
            if (i & 2) s[i] = __expf(s[i] - m1), a1 += s[i], o[i] *= f1;
            else s[i] = __expf(s[i] - m0), a0 += s[i], o[i] *= f0;
        }
        l0 = l0 * f0 + a0, l1 = l1 * f1 + a1;
        uint32_t p[4][4];
#pragma unroll
        for (int i = 0; i < 16; i++) {
            __nv_bfloat162 x = __floats2bfloat162_rn(s[i * 2], s[i * 2 + 1]);
            p[i >> 2][i & 3] = *reinterpret_cast<uint32_t *>(&x);
        }
        wg_fence();
#pragma unroll
        for (int kk = 0; kk < 4; kk++) wgmma_64_bf16_regs(o, p[kk], descriptor(sv + kk * 2048, 1024, 1024, SWIZZLE_128B));
        wg_commit();
        wg_wait<0>();
        __syncthreads();
    }
    l0 += __shfl_xor_sync(~0u, l0, 1), l1 += __shfl_xor_sync(~0u, l1, 1);
    l0 += __shfl_xor_sync(~0u, l0, 2), l1 += __shfl_xor_sync(~0u, l1, 2);
    float *dst = O + head + (size_t)(blockIdx.x * 64 + warp * 16 + (lane >> 2)) * 64 + (lane & 3) * 2;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        *reinterpret_cast<float2 *>(dst + j * 8) = make_float2(o[j * 4] / l0, o[j * 4 + 1] / l0);
        *reinterpret_cast<float2 *>(dst + 512 + j * 8) = make_float2(o[j * 4 + 2] / l1, o[j * 4 + 3] / l1);
    }
}

// ---------------------------------------------------------------- scans, convolutions

//! running_counts_by_triangles_of_ones 132 256 | u8:1081344:0:16 | out s32:1081344 | s s32 4
// a warp scans 256 numbers as a square: X times the upper triangle, plus the rows above times ones
K running_counts_by_triangles_of_ones(const unsigned char *__restrict__ in, int *__restrict__ out, int rounds)
{
    __shared__ __align__(128) half upper[256], lower[256], ones[256], work[8][256];
    __shared__ __align__(128) float res[8][256];
    __shared__ int totals[8];
    const int tid = threadIdx.x, warp = tid >> 5, lane = tid & 31;
    {
        int r = tid >> 4, c = tid & 15;
        upper[tid] = __float2half(r <= c ? 1.f : 0.f);
        lower[tid] = __float2half(c < r ? 1.f : 0.f);
        ones[tid] = __float2half(1.f);
    }
    __syncthreads();
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> U, J, X;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> L, Y, Xa;
    wmma::load_matrix_sync(U, upper, 16);
    wmma::load_matrix_sync(J, ones, 16);
    wmma::load_matrix_sync(L, lower, 16);
    int carry = 0;
    for (int round = 0; round < rounds; round++) {
        const size_t at = ((size_t)(blockIdx.x * rounds + round) * 8 + warp) * 256;
        uint2 eight = *reinterpret_cast<const uint2 *>(in + at + lane * 8);
#pragma unroll
        for (int i = 0; i < 8; i++) work[warp][lane * 8 + i] = __ushort2half_rn(((i < 4 ? eight.x : eight.y) >> (i % 4 * 8)) & 255);
        __syncwarp();
        wmma::load_matrix_sync(X, work[warp], 16);
        wmma::load_matrix_sync(Xa, work[warp], 16);
        wmma::fragment<wmma::accumulator, 16, 16, 16, half> above;
        wmma::fill_fragment(above, __float2half(0.f));
        wmma::mma_sync(above, L, X, above);
        __syncwarp();
        wmma::store_matrix_sync(work[warp], above, 16, wmma::mem_row_major);
        __syncwarp();
        wmma::load_matrix_sync(Y, work[warp], 16);
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
        wmma::fill_fragment(sum, 0.f);
        wmma::mma_sync(sum, Xa, U, sum);
        wmma::mma_sync(sum, Y, J, sum);
        wmma::store_matrix_sync(res[warp], sum, 16, wmma::mem_row_major);
        __syncwarp();
        if (lane == 0) totals[warp] = (int)res[warp][255];
        __syncthreads();
        int before = carry;
        for (int w = 0; w < 8; w++) {
            if (w < warp) before += totals[w];
            carry += totals[w];
        }
        for (int i = lane; i < 256; i += 32) out[at + i] = before + (int)res[warp][i];
        __syncthreads();
    }
}

//! windows_gathered_into_half_squares 6,24 128 | f16:153600:-1:1 | f16:4608:-0.3:0.3 | f32:32:-1:1 | out f32:248832 | s s32 16 | s s32 20 | s s32 20
// NCHW, 16 channels, 32 filters of 3 x 3 without border: k counts channel and place, columns are pixels
K windows_gathered_into_half_squares(const half *x, const half *w, const float *bias, float *y, int C, int H, int W)
{
    const int OH = H - 2, OW = W - 2, P = OH * OW, KD = C * 9;
    __shared__ __align__(128) half patch[16 * 72];
    __shared__ __align__(128) half sums[32 * 72];
    const int tid = threadIdx.x, warp = tid / 32, p0 = blockIdx.x * 64;
    const half *img = x + blockIdx.y * C * H * W;
    wmma::fragment<wmma::accumulator, 16, 16, 16, half> acc[2];
    wmma::fill_fragment(acc[0], __float2half(0.f));
    wmma::fill_fragment(acc[1], __float2half(0.f));
    for (int k0 = 0; k0 < KD; k0 += 16) {
        for (int i = tid; i < 16 * 64; i += 128) {
            int k = k0 + i / 64, p = p0 + i % 64;
            half v = __ushort_as_half(0);
            if (p < P) {
                int c = k / 9, q = k % 9;
                v = img[(c * H + p / OW + q / 3) * W + p % OW + q % 3];
            }
            patch[(i / 64) * 72 + i % 64] = v;
        }
        __syncthreads();
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
        wmma::load_matrix_sync(b, patch + warp * 16, 72);
        for (int f = 0; f < 2; f++) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
            wmma::load_matrix_sync(a, w + f * 16 * KD + k0, KD);
            wmma::mma_sync(acc[f], a, b, acc[f]);
        }
        __syncthreads();
    }
    for (int f = 0; f < 2; f++) wmma::store_matrix_sync(sums + f * 16 * 72 + warp * 16, acc[f], 72, wmma::mem_row_major);
    __syncthreads();
    for (int i = tid; i < 32 * 64; i += 128) {
        int f = i / 64, p = p0 + i % 64;
        if (p >= P) continue;
        float v = __half2float(sums[f * 72 + i % 64]) + bias[f];
        y[(blockIdx.y * 32 + f) * P + p] = v > 0 ? v : 0.1f * v;
    }
}
