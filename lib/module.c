/* module.c - a loaded module: its variables in device memory, and queries. lib/module_load.c loads.
 */
#include "isa/program/insn_query.h"
#include "isa/program/source_position.h"
#include "isa/program/resource_usage.h"
#include "lib/internal.h"
#include "compiler/codegen/control_codes.h"
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- variables */

/* True if a reset leaves the variable alone: managed memory of the host and of all GPUs. */
static bool survives_reset(const pl_module *m, const pl_prog_var *v)
{
    return m->gpu->unified && v->managed;
}

/* Releases the variables. reset: those that survive a reset stay. */
static void remove_variables(pl_module *m, bool reset)
{
    pl_bank *bank = &m->program->bank;
    for (size_t i = m->program->vars.n; i-- > 0;) {
        pl_prog_var *v = &m->program->vars.at[i];
        if (v->space != PL_SP_GLOBAL || v->address == 0) continue;
        if (reset && survives_reset(m, v)) continue;
        pl_gpu_release(m->gpu, v->address);
        v->address = 0;
    }
    if (bank->bytes) pl_gpu_release(m->gpu, bank->address);
    bank->address = 0;
    bank->bytes = NULL;
    pl_gpu_restart_addresses(m->gpu);
}

/* Returns the address of a .global or .const variable for generic loads and the host. */
static uint64_t generic_address(const pl_program *p, const pl_prog_var *v)
{
    return v->space == PL_SP_CONST ? p->bank.address + v->address : v->address;
}

static uint64_t symbol_address(const pl_program *p, const pl_prog_reloc *r)
{
    switch (r->kind) {
    case PL_RELOC_FUNC: return PL_CODE_BASE + 16 * (uint64_t)r->symbol;
    case PL_RELOC_VAR: return p->vars.at[r->symbol].address;
    case PL_RELOC_GENERIC: return generic_address(p, &p->vars.at[r->symbol]);
    default: return 0;
    }
}

/* True if the variable is stored in memory of the same module on another gpu. */
static bool is_on_other_gpu(const pl_module *m, const pl_prog_var *v)
{
    return m->managed && survives_reset(m, v);
}

static void initialise_variables(pl_module *m, bool reset)
{
    pl_program *p = m->program;
    for (size_t i = 0; i < p->vars.n; i++) {
        const pl_prog_var *v = &p->vars.at[i];
        if ((v->space != PL_SP_GLOBAL && v->space != PL_SP_CONST) || is_on_other_gpu(m, v))
            continue;
        if (reset && survives_reset(m, v)) continue;
        uint8_t *to = pl_memory_at(&m->gpu->memory, generic_address(p, v), v->size);
        if (!to) continue;
        /* Otherwise it is zero, as is all new memory; its pages are committed when they are
         * accessed. */
        if (v->init) memcpy(to, v->init, v->size);
        for (size_t k = 0; k < v->reloc.n; k++) {
            const pl_prog_reloc *r = &v->reloc.at[k];
            uint64_t value = (symbol_address(p, r) + (uint64_t)r->addend) >> r->shift;
            if (r->offset <= v->size && r->bytes <= v->size - r->offset)
                memcpy(to + r->offset, &value, r->bytes);
        }
    }
}

/* Allocates the constant bank, sized to the end of the variables that the assembler placed there.
 */
static bool place_bank(pl_module *m)
{
    const pl_program *p = m->program;
    pl_bank *bank = &m->program->bank;
    bool any = false;
    bank->size = 0;
    for (size_t i = 0; i < p->vars.n; i++) {
        const pl_prog_var *v = &p->vars.at[i];
        if (v->space != PL_SP_CONST) continue;
        any = true;
        if (v->address + v->size > bank->size) bank->size = v->address + v->size;
    }
    if (!any) return true;
    bank->address = pl_memory_alloc(&m->gpu->memory, bank->size ? bank->size : 1, "constants");
    if (bank->address == 0) return false;
    pl_memory_mark(&m->gpu->memory, bank->address, PL_ALLOC_CONSTANT);
    bank->bytes = pl_memory_at(&m->gpu->memory, bank->address, 1);
    return true;
}

size_t pl_module_memory_needs(const pl_module *m, pl_need *out)
{
    size_t n = 0;
    for (size_t i = 0; i < m->program->vars.n; i++) {
        const pl_prog_var *v = &m->program->vars.at[i];
        if (v->space != PL_SP_GLOBAL) continue;
        if (out)
            out[n] = (pl_need){pl_arena_printf(m->gpu->messages, "variable '%s'", v->name), v->size,
                               "declare it smaller", v->address ? PL_NEED_MAPPED : PL_NEED_MEMORY};
        n++;
    }
    return n;
}

