/* vision.cu - pictures: filters, shapes, colours, votes and matches. */
#include <cstdint>
#define K extern "C" __global__ void
//! open_mask 8,8 16,16 | u8:16384 | out u8:16384
// Morphological opening with a plus: erosion into shared memory, then dilation; 128 x 128, the border wraps.
K open_mask(const uint8_t *in, uint8_t *out)
{
    __shared__ uint8_t a[20][20], b[18][18];
    const int t = threadIdx.y * 16 + threadIdx.x, x0 = blockIdx.x * 16 - 2, y0 = blockIdx.y * 16 - 2;
    for (int i = t; i < 400; i += 256) a[i / 20][i % 20] = in[(y0 + i / 20 & 127) * 128 + (x0 + i % 20 & 127)];
    __syncthreads();
    for (int i = t; i < 324; i += 256) {
        int y = i / 18 + 1, x = i % 18 + 1;
        b[y - 1][x - 1] = min(a[y][x], min(min(a[y - 1][x], a[y + 1][x]), min(a[y][x - 1], a[y][x + 1])));
    }
    __syncthreads();
    int y = threadIdx.y + 1, x = threadIdx.x + 1;
    out[(y0 + y + 1) * 128 + x0 + x + 1] = max(b[y][x], max(max(b[y - 1][x], b[y + 1][x]), max(b[y][x - 1], b[y][x + 1])));
}
//! equalise_tiles 8,8 128 | u8:65536:40:180 | out u8:65536
// Histograms of 32 x 32 tiles, their sums by a scan in the block, and the new grey values.
K equalise_tiles(const uint8_t *in, uint8_t *out)
{
    __shared__ unsigned h[256];
    const int t = threadIdx.x, x = blockIdx.x * 32 + t % 32, y0 = blockIdx.y * 32 + t / 32;
    uint8_t v[8];
    h[t] = h[t + 128] = 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; k++) atomicAdd(&h[v[k] = in[(y0 + 4 * k) * 256 + x]], 1u);
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        unsigned a = t >= d ? h[t - d] : 0, b = t + 128 >= d ? h[t + 128 - d] : 0;
        __syncthreads();
        h[t] += a;
        h[t + 128] += b;
        __syncthreads();
    }
#pragma unroll
    for (int k = 0; k < 8; k++) out[(y0 + 4 * k) * 256 + x] = (uint8_t)(h[v[k]] * 255 / 1024);
}
//! bicubic_up 12,24 16,8 | u8:12288 | out u8:36864 | s s32 128 | s s32 96 | s f32 0.5
// Catmull-Rom from 128 x 96 to 192 x 192.
static __device__ void cubic(float f, float *w)
{
    w[0] = ((-0.5f * f + 1) * f - 0.5f) * f;
    w[1] = (1.5f * f - 2.5f) * f * f + 1;
    w[2] = ((-1.5f * f + 2) * f + 0.5f) * f;
    w[3] = (0.5f * f - 0.5f) * f * f;
}
K bicubic_up(const uint8_t *in, uint8_t *out, int w, int h, float ratio)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    float sx = x * 0.6666667f, sy = y * ratio - 0.25f, wx[4], wy[4], sum = 0;
    int ix = (int)floorf(sx), iy = (int)floorf(sy);
    cubic(sx - ix, wx);
    cubic(sy - iy, wy);
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const uint8_t *row = in + min(max(iy + j - 1, 0), h - 1) * w;
        float r = 0;
