/* pixels.cu - pictures: filters, features, drawing. */
#include <cstdint>

#define KERNEL_RADIUS 8
#define ROWS_RESULT_STEPS 4
__constant__ float c_Kernel[17] = {0.01f, 0.02f, 0.03f, 0.04f, 0.06f, 0.08f, 0.09f, 0.11f, 0.12f, 0.11f, 0.09f, 0.08f, 0.06f, 0.04f, 0.03f, 0.02f, 0.01f};
//! rows_in_steps 4,28 16,4 | f32:28672:0:255 | out f32:28672 | s s32 256 | s s32 112
extern "C" __global__ void rows_in_steps(const float *src, float *dst, int w, int h)
{
    __shared__ float s_Data[4][(ROWS_RESULT_STEPS + 2) * 16];
    const int baseX = (blockIdx.x * ROWS_RESULT_STEPS - 1) * 16 + threadIdx.x;
    const int baseY = blockIdx.y * 4 + threadIdx.y;
    src += baseY * w + baseX;
    dst += baseY * w + baseX;
#pragma unroll
    for (int i = 1; i < 1 + ROWS_RESULT_STEPS; i++) s_Data[threadIdx.y][threadIdx.x + i * 16] = src[i * 16];
    s_Data[threadIdx.y][threadIdx.x] = (baseX >= 0) ? src[0] : 0;
    s_Data[threadIdx.y][threadIdx.x + (1 + ROWS_RESULT_STEPS) * 16] = (w - baseX > (1 + ROWS_RESULT_STEPS) * 16) ? src[(1 + ROWS_RESULT_STEPS) * 16] : 0;
    __syncthreads();
#pragma unroll
    for (int i = 1; i < 1 + ROWS_RESULT_STEPS; i++) {
        float sum = 0;
#pragma unroll
        for (int j = -KERNEL_RADIUS; j <= KERNEL_RADIUS; j++) sum += c_Kernel[KERNEL_RADIUS - j] * s_Data[threadIdx.y][threadIdx.x + i * 16 + j];
        dst[i * 16] = sum;
    }
}

//! non_local_means 3,6 16,8 | u32:2304 | out u32:2304 | s s32 48 | s s32 48 | s f32 0.02
// Every pixel a mean of 49 around it by how alike their 3 x 3 patches are.
__device__ __forceinline__ float3 rgb(uint32_t p) { return make_float3((p & 255) / 255.f, (p >> 8 & 255) / 255.f, (p >> 16 & 255) / 255.f); }
__device__ __forceinline__ float distance3(uint32_t a, uint32_t b)
{
    float3 x = rgb(a), y = rgb(b);
    return (x.x - y.x) * (x.x - y.x) + (x.y - y.y) * (x.y - y.y) + (x.z - y.z) * (x.z - y.z);
}
extern "C" __global__ void non_local_means(const uint32_t *img, uint32_t *out, int w, int h, float noise)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    auto at = [=](int px, int py) { return img[min(max(py, 0), h - 1) * w + min(max(px, 0), w - 1)]; };
    float3 sum = make_float3(0, 0, 0);
    float weights = 0;
    for (int i = -2; i <= 2; i++)
        for (int j = -2; j <= 2; j++) {
            float d = 0;
            for (int n = -1; n <= 1; n++)
                for (int m = -1; m <= 1; m++) d += distance3(at(x + j + m, y + i + n), at(x + m, y + n));
            float wgt = __expf(-(d * noise + (i * i + j * j) * (1.0f / 49)));
            float3 c = rgb(at(x + j, y + i));
            sum.x += c.x * wgt, sum.y += c.y * wgt, sum.z += c.z * wgt;
            weights += wgt;
        }
    weights = 1 / weights;
    out[y * w + x] = (uint32_t)(__saturatef(sum.z * weights) * 255) << 16 | (uint32_t)(__saturatef(sum.y * weights) * 255) << 8 | (uint32_t)(__saturatef(sum.x * weights) * 255);
}

