/* samples.cu - what the examples that come with compilers show: iso-surfaces, sorting networks, filters, options, particles, votes. */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstdint>
namespace cg = cooperative_groups;

__device__ __forceinline__ float field(float x, float y, float z) { return x * x * x * x - 5 * x * x + y * y * y * y - 5 * y * y + z * z * z * z - 5 * z * z + 11.8f; }
//! classified_voxels 32 128 | out u32:4096 | zero u32:8 | s f32 0.25
// Corners of a cube against the level; how many vertices follow from the case by population count of the crossed edges.
extern "C" __global__ void classified_voxels(uint32_t *verts, uint32_t *total, float level)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = i & 15, y = i >> 4 & 15, z = i >> 8;
    float px = -3 + 0.375f * x, py = -3 + 0.375f * y, pz = -3 + 0.375f * z;
    uint32_t cube = 0;
    for (int k = 0; k < 8; k++) cube |= (uint32_t)(field(px + (k & 1) * 0.375f, py + (k >> 1 & 1) * 0.375f, pz + (k >> 2) * 0.375f) < level) << k;
    uint32_t edges = __popc((cube ^ cube >> 1) & 0x55) + __popc((cube ^ cube >> 2) & 0x33) + __popc((cube ^ cube >> 4) & 0x0f);
    verts[i] = cube << 8 | edges;
    cg::coalesced_group all = cg::coalesced_threads();
    uint32_t s = cg::reduce(cg::tiled_partition<32>(cg::this_thread_block()), edges, cg::plus<uint32_t>());
    if (all.thread_rank() == 0) atomicAdd(total + (blockIdx.x & 7), s);
}

//! gaussian_recursive 4 64 | u32:32768 | out u32:32768
// A third-order recursive blur over rows of colours packed in a word, forward only, clamped.
extern "C" __global__ void gaussian_recursive(const uint32_t *in, uint32_t *out)
{
    int x = blockIdx.x * 64 + threadIdx.x;
    const float a0 = 0.0477f, a1 = 0.0321f, b1 = -1.4895f, b2 = 0.5546f, coefp = 0.5f;
    float4 xp = {0, 0, 0, 0}, yp = xp, yb = xp;
    (void)coefp;
    for (int y = 0; y < 128; y++) {
        uint32_t v = in[y * 256 + x];
        float4 xc = {(float)(v & 255), (float)(v >> 8 & 255), (float)(v >> 16 & 255), (float)(v >> 24)};
        float4 yc = {a0 * xc.x + a1 * xp.x - b1 * yp.x - b2 * yb.x, a0 * xc.y + a1 * xp.y - b1 * yp.y - b2 * yb.y, a0 * xc.z + a1 * xp.z - b1 * yp.z - b2 * yb.z,
                     a0 * xc.w + a1 * xp.w - b1 * yp.w - b2 * yb.w};
        out[y * 256 + x] = (uint32_t)__saturatef(yc.w / 255) * 0x01000000u + ((uint32_t)fminf(fmaxf(yc.z, 0), 255) << 16 | (uint32_t)fminf(fmaxf(yc.y, 0), 255) << 8 | (uint32_t)fminf(fmaxf(yc.x, 0), 255));
        xp = xc;
        yb = yp;
        yp = yc;
    }
}

//! separable_columns 12,4 16,8 | f32:49152:0:1 | out f32:49152
// Eight results a thread, halo steps of eight rows, columns of shared memory padded by one.
extern "C" __global__ void separable_columns(const float *src, float *dst)
{
    __shared__ float s[16][10 * 8 + 1];
    const int pitch = 192, height = 256;
    int bx = blockIdx.x * 16 + threadIdx.x, by = (blockIdx.y * 8 - 1) * 8 + threadIdx.y;
    src += by * pitch + bx;
    dst += by * pitch + bx;
#pragma unroll
    for (int i = 1; i < 9; i++) s[threadIdx.x][threadIdx.y + i * 8] = src[i * 8 * pitch];
    s[threadIdx.x][threadIdx.y] = by >= 0 ? src[0] : 0;
    s[threadIdx.x][threadIdx.y + 72] = height - by > 72 ? src[72 * pitch] : 0;
    __syncthreads();
#pragma unroll
    for (int i = 1; i < 9; i++) {
        float sum = 0;
#pragma unroll
        for (int j = -8; j <= 8; j++) sum += (9 - abs(j)) * (1.0f / 81) * s[threadIdx.x][threadIdx.y + i * 8 + j];
        dst[i * 8 * pitch] = sum;
    }
}

