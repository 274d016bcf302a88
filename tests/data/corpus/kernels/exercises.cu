/* exercises.cu - first programs with CUDA as people type them: bounds by if, indices in ints, no hints, sizes as in their main(). */
#include <cstdint>
#include <cstdio>

#define BLOCK 256
#define IDX(i, j, n) ((i) * (n) + (j))

//! vector_op_sqrt_sum 1024 256 | f32:262144:0:10 | f32:262144:0:10 | out f32:262144 | s s32 262144
extern "C" __global__ void vector_op_sqrt_sum(float *a, float *b, float *c, int n)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id < n)
        c[id] = sqrt(a[id] * a[id] + b[id] * b[id]);
}

//! matrix_mul_float_500 32,32 16,16 | f32:250000:-1:1 | f32:250000:-1:1 | out f32:250000 | s s32 500
extern "C" __global__ void matrix_mul_float_500(float *A, float *B, float *C, int N)
{
    int ROW = blockIdx.y * blockDim.y + threadIdx.y;
    int COL = blockIdx.x * blockDim.x + threadIdx.x;
    float tmpSum = 0;
    if (ROW < N && COL < N) {
        for (int i = 0; i < N; i++) {
            tmpSum += A[ROW * N + i] * B[i * N + COL];
        }
        C[ROW * N + COL] = tmpSum;
    }
}

//! matrix_mul_swapped_axes 8,8 16,16 | f32:16384:-1:1 | f32:16384:-1:1 | out f32:16384 | s s32 128
extern "C" __global__ void matrix_mul_swapped_axes(const float *A, const float *B, float *C, int N)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x; // the wrong way round: lanes go down the columns
    int col = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < N && col < N) {
        C[IDX(row, col, N)] = 0;
        for (int k = 0; k < N; k++)
            C[IDX(row, col, N)] += A[IDX(row, k, N)] * B[IDX(k, col, N)];
    }
}

//! matrix_mul_ints_long 12,12 16,16 | s32:36864:-100:100 | s32:36864:-100:100 | out s64:36864 | s s32 192
extern "C" __global__ void matrix_mul_ints_long(const int *a, const int *b, long long *c, int n)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || j >= n) return;
    long long s = 0;
    for (int k = 0; k < n; ++k) s += (long long)a[i * n + k] * b[k * n + j];
    c[i * n + j] = s;
}

//! matrix_transpose_guarded_doubles 25,20 16,16 | f64:127200:-1:1 | out f64:127200 | s s32 318 | s s32 400
extern "C" __global__ void matrix_transpose_guarded_doubles(double *in, double *out, int rows, int cols)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < rows && c < cols)
        out[c * rows + r] = in[r * cols + c];
}

//! dot_product_cached 64 256 | f32:100000:-1:1 | f32:100000:-1:1 | out f32:64 | s s32 100000
extern "C" __global__ void dot_product_cached(float *a, float *b, float *c, int N)
{
    __shared__ float cache[BLOCK];
    int tid = threadIdx.x + blockIdx.x * blockDim.x;
    int cacheIndex = threadIdx.x;
    float temp = 0;
    while (tid < N) {
        temp += a[tid] * b[tid];
        tid += blockDim.x * gridDim.x;
    }
    cache[cacheIndex] = temp;
    __syncthreads();
    int i = blockDim.x / 2;
    while (i != 0) {
        if (cacheIndex < i)
            cache[cacheIndex] += cache[cacheIndex + i];
        __syncthreads();
        i /= 2;
    }
    if (cacheIndex == 0)
        c[blockIdx.x] = cache[0];
}

//! one_thread_does_it_all 1 1 | s32:1500:-1000:1000 | out s64:4 | s s32 1500
extern "C" __global__ void one_thread_does_it_all(const int *a, long long *r, int n)
{
    long long sum = 0;
    int mx = a[0], mn = a[0], odd = 0;
    for (int i = 0; i < n; i++) {
        sum += a[i];
        if (a[i] > mx) mx = a[i];
        if (a[i] < mn) mn = a[i];
        if (a[i] & 1) odd++;
    }
    r[0] = sum, r[1] = mx, r[2] = mn, r[3] = odd;
}

//! image_to_grey_bytes 40,30 16,16 | u8:921600 | out u8:307200 | s s32 640 | s s32 480
extern "C" __global__ void image_to_grey_bytes(unsigned char *rgb, unsigned char *grey, int width, int height)
{
    int x = threadIdx.x + blockIdx.x * blockDim.x;
    int y = threadIdx.y + blockIdx.y * blockDim.y;
    if (x < width && y < height) {
        int greyOffset = y * width + x;
        int rgbOffset = greyOffset * 3;
        unsigned char r = rgb[rgbOffset], g = rgb[rgbOffset + 1], b = rgb[rgbOffset + 2];
        grey[greyOffset] = 0.21f * r + 0.71f * g + 0.07f * b;
    }
}

//! image_blur_window_of_five 20,15 16,16 | u8:76800 | out u8:76800 | s s32 320 | s s32 240
extern "C" __global__ void image_blur_window_of_five(unsigned char *in, unsigned char *out, int w, int h)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col < w && row < h) {
        int pixVal = 0, pixels = 0;
        for (int blurRow = -2; blurRow < 3; ++blurRow) {
            for (int blurCol = -2; blurCol < 3; ++blurCol) {
                int curRow = row + blurRow, curCol = col + blurCol;
                if (curRow > -1 && curRow < h && curCol > -1 && curCol < w) {
                    pixVal += in[curRow * w + curCol];
                    pixels++;
                }
            }
        }
        out[row * w + col] = (unsigned char)(pixVal / pixels);
    }
}

