/* internal.h - what the files of lib/ share: the objects behind the handles of ptxloom.h. */
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
    pl_arena *arena;           /* as long as the gpu */
    const pl_machine *machine; /* NULL: none */
    pl_arena *messages;        /* until pl_gpu_diag_clear: everything diagnostics point at */
    pl_diags diags;
    size_t message_limit; /* pl_gpu_diag_limit, 0: not called */
    char no_memory[320];  /* a last message, for which no memory is needed: that there is none; "":
                             there was */
    uint32_t epoch;       /* counts pl_gpu_diag_clear: file numbers of diags die with it */
    pl_memory memory;
    pl_tlb tlb;             /* pages that timing launches have accessed; used if `unified` */
    pl_objects objects;     /* arrays, textures and surfaces */
    pl_arena *explanations; /* texts of pl_explain */
    pl_system system;       /* device heap, printed text, launches from the device */
    pl_launch_cache stock;  /* what launches leave for each other */
    struct pl_memo *memo;   /* launches that may repeat (launch/memoize.c), or NULL; owned */
    pl_arena *printed;      /* what pl_gpu_printed returned last */
    uint64_t launches;
    bool unified;             /* pl_gpu_unify */
    uint64_t bounds;          /* pl_gpu_bounds */
    const volatile int *stop; /* pl_gpu_stop_flag, or NULL; not owned */
};

/* A PTX file of a module. */
typedef struct pl_module_source {
    const char *name;
    uint32_t lines_before; /* lines of the program's text in front of it */
    uint32_t file, epoch;  /* number of the source in gpu->diags, valid in that epoch */
} pl_module_source;

struct pl_module {
    pl_gpu *gpu;         /* not owned */
    pl_module *managed;  /* pl_load_options; not owned */
    pl_arena *arena;     /* owned: names, texts, the trees */
    const char *name;    /* of the first file */
    char *text;          /* of the only file, as it was read; owned, or NULL */
    pl_program *program; /* owned */
    pl_host host;        /* what its instructions are bound for; */
    bool bound;          /* they have been: by the first launch */
    struct {
        pl_module_source *at;
        size_t n, cap;
    } source;
    struct {
        uint32_t *at;
        size_t n, cap;
        bool whole;
    } line;                /* where the lines of the program's text start */
    pl_listing listing;    /* the latest one that a trace asked for */
    pl_decoded *decoded;   /* by pl_module_decoded; NULL: nobody has asked */
    pl_pc_stat *pc_stat;   /* of the latest launch, program->code.n entries; owned */
    pl_code_range counted; /* those of them that it may have changed */
    uint8_t *repeatable;   /* by function, for launch/memoize.c; owned, or NULL */
    bool grid_barrier;     /* reads %envreg1 or 2, as cooperative groups of a grid do */
    pl_arena *results;     /* counters and texts of the latest launch; owned */
};

/* ---- module.c ---- */
/* The program for timing mode, decoded once for all launches of the module. The GPU has a machine;
 * the caller has a guard. */
const pl_decoded *pl_module_decoded(pl_module *m);

/* ---- passes.c ---- */
/* What the options ask of the passes. PL_INVALID: reported. control may be NULL. */
pl_status pl_passes_begin(pl_gpu *gpu, const pl_pass_control *control, pl_pass_options *out);
/* Prints the times; reports what the verifier found. Returns the status of the load. */
pl_status pl_passes_end(pl_gpu *gpu, const pl_pass_control *control, pl_pass_options *o,
                        pl_status st);

/* ---- launch/memoize.c ---- */
typedef struct pl_memo pl_memo;
/* Before a launch of one grid in functional mode. True: the same launch has run before on the same
 * memory; its effects on memory and its counts are there now. */
bool pl_memo_replay(pl_gpu *gpu, pl_module *m, pl_grid *g);
/* After one that was executed; good: it ended without an error. */
void pl_memo_learn(pl_gpu *gpu, const pl_module *m, const pl_grid *g, bool good);
/* Forgets the launches of a module; NULL: all. */
void pl_memo_forget(pl_gpu *gpu, const pl_module *m);

