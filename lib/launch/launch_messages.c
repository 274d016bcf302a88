/* launch_messages.c - messages about a launch that failed, and about its faults. */
#include "lib/launch/launch.h"
#include "base/plural.h"
#include "isa/program/insn_query.h"
#include "isa/program/source_position.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *pl_launch_dim3(pl_gpu *gpu, const uint32_t v[3])
{
    return pl_arena_printf(gpu->messages, "%u,%u,%u", v[0], v[1], v[2]);
}

/* Reports a message about an instruction of a thread, with its PTX and CUDA positions. */
static pl_diag *report_at(pl_module *m, pl_diag_id id, const char *kernel, const pl_fault_info *f)
{
    pl_gpu *gpu = m->gpu;
    const pl_program *p = m->program;
    uint32_t line = f->pc < p->code.n ? p->code.at[f->pc].line : UINT32_MAX;
    char position[PL_POSITION_TEXT];
    const char *text =
        pl_arena_printf(gpu->messages, "%s (block %s, thread %s)", f->text,
                        pl_launch_dim3(gpu, f->block), pl_launch_dim3(gpu, f->thread));
    pl_diag *d = pl_report(&gpu->diags, id, pl_module_position(m, line), kernel, text);
    if (pl_cuda_position(p, line, position, sizeof position))
        d->source = pl_arena_strdup(gpu->messages, position);
    return d;
}

const pl_fault_place *pl_launch_fault_place(pl_module *m, const pl_fault_info *f)
{
    pl_fault_place *p = pl_arena_new(m->results, pl_fault_place);
    if (!p) return NULL;
    p->pc = f->pc;
    p->address = f->address;
    memcpy(p->block, f->block, sizeof p->block);
    memcpy(p->thread, f->thread, sizeof p->thread);
    return p;
}

/* The shared array whose size the launch gives, if the instruction at pc accesses shared memory;
 * NULL: none. */
static const char *dynamic_array(const pl_program *p, uint32_t pc)
{
    const pl_insn *i = pc < p->code.n ? &p->code.at[pc] : NULL;
    if (!i || !(i->flags & PL_IF_MEM) || i->sel[PL_M_SPACE] != PL_SP_SHARED) return NULL;
    for (size_t k = 0; k < p->vars.n; k++)
        if (p->vars.at[k].space == PL_SP_SHARED && p->vars.at[k].unsized) return p->vars.at[k].name;
    return NULL;
}

void pl_launch_report_fault(pl_module *m, const pl_grid *g)
{
    const pl_fault_info *f = &g->fault;
    pl_diag *d = report_at(m, PL_E0418, f->kernel ? f->kernel : g->entry->name, f);
    if (!f->error) return;
    const char *array = strcmp(f->error, "CUDA_ERROR_ILLEGAL_ADDRESS") == 0
                            ? dynamic_array(m->program, f->pc)
                            : NULL;
    d->help =
        array ? pl_arena_printf(m->gpu->messages,
                                "a CUDA program would see %s; '%s' has the size that the "
                                "launch gives (run --shared BYTES), here %" PRIu32 " byte%s",
                                f->error, array, g->dynamic_shared, pl_plural(g->dynamic_shared))
              : pl_arena_printf(m->gpu->messages, "a CUDA program would see %s", f->error);
}

void pl_launch_report_warning(pl_module *m, const pl_fault_info *f)
{
    report_at(m, PL_W0432, f->kernel, f);
}

void pl_launch_report_stop(pl_module *m, const pl_launch *l, const pl_grid *head)
{
    pl_gpu *gpu = m->gpu;
    const pl_stop *s = &head->stopped;
    const uint64_t output = l->max_output ? l->max_output : PL_PRINT_MAX_CHARS;
    const char *cause = "an interrupt", *help = NULL;
    switch (s->cause) {
    case PL_STOP_CYCLES:
        cause = pl_arena_printf(gpu->messages, "the limit of %" PRIu64 " cycle%s", l->max_cycles,
                                pl_plural(l->max_cycles));
        help = "run's option --max-cycles sets it";
        break;
    case PL_STOP_INSTRUCTIONS:
        cause = pl_arena_printf(gpu->messages, "the limit of %" PRIu64 " instruction%s",
                                l->max_instructions, pl_plural(l->max_instructions));
        help = "run's option --max-instructions sets it";
        break;
    case PL_STOP_OUTPUT:
        cause = pl_arena_printf(gpu->messages, "the limit of %" PRIu64 " byte%s of printed text",
                                output, pl_plural(output));
        help = "run's option --max-output sets it";
        break;
    default:
        if (head->cancel) cause = pl_stop_cause_of(pl_stop_flag(head->cancel));
        break;
    }
    const char *what = pl_arena_printf(gpu->messages, "kernel '%s' was running",
                                       s->has_location ? s->kernel : head->entry->name);
    if (s->has_location)
        what = pl_arena_printf(gpu->messages, "%s (block %s, thread %s)", what,
                               pl_launch_dim3(gpu, s->block), pl_launch_dim3(gpu, s->thread));
    const pl_program *p = m->program;
    const uint32_t line =
        s->has_location && s->pc < p->code.n ? p->code.at[s->pc].line : UINT32_MAX;
    char position[PL_POSITION_TEXT];
    pl_diag *d = pl_report(
        &gpu->diags, PL_E0420,
        s->has_location ? pl_module_position(m, line) : (pl_loc){.file = UINT32_MAX}, cause, what);
    if (s->has_location && pl_cuda_position(p, line, position, sizeof position))
        d->source = pl_arena_strdup(gpu->messages, position);
    d->help = help;
}

pl_status pl_launch_no_memory(pl_gpu *gpu, const pl_grid *head)
{
    char what[200];
    snprintf(what, sizeof what,
             "while running kernel '%.100s', of which each block takes %" PRIu64 " bytes",
             head->entry->name, pl_grid_block_bytes(head));
    return pl_gpu_no_memory(gpu, what);
}
