/* app.c - a CUDA program: `app TEST` runs one of the tests below and prints "good". $APP_FATBIN
 * specifies how its PTX is packed: plain, lz4, code (machine code only), newer (machine code, and
 * PTX for newer targets) or linked (nvcc -rdc=true, with a device library). */
#include "tests/cudart/app.h"
#include <pthread.h>
#include <signal.h>

const char stub_add[1], stub_count[1], stub_store[1], stub_say[1], stub_spin[1], stub_nop[1],
    stub_work[1], stub_countdown[1], stub_timer[1], stub_pick[1], stub_index[1], stub_relay[1],
    stub_sweep[1], stub_hold[1], stub_answer[1], stub_beat[1];
char shadow_total[8], shadow_factor[16];
int *managed_number;

static const char ptx[] =
    ".version 8.0\n.target sm_%u\n.address_size 64\n"
    ".visible .global .align 4 .u32 total;\n"
    ".visible .const .align 4 .f32 factor[4];\n"
    ".visible .global .attribute(.managed) .align 4 .u32 number = 7;\n"
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
    ".global .align 1 .b8 text[7] = {98, 108, 111, 99, 107, 10, 0};\n"
    ".visible .entry add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)\n"
    "{ .reg .pred p; .reg .b32 r<6>; .reg .f32 f<4>; .reg .b64 d<8>;\n"
    "  ld.param.u64 d1, [a]; ld.param.u64 d2, [b]; ld.param.u64 d3, [c]; ld.param.u32 r1, [n];\n"
    "  mov.u32 r2, %%ctaid.x; mov.u32 r3, %%ntid.x; mov.u32 r4, %%tid.x; mad.lo.u32 r5, r2, r3, "
    "r4;\n"
    "  setp.ge.u32 p, r5, r1; @p bra done;\n"
    "  mul.wide.u32 d4, r5, 4; add.u64 d5, d1, d4; add.u64 d6, d2, d4; add.u64 d7, d3, d4;\n"
    "  ld.global.f32 f1, [d5]; ld.global.f32 f2, [d6]; add.f32 f3, f1, f2; st.global.f32 [d7], "
    "f3;\n"
    "done: ret; }\n"
    ".visible .entry count(.param .u64 out)\n"
    "{ .reg .b32 r<6>; .reg .f32 f<2>; .reg .b64 d<8>;\n"
    "  mov.u32 r1, %%tid.x; mov.u64 d1, total; atom.global.add.u32 r2, [d1], 1;\n"
    "  and.b32 r3, r1, 3; mul.wide.u32 d2, r3, 4; mov.u64 d3, factor; add.u64 d3, d3, d2;\n"
    "  ld.const.f32 f1, [d3]; ld.param.u64 d4, [out]; mul.wide.u32 d5, r1, 4; add.u64 d4, d4, d5;\n"
    "  st.global.f32 [d4], f1; mov.u64 d6, number; atom.global.add.u32 r4, [d6], 1; ret; }\n"
    ".visible .entry store(.param .u64 to, .param .u32 value)\n"
    "{ .reg .b32 r<2>; .reg .b64 d<2>;\n"
    "  ld.param.u64 d1, [to]; ld.param.u32 r1, [value]; st.u32 [d1], r1; ret; }\n"
    ".visible .entry say()\n"
    "{ .reg .b64 d<3>; .reg .b32 r<2>; mov.u64 d1, text; cvta.global.u64 d2, d1; mov.u64 d1, 0;\n"
    "  { .param .b64 f; .param .b64 a; .param .b32 v; st.param.b64 [f], d2; st.param.b64 [a], d1;\n"
    "    call.uni (v), vprintf, (f, a); ld.param.b32 r1, [v]; } ret; }\n"
    ".extern .func cudaGraphSetConditional(.param .b64 h, .param .b32 v);\n"
    ".visible .entry countdown(.param .u64 handle, .param .u64 left)\n"
    "{ .reg .pred p; .reg .b32 r<5>; .reg .b64 d<3>;\n"
    "  ld.param.u64 d1, [handle]; ld.param.u64 d2, [left]; ld.u32 r1, [d2]; sub.u32 r1, r1, 1;\n"
    "  st.u32 [d2], r1; ld.u32 r2, [d2+4]; add.u32 r2, r2, 1; st.u32 [d2+4], r2;\n"
    "  setp.ne.u32 p, r1, 0; selp.u32 r3, 1, 0, p;\n"
    "  { .param .b64 h; .param .b32 v; st.param.b64 [h], d1; st.param.b32 [v], r3;\n"
    "    call.uni cudaGraphSetConditional, (h, v); } ret; }\n"
    ".visible .entry nop()\n"
    "{ ret; }\n"
    ".visible .entry work(.param .u32 n)\n"
    "{ .reg .pred p; .reg .b32 r<3>; ld.param.u32 r1, [n]; mov.u32 r2, 0;\n"
    "  again: add.u32 r2, r2, 1; setp.lt.u32 p, r2, r1; @p bra again; ret; }\n"
    ".visible .entry timer(.param .u64 to)\n"
    "{ .reg .b64 d<3>; ld.param.u64 d1, [to]; mov.u64 d2, %%globaltimer; st.u64 [d1], d2; ret; }\n"
    ".visible .entry pick(.param .u64 from, .param .u64 to)\n"
    "{ .reg .pred p; .reg .b32 r<2>; .reg .b64 d<3>;\n"
    "  ld.param.u64 d1, [from]; ld.param.u64 d2, [to]; ld.global.u32 r1, [d1];\n"
    "  setp.eq.u32 p, r1, 7;\n"
    "  @p st.global.u32 [d2], r1; ret; }\n"
    ".visible .entry index(.param .u64 to)\n"
    "{ .reg .b32 r<2>; .reg .b64 d<2>;\n"
    "  ld.param.u64 d1, [to]; mov.u32 r1, %%tid.x;\n"
    "  st.global.u32 [d1], r1; ret; }\n"
    ".visible .entry hold(.param .u64 from, .param .u64 to)\n"
    "{ .reg .pred p; .reg .b32 r<2>; .reg .b64 d<3>; ld.param.u64 d1, [from];\n"
    "  again: ld.volatile.u32 r1, [d1]; setp.eq.u32 p, r1, 0; @p bra again;\n"
    "  ld.param.u64 d2, [to]; st.u32 [d2], r1; ret; }\n"
    ".visible .entry spin()\n"
    "{ again: bra again; }\n"
    ".extern .func (.param .b32 e) cudaGraphLaunch(.param .b64 g, .param .b64 s);\n"
    ".func start(.param .u64 g, .param .u64 how, .param .u64 error)\n"
    "{ .reg .pred p; .reg .b32 r<2>; .reg .b64 d<4>;\n"
    "  ld.param.u64 d1, [g]; ld.param.u64 d2, [how]; ld.param.u64 d3, [error];\n"
    "  setp.eq.u64 p, d2, 0; @p ret;\n"
    "  setp.eq.u64 p, d1, 0; @p mov.u64 d1, %%current_graph_exec;\n"
    "  { .param .b32 e; .param .b64 a; .param .b64 b; st.param.b64 [a], d1; st.param.b64 [b], d2;\n"
    "    call.uni (e), cudaGraphLaunch, (a, b); ld.param.b32 r1, [e]; }\n"
    "  st.u32 [d3], r1; ret; }\n"
    ".visible .entry sweep(.param .u64 from, .param .u64 bytes, .param .u64 step, .param .u32 "
    "write)\n"
    "{ .reg .pred p, q; .reg .b32 r<10>; .reg .b64 d<8>;\n"
    "  ld.param.u64 d1, [from]; ld.param.u64 d2, [bytes]; ld.param.u64 d3, [step];\n"
    "  ld.param.u32 r1, [write]; setp.ne.u32 q, r1, 0; mov.u32 r2, %%ctaid.x; mov.u32 r3, "
    "%%ntid.x;\n"
    "  mov.u32 r4, %%tid.x; mad.lo.u32 r5, r2, r3, r4; cvt.u64.u32 d4, r5; mul.lo.u64 d4, d4, d3;\n"
    "  mov.u32 r2, %%nctaid.x; mul.lo.u32 r3, r2, r3; cvt.u64.u32 d5, r3; mul.lo.u64 d5, d5, d3;\n"
    "  mov.u32 r6, 0;\n"
    "again: setp.ge.u64 p, d4, d2; @p bra done; add.u64 d6, d1, d4; add.u64 d4, d4, d5;\n"
    "  @q st.global.v4.u32 [d6], {r1, r1, r1, r1}; @q bra again;\n"
    "  ld.global.v4.u32 {r2, r3, r4, r5}, [d6]; xor.b32 r2, r2, r3; xor.b32 r4, r4, r5;\n"
    "  add.u32 r6, r6, r2; add.u32 r6, r6, r4; bra again;\n"
    "done: setp.eq.u32 p, r6, 305419896; @p st.global.u32 [d1], r6; ret; }\n"
    ".visible .entry relay(.param .u64 list, .param .u32 value, .param .u32 most, .param .u64 g,\n"
    "  .param .u64 how, .param .u64 then, .param .u64 how_then)\n"
    "{ .reg .pred p; .reg .b32 r<5>; .reg .b64 d<8>;\n"
    "  ld.param.u64 d1, [list]; ld.param.u32 r1, [value]; ld.u32 r2, [d1]; add.u32 r2, r2, 1;\n"
    "  st.u32 [d1], r2; mul.wide.u32 d2, r2, 4; add.u64 d2, d2, d1; st.u32 [d2], r1;\n"
    "  ld.param.u32 r3, [most]; setp.ge.u32 p, r2, r3; @p ret;\n"
    "  ld.param.u64 d3, [g]; ld.param.u64 d4, [how]; add.u64 d5, d1, 120;\n"
    "  { .param .b64 a; .param .b64 b; .param .b64 c; st.param.b64 [a], d3; st.param.b64 [b], d4;\n"
    "    st.param.b64 [c], d5; call.uni start, (a, b, c); }\n"
    "  ld.param.u64 d3, [then]; ld.param.u64 d4, [how_then]; add.u64 d5, d1, 124;\n"
    "  { .param .b64 a; .param .b64 b; .param .b64 c; st.param.b64 [a], d3; st.param.b64 [b], d4;\n"
    "    st.param.b64 [c], d5; call.uni start, (a, b, c); } ret; }\n"
    ".visible .entry answer(.param .u64 box, .param .u32 rounds)\n"
    "{ .reg .pred p; .reg .b32 r<5>; .reg .b64 d<2>;\n"
    "  ld.param.u64 d1, [box]; ld.param.u32 r1, [rounds]; mov.u32 r2, 0;\n"
    "next: setp.eq.u32 p, r2, r1; @p ret; add.u32 r2, r2, 1;\n"
    "again: ld.volatile.u32 r3, [d1]; setp.ne.u32 p, r3, r2; @p bra again;\n"
    "  membar.sys; ld.volatile.u32 r4, [d1+8]; add.u32 r4, r4, r2; st.volatile.u32 [d1+8], r4;\n"
    "  membar.sys; st.volatile.u32 [d1+4], r2; bra next; }\n"
    ".visible .entry beat(.param .u64 box)\n"
    "{ .reg .pred p; .reg .b32 r<3>; .reg .b64 d<2>; ld.param.u64 d1, [box];\n"
    "again: ld.volatile.u32 r1, [d1+4]; add.u32 r1, r1, 1; st.volatile.u32 [d1+4], r1;\n"
    "  ld.volatile.u32 r2, [d1]; setp.eq.u32 p, r2, 0; @p bra again; ret; }\n";

