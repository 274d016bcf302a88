/* manners.cu - manners of writing: functions kept apart, switches, templates written out, bits, generators, small pictures, early ends, walks without recursion. */
#include <cstdint>
#include <cuda_fp16.h>
#define K extern "C" __global__ void

__device__ __noinline__ float soft_knee(float x, float knee, float ratio)
{
    float over = x - knee;
    if (over <= 0) return x;
    return knee + over / ratio + 0.05f * __logf(1 + over);
}
__device__ __noinline__ float envelope(const float *p, int n, float decay)
{
    float e = 0;
    for (int k = 0; k < n; k++) e = fmaxf(fabsf(p[k]), e * decay);
    return e;
}
//! compressor_by_functions_kept_apart 17 64 | f32:34816:-2:2 | out f32:34816 | s f32 0.5 | s f32 4.0
K compressor_by_functions_kept_apart(const float *x, float *y, float knee, float ratio)
{
    int i = (blockIdx.x * 64 + threadIdx.x) * 32;
    float e = envelope(x + i, 32, 0.9f);
    for (int k = 0; k < 32; k++) {
        float v = x[i + k], g = soft_knee(fabsf(v), knee, ratio);
        y[i + k] = copysignf(g, v) / (1 + e);
    }
}

__device__ __noinline__ uint2 divided(uint32_t a, uint32_t b) { return make_uint2(a / b, a % b); }
__device__ __noinline__ uint32_t greatest_common(uint32_t a, uint32_t b)
{
    while (b) {
        uint2 q = divided(a, b);
        a = b;
        b = q.y;
    }
    return a;
}
//! fractions_added_and_cancelled 17 64 | u32:4352:1:1000 | out u32:2176
K fractions_added_and_cancelled(const uint4 *f, uint2 *out)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    uint4 v = f[i];
    uint32_t n = v.x * v.w + v.z * v.y, d = v.y * v.w, g = greatest_common(n, d);
    out[i] = make_uint2(n / g, d / g);
}

//! instructions_of_a_small_machine 9 64 | u32:2048 | u32:576 | out u32:576
// Twelve operations by a switch, four registers by index.
K instructions_of_a_small_machine(const uint32_t *program, const uint32_t *in, uint32_t *out)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    uint32_t r[4] = {in[i], (uint32_t)i, 1, 0x55555555u};
    for (int pc = 0; pc < 96; pc++) {
        uint32_t w = program[(blockIdx.x & 7) * 96 + pc], a = w >> 8 & 3, b = w >> 12 & 3, d = w >> 16 & 3, x = r[a], y = r[b], z;
        switch (w % 12) {
        case 0: z = x + y; break;
        case 1: z = x - y; break;
        case 2: z = x * y; break;
        case 3: z = x & y; break;
        case 4: z = x | y; break;
        case 5: z = x ^ y; break;
        case 6: z = x << (y & 31); break;
        case 7: z = x >> (y & 31); break;
        case 8: z = __popc(x) + y; break;
        case 9: z = __brev(x) + y; break;
        case 10: z = x / (y | 1); break;
        default: z = min(x, y); break;
        }
        r[d] = z;
    }
    out[i] = r[0] ^ r[1] ^ r[2] ^ r[3];
}

//! distances_of_five_kinds 33 64 | f32:33792:-1:1 | f32:33792:-1:1 | u32:2112:0:5 | out f32:2112
// The kind differs from lane to lane; sixteen dimensions.
K distances_of_five_kinds(const float *a, const float *b, const uint32_t *kind, float *out)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    const float *p = a + i * 16, *q = b + i * 16;
    float s = 0, u = 0, v = 0;
    switch (kind[i]) {
    case 0:
        for (int k = 0; k < 16; k++) s += fabsf(p[k] - q[k]);
        break;
    case 1:
        for (int k = 0; k < 16; k++) s += (p[k] - q[k]) * (p[k] - q[k]);
        s = sqrtf(s);
        break;
    case 2:
        for (int k = 0; k < 16; k++) s = fmaxf(s, fabsf(p[k] - q[k]));
        break;
    case 3:
        for (int k = 0; k < 16; k++) s += p[k] * q[k], u += p[k] * p[k], v += q[k] * q[k];
        s = 1 - s / sqrtf(u * v);
        break;
    default:
        for (int k = 0; k < 16; k++) s += fabsf(p[k] - q[k]) / (fabsf(p[k]) + fabsf(q[k]));
    }
    out[i] = s;
}

