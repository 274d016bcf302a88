/* warpgroup.cu - products by warp groups (sm_90a). */
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ __forceinline__ uint32_t smem(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
// Core matrices of 8 x 16 bytes one after the other: LEAD bytes apart along K, STRIDE along the rows, no swizzle.
__device__ __forceinline__ uint64_t descriptor(const void *p, int lead, int stride)
{
    uint64_t d = (smem(p) & 0x3FFFF) >> 4;
    return d | (uint64_t)(lead >> 4) << 16 | (uint64_t)(stride >> 4) << 32;
}

//! wgmma_plain_tiles 3,4 128 | f16:16384:-1:1 | f16:12288:-1:1 | out f32:49152
// 64 x 64 a warp group, K of 64 in four steps, both operands in shared memory.
extern "C" __global__ void __launch_bounds__(128) wgmma_plain_tiles(const half *A, const half *B, float *C)
{
    __shared__ __align__(128) half sa[64 * 64], sb[64 * 64];
    const int t = threadIdx.x, warp = t / 32, lane = t % 32;
    // row r, chunk c of eight: core matrix (r / 8, c), its row r % 8
    for (int i = t; i < 512; i += 128) {
        int r = i / 8, c = i % 8, to = ((r / 8) * 8 + c) * 64 + (r % 8) * 8;
        *(uint4 *)(sa + to) = *(const uint4 *)(A + (blockIdx.y * 64 + r) * 64 + c * 8);
        *(uint4 *)(sb + to) = *(const uint4 *)(B + (blockIdx.x * 64 + r) * 64 + c * 8);
    }
    asm volatile("fence.proxy.async;");
    __syncthreads();
    float d[32];
#pragma unroll
    for (int i = 0; i < 32; i++) d[i] = 0;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int k = 0; k < 4; k++)
        asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
                     "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, %32, %33, 1, 1, 1, 0, 0;"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]),
                       "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]),
                       "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]),
                       "+f"(d[30]), "+f"(d[31])
                     : "l"(descriptor(sa + k * 128, 128, 1024)), "l"(descriptor(sb + k * 128, 128, 1024)));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    int row = blockIdx.y * 64 + warp * 16 + lane / 4, col = blockIdx.x * 64 + lane % 4 * 2;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        *(float2 *)(C + row * 192 + col + j * 8) = make_float2(d[j * 4], d[j * 4 + 1]);
        *(float2 *)(C + (row + 8) * 192 + col + j * 8) = make_float2(d[j * 4 + 2], d[j * 4 + 3]);
    }
}

//! wgmma_register_rows 10 256 | bf16:81920:-1:1 | bf16:4096:-1:1 | f32:64:-1:1 | out bf16:40960
// Two warp groups share the weights (32 x 64); the rows come from memory into registers, bias, relu.
extern "C" __global__ void __launch_bounds__(256) wgmma_register_rows(const uint32_t *X, const __nv_bfloat16 *W, const float *bias, __nv_bfloat162 *Y)
{
    __shared__ __align__(128) __nv_bfloat16 sw[32 * 64];
    const int t = threadIdx.x, lane = t % 32, row = blockIdx.x * 128 + t / 32 * 16 + lane / 4;
    for (int i = t; i < 256; i += 256) {
        int r = i / 8, c = i % 8;
        *(uint4 *)(sw + ((r / 8) * 8 + c) * 64 + (r % 8) * 8) = *(const uint4 *)(W + r * 64 + c * 8);
    }
    asm volatile("fence.proxy.async;");
    __syncthreads();
    uint32_t a[4][4];
#pragma unroll
    for (int k = 0; k < 4; k++)
#pragma unroll
        for (int e = 0; e < 4; e++) a[k][e] = X[(row + (e & 1) * 8) * 32 + k * 8 + (e >> 1) * 4 + lane % 4];
    float d[16];
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int k = 0; k < 4; k++)
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %21, 0;\n"
                     "wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}, {%16,%17,%18,%19}, %20, p, 1, 1, 0;\n}"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]),
                       "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15])
                     : "r"(a[k][0]), "r"(a[k][1]), "r"(a[k][2]), "r"(a[k][3]), "l"(descriptor(sw + k * 128, 128, 1024)), "r"(k));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
    for (int j = 0; j < 4; j++) {
        int col = j * 8 + lane % 4 * 2;
        float b0 = bias[col], b1 = bias[col + 1];
        Y[row * 16 + col / 2] = __floats2bfloat162_rn(fmaxf(d[j * 4] + b0, 0.f), fmaxf(d[j * 4 + 1] + b1, 0.f));
        Y[(row + 8) * 16 + col / 2] = __floats2bfloat162_rn(fmaxf(d[j * 4 + 2] + b0, 0.f), fmaxf(d[j * 4 + 3] + b1, 0.f));
    }
}
