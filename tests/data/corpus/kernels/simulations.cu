/* simulations.cu - bodies, molecules, dice, waves, transforms, orbits and prices, as science and finance compute them. */
#include <cuComplex.h>
#include <cstdint>
#define K extern "C" __global__ void
#ifndef M_PI
#define M_PI 3.14159265358979323846
#endif

//! gravity_of_all_bodies_naive 16 128 | f32:6144:-1:1 | f32:2048:0.1:1 | inout f32:6144:-0.1:0.1 | s s32 2048 | s f32 0.01
K gravity_of_all_bodies_naive(const float *pos, const float *mass, float *vel, int n, float dt)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) {
        float Fx = 0.0f, Fy = 0.0f, Fz = 0.0f;
        for (int j = 0; j < n; j++) {
            float dx = pos[3 * j] - pos[3 * i], dy = pos[3 * j + 1] - pos[3 * i + 1], dz = pos[3 * j + 2] - pos[3 * i + 2];
            float distSqr = dx * dx + dy * dy + dz * dz + 1e-9f, invDist = rsqrtf(distSqr), invDist3 = invDist * invDist * invDist;
            Fx += mass[j] * dx * invDist3, Fy += mass[j] * dy * invDist3, Fz += mass[j] * dz * invDist3;
        }
        vel[3 * i] += dt * Fx, vel[3 * i + 1] += dt * Fy, vel[3 * i + 2] += dt * Fz;
    }
}

//! gravity_of_doubles_in_shared_tiles 8 64 | f64:2048:-1:1 | out f64:1536 | s s32 512
K gravity_of_doubles_in_shared_tiles(const double4_16a *p, double *a, int n)
{
    __shared__ double4_16a tile[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    double4_16a me = p[i];
    double x = 0, y = 0, z = 0;
    for (int t = 0; t < n; t += 64) {
        tile[threadIdx.x] = p[t + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 64; j++) {
            double4_16a o = tile[j];
            double dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z, r2 = dx * dx + dy * dy + dz * dz + 1e-6, inv = rsqrt(r2), f = o.w * inv * inv * inv;
            x += f * dx, y += f * dy, z += f * dz;
        }
        __syncthreads();
    }
    a[3 * i] = x, a[3 * i + 1] = y, a[3 * i + 2] = z;
}

struct Lcg {
    unsigned long long s;
    __device__ float next()
    {
        s = s * 6364136223846793005ull + 1442695040888963407ull;
        return (unsigned)(s >> 40) * (1.0f / 16777216.0f);
    }
};
//! pi_by_darts_of_all_threads 64 256 | out u32:64 | s s32 200
K pi_by_darts_of_all_threads(unsigned *hits, int darts)
{
    __shared__ unsigned count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    Lcg g{(blockIdx.x * blockDim.x + threadIdx.x) * 77777ull + 1};
    unsigned in = 0;
    for (int i = 0; i < darts; i++) {
        float x = g.next(), y = g.next();
        if (x * x + y * y <= 1.0f) in++;
    }
    atomicAdd(&count, in);
    __syncthreads();
    if (threadIdx.x == 0) hits[blockIdx.x] = count;
}

//! european_call_by_paths_box_muller 32 128 | out f64:4096 | s s32 100 | s f32 100 | s f32 105 | s f32 0.05 | s f32 0.2 | s f32 1
K european_call_by_paths_box_muller(double *out, int paths, float S, float X, float r, float sigma, float T)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Lcg g{i * 12345ull + 99};
    double sum = 0;
    for (int p = 0; p < paths; p++) {
        float u = g.next() + 1e-7f, v = g.next(), z = sqrtf(-2 * logf(u)) * cosf(2 * 3.14159265f * v);
        float st = S * expf((r - 0.5f * sigma * sigma) * T + sigma * sqrtf(T) * z);
        if (st > X) sum += st - X;
    }
    out[i] = sum / paths * exp(-(double)r * T);
}

