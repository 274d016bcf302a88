/* lattices.cu - stencils, convolutions, waves, cells and fluids on grids of one, two and three dimensions; pictures through windows. */
#include <cuda_fp16.h>
#include <cstdint>
#define K extern "C" __global__ void

//! laplace_of_seven_points_naive 4,16,16 32,4,4 | f32:524288:0:1 | out f32:524288 | s s32 128 | s s32 64 | s s32 64
K laplace_of_seven_points_naive(const float *u, float *v, int nx, int ny, int nz)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y, k = blockIdx.z * blockDim.z + threadIdx.z;
    if (i > 0 && i < nx - 1 && j > 0 && j < ny - 1 && k > 0 && k < nz - 1) {
        int c = i + nx * (j + ny * k);
        v[c] = u[c - 1] + u[c + 1] + u[c - nx] + u[c + nx] + u[c - nx * ny] + u[c + nx * ny] - 6.0f * u[c];
    }
}

//! twenty_seven_points_of_doubles 8,8 16,8 | f64:262144:0:1 | out f64:262144 | s s32 128 | s s32 64 | s s32 32 | s f64 0.4 | s f64 0.05
// One thread a column, all planes in a loop.
K twenty_seven_points_of_doubles(const double *__restrict__ in, double *__restrict__ out, int nx, int ny, int nz, double w0, double w1)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
    for (int z = 1; z < nz - 1; z++) {
        double s = 0;
        for (int dz = -1; dz <= 1; dz++)
            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++) s += in[((z + dz) * ny + y + dy) * nx + x + dx];
        double c = in[(z * ny + y) * nx + x];
        out[(z * ny + y) * nx + x] = w0 * c + w1 * (s - c);
    }
}

__constant__ float kernel1d[17] = {.01f, .02f, .03f, .04f, .06f, .08f, .1f, .11f, .1f, .11f, .1f, .08f, .06f, .04f, .03f, .02f, .01f};
//! convolution_rows_in_tiles 4,60 16,4 | f32:122880:0:1 | out f32:122880 | s s32 512 | s s32 240 | s s32 512
// Eight results a thread; apron of one step on both sides.
K convolution_rows_in_tiles(const float *src, float *dst, int w, int h, int pitch)
{
    __shared__ float s[4][(8 + 2) * 16];
    int baseX = (blockIdx.x * 8 - 1) * 16 + threadIdx.x, baseY = blockIdx.y * 4 + threadIdx.y;
    src += baseY * pitch + baseX;
    dst += baseY * pitch + baseX;
#pragma unroll
    for (int i = 1; i < 9; i++) s[threadIdx.y][threadIdx.x + i * 16] = src[i * 16];
    s[threadIdx.y][threadIdx.x] = baseX >= 0 ? src[0] : 0;
    s[threadIdx.y][threadIdx.x + 9 * 16] = w - baseX > 9 * 16 ? src[9 * 16] : 0;
    __syncthreads();
#pragma unroll
    for (int i = 1; i < 9; i++) {
        float sum = 0;
#pragma unroll
        for (int j = -8; j <= 8; j++) sum += kernel1d[8 - j] * s[threadIdx.y][threadIdx.x + i * 16 + j];
        dst[i * 16] = sum;
    }
}

//! convolution_one_dimension_constant 64 256 | f32:16384:-1:1 | out f32:16384 | s s32 17 | s s32 16384
K convolution_one_dimension_constant(const float *N, float *P, int maskWidth, int width)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = 0;
    int start = i - maskWidth / 2;
    for (int j = 0; j < maskWidth; j++)
        if (start + j >= 0 && start + j < width) v += N[start + j] * kernel1d[j];
    P[i] = v;
}

//! convolution_mask_from_memory 20,20 16,16 | f32:102400:0:1 | f32:49:-1:1 | out f32:102400 | s s32 320 | s s32 320 | s s32 3
K convolution_mask_from_memory(float *in, float *mask, float *out, int w, int h, int r)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float s = 0;
    for (int fy = 0; fy < 2 * r + 1; fy++)
        for (int fx = 0; fx < 2 * r + 1; fx++) {
            int iy = y - r + fy, ix = x - r + fx;
            if (iy >= 0 && iy < h && ix >= 0 && ix < w) s += mask[fy * (2 * r + 1) + fx] * in[iy * w + ix];
        }
    out[y * w + x] = s;
}

