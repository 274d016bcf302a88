/* reckoning.cu - numerical and integer work: bodies, transforms, factorisations, multigrid, steps of equations, Monte Carlo, dynamics of particles and fluids, ciphers and hashes, long numbers, fixed point, halves and packed bytes. */
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cstdint>
#define K extern "C" __global__ void

// ------------------------------------------------------------------ gravity

struct Vec3d { double x, y, z; };

//! planets_pull_in_double_with_softening 16 64 | f64:3072:-1:1 | f64:1024:0.1:1 | inout f64:3072:-0.1:0.1 | out f64:3072 | s s32 1024 | s f64 0.0025 | s f64 0.001
K planets_pull_in_double_with_softening(const Vec3d *__restrict__ pos, const double *__restrict__ mass, Vec3d *__restrict__ vel,
                                        Vec3d *__restrict__ moved, int n, double eps2, double dt)
{
    __shared__ Vec3d tilePos[64];
    __shared__ double tileMass[64];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const Vec3d me = pos[i];
    double ax = 0.0, ay = 0.0, az = 0.0;
    for (int base = 0; base < n; base += blockDim.x) {
        tilePos[threadIdx.x] = pos[base + threadIdx.x];
        tileMass[threadIdx.x] = mass[base + threadIdx.x];
        __syncthreads();
#pragma unroll 4
        for (int j = 0; j < 64; ++j) {
            const double dx = tilePos[j].x - me.x;
            const double dy = tilePos[j].y - me.y;
            const double dz = tilePos[j].z - me.z;
            const double r2 = fma(dx, dx, fma(dy, dy, fma(dz, dz, eps2)));
            const double inv = rsqrt(r2);
            const double w = tileMass[j] * inv * inv * inv;
            ax += w * dx;
            ay += w * dy;
            az += w * dz;
        }
        __syncthreads();
    }
    Vec3d v = vel[i];
    v.x += dt * ax;
    v.y += dt * ay;
    v.z += dt * az;
    vel[i] = v;
    moved[i] = Vec3d{me.x + dt * v.x, me.y + dt * v.y, me.z + dt * v.z};
}

// ------------------------------------------------------------------ FFT of 512 points

