/* app_values.c - streams that wait for values written later: by other streams, the host, and
 * threads of the host; and the effects of such a blocked stream. */
#define _POSIX_C_SOURCE 200809L
#include "tests/cudart/app.h"
#include <math.h>
#include <pthread.h>
#include <time.h>

int cuStreamWriteValue32_v2(void *stream, uint64_t address, uint32_t value, unsigned flags);
int cuStreamWriteValue64_v2(void *stream, uint64_t address, uint64_t value, unsigned flags);
int cuStreamWaitValue32_v2(void *stream, uint64_t address, uint32_t value, unsigned flags);
int cuStreamWaitValue64_v2(void *stream, uint64_t address, uint64_t value, unsigned flags);
int cuStreamBatchMemOp_v2(void *stream, unsigned n, const void *list, unsigned flags);
int cuDevicePrimaryCtxRetain(void **out, int device);
int cuGraphAddBatchMemOpNode(void **out, void *graph, void *const *before, size_t nbefore,
                             const void *params);
int cuGraphBatchMemOpNodeGetParams(void *node, void *params);
int cuGraphExecBatchMemOpNodeSetParams(void *exec, void *node, const void *params);
int cudaGraphNodeGetType(void *node, int *type);
int cudaLaunchKernelExC(const void *config, const void *function, void **args);
int cudaEventCreateWithFlags(void **event, unsigned flags);
int cuGraphNodeGetType(void *node, int *type);
int cudaGraphAddEventWaitNode(void **out, void *graph, void *const *before, size_t nbefore,
                              void *event);
int cuEventQuery(void *event);
int cudaStreamAddCallback(void *stream, void (*fn)(void *, int, void *), void *arg, unsigned flags);

enum { GREATER_OR_EQUAL, EQUAL, AND, NOR };
enum { WAIT_32 = 1, WRITE_32 = 2, WAIT_64 = 4, WRITE_64 = 5, NODE = 12, BYTES = 1000000 };

/* Words in host memory accessible to the GPU, and their device address. */
static unsigned *word;
static uint64_t at;

static void *stream(unsigned flags)
{
    void *s;
    EXPECT(cudaStreamCreateWithFlags(&s, flags), 0);
    return s;
}

static void *event(void)
{
    void *e;
    EXPECT(cudaEventCreate(&e), 0);
    return e;
}

static void words(void)
{
    void *p;
    app_driver();
    EXPECT(cudaHostAlloc(&p, 4096, 0), 0);
    memset(p, 0, 4096);
    word = p;
    at = (uintptr_t)p;
}

static unsigned seen(size_t k)
{
    return __atomic_load_n(&word[k], __ATOMIC_ACQUIRE);
}

static void set(size_t k, unsigned value)
{
    __atomic_store_n(&word[k], value, __ATOMIC_RELEASE);
}

static void store(void *s, size_t k, unsigned value)
{
    void *to = &word[k], *args[] = {&to, &value};
    EXPECT(cudaLaunchKernel(stub_store, shape(1), shape(1), args, 0, s), 0);
}

static void callback(void *s, int status, void *arg)
{
    (void)s;
    EXPECT(status, 0);
    *(unsigned *)arg = seen(1);
}

static void host_function(void *arg)
{
    *(unsigned *)arg = seen(1) + 1;
}

