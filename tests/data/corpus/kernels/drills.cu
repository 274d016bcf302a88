/* drills.cu - what a course on CUDA has its students write: sums, scans, bins, transposes, stencils and products, each in one more variant. */
#include <cstdint>
#include <cfloat>
#include <cuda_runtime.h>

#define FULL 0xffffffffu

//! axpby_stride 528 256 | f32:1000003:-1:1 | inout f32:1000003:-1:1 | s f32 1.5 | s f32 -0.25 | s s32 1000003
extern "C" __global__ void axpby_stride(const float *__restrict__ x, float *__restrict__ y, float a, float b, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        y[i] = a * x[i] + b * y[i];
}

template <typename T> __device__ __forceinline__ T warp_sum(T v)
{
    for (int offset = warpSize / 2; offset > 0; offset >>= 1) v += __shfl_down_sync(FULL, v, offset);
    return v;
}

template <typename T> __device__ T block_sum(T v)
{
    __shared__ T partial[32];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    v = warp_sum(v);
    if (lane == 0) partial[warp] = v;
    __syncthreads();
    v = threadIdx.x < blockDim.x / warpSize ? partial[lane] : T(0);
    if (warp == 0) v = warp_sum(v);
    return v;
}

//! reduce_float4 264 512 | f32:1081344:-1:1 | out f32:264 | s s32 270336
extern "C" __global__ void reduce_float4(const float4 *__restrict__ in, float *__restrict__ out, int n4)
{
    float s = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += gridDim.x * blockDim.x) {
        float4 v = in[i];
        s += (v.x + v.y) + (v.z + v.w);
    }
    s = block_sum(s);
    if (threadIdx.x == 0) out[blockIdx.x] = s;
}

//! variance_block 300 256 | f64:307200:-2:2 | out f64:600
// Sum and sum of squares in double, four values a thread.
extern "C" __global__ void variance_block(const double *__restrict__ in, double *__restrict__ out)
{
    const double *p = in + blockIdx.x * 1024;
    double s = 0, q = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        double v = p[k * 256 + threadIdx.x];
        s += v;
        q += v * v;
    }
    s = block_sum(s);
    __syncthreads();
    q = block_sum(q);
    if (threadIdx.x == 0) {
        double mean = s / 1024;
        out[2 * blockIdx.x] = mean;
        out[2 * blockIdx.x + 1] = sqrt(fmax(q / 1024 - mean * mean, 0.0));
    }
}

struct Place {
    float value;
    int index;
    __device__ bool less(const Place &o) const { return value < o.value || (value == o.value && index < o.index); }
};

//! min_location 132 1024 | f32:540672:-1000:1000 | out s32:132 | out f32:132 | s s32 540672
extern "C" __global__ void __launch_bounds__(1024) min_location(const float *__restrict__ in, int *__restrict__ where, float *__restrict__ least, int n)
{
    __shared__ Place best[1024];
    Place mine = {FLT_MAX, -1};
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        Place p = {in[i], i};
        if (p.less(mine)) mine = p;
    }
    best[threadIdx.x] = mine;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half && best[threadIdx.x + half].less(best[threadIdx.x])) best[threadIdx.x] = best[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) where[blockIdx.x] = best[0].index, least[blockIdx.x] = best[0].value;
}

