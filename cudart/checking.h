/* checking.h - checkers over the whole program, the order of streams and races. */
#ifndef PL_CUDART_CHECKING_H
#define PL_CUDART_CHECKING_H

#include "cudart/state.h"

/* ---- checked.c: checkers over the whole program; no effect without --check ---- */
/* [base, base + bytes): addresses of device memory and of managed memory. */
void cuda_checked_open(uint64_t base, uint64_t bytes);
/* Opens the checkers of a module on the current device; NULL: none. */
pl_checks *cuda_checks_open(void);
/* Shows the findings of checkers; m NULL: outside kernels. True if there are errors. */
bool cuda_checked_show(pl_checks *c, pl_module *m);
/* Reports errors of the program itself at its end. failed: its exit status is not 0. */
bool cuda_checked_report(bool failed);
/* Reports an error of a call: `kind` as in `ptxloom explain`. */
void cuda_checked_misuse(const char *kind, const char *what);
/* The same; findings with the same key are merged. */
void cuda_checked_misuse_at(const char *kind, const char *key, const char *what);
/* A call was refused because of an address of device memory. */
void cuda_checked_beyond(const void *p, uint64_t bytes, const char *verb);
void cuda_checked_bad_free(const void *p);
/* A kernel starts: updates which managed memory nobody has written. */
void cuda_checked_launching(void);
/* Reports an allocation that was not freed and can no longer be freed. */
void cuda_checked_leak(const cuda_alloc *a);
void cuda_checked_copy(const cuda_copy *c);
void cuda_checked_set(const cuda_set *s);
void cuda_checked_array(const struct cuda_array *a);
/* Returns the address of row y of slice z of a side. */
uint64_t cuda_checked_address(const cuda_side *s, size_t y, size_t z);

/* ---- happens_before.c: the order of streams, under --check ---- */
/* Position of an operation in its stream. */
typedef struct cuda_order_position {
    uint32_t slot, time;
    uint64_t stream;
    int device;
    bool node; /* in a graph */
} cuda_order_position;
/* Enables ordering; returns whether it is enabled. */
void cuda_order_begin(void);
bool cuda_order_is_enabled(void);
/* Return the current operation of the stream; whether an earlier one is ordered before it; whether
 * the host knows that an operation has ended. */
cuda_order_position cuda_order_now(const cuda_stream *s);
bool cuda_order_follows(const cuda_stream *s, const cuda_order_position *p);
bool cuda_order_host_knows(const cuda_order_position *p);
/* Returns "stream 3". */
const char *cuda_order_stream_name(const cuda_order_position *p, char text[60]);
/* The stream has waited for a value, which any thread or stream may have written. */
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
/* Merges a vector clock into another one; releases those of a stream that represents a part of a
 * graph. */
void cuda_order_join(struct cuda_vector_clock **to, const struct cuda_vector_clock *from);
void cuda_order_release(cuda_stream *s);
/* Memory is allocated or freed in the order of a stream. */
void cuda_order_allocated(uint64_t address, cuda_stream *s);
void cuda_order_freed(uint64_t address, cuda_stream *s);
/* The current operation accesses memory. */
void cuda_order_copy(const cuda_stream *s, const cuda_copy *c);
void cuda_order_set(const cuda_stream *s, const cuda_set *x);
/* Returns the stream-ordered allocations, and marks those that a launch must not access; records
 * the accesses of the launch. */
pl_checked_range *cuda_order_ranges(const cuda_stream *s, size_t *n);
void cuda_order_launched(const cuda_stream *s, pl_checked_range *r, size_t n, const char *kernel);

/* ---- stream_race.c: races between streams, under --check race ---- */
/* The program has memory that itself and kernels may access at the same time. */
void cuda_stream_race_begin(void);
/* Record the accesses of the current operation: a copy, a set, a launch (before and after it). */
void cuda_stream_race_copy(const cuda_stream *s, const cuda_copy *c);
void cuda_stream_race_set(const cuda_stream *s, const cuda_set *x);
void cuda_stream_race_launch(const cuda_stream *s, pl_checks *c, const cuda_function *f,
                             const cuda_launch *l);
/* Calls fn for byte ranges of managed and pinned memory that operations access whose end the host
 * does not know; first all, then those that are written. */
void cuda_stream_race_unordered(void (*fn)(uint64_t from, uint64_t to, bool written));
/* Reports an access of the program to one of them; where: its position. */
void cuda_stream_race_host(uint64_t address, const char *where);
/* ---- host_race.c: accesses of the program, under --check race ---- */
/* A function of the program begins, or the call no longer waits for it; with the lock held. */
void cuda_host_race_function(bool begins);
/* A call begins or ends, with the lock held. */
void cuda_host_race_enter(void);
void cuda_host_race_leave(void);
void cuda_stream_race_launched(cuda_stream *s, pl_checks *c, pl_module *m, const char *kernel,
                               const cuda_launch *l);
/* Memory has been freed. */
void cuda_stream_race_freed(uint64_t address, uint64_t bytes);
void cuda_stream_race_unloaded(const pl_module *m);

#endif
