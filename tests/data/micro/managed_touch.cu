/* managed_touch.cu - kernels on managed memory that the host touches between them: what it touches,
 * bytes, median, least and largest time of the kernel in us. */
#include <algorithm>
#include <cstdio>
#include <cstring>

enum { TIMES = 9, WAYS = 10 };

__global__ void sweep(unsigned *p, size_t n, unsigned *out, int write)
{
    unsigned sum = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x)
        if (write)
            p[i] += 1;
        else
            sum += p[i];
    if (sum == 0x12345678) *out = sum;
}

static float us_of(unsigned *p, size_t n, unsigned *out, int write)
{
    static cudaEvent_t from, to;
    float ms;
    if (!from) cudaEventCreate(&from), cudaEventCreate(&to);
    cudaEventRecord(from);
    sweep<<<264, 256>>>(p, n, out, write);
    cudaEventRecord(to);
    cudaDeviceSynchronize();
    cudaEventElapsedTime(&ms, from, to);
    return ms * 1000;
}

static volatile unsigned sink;

/* Every `step`th word of n. */
static void touch(unsigned *p, size_t n, size_t step, bool write, int i)
{
    for (size_t j = 0; j < n; j += step)
        if (write)
            p[j] = 7 * i + j;
        else
            sink += p[j];
}

static const char *const what[WAYS] = {"nothing",
                                       "host writes all",
                                       "host writes the first word",
                                       "host writes a word in the middle",
                                       "host writes a word of each 64 KiB",
                                       "host writes a word of each 2 MiB",
                                       "host reads all",
                                       "host reads the first word",
                                       "host reads a word of each 64 KiB",
                                       "host writes the first half"};

static void host(int way, unsigned *p, size_t n, int i)
{
    switch (way) {
    case 1: touch(p, n, 1, true, i); break;
    case 2: touch(p, 1, 1, true, i); break;
    case 3: touch(p + n / 2, 1, 1, true, i); break;
    case 4: touch(p, n, 16384, true, i); break;
    case 5: touch(p, n, 524288, true, i); break;
    case 6: touch(p, n, 1, false, i); break;
    case 7: touch(p, 1, 1, false, i); break;
    case 8: touch(p, n, 16384, false, i); break;
    case 9: touch(p, n / 2, 1, true, i); break;
    }
}

static void row(int way, size_t bytes, int write, unsigned *out)
{
    unsigned *p;
    float t[TIMES];
    const size_t n = bytes / 4;
    cudaMallocManaged(&p, bytes);
    memset(p, 1, bytes);
    for (int i = 0; i < 2; i++) us_of(p, n, out, write);
    for (int i = 0; i < TIMES; i++) {
        host(way, p, n, i);
        t[i] = us_of(p, n, out, write);
    }
    std::sort(t, t + TIMES);
    printf("%s, kernel %s\t%zu\t%.3f\t%.3f\t%.3f\n", what[way], write ? "writes" : "reads", bytes,
           t[TIMES / 2], t[0], t[TIMES - 1]);
    cudaFree(p);
}

int main()
{
    unsigned *out;
    cudaMalloc(&out, 4);
    for (size_t bytes : {4096ul, 65536ul, 262144ul, 1048576ul, 2097152ul, 4194304ul, 16777216ul,
                         67108864ul})
        for (int write = 0; write < 2; write++)
            for (int way = 0; way < WAYS; way++) row(way, bytes, write, out);
}
