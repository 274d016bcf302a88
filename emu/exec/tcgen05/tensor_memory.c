/* tensor_memory.c - allocation of tensor memory. See tensor_memory.h. */
#include "emu/exec/tcgen05/tensor_memory.h"

#include <stddef.h>

uint32_t pl_tmem_find(const pl_tmem *t, uint32_t columns)
{
    const uint32_t units = columns / PL_TMEM_UNIT;
    for (uint32_t first = 0; units && first + units <= PL_TMEM_UNITS; first++) {
        uint32_t n = 0;
        while (n < units && !t->owner[first + n]) n++;
        if (n == units) return first * PL_TMEM_UNIT;
    }
    return UINT32_MAX;
}

void pl_tmem_take(pl_tmem *t, uint32_t column, uint32_t columns)
{
    const uint32_t first = column / PL_TMEM_UNIT;
    for (uint32_t k = 0; k < columns / PL_TMEM_UNIT; k++)
        t->owner[first + k] = (uint8_t)(first + 1);
}

const char *pl_tmem_release(pl_tmem *t, uint32_t address, uint32_t columns)
{
    const uint32_t column = pl_tmem_column(address), first = column / PL_TMEM_UNIT,
                   units = columns / PL_TMEM_UNIT;
    if (pl_tmem_lane(address) || column % PL_TMEM_UNIT || first >= PL_TMEM_UNITS ||
        t->owner[first] != first + 1)
        return "no allocation begins there";
    uint32_t n = 0;
    while (first + n < PL_TMEM_UNITS && t->owner[first + n] == first + 1) n++;
    if (n != units) return "the allocation has another number of columns";
    for (uint32_t k = 0; k < n; k++) t->owner[first + k] = 0;
    return NULL;
}

bool pl_tmem_holds(const pl_tmem *t, uint32_t column, uint32_t columns)
{
    if (column > PL_TMEM_COLUMNS || columns > PL_TMEM_COLUMNS - column) return false;
    for (uint32_t k = column / PL_TMEM_UNIT; k * PL_TMEM_UNIT < column + columns; k++)
        if (!t->owner[k]) return false;
    return true;
}
