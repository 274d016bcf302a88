/* fields.cu - particles, elements, flows and linear algebra of simulations. */
#include <cstdint>

//! hllc_sweep 18 128 | f64:2304:0.2:1 | f64:2304:-0.5:0.5 | f64:2304:0.3:1.2 | out f64:6912 | s s32 2304 | s f64 0.1
// One step of Euler's equations in one dimension with HLLC fluxes, each thread both sides of its cell.
struct Flux {
    double r, m, e;
};
__device__ Flux hllc(double rl, double ul, double pl, double rr, double ur, double pr)
{
    const double g = 1.4;
    double al = sqrt(g * pl / rl), ar = sqrt(g * pr / rr);
    double el = pl / (g - 1) + 0.5 * rl * ul * ul, er = pr / (g - 1) + 0.5 * rr * ur * ur;
    double sl = fmin(ul - al, ur - ar), sr = fmax(ul + al, ur + ar);
    Flux fl = {rl * ul, rl * ul * ul + pl, ul * (el + pl)}, fr = {rr * ur, rr * ur * ur + pr, ur * (er + pr)};
    if (sl >= 0) return fl;
    if (sr <= 0) return fr;
    double ss = (pr - pl + rl * ul * (sl - ul) - rr * ur * (sr - ur)) / (rl * (sl - ul) - rr * (sr - ur));
    if (ss >= 0) {
        double k = rl * (sl - ul) / (sl - ss);
        return {fl.r + sl * (k - rl), fl.m + sl * (k * ss - rl * ul), fl.e + sl * (k * (el / rl + (ss - ul) * (ss + pl / (rl * (sl - ul)))) - el)};
    }
    double k = rr * (sr - ur) / (sr - ss);
    return {fr.r + sr * (k - rr), fr.m + sr * (k * ss - rr * ur), fr.e + sr * (k * (er / rr + (ss - ur) * (ss + pr / (rr * (sr - ur)))) - er)};
}
extern "C" __global__ void hllc_sweep(const double *rho, const double *u, const double *p, double *out, int n, double k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, l = max(i - 1, 0), r = min(i + 1, n - 1);
    Flux a = hllc(rho[l], u[l], p[l], rho[i], u[i], p[i]), b = hllc(rho[i], u[i], p[i], rho[r], u[r], p[r]);
    out[i] = rho[i] - k * (b.r - a.r);
    out[n + i] = rho[i] * u[i] - k * (b.m - a.m);
    out[2 * n + i] = p[i] / 0.4 + 0.5 * rho[i] * u[i] * u[i] - k * (b.e - a.e);
}

//! yee_tile_steps 5,5 24,24 | f32:14400:-1:1 | f32:14400:-1:1 | f32:14400:-1:1 | out f32:14400 | s f32 0.5
// Four steps of Maxwell's equations in a tile with a margin of four, of which only the inside is written.
extern "C" __global__ void yee_tile_steps(const float *hx, const float *hy, const float *ez, float *out, float c)
{
    __shared__ float sx[24][25], sy[24][25], sz[24][25];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty, n = 120;
    sx[ty][tx] = hx[y * n + x];
    sy[ty][tx] = hy[y * n + x];
    sz[ty][tx] = ez[y * n + x];
    __syncthreads();
#pragma unroll 1
    for (int s = 0; s < 4; s++) {
        if (tx < 23 && ty < 23) {
            sx[ty][tx] -= c * (sz[ty + 1][tx] - sz[ty][tx]);
            sy[ty][tx] += c * (sz[ty][tx + 1] - sz[ty][tx]);
        }
        __syncthreads();
        if (tx > 0 && ty > 0) sz[ty][tx] += c * (sy[ty][tx] - sy[ty][tx - 1] - sx[ty][tx] + sx[ty - 1][tx]);
        __syncthreads();
    }
    if (tx >= 4 && tx < 20 && ty >= 4 && ty < 20) out[y * n + x] = sz[ty][tx];
}

