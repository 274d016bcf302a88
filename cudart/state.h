/* state.h - what the files of cudart/ share: the devices of the process, and how a call enters and
 * leaves them.
 *
 * Every entry point of api.def takes the lock, does its work and gives the lock back; kernels run
 * under it. What belongs to a host thread is thread-local and needs none. */
#ifndef PL_CUDART_STATE_H
#define PL_CUDART_STATE_H

#include "cudart/abi.h"
#include "include/ptxloom.h"
#include <pthread.h>

/* ---- options ---- */

typedef struct cuda_options {
    const char *arch, *trace, *metrics, *check, *check_kernel, *suppressions, *cache;
    pl_mode mode;
    bool mode_given, page_bounds, summary, packed, log, host_clock, from_profiler, leak_check,
        memoize, sanitizer, exitcode_given;
    int opt_level;
    pl_trace_level trace_level;
    uint64_t check_limit, threads, timeout, trace_limit, max_cycles, max_instructions, devices,
        exitcode;
    pl_trace_filter filter;
    /* --timing: which launches run with the model of time. */
    enum { CUDA_TIME_ALL, CUDA_TIME_FIRST, CUDA_TIME_BUDGET } timing;
    double timing_limit; /* launches of a kernel and shape; seconds of the emulation */
} cuda_options;

/* ---- tables ---- */

/* Keys are addresses other than 0. */
typedef struct cuda_table {
    struct cuda_slot {
        uintptr_t key;
        void *value;
    } * slot;
    size_t n, cap; /* of used slots, deleted ones among them; a power of two */
} cuda_table;
void *cuda_table_get(const cuda_table *t, const void *key);
bool cuda_table_put(cuda_table *t, const void *key, void *value);
void cuda_table_remove(cuda_table *t, const void *key);

/* ---- modules ---- */

enum {
    CUDA_DEVICES = 16, /* at most */
    CUDA_ALL_DEVICES = 0xffff
};

typedef struct cuda_module cuda_module;

/* A kernel of a module, or a name registered for one that is not loaded yet. */
typedef struct cuda_function {
    cuda_module *module;
    const void *host; /* address of its stub, or NULL */
    const char *name;
    bool ready; /* what follows has been read from the module */
    pl_kernel_info info;
    pl_kernel_param *param; /* info.nparams; owned */
    const char *shown;      /* name for people; owned, or NULL: not made yet */
    struct cuda_kin *kin;   /* its timed launches by shape; owned */
    int max_dynamic_shared; /* attribute; -1: not set */
    int carveout;
    unsigned cluster[3]; /* attributes: the shape of clusters, blocks beyond the portable number */
    bool nonportable_cluster;
    int cluster_policy;
} cuda_function;

typedef struct cuda_variable {
    const void *host; /* shadow variable; of a managed one the pointer to it */
    const char *name;
    size_t size;
    bool constant, managed;
} cuda_variable;

/* Registered with the program, or loaded from data by it. */
struct cuda_module {
    cuda_module *next;
    const char *name;          /* in messages; owned */
    const void *const *linked; /* containers, NULL behind the last; or NULL: */
    const void *container[2];  /* the only one */
    struct cuda_image {
        pl_module *loaded; /* NULL: not yet, or `error` says why not */
        pl_checks *checks; /* --check: what has been found in its kernels so far, or NULL */
        uint64_t wrong, misaligned; /* accesses that they have left out; of these, misaligned */
        bool unchecked;             /* they could not be opened */
        bool tried;
        int error;
    } on[CUDA_DEVICES]; /* by device */
    int first;          /* of the devices that loaded it */
    char **text;        /* PTX that it was made of; owned */
    size_t ntexts;
    char *log; /* takes messages of the load; NULL: standard error does */
    size_t log_room;
    cuda_variable *variable;
    size_t nvariables, cap_variables;
    cuda_function **function;
    size_t nfunctions, cap_functions;
};

/* ---- memory ---- */

typedef struct cuda_alloc {
    uint64_t address, size;         /* as the GPU sees it */
    uint8_t *bytes;                 /* on the host */
    uint64_t room;                  /* bytes of the mapping */
    uint64_t reached;               /* bytes that kernels reach; 0: size */
    int type;                       /* MEMORY_... */
    int device;                     /* whose it is: the current one when it was made */
    unsigned reach;                 /* bit k: kernels of device k can access it */
    unsigned flags;                 /* of cudaHostAlloc, cudaHostRegister, cudaMallocManaged */
    bool registered;                /* belongs to the program */
    bool pooled;                    /* by cudaMallocAsync */
    bool fixed;                     /* its addresses are not given to others when it is freed */
    struct cuda_physical *physical; /* a mapping of it (cuMemMap); or NULL */
    int fd;                         /* its bytes are those of this file; 0: of none */
    uint64_t id;                    /* of all allocations of the process */
    void *context;                  /* in which it was made; NULL: the primary one */
    bool sync_memops;               /* attribute that programs set */
    double start;                   /* ns: when it was made */
    struct cuda_places *places;     /* managed: where its pages are; owned, or NULL */
    struct cuda_ordered *ordered;   /* under checkers: of a pool, its place in streams; or NULL */
    char *site;                     /* under checkers: what it is and where it was made; owned */
} cuda_alloc;

/* ---- streams and events ---- */

