/* subjects.cu - grids, graphs, sparse rows, sorting, transforms, bodies, ciphers: one more program of each subject, in larger grids. */
#include <cstdint>
#include <cuComplex.h>
#define K extern "C" __global__ void

__device__ __forceinline__ uint32_t mix32(uint32_t h)
{
    h ^= h >> 16;
    h *= 0x7feb352du;
    h ^= h >> 15;
    h *= 0x846ca68bu;
    return h ^ h >> 16;
}

//! rows_of_uneven_length_by_threads 132 128 | f32:1048576:-1:1 | f32:65536:-1:1 | out f32:16896
// Sparse rows, a thread each; lengths and columns by a hash of the row.
K rows_of_uneven_length_by_threads(const float *value, const float *x, float *y)
{
    uint32_t r = blockIdx.x * 128 + threadIdx.x, h = mix32(r), n = 8 + h % 41;
    float s = 0.0f;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t c = mix32(h + k) & 65535;
        s = fmaf(value[(r * 48 + k) & 1048575], x[c], s);
    }
    y[r] = s;
}

//! rows_in_csr_by_half_warps 264 128 | s32:2113:0:1 | s32:135168:0:65536 | f64:135168:-1:1 | f64:65536:-1:1 | out f64:2112
// 64 stored elements a row, sixteen lanes each, doubles. (The row pointers are 64 r.)
K rows_in_csr_by_half_warps(const int *start, const int *column, const double *value, const double *x, double *y)
{
    int row = (blockIdx.x * 128 + threadIdx.x) / 16, lane = threadIdx.x % 16;
    double s = 0.0;
    for (int k = start[row] + row * 64 + lane; k < start[row + 1] + row * 64 + 64; k += 16) s += value[k] * x[column[k]];
    for (int d = 8; d; d >>= 1) s += __shfl_down_sync(~0u, s, d, 16);
    if (lane == 0) y[row] = s;
}

//! frontier_expanded_one_level 264 128 | s32:33792:0:9 | s32:270336:0:33792 | out s32:33792
// Eight neighbours a vertex; those of vertices at level 3 that were not seen (above 3) get 4.
K frontier_expanded_one_level(const int *level, const int *edge, int *next)
{
    int v = blockIdx.x * 128 + threadIdx.x;
    if (level[v] != 3) return;
    for (int k = 0; k < 8; k++) {
        int u = edge[v * 8 + k];
        if (level[u] > 3) next[u] = 4;
    }
}

//! nearest_by_relaxing_in_shared 132 96 | s32:50688:1:100 | out s32:12672
// Bellman and Ford on 96 vertices with four edges each, until nothing changes.
K nearest_by_relaxing_in_shared(const int *w, int *out)
{
    __shared__ int d[96];
    int t = threadIdx.x;
    d[t] = t ? 1 << 28 : 0;
    int c[4];
    for (int k = 0; k < 4; k++) c[k] = w[(blockIdx.x * 4 + k) * 96 + t];
    int changed;
    do {
        changed = 0;
        __syncthreads();
        int mine = d[t];
        for (int k = 0; k < 4; k++) {
            int u = (t + k * k * 7 + 1) % 96, n = mine + c[k];
            if (n < *(volatile int *)&d[u]) {
                atomicMin(&d[u], n);
                changed = 1;
            }
        }
    } while (__syncthreads_or(changed));
    out[blockIdx.x * 96 + t] = d[t];
}

//! thirteen_points_in_a_plane 16,64 32,4 | f32:139264:-1:1 | out f32:131072
// A star of radius three in 512 by 256, straight from memory, borders clamped.
K thirteen_points_in_a_plane(const float *a, float *b)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
    float s = a[y * 512 + x];
#pragma unroll
    for (int r = 1; r <= 3; r++) {
        int l = max(x - r, 0), h = min(x + r, 511), u = max(y - r, 0), d = min(y + r, 255);
        s += (a[y * 512 + l] + a[y * 512 + h] + a[u * 512 + x] + a[d * 512 + x]) * (0.25f / (float)(r * r));
    }
    b[y * 512 + x] = s;
}

