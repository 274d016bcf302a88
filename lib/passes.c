/* passes.c - converts pl_pass_control (names) to pl_pass_options (sets). */
#include "lib/internal.h"
#include "compiler/tuning.h"
#include <stdlib.h>
#include <string.h>

static const pl_loc no_location = {.file = UINT32_MAX};

static bool unknown_pass(pl_gpu *gpu, const char *name, size_t n)
{
    const char *names[PL_PASS_COUNT], *word = pl_arena_strndup(gpu->messages, name, n);
    for (int k = 0; k < PL_PASS_COUNT; k++) names[k] = pl_passes[k].name;
    const char *nearest = word ? pl_nearest(word, names, PL_PASS_COUNT) : NULL;
    pl_diag *d = pl_report(&gpu->diags, PL_E0012, no_location, word ? word : "?");
    d->help = nearest ? pl_arena_printf(gpu->messages, "did you mean '%s'?", nearest)
                      : pl_diag_explanation(PL_E0012);
    return false;
}

/* Converts a list of names to a set. */
static bool parse_names(pl_gpu *gpu, const char *list, uint64_t *set)
{
    *set = 0;
    for (const char *s = list; s && *s; s += *s == ',') {
        const size_t n = strcspn(s, ",");
        const pl_pass_id id = pl_pass_find(s, n);
        if (id == PL_PASS_COUNT) return unknown_pass(gpu, s, n);
        *set |= (uint64_t)1 << id;
        s += n;
    }
    return true;
}

static bool are_skippable(pl_gpu *gpu, uint64_t set)
{
    for (int k = 0; k < PL_PASS_COUNT; k++)
        if ((set >> k & 1) && pl_passes[k].required) {
            pl_report(&gpu->diags, PL_E0013, no_location, pl_passes[k].name);
            return false;
        }
    return true;
}

pl_status pl_passes_begin(pl_gpu *gpu, const pl_pass_control *control, pl_pass_options *out)
{
    static const pl_pass_control none;
    const pl_pass_control *c = control ? control : &none;
    *out = (pl_pass_options){
        .verify = c->verify, .stop = gpu->stop, .to = c->to, .failed = ATOMIC_FLAG_INIT};
#ifdef PL_VERIFY_IR
    out->verify = true;
#endif
    const pl_status tuned =
        c->tune ? pl_tuning_read(gpu->messages, &gpu->diags, c->tune, &out->tuning) : PL_OK;
    if (tuned != PL_OK) return tuned;
    if (!parse_names(gpu, c->skip, &out->skip) || !are_skippable(gpu, out->skip)) return PL_INVALID;
    if (c->print_after && c->print && strcmp(c->print_after, "all") == 0)
        out->print_after = ~(uint64_t)0;
    else if (c->print && !parse_names(gpu, c->print_after, &out->print_after))
        return PL_INVALID;
    if (out->print_after) out->print = c->print;
    if (c->time && c->print && !(out->time = calloc(PL_PASS_COUNT, sizeof *out->time)))
        return PL_NOMEM;
    return PL_OK;
}

static int by_time_descending(const void *a, const void *b)
{
    const pl_pass_time *const *x = a, *const *y = b;
    return (*x)->seconds > (*y)->seconds ? -1 : (*x)->seconds < (*y)->seconds;
}

/* Prints the passes that ran, slowest first. */
static void print_times(pl_gpu *gpu, const pl_pass_control *c, const pl_pass_time *time)
{
    const pl_pass_time *order[PL_PASS_COUNT];
    double total = 0;
    size_t n = 0;
    for (int k = 0; k < PL_PASS_COUNT; k++) {
        total += time[k].seconds;
        if (time[k].runs) order[n++] = &time[k];
    }
    qsort(order, n, sizeof *order, by_time_descending);
    const char *text =
        pl_arena_printf(gpu->messages, "%-28s %8s %12s %7s\n", "pass", "runs", "ms", "share");
    for (size_t k = 0; k <= n && text; k++) {
        c->print(c->to, text, strlen(text));
        if (k < n)
            text = pl_arena_printf(gpu->messages, "%-28s %8u %12.3f %6.1f%%\n",
                                   pl_passes[order[k] - time].name, order[k]->runs,
                                   order[k]->seconds * 1e3,
                                   total > 0 ? 100.0 * order[k]->seconds / total : 0.0);
    }
}

static pl_status report_passes(pl_gpu *gpu, const pl_pass_control *control,
                               const pl_pass_options *o, pl_status st)
{
    PL_GUARD(return PL_NOMEM)
    if (o->finding[0]) {
        const char *what = pl_arena_strdup(gpu->messages, o->finding);
        pl_report(&gpu->diags, PL_E0014, no_location, what ? what : "?");
    }
    if (o->time && st == PL_OK) print_times(gpu, control, o->time);
    return st;
}

pl_status pl_passes_end(pl_gpu *gpu, const pl_pass_control *control, pl_pass_options *o,
                        pl_status st)
{
    st = report_passes(gpu, control, o, st);
    free(o->time);
    return st;
}
