/* network.cu - layers of image and language networks, forward and backward, in small sizes. */
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

//! conv3_relu_direct 16,8 14,14 | f32:12544:-1:1 | f32:18432:-0.2:0.2 | f32:32:-1:1 | out f32:100352
// 16 x 28 x 28 to 32 channels by one thread a pixel, four channels of output each, weights through the read-only cache.
extern "C" __global__ void conv3_relu_direct(const float *__restrict__ in, const float *__restrict__ w, const float *__restrict__ bias, float *out)
{
    int x = threadIdx.x + (blockIdx.x & 1) * 14, y = threadIdx.y + (blockIdx.x >> 1 & 1) * 14, oc = blockIdx.y * 4 + (blockIdx.x >> 2) * 0;
    int part = blockIdx.x >> 2;
    float a[4];
    for (int o = 0; o < 4; o++) a[o] = bias[oc + o];
    for (int c = part * 4; c < part * 4 + 4; c++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                int yy = y + dy, xx = x + dx;
                float v = yy >= 0 && yy < 28 && xx >= 0 && xx < 28 ? in[(c * 28 + yy) * 28 + xx] : 0;
                for (int o = 0; o < 4; o++) a[o] += v * w[((oc + o) * 16 + c) * 9 + (dy + 1) * 3 + dx + 1];
            }
    for (int o = 0; o < 4; o++) out[((part * 32 + oc + o) * 28 + y) * 28 + x] = fmaxf(a[o], 0);
}

//! response_norm 49 64 | f32:100352:-2:2 | out f32:100352
// Local response normalisation over five channels, the sum of squares carried along the channels.
extern "C" __global__ void response_norm(const float *in, float *out)
{
    const int plane = 3136, channels = 32;
    int p = blockIdx.x * 64 + threadIdx.x;
    float sq = 0;
    for (int c = 0; c < 2; c++) sq += in[c * plane + p] * in[c * plane + p];
    for (int c = 0; c < channels; c++) {
        if (c + 2 < channels) sq += in[(c + 2) * plane + p] * in[(c + 2) * plane + p];
        if (c > 2) sq -= in[(c - 3) * plane + p] * in[(c - 3) * plane + p];
        out[c * plane + p] = in[c * plane + p] * __powf(1.0f + 2e-5f * sq, -0.75f);
    }
}

//! pooled_regions 24 128 | f32:32768:-1:1 | f32:96:0:1 | out f32:18816
// Regions of interest by bilinear sampling: 24 boxes, 7 x 7 bins, 16 channels of 32 x 64.
extern "C" __global__ void pooled_regions(const float *map, const float *box, float *out)
{
    float x0 = box[blockIdx.x * 4] * 40, y0 = box[blockIdx.x * 4 + 1] * 20, bw = (1 + box[blockIdx.x * 4 + 2] * 20) / 7, bh = (1 + box[blockIdx.x * 4 + 3] * 10) / 7;
    for (int e = threadIdx.x; e < 16 * 49; e += blockDim.x) {
        int c = e / 49, by = e % 49 / 7, bx = e % 7;
        float s = 0;
        for (int k = 0; k < 4; k++) {
            float x = x0 + (bx + 0.25f + 0.5f * (k & 1)) * bw, y = y0 + (by + 0.25f + 0.5f * (k >> 1)) * bh;
            int xi = min((int)x, 62), yi = min((int)y, 30);
            float fx = x - xi, fy = y - yi;
            const float *m = map + (c * 32 + yi) * 64 + xi;
            s += (1 - fy) * ((1 - fx) * m[0] + fx * m[1]) + fy * ((1 - fx) * m[64] + fx * m[65]);
        }
        out[blockIdx.x * 784 + e] = 0.25f * s;
    }
}

//! deformed_sampling 32 96 | f32:8192:-1:1 | f32:55296:-2:2 | out f32:27648
// A 3 x 3 kernel whose nine taps are moved by learnt offsets; borders count as zero.
extern "C" __global__ void deformed_sampling(const float *in, const float *offset, float *columns)
{
    int i = blockIdx.x * 96 + threadIdx.x;
    int c = i / 1024, y = i / 32 % 32, x = i % 32;
    for (int k = 0; k < 9; k++) {
        int o = (k * 2 * 1024 + y * 32 + x) % 55296;
        float h = y + k / 3 - 1 + offset[o], w = x + k % 3 - 1 + offset[o + 1024], v = 0;
        if (h > -1 && w > -1 && h < 32 && w < 32) {
            int hl = (int)floorf(h), wl = (int)floorf(w), hh = hl + 1, wh = wl + 1;
            float lh = h - hl, lw = w - wl;
            const float *m = in + c * 1024;
            float v1 = hl >= 0 && wl >= 0 ? m[hl * 32 + wl] : 0, v2 = hl >= 0 && wh <= 31 ? m[hl * 32 + wh] : 0;
            float v3 = hh <= 31 && wl >= 0 ? m[hh * 32 + wl] : 0, v4 = hh <= 31 && wh <= 31 ? m[hh * 32 + wh] : 0;
            v = (1 - lh) * (1 - lw) * v1 + (1 - lh) * lw * v2 + lh * (1 - lw) * v3 + lh * lw * v4;
        }
        columns[i * 9 + k] = v;
    }
}

