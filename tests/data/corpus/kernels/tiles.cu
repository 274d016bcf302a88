/* tiles.cu - matrix instructions in the shapes and types that the common kernels do not use, and what moves their fragments. */
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

__device__ __forceinline__ uint32_t smem(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

//! bits_xor_popc 8,8 32 | u32:8192 | u32:8192 | out s32:8192
// Distances of bit strings: 16 x 8 x 256 with xor and population count, 128 x 64 strings of 2048 bits.
extern "C" __global__ void bits_xor_popc(const uint32_t *A, const uint32_t *B, int *C)
{
    int lane = threadIdx.x, g = lane >> 2, t = lane & 3, words = 64;
    int c0 = 0, c1 = 0, c2 = 0, c3 = 0;
    const uint32_t *a = A + (blockIdx.y * 16 + g) * words + t, *b = B + (blockIdx.x * 8 + g) * words + t;
    for (int k = 0; k < words; k += 8)
        asm volatile("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+r"(c0), "+r"(c1), "+r"(c2), "+r"(c3)
                     : "r"(a[k]), "r"(a[k + 8 * words]), "r"(a[k + 4]), "r"(a[k + 8 * words + 4]), "r"(b[k]), "r"(b[k + 4]));
    int *c = C + (blockIdx.y * 16 + g) * 64 + blockIdx.x * 8 + t * 2;
    c[0] = c0, c[1] = c1, c[512] = c2, c[513] = c3;
}

//! four_bit_products 4,16 64 | u32:4096 | u32:2048 | out s32:16384
// 16 x 8 x 64 of signed fours by unsigned fours; two warps share a panel of B.
extern "C" __global__ void four_bit_products(const uint32_t *A, const uint32_t *B, int *C)
{
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, g = lane >> 2, t = lane & 3, words = 16;
    int col = blockIdx.x * 16 + warp * 8;
    int c[4] = {};
    const uint32_t *a = A + (blockIdx.y * 16 + g) * words + t, *b = B + (col + g) * words + t;
#pragma unroll
    for (int k = 0; k < words; k += 8)
        asm volatile("mma.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                     : "r"(a[k]), "r"(a[k + 8 * words]), "r"(a[k + 4]), "r"(a[k + 8 * words + 4]), "r"(b[k]), "r"(b[k + 4]));
    int *d = C + (blockIdx.y * 16 + g) * 64 + col + t * 2;
    *(int2 *)d = make_int2(c[0], c[1]);
    *(int2 *)(d + 512) = make_int2(c[2], c[3]);
}

//! structured_sparse_rows 4,8 32 | u32:16384:0:1073741824 | f16:16384:-1:1 | out f32:8192
// 16 x 8 x 32 with two of four values of A kept: the values, and which ones they are in a word of metadata.
extern "C" __global__ void structured_sparse_rows(const uint32_t *A, const uint32_t *B, float *C)
{
    int lane = threadIdx.x, g = lane >> 2, t = lane & 3;
    float c[4] = {};
    for (int k = 0; k < 8; k++) {
        const uint32_t *a = A + (blockIdx.y * 8 + k) * 128 + g * 4 + t;
        // Sixteen bits of a half of little size, out of any word.
        uint32_t a0 = (a[0] & 0x83ff83ff) | 0x38003400, a1 = (a[32] & 0x83ff83ff) | 0x34003800;
        uint32_t a2 = (a[64] & 0x83ff83ff) | 0x38003c00, a3 = (a[96] & 0x83ff83ff) | 0x30003400;
        const uint32_t *b = B + ((blockIdx.x * 8 + k) * 8 + g) * 16 + t;
        const uint32_t pairs[6] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
        uint32_t meta = 0;
        for (int j = 0; j < 8; j++) meta |= pairs[(g + j * 5 + k + t) % 6] << (4 * j);
        asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
                     "{%8,%9,%10,%11}, {%0,%1,%2,%3}, %12, 0x0;"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b[0]), "r"(b[4]), "r"(b[8]), "r"(b[12]), "r"(meta));
    }
    float *d = C + (blockIdx.y * 16 + g) * 32 + blockIdx.x * 8 + t * 2;
    d[0] = c[0], d[1] = c[1], d[256] = c[2], d[257] = c[3];
}

