/* arena.c - a list of blocks; allocation bumps a pointer, closing frees the blocks.
 *
 * Block sizes double from 4 KiB to 8 MiB, so that a small module costs little and a large one few
 * calls. Large blocks are allocated as pages from the system where possible: they need no zeroing,
 * use memory only as they are filled, and a vector grows without being copied. Pages of 2 MiB, in
 * blocks that have space for one, save a page fault for each 4 KiB: a tenth to a fifth of the
 * checking time. Smaller blocks are populated at once, which is cheaper than as many page faults:
 * three hundredths of the assembly time. In builds with the address sanitizer only allocated memory
 * is accessible. Poisoned are the unused part of a block, the bytes after each allocation, memory
 * reclaimed by a reset, and the old copy of a vector that grew. */
#ifdef __linux__
#define _GNU_SOURCE /* mremap */
#endif
#include "base/arena.h"
#include "base/guard.h"
#include "base/poison.h"
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

#define FIRST_BLOCK   ((size_t)4096)
#define LARGEST_BLOCK ((size_t)1 << 23)
#define MAPPED        ((size_t)1 << 18) /* from this size on: allocated as pages */
#define HUGE                                                                                       \
    ((size_t)1 << 21) /* from this size on: large pages, if the system provides them; their size   \
                       */
#define HEADER_BYTES                                                                               \
    ((size_t)1 << 16) /* of a block before its large pages, so that its header touches none; whole \
                         pages on every system */
#define LARGE_VECTOR  ((size_t)1 << 18)
#define DEFAULT_ALIGN ((size_t)16)
#define MAX_ALIGN     ((size_t)4096)

typedef struct block {
    struct block *next;
    size_t size;  /* bytes after this header, or slightly fewer */
    size_t pages; /* bytes allocated as pages; 0: allocated with malloc */
    size_t dirty; /* of these, from the first on: may be nonzero */
} block;

struct pl_arena {
    block *blocks;
    block *free_list;          /* blocks reclaimed by a reset */
    block *large;              /* vectors with a separate block, freed when they grow */
    unsigned char *free, *end; /* unused part of the newest block */
    unsigned char *clean;      /* zero from here on */
    size_t next_size, allocated;
    bool failed, sparse;
    bool keeps_contents; /* memory that has been used before is not zeroed again */
};

static unsigned char *align_up(unsigned char *p, size_t align)
{
    return p + (-(uintptr_t)p & (align - 1));
}

pl_arena *pl_arena_open(void)
{
    pl_arena *a = calloc(1, sizeof *a);
    if (a) a->next_size = FIRST_BLOCK;
    return a;
}

pl_arena *pl_arena_open_sparse(void)
{
    pl_arena *a = pl_arena_open();
    if (a) a->sparse = true;
    return a;
}

/* ---- blocks ---- */

static size_t whole_pages(size_t bytes)
{
    return (bytes + 4095) / 4096 * 4096;
}

