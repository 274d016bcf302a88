/* ptxloom.h - the public interface of libptxloom: assemble PTX, run it on a modelled GPU, and
 * learn what it cost.
 *
 * Every function that can fail returns a pl_status (see below); details are diagnostics on the
 * gpu. The library never prints, exits or keeps global state; several pl_gpu may coexist. Strings
 * returned stay valid until the object they came from is closed.
 *
 *     pl_gpu *gpu; pl_module *m; pl_ptr x;
 *     pl_gpu_open(&gpu, "h200");
 *     pl_module_load(gpu, "k.ptx", text, bytes, NULL, &m);
 *     pl_alloc_device(gpu, 4096, "x", &x);
 *     pl_launch l = { .kernel = "k", .grid = {1,1,1}, .block = {32,1,1}, .params = &x,
 *       .param_bytes = 8 };
 *     pl_result r;
 *     pl_launch_kernel(gpu, m, &l, &r);
 *     pl_module_close(m);
 *     pl_gpu_close(gpu);
 *
 */
#ifndef PTXLOOM_H
#define PTXLOOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/event.h"    /* events, statistics and counters */
#include "base/resource.h" /* descriptions of tensors, arrays and textures */
#include "base/status.h"   /* pl_status */

#ifdef __cplusplus
extern "C" {
#endif

#define PTXLOOM_VERSION "0.2.0"

typedef struct pl_gpu pl_gpu;
typedef struct pl_module pl_module;
typedef uint64_t pl_ptr; /* address in the emulated GPU's memory */

/* ---- machines ---- */

/* Opens a GPU described by a machine name ("h200") or a path to a .conf file. On failure *out still
 * holds an object whose diagnostics say why (close it), unless memory was exhausted. Names are
 * looked for in the folders of $PTXLOOM_ARCH_PATH, among the machines built into the library, then
 * in the installed folder. machine == NULL: no machine; modules can be loaded and explained, not
 * run. */
pl_status pl_gpu_open(pl_gpu **out, const char *machine);
void pl_gpu_close(pl_gpu *gpu);
const char *pl_gpu_name(const pl_gpu *gpu);
/* A number of the machine's description: ("sm.count", ""), ("shared.per_sm", "B"). False: the
 * machine has no such key, or no number of this unit's dimension there. */
bool pl_gpu_value(const pl_gpu *gpu, const char *key, const char *unit, double *value);
/* A text there: "machine.title". NULL: the machine has no such key. */
const char *pl_gpu_text(const pl_gpu *gpu, const char *key);
/* Names of the machines that are built into the library, sorted; NULL after the last. */
const char *pl_gpu_builtin(size_t k);
/* Bytes of the heap that malloc in kernels takes from (8 MiB). PL_INVALID: kernels have used it. */
pl_status pl_gpu_heap(pl_gpu *gpu, uint64_t bytes);

/* How many blocks an SM holds, and what each resource alone would allow. */
typedef struct pl_occupancy_info {
    uint32_t blocks; /* 0: can never run */
    uint32_t by_warps, by_blocks, by_registers, by_shared, by_barriers;
    uint32_t warps, most_warps;                    /* of a block, of an SM */
    uint32_t registers_per_warp, shared_per_block; /* as allocated */
    uint64_t shared_setting;                       /* bytes of the SM set aside for shared memory */
} pl_occupancy_info;
/* For blocks of `threads` threads with so many registers each, and `shared` bytes and so many
 * barriers altogether. */
pl_status pl_gpu_occupancy(const pl_gpu *gpu, uint32_t threads, uint32_t registers, uint64_t shared,
                           uint32_t barriers, pl_occupancy_info *out);
/* Clusters of `size` blocks that run at once where an SM has room for `blocks` blocks. */
uint32_t pl_gpu_clusters(const pl_gpu *gpu, uint32_t blocks, uint32_t size);

/* What takes long ends soon after this flag becomes non-zero, with PL_INTERRUPTED and E0420: 1, the
 * user asked for it; 2, its time is over. Loading, preparing, launching, hashing and saving look at
 * it. NULL: nothing does. */
void pl_gpu_stop_flag(pl_gpu *gpu, const volatile int *flag);

/* ---- diagnostics ---- */
size_t pl_gpu_diag_count(const pl_gpu *gpu);
typedef struct pl_message {
    const char *severity; /* "error", "warning", "note" */
    const char *code;     /* "E0214" */
    const char *file;
    uint32_t line, column;
    const char *text, *help; /* help may be NULL */
    const char *source;      /* CUDA position of a place in PTX, through .loc: "k.cu:12 (inlined at
                                k.cu:30)"; or NULL */
    const char *rendered;    /* the whole message with source line and caret */
} pl_message;
/* Message k (0-based) of those since the last pl_gpu_diag_clear; colour: with terminal colours in
 * `rendered`. */
pl_message pl_gpu_diag(pl_gpu *gpu, size_t k, bool colour);
void pl_gpu_diag_clear(pl_gpu *gpu);
/* Of the errors between two calls of pl_gpu_diag_clear this many are kept (default 100; 0: all);
 * further ones are counted only. */
void pl_gpu_diag_limit(pl_gpu *gpu, size_t errors);
/* Errors since the last pl_gpu_diag_clear that were counted only. */
size_t pl_gpu_diag_dropped(const pl_gpu *gpu);
/* Reports a message of the caller's own: a code of base/diag.def whose format takes only strings,
 * those strings (NULL where it takes fewer than three), and what to do about it (or NULL). */
void pl_gpu_report(pl_gpu *gpu, const char *code, const char *a, const char *b, const char *c,
                   const char *help);
/* What to do with a file, as its name tells; NULL: nobody knows. Lives until pl_gpu_diag_clear. */
const char *pl_file_hint(pl_gpu *gpu, const char *path);
/* The one of n words that somebody who wrote `word` probably meant, or NULL. */
const char *pl_nearest(const char *word, const char *const *words, size_t n);
/* The shortest text that reads back as v, as people write it: 0.1, 30. Returns the length. */
int pl_print_real(double v, char *buf, size_t size);
/* For text from a file on its way to a terminal. The character at s, where n > 0 bytes are left:
 * returns its length in bytes. *as is 0 when it may be printed as it is, else the character to
 * print in its place. That is ' ' for white space, '?' for other control characters and for bytes
 * that are no UTF-8. */
size_t pl_printable(const char *s, size_t n, char *as);

/* ---- files for the user ---- */

/* What a command writes. A file of the same kind is replaced, any other is left alone unless
 * `force` is set. */
typedef enum pl_output_kind {
    PL_OUTPUT_SOURCE,   /* PTX that was read from there */
    PL_OUTPUT_OBJECT,   /* pl_module_save */
    PL_OUTPUT_ASSEMBLY, /* the same as text */
    PL_OUTPUT_LISTING,  /* of a machine program */
    PL_OUTPUT_REPORT,
    PL_OUTPUT_TRACE,
    PL_OUTPUT_PERFETTO,
    PL_OUTPUT_TABLE, /* text that begins with `begins` */
    PL_OUTPUT_NPY,
    PL_OUTPUT_RAW /* `bytes` long */
} pl_output_kind;
typedef struct pl_output_how {
    pl_output_kind kind;
    bool force;
    const char *begins;
    uint64_t bytes;
} pl_output_how;
typedef struct pl_output pl_output;
/* Opens a file beside `path`, which becomes `path` when it is closed with PL_OK. PL_INVALID when
 * the path is wrong, or names something else that exists (E0015), PL_IO; *out is then NULL. */
pl_status pl_output_open(pl_gpu *gpu, const char *path, const pl_output_how *how, pl_output **out);
/* Whether that would succeed. */
pl_status pl_output_check(pl_gpu *gpu, const char *path, const pl_output_how *how);
FILE *pl_output_stream(pl_output *o);
/* st: what came of writing; PL_IO: the stream failed, which is reported here. Unless everything was
 * written, the file goes away and `path` is as it was. Frees o (NULL is allowed). Returns st, or
 * what failed here. */
pl_status pl_output_close(pl_output *o, pl_status st);

/* ---- modules ---- */
/* Which of the compiled lane loops execute the program. All give the same results; a level that
 * this build or this processor lacks becomes the next lower one. */
typedef enum pl_host { PL_HOST_BEST, PL_HOST_BASELINE, PL_HOST_AVX2, PL_HOST_AVX512 } pl_host;
/* The passes of the assembler (pl_explain "passes" lists them): which are left out, and what is
 * told about them. Names are separated by commas. With print_after or time one host thread
 * assembles. */
typedef struct pl_pass_control {
    /* Passes that do not run; NULL: none. Some are required and cannot be named. */
    const char *skip;
    /* Each function is printed after each run of these; "all"; NULL: none. */
    const char *print_after;
    const char *tune; /* "SECTION.KEY=VALUE,...": values of arch/sm_90.target; NULL: as they are */
    bool verify;      /* check each function after each pass; a finding is the error E0014 */
    bool time;        /* print a table of the time that each pass took */
    void (*print)(void *to, const char *text, size_t n); /* takes what is printed */
    void *to;
} pl_pass_control;
typedef struct pl_load_options {
    pl_host host;    /* vector instructions of the processor that runs ptxloom */
    int opt_level;   /* 0: one machine instruction per PTX instruction; 2: optimised */
    bool check_only; /* parse and check, do not assemble; *out stays NULL */
    bool fit;        /* with check_only: the texts are parts of one program, in which something may
                        be missing; check how their definitions fit, too */
    int threads; /* host threads that assemble; the program does not depend on them. 0: as many as
                    there are processors */
    const pl_pass_control *passes; /* NULL: all run, nothing is printed */
    pl_module *managed; /* the same module on another gpu, or NULL: managed variables are its, as
                           long as both are loaded. Both gpus are unified */
} pl_load_options;
/* Parses, checks and assembles PTX text. options may be NULL (opt_level 2). PL_INVALID: see the
 * diagnostics. */
pl_status pl_module_load(pl_gpu *gpu, const char *name, const char *text, size_t bytes,
                         const pl_load_options *options, pl_module **out);
/* A text in memory. */
typedef struct pl_input {
    const char *name; /* in messages */
    const char *text;
    size_t bytes;
} pl_input;
/* The same from several texts, which are linked. */
pl_status pl_module_load_texts(pl_gpu *gpu, const pl_input *in, size_t n,
                               const pl_load_options *options, pl_module **out);
/* The same from files, which are linked; one of them may instead be an object (pl_module_save),
 * alone. */
pl_status pl_module_load_files(pl_gpu *gpu, const char *const *path, size_t n,
                               const pl_load_options *options, pl_module **out);
/* The same from one file. PL_INVALID or PL_IO with a diagnostic when it cannot be read. */
pl_status pl_module_load_file(pl_gpu *gpu, const char *path, const pl_load_options *options,
                              pl_module **out);
/* The PTX file in its standard layout. *out lives until pl_gpu_diag_clear. PL_INVALID when it has
 * errors. */
pl_status pl_format_file(pl_gpu *gpu, const char *path, const char **out, size_t *bytes);
/* The assembled program as an object file (ELF), or as text that loads like one. */
typedef enum pl_save_form { PL_SAVE_OBJECT, PL_SAVE_TEXT } pl_save_form;
/* *out lives until pl_gpu_diag_clear. */
pl_status pl_module_save(pl_module *m, pl_save_form form, const char **out, size_t *bytes);
/* The object file is given to `put` piece by piece, and never is in memory as a whole. PL_IO: it
 * returned false. */
typedef bool pl_module_put(void *to, const char *bytes, size_t n);
pl_status pl_module_send(pl_module *m, pl_module_put *put, void *to);
/* Places the module's variables anew with their initial values, as a fresh load would. */
pl_status pl_module_reset(pl_module *m);
void pl_module_close(pl_module *m);
size_t pl_module_kernel_count(const pl_module *m);
const char *pl_module_kernel_name(const pl_module *m, size_t k);

typedef struct pl_kernel_param {
    const char *name;
    uint32_t offset, size;
    const char *type;
} pl_kernel_param;
typedef struct pl_kernel_info {
    const char *name;
    uint32_t registers, static_shared, local_bytes, param_bytes, nparams, barriers;
    uint32_t spill_loads, spill_stores; /* bytes */
    uint32_t stack_bytes;               /* local_bytes with those of the deepest call */
    uint32_t constant_bytes;            /* of bank 0: what the driver passes, then the parameters */
    uint32_t reqntid[3], maxntid[3], reqcluster[3];
} pl_kernel_info;
pl_status pl_module_kernel(const pl_module *m, const char *name, pl_kernel_info *out);
typedef struct pl_module_totals {
    uint64_t global_bytes, const_bytes; /* module-scope variables */
    const char *target;                 /* "sm_90a" */
} pl_module_totals;
pl_module_totals pl_module_total(const pl_module *m);
/* Blocks of so many threads that fit one multiprocessor of the gpu's machine, and the share of its
 * warps (0..1) that they are. */
uint32_t pl_module_fit(const pl_module *m, const char *kernel, uint32_t threads, double *occupancy);
pl_kernel_param pl_module_param(const pl_module *m, const char *kernel, uint32_t k);
/* Address and size of a module-scope .global or .const variable. */
pl_status pl_module_symbol(const pl_module *m, const char *name, pl_ptr *address, uint64_t *bytes);
/* The name of the variable that holds the byte at an address, and where it starts; NULL: none. */
const char *pl_module_variable(const pl_module *m, pl_ptr at, pl_ptr *start);
/* From now on kernels may write the module's constants by their addresses, as hardware lets them.
 */
void pl_module_open_constants(pl_module *m);
/* Whether kernels of another GPU reach the module's .global variables at their addresses from now
 * on. They must not any more before the module is reset or closed. */
pl_status pl_module_share(const pl_module *m, pl_gpu *with, bool can);

/* The machine program, one instruction at a time, for listings and traces. */
typedef struct pl_listing {
    uint32_t pc;
    const char *kernel;   /* function it belongs to */
    char text[256];       /* disassembly */
    const char *ptx_file; /* one of the module's PTX files */
    uint32_t ptx_line;    /* in that file */
    uint32_t text_line;   /* in the texts of all files together */
    uint32_t ptx_bytes;
    const char *ptx_text; /* that line of the PTX, ptx_bytes long, or NULL */
    const char *src_file; /* from .loc, or NULL */
    uint32_t src_line;
    char cuda[200]; /* that position with the calls that were inlined: "k.cu:12 (inlined at
                       k.cu:30)"; or "" */
    const char *mnemonic, *syntax, *cls;
    uint32_t form; /* row of the instruction table */
} pl_listing;
size_t pl_module_source_count(const pl_module *m); /* PTX files */
size_t pl_module_code_size(const pl_module *m);
pl_listing pl_module_listing(pl_module *m, uint32_t pc);

/* What an instruction says about time on the machine that the gpu was opened with: nothing in
 * hardware looks at registers, so the assembler writes down how long results take
 * (doc/assembler.md). */
typedef struct pl_control_info {
    /* Hardware instructions that it stands for; 0: none, the assembler removes it. */
    uint32_t issues;
    uint32_t stall; /* cycles from its issue to the earliest issue of its warp's next instruction */
    uint8_t waits;  /* bit k: scoreboard k must be empty before it issues */
    int8_t scoreboard; /* that holds until its result is there; -1: none, its latency is fixed */
    int8_t frees; /* that holds until it has read its registers, which a later instruction writes;
                     -1: none */
} pl_control_info;
/* False: no such instruction, no machine, or no memory. */
bool pl_module_control(pl_module *m, uint32_t pc, pl_control_info *out);

/* ---- memory ---- */
pl_status pl_alloc_device(pl_gpu *gpu, uint64_t bytes, const char *name, pl_ptr *out);
pl_status pl_free_device(pl_gpu *gpu, pl_ptr p);
pl_status pl_copy_to_device(pl_gpu *gpu, pl_ptr to, const void *from, uint64_t bytes);
pl_status pl_copy_from_device(pl_gpu *gpu, void *to, pl_ptr from, uint64_t bytes);
/* One address space for host and GPU, as CUDA programs see it: before anything is allocated.
 * Addresses that the library gives out begin at `base`, where the caller keeps room; managed
 * variables of modules have the addresses of the host memory that they lie in. */
void pl_gpu_unify(pl_gpu *gpu, pl_ptr base);
/* Variables of modules end for kernels where a page of so many bytes ends (a power of two); 0, as
 * it is at first: at their last byte. Before modules are loaded. */
void pl_gpu_bounds(pl_gpu *gpu, uint64_t page);
/* Says that the device has accessed [address, address + bytes): launches in timing mode do not wait
 * for the translation of its pages. Nothing to do unless the GPU is unified. */
void pl_gpu_touch(pl_gpu *gpu, pl_ptr address, uint64_t bytes);
/* Makes [address, address + bytes) of the GPU's memory mean the host's memory at `host`, which
 * stays the caller's; 64 bytes past its end can be read. `name` (or NULL) lives as long as that.
 * Ends with pl_free_device. PL_INVALID: a part of it is taken. */
pl_status pl_map_device(pl_gpu *gpu, pl_ptr address, uint64_t bytes, void *host, const char *name);
/* Says that what is mapped at `p` is memory of the host: launches in timing mode reach it across
 * the link. */
void pl_gpu_of_host(pl_gpu *gpu, pl_ptr p);
/* Host view of device memory, valid until it is freed; NULL when out of bounds. */
void *pl_device_view(pl_gpu *gpu, pl_ptr p, uint64_t bytes);

/* ---- tensor maps, arrays, textures and surfaces (base/resource.h describes them) ---- */

/* Makes the 128-byte descriptor that a kernel takes as a parameter of 64-byte alignment. PL_INVALID
 * where cuTensorMapEncode... answers CUDA_ERROR_INVALID_VALUE; *why (may be NULL) then is one
 * sentence. */
pl_status pl_tensor_map(const pl_tensor_desc *d, uint8_t out[PL_TENSORMAP_BYTES], const char **why);

/* An array of texels, zeroed. Mipmapped when it has levels. */
pl_status pl_array_create(pl_gpu *gpu, const pl_array_desc *d, const char *name, uint64_t *out);
/* Bytes of a level: rows behind rows, slices or layers behind those. */
uint64_t pl_array_bytes(const pl_gpu *gpu, uint64_t array, uint32_t level);
/* Host view of a level's texels, valid until the array is freed; NULL when there is no such level.
 */
void *pl_array_view(pl_gpu *gpu, uint64_t array, uint32_t level);
/* The address of its first texel; 0: there is no such level. */
pl_ptr pl_array_address(const pl_gpu *gpu, uint64_t array, uint32_t level);
/* Handles for kernels. PL_INVALID: *why (may be NULL) is the error name that a CUDA program would
 * see. */
pl_status pl_texture_create(pl_gpu *gpu, const pl_texture_desc *d, uint64_t *out, const char **why);
pl_status pl_surface_create(pl_gpu *gpu, uint64_t array, uint32_t level, uint64_t *out,
                            const char **why);
/* Frees an array, a texture or a surface. */
pl_status pl_resource_free(pl_gpu *gpu, uint64_t handle);
/* Gives a .texref, .samplerref or .surfref variable of the module a handle. PL_INVALID: there is
 * none of that name. */
pl_status pl_module_bind(pl_module *m, const char *name, uint64_t handle);

/* ---- launches ---- */
typedef enum pl_mode { PL_MODE_FUNCTIONAL, PL_MODE_TIMING } pl_mode;

typedef struct pl_launch {
    const char *kernel;
    uint32_t grid[3], block[3], cluster[3]; /* cluster 0,0,0: as the kernel says */
    uint32_t dynamic_shared;
    uint32_t stack;     /* bytes per thread; 0: default */
    const void *params; /* the parameter block as laid out by pl_module_param */
    uint32_t param_bytes;
    pl_mode mode;
    int threads; /* host threads; results do not depend on it unless blocks race. 0: one */
    /* Blocks run on SM k only if bit k % 64 of word k / 64 is set; NULL: on all SMs. */
    const uint64_t *sms;
    /* When asynchronous copies land: at once; when they are waited for; when the model of time says
     * that they are complete, in functional mode some time after their issue. Without one of these:
     * async_timed in timing mode, async_eager in functional mode. */
    bool async_eager, async_late, async_timed;
    bool simt_stack;  /* pre-Volta divergence */
    bool cooperative; /* all blocks run at once and may wait for each other (grid barrier) */
    bool random;      /* functional mode: which warp and which lanes go on is drawn at random */
    uint64_t seed;    /* of those draws, and of those of weak consistency */
    uint32_t turn;    /* random: a warp goes on for 1 to `turn` instructions before others may; 0:
                         default */
    /* Functional mode: a launch that repeats an earlier one on the same memory is not executed
     * again; what it has done to memory is copied, and its counts are those of the earlier one. Not
     * with sink, checks, weak, random, then or max_instructions. */
    bool memoize;
    bool uncounted; /* functional mode: pl_result.pc_stat is NULL, and npc 0 */
    bool weak;      /* threads see memory only as consistently as the PTX memory model promises */
    const pl_sink *sink;      /* or NULL */
    struct pl_checks *checks; /* checkers that watch it, or NULL */
    /* Stops the launch when it becomes non-zero; NULL: the flag of pl_gpu_stop_flag. */
    const volatile int *cancel;
    double global_time; /* ns: %globaltimer at its start; 0: it counts from 0, half the clock */
    uint64_t graph;     /* %current_graph_exec */
    /* A kernel launches a graph (cudaGraphLaunch) in one of the streams for that: the error that it
     * gets; 700 ends the launch with that fault. Several threads may call it at once. NULL: no
     * graph can be launched. */
    uint32_t (*launch_graph)(void *ctx, uint64_t graph, uint64_t stream);
    /* A kernel changes a kernel node of a graph (cudaGraphKernelNodeSetParam and its kin): field is
     * the cudaGraphKernelNodeField, value points to so many bytes of what it becomes: of the
     * parameter block from offset on, a grid of three numbers, a byte that is not 0. The result is
     * the error that it gets. NULL: there are no such nodes. */
    uint32_t (*update_node)(void *ctx, uint64_t node, uint32_t field, const void *value,
                            uint64_t offset, uint64_t bytes);
    void *graph_ctx;
    /* PL_INTERRUPTED when the launch has taken so much; 0: no limit, of output 256 MiB. */
    uint64_t max_cycles;       /* timing mode */
    uint64_t max_instructions; /* executed by warps */
    uint64_t max_output;       /* bytes of printed text that are held */
    /* Timing mode: blocks that have not started after so many seconds on the host run without the
     * model of time; 0: no limit. Not for cooperative launches and with `then`. */
    double timed_seconds;
    void (*progress)(void *ctx, uint64_t blocks_done, uint64_t blocks, uint64_t instructions);
    void *progress_ctx;
    /* The launch behind this one in the same stream, of the same module, or NULL. Of it and those
     * that follow, kernel, shape, stack, params, cooperative, dependent and then count; the rest is
     * as the first one says. The result is that of all of them together. */
    const struct pl_launch *then;
    bool dependent; /* it may start before the launch in front of it has ended (programmatic
                       dependent launch, griddepcontrol) */
} pl_launch;

/* Where a launch failed. */
typedef struct pl_fault_place {
    uint32_t pc; /* of the machine instruction; pl_module_listing tells its lines */
    uint32_t block[3], thread[3];
    uint64_t address; /* that it asked for, or 0 */
} pl_fault_place;

typedef struct pl_result {
    pl_status status; /* PL_OK, PL_FAULT, PL_INTERRUPTED ... */
    uint64_t cycles;  /* 0 in functional mode; without PL_OK: until it stopped, as all counts */
    uint64_t inst_executed, thread_inst_executed;
    uint64_t longest_warp; /* functional mode: the largest %clock of a warp at its end, 0 with
                              timing */
    double wall_seconds;   /* emulation alone */
    const char *error;     /* CUDA's error name of a fault, or NULL */
    const char *error_text;
    const pl_fault_place *fault; /* or NULL */
    const pl_pc_stat *pc_stat;   /* by pc; valid until the next launch of this module */
    size_t npc;
    const pl_counter *counter; /* valid until the next launch; none without PL_OK: rates of part of
                                  a launch mean nothing */
    size_t ncounters;
    uint32_t registers, static_shared, dynamic_shared, local_bytes;
    double theoretical_occupancy; /* 0..1, timing mode */
    /* Not 0: only so many blocks ran with the model of time (timed_seconds). pc_stat and counter
     * are about these, inst_executed is of all blocks, and cycles an estimate for all. */
    uint64_t timed_blocks;
} pl_result;
pl_status pl_launch_kernel(pl_gpu *gpu, pl_module *m, const pl_launch *l, pl_result *out);

/* ---- checkers: what a launch does wrong, although it may end with the right result ---- */
typedef struct pl_checks pl_checks;
typedef struct pl_checks_options {
    const char *tools; /* "race", "mem,race", "all" */
    size_t limit;      /* findings that pl_checks_report reports; 0: all */
    /* Only findings in kernels of this name; * and ? are wildcards. NULL: all. */
    const char *kernel;
    struct pl_checked *program; /* what checkers of several modules share, or NULL */
    const char *suppressions;   /* file of findings that are known and left out, or NULL: a line for
                                 * each, `KIND KERNEL [FILE:LINE]`, all of which may hold * and ? */
} pl_checks_options;
/* Opens checkers, to be given to launches of one module. PL_INVALID: `tools` names one that there
 * is not. */
pl_status pl_checks_open(pl_gpu *gpu, const pl_checks_options *o, pl_checks **out);
void pl_checks_close(pl_checks *c); /* NULL is allowed */
/* What the launches have shown, each pair of instructions once for each kind. */
typedef struct pl_finding {
    const char *tool, *kind; /* "race", "raw": pl_explain has "race-raw" */
    const char *severity;    /* "error", "warning" */
    const char *space;       /* "global", "shared", "local", "register" */
    const char *kernel;
    const char *file; /* of CUDA where .loc gives it, else of PTX */
    uint32_t line;
    const char *other_file; /* of the other access, or NULL */
    uint32_t other_line;
    uint32_t block[3], thread[3], other_block[3], other_thread[3];
    uint32_t pc, other_pc; /* UINT32_MAX: there is no other access */
    uint64_t address;
    uint32_t bytes;
    uint64_t start; /* init-copy: where the copy of so many bytes begins */
    uint64_t count; /* how often */
    bool ended;     /* the launch failed with it: its error says the same */
    uint64_t seed;  /* of the schedule that showed it first; 0: the plain one */
    int64_t launch; /* id in the trace of the launch that showed it first; 0: nobody has noted it
                       (pl_trace_note_findings); or PL_LAUNCH_* */
    const char *text, *help;
} pl_finding;
enum {
    PL_LAUNCH_UNTRACED = -1, /* one that the trace leaves out */
    PL_LAUNCH_NONE = -2      /* outside of kernels: what a program does itself */
};
size_t pl_checks_count(const pl_checks *c);
size_t pl_checks_errors(const pl_checks *c); /* those that are no warnings */
/* Finding n, valid until the next launch. */
const pl_finding *pl_checks_finding(const pl_checks *c, size_t n);
/* Reports all of them as diagnostics that point into the module. */
pl_status pl_checks_report(pl_checks *c, pl_module *m);
/* What compute-sanitizer counts; starts as zeros. */
typedef struct pl_sanitizer_sum {
    bool begun; /* its first line is there */
    uint64_t shown, errors, races, race_errors, race_warnings, leaked, leaks;
} pl_sanitizer_sum;
/* The findings as lines of compute-sanitizer, in place of pl_checks_report, and added to *sum. m
 * NULL: findings outside of kernels. The text is valid until the checkers are closed. */
pl_status pl_checks_sanitizer(pl_checks *c, pl_module *m, pl_sanitizer_sum *sum,
                              const char **lines);
/* Its last lines. failed: the launch or the program has ended with an error. */
pl_status pl_checks_sanitizer_end(pl_checks *c, const pl_sanitizer_sum *sum, bool failed,
                                  const char **last);
/* How many errors it counts, leaks among them. */
uint64_t pl_sanitizer_errors(const pl_sanitizer_sum *sum);

/* ---- checkers of a whole program: they share what they know of device memory ---- */
typedef struct pl_checked pl_checked;
/* [base, base + bytes): addresses of its device memory, as pl_gpu_unify begins them. Close it
 * behind the checkers that use it (pl_checks_options). */
pl_status pl_checked_open(pl_gpu *gpu, const pl_checks_options *o, pl_ptr base, uint64_t bytes,
                          pl_checked **out);
void pl_checked_close(pl_checked *p);
/* What the program does to device memory: nobody has written it yet; it writes; it copies. Memory
 * that is not in the range does no harm: it counts as written. */
pl_status pl_checked_fresh(pl_checked *p, pl_ptr at, uint64_t bytes);
/* The same of all levels of an array. */
pl_status pl_checked_fresh_array(pl_checked *p, pl_gpu *gpu, uint64_t array);
pl_status pl_checked_written(pl_checked *p, pl_ptr at, uint64_t bytes);
pl_status pl_checked_copied(pl_checked *p, pl_ptr to, pl_ptr from, uint64_t bytes);
/* The program reads device memory. */
typedef struct pl_checked_memory {
    const char *name;  /* of the allocation */
    pl_ptr start;      /* and where it begins */
    const char *call;  /* "cudaMemcpy, call 12, in main+0x42" */
    const char *where; /* findings with the same `where` are one */
} pl_checked_memory;
pl_status pl_checked_read(pl_checked *p, pl_ptr at, uint64_t bytes, const pl_checked_memory *m);
/* Something else, and the call that does it. */
pl_status pl_checked_misuse(pl_checked *p, const char *kind, const char *text, const char *where);
/* A range of memory that the next launch under these checkers may access, or must not. */
typedef struct pl_checked_range {
    pl_ptr address;
    uint64_t bytes;
    const char *wrong; /* why not; NULL: it may */
    bool accessed;     /* is set */
} pl_checked_range;
/* Ranges by address, valid until the launch has ended. */
pl_status pl_checks_watch(pl_checks *c, pl_checked_range *range, size_t n);
/* What a launch has done to a run of bytes of global memory. */
enum {
    PL_TOUCH_READ = 1,
    PL_TOUCH_WRITTEN = 2,
    PL_TOUCH_STRONG = 4 /* by atomic, volatile or relaxed operations */
};
typedef struct pl_checked_touch {
    pl_ptr address;
    uint64_t bytes;
    uint32_t pc;  /* of one of the instructions */
    unsigned how; /* PL_TOUCH_* */
} pl_checked_touch;
/* If races are looked for: take down what the next launch under these checkers touches; what that
 * was, by address, which the caller frees; and "k.cu:12" or "line 40" of an instruction, valid as
 * long as the checkers. */
void pl_checks_keep(pl_checks *c);
pl_checked_touch *pl_checks_touched(pl_checks *c, size_t *n);
const char *pl_checks_place(pl_checks *c, pl_module *m, uint32_t pc);
/* Memory that has not been freed when the program ended. */
pl_status pl_checked_leak(pl_checked *p, pl_ptr at, uint64_t bytes, const char *name);
/* Reports what the program does wrong itself; that of kernels pl_checks_report reports. */
pl_status pl_checked_report(pl_checked *p);
size_t pl_checked_errors(const pl_checked *p); /* those that are no warnings */
pl_checks *pl_checked_list(pl_checked *p);     /* what it does wrong itself */

/* ---- litmus tests: small programs of several threads, and what a memory model lets them do ----
 */
typedef struct pl_litmus pl_litmus;
/* Reads a test (ptxloom-litmus(5)), finds out what the axioms of the PTX memory model allow it, and
 * assembles it at that level of optimisation. PL_INVALID, PL_IO: see the diagnostics; *out is then
 * NULL. */
pl_status pl_litmus_load(pl_gpu *gpu, const char *path, int opt_level, pl_litmus **out);
/* Runs the test so many times under schedules drawn from the seed, with strong or weak consistency,
 * and counts outcomes. */
pl_status pl_litmus_run(pl_litmus *l, bool weak, uint64_t runs, uint64_t seed);
/* One outcome. */
typedef struct pl_litmus_row {
    const char *text;      /* "1:r0=1 1:r1=0" */
    bool holds;            /* the condition is true of it */
    bool allowed;          /* by the axioms */
    bool sequential;       /* some interleaving of the threads gives it */
    uint64_t strong, weak; /* how often it was seen */
} pl_litmus_row;
typedef struct pl_litmus_report {
    const char *name, *title;
    const char *condition; /* as the file has it */
    const char *unseen;    /* why an outcome of the condition is not expected to be seen, or "" */
    const pl_litmus_row *row; /* every outcome that is allowed or was seen */
    size_t n;
    uint64_t runs_strong, runs_weak;
    bool agrees;   /* what the test claims is what the axioms say */
    bool possible; /* the axioms allow an outcome of which the condition is true */
    uint64_t seen; /* runs with weak consistency of which the condition was true */
    /* Outcomes seen though not allowed; allowed, but never seen with weak consistency. */
    size_t forbidden, never;
} pl_litmus_report;
/* Valid until the next call for this test. PL_NOMEM. */
pl_status pl_litmus_result(pl_litmus *l, pl_litmus_report *out);
void pl_litmus_close(pl_litmus *l);

/* ---- launch files ---- */

/* One argument of a launch. */
typedef struct pl_case_arg {
    const char *type;      /* element type: "f32" */
    bool buffer;           /* passed as a 64-bit address; false: passed by value */
    bool output;           /* of interest after the launch */
    uint64_t count, bytes; /* elements and their size together */
    bool whole;            /* all its elements are to be shown */
    const char *save;      /* file to write afterwards (.npy, or raw bytes), or NULL */
    const char *variable;  /* it is no parameter but this variable of the module; NULL: it is one */
    bool expected;         /* pl_case_compare has something to compare it with */
    pl_ptr address;        /* of a buffer, between prepare and release */
} pl_case_arg;

/* A launch as a launch file or a command line describes it: the module, the kernel, the shape and
 * the arguments. */
typedef struct pl_case {
    const char *name;
    const char *ptx;         /* path of the module: PTX or an object */
    const char *const *link; /* further PTX files, linked with it */
    size_t nlink;
    const char *entry; /* NULL: the module's only kernel */
    uint32_t grid[3], block[3], cluster[3], dynamic_shared, stack;
    bool deterministic;
    pl_case_arg *arg;
    size_t nargs;
    struct pl_case_more *more; /* the library's part */
} pl_case;

/* An empty case, to be filled in by the caller: set the public members (the strings must outlive
 * it), add arguments. */
pl_status pl_case_open(pl_gpu *gpu, pl_case **out);
/* Reads a launch file; paths in it are relative to its folder. PL_INVALID, PL_IO: see the
 * diagnostics; *out is NULL. */
pl_status pl_case_read(pl_gpu *gpu, const char *path, pl_case **out);
/* Adds a file to be linked with c->ptx; the path must outlive the case. */
void pl_case_add_file(pl_case *c, const char *path);
/* Loads the module of the case. */
pl_status pl_case_load(pl_case *c, const pl_load_options *options, pl_module **out);
/* Adds an argument in the notation of the command line: "u32:7", "out:f32[1024]=hash:3,-1,1"; or of
 * a launch file: {"texture": ...}. */
pl_status pl_case_add_arg(pl_case *c, const char *text);
/* Checks the arguments against the kernel, allocates and fills the buffers, and completes *l
 * (kernel, shape, parameters; the other members stay as they are). The module must be that of
 * c->ptx. */
pl_status pl_case_prepare(pl_case *c, pl_module *m, pl_launch *l);
/* SHA-256 of argument k's bytes as 64 hexadecimal digits. PL_INTERRUPTED: the stop flag was raised;
 * hex is then "". */
pl_status pl_case_sha256(const pl_case *c, size_t k, char hex[65]);
/* Element i of argument k as text. */
void pl_case_element(const pl_case *c, size_t k, uint64_t i, char *buf, size_t size);
/* Writes argument k to its `save` path; force: whatever is there (pl_output_how). */
pl_status pl_case_save(pl_case *c, size_t k, bool force);
/* Whether that file could be written. */
pl_status pl_case_check_save(pl_case *c, size_t k, bool force);
/* Compares argument k with what is expected of it. PL_FAULT: it differs, as a diagnostic says. */
pl_status pl_case_compare(pl_case *c, size_t k);
/* Frees the buffers of pl_case_prepare; they may be prepared again. */
void pl_case_release(pl_case *c);
void pl_case_close(pl_case *c);

/* Text the kernel printed (vprintf, assert) since the last call; NULL when none. */
const char *pl_gpu_printed(pl_gpu *gpu);
/* The same with its length: the text may hold characters that are zero. */
const char *pl_gpu_printed_bytes(pl_gpu *gpu, size_t *bytes);

/* The value that a kernel gave a conditional handle last (cudaGraphSetConditional). PL_INVALID:
 * none did. */
pl_status pl_gpu_conditional(const pl_gpu *gpu, uint64_t handle, uint32_t *value);
/* Gives it one from the host. PL_NOMEM. */
pl_status pl_gpu_set_conditional(pl_gpu *gpu, uint64_t handle, uint32_t value);

/* ---- traces (SQLite) ---- */
typedef struct pl_trace pl_trace;
typedef enum pl_trace_level { PL_TRACE_SUMMARY, PL_TRACE_INST, PL_TRACE_MEM } pl_trace_level;
/* Which events to write; NULL: all. Numbers are lists of values and ranges with both ends in them:
 * "0,4,8:11"; an end may be left out. Statistics and counters cover everything that ran in any
 * case. */
typedef struct pl_trace_filter {
    /* Launches of this kernel function or launch file; * and ? are wildcards. */
    const char *kernel;
    const char *sm, *block, *warp; /* block: linear number; warp: in its block */
    const char *pc;                /* machine instructions "10:20", or PTX lines "line:41:45" */
    const char *cycles;            /* "1000:2000" */
    /* Effects (load, store, atomic, barrier, branch ...), mnemonics or latency classes. */
    const char *cls;
    const char *sample; /* "1/10": one warp in ten, whole */
} pl_trace_filter;
typedef struct pl_trace_options {
    pl_trace_level level;
    const char *command; /* command line, stored in run */
    uint64_t max_bytes;  /* 0: no limit; beyond it events are counted instead of written */
    pl_trace_filter filter;
    bool packed; /* events as packed columns: a tenth of the size, read through a virtual table */
    bool force;  /* replace what is there, whatever it is; else only a trace */
    bool no_source;                /* keep no text of CUDA source files */
    const char *const *source_dir; /* besides the folders of the modules, these may be read for it.
                                      They outlive the trace */
    size_t nsource_dirs;
} pl_trace_options;
/* Opens PATH.part; pl_trace_close(keep = true) finishes it and renames it to PATH. A process that
 * dies leaves no PATH. */
pl_status pl_trace_open(pl_gpu *gpu, const char *path, const pl_trace_options *o, pl_trace **out);
/* Starts a launch: call before pl_launch_kernel and pass the sink in the launch. */
const pl_sink *pl_trace_begin(pl_trace *t, pl_module *m, const pl_launch *l, const char *case_name);
/* Ends it: call before pl_gpu_printed takes away what the kernel printed. */
pl_status pl_trace_end(pl_trace *t, const pl_result *r);
pl_status pl_trace_close(pl_trace *t, bool keep);
/* What a CUDA program did besides its launches; times in microseconds on the application's clock.
 */
/* A call of the CUDA API. */
typedef struct pl_trace_call {
    int64_t id; /* the caller counts, from 1 */
    const char *name;
    int64_t thread; /* of the host, from 1 */
    double start, end;
    int result;
    const char *error; /* its name; NULL: success */
} pl_trace_call;
pl_status pl_trace_add_call(pl_trace *t, const pl_trace_call *c);
/* What a stream did. */
typedef struct pl_trace_activity {
    const char *kind; /* "kernel", "copy", "set", "host function", "event" */
    const char *name; /* of the kernel; "HtoD", "DtoH", "DtoD", "HtoH", "PtoP" of a copy */
    int64_t device, stream;
    int64_t call, graph; /* the call that put it there; the launch of a graph; 0: none */
    double start, end;
    bool launch;                      /* it is the launch that pl_trace_end ended last */
    int64_t bytes;                    /* -1: none */
    const char *source, *destination; /* kinds of memory, or NULL */
    bool estimated; /* the duration of a kernel that ran without the model of time */
    double spread;  /* standard deviation of what the estimate is the mean of; < 0: none */
} pl_trace_activity;
pl_status pl_trace_add_activity(pl_trace *t, const pl_trace_activity *a);
/* What a stream does after that time ends so much later, and begins later unless it has begun. Of
 * the latest 1000 rows. */
pl_status pl_trace_move_activities(pl_trace *t, int device, int64_t stream, double from, double by);
typedef struct pl_trace_allocation {
    uint64_t address, bytes;
    const char *memory; /* "device", "pinned", "registered", "managed" */
    int64_t device;
    double start, end; /* end < 0: not freed */
} pl_trace_allocation;
pl_status pl_trace_add_allocation(pl_trace *t, const pl_trace_allocation *a);
/* A range or mark of NVTX. */
typedef struct pl_trace_nvtx {
    const char *name;
    int64_t thread, depth;
    double start, end;
} pl_trace_nvtx;
pl_status pl_trace_add_nvtx(pl_trace *t, const pl_trace_nvtx *r);
/* What the checkers found, to the launch that was noted for each, or else to the one that
 * pl_trace_end ended last. */
pl_status pl_trace_add_findings(pl_trace *t, const pl_checks *c);
/* Notes that launch for what is new among the findings. t NULL: a launch that the trace leaves out.
 */
void pl_trace_note_findings(const pl_trace *t, pl_checks *c);
const char *pl_trace_error(const pl_trace *t);

/* A metric of the launch that pl_trace_end ended last. */
typedef struct pl_metric {
    const char *name, *unit, *meaning;
    bool known; /* false: the launch has nothing to compute it from (functional mode has no cycles)
                 */
    double value;
} pl_metric;
/* Values of the metrics whose names, with commas between them, are `names`; "all": of every metric
 * that is known. In memory of the trace, until its next launch. PL_INVALID with a diagnostic when a
 * name is unknown: names can be checked before any launch (*n is then 0). A trace opened with path
 * NULL lies in memory: it serves this function only. */
pl_status pl_trace_metrics(pl_trace *t, const char *names, const pl_metric **out, size_t *n);

struct sqlite3;
/* Opens a finished trace for reading: an SQLite connection, which the caller closes with
 * sqlite3_close. PL_INVALID with a diagnostic when the file cannot be read, is no trace, is
 * unfinished or has another schema; *out is then NULL. */
pl_status pl_trace_connect(pl_gpu *gpu, const char *path, struct sqlite3 **out);
/* The error number of the system behind the latest failure of such a connection; 0: it is not the
 * system's. What SQLite says of it may be another thing: a sector that cannot be read is
 * "malformed". */
int pl_trace_errno(struct sqlite3 *db);
/* The SQL of a named query such as "summary"; NULL: there is none of that name. */
const char *pl_trace_query(const char *name);

/* ---- looking at traces ---- */
typedef struct pl_report_options {
    const char *baseline;       /* another trace, compared with; NULL: none */
    int64_t launch;             /* kernel.id of the one launch to show; 0: the longest ones */
    uint64_t issue_slots;       /* issues kept one by one for the timeline; 0: 400000 */
    const volatile int *cancel; /* PL_INTERRUPTED soon after it is not 0; or NULL */
    bool force;                 /* replace what is there, whatever it is; else only a report */
} pl_report_options;
/* Writes one self-contained HTML file about a trace. */
pl_status pl_trace_report(pl_gpu *gpu, const char *trace, const char *out,
                          const pl_report_options *o);

/* The launch of trace b that corresponds to a launch of trace a: the same entry and the same place
 * among its launches. When b never launches that entry, the same place among all launches counts.
 * 0: there is none. -1: SQLite failed, on one of the connections. */
int64_t pl_trace_partner(struct sqlite3 *a, int64_t launch, struct sqlite3 *b);
/* What one PTX line cost in a launch. line 0: the launch has no such line. */
typedef struct pl_line_cost {
    uint32_t line;
    uint64_t issues, stall_cycles, sectors, conflicts;
    const char *cuda; /* where it was compiled from: "k.cu:12"; or NULL */
} pl_line_cost;
/* PL_INTERRUPTED: a progress handler of one of the connections ended it. Calls `line` for every PTX
 * line that ran in either launch, in their order; equal lines of the two are one call. */
pl_status pl_trace_diff(pl_gpu *gpu, struct sqlite3 *a, int64_t launch_a, struct sqlite3 *b,
                        int64_t launch_b,
                        void (*line)(void *ctx, const char *text, const pl_line_cost *a,
                                     const pl_line_cost *b),
                        void *ctx);

/* ---- CUDA's numbers ---- */
/* The name of a cudaError_t, and its description in *text (which may be NULL); NULL: there is no
 * such error, and *text stays. */
const char *pl_cuda_error(int number, const char **text);

/* ---- the instruction table and explanations ---- */
/* Text about an instruction, diagnostic, machine key or section, metric, query, rule, pass, kind of
 * finding or term of the glossary, in the gpu's memory; NULL when nothing is known by that name. */
const char *pl_explain(pl_gpu *gpu, const char *topic);
/* One line for each instruction form that is parsed and checked but not executed, with the reason.
 */
const char *pl_explain_unsupported(pl_gpu *gpu);

#ifdef __cplusplus
}
#endif

#endif
