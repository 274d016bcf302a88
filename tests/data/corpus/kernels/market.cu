/* market.cu - prices, risks, rates and statistics. */
#include <cstdint>
#include <cuda_fp16.h>

#define WARP 32
#define FULL 0xffffffffu

//! heston_paths 24 128 | f32:3072:0.02:0.06 | out f32:3072 | s s32 24 | s u32 77
__device__ float next_uniform(unsigned &s)
{
    s ^= s << 13;
    s ^= s >> 17;
    s ^= s << 5;
    return (s >> 8) * (1.0f / 16777216.0f) + 2.9802322e-8f;
}
extern "C" __global__ void heston_paths(const float *v0, float *payoff, int steps, unsigned seed)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned s = seed ^ (id * 747796405u + 1u);
    float logS = 0.0f, v = v0[id], dt = 1.0f / steps, rt = sqrtf(dt);
    for (int i = 0; i < steps; ++i) {
        float u1 = next_uniform(s), u2 = next_uniform(s);
        float r = sqrtf(-2.0f * __logf(u1)), sn, cs;
        __sincosf(6.2831853f * u2, &sn, &cs);
        float z1 = r * cs, z2 = -0.7f * z1 + 0.714143f * r * sn;
        float vp = fmaxf(v, 0.0f), sv = sqrtf(vp);
        logS += (0.01f - 0.5f * vp) * dt + sv * rt * z1;
        v += 1.5f * (0.04f - vp) * dt + 0.3f * sv * rt * z2;
    }
    payoff[id] = fmaxf(100.0f * __expf(logS) - 100.0f, 0.0f);
}

//! implied_vols 40 128 | f32:5120:60:140 | f32:5120:0.1:0.9 | out f32:5120 | out s32:5120
// Newton steps until the price is met: their number differs from thread to thread
__device__ __forceinline__ float cnd(float d) { return 0.5f * erfcf(-0.70710678f * d); }
extern "C" __global__ void implied_vols(const float *strike, const float *truth, float *vol, int *steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float S = 100.0f, K = strike[i], T = 0.75f;
    float target, sigma = truth[i], sq = sqrtf(T), d1, d2;
    d1 = (logf(S / K) + 0.5f * sigma * sigma * T) / (sigma * sq);
    d2 = d1 - sigma * sq;
    target = S * cnd(d1) - K * cnd(d2);
    sigma = 0.4f;
    int n = 0;
    while (n < 20) {
        d1 = (logf(S / K) + 0.5f * sigma * sigma * T) / (sigma * sq);
        d2 = d1 - sigma * sq;
        float diff = S * cnd(d1) - K * cnd(d2) - target;
        if (fabsf(diff) < 1e-3f)
            break;
        float vega = S * sq * 0.39894228f * expf(-0.5f * d1 * d1);
        sigma = fminf(fmaxf(sigma - diff / fmaxf(vega, 0.1f), 0.01f), 3.0f);
        n++;
    }
    vol[i] = sigma;
    steps[i] = n;
}

//! trinomial_put 33 160 | f32:33:80:120 | f32:33:0.1:0.5 | out f32:33
// 128 steps backwards over a tree in shared memory, a block an American put
extern "C" __global__ void trinomial_put(const float *strike, const float *vol, float *price)
{
    __shared__ float v[2][257];
    const int N = 128;
    float K = strike[blockIdx.x], s = vol[blockIdx.x], dt = 1.0f / N, up = s * sqrtf(2.0f * dt);
    float a = expf(0.5f * 0.02f * dt), b = expf(s * sqrtf(0.5f * dt)), c = 1.0f / b;
    float pu = (a - c) / (b - c), pd = (b - a) / (b - c), disc = expf(-0.02f * dt);
    pu *= pu;
    pd *= pd;
    float pm = 1.0f - pu - pd;
    for (int j = threadIdx.x; j <= 2 * N; j += blockDim.x)
        v[0][j] = fmaxf(K - 100.0f * expf((j - N) * up), 0.0f);
    __syncthreads();
    int from = 0;
    for (int step = N - 1; step >= 0; step--) {
        for (int j = threadIdx.x; j <= 2 * step; j += blockDim.x) {
            float hold = disc * (pd * v[from][j] + pm * v[from][j + 1] + pu * v[from][j + 2]);
            v[1 - from][j] = fmaxf(hold, K - 100.0f * expf((j - step) * up));
        }
        from = 1 - from;
        __syncthreads();
    }
    if (threadIdx.x == 0)
        price[blockIdx.x] = v[from][0];
}

