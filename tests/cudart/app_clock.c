/* app_clock.c - tests of the application's clock. Those without another machine in their name
 * use the machine with round numbers (toy): calls cost the host nothing, an event and the start of
 * an operation take 1 us, copies run at 1 GB/s. */
#include "tests/cudart/app.h"
#include <inttypes.h>
#include <math.h>
#include <sys/time.h>
#include <time.h>

/* The application's clock, on the machine with round numbers: 1 us for an event and for the
 * start of a copy, 1 GB/s from pinned memory; copies of two streams are serialised. */
void clock_(void)
{
    enum { BYTES = 1000000 };
    void *d, *pinned, *s[2], *e[3];
    float ms;
    EXPECT(cudaMalloc(&d, 2 * BYTES), 0);
    EXPECT(cudaHostAlloc(&pinned, 2 * BYTES, 0), 0);
    for (int k = 0; k < 2; k++) EXPECT(cudaStreamCreate(&s[k]), 0);
    for (int k = 0; k < 3; k++) EXPECT(cudaEventCreate(&e[k]), 0);
    EXPECT(cudaEventRecord(e[0], s[0]), 0);
    EXPECT(cudaEventRecord(e[1], s[0]), 0);
    EXPECT(cudaEventElapsedTime(&ms, e[0], e[1]), CU_NOT_READY);
    EXPECT(cudaDeviceSynchronize(), 0);
    EXPECT(cudaEventElapsedTime(&ms, e[0], e[1]), 0);
    EXPECT(ms * 1e6f + 0.5f, 1000);
    EXPECT(cudaEventRecord(e[0], s[0]), 0);
    EXPECT(cudaMemcpyAsync(d, pinned, BYTES, COPY_H2D, s[0]), 0);
    EXPECT(cudaEventRecord(e[1], s[0]), 0);
    EXPECT(cudaMemcpyAsync((char *)d + BYTES, pinned, BYTES, COPY_H2D, s[1]), 0);
    EXPECT(cudaEventRecord(e[2], s[1]), 0);
    EXPECT(cudaDeviceSynchronize(), 0);
    EXPECT(cudaEventElapsedTime(&ms, e[0], e[1]), 0);
    EXPECT(ms * 1e3f + 0.5f, 1 + 1000 + 1);
    EXPECT(cudaEventElapsedTime(&ms, e[0], e[2]), 0);
    EXPECT(ms * 1e3f + 0.5f, 1 + 1000 + 1 + 1000 + 1);
}

int cudaProfilerStart(void);
int cudaProfilerStop(void);

/* %globaltimer is the clock of the events. */
void global_timer(void)
{
    void *d, *pinned, *e[2], *p[2];
    uint64_t t[2];
    float ms;
    EXPECT(cudaMalloc(&d, 1000000), 0);
    EXPECT(cudaHostAlloc(&pinned, 1000000, 0), 0);
    for (int k = 0; k < 2; k++) {
        EXPECT(cudaEventCreate(&e[k]), 0);
        EXPECT(cudaMalloc(&p[k], 8), 0);
    }
    for (int k = 0; k < 2; k++) {
        void *args[] = {&p[k]};
        EXPECT(cudaEventRecord(e[k], NULL), 0);
        EXPECT(cudaLaunchKernel(stub_timer, shape(1), shape(1), args, 0, NULL), 0);
        EXPECT(cudaMemcpyAsync(d, pinned, 1000000, COPY_H2D, NULL), 0);
    }
    for (int k = 0; k < 2; k++) EXPECT(cudaMemcpy(&t[k], p[k], 8, COPY_D2H), 0);
    EXPECT(cudaEventElapsedTime(&ms, e[0], e[1]), 0);
    EXPECT(fabs((double)ms * 1e6 - (double)(t[1] - t[0])) <= 100, 1); /* ms is a float */
    EXPECT(t[1] - t[0] > 1000000, 1);
}

/* One launch before the profiler is started, two while it runs, one after it has been stopped.
 * */
void profiler(void)
{
    for (int k = 0; k < 4; k++) {
        if (k == 1) EXPECT(cudaProfilerStart(), 0);
        if (k == 3) EXPECT(cudaProfilerStop(), 0);
        EXPECT(cudaLaunchKernel(stub_nop, shape(1), shape(1), NULL, 0, NULL), 0);
    }
}

