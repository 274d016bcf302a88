/* module_load.c - loading a module: PTX files are parsed, checked, linked and assembled; an object
 * is read.
 *
 * Texts and syntax trees are allocated in the module's arena. */
#include "emu/exec/dispatch.h"
#include "isa/object/asm_text.h"
#include "isa/object/elf.h"
#include "compiler/pass_manager.h"
#include "lib/internal.h"
#include "ptx/lower/assemble.h"
#include "ptx/ast.h"
#include "ptx/lower/link.h"
#include "ptx/format.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file as read. */
typedef struct input {
    const char *name, *text;
    size_t bytes;
    char *owned_text; /* the text, if the loader frees it; or NULL */
} input;

/* True if the input is a machine program, as an object or as text, rather than PTX. */
static bool is_program(const input *in)
{
    return pl_object_is(in->text, in->bytes) || pl_asm_is(in->text, in->bytes);
}

/* Copies help texts, since messages must not reference the module's arena. */
static void finish_messages(pl_gpu *gpu, size_t first)
{
    for (size_t i = first; i < gpu->diags.list.n; i++) {
        pl_diag *d = &gpu->diags.list.at[i];
        /* NULL if memory is exhausted. */
        if (d->help) d->help = pl_arena_strdup(gpu->messages, d->help);
    }
    pl_diags_sort(&gpu->diags);
}

static uint32_t count_lines(const char *text, size_t n)
{
    uint32_t lines = 0;
    for (const char *p = text, *end = text + n; p < end && (p = memchr(p, '\n', (size_t)(end - p)));
         p++)
        lines++;
    return lines;
}

/* Concatenates the files in the module, each starting on a new line, followed by two zeros. A
 * single file that was read is used in place; others are copied. */
static char *join_texts(pl_module *m, input *in, size_t n, size_t *bytes)
{
    size_t capacity = 1, length = 0;
    uint32_t lines = 0;
    for (size_t k = 0; k < n; k++) capacity += in[k].bytes + 1;
    if (n == 1) {
        m->text = in->owned_text;
        in->owned_text = NULL;
    }
    char *text = m->text ? m->text : pl_arena_alloc(m->arena, capacity);
    for (size_t k = 0; k < n; k++) {
        char *start = text + length;
        if (!m->text) memcpy(start, in[k].text, in[k].bytes);
        free(in[k].owned_text);
        in[k].owned_text = NULL;
        in[k].text = start;
        length += in[k].bytes;
        const char *name = pl_arena_strdup(m->arena, in[k].name);
        *pl_push(m->arena, &m->source) =
            (pl_module_source){.name = name,
                               .lines_before = lines,
                               .file = pl_diags_add_file(&m->gpu->diags, name, start, in[k].bytes),
                               .epoch = m->gpu->epoch};
        if (k + 1 < n && in[k].bytes && text[length - 1] != '\n') text[length++] = '\n';
        if (k + 1 < n) lines += count_lines(start, (size_t)(text + length - start));
    }
    *bytes = length;
    return text;
}

/* Bytes per additional thread: less text is assembled in the time that a thread takes to start. */
#define BYTES_PER_THREAD 65536

static uint32_t thread_count(size_t bytes, const pl_load_options *options)
{
    if (options && options->threads > 0) return (uint32_t)options->threads;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t max_useful = bytes / BYTES_PER_THREAD + 1;
    return processors < 1                    ? 1
           : (size_t)processors > max_useful ? (uint32_t)max_useful
                                             : (uint32_t)processors;
}

static uint32_t lanes_of(const pl_module *m)
{
    return m->gpu->machine ? m->gpu->machine->sm.lanes : PL_LANES;
}

static pl_assembly *begin_assembly(pl_module *m, const char *text, size_t bytes,
                                   const pl_load_options *options, pl_pass_options *passes)
{
    size_t n = m->source.n;
    pl_lower_source *source = pl_arena_array(m->arena, pl_lower_source, n);
    for (size_t k = 0; k < n; k++)
        source[k] = (pl_lower_source){m->source.at[k].name, m->source.at[k].file,
                                      m->source.at[k].lines_before};
    const pl_assemble_options o = {
        .opt_level = options ? options->opt_level : 2,
        .keep_loads = options && options->keep_loads,
        .text = text,
        .text_bytes = bytes,
        .source = source,
        .sources = n,
        .threads = passes && (passes->print || passes->time) ? 1 : thread_count(bytes, options),
        .lanes = lanes_of(m),
        .passes = passes};
    return pl_assembly_open(&o);
}

static void function_ready(void *ctx, const pl_ast *ast, pl_func *f)
{
    pl_assembly_begin(ctx, ast, f);
}

static bool is_provided(const char *name)
{
    return pl_system_find(name) != 0;
}