//! months_and_days_by_table_and_switch 33 128 | u32:4224:0:40000 | out u32:4224
K months_and_days_by_table_and_switch(const uint32_t *day, uint32_t *out)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    int d = day[i], y = 1970;
    while (d >= 365 + (y % 4 == 0 && y % 100 != 0 || y % 400 == 0)) {
        d -= 365 + (y % 4 == 0 && y % 100 != 0 || y % 400 == 0);
        y++;
    }
    int m = 0;
    for (;; m++) {
        int n;
        switch (m) {
        case 3: case 5: case 8: case 10: n = 30; break;
        case 1: n = y % 4 == 0 && y % 100 != 0 || y % 400 == 0 ? 29 : 28; break;
        default: n = 31;
        }
        if (d < n) break;
        d -= n;
    }
    out[i] = y * 10000 + (m + 1) * 100 + d + 1;
}

template <int N> struct Poly {
    static __device__ float at(const float *c, float x) { return c[0] + x * Poly<N - 1>::at(c + 1, x); }
};
template <> struct Poly<0> {
    static __device__ float at(const float *c, float) { return c[0]; }
};
__constant__ float series32[33] = {1, -1, .5f, -.25f, .125f, -.0625f, .03f, -.02f, .01f, -.01f, .01f, -.01f, .01f, -.01f, .02f, -.02f, .02f,
                                   -.02f, .02f, -.02f, .03f, -.03f, .03f, -.03f, .03f, -.03f, .01f, -.01f, .01f, -.01f, .01f, -.01f, .01f};
//! series_of_thirty_two_by_template 66 128 | f32:33792:-1:1 | out f32:33792
K series_of_thirty_two_by_template(const float *x, float *y)
{
    for (int k = 0; k < 4; k++) {
        int i = (blockIdx.x * 4 + k) * 128 + threadIdx.x;
        y[i] = Poly<32>::at(series32, x[i]);
    }
}

template <int R, int C> __device__ void hundred(const uint32_t *in, uint32_t (&v)[R][C])
{
#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
        for (int c = 0; c < C; c++) v[r][c] = in[r * C + c];
}
//! cells_of_eight_by_eight_in_registers 17 32 | u32:34816:0:2 | out u32:1088
// Four generations of life on a torus of eight by eight, one word a cell, all unrolled.
K cells_of_eight_by_eight_in_registers(const uint32_t *in, uint32_t *out)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    uint32_t v[8][8];
    hundred(in + i % 512 * 64, v);
    for (int g = 0; g < 2; g++) {
        uint32_t n[8][8];
#pragma unroll
        for (int r = 0; r < 8; r++)
#pragma unroll
            for (int c = 0; c < 8; c++) {
                uint32_t s = 0;
#pragma unroll
                for (int k = 0; k < 9; k++)
                    if (k != 4) s += v[(r + k / 3 + 7) & 7][(c + k % 3 + 7) & 7];
                n[r][c] = (s | v[r][c]) == 3;
            }
#pragma unroll
        for (int r = 0; r < 8; r++)
#pragma unroll
            for (int c = 0; c < 8; c++) v[r][c] = n[r][c];
    }
    uint32_t a = 0, b = 0;
#pragma unroll
    for (int r = 0; r < 4; r++)
#pragma unroll
        for (int c = 0; c < 8; c++) a |= v[r][c] << (r * 8 + c), b |= v[r + 4][c] << (r * 8 + c);
    out[i * 2] = a;
    out[i * 2 + 1] = b;
}

