/* variants.cu - dense classics in less usual variants: products, transposes, sums, scans, histograms, norms, convolutions, pooling, sorts. */
#include <cuda_fp16.h>
#include <cstdint>
#define K extern "C" __global__ void

//! sgemm_64_double_buffered_with_register_fetch 12,12 256 | f32:49152:-1:1 | f32:49152:-1:1 | out f32:589824 | s s32 768 | s s32 64
K __launch_bounds__(256) sgemm_64_double_buffered_with_register_fetch(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int N, int depth)
{
    __shared__ __align__(16) float As[2][16][68];
    __shared__ __align__(16) float Bs[2][16][64];
    const int tid = threadIdx.x;
    const int tx = tid & 15, ty = tid >> 4;
    const int arow = tid >> 2, acol = (tid & 3) * 4;
    const int brow = tid >> 4, bcol = (tid & 15) * 4;
    const float *Ap = A + (blockIdx.y * 64 + arow) * depth + acol;
    const float *Bp = B + brow * N + blockIdx.x * 64 + bcol;

    float acc[4][4] = {};
    float4 ra = *reinterpret_cast<const float4 *>(Ap);
    float4 rb = *reinterpret_cast<const float4 *>(Bp);
    As[0][acol + 0][arow] = ra.x;
    As[0][acol + 1][arow] = ra.y;
    As[0][acol + 2][arow] = ra.z;
    As[0][acol + 3][arow] = ra.w;
    *reinterpret_cast<float4 *>(&Bs[0][brow][bcol]) = rb;
    __syncthreads();

    int buf = 0;
    for (int k0 = 0; k0 < depth; k0 += 16) {
        const bool more = k0 + 16 < depth;
        if (more) {
            ra = *reinterpret_cast<const float4 *>(Ap + k0 + 16);
            rb = *reinterpret_cast<const float4 *>(Bp + (k0 + 16) * N);
        }
#pragma unroll
        for (int k = 0; k < 16; ++k) {
            const float4 a = *reinterpret_cast<const float4 *>(&As[buf][k][ty * 4]);
            const float4 b = *reinterpret_cast<const float4 *>(&Bs[buf][k][tx * 4]);
            const float av[4] = {a.x, a.y, a.z, a.w}, bv[4] = {b.x, b.y, b.z, b.w};
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j) acc[i][j] += av[i] * bv[j];
        }
        if (more) {
            buf ^= 1;
            As[buf][acol + 0][arow] = ra.x;
            As[buf][acol + 1][arow] = ra.y;
            As[buf][acol + 2][arow] = ra.z;
            As[buf][acol + 3][arow] = ra.w;
            *reinterpret_cast<float4 *>(&Bs[buf][brow][bcol]) = rb;
            __syncthreads();
        }
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        float4 r = make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
        *reinterpret_cast<float4 *>(&C[(blockIdx.y * 64 + ty * 4 + i) * N + blockIdx.x * 64 + tx * 4]) = r;
    }
}

