/* algebra.cu - small matrices by the thousand, transforms of other radices, and numerical analysis in doubles, as courses of scientific computing have them. */
#include <cmath>
#include <cstdint>
#define K extern "C" __global__ void

//! lu_of_four_by_four_in_registers 33 64 | f64:33792:1:2 | out f64:33792
K lu_of_four_by_four_in_registers(const double *in, double *out)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    double a[4][4];
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++) a[r][c] = in[i * 16 + r * 4 + c] + (r == c ? 4 : 0);
    for (int k = 0; k < 4; k++)
        for (int r = k + 1; r < 4; r++) {
            double f = a[r][k] / a[k][k];
            a[r][k] = f;
            for (int c = k + 1; c < 4; c++) a[r][c] -= f * a[k][c];
        }
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++) out[i * 16 + r * 4 + c] = a[r][c];
}

//! qr_of_three_by_three_by_turns 66 64 | f32:38016:-1:1 | out f32:38016
K qr_of_three_by_three_by_turns(const float *in, float *out)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    float a[9];
    for (int k = 0; k < 9; k++) a[k] = in[i * 9 + k];
    auto turn = [&](int p, int q, int c) {
        float x = a[p * 3 + c], y = a[q * 3 + c], h = hypotf(x, y);
        float cs = h > 0 ? x / h : 1, sn = h > 0 ? y / h : 0;
        for (int k = 0; k < 3; k++) {
            float u = a[p * 3 + k], v = a[q * 3 + k];
            a[p * 3 + k] = cs * u + sn * v;
            a[q * 3 + k] = cs * v - sn * u;
        }
    };
    turn(0, 1, 0);
    turn(0, 2, 0);
    turn(1, 2, 1);
    for (int k = 0; k < 9; k++) out[i * 9 + k] = a[k];
}

//! cholesky_of_sixteen_a_half_warp 66 128 | f32:135168:0:1 | out f32:135168
// A lane holds a row; columns travel by shuffles.
K cholesky_of_sixteen_a_half_warp(const float *in, float *out)
{
    int m = (blockIdx.x * 128 + threadIdx.x) / 16, r = threadIdx.x % 16;
    float a[16];
    for (int c = 0; c < 16; c++) a[c] = c == r ? in[m * 256 + r * 16 + c] + 32 : in[m * 256 + min(r, c) * 16 + max(r, c)];
#pragma unroll
    for (int k = 0; k < 16; k++) {
        float d = sqrtf(__shfl_sync(~0u, a[k], k, 16));
        a[k] = r == k ? d : a[k] / d;
#pragma unroll
        for (int c = k + 1; c < 16; c++) {
            float l = __shfl_sync(~0u, a[k], c, 16);
            a[c] -= a[k] * l;
        }
    }
    for (int c = 0; c < 16; c++) out[m * 256 + r * 16 + c] = c <= r ? a[c] : 0;
}

//! gauss_jordan_inverse_in_shared 66 16,16 | f32:16896:0:1 | out f32:16896
K gauss_jordan_inverse_in_shared(const float *in, float *out)
{
    __shared__ float a[16][33];
    int r = threadIdx.y, c = threadIdx.x, base = blockIdx.x * 256;
    a[r][c] = in[base + r * 16 + c] + (r == c ? 8 : 0);
    a[r][c + 16] = r == c;
    __syncthreads();
    for (int k = 0; k < 16; k++) {
        float p = a[k][k], f = a[r][k];
        float u = a[k][c], v = a[k][c + 16];
        __syncthreads();
        if (r == k) {
            a[r][c] = u / p;
            a[r][c + 16] = v / p;
        } else {
            a[r][c] -= f * (u / p);
            a[r][c + 16] -= f * (v / p);
        }
        __syncthreads();
    }
    out[base + r * 16 + c] = a[r][c + 16];
}

