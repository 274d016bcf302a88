/* cfg.h - control flow of a machine program: basic blocks. */
#ifndef PL_ISA_PROGRAM_CFG_H
#define PL_ISA_PROGRAM_CFG_H

#include "base/status.h"
#include "isa/program/program.h"

typedef struct pl_cfg_block {
    uint32_t first, end; /* code range */
    uint32_t succ[2], nsucc;
    const uint32_t *table; /* brx.idx: further successors as code indices */
    uint32_t ntable;
    uint32_t ipdom; /* immediate post-dominator as a block index; UINT32_MAX: none */
} pl_cfg_block;

typedef struct pl_cfg {
    const pl_program *p;
    const pl_prog_func *f;
    pl_cfg_block *b;
    uint32_t n;   /* blocks; the virtual exit is number n */
    uint32_t *of; /* block of each instruction, relative to f->first */
    /* Predecessors of block k: pred[pred_start[k] .. pred_start[k + 1]). */
    uint32_t *pred, *pred_start;
} pl_cfg;

/* Builds the blocks and edges of a function in the arena. */
pl_status pl_cfg_make(const pl_program *p, const pl_prog_func *f, pl_arena *a, pl_cfg *g);
uint32_t pl_cfg_successor_count(const pl_cfg_block *b);
uint32_t pl_cfg_successor(const pl_cfg *g, const pl_cfg_block *b, uint32_t k);

#endif