//! sgemm_128_both_operands_k_major 7,8 256 | f32:40960:-1:1 | f32:35840:-1:1 | out f32:917504 | s s32 1024 | s s32 896 | s s32 40 | s f32 0.5
K __launch_bounds__(256, 2) sgemm_128_both_operands_k_major(const float *At, const float *B, float *C, int m, int n, int k, float alpha)
{
    /* At is k by m, B is k by n, C is m by n */
    __shared__ float4 sa[8][32], sb[8][32];
    int t = threadIdx.x, r = t / 32, c = t % 32;
    int tx = t % 16, ty = t / 16;
    int m0 = blockIdx.y * 128, n0 = blockIdx.x * 128;
    float c00[8][8];
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) c00[i][j] = 0.f;

    for (int kk = 0; kk < k; kk += 8) {
        sa[r][c] = __ldg((const float4 *)(At + (kk + r) * m + m0) + c);
        sb[r][c] = __ldg((const float4 *)(B + (kk + r) * n + n0) + c);
        __syncthreads();
#pragma unroll
        for (int q = 0; q < 8; q++) {
            float x[8], y[8];
            *(float4 *)&x[0] = sa[q][ty];
            *(float4 *)&x[4] = sa[q][16 + ty];
            *(float4 *)&y[0] = sb[q][tx];
            *(float4 *)&y[4] = sb[q][16 + tx];
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
                for (int j = 0; j < 8; j++) c00[i][j] = fmaf(x[i], y[j], c00[i][j]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 8; i++) {
        int row = m0 + (i < 4 ? ty * 4 + i : 64 + ty * 4 + i - 4);
        float4 lo = {alpha * c00[i][0], alpha * c00[i][1], alpha * c00[i][2], alpha * c00[i][3]};
        float4 hi = {alpha * c00[i][4], alpha * c00[i][5], alpha * c00[i][6], alpha * c00[i][7]};
        float4 *p = (float4 *)(C + row * n + n0);
        p[tx] = lo;
        p[16 + tx] = hi;
    }
}

//! hgemm_of_half2_columns_by_32 8,16 32,8 | f16:32768:0:1 | f16:32768:0:1 | out f16:262144 | s s32 512 | s s32 64
K hgemm_of_half2_columns_by_32(const __half *__restrict__ a, const __half *__restrict__ b, __half *__restrict__ c, int n, int kdim)
{
    __shared__ __half2 sa[16][33];
    __shared__ __half2 sb[16][32];
    const int t = threadIdx.y * 32 + threadIdx.x;
    const int row0 = blockIdx.y * 32;
    const int col2 = blockIdx.x * 32;
    const __half2 *a2 = (const __half2 *)a, *b2 = (const __half2 *)b;
    const int k2 = kdim / 2, n2 = n / 2;
    __half2 acc[4];
    for (int i = 0; i < 4; i++) acc[i] = __float2half2_rn(0.f);

    for (int k0 = 0; k0 < kdim; k0 += 16) {
        int r = t >> 3, kp = t & 7;
        __half2 v = a2[(row0 + r) * k2 + k0 / 2 + kp];
        sa[2 * kp][r] = __low2half2(v);
        sa[2 * kp + 1][r] = __high2half2(v);
        sb[threadIdx.y][threadIdx.x] = b2[(k0 + threadIdx.y) * n2 + col2 + threadIdx.x];
        sb[threadIdx.y + 8][threadIdx.x] = b2[(k0 + threadIdx.y + 8) * n2 + col2 + threadIdx.x];
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < 16; k++) {
            __half2 y = sb[k][threadIdx.x];
#pragma unroll
            for (int i = 0; i < 4; i++) acc[i] = __hfma2(sa[k][threadIdx.y + 8 * i], y, acc[i]);
        }
        __syncthreads();
    }
    __half2 *c2 = (__half2 *)c;
    for (int i = 0; i < 4; i++) c2[(row0 + threadIdx.y + 8 * i) * n2 + col2 + threadIdx.x] = acc[i];
}

//! igemm_dp4a_two_by_two_rescaled 12,12 16,16 | s8:98304 | s8:98304 | f32:384:0.001:0.01 | f32:384:0.001:0.01 | out f32:147456 | s s32 384 | s s32 64
K igemm_dp4a_two_by_two_rescaled(const int *__restrict__ qa, const int *__restrict__ qb, const float *__restrict__ scale_a, const float *__restrict__ scale_b, float *__restrict__ out, int n, int words)
{
    __shared__ int ta[32][17], tb[32][17];
    const int x = threadIdx.x, y = threadIdx.y;
    const int i0 = blockIdx.y * 32 + y, j0 = blockIdx.x * 32;
    int s00 = 0, s01 = 0, s10 = 0, s11 = 0;
    for (int w = 0; w < words; w += 16) {
        ta[y][x] = qa[i0 * words + w + x];
        ta[y + 16][x] = qa[(i0 + 16) * words + w + x];
        tb[y][x] = qb[(j0 + y) * words + w + x];
        tb[y + 16][x] = qb[(j0 + y + 16) * words + w + x];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; k++) {
            int a0 = ta[y][k], a1 = ta[y + 16][k], b0 = tb[x][k], b1 = tb[x + 16][k];
            s00 = __dp4a(a0, b0, s00);
            s01 = __dp4a(a0, b1, s01);
            s10 = __dp4a(a1, b0, s10);
            s11 = __dp4a(a1, b1, s11);
        }
        __syncthreads();
    }
    const float sa0 = scale_a[i0], sa1 = scale_a[i0 + 16];
    const float sb0 = scale_b[j0 + x], sb1 = scale_b[j0 + x + 16];
    out[i0 * n + j0 + x] = (float)s00 * sa0 * sb0;
    out[i0 * n + j0 + x + 16] = (float)s01 * sa0 * sb1;
    out[(i0 + 16) * n + j0 + x] = (float)s10 * sa1 * sb0;
    out[(i0 + 16) * n + j0 + x + 16] = (float)s11 * sa1 * sb1;
}

