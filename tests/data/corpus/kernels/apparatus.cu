/* apparatus.cu - the tasks of well-known sample programs, written anew: filters, fields, transforms, solvers over the grid. */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdint>
#define K extern "C" __global__ void
namespace cg = cooperative_groups;

//! columns_blurred_by_running_sums 16 64 | f32:131072:0:255 | out f32:131072 | s s32 1024 | s s32 128 | s s32 7
// A thread goes down a column and keeps the sum of what its window covers.
K columns_blurred_by_running_sums(const float *in, float *out, int w, int h, int r)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    float scale = 1.0f / (2 * r + 1), sum = in[x] * r;
    for (int y = 0; y <= r; y++) sum += in[y * w + x];
    out[x] = sum * scale;
    for (int y = 1; y < h; y++) {
        int add = min(y + r, h - 1), sub = max(y - r - 1, 0);
        sum += in[add * w + x] - in[sub * w + x];
        out[y * w + x] = sum * scale;
    }
}

//! rows_blurred_by_running_sums 4 32 | f32:16384:0:255 | out f32:16384 | s s32 128 | s s32 5
K rows_blurred_by_running_sums(const float *in, float *out, int w, int r)
{
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    const float *row = in + y * w;
    float scale = 1.0f / (2 * r + 1), sum = row[0] * r;
    for (int x = 0; x <= r; x++) sum += row[x];
    for (int x = 0; x < w; x++) {
        out[y * w + x] = sum * scale;
        sum += row[min(x + r + 1, w - 1)] - row[max(x - r, 0)];
    }
}

//! velocity_carried_back 12,24 32,8 | f32:147456:-2:2 | out f32:147456 | s s32 384 | s s32 192 | s f32 0.5
// Where does what is here now come from? Four neighbours of that place are blended.
K velocity_carried_back(const float2 *v, float2 *out, int w, int h, float dt)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    float2 here = v[y * w + x];
    float px = fminf(fmaxf(x - dt * here.x, 0.0f), w - 1.001f), py = fminf(fmaxf(y - dt * here.y, 0.0f), h - 1.001f);
    int ix = (int)px, iy = (int)py;
    float fx = px - ix, fy = py - iy;
    float2 a = v[iy * w + ix], b = v[iy * w + ix + 1], c = v[(iy + 1) * w + ix], d = v[(iy + 1) * w + ix + 1];
    float2 r;
    r.x = (1 - fy) * ((1 - fx) * a.x + fx * b.x) + fy * ((1 - fx) * c.x + fx * d.x);
    r.y = (1 - fy) * ((1 - fx) * a.y + fx * b.y) + fy * ((1 - fx) * c.y + fx * d.y);
    out[y * w + x] = r;
}

//! flow_by_horn_and_schunck 20,24 32,8 | f32:122880:-1:1 | f32:122880:-1:1 | f32:122880:-1:1 | f32:122880:-1:1 | f32:122880:-1:1 | out f32:122880 | out f32:122880 | s s32 640 | s s32 192 | s f32 0.8
K flow_by_horn_and_schunck(const float *u0, const float *v0, const float *ix, const float *iy, const float *it, float *u1, float *v1, int w, int h, float alpha)
{
    __shared__ float su[10][34], sv[10][34];
    int tx = threadIdx.x, ty = threadIdx.y, t = ty * 32 + tx, x0 = blockIdx.x * 32 - 1, y0 = blockIdx.y * 8 - 1;
    for (int i = t; i < 340; i += 256) {
        int x = x0 + i % 34, y = y0 + i / 34;
        x = x < 0 ? 0 : x >= w ? w - 1 : x;
        y = y < 0 ? 0 : y >= h ? h - 1 : y;
        su[i / 34][i % 34] = u0[y * w + x];
        sv[i / 34][i % 34] = v0[y * w + x];
    }
    __syncthreads();
    int p = (blockIdx.y * 8 + ty) * w + blockIdx.x * 32 + tx;
    float u = 0.25f * (su[ty][tx + 1] + su[ty + 2][tx + 1] + su[ty + 1][tx] + su[ty + 1][tx + 2]);
    float v = 0.25f * (sv[ty][tx + 1] + sv[ty + 2][tx + 1] + sv[ty + 1][tx] + sv[ty + 1][tx + 2]);
    float a = ix[p], b = iy[p], q = (u * a + v * b + it[p]) / (alpha + a * a + b * b);
    u1[p] = u - a * q;
    v1[p] = v - b * q;
}

