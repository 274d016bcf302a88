/* commonplace.cu - the everyday kernels that every CUDA programmer writes once: vector updates, transposes, reductions, stencils, products, scans, histograms, sorts, filters. */
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cstdint>
#define K extern "C" __global__ void

//! halves_scaled_and_added_by_eights 264 256 | s s32 196608 | s f32 0.75 | f16:1572864:-1:1 | inout f16:1572864:-1:1
K halves_scaled_and_added_by_eights(int n8, float alpha, const uint4 *__restrict__ x, uint4 *__restrict__ y)
{
    const __half2 a2 = __float2half2_rn(alpha);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n8; i += gridDim.x * blockDim.x) {
        uint4 xv = __ldg(x + i);
        uint4 yv = y[i];
        const __half2 *xh = reinterpret_cast<const __half2 *>(&xv);
        __half2 *yh = reinterpret_cast<__half2 *>(&yv);
#pragma unroll
        for (int j = 0; j < 4; ++j) yh[j] = __hfma2(a2, xh[j], yh[j]);
        y[i] = yv;
    }
}

//! longs_scaled_on_a_plane_with_edges 21,40 24,10 | s64:198500:-1000000000:1000000000 | inout s64:198500 | s s64 -37 | s s32 500 | s s32 397
K longs_scaled_on_a_plane_with_edges(long long *x, long long *y, long long a, int width, int height)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col >= width || row >= height) return;
    int id = row * width + col;
    y[id] = a * x[id] + y[id];
}

//! shorts_turned_in_tiles_of_sixty_four 12,16 32,8 | s16:786432 | out s16:786432 | s s32 1024 | s s32 768
constexpr int TT = 64;
K __launch_bounds__(256) shorts_turned_in_tiles_of_sixty_four(const short *__restrict__ src, short *__restrict__ dst, int rows, int cols)
{
    __shared__ __align__(4) short tile[TT][TT + 2];
    const int x0 = blockIdx.x * TT, y0 = blockIdx.y * TT;
#pragma unroll
    for (int r = threadIdx.y; r < TT; r += 8) {
        short2 v = *reinterpret_cast<const short2 *>(&src[(y0 + r) * cols + x0 + 2 * threadIdx.x]);
        *reinterpret_cast<short2 *>(&tile[r][2 * threadIdx.x]) = v;
    }
    __syncthreads();
#pragma unroll
    for (int c = threadIdx.y; c < TT; c += 8) {
        short2 v = make_short2(tile[2 * threadIdx.x][c], tile[2 * threadIdx.x + 1][c]);
        *reinterpret_cast<short2 *>(&dst[(x0 + c) * rows + y0 + 2 * threadIdx.x]) = v;
    }
}

//! doubles_turned_plainly_with_odd_sides 38,21 16,16 | f64:199800:-10:10 | out f64:199800 | s s32 333 | s s32 600
K doubles_turned_plainly_with_odd_sides(const double *A, double *At, int rows, int cols)
{
    int j = blockIdx.x * 16 + threadIdx.x;
    int i = blockIdx.y * 16 + threadIdx.y;
    if (i < rows && j < cols)
        At[j * rows + i] = A[i * cols + j];
}

//! least_and_most_of_longs_with_places 132 192 | s64:300000 | s u32 300000 | out s64:264 | out u32:264
struct Spot { long long value; unsigned where; };
struct Smaller { static __device__ bool better(const Spot &a, const Spot &b) { return a.value < b.value || (a.value == b.value && a.where < b.where); } };
struct Larger { static __device__ bool better(const Spot &a, const Spot &b) { return a.value > b.value || (a.value == b.value && a.where < b.where); } };
template <class Op> __device__ Spot warp_pick(Spot s)
{
    for (int d = 16; d >= 1; d >>= 1) {
        Spot o;
        o.value = __shfl_down_sync(~0u, s.value, d);
        o.where = __shfl_down_sync(~0u, s.where, d);
        if (Op::better(o, s)) s = o;
    }
    return s;
}
template <class Op, int WARPS> __device__ void block_pick(Spot s, Spot *room, long long *value, unsigned *where)
{
    s = warp_pick<Op>(s);
    if (threadIdx.x % 32 == 0) room[threadIdx.x / 32] = s;
    __syncthreads();
    if (threadIdx.x == 0) {
        Spot best = room[0];
        for (int w = 1; w < WARPS; ++w)
            if (Op::better(room[w], best)) best = room[w];
        *value = best.value;
        *where = best.where;
    }
    __syncthreads();
}
K least_and_most_of_longs_with_places(const long long *data, unsigned n, long long *values, unsigned *places)
{
    __shared__ Spot room[6];
    unsigned first = blockIdx.x * blockDim.x + threadIdx.x;
    Spot lo{data[first], first}, hi = lo;
    for (unsigned i = first + gridDim.x * blockDim.x; i < n; i += gridDim.x * blockDim.x) {
        Spot s{data[i], i};
        if (Smaller::better(s, lo)) lo = s;
        if (Larger::better(s, hi)) hi = s;
    }
    block_pick<Smaller, 6>(lo, room, values + 2 * blockIdx.x, places + 2 * blockIdx.x);
    block_pick<Larger, 6>(hi, room, values + 2 * blockIdx.x + 1, places + 2 * blockIdx.x + 1);
}

