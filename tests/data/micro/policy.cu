// policy.cu - what eviction priorities, prefetch sizes and ways past the L1 leave in the caches. A row of policy.tsv is a launch of one block:
// its threads; steps, each an operation on `count` sectors that lie `stride` sectors apart, from sector `from` on; then one thread times a
// load of each sector of the last step: how many were there within 150 cycles (probe ld.L1::no_allocate: in the L1), or 420 and
// 500 (probe ld.cg: in the half of the L2 that the SM reads through, or in the other one at least; memory takes 500 and more). The column
// `code` has the steps in numbers, as the kernel takes them. A row of createpolicy.tsv is a word that createpolicy made. Recorded with
//
//     nvcc -O3 -arch=sm_90a -o policy policy.cu && ./policy createpolicy.tsv >policy.tsv
//
// (H200, driver 580.159.04, CUDA 13.0, 2026-11). Before each launch all other lines of the L2 are read lines of normal priority, and none
// persists. policy.ptx.xz is the kernel as nvcc makes it (-ptx).
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <cuda_runtime.h>
typedef unsigned u32; typedef unsigned long long u64;
#define CK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e_)); exit(1); } } while (0)
#define LOADS(X) X(".ca", "ca") X(".cg", "cg") X(".cs", "cs") X(".lu", "lu") X(".cv", "cv") X(".nc", "nc") X(".L1::evict_first", "L1::evict_first") \
    X(".L1::evict_last", "L1::evict_last") X(".L1::evict_unchanged", "L1::evict_unchanged") X(".L1::no_allocate", "L1::no_allocate") \
    X(".nc.L1::no_allocate", "nc.L1::no_allocate") X(".L2::64B", "L2::64B") X(".L2::128B", "L2::128B") X(".L2::256B", "L2::256B") X(".nc.L2::256B", "nc.L2::256B")
#define HINTS(X) X("L2::evict_normal.b64 %0, 1.0", "normal") X("L2::evict_first.b64 %0, 1.0", "first") X("L2::evict_last.b64 %0, 1.0", "last") \
    X("L2::evict_unchanged.b64 %0, 1.0", "unchanged") X("L2::evict_last.b64 %0, 0.5", "last_half") X("L2::evict_last.L2::evict_first.b64 %0, 0.25", "last_quarter_first")
#define STORES(X) X(".wb", "wb") X(".cg", "cg") X(".cs", "cs") X(".wt", "wt") X(".L1::evict_first", "L1::evict_first") X(".L1::evict_last", "L1::evict_last") \
    X(".L1::evict_unchanged", "L1::evict_unchanged") X(".L1::no_allocate", "L1::no_allocate")
#define OTHERS(X) X("prefetch.global.L1 [%0];", "prefetch.L1") X("prefetch.global.L2 [%0];", "prefetch.L2") X("prefetch.global.L2::evict_last [%0];", "prefetch.L2::evict_last") \
    X("prefetch.global.L2::evict_normal [%0];", "prefetch.L2::evict_normal") X("prefetchu.L1 [%0];", "prefetchu.L1") X("cp.async.bulk.prefetch.L2.global [%0], 128;", "cp.async.bulk.prefetch") \
    X("applypriority.global.L2::evict_normal [%0], 128;", "applypriority") X("discard.global.L2 [%0], 128;", "discard") X("red.global.add.u32 [%0], 0;", "red")