//! convolution_layer_of_four_channels 2,2,32 16,16 | f32:12544:-1:1 | f32:1152:-1:1 | out f32:21632 | s s32 4 | s s32 28 | s s32 28 | s s32 3
// Eight pictures a pass, output maps in z; 28 x 28 to 26 x 26.
K convolution_layer_of_four_channels(const float *x, const float *w, float *y, int C, int H, int W, int Kk)
{
    int oh = blockIdx.y * 16 + threadIdx.y, ow = blockIdx.x * 16 + threadIdx.x, m = blockIdx.z, Ho = H - Kk + 1, Wo = W - Kk + 1;
    if (oh < Ho && ow < Wo) {
        float acc = 0;
        for (int c = 0; c < C; c++)
            for (int p = 0; p < Kk; p++)
                for (int q = 0; q < Kk; q++) acc += x[c * H * W + (oh + p) * W + ow + q] * w[((m * C + c) * Kk + p) * Kk + q];
        y[(m * Ho + oh) * Wo + ow] = acc;
    }
}

//! life_on_a_torus_of_bytes 8,32 32,8 | u8:65536:0:2 | out u8:65536 | s s32 256
K life_on_a_torus_of_bytes(const uint8_t *a, uint8_t *b, int n)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    int l = (x + n - 1) % n, r = (x + 1) % n, u = (y + n - 1) % n, d = (y + 1) % n;
    int s = a[u * n + l] + a[u * n + x] + a[u * n + r] + a[y * n + l] + a[y * n + r] + a[d * n + l] + a[d * n + x] + a[d * n + r];
    b[y * n + x] = s == 3 || (s == 2 && a[y * n + x]);
}

//! waves_leapfrogging_in_one_block 1 1024 | f32:1024:-1:1 | out f32:1024 | s s32 300 | s f32 0.3
K waves_leapfrogging_in_one_block(const float *start, float *out, int steps, float c2)
{
    __shared__ float u[1026];
    int i = threadIdx.x + 1;
    float now = start[threadIdx.x], before = now;
    if (threadIdx.x == 0) u[0] = u[1025] = 0;
    for (int s = 0; s < steps; s++) {
        u[i] = now;
        __syncthreads();
        float next = 2 * now - before + c2 * (u[i - 1] - 2 * now + u[i + 1]);
        before = now;
        now = next;
        __syncthreads();
    }
    out[threadIdx.x] = now;
}

//! lattice_boltzmann_nine_speeds 8,64 32,2 | f32:294912:0.9:1.1 | out f32:294912 | s s32 256 | s s32 128 | s f32 0.8
// Pull, collide, write; nine arrays one after the other.
K lattice_boltzmann_nine_speeds(const float *__restrict__ f, float *__restrict__ g, int nx, int ny, float omega)
{
    const int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
    const float w[9] = {4.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 36, 1.f / 36, 1.f / 36, 1.f / 36};
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 2 + threadIdx.y, n = nx * ny;
    float p[9], rho = 0, ux = 0, uy = 0;
#pragma unroll
    for (int q = 0; q < 9; q++) {
        int sx = (x - cx[q] + nx) % nx, sy = (y - cy[q] + ny) % ny;
        p[q] = f[q * n + sy * nx + sx];
        rho += p[q], ux += cx[q] * p[q], uy += cy[q] * p[q];
    }
    ux /= rho, uy /= rho;
    float uu = 1.5f * (ux * ux + uy * uy);
#pragma unroll
    for (int q = 0; q < 9; q++) {
        float cu = 3 * (cx[q] * ux + cy[q] * uy), eq = w[q] * rho * (1 + cu + 0.5f * cu * cu - uu);
        g[q * n + y * nx + x] = p[q] + omega * (eq - p[q]);
    }
}

//! red_points_relaxed_in_doubles 16,32 16,8 | inout f64:65536:0:1 | f64:65536:-1:1 | s s32 256 | s s32 0 | s f64 1.7
K red_points_relaxed_in_doubles(double *u, const double *f, int n, int colour, double w)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i <= 0 || j <= 0 || i >= n - 1 || j >= n - 1) return;
    if (((i + j) & 1) != colour) return;
    int c = j * n + i;
    double r = 0.25 * (u[c - 1] + u[c + 1] + u[c - n] + u[c + n] - f[c]);
    u[c] = (1 - w) * u[c] + w * r;
}

