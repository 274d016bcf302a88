/* laboratory.cu - scientific and financial computing: forces, transforms, fluids, small factorisations, integrators, paths and trees, finite fields, hashes, alignments. */
#include <cuda_runtime.h>
#include <cstdint>
#include <math_constants.h>
#define K extern "C" __global__ void

// ---------------------------------------------------------------- molecular dynamics

struct BuckinghamParameters { float A, inv_rho, C; };
__constant__ BuckinghamParameters kPairTable[3] = {{1226.8f, 2.8f, 5.1f}, {890.2f, 3.3f, 22.4f}, {2314.7f, 3.1f, 72.3f}};

__device__ __forceinline__ float wrap(float d, float box, float inv_box) { return d - box * rintf(d * inv_box); }

//! ions_of_rock_salt_repelled_and_screened 66 128 | f32:33792:0:20 | u16:405504:0:8448 | out f32:33792 | s s32 8448 | s s32 48 | s f32 20.0 | s f32 8.5 | s f32 0.28
K __launch_bounds__(128) ions_of_rock_salt_repelled_and_screened(const float4 *__restrict__ posq, const uint16_t *__restrict__ nlist, float4 *__restrict__ force,
    int n, int max_neigh, float box, float rcut, float alpha)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float4 pi = posq[i];
    const float inv_box = 1.0f / box, rc2 = rcut * rcut;
    const bool cation = pi.w > 0.5f * box;
    const float shift = erfcf(alpha * rcut) / rcut;
    float fx = 0, fy = 0, fz = 0, pe = 0;
    for (int k = 0; k < max_neigh; ++k) {
        const int j = __ldg(nlist + k * n + i);
        if (j == i) continue;
        const float4 pj = __ldg(posq + j);
        const float dx = wrap(pi.x - pj.x, box, inv_box);
        const float dy = wrap(pi.y - pj.y, box, inv_box);
        const float dz = wrap(pi.z - pj.z, box, inv_box);
        const float r2 = dx * dx + dy * dy + dz * dz;
        if (r2 < rc2 && r2 > 0.04f) {
            const bool other = pj.w > 0.5f * box;
            const BuckinghamParameters p = kPairTable[cation + other];
            const float rinv = rsqrtf(r2), r = r2 * rinv;
            const float qq = cation == other ? 1.0f : -1.0f;
            const float rep = p.A * expf(-r * p.inv_rho);
            const float r6inv = rinv * rinv * rinv * rinv * rinv * rinv;
            const float screened = erfcf(alpha * r) * rinv;
            const float gauss = 1.12837917f * alpha * expf(-alpha * alpha * r2);
            const float scale = (rep * p.inv_rho - 6.0f * p.C * r6inv * rinv + 14.4f * qq * (screened + gauss) * rinv) * rinv;
            fx += scale * dx;
            fy += scale * dy;
            fz += scale * dz;
            pe += 0.5f * (rep - p.C * r6inv + 14.4f * qq * (screened - shift));
        }
    }
    force[i] = make_float4(fx, fy, fz, pe);
}

// ---------------------------------------------------------------- transforms

namespace cplx {
__device__ inline float2 mul(float2 a, float2 b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }
__device__ inline void bfly(float2 &a, float2 &b)
{
    float2 t = a;
    a = {t.x + b.x, t.y + b.y};
    b = {t.x - b.x, t.y - b.y};
}
__device__ inline float2 times_minus_i(float2 a) { return {a.y, -a.x}; }
}

__device__ void dft8(float2 (&v)[8])
{
    using namespace cplx;
    const float h = 0.70710678118654752f;
    bfly(v[0], v[4]); bfly(v[1], v[5]); bfly(v[2], v[6]); bfly(v[3], v[7]);
    v[5] = {h * (v[5].x + v[5].y), h * (v[5].y - v[5].x)};
    v[6] = times_minus_i(v[6]);
    v[7] = {h * (v[7].y - v[7].x), -h * (v[7].x + v[7].y)};
    bfly(v[0], v[2]); bfly(v[1], v[3]); bfly(v[4], v[6]); bfly(v[5], v[7]);
    v[3] = times_minus_i(v[3]);
    v[7] = times_minus_i(v[7]);
    bfly(v[0], v[1]); bfly(v[2], v[3]); bfly(v[4], v[5]); bfly(v[6], v[7]);
}

//! spectra_of_4096_by_four_stages_of_eight 66 512 | f32:540672:-1:1 | out f32:540672
K __launch_bounds__(512) spectra_of_4096_by_four_stages_of_eight(const float2 *in, float2 *out)
{
    __shared__ float2 s[4096];
    const int j = threadIdx.x;
    const int order[8] = {0, 4, 2, 6, 1, 5, 3, 7};
    float2 v[8];
    in += blockIdx.x * 4096;
    out += blockIdx.x * 4096;
#pragma unroll
    for (int r = 0; r < 8; r++) v[r] = in[j + r * 512];
#pragma unroll
    for (int ns = 1; ns < 4096; ns *= 8) {
        if (ns > 1) {
            float sn, cs;
            sincospif(-2.0f * (j % ns) / (ns * 8), &sn, &cs);
            const float2 w = make_float2(cs, sn);
            float2 wr = w;
#pragma unroll
            for (int r = 1; r < 8; r++) {
                v[r] = cplx::mul(v[r], wr);
                wr = cplx::mul(wr, w);
            }
        }
        dft8(v);
        if (ns == 512) break;
        const int base = (j / ns) * ns * 8 + (j % ns);
        __syncthreads();
#pragma unroll
        for (int r = 0; r < 8; r++) s[base + r * ns] = v[order[r]];
        __syncthreads();
#pragma unroll
        for (int r = 0; r < 8; r++) v[r] = s[j + r * 512];
    }
#pragma unroll
    for (int r = 0; r < 8; r++) out[j + r * 512] = v[order[r]];
}

// ---------------------------------------------------------------- fluids

#define NX 256
#define NY 192
//! warmth_carried_on_a_lattice_of_five_speeds 2,96 128,2 | f32:245760:0.1:0.3 | f32:49152:-0.1:0.1 | f32:49152:-0.1:0.1 | out f32:245760 | out f32:49152 | s f32 1.25 | s f32 1.0 | s f32 0.0
K warmth_carried_on_a_lattice_of_five_speeds(const float *g, const float *ux, const float *uy, float *gnew, float *temperature, float omega, float hot, float cold)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int n = NX * NY, c = y * NX + x;
    int xl = x == 0 ? NX - 1 : x - 1, xr = x == NX - 1 ? 0 : x + 1;
    float g0 = g[c];
    float g1 = g[n + y * NX + xl];
    float g2 = g[2 * n + y * NX + xr];
    float g3, g4;
    /* walls below and above hold their temperature: what would come from outside is the reflected, turned about the wall's value */
    if (y == 0) g3 = -g[4 * n + c] + 2.0f / 6.0f * hot;
    else g3 = g[3 * n + c - NX];
    if (y == NY - 1) g4 = -g[3 * n + c] + 2.0f / 6.0f * cold;
    else g4 = g[4 * n + c + NX];
    float T = g0 + g1 + g2 + g3 + g4;
    float u = ux[c], v = uy[c];
    gnew[c] = g0 - omega * (g0 - T / 3.0f);
    gnew[n + c] = g1 - omega * (g1 - T / 6.0f * (1.0f + 3.0f * u));
    gnew[2 * n + c] = g2 - omega * (g2 - T / 6.0f * (1.0f - 3.0f * u));
    gnew[3 * n + c] = g3 - omega * (g3 - T / 6.0f * (1.0f + 3.0f * v));
    gnew[4 * n + c] = g4 - omega * (g4 - T / 6.0f * (1.0f - 3.0f * v));
    temperature[c] = T;
}
#undef NX
#undef NY

