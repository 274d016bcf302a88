# tests: the programs run by `make check`. doc/testing.md describes the purpose of each.
#   tests/unit/test_NAME.c    libcheck programs; a folder's local.mk names them in unit_tests
#   tests/ptx/**/*.ptx        one file, one test, run by tests/ptxcheck; to add a test, add a file
#   other programs            recorded hardware data, documentation, corrupted inputs
if PL_HAVE_CHECK
check_PROGRAMS += $(unit_tests)
check_unit_tests = $(unit_tests)
endif
unit_tests += tests/unit/test_layers tests/unit/test_messages

check_LIBRARIES = libpl_harness.a
libpl_harness_a_SOURCES = tests/harness.c tests/harness.h tests/recorded.c tests/recorded.h

# Tests of more than ten seconds come first, the longest before the others, and the shortest last, so that no processor is idle at the end.
long_tests = tests/corpus_timing tests/labs tests/faults tests/random_programs tests/suite_timing tests/trace_commands tests/report tests/cache_policies \
	tests/objects tests/host_threads tests/linear_time
long_scripts = tests/traces.sh tests/cudart/programs.sh tests/same_figures.sh tests/compilers.sh
data_tests = tests/suite_functional tests/suite_random tests/suite_wide tests/corpus_functional tests/fuzz/kept tests/fuzz/fuzz tests/ptxas_statements tests/instruction_vectors tests/forms/forms \
	tests/docs tests/terminal tests/browser
data_tests += tests/partial_barriers tests/hostile_traces tests/triton
data_tests += tests/schema tests/pass_tests tests/int64_expansion tests/fuzz/objects tests/fuzz/litmus
check_PROGRAMS += $(long_tests) $(data_tests) tests/ptxcheck
tests_suite_timing_SOURCES = tests/suite.c
tests_suite_timing_CPPFLAGS = $(AM_CPPFLAGS) -DONE_OF=3 -DMODE='"timing"'
tests_suite_timing_LDADD = libpl_harness.a $(loom)
tests_suite_random_SOURCES = tests/suite.c
tests_suite_random_CPPFLAGS = $(AM_CPPFLAGS) -DMODE='"functional"' -DEXTRA='"--schedule", "random:1",'
tests_suite_random_LDADD = libpl_harness.a $(loom)
# The H200 with 64-lane warps.
tests_suite_wide_SOURCES = tests/suite.c
tests_suite_wide_CPPFLAGS = $(AM_CPPFLAGS) -DMODE='"functional"' -DEXTRA='"--arch", "h200,sm.lanes=64,sm.warps=32",'
tests_suite_wide_LDADD = libpl_harness.a $(loom)
tests_suite_functional_SOURCES = tests/suite.c
tests_suite_functional_CPPFLAGS = $(AM_CPPFLAGS) -DMODE='"functional"'
tests_suite_functional_LDADD = libpl_harness.a $(loom)
tests_triton_SOURCES = tests/suite.c
tests_triton_CPPFLAGS = $(AM_CPPFLAGS) -DFOLDER='"triton"' -DMODE='"timing"'
tests_triton_LDADD = libpl_harness.a $(loom)
tests_corpus_timing_SOURCES = tests/suite.c
tests_corpus_timing_CPPFLAGS = $(AM_CPPFLAGS) -DFOLDER='"corpus"' -DONE_OF=3 -DMODE='"timing"'
tests_corpus_timing_LDADD = libpl_harness.a $(loom)
tests_corpus_functional_SOURCES = tests/suite.c
tests_corpus_functional_CPPFLAGS = $(AM_CPPFLAGS) -DFOLDER='"corpus"' -DONE_OF=3 -DMODE='"functional"' -DEXTRA='"-O0",'
tests_corpus_functional_LDADD = libpl_harness.a $(loom)
tests_fuzz_fuzz_LDADD = libpl_harness.a $(loom)
tests_ptxas_statements_SOURCES = tests/ptxas_statements.c tests/fuzz/grammar.c tests/fuzz/grammar.h
tests_ptxas_statements_LDADD = libpl_harness.a $(loom)
tests_forms_forms_SOURCES = tests/forms/forms.c tests/forms/forms.h
tests_forms_forms_LDADD = libpl_harness.a $(loom)
tests_instruction_vectors_LDADD = libpl_harness.a $(loom)
tests_partial_barriers_SOURCES = tests/partial_barriers.c
tests_partial_barriers_LDADD = libpl_harness.a $(loom)
tests_cache_policies_SOURCES = tests/cache_policies.c
tests_cache_policies_LDADD = libpl_harness.a $(loom)
tests_pass_tests_SOURCES = tests/pass_tests.c
tests_pass_tests_LDADD = libpl_harness.a
tests_int64_expansion_SOURCES = tests/int64_expansion.c
tests_int64_expansion_LDADD = libpl_harness.a $(loom)
tests_random_programs_SOURCES = tests/random_programs.c tests/programs.h
tests_random_programs_LDADD = libpl_harness.a $(loom)
tests_docs_LDADD = libpl_harness.a
tests_terminal_LDADD = libpl_harness.a
tests_browser_LDADD = libpl_harness.a $(JANSSON_LIBS)
tests_hostile_traces_LDADD = libpl_harness.a $(loom)
tests_trace_commands_LDADD = libpl_harness.a $(SQLITE_LIBS) $(JANSSON_LIBS)
tests_report_LDADD = libpl_harness.a $(SQLITE_LIBS) $(JANSSON_LIBS)
tests_objects_LDADD = libpl_harness.a $(JANSSON_LIBS)
tests_fuzz_objects_SOURCES = tests/fuzz/objects.c tests/fuzz/input.c tests/fuzz/input.h
tests_fuzz_objects_LDADD = libpl_harness.a $(loom)
tests_linear_time_LDADD = libpl_harness.a
tests_schema_LDADD = libpl_harness.a $(JANSSON_LIBS) -lm
tests_host_threads_LDADD = libpl_harness.a $(JANSSON_LIBS)
tests_fuzz_litmus_LDADD = libpl_harness.a $(loom)
tests_labs_LDADD = libpl_harness.a $(loom) -lm
tests_ptxcheck_LDADD = $(loom)