/* ---------------------------------------------------------------- code added by nvcc */

enum { LARGE = 70000 };
static unsigned char container[65536 + LARGE];
static size_t filled;

static void put(const void *bytes, size_t n)
{
    memcpy(container + filled, bytes, n);
    filled += n;
}

static void put_number(uint64_t v, size_t n)
{
    put(&v, n);
}

/* One entry: a header of 64 bytes, and the payload. */
static void put_entry(unsigned kind, unsigned arch, uint64_t flags, const void *payload, size_t n,
                      size_t unpacked)
{
    const size_t padded = (n + 7) / 8 * 8;
    put_number(kind, 2), put_number(0x101, 2), put_number(64, 4), put_number(padded, 8);
    put_number(unpacked ? n : 0, 4), put_number(0, 4), put_number(0, 2), put_number(8, 2);
    put_number(arch, 4), put_number(0, 8), put_number(flags | 1, 8), put_number(0, 8);
    put_number(unpacked, 8);
    put(payload, n);
    put_number(0, padded - n);
}

/* An LZ4 block of literals, except for one match: the last bytes must be literals. */
static size_t lz4(const char *text, size_t n, unsigned char *to)
{
    size_t at = 0, left = n;
    to[at++] = 0xf0;
    for (left -= 15; left >= 255; left -= 255) to[at++] = 255;
    to[at++] = (unsigned char)left;
    memcpy(to + at, text, n);
    return at + n;
}

