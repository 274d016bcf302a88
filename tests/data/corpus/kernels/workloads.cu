/* workloads.cu - the inner parts of scientific programs as their small stand-ins have them: elements, cells, tables, sweeps, sums. */
#include <cstdint>
#include <cuComplex.h>
#define K extern "C" __global__ void

//! poses_scored_against_protein 48 64 | f32:18432:-3:3 | f32:1024:-10:10 | f32:192:-4:4 | out f32:3072 | s s32 32 | s s32 24
// Every thread turns and moves a ligand and sums steric and electric energies over all pairs of atoms.
K poses_scored_against_protein(const float *pose, const float4 *protein, const float4 *ligand, float *energy, int np, int nl)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sx, cx, sy, cy, sz, cz;
    sincosf(pose[i * 6], &sx, &cx);
    sincosf(pose[i * 6 + 1], &sy, &cy);
    sincosf(pose[i * 6 + 2], &sz, &cz);
    float m00 = cy * cz, m01 = sx * sy * cz - cx * sz, m02 = cx * sy * cz + sx * sz, m10 = cy * sz, m11 = sx * sy * sz + cx * cz, m12 = cx * sy * sz - sx * cz;
    float m20 = -sy, m21 = sx * cy, m22 = cx * cy, tx = pose[i * 6 + 3], ty = pose[i * 6 + 4], tz = pose[i * 6 + 5], e = 0;
    for (int l = 0; l < nl; l++) {
        float4 a = ligand[l];
        float x = m00 * a.x + m01 * a.y + m02 * a.z + tx, y = m10 * a.x + m11 * a.y + m12 * a.z + ty, z = m20 * a.x + m21 * a.y + m22 * a.z + tz;
        for (int p = 0; p < np; p++) {
            float4 b = __ldg(&protein[p]);
            float dx = x - b.x, dy = y - b.y, dz = z - b.z, d = sqrtf(dx * dx + dy * dy + dz * dz), over = d - 1.7f;
            e += over < 0.0f ? -over * 38.0f : 0.0f;
            e += d < 6.0f ? a.w * b.w * (1.0f - d * 0.16666667f) : 0.0f;
        }
    }
    energy[i] = 0.5f * e;
}

//! cross_sections_looked_up 88 128 | f64:2048:0:1 | f64:49152:0:1 | u32:768:0:64 | out f64:11264 | s s32 2048 | s s32 12
// A search in the energies of all, then every nuclide's five values blended.
K cross_sections_looked_up(const double *grid, const double *xs, const uint32_t *mats, double *out, int n, int nuclides)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint64_t s = 0x9e3779b97f4a7c15ull * (i + 1);
    s = s * 2806196910506780709ull + 1;
    double e = (s >> 11) * 1.1102230246251565e-16;
    s = s * 2806196910506780709ull + 1;
    int mat = (int)(s >> 40) % 64, lo = 0, hi = n - 1;
    while (hi - lo > 1) {
        int mid = (lo + hi) / 2;
        if ((double)mid / n > e) hi = mid;
        else lo = mid;
    }
    double f = (e * n - lo) + grid[lo] * 0.001, macro[5] = {};
    for (int k = 0; k < nuclides; k++) {
        int nuc = mats[mat * 12 + k] * 768 + lo % 127 * 6;
        const double *a = xs + nuc;
#pragma unroll
        for (int q = 0; q < 5; q++) macro[q] += (a[q + 6] - f * (a[q + 6] - a[q])) * (0.1 + k);
    }
    double best = macro[0];
    int arg = 0;
#pragma unroll
    for (int q = 1; q < 5; q++)
        if (macro[q] > best) best = macro[q], arg = q;
    out[i] = best + arg;
}

//! poles_of_windows_summed 32 64 | f64:16384:-1:1 | f64:2048:0.1:2 | out f64:4096 | s s32 24
K poles_of_windows_summed(const cuDoubleComplex *poles, const double *energy, cuDoubleComplex *out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, base = i * 37 % 4000;
    double e = energy[i], se = sqrt(e);
    cuDoubleComplex s = make_cuDoubleComplex(0, 0);
    for (int k = 0; k < count; k++) {
        cuDoubleComplex p = poles[(base + 2 * k) % 8192], r = poles[(base + 2 * k + 1) % 8192];
        cuDoubleComplex psi = cuCdiv(make_cuDoubleComplex(0.0, 1.0), make_cuDoubleComplex(p.x - se, p.y + 0.01));
        s = cuCadd(s, cuCmul(r, psi));
    }
    out[i] = make_cuDoubleComplex(s.x / e, s.y / e);
}