//! batch_of_twelve_square_products_in_double 264 12,12,4 | f64:152064:-1:1 | f64:152064:-1:1 | inout f64:152064:-1:1 | s f64 1.5 | s f64 0.25 | s s32 1056
K batch_of_twelve_square_products_in_double(const double *a, const double *b, double *c, double alpha, double beta, int batch)
{
    const int D = 12;
    __shared__ double sa[4][D][D + 1];
    __shared__ double sb[4][D][D];
    int i = threadIdx.y, j = threadIdx.x, z = threadIdx.z;
    int which = blockIdx.x * 4 + z;
    if (which < batch) {
        sa[z][i][j] = a[which * D * D + i * D + j];
        sb[z][i][j] = b[which * D * D + i * D + j];
    }
    __syncthreads();
    if (which >= batch) return;
    double sum = 0.0;
    for (int k = 0; k < D; k++) sum += sa[z][i][k] * sb[z][k][j];
    double *dst = &c[which * D * D + i * D + j];
    *dst = alpha * sum + beta * *dst;
}

template <typename T, int TILE, int ROWS>
struct TransposedFirst {
    static __device__ void run(const T *a, const T *b, T *c, int m, int n, int k)
    {
        __shared__ T as[TILE][TILE];
        __shared__ T bs[TILE][TILE];
        constexpr int PER = TILE / ROWS;
        const int row = blockIdx.y * TILE, col = blockIdx.x * TILE;
        T acc[PER];
#pragma unroll
        for (int p = 0; p < PER; p++) acc[p] = T(0);
        for (int k0 = 0; k0 < k; k0 += TILE) {
            for (int y = threadIdx.y; y < TILE; y += ROWS) {
                const int kk = k0 + y;
                as[y][threadIdx.x] = (kk < k && row + threadIdx.x < m) ? a[kk * m + row + threadIdx.x] : T(0);
                bs[y][threadIdx.x] = (kk < k && col + threadIdx.x < n) ? b[kk * n + col + threadIdx.x] : T(0);
            }
            __syncthreads();
#pragma unroll 8
            for (int q = 0; q < TILE; q++) {
                const T v = bs[q][threadIdx.x];
#pragma unroll
                for (int p = 0; p < PER; p++) acc[p] += as[q][threadIdx.y + p * ROWS] * v;
            }
            __syncthreads();
        }
#pragma unroll
        for (int p = 0; p < PER; p++) {
            const int r = row + threadIdx.y + p * ROWS;
            if (r < m && col + threadIdx.x < n) c[r * n + col + threadIdx.x] = acc[p];
        }
    }
};

//! gemm_first_turned_by_template_ragged 11,15 32,8 | f32:47000:-1:1 | f32:35000:-1:1 | out f32:164500 | s s32 470 | s s32 350 | s s32 100
K gemm_first_turned_by_template_ragged(const float *a, const float *b, float *c, int m, int n, int k)
{
    TransposedFirst<float, 32, 8>::run(a, b, c, m, n, k);
}

//! half_pairs_transposed_through_tiles_of_64 16,8 32,8 | f16:524288:-2:2 | out f16:524288 | s s32 1024 | s s32 512
K half_pairs_transposed_through_tiles_of_64(const __half *__restrict__ src, __half *__restrict__ dst, int width, int height)
{
    __shared__ __align__(4) __half tile[64][66];
    const int x0 = blockIdx.x * 64, y0 = blockIdx.y * 64;
    const int lane = threadIdx.x;
#pragma unroll
    for (int r = threadIdx.y; r < 64; r += 8)
        *reinterpret_cast<__half2 *>(&tile[r][2 * lane]) = *reinterpret_cast<const __half2 *>(&src[(y0 + r) * width + x0 + 2 * lane]);
    __syncthreads();
#pragma unroll
    for (int c = threadIdx.y; c < 64; c += 8) {
        __half2 pair = __halves2half2(tile[2 * lane][c], tile[2 * lane + 1][c]);
        *reinterpret_cast<__half2 *>(&dst[(x0 + c) * height + y0 + 2 * lane]) = pair;
    }
}

//! heads_and_positions_exchanged_in_vectors 192 256 | f32:393216:-1:1 | out f32:393216 | s s32 98304 | s s32 256 | s s32 12 | s s32 16
K heads_and_positions_exchanged_in_vectors(const float4 *in, float4 *out, int total, int S, int H, int D4)
{
    for (int idx = blockIdx.x * blockDim.x + threadIdx.x; idx < total; idx += gridDim.x * blockDim.x) {
        int rest = idx;
        const int d = rest % D4;
        rest /= D4;
        const int s = rest % S;
        rest /= S;
        const int h = rest % H;
        const int b = rest / H;
        out[idx] = in[((b * S + s) * H + h) * D4 + d];
    }
}

