/* mixed.cu - dynamic programming, transforms, graphs, integers and atomics of exercises. */
#include <cstdint>
#define K extern "C" __global__ void
K edit_distance(const unsigned char *a, const unsigned char *b, int *out, int n) /* a thread a pair of strings of 16 */
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int d[17];
    for (int j = 0; j <= 16; j++) d[j] = j;
    for (int i = 1; i <= n; i++) {
        int diag = d[0];
        d[0] = i;
        unsigned char c = a[t * 16 + i - 1];
        for (int j = 1; j <= 16; j++) {
            int old = d[j], v = diag + (c != b[t * 16 + j - 1]);
            v = min(v, min(d[j] + 1, d[j - 1] + 1));
            d[j] = v;
            diag = old;
        }
    }
    out[t] = d[16];
}
K scan_sweeps(int *data, int *sums) /* up sweep, down sweep in shared memory */
{
    __shared__ int s[512];
    int t = threadIdx.x, base = blockIdx.x * 512;
    s[2 * t] = data[base + 2 * t];
    s[2 * t + 1] = data[base + 2 * t + 1];
    int off = 1;
    for (int d = 256; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) s[off * (2 * t + 2) - 1] += s[off * (2 * t + 1) - 1];
        off *= 2;
    }
    if (t == 0) { sums[blockIdx.x] = s[511]; s[511] = 0; }
    for (int d = 1; d < 512; d *= 2) {
        off >>= 1;
        __syncthreads();
        if (t < d) { int x = off * (2 * t + 1) - 1, y = off * (2 * t + 2) - 1, v = s[x]; s[x] = s[y]; s[y] += v; }
    }
    __syncthreads();
    data[base + 2 * t] = s[2 * t];
    data[base + 2 * t + 1] = s[2 * t + 1];
}
K fft_stages(const float2 *in, float2 *out) /* 512 points a block */
{
    __shared__ float2 s[2][512];
    int t = threadIdx.x, cur = 0;
    s[0][t] = in[blockIdx.x * 512 + t];
    s[0][t + 256] = in[blockIdx.x * 512 + t + 256];
    for (int n = 1; n < 512; n *= 2) {
        __syncthreads();
        int k = t & (n - 1);
        float sn, cs;
        __sincosf(-3.1415927f * k / n, &sn, &cs);
        float2 a = s[cur][t], b = s[cur][t + 256], c = make_float2(b.x * cs - b.y * sn, b.x * sn + b.y * cs);
        int o = 2 * (t - k) + k;
        s[cur ^ 1][o] = make_float2(a.x + c.x, a.y + c.y);
        s[cur ^ 1][o + n] = make_float2(a.x - c.x, a.y - c.y);
        cur ^= 1;
    }
    __syncthreads();
    out[blockIdx.x * 512 + t] = s[cur][t];
    out[blockIdx.x * 512 + t + 256] = s[cur][t + 256];
}
K lu_tile(float *data) /* 16 x 16 in shared memory, no pivots */
{
    __shared__ float s[16][17];
    int x = threadIdx.x, y = threadIdx.y;
    s[y][x] = data[blockIdx.x * 256 + y * 16 + x] + (x == y ? 16.f : 0.f);
    for (int k = 0; k < 15; k++) {
        __syncthreads();
        if (x == k && y > k) s[y][k] /= s[k][k];
        __syncthreads();
        if (x > k && y > k) s[y][x] -= s[y][k] * s[k][x];
    }
    __syncthreads();
    data[blockIdx.x * 256 + y * 16 + x] = s[y][x];
}
K tree_walk(const int4 *node, const float *key, int *out, int depth) /* binary trees, a path a thread */
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, at = 0;
    float k = key[t];
    for (int d = 0; d < depth; d++) {
        int4 n = node[at];
        at = (k * (1 + n.x % 7) - (int)(k * (1 + n.x % 7)) < 0.5f) ? (n.y & 4095) : (n.z & 4095);
    }
    out[t] = at;
}
K big_products(const ulonglong2 *in, ulonglong2 *out, int n) /* 128-bit products */
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    ulonglong2 a = in[t];
    for (int k = 0; k < n; k++) {
        unsigned long long lo = a.x * 0x9E3779B97F4A7C15ull, hi = __umul64hi(a.x, 0x9E3779B97F4A7C15ull) + a.y * 0x9E3779B97F4A7C15ull + a.x * 0xBF58476Dull;
        a.x = lo + k;
        a.y = hi + (a.x < lo);
    }
    out[t] = a;
}
K double_waves(const double *in, double *out)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    double x = in[t];
    out[t] = sin(x) * exp(-x) + log(x + 1.5);
}
K powers(const float *in, float *out, float e) { int t = blockIdx.x * blockDim.x + threadIdx.x; out[t] = powf(in[t], e) + tanf(in[t]) + cbrtf(in[t]); }
K divide_longs(const long long *a, const long long *b, long long *out) { int t = blockIdx.x * blockDim.x + threadIdx.x; long long d = b[t] | 1; out[t] = a[t] / d + a[t] % d; }
K float_cas(const float *in, float *sums, int n) /* additions by compare and swap to few cells */
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned *cell = (unsigned *)sums + t % n * 32, old = *cell, seen;
    do {
        seen = old;
        old = atomicCAS(cell, seen, __float_as_uint(__uint_as_float(seen) + (float)(int)in[t]));
    } while (old != seen);
}
K queue_push(const unsigned *in, unsigned *queue, unsigned *tail) /* an atomic a warp */
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    unsigned v = in[t], keep = __ballot_sync(~0u, v & 1), at = 0;
    if (lane == 0 && keep) at = atomicAdd(tail, __popc(keep));
    at = __shfl_sync(~0u, at, 0);
    if (v & 1) atomicXor(&queue[0], v * (at >= 0)), atomicMax(&queue[1], v);
}
K privatised(const unsigned char *in, unsigned *hist, int n)
{
    __shared__ unsigned h[4][256];
    for (int k = threadIdx.x; k < 1024; k += blockDim.x) (&h[0][0])[k] = 0;
    __syncthreads();
    for (int k = 0; k < n; k++) atomicAdd(&h[threadIdx.x / 32 % 4][in[(blockIdx.x * n + k) * blockDim.x + threadIdx.x]], 1u);
    __syncthreads();
    for (int k = threadIdx.x; k < 256; k += blockDim.x) atomicAdd(&hist[k], h[0][k] + h[1][k] + h[2][k] + h[3][k]);
}
K columns_of_rows(const float *in, float *out, int rows) /* a thread a column */
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, w = gridDim.x * blockDim.x;
    float m = -1e30f, s = 0;
    for (int r = 0; r < rows; r++) { float v = in[r * w + t]; float n = fmaxf(m, v); s = s * __expf(m - n) + __expf(v - n); m = n; }
    out[t] = m + __logf(s);
}
K rows_of_a_thread(const float *in, float *out, int cols) /* a thread a row: uncoalesced */
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int c = 0; c < cols; c++) s += in[t * cols + c] * in[t * cols + (c ^ 1)];
    out[t] = s;
}
K shared_stencil(const float *in, float *out, int n)
{
    __shared__ float s[258];
    int t = threadIdx.x;
    float v = in[blockIdx.x * 256 + t];
    for (int k = 0; k < n; k++) {
        s[t + 1] = v;
        if (t == 0) s[0] = s[257] = v;
        __syncthreads();
        v = 0.25f * s[t] + 0.5f * s[t + 1] + 0.25f * s[t + 2];
        __syncthreads();
    }
    out[blockIdx.x * 256 + t] = v;
}
K game_bits(const unsigned *in, unsigned *out, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    unsigned a = in[(t + all - 1) % all], b = in[t], c = in[(t + 1) % all];
    for (int k = 0; k < n; k++) {
        unsigned l = b << 1 | a >> 31, r = b >> 1 | c << 31;
        unsigned x = (l & r) | (b & (l ^ r)), y = l ^ r ^ b;
        a = __funnelshift_l(a, y, 3); c = __byte_perm(c, x, 0x2103); b = y & ~x;
        b ^= __popc(x) + __clz(y) + __brev(a);
    }
    out[t] = b;
}
K serpent(const int *in, int *out, int n) /* a different way for each lane */
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, x = in[t];
    for (int k = 0; k < n; k++) {
        if (x % 3 == 0) x = x / 3 + k;
        else if (x % 3 == 1) { for (int j = 0; j < (x & 3); j++) x += j * k; x = x * 2 + 1; }
        else x = (x >> 1) ^ (x << 3);
        if (x < 0) x = -x;
    }
    out[t] = x;
}
K copy_16(const uint4 *in, uint4 *out, int n) { for (int k = 0; k < n; k++) { int t = (blockIdx.x * n + k) * blockDim.x + threadIdx.x; out[t] = in[t]; } }
K fill_rows(float *out, int n) { int t = blockIdx.x * blockDim.x + threadIdx.x; for (int k = 0; k < n; k++) out[t * n + k] = t + k; }
K gather_two(const int *idx, const float *in, float *out, int n) { int t = blockIdx.x * blockDim.x + threadIdx.x; float s = 0; for (int k = 0; k < n; k++) s += in[idx[(k * gridDim.x * blockDim.x + t)] & 65535]; out[t] = s; }
K warp_sort(const int *in, int *out) /* bitonic by shuffles */
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, v = in[t], lane = threadIdx.x & 31;
    for (int k = 2; k <= 32; k *= 2)
        for (int j = k / 2; j; j /= 2) {
            int o = __shfl_xor_sync(~0u, v, j);
            bool up = (lane & k) == 0, low = (lane & j) == 0;
            v = (up == low) ? min(v, o) : max(v, o);
        }
    out[t] = v;
}
K mm_registers(const float *a, const float *b, float *c, int n) /* 4 x 4 a thread, 64 x 64 a block */
{
    __shared__ float sa[16][65], sb[16][64];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16, row = blockIdx.y * 64, col = blockIdx.x * 64;
    float r[4][4] = {};
    for (int k = 0; k < n; k += 16) {
        for (int e = threadIdx.x; e < 1024; e += 256) { sa[e % 16][e / 16] = a[(row + e / 16) * n + k + e % 16]; sb[e / 64][e % 64] = b[(k + e / 64) * n + col + e % 64]; }
        __syncthreads();
        for (int i = 0; i < 16; i++)
            for (int y = 0; y < 4; y++)
                for (int x = 0; x < 4; x++) r[y][x] += sa[i][ty * 4 + y] * sb[i][tx * 4 + x];
        __syncthreads();
    }
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 4; x++) c[(row + ty * 4 + y) * n + col + tx * 4 + x] = r[y][x];
}