//! determinants_by_minors_of_five 33 64 | f32:52800:-1:1 | out f32:2112
template <int N> __device__ float minor_sum(const float *a, int row, unsigned used)
{
    float s = 0, sign = 1;
#pragma unroll
    for (int c = 0; c < 5; c++) {
        if (used >> c & 1) continue;
        s += sign * a[row * 5 + c] * minor_sum<N - 1>(a, row + 1, used | 1u << c);
        sign = -sign;
    }
    return s;
}
template <> __device__ float minor_sum<0>(const float *, int, unsigned)
{
    return 1;
}
K determinants_by_minors_of_five(const float *in, float *out)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    float a[25];
    for (int k = 0; k < 25; k++) a[k] = in[i * 25 + k];
    out[i] = minor_sum<5>(a, 0, 0);
}

//! least_squares_line_and_parabola 66 128 | f32:67584:-1:1 | out f32:25344
// Normal equations of a parabola through eight points, by Cramer's rule.
K least_squares_line_and_parabola(const float *y, float *coef)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    float s1 = 0, s2 = 0, s3 = 0, s4 = 0, t0 = 0, t1 = 0, t2 = 0;
    for (int k = 0; k < 8; k++) {
        float x = k * 0.25f, v = y[i * 8 + k];
        s1 += x, s2 += x * x, s3 += x * x * x, s4 += x * x * x * x;
        t0 += v, t1 += v * x, t2 += v * x * x;
    }
    float d = 8 * (s2 * s4 - s3 * s3) - s1 * (s1 * s4 - s3 * s2) + s2 * (s1 * s3 - s2 * s2);
    coef[i * 3] = (t0 * (s2 * s4 - s3 * s3) - s1 * (t1 * s4 - s3 * t2) + s2 * (t1 * s3 - s2 * t2)) / d;
    coef[i * 3 + 1] = (8 * (t1 * s4 - t2 * s3) - t0 * (s1 * s4 - s3 * s2) + s2 * (s1 * t2 - t1 * s2)) / d;
    coef[i * 3 + 2] = (8 * (s2 * t2 - s3 * t1) - s1 * (s1 * t2 - s2 * t1) + t0 * (s1 * s3 - s2 * s2)) / d;
}

//! six_by_six_products_of_doubles 132 36 | f64:4752:-1:1 | f64:4752:-1:1 | out f64:4752
K six_by_six_products_of_doubles(const double *a, const double *b, double *c)
{
    __shared__ double x[36], y[36];
    int t = threadIdx.x, r = t / 6, k = t % 6, base = blockIdx.x * 36;
    x[t] = a[base + t];
    y[t] = b[base + t];
    __syncthreads();
    double s = 0;
    for (int j = 0; j < 6; j++) s = fma(x[r * 6 + j], y[j * 6 + k], s);
    c[base + t] = s;
}

//! symmetric_two_by_two_spectra 66 128 | f64:25344:-2:2 | out f64:16896
K symmetric_two_by_two_spectra(const double *m, double *e)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    double a = m[i * 3], b = m[i * 3 + 1], c = m[i * 3 + 2], h = 0.5 * (a - c), r = sqrt(h * h + b * b), p = 0.5 * (a + c);
    e[i * 2] = p + r;
    e[i * 2 + 1] = p - r;
}

//! quaternions_multiplied_in_a_chain 66 64 | f32:270336:-1:1 | out f32:16896
K quaternions_multiplied_in_a_chain(const float4 *q, float4 *out)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    float4 a = {0, 0, 0, 1};
    for (int k = 0; k < 16; k++) {
        float4 b = q[k * 4224 + i], r;
        r.w = a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z;
        r.x = a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y;
        r.y = a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x;
        r.z = a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w;
        float n = rsqrtf(r.x * r.x + r.y * r.y + r.z * r.z + r.w * r.w);
        a = make_float4(r.x * n, r.y * n, r.z * n, r.w * n);
    }
    out[i] = a;
}

