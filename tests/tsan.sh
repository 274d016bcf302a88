#!/bin/sh
# tsan.sh - runs recorded launches in both modes with three host threads in a build with the thread sanitizer, and prints what it reports.
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
# run CASE MODE: one launch
run() {
    runs=$((runs + 1))
    TSAN_OPTIONS="exitcode=66 halt_on_error=0" "$PTXLOOM" run "$1" --mode "$2" --json --threads 3 >"$scratch/out" 2>"$scratch/err"
    status=$?
    if grep -q 'WARNING: ThreadSanitizer' "$scratch/err"; then
        bad=$((bad + 1))
        echo "$1 in $2 mode:"
        sed -n '/WARNING: ThreadSanitizer/,/^SUMMARY/p' "$scratch/err" | head -40
    elif [ $status -ne 0 ]; then
        bad=$((bad + 1))
        echo "$1 in $2 mode: exit status $status"
        head -5 "$scratch/err"
    fi
}
while read -r case; do
    run "$case" timing
    run "$case" functional
done <<LIST
$(cat "$scratch/first" "$scratch/rest")
LIST
echo "$runs launches, $bad with reports"
[ $bad -eq 0 ]
