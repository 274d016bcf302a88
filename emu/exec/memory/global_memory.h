/* global_memory.h - the functional memory image: one 64-bit global address space of allocations,
 * and the windows of the other spaces.
 *
 * Generic addresses: the shared window holds the block's shared memory (with clusters, that of each
 * rank in its own slice), the local window the thread's local memory. All other addresses are
 * global. A module's constant bank is in global memory, and addresses of the constant space are
 * relative to its start. Functional accesses take no time; emu/sm models their timing. */
#ifndef PL_EMU_EXEC_MEMORY_GLOBAL_MEMORY_H
#define PL_EMU_EXEC_MEMORY_GLOBAL_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Windows of generic addresses. The H200 places them near these values; only isspacep and cvta can
 * observe them. */
#define PL_SHARED_WINDOW 0x00007f8f00000000ull
#define PL_SHARED_SLICE                                                                            \
    0x0000000001000000ull /* of one cluster rank: 16 MiB; rank r at window + r * slice, as on the  \
                             H200 */
#define PL_SHARED_RANKS 64u
#define PL_LOCAL_WINDOW 0x00007f8e00000000ull
#define PL_LOCAL_SIZE   0x0000000001000000ull
#define PL_PARAM_WINDOW                                                                            \
    0x00007f8d00000000ull /* kernel parameters seen through generic addresses                      \
                           */
#define PL_GLOBAL_BASE 0x00007fa000000000ull
/* The same for programs with 32-bit addresses: the windows begin at these addresses, and global
 * memory is below. */
#define PL_NARROW_BASE   0x10000000ull
#define PL_NARROW_PARAM  0xfd000000ull
#define PL_NARROW_LOCAL  0xfe000000ull
#define PL_NARROW_SHARED 0xff000000ull
#define PL_NARROW_END    0x100000000ull

/* The 64-bit form of a 32-bit generic address. */
static inline uint64_t pl_generic_widened(uint64_t address)
{
    if (address < PL_NARROW_PARAM || address >= PL_NARROW_END) return address;
    const uint64_t window = address >= PL_NARROW_SHARED  ? PL_SHARED_WINDOW
                            : address >= PL_NARROW_LOCAL ? PL_LOCAL_WINDOW
                                                         : PL_PARAM_WINDOW;
    return window + address % (PL_NARROW_END - PL_NARROW_SHARED);
}

/* Properties of an allocation that pl_memory_mark sets. */
typedef enum pl_alloc_flags {
    PL_ALLOC_CONSTANT = 1 << 0,    /* a constant bank */
    PL_ALLOC_WRITABLE = 1 << 1,    /* a constant bank that kernels may write through its address */
    PL_ALLOC_WRITTEN = 1 << 2,     /* by the host, so that the system has provided its pages */
    PL_ALLOC_UNDEFINED = 1 << 3,   /* its contents are undefined until they are written */
    PL_ALLOC_OUTPUT = 1 << 4,      /* the host reads it at the end */
    PL_ALLOC_CHECKED = 1 << 5,     /* registered with a checker */
    PL_ALLOC_HOST_MEMORY = 1 << 6, /* kernels access it over the link to the host */
} pl_alloc_flags;

typedef struct pl_alloc {
    uint64_t address, size;
    uint8_t *bytes;
    const char *name;     /* "arg2", a variable's name, or NULL; not owned */
    const char *type;     /* element type, for messages ("f32"), or NULL; not owned */
    uint32_t element;     /* bytes of an element, 0 without a type */
    unsigned flags;       /* pl_alloc_flags */
    bool borrowed;        /* `bytes` are not owned */
    bool touched;         /* has been looked up: set by pl_memory_find */
    bool mapped;          /* `bytes` are a mapping of the host, regardless of the size */
    const uint8_t *valid; /* for each PL_GRANULE bytes, the number that a kernel may access from the
                             first on; NULL: all. Not owned */
} pl_alloc;

enum { PL_GRANULE = 16, PL_GAP = 4096 };

/* A freed allocation, for messages. */
typedef struct pl_freed {
    uint64_t address, size;
    char name[160];
} pl_freed;

enum { PL_FREED = 32 }; /* number of freed allocations that are recorded */

typedef struct pl_memory {
    pl_alloc *alloc; /* sorted by address */
    size_t n, cap;
    uint64_t base, next;  /* of addresses; base 0: PL_GLOBAL_BASE */
    uint64_t shared_next; /* next address for memory that has the host's addresses: near the rest */
    pl_freed freed[PL_FREED];
    size_t nfreed; /* total so far */
} pl_memory;

void pl_memory_init(pl_memory *m);
void pl_memory_free(pl_memory *m);
/* Creates a zeroed allocation at the next 512-byte aligned address, followed by a gap. 0: out of
 * memory. */
uint64_t pl_memory_alloc(pl_memory *m, uint64_t size, const char *name);
/* The same at the address that the bytes have on the host. */
uint64_t pl_memory_alloc_shared(pl_memory *m, uint64_t size, const char *name);
/* Sets the first address of an empty memory. */
void pl_memory_start(pl_memory *m, uint64_t base);
/* Maps [address, address + size) to bytes that are not owned. PL_INVALID: part of the range is in
 * use; PL_NOMEM. */
pl_status pl_memory_map(pl_memory *m, uint64_t address, uint64_t size, void *bytes,
                        const char *name);
/* The same with a gap of at least `gap` bytes after it. */
uint64_t pl_memory_alloc_gap(pl_memory *m, uint64_t size, uint64_t gap, const char *name);
pl_status pl_memory_release(pl_memory *m, uint64_t address);
/* Adds flags to the allocation that contains the address. */
void pl_memory_mark(pl_memory *m, uint64_t address, unsigned flags);
/* Sets the element type of an allocation. */
void pl_memory_set_type(pl_memory *m, uint64_t address, const char *type, uint32_t element);
/* Total bytes of the allocations that the host has not written. */
uint64_t pl_memory_unwritten_bytes(const pl_memory *m);
/* Restricts the bytes of an allocation that kernels may access. */
void pl_memory_restrict(pl_memory *m, uint64_t address, const uint8_t *valid);
/* True if `valid` permits access to [at, at + bytes). */
bool pl_memory_valid(const uint8_t *valid, uint64_t at, uint64_t bytes);
/* The allocation that holds the address, or NULL. */
const pl_alloc *pl_memory_find(const pl_memory *m, uint64_t address);
/* The freed allocation that held the address, or NULL. */
const pl_freed *pl_memory_freed(const pl_memory *m, uint64_t address);
/* The allocation nearest to an address, for messages; NULL without allocations. */
const pl_alloc *pl_memory_nearest(const pl_memory *m, uint64_t address);
/* Host pointer to [address, address + size), or NULL if it is not inside one allocation. */
uint8_t *pl_memory_at(const pl_memory *m, uint64_t address, uint64_t size);
/* True if kernels must not write it. */
static inline bool pl_alloc_read_only(const pl_alloc *a)
{
    return (a->flags & (PL_ALLOC_CONSTANT | PL_ALLOC_WRITABLE)) == PL_ALLOC_CONSTANT;
}

/* True if a kernel may access [address, address + bytes) of this allocation. */
static inline bool pl_alloc_holds(const pl_alloc *a, uint64_t address, uint64_t bytes)
{
    const uint64_t at = address - a->address;
    return at < a->size && bytes <= a->size - at &&
           (!a->valid || pl_memory_valid(a->valid, at, bytes));
}

#endif
