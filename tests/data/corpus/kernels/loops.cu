/* loops.cu - loop nests of linear algebra and stencils, one thread a row, a column or an element, as compilers are measured with. */
#include <cstdint>

//! rows_then_columns_atax 3 128 | f32:98304:-1:1 | f32:256:-1:1 | out f32:384
extern "C" __global__ void rows_then_columns_atax(const float *__restrict__ A, const float *__restrict__ x, float *tmp)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 384) {
        tmp[i] = 0;
        for (int j = 0; j < 256; j++) tmp[i] += A[i * 256 + j] * x[j];
    }
}

//! stabiliser_bicg 4 96 | f32:98304:-1:1 | f32:384:-1:1 | f32:384:-1:1 | out f32:384 | out f32:384
// Columns in one loop and rows in another, by the same threads.
extern "C" __global__ void stabiliser_bicg(const float *A, const float *r, const float *p, float *s, float *q)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    float a = 0;
    if (j < 256) {
        for (int i = 0; i < 384; i++) a += r[i] * A[i * 256 + j];
        s[j] = a;
    }
    a = 0;
    for (int k = 0; k < 256; k++) a += A[j * 256 + k] * p[k];
    q[j] = a;
}

//! two_products_gesummv 2 256 | f64:131072:-1:1 | f64:131072:-1:1 | f64:256:-1:1 | out f64:512
extern "C" __global__ void two_products_gesummv(const double *A, const double *B, const double *x, double *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double t = 0, s = 0;
    for (int j = 0; j < 256; j++) {
        t += A[i * 256 + j] * x[j];
        s += B[i * 256 + j] * x[j];
    }
    y[i] = 1.5 * t + 1.2 * s;
}

//! rank_update_syr2k 6,24 32,8 | f32:12288:-1:1 | f32:12288:-1:1 | inout f32:36864:0:1 | s f32 1.5 | s f32 1.2
extern "C" __global__ void rank_update_syr2k(const float *A, const float *B, float *C, float alpha, float beta)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    const int n = 192, m = 64;
    if (i < n && j <= i) {
        C[i * n + j] *= beta;
        for (int k = 0; k < m; k++) C[i * n + j] += alpha * A[i * m + k] * B[j * m + k] + alpha * B[i * m + k] * A[j * m + k];
    }
}

//! correlation_pairs 2 64 | f32:32768:0:1 | out f32:16384
// One thread a column: mean, deviation, then its products with all later columns.
extern "C" __global__ void correlation_pairs(const float *data, float *corr)
{
    const int m = 128, n = 64;
    int j1 = blockIdx.x * blockDim.x + threadIdx.x;
    float mean = 0, sd = 0;
    for (int i = 0; i < n; i++) mean += data[i * m + j1];
    mean /= n;
    for (int i = 0; i < n; i++) {
        float d = data[i * m + j1] - mean;
        sd += d * d;
    }
    sd = sqrtf(sd / n);
    if (sd <= 0.005f) sd = 1;
    corr[j1 * m + j1] = 1;
    for (int j2 = j1 + 1; j2 < m; j2++) {
        float s = 0;
        for (int i = 0; i < n; i++) s += (data[i * m + j1] - mean) * data[i * m + j2];
        s /= sd * n;
        corr[j1 * m + j2] = s;
        corr[j2 * m + j1] = s;
    }
}

//! multiresolution_doitgen 12,12 16,4 | f32:27648:-1:1 | f32:2304:-1:1 | out f32:27648
// sum[r][q][p] = A[r][q][s] C4[s][p]; 12 x 48 rows of 48.
extern "C" __global__ void multiresolution_doitgen(const float *A, const float *C4, float *sum)
{
    int p = (blockIdx.x % 3) * blockDim.x + threadIdx.x, q = (blockIdx.x / 3) * 12 + (blockIdx.y % 3) * 4 + threadIdx.y;
    int r = blockIdx.y / 3 * 3;
    for (int z = r; z < r + 3; z++) {
        float s = 0;
        for (int k = 0; k < 48; k++) s += A[(z * 48 + q) * 48 + k] * C4[k * 48 + p];
        sum[(z * 48 + q) * 48 + p] = s;
    }
}

//! electric_y_fdtd 8,25 32,8 | f32:51200:-1:1 | f32:51456:-1:1 | inout f32:51200:-1:1 | s s32 3
extern "C" __global__ void electric_y_fdtd(const float *fict, const float *hz, float *ey, int t)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i == 0)
        ey[i * 256 + j] = fict[t];
    else
        ey[i * 256 + j] -= 0.5f * (hz[i * 256 + j] - hz[(i - 1) * 256 + j]);
}

//! gauss_seidel_wavefront 1 64 | inout f64:4356:0:1
// Nine points and two sweeps in one block: the antidiagonals of a 66 x 66 grid one after the other.
extern "C" __global__ void gauss_seidel_wavefront(double *A)
{
    const int n = 66;
    for (int sweep = 0; sweep < 2; sweep++)
        for (int w = 0; w < 64 + 2 * 63; w++) {
            int i = threadIdx.x + 1, j = w - 2 * (int)threadIdx.x + 1;
            if (j >= 1 && j <= 64) {
                double *c = A + i * n + j;
                *c = (c[-n - 1] + c[-n] + c[-n + 1] + c[-1] + c[0] + c[1] + c[n - 1] + c[n] + c[n + 1]) / 9.0;
            }
            __syncthreads();
        }
}

