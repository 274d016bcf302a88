/* recordings.cu - sound, radar, tomography and pictures: filters, spectra, features, compression. */
#include <cstdint>
#include <cuda_fp16.h>
#define K extern "C" __global__ void

//! signal_resampled_by_polyphase_filter 27 128 | f32:4096:-1:1 | f32:512:-0.2:0.2 | out f32:3456 | s s32 24 | s s32 21
// 24 outputs for 21 inputs, 16 taps a phase.
K signal_resampled_by_polyphase_filter(const float *x, const float *taps, float *y, int up, int down)
{
    int i = blockIdx.x * 128 + threadIdx.x, at = i * down, n = at / up, phase = at % up;
    float s = 0;
#pragma unroll
    for (int k = 0; k < 16; k++) s = fmaf(taps[phase * 16 + k], x[n + k], s);
    y[i] = s;
}

//! decimated_by_integrators_and_combs 16 32 | s32:131072:-1000:1000 | out s64:8192
// Three integrators and three combs of 64 bits, a channel a thread, 16 samples become one.
K decimated_by_integrators_and_combs(const int *x, long long *y)
{
    int c = blockIdx.x * 32 + threadIdx.x, n = gridDim.x * 32;
    long long i0 = 0, i1 = 0, i2 = 0, c0 = 0, c1 = 0, c2 = 0;
    for (int k = 0; k < 256; k++) {
        i0 += x[k * n + c];
        i1 += i0;
        i2 += i1;
        if (k % 16 == 15) {
            long long a = i2 - c0, b = a - c1, d = b - c2;
            c0 = i2, c1 = a, c2 = b;
            y[k / 16 * n + c] = d;
        }
    }
}

//! steps_of_four_bits_to_sound 10 32 | u32:5120 | out s16:40960
// ADPCM: a thread a stream of 128 codes, a table in constant memory, the step moves with every code.
__constant__ int16_t steps_of_sound[89] = {7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 19, 21, 23, 25, 28, 31, 34, 37, 41, 45, 50, 55, 60, 66, 73, 80, 88, 97, 107, 118, 130, 143, 157, 173, 190, 209, 230, 253, 279, 307, 337, 371, 408, 449, 494, 544, 598, 658, 724, 796, 876, 963, 1060, 1166, 1282, 1411, 1552, 1707, 1878, 2066, 2272, 2499, 2749, 3024, 3327, 3660, 4026, 4428, 4871, 5358, 5894, 6484, 7132, 7845, 8630, 9493, 10442, 11487, 12635, 13899, 15289, 16818, 18500, 20350, 22385, 24623, 27086, 29794, 32767};
K steps_of_four_bits_to_sound(const uint32_t *in, int16_t *out)
{
    int i = blockIdx.x * 32 + threadIdx.x, value = 0, index = 20;
    for (int w = 0; w < 16; w++) {
        uint32_t v = in[i * 16 + w];
        for (int k = 0; k < 8; k++) {
            int code = v >> 4 * k & 15, step = steps_of_sound[index], d = step >> 3;
            if (code & 4) d += step;
            if (code & 2) d += step >> 1;
            if (code & 1) d += step >> 2;
            value += code & 8 ? -d : d;
            value = max(-32768, min(32767, value));
            index += (code & 7) < 4 ? -1 : 2 * (code & 3) + 2;
            index = max(0, min(88, index));
            out[(w * 8 + k) * 320 + i] = (int16_t)value;
        }
    }
}

//! lags_compared_for_pitch 20 128 | f32:10752:-1:1 | out s32:20 | out f32:2560
// The difference function of YIN: lag by thread, normalised by its mean so far, the first dip below the threshold.
K lags_compared_for_pitch(const float *x, int *pitch, float *diff)
{
    __shared__ float d[128], w[640];
    int t = threadIdx.x;
    for (int i = t; i < 512 + 128; i += 128) w[i] = x[blockIdx.x * 512 + i];
    __syncthreads();
    float s = 0;
    for (int i = 0; i < 512; i++) {
        float e = w[i] - w[i + t];
        s = fmaf(e, e, s);
    }
    d[t] = s;
    __syncthreads();
    float sum = 0;
    for (int k = 1; k <= t; k++) sum += d[k];
    float v = t ? s * t / sum : 1.0f;
    __syncthreads();
    d[t] = v;
    diff[blockIdx.x * 128 + t] = v;
    __syncthreads();
    unsigned low = __ballot_sync(~0u, v < 0.9f);
    __shared__ unsigned bits[4];
    if (t % 32 == 0) bits[t / 32] = low;
    __syncthreads();
    if (t == 0) {
        int p = -1;
        for (int k = 3; k >= 0; k--)
            if (bits[k]) p = k * 32 + __ffs(bits[k]) - 1;
        while (p >= 0 && p < 127 && d[p + 1] < d[p]) p++;
        pitch[blockIdx.x] = p;
    }
}

