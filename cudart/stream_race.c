/* stream_race.c - under --check race: unordered accesses of kernels, copies and sets in different
 * streams to the same bytes.
 *
 * The accessed byte ranges of an operation are retained until the host knows that it has ended.
 * They cover allocations, arrays and variables. Two kernels that both access some bytes by atomic,
 * volatile or relaxed operations may synchronise by these, so no race between the two is reported.
 */
#include "cudart/activity.h"
#include "cudart/checking.h"
#include "cudart/state.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_OPERATIONS = 256, /* maximum retained operations */
    MAX_RANGES = 1 << 22, /* byte ranges of all retained operations */
    MAX_POSITIONS = 64    /* named instructions per kernel */
};

/* A kernel, copy or set: its accesses, and the source positions of its instructions. */
typedef struct operation {
    cuda_order_position at;
    char what[120];
    pl_checked_touch *touch;
    size_t n;
    struct position {
        uint32_t pc;
        char text[60];
    } * position;
    size_t npositions;
    bool overlaps; /* a dependent kernel may begin before it has ended */
    bool on_host; /* accesses managed or pinned memory, and does not synchronise with the host by it
                   */
} operation;

static operation operations[MAX_OPERATIONS];
static size_t noperations, nranges;

static void remove_operation(size_t k)
{
    nranges -= operations[k].n;
    free(operations[k].touch);
    free(operations[k].position);
    memmove(&operations[k], &operations[k + 1], (noperations - k - 1) * sizeof *operations);
    noperations--;
}

static const char *position_of(const operation *w, const pl_checked_touch *t)
{
    for (size_t k = 0; k < w->npositions; k++)
        if (w->position[k].pc == t->pc) return w->position[k].text;
    return "";
}

/* ---- comparison ---- */

static void report(const operation *now, const pl_checked_touch *current, const operation *previous,
                   const pl_checked_touch *earlier, const cuda_named *of, bool early)
{
    const uint64_t at = current->address > earlier->address ? current->address : earlier->address;
    const char *current_position = position_of(now, current),
               *earlier_position = position_of(previous, earlier);
    char text[1000], key[400], in[60], other[60];
    snprintf(text, sizeof text, "%s in %s %s%s byte %llu of %s%s%s, and %s in %s %s it%s%s; %s",
             now->what, cuda_order_stream_name(&now->at, in),
             early ? "begins before the previous one has ended, and " : "",
             current->how & PL_TOUCH_WRITTEN ? "writes" : "reads",
             (unsigned long long)(at - of->start), of->text, *current_position ? " at " : "",
             current_position, previous->what, cuda_order_stream_name(&previous->at, other),
             earlier->how & PL_TOUCH_WRITTEN ? "writes" : "reads", *earlier_position ? " at " : "",
             earlier_position,
             early ? "only griddepcontrol.wait (cudaGridDependencySynchronize) before the access "
                     "orders the two"
                   : "nothing orders the two");
    snprintf(key, sizeof key, "%s %s %s %s", now->what, current_position, previous->what,
             earlier_position);
    cuda_checked_misuse_at("race-stream", key, text);
}

/* Advances *i and *j to the next overlapping ranges. False: there are none. */
static bool overlap(const operation *a, const operation *b, size_t *i, size_t *j)
{
    while (*i < a->n && *j < b->n) {
        const pl_checked_touch *x = &a->touch[*i], *y = &b->touch[*j];
        if (x->address + x->bytes <= y->address)
            ++*i;
        else if (y->address + y->bytes <= x->address)
            ++*j;
        else
            return true;
    }
    return false;
}

/* Advances past the one of two overlapping ranges that ends first. */
static void advance(const operation *a, const operation *b, size_t *i, size_t *j)
{
    const pl_checked_touch *x = &a->touch[*i], *y = &b->touch[*j];
    if (x->address + x->bytes <= y->address + y->bytes)
        ++*i;
    else
        ++*j;
}

