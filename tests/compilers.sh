#!/bin/sh
# compilers.sh - arithmetic does not depend on the compiler, its optimisation level or the processor it compiles for: every
# available compiler builds tests/unit/num_sums.c, and all programs print the same checksums. tools/lint checks clang's warnings.
# Runs the least and the most optimised program of each compiler; with --all (make lane-loops) every level and processor.
. "${srcdir:-.}/tests/scratch.sh"

sources="$root/tests/unit/num_sums.c $root/emu/exec/num/softfloat.c $root/emu/exec/num/mufu_tables.c"
sources="$sources $root/emu/exec/mma/mma.c $root/emu/exec/mma/dot_product.c $root/emu/exec/mma/fragment_layout.c"

# CC LEVEL PROCESSOR
sums() {
    # shellcheck disable=SC2086 # lists of words
    $1 -std=c17 -D_XOPEN_SOURCE=700 -ffp-contract=off -fno-strict-aliasing -w $2 $3 -I"$root" $sources -lm -o sums 2>errors &&
        ./sums >printed 2>errors
}

run() {
    n=$((n + 1))
    if sums "$@" && [ -s printed ] && { [ -e first ] || mv printed first; } && { [ ! -e printed ] || cmp -s first printed; }; then
        echo "ok $n - $*: the same results"
    else
        { [ -e printed ] && diff first printed || cat errors; } | sed 's/^/# /' | head -20
        echo "not ok $n - $*: the same results"
    fi
    rm -f printed
}

has() { grep -qw "$1" /proc/cpuinfo 2>/dev/null; }

all=false
[ "${1-}" != --all ] || all=true
for cc in gcc clang; do
    if ! command -v $cc >/dev/null; then
        n=$((n + 1))
        echo "ok $n - $cc # SKIP not installed"
        continue
    fi
    run $cc -O0
    if $all || ! has avx2; then run $cc -O2 ""; fi
    if has avx2 && { $all || ! has avx512vl; }; then run $cc -O3 "-mavx2 -mfma"; fi
    if has avx512vl; then run $cc -O3 "-mavx512f -mavx512vl -mavx512dq -mavx512bw -mfma"; fi
done
echo "1..$n"