static double clock_ms(clockid_t id)
{
    struct timespec t;
    EXPECT(clock_gettime(id, &t), 0);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static double day_ms(void)
{
    struct timeval t;
    EXPECT(gettimeofday(&t, NULL), 0);
    return (double)t.tv_sec * 1e3 + (double)t.tv_usec * 1e-3;
}

/* --host-clock model: a copy that takes 1 s on the modelled machine, and hardly any time to
 * emulate. */
void host_clock(void)
{
    enum { ALL = 4000000, TIMES = 250 };
    void *d, *pinned;
    EXPECT(cudaMalloc(&d, ALL), 0);
    EXPECT(cudaHostAlloc(&pinned, ALL, 0), 0);
    const double monotonic = clock_ms(CLOCK_MONOTONIC), day = day_ms();
    const time_t seconds = time(NULL);
    double last = monotonic;
    for (int k = 0; k < TIMES; k++) {
        EXPECT(cudaMemcpyAsync(d, pinned, ALL, COPY_H2D, NULL), 0);
        EXPECT(clock_ms(CLOCK_MONOTONIC) >= last, 1);
        last = clock_ms(CLOCK_MONOTONIC);
    }
    EXPECT(cudaDeviceSynchronize(), 0);
    EXPECT(clock_ms(CLOCK_MONOTONIC) - monotonic >= TIMES * 4, 1);
    EXPECT(day_ms() - day >= TIMES * 4, 1);
    EXPECT(time(NULL) > seconds, 1);
}

float app_between(void *stream, void (*work)(void *ctx, void *stream), void *ctx)
{
    void *e[2];
    float ms;
    for (int k = 0; k < 2; k++) EXPECT(cudaEventCreate(&e[k]), 0);
    EXPECT(cudaEventRecord(e[0], stream), 0);
    work(ctx, stream);
    EXPECT(cudaEventRecord(e[1], stream), 0);
    EXPECT(cudaEventSynchronize(e[1]), 0);
    EXPECT(cudaEventElapsedTime(&ms, e[0], e[1]), 0);
    return ms * 1e3f;
}

enum { BYTES = 1000000 };

typedef struct buffers {
    char *device, *pinned;
    void *other, *done; /* a stream and an event */
    void *graph;
} buffers;

static void both_ways(void *ctx, void *stream)
{
    const buffers *b = ctx;
    EXPECT(cudaMemcpyAsync(b->device, b->pinned, BYTES, COPY_H2D, stream), 0);
    EXPECT(cudaMemcpyAsync(b->pinned + BYTES, b->device + BYTES, BYTES, COPY_D2H, b->other), 0);
    EXPECT(cudaEventRecord(b->done, b->other), 0);
    EXPECT(cudaStreamWaitEvent(stream, b->done, 0), 0);
}

static void one_way(void *ctx, void *stream)
{
    const buffers *b = ctx;
    EXPECT(cudaMemcpyAsync(b->device, b->pinned, BYTES, COPY_H2D, stream), 0);
    EXPECT(cudaMemcpyAsync(b->device + BYTES, b->pinned + BYTES, BYTES, COPY_H2D, b->other), 0);
    EXPECT(cudaEventRecord(b->done, b->other), 0);
    EXPECT(cudaStreamWaitEvent(stream, b->done, 0), 0);
}

static void launch_graph(void *ctx, void *stream)
{
    EXPECT(cudaGraphLaunch(((const buffers *)ctx)->graph, stream), 0);
}

static void *copy_graph(const buffers *b, bool chain)
{
    void *g, *exec, *node[2];
    EXPECT(cudaGraphCreate(&g, 0), 0);
    EXPECT(cudaGraphAddMemcpyNode1D(&node[0], g, NULL, 0, b->device, b->pinned, BYTES, COPY_H2D),
           0);
    EXPECT(cudaGraphAddMemcpyNode1D(&node[1], g, node, chain, b->pinned + BYTES, b->device + BYTES,
                                    BYTES, COPY_D2H),
           0);
    EXPECT(cudaGraphInstantiate(&exec, g, 0), 0);
    return exec;
}

/* Copies in the two directions run concurrently, in streams as in a graph; those in one
 * direction do not. A separate stream is not part of the default stream. */
void overlap(void)
{
    buffers b;
    void *s;
    EXPECT(cudaMalloc((void **)&b.device, 2 * BYTES), 0);
    EXPECT(cudaHostAlloc((void **)&b.pinned, 2 * BYTES, 0), 0);
    EXPECT(cudaStreamCreate(&s), 0);
    EXPECT(cudaStreamCreateWithFlags(&b.other, 1), 0);
    EXPECT(cudaEventCreate(&b.done), 0);
    EXPECT(lroundf(app_between(s, both_ways, &b)), 1001 + 1);
    EXPECT(cudaDeviceSynchronize(), 0);
    EXPECT(lroundf(app_between(s, one_way, &b)), 2002 + 2);
    b.graph = copy_graph(&b, false);
    EXPECT(lroundf(app_between(s, launch_graph, &b)), 1 + 1001 + 1);
    b.graph = copy_graph(&b, true);
    EXPECT(lroundf(app_between(s, launch_graph, &b)), 1 + 2002 + 1);
}

/* A query returns "not ready" until the time has been reached, and eventually completes. */
void polling(void)
{
    void *d, *pinned, *s, *e;
    int n = 0;
    EXPECT(cudaMalloc(&d, BYTES), 0);
    EXPECT(cudaHostAlloc(&pinned, BYTES, 0), 0);
    EXPECT(cudaStreamCreate(&s), 0);
    EXPECT(cudaEventCreate(&e), 0);
    EXPECT(cudaEventQuery(e), 0);
    EXPECT(cudaEventRecord(e, s), 0);
    EXPECT(cudaEventQuery(e), 0); /* no operation preceded it */
    EXPECT(cudaMemcpyAsync(d, pinned, BYTES, COPY_H2D, s), 0);
    EXPECT(cudaEventRecord(e, s), 0);
    EXPECT(cudaStreamQuery(s), CU_NOT_READY);
    while (cudaEventQuery(e) == CU_NOT_READY) n++;
    EXPECT(n > 10, 1);
    EXPECT(cudaStreamQuery(s), 0);
    EXPECT(cudaGetLastError(), 0);
}

int cuModuleLoadData(void **out, const void *image);
int cuModuleGetFunction(void **out, void *m, const char *name);
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void *stream, void **params, void **extra);

