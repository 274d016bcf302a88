/* ptxloom.h - the public interface of libptxloom: assembles PTX, runs it on a modelled GPU and
 * reports performance data.
 *
 * Every function that can fail returns a pl_status (base/status.h); details are diagnostics of the
 * gpu (pl_gpu_diag). The library never prints, never exits and has no global state; several pl_gpu
 * may coexist. Returned strings stay valid until the object that returned them is closed. Sizes are
 * in bytes and indices start at 0 unless stated otherwise. Every function that allocates may return
 * PL_NOMEM.
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
 */
#ifndef PTXLOOM_H
#define PTXLOOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/event.h"      /* events, statistics and counters */
#include "base/managed.h"    /* PL_MANAGED_BLOCK, PL_MANAGED_CHUNK */
#include "base/node_field.h" /* pl_node_field */
#include "base/resource.h"   /* descriptions of tensors, arrays and textures */
#include "base/status.h"     /* pl_status */

#ifdef __cplusplus
extern "C" {
#endif

#define PTXLOOM_VERSION "0.2.0"

typedef struct pl_gpu pl_gpu;       /* an emulated GPU: its memory, and its diagnostics */
typedef struct pl_module pl_module; /* an assembled program */
typedef uint64_t pl_ptr;            /* address in the memory of the emulated GPU */

/* ---- machines ---- */

/* Opens a GPU described by a machine name ("h200") or by the path of a .conf file. PL_INVALID: the
 * description is wrong or missing; *out is then an object whose diagnostics give the reason, and
 * the caller closes it. PL_NOMEM: *out may be NULL. Names are searched in the folders of
 * $PTXLOOM_ARCH_PATH, then among the machines built into the library, then in the installed folder.
 * machine == NULL: no machine; modules can be loaded and explained, but not run. */
pl_status pl_gpu_open(pl_gpu **out, const char *machine);
/* Frees the gpu and its device memory; close its modules, cases and traces first. NULL is allowed.
 */
void pl_gpu_close(pl_gpu *gpu);
/* Returns the name of the machine; NULL: none was opened. */
const char *pl_gpu_name(const pl_gpu *gpu);
/* Reads a number of the machine description: ("sm.count", ""), ("shared.per_sm", "B"). Returns
 * false if the machine has no such key, or if its value is not a number with the dimension of
 * `unit`.
 */
bool pl_gpu_value(const pl_gpu *gpu, const char *key, const char *unit, double *value);
/* Returns a text of the machine description: "machine.title". NULL: the machine has no such key. */
const char *pl_gpu_text(const pl_gpu *gpu, const char *key);
/* Returns the k-th name of the machines that are built into the library, sorted; NULL after the
 * last. */
const char *pl_gpu_builtin(size_t k);
/* Sets the size in bytes of the heap that malloc uses in kernels (default 8 MiB). PL_INVALID:
 * a kernel has already allocated from the heap, which has another size. */
pl_status pl_gpu_heap(pl_gpu *gpu, uint64_t bytes);
/* True for an address in that heap. */
bool pl_gpu_in_heap(const pl_gpu *gpu, pl_ptr p);

/* Resident blocks per SM, and the limit that each resource alone imposes. */
typedef struct pl_occupancy_info {
    uint32_t blocks; /* 0: the block does not fit an SM */
    uint32_t by_warps, by_blocks, by_registers, by_shared, by_barriers;
    uint32_t warps, most_warps;                    /* warps per block; maximum warps per SM */
    uint32_t registers_per_warp, shared_per_block; /* as allocated, after rounding */
    uint64_t shared_setting;                       /* shared memory carveout of the SM in bytes */
} pl_occupancy_info;
/* Computes the occupancy for blocks of `threads` threads, with `registers` registers per thread,
 * and with `shared` bytes and `barriers` named barriers per block. PL_INVALID: no machine, or no
 * threads. */
pl_status pl_gpu_occupancy(const pl_gpu *gpu, uint32_t threads, uint32_t registers, uint64_t shared,
                           uint32_t barriers, pl_occupancy_info *out);
/* Returns the smallest carve-out of an SM for shared memory with at least this many bytes, else the
 * largest one. 0: no machine. */
uint64_t pl_gpu_carveout(const pl_gpu *gpu, uint64_t bytes);
/* Returns the clusters of `size` blocks that run at once on the GPU, if an SM has room for `blocks`
 * blocks. 0: none, or no machine. */
uint32_t pl_gpu_clusters(const pl_gpu *gpu, uint32_t blocks, uint32_t size);

/* Sets the stop flag. Long operations end soon after it becomes non-zero, with PL_INTERRUPTED and
 * E0420. 1: the user requested it; 2: the time limit expired. Loading, preparing, launching,
 * hashing and saving poll it. It must stay valid until it is replaced, or the gpu
 * closed. NULL: no flag. */
void pl_gpu_stop_flag(pl_gpu *gpu, const volatile int *flag);

/* ---- diagnostics ---- */
/* Returns the number of messages since the last pl_gpu_diag_clear. */
size_t pl_gpu_diag_count(const pl_gpu *gpu);
typedef struct pl_message {
    const char *severity;    /* "error", "warning", "note" */
    const char *code;        /* "E0214" */
    const char *file;        /* NULL: it concerns no file */
    uint32_t line, column;   /* from 1; 0: the file as a whole */
    const char *text, *help; /* help may be NULL */
    const char *source;   /* CUDA source position of a place in PTX, through .loc: "k.cu:12 (inlined
                             at k.cu:30)"; or NULL */
    const char *rendered; /* the complete message with source line and caret */
} pl_message;
/* Returns message k of those since the last pl_gpu_diag_clear, until which its texts are valid.
 * colour: `rendered` uses terminal colours. If there is no message k, or no memory, it returns
 * E0422 (out of memory). */
pl_message pl_gpu_diag(pl_gpu *gpu, size_t k, bool colour);
/* `rendered` shows C++ names as they stand in programs. demangle: returns the name for a mangled
 * one
 * (_Z...) in memory of malloc, or NULL. */
void pl_gpu_demangler(pl_gpu *gpu, char *(*demangle)(const char *name));
/* Removes all messages and frees the texts that are documented as valid until this call. */
void pl_gpu_diag_clear(pl_gpu *gpu);
/* Sets the number of errors retained between two calls of pl_gpu_diag_clear (default 100; 0: all);
 * further errors are only counted. */
void pl_gpu_diag_limit(pl_gpu *gpu, size_t errors);
/* Returns the number of errors since the last pl_gpu_diag_clear that were only counted. */
size_t pl_gpu_diag_dropped(const pl_gpu *gpu);
/* Reports a diagnostic of the caller. code: a code of base/diag.def whose format takes only
 * strings. a, b, c: those strings (NULL where it takes fewer than three). help: advice, or NULL. */
void pl_gpu_report(pl_gpu *gpu, const char *code, const char *a, const char *b, const char *c,
                   const char *help);
/* Returns advice for a file, based on its name; NULL: none. Valid until pl_gpu_diag_clear. */
const char *pl_file_hint(pl_gpu *gpu, const char *path);
/* Returns the word among the n given that is the most likely correction of `word`; NULL: none is
 * similar. */
const char *pl_nearest(const char *word, const char *const *words, size_t n);
/* Returns the ending of a regular noun after the number n: "" for 1, else "s". */
const char *pl_plural(uint64_t n);
/* Prints the shortest decimal text that reads back as v: 0.1, 30. Returns its length. The buffer
 * has `size` bytes; 32 are always enough. */
int pl_print_real(double v, char *buf, size_t size);
/* Reads a size in bytes: 500K, 64MB, 2GiB; a plain number counts MiB. False: it is none, is 0, or
 * is larger than 2^60. */
bool pl_read_size(const char *text, uint64_t *bytes);
/* Sanitises text from a file for a terminal. s: the next character, with n > 0 bytes remaining.
 * Returns the length of the character in bytes. *as is 0 if it can be printed unchanged, else the
 * character to print in its place: ' ' for white space, '?' for other control characters and for
 * bytes that are not UTF-8. */
size_t pl_printable(const char *s, size_t n, char *as);

/* ---- output files ---- */

/* Kinds of output files. An existing file of the same kind is replaced; any other file is left
 * untouched unless `force` is set. */
typedef enum pl_output_kind {
    PL_OUTPUT_SOURCE,   /* PTX that was read from the same path */
    PL_OUTPUT_OBJECT,   /* pl_module_save */
    PL_OUTPUT_ASSEMBLY, /* the same as pl_module_save text */
    PL_OUTPUT_LISTING,  /* listing of a machine program */
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
    const char *begins; /* PL_OUTPUT_TABLE: the first characters of the text */
    uint64_t bytes;     /* PL_OUTPUT_RAW: size of the file */
} pl_output_how;
typedef struct pl_output pl_output; /* an output file that is being written */
/* Opens a temporary file next to `path`, which replaces `path` when it is closed with PL_OK.
 * PL_INVALID: the path is wrong, or names an existing file of another kind (E0015). PL_IO: the file
 * cannot be created. On failure *out is NULL. */
pl_status pl_output_open(pl_gpu *gpu, const char *path, const pl_output_how *how, pl_output **out);
/* Returns the status that pl_output_open would return, without creating the file. */
pl_status pl_output_check(pl_gpu *gpu, const char *path, const pl_output_how *how);
/* Returns the stream to write to; the caller must not close it. */
FILE *pl_output_stream(pl_output *o);
/* Closes the file. st: status of the caller's writes; PL_IO: the stream failed, which is reported
 * here. Unless everything was written, the new file is removed and `path` is unchanged. Frees o
 * (NULL is allowed). Returns st, or the status of a failure in this function. */
pl_status pl_output_close(pl_output *o, pl_status st);

/* ---- modules ---- */
/* Vector level of the compiled lane loops that execute the program. All levels give the same
 * results. A level that this build or this processor lacks is replaced by the next lower one. */
typedef enum pl_host { PL_HOST_BEST, PL_HOST_BASELINE, PL_HOST_AVX2, PL_HOST_AVX512 } pl_host;
/* Control of the assembler's passes (pl_explain "passes" lists them): which are skipped, and what
 * is printed. Names are separated by commas. With print_after or time, a single host thread
 * assembles. */
typedef struct pl_pass_control {
    /* Passes to skip; NULL: none. Required passes cannot be skipped. */
    const char *skip;
    /* Print each function after each run of these passes; "all"; NULL: none. */
    const char *print_after;
    /* "SECTION.KEY=VALUE,...": overrides values of arch/sm_90.target; NULL: none. */
    const char *tune;
    bool verify; /* verify each function after each pass; a violation is the error E0014 */
    bool time;   /* print a table of the time spent in each pass */
    void (*print)(void *to, const char *text, size_t n); /* receives the printed text */
    void *to;
} pl_pass_control;
typedef struct pl_load_options {
    pl_host host;    /* vector instructions of the host processor */
    int opt_level;   /* 0: one machine instruction per PTX instruction; 2: optimised */
    bool keep_loads; /* of shared and global memory, also if nothing reads the result, and arrays in
                        local memory: for checkers, which report what is wrong with them */
    bool check_only; /* parse and check, do not assemble; *out stays NULL */
    bool fit;    /* with check_only: the texts are parts of one program that may be incomplete; also
                    check that their definitions match */
    bool define; /* as the driver, for a single text: an .extern variable of known size that nothing
                    defines is a definition, with a warning; shared variables may exceed 48 KiB */
    int threads; /* host threads that assemble; the program does not depend on their number. 0: one
                    per processor */
    const pl_pass_control *passes; /* NULL: all passes run, and nothing is printed */
    pl_module *managed; /* the same module on another gpu, or NULL. Its managed variables are shared
                           while both modules are loaded. Both gpus are unified */
} pl_load_options;
/* Parses, checks and assembles PTX text. options may be NULL (opt_level 2). PL_INVALID: the text
 * has errors, which are diagnostics. PL_INTERRUPTED: the stop flag was raised. On failure *out is
 * NULL. */
pl_status pl_module_load(pl_gpu *gpu, const char *name, const char *text, size_t bytes,
                         const pl_load_options *options, pl_module **out);
/* A text in memory. */
typedef struct pl_input {
    const char *name; /* file name in messages */
    const char *text;
    size_t bytes;
} pl_input;
/* Loads several texts, which are linked; errors as for pl_module_load. */
pl_status pl_module_load_texts(pl_gpu *gpu, const pl_input *in, size_t n,
                               const pl_load_options *options, pl_module **out);
/* Loads several files, which are linked; errors as for pl_module_load_file. A single object file
 * (pl_module_save) may be given instead. */
pl_status pl_module_load_files(pl_gpu *gpu, const char *const *path, size_t n,
                               const pl_load_options *options, pl_module **out);
/* Loads one file. PL_INVALID or PL_IO: it cannot be read, as a diagnostic says; other errors as for
 * pl_module_load. */
pl_status pl_module_load_file(pl_gpu *gpu, const char *path, const pl_load_options *options,
                              pl_module **out);
/* Formats a PTX file in the standard layout. *out is valid until pl_gpu_diag_clear. PL_INVALID: the
 * file has errors. */
pl_status pl_format_file(pl_gpu *gpu, const char *path, const char **out, size_t *bytes);
/* Form of a saved program: an ELF object file, or assembly text that can be loaded in its place. */
typedef enum pl_save_form { PL_SAVE_OBJECT, PL_SAVE_TEXT } pl_save_form;
/* Serialises the assembled program as *bytes bytes. *out is valid until pl_gpu_diag_clear. */
pl_status pl_module_save(pl_module *m, pl_save_form form, const char **out, size_t *bytes);
/* Receives the next n bytes; returns false to stop. */
typedef bool pl_module_put(void *to, const char *bytes, size_t n);
/* Passes the object file to `put` in pieces, so that it is never in memory as a whole. PL_IO: `put`
 * returned false. */
pl_status pl_module_send(pl_module *m, pl_module_put *put, void *to);
/* Allocates the module's variables again with their initial values, as a fresh load would.
 * Managed variables of a unified GPU stay as they are. PL_NOMEM, or PL_INVALID: the host lacks the
 * memory (E0412). */
pl_status pl_module_reset(pl_module *m);
/* Frees the module and its variables in device memory. NULL is allowed. */
void pl_module_close(pl_module *m);
/* Return the number of kernels (.entry functions) of the module, and the name of kernel k. NULL:
 * there is no kernel k. */
size_t pl_module_kernel_count(const pl_module *m);
const char *pl_module_kernel_name(const pl_module *m, size_t k);

/* A parameter of a kernel. */
typedef struct pl_kernel_param {
    const char *name;
    uint32_t offset, size; /* bytes; offset in the parameter block */
    const char *type;      /* "u64" */
} pl_kernel_param;
/* Resources and directives of a kernel. */
typedef struct pl_kernel_info {
    const char *name;
    /* registers: per thread; static_shared: bytes per block; local_bytes: bytes per thread;
     * param_bytes: size of the parameter block; nparams: number of parameters; barriers: named
     * barriers per block. */
    uint32_t registers, static_shared, local_bytes, param_bytes, nparams, barriers;
    uint32_t spill_loads, spill_stores; /* bytes */
    uint32_t stack_bytes;               /* local_bytes plus those of the deepest call */
    uint32_t constant_bytes;            /* of bank 0: the driver's values, then the parameters */
    uint32_t reqntid[3], maxntid[3], reqcluster[3]; /* directives; 0,0,0: not given */
    uint32_t maxclusterrank;                        /* blocks of a cluster; 0: not given */
    bool launches_dependents;                       /* it has griddepcontrol.launch_dependents */
} pl_kernel_info;
/* Describes a kernel. PL_INVALID: the module has no kernel of that name. */
pl_status pl_module_kernel(const pl_module *m, const char *name, pl_kernel_info *out);
/* Properties of a whole module. */
typedef struct pl_module_totals {
    uint64_t global_bytes, const_bytes; /* bytes of module-scope variables */
    const char *target;                 /* "sm_90a" */
} pl_module_totals;
/* Returns the totals of the module. */
pl_module_totals pl_module_total(const pl_module *m);
/* Returns the number of blocks of `threads` threads that are resident on one SM of the gpu's
 * machine, and their share of its warps in *occupancy (0..1). Returns 0 and leaves *occupancy
 * unchanged if the kernel is unknown or the gpu has no machine. */
uint32_t pl_module_fit(const pl_module *m, const char *kernel, uint32_t threads, double *occupancy);
/* Returns parameter k of a kernel; its name is NULL if there is none. */
pl_kernel_param pl_module_param(const pl_module *m, const char *kernel, uint32_t k);
/* Returns address and size in bytes of a module-scope .global or .const variable. PL_INVALID: the
 * module has no variable of that name. */
pl_status pl_module_symbol(const pl_module *m, const char *name, pl_ptr *address, uint64_t *bytes);
/* Returns the name of the variable that holds the byte at an address, and its first address in
 * *start. NULL: there is none, and *start is unchanged. */
const char *pl_module_variable(const pl_module *m, pl_ptr at, pl_ptr *start);
/* From now on kernels may write the module's constants by their addresses, as hardware lets them.
 */
void pl_module_open_constants(pl_module *m);
/* Maps (can = true) or unmaps (false) the module's .global variables at the same addresses on
 * another GPU. Unmap them before the module is reset or closed. PL_INVALID: an address is in use
 * there. */
pl_status pl_module_share(const pl_module *m, pl_gpu *with, bool can);

/* One instruction of the machine program, for listings and traces. */
typedef struct pl_listing {
    uint32_t pc;          /* its index in the program */
    const char *kernel;   /* function that contains it */
    char text[256];       /* disassembly */
    const char *ptx_file; /* one of the module's PTX files */
    uint32_t ptx_line;    /* in that file */
    uint32_t text_line;   /* in the concatenated text of all files */
    uint32_t ptx_bytes;
    const char *ptx_text; /* that line of the PTX, ptx_bytes long, or NULL */
    const char *src_file; /* from .loc, or NULL */
    uint32_t src_line;
    char cuda[200]; /* that position with inlined calls: "k.cu:12 (inlined at k.cu:30)"; or "" */
    const char *mnemonic; /* "ld" */
    const char *syntax;   /* the form of the instruction table, as the manual writes it */
    const char *cls;      /* its latency class */
    uint32_t form;        /* row of the instruction table */
} pl_listing;
/* Returns the number of PTX files. */
size_t pl_module_source_count(const pl_module *m);
/* Returns the number of machine instructions; pc is an index below it. */
size_t pl_module_code_size(const pl_module *m);
/* Returns the instruction at pc < pl_module_code_size. Only pc is set if memory is exhausted. */
pl_listing pl_module_listing(pl_module *m, uint32_t pc);

/* Control information of an instruction, on the machine of the gpu: the hardware does not check
 * register dependences, so the assembler encodes latencies and scoreboard waits (doc/assembler.md).
 */
typedef struct pl_control_info {
    /* Hardware instructions issued for it; 0: none, the assembler removes it. */
    uint32_t issues;
    uint32_t stall;    /* minimum cycles from its issue to the next issue of the warp */
    uint8_t waits;     /* bit k: it waits for scoreboard k to become empty before it issues */
    int8_t scoreboard; /* scoreboard held until its result is available; -1: none, its latency is
                          fixed */
    int8_t frees; /* scoreboard held until it has read its source registers (write-after-read); -1:
                     none */
} pl_control_info;
/* Returns false if there is no such instruction, no machine, or no memory. */
bool pl_module_control(pl_module *m, uint32_t pc, pl_control_info *out);

/* ---- memory ---- */
/* Allocates zeroed device memory, aligned to 512 bytes. name: shown in messages, copied; or NULL.
 * PL_NOMEM: *out is 0. */
pl_status pl_alloc_device(pl_gpu *gpu, uint64_t bytes, const char *name, pl_ptr *out);
/* Frees an allocation. PL_INVALID: p is not its first address, or it holds constants of a module.
 */
pl_status pl_free_device(pl_gpu *gpu, pl_ptr p);
/* Copy `bytes` bytes between host and device memory. PL_INVALID: the device range is not inside one
 * allocation; nothing is copied. */
pl_status pl_copy_to_device(pl_gpu *gpu, pl_ptr to, const void *from, uint64_t bytes);
pl_status pl_copy_from_device(pl_gpu *gpu, void *to, pl_ptr from, uint64_t bytes);
/* Makes host and GPU share one address space, as CUDA programs see it. Call it before any
 * allocation. Addresses that the library allocates start at `base`, a range that the caller
 * reserves. Managed variables of modules have the addresses of the host memory that holds them. */
void pl_gpu_unify(pl_gpu *gpu, pl_ptr base);
/* Sets the bounds of module variables for kernels: they end at the end of a page of `page` bytes (a
 * power of two), or at their last byte if page is 0 (the default). Call it before modules are
 * loaded. */
void pl_gpu_bounds(pl_gpu *gpu, uint64_t page);
/* Marks [address, address + bytes) as accessed by the device: launches in timing mode do not wait
 * for the translation of its pages. No effect unless the GPU is unified and has a machine. */
void pl_gpu_touch(pl_gpu *gpu, pl_ptr address, uint64_t bytes);
/* Maps [address, address + bytes) of the GPU's memory to the host memory at `host`, which the
 * caller owns; 64 bytes past its end must be readable. `name` (or NULL) must outlive the mapping.
 * pl_free_device removes the mapping. PL_INVALID: a part of the range is in use. */
pl_status pl_map_device(pl_gpu *gpu, pl_ptr address, uint64_t bytes, void *host, const char *name);
/* Marks the mapping at `p` as host memory: launches in timing mode access it across the link. */
void pl_gpu_of_host(pl_gpu *gpu, pl_ptr p);
/* Returns a host pointer to device memory, valid until that is freed; NULL unless the range is
 * inside one allocation. */
void *pl_device_view(pl_gpu *gpu, pl_ptr p, uint64_t bytes);

/* ---- tensor maps, arrays, textures and surfaces (base/resource.h describes them) ---- */

/* Encodes the 128-byte descriptor that a kernel takes as a parameter with 64-byte alignment.
 * PL_INVALID: cuTensorMapEncode... returns CUDA_ERROR_INVALID_VALUE; *why (why may be NULL) is then
 * one sentence. */
pl_status pl_tensor_map(const pl_tensor_desc *d, uint8_t out[PL_TENSORMAP_BYTES], const char **why);

/* Creates a zeroed array of texels; it is mipmapped if it has levels. *out is its handle.
 * PL_INVALID: a wrong format, size or number of levels. */
pl_status pl_array_create(pl_gpu *gpu, const pl_array_desc *d, const char *name, uint64_t *out);
/* Returns the size in bytes of a level: consecutive rows, then consecutive slices or layers. 0:
 * there is no such level. */
uint64_t pl_array_bytes(const pl_gpu *gpu, uint64_t array, uint32_t level);
/* Returns a host pointer to a level's texels, valid until the array is freed; NULL: there is no
 * such level. */
void *pl_array_view(pl_gpu *gpu, uint64_t array, uint32_t level);
/* Returns the address of the first texel of a level; 0: there is no such level. */
pl_ptr pl_array_address(const pl_gpu *gpu, uint64_t array, uint32_t level);
/* Create texture and surface handles for kernels. PL_INVALID: *why (why may be NULL) is the name of
 * the error that a CUDA program gets. */
pl_status pl_texture_create(pl_gpu *gpu, const pl_texture_desc *d, uint64_t *out, const char **why);
pl_status pl_surface_create(pl_gpu *gpu, uint64_t array, uint32_t level, uint64_t *out,
                            const char **why);
/* Frees an array, a texture or a surface. PL_INVALID: no such handle. */
pl_status pl_resource_free(pl_gpu *gpu, uint64_t handle);
/* Assigns a handle to a .texref, .samplerref or .surfref variable of the module. PL_INVALID: there
 * is none of that name. */
pl_status pl_module_bind(pl_module *m, const char *name, uint64_t handle);
/* Returns what such a variable refers to. PL_REFERENCE_NONE: there is none of that name. */
pl_reference pl_module_reference(const pl_module *m, const char *name);

/* ---- launches ---- */
/* Functional: only execute. Timing: also model the time that the GPU takes. */
typedef enum pl_mode { PL_MODE_FUNCTIONAL, PL_MODE_TIMING } pl_mode;

typedef struct pl_waiting pl_waiting; /* a suspended launch */

/* An aligned PL_MANAGED_BLOCK of managed memory. Masks of its 32 PL_MANAGED_CHUNKs. */
typedef struct pl_managed_block {
    uint64_t address; /* multiple of PL_MANAGED_BLOCK */
    uint32_t managed; /* chunks in allocations of managed memory */
    uint32_t absent;  /* of these, not on the GPU */
    uint32_t on_host; /* of these, written by the host */
} pl_managed_block;

/* A launch. What it points to must stay valid until the launch has ended. */
typedef struct pl_launch {
    const char *kernel;                     /* name of an .entry function */
    uint32_t grid[3], block[3], cluster[3]; /* blocks; threads per block; blocks per cluster, 0,0,0:
                                               as the kernel declares */
    uint32_t dynamic_shared;                /* bytes per block */
    uint32_t stack;                         /* bytes per thread; 0: default */
    const void *params;                     /* the parameter block as laid out by pl_module_param */
    uint32_t param_bytes;
    pl_mode mode;
    int threads; /* host threads; results do not depend on it unless blocks race. 0: one */
    /* Blocks run on SM k only if bit k % 64 of word k / 64 is set; NULL: on all SMs. */
    const uint64_t *sms;
    /* When asynchronous copies land: at once; when they are waited for; when the timing model says
     * that they are complete, in functional mode some time after their issue. Without one of these:
     * async_timed in timing mode, async_eager in functional mode. */
    bool async_eager, async_late, async_timed;
    bool simt_stack;  /* pre-Volta divergence: one SIMT stack per warp */
    bool cooperative; /* all blocks run at once and may wait for each other (grid barrier) */
    bool random;      /* functional mode: the scheduled warp and lanes are drawn at random */
    uint64_t seed;    /* seed of those draws, and of those of weak consistency */
    uint32_t turn;    /* random: a warp runs 1 to `turn` instructions in a row; 0: default */
    /* Functional mode: a launch that repeats an earlier one on the same memory is not executed
     * again; its effects on memory are copied, and its counts are those of the earlier launch.
     * Ignored with sink, checks, weak, random, then or max_instructions. */
    bool memoize;
    bool uncounted;           /* functional mode: pl_result.pc_stat is NULL, and npc is 0 */
    bool weak;                /* memory is only as consistent as the PTX memory model guarantees */
    const pl_sink *sink;      /* receives events; or NULL */
    struct pl_checks *checks; /* checkers that observe the launch, or NULL */
    /* Stops the launch when it becomes non-zero; NULL: the flag of pl_gpu_stop_flag. */
    const volatile int *cancel;
    double global_time; /* ns: %globaltimer at the start; 0: it starts at 0 and counts half the
                           cycles */
    /* Timing mode: cycles for which the launch waits, at its start, until managed memory has
     * migrated to the GPU. pl_result.cycles includes them. */
    uint64_t page_fault_cycles;
    /* Timing mode, if the machine has [page_faults]: accesses to absent chunks wait until the
     * driver has migrated them, which clears their bits. In the order of addresses. */
    pl_managed_block *managed; /* nmanaged */
    size_t nmanaged;
    uint64_t graph; /* value of %current_graph_exec */
    /* Called when a kernel launches a graph (cudaGraphLaunch) into one of the streams for that
     * purpose. It returns the error that the kernel receives; 700 ends the launch with that fault.
     * Several threads may call it concurrently. NULL: no graph can be launched. */
    uint32_t (*launch_graph)(void *ctx, uint64_t graph, uint64_t stream);
    /* Called when a kernel changes a kernel node of a graph (cudaGraphKernelNodeSetParam and
     * similar functions). field: a pl_node_field. value: `bytes` bytes of the new value; offset: in
     * bytes, 0 unless they are parameters. It returns the error that the kernel receives. NULL:
     * there are no such nodes. */
    uint32_t (*update_node)(void *ctx, uint64_t node, uint32_t field, const void *value,
                            uint64_t offset, uint64_t bytes);
    void *graph_ctx; /* passed to launch_graph and update_node as ctx */
    /* Limits: PL_INTERRUPTED once the launch has exceeded one; 0: no limit, for output 256 MiB. */
    uint64_t max_cycles;       /* timing mode */
    uint64_t max_instructions; /* warp instructions */
    uint64_t max_output;       /* bytes of printed text that are held */
    /* Timing mode: blocks that have not started after this many seconds of host time run without
     * the timing model, and running blocks continue without it after the same time again, at least
     * half a second; 0: no limit. All blocks of cooperative launches start. Not with `then`. */
    double timed_seconds;
    /* Not NULL: when all threads only poll global memory, which none of them changes, the launch is
     * suspended instead of failing, and *waiting receives it. This also applies to a launch that
     * has run for long and polls memory that the host accesses at the same address. Not with
     * `then` or weak. In timing mode, it continues without the timing model. */
    pl_waiting **waiting;
    /* Called repeatedly while the launch runs, with the blocks that have ended, all blocks, and the
     * warp instructions so far; or NULL. */
    void (*progress)(void *ctx, uint64_t blocks_done, uint64_t blocks, uint64_t instructions);
    void *progress_ctx;
    /* Next launch in the same stream, of the same module, or NULL. For it and those that follow,
     * only kernel, shape, stack, params, cooperative, dependent and then are used; the other
     * members are those of the first launch. The result is the total of all launches. */
    const struct pl_launch *then;
    bool dependent; /* may start before the preceding launch has ended (programmatic dependent
                       launch, griddepcontrol) */
} pl_launch;

/* Location of a fault. */
typedef struct pl_fault_place {
    uint32_t pc; /* machine instruction; pl_module_listing maps it to source lines */
    uint32_t block[3], thread[3];
    uint64_t address; /* address of the access, or 0 */
} pl_fault_place;

typedef struct pl_result {
    pl_status status; /* PL_OK, PL_FAULT, PL_INTERRUPTED ... */
    uint64_t cycles;  /* 0 in functional mode; unless PL_OK: until the launch stopped, as for all
                         counts */
    uint64_t inst_executed, thread_inst_executed; /* warp instructions; thread instructions */
    uint64_t longest_warp;  /* functional mode: the largest %clock of a warp at its end; 0 in timing
                               mode */
    uint64_t global_bytes;  /* requested by the lanes of loads, stores and atomics of global memory;
                               0 without pc_stat */
    double wall_seconds;    /* emulation only */
    const char *error;      /* CUDA error name of a fault, or NULL; valid, as are error_text and
                               fault, until the next launch of this module */
    const char *error_text; /* what happened, in one sentence; or NULL */
    const pl_fault_place *fault; /* or NULL */
    const pl_pc_stat *pc_stat;   /* indexed by pc; valid until the next launch of this module */
    size_t npc;
    const pl_counter *counter; /* valid until the next launch; none unless PL_OK, since rates of an
                                  incomplete launch have no meaning */
    size_t ncounters;
    /* registers: per thread; shared memory: bytes per block; local_bytes: bytes per thread. */
    uint32_t registers, static_shared, dynamic_shared, local_bytes;
    double theoretical_occupancy; /* 0..1, timing mode */
    /* Not 0: only this many blocks ran with the timing model (timed_seconds). pc_stat and counter
     * then cover those blocks, inst_executed covers all blocks, and cycles is an estimate for all.
     */
    uint64_t timed_blocks;
    uint64_t page_fault_cycles; /* cycles in which accesses waited for pages of managed memory */
    uint64_t waited; /* warp instructions that only polled before the launch was suspended; cycles
                        does not include them */
    /* PL_WAITING: it has not only polled since it began or continued; it is not waiting, but has
     * run for long. */
    bool progressed, running;
} pl_result;
/* Runs the launch to its end and returns out->status. PL_INVALID: the kernel is unknown, or the
 * shape does not fit kernel or machine. PL_UNSUPPORTED: the kernel has an instruction that is not
 * executed. PL_FAULT: the kernel failed. PL_INTERRUPTED: a stop flag or a limit. PL_WAITING: it
 * has been suspended (pl_launch.waiting). */
pl_status pl_launch_kernel(pl_gpu *gpu, pl_module *m, const pl_launch *l, pl_result *out);
/* Continues a suspended launch. Unless it is suspended again (PL_WAITING), w is freed. patient: its
 * threads poll some hundred thousand times before that, else a hundred times. Other
 * launches may have run meanwhile, but its module must exist. *out is that of the whole launch; its
 * events end where it was suspended first. */
pl_status pl_launch_continue(pl_waiting *w, bool patient, pl_result *out);
/* Ends a suspended launch with PL_FAULT: its threads wait forever. Frees w. */
pl_status pl_launch_fail(pl_waiting *w, pl_result *out);
/* Frees a suspended launch without a report; NULL is allowed. */
void pl_launch_drop(pl_waiting *w);

/* ---- checkers: errors of a launch, even when its result is right ---- */
typedef struct pl_checks pl_checks; /* the checkers, and what they have found */
typedef struct pl_checks_options {
    const char *tools; /* "race", "mem,race", "all" */
    size_t limit;      /* maximum findings that pl_checks_report reports; 0: all */
    /* Only findings in kernels of this name; * and ? are wildcards. NULL: all. */
    const char *kernel;
    struct pl_checked *program; /* state shared by the checkers of several modules, or NULL */
    const char *suppressions;   /* file of suppressions, or NULL: one line each, `KIND KERNEL
                                   [FILE:LINE]`, with * and ? as wildcards */
} pl_checks_options;
/* Opens checkers for the launches of one module. PL_INVALID: `tools` names an unknown tool.
 * PL_INVALID or PL_IO: `suppressions` cannot be read. Diagnostics give the reason. The caller
 * closes *out also after a failure. */
pl_status pl_checks_open(pl_gpu *gpu, const pl_checks_options *o, pl_checks **out);
/* Frees the checkers. NULL is allowed. */
void pl_checks_close(pl_checks *c);
/* A finding of the launches; each pair of instructions is reported once per kind. */
typedef struct pl_finding {
    const char *tool, *kind; /* "race", "raw": pl_explain has "race-raw" */
    const char *severity;    /* "error", "warning" */
    const char *space;       /* "global", "shared", "local", "register" */
    const char *kernel;
    const char *file; /* CUDA file if .loc gives it, else PTX file */
    uint32_t line;
    const char *other_file; /* of the other access, or NULL */
    uint32_t other_line;
    /* Indices of the block and of the thread in it, for the access and for the other one. */
    uint32_t block[3], thread[3], other_block[3], other_thread[3];
    uint32_t pc, other_pc; /* other_pc UINT32_MAX: there is no other access */
    uint64_t address;      /* of the first byte concerned, or 0 */
    uint32_t bytes;        /* size of the access; of a leak: of the allocation */
    uint64_t start;        /* init-copy: start address of the copy of this many bytes */
    uint64_t count;        /* occurrences */
    bool ended;            /* the launch failed at this finding, and its error reports the same */
    uint64_t seed;         /* seed of the schedule that showed it first; 0: the default schedule */
    int64_t launch;        /* id in the trace of the launch that showed it first; 0: not noted
                              (pl_trace_note_findings); or PL_LAUNCH_* */
    const char *text, *help; /* the message, and advice or NULL */
} pl_finding;
enum {
    PL_LAUNCH_UNTRACED = -1, /* a launch that is not in the trace */
    PL_LAUNCH_NONE = -2      /* outside kernels: an error of the program itself */
};
/* Returns the number of findings. */
size_t pl_checks_count(const pl_checks *c);
/* Returns the number of findings that are errors, not warnings. */
size_t pl_checks_errors(const pl_checks *c);
/* Returns finding n, which must exist. It is valid until the next launch. */
const pl_finding *pl_checks_finding(const pl_checks *c, size_t n);
/* Reports all findings as diagnostics that point into the module. */
pl_status pl_checks_report(pl_checks *c, pl_module *m);
/* Counts that compute-sanitizer prints; initialise with zeros. */
typedef struct pl_sanitizer_sum {
    bool begun;                                 /* its first line has been written */
    uint64_t shown, errors;                     /* errors other than races: reported, and all */
    uint64_t races, race_errors, race_warnings; /* races: reported ones; all, by severity */
    uint64_t leaked, leaks;                     /* bytes and allocations that were not freed */
} pl_sanitizer_sum;
/* Formats the findings as compute-sanitizer output, instead of pl_checks_report, and adds them to
 * *sum. m NULL: findings outside kernels. *lines is valid until the checkers are closed. */
pl_status pl_checks_sanitizer(pl_checks *c, pl_module *m, pl_sanitizer_sum *sum,
                              const char **lines);
/* Formats the final lines of the output. failed: the launch or the program ended with an error.
 * *last is valid until the checkers are closed. */
pl_status pl_checks_sanitizer_end(pl_checks *c, const pl_sanitizer_sum *sum, bool failed,
                                  const char **last);
/* Returns the number of errors in the sum, including leaks. */
uint64_t pl_sanitizer_errors(const pl_sanitizer_sum *sum);

/* ---- checkers of a whole program: they share their state of device memory ---- */
typedef struct pl_checked pl_checked; /* that state, and findings outside kernels */
/* Opens the shared state. [base, base + bytes): the program's device memory, as for pl_gpu_unify.
 * Close it after the checkers that use it (pl_checks_options). Errors as for pl_checks_open. */
pl_status pl_checked_open(pl_gpu *gpu, const pl_checks_options *o, pl_ptr base, uint64_t bytes,
                          pl_checked **out);
/* Frees the shared state. NULL is allowed. */
void pl_checked_close(pl_checked *p);
/* Record operations of the program on device memory: pl_checked_fresh, the memory is uninitialised;
 * pl_checked_written, it has been written; pl_checked_copied, it has been copied. Memory outside
 * the range is accepted and counts as written. */
pl_status pl_checked_fresh(pl_checked *p, pl_ptr at, uint64_t bytes);
/* The same as pl_checked_fresh for all levels of an array. */
pl_status pl_checked_fresh_array(pl_checked *p, pl_gpu *gpu, uint64_t array);
pl_status pl_checked_written(pl_checked *p, pl_ptr at, uint64_t bytes);
pl_status pl_checked_copied(pl_checked *p, pl_ptr to, pl_ptr from, uint64_t bytes);
/* Location of a read of device memory by the program. */
typedef struct pl_checked_memory {
    const char *name;  /* name of the allocation */
    pl_ptr start;      /* start address of the allocation */
    const char *call;  /* "cudaMemcpy, call 12, in main+0x42" */
    const char *where; /* findings with an equal `where` are merged */
} pl_checked_memory;
/* Reports init-copy if the program reads uninitialised device memory. */
pl_status pl_checked_read(pl_checked *p, pl_ptr at, uint64_t bytes, const pl_checked_memory *m);
/* Reports another error, and the call that caused it. kind: "race-stream". Unknown kinds and those
 * of tools that are not enabled are ignored. text: the message; where: as in pl_checked_memory. */
pl_status pl_checked_misuse(pl_checked *p, const char *kind, const char *text, const char *where);
/* A range of memory that the next launch under these checkers may or must not access. */
typedef struct pl_checked_range {
    pl_ptr address;
    uint64_t bytes;
    const char *wrong; /* why an access is an error; NULL: it is allowed */
    bool accessed;     /* set by the launch */
} pl_checked_range;
/* Sets the n watched ranges, sorted by address; they must stay valid until the launch has ended. */
pl_status pl_checks_watch(pl_checks *c, pl_checked_range *range, size_t n);
/* Accesses of a launch to a range of global memory. */
enum {
    PL_TOUCH_READ = 1,
    PL_TOUCH_WRITTEN = 2,
    PL_TOUCH_STRONG = 4 /* by atomic, volatile or relaxed operations */
};
typedef struct pl_checked_touch {
    pl_ptr address;
    uint64_t bytes;
    uint32_t pc;  /* one of the accessing instructions */
    unsigned how; /* PL_TOUCH_* */
} pl_checked_touch;
/* Records the accesses of the next launch under these checkers, if they check races. dependent: it
 * may overlap earlier launches, so that accesses before griddepcontrol.wait are recorded, too. */
void pl_checks_keep(pl_checks *c, bool dependent);
/* Returns the *n recorded accesses (early: those before griddepcontrol.wait), sorted by address;
 * the caller frees them with free. NULL: none, or no memory. */
pl_checked_touch *pl_checks_touched(pl_checks *c, bool early, size_t *n);
/* Launches with which a dependent launch after this one may overlap: none; this one, which has
 * executed griddepcontrol.launch_dependents; also earlier ones, since it did so before
 * griddepcontrol.wait. */
typedef enum pl_overlap { PL_OVERLAP_NONE, PL_OVERLAP_THIS, PL_OVERLAP_EARLIER } pl_overlap;
/* Returns what the latest launch under these checkers has permitted. */
pl_overlap pl_checks_overlap(const pl_checks *c);
/* Returns the position of an instruction: "k.cu:12" or "line 40". It is valid until the checkers
 * are closed. "": no memory. */
const char *pl_checks_place(pl_checks *c, pl_module *m, uint32_t pc);
/* Records memory that was not freed when the program ended. name: of the allocation. */
pl_status pl_checked_leak(pl_checked *p, pl_ptr at, uint64_t bytes, const char *name);
/* Reports findings of the program itself; pl_checks_report reports those of kernels. */
pl_status pl_checked_report(pl_checked *p);
/* Returns the number of findings of the program itself that are errors, not warnings. */
size_t pl_checked_errors(const pl_checked *p);
/* Returns checkers that hold the findings of the program itself; they are part of *p. */
pl_checks *pl_checked_list(pl_checked *p);

/* ---- litmus tests: small concurrent programs, and the outcomes that a memory model allows ---- */
typedef struct pl_litmus pl_litmus; /* a test, and the outcomes of its runs */
/* Reads a test (ptxloom-litmus(5)), computes the outcomes that the axioms of the PTX memory model
 * allow, and assembles the test at that optimisation level. PL_INVALID, PL_IO: diagnostics give the
 * reason; *out is then NULL. */
pl_status pl_litmus_load(pl_gpu *gpu, const char *path, int opt_level, pl_litmus **out);
/* Runs the test `runs` times under schedules drawn from the seed, with strong or weak consistency,
 * and counts outcomes. Errors are those of pl_launch_kernel. */
pl_status pl_litmus_run(pl_litmus *l, bool weak, uint64_t runs, uint64_t seed);
/* One outcome: values of registers and memory after a run. */
typedef struct pl_litmus_row {
    const char *text;      /* "1:r0=1 1:r1=0" */
    bool holds;            /* the condition is true for it */
    bool allowed;          /* allowed by the axioms */
    bool sequential;       /* some interleaving of the threads produces it */
    uint64_t strong, weak; /* number of runs that showed it */
} pl_litmus_row;
/* The outcomes of a test, and what they say about the memory model. */
typedef struct pl_litmus_report {
    const char *name, *title; /* of the test */
    const char *condition;    /* as written in the file */
    const char *unseen; /* why an outcome of the condition is not expected to be observed, or "" */
    const pl_litmus_row *row;        /* every outcome that is allowed or was observed */
    size_t n;                        /* of these outcomes */
    uint64_t runs_strong, runs_weak; /* runs with each consistency */
    bool agrees;                     /* the claim of the test agrees with the axioms */
    bool possible;                   /* the axioms allow an outcome that satisfies the condition */
    uint64_t seen;                   /* weak-consistency runs that satisfied the condition */
    /* Outcomes observed but not allowed; outcomes allowed but never observed with weak consistency.
     */
    size_t forbidden, never;
} pl_litmus_report;
/* Reports the outcomes so far. *out is valid until the next call for this test. */
pl_status pl_litmus_result(pl_litmus *l, pl_litmus_report *out);
/* Frees the test. NULL is allowed. */
void pl_litmus_close(pl_litmus *l);

/* ---- launch files ---- */

/* One argument of a launch. */
typedef struct pl_case_arg {
    const char *type;      /* element type: "f32" */
    bool buffer;           /* passed as a 64-bit address; false: passed by value */
    bool output;           /* shown after the launch */
    uint64_t count, bytes; /* number of elements, and their total size */
    bool whole;            /* show all its elements */
    const char *save;      /* file written after the launch (.npy, or raw bytes), or NULL */
    const char *variable;  /* name of the module variable that it sets; NULL: a parameter */
    bool expected;         /* pl_case_compare has expected values for it */
    pl_ptr address;        /* address of a buffer, between prepare and release */
} pl_case_arg;

/* A launch as described by a launch file or a command line: the module, the kernel, the shape and
 * the arguments. */
typedef struct pl_case {
    const char *name;
    const char *ptx;         /* path of the module: PTX or an object */
    const char *const *link; /* further PTX files, linked with it */
    size_t nlink;
    const char *entry; /* NULL: the module's only kernel */
    uint32_t grid[3], block[3], cluster[3], dynamic_shared, stack; /* as in pl_launch */
    bool deterministic; /* the file says that the results are reproducible; informational */
    pl_case_arg *arg;   /* owned by the case */
    size_t nargs;
    struct pl_case_more *more; /* private to the library */
} pl_case;

/* Creates an empty case for the caller to fill in: set the public members (the strings must outlive
 * the case) and add arguments. The caller closes it before the gpu. */
pl_status pl_case_open(pl_gpu *gpu, pl_case **out);
/* Reads a launch file; paths in it are relative to its folder. PL_INVALID, PL_IO: diagnostics give
 * the reason; *out is NULL. */
pl_status pl_case_read(pl_gpu *gpu, const char *path, pl_case **out);
/* Adds a file to be linked with c->ptx; the path must outlive the case. */
void pl_case_add_file(pl_case *c, const char *path);
/* Loads the module of the case; errors as for pl_module_load_file. */
pl_status pl_case_load(pl_case *c, const pl_load_options *options, pl_module **out);
/* Adds an argument in command-line notation ("u32:7", "out:f32[1024]=hash:3,-1,1") or in
 * launch-file notation ({"texture": ...}). PL_INVALID: a syntax error, reported as a diagnostic. */
pl_status pl_case_add_arg(pl_case *c, const char *text);
/* Checks the arguments against the kernel, allocates and fills the buffers, and completes *l
 * (kernel, shape, parameters; the other members are unchanged). m must be the module of c->ptx.
 * PL_INVALID, PL_IO, PL_INTERRUPTED: diagnostics give the reason. */
pl_status pl_case_prepare(pl_case *c, pl_module *m, pl_launch *l);
/* Computes the SHA-256 of argument k's bytes as 64 hexadecimal digits. PL_INTERRUPTED: the
 * stop flag was raised; hex is then "". Call it, and pl_case_element, pl_case_save and
 * pl_case_compare, between prepare and release. */
pl_status pl_case_sha256(const pl_case *c, size_t k, char hex[65]);
/* Prints element i of argument k as text into a buffer of `size` bytes; "": there is no such
 * element. */
void pl_case_element(const pl_case *c, size_t k, uint64_t i, char *buf, size_t size);
/* Writes argument k to its `save` path. force: replace an existing file of any kind
 * (pl_output_how). PL_INVALID, PL_IO: as for pl_output_open and pl_output_close. PL_INTERRUPTED:
 * the stop flag was raised. */
pl_status pl_case_save(pl_case *c, size_t k, bool force);
/* Returns the status that pl_case_save would return for its path, without writing. */
pl_status pl_case_check_save(pl_case *c, size_t k, bool force);
/* Compares argument k with its expected values. PL_OK: they are equal, or none are expected.
 * PL_FAULT: they differ, as a diagnostic reports. */
pl_status pl_case_compare(pl_case *c, size_t k);
/* Frees the buffers of pl_case_prepare; the case may be prepared again. */
void pl_case_release(pl_case *c);
/* Releases and frees the case. NULL is allowed. */
void pl_case_close(pl_case *c);

/* Returns the text that kernels printed (vprintf, assert) since the last call; NULL: none. Valid
 * until the next call. */
const char *pl_gpu_printed(pl_gpu *gpu);
/* The same with its length: the text may contain NUL characters. */
const char *pl_gpu_printed_bytes(pl_gpu *gpu, size_t *bytes);
/* Returns the number of bytes at the end of the last text of pl_gpu_printed_bytes that are messages
 * of failed assertions. */
size_t pl_gpu_printed_errors(const pl_gpu *gpu);

/* Returns the last value that a kernel assigned to a conditional handle (cudaGraphSetConditional).
 * PL_INVALID: none was assigned. */
pl_status pl_gpu_conditional(const pl_gpu *gpu, uint64_t handle, uint32_t *value);
/* Assigns a value to a conditional handle from the host. */
pl_status pl_gpu_set_conditional(pl_gpu *gpu, uint64_t handle, uint32_t value);

/* ---- traces (SQLite) ---- */
typedef struct pl_trace pl_trace; /* a trace that is being written */
/* What is stored: counts by instruction; also each issue; also each memory access. */
typedef enum pl_trace_level { PL_TRACE_SUMMARY, PL_TRACE_INST, PL_TRACE_MEM } pl_trace_level;
/* Filter of events; NULL: no restriction. Numbers are lists of values and inclusive ranges:
 * "0,4,8:11"; either end of a range may be omitted. Statistics and counters always cover the whole
 * run. */
typedef struct pl_trace_filter {
    /* Launches of this kernel function or launch file; * and ? are wildcards. */
    const char *kernel;
    const char *sm, *block, *warp; /* block: linear index; warp: index in its block */
    const char *pc;                /* machine instructions "10:20", or PTX lines "line:41:45" */
    const char *cycles;            /* "1000:2000" */
    /* Effects (load, store, atomic, barrier, branch ...), mnemonics or latency classes. */
    const char *cls;
    const char *sample; /* "1/10": one warp in ten, with all its events */
} pl_trace_filter;
typedef struct pl_trace_options {
    pl_trace_level level;
    const char *command; /* command line, stored in table run */
    uint64_t max_bytes;  /* 0: no limit; events beyond it are counted instead of written */
    pl_trace_filter filter;
    bool packed;    /* store events as packed columns: a tenth of the size, read through a virtual
                       table */
    bool force;     /* replace an existing file of any kind; false: only a trace */
    bool no_source; /* do not store the text of CUDA source files */
    const char *const *source_dir; /* folders to read them from, in addition to those of the
                                      modules; they must outlive the trace */
    size_t nsource_dirs;
    bool accesses; /* functional mode: counts memory accesses at PL_TRACE_SUMMARY, too, which slows
                      the launch; otherwise their columns are NULL */
} pl_trace_options;
/* Creates PATH.part; pl_trace_close(keep = true) finishes it and renames it to PATH. If the process
 * dies, PATH is not created. PL_INVALID, PL_IO: a diagnostic gives the reason. */
pl_status pl_trace_open(pl_gpu *gpu, const char *path, const pl_trace_options *o, pl_trace **out);
/* Starts a launch: call it before pl_launch_kernel and pass the returned sink in the launch. NULL:
 * it failed, as pl_trace_end reports. */
const pl_sink *pl_trace_begin(pl_trace *t, pl_module *m, const pl_launch *l, const char *case_name);
/* Ends the launch: call it before pl_gpu_printed removes the kernel's output. PL_IO: the trace
 * could not be written; a diagnostic gives the reason. */
pl_status pl_trace_end(pl_trace *t, const pl_result *r);
/* Closes the trace and frees t. keep = false removes the file. PL_IO: it could not be written. */
pl_status pl_trace_close(pl_trace *t, bool keep);
/* ---- activities of a CUDA program other than its launches ----
 *
 * Times are in microseconds on the application's clock. The functions add a row each, and copy
 * their argument. PL_IO: the trace could not be written, as a diagnostic says. */

/* A call of the CUDA API. */
typedef struct pl_trace_call {
    int64_t id; /* numbered by the caller, from 1 */
    const char *name;
    int64_t thread; /* host thread, from 1 */
    double start, end;
    int result;        /* cudaError_t or CUresult */
    const char *error; /* name of the error; NULL: success */
} pl_trace_call;
pl_status pl_trace_add_call(pl_trace *t, const pl_trace_call *c);
/* An operation executed by a stream. */
typedef struct pl_trace_activity {
    const char *kind; /* "kernel", "copy", "set", "host function", "event" */
    const char *name; /* of a kernel: its name; of a copy: "HtoD", "DtoH", "DtoD", "HtoH", "PtoP" */
    int64_t device, stream;
    int64_t call, graph; /* id of the call that enqueued it; launch of a graph; 0: none */
    double start, end;
    bool launch;                      /* it is the launch that pl_trace_end ended last */
    int64_t bytes;                    /* -1: none */
    const char *source, *destination; /* kinds of memory, or NULL */
    bool estimated; /* the duration of a kernel is an estimate: it ran without the timing model */
    double spread;  /* standard deviation of the durations averaged for the estimate; < 0: none */
} pl_trace_activity;
pl_status pl_trace_add_activity(pl_trace *t, const pl_trace_activity *a);
/* Delays operations of a stream, among the latest 1000 rows: those that end after `from` end `by`
 * later, and also start `by` later unless they have started by then. */
pl_status pl_trace_move_activities(pl_trace *t, int device, int64_t stream, double from, double by);
/* Memory that the program allocated, or registered. */
typedef struct pl_trace_allocation {
    uint64_t address, bytes;
    const char *memory; /* "device", "pinned", "registered", "managed" */
    int64_t device;
    double start, end; /* end < 0: not freed */
} pl_trace_allocation;
pl_status pl_trace_add_allocation(pl_trace *t, const pl_trace_allocation *a);
/* An NVTX range or mark. */
typedef struct pl_trace_nvtx {
    const char *name;
    int64_t thread, depth; /* host thread, from 1; enclosing ranges of the thread */
    double start, end;     /* equal for a mark */
} pl_trace_nvtx;
pl_status pl_trace_add_nvtx(pl_trace *t, const pl_trace_nvtx *r);
/* Adds the findings of the checkers, each to the launch that was noted for it, else to the one that
 * pl_trace_end ended last. */
pl_status pl_trace_add_findings(pl_trace *t, const pl_checks *c);
/* Notes the last launch for all new findings. t NULL: a launch that is not in the trace. */
void pl_trace_note_findings(const pl_trace *t, pl_checks *c);
/* Returns the reason of the first failure while writing; NULL: none. */
const char *pl_trace_error(const pl_trace *t);

/* A metric of the launch that pl_trace_end ended last. */
typedef struct pl_metric {
    const char *name, *unit, *meaning;
    bool known; /* false: the launch lacks the data to compute it (functional mode has no cycles) */
    double value;
} pl_metric;
/* Computes metrics. names: comma-separated names; "all": every metric that is known. *out is owned
 * by the trace and valid until its next launch. PL_INVALID with a diagnostic: a name is unknown.
 * Names can be checked before any launch (*n is then 0). A trace opened with path NULL is held in
 * memory and serves only this function. */
pl_status pl_trace_metrics(pl_trace *t, const char *names, const pl_metric **out, size_t *n);

struct sqlite3;
/* Opens a finished trace for reading: an SQLite connection, which the caller closes with
 * sqlite3_close. PL_INVALID with a diagnostic: the file cannot be read, is not a trace, is
 * unfinished or has another schema; *out is then NULL. */
pl_status pl_trace_connect(pl_gpu *gpu, const char *path, struct sqlite3 **out);
/* Returns the system error number (errno) of the latest failure of such a connection; 0: it was not
 * a system error. The message of SQLite may differ: it calls an unreadable sector "malformed". */
int pl_trace_errno(struct sqlite3 *db);
/* Returns the SQL of a named query such as "summary"; NULL: no such query. */
const char *pl_trace_query(const char *name);

/* ---- reports and comparisons ---- */
typedef struct pl_report_options {
    const char *baseline;       /* path of another trace to compare with; NULL: none */
    int64_t launch;             /* kernel.id of the launch to show; 0: the longest launches */
    uint64_t issue_slots;       /* issues stored individually for the timeline; 0: 400000 */
    const volatile int *cancel; /* PL_INTERRUPTED soon after it becomes non-zero; or NULL */
    bool force;                 /* replace an existing file of any kind; false: only a report */
} pl_report_options;
/* Writes a self-contained HTML report of a trace. PL_INVALID, PL_IO: a diagnostic gives the reason.
 * PL_INTERRUPTED: `cancel` was raised. */
pl_status pl_trace_report(pl_gpu *gpu, const char *trace, const char *out,
                          const pl_report_options *o);

/* Returns the launch of trace b that corresponds to a launch of trace a: same entry, same position
 * among the launches of that entry. If b never launches that entry, the position among all launches
 * is used. 0: none. -1: SQLite failed on one of the connections. -2: out of memory. */
int64_t pl_trace_partner(struct sqlite3 *a, int64_t launch, struct sqlite3 *b);
/* Cost of one PTX line in a launch. line 0: the launch has no such line. */
typedef struct pl_line_cost {
    uint32_t line;
    uint64_t issues;             /* hardware instructions issued for it */
    uint64_t stall_cycles;       /* cycles in which warps waited before it */
    uint64_t sectors, conflicts; /* 32-byte sectors accessed; shared memory bank conflicts */
    const char *cuda;            /* source position: "k.cu:12"; or NULL */
} pl_line_cost;
/* Compares two launches. Calls `line` in order for every PTX line that ran in either launch; equal
 * lines of the two are one call. Its texts and costs are valid during the call. PL_INTERRUPTED: a
 * progress handler of one of the connections stopped it. PL_IO, PL_INVALID: SQLite failed; a
 * diagnostic gives the reason. */
pl_status pl_trace_diff(pl_gpu *gpu, struct sqlite3 *a, int64_t launch_a, struct sqlite3 *b,
                        int64_t launch_b,
                        void (*line)(void *ctx, const char *text, const pl_line_cost *a,
                                     const pl_line_cost *b),
                        void *ctx);

/* ---- CUDA error numbers ---- */
/* Returns the name of a cudaError_t, and its description in *text (text may be NULL). NULL: no such
 * error, and *text is unchanged. */
const char *pl_cuda_error(int number, const char **text);
/* The same for a CUresult of the driver. */
const char *pl_cuda_driver_error(int number, const char **text);

/* ---- the instruction table and explanations ---- */
/* Returns a text about an instruction, diagnostic, machine key or section, metric, query, rule,
 * pass, kind of finding, CUDA error or glossary term. It is valid until the gpu is closed. NULL: no
 * such topic. */
const char *pl_explain(pl_gpu *gpu, const char *topic);
/* Returns one line for each instruction form that is parsed and checked but not executed, with the
 * reason. It is valid until the gpu is closed. NULL: no memory. */
const char *pl_explain_unsupported(pl_gpu *gpu);

#ifdef __cplusplus
}
#endif

#endif
