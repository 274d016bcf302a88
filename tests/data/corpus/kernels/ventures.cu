// ventures.cu - finance, PDE, bodies, graphs, dynamic programming, simulation, groups, oddities
#include <cstdint>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
#define K extern "C" __global__ void

//! binomial_american 20 64 | f32:1280:20:60 | out f32:1280
K binomial_american(const float *S, float *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = S[i], v[17];
    const float u = 1.05f, d = 1.0f / 1.05f, p = 0.52f, disc = 0.999f;
    float x = s * powf(d, 16.0f);
#pragma unroll
    for (int k = 0; k <= 16; k++) { v[k] = fmaxf(40.0f - x, 0.0f); x *= u * u; }
    for (int step = 15; step >= 0; step--) {
        float y = s * powf(d, (float)step);
#pragma unroll
        for (int k = 0; k < 16; k++)
            if (k <= step) { v[k] = fmaxf(disc * (p * v[k + 1] + (1 - p) * v[k]), 40.0f - y); y *= u * u; }
    }
    out[i] = v[0];
}

//! asian_paths_double 20 64 | u32:1280 | out f64:1280 | s f64 100 | s f64 0.2 | s s32 24
K asian_paths_double(const uint32_t *seed, double *out, double s0, double vol, int steps)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t r = seed[i] | 1;
    double s = s0, sum = 0, dt = 1.0 / steps, drift = (0.03 - 0.5 * vol * vol) * dt, sq = sqrt(dt) * vol;
    for (int k = 0; k < steps; k++) {
        double z = -6;
        for (int q = 0; q < 12; q++) { r ^= r << 13; r ^= r >> 17; r ^= r << 5; z += r * 2.3283064365386963e-10; }
        s *= exp(drift + sq * z);
        sum += s;
    }
    double pay = sum / steps - s0;
    out[i] = pay > 0 ? pay : 0;
}

//! implied_vol_newton 20 64 | f32:1280:5:15 | out f32:1280 | out s32:1280
__device__ float ncdf(float x) { return 0.5f * erfcf(-x * 0.70710678f); }
K implied_vol_newton(const float *price, float *vol, int *iters)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float target = price[i], sg = 0.3f;
    int k = 0;
    for (; k < 20; k++) {
        float d1 = (0.02f + 0.5f * sg * sg) / sg, d2 = d1 - sg;
        float c = 100 * ncdf(d1) - 98 * ncdf(d2), vega = 100 * 0.39894228f * expf(-0.5f * d1 * d1), diff = c - target;
        if (fabsf(diff) < 1e-4f) break;
        sg -= diff / vega;
        if (sg < 0.01f) sg = 0.01f;
    }
    vol[i] = sg;
    iters[i] = k;
}

//! heat_3d_zmarch 4,4 16,8 | f32:131072:0:1 | out f32:131072 | s s32 64 | s s32 32 | s s32 64 | s f32 0.1
K heat_3d_zmarch(const float *u, float *v, int nx, int ny, int nz, float k)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, p = nx * ny, i = y * nx + x;
    if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
    float below = u[i], here = u[i + p];
    for (int z = 1; z < nz - 1; z++) {
        i += p;
        float above = u[i + p];
        v[i] = here + k * (u[i - 1] + u[i + 1] + u[i - nx] + u[i + nx] + below + above - 6 * here);
        below = here;
        here = above;
    }
}

//! shallow_water_flux 16 256 | f64:4096:1:2 | f64:4096:-1:1 | out f64:4096 | out f64:4096 | s s32 4096
K shallow_water_flux(const double *h, const double *hu, double *nh, double *nu, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 1 || i >= n - 1) return;
    double fh[2], fu[2];
    for (int s = 0; s < 2; s++) {
        double hl = h[i - 1 + s], hr = h[i + s], ul = hu[i - 1 + s] / hl, ur = hu[i + s] / hr;
        double cl = sqrt(9.81 * hl), cr = sqrt(9.81 * hr), a = fmax(fabs(ul) + cl, fabs(ur) + cr);
        fh[s] = 0.5 * (hl * ul + hr * ur) - 0.5 * a * (hr - hl);
        fu[s] = 0.5 * (hl * ul * ul + 0.5 * 9.81 * hl * hl + hr * ur * ur + 0.5 * 9.81 * hr * hr) - 0.5 * a * (hr * ur - hl * ul);
    }
    nh[i] = h[i] - 0.01 * (fh[1] - fh[0]);
    nu[i] = hu[i] - 0.01 * (fu[1] - fu[0]);
}

