/* app_graph.c - tests of graphs beyond kernels, copies and host functions: memory that they
 * allocate, conditional nodes, nodes by one call, user objects; and linking at run time. */
#include "tests/cudart/app.h"

int cudaGraphAddMemAllocNode(void **out, void *graph, void *const *before, size_t nbefore,
                             void *params);
int cudaDeviceGraphMemTrim(int device);
int cudaGraphClone(void **out, void *graph);
int cudaGraphDestroyNode(void *node);
int cudaGraphAddMemFreeNode(void **out, void *graph, void *const *before, size_t nbefore, void *p);
int cudaDeviceGetGraphMemAttribute(int device, int attribute, void *value);
int cudaGraphConditionalHandleCreate(uint64_t *out, void *graph, unsigned value, unsigned flags);
int cudaGraphAddNode(void **out, void *graph, void *const *before, const void *data, size_t nbefore,
                     void *params);
int cudaGraphKernelNodeGetParams(void *node, void *params);
int cudaUserObjectCreate(void **out, void *p, void (*destroy)(void *), unsigned refs,
                         unsigned flags);
int cudaUserObjectRelease(void *object, unsigned count);
int cudaGraphRetainUserObject(void *graph, void *object, unsigned count, unsigned flags);

/* cudaMemsetParams */
typedef struct memset_params {
    void *p;
    size_t pitch;
    unsigned value, element;
    size_t width, height;
} memset_params;

/* cudaMemAllocNodeParams */
typedef struct alloc_params {
    int type, handle_types, location[2];
    char rest[72];
    const void *access;
    size_t naccess, bytes;
    void *p;
} alloc_params;

int cudaGraphAddKernelNode(void **out, void *graph, void *const *before, size_t nbefore,
                           const void *params);
int cudaGraphExecKernelNodeSetParams(void *exec, void *node, const void *params);

/* A kernel node whose parameters are one block created by the program. */
void graph_block(void)
{
    struct {
        void *to;
        unsigned value;
    } block = {.value = 44};
    size_t bytes = 12;
    void *extra[] = {(void *)1, &block, (void *)2, &bytes, NULL}, *graph, *node, *exec;
    kernel_params p = {
        .function = stub_store, .grid = {1, 1, 1}, .block = {1, 1, 1}, .extra = extra};
    unsigned seen = 0;
    EXPECT(cudaMalloc(&block.to, 4), 0);
    EXPECT(cudaGraphCreate(&graph, 0), 0);
    EXPECT(cudaGraphAddKernelNode(&node, graph, NULL, 0, &p), 0);
    EXPECT(cudaGraphInstantiate(&exec, graph, 0), 0);
    EXPECT(cudaGraphLaunch(exec, NULL), 0);
    EXPECT(cudaMemcpy(&seen, block.to, 4, COPY_D2H), 0);
    EXPECT(seen, 44);
    block.value = 55;
    EXPECT(cudaGraphExecKernelNodeSetParams(exec, node, &p), 0);
    EXPECT(cudaGraphLaunch(exec, NULL), 0);
    EXPECT(cudaMemcpy(&seen, block.to, 4, COPY_D2H), 0);
    EXPECT(seen, 55);
    p.args = extra;
    EXPECT(cudaGraphExecKernelNodeSetParams(exec, node, &p), CU_INVALID_VALUE);
    /* A query returns the block, in the same form (H100). */
    kernel_params back;
    EXPECT(cudaGraphKernelNodeGetParams(node, &back), 0);
    EXPECT(back.args == NULL && back.extra != NULL, 1);
    EXPECT(memcmp(back.extra[1], &block.to, sizeof block.to), 0);
    EXPECT(*(size_t *)back.extra[3], 12);
    EXPECT(cudaGraphAddKernelNode(&node, graph, NULL, 0, &back), 0);
}

int cudaGraphAddEmptyNode(void **out, void *graph, void *const *before, size_t nbefore);
int cudaGraphAddChildGraphNode(void **out, void *graph, void *const *before, size_t nbefore,
                               void *child);
int cudaGraphUpload(void *exec, void *stream);

/* Launching a graph into a capturing stream, or uploading one, invalidates the capture (H200). */
void graph_in_capture(void)
{
    enum { INVALIDATED = 2 };
    unsigned value = 44, *seen;
    void *graph, *node, *exec, *s, *to, *args[] = {&to, &value};
    const kernel_params p = {
        .function = stub_store, .grid = {1, 1, 1}, .block = {1, 1, 1}, .args = args};
    int status;
    EXPECT(cudaStreamCreate(&s), 0);
    EXPECT(cudaHostAlloc(&to, 4, 0), 0);
    seen = to;
    *seen = 0;
    EXPECT(cudaGraphCreate(&graph, 0), 0);
    EXPECT(cudaGraphAddKernelNode(&node, graph, NULL, 0, &p), 0);
    EXPECT(cudaGraphInstantiate(&exec, graph, 0), 0);
    for (int upload = 0; upload < 2; upload++) {
        EXPECT(cudaStreamBeginCapture(s, 2), 0);
        EXPECT(upload ? cudaGraphUpload(exec, s) : cudaGraphLaunch(exec, s),
               CU_CAPTURE_UNSUPPORTED);
        EXPECT(cudaStreamIsCapturing(s, &status), 0);
        EXPECT(status, INVALIDATED);
        EXPECT(cudaStreamEndCapture(s, &graph), 901);
        EXPECT(graph == NULL, 1);
    }
    EXPECT(cudaDeviceSynchronize(), 0);
    EXPECT(*seen, 0);
    EXPECT(cudaGraphLaunch(exec, s), 0);
    EXPECT(cudaStreamSynchronize(s), 0);
    EXPECT(*seen, 44);
}

int cudaLaunchKernelExC(const cuda_launch_config *c, const void *function, void **args);
int cudaGraphRemoveDependencies(void *graph, void *const *from, void *const *to, const void *data,
                                size_t n);
int cudaGraphNodeGetDependencies(void *node, void **out, void *data, size_t *n);
int cudaGraphNodeGetDependentNodes(void *node, void **out, void *data, size_t *n);

/* cudaGraphEdgeData */
typedef struct edge {
    uint8_t from_port, to_port, type, reserved[5];
} edge;

static void expect_one_edge(void *graph, void *a, void *b, edge e)
{
    void *from[2], *to[2];
    edge seen[2];
    size_t n = 2;
    EXPECT(cudaGraphGetEdges(graph, from, to, seen, &n), 0);
    EXPECT(n, 1);
    EXPECT(from[0] == a && to[0] == b, 1);
    EXPECT(memcmp(&seen[0], &e, sizeof e), 0);
    n = 2;
    EXPECT(cudaGraphGetEdges(graph, from, to, NULL, &n), e.type ? CU_LOSSY_QUERY : 0);
    EXPECT(cudaGraphNodeGetDependencies(b, from, NULL, &n), e.type ? CU_LOSSY_QUERY : 0);
    EXPECT(cudaGraphNodeGetDependentNodes(a, from, seen, &n), 0);
    EXPECT(seen[0].type, e.type);
    from[1] = a; /* the rest of a list is cleared, and a list needs space */
    n = 2;
    EXPECT(cudaGraphNodeGetDependencies(b, from, seen, &n), 0);
    EXPECT(n == 1 && from[0] == a && from[1] == NULL, 1);
    n = 0;
    EXPECT(cudaGraphNodeGetDependencies(b, from, seen, &n), CU_INVALID_VALUE);
    EXPECT(cudaGraphGetEdges(graph, from, to, seen, &n), CU_INVALID_VALUE);
    /* Without lists the count is not read. */
    n = SIZE_MAX;
    EXPECT(cudaGraphGetEdges(graph, NULL, NULL, NULL, &n), 0);
    EXPECT(n, 1);
    n = SIZE_MAX;
    EXPECT(cudaGraphNodeGetDependencies(b, NULL, NULL, &n), 0);
    EXPECT(n, 1);
    n = SIZE_MAX;
    EXPECT(cudaGraphNodeGetDependentNodes(a, NULL, NULL, &n), 0);
    EXPECT(n, 1);
}