//! bytes_and_their_squares_added_by_dp4a 200 128 | u8:4194304 | zero u64:2 | s s32 262144
K bytes_and_their_squares_added_by_dp4a(const uint4 *bytes, unsigned long long *sums, int count)
{
    unsigned sum = 0, squares = 0;
    const unsigned ones = 0x01010101u;
    int stride = gridDim.x * blockDim.x;
#pragma unroll 4
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        uint4 q = bytes[i];
        sum = __dp4a(q.x, ones, sum);
        sum = __dp4a(q.y, ones, sum);
        sum = __dp4a(q.z, ones, sum);
        sum = __dp4a(q.w, ones, sum);
        squares = __dp4a(q.x, q.x, squares);
        squares = __dp4a(q.y, q.y, squares);
        squares = __dp4a(q.z, q.z, squares);
        squares = __dp4a(q.w, q.w, squares);
    }
    sum = __reduce_add_sync(0xffffffff, sum);
    squares = __reduce_add_sync(0xffffffff, squares);
    if ((threadIdx.x & 31) == 0) {
        atomicAdd(&sums[0], (unsigned long long)sum);
        atomicAdd(&sums[1], (unsigned long long)squares);
    }
}

//! line_of_doubles_smoothed_by_eleven 300 160 | f64:240010:-1:1 | out f64:240000
__constant__ double smooth_weights[11] = {0.0093, 0.028, 0.0656, 0.121, 0.1747, 0.2028, 0.1747, 0.121, 0.0656, 0.028, 0.0093};
#define RADIUS 5
#define PER_THREAD 5
#define LINE_BLOCK 160
K line_of_doubles_smoothed_by_eleven(const double *in, double *out)
{
    __shared__ double temp[LINE_BLOCK * PER_THREAD + 2 * RADIUS];
    int start = blockIdx.x * LINE_BLOCK * PER_THREAD;
    for (int i = threadIdx.x; i < LINE_BLOCK * PER_THREAD + 2 * RADIUS; i += LINE_BLOCK)
        temp[i] = in[start + i];
    __syncthreads();

    // every thread makes its outputs one block width apart so that stores stay together
    for (int k = 0; k < PER_THREAD; k++) {
        int l = k * LINE_BLOCK + threadIdx.x;
        double result = 0;
        for (int offset = -RADIUS; offset <= RADIUS; offset++)
            result += temp[l + RADIUS + offset] * smooth_weights[offset + RADIUS];
        out[start + l] = result;
    }
}

//! warm_plate_marched_down_with_lane_neighbours 22,8 96 | f32:545412:0:100 | out f32:545412 | s s32 2114 | s f32 0.2
K warm_plate_marched_down_with_lane_neighbours(const float *__restrict__ u, float *__restrict__ v, int pitch, float k)
{
    constexpr int ROWS = 32;
    const int lane = threadIdx.x & 31;
    const int x = 1 + blockIdx.x * 96 + threadIdx.x;
    int at = (1 + blockIdx.y * ROWS) * pitch + x;
    float north = u[at - pitch], here = u[at];
#pragma unroll 4
    for (int r = 0; r < ROWS; ++r, at += pitch) {
        float south = u[at + pitch];
        float west = __shfl_up_sync(0xffffffffu, here, 1);
        float east = __shfl_down_sync(0xffffffffu, here, 1);
        if (lane == 0) west = u[at - 1];
        if (lane == 31) east = u[at + 1];
        v[at] = fmaf(k, (north + south) + (west + east) - 4.f * here, here);
        north = here;
        here = south;
    }
}