//! dominant_vector_by_powers 16 32 | f32:16384:0:1 | out f32:528
// A warp a matrix of 32 by 32; the vector lives one entry a lane.
K dominant_vector_by_powers(const float *m, float *out)
{
    int l = threadIdx.x;
    const float *a = m + blockIdx.x * 1024;
    float row[32], x = 1, lambda = 0;
    for (int c = 0; c < 32; c++) row[c] = a[c * 32 + l] + a[l * 32 + c];
    for (int it = 0; it < 20; it++) {
        float y = 0;
#pragma unroll
        for (int c = 0; c < 32; c++) y += row[c] * __shfl_sync(~0u, x, c);
        float n = y * y;
        for (int d = 16; d; d /= 2) n += __shfl_xor_sync(~0u, n, d);
        lambda = sqrtf(n);
        x = y / lambda;
    }
    out[blockIdx.x * 33 + l] = x;
    if (l == 0) out[blockIdx.x * 33 + 32] = lambda;
}

//! block_tridiagonal_two_by_two 8 64 | f32:131072:0:1 | out f32:32768
// The block version of Thomas' algorithm, 32 rows a thread, arrays of structures in local memory.
struct M2 { float a, b, c, d; };
__device__ M2 mul2(M2 x, M2 y) { return {x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c, x.c * y.b + x.d * y.d}; }
__device__ M2 inv2(M2 x)
{
    float r = 1 / (x.a * x.d - x.b * x.c);
    return {x.d * r, -x.b * r, -x.c * r, x.a * r};
}
K block_tridiagonal_two_by_two(const float4 *lower, float2 *x)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    M2 up[32];
    float2 rhs[32];
    M2 e = {0.1f, 0.2f, 0.05f, 0.1f}, last = {0, 0, 0, 0};
    float2 prev = {0, 0};
    for (int k = 0; k < 32; k++) {
        float4 l = lower[(k * 512 + i) * 2], d = lower[(k * 512 + i) * 2 + 1];
        M2 lo = {l.x * 0.1f, l.y * 0.1f, l.z * 0.1f, l.w * 0.1f}, t = mul2(lo, last);
        M2 w = inv2({d.x + 3 - t.a, d.y - t.b, d.z - t.c, d.w + 3 - t.d});
        float2 f = {1 - (lo.a * prev.x + lo.b * prev.y), (float)k - (lo.c * prev.x + lo.d * prev.y)};
        last = up[k] = mul2(w, e);
        prev = rhs[k] = make_float2(w.a * f.x + w.b * f.y, w.c * f.x + w.d * f.y);
    }
    for (int k = 31; k >= 0; k--) {
        if (k < 31) {
            prev = make_float2(rhs[k].x - up[k].a * prev.x - up[k].b * prev.y, rhs[k].y - up[k].c * prev.x - up[k].d * prev.y);
        }
        x[k * 512 + i] = prev;
    }
}

//! fft_of_27_by_threes 66 9 | f32:3564:-1:1 | out f32:3564
K fft_of_27_by_threes(const float2 *in, float2 *out)
{
    __shared__ float2 s[27];
    int t = threadIdx.x, base = blockIdx.x * 27;
    for (int k = 0; k < 3; k++) s[t + 9 * k] = in[base + t + 9 * k];
    __syncthreads();
    for (int n = 1; n < 27; n *= 3) {
        int j = t % n;
        float ang = -6.2831853f * j / (3 * n), c1, s1;
        sincosf(ang, &s1, &c1);
        float c2 = c1 * c1 - s1 * s1, s2 = 2 * c1 * s1;
        float2 a = s[t], u = s[t + 9], v = s[t + 18];
        float2 b = {u.x * c1 - u.y * s1, u.x * s1 + u.y * c1}, c = {v.x * c2 - v.y * s2, v.x * s2 + v.y * c2};
        float2 p = {b.x + c.x, b.y + c.y}, q = {(b.y - c.y) * 0.8660254f, (c.x - b.x) * 0.8660254f};
        __syncthreads();
        int d = (t / n) * 3 * n + j;
        s[d] = make_float2(a.x + p.x, a.y + p.y);
        s[d + n] = make_float2(a.x - 0.5f * p.x + q.x, a.y - 0.5f * p.y + q.y);
        s[d + 2 * n] = make_float2(a.x - 0.5f * p.x - q.x, a.y - 0.5f * p.y - q.y);
        __syncthreads();
    }
    for (int k = 0; k < 3; k++) out[base + t + 9 * k] = s[t + 9 * k];
}

