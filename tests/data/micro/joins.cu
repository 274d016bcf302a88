// joins.cu - which stores of an SM leave it together: warps of one block store N neighbouring units (bytes, halves, words) of rows of their own, one
// after the other, `row` bytes from lane to lane. What leaves the SM says how many were joined.
//
//     nvcc -O3 -arch=sm_90 -o joins joins.cu && ./joins table >joins.txt && ncu --clock-control none --csv --page raw \
//         --metrics l1tex__m_l1tex2xbar_write_sectors.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum,lts__t_requests_srcunit_tex.sum,sm__cycles_active.max ./joins >joins.csv
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
template <int UNIT> __device__ __forceinline__ void store(char *at, unsigned v)
{
    if (UNIT == 1) asm volatile("st.global.u8 [%0],%1;" ::"l"(at), "r"(v) : "memory");
    if (UNIT == 2) asm volatile("st.global.u16 [%0],%1;" ::"l"(at), "h"((unsigned short)v) : "memory");
    if (UNIT == 4) asm volatile("st.global.u32 [%0],%1;" ::"l"(at), "r"(v) : "memory");
    if (UNIT == 8) asm volatile("st.global.v2.u32 [%0],{%1,%1};" ::"l"(at), "r"(v) : "memory");
    if (UNIT == 16) asm volatile("st.global.v4.u32 [%0],{%1,%1,%1,%1};" ::"l"(at), "r"(v) : "memory");
}
// GAP: multiplications in a chain between two stores. The first store leaves by itself, because the code of the next is not there yet.
template <int UNIT, int N, int GAP> __global__ void rows(char *buf, int row, int step, int lanes)
{
    int lane = threadIdx.x % 32;
    unsigned x = lane;
    char *mine = buf + (size_t)(threadIdx.x / 32) * 32768 + lane * row;
    store<4>(buf + (1 << 20) + 4 * threadIdx.x, 0); // the way to the memory is known
    __syncthreads();
    long long t = clock64();
    while (clock64() - t < 2000) {}
    if (lane >= lanes) return;
#pragma unroll
    for (int i = 0; i < N; i++) {
        store<UNIT>(mine + i * step, x);
#pragma unroll
        for (int k = 0; k < GAP; k++) asm volatile("mad.lo.u32 %0,%0,%0,1;" : "+r"(x));
    }
}
static bool table;
static char *buf;
template <int UNIT, int N, int GAP = 0> void one(int row, int step, int lanes, int warps)
{
    if (table) { printf("%d\t%d\t%d\t%d\t%d\t%d\t%d\n", UNIT, N, row, step, lanes, GAP, warps); return; }
    rows<UNIT, N, GAP><<<1, 32 * warps>>>(buf, row, step, lanes);
    cudaDeviceSynchronize();
}
template <int GAP> void gaps()
{
    one<4, 8, GAP>(32, 4, 32, 1); one<1, 8, GAP>(8, 1, 32, 1); one<4, 8, GAP>(128, 4, 16, 1); one<4, 8, GAP>(128, 4, 4, 1); one<1, 8, GAP>(128, 1, 4, 1);
}
int main(int argc, char **argv)
{
    table = argc > 1 && !strcmp(argv[1], "table");
    cudaMalloc(&buf, 2 << 20);
    if (table) printf("#unit\tn\trow\tstep\tlanes\tgap\twarps\n");
    for (int w : {1, 2, 4}) {
        for (int row : {32, 64, 128}) one<4, 8>(row, 4, 32, w);
        one<4, 4>(16, 4, 32, w);
        one<4, 2>(8, 4, 32, w);
        for (int lanes : {4, 7, 8, 12, 14, 15, 16, 28, 29}) one<4, 8>(128, 4, lanes, w);
        for (int row : {8, 16, 32}) one<1, 8>(row, 1, 32, w);
        for (int lanes : {3, 4, 7, 8, 12, 13, 14, 15, 16}) one<1, 8>(128, 1, lanes, w);
        one<1, 4>(4, 1, 32, w);
        one<1, 8>(128, 4, 8, w); one<1, 8>(128, 4, 16, w);
        one<2, 8>(16, 2, 32, w); one<2, 8>(128, 2, 14, w); one<2, 8>(128, 2, 15, w);
        one<8, 4>(32, 8, 32, w); one<8, 4>(128, 8, 14, w); one<8, 4>(128, 8, 15, w); one<8, 4>(128, 8, 28, w); one<8, 4>(128, 8, 32, w);
        one<16, 4>(64, 16, 32, w); one<16, 4>(128, 16, 8, w); one<16, 4>(128, 16, 14, w); one<16, 4>(128, 16, 28, w); one<16, 4>(128, 16, 32, w);
        one<4, 8>(32, 0, 32, w);
    }
    gaps<2>(); gaps<4>(); gaps<6>(); gaps<8>(); gaps<10>(); gaps<12>(); gaps<16>(); gaps<24>(); gaps<32>();
    return 0;
}
