#!/bin/sh
# compare_builds.sh - checks that another build generates the same machine code.
#
#   tests/compare_builds.sh OLD/ptxloom NEW/ptxloom
#
# Assembles every recorded kernel and every test kernel at -O0 and -O2 with both and compares the listings, and the registers, stack
# and memory of kernels, byte for byte. Prints the files that differ; exit status 1 if any does. For changes that must not affect the
# generated code.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
old=$1
new=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0
differ=0
# Control characters of the source text, tabs too, are spaces in the listings of newer builds.
listing() {
    timeout 60 "$1" dis "$2" "$3" 2>&1 | tr '\t' ' '
    timeout 60 "$1" as "$2" "$3" -v -o "$work/object" 2>&1
    rm -f "$work/object"
}
compare() {
    for level in -O0 -O2; do
        listing "$old" "$1" $level >"$work/old"
        listing "$new" "$1" $level >"$work/new"
        count=$((count + 1))
        if ! cmp -s "$work/old" "$work/new"; then
            differ=$((differ + 1))
            echo "differs at $level: $2"
        fi
    done
}
for f in $(find "$top/tests/data" "$top/tests/ptx/exec" "$top/examples" "$top/labs" -name '*.ptx' | sort); do
    compare "$f" "${f#"$top"/}"
done
for f in "$top"/tests/data/*/kernels.tar.xz; do
    mkdir "$work/kernels"
    xz -dc "$f" | tar xf - -C "$work/kernels"
    for kernel in "$work"/kernels/*.ptx; do compare "$kernel" "${f#"$top"/}: ${kernel##*/}"; done
    rm -r "$work/kernels"
done
for f in $(find "$top/tests/data" -name '*.ptx.xz' | sort); do
    xz -dc "$f" >"$work/kernel.ptx"
    compare "$work/kernel.ptx" "${f#"$top"/}"
done
echo "$count listings, $differ differ"
[ "$differ" -eq 0 ]
