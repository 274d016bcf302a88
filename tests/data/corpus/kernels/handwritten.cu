/* handwritten.cu - instructions that only assembly reaches, each in a kernel that does something with it. */
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cstdint>
#define K extern "C" __global__ void

__device__ __forceinline__ uint32_t smem(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

__device__ __forceinline__ void copy16(void *to, const void *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem(to)), "l"(from) : "memory");
}

__device__ __forceinline__ void wait_phase(uint64_t *bar, uint32_t phase)
{
    asm volatile("{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra DONE;\nbra AGAIN;\nDONE:\n}" ::"r"(smem(bar)),
                 "r"(phase)
                 : "memory");
}

__device__ __forceinline__ void make_barrier(uint64_t *bar, uint32_t count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem(bar)), "r"(count) : "memory");
}

__device__ __forceinline__ void expect(uint64_t *bar, uint32_t bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem(bar)), "r"(bytes) : "memory");
}

//! bf16_mma_by_ldmatrix_x2 8 64 | bf16:16384:-1:1 | bf16:8192:-1:1 | out f32:4096
// C of 128 by 32: a warp has 16 rows of an A of 128 by 128 and half of the columns.
K bf16_mma_by_ldmatrix_x2(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c)
{
    __shared__ __align__(16) __nv_bfloat16 ta[16][24], tb[16][40];
    int t = threadIdx.x, warp = t / 32, lane = t % 32;
    float d[2][4] = {};
    for (int k = 0; k < 128; k += 16) {
        if (t < 32) copy16(&ta[t / 2][t % 2 * 8], a + (blockIdx.x * 16 + t / 2) * 128 + k + t % 2 * 8);
        copy16(&tb[t / 4][t % 4 * 8], b + (k + t / 4) * 32 + t % 4 * 8);
        asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;" ::: "memory");
        __syncthreads();
        uint32_t fa[4], fb[2];
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3])
                     : "r"(smem(&ta[lane % 16][lane / 16 * 8])));
#pragma unroll
        for (int n = 0; n < 2; n++) {
            asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                         : "=r"(fb[0]), "=r"(fb[1])
                         : "r"(smem(&tb[lane % 16][warp * 16 + n * 8])));
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                         : "+f"(d[n][0]), "+f"(d[n][1]), "+f"(d[n][2]), "+f"(d[n][3])
                         : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
        }
        __syncthreads();
    }
    int row = blockIdx.x * 16 + lane / 4, col = warp * 16 + lane % 4 * 2;
#pragma unroll
    for (int n = 0; n < 2; n++) {
        *(float2 *)(c + row * 32 + col + n * 8) = make_float2(d[n][0], d[n][1]);
        *(float2 *)(c + (row + 8) * 32 + col + n * 8) = make_float2(d[n][2], d[n][3]);
    }
}

//! bytes_mma_k32_saturated 12 32 | u32:3072 | u32:1536 | out s32:1536
K bytes_mma_k32_saturated(const uint32_t *a, const uint32_t *b, int *c)
{
    int lane = threadIdx.x;
    const uint32_t *pa = a + blockIdx.x * 256, *pb = b + blockIdx.x * 128;
    int d[4] = {0, 0, 0, 0};
#pragma unroll
    for (int k = 0; k < 2; k++)
        asm volatile("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                     : "r"(pa[k * 128 + lane]), "r"(pa[k * 128 + 32 + lane]), "r"(pa[k * 128 + 64 + lane]), "r"(pa[k * 128 + 96 + lane]),
                       "r"(pb[k * 64 + lane]), "r"(pb[k * 64 + 32 + lane]));
    ((int4 *)c)[blockIdx.x * 32 + lane] = make_int4(d[0], d[1], d[2], d[3]);
}

//! halves_m16n8k8_alone 10 64 | u32:1280:0:65536 | u32:640:0:65536 | out u32:1280
K halves_m16n8k8_alone(const uint32_t *a, const uint32_t *b, uint32_t *c)
{
    int w = blockIdx.x * 2 + threadIdx.x / 32, lane = threadIdx.x % 32;
    uint32_t d0 = 0, d1 = 0x3c003c00u, a0 = (a[w * 64 + lane] & 0x3ff) | 0x34003800u, a1 = (a[w * 64 + 32 + lane] & 0x3ff) | 0x38003400u;
    uint32_t b0 = (b[w * 32 + lane] & 0x3ff) | 0x30003400u;
    for (int k = 0; k < 4; k++) {
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3}, {%4}, {%0,%1};" : "+r"(d0), "+r"(d1) : "r"(a0), "r"(a1), "r"(b0));
        uint32_t s = a0;
        a0 = a1;
        a1 = s;
    }
    c[w * 64 + lane] = d0;
    c[w * 64 + 32 + lane] = d1;
}

