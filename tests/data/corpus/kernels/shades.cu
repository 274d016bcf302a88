/* shades.cu - pictures: colours, filters, sizes, and sets of points that are drawn. */
#include <cstdint>
#define K extern "C" __global__ void

//! grey_of_rgba 32,32 16,16 | u8:1048576 | out u8:262144 | s s32 500 | s s32 500
K grey_of_rgba(const uchar4 *rgba, unsigned char *grey, int rows, int cols)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= cols || y >= rows) return;
    uchar4 p = rgba[y * cols + x];
    grey[y * cols + x] = .299f * p.x + .587f * p.y + .114f * p.z;
}

//! sepia_of_floats 130 256 | f32:99840 | out f32:99840 | s s32 33280
K sepia_of_floats(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float r = in[3 * i], g = in[3 * i + 1], b = in[3 * i + 2];
    out[3 * i] = fminf(1.0f, 0.393f * r + 0.769f * g + 0.189f * b);
    out[3 * i + 1] = fminf(1.0f, 0.349f * r + 0.686f * g + 0.168f * b);
    out[3 * i + 2] = fminf(1.0f, 0.272f * r + 0.534f * g + 0.131f * b);
}

__constant__ float gauss5[25] = {1 / 273.f, 4 / 273.f, 7 / 273.f, 4 / 273.f, 1 / 273.f, 4 / 273.f, 16 / 273.f, 26 / 273.f, 16 / 273.f, 4 / 273.f, 7 / 273.f, 26 / 273.f, 41 / 273.f,
                                 26 / 273.f, 7 / 273.f, 4 / 273.f, 16 / 273.f, 26 / 273.f, 16 / 273.f, 4 / 273.f, 1 / 273.f, 4 / 273.f, 7 / 273.f, 4 / 273.f, 1 / 273.f};
//! gauss_by_clamped_edges 12,12 16,16 | u8:36864 | out u8:36864 | s s32 190 | s s32 190
K gauss_by_clamped_edges(const unsigned char *in, unsigned char *out, int rows, int cols)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c >= cols || r >= rows) return;
    float sum = 0;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++) {
            int y = min(max(r + dy, 0), rows - 1), x = min(max(c + dx, 0), cols - 1);
            sum += gauss5[(dy + 2) * 5 + dx + 2] * (float)in[y * cols + x];
        }
    out[r * cols + c] = (unsigned char)sum;
}

//! edges_from_shared_tile 8,8 16,16 | f32:16384:0:255 | out f32:16384 | s s32 128 | s s32 128
K edges_from_shared_tile(const float *in, float *out, int w, int h)
{
    __shared__ float s[18][18];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    for (int i = threadIdx.y * 16 + threadIdx.x; i < 18 * 18; i += 256) {
        int sx = blockIdx.x * 16 + i % 18 - 1, sy = blockIdx.y * 16 + i / 18 - 1;
        s[i / 18][i % 18] = sx >= 0 && sx < w && sy >= 0 && sy < h ? in[sy * w + sx] : 0.f;
    }
    __syncthreads();
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    float gx = s[ty - 1][tx + 1] + 2 * s[ty][tx + 1] + s[ty + 1][tx + 1] - s[ty - 1][tx - 1] - 2 * s[ty][tx - 1] - s[ty + 1][tx - 1];
    float gy = s[ty + 1][tx - 1] + 2 * s[ty + 1][tx] + s[ty + 1][tx + 1] - s[ty - 1][tx - 1] - 2 * s[ty - 1][tx] - s[ty - 1][tx + 1];
    float m = sqrtf(gx * gx + gy * gy);
    out[y * w + x] = m > 255.f ? 255.f : m;
}

//! middle_of_nine_by_sorting 8,8 16,16 | u8:16384 | out u8:16384 | s s32 128 | s s32 128
// A window in a local array, sorted as far as the middle.
K middle_of_nine_by_sorting(const unsigned char *in, unsigned char *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x == 0 || y == 0 || x >= w - 1 || y >= h - 1) {
        if (x < w && y < h) out[y * w + x] = 0;
        return;
    }
    unsigned char v[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) v[i * 3 + j] = in[(y + i - 1) * w + x + j - 1];
    for (int i = 0; i < 5; i++)
        for (int j = i + 1; j < 9; j++)
            if (v[i] > v[j]) {
                unsigned char t = v[i];
                v[i] = v[j];
                v[j] = t;
            }
    out[y * w + x] = v[4];
}