//! residual_to_coarse 9,9,9 4,4,4 | f64:46656:-1:1 | f64:46656:-1:1 | out f64:46656 | s s32 36 | s f64 36.0
// The residual of seven points at the 27 fine places, weighted.
extern "C" __global__ void residual_to_coarse(const double *__restrict__ u, const double *__restrict__ f, double *__restrict__ coarse, int nc, double h2)
{
    const int n = 36, cx = blockIdx.x * 2 + threadIdx.x / 2, cy = blockIdx.y * 2 + threadIdx.y / 2, cz = blockIdx.z * 2 + threadIdx.z / 2;
    if ((threadIdx.x | threadIdx.y | threadIdx.z) & 1) return;
    if (cx < 1 || cy < 1 || cz < 1 || cx > 16 || cy > 16 || cz > 16) return;
    double sum = 0;
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                int i = ((2 * cz + dz) * n + 2 * cy + dy) * n + 2 * cx + dx;
                double r = f[i] - h2 * (6 * u[i] - u[i - 1] - u[i + 1] - u[i - n] - u[i + n] - u[i - n * n] - u[i + n * n]);
                sum += r * (1.0 / (8 << (abs(dx) + abs(dy) + abs(dz))));
            }
    coarse[(cz * nc + cy) * nc + cx] = sum;
}

//! jacobi_with_norm 8,32 32,4 | f32:32768:0:1 | out f32:32768 | zero u32:1 | s s32 256 | s s32 128
// A sweep, and the largest change by an integer maximum of the bits.
extern "C" __global__ void jacobi_with_norm(const float *a, float *b, unsigned *norm, int nx, int ny)
{
    __shared__ unsigned worst;
    if (threadIdx.x == 0 && threadIdx.y == 0) worst = 0;
    __syncthreads();
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1) {
        float v = 0.25f * (a[y * nx + x - 1] + a[y * nx + x + 1] + a[(y - 1) * nx + x] + a[(y + 1) * nx + x]);
        b[y * nx + x] = v;
        unsigned d = __float_as_uint(fabsf(v - a[y * nx + x]));
        d = __reduce_max_sync(__activemask(), d);
        atomicMax(&worst, d);
    }
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0) atomicMax(norm, worst);
}

//! sph_forces 16 128 | f32:8192:0:8 | f32:8192:-1:1 | u8:512:1:4 | out f32:8192 | s f32 1.0
// 8 x 8 x 8 cells of four places, the first of which are taken; pressure and viscosity from 27 cells.
extern "C" __global__ void sph_forces(const float4 *pos, const float4 *vel, const unsigned char *count, float4 *force, float h)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, cell = i / 4, cx = cell % 8, cy = cell / 8 % 8, cz = cell / 64;
    float fx = 0, fy = 0, fz = 0;
    if (i % 4 < count[cell]) {
        float4 p = pos[i], v = vel[i];
        float px = cx + p.x * 0.125f, py = cy + p.y * 0.125f, pz = cz + p.z * 0.125f;
        for (int z = max(cz - 1, 0); z <= min(cz + 1, 7); z++)
            for (int y = max(cy - 1, 0); y <= min(cy + 1, 7); y++)
                for (int x = max(cx - 1, 0); x <= min(cx + 1, 7); x++) {
                    int c = (z * 8 + y) * 8 + x;
                    for (int k = 0; k < count[c]; k++) {
                        int j = c * 4 + k;
                        if (j == i) continue;
                        float4 q = pos[j];
                        float dx = px - x - q.x * 0.125f, dy = py - y - q.y * 0.125f, dz = pz - z - q.z * 0.125f;
                        float r2 = dx * dx + dy * dy + dz * dz;
                        if (r2 < h * h) {
                            float r = sqrtf(r2) + 1e-6f, w = h - r;
                            float pr = 0.5f * (p.w + q.w) * w * w / r, vis = 0.1f * w;
                            float4 u = vel[j];
                            fx += pr * dx + vis * (u.x - v.x);
                            fy += pr * dy + vis * (u.y - v.y);
                            fz += pr * dz + vis * (u.z - v.z);
                        }
                    }
                }
    }
    force[i] = make_float4(fx, fy, fz, 0);
}

