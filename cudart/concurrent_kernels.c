/* concurrent_kernels.c - concurrent kernels on the multiprocessors of a device: when a kernel
 * begins, and which ones it delays.
 *
 * Kernels begin in the order in which they become ready in their streams, as soon as the GPU has
 * space for their blocks. Nodes of a graph begin in the order in which they are submitted. A kernel
 * of higher priority precedes those of lower priority that have not begun. If a kernel of lower
 * priority is running, it begins when the resident blocks of that kernel have ended, before further
 * blocks. Kernels that cannot run concurrently with it, and the operations that follow them in
 * their streams, are delayed. */
#include "cudart/activity.h"
#include "cudart/green_context.h"
#include <math.h>
#include <stdlib.h>

enum { MAX_PARTS = 128 /* recorded parts of kernels */ };

/* A share of the GPU for some time: the blocks of a kernel; the last wave may have a smaller share.
 */
typedef struct part {
    uint64_t stream;
    int priority;
    double ready;              /* end of the preceding operations of its stream */
    double kernel, start, end; /* kernel: start of the kernel */
    double share, wave;        /* wave: ns after which blocks end and others begin */
} part;

typedef struct cuda_parts {
    part at[MAX_PARTS];
    size_t n;
    double latest, started; /* end of all parts; start of the kernel that began last */
} parts;

static parts device_parts[CUDA_DEVICES];

/* Green contexts have separate SMs; kernels of other contexts on these SMs are ignored. */
static parts *parts_of(int device, cuda_green *g)
{
    if (g && !g->parts) g->parts = calloc(1, sizeof *g->parts);
    return g && g->parts ? g->parts : &device_parts[device];
}

/* True if this share of the GPU is free from that time on for `ns`. */
static bool fits(const parts *r, double at, double ns, double share)
{
    /* The sum is largest at the start of some part. */
    for (size_t k = 0; k <= r->n; k++) {
        const double t = k < r->n ? r->at[k].start : at;
        double sum = share;
        if (t < at || t >= at + ns) continue;
        for (size_t i = 0; i < r->n; i++)
            if (r->at[i].start <= t && r->at[i].end > t) sum += r->at[i].share;
        if (sum > 1.0001) return false;
    }
    return true;
}

/* Returns the earliest start: kernels start in order. */
static double earliest_start(const parts *r, double at, double ns, double share)
{
    if (at >= r->latest) return at;
    at = fmax(at, r->started);
    for (size_t rounds = 0; rounds <= r->n && !fits(r, at, ns, share); rounds++) {
        double next = r->latest; /* the earliest end after it */
        for (size_t k = 0; k < r->n; k++)
            if (r->at[k].end > at && r->at[k].end < next) next = r->at[k].end;
        at = next;
    }
    return at;
}

static void add(parts *r, const part *p)
{
    size_t k = 0;
    if (p->end <= p->start) return;
    if (cuda.now >= r->latest) r->n = 0;
    while (k < r->n && r->at[k].end > cuda.now) k++; /* one that has ended */
    if (k == MAX_PARTS) {
        k = 0;
        for (size_t i = 1; i < MAX_PARTS; i++)
            if (r->at[i].end < r->at[k].end) k = i;
    }
    if (k == r->n) r->n++;
    r->at[k] = *p;
    r->latest = fmax(r->latest, p->end);
    r->started = fmax(r->started, p->kernel);
}

/* ---------------------------------------------------------------- priorities */

/* True if a kernel precedes another that has not begun. Smaller numbers mean higher priorities. */
static bool precedes(const part *k, const part *other)
{
    return other->priority > k->priority ||
           (other->priority == k->priority && other->ready > k->ready && !cuda.graph_launch);
}

/* Returns the end of the wave of a part that is running then. */
static double wave_end(const part *p, double at)
{
    const double waves = p->wave > 0 ? ceil((at - p->start) / p->wave - 1e-6) : 0;
    const double end = waves > 0 ? p->start + waves * p->wave : at > p->start ? p->end : p->start;
    return end < p->end ? end : p->end;
}

/* Collects the parts that a kernel must wait for if it could begin then. */
static void collect_conflicts(const parts *r, const part *k, double at, parts *v)
{
    v->n = 0;
    v->latest = v->started = 0;
    for (size_t i = 0; i < r->n; i++) {
        part p = r->at[i];
        const bool takes_precedence = precedes(k, &p);
        if (takes_precedence && (p.start >= at || p.end <= at) && p.kernel >= at) continue;
        if (takes_precedence && p.priority > k->priority) {
            if (p.start >= at || p.end <= at) continue;
            p.end = wave_end(&p, at);
        } else if (!takes_precedence) {
            v->started = fmax(v->started, p.kernel);
        }
        v->at[v->n++] = p;
        v->latest = fmax(v->latest, p.end);
    }
}

