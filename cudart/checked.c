/* checked.c - under --check: reports the program's memory operations to the checkers, and errors of
 * the program itself.
 *
 * Writes of the host to managed and pinned memory are not observed. Pinned memory counts as
 * written, and so do pages of managed memory that are resident when a kernel starts: somebody may
 * have written them. A page that is not has never been accessed. */
#include "cudart/activity.h"
#include "cudart/checking.h"
#include "cudart/state.h"
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pl_checked *checked; /* NULL: no checkers */

static void mark_written(uint64_t address, uint64_t bytes)
{
    if (checked) pl_checked_written(checked, address, bytes);
}

static void track_allocation(const cuda_alloc *a)
{
    const bool tracked = (a->type == MEMORY_DEVICE || a->page_map) && !a->physical && a->fd <= 0;
    if (tracked) pl_checked_fresh(checked, a->address, a->size);
}

/* Pages of managed memory that anybody has accessed count as written, and all if this system does
 * not tell. True: all pages of the allocation have been accessed. */
static bool note_accessed_pages(const cuda_alloc *a, int pagemap)
{
    enum { CHUNK = 512, FLAGS = 62 /* bits 62 and 63: swapped out, in memory */ };
    uint64_t entry[CHUNK];
    const uint64_t page = cuda_page(), pages = (a->size + page - 1) / page;
    bool all = true;
    for (uint64_t k = 0, n; k < pages; k += n) {
        n = pages - k < CHUNK ? pages - k : CHUNK;
        const off_t at = (off_t)(((uintptr_t)a->bytes / page + k) * sizeof *entry);
        const size_t size = n * sizeof *entry;
        const bool known = pagemap >= 0 && pread(pagemap, entry, size, at) == (ssize_t)size;
        for (uint64_t from = 0, to; from < n; from = to) {
            const bool accessed = !known || entry[from] >> FLAGS;
            for (to = from + 1; to < n && accessed == (!known || entry[to] >> FLAGS);) to++;
            all &= accessed;
            if (accessed)
                pl_checked_written(checked, a->address + (k + from) * page, (to - from) * page);
        }
    }
    return all;
}

void cuda_checked_launching(void)
{
    int pagemap = -1;
    for (size_t k = 0; checked && k < cuda.alloc.n; k++) {
        cuda_alloc *a = &cuda.alloc.at[k];
        if (!a->page_map || a->accessed) continue;
        if (pagemap < 0) pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
        a->accessed = note_accessed_pages(a, pagemap);
    }
    if (pagemap >= 0) close(pagemap);
}

void cuda_checked_open(uint64_t base, uint64_t bytes)
{
    const cuda_options *o = &cuda.options;
    const pl_checks_options options = {.tools = o->check,
                                       .limit = o->check_limit,
                                       .kernel = o->check_kernel,
                                       .suppressions = o->suppressions};
    if (!o->check) return;
    if (pl_checked_open(cuda.device[0].gpu, &options, base, bytes, &checked) != PL_OK) {
        cuda_print_messages();
        return;
    }
    cuda.on_memory.allocated = track_allocation;
    cuda.on_memory.written = mark_written;
}

pl_checks *cuda_checks_open(void)
{
    const cuda_options *o = &cuda.options;
    const pl_checks_options options = {.tools = o->check,
                                       .limit = o->check_limit,
                                       .kernel = o->check_kernel,
                                       .suppressions = o->suppressions,
                                       .program = checked};
    pl_checks *c = NULL;
    if (checked && pl_checks_open(cuda_current_device()->gpu, &options, &c) != PL_OK)
        cuda_print_messages();
    return c;
}

static pl_sanitizer_sum sum; /* --check-format compute-sanitizer */

bool cuda_checked_show(pl_checks *c, pl_module *m)
{
    const char *lines;
    if (!cuda.options.sanitizer) {
        if (m)
            pl_checks_report(c, m);
        else
            pl_checked_report(checked);
        cuda_print_messages();
        return pl_checks_errors(c) != 0;
    }
    const uint64_t before = pl_sanitizer_errors(&sum);
    if (pl_checks_sanitizer(c, m, &sum, &lines) == PL_OK) fputs(lines, stdout);
    return pl_sanitizer_errors(&sum) != before;
}

bool cuda_checked_report(bool failed)
{
    const char *final_lines;
    if (!checked) return false;
    for (size_t k = 0; cuda.options.leak_check && k < cuda.alloc.n; k++)
        cuda_checked_leak(&cuda.alloc.at[k]);
    pl_checks *findings = pl_checked_list(checked);
    const bool errors = cuda_checked_show(findings, NULL);
    if (cuda.trace) pl_trace_add_findings(cuda.trace, findings);
    if (cuda.options.sanitizer &&
        pl_checks_sanitizer_end(findings, &sum, failed, &final_lines) == PL_OK)
        fputs(final_lines, stdout);
    return errors;
}