/* large: with a comment that makes the module large enough to cache (--module-cache). */
static void put_ptx(unsigned arch, const char *how)
{
    static char text[16384 + LARGE];
    static unsigned char block[16384];
    size_t n = (size_t)snprintf(text, sizeof text, ptx, arch) + 1;
    if (strcmp(how, "large") == 0)
        n += (size_t)snprintf(text + n - 1, sizeof text - n, "//%*s\n", LARGE - 8, "");
    if (strcmp(how, "lz4") == 0)
        put_entry(1, arch, 0x2000, block, lz4(text, n, block), n);
    else
        put_entry(1, arch, 0, text, n, 0);
}

static void begin_container(void)
{
    filled = 0;
    put_number(0xBA55ED50, 4), put_number(1, 2), put_number(16, 2), put_number(0, 8);
}

static void end_container(void)
{
    const uint64_t size = filled - 16;
    memcpy(container + 8, &size, sizeof size);
}

/* Like libcudadevrt: machine code, and PTX for the newest target that calls the driver. */
static unsigned char library[1024];

static void fill_library(void)
{
    static const char text[] =
        ".version 9.0\n.target sm_121\n.address_size 64\n"
        ".extern .func (.param .b32 r) cnpGetLastError;\n"
        ".visible .func (.param .b32 r) cudaGetLastError()\n"
        "{ .reg .b32 e; { .param .b32 v; call.uni (v), cnpGetLastError; ld.param.b32 e, [v]; }\n"
        "  st.param.b32 [r], e; ret; }\n";
    begin_container();
    put_entry(2, 90, 0, "\177ELF of a kind", 14, 0);
    put_entry(1, 121, 0, text, sizeof text, 0);
    end_container();
    memcpy(library, container, filled);
}

/* Machine code comes first; of the PTX, that for sm_90 is the best; that for sm_100 is too new. */
static void fill(const char *how)
{
    begin_container();
    put_entry(2, 90, 0, "\177ELF of a kind", 14, 0);
    if (strcmp(how, "newer") == 0) {
        put_entry(2, 80, 0, "\177ELF of a kind", 14, 0);
        put_entry(1, 100, 0, "no PTX", 7, 0);
        put_ptx(90, how);
        put_entry(1, 89, 0x100000, "no PTX", 7, 0);
    } else if (strcmp(how, "code") != 0) {
        put_entry(1, 75, 0, "no PTX", 7, 0);
        put_ptx(90, how);
        put_entry(1, 100, 0, "no PTX", 7, 0);
    }
    end_container();
}

static cuda_fatbin_wrapper wrapper = {0x466243B1, 1, container, NULL};
static void **handle;

static void unregister(void)
{
    __cudaUnregisterFatBinary(handle);
}

static void kernel(const char *stub, const char *name)
{
    __cudaRegisterFunction(handle, stub, (char *)(uintptr_t)name, name, -1, NULL, NULL, NULL, NULL,
                           NULL);
}

__attribute__((constructor)) static void register_all(void)
{
    const char *how = getenv("APP_FATBIN");
    static const void *const containers[] = {library, container, NULL};
    if (how && strcmp(how, "linked") == 0) {
        fill_library();
        wrapper.version = 2;
        wrapper.linked = containers;
    }
    fill(how ? how : "plain");
    handle = __cudaRegisterFatBinary(&wrapper);
    kernel(stub_add, "add");
    kernel(stub_count, "count");
    kernel(stub_store, "store");
    kernel(stub_say, "say");
    kernel(stub_spin, "spin");
    kernel(stub_hold, "hold");
    kernel(stub_relay, "relay");
    kernel(stub_sweep, "sweep");
    kernel(stub_nop, "nop");
    kernel(stub_work, "work");
    kernel(stub_countdown, "countdown");
    kernel(stub_timer, "timer");
    kernel(stub_pick, "pick");
    kernel(stub_index, "index");
    kernel(stub_answer, "answer");
    kernel(stub_beat, "beat");
    __cudaRegisterManagedVar(handle, (void **)&managed_number, NULL, "number", 0, 4, 0, 0);
    __cudaRegisterVar(handle, shadow_total, NULL, "total", 0, 4, 0, 0);
    __cudaRegisterVar(handle, shadow_factor, NULL, "factor", 0, 16, 1, 0);
    __cudaRegisterFatBinaryEnd(handle);
    atexit(unregister);
}

/* ---------------------------------------------------------------- tests */

enum { N = 1000 };

static void add_vectors(void *stream)
{
    float a[N], b[N], c[N];
    void *d[3];
    unsigned n = N;
    for (int k = 0; k < N; k++) a[k] = (float)k, b[k] = 2 * (float)k;
    for (int k = 0; k < 3; k++) EXPECT(cudaMalloc(&d[k], sizeof a), 0);
    EXPECT(cudaMemcpyAsync(d[0], a, sizeof a, COPY_H2D, stream), 0);
    EXPECT(cudaMemcpyAsync(d[1], b, sizeof b, COPY_DEFAULT, stream), 0);
    void *args[] = {&d[0], &d[1], &d[2], &n};
    EXPECT(cudaLaunchKernel(stub_add, shape(4), shape(256), args, 0, stream), 0);
    EXPECT(cudaMemcpyAsync(c, d[2], sizeof c, COPY_D2H, stream), 0);
    EXPECT(cudaStreamSynchronize(stream), 0);
    for (int k = 0; k < N; k++) EXPECT(c[k], 3 * k);
    for (int k = 0; k < 3; k++) EXPECT(cudaFree(d[k]), 0);
}

static void vectors(void)
{
    add_vectors(NULL);
}

static void symbols(void)
{
    const float factor[4] = {1.5f, 2.5f, 3.5f, 4.5f};
    float out[32];
    int total = -1;
    void *d;
    EXPECT(__cudaInitModule(handle) != 0, 1);
    EXPECT(*managed_number, 7);
    EXPECT(cudaMalloc(&d, sizeof out), 0);
    EXPECT(cudaMemcpyToSymbol(shadow_factor, factor, sizeof factor, 0, COPY_H2D), 0);
    EXPECT(cudaMemcpyToSymbol(shadow_factor, factor, 16, 4, COPY_H2D), CU_INVALID_VALUE);
    EXPECT(cudaMemcpyToSymbol(out, factor, 4, 0, COPY_H2D), CU_INVALID_SYMBOL);
    void *args[] = {&d};
    EXPECT(cudaLaunchKernel(stub_count, shape(2), shape(32), args, 0, NULL), 0);
    EXPECT(cudaMemcpy(out, d, sizeof out, COPY_D2H), 0);
    for (int k = 0; k < 32; k++) EXPECT(out[k] * 2, factor[k & 3] * 2);
    EXPECT(cudaMemcpyFromSymbol(&total, shadow_total, 4, 0, COPY_D2H), 0);
    EXPECT(total, 64);
    EXPECT(*managed_number, 71);
}

