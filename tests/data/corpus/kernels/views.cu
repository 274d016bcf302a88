// views.cu - images, signals, textures, geometry
#include <cstdint>
#include <cuda_fp16.h>
#define K extern "C" __global__ void

//! bilateral_5x5 10,10 16,16 | f32:25600:0:1 | out f32:25600 | s s32 160 | s s32 160 | s f32 8.0
K bilateral_5x5(const float *in, float *out, int w, int h, float k)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float c = in[y * w + x], s = 0, n = 0;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++) {
            int xx = min(max(x + dx, 0), w - 1), yy = min(max(y + dy, 0), h - 1);
            float v = in[yy * w + xx], d = v - c, g = __expf(-(dx * dx + dy * dy) * 0.25f - d * d * k);
            s += v * g;
            n += g;
        }
    out[y * w + x] = s / n;
}

//! integral_rows_anew 64 128 | u8:16384 | out u32:16384 | s s32 256
K integral_rows_anew(const uint8_t *in, uint32_t *out, int w)
{
    __shared__ uint32_t part[4];
    const uint8_t *r = in + blockIdx.x * w;
    int t = threadIdx.x, lane = t & 31;
    uchar2 v = ((const uchar2 *)r)[t];
    uint32_t s = v.x + v.y, own = s;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) { uint32_t o = __shfl_up_sync(~0u, s, d); if (lane >= d) s += o; }
    if (lane == 31) part[t / 32] = s;
    __syncthreads();
    for (int k = 0; k < t / 32; k++) s += part[k];
    uint32_t b = s - own;
    ((uint2 *)(out + blockIdx.x * w))[t] = make_uint2(b + v.x, s);
}

//! canny_thin_anew 10,10 16,16 | f32:25600:-1:1 | f32:25600:-1:1 | out f32:25600 | s s32 160 | s s32 160
K canny_thin_anew(const float *gx, const float *gy, float *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
    int i = y * w + x;
    auto mag = [&](int k) { return sqrtf(gx[k] * gx[k] + gy[k] * gy[k]); };
    float a = gx[i], b = gy[i], m = mag(i);
    int step;
    if (fabsf(b) < 0.41421356f * fabsf(a)) step = 1;
    else if (fabsf(a) < 0.41421356f * fabsf(b)) step = w;
    else step = a * b > 0 ? w + 1 : w - 1;
    out[i] = m >= mag(i + step) && m >= mag(i - step) ? m : 0.0f;
}

//! hough_votes 20 128 | s32:2560:0:128 | s32:2560:0:128 | zero u32:11520
K hough_votes(const int *px, const int *py, uint32_t *acc)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = px[i], y = py[i];
    for (int a = 0; a < 30; a++) {
        float s, c;
        __sincosf(a * 0.10471975f, &s, &c);
        int r = __float2int_rn(x * c + y * s) + 192;
        if (r >= 0 && r < 384) atomicAdd(&acc[a * 384 + r], 1u);
    }
}

//! texture_lens 10,10 16,16 | {"texture": "f32", "width": 128, "height": 128, "filter": "linear", "address": "clamp", "init": {"hash": 42901}} | out f32:25600 | s f32 0.3
K texture_lens(cudaTextureObject_t tex, float *out, float k)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float u = (x - 80) / 80.0f, v = (y - 80) / 80.0f, r2 = u * u + v * v, acc = 0;
    for (int s = 0; s < 4; s++) {
        float f = 1.0f + (k + 0.01f * s) * r2;
        acc += tex2D<float>(tex, 64.0f + 64.0f * u * f + 0.5f, 64.0f + 64.0f * v * f + 0.5f);
    }
    out[y * 160 + x] = acc * 0.25f;
}

//! median_of_25_histogram 8,8 8,8 | u8:4624 | out u8:4096
K median_of_25_histogram(const uint8_t *in, uint8_t *out)
{
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    uint8_t v[25];
    for (int k = 0; k < 25; k++) v[k] = in[(y + k / 5) * 68 + x + k % 5];
    int lo = 0, hi = 255;
    while (lo < hi) {
        int mid = (lo + hi) / 2, n = 0;
        for (int k = 0; k < 25; k++) n += v[k] <= mid;
        if (n >= 13) hi = mid;
        else lo = mid + 1;
    }
    out[y * 64 + x] = (uint8_t)lo;
}

