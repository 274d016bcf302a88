/* array.c - growable arrays from malloc. */
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

bool pl_array_grow(void *array, size_t *cap, size_t size)
{
    const size_t larger = *cap ? 2 * *cap : 16;
    void *at;
    memcpy(&at, array, sizeof at); /* the type of the caller's pointer is not known */
    at = realloc(at, larger * size);
    if (!at) return false;
    memcpy(array, &at, sizeof at);
    *cap = larger;
    return true;
}
