/* app_check.c - programs with one error each for checkers; with $APP_FIXED it is fixed. */
#include "tests/cudart/app.h"
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

int cudaMallocArray(void **out, const cuda_channel *channel, size_t width, size_t height,
                    unsigned flags);
int cudaFreeArray(void *a);
int cudaMemcpy2DToArray(void *to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                        size_t height, int kind);
int cudaMemcpy2DFromArray(void *to, size_t pitch, void *from, size_t x, size_t y, size_t width,
                          size_t height, int kind);

int cudaMemcpy2DToArrayAsync(void *to, size_t x, size_t y, const void *from, size_t pitch,
                             size_t width, size_t height, int kind, void *stream);
int cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, void *from, size_t x, size_t y, size_t width,
                               size_t height, int kind, void *stream);
int cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes, size_t offset,
                            int kind, void *stream);

int cuModuleLoadData(void **out, const void *image);
int cuModuleGetFunction(void **out, void *module, const char *name);
int cuLaunchKernelEx(const void *config, void *function, void **params, void **extra);

enum { WORDS = 64 };

static bool is_fixed(void)
{
    return getenv("APP_FIXED") != NULL;
}

static void *allocated(size_t bytes)
{
    void *p;
    EXPECT(cudaMalloc(&p, bytes), 0);
    return p;
}

/* Uninitialised memory is copied, and a kernel reads the copy. */
void undefined(void)
{
    void *p = allocated(4 * WORDS), *q = allocated(4 * WORDS), *r = allocated(4);
    if (is_fixed()) EXPECT(cudaMemset(p, 0, 4 * WORDS), 0);
    EXPECT(cudaMemcpy(q, p, 4 * WORDS, COPY_D2D), 0);
    void *args[] = {&q, &r};
    EXPECT(cudaLaunchKernel(stub_pick, shape(1), shape(1), args, 0, NULL), 0);
    EXPECT(cudaDeviceSynchronize(), 0);
}

/* A kernel adds it, and the host reads the sum. */
void undefined_output(void)
{
    float h[WORDS] = {0};
    void *p = allocated(sizeof h), *q = allocated(sizeof h);
    unsigned n = WORDS;
    EXPECT(cudaMemcpy(p, h, is_fixed() ? sizeof h : sizeof h / 2, COPY_H2D), 0);
    void *args[] = {&p, &p, &q, &n};
    EXPECT(cudaLaunchKernel(stub_add, shape(1), shape(WORDS), args, 0, NULL), 0);
    EXPECT(cudaMemcpy(h, q, sizeof h, COPY_D2H), 0);
}

/* The same, and then the signal number $APP_SIGNAL is raised. The test's parent may ignore it. */
void undefined_ended(void)
{
    const int number = atoi(getenv("APP_SIGNAL"));
    signal(number, SIG_DFL);
    undefined_output();
    raise(number);
}

static _Noreturn void end_by(const char *function, int status)
{
    if (strcmp(function, "_exit") == 0) _exit(status);
    if (strcmp(function, "_Exit") == 0) _Exit(status);
    if (strcmp(function, "quick_exit") == 0) quick_exit(status);
    if (strcmp(function, "exit") == 0) exit(status);
    abort();
}

static void say_bye(void)
{
    printf("bye\n");
    fflush(stdout);
}

/* The same, and the program exits through the function $APP_EXIT; a process that it forks does
 * so first. */
void undefined_exits(void)
{
    at_quick_exit(say_bye);
    undefined_output();
    if (fork() == 0) _exit(0);
    end_by(getenv("APP_EXIT"), 3 * is_fixed());
}

static void *end_soon(void *unused)
{
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    end_by(getenv("APP_EXIT"), 6);
    return unused;
}

/* Another thread exits the program while a kernel runs that never terminates. */
void undefined_left(void)
{
    pthread_t thread;
    undefined_output();
    EXPECT(pthread_create(&thread, NULL, end_soon, NULL), 0);
    (void)cudaLaunchKernel(stub_spin, shape(1), shape(1), NULL, 0, NULL);
    pause();
}