static void captured_edges(void)
{
    cuda_launch_attribute serialization = {.id = 6, .value.number = 1};
    unsigned value = 7;
    void *s, *graph, *node[2], *to, *args[] = {&to, &value};
    size_t n = 2;
    EXPECT(cudaMalloc(&to, 4), 0);
    EXPECT(cudaStreamCreate(&s), 0);
    const cuda_launch_config c = {.grid = {1, 1, 1},
                                  .block = {1, 1, 1},
                                  .stream = s,
                                  .attribute = &serialization,
                                  .attributes = 1};
    EXPECT(cudaStreamBeginCapture(s, 2), 0);
    for (int k = 0; k < 2; k++) EXPECT(cudaLaunchKernelExC(&c, stub_store, args), 0);
    EXPECT(cudaStreamEndCapture(s, &graph), 0);
    EXPECT(cudaGraphGetNodes(graph, node, &n), 0);
    expect_one_edge(graph, node[0], node[1], (edge){.from_port = 1, .type = 1});
}

int cudaGraphChildGraphNodeGetGraph(void *node, void **out);

/* An executable graph has the nodes of child graphs, too. */
static void nodes_of_child_graphs(void)
{
    unsigned first = 5, second = 6, seen = 0;
    void *graph, *child, *inner, *node, *exec, *to, *args[] = {&to, &first};
    size_t n = 1;
    EXPECT(cudaMalloc(&to, 4), 0);
    kernel_params p = {.function = stub_store, .grid = {1, 1, 1}, .block = {1, 1, 1}, .args = args};
    EXPECT(cudaGraphCreate(&graph, 0), 0);
    EXPECT(cudaGraphCreate(&child, 0), 0);
    EXPECT(cudaGraphAddKernelNode(&node, child, NULL, 0, &p), 0);
    EXPECT(cudaGraphAddChildGraphNode(&node, graph, NULL, 0, child), 0);
    EXPECT(cudaGraphChildGraphNodeGetGraph(node, &inner), 0);
    EXPECT(cudaGraphGetNodes(inner, &node, &n), 0);
    EXPECT(cudaGraphInstantiate(&exec, graph, 0), 0);
    args[1] = &second;
    EXPECT(cudaGraphExecKernelNodeSetParams(exec, node, &p), 0);
    EXPECT(cudaGraphLaunch(exec, NULL), 0);
    EXPECT(cudaMemcpy(&seen, to, 4, COPY_D2H), 0);
    EXPECT(seen, 6);
}

/* Edges of a graph and their data (H100). */
void graph_edges(void)
{
    unsigned value = 44;
    void *graph, *other, *a, *b, *m, *o, *new, *to, *args[] = {&to, &value};
    const kernel_params p = {
        .function = stub_store, .grid = {1, 1, 1}, .block = {1, 1, 1}, .args = args};
    edge e = {.from_port = 1, .type = 1};
    EXPECT(cudaMalloc(&to, 4), 0);
    EXPECT(cudaGraphCreate(&graph, 0), 0);
    EXPECT(cudaGraphCreate(&other, 0), 0);
    EXPECT(cudaGraphAddKernelNode(&a, graph, NULL, 0, &p), 0);
    EXPECT(cudaGraphAddKernelNode(&b, graph, NULL, 0, &p), 0);
    EXPECT(cudaGraphAddEmptyNode(&m, graph, NULL, 0), 0);
    EXPECT(cudaGraphAddEmptyNode(&o, other, NULL, 0), 0);
    EXPECT(cudaGraphAddDependencies(graph, &a, &b, &e, 1), 0);
    EXPECT(cudaGraphAddDependencies(graph, &a, &b, NULL, 1), CU_INVALID_VALUE);
    EXPECT(cudaGraphAddDependencies(graph, &a, &m, &e, 1), CU_INVALID_VALUE);
    EXPECT(cudaGraphAddDependencies(graph, &m, &b, &e, 1), CU_INVALID_VALUE);
    expect_one_edge(graph, a, b, e);
    EXPECT(cudaGraphRemoveDependencies(graph, &a, &b, NULL, 1), 0);
    e.from_port = 0;
    EXPECT(cudaGraphAddDependencies(graph, &a, &b, &e, 1), CU_INVALID_VALUE);
    e = (edge){.from_port = 2}; /* the launch of the kernel */
    EXPECT(cudaGraphAddDependencies(graph, &a, &b, &e, 1), 0);
    EXPECT(cudaGraphRemoveDependencies(graph, &a, &b, &e, 1), 0);
    e = (edge){.from_port = 1};
    EXPECT(cudaGraphAddDependencies(graph, &a, &b, &e, 1), CU_INVALID_VALUE);
    EXPECT(cudaGraphAddDependencies(graph, &a, &b, NULL, 1), 0);
    expect_one_edge(graph, a, b, (edge){0});
    EXPECT(cudaGraphRemoveDependencies(graph, &a, &b, &e, 1), CU_INVALID_VALUE);
    EXPECT(cudaGraphAddDependencies(graph, &a, &o, NULL, 1), CU_INVALID_VALUE);
    EXPECT(cudaGraphAddEmptyNode(&new, other, &a, 1), CU_INVALID_VALUE);
    EXPECT(cudaGraphAddEmptyNode(&new, graph, (void *[]){a, a}, 2), CU_INVALID_VALUE);
    captured_edges();
    nodes_of_child_graphs();
}

int cudaStreamBeginCaptureToGraph(void *stream, void *graph, void *const *before, const void *data,
                                  size_t n, int mode);
int cudaStreamUpdateCaptureDependencies(void *stream, void **node, const void *data, size_t n,
                                        unsigned flags);

/* Captures into a graph of the program (H100). */
void graph_capture_into(void)
{
    enum { ILLEGAL_STATE = 401, INVALIDATED = 901, UNMATCHED = 903, IMPLICIT = 906 };
    enum { LEGACY = 1, GLOBAL = 0, SET = 1 };
    void *graph, *other, *node, *foreign, *s, *out;
    int status;
    EXPECT(cudaStreamCreate(&s), 0);
    EXPECT(cudaGraphCreate(&graph, 0), 0);
    EXPECT(cudaGraphCreate(&other, 0), 0);
    EXPECT(cudaGraphAddEmptyNode(&node, graph, NULL, 0), 0);
    EXPECT(cudaGraphAddEmptyNode(&foreign, other, NULL, 0), 0);
    EXPECT(cudaStreamBeginCaptureToGraph(s, graph, &foreign, NULL, 1, GLOBAL), CU_INVALID_VALUE);
    EXPECT(cudaStreamBeginCaptureToGraph(s, graph, &node, NULL, 1, GLOBAL), 0);
    EXPECT(cudaGraphDestroy(graph), ILLEGAL_STATE);
    EXPECT(cudaStreamUpdateCaptureDependencies(s, &foreign, NULL, 1, SET), CU_INVALID_VALUE);
    EXPECT(cudaStreamIsCapturing((void *)LEGACY, &status), IMPLICIT);
    EXPECT(cudaStreamEndCapture(s, &out), 0);
    EXPECT(out == graph, 1);
    EXPECT(cudaGraphDestroy(graph), 0);
    /* An invalid capture: a null event, the wrong stream, and the graph is destroyed (H100). */
    EXPECT(cudaStreamBeginCaptureToGraph(s, other, &foreign, NULL, 1, GLOBAL), 0);
    EXPECT(cudaEventRecord(NULL, s), CU_INVALID_HANDLE);
    EXPECT(cudaFreeHost(NULL), CU_CAPTURE_UNSUPPORTED);
    EXPECT(cudaEventRecord(NULL, s), INVALIDATED);
    EXPECT(cudaStreamEndCapture(s, &out), INVALIDATED);
    EXPECT(cudaGraphDestroy(other), CU_INVALID_VALUE);
    void *t, *e;
    EXPECT(cudaStreamCreate(&t), 0);
    EXPECT(cudaEventCreate(&e), 0);
    EXPECT(cudaStreamBeginCapture(s, GLOBAL), 0);
    EXPECT(cudaEventRecord(e, s), 0);
    EXPECT(cudaStreamWaitEvent(t, e, 0), 0);
    EXPECT(cudaFreeHost(NULL), CU_CAPTURE_UNSUPPORTED);
    EXPECT(cudaStreamEndCapture(t, &out), UNMATCHED);
    EXPECT(cudaStreamEndCapture(s, &out), INVALIDATED);
}

