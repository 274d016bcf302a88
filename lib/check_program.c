/* check_program.c - state shared by the checkers of a whole program, and errors of the program
 * itself, outside kernels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "check/undefined.h"
#include "lib/check_list.h"

struct pl_checked {
    pl_gpu *gpu;
    pl_undefined undefined;
    pl_checks *findings; /* findings that belong to no launch */
};

pl_undefined *pl_checked_undefined(pl_checked *p)
{
    return p ? &p->undefined : NULL;
}

pl_status pl_checked_open(pl_gpu *gpu, const pl_checks_options *o, pl_ptr base, uint64_t bytes,
                          pl_checked **out)
{
    *out = NULL;
    pl_checked *p = calloc(1, sizeof *p);
    if (!p) return pl_gpu_no_memory(gpu, "while opening a checker");
    p->gpu = gpu;
    p->undefined.shared = true;
    p->undefined.base = base;
    p->undefined.bytes = bytes;
    pl_checks_options options = *o;
    options.program = p;
    const pl_status st = pl_checks_open(gpu, &options, &p->findings);
    if (st == PL_OK)
        *out = p;
    else
        pl_checked_close(p);
    return st;
}

void pl_checked_close(pl_checked *p)
{
    if (!p) return;
    pl_checks_close(p->findings);
    pl_undefined_free(&p->undefined);
    free(p);
}

/* ---- memory ---- */

static bool tracks_init(const pl_checked *p)
{
    return p->findings->tools & PL_CHECK_INIT;
}

static pl_status memory_status(pl_checked *p, bool ok)
{
    return ok ? PL_OK : pl_gpu_no_memory(p->gpu, "for what a checker knows of memory");
}

pl_status pl_checked_fresh(pl_checked *p, pl_ptr at, uint64_t bytes)
{
    return memory_status(p, !tracks_init(p) || pl_undefined_set(&p->undefined, at, bytes, false));
}

pl_status pl_checked_fresh_array(pl_checked *p, pl_gpu *gpu, uint64_t array)
{
    pl_status st = PL_OK;
    uint64_t bytes;
    for (uint32_t k = 0; st == PL_OK && (bytes = pl_array_bytes(gpu, array, k)) != 0; k++) {
        const pl_ptr at = pl_array_address(gpu, array, k);
        st = pl_checked_fresh(p, at, bytes);
        /* The checkers know it: a launch does not use its contents as the initial state. */
        pl_memory_mark(&gpu->memory, at, PL_ALLOC_CHECKED);
    }
    return st;
}

pl_status pl_checked_written(pl_checked *p, pl_ptr at, uint64_t bytes)
{
    return memory_status(p, !tracks_init(p) || pl_undefined_set(&p->undefined, at, bytes, true));
}

pl_status pl_checked_copied(pl_checked *p, pl_ptr to, pl_ptr from, uint64_t bytes)
{
    return memory_status(p, !tracks_init(p) || pl_undefined_copy(&p->undefined, to, from, bytes));
}

/* ---- errors of the program ---- */

static uint32_t saturated(uint64_t bytes)
{
    return bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes;
}

/* An error of the program; errors with the same key are one finding. */
typedef struct program_error {
    const char *key, *text;
    pl_ptr at, start;
    uint64_t bytes;
} program_error;

static pl_status add_error(pl_checked *p, pl_finding_kind kind, const program_error *w,
                           const char *help)
{
    PL_GUARD(return pl_gpu_no_memory(p->gpu, "while naming what a checker found"))
    pl_checks *c = p->findings;
    for (size_t n = 0; n < c->list.n; n++) {
        pl_finding *f = &c->list.at[n];
        if (strcmp(f->file, w->key) != 0 || strcmp(f->kind, pl_check_kind_word(kind)) != 0)
            continue;
        f->count++;
        if (kind == PL_FK_MEM_LEAK) f->bytes = saturated(f->bytes + w->bytes);
        return PL_OK;
    }
    pl_finding f = {.space = "global",
                    .kernel = "",
                    .file = pl_arena_strdup(c->arena, w->key),
                    .pc = UINT32_MAX,
                    .other_pc = UINT32_MAX,
                    .address = w->at,
                    .start = w->start,
                    .bytes = saturated(w->bytes),
                    .count = 1,
                    .launch = PL_LAUNCH_NONE,
                    .text = pl_arena_strdup(c->arena, w->text)};
    pl_check_name_kind(kind, &f);
    if (help) f.help = help;
    if (!pl_check_is_suppressed(c, &f)) *pl_push(c->arena, &c->list) = f;
    return PL_OK;
}