//! lattice_boltzmann_pull 8,8 16,8 | f32:73728:0.1:1 | out f32:73728 | s s32 128 | s s32 64 | s f32 1.2
K lattice_boltzmann_pull(const float *f, float *g, int w, int h, float omega)
{
    const int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
    const float wt[9] = {4 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 36.f, 1 / 36.f, 1 / 36.f, 1 / 36.f};
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    float q[9], rho = 0, ux = 0, uy = 0;
#pragma unroll
    for (int k = 0; k < 9; k++) {
        int xx = (x - cx[k] + w) % w, yy = (y - cy[k] + h) % h;
        q[k] = f[(k * h + yy) * w + xx];
        rho += q[k];
        ux += cx[k] * q[k];
        uy += cy[k] * q[k];
    }
    ux /= rho;
    uy /= rho;
    float u2 = 1.5f * (ux * ux + uy * uy);
#pragma unroll
    for (int k = 0; k < 9; k++) {
        float cu = 3 * (cx[k] * ux + cy[k] * uy), eq = wt[k] * rho * (1 + cu + 0.5f * cu * cu - u2);
        g[(k * h + y) * w + x] = q[k] + omega * (eq - q[k]);
    }
}

//! leapfrog_softened 8 128 | f32:4096:-1:1 | inout f32:4096:-1:1 | s s32 1024 | s f32 0.01
K leapfrog_softened(const float4 *pos, float4 *vel, int n, float dt)
{
    __shared__ float4 s[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    float4 p = pos[i];
    float ax = 0, ay = 0, az = 0;
    for (int tile = 0; tile < n; tile += 128) {
        s[threadIdx.x] = pos[tile + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 128; k++) {
            float dx = s[k].x - p.x, dy = s[k].y - p.y, dz = s[k].z - p.z, r2 = dx * dx + dy * dy + dz * dz + 1e-3f;
            float ir = rsqrtf(r2), f = s[k].w * ir * ir * ir;
            ax += f * dx; ay += f * dy; az += f * dz;
        }
        __syncthreads();
    }
    float4 v = vel[i];
    v.x += dt * ax; v.y += dt * ay; v.z += dt * az;
    vel[i] = v;
}

//! lj_cell_list 16 64 | f32:4096:0:8 | s32:513:0:4 | out f32:4096
K lj_cell_list(const float4 *p, const int *cnt, float4 *f)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    float4 a = p[i];
    float fx = 0, fy = 0, fz = 0, e = 0;
    int cx = (int)a.x, cy = (int)a.y, cz = (int)a.z;
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                int c = ((cz + dz) & 7) * 64 + ((cy + dy) & 7) * 8 + ((cx + dx) & 7), n = cnt[c];
                for (int k = 0; k < n; k++) {
                    int j = (c * 2 + k) & 1023;
                    if (j == i) continue;
                    float4 b = p[j];
                    float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z, r2 = x * x + y * y + z * z;
                    if (r2 > 2.25f || r2 == 0) continue;
                    float i2 = 1 / r2, i6 = i2 * i2 * i2, s = i6 * (i6 - 0.5f) * i2;
                    fx += s * x; fy += s * y; fz += s * z; e += i6 * (i6 - 1);
                }
            }
    f[i] = make_float4(fx, fy, fz, e);
}

//! bfs_frontier_push 20 128 | s32:2560:0:2000 | s32:8192:0:2000 | zero u32:2000 | unordered
K bfs_frontier_push(const int *frontier, const int *adj, uint32_t *level)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = frontier[i], b = v * 4, e = b + (v & 3) + 1;
    for (int k = b; k < e; k++) {
        int u = adj[k];
        if (level[u] == 0 && atomicCAS(&level[u], 0u, 1u + (v & 1)) == 0u) atomicMax(&level[v], 7u);
    }
}

