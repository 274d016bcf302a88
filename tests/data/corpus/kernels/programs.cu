// Strings, interpreters, objects, finance and data mining; asynchronous copies.
#include <cuda_pipeline.h>
#include <stdint.h>

//! levenshtein 32 64 | u8:65536:97:101 | u8:32:97:101 | out s32:2048
// One text of 32 letters a thread against one pattern, the row of distances in a local array.
extern "C" __global__ void levenshtein(const uint8_t *text, const uint8_t *pattern, int *distance)
{
    int row[33];
    const uint8_t *t = text + (blockIdx.x * blockDim.x + threadIdx.x) * 32;
    for (int j = 0; j <= 32; j++) row[j] = j;
    for (int i = 1; i <= 32; i++) {
        int diagonal = row[0], c = t[i - 1];
        row[0] = i;
        for (int j = 1; j <= 32; j++) {
            int up = row[j], best = diagonal + (c != pattern[j - 1]);
            best = min(best, min(up, row[j - 1]) + 1);
            diagonal = up;
            row[j] = best;
        }
    }
    distance[blockIdx.x * blockDim.x + threadIdx.x] = row[32];
}

//! smith_waterman 40 128 | u8:5120:0:4 | u8:5120:0:4 | out s32:40
// Antidiagonals in shared memory: thread i owns row i.
extern "C" __global__ void smith_waterman(const uint8_t *a, const uint8_t *b, int *score)
{
    __shared__ int h[3][129], seq[128];
    __shared__ int best;
    int i = threadIdx.x, mine = 0;
    uint8_t c = a[blockIdx.x * 128 + i];
    seq[i] = b[blockIdx.x * 128 + i];
    for (int k = 0; k < 3; k++) h[k][i] = 0, h[k][128] = 0;
    if (i == 0) best = 0;
    __syncthreads();
    for (int d = 0; d < 255; d++) {
        int j = d - i, cur = d % 3, p1 = (d + 2) % 3, p2 = (d + 1) % 3, v = 0;
        if (j >= 0 && j < 128) {
            v = max(h[p2][i] + (c == seq[j] ? 3 : -2), max(h[p1][i], h[p1][i + 1]) - 1);
            v = max(v, 0);
            mine = max(mine, v);
        }
        __syncthreads();
        h[cur][i + 1] = v;
        __syncthreads();
    }
    atomicMax(&best, mine);
    __syncthreads();
    if (i == 0) score[blockIdx.x] = best;
}

__constant__ char needle[8] = {'a', 'b', 'a', 'c', 'a', 'b', 'a', 0};
//! string_search 64 256 | u8:65600:97:100 | out s32:16384
extern "C" __global__ void string_search(const char *text, int *hits)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, n = 0;
    for (int k = 0; k < 4; k++) {
        const char *p = text + t * 4 + k;
        int m = 0;
        while (needle[m] && p[m] == needle[m]) m++;
        n += m >= 4 ? m : 0;
    }
    hits[t] = n;
}

//! stack_machine 32 128 | u8:24:0:8 | s32:4096:-100:100 | out s32:4096 | s s32 24
extern "C" __global__ void stack_machine(const uint8_t *code, const int *in, int *out, int n)
{
    int x = in[blockIdx.x * blockDim.x + threadIdx.x], st[8] = {}, sp = 0, acc = x;
    st[0] = x;
    for (int round = 0; round < 4; round++)
        for (int pc = 0; pc < n; pc++) {
            switch ((code[pc] + (x & 1)) & 7) {
            case 0: acc += st[sp]; break;
            case 1: sp = (sp + 1) & 7; st[sp] = acc; break;
            case 2: acc *= 3; break;
            case 3: acc ^= acc >> 3; break;
            case 4: sp = (sp + 7) & 7; break;
            case 5: acc -= x; break;
            case 6: if (acc < 0) pc++; break;
            default: acc = acc / 5 + pc; break;
            }
            if (sp == 0) st[0] = acc;
        }
    out[blockIdx.x * blockDim.x + threadIdx.x] = acc;
}

//! virtual_shapes 32 128 | f32:4096:0.5:2 | out f32:4096 | s s32 6
struct Shape {
    __device__ virtual float area(float s) const = 0;
    __device__ virtual float edge(float s) const { return 4 * s; }
};
struct Box : Shape {
    float w;
    __device__ Box(float x) : w(x) {}
    __device__ float area(float s) const override { return w * s * s; }
};
struct Disc : Shape {
    __device__ float area(float s) const override { return 3.14159265f * s * s; }
    __device__ float edge(float s) const override { return 6.2831853f * s; }
};
struct Ring : Disc {
    float inner;
    __device__ Ring(float x) : inner(x) {}
    __device__ float area(float s) const override { return Disc::area(s) - Disc::area(s * inner); }
};
extern "C" __global__ void virtual_shapes(const float *size, float *out, int rounds)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    Box box(1.5f);
    Disc disc;
    Ring ring(0.25f);
    const Shape *all[3] = {&box, &disc, &ring};
    float s = size[t], sum = 0;
    for (int k = 0; k < rounds; k++) {
        const Shape *p = all[(t / 16 + k) % 3];
        sum += p->area(s) / p->edge(s + k);
    }
    out[t] = sum;
}

