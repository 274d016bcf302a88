/* device_heap.h - the device heap, used by malloc and free in kernels. Its lifetime is that of the
 * GPU, not of a launch.
 *
 * Blocks are records on the host. Addresses are specific to this heap; its capacity follows the
 * H200 (driver 580.159.04, 2026-11, probes host.heap). An access outside of a block is a fault
 * here, with byte granularity; the H200 does not detect it. */
#ifndef PL_EMU_EXEC_RUNTIME_DEVICE_HEAP_H
#define PL_EMU_EXEC_RUNTIME_DEVICE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PL_HEAP_DEFAULT = 8 << 20, PL_HEAP_CLASSES = 64 };

/* A call site of malloc or free in a kernel; one for each call. */
typedef struct pl_heap_site {
    const void *program; /* the program of pc */
    uint32_t pc;
    char kernel[64], location[100]; /* "k.cu:12", or "line 12" of the PTX */
} pl_heap_site;

typedef struct pl_heap_block {
    uint64_t offset, cost;          /* from the start of the heap; bytes it occupies */
    uint64_t size;                  /* as requested from malloc */
    uint32_t next;                  /* free blocks of one class: index + 1 */
    uint32_t alloc_site, free_site; /* sites, index + 1; 0: unknown */
    bool used;
} pl_heap_block;

typedef struct pl_heap {
    uint64_t base, size;  /* device address; 0: no heap */
    uint64_t top;         /* offset of the space that was never used */
    pl_heap_block *block; /* sorted by offset; owned */
    size_t n, cap;
    uint8_t *valid;     /* bytes that kernels may access (pl_memory_restrict); owned, or NULL */
    pl_heap_site *site; /* owned */
    size_t nsites, capsites;
    uint32_t free_list[PL_HEAP_CLASSES]; /* index + 1 of the first block, by class */
} pl_heap;

void pl_heap_close(pl_heap *h);
/* Allocates a block of at least `size` bytes at a multiple of `align` (a power of two, at least
 * 16); 0: it does not fit. */
uint64_t pl_heap_alloc(pl_heap *h, uint64_t size, uint64_t align);
/* false: the address is not that of a block in use. */
bool pl_heap_free(pl_heap *h, uint64_t address);
/* True if no block is in use. */
bool pl_heap_empty(const pl_heap *h);
/* The last block that starts at or before the address, in use or free; NULL: there is none. */
const pl_heap_block *pl_heap_block_at(const pl_heap *h, uint64_t address);
/* Records the site at which the block that begins at the address was allocated, or freed. */
void pl_heap_record_site(pl_heap *h, uint64_t address, bool freed, const pl_heap_site *s);
/* ", made by kernel 'k' at k.cu:12, freed by ...", or the empty string. */
void pl_heap_history(const pl_heap *h, const pl_heap_block *b, char *text, size_t size);
/* Allocates `valid` for a heap without blocks; false: out of memory. */
bool pl_heap_track_valid(pl_heap *h);

#endif