static void end_now(int unused)
{
    (void)unused;
    end_by(getenv("APP_EXIT"), 6);
}

/* A handler does, during a launch. */
void undefined_alarm(void)
{
    undefined_output();
    signal(SIGALRM, end_now);
    alarm(1);
    (void)cudaLaunchKernel(stub_spin, shape(1), shape(1), NULL, 0, NULL);
}

/* The host reads it. */
void undefined_copy(void)
{
    unsigned h[WORDS];
    char *p = allocated(2 * sizeof h);
    EXPECT(cudaMemset(p, 0, is_fixed() ? 2 * sizeof h : sizeof h + sizeof h / 2), 0);
    EXPECT(cudaMemcpy(h, p + sizeof h, sizeof h, COPY_D2H), 0);
}

/* Calls with addresses or sizes that the allocation does not have. */
void refused_calls(void)
{
    unsigned h[WORDS + 1] = {0};
    const size_t bytes = is_fixed() ? 4 * WORDS : 4 * WORDS + 4;
    const int result = is_fixed() ? 0 : 1;
    char *p = allocated(4 * WORDS);
    EXPECT(cudaMemset(p, 0, bytes), result);
    EXPECT(cudaMemcpy(p, h, bytes, COPY_H2D), result);
    if (is_fixed()) EXPECT(cudaMemcpy(h, p, bytes, COPY_D2H), 0);
    if (!is_fixed()) EXPECT(cudaFree(p + 8), 1);
    EXPECT(cudaFree(p), 0);
    if (!is_fixed()) EXPECT(cudaFree(p), 1);
    if (!is_fixed()) EXPECT(cudaMemcpy(h, p, 4, COPY_D2H), 1);
}

static void *streams[2];

static void make_streams(void)
{
    for (int k = 0; k < 2; k++) EXPECT(cudaStreamCreate(&streams[k]), 0);
}

static void pass_on(int from, int to)
{
    void *event;
    if (!is_fixed()) return;
    EXPECT(cudaEventCreate(&event), 0);
    EXPECT(cudaEventRecord(event, streams[from]), 0);
    EXPECT(cudaStreamWaitEvent(streams[to], event, 0), 0);
}

static void *pooled(void)
{
    void *p;
    make_streams();
    EXPECT(cudaMallocAsync(&p, 256, streams[0]), 0);
    return p;
}

static void write_to(void *p, void *stream)
{
    void *args[] = {&p};
    EXPECT(cudaLaunchKernel(stub_index, shape(1), shape(1), args, 0, stream), 0);
}

/* The host reads texels, after an unrelated kernel. */
void undefined_texels(void)
{
    const cuda_channel format = {.x = 32, .kind = 1};
    unsigned h[2][8];
    void *a;
    EXPECT(cudaMallocArray(&a, &format, 8, 2, 0), 0);
    memset(h, 0, sizeof h);
    write_to(allocated(4), NULL);
    const size_t rows = is_fixed() ? 2 : 1;
    EXPECT(cudaMemcpy2DToArray(a, 0, 0, h, sizeof *h, sizeof *h, rows, COPY_H2D), 0);
    EXPECT(cudaMemcpy2DFromArray(h, sizeof *h, a, 0, 0, sizeof *h, 2, COPY_D2H), 0);
    EXPECT(cudaFreeArray(a), 0);
}

/* A kernel writes a word at an address that is not a multiple of four. */
void misaligned(void)
{
    write_to((char *)allocated(4) + 1, NULL);
    EXPECT(cudaDeviceSynchronize(), 716);
}

/* A kernel and a memset in a stream that does not wait for the allocation in another one. */
void stream_early(void)
{
    char *p = pooled();
    pass_on(0, 1);
    write_to(p + 4, streams[1]);
    EXPECT(cudaMemsetAsync(p, 0, 4, streams[1]), 0);
    EXPECT(cudaStreamSynchronize(streams[1]), 0);
    EXPECT(cudaFreeAsync(p, streams[0]), 0);
}

