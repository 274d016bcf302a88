/* tensor_memory.h - the tensor memory of sm_100: 128 lanes of 512 32-bit columns for each block.
 *
 * An address has the lane in its upper half and the column in its lower half. Columns are
 * allocated in units of 32, for all lanes. Each block of the emulator has its own tensor memory;
 * on a GPU the blocks of an SM share one (PTX ISA 9.1, section 9.7.16.1). Nothing here was
 * recorded on hardware. */
#ifndef PL_EMU_EXEC_TCGEN05_TENSOR_MEMORY_H
#define PL_EMU_EXEC_TCGEN05_TENSOR_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

enum {
    PL_TMEM_LANES = 128,
    PL_TMEM_COLUMNS = 512,
    PL_TMEM_UNIT = 32, /* columns */
    PL_TMEM_UNITS = PL_TMEM_COLUMNS / PL_TMEM_UNIT,
    PL_TMEM_PAIRS = 8 /* allocations of a pair that one block has executed and the other has not
                         yet */
};

typedef struct pl_tmem {
    uint32_t cell[PL_TMEM_LANES][PL_TMEM_COLUMNS];
    uint8_t owner[PL_TMEM_UNITS]; /* 1 + the first unit of its allocation, 0: free */
    uint8_t npairs;
    uint16_t pair[PL_TMEM_PAIRS]; /* columns that the other block has allocated for both */
    bool relinquished;
    bool exclusive; /* the only existing allocation is exclusive */
} pl_tmem;

/* Bits above those of the 128 lanes are ignored: public kernels for pairs of blocks number the
 * lanes of the second block 128 to 255, and were run on a B200. */
static inline uint32_t pl_tmem_lane(uint32_t address)
{
    return (address >> 16) % PL_TMEM_LANES;
}

static inline uint32_t pl_tmem_column(uint32_t address)
{
    return address & 0xffff;
}

/* A free run of columns; UINT32_MAX: none. */
uint32_t pl_tmem_find(const pl_tmem *t, uint32_t columns);
void pl_tmem_take(pl_tmem *t, uint32_t column, uint32_t columns);
/* Returns NULL, or a description of the error. */
const char *pl_tmem_release(pl_tmem *t, uint32_t address, uint32_t columns);
/* True if these columns are allocated. */
bool pl_tmem_holds(const pl_tmem *t, uint32_t column, uint32_t columns);

#endif