//! angle_forces 20 64 | f32:5120:-2:2 | u16:7680:0:1280 | out f32:3840
// Harmonic bends: an atom goes over its two angles and keeps its own part.
extern "C" __global__ void angle_forces(const float4 *pos, const unsigned short *triples, float *force)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float3 f = make_float3(0, 0, 0);
    for (int k = 0; k < 2; k++) {
        int a = triples[(i * 2 + k) * 3], b = triples[(i * 2 + k) * 3 + 1], c = triples[(i * 2 + k) * 3 + 2];
        if (k == 0)
            a = i;
        else
            b = i;
        float4 pa = pos[a], pb = pos[b], pc = pos[c];
        float3 u = make_float3(pa.x - pb.x, pa.y - pb.y, pa.z - pb.z), v = make_float3(pc.x - pb.x, pc.y - pb.y, pc.z - pb.z);
        float iu = rsqrtf(u.x * u.x + u.y * u.y + u.z * u.z + 1e-6f), iv = rsqrtf(v.x * v.x + v.y * v.y + v.z * v.z + 1e-6f);
        float cs = (u.x * v.x + u.y * v.y + u.z * v.z) * iu * iv;
        cs = fminf(fmaxf(cs, -0.999f), 0.999f);
        float theta = acosf(cs), pre = -20.0f * (theta - 1.911f) / sqrtf(1 - cs * cs);
        float ax = pre * iu * (cs * u.x * iu - v.x * iv), ay = pre * iu * (cs * u.y * iu - v.y * iv), az = pre * iu * (cs * u.z * iu - v.z * iv);
        float bx = pre * iv * (cs * v.x * iv - u.x * iu), by = pre * iv * (cs * v.y * iv - u.y * iu), bz = pre * iv * (cs * v.z * iv - u.z * iu);
        if (k == 0)
            f.x += ax, f.y += ay, f.z += az;
        else
            f.x -= ax + bx, f.y -= ay + by, f.z -= az + bz;
    }
    force[3 * i] = f.x, force[3 * i + 1] = f.y, force[3 * i + 2] = f.z;
}

//! spline_densities 13 96 | f64:4992:0:6 | u16:24960:0:1248 | f64:1024:-1:1 | out f64:1248 | s f64 20.0
// Electron densities of the embedded atom method from a table of cubic pieces.
extern "C" __global__ void spline_densities(const double4 *pos, const unsigned short *list, const double *table, double *rho, double rdx)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double4 p = pos[i];
    double sum = 0;
    for (int k = 0; k < 20; k++) {
        int j = list[k * 1248 + i];
        double dx = p.x - pos[j].x, dy = p.y - pos[j].y, dz = p.z - pos[j].z, r2 = dx * dx + dy * dy + dz * dz;
        if (r2 < 25.0 && j != i) {
            double x = sqrt(r2) * rdx + 1.0;
            int m = min((int)x, 126);
            x = fmin(x - m, 1.0);
            const double *c = table + m * 8;
            sum += ((c[3] * x + c[4]) * x + c[5]) * x + c[6];
        }
    }
    rho[i] = sum;
}

//! hexahedra_apply 8 64 | f64:24576:-1:1 | f64:576:-1:1 | u16:4096:0:8192 | out f64:12288
// Stiffness of eight-node bricks times displacements: a thread gathers 24 numbers and writes 24.
extern "C" __global__ void hexahedra_apply(const double *u, const double *ke, const unsigned short *nodes, double *out)
{
    __shared__ double k[576];
    for (int i = threadIdx.x; i < 576; i += 64) k[i] = ke[i];
    __syncthreads();
    int e = blockIdx.x * 64 + threadIdx.x;
    double x[24];
#pragma unroll
    for (int a = 0; a < 8; a++) {
        int n = nodes[e * 8 + a];
        x[3 * a] = u[3 * n], x[3 * a + 1] = u[3 * n + 1], x[3 * a + 2] = u[3 * n + 2];
    }
    for (int r = 0; r < 24; r++) {
        double s = 0;
#pragma unroll
        for (int c = 0; c < 24; c++) s += k[r * 24 + c] * x[c];
        out[r * 512 + e] = s;
    }
}

