/* fault.c - records the first fault of the emulated program. All other files of emu/exec may use
 * it. */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "emu/exec/exec.h"
#include "emu/exec/hooks.h"

/* Fills all of a fault but `set`; `lanes` are of the half. */
static void fill_fault(const pl_warp *w, pl_fault_info *f, uint32_t lanes, uint64_t address,
                       const char *error, const char *fmt, va_list ap)
{
    f->kernel = w->grid->entry->name;
    f->error = error;
    f->pc = w->pc;
    f->address = address;
    memcpy(f->block, w->cta->id, sizeof f->block);
    const uint32_t lane = lanes ? (uint32_t)__builtin_ctz(lanes) : 0;
    pl_grid_thread(w->grid, pl_first_thread(w) + lane, f->thread);
    vsnprintf(f->text, sizeof f->text, fmt, ap);
}

void pl_fault(pl_warp *w, uint32_t lanes, uint64_t address, const char *error, const char *fmt, ...)
{
    pl_grid *g = w->grid->head;
    pl_fault_info f = {.set = false};
    va_list ap;
    va_start(ap, fmt);
    fill_fault(w, &f, lanes, address, error, fmt, ap);
    va_end(ap);
    if (g->hooks && g->hooks->faults(g->hooks, w, &f)) return;
    w->stop = true;
    /* With several host threads, the first fault counts. */
    pl_cta_wait_turn(w->cta);
    if (g->fault.set) return;
    memcpy(&g->fault, &f, offsetof(pl_fault_info, set)); /* other threads read `set` meanwhile */
    __atomic_store_n(&g->fault.set, true, __ATOMIC_RELAXED);
}

void pl_fault_note(pl_warp *w, pl_fault_info *f, uint32_t lanes, const char *error, const char *fmt,
                   ...)
{
    if (f->set) return;
    va_list ap;
    va_start(ap, fmt);
    fill_fault(w, f, lanes, 0, error, fmt, ap);
    va_end(ap);
    f->set = true;
}
