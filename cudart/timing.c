/* timing.c - which launches run with the timing model (--timing), and how long the others take:
 * as long as timed launches of the same kernel and shape took on average. */
#include "cudart/activity.h"
#include "cudart/clock.h"
#include "cudart/green_context.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Timed launches of a kernel with one shape. */
typedef struct cuda_timed_shape {
    struct cuda_timed_shape *next;
    cuda_launch shape;
    double n, mean, squares; /* of cycles; squares: sum of squared deviations from the mean */
    double instructions;     /* their mean */
} cuda_timed_shape;

/* A launch matches others if its instruction count differs by at most this fraction. */
#define INSTRUCTION_TOLERANCE 0.1

static double spent_seconds; /* seconds spent on timed launches */

static bool same_shape(const cuda_launch *a, const cuda_launch *b)
{
    return memcmp(&a->grid, &b->grid, sizeof a->grid) == 0 &&
           memcmp(&a->block, &b->block, sizeof a->block) == 0 &&
           memcmp(a->cluster, b->cluster, sizeof a->cluster) == 0 && a->shared == b->shared &&
           a->green == b->green;
}

static cuda_timed_shape *timed_shape_of(const cuda_function *f, const cuda_launch *l)
{
    cuda_timed_shape *k = f->timed_shapes;
    while (k && !same_shape(&k->shape, l)) k = k->next;
    return k;
}

double cuda_timed_seconds(void)
{
    const cuda_options *o = &cuda.options;
    return o->timing == CUDA_TIME_BUDGET ? o->timing_limit - spent_seconds : 0;
}

bool cuda_timed(const cuda_function *f, const cuda_launch *l)
{
    const cuda_options *o = &cuda.options;
    if (o->mode != PL_MODE_TIMING) return false;
    if (o->timing == CUDA_TIME_BUDGET) return spent_seconds < o->timing_limit;
    const cuda_timed_shape *k = o->timing == CUDA_TIME_FIRST ? timed_shape_of(f, l) : NULL;
    return !k || k->n < o->timing_limit;
}

static void record_timed(cuda_function *f, const cuda_launch *l, double cycles, double instructions)
{
    cuda_timed_shape *k = timed_shape_of(f, l);
    if (!k && !(k = calloc(1, sizeof *k))) return; /* the launch is then not used for estimates */
    if (k->n == 0) {
        k->shape = *l;
        k->next = f->timed_shapes;
        f->timed_shapes = k;
    }
    const double deviation = cycles - k->mean;
    k->n++;
    k->mean += deviation / k->n;
    k->squares += deviation * (cycles - k->mean);
    k->instructions += (instructions - k->instructions) / k->n;
}

/* Estimates from non-matching launches of the kernel: cycles proportional to instructions. */
static double estimate_by_instructions(const cuda_function *f, double instructions)
{
    double cycles = 0, instruction_sum = 0;
    for (const cuda_timed_shape *k = f->timed_shapes; k; k = k->next) {
        cycles += k->n * k->mean;
        instruction_sum += k->n * k->instructions;
    }
    return instruction_sum > 0 ? cycles / instruction_sum * instructions : 0;
}

/* Returns the bytes of the allocations in device memory to which parameters point. */
static uint64_t pointed_bytes(const void *params, uint32_t bytes)
{
    enum { MAX_POINTERS = 64 };
    const cuda_alloc *seen[MAX_POINTERS];
    uint64_t sum = 0, at = 0;
    size_t n = 0;
    for (const cuda_alloc *a;
         n < MAX_POINTERS && (a = cuda_next_parameter_alloc(params, bytes, &at)) != NULL;) {
        bool counted = !cuda_in_window(a->address);
        for (size_t k = 0; k < n; k++) counted |= seen[k] == a;
        if (counted) continue;
        seen[n++] = a;
        sum += a->size;
    }
    return sum;
}

static double dram_cycles_of(const cuda_function *f, double instructions, const void *params)
{
    if (f->traffic <= 0) return 0;
    return cuda_dram_cycles(f->traffic * instructions,
                            (double)pointed_bytes(params, f->info.param_bytes));
}

cuda_kernel_time cuda_time_of(cuda_function *f, const cuda_launch *l, const pl_result *r,
                              uint64_t cycles, const void *params)
{
    cuda_kernel_time t = {.name = cuda_shown_name(f), .cycles = (double)cycles, .spread = -1};
    if (r->npc && r->inst_executed) f->traffic = (double)r->global_bytes / (double)r->inst_executed;
    if (cycles) {
        spent_seconds += r->wall_seconds;
        if (r->status == PL_OK) record_timed(f, l, t.cycles, (double)r->inst_executed);
        t.estimated = r->timed_blocks > 0;
        t.modelled = true;
        return t;
    }
    const cuda_timed_shape *k = timed_shape_of(f, l);
    t.estimated = true;
    const double executed = (double)r->inst_executed;
    const bool matches =
        k && fabs(executed - k->instructions) <= INSTRUCTION_TOLERANCE * k->instructions;
    t.cycles = matches ? k->mean : estimate_by_instructions(f, executed);
    t.modelled = t.cycles > 0;
    if (t.modelled) t.cycles = fmax(t.cycles, (double)r->longest_warp);
    if (matches && k->n > 1) t.spread = sqrt(k->squares / (k->n - 1));
    if (t.cycles <= 0)
        t.cycles = cuda_estimated_cycles(executed, (double)l->grid.x * l->grid.y * l->grid.z,
                                         cuda_green_sms(l->green), (double)r->longest_warp,
                                         dram_cycles_of(f, executed, params));
    return t;
}

void cuda_timed_shapes_free(cuda_function *f)
{
    while (f->timed_shapes) {
        cuda_timed_shape *next = f->timed_shapes->next;
        free(f->timed_shapes);
        f->timed_shapes = next;
    }
}
