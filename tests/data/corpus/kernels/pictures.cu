/* pictures.cu - what is read through textures and written through surfaces, and pictures without either. */
#include <cstdint>
#define K extern "C" __global__ void

//! turned_picture_bilinear 12,9 16,8 | {"texture": "f32", "width": 160, "height": 96, "filter": "linear", "address": "border", "init": {"hash": 41001}} | out f32:13824 | s f32 0.8 | s f32 0.6
K turned_picture_bilinear(cudaTextureObject_t picture, float *out, float c, float s)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float dx = x - 96.0f, dy = y - 36.0f;
    out[y * 192 + x] = tex2D<float>(picture, c * dx - s * dy + 80.5f, s * dx + c * dy + 48.5f);
}

//! colours_of_small_table 20 128 | {"texture": "u8", "channels": 4, "width": 64, "read": "float", "normalized": true, "filter": "linear", "address": "wrap", "init": {"hash": 41002}} | f32:2560:-1:2 | out f32:10240
K colours_of_small_table(cudaTextureObject_t table, const float *at, float4 *colour)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 a = tex1D<float4>(table, at[i]), b = tex1D<float4>(table, at[i] * 1.7f);
    colour[i] = make_float4(a.x + b.w, a.y + b.z, a.z + b.y, a.w + b.x);
}

//! neighbours_fetched_linearly 16 96 | {"texture": "f32", "source": "linear", "width": 4096, "init": {"hash": 41003, "lo": -1, "hi": 1}} | s32:12288:0:4096 | out f32:1536
K neighbours_fetched_linearly(cudaTextureObject_t x, const int *columns, float *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < 8; k++) s += tex1Dfetch<float>(x, columns[k * 1536 + row]) * (k + 1);
    y[row] = s;
}

//! corners_gathered 8,8 8,16 | {"texture": "u8", "width": 64, "height": 128, "normalized": true, "read": "float", "address": "mirror", "init": {"hash": 41004}} | out f32:8192
K corners_gathered(cudaTextureObject_t picture, float *out)
{
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float4 g = tex2Dgather<float4>(picture, (x + 0.75f) / 64.0f, (y - 1.25f) / 128.0f, 0);
    out[y * 64 + x] = fmaxf(fmaxf(g.x, g.y), fmaxf(g.z, g.w)) - fminf(fminf(g.x, g.y), fminf(g.z, g.w));
}

//! volume_marched 6,6 8,8 | {"texture": "u8", "width": 32, "height": 32, "depth": 32, "normalized": true, "read": "float", "filter": "linear", "init": {"hash": 41005}} | out f32:2304
K volume_marched(cudaTextureObject_t volume, float *out)
{
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    float u = x / 48.0f, v = y / 48.0f, light = 0, clear = 1;
    for (int k = 0; k < 40; k++) {
        float t = k * 0.025f, d = tex3D<float>(volume, u + 0.1f * t, v * (1 - t) + 0.3f * t, t);
        float a = d > 0.5f ? (d - 0.5f) * 0.2f : 0.0f;
        light += clear * a * (1 - t);
        clear *= 1 - a;
        if (clear < 0.3f) break;
    }
    out[y * 48 + x] = light;
}

//! layers_blended_and_written 4,16 32,4 | {"texture": "s16", "width": 128, "height": 64, "layers": 3, "init": {"hash": 41006}} | {"surface": "s32", "width": 128, "height": 64, "init": {"const": 0}, "output": true}
K layers_blended_and_written(cudaTextureObject_t layers, cudaSurfaceObject_t out)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
    int a = tex2DLayered<short>(layers, x, y, 0), b = tex2DLayered<short>(layers, x ^ 1, y, 1), c = tex2DLayered<short>(layers, x, y ^ 3, 2);
    surf2Dwrite<int>(a * 3 + b * 2 - c, out, x * 4, y);
}