//! triangular_trmm 24 96 | f32:9216:-1:1 | f32:36864:-1:1 | out f32:36864
// B = A^T B with a unit lower triangle of 96 x 96 and 384 columns, a loop whose length is the row.
extern "C" __global__ void triangular_trmm(const float *A, const float *B, float *C)
{
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    for (int e = g; e < 96 * 384; e += gridDim.x * blockDim.x) {
        int i = e / 384, j = e % 384;
        float s = B[i * 384 + j];
        for (int k = i + 1; k < 96; k++) s += A[k * 96 + i] * B[k * 384 + j];
        C[e] = 1.5f * s;
    }
}

//! levinson_durbin 4 32 | f32:6144:-0.01:0.01 | out f32:6144
// A Toeplitz system a thread, the growing vector in local memory.
extern "C" __global__ void levinson_durbin(const float *rs, float *ys)
{
    const int n = 48;
    int id = blockIdx.x * 32 + threadIdx.x;
    const float *r = rs + id;
    float y[48], z[48];
    float alpha = -r[0], beta = 1;
    y[0] = -r[0];
    for (int k = 1; k < n; k++) {
        beta = (1 - alpha * alpha) * beta;
        float sum = 0;
        for (int i = 0; i < k; i++) sum += r[(k - i - 1) * 128] * y[i];
        alpha = -(r[k * 128] + sum) / beta;
        for (int i = 0; i < k; i++) z[i] = y[i] + alpha * y[k - i - 1];
        for (int i = 0; i < k; i++) y[i] = z[i];
        y[k] = alpha;
    }
    for (int k = 0; k < n; k++) ys[k * 128 + id] = y[k];
}

//! edges_of_deriche 2 128 | f32:65536:0:1 | scratch f32:65536 | out f32:65536
// Recursive filters along a row, forward and backward, and their sum.
extern "C" __global__ void edges_of_deriche(const float *in, float *y1, float *out)
{
    const int w = 256;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float k = 0.1906f, a1 = k, a2 = k * 0.7788f * (0.25f - 1), a3 = k * 0.7788f * (0.25f + 1), a4 = -k * 0.6065f, b1 = 1.5576f, b2 = -0.6065f;
    float xm1 = 0, ym1 = 0, ym2 = 0;
    for (int j = 0; j < w; j++) {
        float x = in[i * w + j], y = a1 * x + a2 * xm1 + b1 * ym1 + b2 * ym2;
        y1[i * w + j] = y;
        xm1 = x;
        ym2 = ym1;
        ym1 = y;
    }
    float xp1 = 0, xp2 = 0, yp1 = 0, yp2 = 0;
    for (int j = w - 1; j >= 0; j--) {
        float y = a3 * xp1 + a4 * xp2 + b1 * yp1 + b2 * yp2;
        xp2 = xp1;
        xp1 = in[i * w + j];
        yp2 = yp1;
        yp1 = y;
        out[i * w + j] = y1[i * w + j] + y;
    }
}

//! nussinov_wavefront 1 192 | u8:192:0:4 | zero s32:36864
// Pairs of bases by dynamic programming, diagonal by diagonal, with the split point in the inner loop.
extern "C" __global__ void nussinov_wavefront(const unsigned char *seq, int *table)
{
    const int n = 192;
    for (int d = 1; d < 64; d++) {
        int i = threadIdx.x, j = i + d;
        if (j < n) {
            int best = max(table[i * n + j - 1], table[(i + 1) * n + j]);
            int pair = seq[i] + seq[j] == 3;
            best = max(best, (d > 1 ? table[(i + 1) * n + j - 1] : 0) + pair);
            for (int k = i + 1; k < j; k++) best = max(best, table[i * n + k] + table[(k + 1) * n + j]);
            table[i * n + j] = best;
        }
        __syncthreads();
    }
}

//! symmetric_symm 12,12 16,8 | f32:9216:-1:1 | f32:18432:-1:1 | inout f32:18432:-1:1
// C = A B with half of A stored; the loop reads a row and then a column of it.
extern "C" __global__ void symmetric_symm(const float *A, const float *B, float *C)
{
    int j = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y;
    float s = 0;
    for (int k = 0; k <= i; k++) s += A[i * 96 + k] * B[k * 192 + j];
    for (int k = i + 1; k < 96; k++) s += A[k * 96 + i] * B[k * 192 + j];
    C[i * 192 + j] = 1.2f * C[i * 192 + j] + 1.5f * s;
}

//! seven_point_steps 4,32 32,4 | f32:65536:0:1 | out f32:65536
// A march through 16 planes of 32 x 128 with the three middle values in registers.
extern "C" __global__ void seven_point_steps(const float *A, float *B)
{
    const int nx = 128, ny = 32, nz = 16;
    int x = blockIdx.x * 32 + threadIdx.x, y = (blockIdx.y & 7) * 4 + threadIdx.y, z0 = (blockIdx.y >> 3) * 4;
    if (x == 0 || x == nx - 1 || y == 0 || y == ny - 1) return;
    const float *p = A + y * nx + x;
    int plane = nx * ny;
    for (int z = max(z0, 1); z < min(z0 + 4, nz - 1); z++) {
        const float *c = p + z * plane;
        B[z * plane + y * nx + x] = 0.125f * (c[plane] - 2.0f * c[0] + c[-plane]) + 0.125f * (c[nx] - 2.0f * c[0] + c[-nx]) +
                                    0.125f * (c[1] - 2.0f * c[0] + c[-1]) + c[0];
    }
}
