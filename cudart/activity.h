/* activity.h - what the application does: names of callers, the trace, the log. */
#ifndef PL_CUDART_ACTIVITY_H
#define PL_CUDART_ACTIVITY_H

#include "cudart/state.h"

/* ---- caller.c ---- */
/* Returns the name of the current call. NULL: none. */
const char *cuda_call_name(void);
/* Returns the location in the program that called the library: "main+0x42"; empty: unknown. */
void cuda_caller(char *text, size_t size);
/* The same for the return address of a call. */
void cuda_position(const void *code, char *text, size_t size);
/* Formats "cudaMemcpy, call 12, in main+0x42" for the current call; caller: of cuda_caller. */
void cuda_describe_call(const char *caller, char *text, size_t size);
/* Returns "device memory of cudaMalloc, call 3, in main+0x42" for what = "device memory", in malloc
 * memory; NULL: out of memory. */
char *cuda_made_by(const char *what);
/* Returns the path of the file whose code called the library; empty: unknown. */
void cuda_calling_object(char *text, size_t size);

/* ---- activity.c: trace and summary of the application ---- */
typedef struct cuda_activity {
    const char *kind, *name;
    uint64_t stream;
    cuda_span span;
    int64_t bytes; /* -1: none */
    const char *source, *destination;
    bool launch, estimated;
    double spread; /* ns; < 0: unknown */
} cuda_activity;
void cuda_record_activity(const cuda_activity *a);
/* Delays activities of a stream that end after that time. */
void cuda_delay_activities(int device, uint64_t stream, double from, double by);
/* Records the result of the current call. */
void cuda_record_call(int result, const char *error);
void cuda_record_allocation(const cuda_alloc *a, double end);
/* Counts the instructions of a launch. */
void cuda_count(const char *name, const pl_result *r);
/* Adds the metrics of the launch that has just ended; prints all metrics. */
void cuda_count_metrics(const char *kernel);
void cuda_print_metrics(void);
/* Returns the demangled name, of malloc; NULL: it is not mangled, or there is no demangler. */
char *cuda_demangle(const char *name);
/* The same for messages: without the arguments of templates and functions if it is long. */
char *cuda_demangle_short(const char *name);
/* Returns the demangled name of a kernel. */
const char *cuda_shown_name(cuda_function *f);
/* Shows the findings of the checkers in the module's kernels. */
void cuda_show_findings(cuda_module *m);
/* True if any module had errors. */
bool cuda_found_errors(void);

/* ---- logs.c: the log of failed calls ---- */
void cuda_log_error(const char *call, const char *error);
/* Called without the lock after a line was added. */
void cuda_log_notify(void);

#endif
