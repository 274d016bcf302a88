/* launch_check.c - checks the shape and the resources of a launch against its kernel and the GPU.
 */
#include "lib/launch/launch.h"
#include "base/plural.h"
#include "isa/program/insn_query.h"
#include <inttypes.h>
#include <string.h>

/* Equal on every GPU since compute capability 3.0 (CUDA C++ Programming Guide, technical
 * specifications). */
enum {
    MAX_BLOCK_THREADS = 1024,
    MAX_BLOCK_Z = 64,
    MAX_GRID_YZ = 65535,
    MAX_CLUSTER = 16,
    MAX_LOCAL = 512 << 10 /* bytes per thread */
};

pl_status pl_launch_refuse(pl_gpu *gpu, const char *what, const char *why)
{
    pl_report(&gpu->diags, PL_E0415, (pl_loc){.file = UINT32_MAX}, what, why);
    return PL_INVALID;
}

static pl_status check_sizes(pl_gpu *gpu, const pl_launch *l, pl_launch_shape *s)
{
    const char *const missing = l->grid[0] == 0 ? "grid" : l->block[0] == 0 ? "block" : NULL;
    if (missing) {
        pl_diag *d = pl_report(&gpu->diags, PL_E0417, (pl_loc){.file = UINT32_MAX}, missing);
        d->help = pl_diag_explanation(PL_E0417);
        return PL_INVALID;
    }
    if (!l->grid[1] || !l->grid[2] || !l->block[1] || !l->block[2])
        return pl_launch_refuse(gpu, "the launch", "every dimension is at least 1");
    uint32_t max_grid_x = gpu->machine->launch.grid_x;
    if (l->grid[0] > max_grid_x || l->grid[1] > MAX_GRID_YZ || l->grid[2] > MAX_GRID_YZ ||
        (uint64_t)l->grid[0] * l->grid[1] * l->grid[2] > UINT32_MAX)
        return pl_launch_refuse(
            gpu, pl_arena_printf(gpu->messages, "grid %s", pl_launch_dim3(gpu, l->grid)),
            pl_arena_printf(gpu->messages,
                            "the limits are %" PRIu32 ",65535,65535, and 4294967295 blocks",
                            max_grid_x));
    uint64_t threads = (uint64_t)l->block[0] * l->block[1];
    threads = threads > UINT32_MAX ? UINT64_MAX : threads * l->block[2];
    if (l->block[2] > MAX_BLOCK_Z || threads > MAX_BLOCK_THREADS)
        return pl_launch_refuse(
            gpu, pl_arena_printf(gpu->messages, "block %s", pl_launch_dim3(gpu, l->block)),
            "the limits are 1024,1024,64, and 1024 threads");
    s->threads = (uint32_t)threads;
    return PL_OK;
}

/* Checks the launch against the kernel's own directives. */
static pl_status check_directives(pl_gpu *gpu, const pl_launch *l, pl_launch_shape *s)
{
    const pl_prog_func *f = s->f;
    const char *block = pl_arena_printf(gpu->messages, "block %s", pl_launch_dim3(gpu, l->block));
    if (pl_is_shape_given(f->reqntid) && memcmp(f->reqntid, l->block, sizeof f->reqntid) != 0)
        return pl_launch_refuse(gpu, block,
                                pl_arena_printf(gpu->messages, "the kernel requires %s (.reqntid)",
                                                pl_launch_dim3(gpu, f->reqntid)));
    uint64_t most = (uint64_t)f->maxntid[0] * (f->maxntid[1] ? f->maxntid[1] : 1) *
                    (f->maxntid[2] ? f->maxntid[2] : 1);
    if (most > 0 && s->threads > most)
        return pl_launch_refuse(gpu, block,
                                pl_arena_printf(gpu->messages,
                                                "the kernel allows at most %" PRIu64
                                                " thread%s (.maxntid)",
                                                most, pl_plural(most)));
    const uint32_t *cluster = pl_is_shape_given(l->cluster) ? l->cluster : f->reqnctapercluster;
    for (int k = 0; k < 3; k++) s->cluster[k] = cluster[k] ? cluster[k] : 1;
    const char *name =
        pl_arena_printf(gpu->messages, "cluster %s", pl_launch_dim3(gpu, s->cluster));
    if (pl_is_shape_given(f->reqnctapercluster)) {
        for (int k = 0; k < 3; k++) {
            if (s->cluster[k] != (f->reqnctapercluster[k] ? f->reqnctapercluster[k] : 1))
                return pl_launch_refuse(
                    gpu, name,
                    pl_arena_printf(gpu->messages, "the kernel requires %s (.reqnctapercluster)",
                                    pl_launch_dim3(gpu, f->reqnctapercluster)));
        }
    }
    const uint64_t blocks = (uint64_t)s->cluster[0] * s->cluster[1] * s->cluster[2];
    if (f->maxclusterrank && blocks > f->maxclusterrank)
        return pl_launch_refuse(gpu, name,
                                pl_arena_printf(gpu->messages,
                                                "the kernel allows at most %" PRIu32
                                                " blocks in a cluster (.maxclusterrank)",
                                                f->maxclusterrank));
    if (blocks > MAX_CLUSTER) return pl_launch_refuse(gpu, name, "a cluster has at most 16 blocks");
    for (int k = 0; k < 3; k++) {
        if (l->grid[k] % s->cluster[k] != 0)
            return pl_launch_refuse(
                gpu, pl_arena_printf(gpu->messages, "grid %s", pl_launch_dim3(gpu, l->grid)),
                "it is not a multiple of the cluster");
    }
    return PL_OK;
}

