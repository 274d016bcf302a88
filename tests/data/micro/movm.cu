// movm.cu - latency and rate of movmatrix (MOVM), alone and beside what might share its pipe. One line a measurement:
//   what, warps, matrices that a warp has under way, cycles for 64 rounds (the slowest warp)
// Recorded in movm.tsv: NVIDIA H200, driver 580.159.04, SM 1980 MHz, 2026-11. nvcc -O3 -arch=sm_90a movm.cu
#include "common.h"

enum { ROUNDS = 64 };

static __device__ __forceinline__ u32 transpose(u32 a)
{
    u32 d;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0,%1;" : "=r"(d) : "r"(a));
    return d;
}

template <int MANY, int BESIDE> __global__ void chain(long long *t, u32 *sink, u32 q)
{
    u32 r[MANY], z[MANY], x = 0;
    for (int i = 0; i < MANY; i++) r[i] = z[i] = threadIdx.x * 7 + i;
    for (int turn = 0; turn < 2; turn++) {
        __syncthreads();
        long long from = clk();
#pragma unroll
        for (int n = 0; n < ROUNDS; n++)
#pragma unroll
            for (int i = 0; i < MANY; i++) {
                r[i] = transpose(r[i]);
                if (BESIDE == 1) z[i] = z[i] * q + n;
                if (BESIDE == 2) z[i] = (z[i] ^ q) & (n * 77 + 5);
                if (BESIDE == 3) z[i] = __shfl_xor_sync(~0u, z[i], 1);
                if (BESIDE == 4) z[i] = __float_as_uint(__sinf(__uint_as_float(z[i])));
            }
        long long to = clk();
        if (threadIdx.x % 32 == 0) t[threadIdx.x / 32] = to - from;
    }
    for (int i = 0; i < MANY; i++) x += r[i] + z[i];
    if (x == 12345) *sink = x;
}

static long long *t;
static u32 *sink;

template <int MANY, int BESIDE> static void run(const char *what, int warps)
{
    long long most = 0;
    chain<MANY, BESIDE><<<1, 32 * warps>>>(t, sink, 5);
    CK(cudaDeviceSynchronize());
    for (int w = 0; w < warps; w++) most = std::max(most, t[w]);
    printf("%s\t%d\t%d\t%lld\n", what, warps, MANY, most);
}

int main()
{
    CK(cudaMallocManaged(&t, 32 * sizeof *t));
    CK(cudaMallocManaged(&sink, sizeof *sink));
    printf("#what\twarps\tmany\tcycles\n");
    for (int warps = 1; warps <= 16; warps *= 2) {
        run<1, 0>("movm", warps);
        run<2, 0>("movm", warps);
        run<4, 0>("movm", warps);
        run<8, 0>("movm", warps);
        run<4, 1>("movm imad", warps);
        run<4, 2>("movm lop3", warps);
        run<4, 3>("movm shfl", warps);
        run<4, 4>("movm mufu", warps);
    }
}