namespace gas {
constexpr int cells = 128;
constexpr double adiabatic = 1.4;
struct State { double r, m, e; };
__device__ double minmod(double a, double b)
{
    if (a * b <= 0) return 0;
    return fabs(a) < fabs(b) ? a : b;
}
__device__ State operator+(State a, State b) { return {a.r + b.r, a.m + b.m, a.e + b.e}; }
__device__ State operator*(double s, State a) { return {s * a.r, s * a.m, s * a.e}; }
__device__ State slope(const State &l, const State &c, const State &r)
{
    return {minmod(c.r - l.r, r.r - c.r), minmod(c.m - l.m, r.m - c.m), minmod(c.e - l.e, r.e - c.e)};
}
__device__ State flux(const State &q, double &u, double &a)
{
    double rho = fmax(q.r, 1e-6);
    u = q.m / rho;
    double p = fmax((adiabatic - 1) * (q.e - 0.5 * q.m * u), 1e-6);
    a = sqrt(adiabatic * p / rho);
    return {q.m, q.m * u + p, (q.e + p) * u};
}
}

//! gas_in_tubes_by_central_upwind_fluxes 66 129 | f64:8448:0.5:1.5 | f64:8448:-0.3:0.3 | f64:8448:0.5:1.5 | out f64:25344 | s f64 0.12 | s s32 12
K gas_in_tubes_by_central_upwind_fluxes(const double *rho, const double *vel, const double *pre, double *out, double lambda, int steps)
{
    using namespace gas;
    __shared__ State q[cells + 4];
    __shared__ State f[cells + 1];
    const int t = threadIdx.x;
    if (t < cells) {
        int i = blockIdx.x * cells + t;
        double r = rho[i], u = vel[i];
        q[t + 2] = {r, r * u, pre[i] / (adiabatic - 1) + 0.5 * r * u * u};
    }
    __syncthreads();
    while (steps-- > 0) {
        if (t < 2) q[t] = q[2];
        else if (t < 4) q[cells + t] = q[cells + 1];
        __syncthreads();
        State a = q[t], b = q[t + 1], c = q[t + 2], d = q[t + 3];
        State left = b + 0.5 * slope(a, b, c), right = c + (-0.5) * slope(b, c, d);
        double ul, al, ur, ar;
        State fl = flux(left, ul, al), fr = flux(right, ur, ar);
        double plus = fmax(fmax(ul + al, ur + ar), 0.0), minus = fmin(fmin(ul - al, ur - ar), 0.0);
        double w = 1.0 / (plus - minus);
        f[t] = (plus * w) * fl + (-minus * w) * fr + (plus * minus * w) * (right + (-1.0) * left);
        __syncthreads();
        if (t < cells) q[t + 2] = q[t + 2] + lambda * (f[t] + (-1.0) * f[t + 1]);
        __syncthreads();
    }
    if (t < cells) {
        double *o = out + (blockIdx.x * cells + t) * 3;
        o[0] = q[t + 2].r;
        o[1] = q[t + 2].m;
        o[2] = q[t + 2].e;
    }
}

// ---------------------------------------------------------------- solvers

//! zebra_stripes_relaxed_along_columns 4,33 64 | inout f32:811008:-1:1 | f32:811008:-1:1 | s s32 512 | s s32 48 | s s32 1 | s f32 0.02
K zebra_stripes_relaxed_along_columns(float *u, const float *rhs, int nx, int ny, int parity, float eps)
{
    // eps * u_xx + u_yy = rhs with unit spacing; all columns of one colour are solved exactly
    __shared__ float cp[64];
    const float diag = -2.0f - 2.0f * eps;
    if (threadIdx.x == 0) {
        cp[0] = 1.0f / diag;
        for (int j = 1; j < ny; j++) cp[j] = 1.0f / (diag - cp[j - 1]);
    }
    __syncthreads();
    int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + parity;
    if (x >= nx) return;
    size_t plane = (size_t)blockIdx.y * nx * ny;
    float *col = u + plane + x;
    const float *b = rhs + plane + x;
    float prev = 0.0f;
    for (int j = 0; j < ny; j++) {
        float west = x > 0 ? col[j * nx - 1] : 0.0f;
        float east = x + 1 < nx ? col[j * nx + 1] : 0.0f;
        float d = b[j * nx] - eps * (west + east);
        prev = (d - prev) * cp[j];
        col[j * nx] = prev;
    }
    for (int j = ny - 2; j >= 0; --j) {
        prev = col[j * nx] - cp[j] * prev;
        col[j * nx] = prev;
    }
}

template <typename T, int THREADS>
struct BlockAdder {
    T *slots;
    __device__ explicit BlockAdder(T *s) : slots(s) {}
    __device__ T operator()(T v) const
    {
        #pragma unroll
        for (int d = 16; d; d >>= 1) v += __shfl_xor_sync(~0u, v, d);
        if ((threadIdx.x & 31) == 0) slots[threadIdx.x >> 5] = v;
        __syncthreads();
        T total = 0;
        #pragma unroll
        for (int w = 0; w < THREADS / 32; w++) total += slots[w];
        __syncthreads();
        return total;
    }
};

//! solution_and_residual_advanced_with_diagonal_scaling 200 384 | inout f64:150000:-1:1 | inout f64:150000:-1:1 | f64:150000:-1:1 | f64:150000:-1:1 | f64:150000:0.2:0.6 | out f64:400 | f64:2:0.5:2 | s s32 150000
K solution_and_residual_advanced_with_diagonal_scaling(double *__restrict__ x, double *__restrict__ r, const double *__restrict__ p, const double *__restrict__ q,
    const double *__restrict__ inv_diag, double *__restrict__ partial, const double *__restrict__ rho_and_pq, int n)
{
    __shared__ double slots[12];
    const double a = rho_and_pq[0] / rho_and_pq[1];
    double rz = 0.0, rr = 0.0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        x[i] = fma(a, p[i], x[i]);
        const double ri = fma(-a, q[i], r[i]);
        r[i] = ri;
        rr += ri * ri;
        rz += ri * (ri * inv_diag[i]);
    }
    BlockAdder<double, 384> add(slots);
    rz = add(rz);
    rr = add(rr);
    if (!threadIdx.x) {
        partial[2 * blockIdx.x] = rz;
        partial[2 * blockIdx.x + 1] = rr;
    }
}