int cudaGraphAddMemsetNode(void **out, void *graph, void *const *before, size_t nbefore,
                           const void *params);
int cudaGraphAddEventRecordNode(void **out, void *graph, void *const *before, size_t nbefore,
                                void *event);
int cudaGraphExecMemcpyNodeSetParams1D(void *exec, void *node, void *to, const void *from,
                                       size_t bytes, int kind);
int cudaGraphMemcpyNodeGetParams(void *node, cuda_copy3d *p);
int cudaGraphExecMemcpyNodeSetParams(void *exec, void *node, const cuda_copy3d *p);
int cudaGraphAddMemcpyNode(void **out, void *graph, void *const *before, size_t nbefore,
                           const cuda_copy3d *p);
int cudaGraphExecUpdate(void *exec, void *graph, void *info);
int cudaGraphAddEmptyNode(void **out, void *graph, void *const *before, size_t nbefore);
int cudaGraphInstantiateWithParams(void **out, void *graph, void *params);
int cudaGraphExecGetFlags(void *exec, unsigned long long *flags);
int cudaGraphKernelNodeGetAttribute(void *node, int attribute, void *value);
int cudaGraphKernelNodeSetAttribute(void *node, int attribute, const void *value);
int cudaGraphKernelNodeSetParams(void *node, const void *params);

static int add_copy(void **graph, void **node, void *to, const void *from, size_t bytes, int kind)
{
    EXPECT(cudaGraphCreate(graph, 0), 0);
    return cudaGraphAddMemcpyNode1D(node, *graph, NULL, 0, to, from, bytes, kind);
}

static void copies_by_rule(void *a, void *b)
{
    char *h, pageable[64];
    void *graph, *other, *exec, *node, *new, *s, *nodes[2];
    size_t n = 2;
    EXPECT(cudaHostAlloc((void **)&h, 64, 0), 0);
    EXPECT(add_copy(&graph, &node, a, b, 0, COPY_D2D), CU_INVALID_VALUE);
    EXPECT(add_copy(&graph, &node, pageable, b, 64, COPY_D2H), 0);
    EXPECT(cudaGraphInstantiate(&exec, graph, 0), 0);
    /* The direction counts, and not the kind of host memory. */
    EXPECT(add_copy(&other, &new, h, a, 32, COPY_D2H), 0);
    EXPECT(cudaGraphExecUpdate(exec, other, NULL), 0);
    EXPECT(add_copy(&other, &new, pageable, b, 64, COPY_DEFAULT), 0);
    EXPECT(cudaGraphExecUpdate(exec, other, NULL), 910);
    EXPECT(cudaGraphExecMemcpyNodeSetParams1D(exec, node, a, h, 64, COPY_H2D), CU_INVALID_VALUE);
    EXPECT(cudaGraphExecMemcpyNodeSetParams1D(exec, node, h, a, 64, COPY_D2H), 0);
    cuda_copy3d p = {.from = {b, 16, 16, 2}, .to = {a, 16, 16, 2}, .extent = {8, 2, 1}, .kind = 3};
    EXPECT(cudaGraphAddMemcpyNode(&node, other, NULL, 0, &p), 0);
    EXPECT(cudaGraphInstantiate(&exec, other, 0), 0);
    EXPECT(cudaGraphExecMemcpyNodeSetParams(exec, node, &p), CU_INVALID_VALUE); /* two rows */
    /* Empty copies and sets are not nodes of a capture. */
    EXPECT(cudaStreamCreate(&s), 0);
    EXPECT(cudaStreamBeginCapture(s, 2), 0);
    EXPECT(cudaMemcpyAsync(a, b, 0, COPY_D2D, s), 0);
    EXPECT(cudaMemsetAsync(a, 0, 0, s), 0);
    EXPECT(cudaMemcpyAsync(a, b, 64, COPY_D2D, s), 0);
    EXPECT(cudaStreamEndCapture(s, &graph), 0);
    EXPECT(cudaGraphGetNodes(graph, nodes, &n), 0);
    EXPECT(n, 1);
    EXPECT(cudaGraphMemcpyNodeGetParams(nodes[0], &p), 0);
    EXPECT(p.from.pitch == 0 && p.extent.width == 64 && p.extent.height == 1, 1);
    EXPECT(cudaGraphInstantiate(&exec, graph, 0), 0);
    EXPECT(cudaGraphExecMemcpyNodeSetParams(exec, nodes[0], &p), 0);
}

static void sets_by_rule(char *a)
{
    static const struct {
        size_t offset;
        unsigned element;
        size_t width, height, pitch;
        int error;
    } c[] = {{1, 2, 3, 1, 0, 1},   {2, 4, 2, 1, 0, 1},  {32, 1, 20, 3, 16, 1}, {32, 4, 5, 3, 16, 1},
             {32, 4, 4, 3, 18, 1}, {32, 4, 4, 2, 0, 1}, {32, 4, 4, 3, 16, 0}};
    void *graph, *other, *node, *exec;
    memset_params p = {0};
    EXPECT(cudaGraphCreate(&graph, 0), 0);
    for (size_t k = 0; k < sizeof c / sizeof *c; k++) {
        p = (memset_params){.p = a + c[k].offset,
                            .pitch = c[k].pitch,
                            .element = c[k].element,
                            .width = c[k].width,
                            .height = c[k].height};
        EXPECT(cudaGraphAddMemsetNode(&node, graph, NULL, 0, &p), c[k].error);
    }
    EXPECT(cudaGraphInstantiate(&exec, graph, 0), 0);
    for (int k = 0; k < 2; k++) { /* only the address may change, not the rows */
        p.p = a;
        p.height = k ? 2 : 3;
        EXPECT(cudaGraphCreate(&other, 0), 0);
        EXPECT(cudaGraphAddMemsetNode(&node, other, NULL, 0, &p), 0);
        EXPECT(cudaGraphExecUpdate(exec, other, NULL), k ? 910 : 0);
    }
}

/* A query writes the bytes of its value only (H100). */
static void attributes_in_part(void *node)
{
    enum { COOPERATIVE = 2, KEPT = 0x55555555 };
    static const struct {
        int attribute;
        unsigned word[4];
    } row[] = {{1, {0, 0, 0, 0}},           {2, {0, KEPT, KEPT, KEPT}},
               {4, {0, 0, 0, KEPT}},        {5, {0, KEPT, KEPT, KEPT}},
               {8, {0, KEPT, KEPT, KEPT}},  {9, {0x55550100, KEPT, KEPT, KEPT}},
               {10, {0, KEPT, KEPT, KEPT}}, {13, {0, KEPT, 0, 0}},
               {14, {0, KEPT, KEPT, KEPT}}};
    unsigned value[16];
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        memset(value, KEPT & 0xff, sizeof value);
        EXPECT(cudaGraphKernelNodeGetAttribute(node, row[k].attribute, value), 0);
        for (int i = 0; i < 4; i++) EXPECT(value[i], row[k].word[i]);
    }
    memset(value, 0, sizeof value);
    value[0] = 5;
    EXPECT(cudaGraphKernelNodeSetAttribute(node, COOPERATIVE, value), 0);
    value[0] = 0;
    EXPECT(cudaGraphKernelNodeGetAttribute(node, COOPERATIVE, value), 0);
    EXPECT(value[0], 5);
    value[0] = 0;
    EXPECT(cudaGraphKernelNodeSetAttribute(node, COOPERATIVE, value), 0);
}

