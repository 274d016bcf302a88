/* clock.c - the application's clock: host time of calls, and durations of stream operations, from
 * the keys of [device] in the machine description.
 *
 * The host continues when a call has returned. An operation begins when the host has enqueued it,
 * the preceding operations of its stream have ended, and the units that it requires are free.
 * Copies in one direction are serialised. Kernels run concurrently as far as the GPU has space for
 * their blocks (concurrent_kernels.c). All times are computed when an operation is enqueued, except
 * for kernels that are delayed by kernels of higher priority. */
#include "cudart/activity.h"
#include "cudart/clock.h"
#include "cudart/green_context.h"
#include <math.h>

/* In ns, and in bytes per ns (GB/s). */
static struct {
    bool read;
#define DEVICE_TIME(name, unit) double name;
#include "cudart/clock_keys.def"
#undef DEVICE_TIME
    double clock;
    double dram_width, l2_size; /* bytes per cycle; bytes */
    double fault_batch;
} cost;

enum { MIN_KERNEL_SET = 1 << 14 /* bytes of a memset from which on it uses a kernel */ };

/* Copies in one direction: the latest one. */
typedef struct direction {
    double start, end;
} direction;

/* Units shared by the streams of a device. */
static struct {
    direction to_device, from_device;
    direction outgoing, incoming; /* copies to and from other devices */
} units[CUDA_DEVICES];

static void read_value(const char *key, const char *unit, double *to)
{
    *to = 0;
    pl_gpu_value(cuda.device[0].gpu, key, unit, to);
}

static void read_costs(void)
{
    if (cost.read) return;
    cost.read = true;
#define DEVICE_TIME(name, unit) read_value("device." #name, unit, &cost.name);
#include "cudart/clock_keys.def"
#undef DEVICE_TIME
    read_value("machine.clock", "MHz", &cost.clock);
    read_value("dram.width", "B/cycle", &cost.dram_width);
    read_value("l2.size", "B", &cost.l2_size);
    read_value("page_faults.batch", "ns", &cost.fault_batch);
}

/* ---------------------------------------------------------------- the host */

/* Within a graph the host has no work; for operations of a blocked stream that execute late, the
 * host time has been counted. */
static bool host_time_excluded(void)
{
    return cuda.graph_launch || cuda_self.deferred;
}

static void charge_host(double ns)
{
    if (host_time_excluded()) return;
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
    charge_host(release ? cost.host_free : cost.host_alloc);
}

void cuda_clock_fault(void)
{
    const double own = cuda_host_time() - cuda.fault_host_time;
    if (cuda.fault && (cuda.now >= cuda.fault_time || own >= cost.error_report)) cuda_show_fault();
}

void cuda_set_fault(cuda_stream *s, int error)
{
    read_costs();
    if (cuda.fault) return;
    cuda.fault = error;
    cuda.fault_host_time = cuda_host_time();
    cuda.fault_time = fmax(s->ready, cuda.now) + cost.error_report;
    s->ready = cuda.fault_time;
}

void cuda_clock_wait(double until)
{
    read_costs();
    if (until > cuda.now) cuda.now = until + cost.host_wait;
    cuda_clock_fault();
}

static double enqueued; /* ns of the program's own time at the latest operation */

void cuda_clock_enqueued(void)
{
    enqueued = cuda_host_time();
}

/* Time of the program itself does not count, except that work which it has left alone for that long
 * has ended. */
bool cuda_clock_poll(double until)
{
    const double own = cuda_host_time() - enqueued, least = 1e6;
    if (own >= least && own >= until - cuda.now && until > cuda.now) cuda.now = until;
    enum { STEPS = 10000 };
    read_costs();
    const double remaining = until - cuda.now;
    charge_host(fmax(cost.host_call, remaining / STEPS));
    if (cost.host_call <= 0 && remaining > 0) cuda.now = until;
    cuda_clock_fault();
    return remaining <= cost.host_call; /* it polls once that time has been reached */
}

/* ---------------------------------------------------------------- copies and sets */

static double transfer_ns(double start, double rate, double bytes)
{
    return start + (rate > 0 ? bytes / rate : 0);
}

/* Duration with a different rate up to some size. */
static double ramped_ns(double start, double ramp_rate, double rate, double bytes)
{
    const double slow = bytes < cost.migrate_ramp ? bytes : cost.migrate_ramp;
    if (bytes <= 0 || slow <= 0) return 0;
    return transfer_ns(transfer_ns(start, ramp_rate, slow), rate, bytes - slow);
}