//! box_of_nineteen_points_untiled 10,10,10 10,6,4 | f32:240000:-1:1 | out f32:240000 | s s32 100 | s s32 60 | s s32 40
#define AT(i, j, k) (((k) * ny + (j)) * nx + (i))
K box_of_nineteen_points_untiled(float *old, float *fresh, int nx, int ny, int nz)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    int k = blockIdx.z * blockDim.z + threadIdx.z;
    if (i == 0 || j == 0 || k == 0 || i == nx - 1 || j == ny - 1 || k == nz - 1) {
        fresh[AT(i, j, k)] = old[AT(i, j, k)];
        return;
    }
    float faces = old[AT(i - 1, j, k)] + old[AT(i + 1, j, k)] + old[AT(i, j - 1, k)] + old[AT(i, j + 1, k)] + old[AT(i, j, k - 1)] + old[AT(i, j, k + 1)];
    float edges = 0;
    for (int s = -1; s <= 1; s += 2)
        for (int t = -1; t <= 1; t += 2)
            edges += old[AT(i + s, j + t, k)] + old[AT(i + s, j, k + t)] + old[AT(i, j + s, k + t)];
    fresh[AT(i, j, k)] = (2.0f * faces + edges - 24.0f * old[AT(i, j, k)]) / 6.0f;
}
#undef AT

//! shorts_multiplied_plainly_rows_by_columns 11,9 20,20 | s16:27000 | s16:33000 | out s32:39600 | s s32 180 | s s32 220 | s s32 150
K shorts_multiplied_plainly_rows_by_columns(const int16_t *a, const int16_t *b, int *c, int M, int N, int Kdim)
{
    int row = threadIdx.y + blockDim.y * blockIdx.y;
    int col = threadIdx.x + blockDim.x * blockIdx.x;
    if (row < M && col < N) {
        unsigned acc = 0;   // wraps
        int p = 0;
        while (p < Kdim) {
            acc += (unsigned)(a[row * Kdim + p] * b[p * N + col]);
            p++;
        }
        c[row * N + col] = (int)acc;
    }
}

//! product_96_by_64_fetched_while_multiplying 11,6 128 | f32:73728:-1:1 | f32:90112:-1:1 | out f32:405504 | s s32 704 | s s32 128
template <int BM, int BN, int BK> struct Stage {
    float a[BM][BK + 4];
    float b[BK][BN];
};
K __launch_bounds__(128) product_96_by_64_fetched_while_multiplying(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int N, int Kd)
{
    constexpr int BM = 96, BN = 64, BK = 16, TM = 6;
    __shared__ __align__(16) Stage<BM, BN, BK> stage[2];
    const int tid = threadIdx.x, tx = tid & 7, ty = tid >> 3;
    const float *Ab = A + blockIdx.y * BM * Kd, *Bb = B + blockIdx.x * BN;

    auto fetch = [&](int s, int k0) {
#pragma unroll
        for (int q = 0; q < 3; ++q) {
            int v = tid + q * 128, r = v >> 2, c = (v & 3) * 4;
            __pipeline_memcpy_async(&stage[s].a[r][c], Ab + r * Kd + k0 + c, 16);
        }
#pragma unroll
        for (int q = 0; q < 2; ++q) {
            int v = tid + q * 128, r = v >> 4, c = (v & 15) * 4;
            __pipeline_memcpy_async(&stage[s].b[r][c], Bb + (k0 + r) * N + c, 16);
        }
        __pipeline_commit();
    };

    float acc[TM][8] = {};
    fetch(0, 0);
    int now = 0;
    for (int k0 = 0; k0 < Kd; k0 += BK) {
        __pipeline_wait_prior(0);
        __syncthreads();
        if (k0 + BK < Kd) fetch(now ^ 1, k0 + BK);
        const auto &S = stage[now];
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            float fa[TM];
            float4 lo = *reinterpret_cast<const float4 *>(&S.b[k][tx * 4]);
            float4 hi = *reinterpret_cast<const float4 *>(&S.b[k][32 + tx * 4]);
#pragma unroll
            for (int i = 0; i < TM; ++i) fa[i] = S.a[ty * TM + i][k];
#pragma unroll
            for (int i = 0; i < TM; ++i) {
                acc[i][0] += fa[i] * lo.x;
                acc[i][1] += fa[i] * lo.y;
                acc[i][2] += fa[i] * lo.z;
                acc[i][3] += fa[i] * lo.w;
                acc[i][4] += fa[i] * hi.x;
                acc[i][5] += fa[i] * hi.y;
                acc[i][6] += fa[i] * hi.z;
                acc[i][7] += fa[i] * hi.w;
            }
        }
        now ^= 1;
    }
    float *Cb = C + (blockIdx.y * BM + ty * TM) * N + blockIdx.x * BN;
