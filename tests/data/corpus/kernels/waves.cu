/* waves.cu - waves, heat, signals and flows on grids. */
#include <cstdint>
#include <cuda_pipeline_primitives.h>

using real = float;

//! rod_heat_steps 6 512 | f32:3072:0:100 | out f32:3072 | s s32 40 | s f32 0.2
// a rod a block, its two ends fixed, forty explicit steps with two copies in shared memory
extern "C" __global__ void rod_heat_steps(const real *__restrict__ u0, real *__restrict__ u1, int steps, real alpha)
{
    __shared__ real buf[2][512];
    const int i = threadIdx.x;
    int cur = 0;
    buf[0][i] = u0[blockIdx.x * 512 + i];
    __syncthreads();
    for (int s = 0; s < steps; ++s) {
        real v = buf[cur][i];
        if (i > 0 && i < 511)
            v += alpha * (buf[cur][i - 1] - 2 * v + buf[cur][i + 1]);
        buf[cur ^ 1][i] = v;
        cur ^= 1;
        __syncthreads();
    }
    u1[blockIdx.x * 512 + i] = buf[cur][i];
}

//! wave_box 8,8,8 8,8,8 | f32:262144:-1:1 | f32:262144:-1:1 | out f32:262144 | s s32 64 | s s32 64 | s s32 64 | s f32 0.1
#define IDX(x, y, z) (((z) * ny + (y)) * nx + (x))
extern "C" __global__ void wave_box(const real *p, const real *pold, real *pnew, int nx, int ny, int nz, real c)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1)
        return;
    real lap = p[IDX(x - 1, y, z)] + p[IDX(x + 1, y, z)] + p[IDX(x, y - 1, z)] + p[IDX(x, y + 1, z)] +
               p[IDX(x, y, z - 1)] + p[IDX(x, y, z + 1)] - 6.0f * p[IDX(x, y, z)];
    pnew[IDX(x, y, z)] = 2.0f * p[IDX(x, y, z)] - pold[IDX(x, y, z)] + c * lap;
}

//! lax_wendroff 100 256 | f64:76800:-1:1 | out f64:76800 | s s32 76800 | s f64 0.4
extern "C" __global__ void lax_wendroff(const double *u, double *v, int n, double nu)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        int l = i == 0 ? n - 1 : i - 1, r = i == n - 1 ? 0 : i + 1;
        v[i] = u[i] - 0.5 * nu * (u[r] - u[l]) + 0.5 * nu * nu * (u[r] - 2 * u[i] + u[l]);
    }
}

//! kdv_periodic 33 96 | f32:3168:-1:1 | f32:3168:-1:1 | out f32:3168 | s s32 3168 | s f32 0.1 | s f32 0.001
extern "C" __global__ void kdv_periodic(const float *u, const float *uold, float *unew, int n, float dx, float dt)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int m1 = (i + n - 1) % n, m2 = (i + n - 2) % n, p1 = (i + 1) % n, p2 = (i + 2) % n;
    float adv = (u[p1] + u[i] + u[m1]) * (u[p1] - u[m1]) / dx;
    float disp = (u[p2] - 2.0f * u[p1] + 2.0f * u[m1] - u[m2]) / (dx * dx * dx);
    unew[i] = uold[i] - 2.0f * dt * adv - 0.022f * 0.022f * dt * disp;
}

//! upwind_wind 16,32 16,8 | f64:65536:0:1 | f64:65536:-1:1 | f64:65536:-1:1 | out f64:65536 | s s32 256 | s f64 0.25
extern "C" __global__ void upwind_wind(const double *c, const double *u, const double *v, double *out, int n, double k)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, i = y * n + x;
    double here = c[i], gx, gy;
    if (u[i] > 0)
        gx = here - (x > 0 ? c[i - 1] : 0.0);
    else
        gx = (x + 1 < n ? c[i + 1] : 0.0) - here;
    if (v[i] > 0)
        gy = here - (y > 0 ? c[i - n] : 0.0);
    else
        gy = (y + 1 < n ? c[i + n] : 0.0) - here;
    out[i] = here - k * (u[i] * gx + v[i] * gy);
}