#pragma unroll
        for (int i = 0; i < 4; i++) r += wx[i] * row[min(max(ix + i - 1, 0), w - 1)];
        sum += wy[j] * r;
    }
    out[y * 192 + x] = (uint8_t)fminf(fmaxf(sum + 0.5f, 0.0f), 255.0f);
}
//! nv12_to_rgb 6,16 32,4 | u8:24576 | u8:12288 | out u8:73728 | s s32 192
// Two rows of two pixels a thread from luma and interleaved chroma at half the size, integers only.
K nv12_to_rgb(const uint8_t *luma, const uchar2 *chroma, uchar3 *rgb, int w)
{
    int cx = blockIdx.x * 16 + threadIdx.x / 2, cy = blockIdx.y * 4 + threadIdx.y;
    uchar2 c = chroma[cy * (w / 2) + cx];
    int u = c.x - 128, v = c.y - 128, r = 409 * v + 128, g = -100 * u - 208 * v + 128, b = 516 * u + 128, x = 2 * cx + (threadIdx.x & 1);
    for (int k = 0; k < 2; k++) {
        int y = 298 * (luma[(2 * cy + k) * w + x] - 16);
        auto clip = [](int a) { return (uint8_t)min(max(a >> 8, 0), 255); };
        rgb[(2 * cy + k) * w + x] = make_uchar3(clip(y + r), clip(y + g), clip(y + b));
    }
}
//! canny_thin 4,32 32,4 | s16:32768:-200:200 | out u8:16384
// Suppression of gradients that are no maxima along their direction.
K canny_thin(const short2 *grad, uint8_t *edge)
{
    const int w = 128, x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
    if (x == 0 || y == 0 || x == w - 1 || y == w - 1) return;
    auto size = [&](int xx, int yy) { short2 g = grad[yy * w + xx]; return abs(g.x) + abs(g.y); };
    short2 g = grad[y * w + x];
    int m = abs(g.x) + abs(g.y), dx, dy;
    if (abs(g.y) * 5 < abs(g.x) * 2) dx = 1, dy = 0;
    else if (abs(g.x) * 5 < abs(g.y) * 2) dx = 0, dy = 1;
    else dx = 1, dy = (g.x ^ g.y) < 0 ? -1 : 1;
    if (m > size(x + dx, y + dy) && m >= size(x - dx, y - dy)) edge[y * w + x] = m > 220 ? 255 : m > 120 ? 128 : 0;
}
//! hough_lines 12 256 | u16:1536:0:16384 | zero u32:23040
// Points vote for lines: 90 angles, 256 distances.
K hough_lines(const uint16_t *point, unsigned *votes)
{
    __shared__ float2 dir[90];
    if (threadIdx.x < 90) sincospif(threadIdx.x / 90.0f, &dir[threadIdx.x].y, &dir[threadIdx.x].x);
    __syncthreads();
    for (int i = threadIdx.x; i < 128 * 90; i += 256) {
        int p = point[blockIdx.x * 128 + i / 90], a = i % 90;
        int d = __float2int_rn((p & 127) * dir[a].x + (p >> 7) * dir[a].y) + 127;
        if (d >= 0 && d < 256) atomicAdd(&votes[a * 256 + d], 1u);
    }
}
//! label_tile 16 16,16 | u8:4096:0:5 | out u16:4096
// Connected parts of 16 x 16 bits: labels flow to the least of the neighbours until nothing changes.
K label_tile(const uint8_t *in, uint16_t *out)
{
    __shared__ int s[18][18];
    int x = threadIdx.x + 1, y = threadIdx.y + 1, t = threadIdx.y * 16 + threadIdx.x, on = in[blockIdx.x * 256 + t] < 3;
    for (int i = t; i < 324; i += 256) s[i / 18][i % 18] = 9999;
    __syncthreads();
    if (on) s[y][x] = t;
    int busy = 1;
    while (busy) {
        __syncthreads();
        int v = s[y][x], n = v;
        if (on) n = min(min(v, min(s[y - 1][x], s[y + 1][x])), min(s[y][x - 1], s[y][x + 1]));
        busy = __syncthreads_or(n < v);
        s[y][x] = n;
    }
    out[blockIdx.x * 256 + t] = (uint16_t)s[y][x];
}
//! affine_bilinear 16,8 8,32 | f32:32768:0:1 | out f32:32768 | s f32 0.9 | s f32 0.2 | s f32 -7.5
K affine_bilinear(const float *in, float *out, float c, float s, float shift)
{
    const int w = 128, h = 256, x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    float u = c * x - s * y - shift, v = s * x + c * y + shift, r = 0;
    int iu = (int)floorf(u), iv = (int)floorf(v);
    if (iu >= 0 && iv >= 0 && iu < w - 1 && iv < h - 1) {
        const float *p = in + iv * w + iu;
        float fu = u - iu, fv = v - iv;
        r = (p[0] * (1 - fu) + p[1] * fu) * (1 - fv) + (p[w] * (1 - fu) + p[w + 1] * fu) * fv;
    }
    out[y * w + x] = r;
}
//! lucas_kanade 8,8 8,8 | f32:6400:0:1 | f32:6400:0:1 | out f32:8192
// The flow of a window of 7 x 7 between two pictures of 80 x 80: three rounds a pixel.
K lucas_kanade(const float *a, const float *b, float2 *flow)
{
    const int w = 80, x = blockIdx.x * 8 + threadIdx.x + 8, y = blockIdx.y * 8 + threadIdx.y + 8;
    float gxx = 0.1f, gxy = 0, gyy = 0.1f, fx = 0, fy = 0;
    for (int k = 0; k < 49; k++) {
        const float *p = a + (y + k / 7 - 3) * w + x + k % 7 - 3;
        float dx = 0.5f * (p[1] - p[-1]), dy = 0.5f * (p[w] - p[-w]);
        gxx += dx * dx, gxy += dx * dy, gyy += dy * dy;
    }
    float inv = 1 / (gxx * gyy - gxy * gxy);
    for (int round = 0; round < 3; round++) {
        float ex = 0, ey = 0;
        int sx = __float2int_rn(fx), sy = __float2int_rn(fy);
        for (int k = 0; k < 49; k++) {
            int at = (y + k / 7 - 3) * w + x + k % 7 - 3;
            float d = a[at] - b[at + sy * w + sx];
            ex += d * (a[at + 1] - a[at - 1]), ey += d * (a[at + w] - a[at - w]);
        }
        fx = fminf(fmaxf(fx + 0.5f * inv * (gyy * ex - gxy * ey), -4.0f), 4.0f);
        fy = fminf(fmaxf(fy + 0.5f * inv * (gxx * ey - gxy * ex), -4.0f), 4.0f);
    }
    flow[(y - 8) * 64 + x - 8] = make_float2(fx, fy);
}
//! census_stereo 2,48 64 | u8:9216 | u8:9216 | out u8:6144
// Twenty-four bits a pixel of what is darker than the middle, and the shift of 0 to 15 with the least distance.
static __device__ unsigned census(const uint8_t *p, int w)
{
    unsigned bits = 0;
    int c = p[0];
#pragma unroll
    for (int dy = -2; dy <= 2; dy++)
#pragma unroll
        for (int dx = -2; dx <= 2; dx++)
            if (dx || dy) bits = bits << 1 | (p[dy * w + dx] < c);
    return bits;
}
K census_stereo(const uint8_t *left, const uint8_t *right, uint8_t *shift)
{
    __shared__ unsigned r[80];
    const int w = 160, x = blockIdx.x * 64 + threadIdx.x, y = blockIdx.y + 4;
    for (int i = threadIdx.x; i < 79; i += 64) r[i] = census(right + y * w + blockIdx.x * 64 + i + 2, w);
    __syncthreads();
    unsigned mine = census(left + y * w + x + 17, w), best = 99, at = 0;
    for (unsigned d = 0; d < 16; d++) {
        unsigned n = __popc(mine ^ r[threadIdx.x + 15 - d]);
        if (n < best) best = n, at = d;
    }
    shift[blockIdx.y * 128 + x] = (uint8_t)(best << 4 | at);
}
//! dither_waves 8 64 | f32:32768:0:1 | out u8:32768
// Floyd and Steinberg on pictures of 64 x 64, row r two pixels behind row r - 1.
K dither_waves(const float *in, uint8_t *out)
{
    __shared__ float down[65][67];
    const int r = threadIdx.x;
    const float *p = in + blockIdx.x * 4096 + r * 64;
    for (int i = r; i < 67; i += 64)
        for (int k = 0; k < 65; k++) down[k][i] = 0;
    float carry = 0;
    __syncthreads();
    for (int step = 0; step < 64 + 2 * 63; step++) {
        int x = step - 2 * r;
        if (x >= 0 && x < 64) {
            float v = p[x] + carry + down[r][x + 1], q = v > 0.5f ? 1.0f : 0.0f, e = v - q;
            out[blockIdx.x * 4096 + r * 64 + x] = q > 0;
            carry = e * 7 / 16;
            down[r + 1][x] += e * 3 / 16;
            down[r + 1][x + 1] += e * 5 / 16;
            down[r + 1][x + 2] += e / 16;
        }
        __syncthreads();
    }
}