static void attributes_by_rule(void *a)
{
    enum { SYNC_POLICY = 3, CLUSTER = 4, CARVEOUT = 14, CLUSTER_ERROR = 912 };
    unsigned value = 44;
    void *graph, *node, *exec, *args[] = {&a, &value};
    kernel_params p = {.function = stub_store, .grid = {4, 1, 1}, .block = {1, 1, 1}, .args = args};
    union {
        char room[64];
        unsigned cluster[3];
        int number;
    } v = {.cluster = {3, 1, 1}};
    EXPECT(cudaGraphCreate(&graph, 0), 0);
    EXPECT(cudaGraphAddKernelNode(&node, graph, NULL, 0, &p), 0);
    attributes_in_part(node);
    EXPECT(cudaGraphKernelNodeGetAttribute(node, SYNC_POLICY, &v), CU_INVALID_VALUE);
    EXPECT(cudaGraphKernelNodeSetAttribute(node, CLUSTER, &v), CLUSTER_ERROR);
    v.cluster[0] = 2;
    EXPECT(cudaGraphKernelNodeSetAttribute(node, CLUSTER, &v), 0);
    p.grid.x = 3; /* no whole clusters */
    EXPECT(cudaGraphKernelNodeSetParams(node, &p), CLUSTER_ERROR);
    v.number = 101;
    EXPECT(cudaGraphKernelNodeSetAttribute(node, CARVEOUT, &v), CU_INVALID_VALUE);
    EXPECT(cudaGraphInstantiate(&exec, graph, 0), 0);
    EXPECT(cudaGraphLaunch(exec, NULL), 0);
}

static void flags_by_rule(void)
{
    enum { UPLOAD = 2, DEVICE_LAUNCH = 4, PRIORITY = 8, NODE_NOT_SUPPORTED = 3 };
    struct {
        unsigned long long flags;
        void *stream, *node;
        int result;
    } p = {.flags = DEVICE_LAUNCH};
    void *graph, *node, *exec;
    unsigned long long flags = 99;
    alloc_params alloc = {.type = 1, .handle_types = 1, .location = {1, 0}, .bytes = 64};
    EXPECT(cudaGraphCreate(&graph, 0), 0);
    EXPECT(cudaGraphAddMemAllocNode(&node, graph, NULL, 0, &alloc), CU_NOT_SUPPORTED);
    alloc = (alloc_params){.type = 1, .location = {1, 9}, .bytes = 64};
    EXPECT(cudaGraphAddMemAllocNode(&node, graph, NULL, 0, &alloc), CU_INVALID_VALUE);
    EXPECT(cudaGraphAddEventRecordNode(&node, graph, NULL, 0, NULL), CU_INVALID_VALUE);
    EXPECT(cudaGraphAddEmptyNode(&node, graph, NULL, 0), 0);
    EXPECT(cudaGraphInstantiate(&exec, graph, UPLOAD), CU_INVALID_VALUE);
    EXPECT(cudaGraphInstantiate(&exec, graph, PRIORITY), 0);
    EXPECT(cudaGraphExecGetFlags(exec, &flags), 0);
    EXPECT(flags, 0);
    EXPECT(cudaGraphInstantiateWithParams(&exec, graph, &p), CU_INVALID_VALUE);
    EXPECT(p.result, NODE_NOT_SUPPORTED);
    EXPECT(p.node == node, 1);
    p.flags = UPLOAD;
    EXPECT(cudaGraphInstantiateWithParams(&exec, graph, &p), 0);
}

/* Nodes are paired in the order of their edges, and not of their creation. A child graph with
 * another number of nodes is not the fault of a node. */
static void updates_by_rule(void)
{
    struct {
        int result;
        void *node, *from;
    } info;
    void *graph, *other, *exec, *node[2], *new[2];
    EXPECT(cudaGraphCreate(&graph, 0), 0);
    EXPECT(cudaGraphAddEmptyNode(&node[0], graph, NULL, 0), 0);
    EXPECT(cudaGraphAddEmptyNode(&node[1], graph, node, 1), 0);
    EXPECT(cudaGraphInstantiate(&exec, graph, 0), 0);
    EXPECT(cudaGraphCreate(&other, 0), 0);
    EXPECT(cudaGraphAddEmptyNode(&new[0], other, NULL, 0), 0);
    EXPECT(cudaGraphAddEmptyNode(&new[1], other, NULL, 0), 0);
    EXPECT(cudaGraphExecUpdate(exec, other, &info), 910);
    EXPECT(info.result == 2 && info.node == new[0], 1); /* without its dependent node */
    EXPECT(cudaGraphAddDependencies(other, &new[1], &new[0], NULL, 1), 0);
    EXPECT(cudaGraphExecUpdate(exec, other, &info), 0);
    EXPECT(cudaGraphGetEdges(graph, node, NULL, NULL, &(size_t){1}), CU_INVALID_VALUE);
    void *parent;
    EXPECT(cudaGraphCreate(&parent, 0), 0);
    EXPECT(cudaGraphAddChildGraphNode(&node[0], parent, NULL, 0, graph), 0);
    EXPECT(cudaGraphInstantiate(&exec, parent, 0), 0);
    EXPECT(cudaGraphAddEmptyNode(&new[0], graph, NULL, 0), 0);
    EXPECT(cudaGraphCreate(&parent, 0), 0);
    EXPECT(cudaGraphAddChildGraphNode(&node[0], parent, NULL, 0, graph), 0);
    EXPECT(cudaGraphExecUpdate(exec, parent, &info), 910);
    EXPECT(info.result == 2 && !info.node, 1);
}

/* A node for each letter, kernel or empty: a chain, a star of the first node, or without edges. */
static void *shaped(const char *letters, char edges, void **node)
{
    kernel_params kernel = {stub_nop, {1, 1, 1}, {1, 1, 1}, 0, NULL, NULL};
    void *g;
    EXPECT(cudaGraphCreate(&g, 0), 0);
    for (int k = 0; letters[k]; k++) {
        void **before = edges == 'c' && k ? &node[k - 1] : edges == 's' && k ? node : NULL;
        const size_t n = before != NULL;
        EXPECT(letters[k] == 'k' ? cudaGraphAddKernelNode(&node[k], g, before, n, &kernel)
                                 : cudaGraphAddEmptyNode(&node[k], g, before, n),
               0);
    }
    return g;
}

/* The node that a refused update names, as on an H100; -1: none. */
static void updates_name(void)
{
    static const struct {
        const char *from, *to;
        char from_edges, to_edges;
        int result, node;
    } cases[] = {{"kk", "ee", 'c', 'c', 3, 1},    {"kkk", "eee", 'c', 'c', 3, 2},
                 {"kkk", "eee", 0, 0, 3, 2},      {"kkk", "kek", 'c', 'c', 3, 1},
                 {"kkk", "eke", 'c', 'c', 3, 2},  {"kkk", "kkk", 'c', 0, 2, 1},
                 {"kkk", "kkk", 0, 'c', 2, -1},   {"kkk", "kkk", 'c', 's', 2, 1},
                 {"kkk", "kkk", 's', 'c', 2, -1}, {"kkkk", "kkkk", 'c', 's', 2, 2},
                 {"kkk", "kke", 'c', 0, 2, 1},    {"kke", "kkk", 'c', 0, 2, 1},
                 {"eee", "kek", 0, 0, 3, 2},      {"kk", "kkk", 'c', 'c', 2, -1}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct {
            int result;
            void *node, *from;
        } info;
        void *node[4], *exec, *other;
        EXPECT(cudaGraphInstantiate(&exec, shaped(cases[k].from, cases[k].from_edges, node), 0), 0);
        other = shaped(cases[k].to, cases[k].to_edges, node);
        EXPECT(cudaGraphExecUpdate(exec, other, &info), 910);
        EXPECT(info.result, cases[k].result);
        EXPECT(info.node == (cases[k].node < 0 ? NULL : node[cases[k].node]), 1);
    }
}

/* Rules for nodes, their changes and instantiation (H100). */
void graph_rules(void)
{
    void *a, *b;
    EXPECT(cudaMalloc(&a, 256), 0);
    EXPECT(cudaMalloc(&b, 256), 0);
    copies_by_rule(a, b);
    sets_by_rule(a);
    attributes_by_rule(a);
    flags_by_rule();
    updates_by_rule();
    updates_name();
}

/* A graph whose kernel records `value` and then launches up to two graphs, NULL: its own. */
typedef struct relay {
    void *list;
    unsigned value, most;
    void *g;
    uint64_t how;
    void *then;
    uint64_t how_then;
} relay;