//! column_of_planes_kept_in_registers 8,16 32,8 | f32:1048576:-1:1 | out f32:1048576
// 256 by 128 by 32: above, here and below stay in registers while the plane moves.
K column_of_planes_kept_in_registers(const float *a, float *b)
{
    __shared__ float s[10][34];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    int i = y * 256 + x;
    float below = 0.0f, here = a[i], above;
    for (int z = 0; z < 32; z++) {
        above = z < 31 ? a[(z + 1) * 32768 + i] : 0.0f;
        s[ty][tx] = here;
        if (threadIdx.x == 0) s[ty][0] = x ? a[z * 32768 + i - 1] : 0.0f;
        if (threadIdx.x == 31) s[ty][33] = x < 255 ? a[z * 32768 + i + 1] : 0.0f;
        if (threadIdx.y == 0) s[0][tx] = y ? a[z * 32768 + i - 256] : 0.0f;
        if (threadIdx.y == 7) s[9][tx] = y < 127 ? a[z * 32768 + i + 256] : 0.0f;
        __syncthreads();
        b[z * 32768 + i] = 0.5f * here + 0.0833f * (below + above + s[ty][tx - 1] + s[ty][tx + 1] + s[ty - 1][tx] + s[ty + 1][tx]);
        __syncthreads();
        below = here;
        here = above;
    }
}

//! five_by_five_three_colours 16,32 16,8 | u8:215000 | f32:25:-0.2:0.2 | out u8:196608
// 256 by 256 pixels of three bytes, weights in constant bank by way of shared memory.
K five_by_five_three_colours(const uint8_t *in, const float *w, uint8_t *out)
{
    __shared__ float k[25];
    int t = threadIdx.y * 16 + threadIdx.x;
    if (t < 25) k[t] = w[t];
    __syncthreads();
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    float r = 0, g = 0, b = 0;
    for (int j = 0; j < 5; j++)
        for (int i = 0; i < 5; i++) {
            const uint8_t *p = in + ((y + j) * 260 + x + i) * 3;
            float f = k[j * 5 + i];
            r += f * p[0], g += f * p[1], b += f * p[2];
        }
    uint8_t *o = out + (y * 256 + x) * 3;
    o[0] = (uint8_t)fminf(fmaxf(r, 0.0f), 255.0f);
    o[1] = (uint8_t)fminf(fmaxf(g, 0.0f), 255.0f);
    o[2] = (uint8_t)fminf(fmaxf(b, 0.0f), 255.0f);
}

//! sorted_pairs_by_bitonic_network 264 128 | u32:67584 | out u32:67584 | out u32:67584
// 256 keys with values a block.
K sorted_pairs_by_bitonic_network(const uint32_t *key, uint32_t *out, uint32_t *place)
{
    __shared__ uint32_t k[256];
    __shared__ uint16_t v[256];
    int t = threadIdx.x;
    for (int i = t; i < 256; i += 128) {
        k[i] = key[blockIdx.x * 256 + i];
        v[i] = (uint16_t)i;
    }
    for (int n = 2; n <= 256; n *= 2)
        for (int d = n / 2; d; d /= 2) {
            __syncthreads();
            int i = t / d * d * 2 + t % d, j = i + d;
            bool up = (i & n) == 0;
            if ((k[i] > k[j]) == up && k[i] != k[j]) {
                uint32_t a = k[i];
                k[i] = k[j];
                k[j] = a;
                uint16_t b = v[i];
                v[i] = v[j];
                v[j] = b;
            }
        }
    __syncthreads();
    for (int i = t; i < 256; i += 128) {
        out[blockIdx.x * 256 + i] = k[i];
        place[blockIdx.x * 256 + i] = v[i];
    }
}

//! four_bits_at_a_time_in_block 132 256 | u32:33792:0:65536 | out u32:33792
// Radix sort of 256 keys of 16 bits: ballots for the digits, counters of warps in shared memory.
K four_bits_at_a_time_in_block(const uint32_t *x, uint32_t *y)
{
    __shared__ uint32_t key[256], count[16][8], start[128];
    int t = threadIdx.x, lane = t % 32, w = t / 32;
    uint32_t v = x[blockIdx.x * 256 + t];
    for (int s = 0; s < 16; s += 4) {
        uint32_t d = v >> s & 15, same = ~0u;
        if (t < 128) (&count[0][0])[t] = 0;
        __syncthreads();
#pragma unroll
        for (int b = 0; b < 4; b++) {
            uint32_t m = __ballot_sync(~0u, d >> b & 1);
            same &= d >> b & 1 ? m : ~m;
        }
        uint32_t before = __popc(same & ((1u << lane) - 1));
        if (before == 0) count[d][w] = __popc(same);
        __syncthreads();
        if (w == 0) {
            uint32_t c[4], sum = 0;
            for (int k = 0; k < 4; k++) {
                c[k] = (&count[0][0])[lane * 4 + k];
                sum += c[k];
            }
            uint32_t inc = sum;
            for (int k = 1; k < 32; k <<= 1) {
                uint32_t o = __shfl_up_sync(~0u, inc, k);
                if (lane >= k) inc += o;
            }
            inc -= sum;
            for (int k = 0; k < 4; k++) {
                start[lane * 4 + k] = inc;
                inc += c[k];
            }
        }
        __syncthreads();
        key[start[d * 8 + w] + before] = v;
        __syncthreads();
        v = key[t];
        __syncthreads();
    }
    y[blockIdx.x * 256 + t] = v;
}

