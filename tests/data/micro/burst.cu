// burst.cu - what a load from memory costs when many leave at once, and when the memory refreshes itself. Recorded as
//
//     nvcc -O3 -std=c++17 -arch=sm_90a -o burst burst.cu
//     ./burst loads   > burst.tsv      quantiles of the latency by kernel, grid and block
//     ./burst refresh > refresh.tsv    arrival and latency of each load of 32 warps that walk regions of their own
//     ./burst chunks  > chunk.tsv      bandwidth of memory read in pieces of 32 bytes to 8 KiB at random places
//
// (H200, driver 580.159.04, CUDA 13.0, 2026-11.) Before each launch 192 MiB of other memory are read, so that the L2 holds neither
// the data nor anything that has to be written back; where it does, loads of 8 MB take 1.6 times as long.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include "common.h"

/* K loads of V words by each thread, issued together; the clock before the first and behind the last of each warp */
template <int K, int V> __device__ __forceinline__ void body(const u32 *p, u64 *out, u32 *arrived, u32 shift)
{
    u32 gid = blockIdx.x * blockDim.x + threadIdx.x, total = gridDim.x * blockDim.x, acc = 0;
    if (shift) { /* the block `shift` further on (or this one, where it is the grid) brings the data to the L2; then all begin together */
        u32 other = (gid + shift * blockDim.x) % total;
        #pragma unroll 1
        for (int k = 0; k < K; k++) {
            u32 x[V];
            const u32 *a = p + ((size_t)k * total + other) * V;
            for (int v = 0; v < V; v++) asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(x[v]) : "l"(a + v));
            for (int v = 0; v < V; v++) acc += x[v];
        }
        if (acc == 77) out[1] = acc;
        acc = 0;
        __syncthreads();
        if (threadIdx.x == 0) {
            atomicAdd(arrived, 1);
            while (*(volatile u32 *)arrived < gridDim.x) {}
        }
        __syncthreads();
    }
    u32 r[K * V];
    const u32 *a[K];
    #pragma unroll
    for (int k = 0; k < K; k++) a[k] = p + ((size_t)k * total + gid) * V;
    u64 t0 = (u64)clk();
    #pragma unroll
    for (int k = 0; k < K; k++) {
        if (V == 1) asm volatile("ld.global.u32 %0, [%1];" : "=r"(r[k]) : "l"(a[k]));
        else
            asm volatile("ld.global.v4.u32 {%0,%1,%2,%3}, [%4];"
                         : "=r"(r[4 * k]), "=r"(r[4 * k + 1]), "=r"(r[4 * k + 2]), "=r"(r[4 * k + 3]) : "l"(a[k]));
    }
    #pragma unroll
    for (int k = 0; k < K * V; k++) asm volatile("xor.b32 %0, %0, %1;" : "+r"(acc) : "r"(r[k]) : "memory");
    asm volatile("st.volatile.shared.u32 [%0], %1;" :: "r"(1024 + threadIdx.x * 4), "r"(acc) : "memory"); /* reads acc before the clock is read */
    u64 t1 = (u64)clk();
    if (threadIdx.x & 31) return;
    u64 *o = out + (size_t)(gid / 32) * 4;
    o[0] = t0; o[1] = t1; o[2] = smid(); o[3] = acc;
}
#define KERNEL(K, V) extern "C" __global__ void burst_##K##_##V(const u32 *p, u64 *out, u32 *arrived, u32 shift) \
{ body<K, V>(p, out, arrived, shift); }
KERNEL(1, 1) KERNEL(2, 1) KERNEL(4, 1) KERNEL(8, 1) KERNEL(1, 4) KERNEL(2, 4) KERNEL(4, 4)

#ifndef KERNELS_ONLY
static __global__ void read_all(const u32 *b, size_t n, u32 *o)
{
    u32 s = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) s += b[i];
    if (s == 12345) *o = s;
}