//! fft_16_registers 20 64 | f32:40960:-1:1 | out f32:40960
K fft_16_registers(const float2 *in, float2 *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float2 v[16];
#pragma unroll
    for (int k = 0; k < 16; k++) v[__brev(k) >> 28] = in[16 * i + k];
#pragma unroll
    for (int len = 2; len <= 16; len *= 2) {
#pragma unroll
        for (int b = 0; b < 16; b += len)
#pragma unroll
            for (int k = 0; k < len / 2; k++) {
                float a = -6.2831853f * k / len, c = cosf(a), s = sinf(a);
                float2 u = v[b + k], t = v[b + k + len / 2];
                float2 q = make_float2(t.x * c - t.y * s, t.x * s + t.y * c);
                v[b + k] = make_float2(u.x + q.x, u.y + q.y);
                v[b + k + len / 2] = make_float2(u.x - q.x, u.y - q.y);
            }
    }
#pragma unroll
    for (int k = 0; k < 16; k++) out[16 * i + k] = v[k];
}

//! goertzel_tones_anew 10 128 | f32:25600:-1:1 | out f32:10240 | s s32 20
K goertzel_tones_anew(const float *x, float *out, int n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const float *p = x + i * n;
    for (int tone = 0; tone < 8; tone++) {
        float c = 2.0f * cosf(0.3f * (tone + 1)), s1 = 0, s2 = 0;
        for (int k = 0; k < n; k++) { float s0 = p[k] + c * s1 - s2; s2 = s1; s1 = s0; }
        out[i * 8 + tone] = s1 * s1 + s2 * s2 - c * s1 * s2;
    }
}

//! iir_cascade 10 64 | f32:40960:-1:1 | f32:20:-0.4:0.4 | out f32:40960
K iir_cascade(const float *in, const float *coef, float *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float z1[4] = {0, 0, 0, 0}, z2[4] = {0, 0, 0, 0};
    for (int k = 0; k < 64; k++) {
        float v = in[k * 640 + i];
#pragma unroll
        for (int s = 0; s < 4; s++) {
            float y = coef[5 * s] * v + z1[s];
            z1[s] = coef[5 * s + 1] * v - coef[5 * s + 3] * y + z2[s];
            z2[s] = coef[5 * s + 2] * v - coef[5 * s + 4] * y;
            v = y;
        }
        out[k * 640 + i] = v;
    }
}

//! haar_in_shared 24 128 | f32:6144:-1:1 | out f32:6144
K haar_in_shared(const float *in, float *out)
{
    __shared__ float a[256], b[256];
    int t = threadIdx.x;
    a[t] = in[blockIdx.x * 256 + t];
    a[t + 128] = in[blockIdx.x * 256 + t + 128];
    __syncthreads();
    for (int n = 128; n >= 1; n /= 2) {
        if (t < n) {
            float x = a[2 * t], y = a[2 * t + 1];
            b[t] = (x + y) * 0.70710678f;
            b[t + n] = (x - y) * 0.70710678f;
        }
        __syncthreads();
        for (int k = t; k < 2 * n; k += 128) a[k] = b[k];
        __syncthreads();
    }
    out[blockIdx.x * 256 + t] = a[t];
    out[blockIdx.x * 256 + t + 128] = a[t + 128];
}