static pl_status parse_and_assemble(pl_module *m, char *text, size_t n, pl_assembly *assembly,
                                    const pl_load_options *options)
{
    PL_GUARD(return PL_NOMEM)
    const bool check_only = !assembly;
    pl_ast **ast = pl_arena_array(m->arena, pl_ast *, n), *linked = NULL;
    const pl_parse_options parse = {.lanes = lanes_of(m),
                                    .own = n == 1 ? text : NULL,
                                    .ready = n == 1 && assembly ? function_ready : NULL,
                                    .ctx = assembly};
    pl_status st = PL_OK;
    for (size_t k = 0; k < n; k++) {
        pl_status result =
            pl_ptx_parse(m->arena, &m->gpu->diags, m->source.at[k].file, &parse, &ast[k]);
        if (result == PL_OK && check_only) result = pl_assembly_check(ast[k]);
        if (st == PL_OK || result == PL_NOMEM) st = result;
    }
    if (st == PL_OK && check_only && options && options->fit)
        st = pl_ptx_check_linkable(m->arena, &m->gpu->diags, ast, n);
    if (st == PL_OK && assembly)
        st = pl_ptx_link(m->arena, &m->gpu->diags, ast, n, is_provided, options && options->define,
                         &linked);
    if (st == PL_OK && assembly) st = pl_assembly_finish(assembly, linked, &m->program);
    return st;
}

static pl_status assemble_ptx(pl_module *m, input *in, size_t n, const pl_load_options *options,
                              pl_pass_options *passes)
{
    PL_GUARD(return PL_NOMEM)
    size_t bytes = 0;
    char *text = join_texts(m, in, n, &bytes);
    const bool check_only = options && options->check_only;
    pl_assembly *assembly = check_only ? NULL : begin_assembly(m, text, bytes, options, passes);
    if (!assembly && !check_only) return PL_NOMEM;
    pl_status st = parse_and_assemble(m, text, n, assembly, options);
    pl_assembly_close(assembly);
    return st;
}

static pl_status load_ptx(pl_module *m, input *in, size_t n, const pl_load_options *options)
{
    pl_pass_options passes;
    const pl_pass_control *control = options ? options->passes : NULL;
    pl_status st = pl_passes_begin(m->gpu, control, &passes);
    if (st != PL_OK) return st;
    st = assemble_ptx(m, in, n, options, &passes);
    return pl_passes_end(m->gpu, control, &passes, st);
}

static pl_status load_object(pl_module *m, const input *in, size_t n, size_t object)
{
    const input *o = &in[object];
    pl_diags *diags = &m->gpu->diags;
    const char *name = pl_arena_strdup(m->arena, o->name);
    /* No text: a message about an object has no line to show. */
    pl_loc at = {.file =
                     pl_diags_add_file(diags, pl_arena_strdup(m->gpu->messages, o->name), NULL, 0)};
    if (n > 1) {
        pl_report(diags, PL_E0614, at, name);
        return PL_INVALID;
    }
    const pl_machine *machine = m->gpu->machine;
    if (machine && machine->sm.lanes != PL_LANES) {
        pl_report(diags, PL_E0615, at, machine->name, machine->sm.lanes);
        return PL_INVALID;
    }
    bool text = pl_asm_is(o->text, o->bytes);
    pl_status st = text ? pl_asm_read(o->text, o->bytes, diags, at.file, &m->program)
                        : pl_object_read(o->text, o->bytes, diags, at, &m->program);
    if (text && st != PL_OK) { /* its messages show source lines */
        diags->file.at[at.file].text = pl_arena_strndup(m->gpu->messages, o->text, o->bytes);
        diags->file.at[at.file].size = o->bytes;
    }
    for (size_t k = 0; st == PL_OK && k < m->program->sources.n; k++) {
        const pl_prog_source *s = &m->program->sources.at[k];
        *pl_push(m->arena, &m->source) =
            (pl_module_source){.name = s->name, .lines_before = s->lines_before};
    }
    return st;
}

static pl_status load_guarded(pl_module *m, input *in, size_t n, const pl_load_options *options)
{
    PL_GUARD(return PL_NOMEM)
    size_t object = 0;
    m->name = pl_arena_strdup(m->arena, in[0].name);
    while (object < n && !is_program(&in[object])) object++;
    return object < n ? load_object(m, in, n, object) : load_ptx(m, in, n, options);
}