typedef struct cuda_stream {
    uint64_t id;
    int device;
    void *context; /* in which it was made; NULL: the primary one */
    unsigned flags;
    int priority;
    double ready; /* ns: when all that was put into it has ended, on the application's clock */
    bool host_function; /* what was put into it last is a function of the host */
    bool node;          /* it stands for a node of a graph */
    uint32_t slot;      /* order.c */
    struct cuda_known *known;
    struct cuda_capture *capture;
    struct cuda_pending *first;       /* what cannot begin yet (pending.c); or NULL */
    struct cuda_stream *next_blocked; /* of the streams that have such */
} cuda_stream;

typedef struct cuda_event {
    int device;
    unsigned flags;
    bool recorded;
    uint64_t stream;              /* in which */
    double time;                  /* ns */
    struct cuda_known *known;     /* order.c */
    struct cuda_capture *capture; /* in which it was recorded last; or NULL */
    bool captured;                /* it was recorded last in a capture, be it over or not */
    struct cuda_mark *mark;       /* where a blocked stream will record it; or NULL */
} cuda_event;

/* ---- the process ---- */

/* A device and its primary context. */
typedef struct cuda_device {
    pl_gpu *gpu;
    cuda_stream legacy;
    uint64_t used; /* bytes of its memory */
    uint64_t limit[16];
    unsigned limited; /* bit k: limit k has been set */
    unsigned flags;   /* of cudaSetDeviceFlags */
    int cache_config;
    unsigned peers; /* bit k: its kernels may access memory of device k */
} cuda_device;

typedef struct cuda_state {
    pthread_mutex_t lock;
    cuda_options options;
    cuda_device device[CUDA_DEVICES];
    int devices;
    unsigned runtime_used; /* bit k: the runtime has the primary context of device k */
    bool initialised;      /* cuInit has been called, or a function of the runtime */
    bool tried;            /* to open them */
    int start_error;       /* why that failed */
    int sticky; /* error of a context, which every call reports from now on, on all devices */
    uint64_t window, window_end, next; /* device addresses: reserved, and the next free one */
    uint64_t host_next;                /* where memory of the host that the GPU reaches may go */
    cuda_module *modules;
    cuda_table functions; /* by stub and by handle: cuda_function */
    cuda_table variables; /* by shadow variable: cuda_module */
    cuda_table streams, events;
    struct {
        cuda_alloc *at; /* by address */
        size_t n, cap;
    } alloc;
    /* What others do when memory is made, written unseen or freed; each may be NULL. */
    struct {
        void (*made)(const cuda_alloc *a);
        void (*written)(uint64_t address, uint64_t bytes);
        void (*freed)(cuda_alloc *a);
        void (*array_freed)(uint64_t address, uint64_t bytes);
    } on_memory;
    void (*on_wait)(void);  /* the host has waited for a stream; may be NULL */
    struct cuda_hole *hole; /* addresses that were given back */
    size_t nholes, cap_holes;
    uint64_t ids;
    double now; /* ns: the application's clock as the host sees it */
    pl_trace *trace;
    bool tracing; /* a launch that it takes is under way */
    bool paused;  /* by cudaProfilerStop: nothing is added to trace, summary and metrics */
    int64_t calls, threads; /* so far */
    int64_t graph_launch;   /* that is under way; 0: none */
    int64_t graph_launches; /* so far */
    /* While a graph runs, for its kernels: the handle of the graph, if kernels may launch it; who
     * takes graphs that they launch (pl_launch.launch_graph). */
    uint64_t graph;
    uint32_t (*launch_graph)(void *ctx, uint64_t graph, uint64_t stream);
    /* Takes changes of nodes by kernels; NULL: there are no such nodes. */
    uint32_t (*update_node)(void *ctx, uint64_t node, uint32_t field, const void *value,
                            uint64_t offset, uint64_t bytes);
    uint64_t steps; /* operations and values of streams so far */
} cuda_state;

extern cuda_state cuda;

enum { CUDA_CONTEXTS = 16 }; /* on the stack of a thread, at most */

/* A context that the program has made is a name for its device: memory, streams and modules are
 * those of the primary context. */
typedef struct cuda_context {
    int device;
    bool made; /* by the program */
    unsigned flags;
    unsigned retained;        /* of a primary one: by the program; of others: cuCtxAttach */
    struct cuda_green *green; /* it stands for that; or NULL */
} cuda_context;

/* A green context: part of a device's SMs. */
typedef struct cuda_green cuda_green;

/* A host thread. */
typedef struct cuda_thread {
    int last;                     /* error of the latest call that failed */
    int device;                   /* the current one */
    bool bound;                   /* a context is current */
    struct cuda_context *context; /* of it; NULL: the primary one */
    struct cuda_context *below[CUDA_CONTEXTS];
    unsigned contexts; /* in `below` */
    const char *call;  /* the running call */
    int64_t call_id;   /* its number in the trace */
    double call_start;
    bool charged;    /* its time on the host has been counted */
    int64_t number;  /* of the thread, from 1; 0: it has made no call yet */
    bool callback;   /* the thread is in a function that the stream has called */
    bool per_thread; /* the running call is of the variant whose default stream is the thread's */
    bool deferred;   /* it executes what was put into a stream by an earlier call */
    cuda_stream *stream[CUDA_DEVICES];
    unsigned depth; /* of the stack of launch configurations */
    struct cuda_configuration {
        dim3 grid, block;
        size_t shared;
        void *stream;
    } configuration[16];
} cuda_thread;