/* ---- gpu.c ---- */
/* The number of a source text in gpu->diags. *file and *epoch remember it until the diagnostics are
 * cleared. */
uint32_t pl_gpu_source(pl_gpu *gpu, const char *name, const char *text, size_t bytes,
                       uint32_t *file, uint32_t *epoch);
static inline bool pl_gpu_stopped(const pl_gpu *gpu)
{
    return pl_stop_flag(gpu->stop) != 0;
}
/* Reports that the flag stopped something: "filling argument 1". Returns PL_INTERRUPTED. */
pl_status pl_gpu_interrupted(pl_gpu *gpu, pl_loc at, const char *what);
/* What the value of a stop flag means: "an interrupt". */
const char *pl_stop_cause_of(int flag);
/* Reports that memory ran out while doing `what`. Needs none itself. Returns PL_NOMEM. */
pl_status pl_gpu_no_memory(pl_gpu *gpu, const char *what);

/* ---- host_budget.c ---- */
/* A part of what something needs of the host's memory. */
typedef struct pl_need {
    const char *what; /* "argument 1 (f32[1024])" */
    uint64_t bytes;
    const char *remedy; /* what makes it smaller */
    bool mapped;        /* it has been allocated already, and not written */
} pl_need;
/* Refuses what the host cannot give: E0412, which names all of it and the biggest part. Linux would
 * kill the process much later. */
pl_status pl_budget_check(pl_gpu *gpu, pl_loc at, const char *whole, const pl_need *need, size_t n);
/* Bytes that a launch may take of the host in addition to what it is known to need. */
uint64_t pl_budget_left(const pl_gpu *gpu);

/* ---- device_memory.c ---- */
/* Releases an allocation of the caller's or of a module. */
pl_status pl_gpu_release(pl_gpu *gpu, uint64_t address);
/* Lets addresses begin again if no memory of the caller's or of a module is left, so that equal
 * launches see equal ones wherever they stand in a series. The device heap is empty afterwards. */
void pl_gpu_restart_addresses(pl_gpu *gpu);

/* ---- module.c ---- */
/* Gives every variable an address and its initial value. */
pl_status pl_module_place_variables(pl_module *m);
/* What its variables need; returns how many there are. out may be NULL. */
size_t pl_module_memory_needs(const pl_module *m, pl_need *out);
const pl_prog_func *pl_module_entry(const pl_module *m, const char *name);

/* ---- source_map.c ---- */
/* The place of an entry of the program's line table; the first file as a whole when there is no
 * such entry. */
pl_loc pl_module_place(pl_module *m, uint32_t line);
/* Which of the sources has this line of the program's text. */
size_t pl_module_source_of(const pl_module *m, uint32_t line);
/* A line of the program's text without its indentation; NULL when there is none. */
const char *pl_module_line(pl_module *m, uint32_t line, uint32_t *bytes);
/* Copies what diagnostics still show of the sources. */
void pl_module_keep_sources(pl_module *m);

/* ---- check.c ---- */
struct pl_check;
struct pl_check *pl_checks_checker(pl_checks *c);
/* Names what the launches so far have shown, in the lines of the module that ran. */
pl_status pl_checks_collect(pl_checks *c, pl_module *m);
/* What a kind of finding is ("race-raw"); NULL: there is none of that name. */
const char *pl_check_explain(pl_gpu *gpu, const char *topic);

/* ---- timing.c ---- */
/* Runs a row of grids in timing mode; cycles, instructions and counters, with those of all that is
 * in `totals` already, go to *out. */
pl_status pl_timing(pl_module *m, pl_grid *head, pl_totals *totals, pl_result *out);

/* ---- file.c ---- */
/* Reads a whole file into memory from malloc, with a NUL behind it; reports E0001 or E0009. */
pl_status pl_file_read(pl_gpu *gpu, const char *path, char **text, size_t *bytes);
/* PL_INVALID and a report when a file that stands for a module is something else that is known:
 * CUDA source, a cubin, a trace ... */
