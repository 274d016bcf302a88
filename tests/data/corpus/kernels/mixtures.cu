/* mixtures.cu - whole small programs: bodies, factorisations, transforms, sorting, graphs, rays, layers of networks; several waves or many rounds. */
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_scan.cuh>
#include <cuda_fp16.h>
#include <cstdint>

//! nbody_mixed 33 128 | f32:16896:-1:1 | out f64:12672 | s s32 33
// Positions in float through shared memory, forces of a tile of 128 summed in double.
extern "C" __global__ void nbody_mixed(const float4 *__restrict__ bodies, double *__restrict__ out, int tiles)
{
    __shared__ float4 s[128];
    int i = blockIdx.x * 128 + threadIdx.x, n = gridDim.x * 128;
    float4 me = bodies[i];
    double ax = 0, ay = 0, az = 0;
    for (int t = 0; t < tiles; t++) {
        s[threadIdx.x] = bodies[t * 128 + threadIdx.x];
        __syncthreads();
        float fx = 0, fy = 0, fz = 0;
#pragma unroll 8
        for (int j = 0; j < 128; j++) {
            float dx = s[j].x - me.x, dy = s[j].y - me.y, dz = s[j].z - me.z, r2 = dx * dx + dy * dy + dz * dz + 0.01f, inv = rsqrtf(r2), f = s[j].w * inv * inv * inv;
            fx += f * dx, fy += f * dy, fz += f * dz;
        }
        ax += fx, ay += fy, az += fz;
        __syncthreads();
    }
    out[i] = ax, out[n + i] = ay, out[2 * n + i] = az;
}

//! qr_householder 24 64 | f32:49152:-1:1 | out f32:49152
// A block a matrix of 64 x 32, reflections column after column with sums by warps.
extern "C" __global__ void qr_householder(const float *__restrict__ in, float *__restrict__ out)
{
    __shared__ float a[32][65], part[2], norm;
    int t = threadIdx.x;
    for (int c = 0; c < 32; c++) a[c][t] = in[blockIdx.x * 2048 + t * 32 + c];
    __syncthreads();
    for (int k = 0; k < 32; k++) {
        float v = t >= k ? a[k][t] : 0.0f, s = v * v;
        for (int o = 16; o; o /= 2) s += __shfl_xor_sync(~0u, s, o);
        if (t % 32 == 0) part[t / 32] = s;
        __syncthreads();
        float pivot = a[k][k], len = sqrtf(part[0] + part[1]), alpha = pivot > 0 ? -len : len;
        if (t == k) v -= alpha, norm = 2.0f / (part[0] + part[1] - 2 * pivot * alpha + alpha * alpha);
        __syncthreads();
        for (int c = k; c < 32; c++) {
            float d = v * a[c][t];
            for (int o = 16; o; o /= 2) d += __shfl_xor_sync(~0u, d, o);
            __syncthreads();
            if (t % 32 == 0) part[t / 32] = d;
            __syncthreads();
            a[c][t] -= norm * (part[0] + part[1]) * v;
        }
        __syncthreads();
    }
    for (int c = 0; c < 32; c++) out[blockIdx.x * 2048 + t * 32 + c] = a[c][t];
}

__device__ __forceinline__ float2 cmul(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
//! fft_kilo 66 256 | f32:135168:-1:1 | out f32:135168
// 1024 points a block: five passes of radix four in shared memory, twiddles by sincospif.
extern "C" __global__ void fft_kilo(const float2 *__restrict__ in, float2 *__restrict__ out)
{
    __shared__ float2 s[1024];
    int t = threadIdx.x;
    float2 v[4];
#pragma unroll
    for (int k = 0; k < 4; k++) v[k] = in[blockIdx.x * 1024 + t + k * 256];
    for (int ns = 1; ns < 1024; ns *= 4) {
        int j = t % ns;
        float si, co;
        sincospif(-2.0f * j / (ns * 4), &si, &co);
        float2 w = make_float2(co, si), w2 = cmul(w, w), w3 = cmul(w, w2);
        v[1] = cmul(v[1], w), v[2] = cmul(v[2], w2), v[3] = cmul(v[3], w3);
        float2 a = make_float2(v[0].x + v[2].x, v[0].y + v[2].y), b = make_float2(v[0].x - v[2].x, v[0].y - v[2].y);
        float2 c = make_float2(v[1].x + v[3].x, v[1].y + v[3].y), d = make_float2(v[1].y - v[3].y, v[3].x - v[1].x);
        int o = (t / ns) * ns * 4 + j;
        __syncthreads();
        s[o] = make_float2(a.x + c.x, a.y + c.y);
        s[o + ns] = make_float2(b.x + d.x, b.y + d.y);
        s[o + 2 * ns] = make_float2(a.x - c.x, a.y - c.y);
        s[o + 3 * ns] = make_float2(b.x - d.x, b.y - d.y);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 4; k++) v[k] = s[t + k * 256];
    }
#pragma unroll
    for (int k = 0; k < 4; k++) out[blockIdx.x * 1024 + t + k * 256] = v[k];
}