//! scan_wide 200 256 | s32:204800:-100:100 | out s64:204800 | out s64:200
// Inclusive sums of four 32-bit values a thread in 64 bits: warp by warp with shuffles, then the warps' totals.
extern "C" __global__ void scan_wide(const int4 *__restrict__ in, longlong2 *__restrict__ out, long long *__restrict__ totals)
{
    __shared__ long long warps[8];
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int4 v = in[i];
    long long a = v.x, b = a + v.y, c = b + v.z, d = c + v.w, sum = d;
    for (int offset = 1; offset < 32; offset *= 2) {
        long long up = __shfl_up_sync(FULL, sum, offset);
        if (lane >= offset) sum += up;
    }
    if (lane == 31) warps[warp] = sum;
    __syncthreads();
    if (warp == 0 && lane < 8) {
        long long w = warps[lane];
        for (int offset = 1; offset < 8; offset *= 2) {
            long long up = __shfl_up_sync(0xff, w, offset);
            if (lane >= offset) w += up;
        }
        warps[lane] = w;
    }
    __syncthreads();
    long long base = sum - d + (warp ? warps[warp - 1] : 0);
    out[2 * i] = make_longlong2(base + a, base + b);
    out[2 * i + 1] = make_longlong2(base + c, base + d);
    if (threadIdx.x == blockDim.x - 1) totals[blockIdx.x] = base + d;
}

//! hist_bytes 132 256 8192 | u8:1081344 | zero u32:256 | s s32 67584
// Eight tables, one a warp, sixteen bytes a load.
extern "C" __global__ void hist_bytes(const uint4 *__restrict__ in, unsigned *__restrict__ bins, int n16)
{
    extern __shared__ unsigned table[];
    unsigned *mine = table + (threadIdx.x >> 5) * 256;
    for (int i = threadIdx.x; i < 8 * 256; i += blockDim.x) table[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n16; i += gridDim.x * blockDim.x) {
        uint4 v = in[i];
        unsigned w[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int k = 0; k < 4; k++) {
            atomicAdd(&mine[w[k] & 255], 1);
            atomicAdd(&mine[w[k] >> 8 & 255], 1);
            atomicAdd(&mine[w[k] >> 16 & 255], 1);
            atomicAdd(&mine[w[k] >> 24], 1);
        }
    }
    __syncthreads();
    unsigned s = 0;
    for (int k = 0; k < 8; k++) s += table[k * 256 + threadIdx.x];
    if (s) atomicAdd(&bins[threadIdx.x], s);
}

//! transpose_vec4 8,8 16,16 | f32:262144:-1:1 | out f32:262144 | s s32 512
// Tiles of 64 x 64, a float4 a thread and row.
extern "C" __global__ void transpose_vec4(const float *__restrict__ in, float *__restrict__ out, int n)
{
    __shared__ float tile[64][65];
    int x = blockIdx.x * 64 + threadIdx.x * 4, y = blockIdx.y * 64 + threadIdx.y;
#pragma unroll
    for (int r = 0; r < 64; r += 16) {
        float4 v = *reinterpret_cast<const float4 *>(in + (y + r) * n + x);
        tile[threadIdx.y + r][threadIdx.x * 4] = v.x;
        tile[threadIdx.y + r][threadIdx.x * 4 + 1] = v.y;
        tile[threadIdx.y + r][threadIdx.x * 4 + 2] = v.z;
        tile[threadIdx.y + r][threadIdx.x * 4 + 3] = v.w;
    }
    __syncthreads();
    x = blockIdx.y * 64 + threadIdx.x * 4, y = blockIdx.x * 64 + threadIdx.y;
#pragma unroll
    for (int r = 0; r < 64; r += 16) {
        float4 v = make_float4(tile[threadIdx.x * 4][threadIdx.y + r], tile[threadIdx.x * 4 + 1][threadIdx.y + r], tile[threadIdx.x * 4 + 2][threadIdx.y + r],
                               tile[threadIdx.x * 4 + 3][threadIdx.y + r]);
        *reinterpret_cast<float4 *>(out + (y + r) * n + x) = v;
    }
}

//! transpose_swizzle 16,24 32,8 | f64:393216:-1:1 | out f64:393216 | s s32 512 | s s32 768
// No padding: the column is exclusive-ored with the row.
extern "C" __global__ void transpose_swizzle(const double *__restrict__ in, double *__restrict__ out, int width, int height)
{
    __shared__ double tile[32][32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int r = 0; r < 32; r += 8)
        if (x < width && y + r < height) tile[threadIdx.y + r][threadIdx.x ^ (threadIdx.y + r)] = in[(y + r) * width + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int r = 0; r < 32; r += 8)
        if (x < height && y + r < width) out[(y + r) * height + x] = tile[threadIdx.x][(threadIdx.y + r) ^ threadIdx.x];
}

