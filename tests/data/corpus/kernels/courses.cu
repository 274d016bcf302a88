/* courses.cu - simulations and series: prices, bodies, waves, transforms, spins. */
#include <cstdint>
#include <cuda_fp16.h>
#define K extern "C" __global__ void

__device__ inline double norm_cdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752); }
//! calls_and_puts_in_double 20 128 | f64:2560:5:30 | f64:2560:1:100 | f64:2560:0.25:10 | out f64:2560 | out f64:2560 | s f64 0.02 | s f64 0.3 | s s32 2500
K calls_and_puts_in_double(const double *S, const double *X, const double *T, double *call, double *put, double R, double V, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double q = sqrt(T[i]), d1 = (log(S[i] / X[i]) + (R + 0.5 * V * V) * T[i]) / (V * q), d2 = d1 - V * q;
    double e = exp(-R * T[i]);
    call[i] = S[i] * norm_cdf(d1) - X[i] * e * norm_cdf(d2);
    put[i] = X[i] * e * norm_cdf(-d2) - S[i] * norm_cdf(-d1);
}

//! option_a_block_tree 64 128 | f32:64:20:40 | f32:64:20:40 | out f32:64 | s f32 0.003 | s f32 0.506 | s f32 0.493 | s f32 0.02
// A binomial tree of 256 steps, two leaves a thread, backwards through shared memory.
K option_a_block_tree(const float *S, const float *X, float *value, float dt, float pu, float pd, float vdt)
{
    __shared__ float v[257 + 128];
    float s = S[blockIdx.x], x = X[blockIdx.x];
    for (int i = threadIdx.x; i <= 256; i += blockDim.x) {
        float e = s * expf(vdt * (2.0f * i - 256)) - x;
        v[i] = e > 0 ? e : 0;
    }
    for (int i = 256; i > 0; i--) {
        float a[2];
        __syncthreads();
        for (int k = 0, j = threadIdx.x; k < 2; k++, j += 128) a[k] = j < i ? pu * v[j + 1] + pd * v[j] : 0;
        __syncthreads();
        for (int k = 0, j = threadIdx.x; k < 2; k++, j += 128)
            if (j < i) v[j] = a[k];
    }
    if (threadIdx.x == 0) value[blockIdx.x] = v[0] * (1 - dt);
}

