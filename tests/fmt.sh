#!/bin/sh
# fmt.sh - output of nvcc is accepted without messages, and `ptxloom fmt` changes the layout of PTX, never its meaning:
# formatting is idempotent, and the formatted file assembles to the same program. Uses the PTX in tests/data/nvcc, the recorded
# kernels, and the modules of tests/ptx that are accepted.
srcdir=${srcdir:-.}
loom=${PTXLOOM:-./ptxloom}
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
tests=0
say() {
    tests=$((tests + 1))
    echo "$1 $tests - $2"
}

for packed in "$srcdir"/tests/data/nvcc/*.ptx.xz; do
    name=$(basename "$packed" .xz)
    xz -dc "$packed" >"$scratch/$name"
    if "$loom" check "$scratch/$name" >"$scratch/said" 2>&1 && ! [ -s "$scratch/said" ]; then
        say ok "nvcc: $name is accepted without messages"
    else
        sed 's/^/# /;4q' "$scratch/said"
        say "not ok" "nvcc: $name is accepted without messages"
    fi
done

for file in "$scratch"/*.ptx "$srcdir"/tests/data/suite/kernels/*.ptx "$srcdir"/tests/ptx/accept/*.ptx "$srcdir"/tests/ptx/exec/*/*.ptx; do
    name=$(basename "$file")
    "$loom" fmt "$file" >"$scratch/once" 2>"$scratch/said" && "$loom" fmt "$scratch/once" >"$scratch/twice" 2>>"$scratch/said" &&
        cmp "$scratch/once" "$scratch/twice" >>"$scratch/said" 2>&1 &&
        "$loom" dis "$file" >"$scratch/before" 2>"$scratch/before.said"
    before=$?
    [ $before -ge 1 ] && ! [ -s "$scratch/before.said" ] && {
        sed 's/^/# /;4q' "$scratch/said"
        say "not ok" "fmt: $name"
        continue
    }
    # The listing has source line numbers, which change: only the machine instructions are compared.
    "$loom" dis "$scratch/once" 2>/dev/null | sed 's| *//.*||; s| *$||' >"$scratch/after"
    sed 's| *//.*||; s| *$||' "$scratch/before" | cmp -s - "$scratch/after" && say ok "fmt: $name" || say "not ok" "fmt: $name"
done
echo "1..$tests"