//! eigenvalues_of_eights_by_a_tournament_of_turns 72 64 | f32:36864:-2:2 | out f32:4608 | s f32 0.0000001 | s s32 7
K eigenvalues_of_eights_by_a_tournament_of_turns(const float *matrices, float *values, float tolerance, int sweeps)
{
    __shared__ float A[8][8][9];
    __shared__ float2 cs[8][4];
    const int m = threadIdx.x >> 3, l = threadIdx.x & 7;
    float (*a)[9] = A[m];
    const float *src = matrices + (blockIdx.x * 8 + m) * 64;
    for (int k = 0; k < 8; k++) a[l][k] = 0.5f * (src[l * 8 + k] + src[k * 8 + l]);
    __syncwarp();
    for (int sweep = 0; sweep < sweeps; sweep++) {
        float off = 0;
        for (int k = 0; k < 8; k++)
            if (k != l) off += a[l][k] * a[l][k];
        if (__all_sync(0xffffffffu, off < tolerance)) break;
        for (int round = 0; round < 7; round++) {
            // player 7 stays, the others go round the table
            auto seat = [round](int k, int &p, int &q) {
                int s = k == 0 ? 7 : (round + k) % 7, t = (round + 7 - k) % 7;
                p = min(s, t);
                q = max(s, t);
            };
            if (l < 4) {
                int p, q;
                seat(l, p, q);
                float apq = a[p][q], c = 1, s = 0;
                if (apq != 0.0f) {
                    float theta = (a[q][q] - a[p][p]) / (2.0f * apq);
                    float t = copysignf(1.0f, theta) / (fabsf(theta) + sqrtf(theta * theta + 1.0f));
                    c = rsqrtf(t * t + 1.0f);
                    s = t * c;
                }
                cs[m][l] = make_float2(c, s);
            }
            __syncwarp();
            for (int k = 0; k < 4; k++) {
                int p, q;
                seat(k, p, q);
                float2 w = cs[m][k];
                float ap = a[l][p], aq = a[l][q];
                a[l][p] = w.x * ap - w.y * aq;
                a[l][q] = w.y * ap + w.x * aq;
            }
            __syncwarp();
            for (int k = 0; k < 4; k++) {
                int p, q;
                seat(k, p, q);
                float2 w = cs[m][k];
                float ap = a[p][l], aq = a[q][l];
                a[p][l] = w.x * ap - w.y * aq;
                a[q][l] = w.y * ap + w.x * aq;
            }
            __syncwarp();
        }
    }
    float mine = a[l][l];
    int rank = 0;
    for (int k = 0; k < 8; k++) rank += a[k][k] > mine || (a[k][k] == mine && k < l);
    values[(blockIdx.x * 8 + m) * 8 + rank] = mine;
}

template <int N>
__device__ __noinline__ int factor_with_complete_pivots(double *a, int *rows, int *cols)
{
    int swaps = 0;
    for (int k = 0; k < N; k++) {
        int pr = k, pc = k;
        double best = -1.0;
        for (int i = k; i < N; i++)
            for (int j = k; j < N; j++) {
                double v = fabs(a[i * N + j]);
                if (v > best) { best = v; pr = i; pc = j; }
            }
        rows[k] = pr;
        cols[k] = pc;
        if (pr != k) {
            swaps++;
            for (int j = 0; j < N; j++) { double t = a[k * N + j]; a[k * N + j] = a[pr * N + j]; a[pr * N + j] = t; }
        }
        if (pc != k) {
            swaps++;
            for (int i = 0; i < N; i++) { double t = a[i * N + k]; a[i * N + k] = a[i * N + pc]; a[i * N + pc] = t; }
        }
        double inv = 1.0 / a[k * N + k];
        for (int i = k + 1; i < N; i++) {
            double f = a[i * N + k] *= inv;
            for (int j = k + 1; j < N; j++) a[i * N + j] -= f * a[k * N + j];
        }
    }
    return swaps;
}

//! systems_of_five_with_the_largest_of_all_as_pivot 32 96 | f64:76800:-1:1 | f64:15360:-1:1 | out f64:15360 | out f64:3072
K systems_of_five_with_the_largest_of_all_as_pivot(const double *A, const double *B, double *X, double *det)
{
    constexpr int N = 5;
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    double a[N * N], b[N];
    int rows[N], cols[N];
    for (int i = 0; i < N * N; i++) a[i] = A[id * N * N + i];
    for (int i = 0; i < N; i++) b[i] = B[id * N + i];
    int swaps = factor_with_complete_pivots<N>(a, rows, cols);
    double d = swaps & 1 ? -1.0 : 1.0;
    for (int k = 0; k < N; k++) {
        d *= a[k * N + k];
        int p = rows[k];
        double t = b[p];
        b[p] = b[k];
        b[k] = t;
    }
    for (int i = 1; i < N; i++)
        for (int j = 0; j < i; j++) b[i] -= a[i * N + j] * b[j];
    for (int i = N - 1; i >= 0; i--) {
        for (int j = i + 1; j < N; j++) b[i] -= a[i * N + j] * b[j];
        b[i] /= a[i * N + i];
    }
    for (int k = N - 1; k >= 0; k--) {
        int p = cols[k];
        double t = b[p];
        b[p] = b[k];
        b[k] = t;
    }
    for (int i = 0; i < N; i++) X[id * N + i] = b[i];
    det[id] = d;
}

//! rings_of_three_diagonals_by_sherman_morrison 33 128 | f32:270336:-1:1 | f32:270336:3:4 | f32:270336:-1:1 | f32:270336:-1:1 | out f32:270336 | scratch f32:270336 | scratch f32:270336 | s s32 64
K rings_of_three_diagonals_by_sherman_morrison(const float *__restrict__ lower, const float *__restrict__ diag, const float *__restrict__ upper, const float *__restrict__ rhs,
    float *__restrict__ x, float *__restrict__ cprime, float *__restrict__ z, int n)
{
    const int systems = gridDim.x * blockDim.x, s = blockIdx.x * blockDim.x + threadIdx.x;
    const float alpha = upper[(n - 1) * systems + s];   // corner below
    const float beta = lower[s];                        // corner above
    const float gamma = -diag[s];
    float inv = 1.0f / (diag[s] - gamma);
    float c = upper[s] * inv, d = rhs[s] * inv, w = gamma * inv;
    cprime[s] = c;
    x[s] = d;
    z[s] = w;
    for (int k = 1; k < n; ++k) {
        const int at = k * systems + s;
        const float a = lower[at];
        float b = diag[at], u = 0.0f;
        if (k == n - 1) {
            b -= alpha * beta / gamma;
            u = alpha;
        }
        inv = __fdividef(1.0f, b - a * c);
        c = upper[at] * inv;
        d = (rhs[at] - a * d) * inv;
        w = (u - a * w) * inv;
        cprime[at] = c;
        x[at] = d;
        z[at] = w;
    }
    const float xl = d, zl = w;
    for (int k = n - 2; k >= 0; --k) {
        const int at = k * systems + s;
        const float ck = cprime[at];
        d = x[at] - ck * d;
        w = z[at] - ck * w;
        x[at] = d;
        z[at] = w;
    }
    const float fact = (d + beta * xl / gamma) / (1.0f + w + beta * zl / gamma);
#pragma unroll 4
    for (int k = 0; k < n; ++k) x[k * systems + s] -= fact * z[k * systems + s];
}