# --enable-native leaves the tests unoptimised, except for those with loops of their own that take seconds, and the CUDA program,
# whose functions are named in expected messages as they are inlined.
tests/%.$(OBJEXT) cli/tests_faults-%.$(OBJEXT): CFLAGS += $(PL_TEST_CFLAGS)
tests/accuracy/%.$(OBJEXT) tests/cudart/%.$(OBJEXT) tests/forms/%.$(OBJEXT) $(tests_unit_test_num_OBJECTS) $(tests_unit_test_mufu_OBJECTS) \
  $(tests_unit_test_tensor_OBJECTS) $(tests_unit_test_tcgen05_OBJECTS): PL_TEST_CFLAGS =

# Checkers: kernels with one error each, and their fixed counterparts.
data_tests += tests/checkers
tests_checkers_SOURCES = tests/checkers.c
tests_checkers_LDADD = libpl_harness.a $(loom)

# Recorded probes of the machine's limits (tests/data/probes).
check_LIBRARIES += libpl_probe.a
libpl_probe_a_SOURCES = tests/probes/probe.c tests/probes/probe.h
probe_tests = tests/probes/mem tests/probes/host tests/probes/async tests/probes/tex tests/probes/tma \
	tests/probes/parting
data_tests += $(probe_tests)
check_PROGRAMS += $(probe_tests)
tests_probes_mem_LDADD = libpl_probe.a libpl_harness.a $(loom)
tests_probes_host_LDADD = libpl_probe.a libpl_harness.a $(loom)
tests_probes_tex_LDADD = libpl_probe.a libpl_harness.a $(loom)
tests_probes_tma_LDADD = libpl_probe.a libpl_harness.a $(loom)
tests_probes_parting_LDADD = libpl_probe.a libpl_harness.a $(loom)
tests_probes_async_LDADD = libpl_probe.a libpl_harness.a $(loom)

# Programs report in TAP, so that every single test is counted; libcheck does so when CK_TAP_LOG_FILE_NAME is set.
AM_TESTS_ENVIRONMENT = srcdir='$(srcdir)' abs_srcdir='$(abs_srcdir)' CK_TAP_LOG_FILE_NAME=- PTXLOOM_VERIFY_IR=1; \
	export srcdir abs_srcdir CK_TAP_LOG_FILE_NAME PTXLOOM_VERIFY_IR;
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
TEST_EXTENSIONS = .ptx
PTX_LOG_COMPILER = tests/ptxcheck
script_tests = tests/call_cycles.sh tests/isagen.sh tests/add_instruction.sh tests/named_in_docs.sh tests/prose.sh tests/named_in_help.sh tests/advice.sh tests/fmt.sh tests/ptxas_differences.sh tests/messages.sh tests/output_files.sh tests/first_commands.sh tests/check_format.sh tests/examples.sh tests/litmus.sh tests/wave64.sh
installed_tests = tests/install.sh
TESTS = $(long_scripts) $(long_tests) $(data_tests) $(installed_tests) $(check_unit_tests) $(script_tests) $(PL_PTX_TESTS)