static pl_status load(pl_gpu *gpu, input *in, size_t n, const pl_load_options *options,
                      pl_module **out)
{
    PL_UNGUARDED;
    *out = NULL;
    pl_module *m = calloc(1, sizeof *m);
    if (!m) return pl_gpu_no_memory(gpu, "while loading a module");
    m->gpu = gpu;
    m->managed = options ? options->managed : NULL;
    m->arena = pl_arena_open();
    if (!m->arena) {
        pl_module_close(m);
        return pl_gpu_no_memory(gpu, "while loading a module");
    }
    const size_t before = gpu->diags.list.n;
    pl_status st = load_guarded(m, in, n, options);
    if (st == PL_OK && m->program) {
        pl_bind_system(m->program);
        m->host = options ? options->host : PL_HOST_BEST;
        st = pl_module_place_variables(m);
    }
    if (st == PL_NOMEM) pl_diags_drop(&gpu->diags, before);
    if (st == PL_INTERRUPTED)
        pl_gpu_interrupted(gpu, (pl_loc){.file = UINT32_MAX},
                           pl_arena_printf(gpu->messages, "assembling '%s'", in[0].name));
    finish_messages(gpu, before);
    if (st == PL_NOMEM) pl_gpu_no_memory(gpu, "while loading a module");
    if (st == PL_OK && !(options && options->check_only))
        *out = m;
    else
        pl_module_close(m);
    return st;
}

pl_status pl_module_load(pl_gpu *gpu, const char *name, const char *text, size_t bytes,
                         const pl_load_options *options, pl_module **out)
{
    input in = {.name = name, .text = text, .bytes = bytes};
    return load(gpu, &in, 1, options, out);
}

pl_status pl_module_load_texts(pl_gpu *gpu, const pl_input *in, size_t n,
                               const pl_load_options *options, pl_module **out)
{
    *out = NULL;
    input *copy = calloc(n ? n : 1, sizeof *copy);
    if (!copy) return pl_gpu_no_memory(gpu, "while loading a module");
    for (size_t k = 0; k < n; k++)
        copy[k] = (input){.name = in[k].name, .text = in[k].text, .bytes = in[k].bytes};
    const pl_status st = load(gpu, copy, n, options, out);
    free(copy);
    return st;
}

pl_status pl_module_load_files(pl_gpu *gpu, const char *const *path, size_t n,
                               const pl_load_options *options, pl_module **out)
{
    *out = NULL;
    input *in = calloc(n ? n : 1, sizeof *in);
    if (!in) return pl_gpu_no_memory(gpu, "while loading a module");
    pl_status st = PL_OK;
    for (size_t k = 0; k < n && st == PL_OK; k++) {
        char *text = NULL;
        in[k].name = path[k];
        st = pl_file_read(gpu, path[k], &text, &in[k].bytes);
        in[k].text = in[k].owned_text = text;
        if (st == PL_OK) st = pl_file_is_program(gpu, path[k], text, in[k].bytes);
    }
    if (st == PL_OK) st = load(gpu, in, n, options, out);
    for (size_t k = 0; k < n; k++) free(in[k].owned_text);
    free(in);
    return st;
}

pl_status pl_module_load_file(pl_gpu *gpu, const char *path, const pl_load_options *options,
                              pl_module **out)
{
    return pl_module_load_files(gpu, &path, 1, options, out);
}

static pl_status format_text(pl_gpu *gpu, const char *text, size_t n, char **out, size_t *bytes)
{
    *out = NULL;
    PL_GUARD(return pl_gpu_no_memory(gpu, "while laying out PTX"))
    return pl_ptx_format(gpu->messages, text, n, out, bytes);
}

pl_status pl_format_file(pl_gpu *gpu, const char *path, const char **out, size_t *bytes)
{
    const pl_load_options check = {.check_only = true};
    pl_module *unused;
    char *text, *formatted;
    size_t size;
    pl_status st = pl_file_read(gpu, path, &text, &size);
    if (st != PL_OK) return st;
    st = pl_file_is_ptx(gpu, path, text, size);
    if (st == PL_OK) st = pl_module_load(gpu, path, text, size, &check, &unused);
    if (st == PL_OK) {
        st = format_text(gpu, text, size, &formatted, bytes);
        *out = formatted;
    }
    free(text);
    return st;
}

static pl_status encode(const pl_program *p, pl_save_form form, char **out, size_t *bytes)
{
    return form == PL_SAVE_TEXT ? pl_asm_write(p, out, bytes) : pl_object_write(p, out, bytes);
}

pl_status pl_module_save(pl_module *m, pl_save_form form, const char **out, size_t *bytes)
{
    char *encoded = NULL, *copy = NULL;
    if (encode(m->program, form, &encoded, bytes) == PL_OK)
        copy = pl_arena_alloc(m->gpu->messages, *bytes + 1);
    if (copy) memcpy(copy, encoded, *bytes);
    free(encoded);
    *out = copy;
    return copy ? PL_OK : pl_gpu_no_memory(m->gpu, "while saving a program");
}

pl_status pl_module_send(pl_module *m, pl_module_put *put, void *to)
{
    pl_status st = pl_object_send(m->program, put, to);
    return st == PL_NOMEM ? pl_gpu_no_memory(m->gpu, "while saving a program") : st;
}
