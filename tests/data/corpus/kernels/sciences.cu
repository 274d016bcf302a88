/* sciences.cu - kernels as collections of scientific programs have them, with the sizes of a small test run. */
#include <cstdint>

//! layer_forward 1,32 16,16 | f32:17:0:1 | f32:8721:-1:1 | out f32:544
// Hidden units of a perceptron: products in shared memory, a tree over the rows of each tile, one block for sixteen units.
extern "C" __global__ void layer_forward(const float *input, const float *weights, float *partial)
{
    __shared__ float node[16], w[16][16];
    int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y, hid = 16 * 32;
    int index = (hid + 1) * ty + (by * 16 + tx) + hid + 2;
    if (index >= 8721) index -= 8721;
    if (tx == 0) node[ty] = input[ty + 1];
    __syncthreads();
    w[ty][tx] = weights[index];
    __syncthreads();
    w[ty][tx] = w[ty][tx] * node[ty];
    __syncthreads();
    for (int i = 1; i <= 4; i++) {
        int power = 1 << i;
        if (ty % power == 0) w[ty][tx] = w[ty][tx] + w[ty + power / 2][tx];
        __syncthreads();
    }
    if (tx == 0) partial[by * 16 + ty] = w[0][ty];
}

//! weights_adjusted 1,128 16,16 | f32:2049:-1:1 | f32:17:0:1 | inout f32:36000:-1:1 | inout f32:36000:-1:1
extern "C" __global__ void weights_adjusted(const float *delta, const float *ly, float *w, float *oldw)
{
    int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y, hid = 2048;
    int index = (hid + 1) * ty + (by * 16 + tx) + 1 + (hid + 1);
    int y = ty + 1, x = by * 16 + tx + 1;
    w[index] += 0.3f * delta[x] * ly[y] + 0.3f * oldw[index];
    oldw[index] = 0.3f * delta[x] * ly[y] + 0.3f * oldw[index];
    __syncthreads();
    if (ty == 0 && by == 0) {
        w[x] += 0.3f * delta[x] + 0.3f * oldw[x];
        oldw[x] = 0.3f * delta[x] + 0.3f * oldw[x];
    }
}

//! wide_tree_find 160 64 | iota s32:41000 | s32:160:0:40000 | out s32:160 | s s32 3
// Keys of a tree with 64 children in a node: each thread of the block compares one separator; the level's winner tells the rest.
extern "C" __global__ void wide_tree_find(const int *keys, const int *wanted, int *found, int height)
{
    __shared__ int node, next;
    int t = threadIdx.x, key = wanted[blockIdx.x];
    if (t == 0) node = 0, next = 0;
    __syncthreads();
    int span = 64 * 64;
    for (int level = 0; level < height; level++) {
        int first = node + t * span;
        int lo = first < 40960 ? keys[first] : 0x7fffffff;
        int hi = first + span < 40960 && t < 63 ? keys[first + span] : 0x7fffffff;
        if (lo <= key && key < hi) next = first;
        __syncthreads();
        if (t == 0) node = next;
        __syncthreads();
        span >>= 6;
        if (span == 0) span = 1;
    }
    if (keys[node] == key && t == 0) found[blockIdx.x] = node + 1;
}