//! single_bits_xor_mma 9 32 | u32:1152 | u32:576 | out s32:1152
K single_bits_xor_mma(const uint32_t *a, const uint32_t *b, int *c)
{
    int l = threadIdx.x, g = blockIdx.x, d[4] = {1, 2, 3, 4};
    asm volatile("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                 : "r"(a[g * 128 + l]), "r"(a[g * 128 + 32 + l]), "r"(a[g * 128 + 64 + l]), "r"(a[g * 128 + 96 + l]), "r"(b[g * 64 + l]), "r"(b[g * 64 + 32 + l]));
    for (int k = 0; k < 4; k++) c[(g * 4 + k) * 32 + l] = d[k];
}

//! tensor_floats_three_passes 6 32 | f32:768:-1:1 | f32:384:-1:1 | out f32:768
// A product in single precision out of three in the short format.
K tensor_floats_three_passes(const float *a, const float *b, float *c)
{
    int l = threadIdx.x, g = blockIdx.x;
    uint32_t big[6], small[6];
    for (int k = 0; k < 6; k++) {
        float v = k < 4 ? a[g * 128 + k * 32 + l] : b[g * 64 + (k - 4) * 32 + l];
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(big[k]) : "f"(v));
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(small[k]) : "f"(v - __uint_as_float(big[k])));
    }
    float d[4] = {0, 0, 0, 0};
#define PASS(x, y) \
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[4]), "r"(y[5]))
    PASS(small, big);
    PASS(big, small);
    PASS(big, big);
    for (int k = 0; k < 4; k++) c[(g * 4 + k) * 32 + l] = d[k];
}

//! redux_of_everything 11 128 | s32:1408:-10000:10000 | out s32:44 | out u32:1408
K redux_of_everything(const int *x, int *out, unsigned *mix)
{
    int i = blockIdx.x * 128 + threadIdx.x, v = x[i], mn, mx, s;
    unsigned a, o, e;
    asm volatile("redux.sync.min.s32 %0, %1, 0xffffffff;" : "=r"(mn) : "r"(v));
    asm volatile("redux.sync.max.s32 %0, %1, 0xffffffff;" : "=r"(mx) : "r"(v));
    asm volatile("redux.sync.add.s32 %0, %1, 0xffffffff;" : "=r"(s) : "r"(v));
    asm volatile("redux.sync.and.b32 %0, %1, 0xffffffff;" : "=r"(a) : "r"(v | 0xff0));
    asm volatile("redux.sync.or.b32 %0, %1, 0xffffffff;" : "=r"(o) : "r"(v & 0x7f));
    asm volatile("redux.sync.xor.b32 %0, %1, 0xffffffff;" : "=r"(e) : "r"(v));
    uint32_t leader;
    asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.b32 %0, 1, 0, p;\n}" : "=r"(leader));
    if (leader) out[i / 32] = mx - mn + s;
    mix[i] = (a ^ e) + o * (threadIdx.x % 32);
}

//! rows_by_bulk_copy_and_back 12 128 | f32:24576:-1:1 | out f32:24576 | s f32 1.5
// In by cp.async.bulk, worked on in place, out by cp.async.bulk.
K rows_by_bulk_copy_and_back(const float *in, float *out, float f)
{
    __shared__ __align__(128) float row[2048];
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) {
        make_barrier(&bar, 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        expect(&bar, 8192);
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 8192, [%2];" ::"r"(smem(row)),
                     "l"(in + blockIdx.x * 2048), "r"(smem(&bar))
                     : "memory");
    }
    __syncthreads();
    wait_phase(&bar, 0);
    for (int k = threadIdx.x; k < 2048; k += 128) row[k] = fmaf(row[k], f, (float)k * 0.001f);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 8192;\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;" ::"l"(
                         out + blockIdx.x * 2048),
                     "r"(smem(row))
                     : "memory");
    }
}

