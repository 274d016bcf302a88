/* polyhedral.cu - linear algebra and stencils in the plainest form: a thread an element, sizes as arguments. */
#include <cstdint>
#define K extern "C" __global__ void

//! product_then_scale 4,16 32,8 | s s32 128 | s s32 128 | s s32 96 | f32:12288:-1:1 | f32:12288:-1:1 | out f32:16384 | s f32 1.5
K product_then_scale(int ni, int nj, int nk, const float *A, const float *B, float *tmp, float alpha)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < ni && j < nj) {
        tmp[i * nj + j] = 0;
        for (int k = 0; k < nk; k++) tmp[i * nj + j] += alpha * A[i * nk + k] * B[k * nj + j];
    }
}

//! product_with_beta 4,16 32,8 | s s32 128 | s s32 100 | s s32 128 | f32:16384:-1:1 | f32:12800:-1:1 | inout f32:12800:-1:1 | s f32 1.2
K product_with_beta(int ni, int nl, int nj, const float *tmp, const float *C, float *D, float beta)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if ((i < ni) && (j < nl)) {
        D[i * nl + j] *= beta;
        int k;
        for (k = 0; k < nj; k++) D[i * nl + j] += tmp[i * nj + k] * C[k * nl + j];
    }
}

//! transposed_vector_atax 2 256 | s s32 512 | s s32 300 | f32:153600:-1:1 | f32:512:-1:1 | zero f32:512
K transposed_vector_atax(int ny, int nx, const float *A, const float *tmp, float *y)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < ny) {
        y[j] = 0;
        for (int i = 0; i < nx; i++) y[j] += A[i * ny + j] * tmp[i];
    }
}

//! rows_of_mvt 20 64 | s s32 1230 | s s32 90 | f32:110700:-1:1 | inout f32:1280:-1:1 | f32:90:-1:1
K rows_of_mvt(int n, int m, const float *a, float *x1, const float *y1)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        for (int j = 0; j < m; j++) x1[i] += a[i * m + j] * y1[j];
}

//! double_rows_gesummv 5 64 | s s32 320 | s s32 128 | s f64 1.5 | s f64 2.5 | f64:40960:-1:1 | f64:40960:-1:1 | out f64:320 | f64:320:-1:1 | out f64:320
K double_rows_gesummv(int n, int m, double alpha, double beta, const double *A, const double *B, double *tmp, const double *x, double *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        for (int j = 0; j < m; j++) {
            tmp[i] += A[i * m + j] * x[j];
            y[i] += B[i * m + j] * x[j];
        }
        y[i] = alpha * tmp[i] + beta * y[i];
    }
}

//! square_syrk 6,12 16,8 | s s32 96 | s s32 64 | s f32 1.5 | s f32 0.5 | f32:6144:-1:1 | inout f32:9216:-1:1
K square_syrk(int ni, int nj, float alpha, float beta, const float *a, float *c)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < ni && j < ni) {
        c[i * ni + j] *= beta;
        for (int k = 0; k < nj; k++) c[i * ni + j] += alpha * a[i * nj + k] * a[j * nj + k];
    }
}

//! two_rank_gemver 132 32,8 | s s32 176 | inout f32:33792:-1:1 | f32:192:-1:1 | f32:192:-1:1 | f32:192:-1:1 | f32:192:-1:1
K two_rank_gemver(int n, float *a, const float *v1, const float *v2, const float *u1, const float *u2)
{
    int j = blockIdx.x % 6 * blockDim.x + threadIdx.x, i = blockIdx.x / 6 * blockDim.y + threadIdx.y;
    if (i < n && j < n) a[i * n + j] += u1[i] * v1[j] + u2[i] * v2[j];
}

//! means_of_columns 2 128 | s s32 250 | s s32 100 | out f32:256 | f32:25000:0:1 | s f32 100.0
K means_of_columns(int m, int n, float *mean, const float *data, float float_n)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < m) {
        mean[j] = 0;
        for (int i = 0; i < n; i++) mean[j] += data[i * m + j];
        mean[j] /= float_n;
    }
}

//! deviations_of_columns 2 128 | s s32 250 | s s32 100 | f32:256:0.4:0.6 | out f32:256 | f32:25000:0:1 | s f32 100.0 | s f32 0.005
K deviations_of_columns(int m, int n, const float *mean, float *std, const float *data, float float_n, float eps)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < m) {
        std[j] = 0;
        for (int i = 0; i < n; i++) std[j] += (data[i * m + j] - mean[j]) * (data[i * m + j] - mean[j]);
        std[j] /= float_n;
        std[j] = sqrtf(std[j]);
        if (std[j] <= eps) std[j] = 1.0f;
    }
}

//! columns_centred 8,13 32,8 | s s32 250 | s s32 100 | f32:256:0.4:0.6 | f32:256:0.2:0.3 | inout f32:25000:0:1 | s f32 100.0
K columns_centred(int m, int n, const float *mean, const float *std, float *data, float float_n)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j < m) {
        data[i * m + j] -= mean[j];
        data[i * m + j] /= sqrtf(float_n) * std[j];
    }
}

//! covariance_of_pairs 3 64 | s s32 160 | s s32 60 | out f32:25600 | f32:9600:-1:1
K covariance_of_pairs(int m, int n, float *symmat, const float *data)
{
    int j1 = blockIdx.x * blockDim.x + threadIdx.x;
    if (j1 < m)
        for (int j2 = j1; j2 < m && j2 < j1 + 12; j2++) {
            symmat[j1 * m + j2] = 0.0f;
            for (int i = 0; i < n; i++) symmat[j1 * m + j2] += data[i * m + j1] * data[i * m + j2];
            symmat[j2 * m + j1] = symmat[j1 * m + j2];
        }
}

