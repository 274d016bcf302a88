#!/bin/sh
# ptxas_differences.sh - doc/ptxas-differences.md explains exactly the rows on which ptxas and ptxloom differ.
srcdir=${srcdir:-.}
page=$srcdir/doc/ptxas-differences.md
list=$srcdir/tests/data/ptxas/disagreements.tsv
export LC_ALL=C
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
tests=0
# Rows accepted by ptxas belong to the first part of the page, the others to the second.
for accepted in 1 0; do
    grep -v '^#' "$list" | awk -F '\t' -v a="$accepted" '$4 == a { print $5 }' >"$scratch/rows"
    awk -v want="$([ $accepted = 1 ] && echo Refused || echo Accepted)" '/^## / { on = index($2, want) == 1 } on && /^- `/' "$page" |
        sed 's/^- `\([^`]*\)`.*/\1/' >"$scratch/kinds"
    : >"$scratch/explained"
    while IFS= read -r kind; do
        tests=$((tests + 1))
        if grep -E -e "$kind" "$scratch/rows" >>"$scratch/explained"; then
            echo "ok $tests - rows of the kind $kind"
        else
            echo "not ok $tests - the page has a kind without a row: $kind"
        fi
    done <"$scratch/kinds"
    tests=$((tests + 1))
    sort -u "$scratch/rows" >"$scratch/rows.sorted"
    sort -u "$scratch/explained" | comm -13 - "$scratch/rows.sorted" >"$scratch/rest"
    if [ -s "$scratch/rest" ]; then
        sed 's/^/# /' "$scratch/rest"
        echo "not ok $tests - every row is explained"
    else
        echo "ok $tests - every row is explained"
    fi
done
echo "1..$tests"