//! volumes_of_twisted_hexahedra 66 128 | f64:30000:0:10 | u32:67584:0:10000 | out f64:8448 | out f64:8448
__device__ double triple(double ax, double ay, double az, double bx, double by, double bz, double cx, double cy, double cz)
{
    return ax * (by * cz - bz * cy) + bx * (az * cy - ay * cz) + cx * (ay * bz - az * by);
}
K volumes_of_twisted_hexahedra(const double *xyz, const uint4 *nodes, double *vol, double *len)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint4 a = nodes[i * 2], b = nodes[i * 2 + 1];
    uint32_t id[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
    double x[8], y[8], z[8];
#pragma unroll
    for (int k = 0; k < 8; k++) x[k] = xyz[id[k] * 3], y[k] = xyz[id[k] * 3 + 1], z[k] = xyz[id[k] * 3 + 2];
#define D(q, p, r) (q[p] - q[r])
    double v = triple(D(x, 3, 1) + D(x, 7, 2), D(y, 3, 1) + D(y, 7, 2), D(z, 3, 1) + D(z, 7, 2), D(x, 6, 3), D(y, 6, 3), D(z, 6, 3), D(x, 2, 0), D(y, 2, 0), D(z, 2, 0));
    v += triple(D(x, 4, 3) + D(x, 5, 7), D(y, 4, 3) + D(y, 5, 7), D(z, 4, 3) + D(z, 5, 7), D(x, 6, 4), D(y, 6, 4), D(z, 6, 4), D(x, 7, 0), D(y, 7, 0), D(z, 7, 0));
    v += triple(D(x, 1, 4) + D(x, 2, 5), D(y, 1, 4) + D(y, 2, 5), D(z, 1, 4) + D(z, 2, 5), D(x, 6, 1), D(y, 6, 1), D(z, 6, 1), D(x, 5, 0), D(y, 5, 0), D(z, 5, 0));
    vol[i] = v / 12.0;
    double area = 0;
#pragma unroll
    for (int k = 0; k < 6; k++) {
        int p = k, q = (k + 2) & 7, r = (k + 5) & 7, s = k ^ 1;
        double fx = D(x, r, p) - D(x, s, q), fy = D(y, r, p) - D(y, s, q), fz = D(z, r, p) - D(z, s, q);
        double gx = D(x, r, p) + D(x, s, q), gy = D(y, r, p) + D(y, s, q), gz = D(z, r, p) + D(z, s, q), dot = fx * gx + fy * gy + fz * gz;
        area = fmax(area, (fx * fx + fy * fy + fz * fz) * (gx * gx + gy * gy + gz * gz) - dot * dot);
    }
    len[i] = area > 0 ? 4.0 * fabs(v) / sqrt(area) : 0.0;
}

//! metal_atoms_pulled_by_tables 64 64 | f32:16384:0:1 | f32:1024:-1:1 | out f32:16384 | s s32 512
// A block a cell of 64 atoms; it and the next six cells, density and forces from one table of cubic pieces.
K metal_atoms_pulled_by_tables(const float4 *atoms, const float *table, float4 *out, int entries)
{
    __shared__ float4 near[64];
    float4 me = atoms[blockIdx.x * 64 + threadIdx.x];
    float fx = 0, fy = 0, fz = 0, rho = 0;
    for (int c = 0; c < 7; c++) {
        float4 o = atoms[(blockIdx.x * 64 + c * 64 + threadIdx.x) % 4096];
        __syncthreads();
        o.x += 0.5f * (c % 3), o.y += 0.5f * (c / 3), o.z += 0.25f * c;
        near[threadIdx.x] = o;
        __syncthreads();
        for (int j = 0; j < 64; j++) {
            float dx = me.x - near[j].x, dy = me.y - near[j].y, dz = me.z - near[j].z, r2 = dx * dx + dy * dy + dz * dz;
            if (r2 > 0.0f && r2 < 1.0f) {
                float r = sqrtf(r2), q = r * (entries - 2);
                int k = (int)q;
                float f = q - k, a = table[2 * k], b = table[2 * k + 1], c2 = table[2 * k + 2], force = a + f * (b + f * (c2 - a)) / r;
                rho += a * (1 - f) + c2 * f;
                fx += force * dx, fy += force * dy, fz += force * dz;
            }
        }
    }
    out[blockIdx.x * 64 + threadIdx.x] = make_float4(fx, fy, fz, rho);
}