//! lists_of_sixteen_merged 264 64 | u32:270336:0:1000 | out u32:270336
// A thread merges two lists of eight that it sorts by insertion first.
K lists_of_sixteen_merged(const uint32_t *x, uint32_t *y)
{
    uint32_t a[16];
    int t = blockIdx.x * 64 + threadIdx.x;
    for (int k = 0; k < 16; k++) a[k] = x[k * 16896 + t];
    for (int h = 0; h < 16; h += 8)
        for (int i = 1; i < 8; i++) {
            uint32_t v = a[h + i];
            int j = i;
            while (j > 0 && a[h + j - 1] > v) {
                a[h + j] = a[h + j - 1];
                j--;
            }
            a[h + j] = v;
        }
    int i = 0, j = 8;
    for (int k = 0; k < 16; k++) {
        bool left = j == 16 || (i < 8 && a[i] <= a[j]);
        y[k * 16896 + t] = left ? a[i++] : a[j++];
    }
}

//! transform_of_256_radix_four 264 64 | f32:135168:-1:1 | out f32:135168
// Four passes of four points a thread through shared memory.
K transform_of_256_radix_four(const float2 *x, float2 *y)
{
    __shared__ float2 s[256];
    int t = threadIdx.x;
    float2 v[4];
    for (int k = 0; k < 4; k++) v[k] = x[blockIdx.x * 256 + k * 64 + t];
    for (int n = 1; n < 256; n *= 4) {
        int r = t % n;
        for (int k = 1; k < 4; k++) {
            float sn, cs;
            __sincosf(-6.2831853f * (float)(k * r) / (float)(n * 4), &sn, &cs);
            v[k] = make_float2(v[k].x * cs - v[k].y * sn, v[k].x * sn + v[k].y * cs);
        }
        float2 a = make_float2(v[0].x + v[2].x, v[0].y + v[2].y), b = make_float2(v[0].x - v[2].x, v[0].y - v[2].y);
        float2 c = make_float2(v[1].x + v[3].x, v[1].y + v[3].y), d = make_float2(v[1].y - v[3].y, v[3].x - v[1].x);
        int to = (t - r) * 4 + r;
        __syncthreads();
        s[to] = make_float2(a.x + c.x, a.y + c.y);
        s[to + n] = make_float2(b.x + d.x, b.y + d.y);
        s[to + 2 * n] = make_float2(a.x - c.x, a.y - c.y);
        s[to + 3 * n] = make_float2(b.x - d.x, b.y - d.y);
        __syncthreads();
        for (int k = 0; k < 4; k++) v[k] = s[k * 64 + t];
    }
    for (int k = 0; k < 4; k++) y[blockIdx.x * 256 + k * 64 + t] = v[k];
}

//! double_complex_transform_of_64 132 32 | f64:16896:-1:1 | out f64:16896
K double_complex_transform_of_64(const double2 *x, double2 *y)
{
    __shared__ double2 s[64];
    int t = threadIdx.x;
    for (int k = t; k < 64; k += 32) s[__brev(k) >> 26] = x[blockIdx.x * 64 + k];
    __syncwarp();
    for (int h = 1; h < 64; h *= 2) {
        double sn, cs;
        sincospi(-(double)(t % h) / h, &sn, &cs);
        int i = t / h * h * 2 + t % h;
        double2 a = s[i], b = s[i + h];
        double2 w = make_double2(b.x * cs - b.y * sn, b.x * sn + b.y * cs);
        s[i] = make_double2(a.x + w.x, a.y + w.y);
        s[i + h] = make_double2(a.x - w.x, a.y - w.y);
        __syncwarp();
    }
    for (int k = t; k < 64; k += 32) y[blockIdx.x * 64 + k] = s[k];
}

