/* peer.cu - two devices of one host: copies between them, kernels that reach the other's memory, and the errors of calls (tests/data/micro/peer.tsv).
 * Each line: what, size or count, then microseconds: the median, the least, the largest of the repetitions; of "error" lines the number of the error. */
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>
using std::vector;
static cudaStream_t s[2];
static cudaEvent_t a, b;
static double now() { return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
static void row(const char *what, size_t n, vector<double> v)
{
    std::sort(v.begin(), v.end());
    printf("%s\t%zu\t%.3f\t%.3f\t%.3f\n", what, n, v[v.size() / 2], v.front(), v.back());
}
template <class F> static void events(const char *what, size_t n, int times, F f)
{
    vector<double> v;
    for (int k = 0; k < times + 2; k++) {
        float ms;
        cudaEventRecord(a, s[0]); f(); cudaEventRecord(b, s[0]); cudaEventSynchronize(b);
        cudaEventElapsedTime(&ms, a, b);
        if (k >= 2) v.push_back(ms * 1e3);
    }
    row(what, n, v);
}
template <class F> static void host(const char *what, size_t n, int times, F f)
{
    vector<double> v;
    for (int k = 0; k < times + 2; k++) {
        const double t = now(); f(); const double u = now();
        cudaSetDevice(1); cudaDeviceSynchronize(); cudaSetDevice(0); cudaDeviceSynchronize();
        if (k >= 2) v.push_back(u - t);
    }
    row(what, n, v);
}
static void error(const char *what, int e) { printf("error %s\t%d\n", what, e); cudaGetLastError(); }
__global__ void nop() {}
__global__ void chase(void **p, int n, long long *out) { void **q = p; for (int k = 0; k < 64; k++) q = (void **)*q; long long t = clock64(); for (int k = 0; k < n; k++) q = (void **)*q; *out = clock64() - t + (q == 0); }
__global__ void fill(void **p, int n, int step) { for (int k = 0; k < n; k++) p[(size_t)k * step] = p + (size_t)((k + 1) % n) * step; }
__global__ void load(const float4 *p, size_t n, float *out) { float x = 0; for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) x += p[i].x; if (x == 12345) *out = x; }
__global__ void store(float4 *p, size_t n) { for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) p[i] = make_float4(1, 2, 3, 4); }
static const size_t sizes[] = {4, 256, 4096, 65536, 262144, 1 << 20, 4 << 20, 16 << 20, 64 << 20, 256 << 20};
static char *p[2], *q[2];
static void copies(const char *how)
{
    char name[99];
    for (size_t n : sizes) {
        const int times = n > 32 << 20 ? 7 : 21;
        snprintf(name, sizeof name, "events peer copy %s", how);
        events(name, n, times, [&] { cudaMemcpyPeerAsync(p[1], 1, p[0], 0, n, s[0]); });
        snprintf(name, sizeof name, "host peer copy wait %s", how);
        host(name, n, times, [&] { cudaMemcpyPeer(p[1], 1, p[0], 0, n); cudaDeviceSynchronize(); });
    }
    for (size_t n : {(size_t)64 << 20, (size_t)256 << 20}) {
        cudaEvent_t x; cudaSetDevice(1); cudaEventCreate(&x); cudaSetDevice(0);
        snprintf(name, sizeof name, "events peer copies both ways %s", how);
        events(name, n, 7, [&] {
            cudaStreamWaitEvent(s[1], a, 0);
            cudaMemcpyPeerAsync(p[1], 1, p[0], 0, n, s[0]); cudaMemcpyPeerAsync(q[0], 0, q[1], 1, n, s[1]);
            cudaEventRecord(x, s[1]); cudaStreamWaitEvent(s[0], x, 0); });
    }
}
static void kernels(const char *where, char *m)
{
    char name[99];
    float *out; long long *t, h; cudaMalloc(&out, 4); cudaMalloc(&t, 8);
    fill<<<1, 1, 0, s[0]>>>((void **)m, 256, 32);
    for (int k = 0; k < 3; k++) { chase<<<1, 1, 0, s[0]>>>((void **)m, 1000, t); cudaMemcpyAsync(&h, t, 8, cudaMemcpyDefault, s[0]); cudaStreamSynchronize(s[0]); }
    printf("cycles of a dependent load from %s memory\t64 KiB\t%.1f\n", where, h / 1000.0);
    fill<<<1, 1, 0, s[0]>>>((void **)m, 65536, 512);
    for (int k = 0; k < 3; k++) { chase<<<1, 1, 0, s[0]>>>((void **)m, 5000, t); cudaMemcpyAsync(&h, t, 8, cudaMemcpyDefault, s[0]); cudaStreamSynchronize(s[0]); }
    printf("cycles of a dependent load from %s memory\t256 MiB\t%.1f\n", where, h / 5000.0);
    for (size_t n : {(size_t)1 << 20, (size_t)16 << 20, (size_t)256 << 20}) {
        snprintf(name, sizeof name, "events kernel reads %s", where); events(name, n, 11, [&] { load<<<528, 512, 0, s[0]>>>((float4 *)m, n / 16, out); });
        snprintf(name, sizeof name, "events kernel writes %s", where); events(name, n, 11, [&] { store<<<528, 512, 0, s[0]>>>((float4 *)m, n / 16); });
    }
}
static void attributes()
{
    for (int k = 1; k <= 4; k++) { int v = -1; int e = cudaDeviceGetP2PAttribute(&v, (cudaDeviceP2PAttr)k, 0, 1); printf("error cudaDeviceGetP2PAttribute %d is %d\t%d\n", k, v, e); }
    int can = -1; int e = cudaDeviceCanAccessPeer(&can, 0, 1); printf("error cudaDeviceCanAccessPeer(0, 1) is %d\t%d\n", can, e);
    e = cudaDeviceCanAccessPeer(&can, 0, 0); printf("error cudaDeviceCanAccessPeer(0, 0) is %d\t%d\n", can, e);
    error("cudaDeviceCanAccessPeer(0, 2)", cudaDeviceCanAccessPeer(&can, 0, 2));
    error("cudaDeviceEnablePeerAccess of itself", cudaDeviceEnablePeerAccess(0, 0));
    error("cudaDeviceEnablePeerAccess with flags", cudaDeviceEnablePeerAccess(1, 1));
    error("cudaDeviceDisablePeerAccess before", cudaDeviceDisablePeerAccess(1));
    error("cudaSetDevice(2)", cudaSetDevice(2));
    cudaEvent_t x, y; cudaSetDevice(1); cudaEventCreate(&x); cudaEventCreate(&y); cudaEventRecord(x, s[1]); cudaEventRecord(y, s[1]); cudaDeviceSynchronize();
    nop<<<1, 1, 0, s[0]>>>(); error("launch into a stream of another device", cudaGetLastError());
    error("copy in a stream of another device", cudaMemcpyAsync(q[0], p[1], 4, cudaMemcpyDefault, s[0]));
    error("set in a stream of another device", cudaMemsetAsync(p[0], 0, 4, s[0]));
    error("event into a stream of another device", cudaEventRecord(x, s[0]));
    cudaSetDevice(0); cudaEventRecord(a, s[0]); cudaDeviceSynchronize();
    float ms; error("time between events of two devices", cudaEventElapsedTime(&ms, a, y));
    error("wait for an event of another device", cudaStreamWaitEvent(s[0], y, 0));
    error("query of a stream of another device", cudaStreamQuery(s[1]));
    error("free of memory of another device", cudaFree(nullptr));
    cudaPointerAttributes at; cudaPointerGetAttributes(&at, p[1]); printf("error cudaPointerGetAttributes device is %d\t0\n", at.device);
}
int main()
{
    cudaDeviceProp d; cudaGetDeviceProperties(&d, 0);
    printf("# 2 x %s: what, size or count, median, least and largest time in us\n", d.name);
    for (int k = 0; k < 2; k++) { cudaSetDevice(k); cudaMalloc(&p[k], 256 << 20); cudaMalloc(&q[k], 256 << 20); cudaStreamCreateWithFlags(&s[k], cudaStreamNonBlocking); }
    cudaSetDevice(0); cudaEventCreate(&a); cudaEventCreate(&b);
    attributes();
    copies("disabled"); kernels("own", p[0]);
    for (int k = 0; k < 2; k++) { cudaSetDevice(k); const double t = now(); int e = cudaDeviceEnablePeerAccess(1 - k, 0); printf("host cudaDeviceEnablePeerAccess\t%d\t%.1f\n", e, now() - t); }
    error("cudaDeviceEnablePeerAccess twice", cudaDeviceEnablePeerAccess(0, 0));
    cudaSetDevice(0);
    copies("enabled"); kernels("peer", p[1]);
    error("cudaDeviceDisablePeerAccess", cudaDeviceDisablePeerAccess(1));
    store<<<1, 1, 0, s[0]>>>((float4 *)p[1], 1); error("kernel writes peer memory without access", cudaStreamSynchronize(s[0]));
    error("what follows", cudaDeviceSynchronize());
    cudaSetDevice(1); error("what follows on the other device", cudaDeviceSynchronize());
    error("cudaMalloc on the other device", cudaMalloc(&p[0], 4));
}