extern _Thread_local cuda_thread cuda_self;

/* Trace and summary are told what happens. */
static inline bool cuda_recording(void)
{
    return cuda.trace && !cuda.paused;
}
/* The current device. */
static inline cuda_device *cuda_here(void)
{
    return &cuda.device[cuda_self.device];
}
static inline bool cuda_is_device(int device)
{
    return device >= 0 && device < cuda.devices;
}

/* How a call may enter. */
typedef enum cuda_entry {
    CUDA_QUERY, /* it does not report the sticky error */
    CUDA_WORK
} cuda_entry;

/* Of the driver: what must have happened before. */
typedef enum cuda_driver_entry {
    CUDA_ALWAYS,
    CUDA_INITIALISED,        /* cuInit */
    CUDA_BY_PROGRAM,         /* the same, but not by functions that streams call */
    CUDA_BY_HANDLE,          /* an argument tells the context */
    CUDA_BY_HANDLE_ANYWHERE, /* the same, also by functions that streams call */
    CUDA_IN_CONTEXT          /* the thread has a current context */
} cuda_driver_entry;

/* Takes the lock and starts the context if it is the first call. Not 0: the error to return. */
int cuda_enter(const char *name, cuda_entry how, bool per_thread);
int cuda_enter_driver(const char *name, cuda_driver_entry how, bool per_thread);
/* Gives back the lock, remembers an error for cudaGetLastError; returns it. */
int cuda_leave(int error);
/* The same for calls of the driver, whose errors nobody remembers. */
int cuda_leave_driver(int error);
int cuda_driver_error(int error);
/* For a call that this library does not do: a sentence on standard error the first time. */
int cuda_refused(const char *name, const char *why);
/* Without the lock: opens the GPU once. */
int cuda_start(void);

/* Real time in seconds, from some moment on. */
double cuda_seconds(void);
/* A line on standard error: "ptxloom: ...". */
void cuda_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints the diagnostics of a device, or of all, and clears them. */
void cuda_messages_of(pl_gpu *gpu);
void cuda_messages(void);
/* Text that kernels have printed goes to standard output. */
void cuda_flush(void);
/* The contexts fail from now on. */
void cuda_fail(int error);
/* The number of a CUDA error by name, cudaError... or CUDA_ERROR_...; 0: NULL or unknown. */
int cuda_error_number(const char *name);

/* ---- fatbin.c ---- */

/* The PTX of a container that suits the machine best, from malloc, with a NUL behind it.
 * CU_NO_IMAGE: there is none; *code then says what is there instead ("sm_90"), or is empty. */
int cuda_fatbin_ptx(const void *container, unsigned capability, char **text, size_t *bytes,
                    char code[128]);
bool cuda_is_fatbin(const void *data);

/* ---- module.c ---- */
unsigned cuda_capability(void);
const char *cuda_device_name(void);
/* The kernel of that name of a loaded module; NULL: there is none. */
cuda_function *cuda_module_function(cuda_module *m, const char *name);
void cuda_module_free(cuda_module *m);
int cuda_module_load(cuda_module *m);
/* Whether kernels of a device reach the variables of all modules on another one. */
int cuda_reach_variables(int owner, int device, bool can);
extern const char cuda_unnamed_text[]; /* in messages: PTX that the program gives */
/* Whether texts can be parts of one module, by what they define; messages go to log, or to
 * standard error if that is NULL. */
int cuda_texts_fit(char *const *text, size_t n, char *log, size_t room);
/* Assembled modules of earlier runs (module_cache.c): false: there is none for these texts. */
bool cuda_cache_load(const cuda_module *m, const pl_load_options *options, pl_module **out);
void cuda_cache_store(const cuda_module *m, pl_module *assembled);
/* As it is on the current device. */
static inline pl_module *cuda_loaded(const cuda_module *m)
{
    return m->on[cuda_self.device].loaded;
}
/* Its variables are as they were when it was loaded. */
void cuda_module_reset(cuda_module *m);
int cuda_function_of(const void *key, cuda_function **out);
/* Address and size of a registered variable. */
int cuda_variable_of(const void *host, uint64_t *address, uint64_t *bytes);
int cuda_function_ready(cuda_function *f);

/* ---- driver.c, linker.c: images that the program loads ---- */
int cuda_load_image(cuda_module **out, const void *image, char *log, size_t room);
bool cuda_is_ptx(const char *text);
/* The bytes of a file with some zeros behind them, from malloc; *size may be NULL. */
char *cuda_read_file(const char *path, size_t *size);
/* What cuLinkComplete has made, and the PTX in it. */
bool cuda_is_link(const void *image);
int cuda_link_texts(const void *image, char ***texts, size_t *n);

