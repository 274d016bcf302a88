/* suspended_kernel.h - kernels that wait for memory to change: their launches are suspended. */
#ifndef PL_CUDART_SUSPENDED_KERNEL_H
#define PL_CUDART_SUSPENDED_KERNEL_H

#include "cudart/clock.h"
#include "cudart/state.h"

/* A launch that runs or is suspended. */
typedef struct cuda_suspended {
    struct cuda_suspended *next;
    const void *params; /* identifies it */
    pl_waiting *launch;
    cuda_function *f;
    cuda_launch l;
    int device;
    uint32_t blocks;
    cuda_migrated moved;       /* before the launch */
    pl_managed_block *managed; /* migrated by page faults: nmanaged; owned */
    size_t nmanaged;
    pl_checks *checks;
    pl_checked_range *range; /* nranges; owned */
    size_t nranges;
    double start, released; /* ns: its start, and the time at which it last made progress */
    uint64_t steps;         /* cuda.steps at that time */
    double seconds;         /* of emulation so far */
    bool running;           /* it has not only polled since it continued last */
    int64_t recorded;       /* number of its launch in the trace; 0: none */
} cuda_suspended;

/* Adds a copy to the list; takes ownership of what it owns. False: no memory, and that is freed. */
bool cuda_add_suspended(cuda_suspended *x);
/* Returns the kernel with these parameters, or NULL. */
cuda_suspended *cuda_find_suspended(const void *params);
/* Notes a kernel that does not begin because checkers observe another one, for the report of a
 * hang; NULL: one begins. */
void cuda_note_unstarted(cuda_function *f);
/* Removes it without freeing what it points to. */
void cuda_remove_suspended(cuda_suspended *x);
/* Set while kernels poll longer before they are suspended again, since they may count their polls.
 */
extern bool cuda_waits_patiently;

#endif