#define TT_BX 32
#define TT_BY 16
//! heat_twice 12,24 32,16 | f32:153600:0:1 | out f32:153600 | s s32 384 | s s32 400
// Two steps of the five-point stencil from one tile with a border of two.
extern "C" __global__ void heat_twice(const float *__restrict__ in, float *__restrict__ out, int nx, int ny)
{
    __shared__ float a[TT_BY + 4][TT_BX + 4], b[TT_BY + 2][TT_BX + 2];
    int x0 = blockIdx.x * TT_BX, y0 = blockIdx.y * TT_BY, t = threadIdx.y * TT_BX + threadIdx.x;
    for (int i = t; i < (TT_BY + 4) * (TT_BX + 4); i += TT_BX * TT_BY) {
        int ly = i / (TT_BX + 4), lx = i % (TT_BX + 4), gx = min(max(x0 + lx - 2, 0), nx - 1), gy = min(max(y0 + ly - 2, 0), ny - 1);
        a[ly][lx] = in[gy * nx + gx];
    }
    __syncthreads();
    for (int i = t; i < (TT_BY + 2) * (TT_BX + 2); i += TT_BX * TT_BY) {
        int ly = i / (TT_BX + 2), lx = i % (TT_BX + 2);
        b[ly][lx] = a[ly + 1][lx + 1] + 0.2f * (a[ly][lx + 1] + a[ly + 2][lx + 1] + a[ly + 1][lx] + a[ly + 1][lx + 2] - 4.0f * a[ly + 1][lx + 1]);
    }
    __syncthreads();
    int lx = threadIdx.x + 1, ly = threadIdx.y + 1, x = x0 + threadIdx.x, y = y0 + threadIdx.y;
    if (x < nx && y < ny) out[y * nx + x] = b[ly][lx] + 0.2f * (b[ly - 1][lx] + b[ly + 1][lx] + b[ly][lx - 1] + b[ly][lx + 1] - 4.0f * b[ly][lx]);
}

__constant__ float star[5] = {-2.84722f, 1.6f, -0.2f, 0.0253968f, -0.00178571f};
//! star_march 4,8 32,8 | f32:460800:-1:1 | f32:460800:-1:1 | out f32:460800 | s s32 136 | s s32 72 | s s32 47
// 25 points: four neighbours each way, the queue of z in registers, x and y in shared memory.
extern "C" __global__ void star_march(const float *__restrict__ now, const float *__restrict__ before, float *__restrict__ next, int nx, int ny, int nz)
{
    __shared__ float s[8 + 8][32 + 8];
    int x = blockIdx.x * 32 + threadIdx.x + 4, y = blockIdx.y * 8 + threadIdx.y + 4, plane = nx * ny, tx = threadIdx.x + 4, ty = threadIdx.y + 4;
    const float *p = now + y * nx + x;
    float q[9];
#pragma unroll
    for (int k = 0; k < 8; k++) q[k] = p[k * plane];
    for (int z = 4; z < nz - 4; z++) {
        q[8] = p[(z + 4) * plane];
        __syncthreads();
        s[ty][tx] = q[4];
        if (threadIdx.y < 4) {
            s[threadIdx.y][tx] = p[z * plane - 4 * nx];
            s[threadIdx.y + 12][tx] = p[z * plane + 8 * nx];
        }
        if (threadIdx.x < 4) {
            s[ty][threadIdx.x] = p[z * plane - 4];
            s[ty][threadIdx.x + 36] = p[z * plane + 32];
        }
        __syncthreads();
        float v = 3 * star[0] * q[4];
#pragma unroll
        for (int k = 1; k <= 4; k++) v += star[k] * (s[ty - k][tx] + s[ty + k][tx] + s[ty][tx - k] + s[ty][tx + k] + q[4 - k] + q[4 + k]);
        int o = z * plane + y * nx + x;
        next[o] = 2 * q[4] - before[o] + 0.1f * v;
#pragma unroll
        for (int k = 0; k < 8; k++) q[k] = q[k + 1];
    }
}

