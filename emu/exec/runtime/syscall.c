/* syscall.c - arguments, results and errors of a call of a function of the driver or of the device
 * runtime. Lanes are those of the current half. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "emu/exec/hooks.h"
#include "emu/exec/memory/address.h"
#include "emu/exec/runtime/syscall.h"

/* The location of a value of the caller's lane: in a register, or in local memory. */
static uint8_t *value_location(const pl_call *k, bool reg, uint32_t at, uint32_t bytes,
                               unsigned lane)
{
    const pl_warp *w = k->w;
    if (reg)
        return (uint8_t *)(w->register_file +
                           ((size_t)w->half * w->file_rows + k->node->row + at) * PL_LANES) +
               lane * (bytes > 4 ? 8u : 4u);
    return w->local + (size_t)(pl_first_lane(w) + lane) * w->local_bytes + k->node->local + at;
}

void pl_call_copy_argument(const pl_call *k, unsigned n, unsigned lane, void *to, size_t bytes)
{
    memset(to, 0, bytes);
    if (n >= k->c->nargs) return;
    const pl_call_move *m = &k->w->program->moves.at[k->c->first_arg + n];
    const uint8_t *from = value_location(k, m->reg, m->from, m->bytes, lane);
    memcpy(to, from, m->bytes < bytes ? m->bytes : bytes);
}

uint64_t pl_call_argument(const pl_call *k, unsigned n, unsigned lane)
{
    uint64_t v;
    pl_call_copy_argument(k, n, lane, &v, sizeof v);
    return v;
}

void pl_call_return(const pl_call *k, unsigned lane, uint64_t value)
{
    if (!k->c->nrets) return;
    const pl_call_move *m = &k->w->program->moves.at[k->c->first_ret];
    uint8_t *to = value_location(k, m->reg, m->to, m->bytes, lane);
    memcpy(to, &value, m->bytes < 8 ? m->bytes : 8);
}

uint8_t *pl_call_memory(pl_warp *w, unsigned lane, uint64_t address, uint64_t bytes)
{
    pl_space real;
    uint64_t in;
    return pl_resolve(w, lane, PL_SP_GENERIC, address, bytes, &real, &in);
}

uint32_t *pl_call_last_error(pl_warp *w, unsigned lane)
{
    if (!w->device_error) w->device_error = calloc(w->halves * PL_LANES, sizeof *w->device_error);
    return w->device_error ? &w->device_error[pl_first_lane(w) + lane] : NULL;
}

void pl_call_set_last_error(pl_warp *w, unsigned lane, uint32_t error)
{
    uint32_t *e = pl_call_last_error(w, lane);
    if (e && error) *e = error;
}

void pl_call_store(const pl_call *k, unsigned lane, uint64_t value, size_t bytes)
{
    uint8_t *p = pl_call_memory(k->w, lane, pl_call_argument(k, 0, lane), bytes);
    if (p) memcpy(p, &value, bytes);
    pl_call_return_error(k, lane, p ? 0 : PL_CUDA_INVALID_VALUE);
}

void pl_call_return_error(const pl_call *k, unsigned lane, uint32_t error)
{
    pl_call_set_last_error(k->w, lane, error);
    pl_call_return(k, lane, error);
}

bool pl_call_add_child(pl_warp *w, unsigned lane, const pl_child *c)
{
    pl_system *s = w->grid->system;
    const pl_hooks *h = w->grid->hooks;
    if (s->child.n == s->child.cap &&
        !pl_array_grow(&s->child.at, &s->child.cap, sizeof *s->child.at)) {
        free(c->params);
        return false;
    }
    s->child.at[s->child.n] = *c;
    if (h && !c->is_copy) s->child.at[s->child.n].ticket = h->launches(h, w, lane, c->stream);
    s->child.n++;
    return true;
}