//! each_warp_transposes_its_own_tile 110 128 16896 | u32:450560 | out u32:450560 | s u32 704 | s u32 640
K each_warp_transposes_its_own_tile(const uint32_t *in, uint32_t *out, uint32_t rows, uint32_t cols)
{
    extern __shared__ uint32_t pool[];
    const uint32_t warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    uint32_t *mine = pool + warp * 32 * 33;
    const uint32_t across = cols / 32;
    const uint32_t id = blockIdx.x * (blockDim.x >> 5) + warp;
    if (id >= across * (rows / 32)) return;
    const uint32_t r0 = id / across * 32, c0 = id % across * 32;
    for (uint32_t i = 0; i < 32; i++) mine[i * 33 + lane] = in[(r0 + i) * cols + c0 + lane];
    __syncwarp();
    for (uint32_t i = 0; i < 32; i++) out[(c0 + i) * rows + r0 + lane] = mine[lane * 33 + i];
}

static __device__ __forceinline__ float warp_total(float v)
{
#pragma unroll
    for (int d = 16; d; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d);
    return v;
}

static __device__ float block_total(float v, float *slots)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    v = warp_total(v);
    if (lane == 0) slots[warp] = v;
    __syncthreads();
    v = lane < blockDim.x / 32 ? slots[lane] : 0.f;
    v = warp_total(v);
    __syncthreads();
    return v;
}

//! sum_of_squares_finished_by_the_last_block 264 256 | f32:524288:-1:1 | scratch f32:264 | scratch u32:1 | out f32:1 | s s32 131072
K sum_of_squares_finished_by_the_last_block(const float4 *__restrict__ x, float *partial, unsigned *arrived, float *result, int n4)
{
    __shared__ float slots[32];
    __shared__ bool last;
    float s = 0.f;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    while (i < n4) {
        float4 v = x[i];
        s += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
        i += gridDim.x * blockDim.x;
    }
    s = block_total(s, slots);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = s;
        __threadfence();
        last = atomicAdd(arrived, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    float total = 0.f;
    for (int b = threadIdx.x; b < gridDim.x; b += blockDim.x) total += __ldcg(&partial[b]);
    total = block_total(total, slots);
    if (threadIdx.x == 0) *result = sqrtf(total);
}

//! integer_moments_by_shuffles_and_wide_atomics 132 512 | s32:540672:-1000:1000 | zero u64:2 | s s32 540672
K __launch_bounds__(512) integer_moments_by_shuffles_and_wide_atomics(const int *v, unsigned long long *moments, int n)
{
    __shared__ long long first[16], second[16];
    long long s1 = 0, s2 = 0;
#pragma unroll 4
    for (int i = blockIdx.x * 512 + threadIdx.x; i < n; i += gridDim.x * 512) {
        const int e = v[i];
        s1 += e;
        s2 += (long long)e * e;
    }
    for (int off = 16; off > 0; off /= 2) {
        s1 += __shfl_down_sync(~0u, s1, off);
        s2 += __shfl_down_sync(~0u, s2, off);
    }
    if ((threadIdx.x & 31) == 0) {
        first[threadIdx.x >> 5] = s1;
        second[threadIdx.x >> 5] = s2;
    }
    __syncthreads();
    if (threadIdx.x < 16) {
        s1 = first[threadIdx.x];
        s2 = second[threadIdx.x];
        for (int off = 8; off > 0; off /= 2) {
            s1 += __shfl_down_sync(0xffffu, s1, off, 16);
            s2 += __shfl_down_sync(0xffffu, s2, off, 16);
        }
        if (threadIdx.x == 0) {
            atomicAdd(&moments[0], (unsigned long long)s1);
            atomicAdd(&moments[1], (unsigned long long)s2);
        }
    }
}

static __device__ __forceinline__ int scan_in_warp(int v)
{
    const int lane = threadIdx.x & 31;
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
        int o = __shfl_up_sync(0xffffffffu, v, d);
        if (lane >= d) v += o;
    }
    return v;
}

//! inclusive_scan_of_int4_by_warps_of_1024 66 1024 | s32:270336:-50:50 | out s32:270336 | out s32:66
K inclusive_scan_of_int4_by_warps_of_1024(const int4 *in, int4 *out, int *totals)
{
    __shared__ int sums[32];
    const int at = blockIdx.x * 1024 + threadIdx.x;
    const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    int4 v = in[at];
    v.y += v.x;
    v.z += v.y;
    v.w += v.z;
    const int incl = scan_in_warp(v.w);
    if (lane == 31) sums[warp] = incl;
    __syncthreads();
    if (warp == 0) sums[lane] = scan_in_warp(sums[lane]);
    __syncthreads();
    const int before = incl - v.w + (warp ? sums[warp - 1] : 0);
    v.x += before;
    v.y += before;
    v.z += before;
    v.w += before;
    out[at] = v;
    if (threadIdx.x == 1023) totals[blockIdx.x] = v.w;
}

