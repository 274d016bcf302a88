// tex.cu - fetches from textures: latency of one warp's chain, and cycles a fetch of an SM with 1 to 32 warps, by how lanes lie in the picture,
// format and filter. One line a measurement: kind, format, filter, pattern, warps, cycles a fetch of one warp, cycles a fetch of the SM.
// Recorded in tex.tsv with
//
//     nvcc -O3 -arch=sm_90a -o tex tex.cu && ./tex > tex.tsv
//
// (H200, driver 580.159.04, CUDA 13.0, 2026-11).
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>
typedef unsigned long long u64;
__device__ float sum(float v) { return v; }
__device__ float sum(float2 v) { return v.x + v.y; }
__device__ float sum(float4 v) { return v.x + v.y + v.z + v.w; }
// where lane l of warp w looks: pattern 0 one place, 1 a row, 2 a block of 8 x 4, 3 every eighth of a row, 4 a column, 5 anywhere
__device__ void place(int pattern, float &x, float &y)
{
    int l = threadIdx.x & 31, w = threadIdx.x >> 5;
    x = y = 0.5f + w % 4;
    if (pattern == 1) x += l;
    if (pattern == 2) { x += l & 7; y += l >> 3; }
    if (pattern == 3) x += 8 * l;
    if (pattern == 4) y += l;
    if (pattern == 5) { unsigned h = (threadIdx.x + 77) * 2654435761u; x += h >> 24; y += h >> 16 & 255; }
}
template <class T, int KIND> __device__ float fetch(cudaTextureObject_t t, cudaSurfaceObject_t s, float x, float y)
{
    if (KIND == 0) return sum(tex2D<T>(t, x, y));
    if (KIND == 1) return sum(tex1Dfetch<T>(t, (int)x + 16 * (int)y));
    if (KIND == 2) return sum(tex2Dgather<float4>(t, x, y, 0));
    if (KIND == 3) return sum(surf2Dread<T>(s, (int)x * (int)sizeof(T), (int)y));
    return sum(tex2DLod<T>(t, x, y, 0));
}
template <class T, int KIND> __global__ void k(cudaTextureObject_t t, cudaSurfaceObject_t s, int pattern, u64 *out, float *sink, bool chain)
{
    float x, y, a = 0;
    place(pattern, x, y);
    for (int r = 0; r < 2; r++) {
        __syncthreads(); u64 t0 = clock64();
        if (chain) {
#pragma unroll 1
            for (int i = 0; i < 64; i++) x += fetch<T, KIND>(t, s, x, y);
        } else {
#pragma unroll 1
            for (int i = 0; i < 16; i++) {
                float v[8];
#pragma unroll
                for (int j = 0; j < 8; j++) v[j] = fetch<T, KIND>(t, s, x + j, y);
#pragma unroll
                for (int j = 0; j < 8; j++) a += v[j];
                x += a;
            }
        }
        __syncthreads(); u64 t1 = clock64();
        if (threadIdx.x == 0) *out = t1 - t0;
    }
    if (a + x == 12345.678f) *sink = a;
}
static u64 *out; static float *sink;
template <class T, int KIND> static void go(const char *kind, const char *format, bool linear)
{
    const int W = 1024, H = 1024;
    cudaChannelFormatDesc d = cudaCreateChannelDesc<T>();
    if (format[0] == 'u') d = cudaCreateChannelDesc(8, sizeof(T) > 4 ? 8 : 0, sizeof(T) > 8 ? 8 : 0, sizeof(T) > 8 ? 8 : 0, cudaChannelFormatKindUnsigned);
    if (format[0] == 'h') d = cudaCreateChannelDesc(16, sizeof(T) > 4 ? 16 : 0, sizeof(T) > 8 ? 16 : 0, sizeof(T) > 8 ? 16 : 0, cudaChannelFormatKindFloat);
    cudaResourceDesc r = {}; cudaTextureDesc td = {}; cudaArray_t arr = 0; void *lin = 0;
    if (KIND == 1) { cudaMalloc(&lin, W * H * 16); cudaMemset(lin, 0, W * H * 16); r.resType = cudaResourceTypeLinear; r.res.linear.devPtr = lin; r.res.linear.desc = d; r.res.linear.sizeInBytes = (size_t)W * H * (d.x + d.y + d.z + d.w) / 8; }
    else {
        cudaMallocArray(&arr, &d, W, H, (KIND == 2 ? cudaArrayTextureGather : 0) | (KIND == 3 ? cudaArraySurfaceLoadStore : 0));
        std::vector<char> z((size_t)W * H * (d.x + d.y + d.z + d.w) / 8, 0);
        size_t row = (size_t)W * (d.x + d.y + d.z + d.w) / 8;
        cudaMemcpy2DToArray(arr, 0, 0, z.data(), row, row, H, cudaMemcpyHostToDevice);
        r.resType = cudaResourceTypeArray; r.res.array.array = arr;
    }
    td.addressMode[0] = td.addressMode[1] = cudaAddressModeClamp; td.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
    td.readMode = format[0] == 'u' ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
    cudaTextureObject_t t = 0; cudaSurfaceObject_t s = 0;
    if (KIND != 3) cudaCreateTextureObject(&t, &r, &td, 0); else cudaCreateSurfaceObject(&s, &r);
    for (int pattern = 0; pattern < 6; pattern++) {
        for (int warps : {0, 1, 4, 8, 16, 32}) {
            k<T, KIND><<<1, warps ? 32 * warps : 32>>>(t, s, pattern, out, sink, warps == 0);
            if (cudaDeviceSynchronize() != cudaSuccess) { printf("error %s\n", cudaGetErrorString(cudaGetLastError())); return; }
            u64 c; cudaMemcpy(&c, out, 8, cudaMemcpyDeviceToHost);
            double each = (double)c / (warps ? 128 : 64);
            printf("%s\t%s\t%s\t%d\t%d\t%.2f\t%.2f\n", kind, format, linear ? "linear" : "point", pattern, warps, each, each / (warps ? warps : 1));
        }
    }
}
int main()
{
    cudaMalloc(&out, 8); cudaMalloc(&sink, 4);
    printf("#kind\tformat\tfilter\tpattern\twarps\tcycles\tcycles_sm\n");
    go<float, 0>("tex2d", "f32", false); go<float, 0>("tex2d", "f32", true); go<float4, 0>("tex2d", "f32x4", false); go<float4, 0>("tex2d", "f32x4", true);
    go<float2, 0>("tex2d", "f32x2", true); go<float, 0>("tex2d", "u8", true); go<float4, 0>("tex2d", "u8x4", true); go<float4, 0>("tex2d", "h16x4", true); go<float4, 0>("tex2d", "u8x4", false);
    go<float, 1>("tex1dfetch", "f32", false); go<float4, 1>("tex1dfetch", "f32x4", false); go<float, 2>("gather", "f32", false); go<float, 3>("surf2d", "f32", false); go<float4, 3>("surf2d", "f32x4", false);
    go<float, 4>("tex2dlod", "f32", true);
    return 0;
}