pl_status pl_checked_read(pl_checked *p, pl_ptr at, uint64_t bytes, const pl_checked_memory *m)
{
    pl_undefined_read read;
    char text[900];
    if (!tracks_init(p)) return PL_OK;
    const bool ok = pl_undefined_scan(
        &p->undefined, at, bytes, &(pl_undefined_what){.name = m->name, .start = m->start}, &read);
    if (!ok || !read.words) return memory_status(p, ok);
    snprintf(text, sizeof text, "init-copy: %s, reads %llu uninitialised word%s%s byte %llu of %s",
             m->call, (unsigned long long)read.words, pl_plural(read.words),
             read.words == 1 ? ", at" : ", the first at",
             (unsigned long long)(read.first - m->start), m->name);
    return add_error(
        p, PL_FK_INIT_COPY,
        &(program_error){
            .key = m->where, .text = text, .at = read.first, .start = at, .bytes = bytes},
        NULL);
}

pl_status pl_checked_leak(pl_checked *p, pl_ptr at, uint64_t bytes, const char *name)
{
    char text[600];
    if (!(p->findings->tools & PL_CHECK_MEM)) return PL_OK;
    snprintf(text, sizeof text, "mem-leak: %llu byte%s of %s have not been freed",
             (unsigned long long)bytes, pl_plural(bytes), name);
    return add_error(p, PL_FK_MEM_LEAK,
                     &(program_error){.key = name, .text = text, .at = at, .bytes = bytes},
                     "free it before the program ends, with the function that matches its "
                     "allocation (cudaFree, cudaFreeAsync)");
}

pl_status pl_checked_misuse(pl_checked *p, const char *kind, const char *text, const char *where)
{
    const pl_finding_kind k = pl_check_kind_of(kind);
    char message[1200];
    if (k == PL_FK_COUNT || !(pl_check_tool_of(k) & p->findings->tools)) return PL_OK;
    snprintf(message, sizeof message, "%s: %s", kind, text);
    const char *help =
        k == PL_FK_MEM_BOUNDS
            ? "pass the size of the allocation, in bytes, and compare the result with cudaSuccess"
            : NULL;
    return add_error(p, k, &(program_error){.key = where, .text = message}, help);
}

pl_status pl_checks_watch(pl_checks *c, pl_checked_range *range, size_t n)
{
    PL_GUARD(return pl_gpu_no_memory(c->gpu, "for what a checker watches"))
    if (n > c->watched) {
        c->watch = pl_arena_array(c->arena, pl_watched, 2 * n);
        c->watched = 2 * n;
    }
    for (size_t k = 0; k < n; k++)
        c->watch[k] = (pl_watched){.address = range[k].address,
                                   .bytes = range[k].bytes,
                                   .wrong = range[k].wrong,
                                   .accessed = &range[k].accessed};
    pl_check_watch(c->check, c->watch, n);
    return PL_OK;
}

void pl_checks_keep(pl_checks *c, bool dependent)
{
    if (c->tools & PL_CHECK_RACE) pl_check_record_accesses(c->check, dependent);
}

pl_overlap pl_checks_overlap(const pl_checks *c)
{
    return (pl_overlap)pl_check_launched_dependents(c->check);
}

pl_checked_touch *pl_checks_touched(pl_checks *c, bool early, size_t *n)
{
    pl_accessed_range *at = pl_check_accessed_ranges(c->check, early, n);
    pl_checked_touch *out = at ? malloc(*n * sizeof *out) : NULL;
    if (!out) *n = 0;
    for (size_t k = 0; k < *n; k++)
        out[k] = (pl_checked_touch){
            .address = at[k].address, .bytes = at[k].bytes, .pc = at[k].pc, .how = at[k].kinds};
    free(at);
    return out;
}

pl_status pl_checked_report(pl_checked *p)
{
    PL_GUARD(return pl_gpu_no_memory(p->gpu, "while reporting what a checker found"))
    pl_checks *c = p->findings;
    for (size_t n = 0; n < c->list.n && n < c->limit; n++) {
        const pl_finding *f = &c->list.at[n];
        char times[40] = "";
        if (f->count > 1)
            snprintf(times, sizeof times, " (%llu times)", (unsigned long long)f->count);
        pl_diag *d = pl_report(&p->gpu->diags, f->severity[0] == 'e' ? PL_E1006 : PL_W1007,
                               (pl_loc){.file = UINT32_MAX}, f->text, times);
        d->help = pl_arena_strdup(p->gpu->messages, f->help);
    }
    if (c->list.n > c->limit)
        pl_report(&p->gpu->diags, PL_N1004, (pl_loc){.file = UINT32_MAX},
                  (unsigned long long)(c->list.n - c->limit), pl_plural(c->list.n - c->limit));
    return PL_OK;
}

pl_checks *pl_checked_list(pl_checked *p)
{
    return p->findings;
}

size_t pl_checked_errors(const pl_checked *p)
{
    return pl_checks_errors(p->findings);
}