static void *relay_exec(relay r, unsigned long long flags)
{
    void *graph, *node, *exec,
        *args[] = {&r.list, &r.value, &r.most, &r.g, &r.how, &r.then, &r.how_then};
    const kernel_params p = {
        .function = stub_relay, .grid = {1, 1, 1}, .block = {1, 1, 1}, .args = args};
    EXPECT(cudaGraphCreate(&graph, 0), 0);
    EXPECT(cudaGraphAddKernelNode(&node, graph, NULL, 0, &p), 0);
    EXPECT(cudaGraphInstantiate(&exec, graph, flags), 0);
    EXPECT(cudaGraphDestroy(graph), 0);
    return exec;
}

/* Kernels can launch it if its flags permit it. */
static void *relay_graph(relay r, unsigned long long flags)
{
    void *exec = relay_exec(r, flags);
    EXPECT(cudaGraphUpload(exec, NULL), 0);
    return exec;
}

static void expect_order(unsigned *list, const char *order)
{
    char seen[40] = "";
    for (unsigned k = 0; k < list[0] && k < 29; k++) seen[k] = (char)list[k + 1];
    if (strcmp(seen, order) != 0) printf("%s, not %s\n", seen, order);
    EXPECT(strcmp(seen, order), 0);
    list[0] = 0;
}

static void expect_errors(void *exec, unsigned *list, unsigned first, unsigned then,
                          const char *order)
{
    list[30] = list[31] = 0;
    EXPECT(cudaGraphLaunch(exec, NULL), 0);
    EXPECT(cudaDeviceSynchronize(), 0);
    EXPECT(list[30], first);
    EXPECT(list[31], then);
    expect_order(list, order);
}

/* Kernels launch graphs: fire-and-forget, tail, and their own again. */
void graphs_of_kernels(void)
{
    enum { DEVICE = 4 };
    static const uint64_t tail = UINT64_C(1) << 56, forget = UINT64_C(2) << 56,
                          sibling = UINT64_C(3) << 56;
    void *s, *p;
    EXPECT(cudaStreamCreate(&s), 0);
    EXPECT(cudaHostAlloc(&p, 4096, 0), 0);
    memset(p, 0, 4096);
    unsigned *list = p;
    void *d = relay_graph((relay){p, 'd', 99, NULL, 0, NULL, 0}, DEVICE);
    void *c = relay_graph((relay){p, 'c', 99, NULL, 0, NULL, 0}, DEVICE);
    void *b = relay_graph((relay){p, 'b', 99, d, tail, NULL, 0}, DEVICE);
    /* Work that follows b precedes other work that follows a. */
    void *a = relay_graph((relay){p, 'a', 99, b, tail, c, tail}, 0);
    EXPECT(cudaGraphLaunch(a, s), 0);
    EXPECT(cudaStreamSynchronize(s), 0);
    EXPECT(list[30] + list[31], 0);
    expect_order(list, "abdc");
    /* Work concurrent with a graph ends before work that follows it. */
    a = relay_graph((relay){p, 'a', 99, c, tail, b, forget}, 0);
    EXPECT(cudaGraphLaunch(a, s), 0);
    EXPECT(cudaStreamSynchronize(s), 0);
    expect_order(list, "abdc");
    a = relay_graph((relay){p, 'a', 99, c, sibling, d, forget}, 0);
    EXPECT(cudaGraphLaunch(a, s), 0);
    EXPECT(cudaStreamSynchronize(s), 0);
    expect_order(list, "acd");
    /* Repeated until the list has five. */
    a = relay_graph((relay){p, 'a', 5, NULL, tail, NULL, tail}, DEVICE);
    EXPECT(cudaGraphLaunch(a, s), 0);
    EXPECT(cudaStreamSynchronize(s), 0);
    EXPECT(list[30], 0);
    EXPECT(list[31], CU_INVALID_VALUE); /* it already is a tail launch of itself */
    expect_order(list, "aaaaa");
    /* A running graph, a pending one, and invalid streams. */
    a = relay_graph((relay){p, 'a', 99, NULL, sibling, NULL, forget}, DEVICE);
    expect_errors(a, list, CU_INVALID_VALUE, CU_INVALID_VALUE, "a");
    a = relay_graph((relay){p, 'a', 99, c, forget, c, tail}, 0);
    expect_errors(a, list, 0, CU_INVALID_VALUE, "ac");
    a = relay_graph((relay){p, 'a', 99, c, tail, c, tail}, 0);
    expect_errors(a, list, 0, CU_INVALID_VALUE, "ac");
    a = relay_graph((relay){p, 'a', 99, c, 1, c, UINT64_C(4) << 56}, 0);
    expect_errors(a, list, CU_INVALID_VALUE, CU_INVALID_VALUE, "a");
    /* By a kernel outside of graphs, too. */
    relay r = {p, 'a', 99, d, tail, c, forget};
    void *args[] = {&r.list, &r.value, &r.most, &r.g, &r.how, &r.then, &r.how_then};
    for (int k = 0; k < 2; k++) {
        list[30] = list[31] = 1;
        EXPECT(cudaLaunchKernel(stub_relay, shape(1), shape(1), args, 0, s), 0);
        EXPECT(cudaStreamSynchronize(s), 0);
        EXPECT(list[30] + list[31], 0);
        expect_order(list, "acd");
    }
}

/* Errors and faults of kernels that launch graphs, as on an H200. */
void graphs_of_kernels_refused(void)
{
    enum { DEVICE = 4, PAGEABLE = 16 };
    static const uint64_t forget = UINT64_C(2) << 56;
    static char pageable[PAGEABLE];
    void *s, *p, *graph, *node, *exec, *memory;
    EXPECT(cudaStreamCreate(&s), 0);
    EXPECT(cudaHostAlloc(&p, 4096, 0), 0);
    EXPECT(cudaMalloc(&memory, PAGEABLE), 0);
    memset(p, 0, 4096);
    unsigned *list = p;
    /* A graph neither uploaded nor launched does not exist on the device. */
    const relay last = {p, 'c', 99, NULL, 0, NULL, 0};
    void *cold = relay_exec(last, DEVICE);
    void *a = relay_graph((relay){p, 'a', 99, cold, forget, NULL, 0}, 0);
    expect_errors(a, list, CU_INVALID_VALUE, 0, "a");
    expect_errors(cold, list, 0, 0, "c");
    expect_errors(a, list, 0, 0, "ac");
    /* Nodes not permitted in such a graph. */
    EXPECT(cudaGraphCreate(&graph, 0), 0);
    EXPECT(cudaGraphInstantiate(&exec, graph, DEVICE), CU_INVALID_VALUE);
    EXPECT(cudaGraphAddEmptyNode(&node, graph, NULL, 0), 0);
    EXPECT(cudaGraphInstantiate(&exec, graph, DEVICE), CU_INVALID_VALUE);
    EXPECT(cudaGraphCreate(&graph, 0), 0);
    EXPECT(cudaGraphAddMemcpyNode1D(&node, graph, NULL, 0, memory, p, PAGEABLE, COPY_H2D), 0);
    EXPECT(cudaGraphInstantiate(&exec, graph, DEVICE), 0);
    EXPECT(cudaGraphAddMemcpyNode1D(&node, graph, NULL, 0, memory, pageable, PAGEABLE, COPY_H2D),
           0);
    EXPECT(cudaGraphInstantiate(&exec, graph, DEVICE), CU_INVALID_VALUE);
    /* A graph not created for device launch is not device memory. */
    void *plain = relay_exec(last, 0);
    a = relay_graph((relay){p, 'a', 99, plain, forget, NULL, 0}, 0);
    EXPECT(cudaGraphLaunch(a, s), 0);
    EXPECT(cudaStreamSynchronize(s), CU_ILLEGAL_ADDRESS);
}

/* cudaGraphNodeParams: a kernel, or a condition. */
typedef struct node_params {
    int kind, reserved[3];
    union {
        long long room[29];
        kernel_params kernel;
        struct {
            uint64_t handle;
            int kind;
            unsigned n;
            void **body;
        } condition;
    } u;
    long long reserved2;
} node_params;

/* A graph allocates memory, writes and reads it, and frees it; without the last it cannot run
 * twice until the program frees it. */