//! rows_of_separable 4,24 16,4 | f32:49152 | out f32:49152 | s s32 512 | s s32 96 | s s32 512
__constant__ float c_Kernel[17] = {.01f, .02f, .03f, .05f, .06f, .08f, .09f, .1f, .12f, .1f, .09f, .08f, .06f, .05f, .03f, .02f, .01f};
K rows_of_separable(const float *src, float *dst, int imageW, int imageH, int pitch)
{
    __shared__ float s[4][(8 + 2) * 16];
    const int baseX = (blockIdx.x * 8 - 1) * 16 + threadIdx.x, baseY = blockIdx.y * 4 + threadIdx.y;
    src += baseY * pitch + baseX;
    dst += baseY * pitch + baseX;
#pragma unroll
    for (int i = 1; i < 9; i++) s[threadIdx.y][threadIdx.x + i * 16] = src[i * 16];
    s[threadIdx.y][threadIdx.x] = baseX >= 0 ? src[0] : 0;
    s[threadIdx.y][threadIdx.x + 9 * 16] = imageW - baseX > 9 * 16 ? src[9 * 16] : 0;
    __syncthreads();
#pragma unroll
    for (int i = 1; i < 9; i++) {
        float sum = 0;
#pragma unroll
        for (int j = -8; j <= 8; j++) sum += c_Kernel[8 - j] * s[threadIdx.y][threadIdx.x + i * 16 + j];
        dst[i * 16] = sum;
    }
}

//! darker_and_brighter_shapes 10,20 32,8 | u8:51200 | out u8:51200 | out u8:51200 | s s32 320 | s s32 160 | s s32 2
K darker_and_brighter_shapes(const uint8_t *in, uint8_t *eroded, uint8_t *dilated, int w, int h, int radius)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    uint8_t lo = 255, hi = 0;
    for (int j = -radius; j <= radius; j++) {
        if (y + j < 0 || y + j >= h) continue;
        for (int i = -radius; i <= radius; i++) {
            if (x + i < 0 || x + i >= w) continue;
            uint8_t v = in[(y + j) * w + x + i];
            lo = v < lo ? v : lo;
            hi = v > hi ? v : hi;
        }
    }
    eroded[y * w + x] = lo;
    dilated[y * w + x] = hi;
}

//! turned_by_an_angle 16,16 16,16 | u8:262144 | out u8:262144 | s s32 256 | s s32 256 | s f32 0.7
K turned_by_an_angle(const uint32_t *in, uint32_t *out, int w, int h, float angle)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float s = sinf(angle), c = cosf(angle);
    float u = (x - w / 2) * c - (y - h / 2) * s + w / 2, v = (x - w / 2) * s + (y - h / 2) * c + h / 2;
    int iu = (int)u, iv = (int)v;
    out[y * w + x] = iu >= 0 && iu < w && iv >= 0 && iv < h ? in[iv * w + iu] : 0xff000000u;
}

//! smaller_between_four 9,9 32,8 | u8:921600 | out u8:155520 | s s32 480 | s s32 480 | s s32 270 | s s32 48
K smaller_between_four(const uchar4 *src, uchar4 *dst, int sw, int sh, int dw, int dh)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= dw || y >= dh) return;
    float fx = (x + 0.5f) * sw / dw - 0.5f, fy = (y + 0.5f) * sh / dh - 0.5f;
    int x0 = max((int)floorf(fx), 0), y0 = max((int)floorf(fy), 0), x1 = min(x0 + 1, sw - 1), y1 = min(y0 + 1, sh - 1);
    float ax = fx - x0, ay = fy - y0;
    uchar4 a = src[y0 * sw + x0], b = src[y0 * sw + x1], c = src[y1 * sw + x0], d = src[y1 * sw + x1], o;
    o.x = (unsigned char)((a.x * (1 - ax) + b.x * ax) * (1 - ay) + (c.x * (1 - ax) + d.x * ax) * ay + 0.5f);
    o.y = (unsigned char)((a.y * (1 - ax) + b.y * ax) * (1 - ay) + (c.y * (1 - ax) + d.y * ax) * ay + 0.5f);
    o.z = (unsigned char)((a.z * (1 - ax) + b.z * ax) * (1 - ay) + (c.z * (1 - ax) + d.z * ax) * ay + 0.5f);
    o.w = 255;
    dst[y * dw + x] = o;
}

//! one_over_the_other 2000 128 | u8:1024000 | u8:1024000 | out u8:1024000 | s s32 256000
K one_over_the_other(const uint32_t *front, const uint32_t *back, uint32_t *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint32_t f = front[i], b = back[i], a = f >> 24, na = 255 - a;
    uint32_t rb = (f & 0xff00ff) * a + (b & 0xff00ff) * na, g = (f >> 8 & 0xff) * a + (b >> 8 & 0xff) * na;
    out[i] = 0xff000000u | (rb >> 8 & 0xff00ff) | (g & 0xff00);
}

//! video_to_rgb_planes 20,15 32,8 | u8:76800 | u8:19200 | u8:19200 | out u8:307200 | s s32 640 | s s32 120
K video_to_rgb_planes(const uint8_t *Y, const uint8_t *U, const uint8_t *V, uint8_t *rgb, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int c = Y[y * w + x] - 16, d = U[(y / 2) * (w / 2) + x / 2] - 128, e = V[(y / 2) * (w / 2) + x / 2] - 128;
    int r = (298 * c + 409 * e + 128) >> 8, g = (298 * c - 100 * d - 208 * e + 128) >> 8, b = (298 * c + 516 * d + 128) >> 8;
    uint8_t *o = rgb + 3 * (y * w + x);
    o[0] = r < 0 ? 0 : r > 255 ? 255 : r;
    o[1] = g < 0 ? 0 : g > 255 ? 255 : g;
    o[2] = b < 0 ? 0 : b > 255 ? 255 : b;
}

