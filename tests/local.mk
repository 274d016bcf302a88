# tests: what `make check` runs.
#   tests/unit/test_NAME.c    libcheck programs; a folder's local.mk names them in unit_tests
#   tests/ptx/**/*.ptx        one file, one test, run by tests/ptxcheck; adding a test is adding a file
if PL_HAVE_CHECK
check_PROGRAMS += $(unit_tests)
check_unit_tests = $(unit_tests)
endif
unit_tests += tests/unit/test_layers

# Programs report in TAP, so that every single test is counted; libcheck does so when CK_TAP_LOG_FILE_NAME is set.
AM_TESTS_ENVIRONMENT = srcdir='$(srcdir)' abs_srcdir='$(abs_srcdir)' CK_TAP_LOG_FILE_NAME=-; \
	export srcdir abs_srcdir CK_TAP_LOG_FILE_NAME;
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
TEST_EXTENSIONS = .ptx
TESTS = $(check_unit_tests) $(PL_PTX_TESTS)
noinst_HEADERS += tests/unit/unit.h
EXTRA_DIST += tests/data tests/ptx examples