//! harris_response 7,14 32,8 | f32:29808:0:1 | out f32:25088 | s s32 224 | s f32 0.05
extern "C" __global__ void harris_response(const float *in, float *out, int w, float k)
{
    __shared__ float xx[10][34], xy[10][34], yy[10][34];
    const int pitch = w + 4;
    for (int i = threadIdx.y * 32 + threadIdx.x; i < 340; i += 256) {
        int lx = i % 34, ly = i / 34;
        const float *p = in + (blockIdx.y * 8 + ly) * pitch + blockIdx.x * 32 + lx;
        float gx = p[2] - p[0] + 2 * (p[pitch + 2] - p[pitch]) + p[2 * pitch + 2] - p[2 * pitch];
        float gy = p[2 * pitch] - p[0] + 2 * (p[2 * pitch + 1] - p[1]) + p[2 * pitch + 2] - p[2];
        xx[ly][lx] = gx * gx, xy[ly][lx] = gx * gy, yy[ly][lx] = gy * gy;
    }
    __syncthreads();
    float a = 0, b = 0, c = 0;
#pragma unroll
    for (int dy = 0; dy < 3; dy++)
#pragma unroll
        for (int dx = 0; dx < 3; dx++) {
            a += xx[threadIdx.y + dy][threadIdx.x + dx];
            b += xy[threadIdx.y + dy][threadIdx.x + dx];
            c += yy[threadIdx.y + dy][threadIdx.x + dx];
        }
    out[(blockIdx.y * 8 + threadIdx.y) * w + blockIdx.x * 32 + threadIdx.x] = a * c - b * b - k * (a + c) * (a + c);
}

//! distance_columns 4 64 | u8:16384:0:40 | out s32:16384 | scratch s32:32768
// The lower envelope of parabolas, a column a thread, with a stack in memory.
extern "C" __global__ void distance_columns(const uint8_t *mask, int *dist, int *stack)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, n = 64, w = 256, top = 0;
    int *v = stack + x * 64, *z = stack + 16384 + x * 64;
    auto f = [&](int y) { return mask[y * w + x] == 0 ? 0 : 1 << 12; };
    v[0] = 0;
    z[0] = -1 << 20;
    for (int q = 1; q < n; q++) {
        int s;
        for (;;) {
            int p = v[top];
            s = (f(q) + q * q - f(p) - p * p) / (2 * q - 2 * p);
            if (s > z[top] || top == 0) break;
            top--;
        }
        if (s > z[top]) top++;
        v[top] = q;
        z[top] = s;
    }
    int last = top;
    top = 0;
    for (int q = 0; q < n; q++) {
        while (top < last && z[top + 1] < q) top++;
        int d = q - v[top];
        dist[q * w + x] = d * d + f(v[top]);
    }
}

//! fast_corners 8,16 32,4 | u8:17424 | out u8:16384
// Sixteen places of a ring brighter or darker, twelve in a row.
__constant__ signed char ring[16][2] = {{0, -3}, {1, -3}, {2, -2}, {3, -1}, {3, 0}, {3, 1}, {2, 2}, {1, 3}, {0, 3}, {-1, 3}, {-2, 2}, {-3, 1}, {-3, 0}, {-3, -1}, {-2, -2}, {-1, -3}};
extern "C" __global__ void fast_corners(const uint8_t *img, uint8_t *out)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
    if (x < 3 || x > 252 || y < 3 || y > 60) return;
    int c = img[y * 256 + x] / 4;
    unsigned bright = 0, dark = 0;
#pragma unroll
    for (int k = 0; k < 16; k++) {
        int v = img[(y + ring[k][1]) * 256 + x + ring[k][0]];
        bright |= (unsigned)(v > c + 20) << k;
        dark |= (unsigned)(v < c - 20) << k;
    }
    auto run = [](unsigned m) {
        m |= m << 16;
        for (int k = 0; k < 8; k++) m &= m >> 1 | (m & 1) << 31;
        return m != 0;
    };
    out[y * 256 + x] = run(bright) ? 255 : run(dark) ? 128 : 0;
}

