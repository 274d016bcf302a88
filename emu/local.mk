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
pl_exec_sources = emu/exec/op_mem.c emu/exec/op_atom.c emu/exec/op_control.c emu/exec/op_barrier.c emu/exec/op_warp.c \
	emu/exec/op_misc.c emu/exec/op_approx.c emu/exec/op_async.c emu/exec/op_bulk.c
nodist_pl_exec_sources = $(isa_exec_generated)
libptxloom_la_SOURCES += emu/exec/warp.c emu/exec/cta.c emu/exec/grid.c emu/exec/memory.c emu/exec/access.c emu/exec/bind.c emu/exec/async.c \
	emu/exec/hang.c emu/exec/hang.h emu/exec/wave.c emu/exec/heap.c emu/exec/heap.h emu/exec/print.c emu/exec/print.h emu/exec/system.c emu/exec/system.h emu/exec/syscall.h emu/exec/runtime.c emu/exec/errors.def emu/exec/num_soft.c
noinst_HEADERS += emu/exec/exec.h emu/exec/lane.h emu/exec/memory.h emu/exec/access.h emu/exec/async.h emu/exec/atomic.h emu/exec/bind.h \
	emu/exec/num.h emu/exec/num_bits.h emu/exec/num_cmp.h emu/exec/num_cvt.h emu/exec/num_cvt8.h emu/exec/num_f32.h \
	emu/exec/num_f64.h emu/exec/num_half.h emu/exec/num_half2.h emu/exec/num_int.h emu/exec/num_soft.h \
	emu/exec/num_video.h emu/exec/num_words.h

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
pl_exec_sources += emu/exec/op_matrix.c
libptxloom_la_SOURCES += emu/exec/tensor.c emu/exec/tensor.h emu/exec/tensor_dot.c emu/exec/tensor_map.c \
	emu/exec/tensor_wgmma.c
unit_tests += tests/unit/test_num tests/unit/test_tensor
tests_unit_test_num_SOURCES = tests/unit/test_num.c tests/unit/num_lanes.h tests/unit/num_lanes_fma.c
tests_unit_test_tensor_LDADD = libpl_harness.la libptxloom.la $(CHECK_LIBS)

# Timing: SMs, the block scheduler, machine descriptions.
libptxloom_la_SOURCES += \
	emu/sm/control.c emu/sm/control.h emu/sm/counters.c emu/sm/counters.h emu/sm/decode.c emu/sm/decode.h emu/sm/fetch.c emu/sm/gpu.c emu/sm/lsu.c \
	emu/sm/machine.c emu/sm/machine.h emu/sm/occupancy.c emu/sm/slow.c emu/sm/slow.h emu/sm/sm.c emu/sm/sm.h emu/sm/timing.h

# Approximate functions.
libptxloom_la_SOURCES += emu/exec/mufu.h emu/exec/mufu_unit.h emu/exec/mufu_tables.c emu/exec/mufu_tables.def
unit_tests += tests/unit/test_mufu
tests_unit_test_mufu_SOURCES = tests/unit/test_mufu.c tests/accuracy/mufu_recorded.h
unit_tests += tests/unit/test_sm_machine tests/unit/test_control tests/unit/test_stalls

# Tensor copies, textures and surfaces.
pl_exec_sources += emu/exec/op_tensor.c emu/exec/op_texture.c
libptxloom_la_SOURCES += emu/exec/tensormap.c emu/exec/tensormap.h emu/exec/tma.c emu/exec/tma.h \
	emu/exec/tma_operands.c emu/exec/tma_operands.h \
	emu/exec/texture.c emu/exec/texture.h

# Weak consistency.
libptxloom_la_SOURCES += emu/exec/weak.c emu/exec/weak.h emu/exec/history.c emu/exec/history.h
unit_tests += tests/unit/test_history
