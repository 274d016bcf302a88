/* gpu.c - the gpu object: opening, closing, and the diagnostics that all other parts report to. */
#include "arch/builtin_machines.h"
#include "lib/internal.h"
#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool open_messages(pl_gpu *gpu)
{
    gpu->messages = pl_arena_open();
    if (!gpu->messages) return false;
    pl_diags_init(&gpu->diags, gpu->messages);
    if (gpu->message_limit) gpu->diags.limit = gpu->message_limit;
    gpu->no_memory[0] = '\0';
    gpu->epoch++;
    return true;
}

static pl_status load_machine(pl_gpu *gpu, const char *machine)
{
    PL_GUARD(return pl_gpu_no_memory(gpu, "while reading a machine file"))
    const char *folders = getenv("PTXLOOM_ARCH_PATH");
    const char *path = pl_arena_printf(gpu->arena, "%s%s%s", folders ? folders : "",
                                       folders ? ":" : "", PL_ARCH_DIR);
    gpu->machine = pl_machine_load(gpu->arena, &gpu->diags, machine, path);
    return gpu->machine ? PL_OK : PL_INVALID;
}

pl_status pl_gpu_open(pl_gpu **out, const char *machine)
{
    *out = NULL;
    pl_gpu *gpu = calloc(1, sizeof *gpu);
    if (!gpu) return PL_NOMEM;
    gpu->arena = pl_arena_open();
    if (!gpu->arena || !open_messages(gpu)) {
        pl_arena_close(gpu->arena);
        free(gpu);
        return PL_NOMEM;
    }
    pl_memory_init(&gpu->memory);
    gpu->system.out.limit = PL_PRINT_DEFAULT;
    *out = gpu;
    return machine ? load_machine(gpu, machine) : PL_OK;
}

void pl_gpu_close(pl_gpu *gpu)
{
    if (!gpu) return;
    pl_memo_forget(gpu, NULL);
    pl_objects_free(&gpu->objects);
    pl_memory_free(&gpu->memory);
    pl_tlb_close(&gpu->tlb);
    pl_system_close(&gpu->system);
    pl_launch_cache_close(&gpu->stock);
    pl_arena_close(gpu->printed);
    pl_arena_close(gpu->messages);
    pl_arena_close(gpu->explanations);
    pl_arena_close(gpu->arena);
    free(gpu);
}

const char *pl_gpu_builtin(size_t k)
{
    const pl_machine_text *t = pl_machine_texts;
    while (k > 0 && t->name) k--, t++;
    return t->name;
}

const char *pl_gpu_name(const pl_gpu *gpu)
{
    return gpu->machine ? gpu->machine->name : NULL;
}

static const pl_conf_entry *entry_of(const pl_gpu *gpu, const char *key)
{
    char section[64];
    const char *dot = strchr(key, '.');
    if (!gpu->machine || !dot || (size_t)(dot - key) >= sizeof section) return NULL;
    memcpy(section, key, (size_t)(dot - key));
    section[dot - key] = '\0';
    return pl_conf_find(gpu->machine->conf, section, dot + 1);
}

const char *pl_gpu_text(const pl_gpu *gpu, const char *key)
{
    const pl_conf_entry *e = entry_of(gpu, key);
    return e ? e->value : NULL;
}

pl_status pl_gpu_heap(pl_gpu *gpu, uint64_t bytes)
{
    pl_heap *h = &gpu->system.heap;
    if (h->base && h->n) return PL_INVALID;
    if (h->base && h->size != bytes) {
        pl_memory_release(&gpu->memory, h->base); /* the next launch allocates it */
        pl_heap_close(h);
    }
    h->size = bytes;
    return PL_OK;
}

bool pl_gpu_in_heap(const pl_gpu *gpu, pl_ptr p)
{
    const pl_heap *h = &gpu->system.heap;
    return h->base && p - h->base < h->size;
}