//! union_find_hook 16 128 | s32:2048:0:1024 | s32:2048:0:1024 | iota s32:1024 | out s32:1024
K union_find_hook(const int *src, const int *dst, int *parent, int *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    auto find = [&](int x) { int p = ((volatile int *)parent)[x]; while (p != x) { x = p; p = ((volatile int *)parent)[x]; } return x; };
    int a = find(src[i]), b = find(dst[i]);
    while (a != b) {
        if (a < b) { int t = a; a = b; b = t; }
        int old = atomicCAS(&parent[a], a, b);
        if (old == a) break;
        a = find(old);
        b = find(b);
    }
    if (i < 1024) out[i] = 1;
}

//! pagerank_csc 16 128 | f32:2048:0:1 | s32:2048:0:12 | s32:30000:0:2048 | out f32:2048 | out f32:16
K pagerank_csc(const float *rank, const int *deg, const int *src, float *next, float *delta)
{
    __shared__ float s[4];
    int v = blockIdx.x * 128 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < deg[v]; k++) { int u = src[v * 12 + k]; sum += rank[u] / (float)(deg[u] + 1); }
    float n = 0.15f / 2048 + 0.85f * sum;
    next[v] = n;
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    float d = cg::reduce(warp, fabsf(n - rank[v]), cg::plus<float>());
    if (warp.thread_rank() == 0) s[threadIdx.x / 32] = d;
    __syncthreads();
    if (threadIdx.x == 0) delta[blockIdx.x] = s[0] + s[1] + s[2] + s[3];
}

//! floyd_block_inner 6,6 16,16 | f32:9216:0:10 | out f32:9216 | s s32 96
K floyd_block_inner(const float *d, float *o, int n)
{
    __shared__ float r[16][16], c[16][16];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float best = d[y * n + x];
    for (int b = 0; b < n / 16; b++) {
        r[threadIdx.y][threadIdx.x] = d[y * n + b * 16 + threadIdx.x];
        c[threadIdx.y][threadIdx.x] = d[(b * 16 + threadIdx.y) * n + x];
        __syncthreads();
        for (int k = 0; k < 16; k++) best = fminf(best, r[threadIdx.y][k] + c[k][threadIdx.x]);
        __syncthreads();
    }
    o[y * n + x] = best;
}

//! edit_distance_bits 20 64 | u8:40960:97:101 | u8:40960:97:101 | out s32:1280
K edit_distance_bits(const uint8_t *a, const uint8_t *b, int *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint8_t *p = a + 32 * i, *q = b + 32 * i;
    uint32_t eq[4] = {0, 0, 0, 0};
    for (int k = 0; k < 32; k++) eq[(p[k] - 97) & 3] |= 1u << k;
    uint32_t pv = ~0u, mv = 0;
    int score = 32;
    for (int k = 0; k < 32; k++) {
        uint32_t e = eq[(q[k] - 97) & 3], xv = e | mv, xh = (((e & pv) + pv) ^ pv) | e;
        uint32_t ph = mv | ~(xh | pv), mh = pv & xh;
        if (ph & 0x80000000u) score++;
        if (mh & 0x80000000u) score--;
        ph = ph << 1 | 1;
        mh <<= 1;
        pv = mh | ~(xv | ph);
        mv = ph & xv;
    }
    out[i] = score;
}

//! knapsack_shared 10 128 | s32:200:1:40 | s32:200:1:100 | out s32:1280
K knapsack_shared(const int *wt, const int *val, int *out)
{
    __shared__ int best[2][128];
    int t = threadIdx.x, cur = 0;
    best[0][t] = 0;
    __syncthreads();
    for (int k = 0; k < 20; k++) {
        int w = wt[blockIdx.x * 20 + k], v = val[blockIdx.x * 20 + k], b = best[cur][t];
        if (t >= w) b = max(b, best[cur][t - w] + v);
        best[cur ^ 1][t] = b;
        cur ^= 1;
        __syncthreads();
    }
    out[blockIdx.x * 128 + t] = best[cur][t];
}

//! lcs_rows_local 10 64 | u8:20480:0:4 | u8:20480:0:4 | out s32:640
K lcs_rows_local(const uint8_t *a, const uint8_t *b, int *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    short row[33];
    for (int k = 0; k <= 32; k++) row[k] = 0;
    for (int y = 0; y < 32; y++) {
        short diag = 0;
        uint8_t c = a[32 * i + y];
        for (int x = 1; x <= 32; x++) {
            short up = row[x], n = c == b[32 * i + x - 1] ? diag + 1 : max(up, row[x - 1]);
            diag = up;
            row[x] = n;
        }
    }
    out[i] = row[32];
}

