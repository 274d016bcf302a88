/* tma_copy.h - copies of tensor tiles between global and shared memory, as the copy engine of the
 * SM makes them.
 *
 * pl_tma_walk lists the 16-byte pieces of a copy in the order of the tile; pl_tma_apply moves them.
 * Both know nothing of warps; op_tma.c brings the operands, the timing model walks to know which
 * lines are touched. */
#ifndef PL_EMU_EXEC_TMA_TMA_COPY_H
#define PL_EMU_EXEC_TMA_TMA_COPY_H

#include "emu/exec/memory/global_memory.h"
#include "emu/exec/tma/tensor_map_descriptor.h"

typedef enum pl_tma_kind { PL_TMA_LOAD, PL_TMA_STORE, PL_TMA_REDUCE } pl_tma_kind;

/* im2col along the width alone: im2col::w, im2col::w::128. */
typedef enum pl_tma_wide { PL_TMA_NOT_WIDE, PL_TMA_WIDE, PL_TMA_WIDE_128 } pl_tma_wide;

/* One copy. Self-contained, so that it can happen later than it was asked for. */
typedef struct pl_tma_copy {
    pl_tensormap map;
    uint8_t kind; /* pl_tma_kind */
    bool rows4;   /* gather4, scatter4: coord[1..4] are the rows */
    int32_t coord[PL_TENSOR_DIMS];
    uint32_t offset[3]; /* im2col: added to the position in the image */
    uint8_t wide;       /* pl_tma_wide */
    uint32_t halo;      /* wide: further pixels */
    const pl_memory *memory;
    uint8_t *tile;   /* its bytes */
    uint32_t at;     /* where in shared memory the tile starts, a multiple of 128 */
    int op;          /* reductions: the word of the instruction */
    uint8_t inspect; /* pl_inspect */
} pl_tma_copy;

/* A piece of 16 bytes: where in shared memory (swizzled), the address of its first byte in global
 * memory, and how many of its bytes lie inside of the tensor. */
typedef struct pl_tma_piece {
    uint32_t shared;
    uint32_t valid;
    uint64_t address;
} pl_tma_piece;

/* Calls fn for each piece until it returns false. Returns whether it reached the end. */
bool pl_tma_walk(const pl_tma_copy *c, bool (*fn)(void *ctx, const pl_tma_piece *p), void *ctx);
/* Bytes that the copy writes to shared memory or reads from it: what an mbarrier counts. */
uint32_t pl_tma_bytes(const pl_tma_copy *c);
/* Last byte of shared memory that the copy may touch, relative to its start, plus one. */
uint32_t pl_tma_extent(const pl_tma_copy *c);
/* What the copy engine refuses about the coordinates or the operation, or NULL. */
const char *pl_tma_wrong(const pl_tma_copy *c);
/* Moves the data; whether an inspection found something. Every address must have been checked. */
bool pl_tma_apply(const pl_tma_copy *c);

#endif
