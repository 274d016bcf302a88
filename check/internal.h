/* internal.h - declarations shared by the files of check/: the checker, and its state of blocks and
 * groups of lanes. */
#ifndef PL_CHECK_INTERNAL_H
#define PL_CHECK_INTERNAL_H

#include <stdlib.h>

#include "check/check.h"
#include "check/init.h"
#include "check/vector_clock.h"
#include "check/sync_places.h"
#include "check/shadow.h"
#include "emu/exec/async/async.h"

/* Scopes, also used as the distance of two threads. State for PL_SCOPE_NONE assumes that every
 * scope includes all threads; it identifies cases in which only the scope is too narrow. */
enum { PL_SCOPE_CTA, PL_SCOPE_CLUSTER, PL_SCOPE_GPU, PL_SCOPE_NONE, PL_SCOPES };

/* Checker data of an instruction. */
typedef struct check_insn {
    pl_exec_fn *plain;
    pl_exec_fn *wrapper; /* NULL: the plain function executes it */
    uint8_t flags;       /* PL_ACCESS_* */
    uint8_t level;       /* PL_SCOPE_* */
    uint8_t operand;     /* operand with the address */
    bool acquire, release;
    bool in_loop; /* is part of a loop */
} check_insn;

/* Effect of fences on the vector clocks of lanes, by scope. Lanes with the same state share one; it
 * is modified by its only user. */
typedef struct fence_state {
    uint32_t refs;
    pl_vector_clock *released[PL_SCOPES]; /* released by its later strong writes, */
    uint32_t at[PL_SCOPES];               /* with all its own accesses up to this time; 0: none */
    pl_vector_clock *acquired[PL_SCOPES]; /* observed by its earlier strong reads */
} fence_state;

typedef struct check_products check_products;
typedef struct check_products_of_program check_products_of_program;

enum { RECENT = 32, GROUPS = 64 };

/* A group of PL_LANES lanes of a block. */
typedef struct check_unit {
    pl_vector_clock *common; /* of all its lanes, if `diverged` is false */
    pl_vector_clock **lane;  /* of each, if it is true; allocated when they first differ */
    bool diverged;
    uint32_t stamp;           /* of its current accesses */
    uint32_t floor;           /* time up to which the clock of every lane includes its own block */
    fence_state *fence;       /* of all its lanes, if `lane_fence` is NULL; or NULL */
    fence_state **lane_fence; /* of each, or NULL */
    pl_traced *traced;        /* init: its registers, or NULL */
    check_products *products; /* registers that wgmma writes, or NULL */
    uint32_t exited;          /* lanes whose exit has been noted, */
    uint32_t unordered; /* and those of them that accessed memory after the last block barrier */
    uint64_t cluster_phase;
    uint32_t cluster_wait;   /* lanes that acquire its phase at the cluster barrier */
    uint32_t cluster_synced; /* lanes that have waited there: all blocks have started */
    struct recent_contexts {
        uint32_t generation, context[RECENT];
    } * recent[2]; /* in global and in shared memory, or NULL */
    struct {
        uint32_t *at; /* time at which each of the latest GROUPS groups of copies was closed */
        uint32_t n;
        uint32_t stamp; /* of copies of the open group */
    } group[3];         /* of cp.async, of bulk operations, of wgmma */
} check_unit;

/* A barrier with arrivals. */
typedef struct check_barrier {
    pl_vector_clock *all;
    fence_state fence; /* combined fence state of the arrivals */
    uint32_t line;     /* of the first arrival: index in the program's line table, plus 1 */
    struct arrivals {
        uint32_t arrived, waiting; /* lanes */
    } * per_unit;                  /* by group; NULL: no arrival yet */
} check_barrier;

typedef struct check_block {
    uint32_t number, units;
    pl_shadow shadow; /* of its shared memory */
    pl_contexts contexts;
    pl_validity validity; /* init: state of its shared memory, from shared_start on */
    sync_places places;   /* in shared memory */
    uint32_t objects;     /* number of mbarriers used, in [objects_from, objects_to) */
    uint64_t objects_from, objects_to;
    bool accessed_remotely; /* other blocks of the cluster have accessed its shared memory */
    check_barrier *barrier[PL_NAMED_BARRIERS]; /* those that are used, or NULL */
    struct check_cluster *cluster;
    check_unit unit[];
} check_block;

