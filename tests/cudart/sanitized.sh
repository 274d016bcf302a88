#!/bin/sh
# sanitized.sh - runs programs.sh in a build with a sanitizer, and prints the sanitizer's reports.
#
#     PTXLOOM=$PWD/ptxloom sanitized.sh asan|tsan
#
# Called by `make cudart-sanitizers` in the folder of the build. Leak detection is off: the system frees the memory of a program at its end.
# Exit status 1: there was a report, or hardly any case ran. Single cases may fail, since sanitizers intercept calls of the C library (timers)
# and functions are not inlined (names of callers); `make check` counts them.
reports=$(mktemp -d) || exit 1
trap 'rm -rf "$reports"' EXIT
options="log_path=$reports/report handle_segv=0" # device memory is inaccessible to the host: the runtime handles the signal
# Kernels and the program synchronise by memory that kernels access as the program does not: the accesses of loads and stores themselves.
for f in load32 load64 load128 load_extended load_slow load_vectors32 deinterleave store_row store_span scatter interleave store_slow; do
    echo "race_top:$f"
done >"$reports/suppressions"
# The thread sanitizer of gcc 12 does not know pthread_mutex_clocklock, which cuda_exit_begins calls.
echo "mutex:cuda_exit_begins" >>"$reports/suppressions"
# Programs built by nvcc have no sanitizer, which must be loaded before the runtime: they are skipped.
ASAN_OPTIONS="$options verify_asan_link_order=0 detect_leaks=0" TSAN_OPTIONS="$options suppressions=$reports/suppressions" UBSAN_OPTIONS="$options" PTXLOOM_NO_NVCC=1 \
    sh "$srcdir/tests/cudart/programs.sh" >"$reports/log" 2>&1
grep '^not ok' "$reports/log"
for r in "$reports"/report*; do [ -f "$r" ] && head -60 "$r"; done
n=$(find "$reports" -name 'report*' | wc -l) good=$(grep -c '^ok' "$reports/log") failed=$(grep -c '^not ok' "$reports/log")
echo "$1: $good cases good, $failed failed, $n reports"
[ "$n" -eq 0 ] && [ "$good" -gt 100 ]
