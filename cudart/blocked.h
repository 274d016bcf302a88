/* blocked.h - operations of streams: how they are executed, and what waits: suspended kernels,
 * blocked streams, values in memory. */
#ifndef PL_CUDART_BLOCKED_H
#define PL_CUDART_BLOCKED_H

#include "cudart/state.h"

/* ---- suspended_kernel.c ---- */
/* True if a kernel that has run for long has been interrupted, and continues later. */
bool cuda_kernel_runs(void);
/* Kernels that wait: ends the one with these parameters, if there is one, or all of them. */
void cuda_drop_suspended(const void *params);
void cuda_drop_all_suspended(void);
/* Ends all of them with a message: they wait forever. False: there are none. */
bool cuda_report_suspended(void);

/* ---- stream_op.c ---- */
/* Executes the op now, or once the stream is no longer blocked, or adds it as a node to the graph
 * that the stream captures. Takes ownership of the op's data. */
int cuda_submit(cuda_stream *s, cuda_op *op);
/* Executes the op now. CUDA_BLOCKED: it has not completed. */
int cuda_execute(cuda_stream *s, const cuda_op *op);

/* ---- blocked_stream.c: blocked streams ---- */
/* Name of the threads of this library. */
#define CUDA_THREAD_NAME "ptxloom worker"
/* Work deferred in a blocked stream. */
typedef struct cuda_work {
    int (*run)(cuda_stream *s, void *what); /* CUDA_BLOCKED: it must be called again */
    void (*drop)(void *what); /* called at the end, whether or not it has run; or NULL */
    /* Returns the values whose next one it waits for; or NULL. */
    const cuda_memory_ops *(*values)(const void *what);
    void *what;
} cuda_work;
/* True if an operation in the stream, or one that it waits for as the legacy stream does, cannot
 * begin yet. */
bool cuda_is_blocked(const cuda_stream *s);
/* True if the host would have to wait for an operation that cannot begin. */
bool cuda_has_pending(const cuda_stream *s);
/* Runs the work once it can begin. */
int cuda_defer(cuda_stream *s, const cuda_work *work);
/* Executes operations that can begin; true if there were any. */
bool cuda_progress(void);
/* The same as far as the host observes it, by a query or at its end: host functions start. */
void cuda_progress_observed(void);
/* True if a host function of the operation that executes may start. */
bool cuda_may_start_host(void);
/* The host waits until nothing is pending: in a stream, on a device, or by a caller's condition. */
void cuda_drain(const cuda_stream *s);
void cuda_drain_device(int device);
void cuda_drain_until(bool (*pending)(const void *), const void *what);
/* ---- blocked_event.c: events of blocked streams ---- */
void cuda_record_event(cuda_stream *s, cuda_event *e);
int cuda_defer_record(cuda_stream *s, cuda_event *e);
/* Makes a blocked stream wait for an event, or any stream for an event of a blocked stream. */
int cuda_defer_wait(cuda_stream *s, const cuda_event *e);
void cuda_drain_event(const cuda_event *e);
/* Called when the event is recorded again, or destroyed. */
void cuda_forget_mark(cuda_event *e);
/* ---- wait_value.c: values in memory ---- */
/* 0: an operation without a value. */
unsigned cuda_value_bytes(const cuda_memory_op *p);
bool cuda_value_waits(const cuda_memory_op *p);
/* Computes when a wait that begins at `begin` ends; false: no value so far ends it. */
bool cuda_value_ends(const cuda_memory_op *p, double begin, double *end);
/* Records values that have changed in memory, at that time. */
void cuda_record_values(double now);
/* Creates the op of a list of CUstreamBatchMemOpParams, or copies its data. */
int cuda_memory_ops_make(unsigned n, const void *values, unsigned flags, cuda_op *op);
cuda_memory_ops *cuda_copy_memory_ops(const cuda_memory_ops *m);
/* Formats "for the 32-bit value ..."; false: the next operation does not wait. */
bool cuda_memory_ops_text(const cuda_memory_ops *m, char *text, size_t size);
/* True if other processes may write the value that it waits for. */
bool cuda_memory_ops_shared(const cuda_memory_ops *m);

#endif
