/* system.h - functions that device code calls and the driver provides: vprintf, __assertfail, malloc, launches from the device.
 *
 * A module declares them `.extern .func`; pl_bind notes in the function which one it is, and a call of it runs here instead of
 * entering code. What they leave behind for the host (text, children) hangs on the grid. */
#ifndef PL_EMU_SYSTEM_H
#define PL_EMU_SYSTEM_H

#include "emu/exec/exec.h"
#include "emu/exec/heap.h"
#include "emu/exec/print.h"

/* A launch made by device code. */
typedef struct pl_child {
    uint32_t func;          /* index in the program */
    uint32_t grid[3], block[3], shared;
    uint8_t *params;        /* owned */
    bool tail;              /* after everything else of its parent */
} pl_child;

/* The driver's side of a launch, kept by lib/ for as long as the GPU lives. */
typedef struct pl_system {
    pl_heap heap;
    pl_print_buffer out;    /* printf */
    pl_print_buffer err;    /* assert */
    uint64_t launch_base, launch_size, launch_top; /* parameter buffers of launches from the device */
    uint64_t workspace;     /* for grid barriers of cooperative launches */
    struct { pl_child *at; size_t n, cap; } child; /* of the grid that has just run; owned */
    /* May such a launch be made? NULL, or true when its shape is one that the GPU takes. Set by lib/. */
    bool (*launchable)(void *ctx, const pl_child *c);
    void *ctx;
} pl_system;

void pl_system_close(pl_system *s);
/* The system function of that name: a number above 0, or 0. */
uint16_t pl_system_find(const char *name);
/* Does a program need the heap, or room for launches? */
bool pl_system_uses_heap(const pl_program *p);
bool pl_system_uses_launches(const pl_program *p);

/* Runs a call of a system function for the executing lanes. */
void pl_system_call(pl_warp *w, const pl_prog_func *f, const pl_prog_call *c);

#endif