//! angles_swept_through_a_cube 24 128 | f32:24576:0.1:1 | out f32:24576 | s s32 32
// A block an angle: cells of one diagonal of a 32 x 32 plane together, the fluxes of two edges in shared memory.
K angles_swept_through_a_cube(const float *sigma, float *flux, int n)
{
    __shared__ float west[32], south[32];
    int t = threadIdx.x;
    float mu = 0.1f + 0.03f * blockIdx.x, eta = 0.9f - 0.03f * blockIdx.x;
    if (t < 32) west[t] = 1.0f, south[t] = 0.5f;
    __syncthreads();
    for (int d = 0; d < 2 * n - 1; d++) {
        int lo = max(0, d - n + 1), hi = min(d, n - 1), x = lo + t;
        if (x <= hi) {
            int y = d - x, c = (blockIdx.x * n + y) * n + x;
            float s = sigma[c], psi = (0.3f + 2 * mu * west[y] + 2 * eta * south[x]) / (s + 2 * mu + 2 * eta);
            float w = 2 * psi - west[y], v = 2 * psi - south[x];
            west[y] = w > 0 ? w : 0;
            south[x] = v > 0 ? v : 0;
            flux[c] = psi;
        }
        __syncthreads();
    }
}

//! seidel_by_diagonals_of_one_block 1 64 | inout f64:4096:0:1 | s s32 2
K seidel_by_diagonals_of_one_block(double *a, int steps)
{
    for (int s = 0; s < steps; s++)
        for (int d = 0; d < 3 * 61 + 1; d++) {
            // rows i and columns j of the inside with 2 i + j = d
            int i = threadIdx.x, j = d - 2 * i;
            if (i < 62 && j >= 0 && j < 62) {
                double *p = a + (i + 1) * 64 + j + 1;
                *p = (p[-65] + p[-64] + p[-63] + p[-1] + p[0] + p[1] + p[63] + p[64] + p[65]) / 9.0;
            }
            __syncthreads();
        }
}

//! neutrons_tracked_through_slabs 32 64 | f32:64:0.2:2 | zero u64:64 | out u32:2048
// Energies are whole numbers, so that the order of the additions is of no account.
K neutrons_tracked_through_slabs(const float *sigma, unsigned long long *tally, uint32_t *hits)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t s = i * 2654435761u + 12345u, n = 0;
    float x = 0, mu = 1, e = 1 << 20;
    while (e > 64.0f && n < 200) {
        s = s * 1664525u + 1013904223u;
        float u = ((s >> 8) + 1) * 5.9604641e-8f;
        int cell = (int)x;
        float d = -__logf(u) / sigma[cell], edge = mu > 0 ? (cell + 1 - x) / mu : (x - cell) / -mu;
        n++;
        if (d < edge) {
            x += d * mu;
            s = s * 1664525u + 1013904223u;
            float r = (s >> 8) * 5.9604645e-8f;
            atomicAdd(&tally[cell], (unsigned long long)(e * 0.25f));
            if (r < 0.15f) break;
            e *= 0.75f;
            mu = 2 * r - 1;
            if (fabsf(mu) < 0.05f) mu = 0.05f;
        } else {
            cell += mu > 0 ? 1 : -1;
            if (cell < 0 || cell > 63) break;
            x = mu > 0 ? cell + 1e-4f : cell + 0.9999f;
        }
    }
    hits[i] = n;
}

//! local_gradients_of_five_points 120 25 | f64:15000:-1:1 | f64:25:-1:1 | f64:90000:0:1 | out f64:15000
// An element of 5 x 5 x 5 values a block: gradient, six geometric factors, transposed gradient.
K local_gradients_of_five_points(const double *u, const double *dm, const double *g, double *w)
{
    __shared__ double su[5][5][5], sr[5][5][5], ss[5][5][5], st[5][5][5], d[5][5];
    int i = threadIdx.x % 5, j = threadIdx.x / 5;
    d[j][i] = dm[j * 5 + i];
    for (int k = 0; k < 5; k++) su[k][j][i] = u[blockIdx.x * 125 + k * 25 + j * 5 + i];
    __syncthreads();
    for (int k = 0; k < 5; k++) {
        double r = 0, s = 0, t = 0;
#pragma unroll
        for (int m = 0; m < 5; m++) r += d[i][m] * su[k][j][m], s += d[j][m] * su[k][m][i], t += d[k][m] * su[m][j][i];
        const double *q = g + (blockIdx.x * 125 + k * 25 + j * 5 + i) * 6;
        sr[k][j][i] = q[0] * r + q[1] * s + q[2] * t;
        ss[k][j][i] = q[1] * r + q[3] * s + q[4] * t;
        st[k][j][i] = q[2] * r + q[4] * s + q[5] * t;
    }
    __syncthreads();
    for (int k = 0; k < 5; k++) {
        double v = 0;
#pragma unroll
        for (int m = 0; m < 5; m++) v += d[m][i] * sr[k][j][m] + d[m][j] * ss[k][m][i] + d[m][k] * st[m][j][i];
        w[blockIdx.x * 125 + k * 25 + j * 5 + i] = v;
    }
}