/* A kernel of another stream writes the value; meanwhile no later operation runs. */
void values_of_kernels(void)
{
    void *s = stream(1), *other = stream(1), *e = event(), *d;
    unsigned called[2] = {0, 0}, small = 77, back = 0;
    float ms;
    words();
    EXPECT(cudaMallocAsync(&d, 4, s), 0);
    EXPECT(cuStreamWaitValue32_v2(s, at, 5, EQUAL), 0);
    store(s, 1, 7);
    EXPECT(cudaMemcpyAsync(d, &small, 4, COPY_H2D, s), 0); /* its bytes are copied immediately */
    small = 78;
    EXPECT(cudaLaunchHostFunc(s, host_function, &called[0]), 0);
    EXPECT(cudaStreamAddCallback(s, callback, &called[1], 0), 0);
    EXPECT(cudaMemcpyAsync(&word[3], d, 4, COPY_D2H, s), 0);
    EXPECT(cudaFreeAsync(d, s), 0);
    EXPECT(cudaEventRecord(e, s), 0);
    EXPECT(cudaStreamWaitEvent(other, e, 0), 0);
    EXPECT(cudaLaunchKernel(stub_spin, shape(1), shape(2048), NULL, 0, s), CU_INVALID_VALUE);
    EXPECT(cudaStreamQuery(s), CU_NOT_READY);
    EXPECT(cudaEventQuery(e), CU_NOT_READY);
    EXPECT(cudaEventElapsedTime(&ms, e, e), CU_NOT_READY);
    store(other, 2, 8);
    EXPECT(seen(1) + seen(2) + seen(3) + called[0] + called[1], 0);
    EXPECT(cudaStreamQuery(other), CU_NOT_READY);
    store(stream(1), 0, 5);
    EXPECT(cudaStreamSynchronize(other), 0);
    EXPECT(seen(1), 7);
    EXPECT(seen(2), 8);
    EXPECT(cudaEventSynchronize(e), 0);
    EXPECT(cudaStreamSynchronize(s), 0);
    EXPECT(cudaStreamQuery(s), 0);
    EXPECT(seen(3), 77);
    EXPECT(called[0] == 8 && called[1] == 7, 1);
    EXPECT(cudaMemcpy(&back, d, 4, COPY_D2H), CU_INVALID_VALUE); /* freed in stream order */
}

/* Host functions may wait for events of other streams. */
static void wait_for_event(void *e)
{
    EXPECT(cudaEventQuery(e), CU_NOT_READY);
    set(0, 5);
    EXPECT(cudaEventSynchronize(e), 0);
    EXPECT(cudaEventQuery(e), 0);
    set(3, 1);
}

static void event_in_host_function(void)
{
    void *s = stream(1), *other = stream(1), *e = event();
    words();
    EXPECT(cuStreamWaitValue32_v2(other, at, 5, EQUAL), 0);
    store(other, 1, 7);
    EXPECT(cudaEventRecord(e, other), 0);
    EXPECT(cudaLaunchHostFunc(s, wait_for_event, e), 0);
    EXPECT(cudaStreamSynchronize(s), 0);
    EXPECT(seen(1) == 7 && seen(3) == 1, 1);
}

static void wait_for_word(void *unused)
{
    (void)unused;
    while (seen(0) != 1) {
    }
}

/* A host function returns after a later write of the host; meanwhile its stream is blocked, and a
 * function of another stream has to wait. */
void host_function_waits(void)
{
    void *s = stream(1), *after = stream(1), *other = stream(1), *e = event();
    unsigned called = 0;
    words();
    EXPECT(cudaLaunchHostFunc(s, wait_for_word, NULL), 0);
    store(s, 1, 7);
    EXPECT(cudaEventRecord(e, s), 0);
    EXPECT(cudaStreamWaitEvent(after, e, 0), 0);
    store(other, 2, 9);
    EXPECT(cudaStreamSynchronize(other), 0);
    EXPECT(cudaLaunchHostFunc(other, host_function, &called), 0);
    EXPECT(cudaStreamQuery(s), CU_NOT_READY);
    EXPECT(cudaEventQuery(e), CU_NOT_READY);
    EXPECT(cudaStreamQuery(after), CU_NOT_READY);
    EXPECT(cudaStreamQuery(other), CU_NOT_READY);
    EXPECT(seen(1) == 0 && seen(2) == 9 && called == 0, 1);
    set(0, 1);
    EXPECT(cudaStreamSynchronize(after), 0);
    EXPECT(cudaStreamSynchronize(other), 0);
    EXPECT(cudaStreamQuery(s), 0);
    EXPECT(seen(1) == 7 && called != 0, 1);
    event_in_host_function();
}