static void wait_by_clock(void *f, void *stream)
{
    EXPECT(cuLaunchKernel(f, 64, 1, 1, 256, 1, 1, 0, stream, NULL, NULL), 0);
}

/* A kernel that waits for 100,000,000 cycles takes 100 ms (1000 MHz) in all of four launches.
 * tolerance: us by which they may differ. */
static void wait_four_times(float tolerance)
{
    static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                               ".visible .entry wait()\n"
                               "{ .reg .b64 t<3>; .reg .pred p; mov.u64 t0, %clock64;\n"
                               "again: mov.u64 t1, %clock64; sub.u64 t1, t1, t0;\n"
                               "  setp.lt.u64 p, t1, 100000000; @p bra again; ret; }\n";
    void *m, *f;
    float ms = 0, first = 0;
    app_driver();
    EXPECT(cuModuleLoadData(&m, text), 0);
    EXPECT(cuModuleGetFunction(&f, m, "wait"), 0);
    for (int k = 0; k < 4; k++) {
        ms = app_between(NULL, wait_by_clock, f);
        EXPECT(ms >= 100e3f && ms < 110e3f, 1);
        if (!k) first = ms;
        EXPECT(fabsf(ms - first) < tolerance, 1);
    }
}

/* Without the timing model, also when its results are those of an earlier launch. */
void waiting(void)
{
    wait_four_times(1);
}

/* When the budget of the timing model expires during a launch. */
void waiting_beyond_budget(void)
{
    wait_four_times(1e3f);
}

static void work(void *ctx, void *stream)
{
    void *args[] = {ctx};
    EXPECT(cudaLaunchKernel(stub_work, shape(1), shape(32), args, 0, stream), 0);
}

int cudaStreamCreateWithPriority(void **stream, unsigned flags, int priority);

/* Two blocks of 256 threads fill the machine. */
static void waves(unsigned n, void *stream)
{
    unsigned loops = 100000;
    void *args[] = {&loops};
    EXPECT(cudaLaunchKernel(stub_work, shape(2 * n), shape(256), args, 0, stream), 0);
}

int cudaLaunchKernelExC(const cuda_launch_config *c, const void *function, void **args);

static void half_a_wave(void *stream)
{
    unsigned loops = 100000;
    void *args[] = {&loops};
    EXPECT(cudaLaunchKernel(stub_work, shape(1), shape(256), args, 0, stream), 0);
}

/* A kernel without priority, one of a stream with priority, one with its own priority, one
 * captured by a stream with priority, and one with priority that takes half of the machine.
 * */
static void put_wave(int how, void *const s[2])
{
    unsigned loops = 100000;
    void *args[] = {&loops}, *graph, *exec;
    cuda_launch_attribute a = {.id = ATTRIBUTE_PRIORITY};
    const cuda_launch_config c = {
        .grid = shape(2), .block = shape(256), .stream = s[0], .attribute = &a, .attributes = 1};
    const int priority = -1;
    memcpy(&a.value, &priority, sizeof priority);
    if (how < 2) waves(1, s[how]);
    if (how == 2) EXPECT(cudaLaunchKernelExC(&c, stub_work, args), 0);
    if (how == 4) half_a_wave(s[1]);
    if (how != 3) return;
    EXPECT(cudaStreamBeginCapture(s[1], 2), 0);
    waves(1, s[1]);
    EXPECT(cudaStreamEndCapture(s[1], &graph), 0);
    EXPECT(cudaGraphInstantiate(&exec, graph, 0), 0);
    EXPECT(cudaGraphLaunch(exec, s[0]), 0);
}