/* The first lane of each warp loads n lines of its region, one after the other. */
static __global__ void walk(const u32 *p, size_t stride, int n, u32 *t, u32 *l)
{
    int w = threadIdx.x / 32;
    if (threadIdx.x & 31) return;
    const u32 *q = p + w * stride;
    u32 acc = 0;
    for (int i = 0; i < n; i++) {
        u64 a = (u64)clk();
        u32 x;
        asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(x) : "l"(q + i * 32 + acc) : "memory");
        asm volatile("xor.b32 %0, %0, %1;" : "+r"(acc) : "r"(x) : "memory");
        asm volatile("st.volatile.shared.u32 [%0], %1;" :: "r"(1024 + w * 4), "r"(acc) : "memory");
        u64 b = (u64)clk();
        t[w * n + i] = (u32)a;
        l[w * n + i] = (u32)(b - a);
    }
}

/* Each warp reads pieces of C bytes at random places: a piece with several loads, or several pieces with one. */
template <int C> __global__ void chunks(const u32 *p, u32 pieces, int rounds, u32 *o)
{
    constexpr int loads = C >= 128 ? C / 128 : 1, lanes = C >= 128 ? 32 : C / 4;
    u32 lane = threadIdx.x & 31, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, acc = 0, s = warp * 2654435761u + 12345;
    for (int r = 0; r < rounds; r++) {
        u32 x[8];
        #pragma unroll
        for (int k = 0; k < 8; k++) {
            int part = (r * 8 + k) % loads;
            if (part == 0) s = s * 1664525u + 1013904223u;
            u32 h = (s ^ s >> 15) * 0x2c1b3c6du + lane / lanes * 0x9E3779B9u;
            h = (h ^ h >> 13) * 0x85ebca6bu;
            h ^= h >> 16;
            size_t at = (size_t)(h % pieces) * C + (size_t)part * 128 + lane % lanes * 4;
            asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(x[k]) : "l"((const char *)p + at));
        }
        for (int k = 0; k < 8; k++) acc += x[k];
    }
    if (acc == 77) *o = acc;
}

template <int C> static void read_chunks(const u32 *p, size_t bytes, u32 *o)
{
    cudaEvent_t a, b;
    CK(cudaEventCreate(&a)); CK(cudaEventCreate(&b));
    for (int blocks : {132, 528, 1056}) {
        const int rounds = 256;
        float best = 1e9f;
        for (int i = 0; i < 3; i++) {
            float ms;
            CK(cudaEventRecord(a));
            chunks<C><<<blocks, 256>>>(p, (u32)(bytes / C), rounds, o);
            CK(cudaEventRecord(b)); CK(cudaDeviceSynchronize()); CK(cudaEventElapsedTime(&ms, a, b));
            best = std::min(best, ms);
        }
        printf("%d\t%d\t%.3f\t%.0f\n", C, blocks, best, (double)blocks * 8 * rounds * 8 * 128 / best / 1e6 / 1.98);
    }
}

static void all_chunks()
{
    u32 *p, *o;
    const size_t bytes = (size_t)16 << 30;
    CK(cudaMalloc(&p, bytes)); CK(cudaMalloc(&o, 4)); CK(cudaMemset(p, 0, bytes));
    printf("#piece\tblocks\tms\tbytes_a_cycle\n");
    read_chunks<32>(p, bytes, o); read_chunks<64>(p, bytes, o); read_chunks<128>(p, bytes, o); read_chunks<256>(p, bytes, o);
    read_chunks<512>(p, bytes, o); read_chunks<1024>(p, bytes, o); read_chunks<2048>(p, bytes, o); read_chunks<8192>(p, bytes, o);
}