//! pulls_of_doubles_through_shared 66 128 | f64:33792:-1:1 | out f64:25344
// 8,448 bodies against the first 512, doubles, rsqrt of them.
K pulls_of_doubles_through_shared(const double4_16a *p, double *a)
{
    __shared__ double4_16a s[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    double4_16a me = p[i];
    double ax = 0, ay = 0, az = 0;
    for (int b = 0; b < 512; b += 128) {
        s[threadIdx.x] = p[b + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 128; k++) {
            double dx = s[k].x - me.x, dy = s[k].y - me.y, dz = s[k].z - me.z, r = rsqrt(dx * dx + dy * dy + dz * dz + 0.01);
            double f = s[k].w * r * r * r;
            ax += f * dx, ay += f * dy, az += f * dz;
        }
        __syncthreads();
    }
    a[i] = ax, a[8448 + i] = ay, a[16896 + i] = az;
}

//! particles_within_reach_by_cells 264 128 | f32:135168:0:1 | s32:33792:0:8192 | out f32:33792
// Sixteen neighbours a particle by list, those farther than the reach are passed over.
K particles_within_reach_by_cells(const float4 *p, const int *list, float *e)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    float4 me = p[i];
    float s = 0.0f;
    for (int k = 0; k < 16; k++) {
        float4 o = p[list[(i * 5 + k * 67) % 33792]];
        float dx = me.x - o.x, dy = me.y - o.y, dz = me.z - o.z, r2 = dx * dx + dy * dy + dz * dz;
        if (r2 < 0.25f && r2 > 0.0f) {
            float q = 0.01f / r2, q3 = q * q * q;
            s += q3 * (q3 - 1.0f) * o.w;
        }
    }
    e[i] = s;
}

//! blocks_enciphered_with_feistel 264 128 | u32:135168 | u32:18 | out u32:135168
// Sixteen rounds, the round function by multiplications and rotations; keys in shared memory.
K blocks_enciphered_with_feistel(const uint2 *in, const uint32_t *key, uint2 *out)
{
    __shared__ uint32_t k[18];
    if (threadIdx.x < 18) k[threadIdx.x] = key[threadIdx.x];
    __syncthreads();
    for (int q = 0; q < 2; q++) {
        int i = (blockIdx.x * 2 + q) * 128 + threadIdx.x;
        uint2 v = in[i];
#pragma unroll
        for (int r = 0; r < 16; r += 2) {
            v.x ^= k[r];
            v.y ^= __funnelshift_l(v.x * 0x9e3779b1u, v.x * 0x9e3779b1u, 7) + (v.x >> 11);
            v.y ^= k[r + 1];
            v.x ^= __funnelshift_l(v.y * 0x85ebca77u, v.y * 0x85ebca77u, 13) + (v.y >> 5);
        }
        out[i] = make_uint2(v.y ^ k[17], v.x ^ k[16]);
    }
}

//! products_of_256_bits 132 128 | u64:135168 | out u64:135168
// Schoolbook products of four words of 64 bits, the upper half added to the lower.
K products_of_256_bits(const uint64_t *x, uint64_t *y)
{
    int t = blockIdx.x * 128 + threadIdx.x;
    uint64_t a[4], b[4], r[8] = {};
    for (int k = 0; k < 4; k++) {
        a[k] = x[k * 16896 + t];
        b[k] = x[(k + 4) * 16896 + t];
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        uint64_t c = 0;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            unsigned __int128 p = (unsigned __int128)a[i] * b[j] + r[i + j] + c;
            r[i + j] = (uint64_t)p;
            c = (uint64_t)(p >> 64);
        }
        r[i + 4] = c;
    }
    for (int k = 0; k < 8; k++) y[k * 16896 + t] = r[k];
}

//! words_through_a_sponge 264 96 | u64:126720 | out u64:126720
// Five words of 64 bits, eight rounds of rotations, and-not and exclusive or.
K words_through_a_sponge(const uint64_t *in, uint64_t *out)
{
    int t = blockIdx.x * 96 + threadIdx.x, n = 25344;
    uint64_t s[5];
    for (int k = 0; k < 5; k++) s[k] = in[k * n + t];
    for (int r = 0; r < 8; r++) {
        s[2] ^= 0xf0 - r * 15;
        uint64_t p = s[0] ^ s[1] ^ s[2] ^ s[3] ^ s[4];
        p = p << 9 | p >> 55;
#pragma unroll
        for (int k = 0; k < 5; k++) s[k] ^= p;
        uint64_t a = s[0], b = s[1];
#pragma unroll
        for (int k = 0; k < 5; k++) {
            uint64_t u = k < 4 ? s[k + 1] : a, v = k < 3 ? s[k + 2] : k == 3 ? a : b;
            s[k] ^= ~u & v;
        }
#pragma unroll
        for (int k = 0; k < 5; k++) s[k] ^= (s[k] >> (k * 7 + 3)) | (s[k] << (61 - k * 7));
    }
    for (int k = 0; k < 5; k++) out[k * n + t] = s[k];
}