static int store_at(void *p, unsigned value)
{
    void *args[] = {&p, &value};
    return cudaLaunchKernel(stub_store, shape(1), shape(1), args, 0, NULL);
}

/* A kernel writes constants through the address that the host has queried. */
static void constants_written(void)
{
    const float factor[4] = {1.5f, 2.5f, 3.5f, 4.5f};
    const unsigned two = 0x40000000;
    float out[32];
    void *d, *at;
    EXPECT(cudaMalloc(&d, sizeof out), 0);
    EXPECT(cudaMemcpyToSymbol(shadow_factor, factor, sizeof factor, 0, COPY_H2D), 0);
    EXPECT(cudaGetSymbolAddress(&at, shadow_factor), 0);
    EXPECT(store_at((char *)at + 8, two), 0);
    void *args[] = {&d};
    EXPECT(cudaLaunchKernel(stub_count, shape(2), shape(32), args, 0, NULL), 0);
    EXPECT(cudaMemcpy(out, d, sizeof out, COPY_D2H), 0);
    for (int k = 0; k < 32; k++) EXPECT(out[k] * 2, 2 * ((k & 3) == 2 ? 2 : factor[k & 3]));
}

static void memory(void)
{
    unsigned *pinned, *managed, rows[3][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}},
                                back[12];
    void *d;
    size_t pitch;
    cuda_pointer_attributes a;
    EXPECT(cudaHostAlloc((void **)&pinned, 64, 0), 0);
    EXPECT(cudaMallocManaged((void **)&managed, 64, 1), 0);
    EXPECT(store_at(pinned + 3, 33), 0);
    EXPECT(store_at(managed + 4, 44), 0);
    EXPECT(cudaDeviceSynchronize(), 0);
    EXPECT(pinned[3], 33);
    EXPECT(managed[4], 44);
    EXPECT(cudaPointerGetAttributes(&a, pinned + 1), 0);
    EXPECT(a.type, MEMORY_HOST);
    EXPECT(cudaPointerGetAttributes(&a, managed), 0);
    EXPECT(a.type, MEMORY_MANAGED);
    EXPECT(cudaPointerGetAttributes(&a, back), 0);
    EXPECT(a.type, MEMORY_UNREGISTERED);
    EXPECT(cudaMallocPitch(&d, &pitch, 16, 3), 0);
    EXPECT(pitch, 512);
    EXPECT(cudaMemcpy2D(d, pitch, rows, 16, 16, 3, COPY_H2D), 0);
    EXPECT(cudaMemset2D((char *)d + 4, pitch, 0xff, 8, 2), 0);
    EXPECT(cudaMemcpy2D(back, 16, d, pitch, 16, 3, COPY_D2H), 0);
    EXPECT(back[4], 5);
    EXPECT(back[5], 0xffffffffu);
    EXPECT(back[7], 8);
    EXPECT(back[9], 10);
    EXPECT(cudaMemcpy2D(d, 8, rows, 16, 16, 3, COPY_H2D), CU_INVALID_PITCH);
    EXPECT(cudaFree((char *)d + 1), CU_INVALID_VALUE);
    EXPECT(cudaFree(d), 0);
    EXPECT(cudaFree(d), CU_INVALID_VALUE);
    EXPECT(cudaMalloc(&d, (size_t)1 << 40), CU_MEMORY_ALLOCATION);
    EXPECT(cudaMalloc(&d, 0), 0);
    EXPECT(d == NULL, 1);
    EXPECT(cudaFreeHost(pinned), 0);
    EXPECT(cudaFreeHost(back), CU_INVALID_VALUE);
    EXPECT(cudaFree(managed), 0);
    EXPECT(cudaFree(NULL), 0);
}

static void unexpected(void *unused)
{
    (void)unused;
    printf("a host function ran after an error\n");
    exit(1);
}

int cuCtxCreate_v4(void **out, void *params, unsigned flags, int device);

int cuDevicePrimaryCtxRetain(void **out, int device);
int cuCtxGetDevice(int *device);
int cuCtxGetFlags(unsigned *flags);
int cuMemAlloc_v2(uint64_t *out, size_t bytes);
int cudaEventCreateWithFlags(void **event, unsigned flags);
int cudaMallocArray(void **array, const cuda_channel *channel, size_t width, size_t height,
                    unsigned flags);
int cudaFuncGetAttributes(cuda_func_attributes *out, const void *function);
int cudaDeviceGetStreamPriorityRange(int *least, int *greatest);
int cudaGraphAddEmptyNode(void **out, void *graph, void *const *before, size_t nbefore);
int cudaGraphClone(void **out, void *graph);
int cudaSetDevice(int device);
int cudaGetDevice(int *device);