//! tile_of_a_tensor_turned 8,8 128 | {"tensormap": "f32", "dims": [256, 256], "box": [32, 32], "init": {"hash": 40001, "lo": -1, "hi": 1}} | out f32:65536
// A box of a tensor comes by the copy engine and goes out transposed.
K tile_of_a_tensor_turned(const __grid_constant__ CUtensorMap map, float *out)
{
    __shared__ __align__(128) float tile[32][32];
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) {
        make_barrier(&bar, 1);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        expect(&bar, sizeof tile);
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(smem(tile)),
                     "l"(&map), "r"(blockIdx.x * 32), "r"(blockIdx.y * 32), "r"(smem(&bar))
                     : "memory");
    }
    __syncthreads();
    wait_phase(&bar, 0);
    for (int k = threadIdx.x; k < 1024; k += 128) out[(blockIdx.x * 32 + k / 32) * 256 + blockIdx.y * 32 + k % 32] = tile[k % 32][k / 32];
}

//! edges_of_tensor_filled 5,5 64 | {"tensormap": "u16", "dims": [72, 70], "box": [16, 16], "init": {"hash": 40002, "lo": 0, "hi": 1000}} | out u32:25
// Boxes that begin before the tensor and end behind it: what is outside counts nothing.
K edges_of_tensor_filled(const __grid_constant__ CUtensorMap map, unsigned *sum)
{
    __shared__ __align__(128) uint16_t tile[256];
    __shared__ uint64_t bar;
    __shared__ unsigned total;
    if (threadIdx.x == 0) {
        make_barrier(&bar, 1);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        expect(&bar, 512);
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(smem(tile)), "l"(&map),
                     "r"((int)blockIdx.x * 16 - 8), "r"((int)blockIdx.y * 16 - 5), "r"(smem(&bar))
                     : "memory");
        total = 0;
    }
    __syncthreads();
    wait_phase(&bar, 0);
    unsigned s = 0;
    for (int k = threadIdx.x; k < 256; k += 64) s += tile[k] * (k % 7 + 1);
    atomicAdd(&total, s);
    __syncthreads();
    if (threadIdx.x == 0) sum[blockIdx.y * 5 + blockIdx.x] = total;
}

//! swizzled_tensor_store 4,4 128 | {"tensormap": "f16", "dims": [256, 128], "box": [64, 32], "swizzle": "128B", "init": {"const": 0}, "output": true} | f16:32768:-1:1
// Written by the copy engine out of a tile with 128-byte swizzle.
K swizzled_tensor_store(const __grid_constant__ CUtensorMap map, const uint4 *in)
{
    __shared__ __align__(1024) uint4 tile[32 * 8];
    for (int k = threadIdx.x; k < 256; k += 128) {
        int y = k / 8, x = k % 8;
        tile[y * 8 + (x ^ (y & 7))] = in[(blockIdx.y * 32 + y) * 32 + blockIdx.x * 8 + x];
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0)
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::"l"(&map),
                     "r"(blockIdx.x * 64), "r"(blockIdx.y * 32), "r"(smem(tile))
                     : "memory");
}

//! added_by_the_copy_engine 16 64 | f32:8192:-1:1 | zero s32:512
// Sums of quarters of integers by cp.reduce.async.bulk, in any order.
K added_by_the_copy_engine(const float *x, int *sums)
{
    __shared__ __align__(16) int part[512];
    for (int k = threadIdx.x; k < 512; k += 64) part[k] = __float2int_rn(x[blockIdx.x * 512 + k] * 100.0f);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x < 4)
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], 512;\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::"l"(
                         sums + threadIdx.x * 128),
                     "r"(smem(part + threadIdx.x * 128))
                     : "memory");
}

__device__ __forceinline__ uint64_t descriptor(const void *p)
{
    return (uint64_t)((smem(p) & 0x3ffff) >> 4) | (uint64_t)8 << 16 | (uint64_t)16 << 32;
}