//! binomial_option 40 128 | f32:40:80:120 | f32:40:90:110 | out f32:40 | s f32 0.02 | s f32 0.3 | s f32 0.5
extern "C" __global__ void binomial_option(const float *spot, const float *strike, float *price, float rate, float sigma, float years)
{
    __shared__ float v[129];
    const int n = 127;
    float dt = years / n, u = expf(sigma * sqrtf(dt)), d = 1 / u, disc = expf(-rate * dt), p = (expf(rate * dt) - d) / (u - d);
    float s = spot[blockIdx.x], x = strike[blockIdx.x];
    int i = threadIdx.x;
    v[i] = fmaxf(s * powf(u, (float)(2 * i - n)) - x, 0.0f);
    __syncthreads();
    for (int step = n; step > 0; step--) {
        float w = 0;
        if (i < step) w = disc * (p * v[i + 1] + (1 - p) * v[i]);
        __syncthreads();
        if (i < step) v[i] = w;
        __syncthreads();
    }
    if (i == 0) price[blockIdx.x] = v[0];
}

//! kmeans_assign 64 128 | f32:65536:-1:1 | f32:128:-1:1 | out s32:8192 | out s32:16
extern "C" __global__ void kmeans_assign(const float *point, const float *centre, int *label, int *size)
{
    __shared__ float c[16][8];
    __shared__ int count[16];
    if (threadIdx.x < 16) count[threadIdx.x] = 0;
    (&c[0][0])[threadIdx.x] = centre[threadIdx.x];
    __syncthreads();
    int t = blockIdx.x * 128 + threadIdx.x, best = 0;
    float x[8], least = INFINITY;
    for (int k = 0; k < 8; k++) x[k] = point[t * 8 + k];
    for (int j = 0; j < 16; j++) {
        float d = 0;
        for (int k = 0; k < 8; k++) d += (x[k] - c[j][k]) * (x[k] - c[j][k]);
        if (d < least) least = d, best = j;
    }
    label[t] = best;
    atomicAdd(&count[best], 1);
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(&size[threadIdx.x], count[threadIdx.x]);
}

//! knn_brute 32 64 | f32:4096:-1:1 | f32:1024:-1:1 | out s32:8192 | s s32 512
extern "C" __global__ void knn_brute(const float2 *query, const float2 *data, int *nearest, int n)
{
    float2 q = query[blockIdx.x * 64 + threadIdx.x];
    float d[4] = {1e9f, 1e9f, 1e9f, 1e9f};
    int id[4] = {-1, -1, -1, -1};
    for (int j = 0; j < n; j++) {
        float x = data[j].x - q.x, y = data[j].y - q.y, r = x * x + y * y;
        if (r >= d[3]) continue;
        int k = 3;
#pragma unroll
        for (int m = 3; m > 0; m--)
            if (r < d[m - 1]) {
                d[m] = d[m - 1];
                id[m] = id[m - 1];
                k = m - 1;
            }
#pragma unroll
        for (int m = 0; m < 4; m++)
            if (m == k) d[m] = r, id[m] = j;
    }
    for (int k = 0; k < 4; k++) nearest[(blockIdx.x * 64 + threadIdx.x) * 4 + k] = id[k];
}

//! pipeline_copy 40 128 | f32:163840:-1:1 | out f32:5120 | s s32 8
// Two stages of 16-byte asynchronous copies ahead of the arithmetic.
extern "C" __global__ void pipeline_copy(const float4 *in, float *out, int tiles)
{
    __shared__ float4 stage[3][128];
    const float4 *p = in + blockIdx.x * tiles * 128;
    float s = 0;
    for (int k = 0; k < 2; k++) {
        __pipeline_memcpy_async(&stage[k][threadIdx.x], p + k * 128 + threadIdx.x, 16);
        __pipeline_commit();
    }
    for (int k = 0; k < tiles; k++) {
        if (k + 2 < tiles) __pipeline_memcpy_async(&stage[(k + 2) % 3][threadIdx.x], p + (k + 2) * 128 + threadIdx.x, 16);
        __pipeline_commit();
        __pipeline_wait_prior(2);
        __syncthreads();
        float4 v = stage[k % 3][threadIdx.x ^ 1], w = stage[k % 3][127 - threadIdx.x];
        s = fmaf(v.x, w.y, s) + v.z * w.w;
        __syncthreads();
    }
    out[blockIdx.x * 128 + threadIdx.x] = s;
}

//! bank_conflicts 40 256 | s32:256:0:256 | out s32:10240 | s s32 20
extern "C" __global__ void bank_conflicts(const int *perm, int *out, int rounds)
{
    __shared__ int s[16 * 256];
    for (int k = 0; k < 16; k++) s[k * 256 + threadIdx.x] = perm[(threadIdx.x + k) & 255];
    __syncthreads();
    int acc = 0, at = threadIdx.x;
    for (int k = 1; k <= rounds; k++) {
        acc += s[(at * k) & 4095];
        at = s[(threadIdx.x * 8 + acc) & 4095] + k;
    }
    out[blockIdx.x * 256 + threadIdx.x] = acc + at;
}

//! tensor_contract 16 4,4,8 | f32:8192:-1:1 | f32:4096:-1:1 | out f32:8192
// Templates over dimensions, indices computed at run time.
template <int... D> struct Index;
template <int A, int B, int C> struct Index<A, B, C> {
    __device__ static int at(int i, int j, int k) { return (i * B + j) * C + k; }
};
extern "C" __global__ void tensor_contract(const float *a, const float *b, float *c)
{
    using Ia = Index<16, 32, 16>;
    using Ib = Index<16, 16, 16>;
    int i = blockIdx.x, j = threadIdx.z * 4 + threadIdx.y, k0 = threadIdx.x * 4;
    float acc[4] = {0, 0, 0, 0};
    for (int l = 0; l < 16; l++)
        for (int k = 0; k < 4; k++) acc[k] += a[Ia::at(i, j, l)] * b[Ib::at(l, i, k0 + k) & 4095];
    for (int k = 0; k < 4; k++) c[((i * 32 + j) * 4 + threadIdx.x) * 4 + k] = acc[k];
}
