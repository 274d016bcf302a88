/* kernel_run.c - runs a kernel: its arguments, launches that the driver rejects, the mode, limits
 * and checkers, and the effects of a failure. */
#include "cudart/activity.h"
#include "cudart/blocked.h"
#include "cudart/checking.h"
#include "cudart/clock.h"
#include "cudart/green_context.h"
#include "cudart/suspended_kernel.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/prctl.h>
#include <unistd.h>

enum {
    MAX_THREADS = 1024,
    MAX_PORTABLE_CLUSTER = 8 /* blocks per cluster */
};

/* ---------------------------------------------------------------- arguments */

int cuda_copy_arguments(const cuda_function *f, void *const *args, uint8_t **params)
{
    const uint32_t bytes = f->info.param_bytes;
    if (f->info.nparams && !args) return CU_INVALID_VALUE;
    *params = calloc(1, bytes ? bytes : 1);
    if (!*params) return CU_MEMORY_ALLOCATION;
    for (uint32_t k = 0; k < f->info.nparams; k++)
        memcpy(*params + f->param[k].offset, args[k], f->param[k].size);
    return CU_OK;
}

int cuda_copy_param_block(void *const *extra, cuda_op *op)
{
    const uint32_t param_bytes = op->u.kernel.f->info.param_bytes;
    uint8_t **params = &op->u.kernel.params;
    const void *block = NULL;
    size_t bytes = 0;
    for (; *extra; extra += 2) {
        if ((uintptr_t)extra[0] == CUDA_PARAM_POINTER) block = extra[1];
        if ((uintptr_t)extra[0] == CUDA_PARAM_SIZE) memcpy(&bytes, extra[1], sizeof bytes);
    }
    if (bytes > param_bytes) return CU_OUT_OF_RESOURCES;
    *params = calloc(1, param_bytes ? param_bytes : 1);
    if (!*params) return CU_MEMORY_ALLOCATION;
    if (block) memcpy(*params, block, bytes);
    op->u.kernel.as_block = true;
    op->u.kernel.block_bytes = bytes;
    return CU_OK;
}

/* ---------------------------------------------------------------- the launch */

static bool has_zero(dim3 d)
{
    return !d.x || !d.y || !d.z;
}

static uint64_t blocks_of(const cuda_launch *l)
{
    return (uint64_t)l->grid.x * l->grid.y * l->grid.z;
}

/* Returns the cluster shape: of the launch, as compiled, or set by cudaFuncSetAttribute. */
static const uint32_t *cluster_of(const cuda_function *f, const cuda_launch *l)
{
    return l->cluster[0]           ? l->cluster
           : f->info.reqcluster[0] ? f->info.reqcluster
                                   : cuda_settings_of(f)->cluster;
}

/* True if the number of registers can decide whether a launch is refused, or how it overlaps with
 * other kernels. */
static bool registers_matter(const cuda_launch *l, uint64_t threads)
{
    enum { MAX_REGISTERS = 256 }; /* of a thread, rounded up */
    double registers = 0;
    pl_gpu_value(cuda_current_device()->gpu, "sm.registers", "", &registers);
    return cuda.streams_created || cuda.graph_launch || l->cooperative || l->green ||
           (double)(threads * MAX_REGISTERS) > registers;
}

static uint32_t registers_for(cuda_function *f, const cuda_launch *l, uint64_t threads)
{
    return f->registers || registers_matter(l, threads) ? cuda_registers(f) : f->info.registers;
}

/* Checks that the driver makes before a launch, with its error numbers (H200, probes host.launch).
 */