//! bits_spread_reversed_and_ranked 66 128 | u32:33792 | out u32:33792
K bits_spread_reversed_and_ranked(const uint32_t *x, uint32_t *y)
{
    for (int k = 0; k < 4; k++) {
        int i = (blockIdx.x * 4 + k) * 128 + threadIdx.x;
        uint32_t v = x[i], lo = v & -v, up = v + lo, next = up | ((v ^ up) >> 2) / (lo | 1);
        uint32_t gray = v ^ v >> 1, h = v;
        h |= h >> 1, h |= h >> 2, h |= h >> 4, h |= h >> 8, h |= h >> 16;
        uint32_t parity = __popc(v) & 1, byteswap = __byte_perm(v, 0, 0x0123), tz = __ffs(v) - 1, lz = __clz(v);
        y[i] = (next ^ gray) + (h ^ byteswap) * (parity | 2) + __funnelshift_l(v, gray, tz) + (lz << 5);
    }
}

//! fixed_point_roots_and_inverses 33 128 | u32:4224:1:1000000000 | out u32:4224 | out u32:4224
K fixed_point_roots_and_inverses(const uint32_t *x, uint32_t *root, uint32_t *inverse)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    uint32_t v = x[i], r = 0, rest = v;
    for (uint32_t b = 1u << 30; b; b >>= 2) {
        if (rest >= r + b) {
            rest -= r + b;
            r = (r >> 1) + b;
        } else
            r >>= 1;
    }
    uint32_t odd = v | 1, inv = odd;
    for (int k = 0; k < 4; k++) inv *= 2 - odd * inv;
    root[i] = r;
    inverse[i] = inv;
}

//! nearest_hundredth_of_packed_decimals 33 128 | u32:4224 | out u32:4224
// Additions of eight decimal digits in a word, and the nines' complement.
K nearest_hundredth_of_packed_decimals(const uint32_t *x, uint32_t *y)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    auto tidy = [](uint32_t v) { return v - 6 * ((v & (v << 1 | v << 2)) >> 3 & 0x11111111u); };
    uint32_t a = tidy(x[i]), b = tidy(x[(i + 7) % 4224]);
    for (int k = 0; k < 6; k++) {
        uint32_t t = a + 0x06666666u, s = t + b, c = s ^ t ^ b, n = ~c & 0x11111110u, d = n >> 2 | n >> 3;
        b = a;
        a = s - d;
    }
    y[i] = 0x99999999u - a;
}

//! counter_based_threefry 264 128 | s u32 42 | out u32:135168
K counter_based_threefry(uint32_t key, uint4 *out)
{
    const int rot[8] = {10, 26, 11, 21, 13, 27, 23, 5};
    uint32_t i = blockIdx.x * 128 + threadIdx.x, k[5] = {key, key * 3, key ^ 77, ~key, 0};
    k[4] = 0x1BD11BDA ^ k[0] ^ k[1] ^ k[2] ^ k[3];
    uint32_t x0 = i + k[0], x1 = k[1], x2 = k[2], x3 = k[3];
#pragma unroll
    for (int r = 0; r < 12; r++) {
        x0 += x1;
        x1 = __funnelshift_l(x1, x1, rot[r % 4]) ^ x0;
        x2 += x3;
        x3 = __funnelshift_l(x3, x3, rot[4 + r % 4]) ^ x2;
        uint32_t t = x1;
        x1 = x3;
        x3 = t;
        if (r % 4 == 3) {
            int s = r / 4 + 1;
            x0 += k[s % 5];
            x1 += k[(s + 1) % 5];
            x2 += k[(s + 2) % 5];
            x3 += k[(s + 3) % 5] + s;
        }
    }
    out[i] = make_uint4(x0, x1, x2, x3);
}

