/* reconvergence.h - declarations shared by the passes that handle divergent lanes. Private to
 * compiler/codegen/. */
#ifndef PL_COMPILER_CODEGEN_RECONVERGENCE_H
#define PL_COMPILER_CODEGEN_RECONVERGENCE_H

#include "compiler/analysis/post_dominance.h"
#include "compiler/passes.h"
#include "isa/program/operand_plan.h"
#include "compiler/analysis/divergence.h"

/* aggregate_atomics.c */
/* Inserts an instruction without operands before position `at` of the block. */
bool pl_reconv_insert(pl_ir *x, uint32_t b, size_t at, uint16_t mnem, uint32_t line);
bool pl_reconv_aggregate_atomics(pl_ir *x, const pl_divergence *v);
/* ptxas 13.0 inserts three loads that no lane executes before the first copy to shared memory of a
 * block, and again after each barrier. */
bool pl_reconv_precede_copies(pl_ir *x);

/* warp_sync.c */
/* True if some lanes may leave the function in this block, or take the slow path of a division,
 * while others continue. */
bool pl_reconv_exits_divergent(const pl_divergence *v, const pl_ir_block *b);
/* True if lanes of a warp may take different edges of this branch. */
bool pl_reconv_may_diverge(pl_ir *x, const pl_divergence *v, const uint8_t *pointers, uint32_t b);
bool pl_reconv_begin(pl_ir *x, pl_divergence *v);
/* Calls mark_divergent_blocks after computing its inputs. Returns NULL when out of memory. */
const uint8_t *pl_reconv_find_divergent_blocks(pl_ir *x, const pl_divergence *v,
                                               pl_post_dominance *e, const uint8_t **pointers,
                                               bool count_exited);
/* True if the instruction needs all lanes of the warp. */
bool pl_reconv_needs_all(const pl_insn *i);
/* Inserts one query for all instructions that name the same lanes. */
bool pl_reconv_insert_mask_queries(pl_ir *x, const pl_divergence *v);
/* Synchronises lanes at the first instruction that needs all of them, on each path between a
 * divergent branch and its reconvergence point. */
bool pl_reconv_insert_queries_where_divergent(pl_ir *x, const pl_divergence *v,
                                              const uint8_t *pointers, const uint8_t *divergent);
/* Removes synchronisation that remains, since a converged warp needs none. */
void pl_reconv_clear_sync_points(pl_ir *x);
/* Inserts YIELD in loops that poll memory without sleeping. The loop of an atomic operation needs
 * none, since one lane makes progress in each iteration. */
bool pl_reconv_yield_in_polling_loops(pl_ir *x, const pl_divergence *v, const uint8_t *divergent);

#endif