//! histogram_straight_to_memory 128 256 | u8:131072 | zero u32:256 | s s64 131072
extern "C" __global__ void histogram_straight_to_memory(unsigned char *buffer, unsigned int *histo, long size)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    int stride = blockDim.x * gridDim.x;
    while (i < size) {
        atomicAdd(&histo[buffer[i]], 1);
        i += stride;
    }
}

//! histogram_temporary_in_shared 64 256 | u8:262144 | zero u32:256 | s s64 262144
extern "C" __global__ void histogram_temporary_in_shared(unsigned char *buffer, unsigned int *histo, long size)
{
    __shared__ unsigned int temp[256];
    temp[threadIdx.x] = 0;
    __syncthreads();
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    int offset = blockDim.x * gridDim.x;
    while (i < size) {
        atomicAdd(&temp[buffer[i]], 1);
        i += offset;
    }
    __syncthreads();
    atomicAdd(&(histo[threadIdx.x]), temp[threadIdx.x]);
}

struct cuComplexNumber {
    float r, i;
    __device__ cuComplexNumber(float a, float b) : r(a), i(b) {}
    __device__ float magnitude2(void) { return r * r + i * i; }
    __device__ cuComplexNumber operator*(const cuComplexNumber &a) { return cuComplexNumber(r * a.r - i * a.i, i * a.r + r * a.i); }
    __device__ cuComplexNumber operator+(const cuComplexNumber &a) { return cuComplexNumber(r + a.r, i + a.i); }
};
__device__ int julia(int x, int y, int dim)
{
    const float scale = 1.5;
    float jx = scale * (float)(dim / 2 - x) / (dim / 2);
    float jy = scale * (float)(dim / 2 - y) / (dim / 2);
    cuComplexNumber c(-0.8, 0.156), a(jx, jy);
    for (int i = 0; i < 200; i++) {
        a = a * a + c;
        if (a.magnitude2() > 1000) return 0;
    }
    return 1;
}
//! julia_a_block_a_pixel 100,100 1 | out u8:40000 | s s32 100
extern "C" __global__ void julia_a_block_a_pixel(unsigned char *ptr, int dim)
{
    int x = blockIdx.x, y = blockIdx.y, offset = x + y * gridDim.x;
    int v = julia(x, y, dim);
    ptr[offset * 4 + 0] = 255 * v;
    ptr[offset * 4 + 1] = 0;
    ptr[offset * 4 + 2] = 0;
    ptr[offset * 4 + 3] = 255;
}

//! heat_plate_with_constant_points 16,16 16,16 | f32:65536:0:1 | f32:65536:0:1 | out f32:65536
extern "C" __global__ void heat_plate_with_constant_points(const float *inSrc, const float *cptr, float *outSrc)
{
    int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
    int offset = x + y * blockDim.x * gridDim.x, dim = blockDim.x * gridDim.x;
    int left = offset - 1, right = offset + 1;
    if (x == 0) left++;
    if (x == dim - 1) right--;
    int top = offset - dim, bottom = offset + dim;
    if (y == 0) top += dim;
    if (y == dim - 1) bottom -= dim;
    float c = inSrc[offset];
    if (cptr[offset] > 0.98f) c = cptr[offset];
    outSrc[offset] = c + 0.25f * (inSrc[top] + inSrc[bottom] + inSrc[left] + inSrc[right] - inSrc[offset] * 4);
}

struct Sphere {
    float r, b, g, radius, x, y, z;
    __device__ float hit(float ox, float oy, float *n)
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
//! spheres_in_a_picture 16,16 16,16 | f32:140:20:120 | out u32:65536 | s s32 20
extern "C" __global__ void spheres_in_a_picture(Sphere *s, uchar4 *ptr, int spheres)
{
    int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y, offset = x + y * blockDim.x * gridDim.x;
    float ox = x, oy = y, r = 0, g = 0, b = 0, maxz = -2e10f;
    for (int i = 0; i < spheres; i++) {
        float n, t = s[i].hit(ox, oy, &n);
        if (t > maxz) {
            r = s[i].r * n, g = s[i].g * n, b = s[i].b * n;
            maxz = t;
        }
    }
    ptr[offset] = make_uchar4((int)r, (int)g, (int)b, 255);
}

//! rank_sort_all_pairs_guarded 8 128 | s32:1000:0:5000 | out s32:1000 | s s32 1000
extern "C" __global__ void rank_sort_all_pairs_guarded(int *data, int *sorted, int n)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid < n) {
        int rank = 0;
        for (int j = 0; j < n; j++)
            if (data[j] < data[tid] || (data[j] == data[tid] && j < tid)) rank++;
        sorted[rank] = data[tid];
    }
}

//! primes_by_trial_division 79 128 | out u8:10000 | s s32 10000
extern "C" __global__ void primes_by_trial_division(unsigned char *isPrime, int n)
{
    int num = blockIdx.x * blockDim.x + threadIdx.x;
    if (num >= n) return;
    if (num < 2) { isPrime[num] = 0; return; }
    for (int i = 2; i * i <= num; i++)
        if (num % i == 0) { isPrime[num] = 0; return; }
    isPrime[num] = 1;
}