int cuda_check_launch(cuda_function *f, const cuda_launch *l, uint32_t *blocks)
{
    const uint64_t threads = (uint64_t)l->block.x * l->block.y * l->block.z;
    const uint32_t *c = cluster_of(f, l);
    const uint64_t cluster = (uint64_t)c[0] * c[1] * c[2];
    const bool requires = c[0] || c[1] || c[2];
    const cuda_func_settings *set = cuda_settings_of(f);
    if (has_zero(l->grid) || has_zero(l->block) || l->block.x > MAX_THREADS ||
        l->block.y > MAX_THREADS || l->block.z > 64 || threads > MAX_THREADS ||
        l->grid.x > INT32_MAX || l->grid.y > UINT16_MAX || l->grid.z > UINT16_MAX)
        return CU_INVALID_VALUE;
    const uint32_t *maxntid = f->info.maxntid;
    if (maxntid[0] && threads > (uint64_t)maxntid[0] * (maxntid[1] ? maxntid[1] : 1) *
                                    (maxntid[2] ? maxntid[2] : 1))
        return CU_INVALID_VALUE;
    const uint64_t max_cluster =
        set->nonportable_cluster ? 2 * MAX_PORTABLE_CLUSTER : MAX_PORTABLE_CLUSTER;
    if ((l->clustered || requires) && !cluster) return CU_INVALID_CLUSTER;
    if (cluster &&
        (cluster > max_cluster || l->grid.x % c[0] || l->grid.y % c[1] || l->grid.z % c[2]))
        return CU_INVALID_CLUSTER;
    if (f->info.maxclusterrank && cluster > f->info.maxclusterrank) return CU_INVALID_CLUSTER;
    if (l->cluster[0] && f->info.reqcluster[0] &&
        memcmp(l->cluster, f->info.reqcluster, sizeof l->cluster) != 0)
        return CU_INVALID_CLUSTER;
    if (l->shared > cuda_max_dynamic_shared(f))
        return l->cooperative ? CU_COOPERATIVE_TOO_LARGE : CU_INVALID_VALUE;
    pl_occupancy_info o;
    if (pl_gpu_occupancy(cuda_current_device()->gpu, (uint32_t)threads,
                         registers_for(f, l, threads), f->info.static_shared + l->shared,
                         f->info.barriers, &o) != PL_OK)
        return CU_INVALID_VALUE;
    if (!o.blocks) return CU_OUT_OF_RESOURCES;
    *blocks = o.blocks;
    if (l->cooperative && blocks_of(l) > (uint64_t)o.blocks * cuda_green_sms(l->green))
        return CU_COOPERATIVE_TOO_LARGE;
    return CU_OK;
}

/* Host threads of a launch: the requested number; else in functional mode all processors share the
 * blocks of a launch, which may race for memory as on hardware. */
static int host_threads(bool timed)
{
    enum { MAX_HOST_THREADS = 256 };
    static int processors; /* cached: the query takes microseconds */
    if (cuda.options.threads || timed) return (int)cuda.options.threads;
    if (!processors) {
        const long n = sysconf(_SC_NPROCESSORS_ONLN);
        processors = n < 1 ? 1 : n > MAX_HOST_THREADS ? MAX_HOST_THREADS : (int)n;
    }
    return processors;
}

static pl_launch launch_of(const cuda_function *f, const cuda_launch *l, const void *params)
{
    const cuda_options *o = &cuda.options;
    const bool timed = cuda_timed(f, l);
    const uint32_t *cluster = f->info.reqcluster[0] ? l->cluster : cluster_of(f, l);
    return (pl_launch){.kernel = f->name,
                       .grid = {l->grid.x, l->grid.y, l->grid.z},
                       .block = {l->block.x, l->block.y, l->block.z},
                       .cluster = {cluster[0], cluster[1], cluster[2]},
                       .dynamic_shared = (uint32_t)l->shared,
                       .stack = (uint32_t)cuda_current_limits()->value[0],
                       .params = params,
                       .param_bytes = f->info.param_bytes,
                       .mode = timed ? PL_MODE_TIMING : PL_MODE_FUNCTIONAL,
                       .timed_seconds = timed ? cuda_timed_seconds() : 0,
                       .threads = o->random ? 1 : host_threads(timed),
                       .random = o->random && !timed,
                       .seed = o->seed,
                       .memoize = o->memoize,
                       .sms = l->green ? l->green->r.bit : NULL,
                       .cooperative = l->cooperative,
                       .max_cycles = o->max_cycles,
                       .max_instructions = o->max_instructions};
}

/* Returns the error of the context after a launch that failed. */
static int error_of(const pl_result *r)
{
    const int number = cuda_error_number(r->error);
    switch (r->status) {
    case PL_FAULT: return number ? number : CU_LAUNCH_FAILURE;
    case PL_INTERRUPTED: return CU_LAUNCH_TIMEOUT;
    case PL_NOMEM: return CU_MEMORY_ALLOCATION;
    case PL_UNSUPPORTED: return CU_NOT_SUPPORTED;
    default: return CU_INVALID_CONFIGURATION;
    }
}

