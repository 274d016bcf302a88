# emu: exec/ is what instructions mean, sm/ is when they happen. exec depends on isa and base, sm on all below.
# To add an ordinary file: libptxloom_la_SOURCES += emu/sm/NAME.c emu/sm/NAME.h
# To add a unit test:      unit_tests += tests/unit/test_NAME
#
# Files in pl_exec_sources (hand-written) and nodist_pl_exec_sources (written by isagen) are compiled up to three
# times: for any processor, for AVX2 and for AVX-512. Each time PL_EXEC_SUFFIX is _base, _avx2 or _avx512; exported
# names must carry it, e.g. with
#   #define PL_CAT_(a, b) a##b
#   #define PL_CAT(a, b) PL_CAT_(a, b)
#   #define PL_EXEC(name) PL_CAT(name, PL_EXEC_SUFFIX)
#   const pl_exec_fn PL_EXEC(pl_exec_table)[PL_FORM_COUNT] = ...
# config.h says which exist (PL_HAVE_EXEC_AVX2, PL_HAVE_EXEC_AVX512); one ordinary file picks the table at start with
# __builtin_cpu_supports. Headers of these files go to noinst_HEADERS.
pl_exec_sources = emu/exec/ops/op_load_store.c emu/exec/ops/op_atom.c emu/exec/ops/op_control.c emu/exec/ops/op_barrier.c emu/exec/ops/op_warp.c \
	emu/exec/ops/op_misc.c emu/exec/ops/op_mufu.c emu/exec/ops/op_cp_async.c emu/exec/ops/op_bulk.c
nodist_pl_exec_sources = $(isa_exec_generated)
libptxloom_la_SOURCES += emu/exec/warp.c emu/exec/warp_frame.c emu/exec/calls.c emu/exec/simt_splits.c emu/exec/simt_splits.h emu/exec/cta.c emu/exec/barrier.c emu/exec/special_registers.c emu/exec/fault.c emu/exec/functional.c emu/exec/functional.h emu/exec/parallel_blocks.c emu/exec/ordered.c emu/exec/standstill.c emu/exec/memory/global_memory.c emu/exec/memory/address.c emu/exec/dispatch.c emu/exec/async/pending.c emu/exec/async/mbarrier.c \
	emu/exec/deadlock_report.c emu/exec/deadlock_report.h emu/exec/wave64.c emu/exec/runtime/device_heap.c emu/exec/runtime/device_heap.h emu/exec/runtime/printf.c emu/exec/runtime/printf.h emu/exec/runtime/cuda_builtins.c emu/exec/runtime/cuda_builtins.h emu/exec/runtime/syscall.c emu/exec/runtime/syscall.h emu/exec/runtime/device_runtime.c emu/exec/runtime/errors.def emu/exec/num/softfloat.c
noinst_HEADERS += emu/exec/exec.h emu/exec/warp.h emu/exec/cta.h emu/exec/grid.h emu/exec/hooks.h emu/exec/lane_loops.h emu/exec/memory/global_memory.h emu/exec/memory/address.h emu/exec/memory/span.h emu/exec/async/async.h emu/exec/memory/atomic_ops.h emu/exec/dispatch.h \
	emu/exec/num/num.h emu/exec/num/bits.h emu/exec/num/compare.h emu/exec/num/convert.h emu/exec/num/convert_fp8.h emu/exec/num/f32.h \
	emu/exec/num/f64.h emu/exec/num/half.h emu/exec/num/half2.h emu/exec/num/integer.h emu/exec/num/softfloat.h \
	emu/exec/num/video.h emu/exec/num/modifier_words.h emu/exec/num/small_floats.h emu/exec/num/sparse.h

noinst_LTLIBRARIES += libpl_exec_base.la
libpl_exec_base_la_SOURCES = $(pl_exec_sources)
nodist_libpl_exec_base_la_SOURCES = $(nodist_pl_exec_sources)
libpl_exec_base_la_CPPFLAGS = $(AM_CPPFLAGS) -DPL_EXEC_SUFFIX=_base
libptxloom_la_LIBADD += libpl_exec_base.la

if PL_HAVE_AVX2
noinst_LTLIBRARIES += libpl_exec_avx2.la
libpl_exec_avx2_la_SOURCES = $(pl_exec_sources)
nodist_libpl_exec_avx2_la_SOURCES = $(nodist_pl_exec_sources)
libpl_exec_avx2_la_CPPFLAGS = $(AM_CPPFLAGS) -DPL_EXEC_SUFFIX=_avx2
libpl_exec_avx2_la_CFLAGS = $(AM_CFLAGS) $(PL_AVX2_CFLAGS)
libptxloom_la_LIBADD += libpl_exec_avx2.la
endif

