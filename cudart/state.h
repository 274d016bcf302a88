/* state.h - declarations shared by the files of cudart/: the devices of the process, and how a call
 * enters and leaves them.
 *
 * Every entry point of api.def acquires the lock, does its work and releases the lock; kernels run
 * while it is held. The state of a host thread is thread-local and needs no lock. */
#ifndef PL_CUDART_STATE_H
#define PL_CUDART_STATE_H

#include "cudart/abi.h"
#include "include/ptxloom.h"
#include <pthread.h>

/* ---- options ---- */

typedef struct cuda_options {
    const char *arch, *trace, *metrics, *check, *check_kernel, *suppressions, *cache;
    pl_mode mode;
    bool mode_given, timing_given, page_bounds, summary, packed, log, host_clock, from_profiler,
        leak_check, memoize, random, sanitizer, exitcode_given, arch_given;
    int opt_level;
    pl_trace_level trace_level;
    uint64_t check_limit, threads, timeout, trace_limit, max_cycles, max_instructions, devices,
        exitcode, seed; /* of --schedule random */
    pl_trace_filter filter;
    /* --timing: the launches that run with the timing model. */
    enum { CUDA_TIME_ALL, CUDA_TIME_FIRST, CUDA_TIME_BUDGET } timing;
    double timing_limit; /* launches per kernel and shape; seconds of emulation */
} cuda_options;

/* ---- tables ---- */

/* Keys are addresses other than 0. */
typedef struct cuda_table {
    struct cuda_slot {
        uintptr_t key;
        void *value;
    } * slot;
    size_t n, cap; /* n: used slots, including deleted ones; cap: a power of two */
} cuda_table;
void *cuda_table_get(const cuda_table *t, const void *key);
/* Returns an array of malloc, of n elements of `size` bytes, with room for one more; *cap elements
 * fit. NULL: no memory, and the array stays as it is. */
void *cuda_array_room(void *array, size_t n, size_t *cap, size_t size);
bool cuda_table_put(cuda_table *t, const void *key, void *value);
void cuda_table_remove(cuda_table *t, const void *key);
/* Iterates over the values: starts at *at = 0, advances *at, and returns NULL at the end. Entries
 * may be removed meanwhile, but not added. */
void *cuda_table_next(const cuda_table *t, size_t *at);

/* ---- modules ---- */

enum {
    CUDA_DEVICES = 16, /* maximum */
    CUDA_ALL_DEVICES = 0xffff
};

typedef struct cuda_module cuda_module;

/* The attributes of a kernel that a program can set, on one device. */
typedef struct cuda_func_settings {
    int max_dynamic_shared; /* -1: not set */
    int carveout;           /* percent; -1: not set */
    int cache_config;       /* cudaFuncCache */
    unsigned cluster[3];    /* shape */
    int nonportable_cluster;
    int cluster_policy;
} cuda_func_settings;

/* A kernel of a module, or a name registered for a module that is not loaded yet. */
typedef struct cuda_function {
    cuda_module *module;
    const void *host; /* address of its stub, or NULL */
    const char *name;
    bool ready; /* the following members have been read from the module */
    pl_kernel_info info;
    unsigned registers;                    /* cuda_registers; 0: not known yet */
    pl_kernel_param *param;                /* info.nparams; owned */
    const char *shown;                     /* displayed name; owned, or NULL: not computed yet */
    struct cuda_timed_shape *timed_shapes; /* its timed launches by shape; owned */
    double traffic; /* bytes of global memory requested per instruction; < 0: not counted yet */
    cuda_func_settings *settings;       /* by device; owned, or NULL: nothing has been set */
    struct cuda_set_launch *set_launch; /* cuFuncSetBlockShape, ...; owned, or NULL */
} cuda_function;

typedef struct cuda_variable {
    const void *host; /* shadow variable; of a managed variable, the pointer to it */
    const char *name;
    size_t size;
    bool constant, managed;
} cuda_variable;

/* A module registered by the program's constructors, or loaded by the program at run time. */
struct cuda_module {
    cuda_module *next;
    const char *name;          /* in messages: of the program or library; not owned */
    bool library;              /* loaded by cudaLibraryLoadData: in all contexts */
    bool bound;                /* loaded by cuModuleLoadData: in one context */
    void *context;             /* that one; NULL: a primary context */
    const void *const *linked; /* containers, NULL after the last; or NULL: */
    const void *container[2];  /* the container with the machine code, usually the only one */
    struct cuda_image {
        pl_module *loaded;          /* NULL: not loaded yet, or failed with `error` */
        pl_checks *checks;          /* --check: findings in its kernels so far, or NULL */
        uint64_t wrong, misaligned; /* accesses skipped by checkers; misaligned ones */
        bool unchecked;             /* the checkers could not be opened */
        bool tried;
        int error;
    } on[CUDA_DEVICES]; /* by device */
    int first;          /* first device that loaded it */
    char **text;        /* PTX that it was assembled from; owned */
    size_t ntexts;
    char *log;  /* receives the errors of the load; NULL: standard error */
    char *info; /* and other messages, if there is a log; may be NULL */
    size_t log_size, info_size;
    cuda_variable *variable;
    size_t nvariables, cap_variables;
    cuda_function **function;
    size_t nfunctions, cap_functions;
    struct cuda_code {
        char *kernel; /* owned */
        unsigned registers;
    } * code; /* kernels in its machine code for this GPU */
    size_t ncode, cap_code;
    bool code_read; /* otherwise `code` is not known yet */
};
typedef struct cuda_code cuda_code;