/* ---- --timeout: a thread raises the stop flag when a launch takes too long ---- */

static double deadline; /* of the running launch in seconds; 0: none */
static pthread_mutex_t clock_lock = PTHREAD_MUTEX_INITIALIZER;

static void set_deadline(double at)
{
    pthread_mutex_lock(&clock_lock);
    deadline = at;
    if (cuda_stop == 2) __atomic_store_n(&cuda_stop, 0, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&clock_lock);
}

static void *watch_deadline(void *unused)
{
    const struct timespec interval = {.tv_nsec = 50000000};
    prctl(PR_SET_NAME, CUDA_THREAD_NAME);
    for (;;) {
        nanosleep(&interval, NULL);
        pthread_mutex_lock(&clock_lock);
        if (deadline > 0 && cuda_seconds() > deadline && !cuda_stop)
            __atomic_store_n(&cuda_stop, 2, __ATOMIC_RELAXED);
        pthread_mutex_unlock(&clock_lock);
    }
    return unused;
}

/* used: seconds that the launch has already taken. */
static void start_watch(double used)
{
    static bool watching;
    pthread_t thread;
    if (!cuda.options.timeout) return;
    if (!watching && pthread_create(&thread, NULL, watch_deadline, NULL) == 0) {
        pthread_detach(thread);
        watching = true;
    }
    set_deadline(cuda_seconds() + (double)cuda.options.timeout - used);
}

/* ---- --check ---- */

static bool found_errors;

/* Returns the checkers of a module; NULL: not requested, or they could not be opened. */
static pl_checks *cuda_checks(cuda_module *m)
{
    struct cuda_image *image = &m->on[cuda_self.device];
    if (!cuda.options.check || image->checks || image->unchecked) return image->checks;
    image->checks = cuda_checks_open();
    image->unchecked = !image->checks;
    return image->checks;
}

/* Returns the error of the context: on hardware, each access that the checkers have suppressed
 * causes it. CU_OK: no new ones since the previous launch. */
static int checked_error(struct cuda_image *image)
{
    uint64_t total = 0, misaligned = 0;
    for (size_t k = 0; k < pl_checks_count(image->checks); k++) {
        const pl_finding *f = pl_checks_finding(image->checks, k);
        if (strcmp(f->tool, "mem") != 0 || strcmp(f->kind, "stream") == 0) continue;
        total += f->count;
        misaligned += strcmp(f->kind, "misaligned") == 0 ? f->count : 0;
    }
    const uint64_t new_errors = total - image->wrong,
                   new_misaligned = misaligned - image->misaligned;
    image->wrong = total;
    image->misaligned = misaligned;
    if (!new_errors) return CU_OK;
    return new_errors == new_misaligned ? cuda_error_number("CUDA_ERROR_MISALIGNED_ADDRESS")
                                        : CU_ILLEGAL_ADDRESS;
}

void cuda_show_findings(cuda_module *m)
{
    for (int d = 0; d < cuda.devices; d++) {
        struct cuda_image *image = &m->on[d];
        if (!image->checks) continue;
        found_errors |= cuda_checked_show(image->checks, image->loaded);
        if (cuda.trace) pl_trace_add_findings(cuda.trace, image->checks);
        pl_checks_close(image->checks);
        image->checks = NULL;
        image->wrong = image->misaligned = 0;
    }
}

bool cuda_found_errors(void)
{
    return found_errors;
}

/* ---- hints on common mistakes ---- */

/* On hardware, accesses past the end of an allocation may remain undetected. */
static void hint_page_bounds(const pl_result *r)
{
    const uint64_t address = r->fault ? r->fault->address : 0;
    if (!r->error || strcmp(r->error, "CUDA_ERROR_ILLEGAL_ADDRESS") != 0) return;
    if (!cuda_in_window(address) || cuda.options.check || !cuda_alloc_shares_page(address)) return;
    fprintf(stderr, "ptxloom: hardware detects this only past whole pages of 2 MiB: "
                    "`ptxloom exec --bounds page` does the same\n");
}