// ---------------------------------------------------------------- differential equations

struct TwoByTwo { double xx, xy, yx, yy; };
struct Brusselator {
    double A, B;
    __device__ double2 rate(double2 y) const
    {
        double xxy = y.x * y.x * y.y;
        return make_double2(A + xxy - (B + 1.0) * y.x, B * y.x - xxy);
    }
    __device__ TwoByTwo jacobian(double2 y) const
    {
        double xy2 = 2.0 * y.x * y.y, xx = y.x * y.x;
        return {xy2 - B - 1.0, xx, B - xy2, -xx};
    }
};

//! chemical_clocks_by_rosenbrock_steps_of_two_stages 20 64 | f64:1280:0.5:2 | f64:1280:1:9 | f64:1280:0.5:1.5 | out f64:2560 | out s32:1280 | s f64 2.0 | s f64 0.002 | s s32 110
K chemical_clocks_by_rosenbrock_steps_of_two_stages(const double *x0, const double *b, const double *a, double2 *end, int *taken, double t_end, double tol, int max_steps)
{
    int id = threadIdx.x + blockDim.x * blockIdx.x;
    Brusselator sys{a[id], b[id]};
    double2 y = make_double2(x0[id], sys.B / sys.A);
    const double gamma = 1.0 - 0.70710678118654752440;
    double t = 0, h = 0.01;
    int steps = 0, accepted = 0;
    while (t < t_end && steps < max_steps) {
        if (t + h > t_end) h = t_end - t;
        TwoByTwo J = sys.jacobian(y);
        double m00 = 1 - gamma * h * J.xx, m01 = -gamma * h * J.xy, m10 = -gamma * h * J.yx, m11 = 1 - gamma * h * J.yy;
        double idet = 1.0 / (m00 * m11 - m01 * m10);
        auto solve = [&](double2 r) { return make_double2((m11 * r.x - m01 * r.y) * idet, (m00 * r.y - m10 * r.x) * idet); };
        double2 k1 = solve(sys.rate(y));
        double2 f2 = sys.rate(make_double2(y.x + h * k1.x, y.y + h * k1.y));
        double2 k2 = solve(make_double2(f2.x - 2 * k1.x, f2.y - 2 * k1.y));
        double ex = 0.5 * h * (k1.x + k2.x) / (1e-3 + fabs(y.x)), ey = 0.5 * h * (k1.y + k2.y) / (1e-3 + fabs(y.y));
        double err = sqrt(0.5 * (ex * ex + ey * ey)) / tol;
        if (err <= 1.0) {
            y.x += h * (1.5 * k1.x + 0.5 * k2.x);
            y.y += h * (1.5 * k1.y + 0.5 * k2.y);
            t += h;
            accepted++;
        }
        double scale = 0.9 / sqrt(err + 1e-12);
        h *= scale < 0.2 ? 0.2 : scale > 4.0 ? 4.0 : scale;
        steps++;
    }
    end[id] = y;
    taken[id] = accepted * 1000 + steps;
}

// ---------------------------------------------------------------- finance

class Xoshiro {
    uint32_t s0, s1, s2, s3;
    static __device__ uint32_t rotl(uint32_t v, int k) { return __funnelshift_l(v, v, k); }
public:
    __device__ Xoshiro(uint64_t seed)
    {
        auto split = [&seed]() {
            uint64_t z = (seed += 0x9E3779B97F4A7C15ull);
            z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
            z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
            return z ^ (z >> 31);
        };
        uint64_t p = split(), q = split();
        s0 = (uint32_t)p; s1 = p >> 32; s2 = (uint32_t)q; s3 = q >> 32;
    }
    __device__ uint32_t next()
    {
        const uint32_t result = rotl(s0 + s3, 7) + s0, t = s1 << 9;
        s2 ^= s0; s3 ^= s1; s1 ^= s2; s0 ^= s3;
        s2 ^= t;
        s3 = rotl(s3, 11);
        return result;
    }
    __device__ float uniform() { return ((next() >> 8) + 0.5f) * 5.9604645e-8f; }
    __device__ float2 normals()
    {
        float r = sqrtf(-2.0f * logf(uniform())), sn, cs;
        sincospif(2.0f * uniform(), &sn, &cs);
        return make_float2(r * cs, r * sn);
    }
};

//! calls_under_merton_with_sudden_jumps 132 128 | f32:132:80:120 | out f32:264 | s u64 20240611 | s s32 16 | s f32 0.2 | s f32 0.75
K calls_under_merton_with_sudden_jumps(const float *strikes, float *sums, uint64_t seed, int steps, float sigma, float intensity)
{
    __shared__ float pay[128], sq[128];
    const float strike = strikes[blockIdx.x], dt = 1.0f / steps, muj = -0.1f, sj = 0.15f, rate = 0.03f;
    const float kappa = expf(muj + 0.5f * sj * sj) - 1.0f;
    const float drift = (rate - intensity * kappa - 0.5f * sigma * sigma) * dt, vol = sigma * sqrtf(dt);
    Xoshiro rng(seed + (uint64_t)blockIdx.x * blockDim.x + threadIdx.x);
    float up = logf(100.0f), down = up;
    for (int k = 0; k < steps; k++) {
        float2 z = rng.normals();
        float jump = 0.0f;
        float u = rng.uniform(), p = expf(-intensity * dt), cum = p;
        int count = 0;
        while (u > cum && count < 6) {
            count++;
            p *= intensity * dt / count;
            cum += p;
        }
        if (count) jump = count * muj + sqrtf((float)count) * sj * z.y;
        up += drift + vol * z.x + jump;
        down += drift - vol * z.x + jump;
    }
    float v = 0.5f * expf(-rate) * (fmaxf(expf(up) - strike, 0.0f) + fmaxf(expf(down) - strike, 0.0f));
    pay[threadIdx.x] = v;
    sq[threadIdx.x] = v * v;
    for (int half = 64; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            pay[threadIdx.x] += pay[threadIdx.x + half];
            sq[threadIdx.x] += sq[threadIdx.x + half];
        }
    }
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = pay[0] / 128;
        sums[gridDim.x + blockIdx.x] = sq[0] / 128;
    }
}