//! darts_by_own_generator 132 256 | out u32:132 | s s32 64 | s u32 12345
K darts_by_own_generator(unsigned *hits, int throws, unsigned seed)
{
    __shared__ unsigned count[256];
    unsigned state = seed + (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u, inside = 0;
    for (int i = 0; i < throws; i++) {
        state = state * 1664525u + 1013904223u;
        float x = (state >> 8) * (1.0f / 16777216.0f);
        state = state * 1664525u + 1013904223u;
        float y = (state >> 8) * (1.0f / 16777216.0f);
        if (x * x + y * y <= 1.0f) inside++;
    }
    count[threadIdx.x] = inside;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (threadIdx.x < s) count[threadIdx.x] += count[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) hits[blockIdx.x] = count[0];
}

//! paths_of_a_payoff 16 128 | f32:8192:-3:3 | f32:16:20:40 | out f32:16 | s f32 0.1 | s f32 0.3 | s f32 30.0 | s s32 8192
K paths_of_a_payoff(const float *normals, const float *S, float *mean, float mu, float vol, float strike, int n)
{
    __shared__ float s_sum[128], s_sq[128];
    float sum = 0, sq = 0;
    for (int i = threadIdx.x; i < n; i += 128) {
        float e = S[blockIdx.x] * __expf(mu + vol * normals[i]) - strike;
        e = e > 0 ? e : 0;
        sum += e;
        sq += e * e;
    }
    s_sum[threadIdx.x] = sum;
    s_sq[threadIdx.x] = sq;
    for (unsigned stride = 64; stride > 0; stride >>= 1) {
        __syncthreads();
        if (threadIdx.x < stride) {
            s_sum[threadIdx.x] += s_sum[threadIdx.x + stride];
            s_sq[threadIdx.x] += s_sq[threadIdx.x + stride];
        }
    }
    if (threadIdx.x == 0) mean[blockIdx.x] = s_sum[0] / n + 1e-6f * sqrtf(s_sq[0]);
}

__device__ float3 body_body(float4 bi, float4 bj, float3 ai)
{
    float3 r;
    r.x = bj.x - bi.x;
    r.y = bj.y - bi.y;
    r.z = bj.z - bi.z;
    float d2 = r.x * r.x + r.y * r.y + r.z * r.z + 0.01f;
    float inv = rsqrtf(d2), s = bj.w * inv * inv * inv;
    ai.x += r.x * s;
    ai.y += r.y * s;
    ai.z += r.z * s;
    return ai;
}
//! pulls_by_tiles_of_bodies 16 64 1024 | f32:4096:-1:1 | inout f32:4096:-0.1:0.1 | out f32:4096 | s s32 1024 | s f32 0.01
K pulls_by_tiles_of_bodies(const float4 *p, float4 *v, float4 *newp, int n, float dt)
{
    extern __shared__ float4 sp[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = p[i];
    float3 acc = {0, 0, 0};
    for (int tile = 0; tile < n / blockDim.x; tile++) {
        sp[threadIdx.x] = p[tile * blockDim.x + threadIdx.x];
        __syncthreads();
#pragma unroll 32
        for (unsigned k = 0; k < 64; k++) acc = body_body(me, sp[k], acc);
        __syncthreads();
    }
    float4 vel = v[i];
    vel.x = (vel.x + acc.x * dt) * 0.995f;
    vel.y = (vel.y + acc.y * dt) * 0.995f;
    vel.z = (vel.z + acc.z * dt) * 0.995f;
    me.x += vel.x * dt;
    me.y += vel.y * dt;
    me.z += vel.z * dt;
    newp[i] = me;
    v[i] = vel;
}

//! pulls_read_by_everybody 4 128 | f64:1536:-1:1 | out f64:1536 | s s32 512 | s f64 0.001
K pulls_read_by_everybody(const double *p, double *f, int n, double eps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double fx = 0, fy = 0, fz = 0;
    for (int j = 0; j < n / 8; j++) {
        double dx = p[3 * j] - p[3 * i], dy = p[3 * j + 1] - p[3 * i + 1], dz = p[3 * j + 2] - p[3 * i + 2];
        double d = 1.0 / sqrt(dx * dx + dy * dy + dz * dz + eps), d3 = d * d * d;
        fx += dx * d3;
        fy += dy * d3;
        fz += dz * d3;
    }
    f[3 * i] = fx;
    f[3 * i + 1] = fy;
    f[3 * i + 2] = fz;
}

//! radix_four_in_shared 32 64 | f32:16384:-1:1 | out f32:16384
// 256 points a block: four passes of four-point butterflies, sines by the fast units.
K radix_four_in_shared(const float2 *in, float2 *out)
{
    __shared__ float2 s[256];
    int t = threadIdx.x;
    float2 v[4];
#pragma unroll
    for (int k = 0; k < 4; k++) v[k] = in[blockIdx.x * 256 + t + k * 64];
    for (int ns = 1; ns < 256; ns *= 4) {
        float a = -6.2831853f * (t % ns) / (ns * 4);
#pragma unroll
        for (int r = 1; r < 4; r++) {
            float sn, cs;
            __sincosf(a * r, &sn, &cs);
            v[r] = make_float2(v[r].x * cs - v[r].y * sn, v[r].x * sn + v[r].y * cs);
        }
        float2 p = make_float2(v[0].x + v[2].x, v[0].y + v[2].y), q = make_float2(v[0].x - v[2].x, v[0].y - v[2].y);
        float2 m = make_float2(v[1].x + v[3].x, v[1].y + v[3].y), n = make_float2(v[1].y - v[3].y, v[3].x - v[1].x);
        v[0] = make_float2(p.x + m.x, p.y + m.y);
        v[1] = make_float2(q.x + n.x, q.y + n.y);
        v[2] = make_float2(p.x - m.x, p.y - m.y);
        v[3] = make_float2(q.x - n.x, q.y - n.y);
        int d = t / ns * ns * 4 + t % ns;
        __syncthreads();
#pragma unroll
        for (int r = 0; r < 4; r++) s[d + r * ns] = v[r];
        __syncthreads();
#pragma unroll
        for (int r = 0; r < 4; r++) v[r] = s[t + r * 64];
    }
#pragma unroll
    for (int r = 0; r < 4; r++) out[blockIdx.x * 256 + t + r * 64] = v[r];
}

//! walsh_in_shared 16 128 2048 | f32:8192:-1:1 | out f32:8192 | s s32 9
K walsh_in_shared(const float *src, float *dst, int log2N)
{
    extern __shared__ float s_data[];
    const int N = 1 << log2N, base = blockIdx.x << log2N;
    for (int pos = threadIdx.x; pos < N; pos += blockDim.x) s_data[pos] = src[base + pos];
    const int pos = threadIdx.x;
    for (int stride = N >> 2; stride > 0; stride >>= 2) {
        int lo = pos & (stride - 1), i0 = ((pos - lo) << 2) + lo, i1 = i0 + stride, i2 = i1 + stride, i3 = i2 + stride;
        __syncthreads();
        float D0 = s_data[i0], D1 = s_data[i1], D2 = s_data[i2], D3 = s_data[i3], T;
        T = D0, D0 = D0 + D2, D2 = T - D2;
        T = D1, D1 = D1 + D3, D3 = T - D3;
        T = D0, s_data[i0] = D0 + D1, s_data[i1] = T - D1;
        T = D2, s_data[i2] = D2 + D3, s_data[i3] = T - D3;
    }
    if (log2N & 1) {
        __syncthreads();
        for (int p = threadIdx.x; p < N / 2; p += blockDim.x) {
            int i0 = p << 1, i1 = i0 + 1;
            float a = s_data[i0], b = s_data[i1];
            s_data[i0] = a + b;
            s_data[i1] = a - b;
        }
    }
    __syncthreads();
    for (int p = threadIdx.x; p < N; p += blockDim.x) dst[base + p] = s_data[p];
}

//! star_of_radius_four 4,8 32,8 | out f32:156672 | f32:156672:-1:1 | s s32 136 | s s32 72 | s s32 8
// A column of planes kept in registers, the middle plane in shared memory with a rim of four.
__constant__ float stencil5[5] = {-2.8f, 1.6f, -0.2f, 0.025f, -0.0018f};
K star_of_radius_four(float *output, const float *input, int stride_y, int rows, int dimz)
{
    __shared__ float tile[8 + 8][32 + 8];
    int gtx = blockIdx.x * 32 + threadIdx.x, gty = blockIdx.y * 8 + threadIdx.y, ltx = threadIdx.x, lty = threadIdx.y;
    int stride_z = stride_y * rows, in = (gty + 4) * stride_y + gtx + 4, out;
    float infront[4], behind[4], current;
    int tx = ltx + 4, ty = lty + 4;
    for (int i = 2; i >= 0; i--) {
        behind[i] = input[in];
        in += stride_z;
    }
    current = input[in];
    out = in;
    in += stride_z;
    for (int i = 0; i < 4; i++) {
        infront[i] = input[in];
        in += stride_z;
    }
#pragma unroll 9
    for (int iz = 0; iz < dimz; iz++) {
        for (int i = 3; i > 0; i--) behind[i] = behind[i - 1];
        behind[0] = current;
        current = infront[0];
#pragma unroll
        for (int i = 0; i < 3; i++) infront[i] = infront[i + 1];
        infront[3] = input[in];
        in += iz < dimz - 2 ? stride_z : 0;
        out += stride_z;
        __syncthreads();
        if (lty < 4) {
            tile[lty][tx] = input[out - 4 * stride_y];
            tile[lty + 12][tx] = input[out + 8 * stride_y];
        }
        if (ltx < 4) {
            tile[ty][ltx] = input[out - 4];
            tile[ty][ltx + 36] = input[out + 32];
        }
        tile[ty][tx] = current;
        __syncthreads();
        float value = stencil5[0] * current;
#pragma unroll 4
        for (int i = 1; i <= 4; i++)
            value += stencil5[i] * (infront[i - 1] + behind[i - 1] + tile[ty - i][tx] + tile[ty + i][tx] + tile[ty][tx - i] + tile[ty][tx + i]);
        output[out] = value;
    }
}

//! spins_of_one_colour 16,8 32,8 | inout s8:65536:0:2 | s8:65536:0:2 | f32:65536 | s f32 0.44 | s s32 256 | s s32 128 | s s32 1
K spins_of_one_colour(signed char *lattice, const signed char *other, const float *randvals, float inv_temp, int nx, int ny, int is_black)
{
    const int tid = (blockIdx.y * blockDim.y + threadIdx.y) * (gridDim.x * blockDim.x) + blockIdx.x * blockDim.x + threadIdx.x;
    const int i = tid / ny, j = tid % ny;
    if (i >= nx || j >= ny) return;
    int inn = i - 1 >= 0 ? i - 1 : nx - 1, ipp = i + 1 < nx ? i + 1 : 0, jpp = j + 1 < ny ? j + 1 : 0, jnn = j - 1 >= 0 ? j - 1 : ny - 1;
    int joff = is_black ? (i % 2 ? jpp : jnn) : (i % 2 ? jnn : jpp);
    signed char sum = other[inn * ny + j] + other[i * ny + j] + other[ipp * ny + j] + other[i * ny + joff];
    signed char lij = lattice[i * ny + j];
    float ratio = expf(-2.0f * inv_temp * (2 * sum - 4) * (2 * lij - 1));
    if (randvals[i * ny + j] < ratio) lattice[i * ny + j] = 1 - lij;
}

//! cloth_of_springs 4,4 16,16 | f32:12288:-1:1 | f32:12288:-0.1:0.1 | out f32:12288 | out f32:12288 | s s32 64 | s f32 0.05 | s f32 40.0 | s f32 0.002
K cloth_of_springs(const float *pos, const float *vel, float *npos, float *nvel, int n, float rest, float k, float dt)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, me = (y * n + x) * 3;
    float px = pos[me], py = pos[me + 1], pz = pos[me + 2], fx = 0, fy = -9.8f, fz = 0;
    const int dx[8] = {1, -1, 0, 0, 1, 1, -1, -1}, dy[8] = {0, 0, 1, -1, 1, -1, 1, -1};
    for (int s = 0; s < 8; s++) {
        int ox = x + dx[s], oy = y + dy[s];
        if (ox < 0 || oy < 0 || ox >= n || oy >= n) continue;
        int o = (oy * n + ox) * 3;
        float ex = pos[o] - px, ey = pos[o + 1] - py, ez = pos[o + 2] - pz;
        float len = sqrtf(ex * ex + ey * ey + ez * ez), f = k * (len - (s < 4 ? rest : rest * 1.41421356f)) / len;
        fx += f * ex, fy += f * ey, fz += f * ez;
    }
    float vx = (vel[me] + fx * dt) * 0.99f, vy = (vel[me + 1] + fy * dt) * 0.99f, vz = (vel[me + 2] + fz * dt) * 0.99f;
    nvel[me] = vx, nvel[me + 1] = vy, nvel[me + 2] = vz;
    npos[me] = px + vx * dt, npos[me + 1] = py + vy * dt, npos[me + 2] = pz + vz * dt;
}

//! waves_of_a_spectrum 8,16 32,8 | f32:66560:-1:1 | out f32:65536 | s s32 256 | s s32 257 | s s32 256 | s f32 1.5 | s f32 100.0
K waves_of_a_spectrum(const float2 *h0, float2 *ht, unsigned in_width, unsigned in_height, unsigned out_width, float t, float patch)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned in_index = y * in_width + x, mirrored = (128 - y) * in_width + (in_width - x - 1), out_index = y * out_width + x;
    float2 k;
    k.x = (-(int)out_width / 2.0f + x) * (2.0f * 3.14159265f / patch);
    k.y = (-(int)out_width / 2.0f + y) * (2.0f * 3.14159265f / patch);
    float k_len = sqrtf(k.x * k.x + k.y * k.y), w = sqrtf(9.81f * k_len);
    if (x < out_width && y < 128) {
        float2 a = h0[in_index], b = h0[mirrored];
        float s, c;
        sincosf(w * t, &s, &c);
        ht[out_index] = make_float2(a.x * c - a.y * s + b.x * c - b.y * s, a.x * s + a.y * c - b.x * s + b.y * c);
    }
}

