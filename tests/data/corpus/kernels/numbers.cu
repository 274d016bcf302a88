/* numbers.cu - number theory and numerical methods, a problem for every thread or every warp. */
#include <cstdint>

__device__ __forceinline__ uint64_t mulmod(uint64_t a, uint64_t b, uint64_t m) { return (unsigned __int128)a * b % m; }
//! witnesses_of_primes 4 64 | u32:256 | out u32:256
// Miller and Rabin's test with three bases and 32-bit numbers.
extern "C" __global__ void witnesses_of_primes(const uint32_t *in, uint32_t *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t n = in[i] | 1, d = n - 1, s = __ffs(d) - 1, base[3] = {2, 7, 61}, result = 0;
    d >>= s;
    for (int b = 0; b < 3; b++) {
        uint64_t x = 1, p = base[b] % n;
        for (uint32_t e = d; e; e >>= 1) {
            if (e & 1) x = x * p % n;
            p = p * p % n;
        }
        bool passed = x == 1 || x == n - 1;
        for (uint32_t r = 1; r < s && !passed; r++) {
            x = x * x % n;
            passed = x == n - 1;
        }
        result |= (uint32_t)passed << b;
    }
    out[i] = result;
}

//! rho_of_pollard 1 64 | u32:64:3:60000 | u32:64:3:60000 | out u64:64
extern "C" __global__ void rho_of_pollard(const uint32_t *p, const uint32_t *q, unsigned long long *out)
{
    int i = threadIdx.x;
    uint32_t n = (p[i] | 1) * (q[i] | 1), x = 2, y = 2, d = 1;
    if (n % 3 == 0) d = 3;
    for (int k = 0; k < 120 && d == 1; k++) {
        x = ((uint64_t)x * x + 1) % n;
        y = ((uint64_t)y * y + 1) % n;
        y = ((uint64_t)y * y + 1) % n;
        uint32_t a = x > y ? x - y : y - x, b = n;
        while (a) {
            uint32_t t = b % a;
            b = a;
            a = t;
        }
        d = b;
    }
    out[i] = (uint64_t)n << 32 | d;
}

//! symbols_of_jacobi 12 128 | u32:1536 | u32:1536 | out s32:1536
extern "C" __global__ void symbols_of_jacobi(const uint32_t *a, const uint32_t *b, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, s = 1;
    uint32_t n = b[i] | 1, x = a[i] % n;
    while (x) {
        int z = __ffs(x) - 1;
        x >>= z;
        if ((z & 1) && ((n & 7) == 3 || (n & 7) == 5)) s = -s;
        if ((x & 3) == 3 && (n & 3) == 3) s = -s;
        uint32_t t = n % x;
        n = x;
        x = t;
    }
    out[i] = n == 1 ? s : 0;
}

//! tables_of_moebius 1 256 | out s32:2048 | out u32:2048
// Moebius and totients up to 2048 by a sieve of one block.
extern "C" __global__ void tables_of_moebius(int *mu, uint32_t *phi)
{
    __shared__ uint32_t left[2048], tot[2048];
    __shared__ signed char m[2048];
    for (int i = threadIdx.x; i < 2048; i += 256) left[i] = tot[i] = i, m[i] = 1;
    __syncthreads();
    for (int p = 2; p < 2048; p++) {
        if (p < 46 ? left[p] == p : false)
            for (int k = p + threadIdx.x * p; k < 2048; k += 256 * p) {
                tot[k] -= tot[k] / p;
                m[k] = k % (p * p) ? -m[k] : 0;
                while (left[k] % p == 0 && left[k] != (uint32_t)p) left[k] /= p;
                if (left[k] == (uint32_t)p && k != p) left[k] = 1;
            }
        if (p >= 46) break;
        __syncthreads();
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 2048; i += 256) {
        uint32_t r = left[i];
        bool large = r > 45 && i > 1;
        mu[i] = large ? -m[i] : m[i];
        phi[i] = large ? tot[i] - tot[i] / r : tot[i];
    }
}

//! steps_of_giants 6 32 | u32:192:1:65000 | out s32:192
// Discrete logarithms modulo 65537: a table of baby steps in shared memory, giant steps by each thread.
extern "C" __global__ void steps_of_giants(const uint32_t *in, int *out)
{
    __shared__ uint32_t key[1024];
    __shared__ short value[1024];
    int t = threadIdx.x;
    for (int i = t; i < 1024; i += 32) key[i] = 0;
    __syncwarp();
    uint32_t x = 1;
    for (int k = 0; k < 8 * 32; k++) {
        if ((k & 31) == t) {
            uint32_t h = x * 2654435761u >> 22;
            while (atomicCAS(&key[h], 0u, x) != 0) h = (h + 1) & 1023;
            value[h] = k;
        }
        x = x * 3 % 65537;
    }
    __syncwarp();
    uint32_t inv = 1, g = 3;
    for (uint32_t e = 65536 - 256; e; e >>= 1, g = (uint64_t)g * g % 65537)
        if (e & 1) inv = (uint64_t)inv * g % 65537;
    uint32_t y = in[blockIdx.x * 32 + t];
    int found = -1;
    for (int j = 0; j < 256 && found < 0; j++) {
        uint32_t h = y * 2654435761u >> 22;
        while (key[h] && key[h] != y) h = (h + 1) & 1023;
        if (key[h] == y) found = j * 256 + value[h];
        y = (uint64_t)y * inv % 65537;
    }
    out[blockIdx.x * 32 + t] = found;
}