#pragma unroll
    for (int i = 0; i < TM; ++i) {
        *reinterpret_cast<float4 *>(Cb + i * N + tx * 4) = make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
        *reinterpret_cast<float4 *>(Cb + i * N + 32 + tx * 4) = make_float4(acc[i][4], acc[i][5], acc[i][6], acc[i][7]);
    }
}

//! half_matrix_and_vector_two_rows_a_warp 132 128 | f16:1081344:-1:1 | f16:1024:-1:1 | out f32:1056 | s s32 1024
__device__ __forceinline__ float dot_of_eight(uint4 p, uint4 q, float acc)
{
    const __half2 *a = (const __half2 *)&p, *b = (const __half2 *)&q;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        float2 u = __half22float2(a[i]), v = __half22float2(b[i]);
        acc = fmaf(u.x, v.x, acc);
        acc = fmaf(u.y, v.y, acc);
    }
    return acc;
}
K half_matrix_and_vector_two_rows_a_warp(const __half *__restrict__ mat, const __half *__restrict__ vec, float *__restrict__ res, int cols)
{
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    int chunks = cols >> 3;
    const uint4 *r0 = (const uint4 *)(mat + (size_t)(2 * warp) * cols);
    const uint4 *r1 = r0 + chunks;
    const uint4 *x = (const uint4 *)vec;
    float s0 = 0.f, s1 = 0.f;
#pragma unroll 2
    for (int c = lane; c < chunks; c += 32) {
        uint4 xv = __ldg(x + c);
        s0 = dot_of_eight(__ldcs(r0 + c), xv, s0);
        s1 = dot_of_eight(__ldcs(r1 + c), xv, s1);
    }
#pragma unroll
    for (int m = 16; m; m >>= 1) {
        s0 += __shfl_xor_sync(0xffffffffu, s0, m);
        s1 += __shfl_xor_sync(0xffffffffu, s1, m);
    }
    if (lane < 2) res[2 * warp + lane] = lane ? s1 : s0;
}

//! columns_of_doubles_dotted_in_eight_strips 33 32,8 | f64:540672:-1:1 | f64:512:-1:1 | inout f64:1056:-1:1 | s s32 512 | s s32 1056 | s f64 1.5 | s f64 0.5
K columns_of_doubles_dotted_in_eight_strips(const double *A, const double *x, double *y, int m, int n, double alpha, double beta)
{
    __shared__ double part[8][33];
    const int col = blockIdx.x * 32 + threadIdx.x;
    double sum = 0.0;
    for (int row = threadIdx.y; row < m; row += 8) sum += A[(size_t)row * n + col] * x[row];
    part[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0) {
        for (int s = 1; s < 8; s++) sum += part[s][threadIdx.x];
        y[col] = alpha * sum + beta * y[col];
    }
}