__device__ __forceinline__ float2 operator+(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
__device__ __forceinline__ float2 operator-(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }
__device__ __forceinline__ float2 operator*(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
__device__ __forceinline__ float2 timesMinusI(float2 a) { return make_float2(a.y, -a.x); }

__device__ __forceinline__ void dft4(float2 &a, float2 &b, float2 &c, float2 &d)
{
    float2 s0 = a + c, s1 = a - c, s2 = b + d, s3 = timesMinusI(b - d);
    a = s0 + s2;
    b = s1 + s3;
    c = s0 - s2;
    d = s1 - s3;
}

__device__ __forceinline__ void dft8(float2 (&v)[8])
{
    const float h = 0.70710678118654752f;
    dft4(v[0], v[2], v[4], v[6]);
    dft4(v[1], v[3], v[5], v[7]);
    v[3] = v[3] * make_float2(h, -h);
    v[5] = timesMinusI(v[5]);
    v[7] = v[7] * make_float2(-h, -h);
    float2 e[4] = {v[0], v[2], v[4], v[6]}, o[4] = {v[1], v[3], v[5], v[7]};
#pragma unroll
    for (int k = 0; k < 4; k++) {
        v[k] = e[k] + o[k];
        v[k + 4] = e[k] - o[k];
    }
}

template <int NS>
__device__ __forceinline__ void passOfEight(float2 (&v)[8], int j)
{
    if (NS > 1) {
        float s, c;
        sincospif(-2.0f * (j % NS) / (NS * 8), &s, &c);
        const float2 w = make_float2(c, s);
        float2 p = w;
#pragma unroll
        for (int r = 1; r < 8; r++) {
            v[r] = v[r] * p;
            p = p * w;
        }
    }
    dft8(v);
}

template <int NS>
__device__ __forceinline__ void throughShared(float2 (&v)[8], float *re, float *im, int j)
{
    const int to = (j / NS) * NS * 8 + j % NS;
#pragma unroll
    for (int r = 0; r < 8; r++) {
        re[to + r * NS] = v[r].x;
        im[to + r * NS] = v[r].y;
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < 8; r++) v[r] = make_float2(re[j + r * 64], im[j + r * 64]);
    __syncthreads();
}

//! spectra_of_512_points_by_passes_of_eight 264 64 | f32:270336:-1:1 | out f32:270336
K __launch_bounds__(64) spectra_of_512_points_by_passes_of_eight(const float2 *__restrict__ in, float2 *__restrict__ out)
{
    __shared__ float re[512], im[512];
    const int j = threadIdx.x;
    const float2 *src = in + blockIdx.x * 512;
    float2 v[8];
#pragma unroll
    for (int r = 0; r < 8; r++) v[r] = src[j + 64 * r];
    passOfEight<1>(v, j);
    throughShared<1>(v, re, im, j);
    passOfEight<8>(v, j);
    throughShared<8>(v, re, im, j);
    passOfEight<64>(v, j);
    float2 *dst = out + blockIdx.x * 512;
#pragma unroll
    for (int r = 0; r < 8; r++) dst[j + 64 * r] = v[r];
}

// ------------------------------------------------------------------ LU with pivots

//! twenty_equations_solved_with_row_exchanges 132 128 | f64:52800:-1:1 | f64:2640:-1:1 | out f64:2640 | out s32:2640
K twenty_equations_solved_with_row_exchanges(const double *A, const double *b, double *x, int *order)
{
    constexpr int N = 20;
    __shared__ double a[N][N + 1];
    __shared__ int perm[N];
    __shared__ int pivot;
    const int t = threadIdx.x, m = blockIdx.x;
    for (int e = t; e < N * N; e += blockDim.x) a[e / N][e % N] = A[m * N * N + e];
    if (t < N) {
        a[t][N] = b[m * N + t];
        perm[t] = t;
    }
    __syncthreads();

    for (int k = 0; k < N; k++) {
        if (t < 32) {
            double best = (t >= k && t < N) ? fabs(a[t][k]) : -1.0;
            int where = t;
            for (int d = 16; d; d >>= 1) {
                double other = __shfl_down_sync(0xffffffffu, best, d);
                int place = __shfl_down_sync(0xffffffffu, where, d);
                if (other > best) {
                    best = other;
                    where = place;
                }
            }
            if (t == 0) pivot = where;
        }
        __syncthreads();
        const int p = pivot;
        if (p != k) {
            if (t <= N) {
                double keep = a[k][t];
                a[k][t] = a[p][t];
                a[p][t] = keep;
            } else if (t == 64) {
                int keep = perm[k];
                perm[k] = perm[p];
                perm[p] = keep;
            }
        }
        __syncthreads();
        if (t > k && t < N) a[t][k] /= a[k][k];
        __syncthreads();
        const int width = N - k;            // columns k+1 .. N, the right side among them
        const int cells = (N - 1 - k) * width;
        for (int e = t; e < cells; e += blockDim.x) {
            int r = k + 1 + e / width, c = k + 1 + e % width;
            a[r][c] -= a[r][k] * a[k][c];
        }
        __syncthreads();
    }
    // back substitution by the first warp
    if (t < 32) {
        double rhs = t < N ? a[t][N] : 0.0;
        for (int k = N - 1; k >= 0; k--) {
            double xk = __shfl_sync(0xffffffffu, rhs, k) / a[k][k];
            if (t == k) rhs = xk;
            if (t < k) rhs -= a[t][k] * xk;
        }
        if (t < N) {
            x[m * N + t] = rhs;
            order[m * N + t] = perm[t];
        }
    }
}

// ------------------------------------------------------------------ eigenvalues by rotations

//! spectra_of_symmetric_eights_by_rotating_pairs 66 64 | f64:8448:-1:1 | out f64:1056 | out f64:132 | s s32 5
K spectra_of_symmetric_eights_by_rotating_pairs(const double *in, double *eigen, double *rest, int sweeps)
{
    __shared__ double mat[2][8][9];
    __shared__ double2 turn[2][4];
    const unsigned lane = threadIdx.x & 31, w = threadIdx.x >> 5;
    const int problem = blockIdx.x * 2 + w;
    double (*a)[9] = mat[w];
    for (int e = lane; e < 64; e += 32) {
        int i = e >> 3, j = e & 7;
        a[i][j] = 0.5 * (in[problem * 64 + i * 8 + j] + in[problem * 64 + j * 8 + i]);
    }
    __syncwarp();
    const int pair = lane >> 3, item = lane & 7;
    for (int s = 0; s < sweeps; s++) {
        for (int r = 0; r < 7; r++) {
            int p = pair == 0 ? 7 : (r + pair) % 7;
            int q = pair == 0 ? r : (r - pair + 7) % 7;
            if (p > q) {
                int swap = p;
                p = q;
                q = swap;
            }
            if (item == 0) {
                double c = 1, sn = 0;
                const double apq = a[p][q];
                if (fabs(apq) > 1e-300) {
                    const double theta = (a[q][q] - a[p][p]) / (2 * apq);
                    const double t = copysign(1.0, theta) / (fabs(theta) + sqrt(theta * theta + 1));
                    c = rsqrt(t * t + 1);
                    sn = t * c;
                }
                turn[w][pair] = make_double2(c, sn);
            }
            __syncwarp();
            const double2 cs = turn[w][pair];
            double up = a[p][item], dn = a[q][item];
            a[p][item] = cs.x * up - cs.y * dn;
            a[q][item] = cs.y * up + cs.x * dn;
            __syncwarp();
            up = a[item][p];
            dn = a[item][q];
            a[item][p] = cs.x * up - cs.y * dn;
            a[item][q] = cs.y * up + cs.x * dn;
            __syncwarp();
        }
    }
    if (lane < 8) {
        const double mine = a[lane][lane];
        int rank = 0;
        double off = 0;
        for (int j = 0; j < 8; j++) {
            const double d = a[j][j];
            rank += d < mine || (d == mine && j < (int)lane);
            if (j != (int)lane) off += a[lane][j] * a[lane][j];
        }
        eigen[problem * 8 + rank] = mine;
        for (int d = 4; d; d >>= 1) off += __shfl_xor_sync(0xff, off, d);
        if (lane == 0) rest[problem] = off < 1e-12 ? 0.0 : off;
    }
}

// ------------------------------------------------------------------ multigrid in one block

namespace mg {
__device__ void relax(double *u, const double *f, int n, double h2, int colour)
{
    const int inner = n - 2;
    for (int e = threadIdx.x; e < inner * inner; e += blockDim.x) {
        const int y = e / inner + 1, x = e % inner + 1;
        if (((x + y) & 1) != colour) continue;
        const int at = y * n + x;
        u[at] = 0.25 * (u[at - 1] + u[at + 1] + u[at - n] + u[at + n] + h2 * f[at]);
    }
    __syncthreads();
}

__device__ __noinline__ void residual(const double *u, const double *f, double *r, int n, double h2)
{
    for (int e = threadIdx.x; e < n * n; e += blockDim.x) {
        const int y = e / n, x = e - y * n;
        double v = 0;
        if (x > 0 && y > 0 && x < n - 1 && y < n - 1) v = f[e] - (4 * u[e] - u[e - 1] - u[e + 1] - u[e - n] - u[e + n]) / h2;
        r[e] = v;
    }
    __syncthreads();
}
}

//! v_cycles_of_a_membrane_down_to_three_points 40 256 | f64:43560:-1:1 | out f64:43560 | out f64:40 | s s32 2
K v_cycles_of_a_membrane_down_to_three_points(const double *force, double *shape, double *worst, int cycles)
{
    __shared__ double u[1493], f[1493], r[1089];
    __shared__ double warpMax[8];
    const int tid = threadIdx.x;
    for (int e = tid; e < 1493; e += blockDim.x) {
        u[e] = 0;
        f[e] = e < 1089 ? force[blockIdx.x * 1089 + e] : 0;
    }
    __syncthreads();
    for (int cycle = 0; cycle < cycles; cycle++) {
        int n = 33, at = 0;
        double h2 = 1.0 / 1024;
        while (n > 3) {
            for (int s = 0; s < 2; s++) {
                mg::relax(u + at, f + at, n, h2, 0);
                mg::relax(u + at, f + at, n, h2, 1);
            }
            mg::residual(u + at, f + at, r, n, h2);
            const int half = n / 2 + 1, next = at + n * n;
            for (int e = tid; e < half * half; e += blockDim.x) {
                const int y = e / half, x = e % half;
                double v = 0;
                if (x && y && x < half - 1 && y < half - 1) {
                    const double *c = r + 2 * y * n + 2 * x;
                    v = 0.25 * c[0] + 0.125 * (c[-1] + c[1] + c[-n] + c[n]) + 0.0625 * (c[-n - 1] + c[-n + 1] + c[n - 1] + c[n + 1]);
                }
                f[next + e] = v;
                u[next + e] = 0;
            }
            __syncthreads();
            at = next;
            n = half;
            h2 *= 4;
        }
        mg::relax(u + at, f + at, n, h2, 0);
        while (n < 33) {
            const int fine = 2 * n - 1, up = at - fine * fine;
            for (int e = tid; e < fine * fine; e += blockDim.x) {
                const int y = e / fine, x = e % fine;
                const int x0 = x >> 1, y0 = y >> 1, x1 = (x + 1) >> 1, y1 = (y + 1) >> 1;
                const double *c = u + at;
                const double add = 0.25 * (c[y0 * n + x0] + c[y0 * n + x1] + c[y1 * n + x0] + c[y1 * n + x1]);
                u[up + e] += add;
            }
            __syncthreads();
            at = up;
            n = fine;
            h2 *= 0.25;
            mg::relax(u + at, f + at, n, h2, 1);
            mg::relax(u + at, f + at, n, h2, 0);
        }
    }
    mg::residual(u, f, r, 33, 1.0 / 1024);
    double top = 0;
    for (int e = tid; e < 1089; e += blockDim.x) {
        shape[blockIdx.x * 1089 + e] = u[e];
        top = fmax(top, fabs(r[e]));
    }
    for (int d = 16; d; d >>= 1) top = fmax(top, __shfl_xor_sync(~0u, top, d));
    if ((tid & 31) == 0) warpMax[tid >> 5] = top;
    __syncthreads();
    if (tid == 0) {
        for (int k = 1; k < 8; k++) top = fmax(top, warpMax[k]);
        worst[blockIdx.x] = top;
    }
}

// ------------------------------------------------------------------ an adaptive pair of orders five and four

struct Oscillator {
    double mu;
    __device__ double2 operator()(double2 y) const { return make_double2(y.y, mu * (1 - y.x * y.x) * y.y - y.x); }
};

//! dormand_and_prince_follow_van_der_pol 33 64 | f64:2112:0.5:4 | f64:4224:-2:2 | out f64:4224 | out s32:2112 | s f64 2 | s f64 0.000001
K dormand_and_prince_follow_van_der_pol(const double *mu, const double2 *start, double2 *end, int *tries, double tEnd, double tol)
{
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    Oscillator f{mu[id]};
    double2 y = start[id];
    double t = 0, h = 0.05;
    int count = 0;
    auto lin = [&](double c1, double2 k1, double c2, double2 k2, double c3, double2 k3, double c4, double2 k4, double c5, double2 k5) {
        return make_double2(y.x + h * (c1 * k1.x + c2 * k2.x + c3 * k3.x + c4 * k4.x + c5 * k5.x),
                            y.y + h * (c1 * k1.y + c2 * k2.y + c3 * k3.y + c4 * k4.y + c5 * k5.y));
    };
    const double2 o = make_double2(0, 0);
    double2 k1 = f(y);
    while (t < tEnd && count < 200) {
        if (t + h > tEnd) h = tEnd - t;
        const double2 k2 = f(lin(1.0 / 5, k1, 0, o, 0, o, 0, o, 0, o));
        const double2 k3 = f(lin(3.0 / 40, k1, 9.0 / 40, k2, 0, o, 0, o, 0, o));
        const double2 k4 = f(lin(44.0 / 45, k1, -56.0 / 15, k2, 32.0 / 9, k3, 0, o, 0, o));
        const double2 k5 = f(lin(19372.0 / 6561, k1, -25360.0 / 2187, k2, 64448.0 / 6561, k3, -212.0 / 729, k4, 0, o));
        const double2 k6 = f(lin(9017.0 / 3168, k1, -355.0 / 33, k2, 46732.0 / 5247, k3, 49.0 / 176, k4, -5103.0 / 18656, k5));
        const double2 z = lin(35.0 / 384, k1, 500.0 / 1113, k3, 125.0 / 192, k4, -2187.0 / 6784, k5, 11.0 / 84, k6);
        const double2 k7 = f(z);
        const double ex = h * (71.0 / 57600 * k1.x - 71.0 / 16695 * k3.x + 71.0 / 1920 * k4.x - 17253.0 / 339200 * k5.x + 22.0 / 525 * k6.x - k7.x / 40);
        const double ey = h * (71.0 / 57600 * k1.y - 71.0 / 16695 * k3.y + 71.0 / 1920 * k4.y - 17253.0 / 339200 * k5.y + 22.0 / 525 * k6.y - k7.y / 40);
        const double sx = tol * (1 + fmax(fabs(y.x), fabs(z.x))), sy = tol * (1 + fmax(fabs(y.y), fabs(z.y)));
        const double err = sqrt(0.5 * ((ex / sx) * (ex / sx) + (ey / sy) * (ey / sy)));
        count++;
        if (err <= 1.0) {
            t += h;
            y = z;
            k1 = k7;
        }
        h *= fmin(5.0, fmax(0.2, 0.9 * pow(fmax(err, 1e-10), -0.2)));
    }
    end[id] = y;
    tries[id] = count;
}

// ------------------------------------------------------------------ Monte Carlo

struct Philox4 {
    uint4 ctr;
    uint2 key;
    __device__ uint4 next()
    {
        uint4 c = ctr;
        uint2 k = key;
#pragma unroll
        for (int r = 0; r < 10; r++) {
            const unsigned h0 = __umulhi(0xD2511F53u, c.x), l0 = 0xD2511F53u * c.x;
            const unsigned h1 = __umulhi(0xCD9E8D57u, c.z), l1 = 0xCD9E8D57u * c.z;
            c = make_uint4(h1 ^ c.y ^ k.x, l1, h0 ^ c.w ^ k.y, l0);
            k.x += 0x9E3779B9u;
            k.y += 0xBB67AE85u;
        }
        if (++ctr.x == 0) ++ctr.y;
        return c;
    }
};

__device__ float2 boxMuller(unsigned a, unsigned b)
{
    const float u = (a + 0.5f) * 2.3283064365386963e-10f;
    const float v = b * 2.3283064365386963e-10f;
    const float r = sqrtf(-2.0f * __logf(u));
    float s, c;
    sincospif(2.0f * v, &s, &c);
    return make_float2(r * s, r * c);
}

//! calls_under_heston_with_full_truncation 132 128 | out f32:132 | out f32:16896 | s s32 24 | s f32 100 | s f32 0.04 | s f32 -0.7 | s u32 77031
K calls_under_heston_with_full_truncation(float *blockMean, float *terminal, int steps, float strike, float v0, float rho, unsigned seed)
{
    const float kappa = 1.5f, theta = 0.04f, xi = 0.6f, rate = 0.02f, dt = 1.0f / steps;
    const float sqdt = sqrtf(dt), ortho = sqrtf(1.0f - rho * rho);
    const unsigned path = blockIdx.x * blockDim.x + threadIdx.x;
    Philox4 gen;
    gen.ctr = make_uint4(0, 0, path, 0);
    gen.key = make_uint2(seed, 0xCAFEu);
    float logS = __logf(100.0f), v = v0;
    for (int k = 0; k < steps; k += 2) {
        const uint4 bits = gen.next();
        const float2 n0 = boxMuller(bits.x, bits.y), n1 = boxMuller(bits.z, bits.w);
#pragma unroll
        for (int part = 0; part < 2; part++) {
            const float2 n = part ? n1 : n0;
            const float zv = n.x, zs = rho * n.x + ortho * n.y;
            const float vp = fmaxf(v, 0.0f), sq = sqrtf(vp) * sqdt;
            logS += (rate - 0.5f * vp) * dt + sq * zs;
            v += kappa * (theta - vp) * dt + xi * sq * zv;
        }
    }
    const float S = expf(logS);
    terminal[path] = S;
    float pay = fmaxf(S - strike, 0.0f) * expf(-rate);
    __shared__ float part[4];
    for (int d = 16; d > 0; d /= 2) pay += __shfl_down_sync(0xffffffff, pay, d);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = pay;
    __syncthreads();
    if (threadIdx.x == 0) blockMean[blockIdx.x] = (part[0] + part[1] + part[2] + part[3]) / blockDim.x;
}

struct Xoshiro {
    unsigned s[4];
    __device__ void seed(unsigned long long z)
    {
        for (int i = 0; i < 2; i++) {
            z += 0x9E3779B97F4A7C15ull;
            unsigned long long x = z;
            x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
            x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
            x ^= x >> 31;
            s[2 * i] = (unsigned)x;
            s[2 * i + 1] = (unsigned)(x >> 32);
        }
    }
    __device__ unsigned operator()()
    {
        const unsigned sum = s[0] + s[3], result = ((sum << 7) | (sum >> 25)) + s[0], t = s[1] << 9;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = (s[3] << 11) | (s[3] >> 21);
        return result;
    }
};

//! magnets_of_a_torus_with_table_of_chances 40 256 | u8:81920:0:2 | out s8:81920 | out s32:80 | s f32 0.44 | s f32 0.05 | s s32 10 | s u64 902117
K magnets_of_a_torus_with_table_of_chances(const uint8_t *init, int8_t *final_, int *sums, float beta, float field, int sweeps, uint64_t seed)
{
    enum { W = 64, H = 32 };
    __shared__ int8_t spin[H][W];
    __shared__ float chance[2][5];
    __shared__ int total[2];
    const int t = threadIdx.x;
    if (t < 10) {
        const int s = t < 5 ? -1 : 1, neigh = (t % 5) * 2 - 4;
        chance[t / 5][t % 5] = fminf(1.0f, expf(-2.0f * beta * s * (neigh + field)));
    }
    if (t < 2) total[t] = 0;
    for (int e = t; e < W * H; e += 256) spin[e / W][e % W] = init[blockIdx.x * W * H + e] ? 1 : -1;
    Xoshiro rng;
    rng.seed(seed + blockIdx.x * 256 + t);
    __syncthreads();
    for (int s = 0; s < sweeps; s++)
        for (int colour = 0; colour < 2; colour++) {
            for (int e = t; e < W * H / 2; e += 256) {
                const int y = e / (W / 2), x = 2 * (e % (W / 2)) + ((y + colour) & 1);
                const int mine = spin[y][x];
                const int around = spin[y][(x + 1) & (W - 1)] + spin[y][(x + W - 1) & (W - 1)] + spin[(y + 1) & (H - 1)][x] + spin[(y + H - 1) & (H - 1)][x];
                const float p = chance[(mine + 1) / 2][(around + 4) / 2];
                if ((rng() >> 8) * 5.9604645e-8f < p) spin[y][x] = (int8_t)-mine;
            }
            __syncthreads();
        }
    int m = 0, bonds = 0;
    for (int e = t; e < W * H; e += 256) {
        const int y = e / W, x = e % W, mine = spin[y][x];
        final_[blockIdx.x * W * H + e] = mine;
        m += mine;
        bonds -= mine * (spin[y][(x + 1) % W] + spin[(y + 1) % H][x]);
    }
    m = __reduce_add_sync(0xffffffff, m);
    bonds = __reduce_add_sync(0xffffffff, bonds);
    if (t % 32 == 0) {
        atomicAdd(&total[0], m);
        atomicAdd(&total[1], bonds);
    }
    __syncthreads();
    if (t < 2) sums[blockIdx.x * 2 + t] = total[t];
}

// ------------------------------------------------------------------ molecular dynamics

//! argon_in_cells_of_sixteen_two_lanes_an_atom 216 32 | f32:10368:0:1 | u32:216:4:13 | out f32:13824 | s f32 0.09 | s f32 1
K argon_in_cells_of_sixteen_two_lanes_an_atom(const float *__restrict__ place, const unsigned *__restrict__ filled, float4 *__restrict__ force, float sigma2, float cut2)
{
    const int SIDE = 6, CAP = 16;
    __shared__ float3 near_[16];
    const int lane = threadIdx.x, cell = blockIdx.x;
    const int cx = cell % SIDE, cy = (cell / SIDE) % SIDE, cz = cell / (SIDE * SIDE);
    const int atom = lane & 15, half = lane >> 4;
    const bool alive = atom < (int)filled[cell];
    float3 me = make_float3(0.f, 0.f, 0.f);
    if (alive) {
        const float *p = place + (cell * CAP + atom) * 3;
        me = make_float3(p[0], p[1], p[2]);
    }
    float fx = 0, fy = 0, fz = 0, pot = 0;
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                const int other = ((cz + dz + SIDE) % SIDE * SIDE + (cy + dy + SIDE) % SIDE) * SIDE + (cx + dx + SIDE) % SIDE;
                const int count = filled[other];
                if (lane < count) {
                    const float *p = place + (other * CAP + lane) * 3;
                    near_[lane] = make_float3(__ldg(p) + dx, __ldg(p + 1) + dy, __ldg(p + 2) + dz);
                }
                __syncwarp();
                if (alive)
                    for (int j = half; j < count; j += 2) {
                        if (other == cell && j == atom) continue;
                        const float rx = me.x - near_[j].x, ry = me.y - near_[j].y, rz = me.z - near_[j].z;
                        const float r2 = fmaxf(rx * rx + ry * ry + rz * rz, 0.01f);
                        if (r2 < cut2) {
                            const float i2 = __fdividef(sigma2, r2), i6 = i2 * i2 * i2;
                            const float mag = 24.0f * i6 * (2.0f * i6 - 1.0f) / r2;
                            fx += mag * rx;
                            fy += mag * ry;
                            fz += mag * rz;
                            pot += 2.0f * i6 * (i6 - 1.0f);
                        }
                    }
                __syncwarp();
            }
    fx += __shfl_xor_sync(~0u, fx, 16);
    fy += __shfl_xor_sync(~0u, fy, 16);
    fz += __shfl_xor_sync(~0u, fz, 16);
    pot += __shfl_xor_sync(~0u, pot, 16);
    if (half == 0 && alive) force[cell * CAP + atom] = make_float4(fx, fy, fz, pot);
}

// ------------------------------------------------------------------ lattice Boltzmann

__constant__ int cxOf[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__constant__ int cyOf[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__constant__ float weightOf[9] = {4.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 36, 1.f / 36, 1.f / 36, 1.f / 36};

//! nine_speeds_with_two_rates_of_relaxation 8,32 32,4 | f32:294912:0.05:0.15 | u8:32768:0:12 | out f32:294912 | s s32 256 | s s32 128 | s f32 1.6 | s f32 1.1
K nine_speeds_with_two_rates_of_relaxation(const float *__restrict__ f, const unsigned char *__restrict__ kind, float *__restrict__ g, int w, int h, float even, float odd)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int opposite[9] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
    for (int y = blockIdx.y * blockDim.y + threadIdx.y; y < h; y += gridDim.y * blockDim.y) {
        if (x >= w) return;
        const int cells = w * h, at = y * w + x;
        float in[9];
#pragma unroll
        for (int q = 0; q < 9; q++) {
            int sx = x - cxOf[q], sy = y - cyOf[q];
            sx = sx < 0 ? sx + w : sx >= w ? sx - w : sx;
            sy = sy < 0 ? sy + h : sy >= h ? sy - h : sy;
            in[q] = f[q * cells + sy * w + sx];
        }
        if (kind[at] == 0) {                      // a solid turns everything back
#pragma unroll
            for (int q = 0; q < 9; q++) g[opposite[q] * cells + at] = in[q];
            continue;
        }
        float rho = 0, ux = 0, uy = 0;
#pragma unroll
        for (int q = 0; q < 9; q++) {
            rho += in[q];
            ux += cxOf[q] * in[q];
            uy += cyOf[q] * in[q];
        }
        ux /= rho;
        uy /= rho;
        const float usq = 1.5f * (ux * ux + uy * uy);
        float eq[9];
#pragma unroll
        for (int q = 0; q < 9; q++) {
            const float cu = 3.0f * (cxOf[q] * ux + cyOf[q] * uy);
            eq[q] = weightOf[q] * rho * (1.0f + cu + 0.5f * cu * cu - usq);
        }
#pragma unroll
        for (int q = 0; q < 9; q++) {
            const int o = opposite[q];
            const float fp = 0.5f * (in[q] + in[o]), fm = 0.5f * (in[q] - in[o]);
            const float ep = 0.5f * (eq[q] + eq[o]), em = 0.5f * (eq[q] - eq[o]);
            g[q * cells + at] = in[q] - even * (fp - ep) - odd * (fm - em);
        }
    }
}

// ------------------------------------------------------------------ FDTD on a line

//! pulse_through_layers_with_mur_at_both_ends 8 512 | f32:4096:1:4 | f32:4096:0:0.02 | out f32:4104 | out f32:2000 | s s32 250
K pulse_through_layers_with_mur_at_both_ends(const float *eps, const float *loss, float *field, float *probe, int steps)
{
    __shared__ float ez[513], hy[512];
    const int i = threadIdx.x;
    const float e = eps[blockIdx.x * 512 + i], l = loss[blockIdx.x * 512 + i];
    const float ca = (1.0f - l) / (1.0f + l), cb = 0.5f / (e * (1.0f + l));
    const float mur = (0.5f - 1.0f) / (0.5f + 1.0f);
    ez[i] = 0;
    hy[i] = 0;
    if (i == 0) ez[512] = 0;
    __syncthreads();
    for (int n = 0; n < steps; n++) {
        hy[i] += 0.5f * (ez[i + 1] - ez[i]);
        __syncthreads();
        float before = 0, edge = 0;
        if (i == 0) {
            edge = ez[0];
            before = ez[1];
        } else if (i == 511) {
            edge = ez[512];
            before = ez[511];
        }
        __syncthreads();
        if (i > 0) {
            float v = ca * ez[i] + cb * (hy[i] - hy[i - 1]);
            if (i == 100) {
                const float t = (n - 40) / 12.0f;
                v += __expf(-0.5f * t * t) * __cosf(0.4f * n);
            }
            ez[i] = v;
        }
        __syncthreads();
        if (i == 0) ez[0] = before + mur * (ez[1] - edge);
        if (i == 511) ez[512] = before + mur * (ez[511] - edge);
        if (i == 300) probe[blockIdx.x * steps + n] = ez[300];
        __syncthreads();
    }
    field[blockIdx.x * 513 + i] = ez[i];
    if (i == 0) field[blockIdx.x * 513 + 512] = ez[512];
}

// ------------------------------------------------------------------ sound from a table

__device__ float hermite(float a, float b, float c, float d, float t)
{
    const float c1 = 0.5f * (c - a), c2 = a - 2.5f * b + 2.0f * c - 0.5f * d, c3 = 0.5f * (d - a) + 1.5f * (b - c);
    return ((c3 * t + c2) * t + c1) * t + b;
}

//! notes_of_a_wavetable_with_phases_in_fixed_point 64 256 | f32:1024:-1:1 | f32:24:55:1760 | u32:24 | f32:24:0.02:0.3 | out s16:16384 | out u8:16384 | s s32 24 | s f64 48000
K notes_of_a_wavetable_with_phases_in_fixed_point(const float *table, const float *pitch, const unsigned *phase0, const float *gain, short *pcm, unsigned char *level, int voices, double rate)
{
    __shared__ float wave[1024];
    __shared__ unsigned step[24], first[24];
    for (int e = threadIdx.x; e < 1024; e += blockDim.x) wave[e] = table[e];
    if ((int)threadIdx.x < voices) {
        step[threadIdx.x] = (unsigned)__double2ull_rn(pitch[threadIdx.x] * 4294967296.0 / rate);
        first[threadIdx.x] = phase0[threadIdx.x];
    }
    __syncthreads();
    const unsigned n = blockIdx.x * blockDim.x + threadIdx.x;
    const float time = __uint2float_rn(n) / (float)rate;
    float sum = 0.0f;
    for (int v = 0; v < voices; ++v) {
        const unsigned p = first[v] + step[v] * n;
        const unsigned at = p >> 22;
        const float t = (p & 0x3fffffu) * (1.0f / 4194304.0f);
        const float s = hermite(wave[(at - 1) & 1023], wave[at], wave[(at + 1) & 1023], wave[(at + 2) & 1023], t);
        sum += s * gain[v] * exp2f(-3.0f * time * (v + 1));
    }
    const unsigned noise = n * 747796405u + 2891336453u;
    const float dither = ((int)(noise >> 16) - 32768) * (1.0f / 65536.0f);
    const int q = __float2int_rn(sum * 32767.0f + dither);
    pcm[n] = (short)max(-32768, min(32767, q));
    level[n] = (unsigned char)__float2uint_rz(__saturatef(fabsf(sum)) * 255.0f);
}

// ------------------------------------------------------------------ finite elements

__constant__ double gaussPlace[2] = {-0.57735026918962576, 0.57735026918962576};

//! plates_of_four_nodes_pulled_matrix_free 64 64 | f64:8450:0:0.3 | f64:8450:-0.01:0.01 | out f64:32768 | out f64:4096 | s s32 64 | s f64 210 | s f64 0.3
K plates_of_four_nodes_pulled_matrix_free(const double *__restrict__ jitter, const double *__restrict__ disp, double *__restrict__ forces, double *__restrict__ energy, int side, double young, double nu)
{
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= side * side) return;
    const int ex = e % side, ey = e / side;
    double X[4], Y[4], U[8], F[8];
    for (int k = 0; k < 4; k++) {
        const int nx = ex + (k == 1 || k == 2), ny = ey + (k >= 2);
        const int node = ny * (side + 1) + nx;
        X[k] = nx + jitter[2 * node];
        Y[k] = ny + jitter[2 * node + 1];
        U[2 * k] = disp[2 * node];
        U[2 * k + 1] = disp[2 * node + 1];
        F[2 * k] = F[2 * k + 1] = 0;
    }
    const double d = young / (1 - nu * nu), shear = 0.5 * (1 - nu) * d;
    double stored = 0;
#pragma unroll
    for (int gp = 0; gp < 4; gp++) {
        const double xi = gaussPlace[gp & 1], eta = gaussPlace[gp >> 1];
        const double dxi[4] = {-0.25 * (1 - eta), 0.25 * (1 - eta), 0.25 * (1 + eta), -0.25 * (1 + eta)};
        const double det_[4] = {-0.25 * (1 - xi), -0.25 * (1 + xi), 0.25 * (1 + xi), 0.25 * (1 - xi)};
        double j00 = 0, j01 = 0, j10 = 0, j11 = 0;
        for (int k = 0; k < 4; k++) {
            j00 += dxi[k] * X[k];
            j01 += dxi[k] * Y[k];
            j10 += det_[k] * X[k];
            j11 += det_[k] * Y[k];
        }
        const double det = j00 * j11 - j01 * j10, inv = 1 / det;
        double bx[4], by[4], exx = 0, eyy = 0, gxy = 0;
        for (int k = 0; k < 4; k++) {
            bx[k] = inv * (j11 * dxi[k] - j01 * det_[k]);
            by[k] = inv * (j00 * det_[k] - j10 * dxi[k]);
            exx += bx[k] * U[2 * k];
            eyy += by[k] * U[2 * k + 1];
            gxy += by[k] * U[2 * k] + bx[k] * U[2 * k + 1];
        }
        const double sx = d * (exx + nu * eyy), sy = d * (nu * exx + eyy), txy = shear * gxy;
        for (int k = 0; k < 4; k++) {
            F[2 * k] += det * (bx[k] * sx + by[k] * txy);
            F[2 * k + 1] += det * (by[k] * sy + bx[k] * txy);
        }
        stored += 0.5 * det * (sx * exx + sy * eyy + txy * gxy);
    }
    double2 *dst = reinterpret_cast<double2 *>(forces) + e * 4;
    for (int k = 0; k < 4; k++) dst[k] = make_double2(F[2 * k], F[2 * k + 1]);
    energy[e] = stored;
}

// ------------------------------------------------------------------ skinning

__device__ __forceinline__ float3 cross3(float3 a, float3 b) { return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x); }
__device__ __forceinline__ float3 turnBy(float4 q, float3 p)
{
    const float3 v = make_float3(q.x, q.y, q.z);
    float3 t = cross3(v, p);
    t = make_float3(t.x + q.w * p.x, t.y + q.w * p.y, t.z + q.w * p.z);
    t = cross3(v, t);
    return make_float3(p.x + 2 * t.x, p.y + 2 * t.y, p.z + 2 * t.z);
}

