/* graph.h - graphs and their nodes, shared by the files that create, change, capture and execute
 * them. */
#ifndef PL_CUDART_GRAPH_H
#define PL_CUDART_GRAPH_H

#include "cudart/state.h"

/* cudaGraphEdgeData */
typedef struct cuda_edge {
    uint8_t from_port, to_port, type, reserved[5];
} cuda_edge;

typedef struct cuda_node {
    cuda_op op;
    struct cuda_graph *graph;       /* that contains it */
    const struct cuda_node *origin; /* node that it is a copy of; NULL: none */
    struct cuda_node **before;      /* its dependencies; owned */
    cuda_edge *edge;                /* the edge from each of them; owned */
    size_t nbefore, cap_before;
    unsigned mark; /* of a traversal: 1 in progress, 2 done */
    double end;    /* of the latest execution, on the application's clock */
    uint32_t slot; /* happens_before.c: its slot, and its vector clock at its end */
    struct cuda_vector_clock *clock;
    uint64_t updatable; /* handle for kernels, which may change it (graph_update.c); 0: none */
    bool disabled;
    bool done;          /* in the current execution */
    uint64_t host_call; /* number of the call of its host function, while that runs */
    void **args;        /* returned by a query of its parameters; owned, or NULL */
} cuda_node;

/* Memory that a graph allocates keeps one address as long as a node refers to it. */
typedef struct cuda_graph_memory {
    uint64_t address, size;
    unsigned refs;
} cuda_graph_memory;

typedef enum cuda_condition_kind {
    CONDITION_IF,
    CONDITION_WHILE,
    CONDITION_SWITCH
} cuda_condition_kind;

/* A node that executes one of several graphs, selected by the value of its handle. */
typedef struct cuda_condition {
    uint64_t handle;
    cuda_condition_kind kind;
    unsigned n;
    struct cuda_graph **body; /* owned, including the graphs */
} cuda_condition;

typedef struct cuda_graph {
    cuda_node **node; /* in order of creation; owned */
    size_t n, cap;
    uint64_t id;                      /* shown by cudaGraphDebugDotPrint */
    unsigned handles, unused_handles; /* conditional handles; those that no node had */
    bool exec;
    bool owned;                /* by a node */
    bool has_exec;             /* it has memory nodes, and an executable graph exists */
    struct cuda_graph *source; /* of an executable graph with memory nodes: its source; or NULL */
    uint64_t flags;            /* of the instantiation */
    struct cuda_user_reference *user; /* user objects that it references; owned */
    bool in_progress;                 /* its execution has started and has not ended */
    bool uploaded;                    /* kernels can launch it, if its flags permit that */
    bool pending;                     /* a kernel has launched it, and it has not started */
    double start;                     /* of that execution, on the application's clock */
    struct cuda_vector_clock *clock;  /* happens_before.c: operations ordered before it */
    int64_t launch;                   /* its number; 0: it runs in another graph, or not at all */
    uint64_t bytes;                   /* of its memory nodes */
    const void *handle;               /* of a copy: handle of the executable graph; or NULL */
    struct cuda_device_launches
        *device_launches; /* graphs that its kernels have launched; owned, or NULL */
} cuda_graph;

enum {
    CAPTURE_INVALIDATED = 901, /* cudaError_t */
    CAPTURE_MERGE = 902,
    CAPTURE_UNMATCHED = 903,
    CAPTURE_UNJOINED = 904,
    CAPTURE_ISOLATION = 905,
    CAPTURE_IMPLICIT = 906,
    CAPTURE_WRONG_THREAD = 908,
    CAPTURE_RELAXED = 2 /* cudaStreamCaptureMode */
};

/* Streams that capture into one graph. */
typedef struct cuda_capture {
    cuda_graph *graph;
    cuda_stream *origin;
    uint64_t id;
    bool invalid, into_existing; /* into_existing: the graph belongs to the program */
    bool edited;                 /* by cudaStreamUpdateCaptureDependencies */
    int mode;                    /* cudaStreamCaptureMode */
    const void *thread;          /* thread that started it */
} cuda_capture;

typedef struct kernel_params {
    const void *function;
    dim3 grid, block;
    unsigned shared;
    void **args, **extra;
} kernel_params;