//! surface_smoothed_in_place 8 128 | {"surface": "f32", "width": 128, "height": 24, "init": {"hash": 41007}, "output": true}
// A block three rows: what is read is all read before anything is written.
K surface_smoothed_in_place(cudaSurfaceObject_t s)
{
    int x = threadIdx.x;
    for (int r = 0; r < 3; r++) {
        int y = blockIdx.x * 3 + r;
        float l = surf2Dread<float>(s, (x - 1) * 4, y, cudaBoundaryModeClamp), c = surf2Dread<float>(s, x * 4, y);
        float q = surf2Dread<float>(s, (x + 1) * 4, y, cudaBoundaryModeZero);
        __syncthreads();
        surf2Dwrite<float>(0.25f * l + 0.5f * c + 0.25f * q, s, x * 4, y);
    }
}

//! pitched_texture_enlarged 10,6 16,16 | {"texture": "u8", "source": "pitch", "width": 80, "height": 48, "pitch": 96, "filter": "linear", "read": "float", "init": {"hash": 41008}} | out u8:15360
K pitched_texture_enlarged(cudaTextureObject_t picture, uint8_t *out)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float v = tex2D<float>(picture, (x + 0.5f) * 0.5f, (y + 0.5f) * 0.5f);
    out[y * 160 + x] = (uint8_t)(v * 255.0f + 0.5f);
}

//! halftone_by_diffusion 6 32 | u8:12288 | out u8:12288
// Errors go to the right and down; a warp takes 32 rows as a wavefront.
K halftone_by_diffusion(const uint8_t *in, uint8_t *out)
{
    int y = threadIdx.x, carried = 0, below_next = 0;
    const uint8_t *p = in + blockIdx.x * 2048 + y * 64;
    uint8_t *q = out + blockIdx.x * 2048 + y * 64;
    for (int step = 0; step < 64 + 2 * 31; step++) {
        int x = step - 2 * y, above = __shfl_up_sync(~0u, below_next, 1);
        if (x >= 0 && x < 64) {
            int v = p[x] + carried + (y ? above : 0), o = v > 127 ? 255 : 0, e = v - o;
            q[x] = (uint8_t)o;
            carried = e * 7 / 16;
            below_next = e * 9 / 16;
        }
    }
}

//! distance_to_ink_rows 24 64 | u8:6144:0:12 | out s32:6144
K distance_to_ink_rows(const uint8_t *ink, int *d)
{
    __shared__ int nearest[256];
    int base = blockIdx.x * 256;
    for (int x = threadIdx.x; x < 256; x += 64) nearest[x] = ink[base + x] == 0 ? x : -1000;
    for (int s = 1; s < 256; s *= 2) {
        int mine[4];
        __syncthreads();
        for (int k = 0; k < 4; k++) {
            int x = threadIdx.x + k * 64, best = nearest[x], l = x >= s ? nearest[x - s] : -1000, r = x + s < 256 ? nearest[x + s] : -1000;
            if (abs(x - l) < abs(x - best)) best = l;
            if (abs(x - r) < abs(x - best)) best = r;
            mine[k] = best;
        }
        __syncthreads();
        for (int k = 0; k < 4; k++) nearest[threadIdx.x + k * 64] = mine[k];
    }
    __syncthreads();
    for (int x = threadIdx.x; x < 256; x += 64) d[base + x] = abs(x - nearest[x]);
}

//! white_balance_percentiles 10 256 | u8:30720 | out u8:30720
K white_balance_percentiles(const uint8_t *rgb, uint8_t *out)
{
    __shared__ unsigned bins[3][256];
    __shared__ int lo[3], hi[3];
    for (int k = threadIdx.x; k < 768; k += 256) bins[k / 256][k % 256] = 0;
    __syncthreads();
    const uint8_t *p = rgb + blockIdx.x * 3072;
    for (int k = threadIdx.x; k < 3072; k += 256) atomicAdd(&bins[k % 3][p[k]], 1);
    __syncthreads();
    if (threadIdx.x < 3) {
        unsigned s = 0;
        int a = 0, b = 255;
        while ((s += bins[threadIdx.x][a]) < 20) a++;
        s = 0;
        while ((s += bins[threadIdx.x][b]) < 20) b--;
        lo[threadIdx.x] = a;
        hi[threadIdx.x] = b;
    }
    __syncthreads();
    for (int k = threadIdx.x; k < 3072; k += 256) {
        int c = k % 3, v = (p[k] - lo[c]) * 255 / max(1, hi[c] - lo[c]);
        out[blockIdx.x * 3072 + k] = (uint8_t)min(255, max(0, v));
    }
}