/* True if a race was reported. early: `now` has only the accesses of a dependent kernel before
 * griddepcontrol.wait. */
static bool compare(const operation *now, const operation *previous, bool early)
{
    const pl_checked_touch *current = NULL, *earlier = NULL;
    cuda_named of = {.start = 0};
    for (size_t i = 0, j = 0; overlap(now, previous, &i, &j); advance(now, previous, &i, &j)) {
        const pl_checked_touch *x = &now->touch[i], *y = &previous->touch[j];
        if (x->how & y->how & PL_TOUCH_STRONG) return false;
        if (current || !((x->how | y->how) & PL_TOUCH_WRITTEN)) continue;
        if (!cuda_named_at(x->address > y->address ? x->address : y->address, &of)) continue;
        current = x;
        earlier = y;
    }
    if (current) report(now, current, previous, earlier, &of, early);
    return current != NULL;
}

/* ---- accesses of the host ---- */

static bool accesses_host_memory(const operation *w)
{
    bool any = false;
    for (size_t k = 0; k < w->n; k++) {
        const pl_checked_touch *t = &w->touch[k];
        if (cuda_in_window(t->address)) continue;
        if (t->how & PL_TOUCH_STRONG) return false;
        any = true;
    }
    return any;
}

/* Calls fn for the runs of bytes that the operation accesses, or of those that it writes. */
static void each_run(const operation *w, bool written,
                     void (*fn)(uint64_t from, uint64_t to, bool written))
{
    uint64_t from = 0, to = 0;
    for (size_t k = 0; k < w->n; k++) {
        const pl_checked_touch *t = &w->touch[k];
        if (cuda_in_window(t->address) || (written && !(t->how & PL_TOUCH_WRITTEN))) continue;
        if (t->address > to) {
            if (to > from) fn(from, to, written);
            from = t->address;
        }
        if (t->address + t->bytes > to) to = t->address + t->bytes;
    }
    if (to > from) fn(from, to, written);
}

void cuda_stream_race_unordered(void (*fn)(uint64_t from, uint64_t to, bool written))
{
    for (unsigned written = 0; written < 2; written++)
        for (size_t k = 0; k < noperations; k++)
            if (operations[k].on_host && !cuda_order_host_knows(&operations[k].at))
                each_run(&operations[k], written, fn);
}

static const pl_checked_touch *touch_at(const operation *w, uint64_t address)
{
    for (size_t i = 0; i < w->n; i++)
        if (address - w->touch[i].address < w->touch[i].bytes) return &w->touch[i];
    return NULL;
}

void cuda_stream_race_host(uint64_t address, const char *where)
{
    operation *found = NULL; /* one that writes the byte, or else one that reads it */
    const pl_checked_touch *touch = NULL;
    cuda_named of;
    for (size_t k = 0; k < noperations; k++) {
        operation *w = &operations[k];
        const pl_checked_touch *t =
            w->on_host && !cuda_order_host_knows(&w->at) ? touch_at(w, address) : NULL;
        if (!t || (found && !(t->how & PL_TOUCH_WRITTEN))) continue;
        found = w;
        touch = t;
        if (t->how & PL_TOUCH_WRITTEN) break;
    }
    if (!found || !cuda_named_at(address, &of)) return;
    char text[1000], key[300], in[60];
    const char *position = position_of(found, touch);
    snprintf(text, sizeof text,
             "before this call, at %s, the host accesses byte %llu of %s, and %s in %s %s it%s%s; "
             "nothing orders the two",
             where, (unsigned long long)(address - of.start), of.text, found->what,
             cuda_order_stream_name(&found->at, in),
             touch->how & PL_TOUCH_WRITTEN ? "writes" : "reads", *position ? " at " : "", position);
    snprintf(key, sizeof key, "%s %s %s", where, found->what, position);
    cuda_checked_misuse_at("race-stream", key, text);
    found->on_host = false;
}

/* Takes ownership of *w. Once it races with an operation, earlier operations of the same stream are
 * not compared: they give no new information. */
