/* mapped.cu - what kernels take that access mapped pinned memory, and the same with memory of the device (tests/data/micro/mapped.tsv).
 * Each line: what, bytes or count, then microseconds (cycles where the name says so): the median, the least, the largest of the
 * repetitions. With arguments: the largest size, and the number of repetitions. */
#include "rows.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

__global__ void read4(const unsigned *p, size_t n, unsigned *sink) {
    unsigned sum = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) sum += p[i];
    if (sum == 0x12345) *sink = sum;
}
__global__ void write4(unsigned *p, size_t n) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) p[i] = (unsigned)i;
}
__global__ void chase(const unsigned *p, int n, long long *out) {
    unsigned k = 0;
    for (int i = 0; i < 4; i++) k = __ldcv(p + k);
    long long t = clock64();
    for (int i = 0; i < n; i++) k = __ldcv(p + k);
    t = clock64() - t;
    out[0] = t; out[1] = k;
}

static void mapped(size_t most, int times) {
    static const size_t sizes[] = {1024, 4096, 16384, 65536, 262144, 1 << 20, 4 << 20, 16 << 20, 64 << 20};
    char *p, *d; long long *t;
    OK(cudaHostAlloc(&p, 256 << 20, cudaHostAllocMapped)); OK(cudaMalloc(&d, 256 << 20)); OK(cudaMallocManaged(&t, 16));
    memset(p, 1, 256 << 20);
    struct { const char *name; char *at; } where[] = {{"mapped", p}, {"device", d}};
    for (auto &w : where) for (size_t n : sizes) {
        if (n > most) continue;
        char name[80];
        std::vector<double> v[8];
        int one = (int)((n / 16 + BLOCK - 1) / BLOCK), grid = one < GRID ? one : GRID;
        for (int k = 0; k < times; k++) {
            v[0].push_back(events([&] { read16<<<grid, BLOCK>>>((const uint4 *)w.at, n / 16, sink); }));
            v[1].push_back(events([&] { read4<<<grid, BLOCK>>>((const unsigned *)w.at, n / 4, sink); }));
            v[2].push_back(events([&] { write16<<<grid, BLOCK>>>((uint4 *)w.at, n / 16); }));
            v[3].push_back(events([&] { write4<<<grid, BLOCK>>>((unsigned *)w.at, n / 4); }));
            v[4].push_back(events([&] { strided<<<grid, BLOCK>>>(w.at, n, 128, sink); }));
            v[5].push_back(events([&] { strided<<<grid, BLOCK>>>(w.at, n, 32, sink); }));
            v[6].push_back(events([&] { read16<<<1, BLOCK>>>((const uint4 *)w.at, n / 16, sink); }));
            v[7].push_back(events([&] { read16<<<1, 32>>>((const uint4 *)w.at, n / 16, sink); }));
        }
        static const char *const what[] = {"reads 16 bytes a thread", "reads 4 bytes a thread", "writes 16 bytes a thread", "writes 4 bytes a thread", "reads 4 of 128 bytes", "reads 4 of 32 bytes", "one block of 256 reads", "one warp reads"};
        for (int k = 0; k < 8; k++) { snprintf(name, sizeof name, "%s kernel %s", w.name, what[k]); row(name, n, v[k]); }
    }
    // Pointers, each 4 KiB further: cycles of one access.
    unsigned *chain = (unsigned *)p;
    for (int k = 0; k < 1024; k++) chain[k * 1024] = (k + 1) % 1024 * 1024;
    OK(cudaMemcpy(d, p, 4 << 20, cudaMemcpyHostToDevice));
    for (auto &w : where) {
        std::vector<double> v; char name[80];
        for (int k = 0; k < times; k++) { chase<<<1, 1>>>((const unsigned *)w.at, 256, t); OK(cudaDeviceSynchronize()); v.push_back(t[0] / 256.0); }
        snprintf(name, sizeof name, "%s chase, cycles an access", w.name); row(name, 256, v);
    }
    // Twice from the same 64 KiB: is it kept anywhere?
    std::vector<double> v;
    for (int k = 0; k < times; k++) { chase<<<1, 1>>>((const unsigned *)p, 4096, t); OK(cudaDeviceSynchronize()); v.push_back(t[0] / 4096.0); }
    row("mapped chase again and again, cycles an access", 4096, v);
}

int main(int argc, char **argv) {
    const size_t most = argc > 1 ? strtoull(argv[1], nullptr, 10) : 64 << 20;
    const int times = argc > 2 ? atoi(argv[2]) : 9;
    cudaDeviceProp p; OK(cudaGetDeviceProperties(&p, 0)); OK(cudaMalloc(&sink, 4)); OK(cudaEventCreate(&a)); OK(cudaEventCreate(&b));
    printf("# %s: what, bytes or count, median, least and largest time in us\n", p.name);
    nop<<<1, 1>>>(); OK(cudaDeviceSynchronize());
    std::vector<double> v;
    for (int k = 0; k < times; k++) v.push_back(events([&] { nop<<<1, 1>>>(); }));
    row("empty kernel", 1, v);
    mapped(most, times);
    return 0;
}
