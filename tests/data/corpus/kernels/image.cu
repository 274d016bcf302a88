// Images and signals.
#include <cuComplex.h>
#include <stdint.h>

//! sobel_edges 8,16 32,8 | u8:32768 | out u8:32768 | s s32 256 | s s32 128
extern "C" __global__ void sobel_edges(const unsigned char *in, unsigned char *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
    const unsigned char *p = in + y * w + x;
    int gx = p[1 - w] + 2 * p[1] + p[1 + w] - p[-1 - w] - 2 * p[-1] - p[w - 1];
    int gy = p[w - 1] + 2 * p[w] + p[w + 1] - p[-w - 1] - 2 * p[-w] - p[-w + 1];
    float m = sqrtf((float)(gx * gx + gy * gy));
    out[y * w + x] = m > 255.0f ? 255 : (unsigned char)m;
}

//! bilateral 8,8 16,16 | f32:16384:0:1 | out f32:16384 | s s32 128 | s s32 2 | s f32 8 | s f32 20
extern "C" __global__ void bilateral(const float *in, float *out, int w, int r, float a, float b)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float centre = in[y * w + x], sum = 0, norm = 0;
    for (int dy = -r; dy <= r; dy++)
        for (int dx = -r; dx <= r; dx++) {
            int xx = min(max(x + dx, 0), w - 1), yy = min(max(y + dy, 0), w - 1);
            float v = in[yy * w + xx], d = v - centre, k = __expf(-(dx * dx + dy * dy) / a - d * d * b);
            sum += v * k;
            norm += k;
        }
    out[y * w + x] = sum / norm;
}

//! median3x3 8,16 32,8 | u16:32768 | out u16:32768 | s s32 256 | s s32 128
#define ORDER(a, b) { uint16_t lo = min(a, b), hi = max(a, b); a = lo; b = hi; }
extern "C" __global__ void median3x3(const uint16_t *in, uint16_t *out, int w, int h)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    uint16_t v[9];
#pragma unroll
    for (int k = 0; k < 9; k++) {
        int xx = min(max(x + k % 3 - 1, 0), w - 1), yy = min(max(y + k / 3 - 1, 0), h - 1);
        v[k] = in[yy * w + xx];
    }
    ORDER(v[1], v[2]) ORDER(v[4], v[5]) ORDER(v[7], v[8]) ORDER(v[0], v[1]) ORDER(v[3], v[4]) ORDER(v[6], v[7])
    ORDER(v[1], v[2]) ORDER(v[4], v[5]) ORDER(v[7], v[8]) ORDER(v[0], v[3]) ORDER(v[5], v[8]) ORDER(v[4], v[7])
    ORDER(v[3], v[6]) ORDER(v[1], v[4]) ORDER(v[2], v[5]) ORDER(v[4], v[7]) ORDER(v[4], v[2]) ORDER(v[6], v[4])
    ORDER(v[4], v[2])
    out[y * w + x] = v[4];
}

//! box_rows 16 64 | f32:65536:0:1 | out f32:65536 | s s32 64 | s s32 5
// A running sum down each column: one thread a column.
extern "C" __global__ void box_rows(const float *in, float *out, int h, int r)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, w = gridDim.x * blockDim.x;
    float s = in[x] * r;
    for (int y = 0; y < r + 1; y++) s += in[y * w + x];
    for (int y = 0; y < h; y++) {
        out[y * w + x] = s / (2 * r + 1);
        s += in[min(y + r + 1, h - 1) * w + x] - in[max(y - r, 0) * w + x];
    }
}

//! rgb_to_hsv 50 256 | u8:38400 | out f32:38400 | s s32 12800
extern "C" __global__ void rgb_to_hsv(const uchar3 *rgb, float3 *hsv, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uchar3 c = rgb[i];
    float r = c.x / 255.0f, g = c.y / 255.0f, b = c.z / 255.0f;
    float hi = fmaxf(r, fmaxf(g, b)), lo = fminf(r, fminf(g, b)), d = hi - lo, h = 0;
    if (d > 0) {
        if (hi == r) h = fmodf((g - b) / d + 6.0f, 6.0f);
        else if (hi == g) h = (b - r) / d + 2.0f;
        else h = (r - g) / d + 4.0f;
    }
    hsv[i] = make_float3(h * 60.0f, hi > 0 ? d / hi : 0.0f, hi);
}