//! skin_moved_by_four_bones_as_dual_quaternions 66 128 | f32:512:-1:1 | u8:33792:0:64 | f32:33792:0.05:1 | f32:25344:-2:2 | f32:25344:-1:1 | out f32:25344 | out f32:25344 | s s32 8448
K skin_moved_by_four_bones_as_dual_quaternions(const float4 *__restrict__ bones, const uchar4 *__restrict__ which, const float4 *__restrict__ weights,
                                               const float *__restrict__ pos, const float *__restrict__ nrm, float *__restrict__ outPos, float *__restrict__ outNrm, int n)
{
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    const uchar4 b = which[v];
    const float4 w = __ldg(weights + v);
    const float total = 1.0f / (w.x + w.y + w.z + w.w);
    const int index[4] = {b.x, b.y, b.z, b.w};
    const float share[4] = {w.x * total, w.y * total, w.z * total, w.w * total};
    const float4 pivot = __ldg(&bones[2 * index[0]]);
    float4 real = make_float4(0, 0, 0, 0), dual = make_float4(0, 0, 0, 0);
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const float4 r = __ldg(&bones[2 * index[k]]), d = __ldg(&bones[2 * index[k] + 1]);
        const float dotp = r.x * pivot.x + r.y * pivot.y + r.z * pivot.z + r.w * pivot.w;
        const float s = dotp < 0.0f ? -share[k] : share[k];
        real.x += s * r.x; real.y += s * r.y; real.z += s * r.z; real.w += s * r.w;
        dual.x += s * d.x; dual.y += s * d.y; dual.z += s * d.z; dual.w += s * d.w;
    }
    const float inv = rsqrtf(real.x * real.x + real.y * real.y + real.z * real.z + real.w * real.w);
    real.x *= inv; real.y *= inv; real.z *= inv; real.w *= inv;
    dual.x *= inv; dual.y *= inv; dual.z *= inv; dual.w *= inv;
    const float3 rv = make_float3(real.x, real.y, real.z), dv = make_float3(dual.x, dual.y, dual.z);
    const float3 c = cross3(rv, dv);
    float3 p = turnBy(real, make_float3(pos[3 * v], pos[3 * v + 1], pos[3 * v + 2]));
    p.x += 2 * (real.w * dv.x - dual.w * rv.x + c.x);
    p.y += 2 * (real.w * dv.y - dual.w * rv.y + c.y);
    p.z += 2 * (real.w * dv.z - dual.w * rv.z + c.z);
    float3 q = turnBy(real, make_float3(nrm[3 * v], nrm[3 * v + 1], nrm[3 * v + 2]));
    const float len = norm3df(q.x, q.y, q.z) > 0 ? rnorm3df(q.x, q.y, q.z) : 0.0f;
    outPos[3 * v] = p.x; outPos[3 * v + 1] = p.y; outPos[3 * v + 2] = p.z;
    outNrm[3 * v] = q.x * len; outNrm[3 * v + 1] = q.y * len; outNrm[3 * v + 2] = q.z * len;
}