//! ziggurat_like_rejections 17 64 | u64:1088 | out f32:17408
// Normal values by Leva's quotient: most accepted at once, the rest by a logarithm.
K ziggurat_like_rejections(const unsigned long long *seed, float *out)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    unsigned long long s = seed[i] | 1;
    auto uniform = [&] {
        s ^= s >> 12, s ^= s << 25, s ^= s >> 27;
        return (float)(uint32_t)(s * 2685821657736338717ull >> 40) * 5.9604645e-8f;
    };
    for (int k = 0; k < 16; k++) {
        float u, v, x, y, q;
        do {
            u = uniform();
            v = 1.7156f * (uniform() - 0.5f);
            x = u - 0.449871f;
            y = fabsf(v) + 0.386595f;
            q = x * x + y * (0.19600f * y - 0.25472f * x);
        } while (q > 0.27597f && (q > 0.27846f || v * v > -4 * logf(u) * u * u));
        out[k * 1088 + i] = v / u;
    }
}

//! lagged_generator_in_shared 17 64 | u32:1088 | out u32:17408
K lagged_generator_in_shared(const uint32_t *seed, uint32_t *out)
{
    __shared__ uint32_t s[64 * 17];
    uint32_t *r = s + threadIdx.x * 17, v = seed[blockIdx.x * 64 + threadIdx.x];
    for (int k = 0; k < 17; k++) r[k] = v = v * 69069 + 1234567;
    int a = 0, b = 5;
    for (int k = 0; k < 16 * 4; k++) {
        uint32_t x = r[a] += r[b];
        a = a + 1 == 17 ? 0 : a + 1;
        b = b + 1 == 17 ? 0 : b + 1;
        if ((k & 3) == 3) out[(k >> 2) * 1088 + blockIdx.x * 64 + threadIdx.x] = x;
    }
}

//! unsharp_of_bytes_in_vectors 8,32 32,8 | u8:262144 | out u8:262144
// Four pixels a thread from three rows of words.
K unsharp_of_bytes_in_vectors(const uint32_t *in, uint32_t *out)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x >= 256 || y >= 256) return;
    uint32_t w[3][3], r = 0;
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++) {
            int yy = min(max(y + j - 1, 0), 255), xx = min(max(x + i - 1, 0), 255);
            w[j][i] = in[yy * 256 + xx];
        }
    for (int k = 0; k < 4; k++) {
        int s = 0;
        for (int j = 0; j < 3; j++)
            for (int d = -1; d <= 1; d++) {
                int at = 4 + k + d;
                s += (w[j][at / 4] >> at % 4 * 8 & 255) * (d == 0 && j == 1 ? 4 : d == 0 || j == 1 ? 2 : 1);
            }
        int c = w[1][1] >> k * 8 & 255, v = c + (c - (s >> 4));
        r |= (uint32_t)min(max(v, 0), 255) << k * 8;
    }
    out[y * 256 + x] = r;
}

//! posterised_with_ordered_dots 16,16 16,16 | u8:65536 | out u8:65536
K posterised_with_ordered_dots(const uint8_t *in, uint8_t *out)
{
    const uint8_t bayer[4][4] = {{0, 8, 2, 10}, {12, 4, 14, 6}, {3, 11, 1, 9}, {15, 7, 13, 5}};
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    int v = in[y * 256 + x], q = v / 43, rest = v - q * 43;
    out[y * 256 + x] = min(255, (q + (rest * 16 > bayer[y & 3][x & 3] * 43)) * 43);
}

//! twenty_five_sorted_for_the_middle 8,8 16,16 | u8:20736 | out u8:16384
// The median of five by five by bisection over the values.
K twenty_five_sorted_for_the_middle(const uint8_t *in, uint8_t *out)
{
    __shared__ uint8_t s[20][20];
    for (int i = threadIdx.y * 16 + threadIdx.x; i < 400; i += 256) s[i / 20][i % 20] = in[(blockIdx.y * 16 + i / 20) * 144 + blockIdx.x * 16 + i % 20];
    __syncthreads();
    int lo = 0, hi = 255;
    while (lo < hi) {
        int m = (lo + hi) / 2, n = 0;
        for (int j = 0; j < 5; j++)
            for (int i = 0; i < 5; i++) n += s[threadIdx.y + j][threadIdx.x + i] <= m;
        if (n >= 13) hi = m;
        else lo = m + 1;
    }
    out[(blockIdx.y * 16 + threadIdx.y) * 128 + blockIdx.x * 16 + threadIdx.x] = lo;
}