/* ---- memory ---- */

void cuda_checked_array(const cuda_array *a)
{
    if (checked) pl_checked_fresh_array(checked, cuda.device[a->device].gpu, a->handle);
}

void cuda_checked_leak(const cuda_alloc *a)
{
    if (checked && a->type != MEMORY_HOST && !a->fixed)
        pl_checked_leak(checked, a->address, a->size, a->site ? a->site : "device memory");
}

/* ---- copies ---- */

uint64_t cuda_checked_address(const cuda_side *s, size_t y, size_t z)
{
    size_t pitch = s->pitch, slice = s->slice;
    if (!s->array) return (uintptr_t)s->p + z * slice + y * pitch;
    cuda_array_bytes(s->array, &pitch, &slice);
    return pl_array_address(cuda.device[s->array->device].gpu, s->array->handle, s->array->level) +
           (s->z + z) * slice + (s->y + y) * pitch + s->x;
}

void cuda_checked_misuse_at(const char *kind, const char *key, const char *what)
{
    char caller[200], call[300], text[1100];
    if (!checked) return;
    cuda_caller(caller, sizeof caller);
    cuda_describe_call(caller, call, sizeof call);
    snprintf(text, sizeof text, "%s: %s", call, what);
    pl_checked_misuse(checked, kind, text, key ? key : caller);
}

void cuda_checked_misuse(const char *kind, const char *what)
{
    cuda_checked_misuse_at(kind, NULL, what);
}

/* ---- calls with invalid addresses ---- */

void cuda_checked_beyond(const void *p, uint64_t bytes, const char *verb)
{
    const uint64_t at = (uintptr_t)p;
    const cuda_alloc *a = cuda_alloc_find(at);
    char text[700];
    if (a ? bytes <= a->address + a->size - at : !cuda_in_window(at)) return;
    const int length = snprintf(text, sizeof text, "the call %s %" PRIu64 " byte%s ", verb, bytes,
                                pl_plural(bytes));
    if (a)
        snprintf(text + length, sizeof text - (size_t)length,
                 "at byte %" PRIu64 " of %s, which has %" PRIu64 "; it fails", at - a->address,
                 a->site ? a->site : "an allocation", a->size);
    else
        snprintf(text + length, sizeof text - (size_t)length,
                 "at 0x%" PRIx64 ", which is in no allocation, or in a freed one; it fails", at);
    cuda_checked_misuse("mem-bounds", text);
}

void cuda_checked_bad_free(const void *p)
{
    const cuda_alloc *a = cuda_alloc_find((uintptr_t)p);
    char text[700];
    if (a)
        snprintf(text, sizeof text, "the call frees byte %" PRIu64 " of %s; it fails",
                 (uintptr_t)p - a->address, a->site ? a->site : "an allocation");
    else
        snprintf(text, sizeof text,
                 "the call frees 0x%" PRIxPTR ", where no allocation begins; it fails",
                 (uintptr_t)p);
    cuda_checked_misuse("mem-freed", text);
}

static void read_by_host(uint64_t at, uint64_t bytes)
{
    cuda_named named = {.start = at, .text = "an array or variable"};
    char caller[200], call[300];
    cuda_named_at(at, &named);
    cuda_caller(caller, sizeof caller);
    cuda_describe_call(caller, call, sizeof call);
    const pl_checked_memory m = {
        .name = named.text, .start = named.start, .call = call, .where = caller};
    pl_checked_read(checked, at, bytes, &m);
}

/* True if a side has addresses in the window, as device memory and arrays have. */
static bool is_device_side(const cuda_side *s)
{
    return s->array || cuda_in_window((uintptr_t)s->p);
}

void cuda_checked_copy(const cuda_copy *c)
{
    const bool to = is_device_side(&c->to), from = is_device_side(&c->from);
    if (!checked || (!to && !from)) return;
    for (size_t z = 0; z < c->depth; z++)
        for (size_t y = 0; y < c->height; y++) {
            const uint64_t target = cuda_checked_address(&c->to, y, z),
                           source = cuda_checked_address(&c->from, y, z);
            if (to && from)
                pl_checked_copied(checked, target, source, c->width);
            else if (to)
                pl_checked_written(checked, target, c->width);
            else
                read_by_host(source, c->width);
        }
}

void cuda_checked_set(const cuda_set *s)
{
    for (size_t z = 0; checked && z < s->depth; z++)
        for (size_t y = 0; y < s->height; y++)
            pl_checked_written(checked, (uintptr_t)s->p + z * s->slice + y * s->pitch,
                               s->width * s->element);
}