//! integral_rows 64 128 | u8:32768 | out u32:32768
extern "C" __global__ void integral_rows(const uint8_t *in, uint32_t *out)
{
    __shared__ uint32_t sums[4];
    const uint32_t t = threadIdx.x, lane = t & 31;
    uchar4 v = reinterpret_cast<const uchar4 *>(in)[blockIdx.x * 128 + t];
    uint32_t a = v.x, b = a + v.y, c = b + v.z, d = c + v.w, s = d;
#pragma unroll
    for (int k = 1; k < 32; k *= 2) {
        uint32_t o = __shfl_up_sync(0xffffffff, s, k);
        if (lane >= k) s += o;
    }
    if (lane == 31) sums[t / 32] = s;
    __syncthreads();
    uint32_t base = s - d;
    for (uint32_t w = 0; w < t / 32; w++) base += sums[w];
    reinterpret_cast<uint4 *>(out)[blockIdx.x * 128 + t] = make_uint4(base + a, base + b, base + c, base + d);
}

__constant__ float cosines[64] = {
    0.353553f, 0.353553f, 0.353553f, 0.353553f, 0.353553f, 0.353553f, 0.353553f, 0.353553f,
    0.490393f, 0.415735f, 0.277785f, 0.097545f, -0.097545f, -0.277785f, -0.415735f, -0.490393f,
    0.461940f, 0.191342f, -0.191342f, -0.461940f, -0.461940f, -0.191342f, 0.191342f, 0.461940f,
    0.415735f, -0.097545f, -0.490393f, -0.277785f, 0.277785f, 0.490393f, 0.097545f, -0.415735f,
    0.353553f, -0.353553f, -0.353553f, 0.353553f, 0.353553f, -0.353553f, -0.353553f, 0.353553f,
    0.277785f, -0.490393f, 0.097545f, 0.415735f, -0.415735f, -0.097545f, 0.490393f, -0.277785f,
    0.191342f, -0.461940f, 0.461940f, -0.191342f, -0.191342f, 0.461940f, -0.461940f, 0.191342f,
    0.097545f, -0.277785f, 0.415735f, -0.490393f, 0.490393f, -0.415735f, 0.277785f, -0.097545f};
//! dct8x8 16,16 8,8 | f32:16384:-128:128 | out s16:16384 | s s32 128 | s f32 12
extern "C" __global__ void dct8x8(const float *in, short *out, int w, float q)
{
    __shared__ float a[8][9], b[8][9];
    int u = threadIdx.x, v = threadIdx.y, at = (blockIdx.y * 8 + v) * w + blockIdx.x * 8 + u;
    a[v][u] = in[at];
    __syncthreads();
    float s = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) s += cosines[u * 8 + k] * a[v][k];
    b[v][u] = s;
    __syncthreads();
    s = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) s += cosines[v * 8 + k] * b[k][u];
    out[at] = (short)rintf(s / (q + u + v));
}

//! haar_levels 32 128 | inout f32:8192:-1:1
extern "C" __global__ void haar_levels(float *data)
{
    __shared__ float s[256];
    float *p = data + blockIdx.x * 256;
    s[threadIdx.x] = p[threadIdx.x];
    s[threadIdx.x + 128] = p[threadIdx.x + 128];
    for (int n = 128; n >= 1; n >>= 1) {
        __syncthreads();
        float lo = 0, hi = 0;
        if (threadIdx.x < n) {
            float a = s[2 * threadIdx.x], b = s[2 * threadIdx.x + 1];
            lo = (a + b) * 0.70710678f;
            hi = (a - b) * 0.70710678f;
        }
        __syncthreads();
        if (threadIdx.x < n) {
            s[threadIdx.x] = lo;
            s[threadIdx.x + n] = hi;
        }
    }
    __syncthreads();
    p[threadIdx.x] = s[threadIdx.x];
    p[threadIdx.x + 128] = s[threadIdx.x + 128];
}

