/* tma_operands.h - from an instruction of the tensor copy engine and the registers of a lane to the
 * copy that it asks for.
 *
 * Used by the instructions (op_tma.c) and by the timing model, which wants to know the lines
 * that a copy touches. */
#ifndef PL_EMU_EXEC_TMA_TMA_OPERANDS_H
#define PL_EMU_EXEC_TMA_TMA_OPERANDS_H

#include "emu/exec/lane_loops.h"
#include "emu/exec/tma/tma_copy.h"

enum { PL_TMA_NONE = 0xff };

/* Where the operands of an instruction are, by their names in the table. PL_TMA_NONE: it has none.
 */
typedef struct pl_tma_shape {
    uint8_t kind; /* pl_tma_kind: a load has an mbarrier, a prefetch no tile */
    uint8_t wide; /* pl_tma_wide */
    bool im2col, rows4, prefetch;
    bool pair; /* .cta_group::2: the object may be in the other block of the pair */
    uint8_t map, coord, tile, mbar, offset, mask;
    uint32_t ranks;                    /* the blocks that the mask can name */
    uint8_t base, sizes, lower, upper; /* what replaces fields of the map */
} pl_tma_shape;

pl_tma_shape pl_tma_shape_of(const pl_insn *i);
/* Address operand `operand` of a lane. */
uint64_t pl_tma_address(const pl_warp *w, const pl_insn *i, unsigned operand, unsigned lane);
/* Coordinates and offsets of a lane; the map is not looked at. */
void pl_tma_operands(const pl_warp *w, const pl_insn *i, const pl_tma_shape *s, unsigned lane,
                     pl_tma_copy *c);
/* Decodes the map at `from` for a lane's copy: what the instruction overrides is replaced. */
void pl_tma_map(const pl_warp *w, const pl_insn *i, const pl_tma_shape *s, unsigned lane,
                const uint8_t *from, pl_tensormap *map);
/* Walks the pieces of a lane's copy that has already been executed. */
void pl_tma_pieces(pl_warp *w, const pl_insn *i, unsigned lane,
                   bool (*fn)(void *ctx, const pl_tma_piece *p), void *ctx);

#endif