//! cells_of_radar_above_their_surroundings 8,33 64 | f32:45000:0:4 | out u8:16896 | s f32 2.5
// CFAR: eight cells each side behind two guards, on both axes; border of ten.
K cells_of_radar_above_their_surroundings(const float *p, uint8_t *hit, float factor)
{
    int x = blockIdx.x * 64 + threadIdx.x, y = blockIdx.y, w = 532;
    const float *c = p + (y + 10) * w + x + 10;
    float a = 0, b = 0, u = 0, v = 0;
#pragma unroll
    for (int k = 3; k <= 10; k++) a += c[-k], b += c[k], u += c[-k * w], v += c[k * w];
    float level = fmaxf(fmaxf(a, b), fminf(u, v)) * 0.125f;
    hit[y * 512 + x] = *c > factor * level ? 1 : 0;
}

//! beams_by_delays_and_sums 18 64 | s16:32768:-2000:2000 | f32:32:-0.2:0.2 | out f32:36864 | s s32 1024
// 18 beams, 32 receivers, linear interpolation between samples; a thread 32 samples of a beam.
K beams_by_delays_and_sums(const int16_t *x, const float *place, float *out, int n)
{
    __shared__ float delay[32];
    int t = threadIdx.x;
    if (t < 32) delay[t] = (place[t] + 0.2f) * (40.0f + fabsf(sinf(blockIdx.x * 0.2f)) * 200.0f);
    __syncthreads();
    for (int i = t; i < 2048; i += 64) {
        float s = 0;
        for (int r = 0; r < 32; r++) {
            float p = i * 0.4f + delay[r];
            int k = (int)p;
            float f = p - k, a = k < n ? x[r * n + k] : 0.0f, b = k + 1 < n ? x[r * n + k + 1] : 0.0f;
            s += a + f * (b - a);
        }
        out[blockIdx.x * 2048 + i] = s;
    }
}

//! slices_projected_back 12,12 16,16 | {"texture": "f32", "width": 256, "height": 64, "filter": "linear", "address": "border", "init": {"hash": 43002}} | out f32:36864
// 64 angles of 256 detectors.
K slices_projected_back(cudaTextureObject_t sino, float *out)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float s = 0, c0 = 1, s0 = 0;
    for (int a = 0; a < 64; a++) {
        s += tex2D<float>(sino, 128.0f + (x - 95.5f) * c0 + (y - 95.5f) * s0, a + 0.5f);
        float c = c0 * 0.99879546f - s0 * 0.04906767f;
        s0 = s0 * 0.99879546f + c0 * 0.04906767f;
        c0 = c;
    }
    out[y * 192 + x] = s * 0.049087387f;
}

//! pulses_focused_in_doubles 12,6 16,16 | f32:16384:-1:1 | f64:192:-1:1 | out f32:36864
// Synthetic aperture: the range in doubles, its phase in single precision after the whole turns are away.
K pulses_focused_in_doubles(const float2 *pulse, const double *pos, float2 *image)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float2 s = make_float2(0, 0);
    for (int p = 0; p < 32; p++) {
        double dx = pos[p * 3] * 100 - x * 0.25, dy = pos[p * 3 + 1] * 100 + 300 - y * 0.25, dz = pos[p * 3 + 2] + 50, r = sqrt(dx * dx + dy * dy + dz * dz);
        double turns = r * 20.0138;
        float phase = (float)(turns - floor(turns)) * 6.2831853f, si, co, bin = (float)(r - 200.0) * 0.8f;
        int b = (int)bin;
        if (b < 0 || b > 254) continue;
        float f = bin - b;
        float2 a = pulse[p * 256 + b], q = pulse[p * 256 + b + 1];
        a.x += f * (q.x - a.x), a.y += f * (q.y - a.y);
        __sincosf(phase, &si, &co);
        s.x += a.x * co - a.y * si, s.y += a.x * si + a.y * co;
    }
    image[y * 192 + x] = s;
}