__constant__ float moro_a[4] = {2.50662823884f, -18.61500062529f, 41.39119773534f, -25.44106049637f};
__constant__ float moro_b[4] = {-8.4735109309f, 23.08336743743f, -21.06224101826f, 3.13082909833f};
__constant__ float moro_c[9] = {0.337475482272615f, 0.976169019091719f, 0.160797971491821f, 0.0276438810333863f, 0.00384057293736092f, 0.000395189651191f, 0.0000321767881768f, 0.0000002888167364f, 0.0000003960315187f};

//! uniform_points_made_normal 64 128 | u32:8192 | out f32:8192
K uniform_points_made_normal(const uint32_t *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float p = (in[i] + 0.5f) * 2.3283064e-10f;
    p = fminf(fmaxf(p, 1e-7f), 0.9999999f);
    float y = p - 0.5f, z;
    if (fabsf(y) < 0.42f) {
        z = y * y;
        z = y * (((moro_a[3] * z + moro_a[2]) * z + moro_a[1]) * z + moro_a[0]) / ((((moro_b[3] * z + moro_b[2]) * z + moro_b[1]) * z + moro_b[0]) * z + 1.0f);
    } else {
        float t = y > 0 ? __logf(-__logf(1.0f - p)) : __logf(-__logf(p)), s = 0, f = 1;
        for (int k = 0; k < 9; k++) {
            s += moro_c[k] * f;
            f *= t;
        }
        z = y > 0 ? s : -s;
    }
    out[i] = z;
}

//! conjugate_gradient_over_the_grid 24 128 | f64:3072:-1:1 | zero f64:3072 | scratch f64:3072 | scratch f64:3072 | scratch f64:64 | s s32 12 | cooperative
// (2.5, -1) tridiagonal; every block leaves its part of a dot product, everybody adds the parts in the same order.
__device__ double grid_sum(cg::grid_group &g, double v, double *part)
{
    __shared__ double s[4];
    for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x == 0) part[blockIdx.x] = s[0] + s[1] + s[2] + s[3];
    g.sync();
    double r = 0;
    for (unsigned b = 0; b < gridDim.x; b++) r += ((volatile double *)part)[b];
    return r;
}
K conjugate_gradient_over_the_grid(const double *b, double *x, double *p, double *scr, double *part, int steps)
{
    cg::grid_group g = cg::this_grid();
    int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    double r = b[i], xi = 0;
    p[i] = r;
    double rr = grid_sum(g, r * r, part);
    for (int k = 0; k < steps; k++) {
        double pi = p[i], q = 2.5 * pi - (i ? ((volatile double *)p)[i - 1] : 0.0) - (i + 1 < n ? ((volatile double *)p)[i + 1] : 0.0);
        double alpha = rr / grid_sum(g, pi * q, part + 32);
        xi += alpha * pi;
        r -= alpha * q;
        double next = grid_sum(g, r * r, part);
        p[i] = r + next / rr * pi;
        rr = next;
        g.sync();
    }
    x[i] = xi;
    scr[i] = rr;
}

