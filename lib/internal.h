/* internal.h - declarations shared by the files of lib/: the objects behind the handles of
 * ptxloom.h. */
#ifndef PL_LIB_INTERNAL_H
#define PL_LIB_INTERNAL_H

#include "base/diag.h"
#include "base/guard.h"
#include "base/stop_flag.h"
#include "emu/exec/runtime/cuda_builtins.h"
#include "emu/exec/texture/texture.h"
#include "emu/sm/decode.h"
#include "arch/machine.h"
#include "emu/sm/timing.h"
#include "include/ptxloom.h"
#include "compiler/pass_manager.h"
#include "lib/data/initializer.h"

struct pl_gpu {
    pl_arena *arena;           /* valid as long as the gpu */
    const pl_machine *machine; /* NULL: none */
    pl_arena *messages;        /* until pl_gpu_diag_clear: everything that diagnostics reference */
    pl_diags diags;
    size_t message_limit; /* pl_gpu_diag_limit, 0: not called */
    char no_memory[320];  /* preallocated out-of-memory message; "": memory has not run out */
    uint32_t epoch; /* counts pl_gpu_diag_clear, which invalidates the file numbers of diags */
    pl_memory memory;
    pl_tlb tlb;             /* pages accessed by timing launches; used if `unified` */
    pl_objects objects;     /* arrays, textures and surfaces */
    pl_arena *explanations; /* texts of pl_explain */
    pl_system system;       /* device heap, printed text, launches from the device */
    pl_launch_cache stock;  /* state that launches pass to later launches */
    struct pl_memo *memo;   /* launches that may be memoized (launch/memoize.c), or NULL; owned */
    size_t printed_errors;  /* bytes of failed assertions at its end */
    pl_arena *printed;      /* text that pl_gpu_printed returned last */
    uint64_t launches;
    bool unified;                        /* pl_gpu_unify */
    uint64_t bounds;                     /* pl_gpu_bounds */
    const volatile int *stop;            /* pl_gpu_stop_flag, or NULL; not owned */
    char *(*demangle)(const char *name); /* pl_gpu_demangler, or NULL */
};

/* A PTX file of a module. */
typedef struct pl_module_source {
    const char *name;
    uint32_t lines_before; /* lines of the program text before it */
    uint32_t file, epoch;  /* number of the source in gpu->diags, valid in that epoch */
} pl_module_source;

struct pl_module {
    pl_gpu *gpu;         /* not owned */
    pl_module *managed;  /* pl_load_options; not owned */
    pl_arena *arena;     /* owned: names, texts, syntax trees */
    const char *name;    /* of the first file */
    char *text;          /* text of the only file, as read; owned, or NULL */
    pl_program *program; /* owned */
    pl_host host;        /* vector level to bind its instructions to */
    bool bound;          /* set when the first launch has bound them */
    struct {
        pl_module_source *at;
        size_t n, cap;
    } source;
    struct {
        uint32_t *at;
        size_t n, cap;
        bool complete;
    } line;                /* offset of each line in the program text */
    pl_listing listing;    /* the latest one that a trace requested */
    pl_decoded *decoded;   /* by pl_module_decoded; NULL: not decoded yet */
    pl_pc_stat *pc_stat;   /* of the latest launch, program->code.n entries; owned */
    pl_code_range counted; /* range of pc_stat that it may have changed */
    uint8_t *repeatable;   /* by function, for launch/memoize.c; owned, or NULL */
    bool grid_barrier;     /* reads %envreg1 or 2, as grid-wide cooperative groups do */
    pl_arena *results;     /* counters and texts of the latest launch; owned */
};

/* ---- module.c ---- */
/* Returns the program decoded for timing mode; it is decoded once for all launches of the module.
 * The GPU has a machine; the caller has a guard. */
const pl_decoded *pl_module_decoded(pl_module *m);

/* ---- passes.c ---- */
/* Converts the pass options. PL_INVALID: an error, which has been reported. control may be NULL. */
pl_status pl_passes_begin(pl_gpu *gpu, const pl_pass_control *control, pl_pass_options *out);
/* Prints the times and reports violations that the verifier found. Returns the status of the load.
 */
pl_status pl_passes_end(pl_gpu *gpu, const pl_pass_control *control, pl_pass_options *o,
                        pl_status st);

/* ---- launch/memoize.c ---- */
typedef struct pl_memo pl_memo;
/* Called before a functional-mode launch of one grid. True if the same launch has run before on the
 * same memory; its memory effects and counts have then been applied. */
