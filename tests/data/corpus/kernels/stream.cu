/* stream.cu - launches that the memory bounds: streams, strides, structures, rows at random. */
#include <cstdint>
#define K extern "C" __global__ void
//! triad 2048 256 | f32:524288:-1:1 | f32:524288:-1:1 | out f32:524288 | s f32 1.25
K triad(const float *a, const float *b, float *c, float s)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    c[i] = a[i] + s * b[i];
}
//! copy_persistent 264 512 | u32:1048576 | out u32:1048576 | s s32 262144
K copy_persistent(const uint4 *in, uint4 *out, int n)
{
    for (int i = blockIdx.x * 512 + threadIdx.x; i < n; i += gridDim.x * 512) out[i] = in[i];
}
//! fill_bytes 1024 256 | out u8:262144 | s u32 37
K fill_bytes(uint8_t *out, unsigned m)
{
    unsigned i = blockIdx.x * 256 + threadIdx.x;
    out[i] = (uint8_t)(i * m >> 3);
}
//! max_u64 132 512 | u64:524288 | zero u64:1 | s s32 524288
K max_u64(const unsigned long long *in, unsigned long long *out, int n)
{
    unsigned long long m = 0;
    for (int i = blockIdx.x * 512 + threadIdx.x; i < n; i += gridDim.x * 512) m = in[i] > m ? in[i] : m;
    for (int d = 16; d; d /= 2) {
        unsigned long long o = __shfl_xor_sync(~0u, m, d);
        m = o > m ? o : m;
    }
    if (!(threadIdx.x & 31)) atomicMax(out, m);
}
//! split_points 512 256 | f32:393216:-1:1 | out f32:131072 | out f32:131072 | out f32:131072
K split_points(const float *p, float *x, float *y, float *z)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    x[i] = p[3 * i];
    y[i] = p[3 * i + 1];
    z[i] = p[3 * i + 2];
}
//! gather_rows 512 256 | u32:4096:0:8192 | f32:262144:-1:1 | out f32:131072
K gather_rows(const unsigned *index, const float *table, float *out)
{
    int i = blockIdx.x * 256 + threadIdx.x, row = i >> 5, lane = i & 31;
    out[i] = table[index[row] * 32 + lane];
}
//! smooth9 1024 256 | f32:262152:0:1 | out f32:262144
K smooth9(const float *in, float *out)
{
    __shared__ float v[264];
    int base = blockIdx.x * 256, t = threadIdx.x;
    v[t] = in[base + t];
    if (t < 8) v[256 + t] = in[base + 256 + t];
    __syncthreads();
    float s = 0;
    for (int k = 0; k < 9; k++) s += v[t + k] * (k < 5 ? k + 1 : 9 - k);
    out[base + t] = s * 0.04f;
}
//! column_sums 8 128 | f32:524288:-1:1 | out f32:1024 | s s32 512
K column_sums(const float *m, float *out, int rows)
{
    int c = blockIdx.x * 128 + threadIdx.x;
    float s = 0;
#pragma unroll 4
    for (int r = 0; r < rows; r++) s += m[r * 1024 + c];
    out[c] = s;
}
//! row_sums_thread 4 256 | f32:131072:-1:1 | out f32:1024
K row_sums_thread(const float4 *m, float *out)
{
    int r = blockIdx.x * 256 + threadIdx.x;
    float s = 0;
    for (int k = 0; k < 32; k++) {
        float4 v = m[r * 32 + k];
        s += (v.x + v.y) + (v.z + v.w);
    }
    out[r] = s;
}
//! streaming_hints 256 256 | u64:131072 | out u64:131072
K streaming_hints(const unsigned long long *in, unsigned long long *out)
{
    int i = blockIdx.x * 512 + threadIdx.x;
    unsigned long long a = __ldcs(in + i), b = __ldcs(in + i + 256);
    __stcs(out + i, a * 3 + b);
    __stcs(out + i + 256, b * 3 - a);
}
//! byte_histogram_rows 128 64 | u8:131072 | out u32:8192
K byte_histogram_rows(const uint8_t *in, unsigned *out) /* a byte a thread at a time: sixteen classes in registers */
{
    int t = blockIdx.x * 64 + threadIdx.x;
    unsigned low = 0;
    for (int k = 0; k < 16; k++) low += 1u << (in[t * 16 + k] >> 6) * 8;
    out[t] = low;
}
//! scatter_permute 256 256 | u32:65536 | u32:65536 | out u32:65536
K scatter_permute(const unsigned *key, const unsigned *in, unsigned *out)
{
    unsigned i = blockIdx.x * 256 + threadIdx.x;
    out[(i * 40503u + 77u) & 65535u] = in[i] ^ key[i & 1023];
}
//! transpose_bytes 64 32,8 | u8:65536 | out u8:65536
K transpose_bytes(const uint8_t *in, uint8_t *out) /* tiles of 32 by 32 of a matrix of 256 by 256 */
{
    __shared__ uint8_t t[32][36];
    int bx = blockIdx.x & 7, by = blockIdx.x >> 3;
    for (int k = 0; k < 32; k += 8) t[threadIdx.y + k][threadIdx.x] = in[(by * 32 + threadIdx.y + k) * 256 + bx * 32 + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < 32; k += 8) out[(bx * 32 + threadIdx.y + k) * 256 + by * 32 + threadIdx.x] = t[threadIdx.x][threadIdx.y + k];
}
//! tiny_waves 4224 32 | u32:135168 | out u32:135168
K tiny_waves(const unsigned *in, unsigned *out)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    out[i] = __brev(in[i]);
}