/* ---- memory ---- */

typedef struct cuda_alloc {
    uint64_t address, size;         /* as seen by the GPU */
    uint8_t *bytes;                 /* on the host */
    uint64_t host_bytes;            /* bytes of the mapping */
    uint64_t mapped;                /* bytes accessible to kernels; 0: size */
    int type;                       /* MEMORY_... */
    int device;                     /* owning device: the current one at the time of allocation */
    unsigned access;                /* bit k: kernels of device k can access it */
    unsigned read_only;             /* bit k: the program has granted device k reading only */
    unsigned flags;                 /* of cudaHostAlloc, cudaHostRegister, cudaMallocManaged */
    bool registered;                /* memory of the program (cudaHostRegister) */
    bool pooled;                    /* allocated from a pool */
    bool fixed;                     /* its addresses are not reused when it is freed */
    struct cuda_physical *physical; /* physical memory that it maps (cuMemMap); or NULL */
    int fd;                         /* file that holds its bytes; 0: none */
    uint64_t id;                    /* unique among all allocations of the process */
    void *context;                  /* in which it was allocated; NULL: the primary one */
    bool sync_memops;               /* attribute set by programs */
    double start;                   /* ns: time of allocation */
    struct cuda_page_map *page_map; /* managed: location of its pages; owned, or NULL */
    struct cuda_ordered *ordered;   /* under checkers: of a pool, order in streams; or NULL */
    bool accessed;                  /* under checkers: managed, all its pages have been accessed */
    char *site;                     /* under checkers: its description and allocation site; owned */
} cuda_alloc;

/* ---- streams and events ---- */

typedef struct cuda_stream {
    uint64_t id;
    int device;
    void *context; /* in which it was created; NULL: the primary one */
    unsigned flags;
    int priority;
    double ready;       /* ns: end of all its operations, on the application's clock */
    bool host_function; /* its latest operation is a host function */
    bool node;          /* it represents a node of a graph */
    uint32_t slot;      /* happens_before.c */
    struct cuda_vector_clock *clock;
    uint32_t previous; /* time of the operation before the current one */
    struct {
        uint32_t of, from;
    } overlap; /* stream_race.c: the kernel at time `of` permits a dependent one to begin while the
                  operations since `from` are running */
    struct cuda_order_position *open; /* operations that a dependent kernel may overlap: of the */
    size_t nopen;                     /* nodes with programmatic edges to this one */
    struct cuda_capture *capture;
    struct cuda_pending *first; /* operations that cannot begin yet (blocked_stream.c); or NULL */
    struct cuda_stream *next_blocked; /* next stream with pending operations */
} cuda_stream;

typedef struct cuda_event {
    int device;
    void *context; /* in which it was created; NULL: the primary one */
    unsigned flags;
    bool recorded;
    uint64_t stream;                 /* in which it was recorded */
    double time;                     /* ns */
    struct cuda_vector_clock *clock; /* happens_before.c */
    struct cuda_capture *capture;    /* in which it was last recorded; or NULL */
    bool imported;                   /* from another process */
    bool captured;          /* it was last recorded in a capture, whether or not that has ended */
    struct cuda_mark *mark; /* position in a blocked stream at which it will be recorded; or NULL */
} cuda_event;

/* ---- the process ---- */

/* Limits of a context (cudaLimit). */
typedef struct cuda_limits {
    uint64_t value[16];
    unsigned set; /* bit k: limit k has been set */
} cuda_limits;

/* A device and its primary context. */
typedef struct cuda_device {
    pl_gpu *gpu;
    unsigned sms;
    cuda_stream legacy;
    uint64_t used; /* bytes of its memory in use */
    cuda_limits limits;
    unsigned flags; /* of its primary context; the runtime adds cudaDeviceMapHost */
    int cache_config;
    bool printed;   /* its kernels have printed text */
    unsigned peers; /* bit k: its kernels may access the memory of device k */
} cuda_device;