// ------------------------------------------------------------------ primes

typedef unsigned long long ull;

__device__ __forceinline__ ull montMul(ull a, ull b, ull n, ull ninv)
{
    const ull lo = a * b, hi = __umul64hi(a, b);
    const ull back = __umul64hi(lo * ninv, n);
    return hi < back ? hi - back + n : hi - back;
}

//! strong_probable_primes_in_montgomery_form 33 64 | u64:2112 | out u8:2112 | out u64:2112
K strong_probable_primes_in_montgomery_form(const ull *candidates, unsigned char *verdict, ull *lastPower)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const ull n = candidates[i] | 1;
    ull ninv = n * 3 ^ 2;
    for (int k = 0; k < 4; k++) ninv *= 2 - n * ninv;
    const ull one = (0 - n) % n;
    ull r2 = one;
    for (int k = 0; k < 64; k++) {
        const ull d = r2 << 1;
        r2 = (r2 >> 63 || d >= n) ? d - n : d;
    }
    const ull minus = n - one;
    const int twos = __ffsll((long long)(n - 1)) - 1;
    const ull odd = (n - 1) >> twos;
    const unsigned bases[3] = {2, 325, 9375};
    unsigned char prime = 1;
    ull x = 0;
    for (int b = 0; b < 3 && prime; b++) {
        ull a = montMul(bases[b] % n, r2, n, ninv);
        x = one;
        for (int bit = 63 - __clzll(odd); bit >= 0; bit--) {
            x = montMul(x, x, n, ninv);
            if (odd >> bit & 1) x = montMul(x, a, n, ninv);
        }
        if (x == one || x == minus) continue;
        int r = 1;
        while (r < twos) {
            x = montMul(x, x, n, ninv);
            if (x == minus) break;
            ++r;
        }
        if (r >= twos) prime = 0;
    }
    verdict[i] = prime;
    lastPower[i] = montMul(x, 1, n, ninv);
}

