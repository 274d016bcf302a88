/* array.h - growable arrays from malloc.
 *
 * For elements that change their owner, and for code that runs without a guard (base/guard.h). All
 * other arrays grow in an arena (pl_push in base/arena.h). */
#ifndef PL_BASE_ARRAY_H
#define PL_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/* Doubles the capacity of an array, or allocates an array for 16 elements if the capacity is 0.
 * `array` is the address of the pointer to the first element. cap: in elements. size: bytes of an
 * element. False: out of memory, and nothing has changed. Usage:
 * if (v->n == v->cap && !pl_array_grow(&v->at, &v->cap, sizeof *v->at)) return false; */
bool pl_array_grow(void *array, size_t *cap, size_t size);

#endif