struct flux {
    float d, e;
    float3 m;
};
__device__ __forceinline__ float3 velocity(float d, float3 m) { return make_float3(m.x / d, m.y / d, m.z / d); }
__device__ __forceinline__ float pressure(float d, float e, float3 v)
{
    return 0.4f * (e - 0.5f * d * (v.x * v.x + v.y * v.y + v.z * v.z));
}
//! unstructured_flux 32 192 | s32:24576:0:6144 | f32:73728:-1:1 | f32:30720:1:2 | out f32:30720
// Four neighbours of an unstructured cell by index, their normals, and the fluxes through the faces.
extern "C" __global__ void unstructured_flux(const int *neighbour, const float *normals, const float *vars, float *fluxes)
{
    const int n = 6144, i = blockDim.x * blockIdx.x + threadIdx.x;
    float d = vars[i], e = vars[i + 4 * n] + 6.0f;
    float3 m = make_float3(vars[i + n], vars[i + 2 * n], vars[i + 3 * n]);
    float3 v = velocity(d, m);
    float p = pressure(d, e, v), speed = sqrtf(v.x * v.x + v.y * v.y + v.z * v.z), c = sqrtf(1.4f * fabsf(p) / d);
    flux f = {0, 0, make_float3(0, 0, 0)};
#pragma unroll
    for (int j = 0; j < 4; j++) {
        int nb = neighbour[i + j * n];
        float3 normal = make_float3(normals[i + (j + 0) * n * 3 / 4], normals[i + j * n + n], normals[i + j * n + 2 * n]);
        float len = sqrtf(normal.x * normal.x + normal.y * normal.y + normal.z * normal.z);
        if (nb >= 100) {
            float dn = vars[nb], en = vars[nb + 4 * n] + 6.0f;
            float3 mn = make_float3(vars[nb + n], vars[nb + 2 * n], vars[nb + 3 * n]);
            float3 vn = velocity(dn, mn);
            float pn = pressure(dn, en, vn);
            float factor = -len * 0.2f * 0.5f * (speed + sqrtf(vn.x * vn.x + vn.y * vn.y + vn.z * vn.z) + c + sqrtf(1.4f * fabsf(pn) / dn));
            f.d += factor * (d - dn);
            f.e += factor * (e - en);
            f.m.x += factor * (m.x - mn.x);
            f.m.y += factor * (m.y - mn.y);
            f.m.z += factor * (m.z - mn.z);
            factor = 0.5f * normal.x;
            f.d += factor * (mn.x + m.x);
            f.e += factor * (vn.x * (en + pn) + v.x * (e + p));
            f.m.x += factor * (vn.x * mn.x + pn + v.x * m.x + p);
            f.m.y += factor * (vn.x * mn.y + v.x * m.y);
            factor = 0.5f * normal.y;
            f.d += factor * (mn.y + m.y);
            f.m.z += factor * (vn.y * mn.z + v.y * m.z);
        } else if (nb >= 50) {
            f.m.x += normal.x * p;
            f.m.y += normal.y * p;
            f.m.z += normal.z * p;
        } else {
            f.d += 0.5f * normal.x * (m.x + 1.0f);
            f.e += 0.5f * normal.y * (v.y * (e + p) + 2.0f);
        }
    }
    fluxes[i] = f.d;
    fluxes[i + n] = f.m.x;
    fluxes[i + 2 * n] = f.m.y;
    fluxes[i + 3 * n] = f.m.z;
    fluxes[i + 4 * n] = f.e;
}

//! elimination_column 1 512 | zero f32:16384 | f32:16384:1:2 | s s32 128 | s s32 5
extern "C" __global__ void elimination_column(float *m, const float *a, int size, int t)
{
    if (threadIdx.x + blockIdx.x * blockDim.x >= size - 1 - t) return;
    m[size * (blockDim.x * blockIdx.x + threadIdx.x + t + 1) + t] =
        a[size * (blockDim.x * blockIdx.x + threadIdx.x + t + 1) + t] / a[size * t + t];
}

//! elimination_plane 52,52 4,4 | f32:43264:0:1 | inout f32:43264:0:1 | inout f32:208:0:1 | s s32 208 | s s32 3
// Blocks of sixteen threads, half a warp each, over the whole rest of the matrix.
extern "C" __global__ void elimination_plane(const float *m, float *a, float *b, int size, int t)
{
    if (threadIdx.x + blockIdx.x * blockDim.x >= size - 1 - t) return;
    if (threadIdx.y + blockIdx.y * blockDim.y >= size - t) return;
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    a[size * (x + 1 + t) + (y + t)] -= m[size * (x + 1 + t) + t] * a[size * t + (y + t)];
    if (y == 0) b[x + 1 + t] -= m[size * (x + 1 + t) + (y + t)] * b[t];
}

struct charge {
    float v, x, y, z;
};
//! boxes_of_particles 27 128 | f32:10800:0:1 | f32:2700:0:1 | out f32:10800
// Each box of a hundred particles with its neighbours in a cube of 27; the home box stays in shared memory.
extern "C" __global__ void boxes_of_particles(const charge *rv, const float *qv, charge *fv)
{
    __shared__ charge ra[100], rb[100];
    __shared__ float qb[100];
    int bx = blockIdx.x, tx = threadIdx.x, first = bx * 100;
    for (int i = tx; i < 100; i += 128) ra[i] = rv[first + i];
    __syncthreads();
    charge f = {0, 0, 0, 0};
    int hx = bx % 3, hy = bx / 3 % 3, hz = bx / 9;
    for (int k = 0; k < 27; k++) {
        int nx = hx + k % 3 - 1, ny = hy + k / 3 % 3 - 1, nz = hz + k / 9 - 1;
        if (nx < 0 || ny < 0 || nz < 0 || nx > 2 || ny > 2 || nz > 2) continue;
        int other = (nz * 9 + ny * 3 + nx) * 100;
        for (int i = tx; i < 100; i += 128) rb[i] = rv[other + i], qb[i] = qv[other + i];
        __syncthreads();
        if (tx < 100)
            for (int j = 0; j < 100; j++) {
                float r2 = ra[tx].v + rb[j].v - (ra[tx].x * rb[j].x + ra[tx].y * rb[j].y + ra[tx].z * rb[j].z);
                float vij = expf(-0.5f * r2), fs = 2 * vij;
                f.v += qb[j] * vij;
                f.x += qb[j] * fs * (ra[tx].x - rb[j].x);
                f.y += qb[j] * fs * (ra[tx].y - rb[j].y);
                f.z += qb[j] * fs * (ra[tx].z - rb[j].z);
            }
        __syncthreads();
    }
    if (tx < 100) fv[first + tx] = f;
}

