/* optics.cu - lenses, rays, photons, pictures, and tensor cores that mix channels. */
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

//! blur_rows_rgba 5,120 64 | u32:38400 | out u32:38400 | s s32 320
// five taps 1 4 6 4 1 along a row; the edge repeats
extern "C" __global__ void blur_rows_rgba(const uchar4 *src, uchar4 *dst, int width)
{
    __shared__ uchar4 line[64 + 4];
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const uchar4 *row = src + blockIdx.y * width;
    line[threadIdx.x + 2] = row[x];
    if (threadIdx.x < 2) {
        line[threadIdx.x] = row[max(x - 2, 0)];
        line[threadIdx.x + 66] = row[min(x + 64, width - 1)];
    }
    __syncthreads();
    const uchar4 a = line[threadIdx.x], b = line[threadIdx.x + 1], c = line[threadIdx.x + 2], d = line[threadIdx.x + 3], e = line[threadIdx.x + 4];
    uchar4 r;
    r.x = (a.x + 4 * b.x + 6 * c.x + 4 * d.x + e.x + 8) >> 4;
    r.y = (a.y + 4 * b.y + 6 * c.y + 4 * d.y + e.y + 8) >> 4;
    r.z = (a.z + 4 * b.z + 6 * c.z + 4 * d.z + e.z + 8) >> 4;
    r.w = c.w;
    dst[blockIdx.y * width + x] = r;
}

struct Complex {
    float re, im;
    __device__ Complex(float a, float b) : re(a), im(b) {}
    __device__ Complex operator*(const Complex &o) const { return Complex(re * o.re - im * o.im, im * o.re + re * o.im); }
    __device__ Complex operator-(const Complex &o) const { return Complex(re - o.re, im - o.im); }
    __device__ Complex operator/(const Complex &o) const
    {
        float d = o.re * o.re + o.im * o.im;
        return Complex((re * o.re + im * o.im) / d, (im * o.re - re * o.im) / d);
    }
    __device__ float norm2() const { return re * re + im * im; }
};

//! newton_basins 6,12 32,8 | out u8:18432 | s s32 192 | s s32 96
extern "C" __global__ void newton_basins(unsigned char *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    Complex z(3.0f * x / w - 1.49f, 3.0f * y / h - 1.51f), one(1.0f, 0.0f);
    int n;
    for (n = 0; n < 40; n++) {
        Complex z2 = z * z, f = z2 * z - one;
        if (f.norm2() < 1e-8f) break;
        z = z - f / (Complex(3.0f, 0.0f) * z2);
    }
    int root = z.re > 0 ? 0 : z.im > 0 ? 1 : 2;
    out[y * w + x] = root * 64 + n;
}

__device__ __noinline__ float scene_distance(float x, float y, float z)
{
    float fx = x - 2.0f * rintf(x * 0.5f), fz = z - 2.0f * rintf(z * 0.5f);
    float sphere = sqrtf(fx * fx + y * y + fz * fz) - 0.45f;
    float ax = fabsf(fx) - 0.3f, ay = fabsf(y - 0.7f) - 0.1f, az = fabsf(fz) - 0.3f;
    float box = fmaxf(ax, fmaxf(ay, az));
    return fminf(fminf(sphere, box), y + 0.5f);
}

//! march_fields 8,16 16,8 | out f32:16384 | s s32 128 | s s32 128
extern "C" __global__ void march_fields(float *depth, int w, int h)
{
    int px = blockIdx.x * 16 + threadIdx.x, py = blockIdx.y * 8 + threadIdx.y;
    float dx = (px + 0.5f) / w - 0.5f, dy = 0.5f - (py + 0.5f) / h, dz = 1.0f;
    float inv = rsqrtf(dx * dx + dy * dy + dz * dz), t = 0.0f;
    dx *= inv;
    dy *= inv;
    dz *= inv;
    for (int i = 0; i < 64; i++) {
        float d = scene_distance(0.3f + t * dx, 0.9f + t * dy, -3.0f + t * dz);
        if (d < 0.001f) break;
        t += d;
        if (t > 20.0f) {
            t = -1.0f;
            break;
        }
    }
    depth[py * w + px] = t;
}

struct Surface {
    float radius, position, index, aperture;
};
__constant__ Surface lens[6] = {{29.475f, 0.0f, 1.67f, 12.0f},   {84.83f, 3.76f, 1.0f, 12.0f},  {19.275f, 3.88f, 1.67f, 11.0f},
                                {40.77f, 7.9f, 1.699f, 10.0f},   {12.75f, 9.6f, 1.0f, 8.5f},    {-14.495f, 20.0f, 1.603f, 8.0f}};