static unsigned order[4], norders;

static void note_order(void *number)
{
    order[norders++] = *(const unsigned *)number;
    __atomic_store_n(&word[3], norders, __ATOMIC_RELEASE);
}

static void *later_event;
static int query_of_later_event;

static void query_later_event(void *stream, int status, void *unused)
{
    (void)stream;
    (void)status;
    (void)unused;
    query_of_later_event = cuEventQuery(later_event);
}

/* Host functions start when the host waits or queries, in the order in which they were enqueued,
 * or while the host makes no calls. */
void host_functions_later(void)
{
    static unsigned number[4] = {0, 1, 2, 3};
    void *s = stream(1), *t = stream(1);
    later_event = event();
    words();
    EXPECT(cudaLaunchHostFunc(s, note_order, &number[2]), 0);
    EXPECT(cudaLaunchHostFunc(t, note_order, &number[1]), 0);
    EXPECT(cudaLaunchHostFunc(s, note_order, &number[3]), 0);
    store(s, 1, 7);
    EXPECT(seen(3) + seen(1), 0);
    (void)cudaStreamQuery(s);
    EXPECT(order[0] == 2 && order[1] == 1 && order[2] == 3 && seen(1) == 7, 1);
    EXPECT(cudaStreamAddCallback(s, query_later_event, NULL, 0), 0);
    EXPECT(cudaEventRecord(later_event, s), 0);
    EXPECT(cudaStreamSynchronize(s), 0);
    EXPECT(query_of_later_event, CU_NOT_READY);
    EXPECT(cudaEventQuery(later_event), 0);
    EXPECT(cudaLaunchHostFunc(t, note_order, &number[0]), 0);
    EXPECT(seen(3), 3);
    while (seen(3) != 4) {
    }
}

/* A graph waits for an event of a blocked stream. */
void graph_waits_for_event(void)
{
    void *s = stream(1), *blocked = stream(1), *e = event(), *graph, *node[2], *exec;
    float ms;
    words();
    EXPECT(cudaGraphCreate(&graph, 0), 0);
    EXPECT(cudaGraphAddEventWaitNode(&node[0], graph, NULL, 0, e), 0);
    EXPECT(cudaGraphInstantiate(&exec, graph, 0), 0);
    EXPECT(cudaGraphLaunch(exec, s), 0); /* it has not been recorded */
    EXPECT(cudaStreamSynchronize(s), 0);
    EXPECT(cudaLaunchHostFunc(blocked, wait_for_word, NULL), 0);
    EXPECT(cudaEventRecord(e, blocked), 0);
    EXPECT(cudaGraphLaunch(exec, s), 0);
    EXPECT(cudaStreamQuery(s), CU_NOT_READY);
    set(0, 1);
    EXPECT(cudaStreamSynchronize(s), 0);
    EXPECT(cudaEventQuery(e), 0);
    EXPECT(cudaStreamBeginCapture(s, 2), 0);
    EXPECT(cudaEventRecord(e, s), 0);
    EXPECT(cudaStreamEndCapture(s, &graph), 0);
    EXPECT(cudaEventElapsedTime(&ms, e, e), CU_INVALID_VALUE);
}

/* The same for a node of a graph. The graph may be destroyed meanwhile. */
void graph_function_waits(void)
{
    void *s = stream(1), *graph, *exec, *node;
    const struct {
        void (*fn)(void *);
        void *arg;
    } function = {wait_for_word, NULL};
    words();
    EXPECT(cudaGraphCreate(&graph, 0), 0);
    EXPECT(cudaGraphAddHostNode(&node, graph, NULL, 0, &function), 0);
    EXPECT(cudaGraphInstantiate(&exec, graph, 0), 0);
    EXPECT(cudaGraphLaunch(exec, s), 0);
    EXPECT(cudaGraphExecDestroy(exec), 0);
    EXPECT(cudaGraphDestroy(graph), 0);
    store(s, 1, 7);
    EXPECT(cudaStreamQuery(s), CU_NOT_READY);
    EXPECT(seen(1), 0);
    set(0, 1);
    EXPECT(cudaStreamSynchronize(s), 0);
    EXPECT(seen(1), 7);
}