//! stencil_three_d_block_with_halo 8,8,4 8,8,8 | f32:131072:0:1 | out f32:131072 | s s32 64 | s s32 64 | s s32 32
K stencil_three_d_block_with_halo(const float *in, float *out, int nx, int ny, int nz)
{
    __shared__ float t[10][10][10];
    int tx = threadIdx.x, ty = threadIdx.y, tz = threadIdx.z, x = blockIdx.x * 8 + tx, y = blockIdx.y * 8 + ty, z = blockIdx.z * 8 + tz;
    auto at = [&](int i, int j, int k) { return i < 0 || j < 0 || k < 0 || i >= nx || j >= ny || k >= nz ? 0.f : in[(k * ny + j) * nx + i]; };
    t[tz + 1][ty + 1][tx + 1] = at(x, y, z);
    if (tx == 0) t[tz + 1][ty + 1][0] = at(x - 1, y, z);
    if (tx == 7) t[tz + 1][ty + 1][9] = at(x + 1, y, z);
    if (ty == 0) t[tz + 1][0][tx + 1] = at(x, y - 1, z);
    if (ty == 7) t[tz + 1][9][tx + 1] = at(x, y + 1, z);
    if (tz == 0) t[0][ty + 1][tx + 1] = at(x, y, z - 1);
    if (tz == 7) t[9][ty + 1][tx + 1] = at(x, y, z + 1);
    __syncthreads();
    out[(z * ny + y) * nx + x] = 0.4f * t[tz + 1][ty + 1][tx + 1] + 0.1f * (t[tz + 1][ty + 1][tx] + t[tz + 1][ty + 1][tx + 2] + t[tz + 1][ty][tx + 1] +
                                                                            t[tz + 1][ty + 2][tx + 1] + t[tz][ty + 1][tx + 1] + t[tz + 2][ty + 1][tx + 1]);
}

//! median_of_bytes_by_sorting 20,15 16,16 | u8:76800 | out u8:76800 | s s32 320 | s s32 240
K median_of_bytes_by_sorting(const unsigned char *in, unsigned char *out, int w, int h)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    unsigned char v[9];
    int n = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) v[n++] = in[min(max(y + dy, 0), h - 1) * w + min(max(x + dx, 0), w - 1)];
    for (int i = 0; i < 9; i++)
        for (int j = i + 1; j < 9; j++)
            if (v[i] > v[j]) {
                unsigned char t = v[i];
                v[i] = v[j];
                v[j] = t;
            }
    out[y * w + x] = v[4];
}

//! nonlocal_means_small_windows 8,8 8,8 | f32:4096:0:1 | out f32:4096 | s s32 64 | s f32 8
K nonlocal_means_small_windows(const float *in, float *out, int n, float k)
{
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    float sum = 0, weight = 0;
    for (int i = -3; i <= 3; i++)
        for (int j = -3; j <= 3; j++) {
            float d = 0;
            for (int a = -1; a <= 1; a++)
                for (int b = -1; b <= 1; b++) {
                    float p = in[((y + a) & (n - 1)) * n + ((x + b) & (n - 1))], q = in[((y + i + a) & (n - 1)) * n + ((x + j + b) & (n - 1))];
                    d += (p - q) * (p - q);
                }
            float e = __expf(-d * k);
            sum += e * in[((y + i) & (n - 1)) * n + ((x + j) & (n - 1))];
            weight += e;
        }
    out[y * n + x] = sum / weight;
}

//! blur_of_halves_two_columns 4,64 32,4 | f16:65536:0:1 | out f16:65536 | s s32 128
K blur_of_halves_two_columns(const half2 *in, half2 *out, int pitch)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y, h = gridDim.y * 4;
    half2 s = __float2half2_rn(0.f), w[5] = {__float2half2_rn(.0625f), __float2half2_rn(.25f), __float2half2_rn(.375f), __float2half2_rn(.25f), __float2half2_rn(.0625f)};
#pragma unroll
    for (int d = -2; d <= 2; d++) {
        int r = y + d;
        if (r < 0) r = -r;
        if (r >= h) r = 2 * h - 2 - r;
        s = __hfma2(w[d + 2], in[r * pitch + x], s);
    }
    out[y * pitch + x] = s;
}

//! smoke_advected_in_three_dimensions 2,8,8 16,4,4 | f32:32768:-2:2 | f32:32768:-2:2 | f32:32768:-2:2 | f32:32768:0:1 | out f32:32768 | s s32 32 | s f32 0.9
K smoke_advected_in_three_dimensions(const float *u, const float *v, const float *w, const float *d, float *out, int n, float dt)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y, z = blockIdx.z * 4 + threadIdx.z, c = (z * n + y) * n + x;
    float px = fminf(fmaxf(x - dt * u[c], 0.5f), n - 1.5f), py = fminf(fmaxf(y - dt * v[c], 0.5f), n - 1.5f), pz = fminf(fmaxf(z - dt * w[c], 0.5f), n - 1.5f);
    int i = (int)px, j = (int)py, k = (int)pz;
    float a = px - i, b = py - j, g = pz - k;
    auto at = [&](int i, int j, int k) { return d[(k * n + j) * n + i]; };
    float s0 = (1 - b) * ((1 - a) * at(i, j, k) + a * at(i + 1, j, k)) + b * ((1 - a) * at(i, j + 1, k) + a * at(i + 1, j + 1, k));
    float s1 = (1 - b) * ((1 - a) * at(i, j, k + 1) + a * at(i + 1, j, k + 1)) + b * ((1 - a) * at(i, j + 1, k + 1) + a * at(i + 1, j + 1, k + 1));
    out[c] = (1 - g) * s0 + g * s1;
}