//! speckle_gradient 12,12 16,16 | f32:36864:1:2 | out f32:36864 | out f32:36864 | out f32:36864 | s f32 0.05
// Directional derivatives with clamped borders by shared memory and the diffusion coefficient.
extern "C" __global__ void speckle_gradient(const float *J, float *east, float *south, float *coefficient, float q0sqr)
{
    const int cols = 192;
    __shared__ float temp[16][16];
    int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int index = cols * 16 * by + 16 * bx + cols * ty + tx;
    temp[ty][tx] = J[index];
    __syncthreads();
    float jc = temp[ty][tx];
    float n = ty > 0 ? temp[ty - 1][tx] : by > 0 ? J[index - cols] : jc;
    float s = ty < 15 ? temp[ty + 1][tx] : by < 11 ? J[index + cols] : jc;
    float w = tx > 0 ? temp[ty][tx - 1] : bx > 0 ? J[index - 1] : jc;
    float e = tx < 15 ? temp[ty][tx + 1] : bx < 11 ? J[index + 1] : jc;
    n -= jc, s -= jc, w -= jc, e -= jc;
    float g2 = (n * n + s * s + w * w + e * e) / (jc * jc);
    float l = (n + s + w + e) / jc;
    float num = (0.5f * g2) - ((1.0f / 16.0f) * (l * l));
    float den = 1 + (.25f * l);
    float qsqr = num / (den * den);
    den = (qsqr - q0sqr) / (q0sqr * (1 + q0sqr));
    float c = 1.0f / (1.0f + den);
    coefficient[index] = c < 0 ? 0 : c > 1 ? 1 : c;
    east[index] = e;
    south[index] = s;
}

//! opening_gain 32 256 | f32:131072:0:1 | s32:8192:0:16 | u8:8192 | out f32:8192 | zero s32:16 | s s32 8192
// What opening a centre at point 77 would save: distances in sixteen dimensions, coordinates of the centre in shared memory.
extern "C" __global__ void opening_gain(const float *coord, const int *centre, const unsigned char *weight, float *lower, int *switched,
                                        int num)
{
    __shared__ float mine[16];
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < 16) mine[threadIdx.x] = coord[threadIdx.x * num + 77];
    __syncthreads();
    float x_cost = 0.0f;
    for (int i = 0; i < 16; i++) {
        float d = coord[i * num + tid] - mine[i];
        x_cost += d * d;
    }
    x_cost *= weight[tid] * (1.0f / 64);
    int c = centre[tid];
    float current = 0.1f * weight[tid];
    if (x_cost < current) {
        atomicAdd(&switched[c], 1);
        lower[tid] = x_cost - current;
    } else
        lower[tid] = 0;
}

//! index_of_cdf 16 128 | iota f32:2048 | f32:2048:0:2047 | f32:2048:0:1 | out f32:2048
// A particle filter's resampling: every particle scans the cumulative weights for the first that is not below its own value.
extern "C" __global__ void index_of_cdf(const float *cdf, const float *u, const float *from, float *to)
{
    __shared__ float mine[128];
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    mine[threadIdx.x] = u[i];
    __syncthreads();
    int index = -1;
    for (int x = 0; x < 2048; x++)
        if (cdf[x] >= mine[threadIdx.x]) {
            index = x;
            break;
        }
    if (index == -1) index = 2047;
    to[i] = from[index] * 0.5f + from[(index + 1) & 2047];
}