#ifdef __linux__
static block *map_pages(size_t bytes, bool huge)
{
    size_t pages = whole_pages(bytes), more = 0;
    if (huge && pages >= HUGE) {
        pages += HEADER_BYTES;
        more = HUGE;
    }
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (huge && !more ? MAP_POPULATE : 0);
    unsigned char *start = mmap(NULL, pages + more, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (start == MAP_FAILED) return NULL;
    if (more) { /* starts shortly before a large page; the excess at both ends is unmapped */
        unsigned char *at = align_up(start + HEADER_BYTES, HUGE) - HEADER_BYTES, *end = at + pages;
        if (at > start) munmap(start, (size_t)(at - start));
        if (start + pages + more > end) munmap(end, (size_t)(start + pages + more - end));
        /* A hint: without large pages ordinary ones are used. */
        madvise(at + HEADER_BYTES, pages - HEADER_BYTES, MADV_HUGEPAGE);
        start = at;
    }
    block *b = (block *)(void *)start;
    b->pages = pages;
    return b;
}

/* Enlarges the block, possibly moving it; NULL: it is unchanged. */
static block *grow_pages(block *b, size_t bytes)
{
    size_t pages = whole_pages(bytes);
    block *bigger = mremap(b, b->pages, pages, MREMAP_MAYMOVE);
    if (bigger == MAP_FAILED) return NULL;
    /* At least half of the added memory will be filled. */
    if (pages >= 2 * HUGE) madvise(bigger, pages, MADV_HUGEPAGE);
    bigger->pages = pages;
    bigger->size = pages - sizeof *bigger;
    return bigger;
}

static void free_pages(block *b)
{
    munmap(b, b->pages);
}

static void disable_huge_pages(block *b)
{
    /* In case the system enables large pages by default. */
    if (b->pages) madvise(b, b->pages, MADV_NOHUGEPAGE);
}
#else
static block *map_pages(size_t bytes, bool huge)
{
    (void)huge;
    return calloc(1, whole_pages(bytes));
}

static block *grow_pages(block *b, size_t bytes)
{
    (void)b, (void)bytes;
    return NULL;
}

static void free_pages(block *b)
{
    free(b);
}

static void disable_huge_pages(block *b)
{
    (void)b;
}
#endif

/* Allocates a zeroed block of this size, including its header. huge: from large pages, or with
 * populated pages, because it will be filled completely. */
static block *allocate_block(size_t bytes, bool huge)
{
    return bytes >= MAPPED ? map_pages(bytes, huge) : calloc(1, bytes);
}

static void free_block(block *b)
{
    pl_unpoison_memory(b + 1,
                       b->size); /* the system may reuse the same pages for another allocation */
    if (b->pages)
        free_pages(b);
    else
        free(b);
}

static void free_blocks(block *b)
{
    for (block *next; b; b = next) {
        next = b->next;
        free_block(b);
    }
}

void pl_arena_close(pl_arena *a)
{
    if (!a) return;
    free_blocks(a->blocks);
    free_blocks(a->free_list);
    free_blocks(a->large);
    free(a);
}

/* Records the used size of the newest block, now or before an earlier reset. */
static void record_dirty_bytes(pl_arena *a)
{
    const unsigned char *dirty = a->free > a->clean ? a->free : a->clean;
    if (a->blocks) a->blocks->dirty = (size_t)(dirty - (unsigned char *)(a->blocks + 1));
}

/* Reversing the list preserves the order of the blocks, small ones first. */
void pl_arena_reset(pl_arena *a)
{
    record_dirty_bytes(a);
    for (block *b = a->blocks, *next; b; b = next) {
        next = b->next;
        b->next = a->free_list;
        a->free_list = b;
        pl_poison_memory(b + 1, b->size);
    }
    free_blocks(a->large);
    a->blocks = a->large = NULL;
    a->free = a->end = a->clean = NULL;
    a->allocated = 0;
}

void pl_arena_reset_unzeroed(pl_arena *a)
{
    pl_arena_reset(a);
    a->keeps_contents = true;
}

void pl_arena_release(pl_arena *a)
{
    pl_arena_reset(a);
    free_blocks(a->free_list);
    a->free_list = NULL;
    a->next_size = FIRST_BLOCK;
}

static void *fail(pl_arena *a)
{
    pl_guard_fail();
    a->failed = true;
    return NULL;
}

/* Takes the first free block that is large enough. It is zeroed incrementally as memory is
 * allocated, because usually little of it is used. */
static block *take_free_block(pl_arena *a, size_t at_least)
{
    block **from = &a->free_list;
    while (*from && (*from)->size < at_least) from = &(*from)->next;
    block *b = *from;
    if (!b) return NULL;
    *from = b->next;
    return b;
}

static block *new_block(pl_arena *a, size_t at_least)
{
    size_t size = a->next_size < at_least ? at_least : a->next_size;
    if (size > SIZE_MAX / 2) return NULL;
    size_t bytes = sizeof(block) + size;
    if (bytes >= MAPPED) /* a power of two, if that is sufficient */
        bytes = whole_pages(size > at_least + sizeof(block) ? size : bytes);
    block *b = allocate_block(bytes, !a->sparse);
    if (!b) return NULL;
    if (a->sparse) disable_huge_pages(b);
    b->size = (b->pages ? b->pages : bytes) - sizeof *b;
    if (a->next_size < LARGEST_BLOCK) a->next_size *= 2;
    return b;
}

static bool add_block(pl_arena *a, size_t at_least)
{
    block *b = take_free_block(a, at_least);
    if (!b) b = new_block(a, at_least);
    if (!b) return false;
    record_dirty_bytes(a);
    b->next = a->blocks;
    a->blocks = b;
    a->free = (unsigned char *)(b + 1);
    a->end = a->free + b->size;
    a->clean = a->free + b->dirty;
    pl_poison_memory(a->free, b->size);
    return true;
}

/* The first `filled` bytes are not zeroed, because the caller fills them. */
static void *allocate(pl_arena *a, size_t bytes, size_t align, size_t filled)
{
    assert(align > 0 && align <= MAX_ALIGN && (align & (align - 1)) == 0);
    if (bytes > SIZE_MAX / 2) return fail(a);
    if (align < PL_POISON_ALIGN) align = PL_POISON_ALIGN;
    const size_t total = bytes + PL_RED_ZONE;
    size_t padding = a->free ? (size_t)(align_up(a->free, align) - a->free) : 0;
    if (!a->free || (size_t)(a->end - a->free) < padding ||
        (size_t)(a->end - a->free) - padding < total) {
        if (!add_block(a, total + align)) return fail(a);
        padding = (size_t)(align_up(a->free, align) - a->free);
    }
    unsigned char *p = a->free + padding;
    a->free = p + total;
    pl_unpoison_memory(p, bytes);
    const unsigned char *dirty = p + bytes < a->clean ? p + bytes : a->clean;
    if (p + filled < dirty && !a->keeps_contents)
        memset(p + filled, 0, (size_t)(dirty - (p + filled)));
    a->allocated += bytes;
    return p;
}

void *pl_arena_alloc_aligned(pl_arena *a, size_t bytes, size_t align)
{
    return allocate(a, bytes, align, 0);
}

void *pl_arena_alloc(pl_arena *a, size_t bytes)
{
    return pl_arena_alloc_aligned(a, bytes, DEFAULT_ALIGN);
}

void *pl_arena_copy(pl_arena *a, const void *from, size_t bytes)
{
    void *to = allocate(a, bytes, DEFAULT_ALIGN, bytes);
    return to && bytes > 0 ? memcpy(to, from, bytes) : to;
}

char *pl_arena_strndup(pl_arena *a, const char *s, size_t n)
{
    char *copy = pl_arena_alloc_aligned(a, n + 1, 1);
    if (copy && n > 0) memcpy(copy, s, n);
    return copy;
}

char *pl_arena_strdup(pl_arena *a, const char *s)
{
    return pl_arena_strndup(a, s, strlen(s));
}

char *pl_arena_vprintf(pl_arena *a, const char *fmt, va_list ap)
{
    va_list args;
    va_copy(args, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    char *s = pl_arena_alloc_aligned(a, n < 0 ? 1 : (size_t)n + 1, 1);
    if (s && n > 0) vsnprintf(s, (size_t)n + 1, fmt, args);
    va_end(args);
    return s;
}

char *pl_arena_printf(pl_arena *a, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *s = pl_arena_vprintf(a, fmt, ap);
    va_end(ap);
    return s;
}

bool pl_arena_ok(const pl_arena *a)
{
    return !a->failed;
}

size_t pl_arena_bytes(const pl_arena *a)
{
    return a->allocated;
}

size_t pl_arena_held(const pl_arena *a)
{
    size_t n = 0;
    for (const block *b = a ? a->blocks : NULL; b; b = b->next) n += b->size;
    for (const block *b = a ? a->free_list : NULL; b; b = b->next) n += b->size;
    return n;
}

static void *vector_of(block *b)
{
    return align_up((unsigned char *)(b + 1), DEFAULT_ALIGN);
}

/* The vector of a block; all other bytes are poisoned. */
static void *unpoison_vector(block *b, size_t bytes)
{
    pl_poison_memory(b + 1, b->size);
    pl_unpoison_memory(vector_of(b), bytes);
    (void)bytes;
    return vector_of(b);
}

/* Allocates a vector in a separate block, zeroed after its contents. `at`: the existing vector, if
 * any. */
static void *large_vector(pl_arena *a, void *at, size_t used, size_t bytes)
{
    const size_t total = sizeof(block) + DEFAULT_ALIGN + bytes;
    block **from = &a->large;
    while (*from && vector_of(*from) != at) from = &(*from)->next;
    block *old = *from;
    if (old) pl_unpoison_memory(old + 1, old->size);
    block *b = old && old->pages ? grow_pages(old, total) : NULL;
    a->allocated += bytes;
    if (b) {
        *from = b;
        return unpoison_vector(b, bytes);
    }
    b = allocate_block(total, !used && total >= HUGE); /* its final size is known from the start */
    if (!b) return fail(a);
    b->size = (b->pages ? b->pages : total) - sizeof *b;
    if (used > 0) memcpy(vector_of(b), at, used);
    if (old) {
        *from = old->next;
        free_block(old);
    }
    b->next = a->large;
    a->large = b;
    return unpoison_vector(b, bytes);
}

bool pl_arena_transfer(pl_arena *to, pl_arena *from, const void *vector)
{
    block **at = &from->large;
    while (*at && vector_of(*at) != vector) at = &(*at)->next;
    block *b = *at;
    if (!b || to->failed || from->failed) return false;
    *at = b->next;
    b->next = to->large;
    to->large = b;
    return true;
}

void *pl_vec_grow_(pl_arena *a, void *at, size_t *cap, size_t *n, size_t elem)
{
    return pl_vec_reserve_(a, at, cap, n, elem, *cap ? *cap * 2 : 8);
}

void *pl_vec_reserve_(pl_arena *a, void *at, size_t *cap, size_t *n, size_t elem, size_t capacity)
{
    size_t bytes = capacity > SIZE_MAX / 2 / elem ? SIZE_MAX : capacity * elem;
    bool large = bytes >= LARGE_VECTOR && bytes < SIZE_MAX;
    void *bigger = bytes == SIZE_MAX ? fail(a)
                   : large           ? large_vector(a, at, *n * elem, bytes)
                                     : allocate(a, bytes, DEFAULT_ALIGN, *n * elem);
    if (!bigger) { /* unguarded: the vector remains empty */
        *n = *cap = 0;
        return NULL;
    }
    if (*n > 0 && !large) memcpy(bigger, at, *n * elem);
    if (*cap > 0 && !large) pl_poison_memory(at, *cap * elem);
    *cap = capacity;
    return bigger;
}
