/* runtime.c - the devices of the process, which are opened by the first call that requires one and
 * exist until the process ends; entry and exit of every call. */
#define _DEFAULT_SOURCE /* on_exit */
#include "cudart/activity.h"
#include "cudart/blocked.h"
#include "cudart/checking.h"
#include "cudart/clock.h"
#include "cudart/state.h"
#include <stdio.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---------------------------------------------------------------- start and end */

enum { PATH_BYTES = 4096 };

/* Returns the name of the trace: in that of the option, %p is the number of the process. */
static const char *trace_name(const char *option, char *to, size_t size)
{
    const char *place = option ? strstr(option, "%p") : NULL;
    if (!place) return option;
    snprintf(to, size, "%.*s%ld%s", (int)(place - option), option, (long)getpid(), place + 2);
    return to;
}

static void hint_name(const char *name)
{
    char part[PATH_BYTES + sizeof ".part"];
    snprintf(part, sizeof part, "%s.part", name);
    if (access(part, F_OK) == 0)
        cuda_report("this process is not traced; if the name of the trace contains %%p, each "
                    "process writes a trace of its own");
}

static int open_trace(void)
{
    const cuda_options *o = &cuda.options;
    char name[PATH_BYTES];
    const char *path = trace_name(o->trace, name, sizeof name);
    const pl_trace_options t = {.level = o->trace_level,
                                .command = "ptxloom exec",
                                .max_bytes = o->trace_limit,
                                .filter = o->filter,
                                .packed = o->packed};
    if (!o->trace && !o->metrics) return CU_OK;
    if (pl_trace_open(cuda.device[0].gpu, path, &t, &cuda.trace) != PL_OK) {
        cuda_print_messages();
        if (path) hint_name(path);
        cuda.trace = NULL;
        return CU_OK; /* the program runs in any case */
    }
    return CU_OK;
}

/* Exit status of the program. */
static int exit_status;

/* Those that the program did not wait for, before its exit functions release their data. */
static void run_host_functions(void)
{
    if (!cuda.devices || cuda_self.callback || pthread_mutex_trylock(&cuda.lock) != 0) return;
    cuda_host_enter();
    cuda_progress_observed();
    cuda_host_leave();
    pthread_mutex_unlock(&cuda.lock);
}

static void record_exit_status(int status, void *unused)
{
    (void)unused;
    exit_status = status;
    run_host_functions();
    cuda_exit_begins(status);
}

/* False: a message gives the reason; only the devices opened so far exist. */
static bool open_device(void)
{
    cuda_device *d = &cuda.device[cuda.devices];
    const pl_status st = pl_gpu_open(&d->gpu, cuda.options.arch);
    if (st != PL_OK) {
        if (d->gpu) cuda_print_messages_of(d->gpu);
        return false;
    }
    double sms = 0;
    pl_gpu_value(d->gpu, "sm.count", "", &sms);
    d->sms = (unsigned)sms;
    pl_gpu_demangler(d->gpu, cuda_demangle_short);
    d->legacy.device = cuda.devices++;
    return true;
}

static bool found_errors, has_reports;

/* The first call that waits after a kernel failed shows what it printed, or the end. */
static void show_failed(void)
{
    if (cuda.sticky) cuda_flush();
}

/* Prints the output that options request at process exit. Returns the exit status. */
static int report_at_end(int status)
{
    static bool reported_before;
    if (!cuda.devices || reported_before) return status;
    reported_before = true;
    if (cuda.fault) cuda_flush();
    for (cuda_module *m = cuda.modules; m; m = m->next) cuda_show_findings(m);
    const bool reported = cuda_checked_report(status != 0);
    found_errors = cuda_found_errors() || reported;
    if (cuda.options.summary) cuda_summary();
    if (cuda.options.metrics) cuda_print_metrics();
    for (size_t k = 0; cuda.trace && k < cuda.alloc.n; k++)
        cuda_record_allocation(&cuda.alloc.at[k], -1);
    const pl_result stopped = {.status = PL_INTERRUPTED};
    if (cuda.trace && cuda.tracing) pl_trace_end(cuda.trace, &stopped);
    if (cuda.trace && pl_trace_close(cuda.trace, true) != PL_OK) cuda_print_messages();
    cuda.trace = NULL;
    fflush(stdout);
    if (!found_errors || status) return status;
    return cuda.options.exitcode_given ? (int)cuda.options.exitcode
           : cuda.options.sanitizer    ? 0
                                       : 1;
}

