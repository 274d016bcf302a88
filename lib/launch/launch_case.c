/* launch_case.c - a launch with its arguments: created by json_launch.c or argument.c, converted
 * here to buffers and parameter bytes. */
#include "base/file.h"
#include "base/plural.h"
#include "base/sha256.h"
#include "lib/data/npy.h"
#include "lib/internal.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Bytes that the programs of the recorded H200 launches allocated in addition for each buffer, so
 * that buffers have the same layout here. */
enum { RECORDED_GUARD = 256 };
enum { SLICE = 1 << 22 };              /* elements or bytes between two polls of the stop flag */
#define MAX_BUFFER ((uint64_t)1 << 40) /* more than any GPU has, and far from overflow */

pl_status pl_case_open(pl_gpu *gpu, pl_case **out)
{
    PL_UNGUARDED;
    *out = NULL;
    pl_arena *arena = pl_arena_open();
    if (!arena) return pl_gpu_no_memory(gpu, "while reading arguments");
    pl_case *c = pl_arena_new(arena, pl_case);
    if (c) c->more = pl_arena_new(arena, pl_case_more);
    if (!c || !c->more) {
        pl_arena_close(arena);
        return pl_gpu_no_memory(gpu, "while reading arguments");
    }
    c->more->arena = arena;
    c->more->gpu = gpu;
    c->deterministic = true;
    *out = c;
    return PL_OK;
}

void pl_case_close(pl_case *c)
{
    if (!c) return;
    pl_case_release(c);
    pl_arena_close(c->more->arena);
}

pl_case_arg *pl_case_push(pl_case *c, pl_arg_more **more)
{
    pl_case_more *own = c->more;
    *more = pl_push(own->arena, &own->arg);
    **more = (pl_arg_more){.element = pl_elements};
    pl_case_arg *arg = pl_push(own->arena, &own->args);
    *arg = (pl_case_arg){.type = ""};
    c->arg = own->args.at;
    c->nargs = own->args.n;
    return arg;
}

void pl_case_add_file(pl_case *c, const char *path)
{
    PL_GUARD(c->more->incomplete = true; return )
    *pl_push(c->more->arena, &c->more->link) = path;
    c->link = c->more->link.at;
    c->nlink = c->more->link.n;
}

pl_status pl_case_load(pl_case *c, const pl_load_options *options, pl_module **out)
{
    PL_GUARD(return pl_gpu_no_memory(c->more->gpu, "while loading a module"))
    *out = NULL;
    if (c->more->incomplete) return pl_gpu_no_memory(c->more->gpu, "while loading a module");
    const char **path = pl_arena_array(c->more->arena, const char *, c->nlink + 1);
    path[0] = c->ptx;
    for (size_t i = 0; i < c->nlink; i++) path[i + 1] = c->link[i];
    return pl_module_load_files(c->more->gpu, path, c->nlink + 1, options, out);
}

const char *pl_case_path(pl_case *c, const char *path)
{
    const char *slash = c->more->path ? strrchr(c->more->path, '/') : NULL;
    if (path[0] == '/' || !slash) return pl_arena_strdup(c->more->arena, path);
    return pl_arena_printf(c->more->arena, "%.*s/%s", (int)(slash - c->more->path), c->more->path,
                           path);
}

/* Returns the position of the launch file for messages, or no position. */
static pl_loc case_at(pl_case *c)
{
    pl_case_more *own = c->more;
    if (!own->path) return (pl_loc){.file = UINT32_MAX};
    return (pl_loc){
        .file = pl_gpu_source(own->gpu, own->path, own->text, own->bytes, &own->file, &own->epoch)};
}

pl_loc pl_case_arg_at(pl_case *c, size_t k)
{
    pl_case_more *own = c->more;
    pl_arg_more *a = &own->arg.at[k];
    pl_loc at = case_at(c);
    if (a->text) {
        const char *name = pl_arena_printf(own->arena, "argument %zu", k + 1);
        at.file = pl_gpu_source(own->gpu, name, a->text, strlen(a->text), &a->file, &a->epoch);
    }
    at.line = a->line;
    at.column = a->column;
    at.length = a->length;
    return at;
}

const char *pl_init_limits(const pl_element *e, const pl_number *lo, const pl_number *hi,
                           pl_init *init)
{
    if (e->kind == 'f') {
        init->flo = lo ? lo->real : 0;
        init->fhi = hi ? hi->real : 1;
        if (!isfinite(init->flo) || !isfinite(init->fhi)) return "a limit is not finite";
        return init->flo > init->fhi ? "the upper limit is below the lower one" : NULL;
    }
    if (!lo && !hi) return NULL;
    if (!lo || !hi) return "whole numbers need both limits or none";
    uint64_t low, last;
    pl_number max = *hi;
    if (max.kind != PL_NUM_INT || (max.magnitude == 0 && e->kind == 'u'))
        return "the upper limit is not above the lower one";
    /* hi itself is excluded, so it may exceed the largest value of the type by one. */
    max.magnitude = max.negative || max.magnitude == 0 ? max.magnitude + 1 : max.magnitude - 1;
    max.negative = max.negative || hi->magnitude == 0;
    if (pl_element_encode(e, lo, &low) != PL_FIT_OK ||
        pl_element_encode(e, &max, &last) != PL_FIT_OK)
        return "the limits do not fit the type";
    /* Modulo 2^64, and therefore valid for both signs. */
    uint64_t from = lo->negative ? 0 - lo->magnitude : lo->magnitude,
             to = hi->negative ? 0 - hi->magnitude : hi->magnitude;
    bool ordered = e->kind == 'u' ? from < to : (int64_t)from < (int64_t)to;
    if (!ordered) return "the upper limit is not above the lower one";
    init->limited = true;
    init->lo = (int64_t)from;
    init->span = to - from;
    return NULL;
}