/* The host writes a value and polls for its effect. */
void values_of_mailboxes(void)
{
    void *s = stream(1);
    words();
    for (unsigned k = 1; k <= 3; k++) {
        EXPECT(cuStreamWaitValue32_v2(s, at, k, GREATER_OR_EQUAL), 0);
        store(s, 1, k);
        EXPECT(seen(1), k - 1);
        set(0, k);
        while (seen(1) != k) {
        }
    }
}

/* The host writes the values itself, satisfying all four comparisons; the legacy stream and the
 * blocking ones wait for each other. */
void values_of_host(void)
{
    static const unsigned value[] = {5, 5, 4, 0xfffffffb}, given[] = {6, 5, 0xff, 0xfffffff0};
    void *s = stream(0), *beside = stream(1);
    words();
    for (unsigned how = GREATER_OR_EQUAL; how <= NOR; how++) {
        const size_t k = 8 * how;
        if (how == NOR) set(k, 4);
        EXPECT(cuStreamWaitValue32_v2(s, at + 4 * k, value[how], how), 0);
        store(NULL, k + 1, 9);   /* after the blocking stream */
        store(s, k + 2, 10);     /* after the legacy one */
        store(beside, k + 3, 1); /* independent of both */
        EXPECT(cudaStreamSynchronize(beside), 0);
        EXPECT(cudaStreamQuery(NULL), CU_NOT_READY);
        EXPECT(seen(k + 1) + seen(k + 2), 0);
        EXPECT(seen(k + 3), 1);
        set(k, given[how]);
        EXPECT(cudaDeviceSynchronize(), 0);
        EXPECT(seen(k + 1), 9);
        EXPECT(seen(k + 2), 10);
    }
    EXPECT(cuStreamWaitValue64_v2(s, at + 512, UINT64_C(1) << 40, AND), 0);
    store(s, 140, 3);
    EXPECT(cudaStreamDestroy(s), 0); /* its operations complete nevertheless */
    EXPECT(cuStreamWriteValue64_v2(beside, at + 512, UINT64_C(3) << 40, 0), 0);
    EXPECT(cudaDeviceSynchronize(), 0);
    EXPECT(seen(140), 3);
}

static void *later(void *arg)
{
    const struct timespec nap = {.tv_nsec = 20000000};
    (void)arg;
    nanosleep(&nap, NULL);
    set(0, 1);
    nanosleep(&nap, NULL);
    app_driver();
    EXPECT(cuStreamWriteValue32_v2((void *)2, at + 16, 1, 0), 0);
    return NULL;
}

/* Another thread writes the first value without a call, the second with its own stream. */
void values_of_threads(void)
{
    void *s = stream(1);
    pthread_t t;
    words();
    EXPECT(cuStreamWaitValue32_v2(s, at, 1, GREATER_OR_EQUAL), 0);
    store(s, 1, 7);
    EXPECT(cuStreamWaitValue32_v2(s, at + 16, 1, GREATER_OR_EQUAL), 0);
    store(s, 2, 8);
    EXPECT(pthread_create(&t, NULL, later, NULL), 0);
    EXPECT(cudaStreamSynchronize(s), 0);
    EXPECT(seen(1), 7);
    EXPECT(seen(2), 8);
    EXPECT(pthread_join(t, NULL), 0);
}

typedef struct memory_op {
    int kind;
    uint64_t address, value;
    unsigned flags;
    uint64_t alias, room;
} memory_op;

typedef struct node_params {
    void *context;
    unsigned n;
    memory_op *list;
    unsigned flags;
} node_params;

