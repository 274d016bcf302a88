/* write_history.h - the recent writes to memory, for --consistency weak: which values of a location
 * may still be read, and by which warps.
 *
 * Memory itself always holds the newest value of every byte. In addition the history holds the last
 * writes ("versions") of a location in coherence order, and every warp has a view: the set of
 * versions that it must observe. A load may return any version from the newest one in the reader's
 * view on. To a program this is indistinguishable from a stale line in a non-coherent L1, a load
 * that executed early, or a store of another thread that is still in its store buffer. A store may
 * be placed before versions that the writer has not observed: this is a store that stayed in a
 * buffer while others overtook it. Fences, barriers, acquire and release only enlarge views. Read
 * next: weak_memory.c, which determines when.
 *
 * A location is a grain of 16 aligned bytes. Versions carry a byte mask, and bytes are ordered as
 * their versions are. Only the latest PL_WINDOW versions are recorded. When an older one leaves the
 * window it becomes visible to all threads, as a store eventually becomes visible and a stale line
 * is evicted. So a view is a bit set of fixed size, independent of the size of the launch. */
#ifndef PL_EMU_EXEC_CONSISTENCY_WRITE_HISTORY_H
#define PL_EMU_EXEC_CONSISTENCY_WRITE_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PL_WINDOW = 512,
    PL_VIEW_WORDS = PL_WINDOW / 64,
    PL_GRAIN = 16,          /* bytes */
    PL_GRAIN_VERSIONS = 12, /* per grain */
    PL_MAX_PINNED = 64,     /* maximum number of grains that an instruction uses at once */
    /* One for each version, and those that an instruction is about to use. */
    PL_GRAINS = PL_WINDOW + PL_MAX_PINNED,
    PL_MAX_RELEASES = 4, /* releases that a chain of atomic operations carries separately */
    PL_NO_VERSION = UINT16_MAX
};

/* The distance between two threads, and the scope of an operation. */
enum { PL_LEVEL_CTA, PL_LEVEL_CLUSTER, PL_LEVEL_GPU, PL_LEVELS };

/* The state of a version with respect to an observer: observed; passed on to the asynchronous proxy
 * by a proxy fence. For the tensor map proxy: offered by a releasing proxy fence; passed on by an
 * acquiring one. */
typedef enum pl_known { PL_SEEN, PL_FENCED, PL_OFFERED, PL_MAPPED, PL_KNOWN } pl_known;

/* A set of versions. */
typedef struct pl_memory_view {
    uint64_t upto; /* number of the next version at the time when the set was last updated */
    uint64_t has[PL_KNOWN][PL_VIEW_WORDS];
} pl_memory_view;

/* The views that a thread acquires from a write: per level, because a release only has effect
 * within its scope. */
typedef struct pl_release {
    uint32_t cta, cluster;
    pl_memory_view view[PL_LEVELS];
} pl_release;

typedef struct pl_version {
    uint64_t number; /* unique among all versions; 0: unused slot */
    uint64_t read;   /* atomic operations: number of the version that was read, 0: an older one */
    uint32_t cta, cluster, warp; /* the writer; warp: index in the grid */
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
    bool pinned;                         /* in use by an instruction */
    uint16_t version[PL_GRAIN_VERSIONS]; /* in coherence order, the newest last */
    uint8_t base[PL_GRAIN];              /* contents below the versions, visible to all threads */
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
/* Marks all observed versions as fenced, or as offered. */
void pl_view_fence(const pl_history *h, pl_memory_view *v, pl_known what);
/* Marks the offered versions of the bytes at `at` as mapped. */
void pl_view_map(const pl_history *h, pl_memory_view *v, const uint8_t *at, size_t bytes);
/* Returns the fenced, or mapped, versions as the observed versions of a view. */
pl_memory_view pl_view_of(const pl_history *h, pl_memory_view *v, pl_known what);

/* ---- grains and versions ---- */
/* The grain at an aligned host address, or NULL if it has no history. */
pl_location *pl_grain_find(pl_history *h, const uint8_t *at);
/* The same, pinned for the calling instruction; a new one starts with the contents of memory. An
 * instruction pins PL_MAX_PINNED grains at most and creates one version of each; the slots of the
 * other versions do not change meanwhile. */
pl_location *pl_grain_pin(pl_history *h, uint8_t *at);
void pl_grain_unpin(pl_history *h, pl_location *g);
/* Position one past the newest version in the view that writes any of these bytes: 0..n. */
unsigned pl_grain_floor(const pl_history *h, const pl_location *g, pl_memory_view *v,
                        uint16_t mask);
/* The bytes below position `end` (the versions 0 .. end - 1). */
void pl_grain_bytes(const pl_history *h, const pl_location *g, unsigned end, uint8_t out[PL_GRAIN]);
/* Inserts a version at a position of a pinned grain; the caller fills in the writer and the data.
 * The oldest version of the history may be removed. */
pl_version *pl_grain_insert(pl_history *h, pl_location *g, unsigned position);
/* Bytes were written without the history: they are visible to all threads. from == NULL:
 * anywhere. */
void pl_history_discard(pl_history *h, const uint8_t *from, size_t bytes);

#endif
