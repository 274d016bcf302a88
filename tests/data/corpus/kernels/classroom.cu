/* classroom.cu - what a first course in CUDA writes: sums, products, scans, histograms, transposes, filters. */
#include <cstdint>

#define TILE 16
#define THREADS 256
#define MASK_WIDTH 9

//! cubic_poly 3907 256 | f32:1000000:-1:1 | out f32:1000000 | s s32 1000000
extern "C" __global__ void cubic_poly(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = x[i];
        y[i] = 0.5f * v * v * v - 2.0f * v * v + v - 3.0f;
    }
}

//! mat_mul_bounds 9,7 16,16 | f32:7500:-1:1 | f32:9750:-1:1 | out f32:13000 | s s32 100 | s s32 75 | s s32 130
// C (M x N) = A (M x K) * B (K x N), none a multiple of the tile
extern "C" __global__ void mat_mul_bounds(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float ds_A[TILE][TILE];
    __shared__ float ds_B[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y;
    int col = blockIdx.x * TILE + threadIdx.x;
    float pvalue = 0.0f;
    for (int p = 0; p < (K - 1) / TILE + 1; ++p) {
        if (row < M && p * TILE + threadIdx.x < K)
            ds_A[threadIdx.y][threadIdx.x] = A[row * K + p * TILE + threadIdx.x];
        else
            ds_A[threadIdx.y][threadIdx.x] = 0.0f;
        if (p * TILE + threadIdx.y < K && col < N)
            ds_B[threadIdx.y][threadIdx.x] = B[(p * TILE + threadIdx.y) * N + col];
        else
            ds_B[threadIdx.y][threadIdx.x] = 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; ++i)
            pvalue += ds_A[threadIdx.y][i] * ds_B[i][threadIdx.x];
        __syncthreads();
    }
    if (row < M && col < N)
        C[row * N + col] = pvalue;
}

//! add_pitched 13,50 32,8 | f64:166400:0:1 | f64:166400:0:1 | out f64:166400 | s s32 400 | s s32 390 | s u64 3328
extern "C" __global__ void add_pitched(const char* a, const char* b, char* c, int width, int height, size_t pitch) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const double* ra = (const double*)(a + y * pitch);
    const double* rb = (const double*)(b + y * pitch);
    double* rc = (double*)(c + y * pitch);
    rc[x] = ra[x] + rb[x];
}

//! dot_by_example 32 256 | f32:33792:-1:1 | f32:33792:-1:1 | out f32:32 | s s32 33792
extern "C" __global__ void dot_by_example(float* a, float* b, float* c, int N) {
    __shared__ float cache[THREADS];
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

template <typename T, int N>
__device__ void reduceMinMax(const T* in, T* out, int n) {
    __shared__ T lo[N], hi[N];
    const int tid = threadIdx.x;
    T a = in[blockIdx.x * N + tid], b = a;
    for (int i = blockIdx.x * N + tid + gridDim.x * N; i < n; i += gridDim.x * N) {
        T v = in[i];
        a = v < a ? v : a;
        b = v > b ? v : b;
    }
    lo[tid] = a;
    hi[tid] = b;
    __syncthreads();
#pragma unroll
    for (int s = N / 2; s > 0; s >>= 1) {
        if (tid < s) {
            lo[tid] = lo[tid + s] < lo[tid] ? lo[tid + s] : lo[tid];
            hi[tid] = hi[tid + s] > hi[tid] ? hi[tid + s] : hi[tid];
        }
        __syncthreads();
    }
    if (tid == 0) {
        out[2 * blockIdx.x] = lo[0];
        out[2 * blockIdx.x + 1] = hi[0];
    }
}

//! min_max_short 40 512 | s16:200000 | out s16:80 | s s32 200000
extern "C" __global__ void min_max_short(const short* in, short* out, int n) { reduceMinMax<short, 512>(in, out, n); }

//! kogge_stone 60 512 | s32:30720:-100:100 | out s32:30720 | out s32:60 | s s32 30720
extern "C" __global__ void kogge_stone(const int* X, int* Y, int* S, unsigned int InputSize) {
    __shared__ int XY[512];
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < InputSize)
        XY[threadIdx.x] = X[i];
    else
        XY[threadIdx.x] = 0;
    for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
        __syncthreads();
        int temp = 0;
        if (threadIdx.x >= stride)
            temp = XY[threadIdx.x] + XY[threadIdx.x - stride];
        __syncthreads();
        if (threadIdx.x >= stride)
            XY[threadIdx.x] = temp;
    }
    if (i < InputSize)
        Y[i] = XY[threadIdx.x];
    if (threadIdx.x == blockDim.x - 1)
        S[blockIdx.x] = XY[threadIdx.x];
}

//! brent_kung 20 256 | f32:10240:0:1 | out f32:10240 | s s32 10000
extern "C" __global__ void brent_kung(const float* X, float* Y, int n) {
    __shared__ float XY[2 * THREADS];
    int i = 2 * blockIdx.x * blockDim.x + threadIdx.x;
    XY[threadIdx.x] = i < n ? X[i] : 0.0f;
    XY[threadIdx.x + blockDim.x] = i + blockDim.x < n ? X[i + blockDim.x] : 0.0f;
    for (unsigned stride = 1; stride <= blockDim.x; stride *= 2) {
        __syncthreads();
        int index = (threadIdx.x + 1) * 2 * stride - 1;
        if (index < 2 * THREADS)
            XY[index] += XY[index - stride];
    }
    for (int stride = THREADS / 2; stride > 0; stride /= 2) {
        __syncthreads();
        int index = (threadIdx.x + 1) * stride * 2 - 1;
        if (index + stride < 2 * THREADS)
            XY[index + stride] += XY[index];
    }
    __syncthreads();
    if (i < n) Y[i] = XY[threadIdx.x];
    if (i + blockDim.x < n) Y[i + blockDim.x] = XY[threadIdx.x + blockDim.x];
}