//! triangle_matrices 10 96 | f32:2048:0:1 | u16:2880:0:1024 | out f32:8640
// Element matrices of linear triangles: areas and gradients.
extern "C" __global__ void triangle_matrices(const float2 *xy, const unsigned short *tri, float *out)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x, v[3];
    float2 p[3];
    for (int k = 0; k < 3; k++) v[k] = tri[3 * e + k], p[k] = xy[v[k]];
    float b[3], c[3];
    for (int k = 0; k < 3; k++) {
        b[k] = p[(k + 1) % 3].y - p[(k + 2) % 3].y;
        c[k] = p[(k + 2) % 3].x - p[(k + 1) % 3].x;
    }
    float area2 = p[0].x * b[0] + p[1].x * b[1] + p[2].x * b[2], s = area2 == 0 ? 0 : 0.5f / area2;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) out[(3 * i + j) * 960 + e] = s * (b[i] * b[j] + c[i] * c[j]);
}

//! warp_pcr 12 32,4 | f32:1536:-1:1 | f32:1536:-1:1 | f32:1536:3:5 | f32:1536:-1:1 | out f32:1536
// Tridiagonal systems of 32 in a warp by parallel cyclic reduction over shuffles.
extern "C" __global__ void warp_pcr(const float *lower, const float *upper, const float *diag, const float *rhs, float *x)
{
    int lane = threadIdx.x, i = (blockIdx.x * 4 + threadIdx.y) * 32 + lane;
    float a = lane ? lower[i] : 0, c = lane < 31 ? upper[i] : 0, b = diag[i], d = rhs[i];
    for (int s = 1; s < 32; s *= 2) {
        float am = __shfl_up_sync(~0u, a, s), bm = __shfl_up_sync(~0u, b, s), cm = __shfl_up_sync(~0u, c, s), dm = __shfl_up_sync(~0u, d, s);
        float ap = __shfl_down_sync(~0u, a, s), bp = __shfl_down_sync(~0u, b, s), cp = __shfl_down_sync(~0u, c, s), dp = __shfl_down_sync(~0u, d, s);
        float k1 = lane >= s ? a / bm : 0, k2 = lane + s < 32 ? c / bp : 0;
        b -= cm * k1 + ap * k2;
        d -= dm * k1 + dp * k2;
        a = -am * k1;
        c = -cp * k2;
    }
    x[i] = d / b;
}

//! pentadiagonal_lines 10 64 | f64:640:-1:1 | f64:640:4:6 | scratch f64:40960 | out f64:20480 | s s32 32
// Constant bands, a line a thread, elimination forth and back.
extern "C" __global__ void pentadiagonal_lines(const double *off, const double *diag, double *work, double *x, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, m = gridDim.x * blockDim.x;
    double e = off[t] * 0.25, b = diag[t], al1 = 0, al2 = 0, be1 = 0, be2 = 0, z1 = 0, z2 = 0;
    for (int i = 0; i < n; i++) {
        double ga = -1.0 - al2 * e, mu = b - be2 * e - al1 * ga, al = (-1.0 - be1 * ga) / mu, be = e / mu;
        double z = (1.0 + i * 0.1 - z2 * e - z1 * ga) / mu;
        work[(2 * i) * m + t] = al, work[(2 * i + 1) * m + t] = be;
        x[i * m + t] = z;
        al2 = al1, al1 = al, be2 = be1, be1 = be, z2 = z1, z1 = z;
    }
    double x1 = 0, x2 = 0;
    for (int i = n - 1; i >= 0; i--) {
        double v = x[i * m + t] - work[(2 * i) * m + t] * x1 - work[(2 * i + 1) * m + t] * x2;
        x[i * m + t] = v;
        x2 = x1, x1 = v;
    }
}

