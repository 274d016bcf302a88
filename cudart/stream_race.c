/* stream_race.c - under --check race: unordered accesses of kernels, copies and sets in different
 * streams to the same bytes.
 *
 * The accessed byte ranges of an operation are retained until the host knows that it has ended.
 * They cover allocations, arrays and variables, but not reads of constant memory by kernels. Two
 * kernels that both access some bytes by atomic, volatile or relaxed operations may synchronise by
 * these, so no race between the two is reported. */
#include "cudart/state.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_WORKS = 256,    /* maximum retained operations */
    MOST_RUNS = 1 << 22, /* byte ranges of all retained operations */
    MOST_PLACES = 64     /* named instructions per kernel */
};

/* A kernel, copy or set: its accesses, and the source positions of its instructions. */
typedef struct work {
    cuda_order_place at;
    char what[120];
    pl_checked_touch *touch;
    size_t n;
    struct place {
        uint32_t pc;
        char text[60];
    } * place;
    size_t places;
} work;

static work kept[MOST_WORKS];
static size_t nkept, runs;

static void drop(size_t k)
{
    runs -= kept[k].n;
    free(kept[k].touch);
    free(kept[k].place);
    memmove(&kept[k], &kept[k + 1], (nkept - k - 1) * sizeof *kept);
    nkept--;
}

static const char *place_of(const work *w, const pl_checked_touch *t)
{
    for (size_t k = 0; k < w->places; k++)
        if (w->place[k].pc == t->pc) return w->place[k].text;
    return "";
}

/* ---- comparison ---- */

static void report(const work *now, const pl_checked_touch *mine, const work *before,
                   const pl_checked_touch *theirs, const cuda_named *of)
{
    const uint64_t at = mine->address > theirs->address ? mine->address : theirs->address;
    const char *here = place_of(now, mine), *there = place_of(before, theirs);
    char text[1000], key[400], in[60], other[60];
    snprintf(text, sizeof text,
             "%s in %s %s byte %llu of %s%s%s, and %s in %s %s it%s%s; nothing orders the two",
             now->what, cuda_order_stream_name(&now->at, in),
             mine->how & PL_TOUCH_WRITTEN ? "writes" : "reads",
             (unsigned long long)(at - of->start), of->text, *here ? " at " : "", here,
             before->what, cuda_order_stream_name(&before->at, other),
             theirs->how & PL_TOUCH_WRITTEN ? "writes" : "reads", *there ? " at " : "", there);
    snprintf(key, sizeof key, "%s %s %s %s", now->what, here, before->what, there);
    cuda_checked_misuse_at("race-stream", key, text);
}

/* Advances *i and *j to the next overlapping ranges. False: there are none. */
static bool overlap(const work *a, const work *b, size_t *i, size_t *j)
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
static void step(const work *a, const work *b, size_t *i, size_t *j)
{
    const pl_checked_touch *x = &a->touch[*i], *y = &b->touch[*j];
    if (x->address + x->bytes <= y->address + y->bytes)
        ++*i;
    else
        ++*j;
}

/* True if a race was reported. */
static bool compare(const work *now, const work *before)
{
    const pl_checked_touch *mine = NULL, *theirs = NULL;
    cuda_named of = {.start = 0};
    for (size_t i = 0, j = 0; overlap(now, before, &i, &j); step(now, before, &i, &j)) {
        const pl_checked_touch *x = &now->touch[i], *y = &before->touch[j];
        if (x->how & y->how & PL_TOUCH_STRONG) return false;
        if (mine || !((x->how | y->how) & PL_TOUCH_WRITTEN)) continue;
        if (!cuda_named_at(x->address > y->address ? x->address : y->address, &of)) continue;
        mine = x;
        theirs = y;
    }
    if (mine) report(now, mine, before, theirs, &of);
    return mine != NULL;
}

/* Takes ownership of *w. Once it races with an operation, earlier operations of the same stream are
 * not compared: they give no new information. */
static void add(const cuda_stream *s, work *w)
{
    uint32_t slot = 0;
    w->at = cuda_order_now(s);
    for (size_t k = nkept; k-- > 0;) {
        const cuda_order_place *p = &kept[k].at;
        if (cuda_order_host_knows(p))
            drop(k);
        else if (p->slot != slot && !cuda_order_follows(s, p) && compare(w, &kept[k]))
            slot = p->slot;
    }
    while (nkept && (nkept == MOST_WORKS || runs + w->n > MOST_RUNS)) drop(0);
    kept[nkept++] = *w;
    runs += w->n;
}