static void one_wave(void *ctx, void *stream)
{
    waves(*(unsigned *)ctx, stream);
}

static double ms_between(void *from, void *to)
{
    float ms;
    EXPECT(cudaEventElapsedTime(&ms, from, to), 0);
    return (double)ms;
}

static void expect_near(double is, double expected)
{
    if (fabs(is - expected) > 1e-3 * expected) printf("%g, not %g\n", is, expected);
    EXPECT(fabs(is - expected) <= 1e-3 * expected, 1);
}

/* Kernels that take half of the machine: those of two streams run concurrently, also if all of
 * one stream are issued first. */
static void side_by_side(void *const s[2], double alone)
{
    enum { TIMES = 4 };
    void *from, *to[2];
    EXPECT(cudaDeviceSynchronize(), 0);
    EXPECT(cudaEventCreate(&from), 0);
    EXPECT(cudaEventRecord(from, s[0]), 0);
    EXPECT(cudaStreamWaitEvent(s[1], from, 0), 0);
    for (int k = 0; k < 2; k++) {
        EXPECT(cudaEventCreate(&to[k]), 0);
        for (int i = 0; i < TIMES; i++) half_a_wave(s[k]);
        EXPECT(cudaEventRecord(to[k], s[k]), 0);
    }
    EXPECT(cudaDeviceSynchronize(), 0);
    for (int k = 0; k < 2; k++) expect_near(ms_between(from, to[k]), TIMES * alone + 1e-3);
}

/* A kernel runs before those of another stream not reached yet, and those end later. One
 * of higher priority runs between the waves of a started one, which ends later by a whole
 * wave; one of the same priority waits for its end. As on an H200
 * (tests/data/micro/managed.tsv). */
void priorities(void)
{
    void *low, *other[2], *copies, *e[4], *device, *pinned;
    unsigned one = 1, four = 4;
    EXPECT(cudaMalloc(&device, BYTES), 0);
    EXPECT(cudaHostAlloc(&pinned, BYTES, 0), 0);
    EXPECT(cudaStreamCreateWithPriority(&low, 1, 0), 0);
    EXPECT(cudaStreamCreateWithPriority(&other[0], 1, 0), 0);
    EXPECT(cudaStreamCreateWithPriority(&other[1], 1, -1), 0);
    EXPECT(cudaStreamCreateWithPriority(&copies, 1, 0), 0);
    for (int k = 0; k < 4; k++) EXPECT(cudaEventCreate(&e[k]), 0);
    const double alone = (double)app_between(low, one_wave, &one) * 1e-3 - 1e-3,
                 long_one = (double)app_between(low, one_wave, &four) * 1e-3 - 1e-3;
    for (int how = 0; how < 5; how++) {
        const bool high = how > 0;
        void *const s = other[how == 1 || how == 4];
        EXPECT(cudaDeviceSynchronize(), 0);
        EXPECT(cudaEventRecord(e[0], copies), 0);
        EXPECT(cudaStreamWaitEvent(s, e[0], 0), 0);
        EXPECT(cudaStreamWaitEvent(low, e[0], 0), 0);
        waves(1, low);
        EXPECT(cudaMemcpyAsync(device, pinned, 1, COPY_H2D, copies), 0); /* until low has started */
        EXPECT(cudaEventRecord(e[3], copies), 0);
        EXPECT(cudaStreamWaitEvent(s, e[3], 0), 0);
        for (int k = 0; k < 3; k++) waves(1, low);
        EXPECT(cudaEventRecord(e[1], low), 0);
        put_wave(how, other);
        EXPECT(cudaEventRecord(e[2], s), 0);
        EXPECT(cudaDeviceSynchronize(), 0);
        expect_near(ms_between(e[0], e[1]), 5 * alone + 1e-3);
        expect_near(ms_between(e[0], e[2]), 2 * alone + 1e-3);

        EXPECT(cudaEventRecord(e[0], copies), 0);
        EXPECT(cudaStreamWaitEvent(low, e[0], 0), 0);
        waves(4, low);
        EXPECT(cudaEventRecord(e[1], low), 0);
        EXPECT(cudaMemcpyAsync(device, pinned, BYTES / 2, COPY_H2D, copies), 0);
        EXPECT(cudaEventRecord(e[3], copies), 0);
        EXPECT(cudaStreamWaitEvent(s, e[3], 0), 0);
        put_wave(how, other);
        EXPECT(cudaEventRecord(e[2], s), 0);
        EXPECT(cudaDeviceSynchronize(), 0);
        const double wave = long_one / 4, begin = ceil(0.501 / wave) * wave;
        EXPECT(begin < long_one - wave / 2, 1);
        expect_near(ms_between(e[0], e[1]), long_one + (high ? alone : 0) + 1e-3);
        expect_near(ms_between(e[0], e[2]), (high ? begin : long_one) + alone + 1e-3);
    }
    side_by_side((void *[]){low, other[0]}, alone);
}

