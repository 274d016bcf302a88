/* pde.cu - waves, flows, reactions and grids of several levels. */
#include <cstdint>
#define K extern "C" __global__ void
//! wave_leapfrog 4,32 64,4 | f32:32768:-1:1 | inout f32:32768:-1:1 | s s32 256 | s s32 128 | s f32 0.3
K wave_leapfrog(const float *now, float *then, int w, int h, float c2)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, i = y * w + x;
    float u = now[i];
    float left = x > 0 ? now[i - 1] : 0, right = x < w - 1 ? now[i + 1] : 0, up = y > 0 ? now[i - w] : 0, down = y < h - 1 ? now[i + w] : 0;
    then[i] = 2 * u - then[i] + c2 * (left + right + up + down - 4 * u);
}
//! adi_rows 12 32 | f64:24576:0:1 | out f64:24576 | s f64 0.4
// The implicit half step along rows of 64: a row a thread, the eliminated factors in a local array.
K adi_rows(const double *u, double *out, double r)
{
    double c[64], d[64];
    int row = blockIdx.x * 32 + threadIdx.x, rows = gridDim.x * 32;
    for (int i = 0; i < 64; i++) {
        int up = max(row - 1, 0), down = min(row + 1, rows - 1);
        double v = u[row * 64 + i], rhs = v + r * (u[up * 64 + i] - 2 * v + u[down * 64 + i]);
        double m = 1 / (1 + 2 * r + (i ? r * c[i - 1] : 0.0));
        c[i] = -r * m;
        d[i] = (rhs + (i ? r * d[i - 1] : 0.0)) * m;
    }
    double x = d[63];
    out[row * 64 + 63] = x;
    for (int i = 62; i >= 0; i--) out[row * 64 + i] = x = d[i] - c[i] * x;
}
//! fdtd_electric 8,16 16,16 | inout f32:32768:-1:1 | inout f32:32768:-1:1 | f32:32768:-1:1 | u8:32768:0:3 | s s32 128
// The electric half step of two-dimensional FDTD with a material number a cell.
__constant__ float gain[4] = {0.5f, 0.35f, 0.2f, 0.1f}, loss[4] = {1.0f, 0.98f, 0.9f, 0.5f};
K fdtd_electric(float *__restrict__ ex, float *__restrict__ ey, const float *__restrict__ hz, const uint8_t *__restrict__ material, int w)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y, i = y * w + x, m = material[i];
    float h = hz[i], g = gain[m], l = loss[m];
    if (y) ex[i] = l * ex[i] + g * (h - hz[i - w]);
    if (x) ey[i] = l * ey[i] - g * (h - hz[i - 1]);
}
//! mg_restrict 8,8 8,8 | f32:16384:-1:1 | f32:16384:-1:1 | out f32:4096 | s s32 128
// The residual of a Poisson problem and its full weighting onto the grid half as fine.
K mg_restrict(const float *u, const float *f, float *coarse, int n)
{
    __shared__ float r[17][18];
    int x0 = blockIdx.x * 16 - 1, y0 = blockIdx.y * 16 - 1;
    for (int i = threadIdx.y * 8 + threadIdx.x; i < 17 * 17; i += 64) {
        int x = x0 + i % 17, y = y0 + i / 17;
        float v = 0;
        if (x > 0 && y > 0 && x < n - 1 && y < n - 1) {
            const float *p = u + y * n + x;
            v = f[y * n + x] - (4 * p[0] - p[-1] - p[1] - p[-n] - p[n]);
        }
        r[i / 17][i % 17] = v;
    }
    __syncthreads();
    int a = 2 * threadIdx.x + 1, b = 2 * threadIdx.y + 1;
    float s = 4 * r[b][a] + 2 * (r[b][a - 1] + r[b][a + 1] + r[b - 1][a] + r[b + 1][a]);
    s += r[b - 1][a - 1] + r[b - 1][a + 1] + r[b + 1][a - 1] + r[b + 1][a + 1];
    coarse[(blockIdx.y * 8 + threadIdx.y) * (n / 2) + blockIdx.x * 8 + threadIdx.x] = s / 16;
}
//! mg_prolong 16,8 16,8 | f32:4096:-1:1 | inout f32:32768:-1:1
// Adds a bilinear interpolation of 64 x 64 values to 256 x 128: twice as fine one way, four times the other.
K mg_prolong(const float *c, float *fine)
{
    int x = blockIdx.x * 16 + threadIdx.x, y0 = (blockIdx.y * 8 + threadIdx.y) * 2;
    float fx = x * 0.25f;
    int cx = (int)fx, nx = min(cx + 1, 63);
    fx -= cx;
#pragma unroll
    for (int k = 0; k < 2; k++) {
        int y = y0 + k, cy = y / 2, ny = min(cy + (y & 1), 63);
        float a = c[cy * 64 + cx] + fx * (c[cy * 64 + nx] - c[cy * 64 + cx]), b = c[ny * 64 + cx] + fx * (c[ny * 64 + nx] - c[ny * 64 + cx]);
        fine[y * 256 + x] += 0.5f * (a + b);
    }
}
//! weno5_faces 30 128 | f64:3840:0.5:2 | out f64:3840 | s s32 3840
static __device__ double weno5(double a, double b, double c, double d, double e)
{
    double s0 = 13.0 / 12 * (a - 2 * b + c) * (a - 2 * b + c) + 0.25 * (a - 4 * b + 3 * c) * (a - 4 * b + 3 * c);
    double s1 = 13.0 / 12 * (b - 2 * c + d) * (b - 2 * c + d) + 0.25 * (b - d) * (b - d);
    double s2 = 13.0 / 12 * (c - 2 * d + e) * (c - 2 * d + e) + 0.25 * (3 * c - 4 * d + e) * (3 * c - 4 * d + e);
    double w0 = 0.1 / ((s0 + 1e-6) * (s0 + 1e-6)), w1 = 0.6 / ((s1 + 1e-6) * (s1 + 1e-6)), w2 = 0.3 / ((s2 + 1e-6) * (s2 + 1e-6));
    double q0 = (2 * a - 7 * b + 11 * c) / 6, q1 = (-b + 5 * c + 2 * d) / 6, q2 = (2 * c + 5 * d - e) / 6;
    return (w0 * q0 + w1 * q1 + w2 * q2) / (w0 + w1 + w2);
}
K weno5_faces(const double *u, double *face, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    auto at = [&](int k) { return u[(i + k + n) % n]; };
    face[i] = weno5(at(-2), at(-1), at(0), at(1), at(2));
}
//! burgers_minmod 20 128 | f32:20480:-1:1 | out f32:20480 | s s32 20480 | s f32 0.2
// A grid-stride loop over cells, slopes limited by minmod.
static __device__ float minmod(float a, float b) { return a * b <= 0 ? 0.0f : fabsf(a) < fabsf(b) ? a : b; }
static __device__ float godunov(float l, float r)
{
    if (l > r) return 0.5f * fmaxf(l * l, r * r);
    if (l > 0) return 0.5f * l * l;
    return r < 0 ? 0.5f * r * r : 0.0f;
}
K burgers_minmod(const float *u, float *out, int n, float k)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float v[5];
#pragma unroll
        for (int j = 0; j < 5; j++) v[j] = u[min(max(i + j - 2, 0), n - 1)];
        float s1 = minmod(v[1] - v[0], v[2] - v[1]), s2 = minmod(v[2] - v[1], v[3] - v[2]), s3 = minmod(v[3] - v[2], v[4] - v[3]);
        float left = godunov(v[1] + 0.5f * s1, v[2] - 0.5f * s2), right = godunov(v[2] + 0.5f * s2, v[3] - 0.5f * s3);
        out[i] = v[2] - k * (right - left);
    }
}
//! stencil27_halo 4,8,8 8,4,4 | f32:32768:0:1 | out f32:32768
// 27 points of a 32 x 32 x 32 box, through shared memory with a halo that wraps.
K stencil27_halo(const float *in, float *out)
{
    __shared__ float s[6][6][10];
    int t = (threadIdx.z * 4 + threadIdx.y) * 8 + threadIdx.x;
    for (int i = t; i < 360; i += 128) {
        int x = (blockIdx.x * 8 + i % 10 + 31) & 31, y = (blockIdx.y * 4 + i / 10 % 6 + 31) & 31, z = (blockIdx.z * 4 + i / 60 + 31) & 31;
        s[i / 60][i / 10 % 6][i % 10] = in[(z * 32 + y) * 32 + x];
    }
    __syncthreads();
    const float w[4] = {0.25f, 0.06f, 0.025f, 0.01f};
    float v = 0;
#pragma unroll
    for (int dz = 0; dz < 3; dz++)
#pragma unroll
        for (int dy = 0; dy < 3; dy++)
#pragma unroll
            for (int dx = 0; dx < 3; dx++)
                v += w[(dx != 1) + (dy != 1) + (dz != 1)] * s[threadIdx.z + dz][threadIdx.y + dy][threadIdx.x + dx];
    out[((blockIdx.z * 4 + threadIdx.z) * 32 + blockIdx.y * 4 + threadIdx.y) * 32 + blockIdx.x * 8 + threadIdx.x] = v;
}
//! acoustic_order8 4 64 | f32:49152:-1:1 | inout f32:49152:-1:1 | f32:49152:0.1:0.4
// A column of a 256 x 192 section a thread, marched with nine values in registers, neighbours in the row from memory.
K acoustic_order8(const float *p, float *q, const float *v)
{
    const int w = 256, h = 192, x = blockIdx.x * 64 + threadIdx.x;
    const float c[5] = {-2.847222f, 1.6f, -0.2f, 0.025397f, -0.001786f};
    float z[9];
#pragma unroll
    for (int k = 0; k < 9; k++) z[k] = k < 4 ? 0.0f : p[(k - 4) * w + x];
    for (int y = 0; y < h; y++) {
        float s = 2 * c[0] * z[4];
#pragma unroll
        for (int k = 1; k <= 4; k++) {
            float left = x >= k ? p[y * w + x - k] : 0.0f, right = x + k < w ? p[y * w + x + k] : 0.0f;
            s += c[k] * (left + right + z[4 - k] + z[4 + k]);
        }
        q[y * w + x] = 2 * z[4] - q[y * w + x] + v[y * w + x] * s;
#pragma unroll
        for (int k = 0; k < 8; k++) z[k] = z[k + 1];
        z[8] = y + 5 < h ? p[(y + 5) * w + x] : 0.0f;
    }
}
//! hpp_gas 8 256 | u64:8192 | out u64:8192 | s s32 128
// A lattice gas, four directions as bits: words of sixteen cells, collisions and moves by masks, eight rows a block.
K hpp_gas(const uint64_t *in, uint64_t *out, int rows)
{
    for (int k = 0; k < 4; k++) {
        int i = (blockIdx.x * 4 + k) * 256 + threadIdx.x, y = i / 64 % rows, x = i % 64;
        auto hit = [&](int yy, int xx) {
            uint64_t c = in[((yy + rows) % rows) * 64 + (xx & 63)], n = c & 0x1111111111111111u, e = c >> 1 & 0x1111111111111111u;
            uint64_t s = c >> 2 & 0x1111111111111111u, w = c >> 3 & 0x1111111111111111u, turn = n & s & ~e & ~w | ~n & ~s & e & w;
            return c ^ turn * 15;
        };
        uint64_t a = hit(y, x), b = hit(y + 1, x), d = hit(y - 1, x), l = hit(y, x - 1), r = hit(y, x + 1);
        uint64_t north = b & 0x1111111111111111u, south = d & 0x4444444444444444u;
        uint64_t east = (a << 4 | l >> 60) & 0x2222222222222222u, west = (a >> 4 | r << 60) & 0x8888888888888888u;
        out[i] = north | south | east | west;
    }
}
//! shallow_water 6,24 32,4 | f32:73728:1:2 | out f32:73728 | s s32 192 | s s32 96 | s f32 0.05
// Lax-Friedrichs: height and two momenta in a structure of four floats.
K shallow_water(const float4 *u, float4 *out, int w, int h, float k)
{
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
    const float4 l = u[y * w + max(x - 1, 0)], r = u[y * w + min(x + 1, w - 1)], d = u[max(y - 1, 0) * w + x], t = u[min(y + 1, h - 1) * w + x];
    float4 n;
    float pl = l.y * l.y / l.x + 4.9f * l.x * l.x, pr = r.y * r.y / r.x + 4.9f * r.x * r.x;
    float qd = d.z * d.z / d.x + 4.9f * d.x * d.x, qt = t.z * t.z / t.x + 4.9f * t.x * t.x;
    n.x = 0.25f * (l.x + r.x + d.x + t.x) - k * (r.y - l.y + t.z - d.z);
    n.y = 0.25f * (l.y + r.y + d.y + t.y) - k * (pr - pl + t.y * t.z / t.x - d.y * d.z / d.x);
    n.z = 0.25f * (l.z + r.z + d.z + t.z) - k * (r.y * r.z / r.x - l.y * l.z / l.x + qt - qd);
    n.w = u[y * w + x].w;
    out[y * w + x] = n;
}
//! gray_scott 6,6 32,16 | f32:18432:0:1 | out f32:18432 | s s32 4
// Two substances on 96 x 96: several steps in a block's tile before it writes the middle 16 x 16.
K gray_scott(const float2 *in, float2 *out, int steps)
{
    __shared__ float2 s[32][33];
    int x = threadIdx.x;
    for (int y = threadIdx.y; y < 32; y += 16)
        s[y][x] = in[(blockIdx.y * 16 + y + 88) % 96 * 96 + (blockIdx.x * 16 + x + 88) % 96];
    for (int k = 0; k < steps; k++) {
        __syncthreads();
        float2 v[2];
        for (int q = 0; q < 2; q++) {
            int y = threadIdx.y + 16 * q;
            float2 c = s[y][x], l = s[y][max(x - 1, 0)], r = s[y][min(x + 1, 31)], u = s[max(y - 1, 0)][x], d = s[min(y + 1, 31)][x];
            float rate = c.x * c.y * c.y;
            v[q].x = c.x + 0.16f * (l.x + r.x + u.x + d.x - 4 * c.x) - rate + 0.035f * (1 - c.x);
            v[q].y = c.y + 0.08f * (l.y + r.y + u.y + d.y - 4 * c.y) + rate - 0.095f * c.y;
        }
        __syncthreads();
        s[threadIdx.y][x] = v[0];
        s[threadIdx.y + 16][x] = v[1];
    }
    __syncthreads();
    if (x >= 8 && x < 24) out[(blockIdx.y * 16 + threadIdx.y) * 96 + blockIdx.x * 16 + x - 8] = s[threadIdx.y + 8][x];
}