//! fft_of_sixteen_in_a_thread 66 64 | f32:135168:-1:1 | out f32:135168
// Two steps of radix four, all in registers.
__device__ void four(float2 &a, float2 &b, float2 &c, float2 &d)
{
    float2 p = {a.x + c.x, a.y + c.y}, q = {a.x - c.x, a.y - c.y}, r = {b.x + d.x, b.y + d.y}, s = {b.y - d.y, d.x - b.x};
    a = make_float2(p.x + r.x, p.y + r.y);
    b = make_float2(q.x + s.x, q.y + s.y);
    c = make_float2(p.x - r.x, p.y - r.y);
    d = make_float2(q.x - s.x, q.y - s.y);
}
K fft_of_sixteen_in_a_thread(const float2 *in, float2 *out)
{
    const float cs[10] = {1, .92387953f, .70710678f, .38268343f, 0, -.38268343f, -.70710678f, -.92387953f, -1, -.92387953f};
    int i = blockIdx.x * 64 + threadIdx.x;
    float2 v[16];
    for (int k = 0; k < 16; k++) v[k] = in[k * 4224 + i];
    for (int k = 0; k < 4; k++) four(v[k], v[k + 4], v[k + 8], v[k + 12]);
#pragma unroll
    for (int r = 1; r < 4; r++)
#pragma unroll
        for (int k = 1; k < 4; k++) {
            float c = cs[r * k], s = -(r * k >= 4 ? cs[r * k - 4] : cs[4 - r * k]);
            float2 w = v[r * 4 + k];
            v[r * 4 + k] = make_float2(w.x * c - w.y * s, w.x * s + w.y * c);
        }
    for (int k = 0; k < 4; k++) four(v[4 * k], v[4 * k + 1], v[4 * k + 2], v[4 * k + 3]);
    for (int k = 0; k < 16; k++) out[((k & 3) * 4 + k / 4) * 4224 + i] = v[k];
}

//! fft_of_64_across_a_warp 66 128 | f32:33792:-1:1 | out f32:33792
// Two points a lane, butterflies by shuffles, twiddles by sincospi.
K fft_of_64_across_a_warp(const float2 *in, float2 *out)
{
    int w = (blockIdx.x * 128 + threadIdx.x) / 32, l = threadIdx.x % 32;
    float2 a = in[w * 64 + l], b = in[w * 64 + l + 32];
    for (int n = 32; n >= 1; n /= 2) {
        float2 s = {a.x + b.x, a.y + b.y}, d = {a.x - b.x, a.y - b.y};
        float sn, cs;
        sincospif(-(float)(l % n) / n, &sn, &cs);
        b = make_float2(d.x * cs - d.y * sn, d.x * sn + d.y * cs);
        a = s;
        if (n > 1) {
            int h = n / 2;
            bool up = l & h;
            float2 give = up ? a : b, got;
            got.x = __shfl_xor_sync(~0u, give.x, h);
            got.y = __shfl_xor_sync(~0u, give.y, h);
            if (up) a = got;
            else b = got;
        }
    }
    out[w * 64 + __brev(l) / 0x8000000u * 2 % 64] = a;
    out[w * 64 + (__brev(l) / 0x8000000u * 2 + 1) % 64] = b;
}

