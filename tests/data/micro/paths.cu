// paths.cu - rates of gathers by footprint, of whole and partial stores by footprint, of local memory. One line a measurement:
//   test, blocks, threads, a, b, cycles (mean over blocks), cycles (longest block)
// Recorded in paths.tsv.xz: NVIDIA H200, driver 580.159.04, SM 1980 MHz, 2026-11. nvcc -O3 -arch=sm_90a paths.cu; its last six columns, for both
// rounds of a kernel together and from another run, where the caches were cold at the start, with
//
//     ncu --clock-control none --csv --page raw --kernel-name regex:'gather|fill|rows' --metrics lts__t_requests_srcunit_tex.sum,lts__t_sectors_srcunit_tex.sum,lts__t_sectors_srcunit_ltcfabric.sum,l1tex__m_xbar2l1tex_read_sectors.sum,l1tex__m_l1tex2xbar_write_sectors.sum,dram__sectors_write.sum ./paths
#include "common.h"
static __device__ __forceinline__ u32 mix(u32 x) { x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; x ^= x >> 16; return x; }

// `lines` different lines a request, one sector each, 8 loads under way, from lines 0 to mask; the second of two rounds counts
__global__ void gather(const char *buf, u32 mask, int lines, int n, u64 *t, u32 *sink)
{
    u32 lane = threadIdx.x & 31, g = blockIdx.x * blockDim.x + threadIdx.x, warp = g >> 5, per = 32 / lines, x = 0;
    u32 s = mix(warp * 977u + lane / per * 131u + 7u), in = lane % 8 * 4;
    for (int round = 0; round < 2; round++) {
        __syncthreads(); u64 t0 = clk();
        for (int i = 0; i < n; i += 8) {
            u32 r[8];
#pragma unroll
            for (int k = 0; k < 8; k++) {
                s = s * 1664525u + 1013904223u;
                const char *a = buf + ((u64)((s >> 8) & mask) * 128 + in);
                asm volatile("ld.global.cg.u32 %0,[%1];" : "=r"(r[k]) : "l"(a));
            }
#pragma unroll
            for (int k = 0; k < 8; k++) x += r[k];
        }
        __syncthreads(); u64 t1 = clk();
        if (threadIdx.x == 0) t[blockIdx.x] = t1 - t0;
    }
    if (x == 0x12345) *sink = x;
}

// every block writes its own `bytes` again and again, n times 16 (or 4) bytes a thread, whole lines; ends with a fence
template <int WIDE> __global__ void fill(char *buf, u64 bytes, int n, u64 *t)
{
    char *mine = buf + blockIdx.x * bytes;
    for (int round = 0; round < 2; round++) {
        __syncthreads(); u64 t0 = clk();
        u64 at = threadIdx.x * (WIDE ? 16 : 4);
        for (int i = 0; i < n; i++) {
            if (WIDE) asm volatile("st.global.v4.u32 [%0],{%1,%1,%1,%1};" :: "l"(mine + at), "r"(i) : "memory");
            else asm volatile("st.global.u32 [%0],%1;" :: "l"(mine + at), "r"(i) : "memory");
            at += blockDim.x * (WIDE ? 16 : 4);
            if (at >= bytes) at -= bytes;
        }
        __threadfence(); __syncthreads(); u64 t1 = clk();
        if (threadIdx.x == 0) t[blockIdx.x] = t1 - t0;
    }
}

// each thread writes n neighbouring words of a row of its own (`row` words), one after the other; then a fence
template <int N> __global__ void rows(u32 *buf, int row, int gap, u64 *t)
{
    u32 *mine = buf + (u64)(blockIdx.x * blockDim.x + threadIdx.x) * row;
    for (int round = 0; round < 2; round++) {
        __syncthreads(); u64 t0 = clk();
#pragma unroll
        for (int i = 0; i < N; i++) {
            asm volatile("st.global.u32 [%0],%1;" :: "l"(mine + i), "r"(i) : "memory");
            if (gap) { u64 w = clk(); while (clk() - w < (u64)gap) {} }
        }
        __threadfence(); __syncthreads(); u64 t1 = clk();
        if (threadIdx.x == 0) t[blockIdx.x] = t1 - t0;
    }
}