/* Clocks merged by a cluster barrier, for even and odd phases. */
typedef struct check_cluster {
    uint32_t refs, first; /* number of its first block */
    pl_vector_clock *phase[2];
    uint64_t of[2];
    struct check_cluster *next;
} check_cluster;

/* A launch by device code. */
typedef struct device_launch {
    pl_vector_clock *clock; /* of the launching thread */
    uint64_t stream;        /* 0: that of the launching block */
    uint64_t parent;        /* first block of the grid that launched it, */
    uint32_t block;         /* and the launching block */
    bool has_run;
    uint64_t first; /* its own first block, once it has run */
} device_launch;

struct pl_check {
    pl_hooks hooks; /* first member: a pointer to it is a pointer to the checker */
    unsigned tools;
    bool no_memory;
    pl_program *program; /* of the launch */
    pl_grid *head;
    uint64_t seed;
    bool can_skip;     /* a wrapper is able to skip lanes whose access is invalid */
    uint32_t bad_lane; /* index in the half of the invalid lane */
    check_insn *insn;  /* by pc */
    uint32_t time;
    uint64_t base;    /* start address of global memory */
    pl_shadow shadow; /* of global memory */
    pl_contexts contexts;
    sync_places places;
    check_cluster *clusters;
    pl_init_tables init;
    struct {
        const pl_watched *at;
        size_t n;
        pl_exec_fn **inner; /* by pc: of other tools, or the plain one; NULL: not watched */
    } watch;
    struct accessed_ranges {
        pl_accessed_range *at;
        size_t n, cap;
        bool requested;
    } accessed, early;        /* early: before griddepcontrol.wait */
    bool launched_dependents; /* a thread has executed griddepcontrol.launch_dependents, */
    bool launched_early;      /* one of them before griddepcontrol.wait */
    struct device_launches {
        device_launch *at; /* by ticket - 1: of a launch by the host, and of all below it */
        size_t n, cap;
        pl_vector_clock *clock; /* with which the threads of the current grid begin; not owned */
        struct {
            struct block_range {
                uint64_t from, to;
            } * at;
            size_t n, cap;
        } completed; /* blocks that have ended before the current grid begins */
        struct {
            pl_grid **at;
            size_t n, cap;
        } grids;      /* copies of the grids that have run, by their first blocks */
        bool retains; /* the state of global memory is retained for the grids below */
    } launches;
    pl_undefined own_undefined, *undefined;  /* own, or that of a program */
    uint32_t user;                           /* its user number there */
    check_products_of_program *accumulators; /* or NULL */
    struct {
        pl_check_finding *at;
        size_t n, cap;
    } findings;
};

/* Returns the block's barrier with that number, allocated on demand. NULL: no memory. */
static inline check_barrier *barrier_of(pl_check *k, check_block *b, uint32_t id)
{
    if (!b->barrier[id]) b->barrier[id] = calloc(1, sizeof *b->barrier[id]);
    k->no_memory |= !b->barrier[id];
    return b->barrier[id];
}
static inline pl_check *check_of(const pl_warp *w)
{
    return (pl_check *)(uintptr_t)w->grid->hooks;
}
static inline check_block *block_of(const pl_cta *c)
{
    return c->check;
}
/* Size of the global memory range, from its start, that checkers track: memory that the host mapped
 * elsewhere is ignored. */
#define PL_CHECK_SPAN (1ull << 40)
static inline bool is_tracked(const pl_check *k, uint64_t address)
{
    return address - k->base < PL_CHECK_SPAN;
}
static inline unsigned unit_index(const pl_warp *w)
{
    return w->index * w->halves + w->half;
}
static inline check_unit *unit_of(const pl_warp *w)
{
    return &block_of(w->cta)->unit[unit_index(w)];
}
static inline const check_insn *check_insn_of(const pl_check *k, const pl_warp *w, const pl_insn *i)
{
    return &k->insn[i - w->code];
}
/* NULL: it has executed no fence. */
static inline const fence_state *fence_of(const check_unit *u, unsigned lane)
{
    return u->lane_fence ? u->lane_fence[lane] : u->fence;
}
static inline pl_vector_clock *clock_of(const check_unit *u, unsigned lane)
{
    return u->diverged ? u->lane[lane] : u->common;
}

