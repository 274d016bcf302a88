/* clock.c - the application's clock: what calls cost the host, and how long what is put into
 * streams takes, from the keys of [device] in the machine's description.
 *
 * The host goes on when a call has returned; an operation begins when the host has put it into its
 * stream, what is before it there has ended, and the units that it needs are free. Copies of one
 * direction follow each other. Kernels run side by side as far as the GPU has room for their
 * blocks. All is decided when an operation is put into its stream. */
#include "cudart/state.h"
#include <string.h>

/* In ns, and in bytes a ns (GB/s). */
static struct {
    bool read;
#define DEVICE_TIME(name, unit) double name;
#include "cudart/clock_keys.def"
#undef DEVICE_TIME
    double clock, sms;
} cost;

enum {
    GRIDS = 128,        /* that run side by side */
    SMALL_SET = 1 << 14 /* bytes of a memset from which on it takes a kernel */
};

/* Copies of one direction: the latest one. */
static struct {
    double start, end;
} to_device, from_device;

/* Part of the GPU for some time: the blocks of a kernel, of which the last wave may take less. */
static struct {
    struct {
        double start, end, share;
    } at[GRIDS];
    size_t n;
    double latest, started; /* end of all; start of the kernel that began last */
} running;

static void value(const char *key, const char *unit, double *to)
{
    *to = 0;
    pl_gpu_value(cuda.gpu, key, unit, to);
}