/* ---- allocation.c ---- */
static inline uint64_t cuda_round_up(uint64_t n, uint64_t grain)
{
    return (n + grain - 1) / grain * grain;
}
/* Bytes of a page of the host. */
uint64_t cuda_page(void);
/* The address is one of the window, in which device memory has its addresses. */
bool cuda_in_window(uint64_t address);
/* An allocation of device memory has bytes of the same 2 MiB. */
bool cuda_alloc_shares_page(uint64_t address);
/* Memory of the host that the GPU reaches at the same address. */
int cuda_alloc_host(uint64_t size, int type, unsigned flags, void **out);
/* The emulator may read a little beyond `end`; false: a mapping of the program prevents that. */
bool cuda_readable_beyond(uintptr_t end);
const cuda_alloc *cuda_alloc_find(uint64_t address);
/* The one that begins there. */
cuda_alloc *cuda_alloc_at_address(uint64_t address);
/* Sets the attribute CU_POINTER_ATTRIBUTE_SYNC_MEMOPS; false: there is no memory. */
bool cuda_alloc_mark(uint64_t address, bool sync_memops);
/* Where the bytes at a pointer are on the host, be it of the GPU's memory or the program's. NULL: a
 * part of them is not there. *device (may be NULL): the GPU can reach them. */
uint8_t *cuda_bytes(const void *p, uint64_t bytes, bool *device);
/* Those of variables of modules and of allocations, on any device; *device (may be NULL): which. */
uint8_t *cuda_view(uint64_t address, uint64_t bytes, int *device);
uint64_t cuda_window_open(void);

int cuda_alloc_device(uint64_t size, int device, bool pooled, uint64_t *out);
/* Addresses without memory, and memory there; they are kept when it is freed. */
uint64_t cuda_reserve_addresses(uint64_t bytes);
void cuda_return_addresses(uint64_t address, uint64_t bytes);
int cuda_alloc_at(uint64_t address, uint64_t size, int device);
/* Of pools and of virtual memory management alike. */
enum {
    CUDA_POSIX_FILE = 1,      /* cudaMemAllocationHandleType, CUmemAllocationHandleType */
    CUDA_LOCATION_DEVICE = 1, /* cudaMemLocationType, CUmemLocationType */
    CUDA_READ_WRITE = 3       /* cudaMemAccessFlags, CUmemAccess_flags */
};
/* An empty file in memory of so many bytes; -1: there is none. */
int cuda_memory_file(uint64_t bytes);
/* Memory of a file, which is taken over. */
int cuda_alloc_file(int fd, uint64_t size, uint64_t *out);
/* Makes an allocation's bytes those of a file; -1: no memory. */
int cuda_share(uint64_t address);
/* The devices of a->reach reach it from now on, and it is on the list. */
int cuda_publish(const cuda_alloc *of);
/* Whether kernels of a device reach an allocation from now on. */
int cuda_reach(uint64_t address, int device, bool can);
/* The same for all that `cudaMalloc` has made on another device. */
int cuda_reach_all(int owner, int device, bool can);
int cuda_release(uint64_t address, unsigned types);
/* ---- memory.c ---- */
/* All of these bytes are of managed memory. */
bool cuda_is_managed(const void *p, size_t bytes);
uint64_t cuda_device_bytes(void);

/* ---- share.c: an allocation for other processes, and one of another process ---- */
int cuda_export(const cuda_alloc *a, cuda_ipc *out);
int cuda_import(const cuda_ipc *handle, void **out);
/* It is open by cudaIpcOpenMemHandle, which cudaFree does not undo. */
bool cuda_is_imported(const void *p);

/* ---- operations: what is put into streams and graphs ---- */

/* Memory, or a part of an array. */
typedef struct cuda_side {
    void *p; /* memory: its first byte */
    size_t pitch, slice;
    struct cuda_array *array; /* or NULL */
    size_t x, y, z;           /* in an array: bytes, rows, slices */
} cuda_side;

typedef struct cuda_copy {
    cuda_side to, from;
    size_t width, height, depth; /* bytes, rows, slices */
    int kind;                    /* COPY_... */
} cuda_copy;

typedef struct cuda_set {
    void *p;
    size_t pitch, slice, width, height, depth; /* width: in elements */
    unsigned value, element;                   /* bytes of an element */
} cuda_set;

/* Those of pinned and managed memory wait for the stream, unless they are asynchronous ("API
 * synchronization behavior" of the CUDA Runtime API). */
int cuda_submit_set(const cuda_set *c, void *stream, bool async);

typedef struct cuda_launch {
    dim3 grid, block;
    unsigned cluster[3];
    size_t shared;
    bool cooperative, dependent;
    bool clustered;   /* the launch says so */
    bool prioritised; /* it has a priority of its own: */
    int priority;
    cuda_green *green; /* whose SMs it runs on; NULL: on all */
} cuda_launch;

typedef enum cuda_op_kind {
    OP_KERNEL,
    OP_COPY,
    OP_SET,
    OP_HOST,
    OP_GRAPH,
    OP_EMPTY,
    OP_WAIT,
    OP_RECORD,
    OP_SIGNAL_SEMAPHORE,
    OP_WAIT_SEMAPHORE,
    OP_ALLOC,
    OP_FREE,
    OP_MEMORY,
    OP_CONDITION
} cuda_op_kind; /* the numbers of cudaGraphNodeType */

/* CUstreamBatchMemOpParams */
typedef struct cuda_memory_op {
    int kind;
    uint64_t address, value;
    unsigned flags;
    uint64_t alias, room;
} cuda_memory_op;
_Static_assert(sizeof(cuda_memory_op) == 48, "layout of CUDA 13");

/* Values that a stream writes and waits for, one after the other. */
typedef struct cuda_memory_ops {
    unsigned n, next; /* next: those before it are done */
    cuda_memory_op at[];
} cuda_memory_ops;