//! cubic_values_between_samples 33 128 | f32:1024:-1:1 | f32:16896:0:1020 | out f32:16896
// Four samples and Catmull and Rom's weights, without a texture.
K cubic_values_between_samples(const float *table, const float *at, float *out)
{
    for (int k = 0; k < 4; k++) {
        int i = (blockIdx.x * 4 + k) * 128 + threadIdx.x;
        float x = at[i], f = floorf(x), t = x - f;
        int j = (int)f;
        float a = table[j], b = table[j + 1], c = table[j + 2], d = table[j + 3];
        out[i] = b + 0.5f * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
    }
}

//! volume_trilinear_by_hand 33 64 | f32:32768 | f32:6336:0:30.9 | out f32:2112
K volume_trilinear_by_hand(const float *v, const float *p, float *out)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    float x = p[i * 3], y = p[i * 3 + 1], z = p[i * 3 + 2];
    int a = (int)x, b = (int)y, c = (int)z;
    float u = x - a, w = y - b, t = z - c, s = 0;
    for (int k = 0; k < 8; k++) {
        float f = (k & 1 ? u : 1 - u) * (k & 2 ? w : 1 - w) * (k & 4 ? t : 1 - t);
        s += f * v[((c + (k >> 2)) * 32 + b + (k >> 1 & 1)) * 32 + a + (k & 1)];
    }
    out[i] = s;
}

//! first_negative_of_each_row 33 64 | s32:67584:-3:200 | out s32:2112
// Rows of 32, left as soon as something is found.
K first_negative_of_each_row(const int *x, int *at)
{
    int i = blockIdx.x * 64 + threadIdx.x, k = 0;
    for (; k < 32; k++)
        if (x[i * 32 + k] < 0) break;
    at[i] = k;
}

//! guards_before_everything 17 96 | s32:1632:-50:50 | f32:1632:-1:1 | out f32:1632 | s s32 1600
K guards_before_everything(const int *n, const float *x, float *y, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    int m = n[i];
    if (m < 0) {
        y[i] = -1;
        return;
    }
    if (m == 0) return;
    float v = x[i];
    if (!(v > 0)) {
        y[i] = v;
        return;
    }
    for (int k = 0; k < m; k++) {
        v = v * v + 0.1f;
        if (v > 4) {
            y[i] = k;
            return;
        }
    }
    y[i] = v;
}

//! pieces_of_four_matrices_by_pointers 8 64 | f32:4096:-1:1 | f32:4096:-1:1 | out f32:2048 | s s32 32
struct View {
    const float *p;
    int stride;
    __device__ float operator()(int r, int c) const { return p[r * stride + c]; }
};
__device__ __noinline__ float row_by_column(const View &a, const View &b, int r, int c, int n)
{
    float s = 0;
    for (int k = 0; k < n; k++) s += a(r, k) * b(k, c);
    return s;
}
K pieces_of_four_matrices_by_pointers(const float *A, const float *B, float *C, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x, r = i / 32, c = i % 32;
    View a = {A + (r >= 8 ? 2048 : 0), 64}, b = {B + (c >= 16 ? 32 : 0), 64};
    float s = row_by_column(a, b, r % 8, c % 16, n);
    a.p += 32;
    b.p += 1024;
    C[i] = s + row_by_column(a, b, r % 8, c % 16, n);
    C[i + 512] = s;
    C[i + 1024] = (float)r;
    C[i + 1536] = (float)c;
}