//! summed_area_by_lanes_then_rows 96 256 | u8:98304 | out u32:98304
// A block a row of 1,024 bytes, four a thread as one word.
K summed_area_by_lanes_then_rows(const uint32_t *in, uint4 *out)
{
    __shared__ uint32_t warps[8];
    int t = threadIdx.x, lane = t % 32, w = t / 32;
    uint32_t v = in[blockIdx.x * 256 + t];
    uint4 s;
    s.x = v & 255;
    s.y = s.x + (v >> 8 & 255);
    s.z = s.y + (v >> 16 & 255);
    s.w = s.z + (v >> 24);
    uint32_t sum = s.w;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        uint32_t o = __shfl_up_sync(~0u, sum, d);
        if (lane >= d) sum += o;
    }
    if (lane == 31) warps[w] = sum;
    __syncthreads();
    if (w == 0) {
        uint32_t o = lane < 8 ? warps[lane] : 0;
#pragma unroll
        for (int d = 1; d < 8; d *= 2) {
            uint32_t q = __shfl_up_sync(~0u, o, d);
            if (lane >= d) o += q;
        }
        if (lane < 8) warps[lane] = o;
    }
    __syncthreads();
    uint32_t base = sum - s.w + (w ? warps[w - 1] : 0);
    s.x += base, s.y += base, s.z += base, s.w += base;
    out[blockIdx.x * 256 + t] = s;
}

//! depth_by_sums_of_four_bytes 10,12 32,8 | u32:32768 | u32:32768 | out u32:30720 | s s32 340
// Pixels of four bytes; the shift of twelve whose surroundings of nine differ least.
K depth_by_sums_of_four_bytes(const uint32_t *left, const uint32_t *right, uint32_t *out, int pitch)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (y > 93) return;
    uint32_t best = 0xffffffffu, arg = 0;
    for (int d = 0; d < 12; d++) {
        uint32_t cost = 0;
#pragma unroll
        for (int j = 0; j < 3; j++)
#pragma unroll
            for (int i = 0; i < 3; i++) cost += __vsadu4(left[(y + j) * pitch + x + i], right[(y + j) * pitch + min(x + i + d, pitch - 1)]);
        if (cost < best) best = cost, arg = d;
    }
    out[y * 320 + x] = arg << 16 | best;
}

//! enlarged_by_four_linear_fetches 12,12 16,16 | {"texture": "f32", "width": 96, "height": 96, "filter": "linear", "address": "clamp", "init": {"hash": 43001}} | out f32:36864 | s f32 0.47
__device__ float bw0(float a) { return (1.0f / 6) * (a * (a * (-a + 3.0f) - 3.0f) + 1.0f); }
__device__ float bw1(float a) { return (1.0f / 6) * (a * a * (3.0f * a - 6.0f) + 4.0f); }
__device__ float bw2(float a) { return (1.0f / 6) * (a * (a * (-3.0f * a + 3.0f) + 3.0f) + 1.0f); }
__device__ float bw3(float a) { return (1.0f / 6) * (a * a * a); }
K enlarged_by_four_linear_fetches(cudaTextureObject_t tex, float *out, float step)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float u = x * step, v = y * step, px = floorf(u), py = floorf(v), fx = u - px, fy = v - py;
    float g0x = bw0(fx) + bw1(fx), g1x = bw2(fx) + bw3(fx), g0y = bw0(fy) + bw1(fy), g1y = bw2(fy) + bw3(fy);
    float h0x = bw1(fx) / g0x - 0.5f, h1x = bw3(fx) / g1x + 1.5f, h0y = bw1(fy) / g0y - 0.5f, h1y = bw3(fy) / g1y + 1.5f;
    out[y * 192 + x] = g0y * (g0x * tex2D<float>(tex, px + h0x, py + h0y) + g1x * tex2D<float>(tex, px + h1x, py + h0y)) +
                       g1y * (g0x * tex2D<float>(tex, px + h0x, py + h1y) + g1x * tex2D<float>(tex, px + h1x, py + h1y));
}