//! binary_convolution 28,4 28,4 | u32:3600 | u32:1152 | out s32:50176
// Plus and minus one in bits: 128 channels of 30 x 30, xor and count, weights of sixteen channels in shared memory.
extern "C" __global__ void binary_convolution(const uint4 *in, const uint4 *w, int *out)
{
    __shared__ uint4 sw[16][9];
    int t = threadIdx.y * 28 + threadIdx.x;
    for (int i = t; i < 144; i += 112) sw[i / 9][i % 9] = w[(blockIdx.y * 4 + i) % 288];
    __syncthreads();
    int x = threadIdx.x, y = blockIdx.x;
    for (int oc = threadIdx.y; oc < 16; oc += 4) {
        int bits = 0;
        for (int k = 0; k < 9; k++) {
            uint4 v = in[(y + k / 3) * 30 + x + k % 3], u = sw[oc][k];
            bits += __popc(v.x ^ u.x) + __popc(v.y ^ u.y) + __popc(v.z ^ u.z) + __popc(v.w ^ u.w);
        }
        out[((blockIdx.y * 16 + oc) * 28 + y) * 28 + x] = 1152 - 2 * bits;
    }
}

__constant__ float nf4[16] = {-1.0f, -0.6962f, -0.5251f, -0.3949f, -0.2844f, -0.1848f, -0.0911f, 0.0f, 0.0796f, 0.1609f, 0.2461f, 0.3379f, 0.4407f, 0.5626f, 0.7230f, 1.0f};
//! normal_floats_gemv 64 128 | u8:131072 | f16:4096:0:0.1 | f16:1024:-1:1 | out f32:256
// A row a warp of weights in four bits by a table, one scale for 64, times a vector of halves.
extern "C" __global__ void normal_floats_gemv(const uint32_t *w, const half *scale, const half2 *x, float *y)
{
    __shared__ float table[16];
    if (threadIdx.x < 16) table[threadIdx.x] = nf4[threadIdx.x];
    __syncthreads();
    int lane = threadIdx.x & 31, row = blockIdx.x * 4 + (threadIdx.x >> 5);
    float s = 0;
    for (int k = lane; k < 128; k += 32) {
        uint32_t v = w[row * 128 + k];
        float part = 0;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            float2 q = __half22float2(x[k * 4 + j]);
            part += table[v >> (8 * j) & 15] * q.x + table[v >> (8 * j + 4) & 15] * q.y;
        }
        s += part * __half2float(scale[row * 16 + k / 8]);
    }
    for (int d = 16; d; d >>= 1) s += __shfl_down_sync(~0u, s, d);
    if (lane == 0) y[row] = s;
}

