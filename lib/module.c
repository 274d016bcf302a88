/* module.c - loading a module: parse, check, assemble, place its variables in device memory; and
 * questions about it.
 *
 * The source text and the tree live as long as the module. Diagnostics may outlive it: when a
 * module goes away, what its diagnostics still show of the text is copied to where they live. */
#include "lib/internal.h"
#include "emu/exec/bind.h"
#include "ptx/ast.h"
#include "ptx/lower.h"
#include "ptx/print.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- loading */

/* Messages must not point into the arena of the module. */
static void settle_messages(pl_gpu *gpu, size_t first)
{
    for (size_t i = first; i < gpu->diags.list.n; i++) {
        pl_diag *d = &gpu->diags.list.at[i];
        if (d->help) d->help = pl_arena_strdup(gpu->messages, d->help);
    }
    pl_diags_sort(&gpu->diags);
}

static void keep_source(pl_module *m)
{
    pl_gpu *gpu = m->gpu;
    if (m->epoch != gpu->epoch) return;
    struct pl_diag_file *f = &gpu->diags.file.at[m->file];
    bool shown = false;
    for (size_t i = 0; i < gpu->diags.list.n; i++)
        shown |= gpu->diags.list.at[i].at.file == m->file;
    char *copy = shown ? pl_arena_alloc(gpu->messages, m->bytes + 1) : NULL;
    if (copy) memcpy(copy, m->text, m->bytes);
    f->text = copy;
    f->name = shown ? pl_arena_strdup(gpu->messages, m->name) : NULL;
}

static void remove_variables(pl_module *m)
{
    for (size_t i = m->program->vars.n; i-- > 0;) {
        pl_prog_var *v = &m->program->vars.at[i];
        if ((v->space != PL_SP_GLOBAL && v->space != PL_SP_CONST) || v->address == 0) continue;
        pl_free_device(m->gpu, v->address);
        v->address = 0;
    }
}

static uint64_t symbol_address(const pl_program *p, const pl_prog_reloc *r)
{
    if (r->kind == PL_RELOC_FUNC) return PL_CODE_BASE + 16 * (uint64_t)r->symbol;
    return r->kind == PL_RELOC_VAR ? p->vars.at[r->symbol].address : 0;
}

static void initialise_variables(pl_module *m)
{
    pl_program *p = m->program;
    for (size_t i = 0; i < p->vars.n; i++) {
        const pl_prog_var *v = &p->vars.at[i];
        if (v->space != PL_SP_GLOBAL && v->space != PL_SP_CONST) continue;
        uint8_t *to = pl_memory_at(&m->gpu->memory, v->address, v->size);
        if (!to) continue;
        if (v->init)
            memcpy(to, v->init, v->size);
        else
            memset(to, 0, v->size);
        for (size_t k = 0; k < v->reloc.n; k++) {
            const pl_prog_reloc *r = &v->reloc.at[k];
            uint64_t value = (symbol_address(p, r) + (uint64_t)r->addend) >> r->shift;
            if (r->offset <= v->size && r->bytes <= v->size - r->offset)
                memcpy(to + r->offset, &value, r->bytes);
        }
    }
}

/* Gives every variable of the module an address; shared variables got theirs from the assembler. */
static pl_status place(pl_module *m)
{
    pl_program *p = m->program;
    for (size_t i = 0; i < p->vars.n; i++) {
        pl_prog_var *v = &p->vars.at[i];
        if (v->space != PL_SP_GLOBAL && v->space != PL_SP_CONST) continue;
        if (v->linkage == PL_LINK_EXTERN) {
            pl_report(&m->gpu->diags, PL_E0421, (pl_loc){.file = m->file}, v->name);
            return PL_INVALID;
        }
        v->address = pl_memory_alloc(&m->gpu->memory, v->size ? v->size : 1, v->name);
        if (v->address == 0)
            return pl_gpu_no_memory(m->gpu, "while placing the module's variables");
        if (v->space == PL_SP_CONST) pl_memory_constant(&m->gpu->memory, v->address);
    }
    initialise_variables(m);
    return PL_OK;
}

pl_status pl_module_reset(pl_module *m)
{
    remove_variables(m);
    return place(m);
}

