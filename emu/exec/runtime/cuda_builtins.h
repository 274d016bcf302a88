/* cuda_builtins.h - functions that device code calls and the driver provides: vprintf,
 * __assertfail, malloc, device-side launches.
 *
 * A module declares them `.extern .func`. pl_bind_system records in the function which one it is,
 * and a call of it is executed here instead of entering code. Their results for the host (text,
 * children) are stored in the grid's pl_system. */
#ifndef PL_EMU_EXEC_RUNTIME_CUDA_BUILTINS_H
#define PL_EMU_EXEC_RUNTIME_CUDA_BUILTINS_H

#include "emu/exec/exec.h"
#include "emu/exec/runtime/device_heap.h"
#include "emu/exec/runtime/printf.h"

/* A memory copy, or memory set, issued by device code: `depth` slices of `height` rows of `width`
 * bytes. */
typedef struct pl_child_copy {
    bool is_set; /* sets memory to `value` instead of copying */
    uint8_t value;
    uint64_t to, to_pitch, to_slice, from, from_pitch, from_slice, width, height, depth;
    uint32_t pc, block[3], thread[3]; /* the issuing instruction and thread */
} pl_child_copy;

/* A launch or a copy issued by device code. */
typedef struct pl_child {
    uint32_t func; /* index in the program; for a copy, the kernel that issued it */
    uint32_t grid[3], block[3], shared;
    uint8_t *params; /* owned */
    uint64_t stream;
    bool tail;       /* runs after all other work of its parent */
    uint32_t ticket; /* number of the launch for a checker; 0: none */
    bool is_copy;    /* `copy` is used; not a launch */
    pl_child_copy copy;
} pl_child;

/* The value that device code has set for a conditional node of a graph. */
typedef struct pl_conditional {
    uint64_t handle;
    uint32_t value;
} pl_conditional;

/* The driver's side of a launch, held by lib/ for the lifetime of the GPU. */
typedef struct pl_system {
    pl_heap heap;
    pl_print_buffer out; /* printf */
    pl_print_buffer err; /* assert */
    /* Parameter buffers of device-side launches. */
    uint64_t launch_base, launch_size, launch_top;
    uint64_t handles;   /* number of streams and events that kernels of the launch have made */
    uint64_t workspace; /* for grid barriers of cooperative launches */
    struct {
        pl_child *at;
        size_t n, cap;
    } child; /* children of the grid that has just run; owned */
    struct {
        pl_conditional *at;
        size_t n, cap;
    } conditional;              /* owned */
    uint64_t texts, texts_size; /* device address of the names and descriptions of errors */
    /* Number of blocks of such a launch that fit on one multiprocessor; 0: the GPU does not support
     * its shape. NULL outside of launches. Set by lib/. */
    uint32_t (*launchable)(void *ctx, const pl_child *c);
    void *ctx;
} pl_system;

/* Sets the value of a conditional handle. False: out of memory. */
bool pl_set_conditional(pl_system *s, uint64_t handle, uint32_t value);

void pl_system_close(pl_system *s);
/* The system function with this name: a number above 0, or 0 if there is none. */
uint16_t pl_system_find(const char *name);
/* True if a program needs the heap, launch buffers, or the names of errors. */
bool pl_system_uses_heap(const pl_program *p);
bool pl_system_uses_launches(const pl_program *p);
bool pl_system_uses_texts(const pl_program *p);
/* Writes the names and descriptions of errors; returns their size in bytes. `to` may be NULL. */
size_t pl_runtime_texts(uint8_t *to);
/* Executes a child's copy. Returns UINT64_MAX, or the address of the first row that is not in
 * memory; then nothing has been copied. */
uint64_t pl_child_copy_run(const pl_memory *m, const pl_child_copy *x);

/* Executes a call of a system function for the executing lanes. */
void pl_system_call(pl_warp *w, const pl_prog_func *f, const pl_prog_call *c);

#endif
