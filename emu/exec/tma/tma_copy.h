/* tma_copy.h - copies of tensor tiles between global and shared memory, as performed by the copy
 * engine of the SM.
 *
 * pl_tma_walk enumerates the 16-byte pieces of a copy in the order of the tile; pl_tma_apply moves
 * them. Both are independent of warps: op_tma.c supplies the operands, and the timing model walks
 * the pieces to find the accessed lines. */
#ifndef PL_EMU_EXEC_TMA_TMA_COPY_H
#define PL_EMU_EXEC_TMA_TMA_COPY_H

#include "emu/exec/memory/global_memory.h"
#include "emu/exec/tma/tensor_map_descriptor.h"

typedef enum pl_tma_kind { PL_TMA_LOAD, PL_TMA_STORE, PL_TMA_REDUCE } pl_tma_kind;

/* im2col along the width only: im2col::w, im2col::w::128. */
typedef enum pl_tma_wide { PL_TMA_NOT_WIDE, PL_TMA_WIDE, PL_TMA_WIDE_128 } pl_tma_wide;

/* One copy. Self-contained, so that it can be applied later than it was issued. */
typedef struct pl_tma_copy {
    pl_tensormap map;
    uint8_t kind; /* pl_tma_kind */
    bool rows4;   /* gather4, scatter4: coord[1..4] are the rows */
    int32_t coord[PL_TENSOR_DIMS];
    uint32_t offset[3]; /* im2col: added to the position in the image */
    uint8_t wide;       /* pl_tma_wide */
    uint32_t halo;      /* wide: number of additional pixels */
    const pl_memory *memory;
    uint8_t *tile;   /* its bytes */
    uint32_t at;     /* start of the tile in shared memory, a multiple of 128 */
    int op;          /* reductions: the word of the instruction */
    uint8_t inspect; /* pl_inspect */
} pl_tma_copy;

/* A piece of 16 bytes: its location in shared memory (swizzled), the address of its first byte in
 * global memory, and the number of its bytes that are inside of the tensor. */
typedef struct pl_tma_piece {
    uint32_t shared;
    uint32_t valid;
    uint64_t address;
} pl_tma_piece;

/* Calls fn for each piece until it returns false. Returns true if it reached the end. */
bool pl_tma_walk(const pl_tma_copy *c, bool (*fn)(void *ctx, const pl_tma_piece *p), void *ctx);
/* Bytes that the copy writes to or reads from shared memory, as counted by an mbarrier. */
uint32_t pl_tma_bytes(const pl_tma_copy *c);
/* One past the last byte of shared memory that the copy may access, relative to its start. */
uint32_t pl_tma_extent(const pl_tma_copy *c);
/* Describes an error in the coordinates or the operation, or returns NULL. */
const char *pl_tma_error(const pl_tma_copy *c);
/* Moves the data; returns true if an inspection found its value. Every address must have been
 * checked. */
bool pl_tma_apply(const pl_tma_copy *c);

#endif