//! orb_matches 10 128 | u32:10240 | u32:2048 | out s32:1280 | out s32:1280
// The nearest of 256 descriptors of 256 bits, tile by tile, and whether the second is far enough.
extern "C" __global__ void orb_matches(const uint4 *query, const uint4 *train, int *best, int *second)
{
    __shared__ uint4 s[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x, b = 999, b2 = 999, at = -1;
    uint4 q0 = query[2 * i], q1 = query[2 * i + 1];
    for (int tile = 0; tile < 4; tile++) {
        __syncthreads();
        s[threadIdx.x] = train[tile * 128 + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 64; k++) {
            uint4 a = s[2 * k], c = s[2 * k + 1];
            int d = __popc(q0.x ^ a.x) + __popc(q0.y ^ a.y) + __popc(q0.z ^ a.z) + __popc(q0.w ^ a.w) + __popc(q1.x ^ c.x) + __popc(q1.y ^ c.y) +
                    __popc(q1.z ^ c.z) + __popc(q1.w ^ c.w);
            if (d < b)
                b2 = b, b = d, at = tile * 64 + k;
            else if (d < b2)
                b2 = d;
        }
    }
    best[i] = b * 10 < b2 * 9 ? at : -1;
    second[i] = b * 1000 + b2;
}

//! perlin_octaves 30,8 32,4 | u8:256 | out f32:30720 | s f32 0.05
__device__ __forceinline__ float fade(float t) { return t * t * t * (t * (t * 6 - 15) + 10); }
__device__ __forceinline__ float grad(int h, float x, float y)
{
    float u = (h & 4) ? y : x, v = (h & 4) ? x : y;
    return ((h & 1) ? -u : u) + ((h & 2) ? -2.0f * v : 2.0f * v);
}
extern "C" __global__ void perlin_octaves(const uint8_t *perm, float *out, float step)
{
    __shared__ uint8_t p[256];
    for (int i = threadIdx.y * 32 + threadIdx.x; i < 256; i += 128) p[i] = perm[i];
    __syncthreads();
    int px = blockIdx.x * 32 + threadIdx.x, py = blockIdx.y * 4 + threadIdx.y;
    float x = px * step, y = py * step, sum = 0, amp = 1;
    for (int o = 0; o < 4; o++) {
        int xi = (int)floorf(x), yi = (int)floorf(y);
        float fx = x - xi, fy = y - yi, u = fade(fx), v = fade(fy);
        int a = p[(xi + p[yi & 255]) & 255], b = p[(xi + 1 + p[yi & 255]) & 255], c = p[(xi + p[(yi + 1) & 255]) & 255], d = p[(xi + 1 + p[(yi + 1) & 255]) & 255];
        float n0 = grad(a, fx, fy) + u * (grad(b, fx - 1, fy) - grad(a, fx, fy)), n1 = grad(c, fx, fy - 1) + u * (grad(d, fx - 1, fy - 1) - grad(c, fx, fy - 1));
        sum += amp * (n0 + v * (n1 - n0));
        amp *= 0.5f, x *= 2.03f, y *= 2.03f;
    }
    out[py * 960 + px] = sum;
}

//! march_distance 10,15 16,8 | out f32:19200 | s s32 160 | s s32 120
// A ray through a field of distances: a ball, a ring and a floor; light by the gradient.
__device__ float scene(float3 p)
{
    float ball = sqrtf(p.x * p.x + p.y * p.y + (p.z - 4) * (p.z - 4)) - 1;
    float q = sqrtf((p.x - 1) * (p.x - 1) + (p.z - 3) * (p.z - 3)) - 0.8f, ringd = sqrtf(q * q + p.y * p.y) - 0.25f;
    float k = fmaxf(0.3f - fabsf(ball - ringd), 0.0f) / 0.3f;
    return fminf(fminf(ball, ringd) - k * k * 0.075f, p.y + 1.1f);
}
extern "C" __global__ void march_distance(float *out, int w, int h)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    float dx = (px - w * 0.5f) / h, dy = (h * 0.5f - py) / h, inv = rsqrtf(dx * dx + dy * dy + 1), t = 0, shade = 0;
    float3 d = make_float3(dx * inv, dy * inv, inv), p;
    for (int i = 0; i < 48 && t < 12; i++) {
        p = make_float3(d.x * t, d.y * t, d.z * t);
        float s = scene(p);
        if (s < 1e-3f) {
            const float e = 1e-3f;
            float3 n = make_float3(scene(make_float3(p.x + e, p.y, p.z)) - s, scene(make_float3(p.x, p.y + e, p.z)) - s, scene(make_float3(p.x, p.y, p.z + e)) - s);
            float l = rsqrtf(n.x * n.x + n.y * n.y + n.z * n.z + 1e-12f);
            shade = fmaxf((0.6f * n.x + 0.7f * n.y - 0.4f * n.z) * l, 0.1f);
            break;
        }
        t += s;
    }
    out[py * w + px] = shade / (1 + 0.1f * t);
}