//! lens_system 48 256 | f32:49152:-9:9 | out f32:24576
// a ray through six surfaces: it may miss one, meet a stop, or be reflected altogether
extern "C" __global__ void lens_system(const float4 *ray, float2 *hit)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    float4 r = ray[id];
    float px = r.x, py = r.y, pz = -20.0f, dx = 0.02f * r.z, dy = 0.02f * r.w, dz = 1.0f, n = 1.0f;
    float l = rsqrtf(dx * dx + dy * dy + dz * dz);
    dx *= l, dy *= l, dz *= l;
    hit[id] = make_float2(-1e9f, -1e9f);
    for (int s = 0; s < 6; s++) {
        float R = lens[s].radius, cz = pz - lens[s].position - R;
        float b = px * dx + py * dy + cz * dz, c = px * px + py * py + cz * cz - R * R, disc = b * b - c;
        if (disc < 0) return;
        float t = -b + (R > 0 ? -sqrtf(disc) : sqrtf(disc));
        px += t * dx, py += t * dy, pz += t * dz;
        if (px * px + py * py > lens[s].aperture * lens[s].aperture) return;
        float nx = px / R, ny = py / R, nz = (pz - lens[s].position - R) / R;
        float cosi = -(nx * dx + ny * dy + nz * dz);
        if (cosi < 0) nx = -nx, ny = -ny, nz = -nz, cosi = -cosi;
        float eta = n / lens[s].index, k = 1 - eta * eta * (1 - cosi * cosi);
        if (k < 0) return;
        float g = eta * cosi - sqrtf(k);
        dx = eta * dx + g * nx, dy = eta * dy + g * ny, dz = eta * dz + g * nz;
        n = lens[s].index;
    }
    float t = (50.0f - pz) / dz;
    hit[id] = make_float2(px + t * dx, py + t * dy);
}

//! thin_films 20 192 | f64:16:1.2:2.5 | f64:16:50:200 | out f64:3840
// reflectance of sixteen layers by the product of their matrices, a wavelength a thread
extern "C" __global__ void thin_films(const double *index, const double *thick, double *reflectance)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    double k = 6.283185307179586 / (350.0 + 0.1 * id);
    double a = 1, b = 0, c = 0, d = 1;
    for (int i = 0; i < 16; i++) {
        double n = index[i], s, co;
        sincos(k * n * thick[i], &s, &co);
        double m01 = s / n, m10 = s * n;
        double na = a * co - b * m10, nb = a * m01 + b * co, nc = c * co + d * m10, nd = d * co - c * m01;
        a = na, b = nb, c = nc, d = nd;
    }
    double ns = 1.52, re = a - ns * d, im = ns * b - c, pr = a + ns * d, pi = ns * b + c;
    reflectance[id] = (re * re + im * im) / (pr * pr + pi * pi);
}

//! filmic_tones 75 256 | f32:76800:0:8 | out u32:19200 | s f32 0.8 | s s32 19200
extern "C" __global__ void filmic_tones(const float4 *__restrict__ hdr, uchar4 *__restrict__ ldr, float exposure, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 c = hdr[i];
    float v[3] = {c.x, c.y, c.z};
    for (int k = 0; k < 3; k++) {
        float x = fmaxf(v[k] * exposure - 0.004f, 0.0f);
        x = (x * (6.2f * x + 0.5f)) / (x * (6.2f * x + 1.7f) + 0.06f);
        v[k] = x < 0.0031308f ? 12.92f * x : 1.055f * powf(x, 1.0f / 2.4f) - 0.055f;
    }
    ldr[i] = make_uchar4(__float2uint_rn(255 * v[0]), __float2uint_rn(255 * v[1]), __float2uint_rn(255 * v[2]), 255);
}

//! blend_half2 264 128 | f16:270336:0:1 | inout f16:270336:0:1 | s s32 33792
extern "C" __global__ void blend_half2(const uint4 *over, uint4 *under, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        uint4 s = over[i], d = under[i];
        __half2 *a = (__half2 *)&s, *b = (__half2 *)&d;
        __half2 alpha = __half2half2(__high2half(a[3])), beta = __hsub2(__float2half2_rn(1.0f), alpha);
#pragma unroll
        for (int k = 0; k < 4; k++) b[k] = __hfma2(a[k], alpha, __hmul2(b[k], beta));
        under[i] = d;
    }
}