/* With --timing first=1 later launches take the time of the first one, and more if they execute
 * more instructions. */
void equal_launches(void)
{
    unsigned n = 1000, more = 4000;
    const float first = app_between(NULL, work, &n), again = app_between(NULL, work, &n),
                third = app_between(NULL, work, &n), larger = app_between(NULL, work, &more);
    EXPECT(first == again && again == third, 1);
    EXPECT(larger > 2.5f * first && larger < 4 * first, 1);
}

/* ---------------------------------------------------------------- recordings of an H100 */

typedef struct transfer {
    buffers *b;
    size_t n;
    char *pageable;
    void *stream;
} transfer;

static void empty_kernels(void *ctx, void *stream)
{
    const transfer *t = ctx;
    for (size_t k = 0; k < t->n; k++)
        EXPECT(cudaLaunchKernel(stub_nop, shape(1), shape(32), NULL, 0, stream), 0);
}

#define COPY(name, to, from, kind)                                                                 \
    static void name(void *ctx, void *stream)                                                      \
    {                                                                                              \
        const transfer *t = ctx;                                                                   \
        EXPECT(cudaMemcpyAsync(to, from, t->n, kind, stream), 0);                                  \
    }
COPY(to_device, t->b->device, t->b->pinned, COPY_H2D)
COPY(from_device, t->b->pinned, t->b->device, COPY_D2H)
COPY(pageable_to_device, t->b->device, t->pageable, COPY_H2D)
COPY(pageable_from_device, t->pageable, t->b->device, COPY_D2H)
COPY(within, t->b->device, t->b->device + (64 << 20), COPY_D2D)

static void nothing(void *ctx, void *stream)
{
    (void)ctx, (void)stream;
}

static void set(void *ctx, void *stream)
{
    const transfer *t = ctx;
    EXPECT(cudaMemsetAsync(t->b->device, 1, t->n, stream), 0);
}

static void *kernels_in_a_row(size_t n)
{
    kernel_params params = {.function = stub_nop, .grid = shape(1), .block = shape(32)};
    void *g, *exec, *node[64];
    EXPECT(cudaGraphCreate(&g, 0), 0);
    for (size_t k = 0; k < n; k++)
        EXPECT(cudaGraphAddKernelNode(&node[k], g, k ? &node[k - 1] : NULL, k > 0, &params), 0);
    EXPECT(cudaGraphInstantiate(&exec, g, 0), 0);
    return exec;
}

static void graph_in_a_row(void *ctx, void *stream)
{
    const transfer *t = ctx;
    EXPECT(cudaGraphLaunch(t->b->graph, stream), 0);
}

static const struct {
    const char *name;
    void (*work)(void *ctx, void *stream);
} recorded[] = {
    {"events nothing", nothing},
    {"events empty kernels", empty_kernels},
    {"events graph of empty kernels in a row", graph_in_a_row},
    {"events h2d pinned", to_device},
    {"events d2h pinned", from_device},
    {"events h2d pageable", pageable_to_device},
    {"events d2h pageable", pageable_from_device},
    {"events d2d", within},
    {"events set", set},
};
enum { KINDS = sizeof recorded / sizeof *recorded };

row_errors app_compare_rows(size_t most, row_time *time, void *ctx)
{
    char line[256], name[200];
    double us, sum = 0;
    size_t n;
    row_errors e = {.rows = 0};
    FILE *f = fopen(getenv("APP_TRANSFERS"), "r");
    EXPECT(f != NULL, 1);
    while (fgets(line, sizeof line, f)) {
        if (sscanf(line, "%199[^\t]\t%zu\t%lf", name, &n, &us) != 3 || n > most) continue;
        const double got = time(ctx, name, n);
        if (got < 0) continue;
        const double error = fabs(got / us - 1);
        if (error > 0.3) printf("%s %zu: %.0f %%\n", name, n, 100 * error);
        e.worst = fmax(e.worst, error);
        sum += error;
        e.rows++;
    }
    fclose(f);
    e.mean = sum / (double)e.rows;
    return e;
}

static double transfer_time(void *ctx, const char *name, size_t n)
{
    transfer *t = ctx;
    t->n = n;
    for (int k = 0; k < KINDS; k++) {
        if (strcmp(name, recorded[k].name) != 0) continue;
        if (recorded[k].work == graph_in_a_row) t->b->graph = kernels_in_a_row(n);
        return app_between(t->stream, recorded[k].work, t);
    }
    return -1;
}

/* $APP_TRANSFERS is tests/data/micro/transfers.tsv, the machine is the H100: within 10 % on
 * average, and none off by more than 30 %. */