/* Returns the resource of which the machine has too little for one block. */
static const char *lacking_resource(const pl_occupancy *o)
{
    if (o->by_warps == 0) return "warp slots";
    if (o->by_shared == 0) return "bytes of shared memory";
    return "registers";
}

static pl_status check_resources(pl_gpu *gpu, const pl_launch *l, pl_launch_shape *s)
{
    const pl_machine *machine = gpu->machine;
    uint64_t shared = (uint64_t)s->f->static_shared + l->dynamic_shared;
    if (shared > machine->shared.per_block)
        return pl_launch_refuse(
            gpu, pl_arena_printf(gpu->messages, "%" PRIu64 " bytes of shared memory", shared),
            pl_arena_printf(gpu->messages, "a block of %s has at most %" PRIu64, machine->name,
                            machine->shared.per_block));
    s->shared = (uint32_t)shared;
    if (s->f->local_bytes > MAX_LOCAL)
        return pl_launch_refuse(
            gpu,
            pl_arena_printf(gpu->messages, "%" PRIu32 " bytes of local memory", s->f->local_bytes),
            pl_arena_printf(gpu->messages, "a thread has at most %d", MAX_LOCAL));
    if (s->f->registers > machine->sm.registers_thread)
        return pl_launch_refuse(
            gpu, pl_arena_printf(gpu->messages, "%u registers per thread", s->f->registers),
            pl_arena_printf(gpu->messages,
                            "a thread of %s has at most %u; limit them by .maxnreg in the PTX, or "
                            "by -maxrregcount of nvcc",
                            machine->name, machine->sm.registers_thread));
    s->occupancy = pl_occupy(machine, s->threads, s->f->registers, shared, s->f->barriers);
    if (s->occupancy.blocks == 0)
        return pl_launch_refuse(
            gpu,
            pl_arena_printf(gpu->messages, "block %s with %u registers per thread",
                            pl_launch_dim3(gpu, l->block), s->f->registers),
            pl_arena_printf(gpu->messages, "a multiprocessor of %s has too few %s", machine->name,
                            lacking_resource(&s->occupancy)));
    if (l->param_bytes != s->f->param_bytes)
        return pl_launch_refuse(
            gpu,
            pl_arena_printf(gpu->messages, "%u byte%s of parameters", l->param_bytes,
                            pl_plural(l->param_bytes)),
            pl_arena_printf(gpu->messages, "kernel '%s' takes %u", s->f->name, s->f->param_bytes));
    return PL_OK;
}

uint32_t pl_launch_sms(const pl_gpu *gpu, const pl_launch *l)
{
    const uint32_t all = gpu->machine->sm.count;
    uint32_t n = 0;
    for (uint32_t k = 0; k < all; k++) n += !l->sms || l->sms[k / 64] >> k % 64 & 1;
    return n;
}