static pl_status report_no_memory(pl_module *m)
{
    pl_need *need = pl_arena_array(m->gpu->messages, pl_need, pl_module_memory_needs(m, NULL) + 1);
    const pl_status st = need ? pl_budget_check(m->gpu, pl_module_position(m, UINT32_MAX),
                                                "the module", need, pl_module_memory_needs(m, need))
                              : PL_OK;
    return st != PL_OK ? st : pl_gpu_no_memory(m->gpu, "while placing the module's variables");
}

/* True if the program accesses memory through 32-bit generic or global addresses, as modules with
 * .address_size 32 do. */
static bool has_narrow_addresses(const pl_program *p)
{
    for (size_t k = 0; k < p->code.n; k++) {
        const pl_insn *i = &p->code.at[k];
        const uint8_t space = i->sel[PL_M_SPACE];
        /* The first address of a copy to shared memory has 32 bits. */
        if (pl_form_effects[i->form] & PL_EF_ASYNC || pl_form_mnem[i->form] == M_cp) continue;
        if (i->flags & PL_IF_MEM && i->sel[PL_M_FLAGS] & PL_MF_ADDR32 &&
            (space == PL_SP_GLOBAL || space == PL_SP_GENERIC))
            return true;
    }
    return false;
}

/* Maps the variable at its address on the other gpu and returns it; 0: no memory. */
static uint64_t map_managed(pl_module *m, const pl_prog_var *v)
{
    pl_ptr address;
    uint64_t bytes;
    if (pl_module_symbol(m->managed, v->name, &address, &bytes) != PL_OK) return 0;
    void *view = pl_device_view(m->managed->gpu, address, bytes);
    return view && pl_map_device(m->gpu, address, bytes, view, v->name) == PL_OK ? address : 0;
}

static uint64_t place_variable(pl_module *m, const pl_prog_var *v)
{
    const uint64_t page = m->gpu->bounds ? m->gpu->bounds : 1,
                   size = ((v->size ? v->size : 1) + page - 1) & ~(page - 1);
    if (is_on_other_gpu(m, v)) return map_managed(m, v);
    return m->gpu->unified && v->managed ? pl_memory_alloc_shared(&m->gpu->memory, size, v->name)
                                         : pl_memory_alloc(&m->gpu->memory, size, v->name);
}

static pl_status place_variables(pl_module *m, bool reset)
{
    pl_program *p = m->program;
    pl_memory *memory = &m->gpu->memory;
    if (memory->n == 0 && !memory->base && has_narrow_addresses(p))
        pl_memory_start(memory, PL_NARROW_BASE);
    bool ok = place_bank(m);
    for (size_t i = 0; i < p->vars.n && ok; i++) {
        pl_prog_var *v = &p->vars.at[i];
        if (v->space != PL_SP_GLOBAL || (reset && survives_reset(m, v))) continue;
        v->address = place_variable(m, v);
        ok = v->address != 0;
    }
    if (!ok) return report_no_memory(m);
    initialise_variables(m, reset);
    return PL_OK;
}

pl_status pl_module_place_variables(pl_module *m)
{
    return place_variables(m, false);
}

pl_status pl_module_share(const pl_module *m, pl_gpu *with, bool can)
{
    pl_status st = PL_OK;
    for (size_t i = 0; i < m->program->vars.n && st == PL_OK; i++) {
        const pl_prog_var *v = &m->program->vars.at[i];
        const uint64_t size = v->size ? v->size : 1;
        if (v->space != PL_SP_GLOBAL || v->managed) continue;
        if (can)
            st = pl_map_device(with, v->address, size, pl_device_view(m->gpu, v->address, size),
                               v->name);
        else
            pl_free_device(with, v->address);
    }
    return st;
}

pl_status pl_module_reset(pl_module *m)
{
    remove_variables(m, true);
    return place_variables(m, true);
}

void pl_module_close(pl_module *m)
{
    if (!m) return;
    PL_UNGUARDED; /* without memory, its messages are shown without source lines */
    pl_module_keep_sources(m);
    pl_memo_forget(m->gpu, m);
    if (m->program) {
        remove_variables(m, false);
        pl_arena_close(m->program->arena);
    }
    pl_arena_close(m->results);
    pl_arena_close(m->arena);
    free(m->pc_stat);
    free(m->repeatable);
    free(m->text);
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

static bool launches_dependents(const pl_program *p, const pl_prog_func *f)
{
    for (uint32_t k = f->first; k < f->first + f->count; k++) {
        const pl_insn *i = &p->code.at[k];
        if (pl_insn_mnem(i) == M_griddepcontrol && pl_insn_has(i, W_launch_dependents)) return true;
    }
    return false;
}

/* The driver compiles for the machine, not for the target of the PTX. */
static uint32_t constant_base(const pl_module *m)
{
    return pl_constant_base(m->gpu->machine ? m->gpu->machine->capability : m->program->sm);
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
                            .stack_bytes = f->stack_bytes,
                            .constant_bytes = constant_base(m) + f->param_bytes,
                            .spill_loads = f->spill_loads,
                            .spill_stores = f->spill_stores,
                            .launches_dependents = launches_dependents(m->program, f)};
    memcpy(out->reqntid, f->reqntid, sizeof out->reqntid);
    memcpy(out->maxntid, f->maxntid, sizeof out->maxntid);
    out->maxclusterrank = f->maxclusterrank;
    memcpy(out->reqcluster, f->reqnctapercluster, sizeof out->reqcluster);
    return PL_OK;
}