//! heat_in_three_halves 20 128 | f16:5120 | out f16:5120 | s s32 2500 | s f32 0.2
K heat_in_three_halves(const half2 *u, half2 *v, int n, float r)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 1 || i >= n - 1) return;
    half2 h = __float2half2_rn(r), two = __float2half2_rn(-2.f), a = u[i - 1], b = u[i], c = u[i + 1];
    half2 left = __halves2half2(__high2half(a), __low2half(b)), right = __halves2half2(__high2half(b), __low2half(c));
    v[i] = __hfma2(h, __hadd2(__hadd2(left, right), __hmul2(two, b)), b);
}

//! particles_against_walls 100 64 | inout f32:25600:-1:1 | inout f32:25600:-2:2 | s s32 6300 | s f32 0.016
K particles_against_walls(float4 *pos, float4 *vel, int n, float dt)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 p = pos[i], v = vel[i];
    v.y += -0.0003f * dt;
    v.x *= 0.998f, v.y *= 0.998f, v.z *= 0.998f;
    p.x += v.x * dt, p.y += v.y * dt, p.z += v.z * dt;
    const float r = 1.0f / 64;
    if (p.x > 1.0f - r) p.x = 1.0f - r, v.x *= -0.5f;
    if (p.x < -1.0f + r) p.x = -1.0f + r, v.x *= -0.5f;
    if (p.y > 1.0f - r) p.y = 1.0f - r, v.y *= -0.5f;
    if (p.z > 1.0f - r) p.z = 1.0f - r, v.z *= -0.5f;
    if (p.z < -1.0f + r) p.z = -1.0f + r, v.z *= -0.5f;
    if (p.y < -1.0f + r) p.y = -1.0f + r, v.y *= -0.5f;
    pos[i] = p;
    vel[i] = v;
}