enum : unsigned { EMPTY = 0, AGGREGATE = 1, PREFIX = 2 };

static __device__ __noinline__ unsigned look_behind(volatile unsigned long long *state, int tile)
{
    const int lane = threadIdx.x & 31;
    unsigned sum = 0;
    int at = tile - 1 - lane;
    for (;;) {
        unsigned long long w;
        do {
            w = at >= 0 ? state[at] : (unsigned long long)PREFIX << 32;
        } while (__any_sync(0xffffffffu, (unsigned)(w >> 32) == EMPTY));
        const unsigned complete = __ballot_sync(0xffffffffu, (unsigned)(w >> 32) == PREFIX);
        const int stop = complete ? __ffs(complete) - 1 : 31;
        sum += __reduce_add_sync(0xffffffffu, lane <= stop ? (unsigned)w : 0u);
        if (complete) return sum;
        at -= 32;
    }
}

//! single_pass_scan_with_warp_look_back 132 256 | u32:135168:0:100 | out u32:135168 | scratch u64:132 | scratch u32:1 | cooperative
K single_pass_scan_with_warp_look_back(const unsigned *__restrict__ in, unsigned *__restrict__ out, unsigned long long *state, unsigned *ticket)
{
    __shared__ unsigned warp_sums[8];
    __shared__ int tile_shared;
    __shared__ unsigned before_shared;
    if (threadIdx.x == 0) tile_shared = atomicAdd(ticket, 1u);
    __syncthreads();
    const int tile = tile_shared;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const uint4 v = reinterpret_cast<const uint4 *>(in)[tile * 256 + threadIdx.x];
    const unsigned mine = v.x + v.y + v.z + v.w;
    const unsigned incl = scan_in_warp(mine);
    if (lane == 31) warp_sums[warp] = incl;
    __syncthreads();
    unsigned lower = 0, total = 0;
#pragma unroll
    for (int w = 0; w < 8; w++) {
        if (w < warp) lower += warp_sums[w];
        total += warp_sums[w];
    }
    if (warp == 0) {
        volatile unsigned long long *vs = state;
        if (lane == 0) vs[tile] = (unsigned long long)(tile ? AGGREGATE : PREFIX) << 32 | total;
        unsigned before = 0;
        if (tile > 0) {
            before = look_behind(vs, tile);
            if (lane == 0) vs[tile] = (unsigned long long)PREFIX << 32 | (before + total);
        }
        if (lane == 0) before_shared = before;
    }
    __syncthreads();
    const unsigned base = before_shared + lower + incl - mine;
    reinterpret_cast<uint4 *>(out)[tile * 256 + threadIdx.x] = make_uint4(base, base + v.x, base + v.x + v.y, base + v.x + v.y + v.z);
}

//! histogram_of_bytes_eight_copies_side_by_side 132 256 | u8:1081344 | zero u32:256 | s u32 67584
K histogram_of_bytes_eight_copies_side_by_side(const uint4 *data, unsigned *hist, unsigned quads)
{
    constexpr int R = 8;
    __shared__ unsigned bins[256 * R];
    for (int i = threadIdx.x; i < 256 * R; i += blockDim.x) bins[i] = 0;
    __syncthreads();
    const unsigned copy = threadIdx.x % R;
    auto put = [&](unsigned w) {
        atomicAdd(&bins[(w & 255) * R + copy], 1u);
        atomicAdd(&bins[(w >> 8 & 255) * R + copy], 1u);
        atomicAdd(&bins[(w >> 16 & 255) * R + copy], 1u);
        atomicAdd(&bins[(w >> 24) * R + copy], 1u);
    };
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += gridDim.x * blockDim.x) {
        const uint4 q = data[i];
        put(q.x);
        put(q.y);
        put(q.z);
        put(q.w);
    }
    __syncthreads();
    unsigned sum = 0;
#pragma unroll
    for (int r = 0; r < R; r++) sum += bins[threadIdx.x * R + r];
    if (sum) atomicAdd(&hist[threadIdx.x], sum);
}