//! ray_triangles 20 128 | f32:15360:-1:1 | f32:576:-2:2 | out f32:2560 | out s32:2560 | s s32 64
struct v3 { float x, y, z; };
__device__ __forceinline__ v3 operator-(v3 a, v3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__device__ __forceinline__ v3 cross(v3 a, v3 b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
__device__ __forceinline__ float dot(v3 a, v3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
K ray_triangles(const v3 *rays, const v3 *tri, float *dist, int *hit, int n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    v3 o = rays[2 * i], d = rays[2 * i + 1];
    float best = 1e30f;
    int at = -1;
    for (int k = 0; k < n; k++) {
        v3 a = tri[3 * k], e1 = tri[3 * k + 1] - a, e2 = tri[3 * k + 2] - a, p = cross(d, e2);
        float det = dot(e1, p);
        if (fabsf(det) < 1e-7f) continue;
        float inv = 1.0f / det;
        v3 s = o - a;
        float u = dot(s, p) * inv;
        if (u < 0 || u > 1) continue;
        v3 q = cross(s, e1);
        float v = dot(d, q) * inv;
        if (v < 0 || u + v > 1) continue;
        float t = dot(e2, q) * inv;
        if (t > 1e-4f && t < best) { best = t; at = k; }
    }
    dist[i] = best;
    hit[i] = at;
}

//! point_in_polygon 20 128 | f32:5120:-1:1 | f32:96:-1:1 | out u8:2560 | s s32 48
K point_in_polygon(const float2 *pt, const float2 *poly, uint8_t *out, int n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float2 p = pt[i];
    bool in = false;
    for (int a = 0, b = n - 1; a < n; b = a++) {
        float2 u = poly[a], v = poly[b];
        if ((u.y > p.y) != (v.y > p.y) && p.x < (v.x - u.x) * (p.y - u.y) / (v.y - u.y) + u.x) in = !in;
    }
    out[i] = in;
}

//! sdf_march 8,8 16,16 | out f32:16384 | s f32 0.7
K sdf_march(float *out, float time)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float dx = (x - 64) / 64.0f, dy = (y - 64) / 64.0f, dz = 1.5f, il = rsqrtf(dx * dx + dy * dy + dz * dz);
    dx *= il; dy *= il; dz *= il;
    float t = 0;
    int steps = 0;
    for (; steps < 48; steps++) {
        float px = dx * t, py = dy * t, pz = dz * t - 3.0f;
        float sphere = sqrtf(px * px + py * py + pz * pz) - 1.0f;
        float qx = fabsf(px - time) - 0.5f, qy = fabsf(py) - 0.5f, qz = fabsf(pz) - 0.5f;
        float mx = fmaxf(qx, 0), my = fmaxf(qy, 0), mz = fmaxf(qz, 0);
        float box = sqrtf(mx * mx + my * my + mz * mz) + fminf(fmaxf(qx, fmaxf(qy, qz)), 0.0f);
        float d = fminf(sphere, box);
        if (d < 1e-3f) break;
        t += d;
        if (t > 10.0f) break;
    }
    out[y * 128 + x] = t + steps;
}

//! quantise_rgb 40 128 | u32:5120 | u32:16 | out u8:5120
K quantise_rgb(const uchar4 *px, const uchar4 *pal, uint8_t *out)
{
    __shared__ uchar4 p[16];
    if (threadIdx.x < 16) p[threadIdx.x] = pal[threadIdx.x];
    __syncthreads();
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    uchar4 c = px[i];
    int best = 1 << 30, at = 0;
    for (int k = 0; k < 16; k++) {
        int dr = c.x - p[k].x, dg = c.y - p[k].y, db = c.z - p[k].z, d = 2 * dr * dr + 4 * dg * dg + 3 * db * db;
        if (d < best) { best = d; at = k; }
    }
    out[i] = (uint8_t)at;
}

//! sepia_half2 40 128 | f16:30720:0:1 | out f16:30720
K sepia_half2(const __half *in, __half *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const __half2 *p = (const __half2 *)in + 3 * i;
    __half2 r = p[0], g = p[1], b = p[2];
    __half2 nr = __hfma2(b, __float2half2_rn(0.189f), __hfma2(g, __float2half2_rn(0.769f), __hmul2(r, __float2half2_rn(0.393f))));
    __half2 ng = __hfma2(b, __float2half2_rn(0.168f), __hfma2(g, __float2half2_rn(0.686f), __hmul2(r, __float2half2_rn(0.349f))));
    __half2 nb = __hfma2(b, __float2half2_rn(0.131f), __hfma2(g, __float2half2_rn(0.534f), __hmul2(r, __float2half2_rn(0.272f))));
    __half2 one = __float2half2_rn(1.0f);
    __half2 *q = (__half2 *)out + 3 * i;
    q[0] = __hmin2(nr, one); q[1] = __hmin2(ng, one); q[2] = __hmin2(nb, one);
}