/* The allocation is freed in a stream that does not wait for the kernel. */
void stream_late(void)
{
    void *p = pooled();
    EXPECT(cudaStreamSynchronize(streams[0]), 0);
    write_to(p, streams[1]);
    pass_on(1, 0);
    EXPECT(cudaFreeAsync(p, streams[0]), 0);
    EXPECT(cudaDeviceSynchronize(), 0);
}

/* A kernel writes memory that a memset in another stream writes, too. */
static void race(void *p)
{
    write_to(p, streams[0]);
    pass_on(0, 1);
    EXPECT(cudaMemsetAsync(p, 1, 4, streams[1]), 0);
}

void stream_race(void)
{
    void *p = allocated(256);
    make_streams();
    race(p);
    EXPECT(cudaDeviceSynchronize(), 0);
}

/* A kernel increments a variable, and a copy in another stream resets it. */
void variable_race(void)
{
    const unsigned none = 0;
    void *p = allocated(4), *args[] = {&p};
    make_streams();
    EXPECT(cudaLaunchKernel(stub_count, shape(1), shape(1), args, 0, streams[0]), 0);
    pass_on(0, 1);
    EXPECT(cudaMemcpyToSymbolAsync(shadow_total, &none, 4, 0, COPY_H2D, streams[1]), 0);
    EXPECT(cudaDeviceSynchronize(), 0);
}

/* Rows of an array are written in one stream and read in another one. */
void array_race(void)
{
    const cuda_channel format = {.x = 32, .kind = 1};
    unsigned h[4][8] = {{0}}, out[4][8];
    void *a;
    EXPECT(cudaMallocArray(&a, &format, 8, 4, 0), 0);
    EXPECT(cudaMemcpy2DToArray(a, 0, 0, h, sizeof *h, sizeof *h, 4, COPY_H2D), 0);
    make_streams();
    EXPECT(cudaMemcpy2DToArrayAsync(a, 0, 0, h, sizeof *h, sizeof *h, 2, COPY_H2D, streams[0]), 0);
    EXPECT(
        cudaMemcpy2DFromArrayAsync(out, sizeof *out, a, 0, 2, sizeof *out, 2, COPY_D2H, streams[1]),
        0); /* other rows */
    pass_on(0, 1);
    EXPECT(
        cudaMemcpy2DFromArrayAsync(out, sizeof *out, a, 0, 1, sizeof *out, 2, COPY_D2H, streams[1]),
        0);
    EXPECT(cudaDeviceSynchronize(), 0);
    EXPECT(cudaFreeArray(a), 0);
}

/* A stream does not wait for the legacy stream. The host does, for a memset of managed memory. */
void set_race(void)
{
    void *p = allocated(4), *stream;
    if (is_fixed()) EXPECT(cudaMallocManaged(&p, 4, 1), 0);
    EXPECT(cudaStreamCreateWithFlags(&stream, 1), 0);
    EXPECT(cudaMemset(p, 0, 4), 0);
    write_to(p, stream);
    EXPECT(cudaDeviceSynchronize(), 0);
}

/* The host does not wait for a copy within device memory either. */
void copy_race(void)
{
    void *p = allocated(4), *from = allocated(4), *stream;
    EXPECT(cudaStreamCreateWithFlags(&stream, 1), 0);
    EXPECT(cudaMemset(from, 0, 4), 0);
    EXPECT(cudaMemcpy(p, from, 4, COPY_D2D), 0);
    if (is_fixed()) EXPECT(cudaDeviceSynchronize(), 0);
    write_to(p, stream);
    EXPECT(cudaDeviceSynchronize(), 0);
}