pl_status pl_file_is_program(pl_gpu *gpu, const char *path, const char *text, size_t n);
/* The same for a file that must be PTX: no machine program either. */
pl_status pl_file_is_ptx(pl_gpu *gpu, const char *path, const char *text, size_t n);

/* ---- launch_case.c and what fills it ---- */

typedef enum pl_arg_kind { PL_ARG_TENSORMAP = 1, PL_ARG_TEXTURE, PL_ARG_SURFACE } pl_arg_kind;

/* An argument that is a tensor map, a texture or a surface. */
typedef struct pl_arg_resource {
    pl_arg_kind kind;
    size_t of; /* number of the argument whose memory or array it uses, from 1; 0: it has its own */
    pl_tensor_desc tensor; /* address: offset in the memory */
    pl_array_desc array;
    pl_texture_desc texture;
    uint32_t level;                /* surfaces */
    uint64_t array_handle, handle; /* between prepare and release */
} pl_arg_resource;

/* The library's part of an argument. */
typedef struct pl_arg_more {
    pl_arg_resource *resource; /* or NULL */
    size_t same; /* number of an earlier argument that is passed here, too, from 1; 0: it is one of
                    its own */
    const uint8_t *param; /* its bytes in the parameters, once prepared */
    const pl_element *element;
    uint64_t value;       /* scalar: its bits */
    pl_init init;         /* buffer, or several elements by value */
    bool several;         /* by value: an array, initialised like a buffer */
    bool initialised;     /* init was given, rather than left out */
    pl_init expect;       /* what it should be after the launch, if arg.expected; */
    double atol, rtol;    /* a value may be so far away, plus this part of what is expected */
    const char *text;     /* command line: the ARG, else NULL */
    uint32_t file, epoch; /* of text in gpu->diags */
    uint32_t line, column, length; /* where the argument stands, for messages */
} pl_arg_more;

/* A launch behind the first one. */
typedef struct pl_case_step {
    const char *entry;
    uint32_t grid[3], block[3], cluster[3], dynamic_shared, stack;
    bool dependent, cooperative;
    size_t first, count;           /* its arguments */
    uint32_t line, column, length; /* where it stands, for messages */
} pl_case_step;

typedef struct pl_case_more {
    pl_arena *arena;         /* owned: everything of the case */
    pl_gpu *gpu;             /* not owned */
    const char *path, *text; /* launch file; NULL: command line */
    size_t bytes;
    uint32_t file, epoch;
    bool cooperative; /* the first launch */
    struct {
        pl_arg_more *at;
        size_t n, cap;
    } arg; /* as many as nargs */
    struct {
        pl_case_arg *at;
        size_t n, cap;
    } shown; /* what pl_case.arg points to */
    struct {
        const char **at;
        size_t n, cap;
    } link; /* what pl_case.link points to */
    struct {
        pl_case_step *at;
        size_t n, cap;
    } step;
    bool prepared;
    bool incomplete; /* a file that pl_case_add_file was given is missing: no memory */
} pl_case_more;

/* Adds an argument: the caller fills in what the pointers lead to. */
pl_case_arg *pl_case_push(pl_case *c, pl_arg_more **more);
/* A path as given in a launch file: relative to the file's folder. */
const char *pl_case_path(pl_case *c, const char *path);
/* Place of argument k in messages. */
pl_loc pl_case_arg_at(pl_case *c, size_t k);
/* Reads lo and hi of a hash into init. Returns NULL, or what is wrong. */
const char *pl_init_limits(const pl_element *e, const pl_number *lo, const pl_number *hi,
                           pl_init *init);
/* Sets bytes from count, refuses overflow and more than the GPU's memory (E0412 at the argument's
 * place). */
bool pl_case_sized(pl_case *c, size_t k);
/* Sets the count of an argument to the elements that its file holds. */
pl_status pl_case_count_file(pl_case *c, size_t k);

#endif
