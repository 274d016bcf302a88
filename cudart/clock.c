/* clock.c - the application's clock: how long what is put into streams takes, from the keys of
 * [device] in the machine's description.
 *
 * Copies of one direction follow each other, as do kernels that fill the GPU; all else overlaps as
 * the streams allow. */
#include "cudart/state.h"
#include <string.h>

/* In ns, and in bytes a ns (GB/s). */
static struct {
    bool read;
    double launch, event, pinned_start, pinned_rate, pageable_start, pageable_rate, copy_start,
        copy_rate, set_start, set_rate, clock, sms;
} cost;

/* When the units are free again. */
static double to_device, from_device, kernels;

static void value(const char *key, const char *unit, double *to)
{
    *to = 0;
    pl_gpu_value(cuda.gpu, key, unit, to);
}

static void read_costs(void)
{
    if (cost.read) return;
    cost.read = true;
    value("device.launch", "ns", &cost.launch);
    value("device.event", "ns", &cost.event);
    value("device.pinned_start", "ns", &cost.pinned_start);
    value("device.pinned_rate", "GB/s", &cost.pinned_rate);
    value("device.pageable_start", "ns", &cost.pageable_start);
    value("device.pageable_rate", "GB/s", &cost.pageable_rate);
    value("device.copy_start", "ns", &cost.copy_start);
    value("device.copy_rate", "GB/s", &cost.copy_rate);
    value("device.set_start", "ns", &cost.set_start);
    value("device.set_rate", "GB/s", &cost.set_rate);
    value("machine.clock", "MHz", &cost.clock);
    value("sm.count", "", &cost.sms);
}

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

void cuda_clock_copy(cuda_stream *s, const cuda_copy *c)
{
    const double bytes = (double)c->width * (double)c->height * (double)c->depth;
    const int to = type_of(&c->to), from = type_of(&c->from);
    read_costs();
    if (to == MEMORY_DEVICE && from == MEMORY_DEVICE) {
        cuda_timeline(s, transfer(cost.copy_start, cost.copy_rate, bytes), NULL);
        return;
    }
    const bool pageable = to == MEMORY_UNREGISTERED || from == MEMORY_UNREGISTERED;
    cuda_timeline(s,
                  pageable ? transfer(cost.pageable_start, cost.pageable_rate, bytes)
                           : transfer(cost.pinned_start, cost.pinned_rate, bytes),
                  to == MEMORY_DEVICE ? &to_device : &from_device);
}

void cuda_clock_set(cuda_stream *s, const cuda_set *x)
{
    const double bytes = (double)x->width * x->element * (double)x->height * (double)x->depth;
    read_costs();
    cuda_timeline(s, transfer(cost.set_start, cost.set_rate, bytes), NULL);
}

void cuda_clock_event(cuda_stream *s)
{
    read_costs();
    cuda_timeline(s, cost.event, NULL);
}

/* Without the model of time: as if every multiprocessor at work issued two instructions a cycle,
 * and a launch took 2000 cycles by itself. */
static double guessed_cycles(const pl_result *r, double blocks)
{
    enum { ISSUES = 2, ALONE = 2000 };
    const double sms = blocks < cost.sms ? blocks : cost.sms;
    return ALONE + (double)r->inst_executed / (ISSUES * (sms > 1 ? sms : 1));
}

void cuda_clock_kernel(cuda_stream *s, const cuda_launch *l, const pl_result *r)
{
    read_costs();
    const double blocks = (double)l->grid.x * l->grid.y * l->grid.z;
    const double cycles = r->cycles ? (double)r->cycles : guessed_cycles(r, blocks);
    cuda_timeline(s, cost.launch + (cost.clock > 0 ? cycles / cost.clock * 1e3 : 0),
                  2 * blocks > cost.sms ? &kernels : NULL);
}