typedef struct memset_params {
    void *p;
    size_t pitch;
    unsigned value, element;
    size_t width, height;
} memset_params;

typedef struct host_params {
    cuda_host_fn *fn;
    void *arg;
} host_params;

/* Of a conditional node, as in cudaGraphNodeParams. */
typedef struct condition_params {
    uint64_t handle;
    int kind;
    unsigned n;
    void **out;
} condition_params;

/* ---- graph.c ---- */
/* Returns the graph, or the executable graph, of a handle; NULL: none. */
cuda_graph *cuda_graph_of(const void *handle);
cuda_graph *cuda_exec_of(const void *handle);
/* NULL: no memory. */
cuda_graph *cuda_new_graph(void);
cuda_graph *cuda_copy_graph(const cuda_graph *from);
void cuda_free_graph(cuda_graph *g);
/* Returns the nodes, each after those that it depends on. The caller frees the list. NULL: a cycle,
 * or no memory. */
cuda_node **cuda_graph_order(cuda_graph *g);
/* True if a stream captures into the graph. */
bool cuda_is_capture_target(const cuda_graph *g);
/* Adds a node; takes ownership of the op's data, also on failure. */
bool cuda_has_condition(const cuda_graph *g);
int cuda_add_node(void **out, void *graph, void *const *before, size_t nbefore, const cuda_op *op);
/* The same with the data of each edge. */
int cuda_add_node_with_edges(void **out, void *graph, void *const *before, const cuda_edge *edge,
                             size_t nbefore, const cuda_op *op);
/* The same for dependencies that are known to be valid. edge: NULL: plain ones; out: may be NULL.
 */
int cuda_insert_node(cuda_graph *g, const cuda_op *op, cuda_node *const *before,
                     const cuda_edge *edge, size_t nbefore, cuda_node **out);
/* Returns the node of an executable graph that corresponds to a node of its source; NULL: none. */
cuda_node *cuda_exec_node(void *exec, void *node);
/* Returns the index of a dependency; x->nbefore: it is none. */
size_t cuda_dependency_index(const cuda_node *x, const cuda_node *on);
/* False: no memory. */
bool cuda_add_dependency(cuda_node *x, cuda_node *on, cuda_edge edge);
void cuda_remove_dependency(cuda_node *x, const cuda_node *on);
/* Appends a node and the edge from it to two lists of *n elements. False: no memory. */
bool cuda_append_edge(cuda_node ***list, cuda_edge **edges, size_t *n, size_t *cap, cuda_node *x,
                      cuda_edge edge);
static inline bool cuda_is_plain_edge(const cuda_edge *e)
{
    return !e->from_port && !e->to_port && !e->type;
}
/* True if an edge of this kind may lead from a node of the graph to this operation. */
bool cuda_edge_is_valid(const cuda_graph *g, const cuda_node *from, const cuda_op *to,
                        const cuda_edge *e);
/* changed: the node that gets the parameters; NULL: a new one. */
int cuda_kernel_op(const kernel_params *p, const cuda_node *changed, cuda_op *op);
int cuda_set_op(const memset_params *p, cuda_op *op);
/* Replaces the data of an operation by a copy that the caller owns. */
int cuda_copy_op(cuda_op *op);
/* Releases the data of an operation. */
void cuda_free_op(cuda_op *op);

/* ---- graph_exec.c ---- */
/* Replaces the op of a node by one of the same kind; takes ownership, also on failure. error: an
 * error that prevents it. */
int cuda_replace_op(cuda_node *x, const cuda_op *op, int error);
/* *why: cudaGraphInstantiateResult; *node: the unsupported node, or NULL. */
int cuda_instantiate(void **out, void *graph, unsigned long long flags, int *why, void **node);
/* CU_OK if the executable graph can be updated from the other. */
int cuda_same_topology(const cuda_graph *exec, const cuda_graph *g);

/* ---- graph_launch.c ---- */
enum { DEVICE_LAUNCH = 4 }; /* flag: cudaGraphInstantiateFlagDeviceLaunch */
/* Executes a graph that is launched into a stream. CUDA_BLOCKED: a node waits for a value. */
int cuda_execute_graph(cuda_stream *s, cuda_graph *g);
/* A kernel launches a graph (pl_launch.launch_graph). Graphs of kernels outside of graphs run at
 * the end of the kernel. */