//! totals_before_each_word_seven_a_thread 96 160 | s32:107520 | out s64:107520 | out s64:96
K totals_before_each_word_seven_a_thread(const int *in, long long *out, long long *totals)
{
    const int ITEMS = 7, THREADS = 160, WARPS = THREADS / 32;
    __shared__ long long buf[ITEMS * THREADS];
    __shared__ long long warp_total[WARPS];
    const int base = blockIdx.x * ITEMS * THREADS, t = threadIdx.x, lane = t % 32, w = t / 32;

#pragma unroll
    for (int i = 0; i < ITEMS; ++i) buf[i * THREADS + t] = in[base + i * THREADS + t];
    __syncthreads();

    long long mine[ITEMS], sum = 0;
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
        mine[i] = sum;
        sum += buf[t * ITEMS + i];
    }
    long long incl = sum;
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
        long long up = __shfl_up_sync(0xffffffff, incl, d);
        if (lane >= d) incl += up;
    }
    if (lane == 31) warp_total[w] = incl;
    __syncthreads();
    long long before = incl - sum;
    for (int i = 0; i < w; ++i) before += warp_total[i];
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) buf[t * ITEMS + i] = before + mine[i];
    if (t == THREADS - 1) totals[blockIdx.x] = before + sum;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) out[base + i * THREADS + t] = buf[i * THREADS + t];
}

//! joint_counts_of_two_pictures_packed_in_pairs 66 512 | u8:1048576 | u8:1048576 | zero u32:256 | s s32 262144
K joint_counts_of_two_pictures_packed_in_pairs(const uchar4 *p, const uchar4 *q, unsigned *joint, int n4)
{
    __shared__ unsigned packed[2][128];   // two sixteen-bit counters to a word, two copies
    if (threadIdx.x < 256) packed[threadIdx.x >> 7][threadIdx.x & 127] = 0;
    __syncthreads();
    unsigned *own = packed[(threadIdx.x >> 5) & 1];
    auto put = [own](unsigned char a, unsigned char b) {
        unsigned bin = (a >> 4) * 16 + (b >> 4);
        atomicAdd(own + (bin >> 1), (bin & 1) ? 0x10000u : 1u);
    };
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n4; i += blockDim.x * gridDim.x) {
        uchar4 a = p[i], b = q[i];
        put(a.x, b.x);
        put(a.y, b.y);
        put(a.z, b.z);
        put(a.w, b.w);
    }
    __syncthreads();
    if (threadIdx.x >= 128) return;
    unsigned u = packed[0][threadIdx.x], v = packed[1][threadIdx.x];
    unsigned even = (u & 0xffff) + (v & 0xffff), odd = (u >> 16) + (v >> 16);
    if (even) atomicAdd(&joint[2 * threadIdx.x], even);
    if (odd) atomicAdd(&joint[2 * threadIdx.x + 1], odd);
}

//! matrix_kept_by_diagonals_times_vector 129 256 | s s32 33000 | s s32 13 | s32:13:-700:700 | f32:429000:-1:1 | f32:33000:-1:1 | out f32:33000
K matrix_kept_by_diagonals_times_vector(const int num_rows, const int num_diags, const int *__restrict__ offsets, const float *__restrict__ data, const float *__restrict__ x, float *__restrict__ y)
{
    int row = blockDim.x * blockIdx.x + threadIdx.x;
    if (row < num_rows) {
        float dot = 0;
        for (int n = 0; n < num_diags; n++) {
            int col = row + __ldg(&offsets[n]);
            float val = data[num_rows * n + row];
            if (col >= 0 && col < num_rows) dot += val * __ldg(&x[col]);
        }
        y[row] = dot;
    }
}

//! edges_tried_for_the_next_level_in_bits 128 1024 | u32:262144:0:20000 | s u32 131000 | u32:625 | u32:625 | zero u32:625 | zero u32:1
static __device__ bool bit_of(const uint32_t *set, uint32_t v) { return (set[v / 32] >> (v % 32)) & 1; }
K edges_tried_for_the_next_level_in_bits(const uint2 *edges, uint32_t count, const uint32_t *front, const uint32_t *seen, uint32_t *next, uint32_t *found)
{
    uint32_t e = blockIdx.x * blockDim.x + threadIdx.x;
    bool first = false;
    if (e < count) {
        uint2 edge = edges[e];
        if (bit_of(front, edge.x) && !bit_of(seen, edge.y)) {
            uint32_t mask = 1u << (edge.y % 32);
            first = !(atomicOr(&next[edge.y / 32], mask) & mask);
        }
    }
    int fresh = __syncthreads_count(first);
    if (threadIdx.x == 0 && fresh) atomicAdd(found, (uint32_t)fresh);
}