//! magnetic_z_fdtd 16,64 32,8 | s s32 500 | s s32 500 | f32:262144:-1:1 | f32:262144:-1:1 | inout f32:250000:-1:1
K magnetic_z_fdtd(int nx, int ny, const float *ex, const float *ey, float *hz)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if ((i < nx - 1) && (j < ny - 1))
        hz[i * ny + j] = hz[i * ny + j] - 0.7f * (ex[i * ny + j + 1] - ex[i * ny + j] + ey[(i + 1) * ny + j] - ey[i * ny + j]);
}

//! nine_weights_conv 32,128 32,8 | s s32 1000 | s s32 1000 | f32:1000000:0:1 | out f32:1000000
// 4,096 blocks.
K nine_weights_conv(int ni, int nj, const float *A, float *B)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    float c11 = 0.2f, c21 = 0.5f, c31 = -0.8f, c12 = -0.3f, c22 = 0.6f, c32 = -0.9f, c13 = 0.4f, c23 = 0.7f, c33 = 0.1f;
    if (i < ni - 1 && j < nj - 1 && i > 0 && j > 0)
        B[i * nj + j] = c11 * A[(i - 1) * nj + (j - 1)] + c21 * A[(i - 1) * nj + (j + 0)] + c31 * A[(i - 1) * nj + (j + 1)] +
                        c12 * A[(i + 0) * nj + (j - 1)] + c22 * A[(i + 0) * nj + (j + 0)] + c32 * A[(i + 0) * nj + (j + 1)] +
                        c13 * A[(i + 1) * nj + (j - 1)] + c23 * A[(i + 1) * nj + (j + 0)] + c33 * A[(i + 1) * nj + (j + 1)];
}

//! planes_one_by_one_conv 2,12 32,4 | s s32 24 | s s32 48 | s s32 64 | f32:73728:0:1 | out f32:73728
// A cube of weights over planes that the loop walks.
K planes_one_by_one_conv(int ni, int nj, int nk, const float *A, float *B)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (j < nj - 1 && k < nk - 1 && j > 0 && k > 0)
        for (int i = 1; i < ni - 1; ++i) {
            const float *c = A + i * nk * nj + j * nk + k;
            B[i * nk * nj + j * nk + k] = 2 * c[-nk * nj - nk - 1] + 4 * c[nk * nj - nk - 1] + 5 * c[-nk * nj - nk + 0] - 7 * c[nk * nj + 0] +
                                          -3 * c[-nk * nj + nk + 1] + 6 * c[-nk] - 9 * c[nk] + 8 * c[0] + 10 * c[nk * nj + nk + 1];
        }
}

//! norm_of_column 1 256 | s s32 120 | s s32 80 | f32:9600:-1:1 | out f32:9600 | s s32 17
K norm_of_column(int ni, int nj, const float *a, float *r, int k)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid == 0) {
        float nrm = 0.0f;
        for (int i = 0; i < ni; i++) nrm += a[i * nj + k] * a[i * nj + k];
        r[k * nj + k] = sqrtf(nrm);
    }
}

//! columns_made_orthogonal 1 256 | s s32 120 | s s32 200 | inout f32:24000:-1:1 | f32:24000:-0.1:0.1 | out f32:40000 | s s32 17
K columns_made_orthogonal(int ni, int nj, float *a, const float *q, float *r, int k)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if ((j > k) && (j < nj)) {
        r[k * nj + j] = 0.0f;
        for (int i = 0; i < ni; i++) r[k * nj + j] += q[i * nj + k] * a[i * nj + j];
        for (int i = 0; i < ni; i++) a[i * nj + j] -= q[i * nj + k] * r[k * nj + j];
    }
}

//! five_points_jacobi 8,32 32,8 | s s32 250 | f64:62500:0:1 | out f64:62500
K five_points_jacobi(int n, const double *A, double *B)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if ((i >= 1) && (i < (n - 1)) && (j >= 1) && (j < (n - 1)))
        B[i * n + j] = 0.2 * (A[i * n + j] + A[i * n + (j - 1)] + A[i * n + (1 + j)] + A[(1 + i) * n + j] + A[(i - 1) * n + j]);
}

//! three_points_jacobi 2048 64 | s s32 131000 | f32:131072:0:1 | out f32:131072
K three_points_jacobi(int n, const float *A, float *B)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1) B[i] = 0.33333f * (A[i - 1] + A[i] + A[i + 1]);
}

//! sweep_of_columns_adi 1 160 | s s32 160 | f64:25600:0.1:0.2 | inout f64:25600:2:3 | inout f64:25600:-1:1
K sweep_of_columns_adi(int n, const double *A, double *B, double *X)
{
    int i1 = blockIdx.x * blockDim.x + threadIdx.x;
    if (i1 < n)
        for (int i2 = 1; i2 < 60; i2++) {
            X[i1 * n + i2] = X[i1 * n + i2] - X[i1 * n + (i2 - 1)] * A[i1 * n + i2] / B[i1 * n + (i2 - 1)];
            B[i1 * n + i2] = B[i1 * n + i2] - A[i1 * n + i2] * A[i1 * n + i2] / B[i1 * n + (i2 - 1)];
        }
}

//! lu_trailing_update 7,25 32,8 | s s32 200 | inout f32:40000:-1:1 | s s32 2
K lu_trailing_update(int n, float *A, int k)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if ((i > k) && (j > k) && (i < n) && (j < n)) A[i * n + j] = A[i * n + j] - A[i * n + k] * A[k * n + j];
}