//! residues_transformed_by_fours 33 64 | u32:8448:0:998244353 | out u32:8448
// A number-theoretic transform of 256, radix four, products reduced by 64-bit remainders.
__device__ uint32_t mulp(uint32_t a, uint32_t b) { return (uint64_t)a * b % 998244353u; }
__device__ uint32_t addp(uint32_t a, uint32_t b) { return a + b >= 998244353u ? a + b - 998244353u : a + b; }
__device__ uint32_t subp(uint32_t a, uint32_t b) { return a >= b ? a - b : a + 998244353u - b; }
__device__ uint32_t powp(uint32_t a, uint32_t e)
{
    uint32_t r = 1;
    for (; e; e >>= 1, a = mulp(a, a))
        if (e & 1) r = mulp(r, a);
    return r;
}
K residues_transformed_by_fours(const uint32_t *in, uint32_t *out)
{
    __shared__ uint32_t s[256];
    int t = threadIdx.x, base = blockIdx.x * 256;
    for (int k = 0; k < 4; k++) s[t + 64 * k] = in[base + t + 64 * k];
    const uint32_t im = 86583718u;
    for (int n = 1; n < 256; n *= 4) {
        __syncthreads();
        int j = t % n;
        uint32_t w = powp(3, 998244352u / (4 * n) * j), w2 = mulp(w, w), w3 = mulp(w2, w);
        uint32_t a = s[t], b = mulp(s[t + 64], w), c = mulp(s[t + 128], w2), d = mulp(s[t + 192], w3);
        uint32_t p = addp(a, c), q = subp(a, c), r = addp(b, d), u = mulp(subp(b, d), im);
        __syncthreads();
        int o = t / n * 4 * n + j;
        s[o] = addp(p, r);
        s[o + n] = addp(q, u);
        s[o + 2 * n] = subp(p, r);
        s[o + 3 * n] = subp(q, u);
    }
    __syncthreads();
    for (int k = 0; k < 4; k++) out[base + t + 64 * k] = s[t + 64 * k];
}

//! cosine_transform_of_real_lines 66 32 | f32:2112:-1:1 | out f32:2112
K cosine_transform_of_real_lines(const float *in, float *out)
{
    __shared__ float s[32];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 32 + t];
    __syncwarp();
    float c = cospif((t + 0.5f) / 32), acc = 0;
    // Chebyshev's recurrence gives cos((n + 1/2) angle) without a call a term
    float a = cospif((t + 0.5f) / 64), two = 2 * c, b = a;
    for (int n = 0; n < 32; n++) {
        acc += s[n] * a;
        float next = two * a - b;
        b = a;
        a = next;
    }
    out[blockIdx.x * 32 + t] = acc;
}

//! steps_of_runge_kutta_in_double 17 64 | f64:3264:-1:1 | out f64:3264 | s s32 40
K steps_of_runge_kutta_in_double(const double *in, double *out, int steps)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    double x = in[i * 3], y = in[i * 3 + 1], z = in[i * 3 + 2];
    const double h = 0.01, a = 0.2, b = 0.2, c = 5.7;
    auto f = [&](double u, double v, double w, double *d) {
        d[0] = -v - w;
        d[1] = u + a * v;
        d[2] = b + w * (u - c);
    };
    for (int n = 0; n < steps; n++) {
        double p[3], q[3], r[3], s[3];
        f(x, y, z, p);
        f(x + h / 2 * p[0], y + h / 2 * p[1], z + h / 2 * p[2], q);
        f(x + h / 2 * q[0], y + h / 2 * q[1], z + h / 2 * q[2], r);
        f(x + h * r[0], y + h * r[1], z + h * r[2], s);
        x += h / 6 * (p[0] + 2 * q[0] + 2 * r[0] + s[0]);
        y += h / 6 * (p[1] + 2 * q[1] + 2 * r[1] + s[1]);
        z += h / 6 * (p[2] + 2 * q[2] + 2 * r[2] + s[2]);
    }
    out[i * 3] = x;
    out[i * 3 + 1] = y;
    out[i * 3 + 2] = z;
}