uint32_t cuda_launch_from_kernel(void *unused, uint64_t handle, uint64_t stream);
int cuda_run_launched_graphs(cuda_stream *s);
/* Returns the values that a running graph waits for; NULL: none. */
const cuda_memory_ops *cuda_graph_waits_for(const cuda_graph *g);

/* ---- stream_op.c ---- */
/* Launches the graph once the stream is ready; takes ownership. */
int cuda_submit_graph(cuda_stream *s, cuda_graph *g);
/* Executes the graph now; if a kernel or host function of it waits, the rest follows later. */
int cuda_launch_graph_now(cuda_stream *s, cuda_graph *g);
/* Calls a host function of a stream or graph. CUDA_BLOCKED: it has not returned; *number identifies
 * the call, and is 0 before and after it. */
int cuda_run_host(cuda_stream *s, cuda_host_fn *fn, void *arg, uint64_t *number);
/* transfer.c: true if it copies or sets nothing. */
bool cuda_is_empty(const cuda_op *op);

/* ---- graph_capture.c ---- */
/* Returns the node that a capturing stream has added last. */
cuda_node *cuda_capture_last(const cuda_stream *s);

/* ---- graph_update.c: kernel nodes that kernels change ---- */
/* Allows kernels to change the node, and returns its handle for them. */
uint64_t cuda_enable_updates(cuda_node *x);
bool cuda_has_updatable(const cuda_graph *g);
/* Binds the handles to the nodes of a new executable graph; false: no memory. */
bool cuda_bind_updatable(cuda_graph *exec);
/* True if handles of this graph are bound to an executable graph. */
bool cuda_is_bound(const cuda_graph *g);
/* Unbinds the handle of a node of an executable graph, which is destroyed. */
void cuda_unbind_updatable(const cuda_node *x);

/* ---- graph_condition.c ---- */
/* Creates the op of a conditional node. Its handle must belong to this graph, and to no other node
 * yet. */
int cuda_condition_op(condition_params *p, cuda_graph *g, cuda_op *op);
/* Resets the values of handles to those at the start of a launch. */
void cuda_reset_conditions(const cuda_graph *g);

/* ---- graph_objects.c ---- */
/* An executable graph was updated from another one, whose user objects replace its own. */
void cuda_replace_user_objects(cuda_graph *exec, const cuda_graph *g);
/* The copy of a graph references the same user objects. */
void cuda_retain_user_objects(cuda_graph *copy, const cuda_graph *from);
/* The graph is destroyed. */
void cuda_release_user_objects(cuda_graph *g);

/* ---- graph_nodes.c ---- */
/* Captures the release of memory of the graph. */
int cuda_capture_free(cuda_stream *s, void *p);

/* ---- graph_memory.c ---- */
/* Create the op that allocates memory of a graph after these nodes, and the one that frees it. */
int cuda_graph_memory_op(const cuda_graph *g, void *const *before, size_t n, size_t bytes,
                         cuda_op *op);
int cuda_graph_memory_free_op(const cuda_graph *g, const void *p, cuda_op *op);
int cuda_graph_memory_execute(const cuda_op *op);
/* True if the graph, or a graph nested in it, has nodes that allocate or free. */
bool cuda_has_memory_nodes(const cuda_graph *g);
/* The same without those of its child graphs. */
bool cuda_has_own_memory_nodes(const cuda_graph *g);
/* A launch starts: reserves memory for all concurrent allocations; returns its bytes. */
uint64_t cuda_graph_memory_launch(const cuda_graph *g, const cuda_stream *s);
/* The launch will have completed when the stream is ready. */
void cuda_graph_memory_ends(const cuda_stream *s, uint64_t bytes);
/* True if memory of a graph will cover the range. */
bool cuda_graph_memory_covers(uint64_t address, uint64_t bytes);
/* A node that referred to the memory is destroyed. */
void cuda_graph_memory_drop(cuda_graph_memory *m);
/* Releases memory that the graph has not freed. */
void cuda_graph_memory_free_all(const cuda_graph *g);

#endif
