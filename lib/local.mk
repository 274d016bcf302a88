# lib: the public interface of include/ptxloom.h, the only place that combines the parts.
# To add a file: libptxloom_a_SOURCES += lib/NAME.c
# The public header is installed as PREFIX/include/ptxloom/ptxloom.h, with the headers of base that it requires next to
# it (pkgincludebase_HEADERS, in base/local.mk); ptxloom.pc gives the -I flag.
pkginclude_HEADERS += include/ptxloom.h
libptxloom_a_SOURCES += lib/source_map.c lib/module_load.c lib/occupancy.c lib/litmus_runner.c lib/check.c lib/check_list.h lib/check_sanitizer.c lib/demangle.c lib/demangle.h lib/check_program.c
libptxloom_a_SOURCES += lib/internal.h lib/gpu.c lib/device_memory.c lib/texture_resource.c lib/data/file.c lib/data/file_kind.c lib/data/output.c lib/module.c lib/launch/launch.c lib/launch/launch.h lib/launch/launch_check.c lib/launch/launch_messages.c lib/launch/memoize.c lib/timing.c \
	lib/launch/host_budget.c lib/trace.c lib/report.c lib/cuda_error.c lib/cuda_error.h lib/error_causes.def lib/explain.c lib/passes.c \
	lib/data/element_type.c lib/data/element_type.h lib/data/initializer.c lib/data/initializer.h lib/data/npy.c lib/data/npy.h \
	lib/launch/launch_case.c lib/launch/json_launch.c lib/launch/json_launch.h lib/launch/json_value.c lib/launch/launch_keys.def lib/launch/json_resource.c lib/launch/argument.c
unit_tests += tests/unit/test_launch tests/unit/test_memoize tests/unit/test_time_limit tests/unit/test_constants tests/unit/test_demangle tests/unit/test_glossary

libptxloom_a_SOURCES += lib/glossary.h
nodist_libptxloom_a_SOURCES += lib/gen_glossary.c
lib/gen_glossary.c: $(srcdir)/doc/glossary.md $(srcdir)/lib/glossary.awk
	$(AM_V_GEN)$(MKDIR_P) lib && $(AWK) -f $(srcdir)/lib/glossary.awk $(srcdir)/doc/glossary.md >$@.tmp && mv $@.tmp $@
BUILT_SOURCES += lib/gen_glossary.c
CLEANFILES += lib/gen_glossary.c
EXTRA_DIST += lib/glossary.awk

# For installed packages: kernels and launch files to run, and the course's experiments.
examplesdir = $(pkgdatadir)/examples
dist_examples_DATA = $(wildcard $(srcdir)/examples/*)
labsdir = $(pkgdatadir)/labs
dist_labs_DATA = $(wildcard $(srcdir)/labs/*)