bool pl_case_sized(pl_case *c, size_t k)
{
    pl_case_arg *a = &c->arg[k];
    pl_gpu *gpu = c->more->gpu;
    uint64_t size = c->more->arg.at[k].element->bytes, limit = MAX_BUFFER;
    if (a->count <= limit / size) {
        a->bytes = a->count * size;
        return true;
    }
    char need[64], have[64];
    snprintf(need, sizeof need, "%" PRIu64 " * %" PRIu64, a->count, size);
    snprintf(have, sizeof have, "the largest buffer has %" PRIu64, limit);
    pl_report(&gpu->diags, PL_E0412, pl_case_arg_at(c, k),
              pl_arena_printf(gpu->messages, "argument %zu", k + 1), need, have);
    return false;
}

/* ---------------------------------------------------------------- preparing */

/* Returns the first kernels of a module whose names contain `part`, such as the C++ name in a
 * mangled one, separated by commas; "": none. */
static const char *kernel_list(pl_gpu *gpu, const pl_module *m, const char *part)
{
    const char *list = "";
    size_t found = 0;
    for (size_t i = 0; i < pl_module_kernel_count(m); i++) {
        const char *name = pl_module_kernel_name(m, i);
        if (!strstr(name, part)) continue;
        if (found++ == 12)
            return pl_arena_printf(gpu->messages, "%s, ...; `ptxloom as -v` lists all", list);
        list = pl_arena_printf(gpu->messages, "%s%s%s", list, found > 1 ? ", " : "", name);
    }
    return list;
}

static pl_status choose_entry(pl_case *c, pl_module *m, const char *name,
                              const pl_prog_func **entry)
{
    pl_gpu *gpu = c->more->gpu;
    size_t n = pl_module_kernel_count(m);
    if (!name && n == 1) name = pl_module_kernel_name(m, 0);
    *entry = name ? pl_module_entry(m, name) : NULL;
    if (*entry) return PL_OK;
    const char **names = pl_arena_array(gpu->messages, const char *, n + 1);
    for (size_t i = 0; names && i < n; i++) names[i] = pl_module_kernel_name(m, i);
    const char *list = name && *name ? kernel_list(gpu, m, name) : "";
    pl_diag *d = name ? pl_report(&gpu->diags, PL_E0408, case_at(c), m->name, name)
                      : pl_report(&gpu->diags, PL_E0409, case_at(c), m->name,
                                  n ? pl_arena_printf(gpu->messages, "%zu", n) : "no");
    const char *nearest = name && names ? pl_nearest(name, names, n) : NULL;
    if (nearest || (*list && !strchr(list, ',')))
        d->help = pl_arena_printf(gpu->messages, "did you mean '%s'?", nearest ? nearest : list);
    else if (n > 0)
        d->help = pl_arena_printf(gpu->messages, "its kernels: %s",
                                  *list ? list : kernel_list(gpu, m, ""));
    return PL_INVALID;
}

/* Returns the argument whose bytes argument k passes: itself, or an earlier one. */
static size_t resolve_same(const pl_case *c, size_t k)
{
    while (c->more->arg.at[k].same_as) k = c->more->arg.at[k].same_as - 1;
    return k;
}

/* Describes an argument for messages: a buffer as "s32 *", a number as "f32", an array by value as
 * "u8[24]". */
static const char *describe(pl_case *c, size_t k)
{
    k = resolve_same(c, k);
    const pl_case_arg *a = &c->arg[k];
    static const char *const resources[] = {NULL, "a tensor map", "a texture", "a surface"};
    if (c->more->arg.at[k].resource) return resources[c->more->arg.at[k].resource->kind];
    if (a->buffer) return "a buffer";
    if (c->more->arg.at[k].is_array)
        return pl_arena_printf(c->more->arena, "%s[%" PRIu64 "]", a->type, a->count);
    return a->type;
}

/* Returns the number of arguments that are launch parameters, including those of later launches;
 * the arguments after them set module variables. */
static size_t count_parameters(const pl_case *c)
{
    size_t n = 0;
    while (n < c->nargs && !c->arg[n].variable) n++;
    return n;
}

/* Returns the size of the parameter that argument k passes. */
static uint64_t parameter_bytes(const pl_case *c, size_t k)
{
    k = resolve_same(c, k);
    const pl_arg_resource *r = c->more->arg.at[k].resource;
    if (r) return r->kind == PL_ARG_TENSORMAP ? PL_TENSORMAP_BYTES : 8;
    return c->arg[k].buffer ? 8 : c->arg[k].bytes;
}