static pl_status assemble(pl_module *m, const pl_ast *ast, const pl_load_options *options)
{
    m->opt_level = options ? options->opt_level : 2;
    const pl_lower_options lower = {
        .opt_level = m->opt_level, .text = m->text, .text_bytes = m->bytes};
    pl_status st = pl_lower(ast, &lower, &m->program);
    if (st != PL_OK) return st;
    pl_bind(m->program, options ? (int)options->host - 1 : -1);
    return place(m);
}

pl_status pl_module_load(pl_gpu *gpu, const char *name, const char *text, size_t bytes,
                         const pl_load_options *options, pl_module **out)
{
    *out = NULL;
    pl_module *m = calloc(1, sizeof *m);
    if (!m) return pl_gpu_no_memory(gpu, "while loading a module");
    m->gpu = gpu;
    m->arena = pl_arena_open();
    char *copy = m->arena ? pl_arena_alloc(m->arena, bytes + 1) : NULL;
    if (!copy) {
        pl_module_close(m);
        return pl_gpu_no_memory(gpu, "while loading a module");
    }
    memcpy(copy, text, bytes);
    m->name = pl_arena_strdup(m->arena, name);
    m->text = copy;
    m->bytes = bytes;
    m->file = pl_diags_add_file(&gpu->diags, m->name, m->text, bytes);
    m->epoch = gpu->epoch;
    size_t before = gpu->diags.list.n;
    pl_ast *ast = NULL;
    pl_status st = pl_ptx_parse(m->arena, &gpu->diags, m->file, &ast);
    bool check_only = options && options->check_only;
    if (st == PL_OK && !check_only) st = assemble(m, ast, options);
    if (st == PL_OK && !pl_arena_ok(m->arena)) st = PL_NOMEM;
    settle_messages(gpu, before);
    if (st == PL_NOMEM) pl_gpu_no_memory(gpu, "while loading a module");
    if (st == PL_OK && !check_only)
        *out = m;
    else
        pl_module_close(m);
    return st;
}

pl_status pl_module_load_file(pl_gpu *gpu, const char *path, const pl_load_options *options,
                              pl_module **out)
{
    char *text;
    size_t bytes;
    *out = NULL;
    pl_status st = pl_file_read(gpu, path, &text, &bytes);
    if (st != PL_OK) return st;
    st = pl_module_load(gpu, path, text, bytes, options, out);
    free(text);
    return st;
}

pl_status pl_format_file(pl_gpu *gpu, const char *path, const char **out, size_t *bytes)
{
    const pl_load_options check = {.check_only = true};
    pl_module *none;
    char *text, *formatted;
    size_t size;
    pl_status st = pl_file_read(gpu, path, &text, &size);
    if (st != PL_OK) return st;
    st = pl_module_load(gpu, path, text, size, &check, &none);
    if (st == PL_OK) {
        st = pl_ptx_format(gpu->messages, text, size, &formatted, bytes);
        *out = formatted;
        if (st != PL_OK) pl_gpu_no_memory(gpu, "while laying out PTX");
    }
    free(text);
    return st;
}

void pl_module_close(pl_module *m)
{
    if (!m) return;
    if (m->text) keep_source(m);
    if (m->program) {
        remove_variables(m);
        pl_arena_close(m->program->arena);
    }
    pl_arena_close(m->results);
    pl_arena_close(m->arena);
    free(m->pc_stat);
    free(m);
}

/* ---------------------------------------------------------------- kernels */

size_t pl_module_kernel_count(const pl_module *m)
{
    size_t n = 0;
    for (size_t i = 0; i < m->program->funcs.n; i++) n += m->program->funcs.at[i].entry;
    return n;
}

const char *pl_module_kernel_name(const pl_module *m, size_t k)
{
    for (size_t i = 0; i < m->program->funcs.n; i++) {
        const pl_prog_func *f = &m->program->funcs.at[i];
        if (f->entry && k-- == 0) return f->name;
    }
    return NULL;
}

const pl_prog_func *pl_module_entry(const pl_module *m, const char *name)
{
    for (size_t i = 0; i < m->program->funcs.n; i++) {
        const pl_prog_func *f = &m->program->funcs.at[i];
        if (f->entry && strcmp(f->name, name) == 0) return f;
    }
    return NULL;
}

