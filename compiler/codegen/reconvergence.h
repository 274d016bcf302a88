/* reconvergence.h - what the passes share that care about lanes which diverge. Private to
 * compiler/codegen/. */
#ifndef PL_COMPILER_CODEGEN_RECONVERGENCE_H
#define PL_COMPILER_CODEGEN_RECONVERGENCE_H

#include "compiler/analysis/post_dominance.h"
#include "compiler/passes.h"
#include "isa/program/operand_plan.h"
#include "compiler/analysis/divergence.h"

/* aggregate_atomics.c */
/* Puts an instruction without operands before instruction `at` of the block. */
bool pl_reconv_put(pl_ir *x, uint32_t b, size_t at, uint16_t mnem, uint32_t line);
bool pl_reconv_aggregate_atomics(pl_ir *x, const pl_divergence *v);
/* ptxas 13.0 puts three loads that no lane executes before the first copy to shared memory of
 * a block, and after each barrier. */
bool pl_reconv_precede_copies(pl_ir *x);

/* warp_sync.c */
/* Do some lanes leave the function in this block, or take the slow path of a division, while others
 * go on? */
bool pl_reconv_exits_divergent(const pl_divergence *v, const pl_ir_block *b);
/* True if lanes of a warp may take different edges of this branch. */
bool pl_reconv_may_diverge(pl_ir *x, const pl_divergence *v, const uint8_t *pointers, uint32_t b);
bool pl_reconv_begin(pl_ir *x, pl_divergence *v);
/* mark_divergent_blocks with what it asks for. NULL: out of memory. */
const uint8_t *pl_reconv_find_divergent_blocks(pl_ir *x, const pl_divergence *v,
                                               pl_post_dominance *e, const uint8_t **pointers,
                                               bool left);
/* Needs all lanes of the warp. */
bool pl_reconv_needs_all(const pl_insn *i);
/* Once for all that name the same ones. */
bool pl_reconv_insert_mask_queries(pl_ir *x, const pl_divergence *v);
/* Between a divergent branch and its reconvergence point, the first instruction on each path that
 * needs all lanes synchronises them. */
bool pl_reconv_insert_queries_where_divergent(pl_ir *x, const pl_divergence *v,
                                              const uint8_t *pointers, const uint8_t *apart);
/* A convergent warp needs no synchronisation. */
void pl_reconv_clear_sync_points(pl_ir *x);
/* A loop that looks at memory, and does not sleep meanwhile; in that of an atomic operation one
 * lane goes on each time. */
bool pl_reconv_yield_in_polling_loops(pl_ir *x, const pl_divergence *v, const uint8_t *apart);

#endif