pl_module_totals pl_module_total(const pl_module *m)
{
    pl_module_totals t = {.target = m->program->target};
    for (size_t i = 0; i < m->program->vars.n; i++) {
        const pl_prog_var *v = &m->program->vars.at[i];
        if (v->space == PL_SP_GLOBAL) t.global_bytes += v->size;
        if (v->space == PL_SP_CONST) t.const_bytes += v->size;
    }
    return t;
}

uint32_t pl_module_fit(const pl_module *m, const char *kernel, uint32_t threads, double *occupancy)
{
    const pl_prog_func *f = pl_module_entry(m, kernel);
    const pl_machine *machine = m->gpu->machine;
    if (!f || !machine) return 0;
    pl_occupancy o = pl_occupy(machine, threads, f->registers, f->static_shared, f->barriers);
    *occupancy = (double)(o.blocks * o.warps) / machine->sm.warps;
    return o.blocks;
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
        *address = generic_address(m->program, v);
        *bytes = v->size;
        return PL_OK;
    }
    return PL_INVALID;
}

const char *pl_module_variable(const pl_module *m, pl_ptr at, pl_ptr *start)
{
    for (size_t i = 0; i < m->program->vars.n; i++) {
        const pl_prog_var *v = &m->program->vars.at[i];
        if (v->space == PL_SP_SHARED || at - generic_address(m->program, v) >= v->size) continue;
        *start = generic_address(m->program, v);
        return v->name;
    }
    return NULL;
}

void pl_module_open_constants(pl_module *m)
{
    pl_memory_mark(&m->gpu->memory, m->program->bank.address, PL_ALLOC_WRITABLE);
}

/* ---------------------------------------------------------------- listing */

size_t pl_module_source_count(const pl_module *m)
{
    return m->source.n;
}

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

static pl_listing listing_of(pl_module *m, uint32_t pc)
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
                    .cls = pl_class_text[insn->latency_class]};
    pl_disasm(p, pc, l.text, sizeof l.text);
    if (insn->line < p->lines.n) {
        const pl_prog_line *line = &p->lines.at[insn->line];
        size_t k = pl_module_source_of(m, line->ptx_line);
        const pl_module_source *s = k < m->source.n ? &m->source.at[k] : NULL;
        l.text_line = line->ptx_line;
        l.ptx_file = s ? s->name : NULL;
        l.ptx_line = line->ptx_line - (s ? s->lines_before : 0);
        l.src_line = line->src_line;
        pl_cuda_position(p, insn->line, l.cuda, sizeof l.cuda);
        if (line->src_file > 0 && line->src_file < p->files.n)
            l.src_file = p->files.at[line->src_file];
    }
    l.ptx_text = pl_module_line(m, l.text_line, &l.ptx_bytes);
    return l;
}

pl_listing pl_module_listing(pl_module *m, uint32_t pc)
{
    PL_GUARD(pl_gpu_no_memory(m->gpu, "while listing instructions"); return (pl_listing){.pc = pc})
    return listing_of(m, pc);
}

const pl_decoded *pl_module_decoded(pl_module *m)
{
    if (!m->decoded) {
        pl_decoded *d = pl_arena_new(m->arena, pl_decoded);
        if (!pl_decode(d, m->arena, m->program, m->gpu->machine)) pl_guard_fail();
        m->decoded = d;
    }
    return m->decoded;
}

bool pl_module_control(pl_module *m, uint32_t pc, pl_control_info *out)
{
    PL_GUARD(pl_gpu_no_memory(m->gpu, "while listing instructions"); return false)
    if (!m->gpu->machine || pc >= m->program->code.n) return false;
    const pl_decoded_insn *d = &pl_module_decoded(m)->at[pc];
    *out = (pl_control_info){.issues = d->division_path ? 0 : d->price->issues + d->code.nops,
                             .stall = d->code.stall,
                             .scoreboard = -1,
                             .frees = -1};
    out->waits = d->code.wait_mask & ((1u << PL_SCOREBOARDS) - 1);
    if (d->code.write_barrier != PL_SB_NONE) out->scoreboard = (int8_t)d->code.write_barrier;
    if (d->code.read_barrier != PL_SB_NONE) out->frees = (int8_t)d->code.read_barrier;
    return true;
}