typedef struct cuda_op {
    cuda_op_kind kind;
    union {
        struct {
            cuda_function *f;
            int device;
            cuda_launch l;
            uint8_t *params; /* owned by whoever holds the op */
        } kernel;
        cuda_copy copy;
        cuda_set set;
        struct {
            void (*fn)(void *);
            void *arg;
        } host;
        struct cuda_graph *graph;
        cuda_event *event;
        struct cuda_graph_memory *memory;
        struct cuda_condition *condition;
        cuda_memory_ops *values; /* owned by whoever holds the op */
    } u;
} cuda_op;

enum { CUDA_BLOCKED = -1 }; /* of an operation: it waits for a value and has to be executed again */

/* ---- op.c ---- */
/* Does it now, or when the stream is not blocked any more, or makes it a node of the graph that the
 * stream captures. Takes what the op owns over. */
int cuda_submit(cuda_stream *s, cuda_op *op);
/* Does it now. CUDA_BLOCKED: not all of it. */
int cuda_execute(cuda_stream *s, const cuda_op *op);

/* ---- pending.c: streams that are blocked ---- */
/* Threads of this library have this name. */
#define CUDA_THREAD_NAME "ptxloom worker"
/* What is put into a blocked stream. */
typedef struct cuda_work {
    int (*run)(cuda_stream *s, void *what); /* CUDA_BLOCKED: it has to be called again */
    void (*drop)(void *what);               /* at the end, be it run or not; or NULL */
    /* Those of which the next one is waited for; or NULL. */
    const cuda_memory_ops *(*values)(const void *what);
    void *what;
} cuda_work;
/* Something in the stream, or that it waits for as the legacy stream does, cannot begin. */
bool cuda_is_blocked(const cuda_stream *s);
/* The host would have to wait for something that cannot begin. */
bool cuda_has_pending(const cuda_stream *s);
/* Runs it when it can begin. */
int cuda_defer(cuda_stream *s, const cuda_work *work);
/* Executes what can begin; true: there was something. */
bool cuda_progress(void);
/* The host waits until nothing is pending in a stream, on a device, of something else. */
void cuda_settle(const cuda_stream *s);
void cuda_settle_device(int device);
void cuda_settle_until(bool (*pending)(const void *), const void *what);
/* ---- mark.c: events of blocked streams ---- */
void cuda_record_event(cuda_stream *s, cuda_event *e);
int cuda_defer_record(cuda_stream *s, cuda_event *e);
/* A blocked stream waits for an event, or any stream for one of a blocked stream. */
int cuda_defer_wait(cuda_stream *s, const cuda_event *e);
void cuda_settle_event(const cuda_event *e);
/* The event is recorded anew, or gone. */
void cuda_forget_mark(cuda_event *e);
/* ---- values.c: values in memory ---- */
/* 0: an operation without a value. */
unsigned cuda_value_bytes(const cuda_memory_op *p);
bool cuda_value_waits(const cuda_memory_op *p);
/* When a wait ends that begins then; false: nothing so far ends it. */
bool cuda_value_ends(const cuda_memory_op *p, double begin, double *end);
/* Memory may have changed, at that time. */
void cuda_watch(double now);
/* The op of a list of CUstreamBatchMemOpParams; copies of what it holds. */
int cuda_memory_ops_make(unsigned n, const void *values, unsigned flags, cuda_op *op);
cuda_memory_ops *cuda_copy_memory_ops(const cuda_memory_ops *m);
/* "for the 32-bit value ..."; false: the next one does not wait. */
bool cuda_memory_ops_text(const cuda_memory_ops *m, char *text, size_t room);
/* What it waits for may be written by other processes. */
bool cuda_memory_ops_shared(const cuda_memory_ops *m);

/* ---- transfer.c ---- */
/* The copy of so many bytes in a row. */
cuda_copy cuda_line(void *to, const void *from, size_t bytes, int kind);
int cuda_convert3d(const cuda_copy3d *p, cuda_copy *c);
/* CU_OK when it can be done. */
int cuda_check_copy(const cuda_copy *c);
int cuda_check_set(const cuda_set *s);
/* Does what the check has allowed. */
int cuda_copy_now(const cuda_copy *c);
int cuda_set_now(const cuda_set *s);

/* ---- driver.c ---- */
/* NULL: there is no such context. */
cuda_context *cuda_context_of(void *handle);
bool cuda_list_context(cuda_context *c);
void cuda_end_context(cuda_context *c);
/* The handle of a context that the program has made, else of the primary one. */
void *cuda_context_named(void *made, int device);

/* ---- driver_memory.c: CUDA_MEMCPY3D ---- */
typedef struct cuda_copy_side {
    size_t x, y, z, level; /* bytes, rows, slices */
    unsigned type;         /* CUmemorytype */
    void *host;
    uint64_t device;
    struct cuda_array *array;
    void *context;
    size_t pitch, height;
} cuda_copy_side;
typedef struct cuda_driver_copy {
    cuda_copy_side from, to;
    size_t width, height, depth;
} cuda_driver_copy;
_Static_assert(sizeof(cuda_driver_copy) == 200, "layout of CUDA 13");
/* CU_OK when it can be done. */
int cuda_convert_driver(const cuda_driver_copy *p, cuda_copy *c);