//! histogram_of_floats_in_slices_of_warps 40 512 | f32:327680:-4.5:4.5 | out u32:2560 | s f32 -4.0 | s f32 8.0 | s s32 16
K histogram_of_floats_in_slices_of_warps(const float *x, unsigned *partial, float low, float inv_width, int each)
{
    __shared__ unsigned slices[16][64];
    unsigned *mine = slices[threadIdx.x / 32];
    mine[threadIdx.x % 32] = 0;
    mine[threadIdx.x % 32 + 32] = 0;
    __syncwarp();
    const float *p = x + (size_t)blockIdx.x * blockDim.x * each + threadIdx.x;
    for (int k = 0; k < each; k++, p += blockDim.x) {
        int bin = (int)floorf((*p - low) * inv_width);
        bin = bin < 0 ? 0 : bin > 63 ? 63 : bin;
        atomicAdd(mine + bin, 1u);
    }
    __syncthreads();
    if (threadIdx.x < 64) {
        unsigned n = 0;
        for (int w = 0; w < 16; w++) n += slices[w][threadIdx.x];
        partial[blockIdx.x * 64 + threadIdx.x] = n;
    }
}

//! layernorm_of_rows_kept_in_one_float4_a_thread 264 256 | f32:270336:-3:3 | f32:1024:0.5:1.5 | f32:1024:-0.5:0.5 | out f32:270336 | out f32:264 | out f32:264 | s f32 0.00001
K layernorm_of_rows_kept_in_one_float4_a_thread(const float4 *__restrict__ x, const float4 *__restrict__ gamma, const float4 *__restrict__ beta, float4 *__restrict__ y, float *mean, float *rstd, float eps)
{
    __shared__ float slots[32];
    const int row = blockIdx.x, t = threadIdx.x;
    float4 v = x[row * 256 + t];
    const float mu = block_total(v.x + v.y + v.z + v.w, slots) * (1.f / 1024);
    v.x -= mu;
    v.y -= mu;
    v.z -= mu;
    v.w -= mu;
    const float var = block_total(v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w, slots) * (1.f / 1024);
    const float inv = rsqrtf(var + eps);
    const float4 g = gamma[t], b = beta[t];
    y[row * 256 + t] = make_float4(v.x * inv * g.x + b.x, v.y * inv * g.y + b.y, v.z * inv * g.z + b.z, v.w * inv * g.w + b.w);
    if (t == 0) {
        mean[row] = mu;
        rstd[row] = inv;
    }
}

template <int PER>
static __device__ __forceinline__ void soft_row(const float *src, float *dst, float scale)
{
    float e[PER];
    float top = -INFINITY;
#pragma unroll
    for (int i = 0; i < PER; i++) {
        e[i] = src[threadIdx.x + 32 * i] * scale;
        top = fmaxf(top, e[i]);
    }
#pragma unroll
    for (int d = 16; d; d >>= 1) top = fmaxf(top, __shfl_xor_sync(~0u, top, d));
    float sum = 0;
#pragma unroll
    for (int i = 0; i < PER; i++) {
        e[i] = __expf(e[i] - top);
        sum += e[i];
    }
    const float inv = __fdividef(1.f, warp_total(sum));
#pragma unroll
    for (int i = 0; i < PER; i++) dst[threadIdx.x + 32 * i] = e[i] * inv;
}

//! softmax_of_rows_of_160_five_a_lane 264 32,8 | f32:337920:-8:8 | out f32:337920 | s s32 2112 | s f32 0.7
K softmax_of_rows_of_160_five_a_lane(const float *in, float *out, int rows, float scale)
{
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    soft_row<5>(in + row * 160, out + row * 160, scale);
}

__constant__ float disc_of_seven[7][7] = {
    {0.f, 1.f, 2.f, 2.f, 2.f, 1.f, 0.f},
    {1.f, 3.f, 4.f, 5.f, 4.f, 3.f, 1.f},
    {2.f, 4.f, 7.f, 8.f, 7.f, 4.f, 2.f},
    {2.f, 5.f, 8.f, 9.f, 8.f, 5.f, 2.f},
    {2.f, 4.f, 7.f, 8.f, 7.f, 4.f, 2.f},
    {1.f, 3.f, 4.f, 5.f, 4.f, 3.f, 1.f},
    {0.f, 1.f, 2.f, 2.f, 2.f, 1.f, 0.f}};