//! guided_by_means_of_boxes 10,12 32,8 | f32:32768:0:1 | f32:32768:0:1 | out f32:30720 | out f32:30720 | s f32 0.01
// The line a x + b that fits best in each box of 5 x 5: four means from one tile of two pictures.
K guided_by_means_of_boxes(const float *guide, const float *src, float *a, float *b, float eps)
{
    __shared__ float2 s[12][37];
    int t = threadIdx.y * 32 + threadIdx.x, pitch = 324;
    for (int i = t; i < 12 * 36; i += 256) {
        int p = (blockIdx.y * 8 + i / 36) * pitch + blockIdx.x * 32 + i % 36;
        s[i / 36][i % 36] = make_float2(guide[p], src[p]);
    }
    __syncthreads();
    float mi = 0, mp = 0, ii = 0, ip = 0;
#pragma unroll
    for (int y = 0; y < 5; y++)
#pragma unroll
        for (int x = 0; x < 5; x++) {
            float2 v = s[threadIdx.y + y][threadIdx.x + x];
            mi += v.x, mp += v.y, ii = fmaf(v.x, v.x, ii), ip = fmaf(v.x, v.y, ip);
        }
    mi *= 0.04f, mp *= 0.04f;
    float k = (ip * 0.04f - mi * mp) / (ii * 0.04f - mi * mi + eps);
    int o = (blockIdx.y * 8 + threadIdx.y) * 320 + blockIdx.x * 32 + threadIdx.x;
    a[o] = k;
    b[o] = mp - k * mi;
}

//! directions_counted_in_cells 12,16 64 | u8:50176 | out f32:13824
// A block a cell of 8 x 8 with nine bins in shared memory, two bins share a gradient (in 16ths, whole numbers).
K directions_counted_in_cells(const uint8_t *in, float *hist)
{
    __shared__ int bins[9];
    int t = threadIdx.x, x = blockIdx.x * 8 + t % 8, y = blockIdx.y * 8 + t / 8, w = 256;
    if (t < 9) bins[t] = 0;
    __syncthreads();
    const uint8_t *p = in + (y + 1) * w + x + 1;
    int gx = p[1] - p[-1], gy = p[w] - p[-w];
    float m = sqrtf((float)(gx * gx + gy * gy)), angle = atan2f((float)gy, (float)gx);
    if (angle < 0) angle += 3.14159265f;
    float at = angle * (9.0f / 3.14159265f) - 0.5f;
    int lo = (int)floorf(at), part = (int)((at - lo) * 16);
    int mag = (int)m;
    atomicAdd(&bins[(lo + 9) % 9], mag * (16 - part));
    atomicAdd(&bins[(lo + 1) % 9], mag * part);
    __syncthreads();
    if (t < 9) hist[(blockIdx.y * 12 + blockIdx.x) * 9 + t] = bins[t] * 0.0625f;
}

//! likeness_of_windows_of_eight 24,24 8,8 | u8:36864 | u8:36864 | out f32:576
// A block a window: five sums by shuffles of two warps, the structural similarity of it.
K likeness_of_windows_of_eight(const uint8_t *a, const uint8_t *b, float *out)
{
    __shared__ int part[2][5];
    int t = threadIdx.y * 8 + threadIdx.x, p = (blockIdx.y * 8 + threadIdx.y) * 192 + blockIdx.x * 8 + threadIdx.x, x = a[p], y = b[p];
    int v[5] = {x, y, x * x, y * y, x * y};
#pragma unroll
    for (int k = 0; k < 5; k++) {
        v[k] = __reduce_add_sync(~0u, v[k]);
        if (t % 32 == 0) part[t / 32][k] = v[k];
    }
    __syncthreads();
    if (t == 0) {
        float q[5];
        for (int k = 0; k < 5; k++) q[k] = (part[0][k] + part[1][k]) * (1.0f / 64);
        float vx = q[2] - q[0] * q[0], vy = q[3] - q[1] * q[1], c = q[4] - q[0] * q[1];
        out[blockIdx.y * 24 + blockIdx.x] = (2 * q[0] * q[1] + 6.5025f) * (2 * c + 58.5225f) / ((q[0] * q[0] + q[1] * q[1] + 6.5025f) * (vx + vy + 58.5225f));
    }
}