//! numbers_written_in_roman 9 64 | u32:576:1:4000 | out u8:9216
K numbers_written_in_roman(const uint32_t *in, uint8_t *out)
{
    const uint16_t value[13] = {1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1};
    const char sign[13][3] = {"M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"};
    int i = blockIdx.x * 64 + threadIdx.x;
    uint32_t v = in[i], n = 0;
    for (int k = 0; k < 13; k++)
        while (v >= value[k]) {
            v -= value[k];
            for (int j = 0; j < 2 && sign[k][j]; j++)
                if (n < 16) out[i * 16 + n++] = sign[k][j];
        }
}

//! spiral_order_of_small_squares 17 36 | u32:22032 | out u32:22032
// Each thread finds its place on the spiral of a square of six by walking there.
K spiral_order_of_small_squares(const uint32_t *in, uint32_t *out)
{
    for (int m = 0; m < 36; m++) {
        int r = 0, c = 0, dr = 0, dc = 1, lo = 0, steps = threadIdx.x, left = 5, turns = 0;
        while (steps > 0) {
            int go = min(steps, left);
            r += dr * go;
            c += dc * go;
            steps -= go;
            int t = dr;
            dr = dc;
            dc = -t;
            turns++;
            if (turns >= 3 && (turns & 1)) lo++;
            left = turns < 3 ? 5 : 5 - (turns - 1) / 2;
        }
        out[(blockIdx.x * 36 + m) * 36 + threadIdx.x] = in[(blockIdx.x * 36 + m) * 36 + r * 6 + c] + lo;
    }
}

//! half_complex_numbers_squared 33 128 | f16:8448:-1:1 | out f16:8448 | out u8:4224
K half_complex_numbers_squared(const __half2 *c, __half2 *z, uint8_t *n)
{
    int i = blockIdx.x * 128 + threadIdx.x, k = 0;
    __half2 p = c[i], v = __float2half2_rn(0);
    for (; k < 24; k++) {
        __half x = __low2half(v), y = __high2half(v), xx = __hmul(x, x), yy = __hmul(y, y);
        if (__hgt(__hadd(xx, yy), __float2half(4))) break;
        v = __hadd2(__halves2half2(__hsub(xx, yy), __hmul(__hadd(x, x), y)), p);
    }
    z[i] = v;
    n[i] = k;
}

//! days_of_rain_trapped 17 64 | s32:17408:0:20 | out s32:1088
// Water between walls of sixteen heights by two pointers.
K days_of_rain_trapped(const int *h, int *water)
{
    int i = blockIdx.x * 64 + threadIdx.x, l = 0, r = 15, a = 0, b = 0, s = 0;
    int v[16];
    for (int k = 0; k < 16; k++) v[k] = h[k * 1088 + i];
    while (l < r) {
        if (v[l] < v[r]) {
            a = max(a, v[l]);
            s += a - v[l++];
        } else {
            b = max(b, v[r]);
            s += b - v[r--];
        }
    }
    water[i] = s;
}

//! trees_visited_in_threaded_order 9 64 | s16:1152:-1:64 | u32:64 | out u32:576
// Left child, right sibling: the tree is walked with the path in a word, twenty steps at most.
K trees_visited_in_threaded_order(const short2 *node, const uint32_t *value, uint32_t *sum)
{
    int i = blockIdx.x * 64 + threadIdx.x, at = i & 63, depth = 0;
    uint32_t s = 0, path = 0;
    for (int n = 0; n < 40; n++) {
        short2 w = node[(at * 9 + blockIdx.x) % 576];
        s = s * 31 + value[at] + depth;
        if (w.x >= 0 && depth < 8) {
            path = path << 4 | (at & 15);
            depth++;
            at = w.x;
        } else if (w.y >= 0 && (w.y & 3)) {
            at = w.y;
        } else {
            if (depth == 0) break;
            at = path & 15;
            path >>= 4;
            depth--;
        }
    }
    sum[i] = s;
}