//! roots_by_brents_method 9 64 | f64:576:1:9 | out f64:576 | out s32:576
K roots_by_brents_method(const double *target, double *root, int *rounds)
{
    int i = blockIdx.x * 64 + threadIdx.x, n = 0;
    double y = target[i], a = 0, b = 3, fa = -y, fb = b * exp(b) - y, c = a, fc = fa, d = b - a, e = d;
    for (; n < 60; n++) {
        if (fb * fc > 0) c = a, fc = fa, d = e = b - a;
        if (fabs(fc) < fabs(fb)) a = b, b = c, c = a, fa = fb, fb = fc, fc = fa;
        double tol = 1e-14 * fabs(b) + 1e-15, m = 0.5 * (c - b);
        if (fabs(m) <= tol || fb == 0) break;
        if (fabs(e) >= tol && fabs(fa) > fabs(fb)) {
            double s = fb / fa, p, q;
            if (a == c) p = 2 * m * s, q = 1 - s;
            else {
                double r = fb / fc, t = fa / fc;
                p = s * (2 * m * t * (t - r) - (b - a) * (r - 1));
                q = (t - 1) * (r - 1) * (s - 1);
            }
            if (p > 0) q = -q;
            else p = -p;
            if (2 * p < fmin(3 * m * q - fabs(tol * q), fabs(e * q))) e = d, d = p / q;
            else d = m, e = d;
        } else d = m, e = d;
        a = b, fa = fb;
        b += fabs(d) > tol ? d : (m > 0 ? tol : -tol);
        fb = b * exp(b) - y;
    }
    root[i] = b;
    rounds[i] = n;
}

//! kepler_orbits_solved 33 128 | f64:4224:0:6 | f64:4224:0:0.9 | out f64:4224
K kepler_orbits_solved(const double *mean, const double *ecc, double *E)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    double m = mean[i], e = ecc[i], x = m + e * sin(m);
    for (int k = 0; k < 6; k++) {
        double s, c;
        sincos(x, &s, &c);
        double f = x - e * s - m, g = 1 - e * c;
        x -= f / (g - 0.5 * f * e * s / g);
    }
    E[i] = x;
}

//! gauss_quadrature_of_five_nodes 33 64 | f64:2112:0:1 | f64:2112:1:3 | out f64:2112
__constant__ double nodes5[5] = {-0.906179845938664, -0.538469310105683, 0, 0.538469310105683, 0.906179845938664};
__constant__ double weights5[5] = {0.236926885056189, 0.478628670499366, 0.568888888888889, 0.478628670499366, 0.236926885056189};
K gauss_quadrature_of_five_nodes(const double *lo, const double *hi, double *out)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    double a = lo[i], b = hi[i], total = 0, h = (b - a) / 8;
    for (int p = 0; p < 8; p++) {
        double c = a + (p + 0.5) * h, s = 0;
        for (int k = 0; k < 5; k++) {
            double x = c + 0.5 * h * nodes5[k];
            s += weights5[k] / (1 + x * x);
        }
        total += 0.5 * h * s;
    }
    out[i] = total;
}

//! romberg_table_of_a_thread 9 64 | f64:576:1:2 | out f64:576
K romberg_table_of_a_thread(const double *b, double *out)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    double r[6][6], hi = b[i], h = hi, first = 0.5 * h * (1 + exp(-hi));
    r[0][0] = first;
    for (int n = 1; n < 6; n++) {
        h *= 0.5;
        double s = 0;
        for (int k = 1; k < 1 << n; k += 2) s += exp(-k * h);
        r[n][0] = 0.5 * r[n - 1][0] + h * s;
        double f = 4;
        for (int m = 1; m <= n; m++, f *= 4) r[n][m] = r[n][m - 1] + (r[n][m - 1] - r[n - 1][m - 1]) / (f - 1);
    }
    out[i] = r[5][5];
}

