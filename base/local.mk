# base: arenas, maps, diagnostics, the parser of machine files. Depends on the C library only.
# To add a file: append it here. To add a unit test: write tests/unit/test_NAME.c and append it to unit_tests.
libptxloom_a_SOURCES += \
	base/arena.c base/arena.h base/array.c base/array.h base/guard.c base/guard.h base/stop_flag.h base/poison.h \
	base/clock.c base/clock.h \
	base/conf.c base/conf.h \
	base/diag.c base/diag.def base/diag.h \
	base/file.c base/file.h \
	base/host.c base/host.h \
	base/json_out.c base/json_out.h \
	base/map.c base/map.h \
	base/nearest.c base/nearest.h \
	base/outfile.c base/outfile.h \
	base/plural.c base/plural.h \
	base/printable.c base/printable.h \
	base/real.c base/real.h \
	base/sha256.c base/sha256.h \
	base/sort.c base/sort.h \
	base/team.c base/team.h
pkgincludebase_HEADERS += base/status.h base/event.h base/resource.h base/finding.h base/managed.h base/node_field.h
unit_tests += tests/unit/test_base tests/unit/test_conf tests/unit/test_sort tests/unit/test_team tests/unit/test_host