// ------------------------------------------------------------------ long numbers over a warp

//! fibonacci_of_a_thousand_bits_over_lanes 40 96 | u64:240 | out u32:3840 | out u32:120 | s s32 1300 | s u32 1000000007
K fibonacci_of_a_thousand_bits_over_lanes(const uint64_t *seeds, uint32_t *digits, uint32_t *residue, int steps, uint32_t modulus)
{
    const unsigned full = 0xffffffffu;
    const unsigned lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    uint32_t a = lane < 2 ? (uint32_t)(seeds[2 * warp] >> (32 * lane)) : 0;
    uint32_t b = lane < 2 ? (uint32_t)(seeds[2 * warp + 1] >> (32 * lane)) : 0;
    for (int k = 0; k < steps; k++) {
        uint32_t s = a + b;
        const uint32_t made = __ballot_sync(full, s < a), passes = __ballot_sync(full, s == 0xffffffffu);
        const uint32_t carries = ((made << 1) + passes) ^ passes;
        s += carries >> lane & 1;
        a = b;
        b = s;
    }
    digits[warp * 32 + lane] = b;
    uint64_t rem = 0;
    for (int k = 31; k >= 0; k--) {
        const uint32_t word = __shfl_sync(full, b, k);
        rem = ((rem << 32) | word) % modulus;
    }
    if (lane == 0) residue[warp] = (uint32_t)rem;
}