void transfers(void)
{
    enum { MOST = 64 << 20 };
    buffers b;
    transfer t = {.b = &b};
    EXPECT(cudaMalloc((void **)&b.device, 2 * MOST), 0);
    EXPECT(cudaHostAlloc((void **)&b.pinned, MOST, 0), 0);
    EXPECT(cudaStreamCreateWithFlags(&t.stream, 1), 0);
    t.pageable = calloc(1, MOST);
    const row_errors e = app_compare_rows(MOST, transfer_time, &t);
    EXPECT(e.mean < 0.1, 1);
    free(t.pageable);
    EXPECT(e.rows > 90, 1);
}

/* ---------------------------------------------------------------- recordings of an H200 */

int cudaMemPrefetchAsync(const void *p, size_t bytes, uint64_t location, unsigned flags,
                         void *stream);
enum { IN_DEVICE = 1, IN_HOST = 2 }; /* locations */

typedef struct managed {
    char *p, *device;
    size_t n;
} managed;

/* The clock does not consider how much of an allocation a kernel accesses. */
static void use_managed(void *ctx, void *stream)
{
    const managed *m = ctx;
    unsigned value = 1;
    void *args[] = {(void *)(uintptr_t)&m->p, &value};
    EXPECT(cudaLaunchKernel(stub_store, shape(1), shape(1), args, 0, stream), 0);
}

static void prefetch_to_device(void *ctx, void *stream)
{
    const managed *m = ctx;
    EXPECT(cudaMemPrefetchAsync(m->p, m->n, IN_DEVICE, 0, stream), 0);
}

static void prefetch_to_host(void *ctx, void *stream)
{
    const managed *m = ctx;
    EXPECT(cudaMemPrefetchAsync(m->p, m->n, IN_HOST, 0, stream), 0);
}

static void copy_managed(void *ctx, void *stream)
{
    const managed *m = ctx;
    EXPECT(cudaMemcpyAsync(m->device, m->p, m->n, COPY_DEFAULT, stream), 0);
}

/* A row: the operation, whether the host has written the memory, and the preceding operation. */
static const struct {
    const char *name;
    void (*work)(void *ctx, void *stream), (*before)(void *ctx, void *stream);
    bool written;
} of_managed[] = {
    {"managed kernel reads what the host wrote", use_managed, NULL, true},
    {"managed kernel writes what the host wrote", use_managed, NULL, true},
    {"managed kernel writes new memory", use_managed, NULL, false},
    {"managed copy to the device again", copy_managed, copy_managed, true},
    {"managed prefetch to the device", prefetch_to_device, NULL, true},
    {"managed prefetch of new memory to the device", prefetch_to_device, NULL, false},
    {"managed prefetch to the host", prefetch_to_host, use_managed, true},
};
enum { WAYS = sizeof of_managed / sizeof *of_managed };

static float managed_row(int way, size_t n, char *device)
{
    managed m = {.n = n, .device = device};
    EXPECT(cudaMallocManaged((void **)&m.p, n, 1), 0);
    if (of_managed[way].written) memset(m.p, 1, n);
    if (of_managed[way].before) of_managed[way].before(&m, NULL);
    EXPECT(cudaDeviceSynchronize(), 0);
    const float us = app_between(NULL, of_managed[way].work, &m);
    /* The pages are resident now. */
    if (of_managed[way].work == use_managed) EXPECT(app_between(NULL, use_managed, &m) < 10, 1);
    EXPECT(cudaFree(m.p), 0);
    return us;
}

static double managed_time(void *device, const char *name, size_t n)
{
    for (int k = 0; k < WAYS; k++)
        if (strcmp(name, of_managed[k].name) == 0) return managed_row(k, n, device);
    return -1;
}

/* $APP_TRANSFERS is tests/data/micro/managed.tsv, the machine is the H200: within 12 % on
 * average, and none off by more than 30 %. */
void managed_pages(void)
{
    enum { MOST = 256 << 20 };
    void *device;
    EXPECT(cudaMalloc(&device, MOST), 0);
    const row_errors e = app_compare_rows(SIZE_MAX, managed_time, device);
    EXPECT(e.mean < 0.12, 1);
    EXPECT(e.rows, 9 * WAYS);
}

/* The host writes part of the memory that a kernel has migrated to the device. */
static double touched_time(void *device, const char *name, size_t n)
{
    static const char *const names[] = {"host writes all, kernel reads",
                                        "host writes the first half, kernel reads"};
    managed m = {.n = n, .device = device};
    int part = 0;
    while (part < 2 && strcmp(name, names[part]) != 0) part++;
    if (part == 2) return -1;
    EXPECT(cudaMallocManaged((void **)&m.p, n, 1), 0);
    memset(m.p, 1, n);
    use_managed(&m, NULL);
    EXPECT(cudaDeviceSynchronize(), 0);
    memset(m.p, 2, part ? n / 2 : n);
    const float us = app_between(NULL, use_managed, &m);
    EXPECT(cudaFree(m.p), 0);
    return us;
}