/* Location of a lane's bytes. */
typedef struct place {
    uint8_t *bytes;     /* NULL: not accessible to other threads, or no memory */
    check_block *owner; /* of shared memory; NULL: global memory */
    uint64_t address;   /* in the shared memory of its owner, or in global memory */
    bool reserved; /* reserved for the system in shared memory: accesses to it only synchronise */
} place;
/* Looks up an address of one lane. False: it is out of bounds or misaligned. */
bool pl_place_of(pl_warp *w, unsigned lane, pl_space space, uint64_t address, unsigned bytes,
                 place *p);

/* The same for a host pointer. False: it is neither shared nor global memory, or it is constant. */
bool pl_place_at(pl_warp *w, uint8_t *bytes, place *p);

/* Returns the number of bytes that a lane's cp.async reads: the remainder is filled with zeros. */
unsigned pl_copy_reads(const pl_warp *w, const pl_insn *i, unsigned lane);

/* ---- synchronisation.c ---- */
/* Merges the clocks of barriers that the group has waited at, before it executes anything else.
 */
void pl_order_apply_barriers(pl_warp *w, check_unit *u);
/* Returns the merged clocks of the block's threads when they ended. */
pl_vector_clock *pl_order_final_clock(const pl_cta *c);
/* Returns the distance of a thread of the warp to block number `block` (PL_SCOPE_*). */
unsigned pl_order_distance(const pl_warp *w, uint32_t block);
/* True if the clock of a lane includes the grids before its own (griddepcontrol.wait). */
bool pl_order_knows_earlier_grids(const pl_warp *w, unsigned lane);
/* Acquire and release: before the read of a strong access of one lane, and after its write. */
void pl_order_reads(pl_warp *w, const check_insn *x, unsigned lane, const place *p);
void pl_order_writes(pl_warp *w, const check_insn *x, unsigned lane, const place *p);
/* True if a write to this location has released a clock. */
bool pl_order_has_release(pl_check *k, const place *p);
/* Returns the wrapper of a synchronising instruction, or NULL. Fills in the remainder of *x. */
pl_exec_fn *pl_order_wrapper(const pl_check *k, const pl_insn *i, check_insn *x);
void pl_order_block_starts(pl_check *k, pl_cta *c, check_block *b);
void pl_order_block_ends(pl_check *k, check_block *b);
void pl_order_hooks(pl_hooks *h);
void pl_order_end(pl_check *k);
/* A bulk operation starts: returns its agent (for bulk groups, that of the reads), the lane, and
 * the stamp of its accesses. 0: none is known. */
unsigned pl_order_agent(pl_warp *w, const pl_async_op *o, unsigned *lane, uint32_t *stamp);
uint8_t pl_order_level(pl_word scope);

/* ---- device_launch.c ---- */
/* A lane launches a grid, with this clock (taken). Returns its ticket; 0: no memory. */
uint32_t pl_device_launch_add(pl_check *k, const pl_warp *w, uint64_t stream,
                              pl_vector_clock *clock);
/* A grid begins, of a device-side launch or of the host. */
void pl_device_launch_begins(pl_check *k, const pl_grid *g);
/* True if a block of an earlier grid has ended before the current grid began. */
bool pl_device_launch_completed(const pl_check *k, uint32_t block);
/* Retains a copy of a grid that has run; returns the one with a block. */
void pl_device_launch_keep(pl_check *k, const pl_grid *g);
const pl_grid *pl_device_launch_grid(const pl_check *k, uint32_t block);
void pl_device_launches_end(pl_check *k);

/* ---- race.c ---- */
pl_exec_fn *pl_race_wrapper(const pl_check *k, const pl_insn *i, check_insn *x);

