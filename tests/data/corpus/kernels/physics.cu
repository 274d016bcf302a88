// Grids and particles.
#include <stdint.h>

//! heat2d_shared 8,8 16,16 | f32:16384:0:100 | out f32:16384 | s s32 128 | s f32 0.2
extern "C" __global__ void heat2d_shared(const float *u, float *v, int n, float k)
{
    __shared__ float s[18][18];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y, lx = threadIdx.x + 1, ly = threadIdx.y + 1;
    s[ly][lx] = u[y * n + x];
    if (threadIdx.x == 0) s[ly][0] = x > 0 ? u[y * n + x - 1] : 0;
    if (threadIdx.x == 15) s[ly][17] = x < n - 1 ? u[y * n + x + 1] : 0;
    if (threadIdx.y == 0) s[0][lx] = y > 0 ? u[(y - 1) * n + x] : 0;
    if (threadIdx.y == 15) s[17][lx] = y < n - 1 ? u[(y + 1) * n + x] : 0;
    __syncthreads();
    v[y * n + x] = s[ly][lx] + k * (s[ly][lx - 1] + s[ly][lx + 1] + s[ly - 1][lx] + s[ly + 1][lx] - 4 * s[ly][lx]);
}

//! heat3d_march 2,8 32,8 | f32:131072:0:1 | out f32:131072 | s s32 64 | s s32 32 | s f32 0.1
// A plane at a time, with the planes below and above in registers.
extern "C" __global__ void heat3d_march(const float *__restrict__ u, float *__restrict__ v, int n, int depth, float k)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, plane = n * n, i = y * n + x;
    if (x == 0 || y == 0 || x == n - 1 || y == n - 1) return;
    float below = u[i], mid = u[i + plane];
    for (int z = 1; z < depth - 1; z++) {
        float above = u[i + (z + 1) * plane];
        const float *p = u + i + z * plane;
        v[i + z * plane] = mid + k * (below + above + p[-1] + p[1] + p[-n] + p[n] - 6.0f * mid);
        below = mid;
        mid = above;
    }
}

//! jacobi_double 16,16 8,8 | f64:16384:0:1 | f64:16384:-1:1 | out f64:16384 | out f64:256 | s s32 128
extern "C" __global__ void jacobi_double(const double *u, const double *f, double *v, double *residual, int n)
{
    __shared__ double r[64];
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, i = y * n + x, t = threadIdx.y * 8 + threadIdx.x;
    double d = 0;
    if (x > 0 && y > 0 && x < n - 1 && y < n - 1) {
        double w = 0.25 * (u[i - 1] + u[i + 1] + u[i - n] + u[i + n] - f[i]);
        d = fabs(w - u[i]);
        v[i] = w;
    }
    r[t] = d;
    __syncthreads();
    for (int k = 32; k > 0; k /= 2) {
        if (t < k) r[t] = fmax(r[t], r[t + k]);
        __syncthreads();
    }
    if (t == 0) residual[blockIdx.y * gridDim.x + blockIdx.x] = r[0];
}

//! red_black 16 16,16 | inout f32:4096:0:1 | s s32 10
// Sixteen independent 16 x 16 grids, ten sweeps of Gauss-Seidel each.
extern "C" __global__ void red_black(float *g, int sweeps)
{
    __shared__ float u[18][18];
    float *p = g + blockIdx.x * 256;
    int x = threadIdx.x, y = threadIdx.y, t = y * 16 + x;
    for (int i = t; i < 18 * 18; i += 256) u[i / 18][i % 18] = 0;
    __syncthreads();
    u[y + 1][x + 1] = p[t];
    __syncthreads();
    for (int k = 0; k < 2 * sweeps; k++) {
        if (((x + y) & 1) == (k & 1)) u[y + 1][x + 1] = 0.25f * (u[y][x + 1] + u[y + 2][x + 1] + u[y + 1][x] + u[y + 1][x + 2]);
        __syncthreads();
    }
    p[t] = u[y + 1][x + 1];
}

