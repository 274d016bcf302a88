/* resident.c - concurrent kernels on the multiprocessors of a device: when a kernel begins, and
 * which ones it delays.
 *
 * Kernels begin in the order in which their streams come to them, as soon as the GPU has room for
 * their blocks; nodes of a graph in the order in which they are put there. One of higher priority
 * goes before those of lower priority that have not begun. Where one of them runs, it begins when
 * the blocks that run have ended, before further blocks. The kernels that have no room beside it,
 * and what stands behind them in their streams, are moved behind it. */
#include "cudart/green.h"
#include <math.h>
#include <stdlib.h>

enum { PARTS = 128 /* recorded parts of kernels */ };

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
    part at[PARTS];
    size_t n;
    double latest, started; /* end of all parts; start of the kernel that began last */
} parts;

static parts all[CUDA_DEVICES];

/* Green contexts have SMs of their own; kernels elsewhere on these do not count. */
static parts *parts_of(int device, cuda_green *g)
{
    if (g && !g->parts) g->parts = calloc(1, sizeof *g->parts);
    return g && g->parts ? g->parts : &all[device];
}

/* Whether this much of the GPU is free from then on for so long. */
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
static double place(const parts *r, double at, double ns, double share)
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
    if (k == PARTS) {
        k = 0;
        for (size_t i = 1; i < PARTS; i++)
            if (r->at[i].end < r->at[k].end) k = i;
    }
    if (k == r->n) r->n++;
    r->at[k] = *p;
    r->latest = fmax(r->latest, p->end);
    r->started = fmax(r->started, p->kernel);
}

/* ---------------------------------------------------------------- priorities */

/* True if a kernel precedes another that has not begun. Smaller numbers mean higher priorities. */
static bool goes_first(const part *k, const part *other)
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
static void view_of(const parts *r, const part *k, double at, parts *v)
{
    v->n = 0;
    v->latest = v->started = 0;
    for (size_t i = 0; i < r->n; i++) {
        part p = r->at[i];
        const bool first = goes_first(k, &p);
        if (first && (p.start >= at || p.end <= at) && p.kernel >= at) continue;
        if (first && p.priority > k->priority) {
            if (p.start >= at || p.end <= at) continue;
            p.end = wave_end(&p, at);
        } else if (!first) {
            v->started = fmax(v->started, p.kernel);
        }
        v->at[v->n++] = p;
        v->latest = fmax(v->latest, p.end);
    }
}

/* Returns the earliest start if kernels of lower precedence yield. */
static double place_first(const parts *r, const part *k, double ns, double share)
{
    enum { ROUNDS = 8 };
    double t = k->ready;
    size_t others = 0;
    for (size_t i = 0; i < r->n; i++) others += goes_first(k, &r->at[i]) && r->at[i].end > t;
    if (!others) return INFINITY; /* it precedes none */
    for (int round = 0; round < ROUNDS; round++) {
        parts v;
        view_of(r, k, t, &v);
        const double next = place(&v, t, ns, share);
        if (next <= t) break;
        t = next;
    }
    return t;
}

/* Delays the operations of a stream from then on. */
static void move(int device, uint64_t id, double from, double by)
{
    cuda_stream *legacy = &cuda.device[device].legacy;
    if (!id && legacy->ready > from) legacy->ready += by;
    for (size_t k = 0; k < cuda.streams.cap; k++) {
        const struct cuda_slot *slot = &cuda.streams.slot[k];
        cuda_stream *s = slot->key ? cuda_table_get(&cuda.streams, (void *)slot->key) : NULL;
        if (s && s->id == id && s->ready > from) s->ready += by;
    }
    for (size_t k = 0; k < cuda.events.cap; k++) {
        const struct cuda_slot *slot = &cuda.events.slot[k];
        cuda_event *e = slot->key ? cuda_table_get(&cuda.events, (void *)slot->key) : NULL;
        if (e && e->recorded && e->device == device && e->stream == id && e->time > from)
            e->time += by;
    }
    cuda_note_moved(device, id, from, by);
}

/* Delays the part, or its remainder at that time; false: none. */
static bool hold_up(parts *r, size_t k, double at, double by)
{
    part *p = &r->at[k];
    part rest = *p;
    if (p->end <= at) return false;
    if (p->start >= at) {
        p->start += by;
        p->end += by;
        if (p->kernel >= at) p->kernel += by;
    } else {
        rest.start = at + by;
        rest.end += by;
        p->end = at;
        add(r, &rest);
    }
    r->latest = fmax(r->latest, rest.end + by);
    return true;
}

/* Returns the delay of the part because a kernel precedes it: until then there is no space for it.
 * k: the kernel without its last wave; rest: the last wave. */
static double held_up_by(parts *r, size_t i, const part *k, const part *rest)
{
    part *p = &r->at[i];
    const double at = fmax(p->start, k->start), share = p->share;
    if (at >= rest->end || p->end <= k->start) return 0;
    p->share = 0; /* it does not conflict with itself */
    const bool room = fits(r, at, p->end - at, share);
    p->share = share;
    if (room) return 0;
    const double until = share + rest->share <= 1.0001 ? k->end : rest->end;
    return until > at ? until - at : 0;
}

static size_t earliest(const parts *r, const bool *seen, size_t n)
{
    size_t first = n;
    for (size_t i = 0; i < n; i++)
        if (!seen[i] && (first == n || r->at[i].start < r->at[first].start)) first = i;
    return first;
}

/* A kernel, which has been added, has gone before others. */
static void hold_up_others(parts *r, int device, const part *k, const part *rest)
{
    struct {
        uint64_t stream;
        double by;
    } moved[PARTS];
    bool seen[PARTS] = {false};
    size_t n = 0;
    const size_t end = r->n;
    for (size_t i = earliest(r, seen, end); i < end; i = earliest(r, seen, end)) {
        const part p = r->at[i];
        size_t m = 0;
        seen[i] = true;
        if (p.stream == k->stream || !goes_first(k, &p)) continue;
        if (p.priority == k->priority && p.kernel < k->start) continue; /* it has begun */
        while (m < n && moved[m].stream != p.stream) m++;
        if (m == n) {
            const double by = held_up_by(r, i, k, rest);
            if (by <= 0) continue;
            moved[n].stream = p.stream;
            moved[n++].by = by;
            move(device, p.stream, fmax(p.start, k->start), by);
        }
        hold_up(r, i, k->start, moved[m].by);
    }
}

cuda_span cuda_place_kernel(cuda_stream *s, cuda_green *green, int priority, double ns,
                            double waves, double last)
{
    parts *r = parts_of(s->device, green);
    const double whole = floor(waves), count = whole + (last > 0 ? 1 : 0);
    const double full = count > 0 ? ns * whole / count : 0, first = whole > 0 ? 1 : last;
    part p = {.stream = s->id, .priority = priority, .ready = cuda_ready(s), .share = 1};
    const double normal = place(r, p.ready, ns, first), ahead = place_first(r, &p, ns, first);
    double at = ahead < normal ? ahead : normal;
    const cuda_span span = cuda_timeline(s, ns, &at);
    p.kernel = p.start = span.start;
    p.end = span.start + full;
    p.wave = whole > 0 ? full / whole : 0;
    part rest = p;
    rest.start = p.end;
    rest.end = span.end;
    rest.share = last;
    rest.wave = 0;
    add(r, &p);
    add(r, &rest);
    if (ahead < normal) hold_up_others(r, s->device, &p, &rest);
    return span;
}