// ------------------------------------------------------------------ hashes

__constant__ uint64_t iotaOf[24] = {
    0x0000000000000001ull, 0x0000000000008082ull, 0x800000000000808Aull, 0x8000000080008000ull, 0x000000000000808Bull, 0x0000000080000001ull,
    0x8000000080008081ull, 0x8000000000008009ull, 0x000000000000008Aull, 0x0000000000000088ull, 0x0000000080008009ull, 0x000000008000000Aull,
    0x000000008000808Bull, 0x800000000000008Bull, 0x8000000000008089ull, 0x8000000000008003ull, 0x8000000000008002ull, 0x8000000000000080ull,
    0x000000000000800Aull, 0x800000008000000Aull, 0x8000000080008081ull, 0x8000000000008080ull, 0x0000000080000001ull, 0x8000000080008008ull};
__constant__ uint8_t rhoOf[25] = {0, 1, 62, 28, 27, 36, 44, 6, 55, 20, 3, 10, 43, 25, 39, 41, 45, 15, 21, 8, 18, 2, 61, 56, 14};

//! keccak_with_one_word_of_the_state_a_lane 132 128 | u64:17952 | out u64:2112 | s s32 2
K keccak_with_one_word_of_the_state_a_lane(const uint64_t *message, uint64_t *digest, int chunks)
{
    const int lane = threadIdx.x & 31, warp = blockIdx.x * 4 + (threadIdx.x >> 5);
    const int x = lane % 5, y = lane / 5 % 5, self = 5 * y + x;
    const int left = (x + 4) % 5, right = (x + 1) % 5;
    const int from = 5 * x + (x + 3 * y) % 5;               // where pi brings the word from
    const int next1 = 5 * y + right, next2 = 5 * y + (x + 2) % 5;
    const int turn = rhoOf[self];
    uint64_t a = 0;
    for (int c = 0; c <= chunks; c++) {
        if (c < chunks) {
            if (lane < 17) a ^= message[(warp * chunks + c) * 17 + lane];
        } else {
            if (self == 0) a ^= 0x06;
            if (self == 16) a ^= 0x8000000000000000ull;
        }
        for (int r = 0; r < 24; r++) {
            uint64_t col = a;
#pragma unroll
            for (int k = 1; k < 5; k++) col ^= __shfl_sync(~0u, a, 5 * ((y + k) % 5) + x);
            const uint64_t l = __shfl_sync(~0u, col, left), h = __shfl_sync(~0u, col, right);
            a ^= l ^ (h << 1 | h >> 63);
            const uint64_t turned = turn ? (a << turn | a >> (64 - turn)) : a;
            const uint64_t b = __shfl_sync(~0u, turned, from);
            a = b ^ (~__shfl_sync(~0u, b, next1) & __shfl_sync(~0u, b, next2));
            if (self == 0) a ^= iotaOf[r];
        }
    }
    if (lane < 4) digest[warp * 4 + lane] = a;
}

__constant__ uint64_t blakeIV[8] = {0x6a09e667f3bcc908ull, 0xbb67ae8584caa73bull, 0x3c6ef372fe94f82bull, 0xa54ff53a5f1d36f1ull,
                                    0x510e527fade682d1ull, 0x9b05688c2b3e6c1full, 0x1f83d9abfb41bd6bull, 0x5be0cd19137e2179ull};
