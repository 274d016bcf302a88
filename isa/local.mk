# isa: the instruction table and its generator (table/), the machine program (program/) and its two
# file forms, text and ELF (object/). Depends on base.
#
# isagen is compiled for the build machine and writes gen_*.h and gen_*.c from the table into the build tree.
#   isa_generated   every file that isagen writes and that is included or compiled
#   isa_tables      the table files that isagen reads
# A generated .c file of the library also goes to nodist_libptxloom_a_SOURCES (or, when it holds lane
# loops, to nodist_pl_exec_sources). To add a file: libptxloom_a_SOURCES += isa/program/NAME.c isa/program/NAME.h
# To add a unit test: unit_tests += tests/unit/test_NAME
isa_generated = isa/gen_words.h isa/gen_names.h isa/gen_forms.c $(isa_exec_generated)
isa_exec_generated = isa/gen_exec_index.c isa/gen_exec_0.c isa/gen_exec_1.c isa/gen_exec_2.c isa/gen_exec_3.c \
	isa/gen_exec_4.c isa/gen_exec_5.c isa/gen_exec_6.c isa/gen_exec_7.c
isa_tables = \
	isa/table/ptx.isa isa/table/int.isa isa/table/logic.isa isa/table/float.isa isa/table/half.isa \
	isa/table/approx.isa isa/table/cmp.isa isa/table/cvt.isa isa/table/video.isa isa/table/mem.isa \
	isa/table/atom.isa isa/table/control.isa isa/table/barrier.isa isa/table/warp.isa \
	isa/table/matrix.isa isa/table/tcgen05.isa isa/table/async.isa isa/table/texture.isa \
	isa/table/misc.isa isa/table/classes.isa

isa_isagen = isa/isagen$(BUILD_EXEEXT)
isa_isagen_sources = \
	isa/table/isagen/check.c isa/table/isagen/classes.c isa/table/isagen/condition.c \
	isa/table/isagen/main.c isa/table/isagen/read.c isa/table/isagen/read_form.c \
	isa/table/isagen/text.c isa/table/isagen/write_exec.c isa/table/isagen/write_forms.c
$(isa_isagen): $(isa_isagen_sources) isa/table/isagen/isagen.h isa/table/class_kinds.def isa/program/insn.h
	$(AM_V_CC)$(MKDIR_P) isa && cd $(srcdir) && $(CC_FOR_BUILD) -std=c17 -O1 -g -D_XOPEN_SOURCE=700 -I. \
		-o "$(abs_top_builddir)/$@" $(isa_isagen_sources)

isa/gen.stamp: $(isa_isagen) $(isa_tables)
	$(AM_V_GEN)$(isa_isagen) isa $(srcdir)/isa/table/ptx.isa && touch $@

# Regenerates the page of the latency classes.
classes-doc: isa/gen.stamp
	cp isa/classes.md $(srcdir)/isa/table/classes.md
.PHONY: classes-doc

$(isa_generated): isa/gen.stamp
	@test -f $@ || { rm -f isa/gen.stamp; $(MAKE) $(AM_MAKEFLAGS) isa/gen.stamp; }

libptxloom_a_SOURCES += \
	isa/table/form.c isa/table/form.h \
	isa/table/form_match.c isa/table/form_match.h \
	isa/table/operand_counts.c \
	isa/table/class_kinds.def isa/table/form_examples.def isa/table/mnemonic_examples.def
nodist_libptxloom_a_SOURCES += isa/gen_forms.c
libptxloom_a_SOURCES += \
	isa/program/cache_policy.h \
	isa/program/canonicalize.c isa/program/canonicalize.h \
	isa/program/cfg.c isa/program/cfg.h \
	isa/program/disasm.c \
	isa/program/dominance.c isa/program/dominance.h \
	isa/program/insn.h isa/program/insn_build.c isa/program/insn_build.h isa/program/insn_query.h \
	isa/program/operand_plan.h \
	isa/program/operands.c isa/program/operands.h \
	isa/program/program.h \
	isa/program/resource_usage.c isa/program/resource_usage.h \
	isa/program/source_position.c isa/program/source_position.h \
	isa/program/verify.c isa/program/verify.h
libptxloom_a_SOURCES += \
	isa/object/asm_parse.c isa/object/asm_print.c isa/object/asm_text.h \
	isa/object/elf.h isa/object/elf_common.c isa/object/elf_layout.h \
	isa/object/elf_read.c isa/object/elf_write.c \
	isa/object/record_fields.c isa/object/record_fields.h

BUILT_SOURCES += $(isa_generated)
CLEANFILES += $(isa_generated) isa/classes.md isa/gen.stamp $(isa_isagen)
EXTRA_DIST += $(isa_tables) $(isa_isagen_sources) isa/table/isagen/isagen.h isa/table/README.md isa/table/classes.md
unit_tests += tests/unit/test_examples