//! dilate_disc 10,10 16,16 | u8:25600:0:256 | out u8:25600 | s s32 160 | s s32 160
extern "C" __global__ void dilate_disc(const unsigned char *in, unsigned char *out, int w, int h)
{
    __shared__ unsigned char t[20][20];
    int bx = blockIdx.x * 16, by = blockIdx.y * 16;
    for (int i = threadIdx.y * 16 + threadIdx.x; i < 400; i += 256) {
        int x = bx + i % 20 - 2, y = by + i / 20 - 2;
        t[i / 20][i % 20] = (x >= 0 && x < w && y >= 0 && y < h) ? in[y * w + x] : 0;
    }
    __syncthreads();
    int best = 0;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++)
            if (dx * dx + dy * dy <= 5)
                best = max(best, (int)t[threadIdx.y + 2 + dy][threadIdx.x + 2 + dx]);
    out[(by + threadIdx.y) * w + bx + threadIdx.x] = best;
}

//! otsu_blocks 18 256 | u8:73728 | out s32:18 | out f32:18
extern "C" __global__ void otsu_blocks(const unsigned char *img, int *threshold, float *separation)
{
    __shared__ unsigned hist[256];
    __shared__ float weight[256], moment[256], best[256];
    __shared__ int arg[256];
    int t = threadIdx.x;
    hist[t] = 0;
    __syncthreads();
    const uchar4 *p = (const uchar4 *)(img + blockIdx.x * 4096);
    for (int i = t; i < 1024; i += 256) {
        uchar4 q = p[i];
        atomicAdd(&hist[q.x], 1u);
        atomicAdd(&hist[q.y], 1u);
        atomicAdd(&hist[(q.z + q.x) >> 1], 1u);
        atomicAdd(&hist[q.w], 1u);
    }
    __syncthreads();
    weight[t] = hist[t] / 4096.0f;
    moment[t] = t * weight[t];
    __syncthreads();
    for (int d = 1; d < 256; d <<= 1) {
        float a = t >= d ? weight[t - d] : 0, b = t >= d ? moment[t - d] : 0;
        __syncthreads();
        weight[t] += a;
        moment[t] += b;
        __syncthreads();
    }
    float w0 = weight[t], w1 = 1 - w0, mu = moment[255];
    float diff = mu * w0 - moment[t];
    best[t] = (w0 > 0 && w1 > 1e-6f) ? diff * diff / (w0 * w1) : 0;
    arg[t] = t;
    for (int s = 128; s; s >>= 1) {
        __syncthreads();
        if (t < s && best[t + s] > best[t]) {
            best[t] = best[t + s];
            arg[t] = arg[t + s];
        }
    }
    if (t == 0) {
        threshold[blockIdx.x] = arg[0];
        separation[blockIdx.x] = best[0];
    }
}

//! bayer_rggb 10,15 32,8 | u16:38400:0:4096 | out u16:153600 | s s32 320 | s s32 120
extern "C" __global__ void bayer_rggb(const unsigned short *raw, ushort4 *rgb, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int xm = x > 0 ? x - 1 : 1, xp = x < w - 1 ? x + 1 : w - 2, ym = y > 0 ? y - 1 : 1, yp = y < h - 1 ? y + 1 : h - 2;
    unsigned c = raw[y * w + x];
    unsigned cross = (raw[y * w + xm] + raw[y * w + xp] + raw[ym * w + x] + raw[yp * w + x]) / 4;
    unsigned diag = (raw[ym * w + xm] + raw[ym * w + xp] + raw[yp * w + xm] + raw[yp * w + xp]) / 4;
    unsigned hor = (raw[y * w + xm] + raw[y * w + xp]) / 2, ver = (raw[ym * w + x] + raw[yp * w + x]) / 2;
    ushort4 o;
    o.w = 4095;
    if ((y & 1) == 0) {
        if ((x & 1) == 0)
            o.x = c, o.y = cross, o.z = diag;
        else
            o.x = hor, o.y = c, o.z = ver;
    } else {
        if ((x & 1) == 0)
            o.x = ver, o.y = c, o.z = hor;
        else
            o.x = diag, o.y = cross, o.z = c;
    }
    rgb[y * w + x] = o;
}