//! bitonic_kilos 16 512 16384 | u32:65536 | out u32:65536
// 4096 keys a block in dynamic shared memory, all 78 steps.
extern "C" __global__ void bitonic_kilos(const unsigned *__restrict__ in, unsigned *__restrict__ out)
{
    extern __shared__ unsigned keys[];
    const unsigned *src = in + blockIdx.x * 4096;
    for (int i = threadIdx.x; i < 4096; i += 512) keys[i] = src[i];
    for (int size = 2; size <= 4096; size *= 2)
        for (int stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            for (int i = threadIdx.x; i < 2048; i += 512) {
                int lo = 2 * i - (i & (stride - 1)), hi = lo + stride;
                bool up = (lo & size) == 0;
                unsigned a = keys[lo], b = keys[hi];
                if ((a > b) == up) keys[lo] = b, keys[hi] = a;
            }
        }
    __syncthreads();
    for (int i = threadIdx.x; i < 4096; i += 512) out[blockIdx.x * 4096 + i] = keys[i];
}

//! cub_sort 40 128 | u32:40960 | out u32:40960 | out u32:40960
// cub::BlockRadixSort of keys with values, eight a thread, five bits a pass; then exclusive sums.
extern "C" __global__ void __launch_bounds__(128) cub_sort(const unsigned *__restrict__ in, unsigned *__restrict__ keys, unsigned *__restrict__ values)
{
    using Sort = cub::BlockRadixSort<unsigned, 128, 8, unsigned, 5>;
    using Scan = cub::BlockScan<unsigned, 128>;
    __shared__ union {
        Sort::TempStorage sort;
        Scan::TempStorage scan;
    } temp;
    unsigned k[8], v[8];
#pragma unroll
    for (int i = 0; i < 8; i++) k[i] = in[blockIdx.x * 1024 + threadIdx.x * 8 + i], v[i] = threadIdx.x * 8 + i;
    Sort(temp.sort).Sort(k, v, 4, 24);
    __syncthreads();
    unsigned s[8];
    Scan(temp.scan).ExclusiveSum(v, s);
#pragma unroll
    for (int i = 0; i < 8; i++) keys[blockIdx.x * 1024 + i * 128 + threadIdx.x] = k[i], values[blockIdx.x * 1024 + i * 128 + threadIdx.x] = s[i];
}

//! pagerank_pull 99 128 | u32:12673:0:1 | u32:126720:0:12672 | f32:12672:0:1 | out f32:12672 | s s32 10
// Twelve thousand vertices; a warp takes vertices in turn, their neighbours by lanes, degree by a hash of the number.
extern "C" __global__ void pagerank_pull(const unsigned *__restrict__ base, const unsigned *__restrict__ neighbour, const float *__restrict__ rank, float *__restrict__ out, int most)
{
    int warp = (blockIdx.x * 128 + threadIdx.x) / 32, warps = gridDim.x * 4, lane = threadIdx.x % 32;
    for (int v = warp; v < 12672; v += warps) {
        int degree = 1 + (v * 2654435761u >> 16) % most, from = v * 10 + base[v];
        float s = 0;
        for (int k = lane; k < degree; k += 32) {
            unsigned u = neighbour[from + k];
            s += rank[u] / (1 + (u * 2654435761u >> 16) % most);
        }
        for (int o = 16; o; o /= 2) s += __shfl_down_sync(~0u, s, o);
        if (lane == 0) out[v] = 0.15f + 0.85f * s;
    }
}

//! delta_relax 88 128 | u32:45056:0:11264 | u32:45056:1:100 | u32:11264:0:1000 | inout u32:11264:0:1000
// One round of Bellman and Ford: four edges a vertex, the distances of the round before, atomicMin on those of this one.
extern "C" __global__ void delta_relax(const uint4 *__restrict__ to, const uint4 *__restrict__ cost, const unsigned *__restrict__ before, unsigned *__restrict__ after)
{
    int v = blockIdx.x * 128 + threadIdx.x;
    uint4 t = to[v], c = cost[v];
    unsigned d = before[v];
    if (d + c.x < after[t.x]) atomicMin(&after[t.x], d + c.x);
    if (d + c.y < after[t.y]) atomicMin(&after[t.y], d + c.y);
    if (d + c.z < after[t.z]) atomicMin(&after[t.z], d + c.z);
    if (d + c.w < after[t.w]) atomicMin(&after[t.w], d + c.w);
}