//! pixels_packed_by_two_colours 128 64 | u32:8192 | out u32:2048
// Sixteen lanes hold a block of 4 x 4 pixels; least and greatest colours become 5:6:5, every pixel two bits.
__device__ uint32_t to565(int r, int g, int b) { return (r >> 3) << 11 | (g >> 2) << 5 | b >> 3; }
K pixels_packed_by_two_colours(const uint32_t *in, uint2 *out)
{
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    uint32_t v = in[blockIdx.x * 64 + threadIdx.x];
    int r = v & 255, g = v >> 8 & 255, b = v >> 16 & 255;
    int r0 = cg::reduce(tile, r, cg::less<int>()), g0 = cg::reduce(tile, g, cg::less<int>()), b0 = cg::reduce(tile, b, cg::less<int>());
    int r1 = cg::reduce(tile, r, cg::greater<int>()), g1 = cg::reduce(tile, g, cg::greater<int>()), b1 = cg::reduce(tile, b, cg::greater<int>());
    int dr = r1 - r0, dg = g1 - g0, db = b1 - b0, len = dr * dr + dg * dg + db * db;
    int q = len ? ((r - r0) * dr + (g - g0) * dg + (b - b0) * db) * 6 / len : 0;
    uint32_t code = q >= 5 ? 0 : q >= 3 ? 2 : q >= 1 ? 3 : 1, bits = code << 2 * tile.thread_rank();
    bits = cg::reduce(tile, bits, cg::bit_or<uint32_t>());
    if (tile.thread_rank() == 0) out[blockIdx.x * 4 + threadIdx.x / 16] = make_uint2(to565(r1, g1, b1) << 16 | to565(r0, g0, b0), bits);
}

//! spectra_multiplied_with_symmetry 48 128 | f32:12290:-1:1 | f32:12290:-1:1 | out f32:12290 | s s32 12288 | s f32 0.0001
// Two real signals were transformed as one complex one: parted, multiplied, joined.
K spectra_multiplied_with_symmetry(const float2 *data, const float2 *kern, float2 *out, int n, float scale)
{
    int half = n / 2, i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > half / 2) return;
    int j = i ? half - i : 0;
    float2 a = data[i], b = data[j], k = kern[i], l = kern[j];
    float2 e = make_float2(0.5f * (a.x + b.x), 0.5f * (a.y - b.y)), o = make_float2(0.5f * (a.y + b.y), 0.5f * (b.x - a.x));
    float si, co;
    __sincosf(6.2831853f * i / n, &si, &co);
    float2 p = make_float2(e.x + co * o.x - si * o.y, e.y + co * o.y + si * o.x);
    float2 q = make_float2(e.x - co * o.x + si * o.y, e.y - co * o.y - si * o.x);
    p = make_float2((p.x * k.x - p.y * k.y) * scale, (p.x * k.y + p.y * k.x) * scale);
    q = make_float2((q.x * l.x - q.y * l.y) * scale, (q.x * l.y + q.y * l.x) * scale);
    out[i] = make_float2(p.x + q.x, p.y - q.y);
    if (j != i) out[j] = make_float2(p.x - q.x, -p.y - q.y);
}

//! jacobi_rows_with_warps_and_error 256 128 | f32:65536:-1:1 | f64:256:-1:1 | f64:256:-1:1 | out f64:256 | out f64:256
// A block a row of a 256 x 256 system: the sum without the diagonal, the new value and how far it moved.
K jacobi_rows_with_warps_and_error(const float *a, const double *b, const double *x, double *xn, double *err)
{
    __shared__ double w[4];
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(cg::this_thread_block());
    int row = blockIdx.x;
    double s = 0;
    for (int j = threadIdx.x; j < 256; j += 128)
        if (j != row) s += (double)a[row * 256 + j] * x[j];
    s = cg::reduce(tile, s, cg::plus<double>());
    if (tile.thread_rank() == 0) w[tile.meta_group_rank()] = s;
    __syncthreads();
    if (threadIdx.x == 0) {
        double v = (b[row] - (w[0] + w[1] + w[2] + w[3])) / (300.0 + (double)a[row * 257]);
        err[row] = fabs(v - x[row]);
        xn[row] = v;
    }
}