static void add_operation(const cuda_stream *s, operation *w)
{
    uint32_t slot = 0;
    w->at = cuda_order_now(s);
    w->on_host = accesses_host_memory(w);
    for (size_t k = noperations; k-- > 0;) {
        const cuda_order_position *p = &operations[k].at;
        if (cuda_order_host_knows(p))
            remove_operation(k);
        else if (p->slot != slot && !cuda_order_follows(s, p) && compare(w, &operations[k], false))
            slot = p->slot;
    }
    while (noperations && (noperations == MAX_OPERATIONS || nranges + w->n > MAX_RANGES))
        remove_operation(0);
    operations[noperations++] = *w;
    nranges += w->n;
}

/* Removes the ranges in [address, address + bytes), or those in variables of a module. */
static void remove_ranges(const pl_module *m, uint64_t address, uint64_t bytes)
{
    for (size_t k = 0; k < noperations; k++) {
        size_t n = 0;
        for (size_t i = 0; i < operations[k].n; i++) {
            pl_ptr start;
            const uint64_t at = operations[k].touch[i].address;
            const bool removed =
                m ? pl_module_variable(m, at, &start) != NULL : at - address < bytes;
            if (!removed) operations[k].touch[n++] = operations[k].touch[i];
        }
        nranges -= operations[k].n - n;
        operations[k].n = n;
    }
}

void cuda_stream_race_freed(uint64_t address, uint64_t bytes)
{
    remove_ranges(NULL, address, bytes);
}

void cuda_stream_race_unloaded(const pl_module *m)
{
    remove_ranges(m, 0, 0);
}

/* ---- copies and sets ---- */