//! seven_by_seven_disc_over_bytes_with_halo 16,24 32,16 | u8:196608 | out u8:196608 | s s32 512 | s s32 384 | s f32 0.00613
K seven_by_seven_disc_over_bytes_with_halo(const unsigned char *img, unsigned char *out, int w, int h, float norm)
{
    __shared__ float tile[22][38];
    const int bx = blockIdx.x * 32 - 3, by = blockIdx.y * 16 - 3;
    for (int y = threadIdx.y; y < 22; y += 16)
        for (int x = threadIdx.x; x < 38; x += 32) {
            int gx = min(max(bx + x, 0), w - 1);
            int gy = min(max(by + y, 0), h - 1);
            tile[y][x] = img[gy * w + gx];
        }
    __syncthreads();
    float s = 0;
#pragma unroll
    for (int j = 0; j < 7; j++)
#pragma unroll
        for (int i = 0; i < 7; i++) s += disc_of_seven[j][i] * tile[threadIdx.y + j][threadIdx.x + i];
    s = fminf(s * norm + 0.5f, 255.f);
    out[(by + 3 + threadIdx.y) * w + bx + 3 + threadIdx.x] = (unsigned char)s;
}

//! conv_3d_of_27_weights_into_two_channels 4,12,6 16,4,4 | f32:73728:-1:1 | f32:54:-1:1 | out f32:147456 | s s32 64 | s s32 48 | s s32 24
K conv_3d_of_27_weights_into_two_channels(const float *vol, const float *weights, float *out, int nx, int ny, int nz)
{
    __shared__ float cube[6][6][18];
    __shared__ float w[54];
    const int t = threadIdx.x + 16 * (threadIdx.y + 4 * threadIdx.z);
    const int x0 = blockIdx.x * 16, y0 = blockIdx.y * 4, z0 = blockIdx.z * 4;
    if (t < 54) w[t] = weights[t];
    for (int i = t; i < 6 * 6 * 18; i += 256) {
        const int lx = i % 18, ly = i / 18 % 6, lz = i / 108;
        const int x = x0 + lx - 1, y = y0 + ly - 1, z = z0 + lz - 1;
        float v = 0.f;
        if (x >= 0 && x < nx && y >= 0 && y < ny && z >= 0 && z < nz) v = vol[(z * ny + y) * nx + x];
        cube[lz][ly][lx] = v;
    }
    __syncthreads();
    float p = 0.f, q = 0.f;
    for (int dz = 0; dz < 3; dz++)
#pragma unroll
        for (int dy = 0; dy < 3; dy++)
#pragma unroll
            for (int dx = 0; dx < 3; dx++) {
                const float v = cube[threadIdx.z + dz][threadIdx.y + dy][threadIdx.x + dx];
                const int k = (dz * 3 + dy) * 3 + dx;
                p += w[k] * v;
                q += w[27 + k] * v;
            }
    const int o = ((z0 + threadIdx.z) * ny + y0 + threadIdx.y) * nx + x0 + threadIdx.x;
    out[o] = p;
    out[nx * ny * nz + o] = q > 0.f ? q : 0.1f * q;
}

//! max_pool_three_by_two_with_places 294 256 | f32:301056:-1:1 | out f32:75264 | out s32:75264 | s s32 75264 | s s32 112 | s s32 112 | s s32 56 | s s32 56
K max_pool_three_by_two_with_places(const float *bottom, float *top, int *mask, int count, int height, int width, int pooled_h, int pooled_w)
{
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= count) return;
    int pw = index % pooled_w;
    int ph = (index / pooled_w) % pooled_h;
    int plane = index / pooled_w / pooled_h;
    int hstart = ph * 2 - 1, wstart = pw * 2 - 1;
    int hend = min(hstart + 3, height), wend = min(wstart + 3, width);
    hstart = max(hstart, 0);
    wstart = max(wstart, 0);
    const float *slice = bottom + plane * height * width;
    float best = -3.402823466e+38f;
    int where = -1;
    for (int h = hstart; h < hend; ++h) {
        for (int w = wstart; w < wend; ++w) {
            float v = slice[h * width + w];
            if (v > best) {
                best = v;
                where = h * width + w;
            }
        }
    }
    top[index] = best;
    mask[index] = where;
}

//! gemv_turned_by_column_strips 132 32,16 | f32:1081344:-1:1 | f32:256:-1:1 | inout f32:4224:-1:1 | s s32 256 | s s32 4224 | s f32 2.0
K gemv_turned_by_column_strips(const float *__restrict__ a, const float *__restrict__ x, float *__restrict__ y, int rows, int cols, float alpha)
{
    __shared__ float part[16][33];
    const int col = blockIdx.x * 32 + threadIdx.x;
    float s = 0.f;
#pragma unroll 8
    for (int r = threadIdx.y; r < rows; r += 16) s = fmaf(a[(size_t)r * cols + col], __ldg(x + r), s);
    part[threadIdx.y][threadIdx.x] = s;
    __syncthreads();
    for (int half = 8; half; half >>= 1) {
        if (threadIdx.y < half) part[threadIdx.y][threadIdx.x] += part[threadIdx.y + half][threadIdx.x];
        __syncthreads();
    }
    if (threadIdx.y == 0) y[col] += alpha * part[0][threadIdx.x];
}

