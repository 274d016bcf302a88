/* divergence.h - which registers may hold different values in the lanes of a warp: numbers,
 * parameters and what belongs to the block do not.
 *
 * An estimate as ptxas makes it, for choices between forms that compute the same. */
#ifndef PL_COMPILER_ANALYSIS_DIVERGENCE_H
#define PL_COMPILER_ANALYSIS_DIVERGENCE_H

#include "compiler/ir/ir.h"

typedef struct pl_divergence {
    uint8_t *row, *pred; /* by row, by predicate */
} pl_divergence;

/* What depends on what others may change while the warp looks: strong loads and atomic operations.
 */
bool pl_divergence_is_polled(const pl_insn *i);
bool pl_divergence_find_polled(pl_divergence *v, pl_ir *x);

/* After pl_ir_graph and pl_ir_count; memory comes from the pass's arena. False: out of memory. */
bool pl_divergence_find(pl_divergence *v, pl_ir *x);

/* By block: do some lanes of a warp reach it while others are elsewhere (insert_reconvergence.c)?
 * fewer: or have left the kernel by a branch to its end. False: out of memory. */
bool pl_find_divergent_blocks(pl_ir *x, const pl_divergence *v, const uint8_t **apart,
                              const uint8_t **fewer);

#endif