static void loads()
{
    struct row { const char *name; void (*k)(const u32 *, u64 *, u32 *, u32); int K, V; };
    const row rows[] = {{"1_1", burst_1_1, 1, 1}, {"2_1", burst_2_1, 2, 1}, {"4_1", burst_4_1, 4, 1}, {"8_1", burst_8_1, 8, 1},
                        {"1_4", burst_1_4, 1, 4}, {"2_4", burst_2_4, 2, 4}, {"4_4", burst_4_4, 4, 4}};
    u32 *p, *big;
    u64 *out;
    const size_t bytes = (size_t)4 << 30, flush = 192u << 20;
    CK(cudaMalloc(&p, bytes)); CK(cudaMalloc(&big, flush)); CK(cudaMalloc(&out, 64 << 20));
    CK(cudaMemset(p, 0, bytes)); CK(cudaMemset(big, 0, flush));
    printf("#kernel\tgrid\tblock\tshift\tmean\tp5\tp25\tp50\tp75\tp90\tp95\tp99\tspan_mean\tspan_max\n");
    srand(1);
    for (int w = 0; w < 3; w++) for (auto &r : rows) for (int g : {1, 8, 66, 132, 264, 528, 1056}) for (int b : {32, 128, 256, 1024}) {
        if (g * b > 132 * 2048) continue;
        const u32 shift = w == 0 ? 0 : w == 1 ? (u32)g : 1;
        std::vector<double> l;
        double sum = 0, span = 0, widest = 0;
        const int reps = g * b / 32 < 64 ? 100 : 40;
        for (int rep = 0; rep < reps; rep++) {
            read_all<<<1056, 512>>>(big, flush / 4, (u32 *)out);
            size_t need = (size_t)g * b * r.K * r.V;
            size_t off = ((size_t)rand() << 12 ^ (size_t)rand()) % (bytes / 4 - need) & ~(size_t)1023;
            CK(cudaMemset(out, 0, 8));
            r.k<<<g, b, 4096>>>(p + off, out + 4, (u32 *)out, shift);
            CK(cudaDeviceSynchronize());
            const size_t warps = (size_t)g * b / 32;
            std::vector<u64> o(warps * 4), lo(132, ~0ull), hi(132, 0);
            CK(cudaMemcpy(o.data(), out + 4, warps * 32, cudaMemcpyDeviceToHost));
            for (size_t i = 0; i < warps; i++) {
                double d = (double)(o[4 * i + 1] - o[4 * i]);
                l.push_back(d);
                sum += d;
                u32 m = (u32)o[4 * i + 2];
                lo[m] = std::min(lo[m], o[4 * i]);
                hi[m] = std::max(hi[m], o[4 * i + 1]);
            }
            double all = 0, most = 0;
            int n = 0;
            for (int m = 0; m < 132; m++)
                if (hi[m]) { all += (double)(hi[m] - lo[m]); most = std::max(most, (double)(hi[m] - lo[m])); n++; }
            span += all / n / reps;
            widest += most / reps;
        }
        std::sort(l.begin(), l.end());
        printf("%s\t%d\t%d\t%u\t%.1f", r.name, g, b, shift, sum / (double)l.size());
        for (int q : {5, 25, 50, 75, 90, 95, 99}) printf("\t%.0f", l[l.size() * (size_t)q / 100]);
        printf("\t%.0f\t%.0f\n", span, widest);
    }
}

static void refresh()
{
    const int N = 256;
    u32 *p, *big, *t, *l;
    CK(cudaMalloc(&p, 1u << 30)); CK(cudaMalloc(&big, 192 << 20)); CK(cudaMalloc(&t, 1 << 20)); CK(cudaMalloc(&l, 1 << 20));
    CK(cudaMemset(p, 0, 1u << 30)); CK(cudaMemset(big, 0, 192 << 20));
    std::vector<u32> ht(32 * N), hl(32 * N);
    printf("#region_kb\twarp\tclock\tlatency\n");
    for (size_t kb : {32, 256, 2048}) {
        read_all<<<1056, 512>>>(big, (192 << 20) / 4, t);
        walk<<<1, 1024, 2048>>>(p, kb * 256, N, t, l);
        CK(cudaDeviceSynchronize());
        CK(cudaMemcpy(ht.data(), t, 32 * N * 4, cudaMemcpyDeviceToHost));
        CK(cudaMemcpy(hl.data(), l, 32 * N * 4, cudaMemcpyDeviceToHost));
        u32 first = ht[0];
        for (u32 x : ht) if ((int)(x - first) < 0) first = x;
        for (int i = 0; i < 32 * N; i++) printf("%zu\t%d\t%u\t%u\n", kb, i / N, ht[i] - first, hl[i]);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "refresh") == 0) refresh();
    else if (argc > 1 && strcmp(argv[1], "chunks") == 0) all_chunks();
    else loads();
}
#endif