/* Returns example arguments, for a kernel whose parameters the user does not know. */
static const char *example(const pl_case *c, const pl_prog_func *f)
{
    pl_arena *a = c->more->gpu->messages;
    const bool file = c->more->path != NULL; /* of a launch file: its words instead */
    const char *args =
        file ? " \"args\": ["
             : pl_arena_printf(a, "%s%s", c->grid[0] ? "" : " -g 1", c->block[0] ? "" : " -b 32");
    for (size_t i = 0; i < f->params.n; i++) {
        const pl_prog_param *p = &f->params.at[i];
        const char *type = pl_word_text[p->type], *sep = !file ? " " : i ? ", " : "";
        const bool floating = type[0] == 'f';
        if (p->size > 8)
            args = pl_arena_printf(
                a, file ? "%s%s{\"struct\": \"u8\", \"count\": %u}" : "%s%s'struct:u8[%u]=0'", args,
                sep, p->size);
        else if (p->size == 8 && !floating && type[0] != 's') /* almost always a pointer */
            args = pl_arena_printf(a, "%s%s%s", args, sep,
                                   file ? "{\"buffer\": \"f32\", \"count\": 1024, \"output\": true}"
                                        : "'out:f32[1024]'");
        else
            args =
                pl_arena_printf(a, file ? "%s%s{\"scalar\": \"%c%u\", \"value\": 1}" : "%s%s%c%u:1",
                                args, sep, floating ? 'f' : 'u', 8 * p->size);
    }
    return file ? pl_arena_printf(a, "%s]", args) : args;
}

/* Warns of an integer for a floating-point parameter, or the reverse, which is usually a mistake.
 */
static void warn_type_mismatch(pl_case *c, size_t k, const pl_prog_param *p)
{
    pl_gpu *gpu = c->more->gpu;
    const size_t from = resolve_same(c, k);
    const pl_arg_more *a = &c->more->arg.at[from];
    const char *type = pl_word_text[p->type];
    if (a->resource || a->is_array || type[0] == 'b') return;
    const bool floating = type[0] == 'f',
               passes_float = !c->arg[from].buffer && a->element->kind == 'f';
    if (floating == passes_float) return;
    pl_diag *d =
        pl_report(&gpu->diags, PL_W0433, pl_case_arg_at(c, k), (unsigned)k + 1, describe(c, k),
                  passes_float          ? "a floating-point number"
                  : c->arg[from].buffer ? "an address"
                                        : "an integer",
                  p->name, pl_arena_printf(gpu->messages, ".%s", type));
    if (!c->arg[from].buffer)
        d->help = pl_arena_printf(gpu->messages, "write it as %c%u:VALUE", floating ? 'f' : type[0],
                                  8 * p->size);
}

/* True if the argument is a buffer in a memory with 32-bit addresses. */
static bool is_narrow_pointer(const pl_case *c, size_t k)
{
    const uint64_t base = c->more->gpu->memory.base;
    return base && base < PL_NARROW_END && c->arg[resolve_same(c, k)].buffer &&
           !c->more->arg.at[resolve_same(c, k)].resource;
}

/* Checks the arguments of one launch: `nargs` from number `first` on. */
static pl_status check_args(pl_case *c, const pl_prog_func *f, size_t first, size_t nargs,
                            pl_loc at)
{
    pl_gpu *gpu = c->more->gpu;
    pl_status st = PL_OK;
    if (f->params.n != nargs) {
        pl_diag *d =
            pl_report(&gpu->diags, PL_E0410, at, f->name, (unsigned)f->params.n,
                      pl_plural(f->params.n), (unsigned)nargs, nargs == 1 ? " is" : "s are");
        const char *list = "";
        for (size_t i = 0; i < f->params.n; i++)
            list = pl_arena_printf(gpu->messages, "%s%s.%s %s", list, i ? ", " : "",
                                   pl_word_text[f->params.at[i].type], f->params.at[i].name);
        d->help = f->params.n == 0
                      ? "the kernel has no parameters"
                      : pl_arena_printf(gpu->messages, "the parameters are: %s; for example%s",
                                        list, example(c, f));
        return PL_INVALID;
    }
    for (size_t k = first; k < first + nargs; k++) {
        uint64_t bytes = parameter_bytes(c, k);
        const pl_prog_param *p = &f->params.at[k - first];
        if (bytes == p->size || (p->size == 4 && is_narrow_pointer(c, k))) {
            warn_type_mismatch(c, k, p);
            continue;
        }
        pl_diag *d = pl_report(
            &gpu->diags, PL_E0411, pl_case_arg_at(c, k), (unsigned)k + 1, describe(c, k),
            pl_arena_printf(gpu->messages, "%" PRIu64 " byte%s", bytes, pl_plural(bytes)), p->name,
            pl_arena_printf(gpu->messages, "%u (.%s)", p->size, pl_word_text[p->type]));
        if (p->size == 8 && !c->arg[resolve_same(c, k)].buffer)
            d->help = "for a pointer write a buffer, for a number a 64-bit type";
        st = PL_INVALID;
    }
    return st;
}

/* Returns "argument 3 (f32[1024])". */
static const char *argument_name(pl_case *c, size_t k)
{
    return pl_arena_printf(c->more->gpu->messages, "argument %zu (%s[%" PRIu64 "])", k + 1,
                           c->arg[k].type, c->arg[k].count);
}

static pl_status check_host_memory(pl_case *c, const pl_module *m)
{
    pl_need *need = pl_arena_array(c->more->gpu->messages, pl_need,
                                   c->nargs + pl_module_memory_needs(m, NULL) + 1);
    if (!need) return pl_gpu_no_memory(c->more->gpu, "while preparing a launch");
    for (size_t k = 0; k < c->nargs; k++)
        need[k] = (pl_need){argument_name(c, k),
                            c->more->arg.at[k].same_as || c->arg[k].variable ? 0 : c->arg[k].bytes,
                            "use fewer elements", PL_NEED_MEMORY};
    return pl_budget_check(c->more->gpu, case_at(c), "the launch", need,
                           c->nargs + pl_module_memory_needs(m, need + c->nargs));
}

static pl_status reject_file(pl_case *c, size_t k, const char *path, const char *why,
                             const char *help)
{
    pl_report(&c->more->gpu->diags, PL_E0414, pl_case_arg_at(c, k), path, why)->help = help;
    return PL_INVALID;
}