typedef struct cuda_state {
    pthread_mutex_t lock;
    cuda_options options;
    cuda_device device[CUDA_DEVICES];
    int devices;
    unsigned runtime_used; /* bit k: the runtime has retained the primary context of device k */
    unsigned was_reset;    /* bit k: that context was reset, and nothing has used it since */
    bool initialised;      /* cuInit or a function of the runtime has been called */
    bool tried;            /* opening the devices was attempted */
    bool forked;           /* this process was forked after that: it has no devices */
    int forked_devices;    /* that its parent knew through the runtime; their properties remain */
    bool runtime_called;
    int start_error;        /* error of that attempt */
    int fault;              /* error of a kernel after which nothing runs, on all devices */
    double fault_time;      /* ns: when calls begin to return it, on the application's clock */
    double fault_host_time; /* ns of the program's own time when it occurred */
    int sticky;             /* what calls return on the current device; 0: not yet known */
    unsigned unavailable;   /* devices that were reset after it */
    uint64_t window, window_end, next; /* device addresses: window, next free one */
    uint64_t host_next;                /* next address for host memory that the GPU accesses */
    cuda_module *modules;
    cuda_table functions; /* by stub and by handle: cuda_function */
    cuda_table variables; /* by shadow variable: cuda_module */
    bool streams_created; /* streams other than the legacy ones */
    cuda_table streams, events;
    struct {
        cuda_alloc *at; /* sorted by address */
        size_t n, cap;
    } alloc;
    /* Callbacks when memory is allocated, written by unobserved accesses, or freed; each may be
     * NULL. */
    struct {
        void (*allocated)(const cuda_alloc *a);
        void (*written)(uint64_t address, uint64_t bytes);
        void (*freed)(cuda_alloc *a);
        void (*array_freed)(uint64_t address, uint64_t bytes);
    } on_memory;
    void (*on_wait)(void); /* called after the host has waited for a stream; may be NULL */
    struct cuda_free_range *free_range; /* released addresses */
    size_t nfree_ranges, cap_free_ranges;
    uint64_t ids;
    double now; /* ns: the application's clock as seen by the host */
    pl_trace *trace;
    int64_t traced_launches; /* so far */
    bool tracing;            /* a launch that it records is in progress */
    bool paused; /* by cudaProfilerStop: nothing is added to trace, summary and metrics */
    int64_t calls, threads; /* so far */
    int64_t graph_launch;   /* launch in progress; 0: none */
    int64_t graph_launches; /* so far */
    uint64_t graph; /* while one runs, for its kernels: its handle, if kernels may launch it */
    /* Callback for graphs that kernels launch (pl_launch.launch_graph). */
    uint32_t (*launch_graph)(void *ctx, uint64_t graph, uint64_t stream);
    /* Applies changes of nodes by kernels; NULL: there are no such nodes. */
    uint32_t (*update_node)(void *ctx, uint64_t node, uint32_t field, const void *value,
                            uint64_t offset, uint64_t bytes);
    uint64_t steps;                   /* operations and values of streams so far */
    struct cuda_suspended *suspended; /* kernels that wait for memory to change */
    double latest_end;                /* ns: end of the operation that has been executed last */
} cuda_state;

extern cuda_state cuda;

enum { CUDA_CONTEXTS = 16 }; /* maximum on the context stack of a thread */

/* A context created by the program is an alias of the primary context of its device, to which
 * memory, streams and modules belong. */
typedef struct cuda_context {
    int device;
    bool created; /* by the program */
    unsigned flags;
    unsigned retained; /* reference count: primary context by the program; others by cuCtxAttach */
    struct cuda_green *green; /* the green context that it represents; or NULL */
    cuda_limits limits;       /* if the program created it */
} cuda_context;

/* A green context: part of a device's SMs. */
typedef struct cuda_green cuda_green;

/* A host thread. */
typedef struct cuda_thread {
    int last;                     /* error of the latest failed call */
    int device;                   /* the current device */
    bool has_context;             /* a context is current */
    struct cuda_context *context; /* the current context; NULL: the primary one */
    struct cuda_context *context_stack[CUDA_CONTEXTS];
    unsigned context_depth; /* number of entries in the stack */
    const char *call;       /* the current call */
    const char *kernel;     /* that it launches: shown name, for --api-log; or NULL */
    int64_t call_id;        /* its number in the trace */
    double call_start;
    bool began_faulty; /* calls returned the sticky error when it began */
    bool charged;      /* its host time has been accounted for */
    int64_t number;    /* thread number, from 1; 0: no call yet */
    bool callback;     /* the thread runs a function called by a stream */
    bool per_thread;   /* the current call is the variant with a per-thread default stream */
    bool deferred;     /* it executes an operation that an earlier call deferred */
    bool waits;        /* it waits for streams or queries them: host functions start */
    cuda_stream *stream[CUDA_DEVICES];
    unsigned depth; /* of the stack of launch configurations */
    struct cuda_configuration {
        dim3 grid, block;
        size_t shared;
        void *stream;
    } configuration[16];
} cuda_thread;

extern _Thread_local cuda_thread cuda_self;

/* Makes a device current for the library's own work. Returns the previous one, which is made
 * current again afterwards. */
static inline int cuda_use_device(int device)
{
    const int previous = cuda_self.device;
    cuda_self.device = device;
    return previous;
}

/* True if activities are recorded in the trace. */
static inline bool cuda_recording(void)
{
    return cuda.trace && !cuda.paused;
}
/* Returns the current device. */
static inline cuda_device *cuda_current_device(void)
{
    return &cuda.device[cuda_self.device];
}
/* Returns the context if the program created it; NULL: a primary context, or a green one, which has
 * the objects of the primary one. */
static inline void *cuda_created_context(cuda_context *c)
{
    return c && !c->green ? c : NULL;
}
static inline cuda_limits *cuda_current_limits(void)
{
    cuda_context *c = cuda_created_context(cuda_self.context);
    return c ? &c->limits : &cuda_current_device()->limits;
}
/* True if the current context is a primary one that was reset and that nothing has used since. */
static inline bool cuda_current_was_reset(void)
{
    return cuda_self.has_context && !cuda_self.context && cuda.was_reset >> cuda_self.device & 1;
}
/* True if flags of a device or context (cudaDeviceScheduleMask, CU_CTX_SCHED_MASK) have at most one
 * scheduling policy and no unknown bit. */
bool cuda_valid_device_flags(unsigned flags);
static inline bool cuda_is_device(int device)
{
    return device >= 0 && device < (cuda.devices ? cuda.devices : cuda.forked_devices);
}

/* How a call handles the context. */
typedef enum cuda_entry {
    CUDA_QUERY,          /* does not report the sticky error */
    CUDA_QUERY_ANYWHERE, /* the same; host functions of streams may call it */
    CUDA_EMPTY,          /* the same; it uses the context */
    CUDA_EMPTY_ANYWHERE, /* the same; host functions of streams may call it */
    CUDA_DATA,           /* uses data of the host; reports the sticky error only after a reset */
    CUDA_WORK,
    CUDA_WORK_ANYWHERE /* the same; host functions of streams may call it */
} cuda_entry;