/* After a sticky error, some calls report their invalid argument instead, as on an H100. */
static void arguments_after_error(void)
{
    const cuda_channel floats = {.x = 32, .kind = 2};
    cuda_func_attributes attributes;
    void *p;
    size_t pitch;
    int least, greatest;
    EXPECT(cudaMalloc(NULL, 4), CU_INVALID_VALUE);
    EXPECT(cudaMalloc(&p, 0), 0);
    EXPECT(cudaMallocPitch(NULL, &pitch, 4, 4), CU_INVALID_VALUE);
    EXPECT(cudaMallocManaged(&p, 4, 9), CU_INVALID_VALUE);
    EXPECT(cudaMallocManaged(&p, 4, 1), CU_ILLEGAL_ADDRESS);
    EXPECT(cudaEventCreateWithFlags(&p, 64), CU_INVALID_VALUE);
    EXPECT(cudaEventCreateWithFlags(&p, 0), CU_ILLEGAL_ADDRESS);
    EXPECT(cudaEventQuery(NULL), CU_INVALID_HANDLE);
    EXPECT(cudaFuncGetAttributes(&attributes, shadow_total), CU_INVALID_HANDLE);
    EXPECT(cudaFuncGetAttributes(&attributes, stub_spin), CU_ILLEGAL_ADDRESS);
    EXPECT(cudaGetSymbolAddress(&p, &attributes), CU_INVALID_SYMBOL);
    EXPECT(cudaMemcpy(&least, &greatest, 4, 9), CU_INVALID_DIRECTION);
    EXPECT(cudaMemcpy(&least, &greatest, 4, COPY_H2H), CU_ILLEGAL_ADDRESS);
    EXPECT(cudaMemcpy2D(NULL, 4, NULL, 4, 8, 2, COPY_H2H), CU_INVALID_PITCH);
    EXPECT(cudaMemcpy2D(NULL, 8, NULL, 8, 8, 2, COPY_H2H), CU_ILLEGAL_ADDRESS);
    EXPECT(cudaMallocArray(&p, &floats, 0, 0, 0), CU_INVALID_VALUE);
    EXPECT(cudaMallocArray(&p, &floats, 4, 0, 0), CU_ILLEGAL_ADDRESS);
    EXPECT(cudaDeviceGetDefaultMemPool(&p, 0), 0);
    EXPECT(cudaDeviceGetStreamPriorityRange(&least, &greatest), CU_ILLEGAL_ADDRESS);
    /* Graphs are data of the host until they are instantiated. */
    void *graph, *node, *clone, *exec;
    EXPECT(cudaGraphCreate(&graph, 0), 0);
    EXPECT(cudaGraphAddEmptyNode(&node, graph, NULL, 0), 0);
    EXPECT(cudaGraphClone(&clone, graph), 0);
    EXPECT(cudaGraphInstantiate(&exec, graph, 0), CU_ILLEGAL_ADDRESS);
    EXPECT(cudaGraphDestroy(graph), 0);
    EXPECT(cudaMemset(&least, 0, 0), 0);
    EXPECT(cudaMemset(&least, 0, 4), CU_ILLEGAL_ADDRESS);
}

static void errors(void)
{
    enum { UNAVAILABLE = 46 };
    void *d;
    int device;
    unsigned flags;
    uint64_t address;
    void *event;
    cudaGetLastError();
    EXPECT(cudaLaunchKernel(stub_spin, shape(1), shape(2048), NULL, 0, NULL), CU_INVALID_VALUE);
    EXPECT(cudaPeekAtLastError(), CU_INVALID_VALUE);
    EXPECT(cudaGetLastError(), CU_INVALID_VALUE);
    EXPECT(cudaGetLastError(), 0);
    EXPECT(cudaLaunchKernel(shadow_total, shape(1), shape(1), NULL, 0, NULL), CU_INVALID_HANDLE);
    EXPECT(cudaLaunchKernel(NULL, shape(1), shape(1), NULL, 0, NULL), CU_INVALID_FUNCTION);
    EXPECT(cudaGraphicsMapResources(0, NULL, NULL), CU_NOT_SUPPORTED);
    EXPECT(cudaGraphicsMapResources(0, NULL, NULL), CU_NOT_SUPPORTED);
    cudaGetLastError();
    EXPECT(cudaEventCreateWithFlags(&event, 0), 0);
    EXPECT(store_at((void *)16, 1), 0);
    EXPECT(cudaGetLastError(), 0);
    /* Until the driver knows of the error, calls that do not wait succeed, and nothing runs. */
    EXPECT(cudaLaunchHostFunc(NULL, unexpected, NULL), 0);
    EXPECT(store_at((void *)16, 1), 0);
    EXPECT(cudaEventRecord(event, NULL), 0);
    EXPECT(cudaEventQuery(event), CU_NOT_READY);
    EXPECT(cudaStreamQuery(NULL), CU_NOT_READY);
    EXPECT(cudaMalloc(&d, 4), 0);
    EXPECT(cudaGetLastError(), 0);
    EXPECT(cudaFree(d), CU_ILLEGAL_ADDRESS); /* waits */
    EXPECT(cudaEventQuery(event), CU_ILLEGAL_ADDRESS);
    EXPECT(cudaMemsetAsync(d, 0, 4, NULL), CU_ILLEGAL_ADDRESS);
    EXPECT(cudaDeviceSynchronize(), CU_ILLEGAL_ADDRESS);
    EXPECT(cudaLaunchHostFunc(NULL, unexpected, NULL), CU_ILLEGAL_ADDRESS);
    EXPECT(cudaGetLastError(), CU_ILLEGAL_ADDRESS);
    EXPECT(cudaGetLastError(), 0);
    EXPECT(cudaMalloc(&d, 4), CU_ILLEGAL_ADDRESS);
    arguments_after_error();
    EXPECT(cuCtxCreate_v4(&d, NULL, 0, 0), CU_ILLEGAL_ADDRESS);
    EXPECT(cuDevicePrimaryCtxRetain(&d, 0), 0); /* it exists */
    EXPECT(cuCtxGetDevice(&device), 0);
    EXPECT(cuCtxGetFlags(&flags), 0);
    EXPECT(cuMemAlloc_v2(&address, 4), CU_ILLEGAL_ADDRESS);
    EXPECT(strcmp(cudaGetErrorName(CU_ILLEGAL_ADDRESS), "cudaErrorIllegalAddress"), 0);
    /* No context can be created: the runtime has an error of its own (H100). */
    EXPECT(cudaDeviceReset(), 0);
    EXPECT(cuDevicePrimaryCtxRetain(&d, 0), CU_ILLEGAL_ADDRESS);
    EXPECT(cuCtxCreate_v4(&d, NULL, 0, 0), CU_ILLEGAL_ADDRESS);
    EXPECT(cudaMalloc(&d, 4), UNAVAILABLE);
    EXPECT(cudaSetDevice(0), UNAVAILABLE);
    EXPECT(cudaGetDevice(&device), 0);
    EXPECT(cudaGraphCreate(&d, 0), UNAVAILABLE);
}

/* A store to host memory through its plain pointer. */
static void host_pointer(void)
{
    int *h = malloc(400), *d;
    EXPECT(cudaMalloc((void **)&d, 400), 0);
    EXPECT(store_at(h, 1), 0);
    EXPECT(cudaDeviceSynchronize(), CU_ILLEGAL_ADDRESS);
    free(h);
}

/* A store past the end of an allocation. */
static void past_end(void)
{
    char *d;
    EXPECT(cudaMalloc((void **)&d, 400), 0);
    EXPECT(store_at(d + 400, 1), 0);
    EXPECT(cudaDeviceSynchronize(), CU_ILLEGAL_ADDRESS);
}