//! short_k_halves 6,6 64 | f16:12288:-1:1 | f16:12288:-1:1 | out f16:36864
// 16 x 8 x 8 with halves as sums, 192 x 192 x 64, fragments straight from memory, four columns of tiles a warp.
extern "C" __global__ void short_k_halves(const uint32_t *A, const uint32_t *B, uint32_t *C)
{
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, g = lane >> 2, t = lane & 3;
    int row = blockIdx.y * 32 + warp * 16, col = blockIdx.x * 32;
    uint32_t c[4][2] = {};
    for (int k = 0; k < 32; k += 4) {
        uint32_t a0 = A[(row + g) * 32 + k + t], a1 = A[(row + g + 8) * 32 + k + t];
#pragma unroll
        for (int n = 0; n < 4; n++)
            asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3}, {%4}, {%0,%1};"
                         : "+r"(c[n][0]), "+r"(c[n][1]) : "r"(a0), "r"(a1), "r"(B[(col + n * 8 + g) * 32 + k + t]));
    }
#pragma unroll
    for (int n = 0; n < 4; n++) {
        C[(row + g) * 96 + (col + n * 8) / 2 + t] = c[n][0];
        C[(row + g + 8) * 96 + (col + n * 8) / 2 + t] = c[n][1];
    }
}

//! brain_k8_and_tf32_k4 4,8 32 | bf16:8192:-1:1 | bf16:2048:-1:1 | f32:8192:-1:1 | f32:2048:-1:1 | out f32:4096
extern "C" __global__ void brain_k8_and_tf32_k4(const uint32_t *A, const uint32_t *B, const float *X, const float *Y, float *C)
{
    int lane = threadIdx.x, g = lane >> 2, t = lane & 3, row = blockIdx.y * 16, col = blockIdx.x * 8;
    float c[4] = {}, d[4] = {};
    for (int k = 0; k < 32; k += 4)
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "r"(A[(row + g) * 32 + k + t]), "r"(A[(row + g + 8) * 32 + k + t]), "r"(B[(col + g) * 32 + k + t]));
    for (int k = 0; k < 64; k += 4) {
        uint32_t a0, a1, b;
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(a0) : "f"(X[(row + g) * 64 + k + t]));
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(a1) : "f"(X[(row + g + 8) * 64 + k + t]));
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(b) : "f"(Y[(col + g) * 64 + k + t]));
        asm volatile("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a0), "r"(a1), "r"(b));
    }
    float *o = C + (row + g) * 32 + col + t * 2;
    o[0] = c[0] + d[0], o[1] = c[1] - d[1], o[256] = c[2] + d[2], o[257] = c[3] - d[3];
}

//! double_k16 6,3 64 | f64:6144:-1:1 | f64:6144:-1:1 | out f64:9216
// 16 x 8 x 16 of doubles as this generation has it, from shared memory.
extern "C" __global__ void double_k16(const double *A, const double *B, double *C)
{
    __shared__ double sa[32][18], sb[16][18];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, g = lane >> 2, t = lane & 3;
    double c[4] = {};
    for (int k0 = 0; k0 < 64; k0 += 16) {
        for (int i = threadIdx.x; i < 512; i += 64) sa[i >> 4][i & 15] = A[(blockIdx.y * 32 + (i >> 4)) * 64 + k0 + (i & 15)];
        for (int i = threadIdx.x; i < 256; i += 64) sb[i >> 4][i & 15] = B[(blockIdx.x * 16 + (i >> 4)) * 64 + k0 + (i & 15)];
        __syncthreads();
        for (int n = 0; n < 2; n++) {
            double a[8], b[4];
            for (int i = 0; i < 8; i++) a[i] = sa[warp * 16 + g + (i & 1) * 8][t + (i >> 1) * 4];
            for (int i = 0; i < 4; i++) b[i] = sb[n * 8 + g][t + i * 4];
            double d[4] = {};
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%0,%1,%2,%3};"
                         : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
                         : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
            double *o = C + (blockIdx.y * 32 + warp * 16 + g) * 96 + blockIdx.x * 16 + n * 8 + t * 2;
            if (k0 == 48) o[0] = c[0] + d[0], o[1] = c[1] + d[1], o[768] = c[2] + d[2], o[769] = c[3] + d[3];
            if (n == 1)
                for (int i = 0; i < 4; i++) c[i] += d[i];
        }
        __syncthreads();
    }
}