//! scenario_values 25 256 | f32:819200:-0.1:0.1 | f32:128:0:1000 | out f32:6400
extern "C" __global__ void scenario_values(const float4 *__restrict__ returns, const float4 *__restrict__ position, float *__restrict__ pnl)
{
    __shared__ float4 pos[32];
    if (threadIdx.x < 32) pos[threadIdx.x] = position[threadIdx.x];
    __syncthreads();
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    float total = 0.f;
    for (int k = 0; k < 32; k++) {
        float4 r = returns[s * 32 + k], p = pos[k];
        total += r.x * p.x + r.y * p.y + r.z * p.z + r.w * p.w;
    }
    pnl[s] = total;
}

//! window_maxima 20 64 | f32:81920:0:100 | out f32:81920 | s s32 64 | s s32 12
// the greatest of the last twelve by a queue that falls, kept in local memory as a ring of sixteen
extern "C" __global__ void window_maxima(const float *x, float *m, int len, int w)
{
    int q[16], head = 0, tail = 0, t = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    for (int i = 0; i < len; i++) {
        float v = x[i * n + t];
        while (tail != head && x[q[(tail - 1) & 15] * n + t] <= v)
            tail--;
        q[tail++ & 15] = i;
        if (q[head & 15] + w <= i)
            head++;
        m[i * n + t] = x[q[head & 15] * n + t];
    }
}

//! order_books 16 64 | u32:65536 | out s64:3072 | s s32 64
// every thread keeps a book of its own: orders come as words whose low bits say what to do
extern "C" __global__ void order_books(const unsigned *event, long long *result, int events)
{
    int bid[8] = {0}, ask[8] = {0};
    long long cash = 0, traded = 0, refused = 0;
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int e = 0; e < events; e++) {
        unsigned w = event[t * events + e];
        int level = (w >> 4) & 7, quantity = (w >> 8) & 1023;
        switch (w & 7) {
        case 0:
        case 1:
            bid[level] += quantity;
            break;
        case 2:
        case 3:
            ask[level] += quantity;
            break;
        case 4:
            for (int l = 0; l < 8 && quantity > 0; l++) {
                int take = min(quantity, ask[l]);
                ask[l] -= take;
                quantity -= take;
                cash -= (long long)take * (100 + l);
                traded += take;
            }
            break;
        case 5:
            for (int l = 7; l >= 0 && quantity > 0; l--) {
                int take = min(quantity, bid[l]);
                bid[l] -= take;
                quantity -= take;
                cash += (long long)take * (92 + l);
                traded += take;
            }
            break;
        case 6:
            if (bid[level] < quantity) {
                refused++;
                continue;
            }
            bid[level] -= quantity;
            break;
        default:
            ask[level] >>= 1;
        }
    }
    result[t * 3] = cash;
    result[t * 3 + 1] = traded;
    result[t * 3 + 2] = refused;
}

//! covariance_tiles 6,6 16,16 | f64:24576:-1:1 | f64:96:-0.05:0.05 | out f64:9216 | s s32 256
// 96 series of 256 days; the blocks below the diagonal have nothing to do
extern "C" __global__ void covariance_tiles(const double *x, const double *mean, double *cov, int days)
{
    __shared__ double a[16][17], b[16][17];
    if (blockIdx.x < blockIdx.y) return;
    int i = blockIdx.y * 16, j = blockIdx.x * 16, tx = threadIdx.x, ty = threadIdx.y;
    double s = 0;
    for (int d = 0; d < days; d += 16) {
        a[ty][tx] = x[(i + ty) * days + d + tx] - mean[i + ty];
        b[ty][tx] = x[(j + ty) * days + d + tx] - mean[j + ty];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; k++)
            s += a[ty][k] * b[tx][k];
        __syncthreads();
    }
    s /= days - 1;
    cov[(i + ty) * 96 + j + tx] = s;
    if (blockIdx.x != blockIdx.y) cov[(j + tx) * 96 + i + ty] = s;
}