__device__ inline float cnd(float d)
{
    const float A1 = 0.31938153f, A2 = -0.356563782f, A3 = 1.781477937f, A4 = -1.821255978f, A5 = 1.330274429f, R = 0.39894228040143267793994605993438f;
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d)), c = R * expf(-0.5f * d * d) * (k * (A1 + k * (A2 + k * (A3 + k * (A4 + k * A5)))));
    return d > 0 ? 1.0f - c : c;
}
//! options_by_formula_grid_stride 96 128 | f32:49152:5:30 | f32:49152:1:100 | f32:49152:0.25:10 | out f32:49152 | out f32:49152 | s f32 0.02 | s f32 0.3 | s s32 49152
K options_by_formula_grid_stride(const float *price, const float *strike, const float *years, float *call, float *put, float r, float v, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        float S = price[i], X = strike[i], T = years[i], root = sqrtf(T), d1 = (logf(S / X) + (r + 0.5f * v * v) * T) / (v * root), d2 = d1 - v * root;
        float n1 = cnd(d1), n2 = cnd(d2), e = expf(-r * T);
        call[i] = S * n1 - X * e * n2;
        put[i] = X * e * (1.0f - n2) - S * (1.0f - n1);
    }
}

//! binomial_tree_of_a_block 40 128 | f32:40:20:60 | f32:40:20:60 | out f32:40 | s s32 127
K binomial_tree_of_a_block(const float *S, const float *X, float *out, int steps)
{
    __shared__ float c[130];
    int t = threadIdx.x;
    float s = S[blockIdx.x], x = X[blockIdx.x], dt = 1.0f / steps, u = expf(0.3f * sqrtf(dt)), d = 1 / u, p = (expf(0.02f * dt) - d) / (u - d), q = expf(-0.02f * dt);
    c[t] = fmaxf(s * powf(u, 2.0f * t - steps) - x, 0.0f);
    __syncthreads();
    for (int i = steps; i > 0; i--) {
        float v = 0;
        if (t < i) v = q * (p * c[t + 1] + (1 - p) * c[t]);
        __syncthreads();
        if (t < i) c[t] = v;
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = c[0];
}

//! lennard_jones_with_lists 16 128 | f32:8192:0:12 | u16:65536:0:2048 | out f32:8192 | s s32 32 | s f32 6.25
K lennard_jones_with_lists(const float4 *pos, const uint16_t *list, float4 *force, int neighbours, float cut2)
{
    int i = blockIdx.x * 128 + threadIdx.x, n = gridDim.x * 128;
    float4 me = pos[i], f = make_float4(0, 0, 0, 0);
    for (int k = 0; k < neighbours; k++) {
        float4 o = pos[list[k * n + i]];
        float dx = me.x - o.x, dy = me.y - o.y, dz = me.z - o.z, r2 = dx * dx + dy * dy + dz * dz + 0.01f;
        if (r2 < cut2) {
            float i2 = 1.0f / r2, i6 = i2 * i2 * i2, s = i2 * i6 * (i6 - 0.5f);
            f.x += s * dx, f.y += s * dy, f.z += s * dz, f.w += i6 * (i6 - 1);
        }
    }
    force[i] = f;
}

//! transform_of_sixteen_points_direct 64 64 | f32:8192:-1:1 | out f32:8192 | s s32 16
// The definition: sines and cosines of every product, one output a thread.
K transform_of_sixteen_points_direct(const float2 *in, float2 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, k = i % n, base = i - k;
    float re = 0, im = 0;
    for (int j = 0; j < n; j++) {
        float s, c, a = -2.0f * (float)M_PI * k * j / n;
        sincosf(a, &s, &c);
        float2 v = in[base + j];
        re += v.x * c - v.y * s;
        im += v.x * s + v.y * c;
    }
    out[i] = make_float2(re, im);
}

//! fft_of_512_points_radix_two_shared 33 256 | f32:33792:-1:1 | out f32:33792
K fft_of_512_points_radix_two_shared(const float2 *in, float2 *out)
{
    __shared__ float2 s[512];
    int t = threadIdx.x;
    const float2 *p = in + blockIdx.x * 512;
    s[__brev(t) >> 23] = p[t];
    s[__brev(t + 256) >> 23] = p[t + 256];
    for (int half = 1; half < 512; half *= 2) {
        __syncthreads();
        int k = t & (half - 1), i = 2 * t - k;
        float c, w;
        __sincosf(-(float)M_PI * k / half, &w, &c);
        float2 a = s[i], b = s[i + half], m = make_float2(b.x * c - b.y * w, b.x * w + b.y * c);
        s[i] = make_float2(a.x + m.x, a.y + m.y);
        s[i + half] = make_float2(a.x - m.x, a.y - m.y);
    }
    __syncthreads();
    out[blockIdx.x * 512 + t] = s[t];
    out[blockIdx.x * 512 + t + 256] = s[t + 256];
}

//! complex_products_of_doubles_in_a_chain 24 64 | f64:24576:-1:1 | out f64:3072 | s s32 8
K complex_products_of_doubles_in_a_chain(const cuDoubleComplex *a, cuDoubleComplex *out, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    cuDoubleComplex z = make_cuDoubleComplex(1, 0);
    for (int k = 0; k < n; k++) z = cuCadd(cuCmul(z, a[i * n + k]), make_cuDoubleComplex(0.1, -0.1));
    out[i] = cuCdiv(z, make_cuDoubleComplex(1 + cuCabs(z), 0.5));
}

//! spins_of_a_lattice_by_metropolis 16,16 16,8 | inout s8:65536:0:2 | f32:32768:0:1 | s s32 256 | s s32 0 | s f32 0.44
K spins_of_a_lattice_by_metropolis(signed char *spin, const float *dice, int n, int colour, float beta)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y; // half the columns
    int i = 2 * x + ((y + colour) & 1);
    if (i >= n || y >= n) return;
    int l = i ? i - 1 : n - 1, r = i + 1 < n ? i + 1 : 0, u = y ? y - 1 : n - 1, d = y + 1 < n ? y + 1 : 0;
    int s = 2 * spin[y * n + i] - 1, sum = 2 * (spin[y * n + l] + spin[y * n + r] + spin[u * n + i] + spin[d * n + i]) - 4;
    float p = expf(-2.0f * beta * s * sum);
    if (dice[y * (n / 2) + x] < p) spin[y * n + i] ^= 1;
}