//! exchange_of_two_assets_on_a_pyramid 48 16,16 | f32:48:80:120 | f32:48:80:120 | f32:48:0.1:0.5 | f32:48:0.1:0.5 | f32:48:-0.6:0.8 | out f32:48
K exchange_of_two_assets_on_a_pyramid(const float *spot1, const float *spot2, const float *vol1, const float *vol2, const float *corr, float *value)
{
    const int n = 31;
    __shared__ float v[32][33];
    __shared__ float p1[2 * n + 1], p2[2 * n + 1];
    const int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx, o = blockIdx.x;
    const float dt = 1.0f / n, s1 = vol1[o] * sqrtf(dt), s2 = vol2[o] * sqrtf(dt), rho = corr[o];
    if (t < 2 * n + 1) p1[t] = spot1[o] * expf((t - n) * s1);
    else if (t >= 128 && t < 128 + 2 * n + 1) p2[t - 128] = spot2[o] * expf((t - 128 - n) * s2);
    __syncthreads();
    for (int i = ty; i <= n; i += 16)
        for (int j = tx; j <= n; j += 16) v[i][j] = fmaxf(p1[2 * i] - p2[2 * j], 0.0f);
    const float m1 = (0.03f * dt - 0.5f * s1 * s1) / s1, m2 = (0.03f * dt - 0.5f * s2 * s2) / s2;
    const float puu = 0.25f * (1 + rho + m1 + m2), pud = 0.25f * (1 - rho + m1 - m2), pdu = 0.25f * (1 - rho - m1 + m2), pdd = 0.25f * (1 + rho - m1 - m2);
    const float disc = expf(-0.03f * dt);
    for (int step = n - 1; step >= 0; step--) {
        float next[2][2];
        __syncthreads();
#pragma unroll
        for (int a = 0; a < 2; a++)
#pragma unroll
            for (int b = 0; b < 2; b++) {
                int i = ty + 16 * a, j = tx + 16 * b;
                if (i <= step && j <= step) {
                    float hold = disc * (puu * v[i + 1][j + 1] + pud * v[i + 1][j] + pdu * v[i][j + 1] + pdd * v[i][j]);
                    next[a][b] = fmaxf(hold, p1[2 * i - step + n] - p2[2 * j - step + n]);
                }
            }
        __syncthreads();
#pragma unroll
        for (int a = 0; a < 2; a++)
#pragma unroll
            for (int b = 0; b < 2; b++)
                if (ty + 16 * a <= step && tx + 16 * b <= step) v[ty + 16 * a][tx + 16 * b] = next[a][b];
    }
    if (t == 0) value[o] = v[0][0];
}

__device__ float normal_call(float f, float k, float sd, float *vega)
{
    float d = (f - k) / sd;
    float dens = 0.39894228f * expf(-0.5f * d * d);
    *vega = dens;
    return (f - k) * normcdff(d) + sd * dens;
}

//! volatilities_of_bachelier_by_guarded_newton 120 160 | f32:19200:0.01:0.05 | f32:19200:0.01:0.05 | f32:19200:0.25:5 | f32:19200:0.0005:0.02 | out f32:19200 | out u8:19200
K volatilities_of_bachelier_by_guarded_newton(const float *forward, const float *strike, const float *expiry, const float *time_value, float *vol, unsigned char *rounds)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float f = forward[i], k = strike[i], root = sqrtf(expiry[i]);
    const float target = fmaxf(f - k, 0.0f) + time_value[i];
    float lo = 0.0f, hi = 0.5f, sd = 2.5066283f * time_value[i];
    int it = 0;
    for (; it < 25; ++it) {
        float vega;
        const float diff = normal_call(f, k, sd, &vega) - target;
        if (fabsf(diff) < 1e-7f) break;
        if (diff > 0) hi = sd;
        else lo = sd;
        float next = vega > 1e-6f ? sd - diff / vega : -1.0f;
        if (!(next > lo && next < hi)) next = 0.5f * (lo + hi);
        sd = next;
    }
    vol[i] = sd / root;
    rounds[i] = it;
}

// ---------------------------------------------------------------- functions and curves

//! seven_higher_functions_one_for_each_block 56 64 | f64:3584:0.05:6 | out f64:3584
K seven_higher_functions_one_for_each_block(const double *x, double *y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    double v = x[i], r;
    switch (blockIdx.x % 7) {
    case 0: r = tgamma(v); break;
    case 1: r = lgamma(v) + log1p(v); break;
    case 2: r = j0(v) * y1(v); break;
    case 3: r = cbrt(v) + rcbrt(v); break;
    case 4: r = erfcinv(v / 3.1); break;
    case 5: r = atan2(v - 3, v - 2) + hypot(v, 1.5); break;
    default: r = cyl_bessel_i0(v) * expm1(-v) + asinh(v); break;
    }
    y[i] = r;
}

struct Quat { float x, y, z, w; };
__device__ Quat unit(float4 q)
{
    float s = rsqrtf(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w + 1e-12f);
    return Quat{q.x * s, q.y * s, q.z * s, q.w * s};
}
__device__ Quat slerp(Quat a, Quat b, float t)
{
    float cosom = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    if (cosom < 0) {
        cosom = -cosom;
        b = Quat{-b.x, -b.y, -b.z, -b.w};
    }
    float ka = 1 - t, kb = t;
    if (cosom < 0.9995f) {
        float omega = acosf(cosom), so = 1 / sinf(omega);
        ka = sinf(ka * omega) * so;
        kb = sinf(kb * omega) * so;
    }
    return Quat{ka * a.x + kb * b.x, ka * a.y + kb * b.y, ka * a.z + kb * b.z, ka * a.w + kb * b.w};
}
__device__ float3 turn(const Quat &q, float3 v)
{
    float3 t = make_float3(2 * (q.y * v.z - q.z * v.y), 2 * (q.z * v.x - q.x * v.z), 2 * (q.x * v.y - q.y * v.x));
    return make_float3(v.x + q.w * t.x + q.y * t.z - q.z * t.y, v.y + q.w * t.y + q.z * t.x - q.x * t.z, v.z + q.w * t.z + q.x * t.y - q.y * t.x);
}

//! limbs_turned_between_two_poses 264 64 | f32:2112:-1:1 | f32:2112:-1:1 | f32:16384:-3:3 | out f32:67584 | s s32 1024
K limbs_turned_between_two_poses(const float4 *from, const float4 *to, const float4 *points, float4 *out, int npoints)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int joint = i >> 5;
    float t = (i & 31) / 31.0f;
    Quat q = slerp(unit(from[joint]), unit(to[joint]), t);
    float3 sum = make_float3(0, 0, 0);
    float farthest = 0;
    for (int k = joint & 7; k < npoints; k += 64) {
        float4 p = points[k];
        float3 r = turn(q, make_float3(p.x, p.y, p.z));
        sum.x += p.w * r.x;
        sum.y += p.w * r.y;
        sum.z += p.w * r.z;
        farthest = fmaxf(farthest, r.z);
    }
    out[i] = make_float4(sum.x, sum.y, sum.z, farthest);
}

