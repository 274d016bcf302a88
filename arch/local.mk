# arch: machine descriptions. Every arch/*.conf is installed, and its text is also built into the library
# (arch/gen_machines.c), so that `--arch h200` needs no file at run time. Adding a machine is adding a file.
archdir = $(pkgdatadir)/arch
arch_DATA = $(PL_ARCH_FILES)
arch/gen_machines.c: $(PL_ARCH_FILES) $(srcdir)/arch/embed.awk
	$(AM_V_GEN)$(MKDIR_P) arch && cd $(srcdir) && \
	LC_ALL=C $(AWK) -f arch/embed.awk $(PL_ARCH_FILES) >"$(abs_top_builddir)/$@.tmp" && \
	mv "$(abs_top_builddir)/$@.tmp" "$(abs_top_builddir)/$@"
nodist_libptxloom_la_SOURCES += arch/gen_machines.c
noinst_HEADERS += arch/builtin_machines.h
CLEANFILES += arch/gen_machines.c
EXTRA_DIST += arch/embed.awk $(PL_ARCH_FILES)

# The reader of machine descriptions and the occupancy calculator. Depends on memmodel, isa and base.
libptxloom_la_SOURCES += arch/machine.c arch/machine.h arch/occupancy.c