/* The same with --bounds page; the next page is out of bounds. */
static void past_end_in_page(void)
{
    char *d, *e, value = 0;
    EXPECT(cudaMalloc((void **)&d, 400), 0);
    EXPECT(cudaMalloc((void **)&e, 400), 0);
    EXPECT(store_at(d + 400, 1), 0);
    EXPECT(store_at(d - 4, 1), 0);
    EXPECT(cudaDeviceSynchronize(), 0);
    EXPECT(cudaMemcpy(&value, d + 400, 1, COPY_D2H), 0);
    EXPECT(value, 1);
    EXPECT(cudaFree(d), 0);
    EXPECT(store_at(e + (2 << 20), 1), 0);
    EXPECT(cudaDeviceSynchronize(), CU_ILLEGAL_ADDRESS);
}

/* The same in a program that does not terminate normally. */
static void past_end_killed(void)
{
    past_end();
    raise(SIGKILL);
}

/* Only the device can access device memory. */
static void host_reads_device_memory(void)
{
    volatile int *d;
    EXPECT(cudaMalloc((void **)(uintptr_t)&d, 4), 0);
    printf("%d\n", *d);
}

int cudaDeviceSetLimit(int limit, size_t value);

int cuModuleLoadData(void **out, const void *image);
int cuModuleGetFunction(void **out, void *m, const char *name);
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void *stream, void **params, void **extra);

/* printf("%.*d\n", 3, 7): the device does not know such a precision (H100). */
static void print_with_precision(void)
{
    static const char text[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
        ".global .align 1 .b8 text[6] = {37, 46, 42, 100, 10, 0};\n"
        ".visible .entry k() { .local .align 8 .b8 n[8]; .reg .b64 d<3>; .reg .b32 r<2>;\n"
        "mov.u64 d1, n; cvta.local.u64 d1, d1; mov.u32 r1, 3; st.u32 [d1], r1; mov.u32 r1, 7;\n"
        "st.u32 [d1+4], r1; mov.u64 d2, text; cvta.global.u64 d2, d2;\n"
        "{ .param .b64 f; .param .b64 a; .param .b32 v; st.param.b64 [f], d2;\n"
        "st.param.b64 [a], d1; call.uni (v), vprintf, (f, a); ld.param.b32 r1, [v]; } ret; }\n";
    void *m, *f;
    EXPECT(cuModuleLoadData(&m, text), 0);
    EXPECT(cuModuleGetFunction(&f, m, "k"), 0);
    EXPECT(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), 0);
    EXPECT(cudaDeviceSynchronize(), 0);
}

/* The buffer of printf keeps its size once kernels have used it. */
static void printing(void)
{
    enum { FIFO = 1 };
    EXPECT(cudaDeviceSetLimit(FIFO, 1 << 20), 0);
    printf("host\n");
    EXPECT(cudaLaunchKernel(stub_say, shape(2), shape(1), NULL, 0, NULL), 0);
    printf("launched\n");
    EXPECT(cudaDeviceSynchronize(), 0);
    EXPECT(cudaDeviceSetLimit(FIFO, 2 << 20), CU_INVALID_VALUE);
    print_with_precision();
    printf("host again\n");
}

static void in_host_function(void *arg)
{
    ++*(int *)arg;
}

static void streams(void)
{
    void *s, *from, *to;
    int calls = 0;
    float ms = -1;
    EXPECT(cudaStreamCreate(&s), 0);
    EXPECT(cudaEventCreate(&from), 0);
    EXPECT(cudaEventCreate(&to), 0);
    EXPECT(cudaEventElapsedTime(&ms, from, to), CU_INVALID_HANDLE);
    EXPECT(cudaEventRecord(from, s), 0);
    add_vectors(s);
    EXPECT(cudaLaunchHostFunc(s, in_host_function, &calls), 0);
    EXPECT(cudaEventRecord(to, s), 0);
    EXPECT(cudaStreamSynchronize(s), 0);
    EXPECT(calls, 1);
    EXPECT(cudaEventElapsedTime(&ms, from, to), 0);
    EXPECT(ms >= 0, 1);
    EXPECT(cudaStreamDestroy(s), 0);
    EXPECT(cudaStreamSynchronize(s), CU_INVALID_HANDLE);
}

/* Two streams that fork and join, captured; then launched twice. */
static void capture(void)
{
    void *a, *b, *parts, *meets, *graph, *exec, *stray;
    unsigned *p, *q, one = 1, two = 2;
    size_t n = 0;
    int status;
    EXPECT(cudaHostAlloc((void **)&p, 64, 0), 0);
    q = p + 1;
    EXPECT(cudaStreamCreate(&a), 0);
    EXPECT(cudaStreamCreate(&b), 0);
    EXPECT(cudaEventCreate(&parts), 0);
    EXPECT(cudaEventCreate(&meets), 0);
    EXPECT(cudaStreamBeginCapture(NULL, 0), 900);
    EXPECT(cudaStreamBeginCapture(a, 0), 0);
    void *first[] = {&p, &one}, *second[] = {&q, &two};
    EXPECT(cudaLaunchKernel(stub_store, shape(1), shape(1), first, 0, a), 0);
    EXPECT(cudaEventRecord(parts, a), 0);
    EXPECT(cudaStreamWaitEvent(b, parts, 0), 0);
    EXPECT(cudaLaunchKernel(stub_store, shape(1), shape(1), second, 0, b), 0);
    EXPECT(cudaStreamIsCapturing(b, &status), 0);
    EXPECT(status, 1);
    EXPECT(cudaEventRecord(meets, b), 0);
    EXPECT(cudaStreamWaitEvent(a, meets, 0), 0);
    EXPECT(cudaLaunchKernel(stub_store, shape(1), shape(1), first, 0, a), 0);
    EXPECT(cudaStreamEndCapture(a, &graph), 0);
    EXPECT(p[0] + p[1], 0); /* nothing has been executed */
    EXPECT(cudaGraphGetNodes(graph, NULL, &n), 0);
    EXPECT(n, 3);
    EXPECT(cudaGraphInstantiate(&exec, graph, 0), 0);
    EXPECT(cudaGraphDestroy(graph), 0);
    for (int k = 0; k < 2; k++) {
        p[0] = p[1] = 0;
        EXPECT(cudaGraphLaunch(exec, a), 0);
        EXPECT(cudaStreamSynchronize(a), 0);
        EXPECT(p[0] + 16 * p[1], 1 + 16 * 2);
    }
    EXPECT(cudaGraphExecDestroy(exec), 0);
    EXPECT(cudaGraphLaunch(exec, a), CU_INVALID_VALUE);
    EXPECT(cudaStreamBeginCapture(a, 0), 0);
    EXPECT(cudaStreamSynchronize(a), 900);
    EXPECT(cudaLaunchKernel(stub_store, shape(1), shape(1), first, 0, a), 901);
    EXPECT(cudaStreamEndCapture(a, &stray), 901);
    EXPECT(stray == NULL, 1);
    EXPECT(cudaStreamSynchronize(a), 0);
    EXPECT(cudaStreamBeginCapture(a, 0), 0);
    EXPECT(cudaEventRecord(parts, a), 0);
    EXPECT(cudaStreamWaitEvent(b, parts, 0), 0);
    EXPECT(cudaLaunchKernel(stub_store, shape(1), shape(1), second, 0, b), 0);
    EXPECT(cudaStreamEndCapture(a, &stray), 904);
}