/* A kernel writes what a set in another branch of a graph writes, too. */
void graph_race(void)
{
    void *p = allocated(256), *fork, *end, *graph, *exec;
    make_streams();
    EXPECT(cudaEventCreate(&fork), 0);
    EXPECT(cudaEventCreate(&end), 0);
    EXPECT(cudaStreamBeginCapture(streams[0], 0), 0);
    EXPECT(cudaEventRecord(fork, streams[0]), 0);
    EXPECT(cudaStreamWaitEvent(streams[1], fork, 0), 0);
    race(p);
    EXPECT(cudaEventRecord(end, streams[1]), 0);
    EXPECT(cudaStreamWaitEvent(streams[0], end, 0), 0);
    EXPECT(cudaStreamEndCapture(streams[0], &graph), 0);
    EXPECT(cudaGraphInstantiate(&exec, graph, 0), 0);
    for (int k = 0; k < 2; k++) EXPECT(cudaGraphLaunch(exec, streams[0]), 0);
    EXPECT(cudaStreamSynchronize(streams[0]), 0);
}

/* The second kernel begins while the first one runs, and reads what that writes. Also in a graph.
 */
void dependent_race(void)
{
    static const char text[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry first(.param .u64 p)\n"
        "{ .reg .b64 %d; ld.param.u64 %d, [p]; griddepcontrol.launch_dependents;\n"
        "  st.global.u32 [%d], 1; ret; }\n"
        ".visible .entry second(.param .u64 p, .param .u32 wait)\n"
        "{ .reg .pred %q; .reg .b32 %r<2>; .reg .b64 %d;\n"
        "  ld.param.u64 %d, [p]; ld.param.u32 %r1, [wait]; setp.ne.u32 %q, %r1, 0;\n"
        "  @%q griddepcontrol.wait;\n"
        "  ld.global.u32 %r1, [%d];\n"
        "  st.global.u32 [%d+4], %r1; ret; }\n";
    enum { SERIALIZATION = 6 };
    cuda_launch_attribute a = {.id = SERIALIZATION, .value.number = 1};
    void *p = allocated(8), *m, *first, *second, *stream, *graph, *exec, *args[2] = {&p};
    unsigned wait = is_fixed();
    struct {
        unsigned grid[3], block[3], shared;
        void *stream;
        const cuda_launch_attribute *attribute;
        unsigned attributes;
    } config = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .attribute = &a};
    args[1] = &wait;
    EXPECT(cuModuleLoadData(&m, text), 0);
    EXPECT(cuModuleGetFunction(&first, m, "first"), 0);
    EXPECT(cuModuleGetFunction(&second, m, "second"), 0);
    EXPECT(cudaStreamCreate(&stream), 0);
    for (int captured = 0; captured < 2; captured++) {
        config.stream = captured ? stream : NULL;
        config.attributes = 0;
        if (captured) EXPECT(cudaStreamBeginCapture(stream, 0), 0);
        EXPECT(cuLaunchKernelEx(&config, first, args, NULL), 0);
        config.attributes = 1;
        EXPECT(cuLaunchKernelEx(&config, second, args, NULL), 0);
        if (captured) EXPECT(cudaStreamEndCapture(stream, &graph), 0);
        if (captured) EXPECT(cudaGraphInstantiate(&exec, graph, 0), 0);
        if (captured) EXPECT(cudaGraphLaunch(exec, stream), 0);
        EXPECT(cudaDeviceSynchronize(), 0);
    }
}

void leak(void)
{
    void *p = allocated(1000), *q;
    EXPECT(cudaMallocAsync(&q, 24, NULL), 0);
    EXPECT(cudaFreeAsync(q, NULL), 0);
    if (is_fixed()) EXPECT(cudaFree(p), 0);
}

/* Threads of two blocks write to managed memory. */
/* A kernel reads managed memory. The host has written zeros to it, or nothing. */
void managed_unwritten(void)
{
    unsigned *p, *q;
    EXPECT(cudaMallocManaged((void **)&p, 4, 1), 0);
    EXPECT(cudaMallocManaged((void **)&q, 4, 1), 0);
    if (is_fixed()) *(volatile unsigned *)p = 0;
    void *args[] = {&p, &q};
    EXPECT(cudaLaunchKernel(stub_pick, shape(1), shape(1), args, 0, NULL), 0);
    EXPECT(cudaDeviceSynchronize(), 0);
}

