/* place_constant_loads.h - placement of constant loads: what its parts share. Private to
 * compiler/opt/. */
#ifndef PL_COMPILER_OPT_PLACE_CONSTANT_LOADS_H
#define PL_COMPILER_OPT_PLACE_CONSTANT_LOADS_H

#include "base/sort.h"
#include "compiler/analysis/constant_bank.h"
#include "compiler/analysis/liveness.h"
#include "compiler/codegen/register_allocation.h"
#include "compiler/passes.h"
#include "compiler/tuning.h"
#include "isa/program/operand_plan.h"
#include "isa/program/resource_usage.h"

typedef struct constant_load {
    pl_insn i;
    uint32_t block;         /* the block that it is placed in; PL_IR_NONE: it has no reader */
    uint32_t next;          /* in the same block, plus one */
    uint32_t wanted;        /* blocks that need it, in `homes` of the pass: the first, plus one */
    uint32_t homes, nhomes; /* where it goes, if that may be several places */
    uint32_t asked, nasked; /* who has it from where: range in `load_request` of the pass */
    uint8_t depth;          /* steps that it is made of after fetches; 0: it is one */
    uint8_t rows;
    bool bank, placed;
    bool crowded; /* it would be kept where registers are scarce: each block that needs it fetches
                     it */
} constant_load;

/* A block that is to begin with a fetch. */
typedef struct load_site {
    uint32_t fetch, block, row; /* row: what is read there; PL_IR_NONE: not chosen yet */
    uint32_t next; /* of the same fetch, plus one; when they are in order the one before it on every
                      path, plus one */
} load_site;

/* A block that needs a fetch: its place in a walk over the dominator tree, and the home from which
 * it has it. */
typedef struct load_request {
    uint32_t pre, home;
} load_request;

/* A loop, by its header. */
typedef struct loop_shape {
    uint32_t insns, loads; /* machine instructions and loads from global memory of an iteration;
                              both where it holds no other loop */
    uint32_t variables, fetches; /* that it needs; where there are so many loads that it matters */
    /* There are loops in it; loads make up so much of it that it keeps its fetches. */
    bool outer, busy;
    /* Lanes may do different things in it: it has several blocks, or guarded accesses. */
    bool parts;
} loop_shape;

typedef struct placement {
    pl_ir *x;
    uint32_t *of; /* by row: fetch that writes it, plus one */
    struct {
        constant_load *at;
        size_t n, cap;
    } loads;
    struct {
        load_site *at;
        size_t n, cap;
    } sites;
    struct {
        load_request *at;
        size_t n, cap;
    } requests;
    loop_shape *loop_shapes;   /* by block: of the headers of loops */
    uint32_t *available_since; /* by block: the latest block B such that loads placed above B are
                        not available here on every path */
    uint32_t *seen;            /* by row and by fetch: the last loop that touched it, plus one */
    uint32_t block;
    pl_liveness liveness;    /* as long as nothing has changed */
    bool has_high_pressure;  /* is there a place where registers are scarce? */
    bool must_spill;         /* and are there more values than a thread may have registers? */
    uint8_t *high_pressure;  /* by block: it is one */
    uint32_t *sinkable_from; /* by block: what is fetched before this block would be kept where
                       registers are scarce on some path to it */
} placement;

typedef struct operand_walk {
    placement *p;
    size_t at;
} operand_walk;

/* place_constant_loads.c */
/* Where a fetch that block b needs goes: in the preheader of an innermost loop. A loop that holds
 * others keeps its fetches, and so does one with so many loads. What stands before one may be in
 * another. */
uint32_t pl_place_in_front(const placement *p, uint32_t b);

/* place_in_bodies.c */
bool pl_place_fetch_in_bodies(placement *p);

#endif