//! viterbi_states 16 32 | f32:5120:-3:0 | u8:16384:0:4 | out f32:512 | out u32:512
K viterbi_states(const float *trans, const uint8_t *obs, float *score, uint32_t *last)
{
    int s = threadIdx.x;
    float v = trans[s];
    uint32_t path = 0;
    for (int t = 0; t < 24; t++) {
        float best = -1e30f;
        int from = 0;
        for (int k = 0; k < 32; k++) {
            float c = __shfl_sync(~0u, v, k) + trans[32 + k * 32 + s];
            if (c > best) { best = c; from = k; }
        }
        v = best + trans[2000 + obs[blockIdx.x * 24 + t] * 32 + s];
        path = path * 31 + from;
    }
    score[blockIdx.x * 32 + s] = v;
    last[blockIdx.x * 32 + s] = path;
}

//! queue_simulation 20 64 | u32:1280 | out f32:1280 | out s32:1280
K queue_simulation(const uint32_t *seed, float *wait, int *served)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t r = seed[i] | 1;
    float now = 0, free_at[3] = {0, 0, 0}, sum = 0;
    int n = 0;
    while (now < 30.0f) {
        r = r * 1664525u + 1013904223u;
        now += -__logf((r >> 8) * 0x1p-24f + 0x1p-25f);
        r = r * 1664525u + 1013904223u;
        float service = 1.0f + (r >> 16 & 3);
        int s = 0;
        if (free_at[1] < free_at[s]) s = 1;
        if (free_at[2] < free_at[s]) s = 2;
        float start = fmaxf(now, free_at[s]);
        sum += start - now;
        free_at[s] = start + service;
        n++;
    }
    wait[i] = sum / n;
    served[i] = n;
}

//! stack_machine_anew 10 64 | u8:20480 | s32:640 | out s32:640
K stack_machine_anew(const uint8_t *code, const int *arg, int *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint8_t *pc = code + 32 * i;
    int st[9], sp = 0;
    st[0] = arg[i];
    for (int k = 0; k < 32; k++) {
        uint8_t op = pc[k] & 7;
        int a = st[sp];
        switch (op) {
        case 0: if (sp < 8) st[++sp] = a; break;
        case 1: if (sp > 0) { sp--; st[sp] += a; } break;
        case 2: if (sp > 0) { sp--; st[sp] -= a; } break;
        case 3: if (sp > 0) { sp--; st[sp] *= a; } break;
        case 4: st[sp] = ~a; break;
        case 5: st[sp] = a << (pc[k] >> 3 & 7); break;
        case 6: if (sp < 8) st[++sp] = pc[k] >> 3; break;
        default: if (sp > 0 && a < 0) { int t = st[sp - 1]; st[sp - 1] = a; st[sp] = t; } break;
        }
    }
    out[i] = st[sp] + sp;
}

//! early_exit_collatz 20 128 | u32:2560:1:100000 | out u32:2560 | s u32 150
K early_exit_collatz(const uint32_t *in, uint32_t *out, uint32_t limit)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    uint64_t n = in[i];
    if (n < 3) { out[i] = (uint32_t)n; return; }
    uint32_t k = 0;
    while (n != 1) {
        if (k >= limit) { out[i] = 0xffffffffu; return; }
        n = n & 1 ? 3 * n + 1 : n >> 1;
        k++;
    }
    out[i] = k;
}

//! sandpile_topple 4 256 | inout s32:4096:0:8 | s s32 10
K __launch_bounds__(256, 4) sandpile_topple(int *g, int rounds)
{
    __shared__ int s[34][34];
    int *p = g + blockIdx.x * 1024;
    for (int k = threadIdx.x; k < 34 * 34; k += 256) (&s[0][0])[k] = 0;
    __syncthreads();
    for (int k = threadIdx.x; k < 1024; k += 256) s[k / 32 + 1][k % 32 + 1] = p[k];
    for (int r = 0; r < rounds; r++) {
        int n[4];
        __syncthreads();
#pragma unroll
        for (int q = 0; q < 4; q++) {
            int k = threadIdx.x + q * 256, y = k / 32 + 1, x = k % 32 + 1, v = s[y][x];
            n[q] = (v >= 4 ? v - 4 : v) + (s[y - 1][x] >= 4) + (s[y + 1][x] >= 4) + (s[y][x - 1] >= 4) + (s[y][x + 1] >= 4);
        }
        if (!__syncthreads_or(n[0] >= 4 || n[1] >= 4 || n[2] >= 4 || n[3] >= 4 || r < 3)) break;
#pragma unroll
        for (int q = 0; q < 4; q++) { int k = threadIdx.x + q * 256; s[k / 32 + 1][k % 32 + 1] = n[q]; }
    }
    __syncthreads();
    for (int k = threadIdx.x; k < 1024; k += 256) p[k] = s[k / 32 + 1][k % 32 + 1];
}