/* A node waits, others do not wait for it; the graph may be destroyed before the value arrives. */
void values_in_graphs(void)
{
    void *graph, *node[3], *exec, *s = stream(1), *nodes[4];
    unsigned value = 7;
    size_t n = 4;
    int type;
    words();
    void *to = &word[1], *args[] = {&to, &value};
    struct {
        const void *function;
        dim3 grid, block;
        unsigned shared;
        void **args, **extra;
    } k = {.function = stub_store, .grid = shape(1), .block = shape(1), .args = args};
    memory_op list[] = {{.kind = WRITE_32, .address = at + 16, .value = 1},
                        {.kind = WAIT_32, .address = at, .value = 5, .flags = EQUAL},
                        {.kind = WRITE_64, .address = at + 24, .value = UINT64_C(6) << 32}};
    node_params p = {.n = 3, .list = list}, its;
    EXPECT(cudaGraphCreate(&graph, 0), 0);
    EXPECT(cuGraphAddBatchMemOpNode(&node[0], graph, NULL, 0, &p), CU_INVALID_VALUE);
    EXPECT(cuDevicePrimaryCtxRetain(&p.context, 0), 0); /* a context is required */
    EXPECT(cuGraphAddBatchMemOpNode(&node[0], graph, NULL, 0, &p), 0);
    EXPECT(cudaGraphAddKernelNode(&node[1], graph, node, 1, &k), 0);
    to = &word[2];
    EXPECT(cudaGraphAddKernelNode(&node[2], graph, NULL, 0, &k), 0);
    EXPECT(cuGraphBatchMemOpNodeGetParams(node[0], &its), 0);
    EXPECT(its.n == 3 && its.list[1].value == 5, 1);
    EXPECT(cuGraphBatchMemOpNodeGetParams(node[1], &its), CU_INVALID_VALUE);
    EXPECT(cudaGraphInstantiate(&exec, graph, 0), 0);
    EXPECT(cudaGraphLaunch(exec, s), 0);
    list[1].value = 6;
    EXPECT(cuGraphExecBatchMemOpNodeSetParams(exec, node[0], &p), 0); /* of the next launch */
    EXPECT(cudaGraphLaunch(exec, s), 0);
    EXPECT(cudaGraphExecDestroy(exec), 0);
    EXPECT(cudaStreamQuery(s), CU_NOT_READY);
    EXPECT(seen(4) == 1 && seen(2) == 7 && seen(1) == 0 && seen(7) == 0, 1);
    set(0, 5);
    EXPECT(cudaStreamQuery(s), CU_NOT_READY);
    EXPECT(seen(1) == 7 && seen(7) == 6, 1);
    set(1, 0);
    set(0, 6);
    EXPECT(cudaStreamSynchronize(s), 0);
    EXPECT(seen(1), 7);
    EXPECT(cudaStreamBeginCapture(s, 2), 0);
    EXPECT(cuStreamBatchMemOp_v2(s, 3, list, 0), 0);
    EXPECT(cudaStreamEndCapture(s, &graph), 0);
    EXPECT(cudaGraphGetNodes(graph, nodes, &n), 0);
    EXPECT(n, 1);
    EXPECT(cudaGraphNodeGetType(nodes[0], &type), 999);
    EXPECT(cuGraphNodeGetType(nodes[0], &type), 0);
    EXPECT(type, NODE);
}

/* On the machine with round numbers: a value written after a copy of 1 ms ends a wait at that
 * time, whether the wait is issued before or after it. */