static bool is_npy(const char *path)
{
    size_t n = strlen(path);
    return n > 4 && strcmp(path + n - 4, ".npy") == 0;
}

/* True for an archive of NumPy (.npz), and other zip files. */
static bool is_archive(FILE *f)
{
    char head[4];
    const bool zip =
        fread(head, 1, sizeof head, f) == sizeof head && memcmp(head, "PK\3\4", sizeof head) == 0;
    rewind(f);
    return zip;
}

/* Reports that the stop flag interrupted an operation on argument k. */
static pl_status stopped_at(pl_case *c, size_t k, const char *what)
{
    return pl_gpu_interrupted(
        c->more->gpu, pl_case_arg_at(c, k),
        pl_arena_printf(c->more->gpu->messages, "%s %s", what, argument_name(c, k)));
}

/* Opens the file of an initialiser at its first element. *count: number of elements from there. */
static pl_status open_init(pl_case *c, size_t k, const pl_init *init, FILE **out, uint64_t *count,
                           uint64_t *bytes)
{
    const pl_arg_more *a = &c->more->arg.at[k];
    const char *path = init->path;
    FILE *f = pl_file_open(path);
    if (!f) {
        pl_report(&c->more->gpu->diags, PL_E0001, pl_case_arg_at(c, k), path, pl_file_error(errno));
        return PL_INVALID;
    }
    uint64_t start = init->offset, available = UINT64_MAX;
    const char *problem = NULL;
    char types[96];
    if (is_npy(path) && start == 0) {
        pl_npy npy;
        problem = pl_npy_read(f, &npy);
        if (!problem && !pl_npy_matches(&npy, a->element)) {
            snprintf(types, sizeof types, "its elements are '%s', not %s", npy.dtype,
                     a->element->name);
            problem = types;
        }
        if (!problem && npy.fortran) problem = "it stores columns first (fortran_order)";
        start = npy.data;
        available = npy.count;
    } else if (is_archive(f)) {
        problem = "it is an archive (.npz): save one array with numpy.save";
    }
    long end = problem || fseek(f, 0, SEEK_END) != 0 ? -1 : ftell(f);
    if (!problem && (end < 0 || start > INT64_MAX || fseek(f, (long)start, SEEK_SET) != 0))
        problem = "it cannot be read from this offset";
    if (problem) {
        fclose(f);
        return reject_file(c, k, path, problem, NULL);
    }
    *bytes = (uint64_t)end;
    uint64_t remaining = (uint64_t)end > start ? ((uint64_t)end - start) / a->element->bytes : 0;
    *count = remaining < available ? remaining : available;
    *out = f;
    return PL_OK;
}

pl_status pl_case_count_file(pl_case *c, size_t k)
{
    FILE *f;
    uint64_t bytes;
    pl_status st = open_init(c, k, &c->more->arg.at[k].init, &f, &c->arg[k].count, &bytes);
    if (st == PL_OK) fclose(f);
    return st;
}

static pl_status read_slices(pl_case *c, size_t k, const pl_init *init, FILE *f, uint8_t *to)
{
    const uint64_t bytes = c->arg[k].bytes;
    for (uint64_t done = 0; done < bytes;) {
        const size_t n = bytes - done < SLICE ? (size_t)(bytes - done) : SLICE;
        if (pl_gpu_stopped(c->more->gpu)) return stopped_at(c, k, "reading");
        errno = 0;
        if (fread(to + done, 1, n, f) != n) {
            if (pl_gpu_stopped(c->more->gpu)) return stopped_at(c, k, "reading");
            pl_report(&c->more->gpu->diags, PL_E0001, pl_case_arg_at(c, k), init->path,
                      errno ? strerror(errno) : "it ends too early");
            return PL_IO;
        }
        done += n;
    }
    return PL_OK;
}

/* Says how the size of a file differs from that of argument k, which takes all of it; NULL if it
 * does not, or if the file is too short for a reason that E0413 explains better. */
static const char *wrong_size(pl_case *c, size_t k, const pl_init *init, uint64_t count,
                              uint64_t bytes)
{
    const pl_case_arg *a = &c->arg[k];
    const bool npy = is_npy(init->path) && init->offset == 0;
    if (npy && (count < a->count || (count > a->count && !init->part)))
        return pl_arena_printf(c->more->gpu->messages,
                               "it has %" PRIu64 ", argument %zu needs %" PRIu64, count, k + 1,
                               a->count);
    if (!npy && bytes > a->bytes && !init->part)
        return pl_arena_printf(c->more->gpu->messages,
                               "it has %" PRIu64 " byte%s, argument %zu needs %" PRIu64, bytes,
                               pl_plural(bytes), k + 1, a->bytes);
    return NULL;
}

static const char *size_help(pl_case *c, size_t k, const pl_init *init, uint64_t count)
{
    const pl_element *e = c->more->arg.at[k].element;
    if (count <= c->arg[k].count && is_npy(init->path)) return NULL;
    if (count <= c->arg[k].count)
        return pl_arena_printf(c->more->gpu->messages,
                               "an element of type %s has %" PRIu32 " byte%s: check the type",
                               e->name, (uint32_t)e->bytes, pl_plural(e->bytes));
    return pl_arena_printf(c->more->gpu->messages,
                           "write %s[%" PRIu64 "] to take all elements; for a part, write a launch "
                           "file with {\"file\": PATH, \"offset\": BYTES}",
                           e->name, count);
}