bool pl_memo_replay(pl_gpu *gpu, pl_module *m, pl_grid *g);
/* Called after an executed launch; ok: it ended without an error. */
void pl_memo_record(pl_gpu *gpu, const pl_module *m, const pl_grid *g, bool ok);
/* Forgets the launches of a module; NULL: all. */
void pl_memo_forget(pl_gpu *gpu, const pl_module *m);

/* ---- gpu.c ---- */
/* Returns the number of a source text in gpu->diags. *file and *epoch cache it until the
 * diagnostics are cleared. */
uint32_t pl_gpu_source(pl_gpu *gpu, const char *name, const char *text, size_t bytes,
                       uint32_t *file, uint32_t *epoch);
static inline bool pl_gpu_stopped(const pl_gpu *gpu)
{
    return pl_stop_flag(gpu->stop) != 0;
}
/* Reports that the stop flag interrupted an operation: "filling argument 1". Returns
 * PL_INTERRUPTED. */
pl_status pl_gpu_interrupted(pl_gpu *gpu, pl_loc at, const char *what);
/* Returns the meaning of a stop flag's value: "an interrupt". */
const char *pl_stop_cause_of(int flag);
/* Reports that memory ran out during `what`. Does not allocate. Returns PL_NOMEM. */
pl_status pl_gpu_no_memory(pl_gpu *gpu, const char *what);

/* ---- host_budget.c ---- */
typedef enum pl_need_kind {
    PL_NEED_MEMORY,
    PL_NEED_MAPPED,       /* already allocated, but not yet written */
    PL_NEED_ADDRESS_SPACE /* only counts against limits of the process */
} pl_need_kind;
/* One part of the host memory that an operation requires. */
typedef struct pl_need {
    const char *what; /* "argument 1 (f32[1024])" */
    uint64_t bytes;
    const char *remedy; /* how to reduce it */
    pl_need_kind kind;
} pl_need;
/* Rejects requirements that exceed the available host memory: E0412 reports the total and the
 * largest part. Linux would kill the process only much later. */
pl_status pl_budget_check(pl_gpu *gpu, pl_loc at, const char *operation, const pl_need *need,
                          size_t n);
/* False: so few bytes that they need no check. */
bool pl_budget_must_check(uint64_t bytes);
/* Returns the bytes of host memory that a launch may use beyond its known requirements. */
uint64_t pl_budget_left(const pl_gpu *gpu);

/* ---- device_memory.c ---- */
/* Releases an allocation of the caller or of a module. */
pl_status pl_gpu_release(pl_gpu *gpu, uint64_t address);
/* Restarts address assignment if no memory of the caller or of a module remains, so that identical
 * launches see identical addresses at any position in a series. The device heap is empty
 * afterwards. */
void pl_gpu_restart_addresses(pl_gpu *gpu);

/* ---- module.c ---- */
/* Assigns an address and the initial value to every variable. */
pl_status pl_module_place_variables(pl_module *m);
/* Returns the number of its global variables and their requirements. out may be NULL. */
size_t pl_module_memory_needs(const pl_module *m, pl_need *out);
const pl_prog_func *pl_module_entry(const pl_module *m, const char *name);

/* ---- source_map.c ---- */
/* Returns the source position of an entry of the program's line table; the first file as a whole if
 * there is no such entry. */
pl_loc pl_module_position(pl_module *m, uint32_t line);
/* Returns the index of the source that contains this line of the program text. */
size_t pl_module_source_of(const pl_module *m, uint32_t line);
/* Returns a line of the program text without its indentation; NULL: none. */
const char *pl_module_line(pl_module *m, uint32_t line, uint32_t *bytes);
/* Copies the source texts that diagnostics still reference. */
void pl_module_keep_sources(pl_module *m);

/* ---- check.c ---- */
struct pl_check;
struct pl_check *pl_checks_checker(pl_checks *c);
/* Collects the findings of the launches so far, with source lines of the module that ran. */
pl_status pl_checks_collect(pl_checks *c, pl_module *m);
/* Describes a kind of finding ("race-raw"); NULL: no such kind. */
const char *pl_check_explain(pl_gpu *gpu, const char *topic);

/* ---- timing.c ---- */
/* Runs a chain of grids in timing mode. *out receives cycles, instructions and counters,
 * accumulated with those already in `totals`. */
