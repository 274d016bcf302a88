/* transfers.cu - what copies, sets, launches, events, graphs and calls cost, as a program sees it (tests/data/micro/transfers.tsv).
 * Each line: what, size or count, then microseconds: the median, the least, the largest of the repetitions. "events" is the distance of two events
 * around the work, "host" the time of the call on the host, with the wait for its end where the name says so. */
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <cuda_runtime.h>
using std::vector;
static cudaStream_t s[64];
static cudaEvent_t a, b;
static bool light; /* with any argument: without the grids that take an emulator long */
static double now() { return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
static void row(const char *what, size_t n, vector<double> v)
{
    std::sort(v.begin(), v.end());
    printf("%s\t%zu\t%.3f\t%.3f\t%.3f\n", what, n, v[v.size() / 2], v.front(), v.back());
}
template <class F> static void events(const char *what, size_t n, cudaStream_t on, int times, F f)
{
    vector<double> v;
    for (int k = 0; k < times + 2; k++) {
        float ms;
        cudaEventRecord(a, on); f(); cudaEventRecord(b, on); cudaEventSynchronize(b);
        cudaEventElapsedTime(&ms, a, b);
        if (k >= 2) v.push_back(ms * 1e3);
    }
    row(what, n, v);
}
template <class F, class G> static void host(const char *what, size_t n, int times, F f, G after)
{
    vector<double> v;
    for (int k = 0; k < times + 2; k++) {
        const double t = now(); f(); const double u = now(); after();
        if (k >= 2) v.push_back(u - t);
    }
    row(what, n, v);
}
__global__ void empty() {}
__global__ void spin(long long cycles) { const long long t = clock64(); while (clock64() - t < cycles); }
__global__ void touch(int *p, size_t n, int *out) { int sum = 0; for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) sum += p[i]; if (sum == 12345) *out = sum; }
static void nothing(void *) {}
static void sync() { cudaDeviceSynchronize(); }
static const size_t sizes[] = {4, 64, 256, 1024, 4096, 16384, 32768, 65536, 131072, 262144, 1 << 20, 4 << 20, 16 << 20, 64 << 20, 256 << 20};
static void copies()
{
    char *d, *e, *pinned, *page = (char *)malloc(256 << 20);
    cudaMalloc(&d, 256 << 20); cudaMalloc(&e, 256 << 20); cudaMallocHost(&pinned, 256 << 20); memset(page, 1, 256 << 20); memset(pinned, 1, 256 << 20);
    for (size_t n : sizes) {
        const int times = n > 32 << 20 ? 5 : 21;
        events("events h2d pinned", n, s[0], times, [&] { cudaMemcpyAsync(d, pinned, n, cudaMemcpyHostToDevice, s[0]); });
        events("events d2h pinned", n, s[0], times, [&] { cudaMemcpyAsync(pinned, d, n, cudaMemcpyDeviceToHost, s[0]); });
        events("events h2d pageable", n, s[0], times, [&] { cudaMemcpyAsync(d, page, n, cudaMemcpyHostToDevice, s[0]); });
        events("events d2h pageable", n, s[0], times, [&] { cudaMemcpyAsync(page, d, n, cudaMemcpyDeviceToHost, s[0]); });
        events("events d2d", n, s[0], times, [&] { cudaMemcpyAsync(e, d, n, cudaMemcpyDeviceToDevice, s[0]); });
        events("events set", n, s[0], times, [&] { cudaMemsetAsync(e, 1, n, s[0]); });
        host("host h2d pinned wait", n, times, [&] { cudaMemcpy(d, pinned, n, cudaMemcpyHostToDevice); }, sync);
        host("host d2h pinned wait", n, times, [&] { cudaMemcpy(pinned, d, n, cudaMemcpyDeviceToHost); }, sync);
        host("host h2d pageable wait", n, times, [&] { cudaMemcpy(d, page, n, cudaMemcpyHostToDevice); }, sync);
        host("host d2h pageable wait", n, times, [&] { cudaMemcpy(page, d, n, cudaMemcpyDeviceToHost); }, sync);
        host("host h2d pinned async", n, times, [&] { cudaMemcpyAsync(d, pinned, n, cudaMemcpyHostToDevice, s[0]); }, sync);
        host("host h2d pageable async", n, times, [&] { cudaMemcpyAsync(d, page, n, cudaMemcpyHostToDevice, s[0]); }, sync);
        host("host d2d wait", n, times, [&] { cudaMemcpy(e, d, n, cudaMemcpyDeviceToDevice); cudaDeviceSynchronize(); }, sync);
    }
    const size_t n = 64 << 20;
    auto both = [&](int first, int second) {
        cudaStreamWaitEvent(s[1], a, 0);
        if (first) cudaMemcpyAsync(d, pinned, n, cudaMemcpyHostToDevice, s[0]); else cudaMemcpyAsync(pinned, d, n, cudaMemcpyDeviceToHost, s[0]);
        if (second) cudaMemcpyAsync(e, pinned + 128 * 1048576, n, cudaMemcpyHostToDevice, s[1]); else cudaMemcpyAsync(pinned + 128 * 1048576, e, n, cudaMemcpyDeviceToHost, s[1]);
        cudaEvent_t x; cudaEventCreate(&x); cudaEventRecord(x, s[1]); cudaStreamWaitEvent(s[0], x, 0); cudaEventDestroy(x);
    };
    events("events h2d and h2d in two streams", n, s[0], 5, [&] { both(1, 1); });
    events("events h2d and d2h in two streams", n, s[0], 5, [&] { both(1, 0); });
    events("events d2h and d2h in two streams", n, s[0], 5, [&] { both(0, 0); });
    int *out; cudaMalloc(&out, 4);
    for (size_t m = 1 << 20; m <= 64 << 20; m *= 4) events("events kernel reads pinned", m, s[0], 7, [&] { touch<<<264, 256, 0, s[0]>>>((int *)pinned, m / 4, out); });
    for (size_t m = 1 << 20; m <= 64 << 20; m *= 4) {
        vector<double> first, again, back, fetch, homefetch;
        for (int k = 0; k < 5; k++) {
            int *p; float ms;
            auto timed = [&](vector<double> &v, auto f) { cudaEventRecord(a, s[0]); f(); cudaEventRecord(b, s[0]); cudaEventSynchronize(b); cudaEventElapsedTime(&ms, a, b); v.push_back(ms * 1e3); };
            cudaMallocManaged(&p, m); memset(p, 1, m);
            timed(first, [&] { touch<<<264, 256, 0, s[0]>>>(p, m / 4, out); });
            timed(again, [&] { touch<<<264, 256, 0, s[0]>>>(p, m / 4, out); });
            const double t = now(); memset(p, 2, m); back.push_back(now() - t);
            cudaMemLocation gpu = {cudaMemLocationTypeDevice, 0}, cpu = {cudaMemLocationTypeHost, 0};
            timed(fetch, [&] { cudaMemPrefetchAsync(p, m, gpu, 0, s[0]); });
            timed(homefetch, [&] { cudaMemPrefetchAsync(p, m, cpu, 0, s[0]); });
            cudaFree(p);
        }
        row("events kernel reads managed from host", m, first); row("events kernel reads managed again", m, again); row("host writes managed from device", m, back);
        row("events prefetch to device", m, fetch); row("events prefetch to host", m, homefetch);
    }
}
static void launches()
{
    events("events nothing", 0, s[0], 101, [] {});
    for (int n : {1, 2, 3, 4, 8, 16, 64, 256, 1000}) events("events empty kernels", n, s[0], 21, [&] { for (int k = 0; k < n; k++) empty<<<1, 32, 0, s[0]>>>(); });
    for (int n : {1, 2, 4, 16, 64}) events("events 20 us kernels", n, s[0], 21, [&] { for (int k = 0; k < n; k++) spin<<<1, 32, 0, s[0]>>>(39600); });
    for (int n : {1, 16, 256, 1000}) host("host empty kernels", n, 21, [&] { for (int k = 0; k < n; k++) empty<<<1, 32, 0, s[0]>>>(); }, sync);
    host("host empty kernel wait", 1, 101, [] { empty<<<1, 32, 0, s[0]>>>(); cudaStreamSynchronize(s[0]); }, sync);
    host("host record event", 1, 101, [] { cudaEventRecord(a, s[0]); }, sync);
    host("host wait for idle stream", 1, 101, [] { cudaStreamSynchronize(s[0]); }, sync);
    host("host wait for idle device", 1, 101, [] { cudaDeviceSynchronize(); }, sync);
    host("host query event", 1, 101, [] { cudaEventQuery(a); }, sync);
    for (int n : {1, 2, 4, 8}) events("events host functions", n, s[0], 21, [&] { for (int k = 0; k < n; k++) cudaLaunchHostFunc(s[0], nothing, 0); });
    for (int n : {2, 3, 4, 8, 16, 32}) events("events 100 us kernels side by side", n, s[0], 11, [&] {
        cudaEvent_t x; cudaEventCreateWithFlags(&x, cudaEventDisableTiming);
        for (int k = 1; k < n; k++) cudaStreamWaitEvent(s[k], a, 0);
        for (int k = 0; k < n; k++) spin<<<1, 32, 0, s[k]>>>(198000);
        for (int k = 1; k < n; k++) { cudaEventRecord(x, s[k]); cudaStreamWaitEvent(s[0], x, 0); }
        cudaEventDestroy(x); });
    if (light) return;
    for (int n : {66, 132, 198, 264, 1056, 2112, 4224}) events("events two grids of 100 us blocks of 1024 threads side by side", n, s[0], 11, [&] {
        cudaEvent_t x; cudaEventCreateWithFlags(&x, cudaEventDisableTiming);
        cudaStreamWaitEvent(s[1], a, 0);
        for (int k = 0; k < 2; k++) spin<<<n, 1024, 0, s[k]>>>(198000);
        cudaEventRecord(x, s[1]); cudaStreamWaitEvent(s[0], x, 0); cudaEventDestroy(x); });
    for (int n : {66, 132, 198, 264, 1056, 2112, 4224}) events("events a grid of 100 us blocks of 1024 threads", n, s[0], 11, [&] { spin<<<n, 1024, 0, s[0]>>>(198000); });
    for (int n : {1, 10, 100, 1000, 10000, 100000}) events("events an empty grid of blocks", n, s[0], 11, [&] { empty<<<n, 32, 0, s[0]>>>(); });
}
static void graphs()
{
    for (int wide = 0; wide < 2; wide++)
        for (int n : {1, 2, 4, 8, 16, 32, 64}) {
            cudaGraph_t g; cudaGraphExec_t x; vector<cudaGraphNode_t> node(n);
            cudaGraphCreate(&g, 0);
            for (int k = 0; k < n; k++) {
                cudaKernelNodeParams p = {}; p.func = (void *)empty; p.gridDim = dim3(1); p.blockDim = dim3(32); void *none[1]; p.kernelParams = none;
                cudaGraphAddKernelNode(&node[k], g, k && !wide ? &node[k - 1] : 0, k && !wide, &p);
            }
            cudaGraphInstantiate(&x, g, 0);
            events(wide ? "events graph of empty kernels side by side" : "events graph of empty kernels in a row", n, s[0], 21, [&] { cudaGraphLaunch(x, s[0]); });
            host(wide ? "host graph of empty kernels side by side" : "host graph of empty kernels in a row", n, 21, [&] { cudaGraphLaunch(x, s[0]); }, sync);
            host(wide ? "host graph side by side wait" : "host graph in a row wait", n, 21, [&] { cudaGraphLaunch(x, s[0]); cudaStreamSynchronize(s[0]); }, sync);
        }
}
static void calls()
{
    void *p = 0; cudaStream_t t; cudaEvent_t e;
    for (size_t n : {(size_t)256, (size_t)1 << 20, (size_t)64 << 20, (size_t)1 << 30}) {
        host("host cudaMalloc", n, 11, [&] { cudaMalloc(&p, n); }, [&] { cudaFree(p); });
        host("host cudaFree", n, 11, [&] { cudaFree(p); }, [&] { cudaMalloc(&p, n); });
        cudaFree(p);
    }
    for (size_t n : {(size_t)4096, (size_t)1 << 20, (size_t)64 << 20}) host("host cudaMallocHost", n, 11, [&] { cudaMallocHost(&p, n); }, [&] { cudaFreeHost(p); });
    for (size_t n : {(size_t)4096, (size_t)1 << 20, (size_t)64 << 20}) host("host cudaMallocManaged", n, 11, [&] { cudaMallocManaged(&p, n); }, [&] { cudaFree(p); });
    host("host cudaMallocAsync", 1 << 20, 21, [&] { cudaMallocAsync(&p, 1 << 20, s[0]); }, [&] { cudaFreeAsync(p, s[0]); });
    host("host cudaStreamCreate", 1, 21, [&] { cudaStreamCreate(&t); }, [&] { cudaStreamDestroy(t); });
    host("host cudaEventCreate", 1, 21, [&] { cudaEventCreate(&e); }, [&] { cudaEventDestroy(e); });
    host("host cudaGetDevice", 1, 101, [&] { int d; cudaGetDevice(&d); }, [] {});
}
int main(int argc, char **)
{
    light = argc > 1;
    cudaDeviceProp p; cudaGetDeviceProperties(&p, 0);
    printf("# %s: what, size or count, median, least and largest time in us\n", p.name);
    for (auto &x : s) cudaStreamCreateWithFlags(&x, cudaStreamNonBlocking);
    cudaEventCreate(&a); cudaEventCreate(&b);
    if (!light) spin<<<132, 32>>>(1000000000);
    cudaDeviceSynchronize();
    launches(); graphs(); calls(); copies();
    printf("# %s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