//! fft_stockham 32 64 | f32:16384:-1:1 | out f32:16384
// 256 points a block, radix 4, complex numbers of cuComplex.h.
extern "C" __global__ void fft_stockham(const cuFloatComplex *in, cuFloatComplex *out)
{
    __shared__ cuFloatComplex buf[2][256];
    int t = threadIdx.x, cur = 0;
    for (int k = 0; k < 4; k++) buf[0][t + 64 * k] = in[blockIdx.x * 256 + t + 64 * k];
    __syncthreads();
    for (int s = 1; s < 256; s *= 4) {
        int q = t % s, p = t / s;
        float angle = -6.28318530718f * p / (256 / s);
        cuFloatComplex w1, w2, w3;
        __sincosf(angle, &w1.y, &w1.x);
        w2 = cuCmulf(w1, w1);
        w3 = cuCmulf(w1, w2);
        cuFloatComplex a = buf[cur][t], b = buf[cur][t + 64], c = buf[cur][t + 128], d = buf[cur][t + 192];
        cuFloatComplex ac = cuCaddf(a, c), am = cuCsubf(a, c), bd = cuCaddf(b, d), bm = cuCsubf(b, d), jb = make_cuFloatComplex(bm.y, -bm.x);
        cuFloatComplex *o = &buf[cur ^ 1][q + s * 4 * p];
        o[0] = cuCaddf(ac, bd);
        o[s] = cuCmulf(w1, cuCaddf(am, jb));
        o[2 * s] = cuCmulf(w2, cuCsubf(ac, bd));
        o[3 * s] = cuCmulf(w3, cuCsubf(am, jb));
        cur ^= 1;
        __syncthreads();
    }
    for (int k = 0; k < 4; k++) out[blockIdx.x * 256 + t + 64 * k] = buf[cur][t + 64 * k];
}

//! ray_spheres 8,16 32,4 | f32:64:-2:2 | out f32:16384 | s s32 256 | s s32 16
struct Vec {
    float x, y, z;
    __device__ Vec operator-(Vec o) const { return {x - o.x, y - o.y, z - o.z}; }
    __device__ float dot(Vec o) const { return x * o.x + y * o.y + z * o.z; }
};
extern "C" __global__ void ray_spheres(const float4 *sphere, float *shade, int w, int n)
{
    int px = blockIdx.x * 32 + threadIdx.x, py = blockIdx.y * 4 + threadIdx.y;
    Vec o = {0, 0, -6}, d = {(px - 128) / 128.0f, (py - 32) / 128.0f, 2.0f};
    float inv = rsqrtf(d.dot(d));
    d = {d.x * inv, d.y * inv, d.z * inv};
    float nearest = 1e30f, light = 0;
    for (int i = 0; i < n; i++) {
        float4 s = sphere[i];
        Vec oc = o - Vec{s.x, s.y, s.z};
        float b = oc.dot(d), r = fabsf(s.w) * 0.5f, c = oc.dot(oc) - r * r, disc = b * b - c;
        if (disc <= 0) continue;
        float t = -b - sqrtf(disc);
        if (t > 0 && t < nearest) {
            nearest = t;
            Vec nrm = {(o.x + t * d.x - s.x) / r, (o.y + t * d.y - s.y) / r, (o.z + t * d.z - s.z) / r};
            light = fmaxf(0.1f, nrm.dot({0.57735f, 0.57735f, -0.57735f}));
        }
    }
    shade[py * w + px] = light;
}

//! julia_set 4,16 64,4 | out u8:16384 | s f32 -0.4 | s f32 0.6 | s s32 256
extern "C" __global__ void julia_set(uint8_t *out, float cr, float ci, int w)
{
    int x = blockIdx.x * 64 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y, n = 0;
    float a = (x - 128) / 80.0f, b = (y - 32) / 40.0f;
    while (n < 100 && a * a + b * b < 4.0f) {
        float t = a * a - b * b + cr;
        b = 2 * a * b + ci;
        a = t;
        n++;
    }
    out[y * w + x] = (uint8_t)n;
}