bool pl_gpu_value(const pl_gpu *gpu, const char *key, const char *unit, double *value)
{
    const pl_conf_entry *e = entry_of(gpu, key);
    return e && pl_conf_value(e, unit, value);
}

size_t pl_gpu_diag_count(const pl_gpu *gpu)
{
    return gpu->diags.list.n + (gpu->no_memory[0] != '\0');
}

static pl_message no_memory_message(const pl_gpu *gpu)
{
    const char *rendered = gpu->no_memory[0]
                               ? gpu->no_memory
                               : "error: out of memory while showing a message [E0422]\n";
    return (pl_message){.severity = "error",
                        .code = pl_diag_code(PL_E0422),
                        .text = rendered,
                        .rendered = rendered};
}

void pl_gpu_demangler(pl_gpu *gpu, char *(*demangle)(const char *name))
{
    gpu->demangle = demangle;
}

static size_t name_length(const char *text)
{
    size_t n = 0;
    while (isalnum((unsigned char)text[n]) || text[n] == '_' || text[n] == '$') n++;
    return n;
}

/* Returns the demangled name in the arena of messages; NULL: it is none. */
static const char *demangled(pl_gpu *gpu, const char *name, size_t n)
{
    char *copy = n > 2 && strncmp(name, "_Z", 2) == 0 ? strndup(name, n) : NULL;
    char *shown = copy ? gpu->demangle(copy) : NULL;
    free(copy);
    const char *kept = shown ? pl_arena_printf(gpu->messages, "%s", shown) : NULL;
    free(shown);
    return kept;
}

