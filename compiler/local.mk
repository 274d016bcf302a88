# compiler: compiles the PTX program to the machine program. Depends on arch, isa and base.
#   tuning.def      target properties that passes query: arch/sm_90.target
#   passes.def      the pass pipeline; pass_manager.c runs it
#   ir/             the block graph, its printer and its verifier
#   analysis/       analyses that passes use; opt/ and codegen/ contain the passes
# To add a pass: doc/assembler.md. To add a file: libptxloom_a_SOURCES += compiler/opt/NAME.c
compiler/gen_tuning.c: $(srcdir)/arch/sm_90.target $(srcdir)/compiler/tuning.awk
	$(AM_V_GEN)$(MKDIR_P) compiler && LC_ALL=C $(AWK) -f $(srcdir)/compiler/tuning.awk $(srcdir)/arch/sm_90.target >$@.tmp && mv $@.tmp $@
nodist_libptxloom_a_SOURCES += compiler/gen_tuning.c
CLEANFILES += compiler/gen_tuning.c
EXTRA_DIST += compiler/tuning.awk
libptxloom_a_SOURCES += \
	compiler/tuning.c compiler/tuning.def compiler/tuning.h \
	compiler/analysis/constant_bank.c \
	compiler/analysis/constant_bank.h \
	compiler/analysis/divergence.c \
	compiler/analysis/divergence.h \
	compiler/analysis/insn_cost.c \
	compiler/analysis/insn_cost.h \
	compiler/analysis/live_spans.c \
	compiler/analysis/live_spans.h \
	compiler/analysis/liveness.c \
	compiler/analysis/liveness.h \
	compiler/analysis/loop_carried.c \
	compiler/analysis/loop_carried.h \
	compiler/analysis/memory_clobbers.h \
	compiler/analysis/memory_dependence.c \
	compiler/analysis/memory_dependence.h \
	compiler/analysis/post_dominance.c \
	compiler/analysis/post_dominance.h \
	compiler/analysis/wgmma_hazards.c \
	compiler/analysis/wgmma_hazards.h \
	compiler/codegen/callee_saved.c \
	compiler/codegen/calling_convention.c \
	compiler/codegen/control_codes.c \
	compiler/codegen/control_codes.h \
	compiler/codegen/copy_coalesce.c \
	compiler/codegen/aggregate_atomics.c \
	compiler/codegen/find_reconvergence.c \
	compiler/codegen/find_reconvergence.h \
	compiler/codegen/insert_reconvergence.c \
	compiler/codegen/reconvergence.h \
	compiler/codegen/warp_sync.c \
	compiler/codegen/isel_arithmetic.c \
	compiler/codegen/isel_combine.c \
	compiler/codegen/isel_combine.h \
	compiler/codegen/isel_convert.c \
	compiler/codegen/isel_logic.c \
	compiler/codegen/isel_operands.c \
	compiler/codegen/linear_scan.c \
	compiler/codegen/linear_scan.h \
	compiler/codegen/lower_atomics.c \
	compiler/codegen/lower_division.c \
	compiler/codegen/lower_int16.c \
	compiler/codegen/lower_int64.c \
	compiler/codegen/lower_mufu.c \
	compiler/codegen/lower_wmma.c \
	compiler/codegen/materialize_constants.c \
	compiler/codegen/register_allocation.c \
	compiler/codegen/register_allocation.h \
	compiler/codegen/sched_dag.c \
	compiler/codegen/sched_list.c \
	compiler/codegen/sched_pressure.c \
	compiler/codegen/schedule.c \
	compiler/codegen/schedule.h \
	compiler/codegen/spill.c \
	compiler/codegen/vector_registers.c \
	compiler/compile_function.c \
	compiler/compile_function.h \
	compiler/ir/dominance.c \
	compiler/ir/edit.c \
	compiler/ir/ir.c \
	compiler/ir/ir_internal.h \
	compiler/ir/use_counts.c \
	compiler/ir/ir.h \
	compiler/ir/ir_print.c \
	compiler/ir/ir_print.h \
	compiler/ir/ir_verify.c \
	compiler/ir/ir_verify.h \
	compiler/opt/address_reassoc.c \
	compiler/opt/bool_roundtrip.c \
	compiler/opt/contract_fma.c \
	compiler/opt/contract_fma.h \
	compiler/opt/expand_predicated_memory.c \
	compiler/opt/fold_approx.c \
	compiler/opt/fold_approx.h \
	compiler/opt/fold_modifiers.c \
	compiler/opt/constant_fold.c \
	compiler/opt/dce.c \
	compiler/opt/gvn.c \
	compiler/opt/gvn.h \
	compiler/opt/local_const_prop.c \
	compiler/opt/hoist_loads.c \
	compiler/opt/if_convert.c \
	compiler/opt/if_convert.h \
	compiler/opt/if_convert_loads.c \
	compiler/opt/if_convert_overlap.c \
	compiler/opt/licm.c \
	compiler/opt/load_elim.c \
	compiler/opt/loop_rotate.c \
	compiler/opt/loop_constants.c \
	compiler/opt/loop_copy.c \
	compiler/opt/loop_info.c \
	compiler/opt/loop_unroll.c \
	compiler/opt/loop_unroll.h \
	compiler/opt/unroll_cost.c \
	compiler/opt/merge_branches.c \
	compiler/opt/place_constant_loads.c \
	compiler/opt/place_constant_loads.h \
	compiler/opt/place_in_bodies.c \
	compiler/opt/predicate_select.c \
	compiler/opt/shared_base_reassoc.c \
	compiler/opt/split_webs.c \
	compiler/opt/sroa.c \
	compiler/opt/uniform.c \
	compiler/opt/vectorize_memory.c \
	compiler/pass_manager.c \
	compiler/pass_manager.h \
	compiler/passes.def \
	compiler/passes.h
unit_tests += tests/unit/test_live_spans tests/unit/test_memory_dependence tests/unit/test_linear_scan \
	tests/unit/test_opt_branches tests/unit/test_opt_loops tests/unit/test_opt_registers tests/unit/test_opt_schedule tests/unit/test_passes