static void hint_stack(const pl_result *r)
{
    if (r->error_text && strncmp(r->error_text, "stack overflow", strlen("stack overflow")) == 0)
        fprintf(stderr, "ptxloom: cudaDeviceSetLimit(cudaLimitStackSize, BYTES) before the launch "
                        "gives each thread more local memory\n");
}

/* A kernel accessed a pointer to host memory. */
static void hint_host_memory(const pl_result *r)
{
    const uint64_t address = r->fault ? r->fault->address : 0;
    if (!address || cuda_in_window(address) || cuda_host_access(address, 1, false) != 1) return;
    fprintf(stderr,
            "ptxloom: 0x%" PRIx64 " is memory of the host (malloc, new, a local or global "
            "variable): kernels can access memory of cudaMalloc, cudaMallocManaged or "
            "cudaMallocHost\n",
            address);
}

/* ---- a launch and its end ---- */

static void end_trace(const cuda_suspended *x, const pl_result *r)
{
    cuda.tracing = false;
    if (x->recorded && pl_trace_end(cuda.trace, r) != PL_OK) {
        pl_trace_close(cuda.trace, false);
        cuda.trace = NULL;
    }
}

/* Instructions that only polled while the launch was suspended take no time of their own. */
static void account(cuda_stream *s, const cuda_suspended *x, const pl_result *r)
{
    pl_result timed = *r;
    const bool last = x->recorded && x->recorded == cuda.traced_launches;
    timed.inst_executed -= r->waited < r->inst_executed ? r->waited : r->inst_executed;
    timed.longest_warp -= r->waited < r->longest_warp ? r->waited : r->longest_warp;
    cuda_kernel_time time = cuda_time_of(
        x->f, &x->l, &timed,
        r->cycles > r->page_fault_cycles ? r->cycles - r->page_fault_cycles : 0, x->params);
    time.page_fault_cycles = (double)r->page_fault_cycles;
    time.blocks_per_sm = x->blocks;
    time.moved = x->moved;
    if (x->launch) time.began = x->start;
    time.released = x->released;
    time.unrecorded = x->launch && !last;
    if (cuda.options.metrics && cuda_recording() && !x->launch && r->cycles && r->status == PL_OK)
        cuda_count_metrics(time.name);
    if (cuda.options.summary) cuda_count(time.name, r);
    cuda_clock_kernel(s, &x->l, &time);
}

/* Records which pages have migrated. A launch that has run in part without the timing model may
 * have accessed any page of its allocations. */
static void end_migration(cuda_suspended *x, const pl_result *r)
{
    if (!x->managed) return;
    cuda_set_migrated(x->managed, x->nmanaged, cuda_self.device);
    if (r->timed_blocks || x->launch)
        x->moved = cuda_migrate_parameters(x->params, x->f->info.param_bytes, cuda_self.device);
    cuda_evict_managed(cuda_self.device, &x->moved);
    free(x->managed);
    x->managed = NULL;
}

/* Called when a launch has ended. */
static int end_launch(cuda_stream *s, cuda_suspended *x, const pl_result *r)
{
    end_migration(x, r);
    pl_module *m = cuda_loaded(x->f->module);
    cuda_stream_race_launched(s, x->checks, m, cuda_shown_name(x->f), &x->l);
    if (x->range) cuda_order_launched(s, x->range, x->nranges, cuda_shown_name(x->f));
    if (x->checks) pl_trace_note_findings(x->recorded ? cuda.trace : NULL, x->checks);
    account(s, x, r);
    const int check_error = x->checks ? checked_error(&x->f->module->on[cuda_self.device]) : CU_OK;
    if (r->status == PL_OK) {
        pl_gpu_diag_clear(cuda_current_device()->gpu);
        if (check_error) {
            cuda_set_fault(s, check_error);
            cuda_show_findings(x->f->module); /* now: the program may never end */
        }
        return CU_OK;
    }
    cuda_print_messages();
    hint_host_memory(r);
    hint_stack(r);
    hint_page_bounds(r);
    cuda_end_if_pending();
    const int error = error_of(r);
    if (r->status == PL_INVALID || r->status == PL_UNSUPPORTED) return error;
    cuda_set_fault(s, error); /* a later call reports it to the program */
    return CU_OK;
}

/* ---- suspended launches ---- */

