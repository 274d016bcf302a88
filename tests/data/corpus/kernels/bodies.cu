/* bodies.cu - particles, molecules, rays and trees of boxes. */
#include <cstdint>
#define K extern "C" __global__ void
//! cell_counts 24 256 | f32:24576:0:8 | zero u32:512 | out u16:8192
// Which of 8 x 8 x 8 cells a particle lies in, and how many lie in each.
K cell_counts(const float3 *p, unsigned *count, uint16_t *cell)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 8192; i += gridDim.x * blockDim.x) {
        float3 q = p[i];
        int c = min((int)q.x, 7) + 8 * (min((int)q.y, 7) + 8 * min((int)q.z, 7));
        cell[i] = (uint16_t)c;
        atomicAdd(&count[c], 1u);
    }
}
//! lj_neighbours 32 128 | f32:16384:0:12 | u32:4096:8:40 | u32:163840:0:4096 | out f32:16384 | s f32 6.25
// Lennard-Jones with a list of neighbours, entry k of particle i at k * n + i; energies in double precision.
K lj_neighbours(const float4 *__restrict__ x, const unsigned *__restrict__ len, const unsigned *__restrict__ list, float4 *__restrict__ f, float cut2)
{
    const unsigned n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x, m = len[i];
    const float4 a = x[i];
    float fx = 0, fy = 0, fz = 0;
    double e = 0;
    for (unsigned k = 0; k < m; k++) {
        const float4 b = x[list[k * n + i]];
        float dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z;
        dx -= 12 * rintf(dx / 12);
        dy -= 12 * rintf(dy / 12);
        dz -= 12 * rintf(dz / 12);
        const float r2 = dx * dx + dy * dy + dz * dz + 0.3f;
        if (r2 < cut2) {
            float s2 = 1 / r2, s6 = s2 * s2 * s2, g = 24 * s2 * s6 * (2 * s6 - 1);
            fx += g * dx;
            fy += g * dy;
            fz += g * dz;
            e += 4 * (double)s6 * (s6 - 1);
        }
    }
    f[i] = make_float4(fx, fy, fz, (float)e);
}
//! shake_water 40 64 | inout f32:23040:-1:1 | out s32:2560
// Three bonds of a molecule brought back to their lengths, round by round, by each thread for its own.
struct Molecule {
    float x[3][3];
};
K shake_water(Molecule *all, int *rounds)
{
    int t = blockIdx.x * 64 + threadIdx.x, n = 0;
    Molecule m = all[t];
    const float mass[3] = {1.0f / 16, 1.0f, 1.0f}, want[3] = {1.0f, 1.0f, 2.6666f};
    for (; n < 50; n++) {
        float worst = 0;
#pragma unroll
        for (int b = 0; b < 3; b++) {
            const int i = b == 2 ? 1 : 0, j = b == 0 ? 1 : 2;
            float d[3], r2 = 1e-6f;
#pragma unroll
            for (int k = 0; k < 3; k++) d[k] = m.x[i][k] - m.x[j][k], r2 += d[k] * d[k];
            float diff = (want[b] - r2) / (2 * r2 * (mass[i] + mass[j]));
            worst = fmaxf(worst, fabsf(want[b] - r2));
#pragma unroll
            for (int k = 0; k < 3; k++) m.x[i][k] += mass[i] * diff * d[k], m.x[j][k] -= mass[j] * diff * d[k];
        }
        if (worst < 1e-3f) break;
    }
    all[t] = m;
    rounds[t] = n;
}
//! ewald_pairs 16 96 | f32:6144:0:6 | out f64:1536 | s f64 0.8
// The part of the Ewald sum in real space, 64 sources a tile.
K ewald_pairs(const float4 *q, double *energy, double alpha)
{
    __shared__ float4 s[64];
    int i = blockIdx.x * 96 + threadIdx.x;
    float4 a = q[i];
    double e = 0;
    for (int tile = 0; tile < 2; tile++) {
        __syncthreads();
        if (threadIdx.x < 64) s[threadIdx.x] = q[(tile * 768 + blockIdx.x * 40 + threadIdx.x) % 1536];
        __syncthreads();
        for (int k = 0; k < 64; k++) {
            float dx = a.x - s[k].x, dy = a.y - s[k].y, dz = a.z - s[k].z, r2 = dx * dx + dy * dy + dz * dz;
            if (r2 > 4.0f || r2 == 0) continue;
            double r = sqrt((double)r2);
            e += (s[k].w - 3) * erfc(alpha * r) / r;
        }
    }
    energy[i] = e * (a.w - 3);
}
//! pme_spread 20 128 | f32:10240:0:16 | zero s32:4096
// Charges onto 16 x 16 x 16 points by cubic B-splines, in fixed point, so that the order of the sums does not matter.
static __device__ void spline(float w, float *c)
{
    c[0] = (1 - w) * (1 - w) * (1 - w) / 6;
    c[1] = (3 * w * w * w - 6 * w * w + 4) / 6;
    c[2] = (-3 * w * w * w + 3 * w * w + 3 * w + 1) / 6;
    c[3] = w * w * w / 6;
}
K pme_spread(const float4 *atom, int *grid)
{
    float4 a = atom[blockIdx.x * 128 + threadIdx.x];
    float x[4], y[4], z[4];
    int ix = (int)a.x, iy = (int)a.y, iz = (int)a.z;
    spline(a.x - ix, x);
    spline(a.y - iy, y);
    spline(a.z - iz, z);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            int *row = grid + (((iz + i) & 15) * 16 + ((iy + j) & 15)) * 16;
            float f = z[i] * y[j] * (a.w - 8) * 65536;
#pragma unroll
            for (int k = 0; k < 4; k++) atomicAdd(&row[(ix + k) & 15], __float2int_rn(f * x[k]));
        }
}
//! sph_density 27 64 | f32:5184:0:1 | u32:27:20:64 | out f32:1728
// Smoothed particles in 3 x 3 x 3 cells of at most 64: a block a cell.
K sph_density(const float *pos, const unsigned *count, float *rho)
{
    const int c = blockIdx.x, cx = c % 3, cy = c / 3 % 3, cz = c / 9, i = threadIdx.x;
    const float *mine = pos + (c * 64 + i) * 3;
    float px = mine[0] + cx, py = mine[1] + cy, pz = mine[2] + cz, sum = 0;
    if (i >= count[c]) return;
    for (int z = max(cz - 1, 0); z <= min(cz + 1, 2); z++)
        for (int y = max(cy - 1, 0); y <= min(cy + 1, 2); y++)
            for (int x = max(cx - 1, 0); x <= min(cx + 1, 2); x++) {
                int o = (z * 3 + y) * 3 + x;
                for (unsigned k = 0; k < count[o]; k++) {
                    const float *q = pos + (o * 64 + k) * 3;
                    float dx = q[0] + x - px, dy = q[1] + y - py, dz = q[2] + z - pz, r2 = dx * dx + dy * dy + dz * dz;
                    if (r2 < 0.25f) sum += (0.25f - r2) * (0.25f - r2) * (0.25f - r2);
                }
            }
    rho[c * 64 + i] = sum * 315 / (64 * 3.14159265f * 0.001953125f);
}
//! boids 12 128 | f32:6144:-8:8 | out f32:3072
// Cohesion, alignment and distance of 1,536 animals in the plane, in tiles of a block; each block sees every third tile.
K boids(const float4 *state, float2 *turn)
{
    __shared__ float4 s[128];
    float4 me = state[blockIdx.x * 128 + threadIdx.x];
    float2 centre = {0, 0}, heading = {0, 0}, apart = {0, 0};
    int n = 0;
    for (int tile = 0; tile < 12; tile += 3) {
        s[threadIdx.x] = state[(tile + blockIdx.x % 3) * 128 + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 128; k++) {
            float4 o = s[k];
            float dx = o.x - me.x, dy = o.y - me.y, d2 = dx * dx + dy * dy;
            if (d2 > 9 || dx * me.z + dy * me.w < 0) continue;
            n++;
            centre.x += dx, centre.y += dy;
            heading.x += o.z, heading.y += o.w;
            if (d2 < 1) apart.x -= dx, apart.y -= dy;
        }
        __syncthreads();
    }
    float k = n ? 1.0f / n : 0;
    turn[blockIdx.x * 128 + threadIdx.x] = make_float2(0.01f * centre.x * k + 0.1f * heading.x * k + apart.x, 0.01f * centre.y * k + 0.1f * heading.y * k + apart.y);
}
//! rigid_turns 36 128 | inout f32:59904:-1:1 | s f32 0.02 | s s32 5
// Thirteen floats a body: place, quaternion, velocity, spin; a few steps of Euler and a normal quaternion again.
struct Body {
    float p[3], q[4], v[3], w[3];
};
K rigid_turns(Body *bodies, float dt, int steps)
{
    Body b = bodies[blockIdx.x * blockDim.x + threadIdx.x];
    for (int s = 0; s < steps; s++) {
        float a = b.q[0], i = b.q[1], j = b.q[2], k = b.q[3], h = dt / 2;
        float na = a - h * (b.w[0] * i + b.w[1] * j + b.w[2] * k), ni = i + h * (b.w[0] * a + b.w[1] * k - b.w[2] * j);
        float nj = j + h * (b.w[1] * a + b.w[2] * i - b.w[0] * k), nk = k + h * (b.w[2] * a + b.w[0] * j - b.w[1] * i);
        float r = rsqrtf(na * na + ni * ni + nj * nj + nk * nk + 1e-12f);
        b.q[0] = na * r, b.q[1] = ni * r, b.q[2] = nj * r, b.q[3] = nk * r;
        for (int c = 0; c < 3; c++) {
            b.p[c] += dt * b.v[c];
            b.v[c] *= 0.99f;
            if (fabsf(b.p[c]) > 1) b.v[c] = -b.v[c];
        }
        b.v[1] -= 9.81f * dt;
    }
    bodies[blockIdx.x * blockDim.x + threadIdx.x] = b;
}
//! quadtree_pull 16 64 | f32:5464:0:1 | f32:2048:0:1 | out f32:2048
// Barnes-Hut: every thread walks a full tree of six levels (1,365 boxes of x, y, mass), opening what is near.
K quadtree_pull(const float4 *box, const float2 *at, float2 *pull)
{
    int t = blockIdx.x * 64 + threadIdx.x, stack[20], top = 0;
    float2 p = at[t], a = {0, 0};
    stack[top++] = 0;
    while (top) {
        int n = stack[--top], level = n >= 341 ? 5 : n >= 85 ? 4 : n >= 21 ? 3 : n >= 5 ? 2 : n >= 1;
        float4 b = box[n];
        float size = 1.0f / (1 << level), dx = b.x - p.x, dy = b.y - p.y, d2 = dx * dx + dy * dy + 1e-4f;
        if (level == 5 || size * size < 0.36f * d2) {
            float g = b.z / (d2 * sqrtf(d2)) * size * size;
            a.x += g * dx;
            a.y += g * dy;
        } else
            for (int k = 1; k <= 4; k++) stack[top++] = 4 * n + k;
    }
    pull[t] = a;
}
//! morton_splits 48 96 | f32:13824:0:1 | out u32:4608 | out s32:4608
// Morton codes of places, and how many leading bits neighbours in memory share.
static __device__ unsigned spread3(unsigned v)
{
    v = (v | v << 16) & 0x030000FF;
    v = (v | v << 8) & 0x0300F00F;
    v = (v | v << 4) & 0x030C30C3;
    return (v | v << 2) & 0x09249249;
}
K morton_splits(const float *p, unsigned *code, int *prefix)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    auto of = [&](int k) {
        const float *q = p + 3 * k;
        return spread3((unsigned)(q[0] * 1023)) | spread3((unsigned)(q[1] * 1023)) << 1 | spread3((unsigned)(q[2] * 1023)) << 2;
    };
    unsigned a = of(i), b = i + 1 < n ? of(i + 1) : ~0u;
    code[i] = a;
    prefix[i] = a == b ? 32 + __clz(i ^ (i + 1)) : __clz(a ^ b);
}
//! bvh_hits 12,8 16,8 | f32:3066:0:0.3 | out u16:12288
// A tree of 511 boxes in heap order, their places from their numbers, a ray a thread.
K bvh_hits(const float *jitter, uint16_t *first)
{
    int px = blockIdx.x * 16 + threadIdx.x, py = blockIdx.y * 8 + threadIdx.y, node = 0, stack[12], top = 0, found = 0;
    float ox = px / 192.0f, oy = py / 64.0f, dx = 0.15f * (ox - 0.5f) + 0.001f, dy = 0.2f * (oy - 0.5f) + 0.001f, best = 1e9f;
    float ix = 1 / dx, iy = 1 / dy;
    for (;;) {
        int level = 31 - __clz(node + 1), wide = 1 << (level + 1) / 2, high = 1 << level / 2, cx = 0, cy = 0;
        for (int b = level - 1; b >= 0; b--) { /* the boxes are halved by x, by y, by x ... */
            int bit = (node + 1) >> b & 1;
            if ((level - b) & 1) cx = 2 * cx + bit;
            else cy = 2 * cy + bit;
        }
        const float *j = jitter + node * 6;
        float x0 = (cx + j[0] * 0.3f) / wide, x1 = (cx + 1 - j[1] * 0.3f) / wide;
        float y0 = (cy + j[2] * 0.3f) / high, y1 = (cy + 1 - j[3] * 0.3f) / high, z0 = j[4] + 1, z1 = z0 + 3;
        float a = (x0 - ox) * ix, b = (x1 - ox) * ix, c = (y0 - oy) * iy, d = (y1 - oy) * iy;
        float in = fmaxf(fmaxf(fminf(a, b), fminf(c, d)), z0), out = fminf(fminf(fmaxf(a, b), fmaxf(c, d)), z1);
        if (in <= out && in < best) {
            if (node >= 255) best = in, found = node;
            else {
                stack[top++] = 2 * node + 2;
                node = 2 * node + 1;
                continue;
            }
        }
        if (!top) break;
        node = stack[--top];
    }
    first[py * 192 + px] = (uint16_t)found;
}
//! triangle_rays 24 128 | f32:432:-1:1 | f32:9216:-1:1 | out f32:3072 | out s32:3072
// Moeller and Trumbore's test against 48 triangles in shared memory.
struct V3 {
    float x, y, z;
};
static __device__ V3 minus(V3 a, V3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
static __device__ V3 cross(V3 a, V3 b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
static __device__ float inner(V3 a, V3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
K triangle_rays(const float *tri, const V3 *dir, float *dist, int *which)
{
    __shared__ V3 v[144];
    int t = blockIdx.x * 128 + threadIdx.x, hit = -1;
    for (int i = threadIdx.x; i < 432; i += 128) ((float *)v)[i] = tri[i];
    __syncthreads();
    V3 o = {0, 0, -3}, d = dir[t];
    d.z += 2;
    float best = 1e30f;
    for (int k = 0; k < 48; k++) {
        V3 e1 = minus(v[3 * k + 1], v[3 * k]), e2 = minus(v[3 * k + 2], v[3 * k]), p = cross(d, e2);
        float det = inner(e1, p);
        if (fabsf(det) < 1e-6f) continue;
        float inv = 1 / det;
        V3 s = minus(o, v[3 * k]);
        float u = inner(s, p) * inv;
        if (u < 0 || u > 1) continue;
        V3 q = cross(s, e1);
        float w = inner(d, q) * inv;
        if (w < 0 || u + w > 1) continue;
        float x = inner(e2, q) * inv;
        if (x > 1e-4f && x < best) best = x, hit = k;
    }
    dist[t] = best;
    which[t] = hit;
}
