/* place_constant_loads.h - placement of constant loads: declarations shared by its parts. Private
 * to compiler/opt/. */
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
    uint32_t block;      /* the block that it is placed in; PL_IR_NONE: it has no use */
    uint32_t next;       /* next in the same block, plus one */
    uint32_t first_site; /* blocks that need it, in `sites` of the pass: the first, plus one */
    uint32_t first_placed, nplaced;    /* sites where it is placed, if there may be several */
    uint32_t first_request, nrequests; /* its range in `requests` of the pass */
    uint8_t depth; /* steps of its computation after the loads; 0: it is a load */
    uint8_t rows;
    bool bank, placed;
    bool at_high_pressure; /* it would be live at high register pressure: each block loads it */
} constant_load;

/* A block to start with a constant load. */
typedef struct load_site {
    uint32_t load, block, row; /* row: the register loaded there; PL_IR_NONE: not chosen yet */
    uint32_t next; /* next site of the same load, plus one; once sorted, the nearest dominating
                      site, plus one */
} load_site;

/* A block that needs a constant load: its dominator-tree preorder number, and the site that
 * provides it. */
typedef struct load_request {
    uint32_t pre, site;
} load_request;

/* Properties of a loop, by header. */
typedef struct loop_shape {
    uint32_t insns, loads; /* machine instructions and global loads of an iteration; both for
                              innermost loops only */
    uint32_t variables, constant_loads; /* variables and constant loads that it needs; counted only
                                    if the share of loads is high */
    /* It has nested loops; its share of loads is so high that its constant loads stay in it. */
    bool has_nested, load_heavy;
    /* Lanes may diverge in it: it has several blocks, or predicated accesses. */
    bool may_diverge;
} loop_shape;

typedef struct placement {
    pl_ir *x;
    uint32_t *of; /* by row: the constant load that writes it, plus one */
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
    loop_shape *loop_shapes;   /* by block: for loop headers */
    uint32_t *available_since; /* by block: the latest block B such that loads placed above B are
                        not available here on every path */
    uint32_t *seen;            /* by row and by load: the last loop that accessed it, plus one */
    uint32_t block;
    pl_liveness liveness;    /* valid until code changes */
    bool has_high_pressure;  /* register pressure is high somewhere */
    bool must_spill;         /* and exceeds the registers that a thread may have */
    uint8_t *high_pressure;  /* by block: register pressure is high in it */
    uint32_t *sinkable_from; /* by block: a load placed before that block would be live at high
                                register pressure on some path to this one */
} placement;

typedef struct operand_walk {
    placement *p;
    size_t at;
} operand_walk;

/* place_constant_loads.c */
/* The block where a constant load for block b is placed: the preheader if its loop is innermost.
 * Loops with nested loops keep their constant loads, and so do loops with a high share of loads. A
 * preheader may be in another loop. */
uint32_t pl_place_load_block(const placement *p, uint32_t b);

/* place_in_bodies.c */
bool pl_place_loads_in_bodies(placement *p);

#endif