static pl_status read_init(pl_case *c, size_t k, const pl_init *init, uint8_t *to)
{
    pl_gpu *gpu = c->more->gpu;
    FILE *f;
    uint64_t count, bytes;
    pl_status st = open_init(c, k, init, &f, &count, &bytes);
    if (st != PL_OK) return st;
    const char *problem = wrong_size(c, k, init, count, bytes);
    if (problem) {
        fclose(f);
        return reject_file(c, k, init->path, problem, size_help(c, k, init, count));
    }
    if (count < c->arg[k].count) {
        pl_report(&gpu->diags, PL_E0413, pl_case_arg_at(c, k), init->path,
                  pl_arena_printf(gpu->messages, "argument %zu", k + 1),
                  pl_arena_printf(gpu->messages, "%" PRIu64 " byte%s", c->arg[k].bytes,
                                  pl_plural(c->arg[k].bytes)),
                  pl_arena_printf(gpu->messages, "%" PRIu64, init->offset),
                  pl_arena_printf(gpu->messages, "%" PRIu64, bytes));
        st = PL_INVALID;
    } else {
        st = read_slices(c, k, init, f, to);
    }
    fclose(f);
    return st;
}

/* Fills a buffer in slices: large buffers take seconds, and the user may interrupt between slices.
 */
static pl_status fill_with(pl_case *c, size_t k, const pl_init *init, uint8_t *to)
{
    const pl_arg_more *a = &c->more->arg.at[k];
    if (init->kind == PL_INIT_FILE) return read_init(c, k, init, to);
    const uint64_t count = c->arg[k].count;
    for (uint64_t first = 0; first < count; first += SLICE) {
        if (pl_gpu_stopped(c->more->gpu)) return stopped_at(c, k, "filling");
        pl_fill(to, a->element, first, count - first < SLICE ? count : first + SLICE, init);
    }
    return PL_OK;
}

static pl_status fill(pl_case *c, size_t k, uint8_t *to)
{
    return fill_with(c, k, &c->more->arg.at[k].init, to);
}

static pl_status allocate_memory(pl_case *c, size_t k, const char *name)
{
    pl_case_arg *a = &c->arg[k];
    pl_case_more *own = c->more;
    a->address = pl_memory_alloc_gap(&own->gpu->memory, a->bytes, PL_GAP + RECORDED_GUARD, name);
    if (!a->address) return pl_gpu_no_memory(own->gpu, "while allocating buffers");
    pl_memory_set_type(&own->gpu->memory, a->address, own->arg.at[k].element->name,
                       own->arg.at[k].element->bytes);
    const pl_init *init = &own->arg.at[k].init;
    if (!own->arg.at[k].initialised)
        pl_memory_mark(&own->gpu->memory, a->address, PL_ALLOC_UNDEFINED);
    if (a->output) pl_memory_mark(&own->gpu->memory, a->address, PL_ALLOC_OUTPUT);
    /* New memory is zero. */
    if (!a->bytes || (init->kind == PL_INIT_CONST && !init->bits)) return PL_OK;
    pl_memory_mark(&own->gpu->memory, a->address, PL_ALLOC_WRITTEN);
    return fill(c, k, pl_memory_at(&own->gpu->memory, a->address, a->bytes));
}

static pl_status report_unusable(pl_case *c, size_t k, const char *why)
{
    pl_report(&c->more->gpu->diags, PL_E0430, pl_case_arg_at(c, k), (unsigned)k + 1, why);
    return PL_INVALID;
}

/* Allocates the memory or array of a resource, or uses that of another argument. */
static pl_status resource_memory(pl_case *c, size_t k, const char *name, bool array)
{
    pl_case_more *own = c->more;
    pl_arg_resource *r = own->arg.at[k].resource;
    if (r->source_arg && array) {
        const pl_arg_resource *other = own->arg.at[r->source_arg - 1].resource;
        if (!other || !other->array_handle)
            return report_unusable(c, k, "the argument that it refers to has no array");
        r->array_handle = other->array_handle;
        return PL_OK;
    }
    if (r->source_arg) {
        if (!c->arg[r->source_arg - 1].address ||
            (own->arg.at[r->source_arg - 1].resource &&
             own->arg.at[r->source_arg - 1].resource->array_handle))
            return report_unusable(c, k, "the argument that it refers to has no memory");
        return PL_OK;
    }
    if (!array) return allocate_memory(c, k, name);
    pl_status st = pl_array_create(own->gpu, &r->array, name, &r->array_handle);
    if (st != PL_OK)
        return st == PL_INVALID ? report_unusable(c, k, "no array has this shape") : st;
    const pl_image_set *images = &pl_object_find(&own->gpu->objects, r->array_handle)->images;
    c->arg[k].address = images->level[0].address;
    for (uint32_t n = 0; !own->arg.at[k].initialised && n < images->levels; n++)
        pl_memory_mark(&own->gpu->memory, images->level[n].address, PL_ALLOC_UNDEFINED);
    return fill(c, k, pl_array_view(own->gpu, r->array_handle, 0));
}