void values_on_the_clock(void)
{
    void *d, *pinned, *writer = stream(1), *e[4];
    float ms;
    words();
    EXPECT(cudaMalloc(&d, BYTES), 0);
    EXPECT(cudaHostAlloc(&pinned, BYTES, 0), 0);
    for (int k = 0; k < 4; k++) e[k] = event();
    for (unsigned first = 0; first < 2; first++) {
        void *s = stream(1);
        EXPECT(cudaDeviceSynchronize(), 0);
        EXPECT(cudaEventRecord(e[0], writer), 0);
        if (first) EXPECT(cuStreamWaitValue32_v2(s, at, 1 + first, EQUAL), 0);
        if (first) EXPECT(cudaEventRecord(e[1], s), 0);
        EXPECT(cudaMemcpyAsync(d, pinned, BYTES, COPY_H2D, writer), 0);
        EXPECT(cuStreamWriteValue32_v2(writer, at, 1 + first, 0), 0);
        EXPECT(cudaEventRecord(e[2], writer), 0);
        EXPECT(cudaMemcpyAsync(d, pinned, BYTES, COPY_H2D, writer), 0);
        EXPECT(cuStreamWriteValue32_v2(writer, at, 90, 0), 0); /* the other one was long enough */
        if (!first) EXPECT(cuStreamWaitValue32_v2(s, at, 1, EQUAL), 0);
        if (!first) EXPECT(cudaEventRecord(e[1], s), 0);
        EXPECT(cudaDeviceSynchronize(), 0);
        EXPECT(cudaEventElapsedTime(&ms, e[0], e[1]), 0);
        EXPECT(ms > 1 && ms < 1.1, 1);
        EXPECT(cudaEventElapsedTime(&ms, e[1], e[2]), 0);
        EXPECT(fabs((double)ms) < 1e-4, 1);
    }
}

/* No remaining thread or stream can write the value. */
void values_never(void)
{
    void *s = stream(0), *e = event();
    words();
    EXPECT(cuStreamWaitValue32_v2(s, at, 5, EQUAL), 0);
    store(s, 1, 7);
    EXPECT(cudaEventRecord(e, s), 0);
    EXPECT(cudaEventSynchronize(e), 702);
    EXPECT(cudaStreamSynchronize(s), 702);
    EXPECT(seen(1), 0);
}

static void *asleep(void *arg)
{
    nanosleep(&(struct timespec){.tv_sec = 100}, NULL);
    return arg;
}

/* A remaining thread could, but does not within the time limit. */
void values_late(void)
{
    void *s = stream(0);
    pthread_t t;
    words();
    EXPECT(pthread_create(&t, NULL, asleep, NULL), 0);
    EXPECT(cuStreamWaitValue32_v2(s, at, 5, EQUAL), 0);
    store(s, 1, 7);
    EXPECT(cudaStreamSynchronize(s), 702);
    EXPECT(seen(1), 0);
}

static void hold(void *s, void *from, size_t to)
{
    void *target = &word[to], *args[] = {&from, &target};
    EXPECT(cudaLaunchKernel(stub_hold, shape(1), shape(1), args, 0, s), 0);
}

/* The event of a launch whose kernel has started does not wait for its end. */
static void launch_is_complete(void *s)
{
    enum { NO_TIMING = 2 };
    void *e, *from = &word[0], *to = &word[6], *args[] = {&from, &to};
    cuda_launch_attribute a = {.id = ATTRIBUTE_COMPLETION_EVENT};
    cuda_launch_config c = {
        .grid = shape(1), .block = shape(1), .stream = s, .attribute = &a, .attributes = 1};
    EXPECT(cudaEventCreateWithFlags(&e, NO_TIMING), 0);
    a.value.event.event = e;
    set(0, 0);
    EXPECT(cudaLaunchKernelExC(&c, stub_hold, args), 0);
    EXPECT(cudaEventSynchronize(e), 0);
    EXPECT(cudaStreamQuery(s), CU_NOT_READY);
    set(0, 1);
    EXPECT(cudaStreamSynchronize(s), 0);
    c.attribute = NULL;
    EXPECT(cudaLaunchKernelExC(&c, stub_hold, args), CU_INVALID_VALUE);
}

/* Kernels that poll a value wait for the program or for another stream; meanwhile only their own
 * streams are blocked. */