static int by_address(const void *a, const void *b)
{
    const pl_checked_touch *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

/* Adds the rows of a box; contiguous rows are merged. */
static void add_box(operation *w, uint64_t start, size_t pitch, size_t slice, size_t width,
                    size_t height, size_t depth, unsigned how)
{
    cuda_named of;
    if (!cuda_named_at(start, &of)) return;
    const bool rows = height > 1 && pitch != width, slices = depth > 1 && slice != height * width;
    const size_t row = rows ? width : width * height, nrows = rows ? height : 1;
    const size_t nslices = rows || slices ? depth : 1, all = rows || slices ? row : row * depth;
    if (!all || nrows * nslices > MAX_RANGES / 4) return;
    pl_checked_touch *more = realloc(w->touch, (w->n + nrows * nslices) * sizeof *more);
    if (!more) return;
    w->touch = more;
    for (size_t z = 0; z < nslices; z++)
        for (size_t y = 0; y < nrows; y++)
            w->touch[w->n++] = (pl_checked_touch){.address = start + z * slice + y * pitch,
                                                  .bytes = all,
                                                  .pc = UINT32_MAX,
                                                  .how = how};
}

static void add_named(const cuda_stream *s, operation *w, const char *name)
{
    const char *call = s->node ? NULL : cuda_call_name();
    snprintf(w->what, sizeof w->what, "%s", call ? call : name);
    if (w->n) qsort(w->touch, w->n, sizeof *w->touch, by_address);
    if (w->n) add_operation(s, w);
}

static bool checks_races(void)
{
    const char *tools = cuda.options.check;
    return tools && (strstr(tools, "race") || strstr(tools, "all"));
}

static bool is_enabled(void)
{
    return cuda_order_is_enabled() && checks_races();
}

void cuda_stream_race_begin(void)
{
    if (checks_races()) cuda_order_begin();
}

void cuda_stream_race_copy(const cuda_stream *s, const cuda_copy *c)
{
    const cuda_side *side[] = {&c->to, &c->from};
    operation w = {.n = 0};
    for (unsigned k = 0; is_enabled() && k < 2; k++) {
        size_t pitch = side[k]->pitch, slice = side[k]->slice;
        if (side[k]->array) cuda_array_bytes(side[k]->array, &pitch, &slice);
        add_box(&w, cuda_checked_address(side[k], 0, 0), pitch, slice, c->width, c->height,
                c->depth, k ? PL_TOUCH_READ : PL_TOUCH_WRITTEN);
    }
    add_named(s, &w, "a copy");
}

void cuda_stream_race_set(const cuda_stream *s, const cuda_set *x)
{
    operation w = {.n = 0};
    if (is_enabled())
        add_box(&w, (uintptr_t)x->p, x->pitch, x->slice, x->width * x->element, x->height, x->depth,
                PL_TOUCH_WRITTEN);
    add_named(s, &w, "a set");
}

/* ---- launches ---- */

static bool is_dependent(const cuda_stream *s, const cuda_launch *l)
{
    return l->dependent || s->nopen;
}

void cuda_stream_race_launch(const cuda_stream *s, pl_checks *c, const cuda_function *f,
                             const cuda_launch *l)
{
    if (c && f->info.launches_dependents) cuda_stream_race_begin();
    if (c && is_enabled()) pl_checks_keep(c, is_dependent(s, l));
}

/* True if the operation may still run when a dependent kernel begins in the stream. */
static bool may_overlap(const cuda_stream *s, const cuda_order_position *p)
{
    if (p->slot == s->slot && s->overlap.of && s->overlap.of == s->previous)
        return p->time >= s->overlap.from;
    for (size_t k = 0; k < s->nopen; k++)
        if (p->slot == s->open[k].slot && p->time >= s->open[k].time) return true;
    return false;
}

/* Compares what a dependent kernel accesses before griddepcontrol.wait. */
static void compare_early(const cuda_stream *s, operation *early)
{
    early->at = cuda_order_now(s);
    for (size_t k = noperations; k-- > 0;)
        if (operations[k].overlaps && may_overlap(s, &operations[k].at) &&
            compare(early, &operations[k], true))
            return;
}

/* Records which operations a dependent kernel that follows in the stream may overlap. */
static void note_overlap(cuda_stream *s, pl_overlap o)
{
    const uint32_t time = cuda_order_now(s).time;
    const bool earlier = o == PL_OVERLAP_EARLIER && s->overlap.of == s->previous;
    s->overlap.from = earlier && s->overlap.from ? s->overlap.from : time;
    s->overlap.of = o ? time : 0;
}

/* Looks up the source positions of the first instructions among its ranges. */
static void find_positions(operation *w, pl_checks *c, pl_module *m)
{
    w->position = calloc(MAX_POSITIONS, sizeof *w->position);
    for (size_t k = 0; w->position && k < w->n && w->npositions < MAX_POSITIONS; k++) {
        if (*position_of(w, &w->touch[k])) continue;
        struct position *p = &w->position[w->npositions++];
        p->pc = w->touch[k].pc;
        snprintf(p->text, sizeof p->text, "%s", pl_checks_place(c, m, p->pc));
    }
}

void cuda_stream_race_launched(cuda_stream *s, pl_checks *c, pl_module *m, const char *kernel,
                               const cuda_launch *l)
{
    const bool dependent = is_dependent(s, l);
    operation w = {.n = 0}, early = {.n = 0};
    if (!c || !is_enabled()) return;
    const pl_overlap overlap = pl_checks_overlap(c);
    w.touch = pl_checks_touched(c, false, &w.n);
    early.touch = pl_checks_touched(c, true, &early.n);
    w.overlaps = overlap != PL_OVERLAP_NONE;
    snprintf(w.what, sizeof w.what, "kernel '%s'", kernel);
    memcpy(early.what, w.what, sizeof w.what);
    if (dependent && early.n) {
        find_positions(&early, c, m);
        compare_early(s, &early);
    }
    free(early.touch);
    free(early.position);
    note_overlap(s, dependent || overlap != PL_OVERLAP_EARLIER ? overlap : PL_OVERLAP_THIS);
    if (!w.n) return;
    find_positions(&w, c, m);
    add_operation(s, &w);
}