/* Precondition of a driver call. */
typedef enum cuda_driver_entry {
    CUDA_ALWAYS,
    CUDA_INITIALISED,        /* cuInit has been called */
    CUDA_BY_PROGRAM,         /* the same, but not from functions called by streams */
    CUDA_BY_HANDLE,          /* an argument specifies the context */
    CUDA_BY_HANDLE_ANYWHERE, /* the same, also from functions called by streams */
    CUDA_OF_CONTEXT,         /* the thread has a current context; its error is not reported */
    CUDA_IN_CONTEXT          /* the thread has a current context */
} cuda_driver_entry;

/* Acquires the lock, and creates the context on the first call. Not 0: the error to return. */
int cuda_enter(const char *name, cuda_entry how, bool per_thread);
int cuda_enter_driver(const char *name, cuda_driver_entry how, bool per_thread);
/* Releases the lock, and records an error for cudaGetLastError; returns the error. */
int cuda_leave(int error);
/* The same for driver calls, whose errors are not recorded. */
int cuda_leave_driver(int error);
int cuda_driver_error(int error);
/* For an unsupported call: prints one sentence on standard error the first time. */
int cuda_refused(const char *name, const char *why);
/* Opens the GPUs once. Called without the lock. */
int cuda_start(void);

/* Returns real time in seconds, from an arbitrary origin. */
double cuda_seconds(void);
/* Prints a line on standard error: "ptxloom: ...". */
void cuda_report(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints the diagnostics of a device, or of all, and clears them. */
void cuda_print_messages_of(pl_gpu *gpu);
void cuda_print_messages(void);
/* Writes text that kernels have printed to standard output. */
void cuda_flush(void);
/* Calls return the fault from now on; those on a device that was reset since return that it is
 * unavailable (H200). */
void cuda_show_fault(void);
/* All contexts fail from now on. */
void cuda_set_sticky_error(int error);
/* clock.c: a kernel of the stream has failed. Nothing runs any more, but calls that do not wait
 * succeed until the driver knows of it. */
void cuda_set_fault(cuda_stream *s, int error);
/* Makes the fault the sticky error if its time has come. */
void cuda_clock_fault(void);
/* Returns the number of a CUDA error from its name, cudaError... or CUDA_ERROR_...; 0: NULL or
 * unknown. */
int cuda_error_number(const char *name);

/* ---- fatbin.c ---- */

/* Returns the size of the fat binary at `data` with its header; 0: none that fits in `bytes`. */
size_t cuda_fatbin_size(const void *data, size_t bytes);
/* Extracts the machine code of a container that hardware of this capability executes, in malloc
 * memory. CU_NO_IMAGE: none. */
int cuda_fatbin_code(const void *container, unsigned capability, uint8_t **code, size_t *bytes);
enum { CUDA_FATBIN_CODE = 512 };
/* Extracts the PTX of a container that best matches the machine, in NUL-terminated malloc memory.
 * If all of it is for newer targets, but there is machine code that hardware executes, that is the
 * PTX of the lowest target. CU_NO_IMAGE: none. `code` then receives what there is ("machine code
 * for sm_90"), as it does with PTX for a newer target; else it is empty. */
int cuda_fatbin_ptx(const void *container, unsigned capability, char **text, size_t *bytes,
                    char code[CUDA_FATBIN_CODE]);
bool cuda_is_fatbin(const void *data);

/* ---- module.c ---- */
unsigned cuda_capability(void);
const char *cuda_device_name(void);
/* Returns the kernel of that name in a loaded module; NULL: none. */
cuda_function *cuda_module_function(cuda_module *m, const char *name);
void cuda_module_free(cuda_module *m);
/* True if the module is in the list. */
bool cuda_is_module(const cuda_module *m);
int cuda_module_load(cuda_module *m);
/* Makes the variables of all modules on a device accessible (enable) or inaccessible to kernels of
 * another one. */
int cuda_set_variable_access(int owner, int device, bool enable);
/* True for the PTX of the toolkit's device library, libcudadevrt. */
bool cuda_is_device_library(const char *text);
extern const char cuda_unnamed_text[]; /* in messages: PTX passed by the program */
/* Checks that texts can be parts of one module, by their definitions; messages go to log, or to
 * standard error if that is NULL. */
int cuda_can_link_texts(char *const *text, size_t n, char *log, size_t size);
/* Load assembled modules of earlier runs (module_cache.c) and store new ones. False: none for these
 * texts. */
bool cuda_cache_load(const cuda_module *m, const pl_load_options *options, pl_module **out);
void cuda_cache_store(const cuda_module *m, pl_module *assembled);
/* Returns the module as loaded on the current device. */
static inline pl_module *cuda_loaded(const cuda_module *m)
{
    return m->on[cuda_self.device].loaded;
}
/* Gives its variables on the current device their initial values. Managed variables and the
 * attributes of kernels stay as they are (H200). */
int cuda_module_reset(cuda_module *m);
int cuda_function_of(const void *key, cuda_function **out);
/* state.c: returns the attributes set on the current device. */
const cuda_func_settings *cuda_settings_of(const cuda_function *f);
/* Returns those on a device, to change them. NULL: out of memory. */
cuda_func_settings *cuda_settings_at(cuda_function *f, int device);
/* Returns the maximum dynamic shared memory of a launch, in bytes. */
uint64_t cuda_max_dynamic_shared(const cuda_function *f);
/* kernel.c: sets a cudaFuncAttribute on a device. */
int cuda_set_function_attribute(const void *function, int attribute, int value, int device);
/* Sets a cudaFuncCache on a device. */
int cuda_set_cache_config(const void *function, int config, int device);
/* Returns address and size of a registered variable. */
int cuda_variable_of(const void *host, uint64_t *address, uint64_t *bytes);
/* Finds the variable of a loaded module at an address. */
bool cuda_variable_at(uint64_t address, uint64_t *start, uint64_t *bytes);
int cuda_function_ready(cuda_function *f);

/* ---- code_info.c: machine code for the modelled GPU ---- */
/* Registers of a thread of the kernel: of its machine code, or as assembled here. */
unsigned cuda_registers(cuda_function *f);
void cuda_code_free(cuda_module *m);

/* ---- driver.c, linker.c: images that the program loads ---- */
/* Returns the number of the target of PTX: 90 of sm_90a; 0: unknown. */
unsigned cuda_target_of(const cuda_module *m);
int cuda_load_image(cuda_module **out, const void *image, char *log, size_t log_size);
bool cuda_is_ptx(const char *text);
/* Reads a file into malloc memory, followed by some zeros; size may be NULL. */
char *cuda_read_file(const char *path, size_t *size);
enum { CUDA_LINK_HEADER = 80 }; /* bytes of the smallest result */
/* Recognises the result of cuLinkComplete, and returns its PTX texts. */
bool cuda_is_link(const void *image);
/* Writes the result of linking texts to `to`, unless that is NULL; returns its size. */
size_t cuda_link_image(unsigned char *to, char *const *text, size_t texts);
int cuda_link_texts(const void *image, char ***texts, size_t *n);
/* Receives the PTX of an input. take: takes ownership of the text; an error ends the search. */
typedef struct cuda_text_sink {
    int (*take)(struct cuda_text_sink *sink, char *text);
    void *link;
    size_t texts; /* that were found, without those of the toolkit's device library */
} cuda_text_sink;
/* Finds the PTX in an image: fat binaries, a host object, a library, or the result of a link.
 * CU_INVALID_IMAGE: it is none of these, or is damaged. */
int cuda_link_input(const void *input, size_t bytes, cuda_text_sink *sink);
/* The size of a log that a program receives: its text, or the buffer if that is full. */
size_t cuda_log_bytes(const char *log, size_t room);
/* Appends the sizes of a loaded module and its kernels to an information log (NULL: none). */
void cuda_append_info(char *info, size_t room, const cuda_module *m);

/* ---- allocation.c ---- */
static inline uint64_t cuda_round_up(uint64_t n, uint64_t grain)
{
    return (n + grain - 1) / grain * grain;
}
/* Returns the page size of the host. */
uint64_t cuda_page(void);
/* True if the address is in the window reserved for device memory. */
bool cuda_in_window(uint64_t address);
/* True if an allocation of device memory has bytes in the same 2 MiB page. */
bool cuda_alloc_shares_page(uint64_t address);
/* Allocates host memory that the GPU accesses at the same address. */
int cuda_alloc_host(uint64_t size, int type, unsigned flags, void **out);
/* Makes memory slightly past `end` readable for the emulator; false: a mapping of the program
 * prevents that. */
bool cuda_readable_beyond(uintptr_t end);
const cuda_alloc *cuda_alloc_find(uint64_t address);
/* 1: the program can read, or also write, all of a range of its own memory; 0: it cannot; -1: not
 * known. */
int cuda_host_access(uintptr_t at, size_t size, bool writable);
/* Iterates over the allocations to which the words of a parameter block point: starts at *at = 0,
 * advances *at, and returns NULL at the end. */
const cuda_alloc *cuda_next_parameter_alloc(const void *params, uint64_t bytes, uint64_t *at);
/* Returns the allocation that starts at the address, or NULL. */
cuda_alloc *cuda_alloc_at_address(uint64_t address);
/* True if any allocation has an address in the range. */
bool cuda_alloc_overlaps(uint64_t address, uint64_t bytes);
/* Sets the attribute CU_POINTER_ATTRIBUTE_SYNC_MEMOPS; false: no such allocation. */
bool cuda_alloc_mark(uint64_t address, bool sync_memops);
/* Returns the host address of the bytes at a pointer, in memory of the GPU or of the program. NULL:
 * not all of them exist. *device (device may be NULL): the GPU can access them. */
uint8_t *cuda_bytes(const void *p, uint64_t bytes, bool *device);
/* True for memory that malloc in a kernel returns. */
bool cuda_in_heap(const void *p);
/* Returns the host address of bytes of module variables or allocations, on any device; *device
 * (device may be NULL): which one. */
uint8_t *cuda_view(uint64_t address, uint64_t bytes, int *device);
uint64_t cuda_window_open(void);

int cuda_alloc_device(uint64_t size, int device, bool pooled, uint64_t *out);
/* Reserve addresses without memory, and allocate memory there; the addresses remain reserved when
 * it is freed. */
uint64_t cuda_reserve_addresses(uint64_t bytes);
void cuda_return_addresses(uint64_t address, uint64_t bytes);
/* Excludes addresses from later reservations. */
void cuda_claim_addresses(uint64_t address, uint64_t bytes);
int cuda_alloc_at(uint64_t address, uint64_t size, int device);
/* Constants shared by pools and virtual memory management. */
enum {
    CUDA_POSIX_FILE = 1,      /* cudaMemAllocationHandleType, CUmemAllocationHandleType */
    CUDA_LOCATION_DEVICE = 1, /* cudaMemLocationType, CUmemLocationType */
    CUDA_LOCATION_HOST = 2,
    CUDA_LOCATION_HOST_NUMA = 3,
    CUDA_LOCATION_HOST_NUMA_CURRENT = 4,
    CUDA_READ_ONLY = 1, /* cudaMemAccessFlags, CUmemAccess_flags */
    CUDA_READ_WRITE = 3
};
/* Creates an empty file in memory with this size; -1: failure. */
int cuda_memory_file(uint64_t bytes);
/* Allocates memory backed by a file; takes ownership of the file. */
int cuda_alloc_file(int fd, uint64_t size, uint64_t *out);
/* Moves an allocation's bytes to a file and returns it; -1: no memory. */
int cuda_share(uint64_t address);
/* Adds the allocation to the list and maps it into the devices that have access to it. */
int cuda_map_allocation(const cuda_alloc *of);
/* Makes an allocation accessible (enable) or inaccessible to kernels of a device. */
int cuda_set_access(uint64_t address, int device, bool enable);
/* The same for all allocations of cudaMalloc on another device. */
int cuda_set_access_all(int owner, int device, bool enable);
int cuda_release(uint64_t address, unsigned types);
/* ---- memory.c ---- */
/* True if all of these bytes are managed memory. */
bool cuda_is_managed(const void *p, size_t bytes);
uint64_t cuda_device_bytes(void);
/* Returns the free memory of the current device, as the driver reports it. */
uint64_t cuda_free_bytes(void);
/* Returns the bytes of a device that managed memory can occupy. */
uint64_t cuda_managed_capacity(int device);

/* ---- virtual_memory.c: exported and imported allocations ---- */
/* Finds the range of cuMemAddressReserve that contains an address. */
bool cuda_reserved_range(uint64_t address, uint64_t *start, uint64_t *size);
int cuda_export(const cuda_alloc *a, cuda_ipc *out);
int cuda_import(const cuda_ipc *handle, void **out);
/* True if it was opened by cudaIpcOpenMemHandle; cudaFree does not close it. */
bool cuda_is_imported(const void *p);

/* ---- operations of streams and graphs ---- */

/* One side of a copy: memory, or a part of an array. */
typedef struct cuda_side {
    void *p; /* memory: address of the first byte */
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

/* Returns the bytes of an element of an array. */
size_t cuda_texel_bytes(const struct cuda_array *a);
/* True if the rows of a copy overlap on a side. */
bool cuda_is_narrow(const cuda_side *s, const cuda_copy *c);
/* The host waits for a synchronous copy. A wait for a copy within device memory does not order the
 * copy before later operations of the host, since the API does not guarantee that. */
void cuda_wait_for_copy(cuda_stream *s, const cuda_copy *c);
/* Sets of pinned and managed memory wait for the stream, unless they are asynchronous ("API
 * synchronization behavior" of the CUDA Runtime API). */
int cuda_submit_set(const cuda_set *c, void *stream, bool async);

typedef struct cuda_launch {
    dim3 grid, block;
    unsigned cluster[3];
    size_t shared;
    bool cooperative, dependent;
    bool clustered;   /* the launch specifies a cluster shape */
    bool prioritised; /* the launch specifies a priority: */
    int priority;
    cuda_green *green; /* context whose SMs it runs on; NULL: all SMs */
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
    unsigned barrier; /* flags of a memory barrier */
    uint64_t address, value;
    unsigned flags;
    uint64_t alias, padding;
} cuda_memory_op;
_Static_assert(sizeof(cuda_memory_op) == 48, "layout of CUDA 13");

/* Values that a stream writes or waits for, sequentially. */
typedef struct cuda_memory_ops {
    unsigned n, next; /* next: index of the first one that has not completed */
    cuda_memory_op at[];
} cuda_memory_ops;

/* CU_LAUNCH_PARAM_BUFFER_... */
enum { CUDA_PARAM_POINTER = 1, CUDA_PARAM_SIZE };

typedef struct cuda_op {
    cuda_op_kind kind;
    union {
        struct {
            cuda_function *f;
            int device;
            cuda_launch l;
            uint8_t *params; /* owned by the holder of the op */
            bool as_block;   /* given as one block, with `extra`; its length: */
            size_t block_bytes;
        } kernel;
        cuda_copy copy;
        cuda_set set;
        struct {
            void (*fn)(void *);
            void *arg;
            bool always; /* it also runs after an error */
        } host;
        struct cuda_graph *graph;
        cuda_event *event;
        struct cuda_graph_memory *memory;
        struct cuda_condition *condition;
        cuda_memory_ops *values; /* owned by the holder of the op */
    } u;
} cuda_op;

/* Result of an operation that waits for a value and must be executed again. */
enum { CUDA_BLOCKED = -1 };

/* ---- transfer.c ---- */
/* Returns the copy of a contiguous range of bytes. */
cuda_copy cuda_linear_copy(void *to, const void *from, size_t bytes, int kind);
int cuda_convert3d(const cuda_copy3d *p, cuda_copy *c);
/* The same for a node of a graph, which is not empty. */
int cuda_convert_node3d(const cuda_copy3d *p, cuda_copy *c);
/* CU_OK if the copy or set is valid. */
int cuda_check_copy(const cuda_copy *c);
int cuda_check_set(const cuda_set *s);
/* Executes a checked copy or set. */
int cuda_copy_now(const cuda_copy *c);
int cuda_set_now(const cuda_set *s);

/* Frees the memory that was allocated in a context. */
void cuda_release_of_context(const cuda_context *c);

/* ---- driver.c ---- */
/* Returns the context of a handle; NULL: there is no such context. */
cuda_context *cuda_context_of(void *handle);
bool cuda_register_context(cuda_context *c);
void cuda_end_context(cuda_context *c);
/* Returns the handle of a context created by the program, else of the primary one. */
void *cuda_context_handle(void *created, int device);

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
/* CU_OK if the copy is valid. */
int cuda_convert_driver(const cuda_driver_copy *p, cuda_copy *c);

/* ---- graph_capture.c, capture_rules.c ---- */
/* Adds the op as a node; takes ownership of its data. */
int cuda_capture_op(cuda_stream *s, const cuda_op *op);
int cuda_capture_record(cuda_stream *s, cuda_event *e);
int cuda_capture_wait(cuda_stream *s, const cuda_event *e);
/* Calls that captures in progress may not permit. They invalidate such captures; the error to
 * return. */
typedef enum cuda_unsafe {
    CUDA_UNSAFE_CALL, /* allocates, frees, waits or queries */
    CUDA_WAITS_FOR_DEVICE,
    CUDA_IN_LEGACY_STREAM
} cuda_unsafe;
int cuda_check_captures(cuda_unsafe what);
/* True if the event was last recorded in a capture that is in progress and valid. */
bool cuda_in_valid_capture(const cuda_event *e);
/* A query on a captured event: invalidates the capture and returns the error. */
int cuda_invalidate_event_capture(const cuda_event *e);
/* A call that a capturing stream does not permit: invalidates the capture. */
int cuda_invalidate_capture(cuda_stream *s);

/* ---- pool.c ---- */
/* Returns the pool of an allocation; NULL: none. */
void *cuda_pool_of(uint64_t address);
/* ---- attribute.c ---- */
/* Called when the stream is destroyed. */
void cuda_forget_attributes(const void *key);
enum { CUDA_ATTRIBUTE_BYTES = 64 }; /* of cudaLaunchAttributeValue */
int cuda_get_attribute(const void *key, int attribute, void *value);
int cuda_set_attribute(const void *key, int attribute, const void *value);
int cuda_copy_attributes(const void *to, const void *from);
/* ---- stream.c ---- */
int cuda_clamp_priority(int priority);

/* ---- stream_time.c ---- */
enum {
    CUDA_NON_BLOCKING = 1,  /* flag: cudaStreamNonBlocking */
    CUDA_STREAM_LEGACY = 1, /* handles with a special meaning */
    CUDA_STREAM_PER_THREAD = 2
};

/* A stream created by the program has a context; a default stream uses that of the thread. */
static inline cuda_driver_entry cuda_stream_enters(const void *stream, cuda_driver_entry by_handle)
{
    return (uintptr_t)stream > CUDA_STREAM_PER_THREAD ? by_handle : CUDA_IN_CONTEXT;
}
/* Returns the context of a stream as cuda_created_context does; default streams are in the current
 * one. */
static inline void *cuda_context_of_stream(const void *handle, const cuda_stream *s)
{
    return cuda_created_context((uintptr_t)handle > CUDA_STREAM_PER_THREAD ? s->context
                                                                           : cuda_self.context);
}
/* True if the stream and the legacy stream synchronise with each other. */
static inline bool cuda_blocking(const cuda_stream *s)
{
    return !(s->flags & CUDA_NON_BLOCKING);
}
/* Creates a stream of the current device; NULL: no memory. */
cuda_stream *cuda_new_stream(unsigned flags, int priority);
extern void *const cuda_legacy_handle;
/* Returns the stream of a handle; NULL: none. */
cuda_stream *cuda_stream_of(const void *handle);
/* An interval on the application's clock, in ns. */
typedef struct cuda_span {
    double start, end;
} cuda_span;
/* Returns the earliest time at which an operation enqueued now can begin. */
double cuda_ready(const cuda_stream *s);
/* Enqueues an operation of that many ns. *unit: time at which its unit becomes free, updated to its
 * end; or NULL. */
cuda_span cuda_timeline(cuda_stream *s, double ns, double *unit);
/* Returns the time at which all operations of a stream have ended, or of all streams (NULL). */
double cuda_end_of(cuda_stream *s);
/* The host waits for a stream, or for all (NULL). */
void cuda_wait(cuda_stream *s);
/* The same, but does not order the operations of the stream before those of the host
 * (happens_before.c). */
void cuda_wait_unordered(cuda_stream *s);

/* ---- concurrent_kernels.c: concurrent kernels ---- */
/* Enqueues a kernel of this duration: waves of blocks. The last wave, if it is not full, occupies
 * the share `last` of the GPU. */
cuda_span cuda_place_kernel(cuda_stream *s, cuda_green *green, int priority, double ns,
                            double waves, double last);

/* ---- host_thread.c ---- */
/* Within a call: lets other threads call this library, and continues the call. */
void cuda_release_lock(void);
void cuda_take_lock(void);
/* Called with the lock, which is released during the call. */
void cuda_call_host(void (*fn)(void *), void *arg);
/* Starts the function without waiting for it. Returns the number of the call, 0: another function
 * is running. Without a thread the function ends here. */
uint64_t cuda_host_begin(void (*fn)(void *), void *arg);
/* Waits for a call for at most this time; called with the lock, which is released meanwhile. True
 * if the function has ended. */
bool cuda_host_wait(uint64_t number, double seconds);
bool cuda_host_busy(void); /* a function is running */

/* ---- signals.c: a signal terminates the program ---- */
/* Not 0: launches stop. 1: because of a signal; 2: because of --timeout. */
extern volatile int cuda_stop;
/* Receives the exit status of the program, and returns the status to use. */
typedef int cuda_show(int status);
/* From here on `show` is called, with the lock held, before a signal ends the process. */
void cuda_watch_signals(cuda_show *show);
/* Calls `show` and ends the process with this status immediately. The lock may be held. */
_Noreturn void cuda_show_and_exit(int status);
/* Called when exit() begins: ends launches of other threads. */
void cuda_exit_begins(int status);
/* Called with the lock held: ends the process here if a signal or _exit is pending. */
void cuda_end_if_pending(void);
/* True if a signal or _exit is pending in this process. */
bool cuda_end_is_pending(void);

/* ---- memory_name.c ---- */
typedef struct cuda_named {
    uint64_t start;
    char text[400]; /* "device memory of cudaMalloc, call 3, in main+0x42", "variable 'x'" */
} cuda_named;
/* Describes the memory that contains the address. False: not memory of the program. */
bool cuda_named_at(uint64_t address, cuda_named *n);
void cuda_named_array(const struct cuda_array *a);
void cuda_named_array_freed(const struct cuda_array *a);

/* ---- launch.c ---- */
/* CU_OK if the device accepts this cudaAccessPolicyWindow. */
int cuda_check_window(const void *value);
/* CU_OK if the value is valid for a launch, a node or a stream. */
int cuda_check_attribute(int attribute, const void *value);

/* ---- kernel_run.c ---- */
/* params: the parameter block of the kernel. */
/* Launches a kernel, or continues it. CUDA_BLOCKED: it waits for memory to change, and is
 * identified by its parameters. */
int cuda_run(cuda_stream *s, cuda_function *f, const cuda_launch *l, const void *params);
/* CU_OK if the driver accepts the launch; *blocks: resident blocks per multiprocessor. */
int cuda_check_launch(cuda_function *f, const cuda_launch *l, uint32_t *blocks);
/* Copies the arguments into a parameter block from malloc. */
int cuda_copy_arguments(const cuda_function *f, void *const *args, uint8_t **params);
/* Copies a parameter block of the program: `extra` of a launch. */
int cuda_copy_param_block(void *const *extra, cuda_op *op);
void cuda_summary(void);

/* ---- array.c ---- */
typedef struct cuda_array {
    uint64_t handle; /* of the library */
    int device;
    pl_array_desc desc;
    cuda_channel channel;
    unsigned flags, level;
    struct cuda_array *whole; /* the array of which this is a level; or NULL */
    struct cuda_tiles *tiles; /* of an array whose memory the program maps; or NULL */
} cuda_array;
bool cuda_is_array(const cuda_array *a);
/* ---- sparse_array.c ---- */
enum { CUDA_TILE_BYTES = 64 << 10 }; /* of a tile of a sparse array */
typedef struct cuda_tile_layout {
    unsigned size[3];    /* of a tile, in texels */
    bool whole, layered; /* whole: deferred mapping, one tile */
    uint8_t *bytes;      /* of the array */
    size_t pitch, slice, texel, extent[3];
    uint64_t all_bytes; /* that deferred mapping needs */
} cuda_tile_layout;
/* NULL: no memory. */
struct cuda_tiles *cuda_new_tiles(const cuda_tile_layout *l);
/* Clears tiles that have no memory, after a copy to the array. */
void cuda_clear_unmapped(const struct cuda_tiles *t);
/* Applies element k of a list of CUarrayMapInfo; fd, size: the tile pool, or -1. */
int cuda_map_tiles(const void *list, size_t k, int device, int fd, uint64_t size);
/* Returns its array, and the handle of its tile pool. */
cuda_array *cuda_mapped_array(const void *list, size_t k);
uint64_t cuda_mapped_pool(const void *list, size_t k);
void cuda_free_tiles(struct cuda_tiles *t);
/* Returns the file of a tile pool and its size; -1: the handle is none. */
int cuda_tile_pool(uint64_t handle, uint64_t *bytes);
/* Returns its bytes on the host, and the sizes of a row and of a slice. */
uint8_t *cuda_array_bytes(const cuda_array *a, size_t *pitch, size_t *slice);
/* Numbers of rows and slices; 1 for a one-dimensional array. */
void cuda_array_size(const cuda_array *a, size_t *width, size_t *height, size_t *depth);
/* Creates a texture object as for a runtime call; whole_numbers: as for the driver, which also
 * filters integers. */
int cuda_create_texture(unsigned long long *out, const cuda_resource *r, const cuda_texture *t,
                        const void *view, bool whole_numbers);

/* ---- texture_reference.c ---- */
/* Frees the texture and surface references of a module. */
void cuda_free_references(const cuda_module *m);

/* ---- patch.c ---- */
typedef struct cuda_entry_point {
    const char *name;
    unsigned versions; /* bits: 1 CUDA 11, 2 CUDA 12, 4 CUDA 13; 8: not supported */
    void *address;
} cuda_entry_point;
extern const cuda_entry_point cuda_entry_points[];
extern const size_t cuda_entry_point_count;

#include "cudart/gen_api.h"

#endif