//! paths_between_balls 20,6 16,8 | f32:64:-3:3 | out f32:46080 | s s32 320 | s u32 7
// Three bounces of diffuse light among sixteen balls; random numbers by a hash of place and bounce.
__device__ __forceinline__ float next_random(uint32_t &s)
{
    s = s * 747796405u + 2891336453u;
    uint32_t w = ((s >> ((s >> 28) + 4)) ^ s) * 277803737u;
    return ((w >> 22) ^ w) * 2.3283064e-10f;
}
extern "C" __global__ void paths_between_balls(const float4 *balls, float *out, int width, uint32_t seed)
{
    __shared__ float4 s[16];
    int t = threadIdx.y * blockDim.x + threadIdx.x;
    if (t < 16) s[t] = balls[t];
    __syncthreads();
    int px = blockIdx.x * 16 + threadIdx.x, py = blockIdx.y * 8 + threadIdx.y;
    uint32_t rng = (py * width + px) * 9781u + seed;
    float3 o = make_float3(0, 0, -6), d = make_float3((px - 160) / 100.f, (py - 24) / 100.f, 1), light = make_float3(0, 0, 0), keep = make_float3(1, 1, 1);
    float l = rsqrtf(d.x * d.x + d.y * d.y + d.z * d.z);
    d.x *= l, d.y *= l, d.z *= l;
    for (int bounce = 0; bounce < 3; bounce++) {
        float best = 1e9f;
        int hit = -1;
        for (int k = 0; k < 16; k++) {
            float4 b = s[k];
            float ox = o.x - b.x, oy = o.y - b.y, oz = o.z - b.z, r = 0.4f + fabsf(b.w) * 0.2f;
            float bq = ox * d.x + oy * d.y + oz * d.z, c = ox * ox + oy * oy + oz * oz - r * r, disc = bq * bq - c;
            if (disc > 0) {
                float tt = -bq - sqrtf(disc);
                if (tt > 1e-3f && tt < best) best = tt, hit = k;
            }
        }
        if (hit < 0) {
            float sky = 0.5f * (d.y + 1);
            light.x += keep.x * (1 - sky + sky * 0.5f), light.y += keep.y * (1 - sky + sky * 0.7f), light.z += keep.z;
            break;
        }
        float4 b = s[hit];
        o = make_float3(o.x + d.x * best, o.y + d.y * best, o.z + d.z * best);
        float3 n = make_float3(o.x - b.x, o.y - b.y, o.z - b.z);
        float z = 2 * next_random(rng) - 1, phi = 6.2831853f * next_random(rng), sn, cs, rr = sqrtf(fmaxf(0.f, 1 - z * z));
        __sincosf(phi, &sn, &cs);
        l = rsqrtf(n.x * n.x + n.y * n.y + n.z * n.z);
        d = make_float3(n.x * l + rr * cs, n.y * l + rr * sn, n.z * l + z);
        l = rsqrtf(d.x * d.x + d.y * d.y + d.z * d.z + 1e-8f);
        d.x *= l, d.y *= l, d.z *= l;
        keep.x *= 0.5f + 0.03f * hit, keep.y *= 0.8f - 0.02f * hit, keep.z *= 0.6f;
    }
    float *p = out + 3 * (py * width + px);
    p[0] = light.x, p[1] = light.y, p[2] = light.z;
}

//! draw_triangles 10,10 8,8 | f32:288:0:80 | out f32:6400 | out s32:6400
// Edge functions of 48 triangles for each pixel, depth by barycentric weights.
extern "C" __global__ void draw_triangles(const float *tri, float *depth, int *id)
{
    __shared__ float v[288];
    for (int i = threadIdx.y * 8 + threadIdx.x; i < 288; i += 64) v[i] = tri[i];
    __syncthreads();
    int px = blockIdx.x * 8 + threadIdx.x, py = blockIdx.y * 8 + threadIdx.y, who = -1;
    float x = px + 0.5f, y = py + 0.5f, zmin = INFINITY;
    for (int k = 0; k < 48; k++) {
        const float *t = v + k * 6;
        float area = (t[2] - t[0]) * (t[5] - t[1]) - (t[3] - t[1]) * (t[4] - t[0]);
        float w0 = (t[2] - x) * (t[5] - y) - (t[3] - y) * (t[4] - x), w1 = (t[4] - x) * (t[1] - y) - (t[5] - y) * (t[0] - x), w2 = area - w0 - w1;
        if (area < 0) area = -area, w0 = -w0, w1 = -w1, w2 = -w2;
        if (w0 >= 0 && w1 >= 0 && w2 >= 0 && area > 0) {
            float z = (w0 * k + w1 * (47 - k) + w2 * 20) / area;
            if (z < zmin) zmin = z, who = k;
        }
    }
    depth[py * 80 + px] = zmin;
    id[py * 80 + px] = who;
}