/* Returns the earliest start if kernels of lower precedence yield. */
static double earliest_start_ahead(const parts *r, const part *k, double ns, double share)
{
    enum { ROUNDS = 8 };
    double t = k->ready;
    size_t others = 0;
    for (size_t i = 0; i < r->n; i++) others += precedes(k, &r->at[i]) && r->at[i].end > t;
    if (!others) return INFINITY; /* it precedes none */
    for (int round = 0; round < ROUNDS; round++) {
        parts v;
        collect_conflicts(r, k, t, &v);
        const double next = earliest_start(&v, t, ns, share);
        if (next <= t) break;
        t = next;
    }
    return t;
}

/* Delays the operations of a stream from then on. */
static void delay_stream(int device, uint64_t id, double from, double by)
{
    cuda_stream *legacy = &cuda.device[device].legacy;
    if (!id && legacy->ready > from) legacy->ready += by;
    size_t at = 0;
    for (cuda_stream *s; (s = cuda_table_next(&cuda.streams, &at)) != NULL;)
        if (s->id == id && s->ready > from) s->ready += by;
    at = 0;
    for (cuda_event *e; (e = cuda_table_next(&cuda.events, &at)) != NULL;)
        if (e->recorded && e->device == device && e->stream == id && e->time > from) e->time += by;
    cuda_delay_activities(device, id, from, by);
}

/* Delays the part, or its remainder at that time; false: none. */
static bool delay_part(parts *r, size_t k, double at, double by)
{
    part *p = &r->at[k];
    part remainder = *p;
    if (p->end <= at) return false;
    if (p->start >= at) {
        p->start += by;
        p->end += by;
        if (p->kernel >= at) p->kernel += by;
    } else {
        remainder.start = at + by;
        remainder.end += by;
        p->end = at;
        add(r, &remainder);
    }
    r->latest = fmax(r->latest, remainder.end + by);
    return true;
}

/* Returns the delay of the part because a kernel precedes it: until then there is no space for it.
 * k: the kernel without its last wave. */
static double delay_of(parts *r, size_t i, const part *k, const part *last_wave)
{
    part *p = &r->at[i];
    const double at = fmax(p->start, k->start), share = p->share;
    if (at >= last_wave->end || p->end <= k->start) return 0;
    p->share = 0; /* it does not conflict with itself */
    const bool still_fits = fits(r, at, p->end - at, share);
    p->share = share;
    if (still_fits) return 0;
    const double until = share + last_wave->share <= 1.0001 ? k->end : last_wave->end;
    return until > at ? until - at : 0;
}

static size_t earliest(const parts *r, const bool *seen, size_t n)
{
    size_t first = n;
    for (size_t i = 0; i < n; i++)
        if (!seen[i] && (first == n || r->at[i].start < r->at[first].start)) first = i;
    return first;
}

/* Delays the kernels that an added kernel precedes. */
static void delay_others(parts *r, int device, const part *k, const part *last_wave)
{
    struct {
        uint64_t stream;
        double by;
    } moved[MAX_PARTS];
    bool seen[MAX_PARTS] = {false};
    size_t n = 0;
    const size_t end = r->n;
    for (size_t i = earliest(r, seen, end); i < end; i = earliest(r, seen, end)) {
        const part p = r->at[i];
        size_t m = 0;
        seen[i] = true;
        if (p.stream == k->stream || !precedes(k, &p)) continue;
        if (p.priority == k->priority && p.kernel < k->start) continue; /* it has begun */
        while (m < n && moved[m].stream != p.stream) m++;
        if (m == n) {
            const double by = delay_of(r, i, k, last_wave);
            if (by <= 0) continue;
            moved[n].stream = p.stream;
            moved[n++].by = by;
            delay_stream(device, p.stream, fmax(p.start, k->start), by);
        }
        delay_part(r, i, k->start, moved[m].by);
    }
}

cuda_span cuda_place_kernel(cuda_stream *s, cuda_green *green, int priority, double ns,
                            double waves, double last)
{
    parts *r = parts_of(s->device, green);
    const double full_waves = floor(waves), count = full_waves + (last > 0 ? 1 : 0);
    const double full_ns = count > 0 ? ns * full_waves / count : 0,
                 first_share = full_waves > 0 ? 1 : last;
    part p = {.stream = s->id, .priority = priority, .ready = cuda_ready(s), .share = 1};
    const double in_order = earliest_start(r, p.ready, ns, first_share),
                 ahead = earliest_start_ahead(r, &p, ns, first_share);
    double at = ahead < in_order ? ahead : in_order;
    const cuda_span span = cuda_timeline(s, ns, &at);
    p.kernel = p.start = span.start;
    p.end = span.start + full_ns;
    p.wave = full_waves > 0 ? full_ns / full_waves : 0;
    part last_wave = p;
    last_wave.start = p.end;
    last_wave.end = span.end;
    last_wave.share = last;
    last_wave.wave = 0;
    add(r, &p);
    add(r, &last_wave);
    if (ahead < in_order) delay_others(r, s->device, &p, &last_wave);
    return span;
}