//! causal_alibi 8,4 128 | f32:32768:-1:1 | f32:32768:-1:1 | f32:32768:-1:1 | out f32:32768
// Attention over the past with a slope for the distance: four heads, 128 rows of 64, a warp four rows, keys in tiles of 32.
extern "C" __global__ void causal_alibi(const float *Q, const float *K, const float *V, float *O)
{
    __shared__ float k[32][65], v[32][64];
    int head = blockIdx.y, lane = threadIdx.x & 31, warp = threadIdx.x >> 5, row0 = blockIdx.x * 16 + warp * 4;
    float slope = exp2f(-2.0f * (head + 1)), m[4], l[4], o0[4], o1[4];
    for (int r = 0; r < 4; r++) m[r] = -1e30f, l[r] = o0[r] = o1[r] = 0;
    const float *q = Q + head * 8192;
    for (int base = 0; base <= blockIdx.x * 16 + 15; base += 32) {
        __syncthreads();
        for (int i = threadIdx.x; i < 2048; i += 128) {
            k[i >> 6][i & 63] = K[head * 8192 + base * 64 + i];
            v[i >> 6][i & 63] = V[head * 8192 + base * 64 + i];
        }
        __syncthreads();
        for (int r = 0; r < 4; r++) {
            int row = row0 + r, col = base + lane;
            float s = 0;
            for (int d = 0; d < 64; d++) s += q[row * 64 + d] * k[lane][d];
            s = col <= row ? s * 0.125f - slope * (row - col) : -1e30f;
            float big = s;
            for (int d = 16; d; d >>= 1) big = fmaxf(big, __shfl_xor_sync(~0u, big, d));
            big = fmaxf(big, m[r]);
            float p = __expf(s - big), f = __expf(m[r] - big), sum = p;
            for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
            l[r] = l[r] * f + sum;
            m[r] = big;
            o0[r] *= f, o1[r] *= f;
            for (int j = 0; j < 32; j++) {
                float pj = __shfl_sync(~0u, p, j);
                o0[r] += pj * v[j][lane];
                o1[r] += pj * v[j][lane + 32];
            }
        }
    }
    for (int r = 0; r < 4; r++) {
        O[head * 8192 + (row0 + r) * 64 + lane] = o0[r] / l[r];
        O[head * 8192 + (row0 + r) * 64 + lane + 32] = o1[r] / l[r];
    }
}

//! normal_rows_triton 96 128 | bf16:98304:-2:2 | bf16:1024:0:2 | bf16:1024:-1:1 | out bf16:98304 | out f32:96 | out f32:96
// A row of 1024 in registers, eight values of bf16 a thread, mean and variance in two passes.
extern "C" __global__ void normal_rows_triton(const uint4 *x, const uint4 *w, const uint4 *b, uint4 *y, float *mean, float *rstd)
{
    __shared__ float part[4];
    int t = threadIdx.x;
    uint4 raw = x[blockIdx.x * 128 + t], rw = w[t], rb = b[t];
    float v[8];
    const uint32_t *r = (const uint32_t *)&raw;
    for (int i = 0; i < 4; i++) v[2 * i] = __uint_as_float(r[i] << 16), v[2 * i + 1] = __uint_as_float(r[i] & 0xffff0000);
    auto total = [&](float s) {
        for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
        __syncthreads();
        if ((t & 31) == 0) part[t >> 5] = s;
        __syncthreads();
        return part[0] + part[1] + part[2] + part[3];
    };
    float s = 0;
    for (int i = 0; i < 8; i++) s += v[i];
    float mu = total(s) * (1.0f / 1024);
    s = 0;
    for (int i = 0; i < 8; i++) s += (v[i] - mu) * (v[i] - mu);
    float rs = rsqrtf(total(s) * (1.0f / 1024) + 1e-5f);
    if (t == 0) mean[blockIdx.x] = mu, rstd[blockIdx.x] = rs;
    const uint32_t *pw = (const uint32_t *)&rw, *pb = (const uint32_t *)&rb;
    uint32_t o[4];
    for (int i = 0; i < 4; i++) {
        float lo = (v[2 * i] - mu) * rs * __uint_as_float(pw[i] << 16) + __uint_as_float(pb[i] << 16);
        float hi = (v[2 * i + 1] - mu) * rs * __uint_as_float(pw[i] & 0xffff0000) + __uint_as_float(pb[i] & 0xffff0000);
        __nv_bfloat162 h = __floats2bfloat162_rn(lo, hi);
        o[i] = *(uint32_t *)&h;
    }
    y[blockIdx.x * 128 + t] = make_uint4(o[0], o[1], o[2], o[3]);
}

//! ternary_product 32 64 | u32:8192 | s8:2048:-127:127 | out s32:512
// Weights of -1, 0 and 1 in two bits, four of them against a word of bytes by dp4a.
extern "C" __global__ void ternary_product(const uint32_t *w, const int *x, int *y)
{
    __shared__ int sx[512];
    for (int i = threadIdx.x; i < 512; i += 64) sx[i] = x[i];
    __syncthreads();
    int g = threadIdx.x & 3, row = blockIdx.x * 16 + (threadIdx.x >> 2), s = 0;
    for (int k = g; k < 16; k += 4) {
        uint32_t v = w[row * 16 + k];
        for (int j = 0; j < 4; j++) {
            uint32_t q = v >> (8 * j) & 0xff;
            uint32_t spread = (q & 3) | (q & 12) << 6 | (q & 48) << 12 | (q & 192) << 18;
            s = __dp4a((int)__vsub4(spread & 0x03030303, 0x01010101), sx[k * 4 + j], s);
        }
    }
    s += __shfl_xor_sync(~0u, s, 1);
    s += __shfl_xor_sync(~0u, s, 2);
    if (g == 0) y[row] = s;
}