//! orbit_of_a_moon_by_velocity_verlet 33 64 | f64:8448:0.5:1.5 | out f64:8448 | s s32 40 | s f64 0.01
K orbit_of_a_moon_by_velocity_verlet(const double *start, double *out, int steps, double dt)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    double x = start[4 * i], y = start[4 * i + 1], u = start[4 * i + 2] - 1, v = start[4 * i + 3];
    double r = sqrt(x * x + y * y), ax = -x / (r * r * r), ay = -y / (r * r * r);
    for (int s = 0; s < steps; s++) {
        x += u * dt + 0.5 * ax * dt * dt;
        y += v * dt + 0.5 * ay * dt * dt;
        r = sqrt(x * x + y * y);
        double bx = -x / (r * r * r), by = -y / (r * r * r);
        u += 0.5 * (ax + bx) * dt, v += 0.5 * (ay + by) * dt;
        ax = bx, ay = by;
    }
    out[4 * i] = x, out[4 * i + 1] = y, out[4 * i + 2] = u, out[4 * i + 3] = v;
}

//! mandelbrot_of_doubles_rows 16,32 16,8 | out u8:65536 | s s32 256 | s s32 256 | s f64 -0.74 | s f64 0.1 | s f64 0.01 | s s32 256
K mandelbrot_of_doubles_rows(unsigned char *img, int w, int h, double cx, double cy, double scale, int limit)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= w || py >= h) return;
    double x0 = cx + (px - w / 2) * scale / w, y0 = cy + (py - h / 2) * scale / h, x = 0, y = 0;
    int it = 0;
    while (x * x + y * y <= 4 && it < limit) {
        double t = x * x - y * y + x0;
        y = 2 * x * y + y0;
        x = t;
        it++;
    }
    img[py * w + px] = it == limit ? 0 : it * 7;
}

//! kmeans_nearest_then_sums_fixed 64 128 | f32:16384:-1:1 | f32:32:-1:1 | out u8:8192 | zero s32:48 | s s32 8192 | s s32 16
K kmeans_nearest_then_sums_fixed(const float2 *p, const float2 *centre, unsigned char *label, int *sums, int n, int k)
{
    __shared__ int acc[48];
    if (threadIdx.x < 48) acc[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float best = 3.4e38f;
        int which = 0;
        for (int c = 0; c < k; c++) {
            float dx = p[i].x - centre[c].x, dy = p[i].y - centre[c].y, d = dx * dx + dy * dy;
            if (d < best) best = d, which = c;
        }
        label[i] = which;
        atomicAdd(&acc[which * 3], (int)rintf(p[i].x * 4096));
        atomicAdd(&acc[which * 3 + 1], (int)rintf(p[i].y * 4096));
        atomicAdd(&acc[which * 3 + 2], 1);
    }
    __syncthreads();
    if (threadIdx.x < 48) atomicAdd(&sums[threadIdx.x], acc[threadIdx.x]);
}