void graph_memory(void)
{
    alloc_params alloc = {.type = 1, .location = {1, 0}, .bytes = 64};
    unsigned value = 21, copied = 0;
    uint64_t used = 1;
    enum { CHUNK = 32 << 20 };
    void *g, *exec, *node[5];
    EXPECT(cudaGraphCreate(&g, 0), 0);
    EXPECT(cudaGraphAddMemAllocNode(&node[0], g, NULL, 0, &alloc), 0);
    void *args[] = {&alloc.p, &value};
    const kernel_params store = {
        .function = stub_store, .grid = shape(1), .block = shape(1), .args = args};
    kernel_params back;
    EXPECT(cudaGraphAddKernelNode(&node[1], g, node, 1, &store), 0);
    EXPECT(cudaGraphKernelNodeGetParams(node[1], &back), 0);
    EXPECT(back.function == stub_store && *(unsigned *)back.args[1] == 21, 1);
    EXPECT(cudaGraphAddMemcpyNode1D(&node[2], g, node + 1, 1, &copied, alloc.p, 4, COPY_D2H), 0);
    EXPECT(cudaGraphInstantiate(&exec, g, 0), 0);
    EXPECT(cudaGraphLaunch(exec, NULL), 0);
    EXPECT(copied, 21);
    EXPECT(cudaDeviceGetGraphMemAttribute(0, 0, &used), 0);
    EXPECT(used, CHUNK);
    EXPECT(cudaGraphLaunch(exec, NULL), CU_INVALID_VALUE);
    EXPECT(cudaFreeAsync(alloc.p, NULL), 0);
    EXPECT(cudaGraphAddMemFreeNode(&node[3], g, node + 2, 1, alloc.p), CU_INVALID_VALUE);
    EXPECT(cudaGraphInstantiate(&node[3], g, 0), CU_NOT_SUPPORTED); /* one exists already */
    EXPECT(cudaGraphExecDestroy(exec), 0);
    EXPECT(cudaGraphAddMemFreeNode(&node[3], g, node + 2, 1, alloc.p), 0);
    EXPECT(cudaGraphAddMemFreeNode(&node[4], g, node + 2, 1, alloc.p), CU_INVALID_VALUE);
    EXPECT(cudaGraphInstantiate(&exec, g, 0), 0);
    for (int k = 0; k < 3; k++) EXPECT(cudaGraphLaunch(exec, NULL), 0);
    EXPECT(cudaDeviceGetGraphMemAttribute(0, 0, &used), 0);
    EXPECT(used, CHUNK); /* reserved for the next launch */
    EXPECT(cudaDeviceGraphMemTrim(0), 0);
    EXPECT(cudaDeviceGetGraphMemAttribute(0, 0, &used), 0);
    EXPECT(used, 0);
    EXPECT(cudaGraphAddMemFreeNode(&node[4], g, node + 2, 1, &used), CU_INVALID_VALUE);
    void *const freed = alloc.p;
    EXPECT(cudaGraphAddMemAllocNode(&node[4], g, &node[3], 1, &alloc), 0);
    EXPECT(alloc.p == freed, 1); /* after the node that frees it */
    EXPECT(cudaGraphAddMemAllocNode(&node[4], g, &node[2], 1, &alloc), 0);
    EXPECT(alloc.p == freed, 0);
    EXPECT(cudaGraphClone(&exec, g), CU_NOT_SUPPORTED);
    EXPECT(cudaGraphDestroyNode(node[0]), CU_NOT_SUPPORTED);
    void *empty, *after;
    EXPECT(cudaGraphAddEmptyNode(&empty, g, NULL, 0), 0);
    EXPECT(cudaGraphAddEmptyNode(&after, g, &empty, 1), 0);
    EXPECT(cudaGraphRemoveDependencies(g, &empty, &after, NULL, 1), CU_NOT_SUPPORTED);
}

int cudaGraphAddMemsetNode(void **out, void *graph, void *const *before, size_t nbefore,
                           const void *params);

/* Graphs of two streams that run concurrently have their own memory. */
void graph_memory_concurrent(void)
{
    enum { BYTES = 64 << 20 };
    alloc_params alloc = {.type = 1, .location = {1, 0}, .bytes = BYTES};
    memset_params set = {.element = 4, .width = BYTES / 4, .height = 1};
    uint64_t used = 0;
    void *stream[2], *exec[2];
    for (int k = 0; k < 2; k++) {
        void *g, *node[3];
        EXPECT(cudaStreamCreate(&stream[k]), 0);
        EXPECT(cudaGraphCreate(&g, 0), 0);
        EXPECT(cudaGraphAddMemAllocNode(&node[0], g, NULL, 0, &alloc), 0);
        set.p = alloc.p;
        EXPECT(cudaGraphAddMemsetNode(&node[1], g, &node[0], 1, &set), 0);
        EXPECT(cudaGraphAddMemFreeNode(&node[2], g, &node[1], 1, alloc.p), 0);
        EXPECT(cudaGraphInstantiate(&exec[k], g, 0), 0);
    }
    for (int k = 0; k < 2; k++) EXPECT(cudaGraphLaunch(exec[0], stream[0]), 0);
    EXPECT(cudaDeviceGetGraphMemAttribute(0, 0, &used), 0);
    EXPECT(used, BYTES); /* sequentially */
    EXPECT(cudaGraphLaunch(exec[1], stream[1]), 0);
    EXPECT(cudaDeviceGetGraphMemAttribute(0, 0, &used), 0);
    EXPECT(used, 2 * BYTES);
    EXPECT(cudaDeviceSynchronize(), 0);
}

/* Allocations of a capturing stream become nodes. */
void graph_captured_memory(void)
{
    unsigned value = 5, copied = 0;
    void *s, *g, *exec, *d;
    size_t n = 0;
    EXPECT(cudaStreamCreate(&s), 0);
    EXPECT(cudaStreamBeginCapture(s, 0), 0);
    EXPECT(cudaMallocAsync(&d, 256, s), 0);
    void *args[] = {&d, &value};
    EXPECT(cudaLaunchKernel(stub_store, shape(1), shape(1), args, 0, s), 0);
    EXPECT(cudaMemcpyAsync(&copied, d, 4, COPY_D2H, s), 0);
    EXPECT(cudaFreeAsync(d, s), 0);
    EXPECT(cudaStreamEndCapture(s, &g), 0);
    EXPECT(cudaGraphGetNodes(g, NULL, &n), 0);
    EXPECT(n, 4);
    EXPECT(cudaGraphInstantiate(&exec, g, 0), 0);
    EXPECT(cudaGraphDestroy(g), 0);
    for (int k = 0; k < 2; k++) EXPECT(cudaGraphLaunch(exec, s), 0);
    EXPECT(copied, 5);
    EXPECT(cudaGraphExecDestroy(exec), 0);
    EXPECT(cudaFree(d), CU_INVALID_VALUE);
}

/* A loop whose body counts down from 5 and sets the loop condition; it restarts in each launch.
 * */
void graph_condition(void)
{
    uint64_t handle;
    unsigned left = 5, rounds = 0;
    void *d, *g, *exec, *node[2];
    EXPECT(cudaMalloc(&d, 8), 0);
    EXPECT(cudaMemset(d, 0, 8), 0);
    EXPECT(cudaGraphCreate(&g, 0), 0);
    EXPECT(cudaGraphAddMemcpyNode1D(&node[0], g, NULL, 0, d, &left, 4, COPY_H2D), 0);
    EXPECT(cudaGraphConditionalHandleCreate(&handle, g, 1, 1), 0);
    node_params loop = {.kind = 13, .u.condition = {handle, 1, 1, NULL}};
    EXPECT(cudaGraphAddNode(&node[1], g, node, NULL, 1, &loop), 0);
    void *args[] = {&handle, &d};
    node_params body = {
        .u.kernel = {
            .function = stub_countdown, .grid = shape(1), .block = shape(1), .args = args}};
    EXPECT(cudaGraphAddNode(&node[0], loop.u.condition.body[0], NULL, NULL, 0, &body), 0);
    EXPECT(cudaGraphInstantiate(&exec, g, 0), 0);
    for (unsigned k = 1; k <= 2; k++) {
        EXPECT(cudaGraphLaunch(exec, NULL), 0);
        EXPECT(cudaMemcpy(&rounds, (char *)d + 4, 4, COPY_D2H), 0);
        EXPECT(rounds, 5 * k);
    }
    loop.u.condition.handle++;
    EXPECT(cudaGraphAddNode(&node[1], g, NULL, NULL, 0, &loop), CU_INVALID_VALUE);
    EXPECT(cudaGraphConditionalHandleCreate(&handle, g, 1, 1), 0); /* belongs to no node */
    EXPECT(cudaGraphInstantiate(&exec, g, 0), CU_INVALID_VALUE);
}