//! transposed_through_stmatrix 16,8 64 | u16:131072 | out u16:131072
// 16 x 16 tiles of 16 bits: loaded by ldmatrix x2, moved by movmatrix, put back by stmatrix with and without transposition.
extern "C" __global__ void transposed_through_stmatrix(const uint4 *in, uint4 *out)
{
    __shared__ __align__(16) uint16_t tile[2][16][24];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const uint4 *from = in + ((blockIdx.y * 16 + blockIdx.x) * 2 + warp) * 64;
    uint4 *to = out + ((blockIdx.y * 16 + blockIdx.x) * 2 + warp) * 64;
    for (int pass = 0; pass < 2; pass++) {
        *(uint4 *)&tile[warp][lane >> 1][(lane & 1) * 8] = from[pass * 32 + lane];
        __syncwarp();
        uint32_t a, b, c, d;
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];" : "=r"(a), "=r"(b) : "r"(smem(&tile[warp][lane & 15][0])));
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(c), "=r"(d) : "r"(smem(&tile[warp][lane & 15][8])));
        asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %0;" : "+r"(a));
        asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %0;" : "+r"(d));
        __syncwarp();
        asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1,%2};" ::"r"(smem(&tile[warp][lane & 15][8])), "r"(a), "r"(b) : "memory");
        asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1,%2};" ::"r"(smem(&tile[warp][lane & 15][0])), "r"(c), "r"(d) : "memory");
        __syncwarp();
        to[pass * 32 + lane] = *(uint4 *)&tile[warp][lane >> 1][(lane & 1) * 8];
        __syncwarp();
    }
}

//! bytes_short_k 4,8 64 | s8:4096 | u8:4096 | out s32:8192
// 16 x 8 x 16 of signed by unsigned bytes with saturation of the sum.
extern "C" __global__ void bytes_short_k(const uint32_t *A, const uint32_t *B, int *C)
{
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, g = lane >> 2, t = lane & 3;
    int row = blockIdx.y * 16, col = blockIdx.x * 16 + warp * 8;
    int c[4] = {2147000000, -2147000000, 0, 1};
    for (int k = 0; k < 8; k += 4)
        asm volatile("mma.sync.aligned.m16n8k16.row.col.satfinite.s32.s8.u8.s32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                     : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                     : "r"(A[(row + g) * 8 + k + t]), "r"(A[(row + g + 8) * 8 + k + t]), "r"(B[(col + g) * 8 + k + t]));
    int *d = C + (row + g) * 64 + col + t * 2;
    d[0] = c[0], d[1] = c[1], d[512] = c[2], d[513] = c[3];
}

using namespace nvcuda;
//! wmma_half_sums 5,5 64 | f16:25600:-1:1 | f16:25600:-1:1 | out f16:25600
// 160 x 160 x 160 with halves for sums, both operands in rows, two warps a tile that split the columns.
extern "C" __global__ void wmma_half_sums(const half *A, const half *B, half *C)
{
    int warp = threadIdx.x >> 5, row = blockIdx.y * 32, col = blockIdx.x * 32 + warp * 16;
    wmma::fragment<wmma::accumulator, 16, 16, 16, half> c0, c1;
    wmma::fill_fragment(c0, __float2half(0.25f));
    wmma::fill_fragment(c1, __float2half(-0.25f));
    for (int k = 0; k < 160; k += 16) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a0, a1;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
        wmma::load_matrix_sync(a0, A + row * 160 + k, 160);
        wmma::load_matrix_sync(a1, A + (row + 16) * 160 + k, 160);
        wmma::load_matrix_sync(b, B + k * 160 + col, 160);
        wmma::mma_sync(c0, a0, b, c0);
        wmma::mma_sync(c1, a1, b, c1);
    }
    wmma::store_matrix_sync(C + row * 160 + col, c0, 160, wmma::mem_row_major);
    wmma::store_matrix_sync(C + (row + 16) * 160 + col, c1, 160, wmma::mem_row_major);
}

