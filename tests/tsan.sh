#!/bin/sh
# tsan.sh - runs recorded launches with three host threads in a build with the thread sanitizer, and prints what it reports.
#
#     PTXLOOM=build-tsan/ptxloom tsan.sh [PATTERN]
#
# Called by `make tsan`. First come launches whose kernels use atomic operations, asynchronous copies or clusters, then all others. PATTERN: only
# launch files whose names match. Exit status 1: there was a report, a launch failed.
data=$srcdir/tests/data
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
ls "$data"/suite/cases/*.json "${builddir:-.}"/tests/corpus/cases/*.json | grep -e "${1:-.}" >"$scratch/all"
while read -r case; do
    ptx=$(sed -n 's/.*"ptx": *"\([^"]*\)".*/\1/p' "$case" | head -1)
    grep -q -e 'atom\.' -e '\bred\.' -e 'cp\.async' -e 'cp\.reduce' -e 'st\.async' -e 'cluster' "$(dirname "$case")/$ptx" && echo "$case"
done <"$scratch/all" >"$scratch/first"
grep -vxFf "$scratch/first" "$scratch/all" >"$scratch/rest"
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