static pl_status prepare_resource(pl_case *c, size_t k, const char *name, uint8_t *param)
{
    pl_case_more *own = c->more;
    pl_arg_resource *r = own->arg.at[k].resource;
    bool array = r->kind == PL_ARG_SURFACE ||
                 (r->kind == PL_ARG_TEXTURE && r->texture.source == PL_TEXTURE_ARRAY);
    const char *why = "it is wrong";
    pl_status st = resource_memory(c, k, name, array);
    if (st != PL_OK) return st;
    pl_ptr memory = c->arg[r->source_arg ? r->source_arg - 1 : k].address;
    if (r->kind == PL_ARG_TENSORMAP) {
        pl_tensor_desc d = r->tensor;
        d.address += memory;
        st = pl_tensor_map(&d, param, &why);
    } else {
        pl_texture_desc d = r->texture;
        d.array = r->array_handle;
        d.address = memory;
        d.bytes = c->arg[r->source_arg ? r->source_arg - 1 : k].bytes;
        st = r->kind == PL_ARG_TEXTURE
                 ? pl_texture_create(own->gpu, &d, &r->handle, &why)
                 : pl_surface_create(own->gpu, r->array_handle, r->level, &r->handle, &why);
        memcpy(param, &r->handle, sizeof r->handle);
    }
    return st == PL_INVALID ? report_unusable(c, k, why) : st;
}

static pl_status report_unknown_variable(pl_case *c, size_t k, const pl_module *m)
{
    pl_gpu *gpu = c->more->gpu;
    const size_t n = m->program->vars.n;
    const char **names = pl_arena_array(gpu->messages, const char *, n + 1), *list = "";
    size_t known = 0;
    for (size_t i = 0; i < n; i++) {
        const pl_prog_var *v = &m->program->vars.at[i];
        if (v->space == PL_SP_SHARED) continue;
        if (known < 12)
            list = pl_arena_printf(gpu->messages, "%s%s%s", list, known ? ", " : "", v->name);
        names[known++] = v->name;
    }
    pl_diag *d = pl_report(&gpu->diags, PL_E0435, pl_case_arg_at(c, k), c->arg[k].variable);
    const char *nearest = pl_nearest(c->arg[k].variable, names, known);
    d->help = nearest ? pl_arena_printf(gpu->messages, "did you mean '%s'?", nearest)
              : known ? pl_arena_printf(gpu->messages, "its variables: %s%s", list,
                                        known > 12 ? ", ..." : "")
                      : "it has none";
    return PL_INVALID;
}

/* Prepares a variable of the module, which is written if values are given for it. */
static pl_status prepare_variable(pl_case *c, size_t k, pl_module *m)
{
    pl_case_more *own = c->more;
    pl_case_arg *a = &c->arg[k];
    const pl_element *e = own->arg.at[k].element;
    uint64_t bytes;
    if (pl_module_symbol(m, a->variable, &a->address, &bytes) != PL_OK)
        return report_unknown_variable(c, k, m);
    if (!a->count) a->count = bytes / e->bytes;
    if (a->count > bytes / e->bytes || !a->count) {
        pl_report(
            &own->gpu->diags, PL_E0436, pl_case_arg_at(c, k), a->variable,
            pl_arena_printf(own->gpu->messages, "%" PRIu64 " byte%s", bytes, pl_plural(bytes)),
            pl_arena_printf(own->gpu->messages, "%" PRIu64 " element%s", a->count,
                            pl_plural(a->count)),
            e->name);
        a->address = 0;
        return PL_INVALID;
    }
    a->bytes = a->count * e->bytes;
    if (!own->arg.at[k].initialised) return PL_OK;
    pl_memory_mark(&own->gpu->memory, a->address, PL_ALLOC_WRITTEN);
    return fill(c, k, pl_memory_at(&own->gpu->memory, a->address, a->bytes));
}

/* Binds a texture or surface to a variable of the module. */
static pl_status bind_variable(pl_case *c, size_t k, pl_module *m)
{
    pl_case_more *own = c->more;
    if (!own->arg.at[k].resource) return prepare_variable(c, k, m);
    const char *name = c->arg[k].variable;
    uint64_t handle;
    uint8_t param[sizeof handle];
    pl_status st = prepare_resource(c, k, name, param);
    if (st != PL_OK) return st;
    memcpy(&handle, param, sizeof handle);
    if (pl_module_bind(m, name, handle) == PL_OK) return PL_OK;
    pl_report(&own->gpu->diags, PL_E0431, pl_case_arg_at(c, k), name);
    return PL_INVALID;
}

static pl_status prepare_arg(pl_case *c, size_t k, const pl_prog_param *p, uint8_t *params)
{
    pl_case_arg *a = &c->arg[k];
    pl_case_more *own = c->more;
    uint8_t *param = params + p->offset;
    own->arg.at[k].param = param;
    if (own->arg.at[k].same_as) {
        memcpy(param, own->arg.at[own->arg.at[k].same_as - 1].param, p->size);
        return PL_OK;
    }
    const char *name = pl_arena_printf(own->arena, "argument %zu (%s)", k + 1, p->name);
    if (own->arg.at[k].resource) return prepare_resource(c, k, name, param);
    if (!a->buffer) {
        if (own->arg.at[k].is_array) return fill(c, k, param);
        memcpy(param, &own->arg.at[k].value, p->size);
        return PL_OK;
    }
    pl_status st = allocate_memory(c, k, name);
    if (p->size == 4 && a->address + a->bytes > PL_NARROW_PARAM)
        return pl_gpu_no_memory(own->gpu, "while allocating buffers below 4 GiB");
    memcpy(param, &a->address, p->size);
    return st;
}

/* Lays out the parameters of a launch: `nargs` arguments from number `first` on. */
static pl_status prepare_params(pl_case *c, const pl_prog_func *f, size_t first, size_t nargs,
                                pl_launch *l)
{
    uint8_t *params = pl_arena_alloc(c->more->arena, f->param_bytes + 16);
    pl_status st = PL_OK;
    for (size_t k = 0; k < nargs && st == PL_OK; k++)
        st = prepare_arg(c, first + k, &f->params.at[k], params);
    l->kernel = f->name;
    l->params = params;
    l->param_bytes = f->param_bytes;
    return st;
}