void kernels_wait(void)
{
    void *s = stream(1), *other = stream(1), *blocking = stream(0), *e = event(), *d;
    const unsigned nine = 9;
    words();
    EXPECT(cudaMalloc(&d, 4), 0);
    EXPECT(cudaMemset(d, 0, 4), 0);
    hold(s, &word[0], 1);
    EXPECT(cudaEventRecord(e, s), 0);
    EXPECT(cudaStreamQuery(s), CU_NOT_READY);
    EXPECT(cudaEventQuery(e), CU_NOT_READY);
    store(other, 2, 5);
    EXPECT(cudaStreamSynchronize(other), 0);
    EXPECT(seen(1), 0);
    EXPECT(seen(2), 5);
    set(0, 7);
    EXPECT(cudaEventSynchronize(e), 0);
    EXPECT(seen(1), 7);
    EXPECT(cudaStreamQuery(s), 0);
    hold(s, d, 3); /* device memory, which another stream writes */
    EXPECT(cudaStreamQuery(s), CU_NOT_READY);
    EXPECT(cudaMemcpyAsync(d, &nine, 4, COPY_H2D, other), 0);
    EXPECT(cudaStreamSynchronize(s), 0);
    EXPECT(seen(3), 9);
    set(0, 0);
    hold(blocking, &word[0], 4); /* the legacy stream waits for it */
    store(NULL, 5, 6);
    EXPECT(cudaStreamQuery(NULL), CU_NOT_READY);
    EXPECT(seen(5), 0);
    set(0, 1);
    EXPECT(cudaDeviceSynchronize(), 0);
    EXPECT(seen(4) == 1 && seen(5) == 6, 1);
    launch_is_complete(s);
}

/* Nothing is left that could change the value. */
void kernel_waits_for_ever(void)
{
    void *s = stream(1);
    words();
    hold(s, &word[0], 1);
    EXPECT(cudaStreamQuery(s), CU_NOT_READY);
    EXPECT(cudaStreamSynchronize(s), CU_LAUNCH_TIMEOUT);
}
/* ---------------------------------------------------------------- kernels that wait */

/* Starts a kernel that answers this many values at `box`: it adds each to the sum. */
static void answer(void *s, void *box, unsigned rounds)
{
    void *args[] = {&box, &rounds};
    EXPECT(cudaLaunchKernel(stub_answer, shape(1), shape(1), args, 0, s), 0);
}

static void ask(unsigned value)
{
    set(0, value);
    while (seen(1) != value) {
    }
}

/* The host asks and a running kernel answers, in pinned and in managed memory. Operations that
 * follow the kernel wait for it, others do not. */
void kernel_waits(void)
{
    enum { ROUNDS = 5 };
    for (int managed = 0; managed < 2; managed++) {
        void *s = stream(1), *e = event(), *other = stream(1), *p;
        words();
        if (managed) EXPECT(cudaMallocManaged(&p, 4096, 1), 0);
        if (managed) memset(word = p, 0, 4096);
        answer(s, word, ROUNDS);
        store(s, 3, 7);
        EXPECT(cudaEventRecord(e, s), 0);
        store(other, 4, 8);
        EXPECT(cudaStreamSynchronize(other), 0);
        EXPECT(seen(4), 8);
        for (unsigned k = 1; k <= ROUNDS; k++) {
            EXPECT(cudaStreamQuery(s), CU_NOT_READY);
            EXPECT(cudaEventQuery(e), CU_NOT_READY);
            EXPECT(seen(3), 0);
            ask(k);
        }
        EXPECT(cudaStreamSynchronize(s), 0);
        EXPECT(seen(2), 15);
        EXPECT(seen(3), 7);
        EXPECT(cudaEventQuery(e), 0);
    }
}

/* A copy, and a kernel of another stream, write the value in device memory. */
void kernel_waits_on_device(void)
{
    void *s = stream(1), *other = stream(1), *d;
    unsigned back[4] = {0};
    words();
    EXPECT(cudaMalloc(&d, 16), 0);
    EXPECT(cudaMemset(d, 0, 16), 0);
    EXPECT(cudaDeviceSynchronize(), 0);
    answer(s, d, 2);
    set(8, 1);
    EXPECT(cudaMemcpyAsync(d, &word[8], 4, COPY_H2D, other), 0);
    EXPECT(cudaStreamQuery(s), CU_NOT_READY);
    unsigned value = 2;
    void *args[] = {&d, &value};
    EXPECT(cudaLaunchKernel(stub_store, shape(1), shape(1), args, 0, other), 0);
    EXPECT(cudaDeviceSynchronize(), 0);
    EXPECT(cudaMemcpy(back, d, 16, COPY_D2H), 0);
    EXPECT(back[1] == 2 && back[2] == 3, 1);
}