/* The host reads managed memory that a kernel writes, and writes pinned memory that a copy reads.
 */
void host_race(void)
{
    volatile unsigned *p, *h;
    void *d = allocated(4 * WORDS), *s = NULL;
    EXPECT(cudaMallocManaged((void **)(uintptr_t)&p, 4, 1), 0);
    EXPECT(cudaHostAlloc((void **)(uintptr_t)&h, 4 * WORDS, 0), 0);
    EXPECT(cudaStreamCreate(&s), 0);
    p[0] = h[0] = 7;
    void *args[] = {(void *)(uintptr_t)&p};
    EXPECT(cudaLaunchKernel(stub_index, shape(1), shape(1), args, 0, NULL), 0);
    if (is_fixed()) EXPECT(cudaDeviceSynchronize(), 0);
    EXPECT(p[0], 0);
    EXPECT(cudaMemcpyAsync(d, (const void *)(uintptr_t)h, 4 * WORDS, COPY_H2D, s), 0);
    EXPECT(h[0], 7); /* no race */
    if (is_fixed()) EXPECT(cudaStreamSynchronize(s), 0);
    h[WORDS - 1] = 1;
    EXPECT(cudaDeviceSynchronize(), 0);
    h[0] = 2;
}

static void read_word(void *p)
{
    const volatile unsigned *word = p;
    EXPECT(*word, 0);
}

/* A function of the host runs in another stream than the kernel. */
void host_function_race(void)
{
    void *p, *first, *second;
    EXPECT(cudaMallocManaged(&p, 4, 1), 0);
    EXPECT(cudaStreamCreateWithFlags(&first, 1), 0);
    EXPECT(cudaStreamCreateWithFlags(&second, 1), 0);
    void *args[] = {&p};
    EXPECT(cudaLaunchKernel(stub_index, shape(1), shape(1), args, 0, first), 0);
    EXPECT(cudaLaunchHostFunc(is_fixed() ? first : second, read_word, p), 0);
    EXPECT(cudaDeviceSynchronize(), 0);
}

void managed_race(void)
{
    void *p;
    EXPECT(cudaMallocManaged(&p, 4, 1), 0);
    void *args[] = {&p};
    EXPECT(cudaLaunchKernel(stub_index, shape(1), shape(is_fixed() ? 1 : 32), args, 0, NULL), 0);
    EXPECT(cudaDeviceSynchronize(), 0);
}

/* Some lanes of a warp exit, the others update a sum, and a barrier orders that before the read. */
void exits_before_barrier(void)
{
    static const char text[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 to)\n"
        "{ .reg .pred first, out; .reg .b32 t, s, v; .reg .b64 d; .shared .u32 sum;\n"
        "  mov.u32 t, %tid.x; setp.ne.u32 first, t, 0; mov.u32 s, sum;\n"
        "  @!first st.shared.u32 [s], 0; bar.sync 0; setp.ge.u32 out, t, 40; @out ret;\n"
        "  atom.shared.add.u32 v, [s], 1; bar.sync 0; @first ret;\n"
        "  ld.shared.u32 v, [s]; ld.param.u64 d, [to]; st.global.u32 [d], v; ret; }\n";
    unsigned value = 0;
    void *m, *f, *p;
    app_driver();
    EXPECT(cudaMalloc(&p, 4), 0);
    EXPECT(cuModuleLoadData(&m, text), 0);
    EXPECT(cuModuleGetFunction(&f, m, "k"), 0);
    void *args[] = {&p};
    EXPECT(cudaLaunchKernel(f, shape(1), shape(96), args, 0, NULL), 0);
    EXPECT(cudaMemcpy(&value, p, 4, COPY_D2H), 0);
    EXPECT(value, 40);
}