/* $APP_TRANSFERS is tests/data/micro/managed_touch.tsv, the machine is the H200. */
void managed_touched(void)
{
    const row_errors e = app_compare_rows(SIZE_MAX, touched_time, NULL);
    EXPECT(e.mean < 0.15, 1);
    EXPECT(e.rows, 2 * 8);
}

static bool kernel_moves(managed *m)
{
    const float us = app_between(NULL, use_managed, m);
    EXPECT(us > 40 || us < 10, 1);
    return us > 40;
}

/* A kernel writes through a pointer stored in memory. */
static void write_elsewhere(const managed *m, void *cell)
{
    static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                               ".visible .entry follow(.param .u64 cell)\n"
                               "{ .reg .b64 d<3>; ld.param.u64 d1, [cell]; ld.u64 d2, [d1];\n"
                               "  st.u32 [d2], 77; ret; }\n";
    void *module, *f;
    app_driver();
    EXPECT(cuModuleLoadData(&module, text), 0);
    EXPECT(cuModuleGetFunction(&f, module, "follow"), 0);
    EXPECT(cudaMemcpy(cell, &m->p, sizeof m->p, COPY_H2D), 0);
    EXPECT(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&cell}, NULL), 0);
    EXPECT(cudaDeviceSynchronize(), 0);
    EXPECT(*(const int *)(const void *)m->p, 77);
}

/* A kernel in a graph. */
static void launch_captured(void *ctx, void *stream)
{
    (void)stream;
    EXPECT(cudaGraphLaunch(ctx, NULL), 0);
}

static void *captured_use(managed *m)
{
    void *s, *graph, *exec;
    EXPECT(cudaStreamCreate(&s), 0);
    EXPECT(cudaStreamBeginCapture(s, 0), 0);
    use_managed(m, s);
    EXPECT(cudaStreamEndCapture(s, &graph), 0);
    EXPECT(cudaGraphInstantiate(&exec, graph, 0), 0);
    return exec;
}

/* Two allocations in the same 64 KiB: the fault for the first one, written by the host, also
 * allocates the second one, which is uninitialised. */
void managed_shared_block(void)
{
    managed first = {.n = 256}, second = {.n = 256};
    EXPECT(cudaMallocManaged((void **)&first.p, first.n, 1), 0);
    EXPECT(cudaMallocManaged((void **)&second.p, second.n, 1), 0);
    EXPECT((uintptr_t)first.p >> 16, (uintptr_t)second.p >> 16);
    first.p[0] = 1;
    EXPECT(kernel_moves(&first), true);
    EXPECT(kernel_moves(&second), false);
}

/* Pages that the host has written after a kernel migrate again; those that a copy, a memset or
 * another kernel has written do not. */
void managed_written(void)
{
    enum { MOST = 32 << 20 };
    managed m;
    void *out;
    EXPECT(cudaMalloc(&out, 64), 0);
    for (m.n = 4096; m.n <= MOST; m.n *= 8) {
        EXPECT(cudaMallocManaged((void **)&m.p, m.n, 1), 0);
        memset(m.p, 1, m.n);
        EXPECT(kernel_moves(&m), true);
        EXPECT(kernel_moves(&m), false);
        memset(m.p, 2, m.n);
        EXPECT(kernel_moves(&m), true);
        EXPECT(cudaMemset(m.p, 3, m.n), 0);
        EXPECT(cudaMemcpy(m.p, out, 64, COPY_DEFAULT), 0);
        EXPECT(kernel_moves(&m), false);
        write_elsewhere(&m, out);
        EXPECT(kernel_moves(&m), false);
        EXPECT(cudaFree(m.p), 0);
    }
    /* One byte, while sums cover all. */
    EXPECT(cudaMallocManaged((void **)&m.p, m.n = 65536, 1), 0);
    memset(m.p, 1, m.n);
    EXPECT(kernel_moves(&m), true);
    void *exec = captured_use(&m);
    m.p[40000] = 5;
    EXPECT(app_between(NULL, launch_captured, exec) > 40, 1);
    EXPECT(kernel_moves(&m), false);
}

/* ---------------------------------------------------------------- kernels and pinned memory */

typedef struct sweep {
    void *p;
    uint64_t bytes, step;
    unsigned write, blocks, threads;
} sweep;

static void sweep_once(void *ctx, void *stream)
{
    sweep *w = ctx;
    void *args[] = {&w->p, &w->bytes, &w->step, &w->write};
    EXPECT(cudaLaunchKernel(stub_sweep, shape(w->blocks), shape(w->threads), args, 0, stream), 0);
}

