/* panels.cu - products by warp groups in the other types (sm_90a), and warps that give registers away. */
#include <cstdint>

__device__ __forceinline__ uint32_t smem(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ uint64_t descriptor(uint32_t at, int lead, int stride)
{
    return (at & 0x3FFFF) >> 4 | (uint64_t)(lead >> 4) << 16 | (uint64_t)(stride >> 4) << 32;
}
// ROWS rows of 16 * C bytes into core matrices of 8 x 16 bytes, one after the other along K.
template <int ROWS, int C, int THREADS>
__device__ __forceinline__ void load_tile(unsigned char *to, const void *from, int pitch, int t)
{
    for (int i = t; i < ROWS * C; i += THREADS) {
        int r = i / C, c = i % C;
        *(uint4 *)(to + ((r / 8) * C + c) * 128 + (r % 8) * 16) = *(const uint4 *)((const unsigned char *)from + r * pitch + c * 16);
    }
}
__device__ __forceinline__ void ready()
{
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void finish()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

//! wgmma_signed_bytes 4,3 128 | s8:24576 | s8:8192 | out s32:12288
// 64 x 16 a warp group, K of 128 bytes in four steps.
extern "C" __global__ void __launch_bounds__(128) wgmma_signed_bytes(const unsigned char *A, const unsigned char *B, int *C)
{
    __shared__ __align__(128) unsigned char sa[64 * 128], sb[16 * 128];
    load_tile<64, 8, 128>(sa, A + blockIdx.y * 64 * 128, 128, threadIdx.x);
    load_tile<16, 8, 128>(sb, B + blockIdx.x * 16 * 128, 128, threadIdx.x);
    int d[8] = {};
    ready();
#pragma unroll
    for (int k = 0; k < 4; k++)
        asm volatile("wgmma.mma_async.sync.aligned.m64n16k32.s32.s8.s8 {%0,%1,%2,%3,%4,%5,%6,%7}, %8, %9, 1;"
                     : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7])
                     : "l"(descriptor(smem(sa) + k * 256, 128, 1024)), "l"(descriptor(smem(sb) + k * 256, 128, 1024)));
    finish();
    int lane = threadIdx.x & 31, row = blockIdx.y * 64 + (threadIdx.x >> 5) * 16 + (lane >> 2), col = blockIdx.x * 16 + (lane & 3) * 2;
    for (int j = 0; j < 2; j++) {
        *(int2 *)(C + row * 64 + col + j * 8) = make_int2(d[j * 4], d[j * 4 + 1]);
        *(int2 *)(C + (row + 8) * 64 + col + j * 8) = make_int2(d[j * 4 + 2], d[j * 4 + 3]);
    }
}

//! wgmma_tensor_floats 5,2 128 | f32:8192:-1:1 | f32:2560:-1:1 | out f32:5120
// 64 x 8 by K of 8 with tf32, K of 64, sums scaled by -1 for B in every other step.
extern "C" __global__ void __launch_bounds__(128) wgmma_tensor_floats(const float *A, const float *B, float *C)
{
    __shared__ __align__(128) unsigned char sa[64 * 256], sb[8 * 256];
    load_tile<64, 16, 128>(sa, A + blockIdx.y * 64 * 64, 256, threadIdx.x);
    load_tile<8, 16, 128>(sb, B + blockIdx.x * 8 * 64, 256, threadIdx.x);
    float d[4] = {};
    ready();
#pragma unroll
    for (int k = 0; k < 8; k++)
        if (k & 1)
            asm volatile("wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%0,%1,%2,%3}, %4, %5, 1, 1, -1;"
                         : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                         : "l"(descriptor(smem(sa) + k * 256, 128, 2048)), "l"(descriptor(smem(sb) + k * 256, 128, 2048)));
        else
            asm volatile("wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%0,%1,%2,%3}, %4, %5, 1, 1, 1;"
                         : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                         : "l"(descriptor(smem(sa) + k * 256, 128, 2048)), "l"(descriptor(smem(sb) + k * 256, 128, 2048)));
    finish();
    int lane = threadIdx.x & 31, row = blockIdx.y * 64 + (threadIdx.x >> 5) * 16 + (lane >> 2), col = blockIdx.x * 8 + (lane & 3) * 2;
    C[row * 40 + col] = d[0], C[row * 40 + col + 1] = d[1], C[(row + 8) * 40 + col] = d[2], C[(row + 8) * 40 + col + 1] = d[3];
}