//! life_steps 1,64 256 | u8:65536:0:2 | out u8:65536 | s s32 256 | s s32 256
extern "C" __global__ void life_steps(const uint8_t *in, uint8_t *out, int w, int h)
{
    for (int y = blockIdx.y; y < h; y += gridDim.y) {
        int x = threadIdx.x, n = 0;
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++)
                if (dx || dy) n += in[((y + dy + h) % h) * w + (x + dx + w) % w];
        out[y * w + x] = n == 3 || (n == 2 && in[y * w + x]);
    }
}

//! lbm_d2q9 64 128 | f32:73728:0.9:1.1 | out f32:73728 | s s32 8192 | s s32 128 | s f32 1.2
extern "C" __global__ void lbm_d2q9(const float *f, float *g, int n, int w, float omega)
{
    const int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
    const float wt[9] = {4.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 36, 1.f / 36, 1.f / 36, 1.f / 36};
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = i % w, y = i / w, h = n / w;
    float a[9], rho = 0, ux = 0, uy = 0;
#pragma unroll
    for (int k = 0; k < 9; k++) {
        int xs = (x - cx[k] + w) % w, ys = (y - cy[k] + h) % h;
        a[k] = f[k * n + ys * w + xs];
        rho += a[k];
        ux += a[k] * cx[k];
        uy += a[k] * cy[k];
    }
    ux /= rho;
    uy /= rho;
    float uu = 1.5f * (ux * ux + uy * uy);
#pragma unroll
    for (int k = 0; k < 9; k++) {
        float cu = 3.0f * (cx[k] * ux + cy[k] * uy), eq = wt[k] * rho * (1.0f + cu + 0.5f * cu * cu - uu);
        g[k * n + i] = a[k] + omega * (eq - a[k]);
    }
}

//! nbody_verlet 32 128 | f32:16384:-1:1 | f32:16384:-0.1:0.1 | out f32:16384 | s s32 256 | s f32 0.01
extern "C" __global__ void nbody_verlet(const float4 *pos, const float4 *vel, float4 *next, int n, float dt)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 p = pos[i], v = vel[i];
    float ax = 0, ay = 0, az = 0;
    for (int j = 0; j < n; j++) {
        float4 q = pos[j];
        float dx = q.x - p.x, dy = q.y - p.y, dz = q.z - p.z, r2 = dx * dx + dy * dy + dz * dz + 1e-3f;
        float s = fabsf(q.w) / (r2 * sqrtf(r2));
        ax += dx * s;
        ay += dy * s;
        az += dz * s;
    }
    next[i] = make_float4(p.x + dt * (v.x + 0.5f * dt * ax), p.y + dt * (v.y + 0.5f * dt * ay), p.z + dt * (v.z + 0.5f * dt * az), p.w);
}

//! lennard_jones_cells 54 64 | f32:13824:0:1 | out f32:13824 | s s32 6 | s s32 3
// Cells of 64 particles in a 6 x 3 x 3 box; every particle against those of the cells beside its own.
extern "C" __global__ void lennard_jones_cells(const float4 *p, float4 *force, int nx, int ny)
{
    __shared__ float4 s[64];
    int c = blockIdx.x, cx = c % nx, cy = c / nx % ny, cz = c / (nx * ny);
    float4 me = p[c * 64 + threadIdx.x], f = make_float4(0, 0, 0, 0);
    for (int dx = -1; dx <= 1; dx++) {
        int ox = cx + dx;
        if (ox < 0 || ox >= nx) continue;
        __syncthreads();
        s[threadIdx.x] = p[(cz * ny * nx + cy * nx + ox) * 64 + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 64; j++) {
            float x = me.x - s[j].x - dx, y = me.y - s[j].y, z = me.z - s[j].z, r2 = x * x + y * y + z * z;
            if (r2 < 0.25f && r2 > 1e-6f) {
                float i2 = __fdividef(0.01f, r2), i6 = i2 * i2 * i2, k = i6 * (i6 - 0.5f) * i2;
                f.x += k * x;
                f.y += k * y;
                f.z += k * z;
                f.w += i6;
            }
        }
    }
    force[c * 64 + threadIdx.x] = f;
}