#define COPIES(X) X("ca.shared.global", "ca") X("cg.shared.global", "cg") X("cg.shared.global.L2::64B", "cg.L2::64B") X("cg.shared.global.L2::128B", "cg.L2::128B") X("cg.shared.global.L2::256B", "cg.L2::256B")
#define NAME_LD(s, n) "ld." n,
#define NAME_HINT(s, n) "ld.hint." n,
#define NAME_ST(s, n) "st." n,
#define NAME_OTHER(s, n) n,
#define NAME_COPY(s, n) "cp.async." n,
#define NAME_STHINT(s, n) "st.hint." n,
#define NAME_FULL(s, n) "st_full.hint." n,
static const char *const NAME[] = {LOADS(NAME_LD) HINTS(NAME_HINT) STORES(NAME_ST) OTHERS(NAME_OTHER) COPIES(NAME_COPY) HINTS(NAME_STHINT) HINTS(NAME_FULL) "st_full.wb", "st_full.cs"};
struct step { u32 op, from, count, stride; };
struct steps { u32 n; step at[6]; };
static __device__ __forceinline__ u32 clk() { u32 t; asm volatile("mov.u32 %0,%%clock;" : "=r"(t) :: "memory"); return t; }
static __device__ __forceinline__ u64 policy(u32 op, u32 hint)
{
    u64 p = 0;
#define MAKE(s, n) if (op == hint++) asm volatile("createpolicy.fractional." s ";" : "=l"(p));
    HINTS(MAKE)
    return p;
}
enum { HINT_AT = 15, STORE_AT = HINT_AT + 6, OTHER_AT = STORE_AT + 8, COPY_AT = OTHER_AT + 9, STHINT_AT = COPY_AT + 5, FULL_AT = STHINT_AT + 6, FULL = FULL_AT + 6 };
static __device__ __noinline__ u32 touch(u32 op, const char *a, u64 p, u32 shared)
{
    u32 v = 0, k = 0;
#define LD(s, n) if (op == k++) asm volatile("ld.global" s ".u32 %0,[%1];" : "=r"(v) : "l"(a) : "memory");
#define LDH(s, n) if (op == k++) asm volatile("ld.global.L2::cache_hint.u32 %0,[%1],%2;" : "=r"(v) : "l"(a), "l"(p) : "memory");
#define ST(s, n) if (op == k++) asm volatile("st.global" s ".u32 [%0],%1;" :: "l"(a), "r"(0) : "memory");
#define OTHER(s, n) if (op == k++) asm volatile(s :: "l"(a) : "memory");
#define COPY(s, n) if (op == k++) asm volatile("cp.async." s " [%0],[%1],16;cp.async.wait_all;" :: "r"(shared), "l"(a) : "memory");
#define STH(s, n) if (op == k++) asm volatile("st.global.L2::cache_hint.u32 [%0],%1,%2;" :: "l"(a), "r"(0), "l"(p) : "memory");
#define FULLH(s, n) if (op == k++) asm volatile("st.global.L2::cache_hint.v4.u32 [%0],{%1,%1,%1,%1},%2;st.global.L2::cache_hint.v4.u32 [%0+16],{%1,%1,%1,%1},%2;" :: "l"(a), "r"(0), "l"(p) : "memory");
    LOADS(LD) HINTS(LDH) STORES(ST) OTHERS(OTHER) COPIES(COPY) HINTS(STH) HINTS(FULLH)
    if (op == FULL) asm volatile("st.global.v4.u32 [%0],{%1,%1,%1,%1};st.global.v4.u32 [%0+16],{%1,%1,%1,%1};" :: "l"(a), "r"(0) : "memory");
    if (op == FULL + 1) asm volatile("st.global.cs.v4.u32 [%0],{%1,%1,%1,%1};st.global.cs.v4.u32 [%0+16],{%1,%1,%1,%1};" :: "l"(a), "r"(0) : "memory");
    return v;
}
extern "C" __global__ void __launch_bounds__(1024) sequence(const char *buf, steps s, u32 l1, u32 *out)
{
    extern __shared__ u32 hold[];
    u32 x = 0, shared = (u32)__cvta_generic_to_shared(hold) + threadIdx.x * 16;
    for (u32 k = 0; k < s.n; k++) {
        step at = s.at[k];
        u64 p = at.op >= FULL_AT ? policy(at.op, FULL_AT) : at.op >= STHINT_AT ? policy(at.op, STHINT_AT) : policy(at.op, HINT_AT);
        for (u32 i = threadIdx.x; i < at.count; i += blockDim.x) x += touch(at.op, buf + (at.from + (u64)i * at.stride) * 32, p, shared);
        for (u32 t = clk(); clk() - t < 5000;) {}
        __syncthreads();
    }
    step at = s.at[s.n];
    u32 near = 0, all = 0;
    for (u32 i = 0; threadIdx.x == 0 && i < at.count; i++) {
        const char *a = buf + (at.from + (u64)i * at.stride) * 32;
        u32 v, t = clk(), end;
        if (l1) asm volatile("ld.global.L1::no_allocate.u32 %0,[%1];" : "=r"(v) : "l"(a) : "memory");
        else asm volatile("ld.global.cg.u32 %0,[%1];" : "=r"(v) : "l"(a) : "memory");
        asm volatile("{.reg .pred p; setp.eq.u32 p,%1,0x7654321; @p trap; mov.u32 %0,%%clock;}" : "=r"(end) : "r"(v) : "memory");
        near += end - t < (l1 ? 150 : 420);
        all += end - t < (l1 ? 150 : 500);
    }
    if (threadIdx.x == 0) { out[0] = near; out[1] = all; }
    if (x == 1234567) out[2] = x;
}
extern "C" __global__ void make_policies(u64 *out, const char *a, u32 n, u32 m, float f, u64 c)
{
    u64 p; u32 k = 0;
#define FR(pri) asm volatile("createpolicy.fractional." pri ".b64 %0, %1;" : "=l"(p) : "f"(f)); out[k++] = p;
#define RA(pri) asm volatile("createpolicy.range.global." pri ".b64 %0, [%1], %2, %3;" : "=l"(p) : "l"(a), "r"(n), "r"(m)); out[k++] = p;
#define ALL(X) X("L2::evict_last") X("L2::evict_normal") X("L2::evict_first") X("L2::evict_unchanged") X("L2::evict_last.L2::evict_first") X("L2::evict_last.L2::evict_unchanged") X("L2::evict_normal.L2::evict_first") \
    X("L2::evict_normal.L2::evict_unchanged") X("L2::evict_first.L2::evict_unchanged") X("L2::evict_unchanged.L2::evict_first") X("L2::evict_first.L2::evict_first")
    ALL(FR) ALL(RA)
    asm volatile("createpolicy.cvt.L2.b64 %0, %1;" : "=l"(p) : "l"(c)); out[k++] = p;
}
extern "C" __global__ void wipe(const uint4 *buf, u64 n, u32 *out)
{
    u32 x = 0;
    for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < n; i += (u64)gridDim.x * blockDim.x) x += buf[i].x;
    if (x == 1234567) out[15] = x;
}
static u32 *dev; static char *mem, *far; static const u64 FAR = 256ull << 20;
static u32 find(const char *n, size_t len) { for (u32 k = 0; k < sizeof NAME / sizeof *NAME; k++) if (strlen(NAME[k]) == len && !strncmp(NAME[k], n, len)) return k; fprintf(stderr, "%s?\n", n); exit(1); }
// "op from count stride; ...; from count stride"
static void row(u32 threads, bool l1, const char *text)
{
    steps s = {0};
    const char *p = text;
    for (;;) {
        const char *end = strchr(p, ';');
        step &x = s.at[s.n];
        if (!end) { sscanf(p, "%u %u %u", &x.from, &x.count, &x.stride); break; }
        const char *space = strchr(p, ' ');
        x.op = find(p, space - p);
        sscanf(space, "%u %u %u", &x.from, &x.count, &x.stride);
        s.n++; p = end + 2;
    }
    CK(cudaCtxResetPersistingL2Cache());
    wipe<<<264, 512>>>((uint4 *)far, FAR / 16, dev);
    sequence<<<1, threads, threads * 16>>>(mem, s, l1, dev);
    u32 h[2];
    CK(cudaMemcpy(h, dev, 8, cudaMemcpyDeviceToHost));
    printf("%s\t%u\t%s\t", l1 ? "l1" : "l2", threads, text);
    for (u32 k = 0; k <= s.n; k++) printf("%s%u,%u,%u,%u", k ? ";" : "", s.at[k].op, s.at[k].from, s.at[k].count, s.at[k].stride);
    printf("\t%u\t%u\n", h[0], h[1]);
}
static char text[512];
#define ROW(threads, l1, ...) (snprintf(text, sizeof text, __VA_ARGS__), row(threads, l1, text))
static void policies(FILE *f)
{
    static const char *const N[] = {"last", "normal", "first", "unchanged", "last.first", "last.unchanged", "normal.first", "normal.unchanged", "first.unchanged", "unchanged.first", "first.first"};
    u64 *o, h[23];
    CK(cudaMalloc(&o, sizeof h));
    static const float F[] = {1.0f, 0.5f, 0.25f, 0.3f, 0.0625f, 0.03f, 0.9f, 0.97f, 0.001f, 0.6f, 0.7f, 0.125f, 0.1875f, 0.75f, 0.99f, 0.2f};
    static const u32 S[][2] = {{4096, 8192}, {65536, 65536}, {1 << 20, 1 << 22}, {1000, 5000}, {1 << 24, 1 << 26}, {128, 256}, {3 << 20, 1 << 27}, {0x12345, 0x6789ab}, {1 << 12, 1 << 30}, {1<<20, 1u<<31}, {1u<<31, 0xffffffffu}};
    static const u64 A[] = {0, 0x7f0000000000ull, 0x7f0012345678ull, 0x100000ull, 0xfffffff80ull};
    fprintf(f, "#kind\tpriorities\tfraction\taddress\tprimary_size\ttotal_size\tpolicy\n");
    for (float x : F) {
        make_policies<<<1, 1>>>(o, (char *)A[1], 4096, 8192, x, 0);
        CK(cudaMemcpy(h, o, sizeof h, cudaMemcpyDeviceToHost));
        for (u32 k = 0; k < 11; k++) fprintf(f, "fractional\t%s\t%.9g\t-\t-\t-\t%016llx\n", N[k], x, h[k]);
    }
    for (auto &x : S) for (u64 a : A) {
        make_policies<<<1, 1>>>(o, (char *)a, x[0], x[1], 1.0f, a);
        CK(cudaMemcpy(h, o, sizeof h, cudaMemcpyDeviceToHost));
        for (u32 k = 0; k < 11; k++) fprintf(f, "range\t%s\t-\t%016llx\t%u\t%u\t%016llx\n", N[k], a, x[0], x[1], h[11 + k]);
        fprintf(f, "cvt\t-\t-\t%016llx\t-\t-\t%016llx\n", a, h[22]);
    }
}
int main(int argc, char **argv)
{
    CK(cudaMalloc(&mem, 1ull << 30)); CK(cudaMalloc(&far, FAR)); CK(cudaMalloc(&dev, 65536));
    CK(cudaMemset(mem, 0, 1ull << 30)); CK(cudaMemset(far, 0, FAR));
    static const char *const L1A[] = {"ld.ca", "ld.cg", "ld.cs", "ld.lu", "ld.cv", "ld.nc", "ld.L1::evict_first", "ld.L1::evict_last", "ld.L1::evict_unchanged", "ld.L1::no_allocate", "ld.nc.L1::no_allocate", "ld.hint.first", "ld.hint.last",
        "st.wb", "st.cg", "st.cs", "st.wt", "st.L1::evict_first", "st.L1::evict_last", "st.L1::evict_unchanged", "st.L1::no_allocate", "st.hint.last", "prefetch.L1", "prefetch.L2", "cp.async.ca", "cp.async.cg", "red"};
    static const char *const L1B[] = {"ld.ca", "ld.L1::evict_first", "ld.L1::evict_last", "ld.L1::evict_unchanged", "ld.L1::no_allocate", "st.wb", "st.cs"};
    static const u32 LINES[] = {1280, 1408, 1536, 1664, 1792, 2048};
    puts("#cache\tthreads\tsteps\tcode\tnear\tall");
    for (const char *a : L1A) { ROW(1, true, "%s 0 64 4; 0 64 4", a); ROW(1, true, "ld.ca 0 64 4; %s 0 64 4; 0 64 4", a); }
    for (const char *b : L1B) for (u32 n : LINES) {
        for (const char *a : {"ld.ca", "ld.L1::evict_first", "ld.L1::evict_last", "ld.L1::evict_unchanged"}) ROW(1, true, "%s 0 256 4; %s 1024 %u 4; 0 256 4", a, b, n);
    }
    for (const char *b : {"ld.ca", "ld.L1::evict_first", "ld.L1::evict_last", "ld.L1::evict_unchanged", "ld.L1::no_allocate", "ld.cs", "ld.cg", "ld.lu"})
        for (const char *a : {"ld.ca", "ld.L1::evict_first", "ld.L1::evict_last", "ld.L1::evict_unchanged"}) { /* what a hit changes: the B stream is of first, normal */
            ROW(1, true, "%s 0 256 4; %s 0 256 4; ld.ca 1024 2048 4; 0 256 4", a, b);
            ROW(1, true, "%s 0 256 4; %s 0 256 4; ld.L1::evict_first 1024 2048 4; 0 256 4", a, b);
            ROW(1, true, "%s 0 256 4; %s 0 256 4; ld.L1::evict_unchanged 1024 2048 4; 0 256 4", a, b);
        }
    for (u32 n : {512, 1024, 1536, 1792, 1984, 2200}) for (const char *a : {"ld.ca", "ld.L1::evict_last", "ld.L1::evict_first", "ld.L1::evict_unchanged"}) {
        ROW(1, true, "%s 0 %u 4; 0 %u 4", a, n, n);
        ROW(1, true, "%s 0 %u 4; ld.ca 16384 2048 4; 0 %u 4", a, n, n);
        ROW(1, true, "ld.ca 16384 2048 4; %s 0 %u 4; 0 %u 4", a, n, n);
    }
    /* the L2: what is fetched */
    for (const char *a : {"ld.ca", "ld.cg", "ld.L2::64B", "ld.L2::128B", "ld.L2::256B", "ld.nc.L2::256B", "prefetch.L1", "prefetch.L2", "prefetch.L2::evict_last", "cp.async.bulk.prefetch", "cp.async.cg", "cp.async.cg.L2::64B", "cp.async.cg.L2::128B", "cp.async.cg.L2::256B", "st.wb", "st_full.wb", "red"})
        for (u32 o : {0, 1, 2, 5}) for (u32 p = 0; p < 10; p++) ROW(1, false, "%s %u 64 272; %u 64 272", a, o, p);
    /* the L2: what stays */
    static const char *const L2A[] = {"ld.cg", "ld.cs", "ld.lu", "ld.cv", "ld.L1::evict_first", "ld.L1::evict_last", "ld.L1::evict_unchanged", "ld.L1::no_allocate", "ld.nc.L1::no_allocate", "ld.hint.first", "ld.hint.last", "ld.hint.unchanged", "ld.hint.last_half", "ld.hint.last_quarter_first",
        "st_full.wb", "st_full.cs", "st_full.hint.first", "st_full.hint.last", "prefetch.L2", "prefetch.L2::evict_last", "cp.async.cg", "red"};
    for (const char *a : L2A) for (u32 mb : {2, 12}) for (u32 b : {0, 8, 24, 64}) {
        u32 lines = mb * 8192;
        if (b) ROW(1024, false, "%s 0 %u 4; ld.cg %u %u 4; 0 %u 144", a, lines, lines * 4, b * 8192, lines / 36);
        else ROW(1024, false, "%s 0 %u 4; 0 %u 144", a, lines, lines / 36);
    }
    for (const char *b : {"ld.cs", "ld.L1::no_allocate", "ld.hint.first", "ld.hint.last", "ld.hint.unchanged", "ld.hint.last_half", "st_full.wb", "st_full.cs", "prefetch.L2", "red", "cp.async.cg"}) for (const char *a : {"ld.cg", "ld.hint.last"}) for (u32 n : {16, 32, 64})
        ROW(1024, false, "%s 0 98304 4; %s 393216 %u 4; 0 2730 144", a, b, n * 8192);
    for (u32 mb : {4, 8, 16, 20, 28}) for (const char *a : {"ld.cg", "ld.hint.last", "ld.hint.first"}) for (u32 b : {0, 8, 16, 24, 32, 64}) {
        u32 lines = mb * 8192;
        if (b) ROW(1024, false, "%s 0 %u 4; ld.cg %u %u 4; 0 %u 144", a, lines, lines * 4, b * 8192, lines / 36);
        else ROW(1024, false, "%s 0 %u 4; 0 %u 144", a, lines, lines / 36);
    }
    for (const char *b : {"ld.cg", "ld.hint.normal", "ld.hint.first", "ld.hint.last", "ld.hint.unchanged", "applypriority", "discard", "st_full.wb", "prefetch.L2", "prefetch.L2::evict_last", "prefetch.L2::evict_normal"}) for (const char *a : {"ld.cg", "ld.hint.last", "ld.hint.first"}) for (u32 n : {8, 64})
        ROW(1024, false, "%s 0 32768 4; %s 0 32768 4; ld.cg 131072 %u 4; 0 910 144", a, b, n * 8192);
    FILE *f = fopen(argc > 1 ? argv[1] : "createpolicy.tsv", "w");
    policies(f);
    fclose(f);
    CK(cudaGetLastError());
}
