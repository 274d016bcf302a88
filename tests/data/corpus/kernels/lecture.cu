/* lecture.cu - the programs that courses on CUDA have in their chapters. */
#include <cstdint>

#define TILE 16
#define RADIUS 3
#define IN_TILE (TILE + 2 * RADIUS)
__constant__ float c_filter[2 * RADIUS + 1][2 * RADIUS + 1] = {
    {0.001f, 0.004f, 0.008f, 0.010f, 0.008f, 0.004f, 0.001f}, {0.004f, 0.012f, 0.026f, 0.034f, 0.026f, 0.012f, 0.004f},
    {0.008f, 0.026f, 0.055f, 0.071f, 0.055f, 0.026f, 0.008f}, {0.010f, 0.034f, 0.071f, 0.092f, 0.071f, 0.034f, 0.010f},
    {0.008f, 0.026f, 0.055f, 0.071f, 0.055f, 0.026f, 0.008f}, {0.004f, 0.012f, 0.026f, 0.034f, 0.026f, 0.012f, 0.004f},
    {0.001f, 0.004f, 0.008f, 0.010f, 0.008f, 0.004f, 0.001f}};

//! halo_convolution 13,11 22,22 | f32:34000:0:1 | out f32:34000 | s s32 200 | s s32 170
// The block is as large as its tile of input; the threads of the border only load.
extern "C" __global__ void halo_convolution(const float *N, float *P, int width, int height)
{
    __shared__ float N_s[IN_TILE][IN_TILE];
    int col = blockIdx.x * TILE + threadIdx.x - RADIUS;
    int row = blockIdx.y * TILE + threadIdx.y - RADIUS;
    if (row >= 0 && row < height && col >= 0 && col < width)
        N_s[threadIdx.y][threadIdx.x] = N[row * width + col];
    else
        N_s[threadIdx.y][threadIdx.x] = 0.0f;
    __syncthreads();
    int tileCol = threadIdx.x - RADIUS;
    int tileRow = threadIdx.y - RADIUS;
    if (row >= 0 && row < height && col >= 0 && col < width) {
        if (tileCol >= 0 && tileCol < TILE && tileRow >= 0 && tileRow < TILE) {
            float Pvalue = 0.0f;
            for (int fRow = 0; fRow < 2 * RADIUS + 1; fRow++)
                for (int fCol = 0; fCol < 2 * RADIUS + 1; fCol++)
                    Pvalue += c_filter[fRow][fCol] * N_s[tileRow + fRow][tileCol + fCol];
            P[row * width + col] = Pvalue;
        }
    }
}

#define NUM_BINS 96
//! aggregated_bins 48 160 | u8:100000 | zero u32:96 | s u32 100000
// A private histogram for each block; a thread adds up a run of the same bin before it goes to shared memory.
extern "C" __global__ void aggregated_bins(const unsigned char *data, unsigned int *histo, unsigned int length)
{
    __shared__ unsigned int histo_s[NUM_BINS];
    for (unsigned int bin = threadIdx.x; bin < NUM_BINS; bin += blockDim.x) histo_s[bin] = 0u;
    __syncthreads();
    unsigned int accumulator = 0;
    int prevBinIdx = -1;
    for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < length; i += blockDim.x * gridDim.x) {
        int value = (data[i] & 0x7f) - ' ';
        if (value >= 0 && value < NUM_BINS) {
            int bin = value / 8;
            if (bin == prevBinIdx) {
                ++accumulator;
            } else {
                if (accumulator > 0) atomicAdd(&histo_s[prevBinIdx], accumulator);
                accumulator = 1;
                prevBinIdx = bin;
            }
        }
    }
    if (accumulator > 0) atomicAdd(&histo_s[prevBinIdx], accumulator);
    __syncthreads();
    for (unsigned int bin = threadIdx.x; bin < NUM_BINS; bin += blockDim.x) {
        unsigned int binValue = histo_s[bin];
        if (binValue > 0) atomicAdd(&histo[bin], binValue);
    }
}