/* store, then a copy, then a host function; the parameters of the first one are changed. */
static void graph(void)
{
    kernel_params kernel = {.function = stub_store, .grid = shape(1), .block = shape(1)};
    struct {
        void (*fn)(void *);
        void *arg;
    } host_params = {in_host_function, NULL};
    unsigned value = 11, copied = 0;
    int calls = 0;
    size_t n = 0;
    void *d, *g, *exec, *node[3];
    EXPECT(cudaMallocAsync(&d, 4, NULL), 0);
    void *args[] = {&d, &value};
    kernel.args = args;
    host_params.arg = &calls;
    EXPECT(cudaGraphCreate(&g, 0), 0);
    EXPECT(cudaGraphAddHostNode(&node[2], g, NULL, 0, &host_params), 0);
    EXPECT(cudaGraphAddMemcpyNode1D(&node[1], g, NULL, 0, &copied, d, 4, COPY_D2H), 0);
    EXPECT(cudaGraphAddKernelNode(&node[0], g, NULL, 0, &kernel), 0);
    EXPECT(cudaGraphAddDependencies(g, node, node + 1, NULL, 2), 0);
    EXPECT(cudaGraphGetEdges(g, NULL, NULL, NULL, &n), 0);
    EXPECT(n, 2);
    value = 12; /* the node keeps its original argument */
    EXPECT(cudaGraphInstantiate(&exec, g, 0), 0);
    EXPECT(cudaGraphLaunch(exec, NULL), 0);
    EXPECT(cudaStreamSynchronize(NULL), 0);
    EXPECT(copied + 16 * (unsigned)calls, 11 + 16);
    EXPECT(cudaGraphExecKernelNodeSetParams(exec, node[0], &kernel), 0);
    EXPECT(cudaGraphLaunch(exec, NULL), 0);
    EXPECT(cudaStreamSynchronize(NULL), 0);
    EXPECT(copied + 16 * (unsigned)calls, 12 + 32);
    EXPECT(cudaGraphAddDependencies(g, node + 2, node, NULL, 1), 0);
    EXPECT(cudaGraphInstantiate(&exec, g, 0), CU_INVALID_VALUE); /* a cycle */
    EXPECT(cudaFreeAsync(d, NULL), 0);
    EXPECT(cudaFreeAsync(d, NULL), CU_INVALID_VALUE);
}

static void pool(void)
{
    void *d, *p;
    uint64_t used = 1, reserved = 1;
    EXPECT(cudaDeviceGetDefaultMemPool(&p, 0), 0);
    EXPECT(cudaMallocAsync(&d, 1000, NULL), 0);
    EXPECT(cudaMemPoolGetAttribute(p, 7, &used), 0);
    EXPECT(used, 1000);
    EXPECT(cudaFreeAsync(d, NULL), 0);
    EXPECT(cudaMemPoolGetAttribute(p, 7, &used), 0);
    EXPECT(used, 0);
    EXPECT(cudaMemPoolGetAttribute(p, 8, &used), 0);
    EXPECT(used, 1000);
    EXPECT(cudaMemPoolTrimTo(p, 0), 0); /* the host has not waited for the release */
    EXPECT(cudaMemPoolGetAttribute(p, 5, &reserved), 0);
    EXPECT(reserved > 0, true);
    EXPECT(cudaStreamSynchronize(NULL), 0);
    EXPECT(cudaMemPoolTrimTo(p, 0), 0);
    EXPECT(cudaMemPoolGetAttribute(p, 5, &reserved), 0);
    EXPECT(reserved, 0);
}

int cudaDeviceSetCacheConfig(int config);
int cudaDeviceGetCacheConfig(int *config);

/* Variables have their initial values again; earlier pointers are invalid. */
static void reset(void)
{
    int total = 5, config = 1;
    void *d;
    EXPECT(cudaMalloc(&d, 4), 0);
    EXPECT(cudaMemcpyToSymbol(shadow_total, &total, 4, 0, COPY_H2D), 0);
    *managed_number = 12;
    EXPECT(cudaDeviceSetCacheConfig(config), 0);
    EXPECT(cudaDeviceReset(), 0);
    EXPECT(cudaDeviceGetCacheConfig(&config), 0);
    EXPECT(config, 0);
    EXPECT(cudaMemcpyFromSymbol(&total, shadow_total, 4, 0, COPY_D2H), 0);
    EXPECT(total, 0);
    EXPECT(*managed_number, 12); /* managed variables keep their values */
    EXPECT(cudaFree(d), CU_INVALID_VALUE);
}

static void *in_thread(void *arg)
{
    (void)arg;
    for (int k = 0; k < 20; k++) add_vectors((void *)(uintptr_t)2);
    return NULL;
}

static void threads(void)
{
    pthread_t t[4];
    for (int k = 0; k < 4; k++) EXPECT(pthread_create(&t[k], NULL, in_thread, NULL), 0);
    for (int k = 0; k < 4; k++) EXPECT(pthread_join(t[k], NULL), 0);
}

static void spin(void)
{
    EXPECT(cudaLaunchKernel(stub_spin, shape(1), shape(1), NULL, 0, NULL), 0);
    EXPECT(cudaDeviceSynchronize(), 702);
}

static void no_image(void)
{
    void *d;
    EXPECT(cudaMalloc(&d, 4), 0);
    EXPECT(cudaLaunchKernel(stub_spin, shape(1), shape(1), NULL, 0, NULL), CU_NO_IMAGE);
}