//! lower_solve_waiting 4 128 | u16:1024:0:60000 | f32:1024:-0.2:0.2 | f32:128:1:2 | zero f32:128 | scratch u32:128
// L x = b with eight entries a row: eight lanes a row wait until what they need has been solved.
extern "C" __global__ void lower_solve_waiting(const unsigned short *cols, const float *vals, const float *b, volatile float *x, volatile unsigned *ready)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 8, lane = threadIdx.x % 32;
    if (row >= 128) return;
    for (int r = row; r < row + 8; r++) {
        float s = 0;
        if (lane < 8 && r > 0) {
            int c = cols[r * 8 + lane] % r;
            while (ready[c] == 0) {
            }
            __threadfence();
            s = vals[r * 8 + lane] * x[c];
        }
        __syncwarp();
        for (int o = 4; o; o >>= 1) s += __shfl_down_sync(~0u, s, o);
        if (lane == 0) {
            x[r] = b[r] - s;
            __threadfence();
            ready[r] = 1;
        }
        __syncwarp();
    }
}

//! lorenz_ensemble 20 64 | f64:3840:-10:10 | f64:1280:20:30 | out f64:3840 | s s32 40
extern "C" __global__ void lorenz_ensemble(const double *start, const double *rho, double *end, int steps)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    double s[3] = {start[3 * t], start[3 * t + 1], start[3 * t + 2]}, r = rho[t];
    const double dt = 0.005;
    auto rhs = [r](const double *v, double *d) {
        d[0] = 10.0 * (v[1] - v[0]);
        d[1] = v[0] * (r - v[2]) - v[1];
        d[2] = v[0] * v[1] - 8.0 / 3.0 * v[2];
    };
    for (int n = 0; n < steps; n++) {
        double k1[3], k2[3], k3[3], k4[3], u[3];
        rhs(s, k1);
        for (int j = 0; j < 3; j++) u[j] = s[j] + 0.5 * dt * k1[j];
        rhs(u, k2);
        for (int j = 0; j < 3; j++) u[j] = s[j] + 0.5 * dt * k2[j];
        rhs(u, k3);
        for (int j = 0; j < 3; j++) u[j] = s[j] + dt * k3[j];
        rhs(u, k4);
        for (int j = 0; j < 3; j++) s[j] += dt / 6 * (k1[j] + 2 * k2[j] + 2 * k3[j] + k4[j]);
    }
    for (int j = 0; j < 3; j++) end[3 * t + j] = s[j];
}

//! adaptive_steps 14 64 | f32:896:0.5:4 | f32:896:-2:2 | out f32:896 | out s32:896
// Van der Pol's oscillator with steps as small as the error asks for; lanes go their own ways.
extern "C" __global__ void adaptive_steps(const float *mu, const float *x0, float *x, int *steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = 0;
    float m = mu[i], y = x0[i], v = 0, t = 0, h = 0.05f;
    while (t < 2.0f && n < 200) {
        h = fminf(h, 2.0f - t);
        float a1 = v, b1 = m * (1 - y * y) * v - y;
        float y2 = y + h * a1, v2 = v + h * b1, a2 = v2, b2 = m * (1 - y2 * y2) * v2 - y2;
        float y3 = y + 0.25f * h * (a1 + a2), v3 = v + 0.25f * h * (b1 + b2), a3 = v3, b3 = m * (1 - y3 * y3) * v3 - y3;
        float yn = y + h / 6 * (a1 + a2 + 4 * a3), vn = v + h / 6 * (b1 + b2 + 4 * b3);
        float err = fmaxf(fabsf(yn - (y + 0.5f * h * (a1 + a2))), fabsf(vn - (v + 0.5f * h * (b1 + b2))));
        n++;
        if (err < 1e-3f) {
            t += h;
            y = yn;
            v = vn;
            h *= fminf(2.0f, 0.9f * powf(1e-3f / (err + 1e-9f), 0.3333f));
        } else {
            h *= fmaxf(0.2f, 0.9f * powf(1e-3f / err, 0.5f));
        }
    }
    x[i] = y;
    steps[i] = n;
}

//! legendre_harmonics 9 128 | f64:2304:-1:1 | f64:28:-1:1 | out f64:1152
// A sum of spherical harmonics up to degree six by recursion over degree and order.
extern "C" __global__ void legendre_harmonics(const double *z, const double *coef, double *out)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    double x = z[2 * t], s = sqrt(fmax(0.0, 1 - x * x)), phi = z[2 * t + 1] * 3, sum = 0, pmm = 1;
    for (int m = 0; m <= 6; m++) {
        double c = cos(m * phi), p0 = 0, p1 = pmm;
        for (int l = m; l <= 6; l++) {
            sum += coef[l * (l + 1) / 2 + m] * p1 * c;
            double p2 = ((2 * l + 1) * x * p1 - (l + m) * p0) / (l - m + 1);
            p0 = p1, p1 = p2;
        }
        pmm *= -(2 * m + 1) * s;
    }
    out[t] = sum;
}