//! paths_of_an_up_and_out_call 264 128 | f32:33792:80:120 | out f32:33792 | s s32 48
K paths_of_an_up_and_out_call(const float *spot, float *pay, int steps)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    uint32_t s = i * 747796405u + 2891336453u;
    float x = spot[i], p = 0.0f;
    for (int k = 0; k < steps; k++) {
        s = s * 747796405u + 2891336453u;
        uint32_t w = ((s >> ((s >> 28) + 4)) ^ s) * 277803737u;
        float u = (float)(w >> 8) * 5.9604645e-8f + 2.98e-8f;
        s = s * 747796405u + 2891336453u;
        float v = (float)(s >> 8) * 5.9604645e-8f;
        float z = sqrtf(-2.0f * __logf(u)) * __cosf(6.2831853f * v);
        x *= __expf(0.0001f + 0.02f * z);
        if (x > 125.0f) {
            x = 0.0f;
            break;
        }
    }
    p = fmaxf(x - 100.0f, 0.0f);
    pay[i] = p;
}

//! escape_times_in_doubles 16,24 16,8 | out u16:49152 | s f64 -0.7436 | s f64 0.1318 | s f64 0.00002
K escape_times_in_doubles(uint16_t *out, double cx, double cy, double step)
{
    int px = blockIdx.x * 16 + threadIdx.x, py = blockIdx.y * 8 + threadIdx.y, n = 0;
    double x0 = cx + (px - 128) * step, y0 = cy + (py - 96) * step, x = 0, y = 0;
    while (x * x + y * y < 4.0 && n < 150) {
        double t = x * x - y * y + x0;
        y = 2 * x * y + y0;
        x = t;
        n++;
    }
    out[py * 256 + px] = (uint16_t)n;
}

//! lower_triangles_solved_by_rows 264 32 | f32:270336:-0.1:0.1 | f32:8448:-1:1 | out f32:8448
// A warp solves 32 by 32, one unknown after the other by shuffle.
K lower_triangles_solved_by_rows(const float *a, const float *b, float *x)
{
    int t = threadIdx.x, r = blockIdx.x * 32 + t;
    float v = b[r], row[32];
#pragma unroll
    for (int k = 0; k < 32; k++) row[k] = a[r * 32 + k];
#pragma unroll
    for (int k = 0; k < 32; k++) {
        float d = __shfl_sync(~0u, v / (2.0f + row[k]), k);
        if (t > k) v -= row[k] * d;
        else if (t == k) v = d;
    }
    x[r] = v;
}

//! longest_rises_by_a_table 132 64 | s32:270336:0:1000 | out s32:8448
// The longest rising subsequence of 32 by binary search in local memory.
K longest_rises_by_a_table(const int *x, int *out)
{
    int t = blockIdx.x * 64 + threadIdx.x, tail[32], n = 0;
    for (int k = 0; k < 32; k++) {
        int v = x[k * 8448 + t], lo = 0, hi = n;
        while (lo < hi) {
            int m = (lo + hi) / 2;
            if (tail[m] < v) lo = m + 1;
            else hi = m;
        }
        tail[lo] = v;
        n = max(n, lo + 1);
    }
    out[t] = n;
}

//! centres_of_eight_clusters 264 256 | f32:135168:-1:1 | f32:16:-1:1 | out u8:67584 | zero s32:24
// Points to the nearest of eight centres, sums in fixed point.
K centres_of_eight_clusters(const float2 *p, const float2 *c, uint8_t *which, int *sums)
{
    __shared__ int s[24];
    __shared__ float2 centre[8];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    if (t < 24) s[t] = 0;
    if (t < 8) centre[t] = c[t];
    __syncthreads();
    float2 v = p[i];
    float best = 1e9f;
    int at = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) {
        float dx = v.x - centre[k].x, dy = v.y - centre[k].y, d = dx * dx + dy * dy;
        if (d < best) best = d, at = k;
    }
    which[i] = (uint8_t)at;
    atomicAdd(s + at * 3, (int)(v.x * 1024));
    atomicAdd(s + at * 3 + 1, (int)(v.y * 1024));
    atomicAdd(s + at * 3 + 2, 1);
    __syncthreads();
    if (t < 24) atomicAdd(sums + t, s[t]);
}