//! repulsion_of_spherical_shells 16,16 8,8 | f64:512:-2:2 | f64:512:0.2:3 | out f64:16384
// Pairs of Gaussians against pairs of Gaussians by Boys' function of order zero.
K repulsion_of_spherical_shells(const double *pos, const double *ex, double *out)
{
    int a = blockIdx.x * 8 + threadIdx.x, b = blockIdx.y * 8 + threadIdx.y;
    double p = ex[a * 2] + ex[a * 2 + 1], q = ex[b * 2] + ex[b * 2 + 1], x = 0;
    for (int c = 0; c < 3; c++) {
        double dx = pos[a * 4 % 509 + c] - pos[b * 4 % 509 + c];
        x += dx * dx;
    }
    double t = p * q / (p + q) * x, f;
    if (t < 1e-8) f = 1.0;
    else if (t > 30.0) f = 0.8862269254527580 * rsqrt(t);
    else f = 0.8862269254527580 * rsqrt(t) * erf(sqrt(t));
    out[b * 128 + a] = 34.986836655249725 / (p * q * sqrt(p + q)) * f * exp(-x * 0.1);
}

//! pressures_of_ideal_gas 40 256 | f64:20480:0.1:2 | f64:20480:0.5:3 | out f64:20480 | out f64:20480 | s s32 20480
K pressures_of_ideal_gas(const double *rho, const double *energy, double *pressure, double *sound, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        double r = rho[i], e = energy[i], v = 1.0 / r, p = 0.4 * r * e, pe = 0.4 * r, pv = -r * p;
        pressure[i] = p;
        sound[i] = sqrt(v * v * (p * pe - pv));
    }
}

//! macroblocks_compared_at_offsets 11,9 64 | u8:40000 | u8:40000 | out u16:25344 | s s32 200
// 16 x 16 bytes against 64 places of the other picture; a thread a place.
K macroblocks_compared_at_offsets(const uint8_t *cur, const uint8_t *ref, uint16_t *out, int pitch)
{
    __shared__ uint8_t mine[256];
    int t = threadIdx.x, x0 = blockIdx.x * 16, y0 = blockIdx.y * 16;
    for (int i = t; i < 256; i += 64) mine[i] = cur[(y0 + i / 16) * pitch + x0 + i % 16];
    __syncthreads();
    int dx = t % 8, dy = t / 8;
    for (int q = 0; q < 4; q++) {
        unsigned s = 0;
        int bx = q % 2 * 8, by = q / 2 * 8;
        for (int y = 0; y < 8; y++)
#pragma unroll
            for (int x = 0; x < 8; x++) s = __usad(mine[(by + y) * 16 + bx + x], ref[(y0 + by + y + dy) * pitch + x0 + bx + x + dx], s);
        out[((blockIdx.y * 11 + blockIdx.x) * 64 + t) * 4 + q] = s;
    }
}

//! polarisation_in_complex_doubles 20 64 | f64:2560:-1:1 | f64:512:-1:1 | out f64:2560
K polarisation_in_complex_doubles(const cuDoubleComplex *m, const cuDoubleComplex *poles, cuDoubleComplex *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    cuDoubleComplex a = m[i], s = make_cuDoubleComplex(0, 0);
    for (int k = 0; k < 64; k++) {
        cuDoubleComplex w = poles[k * 4 + (i & 3)], d = cuCsub(make_cuDoubleComplex(0.2 * k, 0.0), w);
        double r2 = d.x * d.x + d.y * d.y, f = 1.0 / (r2 + 1e-3);
        cuDoubleComplex q = cuCmul(cuConj(a), cuCmul(d, a));
        if (r2 > 0.3) s = cuCadd(s, make_cuDoubleComplex(q.x * f, q.y * f));
        else s = cuCsub(s, make_cuDoubleComplex(q.x, 0.5 * q.y));
    }
    out[i] = s;
}