//! jump_flood_step 12,24 16,8 | u32:36864:0:36864 | out u32:36864 | s s32 16
// One step of a Voronoi diagram: of nine seeds at a distance the nearest.
extern "C" __global__ void jump_flood_step(const uint32_t *in, uint32_t *out, int step)
{
    const int n = 192;
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    uint32_t best = 0xffffffff;
    int bd = 1 << 30;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            int u = x + dx * step, v = y + dy * step;
            if ((unsigned)u >= n || (unsigned)v >= n) continue;
            uint32_t s = in[v * n + u];
            int ex = (int)(s % n) - x, ey = (int)(s / n) - y, d = ex * ex + ey * ey;
            if (d < bd || (d == bd && s < best)) bd = d, best = s;
        }
    out[y * n + x] = best;
}

//! lanczos_halves 8,16 16,8 | u8:65536 | out u8:49152 | s f32 1.3333334
// Three lobes, weights computed anew for every pixel, 170 x 192 from 256 x 256 with a pitch of 256.
__device__ float lanczos(float x)
{
    x = fabsf(x);
    if (x < 1e-4f) return 1;
    if (x >= 3) return 0;
    float a = 3.14159265f * x;
    return 3 * sinf(a) * sinf(a / 3) / (a * a);
}
extern "C" __global__ void lanczos_halves(const uint8_t *in, uint8_t *out, float ratio)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    float sx = (x + 0.5f) * ratio - 0.5f, sy = (y + 0.5f) * ratio - 0.5f, sum = 0, wsum = 0;
    int x0 = (int)floorf(sx), y0 = (int)floorf(sy);
    float wx[6];
    for (int k = 0; k < 6; k++) wx[k] = lanczos(sx - (x0 - 2 + k));
    for (int j = 0; j < 6; j++) {
        int yy = min(max(y0 - 2 + j, 0), 255);
        float wy = lanczos(sy - (y0 - 2 + j)), row = 0, rw = 0;
        for (int k = 0; k < 6; k++) {
            row += wx[k] * in[yy * 256 + min(max(x0 - 2 + k, 0), 255)];
            rw += wx[k];
        }
        sum += wy * row;
        wsum += wy * rw;
    }
    out[y * 256 + x] = (uint8_t)fminf(fmaxf(sum / wsum + 0.5f, 0), 255);
}

//! gradient_cells 9 64 | u8:37636 | out f32:5184
// Histograms of oriented gradients: a thread a cell of 8 x 8, nine bins in an array with changing indices.
extern "C" __global__ void gradient_cells(const uint8_t *img, float *out)
{
    int c = blockIdx.x * 64 + threadIdx.x, cx = c % 24, cy = c / 24;
    float hist[9] = {};
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++) {
            const uint8_t *p = img + (cy * 8 + y + 1) * 194 + cx * 8 + x + 1;
            float gx = (float)p[1] - p[-1], gy = (float)p[194] - p[-194];
            float m = sqrtf(gx * gx + gy * gy), a = atan2f(gy, gx) * (9 / 3.14159265f);
            if (a < 0) a += 9;
            int b = (int)a;
            float f = a - b;
            hist[b % 9] += m * (1 - f);
            hist[(b + 1) % 9] += m * f;
        }
    float s = 1e-3f;
    for (int k = 0; k < 9; k++) s += hist[k] * hist[k];
    s = rsqrtf(s);
    for (int k = 0; k < 9; k++) out[c * 9 + k] = fminf(hist[k] * s, 0.2f);
}

//! seam_costs 1 512 | f32:32768:0:10 | out f32:32768 | s s32 64
// Seam carving: one block, a row after the other.
extern "C" __global__ void seam_costs(const float *energy, float *cost, int rows)
{
    __shared__ float s[2][514];
    int t = threadIdx.x;
    if (t < 2) s[t][0] = s[t][513] = 1e30f;
    float v = energy[t];
    s[0][t + 1] = v;
    cost[t] = v;
    for (int r = 1; r < rows; r++) {
        float e = energy[r * 512 + t];
        __syncthreads();
        const float *p = s[(r - 1) & 1] + t;
        v = e + fminf(fminf(p[0], p[1]), p[2]);
        s[r & 1][t + 1] = v;
        cost[r * 512 + t] = v;
    }
}