static void device(void)
{
    cuda_prop_13 p;
    int n = 0;
    EXPECT(cudaGetDeviceCount(&n), 0);
    EXPECT(n, 1);
    EXPECT(cudaGetDeviceProperties(&p, 0), 0);
    EXPECT(cudaGetDeviceProperties(&p, 1), CU_INVALID_DEVICE);
    printf("%s, %d.%d, %d SMs, %zu bytes\n", p.name, p.major, p.minor, p.sms, p.memory);
}

static const struct {
    const char *name;
    void (*run)(void);
} test[] = {
    {"vectors", vectors},
    {"symbols", symbols},
    {"constants_written", constants_written},
    {"memory", memory},
    {"errors", errors},
    {"host_pointer", host_pointer},
    {"past_end_in_page", past_end_in_page},
    {"past_end", past_end},
    {"past_end_killed", past_end_killed},
    {"host_reads_device_memory", host_reads_device_memory},
    {"undefined", undefined},
    {"undefined_output", undefined_output},
    {"undefined_ended", undefined_ended},
    {"undefined_exits", undefined_exits},
    {"undefined_left", undefined_left},
    {"undefined_alarm", undefined_alarm},
    {"undefined_copy", undefined_copy},
    {"refused_calls", refused_calls},
    {"undefined_texels", undefined_texels},
    {"stream_early", stream_early},
    {"stream_late", stream_late},
    {"stream_race", stream_race},
    {"variable_race", variable_race},
    {"array_race", array_race},
    {"set_race", set_race},
    {"copy_race", copy_race},
    {"graph_race", graph_race},
    {"dependent_race", dependent_race},
    {"leak", leak},
    {"managed_race", managed_race},
    {"exits_before_barrier", exits_before_barrier},
    {"managed_unwritten", managed_unwritten},
    {"host_race", host_race},
    {"host_function_race", host_function_race},
    {"misaligned", misaligned},
    {"printing", printing},
    {"streams", streams},
    {"threads", threads},
    {"capture", capture},
    {"graph", graph},
    {"pool", pool},
    {"clock", clock_},
    {"reset", reset},
    {"spin", spin},
    {"no_image", no_image},
    {"device", device},
    {"overlap", overlap},
    {"polling", polling},
    {"waiting", waiting},
    {"waiting_beyond_budget", waiting_beyond_budget},
    {"global_timer", global_timer},
    {"profiler", profiler},
    {"host_clock", host_clock},
    {"priorities", priorities},
    {"equal_launches", equal_launches},
    {"transfers", transfers},
    {"managed_pages", managed_pages},
    {"managed_written", managed_written},
    {"managed_shared_block", managed_shared_block},
    {"managed_touched", managed_touched},
    {"managed_order", managed_order},
    {"mapped_memory", mapped_memory},
    {"ranges", ranges},
    {"graph_memory", graph_memory},
    {"graph_memory_concurrent", graph_memory_concurrent},
    {"graph_captured_memory", graph_captured_memory},
    {"graph_condition", graph_condition},
    {"graph_object", graph_object},
    {"graph_block", graph_block},
    {"graphs_of_kernels", graphs_of_kernels},
    {"graphs_of_kernels_refused", graphs_of_kernels_refused},
    {"graph_in_capture", graph_in_capture},
    {"graph_edges", graph_edges},
    {"estimated_traffic", estimated_traffic},
    {"graph_rules", graph_rules},
    {"graph_capture_into", graph_capture_into},
    {"capture_rules", capture_rules},
    {"link", link_ptx},
    {"grid_barrier", grid_barrier},
    {"batched_calls", batched_calls},
    {"driver_copies", driver_copies},
    {"driver_contexts", driver_contexts},
    {"contexts_of_handles", contexts_of_handles},
    {"stream_values", stream_values},
    {"values_of_kernels", values_of_kernels},
    {"values_of_host", values_of_host},
    {"values_of_mailboxes", values_of_mailboxes},
    {"host_function_waits", host_function_waits},
    {"host_functions_later", host_functions_later},
    {"graph_function_waits", graph_function_waits},
    {"values_of_threads", values_of_threads},
    {"values_in_graphs", values_in_graphs},
    {"values_on_the_clock", values_on_the_clock},
    {"values_never", values_never},
    {"kernel_waits", kernel_waits},
    {"kernel_waits_on_device", kernel_waits_on_device},
    {"kernel_waits_in_graph", kernel_waits_in_graph},
    {"kernel_waits_for_thread", kernel_waits_for_thread},
    {"kernel_runs_for_long", kernel_runs_for_long},
    {"kernel_on_the_clock", kernel_on_the_clock},
    {"kernel_left_waiting", kernel_left_waiting},
    {"values_late", values_late},
    {"kernels_wait", kernels_wait},
    {"graph_waits_for_event", graph_waits_for_event},
    {"kernel_waits_for_ever", kernel_waits_for_ever},
    {"first_versions", first_versions},
    {"export_tables", export_tables},
    {"advice", advice},
    {"stream_attributes", stream_attributes},
    {"deferred_work", deferred_work},
    {"refused", refused},
    {"graphs_refused", graphs_refused},
    {"virtual_memory", virtual_memory},
    {"ipc", ipc},
    {"pool_ipc", pool_ipc},
    {"forked", forked},
    {"oversubscribed", oversubscribed},
    {"registered", registered},
    {"driver_array", driver_array},
    {"texture_references", texture_references},
    {"unbound_reference", unbound_reference},
    {"texture_past_end", texture_past_end},
    {"texture_past_end_in_page", texture_past_end_in_page},
    {"normalised_coordinates", normalised_coordinates},
    {"old_properties", old_properties},
    {"green", green},
    {"node_updates", node_updates},
    {"error_names", error_names},
    {"occupancy", occupancy},
    {"tensor_maps", tensor_maps},
    {"context_flags", context_flags},
    {"as_recorded", as_recorded},
    {"set_launches", set_launches},
    {"asserts", asserts},
    {"devices", devices},
    {"peers", peers},
    {"peer_variables", peer_variables},
    {"device_pools", device_pools},
    {"device_contexts", device_contexts},
    {"device_attributes", device_attributes},
    {"peer_transfers", peer_transfers},
};

int main(int argc, char **argv)
{
    for (size_t k = 0; argc == 2 && k < sizeof test / sizeof *test; k++) {
        if (strcmp(test[k].name, argv[1]) != 0) continue;
        test[k].run();
        printf("good\n");
        return getenv("APP_STATUS") ? atoi(getenv("APP_STATUS")) : 5;
    }
    printf("app TEST\n");
    return 1;
}