//! warpgroup_n16_of_halves 6 128 | f16:24576:-1:1 | f16:1024:-1:1 | out f32:6144
// 64 by 16 by 64 a block, without swizzle: core matrices of eight rows of sixteen bytes, one after the other along k.
K warpgroup_n16_of_halves(const __half *a, const __half *b, float *c)
{
    __shared__ __align__(128) __half ta[64 * 64], tb[16 * 64];
    for (int k = threadIdx.x; k < 64 * 64; k += 128) {
        int r = k / 64, x = k % 64;
        ta[x / 16 * 1024 + r / 8 * 128 + x % 16 / 8 * 64 + r % 8 * 8 + x % 8] = a[blockIdx.x * 4096 + k];
    }
    for (int k = threadIdx.x; k < 16 * 64; k += 128) {
        int r = k / 64, x = k % 64;
        tb[x / 16 * 256 + r / 8 * 128 + x % 16 / 8 * 64 + r % 8 * 8 + x % 8] = b[k];
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    float d[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int k = 0; k < 4; k++)
        asm volatile("wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, %8, %9, 1, 1, 1, 0, 0;"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
                     : "l"(descriptor(ta + k * 1024)), "l"(descriptor(tb + k * 256)));
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = blockIdx.x * 64 + warp * 16 + lane / 4, col = lane % 4 * 2;
#pragma unroll
    for (int n = 0; n < 2; n++) {
        *(float2 *)(c + row * 16 + n * 8 + col) = make_float2(d[n * 4], d[n * 4 + 1]);
        *(float2 *)(c + (row + 8) * 16 + n * 8 + col) = make_float2(d[n * 4 + 2], d[n * 4 + 3]);
    }
}

//! fewer_registers_for_fetchers 6 256 | f32:24576:-1:1 | out f32:768
// One warpgroup gives registers away and fetches by bulk copies, the other takes them and adds up.
extern "C" __global__ void __launch_bounds__(256, 2) fewer_registers_for_fetchers(const float *in, float *out)
{
    __shared__ __align__(128) float stage[2][512];
    __shared__ uint64_t full[2], empty[2];
    if (threadIdx.x == 0) {
        for (int s = 0; s < 2; s++) {
            make_barrier(full + s, 1);
            make_barrier(empty + s, 128);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    const float *mine = in + blockIdx.x * 4096;
    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
        if (threadIdx.x == 0)
            for (int k = 0; k < 8; k++) {
                int s = k & 1;
                if (k >= 2) wait_phase(empty + s, (k / 2 - 1) & 1);
                expect(full + s, 2048);
                asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 2048, [%2];" ::"r"(smem(stage[s])),
                             "l"(mine + k * 512), "r"(smem(full + s))
                             : "memory");
            }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 224;");
        int t = threadIdx.x - 128;
        float acc = 0.0f;
        for (int k = 0; k < 8; k++) {
            int s = k & 1;
            wait_phase(full + s, (k / 2) & 1);
            float4 v = ((float4 *)stage[s])[t];
            acc += v.x * v.y - v.z * v.w;
            asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(smem(empty + s)) : "memory");
        }
        out[blockIdx.x * 128 + t] = acc;
    }
}

//! waits_for_the_grid_before 10 128 | f32:1280:0:4 | out f32:1280
K waits_for_the_grid_before(const float *x, float *y)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    float scale = rsqrtf((float)(i % 17 + 1));
    asm volatile("griddepcontrol.wait;" ::: "memory");
    float v = x[i] * scale;
    asm volatile("griddepcontrol.launch_dependents;");
    y[i] = v * v + scale;
}

//! words_chosen_by_prmt 12 128 | u32:1536 | u32:1536 | out u32:1536 | out s32:1536
K words_chosen_by_prmt(const unsigned *a, const unsigned *b, unsigned *out, int *sad)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    unsigned x = a[i], y = b[i], p, q, f, l;
    asm("prmt.b32.f4e %0, %1, %2, %3;" : "=r"(p) : "r"(x), "r"(y), "r"(i & 3));
    asm("prmt.b32.ecr %0, %1, %2, %3;" : "=r"(q) : "r"(x), "r"(y), "r"(y & 3));
    asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(f) : "r"(x), "r"(y), "r"(i));
    asm("lop3.b32 %0, %1, %2, %3, 0x6b;" : "=r"(l) : "r"(p), "r"(q), "r"(f));
    int s, d, m;
    asm("sad.s32 %0, %1, %2, 7;" : "=r"(s) : "r"((int)x >> 4), "r"((int)y >> 3));
    asm("bfind.s32 %0, %1;" : "=r"(d) : "r"((int)y));
    asm("{\n.reg .u32 t;\nmad.lo.cc.u32 t, %1, %2, %3;\nmadc.hi.u32 %0, %1, %2, 5;\n}" : "=r"(m) : "r"(x), "r"(y), "r"(l));
    out[i] = l;
    sad[i] = s + d * m;
}
