/* graph.h - graphs and their nodes, shared by graph.c and graph_nodes.c. */
#ifndef PL_CUDART_GRAPH_H
#define PL_CUDART_GRAPH_H

#include "cudart/state.h"

typedef struct cuda_node {
    cuda_op op;
    struct cuda_graph *graph;       /* that it belongs to */
    const struct cuda_node *origin; /* it is a copy of this one; NULL: of none */
    struct cuda_node **before;      /* what it depends on; owned */
    size_t nbefore, cap_before;
    unsigned mark; /* of a walk: 1 under way, 2 done */
    double end;    /* of the latest execution, on the application's clock */
    uint32_t slot; /* order.c; and what it knew at its end */
    struct cuda_known *known;
    uint64_t updatable; /* its name for kernels, which may change it (graph_update.c); 0: none */
    bool disabled;
    bool done;   /* in the execution that is under way */
    void **args; /* that its parameters were asked for; owned, or NULL */
} cuda_node;

/* Memory that a graph allocates has one address for as long as some node knows it. */
typedef struct cuda_graph_memory {
    uint64_t address, size;
    unsigned refs;
} cuda_graph_memory;

typedef enum cuda_condition_kind {
    CONDITION_IF,
    CONDITION_WHILE,
    CONDITION_SWITCH
} cuda_condition_kind;

/* A node that executes one of some graphs, by the value of its handle. */
typedef struct cuda_condition {
    uint64_t handle;
    cuda_condition_kind kind;
    unsigned n;
    struct cuda_graph **body; /* owned, as the graphs are */
} cuda_condition;

typedef struct cuda_graph {
    cuda_node **node; /* in the order of their making; owned */
    size_t n, cap;
    bool exec;
    bool owned;                       /* by a node */
    bool has_exec;                    /* it has memory nodes, and an executable graph */
    struct cuda_graph *source;        /* of an executable graph: with memory nodes; or NULL */
    uint64_t flags;                   /* of the instantiation */
    struct cuda_user_reference *user; /* user objects that it holds; owned */
    bool under_way;                   /* it has begun and has not ended */
    bool uploaded;                    /* kernels can launch it, if its flags allow that */
    bool pending;                     /* a kernel has launched it, and it has not begun */
    double start;                     /* of that execution, on the application's clock */
    struct cuda_known *known;         /* order.c: what is ordered before it */
    int64_t launch;                   /* its number; 0: it is under way in another graph, or not */
    uint64_t bytes;                   /* that its memory nodes take */
    const void *handle;               /* of a copy: that of the executable graph; or NULL */
    struct cuda_from_kernels *asked;  /* graphs that its kernels have launched; owned, or NULL */
} cuda_graph;

/* Streams that capture into one graph. */
typedef struct cuda_capture {
    cuda_graph *graph;
    cuda_stream *origin;
    uint64_t id;
    bool invalid, given; /* given: the graph is the program's own */
    int mode;            /* cudaStreamCaptureMode */
    const void *thread;  /* that began it */
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

/* The graph, or the executable graph, behind a handle; NULL: there is none. */
cuda_graph *cuda_graph_of(const void *handle);
cuda_graph *cuda_exec_of(const void *handle);
cuda_graph *cuda_new_graph(void);
cuda_graph *cuda_copy_graph(const cuda_graph *from);
void cuda_free_graph(cuda_graph *g);
/* Adds a node; takes what the op owns over, also when it fails. */
int cuda_add_node(void **out, void *graph, void *const *before, size_t nbefore, const cuda_op *op);
/* The op of a node becomes this one, of the same kind; the same. error: what stands in the way. */
int cuda_replace_op(cuda_node *x, const cuda_op *op, int error);
/* The node of an executable graph that a node of its source became; NULL: none. */
cuda_node *cuda_in_exec(void *exec, void *node);
int cuda_kernel_op(const kernel_params *p, cuda_op *op);
int cuda_set_op(const memset_params *p, cuda_op *op);
/* *why: cudaGraphInstantiateResult. */
int cuda_instantiate(void **out, void *graph, unsigned long long flags, int *why);
/* CU_OK when the executable graph can take the nodes of the other. */
int cuda_same_topology(const cuda_graph *exec, const cuda_graph *g);
/* CUDA_BLOCKED: a node waits for a value, and other nodes for that one. */
int cuda_run_graph(cuda_stream *s, cuda_graph *g);
/* The same for one that is launched into a stream. */
int cuda_execute_graph(cuda_stream *s, cuda_graph *g);
/* Launches it when the stream can; takes it over. */
int cuda_submit_graph(cuda_stream *s, cuda_graph *g);
/* The values that a graph under way waits for; NULL: it does not. */
const cuda_memory_ops *cuda_graph_waits_for(const cuda_graph *g);
/* Gives back what an operation owns. */
void cuda_drop_op(cuda_op *op);

/* The node that a capturing stream has just made. */
cuda_node *cuda_capture_last(const cuda_stream *s);

/* graph_update.c: kernel nodes that kernels change */
/* Kernels may change it from now on, by this name. */
uint64_t cuda_make_updatable(cuda_node *x);
bool cuda_has_updatable(const cuda_graph *g);
/* Of an executable graph, which has just been made: kernels change its nodes; false: no memory. */
bool cuda_adopt_updatable(cuda_graph *exec);
/* Kernels change nodes of an executable graph that was made of this one. */
bool cuda_is_adopted(const cuda_graph *g);
/* The node of an executable graph is gone. */
void cuda_forget_updatable(const cuda_node *x);

/* graph_nodes.c */
int cuda_run_condition(cuda_stream *s, const cuda_condition *c);
/* Values of handles are what they are at the beginning of a launch. */
void cuda_reset_conditions(const cuda_graph *g);
int cuda_capture_free(cuda_stream *s, void *p);
void cuda_keep_user_objects(cuda_graph *copy, const cuda_graph *from);
void cuda_drop_user_objects(cuda_graph *g);

/* graph_memory.c */
/* The op that allocates memory of a graph behind these nodes, and the one that frees it. */
int cuda_graph_memory_op(const cuda_graph *g, void *const *before, size_t n, size_t bytes,
                         cuda_op *op);
int cuda_graph_memory_free_op(const cuda_graph *g, const void *p, cuda_op *op);
int cuda_graph_memory_execute(const cuda_op *op);
/* The graph, or one in it, has nodes that allocate or free. */
bool cuda_has_memory_nodes(const cuda_graph *g);
/* A graph is launched: there is memory for all that it has at once; so many bytes. */
uint64_t cuda_graph_memory_launch(const cuda_graph *g, const cuda_stream *s);
/* It will have run when the stream is ready. */
void cuda_graph_memory_ends(const cuda_stream *s, uint64_t bytes);
/* Whether a graph will have memory there. */
bool cuda_graph_memory_covers(uint64_t address, uint64_t bytes);
/* A node that named it is gone. */
void cuda_graph_memory_drop(cuda_graph_memory *m);
/* Memory that the graph has not freed goes back. */
void cuda_graph_memory_free_all(const cuda_graph *g);

#endif