//! sharpened_by_difference 6,12 32,16 | f32:36864 | f32:36864 | out f32:36864 | s s32 192 | s f32 1.5 | s f32 0.05
K sharpened_by_difference(const float *src, const float *blurred, float *out, int pitch, float amount, float threshold)
{
    int i = (blockIdx.y * blockDim.y + threadIdx.y) * pitch + blockIdx.x * blockDim.x + threadIdx.x;
    float d = src[i] - blurred[i];
    out[i] = fabsf(d) < threshold ? src[i] : __saturatef(src[i] + amount * d);
}

//! set_in_double_precision 12,12 16,16 | out u8:36864 | s s32 192 | s s32 192 | s f64 -0.7436438870 | s f64 0.1318259042 | s f64 0.00003 | s s32 300
K set_in_double_precision(unsigned char *out, int w, int h, double cx, double cy, double scale, int limit)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= w || py >= h) return;
    double x0 = cx + (px - w / 2) * scale / w, y0 = cy + (py - h / 2) * scale / h, x = 0, y = 0;
    int i = 0;
    while (x * x + y * y <= 4.0 && i < limit) {
        double t = x * x - y * y + x0;
        y = 2 * x * y + y0;
        x = t;
        i++;
    }
    out[py * w + px] = i == limit ? 0 : (unsigned char)(i * 7);
}

struct cuComplex_ {
    float r, i;
    __device__ cuComplex_(float a, float b) : r(a), i(b) {}
    __device__ float magnitude2() { return r * r + i * i; }
    __device__ cuComplex_ operator*(const cuComplex_ &a) { return cuComplex_(r * a.r - i * a.i, i * a.r + r * a.i); }
    __device__ cuComplex_ operator+(const cuComplex_ &a) { return cuComplex_(r + a.r, i + a.i); }
};
__device__ int julia(int x, int y, int dim)
{
    const float scale = 1.5;
    float jx = scale * (float)(dim / 2 - x) / (dim / 2), jy = scale * (float)(dim / 2 - y) / (dim / 2);
    cuComplex_ c(-0.8, 0.156), a(jx, jy);
    for (int i = 0; i < 200; i++) {
        a = a * a + c;
        if (a.magnitude2() > 1000) return 0;
    }
    return 1;
}
//! set_a_block_a_point 50,50 1 | out u8:10000 | s s32 50
// 2,500 blocks of one thread.
K set_a_block_a_point(unsigned char *ptr, int dim)
{
    int x = blockIdx.x, y = blockIdx.y, offset = x + y * gridDim.x;
    int v = julia(x, y, dim);
    ptr[offset * 4 + 0] = 255 * v;
    ptr[offset * 4 + 1] = 0;
    ptr[offset * 4 + 2] = 0;
    ptr[offset * 4 + 3] = 255;
}

//! ripples_of_a_frame 16,16 16,16 | out u8:262144 | s s32 256 | s s32 37
K ripples_of_a_frame(unsigned char *ptr, int dim, int ticks)
{
    int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y, offset = x + y * blockDim.x * gridDim.x;
    float fx = x - dim / 2, fy = y - dim / 2, d = sqrtf(fx * fx + fy * fy);
    unsigned char grey = (unsigned char)(128.0f + 127.0f * cos(d / 10.0f - ticks / 7.0f) / (d / 10.0f + 1.0f));
    ptr[offset * 4 + 0] = grey;
    ptr[offset * 4 + 1] = grey;
    ptr[offset * 4 + 2] = grey;
    ptr[offset * 4 + 3] = 255;
}

struct Ball {
    float r, b, g, radius, x, y, z;
    __device__ float hit(float ox, float oy, float *n) const
    {
        float dx = ox - x, dy = oy - y;
        if (dx * dx + dy * dy < radius * radius) {
            float dz = sqrtf(radius * radius - dx * dx - dy * dy);
            *n = dz / sqrtf(radius * radius);
            return dz + z;
        }
        return -2e10f;
    }
};
//! spheres_seen_from_above 8,8 16,16 | out u8:65536 | f32:140:-100:100 | s s32 20
K spheres_seen_from_above(unsigned char *ptr, const Ball *s, int count)
{
    int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y, offset = x + y * blockDim.x * gridDim.x;
    float ox = x - 64, oy = y - 64, r = 0, g = 0, b = 0, maxz = -2e10f;
    for (int i = 0; i < count; i++) {
        float n, t = s[i].hit(ox, oy, &n);
        if (t > maxz) {
            float f = n;
            r = s[i].r * f;
            g = s[i].g * f;
            b = s[i].b * f;
            maxz = t;
        }
    }
    ptr[offset * 4 + 0] = (int)(r * 255);
    ptr[offset * 4 + 1] = (int)(g * 255);
    ptr[offset * 4 + 2] = (int)(b * 255);
    ptr[offset * 4 + 3] = 255;
}