__constant__ uint8_t blakeOrder[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

__device__ __forceinline__ uint64_t rotr64(uint64_t v, int n) { return v >> n | v << (64 - n); }
#define QUARTER(a, b, c, d, p, q)          \
    do {                                   \
        a += b + (p); d = rotr64(d ^ a, 32); \
        c += d;       b = rotr64(b ^ c, 24); \
        a += b + (q); d = rotr64(d ^ a, 16); \
        c += d;       b = rotr64(b ^ c, 63); \
    } while (0)

//! pages_compressed_by_blake_of_long_words 66 64 | u64:135168 | out u64:33792
K pages_compressed_by_blake_of_long_words(const uint64_t *pages, uint64_t *digest)
{
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    uint64_t h[8];
    for (int k = 0; k < 8; k++) h[k] = blakeIV[k];
    h[0] ^= 0x01010040;
    for (int part = 0; part < 2; part++) {
        uint64_t m[16];
        const ulonglong2 *src = reinterpret_cast<const ulonglong2 *>(pages + id * 32 + part * 16);
#pragma unroll
        for (int k = 0; k < 8; k++) {
            const ulonglong2 two = src[k];
            m[2 * k] = two.x;
            m[2 * k + 1] = two.y;
        }
        uint64_t v[16];
#pragma unroll
        for (int k = 0; k < 8; k++) {
            v[k] = h[k];
            v[k + 8] = blakeIV[k];
        }
        v[12] ^= 128ull * (part + 1);
        if (part == 1) v[14] = ~v[14];
#pragma unroll 1
        for (int r = 0; r < 12; r++) {
            const uint8_t *s = blakeOrder[r < 10 ? r : r - 10];
            QUARTER(v[0], v[4], v[8], v[12], m[s[0]], m[s[1]]);
            QUARTER(v[1], v[5], v[9], v[13], m[s[2]], m[s[3]]);
            QUARTER(v[2], v[6], v[10], v[14], m[s[4]], m[s[5]]);
            QUARTER(v[3], v[7], v[11], v[15], m[s[6]], m[s[7]]);
            QUARTER(v[0], v[5], v[10], v[15], m[s[8]], m[s[9]]);
            QUARTER(v[1], v[6], v[11], v[12], m[s[10]], m[s[11]]);
            QUARTER(v[2], v[7], v[8], v[13], m[s[12]], m[s[13]]);
            QUARTER(v[3], v[4], v[9], v[14], m[s[14]], m[s[15]]);
        }
#pragma unroll
        for (int k = 0; k < 8; k++) h[k] ^= v[k] ^ v[k + 8];
    }
    for (int k = 0; k < 8; k++) digest[id * 8 + k] = h[k];
}

// ------------------------------------------------------------------ calendar

__device__ int64_t floorDiv(int64_t a, int64_t b)
{
    const int64_t q = a / b;
    return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}

//! civil_dates_from_nanoseconds_of_the_epoch 150 96 | s64:14400 | out s32:14400 | out u32:14400 | out u64:14400 | out s64:14400 | s s64 1209600000
K civil_dates_from_nanoseconds_of_the_epoch(const int64_t *stamp, int32_t *year, uint32_t *parts, uint64_t *digits, int64_t *inPeriod, int64_t period)
{
    const int i = threadIdx.x + blockIdx.x * blockDim.x;
    const int64_t ms = floorDiv(stamp[i], 1000000);
    const int64_t days = floorDiv(ms, 86400000);
    const uint32_t ofDay = (uint32_t)(ms - days * 86400000);
    const int64_t z = days + 719468;
    const int64_t era = (z >= 0 ? z : z - 146096) / 146097;
    const uint32_t doe = (uint32_t)(z - era * 146097);
    const uint32_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    const uint32_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    const uint32_t mp = (5 * doy + 2) / 153;
    const uint32_t d = doy - (153 * mp + 2) / 5 + 1, m = mp < 10 ? mp + 3 : mp - 9;
    const int32_t y = (int32_t)(yoe + era * 400) + (m <= 2);
    const int wd = (int)((days % 7 + 11) % 7);
    year[i] = y;
    const uint32_t hh = ofDay / 3600000, mi = ofDay / 60000 % 60, ss = ofDay / 1000 % 60, th = ofDay % 1000;
    parts[i] = m << 28 | d << 23 | wd << 20 | (th << 10 & 0xffc00) | (ss & 63);
    uint64_t text = (uint64_t)(y < 0 ? -y : y);
    const uint32_t fields[5] = {m, d, hh, mi, ss};
    for (int k = 0; k < 5; k++) text = text * 100 + fields[k];
    uint64_t bcd = 0;
    int shift = 0;
    while (text) {
        bcd |= (text % 10) << shift;
        text /= 10;
        shift += 4;
    }
    digits[i] = bcd;
    inPeriod[i] = ms - floorDiv(ms, period + (i & 1023)) * (period + (i & 1023));
}

// ------------------------------------------------------------------ halves

//! logistic_maps_in_halves_and_brain_floats 132 128 | f16:33792:0.05:0.95 | f16:33792:2.5:4 | out f16:33792 | out bf16:33792 | out u32:16896 | s s32 40
K logistic_maps_in_halves_and_brain_floats(const __half2 *__restrict__ start, const __half2 *__restrict__ growth, __half2 *__restrict__ ends, __nv_bfloat162 *__restrict__ brain, unsigned *__restrict__ above, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    __half2 x = start[i];
    const __half2 r = growth[i], one = __float2half2_rn(1.0f), limit = __floats2half2_rn(0.5f, 0.75f);
    float2 rf = __half22float2(r), xf = __half22float2(x);
    __nv_bfloat162 y = __floats2bfloat162_rn(xf.x, xf.y);
    const __nv_bfloat162 rb = __float22bfloat162_rn(rf);
    __half2 count = __float2half2_rn(0.0f), top = count;
    for (int k = 0; k < n; k++) {
        x = __hmul2(__hmul2(r, x), __hsub2(one, x));
        count = __hadd2(count, __hgt2(x, limit));
        top = __hmax2(top, x);
        const __nv_bfloat162 ry = __hmul2(rb, y);
        y = __hfma2(__hneg2(ry), y, ry);
        y = __hmax2(y, __float2bfloat162_rn(0.0078125f));
    }
    const __half2 soft = h2rcp(__hadd2(one, h2exp(__hneg2(__hmul2(x, r)))));
    ends[i] = __hfma2_sat(soft, top, __hmul2(x, __float2half2_rn(0.125f)));
    const __nv_bfloat16 lo = __low2bfloat16(y), hi = __high2bfloat16(y);
    brain[i] = __halves2bfloat162(hsqrt(lo), __hdiv(hi, __hadd(lo, __float2bfloat16(1.0f))));
    above[i] = (unsigned)__half2int_rn(__low2half(count)) | (unsigned)__half2int_rn(__high2half(count)) << 8 |
               (unsigned)__half_as_ushort(__hmax(__low2half(top), __high2half(top))) << 16;
}

// ------------------------------------------------------------------ packed bytes

//! four_bytes_abreast_find_the_best_shift 66 128 | u32:33792 | u32:33800 | out u32:33792 | out u32:8448 | out s32:8448 | out u32:8448
K four_bytes_abreast_find_the_best_shift(const uint4 *now, const unsigned *before, uint4 *mixed, unsigned *best, int *energy, unsigned *flags)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint4 c4 = now[i];
    const unsigned c[4] = {c4.x, c4.y, c4.z, c4.w};
    unsigned w[8];
#pragma unroll
    for (int k = 0; k < 8; k++) w[k] = before[4 * i + k];
    unsigned least = 0xffffffffu;
#pragma unroll
    for (int s = 0; s < 16; s++) {
        unsigned sad = 0;
        const unsigned pick = 0x3210u + 0x1111u * (s & 3);
#pragma unroll
        for (int k = 0; k < 4; k++) sad += __vsadu4(c[k], __byte_perm(w[k + s / 4], w[min(k + s / 4 + 1, 7)], pick));
        least = min(least, sad << 8 | s);
    }
    const int shift = least & 15;
    unsigned o[4], mark = 0;
    int e = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        unsigned lo = 0, hi = 0;
#pragma unroll
        for (int q = 0; q < 8; q++) {
            if (q == k + shift / 4) lo = w[q];
            if (q == k + shift / 4 + 1) hi = w[q];
        }
        const unsigned m = __funnelshift_r(lo, hi, 8 * (shift & 3));
        const unsigned d = __vabsdiffu4(c[k], m), mean = __vavgu4(c[k], m);
        const unsigned far_ = __vcmpgtu4(d, 0x40404040u);
        o[k] = (mean & ~far_) | (__vaddus4(c[k], 0x10101010u) & far_);
        e = __dp4a((int)__vsub4(c[k], m), (int)c[k], e);
        e += __dp2a_lo((int)__vsubss2(c[k], m), (int)d, 0);
        mark ^= __brev(far_) >> k;
        mark = __vmaxs2(mark, __vadd2(m, c[k]));
        mark += __vsads4(c[k], d) + __popc(__vsetltu4(m, mean));
    }
    mixed[i] = make_uint4(o[0], o[1], o[2], o[3]);
    best[i] = least;
    energy[i] = e;
    flags[i] = mark;
}

