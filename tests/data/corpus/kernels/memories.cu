/* memories.cu - ways to memory: textures and surfaces, constants, hints for caches, prefetches, strides, volatile words, local copies. */
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cstdint>

//! texture_rotate 16,16 16,16 | {"texture": "f32", "width": 256, "height": 256, "filter": "linear", "address": "wrap", "normalized": true, "init": {"hash": 44001}} | out f32:65536 | s f32 0.8 | s f32 0.6
extern "C" __global__ void texture_rotate(cudaTextureObject_t image, float *__restrict__ out, float c, float s)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float u = x * (1.0f / 256) - 0.5f, v = y * (1.0f / 256) - 0.5f;
    out[y * 256 + x] = tex2D<float>(image, u * c - v * s + 0.5f, u * s + v * c + 0.5f);
}

//! texture_gather 66 256 | {"texture": "u8", "channels": 4, "width": 128, "height": 128, "read": "float", "address": "clamp", "init": {"hash": 44002}} | f32:33792:0:128 | out f32:67584
// Four texels of one channel at once (tld4), at places from memory.
extern "C" __global__ void texture_gather(cudaTextureObject_t image, const float2 *__restrict__ places, float4 *__restrict__ out)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float2 p = places[i];
    float4 r = tex2Dgather<float4>(image, p.x, p.y, 0), g = tex2Dgather<float4>(image, p.x, p.y, 2);
    out[i] = make_float4(r.x + g.x, r.y - g.y, r.z * g.z, r.w + 0.5f * g.w);
}

//! texture_volume 8,8,8 8,4,4 | {"texture": "f32", "width": 64, "height": 32, "depth": 32, "filter": "linear", "address": "border", "init": {"hash": 44003}} | out f32:65536 | s f32 0.7
// Trilinear samples along a slanted line through a volume, the greatest kept.
extern "C" __global__ void texture_volume(cudaTextureObject_t volume, float *__restrict__ out, float slope)
{
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y, z = blockIdx.z * 4 + threadIdx.z;
    float best = 0;
#pragma unroll 4
    for (int k = 0; k < 12; k++) best = fmaxf(best, tex3D<float>(volume, x + 0.3f * k, y + slope * k, z + 0.5f));
    out[(z * 32 + y) * 64 + x] = best;
}

//! texture_lookup 264 128 | {"texture": "f32", "width": 4096, "source": "linear", "init": {"hash": 44004}} | u32:33792 | out f32:33792
// A table behind tex1Dfetch, four dependent steps.
extern "C" __global__ void texture_lookup(cudaTextureObject_t table, const unsigned *__restrict__ in, float *__restrict__ out)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    unsigned at = in[i] >> 20;
    float s = 0;
    for (int k = 0; k < 4; k++) {
        float v = tex1Dfetch<float>(table, at);
        s += v;
        at = (at * 5 + (unsigned)(v * 1000)) & 4095;
    }
    out[i] = s;
}

//! surface_sharpen 12,24 32,8 | {"surface": "f32", "width": 384, "height": 192, "init": {"hash": 44005}} | {"surface": "f32", "width": 384, "height": 192, "init": {"const": 0}, "output": true}
extern "C" __global__ void surface_sharpen(cudaSurfaceObject_t from, cudaSurfaceObject_t to)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    float c, s = 0;
    surf2Dread(&c, from, x * 4, y);
    const int dx[4] = {-1, 1, 0, 0}, dy[4] = {0, 0, -1, 1};
#pragma unroll
    for (int k = 0; k < 4; k++) {
        float v;
        surf2Dread(&v, from, (x + dx[k]) * 4, y + dy[k], cudaBoundaryModeClamp);
        s += v;
    }
    surf2Dwrite(c * 2.0f - s * 0.25f, to, x * 4, y);
}

__constant__ float basis[8][8];
__constant__ unsigned short zigzag[64] = {0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
                                          35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};
//! constant_scatter 132 128 | s16:67584:-500:500 | out s16:67584
// A table of constants read by lane (each its own word) and by loop (all the same).
extern "C" __global__ void constant_scatter(const int16_t *__restrict__ in, int16_t *__restrict__ out)
{
    __shared__ int16_t s[8][64];
    int t = threadIdx.x, b = t / 16, l = t % 16, base = blockIdx.x * 512;
#pragma unroll
    for (int k = 0; k < 4; k++) s[b][zigzag[l * 4 + k]] = in[base + b * 64 + l * 4 + k];
    __syncthreads();
    int v = 0;
    for (int k = 0; k < 64; k++) v += zigzag[k] * s[b][k] >> 4;
#pragma unroll
    for (int k = 0; k < 4; k++) out[base + b * 64 + k * 16 + l] = (int16_t)(s[b][k * 16 + l] + (v >> 8) + (int)basis[k][l & 7]);
}

//! hints_stream 528 256 | f32:540672:-1:1 | f32:4096:-1:1 | out f32:540672
// Loads that are read once (ldcs), a table that stays (ldca), stores that stream (stcs), a write-through beside them.
extern "C" __global__ void hints_stream(const float4 *__restrict__ in, const float *__restrict__ table, float4 *__restrict__ out)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float4 v = __ldcs(&in[i]);
    float a = __ldca(&table[(i * 7) & 4095]), b = __ldcg(&table[(i * 13 + 5) & 4095]);
    v.x *= a, v.y *= b, v.z += a, v.w -= b;
    if (i & 32) __stwt(&out[i], v);
    else __stcs(&out[i], v);
}