struct Ray {
    float3 o, d;
};
__device__ bool sphere_hit(const float4 s, const Ray &r, float &t)
{
    float ox = r.o.x - s.x, oy = r.o.y - s.y, oz = r.o.z - s.z;
    float b = ox * r.d.x + oy * r.d.y + oz * r.d.z, c = ox * ox + oy * oy + oz * oz - s.w * s.w, h = b * b - c;
    if (h < 0) return false;
    float u = -b - sqrtf(h);
    if (u < 0.001f || u >= t) return false;
    t = u;
    return true;
}
__constant__ float4 light = {0.57735f, 0.57735f, -0.57735f, 0.1f};
//! ray_mirrors 20,15 16,8 | f32:96:-1:1 | out u8:153600
// 24 spheres and a floor, up to four reflections, shadows, bytes out.
extern "C" __global__ void ray_mirrors(const float4 *__restrict__ spheres, uchar4 *__restrict__ out)
{
    __shared__ float4 s[24];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, id = threadIdx.y * 16 + threadIdx.x;
    if (id < 24) {
        float4 v = spheres[id];
        s[id] = make_float4(v.x * 3, v.y, v.z * 2 + 4, 0.2f + 0.2f * fabsf(v.w));
    }
    __syncthreads();
    float u = (x - 160) * (1.0f / 120), v = (60 - y) * (1.0f / 60), inv = rsqrtf(u * u + v * v + 4), light_sum = 0, weight = 1;
    Ray r = {make_float3(0, 0.2f, -1), make_float3(u * inv, v * inv, 2 * inv)};
    for (int bounce = 0; bounce < 4; bounce++) {
        float t = 1e9f;
        int hit = -1;
        for (int k = 0; k < 24; k++)
            if (sphere_hit(s[k], r, t)) hit = k;
        float3 n;
        if (hit < 0) {
            float f = (-1.2f - r.o.y) / r.d.y;
            if (f < 0.001f) {
                light_sum += weight * (0.3f + 0.5f * r.d.y);
                break;
            }
            t = f, n = make_float3(0, 1, 0);
        }
        float3 p = make_float3(r.o.x + t * r.d.x, r.o.y + t * r.d.y, r.o.z + t * r.d.z);
        if (hit >= 0) {
            float q = 1.0f / s[hit].w;
            n = make_float3((p.x - s[hit].x) * q, (p.y - s[hit].y) * q, (p.z - s[hit].z) * q);
        }
        Ray shadow = {p, make_float3(light.x, light.y, light.z)};
        float far = 1e9f, diffuse = fmaxf(0.0f, n.x * light.x + n.y * light.y + n.z * light.z);
        bool dark = false;
        for (int k = 0; k < 24 && !dark; k++) dark = sphere_hit(s[k], shadow, far);
        float own = hit < 0 ? (((int)floorf(p.x) ^ (int)floorf(p.z)) & 1 ? 0.8f : 0.3f) : 0.2f + 0.03f * hit;
        light_sum += weight * own * (light.w + (dark ? 0.0f : diffuse));
        weight *= hit < 0 ? 0.2f : 0.6f;
        float dn = 2 * (r.d.x * n.x + r.d.y * n.y + r.d.z * n.z);
        r.o = p, r.d = make_float3(r.d.x - dn * n.x, r.d.y - dn * n.y, r.d.z - dn * n.z);
    }
    unsigned char g = (unsigned char)(255 * fminf(fmaxf(light_sum, 0.0f), 1.0f));
    out[y * 320 + x] = make_uchar4(g, g, g >> 1, 255);
}

//! mandel_blocks 66,2 16,16 | out u32:33792 | s s32 400
// Escape times in double, rows of tiles; blocks finish at very different times.
extern "C" __global__ void mandel_blocks(unsigned *__restrict__ out, int limit)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    double cr = -2.0 + x * (2.6 / 1056), ci = -0.1 + y * (0.4 / 32), zr = 0, zi = 0;
    int k = 0;
    while (k < limit && zr * zr + zi * zi < 4.0) {
        double t = zr * zr - zi * zi + cr;
        zi = 2 * zr * zi + ci, zr = t, k++;
    }
    out[y * 1056 + x] = k;
}

