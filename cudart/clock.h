/* clock.h - durations: migrated pages, operations of streams, the program's own timers. */
#ifndef PL_CUDART_CLOCK_H
#define PL_CUDART_CLOCK_H

#include "cudart/state.h"

/* ---- migrate.c: location of the pages of managed memory ---- */
/* Migrated bytes: written before, or of uninitialised pages. */
typedef struct cuda_migrated {
    double written, fresh;
    double blocks;  /* number of 2 MiB blocks that contain written ones */
    double evicted; /* bytes that returned to the host, because the device's memory is full */
} cuda_migrated;
/* Creates the page table of a managed allocation; NULL: out of memory, and none of it migrates. */
struct cuda_page_map *cuda_page_map_new(uint64_t bytes);
void cuda_page_map_free(struct cuda_page_map *p);
/* Returns the bytes of the device's memory that managed memory occupies, in blocks of 2 MiB. */
uint64_t cuda_managed_resident(int device);
/* Pages that exceed the memory of the device return to the host; adds them to m->evicted. */
void cuda_evict_managed(int device, cuda_migrated *m);
/* Called before and after work of a device: pages that change between an end and the next begin
 * have been written by the host. p: for one allocation; NULL: for all. */
void cuda_detect_host_writes(const void *p);
void cuda_record_checksums(const void *p);
/* Migrates pages of managed memory to the device; -1: to the host. */
cuda_migrated cuda_migrate_pages(const void *from, uint64_t bytes, int device);
/* The same for all allocations referenced by the parameters of a kernel. */
cuda_migrated cuda_migrate_parameters(const void *params, uint64_t bytes, int device);

/* Returns blocks of managed memory in which pages are not on the device: for a kernel with these
 * parameters, pl_launch.managed. *n receives their number. NULL: none. */
pl_managed_block *cuda_managed_blocks(const void *params, uint64_t bytes, int device, size_t *n);
/* Records that the chunks of the blocks that are not absent are on the device. */
void cuda_set_migrated(const pl_managed_block *block, size_t n, int device);

/* ---- clock.c: durations of the operations of streams ---- */
void cuda_clock_copy(cuda_stream *s, const cuda_copy *c);
void cuda_clock_set(cuda_stream *s, const cuda_set *x);
/* Prefetches to the device; -1: to the host. */
void cuda_clock_prefetch(cuda_stream *s, const void *p, uint64_t bytes, int device);
void cuda_clock_event(cuda_stream *s);
void cuda_clock_host_function(cuda_stream *s);
/* Host time for enqueueing an operation into a blocked stream. */
void cuda_clock_deferred(const cuda_op *op);
/* True if a side of a copy is host memory that the GPU cannot access. */
bool cuda_is_pageable(const cuda_side *s);
typedef struct cuda_kernel_time {
    const char *name;
    double cycles;
    bool estimated;
    bool modelled; /* cycles are those of the timing model, of this launch or of others */
    double spread; /* cycles; < 0: unknown */
    uint32_t blocks_per_sm;
    double page_fault_cycles; /* in which it waited for pages, in addition to `cycles` */
    cuda_migrated moved;      /* by its accesses; their time is not in page_fault_cycles */
    /* ns: of a kernel that has waited: its start, and the earliest end; else 0. */
    double began, released;
    bool unrecorded; /* it is not the latest launch of the trace */
} cuda_kernel_time;
void cuda_clock_kernel(cuda_stream *s, const cuda_launch *l, const cuda_kernel_time *t);
/* True if accesses of a kernel in timing mode migrate pages. */
bool cuda_models_page_faults(void);
/* Returns the duration of the page faults of a kernel, in cycles of the SMs. */
double cuda_page_fault_cycles(const cuda_migrated *m);
/* Starts a graph with this number of root nodes. */
void cuda_clock_graph(cuda_stream *s, size_t roots);
/* Returns the estimated start of a kernel that is enqueued now. */
double cuda_clock_kernel_start(const cuda_stream *s);
/* Returns the cycles of the DRAM for a launch that requests this many bytes of allocations of
 * `memory` bytes: each byte is moved at most once, none if all of them fit in the L2. */
double cuda_dram_cycles(double requested, double memory);
double cuda_estimated_cycles(double instructions, double blocks, double sms, double longest_warp,
                             double dram_cycles);
/* Host time: a call ends; it allocates or frees; it enables access to a peer; it waits until some
 * time; it checks whether that time has been reached, which takes the time of a call. */
void cuda_clock_call(void);
void cuda_clock_alloc(bool release);
void cuda_clock_peer(void);
void cuda_clock_wait(double until);
bool cuda_clock_poll(double until);
void cuda_clock_enqueued(void); /* an operation is added to a stream */

/* ---- host_clock.c: the program's own timers; the lock is held ---- */
/* A thread starts a call, and ends it. */
void cuda_host_enter(void);
void cuda_host_leave(void);
/* Within a call, a thread releases the lock, and takes it again. */
void cuda_host_pause(void);
void cuda_host_resume(void);
/* ns of real time so far during which no thread was in a call. */
double cuda_host_time(void);
/* True if the thread is in a call. Called without the lock. */
bool cuda_host_inside(void);
/* Exports pl_NAME as a replacement of NAME of the C library, for programs that request this symbol
 * version. */
#define CUDA_EXPORT(name, version)                                                                 \
    __typeof__(pl_##name) pl_##name##_libc                                                         \
        __attribute__((alias("pl_" #name), visibility("default")));                                \
    __asm__(".symver pl_" #name "_libc, " #name "@" version)

/* ---- timing.c: selection of timed launches, and durations of the others ---- */
bool cuda_timed(const cuda_function *f, const cuda_launch *l);
double cuda_timed_seconds(void); /* seconds for which blocks of a launch are timed; 0: all */
/* cycles: of the launch without its page faults; 0: it was not timed. params: its parameter block.
 */
cuda_kernel_time cuda_time_of(cuda_function *f, const cuda_launch *l, const pl_result *r,
                              uint64_t cycles, const void *params);
void cuda_timed_shapes_free(cuda_function *f);

#endif