//! ising_checkerboard 2,4 32,8 | inout s32:4096:-1:1 | f32:5:0:1 | s u32 9 | s s32 0
K ising_checkerboard(int *spin, const float *prob, uint32_t seed, int colour)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = (blockIdx.y * 8 + threadIdx.y) * 2;
    for (int r = 0; r < 2; r++, y++) {
        if (((x + y) & 1) != colour) continue;
        int s = spin[y * 64 + (x & 63)] * 2 + 1, n = spin[y * 64 + ((x + 1) & 63)] + spin[y * 64 + ((x - 1) & 63)] + spin[((y + 1) & 63) * 64 + (x & 63)] + spin[((y - 1) & 63) * 64 + (x & 63)];
        int e = s * n;
        uint32_t h = (x * 73856093u ^ y * 19349663u) + seed;
        h ^= h >> 13; h *= 0x5bd1e995u; h ^= h >> 15;
        if (e <= 0 || h * 2.3283064e-10f < prob[min(e, 4)]) spin[y * 64 + (x & 63)] = -s;
    }
}

//! aggregate_by_match 20 128 | u32:2560:0:20 | zero u32:20
K aggregate_by_match(const uint32_t *key, uint32_t *count)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, k = key[i];
    auto g = cg::labeled_partition(cg::coalesced_threads(), k);
    if (g.thread_rank() == 0) atomicAdd(&count[k], g.size());
}

//! rk4_lorenz 20 64 | f64:3840:-5:5 | out f64:3840 | s s32 12
struct d3 { double x, y, z; };
template <typename F> __device__ d3 rk4(d3 s, double h, F f)
{
    auto add = [](d3 a, d3 b, double k) { return d3{a.x + k * b.x, a.y + k * b.y, a.z + k * b.z}; };
    d3 a = f(s), b = f(add(s, a, h / 2)), c = f(add(s, b, h / 2)), d = f(add(s, c, h));
    return {s.x + h / 6 * (a.x + 2 * b.x + 2 * c.x + d.x), s.y + h / 6 * (a.y + 2 * b.y + 2 * c.y + d.y), s.z + h / 6 * (a.z + 2 * b.z + 2 * c.z + d.z)};
}
K rk4_lorenz(const d3 *in, d3 *out, int steps)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    d3 s = in[i];
    for (int k = 0; k < steps; k++) s = rk4(s, 0.01, [](d3 v) { return d3{10 * (v.y - v.x), v.x * (28 - v.z) - v.y, v.x * v.y - 8.0 / 3 * v.z}; });
    out[i] = s;
}

//! kahan_rows_anew 20 64 | f32:128000:-1:1 | out f32:1280 | s s32 100
K kahan_rows_anew(const float *in, float *out, int n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0, c = 0;
    for (int k = 0; k < n; k++) {
        float y = __fsub_rn(in[k * 1280 + i], c), t = __fadd_rn(s, y);
        c = __fsub_rn(__fsub_rn(t, s), y);
        s = t;
    }
    out[i] = s;
}

//! gather_scatter_records 20 128 | u32:30720 | s32:2560:0:2560 | out u32:30720
struct rec { uint32_t id; float w; uint64_t key; uint16_t a, b; uint8_t flags[8]; uint32_t pad; };
K gather_scatter_records(const rec *in, const int *idx, rec *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 3072 / 4 * 3 + 0u) return;
    rec r = in[idx[i] % 2300];
    r.id ^= r.key >> 32;
    if (r.a > r.b) { uint16_t t = r.a; r.a = r.b; r.b = t; }
    for (int k = 0; k < 4; k++) { uint8_t t = r.flags[k]; r.flags[k] = r.flags[7 - k]; r.flags[7 - k] = t; }
    out[i] = r;
}
