/* oneblock.cu - launches of one or a few blocks: what a dependent chain, a barrier or a first access costs is all there is. */
#define K extern "C" __global__ void
//! one_warp_sum 1 32 | f32:4096:-1:1 | out f32:32
K one_warp_sum(const float *in, float *out)
{
    float s = 0;
    for (int i = 0; i < 128; i++) s += in[i * 32 + threadIdx.x];
    out[threadIdx.x] = s;
}
//! one_block_sort 1 1024 | u32:2048 | out u32:2048
K one_block_sort(const unsigned *in, unsigned *out)
{
    __shared__ unsigned v[2048];
    int t = threadIdx.x;
    v[t] = in[t];
    v[t + 1024] = in[t + 1024];
    for (int size = 2; size <= 2048; size *= 2)
        for (int d = size / 2; d; d /= 2) {
            __syncthreads();
            int lo = 2 * t - (t & (d - 1)), hi = lo + d;
            unsigned a = v[lo], b = v[hi];
            bool up = !(lo & size);
            if ((a > b) == up) { v[lo] = b; v[hi] = a; }
        }
    __syncthreads();
    out[t] = v[t];
    out[t + 1024] = v[t + 1024];
}
//! list_walk 2 32 | u32:65536:0:65536 | out u32:64 | s s32 48
K list_walk(const unsigned *next, unsigned *out, int steps)
{
    unsigned p = blockIdx.x * 32 + threadIdx.x;
    for (int i = 0; i < steps; i++) p = next[p];
    out[blockIdx.x * 32 + threadIdx.x] = p;
}
//! horner_double 4 64 | f64:64:-1:1 | f64:256:-1:1 | out f64:256
K horner_double(const double *c, const double *x, double *y)
{
    int t = blockIdx.x * 64 + threadIdx.x;
    double v = x[t], s = 0;
    for (int k = 0; k < 64; k++) s = s * v + c[k];
    y[t] = s;
}
//! one_block_gemm 1 256 | f32:4096:-1:1 | f32:4096:-1:1 | out f32:4096
K one_block_gemm(const float *a, const float *b, float *c)
{
    __shared__ float A[64][65], B[64][64];
    int t = threadIdx.x, tx = t & 15, ty = t >> 4;
    for (int i = t; i < 4096; i += 256) { A[i >> 6][i & 63] = a[i]; B[i >> 6][i & 63] = b[i]; }
    __syncthreads();
    float s[4][4] = {};
    for (int k = 0; k < 64; k++)
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) s[i][j] += A[ty * 4 + i][k] * B[k][tx + 16 * j];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) c[(ty * 4 + i) * 64 + tx + 16 * j] = s[i][j];
}
//! scan_chunks 1 512 | s32:8192:-9:10 | out s32:8192 | s s32 16
K scan_chunks(const int *in, int *out, int chunks)
{
    __shared__ int v[512];
    int t = threadIdx.x, carry = 0;
    for (int c = 0; c < chunks; c++) {
        v[t] = in[c * 512 + t];
        __syncthreads();
        for (int d = 1; d < 512; d *= 2) {
            int x = t >= d ? v[t - d] : 0;
            __syncthreads();
            v[t] += x;
            __syncthreads();
        }
        out[c * 512 + t] = carry + v[t];
        carry += v[511];
        __syncthreads();
    }
}
//! matvec_small 2 128 | f32:16384:-1:1 | f32:64:-1:1 | out f32:256
K matvec_small(const float *m, const float *v, float *out)
{
    int r = blockIdx.x * 128 + threadIdx.x;
    float s = 0;
    for (int k = 0; k < 64; k++) s += m[k * 256 + r] * v[k];
    out[r] = s;
}
//! string_hash 1 64 | u8:16384:32:127 | out u64:64 | s s32 256
K string_hash(const unsigned char *text, unsigned long long *out, int length)
{
    const unsigned char *p = text + threadIdx.x * length;
    unsigned long long h = 14695981039346656037ull;
    for (int i = 0; i < length; i++) h = (h ^ p[i]) * 1099511628211ull;
    out[threadIdx.x] = h;
}
