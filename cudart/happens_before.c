/* happens_before.c - under --check mem: the order in which streams allocate, access and free memory
 * of cudaMallocAsync, and the happens-before order in general.
 *
 * Operations are executed in call order. The guarantees of streams are weaker: each stream, event
 * and the host records how many operations of each stream are ordered before it (vector clocks).
 * The host's threads count as one, and the host acquires the vector clock of host functions. */
#include "cudart/activity.h"
#include "cudart/checking.h"
#include "cudart/state.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cuda_vector_clock {
    uint32_t n;
    uint32_t at[]; /* by slot: operations */
};

/* The last operation of a stream that accesses an allocation. */
typedef struct use {
    cuda_order_position at;
    char what[120];
} use;

struct cuda_ordered {
    use allocation;
    use *last; /* of each stream; owned */
    size_t n, cap;
};

static bool enabled; /* from the first such allocation or stream on */
static struct cuda_vector_clock *host_vector_clock;
static uint32_t slots, last_time;
static struct {
    uint32_t *at;
    size_t n, cap;
} free_slots; /* released slots; their times continue */

/* ---- vector clocks ---- */

static struct cuda_vector_clock *extend(struct cuda_vector_clock *k, uint32_t n)
{
    const uint32_t old_n = k ? k->n : 0;
    if (old_n >= n) return k;
    struct cuda_vector_clock *p = realloc(k, sizeof *p + n * sizeof *p->at);
    if (!p) return k;
    memset(p->at + old_n, 0, (n - old_n) * sizeof *p->at);
    p->n = n;
    return p;
}

void cuda_order_join(struct cuda_vector_clock **to, const struct cuda_vector_clock *from)
{
    if (!from || *to == from) return;
    *to = extend(*to, from->n);
    for (uint32_t k = 0; *to && k < from->n && k < (*to)->n; k++)
        if (from->at[k] > (*to)->at[k]) (*to)->at[k] = from->at[k];
}

static bool includes_op(const struct cuda_vector_clock *k, const cuda_order_position *p)
{
    return k && p->slot < k->n && k->at[p->slot] >= p->time;
}

bool cuda_order_follows(const cuda_stream *s, const cuda_order_position *p)
{
    return p->slot == s->slot || includes_op(s->clock, p);
}

bool cuda_order_host_knows(const cuda_order_position *p)
{
    return includes_op(host_vector_clock, p);
}

/* Joins all streams of a device, or those that its legacy stream waits for. */
static void join_streams(struct cuda_vector_clock **to, int device, bool all_streams)
{
    size_t at = 0;
    cuda_order_join(to, cuda.device[device].legacy.clock);
    for (const cuda_stream *s; (s = cuda_table_next(&cuda.streams, &at)) != NULL;)
        if (s->device == device && (all_streams || cuda_blocking(s))) cuda_order_join(to, s->clock);
}

/* ---- events ---- */

void cuda_order_op(cuda_stream *s)
{
    cuda_stream *legacy = &cuda.device[s->device].legacy;
    if (!enabled) return;
    if (!s->slot) s->slot = free_slots.n ? free_slots.at[--free_slots.n] : ++slots;
    cuda_order_join(&s->clock, host_vector_clock);
    if (s == legacy)
        join_streams(&s->clock, s->device, false);
    else if (cuda_blocking(s))
        cuda_order_join(&s->clock, legacy->clock);
    s->clock = extend(s->clock, s->slot + 1);
    s->previous = s->clock && s->slot < s->clock->n ? s->clock->at[s->slot] : 0;
    if (s->clock && s->slot < s->clock->n) s->clock->at[s->slot] = ++last_time;
}

void cuda_order_record(const cuda_stream *s, cuda_event *e)
{
    free(e->clock);
    e->clock = NULL;
    cuda_order_join(&e->clock, s->clock);
}

void cuda_order_wait(cuda_stream *s, const cuda_event *e)
{
    cuda_order_join(&s->clock, e->clock);
}

void cuda_order_copy_event(cuda_event *to, const cuda_event *from)
{
    cuda_order_join(&to->clock, from->clock);
}

void cuda_order_host(const cuda_stream *s)
{
    if (!enabled) return;
    if (!s)
        join_streams(&host_vector_clock, cuda_self.device, true);
    else if (s == &cuda.device[s->device].legacy)
        join_streams(&host_vector_clock, s->device, false);
    else
        cuda_order_join(&host_vector_clock, s->clock);
}

void cuda_order_value(cuda_stream *s)
{
    for (int d = 0; enabled && d < cuda.devices; d++) join_streams(&s->clock, d, true);
}

void cuda_order_host_event(const cuda_event *e)
{
    cuda_order_join(&host_vector_clock, e->clock);
}

void cuda_order_stream_ends(cuda_stream *s)
{
    if (cuda_blocking(s)) cuda_order_join(&cuda.device[s->device].legacy.clock, s->clock);
    cuda_order_release(s);
}

void cuda_order_release(cuda_stream *s)
{
    free(s->clock);
    s->clock = NULL;
    if (!s->slot) return;
    uint32_t *at = cuda_array_room(free_slots.at, free_slots.n, &free_slots.cap, sizeof *at);
    if (!at) return;
    free_slots.at = at;
    at[free_slots.n++] = s->slot;
    s->slot = 0;
}

/* ---- allocations ---- */

cuda_order_position cuda_order_now(const cuda_stream *s)
{
    cuda_order_position p = {
        .slot = s->slot, .stream = s->id, .device = s->device, .node = s->node};
    if (s->clock && s->slot < s->clock->n) p.time = s->clock->at[s->slot];
    return p;
}

