/* register_pool.c - setmaxnreg: warps of a block return registers to it, and take those of others.
 *
 * A block begins with as many registers as its kernel has at entry, so a warp can only take what
 * others have returned (PTX ISA 9.0, "setmaxnreg"). Registers are counted per thread and warp. */
#include "emu/exec/cta.h"
#include "emu/exec/grid.h"
#include "isa/program/resource_usage.h"

/* Waiting warps take registers as soon as there are enough. */
static void grant(pl_cta *c)
{
    for (uint32_t n = 0; n < c->nwarps; n++) {
        pl_warp *w = &c->warp[n];
        for (unsigned k = 0; k < w->nsplits; k++) {
            pl_simt_split *s = &w->split[k];
            if (s->wait != PL_SPLIT_REGISTERS ||
                w->wanted_registers - w->registers > c->free_registers)
                continue;
            c->free_registers -= w->wanted_registers - w->registers;
            w->registers = w->wanted_registers;
            s->wait = PL_SPLIT_READY;
            if (w->state == PL_WARP_BARRIER) w->state = PL_WARP_READY;
            ++*c->advances;
            c->releases++;
        }
    }
}

/* Several host threads may call this at once; they compute the same. */
static uint32_t registers_at_entry(pl_grid *g)
{
    uint32_t known = __atomic_load_n(&g->entry_registers, __ATOMIC_RELAXED);
    if (known) return known - 1;
    known = pl_registers_at_entry(g->program, g->entry);
    __atomic_store_n(&g->entry_registers, known + 1, __ATOMIC_RELAXED);
    return known;
}

void pl_warp_set_registers(pl_warp *w, uint32_t n, bool more)
{
    pl_cta *c = w->cta;
    if (!w->registers) w->registers = registers_at_entry(w->grid);
    if (!w->registers || more == (n <= w->registers)) return;
    w->wanted_registers = n;
    if (!more) {
        c->free_registers += w->registers - n;
        w->registers = n;
        grant(c);
    } else if (n - w->registers <= c->free_registers) {
        c->free_registers -= n - w->registers;
        w->registers = n;
    } else {
        pl_warp_wait(w, PL_SPLIT_REGISTERS);
    }
}