struct dd {
    double h, l;
};
__device__ __forceinline__ dd two_sum(double a, double b)
{
    double s = __dadd_rn(a, b), t = __dsub_rn(s, a);
    return {s, __dadd_rn(__dsub_rn(a, __dsub_rn(s, t)), __dsub_rn(b, t))};
}
__device__ __forceinline__ dd dd_add(dd a, dd b)
{
    dd s = two_sum(a.h, b.h);
    return two_sum(s.h, s.l + a.l + b.l);
}
__device__ __forceinline__ dd dd_mul(dd a, dd b)
{
    double p = __dmul_rn(a.h, b.h), e = __fma_rn(a.h, b.h, -p) + (a.h * b.l + a.l * b.h);
    return two_sum(p, e);
}
//! double_doubles 6 64 | f64:384:-1:1 | out f64:768
// exp by its series in twice the precision of double.
extern "C" __global__ void double_doubles(const double *x, double *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    dd v = {x[i], 0}, term = {1, 0}, s = {1, 0};
    for (int k = 1; k < 24; k++) {
        double q = 1.0 / k;
        dd inv = {q, __fma_rn(-q, (double)k, 1.0) * q};
        term = dd_mul(dd_mul(term, v), inv);
        s = dd_add(s, term);
    }
    out[2 * i] = s.h;
    out[2 * i + 1] = s.l;
}

//! eigenvalues_bisected 2 64 | f32:128:-2:2 | f32:128:0:1 | out f32:128
// Sturm counts of a tridiagonal matrix of 128 in shared memory, one eigenvalue a thread.
extern "C" __global__ void eigenvalues_bisected(const float *diagonal, const float *beside, float *value)
{
    __shared__ float d[128], e[128];
    for (int i = threadIdx.x; i < 128; i += 64) d[i] = diagonal[i], e[i] = i ? beside[i] * beside[i] : 0;
    __syncthreads();
    int want = blockIdx.x * 64 + threadIdx.x;
    float lo = -4, hi = 4;
    for (int step = 0; step < 22; step++) {
        float mid = 0.5f * (lo + hi), q = 1;
        int below = 0;
        for (int i = 0; i < 128; i++) {
            q = d[i] - mid - e[i] / q;
            if (fabsf(q) < 1e-9f) q = -1e-9f;
            below += q < 0;
        }
        if (below > want)
            hi = mid;
        else
            lo = mid;
    }
    value[want] = 0.5f * (lo + hi);
}

__device__ float area(float a, float b) { return (b - a) / 6 * (sinf(a * a) + 4 * sinf(0.25f * (a + b) * (a + b)) + sinf(b * b)); }
//! adaptive_quadrature 3 64 | f32:192:0:2 | f32:192:2:5 | out f32:192
// Simpson's rule that halves what is not good enough, with its own stack of intervals.
extern "C" __global__ void adaptive_quadrature(const float *from, const float *to, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, top = 1;
    float lo[20], hi[20], sum = 0;
    lo[0] = from[i], hi[0] = to[i];
    while (top) {
        top--;
        float a = lo[top], b = hi[top], m = 0.5f * (a + b), whole = area(a, b), parts = area(a, m) + area(m, b);
        if (fabsf(whole - parts) < 1e-5f || top > 16 || b - a < 0.01f)
            sum += parts;
        else {
            lo[top] = m, hi[top++] = b;
            lo[top] = a, hi[top++] = m;
        }
    }
    out[i] = sum;
}

//! singular_of_3x3 10 96 | f32:8640:-1:1 | out f32:2880
// Singular values of small matrices by one-sided rotations.
extern "C" __global__ void singular_of_3x3(const float *in, float *out)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    float a[3][3];
    for (int k = 0; k < 9; k++) a[k / 3][k % 3] = in[k * 960 + id];
    for (int sweep = 0; sweep < 5; sweep++)
#pragma unroll
        for (int pq = 0; pq < 3; pq++) {
            const int p = pq == 2 ? 1 : 0, q = pq == 0 ? 1 : 2;
            float x = 0, y = 0, z = 0;
            for (int r = 0; r < 3; r++) x += a[r][p] * a[r][p], y += a[r][q] * a[r][q], z += a[r][p] * a[r][q];
            if (fabsf(z) < 1e-7f) continue;
            float zeta = (y - x) / (2 * z), t = copysignf(1.0f, zeta) / (fabsf(zeta) + sqrtf(1 + zeta * zeta)), c = rsqrtf(1 + t * t), s = c * t;
            for (int r = 0; r < 3; r++) {
                float u = a[r][p];
                a[r][p] = c * u - s * a[r][q];
                a[r][q] = s * u + c * a[r][q];
            }
        }
    for (int k = 0; k < 3; k++) out[k * 960 + id] = sqrtf(a[0][k] * a[0][k] + a[1][k] * a[1][k] + a[2][k] * a[2][k]);
}