/* ---- graph.c: what a stream does while it captures ---- */
/* The op becomes a node; takes what it owns over. */
int cuda_capture_op(cuda_stream *s, const cuda_op *op);
int cuda_capture_record(cuda_stream *s, cuda_event *e);
int cuda_capture_wait(cuda_stream *s, const cuda_event *e);
/* Calls that captures under way may not allow, and then are invalid from now on: the error to
 * return. */
typedef enum cuda_unsafe {
    CUDA_ALLOCATES, /* or frees */
    CUDA_WAITS_FOR_DEVICE,
    CUDA_IN_LEGACY_STREAM
} cuda_unsafe;
int cuda_capture_allows(cuda_unsafe what);
/* An event of a capture is asked for. */
int cuda_capture_event(const cuda_event *e);
/* A call that a capturing stream does not allow: the capture is invalid from now on. */
int cuda_capture_broken(cuda_stream *s);

/* ---- pool.c ---- */
/* The host has waited for the device. */
/* ---- attribute.c ---- */
/* The stream is gone. */
void cuda_forget_attributes(const void *key);
/* ---- stream.c ---- */
int cuda_clamp_priority(int priority);

/* ---- queue.c ---- */
enum {
    CUDA_NON_BLOCKING = 1,  /* flag: cudaStreamNonBlocking */
    CUDA_STREAM_LEGACY = 1, /* handles with a meaning of their own */
    CUDA_STREAM_PER_THREAD = 2
};

/* A stream of the program has a context, a default stream that of the thread. */
static inline cuda_driver_entry cuda_stream_enters(const void *stream, cuda_driver_entry by_handle)
{
    return (uintptr_t)stream > CUDA_STREAM_PER_THREAD ? by_handle : CUDA_IN_CONTEXT;
}
/* It waits for the legacy stream, which waits for it. */
static inline bool cuda_blocking(const cuda_stream *s)
{
    return !(s->flags & CUDA_NON_BLOCKING);
}
/* A stream of the current device; NULL: no memory. */
cuda_stream *cuda_new_stream(unsigned flags, int priority);
extern void *const cuda_legacy_handle;
/* The stream behind a handle; NULL: there is none. */
cuda_stream *cuda_stream_of(const void *handle);
/* A time on the application's clock, in ns. */
typedef struct cuda_span {
    double start, end;
} cuda_span;
/* When the stream can begin with something that the host gives it now. */
double cuda_ready(const cuda_stream *s);
/* Something of that many ns is put into a stream. *unit: when the unit that it needs is free, on
 * which it is kept then; or NULL. */
cuda_span cuda_timeline(cuda_stream *s, double ns, double *unit);
/* When all that is in a stream will have ended, or in all of them (NULL). */
double cuda_end_of(cuda_stream *s);
/* The host waits for a stream, or for all (NULL). */
void cuda_wait(cuda_stream *s);

/* ---- resident.c: kernels side by side ---- */
/* A kernel of so many ns is put into a stream: waves of blocks, of which the last, if it is not a
 * whole one, takes that share of the GPU. */
cuda_span cuda_place_kernel(cuda_stream *s, cuda_green *green, int priority, double ns,
                            double waves, double last);

/* ---- migrate.c: where the pages of managed memory are ---- */
/* Bytes that have moved: written before, or of pages that nobody has written. */
typedef struct cuda_moved {
    double written, fresh;
} cuda_moved;
/* For an allocation of managed memory; NULL: out of memory, then none of it moves. */
struct cuda_places *cuda_places_new(uint64_t bytes);
void cuda_places_free(struct cuda_places *p);
/* The device begins to work, and has ended: the pages between are those that the host has written.
 * p: on one allocation; NULL: on all. */
void cuda_device_begins(const void *p);
void cuda_device_ends(const void *p);
/* Pages of managed memory move to the device; -1: to the host. */
cuda_moved cuda_move_pages(const void *from, uint64_t bytes, int device);
/* The same for all allocations that the parameters of a kernel point into. */
cuda_moved cuda_move_parameters(const void *params, uint64_t bytes, int device);

/* ---- clock.c: what happens in a stream takes its time ---- */
void cuda_clock_copy(cuda_stream *s, const cuda_copy *c);
void cuda_clock_set(cuda_stream *s, const cuda_set *x);
/* A prefetch to the device; -1: to the host. */
void cuda_clock_prefetch(cuda_stream *s, const void *p, uint64_t bytes, int device);
void cuda_clock_event(cuda_stream *s);
void cuda_clock_host_function(cuda_stream *s);
/* What the host does to put an operation into a blocked stream. */
void cuda_clock_deferred(const cuda_op *op);
/* A side of a copy that is memory of the host which the GPU does not reach. */
bool cuda_is_pageable(const cuda_side *s);
typedef struct cuda_kernel_time {
    const char *name;
    double cycles;
    bool estimated;
    double spread; /* cycles; < 0: unknown */
    uint32_t blocks_per_sm;
    cuda_moved moved; /* by its accesses */
} cuda_kernel_time;
void cuda_clock_kernel(cuda_stream *s, const cuda_launch *l, const cuda_kernel_time *t);
/* A graph with so many nodes that wait for no other begins. */
void cuda_clock_graph(cuda_stream *s, size_t roots);
/* When a kernel will begin that is put into the stream now, as far as that is known. */
double cuda_clock_kernel_start(const cuda_stream *s);
double cuda_guessed_cycles(double instructions, double blocks, double sms, double longest_warp);
/* The host: a call ends; it allocates or frees; it gives a device access to a peer; it waits until
 * then; it asks, which takes the time of a call, whether that time has come. */