/* Returns the text with all mangled names replaced. */
static const char *with_names(pl_gpu *gpu, const char *text)
{
    const char *out = "";
    if (!gpu->demangle || !text || !strstr(text, "_Z")) return text;
    while (*text) {
        const size_t name = name_length(text),
                     n = name ? name
                              : strcspn(text, "abcdefghijklmnopqrstuvwxyz"
                                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$");
        const char *shown = demangled(gpu, text, name);
        out = shown ? pl_arena_printf(gpu->messages, "%s%s", out, shown)
                    : pl_arena_printf(gpu->messages, "%s%.*s", out, (int)n, text);
        text += n;
    }
    return out;
}

pl_message pl_gpu_diag(pl_gpu *gpu, size_t k, bool colour)
{
    PL_GUARD(return no_memory_message(gpu))
    if (k >= gpu->diags.list.n) return no_memory_message(gpu);
    static const char *const severity[] = {"note", "warning", "error"};
    const pl_diag *d = &gpu->diags.list.at[k];
    pl_diag shown = *d;
    shown.text = with_names(gpu, d->text);
    shown.help = with_names(gpu, d->help);
    const char *file = d->at.file < gpu->diags.file.n ? gpu->diags.file.at[d->at.file].name : NULL;
    return (pl_message){.severity = severity[d->severity],
                        .code = pl_diag_code(d->id),
                        .file = file,
                        .line = d->at.line,
                        .column = d->at.column,
                        .text = d->text,
                        .help = d->help,
                        .source = d->source,
                        .rendered = pl_diag_render(&gpu->diags, &shown, colour)};
}

void pl_gpu_diag_limit(pl_gpu *gpu, size_t errors)
{
    gpu->diags.limit = gpu->message_limit = errors ? errors : SIZE_MAX;
}

size_t pl_gpu_diag_dropped(const pl_gpu *gpu)
{
    return gpu->diags.errors > gpu->diags.limit ? gpu->diags.errors - gpu->diags.limit : 0;
}

void pl_gpu_diag_clear(pl_gpu *gpu)
{
    pl_arena *old = gpu->messages;
    /* Without memory for a new arena, the old one stays in use; only space is lost. */
    if (open_messages(gpu))
        pl_arena_close(old);
    else
        gpu->messages = old;
}

static void report_by_code(pl_gpu *gpu, const char *code, const char *a, const char *b,
                           const char *c, const char *help)
{
    pl_diag_id id;
    const bool known = pl_diag_by_code(code, &id);
    assert(known);
    if (!known) return;
    pl_diag *d = pl_report(&gpu->diags, id, (pl_loc){.file = UINT32_MAX}, a ? a : "", b ? b : "",
                           c ? c : "");
    if (help) d->help = pl_arena_strdup(gpu->messages, help);
}

void pl_gpu_report(pl_gpu *gpu, const char *code, const char *a, const char *b, const char *c,
                   const char *help)
{
    PL_GUARD(pl_gpu_no_memory(gpu, "while reporting an error"); return )
    report_by_code(gpu, code, a, b, c, help);
}

pl_status pl_gpu_conditional(const pl_gpu *gpu, uint64_t handle, uint32_t *value)
{
    for (size_t k = 0; k < gpu->system.conditional.n; k++)
        if (gpu->system.conditional.at[k].handle == handle) {
            *value = gpu->system.conditional.at[k].value;
            return PL_OK;
        }
    return PL_INVALID;
}

pl_status pl_gpu_set_conditional(pl_gpu *gpu, uint64_t handle, uint32_t value)
{
    return pl_set_conditional(&gpu->system, handle, value)
               ? PL_OK
               : pl_gpu_no_memory(gpu, "for a conditional of a graph");
}

const char *pl_gpu_printed_bytes(pl_gpu *gpu, size_t *bytes)
{
    pl_print_buffer *out = &gpu->system.out, *err = &gpu->system.err;
    size_t n = out->n - out->start, m = err->n - err->start;
    *bytes = n + m;
    gpu->printed_errors = m;
    pl_arena_close(gpu->printed);
    gpu->printed = n + m ? pl_arena_open() : NULL;
    char *text = gpu->printed ? pl_arena_alloc(gpu->printed, n + m + 1) : NULL;
    if (text && n) memcpy(text, out->text + out->start, n);
    if (text && m) memcpy(text + n, err->text + err->start, m);
    const uint64_t limit = out->limit, most = out->max_chars;
    pl_print_close(out);
    pl_print_close(err);
    out->limit = limit;
    out->max_chars = most;
    if (!text && n + m) pl_gpu_no_memory(gpu, "for the output of printf");
    return text;
}

size_t pl_gpu_printed_errors(const pl_gpu *gpu)
{
    return gpu->printed_errors;
}

const char *pl_gpu_printed(pl_gpu *gpu)
{
    size_t bytes;
    return pl_gpu_printed_bytes(gpu, &bytes);
}

uint32_t pl_gpu_source(pl_gpu *gpu, const char *name, const char *text, size_t bytes,
                       uint32_t *file, uint32_t *epoch)
{
    if (*epoch != gpu->epoch) {
        /* Copied, since diagnostics outlive modules and cases. */
        char *copy = NULL;
        if (text && (copy = pl_arena_alloc(gpu->messages, bytes + 1)) != NULL)
            memcpy(copy, text, bytes);
        *file = pl_diags_add_file(&gpu->diags, pl_arena_strdup(gpu->messages, name), copy, bytes);
        *epoch = gpu->epoch;
    }
    return *file;
}

void pl_gpu_stop_flag(pl_gpu *gpu, const volatile int *flag)
{
    gpu->stop = flag;
}

const char *pl_stop_cause_of(int flag)
{
    return flag == 2 ? "the time limit" : "an interrupt";
}

pl_status pl_gpu_interrupted(pl_gpu *gpu, pl_loc at, const char *what)
{
    pl_report(&gpu->diags, PL_E0420, at, pl_stop_cause_of(gpu->stop ? pl_stop_flag(gpu->stop) : 1),
              what);
    return PL_INTERRUPTED;
}

pl_status pl_gpu_no_memory(pl_gpu *gpu, const char *what)
{
    char text[256];
    snprintf(text, sizeof text, pl_diag_format(PL_E0422), what);
    snprintf(gpu->no_memory, sizeof gpu->no_memory, "error: %s [%s]\n", text,
             pl_diag_code(PL_E0422));
    return PL_NOMEM;
}
