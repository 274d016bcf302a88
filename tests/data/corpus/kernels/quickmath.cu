/* quickmath.cu - with --use_fast_math, for compute_75: approximate functions, no subnormal numbers, an older target. */
#include <cuda_fp16.h>
#include <cstdint>
#define K extern "C" __global__ void

//! quick_waves_added 20 96 | f32:1920:-9:9 | out f32:1920 | s s32 12
K quick_waves_added(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 1; k <= n; k++) s += sinf(k * x[i]) / k + cosf(x[i] - k) * expf(-k);
    y[i] = s;
}

//! quick_black_box_layer 16 64 | f32:8192:-1:1 | f32:1024:-1:1 | f32:16:-1:1 | out f32:16384
K quick_black_box_layer(const float *x, const float *w, const float *b, float *y)
{
    __shared__ float sw[8][16];
    int t = threadIdx.x;
    sw[t / 16][t % 16] = w[t];
    sw[t / 16 + 4][t % 16] = w[t + 64];
    __syncthreads();
    const float4 *p = (const float4 *)x + (blockIdx.x * 64 + t) * 2;
    float4 u = p[0], v = p[1];
    float in[8] = {u.x, u.y, u.z, u.w, v.x, v.y, v.z, v.w};
#pragma unroll 4
    for (int o = 0; o < 16; o++) {
        float s = b[o];
#pragma unroll
        for (int k = 0; k < 8; k++) s += in[k] * sw[k][o];
        y[(blockIdx.x * 64 + t) * 16 + o] = tanhf(s) + 1.0f / (1.0f + expf(-s));
    }
}

//! quick_lengths_normalised 18 128 | f32:6912:-4:4 | out f32:6912 | s s32 2300
K quick_lengths_normalised(const float *v, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = v[i * 3], y = v[i * 3 + 1], z = v[i * 3 + 2], l = sqrtf(x * x + y * y + z * z);
    out[i * 3] = x / l;
    out[i * 3 + 1] = y / l;
    out[i * 3 + 2] = powf(fabsf(z), 0.4f) / l + logf(l);
}

//! quick_polar_to_grid 12,3 16,8 | f32:4096 | out f32:4608
K quick_polar_to_grid(const float *polar, float *grid)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    float dx = x - 95.5f, dy = y + 0.5f, r = sqrtf(dx * dx + dy * dy) * 0.3f, a = atan2f(dy, dx) * 40.0f;
    int ri = min(31, (int)r), ai = min(127, (int)a);
    float fr = r - ri, fa = a - ai;
    float p = polar[ri * 128 + ai], q = polar[min(31, ri + 1) * 128 + ai], s = polar[ri * 128 + min(127, ai + 1)];
    grid[y * 192 + x] = p + fr * (q - p) + fa * (s - p);
}

//! quick_softplus_halves 10 128 | f16:5120:-6:6 | out f16:5120
K quick_softplus_halves(const __half2 *x, __half2 *y)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 2560; i += gridDim.x * blockDim.x) {
        float2 v = __half22float2(x[i]);
        y[i] = __floats2half2_rn(logf(1.0f + expf(v.x)), v.y / (1.0f + expf(-v.y)));
    }
}

//! quick_votes_older 9 96 | s32:864:0:100 | out u32:864
K quick_votes_older(const int *x, unsigned *out)
{
    int i = blockIdx.x * 96 + threadIdx.x, v = x[i];
    unsigned b = __ballot_sync(~0u, v > 50), m = __match_any_sync(~0u, v >> 4);
    int s = v;
    for (int d = 1; d < 32; d <<= 1) {
        int o = __shfl_up_sync(~0u, s, d);
        if ((threadIdx.x & 31) >= d) s += o;
    }
    out[i] = __popc(b & m) + s * 64 + (__all_sync(~0u, v < 99) ? 1 : 0) + __popc(__activemask());
}