static int suspend(cuda_suspended *x)
{
    x->steps = cuda.steps;
    if (cuda_add_suspended(x)) return CUDA_BLOCKED;
    pl_launch_drop(x->launch);
    return CU_MEMORY_ALLOCATION;
}

static int continue_launch(cuda_stream *s, cuda_suspended *w)
{
    pl_result r;
    start_watch(w->seconds);
    pl_launch_continue(w->launch, cuda_waits_patiently, &r);
    if (cuda.options.timeout) set_deadline(0);
    w->seconds = r.wall_seconds;
    w->running = r.running && r.status == PL_WAITING;
    const bool stepped = cuda.steps != w->steps;
    if (r.progressed || r.status != PL_WAITING) {
        cuda.steps += !w->running;
        w->released = stepped && cuda.latest_end > cuda.now ? cuda.latest_end : cuda.now;
    }
    w->steps = cuda.steps;
    if (r.status == PL_WAITING) return CUDA_BLOCKED;
    cuda_suspended ended = *w;
    cuda_remove_suspended(w);
    return end_launch(s, &ended, &r);
}

/* ---- running ---- */

/* In timing mode, accesses of the launch migrate pages. In functional mode, and on machines without
 * page faults, all pages of its allocations migrate before it starts. */
static void begin_migration(cuda_suspended *x, pl_launch *launch)
{
    const uint64_t bytes = x->f->info.param_bytes;
    if (launch->mode == PL_MODE_TIMING && cuda_models_page_faults()) {
        launch->managed = x->managed =
            cuda_managed_blocks(x->params, bytes, cuda_self.device, &x->nmanaged);
        launch->nmanaged = x->nmanaged;
        return;
    }
    x->moved = cuda_migrate_parameters(x->params, bytes, cuda_self.device);
    if (launch->mode != PL_MODE_TIMING) return;
    launch->page_fault_cycles = (uint64_t)cuda_page_fault_cycles(&x->moved);
    x->moved = (cuda_migrated){0};
}

/* Prepares the launch, and its observers. */
static pl_launch prepare(cuda_stream *s, cuda_suspended *x)
{
    pl_launch launch = launch_of(x->f, &x->l, x->params);
    launch.global_time = x->start = cuda_clock_kernel_start(s);
    launch.graph = cuda.graph;
    launch.launch_graph = cuda.launch_graph;
    launch.update_node = cuda.update_node;
    launch.graph_ctx = cuda_current_device();
    launch.waiting = &x->launch;
    launch.cancel = &cuda_stop;
    launch.uncounted = !cuda_recording() && x->f->traffic >= 0;
    launch.checks = x->checks = cuda_checks(x->f->module);
    x->range = cuda_order_ranges(s, &x->nranges);
    if (x->checks && x->nranges) pl_checks_watch(x->checks, x->range, x->nranges);
    begin_migration(x, &launch);
    cuda_stream_race_launch(s, x->checks, x->f, &x->l);
    cuda_checked_launching();
    return launch;
}

int cuda_run(cuda_stream *s, cuda_function *f, const cuda_launch *l, const void *params)
{
    cuda_suspended x = {.params = params, .f = f, .l = *l, .device = cuda_self.device};
    cuda_suspended *waiting = cuda_find_suspended(params);
    if (waiting) return continue_launch(s, waiting);
    if (cuda.suspended && cuda.options.check) { /* checkers observe one launch at a time */
        cuda_note_unstarted(f);
        return CUDA_BLOCKED;
    }
    cuda_note_unstarted(NULL);
    const int error = cuda_check_launch(f, l, &x.blocks);
    if (error) return error;
    pl_module *m = cuda_loaded(f->module);
    pl_launch launch = prepare(s, &x);
    pl_result r;
    cuda.tracing = cuda_recording();
    if (cuda.tracing) {
        x.recorded = ++cuda.traced_launches;
        launch.sink = pl_trace_begin(cuda.trace, m, &launch, cuda_shown_name(f));
    }
    start_watch(0);
    pl_launch_kernel(cuda_current_device()->gpu, m, &launch, &r);
    if (cuda.options.timeout) set_deadline(0);
    end_trace(&x, &r);
    x.running = r.running;
    return r.status == PL_WAITING ? suspend(&x) : end_launch(s, &x, &r);
}