//! gram_schmidt_8 15 32 | f32:30720:-1:1 | out f32:30720 | out f32:30720
// Q and R of 8 x 8 in registers of a thread.
extern "C" __global__ void gram_schmidt_8(const float *in, float *q, float *r)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    float a[8][8];
#pragma unroll
    for (int i = 0; i < 64; i++) a[i / 8][i % 8] = in[i * n + t];
#pragma unroll
    for (int k = 0; k < 8; k++) {
        float s = 0;
#pragma unroll
        for (int i = 0; i < 8; i++) s += a[i][k] * a[i][k];
        float norm = sqrtf(s), inv = 1 / norm;
        r[(k * 8 + k) * n + t] = norm;
#pragma unroll
        for (int i = 0; i < 8; i++) a[i][k] *= inv;
#pragma unroll
        for (int j = k + 1; j < 8; j++) {
            float d = 0;
#pragma unroll
            for (int i = 0; i < 8; i++) d += a[i][k] * a[i][j];
            r[(k * 8 + j) * n + t] = d;
#pragma unroll
            for (int i = 0; i < 8; i++) a[i][j] -= d * a[i][k];
        }
    }
#pragma unroll
    for (int i = 0; i < 64; i++) q[i * n + t] = a[i / 8][i % 8];
}

//! pivoted_lu_warp 20 32 | f32:20480:-1:1 | out f32:20480 | out s32:640
// A warp a matrix of 32 x 32: a lane holds a row, pivots by a vote for the largest.
extern "C" __global__ void pivoted_lu_warp(const float *in, float *lu, int *perm)
{
    int lane = threadIdx.x, base = blockIdx.x * 1024, mine = -1;
    float row[32];
#pragma unroll
    for (int j = 0; j < 32; j++) row[j] = in[base + lane * 32 + j];
    int place = lane;
#pragma unroll
    for (int k = 0; k < 32; k++) {
        unsigned key = mine < 0 ? (__float_as_uint(fabsf(row[k])) & ~31u) | lane : 0;
        unsigned best = __reduce_max_sync(~0u, key), p = best & 31;
        float pivot = __shfl_sync(~0u, row[k], p);
        if (lane == p) mine = k, place = k;
        float f = mine < 0 ? row[k] / pivot : 0;
        if (mine < 0) row[k] = f;
#pragma unroll
        for (int j = k + 1; j < 32; j++) {
            float v = __shfl_sync(~0u, row[j], p);
            row[j] -= f * v;
        }
    }
#pragma unroll
    for (int j = 0; j < 32; j++) lu[base + place * 32 + j] = row[j];
    perm[blockIdx.x * 32 + place] = lane;
}

//! plasma_deposit 30 64 | f32:3840:0:32 | s8:1920:-1:2 | zero s32:1024
// Charges go to four corners of a 32 x 32 grid, in whole parts of 1/65536.
extern "C" __global__ void plasma_deposit(const float2 *pos, const signed char *charge, int *grid)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float2 p = pos[i];
    int x = (int)floorf(p.x), y = (int)floorf(p.y), q = charge[i] * 65536;
    float fx = p.x - x, fy = p.y - y;
    int x1 = (x + 1) & 31, y1 = (y + 1) & 31;
    x &= 31, y &= 31;
    if (q) {
        atomicAdd(&grid[y * 32 + x], __float2int_rn(q * (1 - fx) * (1 - fy)));
        atomicAdd(&grid[y * 32 + x1], __float2int_rn(q * fx * (1 - fy)));
        atomicAdd(&grid[y1 * 32 + x], __float2int_rn(q * (1 - fx) * fy));
        atomicAdd(&grid[y1 * 32 + x1], __float2int_rn(q * fx * fy));
    }
}