template <int BM, int BN, int BK, int TM, int TN> struct Gemm {
    static __device__ void run(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int N, int K, float alpha, float beta)
    {
        constexpr int threads = (BM / TM) * (BN / TN);
        __shared__ float As[2][BK][BM + 4];
        __shared__ float Bs[2][BK][BN];
        int tx = threadIdx.x % (BN / TN), ty = threadIdx.x / (BN / TN), row = blockIdx.y * BM, col = blockIdx.x * BN;
        float acc[TM][TN] = {};
        auto load = [&](int k0, int b) {
            for (int i = threadIdx.x; i < BM * BK; i += threads) As[b][i % BK][i / BK] = A[(row + i / BK) * K + k0 + i % BK];
            for (int i = threadIdx.x; i < BK * BN; i += threads) Bs[b][i / BN][i % BN] = B[(k0 + i / BN) * N + col + i % BN];
        };
        load(0, 0);
        __syncthreads();
        int b = 0;
        for (int k0 = 0; k0 < K; k0 += BK) {
            if (k0 + BK < K) load(k0 + BK, b ^ 1);
#pragma unroll
            for (int k = 0; k < BK; k++) {
                float ra[TM], rb[TN];
#pragma unroll
                for (int i = 0; i < TM; i++) ra[i] = As[b][k][ty * TM + i];
#pragma unroll
                for (int j = 0; j < TN; j++) rb[j] = Bs[b][k][tx * TN + j];
#pragma unroll
                for (int i = 0; i < TM; i++)
#pragma unroll
                    for (int j = 0; j < TN; j++) acc[i][j] += ra[i] * rb[j];
            }
            __syncthreads();
            b ^= 1;
        }
#pragma unroll
        for (int i = 0; i < TM; i++)
#pragma unroll
            for (int j = 0; j < TN; j++) {
                float *c = &C[(row + ty * TM + i) * N + col + tx * TN + j];
                *c = alpha * acc[i][j] + beta * *c;
            }
    }
};

//! sgemm_double 4,4 128 | f32:65536:-1:1 | f32:65536:-1:1 | inout f32:65536:-1:1 | s s32 256 | s s32 256 | s f32 1.25 | s f32 0.5
extern "C" __global__ void __launch_bounds__(128) sgemm_double(const float *A, const float *B, float *C, int N, int K, float alpha, float beta)
{
    Gemm<64, 64, 16, 8, 4>::run(A, B, C, N, K, alpha, beta);
}

//! sgemm_skinny 8,2 64 | f32:65536:-1:1 | f32:524288:-1:1 | inout f32:16384:-1:1 | s s32 256 | s s32 1024 | s f32 1 | s f32 0
extern "C" __global__ void sgemm_skinny(const float *A, const float *B, float *C, int N, int K, float alpha, float beta)
{
    Gemm<32, 32, 32, 4, 4>::run(A, B, C, N, K, alpha, beta);
}

//! matvec_quads 256 128 | f32:524288:-1:1 | f32:512:-1:1 | out f32:1024
// A warp a row, float4 loads, the vector in shared memory.
extern "C" __global__ void matvec_quads(const float4 *__restrict__ A, const float4 *__restrict__ x, float *__restrict__ y)
{
    __shared__ float4 xs[128];
    xs[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    float s = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        float4 a = __ldg(&A[row * 128 + k * 32 + lane]), b = xs[k * 32 + lane];
        s = fmaf(a.x, b.x, s), s = fmaf(a.y, b.y, s), s = fmaf(a.z, b.z, s), s = fmaf(a.w, b.w, s);
    }
    s = warp_sum(s);
    if (lane == 0) y[row] = s;
}
