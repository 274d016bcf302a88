#!/bin/sh
# sanitized.sh - runs programs.sh in a build with a sanitizer, and prints what the sanitizer reports.
#
#     PTXLOOM=$PWD/ptxloom sanitized.sh asan|tsan
#
# Called by `make cudart-sanitizers` in the folder of the build. Leaks are not looked for: what a program leaves at its end is the
# system's. Exit status 1: there was a report, or hardly a case ran. Single cases may fail, since sanitizers stand between a program and its C
# library (timers) and functions are not inlined (names of callers); `make check` counts them.
reports=$(mktemp -d) || exit 1
trap 'rm -rf "$reports"' EXIT
options="log_path=$reports/report handle_segv=0" # device memory is closed to the host: the runtime handles the signal
# Programs that nvcc builds have no sanitizer, which must be there before the runtime: they are left out.
ASAN_OPTIONS="$options verify_asan_link_order=0 detect_leaks=0" TSAN_OPTIONS="$options" UBSAN_OPTIONS="$options" PTXLOOM_NO_NVCC=1 \
    sh "$srcdir/tests/cudart/programs.sh" >"$reports/log" 2>&1
grep '^not ok' "$reports/log"
for r in "$reports"/report*; do [ -f "$r" ] && head -60 "$r"; done
n=$(find "$reports" -name 'report*' | wc -l) good=$(grep -c '^ok' "$reports/log") failed=$(grep -c '^not ok' "$reports/log")
echo "$1: $good cases good, $failed failed, $n reports"
[ "$n" -eq 0 ] && [ "$good" -gt 100 ]