/* The devices belong to the process that opened them. In a forked child, calls fail as on hardware;
 * the output that options request and pending operations are those of the parent. */
static void begin_forked_child(void)
{
    cuda.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    cuda.forked_devices = cuda.runtime_called ? cuda.devices : 0;
    cuda.devices = 0;
    cuda.trace = NULL;
    cuda.options.summary = false;
    cuda.start_error = CU_INITIALIZATION;
    cuda.forked = true;
}

static void report_fork(void)
{
    static bool reported;
    if (!reported)
        cuda_report("%s in a forked process fails, because its parent has used CUDA before the "
                    "fork: fork first, or call exec in the child",
                    cuda_self.call);
    reported = true;
}

/* True for calls of the runtime that a forked child answers from what its parent knew. */
static bool is_known(const char *call)
{
    static const char count[] = "cudaGetDeviceCount", properties[] = "cudaGetDeviceProperties";
    return cuda.forked_devices &&
           (strcmp(call, count) == 0 || strncmp(call, properties, strlen(properties)) == 0);
}

int cuda_start(void)
{
    if (cuda.forked && is_known(cuda_self.call)) return CU_OK;
    if (cuda.forked) report_fork();
    if (cuda.tried) return cuda.start_error;
    cuda.tried = true;
    cuda.start_error = CU_INITIALIZATION;
    pthread_atfork(NULL, NULL, begin_forked_child);
    while (cuda.devices < (int)cuda.options.devices)
        if (!open_device()) {
            cuda.devices = 0;
            return cuda.start_error = CU_NO_DEVICE;
        }
    const uint64_t base = cuda_window_open();
    cuda_checked_open(base, UINT64_C(1) << 40);
    cuda.paused = cuda.options.from_profiler;
    const cuda_options *o = &cuda.options;
    has_reports = o->check || o->trace || o->summary || o->metrics;
    on_exit(record_exit_status, NULL);
    if (has_reports) cuda_watch_signals(report_at_end);
    return cuda.start_error = open_trace();
}

/* Runs after the program's own exit functions. */
__attribute__((destructor)) static void end(void)
{
    if (!cuda.devices) return;
    if (cuda_end_is_pending()) pthread_mutex_lock(&cuda.lock);
    cuda_end_if_pending();
    if (pthread_mutex_trylock(&cuda.lock) != 0) {
        if (has_reports) cuda_show_and_exit(exit_status); /* a launch is running */
        return;
    }
    cuda_host_race_enter();
    cuda_report_suspended();
    const int status = report_at_end(exit_status);
    pthread_mutex_unlock(&cuda.lock);
    if (status == exit_status) return;
    fflush(NULL);
    /* Destructors of other libraries are skipped: nothing else changes the status. */
    cuda_show_and_exit(status);
}

/* ---------------------------------------------------------------- calls */

static int begin_call(const char *name, bool per_thread)
{
    pthread_mutex_lock(&cuda.lock);
    cuda_self.per_thread = per_thread;
    cuda_self.call = name;
    cuda_self.charged = false;
    const int error = cuda_start();
    cuda_host_enter();
    cuda_host_race_enter();
    cuda_self.call_start = cuda.now;
    cuda_self.call_id = ++cuda.calls;
    if (error) return error;
    cuda_record_values(cuda.now); /* the program may have written values that streams wait for */
    cuda_progress();
    cuda_clock_fault();
    cuda_self.began_faulty = cuda.sticky != CU_OK;
    return CU_OK;
}

/* A call that has waited until a fault was reported returns it. */
static int error_after_wait(int error)
{
    return !error && cuda.sticky && !cuda_self.began_faulty ? cuda.sticky : error;
}