# The corpus in the form required by launches: kernels unpacked, and a launch file for each line `//!`.
corpus = $(srcdir)/tests/data/corpus
triton = $(srcdir)/tests/data/triton
tests/corpus.stamp: $(corpus)/launches.awk $(corpus)/seeds.tsv $(corpus)/launches.jsonl $(corpus)/kernels.tar.xz \
		$(wildcard $(corpus)/kernels/*.cu) $(triton)/launches.jsonl $(triton)/kernels.tar.xz
	$(AM_V_GEN)rm -rf tests/corpus && $(MKDIR_P) tests/corpus/cases tests/corpus/kernels && \
	for f in $(corpus) $(triton); do $(XZ) -dc $$f/kernels.tar.xz | tar xf - -C tests/corpus/kernels || exit 1; done && \
	LC_ALL=C $(AWK) -v out=tests/corpus/cases -f $(corpus)/launches.awk $(corpus)/seeds.tsv $(corpus)/launches.jsonl \
	  $(triton)/launches.jsonl $(corpus)/kernels/*.cu tests/corpus/kernels/by_hand.ptx tests/corpus/kernels/assembled.ptx && \
	touch $@
check_DATA = tests/corpus.stamp
CLEANFILES += tests/corpus.stamp
clean-local:
	rm -rf tests/corpus

# Figures rather than pass or fail, and the long version of the fuzzer.
EXTRA_PROGRAMS = tests/accuracy/cycles tests/accuracy/micro tests/accuracy/speed tests/accuracy/traces tests/accuracy/mufu_all \
	tests/accuracy/rates tests/accuracy/assembling
tests_accuracy_cycles_SOURCES = tests/accuracy/cycles.c tests/accuracy/figures.c tests/accuracy/figures.h
tests_accuracy_micro_SOURCES = tests/accuracy/micro.c tests/accuracy/micro_memory.c tests/accuracy/micro.h tests/accuracy/figures.c tests/accuracy/figures.h
tests_accuracy_cycles_LDADD = libpl_harness.a $(loom)
tests_accuracy_micro_LDADD = libpl_harness.a $(loom) -lm
tests_accuracy_speed_LDADD = libpl_harness.a $(loom) -lm
tests_accuracy_traces_LDADD = libpl_harness.a $(loom)
tests_accuracy_mufu_all_LDADD = libpl_harness.a $(loom)
tests_accuracy_rates_LDADD = $(loom)
tests_accuracy_assembling_LDADD = libpl_harness.a
CLEANFILES += tests/accuracy/cycles$(EXEEXT) tests/accuracy/micro$(EXEEXT) tests/accuracy/speed$(EXEEXT) \
	tests/accuracy/traces$(EXEEXT) tests/accuracy/mufu_all$(EXEEXT) tests/accuracy/rates$(EXEEXT) tests/accuracy/assembling$(EXEEXT)
accuracy: tests/corpus.stamp ptxloom$(EXEEXT) tests/accuracy/cycles$(EXEEXT) tests/accuracy/micro$(EXEEXT) tests/labs$(EXEEXT) lane-loops
	$(AM_TESTS_ENVIRONMENT) tests/labs --all >labs.tmp || { grep '^not' labs.tmp; exit 1; }; rm labs.tmp
	$(AM_TESTS_ENVIRONMENT) tests/accuracy/micro
	$(AM_TESTS_ENVIRONMENT) tests/accuracy/cycles
# Commits the current figures: tests/data/accuracy.tsv, doc/accuracy.md and doc/accuracy.svg in the source tree.
accuracy-update: tests/corpus.stamp ptxloom$(EXEEXT) tests/accuracy/cycles$(EXEEXT) tests/accuracy/micro$(EXEEXT)
	$(AM_TESTS_ENVIRONMENT) tests/accuracy/micro --update
	$(AM_TESTS_ENVIRONMENT) tests/accuracy/cycles --update
accuracy-mufu: tests/accuracy/mufu_all$(EXEEXT)
	$(AM_TESTS_ENVIRONMENT) tests/accuracy/mufu_all
bench: ptxloom$(EXEEXT) tests/accuracy/speed$(EXEEXT) tests/accuracy/traces$(EXEEXT) tests/accuracy/rates$(EXEEXT) \
		tests/accuracy/assembling$(EXEEXT)
	$(AM_TESTS_ENVIRONMENT) tests/accuracy/assembling
	$(AM_TESTS_ENVIRONMENT) tests/accuracy/rates
	$(AM_TESTS_ENVIRONMENT) tests/accuracy/traces
	$(AM_TESTS_ENVIRONMENT) tests/accuracy/speed
fuzz: ptxloom$(EXEEXT) tests/fuzz/fuzz$(EXEEXT) tests/fuzz/objects$(EXEEXT) tests/fuzz/litmus$(EXEEXT)
	$(AM_TESTS_ENVIRONMENT) tests/fuzz/fuzz 10000 $(FUZZ_SEED)
	$(AM_TESTS_ENVIRONMENT) tests/fuzz/objects 20000 $(FUZZ_SEED)
	$(AM_TESTS_ENVIRONMENT) tests/fuzz/litmus 1000 $(FUZZ_SEED)

# Updates the console sessions of the documentation, in the source tree. Review the difference before committing it.
docs-update: ptxloom$(EXEEXT) tests/docs$(EXEEXT)
	$(AM_TESTS_ENVIRONMENT) for page in $$(tests/docs --list); do \
	  tests/docs --update $$page >docs-update.tmp && { cmp -s docs-update.tmp $$page || cp docs-update.tmp $$page; }; \
	done; rm -f docs-update.tmp
# Every module as an object; the suite at both optimisation levels in both modes; and in functional mode under a hundred random schedules.
suite-levels: tests/corpus.stamp ptxloom$(EXEEXT) tests/suite_functional$(EXEEXT) tests/suite_timing$(EXEEXT) tests/corpus_functional$(EXEEXT) tests/corpus_timing$(EXEEXT) tests/objects$(EXEEXT)
	$(AM_TESTS_ENVIRONMENT) tests/objects --all
	$(AM_TESTS_ENVIRONMENT) for p in suite corpus; do for m in functional timing; do for o in -O0 -O2; do \
	  echo "# $$p $$m $$o"; tests/$${p}_$$m --all $$o >suite-levels.tmp || exit 1; grep -c '^ok' suite-levels.tmp; \
	done; done; done; rm -f suite-levels.tmp
# SEEDS="1 2 3" runs only these; one takes about eight seconds.
SEEDS =
schedules: ptxloom$(EXEEXT) tests/suite_functional$(EXEEXT)
	$(AM_TESTS_ENVIRONMENT) seeds='$(SEEDS)'; n=0; s=1; \
	while test -z '$(SEEDS)' && test $$s -le 100; do seeds="$$seeds $$s"; s=`expr $$s + 1`; done; \
	for s in $$seeds; do \
	  nice tests/suite_functional --schedule random:$$s >schedules.tmp || { echo "seed $$s:"; grep '^not' schedules.tmp; exit 1; }; \
	  n=`expr $$n + 1`; \
	done; echo "$$n schedules, every race-free case with the recorded bytes"; rm -f schedules.tmp
# Random programs give the same results at -O0 and at -O2: 20 kernels for each seed of a range. PROFILE is an option of generate.py.
# COMPARE=timing: in functional and timing mode; COMPARE=threads: with one and two host threads.
PROFILE = partial
COMPARE = levels
levels: tests/random_programs$(EXEEXT)
	$(AM_TESTS_ENVIRONMENT) seeds='$(SEEDS)'; nice tests/random_programs '$(PROFILE)' $${seeds:-1 50} $(COMPARE)
# Kernels without races produce the same bytes with weak consistency, in any order.
weak-suite: ptxloom$(EXEEXT) tests/suite_functional$(EXEEXT)
	$(AM_TESTS_ENVIRONMENT) for s in 1 2 3; do \
	  tests/suite_functional --schedule random:$$s --consistency weak >weak-suite.tmp || { grep '^not' weak-suite.tmp; exit 1; }; \
	done; echo "weak consistency, every race-free case with the recorded bytes"; rm -f weak-suite.tmp
# Recorded launches with three host threads in a build with the thread sanitizer, in the folder build-tsan. TSAN=PATTERN: some launch files only.
tsan:
	$(MKDIR_P) build-tsan
	cd build-tsan && { test -f Makefile || $(abs_top_srcdir)/configure CC='$(CC)' CFLAGS='-O1 -g -fsanitize=thread' LDFLAGS=-fsanitize=thread \
	  --disable-avx2 --disable-avx512; }
	cd build-tsan && $(MAKE) $(BUILT_SOURCES) && $(MAKE) ptxloom$(EXEEXT)
	srcdir='$(srcdir)' PTXLOOM=build-tsan/ptxloom$(EXEEXT) $(SHELL) $(srcdir)/tests/tsan.sh $(TSAN)
# The same results with each variant of the lane loops that this computer can run, in the folder build-lanes: ./quickstart builds one of them.
# The arithmetic with every available compiler, at all levels.
lane-loops:
	$(MKDIR_P) build-lanes
	cd build-lanes && { test -f Makefile || $(abs_top_srcdir)/configure CC='$(CC)' CFLAGS='$(CFLAGS)'; }
	cd build-lanes && $(MAKE) && $(MAKE) check TESTS='tests/instruction_vectors tests/suite_functional'
	$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/tests/compilers.sh --all
# CUDA programs under `ptxloom exec` in builds with the address and the thread sanitizer.
cudart-sanitizers:
	for s in asan:address,undefined tsan:thread; do \
	  d=build-cudart-$${s%%:*} && $(MKDIR_P) $$d && (cd $$d && { test -f Makefile || $(abs_top_srcdir)/configure CC='$(CC)' \
	    CFLAGS="-O2 -g -fsanitize=$${s#*:}" LDFLAGS="-fsanitize=$${s#*:}" --disable-avx2 --disable-avx512; } && \
	    $(MAKE) $(BUILT_SOURCES) && $(MAKE) && $(MAKE) tests/cudart/app$(EXEEXT) && \
	    srcdir='$(abs_top_srcdir)' PTXLOOM="$$PWD/ptxloom$(EXEEXT)" CC='$(CC)' $(SHELL) $(abs_top_srcdir)/tests/cudart/sanitized.sh $${s%%:*}) || exit 1; \
	done
# Recorded launches whose blocks communicate, 20 times with 1, 2 and 4 host threads. DETERMINISM="3 PATTERN": 3 times, some launch files only.
determinism: tests/corpus.stamp ptxloom$(EXEEXT)
	srcdir='$(srcdir)' PTXLOOM=./ptxloom$(EXEEXT) $(SHELL) $(srcdir)/tests/determinism.sh $(DETERMINISM)
.PHONY: cudart-sanitizers determinism lane-loops tsan weak-suite suite-levels schedules levels accuracy accuracy-update accuracy-mufu bench fuzz docs-update

noinst_HEADERS += tests/unit/unit.h
EXTRA_DIST += tests/passes tests/compare_builds.sh tests/concurrent.sh tests/tsan.sh tests/determinism.sh tests/cudart/sanitized.sh tests/data tests/ptx tests/check tests/advice tests/litmus tests/isagen $(script_tests) $(long_scripts) tests/scratch.sh tests/unit/num_sums.c
# Run manually, once; doc/numerics.md refers to it.
EXTRA_DIST += tests/accuracy/mufu_recorded.h tools/mufu tools/ptxas tools/triton tests/cuda.h tests/forms/list.py tests/forms/record.c

# Statements generated from the instruction table: for the fuzzers, and for tools/ptxas/judge.py to check with NVIDIA's assembler.
check_PROGRAMS += tests/fuzz/generate
tests_fuzz_generate_SOURCES = tests/fuzz/generate.c tests/fuzz/grammar.c tests/fuzz/grammar.h
tests_fuzz_generate_LDADD = $(loom)
data_tests += tests/fuzz/made
tests_fuzz_made_SOURCES = tests/fuzz/made.c tests/fuzz/grammar.c tests/fuzz/grammar.h
tests_fuzz_made_LDADD = libpl_harness.a $(loom)

# Every command with system faults: it is compiled into the test. All points: make faults, or tests/faults --every 1 COMMAND.
tests_faults_SOURCES = tests/faults.c tests/inject.c tests/inject.h $(ptxloom_SOURCES)
tests_faults_CPPFLAGS = $(AM_CPPFLAGS) $(LIBEDIT_CFLAGS) -Dmain=cli_main
tests_faults_LDADD = libpl_harness.a $(loom) $(LIBEDIT_LIBS)
faults: tests/faults$(EXEEXT)
	$(AM_TESTS_ENVIRONMENT) tests/faults --every 1
.PHONY: faults

# Coverage-guided fuzzing: its corpus is read again; the fuzzer itself is built manually (tests/fuzz/covered.c).
tests_fuzz_kept_SOURCES = tests/fuzz/kept.c tests/fuzz/input.c tests/fuzz/input.h
tests_fuzz_kept_LDADD = libpl_harness.a $(loom)
EXTRA_PROGRAMS += tests/fuzz/covered
CLEANFILES += tests/fuzz/covered$(EXEEXT)
tests_fuzz_covered_SOURCES = tests/fuzz/covered.c tests/fuzz/input.c tests/fuzz/input.h
tests_fuzz_covered_LDADD = libpl_harness.a $(loom)
tests_fuzz_covered_LDFLAGS = -fsanitize=fuzzer
EXTRA_DIST += $(installed_tests)