//! fir_of_33_taps_four_outputs_sliding 132 256 | f32:135168:-1:1 | f32:33:-0.2:0.2 | out f32:135168 | s s32 135168
K fir_of_33_taps_four_outputs_sliding(const float *__restrict__ signal, const float *__restrict__ taps, float *__restrict__ out, int n)
{
    constexpr int RADIUS = 16, SPAN = 1024;
    __shared__ float s[SPAN + 2 * RADIUS];
    __shared__ float h[2 * RADIUS + 1];
    const int start = blockIdx.x * SPAN - RADIUS;
    for (int i = threadIdx.x; i < SPAN + 2 * RADIUS; i += blockDim.x) {
        const int g = start + i;
        s[i] = (unsigned)g < (unsigned)n ? signal[g] : 0.f;
    }
    if (threadIdx.x <= 2 * RADIUS) h[threadIdx.x] = taps[threadIdx.x];
    __syncthreads();
    const int b = threadIdx.x * 4;
    float w0 = s[b], w1 = s[b + 1], w2 = s[b + 2];
    float4 acc = make_float4(0, 0, 0, 0);
#pragma unroll 11
    for (int k = 0; k <= 2 * RADIUS; k++) {
        const float w3 = s[b + 3 + k];
        const float c = h[k];
        acc.x += c * w0;
        acc.y += c * w1;
        acc.z += c * w2;
        acc.w += c * w3;
        w0 = w1;
        w1 = w2;
        w2 = w3;
    }
    *(float4 *)(out + blockIdx.x * SPAN + b) = acc;
}

struct KeyAndValue { uint32_t key, value; };

static __device__ __forceinline__ void exchange(KeyAndValue &a, KeyAndValue &b, bool up)
{
    if ((a.key > b.key) == up) {
        KeyAndValue t = a;
        a = b;
        b = t;
    }
}

//! bitonic_keys_with_values_2048_a_block 20 1024 | u32:40960 | iota u32:40960 | out u32:40960 | out u32:40960
K __launch_bounds__(1024) bitonic_keys_with_values_2048_a_block(const uint32_t *keys, const uint32_t *values, uint32_t *sorted, uint32_t *places)
{
    __shared__ KeyAndValue s[2048];
    const unsigned t = threadIdx.x, base = blockIdx.x * 2048;
    s[t] = {keys[base + t], values[base + t]};
    s[t + 1024] = {keys[base + t + 1024], values[base + t + 1024]};
    for (unsigned size = 2; size <= 2048; size *= 2) {
        const bool up = (t & (size / 2)) == 0;
        for (unsigned stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            const unsigned p = 2 * t - (t & (stride - 1));
            exchange(s[p], s[p + stride], up || size == 2048);
        }
    }
    __syncthreads();
    for (unsigned i = t; i < 2048; i += 1024) {
        sorted[base + i] = s[i].key;
        places[base + i] = s[i].value;
    }
}

//! short_keys_sorted_by_four_radix_rounds 144 512 | u16:73728 | out u16:73728
K short_keys_sorted_by_four_radix_rounds(const uint16_t *in, uint16_t *out)
{
    __shared__ uint16_t keys[512];
    __shared__ int counts[16 * 16]; /* by digit, then by warp */
    __shared__ int warp_sums[8];
    const int t = threadIdx.x, lane = t & 31, warp = t >> 5;
    unsigned key = in[blockIdx.x * 512 + t];
#pragma unroll 1
    for (int shift = 0; shift < 16; shift += 4) {
        if (t < 256) counts[t] = 0;
        __syncthreads();
        const unsigned digit = key >> shift & 15;
        const unsigned peers = __match_any_sync(0xffffffffu, digit);
        const int rank = __popc(peers & ((1u << lane) - 1));
        if (rank == 0) counts[digit * 16 + warp] = __popc(peers);
        __syncthreads();
        int c = 0, incl = 0;
        if (t < 256) {
            c = counts[t];
            incl = scan_in_warp(c);
            if (lane == 31) warp_sums[warp] = incl;
        }
        __syncthreads();
        if (t < 256) {
            int below = 0;
            for (int w = 0; w < warp; w++) below += warp_sums[w];
            counts[t] = below + incl - c;
        }
        __syncthreads();
        keys[counts[digit * 16 + warp] + rank] = (uint16_t)key;
        __syncthreads();
        key = keys[t];
    }
    out[blockIdx.x * 512 + t] = (uint16_t)key;
}