//! special_values 8 96 | f64:768:0.1:9 | out f64:768
// Functions of the double library that few programs call.
extern "C" __global__ void special_values(const double *x, double *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double v = x[i];
    out[i] = j0(v) + tgamma(v * 0.5) * 1e-3 + erfcx(v) + normcdfinv(v * 0.1) + cyl_bessel_i0(v) * 1e-4 + lgamma(v) + cospi(v) + rcbrt(v) + logb(v) + remainder(v, 0.7);
}

//! single_specials 16 96 | f32:1536:0.1:9 | out f32:1536
extern "C" __global__ void single_specials(const float *x, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, e;
    float v = x[i], m = frexpf(v, &e), w;
    out[i] = y1f(v) + erfinvf(v * 0.1f) + tgammaf(v * 0.5f) * 1e-3f + asinhf(v) + atan2f(v, m) + ldexpf(m, -e) + modff(v, &w) + w + log1pf(v) + expm1f(-v) + hypotf(v, m) + fmodf(v, 0.7f) + nextafterf(v, 0) + cbrtf(v) + sinpif(v);
}

//! karatsuba_products 4 64 | u32:4096 | u32:4096 | out u32:8192
// Products of 512 bits by splitting into halves once.
__device__ __forceinline__ void school(const uint32_t *a, const uint32_t *b, uint32_t *r)
{
    for (int i = 0; i < 16; i++) r[i] = 0;
    for (int i = 0; i < 8; i++) {
        uint32_t c = 0;
        for (int j = 0; j < 8; j++) {
            uint64_t t = (uint64_t)a[i] * b[j] + r[i + j] + c;
            r[i + j] = (uint32_t)t;
            c = t >> 32;
        }
        r[i + 8] = c;
    }
}
extern "C" __global__ void karatsuba_products(const uint32_t *A, const uint32_t *B, uint32_t *R)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t a[16], b[16], lo[16], hi[16], mid[16], sa[8], sb[8];
    for (int k = 0; k < 16; k++) a[k] = A[k * 256 + id], b[k] = B[k * 256 + id];
    school(a, b, lo);
    school(a + 8, b + 8, hi);
    uint64_t ca = 0, cb = 0;
    for (int k = 0; k < 8; k++) {
        ca += (uint64_t)a[k] + a[k + 8];
        sa[k] = (uint32_t)ca;
        ca >>= 32;
        cb += (uint64_t)b[k] + b[k + 8];
        sb[k] = (uint32_t)cb;
        cb >>= 32;
    }
    school(sa, sb, mid);
    uint64_t extra = ca & cb, c = 0;
    long long borrow = 0;
    uint32_t m[17];
    for (int k = 0; k < 16; k++) {
        uint64_t add = (k >= 8 && ca ? sb[k - 8] : 0) + (uint64_t)(k >= 8 && cb ? sa[k - 8] : 0);
        c += (uint64_t)mid[k] + add;
        long long t = (long long)(uint32_t)c - lo[k] - hi[k] + borrow;
        m[k] = (uint32_t)t;
        borrow = t >> 32;
        c >>= 32;
    }
    m[16] = (uint32_t)(c + extra + borrow);
    c = 0;
    for (int k = 0; k < 32; k++) {
        c += (uint64_t)(k < 16 ? lo[k] : hi[k - 16]) + (k >= 8 && k < 25 ? m[k - 8] : 0);
        R[k * 256 + id] = (uint32_t)c;
        c >>= 32;
    }
}

//! fractions_continued 12 96 | f64:1152:0:10 | out s32:1152 | out s32:1152
extern "C" __global__ void fractions_continued(const double *x, int *num, int *den)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double v = x[i];
    long long p0 = 0, q0 = 1, p1 = 1, q1 = 0;
    for (int k = 0; k < 16; k++) {
        long long a = (long long)floor(v), p = a * p1 + p0, q = a * q1 + q0;
        if (q > 10000) break;
        p0 = p1, q0 = q1, p1 = p, q1 = q;
        double f = v - (double)a;
        if (f < 1e-9) break;
        v = 1.0 / f;
    }
    num[i] = (int)p1;
    den[i] = (int)q1;
}

//! agm_of_gauss 6 128 | f64:768:0.01:1 | out f64:768
extern "C" __global__ void agm_of_gauss(const double *k, double *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double a = 1, b = sqrt(1 - k[i] * k[i]), s = 0.5 * k[i] * k[i], p = 1;
    for (int n = 0; n < 8; n++) {
        double c = 0.5 * (a - b), t = 0.5 * (a + b);
        b = sqrt(a * b);
        a = t;
        s += p * c * c;
        p *= 2;
        if (fabs(c) < 1e-14) break;
    }
    out[i] = 1.5707963267948966 / a * (1 - s);
}