//! akima_curves_through_scanned_knots 96 128 1536 | f32:12288:0.1:1 | f32:12288:-1:1 | f32:49152:0:1 | out f32:49152 | s s32 512
K akima_curves_through_scanned_knots(const float *gaps, const float *heights, const float *where, float *curve, int queries)
{
    extern __shared__ float mem[];
    float *x = mem, *y = mem + 128, *d = mem + 256;
    const int t = threadIdx.x, b = blockIdx.x;
    x[t] = gaps[b * 128 + t];
    y[t] = heights[b * 128 + t];
    __syncthreads();
    for (int step = 1; step < 128; step <<= 1) {
        float add = t >= step ? x[t - step] : 0.0f;
        __syncthreads();
        x[t] += add;
        __syncthreads();
    }
    {
        auto secant = [&](int k) {
            k = max(0, min(126, k));
            return (y[k + 1] - y[k]) / (x[k + 1] - x[k]);
        };
        float m1 = secant(t - 2), m2 = secant(t - 1), m3 = secant(t), m4 = secant(t + 1);
        float w1 = fabsf(m4 - m3), w2 = fabsf(m2 - m1);
        d[t] = w1 + w2 > 1e-6f ? (w1 * m2 + w2 * m3) / (w1 + w2) : 0.5f * (m2 + m3);
    }
    __syncthreads();
    const float first = x[0], span = x[127] - first;
    for (int q = t; q < queries; q += blockDim.x) {
        float at = first + span * where[b * queries + q];
        int lo = 0, hi = 127;
        while (hi - lo > 1) {
            int mid = (lo + hi) >> 1;
            if (x[mid] <= at) lo = mid;
            else hi = mid;
        }
        float h = x[hi] - x[lo], s = (at - x[lo]) / h;
        float dy = y[hi] - y[lo], a = h * d[lo] - dy, c = dy - h * d[hi];
        curve[b * queries + q] = (1 - s) * y[lo] + s * y[hi] + s * (1 - s) * (a * (1 - s) + c * s);
    }
}

// ---------------------------------------------------------------- automata

__device__ __forceinline__ unsigned equal_nibbles(unsigned a, unsigned b)
{
    unsigned d = a ^ b;
    d |= d >> 1;
    d |= d >> 2;
    return (~d & 0x11111111u) * 15u;
}

//! colours_in_nibbles_eaten_by_their_successors 33 32,32 | u32:33792 | out u32:33792 | s s32 10
K colours_in_nibbles_eaten_by_their_successors(const unsigned *in, unsigned *out, int generations)
{
    __shared__ unsigned field[2][32][32];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const unsigned at = (blockIdx.x << 10) | (y << 5) | x;
    unsigned w = in[at];
    w &= ~((w >> 3 & w >> 2 & w >> 1 & 0x11111111u) * 15u);     // fourteen colours, 0 to 13
    int now = 0;
    do {
        field[now][y][x] = w;
        __syncthreads();
        unsigned next = w + 0x11111111u;
        next &= ~equal_nibbles(next, 0xEEEEEEEEu);
        unsigned west = __funnelshift_l(field[now][y][(x + 31) & 31], w, 4);
        unsigned east = __funnelshift_r(w, field[now][y][(x + 1) & 31], 4);
        unsigned eaten = equal_nibbles(next, west) | equal_nibbles(next, east)
                       | equal_nibbles(next, field[now][(y + 31) & 31][x]) | equal_nibbles(next, field[now][(y + 1) & 31][x]);
        w = (w & ~eaten) | (next & eaten);
        now ^= 1;
    } while (--generations);
    out[at] = w;
}

// ---------------------------------------------------------------- fields and codes

namespace babybear {
constexpr uint32_t P = 0x78000001u;
constexpr uint32_t inverse_of(uint32_t p)
{
    uint32_t x = 1;
    for (int i = 0; i < 6; i++) x *= 2 - p * x;
    return x;
}
constexpr uint32_t PINV = inverse_of(P);
struct Constants {
    uint32_t full[8][16], part[13], diag[16];
    constexpr Constants() : full(), part(), diag()
    {
        uint32_t s = 0x2545F491u;
        auto draw = [&s]() constexpr { s = s * 1664525u + 1013904223u; return (s >> 1) % P; };
        for (auto &row : full)
            for (auto &c : row) c = draw();
        for (auto &c : part) c = draw();
        for (auto &c : diag) c = draw();
    }
};
__constant__ Constants table = Constants();

__device__ __forceinline__ uint32_t add(uint32_t a, uint32_t b) { uint32_t s = a + b; return min(s, s - P); }
__device__ __forceinline__ uint32_t mul(uint32_t a, uint32_t b)
{
    uint64_t t = (uint64_t)a * b;
    uint32_t m = (uint32_t)t * PINV;
    uint32_t hi = (uint32_t)(t >> 32), q = __umulhi(m, P);
    uint32_t r = hi - q;
    return hi < q ? r + P : r;
}
__device__ __forceinline__ uint32_t seventh(uint32_t x) { uint32_t x2 = mul(x, x), x3 = mul(x2, x); return mul(mul(x3, x3), x); }
__device__ void mix_four(uint32_t *v)
{
    uint32_t t0 = add(v[0], v[1]), t1 = add(v[2], v[3]), t2 = add(add(v[1], v[1]), t1), t3 = add(add(v[3], v[3]), t0);
    uint32_t q1 = add(t1, t1), q0 = add(t0, t0);
    uint32_t t4 = add(add(q1, q1), t3), t5 = add(add(q0, q0), t2);
    v[0] = add(t3, t5); v[1] = t5; v[2] = add(t2, t4); v[3] = t4;
}
__device__ void external(uint32_t (&s)[16])
{
#pragma unroll
    for (int b = 0; b < 16; b += 4) mix_four(s + b);
#pragma unroll
    for (int k = 0; k < 4; k++) {
        uint32_t c = add(add(s[k], s[k + 4]), add(s[k + 8], s[k + 12]));
#pragma unroll
        for (int b = 0; b < 16; b += 4) s[k + b] = add(s[k + b], c);
    }
}
}

//! sixteen_elements_of_a_small_field_permuted_by_sevenths 88 64 | u32:90112:0:2013265921 | out u32:45056
K sixteen_elements_of_a_small_field_permuted_by_sevenths(const uint4 *__restrict__ in, uint4 *__restrict__ digest)
{
    using namespace babybear;
    const int i = blockIdx.x * 64 + threadIdx.x;
    uint32_t s[16];
#pragma unroll
    for (int k = 0; k < 4; k++) {
        uint4 v = in[i * 4 + k];
        s[4 * k] = v.x; s[4 * k + 1] = v.y; s[4 * k + 2] = v.z; s[4 * k + 3] = v.w;
    }
    external(s);
    for (int half = 0; half < 2; half++) {
#pragma unroll 1
        for (int r = 0; r < 4; r++) {
#pragma unroll
            for (int k = 0; k < 16; k++) s[k] = seventh(add(s[k], table.full[half * 4 + r][k]));
            external(s);
        }
        if (half) break;
#pragma unroll 1
        for (int r = 0; r < 13; r++) {
            s[0] = seventh(add(s[0], table.part[r]));
            uint32_t sum = s[0];
#pragma unroll
            for (int k = 1; k < 16; k++) sum = add(sum, s[k]);
#pragma unroll
            for (int k = 0; k < 16; k++) s[k] = add(mul(s[k], table.diag[k]), sum);
        }
    }
    digest[i * 2] = make_uint4(s[0], s[1], s[2], s[3]);
    digest[i * 2 + 1] = make_uint4(s[4], s[5], s[6], s[7]);
}