/* A thread reads pages of managed memory one after the other; state: "new" or "written" by the
 * host. Returns the time in us. */
static double pages_time(const char *state, sweep *w)
{
    EXPECT(cudaMallocManaged(&w->p, w->bytes, 1), 0);
    if (strcmp(state, "written") == 0) memset(w->p, 0, w->bytes);
    const double us = app_between(NULL, sweep_once, w);
    EXPECT(cudaFree(w->p), 0);
    return us;
}

/* $APP_TRANSFERS is tests/data/micro/managed_order.tsv, the machine is the H100, in timing mode. */
void managed_order(void)
{
    enum { MOST = 8 << 20 };
    char line[256], state[16];
    double us, sum = 0;
    int rows = 0;
    FILE *f = fopen(getenv("APP_TRANSFERS"), "r");
    EXPECT(f != NULL, 1);
    while (fgets(line, sizeof line, f)) {
        sweep w = {.blocks = 0};
        unsigned n;
        if (sscanf(line, "%15s\tchase\tread\t%u\t%u\t%" SCNu64 "\t%u\t%" SCNu64 "\t%lf", state,
                   &w.blocks, &w.threads, &w.step, &n, &w.bytes, &us) != 7 ||
            w.blocks * w.threads > 1 || strcmp(state, "read") == 0 || w.bytes > MOST)
            continue;
        const double error = fabs(pages_time(state, &w) / us - 1);
        if (error > 0.3) printf("%s%.0f %%\n", line, 100 * error);
        sum += error;
        rows++;
    }
    fclose(f);
    EXPECT(rows, 2 * 23);
    EXPECT(sum / rows < 0.15, 1);
}

/* Returns the microseconds of a kernel that reads `bytes` of device memory. */
static float sweep_us(uint64_t bytes)
{
    enum { BLOCKS = 1024, THREADS = 256 };
    sweep w = {.bytes = bytes, .step = 16, .blocks = BLOCKS, .threads = THREADS};
    void *from, *to;
    float ms = 0;
    EXPECT(cudaMalloc(&w.p, bytes), 0);
    EXPECT(cudaEventCreate(&from), 0);
    EXPECT(cudaEventCreate(&to), 0);
    EXPECT(cudaEventRecord(from, NULL), 0);
    sweep_once(&w, NULL);
    EXPECT(cudaEventRecord(to, NULL), 0);
    EXPECT(cudaEventSynchronize(to), 0);
    EXPECT(cudaEventElapsedTime(&ms, from, to), 0);
    return 1000 * ms;
}

/* Functional mode on an H100: memory beyond the L2 takes the time of the DRAM, 3.35 TB/s. */
void estimated_traffic(void)
{
    const float large = sweep_us(64 << 20), small = sweep_us(1 << 20);
    EXPECT(large > 19 && large < 35, 1);
    EXPECT(small < 10, 1);
}

/* blocks 0: as many as needed for the work. */
static const struct {
    const char *name;
    sweep how;
} of_mapped[] = {
    {"mapped kernel reads 16 bytes a thread", {.step = 16, .threads = 256}},
    {"mapped kernel writes 16 bytes a thread", {.step = 16, .write = 1, .threads = 256}},
    {"mapped kernel reads 4 of 128 bytes", {.step = 128, .threads = 256}},
    {"mapped kernel reads 4 of 32 bytes", {.step = 32, .threads = 256}},
    {"mapped kernel one block of 256 reads", {.step = 16, .blocks = 1, .threads = 256}},
    {"mapped kernel one warp reads", {.step = 16, .blocks = 1, .threads = 32}},
};
enum { SWEEPS = sizeof of_mapped / sizeof *of_mapped };

static double mapped_time(void *p, const char *name, size_t n)
{
    enum { UNIT = 16 * 256, GRID = 132 * 8 };
    for (int k = 0; k < SWEEPS; k++) {
        if (strcmp(name, of_mapped[k].name) != 0) continue;
        sweep w = of_mapped[k].how;
        const unsigned blocks = (unsigned)((n + UNIT - 1) / UNIT);
        w.p = p;
        w.bytes = n;
        if (!w.blocks) w.blocks = blocks < GRID ? blocks : GRID;
        return app_between(NULL, sweep_once, &w);
    }
    return -1;
}

/* $APP_TRANSFERS is tests/data/micro/mapped.tsv, the machine is the H100, in timing mode: within
 * 10 % on average, and none off by more than 30 %. */
void mapped_memory(void)
{
    enum { MOST = 1 << 20 };
    void *p;
    EXPECT(cudaHostAlloc(&p, MOST, 0), 0);
    const row_errors e = app_compare_rows(MOST, mapped_time, p);
    EXPECT(e.mean < 0.1, 1);
    EXPECT(e.rows, 6 * SWEEPS);
}