//! transpose_double 12,9 32,8 | f64:110592 | out f64:110592 | s s32 384 | s s32 288
extern "C" __global__ void transpose_double(const double* idata, double* odata, int width, int height) {
    __shared__ double tile[32][32 + 1];
    int x = blockIdx.x * 32 + threadIdx.x;
    int y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        tile[threadIdx.y + j][threadIdx.x] = idata[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        odata[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

//! letter_histogram 48 256 | u8:196608:90:130 | zero u32:7 | s s32 196608
extern "C" __global__ void letter_histogram(const unsigned char* data, unsigned int* histo, unsigned int length) {
    __shared__ unsigned int histo_s[7];
    for (unsigned int bin = threadIdx.x; bin < 7; bin += blockDim.x)
        histo_s[bin] = 0u;
    __syncthreads();
    unsigned int accumulator = 0;
    int prevBin = -1;
    unsigned int tid = blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned int i = tid; i < length; i += blockDim.x * gridDim.x) {
        int pos = data[i] - 'a';
        if (pos >= 0 && pos < 26) {
            int bin = pos / 4;
            if (bin == prevBin) {
                ++accumulator;
            } else {
                if (accumulator > 0)
                    atomicAdd(&histo_s[prevBin], accumulator);
                accumulator = 1;
                prevBin = bin;
            }
        }
    }
    if (accumulator > 0)
        atomicAdd(&histo_s[prevBin], accumulator);
    __syncthreads();
    for (unsigned int bin = threadIdx.x; bin < 7; bin += blockDim.x)
        if (histo_s[bin] > 0)
            atomicAdd(&histo[bin], histo_s[bin]);
}

//! bitonic_step 128 512 | inout f32:131072:-1:1 | s s32 64 | s s32 4096
// one exchange of a sort over the whole array, as the host launches it for every pair of j and k
extern "C" __global__ void bitonic_step(float* values, int j, int k) {
    unsigned t = threadIdx.x + blockDim.x * blockIdx.x;
    unsigned i = 2 * t - (t & (j - 1));
    unsigned ixj = i | j;
    if ((i & k) == 0) {
        if (values[i] > values[ixj]) {
            float temp = values[i];
            values[i] = values[ixj];
            values[ixj] = temp;
        }
    } else {
        if (values[i] < values[ixj]) {
            float temp = values[i];
            values[i] = values[ixj];
            values[ixj] = temp;
        }
    }
}

//! ripple_frame 20,20 16,16 | out u32:102400 | s s32 7
extern "C" __global__ void ripple_frame(uchar4* ptr, int ticks) {
    int x = threadIdx.x + blockIdx.x * blockDim.x;
    int y = threadIdx.y + blockIdx.y * blockDim.y;
    int offset = x + y * blockDim.x * gridDim.x;
    float fx = x - 160;
    float fy = y - 160;
    float d = sqrtf(fx * fx + fy * fy);
    unsigned char grey = (unsigned char)(128.0f + 127.0f * cosf(d / 10.0f - ticks / 7.0f) / (d / 10.0f + 1.0f));
    ptr[offset].x = grey;
    ptr[offset].y = grey;
    ptr[offset].z = grey;
    ptr[offset].w = 255;
}

__constant__ float Mask[MASK_WIDTH] = {0.01f, 0.06f, 0.12f, 0.2f, 0.22f, 0.2f, 0.12f, 0.06f, 0.01f};

//! mask_conv_cached 157 128 | f32:20000:-1:1 | out f32:20000 | s s32 20000
// cells of the tile come from shared memory, the halo from the caches
extern "C" __global__ void mask_conv_cached(const float* N, float* P, int width) {
    __shared__ float N_ds[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    N_ds[threadIdx.x] = i < width ? N[i] : 0.0f;
    __syncthreads();
    int this_tile_start = blockIdx.x * blockDim.x;
    int next_tile_start = (blockIdx.x + 1) * blockDim.x;
    int n_start = i - MASK_WIDTH / 2;
    float pvalue = 0;
    for (int j = 0; j < MASK_WIDTH; j++) {
        int n_index = n_start + j;
        if (n_index >= 0 && n_index < width) {
            if (n_index >= this_tile_start && n_index < next_tile_start)
                pvalue += N_ds[threadIdx.x + j - MASK_WIDTH / 2] * Mask[j];
            else
                pvalue += N[n_index] * Mask[j];
        }
    }
    if (i < width)
        P[i] = pvalue;
}

//! rank_sort 10 100 | s32:1000:-500:500 | out s32:1000 | s s32 1000
extern "C" __global__ void rank_sort(const int* in, int* sorted, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int mine = in[i], rank = 0;
    for (int j = 0; j < n; j++)
        if (in[j] < mine || (in[j] == mine && j < i))
            rank++;
    sorted[rank] = mine;
}
