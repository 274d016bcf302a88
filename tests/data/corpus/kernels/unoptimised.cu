/* unoptimised.cu - as the front end leaves it: nvcc -Xcicc -O0 -lineinfo, every variable in memory. */
#include <cstdint>
#define K extern "C" __global__ void

//! plain_sum_of_products 12 64 | f32:7680 | f32:7680 | out f32:768
K plain_sum_of_products(const float *a, const float *b, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < 10; k++) s = s + a[k * 768 + i] * b[k * 768 + i];
    out[i] = s;
}

//! plain_bubbles 4 32 | s32:1024 | out s32:1024
K plain_bubbles(const int *in, int *out)
{
    int v[8], i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 8; k++) v[k] = in[i * 8 + k];
    for (int a = 0; a < 7; a++)
        for (int b = 0; b < 7 - a; b++)
            if (v[b] > v[b + 1]) {
                int t = v[b];
                v[b] = v[b + 1];
                v[b + 1] = t;
            }
    for (int k = 0; k < 8; k++) out[i * 8 + k] = v[k];
}

//! plain_block_sum 6 96 | s32:576:-9:9 | out s32:6
K plain_block_sum(const int *in, int *out)
{
    __shared__ int room[96];
    int t = threadIdx.x;
    room[t] = in[blockIdx.x * 96 + t];
    __syncthreads();
    for (int s = 48; s >= 3; s /= 2) {
        if (t < s) room[t] += room[t + s];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = room[0] + room[1] + room[2];
}

static __device__ int fibonacci(int n)
{
    if (n < 2) return n;
    return fibonacci(n - 1) + fibonacci(n - 2);
}

//! plain_fibonacci 3 32 | s32:96:0:8 | out s32:96
K plain_fibonacci(const int *n, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = fibonacci(n[i]);
}

//! plain_matrix_and_vector 8 32 | f64:8192:-1:1 | f64:32:-1:1 | out f64:256
K plain_matrix_and_vector(const double *m, const double *v, double *out)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x, c = 0;
    double s = 0;
    while (c < 32) {
        s += m[c * 256 + r] * v[c];
        c++;
    }
    out[r] = s;
}

//! plain_text_in_upper_case 5 64 | u8:2560:32:127 | out u8:2560
K plain_text_in_upper_case(const char *in, char *out)
{
    for (int k = 0; k < 8; k++) {
        int i = (blockIdx.x * blockDim.x + threadIdx.x) * 8 + k;
        char c = in[i];
        if (c >= 'a' && c <= 'z') c -= 'a' - 'A';
        out[i] = c;
    }
}