int cuda_enter_driver(const char *name, cuda_driver_entry how, bool per_thread)
{
    const int error = begin_call(name, per_thread);
    if (error || how == CUDA_ALWAYS) return error;
    if (!cuda.initialised) return CU_INITIALIZATION;
    if (how == CUDA_INITIALISED) return CU_OK;
    if (cuda_self.callback && how != CUDA_BY_HANDLE_ANYWHERE) return CU_NOT_PERMITTED;
    if (how == CUDA_BY_PROGRAM) return CU_OK;
    const bool current = how == CUDA_IN_CONTEXT || how == CUDA_OF_CONTEXT;
    if (current && !cuda_self.has_context) return CU_INVALID_CONTEXT;
    if (current && cuda_current_was_reset()) return CU_CONTEXT_DESTROYED;
    if (how == CUDA_OF_CONTEXT) return CU_OK;
    show_failed();
    return cuda.sticky;
}

int cuda_enter(const char *name, cuda_entry how, bool per_thread)
{
    const int error = begin_call(name, per_thread);
    cuda.initialised = cuda.runtime_called = true;
    const bool query = how == CUDA_QUERY || how == CUDA_QUERY_ANYWHERE;
    if (!query) {
        cuda_self.has_context = true;
        cuda.runtime_used |= 1u << cuda_self.device;
        cuda.was_reset &= ~(1u << cuda_self.device);
    }
    const bool anywhere = how == CUDA_QUERY_ANYWHERE || how == CUDA_EMPTY_ANYWHERE ||
                          how == CUDA_WORK_ANYWHERE,
               work = how == CUDA_WORK || how == CUDA_WORK_ANYWHERE;
    if (!error && cuda_self.callback && !anywhere) return CU_NOT_PERMITTED;
    if (!query) show_failed();
    const bool reports = work || (how == CUDA_DATA && cuda.sticky == CU_UNAVAILABLE);
    return error ? error : reports ? cuda.sticky : CU_OK;
}

/* Ends the current call of the thread. */
static void end_call(int error)
{
    const char *name = error ? pl_cudaGetErrorName(error) : NULL;
    if (cuda.devices) cuda_clock_call();
    if (cuda.options.log)
        cuda_report("%s -> %s%s%s", cuda_call_name(), name ? name : "0",
                    cuda_self.kernel ? ", kernel " : "", cuda_self.kernel ? cuda_self.kernel : "");
    cuda_self.kernel = NULL;
    if (cuda.trace || cuda.options.summary) cuda_record_call(error, name);
    const bool logged = error && error != CU_NOT_READY;
    if (logged) cuda_log_error(cuda_self.call, name);
    cuda_host_leave();
    cuda_host_race_leave();
    pthread_mutex_unlock(&cuda.lock);
    if (logged) cuda_log_notify();
}

int cuda_leave(int error)
{
    error = error_after_wait(error);
    if (error && error != CU_NOT_READY) cuda_self.last = error;
    end_call(error);
    return error;
}

int cuda_leave_driver(int error)
{
    error = error_after_wait(error);
    end_call(error);
    return cuda_driver_error(error);
}

int cuda_refused(const char *name, const char *why)
{
    static cuda_table reported_names;
    pthread_mutex_lock(&cuda.lock);
    cuda_host_race_enter();
    if (!cuda_table_get(&reported_names, name)) {
        cuda_table_put(&reported_names, name, &reported_names);
        cuda_report("%s is not supported: %s", name, why);
    }
    cuda_self.call = name;
    cuda_self.call_start = cuda.now;
    cuda_self.call_id = ++cuda.calls;
    return cuda_leave(CU_NOT_SUPPORTED);
}

/* ---------------------------------------------------------------- errors */

int pl_cudaGetLastError(void)
{
    const int error = cuda_self.last;
    cuda_self.last = CU_OK;
    return error;
}

int pl_cudaPeekAtLastError(void)
{
    return cuda_self.last;
}