//! photon_depths 12 128 | zero u64:64 | out u32:1536 | s u32 4242
// photons in a murky layer: steps, scatterings and a roulette, of very different lengths
extern "C" __global__ void photon_depths(unsigned long long *absorbed, unsigned *lifetime, unsigned seed)
{
    __shared__ unsigned long long layer[64];
    if (threadIdx.x < 64) layer[threadIdx.x] = 0;
    __syncthreads();
    unsigned s = seed + 7919u * (blockIdx.x * blockDim.x + threadIdx.x);
    float z = 0, mu = 1, w = 1;
    unsigned n = 0;
    for (;; n++) {
        s = s * 1664525u + 1013904223u;
        z += mu * -__logf(((s >> 8) + 0.5f) / 16777216.0f) * 0.1f;
        if (z < 0 || z >= 4 || n > 400) break;
        float lost = 0.15f * w;
        w -= lost;
        atomicAdd(&layer[(int)(z * 16)], (unsigned long long)(lost * 1048576.0f));
        s = s * 1664525u + 1013904223u;
        mu = (s >> 8) * (2.0f / 16777216.0f) - 1;
        if (w < 0.05f) {
            s = s * 1664525u + 1013904223u;
            if (s >> 29) break;
            w *= 8;
        }
    }
    lifetime[blockIdx.x * blockDim.x + threadIdx.x] = n;
    __syncthreads();
    if (threadIdx.x < 64 && layer[threadIdx.x]) atomicAdd(&absorbed[threadIdx.x], layer[threadIdx.x]);
}

//! wmma_tall_32x8 2,6 96 | f16:12288:-1:1 | f16:6144:-1:1 | out f32:18432 | s s32 64
// 192 x 64 times 64 x 96, fragments of 32 x 8 x 16, two side by side a warp; A by rows, B by columns
extern "C" __global__ void wmma_tall_32x8(const __half *a, const __half *b, float *c, int depth)
{
    using namespace nvcuda;
    wmma::fragment<wmma::matrix_a, 32, 8, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 32, 8, 16, __half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 32, 8, 16, float> acc[2];
    int warp = threadIdx.x / 32, n = gridDim.x * 48, row = blockIdx.y * 32, col = blockIdx.x * 48 + warp * 16;
    for (int j = 0; j < 2; j++) wmma::fill_fragment(acc[j], 0.0f);
    for (int k = 0; k < depth; k += 16) {
        wmma::load_matrix_sync(fa, a + row * depth + k, depth);
        for (int j = 0; j < 2; j++) {
            wmma::load_matrix_sync(fb, b + (col + j * 8) * depth + k, depth);
            wmma::mma_sync(acc[j], fa, fb, acc[j]);
        }
    }
    for (int j = 0; j < 2; j++) {
        for (int i = 0; i < acc[j].num_elements; i++) acc[j].x[i] = fmaxf(acc[j].x[i], 0.0f);
        wmma::store_matrix_sync(c + row * n + col + j * 8, acc[j], n, wmma::mem_row_major);
    }
}

//! mma_half_sums 20 128 | f16:20480:-1:1 | f16:10240:-1:1 | out f16:10240 | s s32 8
// m16n8k16 with sums in half precision; the fragments lie in memory as the lanes want them
extern "C" __global__ void mma_half_sums(const uint4 *a, const uint2 *b, uint2 *c, int rounds)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, warps = gridDim.x * blockDim.x / 32, lane = t & 31, warp = t / 32;
    unsigned d0 = 0, d1 = 0;
    for (int r = 0; r < rounds; r++) {
        int from = (warp + r * 7) % warps * 32 + lane;
        uint4 x = a[from];
        uint2 y = b[from];
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
                     : "+r"(d0), "+r"(d1)
                     : "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w), "r"(y.x), "r"(y.y));
    }
    c[t] = make_uint2(d0, d1);
}

//! kuwahara_bf16 7,14 16,8 | bf16:15376:0:1 | out bf16:12544 | s s32 124 | s s32 112
// of four 4 x 4 windows the mean of the one that varies least
extern "C" __global__ void kuwahara_bf16(const __nv_bfloat16 *in, __nv_bfloat16 *out, int ld, int w)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float best = 1e30f, mean = 0;
    for (int q = 0; q < 4; q++) {
        int x0 = x + (q & 1) * 3, y0 = y + (q >> 1) * 3;
        float s = 0, s2 = 0;
        for (int j = 0; j < 4; j++)
            for (int i = 0; i < 4; i++) {
                float v = __bfloat162float(in[(y0 + j) * ld + x0 + i]);
                s += v;
                s2 += v * v;
            }
        float var = s2 - s * s / 16;
        if (var < best) {
            best = var;
            mean = s / 16;
        }
    }
    out[y * w + x] = __float2bfloat16(mean);
}