// ------------------------------------------------------------------ fixed point

typedef int q28;
__device__ __forceinline__ q28 mulQ(q28 a, q28 b) { return (q28)(((long long)a * b + (1 << 27)) >> 28); }

//! burning_ship_in_fixed_point_of_28_bits 20,15 16,16 | out u16:76800 | out s32:76800 | s s32 320 | s s32 240 | s s32 -480000000 | s s32 -20000000 | s s32 120000 | s s32 160
K burning_ship_in_fixed_point_of_28_bits(unsigned short *count, int *leftOver, int width, int height, q28 x0, q28 y0, q28 step, int limit)
{
    const int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height) return;
    const q28 cr = x0 + px * step, ci = y0 - py * step;
    q28 zr = 0, zi = 0;
    int n = 0;
    do {
        const q28 a = mulQ(zr, zr), b = mulQ(zi, zi);
        if ((long long)a + b > (4ll << 28)) break;
        const q28 cross = mulQ(abs(zr), abs(zi));
        const long long nr = (long long)a - b + cr, ni = 2ll * cross + ci;
        if (llabs(nr) > 0x2cccccccll || llabs(ni) > 0x2cccccccll) break;
        zr = (q28)nr;
        zi = (q28)ni;
    } while (++n < limit);
    count[py * width + px] = (unsigned short)n;
    leftOver[py * width + px] = zr ^ zi;
}

// ------------------------------------------------------------------ special functions

__device__ __noinline__ float gammaSeries(float a, float x)
{
    float term = 1.0f / a, sum = term;
    for (int n = 1; n < 60; n++) {
        term *= x / (a + n);
        sum += term;
        if (fabsf(term) < 1e-7f * fabsf(sum)) break;
    }
    return sum * expf(-x + a * logf(x) - lgammaf(a));
}

//! lifetimes_by_weibull_gamma_and_normal 99 128 | f32:12672:0.5:6 | f32:12672:0.2:5 | f32:12672:0.01:0.99 | out f32:63360 | s s32 12672
K lifetimes_by_weibull_gamma_and_normal(const float *shape, const float *age, const float *level, float *out, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const float k = shape[i], t = age[i], p = level[i];
        const float mean = tgammaf(1.0f + 1.0f / k);
        const float spread = sqrtf(fmaxf(tgammaf(1.0f + 2.0f / k) - mean * mean, 0.0f));
        const float hazard = k * powf(t, k - 1.0f);
        const float survive = expf(-powf(t, k));
        const float quantile = powf(-log1pf(-p), 1.0f / k);
        const float z = normcdfinvf(p), tail = erfcf(z * 0.70710678f);
        out[i] = mean + hazard * survive;
        out[n + i] = spread * quantile + cbrtf(t) - hypotf(k, p);
        out[2 * n + i] = gammaSeries(k, t);
        out[3 * n + i] = tail + erff(t - k) + normcdff(z + 0.5f) + erfinvf(2 * p - 1);
        float whole;
        const float frac = modff(1e5f * t, &whole);
        int power;
        const float mant = frexpf(whole + 1.0f, &power);
        out[4 * n + i] = sinf(1e5f * t) + cosf(whole) * tanhf(k - 3) + fmodf(whole, k) + remainderf(t, p) + ldexpf(mant, power & 3) + frac + atan2f(z, t) +
                         asinhf(z) + expm1f(p) + j0f(t) + sinpif(t) + exp10f(p) + __powf(t, p) + __tanf(p) + acosf(p);
    }
}

// ------------------------------------------------------------------ compensated products

template <int N>
struct Series {
    float c[N];
    __device__ float horner(float x) const
    {
        float v = c[N - 1];
#pragma unroll
        for (int k = N - 2; k >= 0; k--) v = fmaf(v, x, c[k]);
        return v;
    }
    __device__ float estrin(float x) const
    {
        float t[N];
#pragma unroll
        for (int k = 0; k < N; k++) t[k] = c[k];
        float p = x;
#pragma unroll
        for (int w = N; w > 1; w /= 2) {
#pragma unroll
            for (int k = 0; k < w / 2; k++) t[k] = fmaf(t[2 * k + 1], p, t[2 * k]);
            p *= p;
        }
        return t[0];
    }
};

__device__ __forceinline__ float2 twoSum(float a, float b)
{
    const float s = __fadd_rn(a, b), z = __fsub_rn(s, a);
    return make_float2(s, __fadd_rn(__fsub_rn(a, __fsub_rn(s, z)), __fsub_rn(b, z)));
}

//! products_with_their_rounding_errors_kept_along 132 256 | f32:270336:-1:1 | f32:270336:-1:1 | f32:16:-1:1 | out f32:132 | out f32:132 | out f64:132 | s s32 2048
K __launch_bounds__(256, 4) products_with_their_rounding_errors_kept_along(const float4 *__restrict__ x, const float4 *__restrict__ y, const float *__restrict__ coef,
                                                                        float *plain, float *careful, double *polynomials, int n)
{
    Series<16> poly;
#pragma unroll
    for (int k = 0; k < 16; k++) poly.c[k] = __ldg(coef + k);
    float sum = 0, hi = 0, lo = 0;
    double gap = 0;
    for (int e = threadIdx.x; e < n / 4; e += 256) {
        const float4 a = x[blockIdx.x * (n / 4) + e], b = y[blockIdx.x * (n / 4) + e];
        const float as[4] = {a.x, a.y, a.z, a.w}, bs[4] = {b.x, b.y, b.z, b.w};
#pragma unroll
        for (int k = 0; k < 4; k++) {
            sum += as[k] * bs[k];
            const float p = __fmul_rn(as[k], bs[k]), err = __fmaf_rn(as[k], bs[k], -p);
            const float2 s = twoSum(hi, p);
            hi = s.x;
            lo += s.y + err;
            gap += (double)poly.horner(as[k]) - poly.estrin(as[k]);
        }
    }
    __shared__ float sums[8], his[8], los[8];
    __shared__ double gaps[8];
    for (int d = 16; d; d >>= 1) {
        sum += __shfl_xor_sync(~0u, sum, d);
        const float2 s = twoSum(hi, __shfl_xor_sync(~0u, hi, d));
        lo += __shfl_xor_sync(~0u, lo, d) + s.y;
        hi = s.x;
        gap += __shfl_xor_sync(~0u, gap, d);
    }
    const int w = threadIdx.x >> 5;
    if ((threadIdx.x & 31) == 0) {
        sums[w] = sum;
        his[w] = hi;
        los[w] = lo;
        gaps[w] = gap;
    }
    __syncthreads();
    if (threadIdx.x) return;
    for (int k = 1; k < 8; k++) {
        sum += sums[k];
        const float2 s = twoSum(hi, his[k]);
        hi = s.x;
        lo += los[k] + s.y;
        gap += gaps[k];
    }
    plain[blockIdx.x] = sum;
    careful[blockIdx.x] = hi + lo;
    polynomials[blockIdx.x] = gap;
}
