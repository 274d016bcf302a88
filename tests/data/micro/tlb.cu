/* tlb.cu - loads from pages that no kernel has accessed, in cycles. Each line of the output is a
 * label, a tab, and the cycles of loads that follow each other, or their least, mean and largest.
 *
 *     nvcc -O3 -arch=sm_90 tlb.cu -o tlb && ./tlb > tlb.tsv */
#include <cstdint>
#include <cstdio>

#define PAGE ((size_t)2 << 20)

__device__ uint32_t timed(const char *p)
{
    uint32_t v;
    const long long begin = clock64();
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    asm volatile("add.u32 %0, %0, 1;" : "+r"(v));
    return (uint32_t)(clock64() + (v == 12345) - begin);
}

__global__ void in_turn(const char *p, size_t step, int n, uint32_t *out)
{
    for (int k = 0; k < n; k++) out[k] = timed(p + k * step);
}

__global__ void all(const char *p, size_t step, uint32_t *out)
{
    out[blockIdx.x] = timed(p + blockIdx.x * step);
}

static uint32_t *out, host[4096];

static void show(const char *what, int n)
{
    cudaMemcpy(host, out, n * 4, cudaMemcpyDeviceToHost);
    printf("%s\t", what);
    for (int k = 0; k < n; k++) printf(" %u", host[k]);
    printf("\n");
}

static void sum_up(const char *what, int n)
{
    uint64_t sum = 0;
    uint32_t least = ~0u, most = 0;
    cudaMemcpy(host, out, n * 4, cudaMemcpyDeviceToHost);
    for (int k = 0; k < n; k++) {
        sum += host[k];
        if (host[k] < least) least = host[k];
        if (host[k] > most) most = host[k];
    }
    printf("%s\tleast %u mean %llu most %u\n", what, least, (unsigned long long)(sum / n), most);
}

static void one_series(void)
{
    char *p, *q, *s, *m, *n;
    cudaMalloc(&p, 256 << 20);
    in_turn<<<1, 1>>>(p, 4096, 16, out), show("lines of one page, first launch", 16);
    in_turn<<<1, 1>>>(p + 64 * 4096, 4096, 16, out), show("lines of it, second launch", 16);
    in_turn<<<1, 1>>>(p + (32 << 20), PAGE, 16, out), show("steps of 2 MiB, first launch", 16);
    in_turn<<<1, 1>>>(p + (32 << 20) + 4096, PAGE, 16, out), show("steps of 2 MiB, second launch", 16);
    cudaMalloc(&q, 2 << 20);
    all<<<132, 1>>>(q, 128, out), sum_up("132 SMs, 2 MiB, first launch", 132);
    all<<<132, 1>>>(q + 65536, 128, out), sum_up("132 SMs, 2 MiB, second launch", 132);
    cudaMalloc(&s, 300 << 20);
    all<<<132, 1>>>(s, PAGE, out), sum_up("132 SMs, 2 MiB each, first launch", 132);
    all<<<132, 1>>>(s + 4096, PAGE, out), sum_up("132 SMs, 2 MiB each, second launch", 132);
    all<<<132, 1>>>(s + 8192 + PAGE, PAGE, out), sum_up("132 SMs, those of the next SM", 132);
    cudaMalloc(&m, 100000);
    cudaMemset(m, 0, 100000);
    all<<<1, 1>>>(m, 0, out), show("100,000 bytes, after a set", 1);
    cudaMalloc(&n, 100000);
    all<<<1, 1>>>(n, 0, out), show("the next 100,000 bytes", 1);
    cudaFree(m), cudaFree(n), cudaFree(s), cudaFree(q), cudaFree(p);
}

int main()
{
    char *warm;
    cudaMalloc(&out, 1 << 20);
    cudaMemset(out, 0, 1 << 20);
    cudaMalloc(&warm, 64 << 20);
    in_turn<<<1, 1>>>(warm, 4096, 8, out); /* brings the code */
    all<<<1, 1>>>(warm, 0, out);
    for (int k = 0; k < 3; k++) one_series();
}