static use make_use(const cuda_stream *s, const char *what)
{
    use u = {.at = cuda_order_now(s)};
    snprintf(u.what, sizeof u.what, "%s", what);
    return u;
}

static void allocation_freed(cuda_alloc *a)
{
    cuda_stream_race_freed(a->address, a->size);
    if (a->ordered) free(a->ordered->last);
    free(a->ordered);
}

void cuda_order_begin(void)
{
    if (!cuda.options.check) return;
    enabled = true;
    cuda.on_memory.freed = allocation_freed;
    cuda.on_memory.array_freed = cuda_stream_race_freed;
}

bool cuda_order_is_enabled(void)
{
    return enabled;
}

void cuda_order_allocated(uint64_t address, cuda_stream *s)
{
    cuda_alloc *a = cuda_alloc_at_address(address);
    if (!a || !cuda.options.check) return;
    cuda_order_begin();
    cuda_order_op(s);
    a->ordered = calloc(1, sizeof *a->ordered);
    if (a->ordered) a->ordered->allocation = make_use(s, "");
}

const char *cuda_order_stream_name(const cuda_order_position *p, char text[60])
{
    const char *graph = p->node ? "a graph in " : "";
    if (p->stream)
        snprintf(text, 60, "%sstream %llu", graph, (unsigned long long)p->stream);
    else if (cuda.devices > 1)
        snprintf(text, 60, "%sthe default stream of device %d", graph, p->device);
    else
        snprintf(text, 60, "%sthe default stream", graph);
    return text;
}

/* Describes an access that is not ordered after its allocation. */
static void format_unordered(const cuda_alloc *a, const cuda_stream *s, char *text, size_t size)
{
    char current[60], allocating[60];
    const cuda_order_position now = cuda_order_now(s);
    snprintf(text, size, "%s is accessed in %s, which nothing orders after the allocation in %s",
             a->site ? a->site : "device memory", cuda_order_stream_name(&now, current),
             cuda_order_stream_name(&a->ordered->allocation.at, allocating));
}

static void record_use(struct cuda_ordered *o, const cuda_stream *s, const char *what)
{
    size_t k = 0;
    while (k < o->n && o->last[k].at.slot != s->slot) k++;
    if (k == o->n) {
        use *at = cuda_array_room(o->last, o->n, &o->cap, sizeof *at);
        if (!at) return;
        o->last = at;
        o->n++;
    }
    o->last[k] = make_use(s, what);
}

static void record_access(const cuda_stream *s, const void *p)
{
    const cuda_alloc *a = cuda_alloc_find((uintptr_t)p);
    char text[600];
    if (!a || !a->ordered) return;
    record_use(a->ordered, s, cuda_self.call ? cuda_call_name() : "a copy");
    if (cuda_order_follows(s, &a->ordered->allocation.at)) return;
    format_unordered(a, s, text, sizeof text);
    cuda_checked_misuse("mem-stream", text);
}

void cuda_order_copy(const cuda_stream *s, const cuda_copy *c)
{
    if (!enabled) return;
    if (!c->to.array) record_access(s, c->to.p);
    if (!c->from.array) record_access(s, c->from.p);
}

void cuda_order_set(const cuda_stream *s, const cuda_set *x)
{
    if (enabled) record_access(s, x->p);
}

/* The host frees memory in a stream: checks that all accesses are ordered before that. */
void cuda_order_freed(uint64_t address, cuda_stream *s)
{
    const cuda_alloc *a = cuda_alloc_find(address);
    cuda_order_op(s);
    for (uint32_t k = 0; a && a->ordered && k < a->ordered->n; k++) {
        const use *u = &a->ordered->last[k];
        const cuda_order_position now = cuda_order_now(s);
        char text[600], current[60], using[60];
        if (cuda_order_follows(s, &u->at)) continue;
        snprintf(text, sizeof text,
                 "%s is freed in %s, which nothing orders after its use by %s in %s",
                 a->site ? a->site : "device memory", cuda_order_stream_name(&now, current),
                 u->what, cuda_order_stream_name(&u->at, using));
        cuda_checked_misuse("mem-stream", text);
    }
}

/* ---- launches ---- */

pl_checked_range *cuda_order_ranges(const cuda_stream *s, size_t *n)
{
    *n = 0;
    for (size_t k = 0; enabled && k < cuda.alloc.n; k++) *n += cuda.alloc.at[k].ordered != NULL;
    pl_checked_range *r = *n ? calloc(*n, sizeof *r) : NULL;
    if (!r) *n = 0;
    for (size_t k = 0, to = 0; to < *n; k++) {
        const cuda_alloc *a = &cuda.alloc.at[k];
        char text[600];
        if (!a->ordered) continue;
        r[to] = (pl_checked_range){.address = a->address, .bytes = a->size};
        if (!cuda_order_follows(s, &a->ordered->allocation.at)) {
            format_unordered(a, s, text, sizeof text);
            r[to].wrong = strdup(text);
        }
        to++;
    }
    return r;
}

void cuda_order_launched(const cuda_stream *s, pl_checked_range *r, size_t n, const char *kernel)
{
    for (size_t k = 0; k < n; k++) {
        const cuda_alloc *a = r[k].accessed ? cuda_alloc_find(r[k].address) : NULL;
        char what[120];
        snprintf(what, sizeof what, "kernel '%s'", kernel);
        if (a && a->ordered) record_use(a->ordered, s, what);
        free((char *)(uintptr_t)r[k].wrong);
    }
    free(r);
}