/* The blocks of a cooperative launch wait for each other, so all must run at once. */
static pl_status check_cooperative(pl_gpu *gpu, const pl_launch *l, const pl_launch_shape *s)
{
    uint64_t blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2],
             most = (uint64_t)s->occupancy.blocks * pl_launch_sms(gpu, l);
    if (blocks <= most) return PL_OK;
    return pl_launch_refuse(
        gpu, pl_arena_printf(gpu->messages, "a cooperative launch of %" PRIu64 " blocks", blocks),
        pl_arena_printf(gpu->messages, "%s runs %" PRIu64 " of them at once", gpu->machine->name,
                        most));
}

bool pl_launch_shape_fits(const pl_gpu *gpu, const pl_prog_func *f, const pl_child *c,
                          pl_occupancy *o)
{
    uint64_t threads = (uint64_t)c->block[0] * c->block[1] * c->block[2],
             shared = (uint64_t)f->static_shared + c->shared;
    if (c->block[0] > MAX_BLOCK_THREADS || c->block[1] > MAX_BLOCK_THREADS ||
        c->block[2] > MAX_BLOCK_Z || threads > MAX_BLOCK_THREADS || threads == 0)
        return false;
    if (!c->grid[0] || !c->grid[1] || !c->grid[2] || c->grid[0] > INT32_MAX ||
        c->grid[1] > MAX_GRID_YZ || c->grid[2] > MAX_GRID_YZ ||
        (uint64_t)c->grid[0] * c->grid[1] * c->grid[2] > UINT32_MAX)
        return false;
    if (shared > gpu->machine->shared.per_block) return false;
    *o = pl_occupy(gpu->machine, (uint32_t)threads, f->registers, shared, f->barriers);
    return o->blocks > 0;
}

/* Rejects kernels with instructions that are known but not executed before they start. All
 * functions count as called. */
static pl_status check_executable(pl_module *m, const pl_prog_func *entry)
{
    const pl_program *p = m->program;
    pl_status st = PL_OK;
    for (size_t k = 0; k < p->funcs.n; k++) {
        const pl_prog_func *f = &p->funcs.at[k];
        if (f->entry && f != entry) continue;
        for (uint32_t pc = f->first; pc < f->first + f->count; pc++) {
            const pl_insn *i = &p->code.at[pc];
            const pl_form *form = &pl_forms[i->form];
            if (i->exec && !form->unsupported) continue;
            pl_report(&m->gpu->diags, PL_E0423, pl_module_position(m, i->line), form->syntax,
                      form->unsupported ? form->unsupported : "it has no meaning yet");
            st = PL_UNSUPPORTED;
        }
    }
    if (st != PL_OK) pl_diags_sort(&m->gpu->diags);
    return st;
}

pl_status pl_launch_check(pl_gpu *gpu, pl_module *m, const pl_launch *l, pl_launch_shape *s)
{
    *s = (pl_launch_shape){.f = l->kernel ? pl_module_entry(m, l->kernel) : NULL};
    if (!s->f) {
        pl_report(&gpu->diags, PL_E0408, (pl_loc){.file = UINT32_MAX}, m->name,
                  l->kernel ? l->kernel : "");
        return PL_INVALID;
    }
    pl_status st = check_sizes(gpu, l, s);
    if (st == PL_OK) st = check_directives(gpu, l, s);
    if (st == PL_OK) st = check_resources(gpu, l, s);
    if (st == PL_OK) st = check_executable(m, s->f);
    if (st == PL_OK && !pl_launch_sms(gpu, l))
        st = pl_launch_refuse(gpu, "a launch", "it has no SM to run on");
    if (st == PL_OK && l->cooperative) st = check_cooperative(gpu, l, s);
    if (st == PL_OK && l->weak && gpu->machine->sm.lanes != PL_LANES)
        st = pl_launch_refuse(gpu, "weak consistency",
                              pl_arena_printf(gpu->messages,
                                              "it is defined for warps of 32 lanes, and %s has %u",
                                              gpu->machine->name, gpu->machine->sm.lanes));
    if (st == PL_OK && l->cooperative && l->dependent)
        st = pl_launch_refuse(gpu, "a dependent launch", "it cannot be cooperative as well");
    return st;
}
