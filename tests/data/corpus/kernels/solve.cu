/* solve.cu - linear systems, factorisations and eigenvalues: dense, banded, sparse, many small ones. */
#include <cstdint>
#define K extern "C" __global__ void
static __device__ float warp_total(float v)
{
    for (int d = 16; d; d >>= 1) v += __shfl_xor_sync(~0u, v, d);
    return v;
}
//! trsm_lower_tile 48 32,4 | f32:49152:-0.1:0.1 | inout f32:98304:-1:1
// Solves L X = B for one 32 x 32 triangle a block and 64 right sides.
K trsm_lower_tile(const float *l, float *b)
{
    __shared__ float s[32][33], x[32][64];
    int tx = threadIdx.x, ty = threadIdx.y, t = ty * 32 + tx;
    const float *tri = l + blockIdx.x * 1024;
    float *g = b + blockIdx.x * 2048;
    for (int r = ty; r < 32; r += 4) s[r][tx] = r == tx ? 1.0f / (2.0f + tri[r * 32 + tx]) : tri[r * 32 + tx];
    for (int i = t; i < 2048; i += 128) x[i / 64][i % 64] = g[i];
    __syncthreads();
    for (int k = 0; k < 32; k++) {
        if (t < 64) x[k][t] *= s[k][k];
        __syncthreads();
        for (int i = t; i < (31 - k) * 64; i += 128) x[k + 1 + i / 64][i % 64] -= s[k + 1 + i / 64][k] * x[k][i % 64];
        __syncthreads();
    }
    for (int i = t; i < 2048; i += 128) g[i] = x[i / 64][i % 64];
}
//! householder_warp 96 32 | f32:24576:-1:1 | out f32:24576 | out f32:768
// A warp reduces a 32 x 8 matrix to R: a lane is a row, the columns are registers.
K householder_warp(const float *m, float *r, float *beta)
{
    int lane = threadIdx.x;
    float a[8];
#pragma unroll
    for (int j = 0; j < 8; j++) a[j] = m[(blockIdx.x * 32 + lane) * 8 + j];
#pragma unroll
    for (int k = 0; k < 8; k++) {
        float v = lane >= k ? a[k] : 0, n = warp_total(v * v), head = __shfl_sync(~0u, a[k], k);
        float alpha = head > 0 ? -sqrtf(n) : sqrtf(n), u = lane == k ? v - alpha : v, b = 1.0f / (n - alpha * head);
#pragma unroll
        for (int j = k; j < 8; j++) a[j] -= warp_total(u * a[j]) * b * u;
        if (lane == 0) beta[blockIdx.x * 8 + k] = b;
    }
#pragma unroll
    for (int j = 0; j < 8; j++) r[(blockIdx.x * 32 + lane) * 8 + j] = a[j];
}
//! givens_fit 24 96 | f64:41472:-1:1 | out f64:6912
// Each thread fits a parabola to six points by rotations of the rows.
K givens_fit(const double *in, double *out)
{
    int t = blockIdx.x * 96 + threadIdx.x;
    const double *p = in + t * 18;
    double r[3][4] = {};
    for (int i = 0; i < 6; i++) {
        double x = p[3 * i] * 4, row[4] = {1, x, x * x, p[3 * i + 1] + p[3 * i + 2]};
#pragma unroll
        for (int k = 0; k < 3; k++) {
            double h = sqrt(r[k][k] * r[k][k] + row[k] * row[k]);
            if (h == 0) continue;
            double c = r[k][k] / h, s = row[k] / h;
#pragma unroll
            for (int j = k; j < 4; j++) {
                double u = r[k][j], v = row[j];
                r[k][j] = c * u + s * v;
                row[j] = c * v - s * u;
            }
        }
    }
    double x2 = r[2][3] / r[2][2], x1 = (r[1][3] - r[1][2] * x2) / r[1][1];
    out[t * 3] = (r[0][3] - r[0][1] * x1 - r[0][2] * x2) / r[0][0];
    out[t * 3 + 1] = x1;
    out[t * 3 + 2] = x2;
}
//! cholesky_shared 40 32,8 | inout f64:40960:-1:1
K cholesky_shared(double *m)
{
    __shared__ double a[32][33];
    const int tx = threadIdx.x, ty = threadIdx.y, t = ty * 32 + tx;
    double *g = m + blockIdx.x * 1024;
    for (int r = ty; r < 32; r += 8) a[r][tx] = g[r * 32 + tx] + (r == tx ? 36.0 : 0.0);
    __syncthreads();
    for (int k = 0; k < 32; k++) {
        if (t == 0) a[k][k] = sqrt(a[k][k]);
        __syncthreads();
        if (t > k && t < 32) a[t][k] /= a[k][k];
        __syncthreads();
        for (int r = k + 1 + ty; r < 32; r += 8)
            if (tx > k && tx <= r) a[r][tx] -= a[r][k] * a[tx][k];
        __syncthreads();
    }
    for (int r = ty; r < 32; r += 8) g[r * 32 + tx] = tx <= r ? a[r][tx] : 0.0;
}
//! thomas_interleaved 40 64 | f32:163840:-1:1 | f32:163840:4:5 | f32:163840:-1:1 | inout f32:163840:-9:9 | out f32:163840 | s s32 64
// A tridiagonal system a thread; element i of system t lies at i * systems + t.
K thomas_interleaved(const float *__restrict__ a, const float *__restrict__ b, const float *__restrict__ c, float *d, float *w, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    float cp = c[t] / b[t], dp = d[t] / b[t];
    w[t] = cp;
    d[t] = dp;
    for (int i = 1; i < n; i++) {
        int p = i * all + t;
        float m = 1.0f / (b[p] - a[p] * cp);
        w[p] = cp = c[p] * m;
        d[p] = dp = (d[p] - a[p] * dp) * m;
    }
    for (int i = n - 2; i >= 0; i--) d[i * all + t] = dp = d[i * all + t] - w[i * all + t] * dp;
}
//! cyclic_reduction 60 256 | f32:15360:-1:0 | f32:15360:3:5 | f32:15360:-1:0 | f32:15360:-1:1 | out f32:15360
// Parallel cyclic reduction of 256 equations a block.
K cyclic_reduction(const float *ga, const float *gb, const float *gc, const float *gd, float *x)
{
    __shared__ float a[256], b[256], c[256], d[256];
    int i = threadIdx.x, g = blockIdx.x * 256 + i;
    a[i] = i ? ga[g] : 0;
    b[i] = gb[g];
    c[i] = i < 255 ? gc[g] : 0;
    d[i] = gd[g];
    __syncthreads();
    for (int s = 1; s < 256; s *= 2) {
        int lo = max(i - s, 0), hi = min(i + s, 255);
        float k1 = i - s >= 0 ? a[i] / b[lo] : 0, k2 = i + s < 256 ? c[i] / b[hi] : 0;
        float nb = b[i] - c[lo] * k1 - a[hi] * k2, nd = d[i] - d[lo] * k1 - d[hi] * k2, na = -a[lo] * k1, nc = -c[hi] * k2;
        __syncthreads();
        a[i] = na;
        b[i] = nb;
        c[i] = nc;
        d[i] = nd;
        __syncthreads();
    }
    x[g] = d[i] / b[i];
}
//! gemm_two_stage 4,8 128 | f32:65536:-1:1 | f32:65536:-1:1 | out f32:65536 | s s32 256
// 32 x 64 a block, 4 x 4 a thread; the next slice waits in registers while this one is used, two buffers.
K __launch_bounds__(128) gemm_two_stage(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int n)
{
    __shared__ float sa[2][8][32], sb[2][8][64];
    const int t = threadIdx.x, tx = t % 16, ty = t / 16, row = blockIdx.y * 32, col = blockIdx.x * 64;
    float acc[4][4] = {}, ra[2], rb[4];
    auto fetch = [&](int k0) {
#pragma unroll
        for (int q = 0; q < 2; q++) ra[q] = A[(row + t / 8 + 16 * q) * n + k0 + t % 8];
#pragma unroll
        for (int q = 0; q < 4; q++) rb[q] = B[(k0 + t / 64 + 2 * q) * n + col + t % 64];
    };
    auto keep = [&](int s) {
#pragma unroll
        for (int q = 0; q < 2; q++) sa[s][t % 8][t / 8 + 16 * q] = ra[q];
#pragma unroll
        for (int q = 0; q < 4; q++) sb[s][t / 64 + 2 * q][t % 64] = rb[q];
    };
    fetch(0);
    keep(0);
    __syncthreads();
    for (int k0 = 0, s = 0; k0 < n; k0 += 8, s ^= 1) {
        if (k0 + 8 < n) fetch(k0 + 8);
#pragma unroll
        for (int k = 0; k < 8; k++)
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) acc[i][j] += sa[s][k][ty * 4 + i] * sb[s][k][tx + 16 * j];
        if (k0 + 8 < n) keep(s ^ 1);
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) C[(row + ty * 4 + i) * n + col + tx + 16 * j] = acc[i][j];
}
//! gram_partials 32 16,16 | f32:65536:-1:1 | out f64:8192
// The part of 128 rows in A^T A of a matrix with sixteen columns, summed in double precision.
K gram_partials(const float *a, double *g)
{
    __shared__ float s[16][17];
    int i = threadIdx.y, j = threadIdx.x;
    double sum = 0;
    for (int r0 = 0; r0 < 128; r0 += 16) {
        s[i][j] = a[((blockIdx.x * 128) + r0 + i) * 16 + j];
        __syncthreads();
        for (int r = 0; r < 16; r++) sum += (double)s[r][i] * s[r][j];
        __syncthreads();
    }
    g[blockIdx.x * 256 + i * 16 + j] = sum;
}
//! bsr_spmv4 32 128 | u32:1024:0:7 | u32:8192:0:1024 | f32:131072:-1:1 | f32:4096:-1:1 | out f32:4096
// Blocks of 4 x 4: eight lanes a row of blocks, a quarter of a block's row each.
K bsr_spmv4(const unsigned *len, const unsigned *col, const float4 *val, const float4 *x, float *y)
{
    int g = (blockIdx.x * 128 + threadIdx.x) / 4, r = threadIdx.x % 4, n = len[g];
    float s = 0;
    for (int p = 0; p < n; p++) {
        float4 v = val[(g * 8 + p) * 4 + r], u = x[col[g * 8 + p]];
        s += v.x * u.x + v.y * u.y + v.z * u.z + v.w * u.w;
    }
    y[g * 4 + r] = s;
}
//! coo_segments 66 128 | u32:16896:0:3 | u32:16896:0:2048 | s32:16896:-9:10 | s32:2048:-9:10 | zero s32:26000
// Rows rise by 0 or 1 from element to element; a warp adds runs of a row before it adds to memory.
K coo_segments(const unsigned *step, const unsigned *col, const int *val, const int *x, int *y)
{
    int lane = threadIdx.x & 31, base = (blockIdx.x * 4 + threadIdx.x / 32) * 64, row = base * 3 / 2;
    for (int k = 0; k < 64; k += 32) {
        int p = base + k + lane, r = step[p] == 2, v = val[p] * x[col[p]];
        for (int d = 1; d < 32; d *= 2) {
            int o = __shfl_up_sync(~0u, r, d);
            if (lane >= d) r += o;
        }
        r += row;
        for (int d = 1; d < 32; d *= 2) {
            int ov = __shfl_up_sync(~0u, v, d), orow = __shfl_up_sync(~0u, r, d);
            if (lane >= d && orow == r) v += ov;
        }
        int next = __shfl_down_sync(~0u, r, 1);
        if (lane == 31 || next != r) atomicAdd(&y[r], v);
        row = __shfl_sync(~0u, r, 31);
    }
}
//! dia_spmv 40 192 | f64:53760:-1:1 | f64:7680:-1:1 | out f64:7680 | s s32 7680
// Seven diagonals of a box of 24 x 20 x 16.
__constant__ int offsets[7] = {-480, -24, -1, 0, 1, 24, 480};
K dia_spmv(const double *d, const double *x, double *y, int n)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    double s = 0;
    for (int k = 0; k < 7; k++) {
        int c = r + offsets[k];
        if (c >= 0 && c < n) s += d[k * n + r] * x[c];
    }
    y[r] = s;
}
//! kron_apply 64 64 | f32:256:-1:1 | f32:144:-1:1 | f32:12288:-1:1 | out f32:12288
// (A kron B) x without the product's matrix: Y = B X A^T, 16 x 12, one vector of 192 a block.
K kron_apply(const float *a, const float *b, const float *x, float *y)
{
    __shared__ float sx[192], z[192];
    for (int i = threadIdx.x; i < 192; i += 64) sx[i] = x[blockIdx.x * 192 + i];
    __syncthreads();
    for (int i = threadIdx.x; i < 192; i += 64) {
        float s = 0;
        for (int k = 0; k < 12; k++) s += b[i % 12 * 12 + k] * sx[i / 12 * 12 + k];
        z[i] = s;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 192; i += 64) {
        float s = 0;
        for (int k = 0; k < 16; k++) s += a[i / 12 * 16 + k] * z[k * 12 + i % 12];
        y[blockIdx.x * 192 + i] = s;
    }
}
//! cg_one_block 4 256 | f64:1024:-1:1 | out f64:1024 | out f64:4 | s s32 12
// Conjugate gradients on a shifted 1-D Laplacian, a block a system.
static __device__ double block_dot(double v, double *part)
{
    for (int d = 16; d; d >>= 1) v += __shfl_xor_sync(~0u, v, d);
    __syncthreads();
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    double s = 0;
    for (int w = 0; w < 8; w++) s += part[w];
    return s;
}
K cg_one_block(const double *b, double *x, double *rest, int rounds)
{
    __shared__ double p[258], part[8];
    int i = threadIdx.x + 1;
    double r = b[blockIdx.x * 256 + threadIdx.x], xi = 0, rr = block_dot(r * r, part);
    if (i < 3) p[(i - 1) * 257] = 0;
    p[i] = r;
    for (int k = 0; k < rounds; k++) {
        __syncthreads();
        double q = 2.5 * p[i] - p[i - 1] - p[i + 1], mine = p[i], alpha = rr / block_dot(mine * q, part);
        xi += alpha * mine;
        r -= alpha * q;
        double next = block_dot(r * r, part);
        p[i] = r + next / rr * mine;
        rr = next;
    }
    x[blockIdx.x * 256 + threadIdx.x] = xi;
    if (i == 1) rest[blockIdx.x] = rr;
}
//! jacobi_eigen3 44 96 | f32:25344:-1:1 | out f32:12672
// Eigenvalues of symmetric 3 x 3 matrices by Jacobi rotations until the rest is small.
K jacobi_eigen3(const float *in, float *out)
{
    int t = blockIdx.x * 96 + threadIdx.x;
    float a[3][3];
    const float2 *p = (const float2 *)in + t * 3;
    float2 u = p[0], v = p[1], w = p[2];
    a[0][0] = u.x; a[1][1] = u.y; a[2][2] = v.x;
    a[0][1] = a[1][0] = v.y; a[0][2] = a[2][0] = w.x; a[1][2] = a[2][1] = w.y;
    for (int sweep = 0; sweep < 6; sweep++) {
        if (fabsf(a[0][1]) + fabsf(a[0][2]) + fabsf(a[1][2]) < 1e-6f) break;
#pragma unroll
        for (int q = 0; q < 3; q++) {
            const int i = q == 2 ? 1 : 0, j = q == 0 ? 1 : 2, k = 3 - i - j;
            if (fabsf(a[i][j]) < 1e-9f) continue;
            float th = (a[j][j] - a[i][i]) / (2 * a[i][j]), s = copysignf(1.0f, th) / (fabsf(th) + sqrtf(th * th + 1));
            float c = rsqrtf(s * s + 1), sn = s * c, ki = a[k][i], kj = a[k][j];
            a[i][i] -= s * a[i][j];
            a[j][j] += s * a[i][j];
            a[i][j] = a[j][i] = 0;
            a[k][i] = a[i][k] = c * ki - sn * kj;
            a[k][j] = a[j][k] = sn * ki + c * kj;
        }
    }
    out[t * 3] = a[0][0];
    out[t * 3 + 1] = a[1][1];
    out[t * 3 + 2] = a[2][2];
}