//! rates_of_arrhenius 24 128 | f32:3072:800:2500 | f32:3072:0.5:2 | out f32:24576 | s s32 3072
// One temperature a thread, eight reactions written out.
K rates_of_arrhenius(const float *T, const float *P, float *rf, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float t = T[i] * 1.0f, alogt = logf(t), ti = 1.0f / t, ti2 = ti * ti;
    rf[0 * n + i] = expf(32.07f - 0.42f * alogt - 8589.5f * ti);
    rf[1 * n + i] = expf(10.8f + 2.67f * alogt - 3150.2f * ti);
    rf[2 * n + i] = expf(19.19f + 1.51f * alogt - 1726.0f * ti);
    rf[3 * n + i] = expf(10.48f + 2.4f * alogt + 1062.7f * ti);
    rf[4 * n + i] = 1e18f * ti * P[i];
    rf[5 * n + i] = expf(39.53f - 0.6f * alogt) * P[i];
    rf[6 * n + i] = expf(45.27f - 1.25f * alogt) + P[i] * ti2;
    rf[7 * n + i] = 5.5e20f * ti2 / (1.0f + P[i] * expf(-t / 100.0f));
}

//! three_neighbours_of_row_a_block 30 96 | f32:3200:-1:1 | out f32:3200 | s s32 10
// A rod that fits into one block's shared memory, several steps a launch, others repeat it elsewhere.
K three_neighbours_of_row_a_block(const float *in, float *out, int steps)
{
    __shared__ float a[2][98];
    int t = threadIdx.x + 1, src = 0;
    a[0][t] = in[blockIdx.x * 96 + threadIdx.x];
    if (threadIdx.x == 0) a[0][0] = a[1][0] = 0, a[0][97] = a[1][97] = 1;
    __syncthreads();
    while (steps--) {
        a[1 - src][t] = a[src][t] + 0.25f * (a[src][t - 1] - 2 * a[src][t] + a[src][t + 1]);
        src = 1 - src;
        __syncthreads();
    }
    out[blockIdx.x * 96 + threadIdx.x] = a[src][t];
}
