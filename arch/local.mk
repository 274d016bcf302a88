# arch: machine descriptions. Every arch/*.conf is installed, and its text is also built into the library
# (arch/gen_machines.c), so that `--arch h200` needs no file at run time. To add a machine, add a file.
archdir = $(pkgdatadir)/arch
arch_DATA = $(PL_ARCH_FILES)
arch/gen_machines.c: $(PL_ARCH_FILES) $(srcdir)/arch/embed.awk
	$(AM_V_GEN)$(MKDIR_P) arch && cd $(srcdir) && \
	LC_ALL=C $(AWK) -v array=pl_machine_texts -f arch/embed.awk $(PL_ARCH_FILES) >"$(abs_top_builddir)/$@.tmp" && \
	mv "$(abs_top_builddir)/$@.tmp" "$(abs_top_builddir)/$@"
nodist_libptxloom_a_SOURCES += arch/gen_machines.c arch/gen_targets.c
# The compiler's target properties, also embedded in the library as text.
PL_TARGET_FILES = arch/sm_90.target
arch/gen_targets.c: $(PL_TARGET_FILES) $(srcdir)/arch/embed.awk
	$(AM_V_GEN)$(MKDIR_P) arch && cd $(srcdir) && \
	LC_ALL=C $(AWK) -v array=pl_target_texts -f arch/embed.awk $(PL_TARGET_FILES) >"$(abs_top_builddir)/$@.tmp" && \
	mv "$(abs_top_builddir)/$@.tmp" "$(abs_top_builddir)/$@"
noinst_HEADERS += arch/builtin_machines.h
CLEANFILES += arch/gen_machines.c arch/gen_targets.c
EXTRA_DIST += arch/embed.awk $(PL_ARCH_FILES) $(PL_TARGET_FILES)

# The reader of machine descriptions and the occupancy calculator. Depends on memmodel, isa and base.
libptxloom_a_SOURCES += arch/machine.c arch/machine_keys.c arch/price.c arch/occupancy.c arch/machine.h arch/machine_parts.h
