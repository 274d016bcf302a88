#!/bin/sh
# tsan.sh - runs recorded launches with three host threads in a build with the thread sanitizer, and prints what it reports.
#
#     PTXLOOM=build-tsan/ptxloom tsan.sh [PATTERN]
#
# Called by `make tsan`. First come those of concurrent.sh, then all others. PATTERN: only
# launch files whose names match. Exit status 1: there was a report, a launch failed.
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
sh "$srcdir"/tests/concurrent.sh "${1:-.}" >"$scratch/first"
ls "$srcdir"/tests/data/suite/cases/*.json tests/corpus/cases/*.json | grep -E -e "${1:-.}" | grep -vxFf "$scratch/first" >"$scratch/rest"
bad=0 runs=0
while read -r case; do
    runs=$((runs + 1))
    TSAN_OPTIONS="exitcode=66 halt_on_error=0" "$PTXLOOM" run "$case" --json --threads 3 >"$scratch/out" 2>"$scratch/err"
    status=$?
    if grep -q 'WARNING: ThreadSanitizer' "$scratch/err"; then
        bad=$((bad + 1))
        echo "$case:"
        sed -n '/WARNING: ThreadSanitizer/,/^SUMMARY/p' "$scratch/err" | head -40
    elif [ $status -ne 0 ]; then
        bad=$((bad + 1))
        echo "$case: exit status $status"
        head -5 "$scratch/err"
    fi
done <<LIST
$(cat "$scratch/first" "$scratch/rest")
LIST
echo "$runs launches, $bad with reports"
[ $bad -eq 0 ]