//! bond_yields 20 128 | f64:2560:80:120 | f64:2560:0.01:0.08 | out f64:2560 | s s32 10
__device__ __noinline__ double bond_price(double y, double coupon, int years)
{
    double v = 1.0 / (1.0 + y), df = 1.0, sum = 0.0;
    for (int k = 0; k < years; k++) {
        df *= v;
        sum += 100.0 * coupon * df;
    }
    return sum + 100.0 * df;
}
extern "C" __global__ void bond_yields(const double *price, const double *coupon, double *yield, int years)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double lo = -0.05, hi = 0.35, p = price[i], c = coupon[i], mid = 0;
    while (hi - lo > 1e-7) {
        mid = 0.5 * (lo + hi);
        double d = bond_price(mid, c, years) - p;
        if (fabs(d) < 1e-4)
            break;
        if (d > 0)
            lo = mid;
        else
            hi = mid;
    }
    yield[i] = mid;
}

//! kahan_rows 72 32 | f32:294912:-1000:1000 | out f32:2304 | s s32 128
extern "C" __global__ void kahan_rows(const float *x, float *sum, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0.0f, c = 0.0f;
    for (int i = 0; i < n; i++) {
        float y = __fsub_rn(x[row * n + i], c);
        float t = __fadd_rn(s, y);
        c = __fsub_rn(__fsub_rn(t, s), y);
        s = t;
    }
    sum[row] = s;
}

//! psor_put 14 128 | f32:14:90:110 | out f32:3584 | out s32:14
// projected over-relaxation, red and black points in turn, until no point of the block moves
extern "C" __global__ void psor_put(const float *strike, float *value, int *sweeps)
{
    __shared__ float v[258];
    float K = strike[blockIdx.x];
    int t = threadIdx.x;
    for (int i = t; i < 258; i += blockDim.x) v[i] = fmaxf(K - 0.8f * i, 0.0f);
    __syncthreads();
    int n = 0, moved;
    do {
        moved = 0;
        for (int colour = 0; colour < 2; colour++) {
            int i = 1 + 2 * t + colour;
            float old = v[i], gs = 0.49f * (v[i - 1] + v[i + 1]);
            float now = fmaxf(old + 1.3f * (gs - old), K - 0.8f * i);
            v[i] = now;
            moved |= fabsf(now - old) > 1e-3f;
            __syncthreads();
        }
        n++;
    } while (__syncthreads_or(moved) && n < 60);
    for (int i = t; i < 256; i += blockDim.x) value[blockIdx.x * 256 + i] = v[i + 1];
    if (t == 0) sweeps[blockIdx.x] = n;
}

//! regression_moments 44 192 | f32:33792:-1:1 | f32:33792:-2:2 | out f32:440 | s s32 33792
extern "C" __global__ void regression_moments(const float *x, const float *y, float *moment, int n)
{
    __shared__ float part[6][10];
    float m[10] = {};
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float a = x[i], b = y[i], p = 1.f;
#pragma unroll
        for (int k = 0; k < 6; k++) {
            m[k] += p;
            if (k < 4) m[6 + k] += p * b;
            p *= a;
        }
    }
#pragma unroll
    for (int k = 0; k < 10; k++)
        for (int o = WARP / 2; o; o >>= 1) m[k] += __shfl_xor_sync(FULL, m[k], o);
    if (threadIdx.x % WARP == 0) {
#pragma unroll
        for (int k = 0; k < 10; k++) part[threadIdx.x / WARP][k] = m[k];
    }
    __syncthreads();
    if (threadIdx.x < 10) {
        float s = 0;
        for (int w = 0; w < 6; w++) s += part[w][threadIdx.x];
        moment[blockIdx.x * 10 + threadIdx.x] = s;
    }
}

//! factor_returns 64 128 | u8:1024:0:48 | u16:49152:0:4096 | f64:49152:-1:1 | f64:4096:-1:1 | out f64:1024
// a sparse matrix whose rows have room for 48 entries and use fewer, eight lanes a row
extern "C" __global__ void factor_returns(const unsigned char *len, const unsigned short *col, const double *val, const double *x, double *y)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x & 7;
    int begin = row * 48, end = begin + len[row];
    double s = 0;
    for (int k = begin + lane; k < end; k += 8)
        s += val[k] * x[col[k]];
    s += __shfl_down_sync(FULL, s, 4, 8);
    s += __shfl_down_sync(FULL, s, 2, 8);
    s += __shfl_down_sync(FULL, s, 1, 8);
    if (lane == 0) y[row] = s;
}
