/* texels.c - textures and surfaces: accesses through separate paths, which do not observe writes of
 * the launch through other paths (CUDA C++ Programming Guide, "Read/Write Coherency"). A surface
 * observes writes through surfaces, in the order of the threads. */
#include <string.h>

#include "check/race.h"
#include "emu/exec/lane_loops.h"
#include "emu/exec/memory/address.h"

static bool is_surface(pl_mnem m)
{
    return m == M_suld || m == M_sust || m == M_sured;
}

static void check_race(pl_warp *w, const pl_insn *i, unsigned lane, const place *p, unsigned bytes)
{
    const pl_mnem m = (pl_mnem)pl_forms[i->form].mnem;
    check_insn x = {.flags = is_surface(m) ? PL_ACCESS_SURFACE : PL_ACCESS_TEXTURE,
                    .level = PL_SCOPE_GPU};
    if (m == M_sust) x.flags |= PL_ACCESS_WRITES;
    if (m == M_sured) x.flags |= PL_ACCESS_WRITES | PL_ACCESS_STRONG | PL_ACCESS_ATOMIC;
    pl_visit v;
    pl_visit_open(&v, w, i, &x);
    pl_visit_enter(&v, lane, p, bytes);
    pl_visit_close(&v, i);
}

/* Returns element n of the operand that a surface store writes. */
static uint64_t stored_bits(const pl_warp *w, const pl_insn *i, const pl_traced *s, unsigned n,
                            unsigned count, unsigned bytes, unsigned lane, uint32_t *origin)
{
    const pl_form *f = &pl_forms[i->form];
    unsigned k = f->noperands - 1u;
    while (k && strcmp(f->operand[k].name, "b") != 0) k--;
    if (n >= (unsigned)pl_operand_count(f, k, i->mods)) return 0;
    const uint32_t row = pl_traced_row(w) + pl_more(w, i, i->op[k] + n);
    const uint64_t bits = pl_traced_bits(s, row, bytes / count > 4, lane);
    if (bits) *origin = s->origin[(size_t)row * PL_LANES + lane];
    return bits;
}

static void track_values(pl_warp *w, const pl_insn *i, unsigned lane, uint64_t address,
                         unsigned bytes)
{
    struct pl_fetched *x = &check_of(w)->init.fetched;
    const pl_mnem m = (pl_mnem)pl_forms[i->form].mnem;
    const pl_traced *s = unit_of(w)->traced;
    uint8_t bits[16] = {0};
    uint32_t origin = 0;
    if (m != M_sust) {
        if (bytes > sizeof bits || pl_init_all_defined(w, PL_SP_GLOBAL) ||
            !pl_init_read(w, lane, PL_SP_GLOBAL, address, bytes, bits, &origin))
            return;
        x->lanes |= 1u << lane;
        x->origin[lane] = origin;
        if (m == M_sured)
            pl_init_report(w, PL_FK_INIT_ATOMIC, 1u << lane, origin,
                           "the result of an atomic operation");
        if (m == M_sured) pl_init_write(w, lane, PL_SP_GLOBAL, address, bytes, NULL, 0);
        return;
    }
    const unsigned count = pl_insn_has(i, W_v4) ? 4 : pl_insn_has(i, W_v2) ? 2 : 1;
    const bool traced = s && s->n && bytes <= sizeof bits && bytes % count == 0;
    if (!traced && pl_init_all_defined(w, PL_SP_GLOBAL)) return;
    bool any = false;
    for (unsigned n = 0; traced && n < count; n++) {
        const uint64_t one = stored_bits(w, i, s, n, count, bytes, lane, &origin);
        memcpy(bits + n * (bytes / count), &one, bytes / count < 8 ? bytes / count : 8);
        any |= one != 0;
    }
    if (any) origin = pl_init_origin(w, lane, PL_SP_GLOBAL, address, origin);
    pl_init_write(w, lane, PL_SP_GLOBAL, address, bytes, any ? bits : NULL, origin);
}

void pl_check_texel(const pl_hooks *h, pl_warp *w, unsigned lane, uint64_t address, unsigned bytes)
{
    const pl_check *k = (const pl_check *)(const void *)h;
    const pl_insn *i = &w->code[w->pc];
    const place p = {.address = address - k->base,
                     .bytes = pl_memory_at(w->grid->memory, address, bytes)};
    if (!p.bytes || !is_tracked(k, address)) return;
    if (k->tools & PL_CHECK_RACE) check_race(w, i, lane, &p, bytes);
    if (k->tools & PL_CHECK_INIT) track_values(w, i, lane, address, bytes);
}

/* The fetched value of a lane is undefined if a texel is. */
void pl_init_fetch(pl_warp *w, const pl_insn *i)
{
    struct pl_fetched *x = &check_of(w)->init.fetched;
    x->lanes = 0;
    pl_init_propagate(w, i);
    pl_traced *s = x->lanes ? pl_traced_of(w) : NULL;
    unsigned n;
    const pl_init_use *use = pl_init_results(w, i, &n);
    uint64_t bits[PL_LANES];
    for (unsigned l = 0; l < PL_LANES; l++) bits[l] = UINT64_MAX;
    for (unsigned k = 0; s && k < n; k++)
        if (!use[k].pred)
            pl_traced_set(s, pl_traced_row(w) + use[k].row, use[k].rows > 1, x->lanes, bits,
                          x->origin);
}