//! wmma_wide_8x32 3,8 32 | bf16:12288:-1:1 | bf16:18432:-1:1 | f32:6144:-1:1 | out f32:6144
// alpha A B + beta C with 8 x 32 tiles of bf16, A in columns; the elements of the fragments are scaled in registers.
extern "C" __global__ void wmma_wide_8x32(const __nv_bfloat16 *A, const __nv_bfloat16 *B, const float *C, float *D)
{
    wmma::fragment<wmma::accumulator, 8, 32, 16, float> acc, c;
    wmma::fill_fragment(acc, 0.0f);
    int row = blockIdx.y * 8, col = blockIdx.x * 32;
    for (int k = 0; k < 192; k += 16) {
        wmma::fragment<wmma::matrix_a, 8, 32, 16, __nv_bfloat16, wmma::col_major> a;
        wmma::fragment<wmma::matrix_b, 8, 32, 16, __nv_bfloat16, wmma::col_major> b;
        wmma::load_matrix_sync(a, A + k * 64 + row, 64);
        wmma::load_matrix_sync(b, B + col * 192 + k, 192);
        wmma::mma_sync(acc, a, b, acc);
    }
    wmma::load_matrix_sync(c, C + row * 96 + col, 96, wmma::mem_row_major);
    for (int i = 0; i < c.num_elements; i++) c.x[i] = 1.25f * acc.x[i] - 0.5f * c.x[i];
    wmma::store_matrix_sync(D + row * 96 + col, c, 96, wmma::mem_row_major);
}

//! wmma_bits 8,4 32 | u32:2048 | u32:1024 | out s32:2048
// Bit matrices by the library: 8 x 8 x 128 with and, then with xor.
extern "C" __global__ void wmma_bits(const unsigned *A, const unsigned *B, int *C)
{
    using namespace wmma::experimental;
    wmma::fragment<wmma::matrix_a, 8, 8, 128, precision::b1, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 8, 8, 128, precision::b1, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 8, 8, 128, int> c;
    wmma::fill_fragment(c, 0);
    for (int k = 0; k < 1024; k += 128) {
        wmma::load_matrix_sync(a, A + (blockIdx.x * 8 * 1024 + k) / 32, 1024);
        wmma::load_matrix_sync(b, B + (blockIdx.y * 8 * 1024 + k) / 32, 1024);
        if (k & 128)
            wmma::bmma_sync(c, a, b, c, bmmaBitOpXOR);
        else
            wmma::bmma_sync(c, a, b, c, bmmaBitOpAND);
    }
    wmma::store_matrix_sync(C + blockIdx.x * 8 * 32 + blockIdx.y * 8, c, 32, wmma::mem_row_major);
}

//! wmma_unsigned_fours 4,4 128 | u32:2048 | u32:1024 | out s32:4096
// 8 x 8 x 32 of fours, four warps a block, relu on the fragment.
extern "C" __global__ void wmma_unsigned_fours(const unsigned *A, const unsigned *B, int *C)
{
    using namespace wmma::experimental;
    int warp = threadIdx.x >> 5, row = (blockIdx.y * 4 + warp) * 8, col = blockIdx.x * 8;
    wmma::fragment<wmma::matrix_a, 8, 8, 32, precision::s4, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 8, 8, 32, precision::s4, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 8, 8, 32, int> c;
    wmma::fill_fragment(c, -5);
    for (int k = 0; k < 128; k += 32) {
        wmma::load_matrix_sync(a, A + (row * 128 + k) / 8, 128);
        wmma::load_matrix_sync(b, B + (col * 128 + k) / 8, 128);
        wmma::mma_sync(c, a, b, c);
    }
    for (int i = 0; i < c.num_elements; i++) c.x[i] = max(c.x[i], 0);
    wmma::store_matrix_sync(C + row * 32 + col, c, 32, wmma::mem_row_major);
}
