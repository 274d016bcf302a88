/* managed_order.cu - kernels that access managed memory in different orders. A row: state of the
 * pages (new; written by the host; read by the host after a kernel wrote them), pattern, access,
 * blocks, threads, stride in bytes, accesses of a thread, bytes, median, least and largest time of
 * the kernel in us. Argument: repetitions of a row. */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

enum { MAX_TIMES = 7 };
static int times = MAX_TIMES;

/* Thread t accesses n words, `stride` bytes apart, each after the one before has arrived. */
__global__ void chase(unsigned *p, size_t stride, int n, unsigned *out, int write)
{
    const size_t t = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    unsigned at = 0;
    for (int i = 0; i < n; i++) {
        unsigned *q = p + ((t * n + i) * stride) / 4 + at;
        if (write) {
            *(volatile unsigned *)q = 1;
            __threadfence();
        } else {
            at = *(volatile unsigned *)q & 0x40000000;
        }
    }
    if (at == 0x12345678) *out = at;
}

/* The grid strides over all words. */
__global__ void sweep(unsigned *p, size_t n, unsigned *out, int write)
{
    unsigned sum = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x)
        if (write)
            p[i] = 1;
        else
            sum += p[i];
    if (sum == 0x12345678) *out = sum;
}

/* Each warp accesses `bytes` in a row, then those as many warps further. */
__global__ void chunks(unsigned *p, size_t n, size_t bytes, unsigned *out, int write)
{
    unsigned sum = 0;
    const size_t lane = threadIdx.x % 32, warps = gridDim.x * (size_t)blockDim.x / 32,
                 first = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) / 32;
    for (size_t w = first; w * bytes / 4 < n; w += warps)
        for (size_t i = lane; i < bytes / 4; i += 32)
            if (write)
                p[w * bytes / 4 + i] = 1;
            else
                sum += p[w * bytes / 4 + i];
    if (sum == 0x12345678) *out = sum;
}

static const char *const state[] = {"new", "written", "read"};
static unsigned *out;
static cudaEvent_t from, to;

/* Brings the pages into the state. */
static void prepare(unsigned *p, size_t bytes, int st)
{
    if (st == 0) return;
    memset(p, 0, bytes);
    if (st == 1) return;
    volatile unsigned sum = 0;
    sweep<<<264, 256>>>(p, bytes / 4, out, 1);
    cudaDeviceSynchronize();
    for (size_t i = 0; i < bytes / 4; i += 16) sum += p[i] & 0x40000000;
    sweep<<<1, 1>>>(out, 1, out, 1);
    cudaDeviceSynchronize();
}

template <class Launch>
static void row(const char *name, int blocks, int threads, size_t stride, int n, size_t bytes,
                int st, int write, Launch launch)
{
    float t[MAX_TIMES];
    for (int k = 0; k < times; k++) {
        unsigned *p;
        cudaMallocManaged(&p, bytes);
        prepare(p, bytes, st);
        cudaEventRecord(from);
        launch(p);
        cudaEventRecord(to);
        cudaDeviceSynchronize();
        cudaEventElapsedTime(&t[k], from, to);
        t[k] *= 1000;
        cudaFree(p);
    }
    std::sort(t, t + times);
    printf("%s\t%s\t%s\t%d\t%d\t%zu\t%d\t%zu\t%.1f\t%.1f\t%.1f\n", state[st], name,
           write ? "write" : "read", blocks, threads, stride, n, bytes, t[times / 2], t[0],
           t[times - 1]);
    fflush(stdout);
}

static void chase_row(int blocks, int threads, size_t stride, int n, int st, int write)
{
    size_t bytes = (size_t)blocks * threads * n * stride;
    if (bytes < 4096) bytes = 4096;
    row("chase", blocks, threads, stride, n, bytes, st, write,
        [=](unsigned *p) { chase<<<blocks, threads>>>(p, stride, n, out, write); });
}

static void chase_rows(int st, int write)
{
    for (size_t s : {4096, 65536, 262144, 2097152, 4194304})
        for (int n = 1; n <= 32; n *= 2) chase_row(1, 1, s, n, st, write);
    for (size_t s : {65536, 2097152})
        for (int k = 2; k <= 32; k *= 2) {
            chase_row(1, k, s, 1, st, write);
            chase_row(k, 1, s, 1, st, write);
        }
    chase_row(1, 128, 65536, 1, st, write);
    chase_row(128, 1, 65536, 1, st, write);
    chase_row(1, 512, 4096, 1, st, write);
    chase_row(64, 1, 2097152, 1, st, write);
    chase_row(8, 1, 65536, 4, st, write);
    chase_row(8, 1, 2097152, 4, st, write);
}

static void size_rows(size_t bytes, int st, int write)
{
    for (int blocks : {1, 8, 32, 132, 264, 1056, 4096})
        row("sweep", blocks, 256, 0, 0, bytes, st, write,
            [=](unsigned *p) { sweep<<<blocks, 256>>>(p, bytes / 4, out, write); });
    for (int blocks : {1, 8, 32, 132})
        for (size_t c : {4096, 65536})
            row("chunks", blocks, 256, c, 0, bytes, st, write,
                [=](unsigned *p) { chunks<<<blocks, 256>>>(p, bytes / 4, c, out, write); });
}

int main(int argc, char **argv)
{
    if (argc > 1) times = std::min(atoi(argv[1]), (int)MAX_TIMES);
    cudaMalloc(&out, 64);
    cudaEventCreate(&from), cudaEventCreate(&to);
    sweep<<<1, 1>>>(out, 1, out, 1);
    cudaDeviceSynchronize();
    for (int st = 0; st < 3; st++)
        for (int write = 0; write < 2; write++) {
            if (st == 2 && write) continue;
            chase_rows(st, write);
            for (size_t bytes = 1 << 20; bytes <= 16 << 20; bytes *= 4) size_rows(bytes, st, write);
        }
    const cudaError_t error = cudaDeviceSynchronize();
    if (error) fprintf(stderr, "%s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}