void cuda_clock_call(void);
void cuda_clock_alloc(bool release);
void cuda_clock_peer(void);
void cuda_clock_wait(double until);
bool cuda_clock_poll(double until);

/* ---- host_clock.c: the program's own timers; the lock is held ---- */
/* A thread begins with a call, or goes on with it behind a function of the program. */
void cuda_host_enter(void);
/* It ends it, or calls such a function. */
void cuda_host_leave(void);
/* The thread is in a call. Without the lock. */
bool cuda_host_inside(void);
/* A function pl_NAME takes the place of NAME in the C library, in programs that ask for this
 * version of it. */
#define CUDA_EXPORT(name, version)                                                                 \
    __typeof__(pl_##name) pl_##name##_libc                                                         \
        __attribute__((alias("pl_" #name), visibility("default")));                                \
    __asm__(".symver pl_" #name "_libc, " #name "@" version)

/* ---- host_thread.c ---- */
/* With the lock, which is free meanwhile. */
void cuda_call_host(void (*fn)(void *), void *arg);

/* ---- timing.c: which launches run with the model of time, and how long the others take ---- */
bool cuda_timed(const cuda_function *f, const cuda_launch *l);
double cuda_timed_seconds(void); /* how long blocks of a launch get the model; 0: to its end */
cuda_kernel_time cuda_time_of(cuda_function *f, const cuda_launch *l, const pl_result *r);
void cuda_kin_free(cuda_function *f);

/* ---- patch.c ---- */
/* The place in the program that has called us: "main+0x42"; empty: it is not known. */
void cuda_caller(char *text, size_t room);
/* The file whose code has called us: "libcublas.so.13"; empty: it is not known. */
void cuda_calling_object(char *text, size_t room);

/* ---- activity.c: trace and summary of the application ---- */
typedef struct cuda_activity {
    const char *kind, *name;
    uint64_t stream;
    cuda_span span;
    int64_t bytes; /* -1: none */
    const char *source, *destination;
    bool launch, estimated;
    double spread; /* ns; < 0: unknown */
} cuda_activity;
void cuda_note(const cuda_activity *a);
/* What ends in a stream after that time ends later. */
void cuda_note_moved(int device, uint64_t stream, double from, double by);
/* The running call ends with that result. */
void cuda_note_call(int result, const char *error);
void cuda_note_allocation(const cuda_alloc *a, double end);
/* Counts what a launch executed. */
void cuda_count(const char *name, const pl_result *r);
/* Adds the metrics of the launch that has just ended; prints them all. */
void cuda_count_metrics(const char *kernel);
void cuda_print_metrics(void);
/* The name of a kernel as its source has it. */
const char *cuda_shown_name(cuda_function *f);
/* Shows what checkers have found in the module's kernels. */
void cuda_show_findings(cuda_module *m);
/* Were there errors in any module? */
bool cuda_found_errors(void);

/* ---- signals.c: a signal, _exit or quick_exit ends the program ---- */
/* Not 0: launches end. 1: since the program ends; 2: by --timeout. */
extern volatile int cuda_stop;
/* Gets the exit status of the program, and returns what it becomes. */
typedef int cuda_show(int status);
/* From here on `show` is called, with the lock held, before any of these ends the process. */
void cuda_ended_watch(cuda_show *show);
/* Ends the process with this status at once, but not without `show`. The lock may be held. */
_Noreturn void cuda_end_with(int with);
/* exit() begins: launches of other threads end. */
void cuda_exits(int with);
/* With the lock held: if the process is about to end like that, it does so here. */
void cuda_ended_now(void);
bool cuda_ended(void);

/* ---- checked.c: checkers over the whole program; without --check these do nothing ---- */
/* [base, base + bytes): addresses of device memory. */
void cuda_checked_open(uint64_t base, uint64_t bytes);
/* Those of a module on the current device; NULL: none. */
pl_checks *cuda_checks_open(void);
/* Shows what the program has done wrong outside of kernels. True: errors are among it. */
/* Shows what checkers have found; m NULL: outside of kernels. True: there are errors. */
bool cuda_checked_show(pl_checks *c, pl_module *m);
/* What the program did wrong itself, at its end. failed: its exit status is not 0. */
bool cuda_checked_report(bool failed);
/* A call does something wrong: `kind` as in `ptxloom explain`. */
void cuda_checked_misuse(const char *kind, const char *what);
/* The same; misuses with the same key are one. */
void cuda_checked_misuse_at(const char *kind, const char *key, const char *what);
void cuda_checked_written(uint64_t address, uint64_t bytes);
/* It has not been freed, and now nobody can any more. */
void cuda_checked_leak(const cuda_alloc *a);
void cuda_checked_copy(const cuda_copy *c);
void cuda_checked_set(const cuda_set *s);
void cuda_checked_array(const struct cuda_array *a);
/* Where row y of slice z of a side begins. */
uint64_t cuda_checked_address(const cuda_side *s, size_t y, size_t z);

/* ---- order.c: the order of streams, under --check ---- */
/* An operation among those of its stream. */
typedef struct cuda_order_place {
    uint32_t slot, time;
    uint64_t stream;
    int device;
    bool node; /* in a graph */
} cuda_order_place;
/* From here on; has that been called? */
void cuda_order_begin(void);
bool cuda_order_on(void);
/* The operation that the stream has begun; is an earlier one ordered before it, and does the host
 * know of its end? */
cuda_order_place cuda_order_now(const cuda_stream *s);
bool cuda_order_follows(const cuda_stream *s, const cuda_order_place *p);
bool cuda_order_host_knows(const cuda_order_place *p);
/* "stream 3" */
const char *cuda_order_stream_name(const cuda_order_place *p, char text[60]);
/* The stream has waited for a value, which anybody may have written. */
void cuda_order_value(cuda_stream *s);
/* An operation begins in a stream. */
void cuda_order_op(cuda_stream *s);
void cuda_order_record(const cuda_stream *s, cuda_event *e);
void cuda_order_wait(cuda_stream *s, const cuda_event *e);
void cuda_order_copy_event(cuda_event *to, const cuda_event *from);
/* The host has waited for a stream, or for all of the device (NULL); for an event. */
void cuda_order_host(const cuda_stream *s);
void cuda_order_host_event(const cuda_event *e);
void cuda_order_stream_ends(cuda_stream *s);
/* What stands for a part of a graph knows more; it is no more. */
void cuda_order_join(struct cuda_known **to, const struct cuda_known *from);
void cuda_order_forget(cuda_stream *s);
/* Memory is allocated or freed in the order of a stream; it is no more. */
void cuda_order_made(uint64_t address, cuda_stream *s);
void cuda_order_freed(uint64_t address, cuda_stream *s);
/* The operation that has begun accesses memory. */
void cuda_order_copy(const cuda_stream *s, const cuda_copy *c);
void cuda_order_set(const cuda_stream *s, const cuda_set *x);
/* Memory that a launch may access, or must not; and its end. */
pl_checked_range *cuda_order_ranges(const cuda_stream *s, size_t *n);
void cuda_order_launched(const cuda_stream *s, pl_checked_range *r, size_t n, const char *kernel);

/* ---- stream_race.c: races between streams, under --check race ---- */
/* What an operation that has begun touches: a copy, a set, a launch (before it and behind it). */
void cuda_stream_race_copy(const cuda_stream *s, const cuda_copy *c);
void cuda_stream_race_set(const cuda_stream *s, const cuda_set *x);
void cuda_stream_race_launch(pl_checks *c);
void cuda_stream_race_launched(const cuda_stream *s, pl_checks *c, pl_module *m,
                               const char *kernel);
/* Memory that is no more; variables of a module. */
void cuda_stream_race_freed(uint64_t address, uint64_t bytes);
void cuda_stream_race_unloaded(const pl_module *m);

/* ---- named.c ---- */
typedef struct cuda_named {
    uint64_t start;
    char text[400]; /* "device memory of cudaMalloc, call 3, in main+0x42", "variable 'x'" */
} cuda_named;
/* What the address belongs to. False: nothing that the program has made. */
bool cuda_named_at(uint64_t address, cuda_named *n);
void cuda_named_array(const struct cuda_array *a);
void cuda_named_array_freed(const struct cuda_array *a);

/* ---- launch.c ---- */
/* CU_OK when cudaAccessPolicyWindow is one that the device takes. */
int cuda_check_window(const void *value);

/* ---- kernel_run.c ---- */
/* params: the parameter block of the kernel. */
int cuda_run(cuda_stream *s, cuda_function *f, const cuda_launch *l, const void *params);
/* CU_OK when the driver takes such a launch; *blocks fit on a multiprocessor. */
int cuda_check_launch(const cuda_function *f, const cuda_launch *l, uint32_t *blocks);
/* Gathers the arguments into a parameter block from malloc. */
int cuda_gather(const cuda_function *f, void *const *args, uint8_t **params);
/* From a block that the program has made: `extra` of a launch. */
int cuda_gather_block(const cuda_function *f, void *const *extra, uint8_t **params);
void cuda_summary(void);

/* ---- array.c ---- */
typedef struct cuda_array {
    uint64_t handle; /* of the library */
    int device;
    pl_array_desc desc;
    cuda_channel channel;
    unsigned flags, level;
    struct cuda_array *whole; /* a level of this one; or NULL */
} cuda_array;
/* Its bytes on the host, and those of a row and of a slice. */
uint8_t *cuda_array_bytes(const cuda_array *a, size_t *pitch, size_t *slice);
/* Rows and slices; of a one-dimensional array one. */
void cuda_array_size(const cuda_array *a, size_t *width, size_t *height, size_t *depth);
/* The texture object that a runtime call makes; whole_numbers: as the driver, which filters
 * integers, too. */
int cuda_create_texture(unsigned long long *out, const cuda_resource *r, const cuda_texture *t,
                        const void *view, bool whole_numbers);

/* ---- patch.c ---- */
typedef struct cuda_entry_point {
    const char *name;
    unsigned versions; /* bits: 1 CUDA 11, 2 CUDA 12, 4 CUDA 13; 8: it is refused */
    void *address;
} cuda_entry_point;
extern const cuda_entry_point cuda_entry_points[];
extern const size_t cuda_entry_point_count;

#include "cudart/gen_api.h"

#endif
