# isa: the instruction table, its generator, the machine program and its printer. Depends on base.
#
# isagen is compiled for the build machine and writes gen_*.h and gen_*.c from the table into the build tree.
#   isa_generated   every file that isagen writes and that is included or compiled
#   isa_tables      the table files that isagen reads
# A generated .c file of the library also goes to nodist_libptxloom_la_SOURCES (or, when it holds lane
# loops, to nodist_pl_exec_sources). To add a file: libptxloom_la_SOURCES += isa/NAME.c isa/NAME.h
# To add a unit test: unit_tests += tests/unit/test_NAME
isa_generated = isa/gen_words.h isa/gen_names.h isa/gen_forms.c $(isa_exec_generated)
isa_exec_generated = isa/gen_exec_index.c isa/gen_exec_0.c isa/gen_exec_1.c isa/gen_exec_2.c isa/gen_exec_3.c \
	isa/gen_exec_4.c isa/gen_exec_5.c isa/gen_exec_6.c isa/gen_exec_7.c
isa_tables = isa/ptx.isa isa/int.isa isa/logic.isa isa/float.isa isa/half.isa isa/approx.isa isa/cmp.isa isa/cvt.isa \
	isa/video.isa isa/mem.isa isa/atom.isa isa/control.isa isa/barrier.isa isa/warp.isa isa/matrix.isa isa/tcgen05.isa isa/async.isa \
	isa/texture.isa isa/misc.isa

isa_isagen = isa/isagen$(BUILD_EXEEXT)
$(isa_isagen): $(srcdir)/isa/isagen.c $(srcdir)/isa/insn.h
	$(AM_V_CC)$(MKDIR_P) isa && $(CC_FOR_BUILD) -std=c17 -O1 -g -D_XOPEN_SOURCE=700 -I$(srcdir) -o $@ $(srcdir)/isa/isagen.c

isa/gen.stamp: $(isa_isagen) $(isa_tables)
	$(AM_V_GEN)$(isa_isagen) isa $(srcdir)/isa/ptx.isa && touch $@

$(isa_generated): isa/gen.stamp
	@test -f $@ || { rm -f isa/gen.stamp; $(MAKE) $(AM_MAKEFLAGS) isa/gen.stamp; }

libptxloom_la_SOURCES += isa/form.c isa/form.h isa/plan.h isa/policy.h isa/examples.def isa/form_examples.def isa/match.c isa/match.h isa/rules.c isa/insn.h isa/program.h
nodist_libptxloom_la_SOURCES += isa/gen_forms.c
libptxloom_la_SOURCES += isa/cfg.c isa/cfg.h isa/operands.c isa/operands.h isa/live.c isa/live.h isa/colour.c isa/colour.h isa/uniform.c isa/disasm.c isa/opt.c isa/opt.h \
	isa/ir.c isa/ir.h isa/carried.c isa/carried.h isa/passes.h isa/truths.c isa/fold.c isa/select.c isa/guards.c isa/halves.c isa/shorts.c isa/place.c isa/converge.c isa/webs.c isa/vector.c isa/divide.c isa/arrays.c isa/atomics.c isa/wmma.c isa/materialise.c isa/tuples.c isa/schedule.c isa/predicate.c isa/weight.c isa/weight.h isa/bank.c isa/bank.h isa/conditions.c isa/choice.c isa/hoist.c isa/stored.h isa/invariant.c isa/lift.c isa/reload.c isa/bases.c isa/reach.c isa/unroll.c isa/rotate.c isa/coalesce.c isa/flow.c isa/flow.h isa/liveset.c isa/liveset.h isa/memorder.c isa/memorder.h isa/varies.c isa/varies.h isa/ends.c isa/ends.h isa/modifier.c isa/scaled.c isa/calls.c isa/kept.c isa/spill.c
libptxloom_la_SOURCES += isa/part.c isa/part.h isa/position.c isa/position.h isa/tidy.c isa/tidy.h isa/object.c isa/object.h isa/object_layout.h isa/object_write.c isa/object_read.c isa/records.c isa/records.h isa/check.c isa/check.h isa/resources.c isa/resources.h \
	isa/asm.h isa/asm_write.c isa/asm_read.c
libptxloom_la_SOURCES += isa/passes.def isa/pass_manager.c isa/pass_manager.h isa/ir_print.c isa/ir_print.h isa/ir_verify.c isa/ir_verify.h

BUILT_SOURCES += $(isa_generated)
CLEANFILES += $(isa_generated) isa/gen.stamp $(isa_isagen)
EXTRA_DIST += $(isa_tables) isa/isagen.c isa/README.md isa/classes.md
unit_tests += tests/unit/test_liveset tests/unit/test_memorder tests/unit/test_colour tests/unit/test_opt tests/unit/test_passes tests/unit/test_examples