/* ---- race_async.c ---- */
void pl_race_copy(pl_warp *w, const pl_async_op *o);

/* ---- race_cluster.c ---- */
void pl_race_block_ends(pl_check *k, pl_cta *c);

/* ---- texels.c ---- */
void pl_check_texel(const pl_hooks *h, pl_warp *w, unsigned lane, uint64_t address, unsigned bytes);

/* ---- wgmma_operands.c ---- */
void pl_check_product(const pl_hooks *h, pl_warp *w, const struct pl_wgmma_op *op,
                      const struct pl_matrix_source *a, const struct pl_matrix_source *b, int k);

/* ---- mem.c ---- */
/* Executes a memory instruction through its plain function and skips lanes with invalid accesses.
 * Returns the lanes that have executed. */
uint32_t pl_mem_execute(pl_warp *w, const pl_insn *i, const check_insn *x);
pl_exec_fn *pl_mem_wrapper(const pl_insn *i, check_insn *x);
void pl_mem_load_constant(pl_warp *w, const pl_insn *i); /* ld.const, exact to the byte */
bool pl_mem_fault(const pl_hooks *h, pl_warp *w, const pl_fault_info *f);

/* ---- watch.c ---- */
bool pl_watch_begin(pl_check *k);
void pl_watch_end(pl_check *k);
void pl_watch_copy(pl_warp *w, const pl_async_op *o);

/* ---- accessed_ranges.c ---- */
/* Records an access to global memory before griddepcontrol.wait. */
void pl_accessed_early(pl_check *k, const pl_context *x, uint64_t address, unsigned bytes);
/* Records the accesses at the end of a launch, if requested. */
void pl_accessed_collect(pl_check *k);

/* ---- wgmma_registers.c ---- */
bool pl_accumulators_begin(pl_check *k);
void pl_accumulators_end(pl_check *k);
void pl_products_free(check_products *p); /* NULL is allowed */

/* ---- sync.c ---- */
void pl_sync_arrives(pl_check *k, pl_warp *w, const pl_arrival *a);
void pl_sync_mbarrier(pl_warp *w, const pl_insn *i, unsigned lane, uint32_t lanes, const place *at,
                      sync_object *o);
/* A lane writes to shared memory: reports mbarriers there. */
void pl_sync_overwrites(pl_check *k, pl_warp *w, unsigned lane, const place *p, unsigned bytes);
/* Returns the lane that lane l reads in a shuffle; l itself if the source is outside its segment.
 */
unsigned pl_shuffle_source(const pl_insn *i, unsigned l, uint32_t b, uint32_t c);
void pl_sync_divergent_barrier(const pl_hooks *h, pl_warp *w, uint32_t reconverge_pc,
                               uint32_t barrier, pl_lanes waiting);
bool pl_sync_mask_mismatch(const pl_hooks *h, pl_warp *w, uint32_t lanes, uint32_t mask);
pl_exec_fn *pl_sync_wrapper(const pl_insn *i);

/* ---- findings.c ---- */
/* Adds a finding about one lane of the half at the warp's current instruction. */
pl_check_finding *pl_finding_at(pl_check *k, pl_warp *w, pl_finding_kind kind, unsigned lane,
                                const char *text);
/* The same about that instruction and another; the caller fills in the text of a new one (*fresh).
 */
pl_check_finding *pl_finding_between(pl_check *k, pl_warp *w, pl_finding_kind kind, unsigned lane,
                                     uint32_t other, bool *fresh);
/* Returns the finding of that kind with these two instructions; the caller fills in a new one
 * (*fresh). NULL: no memory. */
pl_check_finding *pl_finding_of(pl_check *k, pl_finding_kind kind, uint32_t pc, uint32_t other,
                                bool *fresh);
/* Fills in block, thread and kernel of a lane of a group. */
void pl_finding_access_fill(const pl_check *k, pl_finding_access *p, uint32_t block, unsigned unit,
                            unsigned lane);
/* Describes the variable or allocation that contains the address. */
void pl_finding_where(const pl_warp *w, pl_check_finding *f);

#endif