pl_status pl_module_kernel(const pl_module *m, const char *name, pl_kernel_info *out)
{
    const pl_prog_func *f = pl_module_entry(m, name);
    if (!f) return PL_INVALID;
    *out = (pl_kernel_info){.name = f->name,
                            .registers = f->registers,
                            .static_shared = f->static_shared,
                            .local_bytes = f->local_bytes,
                            .param_bytes = f->param_bytes,
                            .nparams = (uint32_t)f->params.n,
                            .barriers = f->barriers,
                            .spill_loads = f->spill_loads,
                            .spill_stores = f->spill_stores};
    memcpy(out->reqntid, f->reqntid, sizeof out->reqntid);
    memcpy(out->maxntid, f->maxntid, sizeof out->maxntid);
    memcpy(out->reqcluster, f->reqnctapercluster, sizeof out->reqcluster);
    return PL_OK;
}

pl_kernel_param pl_module_param(const pl_module *m, const char *kernel, uint32_t k)
{
    const pl_prog_func *f = pl_module_entry(m, kernel);
    if (!f || k >= f->params.n) return (pl_kernel_param){.name = NULL};
    const pl_prog_param *p = &f->params.at[k];
    return (pl_kernel_param){
        .name = p->name, .offset = p->offset, .size = p->size, .type = pl_word_text[p->type]};
}

pl_status pl_module_symbol(const pl_module *m, const char *name, pl_ptr *address, uint64_t *bytes)
{
    for (size_t i = 0; i < m->program->vars.n; i++) {
        const pl_prog_var *v = &m->program->vars.at[i];
        if (v->space == PL_SP_SHARED || strcmp(v->name, name) != 0) continue;
        *address = v->address;
        *bytes = v->size;
        return PL_OK;
    }
    return PL_INVALID;
}

/* ---------------------------------------------------------------- listing */

size_t pl_module_code_size(const pl_module *m)
{
    return m->program->code.n;
}

static const pl_prog_func *function_at(const pl_program *p, uint32_t pc)
{
    for (size_t i = 0; i < p->funcs.n; i++) {
        const pl_prog_func *f = &p->funcs.at[i];
        if (pc >= f->first && pc - f->first < f->count) return f;
    }
    return NULL;
}

/* Where every line of the text starts; made when first asked for. NULL without memory. */
static const uint32_t *line_starts(pl_module *m)
{
    if (m->line.at) return m->line.at;
    const char *p = m->text, *end = m->text + m->bytes;
    while (p && p < end && pl_arena_ok(m->arena)) {
        *pl_push(m->arena, &m->line) = (uint32_t)(p - m->text);
        p = memchr(p, '\n', (size_t)(end - p));
        if (p) p++;
    }
    return pl_arena_ok(m->arena) ? m->line.at : NULL;
}

static void source_line(pl_module *m, pl_listing *l)
{
    const uint32_t *start = line_starts(m);
    if (!start || l->ptx_line == 0 || l->ptx_line > m->line.n) return;
    const char *p = m->text + start[l->ptx_line - 1], *end = m->text + m->bytes;
    while (p < end && (*p == ' ' || *p == '\t')) p++;
    l->ptx_text = p;
    while (p < end && *p != '\n' && *p != '\r') p++;
    l->ptx_bytes = (uint32_t)(p - l->ptx_text);
}

pl_listing pl_module_listing(pl_module *m, uint32_t pc)
{
    const pl_program *p = m->program;
    const pl_insn *insn = &p->code.at[pc];
    const pl_form *form = &pl_forms[insn->form];
    const pl_prog_func *f = function_at(p, pc);
    pl_listing l = {.pc = pc,
                    .kernel = f ? f->name : NULL,
                    .form = insn->form,
                    .syntax = form->syntax,
                    .mnemonic = pl_mnems[form->mnem].name,
                    .cls = pl_class_text[insn->cls]};
    pl_disasm(p, pc, l.text, sizeof l.text);
    if (insn->line < p->lines.n) {
        const pl_prog_line *line = &p->lines.at[insn->line];
        l.ptx_line = line->ptx_line;
        l.src_line = line->src_line;
        if (line->src_file > 0 && line->src_file < p->files.n)
            l.src_file = p->files.at[line->src_file];
    }
    source_line(m, &l);
    return l;
}
