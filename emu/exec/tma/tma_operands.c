/* tma_operands.c - see tma_operands.h. */
#include "emu/exec/tma/tma_operands.h"

#include <string.h>

#include "emu/exec/memory/address.h"
#include "isa/program/insn_query.h"

pl_tma_shape pl_tma_shape_of(const pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    pl_tma_shape s = {.map = PL_TMA_NONE,
                      .coord = PL_TMA_NONE,
                      .tile = PL_TMA_NONE,
                      .mbar = PL_TMA_NONE,
                      .offset = PL_TMA_NONE,
                      .mask = PL_TMA_NONE,
                      .base = PL_TMA_NONE,
                      .sizes = PL_TMA_NONE,
                      .lower = PL_TMA_NONE,
                      .upper = PL_TMA_NONE};
    for (uint8_t k = 0; k < f->noperands; k++) {
        const char *name = f->operand[k].name;
        uint8_t *to = !strcmp(name, "map")      ? &s.map
                      : !strcmp(name, "c")      ? &s.coord
                      : !strcmp(name, "a")      ? &s.tile
                      : !strcmp(name, "mbar")   ? &s.mbar
                      : !strcmp(name, "offset") ? &s.offset
                      : !strcmp(name, "mask")   ? &s.mask
                      : !strcmp(name, "gaddr")  ? &s.base
                      : !strcmp(name, "sizes")  ? &s.sizes
                      : !strcmp(name, "lower")  ? &s.lower
                      : !strcmp(name, "upper")  ? &s.upper
                                                : NULL;
        if (to) *to = k;
    }
    s.prefetch = s.tile == PL_TMA_NONE;
    s.kind = s.prefetch || s.mbar != PL_TMA_NONE ? PL_TMA_LOAD : PL_TMA_STORE;
    pl_word mode = pl_mod(f, i->mods, G_mode);
    s.im2col = s.offset != PL_TMA_NONE || mode == W_im2col_no_offs || mode == W_im2col_no_offs__w;
    pl_word wide = pl_mod(f, i->mods, G_im2col_mode);
    s.wide = wide == W_im2col__w || mode == W_im2col_no_offs__w ? PL_TMA_WIDE
             : wide == W_im2col__w__128                         ? PL_TMA_WIDE_128
                                                                : PL_TMA_NOT_WIDE;
    s.pair = pl_mod(f, i->mods, G_group2) == W_cta_group__2;
    /* gather4 and scatter4 are only defined for two dimensions. */
    s.rows4 = pl_mod(f, i->mods, G_dim) == W_none;
    s.ranks = s.mask != PL_TMA_NONE && f->operand[s.mask].type == W_u32 ? UINT32_MAX : 0xffff;
    if (s.mask != PL_TMA_NONE && i->op[s.mask] == PL_NO_OPERAND) s.mask = PL_TMA_NONE;
    return s;
}

uint64_t pl_tma_address(const pl_warp *w, const pl_insn *i, unsigned operand, unsigned lane)
{
    const pl_form *f = &pl_forms[i->form];
    unsigned which = 0;
    for (unsigned k = 0; k < operand; k++) which += f->operand[k].kind == PL_K_ADDR;
    const int64_t offset = pl_insn_offset(i, which);
    if (i->op[operand] == PL_NO_OPERAND) /* only possible for the first one: a variable by name */
        return (uint64_t)offset + (i->sel[PL_M_SPACE] == PL_SP_SHARED
                                       ? w->cta->shared_base + w->cta->shared_start
                                       : 0);
    if (pl_insn_has_narrow_address(i, which))
        return (uint32_t)(pl_row32(w, i->op[operand])[lane] + (uint32_t)offset);
    return pl_row64(w, i->op[operand])[lane] + (uint64_t)offset;
}

static uint32_t element(const pl_warp *w, const pl_insn *i, unsigned operand, unsigned k,
                        unsigned lane)
{
    return pl_row32(w, pl_more(w, i, i->op[operand] + k))[lane];
}

void pl_tma_operands(const pl_warp *w, const pl_insn *i, const pl_tma_shape *s, unsigned lane,
                     pl_tma_copy *c)
{
    const pl_form *f = &pl_forms[i->form];
    int n = pl_operand_count(f, s->coord, i->mods);
    memset(c, 0, sizeof *c);
    c->kind = s->kind;
    c->rows4 = s->rows4;
    c->memory = w->grid->memory;
    for (int k = 0; k < n; k++) c->coord[k] = (int32_t)element(w, i, s->coord, (unsigned)k, lane);
    c->wide = s->wide;
    if (s->offset == PL_TMA_NONE) return;
    if (s->wide) {
        c->halo = element(w, i, s->offset, 0, lane) & 0xffff;
        c->offset[0] = element(w, i, s->offset, 1, lane) & 0xffff;
        return;
    }
    /* offsets have as many bits as the descriptor's corners: 16, 8 or 5 (H200, driver 580.159.04,
     * 2026-11, probe tma.im2col_edge) */
    static const uint32_t masks[] = {0xffff, 0xff, 0x1f};
    for (int k = 0; k < n - 2; k++)
        c->offset[k] = element(w, i, s->offset, (unsigned)k, lane) & masks[n - 3];
}

/* Strides are given in units of 16 with 36 bits; the upper 4 bits of each are packed in one
 * register. */
void pl_tma_map(const pl_warp *w, const pl_insn *i, const pl_tma_shape *s, unsigned lane,
                const uint8_t *from, pl_tensormap *map)
{
    pl_tensormap_decode(from, map);
    if (s->base != PL_TMA_NONE) map->address = pl_row64(w, i->op[s->base])[lane];
    if (s->sizes == PL_TMA_NONE) return;
    unsigned n = (unsigned)pl_operand_count(&pl_forms[i->form], s->sizes, i->mods);
    for (unsigned k = 0; k < n; k++) map->dim[k] = element(w, i, s->sizes, k, lane) & 0xff;
    if (s->lower == PL_TMA_NONE) return;
    uint64_t upper = pl_row32(w, i->op[s->upper])[lane] & 0xffff;
    for (unsigned k = 0; k + 1 < n; k++)
        map->stride[k + 1] = (element(w, i, s->lower, k, lane) + ((upper >> 4 * k & 0xf) << 32))
                             << 4;
}

void pl_tma_pieces(pl_warp *w, const pl_insn *i, unsigned lane,
                   bool (*fn)(void *ctx, const pl_tma_piece *p), void *ctx)
{
    pl_tma_shape s = pl_tma_shape_of(i);
    pl_tma_copy c;
    pl_space real;
    uint64_t in;
    const uint8_t *map = pl_resolve(w, lane, PL_SP_GENERIC, pl_tma_address(w, i, s.map, lane),
                                    PL_TENSORMAP_BYTES, &real, &in);
    if (!map) return;
    pl_tma_operands(w, i, &s, lane, &c);
    pl_tma_map(w, i, &s, lane, map, &c.map);
    if (!pl_tensormap_error(&c.map)) pl_tma_walk(&c, fn, ctx);
}
