# isa: the instruction table, its generator, the machine program and its printer. Depends on base.
#
# isagen is compiled for the build machine and writes gen_*.h and gen_*.c from the table into the build tree.
#   isa_generated   every file that isagen writes and that is included or compiled
#   isa_tables      the table files that isagen reads
# A generated .c file of the library also goes to nodist_libptxloom_la_SOURCES (or, when it holds lane
# loops, to nodist_pl_exec_sources). To add a file: libptxloom_la_SOURCES += isa/NAME.c isa/NAME.h
# To add a unit test: unit_tests += tests/unit/test_NAME
isa_generated =
isa_tables =

isa_isagen = isa/isagen$(BUILD_EXEEXT)
$(isa_isagen): $(srcdir)/isa/isagen.c
	$(AM_V_CC)$(MKDIR_P) isa && $(CC_FOR_BUILD) -std=c17 -O1 -g -D_XOPEN_SOURCE=700 -I$(srcdir) -o $@ $(srcdir)/isa/isagen.c

isa/gen.stamp: $(isa_isagen) $(isa_tables)
	$(AM_V_GEN)$(isa_isagen) isa $(srcdir)/isa/ptx.isa && touch $@

$(isa_generated): isa/gen.stamp
	@test -f $@ || { rm -f isa/gen.stamp; $(MAKE) $(AM_MAKEFLAGS) isa/gen.stamp; }

BUILT_SOURCES += $(isa_generated)
CLEANFILES += $(isa_generated) isa/gen.stamp $(isa_isagen)
EXTRA_DIST += $(isa_tables)
