/* dominance.h - immediate dominators of a graph: the iterative algorithm of Cooper, Harvey and
 * Kennedy
 * ("A Simple, Fast Dominance Algorithm", 2001). Of the reversed graph they are post-dominators. */
#ifndef PL_ISA_PROGRAM_DOMINANCE_H
#define PL_ISA_PROGRAM_DOMINANCE_H

#include <stdint.h>

typedef struct pl_dominance {
    uint32_t *idom;        /* by node; UINT32_MAX: not found. The root's is the root, set before */
    const uint32_t *order; /* by node: its position in postorder; the root has the largest */
    const uint32_t *postorder; /* the nodes without the root */
    uint32_t n;
    /* where edge k into a node comes from; UINT32_MAX: it has no more */
    uint32_t (*edge)(const void *graph, uint32_t node, uint32_t k);
    const void *graph;
} pl_dominance;

/* Fills idom of the nodes in postorder, which are UINT32_MAX before. */
void pl_dominance_solve(const pl_dominance *d);

#endif