//! squeeze_excite 1 256 | f32:32768:-1:1 | f32:2048:-1:1 | f32:2048:-1:1 | out f32:32768
// Means of 128 channels, two small layers and the gate, all in one block.
extern "C" __global__ void squeeze_excite(const float *in, const float *w1, const float *w2, float *out)
{
    __shared__ float mean[128], hidden[16], gate[128];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    for (int c = warp; c < 128; c += 8) {
        float s = 0;
        for (int i = lane; i < 256; i += 32) s += in[c * 256 + i];
        for (int d = 16; d; d >>= 1) s += __shfl_down_sync(~0u, s, d);
        if (lane == 0) mean[c] = s / 256;
    }
    __syncthreads();
    if (threadIdx.x < 16) {
        float s = 0;
        for (int c = 0; c < 128; c++) s += w1[threadIdx.x * 128 + c] * mean[c];
        hidden[threadIdx.x] = s > 0 ? s : 0;
    }
    __syncthreads();
    if (threadIdx.x < 128) {
        float s = 0;
        for (int c = 0; c < 16; c++) s += w2[threadIdx.x * 16 + c] * hidden[c];
        gate[threadIdx.x] = 1 / (1 + __expf(-s));
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 32768; i += 256) out[i] = in[i] * gate[i >> 8];
}

//! alignment_losses 4 64 | f32:40960:-6:0 | u8:64:1:10 | out f32:4
// Forward pass of connectionist classification: 64 steps, ten letters, words of sixteen between blanks, log space.
extern "C" __global__ void alignment_losses(const float *logp, const unsigned char *label, float *loss)
{
    __shared__ float alpha[2][40];
    int s = threadIdx.x, cls = s & 1 ? label[blockIdx.x * 16 + (s >> 1 & 15)] % 10 : 0;
    const float *lp = logp + blockIdx.x * 640, none = -1e30f;
    bool skip = s >= 3 && (s & 1) && label[blockIdx.x * 16 + (s >> 1 & 15)] != label[blockIdx.x * 16 + ((s >> 1) - 1 & 15)];
    if (s < 33) alpha[0][s + 2] = s < 2 ? lp[cls] : none;
    if (s < 2) alpha[0][s] = alpha[1][s] = none;
    __syncthreads();
    for (int t = 1; t < 64; t++) {
        const float *from = alpha[~t & 1];
        if (s < 33) {
            float a = from[s + 2], b = from[s + 1], c = skip ? from[s] : none, m = fmaxf(a, fmaxf(b, c));
            alpha[t & 1][s + 2] = m <= none ? none : m + __logf(__expf(a - m) + __expf(b - m) + __expf(c - m)) + lp[t * 10 + cls];
        }
        __syncthreads();
    }
    if (s == 0) {
        float a = alpha[1][34], b = alpha[1][33], m = fmaxf(a, b);
        loss[blockIdx.x] = -(m + __logf(__expf(a - m) + __expf(b - m)));
    }
}

//! shuffled_pixels 36 256 | u8:73728 | out u8:73728
// Depth to space by two, bytes, channels last: 48 x 48 x 32 to 96 x 96 x 8.
extern "C" __global__ void shuffled_pixels(const unsigned char *in, unsigned char *out)
{
    for (int i = blockIdx.x * 256 + threadIdx.x; i < 73728; i += gridDim.x * 256) {
        int c = i % 8, x = i / 8 % 96, y = i / 768;
        out[i] = in[((y / 2) * 48 + x / 2) * 32 + c * 4 + (y & 1) * 2 + (x & 1)];
    }
}

//! bag_of_embeddings 40 64 | s32:1280:0:500 | f16:32000:-1:1 | f32:1280:0:1 | out f32:2560
// Weighted sums of rows of halves by index; bags of 32, the mode chosen by the block.
extern "C" __global__ void bag_of_embeddings(const int *index, const half *table, const float *weight, float *out)
{
    int mode = blockIdx.x % 3;
    float s = mode == 2 ? -1e30f : 0;
    for (int k = 0; k < 32; k++) {
        int row = index[blockIdx.x * 32 + k];
        if (row == 7) continue;
        float v = __half2float(table[row * 64 + threadIdx.x]);
        s = mode == 0 ? s + v * weight[blockIdx.x * 32 + k] : mode == 1 ? s + v : fmaxf(s, v);
    }
    out[blockIdx.x * 64 + threadIdx.x] = mode == 1 ? s / 32 : s;
}