/* Duration of page faults: accesses of a device to managed memory located elsewhere. */
static double fault_ns(const cuda_migrated *m)
{
    const double start = m->written + m->fresh > 0 ? cost.fault_start : 0;
    const double bytes = ramped_ns(0, cost.fault_ramp_rate, cost.fault_rate, m->written) +
                         ramped_ns(0, cost.fault_new_ramp_rate, cost.fault_new_rate, m->fresh);
    return fmax(start + bytes, cost.fault_start * m->blocks) +
           ramped_ns(0, cost.prefetch_host_ramp_rate, cost.prefetch_host_rate, m->evicted);
}

bool cuda_models_page_faults(void)
{
    read_costs();
    return cost.fault_batch > 0;
}

double cuda_page_fault_cycles(const cuda_migrated *m)
{
    read_costs();
    return fault_ns(m) * cost.clock / 1e3;
}

/* Returns the memory type (MEMORY_...) of a side of a copy. */
static int type_of(const cuda_side *s)
{
    if (s->array) return MEMORY_DEVICE;
    const cuda_alloc *a = cuda_alloc_find((uintptr_t)s->p);
    if (a) return a->type;
    return cuda_view((uintptr_t)s->p, 1, NULL) ? MEMORY_DEVICE : MEMORY_UNREGISTERED;
}

bool cuda_is_pageable(const cuda_side *s)
{
    return type_of(s) == MEMORY_UNREGISTERED;
}

static const char *memory_name(const cuda_side *s, int type)
{
    static const char *const name[] = {[MEMORY_UNREGISTERED] = "pageable",
                                       [MEMORY_HOST] = "pinned",
                                       [MEMORY_DEVICE] = "device",
                                       [MEMORY_MANAGED] = "managed"};
    return s->array ? "array" : name[type];
}

/* Returns the duration of a copy that begins at this time. It runs at the single rate, and at the
 * duplex rate while the other direction is busy. */
static double shared_link_ns(double at, const direction *other, double start, double single_rate,
                             double duplex_rate, double bytes)
{
    const double overlap = other->end - fmax(at, other->start);
    if (overlap <= 0 || other->start > at || duplex_rate <= 0)
        return transfer_ns(start, single_rate, bytes);
    const double slow = transfer_ns(start, duplex_rate, bytes);
    return slow <= overlap ? slow : overlap + (bytes - overlap * duplex_rate) / single_rate;
}

/* A copy between pinned memory and the device. */
static cuda_span pinned_copy(cuda_stream *s, double bytes, bool up)
{
    const double start = up ? cost.to_device_start : cost.from_device_start;
    direction *const to = &units[s->device].to_device, *const from = &units[s->device].from_device;
    double *const unit = up ? &to->end : &from->end;
    const double ns = shared_link_ns(fmax(cuda_ready(s), *unit), up ? from : to, start,
                                     cost.pinned_rate, cost.duplex_rate, bytes);
    const cuda_span span = cuda_timeline(s, ns, unit);
    if (up)
        to->start = span.start;
    else
        from->start = span.start;
    return span;
}

/* The host itself copies pageable memory into a buffer of the driver, and waits. */
static cuda_span pageable_copy(cuda_stream *s, double bytes, bool up)
{
    const cuda_span span =
        up ? cuda_timeline(s, transfer_ns(cost.pageable_to_start, cost.pageable_to_rate, bytes),
                           &units[s->device].to_device.end)
           : cuda_timeline(s, transfer_ns(cost.pageable_from_start, cost.pageable_from_rate, bytes),
                           &units[s->device].from_device.end);
    if (!host_time_excluded()) cuda.now = fmax(cuda.now, span.end);
    cuda_self.charged = true;
    return span;
}

/* Returns the device that owns the memory of a side. */
static int device_of(const cuda_side *s)
{
    int device = 0;
    if (s->array) return s->array->device;
    const cuda_alloc *a = cuda_alloc_find((uintptr_t)s->p);
    if (a) return a->device;
    cuda_view((uintptr_t)s->p, 1, &device);
    return device;
}

/* A copy between devices: over their link if one has peer access to the other, else through host
 * buffers. Copies out of a device are serialised, and so are those into one. */
static cuda_span peer_copy(cuda_stream *s, double bytes, int to, int from)
{
    const bool direct = cuda.device[to].peers >> from & 1 || cuda.device[from].peers >> to & 1;
    direction *const out = &units[from].outgoing, *const in = &units[to].incoming;
    double at = fmax(cuda_ready(s), fmax(out->end, in->end));
    const double ns = direct ? transfer_ns(cost.peer_start, cost.peer_rate, bytes)
                             : shared_link_ns(at, &units[to].outgoing, cost.staged_start,
                                              cost.staged_rate, cost.staged_duplex_rate, bytes);
    const cuda_span span = cuda_timeline(s, ns, &at);
    *out = *in = (direction){span.start, span.end};
    return span;
}

