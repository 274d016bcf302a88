/* tma_operands.h - constructs the copy specified by an instruction of the tensor copy engine and
 * the registers of a lane.
 *
 * Used by the instructions (op_tma.c) and by the timing model, which needs the lines accessed by a
 * copy. */
#ifndef PL_EMU_EXEC_TMA_TMA_OPERANDS_H
#define PL_EMU_EXEC_TMA_TMA_OPERANDS_H

#include "emu/exec/lane_loops.h"
#include "emu/exec/tma/tma_copy.h"

enum { PL_TMA_NONE = 0xff };

/* Indices of the operands of an instruction, by their names in the table. PL_TMA_NONE: not
 * present. */
typedef struct pl_tma_shape {
    uint8_t kind; /* pl_tma_kind: a load has an mbarrier, a prefetch has no tile */
    uint8_t wide; /* pl_tma_wide */
    bool im2col, rows4, prefetch;
    bool pair; /* .cta_group::2: the object may be in the other block of the pair */
    uint8_t map, coord, tile, mbar, offset, mask;
    uint32_t ranks;                    /* the blocks that the mask can address */
    uint8_t base, sizes, lower, upper; /* operands that replace fields of the map */
} pl_tma_shape;

pl_tma_shape pl_tma_shape_of(const pl_insn *i);
/* Address operand `operand` of a lane. */
uint64_t pl_tma_address(const pl_warp *w, const pl_insn *i, unsigned operand, unsigned lane);
/* Coordinates and offsets of a lane; does not read the map. */
void pl_tma_operands(const pl_warp *w, const pl_insn *i, const pl_tma_shape *s, unsigned lane,
                     pl_tma_copy *c);
/* Decodes the map at `from` for a lane's copy, and applies the overrides of the instruction. */
void pl_tma_map(const pl_warp *w, const pl_insn *i, const pl_tma_shape *s, unsigned lane,
                const uint8_t *from, pl_tensormap *map);
/* Walks the pieces of a lane's copy that has already been executed. */
void pl_tma_pieces(pl_warp *w, const pl_insn *i, unsigned lane,
                   bool (*fn)(void *ctx, const pl_tma_piece *p), void *ctx);

#endif
