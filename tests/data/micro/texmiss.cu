// texmiss.cu - the first use of a texture (cycles of each of thirteen fetches of one lane, five of one texture, four of another, four loads; run 0 to 5, the
// last three with cold caches), fetches that miss the L1 by how many lines a warp asks for, and fetches of three dimensions, layers and one dimension.
// One line a measurement: kind, what, n, warps, cycles of all, cycles a fetch of the SM. (Of the last, "three", each is fetched four times: four times the cycles.)
// Recorded in texmiss.tsv with
//
//     nvcc -O3 -arch=sm_90a -o texmiss texmiss.cu && ./texmiss > texmiss.tsv
//
// (H200, driver 580.159.04, CUDA 13.0, 2026-11).
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>
typedef unsigned long long u64;
static u64 *out; static float *sink; static char *trash;
// first: a chain of fetches by one lane of three textures in turn, each time a new line; the time of each
template <int LINEAR> __global__ void first(cudaTextureObject_t a, cudaTextureObject_t b, const float *p, u64 *out, float *sink)
{
    u64 t[14]; float x = 0;
#pragma unroll
    for (int i = 0; i < 13; i++) {
        t[i] = clock64();
        int at = 96 * i + (x > 1e30f);
        if (i < 5) x += LINEAR ? tex1Dfetch<float>(a, at) : tex2D<float>(a, at % 1024 + 0.5f, 0.5f);
        else if (i < 9) x += LINEAR ? tex1Dfetch<float>(b, at) : tex2D<float>(b, at % 1024 + 0.5f, 0.5f);
        else x += __ldg(p + at);
        x = __shfl_sync(~0u, x, 0);
    }
    t[13] = clock64();
    for (int i = 0; i < 14; i++) out[i] = t[i];
    *sink = x;
}
// misses: n fetches of each warp, independent by eights, each of `lines` new lines (of 128 bytes), the first sector of each
template <int KIND> __global__ void misses(cudaTextureObject_t t, const float *p, int lines, int rounds, u64 *out, float *sink)
{
    int l = threadIdx.x & 31, w = threadIdx.x >> 5, warps = blockDim.x >> 5;
    float a = 0;
    __syncthreads(); u64 t0 = clock64();
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        float v[8];
#pragma unroll
        for (int j = 0; j < 8; j++) {
            int line = ((r * 8 + j) * warps + w) * lines + l % lines, in = l / lines, at = line * 32 + in;
            v[j] = KIND == 0 ? __ldg(p + at) : KIND == 1 ? tex1Dfetch<float>(t, at) : tex2D<float>(t, (at & 8191) + 0.5f, (at >> 13) + 0.5f);
        }
#pragma unroll
        for (int j = 0; j < 8; j++) a += v[j];
    }
    __syncthreads(); u64 t1 = clock64();
    if (threadIdx.x == 0) out[0] = t1 - t0;
    if (a == 12345.678f) *sink = a;
}
// three dimensions, everything in the L1: warps as 8 x 4
template <class T> __device__ float sum(T v) { return v; }
template <> __device__ float sum(float4 v) { return v.x + v.y + v.z + v.w; }
template <class T, int KIND> __global__ void three(cudaTextureObject_t t, int pattern, u64 *out, float *sink, bool chain)
{
    int l = threadIdx.x & 31, w = threadIdx.x >> 5;
    float x = 1.2f + (pattern ? l & 7 : 0) + w % 4, y = 1.3f + (pattern ? l >> 3 : 0), z = 1.4f + (pattern == 2 ? l >> 3 : 0), a = 0;
    for (int r = 0; r < 2; r++) {
        __syncthreads(); u64 t0 = clock64();
        if (chain) {
#pragma unroll 1
            for (int i = 0; i < 64; i++) x += sum(KIND == 0 ? tex3D<T>(t, x, y, z) : KIND == 1 ? tex2DLayered<T>(t, x, y, 1) : tex1D<T>(t, x));
        } else {
#pragma unroll 1
            for (int i = 0; i < 16; i++) {
                T v[8];
#pragma unroll
                for (int j = 0; j < 8; j++) v[j] = KIND == 0 ? tex3D<T>(t, x + j % 2, y, z) : KIND == 1 ? tex2DLayered<T>(t, x + j % 2, y, 1) : tex1D<T>(t, x + j % 2);
#pragma unroll
                for (int j = 0; j < 8; j++) a += sum(v[j]);
                x += a;
            }
        }
        __syncthreads(); u64 t1 = clock64();
        if (threadIdx.x == 0) *out = t1 - t0;
    }
    if (a + x == 12345.678f) *sink = a;
}
static cudaTextureObject_t make(int kind, cudaChannelFormatDesc d, int W, int H, int D, bool linear, void **lin)
{
    cudaResourceDesc r = {}; cudaTextureDesc td = {}; cudaArray_t arr = 0; cudaTextureObject_t t = 0;
    size_t texel = (d.x + d.y + d.z + d.w) / 8;
    if (kind == 1) { cudaMalloc(lin, W * H * texel); cudaMemset(*lin, 0, W * H * texel); r.resType = cudaResourceTypeLinear; r.res.linear.devPtr = *lin; r.res.linear.desc = d; r.res.linear.sizeInBytes = W * H * texel; }
    else {
        if (D || kind == 3) cudaMalloc3DArray(&arr, &d, make_cudaExtent(W, kind == 3 ? 0 : H, D), kind == 2 ? cudaArrayLayered : 0);
        else cudaMallocArray(&arr, &d, W, H);
        std::vector<char> z((size_t)W * (H ? H : 1) * (D ? D : 1) * texel, 0);
        cudaMemcpy3DParms c = {}; c.srcPtr = make_cudaPitchedPtr(z.data(), W * texel, W, H ? H : 1); c.dstArray = arr; c.extent = make_cudaExtent(W, H ? H : 1, D ? D : 1); c.kind = cudaMemcpyHostToDevice;
        cudaMemcpy3D(&c);
        r.resType = cudaResourceTypeArray; r.res.array.array = arr;
    }
    td.addressMode[0] = td.addressMode[1] = td.addressMode[2] = cudaAddressModeClamp; td.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint; td.readMode = cudaReadModeElementType;
    if (d.x == 8) td.readMode = cudaReadModeNormalizedFloat;
    cudaError_t e = cudaCreateTextureObject(&t, &r, &td, 0);
    if (e != cudaSuccess) printf("#error %s\n", cudaGetErrorString(e));
    return t;
}
static void flush() { static int k = 1; cudaMemset(trash, k++, 256 << 20); cudaDeviceSynchronize(); }
int main()
{
    cudaMalloc(&out, 8 * 16); cudaMalloc(&sink, 4); cudaMalloc(&trash, 256 << 20);
    printf("#kind\twhat\tn\twarps\tcycles\teach\n");
    cudaChannelFormatDesc f = cudaCreateChannelDesc<float>(), f4 = cudaCreateChannelDesc<float4>(), u = cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindUnsigned);
    void *la, *lb; float *p; cudaMalloc(&p, 64 << 20); cudaMemset(p, 0, 64 << 20);
    cudaTextureObject_t a1 = make(1, f, 1 << 20, 4, 0, false, &la), b1 = make(1, f, 4096, 4, 0, false, &lb), a2 = make(0, f, 8192, 1024, 0, false, 0), b2 = make(0, f, 1024, 64, 0, true, 0);
    for (int lin = 0; lin < 2; lin++)
        for (int r = 0; r < 6; r++) {
            if (r >= 3) flush();
            if (lin) first<1><<<1, 32>>>(a1, b1, p, out, sink); else first<0><<<1, 32>>>(a2, b2, p, out, sink);
            cudaDeviceSynchronize();
            u64 t[14]; cudaMemcpy(t, out, sizeof t, cudaMemcpyDeviceToHost);
            for (int i = 0; i < 13; i++) printf("first%s\t%s\t%d\t1\t%llu\t%d\n", lin ? "1d" : "2d", r < 3 ? "warm" : "cold", i, t[i + 1] - t[i], r);
        }
    for (int kind = 0; kind < 3; kind++)
        for (int lines : {1, 2, 4, 8, 16, 32})
            for (int warps : {1, 2, 4, 8, 16, 32}) {
                int rounds = 4;
                u64 best = ~0ull;
                for (int r = 0; r < 3; r++) {
                    if (kind == 0) misses<0><<<1, 32 * warps>>>(a1, p, lines, rounds, out, sink);
                    else if (kind == 1) misses<1><<<1, 32 * warps>>>(a1, p, lines, rounds, out, sink);
                    else misses<2><<<1, 32 * warps>>>(a2, p, lines, rounds, out, sink);
                    cudaDeviceSynchronize();
                    u64 c; cudaMemcpy(&c, out, 8, cudaMemcpyDeviceToHost); if (c < best) best = c;
                }
                printf("miss\t%s\t%d\t%d\t%llu\t%.2f\n", kind == 0 ? "ldg" : kind == 1 ? "tex1dfetch" : "tex2d", lines, warps, best, best / (8.0 * rounds * warps));
            }
    struct { const char *n; int kind; cudaChannelFormatDesc d; int W, H, D; bool linear; } what[] = {
        {"tex3d f32 point", 0, f, 32, 32, 32, false}, {"tex3d f32 linear", 0, f, 32, 32, 32, true}, {"tex3d f32x4 linear", 4, f4, 32, 32, 32, true}, {"tex3d u8 linear", 0, u, 32, 32, 32, true},
        {"layered f32 linear", 1, f, 32, 32, 4, true}, {"layered f32 point", 1, f, 32, 32, 4, false}, {"tex1d f32 linear", 2, f, 1024, 0, 0, true}, {"tex1d f32 point", 2, f, 1024, 0, 0, false}};
    for (auto &w : what) {
        cudaTextureObject_t t = make(w.kind == 1 ? 2 : w.kind == 2 ? 3 : 0, w.d, w.W, w.H, w.D, w.linear, 0);
        for (int pattern = 0; pattern < 3; pattern++)
            for (int warps : {0, 1, 4, 8, 16, 32}) {
                int n = warps ? 32 * warps : 32; bool chain = warps == 0;
                if (w.kind == 4) three<float4, 0><<<1, n>>>(t, pattern, out, sink, chain);
                else if (w.kind == 0) three<float, 0><<<1, n>>>(t, pattern, out, sink, chain);
                else if (w.kind == 1) three<float, 1><<<1, n>>>(t, pattern, out, sink, chain);
                else three<float, 2><<<1, n>>>(t, pattern, out, sink, chain);
                cudaError_t e = cudaDeviceSynchronize();
                if (e != cudaSuccess) { printf("#error %s\n", cudaGetErrorString(e)); return 1; }
                u64 c; cudaMemcpy(&c, out, 8, cudaMemcpyDeviceToHost);
                double each = (double)c / (warps ? 128 : 64);
                printf("three\t%s\t%d\t%d\t%llu\t%.2f\n", w.n, pattern, warps, c, each / (warps ? warps : 1));
            }
    }
    return 0;
}