// local memory: each thread writes `words` words of its frame, then reads them; time of the writes with a fence (a = 0), of the reads (a = 1),
// of a second writing (a = 2), of a second reading (a = 3)
__global__ void local(int words, int step, u64 *t, u32 *sink)
{
    volatile u32 frame[256];
    u32 x = 0;
    for (int round = 0; round < 2; round++) {
        __syncthreads(); u64 t0 = clk();
        for (int i = 0; i < words; i++) frame[i * step & 255] = i + x;
        __threadfence(); __syncthreads(); u64 t1 = clk();
        for (int i = 0; i < words; i++) x += frame[i * step & 255];
        __syncthreads(); u64 t2 = clk();
        if (threadIdx.x == 0) t[blockIdx.x * 4 + round * 2] = t1 - t0, t[blockIdx.x * 4 + round * 2 + 1] = t2 - t1;
    }
    if (x == 0x12345) *sink = x;
}
// the same without a fence, and a chain: the next index depends on what was read
__global__ void chain(int words, u64 *t, u32 *sink)
{
    volatile u32 frame[256];
    u32 x = 0;
    for (int i = 0; i < words; i++) frame[i] = i + 1;
    for (int round = 0; round < 2; round++) {
        __syncthreads(); u64 t0 = clk();
        for (int i = 0; i < words; i++) { u32 k = x & 255; frame[k] = k + 1; x = frame[k]; }
        __syncthreads(); u64 t1 = clk();
        if (threadIdx.x == 0) t[blockIdx.x] = t1 - t0;
    }
    if (x == 0x12345) *sink = x;
}
// lanes with different offsets: lane l uses words l * spread on
__global__ void local_spread(int words, int spread, u64 *t, u32 *sink)
{
    volatile u32 frame[1024];
    u32 x = 0, at = (threadIdx.x & 31) * spread;
    for (int round = 0; round < 2; round++) {
        __syncthreads(); u64 t0 = clk();
        for (int i = 0; i < words; i++) frame[(at + i) & 1023] = i + x;
        __threadfence(); __syncthreads(); u64 t1 = clk();
        for (int i = 0; i < words; i++) x += frame[(at + i) & 1023];
        __syncthreads(); u64 t2 = clk();
        if (threadIdx.x == 0) t[blockIdx.x * 4 + round * 2] = t1 - t0, t[blockIdx.x * 4 + round * 2 + 1] = t2 - t1;
    }
    if (x == 0x12345) *sink = x;
}

static u64 *t, *cold;
static void flush() { static int k; cudaMemset(cold, ++k, 256u << 20); }
static int out(const char *name, int b, int th, long a, long c, int per = 1, int from = 0)
{
    CK(cudaDeviceSynchronize());
    std::vector<u64> h((size_t)b * per);
    CK(cudaMemcpy(h.data(), t, h.size() * 8, cudaMemcpyDeviceToHost));
    double sum = 0; u64 most = 0;
    for (int i = 0; i < b; i++) { u64 v = h[(size_t)i * per + from]; sum += v; if (v > most) most = v; }
    printf("%s\t%d\t%d\t%ld\t%ld\t%.1f\t%llu\n", name, b, th, a, c, sum / b, most);
    return 0;
}
int main()
{
    char *buf; u32 *sink;
    CK(cudaMalloc(&buf, 512u << 20)); CK(cudaMemset(buf, 0, 512u << 20)); CK(cudaMalloc(&sink, 64)); CK(cudaMalloc(&t, 1 << 20)); CK(cudaMalloc(&cold, 256u << 20));
    printf("#test\tblocks\tthreads\ta\tb\tcycles\tlongest\n");
    for (int lg = 8; lg <= 18; lg++) for (int th : {256, 1024}) for (int lines : {4, 32}) { gather<<<132, th>>>(buf, (1u << lg) - 1, lines, 64, t, sink); if (out("gather", 132, th, 128l << lg, lines)) return 1; }
    for (int b : {1, 4, 16, 33, 66, 132}) for (u64 bytes : {16u << 10, 64u << 10, 256u << 10, 1u << 20}) for (int th : {256, 1024}) {
        fill<1><<<b, th>>>(buf, bytes, 128, t); if (out("fill16", b, th, bytes, 128)) return 1;
        fill<0><<<b, th>>>(buf, bytes, 128, t); if (out("fill4", b, th, bytes, 128)) return 1; }
    for (int b : {1, 32, 132}) for (int th : {32, 128, 256}) for (int row : {16, 64}) {
        rows<1><<<b, th>>>((u32 *)buf, row, 0, t); if (out("rows1", b, th, row, 0)) return 1;
        rows<4><<<b, th>>>((u32 *)buf, row, 0, t); if (out("rows4", b, th, row, 0)) return 1;
        rows<8><<<b, th>>>((u32 *)buf, row, 0, t); if (out("rows8", b, th, row, 0)) return 1;
        rows<16><<<b, th>>>((u32 *)buf, row, 0, t); if (out("rows16", b, th, row, 0)) return 1;
        rows<16><<<b, th>>>((u32 *)buf, row, 50, t); if (out("rows16", b, th, row, 50)) return 1; }
    for (int b : {1, 132, 528}) for (int th : {32, 128, 256}) for (int words : {4, 16, 64, 256}) {
        flush(); local<<<b, th>>>(words, 1, t, sink);
        for (int k = 0; k < 4; k++) if (out(k == 0 ? "local_write_cold" : k == 1 ? "local_read" : k == 2 ? "local_write" : "local_read_again", b, th, words, 1, 4, k)) return 1;
        chain<<<b, th>>>(words, t, sink); if (out("local_chain", b, th, words, 0)) return 1; }
    for (int b : {1, 132}) for (int th : {32, 128}) for (int spread : {1, 2, 8, 32}) {
        flush(); local_spread<<<b, th>>>(16, spread, t, sink);
        for (int k = 0; k < 4; k++) if (out(k == 0 ? "spread_write_cold" : k == 1 ? "spread_read" : k == 2 ? "spread_write" : "spread_read_again", b, th, 16, spread, 4, k)) return 1; }
    return 0;
}
