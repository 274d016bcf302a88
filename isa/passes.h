/* passes.h - the passes of the optimising assembler, in the order in which pl_optimise (opt.c) runs them. Inside of isa/ only.
 *
 * Each works on the block graph of one function (ir.h) and leaves a function that computes the same bytes. False: out of memory. */
#ifndef PL_ISA_PASSES_H
#define PL_ISA_PASSES_H

#include "isa/ir.h"

/* guards.c: guarded accesses to memory become branches around them. */
bool pl_pass_expand_predicated_memory(pl_ir *x);
/* wmma.c: loads and stores of wmma's fragments become what each lane does, products those of 16 x 8. */
bool pl_pass_lower_wmma(pl_ir *x);
/* truths.c: a condition that was made a number and is compared again is the condition. */
bool pl_pass_opt_bool_roundtrip(pl_ir *x);
/* fold.c: copies and constants are passed on, equal computations are done once, unused results disappear. */
bool pl_pass_gvn(pl_ir *x);
/* fold.c: a variable that has just got a number is that number where it is read. */
bool pl_pass_local_const_prop(pl_ir *x);
/* fold.c: unused results disappear. */
bool pl_pass_dce(pl_ir *x);
/* webs.c: unrelated values of one register get registers of their own. */
bool pl_pass_split_webs(pl_ir *x);
/* rotate.c: loops that test at their top test at their end. */
bool pl_pass_loop_rotate(pl_ir *x);
/* unroll.c: counted loops without others inside are unrolled, wholly or four times. */
bool pl_pass_loop_unroll(pl_ir *x);
/* conditions.c: of two branches in a row to the same place one is left. */
bool pl_pass_merge_branches(pl_ir *x);
/* predicate.c: short bodies of branches become guarded instructions. */
bool pl_pass_if_convert(pl_ir *x);
/* predicate.c: blocks that only follow each other become one. */
bool pl_pass_merge_blocks(pl_ir *x);
/* bases.c: distances of variables of shared memory go from addresses into accesses. */
bool pl_pass_shared_base_reassoc(pl_ir *x);
/* reach.c: sums with a number become accesses at a distance from sums without. */
bool pl_pass_address_reassoc(pl_ir *x);
/* select.c: chains become the machine instructions that do several steps at once. */
bool pl_pass_isel_combine(pl_ir *x);
/* halves.c: loads of a word to 64 bits are a load and an extension. */
bool pl_pass_split_subword_loads(pl_ir *x);
/* halves.c: what is known of a half of a 64-bit value, and what nobody reads of one, costs nothing. */
bool pl_pass_lower_int64(pl_ir *x);

/* shorts.c: 16-bit values are extended for the instructions that look at the upper half of their registers. */
bool pl_pass_lower_int16_extend(pl_ir *x);
bool pl_pass_lower_int16_narrow(pl_ir *x);
/* divide.c: 32-bit division by multiplication, the divisor's part done once. */
bool pl_pass_lower_division(pl_ir *x);
/* divide.c: the subroutines behind quotients and roots. */
bool pl_pass_insert_slow_paths(pl_ir *x);
/* atomics.c: atomics without a reader become reductions; what the hardware does not do in shared memory becomes a loop. */
bool pl_pass_lower_atomics(pl_ir *x);
/* choice.c: a selection between a register and what is computed for it alone becomes a guarded computation. */
bool pl_pass_predicate_selects(pl_ir *x);
/* choice.c: is it a selection between two numbers that only one instruction reads? A sum with it is not joined with another. */
bool pl_choice_counts(const pl_ir *x, const pl_insn *s);
/* hoist.c: loads behind a branch around something are asked for in front of it. */
bool pl_pass_hoist_loads(pl_ir *x);
/* lift.c: loads that bring the same in every round of a loop are done in front of it. */
bool pl_pass_licm_loads(pl_ir *x);
/* lift.c: does it call a function, or a subroutine for some lanes? Nothing is moved out of a loop with it. */
bool pl_lift_calls(const pl_insn *i);
/* invariant.c: what is the same in every round of a loop is computed in front of it; with the compares of its first block. */
bool pl_pass_licm(pl_ir *x);
bool pl_pass_licm_compares(pl_ir *x);
/* arrays.c: small arrays in local memory live in registers. */
bool pl_pass_sroa(pl_ir *x);
/* reload.c: loads of what a register holds already are copies. */
bool pl_pass_load_elim(pl_ir *x);
/* vector.c: neighbouring loads from shared memory become one wide load. */
bool pl_pass_vectorize_memory(pl_ir *x);
/* materialise.c: numbers that an instruction cannot hold go into registers. */
bool pl_pass_materialize_constants(pl_ir *x);
/* tuples.c: what an instruction names as one vector is brought into neighbouring registers. */
bool pl_pass_vector_registers(pl_ir *x);
/* modifier.c: what costs nothing because a neighbour does it on the way. */
bool pl_pass_fold_modifiers(pl_ir *x);
/* scaled.c: what MUFU needs done to its operand and result is instructions of their own. */
bool pl_pass_lower_mufu(pl_ir *x);
/* place.c: parameters and special registers are fetched where they are needed first; the fixed prologue. */
bool pl_pass_place_constant_loads(pl_ir *x);
/* uniform.c: values that are in uniform registers or the constant bank. */
bool pl_pass_uniform_regs(pl_ir *x);
/* halves.c: 64-bit values of which one half is all there is, or all that is read, are in one register. */
bool pl_pass_narrow_int64(pl_ir *x);
/* converge.c: where lanes of a warp may be missing that an instruction needs. */
bool pl_pass_insert_warp_sync(pl_ir *x);
/* converge.c: BSSY and BSYNC around branches that may part a warp. */
bool pl_pass_insert_reconvergence(pl_ir *x);
/* coalesce.c: copies at the ends of loops disappear where both registers can be one. */
bool pl_pass_copy_coalesce(pl_ir *x);
/* schedule.c: loads are issued in batches, as early as their addresses are known. */
bool pl_pass_schedule(pl_ir *x);
/* calls.c: a function returns in one place. */
bool pl_pass_unify_returns(pl_ir *x);
/* calls.c: return addresses, copies of arguments, registers that are saved around calls. */
bool pl_pass_lower_calls(pl_ir *x);
/* How many registers a kernel keeps across its calls (pl_prog_func.kept). */
bool pl_pass_count_callee_saved(pl_ir *x);
/* spill.c: values that find no register go to local memory. */
bool pl_pass_spill(pl_ir *x);

#endif