//! nine_point_halo 10,10 16,16 | f32:26244:-1:1 | out f32:26244 | s s32 162
template <int B>
__device__ __forceinline__ void load_halo(float (&s)[B + 2][B + 2], const float *g, int ld)
{
    int tx = threadIdx.x, ty = threadIdx.y;
    s[ty + 1][tx + 1] = g[0];
    if (tx == 0) s[ty + 1][0] = g[-1];
    if (tx == B - 1) s[ty + 1][B + 1] = g[1];
    if (ty == 0) s[0][tx + 1] = g[-ld];
    if (ty == B - 1) s[B + 1][tx + 1] = g[ld];
    if (tx == 0 && ty == 0) s[0][0] = g[-ld - 1];
    if (tx == B - 1 && ty == 0) s[0][B + 1] = g[-ld + 1];
    if (tx == 0 && ty == B - 1) s[B + 1][0] = g[ld - 1];
    if (tx == B - 1 && ty == B - 1) s[B + 1][B + 1] = g[ld + 1];
    __syncthreads();
}
extern "C" __global__ void nine_point_halo(const float *__restrict__ in, float *__restrict__ out, int ld)
{
    __shared__ float s[18][18];
    int i = (blockIdx.y * 16 + threadIdx.y + 1) * ld + blockIdx.x * 16 + threadIdx.x + 1;
    load_halo<16>(s, in + i, ld);
    const int x = threadIdx.x + 1, y = threadIdx.y + 1;
    float edge = s[y][x - 1] + s[y][x + 1] + s[y - 1][x] + s[y + 1][x];
    float corner = s[y - 1][x - 1] + s[y - 1][x + 1] + s[y + 1][x - 1] + s[y + 1][x + 1];
    out[i] = 0.2f * edge + 0.05f * corner;
}

//! fir_63_shared 40 256 | f32:20542:-1:1 | f32:63:-0.1:0.1 | out f32:20480
extern "C" __global__ void fir_63_shared(const float *__restrict__ x, const float *__restrict__ h, float *__restrict__ y)
{
    __shared__ float xs[512 + 62];
    __shared__ float hs[63];
    int base = blockIdx.x * 512, t = threadIdx.x;
    for (int i = t; i < 512 + 62; i += blockDim.x)
        xs[i] = x[base + i];
    if (t < 63)
        hs[t] = h[t];
    __syncthreads();
    float acc0 = 0, acc1 = 0;
    for (int k = 0; k < 63; ++k) {
        acc0 += hs[k] * xs[t + 62 - k];
        acc1 += hs[k] * xs[t + 256 + 62 - k];
    }
    y[base + t] = acc0;
    y[base + t + 256] = acc1;
}

//! autocorrelate 48 128 | f32:4096:-1:1 | out f32:48 | s s32 4096
extern "C" __global__ void autocorrelate(const float *x, float *r, int n)
{
    __shared__ float part[4];
    int lag = blockIdx.x;
    float s = 0.0f;
    for (int i = threadIdx.x; i + lag < n; i += blockDim.x)
        s = fmaf(x[i], x[i + lag], s);
    for (int o = 16; o > 0; o >>= 1)
        s += __shfl_down_sync(0xffffffffu, s, o);
    if ((threadIdx.x & 31) == 0)
        part[threadIdx.x >> 5] = s;
    __syncthreads();
    if (threadIdx.x == 0)
        r[lag] = (part[0] + part[1] + part[2] + part[3]) / n;
}

//! iir_channels 8 64 | f32:65536:-1:1 | out f32:65536 | s s32 128 | s f32 -1.6 | s f32 0.64
// a channel a thread, sample by sample, the samples of all channels side by side
extern "C" __global__ void iir_channels(const float *in, float *out, int samples, float a1, float a2)
{
    int ch = blockIdx.x * blockDim.x + threadIdx.x, channels = gridDim.x * blockDim.x;
    float y1 = 0, y2 = 0;
    for (int k = 0; k < samples; k++) {
        float y = 0.04f * in[k * channels + ch] - a1 * y1 - a2 * y2;
        out[k * channels + ch] = y;
        y2 = y1;
        y1 = y;
    }
}

//! cordic_angles 60 256 | s32:15360:-100000:100000 | out s32:30720 | s s32 15360
__constant__ int atan_table[16] = {51472, 30386, 16055, 8150, 4091, 2047, 1024, 512, 256, 128, 64, 32, 16, 8, 4, 2};
extern "C" __global__ void cordic_angles(const int *angle, int2 *cs, int n)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= n) return;
    int x = 39797, y = 0, z = angle[id];
    for (int i = 0; i < 16; i++) {
        int dx = y >> i, dy = x >> i;
        if (z >= 0) {
            x -= dx;
            y += dy;
            z -= atan_table[i];
        } else {
            x += dx;
            y -= dy;
            z += atan_table[i];
        }
    }
    cs[id] = make_int2(x, y);
}