static pl_loc step_at(pl_case *c, const pl_case_step *x)
{
    pl_loc at = case_at(c);
    at.line = x->line;
    at.column = x->column;
    at.length = x->length;
    return at;
}

static pl_status prepare(pl_case *c, pl_module *m, pl_launch *l)
{
    pl_case_more *own = c->more;
    size_t n = own->step.n, nparams = count_parameters(c),
           nfirst = n ? own->step.at[0].first : nparams;
    const pl_prog_func **f = pl_arena_array(own->arena, const pl_prog_func *, n + 1);
    pl_launch *later = pl_arena_array(own->arena, pl_launch, n + 1);
    pl_case_release(c);
    pl_status st = choose_entry(c, m, c->entry, &f[0]);
    if (st == PL_OK) st = check_args(c, f[0], 0, nfirst, case_at(c));
    for (size_t k = 0; k < n && st == PL_OK; k++) {
        const pl_case_step *x = &own->step.at[k];
        st = choose_entry(c, m, x->entry, &f[k + 1]);
        if (st == PL_OK) st = check_args(c, f[k + 1], x->first, x->count, step_at(c, x));
    }
    if (st == PL_OK) st = check_host_memory(c, m);
    if (st != PL_OK) return st;
    own->prepared = true;
    st = prepare_params(c, f[0], 0, nfirst, l);
    memcpy(l->grid, c->grid, sizeof l->grid);
    memcpy(l->block, c->block, sizeof l->block);
    memcpy(l->cluster, c->cluster, sizeof l->cluster);
    l->dynamic_shared = c->dynamic_shared;
    l->stack = c->stack;
    l->cooperative |= own->cooperative;
    l->then = n ? later : NULL;
    for (size_t k = 0; k < n && st == PL_OK; k++) {
        const pl_case_step *x = &own->step.at[k];
        st = prepare_params(c, f[k + 1], x->first, x->count, &later[k]);
        memcpy(later[k].grid, x->grid, sizeof x->grid);
        memcpy(later[k].block, x->block, sizeof x->block);
        memcpy(later[k].cluster, x->cluster, sizeof x->cluster);
        later[k].dynamic_shared = x->dynamic_shared;
        later[k].stack = x->stack;
        later[k].dependent = x->dependent;
        later[k].cooperative = x->cooperative;
        later[k].then = k + 1 < n ? &later[k + 1] : NULL;
    }
    for (size_t k = nparams; k < c->nargs && st == PL_OK; k++) st = bind_variable(c, k, m);
    return st;
}

pl_status pl_case_prepare(pl_case *c, pl_module *m, pl_launch *l)
{
    PL_GUARD(return pl_gpu_no_memory(c->more->gpu, "while laying out parameters"))
    return prepare(c, m, l);
}

void pl_case_release(pl_case *c)
{
    if (!c->more->prepared) return;
    for (size_t k = c->nargs; k-- > 0;) {
        pl_arg_resource *r = c->more->arg.at[k].resource;
        if (r && r->handle) pl_resource_free(c->more->gpu, r->handle);
        if (r && r->array_handle && !r->source_arg)
            pl_resource_free(c->more->gpu, r->array_handle);
        else if (c->arg[k].address && (r || !c->arg[k].variable))
            pl_free_device(c->more->gpu, c->arg[k].address);
        if (r) r->handle = r->array_handle = 0;
        c->arg[k].address = 0;
    }
    c->more->prepared = false;
}

/* ---------------------------------------------------------------- after the launch */

static const uint8_t *bytes_of(const pl_case *c, size_t k, uint64_t bytes)
{
    return c->arg[k].address ? pl_memory_at(&c->more->gpu->memory, c->arg[k].address, bytes) : NULL;
}

pl_status pl_case_sha256(const pl_case *c, size_t k, char hex[65])
{
    pl_sha256 s;
    pl_sha256_init(&s);
    const uint64_t bytes = c->arg[k].bytes;
    const uint8_t *p = bytes_of(c, k, bytes);
    hex[0] = '\0';
    for (uint64_t done = 0; p && done < bytes; done += SLICE) {
        if (done && pl_gpu_stopped(c->more->gpu)) return PL_INTERRUPTED;
        pl_sha256_add(&s, p + done, bytes - done < SLICE ? bytes - done : SLICE);
    }
    pl_sha256_hex(&s, hex);
    return PL_OK;
}

void pl_case_element(const pl_case *c, size_t k, uint64_t i, char *buf, size_t size)
{
    const pl_element *e = c->more->arg.at[k].element;
    const uint8_t *p = i < c->arg[k].count ? bytes_of(c, k, c->arg[k].bytes) : NULL;
    if (p)
        pl_element_print(e, p + i * e->bytes, buf, size);
    else if (size > 0)
        buf[0] = '\0';
}

static pl_output_how save_options(const pl_case *c, size_t k, bool force)
{
    return (pl_output_how){.kind = is_npy(c->arg[k].save) ? PL_OUTPUT_NPY : PL_OUTPUT_RAW,
                           .bytes = c->arg[k].bytes,
                           .force = force};
}