/* The graph is launched twice, and destroyed while its kernel waits. */
void kernel_waits_in_graph(void)
{
    void *s = stream(1), *graph, *exec;
    words();
    EXPECT(cudaStreamBeginCapture(s, 2), 0);
    store(s, 3, 1);
    answer(s, word, 1);
    store(s, 3, 2);
    EXPECT(cudaStreamEndCapture(s, &graph), 0);
    EXPECT(cudaGraphInstantiate(&exec, graph, 0), 0);
    EXPECT(cudaGraphLaunch(exec, s), 0);
    EXPECT(cudaGraphLaunch(exec, s), 0);
    EXPECT(cudaGraphExecDestroy(exec), 0);
    EXPECT(cudaGraphLaunch(exec, s), CU_INVALID_VALUE);
    EXPECT(seen(3), 1);
    EXPECT(cudaStreamQuery(s), CU_NOT_READY);
    set(0, 1);
    EXPECT(cudaStreamSynchronize(s), 0);
    EXPECT(seen(2), 2);
    EXPECT(seen(3), 2);
}

static void *ask_later(void *arg)
{
    nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
    set(0, 1);
    return arg;
}

/* The host waits for the kernel, and another thread writes the value. */
void kernel_waits_for_thread(void)
{
    pthread_t t;
    words();
    answer(NULL, word, 1);
    EXPECT(pthread_create(&t, NULL, ask_later, NULL), 0);
    EXPECT(cudaDeviceSynchronize(), 0);
    EXPECT(seen(1), 1);
    EXPECT(pthread_join(t, NULL), 0);
}

/* A kernel counts until the host stops it. */
void kernel_runs_for_long(void)
{
    void *s = stream(1);
    words();
    void *args[] = {&word};
    EXPECT(cudaLaunchKernel(stub_beat, shape(1), shape(1), args, 0, s), 0);
    const unsigned before = seen(1);
    while (seen(1) == before) {
    }
    EXPECT(cudaStreamQuery(s), CU_NOT_READY);
    set(0, 1);
    EXPECT(cudaStreamSynchronize(s), 0);
}

/* On the machine with round numbers: the kernel begins when it is launched, and ends when a
 * copy of 1 ms that follows it has ended. */
void kernel_on_the_clock(void)
{
    void *s = stream(1), *other = stream(1), *d, *pinned, *e[3];
    float ms;
    words();
    EXPECT(cudaMalloc(&d, BYTES), 0);
    EXPECT(cudaHostAlloc(&pinned, BYTES, 0), 0);
    for (int k = 0; k < 3; k++) e[k] = event();
    EXPECT(cudaEventRecord(e[0], s), 0);
    answer(s, word, 1);
    EXPECT(cudaEventRecord(e[1], s), 0);
    EXPECT(cudaMemcpyAsync(d, pinned, BYTES, COPY_H2D, other), 0);
    EXPECT(cudaEventRecord(e[2], other), 0);
    EXPECT(cudaEventSynchronize(e[2]), 0);
    set(0, 1);
    EXPECT(cudaStreamSynchronize(s), 0);
    EXPECT(cudaEventElapsedTime(&ms, e[0], e[1]), 0);
    EXPECT(ms > 1 && ms < 1.1, 1);
    EXPECT(cudaEventElapsedTime(&ms, e[2], e[1]), 0);
    EXPECT(fabs((double)ms) < 0.05, 1);
}

/* The program ends before its kernel. */
void kernel_left_waiting(void)
{
    words();
    answer(NULL, word, 1);
    store(NULL, 3, 7);
}