template <unsigned int blockSize>
__device__ void warpReduce(volatile double *sdata, unsigned int tid)
{
    if (blockSize >= 64) sdata[tid] += sdata[tid + 32];
    __syncwarp();
    if (blockSize >= 32 && tid < 16) sdata[tid] += sdata[tid + 16];
    __syncwarp();
    if (blockSize >= 16 && tid < 8) sdata[tid] += sdata[tid + 8];
    __syncwarp();
    if (blockSize >= 8 && tid < 4) sdata[tid] += sdata[tid + 4];
    __syncwarp();
    if (blockSize >= 4 && tid < 2) sdata[tid] += sdata[tid + 2];
    __syncwarp();
    if (blockSize >= 2 && tid < 1) sdata[tid] += sdata[tid + 1];
}
template <unsigned int blockSize>
__device__ void reduce6(const double *g_idata, double *g_odata, unsigned int n)
{
    extern __shared__ double sdata[];
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * (blockSize * 2) + tid;
    unsigned int gridSize = blockSize * 2 * gridDim.x;
    double sum = 0;
    while (i < n) {
        sum += g_idata[i];
        if (i + blockSize < n) sum += g_idata[i + blockSize];
        i += gridSize;
    }
    sdata[tid] = sum;
    __syncthreads();
    if (blockSize >= 512) {
        if (tid < 256) sdata[tid] += sdata[tid + 256];
        __syncthreads();
    }
    if (blockSize >= 256) {
        if (tid < 128) sdata[tid] += sdata[tid + 128];
        __syncthreads();
    }
    if (blockSize >= 128) {
        if (tid < 64) sdata[tid] += sdata[tid + 64];
        __syncthreads();
    }
    if (tid < 32) warpReduce<blockSize>(sdata, tid);
    if (tid == 0) g_odata[blockIdx.x] = sdata[0];
}
//! reduce_by_template 61 256 2048 | f64:150001:-1:1 | out f64:61 | s u32 150001
extern "C" __global__ void reduce_by_template(const double *in, double *out, unsigned int n)
{
    reduce6<256>(in, out, n);
}

//! convergent_tree 150 512 | f32:307200:0:1 | out f32:150
// Four segments a thread first, then the tree whose threads stay together.
extern "C" __global__ void convergent_tree(float *input, float *output)
{
    __shared__ float input_s[512];
    unsigned int segment = 4 * blockDim.x * blockIdx.x;
    unsigned int i = segment + threadIdx.x;
    unsigned int t = threadIdx.x;
    float sum = input[i];
    for (unsigned int tile = 1; tile < 4; ++tile) sum += input[i + tile * blockDim.x];
    input_s[t] = sum;
    for (unsigned int stride = blockDim.x / 2; stride >= 1; stride /= 2) {
        __syncthreads();
        if (t < stride) input_s[t] += input_s[t + stride];
    }
    if (t == 0) output[blockIdx.x] = input_s[0];
}

//! hillis_double_buffer 40 320 | f32:12800:0:1 | out f32:12800
extern "C" __global__ void hillis_double_buffer(const float *X, float *Y)
{
    __shared__ float buffer1_s[320];
    __shared__ float buffer2_s[320];
    float *inBuffer_s = buffer1_s;
    float *outBuffer_s = buffer2_s;
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    inBuffer_s[threadIdx.x] = X[i];
    __syncthreads();
    for (unsigned int stride = 1; stride < 320; stride *= 2) {
        if (threadIdx.x >= stride)
            outBuffer_s[threadIdx.x] = inBuffer_s[threadIdx.x] + inBuffer_s[threadIdx.x - stride];
        else
            outBuffer_s[threadIdx.x] = inBuffer_s[threadIdx.x];
        __syncthreads();
        float *tmp = inBuffer_s;
        inBuffer_s = outBuffer_s;
        outBuffer_s = tmp;
    }
    Y[i] = inBuffer_s[threadIdx.x];
}

#define SECTION 1024
//! three_phase_scan 36 128 | s32:36864:-50:50 | out s32:36864
// Corner turning, a serial scan of eight by each thread, a scan of the last elements, and their addition.
extern "C" __global__ void three_phase_scan(const int *X, int *Y)
{
    __shared__ int s[SECTION];
    __shared__ int ends[SECTION / 8];
    const int base = blockIdx.x * SECTION;
    for (int j = 0; j < 8; j++) s[threadIdx.x + j * 128] = X[base + threadIdx.x + j * 128];
    __syncthreads();
    for (int j = 1; j < 8; j++) s[threadIdx.x * 8 + j] += s[threadIdx.x * 8 + j - 1];
    ends[threadIdx.x] = s[threadIdx.x * 8 + 7];
    for (int stride = 1; stride < 128; stride *= 2) {
        __syncthreads();
        int temp = threadIdx.x >= stride ? ends[threadIdx.x - stride] : 0;
        __syncthreads();
        ends[threadIdx.x] += temp;
    }
    __syncthreads();
    if (threadIdx.x > 0) {
        int carry = ends[threadIdx.x - 1];
        for (int j = 0; j < 8; j++) s[threadIdx.x * 8 + j] += carry;
    }
    __syncthreads();
    for (int j = 0; j < 8; j++) Y[base + threadIdx.x + j * 128] = s[threadIdx.x + j * 128];
}