//! unwrap_phase 30 32,4 | f32:15360:-3.14:3.14 | out f32:15360
// a row of 128 a warp; the turns so far are a scan over the lanes and carried along
extern "C" __global__ void unwrap_phase(const float *phase, float *out)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    int carry = 0;
    float last = phase[row * 128];
    for (int c = 0; c < 128; c += 32) {
        float p = phase[row * 128 + c + lane];
        float before = __shfl_up_sync(0xffffffff, p, 1);
        if (lane == 0) before = last;
        float d = p - before;
        int turn = d > 3.14159265f ? -1 : d < -3.14159265f ? 1 : 0;
        for (int o = 1; o < 32; o <<= 1) {
            int t = __shfl_up_sync(0xffffffff, turn, o);
            if (lane >= o) turn += t;
        }
        turn += carry;
        out[row * 128 + c + lane] = p + 6.2831853f * turn;
        carry = __shfl_sync(0xffffffff, turn, 31);
        last = __shfl_sync(0xffffffff, p, 31);
    }
}

__constant__ float wt[19] = {0.3333333f, 0.0555556f, 0.0555556f, 0.0555556f, 0.0555556f, 0.0555556f, 0.0555556f, 0.0277778f, 0.0277778f,
                             0.0277778f, 0.0277778f, 0.0277778f, 0.0277778f, 0.0277778f, 0.0277778f, 0.0277778f, 0.0277778f, 0.0277778f,
                             0.0277778f};
//! lbm_d3q19_collide 64 256 | inout f32:311296:0.01:0.1 | out f32:16384 | s s32 16384 | s f32 1.2
extern "C" __global__ void __launch_bounds__(256) lbm_d3q19_collide(float *f, float *density, int cells, float omega)
{
    const int cx[19] = {0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1, 0, 0, 0, 0};
    const int cy[19] = {0, 0, 0, 1, -1, 0, 0, 1, -1, -1, 1, 0, 0, 0, 0, 1, -1, 1, -1};
    const int cz[19] = {0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, -1, -1, 1, 1, -1, -1, 1};
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cells) return;
    float q[19], rho = 0, ux = 0, uy = 0, uz = 0;
#pragma unroll
    for (int i = 0; i < 19; i++) {
        q[i] = f[i * cells + c];
        rho += q[i];
        ux += cx[i] * q[i];
        uy += cy[i] * q[i];
        uz += cz[i] * q[i];
    }
    ux /= rho;
    uy /= rho;
    uz /= rho;
    float usq = 1.5f * (ux * ux + uy * uy + uz * uz);
#pragma unroll
    for (int i = 0; i < 19; i++) {
        float cu = 3.0f * (cx[i] * ux + cy[i] * uy + cz[i] * uz);
        float eq = wt[i] * rho * (1.0f + cu + 0.5f * cu * cu - usq);
        f[i * cells + c] = q[i] + omega * (eq - q[i]);
    }
    density[c] = rho;
}

//! streamed_rows 24 128 | f32:98304:-1:1 | out f32:98304 | s s32 32
// rows of 128 run through a ring of four in shared memory, copied ahead; each is averaged with both neighbours
extern "C" __global__ void streamed_rows(const float *in, float *out, int rows)
{
    __shared__ __align__(16) float ring[4][128];
    const float *src = in + blockIdx.x * rows * 128;
    float *dst = out + blockIdx.x * rows * 128;
    int t = threadIdx.x;
    for (int r = 0; r < 2; r++) {
        __pipeline_memcpy_async(&ring[r][t], src + r * 128 + t, 4);
        __pipeline_commit();
    }
    float before = 0;
    for (int r = 0; r < rows; r++) {
        if (r + 2 < rows)
            __pipeline_memcpy_async(&ring[(r + 2) & 3][t], src + (r + 2) * 128 + t, 4);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        float me = ring[r & 3][t];
        float left = t ? ring[r & 3][t - 1] : me, right = t < 127 ? ring[r & 3][t + 1] : me;
        float below = r + 1 < rows ? ring[(r + 1) & 3][t] : me;
        dst[r * 128 + t] = 0.2f * (me + left + right + below + before);
        before = me;
    }
}