__constant__ unsigned roots_primes[8] = {998244353u, 469762049u, 167772161u, 754974721u, 2013265921u, 1811939329u, 2281701377u, 3221225473u};

__device__ unsigned mulmod(unsigned a, unsigned b, unsigned p) { return (unsigned)((unsigned long long)a * b % p); }
__device__ unsigned powmod(unsigned a, unsigned e, unsigned p)
{
    unsigned r = 1;
    while (e) {
        if (e & 1) r = mulmod(r, a, p);
        a = mulmod(a, a, p);
        e >>= 1;
    }
    return r;
}
__device__ unsigned addmod(unsigned a, unsigned b, unsigned p) { return (unsigned)(((unsigned long long)a + b) % p); }

//! square_roots_modulo_primes_by_cipolla 20 64 | u32:1280 | out u32:1280
K square_roots_modulo_primes_by_cipolla(const unsigned *in, unsigned *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned p = roots_primes[blockIdx.x & 7];
    unsigned n = in[i] % p;
    if (n == 0) { out[i] = 0; return; }
    if (powmod(n, (p - 1) / 2, p) != 1) { out[i] = 0xffffffffu; return; }
    unsigned a = 1, w;
    for (;; a++) {
        w = addmod(mulmod(a, a, p), p - n, p);
        if (w == 0) { out[i] = a; return; }
        if (powmod(w, (p - 1) / 2, p) == p - 1) break;
    }
    // (a + sqrt(w)) ^ ((p + 1) / 2)
    unsigned rx = 1, ry = 0, bx = a, by = 1;
    for (unsigned e = p / 2 + 1; e; e >>= 1) {
        if (e & 1) {
            unsigned nx = addmod(mulmod(rx, bx, p), mulmod(mulmod(ry, by, p), w, p), p);
            ry = addmod(mulmod(rx, by, p), mulmod(ry, bx, p), p);
            rx = nx;
        }
        unsigned nx = addmod(mulmod(bx, bx, p), mulmod(mulmod(by, by, p), w, p), p);
        by = mulmod(addmod(bx, bx, p), by, p);
        bx = nx;
    }
    out[i] = rx < p - rx ? rx : p - rx;
}

template <int R>
__device__ __forceinline__ void mix(uint64_t &a, uint64_t &b)
{
    a += b;
    b = (b << R | b >> (64 - R)) ^ a;
}
__device__ __forceinline__ void add_subkey(uint64_t (&x)[8], const uint64_t (&k)[9], const uint64_t (&tw)[3], int s)
{
    #pragma unroll
    for (int i = 0; i < 8; ++i) x[i] += k[(s + i) % 9];
    x[5] += tw[s % 3];
    x[6] += tw[(s + 1) % 3];
    x[7] += s;
}

//! eight_long_words_through_threefish 48 96 | u64:36864 | u64:8 | out u64:36864 | s u64 77
K eight_long_words_through_threefish(const uint64_t *__restrict__ plain, const uint64_t *__restrict__ key, uint64_t *__restrict__ cipher, uint64_t tweak)
{
    const int block = blockIdx.x * blockDim.x + threadIdx.x, count = gridDim.x * blockDim.x;
    uint64_t k[9], tw[3] = {tweak, (uint64_t)block, tweak ^ block}, x[8];
    k[8] = 0x1BD11BDAA9FC1A22ull;
    #pragma unroll
    for (int i = 0; i < 8; ++i) {
        k[i] = __ldg((const unsigned long long *)key + i);
        k[8] ^= k[i];
        x[i] = plain[i * count + block];
    }
    const uint64_t feed[2] = {x[0], x[7]};
    #pragma unroll
    for (int s = 0; s < 18; s += 2) {
        add_subkey(x, k, tw, s);
        mix<46>(x[0], x[1]); mix<36>(x[2], x[3]); mix<19>(x[4], x[5]); mix<37>(x[6], x[7]);
        mix<33>(x[2], x[1]); mix<27>(x[4], x[7]); mix<14>(x[6], x[5]); mix<42>(x[0], x[3]);
        mix<17>(x[4], x[1]); mix<49>(x[6], x[3]); mix<36>(x[0], x[5]); mix<39>(x[2], x[7]);
        mix<44>(x[6], x[1]); mix<9>(x[0], x[7]); mix<54>(x[2], x[5]); mix<56>(x[4], x[3]);
        add_subkey(x, k, tw, s + 1);
        mix<39>(x[0], x[1]); mix<30>(x[2], x[3]); mix<34>(x[4], x[5]); mix<24>(x[6], x[7]);
        mix<13>(x[2], x[1]); mix<50>(x[4], x[7]); mix<10>(x[6], x[5]); mix<17>(x[0], x[3]);
        mix<25>(x[4], x[1]); mix<29>(x[6], x[3]); mix<39>(x[0], x[5]); mix<43>(x[2], x[7]);
        mix<8>(x[6], x[1]); mix<35>(x[0], x[7]); mix<56>(x[2], x[5]); mix<22>(x[4], x[3]);
    }
    add_subkey(x, k, tw, 18);
    x[0] ^= feed[0];
    x[7] ^= feed[1];
    #pragma unroll
    for (int i = 0; i < 8; ++i) cipher[i * count + block] = x[i];
}

static const unsigned kCastagnoli = 0x82F63B78u;
__device__ unsigned times_modulo(unsigned a, unsigned b)
{
    unsigned product = 0;
    for (unsigned m = 1u << 31; m; m >>= 1) {
        if (a & m) product ^= b;
        b = b & 1 ? b >> 1 ^ kCastagnoli : b >> 1;
    }
    return product;
}

//! checks_of_pages_joined_by_powers_of_x 44 256 | u32:90112 | out u32:44
K checks_of_pages_joined_by_powers_of_x(const uint4 *pages, unsigned *checks)
{
    __shared__ unsigned table[256], part[256];
    unsigned t = threadIdx.x, c = t;
    for (int bit = 0; bit < 8; bit++) c = c & 1 ? c >> 1 ^ kCastagnoli : c >> 1;
    table[t] = c;
    __syncthreads();
    const uint4 *mine = pages + (blockIdx.x * 256 + t) * 2;
    unsigned crc = t == 0 ? 0xffffffffu : 0;
    for (int half = 0; half < 2; half++) {
        uint4 v = mine[half];
        unsigned words[4] = {v.x, v.y, v.z, v.w};
        #pragma unroll
        for (int w = 0; w < 4; w++) {
            crc ^= words[w];
            #pragma unroll
            for (int byte = 0; byte < 4; byte++) crc = crc >> 8 ^ table[crc & 255];
        }
    }
    part[t] = crc;
    unsigned power = 1u << 30;                                  // x
    for (int i = 0; i < 8; i++) power = times_modulo(power, power);   // x^256: thirty-two bytes on
    for (unsigned stride = 1; stride < 256; stride *= 2) {
        __syncthreads();
        if (t % (2 * stride) == 0) part[t] = times_modulo(part[t], power) ^ part[t + stride];
        power = times_modulo(power, power);
    }
    if (t == 0) checks[blockIdx.x] = ~part[0];
}