//! jagged_diagonals 25 96 | u32:2400:1:24 | u32:57600:0:2400 | f32:57600:-1:1 | f32:2400:-1:1 | out f32:2400
// Column after column of a matrix whose rows have different lengths.
extern "C" __global__ void jagged_diagonals(const unsigned *len, const unsigned *colIdx, const float *value, const float *x, float *y)
{
    unsigned int row = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned n = len[row];
    float sum = 0.0f;
    for (unsigned int iter = 0; iter < n; ++iter) {
        unsigned int i = iter * 2400 + row;
        unsigned int col = colIdx[i];
        float v = value[i];
        sum += x[col] * v;
    }
    y[row] = sum;
}

__device__ __noinline__ int co_rank(int k, const int *A, int m, const int *B, int n)
{
    int i = k < m ? k : m;
    int j = k - i;
    int i_low = 0 > (k - n) ? 0 : k - n;
    int j_low = 0 > (k - m) ? 0 : k - m;
    int delta;
    bool active = true;
    while (active) {
        if (i > 0 && j < n && A[i - 1] > B[j]) {
            delta = ((i - i_low + 1) >> 1);
            j_low = j;
            j = j + delta;
            i = i - delta;
        } else if (j > 0 && i < m && B[j - 1] >= A[i]) {
            delta = ((j - j_low + 1) >> 1);
            i_low = i;
            i = i + delta;
            j = j - delta;
        } else {
            active = false;
        }
    }
    return i;
}
//! co_rank_merge 24 64 | iota s32:6144 | iota s32:3072 | out s32:9216
extern "C" __global__ void co_rank_merge(const int *A, const int *B, int *C)
{
    const int m = 6144, n = 3072;
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    int per = (m + n + blockDim.x * gridDim.x - 1) / (blockDim.x * gridDim.x);
    int k = min(tid * per, m + n), k_next = min((tid + 1) * per, m + n);
    int i = co_rank(k, A, m, B, n), i_next = co_rank(k_next, A, m, B, n);
    int j = k - i, j_next = k_next - i_next;
    while (i < i_next && j < j_next) {
        if (A[i] <= B[j])
            C[k++] = A[i++];
        else
            C[k++] = B[j++];
    }
    while (i < i_next) C[k++] = A[i++];
    while (j < j_next) C[k++] = B[j++];
}

//! private_frontier 20 128 | u32:2560:0:3 | u32:20480:0:2560 | iota u32:700 | zero u32:2560 | zero u32:1 | scratch u32:2560 | s u32 700
// One step of a breadth-first search: the next frontier gathers in shared memory first. What is compared is who was reached.
extern "C" __global__ void private_frontier(const unsigned *level0, const unsigned *dst, const unsigned *prev, unsigned *level,
                                            unsigned *numNext, unsigned *next, unsigned numPrev)
{
    __shared__ unsigned int currFrontier_s[800];
    __shared__ unsigned int numCurr_s;
    __shared__ unsigned int start;
    if (threadIdx.x == 0) numCurr_s = 0;
    __syncthreads();
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < numPrev) {
        unsigned int vertex = prev[i] * 3 % 2560;
        unsigned count = 2 + (level0[vertex] << 1);
        for (unsigned int edge = vertex * 8; edge < vertex * 8 + count; ++edge) {
            unsigned int neighbor = dst[edge];
            if (atomicCAS(&level[neighbor], 0u, 7u) == 0u) {
                unsigned int idx = atomicAdd(&numCurr_s, 1);
                currFrontier_s[idx] = neighbor;
            }
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) start = atomicAdd(numNext, numCurr_s);
    __syncthreads();
    for (unsigned int k = threadIdx.x; k < numCurr_s; k += blockDim.x) next[start + k] = currFrontier_s[k];
}