void cuda_clock_peer(void)
{
    read_costs();
    charge_host(cost.host_peer);
}

/* Migrates managed memory for a copy within a device; returns the time that this takes. */
static double migrate(const cuda_stream *s, const cuda_side *x, int type, double bytes)
{
    if (type != MEMORY_MANAGED) return 0;
    const cuda_migrated m = cuda_migrate_pages(x->p, (uint64_t)bytes, s->device);
    return fault_ns(&m);
}

/* A copy within the memory of a device, some of it managed. */
static cuda_span device_copy(cuda_stream *s, const cuda_copy *c, int to, int from, double bytes)
{
    const double moved = migrate(s, &c->from, from, bytes) + migrate(s, &c->to, to, bytes);
    return cuda_timeline(
        s, moved + fmax(cost.copy_min, transfer_ns(cost.copy_start, cost.copy_rate, bytes)), NULL);
}

static bool is_device_memory(int type)
{
    return type == MEMORY_DEVICE || type == MEMORY_MANAGED;
}

void cuda_clock_copy(cuda_stream *s, const cuda_copy *c)
{
    static const char *const names[] = {"HtoH", "HtoD", "DtoH", "DtoD"};
    const int from_device = device_of(&c->from), to_device = device_of(&c->to);
    const double bytes = (double)c->width * (double)c->height * (double)c->depth;
    const int to = type_of(&c->to), from = type_of(&c->from);
    const bool within = is_device_memory(to) && is_device_memory(from),
               peers = to == MEMORY_DEVICE && from == MEMORY_DEVICE && from_device != to_device,
               up = within || to == MEMORY_DEVICE, down = within || from == MEMORY_DEVICE;
    cuda_span span;
    read_costs();
    if (within) {
        charge_host(cost.host_copy);
        span = peers ? peer_copy(s, bytes, to_device, from_device)
                     : device_copy(s, c, to, from, bytes);
    } else if (to == MEMORY_UNREGISTERED || from == MEMORY_UNREGISTERED) {
        span = pageable_copy(s, bytes, up);
    } else {
        charge_host(cost.host_copy);
        span = pinned_copy(s, bytes, up);
    }
    cuda_record_activity(
        &(cuda_activity){.kind = "copy",
                         .name = peers ? "PtoP" : names[(down ? 2 : 0) + (up ? 1 : 0)],
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
    charge_host(cost.host_set);
    const double own = bytes < MIN_KERNEL_SET
                           ? cost.set_small
                           : fmax(cost.set_min, transfer_ns(cost.set_start, cost.set_rate, bytes));
    const double ns = own + migrate(s, &side, type_of(&side), bytes);
    cuda_record_activity(&(cuda_activity){.kind = "set",
                                          .name = "set",
                                          .stream = s->id,
                                          .span = cuda_timeline(s, ns, NULL),
                                          .bytes = (int64_t)bytes,
                                          .destination = memory_name(&side, type_of(&side))});
    if (bytes >= MIN_KERNEL_SET)
        pl_gpu_touch(cuda_current_device()->gpu, (uintptr_t)x->p, (uint64_t)bytes);
}

void cuda_clock_prefetch(cuda_stream *s, const void *p, uint64_t bytes, int device)
{
    cuda_detect_host_writes(p);
    const cuda_migrated m = cuda_migrate_pages(p, bytes, device);
    cuda_record_checksums(p);
    const bool down = device < 0;
    double ns = 0;
    read_costs();
    charge_host(cost.host_prefetch);
    if (down)
        ns = ramped_ns(cost.prefetch_host_start, cost.prefetch_host_ramp_rate,
                       cost.prefetch_host_rate, m.written);
    else if (m.written > 0)
        ns = transfer_ns(cost.prefetch_start, cost.prefetch_rate, m.written);
    if (!down)
        ns += ramped_ns(m.written > 0 ? 0 : cost.prefetch_new_start, cost.prefetch_new_ramp_rate,
                        cost.prefetch_new_rate, m.fresh) +
              ramped_ns(0, cost.prefetch_host_ramp_rate, cost.prefetch_host_rate, m.evicted);
    if (m.written + m.fresh <= 0) return;
    direction *const unit = down ? &units[s->device].from_device : &units[s->device].to_device;
    cuda_record_activity(&(cuda_activity){.kind = "copy",
                                          .name = down ? "DtoH" : "HtoD",
                                          .stream = s->id,
                                          .span = cuda_timeline(s, ns, &unit->end),
                                          .bytes = (int64_t)(m.written + m.fresh),
                                          .source = "managed",
                                          .destination = "managed"});
}

/* ---------------------------------------------------------------- events and host functions */

void cuda_clock_event(cuda_stream *s)
{
    read_costs();
    charge_host(cost.host_event);
    cuda_record_activity(&(cuda_activity){.kind = "event",
                                          .name = "event",
                                          .stream = s->id,
                                          .span = cuda_timeline(s, cost.event, NULL),
                                          .bytes = -1});
}

void cuda_clock_host_function(cuda_stream *s)
{
    read_costs();
    const double ns = s->host_function ? cost.host_function_next : cost.host_function;
    cuda_record_activity(&(cuda_activity){.kind = "host function",
                                          .name = "host function",
                                          .stream = s->id,
                                          .span = cuda_timeline(s, ns, NULL),
                                          .bytes = -1});
    s->host_function = true;
}

void cuda_clock_deferred(const cuda_op *op)
{
    read_costs();
    switch (op->kind) {
    case OP_KERNEL: charge_host(cost.host_launch); break;
    case OP_COPY: charge_host(cost.host_copy); break;
    case OP_SET:
    case OP_MEMORY: charge_host(cost.host_set); break;
    case OP_RECORD: charge_host(cost.host_event); break;
    case OP_GRAPH: charge_host(cost.host_graph); break;
    default: break;
    }
}

/* ---------------------------------------------------------------- kernels */

double cuda_dram_cycles(double requested, double memory)
{
    read_costs();
    return memory > cost.l2_size && cost.dram_width > 0 ? fmin(requested, memory) / cost.dram_width
                                                        : 0;
}

/* Without the timing model: every busy multiprocessor issues two instructions per cycle, but no
 * fewer cycles than the longest warp has counted, and than the DRAM takes. A launch takes 1000
 * cycles in addition. */
double cuda_estimated_cycles(double instructions, double blocks, double sms, double longest_warp,
                             double dram_cycles)
{
    enum { ISSUE_RATE = 2, LAUNCH_CYCLES = 1000 };
    const double busy_sms = blocks < sms ? blocks : sms,
                 issue_cycles = instructions / (ISSUE_RATE * (busy_sms > 1 ? busy_sms : 1));
    return LAUNCH_CYCLES + fmax(fmax(issue_cycles, longest_warp), dram_cycles);
}

double cuda_clock_kernel_start(const cuda_stream *s)
{
    read_costs();
    const double own = host_time_excluded() ? 0 : cost.host_launch;
    const double at = fmax(cuda_ready(s), cuda.now + own);
    return at + (cuda.graph_launch ? cost.graph_node : cost.launch);
}

void cuda_clock_kernel(cuda_stream *s, const cuda_launch *l, const cuda_kernel_time *t)
{
    read_costs();
    charge_host(cost.host_launch);
    const double blocks = (double)l->grid.x * l->grid.y * l->grid.z;
    const double resident_blocks =
        cuda_green_sms(l->green) * (double)(t->blocks_per_sm ? t->blocks_per_sm : 1);
    const double waves = resident_blocks > 0 ? blocks / resident_blocks : 1,
                 full_waves = (double)(uint64_t)waves;
    const double ns = (cuda.graph_launch ? cost.graph_node : cost.launch) +
                      (cost.clock > 0 ? (t->cycles + t->page_fault_cycles) / cost.clock * 1e3 : 0) +
                      (t->modelled ? cost.kernel_end : 0) + fault_ns(&t->moved);
    cuda_span span = {t->began, fmax(t->began + ns, t->released)};
    if (t->began > 0) /* it has waited, beside other kernels */
        s->ready = fmax(s->ready, span.end);
    else /* the last wave may leave space for other kernels */
        span = cuda_place_kernel(s, l->green, l->prioritised ? l->priority : s->priority, ns, waves,
                                 waves - full_waves);
    cuda_record_activity(
        &(cuda_activity){.kind = "kernel",
                         .name = t->name,
                         .stream = s->id,
                         .span = span,
                         .bytes = -1,
                         .launch = !t->unrecorded,
                         .estimated = t->estimated,
                         .spread = cost.clock > 0 ? t->spread / cost.clock * 1e3 : -1});
}

/* ---------------------------------------------------------------- graphs */

void cuda_clock_graph(cuda_stream *s, size_t roots)
{
    read_costs();
    charge_host(cost.host_graph + (roots > 1 ? cost.host_graph_root * (double)(roots - 1) : 0));
    cuda_timeline(s, cost.graph_start, NULL);
}
