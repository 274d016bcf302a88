/* check.h - checkers: detect errors of a launch while it runs.
 *
 * Like weak consistency (emu/exec/consistency), a checker binds instructions to its own functions
 * for the duration of a launch, so it costs nothing when it is off. A wrapper inspects the effects
 * of its instruction, calls the plain function to execute it, and updates the checker's state. All
 * other events arrive through emu/exec/hooks.h.
 *
 *   race.c             happens-before races: conflicting accesses that are not ordered
 *   mem.c              accesses out of bounds: the launch continues without them
 *   init.c             values that depend on uninitialised memory
 *   sync.c             misuse of barriers, masks, shuffles and mbarriers
 *   wgmma_registers.c  registers that wgmma accesses before it has been waited for
 *   synchronisation.c  vector clocks: barriers, fences, atomic operations, mbarriers, waits
 *   accessed_ranges.c  accesses of a launch to global memory, for the host
 *   watch.c            accesses to memory ranges that the host watches
 *   findings.c         the list of findings: each pair of instructions once */
#ifndef PL_CHECK_CHECK_H
#define PL_CHECK_CHECK_H

#include "base/finding.h"
#include "emu/exec/hooks.h"

/* One of the two accesses of a finding. */
typedef struct pl_finding_access {
    uint32_t pc; /* UINT32_MAX: none */
    uint32_t block[3], thread[3];
    const char *kernel;
    const char *verb; /* "reads", "writes", "adds atomically to" */
    uint64_t value;   /* up to 8 bytes, if `has_value` */
    bool has_value;
    bool multi_lane; /* other lanes of its warp as well: the thread is one of several */
} pl_finding_access;

typedef struct pl_check_finding {
    pl_finding_kind kind;
    pl_space space;
    uint64_t address;
    uint32_t bytes;
    char where[120]; /* "'tile' + 12" */
    pl_finding_access by, other;
    char text[400]; /* findings with one access: the error; "": see the two parties */
    bool ended;     /* the launch ended at this finding, and reports it itself */
    uint64_t count; /* occurrences */
    uint64_t seed;  /* seed of the schedule that showed it first; 0: the default schedule */
    bool same_warp, same_block;
    bool other_grid; /* the other access is one of another grid */
    bool texels;     /* race-proxy: through textures or surfaces */
} pl_check_finding;

typedef struct pl_check pl_check;

struct pl_undefined;

/* tools: PL_CHECK_*; undefined: state shared by the checkers of a program, or NULL. Returns NULL if
 * memory is exhausted. Findings of several launches of a program accumulate. */
pl_check *pl_check_open(unsigned tools, struct pl_undefined *undefined);
void pl_check_close(pl_check *k); /* NULL is allowed */

/* A range of global memory: whether a launch accesses it, and why that is an error. */
typedef struct pl_watched {
    uint64_t address, bytes;
    const char *wrong; /* NULL: it is allowed */
    bool *accessed;
} pl_watched;
/* Sets the ranges for the next launch, sorted by address. */
void pl_check_watch(pl_check *k, const pl_watched *at, size_t n);

/* Accesses of a launch to a range of global memory. */
typedef struct pl_accessed_range {
    uint64_t address, bytes;
    uint32_t pc;    /* one of the accessing instructions, that of a write if there is one */
    unsigned kinds; /* PL_ACCESSED_* */
} pl_accessed_range;
enum {
    PL_ACCESSED_READ = 1,
    PL_ACCESSED_WRITTEN = 2,
    PL_ACCESSED_STRONG = 4 /* by atomic, volatile or relaxed operations */
};
/* With PL_CHECK_RACE: records the accesses of the next launch; dependent: also those of threads
 * before griddepcontrol.wait. */
void pl_check_record_accesses(pl_check *k, bool dependent);
/* Returns the recorded accesses, sorted by address, or those before griddepcontrol.wait; the caller
 * frees them. */
pl_accessed_range *pl_check_accessed_ranges(pl_check *k, bool early, size_t *n);
/* How the launch has executed griddepcontrol.launch_dependents. */
typedef enum pl_check_dependents {
    PL_DEPENDENTS_WAIT, /* not at all: dependent grids begin after its end */
    PL_DEPENDENTS_OVERLAP,
    PL_DEPENDENTS_OVERLAP_EARLIER /* before griddepcontrol.wait: they may also overlap earlier grids
                                   */
} pl_check_dependents;
pl_check_dependents pl_check_launched_dependents(const pl_check *k);

/* Begins the check of one launch of a chain of grids; sets its `hooks` and binds the instructions
 * of its program. False: out of memory. */
bool pl_check_begin(pl_check *k, pl_program *p, pl_grid *head, uint64_t seed);
/* Ends the check of a launch. has_launched: the next one may be one that it has launched (ticket of
 * its grid). False: memory was exhausted, and findings may be missing. */
bool pl_check_end(pl_check *k, bool has_launched);
/* All launches by device code of the latest launch have ended. */
void pl_check_launches_end(pl_check *k);

size_t pl_check_count(const pl_check *k);
const pl_check_finding *pl_check_at(const pl_check *k, size_t n);

#endif
