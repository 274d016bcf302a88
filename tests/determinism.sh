#!/bin/sh
# determinism.sh - runs the launches of concurrent.sh with 1, 2 and 4 host threads, and compares outputs, cycles and metrics.
#
#     PTXLOOM=./ptxloom determinism.sh [TIMES [PATTERN]]
#
# Called by `make determinism`. TIMES: runs with each number of threads, default 20. PATTERN: only launch files whose paths match.
# Cycles and metrics may differ if the race checker finds something in the launch; outputs may not. Exit status 1: two runs of a launch
# differ, or one failed.
times=${1:-20}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
sh "$srcdir"/tests/concurrent.sh "${2:-.}" >"$scratch/cases"

# run THREADS: the result of one run, without its time.
run() {
    "$PTXLOOM" run "$case" --json --threads "$1" 2>"$scratch/err" </dev/null | grep -v '"wall_seconds"' >"$scratch/out"
    grep -q '"status": "ok"' "$scratch/out"
}

# compare THREADS: fails if a run failed, or differs from the first.
compare() {
    if ! run "$1"; then
        echo "$case: $1 threads: $(head -1 "$scratch/err")"
        failed=1
    elif [ ! -f "$scratch/first" ]; then
        mv "$scratch/out" "$scratch/first"
    elif ! cmp -s "$scratch/first" "$scratch/out"; then
        differ=$((differ + 1))
        diff "$scratch/first" "$scratch/out" | head -4 >"$scratch/what"
        if [ "$(grep '"sha256"' "$scratch/first")" != "$(grep '"sha256"' "$scratch/out")" ]; then
            echo "$case: other outputs with $1 threads"
            failed=1
        fi
    fi
}

launches=0 runs=0 racing=0 bad=0
while read -r case; do
    launches=$((launches + 1)) differ=0 failed=0
    rm -f "$scratch/first"
    for threads in 1 2 4; do
        n=0
        while [ $n -lt "$times" ]; do
            n=$((n + 1)) runs=$((runs + 1))
            compare $threads
        done
    done
    if [ $failed -eq 0 ] && [ $differ -gt 0 ]; then
        if "$PTXLOOM" run "$case" --mode functional --check race --check-limit 1 </dev/null 2>&1 | grep -q ': race-'; then
            racing=$((racing + 1))
            echo "$case: a race, $differ of $((3 * times)) runs with other cycles or metrics"
        else
            failed=1
            echo "$case: $differ of $((3 * times)) runs differ:"
            cat "$scratch/what"
        fi
    fi
    bad=$((bad + failed))
done <"$scratch/cases"
echo "$launches launches, $runs runs; $bad fail or have other outputs; $racing race and have other cycles or metrics"
[ $bad -eq 0 ]
