/* ladders.cu - what courses climb step by step: reductions, turned matrices, bins, prefixes, convolutions and products, from the first version to the last. */
#include <cstdint>
#define K extern "C" __global__ void

//! xor_ladder_0_modulo 132 256 | u32:33792 | out u32:132
K xor_ladder_0_modulo(const uint32_t *in, uint32_t *out)
{
    __shared__ uint32_t s[256];
    unsigned t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (unsigned d = 1; d < blockDim.x; d *= 2) {
        if (t % (2 * d) == 0) s[t] ^= s[t + d] * 3;
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

//! xor_ladder_1_stride 132 256 | u32:33792 | out u32:132
K xor_ladder_1_stride(const uint32_t *in, uint32_t *out)
{
    __shared__ uint32_t s[256];
    unsigned t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (unsigned d = 1; d < blockDim.x; d *= 2) {
        unsigned i = 2 * d * t;
        if (i < blockDim.x) s[i] ^= s[i + d] * 3;
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

//! xor_ladder_2_halves 264 128 | u32:33792 | out u32:264
K xor_ladder_2_halves(const uint32_t *in, uint32_t *out)
{
    __shared__ uint32_t s[128];
    unsigned t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (unsigned d = blockDim.x / 2; d > 0; d >>= 1) {
        if (t < d) s[t] ^= s[t + d] * 3;
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

//! sum_ladder_4_last_warp_volatile 132 512 | f32:135168:-1:1 | out f32:132
// The last warp without barriers, by volatile words as the first courses had it.
__device__ void last_warp(volatile float *s, int t)
{
    s[t] += s[t + 32];
    __syncwarp();
    s[t] += s[t + 16];
    __syncwarp();
    s[t] += s[t + 8];
    __syncwarp();
    s[t] += s[t + 4];
    __syncwarp();
    s[t] += s[t + 2];
    __syncwarp();
    s[t] += s[t + 1];
}
K sum_ladder_4_last_warp_volatile(const float *in, float *out)
{
    __shared__ float s[512 + 32];
    unsigned t = threadIdx.x, i = blockIdx.x * 1024 + t;
    s[t] = in[i] + in[i + 512];
    if (t < 32) s[512 + t] = 0;
    __syncthreads();
    for (unsigned d = 256; d > 32; d >>= 1) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t < 32) last_warp(s, t);
    if (t == 0) out[blockIdx.x] = s[0];
}

template <unsigned N> __device__ float all_unrolled(float *s, unsigned t)
{
    if (N >= 1024) { if (t < 512) s[t] = fmaxf(s[t], s[t + 512]); __syncthreads(); }
    if (N >= 512) { if (t < 256) s[t] = fmaxf(s[t], s[t + 256]); __syncthreads(); }
    if (N >= 256) { if (t < 128) s[t] = fmaxf(s[t], s[t + 128]); __syncthreads(); }
    if (N >= 128) { if (t < 64) s[t] = fmaxf(s[t], s[t + 64]); __syncthreads(); }
    if (t < 32) {
        float v = fmaxf(s[t], s[t + 32]);
        for (int d = 16; d; d /= 2) v = fmaxf(v, __shfl_down_sync(~0u, v, d));
        return v;
    }
    return 0;
}
//! max_ladder_5_template_1024 66 1024 | f32:67584:-100:100 | out f32:66
K max_ladder_5_template_1024(const float *in, float *out)
{
    __shared__ float s[1024];
    unsigned t = threadIdx.x;
    s[t] = in[blockIdx.x * 1024 + t];
    __syncthreads();
    float v = all_unrolled<1024>(s, t);
    if (t == 0) out[blockIdx.x] = v;
}

//! max_ladder_6_many_a_thread 132 128 | f32:540672:-100:100 | out f32:132 | s u32 540672
K max_ladder_6_many_a_thread(const float *in, float *out, unsigned n)
{
    __shared__ float s[128];
    unsigned t = threadIdx.x, i = blockIdx.x * 256 + t;
    float v = -1e30f;
    while (i < n) {
        v = fmaxf(v, fmaxf(in[i], in[i + 128]));
        i += 256 * gridDim.x;
    }
    s[t] = v;
    __syncthreads();
    v = all_unrolled<128>(s, t);
    if (t == 0) out[blockIdx.x] = v;
}

//! arg_least_by_packed_words 132 256 | f32:270336:0:100 | zero u64:1
// Value and place in one word, whose least is found by an atomic.
K arg_least_by_packed_words(const float *x, unsigned long long *best)
{
    unsigned long long b = ~0ull;
    for (int k = 0; k < 8; k++) {
        unsigned i = (blockIdx.x * 8 + k) * 256 + threadIdx.x;
        unsigned long long w = (unsigned long long)__float_as_uint(x[i]) << 32 | i;
        b = min(b, w);
    }
    for (int d = 16; d; d /= 2) b = min(b, __shfl_xor_sync(~0u, b, d));
    if (threadIdx.x % 32 == 0) atomicMax(best, ~b);
}

//! turned_in_diagonal_order 8,8 32,8 | f32:65536 | out f32:65536
K turned_in_diagonal_order(const float *in, float *out)
{
    __shared__ float tile[32][33];
    int by = blockIdx.x, bx = (blockIdx.x + blockIdx.y) % gridDim.x;
    int x = bx * 32 + threadIdx.x, y = by * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * 256 + x];
    __syncthreads();
    x = by * 32 + threadIdx.x;
    y = bx * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) out[(y + j) * 256 + x] = tile[threadIdx.x][threadIdx.y + j];
}

//! turned_in_place_by_pairs 36 32,8 | inout u32:65536
// Pairs of tiles of a square of 256: the triangle of blocks from one number.
K turned_in_place_by_pairs(uint32_t *a)
{
    __shared__ uint32_t p[32][33], q[32][33];
    int b = blockIdx.x, r = 0;
    while (b > r) b -= ++r;
    int c = b;
    for (int j = threadIdx.y; j < 32; j += 8) {
        p[j][threadIdx.x] = a[(r * 32 + j) * 256 + c * 32 + threadIdx.x];
        q[j][threadIdx.x] = a[(c * 32 + j) * 256 + r * 32 + threadIdx.x];
    }
    __syncthreads();
    for (int j = threadIdx.y; j < 32; j += 8) {
        a[(r * 32 + j) * 256 + c * 32 + threadIdx.x] = q[threadIdx.x][j];
        a[(c * 32 + j) * 256 + r * 32 + threadIdx.x] = p[threadIdx.x][j];
    }
}

//! turned_four_by_four_in_registers 64 64 | f32:65536 | out f32:65536
// A thread turns four vectors of four.
K turned_four_by_four_in_registers(const float4 *in, float4 *out)
{
    int i = blockIdx.x * 64 + threadIdx.x, bx = i % 64, by = i / 64;
    float4 r[4];
    for (int k = 0; k < 4; k++) r[k] = in[(by * 4 + k) * 64 + bx];
    out[(bx * 4 + 0) * 64 + by] = make_float4(r[0].x, r[1].x, r[2].x, r[3].x);
    out[(bx * 4 + 1) * 64 + by] = make_float4(r[0].y, r[1].y, r[2].y, r[3].y);
    out[(bx * 4 + 2) * 64 + by] = make_float4(r[0].z, r[1].z, r[2].z, r[3].z);
    out[(bx * 4 + 3) * 64 + by] = make_float4(r[0].w, r[1].w, r[2].w, r[3].w);
}

//! turned_three_axes_of_shorts 16,4 32,8 | u16:65536 | out u16:65536
// [16][64][64] becomes [64][16][64], then the last two turned by shared memory.
K turned_three_axes_of_shorts(const uint16_t *in, uint16_t *out)
{
    __shared__ uint16_t s[64][17];
    int z = blockIdx.x, y0 = blockIdx.y * 16;
    for (int y = threadIdx.y; y < 16; y += 8)
        for (int x = threadIdx.x; x < 64; x += 32) s[x][y] = in[(z * 64 + y0 + y) * 64 + x];
    __syncthreads();
    int t = threadIdx.y * 32 + threadIdx.x;
    for (int i = t; i < 1024; i += 256) out[((i / 16) * 16 + z) * 64 + y0 + i % 16] = s[i / 16][i % 16];
}

//! bins_striped_over_banks 66 128 | u8:270336 | zero u32:64
// A counter of a byte a thread and bin, in the thread's own bank.
K bins_striped_over_banks(const uint8_t *in, uint32_t *bins)
{
    __shared__ uint32_t s[16 * 128];
    uint8_t *b = (uint8_t *)s;
    int t = threadIdx.x;
    for (int i = 0; i < 16; i++) s[i * 128 + t] = 0;
    for (int k = 0; k < 32; k++) {
        int v = in[(blockIdx.x * 32 + k) * 128 + t] >> 2;
        b[(v >> 2) * 512 + t * 4 + (v & 3)]++;
    }
    __syncthreads();
    if (t < 64) {
        uint32_t n = 0;
        for (int j = 0; j < 128; j++) n += b[(t >> 2) * 512 + ((j + t) & 127) * 4 + (t & 3)];
        atomicAdd(bins + t, n);
    }
}

//! joint_bins_of_two_pictures 66 256 | u8:67584 | u8:67584 | zero u32:1024
K joint_bins_of_two_pictures(const uchar4 *a, const uchar4 *b, uint32_t *joint)
{
    __shared__ uint32_t s[1024];
    for (int i = threadIdx.x; i < 1024; i += 256) s[i] = 0;
    __syncthreads();
    int i = blockIdx.x * 256 + threadIdx.x;
    uchar4 p = a[i], q = b[i];
    atomicAdd(&s[(p.x >> 3) * 32 + (q.x >> 3)], 1);
    atomicAdd(&s[(p.y >> 3) * 32 + (q.y >> 3)], 1);
    atomicAdd(&s[(p.z >> 3) * 32 + (q.z >> 3)], 1);
    atomicAdd(&s[(p.w >> 3) * 32 + (q.w >> 3)], 1);
    __syncthreads();
    for (int i = threadIdx.x; i < 1024; i += 256)
        if (s[i]) atomicAdd(joint + i, s[i]);
}

//! bins_in_four_ranges_of_values 64 256 | u16:262144 | zero u32:4096
// Blocks of four ranges read the same values; each keeps only its own thousand bins.
K bins_in_four_ranges_of_values(const ushort2 *in, uint32_t *bins)
{
    __shared__ uint32_t s[1024];
    int range = blockIdx.x & 3, part = blockIdx.x >> 2;
    for (int i = threadIdx.x; i < 1024; i += 256) s[i] = 0;
    __syncthreads();
    for (int k = 0; k < 32; k++) {
        ushort2 v = in[(part * 32 + k) * 256 + threadIdx.x];
        int a = v.x >> 4, b = v.y >> 4;
        if (a >> 10 == range) atomicAdd(&s[a & 1023], 1);
        if (b >> 10 == range) atomicAdd(&s[b & 1023], 1);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 1024; i += 256) atomicAdd(bins + range * 1024 + i, s[i]);
}

//! scan_kogge_stone_two_buffers_max 66 512 | s32:33792:-1000:1000 | out s32:33792
K scan_kogge_stone_two_buffers_max(const int *in, int *out)
{
    __shared__ int s[2][512];
    int t = threadIdx.x, p = 0;
    s[0][t] = in[blockIdx.x * 512 + t];
    for (int d = 1; d < 512; d *= 2) {
        __syncthreads();
        s[1 - p][t] = t >= d ? max(s[p][t], s[p][t - d] - d) : s[p][t];
        p = 1 - p;
    }
    out[blockIdx.x * 512 + t] = s[p][t];
}

//! scan_brent_kung_sections 66 256 | f64:33792 | out f64:33792
// Two elements a thread, up and down the tree; floating point in a fixed order.
K scan_brent_kung_sections(const double *in, double *out)
{
    __shared__ double s[512];
    int t = threadIdx.x, i = blockIdx.x * 512 + t;
    s[t] = in[i];
    s[t + 256] = in[i + 256];
    for (unsigned d = 1; d <= 256; d *= 2) {
        __syncthreads();
        unsigned k = (t + 1) * 2 * d - 1;
        if (k < 512) s[k] += s[k - d];
    }
    for (unsigned d = 128; d > 0; d /= 2) {
        __syncthreads();
        unsigned k = (t + 1) * 2 * d - 1;
        if (k + d < 512) s[k + d] += s[k];
    }
    __syncthreads();
    out[i] = s[t];
    out[i + 256] = s[t + 256];
}

//! scan_sklansky_fans 132 256 | u32:67584 | out u32:67584
K scan_sklansky_fans(const uint32_t *in, uint32_t *out)
{
    __shared__ uint32_t s[512];
    int t = threadIdx.x;
    for (int i = t; i < 512; i += 256) s[i] = in[blockIdx.x * 512 + i];
    __syncthreads();
    for (int l = 0; l < 9; l++) {
        int d = 1 << l, b = (t >> l << (l + 1)) + d;
        s[b + (t & (d - 1))] += s[b - 1];
        __syncthreads();
    }
    for (int i = t; i < 512; i += 256) out[blockIdx.x * 512 + i] = s[i];
}

//! look_back_over_tiles 128 128 | u32:131072 | out u32:131072 | zero u64:130
// Tiles in the order of a ticket; state and value in one word, a warp looks back over thirty-two tiles.
K look_back_over_tiles(const uint32_t *in, uint32_t *out, unsigned long long *state)
{
    __shared__ uint32_t tile_, before_, sums[4];
    int t = threadIdx.x, lane = t & 31, w = t >> 5;
    if (t == 0) tile_ = atomicAdd((unsigned *)state, 1);
    __syncthreads();
    int tile = tile_;
    volatile unsigned long long *flag = state + 1;
    uint32_t v[8], sum = 0;
    for (int k = 0; k < 8; k++) v[k] = in[tile * 1024 + t * 8 + k], sum += v[k];
    uint32_t inc = sum;
    for (int d = 1; d < 32; d *= 2) {
        uint32_t o = __shfl_up_sync(~0u, inc, d);
        if (lane >= d) inc += o;
    }
    if (lane == 31) sums[w] = inc;
    __syncthreads();
    uint32_t off = 0, total = 0;
    for (int k = 0; k < 4; k++) {
        if (k < w) off += sums[k];
        total += sums[k];
    }
    if (w == 0) {
        uint32_t before = 0;
        if (lane == 0) flag[tile] = (tile == 0 ? 2ull : 1ull) << 32 | total;
        for (int at = tile - 1; at >= 0; at -= 32) {
            unsigned long long s = 2ull << 32;
            int mine = at - lane;
            if (mine >= 0)
                do s = flag[mine];
                while (s >> 32 == 0);
            unsigned full = __ballot_sync(~0u, s >> 32 == 2);
            int first = full ? __ffs(full) - 1 : 31;
            before += __reduce_add_sync(~0u, lane <= first ? (uint32_t)s : 0);
            if (full) break;
        }
        if (lane == 0) {
            if (tile) flag[tile] = 2ull << 32 | (uint32_t)(total + before);
            before_ = before;
        }
    }
    __syncthreads();
    uint32_t run = before_ + off + inc - sum;
    for (int k = 0; k < 8; k++) out[tile * 1024 + t * 8 + k] = run += v[k];
}

//! scan_of_linear_recurrences 66 256 | f32:16896:-1:1 | f32:16896:-1:1 | out f32:16896
// y = a y + b composed over a block: pairs as elements.
K scan_of_linear_recurrences(const float *a, const float *b, float *y)
{
    __shared__ float2 s[8];
    int t = threadIdx.x, i = blockIdx.x * 256 + t, lane = t & 31;
    float p = a[i], q = b[i];
    for (int d = 1; d < 32; d *= 2) {
        float p0 = __shfl_up_sync(~0u, p, d), q0 = __shfl_up_sync(~0u, q, d);
        if (lane >= d) {
            q = p * q0 + q;
            p *= p0;
        }
    }
    if (lane == 31) s[t / 32] = make_float2(p, q);
    __syncthreads();
    float c = 0;
    for (int w = 0; w < t / 32; w++) c = s[w].x * c + s[w].y;
    y[i] = p * c + q;
}

//! product_1d_tiles_8_results 4,4 512 | f32:65536:-1:1 | f32:65536:-1:1 | out f32:65536
// 64 by 64 a block, eight results of a column a thread.
K product_1d_tiles_8_results(const float *A, const float *B, float *C)
{
    __shared__ float as[64 * 8], bs[8 * 64];
    const int n = 256;
    int col = threadIdx.x % 64, row = threadIdx.x / 64;
    int ac = threadIdx.x % 8, ar = threadIdx.x / 8;
    A += blockIdx.y * 64 * n;
    B += blockIdx.x * 64;
    float c[8] = {0};
    for (int k = 0; k < n; k += 8) {
        as[ar * 8 + ac] = A[ar * n + ac];
        bs[row * 64 + col] = B[row * n + col];
        __syncthreads();
        A += 8;
        B += 8 * n;
        for (int d = 0; d < 8; d++) {
            float b = bs[d * 64 + col];
            for (int r = 0; r < 8; r++) c[r] += as[(row * 8 + r) * 8 + d] * b;
        }
        __syncthreads();
    }
    for (int r = 0; r < 8; r++) C[(blockIdx.y * 64 + row * 8 + r) * n + blockIdx.x * 64 + col] = c[r];
}

//! product_2d_tiles_of_vectors 4,2 256 | f32:65536:-1:1 | f32:65536:-1:1 | out f32:65536
// 128 by 64, A turned while it is stored, vectors of four all through, n known only to the launch's caller.
K product_2d_tiles_of_vectors(const float *A, const float *B, float *C)
{
    __shared__ float as[8 * 128], bs[8 * 64];
    const int n = 256;
    int t = threadIdx.x, tc = t % 16, tr = t / 16;
    float c[8][4] = {}, a[8], b[4];
    A += blockIdx.y * 128 * n;
    B += blockIdx.x * 64;
    for (int k = 0; k < n; k += 8) {
        float4 v = *(const float4 *)(A + (t / 2) * n + (t % 2) * 4 + k);
        as[((t % 2) * 4 + 0) * 128 + t / 2] = v.x;
        as[((t % 2) * 4 + 1) * 128 + t / 2] = v.y;
        as[((t % 2) * 4 + 2) * 128 + t / 2] = v.z;
        as[((t % 2) * 4 + 3) * 128 + t / 2] = v.w;
        if (t < 128) *(float4 *)(bs + t / 16 * 64 + t % 16 * 4) = *(const float4 *)(B + (k + t / 16) * n + t % 16 * 4);
        __syncthreads();
#pragma unroll
        for (int d = 0; d < 8; d++) {
            for (int i = 0; i < 8; i++) a[i] = as[d * 128 + tr * 8 + i];
            for (int j = 0; j < 4; j++) b[j] = bs[d * 64 + tc * 4 + j];
            for (int i = 0; i < 8; i++)
                for (int j = 0; j < 4; j++) c[i][j] += a[i] * b[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 8; i++)
        *(float4 *)(C + (blockIdx.y * 128 + tr * 8 + i) * n + blockIdx.x * 64 + tc * 4) = make_float4(c[i][0], c[i][1], c[i][2], c[i][3]);
}

//! product_next_tile_in_registers 8,8 64 | f32:65536:-1:1 | f32:65536:-1:1 | out f32:65536 | s s32 256
// 32 by 32 a block, four by four a thread; the next tile is read into registers while this one is multiplied.
K product_next_tile_in_registers(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int n)
{
    __shared__ __align__(16) float as[2][16][32], bs[2][16][32];
    int t = threadIdx.x, tx = t % 8, ty = t / 8, r0 = blockIdx.y * 32, c0 = blockIdx.x * 32;
    float c[4][4] = {}, pa[8];
    float4 pb[2];
    auto fetch = [&](int k) {
        for (int i = 0; i < 8; i++) pa[i] = A[(r0 + t / 16 + i * 4) * n + k + t % 16];
        for (int i = 0; i < 2; i++) pb[i] = *(const float4 *)&B[(k + t / 8 + i * 8) * n + c0 + t % 8 * 4];
    };
    auto keep = [&](int p) {
        for (int i = 0; i < 8; i++) as[p][t % 16][t / 16 + i * 4] = pa[i];
        for (int i = 0; i < 2; i++) *(float4 *)&bs[p][t / 8 + i * 8][t % 8 * 4] = pb[i];
    };
    fetch(0);
    keep(0);
    __syncthreads();
    for (int k = 0, p = 0; k < n; k += 16, p ^= 1) {
        if (k + 16 < n) fetch(k + 16);
#pragma unroll
        for (int d = 0; d < 16; d++) {
            float4 a = *(const float4 *)&as[p][d][ty * 4], b = *(const float4 *)&bs[p][d][tx * 4];
            float x[4] = {a.x, a.y, a.z, a.w}, y[4] = {b.x, b.y, b.z, b.w};
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++) c[i][j] += x[i] * y[j];
        }
        if (k + 16 < n) keep(p ^ 1);
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) C[(r0 + ty * 4 + i) * n + c0 + tx * 4 + j] = c[i][j];
}

//! product_warp_tiles_32_by_16 4,4 128 | f32:65536:-1:1 | f32:65536:-1:1 | out f32:65536
// Four warps in two by two over 64 by 64; a warp's tile in two sub-tiles, a lane four by two of each.
K product_warp_tiles_32_by_16(const float *A, const float *B, float *C)
{
    __shared__ float as[16][64 + 4], bs[16][64];
    const int n = 256;
    int t = threadIdx.x, w = t / 32, l = t % 32, wr = w / 2 * 32, wc = w % 2 * 32, lr = l / 8 * 4, lc = l % 8 * 2;
    float c[2][2][4][2] = {};
    for (int k = 0; k < n; k += 16) {
        for (int i = t; i < 1024; i += 128) as[i % 16][i / 16] = A[(blockIdx.y * 64 + i / 16) * n + k + i % 16];
        for (int i = t; i < 1024; i += 128) bs[i / 64][i % 64] = B[(k + i / 64) * n + blockIdx.x * 64 + i % 64];
        __syncthreads();
        for (int d = 0; d < 16; d++) {
            float a[2][4], b[2][2];
            for (int s = 0; s < 2; s++) {
                for (int i = 0; i < 4; i++) a[s][i] = as[d][wr + s * 16 + lr + i];
                for (int j = 0; j < 2; j++) b[s][j] = bs[d][wc + s * 16 + lc + j];
            }
            for (int s = 0; s < 2; s++)
                for (int u = 0; u < 2; u++)
                    for (int i = 0; i < 4; i++)
                        for (int j = 0; j < 2; j++) c[s][u][i][j] += a[s][i] * b[u][j];
        }
        __syncthreads();
    }
    for (int s = 0; s < 2; s++)
        for (int u = 0; u < 2; u++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 2; j++)
                    C[(blockIdx.y * 64 + wr + s * 16 + lr + i) * n + blockIdx.x * 64 + wc + u * 16 + lc + j] = c[s][u][i][j];
}

__constant__ float taps25[25] = {.01f, .02f, .03f, .02f, .01f, .02f, .06f, .08f, .06f, .02f, .03f, .08f, .12f,
                                 .08f, .03f, .02f, .06f, .08f, .06f, .02f, .01f, .02f, .03f, .02f, .01f};
//! conv_tile_of_input_threads 11,11 32,32 | f32:65536 | out f32:65536 | s s32 256 | s s32 256
// The block is as large as the tile that is read; threads of the border compute nothing.
K conv_tile_of_input_threads(const float *in, float *out, int width, int height)
{
    __shared__ float s[32][32];
    int col = blockIdx.x * 28 + threadIdx.x - 2, row = blockIdx.y * 28 + threadIdx.y - 2;
    s[threadIdx.y][threadIdx.x] = row >= 0 && row < height && col >= 0 && col < width ? in[row * width + col] : 0.0f;
    __syncthreads();
    int tc = threadIdx.x - 2, tr = threadIdx.y - 2;
    if (col >= 0 && col < width && row >= 0 && row < height && tc >= 0 && tc < 28 && tr >= 0 && tr < 28) {
        float p = 0;
        for (int i = 0; i < 5; i++)
            for (int j = 0; j < 5; j++) p += taps25[i * 5 + j] * s[tr + i][tc + j];
        out[row * width + col] = p;
    }
}

//! conv_tile_and_caches_for_halo 8,8 32,32 | f32:65536 | out f32:65536 | s s32 256 | s s32 256
// Only the inner tile is in shared memory; the halo comes from the caches.
K conv_tile_and_caches_for_halo(const float *in, float *out, int width, int height)
{
    __shared__ float s[32][32];
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    s[threadIdx.y][threadIdx.x] = row < height && col < width ? in[row * width + col] : 0;
    __syncthreads();
    if (row < height && col < width) {
        float p = 0;
        for (int i = 0; i < 5; i++)
            for (int j = 0; j < 5; j++) {
                int x = (int)threadIdx.x - 2 + j, y = (int)threadIdx.y - 2 + i;
                if (x >= 0 && x < 32 && y >= 0 && y < 32) p += taps25[i * 5 + j] * s[y][x];
                else if (row - 2 + i >= 0 && row - 2 + i < height && col - 2 + j >= 0 && col - 2 + j < width)
                    p += taps25[i * 5 + j] * in[(row - 2 + i) * width + col - 2 + j];
            }
        out[row * width + col] = p;
    }
}

//! stencil_registers_up_the_planes 4,8 32,4 | f32:262144 | out f32:262144 | s s32 64
// Seven points: the plane in shared memory, the ones below and above in registers.
K stencil_registers_up_the_planes(const float *in, float *out, int depth)
{
    __shared__ float s[4 + 2][32 + 2];
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1, x = blockIdx.x * 32 + tx - 1, y = blockIdx.y * 4 + ty - 1;
    auto at = [&](int xx, int yy, int z) { return xx < 0 || xx > 127 || yy < 0 || yy > 31 ? 0.0f : in[(z * 32 + yy) * 128 + xx]; };
    float below = 0, here = at(x, y, 0), above;
    for (int z = 0; z < depth; z++) {
        above = z + 1 < depth ? at(x, y, z + 1) : 0;
        s[ty][tx] = here;
        if (threadIdx.x == 0) s[ty][0] = at(x - 1, y, z);
        if (threadIdx.x == 31) s[ty][33] = at(x + 1, y, z);
        if (threadIdx.y == 0) s[0][tx] = at(x, y - 1, z);
        if (threadIdx.y == 3) s[5][tx] = at(x, y + 1, z);
        __syncthreads();
        out[(z * 32 + y) * 128 + x] = 0.4f * here + 0.1f * (below + above + s[ty][tx - 1] + s[ty][tx + 1] + s[ty - 1][tx] + s[ty + 1][tx]);
        __syncthreads();
        below = here;
        here = above;
    }
}

//! stencil_queue_of_nine_rows 8 128 | f32:131072 | out f32:131072
// A vertical filter whose nine rows wander through registers.
K stencil_queue_of_nine_rows(const float *in, float *out)
{
    int x = blockIdx.x * 128 + threadIdx.x;
    float q[9], w[9] = {1, 2, 3, 4, 5, 4, 3, 2, 1};
    for (int i = 0; i < 8; i++) q[i] = in[max(i - 4, 0) * 1024 + x];
    for (int y = 0; y < 128; y++) {
        q[8] = in[min(y + 4, 127) * 1024 + x];
        float s = 0;
        for (int i = 0; i < 9; i++) s += q[i] * w[i];
        out[y * 1024 + x] = s * 0.04f;
        for (int i = 0; i < 8; i++) q[i] = q[i + 1];
    }
}

//! bodies_in_tiles_two_a_thread 16 64 | f32:8192:-1:1 | out f32:8192 | s s32 1024
// Gravity in tiles of shared memory, two bodies a thread.
K bodies_in_tiles_two_a_thread(const float4 *p, float4 *acc, int n)
{
    __shared__ float4 s[64];
    int i = blockIdx.x * 128 + threadIdx.x;
    float4 a = p[i], b = p[i + 64];
    float3 fa = {0, 0, 0}, fb = {0, 0, 0};
    for (int j = 0; j < n; j += 64) {
        s[threadIdx.x] = p[j + threadIdx.x];
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < 64; k++) {
            float4 q = s[k];
            float dx = q.x - a.x, dy = q.y - a.y, dz = q.z - a.z, r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-2f), m = q.w * r * r * r;
            fa.x += dx * m, fa.y += dy * m, fa.z += dz * m;
            dx = q.x - b.x, dy = q.y - b.y, dz = q.z - b.z, r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-2f), m = q.w * r * r * r;
            fb.x += dx * m, fb.y += dy * m, fb.z += dz * m;
        }
        __syncthreads();
    }
    acc[i] = make_float4(fa.x, fa.y, fa.z, 0);
    acc[i + 64] = make_float4(fb.x, fb.y, fb.z, 0);
}

//! strided_saxpy_by_pitch 16,8 32,8 | f32:131072 | inout f32:131072 | s f32 1.5 | s s32 500 | s s32 250 | s s32 512
K strided_saxpy_by_pitch(const float *x, float *y, float a, int w, int h, int pitch)
{
    for (int r = blockIdx.y * blockDim.y + threadIdx.y; r < h; r += gridDim.y * blockDim.y)
        for (int c = blockIdx.x * blockDim.x + threadIdx.x; c < w; c += gridDim.x * blockDim.x) y[r * pitch + c] += a * x[r * pitch + c];
}

//! vector_sums_by_one_thread_each 1 1 | f32:64:-1:1 | out f32:2
// The first lesson's mistake: one thread does it all.
K vector_sums_by_one_thread_each(const float *x, float *out)
{
    float s = 0, m = x[0];
    for (int i = 0; i < 64; i++) {
        s += x[i];
        m = fmaxf(m, x[i]);
    }
    out[0] = s;
    out[1] = m;
}