pl_status pl_timing(pl_module *m, pl_grid *head, pl_totals *totals, pl_result *out);
/* Adds the part of a grid that ran without the model. */
void pl_timing_add_untimed(const pl_grid *g, pl_result *out);

/* ---- file.c ---- */
/* Reads a whole file into malloc memory, NUL-terminated; reports E0001 or E0009. */
pl_status pl_file_read(pl_gpu *gpu, const char *path, char **text, size_t *bytes);
/* Returns PL_INVALID and reports it if a file given as a module is another known kind: CUDA source,
 * a cubin, a trace ... */
pl_status pl_file_is_program(pl_gpu *gpu, const char *path, const char *text, size_t n);
/* The same for a file that must be PTX: also rejects machine programs. */
pl_status pl_file_is_ptx(pl_gpu *gpu, const char *path, const char *text, size_t n);

/* ---- launch_case.c and the readers that fill a case ---- */

typedef enum pl_arg_kind { PL_ARG_TENSORMAP = 1, PL_ARG_TEXTURE, PL_ARG_SURFACE } pl_arg_kind;

/* An argument that is a tensor map, a texture or a surface. */
typedef struct pl_arg_resource {
    pl_arg_kind kind;
    size_t source_arg;     /* 1-based argument whose memory or array it uses; 0: its own */
    pl_tensor_desc tensor; /* address: offset in that memory */
    pl_array_desc array;
    pl_texture_desc texture;
    uint32_t level;                /* surfaces */
    uint64_t array_handle, handle; /* valid between prepare and release */
} pl_arg_resource;

/* The library's part of an argument. */
typedef struct pl_arg_more {
    pl_arg_resource *resource; /* or NULL */
    size_t same_as;            /* 1-based earlier argument that is passed again; 0: none */
    const uint8_t *param;      /* its location in the parameter block, once prepared */
    const pl_element *element;
    uint64_t value;       /* scalar: its bits */
    pl_init init;         /* buffer, or several elements by value */
    bool is_array;        /* by value: an array, initialised like a buffer */
    bool initialised;     /* init was given explicitly */
    pl_init expect;       /* expected contents after the launch, if arg.expected; */
    double atol, rtol;    /* absolute tolerance, and tolerance relative to the expected value */
    const char *text;     /* command line: text of the argument, else NULL */
    uint32_t file, epoch; /* of text in gpu->diags */
    uint32_t line, column, length; /* position of the argument, for messages */
} pl_arg_more;

/* A launch after the first one. */
typedef struct pl_case_step {
    const char *entry;
    uint32_t grid[3], block[3], cluster[3], dynamic_shared, stack;
    bool dependent, cooperative;
    size_t first, count;           /* range of its arguments */
    uint32_t line, column, length; /* position, for messages */
} pl_case_step;

typedef struct pl_case_more {
    pl_arena *arena;         /* owned: all memory of the case */
    pl_gpu *gpu;             /* not owned */
    const char *path, *text; /* launch file; NULL: command line */
    size_t bytes;
    uint32_t file, epoch;
    bool cooperative; /* the first launch */
    struct {
        pl_arg_more *at;
        size_t n, cap;
    } arg; /* one per argument */
    struct {
        pl_case_arg *at;
        size_t n, cap;
    } args; /* storage of pl_case.arg */
    struct {
        const char **at;
        size_t n, cap;
    } link; /* storage of pl_case.link */
    struct {
        pl_case_step *at;
        size_t n, cap;
    } step;
    bool prepared;
    bool incomplete; /* a file given to pl_case_add_file is missing: no memory */
} pl_case_more;

/* Adds an argument; the caller fills in both structures. */
pl_case_arg *pl_case_push(pl_case *c, pl_arg_more **more);
/* Resolves a path of a launch file: relative to the file's folder. */
const char *pl_case_path(pl_case *c, const char *path);
/* Returns the position of argument k for messages. */
pl_loc pl_case_arg_at(pl_case *c, size_t k);
/* Reads lo and hi of a hash into init. Returns NULL, or the error text. */
const char *pl_init_limits(const pl_element *e, const pl_number *lo, const pl_number *hi,
                           pl_init *init);
/* Computes bytes from count; rejects overflow and sizes beyond the GPU's memory (E0412 at the
 * argument's position). */
bool pl_case_sized(pl_case *c, size_t k);
/* Sets the count of an argument to the number of elements in its file. */
pl_status pl_case_count_file(pl_case *c, size_t k);

#endif