//! conv_layers 8,8,4 16,16 | f16:81920:-1:1 | f32:2304:-0.2:0.2 | out f16:262144 | s s32 16
// A layer of 16 channels to 16 (four blocks of four), 3 x 3, halves in and out, weights by float in shared memory.
extern "C" __global__ void conv_layers(const half *__restrict__ in, const float *__restrict__ weights, half *__restrict__ out, int channels)
{
    __shared__ float w[4][16][9], tile[18][19];
    int t = threadIdx.y * 16 + threadIdx.x, x0 = blockIdx.x * 16, y0 = blockIdx.y * 16;
    for (int i = t; i < 4 * 16 * 9; i += 256) (&w[0][0][0])[i] = weights[blockIdx.z * 576 + i];
    float acc[4] = {};
    for (int c = 0; c < channels; c++) {
        __syncthreads();
        for (int i = t; i < 18 * 18; i += 256) {
            int y = y0 + i / 18 - 1, x = x0 + i % 18 - 1;
            tile[i / 18][i % 18] = x >= 0 && y >= 0 && x < 128 && y < 128 ? __half2float(in[(c * 40 + y % 40) * 128 + x]) : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 9; k++) {
            float v = tile[threadIdx.y + k / 3][threadIdx.x + k % 3];
#pragma unroll
            for (int o = 0; o < 4; o++) acc[o] = fmaf(v, w[o][c][k], acc[o]);
        }
    }
#pragma unroll
    for (int o = 0; o < 4; o++) out[((blockIdx.z * 4 + o) * 128 + y0 + threadIdx.y) * 128 + x0 + threadIdx.x] = __float2half(fmaxf(acc[o], 0.01f * acc[o]));
}

//! rnn_steps 12 256 | f32:65536:-0.1:0.1 | f32:49152:-1:1 | out f32:49152 | s s32 16
// A block a sequence: the state of 256 in shared memory, weights from L2 every step, tanh.
extern "C" __global__ void rnn_steps(const float *__restrict__ W, const float *__restrict__ x, float *__restrict__ h, int steps)
{
    __shared__ float state[2][256];
    int t = threadIdx.x;
    state[0][t] = 0;
    __syncthreads();
    for (int k = 0; k < steps; k++) {
        float s = x[(blockIdx.x * 16 + k) * 256 + t];
#pragma unroll 16
        for (int j = 0; j < 256; j++) s = fmaf(W[j * 256 + t], state[k & 1][j], s);
        s = tanhf(s);
        state[k & 1 ^ 1][t] = s;
        h[(blockIdx.x * 16 + k) * 256 + t] = s;
        __syncthreads();
    }
}

//! knn_heap 66 64 | f32:12672:0:1 | f32:3072:0:1 | out u32:33792
// The eight nearest of 1024 points in three dimensions, kept sorted in registers by insertion.
extern "C" __global__ void knn_heap(const float *__restrict__ queries, const float *__restrict__ points, unsigned *__restrict__ out)
{
    __shared__ float s[3][256];
    int i = blockIdx.x * 64 + threadIdx.x, n = gridDim.x * 64;
    float x = queries[i], y = queries[n + i], z = queries[2 * n + i], best[8];
    unsigned who[8];
#pragma unroll
    for (int k = 0; k < 8; k++) best[k] = 1e30f, who[k] = ~0u;
    for (int base = 0; base < 1024; base += 256) {
        __syncthreads();
        for (int j = threadIdx.x; j < 768; j += 64) s[j / 256][j % 256] = points[j / 256 * 1024 + base + j % 256];
        __syncthreads();
        for (int j = 0; j < 256; j++) {
            float dx = s[0][j] - x, dy = s[1][j] - y, dz = s[2][j] - z, d = dx * dx + dy * dy + dz * dz;
            if (d >= best[7]) continue;
            unsigned id = base + j;
#pragma unroll
            for (int k = 0; k < 8; k++)
                if (d < best[k]) {
                    float f = best[k];
                    unsigned w = who[k];
                    best[k] = d, who[k] = id, d = f, id = w;
                }
        }
    }
#pragma unroll
    for (int k = 0; k < 8; k++) out[k * n + i] = who[k];
}

//! matmul_columns 16,16 16,16 | f32:65536:-1:1 | f32:65536:-1:1 | out f32:65536 | s s32 256
// The order of indices that beginners take: threadIdx.x along rows, so that nothing coalesces.
extern "C" __global__ void matmul_columns(const float *A, const float *B, float *C, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x, col = blockIdx.y * blockDim.y + threadIdx.y;
    float s = 0;
    for (int k = 0; k < n; k++) s += A[row * n + k] * B[k * n + col];
    C[row * n + col] = s;
}
