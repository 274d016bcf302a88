# tests: what `make check` runs.
#   tests/unit/test_NAME.c    libcheck programs; a folder's local.mk names them in unit_tests
#   tests/ptx/**/*.ptx        one file, one test, run by tests/ptxcheck; adding a test is adding a file
if PL_HAVE_CHECK
check_PROGRAMS += $(unit_tests)
check_unit_tests = $(unit_tests)
endif
unit_tests += tests/unit/test_layers

AM_TESTS_ENVIRONMENT = srcdir='$(srcdir)' abs_srcdir='$(abs_srcdir)'; export srcdir abs_srcdir;
TEST_EXTENSIONS = .ptx
TESTS = $(check_unit_tests) $(PL_PTX_TESTS)
noinst_HEADERS += tests/unit/unit.h