//! halved_and_halved 20 256 | s32:5120 | out s32:20 | out s32:640
// Binary partitions of tiles by the lowest bit; sums of the odd ones, scans of the even ones.
extern "C" __global__ void halved_and_halved(const int *in, int *odd, int *first)
{
    __shared__ int s;
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<32>(block);
    if (threadIdx.x == 0) s = 0;
    block.sync();
    int v = in[blockIdx.x * 256 + threadIdx.x] & 0xffff, r = 0;
    auto part = cg::binary_partition(tile, v & 1);
    if (v & 1) {
        int sum = cg::reduce(part, v, cg::plus<int>());
        if (part.thread_rank() == 0) atomicAdd(&s, sum);
    } else {
        int sc = cg::inclusive_scan(part, v >> 4, cg::bit_xor<int>());
        r = sc * (int)part.size();
    }
    r = cg::reduce(tile, r, cg::greater<int>());
    if (tile.thread_rank() < 4) first[blockIdx.x * 32 + tile.meta_group_rank() * 4 + tile.thread_rank()] = r + tile.thread_rank();
    block.sync();
    if (threadIdx.x == 0) odd[blockIdx.x] = s;
}

//! collided_particles 8 128 | f32:4096:-1:1 | f32:4096:-0.01:0.01 | s32:1024:0:1024 | out f32:4096
// Springs, damping and shear between spheres of a grid cell and its neighbours.
extern "C" __global__ void collided_particles(const float4 *pos, const float4 *vel, const int *order, float4 *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 p = pos[i], v = vel[i];
    float fx = 0, fy = 0, fz = 0;
    int cell = i >> 4;
    for (int dz = -1; dz <= 1; dz++)
        for (int k = 0; k < 16; k++) {
            int j = order[((cell + dz * 3 + 64) & 63) * 16 + k];
            if (j == i) continue;
            float4 q = pos[j], u = vel[j];
            float dx = q.x - p.x, dy = q.y - p.y, dzz = q.z - p.z, dist = sqrtf(dx * dx + dy * dy + dzz * dzz);
            if (dist < 0.5f && dist > 1e-3f) {
                float nx = dx / dist, ny = dy / dist, nz = dzz / dist, rx = u.x - v.x, ry = u.y - v.y, rz = u.z - v.z;
                float rn = rx * nx + ry * ny + rz * nz, spring = -0.5f * (0.5f - dist);
                fx += spring * nx + 0.02f * rx + 0.1f * (rx - rn * nx);
                fy += spring * ny + 0.02f * ry + 0.1f * (ry - rn * ny);
                fz += spring * nz + 0.02f * rz + 0.1f * (rz - rn * nz);
            }
        }
    out[i] = make_float4(v.x + fx, v.y + fy, v.z + fz, v.w);
}

//! line_of_sight_scan 1 256 | f32:2048:0:1 | out u8:2048
// What is visible from the start of a line: a running maximum over eight pieces by a scan of the block.
extern "C" __global__ void line_of_sight_scan(const float *height, unsigned char *visible)
{
    __shared__ float top[8], carry;
    int t = threadIdx.x, lane = t & 31, warp = t >> 5;
    if (t == 0) carry = -1e9f;
    __syncthreads();
    for (int base = 0; base < 2048; base += 256) {
        float a = atanf((height[base + t] * 30 - 15) / (base + t + 1)), m = a;
        for (int d = 1; d < 32; d <<= 1) {
            float up = __shfl_up_sync(~0u, m, d);
            if (lane >= d) m = fmaxf(m, up);
        }
        if (lane == 31) top[warp] = m;
        float before = __shfl_up_sync(~0u, m, 1);
        if (lane == 0) before = -1e9f;
        __syncthreads();
        before = fmaxf(before, carry);
        for (int w = 0; w < warp; w++) before = fmaxf(before, top[w]);
        visible[base + t] = a >= before;
        __syncthreads();
        if (t == 255) carry = fmaxf(before, m);
        __syncthreads();
    }
}

