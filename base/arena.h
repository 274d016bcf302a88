/* arena.h - memory by lifetime: everything allocated for a module, a launch or a run is freed at
 * once.
 *
 * An arena is a list of blocks from malloc. When memory is exhausted, a request jumps to the guard
 * of the thread (base/guard.h), so that code that uses arenas under a guard needs no checks.
 * Without a guard it returns NULL, and pl_arena_ok is false from then on. Such a caller must check
 * each result, and must never grow an array. */
#ifndef PL_BASE_ARENA_H
#define PL_BASE_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct pl_arena pl_arena;

pl_arena *pl_arena_open(void); /* NULL only when out of memory */
/* For large, sparsely accessed arrays: uses small pages. */
pl_arena *pl_arena_open_sparse(void);
void pl_arena_close(pl_arena *a); /* frees everything; NULL is allowed */
/* Reclaims all allocations and keeps the memory for reuse. */
void pl_arena_reset(pl_arena *a);
void pl_arena_reset_unzeroed(pl_arena *a); /* the same; from now on reused memory keeps its old
                                     contents instead of being zeroed */
void pl_arena_release(pl_arena *a);        /* the same, and returns the memory to the system */
void *pl_arena_alloc(pl_arena *a, size_t bytes); /* zeroed, 16-byte aligned */
/* align: power of two <= 4096. */
void *pl_arena_alloc_aligned(pl_arena *a, size_t bytes, size_t align);
void *pl_arena_copy(pl_arena *a, const void *from, size_t bytes);
char *pl_arena_strndup(pl_arena *a, const char *s, size_t n);
char *pl_arena_strdup(pl_arena *a, const char *s);
char *pl_arena_printf(pl_arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
char *pl_arena_vprintf(pl_arena *a, const char *fmt, va_list ap);
bool pl_arena_ok(const pl_arena *a);      /* false after an allocation has returned NULL */
size_t pl_arena_bytes(const pl_arena *a); /* bytes allocated, for statistics */
/* Bytes taken from the system, including those for reuse, but without large vectors. NULL: 0. */
size_t pl_arena_held(const pl_arena *a);

/* Transfers a growable array (below) to another arena. False: it is too small to have a separate
 * block, and stays. */
bool pl_arena_transfer(pl_arena *to, pl_arena *from, const void *vector);

#define pl_arena_new(a, type) ((type *)pl_arena_alloc_aligned((a), sizeof(type), _Alignof(type)))

#define pl_arena_array(a, type, n) ((type *)pl_arena_alloc((a), sizeof(type) * (size_t)(n)))

/* Growable array in an arena: grows by doubling. A small old copy stays in the arena until it is
 * closed, a large one is freed, so nothing may point at elements of an array that still grows.
 * Usage: struct { T *at; size_t n, cap; } v = {0}; *pl_push(arena, &v) = x; */
void *pl_vec_grow_(pl_arena *a, void *at, size_t *cap, size_t *n, size_t elem);
#define pl_push(a, v)                                                                              \
    (((v)->n == (v)->cap                                                                           \
          ? (void)((v)->at = pl_vec_grow_((a), (v)->at, &(v)->cap, &(v)->n, sizeof *(v)->at))      \
          : (void)0),                                                                              \
     &(v)->at[(v)->n++])

/* Reserves space for a known number of elements, which avoids repeated copying. */
void *pl_vec_reserve_(pl_arena *a, void *at, size_t *cap, size_t *n, size_t elem, size_t capacity);
#define pl_reserve(a, v, capacity)                                                                 \
    ((v)->cap < (capacity) ? (void)((v)->at = pl_vec_reserve_((a), (v)->at, &(v)->cap, &(v)->n,    \
                                                              sizeof *(v)->at, (capacity)))        \
                           : (void)0)

#endif