if PL_HAVE_AVX512
noinst_LTLIBRARIES += libpl_exec_avx512.la
libpl_exec_avx512_la_SOURCES = $(pl_exec_sources)
nodist_libpl_exec_avx512_la_SOURCES = $(nodist_pl_exec_sources)
libpl_exec_avx512_la_CPPFLAGS = $(AM_CPPFLAGS) -DPL_EXEC_SUFFIX=_avx512
libpl_exec_avx512_la_CFLAGS = $(AM_CFLAGS) $(PL_AVX512_CFLAGS)
libptxloom_la_LIBADD += libpl_exec_avx512.la
endif

# Tensor cores.
pl_exec_sources += emu/exec/ops/op_mma.c emu/exec/ops/op_sparse.c emu/exec/ops/op_tcgen05.c
libptxloom_la_SOURCES += emu/exec/mma/mma.c emu/exec/mma/mma.h emu/exec/mma/dot_product.c emu/exec/mma/fragment_layout.c \
	emu/exec/mma/wgmma.c \
	emu/exec/tcgen05/tensor_memory.c emu/exec/tcgen05/tensor_memory.h emu/exec/tcgen05/descriptor.c \
	emu/exec/tcgen05/product.c emu/exec/tcgen05/product.h
unit_tests += tests/unit/test_num tests/unit/test_tensor tests/unit/test_tcgen05
tests_unit_test_num_SOURCES = tests/unit/test_num.c tests/unit/num_lanes.h tests/unit/num_lanes_fma.c
tests_unit_test_tensor_LDADD = libpl_harness.la libptxloom.la $(CHECK_LIBS)
tests_unit_test_tcgen05_LDADD = libpl_harness.la libptxloom.la $(CHECK_LIBS)

# Timing: SMs, the block scheduler, machine descriptions.
libptxloom_la_SOURCES += \
	emu/sm/metrics.c emu/sm/metrics.h emu/sm/decode.c emu/sm/decode.h emu/sm/metrics_class.c emu/sm/gpu.c emu/sm/gpu_parts.h emu/sm/block_scheduler.c emu/sm/parallel_windows.c \
	emu/sm/sm.c emu/sm/sm.h emu/sm/subcore.h emu/sm/warp_state.h emu/sm/inflight.c emu/sm/inflight.h emu/sm/units.h emu/sm/math_pipes.h \
	emu/sm/warp_scheduler.c emu/sm/issue.c emu/sm/stall_accounting.h emu/sm/scoreboard.c emu/sm/warp_progress.c \
	emu/sm/completion.c emu/sm/async_landing.c emu/sm/driver_calls.c \
	emu/sm/math_pipes.c emu/sm/special_function_unit.c emu/sm/tensor_unit.c emu/sm/branch_unit.c \
	emu/sm/barrier_unit.c emu/sm/fence_unit.c emu/sm/lsu.c emu/sm/lsu_common.c emu/sm/lsu_shared.c \
	emu/sm/lsu_global.c emu/sm/lsu_constant.c emu/sm/mbarrier_unit.c emu/sm/store_buffer.c \
	emu/sm/texture_unit.c emu/sm/copy_engine.c emu/sm/instruction_cache.c emu/sm/constant_cache.c \
	 emu/sm/division_slow_path.c emu/sm/division_slow_path.h emu/sm/timing.h

# Approximate functions.
libptxloom_la_SOURCES += emu/exec/num/mufu_sequences.h emu/exec/num/mufu_unit.h emu/exec/num/mufu_tables.c emu/exec/num/mufu_tables.def
unit_tests += tests/unit/test_mufu
tests_unit_test_mufu_SOURCES = tests/unit/test_mufu.c tests/accuracy/mufu_recorded.h
unit_tests += tests/unit/test_sm_machine tests/unit/test_control tests/unit/test_stalls

# Tensor copies, textures and surfaces.
pl_exec_sources += emu/exec/ops/op_tma.c emu/exec/ops/op_texture.c
libptxloom_la_SOURCES += emu/exec/tma/tensor_map_descriptor.c emu/exec/tma/tensor_map_descriptor.h emu/exec/tma/tma_copy.c emu/exec/tma/tma_copy.h \
	emu/exec/tma/tma_operands.c emu/exec/tma/tma_operands.h \
	emu/exec/texture/texture.c emu/exec/texture/texture.h emu/exec/texture/texture_parts.h emu/exec/texture/format.c \
	emu/exec/texture/address.c emu/exec/texture/filter.c emu/exec/texture/lod.c

# Weak consistency.
libptxloom_la_SOURCES += emu/exec/consistency/weak_memory.c emu/exec/consistency/weak_memory.h emu/exec/consistency/write_history.c emu/exec/consistency/write_history.h
unit_tests += tests/unit/test_history