//! doubles_merged_by_crossing_diagonals 40 256 | f64:51200:-100:100 | out f64:51200
template <typename T> __device__ int crossing(const T *a, int na, const T *b, int nb, int diag)
{
    int lo = max(0, diag - nb), hi = min(diag, na);
    while (lo < hi) {
        int mid = (lo + hi) >> 1;
        if (a[mid] <= b[diag - 1 - mid]) lo = mid + 1;
        else hi = mid;
    }
    return lo;
}
template <typename T, int VT> __device__ void sort_few(T (&v)[VT])
{
#pragma unroll
    for (int pass = 0; pass < VT; ++pass)
#pragma unroll
        for (int i = pass & 1; i + 1 < VT; i += 2)
            if (v[i + 1] < v[i]) {
                T t = v[i];
                v[i] = v[i + 1];
                v[i + 1] = t;
            }
}
K doubles_merged_by_crossing_diagonals(const double *in, double *out)
{
    constexpr int VT = 5, NT = 256, NV = VT * NT;
    __shared__ double keys[NV];
    const int tid = threadIdx.x;
    in += blockIdx.x * NV;
    out += blockIdx.x * NV;
    for (int i = tid; i < NV; i += NT) keys[i] = in[i];
    __syncthreads();
    double v[VT];
#pragma unroll
    for (int i = 0; i < VT; ++i) v[i] = keys[VT * tid + i];
    sort_few<double, VT>(v);
#pragma unroll
    for (int i = 0; i < VT; ++i) keys[VT * tid + i] = v[i];   // nobody else reads or writes these five
    __syncthreads();

    for (int width = 1; width < NT; width *= 2) {
        int first = tid & ~(2 * width - 1);
        const double *a = keys + first * VT, *b = a + width * VT;
        int n = width * VT, diag = (tid - first) * VT;
        int ai = crossing(a, n, b, n, diag), bi = diag - ai;
#pragma unroll
        for (int i = 0; i < VT; ++i) {
            bool from_a = bi >= n || (ai < n && a[ai] <= b[bi]);
            v[i] = from_a ? a[ai] : b[bi];
            if (from_a) ++ai;
            else ++bi;
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < VT; ++i) keys[VT * tid + i] = v[i];
        __syncthreads();
    }
    for (int i = tid; i < NV; i += NT) out[i] = keys[i];
}

//! samples_within_band_kept_in_order 150 224 | f32:201600:-1:1 | s f32 -0.25 | s f32 0.6 | out f32:201600 | out u32:201600 | out u32:150
K samples_within_band_kept_in_order(const float *__restrict__ in, float lo, float hi, float *__restrict__ kept, unsigned *__restrict__ index, unsigned *__restrict__ counts)
{
    __shared__ unsigned per_warp[7];
    const unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5, below = (1u << lane) - 1;
    const unsigned start = blockIdx.x * (224 * 6);
    auto keep = [=](float v) { return v > lo && v < hi; };
    unsigned base = 0;
    for (int round = 0; round < 6; round++) {
        unsigned i = start + round * 224 + threadIdx.x;
        float v = in[i];
        unsigned votes = __ballot_sync(0xffffffffu, keep(v));
        if (lane == 0) per_warp[warp] = __popc(votes);
        __syncthreads();
        unsigned place = base;
        unsigned total = 0;
#pragma unroll
        for (unsigned w = 0; w < 7; w++) {
            if (w < warp) place += per_warp[w];
            total += per_warp[w];
        }
        if (keep(v)) {
            place += __popc(votes & below);
            kept[start + place] = v;
            index[start + place] = i;
        }
        base += total;
        __syncthreads();
    }
    if (threadIdx.x == 0) counts[blockIdx.x] = base;
}

//! three_planes_convolved_into_eight_at_once 4,16 32,8 | f32:52272:0:1 | f32:600:-0.2:0.2 | f32:8:-1:1 | out f32:131072
K three_planes_convolved_into_eight_at_once(const float *__restrict__ image, const float *__restrict__ filters, const float *__restrict__ bias, float *__restrict__ maps)
{
    const int OC = 8, IC = 3, R = 5, W = 132, OW = 128;
    __shared__ float f[IC * R * R][OC];
    int lin = threadIdx.y * 32 + threadIdx.x;
    for (int i = lin; i < OC * IC * R * R; i += 256) f[i % (IC * R * R)][i / (IC * R * R)] = filters[i];
    __syncthreads();
    int ox = blockIdx.x * 32 + threadIdx.x, oy = blockIdx.y * 8 + threadIdx.y;
    float acc[OC];
    for (int o = 0; o < OC; o++) acc[o] = bias[o];
    for (int c = 0; c < IC; c++)
        for (int r = 0; r < R; r++) {
            const float *line = image + (c * W + oy + r) * W + ox;
#pragma unroll
            for (int s = 0; s < R; s++) {
                float p = __ldg(line + s);
#pragma unroll
                for (int o = 0; o < OC; o++) acc[o] += p * f[(c * R + r) * R + s][o];
            }
        }
    for (int o = 0; o < OC; o++) maps[(o * OW + oy) * OW + ox] = fmaxf(acc[o], 0.f);
}