static void count_up(void *p)
{
    ++*(int *)p;
}

/* The object lives until the last graph that references it is destroyed. */
void graph_object(void)
{
    int gone = 0, second = 0;
    void *o, *g, *exec;
    EXPECT(cudaUserObjectCreate(&o, &gone, count_up, 1, 1), 0);
    EXPECT(cudaGraphCreate(&g, 0), 0);
    EXPECT(cudaGraphRetainUserObject(g, o, 1, 1), 0);
    EXPECT(cudaGraphInstantiate(&exec, g, 0), 0);
    EXPECT(cudaGraphDestroy(g), 0);
    EXPECT(gone, 0);
    /* The objects of the graph that an update comes from replace those of before. */
    EXPECT(cudaGraphCreate(&g, 0), 0);
    EXPECT(cudaUserObjectCreate(&o, &second, count_up, 1, 1), 0);
    EXPECT(cudaGraphRetainUserObject(g, o, 1, 1), 0);
    EXPECT(cudaGraphExecUpdate(exec, g, NULL), 0);
    EXPECT(gone, 1);
    EXPECT(cudaGraphDestroy(g), 0);
    EXPECT(second, 0);
    EXPECT(cudaGraphExecDestroy(exec), 0);
    EXPECT(second, 1);
    EXPECT(cudaUserObjectRelease(o, 1), CU_INVALID_VALUE);
}

/* ---------------------------------------------------------------- linking */

int cuModuleUnload(void *m);
int cuLinkCreate_v2(unsigned n, int *option, void **value, void **out);
int cuLinkAddData_v2(void *link, int type, void *data, size_t bytes, const char *name, unsigned n,
                     int *option, void **value);
int cuLinkComplete(void *link, void **out, size_t *bytes);
int cuLinkDestroy(void *link);
int cuModuleLoadData(void **out, const void *image);
int cuModuleGetFunction(void **out, void *m, const char *name);
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void *stream, void **params, void **extra);

#define HEAD ".version 8.0\n.target sm_50\n.address_size 64\n"
static char caller[] =
    HEAD ".extern .func (.param .b32 r) twice(.param .b32 x);\n"
         ".visible .entry run(.param .u64 to, .param .u32 v)\n"
         "{ .reg .b32 a<3>; .reg .b64 d; ld.param.u64 d, [to]; ld.param.u32 a1, [v];\n"
         "  { .param .b32 x; .param .b32 r; st.param.b32 [x], a1;\n"
         "    call.uni (r), twice, (x); ld.param.b32 a2, [r]; } st.u32 [d], a2; ret; }\n";
static char callee[] = HEAD ".visible .func (.param .b32 r) twice(.param .b32 x)\n"
                            "{ .reg .b32 a; ld.param.b32 a, [x]; add.u32 a, a, a;\n"
                            "  st.param.b32 [r], a; ret; }\n";

/* Two PTX texts, linked by the driver API. One of them alone does not link. */
/* The lines of an H100 for such a kernel, apart from registers and times. The PTX is for sm_50; the
 * bank of constants is that of the machine: 528 bytes, and the parameters. */
static void expect_log(const char *info)
{
    char compiler[300], linker[300];
    unsigned used[2] = {0};
    float ms = -1;
    int n = 0;
    EXPECT(sscanf(info,
                  "ptxas info : 0 bytes gmem ptxas info : Compiling entry function 'run' for "
                  "'sm_90a' ptxas info : Function properties for run ptxas . 0 bytes stack frame, "
                  "0 bytes spill stores, 0 bytes spill loads ptxas info : Used %u registers, used "
                  "0 barriers ptxas info : Compile time = %f ms info : 0 bytes gmem info : "
                  "Function properties for 'run': info : used %u registers, used 0 barriers, 0 "
                  "stack, 0 bytes smem, 540 bytes cmem[0], 0 bytes lmem%n",
                  &used[0], &ms, &used[1], &n),
           3);
    EXPECT(n > 0 && used[0] == used[1] && ms >= 0, 1);
    snprintf(
        compiler, sizeof compiler,
        "\nptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
        "ptxas info    : Used %u registers, used 0 barriers\n",
        used[0]);
    snprintf(linker, sizeof linker, " ms\ninfo    : 0 bytes gmem\ninfo    : Function properties");
    EXPECT(strstr(info, compiler) && strstr(info, linker), 1);
}

void link_ptx(void)
{
    unsigned v = 21, result = 0;
    size_t bytes = 0;
    void *link, *image, *m, *f, *d;
    app_driver();
    enum { INFO = 3, INFO_SIZE = 4, VERBOSE = 12 };
    static char info[1024];
    int option[] = {INFO, INFO_SIZE, VERBOSE};
    void *value[] = {info, (void *)sizeof info, (void *)1};
    EXPECT(cuLinkCreate_v2(3, option, value, &link), 0);
    EXPECT(cuLinkAddData_v2(link, 1, "rubbish", 8, "c", 0, NULL, NULL), CU_INVALID_IMAGE);
    EXPECT(cuLinkAddData_v2(link, 0, caller, sizeof caller, "a", 0, NULL, NULL), CU_INVALID_IMAGE);
    EXPECT(cuLinkAddData_v2(link, 1, caller, sizeof caller, "a", 0, NULL, NULL), 0);
    EXPECT(cuLinkAddData_v2(link, 1, callee, sizeof callee, "b", 0, NULL, NULL), 0);
    EXPECT(cuLinkComplete(link, &image, &bytes), 0);
    EXPECT(bytes > sizeof caller + sizeof callee, 1);
    EXPECT((size_t)value[1], strlen(info)); /* as reported by ptxas */
    expect_log(info);
    EXPECT(cuModuleLoadData(&m, image), 0);
    EXPECT(cuLinkDestroy(link), 0);
    EXPECT(cuModuleGetFunction(&f, m, "run"), 0);
    EXPECT(cudaMalloc(&d, 4), 0);
    void *args[] = {&d, &v};
    EXPECT(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL), 0);
    EXPECT(cudaMemcpy(&result, d, 4, COPY_D2H), 0);
    EXPECT(result, 42);
    EXPECT(cuLinkCreate_v2(0, NULL, NULL, &link), 0);
    EXPECT(cuLinkComplete(link, &image, &bytes), 0); /* nothing */
    EXPECT(cuLinkDestroy(link), 0);
    EXPECT(cuLinkCreate_v2(0, NULL, NULL, &link), 0);
    EXPECT(cuLinkAddData_v2(link, 1, callee, sizeof callee, "b", 0, NULL, NULL), 0);
    EXPECT(cuLinkAddData_v2(link, 1, callee, sizeof callee, "b", 0, NULL, NULL), CU_INVALID_SOURCE);
    EXPECT(cuLinkComplete(link, &image, &bytes), CU_INVALID_SOURCE);
    EXPECT(cuLinkDestroy(link), 0);
    EXPECT(cuModuleUnload(m), 0);
    EXPECT(cuModuleUnload(m), CU_INVALID_HANDLE);
}

/* The driver provides a grid barrier for each launch: four blocks synchronise on it twice in a
 * non-cooperative launch. */