//! transpose_xor 12,20 32,8 | u32:245760 | out u32:245760 | s s32 384 | s s32 640
// The shared tile is not padded: the column is exclusive-ored with the row.
extern "C" __global__ void transpose_xor(const unsigned *in, unsigned *out, int width, int height)
{
    __shared__ unsigned tile[32][32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
    for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x ^ (threadIdx.y + j)] = in[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
    for (int j = 0; j < 32; j += 8) out[(y + j) * height + x] = tile[threadIdx.x][(threadIdx.y + j) ^ threadIdx.x];
}

#define COARSE 4
//! coarse_tiles 2,11 16,16 | f32:22528:-1:1 | f32:16384:-1:1 | out f32:22528 | s s32 128
extern "C" __global__ void coarse_tiles(const float *M, const float *N, float *P, int width)
{
    __shared__ float Mds[16][16];
    __shared__ float Nds[16][16];
    int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int row = by * 16 + ty;
    int colStart = bx * 16 * COARSE + tx;
    float Pvalue[COARSE];
    for (int c = 0; c < COARSE; ++c) Pvalue[c] = 0.0f;
    for (int ph = 0; ph < width / 16; ++ph) {
        Mds[ty][tx] = M[row * width + ph * 16 + tx];
        for (int c = 0; c < COARSE; ++c) {
            int col = colStart + c * 16;
            Nds[ty][tx] = N[(ph * 16 + ty) * width + col];
            __syncthreads();
            for (int k = 0; k < 16; ++k) Pvalue[c] += Mds[ty][k] * Nds[k][tx];
            __syncthreads();
        }
    }
    for (int c = 0; c < COARSE; ++c) P[row * width + colStart + c * 16] = Pvalue[c];
}

//! coulomb_grid 8,8 16,8 | f32:1024:0:32 | out f32:32768 | s f32 0.25 | s f32 3.5
// A slice of a potential; eight points in x a thread share what they have of the distance.
extern "C" __global__ void coulomb_grid(const float4 *atoms, float *energygrid, float gridspacing, float z)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x);
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    float y = gridspacing * (float)j;
    float x = gridspacing * (float)i;
    float e[4] = {0, 0, 0, 0};
    for (int n = 0; n < 256; n++) {
        float4 a = atoms[n];
        float dy = y - a.y, dz = z - a.z;
        float dysqdzsq = dy * dy + dz * dz + 1e-3f;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            float dx = x + k * 128 * gridspacing - a.x;
            e[k] += a.w * rsqrtf(dx * dx + dysqdzsq);
        }
    }
#pragma unroll
    for (int k = 0; k < 4; k++) energygrid[j * 512 + k * 128 + i] = e[k];
}

struct kdata {
    float x, y, z, mag;
};
__constant__ kdata k_c[64] = {{0.1f, 0.2f, 0.3f, 1.5f}, {0.4f, -0.2f, 0.1f, 0.7f}, {-0.6f, 0.3f, 0.25f, 2.5f}};
//! mri_gather 21 256 | f32:5376:-1:1 | f32:5376:-1:1 | f32:5376:-1:1 | f32:64:-1:1 | f32:64:-1:1 | out f32:5376 | out f32:5376
extern "C" __global__ void mri_gather(const float *x, const float *y, const float *z, const float *rMu, const float *iMu, float *rFhD,
                                      float *iFhD)
{
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    float xn_r = x[n], yn_r = y[n], zn_r = z[n], rFhDn_r = 0, iFhDn_r = 0;
    for (int m = 0; m < 64; m++) {
        float expFhD = 2 * 3.14159265f * (k_c[m].x * xn_r + k_c[m].y * yn_r + k_c[m].z * zn_r) + 0.01f * m;
        float cArg = __cosf(expFhD);
        float sArg = __sinf(expFhD);
        rFhDn_r += rMu[m] * cArg - iMu[m] * sArg;
        iFhDn_r += iMu[m] * cArg + rMu[m] * sArg;
    }
    rFhD[n] = rFhDn_r;
    iFhD[n] = iFhDn_r;
}

//! mandelbrot_smooth 20,30 32,4 | out f32:76800 | s s32 640 | s s32 120 | s s32 100
extern "C" __global__ void mandelbrot_smooth(float *img, int width, int height, int maxIter)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height) return;
    float cx = -2.2f + 3.0f * px / width, cy = -1.2f + 2.4f * py / height;
    float zx = 0, zy = 0, zx2 = 0, zy2 = 0;
    int iter = 0;
    while (zx2 + zy2 < 256.0f && iter < maxIter) {
        zy = 2 * zx * zy + cy;
        zx = zx2 - zy2 + cx;
        zx2 = zx * zx;
        zy2 = zy * zy;
        ++iter;
    }
    float v = iter;
    if (iter < maxIter) v = iter + 1 - log2f(0.5f * logf(zx2 + zy2));
    img[py * width + px] = v;
}

//! split_four_bits 14 256 | u32:3584 | out u32:3584
// Four passes of one bit each in shared memory: a scan of the bits, then every key goes to its place.
extern "C" __global__ void split_four_bits(const unsigned *in, unsigned *out)
{
    __shared__ unsigned keys[256], sums[256];
    unsigned t = threadIdx.x, key = in[blockIdx.x * 256 + t];
    for (int bit = 0; bit < 4; bit++) {
        unsigned b = key >> bit & 1;
        sums[t] = b;
        __syncthreads();
        for (int d = 1; d < 256; d <<= 1) {
            unsigned v = t >= d ? sums[t - d] : 0;
            __syncthreads();
            sums[t] += v;
            __syncthreads();
        }
        unsigned ones = sums[255], before = sums[t] - b;
        unsigned place = b ? 256 - ones + before : t - before;
        keys[place] = key;
        __syncthreads();
        key = keys[t];
        __syncthreads();
    }
    out[blockIdx.x * 256 + t] = key;
}