//! greatest_row_of_magnitudes_in_double 134 32,3 | f64:120400:-5:5 | out f64:400 | zero u64:1 | s s32 400 | s s32 301
K greatest_row_of_magnitudes_in_double(const double *a, double *row_sums, unsigned long long *norm, int rows, int cols)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;   // the whole warp leaves
    double s = 0;
    for (int c = threadIdx.x; c < cols; c += warpSize) s += fabs(a[row * cols + c]);
    for (int d = warpSize / 2; d > 0; d /= 2) s += __shfl_down_sync(0xffffffff, s, d);
    if (threadIdx.x == 0) {
        row_sums[row] = s;
        // bits of doubles that are not negative are ordered as the doubles are
        atomicMax(norm, (unsigned long long)__double_as_longlong(s));
    }
}

//! manhattan_distances_of_byte_vectors_tiled 16,24 32,16 | u32:6144 | u32:8192 | out u16:196608 | s s32 512
K __launch_bounds__(512, 2) manhattan_distances_of_byte_vectors_tiled(const unsigned *__restrict__ queries, const unsigned *__restrict__ base, unsigned short *__restrict__ dist, int nbase)
{
    constexpr int WORDS = 16;
    __shared__ unsigned q[16][WORDS];
    __shared__ unsigned b[32][WORDS + 1];
    const int t = threadIdx.y * 32 + threadIdx.x;
    const int q0 = blockIdx.y * 16, b0 = blockIdx.x * 32;
    if (t < 16 * WORDS) q[t / WORDS][t % WORDS] = queries[q0 * WORDS + t];
    b[t / WORDS][t % WORDS] = base[b0 * WORDS + t];
    __syncthreads();
    unsigned d = 0;
#pragma unroll
    for (int w = 0; w < WORDS; ++w) d += __vsadu4(q[threadIdx.y][w], b[threadIdx.x][w]);
    dist[(q0 + threadIdx.y) * nbase + b0 + threadIdx.x] = (unsigned short)d;
}

//! pyramid_level_of_grey_bytes_halved 8,32 32,6 | u8:196608 | out u8:49152 | s s32 512 | s s32 384
struct Picture {
    const unsigned char *pixels;
    int w, h;
};
static __device__ __noinline__ int pixel_near(const Picture &im, int x, int y)
{
    if (x < 0) x = 0;
    if (y < 0) y = 0;
    if (x >= im.w) x = im.w - 1;
    if (y >= im.h) y = im.h - 1;
    return im.pixels[y * im.w + x];
}
K pyramid_level_of_grey_bytes_halved(const unsigned char *src, unsigned char *dst, int w, int h)
{
    Picture im;
    im.pixels = src;
    im.w = w;
    im.h = h;
    const int weight[5] = {1, 4, 6, 4, 1};
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int sum = 0;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++)
            sum += weight[dy + 2] * weight[dx + 2] * pixel_near(im, 2 * x + dx, 2 * y + dy);
    dst[y * (w / 2) + x] = (sum + 128) / 256;
}

//! parcels_gathered_and_dropped_at_doors 100 352 | s32:50000:-1000:1000 | u32:110000:0:50000 | u16:110000:0:4096 | zero s64:4096 | s s32 110000
K parcels_gathered_and_dropped_at_doors(const int *parcel, const unsigned *from, const unsigned short *door, long long *pile, int n)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    while (i < n) {
        long long weight = parcel[from[i]];
        if (weight != 0)
            atomicAdd((unsigned long long *)&pile[door[i]], (unsigned long long)weight);
        i += gridDim.x * blockDim.x;
    }
}