void grid_barrier(void)
{
    static const char text[] =
        HEAD ".visible .entry meet(.param .u64 to)\n"
             "{ .reg .b32 a<4>; .reg .b64 d<2>; .reg .pred p; mov.u32 a0, %envreg1;\n"
             "  mov.u32 a1, %envreg2; mov.b64 d0, {a1, a0}; atom.add.u32 a2, [d0], 1;\n"
             "again: ld.volatile.u32 a2, [d0]; setp.lt.u32 p, a2, 4; @p bra again;\n"
             "  ld.param.u64 d1, [to]; atom.add.u32 a3, [d1], a2; ret; }\n";
    unsigned sum = 0;
    void *m, *f, *d;
    app_driver();
    EXPECT(cuModuleLoadData(&m, text), 0);
    EXPECT(cuModuleGetFunction(&f, m, "meet"), 0);
    EXPECT(cudaMalloc(&d, 4), 0);
    EXPECT(cudaMemset(d, 0, 4), 0);
    void *args[] = {&d};
    for (int k = 0; k < 2; k++) EXPECT(cuLaunchKernel(f, 4, 1, 1, 1, 1, 1, 0, NULL, args, NULL), 0);
    EXPECT(cudaMemcpy(&sum, d, 4, COPY_D2H), 0);
    EXPECT(sum, 2 * 4 * 4);
}

static int in_host_function;

static void allocate(void *unused)
{
    void *p;
    (void)unused;
    in_host_function = cudaMalloc(&p, 16);
}

int cudaMallocHost(void **p, size_t bytes);
int cudaMallocArray(void **array, const cuda_channel *channel, size_t width, size_t height,
                    unsigned flags);
int cudaLibraryLoadData(void **library, const void *code, int *option, void **value, unsigned n,
                        void *library_option, void **library_value, unsigned library_n);
int cudaHostRegister(void *p, size_t bytes, unsigned flags);
int cudaHostUnregister(void *p);
int cudaFreeArray(void *array);
int cudaMemPoolCreate(void **out, const void *properties);
int cudaMemPoolSetAttribute(void *pool, int attribute, void *value);
int cudaMemPoolDestroy(void *pool);
int cudaLibraryUnload(void *library);
int cudaProfilerStop(void);
int cudaDeviceSetCacheConfig(int config);
int cudaStreamAttachMemAsync(void *stream, void *p, size_t bytes, unsigned flags);
int cudaStreamGetFlags(void *stream, unsigned *flags);
int cudaCreateTextureObject(unsigned long long *out, const void *resource, const void *texture,
                            const void *view);
int cudaDestroyTextureObject(unsigned long long handle);

/* Calls that a capture in another stream does not permit, in the global mode (H100). */
static void releases_in_capture(void *s, void *other)
{
    static char host[4096];
    struct {
        int type, handles, location_type, location;
        void *security;
        size_t max_size;
        unsigned char reserved[56];
    } properties = {1, 0, 1, 0, NULL, 0, {0}};
    cuda_resource resource = {.type = 0};
    const cuda_texture texture = {.filter = 0};
    const cuda_channel floats = {.x = 32, .kind = 2};
    unsigned long long bytes = 0, shown = 0, made;
    void *pinned, *array, *pooled, *managed, *pool, *unused, *library, *graph, *exec;
    EXPECT(cudaMallocHost(&pinned, 64), 0);
    EXPECT(cudaHostRegister(host, sizeof host, 0), 0);
    EXPECT(cudaMallocArray(&array, &floats, 16, 16, 0), 0);
    EXPECT(cudaMallocAsync(&pooled, 64, other), 0);
    EXPECT(cudaMallocManaged(&managed, 64, 1), 0);
    EXPECT(cudaMemPoolCreate(&pool, &properties), 0);
    EXPECT(cudaLibraryLoadData(&library, "nonsense", NULL, NULL, 0, NULL, NULL, 0), 0);
    EXPECT(cudaGraphCreate(&graph, 0), 0);
    EXPECT(cudaGraphInstantiate(&exec, graph, 0), 0);
    resource.u.array = array;
    EXPECT(cudaCreateTextureObject(&shown, &resource, &texture, NULL), 0);
    for (int repeat = 0; repeat < 2; repeat++) {
        const int n = 14;
        for (int call = 0; call < n; call++) { /* without a capture, all succeed */
            void *captured;
            if (!repeat) EXPECT(cudaStreamBeginCapture(s, 0), 0);
            EXPECT(call == 0    ? cudaProfilerStop()
                   : call == 1  ? cudaDeviceSetCacheConfig(0)
                   : call == 2  ? cudaStreamAttachMemAsync(other, managed, 0, 1)
                   : call == 3  ? cudaMemPoolCreate(&unused, &properties)
                   : call == 4  ? cudaMemPoolSetAttribute(pool, 4, &bytes)
                   : call == 5  ? cudaMemPoolDestroy(pool)
                   : call == 6  ? cudaCreateTextureObject(&made, &resource, &texture, NULL)
                   : call == 7  ? cudaDestroyTextureObject(shown)
                   : call == 8  ? cudaFreeArray(array)
                   : call == 9  ? cudaFreeHost(pinned)
                   : call == 10 ? cudaHostUnregister(host)
                   : call == 11 ? cudaFreeAsync(pooled, other)
                   : call == 12 ? cudaLibraryUnload(library)
                                : cudaGraphExecDestroy(exec),
                   repeat ? 0 : 900);
            if (!repeat) EXPECT(cudaStreamEndCapture(s, &captured), 901);
        }
    }
}

/* A capture in relaxed mode does not permit to query the flags of its stream (H100). */
static void flags_in_capture(void *s)
{
    enum { RELAXED = 2 };
    void *captured;
    unsigned flags;
    EXPECT(cudaStreamBeginCapture(s, RELAXED), 0);
    EXPECT(cudaStreamGetFlags(s, &flags), 900);
    EXPECT(cudaStreamEndCapture(s, &captured), 901);
}

/* Calls forbidden during captures, by mode (global, thread-local, relaxed), as on an H200 (probe
 * host.capture), and host functions (host.order). */
void capture_rules(void)
{
    static const int allocates[] = {900, 900, 0};
    void *s, *other, *d, *p, *graph;
    EXPECT(cudaMalloc(&d, 4), 0);
    EXPECT(cudaStreamCreate(&s), 0);
    EXPECT(cudaStreamCreateWithFlags(&other, 1), 0);
    for (int mode = 0; mode < 3; mode++)
        for (int call = 0; call < 5; call++) {
            int h = 0, answer = call == 1 || call == 2 ? 906 : call == 0 ? 900 : allocates[mode];
            EXPECT(cudaStreamBeginCapture(s, mode), 0);
            EXPECT(call == 0   ? cudaDeviceSynchronize()
                   : call == 1 ? cudaMemcpy(d, &h, 4, COPY_H2D)
                   : call == 2 ? cudaMemset(d, 0, 4)
                   : call == 3 ? cudaMalloc(&p, 64)
                               : cudaFree(NULL),
                   answer);
            EXPECT(cudaStreamEndCapture(s, &graph), answer ? 901 : 0);
        }
    EXPECT(cudaStreamBeginCapture(other, 0), 0);
    EXPECT(cudaMemset(d, 0, 4), 0); /* it does not wait for that stream */
    EXPECT(cudaStreamEndCapture(other, &graph), 0);
    void *e, *args[] = {&d, &p};
    EXPECT(cudaEventCreate(&e), 0);
    EXPECT(cudaEventRecord(e, other), 0);
    EXPECT(cudaStreamBeginCapture(s, 0), 0);
    EXPECT(cudaStreamWaitEvent(s, e, 0), 905); /* not part of a capture */
    EXPECT(cudaStreamQuery(s), 900);
    EXPECT(cudaStreamEndCapture(s, &graph), 901);
    EXPECT(cudaStreamBeginCapture(s, 0), 0);
    EXPECT(cudaLaunchKernel(stub_store, shape(1), shape(5000), args, 0, s), CU_INVALID_VALUE);
    EXPECT(cudaStreamEndCapture(s, &graph), 901);
    EXPECT(cudaStreamBeginCapture(s, 0), 0);
    EXPECT(cudaEventRecord(e, s), 0);
    EXPECT(cudaStreamWaitEvent(other, e, 0), 0);
    EXPECT(cudaStreamEndCapture(other, &graph), 903);
    EXPECT(cudaStreamEndCapture(s, &graph), 901);
    releases_in_capture(s, other);
    flags_in_capture(s);
    EXPECT(cudaLaunchHostFunc(s, allocate, NULL), 0);
    EXPECT(cudaStreamSynchronize(s), 0);
    EXPECT(in_host_function, CU_NOT_PERMITTED);
    EXPECT(cudaMalloc(&p, 16), 0);
    cudaGetLastError();
}