//! wgmma_eight_bit_floats 2,4 128 | u8:16384:0:56 | u8:2048:0:56 | out f32:8192
// e4m3 by e5m2, K of 64; the bytes are small positive numbers of both formats.
extern "C" __global__ void __launch_bounds__(128) wgmma_eight_bit_floats(const unsigned char *A, const unsigned char *B, float *C)
{
    __shared__ __align__(128) unsigned char sa[64 * 64], sb[16 * 64];
    load_tile<64, 4, 128>(sa, A + blockIdx.y * 64 * 64, 64, threadIdx.x);
    load_tile<16, 4, 128>(sb, B + blockIdx.x * 16 * 64, 64, threadIdx.x);
    float d[8] = {};
    ready();
#pragma unroll
    for (int k = 0; k < 2; k++)
        asm volatile("wgmma.mma_async.sync.aligned.m64n16k32.f32.e4m3.e5m2 {%0,%1,%2,%3,%4,%5,%6,%7}, %8, %9, 1, 1, 1;"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
                     : "l"(descriptor(smem(sa) + k * 256, 128, 512)), "l"(descriptor(smem(sb) + k * 256, 128, 512)));
    finish();
    int lane = threadIdx.x & 31, row = blockIdx.y * 64 + (threadIdx.x >> 5) * 16 + (lane >> 2), col = blockIdx.x * 16 + (lane & 3) * 2;
    for (int j = 0; j < 2; j++) {
        C[row * 32 + col + j * 8] = d[j * 4], C[row * 32 + col + j * 8 + 1] = d[j * 4 + 1];
        C[(row + 8) * 32 + col + j * 8] = d[j * 4 + 2], C[(row + 8) * 32 + col + j * 8 + 1] = d[j * 4 + 3];
    }
}

//! wgmma_half_sums 6,2 128 | f16:8192:-1:1 | f16:3072:-1:1 | out f16:6144
extern "C" __global__ void __launch_bounds__(128) wgmma_half_sums(const unsigned char *A, const unsigned char *B, uint32_t *C)
{
    __shared__ __align__(128) unsigned char sa[64 * 128], sb[8 * 128];
    load_tile<64, 8, 128>(sa, A + blockIdx.y * 64 * 128, 128, threadIdx.x);
    load_tile<8, 8, 128>(sb, B + blockIdx.x * 8 * 128, 128, threadIdx.x);
    uint32_t d[2] = {};
    ready();
#pragma unroll
    for (int k = 0; k < 4; k++)
        asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%0,%1}, %2, %3, 1, 1, 1, 0, 0;"
                     : "+r"(d[0]), "+r"(d[1])
                     : "l"(descriptor(smem(sa) + k * 256, 128, 1024)), "l"(descriptor(smem(sb) + k * 256, 128, 1024)));
    finish();
    int lane = threadIdx.x & 31, row = blockIdx.y * 64 + (threadIdx.x >> 5) * 16 + (lane >> 2), col = blockIdx.x * 4 + (lane & 3);
    C[row * 24 + col] = d[0];
    C[(row + 8) * 24 + col] = d[1];
}