//! two_floats_mandelbrot 8,16 16,8 | out u16:16384 | s f32 -0.745 | s f32 0.11
// Deep pictures with two floats for a number.
extern "C" __global__ void two_floats_mandelbrot(unsigned short *out, float cx, float cy)
{
    int ix = blockIdx.x * 16 + threadIdx.x, iy = blockIdx.y * 8 + threadIdx.y;
    auto add = [](float &a0, float &a1, float b0, float b1) {
        float t1 = __fadd_rn(a0, b0), e = __fsub_rn(t1, a0);
        float t2 = __fadd_rn(__fadd_rn(__fadd_rn(__fsub_rn(b0, e), __fsub_rn(a0, __fsub_rn(t1, e))), a1), b1);
        a0 = __fadd_rn(t1, t2);
        a1 = __fsub_rn(t2, __fsub_rn(a0, t1));
    };
    auto mul = [](float a0, float a1, float b0, float b1, float &c0, float &c1) {
        float c11 = __fmul_rn(a0, b0), c21 = __fmaf_rn(a0, b0, -c11), c2 = __fadd_rn(__fmul_rn(a0, b1), __fmul_rn(a1, b0));
        float t1 = __fadd_rn(c11, c2), e = __fsub_rn(t1, c11);
        float t2 = __fadd_rn(__fadd_rn(__fsub_rn(c2, e), __fsub_rn(c11, __fsub_rn(t1, e))), c21);
        c0 = __fadd_rn(t1, t2);
        c1 = __fsub_rn(t2, __fsub_rn(c0, t1));
    };
    float x0 = cx, x1 = ix * 1e-7f, y0 = cy, y1 = iy * 1e-7f, zx0 = x0, zx1 = x1, zy0 = y0, zy1 = y1;
    int n = 0;
    for (; n < 96; n++) {
        float xx0, xx1, yy0, yy1, xy0, xy1;
        mul(zx0, zx1, zx0, zx1, xx0, xx1);
        mul(zy0, zy1, zy0, zy1, yy0, yy1);
        if (xx0 + yy0 > 4) break;
        mul(zx0, zx1, zy0, zy1, xy0, xy1);
        add(xx0, xx1, -yy0, -yy1);
        add(xx0, xx1, x0, x1);
        xy0 *= 2, xy1 *= 2;
        add(xy0, xy1, y0, y1);
        zx0 = xx0, zx1 = xx1, zy0 = xy0, zy1 = xy1;
    }
    out[iy * 128 + ix] = n;
}

//! paths_antithetic 10 128 | f32:20480:-2:2 | out f32:10 | s f32 0.3 | s f32 0.02
// Pairs of paths by opposite normals, sixteen steps, sums of the block in double.
extern "C" __global__ void paths_antithetic(const float *z, float *value, float sigma, float rate)
{
    __shared__ double sum[4];
    int i = blockIdx.x * 128 + threadIdx.x;
    float up = 100, down = 100, drift = (rate - 0.5f * sigma * sigma) / 16, vol = sigma * 0.25f;
    for (int k = 0; k < 16; k++) {
        float e = z[k * 1280 + i];
        up *= __expf(drift + vol * e);
        down *= __expf(drift - vol * e);
    }
    double v = 0.5 * (fmaxf(up - 105, 0) + fmaxf(down - 105, 0));
    for (int d = 16; d; d >>= 1) v += __shfl_down_sync(~0u, v, d);
    if ((threadIdx.x & 31) == 0) sum[threadIdx.x >> 5] = v;
    __syncthreads();
    if (threadIdx.x == 0) value[blockIdx.x] = (float)((sum[0] + sum[1] + sum[2] + sum[3]) / 128 * exp(-(double)rate));
}

//! interval_newton 6 64 | f64:384:0.5:1.5 | out f64:768
// Interval arithmetic by directed rounding: halves until the width of a root of x^3 + x = c is small.
extern "C" __global__ void interval_newton(const double *c, double *bounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double lo = 0, hi = 2, target = c[i];
    for (int k = 0; k < 30; k++) {
        double m = 0.5 * (lo + hi);
        double fl = __dsub_rd(__dadd_rd(__dmul_rd(__dmul_rd(m, m), m), m), target), fh = __dsub_ru(__dadd_ru(__dmul_ru(__dmul_ru(m, m), m), m), target);
        double dl = __dadd_rd(__dmul_rd(3, __dmul_rd(lo, lo)), 1), dh = __dadd_ru(__dmul_ru(3, __dmul_ru(hi, hi)), 1);
        double ql = fl >= 0 ? __ddiv_rd(fl, dh) : __ddiv_rd(fl, dl), qh = fh >= 0 ? __ddiv_ru(fh, dl) : __ddiv_ru(fh, dh);
        double nl = __dsub_rd(m, qh), nh = __dsub_ru(m, ql);
        if (nl <= lo && nh >= hi) break;
        lo = fmax(lo, nl), hi = fmin(hi, nh);
        if (hi - lo < 1e-13) break;
    }
    bounds[2 * i] = lo;
    bounds[2 * i + 1] = hi;
}

//! four_way_transposed 16,4 32,8 | u32:65536 | out u32:65536
// Fine-grained and coarse-grained copies of tiles: rows of the tile turned, then whole tiles swapped along the diagonal.
extern "C" __global__ void four_way_transposed(const uint32_t *in, uint32_t *out)
{
    __shared__ uint32_t tile[32][33];
    int bx = blockIdx.x, by = blockIdx.y, x = bx * 32 + threadIdx.x, y = by * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8) tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * 512 + x];
    __syncthreads();
    int dx = (bx + by * 4 + 3) & 15, dy = by ^ (bx & 3);
    for (int i = 0; i < 32; i += 8) out[(dy * 32 + threadIdx.y + i) * 512 + dx * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y + i];
}