// ---------------------------------------------------------------- sequences, components, integrals

//! two_alignments_in_the_halves_of_a_word 32 64 | u8:98304:0:4 | u8:262144:0:4 | out u32:2048 | s s32 64 | s u32 131074 | s u32 4294967295 | s u32 196611
K two_alignments_in_the_halves_of_a_word(const uchar2 *query, const uchar2 *target, unsigned *best, int length, unsigned match, unsigned mismatch, unsigned gap)
{
    constexpr int Q = 24;
    const int i = blockIdx.x * blockDim.x + threadIdx.x, pairs = gridDim.x * blockDim.x;
    unsigned q[Q], H[Q], top = 0;
#pragma unroll
    for (int k = 0; k < Q; k++) {
        uchar2 c = query[k * pairs + i];
        q[k] = c.x | c.y << 16;
        H[k] = 0;
    }
    for (int r = 0; r < length; r++) {
        const uchar2 c = target[r * pairs + i];
        const unsigned letter = c.x | c.y << 16;
        unsigned diagonal = 0, left = 0;
#pragma unroll
        for (int k = 0; k < Q; k++) {
            const unsigned same = __vcmpeq2(q[k], letter);
            const unsigned score = (match & same) | (mismatch & ~same);
            unsigned h = __vmaxs2(__vadd2(diagonal, score), 0);
            h = __vmaxs2(h, __vmaxs2(__vsub2(H[k], gap), __vsub2(left, gap)));
            diagonal = H[k];
            H[k] = left = h;
            top = __vmaxs2(top, h);
        }
    }
    best[i] = top;
}

//! leading_axes_found_by_powers_and_deflated 50 192 | f32:115200:-1:1 | out f32:3600 | out f32:150 | s s32 18
K leading_axes_found_by_powers_and_deflated(const float *samples, float *axes, float *weights, int iterations)
{
    constexpr int D = 24, M = 96;
    __shared__ float data[M * D];
    __shared__ float cov[D][D + 1], v[D], w[D], mean[D];
    const int tid = threadIdx.x, row = tid / 8, lane = tid % 8;
    for (int i = tid; i < M * D / 4; i += 192) reinterpret_cast<float4 *>(data)[i] = reinterpret_cast<const float4 *>(samples + blockIdx.x * M * D)[i];
    __syncthreads();
    auto sum8 = [](float s) {
        s += __shfl_xor_sync(0xffffffff, s, 4);
        s += __shfl_xor_sync(0xffffffff, s, 2);
        return s + __shfl_xor_sync(0xffffffff, s, 1);
    };
    float part = 0;
    for (int m = lane; m < M; m += 8) part += data[m * D + row];
    part = sum8(part);
    if (lane == 0) mean[row] = part / M;
    __syncthreads();
    for (int e = tid; e < D * D; e += 192) {
        const int a = e / D, b = e % D;
        float s = 0;
        for (int m = 0; m < M; m++) s += (data[m * D + a] - mean[a]) * (data[m * D + b] - mean[b]);
        cov[a][b] = s / (M - 1);
    }
    for (int axis = 0; axis < 3; axis++) {
        if (tid < D) v[tid] = 1.0f + 0.1f * ((tid * 7 + axis) % 5);
        __syncthreads();
        float length = 0;
        for (int it = 0; it < iterations; it++) {
            float s = 0;
            for (int c = lane; c < D; c += 8) s += cov[row][c] * v[c];
            s = sum8(s);
            if (lane == 0) w[row] = s;
            __syncthreads();
            float n2 = 0;
            for (int c = 0; c < D; c++) n2 += w[c] * w[c];
            length = sqrtf(n2);
            if (tid < D) v[tid] = w[tid] / length;
            __syncthreads();
        }
        for (int e = tid; e < D * D; e += 192) cov[e / D][e % D] -= length * v[e / D] * v[e % D];
        if (tid < D) axes[(blockIdx.x * 3 + axis) * D + tid] = v[tid];
        if (tid == 0) weights[blockIdx.x * 3 + axis] = length;
        __syncthreads();
    }
}

__constant__ double gk_node[8] = {0.991455371120812639206854697526329, 0.949107912342758524526189684047851, 0.864864423359769072789712788640926,
    0.741531185599394439863864773280788, 0.586087235467691130294144691309350, 0.405845151377397166906606412076961, 0.207784955007898467600689403773245, 0.0};
__constant__ double gk_kronrod[8] = {0.022935322010529224963732008058970, 0.063092092629978553290700663189204, 0.104790010322250183839876322541518,
    0.140653259715525918745189590510238, 0.169004726639267902826583426598550, 0.190350578064785409913256402421014, 0.204432940075298892414161999234649,
    0.209482141084727828012999174891714};
__constant__ double gk_gauss[4] = {0.129484966168869693270611432679082, 0.279705391489276667901467771423780, 0.381830050505118944950369775488975, 0.417959183673469387755102040816327};

template <class F>
__device__ double2 gauss_kronrod(F &&f, double a, double b)
{
    const double c = 0.5 * (a + b), h = 0.5 * (b - a), fc = f(c);
    double kron = gk_kronrod[7] * fc, gauss = gk_gauss[3] * fc;
#pragma unroll 1
    for (int i = 0; i < 7; i++) {
        const double two = f(c - h * gk_node[i]) + f(c + h * gk_node[i]);
        kron += gk_kronrod[i] * two;
        if (i % 2 == 1) gauss += gk_gauss[i / 2] * two;
    }
    return make_double2(kron * h, fabs((kron - gauss) * h));
}

//! panels_of_gauss_and_kronrod_added_by_warps 40 128 | f64:5120:0.1:2 | f64:5120:0.5:9 | out f64:10240 | out f64:160 | s f64 6.0
K panels_of_gauss_and_kronrod_added_by_warps(const double *decay, const double *frequency, double2 *panel, double *totals, double range)
{
    const int g = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % warpSize;
    // each warp holds one integral: lane l owns the l-th of thirty-two panels, the lane 0's parameters go to all
    const double a = __shfl_sync(0xffffffff, decay[g], 0), w = __shfl_sync(0xffffffff, frequency[g], 0);
    const double width = range / 32;
    double2 r = gauss_kronrod([=](double x) { return exp(-a * x) * cos(w * x) / (1.0 + x * x); }, lane * width, (lane + 1) * width);
    panel[g] = r;
    double sum = r.x;
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (lane == 0) totals[g / 32] = sum;
}
