/* dominance.h - immediate dominators of a graph: the iterative algorithm of Cooper, Harvey and
 * Kennedy ("A Simple, Fast Dominance Algorithm", 2001). On the reversed graph they are
 * post-dominators. */
#ifndef PL_ISA_PROGRAM_DOMINANCE_H
#define PL_ISA_PROGRAM_DOMINANCE_H

#include <stdint.h>

typedef struct pl_dominance {
    uint32_t *idom;        /* by node; UINT32_MAX: not computed. The root's is the root itself, set
                              by the caller */
    const uint32_t *order; /* by node: postorder number; the root has the largest */
    const uint32_t *postorder; /* the nodes in postorder, without the root */
    uint32_t n;
    /* source of edge k into a node; UINT32_MAX: no more edges */
    uint32_t (*edge)(const void *graph, uint32_t node, uint32_t k);
    const void *graph;
} pl_dominance;

/* Computes idom of the nodes in postorder; their entries must be UINT32_MAX initially. */
void pl_dominance_solve(const pl_dominance *d);

#endif
