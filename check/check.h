/* check.h - checkers: what a launch does wrong, found while it runs.
 *
 * Like weak consistency (emu/exec/consistency), a checker binds instructions to functions of its
 * own for the time of a launch, and so costs nothing where there is none. A wrapper looks at what
 * its instruction is about to do, lets the plain function do it, and keeps the books. The other
 * things that matter come through emu/exec/hooks.h.
 *
 *   race.c      happens-before races: accesses that nothing orders
 *   mem.c       accesses out of bounds: the launch goes on without them
 *   init.c      values that depend on memory that nobody has written
 *   accumulators.c  registers that wgmma uses and nobody has waited for
 *   touched.c   what a launch has done to global memory, for the host
 *   watch.c     accesses to memory that the host has its eye on
 *   sync.c      barriers, masks, shuffles and mbarriers that are used wrongly
 *   order.c     what orders: barriers, fences, atomic operations, mbarriers, waits
 *   findings.c  the list of what was found: each pair of instructions once */
#ifndef PL_CHECK_CHECK_H
#define PL_CHECK_CHECK_H

#include "base/finding.h"
#include "emu/exec/hooks.h"

/* One of the two accesses of a finding. */
typedef struct pl_party {
    uint32_t pc; /* UINT32_MAX: there is none */
    uint32_t block[3], thread[3];
    const char *kernel;
    const char *verb; /* "reads", "writes", "adds atomically to" */
    uint64_t value;   /* of up to 8 bytes, when `valued` */
    bool valued;
    bool several; /* other lanes of its warp as well: the thread is one of them */
} pl_party;

typedef struct pl_check_finding {
    pl_finding_kind kind;
    pl_space space;
    uint64_t address;
    uint32_t bytes;
    char where[120]; /* "'tile' + 12" */
    pl_party by, other;
    char text[400]; /* of findings with one access: what is wrong; "": see the two parties */
    bool ended;     /* the launch has ended with it, and says so itself */
    uint64_t count; /* how often */
    uint64_t seed;  /* of the schedule that showed it first; 0: none was asked for */
    bool same_warp, same_block;
    bool texels; /* race-proxy: by the path of textures or surfaces */
} pl_check_finding;

typedef struct pl_check pl_check;

struct pl_undefined;

/* tools: PL_CHECK_*; undefined: what the checkers of a program share, or NULL. NULL: out of memory.
 * Findings of several launches of a program add up. */
pl_check *pl_check_open(unsigned tools, struct pl_undefined *undefined);
void pl_check_close(pl_check *k); /* NULL is allowed */

/* A range of global memory: does a launch access it, and if so, why is that wrong? */
typedef struct pl_watched {
    uint64_t address, bytes;
    const char *wrong; /* NULL: it is not */
    bool *accessed;
} pl_watched;
/* For the next launch: ranges by address. */
void pl_check_watch(pl_check *k, const pl_watched *at, size_t n);

/* What a launch has done to a run of bytes of global memory. */
typedef struct pl_touched {
    uint64_t address, bytes;
    uint32_t pc;  /* of one of the instructions, that of a write if there is one */
    unsigned how; /* PL_TOUCHED_* */
} pl_touched;
enum {
    PL_TOUCHED_READ = 1,
    PL_TOUCHED_WRITTEN = 2,
    PL_TOUCHED_STRONG = 4 /* by atomic, volatile or relaxed operations */
};
/* With PL_CHECK_RACE, for the next launch: take down what it touches. */
void pl_check_keep(pl_check *k);
/* What that was, by address; the caller frees it. */
pl_touched *pl_check_touched(pl_check *k, size_t *n);

/* For one launch of a row of grids, whose `hooks` it sets, and the instructions of its program.
 * False: out of memory. */
bool pl_check_begin(pl_check *k, pl_program *p, pl_grid *head, uint64_t seed);
/* The launch has ended. False: memory ran out meanwhile, findings may be missing. */
bool pl_check_end(pl_check *k);

size_t pl_check_count(const pl_check *k);
const pl_check_finding *pl_check_at(const pl_check *k, size_t n);

#endif