//! prefetch_walk 132 256 | f32:1081344:-1:1 | out f32:33792 | s s32 32
// The line of four rounds ahead is asked for in L2, that of the next in L1; a lane a column.
extern "C" __global__ void prefetch_walk(const float *__restrict__ in, float *__restrict__ out, int rounds)
{
    int i = blockIdx.x * 256 + threadIdx.x, n = gridDim.x * 256;
    float s = 0;
    for (int k = 0; k < rounds; k++) {
        if (k + 4 < rounds) asm volatile("prefetch.global.L2 [%0];" ::"l"(in + (k + 4) * n + i));
        if (k + 1 < rounds) asm volatile("prefetch.global.L1 [%0];" ::"l"(in + (k + 1) * n + i));
        s = s * 0.99f + in[k * n + i];
    }
    out[i] = s;
}

//! policy_reuse 132 128 | f32:135168:-1:1 | out f32:16896
// createpolicy with evict_last and a fraction, loads with the policy and with eviction priorities.
extern "C" __global__ void policy_reuse(const float *__restrict__ in, float *__restrict__ out)
{
    uint64_t keep;
    asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 0.5;" : "=l"(keep));
    int i = blockIdx.x * 128 + threadIdx.x, n = gridDim.x * 128;
    float s = 0;
    for (int r = 0; r < 2; r++)
        for (int k = 0; k < 8; k++) {
            float v;
            if (k & 1) asm volatile("ld.global.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(v) : "l"(in + k * n + i), "l"(keep));
            else asm volatile("ld.global.L1::no_allocate.L2::128B.f32 %0, [%1];" : "=f"(v) : "l"(in + k * n + i));
            s = fmaf(s, 0.5f, v);
        }
    asm volatile("st.global.L2::cache_hint.f32 [%0], %1, %2;" ::"l"(out + i), "f"(s), "l"(keep));
}

//! stride_ladder 33 256 | f32:540672:0:1 | out f32:8448
// Strides of 1, 2, 4 ... 64 words in turn: how many sectors a request touches doubles.
extern "C" __global__ void stride_ladder(const float *__restrict__ in, float *__restrict__ out)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float s = 0;
#pragma unroll
    for (int k = 0; k < 7; k++) s += in[(i << k) % 540671];
    out[i] = s;
}

//! volatile_tree 264 256 | s32:67584:-1000:1000 | out s32:264
// The last warp without barriers, on volatile shared words, as old programs have it (with __syncwarp).
extern "C" __global__ void volatile_tree(const int *__restrict__ in, int *__restrict__ out)
{
    __shared__ volatile int s[256];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    if (t < 128) s[t] += s[t + 128];
    __syncthreads();
    if (t < 64) s[t] += s[t + 64];
    __syncthreads();
    if (t < 32) {
        int v = s[t] + s[t + 32];
        s[t] = v;
        __syncwarp();
        for (int o = 16; o; o >>= 1) {
            v = s[t] + s[t + o & 63];
            __syncwarp();
            s[t] = v;
            __syncwarp();
        }
        if (t == 0) out[blockIdx.x] = v;
    }
}

//! chase_mixed 4 32 | u32:65536 | out u32:128 | s s32 64
// One chain a lane through 256 KiB and one a warp through shared memory, in step.
extern "C" __global__ void chase_mixed(const unsigned *__restrict__ in, unsigned *__restrict__ out, int steps)
{
    __shared__ unsigned short next[1024];
    for (int i = threadIdx.x; i < 1024; i += 32) next[i] = (i * 421 + 17) & 1023;
    __syncwarp();
    unsigned a = (blockIdx.x * 32 + threadIdx.x) * 509, b = blockIdx.x;
    for (int k = 0; k < steps; k++) {
        a = (in[a & 65535] + a) >> 3;
        b = next[b];
    }
    out[blockIdx.x * 32 + threadIdx.x] = a ^ b;
}

//! odd_sizes 90 96 | u8:138240 | out u8:60480 | out u16:25920
// Structs of three and seven bytes: loads and stores by single bytes.
struct __attribute__((packed)) Seven {
    uint8_t a, b, c;
    uint8_t d[4];
};
extern "C" __global__ void odd_sizes(const uint8_t *__restrict__ in, Seven *__restrict__ out, uint16_t *__restrict__ sums)
{
    int i = blockIdx.x * 96 + threadIdx.x;
    const Seven *p = (const Seven *)in;
    Seven v = p[i], w = p[i + 8640];
    v.a += w.d[3], v.b ^= w.a, v.c -= w.b;
    for (int k = 0; k < 4; k++) v.d[k] = (uint8_t)(v.d[k] * 3 + w.d[3 - k]);
    out[i] = v;
    const uchar3 *q = (const uchar3 *)in;
    uchar3 x = q[i];
    sums[i] = x.x + x.y * 2 + x.z * 3, sums[8640 + i] = x.x * x.y, sums[17280 + i] = x.y * x.z;
}
