/* write_history.h - the recent past of memory, for --consistency weak: which values of a location
 * may still be read, and by whom.
 *
 * Memory itself always holds the newest value of every byte. Beside it the history keeps the last
 * writes ("versions") of a location in their coherence order, and every warp has a view: the set of
 * versions that it can no longer overlook. A load may return any version from the newest one in the
 * reader's view on. To a program that looks like a stale line in a non-coherent L1, a load that ran
 * ahead, or another's store that has not left its buffer. A store may take its place before
 * versions that the writer has not seen: that is a store which stayed in a buffer while others
 * overtook it. Fences, barriers, acquire and release only make views larger. Read next:
 * weak_memory.c, which says when.
 *
 * A location is a grain of 16 aligned bytes, versions carry a byte mask, and bytes are ordered as
 * their versions are. Only the latest PL_WINDOW versions are kept apart: when an older one leaves,
 * everybody sees it, as a store becomes visible in the end and a stale line is evicted. So a view
 * is a bit set of fixed size, however large the launch is. */
#ifndef PL_EMU_EXEC_CONSISTENCY_WRITE_HISTORY_H
#define PL_EMU_EXEC_CONSISTENCY_WRITE_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PL_WINDOW = 512,
    PL_VIEW_WORDS = PL_WINDOW / 64,
    PL_GRAIN = 16,          /* bytes */
    PL_GRAIN_VERSIONS = 12, /* of one grain */
    PL_HELD = 64,           /* grains that an instruction uses at once, at most */
    PL_GRAINS = PL_WINDOW +
                PL_HELD, /* one for each version, and those that an instruction is about to use */
    PL_MAX_RELEASES = 4, /* releases that a chain of atomic operations carries separately */
    PL_NO_VERSION = UINT16_MAX
};

/* The distance of two threads, and the reach of an operation. */
enum { PL_LEVEL_CTA, PL_LEVEL_CLUSTER, PL_LEVEL_GPU, PL_LEVELS };

/* What is known of a version: it has been seen; a proxy fence has passed it on to the asynchronous
 * proxy. Of the tensor map proxy: a releasing proxy fence has offered it, and an acquiring one has
 * passed it on. */
typedef enum pl_known { PL_SEEN, PL_FENCED, PL_OFFERED, PL_MAPPED, PL_KNOWN } pl_known;

/* A set of versions. */
typedef struct pl_memory_view {
    uint64_t upto; /* number of the version that was to come next when the set was last brought up
                      to date */
    uint64_t has[PL_KNOWN][PL_VIEW_WORDS];
} pl_memory_view;

/* What a thread that acquires learns from a write: by level, because a release reaches only as far
 * as its scope. */
typedef struct pl_release {
    uint32_t cta, cluster;
    pl_memory_view view[PL_LEVELS];
} pl_release;

typedef struct pl_version {
    uint64_t number; /* of all versions ever; 0: none here */
    uint64_t read;   /* atomic operations: number of the version that was read, 0: an older one */
    uint32_t cta, cluster, warp; /* the writer; warp: in the grid */
    uint16_t grain;
    uint16_t mask; /* bytes written */
    uint8_t bytes[PL_GRAIN];
    uint8_t level; /* scope */
    bool strong, atomic;
    uint8_t nreleases;
    pl_release release[PL_MAX_RELEASES];
} pl_version;

typedef struct pl_location {
    uint8_t *at;   /* host address, NULL: unused */
    uint16_t next; /* of the same bucket */
    uint8_t n;
    bool held;                           /* an instruction is using it */
    uint16_t version[PL_GRAIN_VERSIONS]; /* in coherence order, the newest last */
    uint8_t base[PL_GRAIN];              /* what everybody sees under the versions */
} pl_location;

typedef struct pl_history {
    uint64_t next;                 /* number of the next version, from 1 */
    pl_version version[PL_WINDOW]; /* number n is at n % PL_WINDOW */
    pl_location grain[PL_GRAINS];
    uint16_t bucket[PL_WINDOW], unused; /* chains through next; PL_NO_VERSION ends them */
} pl_history;

void pl_history_init(pl_history *h);

/* ---- views ---- */
bool pl_view_has(const pl_history *h, pl_memory_view *v, uint64_t number);
void pl_view_add(const pl_history *h, pl_memory_view *v, uint64_t number);
void pl_view_join(const pl_history *h, pl_memory_view *to, pl_memory_view *from);
/* All that has been seen is fenced, or offered. */
void pl_view_fence(const pl_history *h, pl_memory_view *v, pl_known what);
/* What has been offered, of the bytes at `at`, is mapped. */
void pl_view_map(const pl_history *h, pl_memory_view *v, const uint8_t *at, size_t bytes);
/* The set of what is fenced, or mapped, as if that alone had been seen. */
pl_memory_view pl_view_of(const pl_history *h, pl_memory_view *v, pl_known what);

/* ---- grains and versions ---- */
/* The grain at an aligned host address, or NULL: nothing is remembered about it. */
pl_location *pl_grain_find(pl_history *h, const uint8_t *at);
/* The same, held for the instruction that asks; a new one starts with what memory holds. An
 * instruction holds PL_HELD at most, and makes one version of each: the places of the others stay
 * what they are meanwhile. */
pl_location *pl_grain_hold(pl_history *h, uint8_t *at);
void pl_grain_release(pl_history *h, pl_location *g);
/* Position after the newest version that the view holds of any of these bytes: 0..n. */
unsigned pl_grain_floor(const pl_history *h, const pl_location *g, pl_memory_view *v,
                        uint16_t mask);
/* The bytes below place `end` (the versions 0 .. end - 1). */
void pl_grain_bytes(const pl_history *h, const pl_location *g, unsigned end, uint8_t out[PL_GRAIN]);
/* A new version at a place of a held grain; the caller fills in who wrote it and what. The oldest
 * version of all may leave. */
pl_version *pl_grain_insert(pl_history *h, pl_location *g, unsigned place);
/* Bytes were written without the history: they are visible to all. from == NULL: anywhere. */
void pl_history_forget(pl_history *h, const uint8_t *from, size_t bytes);

#endif