//! wgmma_common_bits 3,2 128 | u32:8192 | u32:1536 | out s32:3072
// Common bits of strings of 2048 bits: and with population count.
extern "C" __global__ void __launch_bounds__(128) wgmma_common_bits(const unsigned char *A, const unsigned char *B, int *C)
{
    __shared__ __align__(128) unsigned char sa[64 * 256], sb[8 * 256];
    load_tile<64, 16, 128>(sa, A + blockIdx.y * 64 * 256, 256, threadIdx.x);
    load_tile<8, 16, 128>(sb, B + blockIdx.x * 8 * 256, 256, threadIdx.x);
    int d[4] = {};
    ready();
#pragma unroll
    for (int k = 0; k < 8; k++)
        asm volatile("wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc {%0,%1,%2,%3}, %4, %5, 1;"
                     : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                     : "l"(descriptor(smem(sa) + k * 256, 128, 2048)), "l"(descriptor(smem(sb) + k * 256, 128, 2048)));
    finish();
    int lane = threadIdx.x & 31, row = blockIdx.y * 64 + (threadIdx.x >> 5) * 16 + (lane >> 2), col = blockIdx.x * 8 + (lane & 3) * 2;
    C[row * 24 + col] = d[0], C[row * 24 + col + 1] = d[1], C[(row + 8) * 24 + col] = d[2], C[(row + 8) * 24 + col + 1] = d[3];
}

__device__ __forceinline__ void bar_init(uint64_t *b, int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem(b)), "r"(n) : "memory"); }
__device__ __forceinline__ void bar_wait(uint64_t *b, int phase)
{
    asm volatile("{.reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra again;}" ::"r"(smem(b)), "r"(phase) : "memory");
}
//! registers_given_away 12 384 | f16:393216:-1:1 | f16:4096:-1:1 | out f32:24576
// One warp group copies tiles in the background and keeps 40 registers; two multiply 64 x 16 each with more; two stages of K = 32.
extern "C" __global__ void __launch_bounds__(384, 1) registers_given_away(const unsigned char *A, const unsigned char *B, float *C)
{
    __shared__ __align__(128) unsigned char sa[2][2][64 * 64], sb[2][16 * 64];
    __shared__ __align__(8) uint64_t full[2], empty[2];
    int t = threadIdx.x, group = t >> 7;
    if (t == 0)
        for (int i = 0; i < 2; i++) bar_init(&full[i], 128), bar_init(&empty[i], 256);
    __syncthreads();
    if (group == 2) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        for (int k = 0; k < 8; k++) {
            int s = k & 1;
            if (k >= 2) bar_wait(&empty[s], (k / 2 - 1) & 1);
            for (int i = t & 127; i < 64 * 2 * 4 + 16 * 4; i += 128) {
                int r = i >> 2, c = i & 3;
                const unsigned char *from = r < 128 ? A + (blockIdx.x * 128 + r) * 512 + k * 64 + c * 16 : B + (r - 128) * 512 + k * 64 + c * 16;
                unsigned char *to = (r < 128 ? sa[s][r >> 6] + ((r & 63) >> 3) * 512 : sb[s] + ((r - 128) >> 3) * 512) + c * 128 + (r & 7) * 16;
                asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem(to)), "l"(from) : "memory");
            }
            asm volatile("cp.async.wait_all;" ::: "memory");
            asm volatile("fence.proxy.async;" ::: "memory");
            asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(smem(&full[s])) : "memory");
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 200;");
        float d[8] = {};
        for (int k = 0; k < 8; k++) {
            int s = k & 1;
            bar_wait(&full[s], k / 2 & 1);
            asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
            for (int j = 0; j < 2; j++)
                asm volatile("wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, %8, %9, 1, 1, 1, 0, 0;"
                             : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
                             : "l"(descriptor(smem(sa[s][group]) + j * 256, 128, 512)), "l"(descriptor(smem(sb[s]) + j * 256, 128, 512)));
            finish();
            asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(smem(&empty[s])) : "memory");
        }
        int lane = t & 31, row = blockIdx.x * 128 + group * 64 + (t >> 5 & 3) * 16 + (lane >> 2), col = (lane & 3) * 2;
        for (int j = 0; j < 2; j++) {
            C[row * 16 + col + j * 8] = d[j * 4], C[row * 16 + col + j * 8 + 1] = d[j * 4 + 1];
            C[(row + 8) * 16 + col + j * 8] = d[j * 4 + 2], C[(row + 8) * 16 + col + j * 8 + 1] = d[j * 4 + 3];
        }
    }
}
