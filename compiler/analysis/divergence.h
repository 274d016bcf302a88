/* divergence.h - divergence analysis: which registers may hold different values in the lanes of a
 * warp. Constants, parameters and block-level values are uniform.
 *
 * This is ptxas's estimate, used to choose between forms that compute the same result. */
#ifndef PL_COMPILER_ANALYSIS_DIVERGENCE_H
#define PL_COMPILER_ANALYSIS_DIVERGENCE_H

#include "compiler/ir/ir.h"

typedef struct pl_divergence {
    uint8_t *row, *pred; /* by row, by predicate */
} pl_divergence;

/* True for instructions whose result other threads may change while the warp polls: strong loads
 * and atomic operations. pl_divergence_find_polled marks the registers that depend on them. */
bool pl_divergence_is_polled(const pl_insn *i);
bool pl_divergence_find_polled(pl_divergence *v, pl_ir *x);

/* Requires pl_ir_graph and pl_ir_count; allocates from the pass's arena. Returns false when out of
 * memory. */
bool pl_divergence_find(pl_divergence *v, pl_ir *x);

/* By block: *divergent: some lanes of a warp may execute the block while others are elsewhere
 * (insert_reconvergence.c). *partial: or have left the kernel by a branch to its end. Returns false
 * when out of memory. */
bool pl_find_divergent_blocks(pl_ir *x, const pl_divergence *v, const uint8_t **divergent,
                              const uint8_t **partial);

#endif