//! coefficients_back_to_pixels_whole_numbers 64 64 | s16:32768:-40:40 | u16:64:1:30 | out u8:32768
// Eight blocks of 8 x 8 a block: eight threads a picture block, rows, then columns, through shared memory.
__device__ void idct8(int *v)
{
    int a0 = (v[0] + v[4]) << 11, a1 = (v[0] - v[4]) << 11, a2 = v[2] * 1108 - v[6] * 2676, a3 = v[2] * 2676 + v[6] * 1108;
    int b0 = v[1] * 2841 + v[7] * 565, b1 = v[1] * 565 - v[7] * 2841, b2 = v[5] * 1609 + v[3] * 2408, b3 = v[5] * 2408 - v[3] * 1609;
    int e0 = a0 + a3, e3 = a0 - a3, e1 = a1 + a2, e2 = a1 - a2, o0 = b0 + b2, o3 = b1 + b3, t0 = b0 - b2, t1 = b1 - b3;
    int o1 = (181 * ((t0 + t1) >> 8)), o2 = (181 * ((t0 - t1) >> 8));
    v[0] = (e0 + o0) >> 11, v[7] = (e0 - o0) >> 11, v[1] = (e1 + o1) >> 11, v[6] = (e1 - o1) >> 11;
    v[2] = (e2 + o2) >> 11, v[5] = (e2 - o2) >> 11, v[3] = (e3 + o3) >> 11, v[4] = (e3 - o3) >> 11;
}
K coefficients_back_to_pixels_whole_numbers(const int16_t *in, const uint16_t *table, uint8_t *out)
{
    __shared__ int s[8][8][9];
    int t = threadIdx.x, b = t / 8, r = t % 8, base = (blockIdx.x * 8 + b) * 64, v[8];
#pragma unroll
    for (int k = 0; k < 8; k++) v[k] = in[base + r * 8 + k] * table[r * 8 + k];
    idct8(v);
#pragma unroll
    for (int k = 0; k < 8; k++) s[b][r][k] = v[k];
    __syncwarp();
#pragma unroll
    for (int k = 0; k < 8; k++) v[k] = s[b][k][r];
    idct8(v);
    uint32_t lo = 0, hi = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        lo |= (uint32_t)min(255, max(0, (v[k] >> 6) + 128)) << 8 * k;
        hi |= (uint32_t)min(255, max(0, (v[k + 4] >> 6) + 128)) << 8 * k;
    }
    *(uint2 *)(out + base + r * 8) = make_uint2(lo, hi);
}

//! grid_of_bilateral_filled_and_read 6,6 16,16 | f32:9216:0:1 | out f32:9216
// Tiles of 16 x 16: a coarse grid of 4 x 4 x 8 cells in shared memory by whole numbers, then read back trilinearly.
K grid_of_bilateral_filled_and_read(const float *in, float *out)
{
    __shared__ uint32_t sum[6][6][10], num[6][6][10];
    int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx, p = (blockIdx.y * 16 + ty) * 96 + blockIdx.x * 16 + tx;
    for (int i = t; i < 360; i += 256) (&sum[0][0][0])[i] = 0, (&num[0][0][0])[i] = 0;
    float v = in[p];
    __syncthreads();
    int cx = (tx + 2) / 4, cy = (ty + 2) / 4, cz = (int)(v * 7 + 0.5f);
    atomicAdd(&sum[cy][cx][cz], (uint32_t)(v * 65536));
    atomicAdd(&num[cy][cx][cz], 65536u);
    __syncthreads();
    float fx = tx * 0.25f, fy = ty * 0.25f, fz = v * 7, s = 0, n = 1e-9f;
    int ix = (int)fx, iy = (int)fy, iz = (int)fz;
    fx -= ix, fy -= iy, fz -= iz;
#pragma unroll
    for (int c = 0; c < 8; c++) {
        float w = (c & 1 ? fx : 1 - fx) * (c & 2 ? fy : 1 - fy) * (c & 4 ? fz : 1 - fz);
        s += w * sum[iy + (c >> 1 & 1)][ix + (c & 1)][iz + (c >> 2)], n += w * num[iy + (c >> 1 & 1)][ix + (c & 1)][iz + (c >> 2)];
    }
    out[p] = s / n;
}