/* A device or pipe. */
static bool is_device(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

/* True if the path determines the format. A device or pipe accepts any data. */
static bool is_typed(const char *path)
{
    const char *dot = strrchr(path, '.');
    return is_npy(path) || (dot && (strcmp(dot, ".bin") == 0 || strcmp(dot, ".raw") == 0)) ||
           is_device(path);
}

pl_status pl_case_check_save(pl_case *c, size_t k, bool force)
{
    PL_GUARD(return pl_gpu_no_memory(c->more->gpu, "while preparing a launch"))
    if (!is_typed(c->arg[k].save)) {
        pl_report(&c->more->gpu->diags, PL_E0018, pl_case_arg_at(c, k), c->arg[k].save)->help =
            pl_diag_explanation(PL_E0018);
        return PL_INVALID;
    }
    for (size_t j = 0; j < k; j++)
        if (c->arg[j].save && strcmp(c->arg[j].save, c->arg[k].save) == 0 &&
            !is_device(c->arg[k].save)) {
            pl_report(&c->more->gpu->diags, PL_E0022, pl_case_arg_at(c, k), c->arg[k].save);
            return PL_INVALID;
        }
    const pl_output_how how = save_options(c, k, force);
    return pl_output_check(c->more->gpu, c->arg[k].save, &how);
}

pl_status pl_case_save(pl_case *c, size_t k, bool force)
{
    PL_GUARD(return pl_gpu_no_memory(c->more->gpu, "while saving an argument"))
    const pl_output_how how = save_options(c, k, force);
    const uint8_t *p = bytes_of(c, k, c->arg[k].bytes);
    pl_output *o;
    pl_status st = pl_output_open(c->more->gpu, c->arg[k].save, &how, &o);
    if (st != PL_OK) return st;
    FILE *f = pl_output_stream(o);
    if (how.kind == PL_OUTPUT_NPY && !pl_npy_write(f, c->more->arg.at[k].element, c->arg[k].count))
        st = PL_IO;
    for (uint64_t done = 0, n; st == PL_OK && p && done < c->arg[k].bytes; done += n) {
        n = c->arg[k].bytes - done < SLICE ? c->arg[k].bytes - done : SLICE;
        if (fwrite(p + done, 1, n, f) != n) st = PL_IO;
        if (pl_gpu_stopped(c->more->gpu)) st = PL_INTERRUPTED;
    }
    st = pl_output_close(o, st);
    return st == PL_INTERRUPTED ? stopped_at(c, k, "saving") : st;
}

/* ---- expected values ---- */

static double value_of(const pl_element *e, const uint8_t *p)
{
    uint64_t u = 0;
    memcpy(&u, p, e->bytes);
    if (e->kind == 'f') return pl_element_value(e, u);
    if (e->kind == 'u') return (double)u;
    const unsigned unused = 64 - 8u * e->bytes;
    return (double)((int64_t)(u << unused) >> unused);
}

static bool is_close(const pl_arg_more *a, const uint8_t *actual, const uint8_t *expected)
{
    if (memcmp(actual, expected, a->element->bytes) == 0) return true;
    const double x = value_of(a->element, actual), y = value_of(a->element, expected);
    if (isnan(x) || isnan(y)) return isnan(x) && isnan(y);
    if (a->element->kind == 'f' && x == y) return true; /* zeros of either sign */
    return fabs(x - y) <= a->atol + a->rtol * fabs(y);
}

static pl_status report_difference(pl_case *c, size_t k, uint64_t first, uint64_t count,
                                   const uint8_t *actual, const uint8_t *expected)
{
    const pl_element *e = c->more->arg.at[k].element;
    pl_arena *a = c->more->gpu->messages;
    char x[64], y[64];
    pl_element_print(e, actual + first * e->bytes, x, sizeof x);
    pl_element_print(e, expected + first * e->bytes, y, sizeof y);
    pl_report(&c->more->gpu->diags, PL_E0434, pl_case_arg_at(c, k),
              c->arg[k].variable ? pl_arena_printf(a, "variable '%s'", c->arg[k].variable)
                                 : pl_arena_printf(a, "argument %zu", k + 1),
              pl_arena_printf(a, "%" PRIu64, first), pl_arena_strdup(a, x), pl_arena_strdup(a, y))
        ->help = pl_arena_printf(a, "%" PRIu64 " of %" PRIu64 " element%s", count, c->arg[k].count,
                                 c->arg[k].count == 1 ? " differs" : "s differ");
    return PL_FAULT;
}

static pl_status compare(pl_case *c, size_t k, uint8_t *expected)
{
    const pl_arg_more *a = &c->more->arg.at[k];
    const unsigned size = a->element->bytes;
    const uint8_t *actual = bytes_of(c, k, c->arg[k].bytes);
    uint64_t first = 0, count = 0;
    pl_status st = fill_with(c, k, &a->expect, expected);
    for (uint64_t i = 0; st == PL_OK && actual && i < c->arg[k].count; i++) {
        if (i % SLICE == SLICE - 1 && pl_gpu_stopped(c->more->gpu))
            return stopped_at(c, k, "comparing");
        if (is_close(a, actual + i * size, expected + i * size)) continue;
        if (!count++) first = i;
    }
    return count ? report_difference(c, k, first, count, actual, expected) : st;
}

static pl_status compare_guarded(pl_case *c, size_t k, uint8_t *expected)
{
    PL_GUARD(return PL_NOMEM)
    return compare(c, k, expected);
}

pl_status pl_case_compare(pl_case *c, size_t k)
{
    if (!c->arg[k].expected || !c->arg[k].address) return PL_OK;
    uint8_t *expected = malloc(c->arg[k].bytes + 8);
    pl_status st = expected ? compare_guarded(c, k, expected) : PL_NOMEM;
    free(expected);
    return st == PL_NOMEM ? pl_gpu_no_memory(c->more->gpu, "while comparing an output") : st;
}