/* Removes the ranges in [address, address + bytes), or those in variables of a module. */
static void forget(const pl_module *m, uint64_t address, uint64_t bytes)
{
    for (size_t k = 0; k < nkept; k++) {
        size_t n = 0;
        for (size_t i = 0; i < kept[k].n; i++) {
            pl_ptr start;
            const uint64_t at = kept[k].touch[i].address;
            const bool gone = m ? pl_module_variable(m, at, &start) != NULL : at - address < bytes;
            if (!gone) kept[k].touch[n++] = kept[k].touch[i];
        }
        runs -= kept[k].n - n;
        kept[k].n = n;
    }
}

void cuda_stream_race_freed(uint64_t address, uint64_t bytes)
{
    forget(NULL, address, bytes);
}

void cuda_stream_race_unloaded(const pl_module *m)
{
    forget(m, 0, 0);
}

/* ---- copies and sets ---- */

static int by_address(const void *a, const void *b)
{
    const pl_checked_touch *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

/* Adds the rows of a box; contiguous rows are merged. */
static void add_box(work *w, uint64_t start, size_t pitch, size_t slice, size_t width,
                    size_t height, size_t depth, unsigned how)
{
    cuda_named of;
    if (!cuda_named_at(start, &of)) return;
    const bool rows = height > 1 && pitch != width, slices = depth > 1 && slice != height * width;
    const size_t row = rows ? width : width * height, nrows = rows ? height : 1;
    const size_t nslices = rows || slices ? depth : 1, all = rows || slices ? row : row * depth;
    if (!all || nrows * nslices > MOST_RUNS / 4) return;
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

static void add_call(const cuda_stream *s, work *w, const char *name)
{
    const char *call = s->node ? NULL : cuda_self.call;
    snprintf(w->what, sizeof w->what, "%s", call ? call : name);
    if (w->n) qsort(w->touch, w->n, sizeof *w->touch, by_address);
    if (w->n) add(s, w);
}

static bool wanted(void)
{
    const char *tools = cuda.options.check;
    return cuda_order_on() && tools && (strstr(tools, "race") || strstr(tools, "all"));
}

void cuda_stream_race_copy(const cuda_stream *s, const cuda_copy *c)
{
    const cuda_side *side[] = {&c->to, &c->from};
    work w = {.n = 0};
    for (unsigned k = 0; wanted() && k < 2; k++) {
        size_t pitch = side[k]->pitch, slice = side[k]->slice;
        if (side[k]->array) cuda_array_bytes(side[k]->array, &pitch, &slice);
        add_box(&w, cuda_checked_address(side[k], 0, 0), pitch, slice, c->width, c->height,
                c->depth, k ? PL_TOUCH_READ : PL_TOUCH_WRITTEN);
    }
    add_call(s, &w, "a copy");
}

void cuda_stream_race_set(const cuda_stream *s, const cuda_set *x)
{
    work w = {.n = 0};
    if (wanted())
        add_box(&w, (uintptr_t)x->p, x->pitch, x->slice, x->width * x->element, x->height, x->depth,
                PL_TOUCH_WRITTEN);
    add_call(s, &w, "a set");
}

/* ---- launches ---- */

void cuda_stream_race_launch(pl_checks *c)
{
    if (c && wanted()) pl_checks_keep(c);
}

/* Looks up the source positions of the first instructions among its ranges. */
static void name_places(work *w, pl_checks *c, pl_module *m)
{
    w->place = calloc(MOST_PLACES, sizeof *w->place);
    for (size_t k = 0; w->place && k < w->n && w->places < MOST_PLACES; k++) {
        if (*place_of(w, &w->touch[k])) continue;
        struct place *p = &w->place[w->places++];
        p->pc = w->touch[k].pc;
        snprintf(p->text, sizeof p->text, "%s", pl_checks_place(c, m, p->pc));
    }
}

void cuda_stream_race_launched(const cuda_stream *s, pl_checks *c, pl_module *m, const char *kernel)
{
    work w = {.n = 0};
    if (!c || !wanted()) return;
    w.touch = pl_checks_touched(c, &w.n);
    if (!w.n) return;
    snprintf(w.what, sizeof w.what, "kernel '%s'", kernel);
    name_places(&w, c, m);
    add(s, &w);
}