//! gamma_by_lanczos_in_double 33 64 | f64:2112:0.5:20 | out f64:2112
K gamma_by_lanczos_in_double(const double *in, double *out)
{
    const double g[9] = {0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
                         12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7};
    int i = blockIdx.x * 64 + threadIdx.x;
    double x = in[i] - 1, s = g[0], t = x + 7.5;
    for (int k = 1; k < 9; k++) s += g[k] / (x + k);
    out[i] = 0.5 * log(6.283185307179586) + (x + 0.5) * log(t) - t + log(s);
}

//! sums_exact_by_two_parts 66 128 | f64:270336:-1:1 | out f64:132
// Error-free additions down a thread's values, then over the warp and the block.
__device__ void add_two(double &hi, double &lo, double x)
{
    double s = __dadd_rn(hi, x), b = __dadd_rn(s, -hi), e = __dadd_rn(__dadd_rn(hi, -__dadd_rn(s, -b)), __dadd_rn(x, -b));
    hi = s;
    lo = __dadd_rn(lo, e);
}
K sums_exact_by_two_parts(const double *x, double *out)
{
    __shared__ double h[4], l[4];
    double hi = 0, lo = 0;
    for (int k = 0; k < 32; k++) add_two(hi, lo, x[(blockIdx.x * 32 + k) * 128 + threadIdx.x]);
    for (int d = 16; d; d /= 2) {
        double u = __shfl_down_sync(~0u, hi, d), v = __shfl_down_sync(~0u, lo, d);
        add_two(hi, lo, u);
        lo += v;
    }
    if (threadIdx.x % 32 == 0) h[threadIdx.x / 32] = hi, l[threadIdx.x / 32] = lo;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 4; w++) {
            add_two(hi, lo, h[w]);
            lo += l[w];
        }
        out[blockIdx.x * 2] = hi;
        out[blockIdx.x * 2 + 1] = lo;
    }
}

//! bessel_downwards_recurrence 33 64 | f32:2112:0.5:10 | out f32:2112
K bessel_downwards_recurrence(const float *in, float *out)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    float x = in[i], up = 0, here = 1e-20f, sum = 0, keep = 0;
    for (int n = 30; n > 0; n--) {
        float down = 2 * n / x * here - up;
        up = here;
        here = down;
        if (fabsf(here) > 1e10f) here *= 1e-10f, up *= 1e-10f, sum *= 1e-10f, keep *= 1e-10f;
        if ((n & 1) == 1) sum += 2 * here;
        if (n == 3) keep = up;
    }
    out[i] = keep / (sum - here);
}

//! lambert_by_halleys_steps 33 128 | f32:4224:0:50 | out f32:4224
K lambert_by_halleys_steps(const float *in, float *out)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    float x = in[i], w = x < 1 ? x : logf(x);
    for (int k = 0; k < 5; k++) {
        float e = expf(w), f = w * e - x;
        float d = e * (w + 1) - (w + 2) * f / (2 * w + 2);
        float n = w - f / d;
        if (fabsf(n - w) < 1e-6f * fabsf(n)) {
            w = n;
            break;
        }
        w = n;
    }
    out[i] = w;
}

//! divided_differences_of_eight 33 64 | f32:16896:-1:1 | f32:2112:0:1 | out f32:2112
K divided_differences_of_eight(const float *y, const float *at, float *out)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    float x[8], c[8];
    for (int k = 0; k < 8; k++) {
        x[k] = k * 0.125f + 0.01f * k * k;
        c[k] = y[i * 8 + k];
    }
    for (int j = 1; j < 8; j++)
        for (int k = 7; k >= j; k--) c[k] = (c[k] - c[k - 1]) / (x[k] - x[k - j]);
    float v = c[7], t = at[i];
    for (int k = 6; k >= 0; k--) v = v * (t - x[k]) + c[k];
    out[i] = v;
}
