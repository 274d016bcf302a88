#!/bin/sh
# tsan.sh - runs recorded launches in both modes with three host threads in a build with the thread sanitizer, and prints its reports.
#
#     PTXLOOM=build-tsan/ptxloom tsan.sh [PATTERN]
#
# Called by `make tsan` in the build folder. First come the launches of concurrent.sh, then all others. PATTERN: only launch files whose
# paths match. If two threads of the program race, so do those of the host: reports on the global memory of a launch in which the race
# checker finds something are counted separately. Exit status 1: there was another report, or a launch failed.
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
sh "$srcdir"/tests/concurrent.sh "${1:-.}" >"$scratch/first"
ls "$srcdir"/tests/data/suite/cases/*.json tests/corpus/cases/*.json | grep -E -e "${1:-.}" | grep -vxFf "$scratch/first" >"$scratch/rest"
bad=0 runs=0 racing=0

# program_races CASE: the launch races, and every report is on global memory.
program_races() {
    [ "$(grep -c 'WARNING: ThreadSanitizer' "$scratch/err")" -eq "$(grep -c '#[0-9]* pl_memory_alloc' "$scratch/err")" ] &&
        "$PTXLOOM" run "$1" --mode functional --check race --check-limit 1 </dev/null 2>&1 | grep -q ': race-'
}

# run CASE MODE: one launch
run() {
    runs=$((runs + 1))
    TSAN_OPTIONS="exitcode=66 halt_on_error=0" "$PTXLOOM" run "$1" --mode "$2" --json --threads 3 >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
    if grep -q 'WARNING: ThreadSanitizer' "$scratch/err" && program_races "$1"; then
        racing=$((racing + 1))
        echo "$1 in $2 mode: a race of the program"
    elif grep -q 'WARNING: ThreadSanitizer' "$scratch/err"; then
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
echo "$runs launches, $racing with races of the program, $bad with other reports"
[ $bad -eq 0 ]