static void read_costs(void)
{
    if (cost.read) return;
    cost.read = true;
#define DEVICE_TIME(name, unit) value("device." #name, unit, &cost.name);
#include "cudart/clock_keys.def"
#undef DEVICE_TIME
    value("machine.clock", "MHz", &cost.clock);
    value("sm.count", "", &cost.sms);
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* ---------------------------------------------------------------- the host */

/* Within a graph the host has nothing to do. */
static void host(double ns)
{
    if (cuda.graph_launch) return;
    cuda.now += ns;
    cuda_self.charged = true;
}

void cuda_clock_call(void)
{
    read_costs();
    if (!cuda_self.charged) cuda.now += cost.host_call;
    cuda_self.charged = false;
}

void cuda_clock_alloc(bool release)
{
    read_costs();
    host(release ? cost.host_free : cost.host_alloc);
}

void cuda_clock_wait(double until)
{
    read_costs();
    if (until > cuda.now) cuda.now = until + cost.host_wait;
}

void cuda_clock_poll(double until)
{
    enum { STEPS = 10000 };
    read_costs();
    const double left = until - cuda.now;
    host(larger(cost.host_call, left / STEPS));
    if (cost.host_call <= 0 && left > 0) cuda.now = until;
}

/* ---------------------------------------------------------------- copies and sets */

static double transfer(double start, double rate, double bytes)
{
    return start + (rate > 0 ? bytes / rate : 0);
}

/* MEMORY_... of a side of a copy. */
static int type_of(const cuda_side *s)
{
    if (s->array) return MEMORY_DEVICE;
    const cuda_alloc *a = cuda_alloc_find((uintptr_t)s->p);
    if (a) return a->type;
    return pl_device_view(cuda.gpu, (uintptr_t)s->p, 1) ? MEMORY_DEVICE : MEMORY_UNREGISTERED;
}

static const char *memory_name(const cuda_side *s, int type)
{
    static const char *const name[] = {[MEMORY_UNREGISTERED] = "pageable",
                                       [MEMORY_HOST] = "pinned",
                                       [MEMORY_DEVICE] = "device",
                                       [MEMORY_MANAGED] = "managed"};
    return s->array ? "array" : name[type];
}

/* A copy between pinned memory and the device: it has the link's rate, less while the other
 * direction is busy. */
static cuda_span pinned(cuda_stream *s, double bytes, bool up)
{
    const double start = up ? cost.to_device_start : cost.from_device_start;
    double *const unit = up ? &to_device.end : &from_device.end;
    const double other = up ? from_device.end : to_device.end;
    const double other_start = up ? from_device.start : to_device.start;
    const double at = larger(cuda_ready(s), *unit);
    double ns = transfer(start, cost.pinned_rate, bytes);
    const double shared = other - larger(at, other_start);
    if (shared > 0 && other_start <= at && cost.duplex_rate > 0) {
        const double slow = transfer(start, cost.duplex_rate, bytes);
        ns =
            slow <= shared ? slow : shared + (bytes - shared * cost.duplex_rate) / cost.pinned_rate;
    }
    const cuda_span span = cuda_timeline(s, ns, unit);
    if (up)
        to_device.start = span.start;
    else
        from_device.start = span.start;
    return span;
}

/* The host itself moves pageable memory into a buffer of the driver, and waits. */
static cuda_span pageable(cuda_stream *s, double bytes, bool up)
{
    const cuda_span span =
        up ? cuda_timeline(s, transfer(cost.pageable_to_start, cost.pageable_to_rate, bytes),
                           &to_device.end)
           : cuda_timeline(s, transfer(cost.pageable_from_start, cost.pageable_from_rate, bytes),
                           &from_device.end);
    if (!cuda.graph_launch) cuda.now = larger(cuda.now, span.end);
    cuda_self.charged = true;
    return span;
}

void cuda_clock_copy(cuda_stream *s, const cuda_copy *c)
{
    static const char *const names[] = {"HtoH", "HtoD", "DtoH", "DtoD"};
    const double bytes = (double)c->width * (double)c->height * (double)c->depth;
    const int to = type_of(&c->to), from = type_of(&c->from);
    const bool up = to == MEMORY_DEVICE, down = from == MEMORY_DEVICE;
    cuda_span span;
    read_costs();
    if (up && down) {
        host(cost.host_copy);
        span = cuda_timeline(
            s, larger(cost.copy_least, transfer(cost.copy_start, cost.copy_rate, bytes)), NULL);
    } else if (to == MEMORY_UNREGISTERED || from == MEMORY_UNREGISTERED) {
        span = pageable(s, bytes, up);
    } else {
        host(cost.host_copy);
        span = pinned(s, bytes, up);
    }
    cuda_note(&(cuda_activity){.kind = "copy",
                               .name = names[(down ? 2 : 0) + (up ? 1 : 0)],
                               .stream = s->id,
                               .span = span,
                               .bytes = (int64_t)bytes,
                               .source = memory_name(&c->from, from),
                               .destination = memory_name(&c->to, to)});
}

void cuda_clock_set(cuda_stream *s, const cuda_set *x)
{
    const double bytes = (double)x->width * x->element * (double)x->height * (double)x->depth;
    const cuda_side side = {.p = x->p};
    read_costs();
    host(cost.host_set);
    const double ns = bytes < SMALL_SET
                          ? cost.set_small
                          : larger(cost.set_least, transfer(cost.set_start, cost.set_rate, bytes));
    cuda_note(&(cuda_activity){.kind = "set",
                               .name = "set",
                               .stream = s->id,
                               .span = cuda_timeline(s, ns, NULL),
                               .bytes = (int64_t)bytes,
                               .destination = memory_name(&side, type_of(&side))});
}

/* ---------------------------------------------------------------- events and host functions */

void cuda_clock_event(cuda_stream *s)
{
    read_costs();
    host(cost.host_event);
    cuda_note(&(cuda_activity){.kind = "event",
                               .name = "event",
                               .stream = s->id,
                               .span = cuda_timeline(s, cost.event, NULL),
                               .bytes = -1});
}

void cuda_clock_host_function(cuda_stream *s)
{
    read_costs();
    const double ns = s->host_function ? cost.host_function_next : cost.host_function;
    cuda_note(&(cuda_activity){.kind = "host function",
                               .name = "host function",
                               .stream = s->id,
                               .span = cuda_timeline(s, ns, NULL),
                               .bytes = -1});
    s->host_function = true;
}

/* ---------------------------------------------------------------- kernels */

/* Whether this much of the GPU is free from then on for so long. */
static bool fits(double at, double ns, double share)
{
    /* The sum is largest where some part begins. */
    for (size_t k = 0; k <= running.n; k++) {
        const double t = k < running.n ? running.at[k].start : at;
        double sum = share;
        if (t < at || t >= at + ns) continue;
        for (size_t i = 0; i < running.n; i++)
            if (running.at[i].start <= t && running.at[i].end > t) sum += running.at[i].share;
        if (sum > 1.0001) return false;
    }
    return true;
}

/* When it can begin: the beginning is kept in the order in which kernels come. */
static double place(double at, double ns, double share)
{
    if (at >= running.latest) return at;
    at = larger(at, running.started);
    for (size_t rounds = 0; rounds <= running.n && !fits(at, ns, share); rounds++) {
        double next = running.latest; /* the earliest end behind it */
        for (size_t k = 0; k < running.n; k++)
            if (running.at[k].end > at && running.at[k].end < next) next = running.at[k].end;
        at = next;
    }
    return at;
}

static void occupy(double start, double end, double share)
{
    size_t k = 0;
    if (end <= start) return;
    if (start >= running.latest) running.n = 0;
    while (k < running.n && running.at[k].end > cuda.now) k++; /* one that has ended */
    if (k == GRIDS) {
        k = 0;
        for (size_t i = 1; i < GRIDS; i++)
            if (running.at[i].end < running.at[k].end) k = i;
    }
    if (k == running.n) running.n++;
    running.at[k].start = start;
    running.at[k].end = end;
    running.at[k].share = share;
    running.latest = larger(running.latest, end);
}

/* Without the model of time: as if every multiprocessor at work issued two instructions per cycle,
 * and a launch took 1000 cycles by itself. */
double cuda_guessed_cycles(double instructions, double blocks)
{
    enum { ISSUES = 2, ALONE = 1000 };
    read_costs();
    const double sms = blocks < cost.sms ? blocks : cost.sms;
    return ALONE + instructions / (ISSUES * (sms > 1 ? sms : 1));
}

void cuda_clock_kernel(cuda_stream *s, const cuda_launch *l, const cuda_kernel_time *t)
{
    read_costs();
    host(cost.host_launch);
    const double blocks = (double)l->grid.x * l->grid.y * l->grid.z;
    const double room = cost.sms * (t->blocks_per_sm ? t->blocks_per_sm : 1);
    const double waves = room > 0 ? blocks / room : 1, whole = (double)(uint64_t)waves;
    const double ns = (cuda.graph_launch ? cost.graph_node : cost.launch) +
                      (cost.clock > 0 ? t->cycles / cost.clock * 1e3 : 0);
    /* The last wave may leave room for other kernels. */
    const double last = waves - whole, all = whole + (last > 0 ? 1 : 0);
    const double full = all > 0 ? ns * whole / all : 0, first = whole > 0 ? 1 : last;
    const double at = place(cuda_ready(s), ns, first);
    const cuda_span span = cuda_timeline(s, ns, &(double){at});
    occupy(span.start, span.start + full, 1);
    occupy(span.start + full, span.end, last);
    running.started = larger(running.started, span.start);
    cuda_note(&(cuda_activity){.kind = "kernel",
                               .name = t->name,
                               .stream = s->id,
                               .span = span,
                               .bytes = -1,
                               .launch = true,
                               .estimated = t->estimated,
                               .spread = cost.clock > 0 ? t->spread / cost.clock * 1e3 : -1});
}

/* ---------------------------------------------------------------- graphs */

void cuda_clock_graph(cuda_stream *s, size_t roots)
{
    read_costs();
    host(cost.host_graph + (roots > 1 ? cost.host_graph_root * (double)(roots - 1) : 0));
    cuda_timeline(s, cost.graph_start, NULL);
}