__device__ float rate(float a, float b, float c, float v) { return a * expf(b * (v + c)); }
//! heart_cell_steps 2 64 | f32:1024:0:1 | out f32:1024
// Eight coupled equations of a cell's membrane, sixty steps by the midpoint rule.
extern "C" __global__ void heart_cell_steps(const float *init, float *result)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = 128;
    float y[8], k[8], z[8];
    for (int j = 0; j < 8; j++) y[j] = init[j * n + i];
    y[0] = y[0] * 20 - 80;
    for (int step = 0; step < 60; step++) {
#pragma unroll
        for (int half = 0; half < 2; half++) {
            float *s = half ? z : y;
            float v = s[0];
            float am = 0.32f * (v + 47.13f) / (1 - expf(-0.1f * (v + 47.13f)) + 1e-3f), bm = rate(0.08f, -1 / 11.0f, 0, v);
            float ah = v < -40 ? rate(0.135f, -1 / 6.8f, 80, v) : 0, bh = v < -40 ? 3.56f * expf(0.079f * v) : 1 / (0.13f * (1 + expf((v + 10.66f) / -11.1f)));
            float ad = 0.095f * expf(-0.01f * (v - 5)) / (1 + expf(-0.072f * (v - 5)));
            float bd = 0.07f * expf(-0.017f * (v + 44)) / (1 + expf(0.05f * (v + 44)));
            float ina = 23 * s[1] * s[1] * s[1] * s[2] * s[3] * (v - 54.4f);
            float isi = 0.09f * s[4] * s[5] * (v - (7.7f - 13.0287f * logf(fabsf(s[7]) + 1e-4f)));
            float ik = 0.282f * s[6] * (v + 77);
            k[0] = -(ina + isi + ik + 0.03921f * (v + 59.87f));
            k[1] = am * (1 - s[1]) - bm * s[1];
            k[2] = ah * (1 - s[2]) - bh * s[2];
            k[3] = 0.1f * (ah * (1 - s[3]) - bh * s[3]);
            k[4] = ad * (1 - s[4]) - bd * s[4];
            k[5] = 0.012f * expf(-0.008f * (v + 28)) * (1 - s[5]) - 0.0065f * expf(-0.02f * (v + 30)) * s[5];
            k[6] = 0.0005f * expf(0.083f * (v + 50)) * (1 - s[6]) - 0.0013f * s[6];
            k[7] = -1e-4f * isi + 0.07f * (1e-4f - s[7]);
#pragma unroll
            for (int j = 0; j < 8; j++)
                if (half)
                    y[j] += 0.01f * k[j];
                else
                    z[j] = y[j] + 0.005f * k[j];
        }
    }
    for (int j = 0; j < 8; j++) result[j * n + i] = y[j];
}

//! bucket_of_values 24 128 4096 | f32:12288:0:1 | f32:1024:0:1 | out s32:12288 | zero s32:1024
// The bucket of a value by binary search over sorted-by-hash pivots in shared memory; its rank in the bucket is counted per block only.
extern "C" __global__ void bucket_of_values(const float *input, const float *pivots, int *bucket, int *sizes)
{
    extern __shared__ float pivot[];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) pivot[i] = (i + pivots[i]) * (1.0f / 1024);
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 12288; i += gridDim.x * blockDim.x) {
        float x = input[i];
        int b = 512, d = 256;
        while (d > 0) {
            b += x >= pivot[b] ? d : -d;
            d >>= 1;
        }
        if (x < pivot[b]) b--;
        bucket[i] = b;
        atomicAdd(&sizes[b & 1023], 1);
    }
}

//! snake_contour 48 32 | f32:16384:0:1 | f32:16384:0:1 | out f32:48
// Mean over variance of the gradient along discs, one radius a thread and one cell a block.
extern "C" __global__ void snake_contour(const float *gx, const float *gy, float *score)
{
    __shared__ float best[32];
    int t = threadIdx.x, cx = 16 + (blockIdx.x * 37) % 96, cy = 16 + (blockIdx.x * 53) % 96;
    float sum = 0, square = 0, radius = 2 + t * 0.375f;
    for (int k = 0; k < 48; k++) {
        float s, c;
        sincosf(k * 0.1308997f, &s, &c);
        int x = cx + (int)(radius * c), y = cy + (int)(radius * s);
        float p = gx[y * 128 + x] * c + gy[y * 128 + x] * s;
        sum += p;
        square += p * p;
    }
    float mean = sum / 48, variance = (square - 48 * mean * mean) / 47;
    best[t] = mean * mean / variance;
    for (int step = 16; step; step >>= 1) {
        __syncwarp();
        if (t < step) best[t] = fmaxf(best[t], best[t + step]);
    }
    __syncwarp();
    if (t == 0) score[blockIdx.x] = best[0];
}
